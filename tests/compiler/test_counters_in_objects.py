"""Counters that objects hold, and that data choose: places in a list of numbers, and what ends a loop."""

from __future__ import annotations

import itertools
import operator
import random
from collections.abc import Callable
from typing import Any

import pytest
from support.counted_programs import check as check_calls

import retrograd as rg

pytestmark = pytest.mark.native

PARAMETERS = [0.3, 0.9, -0.2, 0.5]


class Stream:
    """Hands out numbers."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers
        self.at = 0

    def draw(self) -> Any:
        u = self.numbers[self.at]
        self.at += 1
        return u

    def left(self) -> int:
        return len(self.numbers) - self.at


def rows(count: int, calls: int = 40) -> list[list[list[float]]]:
    """Numbers for each call, in some calls a few different ones, which are equal to bounds and to each other."""
    draw = random.Random(3)
    several = [0.0, 0.25, 0.5, 0.75]

    def number(k: int) -> float:
        return draw.choice(several) if k % 4 == 3 else draw.random()

    return [[[number(k) for _ in range(count)] for _ in range(2)] for k in range(calls)]


def check(function: Callable[..., Any], count: int = 16, most: int = 3) -> Any:
    return check_calls(function, PARAMETERS, rows(count), most, tier="vm")


def over_rows(of_one: Callable[[Any, Stream], Any]) -> Callable[..., Any]:
    def total(p: Any, given: Any) -> Any:
        found = p[0]
        for row in given:
            found = found * p[1] + of_one(p, Stream(row))
        return found * found

    return total


def test_a_loop_goes_on_while_numbers_are_left() -> None:
    def direction(stream: Stream) -> Any:
        while stream.left() > 4:
            c = 2.0 * stream.draw() - 1.0
            if abs(c) < 0.05:
                continue
            if stream.draw() < 0.5 + 0.5 * c:
                return c
        return 1.0

    check(over_rows(lambda p, stream: p[1] * direction(stream) + p[2] * direction(stream)))


def test_more_numbers_than_a_place_of_a_dictionary_is_chosen_from() -> None:
    def direction(stream: Stream) -> Any:
        while stream.left() > 4:
            c = stream.draw()
            if stream.draw() < c:
                return c
        return 1.0

    def several(p: Any, stream: Stream) -> Any:
        total = p[0]
        for k in range(10):
            total = total * 0.5 + p[k % 4] * direction(stream)
        return total

    check(over_rows(several), count=50)


def test_the_counter_is_read_again_by_another_name() -> None:
    def draws(p: Any, stream: Stream) -> Any:
        same, before = stream, stream.at
        for _ in range(3):
            if stream.draw() < 0.5:
                same.draw()
        return p[1] * (same.at - before) + p[2] * stream.numbers[same.at] + same.numbers[stream.at - 3] * p[3]

    check(over_rows(draws))


def test_two_streams_of_one_list_and_one_that_takes_the_place_of_another() -> None:
    def draws(p: Any, stream: Stream) -> Any:
        other = Stream(stream.numbers)
        one = stream
        for _ in range(4):
            if one.draw() < 0.4:
                one.draw()
                other.draw()
        last = other.draw() * p[1] + stream.draw() * p[2]
        one = other
        return last + one.draw() * p[3] + stream.at * p[0] - other.at

    check(over_rows(draws))


def test_places_from_the_end() -> None:
    def draws(p: Any, stream: Stream) -> Any:
        total = p[0]
        while stream.left() > 6:
            if stream.draw() < 0.6:
                stream.at += 1
            total = total * 0.8 + p[1] * stream.numbers[-stream.at] + p[2] * stream.numbers[-1 - stream.at]
        return total

    check(over_rows(draws))


def test_a_loop_in_a_loop() -> None:
    def walk(p: Any, stream: Stream) -> Any:
        x, weight = p[0], p[1]
        while stream.left() > 5:
            step = stream.draw()
            while stream.left() > 3:
                c = stream.draw()
                if c < 0.7:
                    weight = weight * c
                    break
                x = x + c * p[2]
            x = x + step * weight
            if x > 1.6:
                return x * p[3]
        return x * weight

    check(over_rows(walk), count=12, most=4)


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_what_is_known_of_a_sum_or_a_difference(name: str) -> None:
    compare = getattr(operator, name)

    def places(p: Any, numbers: Any) -> Any:
        row, total = numbers[0], p[0]
        at = 0
        for u in row[:3]:
            if u < 0.5:
                at += 1
        ahead, back = at + 2, 3 - at
        again = 4 - (back - 1)  # at + 2
        if compare(ahead, 4):
            total += row[ahead] * p[1] + row[back] * p[2]
        if compare(back, 1):
            total += row[at] * p[1] - row[again] * p[3]
        if compare(2, again):
            total -= row[back + 1] * p[2] * row[ahead - 2]
        if compare(at, 2):
            total += row[ahead] * row[back] * p[3] * again
        return total

    check_calls(places, PARAMETERS, rows(8), 3)


def test_the_numbers_end() -> None:
    def endless(p: Any, given: Any) -> Any:
        stream, total = Stream(given[0]), p[0]
        while True:
            c = stream.draw()
            if c < 0.5:
                return total * c
            total = total + c * p[1]

    compiled, eager = rg.compile(endless), rg.value_and_grad(endless)
    raised = 0
    for k in range(60):
        draw = random.Random(k)
        given = [[draw.uniform(0.4, 1.0) for _ in range(5)]]
        try:
            wanted = eager(PARAMETERS, given)
        except IndexError as problem:
            raised += 1
            with pytest.raises(IndexError, match=str(problem)):
                compiled.value_and_grad(PARAMETERS, given)
        else:
            value, gradient = compiled.value_and_grad(PARAMETERS, given)
            assert value == pytest.approx(wanted[0], rel=1e-12)
            assert gradient == pytest.approx(wanted[1], rel=1e-12)
    assert 10 < raised < 50


def test_random_walks_through_a_list() -> None:
    draw = random.Random(11)
    for bound, step, back in itertools.product((3, 5), (1, 2), (0, 1)):

        def walk(p: Any, stream: Stream, bound: int = bound, step: int = step, back: int = back) -> Any:
            total = p[0]
            for k in range(4):
                u = stream.numbers[stream.at]
                if stream.left() > bound and u < 0.6:
                    stream.at += step
                elif stream.at >= 1 + back:
                    stream.at -= 1 + back
                total = total * 0.9 + p[k] * stream.numbers[stream.at]
            return total * stream.left()

        check(over_rows(walk), count=9 + draw.randrange(3), most=4)
