"""``detect_anomaly()``: stop at the operation that makes the first NaN or infinity, forward or backward.

A NaN in a loss says nothing about where it came from. Inside the ``with`` block every new node is looked at
as it is recorded, and every contribution of a backward pass before it is added. The first one that is not
finite although everything it was made from is raises :class:`~retrograd.errors.AnomalyError`, which names
the operation, its operands and the line of the user's program.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .. import engine
from ..engine import Value
from ..engine.source_lines import location_of, record_sources
from ..errors import AnomalyError, name_of
from ..ops import BY_NAME
from .local_derivatives import Partials, ieee

__all__ = ["detect_anomaly", "inspect_contribution", "is_watching", "unwatched_nodes", "watched_gradients"]

_MOST_OPERANDS = 4  # so many are spelled out in a message


class _Watch(threading.local):
    """How many ``detect_anomaly`` blocks this thread is in, and whether new nodes are looked at."""

    blocks = 0
    nodes = True


_watch = _Watch()


def is_watching() -> bool:
    """Whether this thread is inside ``detect_anomaly()``."""
    return _watch.blocks > 0


@contextmanager
def detect_anomaly() -> Iterator[None]:
    """Raise AnomalyError at the operation that makes the first NaN or infinity, forward or backward.

    An operation is at fault when its result is a NaN and no operand is, or an infinity and all operands are
    finite; in a backward pass likewise for ``local derivative * upstream gradient``. Gradients are otherwise
    those of a plain ``backward()``; everything is slower, so use it to look for a fault. Operations that
    raise a domain error of their own (``log(Value(0.0))``) still raise that.

    >>> from retrograd import Value, detect_anomaly, errors
    >>> try:
    ...     with detect_anomaly():
    ...         Value(0.0, label="x").sqrt().backward()
    ... except errors.AnomalyError as error:
    ...     print(str(error).split(":")[0])
    the derivative of sqrt made the first infinity
    """
    with record_sources():
        record = engine.set_observer(None)

        def observe(node: Value) -> None:
            if record is not None:
                record(node)
            if _watch.nodes:
                _inspect_node(node)

        engine.set_observer(observe)
        hook = engine.set_backward_hook(_watched_backward)
        _watch.blocks += 1
        try:
            yield
        finally:
            _watch.blocks -= 1
            engine.set_backward_hook(hook)
            engine.set_observer(record)


@contextmanager
def unwatched_nodes() -> Iterator[None]:
    """Record nodes without looking at them: an infinity in a derivative graph may meet a zero and be harmless."""
    before, _watch.nodes = _watch.nodes, False
    try:
        yield
    finally:
        _watch.nodes = before


# --- forward --------------------------------------------------------------------------------------


def _inspect_node(node: Value) -> None:
    if math.isfinite(node.data):
        return
    operands = engine.operands(node)
    if _is_culprit(node.data, [_number(operand) for operand in operands]):
        raise AnomalyError(
            f"{_operation(node)} made the first {_kind(node.data)}: with {_list(operands)} it is "
            f"{node.data!r}{_line(node)}"
        )


def _is_culprit(result: float, factors: Sequence[float]) -> bool:
    """Whether ``result`` is a NaN or infinity that its factors do not explain."""
    if result != result:
        return not any(factor != factor for factor in factors)
    return math.isinf(result) and all(math.isfinite(factor) for factor in factors)


# --- backward -------------------------------------------------------------------------------------


@engine.backward_lock()
def _watched_backward(root: Value, gradient: float) -> None:
    """What ``root.backward(gradient)`` does, one contribution after the other."""
    nodes = engine.interior(root)
    if not nodes:
        root.grad += gradient
        return
    for node in nodes:
        node.grad = 0.0
    root.grad = gradient
    with ieee():
        partials = Partials(graph=False)
        for node in reversed(nodes):
            if node.grad != 0.0:
                _push(node, partials)


@engine.backward_lock()
def watched_gradients(root: Value, xs: Sequence[Value]) -> list[float]:
    """What ``engine.gradients(root, 1.0, xs)`` returns, with the care of ``detect_anomaly``; touches no ``.grad``."""
    nodes = engine.interior(root)
    values = {id(value): value for node in nodes for value in engine.operands(node) if isinstance(value, Value)}
    values.update((id(value), value) for value in (*nodes, *xs, root))
    before = [(value, value.grad) for value in values.values()]
    try:
        engine.zero_gradients(list(values.values()))
        _watched_backward(root, 1.0)
        return [x.grad for x in xs]
    finally:
        for value, grad in before:
            value.grad = grad


def _push(node: Value, partials: Partials) -> None:
    operands = engine.operands(node)
    if engine.row_name(node) not in BY_NAME:
        _push_users_node(node, operands)
        return
    grads = {id(operand): operand.grad for operand in operands if isinstance(operand, Value)}
    for slot, local in enumerate(partials.of(node, operands)):
        operand = operands[slot]
        if local is None or not isinstance(operand, Value) or engine.is_constant(operand):
            continue
        inspect_contribution(node, operands, slot, local, node.grad)
        grads[id(operand)] = _sum(node, operands, slot, grads[id(operand)], _number(local) * node.grad)
    node._backward()


def inspect_contribution(
    node: Value, operands: Sequence[Value | float], slot: int, local: Value | float, upstream: Value | float
) -> None:
    """Raise AnomalyError when ``local * upstream`` is the first NaN or infinity of a pass."""
    local, upstream = _number(local), _number(upstream)
    contribution = local * upstream if upstream != 0.0 else 0.0
    if _is_culprit(contribution, [upstream, node.data, *map(_number, operands)]):
        raise AnomalyError(
            f"the derivative of {_operation(node)} made the first {_kind(contribution)}: for {_one(operands, slot)} "
            f"the local derivative {local!r} times the upstream gradient {upstream!r} is {contribution!r}{_line(node)}"
        )


def _sum(node: Value, operands: Sequence[Value | float], slot: int, total: float, contribution: float) -> float:
    result = total + contribution
    if _is_culprit(result, [total, contribution]):
        raise AnomalyError(
            f"adding up the gradient of {_one(operands, slot)} made the first {_kind(result)}: {total!r} plus the "
            f"contribution {contribution!r} of {_operation(node)} is {result!r}{_line(node)}"
        )
    return result


def _push_users_node(node: Value, operands: Sequence[Value | float]) -> None:
    """A derivative of the user's own: what it does to the gradients is looked at afterwards."""
    targets = [operand for operand in operands if isinstance(operand, Value)]
    before = [target.grad for target in targets]
    node._backward()
    for slot, (target, grad) in enumerate(zip(targets, before, strict=True)):
        if _is_culprit(target.grad, [grad, node.grad, node.data, *(other.data for other in targets)]):
            raise AnomalyError(
                f"the derivative of {_operation(node)} made the first {_kind(target.grad)}: with the upstream gradient "
                f"{node.grad!r} it turned the gradient of {_one(targets, slot)} from {grad!r} into "
                f"{target.grad!r}{_line(node)}"
            )


# --- words ----------------------------------------------------------------------------------------


def _number(operand: Value | float) -> float:
    return operand.data if isinstance(operand, Value) else operand


def _kind(number: float) -> str:
    return "NaN" if number != number else "infinity"


def _operation(node: Value) -> str:
    name = engine.row_name(node)
    shown = (node._op or "a user-made operation") if name == "user" else name
    return f"{shown} ({name_of(node)})" if node.label else shown


def _one(operands: Sequence[Value | float], slot: int) -> str:
    """An operand in words: its place, its number, and its label if it has one."""
    operand = operands[slot]
    place = "abc"[slot] if len(operands) <= 3 else f"operand {slot + 1}"
    label = f" ({operand.label!r})" if isinstance(operand, Value) and operand.label else ""
    return f"{place} = {_number(operand)!r}{label}"


def _list(operands: Sequence[Value | float]) -> str:
    shown = ", ".join(_one(operands, slot) for slot in range(min(len(operands), _MOST_OPERANDS)))
    more = len(operands) - _MOST_OPERANDS
    return f"{shown} and {more} more" if more > 0 else shown


def _line(node: Value) -> str:
    location = location_of(node)
    if location is None:
        return " (recorded before detect_anomaly() began, so its source line is not known)"
    return f", at {location}" + (f": {location.text}" if location.text else "")
