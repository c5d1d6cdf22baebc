"""The backward pass of a graph, in the SSA form: the sections in reverse order, each loop from its last iteration.

The adjoint of a position is summed up where its users are: users in the same code add to an SSA value, users one
iteration later hand it on as a loop-carried value, and all others add to memory (the array B).
"""

from __future__ import annotations

from collections import defaultdict

from . import formulas
from .code import Address, Builder, Loop, Phi, Ref, Value
from .forward import Forward
from .layout import Far, Fixed, Layout, Leaf, Near, Operand, Position
from .liveness import live_values

__all__ = ["SEED", "Backward"]

#: The value that the pass begins with: the gradient of the result.
SEED = Ref(0)


class Backward:
    """Writes the pass.

    Attributes:
        t: its code.
        zeroed: the sections whose part of B must be zero before.
    """

    def __init__(self, layout: Layout, forward: Forward) -> None:
        self.t = Builder()
        self.t.tables = forward.t.tables
        self.zeroed: set[int] = set()
        self._layout, self._forward = layout, forward
        self._top: dict[int, Value] = defaultdict(float)  # adjoints of nodes of straight-line code
        self._last: dict[Position, Value] = defaultdict(float)  # of the last iteration of a loop, from after it
        self._in_memory: set[Position] = set()
        self._near: dict[int, Value] = {}  # in the iteration, or the straight-line code, that is being written
        self._carries: dict[int, Phi] = {}  # adjoints that users one iteration later hand on
        self._handed: dict[int, Value] = {}
        self._sums: dict[tuple[str, int], tuple[Phi, Value]] = {}  # of what all iterations add to one place
        self._loads: dict[int, Ref] = {}  # the forward pass's value that a load reads
        self._note_memory()
        kind, root = layout.graph.roots[0]
        if kind == 2:
            self._give(root, SEED)
        elif kind == 0 and layout.graph.wanted[root]:
            self.t.add_to(Address("G", root), SEED)
        for s in reversed(range(len(layout.sections))):
            self._write_section(s)
        for number in live_values(self.t.top):
            if number in self._loads:
                forward.keep(self._loads[number])

    def _note_memory(self) -> None:
        """Positions that get adjoints through memory from within their own loop."""
        for position, operands in self._layout.operands.items():
            for operand in operands:
                if isinstance(operand, Far) and self._layout.active[position]:
                    for producer in dict.fromkeys(self._layout.position_of(int(n))[0] for n in operand.nodes):
                        self._use_memory(producer)

    def _use_memory(self, position: Position) -> None:
        self._in_memory.add(position)
        self.zeroed.add(position.section)

    def _give(self, node: int, g: Value) -> None:
        """Add to the adjoint of a node of an earlier section."""
        position, k = self._layout.position_of(node)
        section = self._layout.sections[position.section]
        if not self._layout.active[position]:
            return
        if section.count == 1:
            self._top[node] = self.t.add(self._top[node], g)
        elif k == section.count - 1:
            self._last[position] = self.t.add(self._last[position], g)
        else:
            self._use_memory(position)
            self.t.add_to(Address("B", node), g)

    # --- sections -------------------------------------------------------------------------------------------

    def _write_section(self, s: int) -> None:
        section = self._layout.sections[s]
        self._near, self._carries, self._handed, self._sums = {}, {}, {}, {}
        if section.count == 1:
            for j in reversed(range(section.period)):
                position, node = Position(s, j), section.begin + j
                if not self._layout.active[position]:
                    continue
                g = self.t.add(self._top.pop(node, 0.0), self._near.pop(j, 0.0))
                if position in self._in_memory:
                    g = self.t.add(g, self.t.load_again(Address("B", node)))
                self._write_position(position, g)
            return
        with self.t.loop(section.count, backward=True) as loop:
            self._begin_carries(s, loop)
            for j in reversed(range(section.period)):
                position = Position(s, j)
                if not self._layout.active[position]:
                    continue
                g = self._near.pop(j, 0.0)
                if j in self._carries:
                    g = self.t.add(self._carries[j].result, g)
                if position in self._in_memory:
                    g = self.t.add(g, self.t.load_again(Address("B", section.begin + j, section.period)))
                self._write_position(position, g)
            for j, phi in self._carries.items():
                phi.following = self._handed.get(j, 0.0)
            for phi, total in self._sums.values():
                phi.following = total
        self._end_loop(s)

    def _begin_carries(self, s: int, loop: Loop) -> None:
        self._loop = loop
        crossing = {
            operand.j
            for position, operands in self._layout.operands.items()
            if position.section == s and self._layout.active[position]
            for operand in operands
            if isinstance(operand, Near) and operand.before and self._is_active(position, operand)
        }
        late = {position.j for position in self._last if position.section == s}
        for j in sorted(crossing | late):
            self._carries[j] = self.t.carry(loop, self._last.pop(Position(s, j), 0.0))

    def _end_loop(self, s: int) -> None:
        section = self._layout.sections[s]
        for j, phi in self._carries.items():
            if j in self._handed:
                assert phi.final is not None
                self._give(section.begin - section.period + j, phi.final)
        for (array, at), (phi, _) in self._sums.items():
            assert phi.final is not None
            if array == "G":
                self.t.add_to(Address("G", at), phi.final)
            else:
                self._give(at, phi.final)

    # --- one node -------------------------------------------------------------------------------------------

    def _write_position(self, position: Position, g: Value) -> None:
        if g == 0.0:
            return
        row = self._layout.rows[position]
        section = self._layout.sections[position.section]
        self.t.source = int(self._layout.graph.sources[section.begin + position.j])
        values = [self._again(value) for value in self._forward.operands[position]]
        for which, operand in enumerate(self._layout.operands[position]):
            if not self._is_active(position, operand):
                continue
            contribution = formulas.partial(
                self.t, row, which, values, lambda: self._again(self._forward.values[position]), g
            )
            if contribution != 0.0:
                self._add(position.section, operand, contribution)

    def _is_active(self, position: Position, operand: Operand) -> bool:
        active = self._layout.active
        match operand:
            case Leaf(wanted=wanted):
                return wanted
            case Near(j=j, before=before):
                section = self._layout.sections[position.section]
                first = section.begin - section.period + j  # what the first iteration reads
                return active[Position(position.section, j)] or (before and active[self._layout.position_of(first)[0]])
            case Fixed(node=node):
                return active[self._layout.position_of(node)[0]]
            case Far(nodes=nodes):
                return any(active[self._layout.position_of(int(node))[0]] for node in nodes)
            case _:
                return False

    def _again(self, value: Value) -> Value:
        """A number of the forward pass. It is kept if the load turns out to be used."""
        if not isinstance(value, Ref):
            return value
        load = self.t.load(self._forward.home(value))
        self._loads[load.number] = value
        return load

    def _add(self, s: int, operand: Operand, g: Value) -> None:
        t, looping = self.t, self._layout.sections[s].count > 1
        match operand:
            case Near(j=j, before=before):
                sums = self._handed if before else self._near
                sums[j] = t.add(sums.get(j, 0.0), g)
            case Leaf(base=base, stride=stride, table=table):
                if looping and stride == 0 and table is None:
                    self._sum("G", base, g)
                else:
                    t.add_to(Address("G", base, stride, None if table is None else t.table(table)), g)
            case Fixed(node=node):
                if looping:
                    self._sum("B", node, g)
                else:
                    self._give(node, g)
            case Far(base=base, stride=stride, table=table):
                t.add_to(Address("B", base, stride, None if table is None else t.table(table)), g)

    def _sum(self, array: str, at: int, g: Value) -> None:
        """Add to one place in each iteration: a loop-carried sum."""
        phi, total = self._sums.get((array, at), (None, 0.0))
        if phi is None:
            phi = self.t.carry(self._loop, 0.0)
            total = phi.result
        self._sums[array, at] = phi, self.t.add(total, g)
