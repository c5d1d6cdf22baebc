"""Optimizers with PyTorch's names and meanings, learning-rate schedules, and the clipping of gradients.

Each step updates all parameters in one call of the engine.
"""

from typing import TYPE_CHECKING, NoReturn

from ..habits import OPTIM, elsewhere
from .adam import Adam, AdamW
from .clipping import clip_grad_norm_, clip_grad_value_
from .optimizer import Optimizer
from .schedules import (
    CosineSchedule,
    LambdaSchedule,
    LinearSchedule,
    Schedule,
    SequentialSchedule,
    StepSchedule,
    WarmupSchedule,
)
from .sgd import SGD

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "CosineSchedule",
    "LambdaSchedule",
    "LinearSchedule",
    "Optimizer",
    "Schedule",
    "SequentialSchedule",
    "StepSchedule",
    "WarmupSchedule",
    "clip_grad_norm_",
    "clip_grad_value_",
]

if not TYPE_CHECKING:  # a type checker would believe that every name exists

    def __getattr__(name: str) -> NoReturn:
        raise elsewhere("module 'retrograd.optim'", name, OPTIM)
