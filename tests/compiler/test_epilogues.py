"""Elementwise calls around a contraction are fused with it: the numbers of the engine, whatever the sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import retrograd as rg
from retrograd.compiler.backends.llvm import codegen, jit, pipeline
from retrograd.engine import ENGINE

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("kernel_calls")]

if ENGINE == "native":
    from retrograd.compiler.backends.llvm.fusion.epilogues import FusedContraction, fuse_epilogues

#: Rows, inputs and outputs of a layer; the vectors of a processor have 4 or 8 lanes.
SIZES = [(9, 3, 5), (16, 2, 16), (40, 16, 7), (24, 5, 8), (100, 16, 16), (3, 20, 2)]

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": lambda x: rg.math.relu(x),
    "square": lambda x: x * x,
    "abs": lambda x: abs(x),
    "scaled": lambda x: -x * 0.25,
    "exp": lambda x: rg.math.exp(x * 0.1),  # is not fused: it needs too many registers
}


@pytest.fixture
def fused(monkeypatch: pytest.MonkeyPatch) -> list[FusedContraction]:
    """What is fused with contractions."""
    found: list[FusedContraction] = []

    def kept(*args: Any) -> Iterator[Any]:
        for step in fuse_epilogues(*args):
            if isinstance(step, FusedContraction):
                found.append(step)
            yield step

    monkeypatch.setattr(codegen, "fuse_epilogues", kept)
    return found


def layer(weights: Sequence[Any], biases: Sequence[Any] | None, x: Sequence[Any]) -> list[Any]:
    n = len(x)
    sums = [sum((w * a for w, a in zip(weights[i : i + n], x, strict=True)), 0) for i in range(0, len(weights), n)]
    return sums if biases is None else [b + s for b, s in zip(biases, sums, strict=True)]


def check(function: Callable[[], rg.Value], parameters: Sequence[rg.Value]) -> None:
    """The machine code has the engine's value and gradients, also after the parameters have changed."""
    compiled = rg.compile(function, tier="llvm")
    for _ in range(3):
        expected = function()
        expected.backward()
        gradients = [p.grad for p in parameters]
        for p in parameters:
            p.grad = 0.0
        assert compiled.backward() == pytest.approx(expected.data, rel=1e-12)
        assert [p.grad for p in parameters] == pytest.approx(gradients, rel=1e-10, abs=1e-12)
        for p in parameters:
            p.grad = 0.0
            p.data *= -0.9
    assert "(llvm)" in str(compiled.stats())


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("biases", ["beside the weights", "apart", "none"])
def test_two_layers(
    size: tuple[int, int, int], activation: str, biases: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if width == 4 or jit.vector_width() == 8:
        monkeypatch.setattr(pipeline, "vector_width", lambda: width)
    rows, inputs, units = size
    draw = random.Random(1)

    def values(count: int) -> list[rg.Value]:
        return [rg.Value(draw.uniform(-1, 1)) for _ in range(count)]

    data = [[draw.uniform(-1, 1) for _ in range(inputs)] for _ in range(rows)]
    act = ACTIVATIONS[activation]
    if biases == "beside the weights":
        neurons = [values(inputs + 1) for _ in range(units)] + [values(units + 1) for _ in range(units)]
        parameters = [v for neuron in neurons for v in neuron]
        first, second = ([w for n in part for w in n[:-1]] for part in (neurons[:units], neurons[units:]))
        bias = [n[-1] for n in neurons]
    else:
        first, second, bias = values(units * inputs), values(units * units), values(2 * units)
        parameters = [*first, *second, *bias]
    beginning, end = (None, None) if biases == "none" else (bias[:units], bias[units:])
    if biases == "none":
        parameters = [*first, *second]

    def loss() -> rg.Value:
        hidden = [[act(s) for s in layer(first, beginning, row)] for row in data]
        outputs = [[act(s) for s in layer(second, end, row)] for row in hidden]
        result: rg.Value = sum((y * (i + 1) for row in outputs for i, y in enumerate(row)), rg.Value(0.0)) / rows
        return result

    check(loss, parameters)


def test_the_layers_of_a_network_are_fused(fused: list[FusedContraction]) -> None:
    random.seed(3)
    model = rg.nn.MLP(4, [16, 16, 1])
    draw = random.Random(4)
    data = [[draw.uniform(-1, 1) for _ in range(4)] for _ in range(60)]
    check(lambda: rg.math.mean([model(row) ** 2 for row in data]), model.parameters())
    begun = [step for step in fused if step.product.pointers[3]]
    finished = [step.epilogue[0].row for step in fused if step.epilogue]
    assert len(begun) >= 2
    assert set(finished) == {"relu"}


def test_what_is_read_again_is_stored(fused: list[FusedContraction]) -> None:
    """A gradient that another call reads besides the epilogue is in memory."""
    draw = random.Random(5)
    w, v = ([rg.Value(draw.uniform(-1, 1)) for _ in range(12 * 12)] for _ in range(2))
    data = [[draw.uniform(-1, 1) for _ in range(12)] for _ in range(30)]

    def loss() -> rg.Value:
        hidden = [layer(w, None, row) for row in data]
        mixed = [[rg.math.relu(h) + 0.5 * abs(h) for h in row] for row in hidden]
        result: rg.Value = sum((y * y for row in mixed for y in layer(v, None, row)), rg.Value(0.0))
        return result

    check(loss, [*w, *v])


def test_a_number_that_is_too_large_is_noticed() -> None:
    """The engine's rules count where a sum overflows, in a fused layer as well."""
    w = [rg.Value(1e200) for _ in range(64)]
    scale = rg.Value(1.0)

    def loss() -> rg.Value:
        rows = [[rg.math.relu(s) for s in layer(w, None, [scale * 1.0] * 8)] for _ in range(20)]
        result: rg.Value = sum((y for row in rows for y in layer(w, None, row)), rg.Value(0.0))
        return result

    compiled = rg.compile(loss, tier="llvm")
    for number in (1e-200, 1e-150, -1e120):
        scale.data = number
        expected = loss()
        assert compiled.backward() == pytest.approx(expected.data, nan_ok=True)
