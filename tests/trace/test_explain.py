"""``explain``: what it says, at every width, of expressions, functions and Values."""

from __future__ import annotations

import io
import json
import math
import random
from typing import Any

import pytest
from rich.console import Console
from support.parts import require

import retrograd as rg
from retrograd import errors, nn
from retrograd.autodiff.check import GradientCheck
from retrograd.engine import Value
from retrograd.ops import OPS
from retrograd.trace.explain import Explanation, ascii_text, explain
from retrograd.trace.render import CARDS, card_of, influence_words, ranked_leaves
from retrograd.trace.schema import schema

COMPLEX = {"a": 2.0, "b": -3.0, "c": 10.0}


@pytest.fixture(scope="module")
def complex_example() -> Explanation:
    return explain("(a*b + c) * (a + b)", **COMPLEX)


def test_it_is_a_public_name() -> None:
    assert rg.explain is explain


@pytest.mark.parametrize(
    "line",
    [
        "L = (a*b + c) * (a + b) = -4.0",
        "  2  d = a * b = 2.0 * -3.0 = -6.0",
        "  1  L.grad = 1.0  (the seed: dL/dL is 1)",
        "  2  L = e * f  (the swapper)",
        "  3  f = a + b  (the distributor)",
        "       a.grad += b.data * d.grad = -3.0 * -1.0 = 3.0",
        "         now a.grad = 4.0 + 3.0 = 7.0",
        "     d = a * b = -6           d.grad = -1:  a += 3, b += -2",
        "  a  +7                  │████████████████",
        "     Strongest influence, positive: increase a and L rises.",
        "  c  -1               ███│",
        "     Weakest influence, negative: increase c and L drops.",
        "  L.grad is always 1: the effect of L on itself.",
        "    b.grad = 4.0 + -2.0 = 2.0",
        "  All 3 gradients agree.",
    ],
)
def test_the_text_of_the_complex_example(complex_example: Explanation, line: str) -> None:
    assert line in complex_example.to_text(width=80).split("\n")


def test_the_words_of_the_article() -> None:
    trace = explain("a*b + c", **COMPLEX).trace
    assert [node.name for node in ranked_leaves(trace)] == ["a", "b", "c"]
    assert influence_words(trace, ranked_leaves(trace)) == [
        "Strongest influence, negative: increase a and L drops.",
        "Moderate influence, positive: increase b and L rises.",
        "Weakest influence, positive: increase c and L rises.",
    ]


def test_words_for_none_equal_and_not_a_number() -> None:
    trace = explain("a + b + relu(c)", a=1, b=1, c=-1).trace
    assert influence_words(trace, ranked_leaves(trace)) == [
        "Equal influence, positive: increase a and L rises.",
        "Equal influence, positive: increase b and L rises.",
        "No influence: L does not change with c here.",
    ]
    with rg.errstate(divide="ignore", invalid="ignore"):
        text = explain("a/a", a=0).to_text(check=False)
    assert "Not a number: no direction can be given for a." in text


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("(a*b + c) * (a + b)", COMPLEX),
        ("tanh(x1*w1 + x2*w2 + b)", {"x1": 2.0, "x2": 0.0, "w1": -3.0, "w2": 1.0, "b": 6.8813735870195432}),
        ("gelu(first_long_name) / second_long_name", {"first_long_name": 0.3, "second_long_name": 1e-30}),
    ],
)
def test_no_line_is_wider_than_the_page_and_nothing_is_lost(width: int, text: str, values: dict[str, float]) -> None:
    explanation = explain(text, **values)
    lines = explanation.to_text(width=width).split("\n")
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    joined = " ".join(" ".join(lines).split())
    for step in explanation.trace.backward:
        for item in step.additions:
            assert item.text in joined


def test_the_same_text_in_ascii(complex_example: Explanation, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ascii_text(complex_example.to_text())
    assert text.isascii()
    assert "  a  +7                  |################" in text.split("\n")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert str(complex_example).isascii()


def test_colour_in_a_terminal_comes_with_the_sign(complex_example: Explanation) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=80, legacy_windows=False)
    console.print(complex_example)
    out = console.file.getvalue()  # type: ignore[attr-defined]
    assert "38;2;0;114;178m+7" in out
    assert "38;2;213;94;0m-1" in out


def test_repr_is_the_text_and_notebooks_get_markdown(complex_example: Explanation) -> None:
    assert repr(complex_example) == str(complex_example)
    assert complex_example._repr_markdown_() == complex_example.to_markdown()


def test_markdown(complex_example: Explanation) -> None:
    text = complex_example.to_markdown()
    for line in (
        "## `L = (a*b + c) * (a + b)`",
        "2. `d = a * b = 2.0 * -3.0 = -6.0`",
        "    * `a.grad += b.data * d.grad = -3.0 * -1.0 = 3.0` where $\\frac{\\partial d}{\\partial a} = b$",
        "| `d = a * b = -6` | `d.grad = -1: a += 3, b += -2` |",
        "| `c` | `-1` | Weakest influence, negative: increase c and L drops. |",
        "All 3 gradients agree.",
    ):
        assert line in text.split("\n")


def test_markdown_leaves_no_label_unescaped() -> None:
    a, b = Value(2.0, label="<b>|*x*"), Value(3.0, label="`rm`$")
    text = explain(a * b).to_markdown()
    assert "<b>" not in "".join(text.split("`")[::2])
    assert "| `<b>\\|*x*` |" in text


def test_the_rules_have_their_cards() -> None:
    trace = explain("relu(-a) * tanh(b) - exp(c) + where(a > b, a, b)", a=-1, b=0.5, c=0).trace
    assert {card_of(node) for node in trace.operations} == set(CARDS)
    assert {row.card for row in OPS if row.card} == set(CARDS)


def test_subtraction_is_told_as_an_addition_with_a_sign() -> None:
    assert "a - b is a + (-1) * b" in " ".join(str(explain("a - b", a=1.0, b=2.0)).split())


# --- Values and functions -------------------------------------------------------------------------


def test_a_value_that_was_built_before() -> None:
    a, b, c = Value(2.0, label="a"), Value(-3.0, label="b"), Value(10.0, label="c")
    explanation = explain((a * b + c) * (a + b))
    assert [node.grad for node in explanation.trace.leaves] == [7.0, 2.0, -1.0]
    check = explanation.checked(("differences", "reference"))
    assert check is not None
    assert check.ok
    assert [row.name for row in check.rows] == ["a", "b", "c"]


def test_a_value_with_names_for_its_leaves() -> None:
    a, b = Value(2.0), Value(-3.0)
    assert explain(a * b, w=a, x=b).trace.forward[1].text == "L = w * x = 2.0 * -3.0 = -6.0"
    with pytest.raises(TypeError, match="names a Value"):
        explain(a * b, w=2.0)


def test_a_neuron_as_a_micrograd_notebook_writes_it() -> None:
    x, w = Value(2.0, label="x"), Value(-0.5, label="w")
    n = x * w
    out = Value(math.tanh(n.data), (n,), "tanh", label="o")

    def backward() -> None:
        n.grad += (1 - out.data**2) * out.grad

    out._backward = backward
    text = explain(out).to_text()
    assert "o = tanh(n) = tanh(-1.0) = -0.7615941559557649" in text
    assert "n.grad += o._backward() = 0.41997434161402614" in text
    assert "Not made: 'o' has a _backward function of its own." in text


def test_a_function() -> None:
    def loss(w: Value, xs: list[Value], scale: float = 2.0) -> Value:
        hidden = w * xs[0]
        return (hidden + xs[1]) * scale

    explanation = explain(loss, w=3.0, xs=[1.0, 2.0])
    trace = explanation.trace
    assert trace.title.endswith("loss(w, xs)")
    assert [node.name for node in trace.leaves] == ["w", "xs[0]", "xs[1]"]
    assert [node.grad for node in trace.leaves] == [2.0, 6.0, 2.0]
    source = trace.operations[0].source
    assert source is not None
    assert source.text == "hidden = w * xs[0]"
    assert "in loss: hidden = w * xs[0]" in explanation.to_text(width=400)
    check = explanation.checked(("differences", "reference"))
    assert check is not None
    assert check.ok


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"a": 1.0}, r"needs a value for b: give it, for example b=1\."),
        ({"a": 1.0, "b": 2.0, "z": 3.0}, "has no parameter 'z'"),
        ({"a": "text", "b": 2.0}, "expected a Value, a real number"),
    ],
)
def test_a_function_called_wrongly(values: dict[str, Any], says: str) -> None:
    def f(a: Value, b: Value) -> Value:
        return a * b

    with pytest.raises(TypeError, match=says):
        explain(f, **values)


def test_a_function_that_returns_no_value() -> None:
    with pytest.raises(TypeError, match="a plain number: its result must be a Value"):
        explain(lambda a: 3.0, a=1.0)
    with pytest.raises(TypeError, match="single Value"):
        explain(lambda a: [a, a], a=1.0)


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match=r"explain\(\) takes an expression, a Value or a function, not"):
        explain(3.0)  # type: ignore[arg-type]
    with pytest.raises(errors.ExpressionError):
        explain("a +", a=1)


# --- the check ------------------------------------------------------------------------------------


def test_the_check_is_made_once() -> None:
    explanation = explain("a * b", a=2.0, b=3.0)
    check = explanation.checked(("differences", "reference"))
    assert isinstance(check, GradientCheck)
    assert explanation.check is check


def test_the_check_with_pytorch() -> None:
    require("torch")
    check = explain("(a*b + c) * (a + b)", **COMPLEX).checked(("torch",))
    assert check is not None
    assert [row.ulp("torch") for row in check.rows] == [0, 0, 0]


def test_a_check_that_fails_is_told() -> None:
    def random_function(a: Value) -> Value:
        return a * random.random()

    explanation = explain(random_function, a=1.0)
    told = " ".join(explanation.to_text().split())
    assert "could not be compared with its graph" in told or "must not be trusted" in told
    with pytest.raises(ValueError, match="a random function has no gradient to check"):
        _ = explanation.check


def test_json_with_the_check_follows_the_schema() -> None:
    jsonschema = require("jsonschema")
    explanation = explain("abs(a) * b", a=0.0, b=2.0)
    explanation.checked(("differences", "reference"))
    document = json.loads(explanation.to_json(check=True))
    jsonschema.validate(document, schema())
    assert [row["verdict"] for row in document["check"]["rows"]] == ["at a kink", "agrees"]
    assert "check" not in json.loads(explanation.to_json())


# --- large graphs ---------------------------------------------------------------------------------


def test_a_large_graph_is_shortened_with_a_sentence() -> None:
    random.seed(1)
    model = nn.MLP(2, [16, 1])
    explanation = explain(model([Value(1.0), Value(-2.0)]))
    text = explanation.to_text(width=100)
    steps = len(explanation.trace.backward)
    assert f"... {steps - 40} steps left out; --all or to_text(limit=None) shows them ..." in " ".join(text.split())
    everything = explanation.to_text(width=100, limit=None, check=False)
    assert "left out" not in everything
    assert everything.count(".grad += ") == sum(len(step.additions) for step in explanation.trace.backward)
    assert "left out" in explanation.to_markdown()
    assert "left out" not in explanation.to_markdown(limit=None)


def test_many_inputs_without_influence_are_one_sentence() -> None:
    explanation = explain("a + relu(b + c + d + e + f)", a=1, b=-1, c=-1, d=-1, e=-1, f=-1)
    assert "  5 inputs have no influence: L does not change with them here." in explanation.to_text().split("\n")
    assert "5 inputs have no influence" in explanation.to_markdown()
    assert "No influence: L does not change with f here." in explanation.to_text(limit=None)


def test_a_sum_of_thousands_is_shortened() -> None:
    explanation = explain("sum([" + "a, " * 5_000 + "a])", a=1.0)
    assert len(explanation.to_text(check=False)) < 5_000
    assert "and 4,989 more +=" in explanation.to_text(check=False)


def test_a_logsumexp_shows_each_operands_share() -> None:
    texts = [item.text for step in explain("logsumexp([a,b])", a=1, b=2).trace.backward for item in step.additions]
    assert texts == [
        "a.grad += exp(a.data - L.data) * L.grad = 0.2689414213699951 * 1.0 = 0.2689414213699951",
        "b.grad += exp(b.data - L.data) * L.grad = 0.7310585786300049 * 1.0 = 0.7310585786300049",
    ]


@pytest.mark.parametrize("number", [1e10, 1e308])
def test_a_logsumexp_of_large_numbers_shows_no_formula_that_its_numbers_contradict(number: float) -> None:
    explanation = explain("logsumexp([a,b])", a=number, b=number)
    additions = explanation.trace.backward[1].additions
    assert [item.text for item in additions] == [f"{name}.grad += 0.5 * L.grad = 0.5 * 1.0 = 0.5" for name in "ab"]
    assert r"$\frac{\partial L}{\partial a} = 0.5$" in explanation.to_markdown(check=False)
