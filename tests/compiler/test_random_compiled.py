"""Programs that nobody thought of: hypothesis writes them, and shrinks the ones that a compiled function gets wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.compiled_cases import assert_equals_eager, native
from support.parts import ALL

import retrograd as rg
from retrograd import Index, Value, take

pytestmark = native
EXAMPLES = 1500 if ALL else 75

Step = tuple[Any, ...]
PLACES = st.integers(0, 10**6)
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.0, 0.5, 3.0, -2.5])

#: Each keeps numbers small, so that neither overflow nor cancellation blurs the comparison.
UNARY: dict[str, Any] = {
    "neg": lambda a: -a,
    "tanh": lambda a: a.tanh(),
    "relu": lambda a: a.relu(),
    "square": lambda a: (0.5 * a).square(),
    "power": lambda a: (a * 0.25) ** 2,
    "cube": lambda a: (a * 0.25) ** 3,
    "sigmoid": lambda a: a.sigmoid(),
    "abs": lambda a: abs(a),
    "sin": lambda a: a.sin(),
    "exp": lambda a: a.tanh().exp(),
    "log": lambda a: (a * a + 0.5).log(),
    "root": lambda a: (a * a + 0.25).sqrt(),
    "detach": lambda a: a.detach() + a * 0.5,
    "data": lambda a: a * a.data,
}
BINARY: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (b * b + 1.0),
    "maximum": lambda a, b: rg.math.maximum(a, b),
    "atan2": lambda a, b: rg.math.atan2(a, b * b + 1.0),
    "max": lambda a, b: max(a, b) * 1.0,
}
SEQUENCE = ["sum", "mean", "dot", "prod", "max", "min", "logsumexp", "softmax"]

STEPS = st.one_of(
    st.tuples(st.just("unary"), st.sampled_from(sorted(UNARY)), PLACES),
    st.tuples(st.just("binary"), st.sampled_from(sorted(BINARY)), PLACES, PLACES),
    st.tuples(st.just("number"), st.sampled_from(["add", "sub", "mul"]), PLACES, NUMBERS, st.booleans()),
    st.tuples(st.just("row"), st.sampled_from(SEQUENCE), PLACES, st.integers(1, 7), st.integers(1, 3)),
    # loops: elementwise over a stretch, an accumulation in place, a chain in either nesting, a matrix times a vector
    st.tuples(
        st.just("each"),
        st.sampled_from(sorted(BINARY)),
        PLACES,
        PLACES,
        st.integers(1, 9),
        st.integers(1, 2),
        st.integers(0, 2),
    ),
    st.tuples(st.just("place"), PLACES, PLACES, st.integers(1, 9)),
    st.tuples(
        st.just("chain"), PLACES, st.integers(1, 9), st.booleans(), NUMBERS, st.sampled_from(["sum", "product", "dot"])
    ),
    st.tuples(st.just("matrix"), PLACES, PLACES, st.integers(1, 5), st.integers(1, 5), st.integers(1, 3)),
    st.tuples(st.just("window"), PLACES, PLACES, st.integers(1, 6), st.integers(1, 4)),
    st.tuples(st.just("branch"), PLACES, PLACES, st.booleans()),
    st.tuples(st.just("select"), PLACES, st.integers(1, 6), st.integers(0, 1), NUMBERS),
)


class Interpreter:
    """Runs a program of steps on the numbers that there are so far."""

    def __init__(self, steps: list[Step], leaves: list[Value]) -> None:
        self.steps = steps
        self.leaves = leaves

    def __call__(self, xs: list[float], indices: list[Index]) -> Any:
        return Run(xs, indices, [*self.leaves, *(self.leaves[0] * x for x in xs)]).total(self.steps)


class Run:
    """One run, which may change what is its own."""

    def __init__(self, xs: list[float], indices: list[Index], memory: list[Any]) -> None:
        self.xs, self.indices, self.memory = xs, indices, memory

    def total(self, steps: list[Step]) -> Any:
        for step in steps:
            getattr(self, step[0])(*step[1:])
        total: Any = 0.0
        for i, value in enumerate(self.memory):
            total = total + value * (1.0 + 0.125 * (i % 5))
        return total

    def at(self, place: int) -> Any:
        return self.memory[place % len(self.memory)]

    def stretch(self, place: int, count: int, step: int = 1) -> list[Any]:
        return [self.at(place + i * step) for i in range(count)]

    def keep(self, *values: Any) -> None:
        self.memory.extend(value.tanh() if isinstance(value, Value) else value for value in values)

    def unary(self, name: str, place: int) -> None:
        self.keep(UNARY[name](self.at(place)))

    def binary(self, name: str, a: int, b: int) -> None:
        self.keep(BINARY[name](self.at(a), self.at(b)))

    def number(self, name: str, place: int, number: float, left: bool) -> None:
        a, b = (number, self.at(place)) if left else (self.at(place), number)
        self.keep(BINARY[name](a, b))

    def row(self, name: str, place: int, count: int, step: int) -> None:
        operands = [self.stretch(place, count, step)]
        if name == "dot":
            operands.append(self.stretch(place + 1, count))
        result = getattr(rg.math, name)(*operands)
        self.keep(*(result if isinstance(result, list) else [result]))

    def each(self, name: str, a: int, b: int, count: int, step_a: int, step_b: int) -> None:
        pairs = zip(self.stretch(a, count, step_a), self.stretch(b, count, step_b), strict=True)
        self.keep(*[BINARY[name](x, y) for x, y in pairs])

    def place(self, target: int, source: int, count: int) -> None:
        for i in range(count):
            where = (target + i // 2) % len(self.memory)
            self.memory[where] = (self.memory[where] + self.at(source + i) * self.at(source)).tanh()

    def chain(self, place: int, count: int, left: bool, start: float, what: str) -> None:
        total: Any = start
        for i in range(count):
            term = self.at(place + i)
            if what == "dot":
                term = term * self.at(place + 2 * i + 1)
            if what == "product":
                total = total * term if left else term * total
            else:
                total = total + term if left else term + total
        self.keep(total)

    def matrix(self, a: int, b: int, rows: int, columns: int, step: int) -> None:
        self.keep(
            *[sum(self.at(a + i * columns + j) * self.at(b + j * step) for j in range(columns)) for i in range(rows)]
        )

    def window(self, a: int, b: int, count: int, size: int) -> None:
        self.keep(*[sum(self.at(a + i + j) * self.at(b + j) for j in range(size)) for i in range(count)])

    def branch(self, a: int, b: int, of_data: bool) -> None:
        x, y = self.at(a), self.at(b)
        taken = x.data > y.data if of_data else x > y + 0.125
        self.keep(x * 2.0 - y if taken else x * y)

    def select(self, place: int, count: int, slot: int, number: float) -> None:
        candidates = [*self.stretch(place, count), number, *self.stretch(place + 3, count, 2), *self.xs]
        while len(candidates) < 12:
            candidates.append(candidates[-1])
        self.keep(take(candidates[:12], self.indices[slot]) * self.at(place))


POINTS = [
    ([0.3, -0.7, 0.9, -0.2, 0.55], ([0.5, -0.25], [Index(0), Index(11)])),
    ([-0.6, 0.4, -0.1, 0.8, -0.95], ([-0.75, 0.125], [Index(7), Index(3)])),
    ([0.5, 0.5, 0.5, 0.5, 0.5], ([0.5, 0.5], [Index(2), Index(2)])),
]


@pytest.mark.parametrize("kind", ["vm", "exact"])
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(steps=st.lists(STEPS, min_size=1, max_size=14), repeats=st.integers(1, 3))
def test_a_random_program(kind: str, steps: list[Step], repeats: int) -> None:
    leaves = [Value(0.0) for _ in range(5)]
    program = Interpreter(steps * repeats, leaves)
    assert_equals_eager(program, leaves, POINTS, kinds=(kind,), bound=1e-9)
