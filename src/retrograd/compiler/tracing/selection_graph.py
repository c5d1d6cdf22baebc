"""What depends on what by some choice of a trace's selections, though not by the choices of this run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from ... import engine
from ...engine import Value
from .recording import Choice, Selection

__all__ = ["comparisons_of", "label_of", "may_be_given", "may_have_derivatives", "read_by", "under_by_any_choice"]


def may_have_derivatives(
    selections: Sequence[Selection], with_one: Set[int], depends: Callable[[Value], bool]
) -> set[int]:
    """The nodes, by their ids, that have a derivative, or would have one if selections chose otherwise.

    Args:
        selections: Those of the recording, in order: what one chooses among is older than it.
        with_one: The ids of nodes with a derivative.
        depends: Whether a node has one, which need not be among these.
    """
    varying, seen = set(with_one), set[int]()
    for selection in selections:
        for candidate in selection.candidates:
            _spread(candidate, varying, seen)
            if id(candidate) in varying or depends(candidate):
                varying.add(id(selection.node))
    return varying


def _spread(top: Value, varying: set[int], seen: set[int]) -> None:
    """Add the nodes under ``top`` that are computed from such as are in ``varying``."""
    rest = [top]
    while rest:
        node = rest[-1]
        operands = _operands(node)
        waiting = [one for one in operands if id(one) not in seen] if id(node) not in seen else []
        if waiting:
            rest += waiting
            continue
        seen.add(id(node))
        if any(id(one) in varying for one in operands):
            varying.add(id(node))
        rest.pop()


def under_by_any_choice(selections: Sequence[Selection], under: Iterable[int]) -> list[Selection]:
    """The selections that a result depends on, whatever they choose; ``under``: the ids of what it depends on now."""
    found, seen = list[Selection](), set(under)
    for selection in reversed(selections):  # what it chooses among is older
        if id(selection.node) not in seen:
            continue
        found.append(selection)
        rest = [*selection.candidates]
        while rest:
            node = rest.pop()
            if id(node) not in seen:
                seen.add(id(node))
                rest += _operands(node)
    return found[::-1]


def read_by(selections: Sequence[Selection], nodes: Sequence[Value]) -> set[int]:
    """The ids of the Values that some of several nodes are computed from, whatever the selections choose."""
    if len(nodes) < 2:
        return set()
    candidates = {id(selection.node): selection.candidates for selection in selections}
    seen, rest = set[int](), [*nodes]
    while rest:
        node = rest.pop()
        for one in (*engine.operands(node), *candidates.get(id(node), ())):
            if isinstance(one, Value) and id(one) not in seen:
                seen.add(id(one))
                rest.append(one)
    return seen


def label_of(result: Value, selections: Sequence[Selection]) -> str | None:
    """The label that a function has given to a result that it computes; None where selections may choose another."""
    before = engine.set_tracer(None)  # which is told of labels that are read
    try:
        return _label_of(result, {id(selection.node): selection.candidates for selection in selections})
    finally:
        engine.set_tracer(before)


def _label_of(result: Value, candidates: Mapping[int, Sequence[Value]]) -> str | None:
    if not engine.row_name(result) or result.label:
        return result.label if engine.row_name(result) else ""
    seen, rest = set[int](), [result]
    while rest:
        node = rest.pop()
        if id(node) in seen or not engine.row_name(node):
            continue
        seen.add(id(node))
        if node.label:
            return None
        if engine.row_name(node) in _SELECTS:
            rest += (*_operands(node), *candidates.get(id(node), ()))
    return ""


def may_be_given(results: Sequence[Value], selections: Sequence[Selection], numbers: Set[int]) -> bool:
    """Whether a result may be a Value that was there before, as it is, by some choice of the selections.

    ``numbers``: the ids of leaves that are plain numbers.
    """
    candidates = {id(selection.node): selection.candidates for selection in selections}
    seen, rest = set[int](), [*results]
    while rest:
        node = rest.pop()
        if id(node) in seen or id(node) in numbers or engine.is_constant(node):
            continue
        seen.add(id(node))
        if not (row := engine.row_name(node)):
            return True
        if row in _SELECTS:
            rest += (*_operands(node)[-2:], *candidates.get(id(node), ()))
    return False


#: What is one of its operands.
_SELECTS = frozenset({"identity", "where"})


def comparisons_of(selection: Selection) -> Iterator[tuple[str, Value, Value, bool]]:
    """What Python's max or min compares: the kind of comparison, a number, the best one before, and the outcome."""
    kind = ">" if selection.choice is Choice.FIRST_MAX else "<"
    best, *rest = selection.candidates
    for one in rest:
        a, b = engine.concrete(one), engine.concrete(best)
        is_better = a > b if kind == ">" else a < b
        yield kind, one, best, is_better
        best = one if is_better else best


def _operands(node: Value) -> list[Value]:
    return [one for one in engine.operands(node) if isinstance(one, Value)] if engine.row_name(node) else []
