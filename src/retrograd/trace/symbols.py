"""How a node and its local derivatives are written: in symbols (``f.data``), and in LaTeX.

Both come from the formulas of the op table. In symbols a choice such as ``select(a <= 0, 0, 1)`` is written as the side
that was taken, for that is what the pass computed; in LaTeX the whole rule stands.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from ..engine.reference import libm
from ..ops import BY_NAME, NaryOp, Op, formula

__all__ = ["Derivatives", "Operand", "formula_latex", "formula_text", "latex_name"]

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "floordiv": "//", "pow": "**"}
_SUM, _PRODUCT, _MINUS, _POWER, _ATOM = 1, 2, 3, 4, 5
_LEVEL = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "//": _PRODUCT, "**": _POWER}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_CONSTANTS = {
    "inf": ("inf", _ATOM),
    "nan": ("nan", _ATOM),
    "LN2": ("log(2.0)", _ATOM),
    "INV_LN2": ("1.0 / log(2.0)", _PRODUCT),
    "INV_LN10": ("1.0 / log(10.0)", _PRODUCT),
    "SQRT_HALF": ("sqrt(0.5)", _ATOM),
    "INV_SQRT_2PI": ("1.0 / sqrt(2.0 * pi)", _PRODUCT),
    "TWO_OVER_SQRT_PI": ("2.0 / sqrt(pi)", _PRODUCT),
    "DEGREE": ("pi / 180.0", _PRODUCT),
    "RADIAN": ("180.0 / pi", _PRODUCT),
}
#: From this many operands on, an n-ary formula is written with an ellipsis in LaTeX.
_MANY = 6


@dataclass(frozen=True, slots=True)
class Operand:
    """What a formula needs to know of an operand, or of the result: its name, its data, whether it is a constant."""

    name: str
    data: float
    constant: bool = False

    @property
    def text(self) -> str:
        """``a.data``, or the number of a constant."""
        return repr(self.data) if self.constant else f"{self.name}.data"

    @property
    def latex(self) -> str:
        if not self.constant:
            return latex_name(self.name)
        shown = f"{self.data:g}".replace("inf", r"\infty").replace("nan", r"\mathrm{NaN}")
        return f"({shown})" if shown.startswith("-") else shown


@lru_cache(maxsize=100_000)
def latex_name(name: str) -> str:
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
    sign = _INFIX.get(row) or (label if row == "user" and label in _LEVEL else None)
    first = operands[0] if operands else ""
    if sign == "**" or (row == "user" and label.startswith("**")):  # a minus binds less tightly
        first = f"({first})" if first.startswith("-") else first
    if sign and len(operands) == 2:
        return f"{first} {sign} {operands[1]}"
    if row == "user" and len(operands) == 1 and re.fullmatch(r"\*\*-?[0-9.]+", label):
        return first + label
    if row == "neg":
        return f"-{operands[0]}" if not operands[0].startswith("-") else f"-({operands[0]})"
    if row == "dot":
        half = len(operands) // 2
        return f"dot([{', '.join(operands[:half])}], [{', '.join(operands[half:])}])"
    call = f"{row if row != 'user' else label or 'user'}({', '.join(operands)})"
    return f"{call}[{index}]" if row == "softmax" else call


def formula_latex(row: str, label: str, operands: Sequence[Operand], index: int = 0) -> str:
    """The right-hand side of a node in LaTeX."""
    names = [operand.latex for operand in operands]
    known = BY_NAME.get(row)
    if isinstance(known, Op):
        letters = "abc"[: known.arity]
        tree = _display_tree(row, letters)
        return formula.to_latex(tree, dict(zip(letters, names, strict=True)))
    if row == "dot":
        half = len(names) // 2
        pairs = [rf"{a} \cdot {b}" for a, b in zip(names[:half], names[half:], strict=True)]
        return " + ".join(_abridged(pairs)) or "0"
    if row == "sum":
        return " + ".join(_abridged(names)) or "0"
    if row == "prod":
        return r" \cdot ".join(_abridged(names)) or "1"
    name = latex_name(label or "user") if row == "user" else rf"\mathrm{{{row}}}"
    text = rf"{name}\left({', '.join(_abridged(names))}\right)"
    return f"{text}_{{{index}}}" if row == "softmax" else text


@cache
def _display_tree(row: str, letters: str) -> ast.expr:
    sign = _INFIX.get(row)
    text = {"+": "a + b", "-": "a - b", "*": "a * b", "/": "a / b"}.get(sign or "")
    if row == "neg":
        text = "-a"
    return formula.parse(text or f"{row}({', '.join(letters)})", tuple(letters))


def _abridged(parts: Sequence[str]) -> list[str]:
    return list(parts) if len(parts) < _MANY else [*parts[:2], r"\ldots", parts[-1]]


# --- local derivatives ----------------------------------------------------------------------------


class Derivatives:
    """The local derivatives of one node, ``result``, with respect to its operands."""

    def __init__(self, row: str, operands: Sequence[Operand], result: Operand) -> None:
        self.row = BY_NAME.get(row)
        self.operands = operands
        self.result = result
        self.ties = float(sum(operand.data == result.data for operand in operands))

    def text(self, slot: int, local: float) -> str:
        """One local derivative in symbols, fit to be a factor: ``b.data``."""
        if self.row is None:
            return repr(local)
        partial, around = self.partial(self.row, slot, local)
        text, level = _Printer(around).written(_parsed(partial, tuple(around)))
        return text if level >= _PRODUCT else f"({text})"

    def latex(self, slot: int, local: float) -> str:
        """The whole rule: ``\\frac{\\partial d}{\\partial a} = b``."""
        left = rf"\frac{{\partial {self.result.latex}}}{{\partial {self.operands[slot].latex}}}"
        if self.row is None:
            return f"{left} = {local:g}"
        partial, around = self.partial(self.row, slot, local)
        names = {name: operand.latex for name, operand in around.items()}
        return f"{left} = {formula.to_latex(_parsed(partial, tuple(around)), names)}"

    def partial(self, row: Op | NaryOp, slot: int, local: float) -> tuple[str, dict[str, Operand]]:
        """The formula of one slot's partial, and what its variables stand for there."""
        operands, result = self.operands, self.result
        if isinstance(row, Op):
            return row.partials[slot], {**dict(zip("abc", operands, strict=False)), "y": result}
        if row.name == "prod" and 1 < len(operands) < _MANY:
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
        """Whether a logsumexp's ``exp(a - y)``, computed from the numbers shown, is the share that the pass used.

        It is not for operands so large that ``y`` has lost the logarithm: there the number stands.
        """
        difference = self.operands[slot].data - self.result.data
        return difference < 1.0 and math.isclose(math.exp(difference), local, rel_tol=1e-9, abs_tol=1e-300)


_parsed = cache(formula.parse)


class _Printer:
    """Writes a formula in symbols, taking the side of every choice that the numbers took."""

    def __init__(self, around: dict[str, Operand]) -> None:
        self.around = around

    def written(self, node: ast.expr) -> tuple[str, int]:
        """The text and how tightly it binds."""
        match node:
            case ast.Constant(value=int() | float() as value):
                return repr(float(value)), _ATOM
            case ast.Name(id=name) if name in self.around:
                operand = self.around[name]
                negative = operand.constant and operand.text.startswith("-")
                return operand.text, _MINUS if negative else _ATOM
            case ast.Name(id=name):
                return _CONSTANTS[name]
            case ast.BinOp(left=left, op=operator, right=right):
                return self.binary(_OPERATORS[type(operator)], left, right)
            case ast.UnaryOp(operand=operand_node):
                text, level = self.written(operand_node)
                plain = level > _PRODUCT or (level == _PRODUCT and "//" not in text and "%" not in text)
                return f"-{text}" if plain and not text.startswith("-") else f"-({text})", _MINUS
            case ast.Call(func=ast.Name(id="select"), args=[condition, yes, no]):
                return self.written(yes if self.holds(condition) else no)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call(name, arguments)
        raise formula.FormulaError(f"no symbols for {ast.dump(node)}")

    def call(self, name: str, arguments: Sequence[ast.expr]) -> tuple[str, int]:
        if name == "zero_product":
            first, second = arguments
            return ("0.0", _ATOM) if self.written(first)[0] in ("0.0", "-0.0") else self.binary("*", first, second)
        if name in ("pow", "mod", "floordiv"):
            return self.binary(_INFIX[name], *arguments)
        return f"{name}({', '.join(self.written(argument)[0] for argument in arguments)})", _ATOM

    def binary(self, sign: str, left: ast.expr, right: ast.expr) -> tuple[str, int]:
        (a, a_level), (b, b_level) = self.written(left), self.written(right)
        if sign in "+-*" and _is_number(a) and _is_number(b):
            x, y = float(a), float(b)
            number = x + y if sign == "+" else x - y if sign == "-" else x * y
            return repr(number), _MINUS if number < 0 else _ATOM
        if sign in ("**", "/") and b == "1.0":
            return a, a_level
        level = _LEVEL[sign]
        if sign == "**":
            enough, b_enough = a_level > level, b_level >= _MINUS
        else:
            enough, b_enough = a_level >= level, b_level > level
        return f"{a if enough else f'({a})'} {sign} {b if b_enough else f'({b})'}", level

    def holds(self, condition: ast.expr) -> bool:
        names = tuple(sorted(self.around))
        source = ast.unparse(condition)
        return bool(_condition(source, names)(*[self.around[name].data for name in names]))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", text) is not None


@cache
def _condition(source: str, names: tuple[str, ...]) -> Callable[..., bool]:
    tree = formula.parse(source, names)
    return formula.compile_python(tree, ", ".join(names), {**libm.PRIMITIVES, "div": libm.divide})
