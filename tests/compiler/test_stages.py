"""What ``program(after=…)`` prints is what the passes have made: arithmetic in it gives the function's value."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

import retrograd as rg
from retrograd.compiler.reports.stages import Pass

pytestmark = pytest.mark.native

PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "compiler.md"


def bare(text: str) -> list[str]:
    """The lines of a program without the user's."""
    lines = [re.sub(r"\s+# .*$", "", line) for line in text.splitlines()]
    return [line for line in lines if not line.strip().startswith("/*")]


def softmax(*numbers: float) -> list[float]:
    exponentials = [math.exp(x - max(numbers)) for x in numbers]
    return [e / sum(exponentials) for e in exponentials]


#: The rows of the op table that the programs below have, as Python.
ROWS: dict[str, Any] = {
    "tanh": math.tanh,
    "exp": math.exp,
    "sin": math.sin,
    "log": math.log,
    "neg": lambda a: -a,
    "square": lambda a: a * a,
    "sum": lambda *a: math.fsum(a),
    "mean": lambda *a: math.fsum(a) / len(a),
    "largest": max,
    "identity": lambda a: a,
}


def evaluated(lines: Sequence[str], regions: dict[str, list[float]]) -> float:
    """What lines of arithmetic return, by Python."""
    names = {**ROWS, **regions}
    for line in lines[:-1]:
        exec(line, names)
    return float(eval(lines[-1].removeprefix("return "), names))


PROGRAMS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "dot": lambda x: sum(a * b for a, b in zip(x, x[::-1], strict=True)),
    "mean": lambda x: rg.mean([rg.math.exp(a) for a in x]) / (1.0 + x[0] * x[0]),
    "layer": lambda x: sum(rg.math.tanh(sum(a * (0.1 * i + 0.2) for a in x)) for i in range(4)),
    "recurrence": lambda x: [a := x[0], *(a := a * 0.5 + rg.math.sin(b) - b / 3.0 for b in x)][-1],
    "differences": lambda x: x[0] - sum(x[1:]) - x[1] * x[2] + 4.0,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_stage_computes_the_function(name: str) -> None:
    function = PROGRAMS[name]
    xs = [random.Random(name).uniform(0.2, 1.5) for _ in range(6)]
    f = rg.compile(function)
    expected = f.value_and_grad(xs)[0]
    assert expected == pytest.approx(float(function(xs)), rel=1e-12)
    for stage in ("lift", "expand", "reductions"):
        lines = bare(f.program(after=stage))
        assert evaluated(lines, {"in0": [], "in1": xs}) == pytest.approx(expected, rel=1e-12), stage


def test_parameters_have_the_names_of_their_regions() -> None:
    w = [rg.Value(0.5), rg.Value(-0.25)]
    f = rg.compile(lambda a, b: (w[0] * a + w[1] * b).tanh())
    expected = f.backward(1.0, 2.0)
    for stage in ("lift", "expand", "reductions"):
        lines = bare(f.program(after=stage))
        assert evaluated(lines, {"p0": [0.5, -0.25], "in1": [1.0, 2.0]}) == pytest.approx(expected, rel=1e-12)


def test_every_term_is_in_one_group_and_operands_come_first() -> None:
    f = rg.compile(PROGRAMS["layer"])
    f.value_and_grad([0.1, 0.2, 0.3])
    terms = [line.split(" = ")[0] for line in bare(f.program(after="reductions"))[:-1]]
    groups = [line.rpartition(": ")[2].split(", ") for line in f.program(after="pack").splitlines()]
    assert sorted(term for group in groups for term in group) == sorted(terms)
    levels = [int(re.search(r"level (\d+)", line)[1]) for line in f.program(after="pack").splitlines()]  # type: ignore[index]
    assert levels == sorted(levels)


def test_lines_are_named_where_there_are_several() -> None:
    def of_two(x: Any) -> Any:
        y = x.exp()
        return y.tanh()

    layer = rg.nn.Linear(3, 2)
    several, one = rg.compile(of_two), rg.compile(layer)
    several(rg.Value(1.0))
    one([1.0, 2.0, 3.0])
    assert re.findall(r"# .*, in (\w+)$", several.program(), re.MULTILINE) == ["of_two", "of_two"]
    assert "#" not in one.program()


def test_the_kernel_calls_are_those_of_the_program() -> None:
    f = rg.compile(PROGRAMS["layer"])
    f.value_and_grad([0.1, 0.2, 0.3])
    header = f.program().splitlines()[0]
    calls = f.program(after="lower").splitlines()
    counts = [sum(call.startswith(which) for call in calls) for which in ("forward", "backward")]
    assert header.endswith(f"{counts[0]} forward and {counts[1]} backward kernel calls")


def test_what_cannot_become_loops_says_why() -> None:
    f = rg.compile(lambda xs, i: rg.take(xs, i) * 2.0)
    f.value_and_grad([0.1, 0.2], rg.Index(1))
    assert f.program(after="loops") == "No code with loops: a run-time index."


def test_there_is_no_other_pass() -> None:
    f = rg.compile(lambda x: x * x)
    with pytest.raises(ValueError, match=r"after is one of 'lift', .*, not 'llvm'"):
        f.program(after="llvm")  # type: ignore[arg-type]
    for stage in get_args(Pass):
        assert f.program(after=stage) == "There is no program yet: the first call makes one."


def test_the_page_shows_what_is_printed() -> None:
    w0, w1 = rg.Value(0.5), rg.Value(-0.25)

    def neuron(x0: Any, x1: Any) -> Any:
        return (w0 * x0 + w1 * x1).tanh()

    def decay(x: Any, rate: float) -> Any:
        for _ in range(50):
            x = x - rate * x
        return x

    f, g = rg.compile(neuron), rg.compile(decay)
    f.backward(1.0, 2.0)
    g.value_and_grad(1.0, 0.25)
    page = [" ".join(line.split()) for line in PAGE.read_text().splitlines()]
    shown = [f.program(after=stage) for stage in ("lift", "reductions", "pack", "reroll", "lower")]
    for text in [*shown, g.program(after="loops")]:
        for line in bare(text):
            assert " ".join(line.split()) in page
