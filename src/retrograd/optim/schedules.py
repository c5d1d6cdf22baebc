"""Learning-rate schedules."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from .optimizer import Optimizer, checked_number

__all__ = ["CosineSchedule", "LinearSchedule", "Schedule"]


class Schedule(ABC):
    """What the schedules share: ``step()`` after each ``optimizer.step()`` sets the next learning rate.

    The rate starts at the optimizer's own and reaches ``end`` after ``total`` steps, where it stays.
    Raises ValueError when ``total`` is below 1.
    """

    def __init__(self, optimizer: Optimizer, total: int, end: float = 0.0) -> None:
        if total < 1:
            raise ValueError(f"a schedule takes at least one step; it was given {total}.")
        self.optimizer = optimizer
        self.start = optimizer.lr
        self.end = checked_number("the final learning rate", end)
        self.total = total
        self.steps = 0

    @abstractmethod
    def rate(self, step: int) -> float:
        """The learning rate after ``step`` steps; depends on nothing else."""

    def step(self) -> None:
        """Count one step and set the optimizer's learning rate."""
        self.seek(self.steps + 1)

    def seek(self, step: int) -> None:
        """Go to where ``step`` steps lead, as a resumed run does."""
        self.steps = step
        self.optimizer.lr = self.rate(step)


class LinearSchedule(Schedule):
    """A straight line from the optimizer's learning rate to ``end``."""

    def rate(self, step: int) -> float:
        return self.end + (self.start - self.end) * (1 - min(step, self.total) / self.total)


class CosineSchedule(Schedule):
    """Half a cosine wave from the optimizer's learning rate to ``end``: slow, fast, slow."""

    def rate(self, step: int) -> float:
        cosine = math.cos(math.pi * min(step, self.total) / self.total)
        return self.end + (self.start - self.end) * (1 + cosine) / 2
