"""A reader of the JSON of a trace, written from its schema alone."""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass, field
from typing import Any

from retrograd.engine.reference.rules import NARY_RULES, RULES

LETTERS = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}


def numbers(column: Any) -> list[Any]:
    if isinstance(column, list):
        return [float(number) if isinstance(number, str) else number for number in column]
    data = base64.b64decode(column["data"])
    found = list(struct.unpack(f"<{column['count']}{LETTERS[column['type']]}", data))
    assert len(found) == column["count"]
    return found


@dataclass
class Unpacked:
    """What a page would know of a packed trace after reading it."""

    document: dict[str, Any]
    name: list[str] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    op: list[str] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    data: list[float] = field(default_factory=list)
    grad: list[float | None] = field(default_factory=list)
    source: list[tuple[str, int, str] | None] = field(default_factory=list)
    group: list[int] = field(default_factory=list)
    edges: list[tuple[int, int, int, float | None, bool]] = field(default_factory=list)
    operands: dict[int, list[int]] = field(default_factory=dict)
    own: dict[int, list[float]] = field(default_factory=dict)

    def additions(self) -> list[tuple[int, int, float, float, float]]:
        """Every += of the backward pass: edge, target, before, contribution, after."""
        grads = [0.0] * len(self.data)
        grads[self.document["root"]] = 1.0
        of: dict[int, list[int]] = {}
        for number, edge in enumerate(self.edges):
            of.setdefault(edge[1], []).append(number)
        found = []
        for node in sorted(self.operands, reverse=True):
            upstream = grads[node]
            for slot, number in enumerate(of.get(node, [])):
                operand, _, _, local, zero = self.edges[number]
                if upstream == 0.0 or local is None or zero:
                    continue
                contribution = self.own[node][slot] if node in self.own else local * upstream
                if node in self.own and contribution == 0.0:
                    continue
                before, grads[operand] = grads[operand], grads[operand] + contribution
                found.append((number, operand, before, contribution, grads[operand]))
        return found


def unpack(document: dict[str, Any]) -> Unpacked:
    assert (document["format"], document["version"]) == ("retrograd-trace", 2)
    read = Unpacked(document)
    nodes, kinds = document["nodes"], document["kinds"]
    kind, arity = numbers(nodes["kind"]), numbers(nodes["arity"])
    read.data, read.group = numbers(nodes["data"]), numbers(nodes["group"])
    names, grads = iter(document["names"]), iter(numbers(document["grads"]))
    operands, stored = iter(numbers(document["operands"])), iter(numbers(document["locals"]))
    for node, number in enumerate(kind):
        what = kinds[number]
        constant = number == 1
        read.kind.append({0: "leaf", 1: "constant"}.get(number, "operation"))
        read.op.append(what["op"])
        read.row.append(what["row"])
        read.name.append(repr(read.data[node]) if constant else next(names))
        read.grad.append(None if constant else next(grads))
        if number > 1:
            read.operands[node] = [next(operands) for _ in range(arity[node])]
            add_edges(read, node, what, stored)
    for place in numbers(nodes["place"]):
        read.source.append(location(document, place))
    read.own = {item["node"]: [float(x) for x in item["contributions"]] for item in document["measured"]}
    for columns in (names, grads, operands, stored):
        assert next(columns, None) is None
    return read


def location(document: dict[str, Any], place: int) -> tuple[str, int, str] | None:
    if place == 0:
        return None
    file, line, function, _ = document["places"][place - 1]
    return document["files"][file], line, document["functions"][function]


def add_edges(read: Unpacked, node: int, what: dict[str, Any], stored: Any) -> None:
    inputs = read.operands[node]
    if what["stored"]:
        found = [next(stored) for _ in inputs]
        zeros = [len(read.edges) + slot in read.document["zeros"] for slot in range(len(inputs))]
    else:
        rule = RULES.get(what["row"]) or NARY_RULES[what["row"]]
        data = [read.data[operand] for operand in inputs]
        partials = rule.derivatives(data, read.data[node], range(len(inputs)), what["output"])
        found = [0.0 if partial is None else partial for partial in partials]
        zeros = [partial is None for partial in partials]
    for slot, operand in enumerate(inputs):
        constant = read.kind[operand] == "constant"
        local = None if constant else found[slot]
        read.edges.append((operand, node, slot, local, zeros[slot] and not constant))
