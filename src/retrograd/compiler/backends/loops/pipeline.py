"""Compiles a program that the interpreter runs: from its graph to installed machine code."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ....engine import SpecializationCache
from ..llvm.jit import compile_module
from .backward import Backward
from .forward import Forward
from .graph import LEAF, LITERAL, NODE, ScalarGraph, UnsupportedGraphError, read_graph
from .layout import Layout
from .llvm_text import Text
from .sections import MOST_STRAIGHT, find_structure
from .storage import Places, Storage

__all__ = ["Passes", "Results", "compile_graph", "compile_group", "write_passes", "write_results"]

#: So many bytes of numbers a group has at most.
_MOST_BYTES = 1 << 25


def compile_graph(programs: SpecializationCache, number: int, most_straight: int = MOST_STRAIGHT) -> None:
    """Compile program ``number``, which the interpreter runs, and install the machine code.

    Args:
        programs: where the program is.
        number: which it is.
        most_straight: so many nodes of code are written at most.

    Raises:
        IndexError: the program has been dropped meanwhile.
        UnsupportedGraphError: the program has something that this backend does not write.
    """
    start = perf_counter()
    exported, graph, code = _write(programs, number, most_straight)
    values, adjoints = np.zeros(code.storage.size + 1), np.zeros(code.storage.size + 1)
    bases = {"L": exported["values"], "G": exported["adjoints"], "W": values.ctypes.data, "B": adjoints.ctypes.data}
    literals = np.array(graph.literals)
    metadata: list[str] = []
    blocks = {"forward": code.forward.t.top, "backward": code.backward.t.top}
    texts = [Text(name, block, code.places, list(bases), metadata) for name, block in blocks.items()]
    declarations = dict.fromkeys(line for text in texts for line in text.declarations)
    module = "\n".join([*declarations, *(text.text for text in texts), *metadata])
    machine = compile_module(module, list(blocks), passes=bool(metadata))
    tables = code.places.tables
    place = {LEAF: exported["values"], LITERAL: literals.ctypes.data, NODE: values.ctypes.data}
    roots = np.array([place[kind] + 8 * code.element(kind, index) for kind, index in graph.roots], np.uint64)
    size = values.nbytes + adjoints.nbytes + sum(table.nbytes for table in tables)
    table = [*bases.values(), *(entries.ctypes.data for entries in tables)]
    ranges = [(adjoints.ctypes.data + 8 * begin, 8 * length) for begin, length in code.zeroed()]
    programs.install_graph(
        number,
        machine.addresses["forward"],
        machine.addresses["backward"],
        np.array(table, np.uint64).tobytes(),
        np.array([[array.ctypes.data, array.nbytes] for array in (values, adjoints)], np.uint64).tobytes(),
        roots.tobytes(),
        np.array(ranges, np.uint64).tobytes(),
        size,
        (machine, values, adjoints, tables, literals),
        (perf_counter() - start) * 1e3,
    )


def compile_group(programs: SpecializationCache, number: int, most_straight: int = MOST_STRAIGHT) -> None:
    """Compile program ``number`` to run a group of calls side by side, and install the machine code.

    Args:
        programs: where the program is.
        number: which it is.
        most_straight: so many nodes of code are written at most.

    Raises:
        IndexError: the program has been dropped meanwhile.
        UnsupportedGraphError: the program has something that this backend does not write.
    """
    start = perf_counter()
    _, graph, code = _write(programs, number, most_straight)
    width, functions = programs.vector_functions()
    if 16 * width * code.storage.size > _MOST_BYTES:
        raise UnsupportedGraphError("numbers of too many nodes are kept")
    blocks = {"forward": code.forward.t.top, "backward": code.backward.t.top}
    texts = [Text(name, block, code.places, "LGWB", [], width, functions) for name, block in blocks.items()]
    declarations = dict.fromkeys(line for text in texts for line in text.declarations)
    module = "\n".join([*declarations, *(text.text for text in texts)])
    machine = compile_module(module, list(blocks))
    tables = code.places.tables
    roots = [(kind, code.element(kind, index)) for kind, index in graph.roots]
    programs.install_group(
        number,
        width,
        machine.addresses["forward"],
        machine.addresses["backward"],
        np.array([entries.ctypes.data for entries in tables], np.uint64).tobytes(),
        code.storage.size,
        np.array(roots, np.uint64).tobytes(),
        np.array(code.zeroed(), np.uint64).tobytes(),
        np.array(graph.literals).tobytes(),
        (machine, tables),
        (perf_counter() - start) * 1e3,
    )


@dataclass(frozen=True, slots=True)
class Passes:
    """The two passes of a graph, and where their numbers are.

    Attributes:
        forward: the forward pass.
        backward: the backward pass.
        storage: what is kept.
        places: what the addresses in the code are.
    """

    forward: Forward
    backward: Backward
    storage: Storage
    places: Places

    def element(self, kind: int, index: int) -> int:
        """Which element of its array a root is."""
        return int(self.storage.places(np.array([index]))[0]) if kind == NODE else index

    def zeroed(self) -> list[tuple[int, int]]:
        """The stretches of the adjoints that must be zero before the backward pass: begin and length."""
        return sorted({self.storage.range_of(position) for position in self.backward.in_memory})


def _write(
    programs: SpecializationCache, number: int, most_straight: int
) -> tuple[dict[str, Any], ScalarGraph, Passes]:
    """The graph of a program, as it was exported and as it was read, and its passes.

    What the program computes twice is computed once, unless too little of it repeats itself then.
    """

    def write(once: bool) -> tuple[dict[str, Any], ScalarGraph, Passes]:
        exported = programs.scalar_graph(number, once)
        graph = read_graph(exported)
        return exported, graph, write_passes(graph, most_straight, retried=True)

    try:
        return write(once=True)
    except UnsupportedGraphError:
        return write(once=False)


@dataclass(frozen=True, slots=True)
class Results:
    """The forward pass of a graph with several results, and where its numbers are."""

    forward: Forward
    storage: Storage
    places: Places


def write_results(graph: ScalarGraph, most_straight: int, tables: str) -> Results:
    """The forward pass of a graph whose roots are all results.

    Args:
        graph: the graph.
        most_straight: so many nodes of straight-line code, and of the loops' bodies, are written at most.
        tables: what the names of its tables begin with.

    Raises:
        UnsupportedGraphError: it has something that this backend does not write.
    """
    layout = Layout(graph, find_structure(graph, most_straight))
    storage = Storage(layout)
    storage.keep_roots(graph)
    draft = Forward(layout, storage, set())
    forward = Forward(layout, storage, draft.unseen_by_some())
    storage.allocate()
    return Results(forward, storage, Places(storage, tables))


def write_passes(graph: ScalarGraph, most_straight: int = MOST_STRAIGHT, retried: bool = False) -> Passes:
    """The two passes of a graph.

    Args:
        graph: the graph.
        most_straight: so many nodes of straight-line code, and of the loops' bodies, are written at most.
        retried: whether a gradient that is not finite is computed again, through the nodes.

    Raises:
        UnsupportedGraphError: it has something that this backend does not write.
    """
    layout = Layout(graph, find_structure(graph, most_straight))
    storage = Storage(layout)
    storage.keep_roots(graph)
    draft = Forward(layout, storage, set())
    checked = draft.unseen(graph.roots[0][1]) if graph.roots[0][0] == NODE else set()
    backward = Backward(layout, draft, retried)
    forward = Forward(layout, storage, checked)
    storage.allocate()
    return Passes(forward, backward, storage, Places(storage))
