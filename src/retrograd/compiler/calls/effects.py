"""What a plain run of a function does besides computing: asks the time, draws random numbers, prints, grows a list.

A function that does such things cannot be compiled: a program would not do them again. It must not be traced either,
because it would do them twice.
"""

from __future__ import annotations

import _random
import dataclasses
import gc
import inspect
import random
import sys
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from types import FrameType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, TypeVar, cast

import numpy as np

from ... import engine
from ...engine.containers import contents_of, has_plain_fields, registered
from ...engine.source_lines import Location, current_location
from ..guards.libraries import is_library
from ..guards.reach.data import weighed
from ..guards.reach.reach import GENERATORS

__all__ = ["Effects", "contents", "noting_effects"]

T = TypeVar("T")

#: What the functions of the module ``random`` are methods of.
_PYTHONS: random.Random = cast(Any, random.random).__self__


class Effects:
    """Is told of a plain run what a tracer would be told, and keeps the first effect as a sentence."""

    follows_numbers = False  # the engine does not ask it what a number is

    def __init__(self) -> None:
        self.first: str = ""  #: without a dot at its end

    def notice(self, what: str, where: object = None) -> None:
        """The function does something that a compiled program cannot. ``what`` is a verb and its object."""
        if what == "takes a gradient":  # that changes nothing; a tracer records how it is computed
            return
        if not self.first:
            where = where or current_location() or "the function"
            self.first = f"{where}, {what}, which a compiled program cannot do"


def noting_effects(
    run: Callable[[], T],
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    generators: Sequence[Any],
    frozen: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[T, Effects]:
    """Do ``run``, which calls ``function``: its result and its effects, those on ``arguments`` and ``generators``, too.

    So are those on ``frozen`` data, which no call compares, by what users call them. A profiler that is there rests
    meanwhile. What the collector's callbacks and finalizers do is not the function's doing.
    """
    effects = Effects()
    listener = _Listener(effects, (_PYTHONS, *generators))
    held, drawn = contents(arguments), _random_state(generators)
    kept = [(path, thing, contents(thing)) for path, thing in frozen.items() if _may_be_held(thing)]
    profiler, tracer = sys.getprofile(), engine.set_tracer(None)
    # No context manager: where memory runs out under a profiler, it may not be left.
    try:
        engine.set_tracer(effects)
        gc.callbacks[:] = [listener.collection_begins, *gc.callbacks, listener.collection_ends]
        listener.enable()
        result = run()
    finally:
        try:
            sys.setprofile(None)  # if this fails, Python has removed it
        finally:
            engine.set_tracer(tracer)
            gc.callbacks[:] = [hook for hook in gc.callbacks if getattr(hook, "__self__", None) is not listener]
            if profiler is not None:
                enable = getattr(profiler, "enable", None)  # cProfile's cannot be put back as it was taken
                enable() if enable else sys.setprofile(profiler)
    if _random_state(generators) != drawn:
        effects.notice("draws random numbers", _definition(function))
    if contents(arguments) != held:
        effects.notice("changes an argument", _definition(function))
    for path, thing, before in kept:
        if contents(thing) != before:
            effects.notice(f"changes {path}", _definition(function))
    return result, effects


def _address_of_setter() -> int:
    """Where CPython's PyEval_SetProfile is, which the limited API does not have; 0 if it cannot be found."""
    try:
        import ctypes

        return ctypes.cast(ctypes.pythonapi.PyEval_SetProfile, ctypes.c_void_p).value or 0
    except (ImportError, AttributeError):
        return 0


_SETTER = _address_of_setter()


class _Listener:
    """A profile function that hears of the calls of C functions, and notes those that have an effect.

    In front of it is one in C, which asks it once about calls that never have one (native/bindings/call_listener.cpp).
    """

    def __init__(self, effects: Effects, generators: Sequence[Any]) -> None:
        self._effects, self._generators = effects, generators
        self._collecting = False
        self._around = sys._getframe(1)

    def enable(self) -> None:
        """Hear of this thread's calls from now on."""
        if _SETTER:
            engine.hear_calls(_SETTER, self)
        if sys.getprofile() is not self:  # an audit hook may refuse, which only this one says
            sys.setprofile(self)

    def __call__(self, frame: FrameType, event: str, called: Any) -> bool:
        """Hear of an event. Whether such calls never have an effect: the same function of the same type or module."""
        if event != "c_call" or self._collecting:
            return False
        if what := _effect_of(called, frame, self._generators):
            if not self._imports(frame):
                self._effects.notice(what, _users_line(frame))
            return False
        owner = getattr(called, "__self__", None)
        if getattr(called, "__module__", None) == "_thread":  # who calls it matters
            return False
        return isinstance(owner, ModuleType) or not (called.__module__ or isinstance(owner, GENERATORS))

    def _imports(self, frame: FrameType) -> bool:
        """Whether a module is being imported, which happens once, and so is no effect of the function's."""
        now: FrameType | None = frame
        while now is not None and now is not self._around and now.f_globals.get("__name__") not in _IMPORT:
            now = now.f_back
        return now is not None and now is not self._around

    def collection_begins(self, phase: str, _: object) -> None:
        """The first of the garbage collector's callbacks."""
        self._collecting = self._collecting or phase == "start"

    def collection_ends(self, phase: str, _: object) -> None:
        """The last of them."""
        self._collecting = self._collecting and phase != "stop"


def _definition(function: Callable[..., Any]) -> Location | None:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Location(code.co_filename, code.co_firstlineno, code.co_name) if code else None


def _users_line(frame: FrameType | None) -> Location | None:
    """The innermost line that is neither this package's nor a library's."""
    while frame is not None and is_library(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return frame and Location(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


#: What imports modules.
_IMPORT = frozenset({"importlib._bootstrap", "importlib._bootstrap_external"})


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
    if module == "_warnings" and not str(frame.f_globals.get("__name__")).startswith("retrograd."):
        return f"warns with {name}()"
    if (what := _with_threads(name, owner, module, frame)) is not None:
        return what
    if module in _SYSTEM:
        return f"asks the system with {name}()"
    if (module == "builtins" and name in _TALKS) or type(owner).__module__ in _OUTSIDE or name == "fromfile":
        return f"reads or writes with {name}()"
    return ""


def _with_threads(name: str, owner: Any, module: str | None, frame: FrameType) -> str | None:
    """What is done with other threads: no trace sees what those decide."""
    if module == "_thread" and name.startswith("start_"):
        return "starts a thread"
    kind, caller = type(owner).__module__, frame.f_globals.get("__name__")
    if module == "_thread" and name in _WHICH and (frame.f_code.co_name in _ASK_WHICH or not is_library(caller)):
        return f"asks which threads there are with {name}()"
    if kind == "_queue":
        return "uses a queue, which other threads may use"
    if kind == "_thread" and caller == "threading" and frame.f_code.co_name in _MEETINGS:
        return "works with another thread"
    return None


_MEETINGS = frozenset({"wait", "notify"})  # of a Condition, which events, queues and futures have
#: What tells one thread from others, and the functions of ``threading`` that users ask.
_WHICH = frozenset({"get_ident", "get_native_id", "_count"})
_ASK_WHICH = frozenset({"current_thread", "active_count", "enumerate"})
_CLOCKS = frozenset({"now", "today", "utcnow"})
_TALKS = frozenset({"print", "input", "open"})
#: Whose objects stand for files, data bases and connections.
_OUTSIDE = frozenset({"_io", "sqlite3", "_socket", "_ssl", "mmap"})
_SYSTEM = frozenset({"posix", "nt", "_uuid"})


# --- what a run changes -----------------------------------------------------------------------------------------------


def contents(thing: Any, deep: int = 16) -> object:
    """What the containers among the arguments hold: objects by identity, arrays by their bytes.

    Args:
        thing: An argument, or all of them.
        deep: How far containers are looked into.

    Returns:
        Something that is equal as long as they hold the same.
    """
    return engine.contents(thing, deep, _is_container, _contents_of_other)


def _may_be_held(thing: Any) -> bool:
    """Whether what data hold can be noted, to see what a run changes: to copy more would take longer than the run."""
    size = getattr(thing, "nbytes", None)
    return (weighed(thing, _MOST_HELD)[0] if size is None and isinstance(thing, _WEIGHED) else size or 0) <= _MOST_HELD


_MOST_HELD = 16 << 20  # bytes, as guards/reach/data.py counts them
_WEIGHED = (list, tuple, dict, set, frozenset, deque)


def _is_container(kind: type) -> bool:
    """Whether ``contents`` may look into what is of a class, which is neither list, tuple nor dict."""
    known = issubclass(kind, _CONTAINERS) or registered(kind) is not None
    return known or dataclasses.is_dataclass(kind)


_CONTAINERS = (list, tuple, dict, np.ndarray, set, deque, array, bytearray, SimpleNamespace)


def _contents_of_other(thing: Any, deep: int) -> Any:
    if isinstance(thing, (list, tuple, set, deque)) and deep:
        return contents([*thing], deep)
    if isinstance(thing, dict) and deep:
        return contents({key: item for key, item in thing.items()}, deep)  # noqa: C416  # in its own order
    if isinstance(thing, np.ndarray):
        return thing.shape, thing.tobytes()
    if isinstance(thing, (array, bytearray)):
        return bytes(thing)
    if isinstance(thing, SimpleNamespace) and deep:
        return contents(dict(vars(thing)), deep)
    if deep and (registered(type(thing)) is not None or has_plain_fields(thing)):
        fields = contents_of(thing) if dataclasses.is_dataclass(thing) else {}  # those in slots
        return contents({**fields, **getattr(thing, "__dict__", {})}, deep - 1)
    return id(thing)


def _random_state(generators: Sequence[Any]) -> list[Any]:
    """The states of Python's and NumPy's global generators of random numbers, and of others."""
    numpys = [_numpy_state(np.random.mtrand._rand)] if "numpy.random.mtrand" in sys.modules else []
    return [*_own_state(_PYTHONS), *numpys, *(state for one in generators for state in _own_state(one))]


def _own_state(generator: Any) -> list[Any]:
    if not isinstance(generator, random.Random):
        return [_numpy_state(generator)]
    if not _twister_at or type(generator).getstate is not random.Random.getstate:
        return [generator.getstate()]
    return [getattr(generator, "gauss_next", None), _twister_at(id(generator) + _HEADER, _TWISTER)]


def _numpy_state(generator: Any) -> Any:
    bits = getattr(generator, "_bit_generator", None) or getattr(generator, "bit_generator", generator)
    if _twister_at and type(bits) is np.random.MT19937:
        return _twister_at(bits.ctypes.state_address, _NUMPY_TWISTER)
    return _unchanging(bits.state)


#: How many bytes a twister's 624 words and the place in them take: where NumPy says that they are, and behind the
#: header of CPython's object. Making Python objects of them takes longer than a call of many functions.
_NUMPY_TWISTER = 4 * (624 + 1)
_HEADER = object.__basicsize__
_TWISTER = _random.Random.__basicsize__ - _HEADER


def _reader_of_memory() -> Callable[[int, int], bytes] | None:
    """What copies bytes from an address; None if the generators are not where they are expected."""
    try:
        import ctypes
    except ImportError:
        return None
    # Not string_at, which raises ArgumentError where memory runs out.
    kinds = {size: ctypes.c_char * size for size in (_TWISTER, _NUMPY_TWISTER)}

    def at(address: int, size: int) -> bytes:
        return kinds[size].from_address(address).raw

    ours, numpys = random.Random(1), np.random.MT19937(1)
    known = (
        (id(ours) + _HEADER, _TWISTER, ours.getstate()[1][:-1]),
        (numpys.ctypes.state_address, _NUMPY_TWISTER, numpys.state["state"]["key"].tolist()),
    )
    found = all(array("I", words).tobytes() in at(address, size) for address, size, words in known)
    return at if found else None


_twister_at = _reader_of_memory()


def _unchanging(state: Any) -> Any:
    if isinstance(state, dict):
        # not items(): CPython 3.11 crashes where there is no memory for its iterator
        return [(key, _unchanging(state[key])) for key in state]
    return state.tobytes() if isinstance(state, np.ndarray) else state
