"""Prints what each pass of the compiler makes of a function, from the traced graph to code with loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ... import engine
from ...engine.source_lines import location_numbered
from ..backends.llvm.kernel_calls import KERNELS, ROWS
from .printer import formula, listing

__all__ = ["Pass", "check_pass", "printed_after"]

#: What can be printed: after which pass.
Pass = Literal["lift", "expand", "reductions", "pack", "reroll", "lower", "loops"]

#: Kinds of operands, as native/compiler/graph/graph.hpp: Id has them, and of terms, as reductions.hpp: Kind.
_LEAF, _LITERAL = 0, 1
_DOT, _SUM = 1, 2

_INDEX = (1 << 30) - 1


def check_pass(after: str) -> None:
    """Raise ValueError unless there is such a pass."""
    if after not in get_args(Pass):
        raise ValueError(f"program: after is one of {', '.join(map(repr, get_args(Pass)))}, not {after!r}.")


def printed_after(pass_: Pass, cache: engine.SpecializationCache, facts: dict[str, Any]) -> str:
    """What a pass has made of the function whose only specialization is in a cache.

    Args:
        pass_: Which.
        cache: The cache.
        facts: What it says of the specialization.
    """
    number = facts["number"]
    program = cache.listing(number)
    if pass_ == "reroll":
        return listing(facts, program)
    if pass_ == "lower":
        return "\n".join(_lowered(cache, number))
    if pass_ == "loops":
        return _loops(cache, number)
    stages, names = cache.stages(number), _leaf_names(program)
    if pass_ in ("lift", "expand"):
        return "\n".join(_graph(stages[pass_], names))
    terms = _terms(stages, names)
    if pass_ == "reductions":
        return "\n".join([*(term.text for term in terms), _result(stages["expand"], names, terms)])
    return "\n".join(_packed(stages["pack"], terms))


def _leaf_names(program: Mapping[str, Any]) -> list[str]:
    """What the leaves are called: as in the vector program."""
    inputs = sum(kind == "parameter" for kind, *_ in program["regions"])
    return [
        f"p{buffer}[{offset}]" if kind == "parameter" else f"in{inputs + active}[{offset}]"
        for _, kind, active, buffer, offset in program["leaves"]
    ]


def _operand_names(graph: Mapping[str, Any], leaves: Sequence[str], node: Callable[[int], str]) -> Callable[[int], str]:
    """The name of an operand: a leaf, a number, or a node."""
    literals = np.frombuffer(graph["literals"], np.float64)

    def name(operand: int) -> str:
        kind, index = operand >> 30, operand & _INDEX
        return leaves[index] if kind == _LEAF else repr(float(literals[index])) if kind == _LITERAL else node(index)

    return name


def _slices(first: bytes, operands: bytes) -> Iterator[list[int]]:
    """The operands of each node or term."""
    ends, all_operands = np.frombuffer(first, np.uint32), np.frombuffer(operands, np.uint32)
    for begin, end in pairwise(ends):
        yield all_operands[begin:end].tolist()


def _line(text: str, source: int) -> str:
    where = location_numbered(source)
    return f"{text:<60}  # {where}" if where else text


def _graph(graph: Mapping[str, Any], leaves: Sequence[str]) -> Iterator[str]:
    name = _operand_names(graph, leaves, lambda node: f"n{node}")
    rows, sources = np.frombuffer(graph["rows"], np.uint16), np.frombuffer(graph["source"], np.uint32)
    for node, operands in enumerate(_slices(graph["first"], graph["operands"])):
        text = f"n{node} = {formula(ROWS[rows[node]], list(map(name, operands)))}"
        yield _line(text, int(sources[node]))
    yield f"return {name(int(np.frombuffer(graph['roots'], np.uint32)[0]))}"


@dataclass(frozen=True, slots=True)
class _Term:
    """A term: its text, what it does, and how many levels are below it."""

    text: str
    what: str
    level: int
    node: int


def _terms(stages: Mapping[str, Any], leaves: Sequence[str]) -> list[_Term]:
    found, graph = stages["reductions"], stages["expand"]
    results = np.frombuffer(found["results"], np.uint32).tolist()
    term_of = {node: term for term, node in enumerate(results)}
    name = _operand_names(graph, leaves, lambda node: f"t{term_of[node]}")
    sources = np.frombuffer(graph["source"], np.uint32)
    kinds, starts = np.frombuffer(found["kinds"], np.uint8), np.frombuffer(found["starts"], np.uint8)
    rows, levels = np.frombuffer(found["rows"], np.uint16), np.frombuffer(found["levels"], np.uint32)
    terms = []
    for term, operands in enumerate(_slices(found["first"], found["operands"])):
        names, row = list(map(name, operands)), ROWS[rows[term]]
        text, what = formula(row, names), row
        if kinds[term] == _DOT:
            text, what = _dot(names, bool(starts[term])), "dot"
        elif kinds[term] == _SUM:
            text, what = " + ".join(names), "sum"
        line = _line(f"t{term} = {text}", int(sources[results[term]]))
        terms.append(_Term(line, what, int(levels[term]), results[term]))
    return terms


def _dot(names: list[str], starts: bool) -> str:
    first, pairs = names[:starts], names[starts:]
    return " + ".join([*first, *(f"{a} * {b}" for a, b in zip(pairs[::2], pairs[1::2], strict=True))])


def _result(graph: Mapping[str, Any], leaves: Sequence[str], terms: Sequence[_Term]) -> str:
    term_of = {term.node: number for number, term in enumerate(terms)}
    name = _operand_names(graph, leaves, lambda node: f"t{term_of[node]}")
    return f"return {name(int(np.frombuffer(graph['roots'], np.uint32)[0]))}"


def _packed(packs: Mapping[str, bytes], terms: Sequence[_Term]) -> Iterator[str]:
    def numbers(name: str) -> NDArray[np.uint32]:
        return np.frombuffer(packs[name], np.uint32)

    pairs = zip(numbers("groups").tolist(), numbers("order").tolist(), strict=True)
    for group, members in groupby(pairs, key=lambda pair: pair[0]):
        of = [term for _, term in members]
        names = ", ".join(f"t{term}" for term in of)
        yield f"group {group}, level {terms[of[0]].level}: {len(of)} of {terms[of[0]].what}: {names}"


def _lowered(cache: engine.SpecializationCache, number: int) -> Iterator[str]:
    """The kernel calls of both passes: which instruction each belongs to, and over what loops it runs."""
    for which, name in enumerate(("forward", "backward")):
        for kernel, instruction, counts, accumulates, row, _ in cache.profile(number, 1, which, 1):
            loops = " by ".join(str(count) for count in counts if count > 1) or "1"
            what = f"{KERNELS[kernel]} {ROWS[row]}".strip()
            to = ", added" if accumulates else ""
            yield f"{name:<8}  instruction {instruction:<4}  {what:<20}  {loops}{to}"


def _loops(cache: engine.SpecializationCache, number: int) -> str:
    """The code that is written where programs become loops over time, as C."""
    from ..backends.c.text import statements
    from ..backends.loops.graphs.graph import UnsupportedGraphError
    from ..backends.loops.pipeline import write_passes
    from ..backends.loops.shapes.sections import find_fastest_graph, forms_of

    try:
        passes = write_passes(find_fastest_graph(forms_of(cache.scalar_graph(number, True))))
    except UnsupportedGraphError as problem:
        return f"No code with loops: {problem}."
    lines = []
    for name, block in passes.blocks.items():
        body = statements(block, name[0], passes.places, lambda source: str(location_numbered(source) or ""))
        lines += [f"{name}:", *(f"    {line}" for line in body)]
    return "\n".join(lines)
