"""Reads the JSON of a trace, and refuses what is malformed, too large or contradictory with a sentence that says where.

``schema.json`` decides what a document may look like; what its numbers must say about each other is checked here.
The sentences of a trace are made again from its numbers. Reading never runs anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from ..engine.reference.rules import NARY_RULES, RULES
from ..engine.source_lines import Location
from ..ops import BY_NAME, NaryOp
from .build import Operation, TraceBuilder, same
from .columns import FORMAT, VERSION, Json, unpacked
from .derivative_text import Operand
from .schema import fail, validate
from .trace import Trace

__all__ = ["decode"]

#: The longest text that is read, in characters.
MAX_CHARACTERS = 512 * 1024 * 1024
_LEAF, _CONSTANT = 0, 1


def decode(text: str | bytes) -> Trace:
    """Read a trace. Raises DataError for anything that is not one, saying what is wrong and where."""
    document = _parsed(text)
    if isinstance(document, dict):
        if document.get("format") != FORMAT:
            fail("the trace", f'its format is not "{FORMAT}"; export it with retrograd explain --format json')
        if (version := document.get("version")) != VERSION and type(version) is int:
            fail("the trace", f"it has version {version}, and this retrograd reads version {VERSION}; export it again")
    validate(document)
    return _Reader(document).trace()


def _parsed(text: str | bytes) -> Json:
    if len(text) > MAX_CHARACTERS:
        fail("the trace", f"it has {len(text):,} characters, and at most {MAX_CHARACTERS:,} are read")
    try:
        document: Json = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=lambda name: fail("the trace", f"{name} stands bare in it; JSON has it as a string"),
            parse_int=lambda digits: int(digits) if len(digits) <= 18 else float(digits),
        )
    except RecursionError:
        fail("the trace", "it is nested too deeply to be one")
    except UnicodeDecodeError as error:
        fail("the trace", f"it is not UTF-8 text ({error.reason} at byte {error.start})")
    except json.JSONDecodeError as error:
        fail("the trace", f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}")
    return document


def _without_duplicates(pairs: list[tuple[str, object]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        fail("the trace", f"{twice!r:.80} stands twice in one object")
    return found


class _Reader:
    """A document that follows the schema, while its trace is built again."""

    def __init__(self, document: Json) -> None:
        self.document = document
        self.kinds: list[Json] = document["kinds"]
        nodes = document["nodes"]
        self.kind = self.positions(nodes["kind"], "nodes.kind", len(self.kinds))
        count = len(self.kind)
        self.data = self.column(nodes["data"], "nodes.data", count)
        self.arity = self.positions(nodes["arity"], "nodes.arity", None, count)
        self.place = self.positions(nodes["place"], "nodes.place", len(document["places"]) + 1, count)
        self.positions(nodes["group"], "nodes.group", len(document["groups"]), count)
        self.operands = self.positions(document["operands"], "operands", count, sum(self.arity))
        self.zeros = set(self.positions(document["zeros"], "zeros", len(self.operands)))
        self.constants = self.kind.count(_CONSTANT)
        self.grads = self.column(document["grads"], "grads", count - self.constants)
        stored = sum(n for n, kind in zip(self.arity, self.kind, strict=True) if self.kinds[kind]["stored"])
        self.locals = iter(self.column(document["locals"], "locals", stored))
        if len(document["names"]) != count - self.constants:
            fail("names", f"{count - self.constants} are needed, and {len(document['names'])} came")
        if document["root"] >= count or self.kind[document["root"]] == _CONSTANT:
            fail("the trace", f"its root is {document['root']}, and there are {count} nodes, {self.constants} constant")
        self.texts = dict(zip(*self.pairs(), strict=True))
        self.own = self.measured()

    # --- the columns --------------------------------------------------------------------------------

    def column(self, column: Json | list[float | str], where: str, count: int | None = None) -> Sequence[float]:
        try:
            numbers = unpacked(column)
        except ValueError as error:
            fail(where, str(error))
        if count is not None and len(numbers) != count:
            fail(where, f"{count} numbers are needed, and {len(numbers)} came")
        return numbers

    def positions(
        self, column: Json | list[float | str], where: str, below: int | None, count: int | None = None
    ) -> list[int]:
        """A column of whole numbers from 0 up, each smaller than ``below``."""
        numbers = self.column(column, where, count)
        for index, number in enumerate(numbers):
            if type(number) is not int or number < 0 or (below is not None and number >= below):
                most = "" if below is None else f" below {below}"
                fail(f"{where}[{index}]", f"a whole number{most} is expected, and {number!r} came")
        return [int(number) for number in numbers]

    def pairs(self) -> tuple[list[int], list[str]]:
        """The nodes that have a source text, and their texts."""
        numbers = [number for number, _ in self.document["written"]]
        return self.positions(numbers, "written", len(self.kind)), [text for _, text in self.document["written"]]

    def measured(self) -> dict[int, Sequence[float]]:
        """What users' own functions contribute, by node; slot by slot."""
        found = {}
        for index, item in enumerate(self.document["measured"]):
            number, where = item["node"], f"measured[{index}]"
            if number >= len(self.kind) or self.kind[number] <= _CONSTANT:
                fail(where, f"{number} is not an operation")
            found[number] = self.column(item["contributions"], where, self.arity[number])
        return found

    # --- the graph ----------------------------------------------------------------------------------

    def trace(self) -> Trace:
        document = self.document
        builder = TraceBuilder(self.about(), dict(self.operations()), self.texts)
        trace = builder.trace(document["title"], document["engine"], document["root"])
        grads = iter(self.grads)
        for number, node in enumerate(trace.nodes):
            if node.grad is not None and not same(grad := next(grads), node.grad):
                fail("grads", f"that of node {number}, {node.name!r:.80}, is {grad!r}; the steps give {node.grad!r}")
        return trace

    def about(self) -> list[Operand]:
        names = iter(self.document["names"])
        return [
            Operand(repr(float(data)), float(data), constant=True)
            if kind == _CONSTANT
            else Operand(next(names), float(data))
            for kind, data in zip(self.kind, self.data, strict=True)
        ]

    def operations(self) -> Iterator[tuple[int, Operation]]:
        edges = iter(enumerate(self.operands))
        for number, (kind, arity) in enumerate(zip(self.kind, self.arity, strict=True)):
            own = [*islice(edges, arity)]
            operands = [operand for _, operand in own]
            what, where = self.kinds[kind], f"node {number}"
            if kind <= _CONSTANT:
                if arity:
                    fail(where, f"a leaf or a constant has no operands, and {arity} came")
                continue
            if any(operand >= number for operand in operands):
                fail(where, "an operand comes before its result")
            _check_arity(what, arity, where)
            locals_ = self.locals_of(number, what, operands, [edge in self.zeros for edge, _ in own])
            yield (
                number,
                Operation(
                    what["op"],
                    what["row"],
                    what["output"],
                    operands,
                    locals_,
                    self.texts.get(number, ""),
                    self.location(self.place[number]),
                    self.contributions(number, operands) if number in self.own else None,
                ),
            )

    def locals_of(
        self, number: int, what: Json, operands: list[int], zeros: list[bool]
    ) -> Sequence[tuple[float | None, bool]]:
        """The local derivatives: those that are stored, or those that follow from the row's formulas."""
        constant = [self.kind[operand] == _CONSTANT for operand in operands]
        if what["stored"]:
            stored = [float(local) for local in islice(self.locals, len(operands))]
            return [(None, False) if c else (x, z) for c, x, z in zip(constant, stored, zeros, strict=True)]
        rule = RULES.get(what["row"]) or NARY_RULES.get(what["row"])
        if rule is None:
            fail(f"node {number}", f"the op table has no row {what['row']!r:.80}, so that its locals must be stored")
        data = [float(self.data[operand]) for operand in operands]
        partials = rule.derivatives(data, float(self.data[number]), range(len(operands)), what["output"])
        found = [(0.0, True) if partial is None else (partial, False) for partial in partials]
        return [(None, False) if c else local for c, local in zip(constant, found, strict=True)]

    def contributions(self, number: int, operands: list[int]) -> Callable[[float], Sequence[float]]:
        """The contributions of a node whose ``_backward`` the user wrote, as they were; constants take none."""
        pairs = zip(self.own[number], operands, strict=True)
        known = [float(amount) for amount, operand in pairs if self.kind[operand] != _CONSTANT]
        return lambda _: known

    def location(self, place: int) -> Location | None:
        if place == 0:
            return None
        file, line, function, _ = self.document["places"][place - 1]
        files, functions = self.document["files"], self.document["functions"]
        if file >= len(files) or function >= len(functions):
            fail(f"places[{place - 1}]", "its file or its function is not in the lists of them")
        return Location(files[file], line, functions[function])


def _check_arity(what: Json, arity: int, where: str) -> None:
    """Raise DataError unless the row of the op table takes so many operands, and has that output."""
    row = BY_NAME.get(what["row"])
    if row is None:
        return
    if isinstance(row, NaryOp):
        right = arity % 2 == 0 if row.paired else arity > 0 or row.empty
    else:
        right = arity == row.arity
    if not right:
        fail(where, f"{what['row']} does not take {arity} operands")
    if what["output"] >= max(1, arity):
        fail(where, f"{what['row']} has no output {what['output']} of {arity} operands")
