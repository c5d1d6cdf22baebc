"""``detect_anomaly()``: stop at the operation that makes the first NaN or infinity, forward or backward.

A NaN in a loss does not say where it came from. Inside the ``with`` block every new node is checked when it is
recorded, and every contribution of a backward pass before it is added. The first result that is not finite although its
operands are finite raises :class:`~retrograd.errors.AnomalyError`, which names the operation, its operands and the line
of the user's program.
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
from .local_derivatives import LocalDerivatives, ieee

__all__ = ["checked_gradients", "detect_anomaly", "inspect_contribution", "is_detecting", "unchecked_nodes"]

_MOST_OPERANDS = 4  # a message lists at most so many


class _Detection(threading.local):
    """How many ``detect_anomaly`` blocks this thread is in, and whether new nodes are checked."""

    blocks = 0
    nodes = True


_detection = _Detection()


def is_detecting() -> bool:
    """Whether this thread is inside ``detect_anomaly()``."""
    return _detection.blocks > 0


@contextmanager
def detect_anomaly() -> Iterator[None]:
    """Raise AnomalyError at the operation that makes the first NaN or infinity, forward or backward.

    An operation is at fault when its result is a NaN and no operand is, or an infinity and all operands are
    finite; in a backward pass likewise for ``local derivative * upstream gradient``. Gradients are otherwise
    those of a plain ``backward()``. Operations that raise a domain error of their own (``log(Value(0.0))``) still
    raise that.

    Use it to look for a fault: Python code looks at every node as it is recorded, notes the line that recorded it, and
    runs the backward pass, so that a program takes many times as long as without it.

    Returns:
        A context manager, for ``with detect_anomaly():``. It holds for the current thread, and nests.

    Raises:
        AnomalyError: Inside the ``with`` block. The message names the operation, its operands and the line of the
            user's program that recorded it.

    Example:
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
            if _detection.nodes:
                _inspect_node(node)

        engine.set_observer(observe)
        hook = engine.set_backward_hook(_checked_backward)
        _detection.blocks += 1
        try:
            yield
        finally:
            _detection.blocks -= 1
            engine.set_backward_hook(hook)
            engine.set_observer(record)


@contextmanager
def unchecked_nodes() -> Iterator[None]:
    """Do not check new nodes: an infinity in the graph of a derivative is harmless when a zero multiplies it."""
    before, _detection.nodes = _detection.nodes, False
    try:
        yield
    finally:
        _detection.nodes = before


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
    """Whether ``result`` is the first NaN, or the first infinity: one that its factors do not explain."""
    if result != result:
        return not any(factor != factor for factor in factors)
    return math.isinf(result) and all(math.isfinite(factor) for factor in factors)


# --- backward -------------------------------------------------------------------------------------


@engine.backward_lock()
def _checked_backward(root: Value, gradient: float) -> None:
    """``root.backward(gradient)``, with a check of each contribution before it is added."""
    nodes = engine.interior(root)
    if not nodes:
        root.grad += gradient
        return
    for node in nodes:
        node.grad = 0.0
    root.grad = gradient
    with ieee():
        derivatives = LocalDerivatives(graph=False)
        for node in reversed(nodes):
            if node.grad != 0.0:
                _apply_vjp(node, derivatives)


@engine.backward_lock()
def checked_gradients(root: Value, xs: Sequence[Value]) -> list[float]:
    """``engine.gradients(root, 1.0, xs)``, with a check of each contribution. Every ``.grad`` stays as it was."""
    nodes = engine.interior(root)
    operands = [operand for node in nodes for operand in engine.operands(node) if isinstance(operand, Value)]
    values = list({id(value): value for value in (*operands, *nodes, *xs, root)}.values())
    before = [(value, value.grad) for value in values]
    try:
        engine.zero_gradients(values)
        _checked_backward(root, 1.0)
        return [x.grad for x in xs]
    finally:
        for value, grad in before:
            value.grad = grad


def _apply_vjp(node: Value, derivatives: LocalDerivatives) -> None:
    operands = engine.operands(node)
    if engine.row_name(node) not in BY_NAME:
        _apply_user_backward(node, operands)
        return
    grads = {id(operand): operand.grad for operand in operands if isinstance(operand, Value)}
    for slot, local in enumerate(derivatives.of(node, operands)):
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


def _apply_user_backward(node: Value, operands: Sequence[Value | float]) -> None:
    """Run the user's own ``_backward``, then check what it did to the gradients."""
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
    """An operand in words: its position, its number, and its label if it has one."""
    operand = operands[slot]
    position = "abc"[slot] if len(operands) <= 3 else f"operand {slot + 1}"
    label = f" ({operand.label!r})" if isinstance(operand, Value) and operand.label else ""
    return f"{position} = {_number(operand)!r}{label}"


def _list(operands: Sequence[Value | float]) -> str:
    shown = ", ".join(_one(operands, slot) for slot in range(min(len(operands), _MOST_OPERANDS)))
    more = len(operands) - _MOST_OPERANDS
    return f"{shown} and {more} more" if more > 0 else shown


def _line(node: Value) -> str:
    location = location_of(node)
    if location is None:
        return " (recorded before detect_anomaly() began, so its source line is not known)"
    return f", at {location}" + (f": {location.text}" if location.text else "")
