"""What converted code calls: it runs both arms of an ``if`` whose test is traced, and selects among their results.

An arm that is not taken must do nothing but compute, and store what it computes. What an arm does is looked at before
it does it; where that is something else, the arms are left, and the ``if`` decides as it did before: its test is a
guard. Outside of a trial, and where a test is a plain bool, converted code does what the function's own code does.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....engine import Value
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import is_choice
from ...tracing.float_tracer import is_tracer
from ...tracing.followed_numpy import METHODS
from ..conversions import Site
from ..operators import COMPARISONS, OF_TESTS
from ..tracers import conditions
from ..tracers.conditions import is_taken, joined
from ..tracers.maybe_tracer import MaybeTracer
from ..tracers.test_array import TestArray
from ..trial import Frame, Trial, current, in_arms, refuse
from . import allowed, decisions, places, selections
from .allowed import call, operated, tested
from .decisions import Decision, select, test_of, trial_of
from .kinds import ITERATORS, may_be_read_on
from .places import born, is_own

__all__ = [
    "Loop",
    "all_of_list",
    "allowed",
    "asked",
    "both",
    "chain",
    "compared",
    "conditions",
    "decisions",
    "either",
    "filtered",
    "has_items",
    "in_trial",
    "is_instance",
    "negated",
    "of_array",
    "of_tests",
    "part_of",
    "places",
    "raised",
    "reduced",
    "refused",
    "selections",
    "span",
]

# By names that no variable of the user's has.
span: type[slice] = slice
raised: type[Exception] = Exception


# --- tests ------------------------------------------------------------------------------------------------------


def asked(thing: Any) -> Any:
    """Whether something is true: a comparison where that is traced."""
    return test_of(tested(thing))


def both(one: Any, other: Callable[[], Any], site: Site) -> Any:
    """``one and other()``."""
    if trial_of(one):
        return _combined("minimum", one, other, site)
    return select(one, other, lambda: one, site) if _is_of_number(one) else one and other()


def either(one: Any, other: Callable[[], Any], site: Site) -> Any:
    """``one or other()``."""
    if trial_of(one):
        return _combined("maximum", one, other, site)
    return select(one, lambda: one, other, site) if _is_of_number(one) else one or other()


def _is_of_number(thing: Any) -> bool:
    """Whether a thing is a traced number, or may be None: whether it is true need not decide."""
    return type(thing) in (MaybeTracer, Value) or is_tracer(thing) or is_choice(thing)


def negated(one: Any) -> Any:
    """``not one``."""
    one = test_of(one)
    return conditions.negated(one) if trial_of(one) else not one


def is_instance(thing: Any, kind: Any) -> Any:
    """Whether a thing is of the class that a pattern of ``match`` names."""
    return call(builtins.isinstance, thing, kind)


def has_items(thing: Any, count: int) -> Any:
    """Whether a thing is a sequence of so many items, as a pattern asks."""
    is_sequence = isinstance(thing, Sequence) and not isinstance(thing, (str, bytes, bytearray))
    return is_sequence and call(builtins.len, thing) == count


def part_of(thing: Any, kind: Any, key: int | str) -> Any:
    """The attribute of a thing that a pattern of its class names, or which has that place in it."""
    if isinstance(key, str):
        return places.attribute(thing, key)
    positions = getattr(kind, "__match_args__", None)
    return thing if positions is None else places.attribute(thing, positions[key])  # float(x) is the number itself


def compared(relation: str, one: Any, other: Any) -> Any:
    """``one < other``, or another comparison: of arrays, that of each element, which decides nothing."""
    if current() is not None and any(map(_is_of_objects, (one, other))):
        return TestArray(np.frompyfunc(COMPARISONS[relation], 2, 1)(one, other))
    if relation in OF_TESTS and BoolTracer in (type(one), type(other)):
        return of_tests(relation, one, other)
    return COMPARISONS[relation](one, other)


def _is_of_objects(thing: Any) -> bool:
    return type(thing) is np.ndarray and thing.dtype == object


def of_tests(name: str, one: Any, other: Any) -> Any:
    """``one & other``, or another operator between two tests: none of them decides where they are traced."""
    kinds = {type(one), type(other)}
    if current() is None or BoolTracer not in kinds or not kinds <= {bool, BoolTracer}:
        return OF_TESTS[name](one, other)
    if name in ("BitAnd", "BitOr"):
        return joined("minimum" if name == "BitAnd" else "maximum", one, other)
    found = conditions.differ(one, other)
    return conditions.negated(found) if name == "Eq" else found


def chain(site: Site, left: Any, relation: str, right: Callable[[], Any], *others: Any) -> Any:
    """``left < right() < …``."""
    second = right()
    found = COMPARISONS[relation](left, second)
    return both(found, lambda: chain(site, second, *others), site) if others else found


def _combined(row: str, one: BoolTracer, other: Callable[[], Any], site: Site) -> Any:
    decision = Decision(one, site)
    try:
        decision.begins(row == "minimum")
        found = joined(row, one, other())
        decision.leaves()
    except Exception:
        if not decision.fails():
            raise
        return (one and other()) if row == "minimum" else (one or other())
    return found


# --- what is computed of items ----------------------------------------------------------------------------------

#: What need not read all items.
_MAY_END = frozenset({"all", "any", "next"})

#: Of an item: a test of it, and what is computed where that holds.
Each = Callable[[Any], tuple[Callable[[], Any], Callable[[], Any]]]


def reduced(
    function: Any,
    name: str,
    items: Callable[[], Any],
    each: Each,
    site: Site,
    plain: Callable[[], Any],
    is_nested: bool,
    *more: Callable[[], Any],
    **options: Callable[[], Any],
) -> Any:
    """``name(… for … in items() if …, *more)``, with both outcomes of each test, for Python's function of that name.

    ``plain()``, the call as it is written, for a function of the user's with that name, and for items that can be read
    only once: here, more of them may be read than the function reads. ``is_nested``: each item gives several.
    """
    is_pythons = function is getattr(builtins, name)
    is_whole = name not in _REDUCED or (is_nested and name != "sum")  # it wants all that pass in a list
    if not is_pythons or (is_whole and not in_arms()):
        return plain()
    things = _read_on(items, site, name not in _MAY_END)
    if things is None:
        return plain()
    if is_whole:
        given = {key: one() for key, one in options.items()}
        return call(function, _filtered(things, each, site, is_nested), *(one() for one in more), **given)
    reduce = _nested_sum_of if is_nested else _REDUCED[name]
    return reduce(things, each, site, *(one() for one in more))


def filtered(items: Callable[[], Any], each: Each, site: Site, plain: Callable[[], Any], is_nested: bool) -> Any:
    """``[… for … in items() if …]``, where no test is traced: no data decide how many items pass."""
    things = _read_on(items, site, is_whole=True)
    return plain() if things is None else _filtered(things, each, site, is_nested)


def _read_on(items: Callable[[], Any], site: Site, is_whole: bool = False) -> Any:
    """What is iterated over; None if more of it must not be read than the function reads, which may be the whole."""
    if (trial := current()) is None:
        return None
    try:
        things = opened(trial, items, site)
    except Exception:  # it is done as it is
        if trial.frames:
            raise
        return None
    may_be = may_be_read_on(things) or is_own(things) or (is_whole and type(things) in ITERATORS)
    return things if may_be else None


def _filtered(things: Any, each: Each, site: Site, is_nested: bool) -> Any:
    found: list[Any] = []
    for one in things:
        test, computed = each(one)
        holds = test_of(test())
        if type(holds) is BoolTracer:
            raise refuse("makes a list whose length decisions choose")
        if tested(holds):
            given = computed()
            found += given if is_nested else [given]
    return born(found)


def refused(why: str) -> Any:
    """What an arm may not do."""
    raise refuse(why)


def _any_or_all_of(
    join: Callable[..., Any], asked: Callable[..., Any], decides: bool, things: Any, each: Each, site: Site
) -> Any:
    """``any`` or ``all``: what is asked of each item, joined, up to one that decides whatever the data are."""
    found: Any = not decides
    for one in things:
        found = join(found, functools.partial(asked, *each(one), site), site)
        if found is decides:
            break
    return found


def _passes_and_holds(test: Callable[[], Any], tells: Callable[[], Any], site: Site) -> Any:
    return both(test(), functools.partial(_truth, tells), site)


def _fails_or_holds(test: Callable[[], Any], tells: Callable[[], Any], site: Site) -> Any:
    return either(negated(test()), functools.partial(_truth, tells), site)


def _truth(tells: Callable[[], Any]) -> Any:
    found = test_of(tells())
    return found if type(found) in (bool, BoolTracer) else bool(tested(found))


def all_of_list(function: Any, things: Any) -> Any:
    """``all(things)``, or ``any(things)``, of what is there already."""
    is_known = current() is not None and function in (all, any) and type(things) in (list, tuple)
    if not is_known or not {bool, BoolTracer}.issuperset(map(type, things)):
        return function(things)
    row, begin = ("minimum", True) if function is all else ("maximum", False)
    return functools.reduce(functools.partial(joined, row), things, begin)


def of_array(name: str, thing: Any) -> Any:
    """``thing.max()``, or another method that compares all that an array holds."""
    is_followed = current() is not None and _is_of_objects(thing) and thing.size > 0
    return METHODS[name](thing) if is_followed else call(places.attribute(thing, name))


def _sum_of(things: Any, each: Each, site: Site, start: Any = 0) -> Any:
    total = start
    for one in things:
        test, term = each(one)
        total = select(test(), functools.partial(_added, total, term), functools.partial(_same, total), site)
    return total


def _nested_sum_of(things: Any, each: Callable[[Any], Any], site: Site, start: Any = 0) -> Any:
    """The same of several numbers of each item, which are added to what the items before gave."""
    total = start
    for one in things:
        test, add = each(one)
        total = select(test(), functools.partial(add, total), functools.partial(_same, total), site)
    return total


def _added(total: Any, term: Callable[[], Any]) -> Any:
    return operated("Add", total, term())


def _same(thing: Any) -> Any:
    return thing


def _next_of(things: Any, each: Each, site: Site, otherwise: Any) -> Any:
    left = list(things)
    for place, one in enumerate(left):
        test, term = each(one)
        holds = test()
        if trial_of(holds):
            return select(holds, term, functools.partial(_next_of, left[place + 1 :], each, site, otherwise), site)
        if holds:
            return term()
    return otherwise


_REDUCED: dict[str, Callable[..., Any]] = {
    "any": functools.partial(_any_or_all_of, either, _passes_and_holds, True),
    "all": functools.partial(_any_or_all_of, both, _fails_or_holds, False),
    "sum": _sum_of,
    "len": _sum_of,
    "next": _next_of,
}


# --- loops ------------------------------------------------------------------------------------------------------


def in_trial() -> bool:
    """Whether this thread traces converted code."""
    return current() is not None


def opened(trial: Trial, items: Callable[[], Any], site: Site) -> Any:
    """What is iterated over, computed as in an arm: then it is known that no other code reads it."""
    if trial.frames:
        return items()
    trial.frames.append(Frame(site))
    try:
        found = items()
    finally:
        stored = trial.frames.pop().stores.undo()
    for place, thing in stored.values():
        trial.store(place, thing, site)
    return found


class Loop:
    """A loop that data leave. After that, iterations follow that keep what variables are, as many as others took.

    A traced condition says whether the loop goes on. The last iteration ends with a guard that it does not. A loop over
    what can be read only once decides in each iteration, by a guard.
    """

    __slots__ = ("_capacity", "_is_strict", "_ran", "_site", "_trial")

    def __init__(self, site: Site) -> None:
        self._site, self._trial = site, current()
        self._capacity = self._trial.iterations.get(site, 0) if self._trial is not None else 0
        self._ran, self._is_strict = 0, False

    def begins(self) -> Any:
        """Whether the loop is reached: True, or a condition if that is in an arm."""
        return True if self._trial is None else is_taken(self._trial)

    def over(self, items: Callable[[], Any]) -> Any:
        """What a ``for`` iterates over."""
        if self._trial is None or self._trial.frames:
            return items()
        try:
            found = opened(self._trial, items, self._site)
        except Exception:  # it is no arm's affair, and is done as it is
            self._is_strict = True
            return items()
        self._is_strict = not may_be_read_on(found)
        return found

    def decides(self, goes_on: Any) -> Decision:
        """For the body of the loop, given whether the loop goes on."""
        return Decision(goes_on, self._site, is_loop=True)

    def ends(self, goes_on: Any) -> bool:
        """Whether no iteration follows."""
        if self._trial is None or self._is_strict:
            return not goes_on
        if type(goes_on) is not BoolTracer:
            if goes_on and self._trial.only_counts:
                self._count()
            return not goes_on
        if goes_on.outcome:
            self._count()
        elif self._ran >= self._capacity or goes_on.is_decided:
            goes_on.ends_loop()
            return True
        else:
            self._ran += 1
        return False

    def _count(self) -> None:
        """One more iteration that the function runs."""
        self._ran += 1
        needed = self._trial.needed if self._trial is not None else {}
        if self._ran > needed.get(self._site, 0):  # max() would be traced
            needed[self._site] = self._ran
