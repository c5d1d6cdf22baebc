"""The works that ``make bench`` measures, one function each, and what each figure is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from time import perf_counter_ns
from typing import Any

import numpy as np

from .figures import Effort, Figure, Report, Table
from .measure import (
    Contender,
    available_memory,
    beside_modules,
    deep_recursion,
    in_fresh_process,
    installed,
    interleaved,
    optional,
    same,
    system_time,
)
from .peers import chain, gpt, numpy_adam, slotted, xad_chain
from .peers.micrograd_moons import Moons

__all__ = ["WORKS"]

Phases = dict[str, float]

slotted.Value.breaks_cycle = True  # everything timed in this process runs with the collector off


def _engine() -> Any:
    return import_module("retrograd.engine")


def _missing(package: str) -> str:
    return f"not installed: pip install {package}"


def _microseconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:,.0f} µs"


# --- the scalar GPT ------------------------------------------------------------------------------


def _gpt_step(model: dict[str, gpt.Matrix], number: gpt.NumberType) -> Phases:
    """One document: forward, backward, and freeing what the forward pass built."""
    tokens = gpt.document()
    start = perf_counter_ns()
    loss = gpt.loss(model, tokens, number)
    forward = perf_counter_ns()
    if number is not gpt.FLOATS:
        loss.backward()
    backward = perf_counter_ns()
    del loss
    end = perf_counter_ns()
    return {"forward": forward - start, "backward": backward - forward, "free": end - backward, "all": end - start}


def _gpt_agrees(ours: gpt.NumberType, theirs: gpt.NumberType) -> tuple[int, int]:
    """Insist that losses and gradients agree; the numbers of nodes of ours and theirs."""
    results = []
    for number in (ours, theirs):
        model = gpt.weights(number)
        loss = gpt.loss(model, gpt.document(), number)
        loss.backward()
        results.append((loss, [loss.data] + [p.grad for p in gpt.parameters(model)]))
    same("scalar GPT, loss and gradients", results[0][1], results[1][1])
    floats = gpt.loss(gpt.weights(gpt.FLOATS), gpt.document(), gpt.FLOATS)
    same("scalar GPT, loss on plain floats", [results[0][0].data], [floats])
    return len(_engine().interior(results[0][0])), slotted.count(results[1][0])


def scalar_gpt(effort: Effort) -> Report:
    """The scalar GPT's forward and backward against the slotted Value and against plain floats."""
    types = {
        "ours": gpt.with_methods(_engine().Value),
        "slotted": gpt.with_methods(slotted.Value),
        "plain floats": gpt.FLOATS,
    }
    with deep_recursion():
        our_nodes, their_nodes = _gpt_agrees(types["ours"], types["slotted"])
    models = {name: gpt.weights(number) for name, number in types.items()}

    def contender(name: str, rounds: int) -> Contender:
        return Contender(name, partial(_gpt_step, models[name], types[name]), rounds, collector_on=False)

    best = interleaved(
        [
            contender("ours", effort.rounds),
            contender("plain floats", effort.rounds),
            contender("slotted", effort.slow_rounds),
        ]
    )
    phases = ("forward", "backward", "free", "all")
    rows = [(name, *(_microseconds(spent[phase]) for phase in phases)) for name, spent in best.items()]
    title = f"scalar GPT, 7 tokens, collector off; ours records {our_nodes:,} nodes, the slotted Value {their_nodes:,}"
    collected, collected_table = _collector_on(effort)
    against_slotted, against_floats = _collector_off(best, effort)
    return Report([against_slotted, collected, against_floats], [Table(title, ("", *phases), rows), collected_table])


def _collector_off(best: dict[str, Phases], effort: Effort) -> list[Figure]:
    ours, theirs, floats = (best[name]["all"] for name in ("ours", "slotted", "plain floats"))
    how = f"forward, backward and freeing of one document; minimum of {effort.rounds}"
    return [
        Figure(
            "scalar GPT, against a slotted Python Value, collector off",
            _microseconds(ours),
            _microseconds(theirs),
            theirs / ours,
            "faster",
            22.0,
            27.0,
            f"{how} (peer {effort.slow_rounds})",
        ),
        Figure(
            "scalar GPT, against its forward pass alone on Python floats",
            _microseconds(ours),
            _microseconds(floats),
            ours / floats,
            "cost",
            1.9,
            1.5,
            how,
        ),
    ]


def _collector_on(effort: Effort) -> tuple[Figure, Table]:
    """Training with the collector on, beside ever more modules; the figure is the last, with all that are installed."""
    rows: list[tuple[str, ...]] = []

    def spent(whose: str, modules: Sequence[str]) -> float:
        return in_fresh_process("benchmarks.gc_forward_backward", whose, str(effort.loop_steps), *modules)[0]

    for beside, least in beside_modules(spent, {"ours": 2, "slotted": 1}, effort.every_neighbour):
        ratio = least["slotted"] / least["ours"]
        rows.append((beside, _microseconds(least["ours"]), _microseconds(least["slotted"]), f"{ratio:.1f}x"))
    figure = Figure(
        f"scalar GPT, against a slotted Python Value, collector on, beside {beside}",
        rows[-1][1],
        rows[-1][2],
        ratio,
        "faster",
        100.0,
        None,
        f"mean of {effort.loop_steps} documents one after the other in a fresh process that has imported {beside}",
    )
    title = "scalar GPT, 7 tokens, collector on, by what else the process has imported"
    return figure, Table(title, ("beside", "ours", "slotted", "ratio"), rows)


# --- a chain -------------------------------------------------------------------------------------


def _value_chain(make: Callable[[float], Any], nodes: int) -> Phases:
    """The chain on a class with ``backward``; its gradient is checked each time, outside the timing."""
    x, w = make(chain.ADDEND), make(chain.FACTOR)
    system = system_time()
    start = perf_counter_ns()
    y = chain.chain(nodes, x, w)
    record = perf_counter_ns()
    system = system_time() - system
    middle = perf_counter_ns()
    y.backward()
    backward = perf_counter_ns()
    del y
    free = perf_counter_ns()
    same(f"chain of {nodes:,}, gradient", [x.grad], [chain.slope(nodes)], 1e-6)
    return {"record": record - start, "system": system, "backward": backward - middle, "free": free - backward}


def _xad_chain(adj_1st: Any, nodes: int) -> Phases:
    phases, slope = xad_chain.step(adj_1st, nodes)
    same(f"chain of {nodes:,}, gradient by XAD", [slope], [chain.slope(nodes)], 1e-6)
    return phases


def _float_chain(nodes: int) -> Phases:
    start = perf_counter_ns()
    chain.chain(nodes, chain.ADDEND, chain.FACTOR)
    return {"record": perf_counter_ns() - start}


def long_chain(effort: Effort) -> Report:
    """Recording and sweeping a chain of 100,000 operations, against XAD's Python tape."""
    nodes = 100_000
    value, xad, micrograd = _engine().Value, optional("xad.adj_1st"), optional("micrograd.engine")
    contenders = [
        Contender("ours", partial(_value_chain, value, nodes), effort.rounds),
        Contender("plain floats", partial(_float_chain, nodes), effort.rounds),
        Contender("slotted, collector off", partial(_value_chain, slotted.Value, nodes), effort.slowest_rounds, False),
    ]
    if xad is not None:
        contenders.append(Contender("XAD", partial(_xad_chain, xad, nodes), effort.rounds))
    if micrograd is not None:
        run = partial(_value_chain, micrograd.Value, nodes)
        contenders.append(Contender("micrograd, collector off", run, effort.slowest_rounds, False))
    best = interleaved(contenders)
    rows = [
        (name, *(f"{p[phase] / nodes:,.1f}" if phase in p else "-" for phase in ("record", "backward", "free")))
        for name, p in best.items()
    ]
    for package, module in (("xad", xad), ("micrograd", micrograd)):
        if module is None:
            rows.append((package, _missing(package), "", ""))
    table = Table("chain of 100,000 operations, ns an operation", ("", "record", "backward", "free"), rows)

    def figure(work: str, phase: str, bar: float, goal: float | None) -> Figure:
        ours, theirs = best["ours"][phase], best["XAD"][phase] if xad is not None else None
        return Figure(
            f"{work}, ns a node, against XAD",
            f"{ours / nodes:.2f} ns",
            f"{theirs / nodes:.2f} ns" if theirs is not None else _missing("xad"),
            ours / theirs if theirs is not None else None,
            "cost",
            bar,
            goal,
            f"chain of {nodes:,} operations; minimum of {effort.rounds}",
        )

    return Report([figure("backward", "backward", 1.3, 0.9), figure("recording", "record", 0.12, None)], [table])


# --- memory and scale ----------------------------------------------------------------------------


def held_memory(effort: Effort) -> Report:
    """Bytes of resident memory for each node of a graph that is held."""
    nodes = effort.memory_nodes

    def bytes_a_node(holder: str, count: int) -> float:
        return in_fresh_process("benchmarks.memory", holder, str(count))[0]

    ours = {name: bytes_a_node(name, nodes) for name in ("ours-chain", "ours-gpt")}
    rows = [(name.replace("-", ", "), f"{size:.1f}") for name, size in ours.items()]
    for name, module in (("slotted", "retrograd"), ("XAD", "xad"), ("micrograd", "micrograd"), ("torch", "torch")):
        told = f"{bytes_a_node(f'{name.lower()}-chain', nodes // 8):.1f}" if installed(module) else _missing(module)
        rows.append((f"{name}, chain", told))
    most = max(ours.values())
    figure = Figure(
        "bytes a node held",
        f"{most:.1f}",
        "-",
        most,
        "cost",
        64.0,
        None,
        f"growth of resident memory over {nodes:,} nodes in a fresh process; the larger of a chain and GPT documents",
        unit=" bytes",
    )
    return Report([figure], [Table("bytes of resident memory for each node held", ("", "bytes a node"), rows)])


def scale(effort: Effort) -> Report:
    """Recording and sweeping from a thousand nodes to ten million (a hundred million with ``full``)."""
    value = _engine().Value
    rows: list[tuple[str, ...]] = []
    together: dict[int, float] = {}
    nodes = 1000
    while nodes <= effort.largest:
        needed = nodes * 70
        available = available_memory()
        if available is not None and needed > available:
            told = f"left out: needs {needed / 1e9:.0f} GB of memory, {available / 1e9:.0f} GB are available"
            rows.append((f"{nodes:,}", told, "", "", "", ""))
            break
        rounds = max(2 if nodes > 20_000_000 else 3, min(effort.rounds * 5, 20_000_000 // nodes))
        best = interleaved([Contender("ours", partial(_value_chain, value, nodes), rounds)])["ours"]
        together[nodes] = (best["record"] + best["backward"]) / nodes
        phases = (f"{best[phase] / nodes:.2f}" for phase in ("record", "system", "backward", "free"))
        rows.append((f"{nodes:,}", *phases, str(rounds)))
        nodes *= 10
    worst, least = max(together.values()), min(together.values())
    figure = Figure(
        f"record plus backward a node, {min(together):,} to {max(together):,} nodes",
        f"{worst:.2f} ns at most",
        f"{least:.2f} ns at least",
        worst / least,
        "cost",
        2.0,
        None,
        "one chain of each size; minimum of the runs in the table below",
    )
    return Report(
        [figure], [Table("chains, ns a node", ("nodes", "record", "of which system", "backward", "free", "runs"), rows)]
    )


# --- training steps ------------------------------------------------------------------------------


def _timed_step(moons: Moons) -> Phases:
    start = perf_counter_ns()
    moons.step(learning_rate=0.0)  # standing still, so that every contender's every run does the same work
    return {"step": perf_counter_ns() - start}


def moons_step(effort: Effort) -> Report:
    """One training step of micrograd's demo, against micrograd."""
    ours = Moons(_engine().Value, import_module("retrograd.nn").MLP)
    theirs: Moons | None = None
    contenders = [Contender("ours", partial(_timed_step, ours), effort.rounds, False)]
    if optional("micrograd") is not None:
        theirs = Moons(import_module("micrograd.engine").Value, import_module("micrograd.nn").MLP)
        with deep_recursion():
            losses = [[moons.step() for _ in range(2)] for moons in (ours, theirs)]
        same("moons, the losses of two steps", losses[0], losses[1])
        same("moons, parameters", [p.data for p in ours.parameters], [p.data for p in theirs.parameters])
        contenders.append(Contender("micrograd", partial(_timed_step, theirs), effort.slow_rounds, False))
    best = interleaved(contenders)
    spent = best["ours"]["step"]
    other = best["micrograd"]["step"] if theirs is not None else None
    figure = Figure(
        "moons step (MLP 2-16-16-1, 100 points), against micrograd, collector off",
        _microseconds(spent),
        _microseconds(other) if other is not None else _missing("micrograd"),
        other / spent if other is not None else None,
        "faster",
        35.0,
        60.0,
        f"forward, zero_grad, backward, SGD, freeing; minimum of {effort.rounds} (micrograd {effort.slow_rounds})",
    )
    return Report([figure])


def adam_step(effort: Effort) -> Report:
    """Adam over 100,000 parameters, against a vectorised Adam in NumPy."""
    size = 100_000
    generator = np.random.default_rng(0)
    start, gradient = generator.standard_normal(size), generator.standard_normal(size)
    value, adam = _engine().Value, import_module("retrograd.optim").Adam
    values = [value(number) for number in start.tolist()]
    for v, number in zip(values, gradient.tolist(), strict=True):
        v.grad = number
    ours, theirs = adam(values, lr=1e-3), numpy_adam.Adam(start.copy(), lr=1e-3)

    def our_step() -> Phases:
        begin = perf_counter_ns()
        ours.step()
        return {"step": perf_counter_ns() - begin}

    def their_step() -> Phases:
        begin = perf_counter_ns()
        theirs.step(gradient)
        return {"step": perf_counter_ns() - begin}

    rounds = effort.rounds * 2
    best = interleaved([Contender("ours", our_step, rounds), Contender("NumPy", their_step, rounds)])
    same("Adam, parameters after all steps", [v.data for v in values], theirs.params.tolist())
    spent, other = best["ours"]["step"], best["NumPy"]["step"]
    how = f"one step over {size:,} parameters; minimum of {rounds}"
    work = "Adam over 100,000 parameters, against NumPy's vectorised Adam"
    return Report([Figure(work, _microseconds(spent), _microseconds(other), spent / other, "cost", 1.5, None, how)])


#: The works by the names that the command takes, in the order in which they are measured.
WORKS: dict[str, Callable[[Effort], Report]] = {
    "gpt": scalar_gpt,
    "chain": long_chain,
    "memory": held_memory,
    "scale": scale,
    "moons": moons_step,
    "adam": adam_step,
}
