"""Reverse-mode automatic differentiation for scalar Python programs."""
