"""Optimizers with PyTorch's names and meanings, and learning-rate schedules.

Each step updates all parameters in one call of the engine.
"""

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .schedules import CosineSchedule, LinearSchedule, Schedule
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "CosineSchedule", "LinearSchedule", "Optimizer", "Schedule"]
