"""The LLVM tier: the numbers of the virtual machine and of the engine, the same errors, and its taking over."""

from __future__ import annotations

import functools
import math
import operator
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
from support.parts import ALL, require
from support.timeouts import PATIENCE

import retrograd as rg
from retrograd.compiler import tier_up
from retrograd.compiler.backends.llvm import install, pipeline
from retrograd.compiler.backends.loops import install as loops_install

pytestmark = pytest.mark.native


@pytest.fixture(scope="module", autouse=True)
def _kernel_calls() -> Iterator[None]:
    """LLVM compiles kernel calls here, whatever it would choose: test_loops.py and test_nests.py have scalar code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tier_up, "_most_scalar_nodes", lambda _: 0)
        yield


@pytest.fixture(autouse=True)
def _llvmlite() -> None:
    require("llvmlite")


Numbers = tuple[float, list[float]]


def gradients_of(parameters: Sequence[rg.Value]) -> list[float]:
    found = [p.grad for p in parameters]
    for p in parameters:
        p.grad = 0.0
    return found


def close(found: Numbers, expected: Numbers) -> None:
    scale = max(map(abs, expected[1]), default=1.0)
    assert found[0] == pytest.approx(expected[0], rel=1e-12, abs=1e-300)
    assert found[1] == pytest.approx(expected[1], rel=1e-12, abs=1e-12 * scale)


def three_ways(function: Callable[..., rg.Value], parameters: Sequence[rg.Value], *args: Any) -> None:
    """The LLVM tier, the virtual machine and the engine agree, in the call that compiles and in those after it."""
    root = function(*args)
    root.backward()
    expected = root.data, gradients_of(parameters)
    vm = rg.compile(function, tier="vm")
    close((vm.backward(*args), gradients_of(parameters)), expected)
    llvm = rg.compile(function, tier="llvm")
    for _ in range(3):
        close((llvm.backward(*args), gradients_of(parameters)), expected)
    assert [program.tier for program in llvm.stats().programs] == ["llvm"]
    assert llvm.stats().eager == 0


def total(terms: Iterable[rg.Value]) -> rg.Value:
    return functools.reduce(operator.add, terms, rg.Value(0.0))


def tokens(length: int, seed: int = 0) -> list[rg.Index]:
    chosen = random.Random(seed)
    return [rg.Index(0), *(rg.Index(chosen.randrange(1, 27)) for _ in range(length - 1)), rg.Index(0)]


@pytest.mark.parametrize("length", range(1, 17) if ALL else (1, 7, pytest.param(16, marks=pytest.mark.long)))
def test_gpt_at_every_length(length: int) -> None:
    model = rg.nn.GPT(27, 16)
    three_ways(lambda t: model.loss(t), list(model.parameters()), tokens(length))


@pytest.mark.long
def test_gpt_of_another_width() -> None:
    model = rg.nn.GPT(27, n_embd=32)
    three_ways(lambda t: model.loss(t), list(model.parameters()), tokens(5))


def test_other_tokens_after_compiling() -> None:
    model = rg.nn.GPT(27, 16)
    parameters = list(model.parameters())
    llvm = rg.compile(lambda t: model.loss(t), tier="llvm")
    llvm.backward(tokens(6))
    gradients_of(parameters)
    for seed in range(1, 6):
        root = model.loss(tokens(6, seed))
        root.backward()
        expected = root.data, gradients_of(parameters)
        close((llvm.backward(tokens(6, seed)), gradients_of(parameters)), expected)
    assert llvm.stats().traces == 1


@pytest.mark.parametrize("members", [2, 5, 16])
def test_batches(members: int) -> None:
    model = rg.nn.GPT(27, 16)
    parameters = list(model.parameters())
    batch = [(tokens(5, seed),) for seed in range(members)]
    vm = rg.compile(lambda t: model.loss(t), tier="vm")
    expected = vm.backward_batch(batch), gradients_of(parameters)
    llvm = rg.compile(lambda t: model.loss(t), tier="llvm")
    for _ in range(2):
        close((llvm.backward_batch(batch), gradients_of(parameters)), expected)


@pytest.mark.parametrize("sizes", [(2, [16, 16, 1]), (3, [5, 1]), (7, [9, 11, 1]), (1, [1])])
def test_mlp(sizes: tuple[int, list[int]]) -> None:
    inputs, layers = sizes
    model = rg.nn.MLP(inputs, layers)
    chosen = random.Random(1)
    points = [[chosen.uniform(-1, 1) for _ in range(inputs)] for _ in range(13)]

    def loss(points: list[list[float]]) -> rg.Value:
        return sum((model(point) - 0.5) ** 2 for point in points)  # type: ignore[no-any-return]

    three_ways(loss, list(model.parameters()), points)


ROWS: dict[str, Callable[[rg.Value, rg.Value], rg.Value]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a, b: -a + b,
    "square": lambda a, b: a**2 + b,
    "inverse root": lambda a, b: a**-0.5 * b,
    "cube": lambda a, b: a**3 * b,
    "power": lambda a, b: a**b,
    "exp": lambda a, b: a.exp() * b,
    "log": lambda a, b: a.log() * b,
    "sqrt": lambda a, b: rg.math.sqrt(a) * b,
    "tanh": lambda a, b: a.tanh() * b,
    "relu": lambda a, b: (a - b).relu() * b,
    "sigmoid": lambda a, b: rg.math.sigmoid(a - b),
    "abs": lambda a, b: abs(a - b),
    "sin": lambda a, b: rg.math.sin(a) * b,
}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 9, 29, 300] if ALL else [1, 3, 8, 29])
@pytest.mark.parametrize("row", ROWS)
def test_rows(row: str, count: int) -> None:
    chosen = random.Random(count)
    a = [rg.Value(chosen.uniform(0.2, 2.0)) for _ in range(count)]
    b = [rg.Value(chosen.uniform(0.2, 2.0)) for _ in range(count)]
    call = ROWS[row]
    three_ways(lambda: total(call(x, y) * y for x, y in zip(a, b, strict=True)), [*a, *b])


def test_sums_and_extremes_of_ragged_rows() -> None:
    chosen = random.Random(3)
    rows = [[rg.Value(chosen.uniform(-1, 1)) for _ in range(n)] for n in (1, 2, 3, 5, 8, 13, 21)]

    def loss() -> rg.Value:
        return total(rg.math.max(row) * sum(row) for row in rows)

    three_ways(loss, [v for row in rows for v in row])


@pytest.mark.parametrize(
    ("call", "bad", "error"),
    [
        (lambda a, b: a / b, (1.0, 0.0), ZeroDivisionError),
        (lambda a, b: a.log() * b, (-1.0, 1.0), ValueError),
        (lambda a, b: a**-0.5 * b, (0.0, 1.0), ZeroDivisionError),
        (lambda a, b: (a * 1e3).exp() * b, (1.0, 1.0), OverflowError),
        (lambda a, b: rg.math.sqrt(a) * b, (-1.0, 1.0), ValueError),
    ],
)
def test_domain_errors_are_raised(call: Any, bad: tuple[float, float], error: type[Exception]) -> None:
    values = [(rg.Value(0.5), rg.Value(0.7)) for _ in range(9)]
    llvm = rg.compile(lambda: sum(call(a, b) for a, b in values), tier="llvm")
    before = llvm.backward()
    assert math.isfinite(before)
    values[8][0].data, values[8][1].data = bad
    with pytest.raises(error):
        llvm.backward()
    values[8][0].data, values[8][1].data = 0.5, 0.7
    assert llvm.backward() == before


def test_an_exponent_that_changes() -> None:
    bases = [rg.Value(0.3 + i) for i in range(7)]
    exponent = rg.Value(-0.5)
    llvm = rg.compile(lambda: sum(b**exponent for b in bases), tier="llvm")
    for number in (-0.5, 2.0, 1.7):
        exponent.data = number
        assert llvm().data == pytest.approx(sum(b.data**number for b in bases), rel=1e-14)


def test_value_and_grad() -> None:
    llvm = rg.compile(lambda xs: sum(x * x * x for x in xs), tier="llvm")
    xs = [0.5 * i for i in range(11)]
    for _ in range(2):
        value, gradient = llvm.value_and_grad(xs)
        assert value == pytest.approx(sum(x**3 for x in xs))
        assert gradient == pytest.approx([3 * x * x for x in xs])


def test_gradients_are_stored_or_added_by_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    modules: list[str] = []
    compile_module = pipeline.object_of
    monkeypatch.setattr(pipeline, "object_of", lambda module: modules.append(module) or compile_module(module))
    model = rg.nn.GPT(27, 16)
    parameters = list(model.parameters())
    model.loss(tokens(4)).backward()
    expected = gradients_of(parameters)
    llvm = rg.compile(lambda t: model.loss(t), tier="llvm")
    llvm.backward(tokens(4))
    assert modules[0].count("define internal i32") == 2  # forward, and both ways back
    assert modules[0].count("define i32") == 3
    for cleared in (True, False, False, True, True, False):
        if cleared:
            rg.optim.SGD(parameters, lr=0.0).zero_grad()
        before = [p.grad for p in parameters]
        llvm.backward(tokens(4))
        added = [p.grad - b for p, b in zip(parameters, before, strict=True)]
        assert added == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_it_takes_over_in_the_background() -> None:
    model = rg.nn.GPT(27, 16)
    parameters = list(model.parameters())
    auto = rg.compile(lambda t: model.loss(t))
    document = tokens(4)
    first = auto.backward(document), gradients_of(parameters)
    for _ in range(tier_up.THRESHOLD - 10):
        auto.backward(document)
    assert [program.tier for program in auto.stats().programs] == ["vm"]
    for _ in range(20):
        auto.backward(document)
    deadline = time.monotonic() + PATIENCE
    while auto.stats().programs[0].tier != "llvm" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert auto.stats().programs[0].tier == "llvm"
    assert auto.stats().programs[0].milliseconds["llvm"] > 0
    gradients_of(parameters)
    close((auto.backward(document), gradients_of(parameters)), first)


def mixture(h: Sequence[rg.Value]) -> Any:
    """Sums, products, roots, extremes and a chain of all numbers."""
    squares = total(q * q for q in h)
    chain = functools.reduce(operator.mul, [q * 0.25 + 1.0 for q in h])
    return squares * 0.5 + rg.math.sqrt(squares + 1.0) + chain + max(h) * rg.logsumexp(h)


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("seed", range(8 if ALL else 3))
def test_vectors_of_any_length_in_batches_of_any_size(seed: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever processor this runs on: LLVM splits vectors that are wider than its registers."""
    monkeypatch.setattr(pipeline, "vector_width", lambda: width)
    draw = random.Random(seed)
    cases = [(draw.randint(1, 20), draw.randint(1, 17)) for _ in range(3)] + ([(4, 3), (4, 11)] if seed == 0 else [])
    for length, size in cases:
        leaves = [rg.Value(draw.uniform(0.5, 2.0)) for _ in range(length)]
        function = draw.choice([lambda h: sum(q * q for q in h), mixture])
        vm, llvm = (rg.compile(function, tier=tier) for tier in ("vm", "llvm"))  # type: ignore[arg-type]
        for calls in (1, size, size, max(1, size // 2)):
            members = [(leaves,)] * calls
            expected = vm.backward_batch(members), gradients_of(leaves)
            close((llvm.backward_batch(members), gradients_of(leaves)), expected)
        assert llvm.stats().reasons.keys() == vm.stats().reasons.keys(), (length, size)


def test_the_inputs_of_batches_of_any_size() -> None:
    w = [rg.Value(0.5 + 0.25 * k) for k in range(5)]

    def loss(x: Sequence[float]) -> Any:
        return total(rg.math.exp(-a * b) * a for a, b in zip(w, x, strict=True))

    vm, llvm = (rg.compile(loss, tier=tier) for tier in ("vm", "llvm"))  # type: ignore[arg-type]
    for size in range(1, 18, 2):
        members = [([0.1 * (k + j) for j in range(5)],) for k in range(size)]
        expected = vm.backward_batch(members), gradients_of(w)
        close((llvm.backward_batch(members), gradients_of(w)), expected)
    assert llvm.stats().reasons.keys() == vm.stats().reasons.keys()


def _fail(*_: object, **__: object) -> None:
    raise RuntimeError("LLVM IR parsing error\n<string>:1:1: error")


def test_a_failure_of_llvm_is_no_error_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    x = rg.Value(3.0)
    llvm = rg.compile(lambda: x * x, tier="llvm")
    assert llvm.backward() == 9.0
    monkeypatch.setattr(install, "compile_program", _fail)
    monkeypatch.setattr(loops_install, "compile_graph", _fail)
    gradients_of([x])
    for _ in range(2):
        assert llvm.backward_batch([(), (), ()]) == 9.0
        assert gradients_of([x]) == [6.0]
    failure = "run without machine code, which LLVM did not make: RuntimeError: LLVM IR parsing error"
    assert llvm.stats().reasons[failure] == 1
    assert llvm.stats().eager == 0
    fresh = rg.compile(lambda: x * x * x, tier="llvm")
    assert fresh.backward() == 27.0
    assert gradients_of([x]) == [27.0]
    assert fresh.tier == "vm"
    assert failure in fresh.stats().reasons


def test_a_failure_in_the_background_is_seen_in_the_statistics(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "compile_program", _fail)
    xs = [rg.Value(0.1 * k) for k in range(40)]
    auto = rg.compile(lambda: total((x * x).tanh() for x in xs))
    deadline = time.monotonic() + PATIENCE
    while not any("LLVM" in reason for reason in auto.stats().reasons) and time.monotonic() < deadline:
        for _ in range(50):
            auto.backward()
    assert any("LLVM IR parsing error" in reason for reason in auto.stats().reasons)
    assert auto.tier == "vm"
    assert capfd.readouterr().err == ""


def test_the_virtual_machine_can_be_insisted_on() -> None:
    x = rg.Value(2.0)
    vm = rg.compile(lambda: x * x, tier="vm")
    for _ in range(2 * tier_up.THRESHOLD):
        vm.backward()
    time.sleep(0.05)
    assert vm.stats().programs[0].tier == "vm"


def test_a_program_that_goes_while_it_is_compiled() -> None:
    for _ in range(3):
        x = rg.Value(2.0)
        auto = rg.compile(lambda x=x: x * x + x)
        for _ in range(tier_up.THRESHOLD + 1):
            auto.backward()
        auto.clear()
        del auto, x
    y = rg.Value(3.0)
    assert rg.compile(lambda: y * y, tier="llvm")() == 9.0


def test_without_llvmlite_the_extra_is_named() -> None:
    code = """
import sys
sys.modules["llvmlite"] = None
import retrograd as rg
try:
    rg.compile(lambda x: x, tier="llvm")
except ImportError as error:
    print(type(error).__name__, error)
square = rg.compile(lambda x: x * x)
for _ in range(500):
    square.value_and_grad(3.0)
print(square.stats().programs[0].tier in ("vm", "interpreter"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        'MissingExtraError tier="llvm" needs llvmlite: pip install "retrograd[llvm]"',
        "True",
    ]


def test_llvmlite_is_imported_when_used() -> None:
    code = """
import sys
import retrograd as rg
square = rg.compile(lambda x: x * x)
square.value_and_grad(3.0)
print("llvmlite" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
