"""Learning-rate schedules."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import CheckpointError, describe
from ..habits import SCHEDULE, keywords, refuse_on, refusing
from .optimizer import Optimizer, checked_number

__all__ = [
    "CosineSchedule",
    "LambdaSchedule",
    "LinearSchedule",
    "Schedule",
    "SequentialSchedule",
    "StepSchedule",
    "WarmupSchedule",
]


class Schedule(ABC):
    """What the schedules share: ``step()`` after each ``optimizer.step()`` sets the next learning rate.

    The rate starts at the optimizer's own; where there is a ``total``, it reaches ``end`` after that many steps and
    stays there. A subclass defines :meth:`rate`.

    Args:
        optimizer: The optimizer whose ``lr`` is set.
        total: The number of steps after which the rate is ``end``; at least 1. None for a schedule without an end.
        end: The last learning rate, from 0 up.

    Raises:
        TypeError: ``optimizer`` is none, or ``end`` is a Value.
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

    #: The schedules inside this one.
    _parts: Sequence[Schedule] = ()

    def __init__(self, optimizer: Optimizer, total: int | None = None, end: float = 0.0) -> None:
        if not hasattr(optimizer, "_unscheduled_lr"):
            raise TypeError(
                f"a schedule takes the optimizer whose lr it sets and got {describe(optimizer)}: write "
                f"optim.{type(self).__name__}(optimizer, …), with the first rate as the optimizer's lr."
            )
        if total is not None and total < 1:
            raise ValueError(f"a schedule takes at least one step; it was given {total}.")
        self.optimizer = optimizer
        self.start: float = optimizer.lr if optimizer._unscheduled_lr is None else optimizer._unscheduled_lr
        self.end: float = checked_number("the final learning rate", end)
        self.total = total
        self.steps: int = 0

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
        if (
            step == 0
        ):  # a schedule that begins elsewhere; one that is made after it still finds the optimizer's own rate
            self.optimizer._unscheduled_lr = self.start

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run needs of the schedule; the rest is what its constructor was given.

        Returns:
            The class's name, the steps taken, and the rate it started from.

        Example:
            >>> import retrograd as rg
            >>> rg.optim.LinearSchedule(rg.optim.SGD([rg.Value(1.0)], lr=0.5), total=4).state_dict()
            {'class': 'LinearSchedule', 'steps': 0, 'start': 0.5}
        """
        state: dict[str, Any] = {"class": type(self).__name__, "steps": self.steps, "start": self.start}
        return {**state, "schedules": [part.state_dict() for part in self._parts]} if self._parts else state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned, and set the learning rate that belongs to it.

        Args:
            state: The dictionary.

        Raises:
            CheckpointError: It is another class's, or damaged.
        """
        self._check(state)
        self._take(state)
        self.seek(self.steps)

    def _check(self, state: Mapping[str, Any]) -> None:
        own, steps, start = type(self).__name__, state.get("steps"), state.get("start")
        if state.get("class") != own:
            raise CheckpointError(f"this schedule state belongs to {state.get('class')!r}; this schedule is {own}.")
        if not isinstance(steps, int) or steps < 0 or not isinstance(start, (int, float)) or not 0 <= start < math.inf:
            raise CheckpointError(f"the state of {own} needs the steps taken and the rate at first; it is {state!r}.")
        parts = state.get("schedules", ())
        if len(parts) != len(self._parts):
            raise CheckpointError(f"this {own} has {len(self._parts)} schedules inside, and the state {len(parts)}.")
        for part, inner in zip(self._parts, parts, strict=True):
            part._check(inner)

    def _take(self, state: Mapping[str, Any]) -> None:
        self.start, self.steps = float(state["start"]), state["steps"]
        for part, inner in zip(self._parts, state.get("schedules", ()), strict=True):
            part._take(inner)


refuse_on(Schedule, SCHEDULE)


class _Bounded(Schedule):
    """A schedule that needs its ``total``."""

    total: int

    @refusing(keywords.SCHEDULE)
    def __init__(self, optimizer: Optimizer, total: int, end: float = 0.0) -> None:
        super().__init__(optimizer, total, end)


class LinearSchedule(_Bounded):
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


class CosineSchedule(_Bounded):
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


class StepSchedule(Schedule):
    """The rate times ``factor`` after every so many steps, as PyTorch's ``StepLR``.

    Args:
        optimizer: The optimizer whose ``lr`` is set.
        every: The number of steps between two changes; at least 1.
        factor: What the rate is multiplied by, from 0 up.

    Raises:
        TypeError: ``factor`` is a Value.
        ValueError: ``every`` is below 1, or ``factor`` is negative or not finite.

    Example:
        >>> import retrograd as rg
        >>> schedule = rg.optim.StepSchedule(rg.optim.SGD([rg.Value(1.0)], lr=1.0), every=2, factor=0.5)
        >>> [schedule.rate(step) for step in range(5)]
        [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    @refusing(keywords.SCHEDULE)
    def __init__(self, optimizer: Optimizer, every: int, factor: float = 0.1) -> None:
        super().__init__(optimizer)
        if every < 1:
            raise ValueError(f"every counts steps and is at least 1; it is {every}.")
        self.every = every
        self.factor: float = checked_number("factor", factor)

    def rate(self, step: int) -> float:
        """The learning rate after ``step`` steps.

        Args:
            step: How many steps have been taken, from 0.

        Returns:
            ``start * factor ** (step // every)``.
        """
        return self.start * self.factor ** (step // self.every)


class LambdaSchedule(Schedule):
    """The rate times what a function says of the number of steps, as PyTorch's ``LambdaLR``.

    Args:
        optimizer: The optimizer whose ``lr`` is set; at once, to what belongs to step 0.
        function: A function from the number of steps, from 0, to a factor from 0 up.

    Raises:
        ValueError: ``function`` gives a rate that is negative or not finite.

    Example:
        >>> import retrograd as rg
        >>> adam = rg.optim.Adam([rg.Value(1.0)], lr=0.5)
        >>> schedule = rg.optim.LambdaSchedule(adam, lambda step: 1 / (1 + step))
        >>> schedule.step()
        >>> adam.lr
        0.25
    """

    @refusing(keywords.SCHEDULE)
    def __init__(self, optimizer: Optimizer, function: Callable[[int], float]) -> None:
        super().__init__(optimizer)
        self.function = function
        self.seek(0)

    def rate(self, step: int) -> float:
        """The learning rate after ``step`` steps.

        Args:
            step: How many steps have been taken, from 0.

        Returns:
            ``start * function(step)``.
        """
        return self.start * self.function(step)


class WarmupSchedule(Schedule):
    """A straight line up to the first rate of another schedule, which then takes over.

    Args:
        schedule: What comes after; :class:`LambdaSchedule` with ``lambda step: 1.0`` for a constant rate.
        steps: The number of steps of the line; at least 1. The rate of step k, from 0, is k + 1 of ``steps`` parts.

    Raises:
        ValueError: ``steps`` is below 1.

    Example:
        >>> import retrograd as rg
        >>> adam = rg.optim.Adam([rg.Value(1.0)], lr=1.0)
        >>> schedule = rg.optim.WarmupSchedule(rg.optim.LinearSchedule(adam, total=2), steps=4)
        >>> adam.lr, [schedule.rate(step) for step in range(7)]
        (0.25, [0.25, 0.5, 0.75, 1.0, 1.0, 0.5, 0.0])
    """

    def __init__(self, schedule: Schedule, steps: int) -> None:
        super().__init__(schedule.optimizer)
        if steps < 1:
            raise ValueError(f"a warm-up takes at least one step; it was given {steps}.")
        self.start: float = schedule.start
        self.schedule: Schedule
        self.warmup: int
        self.schedule, self.warmup, self._parts = schedule, steps, [schedule]
        self.seek(0)

    def rate(self, step: int) -> float:
        """The learning rate after ``step`` steps.

        Args:
            step: How many steps have been taken, from 0.

        Returns:
            ``(step + 1) / steps`` of the other schedule's first rate, and from ``steps`` on that schedule's.
        """
        if step < self.warmup:
            return self.schedule.rate(0) * (step + 1) / self.warmup
        return self.schedule.rate(step - self.warmup)


class SequentialSchedule(Schedule):
    """Schedules one after the other, as PyTorch's ``SequentialLR``; each counts its steps from 0.

    Args:
        schedules: The schedules of one optimizer, first to last.
        milestones: The steps at which the second, third, … begins, in rising order: one fewer than ``schedules``.

    Raises:
        ValueError: ``milestones`` are not rising, or not one fewer than ``schedules``, or the schedules are those of
            different optimizers.

    Example:
        >>> import retrograd as rg
        >>> sgd = rg.optim.SGD([rg.Value(1.0)], lr=1.0)
        >>> parts = [rg.optim.LambdaSchedule(sgd, lambda step: 1.0), rg.optim.LinearSchedule(sgd, total=2)]
        >>> schedule = rg.optim.SequentialSchedule(parts, milestones=[2])
        >>> [schedule.rate(step) for step in range(5)]
        [1.0, 1.0, 1.0, 0.5, 0.0]
    """

    def __init__(self, schedules: Sequence[Schedule], milestones: Sequence[int]) -> None:
        if len(milestones) != len(schedules) - 1:
            raise ValueError(
                f"{len(schedules)} schedules need {len(schedules) - 1} milestones, at which the next begins; "
                f"{len(milestones)} were given."
            )
        if any(later <= earlier for earlier, later in zip([0, *milestones], milestones, strict=False)):
            raise ValueError(f"milestones are rising steps above 0; these are {list(milestones)}.")
        if any(schedule.optimizer is not schedules[0].optimizer for schedule in schedules):
            raise ValueError("the schedules of one sequence set the rate of one optimizer; these have several.")
        super().__init__(schedules[0].optimizer)
        self.start: float = schedules[0].start
        self.milestones: list[int]
        self._parts, self.milestones = list(schedules), list(milestones)
        self.seek(0)

    def rate(self, step: int) -> float:
        """The learning rate after ``step`` steps.

        Args:
            step: How many steps have been taken, from 0.

        Returns:
            The rate of the schedule in whose range ``step`` falls, counted from its milestone.
        """
        part = bisect_right(self.milestones, step)
        return self._parts[part].rate(step - (self.milestones[part - 1] if part else 0))
