"""detect_anomaly: the first NaN or infinity is named with its operation, operands and source line."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import pytest

from retrograd import engine, errors
from retrograd.autodiff.anomaly import detect_anomaly, is_detecting
from retrograd.autodiff.transforms import grad, gradient, jvp
from retrograd.engine import Value, errstate
from retrograd.ops import NARY, OPS

HERE = re.escape(__file__)


def overflowing(x: Value) -> Value:
    y = x + 1.0
    z = y * x  # the culprit
    return z + y


def test_the_forward_operation_that_overflows_is_named_with_its_line() -> None:
    with pytest.raises(errors.AnomalyError) as caught, detect_anomaly():
        overflowing(Value(1e200, label="x"))
    message = str(caught.value)
    assert message.startswith("mul made the first infinity: with a = 1e+200, b = 1e+200 ('x') it is inf, at ")
    assert re.search(rf"{HERE}:\d+, in overflowing: z = y \* x", message)


def test_the_forward_operation_that_makes_a_nan_is_named() -> None:
    big = Value(math.inf)
    with (
        pytest.raises(errors.AnomalyError, match=r"sub made the first NaN: with a = inf, b = inf it is nan"),
        detect_anomaly(),
    ):
        big - big
    with (
        pytest.raises(errors.AnomalyError, match=r"log made the first NaN: with a = -1\.0"),
        errstate(invalid="ignore"),
        detect_anomaly(),
    ):
        Value(-1.0).log()


def test_infinities_and_nans_that_were_there_already_are_let_through() -> None:
    with detect_anomaly():
        assert (Value(math.inf) + 1.0).data == math.inf
        assert math.isnan((Value(math.nan) * 2.0).data)
        assert engine.reduce("logsumexp", [Value(-math.inf), Value(0.0)]).data == 0.0
        assert math.isnan((Value(math.inf) * Value(math.nan)).data)


def test_domain_errors_keep_their_class() -> None:
    with detect_anomaly():
        with pytest.raises(errors.DomainError):
            Value(-1.0).log()
        with pytest.raises(ZeroDivisionError):
            1 / Value(0.0)


def test_operations_over_many_operands_are_named_shortly() -> None:
    xs = [Value(1e308) for _ in range(10)]
    with (
        pytest.raises(errors.AnomalyError, match=r"sum made the first infinity: with operand 1 = 1e\+308.* and 6 more"),
        detect_anomaly(),
    ):
        engine.reduce("sum", xs)


def steep(x: Value) -> None:
    y = x.sqrt()
    (y * 3.0).backward()


def test_an_infinite_slope_is_named_in_the_backward_pass() -> None:
    with pytest.raises(errors.AnomalyError) as caught, detect_anomaly():
        steep(Value(0.0, label="x"))
    message = str(caught.value)
    assert message.startswith(
        "the derivative of sqrt made the first infinity: for a = 0.0 ('x') the local derivative inf times the upstream "
        "gradient 3.0 is inf, at "
    )
    assert message.endswith("y = x.sqrt()")


def test_backward_overflow_of_a_product_and_of_a_sum() -> None:
    with pytest.raises(errors.AnomalyError, match=r"the derivative of mul made the first infinity"), detect_anomaly():
        (Value(1.0) * 1e200).backward(1e200)
    z = Value(0.25)
    y = z * 1.5e308 + z * 1.5e308
    with (
        pytest.raises(errors.AnomalyError, match=r"adding up the gradient of a = 0\.25 made the first"),
        detect_anomaly(),
    ):
        y.backward()


def test_a_nan_from_zero_times_infinity() -> None:
    x = Value(0.0)
    with detect_anomaly():
        (x * x).sqrt()  # the forward pass is finite
    with pytest.raises(errors.AnomalyError, match="sqrt made the first infinity"), detect_anomaly():
        (x * x).sqrt().backward()


def test_a_users_closure_is_named() -> None:
    def root(x: Value) -> Value:
        y = Value(math.sqrt(x.data), (x,), "root")

        def push() -> None:
            x.grad += math.inf * y.grad

        y._backward = push
        return y

    with (
        pytest.raises(errors.AnomalyError, match=r"the derivative of root made the first infinity.*from 0\.0 into inf"),
        detect_anomaly(),
    ):
        root(Value(0.0)).backward()
    with pytest.raises(errors.AnomalyError, match="a user-made operation"), detect_anomaly():
        Value(2.0, (Value(1.0),), (math.nan,)).backward()


def test_a_node_recorded_before_has_no_line() -> None:
    y = Value(0.0).sqrt()
    with pytest.raises(errors.AnomalyError, match="its source line is not known"), detect_anomaly():
        y.backward()


def test_transforms_are_watched_too() -> None:
    def f(x: Value) -> Value:
        return x.sqrt() * 2.0

    for run in (
        lambda: grad(f)(0.0),
        lambda: grad(f)(Value(0.0)),
        lambda: grad(grad(f))(0.0),
        lambda: jvp(f, 0.0, 1.0),
        lambda: gradient(f(x := Value(0.0)), x),
    ):
        with (
            pytest.raises(errors.AnomalyError, match="the derivative of sqrt made the first infinity"),
            detect_anomaly(),
        ):
            run()
    with detect_anomaly():
        assert grad(grad(lambda x: x**3))(2.0) == 12.0
        x = Value(0.0)
        assert grad(grad(lambda x: engine.apply("where", 0.0, x.sqrt(), x * x)))(0.0) == 2.0
        assert gradient(x.relu() + x, x) == 1.0
        assert x.grad == 0.0


def random_graph(seed: int) -> tuple[list[Value], Value]:
    """A graph with most operations of the table, shared operands and constants."""
    generator = random.Random(seed)
    leaves = [Value(generator.uniform(0.5, 2.0), label=f"x{i}") for i in range(4)]
    pool: list[Any] = [*leaves]
    for _ in range(40):
        row = generator.choice([op for op in OPS if not op.static])
        operands = [
            (low + high) / 2 + (high - low) / 4 * generator.choice(pool).sin()
            if generator.random() < 0.8 or slot == 0
            else generator.uniform(low, high)
            for slot, (low, high) in enumerate(row.sample)
        ]
        pool.append(engine.apply(row.name, *operands))
    for nary in NARY:
        chosen = generator.sample(pool, 4)
        result = engine.reduce(nary.name, chosen, chosen[::-1]) if nary.paired else engine.reduce(nary.name, chosen)
        pool.extend(result if isinstance(result, list) else [result])
    pool.append(Value(pool[-1].data * 2, (pool[-1], pool[3]), (2.0, 0.0)))
    return leaves, engine.reduce("sum", [generator.uniform(-1, 1) * value.tanh() for value in pool])


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_those_of_a_plain_pass(seed: int) -> None:
    leaves, root = random_graph(seed)
    for leaf in leaves:
        leaf.grad = 0.125  # leaves accumulate
    root.backward(1.5)
    nodes = engine.interior(root)
    plain = [value.grad for value in (*leaves, *nodes)]
    for leaf in leaves:
        leaf.grad = 0.125
    with detect_anomaly():
        root.backward(1.5)
    assert [value.grad for value in (*leaves, *nodes)] == plain
    assert gradient(root, leaves) == pytest.approx([(leaf.grad - 0.125) / 1.5 for leaf in leaves], rel=1e-9)
    with detect_anomaly():
        watched = gradient(root, leaves)
    assert watched == gradient(root, leaves)
    assert [value.grad for value in (*leaves, *nodes)] == plain


def test_backward_of_a_leaf_and_through_users_nodes() -> None:
    x = Value(2.0)
    y = Value(x.data**2, (x,), "square")

    def push() -> None:
        x.grad += 2.0 * x.data * y.grad

    y._backward = push
    with detect_anomaly():
        x.backward(3.0)
        (y * 2.0 + y).backward()
        (y * 2.0 + y).backward()
    assert x.grad == 3.0 + 12.0 + 12.0
    assert y.grad == 3.0


def test_errors_of_a_plain_pass_stay_what_they_are() -> None:
    x = Value(2.0, label="x")
    y = x * x
    x.data = 3.0
    with pytest.raises(errors.ChangedValueError, match="'x'"), detect_anomaly():
        y.backward()
    with pytest.raises(errors.MissingDerivativeError), detect_anomaly():
        Value(1.0, (Value(1.0),), "mystery").backward()


def test_everything_is_put_back_afterwards() -> None:
    seen: list[Value] = []
    before = engine.set_observer(seen.append)
    try:
        with detect_anomaly(), detect_anomaly():
            assert is_detecting()
        with pytest.raises(errors.AnomalyError), detect_anomaly(), detect_anomaly():
            Value(1e200) * Value(1e200)
        assert len(seen) == 1  # an observer that was there before still sees every node
        assert not is_detecting()
        Value(1e200) * Value(1e200)
        assert len(seen) == 2
    finally:
        engine.set_observer(before)
    assert engine.set_backward_hook(None) is None
    Value(0.0).sqrt().backward()


def test_it_is_a_decorator() -> None:
    @detect_anomaly()
    def loss(x: Value) -> Value:
        return x * x

    assert loss(Value(2.0)).data == 4.0
    with pytest.raises(errors.AnomalyError):
        loss(Value(1e200))
