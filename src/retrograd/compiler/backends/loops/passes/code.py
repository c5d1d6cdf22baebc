"""A small SSA form: straight-line blocks and loops, written with value numbering and constant folding.

A value is a float (a constant) or a Ref. Memory is arrays of doubles; in a loop an address moves with the iteration.
An operation goes where all its operands are known: out of the loops in which none of them changes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from .....engine.numbers import same_bits
from ..layouts.operands import Beside, Carry, Constants, Far, Last, Leaf, Merged, Taken
from ..shapes.structure import Body

__all__ = ["COMPARED", "FOLDED", "Address", "Block", "Builder", "Loop", "Op", "Own", "Phi", "Ref", "Value", "steps_in"]


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """The result of an operation; ``boolean`` is the type of comparisons."""

    number: int
    boolean: bool = False

    def __hash__(self) -> int:
        return self.number  # not an address: sets of them are always in the same order


Value = Ref | float


@dataclass(frozen=True, slots=True)
class Address:
    """An element of an array in each iteration of a body: of the leaves (L), their gradients (G), what is kept (W), its
    adjoints (B), or a table (T and its number)."""

    array: str
    of: Leaf | Constants | Far | Own


@dataclass(frozen=True, slots=True, eq=False)
class Own:
    """A place in each iteration of a body for what its loop hands on, or what is no node."""

    frame: Body
    of: Carry | Last | Merged | Beside | Taken


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: its result, its name and operands; ``at`` where it is in memory; the user's line.

    In memory are a "load", a "store", and an "add to", which are both. What a "take" or a "get" reads, a "put" writes,
    or a "scatter" adds to, is at a place that is computed; their names end with the array's.
    """

    result: Ref | None
    name: str
    operands: tuple[Value, ...]
    at: Address | None = None
    source: int = 0


@dataclass(slots=True)
class Phi:
    """A value that an iteration takes from the one before it."""

    result: Ref
    start: Value | None  # None: only the value after the last iteration is of interest
    following: Value | None = None
    final: Ref | None = None  # the value after the last iteration
    is_sum: bool = False  # whether it is a sum that may be added up in another order


@dataclass(slots=True)
class Block:
    """Operations and loops in order; a "flag" ends the function with 1 where its operand is true."""

    steps: list[Op | Loop] = field(default_factory=list)
    known: dict[object, Value] = field(default_factory=dict)


@dataclass(slots=True)
class Loop:
    """The iterations of a body, the last one first if ``backward``."""

    of: Body
    backward: bool
    body: Block
    phis: list[Phi] = field(default_factory=list)
    goes_on: tuple[Ref, ...] = ()  # what it hands on that are 0 once no iteration changes anything
    once_more: bool = False  # an iteration after that may still end the function, and those that follow do the same
    taken: Address | None = None  # where it is kept which iteration was the last one then


def steps_in(block: Block) -> Iterator[Op | Loop]:
    """The operations and loops of a block, and those in its loops."""
    for step in block.steps:
        yield step
        if isinstance(step, Loop):
            yield from steps_in(step.body)


#: Arithmetic with numbers.
FOLDED: dict[str, Callable[..., float]] = {
    "fadd": operator.add,
    "fsub": operator.sub,
    "fmul": operator.mul,
    "fneg": operator.neg,
    "fabs": abs,
}
_ROUNDED: dict[str, Callable[[float], int]] = {
    "llvm.floor": math.floor,
    "llvm.ceil": math.ceil,
    "llvm.trunc": math.trunc,
}
#: What functions give of some constants, exactly.
_EXACT: dict[tuple[str, Value], float] = {
    **{(name, 0.0): 1.0 for name in ("exp", "exp2", "cos", "cosh")},
    **{(name, 1.0): 0.0 for name in ("log", "log2", "log10")},
    ("llvm.sqrt", 1.0): 1.0,
}
#: Comparisons of numbers, by their names.
COMPARED: dict[str, Callable[[float, float], bool]] = {
    "olt": operator.lt,
    "ole": operator.le,
    "ogt": operator.gt,
    "oge": operator.ge,
    "oeq": operator.eq,
    "une": operator.ne,
}


#: What writes an operation.
_WRITES = {
    "fadd": "add",
    "fsub": "sub",
    "fmul": "mul",
    "fneg": "neg",
    "fabs": "fabs",
    "select": "select",
    "and": "both",
    "or": "either",
    "not": "negated",
}

#: So many selections, one in another, a comparison looks through.
_DEEP = 3


class Builder:
    """Writes one function.

    Sums and products with zero are written out only if ``signed_zeros``: 0.0 + -0.0 is 0.0. Where what is not finite
    is computed again by other means, ``retried``, a NaN may stand for a number.
    """

    def __init__(self, signed_zeros: bool = False, retried: bool = False) -> None:
        self.signed_zeros, self.retried = signed_zeros, retried
        self.top: Block = Block()
        self.vanished: list[Value] = []  #: what was multiplied by zero, and so does not show in the result
        self.source: int = 0  #: the number of the user's line that is being written
        self._blocks = [self.top]
        self._count = 0
        self._constants: set[Ref] = set()
        self._called: dict[tuple[Value | str, ...], Ref] = {}
        self._selected: dict[Value, tuple[Ref, Value, Value]] = {}  # where one of two is a constant
        self._depths = [0]  # of the values by number; 0 is the seed
        self._least_depth = 0  # in a loop of one iteration or none: nothing leaves it

    # --- values -------------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How many loops the code is in that is being written."""
        return len(self._blocks) - 1

    def depth_of(self, value: Value) -> int:
        """In how many loops a value is computed."""
        return self._depths[value.number] if isinstance(value, Ref) else 0

    def _new(self, boolean: bool = False, depth: int | None = None) -> Ref:
        self._count += 1
        self._depths.append(self.depth if depth is None else depth)
        return Ref(self._count, boolean)

    def _op(self, name: str, *operands: Value, boolean: bool = False, at: Address | None = None) -> Ref:
        depth = least = self._least_depth
        if at is not None:
            depth, least = at.of.frame.depth, 0
        else:
            for operand in operands:
                if isinstance(operand, Ref) and self._depths[operand.number] > depth:
                    depth = self._depths[operand.number]
        key = (name, at, *[v if isinstance(v, Ref) else (v, math.copysign(1.0, v)) for v in operands])
        for number in range(len(self._blocks) - 1, least - 1, -1):
            if (known := self._blocks[number].known.get(key)) is not None:
                return known  # type: ignore[return-value]  # of an operation, a Ref
        result = self._new(boolean, depth)
        block = self._blocks[depth]
        block.known[key] = result
        block.steps.append(Op(result, name, operands, at, self.source))
        return result

    def _arithmetic(self, name: str, *operands: Value) -> Value:
        if not any(isinstance(v, Ref) for v in operands):
            return FOLDED[name](*operands)
        return self._op(name, *operands)

    def sum(self, a: Value, b: Value) -> Value:
        """A sum that may be added up in another order."""
        return self.add(a, b) if isinstance(a, float) or isinstance(b, float) else self._op("fadd reassoc", a, b)

    def add(self, a: Value, b: Value) -> Value:
        if not self.signed_zeros and (a == 0.0 or b == 0.0):
            return b if a == 0.0 else a
        return self._arithmetic("fadd", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        if not self.signed_zeros and b == 0.0:
            return a
        return self.neg(b) if not self.signed_zeros and a == 0.0 else self._arithmetic("fsub", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        for one, other in ((a, b), (b, a)):
            if one == 1.0:
                return other
            if one == -1.0:
                return self.neg(other)
            if one == 0.0 and isinstance(other, Ref) and not self.signed_zeros:
                self.vanished.append(other)
                return 0.0
        return self._arithmetic("fmul", a, b)

    def times_zero(self, a: Ref) -> Ref:
        """Zero where ``a`` is finite, else NaN."""
        return self._op("fmul", a, 0.0)

    def div(self, a: Value, b: Value) -> Value:
        if b == 1.0:
            return a
        if isinstance(a, float) and isinstance(b, float) and b != 0.0:
            return a / b
        if a == 0.0 and isinstance(b, Ref) and not self.signed_zeros:
            self.vanished.append(b)
            return 0.0
        if isinstance(b, float) and abs(math.frexp(b)[0]) == 0.5 and 2.0**-1000 < abs(b) < 2.0**1000:
            return self.mul(a, 1.0 / b)  # a power of two: the same bits
        return self._op("fdiv", a, b)

    def neg(self, a: Value) -> Value:
        return self._arithmetic("fneg", a)

    def fabs(self, a: Value) -> Value:
        return self._arithmetic("fabs", a)

    def call(self, name: str, *operands: Value) -> Value:
        """A function of the C library, or of LLVM's where it is an instruction (sqrt, floor, …)."""
        if name in _ROUNDED and isinstance(operands[0], float) and math.isfinite(operands[0]):
            return math.copysign(_ROUNDED[name](operands[0]), operands[0])
        if (exact := _EXACT.get((name, operands[0]))) is not None:
            return exact
        result = self._op(f"call {name}", *operands)
        self._called[name, *operands] = result
        return result

    def called(self, name: str, *operands: Value) -> Ref | None:
        """The result of a function that was called with these operands."""
        return self._called.get((name, *operands))

    def compare(self, test: str, a: Value, b: Value, *, deep: int = _DEEP) -> Ref | bool:
        if isinstance(a, float) and isinstance(b, float):
            return COMPARED[test](a, b)
        if isinstance(b, float) and deep and a in self._selected:  # what selects a constant decides
            condition, yes, no = self._selected[a]
            return self.either_of(
                condition, self.compare(test, yes, b, deep=deep - 1), self.compare(test, no, b, deep=deep - 1)
            )
        return self._op(f"fcmp {test}", a, b, boolean=True)

    def either_of(self, condition: Ref, yes: Ref | bool, no: Ref | bool) -> Ref | bool:
        """One of two truths, one of which is known."""
        if isinstance(no, bool):
            return self.both(condition, yes) if not no else self.either(self.negated(condition), yes)
        return self.either(condition, no) if yes else self.both(self.negated(condition), no)

    def both(self, a: Ref | bool, b: Ref | bool) -> Ref | bool:
        if isinstance(a, bool) or isinstance(b, bool):
            return (b if a is True else a) if isinstance(a, bool) else (a if b is True else b)
        return self._op("and", a, b, boolean=True)

    def either(self, a: Ref | bool, b: Ref | bool) -> Ref | bool:
        if isinstance(a, bool) or isinstance(b, bool):
            return (a if a is True else b) if isinstance(a, bool) else (b if b is True else a)
        return self._op("or", a, b, boolean=True)

    def negated(self, a: Ref | bool) -> Ref | bool:
        return (not a) if isinstance(a, bool) else self._op("not", a, boolean=True)

    def select(self, condition: Ref | bool, yes: Value, no: Value) -> Value:
        if isinstance(condition, bool):
            return yes if condition else no
        if isinstance(yes, float) and isinstance(no, float):
            same = yes == no and math.copysign(1.0, yes) == math.copysign(1.0, no)
        else:
            same = yes is no
        if same:
            return yes
        result = self._op("select", condition, yes, no)
        if isinstance(yes, float) or isinstance(no, float):
            self._selected[result] = condition, yes, no
        return result

    def truth_of(self, value: Value) -> Ref | bool | None:
        """The condition that a number is 1 or 0 by; None of other numbers."""
        if isinstance(value, float):
            return value == 1.0 if value == 1.0 or same_bits(value, 0.0) else None
        condition, one, zero = self._selected.get(value, (None, None, None))
        return condition if one == 1.0 and isinstance(zero, float) and same_bits(zero, 0.0) else None

    def again(self, op: Op, operands: Sequence[Value | bool]) -> Value:
        """What an operation of another function gives for other operands."""
        name, of = op.name, cast(list[Any], operands)
        if name.startswith("fcmp "):
            return cast(Value, self.compare(name.removeprefix("fcmp "), *of))
        return cast(Value, getattr(self, _WRITES[name])(*of))

    # --- memory and control -------------------------------------------------------------------------------

    def load(self, at: Address) -> Ref:
        """A number of an array that this function does not write, or has written for good."""
        result = self._op("load", at=at)
        if isinstance(at.of, Constants):
            self._constants.add(result)
        return result

    def is_constant(self, value: Value) -> bool:
        """Whether a value is a number of the program's, in each iteration another one perhaps."""
        return isinstance(value, float) or value in self._constants

    def get(self, array: str, place: Value) -> Ref:
        """The element of an array as it is now, at a place that this function computes."""
        result = self._new()
        self._blocks[-1].steps.append(Op(result, f"get {array}", (place,), None, self.source))
        return result

    def put(self, array: str, place: Value, value: Value) -> None:
        """Write to an array at a place that this function computes."""
        self._blocks[-1].steps.append(Op(None, f"put {array}", (place, value), None, self.source))

    def take(self, array: str, place: Value) -> Ref:
        """The element of an array that this function does not write, at a place that it computes."""
        return self._op(f"take {array}", place)

    def scatter_add(self, array: str, place: Value, value: Value) -> None:
        """Add to the element of an array at a place that this function computes."""
        if value != 0.0:
            self._blocks[-1].steps.append(Op(None, f"scatter {array}", (place, value), None, self.source))

    def load_again(self, at: Address) -> Ref:
        """A number as it is now."""
        result = self._new()
        self._blocks[-1].steps.append(Op(result, "load", (), at, self.source))
        return result

    def store(self, at: Address, value: Value) -> None:
        self._blocks[at.of.frame.depth].steps.append(Op(None, "store", (value,), at, self.source))

    def add_to(self, at: Address, value: Value) -> None:
        """Add to a number in memory."""
        if value != 0.0:
            self._blocks[-1].steps.append(Op(None, "add to", (value,), at, self.source))

    def flag(self, condition: Ref | bool) -> None:
        """End the function with 1 if the condition holds."""
        if condition is True:
            raise ValueError("a condition that always fails")
        block = self._blocks[self.depth_of(condition) if isinstance(condition, Ref) else -1]
        if condition is not False and ("flag", condition) not in block.known:
            block.known["flag", condition] = condition
            block.steps.append(Op(None, "flag", (condition,), None, self.source))

    @contextmanager
    def loop(self, of: Body, backward: bool = False) -> Iterator[Loop]:
        loop = Loop(of, backward, Block())
        self._blocks.append(loop.body)
        least = self._least_depth
        if of.optional:
            self._least_depth = self.depth
        try:
            yield loop
        finally:
            self._least_depth = least
            self._blocks.pop()
            self._blocks[-1].steps.append(loop)

    def carry(self, loop: Loop, start: Value) -> Phi:
        """A value that begins as ``start``; the caller sets what follows."""
        depth = loop.of.depth
        phi = Phi(self._new(depth=depth), start, final=self._new(depth=depth - 1))
        loop.phis.append(phi)
        return phi

    def add_up_in_any_order(self, loop: Loop, phi: Phi) -> None:
        """Let a sum that a loop carries be added up in another order, if that is what the value is."""
        if self.signed_zeros:
            return
        steps = loop.body.steps
        made = {
            step.result: i for i, step in enumerate(steps) if isinstance(step, Op) and step.name in ("fadd", "fsub")
        }
        inner = {each.final: each for step in steps if isinstance(step, Loop) for each in step.phis if each.is_sum}
        chain: list[int] = []
        value = phi.following
        while value != phi.result:
            if isinstance(value, Ref) and value in inner:
                value = inner[value].start
                continue
            if not isinstance(value, Ref) or value not in made:
                return
            chain.append(made[value])
            op = steps[chain[-1]]
            assert isinstance(op, Op)
            left, right = op.operands
            goes_on = (phi.result, *made, *inner)
            value = right if op.name == "fadd" and (right == phi.result or left not in goes_on) else left
        phi.is_sum = True
        for i in chain:
            op = steps[i]
            assert isinstance(op, Op)
            steps[i] = replace(op, name=f"{op.name} reassoc")

    def merged(self, loop: Loop, start: Value, value: Value) -> Value:
        """What a value was in the one iteration of a loop that has been written; ``start`` if it had none."""
        if value == start:
            return start
        depth = loop.of.depth
        final = self._new(depth=depth - 1)
        loop.phis.append(Phi(self._new(depth=depth), start, value, final))
        return final

    def last(self, loop: Loop, value: Value) -> Value:
        """What a value was in the last iteration of a loop that has been written."""
        if not isinstance(value, Ref) or self.depth_of(value) < loop.of.depth:
            return value
        for phi in loop.phis:
            if phi.following == value and phi.final is not None:
                return phi.final
        final = self._new(depth=loop.of.depth - 1)
        loop.phis.append(Phi(self._new(depth=loop.of.depth), None, value, final))
        return final
