"""How formulas are written for people: as text such as ``2.0 * a.data``, and in LaTeX.

A style is plain data: a template for every operator and function, how tightly the result binds, and how tightly each
operand must bind to stand there without parentheses. ``tools/generate.py`` gives the same styles and sentences to the
explorer's page, so that both say the same; only the printer below is written a second time, in
``web/src/model/notation.ts``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

__all__ = [
    "ATOM",
    "CARD",
    "INFIX",
    "LATEX",
    "MANY",
    "MINUS",
    "PRODUCT",
    "SEQUENCES",
    "SEQUENCE_CARDS",
    "TEXT",
    "Style",
    "fill",
    "form",
    "write",
]

#: How tightly a text binds, from loose to tight.
OR, AND, COMPARE, SUM, REMAINDER, PRODUCT, MINUS, POWER, ATOM = range(1, 10)

#: A text and how tightly it binds.
Written = tuple[str, int]
#: A template with ``$0``, ``$1``, … for the operands; how tightly the result binds; how tightly each operand must.
Form = tuple[str, int, tuple[int, ...]]

#: The rows of the op table that are written as operators.
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "floordiv": "//", "pow": "**", "neg": "minus"}
#: From this many operands on, an operation over a sequence is written with an ellipsis in LaTeX.
MANY = 6


@dataclass(frozen=True, slots=True)
class Style:
    """One way of writing formulas."""

    exact: bool  #: numbers as ``repr`` writes them, not as ``%g`` does
    wrap: str  #: a text in parentheses
    call: str  #: a function without a form of its own: ``$f`` is its name, ``$*`` its operands
    forms: Mapping[str, Form]
    constants: Mapping[str, Written]


TEXT = Style(
    exact=True,
    wrap="($0)",
    call="$f($*)",
    forms={
        "+": ("$0 + $1", SUM, (SUM, REMAINDER)),
        "-": ("$0 - $1", SUM, (SUM, REMAINDER)),
        "*": ("$0 * $1", PRODUCT, (REMAINDER, MINUS)),
        "/": ("$0 / $1", PRODUCT, (REMAINDER, MINUS)),
        "%": ("$0 % $1", REMAINDER, (REMAINDER, MINUS)),
        "//": ("$0 // $1", REMAINDER, (REMAINDER, MINUS)),
        "**": ("$0 ** $1", POWER, (ATOM, MINUS)),
        "minus": ("-$0", MINUS, (PRODUCT,)),
        "zero_product": ("$0 * $1", PRODUCT, (REMAINDER, MINUS)),
    },
    constants={
        "inf": ("inf", ATOM),
        "nan": ("nan", ATOM),
        "LN2": ("log(2.0)", ATOM),
        "INV_LN2": ("1.0 / log(2.0)", PRODUCT),
        "INV_LN10": ("1.0 / log(10.0)", PRODUCT),
        "SQRT_HALF": ("sqrt(0.5)", ATOM),
        "pi": ("pi", ATOM),
        "INV_SQRT_2PI": ("1.0 / sqrt(2.0 * pi)", PRODUCT),
        "TWO_OVER_SQRT_PI": ("2.0 / sqrt(pi)", PRODUCT),
        "DEGREE": ("pi / 180.0", PRODUCT),
        "RADIAN": ("180.0 / pi", PRODUCT),
    },
)

LATEX = Style(
    exact=False,
    wrap=r"\left($0\right)",
    call=r"\mathrm{$f}\left($*\right)",
    forms={
        "+": ("$0 + $1", SUM, (SUM, SUM)),
        "-": ("$0 - $1", SUM, (SUM, PRODUCT)),
        "*": (r"$0 \cdot $1", PRODUCT, (PRODUCT, PRODUCT)),
        "/": (r"\frac{$0}{$1}", ATOM, ()),
        "minus": ("-$0", SUM, (PRODUCT,)),
        "not": (r"\lnot $0", PRODUCT, (ATOM,)),
        "and": (r"$0 \land $1", AND, (AND, AND)),
        "or": (r"$0 \lor $1", OR, (OR, OR)),
        "<": ("$0 < $1", COMPARE, ()),
        "<=": (r"$0 \le $1", COMPARE, ()),
        ">": ("$0 > $1", COMPARE, ()),
        ">=": (r"$0 \ge $1", COMPARE, ()),
        "==": ("$0 = $1", COMPARE, ()),
        "!=": (r"$0 \ne $1", COMPARE, ()),
        "select": (r"\begin{cases} $1 & \text{if } $0 \\ $2 & \text{otherwise} \end{cases}", ATOM, ()),
        "abs": (r"\left|$0\right|", ATOM, ()),
        "sqrt": (r"\sqrt{$0}", ATOM, ()),
        "cbrt": (r"\sqrt[3]{$0}", ATOM, ()),
        "exp": (r"e^{$0}", ATOM, ()),
        "exp2": (r"2^{$0}", ATOM, ()),
        "floor": (r"\lfloor $0 \rfloor", ATOM, ()),
        "ceil": (r"\lceil $0 \rceil", ATOM, ()),
        "square": (r"\left($0\right)^2", ATOM, ()),
        "reciprocal": (r"\frac{1}{$0}", ATOM, ()),
        "pow": (r"{$0}^{$1}", ATOM, (ATOM,)),
        "zero_product": (r"$0 \cdot $1", PRODUCT, (PRODUCT, PRODUCT)),
        "gamma": (r"\Gamma\left($0\right)", ATOM, ()),
        "digamma": (r"\psi\left($0\right)", ATOM, ()),
        "polygamma": (r"\psi^{($0)}\left($1\right)", ATOM, ()),
        "floordiv": (r"\left\lfloor \frac{$0}{$1} \right\rfloor", ATOM, ()),
        "sigmoid": (r"\sigma\left($0\right)", ATOM, ()),
        "log": (r"\ln\left($0\right)", ATOM, ()),
        **{name: (rf"\{name}\left($0\right)", ATOM, ()) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    },
    constants={
        "inf": (r"\infty", ATOM),
        "nan": (r"\mathrm{NaN}", ATOM),
        "LN2": (r"\ln 2", ATOM),
        "INV_LN2": (r"\frac{1}{\ln 2}", ATOM),
        "INV_LN10": (r"\frac{1}{\ln 10}", ATOM),
        "SQRT_HALF": (r"\frac{1}{\sqrt{2}}", ATOM),
        "pi": (r"\pi", ATOM),
        "INV_SQRT_2PI": (r"\frac{1}{\sqrt{2\pi}}", ATOM),
        "TWO_OVER_SQRT_PI": (r"\frac{2}{\sqrt{\pi}}", ATOM),
        "DEGREE": (r"\frac{\pi}{180}", ATOM),
        "RADIAN": (r"\frac{180}{\pi}", ATOM),
    },
)

_MINUS, _TIMES, _SIGMA = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}", "\N{GREEK SMALL LETTER SIGMA}"
#: As a rule card has it. The page writes a whole power above the line.
CARD = Style(
    exact=False,
    wrap="($0)",
    call="$f($*)",
    forms={
        "+": ("$0 + $1", SUM, (SUM, SUM)),
        "-": (f"$0 {_MINUS} $1", SUM, (SUM, REMAINDER)),
        "*": (f"$0 {_TIMES} $1", PRODUCT, (REMAINDER, MINUS)),
        "/": ("$0 / $1", PRODUCT, (REMAINDER, MINUS)),
        "%": ("$0 mod $1", REMAINDER, (REMAINDER, MINUS)),
        "//": ("⌊$0 / $1⌋", ATOM, (REMAINDER, MINUS)),
        "**": ("$0^$1", POWER, (ATOM, ATOM)),
        "minus": (f"{_MINUS}$0", MINUS, (PRODUCT,)),
        "not": ("not $0", AND, (COMPARE,)),
        "and": ("$0 and $1", AND, (AND, AND)),
        "or": ("$0 or $1", OR, (OR, OR)),
        "<": ("$0 < $1", COMPARE, ()),
        "<=": ("$0 ≤ $1", COMPARE, ()),
        ">": ("$0 > $1", COMPARE, ()),
        ">=": ("$0 ≥ $1", COMPARE, ()),
        "==": ("$0 = $1", COMPARE, ()),
        "!=": ("$0 ≠ $1", COMPARE, ()),
        "select": ("$1 if $0, else $2", 0, (OR, OR)),
        "abs": ("|$0|", ATOM, ()),
        "sqrt": ("√($0)", ATOM, ()),
        "cbrt": ("∛($0)", ATOM, ()),
        "log": ("ln($0)", ATOM, ()),
        "sigmoid": (f"{_SIGMA}($0)", ATOM, ()),
        "digamma": ("ψ($0)", ATOM, ()),
        "floor": ("⌊$0⌋", ATOM, ()),
        "ceil": ("⌈$0⌉", ATOM, ()),
        "maximum": ("max($0, $1)", ATOM, ()),
        "minimum": ("min($0, $1)", ATOM, ()),
    },
    constants={"inf": ("∞", ATOM), "nan": ("undefined", ATOM), "pi": ("π", ATOM)},
)

#: What each operand of an operation over a sequence gets of the upstream gradient G.
SEQUENCE_CARDS = {
    "sum": "each operand gets G, unchanged",
    "mean": "each of the n operands gets G / n",
    "dot": f"each operand gets its partner {_TIMES} G",
    "prod": f"each operand gets the product of the others {_TIMES} G",
    "max": "the largest operand gets G, the others nothing; operands that tie for it share G",
    "min": "the smallest operand gets G, the others nothing; operands that tie for it share G",
    "logsumexp": f"each operand gets its softmax probability {_TIMES} G",
    "softmax": f"its own operand gets p {_TIMES} (1 {_MINUS} p) {_TIMES} G, p the probability, and any other, with q, "
    f"{_MINUS}p {_TIMES} q {_TIMES} G",
}

#: Sums and products over a sequence in LaTeX: each term, what stands between, and what stands for no term at all.
SEQUENCES = {"dot": (r"$0 \cdot $1", " + ", "0"), "sum": ("$0", " + ", "0"), "prod": ("$0", r" \cdot ", "1")}

_SIGNS: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.USub: "minus", ast.Not: "not", ast.And: "and",
    ast.Or: "or", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_HOLE = re.compile(r"\$(\w+|\*)")


def fill(template: str, *operands: str, **parts: object) -> str:
    """A template whose ``$0``, ``$1``, … are the operands, ``$*`` all of them, and ``$name`` a named part."""
    if operands:
        parts = {**parts, **{str(k): text for k, text in enumerate(operands)}, "*": ", ".join(operands)}
    return _format(template) % parts


@cache
def _format(template: str) -> str:
    """The template as a format for Python's ``%``."""
    return _HOLE.sub(r"%(\1)s", template.replace("%", "%%"))


def form(style: Style, key: str, operands: Sequence[Written]) -> Written:
    """An operator or a function of these operands; ``key`` is a sign or a row of the op table."""
    own_key = key if key in style.forms else INFIX.get(key, key)
    template, level, needs = style.forms.get(own_key) or (style.call, ATOM, ())
    texts = []
    for slot, (text, own) in enumerate(operands):
        loose = slot < len(needs) and own < needs[slot]
        twice = own_key == "minus" and text.startswith("-")
        texts.append(fill(style.wrap, text) if loose or twice else text)
    return fill(template, *texts, f=key), level


def write(
    tree: ast.expr, style: Style, names: Mapping[str, Written], holds: Callable[[ast.expr], bool] | None = None
) -> Written:
    """A formula of the op table, its operands written as ``names`` says.

    With ``holds``, which decides a condition, it is written as it was computed: of every choice the side that was
    taken, and arithmetic on plain numbers as its result.
    """
    match tree:
        case ast.Constant(value=int() | float() as value):
            return repr(float(value)) if style.exact else f"{value:g}", ATOM
        case ast.Name(id=name):
            return names.get(name) or style.constants[name]
    key, children = _parts(tree)
    if holds is not None and key == "select":
        condition, yes, no = children
        return write(yes if holds(condition) else no, style, names, holds)
    operands = [write(child, style, names, holds) for child in children]
    simplified = None if holds is None else _simplified(key, operands)
    if key in ("and", "or"):  # Python's trees have all of a chain in one node
        text = operands[0]
        for operand in operands[1:]:
            text = form(style, key, [text, operand])
        return text
    return simplified or form(style, key, operands)


def _parts(tree: ast.expr) -> tuple[str, Sequence[ast.expr]]:
    """The operator or function at the top of a formula, and its operands."""
    match tree:
        case ast.BinOp(left=left, op=operator, right=right):
            return _SIGNS[type(operator)], [left, right]
        case ast.UnaryOp(op=operator, operand=operand):
            return _SIGNS[type(operator)], [operand]
        case ast.BoolOp(op=operator, values=values):
            return _SIGNS[type(operator)], values
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _SIGNS[type(operator)], [left, right]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return name, arguments
    raise TypeError(f"no formula of the op table has a {type(tree).__name__}")


def _simplified(key: str, operands: Sequence[Written]) -> Written | None:
    """What becomes of arithmetic on plain numbers, and of powers and quotients by one; None for the rest."""
    first, second = operands[0], operands[-1]
    if key == "zero_product":
        return ("0.0", ATOM) if first[0] in ("0.0", "-0.0") else _simplified("*", operands)
    if key in ("+", "-", "*") and _is_number(first[0]) and _is_number(second[0]):
        x, y = float(first[0]), float(second[0])
        number = x + y if key == "+" else x - y if key == "-" else x * y
        return repr(number), MINUS if number < 0 else ATOM
    return first if INFIX.get(key, key) in ("**", "/") and second[0] == "1.0" else None


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", text) is not None
