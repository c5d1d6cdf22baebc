"""Installs machine code of whole graphs, which ``pipeline`` writes, here or in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..llvm.jit import load
from ..process import Run, here
from .graph_code import NAMES, GraphCode
from .graphs.graph import LITERAL, MOST_STRAIGHT, UnsupportedGraphError
from .kept_code import KeptCode

if TYPE_CHECKING:
    from ....engine import SpecializationCache

__all__ = ["compile_graph", "compile_group", "kept"]

#: The code that this process has.
kept: KeptCode = KeptCode()


def compile_graph(
    programs: SpecializationCache,
    number: int,
    most_straight: int = MOST_STRAIGHT,
    run: Run = here,
    rounds_alike: bool = False,
) -> int:
    """Compile program ``number``, which the interpreter runs, and install the machine code: of how many nodes it is.

    Args:
        programs: where the program is.
        number: which it is.
        most_straight: so many nodes of code are written at most.
        run: where code is written and compiled.
        rounds_alike: whether sums and products are rounded as by the interpreter, which takes longer: comparisons of
            numbers that are equal come out alike.

    Raises:
        IndexError: the program has been dropped meanwhile.
        UnsupportedGraphError: the program has something that this backend does not write.
    """
    lanes, addresses = programs.vector_functions()
    functions = _symbols(addresses)

    def make(graphs: Sequence[dict[str, Any]]) -> GraphCode:
        wanted = graphs[:1] if rounds_alike else graphs
        return kept.made(run, _code_of_graph, wanted, most_straight, lanes, functions, rounds_alike)

    return _install(programs, number, 1, make)


def compile_group(
    programs: SpecializationCache, number: int, most_straight: int = MOST_STRAIGHT, run: Run = here
) -> None:
    """Compile program ``number`` to run a group of calls side by side, and install the machine code.

    Arguments and exceptions are those of ``compile_graph``.
    """
    width, addresses = programs.vector_functions()
    functions = _symbols(addresses)

    def make(graphs: Sequence[dict[str, Any]]) -> GraphCode:
        return kept.made(run, _code_of_group, graphs, most_straight, width, functions)

    _install(programs, number, width, make)


def _install(
    programs: SpecializationCache, number: int, width: int, make: Callable[[Sequence[dict[str, Any]]], GraphCode]
) -> int:
    start = perf_counter()
    code = _compiled(programs, number, make)
    _, vectors = programs.vector_functions()
    symbols = _symbols(vectors)
    called = {symbols[name]: address for name, address in vectors.items()}
    machine = load(code.object, NAMES, called | programs.special_functions())
    of_roots = [element for kind, element in code.roots if kind == LITERAL]
    roots = [(kind, of_roots.index(element) if kind == LITERAL else element) for kind, element in code.roots]
    programs.install_graph(
        number,
        width,
        machine.addresses["forward"],
        machine.addresses["backward"],
        np.array([entries.ctypes.data for entries in code.tables], np.uint64).tobytes(),
        sum(entries.nbytes for entries in code.tables),
        code.size,
        np.array(roots, np.uint64).tobytes(),
        np.array(code.zeroed, np.uint64).tobytes(),
        code.literals[of_roots].tobytes(),
        code.lookups.tobytes(),
        (machine, code.tables),
        (perf_counter() - start) * 1e3,
    )
    return code.length


def _symbols(functions: Iterable[str]) -> dict[str, str]:
    """What code calls the functions of vectors: their addresses are others in each process, their names are not."""
    return {name: f"retrograd_vectors_{name}" for name in functions}


#: Of a graph of so many nodes, code may be long; one of more takes too long to look at twice. Exported rows have two
#: bytes each.
_MANY_NODES, _MOST_NODES, _ROW_BYTES = 3_000, 200_000, 2


def _compiled(
    programs: SpecializationCache, number: int, make: Callable[[Sequence[dict[str, Any]]], GraphCode]
) -> GraphCode:
    """The code of a program.

    What the program computes twice is computed once, unless too little of it repeats itself then.
    """
    once, again = programs.scalar_graph(number, True), programs.scalar_graph(number, False)
    count, is_less = len(once["rows"]) // _ROW_BYTES, len(once["rows"]) < len(again["rows"])
    try:
        return make([once, again] if is_less and _MANY_NODES <= count <= _MOST_NODES else [once])
    except UnsupportedGraphError:
        return make([again])


# They import what writes code where they run.


def _code_of_graph(
    exported: Sequence[Mapping[str, Any]],
    most_straight: int,
    lanes: int,
    functions: Mapping[str, str],
    rounds_alike: bool,
) -> GraphCode:
    from .pipeline import code_of_graph, code_that_rounds_alike

    if rounds_alike:
        return code_that_rounds_alike(exported[0], most_straight)
    return code_of_graph(exported, most_straight, lanes, functions)


def _code_of_group(
    exported: Sequence[Mapping[str, Any]], most_straight: int, width: int, functions: Mapping[str, str]
) -> GraphCode:
    from .pipeline import code_of_group

    return code_of_group(exported, most_straight, width, functions)
