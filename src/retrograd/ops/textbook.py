"""The rules as a textbook prints them, for people: rule cards, sums, LaTeX.

The op table computes ``4 * sigmoid(2 * a) * sigmoid(-2 * a)`` where tanh is flat, so that no digit is lost; what a
reader wants to see is ``1 - tanh(a)**2``. A row is here where its own formulas are not the textbook's. Nothing is
computed from these: the tests compare them with the table at points where both are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["NAMES", "TEXTBOOK", "Textbook"]

#: What formulas here may name besides their operands and the result ``y``.
NAMES = ("pi",)


@dataclass(frozen=True, slots=True)
class Textbook:
    """A row's formula and its local derivatives, in the language of the op table and with ``pi``."""

    forward: str
    partials: tuple[str, ...]


_TIE_LOW = ("select(a > b, 0, select(a == b, 0.5, 1))", "select(b > a, 0, select(a == b, 0.5, 1))")
_TIE_HIGH = ("select(a < b, 0, select(a == b, 0.5, 1))", "select(b < a, 0, select(a == b, 0.5, 1))")

TEXTBOOK: Mapping[str, Textbook] = {
    "div": Textbook("a / b", ("1 / b", "-a / pow(b, 2)")),
    "pow": Textbook("pow(a, b)", ("b * pow(a, b - 1)", "pow(a, b) * log(a)")),
    "square": Textbook("pow(a, 2)", ("2 * a",)),
    "reciprocal": Textbook("1 / a", ("-1 / pow(a, 2)",)),
    "zero_product": Textbook("a * b", ("b", "a")),
    "exp": Textbook("exp(a)", ("exp(a)",)),
    "exp2": Textbook("pow(2, a)", ("pow(2, a) * log(2)",)),
    "expm1": Textbook("exp(a) - 1", ("exp(a)",)),
    "log2": Textbook("log(a) / log(2)", ("1 / (a * log(2))",)),
    "log10": Textbook("log(a) / log(10)", ("1 / (a * log(10))",)),
    "log1p": Textbook("log(1 + a)", ("1 / (1 + a)",)),
    "sqrt": Textbook("sqrt(a)", ("1 / (2 * sqrt(a))",)),
    "cbrt": Textbook("cbrt(a)", ("1 / (3 * pow(cbrt(a), 2))",)),
    "hypot": Textbook("sqrt(pow(a, 2) + pow(b, 2))", ("a / y", "b / y")),
    "tan": Textbook("tan(a)", ("1 + pow(tan(a), 2)",)),
    "asin": Textbook("asin(a)", ("1 / sqrt(1 - pow(a, 2))",)),
    "acos": Textbook("acos(a)", ("-1 / sqrt(1 - pow(a, 2))",)),
    "atan": Textbook("atan(a)", ("1 / (1 + pow(a, 2))",)),
    "atan2": Textbook("atan2(a, b)", ("b / (pow(a, 2) + pow(b, 2))", "-a / (pow(a, 2) + pow(b, 2))")),
    "degrees": Textbook("a * 180 / pi", ("180 / pi",)),
    "radians": Textbook("a * pi / 180", ("pi / 180",)),
    "tanh": Textbook("tanh(a)", ("1 - pow(tanh(a), 2)",)),
    "sech2": Textbook("1 - pow(tanh(a), 2)", ("-2 * tanh(a) * (1 - pow(tanh(a), 2))",)),
    "asinh": Textbook("asinh(a)", ("1 / sqrt(1 + pow(a, 2))",)),
    "acosh": Textbook("acosh(a)", ("1 / sqrt(pow(a, 2) - 1)",)),
    "atanh": Textbook("atanh(a)", ("1 / (1 - pow(a, 2))",)),
    "sigmoid": Textbook("1 / (1 + exp(-a))", ("sigmoid(a) * (1 - sigmoid(a))",)),
    "logistic_slope": Textbook(
        "sigmoid(a) * (1 - sigmoid(a))", ("sigmoid(a) * (1 - sigmoid(a)) * (1 - 2 * sigmoid(a))",)
    ),
    "softplus": Textbook("log(1 + exp(a))", ("sigmoid(a)",)),
    "relu": Textbook("maximum(a, 0)", ("select(a <= 0, 0, 1)",)),
    "silu": Textbook("a * sigmoid(a)", ("sigmoid(a) + a * sigmoid(a) * (1 - sigmoid(a))",)),
    "gelu": Textbook(
        "0.5 * a * (1 + erf(a / sqrt(2)))",
        ("0.5 * (1 + erf(a / sqrt(2))) + a * exp(-pow(a, 2) / 2) / sqrt(2 * pi)",),
    ),
    "erf": Textbook("erf(a)", ("2 / sqrt(pi) * exp(-pow(a, 2))",)),
    "erfc": Textbook("1 - erf(a)", ("-2 / sqrt(pi) * exp(-pow(a, 2))",)),
    "sign": Textbook("sign(a)", ("0",)),
    "minimum": Textbook("minimum(a, b)", _TIE_LOW),
    "maximum": Textbook("maximum(a, b)", _TIE_HIGH),
    "where": Textbook("select(a, b, c)", ("0", "select(a, 1, 0)", "select(a, 0, 1)")),
}
