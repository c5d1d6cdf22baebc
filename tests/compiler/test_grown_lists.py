"""Lists whose length data decide: what passes a test, what an arm appends, queues and stacks."""

# ruff: noqa: B007, B905, C417, RUF007 (the statements are what is tested)
from __future__ import annotations

from collections import deque
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
    is_converted,
    raises_where_nothing_passes,
)

import retrograd as rg
from retrograd import math

pytestmark = pytest.mark.native


def what_passes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept = [x * ps[0] for x in xs if x < ps[1]]
    total = 0.0
    for one in kept:
        total += one * one
    return total + len(kept) * ps[2] + max(kept, default=0.0) + min((p for p in ps if p > 0.5), default=ps[3])


def appended(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    hits = []
    for i, x in enumerate(xs):
        if x > ps[0]:
            hits.append(x * ps[1] + 0.1 * i)
    total = 0.0
    for hit in hits:
        total += math.tanh(hit)
    return total / len(hits) if hits else ps[2]


def into_one_of_two(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    low, high = [], []
    for x in xs:
        if x > 0.2:
            high.append(x * ps[0])
        else:
            low.append(x * ps[1])
    return sum(high) * 2.0 + sum(v * v for v in low) + (high[-1] if high else 0.0) * len(low)


def one_for_either(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Both arms append one, so that it is surely there."""
    path = [ps[0]]
    for x in xs:
        if x > 0.0:
            path.append(path[-1] * 0.5 + x * ps[1])
        else:
            path.append(path[0] - x)
    return path[-1] * len(path) + path[3]


def passed_and_mapped(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    positive = list(filter(lambda x: x > 0.1, xs))
    squares = sum(map(lambda v: v * v * ps[0], filter(lambda p: p > 0.0, ps)))
    total = squares + ps[1] * len(positive)
    for i, one in enumerate(filter(lambda p: p < 0.5, [p * x for p, x in zip(ps, xs)])):
        total += one * (i + 1)
    return total + max(map(math.tanh, filter(lambda x: x < 0.7, xs)), default=0.0) * ps[2]


def queue(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    due: deque[tuple[int, Any]] = deque()
    stock, total = 0.0, 0.0
    for day, x in enumerate(xs):
        if x > ps[0]:
            due.append((day + 2, x * ps[1]))
        while due and due[0][0] <= day:
            _, amount = due.popleft()
            stock += amount
        total += stock
    return total + len(due)


def stack(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    hull: list[Any] = []
    for i, x in enumerate(xs[:8]):
        height = x * ps[0] + 0.1 * i
        while len(hull) >= 2 and hull[-1] > height:
            hull.pop()
        hull.append(height)
    return sum(hull) + len(hull) * ps[1] + hull[0]


def side_by_side(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    times = [0.0]
    for x in xs[:6]:
        if x > ps[0]:
            times.append(times[-1] + x * ps[1])
    gaps = sum((b - a) ** 2 for a, b in zip(times, times[1:]))
    return gaps + sum(k * t for k, t in enumerate(times)) + sum(times[-2:])


def left_early(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for one in [x for x in xs if x > ps[0]]:
        if one > ps[1]:
            break
        if one < 0.0:
            continue
        total += one * ps[2]
    return total + ps[3]


def counted(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    n = 0
    for x in xs:
        if x > 0.5:
            n += 1
    total = ps[0]
    for i in range(n):
        total = total * 0.9 + xs[i] * ps[1]
    return total + (ps[2] / n if n > 0 else 0.0)


def near(xs: Sequence[float], center: float) -> list[float]:
    return [x for x in xs if abs(x - center) < 0.5]


def in_a_helper(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for center in (-1.0, 0.0, 1.0):
        group = near(xs, center)
        if len(group) > 1:
            mean = sum(group) / len(group)
            total += sum((one - mean) ** 2 for one in group) * ps[0]
    return total + ps[1]


class Log:
    def __init__(self) -> None:
        self.events: list[Any] = []

    def note(self, x: Any) -> None:
        if x > 0.3:
            self.events.append(x)


def of_an_object(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    log = Log()
    for x in xs:
        log.note(x * ps[0])
    return sum(event * ps[1] for event in log.events) + len(log.events)


def of_two_lengths(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    short, long = [ps[0], ps[1]], [ps[2], ps[3], ps[4]]
    total = 0.0
    for x in xs:
        for p in short if x < 0.0 else long:
            total += p * x
    return total


def returned_early(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    def first_three(bound: Any) -> list[Any]:
        found: list[Any] = []
        for x in xs:
            if x < bound:
                found.append(x * ps[0])
            if len(found) == 3:
                return found
        return found

    return sum(first_three(ps[1])) + sum(first_three(0.7))


def kept_at_the_end(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The variable of the loop, the items of a slice, and one that is replaced."""
    kept, last = [x for x in xs if x > 0.0], 0.0
    for last in kept:
        pass
    if kept:
        kept[0] = ps[0] * kept[0]
    return last * ps[1] + sum(kept[:2]) + sum([*kept][1:])


def of_pairs(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Two loops in one comprehension, and in one reduction."""
    low, high = [p for p in ps[:5] if p < 0.0], [p for p in ps[5:9] if p > -0.5]
    gaps = [abs(a - b) for a in low for b in high]
    return sum(gaps) * 0.1 + min((a * b for a in low for b in high if a * b > xs[0]), default=ps[9])


def may_be_none(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """None, or a list, which is then read, counted, and asked whether it is there."""

    def leaf(p: Any, x: float) -> Any:
        return None if x < 0.0 else [p * x, p]

    result = None
    for p, x in zip(ps, xs):
        below = leaf(p, x)
        if below is None:
            continue
        result = below if result is None else [a * 0.5 + b for a, b in zip(result, below)]
    if not result:
        return ps[0]
    return sum(result) * len(result)


def what_is_found(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What a helper finds, if anything, is appended, and taken apart later."""

    def hit(p: Any, x: float) -> Any:
        inside = p * p - x
        if inside < 0.0:
            return None
        return math.sqrt(inside), p * x

    hits = []
    for p, x in zip(ps, xs):
        found = hit(p, x)
        if found is not None:
            hits.append(found)
    if len(hits) < 3:
        return ps[0]
    center = sum(root for root, _ in hits) / len(hits)
    return sum((root - center) ** 2 + other for root, other in hits) / len(hits)


def clipped(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A list that is made, appended to, and handed on in a loop that data leave."""
    points: list[Any] = [ps[0], ps[1], ps[2]]
    for x in xs[:3]:
        if not points:
            break
        before, points = points, []
        last = before[-1]
        for point in before:
            if point > 0.3 * x:
                if last < x:
                    points.append(0.5 * (last + point))
                points.append(point)
            last = point
    return sum(points) + len(points)


def swapped(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Each round reads one list and writes the next one."""
    now: list[Any] = [*ps[:4]]
    for bound in (0.0, 0.5):
        before, now = now, []
        for one in before:
            if one > bound * xs[0]:
                now.append(one * 0.5)
    return sum(now) * ps[4] + len(now)


def change_places(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Each round chooses from what was chosen: what must not change since is counted once."""
    one, other = [ps[0], ps[1]], [ps[2], ps[3], ps[4]]
    for k in range(30):
        if xs[k % 12] > 0.1 * k:
            one = other
        if xs[k % 12] < -0.1 * k:
            other = one
    return sum(one) + 2.0 * sum(other)


def rows_of_a_table(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    rows: list[list[Any]] = [[], [], []]
    for i, x in enumerate(xs):
        if x > ps[0]:
            rows[i % 3].append(x * ps[1])
        elif rows[0]:
            rows[0].pop()
    return sum((k + 1.0) * row[-1] * len(row) for k, row in enumerate(rows) if row)


def by_name(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Dictionaries of lists, written out and by a comprehension."""
    found: dict[str, list[Any]] = {"a": [], "b": []}
    others = {name: [ps[2]] for name in "xyz"}
    for i, x in enumerate(xs):
        if x > ps[0]:
            found["a" if i % 2 else "b"].append(x * ps[1])
            others["xyz"[i % 3]].append(x)
    return sum(sum(row) for row in found.values()) + sum(max(row) for row in others.values() if len(row) > 1)


def binned(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Data choose the list that gets longer."""
    bins: list[list[Any]] = [[] for _ in range(3)]
    for x in xs:
        k = 0 if x < -0.3 else 1 if x < 0.4 else 2
        bins[k].append(x * ps[k])
        row = bins[1 - k // 2]
        row.extend([ps[3], x])
    return sum(sum(row) / len(row) for row in bins if row) + len(bins[2]) * ps[4]


def clears_one(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    rows: dict[str, list[Any]] = {"low": [ps[0]], "high": []}
    for x in xs:
        name = "high" if x > ps[1] else "low"
        if len(rows[name]) > 2:
            rows[name].clear()
        rows[name].append(x * ps[2])
    return sum(rows["low"]) * 2.0 + sum(rows["high"])


@in_every_tier
@each_of(
    *(rows_of_a_table, binned, clears_one),
    *(
        what_passes,
        passed_and_mapped,
        appended,
        into_one_of_two,
        one_for_either,
        queue,
        stack,
        side_by_side,
        left_early,
        counted,
    ),
    *(in_a_helper, of_an_object, of_two_lengths, returned_early, swapped, of_pairs, may_be_none, what_is_found),
    *(clipped, change_places),
)
def test_one_program_takes_the_place_of_many(f: Function, tier: str) -> None:
    assert is_answered(f, 40, tier=tier)


def sorts(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(k * x for k, x in enumerate(sorted(x * ps[0] for x in xs[:6] if x > 0.0)))


def grows_while_it_is_read(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    rest, total = [*ps[:3]], 0.0
    for one in rest:
        if one > 0.3 and len(rest) < 9:
            rest.append(one * 0.5)
        total += one
    return total


def is_changed_by_another_name(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    a: list[Any] = [ps[0]]
    b: list[Any] = [ps[1], ps[2]]
    chosen = a if xs[0] < 0.0 else b
    if xs[1] > 0.0:
        chosen.append(ps[3])
    a.append(ps[4])
    return sum(chosen) + 2.0 * sum(a) + 3.0 * sum(b)


def is_asked_for_more(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What such a list has no answer to, and methods that put items in another order."""
    kept = [x for x in xs[:5] if x > 0.0]
    again = [*kept, ps[0]]
    again.reverse()
    return again[0] * len(str(len(kept))) + sum(tuple(kept)) + (0.5 in kept) + kept.count(0.0) + ps[1] * len({*kept})


def grows_beyond_bounds(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    points = [*ps[:4]]
    for x in xs[:5]:
        new: list[Any] = []
        for point in points:
            if point > x:
                new.append(point)
            new.append(point * 0.5)
        points = new
    return sum(points) / len(points)


def falls_out_of_it(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept = [x for x in xs[:3] if x > 0.0]
    try:
        return max(kept) * ps[0] + kept.pop() / len(kept)
    except (ValueError, ZeroDivisionError) as error:
        return ps[1] * len(str(error))


def taken_into(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A plain list, and one that decisions choose, which others hold, too."""

    def take(into: list[Any], things: list[Any]) -> None:
        into += things

    lines: list[Any] = [ps[0]]
    queue: deque[Any] = deque([ps[1]])
    again, first = queue, None
    take(lines, [x for x in xs if x > 0.5])
    queue += deque(x for x in xs if x < -0.5)
    kept = [x * ps[2] for x in xs if x > 0.0]
    if xs[0] > 0.0:
        first = kept
    if first is not None:
        first += [ps[3]]
    row = [ps[4]] if xs[1] < 0.0 else [ps[5]]
    lines += row
    return sum(lines) + 2.0 * sum(again) + 3.0 * sum(kept)


def read_while_it_changes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept = [x * ps[0] for x in xs if x > 0.0]
    if xs[0] > 0.0:
        for i, one in enumerate(kept):
            if i + 1 < len(kept):
                kept[i + 1] = kept[i + 1] + one
    waiting = iter(kept)
    if xs[1] > 0.0:
        kept.append(ps[1])
    total = sum(waiting)
    for a, b in zip(kept, kept[1:]):
        kept[-1] = a + b
    return total + sum(kept.pop() for one in kept) + 2.0 * sum(kept)


def read_with_another(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A plain list beside it changes; so does the list itself, at its last item."""
    kept, other = [x for x in xs if x > 0.0], [*ps[:6]]
    total = 0.0
    for i, (a, b) in enumerate(zip(kept, other)):
        if a > 0.5 and i < 5:
            other[i + 1] = ps[6]
        total += a * b
    rest = [x for x in xs if x < 0.0]
    for one in rest:
        if one < -0.5 and len(rest) < 8:
            rest.append(0.25)
        total += one * ps[7]
    return total


def read_once(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    kept = [x * ps[0] for x in xs if x > 0.0]
    back = reversed(kept)
    total = 0.0
    for one in back:
        if one > ps[1]:
            break
        total += one
    return total + 2.0 * sum(back) + 3.0 * sum(back)


def read_with_its_source(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """What was chosen is a copy: its original changes while it is read."""
    kept = [x for x in xs if x > 0.0]
    chosen = kept if xs[0] > 0.0 else [ps[0], ps[1]]
    total = 0.0
    for one in chosen:
        if len(kept) > 1:
            kept.pop()
        total += one * ps[2]
    return total + sum(kept)


def empty_when_it_is_chosen(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A list that an arm appends to, or another one: what the arm stores comes after the choice."""
    total = ps[0]
    for x in xs[:6]:
        kept: list[Any] = []
        if x < 0.5:
            if x > -0.5:
                kept.append(ps[1])
            else:
                kept = []
        total += sum(v * v for v in kept)
    return total


class Store:
    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def list(self) -> Any:
        return self.items


def made_by_a_method(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Its name is ``list``, but it makes none."""
    store = Store([ps[0]])
    for x in xs[:5]:
        items = store.list()
        if x > 0.0:
            items.append(x * ps[1])
    twice = store.items
    twice *= 2
    return sum(store.items)


def keys_that_count(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    asked: list[Any] = []

    def key(x: Any) -> Any:
        asked.append(x)
        return x * ps[0]

    kept = [x for x in xs if x > 0.0]
    return (max(kept, key=key) if kept else 0.0) + len(asked) * ps[1]


def of_their_kind(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    queue = deque(x for x in xs if x > 0.0)
    copy, n = queue.copy(), 0
    for x in xs:
        if x > 0.5:
            n += 1
    kept = [x for x in xs if x < 0.0]
    odd = isinstance(copy, deque) + 2 * isinstance(range(n), list) + 4 * (range(n) == [0, 1]) + 8 * (copy == queue)
    return ps[0] * odd + sum(copy) + 16 * hasattr(kept, "popleft") + 32 * hasattr(queue, "sort")


@pytest.mark.parametrize(
    "f",
    [
        *(
            taken_into,
            read_while_it_changes,
            read_with_another,
            read_once,
            read_with_its_source,
            made_by_a_method,
            *(keys_that_count, empty_when_it_is_chosen),
        ),
        *(of_their_kind, by_name),
        *(kept_at_the_end, sorts, grows_while_it_is_read, is_changed_by_another_name, is_asked_for_more),
        *(grows_beyond_bounds, falls_out_of_it),
    ],
    ids=lambda f: f.__name__,
)
def test_what_cannot_be_done_with_each_is_what_the_function_says(f: Function) -> None:
    flips(f, 60)


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (lambda kept: kept[0], IndexError),
        (lambda kept: kept.pop(), IndexError),
        (lambda kept: max(kept), ValueError),
        (lambda kept: 1.0 / len(kept), ZeroDivisionError),
        (lambda kept: 1.0 if kept else kept.popleft(), AttributeError),
        (lambda kept: 1.0 if kept else len(zip(kept, kept)), TypeError),
    ],
)
def test_what_is_not_there_raises_as_in_the_function(last: Any, error: type[Exception]) -> None:
    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        kept = [x * ps[0] for x in xs if x > 0.0]
        return sum(kept) + last(kept) * ps[1]

    raises_where_nothing_passes(f, error)


def test_a_list_that_is_a_result_has_what_it_has() -> None:
    def f(p: Any, xs: Sequence[float]) -> Any:
        return [p * x for x in xs if x > 0.0]

    compiled = rg.compile(f)
    for seed in range(20):
        p, xs = 0.1 * seed, draw(seed)[1][:3]
        assert compiled(p, xs) == f(p, xs)
        assert type(compiled(p, xs)) is list


def test_a_sum_of_plain_numbers_that_pass() -> None:
    """It is the int 0 where none does."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        return ps[0] * sum(x for x in xs if x >= 0.0) + ps[1]

    assert is_converted(flips(f, 40))


def test_few_of_many_steps_append() -> None:
    """The program is slower than the function until there is machine code."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        found: list[Any] = []
        for i in range(200):
            if xs[i % 12] > ps[0] and i > 60 * len(found):
                found.append(xs[i % 12] * ps[1] * i)
        return sum((one - other) ** 2 for one, other in zip(found, (3.0, 5.0, 7.0))) + len(found)

    assert is_answered(f, 40, tier="vm", traces=9)
