"""The backward pass of a graph, in the SSA form: the bodies in reverse order, each loop from its last iteration.

The adjoint of an operand is summed up in its frame. Users in inner loops add to a loop-carried sum; a Carry's goes to
what it follows, one iteration earlier; what is Far adds to memory (the array B), once in an iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..graphs.arrays import GET, PUT
from ..graphs.takes import take_of
from ..layouts.layout import Layout
from ..layouts.operands import Carry, Constant, Constants, Far, Last, Leaf, Merged, Operand
from ..shapes.structure import Body, Position
from . import formulas
from .code import Address, Builder, Loop, Op, Phi, Ref, Value, steps_in
from .forward import Forward
from .liveness import drop_dead

__all__ = ["SEED", "Backward"]

#: The value that the pass begins with: the gradient of the result.
SEED = Ref(0)


@dataclass(frozen=True, slots=True)
class _Handed:
    """An operand whose adjoint goes to what it was an iteration before, ``following``; in the first one ``start``."""

    operand: Operand
    following: Operand
    start: Operand


class _Recalling(Builder):
    """Asks first whether the other pass has called a function with these operands."""

    def __init__(self, retried: bool, recalled: Callable[[str, Sequence[Value]], Value | None]) -> None:
        super().__init__(retried=retried)
        self._recalled = recalled

    def call(self, name: str, *operands: Value) -> Value:
        found = self._recalled(name, operands)
        return super().call(name, *operands) if found is None else found


class Backward:
    """Writes the pass.

    Attributes:
        t: its code.
        in_memory: the positions that get adjoints through memory.
    """

    def __init__(
        self, layout: Layout, forward: Forward, retried: bool, recomputed: Mapping[Ref, Op] | None = None
    ) -> None:
        """
        Args:
            layout: the graph.
            forward: its forward pass.
            retried: whether a gradient that is not finite is computed again, through the nodes.
            recomputed: what is computed again of the forward pass, and how; the rest that is needed of it is read.
        """
        self.t: _Recalling = _Recalling(retried, self._recalled)
        self._layout, self._forward = layout, forward
        self._pending: dict[Operand, Value] = {}  # adjoints, in the iteration that is being written
        self._sums: list[dict[Operand | Position, Value]] = []  # of each loop: what goes to outer bodies
        self._recomputed = recomputed or {}
        self._again_of: dict[int, Ref] = {}  # the forward pass's value that one of this pass is again
        self._flushed: dict[Position | Body, list[Operand]] = {}
        self._handed: dict[Body, list[_Handed]] = {}
        self._around = [layout.top]  # the bodies that are being written, one in another
        self._note_operands()
        self.in_memory: set[Position] = {
            position
            for operand in self._given()
            if isinstance(operand, Far) and layout.is_active(operand)
            for position in layout.targets(operand)
        }
        kind, root = layout.graph.roots[0]
        if kind == 2:
            operand = layout.node(root)
            if layout.is_active(operand):
                self._add(operand, SEED)
                if isinstance(operand, Far):
                    self.in_memory.update(layout.targets(operand))
                    self._flush(operand)
        elif kind == 0 and layout.graph.wanted[root]:
            self.t.add_to(Address("G", layout.leaf(root)), SEED)
        self._write_items(layout.top)
        drop_dead(self.t.top)
        #: What is needed of the forward pass.
        self.needed: set[Ref] = {
            self._again_of[step.result.number]
            for step in steps_in(self.t.top)
            if isinstance(step, Op) and step.result is not None and step.result.number in self._again_of
        }

    def recalled_by(self, value: Ref) -> Ref | None:
        """The value of the forward pass that one of this pass is again."""
        return self._again_of.get(value.number)

    def keep_needed(self) -> None:
        """Let the forward pass keep what this one reads."""
        for value in self.needed - self._recomputed.keys():
            self._forward.keep(value)

    def _given(self) -> set[Operand]:
        """The operands that get an adjoint: of positions that have one, and what hands theirs on."""
        layout, found = self._layout, set[Operand]()
        left = [
            o
            for position in layout.positions
            if layout.active[position.number]
            for o in layout.differentiated(position)
        ]
        while left:
            operand = left.pop()
            if operand in found:
                continue
            found.add(operand)
            if isinstance(operand, Carry):
                left += (operand.following, operand.start)
            elif isinstance(operand, Merged) and operand.otherwise is not None:
                left.append(operand.otherwise)
        return found

    def _note_operands(self) -> None:
        """When each operand's adjoint is complete, and where it goes."""
        layout = self._layout
        for operand, item in layout.first_use.items():
            if isinstance(operand, Constant | Constants) or not layout.is_active(operand):
                continue
            if isinstance(operand, Leaf) and (ahead := layout.ahead_of(operand)) is not None:
                handed = _Handed(operand, ahead, layout.first_of(operand))
                self._handed.setdefault(operand.frame, []).append(handed)
            elif isinstance(operand, Far | Leaf):
                self._flushed.setdefault(item, []).append(operand)
            elif isinstance(operand, Carry):
                handed = _Handed(operand, operand.following, operand.start)
                self._handed.setdefault(operand.frame, []).append(handed)

    # --- bodies ---------------------------------------------------------------------------------------------

    def _write_items(self, body: Body) -> None:
        for item in reversed(body.items):
            if isinstance(item, Body):
                self._write_loop(item)
            else:
                self._write_position(item)
            for operand in self._flushed.get(item, ()):
                self._flush(operand)

    def _write_position(self, position: Position) -> None:
        number, layout = position.number, self._layout
        if not layout.active[number]:
            return
        if layout.rows[number] == PUT:
            self._write_put(position)
            return
        near = layout.near(position)
        g = self._pending.pop(near, 0.0)
        if position in self.in_memory:
            g = self.t.add(g, self.t.load_again(Address("B", layout.at(position.body, position.nodes))))
        self._write_partials(position, g)

    def _write_partials(self, position: Position, g: Value) -> None:
        """The contributions of a position's adjoint to its operands'; out of the loops in which no operand changes."""
        if g == 0.0:
            return
        operands = self._layout.operands[position.number]
        frames = [operand.frame for operand in operands if not isinstance(operand, Constant)]
        is_get = self._layout.rows[position.number] == GET
        moves = self._sums and not position.body.optional and not is_get
        if moves and all(frame.depth < self.t.depth for frame in frames):
            sums = self._sums[-1]
            sums[position] = self.t.add(sums.get(position, 0.0), g)
            return
        row = self._layout.rows[position.number]
        self.t.source = int(self._layout.graph.sources[position.nodes[0]])
        result = self._forward.values[position.number]
        values = [self._again(value) for value in self._forward.operands[position.number]]
        so_far = self._forward.storage.accumulators.before.get(position)
        for which, operand in enumerate(operands if not formulas.is_selecting(row) else ()):
            if operand is not so_far and self._layout.is_active(operand):  # that sum has the same adjoint already
                contribution = formulas.partial(self.t, row, which, values, lambda: self._again(result), g)
                if contribution != 0.0:
                    self._add(operand, contribution)
        if (take := take_of(row)) is not None and take.wanted:
            self.t.scatter_add("G", take.place(self.t, *values), g)
        if is_get:
            self.t.scatter_add("B", values[0], g)

    def _write_put(self, position: Position) -> None:
        """What was put has the adjoint of the cell; what was there before, none."""
        self.t.source = int(self._layout.graph.sources[position.nodes[0]])
        place = self._again(self._forward.operands[position.number][0])
        _, new = self._layout.operands[position.number]
        if self._layout.is_active(new):
            self._add(new, self.t.get("B", place))
        self.t.put("B", place, 0.0)

    def _add(self, operand: Operand, g: Value) -> None:
        """Add to the adjoint of an operand."""
        assert not isinstance(operand, Constant)
        sums = self._pending if operand.frame.depth == self.t.depth else self._sums[-1]
        sums[operand] = self.t.add(sums.get(operand, 0.0), g)

    def _flush(self, operand: Operand) -> None:
        g = self._pending.pop(operand, 0.0)
        match operand:
            case Leaf():
                self.t.add_to(Address("G", operand), g)
            case Far():
                self.t.add_to(Address("B", operand), g)

    def _again(self, value: Value) -> Value:
        """A number of the forward pass, which is kept if this turns out to be used; or is computed again."""
        if not isinstance(value, Ref):
            return value
        op = self._recomputed.get(value)
        if op is not None:
            found = self.t.again(op, [self._again(operand) for operand in op.operands])
        else:
            found = self.t.load(self._forward.home(value))
        if isinstance(found, Ref):
            self._again_of.setdefault(found.number, value)
        return found

    def _recalled(self, name: str, operands: Sequence[Value]) -> Value | None:
        """What the forward pass has called a function for: cos(x), where sin(x) is looked at."""
        numbers = [v if isinstance(v, float) else self._again_of.get(v.number) for v in operands]
        found = None if None in numbers else self._forward.recalled(name, *(v for v in numbers if v is not None))
        if found is None or self._forward.home(found).of.frame not in self._around:
            return None
        return self._again(found)

    # --- loops ----------------------------------------------------------------------------------------------

    def _write_loop(self, body: Body) -> None:
        entering = [
            (operand, self._pending.pop(operand))
            for operand in list(self._pending)
            if isinstance(operand, Last) and operand.position.body.within(body)
        ]
        in_turn = [each for each in self._pending if isinstance(each, Merged) and each.position.body is body]
        merged = [(operand, self._pending.pop(operand)) for operand in in_turn]
        with self.t.loop(body, backward=True) as loop:
            self._sums.append({})
            self._around.append(body)
            handed = [(each, self.t.carry(loop, 0.0)) for each in self._handed.get(body, ())]
            self._enter(loop, entering, handed)
            turns = [(operand, self._enter_merged(loop, operand, g)) for operand, g in merged]
            self._write_items(body)
            for each, phi in handed:
                phi.following = self._pending.pop(each.operand, 0.0)
            self._around.pop()
            sums = [(of, self.t.carry(loop, 0.0), g) for of, g in self._sums.pop().items()]
            for _, phi, g in sums:
                phi.following = self.t.sum(phi.result, g)
        for operand, phi in turns:
            if operand.otherwise is not None and self._layout.is_active(operand.otherwise):
                assert phi.final is not None
                self._add(operand.otherwise, phi.final)
        for each, phi in handed:
            if phi.following == 0.0 or not self._layout.is_active(each.start):
                continue
            assert phi.final is not None
            if isinstance(each.start, Leaf):
                self.t.add_to(Address("G", each.start), phi.final)
            else:
                self._add(each.start, phi.final)
        for of, phi, _ in sums:
            assert phi.final is not None
            if isinstance(of, Position):
                self._write_partials(of, phi.final)
            else:
                self._add(of, phi.final)

    def _enter_merged(self, loop: Loop, operand: Merged, g: Value) -> Phi:
        """The adjoint of what the loop's one iteration computes; it is left over if there is none."""
        phi = self.t.carry(loop, g)
        phi.following = 0.0
        near = self._layout.near(operand.position)
        if self._layout.is_active(near):
            self._add(near, phi.result)
        return phi

    def _enter(self, loop: Loop, entering: list[tuple[Last, Value]], handed: list[tuple[_Handed, Phi]]) -> None:
        """What comes from after the loop, and from the iteration that follows."""
        body = loop.of
        coming: dict[Operand, Value] = {}
        for last, g in entering:
            inner = self._layout.last_in(body, last.position)
            coming[inner] = g
        for each, phi in handed:
            if not self._layout.is_active(each.following):
                continue
            if each.following in coming and phi.start == 0.0:
                phi.start = coming.pop(each.following)
            self._add(each.following, phi.result)
        for operand, g in coming.items():
            phi = self.t.carry(loop, g)
            phi.following = 0.0
            self._add(operand, phi.result)
