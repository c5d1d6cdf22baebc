"""NumPy's functions that compare numbers, in a trace: ``np.maximum``, ``np.clip``, ``np.where``, ``np.max`` and more.

NumPy would ask which of two traced numbers is larger, in C code that no conversion can change. These record a selection
instead, of single numbers and of the elements of arrays of objects.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import operator
from collections.abc import Callable
from types import UnionType
from typing import Any

import numpy as np

from ... import engine
from ...engine import Value
from ...engine.elementwise import any_array
from ..if_conversion.running_trial import current
from .bool_tracer import BoolTracer, array_of_one, is_comparison
from .choice_tracer import is_choice
from .float_tracer import is_tracer

__all__ = ["FOLLOWED", "METHODS", "accumulated", "as_float", "as_numpys", "class_of", "each_class", "is_instance"]


def _is_traced(thing: Any) -> bool:
    if type(thing) is np.ndarray:
        return thing.dtype == object and any(map(_is_traced, thing.ravel().tolist()))
    return isinstance(thing, Value) or is_tracer(thing) or is_choice(thing)


def _number(thing: Any) -> Any:
    return thing.number() if is_choice(thing) else thing


def as_numpys(number: Any) -> Any:
    """An int as one of NumPy's."""
    return number.of_kind(np.int64) if is_choice(number) else np.int64(number) if type(number) is int else number


def as_float(number: Any) -> Any:
    """An int as a float."""
    return number.number() if is_choice(number) else float(number)


def is_instance(thing: Any, kinds: Any) -> Any:
    """``isinstance(thing, kinds)``: NumPy may have made a traced number, which is a graph break if that matters."""
    if is_tracer(thing) or is_choice(thing) or is_comparison(thing):
        thing._recorder.ask_class(thing, each_class(kinds))
    return isinstance(thing, kinds)


def class_of(*arguments: Any, **options: Any) -> Any:
    """``type(thing)``: that of the number for which a tracer stands."""
    if len(arguments) == 1 and not options:
        (thing,) = arguments
        if is_tracer(thing) or is_choice(thing) or is_comparison(thing):
            return thing._recorder.class_of(thing)
    return type(*arguments, **options)


def each_class(kinds: Any) -> list[Any]:
    """The classes of which ``isinstance`` asks."""
    several = kinds if type(kinds) is tuple else getattr(kinds, "__args__", ()) if type(kinds) is UnionType else None
    return [kinds] if several is None else [one for each in several for one in each_class(each)]


def _of_ints(function: Callable[..., Any], *operands: Any) -> Any:
    """What a function gives of numbers that are traced as floats; an int of NumPy's, if all of them are ints."""
    found = function(*map(_number, operands))
    if not is_tracer(found) or not all(map(_may_be_int, operands)):
        return found
    recorder: Any = found._recorder
    return recorder.note_numpys_ints(found)


def _may_be_int(thing: Any) -> bool:
    is_int = is_choice(thing) or isinstance(thing, (int, np.integer))
    return is_int or (is_tracer(thing) and thing._recorder.may_be_numpys_int(thing))


def _of_elements(function: Callable[..., Any], *operands: Any) -> Any:
    if not any_array(operands):
        return function(*operands)
    with np.errstate(all="ignore"):  # NumPy's own loops compare a NaN without a warning
        return np.frompyfunc(function, len(operands), 1)(*operands)


def _larger(one: Any, other: Any) -> Any:
    return _of_ints(functools.partial(_extreme, "maximum", operator.ge), one, other)


def _smaller(one: Any, other: Any) -> Any:
    return _of_ints(functools.partial(_extreme, "minimum", operator.le), one, other)


def _extreme(row: str, relation: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Of floats, what NumPy's loops give, also for a NaN; of objects, the first if it is as large.

    Floats by which derivatives are taken stand for objects, and have the derivatives of these.
    """
    if isinstance(one, Value) or isinstance(other, Value):
        return _selected(relation(one, other), one, other)
    if any(is_tracer(each) and each._recorder.derives_by_floats for each in (one, other)):
        return _selected(one != one, one, _selected(relation(one, other), one, other))
    return engine.functions[row](one, other)


def _maximum(*operands: Any, **options: Any) -> Any:
    """``np.maximum(x, y)``."""
    is_followed = len(operands) == 2 and not options and any(map(_is_traced, operands))
    return _of_elements(_larger, *operands) if is_followed else np.maximum(*operands, **options)


def _minimum(*operands: Any, **options: Any) -> Any:
    """``np.minimum(x, y)``."""
    is_followed = len(operands) == 2 and not options and any(map(_is_traced, operands))
    return _of_elements(_smaller, *operands) if is_followed else np.minimum(*operands, **options)


def _clip(*operands: Any, **options: Any) -> Any:
    """``np.clip(x, low, high)``."""
    are_three = len(operands) == 3 and not options and not any(one is None for one in operands)
    if not are_three or not any(map(_is_traced, operands)):
        return np.clip(*operands, **options)
    return _of_elements(lambda x, low, high: _smaller(_larger(x, low), high), *operands)


def _selected(test: Any, yes: Any, no: Any) -> Any:
    if not is_comparison(test):
        return yes if test else no
    recorder = test._recorder
    found = _of_ints(functools.partial(recorder.chosen, recorder.condition(test)), yes, no)
    return (yes if test else no) if found is None else found


def _where(*operands: Any, **options: Any) -> Any:
    """``np.where(test, x, y)``."""
    from ..if_conversion.tracers.test_array import TestArray  # which imports this package

    if len(operands) != 3 or options or type(operands[0]) not in (BoolTracer, TestArray):
        return np.where(*operands, **options)
    test, *others = operands
    if type(test) is BoolTracer and not any_array(others):
        return array_of_one(_selected(test, *others))  # which x += 1 changes in place, for all its names
    return _of_elements(_selected, test._rg_tests if type(test) is TestArray else test, *others)


def _sign(*operands: Any, **options: Any) -> Any:
    """``np.sign(x)``."""
    is_followed = len(operands) == 1 and not options and _is_traced(operands[0])
    return _of_elements(_sign_of, *operands) if is_followed else np.sign(*operands, **options)


def _sign_of(number: Any) -> Any:
    if is_tracer(number):
        return engine.functions["sign"](number)
    kind = np.int64 if is_choice(number) else int
    return _counted(_number(number) > 0, kind) - _counted(_number(number) < 0, kind)


def _counted(test: Any, kind: type) -> Any:
    return test._recorder.count(test, kind) if is_comparison(test) else int(test)


def accumulated(function: Any, thing: Any) -> Any:
    """``np.maximum.accumulate(thing)``, or ``np.minimum``, of an array of one axis; None of anything else."""
    larger = _larger if function is np.maximum else _smaller if function is np.minimum else None
    if larger is None or type(thing) is not np.ndarray or thing.ndim != 1 or not _is_traced(thing):
        return None
    return np.array([*itertools.accumulate(_elements(thing), larger)], object)


def _are_close(*operands: Any, **options: Any) -> Any:
    """``np.isclose(x, y, rtol, atol)``."""
    tolerances = {"rtol": 1e-5, "atol": 1e-8} | options
    is_known = len(operands) == 2 and len(tolerances) == 2 and {float, int}.issuperset(map(type, tolerances.values()))
    if not is_known or not any(map(_is_traced, operands)):
        return np.isclose(*operands, **options)

    def are_close(one: Any, other: Any) -> Any:
        one, other, where = _number(one), _number(other), engine.functions["where"]
        gap = where(one >= other, where(one <= other, 0.0, one - other), other - one)  # none of infinities
        limit = tolerances["atol"] + tolerances["rtol"] * abs(other)
        return gap <= where(abs(other) < math.inf, limit, 0.0)

    return _of_tests(are_close, *operands)


def _of_tests(function: Callable[..., Any], *operands: Any) -> Any:
    from ..if_conversion.tracers.test_array import TestArray  # which imports this package

    found = _of_elements(function, *operands)
    return TestArray(found) if type(found) is np.ndarray else found


def _select(*operands: Any, **options: Any) -> Any:
    """``np.select(tests, choices, default)``."""
    from ..if_conversion.tracers.test_array import TestArray  # which imports this package

    tests = operands[0] if operands and type(operands[0]) in (list, tuple) else ()
    if len(operands) not in (2, 3) or options.keys() - {"default"} or TestArray not in map(type, tests):
        return np.select(*operands, **options)
    found = operands[2] if len(operands) == 3 else options.get("default", 0)
    for test, choice in reversed([*zip(tests, operands[1], strict=True)]):
        found = _where(test, choice, found)
    return found


def _counted_tests(*operands: Any, **options: Any) -> Any:
    """``np.count_nonzero(tests)``."""
    from ..if_conversion.tracers.test_array import TestArray  # which imports this package

    is_known = len(operands) == 1 and not options and type(operands[0]) is TestArray
    return operands[0].sum() if is_known else np.count_nonzero(*operands, **options)


def _elements(thing: Any) -> list[Any]:
    """All numbers in an array, or in a list without others inside."""
    return np.ravel(thing).tolist() if type(thing) is np.ndarray else list(thing)


def _is_nan(number: Any) -> bool:
    """Whether a number is NaN, which becomes a guard of a traced one."""
    from ..if_conversion.selecting.searches import is_no_nan  # which imports this package

    test = number == number
    if not is_comparison(test):
        return not test
    return not (test.must_hold() if current() is None else is_no_nan(number))


def _place_of(extreme: Callable[..., Any], thing: Any) -> Any:
    numbers = list(map(_number, _elements(thing)))
    for place, number in enumerate(numbers):
        if _is_nan(number):  # the first is where NumPy stops
            return as_numpys(place)
    return as_numpys(extreme(range(len(numbers)), key=numbers.__getitem__))


def _searched(*operands: Any, **options: Any) -> Any:
    """``np.searchsorted(table, x, side="left")``."""
    side = options.get("side", "left")
    is_known = len(operands) == 2 and options.keys() <= {"side"} and side in ("left", "right")
    if not is_known or not any(map(_is_traced, operands)) or not _is_row(operands[0]):
        return np.searchsorted(*operands, **options)
    return _places_in(operands[0], operands[1], side == "left")


def _is_row(table: Any) -> bool:
    """Whether it has one axis, and no NaN, among which bisection of Python's would find another place."""
    return np.ndim(table) == 1 and not any(map(_is_nan, map(_number, _elements(table))))


def _digitized(*operands: Any, **options: Any) -> Any:
    """``np.digitize(x, bins, right=False)``, of bins that ascend."""
    is_known = len(operands) == 2 and options.keys() <= {"right"} and np.ndim(operands[1]) == 1
    if not is_known or not _is_traced(operands[0]) or not _ascends(operands[1]):
        return np.digitize(*operands, **options)
    return _places_in(operands[1], operands[0], bool(options.get("right", False)))


def _ascends(bins: Any) -> bool:
    found = _elements(bins)
    return _is_row(bins) and not any(map(_is_traced, found)) and all(a <= b for a, b in itertools.pairwise(found))


def _places_in(table: Any, numbers: Any, is_left: bool) -> Any:
    from ..if_conversion.selecting.searches import bisected  # which imports this package

    function = bisect.bisect_left if is_left else bisect.bisect_right
    places = _elements(table)

    def place_of(number: Any) -> Any:
        number = _number(number)
        # NumPy puts a NaN behind all others.
        return as_numpys(len(places) if _is_nan(number) else bisected(function, places, number))

    return _of_elements(place_of, numbers)


#: What the method of an array of traced numbers gives that compares all of them.
METHODS: dict[str, Callable[[Any], Any]] = {
    "max": lambda thing: functools.reduce(_larger, _elements(thing)),
    "min": lambda thing: functools.reduce(_smaller, _elements(thing)),
    "argmax": lambda thing: _place_of(max, thing),
    "argmin": lambda thing: _place_of(min, thing),
}


def _of_all(name: str) -> Callable[..., Any]:
    numpys = getattr(np, name)

    @functools.wraps(numpys)
    def of(*operands: Any, **options: Any) -> Any:
        flat = len(operands) == 1 and not options and type(operands[0]) in (list, tuple, np.ndarray)
        parts = operands[0] if flat and type(operands[0]) is not np.ndarray else ()
        is_followed = flat and (any(map(_is_traced, parts)) or _is_traced(operands[0]))
        return METHODS[name](*operands) if is_followed else numpys(*operands, **options)

    of.__module__ = __name__  # so that who meets it knows it
    return of


#: What is called in the places of NumPy's functions.
FOLLOWED: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): _of_all(name) for name in METHODS},
    np.maximum: _maximum,
    np.minimum: _minimum,
    np.clip: _clip,
    np.where: _where,
    np.sign: _sign,
    np.searchsorted: _searched,
    np.digitize: _digitized,
    np.isclose: _are_close,
    np.select: _select,
    np.count_nonzero: _counted_tests,
}
