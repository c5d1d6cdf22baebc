"""The packed form of a trace: columns instead of objects, for graphs of tens of thousands of nodes.

It is one JSON object. What a reader can compute exactly is left out: formulas and sentences follow from the op table,
and every ``+=`` from ``local * upstream``. The members:

``format``, ``version``
    ``"retrograd-pack"`` and 1.
``engine``, ``title``, ``root``
    As in the trace; ``root`` is a node number. Node numbers are those of the trace: leaves first, then each operation
    after the constants it uses; so operands have smaller numbers than results, and the backward pass visits
    the operations from the largest number to the smallest.
``kinds``
    A table of what a node can be: ``{"op", "row", "output", "stored"}``. The first two entries are the leaf and the
    constant, with ``row`` empty; ``output`` is which result of a ``softmax``. ``stored``: see ``locals``.
``nodes``
    Columns with one entry a node: ``kind`` (position in ``kinds``), ``data``, ``arity`` (operands; 0 for leaves and
    constants), ``group`` (position in ``groups``), ``place`` (0: none, else position in ``places`` plus 1).
``names``
    The names of the leaves and operations in order, joined by newlines, which no name contains. A constant's name is
    its number as Python's ``repr`` writes it.
``grads``
    A column: the gradient of every leaf and operation, in order; Python's own.
``operands``
    A column: the operands' node numbers, all operations in order, each in slot order. Its positions are edge ids.
``locals``
    A column: the local derivative of each edge whose operation is of a ``stored`` kind, in order, 0 where the operand
    is a constant. For the other kinds the row's partials, computed from the nodes' data, give the very same bits,
    for they are made of exact IEEE operations alone.
``zeros``
    Edge ids of stored locals that are structurally zero: nothing is added there.
``measured``
    ``{"node", "contributions"}`` for each operation with a ``_backward`` that the user wrote: what it adds to each
    operand, slot by slot, in place of ``local * upstream``. Zeros are not added.
``written``
    Source texts: pairs ``[node, text]`` of operations and constants of an expression.
``files``, ``functions``, ``places``
    ``places`` are ``[file, line, function, text]``: positions in the two lists of strings, the line number from 1,
    and the line itself.
``groups``
    The folding: ``{"parent", "kind", "label", "path"}``, parents first; the first is the whole graph, whose parent is
    -1. See :mod:`.groups`.

A column is ``{"type", "count", "data"}``: base64 of little-endian numbers of the type ``u8``, ``u16``, ``u32`` or
``f64``, ``count`` of them. In JSON numbers, NaN and infinities are strings, as in the trace.
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import engine
from ..engine import Value
from ..engine.source_lines import Location, location_of
from ..ops import BY_NAME, formula
from ..ops.formula import operand_names
from .calls import Calls
from .codec import number_to_json
from .graph import Graph
from .groups import grouped
from .trace import Written

__all__ = ["FORMAT", "VERSION", "pack"]

FORMAT = "retrograd-pack"
#: The version of the format; it changes when a reader of the old one could be misled.
VERSION = 1

Json = dict[str, Any]
#: What a partial's formula may call and still mean the same bits in every language.
_EXACT = {"select", "zero_product"}
#: Operands of a partial that are themselves computed, with other things than exact operations.
_COMPUTED = {"rest", "ties"}


def pack(
    root: Value,
    names: Mapping[str, Value] | None = None,
    *,
    title: str = "",
    written: Written | None = None,
    calls: Calls | None = None,
) -> str:
    """The graph of ``root`` and one fresh backward pass seeded with 1, packed, as JSON text in ASCII.

    Arguments are those of :meth:`Trace.of`; ``calls`` are those during which the graph was recorded: they fold it and
    give names to leaves that ``names`` does not name. Raises what ``backward()`` would raise.
    """
    return json.dumps(_Packer(root, names or {}, title, written, calls).document(), allow_nan=False)


@dataclass(frozen=True, slots=True)
class _Kind:
    op: str
    row: str
    output: int
    stored: bool


class _Packer:
    def __init__(
        self, root: Value, names: Mapping[str, Value], title: str, written: Written | None, calls: Calls | None
    ) -> None:
        self.graph = Graph(root, _with_own(names, root, calls), written)
        self.title, self.calls = title, calls
        self.kinds = [_Kind("", "", 0, False), _Kind("", "", 0, False)]
        self.kind_numbers: dict[_Kind, int] = {}
        self.locals: list[float] = []
        self.zeros: list[int] = []
        self.places = _Places()

    def document(self) -> Json:
        graph = self.graph
        gradients = self.gradients()
        columns = self.columns()
        folding = grouped(graph, self.calls, self.title)
        named = [about.name for about, value in zip(graph.about, graph.values, strict=True) if value is not None]
        return {
            "format": FORMAT,
            "version": VERSION,
            "engine": engine.ENGINE,
            "title": self.title,
            "root": graph.ids[graph.root],
            "kinds": [{"op": k.op, "row": k.row, "output": k.output, "stored": k.stored} for k in self.kinds],
            "nodes": {**columns, "group": _whole(folding.owner)},
            "names": "\n".join(named),
            "grads": _floats(gradients),
            "operands": _whole([number for node in graph.interior for number in graph.inputs[node]]),
            "locals": _floats(self.locals),
            "zeros": self.zeros,
            "measured": self.measured(gradients),
            "written": self.written(),
            **self.places.document(),
            "groups": [
                {"parent": -1 if g.parent is None else g.parent, "kind": g.kind, "label": g.label, "path": g.path}
                for g in folding.groups
            ],
        }

    def gradients(self) -> Sequence[float]:
        """The engine's own, for each leaf and operation in order."""
        values = [value for value in self.graph.values if value is not None]
        return (
            engine.gradients(self.graph.root, 1.0, values)
            if self.graph.interior
            else [float(v is self.graph.root) for v in values]
        )

    def columns(self) -> Json:
        """The columns with an entry a node; notes the locals on the way."""
        kind, arity, place, edge = [], [], [], 0
        inputs = self.graph.inputs
        for value in self.graph.values:
            operands = inputs.get(value) if value is not None else None
            if value is None or operands is None:
                kind.append(1 if value is None else 0)
                arity.append(0)
                place.append(0)
                continue
            number = self.kind_of(value)
            kind.append(number)
            arity.append(len(operands))
            place.append(self.places.number(location_of(value)))
            if self.kinds[number].stored:
                self.store_locals(value, edge)
            edge += len(operands)
        data = [about.data for about in self.graph.about]
        return {"kind": _whole(kind), "data": _floats(data), "arity": _whole(arity), "place": _whole(place)}

    def kind_of(self, node: Value) -> int:
        row = engine.row_name(node)
        kind = _Kind(node._op, row, engine.output_index(node), row not in _EXACT_ROWS)
        if kind not in self.kind_numbers:
            self.kind_numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return self.kind_numbers[kind]

    def store_locals(self, node: Value, edge: int) -> None:
        found = self.graph.locals_of(node, self.graph.operands_of(node))
        self.locals += [0.0 if local is None else local for local, _ in found]
        self.zeros += [edge + slot for slot, (_, zero) in enumerate(found) if zero]

    def measured(self, gradients: Sequence[float]) -> list[Json]:
        """What the users' own functions contribute in this pass."""
        if not self.graph.measured:
            return []
        values = [value for value in self.graph.values if value is not None]
        upstream = dict(zip(values, gradients, strict=True))
        return [
            {
                "node": self.graph.ids[node],
                "contributions": self.contributions(node, upstream[node]),
            }
            for node in self.graph.interior
            if node in self.graph.measured
        ]

    def contributions(self, node: Value, upstream: float) -> list[float | str]:
        """Slot by slot; a constant takes nothing."""
        if upstream == 0.0:
            return [0.0] * len(self.graph.inputs[node])
        added = iter(self.graph.measure(node, upstream))
        return [0.0 if o.constant else number_to_json(next(added)) for o in self.graph.operands_of(node)]

    def written(self) -> list[list[int | str]]:
        graph = self.graph
        operations = ((graph.ids[node], graph.written(node, None)) for node in graph.interior)
        return [[number, text] for number, text in (*operations, *graph.constant_text.items()) if text]


def _with_own(names: Mapping[str, Value], root: Value, calls: Calls | None) -> Mapping[str, Value]:
    """``names``, and those of the leaves that the program's own variables name; of these only what is used."""
    if calls is None:
        return names
    given = set(names.values())
    used = {
        operand
        for node in engine.interior(root)
        for operand in engine.operands(node)
        if isinstance(operand, Value) and operand not in given and not engine.row_name(operand)
    }
    own = {name: value for name, value in calls.names().items() if value in used and name not in names}
    return {**names, **own}


class _Places:
    """The source lines, each once."""

    def __init__(self) -> None:
        self.numbers: dict[Location, int] = {}

    def number(self, place: Location | None) -> int:
        return 0 if place is None else self.numbers.setdefault(place, len(self.numbers) + 1)

    def document(self) -> Json:
        files = {place.file: None for place in self.numbers}
        functions = {place.function: None for place in self.numbers}
        file_at = {name: number for number, name in enumerate(files)}
        function_at = {name: number for number, name in enumerate(functions)}
        return {
            "files": list(files),
            "functions": list(functions),
            "places": [[file_at[p.file], p.line, function_at[p.function], p.text] for p in self.numbers],
        }


# --- columns --------------------------------------------------------------------------------------


def _column(name: str, array: np.ndarray[Any, Any]) -> Json:
    return {"type": name, "count": len(array), "data": base64.b64encode(array.tobytes()).decode("ascii")}


def _floats(numbers: Iterable[float]) -> Json:
    return _column("f64", np.array(list(numbers), dtype="<f8"))


def _whole(numbers: Sequence[int]) -> Json:
    """Whole numbers from 0 up, in the smallest type that holds them."""
    most = max(numbers, default=0)
    name = "u8" if most < 2**8 else "u16" if most < 2**16 else "u32"
    return _column(name, np.array(numbers, dtype={"u8": "<u1", "u16": "<u2", "u32": "<u4"}[name]))


# --- what needs no storing ------------------------------------------------------------------------


def _is_exact(text: str, names: Sequence[str]) -> bool:
    """Whether a partial is made of arithmetic, comparisons and choices alone."""
    for node in ast.walk(formula.parse(text, names)):
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _EXACT):
            return False
        if isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            return False
        if isinstance(node, ast.Name) and node.id in _COMPUTED:
            return False
    return True


#: The rows whose local derivatives are not stored.
_EXACT_ROWS = frozenset(
    name for name, row in BY_NAME.items() if all(_is_exact(text, operand_names(row.name)) for text in row.partials)
)
