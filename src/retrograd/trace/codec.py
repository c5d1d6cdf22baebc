"""Writes traces as JSON: a trace with its sentences, or the graph of a Value packed for the explorer's page.

Both follow ``schema.json``; :mod:`.reader` reads them. For the page everything is left out that the page can compute
exactly: sentences, and the local derivatives that exact IEEE arithmetic gives.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .. import engine
from ..engine import Value
from ..engine.source_lines import location_of
from ..ops import BY_NAME, formula
from ..ops.formula import operand_names
from .callgraph import Calls
from .columns import Columns, Json, number_to_json, to_text
from .graph import Graph
from .groups import Group, grouped
from .trace import Trace, Written
from .variables import with_calls

if TYPE_CHECKING:
    from ..autodiff.check import GradientCheck, GradientRow

__all__ = ["check_to_json", "encode", "pack"]

#: What a partial's formula may call and still mean the same bits in every language.
_EXACT = {"select", "zero_product"}
#: Operands of a partial that are themselves computed, with other things than exact operations.
_COMPUTED = {"rest", "ties"}


# --- a trace --------------------------------------------------------------------------------------


def encode(trace: Trace, indent: int | None = None, check: Json | None = None) -> str:
    """The trace as JSON text in ASCII, with the table of a gradient check when there is one."""
    columns = Columns(packed=False)
    edges, ledger = trace.operands(), {item.edge: item for step in trace.backward for item in step.additions}
    for node in trace.nodes:
        if node.kind == "constant":
            columns.add_constant(node.data, node.expression)
        elif node.kind == "leaf":
            columns.add_leaf(node.name, node.data, node.grad or 0.0)
        else:
            own = edges.get(node.id, [])
            locals_ = [(edge.local, edge.zero) for edge in own]
            operands = [edge.operand for edge in own]
            kind = (node.op, node.row, node.output)
            columns.add_operation(
                node.name, node.data, node.grad or 0.0, kind, operands, locals_, node.source, node.expression
            )
            if node.own:
                amounts = [number_to_json(ledger[e.id].contribution) if e.id in ledger else 0.0 for e in own]
                columns.measured.append({"node": node.id, "contributions": amounts})
    groups = [Group(None, "program", trace.title, "")]
    document = columns.document(trace.title, trace.engine, trace.root, groups, [0] * len(trace.nodes))
    document["words"] = _words(trace)
    if check is not None:
        document["check"] = check
    return to_text(document, indent)


def _words(trace: Trace) -> Json:
    """The trace in sentences, for readers that show them."""
    return {
        "nodes": [node.latex for node in trace.nodes],
        "formulas": [node.formula for node in trace.nodes],
        "derivatives": [edge.formula for edge in trace.edges],
        "rules": [edge.latex for edge in trace.edges],
        "forward": [step.text for step in trace.forward],
        "backward": [step.text for step in trace.backward],
        "additions": [item.text for step in trace.backward for item in step.additions],
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


# --- a graph for the page -------------------------------------------------------------------------


def pack(
    root: Value,
    names: Mapping[str, Value] | None = None,
    *,
    title: str = "",
    written: Written | None = None,
    calls: Calls | None = None,
    fold: bool = True,
) -> Json:
    """The graph of ``root`` and one fresh backward pass seeded with 1, for the explorer's page.

    Arguments are those of :meth:`Trace.of`. ``calls`` are those during which the graph was recorded: they fold it and
    give names to leaves that ``names`` does not name. Without ``fold`` the graph is one group. Raises what
    ``backward()`` would raise.
    """
    graph = Graph(root, with_calls(names or {}, root, calls), written)
    gradients = dict(zip(graph.ids, _gradients(graph), strict=True))
    columns = Columns(packed=True)
    for number, (about, value) in enumerate(zip(graph.about, graph.values, strict=True)):
        if value is None:
            columns.add_constant(about.data, graph.constant_text[number])
        elif value not in graph.inputs:
            columns.add_leaf(about.name, about.data, gradients[value])
        else:
            _add_operation(columns, graph, value, gradients[value])
    groups, owner = [Group(None, "program", title, "")], [0] * len(graph.about)
    if fold:
        folding = grouped(graph, calls, title)
        groups, owner = folding.groups, folding.owner
    return columns.document(title, engine.ENGINE, graph.ids[root], groups, owner)


def _gradients(graph: Graph) -> Sequence[float]:
    """The engine's own, for each leaf and operation in order."""
    if not graph.interior:
        return [float(value is graph.root) for value in graph.ids]
    return engine.gradients(graph.root, 1.0, list(graph.ids))


def _add_operation(columns: Columns, graph: Graph, value: Value, gradient: float) -> None:
    row, number = engine.row_name(value), graph.ids[value]
    locals_ = None if row in _EXACT_ROWS else graph.locals_of(value, graph.operands_of(value))
    columns.add_operation(
        graph.names[value],
        value.data,
        gradient,
        (value._op, row, engine.output_index(value)),
        graph.inputs[value],
        locals_,
        location_of(value),
        graph.written(value, None),
    )
    if value in graph.measured:
        added = iter(graph.measure(value, gradient)) if gradient else iter(())
        amounts = [0.0 if o.constant else number_to_json(next(added, 0.0)) for o in graph.operands_of(value)]
        columns.measured.append({"node": number, "contributions": amounts})


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
