"""The names that a program gives to its Values: those of the variables that hold them, and of the model they are in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from .. import engine
from ..engine import Value
from .callgraph import Calls, names_in

__all__ = ["with_calls", "with_variables"]

#: What IPython keeps for itself.
_SHELL = {"In", "Out", "exit", "quit", "get_ipython"}


def with_variables(names: Mapping[str, Value], root: Value, frame: FrameType | None) -> dict[str, Value]:
    """``names``, and the variables' names for those Values of this graph that have no name and no label yet.

    ``frame`` is where the program stands. A variable that holds a Value comes before a list or a model that does, and
    a function's own variables before those of its file.
    """
    result = dict(names)
    if frame is None:
        return result
    used = _graph_of(root)
    named = set(names.values())
    spaces = [frame.f_locals] if frame.f_locals is frame.f_globals else [frame.f_locals, frame.f_globals]
    for space in spaces:
        own = {name: thing for name, thing in space.items() if not name.startswith("_") and name not in _SHELL}
        for name, value in (*_held(own), *names_in(own)):
            if value in used and value not in named and not value.label and name not in result:
                named.add(value)
                result[name] = value
    return result


def with_calls(names: Mapping[str, Value], root: Value, calls: Calls | None) -> Mapping[str, Value]:
    """``names``, and the names that the models and the variables of a call give to other leaves of this graph."""
    if calls is None:
        return names
    given = set(names.values())
    used = {value for value in _graph_of(root) if value not in given and not engine.row_name(value)}
    own = {name: value for name, value in calls.names().items() if value in used and name not in names}
    return {**names, **own}


def _held(space: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    return ((name, thing) for name, thing in space.items() if isinstance(thing, Value))


def _graph_of(root: Value) -> set[Value]:
    interior = engine.interior(root)
    operands = (operand for node in interior for operand in engine.operands(node) if isinstance(operand, Value))
    return {root, *interior, *operands}
