"""Writes one function of LLVM IR: instructions, blocks, and variables on the stack, which LLVM turns into registers."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import NotTypedError

__all__ = ["Budget", "Writer"]

#: The block that leaves the function without a result: the function itself answers the call.
BAIL = "bail"

#: A function of more instructions would take long to compile.
_MOST_LINES = 40_000


@dataclass(slots=True)
class Budget:
    """How many lines may still be written, each time that a program is followed: a call waits some 0.5 s at most."""

    left: int = 300_000


class Writer:
    """The lines of one function.

    Attributes:
        budget: Of all functions together.
        variables: What is allocated on the stack, at the beginning.
        lines: All other lines.
        section: The number of what is written between two places where paths meet: in it, each line is reached from
            the ones before.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget: Budget = budget
        self.variables: list[str] = []
        self.lines: list[str] = []
        self.section: int = 0
        self._count = 0

    def name(self, hint: str = "v") -> str:
        """A name that no other instruction or block has."""
        self._count += 1
        return f"{hint}{self._count}"

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append(text)
        self.budget.left -= 1
        if len(self.lines) > _MOST_LINES or self.budget.left < 0:
            raise NotTypedError("its code would be too long")

    def emit(self, text: str) -> str:
        """An instruction with a result, of which the name is given."""
        name = f"%{self.name()}"
        self.line(f"{name} = {text}")
        return name

    def allocate(self, kind: str, count: int = 1) -> str:
        """Room on the stack."""
        name = f"%{self.name('x')}"
        self.variables.append(f"{name} = alloca {kind}, i64 {count}, align 8")
        return name

    # --- blocks ---------------------------------------------------------------------------------------------

    def block(self, label: str) -> None:
        """Begin a block, to which the one before goes on unless it has ended."""
        if not self._has_ended():
            self.line(f"br label %{label}")
        self.lines.append(f"{label}:")
        self.section += 1

    def jump(self, label: str) -> None:
        """Go on at a block."""
        self.line(f"br label %{label}")
        self.lines.append(f"{self.name('dead')}:")
        self.section += 1

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Go on at one of two blocks."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")
        self.lines.append(f"{self.name('dead')}:")
        self.section += 1

    def bail_if(self, condition: str) -> None:
        """Leave the function without a result where something holds."""
        on = self.name("on")
        self.line(f"br i1 {condition}, label %{BAIL}, label %{on}, !prof !0")
        self.lines.append(f"{on}:")

    def bail(self) -> None:
        """Leave the function without a result."""
        self.jump(BAIL)

    def _has_ended(self) -> bool:
        return bool(self.lines) and self.lines[-1].startswith(("br ", "ret ", "unreachable"))

    # --- memory ---------------------------------------------------------------------------------------------

    def load(self, kind: str, place: str) -> str:
        return self.emit(f"load {kind}, ptr {place}, align 8")

    def store(self, kind: str, value: str, place: str) -> None:
        self.line(f"store {kind} {value}, ptr {place}, align 8")

    def at(self, base: str, words: int | str) -> str:
        """The address so many words, of eight bytes, behind another."""
        return base if words == 0 else self.emit(f"getelementptr i64, ptr {base}, i64 {words}")

    def text(self, head: str) -> str:
        """The whole function."""
        ending = [f"{BAIL}:", "ret i32 1"]
        body = [f"  {line}" for line in (*self.variables, *self.lines, *ending)]
        return "\n".join([f"{head} {{", *body, "}"])
