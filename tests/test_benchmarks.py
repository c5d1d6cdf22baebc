"""The programs that the compiled benchmarks race against compute what the eager engine does."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.parts import ALL, require

import retrograd as rg
from benchmarks import (
    EFFORTS,
    compile_cost,
    flips,
    gc_training,
    main,
    many_calls,
    measure,
    own_branches,
    recurrences,
    sparse,
    subjects,
    triangles,
    waits,
    written_c,
)
from benchmarks import compiled_workloads as works
from benchmarks.compiled_programs import moons_loss
from benchmarks.figures import Effort, Figure
from benchmarks.measure import ROOT, Race, deep_recursion, race, same
from benchmarks.peers import c_reference, documents, gmm, gpt, irregular_graph, slotted
from benchmarks.peers.jax_process import JaxProgram
from benchmarks.workloads import WORKS
from retrograd.compiler.if_conversion import budget
from retrograd.engine import interior
from retrograd.errors import RetrogradError
from retrograd.training.data import make_moons

# The peers do not depend on the engine, and large graphs are slow on the other one.
pytestmark = [pytest.mark.native, pytest.mark.long]

needs_c = pytest.mark.skipif(c_reference.compiler() is None, reason="there is no C compiler: install gcc or clang")

Gradient = tuple[float, list[float]]


def pack(tokens: Sequence[Sequence[int]]) -> documents.Packed:
    """Documents for C."""
    lengths = np.cumsum([0, *map(len, tokens)]).astype(np.int64)
    return documents.Packed(np.array([t for document in tokens for t in document], dtype=np.int32), lengths)


def model_of(n_embd: int) -> rg.nn.GPT:
    random.seed(3)
    return rg.nn.GPT(documents.VOCABULARY, n_embd=n_embd)


def eager(model: rg.nn.Module, losses: Sequence[rg.Value]) -> Gradient:
    """The mean of some losses and its gradient; the model's gradients are zero again after it."""
    total = sum(losses) * (1 / len(losses))
    total.backward()
    gradient = [p.grad for p in model.parameters()]
    model.zero_grad()
    return total.data, gradient


def assert_same(ours: Gradient, theirs: tuple[float, Sequence[float]], tolerance: float = 1e-12) -> None:
    same("value and gradient", [ours[0], *ours[1]], [theirs[0], *theirs[1]], tolerance)


def data(parameters: Sequence[rg.Value]) -> np.ndarray:
    return np.array([p.data for p in parameters])


def random_documents(lengths: Sequence[int], seed: int = 0) -> list[list[int]]:
    """Documents that make that many predictions each."""
    draw = random.Random(seed)
    return [[draw.randrange(documents.VOCABULARY) for _ in range(length + 1)] for length in lengths]


@needs_c
@pytest.mark.parametrize("n_embd", [16, 64])
def test_gpt_in_c_at_each_length(n_embd: int) -> None:
    model = model_of(n_embd)
    hand = c_reference.GPT(data(model.parameters()), n_embd, 1)
    for length in range(1, 17) if ALL and n_embd == 16 else (1, 8, 9, 16):
        document = random_documents([length], seed=length)
        assert_same(eager(model, [model.loss(document[0])]), hand.gradient(pack(document)))


@needs_c
def test_gpt_in_c_on_batches_of_mixed_lengths() -> None:
    model = model_of(16)
    hand = c_reference.GPT(data(model.parameters()), 16, 16)
    for lengths in ([1] * 16, [16] * 16, [*range(1, 17)], [*range(16, 0, -1)], [16, 1] * 8):
        batch = random_documents(lengths)
        assert_same(eager(model, [model.loss(document) for document in batch]), hand.gradient(pack(batch)))


def adam_losses(model: rg.nn.GPT, batches: Sequence[Sequence[list[int]]]) -> list[float]:
    adam = rg.optim.Adam(model, lr=documents.RATE, betas=documents.BETAS, eps=documents.EPSILON)
    losses = []
    for batch in batches:
        total = sum(model.loss(document) for document in batch) * (1 / len(batch))
        total.backward()
        losses.append(total.data)
        adam.step()
        adam.zero_grad()
    return losses


@needs_c
@pytest.mark.parametrize("members", [1, 16])
def test_gpt_in_c_trains_as_adam_does(members: int) -> None:
    model = model_of(16)
    hand = c_reference.GPT(data(model.parameters()), 16, members)
    draws = documents.Documents().slice(0, 6 * members)
    batches = [draws[i : i + members] for i in range(0, len(draws), members)]
    losses = [*hand.train(pack(draws[: 2 * members]))[1], *hand.train(pack(draws[2 * members :]))[1]]
    same("losses", adam_losses(model, batches), losses, 1e-12)
    same("parameters", data(model.parameters()).tolist(), hand.numbers()[0].tolist(), 1e-12)


@needs_c
def test_gpt_in_c_refuses_what_does_not_fit() -> None:
    hand = c_reference.GPT(data(model_of(16).parameters()), 16, 1)
    with pytest.raises(ValueError, match="a batch has 1 documents; 2 were given"):
        hand.gradient(pack(random_documents([3, 4])))
    with pytest.raises(ValueError, match=r"this model has 4192 parameters; \(5,\) were given"):
        c_reference.GPT(np.zeros(5), 16, 1)


@needs_c
def test_moons_in_c_train_as_sgd_does() -> None:
    random.seed(5)
    model = rg.nn.MLP(2, [16, 16, 1])
    places, labels = make_moons(100)
    hand = c_reference.Moons(np.array(places), np.array(labels, dtype=float), data(model.parameters()))
    first = hand.train(1, 0.0)[1][0]
    assert_same(eager(model, [moons_loss(model, places, labels)]), (first, hand.numbers()[1].tolist()))
    sgd, losses = rg.optim.SGD(model, lr=0.05), []
    for _ in range(4):
        losses.append(eager_step(model, sgd, places, labels))
    same("losses", losses, hand.train(4, 0.05)[1], 1e-12)
    same("parameters", data(model.parameters()).tolist(), hand.numbers()[0].tolist(), 1e-12)


def eager_step(model: rg.nn.MLP, sgd: rg.optim.SGD, places: Sequence[Sequence[float]], labels: Sequence[int]) -> float:
    loss = moons_loss(model, places, labels)
    loss.backward()
    sgd.step()
    sgd.zero_grad()
    return float(loss.data)


def eager_mixture(problem: gmm.Mixture) -> Gradient:
    alphas = [rg.Value(x) for x in problem.alphas]
    means, icf = ([[rg.Value(x) for x in row] for row in rows] for rows in (problem.means, problem.icf))
    value = gmm.objective(alphas, means, icf, problem.points, problem.gamma, problem.m, rg.math.exp, rg.math.log)
    value.backward()
    parameters = [*alphas, *(v for row in means for v in row), *(v for row in icf for v in row)]
    return value.data, [p.grad for p in parameters]


def mixtures() -> list[gmm.Mixture]:
    """Fewer and more points than a block; a prior that is not the simplest."""
    plain, other = gmm.problem(points=3, dimensions=3, clusters=4), gmm.problem(points=70, dimensions=4, clusters=5)
    return [plain, gmm.Mixture(*other.parameters, other.points, gamma=1.3, m=2)]


@needs_c
@pytest.mark.parametrize("problem", mixtures(), ids=["plain", "prior"])
def test_mixture_in_c(problem: gmm.Mixture) -> None:
    hand = c_reference.Mixture(problem)
    assert_same(eager_mixture(problem), hand.gradient(), 1e-11)
    assert_same(eager_mixture(problem), hand.gradient(), 1e-11)  # nothing is left of the first time
    assert hand.time(2) > 0


def test_mixture_is_the_likelihood_with_its_prior() -> None:
    """Against the formula with matrices, as the paper has it."""
    problem = mixtures()[1]
    alphas, means, icf = map(np.array, problem.parameters)
    points, (clusters, d) = np.array(problem.points), means.shape
    total, prior = -len(points) * (d / 2 * np.log(2 * np.pi) + np.log(np.exp(alphas).sum())), 0.0
    densities = np.zeros((len(points), clusters))
    for k in range(clusters):
        q = np.diag(np.exp(icf[k, :d]))
        q[np.triu_indices(d, 1)[::-1]] = icf[k, d:]
        densities[:, k] = alphas[k] + icf[k, :d].sum() - 0.5 * ((q @ (points - means[k]).T) ** 2).sum(0)
        prior += 0.5 * problem.gamma**2 * (q**2).sum() - problem.m * icf[k, :d].sum()
    total += np.log(np.exp(densities).sum(1)).sum() + prior
    assert eager_mixture(problem)[0] - problem.constant == pytest.approx(
        total + len(points) * d / 2 * np.log(2 * np.pi), rel=1e-12
    )


def test_gpt_in_jax_trains_as_adam_does() -> None:
    require("jax")
    names = documents.Documents().tokens[:40]
    for members in (1, 2) if ALL else (2,):
        model = model_of(16)
        batches = [names[i : i + members] for i in range(0, 3 * members, members)]
        given = {"parameters": data(model.parameters()).tolist(), "n_embd": 16, "members": members, "documents": names}
        with JaxProgram("GPT", **given) as jax:
            assert_same(eager(model, [model.loss(document) for document in batches[0]]), jax.call("gradient"))
            same("losses", adam_losses(model, batches), jax.call("train", steps=3)[1], 1e-12)
            same("parameters", data(model.parameters()).tolist(), jax.call("parameters"), 1e-11)


def test_mixture_in_jax_and_its_errors() -> None:
    require("jax")
    problem = mixtures()[1]
    names = ("alphas", "means", "icf", "points", "gamma", "m", "constant")
    with JaxProgram("Mixture", **{name: getattr(problem, name) for name in names}) as jax:
        assert_same(eager_mixture(problem), jax.call("gradient"), 1e-11)
        assert jax.call("time", times=2) > 0
        with pytest.raises(RetrogradError, match="no attribute 'nonsense'"):
            jax.call("nonsense")


def test_cpython_trains_as_adam_does() -> None:
    number, names = gpt.with_methods(slotted.Value), documents.Documents().tokens[:3]
    model = gpt.weights(number)
    adam, losses = gc_training.Adam(gpt.parameters(model)), []
    ours = model_of(16)
    for p, q in zip(ours.parameters(), gpt.parameters(model), strict=True):
        p.data = q.data
    with deep_recursion():
        for tokens in names:
            loss = gpt.loss(model, tokens, number)
            loss.backward()
            adam.step()
            losses.append(loss.data)
    same("losses", adam_losses(ours, [[tokens] for tokens in names]), losses, 1e-12)
    for whose in ("slotted", "plain"):
        assert gc_training.main(whose, ["json"], [names[0]] * 2) > 0


def test_random_graph_has_its_nodes_and_is_finite() -> None:
    plan = irregular_graph.plan(3000, leaves=50, seed=1)
    leaves = [rg.Value(x) for x in plan.leaves]
    result = irregular_graph.run(plan, leaves)
    result.backward()
    assert plan.nodes == len(interior(result)) == 3000  # every operation leads to the result
    assert all(np.isfinite(leaf.grad) for leaf in leaves)
    assert any(leaf.grad for leaf in leaves)
    assert len({node._op for node in interior(result)}) >= 10
    assert irregular_graph.plan(3000, leaves=50, seed=1).rest == plan.rest
    with pytest.raises(ValueError, match="as many operations"):
        irregular_graph.plan(3, leaves=10)


def test_growing_program_is_linear_in_its_points() -> None:
    for points in (30, 45):
        assert compile_cost.nodes("moons", points) == len(interior(compile_cost.PROGRAMS["moons"](points)()))
    assert compile_cost.nodes("moons", compile_cost.points_for(50_000)) == pytest.approx(50_000, rel=0.01)


def test_a_race_takes_the_median_of_the_rounds() -> None:
    found = race({"a": lambda turn: [2.0, 40.0, 6.0][turn], "b": lambda turn: [1.0, 10.0, 2.0][turn]}, 3)
    assert found == Race({"a": [2.0, 40.0, 6.0], "b": [1.0, 10.0, 2.0]})
    assert (found.typical("a"), found.ratio("a", "b")) == (6.0, 3.0)


def test_a_missing_peer_is_named_in_its_row() -> None:
    row = works._figure("work", Race({"ours": [5e3]}), "ours", "C by hand", "cost", 1.5, 1.0, "how")
    assert row == Figure("work", "5.00 µs", "no C compiler: install gcc or clang", None, "cost", 1.5, 1.0, "how")


def test_no_compiler_is_no_error_until_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    assert c_reference.compiler() is None
    with pytest.raises(RetrogradError, match="there is no C compiler"):
        c_reference._library("moons", NOTHING=1)


@needs_c
def test_what_the_compiler_says_is_told() -> None:
    with pytest.raises(RetrogradError, match=r"failed: .*VOCABULARY"):
        c_reference._library("gpt", NOTHING=1)


def test_contenders_that_disagree_are_not_measured() -> None:
    with pytest.raises(ArithmeticError, match=r"number 1 is 2\.0 with ours and 2\.1 with the peer; nothing"):
        works._hold("work", (1.0, [2.0]), (1.0, [2.1]))


def test_names_of_other_letters_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "names.txt"
    file.write_text("emma\nzoë\n")
    with pytest.raises(RetrogradError, match="give a file of names in small letters"):
        documents.Documents(file)


def test_options_that_contradict_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give --names together with --compiled"):
        main(["adam"], names=tmp_path)
    with pytest.raises(ValueError, match="choose from gpt, batch, wide"):
        main(["adam"], compiled=True)


TINY = Effort(
    rounds=2,
    slow_rounds=1,
    slowest_rounds=1,
    loop_steps=2,
    every_neighbour=False,
    memory_nodes=40_000,
    largest=10_000,
    steps=2,
    warm=0.0,
    mixture_points=45,
    graph_nodes=2000,
)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PyTorch and JAX beside us or as peers, which take far longer than ours: with them in make accuracy."""
    if not ALL:
        monkeypatch.setattr(measure, "installed", lambda module: False)
        monkeypatch.setattr(works, "installed", lambda module: False)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("work", works.COMPILED_WORKS)
def test_each_work_runs(work: str) -> None:
    report = works.COMPILED_WORKS[work](TINY)
    assert report.figures
    for figure in report.figures:
        assert figure.ratio is None or figure.ratio > 0


@pytest.mark.usefixtures("alone")
@pytest.mark.memory
@pytest.mark.parametrize("work", WORKS)
def test_each_eager_work_runs_and_agrees_with_its_peers(
    work: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Contenders that disagree end it; what is printed is what is written."""
    monkeypatch.setitem(EFFORTS, "quick", TINY)
    found = main([work], quick=True, json_path=tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text()) == json.loads(json.dumps(found))
    figures = found["figures"]
    assert isinstance(figures, list)
    for figure in figures:
        assert figure["ratio"] is None or figure["ratio"] > 0
    assert figures
    assert "figures" in capsys.readouterr().out


def test_a_work_on_the_reference_engine_says_that_its_bars_are_not_meant() -> None:
    environment = {**os.environ, "RETROGRAD_ENGINE": "reference"}
    command = [sys.executable, "-m", "benchmarks", "adam"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "the bars are not meant for it" in done.stdout
    command = [*command[:3], "--compiled", "gpt"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "need the native engine" in done.stderr


def test_a_work_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="no benchmark called 'nonsense'; choose from gpt, "):
        main(["nonsense"])


@pytest.mark.parametrize("make", sparse.PROGRAMS, ids=lambda make: make.__name__)
def test_the_peers_of_sparse_programs_compute_the_same(make: Callable[[], sparse.Program]) -> None:
    pytest.importorskip("scipy")
    casadi = pytest.importorskip("casadi")
    program = make()
    transform = rg.hessian if program.second else rg.jacobian
    ours = transform(lambda x: program.function(rg.math, x), sparse=True)(program.at)
    run, theirs = sparse.casadi_matrix(program, casadi)
    run()
    same("CasADi's entries", ours.toarray().ravel().tolist(), theirs.toarray().ravel().tolist())
    assert ours.nnz == theirs.nnz
    if program.second:
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
            of_jax = np.asarray(sparse.jax_matrix(program, jax)())
        same("JAX's matrix", ours.toarray().ravel().tolist(), of_jax.ravel().tolist(), 1e-8)


_SCALAR = [*recurrences.PROGRAMS, *subjects.PROGRAMS, *((function, at) for function, at, _ in triangles.PROGRAMS)]


@pytest.mark.parametrize(("function", "at"), _SCALAR, ids=lambda part: getattr(part, "__name__", ""))
def test_casadi_computes_the_same_recurrences(function: Callable[[Any, Any], Any], at: list[float]) -> None:
    casadi = require("casadi")
    value, gradient = rg.value_and_grad(lambda p: function(rg.math, p))(at)
    x = casadi.SX.sym("x", len(at))
    theirs = function(casadi, casadi.vertsplit(x))
    run = casadi.Function("run", [x], [theirs, casadi.gradient(theirs, x)])
    wanted, exact = run(at)
    assert value == pytest.approx(float(wanted), rel=1e-9)
    assert gradient == pytest.approx(exact.full().ravel().tolist(), rel=1e-8, abs=1e-9)


@pytest.mark.native
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc")
@pytest.mark.parametrize("program", list(written_c.programs())[:4], ids=lambda program: program[0].__name__)
def test_written_c_computes_the_same(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # With -ffast-math, gcc makes the whole process flush small numbers to zero.
    monkeypatch.setattr(written_c, "_FLAGS", ["-std=c99", "-O2", "-shared", "-fPIC"])
    function, at, _ = program
    call, slopes, _ = written_c.written(function, at)
    value, gradient = rg.value_and_grad(lambda p: function(rg.math, p))(at)
    assert call() == pytest.approx(value, rel=1e-9)
    assert slopes.tolist() == pytest.approx(gradient, rel=1e-8, abs=1e-9)


@pytest.mark.native
@pytest.mark.parametrize(
    ("function", "parameters", "numbers"), flips.PROGRAMS, ids=lambda part: getattr(part, "__name__", "")
)
def test_functions_that_decide_otherwise_have_one_program(
    function: Callable[..., Any], parameters: int, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "_FREE", budget._MOST)  # whatever that costs
    eager, compiled = rg.value_and_grad(function), rg.compile(function)
    for seed in range(8):
        point = flips.sample(seed, parameters, numbers)
        value, gradient = compiled.value_and_grad(*point)
        wanted, exact = eager(*point)
        assert value == pytest.approx(wanted, rel=1e-11)
        assert gradient == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert len(compiled.stats().programs) == 1
    assert compiled.stats().eager == 0


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc")
@pytest.mark.parametrize("program", own_branches.PROGRAMS, ids=lambda program: program.name)
def test_functions_with_branches_of_their_own_are_the_same_in_c(
    program: own_branches.Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With -ffast-math, gcc makes the whole process flush small numbers to zero.
    monkeypatch.setattr(own_branches, "_FLAGS", ["-O2", "-shared", "-fPIC"])
    calls = program.samples()[:4]
    by_hand = own_branches.written(program, calls)
    assert by_hand is not None
    for point, (value, gradient) in zip(calls, by_hand(), strict=True):
        wanted, exact = rg.value_and_grad(program.function)(*point)
        assert value == pytest.approx(wanted, rel=1e-9)
        assert gradient.tolist() == pytest.approx(exact, rel=1e-9, abs=1e-9 * max(map(abs, exact)))


@pytest.mark.native
@pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")
@pytest.mark.parametrize("points", [many_calls.fresh, many_calls.steps])
@pytest.mark.parametrize("program", many_calls.PROGRAMS[:4], ids=lambda program: program[0].__name__)
def test_many_calls_are_those_of_the_function(program: Any, points: Any) -> None:
    function, parameters, numbers = program
    total, _, late, stats = many_calls.race(function, points(parameters, numbers, 12))  # which compares them
    assert total > 0.0
    assert late > 0.0
    assert stats.traces >= 1


@pytest.mark.native
def test_waits_are_those_of_calls() -> None:
    function, at = waits.PROGRAMS[0]
    found = waits.waits_of(function, at, 0.2)
    assert found.calls > 0
    assert 0 <= found.long <= found.calls
    assert found.worst >= 0.0
    assert found.until_code <= 0.2
