"""The works that ``make bench-compiled`` measures: compiled programs against the same written by hand.

Before anything is timed, every contender's value and gradient are held against the eager engine's to 1e-9; a work whose
contenders disagree is not measured. Contenders train beside each other, in turns, on the same documents in the same
order, each from the same parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from . import compile_cost, compiled_programs
from .figures import Effort, Figure, Report, Sense, Table
from .measure import (
    Race,
    available_memory,
    beside_modules,
    deep_recursion,
    in_fresh_process,
    installed,
    race,
    same,
)
from .peers import c_reference, gmm, gpt, irregular_graph, slotted
from .peers.documents import Documents
from .peers.jax_process import JaxProgram

__all__ = ["COMPILED_WORKS"]

MISSING = {"C by hand": "no C compiler: install gcc or clang", "JAX": "not installed: pip install 'retrograd[jax]'"}
RATE = 0.05  #: of the moons
RESOLVED = 1e8  #: Nanoseconds from which on the system's share of them is known: it counts in ticks.


def _time(nanoseconds: float) -> str:
    """A time in the unit that suits it."""
    if nanoseconds < 1e6:
        return f"{nanoseconds / 1e3:,.{2 if nanoseconds < 1e5 else 0}f} µs"
    return f"{nanoseconds / 1e6:,.{1 if nanoseconds < 1e8 else 0}f} ms"


def _figure(
    work: str, found: Race, ours: str, peer: str, sense: Sense, bar: float | None, goal: float | None, how: str
) -> Figure:
    """A row about two contenders of a race; the peer may not have been there."""
    mine = _time(found.typical(ours))
    if peer not in found.rounds:
        return Figure(work, mine, MISSING[peer], None, sense, bar, goal, how)
    ratio = found.ratio(ours, peer) if sense == "cost" else found.ratio(peer, ours)
    return Figure(work, mine, _time(found.typical(peer)), ratio, sense, bar, goal, how)


def _table(title: str, found: Race) -> Table:
    rows = [(name, _time(found.typical(name)), _time(min(taken))) for name, taken in found.rounds.items()]
    return Table(title, ("", "median", "least"), rows)


def _hold(what: str, eager: tuple[float, Sequence[float]], found: tuple[float, Sequence[float]]) -> None:
    """Insist that a contender's value and gradient are the eager ones."""
    same(what, [eager[0], *eager[1]], [found[0], *found[1]])


# --- the scalar GPT --------------------------------------------------------------------------------


#: Number of the first step and how many -> nanoseconds and losses.
Train = Callable[[int, int], tuple[float, Sequence[float]]]


@contextmanager
def _jax(wanted: bool, name: str, **arguments: Any) -> Iterator[JaxProgram | None]:
    """JAX's program in its process, or None where it is not wanted or JAX is not installed."""
    if not wanted or not installed("jax"):
        yield None
        return
    with JaxProgram(name, **arguments) as program:
        yield program


def _race(trainers: dict[str, Train], effort: Effort, first: int) -> Race:
    """Nanoseconds a step of trainers that take turns from step ``first``, after a while that does not count.

    In that while every length of document is compiled, and a later tier takes over.
    """
    end = perf_counter() + effort.warm
    while first == 0 or perf_counter() < end:
        for train in trainers.values():
            train(first, effort.steps)
        first += effort.steps

    def in_turn(train: Train) -> Callable[[int], float]:
        return lambda turn: train(first + turn * effort.steps, effort.steps)[0] / effort.steps

    return race({name: in_turn(train) for name, train in trainers.items()}, effort.rounds)


def _start_alike(what: str, trainers: dict[str, Train]) -> int:
    """Insist that the first steps have the same losses, so that the optimizers are the same too; the step after."""
    steps = 3
    losses = {name: train(0, steps)[1] for name, train in trainers.items()}
    for name, found in losses.items():
        same(f"{what}, losses of the first steps, {name}", losses["ours"], found)
    return steps


def _train(n_embd: int, members: int, effort: Effort, tiers: dict[str, str], with_jax: bool) -> Race:
    """Train the GPT by ours, with one compiler tier or another, by hand and by JAX; nanoseconds a step."""
    documents = Documents(effort.names)
    programs = {name: compiled_programs.GPT(documents, n_embd, members, tier) for name, tier in tiers.items()}
    reference = programs["ours"]
    parameters = [p.data for p in reference.parameters]
    batches = [documents.slice(step * members, members) for step in range(3)]
    eager = [reference.eager_gradient(batch) for batch in batches]
    what = f"GPT of {n_embd}"
    trainers: dict[str, Train] = {}
    for name, program in programs.items():
        for step in range(len(batches)):
            _hold(f"{what}, {name}", eager[step], program.gradient(step))
        trainers[name] = program.train
    if c_reference.compiler() is not None:
        hand = c_reference.GPT(np.array(parameters), n_embd, members)
        for step in range(len(batches)):
            _hold(f"{what}, C by hand", eager[step], hand.gradient(documents.packed(step * members, members)))
        trainers["C by hand"] = lambda first, steps: hand.train(documents.packed(first * members, steps * members))
    given = {"parameters": parameters, "n_embd": n_embd, "members": members, "documents": documents.tokens}
    with _jax(with_jax, "GPT", **given) as jax:
        if jax is not None:
            _hold(f"{what}, JAX", eager[0], jax.call("gradient"))
            trainers["JAX"] = lambda first, steps: jax.call("train", steps=steps)
        return _race(trainers, effort, _start_alike(what, trainers))


def _in_turns(effort: Effort) -> str:
    return f"whole steps, {effort.steps} a turn, medians of {effort.rounds} turns"


def small_gpt(effort: Effort) -> Report:
    """The scalar GPT, one document a step, against C by hand, JAX and CPython."""
    found = _train(16, 1, effort, {"ours": "auto", "VM alone": "vm"}, with_jax=True)
    how = _in_turns(effort)
    work = "scalar GPT, n_embd 16, batch 1"
    cpython = _cpython(effort)
    ours = found.typical("ours")
    figures = [
        _figure(f"{work}, against C by hand", found, "ours", "C by hand", "cost", 1.5, 1.0, how),
        _figure(f"{work}, the VM alone, against C by hand", found, "VM alone", "C by hand", "cost", 2.0, 1.5, how),
        _figure(f"{work}, against JAX jit by hand", found, "ours", "JAX", "faster", 8.0, 15.0, how),
        Figure(
            f"{work}, against CPython, collector on",
            _time(ours),
            _time(cpython),
            cpython / ours,
            "faster",
            10_000.0,
            40_000.0,
            f"{how}; CPython: mean of {effort.loop_steps} steps in a fresh process",
        ),
    ]
    return Report(figures, [_table(work, found)])


def _cpython(effort: Effort) -> float:
    """Nanoseconds of a whole step in plain Python, after it was seen to compute what our engine does."""
    documents = Documents(effort.names)
    tokens = documents.tokens[0]
    results = []
    for value in (compiled_programs.PlainGPT().number, gpt.with_methods(slotted.Value)):
        model = gpt.weights(value)
        with deep_recursion():
            loss = gpt.loss(model, tokens, value)
            loss.backward()
        results.append((loss.data, [p.grad for p in gpt.parameters(model)]))
    _hold("scalar GPT, CPython", results[0], results[1])
    return _in_python("slotted", (), documents, effort)


def _in_python(whose: str, modules: Sequence[str], documents: Documents, effort: Effort) -> float:
    """Nanoseconds of a whole step in a fresh process that has imported the modules."""
    given = json.dumps(documents.slice(0, effort.loop_steps + 1))
    return in_fresh_process("benchmarks.gc_training", whose, *modules, given=given)[0]


def batched_gpt(effort: Effort) -> Report:
    """The scalar GPT, 16 documents a step through ``backward_batch``, against C by hand."""
    found = _train(16, 16, effort, {"ours": "auto"}, with_jax=True)
    how = f"{_in_turns(effort)}; a step is the mean of 16 documents"
    work = "scalar GPT, n_embd 16, batch 16"
    figure = _figure(f"{work}, against C by hand", found, "ours", "C by hand", "cost", 1.5, 1.0, how)
    return Report([figure], [_table(work, found)])


def wide_gpt(effort: Effort) -> Report:
    """The scalar GPT with vectors of 64, against C by hand."""
    found = _train(64, 1, effort, {"ours": "auto"}, with_jax=False)
    work = "scalar GPT, n_embd 64, batch 1"
    how = _in_turns(effort)
    figure = _figure(f"{work}, against C by hand", found, "ours", "C by hand", "cost", 1.5, 1.0, how)
    return Report([figure], [_table(work, found)])


def plain_gpt(effort: Effort) -> Report:
    """The program as people write it, not compiled, against CPython."""
    documents = Documents(effort.names)
    rows: list[tuple[str, ...]] = []
    spent = partial(_in_python, documents=documents, effort=effort)
    for beside, least in beside_modules(spent, {"plain": 3, "slotted": 1}, effort.every_neighbour):
        ratio = least["slotted"] / least["plain"]
        rows.append((beside, _time(least["plain"]), _time(least["slotted"]), f"{ratio:.1f}x"))
    figure = Figure(
        f"scalar GPT as people write it, not compiled, against CPython, collector on, beside {beside}",
        rows[-1][1],
        rows[-1][2],
        ratio,
        "faster",
        100.0,
        150.0,
        f"mean of {effort.loop_steps} whole steps in fresh processes that have imported {beside}",
    )
    title = "not compiled, collector on, by what else the process has imported"
    return Report([figure], [Table(title, ("beside", "ours", "CPython", "ratio"), rows)])


# --- other programs --------------------------------------------------------------------------------


def moons(effort: Effort) -> Report:
    """A training step of micrograd's demo, against C by hand."""
    ours = compiled_programs.Moons(RATE)
    start = np.array([p.data for p in ours.parameters])
    loss = ours.eager_loss()
    loss.backward()
    eager = (loss.data, [p.grad for p in ours.parameters])
    ours.sgd.zero_grad()
    _hold("moons, compiled", eager, (ours.loss.backward(), [p.grad for p in ours.parameters]))
    ours.sgd.zero_grad()
    trainers: dict[str, Train] = {"ours": lambda first, steps: ours.train(steps)}
    if c_reference.compiler() is not None:
        hand = c_reference.Moons(np.array(ours.places), np.array(ours.labels, dtype=float), start)
        value = hand.train(1, 0.0)[1][0]
        _hold("moons, C by hand", eager, (value, hand.numbers()[1].tolist()))
        trainers["C by hand"] = lambda first, steps: hand.train(steps, RATE)
    found = _race(trainers, effort, _start_alike("moons", trainers))
    work = "moons step (MLP 2-16-16-1, 100 points), against C by hand"
    return Report([_figure(work, found, "ours", "C by hand", "cost", 2.5, 1.2, _in_turns(effort))])


Evaluated = tuple[float, Sequence[float]]
#: A value and its gradient, and the nanoseconds of some of them.
Evaluator = tuple[Callable[[], Evaluated], Callable[[int], float]]


def mixture(effort: Effort) -> Report:
    """ADBench's Gaussian mixture and its gradient, against JAX and C by hand."""
    small, large = (gmm.problem(points=count) for count in (min(40, effort.mixture_points), effort.mixture_points))
    eager = compiled_programs.Mixture(small).gradient(compiled=False)
    with _mixtures(small) as programs:
        for name, (gradient, _) in programs.items():
            _hold(f"mixture of {len(small.points)} points, {name}", eager, gradient())
    times = max(effort.steps // 20, 1)
    with _mixtures(large) as programs:
        values = {name: gradient() for name, (gradient, _) in programs.items()}
        for name, value in values.items():
            _hold(f"mixture of {len(large.points)} points, {name}", values["ours"], value)
        end = perf_counter() + effort.warm
        while perf_counter() < end:  # a later tier takes over, as in _race
            for _, time in programs.values():
                time(times)
        found = race({name: _mean_of(time, times) for name, (_, time) in programs.items()}, effort.rounds)
    work = f"Gaussian mixture and gradient, {len(large.points):,} points, d 10, K 25"
    how = f"{times} a turn, medians of {effort.rounds} turns"
    return Report(
        [
            _figure(f"{work}, against JAX jit by hand", found, "ours", "JAX", "faster", 1.5, None, how),
            _figure(f"{work}, against C by hand", found, "ours", "C by hand", "cost", None, 1.2, how),
        ]
    )


def _mean_of(time: Callable[[int], float], times: int) -> Callable[[int], float]:
    return lambda turn: time(times) / times


@contextmanager
def _mixtures(problem: gmm.Mixture) -> Iterator[dict[str, Evaluator]]:
    """The contenders on one problem."""
    ours = compiled_programs.Mixture(problem)
    programs: dict[str, Evaluator] = {"ours": (ours.gradient, ours.time)}
    if c_reference.compiler() is not None:
        hand = c_reference.Mixture(problem)
        programs["C by hand"] = (hand.gradient, hand.time)
    given = {name: getattr(problem, name) for name in ("alphas", "means", "icf", "points", "gamma", "m", "constant")}
    with _jax(True, "Mixture", **given) as jax:
        if jax is not None:
            programs["JAX"] = (lambda: jax.call("gradient"), lambda times: jax.call("time", times=times))
        yield programs


def graph_without_pattern(effort: Effort) -> Report:
    """A random graph in which nothing repeats, a node."""
    plan = irregular_graph.plan(effort.graph_nodes, leaves=max(effort.graph_nodes // 100, 1))
    graph = compiled_programs.Graph(plan)
    eager = graph.gradient(compiled=False)
    _hold("random graph", eager, graph.gradient())
    times = max(effort.steps // 20, 1)

    def run_eagerly(turn: int) -> float:
        start = perf_counter()
        graph.gradient(compiled=False)
        return (perf_counter() - start) * 1e9

    found = race({"ours": lambda turn: graph.time(times) / times, "eager": run_eagerly}, effort.slow_rounds)
    ours = found.typical("ours") / plan.nodes
    figure = Figure(
        f"irregular random graph of {plan.nodes:,} nodes, forward and backward, a node",
        f"{ours:.2f} ns",
        f"eager {found.typical('eager') / plan.nodes:.0f} ns",
        ours,
        "cost",
        4.0,
        2.0,
        f"{times} a turn, medians of {effort.slow_rounds} turns",
        unit=" ns",
    )
    return Report([figure])


# --- what a compile costs --------------------------------------------------------------------------


def _first_call(program: str, size: int, runs: int) -> list[float]:
    """Nanoseconds that a first call costs beyond later ones, and of the system; the least of some fresh processes."""
    return min(in_fresh_process("benchmarks.compile_cost", program, str(size)) for _ in range(runs))


def latency(effort: Effort) -> Report:
    """What a user waits for the first call: the function itself, every pass, preparing the VM's kernels."""
    letters = 6
    count, (spent, _) = compile_cost.nodes("gpt", letters), _first_call("gpt", letters, effort.slow_rounds)
    figure = Figure(
        f"first call, VM, scalar GPT of {count:,} nodes, beyond a later call",
        _time(spent),
        "-",
        spent / 1e6,
        "cost",
        30.0,
        10.0,
        f"running the function and every pass; least of {effort.slow_rounds} fresh processes",
        unit=" ms",
    )
    return Report([figure])


def growth(effort: Effort) -> Report:
    """What a compile costs a node, as the program grows."""
    rows: list[tuple[str, ...]] = []
    each: dict[int, float] = {}
    wanted = 10_000
    while wanted <= effort.largest:
        needed, available = wanted * 400, available_memory()
        if available is not None and needed > available:
            told = f"left out: may need {needed / 1e9:.0f} GB of memory, {available / 1e9:.0f} GB are available"
            rows.append((f"{wanted:,}", told, "", ""))
            break
        points = compile_cost.points_for(wanted)
        count = compile_cost.nodes("moons", points)
        runs = 3 if wanted <= 1_000_000 else 1
        spent, system = _first_call("moons", points, runs)
        resolved = spent > RESOLVED
        each[count] = (spent - system if resolved else spent) / count
        share = f"{system / count:,.0f} ns" if resolved else "-"
        rows.append((f"{count:,}", _time(spent), f"{spent / count:,.0f} ns", share))
        wanted *= 10
    worst, least = max(each.values()), min(each.values())
    figure = Figure(
        f"cost of a compile a node, {min(each):,} to {max(each):,} nodes",
        f"{worst:,.0f} ns at most",
        f"{least:,.0f} ns at least",
        worst / least,
        "cost",
        2.0,
        None,
        "first call of an MLP on ever more points, beyond a later call, less the system's time for handing out memory, "
        "which is the machine's and varies; linear is 1",
    )
    return Report([figure], [Table("first calls", ("nodes", "first call", "a node", "of which the system"), rows)])


#: The works by their names, in the order in which they are measured.
COMPILED_WORKS: dict[str, Callable[[Effort], Report]] = {
    "gpt": small_gpt,
    "batch": batched_gpt,
    "wide": wide_gpt,
    "plain": plain_gpt,
    "moons": moons,
    "mixture": mixture,
    "graph": graph_without_pattern,
    "latency": latency,
    "growth": growth,
}
