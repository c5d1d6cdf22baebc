"""Small programs made at random, as people write them, against PyTorch in double precision, to second order.

A program has loops, branches on numbers, in-place operators, reuse, shared parts, constants of every type, and
sequences. It is data; :class:`Machine` runs it on Values or on tensors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.parts import ALL, require

import retrograd as rg
from retrograd import Value, gradient

EXAMPLES = 3000 if ALL else 150
SIZE = 4  #: variables of a program

variable = st.integers(0, SIZE - 1)
number = st.one_of(
    st.floats(-2.0, 2.0).map(lambda x: round(x, 2)),
    st.integers(-3, 3),
    st.booleans(),
    st.floats(-2.0, 2.0).map(lambda x: np.float64(round(x, 2))),
    st.integers(-3, 3).map(np.int32),
)
operand = st.one_of(variable.map(lambda i: ("variable", i)), number.map(lambda x: ("number", x)))
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / (b * b + 1.0), "**": lambda a, b: (a * a + 0.5) ** b,
}  # fmt: skip
FUNCTIONS = ("tanh", "sin", "cos", "exp", "sigmoid", "sqrt", "log", "softplus", "neg", "atan", "abs", "relu", "square")
SEQUENCES = ("sum", "mean", "prod", "logsumexp", "softmax", "dot", "max")
simple = st.one_of(
    st.tuples(st.just("operate"), variable, st.sampled_from(sorted(OPERATORS)), operand, operand),
    st.tuples(st.just("call"), variable, st.sampled_from(FUNCTIONS), variable),
    st.tuples(st.just("in place"), variable, st.sampled_from(("+", "-", "*")), operand),
    st.tuples(st.just("sequence"), variable, st.sampled_from(SEQUENCES), st.lists(variable, min_size=1, max_size=4)),
    st.tuples(st.just("choose"), variable, variable, variable, variable),
)
statement = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.tuples(st.just("loop"), st.integers(1, 3), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just("branch"), variable, variable, st.lists(inner, max_size=2), st.lists(inner, max_size=2)),
    ),
    max_leaves=6,
)
program = st.lists(statement, min_size=1, max_size=6)
point = st.tuples(*[st.floats(-1.5, 1.5).map(lambda x: round(x, 3))] * SIZE)


class Values:
    """The functions of a program on Values."""

    call = staticmethod(lambda name, x: getattr(rg.math, name)(x))

    @staticmethod
    def data(x: Any) -> float:
        return x.data if isinstance(x, Value) else float(x)

    @staticmethod
    def sequence(name: str, xs: Sequence[Any]) -> Any:
        if name == "dot":
            return rg.dot(xs, xs[::-1])
        result = getattr(rg, name)(xs) if name != "prod" else rg.math.prod(xs)
        return result[0] if name == "softmax" else result

    @staticmethod
    def where(condition: bool, x: Any, y: Any) -> Any:
        return rg.where(float(condition), x, y)


class Tensors:
    """The same on tensors."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def call(self, name: str, x: Any) -> Any:
        special = {"softplus": lambda t: self.torch.nn.functional.softplus(t, threshold=1e9)}
        return (special.get(name) or getattr(self.torch, name))(x)

    @staticmethod
    def data(x: Any) -> float:
        return float(x.detach() if hasattr(x, "detach") else x)

    def sequence(self, name: str, xs: Sequence[Any]) -> Any:
        stacked = self.torch.stack(list(xs))
        if name == "dot":
            return (stacked * self.torch.flip(stacked, (0,))).sum()
        if name == "max":
            return self.torch.amax(stacked)
        if name in ("logsumexp", "softmax"):
            result = getattr(self.torch, name)(stacked, 0)
            return result[0] if name == "softmax" else result
        return getattr(self.torch, name)(stacked)

    def where(self, condition: bool, x: Any, y: Any) -> Any:
        return self.torch.where(self.torch.tensor(condition), x, y)


class Unsuitable(Exception):  # noqa: N818  # not a failure
    """The program runs out of bounds or over a kink, where libraries may differ."""


class Machine:
    """Runs a program on four variables."""

    def __init__(self, kind: Any, variables: Sequence[Any]) -> None:
        self.kind = kind
        self.variables = list(variables)

    def run(self, statements: Sequence[Any]) -> Any:
        self.block(statements)
        return self.kind.sequence("sum", self.variables) if len(statements) % 2 else self.variables[0] * 1.0

    def block(self, statements: Sequence[Any]) -> None:
        for kind, *rest in statements:
            getattr(self, kind.replace(" ", "_"))(*rest)
            if any(not math.isfinite(self.kind.data(x)) or abs(self.kind.data(x)) > 1e4 for x in self.variables):
                raise Unsuitable

    def value(self, what: tuple[str, Any]) -> Any:
        kind, thing = what
        if kind == "variable":
            return self.variables[thing]
        return thing if isinstance(self.kind, Values) or not isinstance(thing, np.generic | bool) else float(thing)

    def operate(self, target: int, sign: str, left: Any, right: Any) -> None:
        if left[0] == right[0] == "number":
            right = ("variable", target)
        if sign == "**" and self.kind.data(self.value(right)) == 0.0:
            # PyTorch's backward of pow has zero there instead of b * a**(b - 1), and so loses the mixed second
            # derivative: of a**b by a and b at b = 0 it is 1/a, which we give (docs/trust.md has the exact cells).
            raise Unsuitable
        self.variables[target] = OPERATORS[sign](self.value(left), self.value(right))

    def in_place(self, target: int, sign: str, right: Any) -> None:
        x = self.variables[target]
        if sign == "+":
            x += self.value(right)  # a new Value, and a new tensor: these are not modified
        elif sign == "-":
            x -= self.value(right)
        else:
            x *= self.value(right)
        self.variables[target] = x

    def call(self, target: int, name: str, source: int) -> None:
        x = self.variables[source]
        if name in ("sqrt", "log"):
            x = x * x + 0.25
        if name in ("abs", "relu") and abs(self.kind.data(x)) < 1e-6:
            raise Unsuitable
        if name == "exp":
            x = self.kind.call("tanh", x)
        self.variables[target] = self.kind.call(name, x)

    def sequence(self, target: int, name: str, sources: Sequence[int]) -> None:
        if name == "max":
            numbers = sorted(self.kind.data(self.variables[i]) for i in set(sources))
            if len(set(sources)) != len(sources) or any(b - a < 1e-6 for a, b in itertools.pairwise(numbers)):
                raise Unsuitable
        self.variables[target] = self.kind.sequence(name, [self.variables[i] for i in sources])

    def choose(self, target: int, by: int, left: int, right: int) -> None:
        condition = self._decide(by, left)
        self.variables[target] = self.kind.where(condition, self.variables[left], self.variables[right])

    def loop(self, times: int, body: Sequence[Any]) -> None:
        for _ in range(times):
            self.block(body)

    def branch(self, left: int, right: int, yes: Sequence[Any], no: Sequence[Any]) -> None:
        self.block(yes if self._decide(left, right) else no)

    def _decide(self, left: int, right: int) -> bool:
        a, b = (self.kind.data(self.variables[i]) for i in (left, right))
        if left != right and abs(a - b) < 1e-9:
            raise Unsuitable
        return a > b


def torch_run(torch: Any, statements: Any, inputs: Any) -> Any:
    # In place, Python's x += y on a tensor would change it: a fresh one is made first.
    return Machine(Tensors(torch), [x * 1.0 for x in inputs]).run(_without_in_place(statements))


def _without_in_place(statements: Sequence[Any]) -> list[Any]:
    found = []
    for kind, *rest in statements:
        if kind == "in place":
            target, sign, right = rest
            found.append(("operate", target, sign, ("variable", target), right))
        elif kind == "loop":
            found.append((kind, rest[0], _without_in_place(rest[1])))
        elif kind == "branch":
            found.append((kind, *rest[:2], _without_in_place(rest[2]), _without_in_place(rest[3])))
        else:
            found.append((kind, *rest))
    return found


def test_programs_against_torch() -> None:
    torch, ran = require("torch"), 0

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(program, point)
    def compare(statements: Any, at: tuple[float, ...]) -> None:
        nonlocal ran
        xs = [Value(x) for x in at]
        try:
            y = Machine(Values(), xs).run(statements)
        except (Unsuitable, ArithmeticError):
            assume(False)
        assume(isinstance(y, Value))
        inputs = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        theirs = torch_run(torch, statements, inputs)
        assert y.data == pytest.approx(theirs.item(), rel=1e-11, abs=1e-11)
        if not theirs.requires_grad:
            assert gradient(y, xs) == [0.0] * SIZE
            return
        slopes = torch.autograd.grad(theirs, inputs, create_graph=True)[0]
        mine = gradient(y, xs, create_graph=True)
        y.backward()
        assert [x.grad for x in xs] == [slope.data for slope in mine]  # whichever way, the same bits
        scale = max(1.0, float(slopes.detach().abs().max()))
        np.testing.assert_allclose(
            [slope.data for slope in mine], slopes.detach().numpy(), rtol=1e-9, atol=1e-10 * scale
        )
        direction = (1.0, -0.5, 0.25, 2.0)
        along = rg.dot(mine, direction)
        second = gradient(along, xs) if isinstance(along, Value) else [0.0] * SIZE
        expected = torch.zeros(SIZE, dtype=torch.float64)
        if slopes.requires_grad:
            found = torch.autograd.grad(
                slopes @ torch.tensor(direction, dtype=torch.float64), inputs, allow_unused=True
            )[0]
            expected = expected if found is None else found
        scale = max(scale, float(expected.abs().max()))
        np.testing.assert_allclose(second, expected.numpy(), rtol=1e-7, atol=1e-8 * scale)
        ran += 1

    compare()
    print(f"\n{ran:,} random programs compared with PyTorch, to second order")
    assert ran >= EXAMPLES // 3
