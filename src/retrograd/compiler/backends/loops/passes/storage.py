"""Where in memory the nodes are that are kept, and the places of a loop's numbers as functions of its counters.

Only positions that something reads again have a place. Those that one operand reads alternately share an array, in
order of creation: then a row of a table, whose first and last elements have positions of their own, is one stretch.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ..graphs.graph import NODE, ScalarGraph
from ..layouts.accumulators import Accumulators, accumulators_of
from ..layouts.layout import Layout
from ..layouts.operands import Beside, Carry, Constants, Far, Last, Leaf, Merged, Taken
from ..shapes.indices import Index, Stream, fit, ordered
from ..shapes.structure import Body, Indices, Position
from .code import Address, Own

__all__ = ["Places", "Storage", "Table"]

#: What is no node.
_Owner = Carry | Last | Merged | Beside | Taken

#: A constant array: numbers, or indices.
Table = NDArray[np.float64] | NDArray[np.int64]


def _multiple(number: int, of: int) -> int:
    """The next multiple, or the number itself if it is one."""
    return -(-number // of) * of


class Storage:
    """The places of positions that are kept.

    Attributes:
        whole: positions of which all nodes are kept; of others, one in each iteration in which the value changes.
        last_roots: roots that are the last numbers of loops, by node.
        owners: what is no node and has a place in each iteration.
        size: how many numbers there are in all.
        accumulators: which nodes share a place.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.accumulators: Accumulators = accumulators_of(layout)
        self._leader: dict[Position, Position] = {}
        self._groups: dict[Position, list[Position]] = {}  # the positions that share an array, by their leader
        self._place = np.full(len(layout.graph), -1, np.int64)
        self._ranges: dict[Position, tuple[int, int]] = {}
        self._own: dict[_Owner, Own] = {}
        self._beside: dict[Position, Beside] = {}
        self._own_places: dict[_Owner, Indices] = {}
        self._regular: dict[Carry, bool] = {}
        self._padded: list[tuple[range, Body]] = []  # arrays with room for lanes of a loop that have no iteration
        self._read: dict[Position, list[Stream]] = {}
        self._orders: dict[Position, tuple[Indices, int] | None] = {}
        self.whole: set[Position] = set()
        self.last_roots: dict[int, Last] = {}
        self.owners: set[_Owner] = set()
        self.size: int = 0

    def __contains__(self, position: Position) -> bool:
        return position in self._leader

    @property
    def pool(self) -> Table:
        """The constants of lists from which items are taken."""
        return self._layout.graph.pool

    def keep_value(self, position: Position) -> None:
        """Give a position places."""
        self._leader.setdefault(position, position)

    def keep(self, *positions: Position) -> None:
        """Give all nodes of positions places, in one array."""
        self.whole.update(positions)
        for position in positions:
            self.keep_value(position)
        leaders = {self._find(position) for position in positions}
        first = min(leaders, key=lambda position: position.number)
        for leader in leaders:
            self._leader[leader] = first

    def keep_roots(self, graph: ScalarGraph) -> None:
        """Give the graph's roots places: those that a loop computes last, one each, which is written after it."""
        for kind, index in graph.roots:
            if kind != NODE:
                continue
            root = self._layout.node(index)
            if isinstance(root, Last):
                self.last_roots[index] = root
            else:
                self.keep(self._layout.place(index)[0])

    def is_regular(self, carried: Carry) -> bool:
        """Whether what a loop hands on is found among its nodes without a table; else it gets places of its own."""
        if carried not in self._regular:
            targets = self._layout.targets(carried)
            leaders = {self._find(position) for position in targets if position in self._leader}
            group = {*targets, *(position for position in self._leader if self._find(position) in leaders)}
            order = np.sort(np.concatenate([position.nodes for position in group]))
            index = fit(carried.frame, np.searchsorted(order, carried.nodes))
            self._regular[carried] = index.table is None or index.table[0] is not carried.frame
        return self._regular[carried]

    def keep_apart(self, carried: Carry) -> None:
        """What a loop hands on gets places of its own, if any."""
        self._regular[carried] = False

    def beside(self, position: Position, frame: Body, nodes: Indices) -> Beside:
        """What is computed beside a position's nodes, in the body in which it changes."""
        return self._beside.setdefault(position, Beside(frame, nodes))

    def own_place(self, of: _Owner) -> Own:
        """The place of its own that something has, if it is kept."""
        return self._own.setdefault(of, Own(of.frame, of))

    def keep_own(self, of: _Owner) -> None:
        """Give what a loop hands on or had last, or what is no node, a place of its own in each iteration."""
        self.owners.add(of)

    def _find(self, position: Position) -> Position:
        while self._leader[position] is not position:
            position = self._leader[position]
        return position

    def allocate(self, in_lanes: Collection[Body] = (), lanes: int = 1) -> None:
        """Fix all places.

        Args:
            in_lanes: loops whose iterations run side by side: what they have of one number lies side by side.
            lanes: how many of them do.
        """
        self.size = self._layout.graph.cells
        self._place[:] = -1
        self._padded = []
        self._groups = {}
        for position in sorted(self._leader, key=lambda position: position.number):
            self._groups.setdefault(self._find(position), []).append(position)
        self._note_read()
        for leader, group in self._groups.items():
            outer = next((loop for loop in in_lanes if self._lies_side_by_side(group, loop)), None)
            nodes = np.concatenate([position.nodes for position in group])
            of = self.accumulators.first[nodes]
            if outer is None and (found := self._ordered(leader)) is not None:
                begin, (places, size) = self.size, found
                self._place[nodes] = begin + places[np.searchsorted(np.unique(of), of)]
                self.size += size
            else:
                begin, self._place[nodes] = self._laid_out(of, [each.body for each in group], outer, lanes)
            self._ranges[leader] = (begin, self.size - begin)
        for root in self.last_roots:
            if self._place[root] < 0:
                self._place[root] = self.size
                self.size += 1
        for owner in sorted(self.owners, key=lambda of: int(of.nodes[0])):
            outer = next((loop for loop in in_lanes if owner.frame.within(loop)), None)
            _, self._own_places[owner] = self._laid_out(np.arange(owner.frame.times), [owner.frame], outer, lanes)
        if in_lanes:
            self.size += lanes  # where the last iterations are too few, more is read

    def _note_read(self) -> None:
        """The streams that loops read, by the leader of what shares an array."""
        if self._read:
            return
        self._read = {leader: [] for leader in self._groups}
        for operand in self._layout.first_use:
            if isinstance(operand, Far):
                leader = self._find(self._layout.targets(operand)[0])
                self._read[leader].append((operand.frame, operand.nodes))

    def _lies_side_by_side(self, group: Sequence[Position], loop: Body) -> bool:
        """Whether the positions that share an array are in a loop, and each of their numbers has a place of its own."""
        inside = all(position.body.within(loop) for position in group)
        return inside and self.accumulators.replaced.isdisjoint(group)

    def _ordered(self, leader: Position) -> tuple[Indices, int] | None:
        """Other places for what shares an array, if loops then find it without tables; and how many these are."""
        if leader not in self._orders:
            group, first = self._groups[leader], self.accumulators.first
            nodes = np.unique(first[np.concatenate([position.nodes for position in group])])
            read = [(frame, first[numbers]) for frame, numbers in self._read[leader]]
            made = [(position.body, first[position.nodes]) for position in group]
            self._orders[leader] = ordered(nodes, read, made)
        return self._orders[leader]

    def _laid_out(self, of: Indices, bodies: Sequence[Body], outer: Body | None, lanes: int) -> tuple[int, Indices]:
        """An array for what some bodies have in their iterations: where it begins, and the place of each.

        Args:
            of: a number for each of them, the same where they share a place. The places are in this order.
            bodies: the bodies.
            outer: the loop in lanes in which what its iterations have lies side by side.
            lanes: how many do.
        """
        numbers, which = np.unique(of, return_inverse=True)
        if outer is None:
            begin, places = self.size, self.size + np.arange(len(numbers))
            self.size += len(numbers)
        else:
            begin, instances, iterations = _multiple(self.size, lanes), len(outer.counts), outer.counts[0]
            places = np.empty(len(numbers), np.int64)
            ordinals = np.empty(len(numbers), np.int64)
            ordinals[which] = np.concatenate([body.ordinals_of(outer) for body in bodies])
            rows = np.lexsort((numbers, ordinals)).reshape(instances, iterations, -1)
            shape = instances, rows.shape[2], _multiple(iterations, lanes)
            found = begin + np.arange(math.prod(shape)).reshape(shape)
            places[rows] = found[:, :, :iterations].swapaxes(1, 2)
            self.size = begin + found.size
            self._padded.append((range(begin, self.size), outer))
        return begin, places[which]

    def places(self, nodes: Indices) -> Indices:
        """The places of nodes."""
        return self._place[nodes]

    def is_padded(self, place: int, loop: Body) -> bool:
        """Whether a place is in an array that has room for the lanes of a loop that have no iteration."""
        return any(place in padded and of is loop for padded, of in self._padded)

    def is_of(self, of: Far | Own, loop: Body) -> bool:
        """Whether what the iterations of a loop have of something lies side by side, in lanes."""
        if isinstance(of, Own):
            return of.frame.within(loop)
        return self._lies_side_by_side(self._groups[self._find(self._layout.targets(of)[0])], loop)

    def own_places(self, of: _Owner) -> Indices:
        """The places of what is no node, by ordinal."""
        return self._own_places[of]

    def range_of(self, position: Position) -> tuple[int, int]:
        """Where the array begins that a position is in, and how long it is."""
        return self._ranges[self._find(position)]


class Places:
    """Which element an address is, as an Index; and the tables that this and the code need.

    Attributes:
        tables: constant arrays, of doubles or of int64 indices.
        sums: where the array B has room for the sums of lanes.
    """

    def __init__(self, storage: Storage, prefix: str = "T") -> None:
        self._storage, self._prefix = storage, prefix
        self._known: dict[Address, tuple[str, Index]] = {}
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._alike: dict[tuple[Address, Body], bool] = {}
        self.tables: list[Table] = []
        self.sums = 0

    def reserve(self, count: int) -> int:
        """Make room for so many numbers in the array B: where they begin."""
        first = self._storage.size
        self._storage.size += count
        return first

    def array(self, name: str) -> str:
        """An array from which items are taken: T are the graph's constants."""
        return self.table(self._storage.pool) if name == "T" else name

    def name(self, number: int) -> str:
        """What a table is called."""
        return f"{self._prefix}{number}"

    def table(self, numbers: Table) -> str:
        """The name of an array of constants."""
        key = (numbers.dtype.kind, numbers.tobytes())
        if key not in self._numbers:
            self._numbers[key] = len(self.tables)
            self.tables.append(numbers if numbers.flags.c_contiguous else numbers.copy())
        return self.name(self._numbers[key])

    def element(self, at: Address) -> tuple[str, Index]:
        """The array and the element in it."""
        if at not in self._known:
            self._known[at] = self._element(at)
        return self._known[at]

    def _element(self, at: Address) -> tuple[str, Index]:
        array = self.table(at.of.numbers) if isinstance(at.of, Constants) else at.array
        return array, fit(at.of.frame, self.numbers(at))

    def is_padded(self, at: Address, loop: Body, lanes: int) -> bool:
        """Whether the lanes of a loop that have no iteration may write where they would: next to the others."""
        numbers = self.numbers(at)
        if at.array not in ("W", "B") or not self._storage.is_padded(int(numbers[0]), loop):
            return False
        first = numbers.reshape(len(loop.counts), int(loop.counts[0]), -1)[:, 0]
        return at.of.frame.within(loop) and not np.any(first % lanes)

    def is_near(self, at: Address, loop: Body) -> bool:
        """Whether the iterations of a loop would access elements side by side in lanes, or all the same one."""
        if isinstance(at.of, Far | Own) and at.of.frame.within(loop) and self._storage.is_of(at.of, loop):
            return True
        return self.step_of(at, loop) in (0, 1)

    def step_of(self, at: Address, loop: Body) -> int | None:
        """How far the elements of an iteration of a loop and of the next are apart; None if it varies.

        All instances of the loop, and of those in it, have as many iterations.
        """
        step = self.element(at)[1].step_of(loop)
        return 0 if step is None and self._is_alike(at, loop) else step

    def _is_alike(self, at: Address, loop: Body) -> bool:
        """Whether an address is the same in all iterations of an instance of a loop."""
        if (at, loop) not in self._alike:
            rows = self.numbers(at).reshape(len(loop.counts), int(loop.counts[0]), -1)
            self._alike[at, loop] = bool(np.all(rows == rows[:, :1]))
        return self._alike[at, loop]

    def numbers(self, at: Address) -> Indices:
        """The element in each iteration of the frame."""
        match at.of:
            case Leaf(index=index):
                return index
            case Constants(frame=frame):
                return np.arange(frame.times)
            case Own(of=carried):
                return self._storage.own_places(carried)
            case Far(nodes=nodes):
                places = self._storage.places(nodes)
                assert np.all(places >= 0)
                return places
