"""The operations that a Value class may have, where each is tried, and the derivatives that people write by mistake."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .expressions import BINARY, Symbol

__all__ = ["BY_NAME", "OPERATIONS", "Form", "Operation", "Slip"]

#: Wrong local derivatives as a function of the operands: one number for each.
Wrong = Callable[..., tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Slip:
    """A wrong derivative that people write: its name and formula."""

    name: str
    wrong: Wrong


@dataclass(frozen=True, slots=True)
class Form:
    """An operation with a plain number, such as ``2.5 - a``; ``reflected`` when the number stands on the left."""

    text: str
    program: Callable[[Symbol], Symbol]
    reflected: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its method, how it is written, numbers to try it at, and slips."""

    name: str
    method: str
    shown: str  #: as a program writes it
    program: Callable[..., Symbol]
    points: tuple[tuple[float, ...], ...] = ()  #: besides the random ones: zeros and signs that matter
    positive: bool = False  #: only positive numbers are tried
    slips: tuple[Slip, ...] = ()
    forms: tuple[Form, ...] = ()
    lesson: bool = True  #: part of the lesson, so named when it is not there

    @property
    def operands(self) -> int:
        """How many Values it takes."""
        return 2 if self.name in BINARY and self.name != "**" else 1

    @property
    def reflected(self) -> str:
        """The method that answers when the number stands on the left: ``__radd__``."""
        return f"__r{self.method.strip('_')}__"


def _both(name: str) -> tuple[Form, Form]:
    """A binary operation with a number on the right and on the left."""
    apply = BINARY[name]
    return (
        Form(f"a {name} 2", lambda a: apply(a, 2), False),
        Form(f"2 {name} a", lambda a: apply(2, a), True),
    )


def _method(name: str) -> Callable[[Symbol], Symbol]:
    return lambda a: a.call(name)


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "+",
        "__add__",
        "a + b",
        lambda a, b: a + b,
        ((0.0, 3.0), (3.0, 0.0)),
        slips=(
            Slip("multiplication's rule", lambda a, b: (b, a)),
            Slip("own number", lambda a, b: (a, b)),
            Slip("sign", lambda a, b: (1.0, -1.0)),
        ),
        forms=_both("+"),
    ),
    Operation(
        "*",
        "__mul__",
        "a * b",
        lambda a, b: a * b,
        ((0.0, 3.0), (3.0, 0.0)),
        slips=(
            Slip("not swapped", lambda a, b: (a, b)),
            Slip("addition's rule", lambda a, b: (1.0, 1.0)),
            Slip("the result", lambda a, b: (a * b, a * b)),
        ),
        forms=_both("*"),
    ),
    Operation(
        "neg",
        "__neg__",
        "-a",
        lambda a: -a,
        ((0.0,),),
        slips=(Slip("sign", lambda a: (1.0,)), Slip("own number", lambda a: (-a,))),
    ),
    Operation(
        "**",
        "__pow__",
        "a ** 3",
        lambda a: a**3,
        ((0.0,),),
        slips=(
            Slip("exponent not reduced", lambda a: (3 * a**3,)),
            Slip("exponent not in front", lambda a: (a**2,)),
            Slip("exponent not kept", lambda a: (3 * a,)),
            Slip("self exponent", lambda a: (a * 3 ** (a - 1),)),
            Slip("self exponent", lambda a: (math.log(abs(a) or 1.0) * a**3,)),
        ),
        forms=(
            Form("a ** 2", lambda a: a**2, False),
            Form("a ** -1", lambda a: a**-1, False),
            Form("a ** 0.5", lambda a: a**0.5, False),
        ),
    ),
    Operation(
        "-",
        "__sub__",
        "a - b",
        lambda a, b: a - b,
        ((0.0, 3.0), (3.0, 0.0)),
        slips=(
            Slip("sign", lambda a, b: (1.0, 1.0)),
            Slip("swapped", lambda a, b: (-1.0, 1.0)),
        ),
        forms=_both("-"),
    ),
    Operation(
        "/",
        "__truediv__",
        "a / b",
        lambda a, b: a / b,
        ((0.0, 3.0),),
        slips=(
            Slip("second operand", lambda a, b: (1 / b, 1 / b)),
            Slip("second operand", lambda a, b: (1 / b, a)),
            Slip("second operand", lambda a, b: (1 / b, 1 / a if a else 0.0)),
            Slip("second operand", lambda a, b: (1 / b, -1 / b**2)),
            Slip("second operand", lambda a, b: (1 / b, -a / b)),
            Slip("second operand", lambda a, b: (1 / b, -a)),
            Slip("second operand", lambda a, b: (1 / b, 0.0)),
            Slip("sign", lambda a, b: (1 / b, a / b**2)),
            Slip("swapped", lambda a, b: (-a / b**2, 1 / b)),
            Slip("multiplication's rule", lambda a, b: (b, a)),
        ),
        forms=_both("/"),
    ),
    Operation(
        "tanh",
        "tanh",
        "tanh",
        _method("tanh"),
        ((0.0,),),
        slips=(
            Slip("not squared", lambda a: (1 - math.tanh(a),)),
            Slip("of the input", lambda a: (1 - a**2,)),
            Slip("sign", lambda a: (1 + math.tanh(a) ** 2,)),
            Slip("no one minus", lambda a: (math.tanh(a) ** 2,)),
            Slip("the result", lambda a: (math.tanh(a),)),
            Slip("sigmoid's rule", lambda a: (math.tanh(a) * (1 - math.tanh(a)),)),
        ),
    ),
    Operation(
        "exp",
        "exp",
        "exp",
        _method("exp"),
        ((0.0,),),
        slips=(
            Slip("not the result", lambda a: (1.0,)),
            Slip("of the input", lambda a: (a,)),
            Slip("power rule", lambda a: (a * math.exp(a - 1),)),
            Slip("power rule", lambda a: (a * math.exp(a),)),
        ),
    ),
    Operation(
        "log",
        "log",
        "log",
        _method("log"),
        positive=True,
        slips=(
            Slip("the result", lambda a: (math.log(a),)),
            Slip("not inverted", lambda a: (a,)),
            Slip("of the result", lambda a: (1 / (math.log(a) or 1.0),)),
            Slip("sign", lambda a: (-1 / a,)),
            Slip("sign", lambda a: (-1 / a**2,)),
        ),
    ),
    Operation(
        "relu",
        "relu",
        "relu",
        _method("relu"),
        ((-2.0,), (3.0,)),
        slips=(
            Slip("no condition", lambda a: (1.0,)),
            Slip("the result", lambda a: (max(a, 0.0),)),
            Slip("negative side", lambda a: (1.0 if a > 0 else -1.0,)),
            Slip("negative side", lambda a: (0.0 if a > 0 else 1.0,)),
            Slip("of the input", lambda a: (a,)),
        ),
    ),
    Operation(
        "sigmoid",
        "sigmoid",
        "sigmoid",
        _method("sigmoid"),
        ((0.0,),),
        lesson=False,
        slips=(
            Slip("the result", lambda a: (_sigmoid(a),)),
            Slip("no one minus", lambda a: (1 - _sigmoid(a),)),
            Slip("of the input", lambda a: (a * (1 - a),)),
        ),
    ),
    Operation("sqrt", "sqrt", "sqrt", _method("sqrt"), positive=True, lesson=False),
    Operation(
        "sin",
        "sin",
        "sin",
        _method("sin"),
        ((0.0,),),
        lesson=False,
        slips=(Slip("sign", lambda a: (-math.cos(a),)), Slip("the result", lambda a: (math.sin(a),))),
    ),
    Operation(
        "cos",
        "cos",
        "cos",
        _method("cos"),
        ((0.0,),),
        lesson=False,
        slips=(Slip("sign", lambda a: (math.sin(a),)), Slip("the result", lambda a: (math.cos(a),))),
    ),
)

BY_NAME: dict[str, Operation] = {operation.name: operation for operation in OPERATIONS}
