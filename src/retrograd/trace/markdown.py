"""The trace as Markdown, with the formulas in LaTeX, for notebooks and web pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..autodiff.check.table import peer_cell
from .render import (
    LIMIT,
    check_section,
    influence_words,
    ranked_leaves,
    rules_section,
    short,
    waterfall_cells,
    without_influence,
)
from .trace import Edge, Step, Trace

if TYPE_CHECKING:
    from ..autodiff.check import GradientCheck

__all__ = ["to_markdown"]


def to_markdown(trace: Trace, check: GradientCheck | str | None = None, limit: int | None = LIMIT) -> str:
    """Every part of an explanation as Markdown; ``limit`` bounds the steps shown in each, None shows all."""
    root = trace.nodes[trace.root]
    title = trace.title or root.formula or root.name
    parts = [
        [f"## {_code(f'{root.name} = {title}' if title != root.name else title)}"],
        ["### Forward pass", "", *_numbered(_forward(trace), limit)],
        ["### Backward pass", "", *_backward(trace, limit)],
        _waterfall(trace, limit),
        ["### Gradient thermometer", "", *_thermometer(trace, limit)],
        _rules(trace),
        [] if check is None else _check(check, limit),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _code(text: str) -> str:
    """A code span; backticks inside it make its own fence longer."""
    runs = [len(run) for run in re.findall(r"`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    gap = " " if runs else ""
    return f"{fence}{gap}{' '.join(text.split())}{gap}{fence}"


def _plain(text: str) -> str:
    """Text that Markdown and HTML leave alone."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]$~])", r"\\\1", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    rule = ["---:" if column in right else ":---" for column in range(len(header))]
    lines = [header, rule, *rows]
    return ["| " + " | ".join(_cell(cell) for cell in cells) + " |" for cells in lines]


def _shortened(lines: Sequence[str], limit: int | None, between: str) -> list[str]:
    if limit is None or len(lines) <= limit:
        return list(lines)
    first, last = (limit + 1) // 2, limit // 2
    left = len(lines) - first - last
    return [*lines[:first], between.format(f"{left:,}"), *lines[len(lines) - last :]]


def _numbered(lines: Sequence[str], limit: int | None) -> list[str]:
    numbered = [f"{number}. {line}" for number, line in enumerate(lines, 1)]
    return _shortened(numbered, limit, "\n*{} steps are left out here; `to_markdown(limit=None)` shows all.*\n")


def _forward(trace: Trace) -> list[str]:
    lines = []
    for step in trace.forward:
        node = trace.nodes[step.nodes[0]] if step.nodes else None
        place = f" — {_code(str(node.source))}" if node is not None and node.source and step.kind == "operation" else ""
        lines.append(_code(step.text) + place)
    return lines


def _backward(trace: Trace, limit: int | None) -> list[str]:
    shown = _shortened([_step(trace, step) for step in trace.backward], limit, "\x00{}")
    lines, number = [], 0
    for text in shown:
        if text.startswith("\x00"):
            lines.append(f"\n*{text[1:]} steps are left out here; `to_markdown(limit=None)` shows all.*\n")
            number = len(trace.backward) - (len(shown) - shown.index(text) - 1)
            continue
        number += 1
        lines.append(f"{number}. " + text)
    return lines


def _step(trace: Trace, step: Step) -> str:
    if step.kind == "seed":
        return _code(step.text)
    lines = [_code(f"{trace.nodes[step.nodes[0]].name} = {trace.nodes[step.nodes[0]].formula}")]
    for item in step.additions:
        edge = trace.edges[item.edge]
        lines.append(f"    * {_code(item.text)}{_rule(edge)}")
    if not step.additions:
        lines[0] = _code(step.text)
    return "\n".join(lines)


def _rule(edge: Edge) -> str:
    return f" where ${edge.latex}$" if edge.latex else ""


def _waterfall(trace: Trace, limit: int | None) -> list[str]:
    if not trace.operations:
        return []
    rows = [[_code(left), _code(right)] for left, right in zip(*waterfall_cells(trace), strict=True)]
    lines = _table(["forward, down", "backward, up"], rows)
    note = "| *{} rows are left out here; `to_markdown(limit=None)` shows all.* | |"
    return ["### Waterfall", "", *lines[:2], *_shortened(lines[2:], limit, note)]


def _thermometer(trace: Trace, limit: int | None) -> list[str]:
    leaves, sentence = without_influence(trace, ranked_leaves(trace), limit)
    rows = [
        [_code(node.name), _code(short(node.grad or 0.0, True)), _plain(words)]
        for node, words in zip(leaves, influence_words(trace, leaves), strict=True)
    ]
    shown = rows if limit is None else rows[:limit]
    lines = _table(["input", "gradient", "in words"], shown, right=(1,))
    if len(shown) < len(rows):
        lines += ["", f"*{len(rows) - len(shown):,} weaker inputs are left out; `to_markdown(limit=None)` shows all.*"]
    return [*lines, "", _plain(sentence)] if sentence else lines


def _rules(trace: Trace) -> list[str]:
    entries = rules_section(trace).entries
    lines = [f"{'    ' * (len(entry.lead) > 2)}* {_plain(entry.text.plain)}" for entry in entries]
    return ["### Rules on the way", "", *lines] if lines else []


def _check(check: GradientCheck | str, limit: int | None) -> list[str]:
    heading = f"### {check_section(check).title}"
    if isinstance(check, str):
        return [heading, "", _plain(check)]
    rows = [
        [_code(row.name), _code(repr(row.ours)), *(_code(peer_cell(row, peer)) for peer in check.peers), row.verdict]
        for row in check.rows
    ]
    shown = rows if limit is None else rows[:limit]
    lines = _table(["input", "ours", *check.peers, "verdict"], shown, right=range(1, 2 + len(check.peers)))
    if len(shown) < len(rows):
        lines += ["", f"*{len(rows) - len(shown):,} more inputs; `to_markdown(limit=None)` shows all.*"]
    return [heading, "", *lines, "", *(_plain(line) for line in (check.summary, *check.notes))]
