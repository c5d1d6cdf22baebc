"""Numerical derivatives by central differences that know how wrong they are, and that notice kinks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Difference", "central_difference"]

_EPSILON = 2.0**-52
_NOISE = 8.0  # rounding errors of the function, in ulp
_GOOD = 1e-7  # a relative error so small that no smaller step is needed
_KINK = 0.75  # the slopes on both sides of a kink differ as much at half the step; of a smooth curve half as much
_JUMP = 1.75  # the slope across a jump doubles at half the step; that of a root grows by at most 2 ** (2/3)


@dataclass(frozen=True, slots=True)
class Difference:
    """A measured derivative.

    ``value`` and ``error``: the estimate and a bound on how wrong it is, NaN and infinite when the function
    could not be evaluated on both sides. ``kink``: whether the function has a kink or a jump there; then
    ``left`` and ``right`` are its slopes beside it.
    """

    value: float
    error: float
    left: float
    right: float
    kink: bool

    @property
    def known(self) -> bool:
        """Whether the function could be evaluated on both sides."""
        return math.isfinite(self.value)

    @property
    def sure(self) -> bool:
        """Whether there is one slope, known to a hundredth."""
        return self.known and not self.kink and self.error <= 1e-2 * max(abs(self.value), 1e-6)

    @property
    def range(self) -> tuple[float, float]:
        """The range of right derivatives: the estimate and its error; at a kink, everything between the slopes."""
        if self.kink:
            return min(self.left, self.right) - self.error, max(self.left, self.right) + self.error
        return self.value - self.error, self.value + self.error


def central_difference(f: Callable[[float], float], x: float, y: float) -> Difference:
    """The derivative of ``f`` at ``x``, where ``y`` is ``f(x)``.

    Richardson extrapolation of two central differences, with the steps h and h/2. How far the extrapolation moves the
    better one, and the rounding error of ``f``, bound the error. While the bound is bad, one side is outside the domain
    or the two sides have different slopes, smaller steps are tried.
    """
    best = Difference(math.nan, math.inf, math.nan, math.nan, False)
    kink: Difference | None = None
    for step in _steps(x):
        found = _measure(f, x, y, step)
        if not found.known:
            continue
        if found.kink:
            kink = found
            continue
        if kink is not None and abs(found.right - found.left) > 0.25 * abs(kink.right - kink.left):
            continue  # the kink is still there, only too small against the rounding
        kink = None
        if found.error < best.error:
            best = found
        if best.error <= _GOOD * abs(best.value):
            break
    return best if kink is None else kink


def _steps(x: float) -> Iterator[float]:
    """Steps to try, powers of two: first the size that suits most functions, then smaller ones."""
    for exponent in (-12, -16, -20, -26):
        yield _power_of_two(max(abs(x), 1.0)) * 2.0**exponent
    if 0.0 < abs(x) < 1e-2:
        for exponent in (-8, -12, -16):
            yield _power_of_two(abs(x)) * 2.0**exponent


def _power_of_two(x: float) -> float:
    return 2.0 ** math.frexp(x)[1] if math.isfinite(x) and x > 1e-300 else 1.0


def _measure(f: Callable[[float], float], x: float, y: float, step: float) -> Difference:
    wide, near = _Slopes(f, x, y, step), _Slopes(f, x, y, step / 2)
    value = near.central + (near.central - wide.central) / 3.0
    noise = _NOISE * _EPSILON * max(near.size, wide.size) / step * 2.0
    if not math.isfinite(value):
        return Difference(math.nan, math.inf, math.nan, math.nan, False)
    if _is_kink(wide, near, noise):
        left, right = (
            (near.low - wide.low) / (near.below - wide.below),
            (wide.high - near.high) / (wide.above - near.above),
        )
        return Difference(value, 4.0 * noise + 10.0 * step * max(abs(left), abs(right)), left, right, True)
    return Difference(value, abs(value - near.central) + noise + _EPSILON * abs(value), near.left, near.right, False)


def _is_kink(wide: _Slopes, near: _Slopes, noise: float) -> bool:
    """Whether the sides' slopes stay apart at half the step (a kink), or one of them doubles (a jump)."""
    wide_gap, near_gap = abs(wide.right - wide.left), abs(near.right - near.left)
    apart = near_gap > _KINK * wide_gap and near_gap > 100.0 * noise
    doubled = any(
        abs(small) > _JUMP * abs(large) and abs(small) > 100.0 * noise
        for large, small in ((wide.left, near.left), (wide.right, near.right))
    )
    return apart or doubled


class _Slopes:
    """The function at two points ``step`` away, and the slopes to them."""

    def __init__(self, f: Callable[[float], float], x: float, y: float, step: float) -> None:
        self.above, self.below = x + step, x - step
        self.high, self.low = f(self.above), f(self.below)
        self.central = (self.high - self.low) / (self.above - self.below)
        self.left = (y - self.low) / (x - self.below)
        self.right = (self.high - y) / (self.above - x)
        self.size = max(abs(self.high), abs(self.low), abs(y))  #: the largest number the function had
