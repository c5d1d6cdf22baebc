"""The worked numbers of the lessons that retrograd comes from, and their own functions pasted in as they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.lessons import chapter_backward, identity_backward, lesson_backward, wiki_backward
from support.parts import require

from retrograd import Value


def leaves(**numbers: float) -> list[Value]:
    return [Value(number, label=name) for name, number in numbers.items()]


def test_product_plus_c_by_hand() -> None:
    a, b, c = leaves(a=2.0, b=-3.0, c=10.0)
    d = a * b
    L = d + c
    assert (d.data, L.data) == (-6.0, 4.0)
    L.grad = 1.0
    L._backward()
    assert (d.grad, c.grad) == (1.0, 1.0)
    d._backward()
    assert (a.grad, b.grad) == (-3.0, 2.0)
    assert (d._op, L._op) == ("*", "+")
    assert d._prev == {a, b}
    assert repr(L) == "Value(data=4.0, grad=1.0)"


def test_sum_times_c() -> None:
    a, b, c = leaves(a=2.0, b=-3.0, c=10.0)
    e = a + b
    f = e * c
    f.backward()
    assert (e.data, f.data) == (-1.0, -10.0)
    assert (f.grad, e.grad, a.grad, b.grad, c.grad) == (1.0, 10.0, 10.0, 10.0, -1.0)


def test_two_branches_by_hand_and_at_once() -> None:
    a, b, c = leaves(a=2.0, b=-3.0, c=10.0)
    ab = a * b
    ab_plus_c = ab + c
    a_plus_b = a + b
    L = ab_plus_c * a_plus_b
    L.grad = 1.0
    L._backward()
    ab_plus_c._backward()
    a_plus_b._backward()
    ab._backward()
    assert (L.data, a.grad, b.grad, c.grad) == (-4.0, 7.0, 2.0, -1.0)
    for leaf in (a, b, c):
        leaf.grad = 0.0
    L.backward()
    assert (a.grad, b.grad, c.grad) == (7.0, 2.0, -1.0)


def test_two_branches_against_pytorch() -> None:
    torch = require("torch")
    ours = leaves(a=2.0, b=-3.0, c=10.0)
    theirs = [torch.tensor(leaf.data, dtype=torch.float64, requires_grad=True) for leaf in ours]
    for a, b, c in (ours, theirs):
        ((a * b + c) * (a + b)).backward()
    assert [leaf.grad for leaf in ours] == [leaf.grad.item() for leaf in theirs]


def test_used_twice() -> None:
    for combine, gradient in ((lambda a: a + a, 2.0), (lambda a: a * a, 6.0)):
        a = Value(3.0)
        L = combine(a)
        L.grad = 1.0
        L._backward()
        assert a.grad == gradient
        assert L._children == (a, a)
        assert L._prev == {a}


def test_neuron() -> None:
    x1, x2, w1, w2, b = leaves(x1=2.0, x2=0.0, w1=-3.0, w2=1.0, b=6.8813735870195432)
    n = x1 * w1 + x2 * w2 + b
    o = n.tanh()
    o.backward()
    assert o.data == pytest.approx(0.7071, abs=1e-4)
    assert n.grad == pytest.approx(0.5, abs=1e-15)
    assert [v.grad for v in (w1, w2, x1, x2)] == pytest.approx([1.0, 0.0, -1.5, 0.5], abs=1e-15)


def test_neuron_spelled_out_with_exp() -> None:
    x1, x2, w1, w2, b = leaves(x1=2.0, x2=0.0, w1=-3.0, w2=1.0, b=6.8813735870195432)
    n = x1 * w1 + x2 * w2 + b
    e = (2 * n).exp()
    o = (e - 1) / (e + 1)
    o.backward()
    assert [v.grad for v in (w1, w2, x1, x2)] == pytest.approx([1.0, 0.0, -1.5, 0.5], abs=1e-14)


def test_diamond() -> None:
    a = Value(2.0)
    b = a + 1
    c = a * 3
    d = b * c
    d.backward()
    assert (b.data, c.data, d.data, a.grad) == (3.0, 6.0, 18.0, 15.0)


def test_relu_of_product_plus_d() -> None:
    a, b, d = leaves(a=2.0, b=-3.0, d=10.0)
    c = a * b
    e = c + d
    f = e.relu()
    f.backward()
    assert f.data == 4.0
    assert [v.grad for v in (a, b, c, d, e, f)] == [-3.0, 2.0, 1.0, 1.0, 1.0, 1.0]
    assert f._op == "ReLU"


def test_square_of_a_sum() -> None:
    a, b = Value(2.0), Value(3.0)
    c = a * b
    d = c + a
    e = d**2
    e.backward()
    assert [v.grad for v in (a, b, c, d, e)] == [64.0, 32.0, 16.0, 16.0, 1.0]
    assert e._children == (d,)
    assert e._op == "**2"


def test_one_node_at_a_time() -> None:
    a, b = Value(2.0), Value(3.0)
    c = a * b
    c.grad = 1.0
    c._backward()
    assert (a.grad, b.grad) == (3.0, 2.0)


# --- the lessons' own functions -------------------------------------------------------------------------------------


def program(xs: list[Value]) -> Value:
    a, b, c = xs
    d = a * b + c
    e = (d.relu() + 1 - b / 2) ** 2 + 3 * a - c.tanh() * (-d) / (a * a + 1)
    return e.exp().log() + (d * d + 1) ** -0.5 + 2**b


@pytest.mark.parametrize("backward", [wiki_backward, chapter_backward, lesson_backward, identity_backward])
def test_the_lessons_own_functions_agree(backward: Callable[[Any], None]) -> None:
    mine, theirs = leaves(a=0.3, b=-0.7, c=1.1), leaves(a=0.3, b=-0.7, c=1.1)
    program(mine).backward()
    backward(program(theirs))
    assert [v.grad for v in theirs] == pytest.approx([v.grad for v in mine], rel=1e-14)


def test_a_training_step_from_the_reference_page() -> None:
    import random

    from retrograd.nn import MLP

    random.seed(1)
    model = MLP(2, [4, 4, 1])
    learning_rate = 0.01
    xs = [[2.0, 3.0], [-1.0, -1.0], [3.0, -2.0]]
    ys = [1.0, -1.0, 1.0]
    losses = []
    for _ in range(20):
        ypred = [model(x) for x in xs]
        loss = sum((yout - ygt) ** 2 for ygt, yout in zip(ys, ypred, strict=True))
        model.zero_grad()
        loss.backward()
        for p in model.parameters():
            p.data -= learning_rate * p.grad
        losses.append(loss.data)
    assert losses[-1] < losses[0] / 2


class ScalarGPTValue(Value):
    """The scalar GPT's class, written with its constructor, as a subclass."""

    def __init__(self, data: float, children: tuple[Any, ...] = (), local_grads: tuple[float, ...] = ()) -> None:
        super().__init__(data, children, local_grads)

    def __mul__(self, other: Any) -> Any:
        other = other if isinstance(other, Value) else ScalarGPTValue(other)
        return ScalarGPTValue(self.data * other.data, (self, other), (other.data, self.data))

    def __add__(self, other: Any) -> Any:
        other = other if isinstance(other, Value) else ScalarGPTValue(other)
        return ScalarGPTValue(self.data + other.data, (self, other), (1, 1))


def test_the_scalar_gpts_constructor() -> None:
    a, b = ScalarGPTValue(2.0), ScalarGPTValue(-3.0)
    L = (a * b + 10.0) * (a + b)
    L.backward()
    assert (a.grad, b.grad) == (7.0, 2.0)
    assert L._children[0]._local_grads == (1.0, 1.0)
