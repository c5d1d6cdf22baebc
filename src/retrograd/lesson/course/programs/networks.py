"""Networks that learn: a small one on the two moons, and a GPT of one word."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

from .... import nn
from ....engine import Value
from ....math import mean
from ....trace.callgraph import Call, Calls, record_calls
from ....training.data import load_documents, make_moons
from ..figures import Figure

__all__ = ["gpt", "moons"]

HIDDEN, POINTS = 8, 16


def _named(model: nn.Module) -> dict[str, Value]:
    """A model's parameters by where they are in it, ``layers[0].w[1]``, which becomes their label."""
    names = {re.sub(r"\.(\d+)", r"[\1]", name): value for name, value in model.named_parameters()}
    for name, parameter in names.items():
        parameter.label = name
    return names


def moons(name: str) -> Figure:
    """A small network on the two moons: the loss of all points as one graph, and its output anywhere in the plane."""
    random.seed(7)
    points, labels = make_moons(POINTS, 0.1, seed=3)
    model = nn.MLP(2, [HIDDEN, 1])
    parameters = _named(model)
    with record_calls() as calls:
        scores = [model(point) for point in points]
        loss = mean([(1 - label * score).relu() for score, label in zip(scores, labels, strict=True)])
    loss.label = "loss"
    x, y = Value(0.0, label="x"), Value(0.0, label="y")
    score = model([x, y])
    score.label = "score"
    plane = Figure("plane", score, {**parameters, "x": x, "y": y}, "the network")
    field = {
        "payload": plane.packed(),
        "area": [-1.5, 2.5, -1.0, 1.5],
        "points": [[round(px, 3), round(py, 3), kind] for (px, py), kind in zip(points, labels, strict=True)],
    }
    facts: dict[str, Any] = {
        "points": POINTS,
        "hidden": HIDDEN,
        "parameters": len(parameters),
        "operations": operations(loss),
        "start": loss.data,
    }
    return Figure(
        name, loss, parameters, "the loss of all points", "", _gathered(calls, loss), True, facts, {"field": field}
    )


def _gathered(calls: Calls, loss: Value) -> Calls:
    """The calls with one around all scores and one around all losses, which the page shows at first."""
    made = [
        Call(None, "program", "", "", None),
        Call(0, "call", "scores", "", None),
        Call(0, "call", "losses", "", None),
    ]
    shift = len(made) - 1
    made += [replace(call, parent=(call.parent or 0) + shift if call.parent else 1) for call in calls.calls[1:]]
    of = {value: place + shift if place else 2 for value, place in calls.of.items() if value is not loss}
    return replace(calls, calls=made, of=of)


WORD = "anna"
STEPS, RATE = 60, 0.5


def gpt(name: str) -> Figure:
    """The loss of a GPT of a few hundred parameters on one word, and what sixty steps downhill make of it."""
    random.seed(5)
    letters = "".join(sorted(set(WORD)))
    tokens = [0, *(letters.index(letter) + 1 for letter in WORD), 0]
    model = nn.GPT(vocab_size=len(letters) + 1, block_size=len(WORD) + 1, n_embd=4, n_head=2)
    parameters = _named(model)
    with record_calls() as calls:
        loss = model.loss(tokens)
    loss.label = "loss"
    calls = _by_letter(calls, ["begin", *WORD], loss)
    figure = Figure(name, loss, parameters, f"the loss of a GPT on “{WORD}”", "", calls, True)
    start = {parameter: parameter.data for parameter in parameters.values()}
    embedding = f"wte.weight[{letters.index('n') + 1}][0]"
    amounts = [item.contribution for item in figure.contributions(embedding)]
    paths, factors = _paths(figure, embedding)
    facts: dict[str, Any] = {
        "word": WORD,
        "choices": len(letters) + 1,
        "parameters": len(parameters),
        "operations": operations(loss),
        "start": loss.data,
        "embedding": embedding,
        "uses": len(amounts),
        "amounts": amounts,
        "embedding_grad": sum(amounts),
        "paths": paths,
        "factors": factors,
        "names": len(load_documents()),
        "steps": STEPS,
        "rate": RATE,
        "trained": _trained(model, parameters, tokens),
    }
    for parameter, data in start.items():
        parameter.data = data
    return Figure(name, loss, parameters, figure.title, "", calls, True, facts)


def _by_letter(calls: Calls, letters: list[str], loss: Value) -> Calls:
    """The calls of a GPT's loss by the letter that they read, all of those together, and the mean of their losses."""
    made = [*calls.calls[:2], Call(1, "call", "letters", "", None), Call(1, "call", "mean", "", None)]
    made += [Call(2, "call", f"{number}: {letter}", "", None) for number, letter in enumerate(letters, start=1)]
    shift, letter = len(made) - 2, 3
    for call in calls.calls[2:]:
        letter += call.parent == 1 and call.kind == "module"
        made.append(replace(call, parent=letter if call.parent == 1 else (call.parent or 0) + shift))
    of = {value: place + shift if place > 1 else 3 for value, place in calls.of.items() if value is not loss}
    return replace(calls, calls=made, of={**of, loss: 1})


def operations(root: Value) -> int:
    """How many operations a Value was computed by."""
    from ....engine import interior

    return len(interior(root))


def _trained(model: nn.GPT, parameters: dict[str, Value], tokens: list[int]) -> float:
    """The loss after the steps that the page makes too."""
    for _ in range(STEPS):
        model.zero_grad()
        model.loss(tokens).backward()
        for parameter in parameters.values():
            parameter.data -= RATE * parameter.grad
    return float(model.loss(tokens).data)


def _paths(figure: Figure, name: str) -> tuple[int, int]:
    """How many paths lead from the result down to a node, and how many factors the strongest has.

    A path brings the product of its local derivatives; the strongest brings the largest.
    """
    trace = figure.trace
    uses: dict[int, list[tuple[float, int]]] = {}
    for edge in trace.edges:
        if edge.local is not None and not edge.zero:
            uses.setdefault(edge.operand, []).append((abs(edge.local), edge.result))
    counts, largest = {trace.root: 1}, {trace.root: (1.0, 0)}
    for node in sorted(uses, reverse=True):  # results before operands
        above = [(local, result) for local, result in uses[node] if result in counts]
        if above:
            counts[node] = sum(counts[result] for _, result in above)
            largest[node] = max((local * largest[result][0], largest[result][1] + 1) for local, result in above)
    own = figure.node(name).id
    return counts[own], largest[own][1]
