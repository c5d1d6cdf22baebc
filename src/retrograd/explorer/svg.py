"""One small SVG of a graph, for a bare Value in a notebook: the boxes, their numbers, and an edge for every operand.

No script and no style sheet, so that it shows wherever an SVG does; colours suit light and dark pages alike.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from .. import engine
from ..engine import Value
from ..trace import Trace

__all__ = ["small_svg"]

#: The most operations that are drawn; a larger graph is shown as text only.
LARGEST = 24
_WIDTH, _HEIGHT, _SMALL = 104, 44, 26
_ACROSS, _DOWN, _MARGIN = 44, 14, 8
#: Below the boxes, for the edges that pass them.
_LANE = 10
_STYLE = "font-family='ui-monospace,Menlo,Consolas,monospace' font-size='12'"
_INK, _SOFT, _LINE = "#6b7280", "#8a919b", "#9aa1a9"


def small_svg(value: Value) -> str | None:
    """The graph of ``value`` as SVG text; None when it is a leaf, or larger than is shown at a glance."""
    operations = engine.interior(value)
    if not 0 < len(operations) <= LARGEST:
        return None
    return _Drawing(Trace.of(value)).text()


class _Drawing:
    """A trace laid out in columns: each node one column after the last of its operands."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.operands: list[list[int]] = [[] for _ in trace.nodes]
        for edge in trace.edges:
            self.operands[edge.result].append(edge.operand)
        self.columns = self.in_columns()
        self.tall = max(sum(self.height(node) + _DOWN for node in column) for column in self.columns)
        self.places = {node: place for column in range(len(self.columns)) for node, place in self.place(column)}

    def in_columns(self) -> list[list[int]]:
        rank = [0] * len(self.trace.nodes)
        for node, operands in enumerate(self.operands):
            rank[node] = max((rank[operand] + 1 for operand in operands), default=0)
        for operands in self.operands:
            for operand in operands:
                if not self.operands[operand]:
                    uses = [rank[k] for k, own in enumerate(self.operands) if operand in own]
                    rank[operand] = min(uses) - 1
        columns: list[list[int]] = [[] for _ in range(max(rank) + 1)]
        for node, column in enumerate(rank):
            columns[column].append(node)
        for column in range(len(columns) - 2, -1, -1):
            columns[column].sort(key=lambda node: self.level(node, columns[column + 1 :]))
        return columns

    def level(self, node: int, later: Sequence[list[int]]) -> float:
        """Where the uses of a node stand, on average."""
        uses = [
            (column.index(k) + self.operands[k].index(node) / (len(self.operands[k]) + 1)) / len(column)
            for column in later
            for k in column
            if node in self.operands[k]
        ]
        return sum(uses) / len(uses) if uses else 0.0

    def height(self, node: int) -> int:
        return _SMALL if self.trace.nodes[node].kind == "constant" else _HEIGHT

    def place(self, column: int) -> list[tuple[int, tuple[float, float]]]:
        """Each node of a column with its left edge and its middle."""
        nodes = self.columns[column]
        y = _MARGIN + (self.tall - sum(self.height(node) + _DOWN for node in nodes)) / 2
        placed: list[tuple[int, tuple[float, float]]] = []
        for node in nodes:
            placed.append((node, (_MARGIN + column * (_WIDTH + _ACROSS), y + self.height(node) / 2)))
            y += self.height(node) + _DOWN
        return placed

    def text(self) -> str:
        width = 2 * _MARGIN + len(self.columns) * (_WIDTH + _ACROSS) - _ACROSS
        height = 2 * _MARGIN + self.tall + _LANE
        root = self.trace.nodes[self.trace.root]
        parts = [
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
            f"viewBox='0 0 {width} {height}' role='img' {_STYLE}>",
            f"<title>{html.escape(f'{root.name} = {root.data!r} and what it was computed from')}</title>",
            *(self.edge(edge.operand, edge.result, edge.slot) for edge in self.trace.edges),
            *(self.box(node) for node in range(len(self.trace.nodes))),
            "</svg>",
        ]
        return "".join(parts)

    def edge(self, operand: int, result: int, slot: int) -> str:
        """An edge to the next column, or one that goes below the boxes to a later one."""
        (x, y), (right, middle) = self.places[operand], self.places[result]
        count = len(self.operands[result])
        x += _WIDTH
        middle += (slot - (count - 1) / 2) * min(14.0, 30.0 / max(1, count - 1))
        if right - x <= _ACROSS:
            half = (x + right) / 2
            path = f"M{x:g},{y:g}C{half:g},{y:g} {half:g},{middle:g} {right:g},{middle:g}"
        else:
            lane, near, far = self.tall + _MARGIN, x + _ACROSS, right - _ACROSS
            path = (
                f"M{x:g},{y:g}C{x + 26:g},{y:g} {x + 18:g},{lane:g} {near:g},{lane:g}L{far:g},{lane:g}"
                f"C{right - 18:g},{lane:g} {right - 26:g},{middle:g} {right:g},{middle:g}"
            )
        return f"<path d='{path}' fill='none' stroke='{_LINE}' stroke-width='1.3'/>"

    def box(self, number: int) -> str:
        node = self.trace.nodes[number]
        left, middle = self.places[number]
        height = self.height(number)
        top, right = middle - height / 2, left + _WIDTH - 8
        dashes = " stroke-dasharray='3 3'" if node.kind == "constant" else ""
        frame = (
            f"<rect x='{left:g}' y='{top:g}' width='{_WIDTH}' height='{height}' rx='7' fill='#8881' "
            f"stroke='{_LINE}'{dashes}/>"
        )
        if node.kind == "constant":
            return frame + _text(left + _WIDTH / 2, middle + 4, f"{node.data:.4g}", _INK, "middle")
        name = node.name if len(node.name) <= 6 else node.name[:5] + "…"
        return "".join(
            [
                frame,
                _text(left + 8, top + 17, f"{name} {node.op[:6]}", _INK, "start", " font-weight='600'"),
                _text(right, top + 17, f"{node.data:.4g}", _INK, "end"),
                _text(left + 8, top + 35, "grad", _SOFT, "start"),
                _text(right, top + 35, f"{node.grad:+.4g}", _tone(node.grad), "end"),
            ]
        )


def _text(x: float, y: float, text: str, fill: str, anchor: str, more: str = "") -> str:
    return f"<text x='{x:g}' y='{y:g}' fill='{fill}' text-anchor='{anchor}'{more}>{html.escape(text)}</text>"


def _tone(grad: float | None) -> str:
    return "#2b8cc4" if grad and grad > 0 else "#cc6120" if grad and grad < 0 else _SOFT
