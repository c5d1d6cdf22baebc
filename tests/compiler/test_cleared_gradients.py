"""Gradients that an optimizer has cleared: compiled passes write them without reading, and nobody can tell."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from support.compiled_cases import KINDS as PREBUILT
from support.compiled_cases import native, near
from support.parts import ALL, require

import retrograd as rg
from retrograd import Index, Value, optim, take

pytestmark = native

KINDS = {**PREBUILT, "llvm": {"tier": "llvm"}}


class Both:
    """Two models of the same numbers, one of them compiled, to which the same things happen."""

    def __init__(self, kind: str) -> None:
        if kind == "llvm":
            require("llvmlite")
        self.bound = (
            1e-10  # relative to the largest gradient: numbers that optimizers have moved differ in the last bits
        )
        self.sides = [_Side(None), _Side(kind)]
        self.script: list[tuple[str, float]] = []

    def happen(self, name: str, draw: random.Random) -> None:
        self.script.append((name, draw.random()))

    def compare(self) -> None:
        """One side after the other: what the eager one does would put the other's numbers back into its Values."""
        found = []
        for side in self.sides:
            for name, seed in self.script:
                getattr(side, name)(random.Random(seed))
            found.append([p.grad for p in side.parameters])
        self.script.clear()
        assert near(found[1], found[0], self.bound), max(abs(a - b) for a, b in zip(*found, strict=True))


class _Side:
    def __init__(self, kind: str | None) -> None:
        draw = random.Random(4)
        self.rows = [[Value(draw.uniform(-1, 1)) for _ in range(3)] for _ in range(5)]
        self.weights = [[Value(draw.uniform(-1, 1)) for _ in range(3)] for _ in range(3)]
        self.bias = [Value(draw.uniform(-1, 1)) for _ in range(3)]
        self.unused = [Value(1.0), Value(2.0)]
        matrices = [*self.rows, *self.weights]
        self.parameters = [*(p for row in matrices for p in row), *self.bias, *self.unused]
        self.all = optim.SGD(self.parameters, 0.01)
        self.adam = optim.Adam(self.parameters, 0.01)
        self.part = optim.SGD(self.bias, 0.01)
        self.kind = kind
        self.chosen = self.function(self._chosen)
        self.narrow = self.function(self._narrow)
        self.itself = self.function(lambda: self.bias[1])
        self.long = self.function(self._long)

    def function(self, function: Callable[..., Any]) -> Any:
        return rg.compile(function, **KINDS[self.kind]) if self.kind else function

    def _chosen(self, tokens: list[Any]) -> Any:
        """Some rows of a table, through weights: what is not chosen is owed nothing."""
        total: Any = 0.0
        for token in tokens:
            x = take(self.rows, token)
            hidden = [
                sum(w * v for w, v in zip(row, x, strict=True)) + b
                for row, b in zip(self.weights, self.bias, strict=True)
            ]
            total = total + sum(h.tanh() for h in hidden)
        return total

    def _narrow(self, x: float) -> Any:
        return sum((b * x).sin() for b in self.bias[1:])

    def _long(self, scale: Any) -> Any:
        """Long enough for strips."""
        return sum(((self.bias[0] * (0.001 * i) + self.bias[2] * scale) ** 2 for i in range(3000)), Value(0.0))

    def run(self, function: Any, *arguments: Any) -> None:
        if self.kind:
            function.backward(*arguments)
        else:
            function(*arguments).backward()

    # --- what may happen ---

    def choose(self, draw: random.Random) -> None:
        self.run(self.chosen, [Index(draw.randrange(5)) for _ in range(3)])

    def narrow_one(self, draw: random.Random) -> None:
        self.run(self.narrow, draw.uniform(-1, 1))

    def return_itself(self, draw: random.Random) -> None:
        self.run(self.itself)

    def batch(self, draw: random.Random) -> None:
        members = [([Index(draw.randrange(5)) for _ in range(3)],) for _ in range(draw.choice([1, 2, 3, 5]))]
        if self.kind:
            self.chosen.backward_batch(members)
        else:
            total = sum(self.chosen(*arguments) for arguments in members)
            (total * (1 / len(members))).backward()

    def strips(self, draw: random.Random) -> None:
        self.run(self.long, draw.uniform(-1, 1))

    def eager(self, draw: random.Random) -> None:
        (self.bias[0] * self.unused[1]).backward()

    def clear(self, draw: random.Random) -> None:
        self.all.zero_grad()

    def clear_part(self, draw: random.Random) -> None:
        self.part.zero_grad()

    def step(self, draw: random.Random) -> None:
        draw.choice([self.all, self.adam, self.part]).step()

    def assign(self, draw: random.Random) -> None:
        draw.choice(self.parameters).grad = draw.uniform(-1, 1)

    def look(self, draw: random.Random) -> None:
        draw.choice(self.parameters).grad  # noqa: B018


HAPPENINGS = [name for name in vars(_Side) if name not in ("function", "run") and not name.startswith("_")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8 if ALL else 3))
def test_whatever_happens_gradients_are_the_eager_ones(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    both = Both(kind)
    for _ in range(60):
        both.happen(draw.choice([*HAPPENINGS, "clear", "clear"]), draw)
        if draw.random() < 0.2:
            both.compare()
    both.compare()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [name for name in HAPPENINGS if name not in ("clear", "look")])
def test_the_first_pass_after_clearing(kind: str, first: str) -> None:
    both = Both(kind)
    for times in range(3):
        draw = random.Random(times)
        both.happen("choose", draw)
        both.happen("clear", draw)
        both.happen(first, draw)
        if times != 1:
            both.happen("choose", draw)
        both.compare()


def test_these_programs_have_a_pass_that_does_not_read() -> None:
    """Without it the other tests here would be about nothing."""
    side = Both("vm").sides[1]
    for name in ("choose", "narrow_one", "batch", "strips"):
        getattr(side, name)(random.Random(0))
    for function in (side.chosen, side.narrow, side.long):
        (fact,) = function._cache.facts()
        forward, *backward = function._cache.memory(fact["number"], 1)["passes"]
        assert forward == 0
        assert len(backward) == 2, "adding, and setting"


@pytest.mark.parametrize("kind", KINDS)
def test_cleared_gradients_are_zero_to_whoever_looks(kind: str) -> None:
    side = Both(kind).sides[1]
    side.choose(random.Random(0))
    side.all.zero_grad()
    assert [p.grad for p in side.parameters] == [0.0] * len(side.parameters)
    side.choose(random.Random(0))
    side.all.zero_grad()
    before = [p.data for p in side.parameters]
    side.all.step()
    assert [p.data for p in side.parameters] == before
