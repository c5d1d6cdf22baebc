"""Copies and pickles Values and whole graphs, for both engines, without recursion.

A shared operand stays shared, gradients and labels are copied too, and a pickle written under one engine loads under
the other. Two kinds of nodes cannot be copied: those whose derivative is a function, because it refers to the original
Values, and those whose operands have changed since the operation was recorded.

The parameter ``engine`` of the functions here is the engine that made the Value.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any, cast

from .. import errors
from .running import running

__all__ = ["deep", "rebuild", "reduce", "shallow"]

#: All that a copy of a node needs: its class (None for Value itself), row, operands, data, grad, output index,
#: local derivatives, label and op.
Description = tuple[type | None, str, tuple[Any, ...], float, float, int, tuple[float, ...] | None, str, str]


def _describe(engine: Any, value: Any) -> Description:
    """``value`` without the attributes that a subclass added. Raises TypeError or ChangedValueError."""
    if _has_function(engine, value):
        raise errors.not_copyable(value)
    name = engine.row_name(value) or ("constant" if engine.is_constant(value) else "")
    cls = None if type(value) is engine.Value else type(value)
    try:
        known = value._local_grads  # raises ChangedValueError where the backward pass would
    except errors.MissingDerivativeError:  # the derivative is a method of a subclass
        known = None
    local_grads = known if name == "user" else None
    op = value._op if name in ("", "user") else ""
    index = engine.output_index(value)
    return cls, name, engine.operands(value), value.data, value.grad, index, local_grads, value.label, op


def _has_function(engine: Any, value: Any) -> bool:
    """Whether the user assigned a function to the ``_backward`` of this Value."""
    if type(value)._backward is not engine.Value._backward:  # a subclass's method, which every instance has
        return "_backward" in getattr(value, "__dict__", ())
    return bool(value._backward != value._apply_vjp)


def _build(engine: Any, description: Description) -> Any:
    """The Value that ``description`` describes."""
    cls, name, operands, data, grad, index, local_grads, label, op = description
    if cls is None and name != "user" and not op:
        value = engine.restore(name, operands, data, grad, index)
        value.label = label
        return value
    make: Any = engine.Value if cls is None else cls
    value = make.__new__(make)
    recording, observer = engine.set_recording(True), engine.set_observer(None)
    try:
        given = {} if local_grads is None else {"local_grads": local_grads}
        engine.Value.__init__(value, data, operands, op, label, **given)
    finally:
        engine.set_recording(recording)
        engine.set_observer(observer)
    value.grad = grad
    return value


# --- attributes of a user's subclass ----------------------------------------------------------------


def _state(engine: Any, value: Any) -> dict[str, Any]:
    """The attributes that a subclass added, from its ``__dict__`` and its slots."""
    state = dict(getattr(value, "__dict__", ()))
    for cls in type(value).__mro__:
        if cls is engine.Value:
            break
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and hasattr(value, slot):
                state[slot] = getattr(value, slot)
    return state


def _set_state(value: Any, state: dict[str, Any]) -> None:
    for name, attribute in state.items():
        setattr(value, name, attribute)


# --- copy and deepcopy ------------------------------------------------------------------------------


def _linked(engine: Any, value: Any) -> Any:
    """The copy of what a transform differentiates by, and of what depends on that: a node that hands gradients on.

    ``dataclasses.asdict`` copies, too. A copy of a graph leads to copies of its leaves, which would get the gradient.
    None for other Values, and for the parameters of a module, whose copy is a module of its own.
    """
    if not running.variables or type(value) is not engine.Value:
        return None
    variables = {id(variable) for some in running.variables for variable in some}
    nodes = [value, *engine.interior(value)]
    used = (id(one) for node in nodes for one in (node, *engine.operands(node)))
    return engine.apply("identity", value) if any(number in variables for number in used) else None


def shallow(engine: Any, value: Any) -> Any:
    """A Value like ``value``, with the same operands (``copy.copy``)."""
    if (linked := _linked(engine, value)) is not None:
        return linked
    new = _build(engine, _describe(engine, value))
    _set_state(new, _state(engine, value))
    return new


def deep(engine: Any, value: Any, memo: dict[int, Any]) -> Any:
    """A copy of ``value`` and of all that it was computed from (``copy.deepcopy``), oldest first, without recursion."""
    if (linked := _linked(engine, value)) is not None:
        memo[id(value)] = linked
        return linked
    for node in engine.interior(value) or [value]:
        if id(node) not in memo:
            _copy_node(engine, node, memo)
    return memo[id(value)]


def _copy_node(engine: Any, node: Any, memo: dict[int, Any]) -> None:
    cls, name, operands, *rest = _describe(engine, node)
    copied = tuple(copy.deepcopy(operand, memo) for operand in operands)  # interior operands are in the memo
    new = memo[id(node)] = _build(engine, cast(Description, (cls, name, copied, *rest)))
    _set_state(new, copy.deepcopy(_state(engine, node), memo))


# --- pickle -----------------------------------------------------------------------------------------


class _Listing(threading.local):
    """The nodes whose ancestors the pickle in progress on this thread writes already."""

    def __init__(self) -> None:
        self.nodes: set[int] = set()


_listing = _Listing()


class _Ancestors:
    """The nodes from which a node was computed. A pickle writes them before the node, oldest first.

    So the operands of each node are in the pickle before the node itself, and pickle does not recurse. While the list
    is being written, its nodes do not list their own ancestors again.
    """

    def __init__(self, nodes: list[Any]) -> None:
        self.nodes = nodes

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (), None, self._one_by_one()

    def _one_by_one(self) -> Iterator[Any]:
        mine = {id(node) for node in self.nodes} - _listing.nodes
        _listing.nodes |= mine
        try:
            yield from self.nodes
        finally:
            _listing.nodes -= mine


def reduce(engine: Any, value: Any) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[None, dict[str, Any]] | None]:
    """What ``Value.__reduce__`` returns; the last part is set attribute by attribute."""
    description = _describe(engine, value)
    ancestors = [] if id(value) in _listing.nodes else engine.interior(value)[:-1]
    state = _state(engine, value)
    return rebuild, (_Ancestors(ancestors) if ancestors else None, *description), (None, state) if state else None


def rebuild(ancestors: object, *description: Any) -> Any:
    """The Value that a pickle describes, made by the engine in use; ``ancestors`` have been made before it."""
    from .. import engine  # at the time of loading: the engines import this module

    return _build(engine, cast(Description, description))
