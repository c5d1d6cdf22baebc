"""Tuples of numbers, texts and truth values that are sorted, or of which the largest is chosen, as Python has them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from support.flipping import Function, each_of, in_every_tier, is_answered, is_converted

import retrograd as rg

pytestmark = pytest.mark.native

NAMES = ("delta", "alpha", "echo", "bravo", "charlie")
WEIGHTS = {name: 0.25 + k for k, name in enumerate(NAMES)}


class Bid(NamedTuple):
    price: Any
    who: str


def pairs_of(ps: Sequence[Any], xs: Sequence[float]) -> list[Any]:
    """Some numbers are equal: all that are not positive are 0."""
    return [(p * max(x, 0.0), name) for p, x, name in zip(ps, xs, NAMES, strict=False)]


def weighted(pairs: Sequence[Any]) -> Any:
    return sum((k + 1.0) * x * WEIGHTS[name] + 0.1 * k * WEIGHTS[name] for k, (x, name) in enumerate(pairs))


def ascending(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return weighted(sorted(pairs_of(ps, xs)))


def descending(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return weighted(sorted(pairs_of(ps, xs), reverse=True))


def in_place(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    pairs = pairs_of(ps, xs)
    pairs.sort(reverse=True)
    best, who = pairs[0]
    return weighted(pairs) + best * WEIGHTS[who]


def filtered(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    pairs = [(x, name) for x, name in pairs_of(ps, xs) if x >= 0.0]
    total = weighted(sorted(pairs)) - ps[0] * weighted(sorted(pairs, reverse=True))
    for x, name in sorted(pairs, reverse=True):
        if x < 0.5:
            break
        total += x * WEIGHTS[name]
    return total


def filtered_in_place(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    pairs = [one for one in pairs_of(ps, xs) if one[0] >= 0.0]
    pairs.sort()
    return weighted(pairs)


def by_text_first(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    pairs = [("high" if x > 0.5 else "even" if x > 0.0 else "low", p * x) for p, x in zip(ps, xs, strict=False)][:6]
    return sum((k + 1.0) * y * len_of(kind) for k, (kind, y) in enumerate(sorted(pairs)))


def len_of(kind: str) -> float:
    return {"high": 4.0, "even": 5.0, "low": 3.0}[kind]


def nested(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    rows = [((p * max(x, 0.0), NAMES[k % 2]), x > -1.0, k) for k, (p, x) in enumerate(zip(ps, xs[:6], strict=False))]
    found = sorted(rows, reverse=True)
    return sum((k + 1.0) * y * WEIGHTS[name] + (0.5 if up else 0.0) + n for k, ((y, name), up, n) in enumerate(found))


def named(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    bids = sorted(Bid(x, name) for x, name in pairs_of(ps, xs))
    return sum((k + 1.0) * bid.price * WEIGHTS[bid.who] for k, bid in enumerate(bids)) + bids[-1].price


def texts_alone(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """As the key, and as what is sorted."""
    kinds = ["b" if x > 0.5 else "a" if x > 0.0 else "c" for x in xs[:5]]
    values = {"a": ps[0], "b": ps[1] * ps[1], "c": ps[2]}
    places = sorted(range(5), key=lambda k: kinds[k])
    total = sum((k + 1.0) * values[kind] for k, kind in enumerate(sorted(kinds, reverse=True)))
    return total + sum((k + 1.0) * ps[i] for k, i in enumerate(places))


def extremes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    pairs = pairs_of(ps, xs)
    (high, one), (low, other) = max(pairs), min(pairs)
    return high * WEIGHTS[one] + low + WEIGHTS[other] * ps[0]


def filtered_extremes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    pairs = [one for one in pairs_of(ps, xs) if one[0] >= 0.0]
    (high, one), (low, other) = max(pairs, default=(ps[0], "echo")), min(pairs, default=(ps[1], "alpha"))
    return high * WEIGHTS[one] + low * ps[2] + WEIGHTS[other] * ps[0]


def extremes_in_an_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    pairs = pairs_of(ps, xs)
    if xs[7] > 0.0:
        high, name = max(pairs)
        return high * WEIGHTS[name] * ps[3]
    return weighted(sorted(pairs))


@in_every_tier
@each_of(ascending, descending, in_place, filtered, filtered_in_place, by_text_first, nested, named)
def test_sorts_as_python_does(f: Function, tier: str) -> None:
    assert is_answered(f, 40, tier=tier, traces=8)


@in_every_tier
@each_of(texts_alone, extremes, filtered_extremes, extremes_in_an_arm)
def test_finds_what_python_finds(f: Function, tier: str) -> None:
    assert is_answered(f, 40, tier=tier, traces=8)


def many(p: Any, xs: Sequence[float]) -> Any:
    """More than neighbours are exchanged of, and equal ones among them."""
    pairs = sorted((p * max(x, 0.0), NAMES[k % 5]) for k, x in enumerate(xs))
    return sum(k * x * WEIGHTS[name] + 0.01 * k * WEIGHTS[name] for k, (x, name) in enumerate(pairs))


def _agrees(f: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> rg.compiler.Compiled[Any, Any]:
    """Compare with the function, also in what it raises."""
    compiled = rg.compile(f)
    for call in calls:
        found = []
        for g in (rg.value_and_grad(f), compiled.value_and_grad):
            try:
                found.append(g(*call))
            except (TypeError, ValueError, IndexError, KeyError) as problem:
                found.append(type(problem))
        if isinstance(found[0], type) or isinstance(found[1], type):
            assert found[0] is found[1], call
        else:
            assert found[1][0] == pytest.approx(found[0][0], rel=1e-12, abs=1e-12, nan_ok=True), call
            assert found[1][1] == pytest.approx(found[0][1], rel=1e-12, abs=1e-12, nan_ok=True), call
    return compiled


def test_sorts_many() -> None:
    rng = random.Random(1)
    calls = [(1.5, [rng.gauss(0.0, 1.0) for _ in range(40)]) for _ in range(30)]
    assert is_converted(_agrees(many, calls), 8)


def of_three(p: Any, x: float, y: float, z: float) -> Any:
    found = sorted([(p * x, "b"), (p * y, "a"), (p * z, "c")])
    return sum((k + 1.0) * one * WEIGHTS_OF[name] + k * WEIGHTS_OF[name] for k, (one, name) in enumerate(found)) * p


WEIGHTS_OF = {"a": 1.0, "b": 3.0, "c": 9.0}


def test_has_ties_and_what_is_no_number_as_python_has_them() -> None:
    numbers = [0.0, -0.0, 1.0, 2.0, float("inf"), float("nan"), -1.0]
    calls = [(1.25, x, y, z) for x in numbers for y in numbers for z in numbers]
    finite = [call for call in calls if all(abs(one) < 9.0 for one in call)]
    assert is_converted(_agrees(of_three, finite + finite), 8)
    _agrees(of_three, [*finite, *calls])


def mixed(p: Any, x: float, y: float) -> Any:
    """Where the numbers are equal, a text and an int do not compare."""
    (one, _), (other, _) = sorted([(p * x, "b"), (p * y, 1)])
    return one + 2.0 * other


def of_objects(p: Any, x: float, y: float) -> Any:
    """So do objects."""
    (one, _), (other, _) = sorted([(p * x, object), (p * y, p)])
    return one + 2.0 * other


def of_lengths(p: Any, x: float, y: float) -> Any:
    found = max([(p * x, "b"), (p * y,), (p * y, "a")])
    return found[0] * len(found)


@pytest.mark.parametrize("f", [mixed, of_objects, of_lengths])
def test_raises_what_python_raises(f: Callable[..., Any]) -> None:
    calls = [(1.5, float(x), float(y)) for x in range(4) for y in range(4)]
    _agrees(f, calls + calls)


def of_arguments(p: Any, rows: list[tuple[float, str]]) -> Any:
    pairs = [(p * max(x, 0.0), name) for x, name in rows]
    pairs.sort(reverse=True)
    (high, one), (low, other) = pairs[0], min(pairs)
    return sum((k + 1.0) * x for k, (x, _) in enumerate(pairs)) + high * (one == "a") + (p if other == "b" else low)


def test_sorts_texts_that_arguments_bring() -> None:
    rng = random.Random(3)
    calls = [(1.5, [(rng.gauss(0.0, 1.0), rng.choice("abcd")) for _ in range(4)]) for _ in range(60)]
    compiled = _agrees(of_arguments, calls)
    assert compiled.stats().eager <= 2  # until it is known that texts differ
    later = [(2.5, [(rng.gauss(0.0, 1.0), rng.choice("aZzäb")) for _ in range(4)]) for _ in range(40)]
    for call in later:  # texts that no call has had
        wanted = rg.value_and_grad(of_arguments)(*call)
        assert compiled.value_and_grad(*call) == pytest.approx(wanted, rel=1e-12)
