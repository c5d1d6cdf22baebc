"""Python's own functions of numbers in a trace: ``float(x)``, ``int(x)``, ``math.sqrt(x)``.

They are written in C and want a plain number, which no tracer is. While a function is traced, its code loads other
functions in their places: they record what is done with a tracer, and do with everything else what Python's do.
"""

from __future__ import annotations

import builtins
import dis
import functools
import itertools
import math
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ... import math as our_math
from ..guards.bytecode import codes_of, global_names
from ..guards.dependencies import is_library
from .choice_tracer import is_choice
from .float_tracer import is_tracer

__all__ = ["code_lock", "follower_of", "following", "own_code"]

#: Held while functions have other code than their own.
code_lock = threading.RLock()

#: Those that give what an int is, or other things than floats: they want a plain number, or ask the tracer themselves.
_LEFT = frozenset({"comb", "factorial", "gcd", "isqrt", "lcm", "perm", "frexp", "nextafter", "ulp"})
#: They ask the tracer themselves, which gives an int.
_GIVE_INTS = frozenset({"ceil", "floor", "trunc"})
#: Those of which ours differ from Python's in the last bit.
_INEXACT = frozenset({"dist", "fsum", "gamma", "hypot", "lgamma", "prod", "sumprod"})


def _is_traced(thing: Any) -> bool:
    return is_tracer(thing) or is_choice(thing) or (type(thing) in (list, tuple) and any(map(_is_traced, thing)))


def _as_float(thing: Any) -> Any:
    """A traced number as the tracer of a float; a list of such; anything else as it is."""
    if type(thing) in (list, tuple):
        return [*map(_as_float, thing)]
    return thing.number() if is_choice(thing) and type(thing.constant) is int else thing


def _float(*arguments: Any) -> Any:
    """``float(…)``."""
    one = _as_float(arguments[0]) if len(arguments) == 1 else None
    return one if is_tracer(one) else float(*arguments)


def _int(*arguments: Any, **options: Any) -> Any:
    """``int(…)``."""
    if len(arguments) == 1 and not options:
        (one,) = arguments
        if is_tracer(one):
            return one.__trunc__()
        if is_choice(one) and type(one.constant) is int:
            return one
    return int(*arguments, **options)


def _following(name: str) -> Callable[..., Any]:
    """A function of ``math``, which records what it does with tracers."""
    pythons, ours = getattr(math, name), getattr(our_math, name)

    @functools.wraps(pythons)
    def of(*arguments: Any, **options: Any) -> Any:
        traced = [*filter(_is_traced, arguments)]
        if not traced:
            return pythons(*arguments, **options)
        return _recorder_of(traced[0]).raising(lambda: ours(*map(_as_float, arguments), **options))

    of.__module__ = __name__  # so that who meets it knows it
    return of


def _recorder_of(thing: Any) -> Any:
    return _recorder_of(next(filter(_is_traced, thing))) if type(thing) in (list, tuple) else thing._recorder


_NAMES = [
    name
    for name, function in vars(math).items()
    if isinstance(function, types.BuiltinFunctionType) and name not in _LEFT | _GIVE_INTS and hasattr(our_math, name)
]
_FOLLOWERS: dict[Any, Callable[..., Any]] = {
    float: _float,
    int: _int,
    **{getattr(math, name): _following(name) for name in _NAMES},
}
_TYPES = (_float, _int)  # which are more than functions
_INEXACT_ONES = frozenset(getattr(math, name) for name in _INEXACT.intersection(_NAMES))


class _Math:
    """Python's ``math`` with functions that record; with ``exact``, only where the last bit is the same."""

    def __init__(self, exact: bool) -> None:
        for name, thing in vars(math).items():
            follows = name in _NAMES and not (exact and name in _INEXACT)
            setattr(self, name, _FOLLOWERS[thing] if follows else thing)


_MATH, _EXACT_MATH = _Math(False), _Math(True)


def follower_of(function: Any) -> Callable[..., Any] | None:
    """What records what ``float``, ``int`` or a function of ``math`` does; None of any other function."""
    return _FOLLOWERS.get(function) if type(function) in (type, types.BuiltinFunctionType) else None


#: The code that other code was made of, by the id of that, which is kept.
_originals: dict[int, tuple[types.CodeType, types.CodeType]] = {}


def own_code(function: types.FunctionType) -> types.CodeType:
    """The code of a function as it was written, also where it has other code for a trace."""
    code = function.__code__
    return _originals[id(code)][1] if id(code) in _originals else code


@contextmanager
def following(functions: Sequence[types.FunctionType], exact: bool) -> Iterator[None]:
    """Let these functions call what records in the places of Python's own functions of numbers.

    With ``exact``, only where the last bit is the same. Another thread that calls them meanwhile gets what it always
    does.
    """
    changed: list[tuple[types.FunctionType, types.CodeType]] = []
    with code_lock:
        try:
            for function in functions:
                code = function.__code__
                if (made := _rewritten(function, exact)) is not None:
                    changed.append((function, code))
                    function.__code__ = made
            yield
        finally:
            for function, code in changed:
                function.__code__ = code


def _rewritten(function: types.FunctionType, exact: bool) -> types.CodeType | None:
    """The code of a function with other functions in the places of Python's; None if it loads none of those."""
    code, scope = function.__code__, function.__globals__
    if is_library(scope.get("__name__")):
        return None
    found: dict[str, Any] = {}
    for name in frozenset().union(*map(global_names, codes_of(code))):
        thing = scope.get(name, getattr(builtins, name, None))
        if thing is math:
            found[name] = _EXACT_MATH if exact else _MATH
        elif (follower := follower_of(thing)) is not None and not (exact and thing in _INEXACT_ONES):
            found[name] = follower
    return _with_constants(code, tuple(found.items()), code.co_filename) if found else None


class _Load(NamedTuple):
    """An instruction that loads a global variable: its bytes, and what becomes of the variable."""

    start: int
    end: int
    name: str
    has_null: bool  #: there is room for a call
    is_called: bool  #: at once, or by ``map``
    is_asked: bool  #: for an attribute

    def suits(self, thing: Any) -> bool:
        """Whether something else may be loaded instead of what ``thing`` records the calls of."""
        if isinstance(thing, _Math):
            return self.is_asked
        return not self.is_asked and (self.is_called or thing not in _TYPES)


def _loads(code: types.CodeType) -> Iterator[_Load]:
    start, before = 0, ""
    instructions = [*dis.get_instructions(code)]
    for now, then in itertools.pairwise(instructions):
        if now.opcode == dis.EXTENDED_ARG:
            continue
        name = now.argval if now.opname == "LOAD_GLOBAL" else ""
        if name:
            has_null, is_asked = bool((now.arg or 0) & 1), then.opname in ("LOAD_ATTR", "LOAD_METHOD")
            yield _Load(start, then.offset, name, has_null, has_null or before == "map", is_asked)
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
