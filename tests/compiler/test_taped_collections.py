"""Taped code of what Python's library brings for lists, texts, sets and dictionaries: slices, Counter, next, order."""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
import operator
import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

import pytest

from retrograd import math as m
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn

    from retrograd.compiler.taped.types import NotTypedError

Numbers = list[float]


def numbers(source: random.Random) -> tuple[Any, ...]:
    return [source.uniform(-2, 2) for _ in range(8)], [source.uniform(-2, 2) for _ in range(10)]


def texts(source: random.Random) -> tuple[Any, ...]:
    return [source.uniform(-2, 2) for _ in range(8)], [source.choice("abcd") for _ in range(12)]


def check(function: Callable[..., Any], make: Callable[[random.Random], tuple[Any, ...]]) -> None:
    assert_same(function, drawn(make, 40))


def test_slices_with_steps() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        items = [p * x for p, x in zip(ps, xs, strict=False)]
        n = int(abs(xs[9]) * 3)
        total = 0.0
        for part in (items[::2], items[1::3], items[5:1:-2], items[-2::-3], items[:-3:2], items[100:-100:-1]):
            for i, one in enumerate(part):
                total += (i + 1) * one
        for part in (items[-100:100:7], items[n::2], items[:n:-1], items[n:n:-1], items[n:-n:2], items[-n:n:-1]):
            for i, one in enumerate(part):
                total = total * 0.9 + (i + 2) * one * one
        four = (ps[0], ps[1], ps[2], ps[3])
        for one in four[::2] + four[::-1] + four[1::2]:
            total = total * 0.5 + one
        return total

    check(f, numbers)


def test_a_step_that_is_computed_is_refused() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        return ps[0] * sum(xs[:: int(xs[0] > 0) + 1])

    with pytest.raises(NotTypedError, match="a step that is computed"):
        code_of(f, numbers(random.Random(0)))


def test_operators_of_bits() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        total = 0.0
        for i, (p, x) in enumerate(zip(ps, xs, strict=False)):
            one, other = p > 0.1, x > 0.2
            if one ^ other:
                total += p * x
            if one & other:
                total -= p
            if one | other:
                total += 0.1 * p * i
            if (one ^ other) ^ True:
                total += 0.3 * p
            total += ((i ^ 5) & 3 | (1 if one else 0)) * p + (one | 1) * p
        return total

    check(f, numbers)


def test_counters() -> None:
    def f(ps: Any, letters: list[str]) -> Any:
        counts: Counter[str] = Counter()
        for one in letters:
            counts[one] += 1
        others = Counter(one for one in letters if one != "a")
        total = others["a"] * ps[0] + others["none"] * 100.0 + len(others) * ps[1] + others.get("b", 7) * ps[2]
        for i, (_, n) in enumerate(counts.most_common()):
            total += ps[i] * n * (i + 1)
        for i, (one, n) in enumerate(counts.most_common(2)):
            total += ps[i + 2] * n * (i + 1) * (2 if one < "c" else 3)
        for i, one in enumerate(others):
            total += others[one] * ps[i] * (i + 1)
        total += ps[4] * (letters.index(max(counts, key=counts.get)) + 1) + sum(others.values()) * ps[3]  # type: ignore[arg-type]
        return total + ps[5] * isinstance(counts, dict) + ps[6] * len(Counter().most_common(1))

    check(f, texts)


def test_counters_in_dictionaries() -> None:
    def f(ps: Any, letters: list[str]) -> Any:
        follow: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one, other in itertools.pairwise(letters):
            follow[one][other] += 1
        return sum(ps[0] * m.log(ps[1] * ps[1] + follow["a"][one] + 0.1) for one in "abc") + ps[2] * len(follow)

    check(f, texts)


def _pair() -> tuple[float, float]:
    return 0.0, 1.0


def test_functions_that_make_what_a_key_lacks() -> None:
    def f(ps: Any, letters: list[str]) -> Any:
        sums: Any = defaultdict(lambda: 0.5)
        rows: Any = defaultdict(lambda: [0.0, 1])
        pairs: Any = defaultdict(_pair)
        for i, one in enumerate(letters):
            sums[one] += ps[i % 8]
            rows[one][0] += ps[i % 8] * i
            rows[one][1] += 1
            a, b = pairs[one]
            pairs[one] = a + ps[i % 8], b * 1.1
        total = sum(sums.values())
        for i, (v, n) in enumerate(rows.values()):
            total += v / n * (i + 1)
        for i, (a, b) in enumerate(pairs.values()):
            total += a * b * (i + 1)
        return total

    check(f, texts)


def test_a_function_with_variables_of_its_own_makes_nothing() -> None:
    def f(ps: Any, letters: list[str]) -> Any:
        sums: Any = defaultdict(lambda: ps[0])
        for one in letters:
            sums[one] += 1.0
        return sums["a"]

    with pytest.raises(NotTypedError, match="defaultdict"):
        code_of(f, texts(random.Random(0)))


def test_the_order_of_texts() -> None:
    def f(ps: Any, letters: list[str]) -> Any:
        total = 0.0
        for i, (_, p) in enumerate(sorted(zip(letters, ps, strict=False))):
            total += p * i
        for i, (_, p) in enumerate(sorted(zip(letters, ps, strict=False), reverse=True)):
            total += p * p * i
        groups: Any = defaultdict(list)
        for one, p in zip(letters, ps, strict=False):
            groups[one].append(p)
        for i, (one, group) in enumerate(sorted(groups.items())):
            total += (i + 1) * sum(group) / len(group) + (ps[2] if one == "b" else 0.0)
        return total + ps[5] if letters[0] <= letters[1] < "d" else total

    check(f, texts)


def test_a_text_that_was_not_known_has_no_order() -> None:
    def f(ps: Any, letters: list[str]) -> Any:
        return ps[0] if letters[0] < letters[1] else ps[1]

    calls = [([1.0, 2.0], ["b", "a"]), ([1.0, 2.0], ["a", "b"]), ([1.0, 2.0], ["a", "c"]), ([1.0, 2.0], ["z", "z"])]
    assert_same(f, calls, answers=2)


def test_operators_of_sets() -> None:
    def f(ps: Any, letters: list[str]) -> Any:
        one, other = set(letters[:6]), set(letters[6:])
        total = (
            len(one | other) * ps[0] + len(one & other) * ps[1] + len(one - other) * ps[2] + len(one ^ other) * ps[3]
        )
        tests = one <= other, one < other, one >= other, one > other, one == other, one != other, "a" in one & other
        for i, test in enumerate(tests):
            total += ps[i] * ps[i] if test else 0.0
        for i, letter in enumerate(sorted(one)):
            total += ps[i] * (i + 1) * letters.index(letter)
        return total + ps[4] if min(one) < max(other) else total

    check(f, texts)


def test_the_first_that_passes() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        total = next((p * x for p, x in zip(ps, xs, strict=False) if x > 1.0), ps[0])
        place = next((i for i, x in enumerate(xs) if x > 1.5), None)
        if place is not None:
            total += ps[place % 8] * place
        squares = (p * p for p in ps if p > 0)
        return total + next(p for p in ps if p > -1.5) + next(squares, 0.0)

    check(f, numbers)


def test_queues_that_turn() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        queue: deque[Any] = deque(maxlen=4)
        whole = deque(ps)
        total = 0.0
        for p, x in zip(ps, xs, strict=False):
            queue.append(p * x)
            if len(queue) == queue.maxlen:
                total += sum(queue) / queue.maxlen
            copy = queue.copy()
            copy.append(p)
            total += copy[0] * 0.1 + len(copy)
            queue.rotate(1 if x > 0 else -1)
            total += queue[0] * queue[-1]
            queue.rotate(3)
        whole.rotate()
        whole.rotate(-20)
        return total + whole[0] * 2 + whole[1] if whole.maxlen is None else total

    check(f, numbers)


def test_functions_of_python_under_other_names() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        total = sum(map(abs, ps)) + max(map(math.tanh, xs)) * ps[0] + sum(map(m.exp, ps))
        total += min(ps, key=abs) + max([[1.0], [2.0, 3.0]], key=len)[0] * ps[2] + sum(map(float, range(3))) * ps[1]
        for i, p in enumerate(filter(lambda p: p > 0, ps), start=2):
            total += p * i
        for i, p in enumerate(p * p for p in ps if p < 0):
            total += p * i
        return total

    check(f, numbers)


def test_sorted_lists_and_few_of_many() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        order: list[Any] = []
        total = 0.0
        for p in ps:
            bisect.insort_left(order, p)
        for i, p in enumerate(order):
            total += p * i * i
        table = [-1.5, -0.5, 0.5, 1.5]
        for x in xs:
            total += bisect.bisect(table, x, 1, 3) * ps[3] + bisect.bisect_left(table, x, hi=2) * ps[4]
        for i, p in enumerate(heapq.nlargest(3, ps)):
            total += p * (i + 1)
        for i, p in enumerate(heapq.nsmallest(3, (p * p for p in ps), key=lambda v: -v)):
            total += p * (i + 1)
        return total + len(heapq.nlargest(-1, ps))

    check(f, numbers)


def test_the_last_item_of_a_dictionary() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        by_place = dict(enumerate(ps))
        key, value = by_place.popitem()
        total = key * value
        by_place[50] = ps[0]
        total += by_place.pop(50)
        key, value = by_place.popitem()
        return total + key * value * len(by_place) + ps[max(range(6), key=by_place.get)] * xs[0]  # type: ignore[arg-type]

    check(f, numbers)


KINDS = ("rent", "Food 2", "re-fund", "x", " gift ", "7", "2.5")


def of_kinds(source: random.Random) -> tuple[Any, ...]:
    return [source.uniform(-2, 2) for _ in range(8)], [source.choice(KINDS) for _ in range(12)]


def known_kinds(function: Callable[..., Any], *, answers: int | None = None) -> None:
    """The first call brings all texts."""
    calls = [([0.5] * 8, [*KINDS, *KINDS[:5]]), *drawn(of_kinds, 30)]
    assert_same(function, calls, answers)


def test_what_texts_say() -> None:
    def f(ps: Any, kinds: list[str]) -> Any:
        total = 0.0
        for i, kind in enumerate(kinds):
            p = ps[i % 8]
            total += (
                p * len(kind) + (p if kind.startswith("re") else 0.0) - (p * p if kind.endswith(("d", " ")) else 0.0)
            )
            total += p * kind.count("r") + 2.0 * kind.find("t") + 3.0 * ("f" in kind.lower()) + (kind[0] in "rxF7") * p
            total += 0.5 * p * (kind.strip() == kind) + (kind[-1:] == "t") * p + (kind[::-1] < kind) * p
            total += p * ord(kind[0]) * 0.01 + (p if kind.strip().isdigit() else 0.0) + (0.1 if kind else 0.2)
        return total

    known_kinds(f)


def test_texts_as_keys_that_are_made() -> None:
    rates = {"rent_rate": 0.5, "x_rate": 0.25, "7_rate": 2.0}

    def f(ps: Any, kinds: list[str]) -> Any:
        sums: Any = defaultdict(float)
        total = 0.0
        for i, kind in enumerate(kinds):
            sums[f"<{kind.strip().upper()}>"] += ps[i % 8]
            total += rates.get(kind + "_rate", 0.1) * ps[i % 8] + rates.get("no " + kind, 0.0)
        for i, (key, one) in enumerate(sums.items()):
            total += one * (i + 1) * (2 if key == "<RENT>" else 1)
        return total

    known_kinds(f)


def test_numbers_in_texts() -> None:
    def f(ps: Any, kinds: list[str]) -> Any:
        return sum(
            p * float(kind) + int(float(kind)) for p, kind in zip(ps, kinds, strict=False) if kind in ("7", "2.5")
        )

    known_kinds(f)

    def raises(ps: Any, kinds: list[str]) -> Any:
        return ps[0] * float(kinds[0])

    calls = [([2.0], ["7", *KINDS]), ([2.0], ["x"]), ([2.0], ["2.5"]), ([2.0], ["8"])]
    assert_same(raises, calls, answers=2)  # "x" raises, and "8" was not known


def test_texts_that_grow_are_left_to_the_function() -> None:
    def f(ps: Any, kinds: list[str]) -> Any:
        word = ""
        for _ in kinds:
            word = word + "a"
        return ps[0] * len(word)

    assert_same(f, [([1.0], ["a"] * count) for count in (1, 3, 30, 2)], answers=3)


def test_sets_that_change() -> None:
    def f(ps: Any, letters: list[str]) -> Any:
        seen, first = set(letters[:3]), set(letters[:5])
        same = seen
        total = 0.0
        seen |= {"a", "z"}
        total += len(same) * ps[0]
        seen &= first | {"z"}
        total += len(same) * ps[1]
        seen -= {letters[0]}
        total += len(same) * ps[2] + ("z" in same) * ps[3]
        seen ^= {"z", "b"}
        total += len(same) * ps[4] + ("z" in same) * ps[3]
        seen.update(letters[4:6], {"q"})
        total += len(same) * ps[5] + seen.issubset(first) * ps[6] + len(seen.union(first)) + len(seen.difference(first))
        seen -= same
        return total + len(seen) * 100.0 + len(first.intersection(letters_of(letters)))

    def letters_of(letters: list[str]) -> set[str]:
        return {one for one in letters if one != "a"}

    check(f, texts)


class Side(Enum):
    LEFT = 1
    RIGHT = 2


def test_loops_over_members() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        held = dict.fromkeys(Side, 0.0)
        for i, (p, x) in enumerate(zip(ps, xs, strict=False)):
            held[Side.LEFT if x > 0 else Side.RIGHT] += p * (i + 1)
        return sum(held[side] * held[side] for side in Side)

    check(f, numbers)


# --- in which order, how often, and what is refused ---------------------------------------------------------------


def test_arguments_are_computed_in_pythons_order() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        queue = [3.0, 1.0, 5.0, 2.0, 0.0, 4.0, 2.0, 1.0]
        table = {2: 5.0, 1: 7.0, 4: 0.5}
        total = table.get(int(queue.pop()), queue.pop()) * ps[0]
        total += table.pop(int(queue.pop()), queue.pop()) * ps[1]
        record = {"a": ps[2]}
        total += record.get("a", queue.pop()) * len(queue)
        total += sum([queue.pop() * 2], queue.pop()) * ps[3]
        queue += [1.0, 5.0, 0.5, 2.0]
        total += math.prod([queue.pop() + 2], start=queue.pop()) * ps[4]
        made: Any = defaultdict(float)
        total += max([made[3]], default=made[5]) + next(iter(made)) * ps[5]
        best = sorted([1.0, 2.0, 3.0], key=partial(operator.mul, queue.pop()), reverse=queue.pop() > 1.5)
        asked = max((table := {0: 3.0, 1: 2.0}), key=table.get)  # type: ignore[arg-type]
        return total + best[0] * ps[6] + asked

    check(f, numbers)


def test_what_reads_nothing() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        seen: list[float] = []

        def some() -> Any:
            for x in xs:
                seen.append(x)
                yield x

        def key(x: float) -> float:
            seen.append(x)
            return x

        few = heapq.nlargest(int(xs[0] > 0), some())
        return len(seen) * ps[0] + len(heapq.nsmallest(-1, xs, key=key)) + len(few) + len(seen)

    check(f, numbers)


def test_lists_that_are_no_keys_of_an_order() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        rows: Any = {}
        for i, p in enumerate(ps):
            rows.setdefault(-(i % 3), []).append({i: p})
        rows.setdefault(7)
        rows.pop(7)
        total = 0.0 * ps[0]
        for i, (key, row) in enumerate(sorted(rows.items())):
            total += (i + 1) * key * len(row) * ps[i]
        for i, (key, row) in enumerate(sorted(rows.items(), reverse=True)):
            total -= (i + 2) * key * len(row) * ps[i]
        return total

    check(f, numbers)


def test_names_of_functions_that_read_at_once_may_be_others() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        list = enumerate  # noqa: A001
        k = 1.0
        pairs = list(p * k for p in ps)
        k = 3.0
        _, first = next(pairs)
        return first * k

    check(f, numbers)


def _of_left_generator(ps: Any, xs: Numbers) -> Any:
    seen = []

    def some() -> Any:
        try:
            for x in xs:  # noqa: UP028
                yield x
        except GeneratorExit:
            seen.append(1)

    return next(some()) * ps[0] + len(seen)


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (lambda ps, xs: ps[0] * sum(next(one) for one in [iter(xs)]), "an iterator is kept"),
        (lambda ps, xs: next({1: ps[0], 2: ps[1]}.values()), "no generator"),
        (lambda ps, xs: next(range(3)) * ps[0], "no generator"),
        (lambda ps, xs: len({xs[1], 0.0} & {-0.0, xs[0]}) * ps[0], "intersects sets of floats"),
        (lambda ps, xs: max(ps[0], ps[1], default=xs[0]), "with a default"),
        (lambda ps, xs: deque(ps).pop(0), "another number of arguments"),
        (lambda ps, xs: sorted(ps, True)[0], "several arguments"),
        (lambda ps, xs: ps[0] * any(xs, xs), "another number of arguments"),
        (_of_left_generator, "ends a generator that is left"),
    ],
)
def test_what_is_not_python_or_not_known_is_refused(f: Callable[..., Any], why: str) -> None:
    with pytest.raises(NotTypedError, match=why):
        code_of(f, numbers(random.Random(0)))


def test_what_python_raises_is_left_to_the_function() -> None:
    def turned(ps: Any, xs: Numbers) -> Any:
        queue = deque(ps)
        total = 0.0
        for p in queue:
            queue.rotate(int(xs[0] > 0) * 8)
            total += p
        return total

    def bisected(ps: Any, xs: Numbers) -> Any:
        return bisect.bisect([1, 2, 3], 2, 0, -1) + ps[0]

    assert_same(turned, drawn(numbers, 12), answers=0)
    assert_same(bisected, drawn(numbers, 12), answers=0)


def test_an_iterator_of_a_range_is_gone_over_once() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        numbers = iter(range(4))
        first = next(numbers)
        return ps[0] * first + next(numbers)

    with pytest.raises(NotTypedError, match="gone over twice"):
        code_of(f, numbers(random.Random(0)))


def test_the_rest_of_a_list() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        first, *rest = ps
        *head, last = [p * x for p, x in zip(ps, xs, strict=False)]
        a, *middle, b = (ps[0], ps[1], ps[2], ps[3])
        one, *none = (xs[0],)
        *most, _ = range(len(xs))
        total = first * len(rest) + sum(head) + last * one + a * b + sum(middle) + len(none) + sum(most) * ps[5]
        for key, *others in [(1.0, ps[0], ps[1]), (2.0, ps[2], ps[3])]:
            total += key * others[1] * len(others)
        return total

    check(f, numbers)

    def short(ps: Any, xs: Numbers) -> Any:
        one, two, *_ = xs[: int(xs[0] > 0) + 1]
        return ps[0] * one * two

    calls = drawn(numbers, 20)
    assert_same(short, calls, answers=sum(xs[0] > 0 for _, xs in calls))


def test_slices_that_are_stored_and_deleted() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        stack = [p * x for p, x in zip(ps, xs, strict=False)]
        same = stack
        n = int(xs[0] * 2)
        stack[1:3] = [ps[0]]
        stack[-2:] = []
        stack[n:n] = (ps[1], ps[2])
        stack[5:2] = [ps[3]]
        stack[:0] = stack[2:4]
        stack[100:] = stack
        del stack[n : n + 2], stack[-1:]
        total = 0.0
        for i, one in enumerate(same):
            total += (i + 1) * one
        return total * len(stack)

    check(f, numbers)


def test_views_and_ranges_are_gone_over_again() -> None:
    def f(ps: Any, xs: Numbers) -> Any:
        table = {i % 5: p for i, p in enumerate(ps)}
        record = {"a": ps[0], "b": ps[1]}
        values = table.values()
        places = range(3)
        named = record.items()
        total = sum(values) + len(places)
        for i in places:
            for one in values:
                total += one * i
            for _, p in named:
                total += p * p
        return total + sum(values) * sum(i * i for i in places)

    check(f, numbers)
