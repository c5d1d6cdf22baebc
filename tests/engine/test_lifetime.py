"""The life of nodes in the native engine: what is freed when, what it costs, and what other threads may do with it."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from retrograd import errors

native = pytest.importorskip("retrograd._native", reason="the native engine is not built: pip install .")
pytestmark = pytest.mark.native
Value = native.Value

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="resident memory is read from /proc")


def resident() -> int:
    """Resident memory of this process, in bytes."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * PAGE


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    """A dropped graph is freed by reference counts alone: the collector is off."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def chain(length: int) -> tuple[Any, Any]:
    x = Value(1.0)
    y = x
    for _ in range(length):
        y = y + 1.0
    return x, y


@pytest.mark.memory
@pytest.mark.long
def test_ten_million_nodes_in_one_chain() -> None:
    x, y = chain(10_000_000)
    y.backward()
    assert x.grad == 1.0
    assert y.data == 10_000_001.0
    del y
    assert x.grad == 1.0


@pytest.mark.memory
@needs_proc
def test_a_node_costs_at_most_64_bytes() -> None:
    chain(200_000)
    before = resident()
    x, y = chain(2_000_000)
    assert (resident() - before) / 2_000_000 <= 64
    del x, y


def steps(step: Callable[[], object], count: int = 10_000) -> float:
    """Bytes by which memory grows for each of ``count`` steps, after as many to settle."""
    for _ in range(count // 4):
        step()
    before = resident()
    for _ in range(count):
        step()
    return (resident() - before) / count


@pytest.mark.memory
@needs_proc
def test_memory_is_flat_while_graphs_are_dropped() -> None:
    w = Value(0.5)
    kept: dict[str, Any] = {}

    def forward() -> None:
        loss = w
        for i in range(300):
            loss = (loss * w + i).tanh()
        kept["loss"] = loss  # as at module level: the old graph lives until the name is bound again

    def forward_and_backward() -> None:
        forward()
        kept["loss"].backward()

    assert steps(forward, 3000) < 100
    assert steps(forward_and_backward, 3000) < 100


@pytest.mark.memory
@needs_proc
@pytest.mark.long
def test_a_kept_leaf_pins_nothing() -> None:
    kept: list[Any] = []

    def step() -> None:
        kept.append(Value(1.0))
        y = kept[-1]
        for _ in range(1000):
            y = y * 1.5 + Value(0.25)

    assert steps(step) < 300  # the leaf itself and its place in the list


@pytest.mark.memory
@needs_proc
def test_a_kept_result_costs_at_most_its_chunk() -> None:
    kept: list[Any] = []
    x = Value(2.0)

    def step() -> None:
        for _ in range(1000):
            x * 3.0
        kept.append(x * x)

    assert steps(step, 2000) <= 16384 + 1024


class Witness:
    """Something that a closure captures, to see whether it died."""


def with_closure(arena: bool) -> weakref.ref[Witness]:
    x = Value(3.0)
    witness = Witness()
    out = Value(x.data * 2, (x,), "double") if not arena else x * 2
    if arena:
        out._backward = lambda: witness  # does not hold out itself
    else:
        out._backward = lambda: (out, witness)
    (out * out).backward() if not arena else None
    return weakref.ref(witness)


def test_a_closure_that_holds_its_node_is_collected() -> None:
    witness = with_closure(arena=False)
    assert witness() is not None
    gc.collect()
    assert witness() is None


def test_a_closure_that_does_not_hold_its_node_needs_no_collector() -> None:
    assert with_closure(arena=True)() is None


def test_a_long_chain_of_closures_is_freed() -> None:
    class Node(Value):  # type: ignore[misc, valid-type]
        pass

    x = y = Node(1.0)
    for _ in range(100_000):
        out = Node(y.data, (y,), "step")

        def push(out: Any = out, y: Any = y) -> None:
            y.grad += out.grad

        out._backward = push
        y = out
    y.backward()
    assert x.grad == 1.0
    del out, push, y
    gc.collect()


def test_user_nodes_without_closures_are_freed_at_once() -> None:
    class Node(Value):  # type: ignore[misc, valid-type]
        def __init__(
            self, data: float, children: tuple[Any, ...], local_grads: tuple[float, ...], witness: Witness
        ) -> None:
            super().__init__(data, children, local_grads)
            self.witness = witness

    x = Value(2.0)
    witness = Witness()
    y = Node(4.0, (x,), (2.0,), witness)
    z = y * y
    seen = weakref.ref(witness)
    del witness, y
    assert seen() is not None
    z.backward()
    assert x.grad == 16.0
    del z
    assert seen() is None


def test_a_cycle_through_a_subclass_is_collected() -> None:
    class Node(Value):  # type: ignore[misc, valid-type]
        pass

    parameter = Node(1.0)
    parameter.twice = Value(2.0, (parameter,), (2.0,))
    seen = weakref.ref(parameter)
    del parameter
    gc.collect()
    assert seen() is None


@pytest.mark.memory
@needs_proc
def test_an_old_result_does_not_keep_the_numbers_of_every_step() -> None:
    parameters = [Value(0.5) for _ in range(100)]
    old = Value(2.0) * 3.0  # alive all the time, as what a program computes at its start
    recent: list[Any] = []

    def step() -> None:
        loss = old
        for parameter in parameters:
            loss = loss + parameter * parameter
        recent[:] = [*recent[-2:], loss]  # the last three graphs
        native.sgd_step(parameters, None, 1e-3, 0.0, 0.0, False)
        for parameter in parameters:
            parameter.grad = 1.0

    assert steps(step, 4000) < 100
    with pytest.raises(errors.ChangedValueError):
        recent[0].backward()


def test_a_leaf_in_the_memory_of_another_has_nothing_of_it() -> None:
    for _ in range(3):
        old = [Value(1.0, label="old") if i % 2 else Value(1.0) for i in range(2000)]
        for value in old:
            value.grad, value.data = 5.0, 2.0
        del old, value
        gc.collect()
        for fresh in [Value(3.0) for _ in range(2000)]:
            assert (fresh.data, fresh.grad, fresh.label) == (3.0, 0.0, "")
            assert not gc.is_tracked(fresh)
        (fresh * 2.0).backward()
        assert fresh.grad == 2.0
