"""How a node and its local derivatives are written: in symbols (``f.data``), and in LaTeX.

Both follow from the rules as a textbook prints them (:mod:`retrograd.ops.textbook`), or else from the op table. In
symbols a choice such as ``select(a <= 0, 0, 1)`` is written as the side that was taken, because the pass computed that
side; in LaTeX the whole rule stands.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from ..engine.reference import libm
from ..ops import BY_NAME, NaryOp, Op, formula
from ..ops.textbook import NAMES, TEXTBOOK
from .notation import ATOM, INFIX, LATEX, MANY, MINUS, PRODUCT, SEQUENCES, TEXT, Written, fill, form, write

__all__ = ["Derivatives", "Operand", "formula_latex", "formula_text"]


@dataclass(frozen=True, slots=True)
class Operand:
    """What a formula needs to know of an operand, or of the result: its name, its data, whether it is a constant."""

    name: str
    data: float
    constant: bool = False

    @property
    def text(self) -> Written:
        """``a.data``, or the number of a constant."""
        return _signed(repr(self.data)) if self.constant else (f"{self.name}.data", ATOM)

    @property
    def latex(self) -> str:
        if not self.constant:
            return _latex_name(self.name)
        shown = f"{self.data:g}".replace("inf", r"\infty").replace("nan", r"\mathrm{NaN}")
        return f"({shown})" if shown.startswith("-") else shown


def _signed(text: str) -> Written:
    """A name or a number; a sign before it binds less tightly."""
    return text, MINUS if text.startswith("-") else ATOM


@lru_cache(maxsize=100_000)
def _latex_name(name: str) -> str:
    """LaTeX for a name: ``x1`` is x with an index, longer names are set upright."""
    if match := re.fullmatch(r"([A-Za-z]+)(?:\[(\d+)\]|_?(\d+))", name):
        stem = match[1] if len(match[1]) == 1 else rf"\mathrm{{{match[1]}}}"
        return f"{stem}_{{{match[2] or match[3]}}}"
    if len(name) == 1 and name.isalpha():
        return name
    harmless = "".join(c if c.isalnum() or c in "_ .,'()[]/+=:-" else "." for c in name).replace("_", r"\_")
    return rf"\mathrm{{{harmless}}}"


# --- the forward formula --------------------------------------------------------------------------


def formula_text(row: str, label: str, operands: Sequence[str], index: int = 0) -> str:
    """How a node was computed: ``a * b``, ``tanh(n)``, ``dot([a, b], [c, d])``. ``label`` names a user-made node."""
    key = INFIX.get(row, label if row == "user" and not label.isidentifier() else "")
    if key in TEXT.forms and len(operands) == (1 if key == "minus" else 2):
        return form(TEXT, key, [*map(_signed, operands)])[0]
    if row == "user" and len(operands) == 1 and re.fullmatch(r"\*\*-?[0-9.]+", label):
        return form(TEXT, "**", [_signed(operands[0]), ("", ATOM)])[0].replace(" ** ", label)
    if row == "dot":
        half = len(operands) // 2
        return f"dot([{', '.join(operands[:half])}], [{', '.join(operands[half:])}])"
    call = f"{row if row != 'user' else label or 'user'}({', '.join(operands)})"
    return f"{call}[{index}]" if row == "softmax" else call


def formula_latex(row: str, label: str, operands: Sequence[Operand], index: int = 0) -> str:
    """The right-hand side of a node in LaTeX."""
    names = [operand.latex for operand in operands]
    if isinstance(BY_NAME.get(row), Op):
        return form(LATEX, row, [(name, ATOM) for name in names])[0]
    if row in SEQUENCES:
        term, between, none = SEQUENCES[row]
        half = len(names) // 2
        terms = zip(names[:half], names[half:], strict=True) if row == "dot" else ((name,) for name in names)
        return between.join(_abridged([fill(term, *operands) for operands in terms])) or none
    name = _latex_name(label or "user") if row == "user" else rf"\mathrm{{{row}}}"
    text = rf"{name}\left({', '.join(_abridged(names))}\right)"
    return f"{text}_{{{index}}}" if row == "softmax" else text


def _abridged(parts: Sequence[str]) -> list[str]:
    return list(parts) if len(parts) < MANY else [*parts[:2], r"\ldots", parts[-1]]


# --- local derivatives ----------------------------------------------------------------------------


class Derivatives:
    """The local derivatives of one node, ``result``, with respect to its operands."""

    def __init__(self, row: str, operands: Sequence[Operand], result: Operand) -> None:
        self.row: Op | NaryOp | None = BY_NAME.get(row)
        self.operands = operands
        self.result = result
        self.ties: float = float(sum(operand.data == result.data for operand in operands))

    def text(self, slot: int, local: float) -> str:
        """One local derivative in symbols, fit to be a factor: ``b.data``."""
        if self.row is None:
            return repr(local)
        partial, around = self.partial(self.row, slot, local)
        names = {name: operand.text for name, operand in around.items()}
        text, level = write(_parsed(partial, (*around, *NAMES)), TEXT, names, lambda tree: _holds(tree, around))
        return text if level >= PRODUCT else fill(TEXT.wrap, text)

    def latex(self, slot: int, local: float) -> str:
        """The whole rule: ``\\frac{\\partial d}{\\partial a} = b``."""
        left = rf"\frac{{\partial {self.result.latex}}}{{\partial {self.operands[slot].latex}}}"
        if self.row is None:
            return f"{left} = {local:g}"
        partial, around = self.partial(self.row, slot, local)
        names = {name: (operand.latex, ATOM) for name, operand in around.items()}
        return f"{left} = {write(_parsed(partial, (*around, *NAMES)), LATEX, names)[0]}"

    def partial(self, row: Op | NaryOp, slot: int, local: float) -> tuple[str, dict[str, Operand]]:
        """The formula of one slot's partial, and what its variables stand for there."""
        operands, result = self.operands, self.result
        if isinstance(row, Op):
            printed = TEXTBOOK.get(row.name, row)
            return printed.partials[slot], {**dict(zip("abc", operands, strict=False)), "y": result}
        if row.name == "prod" and 1 < len(operands) < MANY:
            others = {f"x{k}": operand for k, operand in enumerate(operands) if k != slot}
            return " * ".join(others), others
        if row.name == "logsumexp" and math.isfinite(result.data):
            if self.share_as_written(slot, local):
                return "exp(a - y)", {"a": operands[slot], "y": result}
            return "rest", {"rest": Operand("rest", local, True)}
        half = len(operands) // 2
        which, position = divmod(slot, half) if row.paired else (0, slot)
        around = {"y": result, "a": operands[position]}
        if row.paired:
            around["b"] = operands[half + position]
        around["n"] = Operand("n", float(len(operands)), True)
        around["ties"] = Operand("ties", self.ties, True)
        rest = libm.divide(local, result.data) if row.name == "softmax" else local
        around["rest"] = Operand("rest", rest, True)
        return row.partials[which], around

    def share_as_written(self, slot: int, local: float) -> bool:
        """Whether ``exp(a - y)``, computed from the numbers shown, is the local derivative that logsumexp used.

        For very large operands ``y`` is rounded to the largest one and it is not; then the number is written.
        """
        difference = self.operands[slot].data - self.result.data
        return difference < 1.0 and math.isclose(math.exp(difference), local, rel_tol=1e-9, abs_tol=1e-300)


_parsed = cache(formula.parse)


def _holds(condition: ast.expr, around: Mapping[str, Operand]) -> bool:
    names = tuple(sorted(around))
    return bool(_condition(ast.unparse(condition), names)(*[around[name].data for name in names]))


@cache
def _condition(source: str, names: tuple[str, ...]) -> Callable[..., bool]:
    tree = formula.parse(source, names)
    return formula.compile_python(tree, ", ".join(names), {**libm.PRIMITIVES, "div": libm.divide})
