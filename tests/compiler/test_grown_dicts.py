"""Dictionaries whose keys data decide: groups, counts, sums by key."""

# ruff: noqa: RUF015 (the statements are what is tested)
from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from support.flipping import (
    Function,
    draw,
    each_of,
    flips,
    in_every_tier,
    is_answered,
    raises_where_nothing_passes,
)

import retrograd as rg
from retrograd import math

pytestmark = pytest.mark.native


# --- sums and counts by key ---------------------------------------------------------------------------------------


def sums(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = defaultdict(float)
    for x in xs:
        total["up" if x > 0 else "down"] += ps[0] * x
    return total["up"] * ps[1] - total["down"] ** 2


def counts(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found: Counter[str] = Counter()
    for x in xs:
        found["up" if x > 0.3 else "level" if x > -0.3 else "down"] += 1
    most = max(found, key=found.get)  # type: ignore[arg-type]
    return ps[0] * found["up"] + ps[1] * ps[0] * found["down"] + found[most] * ps[2] + len(found)


def counts_of_a_generator(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = Counter("up" if x > 0 else "down" for x in xs)
    return ps[0] * found["up"] + ps[1] * found["down"] + found["level"]


def with_get(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Any int may be a key."""
    total: dict[int, Any] = {}
    for x in xs:
        k = int(x * 2)
        total[k] = total.get(k, 0.0) + ps[0] * x
    return sum(v * v for v in total.values()) * ps[1] + len(total) + max(total.values())


def asked_before(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = {}
    for x in xs:
        k = "a" if x > 0.5 else "b" if x > -0.5 else "c"
        if k not in total:
            total[k] = 0.0
        total[k] += ps[0] * x
    return sum(v * ps[i] for i, v in enumerate(total.values())) + ("a" in total) * ps[4]


def kept_in_a_cache(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    known, total = {}, 0.0
    for x in xs:
        k = int(abs(x) * 3)
        if k not in known:
            known[k] = math.sin(ps[0] * k)
        total += known[k] * ps[1]
    return total + len(known)


def of_pairs(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    steps: defaultdict[tuple[str, str], int] = defaultdict(int)
    last = "low"
    for x in xs:
        now = "high" if x * ps[0] > 0.2 else "low"
        steps[last, now] += 1
        last = now
    return ps[1] * steps["low", "high"] + ps[2] * steps["high", "high"] + len(steps)


def by_a_test(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = defaultdict(float)
    for x in xs:
        total[x > ps[0]] += x * ps[1]
    return total[True] * ps[2] - total[False]


class Side(enum.Enum):
    LEFT = "left"
    RIGHT = "right"


def by_a_member(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = defaultdict(float)
    for x in xs:
        side = Side.LEFT if x < 0.0 else Side.RIGHT
        total[side] += x * ps[1]
    return total[Side.LEFT] * ps[2] - total[Side.RIGHT]


def of_a_constant(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    product = defaultdict(lambda: 1.0)
    for x in xs:
        product["up" if x > 0 else "down"] *= 1.0 + ps[0] * x * 0.1
    return product["up"] * ps[1] - product["down"]


def the_most_common(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = Counter(round(x) for x in xs)
    ((most, count),) = found.most_common(1)
    total = ps[0] * most + ps[1] * count
    for k, n in found.most_common():
        total = total * 0.5 + k * n * ps[2]
    return total


def by_two_keys(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: Any = defaultdict(lambda: defaultdict(float))
    for i, x in enumerate(xs):
        total["up" if x > 0 else "down"][i % 2] += ps[0] * x
    return total["up"][0] * ps[1] - total["down"][1]


class Totals:
    def __init__(self) -> None:
        self.sums: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()

    def add(self, key: str, x: Any) -> None:
        self.sums[key] = self.sums.get(key, 0.0) + x
        self.counts[key] += 1


def of_an_object(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    totals = Totals()
    for x in xs:
        totals.add("up" if x > 0 else "down", ps[0] * x)
    return sum(v / totals.counts[k] for k, v in totals.sums.items()) * ps[1]


@each_of(
    *(sums, counts, counts_of_a_generator, with_get, asked_before, kept_in_a_cache, of_pairs, by_a_test),
    *(by_a_member, of_a_constant, by_two_keys, of_an_object, the_most_common),
)
def test_values_by_keys_that_data_choose(f: Function) -> None:
    assert is_answered(f, 60, 1e-9, traces=5)


@in_every_tier
def test_sums_in_every_tier(tier: str) -> None:
    assert is_answered(sums, 60, 1e-9, tier=tier)


# --- lists and sets by key ----------------------------------------------------------------------------------------


def groups(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = defaultdict(list)
    for x in xs:
        found["up" if x > 0 else "down"].append(ps[0] * x)
    return sum(found["up"]) * ps[1] - sum(v * v for v in found["down"])


def groups_in_arms(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = defaultdict(list)
    for i, x in enumerate(xs):
        if x > 0:
            found["up"].append(ps[0] * x)
            found["all"].append(x)
        else:
            found["down"].append(-x)
            found["all"].append(ps[1])
        if i % 3 == 0:
            found["third"].append(x)
    return sum(found["up"]) * ps[1] + len(found["down"]) * ps[0] + sum(found["third"]) + found["all"][-1] * ps[2]


def with_setdefault(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found: dict[str, list[Any]] = {}
    for x in xs:
        found.setdefault("up" if x > 0 else "down", []).append(ps[0] * x)
    return sum(found.get("up", [])) * ps[1] - sum(v * v for v in found.get("down", []))


def new_lists(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = {}
    for x in xs:
        k = "up" if x > 0 else "down"
        if k not in found:
            found[k] = []
        found[k].append(ps[0] * x)
    return sum(len(v) * sum(v) for v in found.values()) * ps[1]


def means(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """In the order in which the groups came."""
    found = defaultdict(list)
    for x in xs:
        found["a" if x > 0.5 else "b" if x > -0.5 else "c"].append(ps[0] * x)
    total = 0.0
    for k, v in found.items():
        total = total * ps[1] + sum(v) / len(v) + (1.0 if k == "a" else 0.0)
    return total + max(len(v) for v in found.values())


def sets_by_key(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for i, x in enumerate(xs):
        found["up" if x > 0 else "down"].add(i % 5)
    return len(found["up"] & found["down"]) * ps[0] + len(found["up"]) * ps[1]


def grouped(xs: Sequence[float]) -> dict[str, list[float]]:
    found = defaultdict(list)
    for x in xs:
        found["pos" if x > 0 else "neg"].append(x)
    return found


def by_a_helper(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    found = grouped(xs)
    return sum(ps[0] * x for x in found["pos"]) + ps[1] * len(found["neg"])


@each_of(groups, groups_in_arms, with_setdefault, new_lists, means, sets_by_key, by_a_helper)
def test_lists_by_keys_that_data_choose(f: Function) -> None:
    assert is_answered(f, 60, 1e-9, traces=5)


# --- reads, and the order -----------------------------------------------------------------------------------------


def of_those_kept(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept = {i: ps[0] * x for i, x in enumerate(xs) if x > 0}
    return sum(v * v * (k + 1) for k, v in kept.items()) * ps[1]


def in_order(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """It matters which key came first."""
    total = defaultdict(float)
    for x in xs:
        total["up" if x > 0 else "down"] += ps[0] * x
    found = 1.0
    for k, v in total.items():
        found = found * ps[1] + (v if k == "up" else -2.0 * v)
    return found + list(total.values())[0]


def by_name(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: defaultdict[str, Any] = defaultdict(float)
    for x in xs:
        total["c" if x > 0.3 else "b" if x > -0.3 else "a"] += ps[0] * x
    found = 1.0
    for _, v in sorted(total.items()):
        found = found * ps[1] + v
    return found + sum(total[k] * (i + 1) for i, k in enumerate(sorted(total)))


def normalized(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: defaultdict[str, Any] = defaultdict(float)
    for x in xs:
        total["c" if x > 0.3 else "b" if x > -0.3 else "a"] += math.exp(ps[0] * x)
    whole = sum(total.values())
    shares = {k: v / whole for k, v in total.items()}
    for k in total:
        total[k] /= whole
    for k, v in total.items():
        total[k] = v * 2.0
    return -sum(v * math.log(v) for v in shares.values()) * ps[1] + total["a"] * ps[2]


def taken_out(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    left = {i: ps[0] * x for i, x in enumerate(xs)}
    for i, x in enumerate(xs):
        if x < 0:
            left.pop(i)
    found = 0.0
    for k, v in left.items():
        found = found * 0.9 + v * k
    return found * ps[1] + len(left) + (left[min(left, key=left.get)] if left else ps[2])  # type: ignore[arg-type]


def copied_and_updated(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: dict[int, Any] = {}
    for i, x in enumerate(xs):
        if x > 0.2:
            total[i] = x * ps[0]
    other = dict(total)
    other.update({k: 2.0 for k in total if total[k] < 0.5})
    same = total
    same[0] = ps[1]
    return sum(other.values()) - sum(total.values()) * ps[2] + len(same)


@each_of(of_those_kept, in_order, by_name, normalized, taken_out, copied_and_updated)
def test_what_is_read_is_in_the_order_in_which_it_came(f: Function) -> None:
    assert is_answered(f, 60, 1e-9, traces=6)


# --- what is as the function says ---------------------------------------------------------------------------------


def by_hashes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The order of a set is that of its hashes."""
    known = {(i * 5) % 32 for i, x in enumerate(xs) if x > 0}
    total = ps[1]
    for k in known:
        total = total * 0.5 + ps[0] * k
    return total


def told_by_calls(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    log: list[Any] = []

    def term(k: int) -> Any:
        log.append(k)
        return ps[0] * k

    known = {(i * 5) % 32 for i, x in enumerate(xs) if x > 0}
    return sum(term(k) for k in known) + (log[0] if log else 0) * ps[1]


def one_and_true(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: dict[Any, Any] = {}
    for x in xs[:4]:
        if x > 0.5:
            total[1] = ps[0]
        elif x > 0.0:
            total[True] = ps[1]
        elif x > -0.5:
            total[1.0] = ps[2]
        else:
            total[0] = x
    return sum(v for v in total.values()) + total.get(1.0, 0.0) + (str(next(iter(total))) == "True") * ps[3]


def of_kinds(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: dict[Any, Any] = {}
    for x in xs:
        total[None if x > 1.0 else "x" if x > 0.0 else 0 if x > -1.0 else False] = x * ps[0]
    return total.get(None, ps[1]) + total.get("x", 0.0) * ps[2] - total.get(0, 1.0) + len(total)


def popped(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: dict[str, Any] = {}
    for x in xs:
        total["up" if x > 0 else "down"] = x * ps[0]
    _, last = total.popitem()
    return last + len(total) * ps[1]


def grows_while_it_is_read(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = {i: x for i, x in enumerate(xs) if x > 0}
    for k in list(total):
        total[k + 20] = ps[0] * k
    return sum(total.values()) * ps[1] + ps[2]


def values_that_change(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What is read later is what was stored meanwhile."""
    total = {i: ps[0] * x for i, x in enumerate(xs) if x > -0.5}
    found = 0.0
    for k, v in total.items():
        found = found * 0.5 + v
        if k + 1 in total:
            total[k + 1] += 1.0
    return found + ps[1]


def taken_out_in_the_other_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A list comes back empty after that, in a call in which it was not."""
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    for x in xs:
        if x < 0.0:
            rows["a"].append(ps[0] * x)
        else:
            rows.pop("a", None)
    return sum(len(v) * sum(v) for v in rows.values()) + ps[1]


def chosen_dictionaries(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    for x in xs:
        which = high if x > 0 else low
        which["last"] = x * ps[0]
        which["count"] = which.get("count", 0) + 1
    return low.get("last", ps[1]) - high.get("last", ps[2]) + low.get("count", 0) * ps[3]


def emptied_in_an_arm(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: dict[int, Any] = {}
    for i, x in enumerate(xs):
        total[i % 3] = total.get(i % 3, 0.0) + ps[0] * x
        if x > 0.8:
            total = {}
        elif x < -0.8:
            total.clear()
    return sum(total.values()) + len(total) * ps[1]


def under_two_names(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    same = rows
    for x in xs:
        if x > 0:
            rows["a"].append(x * ps[0])
        row = same["a"]
        if x < -0.5:
            row.append(ps[1])
            same["b"] = row
    if "b" in rows:
        rows["b"].append(ps[2])
    return sum(rows["a"]) + len(rows["a"]) * ps[3]


def lists_that_come_again(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A list that was taken out is another one."""
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    old: list[Any] = []
    for x in xs:
        k = "a" if x > 0 else "b"
        rows[k].append(x * ps[0])
        if x > 0.7:
            old = rows.pop("a")
    return sum(rows["a"]) + sum(old) * ps[1] + len(rows["b"]) * ps[2]


def shared_lists(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    empty: list[Any] = []
    rows: dict[str, list[Any]] = {}
    for x in xs:
        rows.setdefault("a" if x > 0 else "b", empty).append(x * ps[0])
    return sum(rows.get("a", [])) + len(empty) * ps[1]


def compared(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    one = {i: 1 for i, x in enumerate(xs[:3]) if x > 0}
    other = {i: 1 for i, x in enumerate(xs[3:6]) if x > 0}
    return ps[0] if one == other else ps[1] if one != {} else ps[2]


def many_keys(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: dict[int, Any] = {}
    for i in range(80):
        if xs[i % 12] * (i % 7 - 3) > 0.0:
            total[i] = ps[0] * xs[i % 12]
    return sum(total.values()) + len(total)


def of_a_class_of_its_own(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    class Table(dict):  # type: ignore[type-arg]
        def __missing__(self, key: str) -> float:
            return 0.5

    total = Table()
    for x in xs:
        k = "up" if x > 0 else "down"
        total[k] = total[k] + x * ps[0]
    return total["up"] - total["down"] * ps[1]


def with_factories(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    made: list[int] = []

    def start() -> float:
        made.append(1)
        return float(len(made))

    total = defaultdict(start)
    for x in xs:
        total["up" if x > 0 else "down"] += x * ps[0]
    return total["up"] - total["down"] * ps[1] + len(made)


def told_by_a_text(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = {i: 1 for i, x in enumerate(xs[:3]) if x > 0}
    return ps[0] * len(str(total)) + ps[1] * isinstance(total, dict) + ps[2] * (type(total) is dict)


def caught(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total: dict[str, Any] = {}
    for x in xs[:3]:
        total["up" if x > 0 else "down"] = x * ps[0]
    try:
        return total["up"] + total["down"]
    except KeyError:
        return ps[1]


CACHE: dict[int, float] = {}


def of_the_module(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    CACHE.clear()
    for x in xs:
        CACHE[int(x)] = CACHE.get(int(x), 0.0) + 1.0
    return ps[0] * len(CACHE) + CACHE[int(xs[0])] * ps[1]


@each_of(
    *(by_hashes, told_by_calls, one_and_true, of_kinds, popped, grows_while_it_is_read, values_that_change),
    *(chosen_dictionaries, emptied_in_an_arm, under_two_names, lists_that_come_again, shared_lists, compared),
    *(
        taken_out_in_the_other_arm,
        many_keys,
        of_a_class_of_its_own,
        with_factories,
        told_by_a_text,
        caught,
        of_the_module,
    ),
)
def test_what_cannot_be_done_with_each_is_what_the_function_says(f: Function) -> None:
    flips(f, 60, 1e-9)


def test_a_dictionary_that_is_a_result_has_the_keys_that_it_has() -> None:
    def f(p: Any, xs: Sequence[float]) -> Any:
        total: dict[str, Any] = {}
        for x in xs:
            k = "up" if x > 0 else "down"
            total[k] = total.get(k, 0.0) + x * p
        return total

    compiled = rg.compile(f)
    for seed in range(30):
        p, xs = 0.1 * seed, draw(seed)[1][:3]
        wanted, found = f(p, xs), compiled(p, xs)
        assert list(found) == list(wanted)
        assert type(found) is dict
        assert [*found.values()] == pytest.approx([*wanted.values()], rel=1e-12)


def test_a_dictionary_that_was_there_before_changes_as_in_the_function() -> None:
    def f(ps: Sequence[Any], xs: Sequence[float], into: dict[str, Any]) -> Any:
        for x in xs:
            into["up" if x > 0 else "down"] = x
        return ps[0] * len(into) + ps[1]

    compiled = rg.compile(f)
    for seed in range(30):
        ps, xs = draw(seed, 2)
        mine: dict[str, Any] = {}
        theirs: dict[str, Any] = {}
        assert compiled(ps, xs, mine) == f(ps, xs, theirs)
        assert mine == theirs


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (lambda total, active: total["up"], KeyError),
        (lambda total, active: total.pop("up"), KeyError),
        (lambda total, active: active.remove(0) or 1.0, KeyError),
        (lambda total, active: max(total.values()), ValueError),
        (lambda total, active: 1.0 / len(active), ZeroDivisionError),
        (lambda total, active: 1.0 if total else total.append(1), AttributeError),
    ],
)
def test_what_is_not_there_raises_as_in_the_function(last: Any, error: type[Exception]) -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        total: dict[str, Any] = {}
        active: set[int] = set()
        for x in xs:
            if x > 0.0:
                total["up"] = x * ps[0]
                active.add(0)
        return sum(total.values()) + last(total, active) * ps[1]

    raises_where_nothing_passes(f, error)
