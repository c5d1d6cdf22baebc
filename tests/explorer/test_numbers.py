"""The explorer's numbers are Python's: those of a trace to the bit, and those that the page computes itself."""

from __future__ import annotations

import json
import math
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import SETTINGS, Page, Show, Windows
from support.expressions import EXAMPLES
from support.parts import ALL

from retrograd import engine, explore, nn
from retrograd.autodiff.check.ulp import ulp_distance
from retrograd.explorer.timeline import Timeline
from retrograd.ops import NARY, OPS
from retrograd.trace import Trace
from retrograd.trace.expression import parse

pytestmark = pytest.mark.native  # the page is the same, whichever engine made the trace

EXACT = {"add", "sub", "mul", "div", "neg", "square", "reciprocal", "sqrt", "relu", "abs", "maximum", "minimum"}
IDS = [text for text, _ in EXAMPLES]


def python_trace(text: str, **values: float) -> Trace:
    evaluation = parse(text).evaluate(values)
    return Trace.of(evaluation.root, evaluation.leaves, title=text, written=evaluation.written)


@pytest.fixture(scope="module")
def calculator(windows: Windows, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One page for all tests that open programs of their own in it."""
    page = windows.take(SETTINGS)
    file: Path = explore("a*b", a=1.0, b=2.0).save(tmp_path_factory.mktemp("calculator") / "page.html")
    page.page.goto(file.as_uri())
    page.page.wait_for_selector(".explorer")
    yield page
    windows.give_back(page, SETTINGS)


def same(x: float, y: float) -> bool:
    return (x != x and y != y) or struct.pack("<d", x) == struct.pack("<d", y)


def near(x: float, y: float, ulps: int) -> bool:
    return same(x, y) or (math.isfinite(x) and math.isfinite(y) and ulp_distance(x, y) <= ulps)


def assert_steps_agree(page: Page, theirs: Trace, ulps: int) -> Trace:
    """Every number of every step, and every word where the numbers are the same to the bit."""
    exported = page.trace()
    ours, said, expected = (
        Trace.from_json(exported),
        json.loads(exported)["words"],
        json.loads(theirs.to_json())["words"],
    )
    assert [node.name for node in ours.nodes] == [node.name for node in theirs.nodes]
    assert [step.nodes for step in (*ours.forward, *ours.backward)] == [
        step.nodes for step in (*theirs.forward, *theirs.backward)
    ]
    for mine, python in zip(ours.nodes, theirs.nodes, strict=True):
        assert near(mine.data, python.data, ulps), (mine, python)
        if python.grad is not None and mine.grad is not None:
            assert near(mine.grad, python.grad, ulps), (mine, python)
        assert (mine.kind, mine.row) == (python.kind, python.row)
    for step, python_step in zip(ours.backward, theirs.backward, strict=True):
        assert len(step.additions) == len(python_step.additions)
        for item, python_item in zip(step.additions, python_step.additions, strict=True):
            assert (item.edge, item.target) == (python_item.edge, python_item.target)
            assert near(item.contribution, python_item.contribution, ulps), (item, python_item)
            assert near(item.after, python_item.after, ulps), (item, python_item)
    for name in expected if ulps == 0 else ("nodes", "formulas"):
        assert said[name] == expected[name]
    return ours


@pytest.mark.parametrize(("text", "values"), EXAMPLES, ids=IDS)
def test_an_unedited_graph_shows_pythons_own_numbers(show: Show, text: str, values: dict[str, float]) -> None:
    page = show(text, values=values)
    theirs = python_trace(text, **values)
    ours = assert_steps_agree(page, theirs, 0)
    assert ours.edges == theirs.edges
    assert [node.expression for node in ours.nodes] == [node.expression for node in theirs.nodes]


@pytest.mark.long
@pytest.mark.parametrize(("text", "values"), EXAMPLES, ids=IDS)
def test_step_k_is_the_same_in_the_browser_and_in_the_terminal(show: Show, text: str, values: dict[str, float]) -> None:
    """In a notebook too: its frame holds this very page."""
    page = show(text, "#digits=all", values=values)
    timeline = Timeline(python_trace(text, **values))
    assert page.steps == len(timeline.steps)
    page.press("Home")
    for step, expected in enumerate(timeline.steps):
        at, said, shown = page.run(
            """const { shown, step, run } = explorer.state;
               return [step, document.querySelector('.said').innerText, shown.graph.names.map((_, node) => [
                   shown.hasData(node, step) ? shown.data[node] : null, shown.gradient(node, step),
                   run.graph.isVariable(node)])];"""
        )
        assert at == step
        assert said == expected.text
        for node, (data, grad, is_variable) in enumerate(shown):
            assert data == timeline.data(node, step)
            assert not is_variable or grad == timeline.grad(node, step)
        page.press("ArrowRight")


def ulps_for(trace: Trace) -> int:
    return 0 if {node.row for node in trace.operations} <= EXACT else 4


@pytest.mark.long
@pytest.mark.parametrize(("text", "values"), EXAMPLES, ids=IDS)
def test_an_edited_graph_is_computed_as_python_computes_it(show: Show, text: str, values: dict[str, float]) -> None:
    page = show(text, values=values)
    drawn = random.Random(text)
    for _ in range(4):
        for name in values:
            moved = dict(values)
            moved[name] = round(drawn.uniform(0.3, 3.0), 3)
            page.run(
                "explorer.edit(explorer.state.run.graph.find(x.name), x.value)", {"name": name, "value": moved[name]}
            )
            theirs = python_trace(text, **moved)
            assert_steps_agree(page, theirs, ulps_for(theirs))
            page.run("explorer.undo()")


@pytest.mark.parametrize(("text", "values"), EXAMPLES, ids=IDS)
def test_a_typed_program_is_recorded_as_python_records_it(
    calculator: Page, text: str, values: dict[str, float]
) -> None:
    calculator.open(text, **values)
    theirs = python_trace(text, **values)
    ours = assert_steps_agree(calculator, theirs, ulps_for(theirs))
    assert [node.expression for node in ours.nodes] == [node.expression for node in theirs.nodes]


def random_expression(drawn: random.Random, depth: int) -> str:
    if depth == 0 or drawn.random() < 0.1:
        return drawn.choice(["a", "b", "c", "d", f"{drawn.uniform(0.5, 9):.2f}"])
    one, two = random_expression(drawn, depth - 1), random_expression(drawn, depth - 1)
    return drawn.choice(
        [
            f"({one} + {two})",
            f"({one} - {two})",
            f"{one} * {two}",
            f"({one}) / ({two})",
            f"sqrt(abs({one}))",
            f"-({one})",
        ]
    )


@pytest.mark.long
def test_arithmetic_is_bit_equal(calculator: Page) -> None:
    drawn = random.Random(7)
    compared = 0
    while compared < 120:
        text = random_expression(drawn, 5)
        names = parse(text).names
        values = {name: drawn.uniform(-3, 3) for name in names}
        try:
            theirs = python_trace(text, **values)
        except (ArithmeticError, ValueError):
            continue
        if not theirs.operations:
            continue
        calculator.open(text, **values)
        assert_steps_agree(calculator, theirs, 0)
        compared += 1


def samples(row: Any, count: int) -> list[list[float]]:
    drawn = random.Random(row.name)
    return [[drawn.uniform(*interval) for interval in row.sample] for _ in range(count)]


def allowed(row: Any, got: float, wanted: float) -> bool:
    """Within 4 ulp, or within what the op table grants Python itself; a sum that cancels, of its larger term."""
    bound = 0 if row.name in EXACT else max(4, *row.accuracy, 4)
    return near(got, wanted, bound) or (row.name == "gelu" and abs(got - wanted) <= 4 * math.ulp(0.5))


@pytest.mark.parametrize("row", [row for row in OPS if row.public], ids=lambda row: row.name)
def test_every_operator_is_within_four_ulp(calculator: Page, row: Any) -> None:
    names = "abc"[: row.arity]
    points = [dict(zip(names, point, strict=True)) for point in samples(row, 200 if ALL else 50)]
    text = f"{row.name}({', '.join(names)})"
    if row.name == "where":  # its condition is no operand
        text, points = "where(1 > 0, b, c)", [{name: point[name] for name in "bc"} for point in points]
    found = calculator.run(
        """return x.points.map((values) => {
            if (!explorer.open({ text: x.text, values })) return explorer.state.problem;
            const { run } = explorer.state;
            return { y: run.data[run.graph.root], local: [...run.local].map((v) => (v !== v ? null : v)) };
        })""",
        {"text": text, "points": points},
    )
    for point, got in zip(points, found, strict=True):
        trace = python_trace(text, **point)
        assert allowed(row, got["y"], trace.nodes[trace.root].data), (point, got)
        for edge, local in zip(trace.edges, got["local"], strict=True):
            if edge.local is not None:
                assert allowed(row, math.nan if local is None else local, edge.local), (point, edge, local)
    said, expected = (json.loads(text)["words"] for text in (calculator.trace(), trace.to_json()))
    for name in ("nodes", "formulas", "derivatives", "rules"):
        assert said[name] == expected[name], "the page writes the row as Python does"


@pytest.mark.parametrize("row", NARY, ids=lambda row: row.name)
def test_every_operator_over_a_sequence_agrees(calculator: Page, row: Any) -> None:
    text = f"{row.name}(a, b, c, a)" + ("[1]" if row.outputs else "")
    if row.paired:
        text = f"{row.name}([a, b], [c, a])"
    drawn = random.Random(row.name)
    for _ in range(20):
        values = {name: drawn.uniform(-2, 2) for name in "abc"}
        calculator.open(text, **values)
        assert_steps_agree(calculator, python_trace(text, **values), 4)


def test_a_folded_graph_shows_the_same_as_a_plain_one(show: Show) -> None:
    random.seed(3)
    model = nn.MLP(2, [6, 6, 1])

    def loss() -> Any:
        return (model([1.0, -0.5]) - 1.0) ** 2

    page = show(explore(loss))
    assert page.run("return explorer.state.tree.groups.length") > 5
    ours = Trace.from_json(page.trace())
    root = loss()
    names = {leaf.name: eval(f"model.{leaf.name}", {"model": model}) for leaf in ours.leaves}
    assert_steps_agree(page, Trace.of(root, names, title="loss()"), 0)


def test_numbers_are_written_as_python_writes_them(calculator: Page) -> None:
    drawn = random.Random(1)
    numbers = [
        0.0,
        -0.0,
        1e16,
        1e15,
        123456789012345680.0,
        1e-4,
        1e-5,
        0.1,
        1 / 3,
        5e-324,
        1.7976931348623157e308,
        2.5e-7,
    ]
    numbers += [struct.unpack("<d", drawn.randbytes(8))[0] for _ in range(300)]
    numbers = [number for number in numbers if math.isfinite(number)]
    for number in numbers[:60]:
        calculator.open("a + 0", a=number)
        step = json.loads(calculator.trace())["words"]["forward"][0]
        assert step == f"a = {number!r}"
    assert engine.ENGINE


@pytest.mark.parametrize(("typed", "number"), [("0,2", "0.2"), ("1/4", "0.25"), ("+3", "3.0")])
def test_an_input_is_typed_as_people_write_numbers(show: Show, typed: str, number: str) -> None:
    page = show("a * a", values={"a": 2.0})
    page.page.fill("[data-leaf='0']", typed)
    page.page.press("[data-leaf='0']", "Enter")
    assert page.page.input_value("[data-leaf='0']") == number
    page.page.fill("[data-leaf='0']", "1e999")
    page.page.press("[data-leaf='0']", "Enter")
    assert page.page.input_value("[data-leaf='0']") == number
    assert "“1e999” is not a number" in page.text(".problem")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("math.exp(a)", "Write exp without math and the dot: exp(…)."),
        ("2a", "An operator is missing between 2 and a; multiplication is written *."),
    ],
)
def test_a_typed_program_that_cannot_be_read_is_told_how_to_write_it(show: Show, typed: str, says: str) -> None:
    page = show("a * a", "#program=" + typed, values={"a": 2.0})
    assert says in page.text(".problem")


def test_on_paper_all_of_the_graph_is_shown(show: Show) -> None:
    page = show("(a*b + c) * (a + b)", values={"a": 2.0, "b": -3.0, "c": 10.0})
    graph = page.page.locator("svg.graph")
    page.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    left, top, width, height = map(float, graph.get_attribute("viewBox").split())
    assert (left, top) == (0, 0)
    assert min(width, height) > 100
    page.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert graph.get_attribute("viewBox") is None
