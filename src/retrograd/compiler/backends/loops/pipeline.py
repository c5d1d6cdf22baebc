"""Compiles a program that the interpreter runs: from its graph to installed machine code."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from ....engine import SpecializationCache
from ..llvm.jit import compile_module
from .backward import Backward
from .forward import Forward
from .graph import LEAF, LITERAL, NODE, ScalarGraph, read_graph
from .layout import Layout
from .llvm_text import Text
from .periods import MOST_STRAIGHT, find_sections

__all__ = ["compile_graph", "write_passes"]


def compile_graph(programs: SpecializationCache, number: int) -> None:
    """Compile program ``number``, which the interpreter runs, and install the machine code.

    Raises:
        IndexError: the program has been dropped meanwhile.
        UnsupportedGraphError: the program has something that this backend does not write.
    """
    start = perf_counter()
    exported = programs.scalar_graph(number)
    graph = read_graph(exported)
    forward, backward = write_passes(graph)
    values, adjoints = np.zeros(len(graph) + 1), np.zeros(len(graph) + 1)
    bases = {"L": exported["values"], "G": exported["adjoints"], "W": values.ctypes.data, "B": adjoints.ctypes.data}
    tables = backward.t.tables  # those of the forward pass among them
    bases.update((f"T{i}", table.ctypes.data) for i, table in enumerate(tables))
    literals = np.array(graph.literals)
    texts = [Text("forward", forward.t.top, bases), Text("backward", backward.t.top, bases)]
    declarations = dict.fromkeys(line for text in texts for line in text.declarations)
    code = compile_module("\n".join([*declarations, *(text.text for text in texts)]), ["forward", "backward"])
    place = {LEAF: exported["values"], LITERAL: literals.ctypes.data, NODE: values.ctypes.data}
    roots = np.array([place[kind] + 8 * index for kind, index in graph.roots], np.uint64)
    size = values.nbytes + adjoints.nbytes + sum(table.nbytes for table in tables)
    ranges = [
        (adjoints.ctypes.data + 8 * section.begin, 8 * section.period * section.count)
        for s, section in enumerate(forward.layout.sections)
        if s in backward.zeroed
    ]
    programs.install_graph(
        number,
        code.addresses["forward"],
        code.addresses["backward"],
        roots.tobytes(),
        np.array(ranges, np.uint64).tobytes(),
        size,
        (code, values, adjoints, tables, literals),
        (perf_counter() - start) * 1e3,
    )


def write_passes(graph: ScalarGraph, most_straight: int = MOST_STRAIGHT) -> tuple[Forward, Backward]:
    """The two passes of a graph.

    Args:
        graph: the graph.
        most_straight: so many nodes of straight-line code, and of the loops' bodies, are written at most.

    Raises:
        UnsupportedGraphError: it has something that this backend does not write.
    """
    layout = Layout(graph, find_sections(graph, most_straight))
    kept = {layout.position_of(index)[0] for kind, index in graph.roots if kind == NODE}
    draft = Forward(layout, set(kept), set())
    checked = draft.unseen(graph.roots[0][1]) if graph.roots[0][0] == NODE else set()
    backward = Backward(layout, draft)
    forward = Forward(layout, draft.stored, checked)
    return forward, backward
