"""The forward pass of a graph, in the SSA form: straight-line code and loops.

It is written twice: the backward pass, which is written in between, says which numbers it wants to read again.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from .....ops.table import OPS
from ..graphs.graph import UnsupportedGraphError
from ..layouts.layout import Layout
from ..layouts.operands import Carry, Constant, Constants, Far, Last, Leaf, Merged, Near, NodeOperand, Operand
from ..shapes.structure import Body, Position
from . import formulas
from .code import Address, Builder, Loop, Own, Phi, Ref, Value
from .liveness import drop_dead
from .storage import Storage

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
    *("exp2", "expm1", "sinh", "cosh", "atan", "softplus", "erf", "sech2", "logistic_slope"),
    *("hypot", "tan", "asinh", "atanh", "log1p", "erfc", "silu", "gelu", "copysign", "degrees", "radians"),
    *(row.name for row in OPS if set(row.partials) == {"0"}),
}

#: Of other functions of one number, at which of these their partial is finite.
_FINITE_AT = {
    **dict.fromkeys(("sqrt", "log", "log2", "log10"), (1.0,)),
    **dict.fromkeys(("tan", "asinh"), (-1.0, 0.0, 1.0)),
    **dict.fromkeys(("asin", "acos", "atanh"), (0.0,)),
    "log1p": (0.0, 1.0),
    "cbrt": (-1.0, 1.0),
}

#: Rows that another function is computed with in little more time, which their partials are.
_BESIDE = {"sin": "cos", "cos": "sin"}

#: A value that must be finite: by its number among those multiplied by zero, or the last one that a loop hands on.
Check = int | Carry

#: Rows that map what is not finite to something that is not finite.
_PROPAGATING = {"add", "sum", "sub", "mul", "neg", "square", "identity"}


def _is_finite_at(row: str, values: Sequence[Value], operands: Sequence[Operand]) -> bool:
    """Whether the partials of a row are finite at constants."""
    if row == "pow" and isinstance(operands[1], Constant):
        base, exponent = values
        power = isinstance(base, float) and isinstance(exponent, float)
        return power and (base != 0.0 or exponent == 0.0 or exponent >= 1.0)  # type: ignore[operator]  # numbers
    return values[0] in _FINITE_AT.get(row, ())


class Forward:
    """Writes the pass.

    Attributes:
        t: its code.
        layout: the graph.
        storage: what is kept in memory.
        values: the value of each position, by its number, in any iteration.
        operands: those of its operands.
    """

    def __init__(
        self,
        layout: Layout,
        storage: Storage,
        checked: set[Check],
        retried: bool = False,
        separate: Set[Body] = frozenset(),
    ) -> None:
        """
        Args:
            layout: the graph.
            storage: which positions to keep in memory; the writing adds to them.
            checked: which values must be finite, since something was multiplied by zero that they go into.
            retried: whether a call that may leave a domain is computed again, through the nodes.
            separate: in which loops sines and cosines of one number are not computed together.
        """
        self.t: Builder = Builder(layout.tells_zeros_apart, retried)
        self._fixed: set[Value | None] = set()  # what is computed of constants, at which a product with zero arrived
        self.values: list[Value] = []
        self.operands: list[list[Value]] = []
        self.layout: Layout = layout
        self.storage: Storage = storage
        self._checked, self._separate = checked, separate
        self._vanished: list[Value] = []  # all that was multiplied by zero, in order
        self._homes: dict[Ref, NodeOperand | Own | Address] = {}
        self._read_before: dict[Operand, Value] = {}
        self._carried: dict[Body, list[tuple[Carry, Phi]]] = {}
        self._loops: dict[Body, Loop] = {}
        self._keep_far()
        self._write_items(layout.top)
        for root in storage.last_roots.values():
            self.t.store(Address("W", layout.at(root.frame, root.nodes)), self._read(root))
        drop_dead(self.t.top)

    def recalled(self, name: str, *operands: Value) -> Ref | None:
        """What a function gave for values of this pass, if it was called and its result has a home."""
        found = self.t.called(name, *operands)
        return found if found in self._homes else None

    def home(self, value: Ref) -> Address:
        """Where the backward pass finds a value, if it is kept."""
        home = self._homes[value]
        if isinstance(home, Address):
            return home
        if isinstance(home, Own):
            return Address("W", home)
        if isinstance(home, Last | Merged) or (isinstance(home, Carry) and not self.storage.is_regular(home)):
            return Address("W", self.storage.own_place(home))
        return Address("W", self.layout.at(home.frame, home.nodes))

    def keep(self, value: Ref) -> None:
        """Store a value at its home."""
        home = self._homes[value]
        if isinstance(home, Near):
            self.storage.keep_value(home.position)
        elif isinstance(home, Last | Merged) or (isinstance(home, Carry) and not self.storage.is_regular(home)):
            self.storage.keep_own(home)
        elif isinstance(home, Own):
            self.storage.keep_own(home.of)
        elif not isinstance(home, Address):
            self.storage.keep(*self.layout.targets(home))

    def is_kept(self, value: Ref) -> bool:
        """Whether a value is in memory in any case: this pass reads it there, or found it there."""
        home = self._homes.get(value)
        if isinstance(home, Carry):
            return self.storage.whole.issuperset(self.layout.targets(home)) and self.storage.is_regular(home)
        return isinstance(home, Address) or (isinstance(home, Near) and home.position in self.storage.whole)

    def loops_of_any_order(self) -> set[Body]:
        """The loops whose iterations do not wait for each other: they hand on sums at most."""
        return {body for body, loop in self._loops.items() if all(phi.is_sum or phi.start is None for phi in loop.phis)}

    def _keep_far(self) -> None:
        """What operands read from memory is kept there."""
        for operand in self.layout.first_use:
            if isinstance(operand, Far):
                self.storage.keep(*self.layout.targets(operand))
        for position, so_far in self.storage.accumulators.before.items():
            self.storage.keep(position, *self.layout.targets(so_far))

    # --- bodies ---------------------------------------------------------------------------------------------

    def _write_items(self, body: Body) -> None:
        for item in body.items:
            if isinstance(item, Position):
                self._write_position(item)
                self._check_vanished()
            else:
                self._write_loop(item)

    def _write_loop(self, body: Body) -> None:
        with self.t.loop(body) as loop:
            self._loops[body] = loop
            carried = self._carried[body] = []
            self._write_items(body)
            for carry, phi in carried:  # reading may add to them
                phi.following = self._read(carry.following)
                self.t.add_up_in_any_order(loop, phi)
                if carry in self.storage.owners:
                    self.t.store(Address("W", self.storage.own_place(carry)), phi.result)
        for carry, phi in carried:
            if carry in self._checked:
                assert phi.final is not None
                self._check(phi.final)

    def _write_position(self, position: Position) -> None:
        row, graph = self.layout.rows[position.number], self.layout.graph
        self.t.source = int(graph.sources[position.nodes[0]])
        if position in self.storage.accumulators.before:
            self._add_to_sum(position)
            return
        operands = [self._read(operand) for operand in self.layout.operands[position.number]]
        self._refuse_unbounded(position, row, operands)
        value = formulas.value(self.t, row, operands)
        outside = formulas.outside(self.t, row, operands, value)
        if outside is True:
            raise UnsupportedGraphError("an operation that is always outside its domain")
        self.t.flag(outside)
        self.values.append(value)
        self.operands.append(operands)
        if isinstance(value, Ref) and all(isinstance(one, float) or one in self._fixed for one in operands):
            self._fixed.add(value)
        if position in self.storage.accumulators.replaced:
            self._note_beside(position, value)
        elif isinstance(value, Ref) and isinstance(self._homes.get(value), Own | None):
            self._homes[value] = self._home_of(position, value)
        if row in _BESIDE and self.layout.active[position.number]:
            beside = self.t.call(_BESIDE[row], *operands)
            if self._home_of(position, beside).frame not in self._separate:
                self._note_beside(position, beside)
        if position in self.storage.whole:
            self.t.store(Address("W", self.layout.at(position.body, position.nodes)), value)
        elif position in self.storage and isinstance(value, Ref):
            self.t.store(self.home(value), value)

    def _add_to_sum(self, position: Position) -> None:
        """Add to a sum in memory, which no position of this iteration reads."""
        so_far = self.storage.accumulators.before[position]
        operands = self.layout.operands[position.number]
        added = [0.0 if operand is so_far else self._read(operand) for operand in operands]
        value = added[1] if operands[0] is so_far else added[0]
        self.t.add_to(Address("W", so_far), self.t.neg(value) if self.layout.rows[position.number] == "sub" else value)
        self.values.append(value)
        self.operands.append(added)

    def _note_beside(self, position: Position, value: Value) -> None:
        """What has no place among a position's nodes, and that the backward pass may read again."""
        if not isinstance(value, Ref) or value in self._homes:
            return
        near = self._home_of(position, value)
        of = self.storage.beside(position, near.frame, near.nodes)
        self._homes[value] = self.storage.own_place(of)
        if of in self.storage.owners:
            self.t.store(self.home(value), value)

    def _home_of(self, position: Position, value: Value) -> Near:
        """A position in the body in which its value changes."""
        body, nodes = position.body, position.nodes
        while body.parent is not None and not body.optional and body.depth > self.t.depth_of(value):
            body, nodes = body.parent, nodes[body.firsts]
        return Near(body, nodes, position)

    def _is_fixed(self, position: Position) -> bool:
        """Whether a position has a constant, or what is computed of such."""
        value = self.values[position.number] if position.number < len(self.values) else None
        return isinstance(value, float) or value in self._fixed

    def _refuse_unbounded(self, position: Position, row: str, operands: list[Value]) -> None:
        if row in _BOUNDED or formulas.is_selecting(row) or not self.layout.active[position.number]:
            return
        of = self.layout.operands[position.number]
        for operand, value in zip(of, operands, strict=True):
            fixed = value in (-1.0, 0.0, 1.0) or value in self._fixed
            if fixed and isinstance(operand, NodeOperand) and not _is_finite_at(row, operands, of):
                raise UnsupportedGraphError(f"{row} of a product with zero")

    # --- operands -------------------------------------------------------------------------------------------

    def _read(self, operand: Operand) -> Value:
        if isinstance(operand, Constant):
            return operand.number
        if isinstance(operand, Near):
            return self.values[operand.position.number]
        if operand not in self._read_before:
            self._read_before[operand] = self._found(operand)
        return self._read_before[operand]

    def _found(self, operand: Constants | Leaf | Last | Carry | Merged | Far) -> Value:
        match operand:
            case Constants():
                return self._load(Address("T", operand))
            case Leaf():
                return self._load(Address("L", operand))
            case Far():
                found = self._load(Address("W", operand))
                if all(map(self._is_fixed, self.layout.targets(operand))):
                    self._fixed.add(found)
                return found
            case Last(frame=frame, position=position):
                value, body = self.values[position.number], position.body
                while body is not frame:
                    value = self.t.last(self._loops[body], value)
                    assert body.parent is not None
                    body = body.parent
                if self._is_fixed(position):
                    self._fixed.add(value)
                self._note_home(value, operand)
                return value
            case Merged(position=position, otherwise=otherwise):
                before: Value = 0.0 if otherwise is None else self._read(otherwise)
                value = self.t.merged(self._loops[position.body], before, self.values[position.number])
                self._note_home(value, operand)
                return value
            case Carry(frame=frame, start=start):
                phi = self.t.carry(self._loops[frame], self._read(start))
                self._carried[frame].append((operand, phi))
                self._homes[phi.result] = operand
                return phi.result

    def _note_home(self, value: Value, operand: Last | Merged) -> None:
        if isinstance(value, Ref):
            self._homes.setdefault(value, operand)
        if operand in self.storage.owners:
            self.t.store(Address("W", self.storage.own_place(operand)), value)

    def _load(self, address: Address) -> Ref:
        ref = self.t.load(address)
        self._homes[ref] = address
        return ref

    # --- products with zero ---------------------------------------------------------------------------------

    def _check_vanished(self) -> None:
        for number, value in enumerate(self.t.vanished, len(self._vanished)):
            if isinstance(value, Ref) and number in self._checked:
                self._check(value)
        self._vanished += self.t.vanished
        self.t.vanished = []

    def _check(self, value: Ref) -> None:
        self.t.flag(self.t.compare("une", self.t.times_zero(value), 0.0))

    def unseen_by_some(self) -> set[Check]:
        """The values to check where there are several results: what is multiplied by zero must show in each of them."""
        found: set[Check] = {i for i, value in enumerate(self._vanished) if isinstance(value, Ref)}
        return found | {carry for carried in self._carried.values() for carry, _ in carried} if found else found

    def unseen(self, roots: Sequence[int]) -> set[Check]:
        """The values to check in the next writing: without them, something infinite that is multiplied by zero, which
        the engine makes a NaN of, would show in none of the results, which are all checked."""
        if not self._vanished:
            return set()
        layout = self.layout
        finals: set[Check] = set()
        shown = [self._seen_through(layout.node(root), finals) for root in roots]
        seen = {position for position in shown if position is not None}
        left = [*seen]
        while left:
            user = left.pop()
            if layout.rows[user.number] not in _PROPAGATING or isinstance(self.values[user.number], float):
                continue
            for operand in layout.operands[user.number]:
                of = self._seen_through(operand, finals)
                if of is not None and of not in seen:
                    seen.add(of)
                    left.append(of)
        visible = {self.values[position.number] for position in seen}
        missing: set[Check] = {i for i, v in enumerate(self._vanished) if isinstance(v, Ref) and v not in visible}
        return missing | finals

    def _seen_through(self, operand: Operand, finals: set[Check]) -> Position | None:
        """The position whose values show in an operand's, in every iteration."""
        match operand:
            case Near(position=position):
                return position
            case Last(frame=frame, position=position) if position.body.parent is frame:
                return position if self._is_summed(position) else None
            case Carry(following=Near(position=position)):
                finals.add(operand)  # that of the last iteration does not
                return position
            case _:
                return None

    def _is_summed(self, position: Position) -> bool:
        """Whether a position's values go into those of the next iteration, and so into the last one."""
        return self.layout.rows[position.number] in _PROPAGATING and any(
            isinstance(operand, Carry)
            and operand.frame is position.body
            and isinstance(operand.following, Near)
            and operand.following.position is position
            for operand in self.layout.operands[position.number]
        )
