"""What the operands of each position are: numbers of the same iteration, of the one before, of an outer body, or far.

Each operand belongs to a body, its frame: it is another number in each iteration of that body, and the same in the
inner loops'. An operand that inner iterations read alike belongs to the outer body.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Set
from functools import cache, cached_property

import numpy as np

from .....ops import BY_NAME, Op
from ..graphs.arrays import is_access, place_of
from ..graphs.graph import LEAF, LITERAL, NODE, NONE, ScalarGraph, UnsupportedGraphError
from ..graphs.takes import take_of
from ..shapes.structure import Body, Indices, Position, bodies_of
from .operands import Carry, Constant, Constants, Far, Last, Leaf, Merged, Near, NodeOperand, Operand
from .variables import Variable, variable_of

__all__ = ["Layout"]


#: Rows that tell -0.0 from 0.0.
_SIGN_OF_ZERO = frozenset({"atan2", "copysign", "reciprocal"})

#: What was computed so many iterations before is handed on; what is older is read from memory.
_FAR_BACK = 4

#: Of a reader at the end of an iteration.
_LAST = 1 << 40


class Layout:
    """The positions of a program with their operands, and which of them depend on what gradients are wanted of.

    Attributes:
        graph: the program's.
        top: its bodies.
        positions: those of all bodies, in order.
        operands: of each position, by its number.
        rows: the operator of each position, by its number.
        first_use: the first item of an operand's frame that reads it.
    """

    def __init__(self, graph: ScalarGraph, top: Body, in_memory: Set[Position] = frozenset()) -> None:
        """
        Args:
            graph: the program's.
            top: its bodies.
            in_memory: positions of which what a loop has last is read from memory, too.
        """
        self.graph: ScalarGraph = graph
        self.top: Body = top
        self._in_memory = in_memory
        self.positions: list[Position] = list(top.positions())
        self.rows: list[str] = [graph.names[graph.rows[position.nodes[0]]] for position in self.positions]
        self.first_use: dict[Operand, Position | Body] = {}
        self._position_of = np.zeros(len(graph), np.int32)
        self._ordinal = np.zeros(len(graph), np.int64)
        if self.positions:
            lengths = np.array([len(position.nodes) for position in self.positions])
            nodes = np.concatenate([position.nodes for position in self.positions])
            self._position_of[nodes] = np.repeat(np.arange(len(lengths)), lengths)
            self._ordinal[nodes] = np.arange(len(nodes)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        self._literals: list[float] = graph.literals.tolist()
        self._known: dict[tuple[object, ...], Operand] = {}
        self._targets: dict[NodeOperand, list[Position]] = {}
        self._far: dict[Body, list[Far]] = defaultdict(list)
        self._owner = {body: body.instances for body in bodies_of(top)}
        self._later = {body: _later(body) for body in bodies_of(top)}
        self._searched: set[bytes] = set()
        self._first_nodes: dict[Body, Indices] = {}
        for position in self.positions:
            self._note_streams(position)
        self.operands: list[list[Operand]] = []
        for position in self.positions:
            operands = self._operands(position)
            for operand in operands:
                self._note_use(operand, position)
            self.operands.append(operands)
        operands_left: list[Operand] = list(self.first_use)
        while operands_left:  # all other users come before the end of an iteration
            operand = operands_left.pop()
            if isinstance(operand, Carry) and operand.following not in self.first_use:
                self._note_use(operand.following, operand.frame.items[-1])
                operands_left.append(operand.following)
        self._leaves: dict[Body, list[Leaf]] = defaultdict(list)
        for operand in self.first_use:
            if isinstance(operand, Leaf):
                self._leaves[operand.frame].append(operand)

    @property
    def tells_zeros_apart(self) -> bool:
        """Whether something depends on the sign of a zero."""
        return not _SIGN_OF_ZERO.isdisjoint(self.rows)

    def targets(self, operand: NodeOperand) -> list[Position]:
        """The positions that an operand's nodes have."""
        if operand not in self._targets:
            numbers = self._position_of[operand.nodes]
            found = np.flatnonzero(np.bincount(numbers)) if (numbers != numbers[0]).any() else numbers[:1]
            self._targets[operand] = [self.positions[number] for number in found.tolist()]
        return self._targets[operand]

    def place(self, node: int) -> tuple[Position, int]:
        """Where a node is, and in which iteration."""
        return self.positions[self._position_of[node]], int(self._ordinal[node])

    def places(self, nodes: Indices) -> tuple[Indices, Indices]:
        """Where nodes are: the numbers of their positions, and in which iterations."""
        return self._position_of[nodes].astype(np.int64), self._ordinal[nodes]

    def is_active(self, operand: Operand) -> bool:
        """Whether a gradient is wanted of what an operand is."""
        match operand:
            case Leaf(wanted=wanted):
                return wanted
            case Near() | Last() | Carry() | Merged() | Far():
                return any(self.active[position.number] for position in self.targets(operand))
            case _:
                return False

    def node(self, index: int) -> NodeOperand:
        """One node, as the code after all loops reads it."""
        return self._node(self.top, _one(index))

    def at(self, frame: Body, nodes: Indices) -> Far:
        """What an address in memory is of."""
        far = self._known.setdefault((frame.number, "far", nodes.tobytes()), Far(frame, nodes))
        assert isinstance(far, Far)
        return far

    def near(self, position: Position) -> Near:
        """What a position has, as others of its body read it."""
        near = self._node(position.body, position.nodes)
        assert isinstance(near, Near)
        return near

    def last_in(self, body: Body, position: Position) -> NodeOperand:
        """What a position has, or had last, as positions of a body around it read it."""
        return self._node(body, self._last_nodes(body, position))

    def leaf(self, index: int) -> Leaf:
        """One leaf, as the code after all loops reads it."""
        return Leaf(self.top, _one(index), bool(self.graph.wanted[index]))

    def ahead_of(self, leaf: Leaf) -> Leaf | None:
        """The leaves that a loop reads one iteration before it reads them as ``leaf``: the next of a list's items."""
        later = self._later[leaf.frame]
        if not len(later):
            return None
        first = later[0]
        for other in self._leaves[leaf.frame]:
            if other is leaf or not other.wanted or other.index[first - 1] != leaf.index[first]:
                continue
            if np.array_equal(other.index[later - 1], leaf.index[later]):
                return other
        return None

    def first_of(self, leaf: Leaf) -> Leaf:
        """The leaf of the first iteration, as the body around the loop reads it."""
        frame = leaf.frame
        assert frame.parent is not None
        return Leaf(frame.parent, leaf.index[frame.firsts], leaf.wanted)

    # --- operands -------------------------------------------------------------------------------------------

    def _columns(self, position: Position) -> list[tuple[int, Indices]]:
        graph, nodes = self.graph, position.nodes
        kinds = graph.kinds[nodes[0], : self._slots(position)].tolist()
        return [(kind, graph.indices[nodes, slot]) for slot, kind in enumerate(kinds) if kind != NONE]

    def _slots(self, position: Position) -> int:
        """How many slots have operands that are read: not the access before one."""
        kinds = self.graph.kinds[position.nodes[0]]
        return int(np.count_nonzero(kinds != NONE)) - is_access(self.rows[position.number])

    def _note_streams(self, position: Position) -> None:
        """Nodes that a position reads without their being of this iteration or the one before."""
        if position.body is self.top:
            node = int(position.nodes[0])
            if any(kind == NODE and index >= node for kind, index in self.graph.operands(node)):
                raise UnsupportedGraphError("an operand that comes later")
            return
        for kind, index in self._columns(position):
            if kind in (LEAF, LITERAL):
                continue
            if (index >= position.nodes).any():
                raise UnsupportedGraphError("an operand that comes later")
            body = position.body
            while (outer := self._outer(body, kind, index, position.number)) is not None:
                if not self._is_before(body, index):
                    break
                assert body.parent is not None
                body, index = body.parent, outer
            key = (body.number, "far", index.tobytes())
            if body.parent is None or key in self._known or self._is_shifted(body, index):
                continue
            if self._here(body, index) is None:
                self._far[body].append(self.at(body, index))

    def _operands(self, position: Position) -> list[Operand]:
        if position.body is not self.top:
            return [self._operand(position, kind, index) for kind, index in self._columns(position)]
        operands = self.graph.operands(int(position.nodes[0]))
        return [self._alone(kind, index) for kind, index in operands[: self._slots(position)]]

    def _alone(self, kind: int, index: int) -> Operand:
        """An operand of what is in no loop."""
        if kind == LITERAL:
            return Constant(self._literals[index])
        name = "leaf" if kind == LEAF else "node"
        key = (self.top.number, name, index.to_bytes(8, sys.byteorder))  # those of the streams that loops read
        if key not in self._known:
            self._known[key] = self.leaf(index) if kind == LEAF else self._found(self.top, _one(index), _LAST)
        return self._known[key]

    def _operand(self, position: Position, kind: int, index: Indices) -> Operand:
        body, reader = position.body, position.number
        while kind in (LEAF, LITERAL) and (outer := self._outer(body, kind, index, reader)) is not None:
            assert body.parent is not None
            body, index = body.parent, outer
        if kind == LITERAL:
            numbers = self.graph.literals[index]
            bits = numbers.view(np.int64)
            if (bits == bits[0]).all():
                return Constant(float(numbers[0]))
            while self._is_invariant(body, bits) and body.parent is not None:
                body, bits = body.parent, bits[body.firsts]
            key = (body.number, "constants", bits.tobytes())
            return self._known.setdefault(key, Constants(body, bits.view(np.float64)))
        if kind == LEAF:
            key = (body.number, "leaf", index.tobytes())
            return self._known.setdefault(key, Leaf(body, index, bool(np.any(self.graph.wanted[index]))))
        return self._node(body, index, reader)

    def _is_invariant(self, body: Body, index: Indices) -> bool:
        if body.optional or body.parent is None:
            return False
        return bool((index == index[body.firsts][self._owner[body]]).all())

    def _outer(self, body: Body, kind: int, index: Indices, reader: int) -> Indices | None:
        """An operand as the body around a loop has it, if it is the same in all iterations of an instance."""
        if self._is_invariant(body, index):
            return index[body.firsts]
        if not body.optional or body.parent is None:
            return None
        if (index == index[0]).all() and (kind != NODE or (index[0] < self._begins(body.parent)).all()):
            return np.repeat(index[:1], len(body.counts))
        if kind != NODE:
            return None
        position: Position = self.positions[self._position_of[index[0]]]
        if position.body is body.parent and np.array_equal(position.nodes[self._owner[body]], index):
            return position.nodes
        nodes = np.full(body.parent.times, -1)
        nodes[body.counts > 0] = index
        variable = self._variable(body.parent, nodes, reader)
        return None if variable is None else variable.nodes

    def _begins(self, body: Body) -> Indices:
        if body not in self._first_nodes:
            self._first_nodes[body] = body.begins()
        return self._first_nodes[body]

    def _is_before(self, body: Body, index: Indices) -> bool:
        """Whether the first iterations read what was there before them."""
        return bool((index[body.firsts[body.counts > 0]] < self._begins(body)).all())

    def _node(self, body: Body, index: Indices, reader: int = _LAST) -> NodeOperand:
        key = (body.number, "node", index.tobytes())
        if key not in self._known:
            self._known[key] = self._found(body, index, reader)
        operand = self._known[key]
        assert isinstance(operand, NodeOperand)
        return operand

    def _found(self, body: Body, index: Indices, reader: int) -> NodeOperand:
        here = self._here(body, index)
        if here is not None:
            return here
        if body.parent is None:
            return self.at(body, index)
        if not self._is_before(body, index):
            return self._variable(body, index, reader) or self.at(body, index)
        outer = self._outer(body, NODE, index, reader)
        if outer is not None:
            return self._node(body.parent, outer, reader)
        variable = self._variable(body, index, reader)
        if variable is not None:
            return variable
        following = self._following(body, index)
        if following is not None:
            return Carry(body, index, following, self._node(body.parent, index[body.firsts]))
        return self.at(body, index)

    # --- what is set only at times --------------------------------------------------------------------------

    def _variable(self, body: Body, nodes: Indices, reader: int) -> Merged | Carry | None:
        """What a reader finds that inner loops of one iteration or none set; ``nodes`` are -1 where nothing reads."""
        if body.parent is None or not any(isinstance(item, Body) and item.optional for item in body.items):
            return None
        of = variable_of(body, nodes, reader, self.positions, self._position_of)
        if of is None:
            return None
        key = (body.number, "node", of.found.tobytes())
        if key not in self._known:
            if not of.is_set and np.any((of.start < 0) | (of.start >= self._begins(body))):
                return None
            now = [setter for setter in of.setters if setter.number < reader]
            self._known[key] = self._merged(of, body, now, of.is_set)
        found = self._known[key]
        return found if isinstance(found, Merged | Carry) else None

    def _merged(self, of: Variable, body: Body, setters: list[Position], is_set: bool) -> NodeOperand:
        """A variable after some positions that set it; what is so before them, if they do not always."""
        operand: NodeOperand | None = None if is_set else self._handed_on(of, body)
        for position in setters:
            if position.body is body:
                operand = self.near(position)
                continue
            key = (body.number, "merged", position.number, operand)
            if key not in self._known:
                nodes = np.zeros(body.times, np.int64) if operand is None else operand.nodes.copy()
                nodes[position.body.counts > 0] = position.nodes
                self._known[key] = Merged(body, nodes, position, operand)
            found = self._known[key]
            assert isinstance(found, Merged)
            operand = found
        assert operand is not None
        return operand

    def _handed_on(self, of: Variable, body: Body) -> NodeOperand:
        """A variable as the iteration before leaves it."""
        key = (body.number, "node", of.handed.tobytes())
        if key not in self._known:
            assert body.parent is not None
            start = self._node(body.parent, of.start)
            carry = self._known[key] = Carry(body, of.handed, start, start)
            carry.following = self._merged(of, body, of.setters, of.is_left)
        found = self._known[key]
        assert isinstance(found, NodeOperand)
        return found

    def _here(self, body: Body, index: Indices) -> Near | Last | None:
        """A position of this iteration, or of an inner loop's last one."""
        numbers = self._position_of[index]
        if len(numbers) > 1 and (numbers != numbers[0]).any():
            return None
        position: Position = self.positions[numbers[0]]
        if not position.body.within(body):
            return None
        if position.body is body:
            if len(position.nodes) == 1 or _are_equal(position.nodes, index):
                return Near(body, index, position)
            return None
        if position in self._in_memory or _is_optional(body, position):
            return None
        return Last(body, index, position) if _are_equal(index, self._last_nodes(body, position)) else None

    def _last_nodes(self, body: Body, position: Position) -> Indices:
        nodes, inner = position.nodes, position.body
        while inner is not body:
            nodes = nodes[inner.lasts]
            assert inner.parent is not None
            inner = inner.parent
        return nodes

    def _is_shifted(self, body: Body, index: Indices) -> bool:
        """Whether the nodes were computed one iteration before."""
        later = self._later[body]
        if not len(later):
            return False
        numbers = self._position_of[index[later]]
        position = self.positions[numbers[0]]
        if (numbers != numbers[0]).any() or not position.body.within(body) or _is_optional(body, position):
            return False
        return _are_equal(index[later], self._last_nodes(body, position)[later - 1])

    def _following(self, body: Body, index: Indices) -> NodeOperand | None:
        """What has the same nodes one iteration before."""
        later = self._later[body]
        if not len(later):
            return None
        if self._is_shifted(body, index):
            position = self.positions[self._position_of[index[later[0]]]]
            return self._node(body, self._last_nodes(body, position))
        if (carried := self._carried_before(body, index)) is not None:
            return carried
        self._searched.add(index.tobytes())
        try:
            for other in self._far[body]:
                if other.nodes[later[0] - 1] != index[later[0]] or not np.array_equal(
                    other.nodes[later - 1], index[later]
                ):
                    continue
                if other.nodes.tobytes() not in self._searched:  # two may take turns
                    return self._node(body, other.nodes)
        finally:
            self._searched.discard(index.tobytes())
        return None

    def _carried_before(self, body: Body, index: Indices) -> Carry | None:
        """What hands on nodes that were computed some iterations before: the same nodes one iteration nearer."""
        for distance in range(2, _FAR_BACK + 1):
            if (body.counts <= distance).any():
                return None
            later = np.flatnonzero(np.arange(body.times) - body.firsts[self._owner[body]] >= distance)
            numbers = self._position_of[index[later]]
            position = self.positions[numbers[0]]
            if (numbers != numbers[0]).any() or not position.body.within(body) or _is_optional(body, position):
                continue
            nodes = self._last_nodes(body, position)
            if _are_equal(index[later], nodes[later - distance]):
                nearer = np.append(index[1:], 0)
                nearer[body.lasts] = nodes[body.lasts - distance + 1]
                found = self._node(body, nearer)
                return found if isinstance(found, Carry) else None
        return None

    # --- uses -----------------------------------------------------------------------------------------------

    def _note_use(self, operand: Operand, user: Position | Body) -> None:
        if isinstance(operand, Constant) or operand in self.first_use:
            return
        frame = operand.frame
        if isinstance(user, Position) and user.body is frame:
            self.first_use[operand] = user
        else:
            self.first_use[operand] = (user.body if isinstance(user, Position) else user).child_of(frame)
        if isinstance(operand, Carry):
            self._note_use(operand.start, frame)
        if isinstance(operand, Merged) and operand.otherwise is not None:
            self._note_use(operand.otherwise, operand.position.body)

    # --- gradients ------------------------------------------------------------------------------------------

    @cached_property
    def active(self) -> list[bool]:
        """Of each position, by its number, whether its adjoint is not zero: gradients are wanted of what it depends on,
        and the result depends on it. What only decides something has none."""
        passing = [self.differentiated(position) for position in self.positions]
        sources = [
            [target.number for o in of if isinstance(o, NodeOperand) for target in self.targets(o)] for of in passing
        ]
        for position in self.positions:
            if is_access(self.rows[position.number]):
                sources[position.number] += self._accessed_before(position)
        readers: list[list[int]] = [[] for _ in self.positions]
        for reader, of in enumerate(sources):
            for source in of:
                readers[source].append(reader)
        wanted = [
            number
            for number, of in enumerate(passing)
            if self.takes_wanted(number) or any(isinstance(o, Leaf) and o.wanted for o in of)
        ]
        kind, root = self.graph.roots[0]
        varied, useful = _closure(wanted, readers), _closure([self._position_of[root]] if kind == NODE else [], sources)
        return [a and b for a, b in zip(varied, useful, strict=True)]

    def _accessed_before(self, position: Position) -> list[int]:
        """The numbers of the positions that access memory before one that does."""
        slot = self._slots(position)
        is_node = self.graph.kinds[position.nodes, slot] == NODE
        return [*map(int, np.unique(self._position_of[self.graph.indices[position.nodes[is_node], slot]]))]

    def takes_wanted(self, number: int) -> bool:
        """Whether a position takes a leaf whose gradient is wanted."""
        take = take_of(self.rows[number])
        return take is not None and take.wanted

    def differentiated(self, position: Position) -> list[Operand]:
        """The operands to which a position hands gradients on."""
        operands, row = self.operands[position.number], self.rows[position.number]
        return [operand for which, operand in enumerate(operands) if _has_partial(row, which)]


@cache
def _has_partial(row: str, which: int) -> bool:
    """Whether a row hands gradients on to an operand: a comparison does not, nor a selection to what it asks, nor what
    takes an item to its index, nor an access to its place."""
    if is_access(row):
        return which > 0
    op = BY_NAME.get(row)
    has_none = row == "largest" or take_of(row) is not None or place_of(row) is not None
    return not has_none and not (isinstance(op, Op) and op.partials[which] == "0")


def _closure(begin: list[int], following: list[list[int]]) -> list[bool]:
    """Whether each number is one of some, or follows one that is."""
    found = [False] * len(following)
    left = [*begin]
    while left:
        number = left.pop()
        if not found[number]:
            found[number] = True
            left += following[number]
    return found


def _is_optional(body: Body, position: Position) -> bool:
    """Whether a body may do without a position in a loop in it."""
    inner = position.body
    while inner is not body and not inner.optional:
        assert inner.parent is not None
        inner = inner.parent
    return inner is not body


def _are_equal(one: Indices, other: Indices) -> bool:
    """Whether two arrays as long are equal, without what np.array_equal does besides."""
    return bool((one == other).all())


def _one(index: int) -> Indices:
    return np.array([index], np.int64)


def _later(body: Body) -> Indices:
    """The ordinals of iterations that are not the first of their instance."""
    later = np.ones(body.times, bool)
    later[body.firsts[body.counts > 0]] = False
    return np.flatnonzero(later)
