"""One of two dictionaries that decisions choose, and what is read of it as of one: loops, sums, lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.flipping import Function, each_of, flips, in_every_tier

pytestmark = pytest.mark.native

NAMES = ("bonds", "cash", "gold", "stock")
WEIGHTS = {"bonds": 0.5, "cash": 1.5, "gold": 2.5, "stock": 3.5, "other": 4.5}


def passing(ps: Sequence[Any], xs: Sequence[float], bound: float = 0.8) -> dict[str, Any]:
    return {name: p * x for name, p, x in zip(NAMES, ps, xs, strict=False) if x > bound}


def in_order(things: dict[str, Any]) -> Any:
    """Tells the order of the keys."""
    total, rank = 0.0, 1.0
    for name, one in things.items():
        total += rank * one * WEIGHTS[name]
        rank += 1.0
    return total + rank


def another_where_empty(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    have = dict(zip(NAMES, ps, strict=False))
    for k in range(4):
        under = {name: p * x for name, p, x in zip(NAMES, ps, xs[k:], strict=False) if x > 0.8}
        if not under:
            under = {"gold": 1.0}
        need = sum(abs(one) for one in under.values()) + 1.0
        for name, short in under.items():
            have[name] += 0.1 * short / need
    return sum(one * one for one in have.values())


def another_key_where_empty(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = passing(ps, xs)
    if len(found) == 0:
        found = {"other": ps[0], "bonds": ps[1]}
    return in_order(found) * len(found) + (ps[2] if "other" in found else found.get("cash", ps[3]))


def in_an_expression(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = passing(ps, xs) or {"stock": ps[3], "other": 2.0}
    return in_order(found) + max(found.values()) * len(found)


def one_of_two_filtered(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other = passing(ps, xs, 0.0), passing(ps[1:], xs[4:], -0.5)
    found = one if xs[9] > 0.0 else other
    total = in_order(found)
    for name in sorted(found):
        total = total * 0.5 + found[name]
    return total + sum(one.values()) - 2.0 * sum(other.values())


def in_another_order(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one = {"bonds": ps[0], "gold": ps[1], "cash": 1.0}
    other = {"cash": ps[2], "bonds": ps[3]}
    found = one if xs[0] > xs[1] else other
    if xs[2] > 0.5:
        found = {"gold": ps[4] * xs[2]}
    return in_order(found)


def one_of_three(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for x in xs[:5]:
        if x > 0.5:
            rates = {"cash": ps[0], "gold": ps[1] * x}
        elif x > 0.0:
            rates = {"gold": ps[2], "stock": x, "cash": 1.0}
        else:
            rates = {"stock": ps[3]}
        for name, one in rates.items():
            total = 0.7 * total + one * WEIGHTS[name]
    return total


def of_parameters(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """With lists as values, which are the very lists."""
    rows: dict[str, list[Any]] = {"bonds": [], "cash": [], "gold": []}
    few = {"gold": rows["gold"]}
    for x in xs[:6]:
        found = few if x > 0.3 else rows
        for k, row in enumerate(found.values()):
            row.append(ps[k] * x)
    return sum(sum(row) * (k + 1.0) + len(row) for k, row in enumerate(rows.values()))


@in_every_tier
@each_of(
    *(another_where_empty, another_key_where_empty, in_an_expression, one_of_two_filtered),
    *(in_another_order, one_of_three),
)
def test_reads_one_of_some(f: Function, tier: str) -> None:
    flips(f, 40, tier=tier)


def changed_afterwards(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other = passing(ps, xs, 0.0), {"gold": ps[5]}
    found = one if xs[9] > 0.0 else other
    one["cash"] = ps[6]
    other["stock"] = ps[7]
    return in_order(found) + in_order(one)


def changed_through_the_other_name(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other = passing(ps, xs, 0.0), {"gold": ps[5]}
    found = one if xs[9] > 0.0 else other
    total = in_order(found)
    found["cash"] = ps[6]
    return total + in_order(found) + in_order(one) * 2.0 + in_order(other) * 3.0


def changed_in_the_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other = passing(ps, xs, 0.0), {"gold": ps[5]}
    if xs[9] > 0.0:
        one["other"] = ps[6]
        found = one
    else:
        other["gold"] = ps[7]
        found = other
    return in_order(found) + in_order(one) + in_order(other)


def changed_while_read(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other = passing(ps, xs, -1.0), {"gold": ps[5], "stock": ps[6]}
    found, total = one if xs[9] > 0.0 else other, 0.0
    for name, thing in found.items():
        total = 0.5 * total + thing
        if "stock" in other:
            other["stock"] = total + WEIGHTS[name]
    return total + other["stock"]


def read_later(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A view shows what the dictionary has when it is read."""
    one, other = {"gold": ps[4]}, {"gold": ps[5], "stock": ps[6]}
    found = one if xs[9] > 0.0 else other
    values = found.values()
    one["gold"] = ps[0] * xs[0]
    if xs[1] > 0.0:
        other["stock"] = ps[1] * xs[1]
    return sum(values) * 2.0


def told_by_identity(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other = passing(ps, xs, 0.0), {"gold": ps[5]}
    found = one if xs[9] > 0.0 else other
    total = sum(found.values())
    again = found if xs[8] > 0.0 else one
    if found is one:
        total = total * 2.0
    if again is one:
        total = total + ps[8]
    return total + (ps[9] if found is not other else 0.5)


def with_keys_that_are_equal(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one, other = {1: ps[0], 2: ps[1]}, {True: ps[2], 2.0: ps[3] * xs[0]}
    found = one if xs[9] > 0.0 else other
    total = 0.0
    for key, thing in found.items():
        total = 0.5 * total + thing * (3.0 if key is True else 1.0 if type(key) is float else 2.0)
    return total


def kept_in_an_object(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept = [passing(ps, xs, 0.0), {"gold": ps[5]}]
    for x in xs[:4]:
        found = kept[0] if x > 0.0 else kept[1]
        kept[1] = {name: 0.5 * one for name, one in found.items()}
    return in_order(kept[1]) + in_order(kept[0])


def counted_up(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The same dictionary in each iteration, or a new one."""
    found: dict[str, Any] = {"gold": ps[0]}
    for x, name in zip(xs, NAMES * 2, strict=False):
        if x > 1.0:
            found = {}
        found[name] = found.get(name, 0.5) + ps[1] * x
    return in_order(found)


TABLE: dict[str, Any] = {"gold": 1.5, "cash": 0.5}


def changed_and_put_back(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = TABLE if xs[9] > 0.0 else {"gold": ps[5]}
    before = TABLE["gold"]
    TABLE["gold"] = 7.5
    total = in_order(found) * ps[0]
    TABLE["gold"] = before
    return total + in_order(found)


def made_from_one(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What is made of it is another dictionary, which changes."""
    one, other = passing(ps, xs, 0.0), {"gold": ps[5], "other": 1.0}
    found = one if xs[9] > 0.0 else other
    again, more = dict(found), found.copy()
    again["cash"] = ps[6]
    more["stock"] = more.get("stock", 0.0) + ps[7]
    return in_order(again) + 2.0 * in_order(more) + in_order(found) + in_order(one)


def of_one_in_both(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A copy of a copy, and the one that it is of."""
    one = passing(ps, xs, 0.0)
    found = one if xs[9] > 0.0 else {"other": ps[1]}
    again = found if xs[8] > 0.5 else one
    return in_order(again) + 2.0 * in_order(found) - sum(one.values())


@each_of(
    *(changed_afterwards, changed_through_the_other_name, changed_in_the_arm, changed_while_read, read_later),
    *(told_by_identity, with_keys_that_are_equal, kept_in_an_object, counted_up, of_one_in_both, of_parameters),
    *(changed_and_put_back, made_from_one),
)
def test_has_what_the_function_has(f: Function) -> None:
    flips(f, 60)
