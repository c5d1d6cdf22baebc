"""The sweeps of the transforms along a recorded graph: adjoints in reverse mode, tangents in forward mode.

With Values instead of numbers a sweep records what it computes, so that it can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .. import engine
from ..engine import Value
from ..engine.pytree import Leaf
from ..errors import HigherOrderError, MissingDerivativeError, name_of
from . import anomaly
from .local_derivatives import Local, LocalDerivatives, ieee, product

__all__ = ["first_derivatives", "forward_sweep", "is_result", "partial_derivatives", "reverse_sweep", "weighted_sweep"]


def first_derivatives(root: Value, xs: Sequence[Value]) -> list[float]:
    """The derivatives of ``root`` with respect to each of ``xs``: one sweep of the engine."""
    if anomaly.is_detecting():
        return anomaly.checked_gradients(root, xs)
    return engine.gradients(root, 1.0, xs)


def _as_result(adjoint: Leaf) -> Value:
    """``adjoint`` as a new Value. Minus zero becomes zero, as it does in an accumulated ``.grad``."""
    if not isinstance(adjoint, Value):
        return Value(adjoint + 0.0)
    return engine.apply("add", adjoint, 0.0) if adjoint.data == 0.0 else engine.apply("identity", adjoint)


def reverse_sweep(root: Leaf, xs: Sequence[Value]) -> list[Value]:
    """The derivatives of ``root`` with respect to each of ``xs`` as Values: the sweep of ``backward``, recorded.

    On the way a constant adjoint is a number, and any other an expression.
    """
    return weighted_sweep([root], [1.0], xs)


def weighted_sweep(roots: Sequence[Leaf], weights: Sequence[Leaf], xs: Sequence[Value]) -> list[Value]:
    """The same of several roots, each times a weight that does not count as one of their operands."""
    pairs = [(root, weight) for root, weight in zip(roots, weights, strict=True) if isinstance(root, Value)]
    if not pairs:
        return [Value(0.0) for _ in xs]
    found = partial_derivatives([root for root, _ in pairs], [weight for _, weight in pairs], xs)
    if engine.program_recorder() is not None:
        return [_as_value(0.0 if slope is None else slope) for slope in found]
    return [_as_result(0.0 if slope is None else slope) for slope in found]


def partial_derivatives(roots: Sequence[Value], weights: Sequence[Leaf], xs: Sequence[Value]) -> list[Leaf | None]:
    """The same, None where no path of local derivatives leads from a root to one of ``xs``."""
    results = [x for x in xs if is_result(x)]
    plain = {id(x): x._op.plain(x) for x in results}  # type: ignore[attr-defined]
    xs = [plain.get(id(x), x) for x in xs]
    walk = _Walk({id(x) for x in xs}, plain, {id(x._op.call) for x in results})  # type: ignore[attr-defined]
    for root in roots:
        walk.visit(root)
    steps = walk.steps
    for node, row, _, _ in steps:
        if row == "user":
            _refuse_user_node(node)
    recorder = engine.program_recorder()
    if recorder is not None:
        recorder.differentiates([node for node, _, _, _ in steps], set(walk.seen), walk.reaches)
    else:
        for root in roots:
            first_derivatives(root, xs)  # for its errors: a changed .data, another thread's graph
    found: dict[int, Leaf] = {}
    with ieee(), anomaly.unchecked_nodes():
        for root, weight in zip(roots, weights, strict=True):
            found[id(root)] = weight if id(root) not in found else found[id(root)] + weight
        derivatives = LocalDerivatives(True, recorder is not None)
        for node, row, operands, wanted in reversed(steps):
            upstream = found.get(id(node))
            if upstream is None:
                continue
            locals_: Sequence[Local] = _UNCHANGED if row == _EXPANDED else derivatives.of(node, operands, wanted)
            for operand, local in zip(operands, locals_, strict=True):
                contribution = None if local is None else product(upstream, local)
                if contribution is not None:
                    before = found.get(id(operand))
                    found[id(operand)] = contribution if before is None else before + contribution
    return [found.get(id(x)) for x in xs]


def _as_value(adjoint: Leaf) -> Value:
    return adjoint if isinstance(adjoint, Value) else Value(adjoint)


def is_result(x: Value) -> bool:
    """Whether ``x`` is a result of a compiled function, through which others may depend on it unseen."""
    return engine.row_name(x) == "user" and hasattr(x._op, "plain")


_Step = tuple[Value, str, tuple[Leaf, ...], list[bool]]

_EXPANDED = "plain call"  #: in place of a row: a compiled function's result, whose operand is the same, recorded
_UNCHANGED = (1.0,)  #: its local derivative


class _Walk:
    """Finds the nodes under some that depend on sources, given by their ids.

    A closure would be a reference cycle, which keeps the nodes of a trace alive.

    Attributes:
        dependent: the ids of sources and of what depends on them.
        seen: all nodes that were visited.
        steps: those that depend on a source, oldest first. Each comes with its row, its operands, and one bool an
            operand: whether that operand depends on a source. With ``plain``, a compiled function's result comes
            after the nodes of a plain call, whose result is its one operand.
    """

    def __init__(
        self, dependent: set[int], plain: Mapping[int, Any] | None = None, calls: Collection[int] = ()
    ) -> None:
        """``plain``: what plain calls gave for compiled functions' results that are sources, by the ids of these.

        ``calls``: of what calls they are results, by id: other results of the same call may depend on them.
        """
        self.dependent, self.plain, self.calls = dependent, plain, calls
        self.seen: dict[int, Value] = {}
        self.steps: list[_Step] = []

    def reaches(self, value: Value) -> bool:
        """Whether a value depends on a source, which may not be under what was visited."""
        before = self.steps
        self.steps = []
        self.visit(value)
        self.steps = before
        return id(value) in self.dependent

    def visit(self, top: Value) -> None:
        """Add the nodes under ``top`` that depend on a source."""
        dependent, seen = self.dependent, self.seen
        for node in engine.interior(top):
            if id(node) in seen:
                continue
            seen[id(node)] = node
            operands: tuple[Leaf, ...] = engine.operands(node)
            wanted = [id(operand) in dependent for operand in operands]
            if self.plain and id(node) in self.plain:
                self._expand(node, self.plain[id(node)])
                continue
            if True not in wanted and not self._is_sibling(node):
                continue
            row = engine.row_name(node)
            if self.plain is not None and row == "user":
                if getattr(node._op, "is_shared", False):
                    dependent.add(id(node))  # several results of a compiled function follow
                    continue
                if (plain_call := getattr(node._op, "plain", None)) is not None:
                    self._expand(node, plain_call(node))
                    continue
            dependent.add(id(node))
            self.steps.append((node, row, operands, wanted))

    def _is_sibling(self, node: Value) -> bool:
        """Whether a node is a result of the same call of a compiled function as one of the sources."""
        return bool(self.calls) and id(getattr(node._op, "call", None)) in self.calls

    def _expand(self, node: Value, result: Any) -> None:
        """Add a compiled function's result after the nodes of a plain call, which gave ``result``."""
        if isinstance(result, Value):
            self.visit(result)
        self.dependent.add(id(node))
        self.steps.append((node, _EXPANDED, (result,), [id(result) in self.dependent]))


def _refuse_user_node(node: Value) -> None:
    if not hasattr(node._op, "slopes"):  # a primitive knows its partials
        raise HigherOrderError(
            f"{name_of(node)} is a user-made node: its local derivatives are plain numbers or a function, so they "
            "cannot be differentiated again. Compute it with retrograd's operations, make it a primitive "
            "(rg.primitive), or take first derivatives only."
        )


# --- forward: tangents along a recorded graph -----------------------------------------------------


def forward_sweep(roots: Sequence[Value], variables: Sequence[Value], seeds: Sequence[Leaf], graph: bool) -> list[Leaf]:
    """The tangent of each root, where ``seeds`` are the tangents of the variables."""
    if not roots:
        return []
    recorder, numbers = engine.program_recorder(), not graph
    graph = graph or recorder is not None
    if recorder is not None:
        seeds = [seed if isinstance(seed, Value) or type(seed) is float else Value(seed) for seed in seeds]
    if not graph:
        seeds = [seed.data if isinstance(seed, Value) else seed for seed in seeds]
    tangents: dict[int, Leaf] = {id(x): seed for x, seed in zip(variables, seeds, strict=True)}
    with ieee(), anomaly.unchecked_nodes():
        joint = engine.reduce("sum", roots)  # depends on all roots, so that one walk lists all nodes
        walk = _Walk(set(tangents))
        walk.visit(joint)
        steps = walk.steps
        if recorder is not None:
            recorder.differentiates([node for node, _, _, _ in steps], set(walk.seen), walk.reaches)
        derivatives = LocalDerivatives(graph, recorder is not None)
        for node, row, operands, wanted in steps:
            if node is joint:
                continue
            tangent: Leaf | None = None
            if row == "user" and graph:
                _refuse_user_node(node)
            given = row == "user" and not graph
            locals_ = _given_local_derivatives(node, len(operands)) if given else derivatives.of(node, operands, wanted)
            for slot, local in enumerate(locals_):
                upstream = tangents.get(id(operands[slot]))
                if local is None or upstream is None:
                    continue
                if anomaly.is_detecting():
                    anomaly.inspect_contribution(node, operands, slot, local, upstream)
                term = product(upstream, local)
                if term is not None:
                    tangent = term if tangent is None else tangent + term
            if tangent is not None:
                tangents[id(node)] = tangent
    found = [tangents.get(id(root), 0.0) for root in roots]
    if recorder is not None and numbers:  # recorded, and then their numbers, which are tracers
        return [tangent.data if isinstance(tangent, Value) else tangent for tangent in found]
    return found


def _given_local_derivatives(node: Value, count: int) -> Sequence[float]:
    try:
        slopes = node._local_grads
    except MissingDerivativeError:
        slopes = ()
    if len(slopes) != count:
        raise HigherOrderError(
            f"{name_of(node)} is a user-made node whose _backward is a function: forward mode cannot pass through it. "
            "Make it as Value(data, children, local_grads), or use grad, which works in reverse mode."
        )
    return slopes
