"""The forward pass of a graph, in the SSA form: straight-line code and loops.

It is written twice: the backward pass, which is written in between, says which numbers it wants to read again.
"""

from __future__ import annotations

from . import formulas
from .code import Address, Builder, Loop, Phi, Ref, Value
from .graph import UnsupportedGraphError
from .layout import Constant, Constants, Far, Fixed, Layout, Leaf, Near, Operand, Position

__all__ = ["Forward"]

#: Rows whose partials are finite wherever their values are; those of others may not be at -1, 0 and 1, which a product
#: with zero can lead to.
_BOUNDED = {
    *(
        "add",
        "sum",
        "sub",
        "mul",
        "div",
        "neg",
        "square",
        "identity",
        "detach",
        "largest",
        "exp",
        "sin",
        "cos",
        "tanh",
        "relu",
        "abs",
    ),
    *("maximum", "minimum", "max", "min", "first_max", "first_min", "sigmoid", "where"),
}

#: Rows that tell -0.0 from 0.0.
_SIGN_OF_ZERO = {"atan2", "copysign", "reciprocal"}

#: A value that must be finite: by its number among those multiplied by zero, or the last one of a position of a loop.
Check = int | tuple[int, int]

#: Rows that map what is not finite to something that is not finite.
_PROPAGATING = {"add", "sum", "sub", "mul", "neg", "square", "identity"}


class Forward:
    """Writes the pass.

    Attributes:
        t: its code.
        values: the value of each position, in any iteration.
        operands: those of its operands.
    """

    def __init__(self, layout: Layout, stored: set[Position], checked: set[Check]) -> None:
        """
        Args:
            layout: the graph.
            stored: which positions to keep in memory.
            checked: which values must be finite, since something was multiplied by zero that they go into.
        """
        self.t = Builder(signed_zeros=not _SIGN_OF_ZERO.isdisjoint(layout.rows.values()))
        self.values: dict[Position, Value] = {}
        self.operands: dict[Position, list[Value]] = {}
        self.carried: dict[tuple[int, int], Phi] = {}  #: by section and position: its value one iteration before
        self.stored = stored
        self.layout, self._checked = layout, checked
        self._vanished: list[Value] = []  # all that was multiplied by zero, in order
        self._home: dict[Ref, tuple[Address, tuple[Position, ...]]] = {}
        for s, section in enumerate(layout.sections):
            if section.count == 1:
                self._write_body(s)
                self._check_vanished()
                continue
            with self.t.loop(section.count) as loop:
                self._loop = loop
                self._write_body(s)
                self._check_vanished()
            self._end_loop(s, loop)

    def home(self, value: Ref) -> Address:
        """Where the backward pass finds a value, if it is kept."""
        return self._home[value][0]

    def keep(self, value: Ref) -> None:
        """Store a value at its home."""
        self.stored.update(self._home[value][1])

    # --- one section ----------------------------------------------------------------------------------------

    def _write_body(self, s: int) -> None:
        section = self.layout.sections[s]
        for j in range(section.period):
            position = Position(s, j)
            row = self.layout.rows[position]
            self.t.source = int(self.layout.graph.sources[section.begin + j])
            operands = [self._read(position, operand) for operand in self.layout.operands[position]]
            self._refuse_unbounded(position, row, operands)
            value = formulas.value(self.t, row, operands)
            outside = formulas.outside(self.t, row, operands, value)
            if outside is True:
                raise UnsupportedGraphError("an operation that is always outside its domain")
            self.t.flag(outside)
            self.values[position], self.operands[position] = value, operands
            address = self._address(position)
            if isinstance(value, Ref):
                self._home.setdefault(value, (address, (position,)))
            if position in self.stored:
                self.t.store(address, value)

    def _address(self, position: Position) -> Address:
        section = self.layout.sections[position.section]
        return Address("W", section.begin + position.j, section.period if section.count > 1 else 0)

    def _refuse_unbounded(self, position: Position, row: str, operands: list[Value]) -> None:
        if row in _BOUNDED:
            return
        for operand, value in zip(self.layout.operands[position], operands, strict=True):
            constant = isinstance(value, float) and isinstance(operand, Near | Fixed | Far)
            if constant and self.layout.active[position] and value in (-1.0, 0.0, 1.0):
                raise UnsupportedGraphError(f"{row} of a product with zero")

    def _read(self, position: Position, operand: Operand) -> Value:
        t = self.t
        match operand:
            case Constant(number=number):
                return number
            case Constants(numbers=numbers):
                return self._load(Address(f"T{t.table(numbers)}", 0, 1))
            case Leaf(base=base, stride=stride, table=table):
                return self._load(Address("L", base, stride, None if table is None else t.table(table)))
            case Near(j=j, before=False):
                return self.values[Position(position.section, j)]
            case Near(j=j):
                return self._carry(position.section, j).result
            case Fixed(node=node):
                return self.node(node)
            case Far(base=base, stride=stride, table=table, nodes=nodes):
                positions = tuple(dict.fromkeys(self.layout.position_of(int(node))[0] for node in nodes))
                self.stored.update(positions)
                return self._load(Address("W", base, stride, None if table is None else t.table(table)), positions)

    def _load(self, address: Address, positions: tuple[Position, ...] = ()) -> Ref:
        ref = self.t.load(address)
        self._home[ref] = (address, positions)
        return ref

    def node(self, node: int) -> Value:
        """A node of an earlier section."""
        position, k = self.layout.position_of(node)
        section = self.layout.sections[position.section]
        value = self.values[position]
        if section.count == 1 or isinstance(value, float):
            return value
        phi = self.carried.get((position.section, position.j))
        if k == section.count - 1 and phi is not None and phi.final is not None:
            return phi.final
        self.stored.add(position)
        return self._load(Address("W", node), (position,))

    def _carry(self, s: int, j: int) -> Phi:
        """The value of a position one iteration before."""
        if (s, j) not in self.carried:
            section = self.layout.sections[s]
            first = section.begin - section.period + j
            with self.t.before():
                start = self.node(first)
            phi = self.t.carry(self._loop, start)
            self.carried[s, j] = phi
            homes = (Position(s, j), self.layout.position_of(first)[0])
            self._home[phi.result] = (Address("W", first, section.period), homes)
        return self.carried[s, j]

    def _end_loop(self, s: int, loop: Loop) -> None:
        section = self.layout.sections[s]
        for (of, j), phi in self.carried.items():
            if of == s and phi.final is not None:
                phi.following = self.values[Position(s, j)]
                self._home[phi.final] = (Address("W", section.end - section.period + j), (Position(s, j),))
                if (of, j) in self._checked:
                    self._check(phi.final)
        assert all(phi.following is not None for phi in loop.phis)

    # --- products with zero ---------------------------------------------------------------------------------

    def _check_vanished(self) -> None:
        for number, value in enumerate(self.t.vanished, len(self._vanished)):
            if isinstance(value, Ref) and number in self._checked:
                self._check(value)
        self._vanished += self.t.vanished
        self.t.vanished = []

    def _check(self, value: Ref) -> None:
        self.t.flag(self.t.compare("une", self.t.times_zero(value), 0.0))

    def unseen(self, root: int) -> set[Check]:
        """The values to check in the next writing: without them, something infinite that is multiplied by zero, which
        the engine makes a NaN of, would not show in the result."""
        layout = self.layout
        seen = {position for position in [layout.position_of(root)[0]] if self._shows(position, root)}
        finals: set[Check] = set()
        changed = True
        while changed:
            changed = False
            for user in [p for p in self.values if p in seen]:
                if layout.rows[user] not in _PROPAGATING or isinstance(self.values[user], float):
                    continue
                for operand in layout.operands[user]:
                    of = self._seen_through(user, operand, finals)
                    if of is not None and of not in seen:
                        seen.add(of)
                        changed = True
        visible = {value for position, value in self.values.items() if position in seen}
        missing: set[Check] = {i for i, v in enumerate(self._vanished) if isinstance(v, Ref) and v not in visible}
        return missing | (finals if self._vanished else set())

    def _shows(self, position: Position, root: int) -> bool:
        """Whether the position's values show in the result, in every iteration."""
        section = self.layout.sections[position.section]
        summed = Near(position.j, True) in self.layout.operands[position] and self.layout.rows[position] in _PROPAGATING
        return section.count == 1 or (summed and root == section.end - section.period + position.j)

    def _seen_through(self, user: Position, operand: Operand, finals: set[Check]) -> Position | None:
        """The position whose values show in those of ``user``, in every iteration."""
        match operand:
            case Near(j=j, before=before):
                if before:
                    finals.add((user.section, j))  # that of the last iteration does not
                return Position(user.section, j)
            case Fixed(node=node):
                position, _ = self.layout.position_of(node)
                return position if self.layout.sections[position.section].count == 1 else None
            case _:
                return None
