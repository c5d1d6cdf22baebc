"""Batches: members of any number on one machine, machines that share a memory, all or nothing, and machine code."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.compiled_cases import assert_near, batch, mean_of_eager, native
from support.parts import require
from support.timeouts import PATIENCE
from test_random_compiled import STEPS, Interpreter

import retrograd as rg
from retrograd import Index, Value, nn
from retrograd.compiler import tier_up

pytestmark = native

Member = tuple[Any, ...]


def documents(lengths: Sequence[int], seed: int = 1) -> list[Member]:
    chosen = random.Random(seed)
    return [([Index(chosen.randrange(27)) for _ in range(length)],) for length in lengths]


@pytest.fixture
def gpt() -> nn.GPT:
    random.seed(3)
    return nn.GPT(27, 16)


def test_any_number_of_members_after_any_other(gpt: nn.GPT) -> None:
    leaves = list(gpt.parameters())
    compiled = rg.compile(lambda tokens: gpt.loss(tokens), tier="vm")
    for turn, count in enumerate((5, 2, 16, 1, 7, 40, 3)):
        members = documents([8] * count, seed=turn)
        expected = mean_of_eager(lambda tokens: gpt.loss(tokens), leaves, members)
        assert_near(batch(compiled, leaves, members), expected, 1e-12, count)
    assert compiled.stats().traces == 1
    assert compiled.stats().eager == 0
    assert {1, 2, 3, 5, 7, 16} <= set(compiled.stats().programs[0].batches)
    assert 40 not in compiled.stats().programs[0].batches  # too many for the cache


@pytest.mark.parametrize("count", [2, 3, 64, 65, 200])
def test_small_programs_and_many_members(count: int) -> None:
    """Each member brings one number, or four: loops over members that look like those of vectors and of heads."""
    ws = [Value(0.1 * i - 0.7) for i in range(16)]

    def one(x: float) -> Any:
        return ws[0] * x + ws[1]

    def four(xs: list[float]) -> Any:
        hidden = [sum(w * x for w, x in zip(ws[4 * i : 4 * i + 4], xs, strict=True)) for i in range(4)]
        return sum(h * h * w for h, w in zip(hidden, ws, strict=False)).tanh()

    chosen = random.Random(count)
    for function, members in (
        (one, [(chosen.uniform(-1, 1),) for _ in range(count)]),
        (four, [([chosen.uniform(-1, 1) for _ in range(4)],) for _ in range(count)]),
    ):
        compiled = rg.compile(function, tier="vm")
        for _ in range(2):
            assert_near(batch(compiled, ws, members), mean_of_eager(function, ws, members), 1e-12, function)
        assert compiled.stats().eager == 0


def test_lists_of_several_members() -> None:
    """Operands that lie nowhere in order are found through lists, of which each member has its own."""
    chosen = random.Random(5)
    ws = [Value(chosen.uniform(0.5, 2.0)) for _ in range(60)]
    pairs = [(chosen.randrange(60), chosen.randrange(60), chosen.randrange(4)) for _ in range(300)]

    def loss(xs: list[float], index: Index) -> Any:
        scaled = [x * ws[i] for i, x in enumerate(xs)]
        terms = [ws[a] / (ws[b] * ws[b]) - scaled[c] for a, b, c in pairs]
        chosen_term = rg.take([terms[(7 * i) % 300] for i in range(31)], index)
        return sum(term * term for term in terms).tanh() * chosen_term + sum(terms) * 0.01

    compiled = rg.compile(loss, tier="vm")
    for count in (4, 1, 9):
        members = [([chosen.uniform(-1, 1) for _ in range(4)], Index(3 * k)) for k in range(count)]
        assert_near(batch(compiled, ws, members), mean_of_eager(loss, ws, members), 1e-11, count)
    codes = {line["code"] for line in compiled._cache.listing(0)["instructions"]}
    assert codes & {"indexed", "gather"}
    assert compiled.stats().eager == 0


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(steps=st.lists(STEPS, min_size=1, max_size=14), seed=st.integers(0, 1000), count=st.integers(2, 9))
def test_random_programs(steps: list[Any], seed: int, count: int) -> None:
    leaves = [Value(number) for number in (0.3, -0.7, 0.9, -0.2, 0.55)]
    program, chosen = Interpreter(steps, leaves), random.Random(seed)
    members = [
        ([chosen.uniform(-1, 1), chosen.uniform(-1, 1)], [Index(chosen.randrange(12)), Index(chosen.randrange(12))])
        for _ in range(count)
    ]
    compiled = rg.compile(program, tier="vm")
    for some in (members, members[::-1], members[: count // 2 + 1]):
        assert_near(batch(compiled, leaves, some), mean_of_eager(program, leaves, some), 1e-9, len(some))


def test_programs_leave_nothing_behind_for_each_other() -> None:
    """They compute in one memory: literals, infinities and gradients of the one are not the other's."""
    w = Value(0.5)

    def loss(xs: list[float]) -> Any:
        return sum((w * x + 2.0 * len(xs)) / (x + len(xs)) for x in xs) * (1.0 / len(xs))

    compiled = rg.compile(loss, tier="vm")
    short, long, bad = ([1.0, 2.0],), ([1.0, 2.0, 3.0, 4.0, 5.0],), ([-5.0, 1e308, 1e308, 1e308, 1.0],)
    for _ in range(3):
        for members in ([short, long, short], [long] * 4, [short]):
            assert_near(batch(compiled, [w], members), mean_of_eager(loss, [w], members), 1e-13, members)
        for member in (short, long):
            w.grad = 0.0
            found = compiled.backward(*member), [w.grad]
            assert_near(found, mean_of_eager(loss, [w], [member]), 1e-13, member)
        w.grad = 0.0
        with pytest.raises(ZeroDivisionError):
            compiled.backward_batch([short, long, bad])
        assert w.grad == 0.0


def test_what_was_swept_is_taken_back() -> None:
    """The last group of a batch raises when the others have been swept: every gradient has its bits again."""
    ws = [Value(0.1 * i + 0.3) for i in range(9)]
    x = Value(2.0)

    def loss(given: Any, numbers: list[float]) -> Any:
        return sum(w * given / number for w, number in zip(ws, numbers, strict=False))

    compiled = rg.compile(loss, tier="vm")
    good = [(x, [1.0, 2.0]), (x, [1.0, 3.0, 4.0]), (0.5, [2.0])]
    compiled.backward_batch([*good, (x, [1.0] * 7)])
    before = [leaf.grad for leaf in (*ws, x)]
    for place in range(4):
        members = [*good[:place], (x, [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]), *good[place:]]
        with pytest.raises(ZeroDivisionError):
            compiled.backward_batch(members)
        assert [leaf.grad for leaf in (*ws, x)] == before

    def raising(numbers: list[float]) -> Any:
        if len(numbers) > 4:
            raise KeyError("five are too many")
        return loss(x.data, numbers)

    compiled = rg.compile(raising, tier="vm")
    compiled.backward_batch([([1.0, 2.0],), ([3.0],)])
    before = [leaf.grad for leaf in ws]
    with pytest.raises(KeyError):
        compiled.backward_batch([([1.0, 2.0],), ([3.0],), ([1.0] * 5,)])
    assert [leaf.grad for leaf in ws] == before


def test_machine_code_takes_over(gpt: nn.GPT) -> None:
    """In batches of mixed lengths, each program counts its members, whatever their number in one batch."""
    require("llvmlite")
    leaves = list(gpt.parameters())
    compiled = rg.compile(lambda tokens: gpt.loss(tokens))
    members = documents([4, 5, 4, 5, 5, 4, 4])
    expected = mean_of_eager(lambda tokens: gpt.loss(tokens), leaves, members)
    deadline = time.monotonic() + PATIENCE
    runs = 0
    while {program.tier for program in compiled.stats().programs} != {"llvm"}:
        assert time.monotonic() < deadline
        if runs < tier_up.THRESHOLD:
            assert_near(batch(compiled, leaves, members), expected, 1e-12, runs)
        runs += 1
        time.sleep(0.001)
    assert_near(batch(compiled, leaves, members), expected, 1e-12, "machine code")
    assert compiled.stats().eager == 0


def test_small_programs_have_code_for_all_members(gpt: nn.GPT) -> None:
    """Where a run costs more than a member's work, members stay together."""
    require("llvmlite")
    ws = [Value(0.1 * i) for i in range(3)]
    compiled = rg.compile(lambda x: ((ws[0] * x + ws[1]) * ws[2]).tanh(), tier="llvm")
    members = [(0.1 * k,) for k in range(11)]
    for _ in range(3):
        found = batch(compiled, ws, members)
        assert_near(found, mean_of_eager(compiled.scalar_function, ws, members), 1e-13, "")
    assert compiled.stats().programs[0].batches == (1, 11)
