"""A scalar function as a C99 file: ``to_c`` and what it gives."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .... import engine, errors
from ....engine import Value
from ....engine.source_lines import location_numbered
from ....index import Index
from ...calls.signature import Signature
from ...guards.captured_state import asks_of, functions_of
from ...if_conversion.conversions import Conversions, without_decisions
from ...reports.reasons import Cause, Reason
from ...request import CompileRequest, Options
from ...tracing.traced_call import Traced, guards_of, trace
from ..example import check_example
from ..jax.layout import Layout as Arguments
from ..jax.layout import Numbers
from ..loops.graphs.graph import ScalarGraph, UnsupportedGraphError
from ..loops.graphs.lookups import Lookups
from ..loops.passes.storage import Places
from ..loops.pipeline import Passes, write_passes, write_results
from ..loops.shapes.sections import find_fastest_graph, forms_of
from .lookups import LookupLines, given_to
from .results import Guard, Matrix, Part, copies, guard_lines, roots_in
from .special_functions import special_functions
from .text import statements, table_definition

__all__ = ["CFunction", "to_c"]

#: What the gradient's function writes.
_DERIVATIVES = ", double *dx, double *dp"

#: So many nodes of straight-line code and of loops' bodies are written; C compilers take minutes for more.
_MOST_STRAIGHT = 60_000


_RETURNED = (
    " * The functions return the value. It is NAN where a comparison decides otherwise than in the call that was",
    " * traced, or where an operation that it depends on is outside its domain; then dx and dp are as they were.",
    " * Beside infinities a derivative may be NAN where the engine gives a number.",
)
_FILLED = (
    " * Functions with a y return 0; or 1, and leave it as it was, where a comparison decides otherwise than in the",
    " * call that was traced, an operation is outside its domain, or something infinite is multiplied by zero.",
)


@dataclass(frozen=True, slots=True)
class CFunction:
    """A function that was written as C.

    Attributes:
        path: The file.
        name: What the functions' names in it begin with: ``<name>_value``,
            ``<name>_gradient``, ``<name>_values``, ``<name>_jacobian``, ``<name>_hessian``.
        values: The Values that the function depends on, in the order of ``p`` and ``dp``.
        derivatives: How many numbers ``dx`` has: those of the arguments by which the gradient is taken.
        work: How many doubles the functions need to work with (``<NAME>_WORK`` in the file).
        results: How many numbers the functions with several results give, by name.
        matrices: Where the entries of sparse matrices are, by the name of the function that gives them.
    """

    path: Path
    name: str
    values: tuple[Value, ...]
    derivatives: int
    work: int
    results: Mapping[str, int]
    matrices: Mapping[str, Matrix]
    _arguments: Arguments
    _order: tuple[tuple[str, int], ...]

    @property
    def parameters(self) -> list[float]:
        """``p``: the numbers of ``values``, as they are now."""
        return [value.data for value in self.values]

    def inputs(self, *arguments: Any) -> list[float]:
        """``x``: the numbers of a call's arguments, in the file's order.

        Args:
            *arguments: Of the structure of the example; only floats, Values and Indexes may differ.

        Raises:
            TypeError: They have another structure.
        """
        numbers = self._numbers(arguments)
        return [float(numbers[kind][offset]) for kind, offset in self._order]

    def indices(self, *arguments: Any) -> list[int]:
        """``index``: the numbers of the Index arguments of a call, in the file's order.

        Args:
            *arguments: Of the structure of the example.

        Raises:
            TypeError: They have another structure.
        """
        return [int(number) for number in self._numbers(arguments)["index"]]

    def _numbers(self, arguments: tuple[Any, ...]) -> Numbers:
        numbers = self._arguments.read(arguments)
        if numbers is None:
            what = f"it takes {self._arguments or 'none'}, and ints, texts and lengths as in the example"
            raise errors.other_arguments(what, "to_c()")
        return numbers


def to_c(
    function: Callable[..., Any],
    path: str | os.PathLike[str],
    arguments: Sequence[Any],
    name: str,
    derivatives: Iterable[tuple[str, Callable[..., Any]]],
    argnums: int | Sequence[int] | None,
    known: Callable[[], Conversions],
) -> CFunction:
    """Write a scalar function as C; users call ``Compiled.to_c``.

    Args:
        function: the scalar function.
        path: the file.
        arguments: an example of its arguments, with which it is traced.
        name: what the C functions' names begin with; the function's own if empty.
        derivatives: what the names of others end with that are to be written besides, and functions of the same
            arguments.
        argnums: the positions of the arguments by which the gradient is taken; all if None.
        known: gives how many iterations loops took in calls of the function.

    Raises:
        NotTraceableError: the trace would not be valid for other calls, or has an operation that C lacks.
        ValueError: the name is no identifier of C, two would be the same, or there is no such argument.
    """
    if engine.ENGINE != "native":
        raise errors.not_traceable(
            function, "the reference engine has no compiler; use the native engine", "be written as C"
        )
    check_example(function, arguments, "be written as C", "to_c(path, ")
    derivatives = list(derivatives)
    name = _identifier(name or getattr(function, "__name__", "f"))
    which = [argnums] if isinstance(argnums, int) else argnums
    if not set(which or ()) <= set(range(len(arguments))):
        raise ValueError(f"to_c: argnums is {argnums!r}, but there are {len(arguments)} arguments.")
    if twice := [what for what, count in Counter(what for what, _ in derivatives).items() if count > 1]:
        raise ValueError(f"to_c: two functions would be called {name}_{twice[0]}: write them to two files.")
    main = _traced(function, arguments, known(), which)
    others = {f"{name}_{what}": _traced(derivative, arguments, known()) for what, derivative in derivatives}
    single = main.traced.recording.tree is None
    parts = others if single else {f"{name}_values": main, **others}
    try:
        written = [_part(of, part, f"T{i}_") for i, (of, part) in enumerate(parts.items())]
        passes = write_passes(main.graph, _MOST_STRAIGHT, for_c=True) if single else None
    except UnsupportedGraphError as problem:
        raise errors.not_traceable(function, str(problem), "be written as C") from None
    values = tuple({id(value): value for part in (main, *others.values()) for value in part.values}.values())
    text = _File(function, name, main, passes, written, values)
    Path(path).write_text(text.whole(), encoding="utf-8")
    signature = main.traced.signature
    order = tuple(_order(signature, main.inputs))
    results = {part.name: part.count for part in written}
    matrices = {part.name: part.matrix for part in written if part.matrix is not None}
    structure, count = Arguments(signature.spec), len(main.differentiated)
    return CFunction(Path(path), name, values, count, text.work, results, matrices, structure, order)


@dataclass(frozen=True, slots=True)
class _Graph:
    """A traced function.

    Attributes:
        traced: the trace.
        graph: its graph.
        guards: what it compares.
        inputs: how many numbers its arguments have.
        values: the Values it holds.
        lookups: what it selects by an Index.
        differentiated: which of the arguments' numbers the gradient is taken by.
    """

    traced: Traced
    graph: ScalarGraph
    guards: Sequence[Guard]
    inputs: int
    values: tuple[Value, ...]
    lookups: Lookups
    differentiated: Sequence[int]

    def lookup_lines(self, places: Places) -> LookupLines:
        """What its C function does with its index arguments."""
        return LookupLines(self.lookups, self.traced.recording.index_guards, self.graph.literals, places)


def _traced(
    function: Callable[..., Any], arguments: Sequence[Any], known: Conversions, argnums: Sequence[int] | None = None
) -> _Graph:
    asks, functions = (
        asks_of(function, arguments)._replace(identity=None, same_numbers=False),
        functions_of(function, arguments),
    )

    def run() -> Traced | Cause:
        return trace(
            function,
            tuple(arguments),
            False,
            asks,
            want_sources=True,
            several=True,
            as_number=True,
            functions=functions,
            derives_by_floats=True,
        )

    traced = without_decisions(
        function,
        arguments,
        run,
        guards_of,
        known,
    )
    obstacle = traced if isinstance(traced, Cause) else traced.obstacle
    if isinstance(traced, Cause) or obstacle is not None:
        raise errors.not_traceable(function, str(obstacle), "be written as C")
    cache, lookups = engine.SpecializationCache(lambda *_: None, Index, Reason), Lookups()
    count = len(traced.signature.inputs) - len(traced.recording.cotangents)
    order = _order(traced.signature, count)
    chosen = set(order) if argnums is None else Arguments(traced.signature.spec).numbers_of(argnums)
    differentiated = [number for number, each in enumerate(order) if each in chosen]
    try:
        request = CompileRequest(traced.recording, traced.signature, False, Options(tier="vm"), cache.capture([]))
        number = cache.add(request)
        exported = cache.scalar_graph(number, False)
        wanted = np.ones(len(exported["wanted"]), np.uint8)
        first = len(wanted) - len(traced.signature.inputs)
        wanted[first + np.setdiff1d(np.arange(count), differentiated)] = 0
        graph = find_fastest_graph(forms_of({**exported, "wanted": wanted}, lookups=lookups))
    except (NotImplementedError, UnsupportedGraphError) as problem:
        raise errors.not_traceable(function, str(problem), "be written as C") from None
    listing = cache.listing(number)
    values = tuple(leaf for leaf, *_ in listing["leaves"] if leaf is not None)
    if len(traced.signature.inputs) + len(values) + len(lookups.found) != len(graph.wanted):
        raise errors.not_traceable(function, "it has leaves that are neither arguments nor Values", "be written as C")
    return _Graph(traced, graph, listing["guards"], count, values, lookups, differentiated)


def _order(signature: Signature, count: int) -> list[tuple[str, int]]:
    """The kind and position of each number of the arguments, in the order of ``x``."""
    return [("active" if is_active else "passive", offset) for is_active, offset in signature.offsets()[:count]]


def _part(name: str, of: _Graph, tables: str) -> Part:
    """A function with several results, of which one number is none."""
    tree = of.traced.recording.tree
    if tree is None:
        raise UnsupportedGraphError("its derivative is one number: compile that")
    graph = of.graph.without_sum()
    results = write_results(graph, _MOST_STRAIGHT, tables)
    lookups = of.lookup_lines(results.places)
    given = given_to(of.traced.signature.index_count)
    return Part(name, given, graph, results, tree, of.guards, of.inputs, of.values, lookups)


_RESERVED = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern"),
        *("float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed"),
        *("sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while"),
    )
)


def _identifier(name: str) -> str:
    name = "f" if name == "<lambda>" else name
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII) or name in _RESERVED:
        raise ValueError(f"to_c takes a name that C can use; got {name!r}: choose one with name=.")
    return name


class _File:
    """The text of one file."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        main: _Graph,
        passes: Passes | None,
        parts: Sequence[Part],
        values: Sequence[Value],
    ) -> None:
        self._function, self._name, self._graph = function, name, main
        self._passes, self._parts = passes, parts
        self._inputs, self._values, self._mine = main.inputs, values, len(main.values)
        self._leaves = main.inputs + len(main.values) + len(main.lookups.found)
        self._indices = main.traced.signature.index_count
        self._given = given_to(self._indices)
        self._kept = 0 if passes is None else max(passes.storage.size, 1)
        self.work = max([2 * (self._leaves + self._kept), *(part.work for part in parts)])

    def whole(self) -> str:
        bodies: list[str] = []
        tables: list[str] = []
        declared: list[str] = []
        if self._passes is not None:
            passes = self._passes
            bodies += [*self._forward(passes), *self._value(), *self._gradient(passes), ""]  # they add to the tables
            tables += [table_definition(f"T{i}", table) for i, table in enumerate(self._passes.places.tables)]
            declared += [f"{self._head('value')};", f"{self._head('gradient', _DERIVATIVES)};"]
        positions = {id(value): i for i, value in enumerate(self._values)}
        for part in self._parts:
            bodies += part.whole(positions, _where)
            declared += part.declarations()
        return "\n".join(
            [
                *self._header(),
                "#include <math.h>",
                "#include <string.h>",
                "",
                f"#define {self._name.upper()}_WORK {self.work}",
                *tables,
                "",
                *special_functions(bodies),
                *declared,
                "",
                *bodies,
            ]
        )

    def _header(self) -> Iterator[str]:
        code = getattr(self._function, "__code__", None)
        where = f", {Path(code.co_filename).name}:{code.co_firstlineno}" if code else ""
        yield f"/* {self._name}{where}: written by retrograd, Compiled.to_c. C99; needs nothing but -lm."
        yield " *"
        chosen = self._graph.differentiated
        if self._inputs:
            yield f" * x      the {self._inputs} numbers of the arguments, in order"
            yield f" * dx     the derivatives by {'them' if len(chosen) == self._inputs else f'{len(chosen)} of them'}"
        else:
            yield " * x, dx  nothing: no floats or Values are among the arguments"
        yield f" * p, dp  {len(self._values)} Values that the function holds{self._labels()}"
        if self._indices:
            yield f" * index  the {self._indices} Index arguments, in order"
        yield f" * work   {self._name.upper()}_WORK doubles to work with; each thread needs its own"
        for part in self._parts:
            yield f" * y      of {part.name}, {part.count} numbers: {self._order_of(part)}"
        yield " *"
        yield from _RETURNED if self._passes is not None else ()
        yield from _FILLED if self._parts else ()
        yield " */"

    def _order_of(self, part: Part) -> str:
        if part.matrix is not None:
            return f"the entries of row i are {part.name}_starts[i] and on, in {part.name}_columns"
        return "the results from first to last, or row by row"

    def _labels(self) -> str:
        labels = [value.label or "?" for value in self._values]
        if not labels or all(label == "?" for label in labels):
            return ""
        shown = ", ".join(labels[:20]) + (", …" if len(labels) > 20 else "")
        return f": {shown.replace('*/', '* /')}"

    def _head(self, what: str, written: str = "") -> str:
        return f"double {self._name}_{what}({self._given}{written}, double *work)"

    # --- bodies ---------------------------------------------------------------------------------------------

    def _forward(self, passes: Passes) -> Iterator[str]:
        """Returns 1 where there is no value: a C compiler may be told that nothing is NAN."""
        shown = roots_in(self._graph.graph, passes.forward, passes.storage)
        yield f"static int {self._name}_forward({self._given}, double *work, double *value) {{"
        yield from self._areas()
        yield from self._copies("L", "p", 0, self._mine, into=0)
        yield from self._copies("L", "x", 0, self._inputs, into=self._mine)
        yield from ("  (void)index;",) if self._indices else ()
        lookups = self._graph.lookup_lines(passes.places)
        yield from lookups.checks()
        yield from lookups.filled()
        yield from statements(passes.forward.t.top, "v", passes.places, _where, "1")
        yield from guard_lines(self._graph.guards, shown)
        yield f"  *value = {shown[0]};"
        yield "  return 0;"
        yield "}"
        yield ""

    def _value(self) -> Iterator[str]:
        yield f"{self._head('value')} {{"
        yield "  double value;"
        yield f"  return {self._forward_call} ? NAN : value;"
        yield "}"
        yield ""

    def _gradient(self, passes: Passes) -> Iterator[str]:
        yield f"{self._head('gradient', _DERIVATIVES)} {{"
        yield "  double value;"
        yield f"  if ({self._forward_call}) return NAN;"
        yield from self._areas("G", "B")
        yield f"  memset(G, 0, {self._leaves} * sizeof(double));" if self._leaves else "  (void)G;"
        for begin, count in passes.zeroed():
            yield f"  memset(B + {begin}, 0, {count} * sizeof(double));"
        yield from statements(passes.backward.t.top, "g", passes.places, _where)
        yield from self._graph.lookup_lines(passes.places).returned()
        chosen = self._graph.differentiated
        if len(chosen) == self._inputs:
            yield from self._copies("dx", "G", self._mine, self._inputs)
        else:
            yield from copies("dx", "G", range(len(chosen)), [self._mine + each for each in chosen])
            yield from ("  (void)dx;",) if not chosen else ()
        yield from self._copies("dp", "G", 0, self._mine)
        if self._mine < len(self._values):
            yield f"  memset(dp + {self._mine}, 0, {len(self._values) - self._mine} * sizeof(double));"
        yield "  return value;"
        yield "}"

    @property
    def _forward_call(self) -> str:
        return f"{self._name}_forward(x, p, {'index, ' if self._indices else ''}work, &value)"

    def _areas(self, *more: str) -> Iterator[str]:
        begins = {"L": 0, "W": self._leaves, "G": self._leaves + self._kept, "B": 2 * self._leaves + self._kept}
        for area in ("L", "W", *more):
            yield f"  double *const {area} = work + {begins[area]};"
            yield f"  (void){area};"

    @staticmethod
    def _copies(to: str, of: str, begin: int, count: int, into: int | None = None) -> Iterator[str]:
        if not count:
            yield f"  (void){to if into is None else of};"
            return
        target = to if not into else f"{to} + {into}"
        source = of if not begin else f"{of} + {begin}"
        yield f"  memcpy({target}, {source}, {count} * sizeof(double));"


def _where(source: int) -> str:
    location = location_numbered(source)
    if location is None:
        return ""
    text = location.text.strip().replace("*/", "* /").replace("/*", "/ *")
    return f"{Path(location.file).name}:{location.line}: {text}"[:116]
