"""A function with several results in C: any tree of numbers, or the entries of a matrix of derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....autodiff.sparse import Pattern
from ....engine import Value
from ...calls.outputs import OutputsOfTrace
from ..loops.graphs.graph import LEAF, LITERAL, ScalarGraph
from ..loops.passes.forward import Forward
from ..loops.passes.storage import Storage
from ..loops.pipeline import Results
from .lookups import LookupLines
from .text import constant, statements, table_definition

__all__ = ["Matrix", "Part", "copies", "guard_lines", "roots_in"]

Guard = tuple[str, int, int | None, float, bool]


class Matrix(NamedTuple):
    """Where the entries of a sparse matrix are, in compressed rows.

    Attributes:
        starts: The entry with which each row begins, and the number of all.
        columns: The column of each entry.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]


def copies(to: str, of: str, into: Sequence[int], places: Sequence[int]) -> Iterator[str]:
    """``to[into[i]] = of[places[i]]``, with a loop for each stretch of steady steps."""
    i = 0
    while i < len(into):
        end = i + 1
        if end < len(into):
            steps = into[end] - into[i], places[end] - places[i]
            while end < len(into) and (into[end] - into[end - 1], places[end] - places[end - 1]) == steps:
                end += 1
        if end - i < 3:
            yield f"  {to}[{into[i]}] = {of}[{places[i]}];"
            end = i + 1
        else:
            left, right = (_moving(begin, step) for begin, step in zip((into[i], places[i]), steps, strict=True))
            yield f"  for (int i = 0; i < {end - i}; ++i) {to}[{left}] = {of}[{right}];"
        i = end


def _moving(begin: int, step: int) -> str:
    moving = "i" if step == 1 else f"{step} * i"
    return str(begin) if not step else moving if not begin else f"{begin} + {moving}"


def roots_in(graph: ScalarGraph, forward: Forward, storage: Storage) -> list[str]:
    """What the graph's roots are in C, after the code of the forward pass, which keeps them."""
    found = []
    for kind, index in graph.roots:
        if kind == LEAF:
            found.append(f"L[{index}]")
        elif kind == LITERAL:
            found.append(constant(float(graph.literals[index])))
        else:
            value = forward.values[forward.layout.place(index)[0].number]
            place = int(storage.places(np.array([index]))[0])
            found.append(constant(value) if isinstance(value, float) else f"W[{place}]")
    return found


def guard_lines(guards: Sequence[Guard], shown: Sequence[str]) -> Iterator[str]:
    """The comparisons that must come out as in the trace."""
    for test, left, right, number, outcome in guards:
        condition = f"{shown[left]} {test} {shown[right] if right is not None else constant(number)}"
        yield f"  if ({f'!({condition})' if outcome else condition}) return 1;"


class Part:
    """One function with several results.

    Attributes:
        count: how many numbers it gives.
        matrix: their places, if they are the entries of a sparse matrix.
        work: how many doubles it needs to work with.
    """

    def __init__(
        self,
        name: str,
        given: str,
        graph: ScalarGraph,
        results: Results,
        tree: OutputsOfTrace,
        guards: Sequence[Guard],
        inputs: int,
        values: Sequence[Value],
        lookups: LookupLines,
    ) -> None:
        """
        Args:
            name: the function's in C.
            given: its first parameters in C.
            graph: its graph.
            results: its forward pass.
            tree: what it returned when it was traced.
            guards: what it compared.
            inputs: how many numbers the arguments have.
            values: the Values among the leaves, which come before the arguments and the cotangents.
            lookups: what it does with its index arguments.
        """
        self.name, self.values = name, values
        self._graph, self._results, self._guards, self._inputs = graph, results, guards, inputs
        self._leaves = len(graph.wanted)
        self._lookups = lookups
        self._head = f"int {name}({given}, double *y, double *work)"
        self.work = self._leaves + max(results.storage.size, 1)
        numbers: dict[int, int] = {}
        roots = [numbers.setdefault(id(node), len(numbers) + 1) for node in tree.nodes]
        self._roots: list[int | float] = [
            float(place) if fixed else roots[int(place)]
            for place, fixed in zip(tree.places, tree.constant, strict=True)
        ]
        self.matrix: Matrix | None = None
        if tree.pattern is not None:
            self.matrix = self._whole(tree.pattern) if name.endswith("_hessian") else _compressed(tree.pattern)
        self.count = len(self._roots)

    def _whole(self, upper: Pattern) -> Matrix:
        """The symmetric matrix, and its entries of those of the upper half."""
        matrix, which = upper.mirrored
        self._roots = [self._roots[entry] for entry in which.tolist()]
        return Matrix(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))

    def declarations(self) -> Iterator[str]:
        """What comes before the functions, but for the tables."""
        if self.matrix is not None:
            for what, numbers in zip(("starts", "columns"), self.matrix, strict=True):
                yield f"extern const int {self.name}_{what}[{max(len(numbers), 1)}];"
        yield f"{self._head};"

    def whole(self, positions: dict[int, int], where: Callable[[int], str]) -> list[str]:
        """The function; ``positions`` of Values in ``p``, by their identity."""
        body = list(self._body(positions, where))
        tables = self._results.places
        lines = [table_definition(tables.name(i), table) for i, table in enumerate(tables.tables)]
        if self.matrix is not None:
            for what, numbers in zip(("starts", "columns"), self.matrix, strict=True):
                entries = ", ".join(map(str, numbers.tolist())) or "0"
                lines.append(f"const int {self.name}_{what}[{max(len(numbers), 1)}] = {{{entries}}};")
        return [*lines, "", f"{self._head} {{", *body, "  return 0;", "}", ""]

    def _body(self, positions: dict[int, int], where: Callable[[int], str]) -> Iterator[str]:
        forward = self._results.forward
        shown = roots_in(self._graph, forward, self._results.storage)
        yield "  double *const L = work;"
        yield f"  double *const W = work + {self._leaves};"
        yield "  (void)x; (void)p; (void)y; (void)L; (void)W;"
        yield from ("  (void)index;",) if "index" in self._head else ()
        of = [positions[id(value)] for value in self.values]
        yield from copies("L", "p", range(len(of)), of)
        yield from copies("L", "x", range(len(of), len(of) + self._inputs), range(self._inputs))
        yield from self._lookups.checks()
        yield from self._lookups.filled()
        yield from statements(forward.t.top, "v", self._results.places, where, "1")
        yield from guard_lines(self._guards, shown)
        yield from self._given(shown)

    def _given(self, shown: Sequence[str]) -> Iterator[str]:
        """The results, with loops where they are elements one after another."""
        texts = [constant(root) if isinstance(root, float) else shown[root] for root in self._roots]
        into: list[int] = []
        for i, text in enumerate([*texts, ""]):
            if text.startswith("W["):
                into.append(i)
                continue
            yield from copies("y", "W", into, [int(texts[k][2:-1]) for k in into])
            into = []
            if text:
                yield f"  y[{i}] = {text};"


def _compressed(pattern: Pattern) -> Matrix:
    return Matrix(pattern.starts.astype(np.int64), pattern.columns.astype(np.int64))
