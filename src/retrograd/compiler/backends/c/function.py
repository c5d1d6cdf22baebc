"""A scalar function as a C99 file: ``to_c`` and what it gives."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .... import engine, errors
from ....engine import Value
from ....engine.source_lines import location_numbered
from ....index import Index
from ...reasons import Cause, Reason
from ...request import CompileRequest, Options
from ...specializer import trace
from ..jax.layout import Layout as Arguments
from ..loops.code import Value as CodeValue
from ..loops.graph import LEAF, LITERAL, ScalarGraph, UnsupportedGraphError, read_graph
from ..loops.pipeline import Passes, write_passes
from .text import constant, statements, table_definition

__all__ = ["CFunction", "to_c"]

#: So many nodes of straight-line code and of loops' bodies are written; C compilers take minutes for more.
_MOST_STRAIGHT = 60_000

#: The parameters of the two functions.
_VALUE = "const double *x, const double *p, double *work"
_GRADIENT = "const double *x, const double *p, double *dx, double *dp, double *work"


@dataclass(frozen=True, slots=True)
class CFunction:
    """A function that was written as C.

    Attributes:
        path: The file.
        name: What the functions' names in it begin with: ``<name>_value`` and ``<name>_gradient``.
        values: The Values that the function depends on, in the order of ``p`` and ``dp``.
        work: How many doubles the functions need to work with (``<NAME>_WORK`` in the file).
    """

    path: Path
    name: str
    values: tuple[Value, ...]
    work: int
    _arguments: Arguments
    _order: tuple[tuple[str, int], ...]

    @property
    def parameters(self) -> list[float]:
        """``p``: the numbers of ``values``, as they are now."""
        return [value.data for value in self.values]

    def inputs(self, *arguments: Any) -> list[float]:
        """``x``: the numbers of a call's arguments, in the file's order.

        Args:
            *arguments: Of the structure of the example; only floats and Values may differ.

        Raises:
            TypeError: They have another structure.
        """
        numbers = self._arguments.read(arguments)
        if numbers is None:
            raise errors.other_arguments(f"it takes {self._arguments or 'none'} and what was the same in the example")
        return [float(numbers[kind][offset]) for kind, offset in self._order]


def to_c(function: Callable[..., Any], path: str | os.PathLike[str], arguments: Sequence[Any], name: str) -> CFunction:
    """Write a scalar function as C; users call ``Compiled.to_c``.

    Args:
        function: the scalar function.
        path: the file.
        arguments: an example of its arguments, with which it is traced.
        name: what the C functions' names begin with; the function's own if empty.

    Raises:
        NotTraceableError: the trace would not be valid for other calls, or has an operation that C lacks.
        ValueError: the name is no identifier of C.
    """
    if engine.ENGINE != "native":
        raise errors.not_traceable(function, "the reference engine has no compiler; use the native engine")
    name = _identifier(name or getattr(function, "__name__", "f"))
    traced = trace(function, tuple(arguments), False, want_sources=True, by_numbers=True)
    obstacle = traced if isinstance(traced, Cause) else traced.obstacle
    if isinstance(traced, Cause) or obstacle is not None:
        raise errors.not_traceable(function, str(obstacle))
    if traced.recording.index_guards or traced.signature.index_count:
        raise errors.not_traceable(function, "it takes an Index, which the C file would not know")
    cache = engine.SpecializationCache(lambda *_: None, Index, Reason)
    try:
        request = CompileRequest(traced.recording, traced.signature, False, Options(tier="vm"), cache.capture([]))
        number = cache.add(request)
        graph = read_graph(cache.scalar_graph(number))
        graph.wanted[:] = True
        passes = write_passes(graph, _MOST_STRAIGHT)
    except (NotImplementedError, UnsupportedGraphError) as problem:
        raise errors.not_traceable(function, str(problem)) from None
    listing = cache.listing(number)
    values = tuple(leaf for leaf, *_ in listing["leaves"] if leaf is not None)
    order = tuple(("active" if one.active else "passive", one.offset) for one in traced.signature.inputs)
    text = _File(function, name, graph, passes, listing["guards"], len(order), values)
    Path(path).write_text(text.whole(), encoding="utf-8")
    return CFunction(Path(path), name, values, text.work, Arguments(traced.signature.spec), order)


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
        graph: ScalarGraph,
        passes: Passes,
        guards: Sequence[tuple[str, int, int | None, float, bool]],
        inputs: int,
        values: Sequence[Value],
    ) -> None:
        self._function, self._name, self._graph = function, name, graph
        self._passes, self._guards = passes, guards
        self._inputs, self._values = inputs, values
        self._leaves, self._kept = inputs + len(values), max(passes.storage.size, 1)
        if self._leaves != len(graph.wanted):
            raise errors.not_traceable(function, "it has leaves that are neither arguments nor Values")
        self.work = 2 * (self._leaves + self._kept)

    def whole(self) -> str:
        bodies = [*self._value(), *self._gradient()]  # they add to the tables
        return "\n".join(
            [
                *self._header(),
                "#include <math.h>",
                "#include <string.h>",
                "",
                f"#define {self._name.upper()}_WORK {self.work}",
                *(table_definition(f"T{i}", table) for i, table in enumerate(self._passes.places.tables)),
                "",
                f"double {self._name}_value({_VALUE});",
                f"double {self._name}_gradient({_GRADIENT});",
                "",
                *bodies,
            ]
        )

    def _header(self) -> Iterator[str]:
        code = getattr(self._function, "__code__", None)
        where = f", {Path(code.co_filename).name}:{code.co_firstlineno}" if code else ""
        yield f"/* {self._name}{where}: written by retrograd, Compiled.to_c. C99; needs nothing but -lm."
        yield " *"
        yield f" * x, dx  the {self._inputs} numbers of the arguments, in order, and the derivatives by them"
        yield f" * p, dp  {len(self._values)} Values that the function holds{self._labels()}"
        yield f" * work   {self._name.upper()}_WORK doubles to work with; each thread needs its own"
        yield " *"
        yield " * The functions return the value. It is NAN where a comparison decides otherwise than in the call that"
        yield " * was traced, or where an operation that it depends on is outside its domain; then dx and dp are as"
        yield " * they were. Beside infinities a derivative may be NAN where the engine gives a number."
        yield " */"

    def _labels(self) -> str:
        labels = [value.label or "?" for value in self._values]
        if not labels or all(label == "?" for label in labels):
            return ""
        shown = ", ".join(labels[:20]) + (", …" if len(labels) > 20 else "")
        return f": {shown.replace('*/', '* /')}"

    # --- bodies ---------------------------------------------------------------------------------------------

    def _value(self) -> Iterator[str]:
        yield f"double {self._name}_value({_VALUE}) {{"
        yield from self._forward_body()
        yield "}"
        yield ""

    def _gradient(self) -> Iterator[str]:
        yield f"double {self._name}_gradient({_GRADIENT}) {{"
        value = f"{self._name}_value(x, p, work)"
        lines, _ = statements(self._passes.backward.t.top, "g", [], self._passes.places, _where)
        yield f"  const double value = {value};"
        yield "  if (isnan(value)) return value;"
        yield from self._areas("G", "B")
        yield f"  memset(G, 0, {self._leaves} * sizeof(double));" if self._leaves else "  (void)G;"
        for begin, count in self._passes.zeroed():
            yield f"  memset(B + {begin}, 0, {count} * sizeof(double));"
        yield from lines
        yield from self._copies("dx", "G", 0, self._inputs)
        yield from self._copies("dp", "G", self._inputs, len(self._values))
        yield "  return value;"
        yield "}"

    def _forward_body(self) -> Iterator[str]:
        kept = [self._root(i) for i in range(len(self._graph.roots))]
        values = [v for v in kept if not isinstance(v, str)]
        lines, name = statements(self._passes.forward.t.top, "v", values, self._passes.places, _where)
        yield from self._areas()
        yield from self._copies("L", "x", 0, self._inputs, into=0)
        yield from self._copies("L", "p", 0, len(self._values), into=self._inputs)
        yield from lines
        shown = [v if isinstance(v, str) else name(v) for v in kept]
        for test, left, right, number, outcome in self._guards:
            condition = f"{shown[left]} {test} {shown[right] if right is not None else constant(number)}"
            yield f"  if ({f'!({condition})' if outcome else condition}) return NAN;"
        yield f"  return {shown[0]};"

    def _root(self, i: int) -> CodeValue | str:
        """What the i-th root is in C: a value of the code, or a place in memory."""
        kind, index = self._graph.roots[i]
        if kind == LEAF:
            return f"L[{index}]"
        if kind == LITERAL:
            return float(self._graph.literals[index])
        position, _ = self._passes.forward.layout.place(index)
        value = self._passes.forward.values[position.number]
        if position.body.depth and not isinstance(value, float):
            return f"W[{self._passes.element(kind, index)}]"
        return value

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
