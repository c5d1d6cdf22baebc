"""The SSA form as C99 statements."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable

import numpy as np

from ..loops.passes.backward import SEED
from ..loops.passes.code import Address, Block, Loop, Op, Phi, Ref, Value, steps_in
from ..loops.passes.storage import Places, Table
from ..loops.shapes.indices import Index, fit
from ..loops.shapes.structure import Body

__all__ = ["constant", "statements", "table_definition"]

_ARITHMETIC = {"fadd": "+", "fadd reassoc": "+", "fsub": "-", "fsub reassoc": "-", "fmul": "*", "fdiv": "/"}
#: Expressions of at most so many characters become part of the one that uses them; these need no parentheses.
_LONGEST, _ATOMS = 60, ("call", "load", "fabs")

_COMPARE = {"olt": "<", "ole": "<=", "ogt": ">", "oge": ">=", "oeq": "==", "une": "!="}


def constant(number: float) -> str:
    """A double in C."""
    if number != number:
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "(-INFINITY)"
    return repr(number) if math.copysign(1.0, number) > 0 else f"({number!r})"


def table_definition(name: str, table: Table) -> str:
    """A constant array."""
    if table.dtype == np.float64:
        kind, numbers = "double", [constant(float(x)) for x in table]
    else:
        kind, numbers = "int", [str(int(i)) for i in table]
    text = f"static const {kind} {name}[] = {{{', '.join(numbers)}}};"
    return "\n".join(textwrap.wrap(text, 118, subsequent_indent="  ", break_on_hyphens=False))


def statements(
    block: Block, prefix: str, places: Places, where: Callable[[int], str], failed: str = "NAN"
) -> list[str]:
    """The statements of a function's body.

    Args:
        block: the code.
        prefix: what the names of its variables begin with.
        places: what addresses are.
        where: the comment for a number of a source line; empty if there is none.
        failed: what the function returns where a flag is true.
    """
    writer = _Writer(prefix, _used_once(block), places, where, failed)
    writer.block(block)
    noted = any(isinstance(step, Loop) and _has_flags(step.body) for step in block.steps)
    return ["  int failed = 0;", *writer.lines] if noted else writer.lines


def _has_flags(block: Block) -> bool:
    return any(isinstance(step, Op) and step.name == "flag" for step in steps_in(block))


def _used_once(block: Block) -> set[int]:
    """The numbers of values that are used once, in the block that computes them: no variable needs to hold them."""
    uses: Counter[int] = Counter()
    here: set[int] = set()
    nested: set[int] = set()
    for step in block.steps:
        if isinstance(step, Loop):
            nested |= _used_once(step.body) - _handed_on(step)
            uses.update(dict.fromkeys(_mentioned(step), 2))
        else:
            uses.update(v.number for v in step.operands if isinstance(v, Ref))
            moves = step.name.startswith("get ") or (step.at is not None and step.at.array in ("G", "B"))
            if step.result is not None and not moves:  # nothing is stored there in between
                here.add(step.result.number)
    return nested | {number for number in here if uses[number] == 1}


def _handed_on(loop: Loop) -> set[int]:
    """What the next iteration gets: it must not be computed again when some loop-carried variables have moved on."""
    return {phi.following.number for phi in loop.phis if isinstance(phi.following, Ref)}


def _mentioned(loop: Loop) -> set[int]:
    values: list[Value | None] = [v for phi in loop.phis for v in (phi.start, phi.following)]
    numbers = {v.number for v in values if isinstance(v, Ref)}
    for step in loop.body.steps:
        if isinstance(step, Loop):
            numbers |= _mentioned(step)
        else:
            numbers.update(v.number for v in step.operands if isinstance(v, Ref))
    return numbers


class _Writer:
    def __init__(
        self,
        prefix: str,
        inlined: set[int],
        places: Places,
        where: Callable[[int], str],
        failed: str,
    ) -> None:
        self._failed = failed
        self.lines: list[str] = []
        self._places = places
        self._firsts: dict[Body, str] = {}  # of the loops around: with which ordinal they began
        self._prefix, self._inlined, self._where = prefix, inlined, where
        self._names: dict[int, str] = {SEED.number: "1.0"}
        self._indent, self._source = 1, 0
        self._remarks: dict[str, None] = {}  # they come before the next line

    def _name(self, value: Value) -> str:
        return self._names[value.number] if isinstance(value, Ref) else constant(value)

    def _line(self, text: str) -> None:
        margin = "  " * self._indent
        self.lines += [f"{margin}/* {remark} */" for remark in self._remarks if remark]
        self._remarks.clear()
        self.lines.append(margin + text)

    def block(self, block: Block) -> None:
        for step in block.steps:
            if isinstance(step, Loop):
                self._loop(step)
            else:
                self._comment(step.source)
                self._op(step)

    def _comment(self, source: int) -> None:
        if source and source != self._source:
            self._source = source
            self._remarks[self._where(source)] = None

    def _op(self, op: Op) -> None:
        operands = [self._name(v) for v in op.operands]
        if op.name == "store":
            assert op.at is not None
            self._line(f"{self._element(op.at)} = {operands[0]};")
        elif op.name == "add to":
            assert op.at is not None
            self._line(f"{self._element(op.at)} += {operands[0]};")
        elif op.name.startswith(("put ", "scatter ")):
            kind, array = op.name.split()
            self._line(f"{array}[(int)({operands[0]})] {'=' if kind == 'put' else '+='} {operands[1]};")
        elif op.name == "flag":
            self._flag(operands[0])
        else:
            assert op.result is not None
            expression = self._computed(op, operands)
            if op.result.number in self._inlined and len(expression) < _LONGEST:
                self._names[op.result.number] = expression if op.name.startswith(_ATOMS) else f"({expression})"
                return
            kind = "int" if op.result.boolean else "double"
            name = self._names[op.result.number] = f"{self._prefix}{op.result.number}"
            self._line(f"const {kind} {name} = {expression};")

    def _computed(self, op: Op, operands: list[str]) -> str:
        if op.at is not None:
            return self._element(op.at)
        name, _, array = op.name.partition(" ")
        if name in ("take", "get"):
            return f"{self._places.array(array)}[(int)({operands[0]})]"
        return _expression(op, operands, self._indent > 1)

    def _flag(self, condition: str) -> None:
        """In a loop it is noted: iterations that may be the last one would not run side by side."""
        self._line(f"failed |= {condition};" if self._indent > 1 else f"if ({condition}) return {self._failed};")

    def _loop(self, loop: Loop) -> None:
        body = loop.of
        assert body.parent is not None
        for phi in loop.phis:
            name = self._names[phi.result.number] = f"{self._prefix}{phi.result.number}"
            self._line(f"double {name} = {self._name(0.0 if phi.start is None else phi.start)};")
        k, count = f"k{body.depth}", self._sum(fit(body.parent, body.counts))
        last = str(int(count) - 1) if count.isdigit() else f"{count} - 1"
        if loop.backward and loop.taken is not None:
            last = f"(int){self._element(loop.taken)}"
        head = f"int {k} = {last}; {k} >= 0; --{k}" if loop.backward else f"int {k} = 0; {k} < {count}; ++{k}"
        first = self._sum(fit(body.parent, body.firsts))
        self._line(f"for ({head}) {{")
        self._indent += 1
        self._firsts[body] = "" if first == "0" else f"n{body.depth}"
        if first != "0":
            self._line(f"const int n{body.depth} = {first} + {k};")
            self._line(f"(void)n{body.depth};")
        self._source = 0
        self.block(loop.body)
        ended = " && ".join(f"{self._name(one)} == 0.0" for one in loop.goes_on)
        if loop.once_more:
            self._line(f"const int ended = {ended};")
            ended = "ended"
        self._hand_on(loop.phis)
        if loop.taken is not None and not loop.backward:
            self._line(f"{self._element(loop.taken)} = {k};")
        if ended:
            self._line(f"if ({ended}) break;")
        self._indent -= 1
        self._source = 0
        self._line("}")
        for phi in loop.phis:
            if phi.final is not None:
                self._names[phi.final.number] = self._names[phi.result.number]
        if self._indent == 1 and _has_flags(loop.body):
            self._line(f"if (failed) return {self._failed};")

    def _element(self, at: Address) -> str:
        array, index = self._places.element(at)
        return f"{array}[{self._sum(index)}]"

    def _sum(self, index: Index) -> str:
        """An index as a C expression."""
        terms = []
        if index.table is not None:
            body, entries = index.table
            terms.append(f"{self._places.table(entries)}[{self._counter(body, True)}]")
        for body, through, step in index.steps:
            counter = self._counter(body, through)
            terms.append(counter if step == 1 else f"{step} * {counter}")
        if index.base or not terms:
            terms.append(str(index.base))
        return " + ".join(terms)

    def _counter(self, body: Body, through: bool) -> str:
        """The number of a loop's iteration: in its instance, or its ordinal."""
        return (through and self._firsts[body]) or f"k{body.depth}"

    def _hand_on(self, phis: list[Phi]) -> None:
        """What follows, all at once: one may be another's value in this iteration."""
        carried = {phi.result for phi in phis}
        for phi in phis:
            assert phi.following is not None
            if phi.following in carried and phi.following != phi.result:
                self._line(f"const double next_{self._name(phi.result)} = {self._name(phi.following)};")
        for phi in phis:
            assert phi.following is not None
            if phi.following == phi.result:
                continue
            other = phi.following in carried
            following = f"next_{self._name(phi.result)}" if other else self._name(phi.following)
            self._line(f"{self._name(phi.result)} = {following};")


def _expression(op: Op, operands: list[str], in_loop: bool) -> str:
    # In a loop, to jump over a comparison costs more than to make it.
    match op.name.split():
        case ["fneg"]:
            return f"-{operands[0]}"
        case ["fabs"]:
            return f"fabs({operands[0]})"
        case ["fcmp", test]:
            return f"{operands[0]} {_COMPARE[test]} {operands[1]}"
        case ["and"]:
            return f"{operands[0]} {'&' if in_loop else '&&'} {operands[1]}"
        case ["or"]:
            return f"{operands[0]} {'|' if in_loop else '||'} {operands[1]}"
        case ["not"]:
            return f"!{operands[0]}"
        case ["select"]:
            return f"{operands[0]} ? {operands[1]} : {operands[2]}"
        case ["call", name]:
            return f"{name.removeprefix('llvm.')}({', '.join(operands)})"
    return f"{operands[0]} {_ARITHMETIC[op.name]} {operands[1]}"
