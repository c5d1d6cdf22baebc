"""Learning-rate schedules."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from .optimizer import Optimizer, checked_number

__all__ = ["CosineSchedule", "LinearSchedule", "Schedule"]


class Schedule(ABC):
    """What the schedules share: ``step()`` after each ``optimizer.step()`` sets the next learning rate.

    The rate starts at the optimizer's own and reaches ``end`` after ``total`` steps, where it stays. A subclass defines
    :meth:`rate`.

    Args:
        optimizer: The optimizer whose ``lr`` is set.
        total: The number of steps after which the rate is ``end``; at least 1.
        end: The last learning rate, from 0 up.

    Raises:
        TypeError: ``end`` is a Value.
        ValueError: ``total`` is below 1, or ``end`` is negative or not finite.

    Example:
        >>> import retrograd as rg
        >>> class Halving(rg.optim.Schedule):
        ...     def rate(self, step):
        ...         return max(self.end, self.start * 0.5**step)
        >>> optimizer = rg.optim.SGD([rg.Value(1.0)], lr=1.0)
        >>> schedule = Halving(optimizer, total=10)
        >>> schedule.step()
        >>> optimizer.lr
        0.5
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
        """The learning rate after ``step`` steps.

        Args:
            step: How many steps have been taken, from 0.

        Returns:
            The rate, which depends on nothing but ``step`` and the constructor's arguments.
        """

    def step(self) -> None:
        """Count one step and set the optimizer's learning rate."""
        self.seek(self.steps + 1)

    def seek(self, step: int) -> None:
        """Set the learning rate to what it is after ``step`` steps, as a resumed run does.

        Args:
            step: How many steps have been taken, from 0.
        """
        self.steps = step
        self.optimizer.lr = self.rate(step)


class LinearSchedule(Schedule):
    """A straight line from the optimizer's learning rate to ``end``, in ``total`` steps.

    Args:
        optimizer: The optimizer whose ``lr`` is set.
        total: The number of steps after which the rate is ``end``; at least 1.
        end: The last learning rate, from 0 up.

    Raises:
        TypeError: ``end`` is a Value.
        ValueError: ``total`` is below 1, or ``end`` is negative or not finite.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(1.0)
        >>> optimizer = rg.optim.SGD([x], lr=0.5)
        >>> schedule = rg.optim.LinearSchedule(optimizer, total=4)
        >>> for _ in range(4):
        ...     optimizer.zero_grad()
        ...     (x * x).backward()
        ...     optimizer.step()
        ...     schedule.step()
        ...     print(optimizer.lr)
        0.375
        0.25
        0.125
        0.0
    """

    def rate(self, step: int) -> float:
        """The learning rate after ``step`` steps.

        Args:
            step: How many steps have been taken, from 0.

        Returns:
            ``end + (start - end) * (1 - step / total)``, and ``end`` after ``total`` steps.
        """
        return self.end + (self.start - self.end) * (1 - min(step, self.total) / self.total)


class CosineSchedule(Schedule):
    """Half a cosine wave from the optimizer's learning rate to ``end``: slow, fast, slow (Loshchilov & Hutter 2017).

    Args:
        optimizer: The optimizer whose ``lr`` is set.
        total: The number of steps after which the rate is ``end``; at least 1.
        end: The last learning rate, from 0 up.

    Raises:
        TypeError: ``end`` is a Value.
        ValueError: ``total`` is below 1, or ``end`` is negative or not finite.

    Example:
        >>> import retrograd as rg
        >>> schedule = rg.optim.CosineSchedule(rg.optim.SGD([rg.Value(1.0)], lr=1.0), total=4)
        >>> [round(schedule.rate(step), 3) for step in range(5)]
        [1.0, 0.854, 0.5, 0.146, 0.0]
    """

    def rate(self, step: int) -> float:
        """The learning rate after ``step`` steps.

        Args:
            step: How many steps have been taken, from 0.

        Returns:
            ``end + (start - end) * (1 + cos(pi * step / total)) / 2``, and ``end`` after ``total`` steps.
        """
        cosine = math.cos(math.pi * min(step, self.total) / self.total)
        return self.end + (self.start - self.end) * (1 + cosine) / 2
