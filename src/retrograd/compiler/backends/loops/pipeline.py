"""Compiles a graph that the interpreter runs: from its arrays to an object file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..llvm.jit import object_of
from .graph_code import ARRAYS, NAMES, GraphCode
from .graphs.graph import MOST_STRAIGHT, NODE, ScalarGraph, UnsupportedGraphError
from .graphs.lookups import Lookups
from .graphs.reading import read_graph
from .graphs.reciprocals import SMALL
from .graphs.rounding import selects_by_rounding
from .layouts.accumulators import layout_of
from .layouts.layout import Layout
from .llvm.lanes import find_lanes, sums_in_memory
from .llvm.llvm_text import Text
from .llvm.recurrences import divide_ahead
from .passes.backward import Backward
from .passes.code import Block, Loop, Op, steps_in
from .passes.forward import Forward
from .passes.leaving import left_early, mark
from .passes.recomputation import recomputed
from .passes.storage import Places, Storage
from .shapes.sections import (
    find_fastest,
    find_fastest_graph,
    find_short,
    find_structure,
    forms_of,
    is_better,
    is_long,
)
from .shapes.structure import Body

__all__ = [
    "Passes",
    "Results",
    "code_of_graph",
    "code_of_group",
    "code_that_rounds_alike",
    "write_passes",
    "write_results",
]

#: Among so many computed numbers an index selects at most, and where these may be kept in memory.
_MOST_SELECTED, _MOST_KEPT = 40, 256

#: So many bytes of numbers a group has at most.
_MOST_BYTES = 1 << 25


def code_of_graph(
    exported: Sequence[Mapping[str, Any]], most_straight: int, lanes: int, functions: Mapping[str, str]
) -> GraphCode:
    """Machine code of a graph. It reads no memory but the exported arrays: it may run in another process.

    Args:
        exported: the graph; and, if need be, one that computes the same, and some of it more than once.
        most_straight: so many nodes of code are written at most.
        lanes: how many numbers a vector has.
        functions: those of vectors, and their symbols.
    """
    graph, lookups = _chosen(exported, most_straight)
    if selects_by_rounding(graph):
        return code_that_rounds_alike(exported[0], most_straight)
    passes = write_passes(graph, most_straight, fast=True)
    in_lanes = find_lanes(passes.layout.top, list(passes.blocks.values()), passes.places, lanes, functions)
    if in_lanes:
        passes, in_lanes = passes.arranged(in_lanes, lanes)
    metadata: list[str] = []
    texts = [
        Text(name, block, passes.places, ARRAYS, metadata, functions=functions, lanes=lanes, in_lanes=in_lanes)
        for name, block in passes.blocks.items()
    ]
    scalar = not in_lanes and not metadata and all(map(_is_mostly_in_loops, passes.blocks.values()))
    return _assembled(graph, passes, texts, lookups, metadata, scalar)


def code_that_rounds_alike(exported: Mapping[str, Any], most_straight: int) -> GraphCode:
    """The same of one graph, with sums and products that are rounded as in the interpreter, one by one."""
    lookups = Lookups(_MOST_SELECTED)
    graph = find_fastest_graph([read_graph(exported, False, lookups)], most_straight)
    passes = write_passes(graph, most_straight, fast=True, reciprocals=False)
    metadata: list[str] = []
    texts = [Text(name, block, passes.places, ARRAYS, metadata) for name, block in passes.blocks.items()]
    return _assembled(graph, passes, texts, lookups, metadata, rounds_alike=True)


def _chosen(
    exported: Sequence[Mapping[str, Any]], most_straight: int, arrays: bool = True
) -> tuple[ScalarGraph, Lookups]:
    """The graph of which code is made, with ``arrays`` or without, and the leaves that stand for its selections.

    It is the first one, unless that is long code, and another one is much less that takes hardly longer.
    """
    first, *others = exported

    def fastest(one: Mapping[str, Any]) -> tuple[ScalarGraph, Lookups]:
        lookups = Lookups(_MOST_KEPT if arrays else _MOST_SELECTED)
        return find_fastest_graph(forms_of(one, lookups=lookups, reciprocals=True), most_straight, arrays), lookups

    found = fastest(first)
    for other in others if is_long(found[0], most_straight) else []:
        instead = fastest(other)
        if is_better(instead[0], found[0], most_straight):
            found = instead
    return found


def _is_mostly_in_loops(block: Block) -> bool:
    """Whether most operations that code does are in loops; straight-line code calls functions of vectors."""
    loops = [step for step in steps_in(block) if isinstance(step, Loop)]
    straight = sum(isinstance(step, Op) for step in block.steps)
    return straight < sum(loop.of.times * sum(isinstance(step, Op) for step in loop.body.steps) for loop in loops)


def code_of_group(
    exported: Sequence[Mapping[str, Any]], most_straight: int, width: int, functions: Mapping[str, str]
) -> GraphCode:
    """The same of a group of so many calls; ``functions`` are those of vectors, and their symbols."""
    graph, lookups = _chosen(exported, most_straight, arrays=False)
    if selects_by_rounding(graph):
        raise UnsupportedGraphError("rounding decides what it selects")
    passes = write_passes(graph, most_straight, fast=True)
    if 16 * width * passes.storage.size > _MOST_BYTES:
        raise UnsupportedGraphError("numbers of too many nodes are kept")
    texts = [
        Text(name, block, passes.places, ARRAYS, [], width, functions, width) for name, block in passes.blocks.items()
    ]
    return _assembled(graph, passes, texts, lookups)


def _assembled(
    graph: ScalarGraph,
    passes: Passes,
    texts: Sequence[Text],
    lookups: Lookups,
    metadata: Sequence[str] = (),
    scalar: bool = False,
    rounds_alike: bool = False,
) -> GraphCode:
    declarations = dict.fromkeys(line for text in texts for line in text.declarations)
    module = "\n".join([*declarations, *(text.text for text in texts), *metadata])
    if rounds_alike:  # LLVM may round otherwise only where a flag lets it
        module = module.replace(" contract ", " ").replace(" reassoc ", " ")
    return GraphCode(
        object_of(module, passes=bool(metadata), scalar=scalar),
        passes.storage.size,
        passes.places.tables,
        graph.literals,
        [(kind, passes.element(kind, index)) for kind, index in graph.roots],
        passes.zeroed(),
        lookups.packed(),
        len(passes.layout.positions),
    )


@dataclass(frozen=True, slots=True)
class Passes:
    """The two passes of a graph, and where their numbers are.

    Attributes:
        forward: the forward pass.
        backward: the backward pass.
        layout: the graph.
        storage: what is kept.
        places: what the addresses in the code are.
    """

    forward: Forward
    backward: Backward
    layout: Layout
    storage: Storage
    places: Places

    @property
    def blocks(self) -> dict[str, Block]:
        """The code of both, by the names of their functions."""
        return dict(zip(NAMES, (self.forward.t.top, self.backward.t.top), strict=True))

    def arranged(self, in_lanes: list[Body], lanes: int) -> tuple[Passes, list[Body]]:
        """The same, with what the iterations of some loops have of one number side by side; and those loops.

        They are none if their sums in memory are too far apart then.
        """
        self.storage.allocate(in_lanes, lanes)
        places = Places(self.storage)
        loops = [step for block in self.blocks.values() for step in steps_in(block) if isinstance(step, Loop)]
        found = [sums_in_memory(loop, places) for loop in loops if loop.of in in_lanes]
        sums = [each for each in found if each is not None]
        if len(sums) < len(found):
            self.storage.allocate()
            return replace(self, places=Places(self.storage)), []
        places.sums = self.storage.size
        self.storage.size += lanes * max(map(len, sums), default=0)
        return replace(self, places=places), in_lanes

    def element(self, kind: int, index: int) -> int:
        """Which element of its array a root is."""
        return int(self.storage.places(np.array([index]))[0]) if kind == NODE else index

    def zeroed(self) -> list[tuple[int, int]]:
        """The stretches of the adjoints that must be zero before the backward pass: begin and length."""
        ranges = {self.storage.range_of(position) for position in self.backward.in_memory}
        return sorted(ranges | ({(0, cells)} if (cells := self.layout.graph.cells) else set()))


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
    layout = layout_of(graph, find_structure(graph, most_straight))
    storage = Storage(layout)
    storage.keep_roots(graph)
    draft = Forward(layout, storage, set())
    forward = Forward(layout, storage, draft.unseen_by_some())
    storage.allocate()
    return Results(forward, storage, Places(storage, tables))


def write_passes(
    graph: ScalarGraph,
    most_straight: int = MOST_STRAIGHT,
    fast: bool = False,
    for_c: bool = False,
    reciprocals: bool = True,
) -> Passes:
    """The two passes of a graph.

    Args:
        graph: the graph.
        most_straight: so many nodes of straight-line code, and of the loops' bodies, are written at most.
        fast: whether it is to take little time, where a call that may leave a domain, or a gradient that is not
            finite, is computed again, through the nodes; else there is to be little code.
        reciprocals: whether fast code may compute a quotient as a product, which rounds otherwise.
        for_c: whether it is for a C compiler: those have a sine of vectors, and a cosine, and nothing that gives both.

    Raises:
        UnsupportedGraphError: it has something that this backend does not write.
    """
    if for_c:
        top = find_short(graph, most_straight)
    else:
        top = find_fastest(graph, most_straight) if fast else find_structure(graph, most_straight, scalars=True)
    layout = layout_of(graph, top)
    storage = Storage(layout)
    storage.keep_roots(graph)
    draft = Forward(layout, storage, set(), fast)
    separate = draft.loops_of_any_order() if for_c else set()
    if separate:
        draft = Forward(layout, storage, set(), fast, separate)
    finite = [graph.roots[i] for i in (0, *graph.results)]
    checked = draft.unseen([index for kind, index in finite if kind == NODE])
    if for_c:  # where nothing is computed again, no infinite number may vanish
        checked = draft.unseen_by_some()
    left = left_early(draft.t.top, layout, storage)
    backward = Backward(layout, draft, fast)
    again = recomputed(draft.t.top, backward.needed, draft.is_kept)
    if again and not draft.t.signed_zeros:  # which the backward pass does not keep
        backward = Backward(layout, draft, fast, again)
    backward.keep_needed()
    forward = Forward(layout, storage, checked, fast, separate)
    mark(left, draft.t.top, forward.t.top, backward, storage)
    if fast and reciprocals and len(graph) >= SMALL:
        divide_ahead(forward.t.top, is_forward=True)
        divide_ahead(backward.t.top, is_forward=False)
    storage.allocate()
    return Passes(forward, backward, layout, storage, Places(storage))
