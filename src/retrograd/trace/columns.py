"""The JSON of a trace: columns of numbers for its nodes and edges, from which a reader can compute every step.

``schema.json`` beside this file is the format; the sentences there say what each member means. A column is a list of
numbers, or, in a trace made for the explorer's page, base64 of little-endian numbers: a large graph is a few times
smaller that way, and read at once.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..engine.source_lines import Location
from .groups import Group

__all__ = ["FORMAT", "VERSION", "Columns", "Json", "number_to_json", "to_text", "unpacked"]

FORMAT = "retrograd-trace"
#: The version of the format; it changes when a reader of the old one could be misled.
VERSION = 2

Json = dict[str, Any]
#: The types of a packed column, as :mod:`array` calls them.
_TYPES = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}


def number_to_json(number: float) -> float | str:
    """A float, or the string that stands for what JSON cannot say."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


@dataclass(slots=True)
class Columns:
    """The columns of a graph, to which its nodes are added in order: leaves first, operations after their operands."""

    packed: bool  #: whether columns are base64
    kinds: list[Json] = field(default_factory=lambda: [_kind(), _kind()])
    names: list[str] = field(default_factory=list)
    grads: list[float] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)
    locals: list[float] = field(default_factory=list)
    zeros: list[int] = field(default_factory=list)
    written: list[tuple[int, str]] = field(default_factory=list)
    measured: list[Json] = field(default_factory=list)
    nodes: dict[str, list[Any]] = field(default_factory=lambda: {"kind": [], "data": [], "arity": [], "place": []})
    _numbers: dict[tuple[str, str, int, bool], int] = field(default_factory=dict)
    _places: dict[Location, int] = field(default_factory=dict)

    def _add(self, kind: int, data: float, arity: int = 0, place: int = 0, text: str = "") -> None:
        if text:
            self.written.append((len(self.nodes["data"]), text))
        for name, entry in (("kind", kind), ("data", data), ("arity", arity), ("place", place)):
            self.nodes[name].append(entry)

    def add_leaf(self, name: str, data: float, grad: float) -> None:
        self.names.append(name)
        self.grads.append(grad)
        self._add(0, data)

    def add_constant(self, data: float, text: str) -> None:
        """A plain number, and what it was written as where that is known."""
        self._add(1, data, text=text)

    def add_operation(
        self,
        name: str,
        data: float,
        grad: float,
        kind: tuple[str, str, int],
        operands: Sequence[int],
        locals_: Sequence[tuple[float | None, bool]] | None,
        source: Location | None,
        text: str,
    ) -> None:
        """An operation; ``kind`` is its ``_op``, its row and its output; without ``locals_`` a reader computes them."""
        key = (*kind, locals_ is not None)
        if key not in self._numbers:
            self._numbers[key] = len(self.kinds)
            self.kinds.append(_kind(*key))
        if locals_ is not None:
            self.locals += [0.0 if local is None else local for local, _ in locals_]
            self.zeros += [len(self.operands) + slot for slot, (_, zero) in enumerate(locals_) if zero]
        self.names.append(name)
        self.grads.append(grad)
        self.operands += operands
        place = 0 if source is None else self._places.setdefault(source, len(self._places) + 1)
        self._add(self._numbers[key], data, len(operands), place, text)

    def document(self, title: str, engine: str, root: int, groups: Sequence[Group], owner: Sequence[int]) -> Json:
        """Everything as a document that follows ``schema.json``."""
        nodes = {name: self._column(column, name == "data") for name, column in self.nodes.items()}
        return {
            "format": FORMAT,
            "version": VERSION,
            "engine": engine,
            "title": title,
            "root": root,
            "kinds": self.kinds,
            "nodes": {**nodes, "group": self._column(owner)},
            "names": self.names,
            "grads": self._column(self.grads, True),
            "operands": self._column(self.operands),
            "locals": self._column(self.locals, True),
            "zeros": self.zeros,
            "measured": self.measured,
            "written": self.written,
            **self._sources(),
            "groups": [
                {"parent": -1 if group.parent is None else group.parent, "kind": group.kind}
                | {"label": group.label, "path": group.path}
                for group in groups
            ],
        }

    def _sources(self) -> Json:
        """The source lines: files and functions once each, and places by their positions there."""
        files = {place.file: None for place in self._places}
        functions = {place.function: None for place in self._places}
        file_at = {name: number for number, name in enumerate(files)}
        function_at = {name: number for number, name in enumerate(functions)}
        texts = (place.text if self.packed else "" for place in self._places)  # a page shows the line itself
        numbers = ((file_at[place.file], place.line, function_at[place.function]) for place in self._places)
        places = [[*position, text] for position, text in zip(numbers, texts, strict=True)]
        return {"files": list(files), "functions": list(functions), "places": places}

    def _column(self, numbers: Sequence[float], floats: bool = False) -> Json | list[float | str]:
        if not self.packed:
            return [number_to_json(number) for number in numbers] if floats else list(numbers)
        most = max(numbers, default=0)
        name = "f64" if floats else "u8" if most < 2**8 else "u16" if most < 2**16 else "u32"
        column = _little_endian(array(_TYPES[name], numbers))
        return {"type": name, "count": len(column), "data": base64.b64encode(column).decode("ascii")}


def _kind(op: str = "", row: str = "", output: int = 0, stored: bool = False) -> Json:
    return {"op": op, "row": row, "output": output, "stored": stored}


def _little_endian(column: array[Any]) -> array[Any]:
    if sys.byteorder == "big":
        column.byteswap()
    return column


def unpacked(column: Json | Iterable[float | str]) -> Sequence[float]:
    """The numbers of a column. Raises ValueError where its base64 or its count is wrong."""
    if not isinstance(column, dict):
        return [float(number) if isinstance(number, str) else number for number in column]
    numbers = array(_TYPES[column["type"]])
    numbers.frombytes(base64.b64decode(column["data"], validate=True))
    if len(numbers) != column["count"]:
        raise ValueError(f"it has {len(numbers)} numbers, and says {column['count']}")
    return _little_endian(numbers)


def to_text(document: Json, indent: int | None = None) -> str:
    """A document as JSON text in ASCII."""
    return json.dumps(document, indent=indent, allow_nan=False)
