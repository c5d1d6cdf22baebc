"""Copies, pickles, lifetimes and threads of Values, on whichever engine is in use."""

from __future__ import annotations

import copy
import gc
import math
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

import retrograd.engine as engine
from retrograd import errors
from retrograd import math as rmath
from retrograd.engine import Value, no_grad, topological_order

# --- copies ---------------------------------------------------------------------------------------


def graph() -> tuple[Value, Value, list[Value]]:
    a, b = Value(2.0, label="a"), Value(-3.0)
    c = a * b
    ps = rmath.softmax([c, 1.0, a])
    user = Value(c.data * 2, (c,), (2.0,))
    root = (
        rmath.dot([ps[0], ps[2], 3], [c, c, b]) + 2**a - (a % 2.5) + user + rmath.where(1, c, a) + Value(1.0, _op="w")
    )
    root.label = "root"
    return a, root, [c, *ps]


def by_pickle(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("copied", [copy.deepcopy, by_pickle])
def test_graphs_round_trip(copied: Callable[[Any], Any]) -> None:
    a, root, inner = graph()
    root.backward()
    for group in ((a, root, inner), (root, a, inner), [inner, root, a]):
        new = copied(group)
        new_root = next(v for v in new if isinstance(v, Value) and v.label == "root")
        new_a = next(v for v in new if isinstance(v, Value) and v.label == "a")
        new_inner = next(v for v in new if isinstance(v, list))
        old_order, new_order = topological_order(root), topological_order(new_root)
        assert [(v.data, v.grad, v._op, v.label) for v in new_order] == [
            (v.data, v.grad, v._op, v.label) for v in old_order
        ]
        assert [engine.is_constant(v) for v in new_order] == [engine.is_constant(v) for v in old_order]
        assert not {id(v) for v in old_order} & {id(v) for v in new_order}
        assert any(v is new_inner[0] for v in new_order)
        assert any(v is new_a for v in new_order)
        before = a.grad
        new_a.zero_grad()
        new_root.backward()
        assert new_a.grad == before == a.grad
        assert new_inner[0].grad == inner[0].grad


def test_copy_shares_operands() -> None:
    a = Value(2.0, label="a")
    y = a * 3
    y.grad, y.label = 5.0, "y"
    twin = copy.copy(y)
    assert twin is not y
    assert (twin.data, twin.grad, twin.label) == (6.0, 5.0, "y")
    assert twin._children[0] is a
    leaf = copy.copy(a)
    leaf.data = 9.0
    assert a.data == 2.0
    assert leaf.label == "a"
    (twin * y).backward()
    assert a.grad == 36.0


@pytest.mark.parametrize("copied", [copy.deepcopy, by_pickle])
def test_long_graphs_are_copied_without_recursion(copied: Callable[[Any], Any]) -> None:
    x = Value(1.0, label="x")
    y = x
    for _ in range(5_000):
        y = y + x
    new, new_x = copied((y, x))
    new.backward()
    assert new.data == 5_001.0
    assert new_x.grad == 5_001.0
    assert x.grad == 0.0


class Parameter(Value):
    """At module level, so that pickle finds it."""

    def __init__(self, data: float, tags: list[str]) -> None:
        super().__init__(data)
        self.tags = tags


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, by_pickle])
def test_subclasses_round_trip(copied: Callable[[Any], Any]) -> None:
    p = Parameter(2.0, ["weight"])
    p.grad, p.label = 0.5, "w"
    new = copied(p)
    assert type(new) is Parameter
    assert new is not p
    assert (new.data, new.grad, new.label, new.tags) == (2.0, 0.5, "w", ["weight"])
    assert (new.tags is p.tags) == (copied is copy.copy)


@pytest.mark.skipif(find_spec("retrograd._native") is None, reason="the native engine is not built")
def test_a_pickle_loads_under_the_other_engine() -> None:
    a, root, _ = graph()
    root.backward()
    program = (
        "import pickle, sys\n"
        "from retrograd import engine\n"
        "root, a = pickle.load(sys.stdin.buffer)\n"
        "before, a.grad = a.grad, 0.0\n"
        "root.backward()\n"
        "print(engine.ENGINE, root.data.hex(), before.hex(), a.grad.hex())"
    )
    other = "reference" if engine.ENGINE == "native" else "native"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps((root, a)),
        env={**os.environ, "RETROGRAD_ENGINE": other, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert done.stderr.decode() == ""
    assert done.stdout.decode().split() == [other, root.data.hex(), a.grad.hex(), a.grad.hex()]


def test_what_cannot_be_copied_says_so() -> None:
    x = Value(0.5)
    out = Value(math.tanh(x.data), (x,), "tanh")
    out._backward = lambda: setattr(x, "grad", out.grad)
    y = out * 2
    for attempt in (copy.deepcopy, by_pickle):
        with pytest.raises(TypeError, match="detach"):
            attempt(y)
    stale = x * x
    x.data = 3.0
    with pytest.raises(errors.ChangedValueError):
        copy.deepcopy(stale)


# --- lifetimes and threads ------------------------------------------------------------------------


def test_nodes_with_closures_are_collected() -> None:
    class Witness:
        alive = 0

        def __init__(self) -> None:
            Witness.alive += 1

        def __del__(self) -> None:
            Witness.alive -= 1

    class Marked(Value):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.witness = Witness()

    for _ in range(10):
        x = Marked(0.5)
        out = Marked(1.0, (x,), "op")
        out._backward = lambda x=x, out=out: setattr(x, "grad", out.grad)
        (out * 2).backward()
    del x, out
    gc.collect()
    assert Witness.alive == 0


def test_threads() -> None:
    leaf, here = Value(2.0), Value(3.0) * 2
    caught: list[BaseException] = []
    done: list[float] = []

    def elsewhere() -> None:
        y = leaf * leaf
        y.backward()
        done.append(here.data + y.data)
        for attempt in (
            lambda: here * 2,
            lambda: rmath.sum([leaf, here]),
            here.backward,
            lambda: Value(1.0, (here,), "u"),
        ):
            try:
                attempt()
            except errors.ForeignThreadError as error:
                caught.append(error)
        with no_grad():
            done.append((leaf * 3).data)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert done == [10.0, 6.0]
    assert leaf.grad == 4.0
    assert len(caught) == 4
    assert "thread" in str(caught[0])
    assert (leaf * 1)._children[0] is leaf  # modes belong to their thread
