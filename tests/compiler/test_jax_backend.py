"""``to_jax``: a compiled function as a JAX function gives the engine's numbers, and trains on a mesh of devices."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.parts import ALL, require
from typer.testing import CliRunner

import retrograd as rg
from retrograd import engine
from retrograd.cli.train import train
from retrograd.errors import MissingExtraError, NotTraceableError
from retrograd.ops import OPS, jax_functions
from retrograd.training import GPTSettings, load_gpt, read_log, train_gpt
from retrograd.training.data import make_moons

pytestmark = pytest.mark.native
QUICK = {"xla_backend_optimization_level": 0}  # compiles in half the time


@pytest.fixture(autouse=True)
def double():
    require("jax")
    with jax_functions.double_precision():
        yield


def values(numbers) -> list[rg.Value]:
    return [rg.Value(number) for number in numbers]


def jitted(function, *arguments):
    import jax

    return jax.jit(function).lower(*arguments).compile(QUICK)(*arguments)


def differences(function, arguments: tuple[Any, ...], leaves) -> tuple[float, float]:
    """How far JAX is from the engine in value and gradient, relative to the largest of each."""
    import jax

    g = rg.compile(function).to_jax(*arguments, parameters=leaves)
    value, gradient = jitted(jax.value_and_grad(g), g.parameters, *g.inputs(*arguments))
    for leaf in g.values:
        leaf.grad = 0.0
    expected = function(*arguments)
    expected.backward()
    slopes = np.asarray([leaf.grad for leaf in g.values])
    scale = np.abs(slopes).max()
    return abs(float(value) - expected.data) / max(1.0, abs(expected.data)), np.abs(gradient - slopes).max() / scale


def equations(jaxpr) -> int:
    return sum(1 + sum(equations(inner) for inner in inner_of(equation)) for equation in jaxpr.eqns)


def inner_of(equation):
    for parameter in equation.params.values():
        for item in parameter if isinstance(parameter, (tuple, list)) else [parameter]:
            jaxpr = getattr(item, "jaxpr", item)
            if hasattr(jaxpr, "eqns"):
                yield jaxpr


# --- the engine's numbers -------------------------------------------------------------------------


@pytest.mark.parametrize("length", range(1, 17) if ALL else (1, 7))
def test_the_gpt_at_each_length(length):
    random.seed(length)
    model = rg.nn.GPT(11, 16, n_embd=8, n_head=2)
    tokens = [rg.Index(random.randrange(11)) for _ in range(length + 1)]
    value, gradient = differences(lambda t: model.loss(t), (tokens,), model)
    assert value < 1e-12
    assert gradient < 1e-12


@pytest.mark.long
def test_other_tokens_of_the_same_length():
    model = rg.nn.GPT(7, 4, n_embd=4, n_head=2)
    g = rg.compile(model.loss).to_jax([rg.Index(t) for t in (6, 1, 2, 6)], parameters=model)
    for tokens in ([6, 3, 3, 6], [0, 5, 4, 2]):
        loss = g(g.parameters, *g.inputs([rg.Index(t) for t in tokens]))
        assert float(loss) == pytest.approx(model.loss(tokens).data, rel=1e-13)


def test_moons():
    random.seed(3)
    points, labels = make_moons(20, 0.1, 5)
    model = rg.nn.MLP(2, [8, 8, 1])
    parameters = model.parameters()

    def loss(points, labels):
        scores = [model(list(point)) for point in points]
        losses = [rg.nn.hinge(score, label) for score, label in zip(scores, labels, strict=True)]
        return sum(losses) / len(losses) + 1e-4 * sum(p * p for p in parameters)

    value, gradient = differences(loss, ([list(p) for p in points], [float(label) for label in labels]), model)
    assert value < 1e-12
    assert gradient < 1e-12


def test_a_recurrent_loop():
    random.seed(4)
    w, u, b = ([[rg.Value(random.gauss(0, 0.5)) for _ in range(3)] for _ in range(3)] for _ in range(3))

    def loss(xs):
        state = [0.0, 0.0, 0.0]
        for x in xs:
            state = [rg.math.tanh(rg.dot(w[i], state) + rg.dot(u[i], x) + b[0][i]) for i in range(3)]
        return sum(s * s for s in state)

    value, gradient = differences(loss, ([[random.gauss(0, 1) for _ in range(3)] for _ in range(7)],), [w, u, b[0]])
    assert value < 1e-12
    assert gradient < 1e-12


def test_a_convolution_with_overlapping_windows():
    random.seed(5)
    kernel = values(random.gauss(0, 1) for _ in range(3))

    def loss(xs):
        return rg.sum([rg.math.tanh(rg.sum([kernel[k] * xs[2 * i + k] for k in range(3)])) for i in range(6)])

    value, gradient = differences(loss, (values(random.gauss(0, 1) for _ in range(14)),), kernel)
    assert value < 1e-12
    assert gradient < 1e-12


@pytest.mark.parametrize("row", OPS, ids=lambda row: row.name)
def test_every_row_with_its_partials(row):
    """Each row at a few points of its sample intervals; the constant order of polygamma is no leaf."""
    random.seed(row.name)
    points = [[random.uniform(*interval) for interval in row.sample] for _ in range(3)]
    if row.static:
        points = [[1.0, *point[1:]] for point in points]
    operands = [[x if i in row.static else rg.Value(x) for i, x in enumerate(point)] for point in points]
    leaves = [x for point in operands for x in point if isinstance(x, rg.Value)]

    def function():
        shares = [(k + 1.0) * engine.apply(row.name, *point) for k, point in enumerate(operands)]
        return rg.sum([*shares, *(0.5 * leaf for leaf in leaves)])

    value, gradient = differences(function, (), leaves)
    assert value < 1e-13
    assert gradient < 1e-13


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=[pytest.mark.long] if row.name == "pow" else [], id=row.name) for row in OPS if row.edges],
)
def test_published_edges(row):
    import jax

    (edge,) = row.edges
    at = values(edge.at)
    g = rg.compile(lambda *operands: engine.apply(row.name, *operands)).to_jax(*at)
    places = tuple(range(1, len(at) + 1))
    value, slopes = jax.value_and_grad(g, argnums=places)(g.parameters, *g.inputs(*at))
    assert (float(value), *map(float, slopes)) == (edge.y, *edge.partials)


@pytest.mark.parametrize(
    ("row", "x"), [("log", 0.0), ("sqrt", 0.0), ("sqrt", -1.0), ("exp", 800.0), ("reciprocal", 0.0)]
)
def test_the_branch_not_taken_makes_no_nan(row, x):
    import jax

    def function(v):
        return rg.math.where(v * 0.0, engine.apply(row, v), v * 3.0)

    with rg.errstate(divide="ignore", invalid="ignore", over="ignore"):
        g = rg.compile(function).to_jax(rg.Value(x))
        leaf = rg.Value(x)
        function(leaf).backward()
    assert leaf.grad == 3.0
    assert float(jax.grad(g, argnums=1)(g.parameters, x)) == 3.0


def test_largest_of_equals_share():
    import jax

    g = rg.compile(lambda xs: rg.max(xs) + 0.0 * xs[0]).to_jax(values([1.0, 1.0, 0.5]))
    assert jax.grad(g, argnums=1)(g.parameters, np.asarray([1.0, 1.0, 0.5])).tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("extreme", [max, min])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_pythons_own_extreme_of_equals_is_the_first(extreme, count):
    import jax

    def several(xs, ys):
        return sum((extreme(*(x * y for x in xs)) * 2.0 for y in ys), xs[0] * ys[0])

    xs, ys = values([1.0] * count), values([1.0, 3.0])
    g = rg.compile(several).to_jax(xs, ys)
    expected = rg.grad(several, (0, 1))([1.0] * count, [1.0, 3.0])
    found = jax.grad(g, argnums=(1, 2))(g.parameters, np.ones(count), np.asarray([1.0, 3.0]))
    assert [list(map(float, one)) for one in found] == list(expected)


# --- what one does with JAX functions -------------------------------------------------------------


def test_few_equations():
    """Sixty thousand scalars become hundreds of equations."""
    import jax

    model = rg.nn.GPT(27, 16)
    sizes = {}
    for length in (5, 16):
        g = rg.compile(model.loss).to_jax([rg.Index(t) for t in range(length + 1)], parameters=model)
        inputs = g.inputs([rg.Index(t) for t in range(length + 1)])
        sizes[length] = equations(jax.make_jaxpr(g)(g.parameters, *inputs).jaxpr)
    assert sizes[5] < 350
    assert sizes[16] < 900


def test_map_over_a_batch():
    import jax

    model = rg.nn.MLP(2, [4, 1])
    members = [([random.gauss(0, 1), random.gauss(0, 1)], 1.0) for _ in range(5)]
    f = rg.compile(lambda x, y: (model(x) - y) ** 2)
    g = f.to_jax(*members[0], parameters=model)
    inputs = g.batch(members)
    assert [array.shape for array in inputs] == [(5, 2), (5,)]

    def mean(parameters):
        return jax.vmap(g, (None, 0, 0))(parameters, *inputs).mean()

    loss, gradient = jax.jit(jax.value_and_grad(mean))(g.parameters)
    model.zero_grad()
    assert float(loss) == pytest.approx(f.backward_batch(members), rel=1e-13)
    assert gradient.tolist() == pytest.approx([p.grad for p in model.parameters()], rel=1e-12, abs=1e-15)


@pytest.mark.long
def test_derivatives_of_higher_order_and_forward():
    import jax

    def rosenbrock(p):
        return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2

    g = rg.compile(rosenbrock).to_jax(values([0.5, 1.0]))
    of_input = jax.tree_util.Partial(g, g.parameters)
    hessian = jax.hessian(of_input)(np.asarray([1.0, 1.0]))
    assert hessian.tolist() == [[802.0, -400.0], [-400.0, 200.0]]
    value, tangent = jax.jvp(of_input, (np.asarray([0.0, 1.0]),), (np.asarray([1.0, 0.0]),))
    assert (float(value), float(tangent)) == (101.0, -2.0)


def test_inputs_follow_the_arguments():
    weight = rg.Value(2.0)

    def function(points, table, scale, mode):
        total = rg.sum([weight * p[0] * label for p, label in points])
        return total * scale["s"] + rg.take(table, scale["i"]) if mode == "on" else total

    arguments = (
        [((1.0, 2.0), rg.Value(3.0)), ((4.0, 5.0), rg.Value(6.0))],
        [1.0, 2.0, 4.0],
        {"s": 0.5, "i": rg.Index(2)},
        "on",
    )
    g = rg.compile(function).to_jax(*arguments)
    (points, labels), table, scale = g.inputs(*arguments)
    assert points.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert labels.tolist() == [3.0, 6.0]
    assert scale["i"].dtype == np.int32
    assert float(g(g.parameters, (points, labels), table, scale)) == function(*arguments).data
    assert repr(g) == (
        "<JAX function function(parameters[1], (float[2,2], Value[2]), float[3], {'s': float[], 'i': int32[]})>"
    )


def test_from_and_to_the_values():
    import jax

    a, b = rg.Value(2.0), rg.Value(5.0)
    g = rg.compile(lambda: a * b).to_jax(parameters={"b": b, "a": a})
    assert g.values == (b, a)
    g.add_gradients(jax.grad(g)(g.parameters))
    g.add_gradients(jax.grad(g)(g.parameters))
    assert (a.grad, b.grad) == (10.0, 4.0)
    g.assign(g.parameters + 1.0)
    assert (a.data, b.data) == (3.0, 6.0)
    with pytest.raises(TypeError, match=r"2 parameters, not the shape \(3,\)"):
        g(np.zeros(3))


def test_single_precision_stays_single():
    a = rg.Value(2.0)
    g = rg.compile(lambda x: rg.math.exp(a * x) / 3.0 + rg.math.hypot(a, x)).to_jax(1.0)
    assert g(g.parameters.astype(np.float32), np.float32(1.0)).dtype == np.float32


# --- what cannot be --------------------------------------------------------------------------------


def test_another_outcome_of_a_comparison_is_nan():
    import jax

    def f(v):
        if bool(v > 0):  # which stays a comparison
            return v * 2
        return v * 3

    g = rg.compile(f).to_jax(rg.Value(1.0))
    assert float(g(g.parameters, 4.0)) == 8.0
    value, slope = jax.value_and_grad(g, argnums=1)(g.parameters, -4.0)
    assert math.isnan(value)
    assert math.isnan(slope)
    assert len(g.guards) == 1
    assert "compares with > and found it true" in g.guards[0]


def test_another_outcome_has_no_derivative_either():
    import jax

    def kept(x, y, z):
        found = [v for v in (x, y) if v > 0.0]
        return sum(v * z for v in found) if found else w * z

    w = rg.Value(2.0)
    g = rg.compile(kept).to_jax(1.0, -1.0, 3.0, parameters=[w])
    by = (0, 1, 2, 3)
    numbers = [g.parameters, 1.0, 1.0, 3.0]
    for call in (jax.grad(g, by), jax.jit(jax.grad(g, by)), jax.hessian(g, by)):
        assert all(np.isnan(one).all() for one in jax.tree.leaves(call(*numbers)))
    for i in by:
        tangents = [np.ones_like(one) * (i == j) for j, one in enumerate(numbers)]
        assert math.isnan(jax.jvp(g, numbers, tangents)[1])
    with jax.debug_nans(True):  # where the guards hold, there is none in between
        found = jax.value_and_grad(g, by)(g.parameters, 2.0, -math.inf, 3.0)
    assert jax.tree.map(float, (found[0], *found[1][1:])) == (6.0, 3.0, 0.0, 2.0)
    many = jax.vmap(jax.grad(g, by), (None, 0, None, None))(g.parameters, np.array([2.0, -2.0]), -1.0, 3.0)
    assert [np.isnan(one).tolist() for one in many[1:]] == [[False, True]] * 3


def test_comparisons_of_indices_are_guarded():
    table = values([1.0, 2.0, 3.0])
    g = rg.compile(lambda i, j: rg.take(table, i) * (1.0 if i == j else 2.0)).to_jax(rg.Index(1), rg.Index(1))
    assert float(g(g.parameters, 2, 2)) == 3.0
    assert math.isnan(g(g.parameters, 2, 1))


@pytest.mark.parametrize("position", [3, -1])
def test_a_position_that_selects_nothing(position):
    table = values([1.0, 2.0, 3.0])
    g = rg.compile(lambda i: rg.take(table, i) * 2.0).to_jax(rg.Index(1))
    assert float(g(g.parameters, 2)) == 6.0
    assert math.isnan(g(g.parameters, position))
    if position > 0:
        with pytest.raises(IndexError, match="elements 0 to 2"):
            g.inputs(rg.Index(position))


def test_selections_from_lists_in_no_order():
    w = values([0.0, 1.0, 2.0, 3.0, 4.0])

    def function(indices):
        return rg.sum(
            [rg.take([w[(3 * k * k + j) % 5] for k in range(3)], i) * (j + 1.0) for j, i in enumerate(indices)]
        )

    g = rg.compile(function).to_jax([rg.Index(2), rg.Index(1)])
    for chosen in ([0, 1], [2, 2], [1, 0]):
        assert float(g(g.parameters, chosen)) == function([rg.Index(i) for i in chosen]).data
    assert math.isnan(g(g.parameters, [0, 3]))


def test_arguments_of_another_structure():
    g = rg.compile(lambda xs, n: rg.sum([rg.Value(1.0) * x for x in xs]) * n).to_jax([1.0, 2.0], 3)
    assert g.fits([4.0, 5.0], 3)
    assert not g.fits([4.0, 5.0], 4)
    with pytest.raises(TypeError, match=r"made for arguments of another structure: it takes float\[2\]"):
        g.inputs([1.0], 3)
    with pytest.raises(TypeError, match=r"input 0 has the shape \(3,\) and needs \(2,\)"):
        g(g.parameters, np.zeros(3))
    with pytest.raises(TypeError, match="takes 1 input and got 2"):
        g(g.parameters, np.zeros(2), 3.0)


def test_what_no_trace_stands_for():
    a, b = rg.Value(1.0), rg.Value(2.0)

    def leak(x):
        return a * len(str(a.data)) * x

    def doubles(xs):
        xs[0] = xs[0] * 2.0
        return a * xs[0]

    with pytest.raises(NotTraceableError, match="doubles cannot become a JAX function: it changes an argument"):
        rg.compile(doubles).to_jax([1.0, 2.0])
    with pytest.raises(NotTraceableError, match=r"leak cannot become a JAX function: .*a compiled program cannot do"):
        rg.compile(leak).to_jax(1.0)
    with pytest.raises(NotTraceableError, match="depends neither on a Value nor on an argument"):
        rg.compile(lambda: 3.0).to_jax()
    with pytest.raises(NotTraceableError, match="which is not among parameters="):
        rg.compile(lambda: a * b).to_jax(parameters=[a])


def test_without_jax(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r'to_jax needs JAX: pip install "retrograd\[jax\]"'):
        rg.compile(lambda x: x * 2.0).to_jax(1.0)
    done = CliRunner().invoke(train, ["gpt", "--backend", "jax", "--out", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert 'pip install "retrograd[jax]"' in done.stderr


# --- training ---------------------------------------------------------------------------------------

WORDS = ["ab", "cab", "ca", "bca", "abc", "bb", "cc", "acb", "ba"]
SIZES = {"n_embd": 4, "n_head": 2, "block_size": 3}


@pytest.fixture
def settings(tmp_path) -> GPTSettings:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(WORDS))
    return GPTSettings(str(path), steps=4, batch=5, **SIZES)


@pytest.mark.long
def test_bucketed_training_equals_native_training(settings, tmp_path):
    native = [progress.loss for progress in train_gpt(settings, tmp_path / "native")]
    mesh = [progress.loss for progress in train_gpt(settings, tmp_path / "jax", backend="jax", devices=1)]
    assert mesh == pytest.approx(native, abs=1e-12)
    models = [load_gpt(tmp_path / name)[0].parameters() for name in ("native", "jax")]
    assert [p.data for p in models[0]] == pytest.approx([p.data for p in models[1]], abs=1e-10)


@pytest.mark.long
def test_a_run_goes_on_with_the_other_backend(settings, tmp_path):
    native = [progress.loss for progress in train_gpt(settings, tmp_path / "native")]
    run = train_gpt(settings, tmp_path / "mixed")
    first = [next(run).loss, next(run).loss]
    run.close()
    rest = [p.loss for p in train_gpt(settings, tmp_path / "mixed", resume=True, backend="jax", devices=1)]
    assert first + rest == pytest.approx(native, abs=1e-12)


def test_devices_are_for_jax_alone(settings, tmp_path):
    with pytest.raises(ValueError, match="devices needs the JAX backend"):
        train_gpt(settings, tmp_path / "run", devices=2)
    with pytest.raises(ValueError, match="999 devices were requested and JAX has"):
        train_gpt(settings, tmp_path / "run", backend="jax", devices=999)


def environment(devices: int) -> dict[str, str]:
    return {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}


@pytest.mark.long
def test_eight_devices_equal_one(settings, tmp_path):
    command = [sys.executable, "-m", "retrograd", "train", "gpt", "--data", settings.data, "--steps", "3"]
    command += ["--n-embd", "4", "--n-head", "2", "--block-size", "3", "--batch", "5", "--samples", "0"]
    command += ["--backend", "jax", "--devices", "8", "--out", str(tmp_path / "8")]
    done = subprocess.run(command, env=environment(8), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    list(train_gpt(replace(settings, steps=3), tmp_path / "1", backend="jax", devices=1))
    runs = {}
    for devices in (1, 8):
        numbers = [p.data for p in load_gpt(tmp_path / str(devices))[0].parameters()]
        runs[devices] = [*(entry["loss"] for entry in read_log(tmp_path / str(devices))), *numbers]
    assert len(runs[1]) > 3
    assert runs[8] == pytest.approx(runs[1], rel=1e-12, abs=1e-12)


#: What each of two processes runs, with two devices each; see docs/jax.md.
HOST = """
import json, random, sys
import jax
jax.distributed.initialize(sys.argv[2], num_processes=2, process_id=int(sys.argv[1]))
import retrograd as rg
from retrograd.training.devices import DataParallel
random.seed(1)
model = rg.nn.GPT(5, 3, 1, 4, 2)
trainer = DataParallel(model.loss, rg.optim.Adam(model, lr=0.01))
batch = [([rg.Index(token) for token in tokens],) for tokens in ([4, 0, 4], [4, 2, 4], [4, 1, 1, 4])]
losses = [trainer.step(batch) for _ in range(2)]
trainer.write_back()
print(json.dumps([len(jax.devices()), *losses, sum(p.data for p in model.parameters())]))
"""


@pytest.mark.skipif(not ALL, reason="a quarter of a minute for one mesh: make accuracy")
def test_two_processes_equal_one(tmp_path):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "host.py").write_text(HOST)
    hosts = [
        subprocess.Popen(
            [sys.executable, tmp_path / "host.py", str(number), address],
            env=environment(2),
            cwd=Path(__file__).parent,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    printed = [json.loads(host.communicate(timeout=240)[0].splitlines()[-1]) for host in hosts]
    random.seed(1)
    model = rg.nn.GPT(5, 3, 1, 4, 2)
    optimizer = rg.optim.Adam(model, lr=0.01)
    losses = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = sum(model.loss(tokens) for tokens in ([4, 0, 4], [4, 2, 4], [4, 1, 1, 4])) / 3
        loss.backward()
        optimizer.step()
        losses.append(loss.data)
    expected = [4, *losses, sum(p.data for p in model.parameters())]
    assert printed[0] == printed[1] == pytest.approx(expected, rel=1e-12)


def test_arguments_in_dictionaries_and_arrays():
    """They keep their form: a dictionary is one of JAX's trees, an array is an array."""
    import jax

    w = rg.Value(0.5)

    def loss(batch):
        points, bias = batch["points"], batch["bias"]
        return rg.sum([(w * x + bias["b"]).tanh() * y for x, y in points]) + batch["shift"]

    def given(seed, rows=3):
        points = np.random.default_rng(seed).normal(size=(rows, 2))
        return {"points": points, "bias": {"b": rg.Value(0.1 * seed)}, "shift": 2.0}

    g = rg.compile(loss).to_jax(given(1))
    for seed in (1, 2):
        example = given(seed)
        (inputs,) = g.inputs(example)
        value, slopes = jax.value_and_grad(g, argnums=1)(g.parameters, inputs)
        result = loss(example)
        result.backward()
        assert float(value) == pytest.approx(result.data, rel=1e-12)
        assert float(slopes["bias"]["b"]) == pytest.approx(example["bias"]["b"].grad, rel=1e-12)
        nudged = {**inputs, "points": np.asarray(inputs["points"]) + 1e-6}
        expected = loss({**example, "points": example["points"] + 1e-6}).data
        assert float(g(g.parameters, nudged)) == pytest.approx(expected, rel=1e-12)
    with pytest.raises((ValueError, TypeError)):
        g.inputs(given(1, rows=4))
    with pytest.raises((ValueError, TypeError)):
        g.inputs({**given(1), "more": 1.0})


def test_the_largest_keeps_its_gradient_where_xla_computes_it_again() -> None:
    """Under jit, XLA computes operands again with other roundings, so that none may equal the result."""
    import jax

    def parts(a: list[Any]) -> list[Any]:
        if len(a) == 1:
            return a
        even, odd = parts(a[::2]), parts(a[1::2])
        turned = [math.sin(0.7 * k) * z for k, z in enumerate(odd)]
        return [y + z for y, z in zip(even, turned, strict=True)] + [y - z for y, z in zip(even, turned, strict=True)]

    def largest(p: list[Any]) -> Any:
        return 0.1 * rg.max(parts([p[i % 6] * 1.0 for i in range(8)])) + p[0] * p[1]

    def smallest(p: list[Any]) -> Any:
        return 0.1 * rg.min(parts([p[i % 6] * 1.0 for i in range(8)])) + p[0] * p[1]

    for f in (largest, smallest):
        rng = random.Random(0)
        function = rg.compile(f).to_jax([rng.uniform(-1, 1) for _ in range(6)])
        gradient = jax.jit(jax.grad(function, argnums=1))
        for _ in range(60):
            p = [rng.uniform(-1.5, 1.5) for _ in range(6)]
            assert gradient(function.parameters, *function.inputs(p)) == pytest.approx(rg.grad(f)(p), abs=1e-12)


def test_the_largest_shares_its_second_derivatives_as_the_engine_does() -> None:
    import jax

    def f(p: list[Any]) -> Any:
        return rg.max([p[0] * p[0], p[1] * p[1] * p[0], p[2]]) * rg.min(p)

    for point in ([1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [0.5, -2.0, 0.5]):
        function = rg.compile(f).to_jax(point)
        found = jax.hessian(function, argnums=1)(function.parameters, *function.inputs(point))
        assert np.asarray(found) == pytest.approx(np.array(rg.hessian(f)(point)), abs=1e-12)


def test_a_comparison_that_is_true_itself():
    """No tracer of one is."""

    def stepped(xs):
        total = 0.0
        for x in xs:
            up = x > 0.0
            total += x if up is True else -2.0 * x
            if up is not False:
                total += 100.0 * x
        return total

    g = rg.compile(stepped).to_jax([0.3, 1.2, -1.7])
    for xs in ([0.3, 1.2, -1.7], [-0.3, 1.2, 1.7]):
        found = float(g(g.parameters, *g.inputs(xs)))
        assert math.isnan(found) or found == pytest.approx(stepped(xs))
    assert float(g(g.parameters, *g.inputs([0.3, 1.2, -1.7]))) == pytest.approx(151.5 + 1.7 * 2 - 3.4 + 3.4)


def test_a_chosen_number_as_a_key_is_refused():
    def saturated(p):
        return p * (3.0 if max(2.0 * p, 0.0) in {0.0, 1.0} else 1.0)

    p = rg.Value(0.3)
    with pytest.raises(NotTraceableError, match="as a key"):
        rg.compile(saturated).to_jax(p)
