"""What tests select of an array, ``x[x > 0.0]``: summed, counted, computed with; and what only a plain array can do."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from support.flipping import Function, each_of, flips, is_converted

import retrograd as rg

pytestmark = pytest.mark.native


def of_data(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    x = np.array(xs)
    near = x[np.abs(x) < 1.0]
    return ps[0] * near.sum() + ps[1] * near.size + ps[2] * len(near) + ps[3] * np.sum(x[x > ps[4]])


def of_values(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    p, x = np.array(ps), np.array(xs)
    y = p * x
    positive = y > 0.0
    found = y[positive]
    if len(found) == 0:
        return ps[0]
    return found.mean() + found.max() * 0.5 - found.min() + np.mean(p[positive] * found) * x[~positive].sum()


def computed(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Functions whose domain only what is selected is in."""
    y = np.array(ps) * np.array(xs)
    above = y[y > 0.05]
    return (
        np.log(above).sum() + (1.0 / above).sum() * 0.01 + np.sqrt(above + 1.0).sum() + (ps[0] * above**2 - 1.0).sum()
    )


def deviation(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    y = np.array(ps) + np.array(xs)
    kept = y[np.abs(y) < 1.5]
    if kept.size < 2:
        return 0.5 * ps[0]
    centred = kept - kept.mean()
    return (centred * centred).sum() / (len(kept) - 1) + np.maximum(kept, 0.2).sum() - np.abs(-centred).max()


def in_arms(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    x = np.array(xs)
    total = 0.0 * ps[0]
    for p in ps[:4]:
        if p > 0.0:
            above = x[x > p]
            total += p * above.sum() if above.size > 2 else p * p
        elif x[x < p].size:
            total -= x[x < p].mean() * p
    return total


def by_label(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    x = np.array(xs)
    label = np.array([1 if p > 0.5 else 2 if p < -0.5 else 0 for p in ps])
    return sum(ps[k] * x[label == k].sum() + len(x[label == k]) * ps[k] for k in range(3))


@each_of(of_data, of_values, computed, deviation, in_arms)
def test_one_program_answers(f: Function) -> None:
    assert is_converted(flips(f, calls=30, tier="vm", bound=1e-11), traces=8)


def items_of_it(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    x = np.array(xs)
    above = x[x > 0.0]
    return ps[0] * (above[0] if len(above) else 0.5) + sum(ps[1] * one for one in above) + ps[2] * float(above.sum())


def sorted_and_compared(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    y = np.array(ps) * np.array(xs)
    above = y[y > 0.0]
    more = above[above > 0.5]
    return more.sum() + np.sort(above).sum() + np.dot(above, above) + np.cumsum(above).sum() + ps[0]


def with_others(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Of one mask that is computed twice; with an array as long; changed in place; a mask of two axes."""
    p, x = np.array(ps), np.array(xs)
    one, other = p[x > 0.0], x[x > 0.0]
    other *= 2.0
    square = x.reshape(3, 4)
    return (one * other).sum() + ps[0] * square[square > 0.3].sum() + (one - np.ones(len(one))).sum()


def asked_what_it_is(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    x = np.array(xs)
    above = x[x > ps[0]]
    found = ps[1] * above.sum() if isinstance(above, np.ndarray) and above.ndim == 1 else ps[2]
    return found + ps[3] * above.shape[0] + np.linalg.norm(np.array([ps[4] * one for one in above.tolist()] or [ps[5]]))


@each_of(by_label, items_of_it, sorted_and_compared, with_others, asked_what_it_is)
def test_what_wants_a_plain_array_gives_the_same(f: Function) -> None:
    flips(f, calls=30, tier="vm", bound=1e-11)


def largest(ps: Sequence[Any], x: Any) -> Any:
    return ps[0] * x[x > 0.3].max()


def smallest_value(ps: Sequence[Any], x: Any) -> Any:
    y = ps[0] * x
    return y[y > 0.3].min()


def mean_value(ps: Sequence[Any], x: Any) -> Any:
    y = ps[0] * x
    return y[y > 0.3].mean() * 2.0


def total(ps: Sequence[Any], x: Any) -> Any:
    y = ps[0] * x
    return y[y > 0.3].sum() + ps[0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [largest, smallest_value, mean_value, total])
def test_of_no_element_the_function_does_what_it_does(f: Callable[..., Any]) -> None:
    compiled, rng, odd = rg.compile(f), random.Random(1), 0
    for _ in range(40):
        ps, x = [1.0], np.array([rng.uniform(-1.0, 0.5) for _ in range(4)])
        wanted, found = _outcome(rg.value_and_grad(f), ps, x), _outcome(compiled.value_and_grad, ps, x)
        odd += not (x > 0.3).any()
        if type(wanted) is type:
            assert found is wanted
        else:
            assert found == pytest.approx(wanted, nan_ok=True)
    assert 0 < odd < 40


def _outcome(f: Callable[..., Any], *arguments: Any) -> Any:
    try:
        value, (gradient,) = f(*arguments)
    except Exception as error:
        return type(error)
    return [value, gradient]


def test_the_kind_of_a_sum_is_what_it_is() -> None:
    """Of no Values, NumPy's sum is an int."""

    def f(p: Any, x: Any) -> Any:
        y = p * x
        return y[y > 0.3].sum()

    compiled, rng, kinds = rg.compile(f), random.Random(2), set()
    p = rg.Value(1.0)
    for _ in range(30):
        x = np.array([rng.uniform(-1.0, 0.5) for _ in range(3)])
        wanted, found = f(p, x), compiled(p, x)
        assert type(found) is type(wanted)
        assert getattr(found, "data", found) == pytest.approx(getattr(wanted, "data", wanted))
        kinds.add(type(found))
    assert len(kinds) == 2


def test_an_array_is_a_result() -> None:
    def f(p: Any, x: Any) -> Any:
        above = x[x > 0.0]
        return p * above, above

    compiled, rng, p = rg.compile(f), random.Random(4), rg.Value(1.5)
    for _ in range(12):
        x = np.array([rng.gauss(0.0, 1.0) for _ in range(3)])
        wanted, found = f(p, x), compiled(p, x)
        assert [type(one) for one in found] == [type(one) for one in wanted]
        assert [one.data for one in found[0]] == [one.data for one in wanted[0]]
        assert found[1].tolist() == wanted[1].tolist()
