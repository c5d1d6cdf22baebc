"""Whether a result is a Value or a plain number, where that depends on what selections choose.

``max(0.0, x)`` is a Value if ``x`` is larger, else the number 0.0; a sum of such terms is a Value if one of them is. A
program computes what it needs to know of that beside the result: a number that is 0 where the result is a plain one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ... import engine
from ...engine import Value
from .bool_tracer import COMPARISON_ROWS
from .recording import Choice, Selection

__all__ = ["kind_of", "may_be_a_number"]

#: What gives a plain number, whatever it is of; the number of a Value may also be a Value, without a gradient.
_PLAIN = frozenset({"detach", *COMPARISON_ROWS.values()})

#: So many selections near the result are enough, if so many of them choose a Value now: then some do in other calls.
_ENOUGH, _MANY = 48, 12

#: So many nodes are near a result.
_NEAR = 256

#: True for a Value, False for a plain number; or a node, whose number is 1 or 0.
Kind = Value | bool


def kind_of(
    result: Value | float, selections: Sequence[Selection], mixed: Collection[int], numbers: Collection[int]
) -> Kind | None:
    """What a result is.

    Args:
        result: The result.
        selections: Those of the recording.
        mixed: By their ids, the nodes of selections, by index, order or condition, among Values and plain numbers.
        numbers: By their ids, the leaves that are plain numbers.

    Returns:
        Its kind; False also where that cannot be known. None where a selection has an index or many candidates, for
        which no kind is computed, and no other one is known to make it a Value.
    """
    if is_surely_a_value(result, {*mixed, *numbers}):  # most are, and this soon finds why
        return True
    selected = {id(one.node): one for one in selections if id(one.node) in mixed}
    some, is_enough = _is_a_value_if(result, selected, mixed, numbers)
    if some is not None and is_enough:
        return some
    kinds: dict[int, Kind] = dict.fromkeys(numbers, False)
    rest = [result]
    while rest:
        node = rest[-1]
        selection = selected.get(id(node))
        below = _below(node) if selection is None else selection.candidates
        if id(node) in kinds or below is None:
            kinds.setdefault(id(node), below is None)
            rest.pop()
            continue
        if selection and (selection.choice is Choice.BY_INDEX or len(below) > 2):
            return some
        waiting = [operand for operand in below if id(operand) not in kinds]
        if waiting:
            rest += waiting
            continue
        found = [kinds[id(operand)] for operand in below]
        if selection:
            kinds[id(node)] = _chosen(selection, found)
        elif isinstance(node, Value) and id(node) in mixed:
            kinds[id(node)] = _where(node, kinds)
        else:
            kinds[id(node)] = _any(found)
        rest.pop()
    return kinds[id(result)]


def may_be_a_number(result: Value | float, unsure: set[int]) -> bool:
    """Whether a result may be a plain number, as far as a look at the nodes near it tells: at most functions' few."""
    return not is_surely_a_value(result, unsure, _NEAR)


def is_surely_a_value(result: Value | float, unsure: set[int], most: float = math.inf) -> bool:
    """Whether a result is a Value whatever the nodes in ``unsure`` are, by their ids; those that are not go there.

    False also where more than ``most`` nodes would have to be looked at.
    """
    rest, seen = deque[Any]([result]), set[int]()
    while rest and len(seen) < most:
        node = rest.popleft()
        if id(node) in seen or id(node) in unsure:
            continue
        seen.add(id(node))
        below = _below(node)
        if below is None:
            return True
        rest += below
    unsure |= seen
    return False


def _is_a_value_if(
    result: Value | float, selected: Mapping[int, Selection], mixed: Collection[int], numbers: Collection[int]
) -> tuple[Kind | None, bool]:
    """A number that is not 0 in this run; where it is not 0 in another, the result is a Value. None if none is known.

    True if the result is a Value in any case.

    It is of selections between a Value and a number on which the result depends. That is enough if it is of all, or of
    some near it, many of which choose a Value now. There may be one in each step of a loop; to find the kinds of all
    nodes would take longer than to trace them.
    """
    unsure = {*mixed, *numbers}
    seen, found, is_whole = set[int](), list[Any](), True
    rest = deque[tuple[Any, Any]]([(result, None)])  # each with the condition on which it matters
    while rest:
        node, only_if = rest.popleft()
        if id(node) in seen or id(node) in numbers:
            continue
        seen.add(id(node))
        selection = selected.get(id(node))
        if selection is None and id(node) not in mixed:
            rest.extend((one, only_if) for one in _below(node) or ())
            continue
        condition, yes, no = _test_of(node, selection)
        sure = [isinstance(one, Value) and is_surely_a_value(one, unsure) for one in (yes, no)]
        if all(sure) and only_if is None:
            return True, True
        if condition is None:
            is_whole = False  # others may do
            continue
        opposite = engine.apply("equal", condition, 0.0)
        for is_sure, one, test in ((sure[0], yes, condition), (sure[1], no, opposite)):
            test = test if only_if is None else engine.apply("minimum", only_if, test)
            if is_sure:
                found.append(test)
            else:
                rest.append((one, only_if if any(sure) else test))
        is_whole &= any(sure) and only_if is None
        if len(found) >= _ENOUGH and _are_many(found):
            break
    total: Value | None = engine.reduce("sum", found) if found else None
    known = total if total is not None and engine.concrete(total) > 0 else None
    return known, is_whole or _are_many(found)


def _are_many(found: Sequence[Value]) -> bool:
    return sum(engine.concrete(one) > 0 for one in found) >= _MANY


def _test_of(node: Value, selection: Selection | None) -> tuple[Any, Any, Any]:
    """A condition, and what it selects: the first where it is not 0, else the second; None for other choices."""
    if selection is None:
        condition, yes, no = engine.operands(node)
        return condition, yes, no
    if selection.choice is Choice.BY_INDEX or len(selection.candidates) != 2:
        return None, 0.0, 0.0
    a, b = selection.candidates
    larger, smaller = (b, a) if selection.choice is Choice.FIRST_MAX else (a, b)
    return engine.apply("less", smaller, larger), b, a


def _below(node: Any) -> Sequence[Value] | None:
    """The operands on which the kind of a node depends; None for a Value that has none."""
    if not isinstance(node, Value) or engine.is_constant(node):
        return ()
    row = engine.row_name(node)
    if row in _PLAIN:
        return ()
    return [operand for operand in engine.operands(node) if isinstance(operand, Value)] if row else None


def _any(kinds: Iterable[Kind]) -> Kind:
    """What is computed from numbers of these kinds: a Value if one of them is."""
    found: Kind = False
    for kind in {id(kind): kind for kind in kinds}.values():
        if kind is True:
            return True
        if kind is not False:
            found = kind if found is False else engine.apply("maximum", found, kind)
    return found


def _where(node: Value, kinds: Mapping[int, Kind]) -> Kind:
    """What a number is that a condition has chosen."""
    condition, *numbers = engine.operands(node)
    yes, no = (kinds[id(one)] if isinstance(one, Value) else False for one in numbers)
    if yes is no:
        return yes
    return engine.apply("where", condition, *(one if isinstance(one, Value) else float(one) for one in (yes, no)))


def _chosen(selection: Selection, kinds: Sequence[Kind]) -> Kind:
    """What the first of two numbers is that the other is not larger, or smaller, than."""
    a, b = selection.candidates
    if selection.choice is Choice.FIRST_MIN:
        a, b = b, a  # the second one is chosen where it is less; so they change sides in the comparison
    if kinds[0] is kinds[1]:
        return kinds[0]
    if kinds[0] is True and kinds[1] is False:
        return engine.apply("less_equal", b, a)
    second = engine.apply("less", a, b)
    if kinds[0] is False and kinds[1] is True:
        return second
    numbers = [kind if isinstance(kind, Value) else float(kind) for kind in kinds]
    return engine.apply("where", second, numbers[1], numbers[0])
