"""What ``x[tests]`` gives, of an array of one axis: an array of which traced tests choose the elements that it has.

It is computed with, summed and counted. Whatever else is done with it wants a plain array: then each test decides.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ....engine import Value
from ...tracing.bool_tracer import BoolTracer
from ...tracing.followed_numpy import FOLLOWED, as_float
from ..selecting.selections import NUMBERS, chosen_at
from ..trial import current, in_arms, recorder, refuse
from .conditions import any_of, joined, must_hold
from .test_array import TestArray

__all__ = ["SelectedArray", "selected"]

_MOST = 1024

#: What gives a number of each element, or of each two.
_COMPUTING = frozenset(
    {
        *(np.add, np.subtract, np.multiply, np.divide, np.power, np.negative, np.positive, np.absolute, np.square),
        *(np.exp, np.log, np.log1p, np.expm1, np.sqrt, np.sin, np.cos, np.tan, np.tanh, np.arctan, np.log2, np.log10),
        *(np.maximum, np.minimum, np.sign),
    }
)


def selected(thing: Any, tests: TestArray) -> SelectedArray | None:
    """``thing[tests]``, of an array of numbers; None of anything else.

    In the place of an element that is not there is a number of which most functions can be computed.
    """
    is_known = type(thing) is np.ndarray and thing.ndim == 1 and thing.dtype in (object, np.float64)
    if current() is None or not is_known or thing.shape != tests.shape or not 0 < len(thing) <= _MOST:
        return None
    items = thing.tolist()
    if not (NUMBERS - {int}).issuperset(map(type, items)):  # a sum of ints is one
        return None
    return SelectedArray(map(_inside, tests._rg_tests, items), tests)


def _inside(test: Any, item: Any) -> Any:
    found = recorder()
    return found.otherwise(found.condition(test), item, 1.0) if type(test) is BoolTracer else item


class SelectedArray:
    """An array with those of some elements for which a test holds.

    Args:
        items: the elements.
        tests: whether each is there.
    """

    __slots__ = ("_rg_items", "_rg_tests")

    def __init__(self, items: Any, tests: TestArray) -> None:
        self._rg_items = list(items)
        self._rg_tests = tests

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, np.ndarray) decides as it does in plain Python
        return np.ndarray

    def _there(self) -> list[Any]:
        return list(self._rg_tests._rg_tests)

    def _plain(self) -> Any:
        if in_arms():
            raise refuse("reads an array whose length decisions choose")
        found = [one for one, test in zip(self._rg_items, self._there(), strict=True) if bool(test)]
        made = np.empty(len(found), object)
        made[:] = found
        return made

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        return self._plain()

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        if options or method != "__call__":
            raise refuse(f"calls {ufunc.__name__} with options, of an array whose length decisions choose")
        return self._computed(ufunc, *operands)

    def _computed(self, ufunc: Any, *operands: Any) -> Any:
        arrays = [one for one in operands if type(one) is SelectedArray or np.ndim(one) > 0]
        are_alike = all(type(one) is SelectedArray and one._rg_tests is self._rg_tests for one in arrays)
        if ufunc not in _COMPUTING or not are_alike:
            return ufunc(*(one._plain() if type(one) is SelectedArray else one for one in operands))
        compute = FOLLOWED.get(ufunc, ufunc)
        rows = [one._rg_items if type(one) is SelectedArray else [one] * len(self._rg_items) for one in operands]
        with np.errstate(all="ignore"):  # constants that are not there
            return SelectedArray(map(compute, *rows), self._rg_tests)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain(), name)

    def __getitem__(self, key: Any) -> Any:
        return self._plain()[key]

    def __iter__(self) -> Any:
        return iter(self._plain())

    def __len__(self) -> int:
        return len(self._plain())

    def __bool__(self) -> bool:
        return bool(self._plain())

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return 1

    @property
    def size(self) -> Any:
        """How many elements are there."""
        count, found = recorder().count, cast("Any", 0)
        for test in self._there():
            found = found + (count(test) if type(test) is BoolTracer else int(test))
        return found

    @property
    def shape(self) -> tuple[Any, ...]:
        """The same, as the length of the axis."""
        return (self.size,)

    def _reduced(self, name: str, axis: Any, others: dict[str, Any], reduce: Callable[[], Any]) -> Any:
        if axis not in (None, 0, -1) or any(one is not None for one in others.values()):
            return getattr(self._plain(), name)(axis=axis, **others)
        return reduce()

    def _with_one(self) -> Any:
        """Whether there is any element, which becomes a guard."""
        found = any_of(self._there())
        if not must_hold(found):
            raise refuse("computes something of an array without elements")
        return found

    def _total(self) -> Any:
        pairs = list(zip(self._rg_items, self._there(), strict=True))
        if any(type(one) is Value for one, _ in pairs):  # of none, NumPy's sum is the int 0
            return functools.reduce(lambda total, one: chosen_at(one[1], total + one[0], total), pairs, 0)
        return functools.reduce(lambda total, one: total + chosen_at(one[1], one[0], 0.0), pairs, 0.0)

    def sum(self, axis: Any = None, **others: Any) -> Any:
        """The sum of what is there."""
        return self._reduced("sum", axis, others, self._total)

    def mean(self, axis: Any = None, **others: Any) -> Any:
        """Their mean, of at least one."""

        def mean() -> Any:
            return self._total() / chosen_at(self._with_one(), as_float(self.size), 1.0)

        return self._reduced("mean", axis, others, mean)

    def max(self, axis: Any = None, **others: Any) -> Any:
        """The largest of at least one."""
        return self._reduced("max", axis, others, functools.partial(self._extreme, FOLLOWED[np.maximum]))

    def min(self, axis: Any = None, **others: Any) -> Any:
        """The smallest of at least one."""
        return self._reduced("min", axis, others, functools.partial(self._extreme, FOLLOWED[np.minimum]))

    def _extreme(self, extreme: Callable[[Any, Any], Any]) -> Any:
        self._with_one()
        found, has = self._rg_items[0], self._there()[0]
        for one, test in zip(self._rg_items[1:], self._there()[1:], strict=True):
            better = chosen_at(has, extreme(found, one), one) if has is not False else one
            found, has = chosen_at(test, better, found), joined("maximum", has, test)
        return found


def _define(name: str, ufunc: Any) -> None:
    setattr(SelectedArray, f"__{name}__", lambda self, *others: self._computed(ufunc, self, *others))
    setattr(SelectedArray, f"__r{name}__", lambda self, other: self._computed(ufunc, other, self))


for _name, _ufunc in (
    *(("abs", np.absolute), ("neg", np.negative), ("pos", np.positive)),
    *(("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide), ("pow", np.power)),
    *(("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal)),
    *(("eq", np.equal), ("ne", np.not_equal)),
):
    _define(_name, _ufunc)
