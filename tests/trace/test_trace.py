"""The trace: every step is true to the last bit, and its JSON is what the schema says."""

from __future__ import annotations

import contextlib
import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.expressions import EXAMPLES
from support.parts import require

from retrograd import engine, errors
from retrograd.engine import Value
from retrograd.engine.source_lines import location_of, record_sources
from retrograd.ops import OPS
from retrograd.trace import Trace, TraceError
from retrograd.trace.expression import parse
from retrograd.trace.schema import schema, validate


def trace_of(text: str, **values: float) -> Trace:
    evaluation = parse(text).evaluate(values)
    return Trace.of(evaluation.root, evaluation.leaves, title=text, written=evaluation.written)


@pytest.fixture(scope="module", params=EXAMPLES, ids=[text for text, _ in EXAMPLES])
def trace(request: pytest.FixtureRequest) -> Trace:
    text, values = request.param
    return trace_of(text, **values)


def same_bits(x: float, y: float) -> bool:
    return struct.pack("<d", x) == struct.pack("<d", y)


# --- the steps ------------------------------------------------------------------------------------

_SENTENCE = re.compile(r"(?P<target>\S+)\.grad \+= (?P<formula>.+) \* (?P<node>\S+)\.grad = (?P<numbers>.+)")


def test_every_line_of_the_backward_pass_is_true_arithmetic(trace: Trace) -> None:
    for step in trace.backward:
        for item in step.additions:
            match = _SENTENCE.fullmatch(item.text)
            assert match is not None, item.text
            product, contribution = match["numbers"].rsplit(" = ", 1)
            local, upstream = (float(factor) for factor in product.split(" * "))
            assert same_bits(local * upstream, float(contribution))
            assert same_bits(float(contribution), item.contribution)
            assert same_bits(item.before + item.contribution, item.after)
            edge = trace.edges[item.edge]
            assert edge.local is not None
            assert same_bits(edge.local, local)
            assert match["target"] == trace.nodes[item.target].name
            assert match["node"] == trace.nodes[edge.result].name
            assert match["formula"] == edge.formula


def test_the_symbols_give_the_local_derivative(trace: Trace) -> None:
    """``b.data`` really is the local derivative: the formula, computed from the nodes' data, gives the number."""
    rows: dict[str, Any] = {row.name: _on_floats(row.name) for row in OPS}
    names = {node.name: node for node in trace.nodes if node.kind != "constant"}
    for edge in trace.edges:
        if edge.local is not None and not edge.zero:
            shown = eval(edge.formula, {**rows, "pi": math.pi, **names})
            assert shown == pytest.approx(edge.local, rel=1e-12, abs=1e-300), edge


def _on_floats(name: str) -> Callable[..., float]:
    return lambda *numbers: engine.evaluate(name, *numbers)


def test_every_line_of_the_forward_pass_is_true_arithmetic(trace: Trace) -> None:
    inputs, *operations = trace.forward
    assert inputs.kind == "inputs"
    assert [trace.nodes[step.nodes[0]] for step in operations] == trace.operations
    for step in operations:
        name, *_, result = step.text.split(" = ")
        node = trace.node(name)
        assert same_bits(float(result), node.data)
        assert step.text.startswith(f"{name} = {node.formula} = ")


def test_the_gradients_are_those_of_the_engine(trace: Trace) -> None:
    text, values = next((text, values) for text, values in EXAMPLES if text == trace.title)
    evaluation = parse(text).evaluate(values)
    evaluation.root.backward()
    for name, leaf in evaluation.leaves.items():
        assert same_bits(trace.node(name).grad or 0.0, leaf.grad)
    for node in evaluation.steps:
        assert same_bits(trace.node(node.label).grad or 0.0, node.grad)


def test_the_steps_follow_the_order_of_the_pass(trace: Trace) -> None:
    seed, *visits = trace.backward
    assert (seed.kind, seed.nodes) == ("seed", (trace.root,))
    assert [step.nodes[0] for step in visits] == [node.id for node in reversed(trace.operations)]
    assert seed.text == f"{trace.nodes[trace.root].name}.grad = 1.0"


def test_every_operand_occurrence_is_an_edge(trace: Trace) -> None:
    for number, edges in trace.operands().items():
        assert [edge.slot for edge in edges] == list(range(len(edges)))
        assert all(edge.result == number and edge.operand < number for edge in edges)


def test_the_example_of_the_article() -> None:
    trace = trace_of("a*b + c", a=2.0, b=-3.0, c=10.0)
    assert [step.text for step in trace.forward] == [
        "a = 2.0, b = -3.0, c = 10.0",
        "d = a * b = 2.0 * -3.0 = -6.0",
        "L = d + c = -6.0 + 10.0 = 4.0",
    ]
    assert [item.text for step in trace.backward for item in step.additions] == [
        "d.grad += 1.0 * L.grad = 1.0 * 1.0 = 1.0",
        "c.grad += 1.0 * L.grad = 1.0 * 1.0 = 1.0",
        "a.grad += b.data * d.grad = -3.0 * 1.0 = -3.0",
        "b.grad += a.data * d.grad = 2.0 * 1.0 = 2.0",
    ]


def test_the_complex_example() -> None:
    trace = trace_of("(a*b + c) * (a + b)", a=2.0, b=-3.0, c=10.0)
    assert [node.grad for node in trace.leaves] == [7.0, 2.0, -1.0]
    texts = [item.text for item in trace.ledger()[trace.node("a").id]]
    assert texts[-1] == "a.grad += b.data * d.grad = -3.0 * -1.0 = 3.0"
    assert trace.node("e").expression == "a*b + c"


def test_a_square_of_one_leaf_has_two_edges() -> None:
    trace = trace_of("a*a", a=3.0)
    assert [(edge.operand, edge.slot, edge.local, edge.formula) for edge in trace.edges] == [
        (0, 0, 3.0, "a.data"),
        (0, 1, 3.0, "a.data"),
    ]
    assert [item.after for item in trace.ledger()[0]] == [3.0, 6.0]


def test_the_diamond() -> None:
    trace = trace_of("(a + 1) * (a * 3)", a=2.0)
    assert trace.node("a").grad == 15.0
    assert [(node.name, node.kind, node.grad) for node in trace.nodes if node.kind == "constant"] == [
        ("1.0", "constant", None),
        ("3.0", "constant", None),
    ]
    assert all(trace.edges[item.edge].local is not None for step in trace.backward for item in step.additions)


def test_equal_constants_are_nodes_of_their_own() -> None:
    assert sum(node.kind == "constant" for node in trace_of("a*2 + b*2", a=1.0, b=1.0).nodes) == 2


def test_what_is_structurally_zero_gets_nothing() -> None:
    trace = trace_of("relu(a) * b", a=-1.0, b=2.0)
    closed = [edge for edge in trace.edges if edge.zero]
    assert [trace.nodes[edge.operand].name for edge in closed] == ["a"]
    assert trace.node("a").id not in trace.ledger()
    assert trace.backward[-1].text == "c = relu(a): nothing flows to a, because the local derivative there is zero."


def test_a_zero_gradient_is_not_passed_on() -> None:
    with engine.errstate(divide="ignore"):
        trace = trace_of("sqrt(a) * b", a=0.0, b=0.0)
    assert trace.backward[-1].text == "c = sqrt(a): c.grad is 0.0, so nothing flows on."
    assert trace.node("a").grad == 0.0


def test_infinities_and_nans_are_shown() -> None:
    with engine.errstate(divide="ignore", invalid="ignore"):
        trace = trace_of("log(a) * b + a/a", a=0.0, b=2.0)
    assert math.isnan(trace.nodes[trace.root].data)
    again = Trace.from_json(trace.to_json())
    assert again.to_json() == trace.to_json()
    assert '"NaN"' in trace.to_json()


# --- Values that users built ----------------------------------------------------------------------


def test_nobodys_gradient_is_touched() -> None:
    a, b = Value(2.0), Value(-3.0)
    d = a * b
    a.grad, b.grad, d.grad = 5.0, 6.0, 7.0
    assert Trace.of(d * a).node("a").grad == -12.0
    assert (a.grad, b.grad, d.grad) == (5.0, 6.0, 7.0)


def test_names_come_from_the_caller_then_labels_then_letters() -> None:
    a, b, c = Value(2.0), Value(-3.0, label="beta"), Value(10.0)
    root = (a * b + c) * a
    trace = Trace.of(root, {"weight": a})
    assert [node.name for node in trace.nodes] == ["weight", "beta", "a", "b", "c", "L"]


def test_labels_are_made_unique_and_fit_to_print() -> None:
    a, b, c = Value(1.0, label="x"), Value(2.0, label="x"), Value(3.0, label="two\nlines`" + "y" * 50)
    names = [node.name for node in Trace.of(a * b * c).leaves]
    assert names[:2] == ["x", "x_2"]
    assert "\n" not in names[2]
    assert "`" not in names[2]
    assert len(names[2]) <= 40


def test_a_named_leaf_is_shown_even_without_influence() -> None:
    a, b = Value(2.0), Value(3.0)
    assert Trace.of(a * a, {"a": a, "b": b}).node("b").grad == 0.0


def test_a_leaf_alone() -> None:
    trace = Trace.of(Value(4.0))
    assert [node.name for node in trace.nodes] == ["L"]
    assert trace.nodes[0].grad == 1.0
    assert Trace.from_json(trace.to_json()) == trace


def test_a_users_own_backward_is_measured() -> None:
    x = Value(0.5, label="x")
    out = Value(math.tanh(x.data), (x,), "tanh", label="o")

    def backward() -> None:
        x.grad += (1 - out.data**2) * out.grad

    out._backward = backward
    x.grad = out.grad = 3.0
    trace = Trace.of(out * 2)
    addition = trace.ledger()[trace.node("x").id][0]
    assert addition.text == f"x.grad += o._backward() = {addition.contribution!r}"
    assert addition.contribution == (1 - math.tanh(0.5) ** 2) * 2.0
    assert (x.grad, out.grad) == (3.0, 3.0)


def test_a_users_own_local_derivatives() -> None:
    x = Value(2.0, label="x")
    trace = Trace.of(Value(6.0, (x, x), (2.0, 1.0)) * x)
    assert trace.node("x").grad == 12.0
    assert [item.contribution for item in trace.ledger()[0]] == [6.0, 4.0, 2.0]


def test_what_backward_refuses_a_trace_refuses() -> None:
    a = Value(2.0, label="a")
    product = a * a
    a.data = 3.0
    with pytest.raises(errors.ChangedValueError, match="'a'"):
        Trace.of(product)
    with pytest.raises(errors.MissingDerivativeError):
        Trace.of(Value(1.0, (a,), "?"))


def test_steps_that_disagree_with_the_engine_make_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    real = engine.gradients
    monkeypatch.setattr(engine, "gradients", lambda root, seed, xs: [1.5 * g for g in real(root, seed, xs)])
    with pytest.raises(TraceError, match=r"a\.grad"):
        trace_of("a*b", a=2.0, b=3.0)


def test_source_lines() -> None:
    a = Value(2.0)
    before = a * a
    with record_sources():
        inside = before * a
        also = inside.tanh()
    after = also * a
    place = location_of(inside)
    assert place is not None
    assert place.file == __file__
    assert place.function == "test_source_lines"
    assert place.text == "inside = before * a"
    assert location_of(also) is not None
    assert location_of(before) is location_of(after) is location_of(a) is None
    node = Trace.of(after).operations[1]
    assert node.source == place


def test_a_large_graph_is_traced() -> None:
    value = total = Value(1.0)
    for _ in range(5_000):
        total = total * 0.999 + value
    trace = Trace.of(total)
    assert len(trace.operations) == 10_000
    assert len({node.name for node in trace.operations}) == 10_000


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("+-*/"), min_size=1, max_size=8), st.lists(st.floats(0.25, 4.0), min_size=9, max_size=9)
)
def test_any_arithmetic_is_traced(signs: list[str], numbers: list[float]) -> None:
    """Building one compares all of its sums with the engine's, bit for bit."""
    text = "a"
    for position, sign in enumerate(signs):
        text = f"({text}) {sign} {'abc'[position % 3]}"
    values = {name: numbers[index] for index, name in enumerate("abc") if name in text}
    trace = trace_of(text, **values)
    assert Trace.from_json(trace.to_json()) == trace


# --- JSON -----------------------------------------------------------------------------------------


def test_json_is_read_back_as_it_was(trace: Trace) -> None:
    for text in (trace.to_json(), trace.to_json(indent=2), trace.to_json().encode()):
        assert Trace.from_json(text) == trace
    assert trace.to_json().isascii()


def test_json_follows_the_published_schema(trace: Trace) -> None:
    jsonschema = require("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(trace.to_json()), schema())
    validate(json.loads(trace.to_json()))


def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(trace_of("a*b + 2", a=2.0, b=-3.0).to_json())
    return document


def _set(path: str, value: object) -> str:
    """The document with the part at ``path`` replaced, or removed for ``...``, as JSON."""
    document: Any = _document()
    part = document
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in way:
        part = part[key]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return json.dumps(document)


@pytest.mark.native  # about files
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[]", "an object is expected"),
        ("{", "not JSON"),
        (b"\xff\xfe\xff", "not UTF-8|not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"format": NaN}', "NaN stands bare"),
        ('{"format": 1, "format": 2}', "'format' stands twice"),
        (_set("format", "other"), "its format"),
        (_set("version", 1), "it has version 1, and this retrograd reads version 2"),
        (_set("version", True), "version: 2 is expected, and true or false came"),
        (_set("root", 99), "its root is 99, and there are 5 nodes"),
        (_set("root", 3), "its root is 3"),
        (_set("root", -1), "root: a whole number, 0 or more is expected, and -1 came"),
        (_set("nodes", []), "nodes: an object is expected, and a list of 0 items came"),
        (_set("nodes.kind.0", "leaf"), r"nodes.kind\[0\]: a number or one of NaN, .* is expected, and 'leaf' came"),
        (_set("nodes.kind.0", 77), r"nodes.kind\[0\]: a whole number below 4 is expected, and 77 came"),
        (_set("nodes.kind.0", 1.5), r"nodes.kind\[0\]: a whole number below 4"),
        (_set("nodes.kind.0", 1), "names: 3 are needed, and 4 came|grads: 3 numbers"),
        (_set("nodes.kind", {"type": "u8", "count": 5, "data": "*"}), "nodes.kind: "),
        (_set("nodes.kind", {"type": "u8", "count": 5, "data": "AAAA"}), "it has 3 numbers, and says 5"),
        (_set("nodes.data.0", "2"), r"nodes.data\[0\]: a number or one of NaN"),
        (_set("nodes.data.0", None), "and null came"),
        (_set("nodes.data", [1.0]), "nodes.data: 5 numbers are needed, and 1 came"),
        (_set("nodes.arity.0", 1), "operands: 5 numbers are needed, and 4 came"),
        (_set("nodes.place.2", 1), r"nodes.place\[2\]: a whole number below 1"),
        (_set("grads.0", 5.0), "grads: that of node 0, 'a', is 5.0; the steps give -3.0"),
        (_set("extra", 1), "'extra' is not part of the format"),
        (_set("kinds.2.stored", ...), r"kinds\[2\]: 'stored' is missing"),
        (_set("kinds.2.row", "exp"), "node 2: exp does not take 2 operands"),
        (_set("kinds.2.output", 5), "node 2: mul has no output 5 of 2 operands"),
        (_set("kinds.2", {"op": "?", "row": "?", "output": 0, "stored": False}), "locals: 2 numbers are needed"),
        (_set("names.0", ...), "names: 4 are needed, and 3 came"),
        (_set("operands.0", 2), "node 2: an operand comes before its result"),
        (_set("operands.0", 5), r"operands\[0\]: a whole number below 5"),
        (_set("zeros", [0.0]), r"zeros\[0\]: a whole number, 0 or more is expected, and 0.0 came"),
        (_set("zeros", [4]), r"zeros\[0\]: a whole number below 4"),
        (_set("measured", [{"node": 0, "contributions": []}]), r"measured\[0\]: 0 is not an operation"),
        (_set("measured", [{"node": 2, "contributions": [1.0]}]), r"measured\[0\]: 2 numbers are needed, and 1 came"),
        (_set("written", [[77, "a"]]), r"written\[0\]: a whole number below 5"),
        (_set("written", [["a"]]), r"written\[0\]: a list of 2 items is expected, and a list of 1 items came"),
        (_set("groups", []), "a list of at least 1 items"),
    ],
)
def test_what_is_not_a_trace_is_refused_with_a_sentence(text: str | bytes, says: str) -> None:
    with pytest.raises(errors.DataError, match=says):
        Trace.from_json(text)


THINGS = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 300) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from(["type", "count", "data"]), inside),
    max_leaves=6,
)


@pytest.mark.native  # about files
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_validator_decides_as_the_library_does(data: st.DataObject) -> None:
    """Of a document with one part replaced, wherever that is."""
    jsonschema = require("jsonschema")
    document: Any = _document()
    part = document
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(part[key], (dict, list)) or not part[key] or data.draw(st.integers(0, 3)) == 0:
            break
        part = part[key]
    part[key] = data.draw(THINGS)
    theirs = jsonschema.Draft202012Validator(schema()).is_valid(_with_strict_integers(document))
    try:
        validate(document)
    except errors.DataError:
        assert not theirs
    else:
        assert theirs


def _with_strict_integers(thing: Any) -> Any:
    """The library takes 1.0 for a whole number, and we do not: as 1.5, it is none for both."""
    if isinstance(thing, float) and thing.is_integer():
        return thing + 0.5 if abs(thing) < 2**50 else 0.5
    if isinstance(thing, list):
        return [_with_strict_integers(item) for item in thing]
    return {key: _with_strict_integers(item) for key, item in thing.items()} if isinstance(thing, dict) else thing


@pytest.mark.native  # about files
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_damage_to_the_json_ends_in_another_error(data: st.DataObject) -> None:
    text = trace_of("a*b + 2", a=2.0, b=-3.0).to_json()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    damaged = text[:start] + data.draw(st.text('{}[]",:0123456789.eE-truefalsnN', max_size=8)) + text[end:]
    with contextlib.suppress(errors.DataError):
        Trace.from_json(damaged)
