"""Long random lives in both engines at once: whatever is done to Values, the two do the same, bit for bit.

A :class:`Life` draws one act after another and writes down what can be seen of it. The same seed draws the same
acts in both engines, so that the two logs must be equal, refusals included.
"""

from __future__ import annotations

import copy
import gc
import itertools
import random
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from support.parts import ALL

from retrograd import errors, ops
from retrograd.engine import reference

native = pytest.importorskip("retrograd._native", reason="the native engine is not built: pip install .")
pytestmark = pytest.mark.native

UNARY = [row.name for row in ops.OPS if row.arity == 1]
BINARY = [row.name for row in ops.OPS if row.arity == 2 and not row.static]
TERNARY = [row.name for row in ops.OPS if row.arity == 3]
SEQUENCES = [row.name for row in ops.NARY]
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 1e-3, 1e200, float("inf"), float("nan"))
REFUSALS = (errors.RetrogradError, ArithmeticError, AttributeError, TypeError, ValueError)


def bits(x: float) -> bytes:
    return b"nan" if x != x else struct.pack("d", x)


def classes(engine: ModuleType) -> tuple[type, type]:
    """Two subclasses: a parameter with attributes, and an operation whose derivative is a method."""

    class Parameter(engine.Value):  # type: ignore[misc]
        def __init__(self, data: float, name: str) -> None:
            super().__init__(data, label=name)
            self.name = name

    class Cube(engine.Value):  # type: ignore[misc]
        __slots__ = ("x",)

        def __init__(self, x: Any) -> None:
            super().__init__(x.data * x.data * x.data, (x,), "cube")
            self.x = x

        def _backward(self) -> None:
            self.x.grad += 3.0 * (self.x.data * self.x.data) * self.grad

    return Parameter, Cube


class Life:
    """Values that are made, dropped, looked at, changed, copied and differentiated at random, and a log of it all."""

    def __init__(self, engine: ModuleType, seed: int) -> None:
        self.engine = engine
        self.chooser = random.Random(seed)
        self.parameter, self.cube = classes(engine)
        self.leaves: list[Any] = [engine.Value(self.chooser.gauss(0, 1), label=f"w{i}") for i in range(3)]
        self.leaves += [self.parameter(self.chooser.gauss(0, 1), f"p{i}") for i in range(2)]
        self.values: list[Any] = []
        self.log: list[object] = []
        self.acts: list[tuple[Callable[[], object], int]] = [
            (self.operate, 40), (self.sequence, 8), (self.users_node, 10), (self.drop, 12), (self.look, 5),
            (self.change, 8), (self.nudge, 4), (self.assign_backward, 2), (self.made_again, 1), (self.copied, 2),
            (self.unrecorded, 2), (self.step, 2), (self.elsewhere, 2), (self.observed, 2), (self.backward, 20),
            (self.gradients, 5),
        ]  # fmt: skip

    def run(self, count: int) -> list[object]:
        acts, weights = zip(*self.acts, strict=True)
        for act in self.chooser.choices(acts, weights, k=count):
            self.attempt(act)
        self.log.append([(bits(v.data), bits(v.grad), v._op, v.label) for v in self.leaves + self.values])
        return self.log

    def attempt(self, act: Callable[[], object]) -> None:
        try:
            self.log.append((act.__name__, act()))
        except REFUSALS as error:
            self.log.append((act.__name__, type(error).__name__))

    def any_value(self) -> Any:
        # Mostly young ones, as in a program.
        if self.values and self.chooser.random() < 0.7:
            return self.values[-1 - min(int(self.chooser.expovariate(0.3)), len(self.values) - 1)]
        return self.chooser.choice(self.leaves + self.values)

    def any_operand(self) -> Any:
        return self.any_value() if self.chooser.random() < 0.75 else self.chooser.choice(NUMBERS)

    # --- acts: each returns what is to be compared

    def keep(self, *made: Any) -> list[bytes]:
        self.values += made
        return [bits(value.data) for value in made]

    def operate(self) -> object:
        modes = [self.chooser.random() < 0.3 for _ in range(3)]
        before = self.engine.set_errstate(*modes)
        try:
            names = self.chooser.choice((UNARY, BINARY, ("add", "mul", "sub", "tanh"), TERNARY))
            name = self.chooser.choice(names)
            arity = ops.BY_NAME[name].arity  # type: ignore[union-attr]
            operands = [self.any_operand() for _ in range(arity)]
            operands[self.chooser.randrange(arity)] = self.any_value()
            if arity > 1 and self.chooser.random() < 0.2:
                operands[1] = operands[0]
            return self.keep(self.engine.apply(name, *operands))
        finally:
            self.engine.set_errstate(*before)

    def sequence(self) -> object:
        name = self.chooser.choice(SEQUENCES)
        xs = [self.any_operand() for _ in range(self.chooser.randint(1, 6))]
        made = self.engine.reduce(name, xs, *([xs[::-1]] if name == "dot" else []))
        if not isinstance(made, list):
            made = [made]
        return self.keep(*(value for value in made if isinstance(value, self.engine.Value)))

    def users_node(self) -> object:
        kind = self.chooser.randrange(4)
        x, y = self.any_value(), self.any_value()
        if kind == 0:
            return self.keep(self.engine.Value(x.data + y.data, (x, y), (1.0, self.chooser.choice(NUMBERS)), "given"))
        if kind == 1:
            return self.keep(self.cube(x))
        out = self.engine.Value(x.data * y.data, (x, y), "product")
        if kind == 2:
            act = self.chooser.randrange(6)
            leaf = self.chooser.choice(self.leaves)

            def push() -> None:
                x.grad += y.data * out.grad
                y.grad += x.data * out.grad
                if act == 0:
                    leaf.data = 0.75  # behind the back of the pass
                elif act == 1:
                    (leaf * 3.0).tanh().backward(0.5)
                elif act == 2:
                    self.values.clear()
                elif act == 3 and len(self.log) % 2:
                    raise ArithmeticError

            out._backward = push
        return self.keep(out)  # kind 3 has no derivative

    def drop(self) -> None:
        how = self.chooser.random()
        if how < 0.15:
            self.values.clear()
        elif how < 0.4:
            del self.values[: len(self.values) // 2]
        elif self.values:
            del self.values[self.chooser.randrange(len(self.values))]

    def look(self) -> object:
        value = self.any_value()
        children = value._children
        assert all(a is b for a, b in zip(children, value._children, strict=True))
        names = [self.engine.row_name(node) for node in self.engine.interior(value)]
        shown = [(bits(c.data), self.engine.is_constant(c)) for c in children]
        return value._op, shown, names, len(value._prev), [bits(g) for g in value._local_grads]

    def change(self) -> None:
        chosen = self.any_value() if self.chooser.random() < 0.2 else self.chooser.choice(self.leaves)
        chosen.data = self.chooser.choice((0.5, 1.5, -0.25))

    def nudge(self) -> None:
        chosen, old = (chosen := self.any_value()), chosen.data
        chosen.data = 0.125
        if self.chooser.random() < 0.5:
            self.attempt(self.operate)
        chosen.data = old

    def assign_backward(self) -> None:
        counted = self.log
        self.any_value()._backward = lambda: counted.append("called")

    def made_again(self) -> None:
        children = (self.any_value(),) if self.chooser.random() < 0.5 else ()
        self.engine.Value.__init__(self.any_value(), 0.25, children, "again")

    def copied(self) -> object:
        value = self.any_value()
        return self.keep(copy.copy(value) if self.chooser.random() < 0.5 else copy.deepcopy(value))

    def unrecorded(self) -> None:
        before = self.engine.set_recording(False)
        try:
            self.attempt(self.operate)
            self.attempt(self.users_node)
        finally:
            self.engine.set_recording(before)

    def step(self) -> None:
        self.engine.sgd_step(self.leaves, None, 0.01, 0.0, 0.0, False)
        if self.chooser.random() < 0.5:
            self.engine.zero_gradients(self.leaves)

    def elsewhere(self) -> None:
        """Other acts, in another thread, which may use the leaves but not extend the results."""
        acts = self.chooser.choices((self.operate, self.change, self.look, self.backward, self.users_node), k=5)
        thread = threading.Thread(target=lambda: [self.attempt(act) for act in acts])
        thread.start()
        thread.join()

    def observed(self) -> object:
        seen: list[str] = []

        def observe(node: Any) -> None:
            seen.append(self.engine.row_name(node))
            node * 2.0  # is not observed
            if len(seen) == 3:
                self.engine.set_observer(None)

        self.engine.set_observer(observe)
        try:
            for act in (self.operate, self.sequence, self.users_node, self.operate):
                self.attempt(act)
        finally:
            self.engine.set_observer(None)
        return seen

    def backward(self) -> object:
        root = self.any_value()
        try:
            root.backward(self.chooser.choice((1.0, -0.5, 0.0, -0.0)))
        finally:
            self.log.append([bits(value.grad) for value in self.leaves + self.values])
        return bits(root.grad)

    def gradients(self) -> object:
        xs = [self.any_value() for _ in range(4)]
        before = [bits(value.grad) for value in self.leaves]
        found = self.engine.gradients(self.any_value(), 1.0, xs)
        return [bits(g) for g in found], before == [bits(value.grad) for value in self.leaves]


@pytest.fixture(autouse=True)
def _eager_switches() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
    gc.collect()


@pytest.mark.parametrize("seed", range(40 if ALL else 15))
def test_both_engines_live_the_same_life(seed: int) -> None:
    mine, theirs = (Life(engine, seed).run(400) for engine in (native, reference))
    for i, (one, other) in enumerate(zip(mine, theirs, strict=False)):
        assert one == other, f"act {i} after {mine[max(0, i - 3) : i]}"
    assert len(mine) == len(theirs)


def test_lives_at_the_same_time_do_not_meet() -> None:
    alone = [Life(native, seed).run(150) for seed in range(6)]
    together: dict[int, list[object]] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: together.update({seed: Life(native, seed).run(150)}))  # type: ignore[misc]
        for seed in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[seed] for seed in range(6)] == alone


@pytest.mark.parametrize("row", [row for row in ops.OPS if len(row.domain) > 1], ids=lambda row: row.name)
def test_each_kind_of_domain_error_is_switched_alone(row: ops.Op) -> None:
    at = (*NUMBERS, 1000.0, -1e200, 5e-324, float("-inf"))
    for modes in itertools.product((True, False), repeat=3):
        outcomes: list[list[object]] = []
        for engine in (native, reference):
            before = engine.set_errstate(*modes)
            outcomes.append([])
            for operands in itertools.product(at, repeat=row.arity):
                try:
                    outcomes[-1].append(bits(engine.evaluate(row.name, *operands)))
                except errors.RetrogradError as error:
                    outcomes[-1].append(str(error))
            engine.set_errstate(*before)
        assert outcomes[0] == outcomes[1], modes
