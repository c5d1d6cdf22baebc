"""Gradient checks: ours beside central differences, the reference engine, PyTorch and JAX."""

from .gradients import GradientCheck, GradientRow, check_gradients

__all__ = ["GradientCheck", "GradientRow", "check_gradients"]
