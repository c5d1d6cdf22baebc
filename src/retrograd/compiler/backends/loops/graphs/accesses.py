"""Finds the selections that stand for accesses to a list, at places that data decide.

What records ``r[i] = x`` selects for each item, ``r[k] = where(i == k, x, r[k])``, and what records ``r[i]`` selects
among all of them. At the end of an ``if``, what its arms have written is *merged*: ``r[k] = where(c, one[k],
other[k])``. Both arms run, one after the other: what the first has written is undone before the second one, and at the
end, what is not wanted is undone, and what is wanted is done again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...llvm.kernel_calls import ROWS
from .graph import NODE, NONE, ScalarGraph
from .takes import tests_of

__all__ = ["Access", "Array", "Keep", "Operand", "Restore", "Step", "Store", "accesses_in"]

#: Of fewer items, selections take less time; and accesses stand for so many times as many nodes at least.
_LEAST, _GAIN = 5, 2
#: Of the arrays that have had an item, so many are looked at. At most one of so many items is another one than an array
#: has, or the list has a new array.
_MOST_ARRAYS, _NEARLY = 4, 4
#: An arm has so many changes at most.
_MOST_CHANGES = 32

_WHERE = ROWS.index("where")

Operand = tuple[int, int]

#: In place of an item that may be one or the other.
_UNKNOWN: Operand = (NONE, 0)


@dataclass(eq=False, slots=True)
class Access:
    """Selections that stand for an access: they write an item, or read one, or merge what arms have written.

    Attributes:
        at: the node before which the access is.
        index: of the item; None where arms are merged, which needs no access.
        items: what the list has before, by index.
        nodes: the selections; but for those that read, by what the index is then.
        new: what is written; None where nothing is.
        otherwise: which item is read where the index is that of none.
        array: the list.
        saves: whether what is there before a write is needed later.
    """

    at: int
    index: Operand | None
    items: dict[int, Operand]
    nodes: dict[int, int]
    new: Operand | None = None
    otherwise: int = 0
    array: Array = field(default_factory=lambda: Array())
    saves: bool = False


@dataclass(eq=False, slots=True)
class Store:
    """A write of an item to a place that is always the same; the other attributes are those of ``Access``."""

    at: int
    array: Array
    number: int
    item: Operand
    saves: bool = False


@dataclass(eq=False, slots=True)
class Keep:
    """Gets what is at the place of a write, for later."""

    at: int
    array: Array
    of: Write


@dataclass(eq=False, slots=True)
class Restore:
    """Puts something back to the place of a write.

    Attributes:
        at: the node before which it is.
        array: the list.
        of: the write.
        kept: what is put there; None for what was there before the write.
        test: the node that decides whether it is, where it is ``outcome``; None if it is in any case.
    """

    at: int
    array: Array
    of: Write
    kept: Keep | None
    test: int | None
    outcome: bool


Write = Access | Store
Step = Access | Store | Keep | Restore


@dataclass(eq=False, slots=True)
class _Change:
    """The first write to each place, and what the items were before that they have changed."""

    writes: list[Write]
    before: dict[int, Operand]

    def then(self, other: _Change) -> _Change:
        """Both, one after the other."""
        places = {_place(write) for write in self.writes}
        more = [write for write in other.writes if _place(write) not in places]
        return _Change([*self.writes, *more], other.before | self.before)


def _place(write: Write) -> object:
    return (write.index, min(write.items), max(write.items)) if isinstance(write, Access) else write.number


@dataclass(eq=False, slots=True)
class _Arm:
    """What the arm of an ``if`` has changed, before the other one.

    Attributes:
        change: that.
        kept: what it has left at those places.
        items: the items that it has left.
        merge: where both end.
        is_first: whether it is taken where the test holds.
        begin: how many changes there had been.
    """

    change: _Change
    kept: list[Keep]
    items: dict[int, Operand]
    merge: _Merge
    is_first: bool
    begin: int


@dataclass(eq=False, slots=True)
class Array:
    """The items of a list, by index, as they are in memory after the accesses that have been looked at.

    Attributes:
        items: those.
        is_written: whether any changes.
        changes: what has changed items, but what arms have whose other ones are being looked at.
        arms: those.
        nodes: for how many nodes its accesses stand, and how many they are themselves.
    """

    items: dict[int, Operand] = field(default_factory=dict)
    is_written: bool = False
    changes: list[_Change] = field(default_factory=list)
    arms: list[_Arm] = field(default_factory=list)
    nodes: int = 0
    accesses: int = 0

    @property
    def is_worthwhile(self) -> bool:
        """Whether accesses to memory take less time."""
        return self.nodes >= _GAIN * self.accesses

    def earlier(self) -> Iterator[tuple[int, dict[int, Operand]]]:
        """How many changes there had been at times before, and what the items were that have changed since."""
        before: dict[int, Operand] = {}
        begin = max(self.arms[-1].begin if self.arms else 0, len(self.changes) - _MOST_CHANGES)
        for number in range(len(self.changes) - 1, begin - 1, -1):
            before |= self.changes[number].before
            yield number, before

    def since(self, begin: int) -> _Change:
        """Take the changes out that there have been since a time, as one."""
        found = _Change([], {})
        for change in self.changes[begin:]:
            found = found.then(change)
        del self.changes[begin:]
        return found

    def change(self, change: _Change, items: Mapping[int, Operand]) -> None:
        """Some items are other ones now."""
        if change.before:
            self.is_written = True
            self.changes.append(change)
        self.items |= items


class _Selection(NamedTuple):
    """``where(by == number, item, otherwise)``."""

    by: Operand
    number: int
    item: Operand
    otherwise: Operand


@dataclass(eq=False, slots=True)
class _Merge:
    """Selections by one test, where arms end: what each has if it holds, and if not."""

    at: int
    test: int
    nodes: dict[int, tuple[Operand, Operand]]

    def has_most(self, pairs: Mapping[int, tuple[Operand, Operand]]) -> bool:
        """Whether most of what arms have changed ends there: pairs of what there is if the test holds, and if not."""
        there = {*self.nodes.values()}
        return 2 * sum(pair in there for pair in pairs.values()) > len(pairs)

    @property
    def operands(self) -> list[Operand]:
        """What is selected among, each once."""
        return [*dict.fromkeys(operand for pair in self.nodes.values() for operand in pair)]


def accesses_in(graph: ScalarGraph) -> list[Step]:
    """The accesses to arrays that are worth it, in the order in which they are made."""
    return [each for each in _Finder(graph).accesses if each.array.is_worthwhile]


class _Finder:
    """Finds accesses, and which array each is of.

    Attributes:
        accesses: those, in order.
    """

    def __init__(self, graph: ScalarGraph) -> None:
        self._graph = graph
        self._uses = graph.uses()
        self._selections = dict(_selections(graph))
        self._arrays: dict[Operand, list[Array]] = defaultdict(list)  # that have had an item
        self.accesses: list[Step] = []
        writes = [each for each in self._writes() if _is_write(each)]
        written = {node for each in writes for node in each.nodes.values()}
        reads = [*self._reads(written)]
        read = {node for each in reads for node in each.nodes.values()}
        merges = [*self._merges(written | read)] if writes else []
        self._merges_of: dict[Operand, list[_Merge]] = defaultdict(list)
        for merge in merges:
            for operand in merge.operands:
                self._merges_of[operand].append(merge)
        found: list[Access | _Merge] = [*writes, *reads, *merges]
        for each in sorted(found, key=lambda each: each.at):
            if isinstance(each, _Merge):
                self._end_arms(each)
            else:
                self._find_array(each)

    # --- selections -----------------------------------------------------------------------------------------

    def _writes(self) -> Iterator[Access]:
        """Selections of one number for several items."""
        found: dict[tuple[Operand, Operand], Access] = {}
        counts = Counter((of.by, of.item) for of in self._selections.values())
        for node, (index, number, new, old) in self._selections.items():
            if counts[index, new] < _LEAST:
                continue
            write = found.get((index, new))
            if write is None or number in write.items:
                if write is not None:
                    yield write
                write = found[index, new] = Access(node, index, {}, {}, new)
            write.items[number], write.nodes[number] = old, node
        yield from found.values()

    def _reads(self, written: set[int]) -> Iterator[Access]:
        """Chains of selections among several items, from the last one on."""
        inner = {
            of.otherwise[1]
            for node, of in self._selections.items()
            if node not in written and self._goes_on(of.by, of.otherwise, written)
        }
        for node in self._selections:
            if node not in written and node not in inner and (read := self._read(node, written)) is not None:
                yield read

    def _goes_on(self, index: Operand, otherwise: Operand, written: set[int]) -> bool:
        """Whether what is selected otherwise is a selection by the same index, which nothing else reads."""
        kind, node = otherwise
        if kind != NODE or node in written or self._uses[node] > 1:
            return False
        return node in self._selections and self._selections[node].by == index

    def _read(self, last: int, written: set[int]) -> Access | None:
        items: dict[int, Operand] = {}
        nodes, link = [last], self._selections[last]
        items[link.number] = link.item
        while self._goes_on(link.by, link.otherwise, written):
            nodes.append(link.otherwise[1])
            link = self._selections[nodes[-1]]
            items.setdefault(link.number, link.item)  # what is selected last counts
        if len(items) + 1 < _LEAST or all(kind != NODE for kind, _ in items.values()):
            return None
        least, greatest = min(items), max(items)
        missing = [number for number in range(least, greatest) if number not in items]
        if len(missing) > 1:
            return None
        otherwise = missing[0] if missing else least - 1
        items[otherwise] = link.otherwise
        return Access(last, link.by, items, dict(enumerate(nodes)), None, otherwise)

    def _merges(self, accesses: set[int]) -> Iterator[_Merge]:
        """Other selections by one test, one after the other."""
        graph = self._graph
        merge = _Merge(-1, -1, {})
        nodes = np.flatnonzero((graph.rows == _WHERE) & (graph.kinds[:, 0] == NODE))
        for node in nodes.tolist():
            if node in accesses:
                continue
            (_, test), yes, no = graph.operands(node)
            if test != merge.test or node - 1 not in merge.nodes:
                if len(merge.nodes) > 1:
                    yield merge
                merge = _Merge(node, test, {})
            merge.nodes[node] = yes, no
        if merge.nodes:
            yield merge

    # --- arrays ---------------------------------------------------------------------------------------------

    def _find_array(self, access: Access) -> None:
        """The array that an access is of, which has most items now that it is of, and gets the rest; or a new one."""
        among = [
            *dict.fromkeys(array for item in access.items.values() for array in self._arrays[item][-_MOST_ARRAYS:])
        ]
        array = min(among, key=lambda each: _differing(each.items, access.items), default=Array())
        if _differing(array.items, access.items):
            array = next((each for each in among if self._begins_other_arm(each, access)), array)
        if not _are_alike(array.items, access.items):
            array = Array()
        access.array = array
        stores = [
            Store(access.at, array, number, item)
            for number, item in sorted(access.items.items())
            if array.items.get(number) != item
        ]
        self._note(array, stores)
        before = {each.number: array.items[each.number] for each in stores if each.number in array.items}
        self._change(array, _Change([*stores], before), {each.number: each.item for each in stores})
        self._add(access, [] if access.new is None else [access])

    def _add(self, access: Access, writes: list[Write]) -> None:
        array = access.array
        array.nodes += 2 * len(access.nodes)
        array.accesses += 2
        self.accesses.append(access)
        if writes:
            before = {number: array.items[number] for number in access.nodes}
            self._change(array, _Change(writes, before), {n: (NODE, node) for n, node in access.nodes.items()})

    def _change(self, array: Array, change: _Change, items: Mapping[int, Operand]) -> None:
        array.change(change, items)
        for item in items.values():
            if array not in (arrays := self._arrays[item])[-1:]:
                arrays.append(array)

    # --- arms -----------------------------------------------------------------------------------------------

    def _begins_other_arm(self, array: Array, access: Access) -> bool:
        """Whether an access is of the items that there were before an arm; if so, they are there again."""
        for begin, before in array.earlier():
            if not _are_alike(array.items | before, access.items):
                continue
            items = {number: array.items[number] for number in before}
            for merge in self._merges_of[next(iter(items.values()))]:
                for is_first in (True, False):
                    left = {pair[not is_first] for pair in merge.nodes.values()}
                    if 2 * sum(item in left for item in items.values()) > len(items):
                        change = array.since(begin)
                        kept = [Keep(access.at, array, write) for write in change.writes]
                        self._note(array, kept)
                        self._undo(access.at, array, change)
                        array.items |= change.before
                        array.arms.append(_Arm(change, kept, items, merge, is_first, begin))
                        return True
        return False

    def _undo(self, at: int, array: Array, change: _Change, test: int | None = None, outcome: bool = True) -> None:
        """Put back what was there before a change, where a test comes out so."""
        for write in change.writes:
            write.saves = True
        self._note(array, [Restore(at, array, write, None, test, outcome) for write in reversed(change.writes)])

    def _note(self, array: Array, steps: Sequence[Step]) -> None:
        self.accesses += steps
        array.accesses += len(steps)

    def _end_arms(self, merge: _Merge) -> None:
        for array in dict.fromkeys(array for operand in merge.operands for array in self._arrays.get(operand, ())):
            if array.arms and array.arms[-1].merge is merge:
                self._end_both(array, array.arms[-1])
            else:
                self._end_one(array, merge)

    def _end_one(self, array: Array, merge: _Merge) -> None:
        """Undo what an arm has written where it is not taken, if what it has written ends there."""
        for begin, before in array.earlier():
            for is_first in (True, False):
                pairs = {number: _pair(array.items[number], item, is_first) for number, item in before.items()}
                if not merge.has_most(pairs):
                    continue
                change = array.since(begin)
                self._undo(merge.at, array, change, merge.test, not is_first)
                self._merged(array, merge, pairs, change)
                return

    def _end_both(self, array: Array, arm: _Arm) -> None:
        """Undo what the second arm has written where the first one is taken, and do what that one has once more."""
        array.arms.pop()
        merge, second = arm.merge, array.since(arm.begin)
        both = arm.change.then(second)
        left = both.before | arm.items
        pairs = {number: _pair(left[number], array.items[number], arm.is_first) for number in both.before}
        if not merge.has_most(pairs):  # the second one's are there
            array.change(both, {})
            return
        self._undo(merge.at, array, second, merge.test, arm.is_first)
        self._note(array, [Restore(merge.at, array, kept.of, kept, merge.test, arm.is_first) for kept in arm.kept])
        self._merged(array, merge, pairs, both)

    def _merged(
        self, array: Array, merge: _Merge, pairs: Mapping[int, tuple[Operand, Operand]], change: _Change
    ) -> None:
        """Note what the items are that arms have changed; unknown, where they are merged elsewhere."""
        array.change(change, dict.fromkeys(pairs, _UNKNOWN))
        found = {pair: node for node, pair in merge.nodes.items()}
        nodes = {number: found[pair] for number, pair in pairs.items() if pair in found}
        access = Access(merge.at, None, {}, nodes, array=array)
        self._add(access, [])
        self._change(array, _Change([], {}), {number: (NODE, node) for number, node in nodes.items()})


def _differing(items: Mapping[int, Operand], wanted: Mapping[int, Operand]) -> int:
    """How many of some items are others than are wanted, or none."""
    return sum(items.get(number) != item for number, item in wanted.items())


def _are_alike(items: Mapping[int, Operand], wanted: Mapping[int, Operand]) -> bool:
    """Whether nearly all items are those that are wanted."""
    return _NEARLY * _differing(items, wanted) <= len(wanted)


def _pair(changed: Operand, other: Operand, is_first: bool) -> tuple[Operand, Operand]:
    return (changed, other) if is_first else (other, changed)


def _selections(graph: ScalarGraph) -> Iterator[tuple[int, _Selection]]:
    """The nodes that ask whether an index is a certain number."""
    tests, nodes = tests_of(graph), np.flatnonzero(graph.rows == _WHERE)
    kinds, indices = graph.kinds[nodes].tolist(), graph.indices[nodes].tolist()
    for node, (of, yes, no), (test, item, otherwise) in zip(nodes.tolist(), kinds, indices, strict=True):
        if of == NODE and (asked := tests.get(test)) is not None:
            yield node, _Selection(*asked, (yes, item), (no, otherwise))


def _is_write(access: Access) -> bool:
    """Whether selections of one number are what a list is once it is written to: of items without gaps, from before."""
    numbers = access.items.keys()
    if len(numbers) < _LEAST or max(numbers) - min(numbers) >= len(numbers):
        return False
    return all(kind != NODE or node < access.at for kind, node in access.items.values())
