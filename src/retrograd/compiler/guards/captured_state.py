"""Captured state: what a compiled function reads besides its arguments, as it was when the function was traced.

A program stands for its function as long as every place that the function can reach (reach/) holds what it held in
the trace. Each call compares the places natively (native/compiler/guards/state_guards.hpp). Where one has
changed, the program does not answer; it does again when the place holds what it held.

What is in no place, such as files and what libraries keep for themselves, is not compared: docs/compile.md lists it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from types import FunctionType
from typing import Any, NamedTuple

from ... import engine
from ...engine.containers import equals_itself_alone
from ..reports.notices import Notices, frozen_data
from .changed_containers import Changes
from .libraries import look_into_package_of
from .reach.contents import forget_results, is_bounded, results_of
from .reach.places import DATA_LIMIT
from .reach.reach import Reach
from .snapshot import Snapshot

__all__ = ["NOTHING", "Asks", "CapturedState", "asks_of", "functions_of"]

#: The places that are contents of containers, and those of objects.
_CONTAINERS = frozenset({"items", "entries", "elements", "bytes"})
_OBJECTS = frozenset({*_CONTAINERS, "namespace"})

_lock = threading.RLock()  # of all of them: looking may run users' code, such as a property __dict__


class Asks(NamedTuple):
    """What a function may ask of numbers, besides computing with them."""

    #: Which object a Value or a container is, which no tracer in its place can answer: the ids of captured containers.
    identity: frozenset[int] | None = None
    same_numbers: bool = False  #: whether two plain numbers are one object
    truth: bool = False  #: whether a comparison is True itself, or False
    kinds: bool = True  #: whether something is a Value or a plain number
    missing: bool = False  #: whether something has an attribute, which a record may have beside its fields
    types: bool = False  #: what only a number itself tells: its type, that one's methods; or a cache keeps it
    copies: bool = False  #: whether two containers are one, which are one in a copy, too
    layout: bool = False  #: how arrays lie in memory
    dtypes: bool = False  #: what their items are, which are objects where numbers are traced
    #: What a bounded cache has: objects, of which it would drop others for what a trace puts there.
    bounded: bool = False
    changed: frozenset[str] = frozenset()  #: nothing, but it may change attributes of these names, and put them back
    changes: Changes = Changes.NONE  #: nothing, but it may change what such containers hold, and put it back
    #: The ids of the containers and objects that it reads otherwise, too; and the classes of these.
    captured: frozenset[int] = frozenset()
    captured_kinds: frozenset[type] = frozenset()

    @staticmethod
    def by(reach: Reach) -> Asks:
        """What the code asks that was reached."""
        containers = frozenset(id(thing) for kind, thing, _ in reach.places.found if kind in _CONTAINERS)
        identity = containers if reach.tests_identity else None
        bounded = any(results and is_bounded(cached) for cached, results in reach.caches)
        captured, captured_kinds = _captured(reach)
        return Asks(
            identity,
            same_numbers=reach.tests_identity and reach.compares_numbers,
            truth=reach.tests_truth,
            kinds=reach.asks_kinds,
            missing=reach.asks_missing,
            types=reach.asks_types,
            copies=reach.copies,
            layout=reach.asks_layout,
            dtypes=reach.asks_dtypes,
            bounded=bounded,
            changed=frozenset(reach.changed),
            changes=reach.changes,
            captured=captured,
            captured_kinds=captured_kinds,
        )


def _captured(reach: Reach) -> tuple[frozenset[int], frozenset[type]]:
    """The ids and classes of what a function can reach, if it may tell that from an argument; also of large data."""
    found = {id(thing): thing for kind, thing, _ in reach.places.found if kind in _OBJECTS}
    rest = [*reach.places.frozen.values()]
    while rest:
        thing = rest.pop()
        if id(thing) not in found:
            found[id(thing)] = thing
            items = thing.values() if type(thing) is dict else thing if type(thing) in (list, tuple) else ()
            rest.extend(items if any(type(one) in (list, tuple, dict) for one in islice(items, 8)) else ())
    kinds = frozenset(map(type, found.values()))
    if reach.changes or reach.changed or reach.tests_identity or any(map(equals_itself_alone, kinds)):
        return frozenset(found), kinds
    return frozenset(), frozenset()


#: What functions ask that only compute.
NOTHING = Asks(kinds=False)


def asks_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Asks:
    """What a function may ask of numbers, or the methods of these arguments, which are not captured."""
    asks = Asks.by(_reach_of(function, arguments))
    return asks._replace(captured=frozenset(), captured_kinds=frozenset())


def functions_of(function: Callable[..., Any], arguments: Sequence[Any]) -> list[FunctionType]:
    """The functions that a function can reach, itself and the methods of these arguments included."""
    return _functions(_reach_of(function, arguments))


def _reach_of(function: Callable[..., Any], arguments: Sequence[Any]) -> Reach:
    return Reach([(function, "the function"), *((argument, "an argument") for argument in arguments)])


def _functions(reach: Reach) -> list[FunctionType]:
    return [thing for kind, thing, _ in reach.places.found if kind == "function"]


class CapturedState:
    """The places that one compiled function can reach, and what they held at the last trace."""

    def __init__(self, cache: engine.SpecializationCache, function: Callable[..., Any], notices: Notices) -> None:
        look_into_package_of(function)
        self._cache, self._function, self._notices = cache, function, notices
        self._reach = Reach([])
        self._asks = self._reach, Asks.by(self._reach)
        self._number: int | None = None
        self._objects: list[Any] = []  # the arguments that were looked into; kept, so that their ids stay theirs

    def capture(self, objects: Sequence[Any]) -> int:
        """The number of the present state: of what can be reached from the function and from ``objects``."""
        with _lock:
            same = list(map(id, objects)) == list(map(id, self._objects))
            if self._number is None or not same or self.change() or self._reach.has_other_names():
                if self._number is not None:
                    self._cache.outdated(self._number)
                self._objects = list(objects)
                self._reach = Reach(self._roots())
                self._number = self._cache.capture(self._reach.places.found)
                if self._reach.places.frozen:
                    self._notices.once("frozen", frozen_data(self._function, [*self.frozen], DATA_LIMIT))
            return self._number

    def _roots(self) -> list[tuple[Any, str]]:
        function = (self._function, getattr(self._function, "__name__", "the function"))
        return [function, *((thing, f"the {type(thing).__name__} among the arguments") for thing in self._objects)]

    @property
    def has_new_results(self) -> bool:
        """Whether a cache of what the function can reach has got results that may change, since the last capture."""
        return self._reach.has_new_results()

    def change(self) -> str:
        """What has changed since the last capture, as users write it; "" if nothing has."""
        place = self._place()
        return "" if place is None else self._reach.places.paths[place]

    def change_by_function(self) -> str:
        """What has changed, after a run of the function, with the line that changes it: a sentence without a dot."""
        path = self.change() or self._reach.added()
        return path and f"{self._reach.line_of(path) or 'the function'} changes {path}".replace(",,", ",")

    @contextmanager
    def keeping_nothing(self, is_traced: Callable[[Any], bool]) -> Iterator[None]:
        """For a trace: take out of caches what it put there for arguments that only a trace has."""
        before = [(cached, cached.cache_info().misses) for cached, _ in self._reach.caches]
        try:
            yield
        finally:
            for cached, misses in before:
                if cached.cache_info().misses != misses:
                    forget_results(cached, is_traced)

    @property
    def keeps_a_result(self) -> bool:
        """Whether what has changed is a ``cached_property``, which is computed once."""
        name = self.change().rpartition(".")[2]
        bases = {base for kind in self._reach.kinds for base in kind.__mro__}
        return any(isinstance(vars(base).get(name), cached_property) for base in bases)

    def snapshot(self) -> Snapshot:
        """What the places hold now, but for the results of caches, which only a cache itself may write."""
        results = {id(results_of(cached)) for cached, _ in self._reach.caches}
        return Snapshot([place for place in self._reach.places.found if id(place[1]) not in results])

    def _place(self) -> int | None:
        with _lock:
            return None if self._number is None else self._cache.changed(self._number)

    @property
    def graph_break(self) -> str:
        """What the function may do that no program can, and that no trace notices; "" if nothing."""
        return self._reach.graph_break

    @property
    def asks(self) -> Asks:
        """What the function may ask of numbers, as far as the last capture shows."""
        if self._asks[0] is not self._reach:
            self._asks = self._reach, Asks.by(self._reach)
        return self._asks[1]

    @property
    def generators(self) -> Sequence[Any]:
        """The generators of random numbers that the function can reach."""
        return self._reach.generators

    @property
    def functions(self) -> Sequence[FunctionType]:
        """The functions that the function can reach, and itself."""
        return _functions(self._reach)

    @property
    def paths(self) -> Sequence[str]:
        """The places that each call compares, as users write them."""
        return tuple(dict.fromkeys(self._reach.places.paths))

    @property
    def frozen(self) -> Mapping[str, Any]:
        """The data that no call compares, because there is too much of it, as users write it."""
        return self._reach.places.frozen
