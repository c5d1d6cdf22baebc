"""Where the accuracy table asks: for each row of the op table the points, each with the name of its class."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograd.ops import NARY, OPS, NaryOp, Op

__all__ = ["Point", "points", "rows"]


@dataclass(frozen=True, slots=True)
class Point:
    """Operands as they are given (floats, ints, bools, NumPy scalars), and what each of them is called."""

    classes: tuple[str, ...]
    given: tuple[Any, ...]

    @property
    def numbers(self) -> tuple[float, ...]:
        return tuple(float(x) for x in self.given)


BELOW_ONE = math.nextafter(1.0, 0.0)
ABOVE_ONE = math.nextafter(1.0, 2.0)

_COMMON: tuple[tuple[str, Any], ...] = (
    ("0", 0.0),
    ("-0", -0.0),
    ("1", 1.0),
    ("-1", -1.0),
    ("1-ulp", BELOW_ONE),
    ("-(1-ulp)", -BELOW_ONE),
    ("1+ulp", ABOVE_ONE),
    ("smallest", 5e-324),
    ("-smallest", -5e-324),
    ("tiny", 1e-9),
    ("huge", 1e308),
    ("-huge", -1e308),
    ("1000", 1000.0),
    ("-1000", -1000.0),
    ("inf", math.inf),
    ("-inf", -math.inf),
    ("nan", math.nan),
    ("int", 3),
    ("bool", True),
    ("numpy float", np.float64(0.75)),
    ("numpy int", np.int16(2)),
)
#: Edges of domains, of overflow and underflow, and places where a formula changes; each with its two neighbours.
_EDGES: dict[str, tuple[float, ...]] = {
    "asin": (1.0, -1.0),
    "acos": (1.0, -1.0),
    "atanh": (1.0, -1.0),
    "acosh": (1.0,),
    "log1p": (-1.0,),
    "exp": (709.782712893384, -745.1332191019411),
    "expm1": (709.782712893384, -37.42994775023705),
    "exp2": (1024.0, -1075.0),
    "sinh": (710.4758600739439,),
    "cosh": (710.4758600739439,),
    "tanh": (0.8814, 19.061547465398498),
    "sigmoid": (36.7368005696771, -745.1332191019411, 0.01),
    "softplus": (36.7368005696771, -745.1332191019411),
    "silu": (-1.2784645427610738, -745.1332191019411),
    "gelu": (-0.7517916243494656, -38.0),
    "erf": (6.0,),
    "erfc": (26.5, 27.3),
    "lgamma": (1.0, 2.0, -1.0, -2.0, -2.4570247382208006, 2.5563481638716906e305),
    "gamma": (1.0, 2.0, -1.0, -2.0, 1.4616321449683622, 171.62437695630272, -170.5, -184.5),
    "digamma": (1.4616321449683622, -1.0, -2.0, -0.5040830082644554),
    "tan": (math.pi / 2,),
    "sin": (math.pi, 1e22),
    "cos": (math.pi / 2, 1e22),
    "floor": (2.0**52 - 0.5,),
    "ceil": (2.0**52 - 0.5,),
    "trunc": (2.0**52 - 0.5,),
    "rint": (0.5, 2.5, -1.5),
}
#: For pairs: two ordinary numbers, and one of each class.
_PAIRED: tuple[tuple[str, Any], ...] = (
    ("ordinary", 0.7),
    ("-ordinary", -2.5),
    ("0", 0.0),
    ("-0", -0.0),
    ("1", 1.0),
    ("-1", -1.0),
    ("1-ulp", BELOW_ONE),
    ("smallest", 5e-324),
    ("huge", 1e308),
    ("-1000", -1000.0),
    ("inf", math.inf),
    ("-inf", -math.inf),
    ("nan", math.nan),
    ("int", 3),
    ("bool", True),
    ("numpy float", np.float64(0.75)),
)
_TRIPLED = ("ordinary", "0", "-0", "inf", "nan", "huge", "int")


def rows() -> list[Op | NaryOp]:
    """The rows of the table that a user can call."""
    return [*(op for op in OPS if op.public), *NARY]


def points(row: Op | NaryOp) -> list[Point]:
    """Where ``row`` is asked: every class for one operand, every pair of classes for two; see the module."""
    if isinstance(row, NaryOp):
        return _sequences(row)
    chooser = random.Random(f"trust {row.name}")
    ordinary = [tuple(chooser.uniform(low, high) for low, high in row.sample) for _ in range(4)]
    found = [Point(("ordinary",) * row.arity, numbers) for numbers in ordinary]
    if row.arity == 1:
        return found + _single(row.name)
    if row.arity == 2:
        return found + [_joined(pair) for pair in itertools.product(_PAIRED, repeat=2)]
    some = [pair for pair in _PAIRED if pair[0] in _TRIPLED]
    return found + [_joined(triple) for triple in itertools.product(some, repeat=3)]


def _single(name: str) -> list[Point]:
    found = [Point((label,), (number,)) for label, number in _COMMON]
    for edge in _EDGES.get(name, ()):
        found.append(Point((f"below {edge:.6g}",), (math.nextafter(edge, -math.inf),)))
        found.append(Point((f"{edge:.6g}",), (edge,)))
        found.append(Point((f"above {edge:.6g}",), (math.nextafter(edge, math.inf),)))
    return found


def _joined(named: tuple[tuple[str, Any], ...]) -> Point:
    return Point(tuple(label for label, _ in named), tuple(number for _, number in named))


def _sequences(row: NaryOp) -> list[Point]:
    """Two operands of every class, and a few longer ones; of a dot, two sequences of two."""
    width = 2 if row.paired else 1
    chooser = random.Random(f"trust {row.name}")
    longer = [
        Point(("ordinary",) * n * width, tuple(chooser.uniform(-3, 3) for _ in range(n * width))) for n in (1, 3, 5)
    ]
    pairs = [_joined(pair) for pair in itertools.product(_PAIRED, repeat=2)]
    if row.paired:
        return longer + [Point((*p.classes, "ordinary", "1"), (*p.given, 0.7, 1.0)) for p in pairs]
    return longer + pairs
