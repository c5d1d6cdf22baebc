"""The trace as JSON, and a strict reader of it.

The format is published as ``schema.json`` beside this file. The reader refuses what does not follow it, what is
too large, and what contradicts itself, with a sentence that says where; it never runs anything.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, get_args

from ..engine.source_lines import Location
from ..errors import DataError
from .trace import (
    VERSION,
    Addition,
    Edge,
    Kind,
    Node,
    Step,
    Trace,
)

if TYPE_CHECKING:
    from ..autodiff.check import GradientCheck, GradientRow

__all__ = ["check_to_json", "decode", "encode", "schema", "to_dictionary"]

#: The longest text that is read, in characters, and the longest string inside it.
MAX_CHARACTERS = 512 * 1024 * 1024
MAX_STRING = 10_000_000

Json = dict[str, Any]
Part = TypeVar("Part")


def schema() -> Json:
    """The published JSON Schema of the format."""
    text = (files(__package__) / "schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


# --- writing --------------------------------------------------------------------------------------


def encode(trace: Trace, indent: int | None = None, check: Json | None = None) -> str:
    """The trace as JSON text in ASCII, with the table of a gradient check when there is one."""
    document = to_dictionary(trace)
    if check is not None:
        document["check"] = check
    return json.dumps(document, indent=indent, allow_nan=False)


def to_dictionary(trace: Trace) -> Json:
    """The trace as plain dictionaries, lists, strings and numbers, ready for ``json.dumps``."""
    return {
        "format": "retrograd-trace",
        "version": trace.version,
        "engine": trace.engine,
        "title": trace.title,
        "root": trace.root,
        "nodes": [_node(node) for node in trace.nodes],
        "edges": [_edge(edge) for edge in trace.edges],
        "forward": [{"kind": step.kind, "nodes": list(step.nodes), "text": step.text} for step in trace.forward],
        "backward": [
            {
                "kind": step.kind,
                "nodes": list(step.nodes),
                "text": step.text,
                "additions": [_addition(item) for item in step.additions],
            }
            for step in trace.backward
        ],
    }


def number_to_json(number: float) -> float | str:
    """A float, or the string that stands for what JSON cannot say."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _optional(number: float | None) -> float | str | None:
    return None if number is None else number_to_json(number)


def _node(node: Node) -> Json:
    source = node.source
    return {
        "id": node.id,
        "name": node.name,
        "kind": node.kind,
        "op": node.op,
        "row": node.row,
        "data": number_to_json(node.data),
        "grad": _optional(node.grad),
        "expression": node.expression,
        "formula": node.formula,
        "latex": node.latex,
        "source": source and {"file": source.file, "line": source.line, "function": source.function},
    }


def _edge(edge: Edge) -> Json:
    return {
        "id": edge.id,
        "from": edge.operand,
        "to": edge.result,
        "slot": edge.slot,
        "local": _optional(edge.local),
        "formula": edge.formula,
        "latex": edge.latex,
        "zero": edge.zero,
    }


def _addition(item: Addition) -> Json:
    return {
        "edge": item.edge,
        "target": item.target,
        "before": number_to_json(item.before),
        "contribution": number_to_json(item.contribution),
        "after": number_to_json(item.after),
        "text": item.text,
    }


def check_to_json(check: GradientCheck) -> Json:
    """The table of a gradient check, as the member ``check`` of a trace."""
    return {
        "ok": check.ok,
        "value": number_to_json(check.value),
        "peers": list(check.peers),
        "rows": [_check_row(row) for row in check.rows],
        "notes": list(check.notes),
    }


def _check_row(row: GradientRow) -> Json:
    difference = row.difference
    return {
        "name": row.name,
        "at": number_to_json(row.at),
        "ours": number_to_json(row.ours),
        "difference": None
        if difference is None
        else {
            "value": number_to_json(difference.value),
            "error": number_to_json(difference.error),
            "kink": difference.kink,
        },
        "theirs": {
            peer: {"gradient": number_to_json(gradient), "ulp": number_to_json(row.ulp(peer))}
            for peer, gradient in row.peers.items()
        },
        "verdict": row.verdict,
    }


# --- reading --------------------------------------------------------------------------------------


def decode(text: str | bytes) -> Trace:
    """Read a trace. Raises DataError for anything that is not one, saying what is wrong and where."""
    document = _Object(_parsed(text), "the trace")
    if document.text("format") != "retrograd-trace":
        _fail("the trace", 'its format is not "retrograd-trace"; export it with retrograd explain --format json')
    if (version := document.whole("version")) != VERSION:
        _fail("the trace", f"it has version {version}, and this retrograd reads version {VERSION}; export it again")
    document.thing.pop("check", None)
    trace = Trace(
        title=document.text("title"),
        engine=document.text("engine"),
        root=document.whole("root"),
        nodes=tuple(document.every("nodes", _read_node)),
        edges=tuple(document.every("edges", _read_edge)),
        forward=tuple(document.every("forward", _read_forward)),
        backward=tuple(document.every("backward", _read_backward)),
    )
    document.done()
    _check_consistent(trace)
    return trace


def _fail(where: str, what: str) -> NoReturn:
    raise DataError(f"{where}: {what}.")


def _parsed(text: str | bytes) -> object:
    if len(text) > MAX_CHARACTERS:
        _fail("the trace", f"it has {len(text):,} characters, and at most {MAX_CHARACTERS:,} are read")
    try:
        return json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=lambda name: _fail("the trace", f"{name} stands bare in it; JSON has it as a string"),
            parse_int=_integer,
        )
    except RecursionError:
        _fail("the trace", "it is nested too deeply to be one")
    except UnicodeDecodeError as error:
        _fail("the trace", f"it is not UTF-8 text ({error.reason} at byte {error.start})")
    except json.JSONDecodeError as error:
        _fail("the trace", f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= 18 else float(digits)


def _without_duplicates(pairs: list[tuple[str, object]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        _fail("the trace", f"{twice!r:.80} stands twice in one object")
    return found


class _Object:
    """One JSON object being read: each member is taken out and checked, and none may be left."""

    def __init__(self, thing: object, where: str) -> None:
        if not isinstance(thing, dict):
            _fail(where, f"an object is expected, and {_kind(thing)} came")
        self.thing: Json = thing
        self.where = where

    def take(self, name: str) -> Any:
        if name not in self.thing:
            _fail(self.where, f"{name!r} is missing")
        return self.thing.pop(name)

    def fail(self, name: str, expected: str, came: object) -> NoReturn:
        _fail(self.where, f"{name!r} must be {expected}, and {_kind(came)} came")

    def text(self, name: str) -> str:
        value = self.take(name)
        if not isinstance(value, str) or len(value) > MAX_STRING:
            self.fail(name, f"a string of at most {MAX_STRING:,} characters", value)
        return value

    def choice(self, name: str, *allowed: str) -> Any:
        value = self.take(name)
        if value not in allowed or not isinstance(value, str):
            self.fail(name, "one of " + ", ".join(allowed), value)
        return value

    def whole(self, name: str) -> int:
        value = self.take(name)
        if type(value) is not int or value < 0:
            self.fail(name, "a whole number, 0 or more", value)
        return value

    def truth(self, name: str) -> bool:
        value = self.take(name)
        if not isinstance(value, bool):
            self.fail(name, "true or false", value)
        return value

    def number(self, name: str) -> float:
        value = self.take(name)
        if type(value) in (int, float):
            return float(value)
        if value in ("NaN", "Infinity", "-Infinity") and isinstance(value, str):
            return float(value)
        self.fail(name, 'a number, "NaN", "Infinity" or "-Infinity"', value)

    def optional_number(self, name: str) -> float | None:
        if name in self.thing and self.thing[name] is None:
            return self.take(name)  # type: ignore[no-any-return]  # it is None
        return self.number(name)

    def wholes(self, name: str) -> tuple[int, ...]:
        value = self.take(name)
        if not isinstance(value, list) or any(type(item) is not int or item < 0 for item in value):
            self.fail(name, "a list of whole numbers", value)
        return tuple(value)

    def every(self, name: str, read: Callable[[_Object], Part]) -> list[Part]:
        value = self.take(name)
        if not isinstance(value, list):
            self.fail(name, "a list", value)
        parts = []
        for index, thing in enumerate(value):
            item = _Object(thing, f"{name}[{index}]")
            parts.append(read(item))
            item.done()
        return parts

    def done(self) -> None:
        if self.thing:
            _fail(self.where, f"{next(iter(self.thing))!r:.80} is not part of the format")


def _kind(value: object) -> str:
    names: Mapping[type, str] = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    return names.get(type(value), f"{value!r:.60}")


def _read_node(item: _Object) -> Node:
    return Node(
        id=item.whole("id"),
        name=item.text("name"),
        kind=item.choice("kind", *get_args(Kind)),
        op=item.text("op"),
        row=item.text("row"),
        data=item.number("data"),
        grad=item.optional_number("grad"),
        expression=item.text("expression"),
        formula=item.text("formula"),
        latex=item.text("latex"),
        source=_read_source(item.take("source"), item.where),
    )


def _read_source(thing: object, where: str) -> Location | None:
    if thing is None:
        return None
    source = _Object(thing, f"{where}.source")
    location = Location(source.text("file"), source.whole("line"), source.text("function"))
    source.done()
    return location


def _read_edge(item: _Object) -> Edge:
    return Edge(
        id=item.whole("id"),
        operand=item.whole("from"),
        result=item.whole("to"),
        slot=item.whole("slot"),
        local=item.optional_number("local"),
        formula=item.text("formula"),
        latex=item.text("latex"),
        zero=item.truth("zero"),
    )


def _read_forward(item: _Object) -> Step:
    return Step(item.choice("kind", "inputs", "operation"), item.wholes("nodes"), item.text("text"))


def _read_backward(item: _Object) -> Step:
    kind, nodes, text = item.choice("kind", "seed", "visit"), item.wholes("nodes"), item.text("text")
    return Step(kind, nodes, text, tuple(item.every("additions", _read_addition)))


def _read_addition(item: _Object) -> Addition:
    return Addition(
        edge=item.whole("edge"),
        target=item.whole("target"),
        before=item.number("before"),
        contribution=item.number("contribution"),
        after=item.number("after"),
        text=item.text("text"),
    )


# --- does it hang together? -----------------------------------------------------------------------


def _check_consistent(trace: Trace) -> None:
    """Raise DataError unless ids are positions, references exist, operands come first, and every sum is right."""
    count = len(trace.nodes)
    if trace.root >= count:
        _fail("the trace", f"its root is {trace.root}, and there are {count} nodes")
    for index, node in enumerate(trace.nodes):
        if node.id != index:
            _fail(f"nodes[{index}]", f"its id is {node.id}; ids are positions in the list")
    for index, edge in enumerate(trace.edges):
        if edge.id != index:
            _fail(f"edges[{index}]", f"its id is {edge.id}; ids are positions in the list")
        if not edge.operand < edge.result < count:
            _fail(
                f"edges[{index}]", f"it goes from {edge.operand} to {edge.result}; an operand comes before its result"
            )
    for name, steps in (("forward", trace.forward), ("backward", trace.backward)):
        for index, step in enumerate(steps):
            if any(number >= count for number in step.nodes):
                _fail(f"{name}[{index}]", f"it speaks of a node that does not exist; there are {count}")
    _check_sums(trace)


def _check_sums(trace: Trace) -> None:
    running = [0.0] * len(trace.nodes)
    running[trace.root] = 1.0
    for index, step in enumerate(trace.backward):
        if len(step.nodes) != 1:
            _fail(f"backward[{index}]", f"it has {len(step.nodes)} nodes, and must have one")
        for position, item in enumerate(step.additions):
            where = f"backward[{index}].additions[{position}]"
            if item.edge >= len(trace.edges) or trace.edges[item.edge].operand != item.target:
                _fail(where, f"its edge {item.edge} does not start from its target {item.target}")
            if not _same(item.before, running[item.target]) or not _same(item.after, item.before + item.contribution):
                _fail(where, f"{item.before!r} + {item.contribution!r} = {item.after!r} does not follow from the steps")
            running[item.target] = item.after
    for index, node in enumerate(trace.nodes):
        if node.grad is not None and not _same(node.grad, running[index]):
            _fail(f"nodes[{index}]", f"its grad is {node.grad!r}, and the steps give {running[index]!r}")


def _same(x: float, y: float) -> bool:
    return struct.pack("<d", x) == struct.pack("<d", y) or (x != x and y != y)
