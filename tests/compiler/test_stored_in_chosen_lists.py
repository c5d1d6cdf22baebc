"""Lists that data choose, and that are stored in: each that it may be has what it has in the function."""

from __future__ import annotations

import copy
import importlib.util
import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.counted_programs import check as check_calls
from support.counted_programs import check_taped

import retrograd as rg

pytestmark = pytest.mark.native

PARAMETERS = [0.9, 0.5, 0.3]


def numbers(count: int, k: int) -> list[float]:
    """Those of one call; in every third one they are equal to each other, and to bounds."""
    draw = random.Random(k)
    return [draw.choice([0.3, 0.5, 0.7]) if k % 3 == 2 else draw.random() for _ in range(count)]


def check(function: Callable[..., Any], count: int = 8, most: int = 3) -> Any:
    return check_calls(function, PARAMETERS, [numbers(count, k) for k in range(40)], most, tier="vm")


def check_in_taped_code(function: Callable[..., Any], count: int = 8) -> Any:
    """The function takes items out of a list: how long that is, decisions choose."""
    return check_taped(function, PARAMETERS, [numbers(count, k) for k in range(40)])


def check_values(function: Callable[..., Any], count: int = 8) -> None:
    """However it is answered, each call gives what the function gives, or raises it."""
    compiled, eager = rg.compile(function, tier="vm"), rg.value_and_grad(function)
    for k in range(40):
        try:
            value, gradient = eager(PARAMETERS, numbers(count, k))
        except Exception as problem:
            with pytest.raises(type(problem), match=str(problem)):
                compiled.value_and_grad(PARAMETERS, numbers(count, k))
        else:
            found = compiled.value_and_grad(PARAMETERS, numbers(count, k))
            assert found[0] == pytest.approx(value, rel=1e-12, abs=1e-12)
            assert found[1] == pytest.approx(gradient, rel=1e-12, abs=1e-12)


def test_the_first_of_a_queue_of_lists_is_used_up() -> None:
    def lots(p: Any, wants: Any) -> Any:
        kept, cost = deque([[0, p[0]]]), 0.0
        for wanted in wants:
            kept.append([0, p[1]])
            left = wanted
            while kept and left > 0.0:
                lot = kept[0]
                if lot[1] > left:
                    lot[1] -= left
                    left = 0.0
                else:
                    left -= lot[1]
                    kept.popleft()
            cost += left * left + sum(q * p[2] for _, q in kept)
        return cost

    check_in_taped_code(lots)


def test_the_first_of_a_queue_of_numbers_is_used_up() -> None:
    def lots(p: Any, wants: Any) -> Any:
        kept, cost = deque([p[0]]), 0.0
        for wanted in wants:
            kept.append(p[1])
            left = wanted
            while kept and left > 0.0:
                if kept[0] > left:
                    kept[0] -= left
                    left = 0.0
                else:
                    left -= kept.popleft()
            cost += left * left + sum(kept) * p[2]
        return cost

    check_in_taped_code(lots)


def test_a_place_in_a_queue_that_stays_as_long() -> None:
    def queue(p: Any, xs: Any) -> Any:
        kept = deque([p[0], p[1], p[2] * 0.5])
        k = 0
        for x in xs:
            if x > 0.5:
                k = (k + 1) % 3
                kept[k] += x * p[0]
            kept[k - 3] = kept[k] * 0.9 - x
            if kept[-1] > 1.0:
                kept[-1] = kept[0] * 0.5
        return kept[0] + 2.0 * kept[1] + 3.0 * kept[2]

    check(queue)


def test_lots_that_others_hold() -> None:
    def lots(p: Any, wants: Any) -> Any:
        first, second = [0.1, p[0]], [0.2, p[1]]
        kept, cost = [first, second, first], 0.0
        for wanted in wants:
            lot = kept[0]
            if lot[1] > wanted:
                lot[1] -= wanted
                second[0] += lot[1]
            else:
                kept.pop(0)
                kept.append([0.3, p[1]])
            cost = cost * 0.9 + sum(a * q for a, q in kept) + lot[0] * kept[0][1]
        return cost + first[1] * 2.0 + second[0] * second[1] + first[0]

    check_in_taped_code(lots)


def test_both_arms_store_in_what_was_chosen() -> None:
    def rows(p: Any, xs: Any) -> Any:
        one, other = [p[0], xs[0]], [xs[1], p[1]]
        row = one if xs[2] > 0.5 else other
        same = row
        if xs[3] > 0.5:
            row[0] = xs[4] * p[2]
            one[1] += row[0]
        else:
            same[-1] = row[0] * p[0]
            other[0] = row[1] - xs[5]
        one[0] *= 0.5
        row[1] += one[0]
        return one[0] + 2.0 * one[1] + 3.0 * other[0] + 4.0 * other[1] + 5.0 * same[0] * row[1]

    check(rows)


def test_chosen_again_and_again() -> None:
    def states(p: Any, xs: Any) -> Any:
        state, seen = [p[0], p[1]], []
        for x in xs:
            step = [state[0] * 0.9 + x, state[1] * 0.8 - x * p[2]]
            if x > 0.5:
                state = step
            state[1] += 0.1 * state[0]
            seen.append(state[0] * state[1])
        return sum(seen)

    check(states, count=4)


def test_chosen_from_more_than_follow_each_other() -> None:
    def states(p: Any, xs: Any) -> Any:
        state, kept = [p[0], p[1]], []
        for x in xs:
            step = [state[0] * 0.9 + x, state[1] * 0.8 - x * p[2]]
            if x > 0.5:
                state = step
            kept.append(state)
            if len(kept) > 9:
                kept[-9][0] += x
                state[1] -= kept[2][0] * p[0]
        return sum(a * b for a, b in kept)

    check_values(states, count=14)


def solved(rows: Any, right: Any) -> Any:
    """Gaussian elimination with partial pivoting."""
    a, b = [list(row) for row in rows], list(right)
    n = len(b)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i][k]) > abs(a[best][k]):
                best = i
        if best != k:
            a[k], a[best] = a[best], a[k]
            b[k], b[best] = b[best], b[k]
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            if factor == 0.0:
                continue
            for j in range(k + 1, n):
                a[i][j] -= factor * a[k][j]
            b[i] -= factor * b[k]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (b[i] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


def test_rows_that_change_places_in_a_loop_that_data_end() -> None:
    def newton(p: Any, xs: Any) -> Any:
        x = [0.5] * 6
        for _ in range(20):
            miss, rows = [], []
            for i in range(6):
                # Data choose which of two rows has the large one in a column.
                ahead = i + 1 - 2 * (i % 2) if xs[i // 2] > 0.5 else i
                miss.append(5.0 * x[ahead] + p[0] * x[i] * abs(x[i]) - xs[6 + i])
                row = [0.0] * 6
                row[ahead] += 5.0
                row[i] += 2.0 * p[0] * abs(x[i])
                if xs[6] > xs[7]:
                    row[(i + 2) % 6] += 0.1 * p[1]
                rows.append(row)
            if max(abs(one) for one in miss) < 1e-9:
                break
            step = solved(rows, miss)
            for i in range(6):
                x[i] = x[i] - step[i]
        return x[0] * p[2] + x[1] * x[2] - x[3] * x[3]

    check(newton, count=12, most=4)


@pytest.mark.parametrize("place", [2, -3])
def test_a_place_that_no_list_has(place: int) -> None:
    def beyond(p: Any, xs: Any) -> Any:
        row = [p[0], p[1]] if xs[0] > 0.5 else [p[1], p[2]]
        if xs[1] > 0.6:
            row[place] = xs[2]
        return row[0] * row[1]

    check_values(beyond)


def test_one_of_the_lists_becomes_longer_afterwards() -> None:
    def longer(p: Any, xs: Any) -> Any:
        one, other = [p[0], xs[0]], [p[1], xs[1]]
        row = one if xs[2] > 0.5 else other
        row[0] += xs[3]
        one.append(p[2])
        if xs[4] > 0.5:
            row[1] = row[0] * p[2]
        return sum(row) + 2.0 * sum(one) + 3.0 * sum(other) + len(row)

    check_values(longer)


def test_it_changes_while_a_loop_reads_it() -> None:
    def reads(p: Any, xs: Any) -> Any:
        one, other, total = [p[0], xs[0], p[1]], [p[1], xs[1], p[2]], 0.0
        row = one if xs[2] > 0.5 else other
        for i, x in enumerate(row):
            if x < 0.5:
                row[-1] += 0.3 * x
                one[2 - i] *= 0.9
            total = total * 0.8 + x
        return total + sum(a * b for a, b in zip(one, other, strict=True))

    check(reads)


def test_a_list_of_another_length_is_copied_from_it() -> None:
    def copied(p: Any, xs: Any) -> Any:
        one, other, third = [p[0], xs[0]], [p[1], xs[1]], [p[2], xs[2], 1.0]
        row = one if xs[3] > 0.5 else other
        wide = row if xs[4] > 0.5 else third
        before = sum(wide)
        if xs[5] > 0.5:
            row[0] = before * p[0]
        return sum(wide) + 2.0 * sum(row) + 3.0 * sum(one) + before

    check_values(copied)


def test_copies_are_lists_of_their_own() -> None:
    def copies(p: Any, xs: Any) -> Any:
        one, other = [p[0], xs[0]], [p[1], xs[1]]
        row = one if xs[2] > 0.5 else other
        mine = [copy.copy(row), row.copy(), list(row), row[:], [*row], copy.deepcopy(row)]
        for i, each in enumerate(mine):
            each[0] = 0.1 * i
        row[1] = p[2]
        if xs[3] > 0.5:
            mine[0][1] += 1.0
        return sum(a * b for a, b in [*mine, row]) + one[0] * one[1] - other[0] * other[1]

    check_values(copies)


def test_lists_among_the_arguments_are_changed() -> None:
    def changes(p: Any, one: Any, other: Any) -> Any:
        row = one if one[0] > 0.5 else other
        if other[1] > 0.5:
            row[1] = row[0] * 0.5
        return row[1] * p[0] + one[1] * p[1] + other[1]

    compiled = rg.compile(changes, tier="vm")
    for k in range(40):
        xs = numbers(4, k)
        given, wanted = (xs[:2], xs[2:]), (xs[:2], xs[2:])
        found, value = compiled(PARAMETERS, *given), changes(PARAMETERS, *wanted)
        assert found == pytest.approx(value, rel=1e-12)
        assert given == wanted


# --- any statements in any order ----------------------------------------------------------------------------------

NAMES = ["a", "b", "c", "x", "y"]


class Writer:
    """Writes a function of statements about five variables and a table of lists, some of them under tests."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.name = ""

    def _number(self) -> str:
        name, i = self._draw.choice(NAMES), self._draw.randrange(2)
        return self._draw.choice(
            [
                f"{name}[{i}] * 0.7 + p[{i}]",
                f"p[{i}] * d[{self._draw.randrange(8)}]",
                f"{name}[{i}] - 0.3 * {self._draw.choice(NAMES)}[1]",
                f"0.5 * rows[{self._draw.choice([0, -1])}][{i}]",
                f"sum({name}) * 0.4",
            ]
        )

    def _test(self) -> str:
        left = self._draw.choice([f"d[{self._draw.randrange(8)}]", f"{self._draw.choice(NAMES)}[0]"])
        return f"{left} > {self._draw.choice([0.3, 0.5, 0.7])}"

    def _statement(self, depth: int) -> list[str]:
        draw = self._draw
        name, other, i, k = draw.choice(NAMES), draw.choice(NAMES), draw.randrange(2), draw.randrange(2)
        if depth < 2 and draw.random() < 0.35:
            inside = [f"    {line}" for _ in range(draw.randrange(1, 4)) for line in self._statement(depth + 1)]
            return [f"{draw.choice([f'if {self._test()}', 'for u in d[:2]'])}:", *inside]
        chooses = f"k = {k} if {self._test()} else 1"
        return draw.choice(
            [
                [f"x = {name}"],
                [f"y = {name} if {self._test()} else {other}"],
                [f"{name}[{i}] = {self._number()}"],
                [f"{name}[{i}] += {self._number()}"],
                [chooses, f"{draw.choice('xy')} = rows[k]"],
                [chooses, f"rows[k][{i}] += {self._number()}"],
                [f"rows[{k}] = {name}"],
                [chooses, "rows[0], rows[k] = rows[k], rows[0]"],
                [f"rows.append({name})"],
                [f"total = total * 0.9 + {self._number()}"],
            ]
        )

    def written(self) -> str:
        begin = ["total, k, a = 0.0, 0, [p[0], d[0]]", "b, c = [d[1], p[1]], [p[2] * 0.5, 0.25]", "x, y = a, b"]
        lines = [*begin, "rows = [a, b, c]"]
        lines += [line for _ in range(self._draw.randrange(5, 12)) for line in self._statement(0)]
        lines += ["for row in rows:", "    total = total * 0.8 + row[0] + 0.3 * row[1]"]
        weighted = " + ".join(f"{0.3 + 0.1 * i} * {name}[{i % 2}]" for i, name in enumerate(NAMES * 2))
        return "\n    ".join(["def function(p, d):", *lines, f"return total + {weighted}"]) + "\n"


@pytest.mark.parametrize("seed", range(24))
def test_any_statements(seed: int, tmp_path: Path) -> None:
    path = tmp_path / f"written_{seed}.py"
    path.write_text(Writer(seed).written())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    check_values(module.function)
