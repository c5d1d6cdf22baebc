"""An arm that does more than compute and store stays an arm: what it changes is changed where it is taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from support.flipping import Function, draw, flips

import retrograd as rg
from retrograd import math as m

pytestmark = pytest.mark.native


class Counting:
    """A property that counts, and an operator that does."""

    def __init__(self) -> None:
        self.reads = 0

    @property
    def rate(self) -> float:
        self.reads += 1
        return 0.5

    def __radd__(self, other: Any) -> Any:
        self.reads += 1
        return other + 1.0


class Base:
    """What a method finds through super()."""

    def bent(self, p: Any) -> Any:
        return p * 2.0


class Derived(Base):
    def bent(self, p: Any) -> Any:
        return super().bent(p) if p > 0 else p


def appends(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept: list[Any] = []
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            kept.append(p)
    return sum(kept) * len(kept) + ps[0]


def extends_in_place(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept: list[Any] = []
    alias = kept
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            kept += [p]
    return sum(alias) + len(alias) * ps[0]


def fills_a_dictionary(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    seen: Any = defaultdict(float)
    for i, (p, x) in enumerate(zip(ps, xs, strict=True)):
        total = seen[i] if p > x else p
    return total + sum(ps) + len(seen)


def moving(read: Callable[[Iterator[float]], float]) -> Function:
    """A function in an arm of which an iterator moves on."""

    def moves_on(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        rest = iter(xs)
        total = ps[0]
        for p in ps:
            total = total + (p * read(rest) if p > 0 else 1.0)
        return total

    return moves_on


def asks_a_property(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    counting = Counting()
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        total = total + (p * counting.rate if p > x else p)
    return total * counting.reads


def adds_an_object(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    counting = Counting()
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        total = total + ((p * p) + counting if p > x else p)
    return total * counting.reads


def calls_twice(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    drawn = iter(xs)
    total = ps[0]
    for p in ps[: len(ps) // 2]:
        total = total + (p if -0.5 < next(drawn) < p else p * p)
    return total + next(drawn)


def leaves_names_unbound(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            last = p
        total = total + last if p > 0.5 + x else total
    return total


def asks_for_a_class(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        some = p if p > x else 2
        total = total + (some if isinstance(some, int) else 3.0 * some)
    return total


def calls_super(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(Derived().bent(p - x) for p, x in zip(ps, xs, strict=True))


STAYS: list[Function] = [
    *(appends, extends_in_place, fills_a_dictionary, moving(next), moving(sum), asks_a_property, adds_an_object),
    *(calls_twice, asks_for_a_class, calls_super),
]


@pytest.mark.parametrize("f", STAYS, ids=lambda f: f.__name__)
def test_an_arm_that_does_something_stays_an_arm(f: Function) -> None:
    """Values and gradients are the function's, whatever an arm changes."""
    flips(f)


OPEN: list[str] = []


def puts_back(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total, kept = ps[0], []
    for p, x in zip(ps, xs, strict=True):
        OPEN.append("one")
        if p > x:
            total = total + p
            kept.append(p)
        OPEN.pop()
    return total + sum(kept)


def test_what_is_put_back_is_put_back() -> None:
    """A trace that finds an arm to be none goes on to its end, as the function does."""
    flips(puts_back)
    assert not OPEN


def test_a_variable_that_is_not_there_is_not_invented() -> None:
    """The error of the function is that of the compiled one."""
    compiled = rg.compile(leaves_names_unbound)
    for seed in range(40):
        outcomes = []
        for call in (rg.value_and_grad(leaves_names_unbound), compiled.value_and_grad):
            try:
                outcomes.append(call(*draw(seed)))
            except UnboundLocalError:
                outcomes.append("unbound")
        assert isinstance(outcomes[0], str) == isinstance(outcomes[1], str)
        if not isinstance(outcomes[0], str):
            assert outcomes[1][1] == pytest.approx(outcomes[0][1], rel=1e-12)


def test_an_arm_that_raises_raises_when_it_is_taken() -> None:
    """And only then: the logarithm of a negative number, a key that is missing."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        table = {True: 1.0}
        return sum((m.log(p + 1.0) if p > -1.0 else 2.0 * p) + (0.0 if p > -30.0 else table[False]) for p in ps)

    flips(f, calls=30)
    with pytest.raises(KeyError):
        rg.compile(f).value_and_grad([-40.0, 1.0], [0.0, 0.0])
