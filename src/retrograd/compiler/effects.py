"""What a plain run of a function does besides computing: asks the time, draws random numbers, prints, grows a list.

A function that does such things cannot be compiled: a program would not do them again. It must not be traced either,
because it would do them twice.
"""

from __future__ import annotations

import gc
import inspect
import random
import sys
from collections.abc import Callable, Sequence
from datetime import date
from types import FrameType
from typing import Any, TypeVar, cast

import numpy as np

from .. import engine
from ..engine import Value
from ..engine.source_lines import Location, current_location
from .guards.dependencies import is_library

__all__ = ["Effects", "noting_effects"]

T = TypeVar("T")


class Effects:
    """Hears of a plain run what a tracer would hear, changes nothing, and keeps the first effect as a sentence."""

    def __init__(self) -> None:
        self.first: str = ""  #: without a dot at its end

    def notice(self, what: str, where: object = None) -> None:
        """The function does something that a compiled program cannot. ``what`` is a verb and its object."""
        if what == "takes a gradient":  # that changes nothing; a tracer records how it is computed
            return
        if not self.first:
            where = where or current_location() or "the function"
            self.first = f"{where}, {what}, which a compiled program cannot do"

    def data(self, value: Value) -> float:
        """``value.data``."""
        return value.data

    def detach(self, value: Value) -> Value:
        """``value.detach()``."""
        return value.detach()

    def _as_usual(self, *_: Any) -> Any:
        return NotImplemented

    leaf: Callable[..., Any] = _as_usual
    number_of: Callable[..., Any] = _as_usual
    call: Callable[..., Any] = _as_usual
    reduce: Callable[..., Any] = _as_usual
    compare: Callable[..., Any] = _as_usual
    truth: Callable[..., Any] = _as_usual
    hashed: Callable[..., Any] = _as_usual


def noting_effects(
    run: Callable[[], T], function: Callable[..., Any], arguments: tuple[Any, ...], generators: Sequence[Any]
) -> tuple[T, Effects]:
    """Do ``run``, which calls ``function``: its result and its effects, those on ``arguments`` and ``generators``, too.

    A profiler that is there rests meanwhile. What the collector's callbacks and finalizers do is not the function's
    doing.
    """
    effects, collecting = Effects(), False
    heard = cast(Any, random.random).__self__, *generators
    contents, drawn = _contents(arguments), _random_state(generators)

    def hear(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and not collecting and (what := _effect_of(called, frame, heard)):
            effects.notice(what, _users_line(frame))

    def begins(phase: str, _: object) -> None:
        nonlocal collecting
        collecting = collecting or phase == "start"

    def ends(phase: str, _: object) -> None:
        nonlocal collecting
        collecting = collecting and phase != "stop"

    profiler, tracer = sys.getprofile(), engine.set_tracer(None)
    # No context manager: where memory runs out under a profiler, it may not be left.
    try:
        engine.set_tracer(effects)
        gc.callbacks[:] = [begins, *gc.callbacks, ends]
        sys.setprofile(hear)
        result = run()
    finally:
        try:
            sys.setprofile(None)  # if this fails, Python has removed it
        finally:
            engine.set_tracer(tracer)
            gc.callbacks[:] = [hook for hook in gc.callbacks if hook is not begins and hook is not ends]
            if profiler is not None:
                enable = getattr(profiler, "enable", None)  # cProfile's cannot be put back as it was taken
                enable() if enable else sys.setprofile(profiler)
    if _random_state(generators) != drawn:
        effects.notice("draws random numbers", _definition(function))
    if _contents(arguments) != contents:
        effects.notice("changes an argument", _definition(function))
    return result, effects


def _definition(function: Callable[..., Any]) -> Location | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Location(code.co_filename, code.co_firstlineno, code.co_name) if code else None


def _users_line(frame: FrameType | None) -> Location | None:
    """The innermost line that is neither this package's nor a library's."""
    while frame is not None and is_library(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return frame and Location(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _effect_of(called: Any, frame: FrameType, generators: Sequence[Any]) -> str:
    """What a built-in function or method does besides computing, or ""."""
    name, owner = called.__name__, getattr(called, "__self__", None)
    module = getattr(called, "__module__", None)
    if module == "time" or (name in _CLOCKS and isinstance(owner, type) and issubclass(owner, date)):
        return f"asks the time with {name}()"
    if any(owner is generator for generator in generators):
        return f"draws random numbers with {name}()"
    if isinstance(owner, random.Random) and name == "seed" and frame.f_locals.get("a") is None:
        return "makes a generator of random numbers without a seed"
    if module in _SYSTEM:
        return f"asks the system with {name}()"
    if (module == "builtins" and name in _TALKS) or type(owner).__module__ == "_io":
        return f"reads or writes with {name}()"
    return ""


_CLOCKS = frozenset({"now", "today", "utcnow"})
_TALKS = frozenset({"print", "input", "open"})
_SYSTEM = frozenset({"posix", "nt"})


# --- what a run changes -----------------------------------------------------------------------------------------------


def _contents(thing: Any, deep: int = 16) -> Any:
    """What the containers among the arguments hold: objects by identity, arrays by their bytes."""
    if isinstance(thing, (list, tuple)) and deep:
        return [_contents(item, deep - 1) for item in thing]
    if isinstance(thing, dict) and deep:
        return [(id(key), _contents(item, deep - 1)) for key, item in thing.items()]
    if isinstance(thing, np.ndarray):
        return thing.shape, thing.tobytes()
    return id(thing)


def _random_state(generators: Sequence[Any]) -> list[Any]:
    """The states of Python's and NumPy's global generators of random numbers, and of others."""
    numpys = [_numpy_state(np.random.mtrand._rand)] if "numpy.random.mtrand" in sys.modules else []
    return [random.getstate(), *numpys, *(state for one in generators for state in _own_state(one))]


def _own_state(generator: Any) -> list[Any]:
    return [generator.getstate()] if isinstance(generator, random.Random) else [_numpy_state(generator)]


def _numpy_state(generator: Any) -> Any:
    bits = getattr(generator, "_bit_generator", None) or getattr(generator, "bit_generator", generator)
    return _unchanging(bits.state)


def _unchanging(state: Any) -> Any:
    if isinstance(state, dict):
        return [(key, _unchanging(item)) for key, item in state.items()]
    return state.tobytes() if isinstance(state, np.ndarray) else state
