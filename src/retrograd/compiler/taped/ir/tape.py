"""The tape of taped code: how a node and its terms lie on it, and the sweep back over them.

A node that is computed has a *record* on the tape, in words of four bytes: the local derivatives that are not known
when the code is made, the nodes by which all of them are, and the number of its *shape*. The shape says how many there
are, and what the known ones are: most are 1 or -1, of sums. Nodes have their numbers in the order of their records, so
that the sweep counts them back. It is written for the shapes of a program, each with a case of its own:
``adjoint[by] += derivative * adjoint[node]``. As in the engine, an adjoint of 0 adds nothing, even if a derivative is
infinite.

Where the tape is full, records are written from its beginning again, and the caller, who sees how much it was, runs the
function once more with a larger one. Behind its end there is room for one more record.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...backends.llvm.ir_builder import constant, is_constant
from .context import word
from .writer import Writer

__all__ = ["ON_TAPE", "Tape"]

#: Of a local derivative that is not known, and of a node's number.
_NUMBER, _NODE = 2, 1

_ZERO, _ONE, _MINUS_ONE = constant(0.0), constant(1.0), constant(-1.0)

#: What the code of records calls.
ON_TAPE = f"""
define internal i32 @new_node(ptr %c, i1 %is_one) alwaysinline {{
  {word("nodes", "at")}
  %last = load i64, ptr %at, align 8
  %one = zext i1 %is_one to i64
  %next = add i64 %last, %one
  store i64 %next, ptr %at, align 8
  %number = trunc i64 %next to i32
  %node = select i1 %is_one, i32 %number, i32 0
  ret i32 %node
}}

define internal ptr @new_record(ptr %c, i64 %words) alwaysinline {{
  {word("tape", "tape.at")}
  {word("mask", "mask.at")}
  {word("used", "used.at")}
  %tape = load ptr, ptr %tape.at, align 8
  %mask = load i64, ptr %mask.at, align 8
  %before = load i64, ptr %used.at, align 8
  %more = add i64 %before, %words
  store i64 %more, ptr %used.at, align 8
  %place = and i64 %before, %mask
  %record = getelementptr i32, ptr %tape, i64 %place
  ret ptr %record
}}

define internal void @put_number(ptr %record, i64 %at, double %number) alwaysinline {{
  %place = getelementptr i32, ptr %record, i64 %at
  store double %number, ptr %place, align 4
  ret void
}}

define internal void @put_word(ptr %record, i64 %at, i32 %word) alwaysinline {{
  %place = getelementptr i32, ptr %record, i64 %at
  store i32 %word, ptr %place, align 4
  ret void
}}
"""


class Tape:
    """The shapes of the records that a program writes."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[int, tuple[str, ...]], int] = {}

    def put(self, w: Writer, terms: Sequence[tuple[str, str]], is_node: str) -> str:
        """Write the record of a node.

        Args:
            w: Where it is written.
            terms: The nodes of which it was computed, and the local derivatives.
            is_node: Whether it is one: else it was computed of floats alone.

        Returns:
            Its number; 0 if it is none.
        """
        computed = [one for one in terms if not is_constant(one[1])]
        known = [one for one in terms if is_constant(one[1])]
        shape = len(computed), tuple(derivative for _, derivative in known)
        number = 2 * self._shapes.setdefault(shape, len(self._shapes))
        node = w.emit(f"call i32 @new_node(ptr %context, i1 {is_node})")
        record = w.emit(f"call ptr @new_record(ptr %context, i64 {_words(shape)})")
        for i, (_, derivative) in enumerate(computed):
            w.line(f"call void @put_number(ptr {record}, i64 {_NUMBER * i}, double {derivative})")
        nodes = [operand for operand, _ in (*computed, *known)]
        kind = str(number) if is_node == "true" else w.emit(f"select i1 {is_node}, i32 {number}, i32 {number + 1}")
        for i, one in enumerate((*nodes, kind), _NUMBER * len(computed)):
            w.line(f"call void @put_word(ptr {record}, i64 {i}, i32 {one})")
        return node

    def sweep(self) -> str:
        """The function that goes back over the records, from ``last`` to ``first``; there are so many nodes."""
        cases: list[str] = []
        targets: list[str] = []
        for shape, number in self._shapes.items():
            targets += [f"i32 {2 * number}, label %node{number}", f"i32 {2 * number + 1}, label %float{number}"]
            cases += _case(shape, number)
        head = "define void @sweep(ptr noalias %first, ptr noalias %last, i64 %nodes, ptr noalias %adjoints)"
        return "\n".join(
            [f"{head} {{", *_NEXT, f"switch i32 %kind, label %over [ {' '.join(targets)} ]", *cases, _OVER]
        )


_NEXT = (
    "%end.at = alloca ptr, align 8",
    "%node.at = alloca i64, align 8",
    "store ptr %last, ptr %end.at, align 8",
    "store i64 %nodes, ptr %node.at, align 8",
    "br label %next",
    "next:",
    "%end = load ptr, ptr %end.at, align 8",
    "%is.over = icmp eq ptr %end, %first",
    "br i1 %is.over, label %over, label %one",
    "one:",
    "%kind.at = getelementptr i32, ptr %end, i64 -1",
    "%kind = load i32, ptr %kind.at, align 4",
)
_OVER = "over:\nret void\n}"


def _words(shape: tuple[int, tuple[str, ...]]) -> int:
    computed, known = shape
    return (_NUMBER + _NODE) * computed + _NODE * len(known) + 1


def _case(shape: tuple[int, tuple[str, ...]], number: int) -> list[str]:
    """What the sweep does for a record of a shape: of a node, and of what is none."""
    computed, known = shape
    lines = [
        f"float{number}:",
        f"%float{number}.begin = getelementptr i32, ptr %end, i64 {-_words(shape)}",
        f"store ptr %float{number}.begin, ptr %end.at, align 8",
        "br label %next",
        f"node{number}:",
        f"%begin{number} = getelementptr i32, ptr %end, i64 {-_words(shape)}",
        f"store ptr %begin{number}, ptr %end.at, align 8",
        f"%node{number}.is = load i64, ptr %node.at, align 8",
        f"%node{number}.before = sub i64 %node{number}.is, 1",
        f"store i64 %node{number}.before, ptr %node.at, align 8",
        f"%at{number} = getelementptr double, ptr %adjoints, i64 %node{number}.is",
        f"%adjoint{number} = load double, ptr %at{number}, align 8",
        f"%none{number} = fcmp oeq double %adjoint{number}, {_ZERO}",
        f"br i1 %none{number}, label %next, label %add{number}",
        f"add{number}:",
    ]
    for i in (*range(computed, computed + len(known)), *range(computed)):
        name = f"{number}.{i}"
        lines += [
            f"%by{name}.at = getelementptr i32, ptr %begin{number}, i64 {_NUMBER * computed + i}",
            f"%by{name} = load i32, ptr %by{name}.at, align 4",
            f"%to{name} = getelementptr double, ptr %adjoints, i32 %by{name}",
            f"%old{name} = load double, ptr %to{name}, align 8",
        ]
        derivative = f"%derivative{name}" if i < computed else known[i - computed]
        if i < computed:
            lines += [
                f"%derivative{name}.at = getelementptr i32, ptr %begin{number}, i64 {_NUMBER * i}",
                f"%derivative{name} = load double, ptr %derivative{name}.at, align 4",
            ]
        if derivative in (_ONE, _MINUS_ONE):
            lines.append(f"%new{name} = {'fadd' if derivative == _ONE else 'fsub'} double %old{name}, %adjoint{number}")
        else:
            lines += [
                f"%part{name} = fmul double {derivative}, %adjoint{number}",
                f"%new{name} = fadd double %old{name}, %part{name}",
            ]
        lines.append(f"store double %new{name}, ptr %to{name}, align 8")
    return [*lines, "br label %next"]
