"""Python's own functions of numbers in a trace, and some of NumPy's: ``float(x)``, ``math.sqrt(x)``, ``np.interp(…)``.

They are written in C and want a plain number, which no tracer is. While a function is traced, its code loads other
functions in their places: they record what is done with a tracer, and do with everything else what Python's do.
"""

from __future__ import annotations

import builtins
import dis
import functools
import itertools
import json
import math
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ... import math as our_math
from ..guards.bytecode import codes_of, global_names
from ..guards.libraries import is_library
from .bool_tracer import is_comparison
from .choice_tracer import is_choice
from .float_tracer import is_tracer
from .followed_numpy import FOLLOWED, class_of, is_instance

__all__ = ["follower_of", "following", "is_traced", "own_code"]

#: Those that give what an int is, or other things than floats: they want a plain number, or ask the tracer themselves.
_LEFT = frozenset(
    {"comb", "factorial", "gcd", "isqrt", "lcm", "perm", "prod", "sumprod", "ldexp", "frexp", "nextafter", "ulp"}
)
#: They ask the tracer themselves, which gives an int.
_GIVE_INTS = frozenset({"ceil", "floor", "trunc"})
#: Those of which ours differ from Python's in the last bit.
_INEXACT = frozenset({"dist", "fsum", "gamma", "hypot", "lgamma"})
#: NumPy's functions of single numbers that are followed.
_NUMPYS = ("isfinite", "isinf", "isnan")
#: So many places a table has at most in which ``np.interp`` is followed.
_MOST_PLACES = 64


def is_traced(thing: Any) -> bool:
    """Whether something is the tracer of a number, or a list or a tuple with one."""
    thing = _item(thing)
    return is_tracer(thing) or is_choice(thing) or (type(thing) in (list, tuple) and any(map(is_traced, thing)))


def _item(thing: Any) -> Any:
    """The number in an array without axes; anything else as it is."""
    return thing.item() if type(thing) is np.ndarray and thing.dtype == object and thing.ndim == 0 else thing


def _as_float(thing: Any) -> Any:
    """A traced number as the tracer of a float; a list of such; anything else as it is."""
    thing = _item(thing)
    if type(thing) in (list, tuple):
        return [*map(_as_float, thing)]
    return thing.number() if is_choice(thing) and type(thing.constant) is int else thing


def _counted(thing: Any) -> Any:
    """1 or 0 for a comparison; anything else as it is."""
    return thing._recorder.count(thing) if is_comparison(thing) else thing


def _float(*arguments: Any) -> Any:
    """``float(…)``."""
    one: Any = _as_float(_counted(arguments[0])) if len(arguments) == 1 else None
    return one._recorder.as_float(one) if is_tracer(one) else float(*arguments)


def _int(*arguments: Any, **options: Any) -> Any:
    """``int(…)``."""
    if len(arguments) == 1 and not options:
        one = _counted(arguments[0])
        if is_tracer(one):
            return one.__trunc__()
        if is_choice(one) and type(one.constant) is int:
            return one if one.kind is int else one.of_kind(int)
    return int(*arguments, **options)


def _following(module: types.ModuleType, name: str) -> Callable[..., Any]:
    """A function of a module, which records what it does with tracers."""
    pythons, ours = getattr(module, name), getattr(our_math, name)

    @functools.wraps(pythons)
    def of(*arguments: Any, **options: Any) -> Any:
        if name == "fsum":
            arguments = tuple(map(list, arguments))
        traced = [*filter(is_traced, arguments)]
        if not traced:
            return pythons(*arguments, **options)
        return _recorder_of(traced[0]).raising(lambda: ours(*map(_as_float, arguments), **options))

    of.__module__ = __name__  # so that who meets it knows it
    return of


def _interpolated(x: Any, xp: Any, fp: Any, *rest: Any, **options: Any) -> Any:
    """``np.interp(…)``: of one traced number in a table of constants, the sum of what it rises in each interval."""
    number, places, values = _as_float(x), _constants(xp), _constants(fp)
    is_table = 1 < len(places) <= _MOST_PLACES and len(places) == len(values)
    is_table &= all(map(math.isfinite, places + values)) and all(a < b for a, b in itertools.pairwise(places))
    if not is_tracer(number) or rest or options or not is_table:
        return np.interp(x, xp, fp, *rest, **options)
    number = our_math.minimum(our_math.maximum(number, places[0]), places[-1])
    total: Any = values[0]
    for (a, b), (u, v) in zip(itertools.pairwise(places), itertools.pairwise(values), strict=True):
        total = total + (v - u) / (b - a) * our_math.minimum(our_math.maximum(number - a, 0.0), b - a)
    return total


def _constants(things: Any) -> list[float]:
    """Plain numbers as floats; none if there is something else."""
    plain = things.tolist() if type(things) is np.ndarray and things.ndim == 1 else things
    is_plain = type(plain) in (list, tuple) and {float, int}.issuperset(map(type, plain))
    return [*map(float, plain)] if is_plain else []


def _dumps(*arguments: Any, **options: Any) -> str:
    """``json.dumps(…)``, which refuses a tracer, and would write a number."""
    rest = [*arguments]
    while rest:
        thing = rest.pop()
        if is_traced(thing) or is_comparison(thing):
            _recorder_of(thing).untraceable("turns a number into text")
        elif type(thing) in (list, tuple, dict):
            rest += thing.values() if type(thing) is dict else thing
    return json.dumps(*arguments, **options)


def _recorder_of(thing: Any) -> Any:
    thing = _item(thing)
    return _recorder_of(next(filter(is_traced, thing))) if type(thing) in (list, tuple) else thing._recorder


_NAMES = [
    name
    for name, function in vars(math).items()
    if isinstance(function, types.BuiltinFunctionType) and name not in _LEFT | _GIVE_INTS and hasattr(our_math, name)
]
_FOLLOWERS: dict[Any, Callable[..., Any]] = {
    float: _float,
    int: _int,
    isinstance: is_instance,
    type: class_of,
    json.dumps: _dumps,
    **{getattr(math, name): _following(math, name) for name in _NAMES},
    **{getattr(np, name): _following(np, name) for name in _NUMPYS},
    np.interp: _interpolated,
    **FOLLOWED,
}
_KINDS = frozenset({type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.interp)})
_INEXACT_ONES = frozenset({np.interp, *(getattr(math, name) for name in _INEXACT.intersection(_NAMES))})


class _Module:
    """A module with functions that record; with ``exact``, only where the last bit is the same."""

    def __init__(self, module: types.ModuleType, exact: bool) -> None:
        self._module, self._exact = module, exact

    def __getattr__(self, name: str) -> Any:
        thing = getattr(self._module, name)
        return (_follower(thing, self._exact) if name in _MODULES[self._module] else None) or thing


#: Modules with functions that are followed, and their names.
_MODULES: dict[types.ModuleType, frozenset[str]] = {
    math: frozenset(_NAMES),
    json: frozenset({"dumps"}),
    np: frozenset({"interp", *_NUMPYS, *(function.__name__ for function in FOLLOWED)}),
}
_PROXIES = {(module, exact): _Module(module, exact) for module in _MODULES for exact in (False, True)}


def _follower(function: Any, exact: bool) -> Callable[..., Any] | None:
    found = follower_of(function)
    return None if exact and found is not None and function in _INEXACT_ONES else found


def follower_of(function: Any) -> Callable[..., Any] | None:
    """What records what ``float``, ``int`` or a function of ``math`` does; None of any other function."""
    return _FOLLOWERS.get(function) if type(function) in _KINDS else None


#: The code that other code was made of, by the id of that, which is kept.
_originals: dict[int, tuple[types.CodeType, types.CodeType]] = {}


def own_code(function: types.FunctionType) -> types.CodeType:
    """The code of a function as it was written, also where it has other code for a trace."""
    code = function.__code__
    return _originals[id(code)][1] if id(code) in _originals else code


class _Swap:
    """Other code of a function, for as long as traces use it, in any thread.

    Attributes:
        code: the function's before.
        made: the other one.
        users: how many traces use it.
    """

    def __init__(self, code: types.CodeType, made: types.CodeType) -> None:
        self.code: types.CodeType = code
        self.made: types.CodeType = made
        self.users: int = 1


_swaps: dict[types.FunctionType, _Swap] = {}
_lock = threading.Lock()  # while code is swapped, and not while a function runs, which may wait for another thread


def _forked() -> None:
    """In a forked child the other threads are gone, and with them what one held."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


@contextmanager
def following(functions: Sequence[types.FunctionType], exact: bool) -> Iterator[None]:
    """Let these functions call what records in the places of Python's own functions of numbers.

    With ``exact``, only where the last bit is the same. Another thread that calls them meanwhile gets what it always
    does.
    """
    used: list[tuple[types.FunctionType, _Swap]] = []
    try:
        with _lock:
            used += ((function, swap) for function in functions if (swap := _swapped(function, exact)) is not None)
        yield
    finally:
        with _lock:
            for function, swap in used:
                _leave(function, swap)


def _swapped(function: types.FunctionType, exact: bool) -> _Swap | None:
    """Give a function its other code, if there is one, or use that which it has."""
    swap = _swaps.get(function)
    if swap is not None and function.__code__ is swap.made:
        swap.users += 1
        return swap
    made = _rewritten(function, exact)
    if made is None:
        return None
    swap = _swaps[function] = _Swap(function.__code__, made)
    function.__code__ = made
    return swap


def _leave(function: types.FunctionType, swap: _Swap) -> None:
    swap.users -= 1
    if swap.users == 0:
        if function.__code__ is swap.made:
            function.__code__ = swap.code
        if _swaps.get(function) is swap:
            del _swaps[function]


def _rewritten(function: types.FunctionType, exact: bool) -> types.CodeType | None:
    """The code of a function with other functions in the places of Python's; None if it loads none of those."""
    code, scope = function.__code__, function.__globals__
    if is_library(scope.get("__name__")):
        return None
    found: dict[str, Any] = {}
    for name in frozenset().union(*map(global_names, codes_of(code))):
        thing = scope.get(name, getattr(builtins, name, None))
        if type(thing) is types.ModuleType and thing in _MODULES:
            found[name] = _PROXIES[thing, exact]
        elif (follower := _follower(thing, exact)) is not None:
            found[name] = follower
    return _with_constants(code, tuple(found.items()), code.co_filename) if found else None


#: LOAD_ATTR has a bit that makes room for a call of the attribute.
_CALLS_BY_ATTRIBUTE = sys.version_info >= (3, 12)


class _Load(NamedTuple):
    """An instruction that loads a global variable: its bytes, and what becomes of the variable."""

    start: int
    end: int
    name: str
    has_null: bool  #: there is room for a call
    is_called: bool  #: it, or an attribute of it, at once or by ``map``; who asks which object it is, gets Python's
    is_asked: bool  #: for an attribute

    def suits(self, thing: Any) -> bool:
        """Whether something else may be loaded instead of what ``thing`` records the calls of."""
        return self.is_called and self.is_asked == isinstance(thing, _Module)


def _loads(code: types.CodeType) -> Iterator[_Load]:
    start, before = 0, ""
    instructions = [*dis.get_instructions(code)]
    for now, then, last in zip(instructions, instructions[1:], [*instructions[2:], None], strict=False):
        if now.opcode == dis.EXTENDED_ARG:
            continue
        name = now.argval if now.opname == "LOAD_GLOBAL" else ""
        if name:
            has_null, is_asked = bool((now.arg or 0) & 1), then.opname in ("LOAD_ATTR", "LOAD_METHOD")
            is_method = then.opname == "LOAD_METHOD" or (is_asked and _CALLS_BY_ATTRIBUTE and bool((then.arg or 0) & 1))
            is_method |= is_asked and last is not None and last.opname == "PUSH_NULL"  # of a module, since Python 3.13
            yield _Load(start, then.offset, name, has_null, has_null or is_method or before == "map", is_asked)
        start, before = then.offset, name


@functools.lru_cache(maxsize=1024)
def _with_constants(code: types.CodeType, values: tuple[tuple[str, Any], ...], file: str) -> types.CodeType:
    """Code that loads constants where it loads global variables to call them, or for an attribute.

    Code of two files may be equal.
    """
    known: Mapping[str, Any] = dict(values)
    constants = [
        _with_constants(one, values, file) if isinstance(one, types.CodeType) else one for one in code.co_consts
    ]
    made = bytearray(code.co_code)
    for load in _loads(code):
        if load.name in known and load.suits(known[load.name]):
            constants.append(known[load.name])
            made[load.start : load.end] = _load_constant(len(constants) - 1, load.has_null, load.end - load.start)
    found = code.replace(co_code=bytes(made), co_consts=tuple(constants))
    _originals[id(found)] = found, code
    return found


def _load_constant(place: int, has_null: bool, length: int) -> bytes:
    """Instructions that load a constant, and make room for a call, of as many bytes."""
    load = bytearray()
    for shift in (24, 16, 8):
        if place >> shift:
            load += bytes((dis.EXTENDED_ARG, place >> shift & 255))
    load += bytes((dis.opmap["LOAD_CONST"], place & 255))
    if has_null:
        null = bytes((dis.opmap["PUSH_NULL"], 0))
        load = load + null if sys.version_info >= (3, 13) else bytearray(null) + load
    nothing = bytes((dis.opmap["NOP"], 0))
    return bytes(load) + nothing * ((length - len(load)) // len(nothing))
