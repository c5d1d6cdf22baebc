"""Which transforms are running their functions, and what is recorded meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple
from weakref import ref

from .. import engine
from ..engine import Value
from ..engine.running import running

__all__ = [
    "Transform",
    "derivative_of",
    "is_differentiating",
    "is_recorded",
    "remember_transform",
    "running",
    "running_transform",
    "transform_of",
]

_Function = Callable[..., Any]


def is_differentiating() -> bool:
    """Whether a transform is running its function on this thread."""
    return running.count > 0


def is_recorded() -> bool:
    """Whether what a transform computes is recorded: for a transform around it, or for a program."""
    return running.count > 0 or engine.program_recorder() is not None


@contextmanager
def running_transform(variables: Sequence[Value] = (), count: int = 1) -> Iterator[None]:
    """Count one more transform, and record operations even where the caller has switched recording off.

    ``variables``: by which Values it differentiates, but for parameters of modules; copies of these hand gradients on
    to them. With a ``count`` of 0 it is not counted, so that compiled functions run their programs in it.
    """
    recording = engine.set_recording(True)
    running.variables.append(variables)
    running.count += count
    try:
        yield
    finally:
        running.variables.pop()
        running.count -= count
        engine.set_recording(recording)


def derivative_of(function: _Function) -> Callable[[Any, Callable[[_Function], _Function]], _Function] | None:
    """``Compiled.derivative`` of a compiled function, where its programs can answer; else None."""
    if not hasattr(function, "scalar_function") or is_recorded():
        return None
    return getattr(function, "derivative", None)


class Transform(NamedTuple):
    """How ``grad`` or ``value_and_grad`` made a function: ``compile`` compiles ``function``, and makes it of that."""

    function: _Function
    remade: Callable[[_Function], _Function]  #: the same of another function
    #: Its results for many tuples of arguments, on so many threads; None unless a compiled function can give them.
    of_many: Callable[[list[tuple[Any, ...]], int | None], list[Any] | None]


#: The attribute in which a function has how it was made, beside a weak reference to itself: ``functools.wraps`` copies
#: attributes to other functions. A registry would keep a function alive whose object refers to what was made of it.
_ATTRIBUTE = "_made_by_transform"


def remember_transform(result: _Function, transform: Transform) -> None:
    """Note how a function was made."""
    setattr(result, _ATTRIBUTE, (ref(result), transform))


def transform_of(function: _Function) -> Transform | None:
    """How a function was made, if one of these two made it."""
    if type(function) is not FunctionType:
        return None
    noted: tuple[ref[_Function], Transform] | None = function.__dict__.get(_ATTRIBUTE)
    return noted[1] if noted is not None and noted[0]() is function else None
