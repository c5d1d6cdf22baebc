"""What values of the SSA form are where some of them are known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Mapping

from .....engine.numbers import same_bits
from .code import COMPARED, FOLDED, Op, Ref, Value

__all__ = ["Evaluation"]

#: A value depends on so many tests at most, if the ways are tried in which they may come out.
_MOST_TESTS = 4

#: Functions of the C library, of constants.
_FUNCTIONS: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("exp", "log", "log1p", "expm1", "sin", "cos", "tan", "tanh", "pow")},
    **{
        name: getattr(math, name)
        for name in ("sinh", "cosh", "asin", "acos", "atan", "atan2", "hypot", "log2", "log10")
    },
    **{f"llvm.{name}": getattr(math, name) for name in ("sqrt", "copysign")},
}

#: What leaves every number as it is where it is added, or subtracted.
_NOTHING = {"fadd": -0.0, "fsub": 0.0}


class Evaluation:
    """Evaluates values of a loop's body.

    Args:
        made: what makes each of them.
        known: those that are known.
        ignores_infinities: zero times anything is zero, and a sum with zero is the other number.
    """

    def __init__(
        self, made: Mapping[Ref, Op], known: Mapping[Ref, Value | bool], ignores_infinities: bool = False
    ) -> None:
        self._made, self._ignores_infinities = made, ignores_infinities
        self._known: dict[Value, Value | bool] = dict(known.items())

    def assume(self, value: Ref, number: Value | bool) -> None:
        """A value is known from now on; nothing that was asked for before may depend on it."""
        self._known[value] = number

    def of(self, value: Value) -> Value | bool:
        """A number, or whether a comparison holds; the value itself, or another one, where that is not known."""
        rest = [value]
        while rest:  # operands first: chains of additions may be long
            one = rest[-1]
            op = self._made.get(one) if isinstance(one, Ref) and one not in self._known else None
            waiting = [v for v in op.operands if isinstance(v, Ref) and v not in self._known] if op is not None else []
            if waiting:
                rest += waiting
                continue
            rest.pop()
            if one not in self._known:
                self._known[one] = one if op is None else self._result(op, one)
        return self._known[value]

    def _result(self, op: Op, value: Value) -> Value | bool:
        operands = [self._known.get(one, one) for one in op.operands]
        match op.name.split():
            case ["fcmp", test]:
                return self._compared(test, operands[0], operands[1], value)
            case ["and" | "or" as name]:
                decides = name == "or"
                unknown = [side for side in operands if not isinstance(side, bool)]
                if decides in operands or not unknown:
                    return decides if decides in operands else not decides
                return unknown[0] if len(unknown) == 1 else value
            case ["not"]:
                return (not operands[0]) if isinstance(operands[0], bool) else value
            case ["select"]:
                condition, yes, no = operands
                if isinstance(condition, bool):
                    return yes if condition else no
                return yes if yes == no else value
            case ["call", name] if name in _FUNCTIONS:
                return _called(name, operands, value)
            case [name, *_] if name in FOLDED or name == "fdiv":
                return self._computed(name, operands, value)
        return value

    def _compared(self, test: str, a: Value | bool, b: Value | bool, value: Value) -> Value | bool:
        if isinstance(a, float) and isinstance(b, float):
            return COMPARED[test](a, b)
        if not self._is_truth(a) or not self._is_truth(b):
            return value
        if a == b:
            return COMPARED[test](1.0, 1.0)
        numbers = [(one,) if isinstance(one, float) else (0.0, 1.0) for one in (a, b)]
        outcomes = {COMPARED[test](*pair) for pair in itertools.product(*numbers)}
        return outcomes.pop() if len(outcomes) == 1 else value

    def _is_truth(self, value: Value | bool) -> bool:
        """Whether a number is 1 or 0, whatever it depends on."""
        rest, seen = [value], set[Value]()
        while rest:
            one = rest.pop()
            one = self._known.get(one, one)
            if one in (0.0, 1.0) or one in seen:
                continue
            op = self._made.get(one) if isinstance(one, Ref) else None
            if op is None or op.name != "select":
                return False
            seen.add(one)
            rest += op.operands[1:]
        return True

    def _computed(self, name: str, operands: list[Value | bool], value: Value) -> Value | bool:
        """The result of arithmetic."""
        if name != "fdiv" and all(type(one) is float for one in operands):
            return FOLDED[name](*operands)
        second = operands[1] if name in _NOTHING else None
        if isinstance(second, float) and same_bits(second, _NOTHING[name]):
            return operands[0]
        if not self._ignores_infinities:
            return value
        if name == "fneg" or name == "fabs":
            return value
        a, b = operands
        if name == "fmul":
            return 0.0 if 0.0 in (a, b) else value
        if name == "fdiv":
            return 0.0 if a == 0.0 else value
        if b == 0.0:
            return a
        return b if a == 0.0 and name == "fadd" else value

    def is_steady(self, value: Value | bool, handed_on: Container[Value], inner: Container[Value | None]) -> bool:
        """Whether a value is the same in each iteration that begins with the same: it is made of that alone.

        Args:
            value: the value.
            handed_on: what an iteration begins with.
            inner: what loops in the loop hand on, and have last.
        """
        rest, seen = [value], set[Value]()
        while rest:
            one = rest.pop()
            if not isinstance(one, Ref) or one in seen or one in handed_on:
                continue
            if one in inner:
                return False
            seen.add(one)
            if (known := self.of(one)) != one:
                rest.append(known)
                continue
            op = self._made.get(one)
            if op is not None and op.at is not None:
                return False
            rest += op.operands if op is not None else ()
        return True

    def tests_in(self, value: Value) -> list[Ref]:
        """The tests that a value depends on, as numbers: 1 where they hold, else 0. None of them if they are many."""
        found: dict[Ref, None] = {}
        rest, seen = [value], set[Value]()
        while rest and len(found) <= _MOST_TESTS:
            one = rest.pop()
            op = self._made.get(one) if isinstance(one, Ref) else None
            if op is None or one in seen or not isinstance(self.of(one), Ref):
                continue
            seen.add(one)
            if op.name == "select" and op.operands[1:] == (1.0, 0.0):
                assert isinstance(one, Ref)
                found[one] = None
            elif op.name in ("select", "and", "or", "not") or op.name.startswith("fcmp"):
                rest += op.operands
        return [] if len(found) > _MOST_TESTS else [*found]


def _called(name: str, operands: list[Value | bool], value: Value) -> Value | bool:
    if not all(type(one) is float for one in operands):
        return value
    try:
        return float(_FUNCTIONS[name](*operands))
    except (ValueError, OverflowError):
        return value
