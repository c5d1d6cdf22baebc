"""The LLVM tier writes steps that repeat themselves once: the numbers of the engine, and little code."""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import retrograd as rg
from retrograd.compiler.backends.llvm import pipeline
from retrograd.engine import ENGINE

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("kernel_calls")]

if ENGINE == "native":
    from retrograd.compiler.backends.llvm.kernel_calls import KernelCall
    from retrograd.compiler.backends.llvm.memory import Memory
    from retrograd.compiler.backends.llvm.repetition import Repetition, cut

    MEMORY = Memory([(0, 1 << 16), (1 << 20, 1 << 16)])

STEPS, UNITS = 24, 6


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of the modules that are compiled."""
    found: list[str] = []
    compile_module = pipeline.object_of

    def kept(module: str) -> bytes:
        found.append(module)
        return compile_module(module)

    monkeypatch.setattr(pipeline, "object_of", kept)
    return found


def leaves(seed: int, count: int) -> list[rg.Value]:
    draw = random.Random(seed)
    return [rg.Value(draw.uniform(0.2, 0.9)) for _ in range(count)]


def total(terms: Any) -> Any:
    return functools.reduce(operator.add, terms)


def gradients_of(parameters: Sequence[rg.Value]) -> list[float]:
    found = [p.grad for p in parameters]
    for p in parameters:
        p.grad = 0.0
    return found


def check(function: Callable[..., Any], parameters: Sequence[rg.Value], *args: Any) -> Any:
    """The machine code gives the engine's numbers, again and after the parameters have changed."""
    llvm = rg.compile(function, tier="llvm")
    for shift in (0.0, 0.0, 0.01):
        for p in parameters:
            p.data += shift
        root = function(*args)
        root.backward()
        expected = gradients_of(parameters)
        assert llvm.backward(*args) == pytest.approx(root.data, rel=1e-12)
        assert gradients_of(parameters) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert llvm.tier == "llvm"
    return llvm


Step = Callable[[list[rg.Value], list[Any], int], list[Any]]


def network(step: Step) -> Callable[..., Any]:
    """Steps from a state of six numbers to the next, with a loss in each."""

    def function(weights: list[rg.Value]) -> Any:
        state: list[Any] = [0.1 * (i + 1) for i in range(UNITS)]
        loss = rg.Value(0.0)
        for k in range(STEPS):
            state = step(weights, state, k)
            loss = loss + total(x * x for x in state)
        return loss

    return function


def mixed(weights: list[rg.Value], state: list[Any], first: int = 0) -> list[Any]:
    rows = [weights[first + i * UNITS : first + (i + 1) * UNITS] for i in range(UNITS)]
    return [total(w * x for w, x in zip(row, state, strict=True)) for row in rows]


STEP: dict[str, Step] = {
    "tanh": lambda w, s, k: [rg.math.tanh(x) for x in mixed(w, s)],
    "exp": lambda w, s, k: [1.0 / (1.0 + rg.math.exp(-x)) for x in mixed(w, s)],
    "square": lambda w, s, k: [0.1 * x**2 + 0.05 for x in mixed(w, s)],
    "root": lambda w, s, k: [rg.math.sqrt(x) * 0.5 for x in mixed(w, s)],
    "extreme": lambda w, s, k: [x / (1.0 + rg.math.max(mixed(w, s))) for x in mixed(w, s)],
    "another constant each": lambda w, s, k: [rg.math.tanh(x * (1.0 + 0.1 * k)) for x in mixed(w, s)],
    "a table's rows": lambda w, s, k: [rg.math.tanh(x + v) for x, v in zip(mixed(w, s), w[k * k % 31 :], strict=False)],
    "a window": lambda w, s, k: [*s[1:], rg.math.tanh(total(a * b for a, b in zip(w, s, strict=False)))],
    "every third its own": lambda w, s, k: [rg.math.tanh(x) if k % 3 else x * 0.5 for x in mixed(w, s)],
}


@pytest.mark.parametrize("name", STEP)
def test_steps(name: str) -> None:
    parameters = leaves(1, UNITS * UNITS + 2)
    check(network(STEP[name]), parameters, parameters)


def test_code_is_written_once(modules: list[str]) -> None:
    parameters = leaves(1, UNITS * UNITS)
    check(network(STEP["exp"]), parameters, parameters)
    assert modules[0].count("define internal void @pass0_part") == 1
    assert modules[0].count("define internal void @pass1_part") == 1
    assert modules[0].count("fdiv") < STEPS


def test_batches() -> None:
    parameters = leaves(2, UNITS * UNITS)
    function = network(STEP["exp"])
    members = [(parameters,)] * 3
    vm, llvm = rg.compile(function, tier="vm"), rg.compile(function, tier="llvm")
    for _ in range(2):
        value = vm.backward_batch(members)
        expected = gradients_of(parameters)
        assert llvm.backward_batch(members) == pytest.approx(value, rel=1e-12)
        assert gradients_of(parameters) == pytest.approx(expected, rel=1e-12)


def test_rows_that_are_chosen_at_run_time() -> None:
    parameters = leaves(3, UNITS * UNITS)
    rows = [leaves(4 + i, UNITS) for i in range(5)]
    every, table = [*parameters, *(v for row in rows for v in row)], rg.table(rows)

    def function(chosen: list[rg.Index]) -> Any:
        state: list[Any] = [0.1] * UNITS
        for index in chosen:
            state = [rg.math.tanh(x + v) for x, v in zip(mixed(parameters, state), table[index], strict=True)]
        return total(state)

    llvm = check(function, every, [rg.Index(i * i % 5) for i in range(STEPS)])
    other = [rg.Index(i % 4) for i in range(STEPS)]
    root = function(other)
    root.backward()
    expected = gradients_of(every)
    assert llvm.backward(other) == pytest.approx(root.data, rel=1e-12)
    assert gradients_of(every) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("last", [0, STEPS // 2, STEPS - 1])
def test_a_domain_error_in_one_step(last: int) -> None:
    parameters = leaves(5, UNITS * UNITS)
    shifts = [rg.Value(0.0) for _ in range(STEPS)]

    def function() -> Any:
        state: list[Any] = [0.1] * UNITS
        for shift in shifts:
            state = [rg.math.sqrt(x + shift) * 0.5 for x in mixed(parameters, state)]
        return total(state)

    llvm = rg.compile(function, tier="llvm")
    before = llvm.backward()
    shifts[last].data = -100.0
    with pytest.raises(ValueError, match="sqrt"):
        llvm.backward()
    shifts[last].data = 0.0
    assert llvm.backward() == before


# --- the calls themselves -------------------------------------------------------------------------------------------


def addition(number: int, d: int, a: int, **changes: Any) -> KernelCall:
    """d[i] += a[i] for four numbers."""
    one = (0, 0, 0, 0, 1)
    call: dict[str, Any] = {
        "kernel": "add", "row": "", "struct_address": 1 << 20 | 192 * number, "run": 7, "k": 1.0,
        "pointers": (d, a, 0, 0, 0, 0, 0, 0), "counts": (1, 1, 1, 1, 4), "strides": (one,) * 4, "accumulate": True,
        "which": 0, "pooled": False, "stride": 0,
    }  # fmt: skip
    return KernelCall(**(call | changes))


def repetitions(calls: list[KernelCall]) -> list[Repetition]:
    return [part for part in cut(calls, MEMORY, lambda _: False) if isinstance(part, Repetition)]


def test_operands_that_move_alike_share_a_parameter() -> None:
    calls = []
    for k in range(16):
        calls += [addition(2 * k, 64 + 32 * k, 8192), addition(2 * k + 1, 4096 + 32 * k, 64 + 32 * k, k=2.0)]
    (found,) = repetitions(calls)
    assert len(found.calls) == 2
    assert len(found.shifts) == 16
    assert len(found.memory.blocks) == 3  # the calls, what moves, and what does not
    assert not found.memory.overlapping


def test_blocks_that_overlap_are_told() -> None:
    calls = []
    for k in range(16):
        calls += [addition(2 * k, 64 + 32 * k, 8192), addition(2 * k + 1, 128, 8192, k=2.0)]
    (found,) = repetitions(calls)
    assert len(found.memory.overlapping) == 2


def test_every_address_stays_in_its_block() -> None:
    calls = [addition(k, 4096 - 32 * k, 8192 + 8 * (k * k % 11)) for k in range(32)]
    (found,) = repetitions(calls)
    for shifts, original in zip(found.shifts, calls, strict=True):
        (call,) = found.calls
        for p in (0, 1):
            begin, length = found.memory.block_of(call.pointers[p])
            assert call.pointers[p] + shifts[begin] == original.pointers[p]
            assert begin + shifts[begin] >= 0
            assert begin + length + shifts[begin] <= 1 << 16


def test_other_constants_are_no_repetition() -> None:
    assert not repetitions([addition(k, 64 + 32 * k, 8192, k=float(k)) for k in range(32)])
    assert not repetitions([addition(k, 64 + 32 * k, 8192) for k in range(16)])
