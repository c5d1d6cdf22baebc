"""The packed trace says what the trace says, small enough and soon enough, and folds a large graph by its program."""

from __future__ import annotations

import json
import linecache
import math
import random
import struct
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from support.expressions import EXAMPLES
from support.pack_reader import Unpacked, unpack
from support.parts import require

from retrograd import nn
from retrograd.engine import Value
from retrograd.engine.source_lines import record_sources
from retrograd.math import exp
from retrograd.trace import Trace
from retrograd.trace.callgraph import Calls, record_calls
from retrograd.trace.codec import pack
from retrograd.trace.expression import parse
from retrograd.trace.groups import MOST
from retrograd.trace.schema import schema, validate
from retrograd.training.data import Vocabulary, load_documents

pytestmark = pytest.mark.native  # the form of a trace is the same, whichever engine made it


def bits(number: float | None) -> bytes:
    return b"" if number is None else b"nan" if number != number else struct.pack("<d", number)


def assert_same(document: dict[str, Any], trace: Trace) -> Unpacked:
    """Node by node, edge by edge and += by +=, to the last bit."""
    assert repr(Trace.from_json(json.dumps(document))) == repr(trace), "NaN is NaN here"
    read = unpack(document)
    assert read.document["title"] == trace.title
    assert read.document["root"] == trace.root
    assert read.name == [node.name for node in trace.nodes]
    assert read.kind == [node.kind for node in trace.nodes]
    assert read.op == [node.op for node in trace.nodes]
    assert read.row == [node.row for node in trace.nodes]
    assert list(map(bits, read.data)) == [bits(node.data) for node in trace.nodes]
    assert list(map(bits, read.grad)) == [bits(node.grad) for node in trace.nodes]
    sources = [node.source and (node.source.file, node.source.line, node.source.function) for node in trace.nodes]
    assert read.source == sources
    edges = [(e.operand, e.result, e.slot, bits(e.local), e.zero) for e in trace.edges]
    assert [(a, b, slot, bits(local), zero) for a, b, slot, local, zero in read.edges] == edges
    steps = [item for step in trace.backward for item in step.additions]
    additions = [(i.edge, i.target, bits(i.before), bits(i.contribution), bits(i.after)) for i in steps]
    assert [(e, t, bits(x), bits(y), bits(z)) for e, t, x, y, z in read.additions()] == additions
    return read


@pytest.mark.parametrize(("text", "values"), EXAMPLES, ids=[text for text, _ in EXAMPLES])
def test_an_expression_is_the_same_in_both_forms(text: str, values: dict[str, float]) -> None:
    evaluation = parse(text).evaluate(values)
    trace = Trace.of(evaluation.root, evaluation.leaves, title=text, written=evaluation.written)
    document = pack(evaluation.root, evaluation.leaves, title=text, written=evaluation.written)
    read = assert_same(document, trace)
    written = {node.id: node.expression for node in trace.nodes if node.kind != "leaf" and node.expression}
    assert dict(map(tuple, read.document["written"])) == written


def closure(a: Value, b: Value) -> Value:
    out = Value(a.data * b.data, (a, b), "mine")

    def backward() -> None:
        a.grad += b.data * out.grad
        b.grad += a.data * out.grad

    out._backward = backward
    return out


GRAPHS: dict[str, Callable[[Value, Value], Value]] = {
    "a leaf": lambda a, b: a,
    "a node with slopes of its own": lambda a, b: Value(7.0, children=(a, b), local_grads=(0.5, math.inf)) * a,
    "a closure": lambda a, b: closure(a, b) * 3.0 + closure(a, a),
    "a closure that gets no gradient": lambda a, b: closure(a, b) * 0.0 + a,
    "not a number": lambda a, b: (a * math.nan + b) * math.inf,
    "a closed gate": lambda a, b: (a * b).relu() * exp(a),
    "an infinite local derivative": lambda a, b: (a - a).sqrt() * 0.0 + (b * 0.0 - b * 0.0).abs(),
    "a very deep graph": lambda a, b: sum([a * b] * 3000, a),
}


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_a_value_is_the_same_in_both_forms(make: Callable[[Value, Value], Value]) -> None:
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    with record_sources():
        root = make(a, b)
    assert_same(pack(root, {"a": a}, title="t"), Trace.of(root, {"a": a}, title="t"))


# --- a large graph --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gpt() -> tuple[Value, Calls, nn.GPT]:
    random.seed(42)
    vocabulary = Vocabulary("".join(load_documents(None)))
    model = nn.GPT(len(vocabulary), 16)
    with record_calls() as calls:
        loss = model.loss([vocabulary.bos, *vocabulary.encode("emma"), vocabulary.bos])
    return loss, calls, model


def test_the_gpt_is_small_enough(gpt: tuple[Value, Calls, nn.GPT]) -> None:
    loss, calls, _ = gpt
    document = pack(loss, title="emma", calls=calls)
    assert len(unpack(document).data) > 40_000
    assert len(json.dumps(document)) < 2_500_000


def test_the_gpts_gradients_follow_from_the_pack(gpt: tuple[Value, Calls, nn.GPT]) -> None:
    loss, calls, model = gpt
    read = unpack(pack(loss, calls=calls))
    model.zero_grad()
    loss.backward()
    own = {name: value.grad for name, value in calls.names().items()}
    last = {target: after for _, target, _, _, after in read.additions()}
    leaves = [node for node, kind in enumerate(read.kind) if kind == "leaf"]
    assert len(leaves) > 3000
    for node in leaves:
        assert bits(last.get(node, 0.0)) == bits(read.grad[node]) == bits(own[read.name[node]])


def children(groups: list[dict[str, Any]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        found.setdefault(group["parent"], []).append(number)
    return found


def trail(groups: list[dict[str, Any]], number: int) -> Iterator[str]:
    while number != -1:
        yield groups[number]["label"]
        number = groups[number]["parent"]


def test_the_gpt_folds_by_token_layer_module_and_row(gpt: tuple[Value, Calls, nn.GPT]) -> None:
    loss, calls, model = gpt
    read = unpack(pack(loss, title="emma", calls=calls))
    groups = read.document["groups"]
    weight = model.layers[0].attn_wq.weight[3][0]
    leaf = read.name.index("layers[0].attn_wq.weight[3][0]")
    assert bits(read.data[leaf]) == bits(weight.data)
    assert list(trail(groups, read.group[leaf])) == ["[3]", "attn_wq.weight", "layers[0]", "inputs", "emma"]
    users = [node for node, operands in read.operands.items() if leaf in operands]
    assert len(users) == 5, "once a token"
    for position, user in enumerate(users):
        assert groups[read.group[user]]["path"] == "layers[0].attn_wq[3]"
        token, loss_call, whole = list(trail(groups, read.group[user]))[-3:]
        assert token.startswith("GPT(token=")
        assert token.endswith(f"position={position})")
        assert (loss_call, whole) == ("GPT.loss", "emma")
    attention = next(number for number, group in enumerate(groups) if group["label"] == "attention")
    heads = [number for number in children(groups)[attention] if groups[number]["kind"] == "unit"]
    assert [groups[number]["label"] for number in heads] == ["[0]", "[1]", "[2]", "[3]"]


def assert_sound(read: Unpacked) -> None:
    """Every node has a group, parents come first, labels tell siblings apart, and nothing is crowded."""
    groups = read.document["groups"]
    inside = children(groups)
    assert inside[-1] == [0]
    counts = [len(inside.get(number, [])) for number in range(len(groups))]
    for number in read.group:
        counts[number] += 1
    assert all(0 < count <= MOST for count in counts)
    for number, group in enumerate(groups[1:], 1):
        assert 0 <= group["parent"] < number
    assert_no_circles(read)
    for numbers in inside.values():
        labels = [groups[number]["label"] for number in numbers]
        assert len(set(labels)) == len(labels)


def assert_no_circles(read: Unpacked) -> None:
    """Folded side by side, the children of a group depend on each other in one direction only."""
    groups = read.document["groups"]
    paths = [list(trail_numbers(groups, number)) for number in range(len(groups))]
    uses: dict[int, dict[Any, set[Any]]] = {}
    for node, operands in read.operands.items():
        for operand in operands:
            one, other = [*paths[read.group[operand]], ("node", operand)], [*paths[read.group[node]], ("node", node)]
            depth = next(depth for depth, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
            uses.setdefault(one[depth - 1], {}).setdefault(other[depth], set()).add(one[depth])
    for graph in uses.values():
        list(TopologicalSorter(graph).static_order())


def trail_numbers(groups: list[dict[str, Any]], number: int) -> list[Any]:
    return [] if number == -1 else [*trail_numbers(groups, groups[number]["parent"]), number]


@pytest.mark.long
def test_every_folding_is_sound(gpt: tuple[Value, Calls, nn.GPT]) -> None:
    loss, calls, _ = gpt
    assert_sound(unpack(pack(loss, calls=calls)))
    assert_sound(unpack(pack(loss)))
    a = Value(2.0)
    assert_sound(unpack(pack(a)))
    assert_sound(unpack(pack(sum([a * i for i in range(10_000)], a))))


def test_without_calls_neurons_and_layers_are_found_by_what_is_used_once() -> None:
    random.seed(1)
    model = nn.MLP(3, [8, 8, 1])
    loss = (model([0.5, -1.0, 2.0]) - 1.0) ** 2
    read = unpack(pack(loss))
    assert_sound(read)
    groups = read.document["groups"]
    layers = [number for number, group in enumerate(groups) if group["kind"] == "part" and group["parent"] == 0]
    neurons = [[groups[inner] for inner in children(groups)[layer]] for layer in layers]
    assert [len(row) for row in neurons] == [8, 8]
    assert all(neuron["kind"] == "unit" and neuron["label"].endswith(": ReLU") for row in neurons for neuron in row)
    sizes = [read.group.count(groups.index(neuron)) for row in neurons for neuron in row]
    assert sizes == [3 * 3 + 1] * 8 + [2 * 8 + 1] * 8, "products with their constants, sums, and the ReLU"


def test_a_unit_has_the_calls_in_its_middle_and_generators_make_no_circles() -> None:
    def half(value: Value) -> Value:
        return value * 0.5

    def squared(values: list[Value]) -> list[Value]:
        return [half(square := value * value) + square for value in values]

    def crossed(values: list[Value]) -> list[Value]:
        once = squared(values)
        return [half(a + b) * (a * b) for a, b in zip(once, reversed(once), strict=True)]

    def lazily(values: list[Value]) -> Iterator[Value]:
        for value in values:
            yield value * 3.0
            yield value * value + value

    with record_calls() as calls:
        xs = [Value(float(i)) for i in range(4)]
        lazy = lazily(xs)
        root = sum(crossed([next(lazy) * half(next(lazy)) for _ in xs]), Value(0.0))
    read = unpack(pack(root, calls=calls))
    assert_sound(read)
    labels = [group["label"] for group in read.document["groups"]]
    assert {"crossed", "half", "lazily", "[0]"} <= set(labels)
    halves = [group for group in read.document["groups"] if group["label"] == "half"]
    assert "unit" in [read.document["groups"][group["parent"]]["kind"] for group in halves]


# --- the calls ------------------------------------------------------------------------------------


def linear(x: list[Value], rows: list[list[Value]]) -> list[Value]:
    return [sum((w * xi for w, xi in zip(row, x, strict=True)), Value(0.0)) for row in rows]


STATE = {"layer0.w": [[Value(0.1 * (i + j)) for j in range(3)] for i in range(4)]}


def plain(token: int, x: list[Value]) -> Value:
    twice = [linear(x, STATE["layer0.w"]) for _ in range(2)]
    return sum((y * y for y in twice[0] + twice[1]), Value(0.0)) * token


def test_a_program_without_modules_folds_by_its_functions() -> None:
    x = [Value(1.0), Value(2.0), Value(3.0)]
    with record_calls() as calls:
        root = plain(5, x)
    labels = [call.label for call in calls.calls]
    assert labels == ["", "plain(token=5)", "linear", "linear"]
    assert [call.parent for call in calls.calls] == [None, 0, 1, 1]
    assert calls.calls[2].place is not None
    assert calls.calls[2].place.function == "plain"
    assert calls.names()["STATE.layer0.w[2][1]"] is STATE["layer0.w"][2][1]
    read = unpack(pack(root, calls=calls))
    assert "STATE.layer0.w[2][1]" in read.name
    assert [g["label"] for g in read.document["groups"] if g["kind"] == "unit"] == ["[0]", "[1]", "[2]", "[3]"] * 2


def test_a_call_that_raises_or_recurses_leaves_no_trace_in_the_next() -> None:
    def deep(level: int, value: Value) -> Value:
        return value * 2.0 if level == 0 else deep(level - 1, value) + 1.0

    def fails(value: Value) -> Value:
        value = value * 2.0
        raise KeyError(value)

    with record_calls() as calls:
        with pytest.raises(KeyError):
            fails(Value(1.0))
        deep(2, Value(1.0))
        last = Value(1.0) * 2.0
    labels = [(call.label, call.parent) for call in calls.calls[1:]]
    assert labels == [("fails", 0), ("deep(level=2)", 0), ("deep(level=1)", 2), ("deep(level=0)", 3)]
    assert calls.of[last] == 0


def test_an_observer_that_was_set_before_still_sees_every_node() -> None:
    with record_sources(), record_calls() as calls:
        node = Value(1.0) * 2.0
    source = unpack(pack(node, calls=calls)).source[-1]
    assert source is not None
    assert linecache.getline(source[0], source[1]).strip() == "node = Value(1.0) * 2.0"


# --- the form of the file -------------------------------------------------------------------------

RECORDED = Path(__file__).with_name("recorded.trace.json")


def test_a_file_that_was_recorded_before_is_still_read() -> None:
    """A change of the format needs another version, and then another file here."""
    trace = Trace.from_json(RECORDED.read_text())
    assert trace.title == "relu(a*b + d) * exp(a) - where(a > b, a**2, 2**b)"
    assert json.loads(trace.to_json()) == json.loads(RECORDED.read_text())


def test_what_the_page_is_given_follows_the_schema_too(gpt: tuple[Value, Calls, nn.GPT]) -> None:
    loss, calls, _ = gpt
    document = json.loads(json.dumps(pack(loss, calls=calls)))
    require("jsonschema").validate(document, schema())
    validate(document)
