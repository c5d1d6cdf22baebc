"""What a comparison of arrays of traced numbers gives: an array of tests, which decide nothing unless they must.

Tests are joined, multiply numbers, are counted, and select with ``np.where``. Whatever else is done with such an array
wants plain truth values: then each of its tests decides.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tracing.bool_tracer import BoolTracer
from ...tracing.followed_numpy import as_float, as_numpys
from ..trial import recorder
from .conditions import differ, joined, negated

__all__ = ["TestArray"]

_JOINED: dict[Any, Callable[[Any, Any], Any]] = {
    np.bitwise_and: functools.partial(joined, "minimum"),
    np.logical_and: functools.partial(joined, "minimum"),
    np.bitwise_or: functools.partial(joined, "maximum"),
    np.logical_or: functools.partial(joined, "maximum"),
    np.bitwise_xor: differ,
    np.logical_xor: differ,
}
_NEGATED = (np.invert, np.logical_not)


class TestArray:
    """An array of tests.

    Args:
        tests: comparisons and bools, in an array of objects.
    """

    __slots__ = ("_rg_tests",)
    __test__ = False  # no case of pytest's

    def __init__(self, tests: Any) -> None:
        self._rg_tests: np.ndarray[Any, Any] = np.asarray(tests, object)

    def _plain(self) -> Any:
        return np.frompyfunc(bool, 1, 1)(self._rg_tests).astype(bool)

    def _counts(self) -> Any:
        found = recorder()

        def count(test: Any) -> Any:
            return found.count(test, np.int64) if type(test) is BoolTracer else int(test)

        return np.frompyfunc(count, 1, 1)(self._rg_tests)

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        return self._plain()

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        if method == "__call__" and not options:
            if ufunc in _NEGATED:
                return TestArray(np.frompyfunc(negated, 1, 1)(self._rg_tests))
            if all(map(_are_tests, operands)) and (ufunc in _JOINED or ufunc is np.multiply):
                join = _JOINED.get(ufunc, _JOINED[np.bitwise_and])
                return TestArray(np.frompyfunc(join, 2, 1)(*map(_tests, operands)))
            if ufunc is np.multiply:
                return np.multiply(*(one._counts() if type(one) is TestArray else one for one in operands))
        return getattr(ufunc, method)(*(one._plain() if type(one) is TestArray else one for one in operands), **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain(), name)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        shape: tuple[int, ...] = self._rg_tests.shape
        return shape

    def __len__(self) -> int:
        return len(self._rg_tests)

    def __getitem__(self, key: Any) -> Any:
        return self._plain()[key]

    def __iter__(self) -> Any:
        return iter(self._plain())

    def __bool__(self) -> bool:
        return bool(self._plain())

    def __and__(self, other: Any) -> Any:
        return np.bitwise_and(self, other)

    def __or__(self, other: Any) -> Any:
        return np.bitwise_or(self, other)

    def __xor__(self, other: Any) -> Any:
        return np.bitwise_xor(self, other)

    def __invert__(self) -> Any:
        return np.invert(self)

    def __mul__(self, other: Any) -> Any:
        return np.multiply(self, other)

    __rand__, __ror__, __rxor__, __rmul__ = __and__, __or__, __xor__, __mul__

    def _reduced(self, name: str, axis: Any, others: Any, reduce: Callable[[list[Any]], Any]) -> Any:
        if axis is not None or any(one is not None for one in others.values()):
            return getattr(self._plain(), name)(axis=axis, **others)
        return reduce(self._rg_tests.ravel().tolist())

    def any(self, axis: Any = None, **others: Any) -> Any:
        """Whether one of the tests holds."""
        of = functools.partial(functools.reduce, functools.partial(joined, "maximum"))
        return self._reduced("any", axis, others, lambda tests: recorder().as_numpys_test(of(tests, False)))

    def all(self, axis: Any = None, **others: Any) -> Any:
        """Whether all of them hold."""
        of = functools.partial(functools.reduce, functools.partial(joined, "minimum"))
        return self._reduced("all", axis, others, lambda tests: recorder().as_numpys_test(of(tests, True)))

    def sum(self, axis: Any = None, **others: Any) -> Any:
        """How many of them hold."""
        return self._reduced("sum", axis, others, lambda _: as_numpys(sum(self._counts().ravel().tolist())))

    def mean(self, axis: Any = None, **others: Any) -> Any:
        """Which part of them holds."""
        return self._reduced("mean", axis, others, lambda tests: self.sum() / len(tests) if tests else np.nan)

    def astype(self, kind: Any, **options: Any) -> Any:
        """1 or 0 for each, as numbers."""
        if options or kind not in (int, float):
            return self._plain().astype(kind, **options)
        return self._counts() if kind is int else np.frompyfunc(as_float, 1, 1)(self._counts())


def _are_tests(thing: Any) -> bool:
    is_plain = isinstance(thing, (np.ndarray, np.bool_)) and thing.dtype.kind == "b"
    return type(thing) in (TestArray, bool, BoolTracer) or is_plain


def _tests(thing: Any) -> Any:
    return thing._rg_tests if type(thing) is TestArray else np.asarray(thing, object)
