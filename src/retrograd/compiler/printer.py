"""A vector program in a notation that a person can read."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from .. import engine
from ..engine import Value
from ..engine.source_lines import location_numbered

__all__ = ["Inspection", "listing"]

_NAMES = {"parameter": "p", "input": "in", "literal": "c", "value": "v"}


class Inspection:
    """One call of a compiled function, both ways: the scalar graph and the vector program made of it."""

    def __init__(self, value: Value, programs: engine.Programs, fact: dict[str, Any]) -> None:
        self.value = value  #: the function's result, with its graph
        self._programs, self._fact = programs, fact
        self.program = listing(fact, programs.listing(fact["number"]))  #: the vector program as text

    def instruction(self, node: Value) -> str | None:
        """The line of ``program`` that computes ``node``, or that took it into a sum; None for a leaf.

        A node is a Value of the graph of :attr:`value`, as ``._children`` lead to it.
        """
        number = self._programs.locate(self._fact["number"], node)
        return None if number is None else self.program.splitlines()[number + 1]


def listing(fact: dict[str, Any], program: dict[str, Any]) -> str:
    """The program, one instruction a line: loops, what it computes, and the user's line.

    ``v3[4i + j]`` is element 4i + j of region v3. Regions are ``p`` parameters, ``in`` inputs, ``c`` literals and
    ``v`` results; loops are named i, j, k, … from the outside, and ``sum k<16`` is summed over.
    """
    regions = program["regions"]
    lines = [
        f"{fact['nodes']:,} nodes -> {fact['groups']} groups -> {fact['instructions']} vector instructions, "
        f"{fact['forward_calls']} forward and {fact['backward_calls']} backward kernel calls"
    ]
    for number, instruction in enumerate(program["instructions"]):
        text = _instruction(instruction, regions, program)
        where = location_numbered(instruction["source"])
        comment = f"  # {where}" if where else ""
        lines.append(f"{number:4}  {text:<90}{comment}".rstrip())
    root = program["roots"][0]
    lines.append(f"      return {_address(root, regions)}")
    return "\n".join(lines)


def _region_of(address: int, regions: Sequence[Any]) -> int:
    return next(i for i, (_, _, base, length, _) in enumerate(regions) if base <= address < base + length)


def _address(address: int, regions: Sequence[Any]) -> str:
    number = _region_of(address, regions)
    return f"{_NAMES[regions[number][0]]}{number}[{address - regions[number][2]}]"


def _view(view: tuple[int, int, list[int]], regions: Sequence[Any]) -> str:
    number, base, strides = view
    if number < 0:
        return f"pool[{_index(base, strides)}]"
    memory, _, start, length, _ = regions[number]
    if length == 1:
        return f"{_NAMES[memory]}{number}"
    return f"{_NAMES[memory]}{number}[{_index(base - start, strides)}]"


def _index(base: int, strides: Sequence[int]) -> str:
    parts = []
    for name, stride in zip(_loops(), strides, strict=False):
        if stride:
            parts.append(name if stride == 1 else f"{stride}{name}")
    if base or not parts:
        parts.append(str(base))
    return " + ".join(parts).replace("+ -", "- ")


def _loops() -> str:
    return string.ascii_lowercase[8:]  # i, j, k, ...


def _instruction(instruction: dict[str, Any], regions: Sequence[Any], program: dict[str, Any]) -> str:
    sizes, reduced = instruction["sizes"], instruction["reduced"]
    names = _loops()
    members = [f"{names[i]}<{n}" for i, n in enumerate(sizes[: len(sizes) - reduced])]
    inner = [f"{names[i]}<{sizes[i]}" for i in range(len(sizes) - reduced, len(sizes))]
    views = [_view(view, regions) for view in instruction["views"]]
    result = _view(instruction["result"], regions)
    over = f"sum {', '.join(inner)} " if inner else ""
    match instruction["code"]:
        case "dot":
            start = f"{views[2]} + " if instruction["has_init"] else ""
            right = f"{start}{over}{views[0]} * {views[1]}"
        case "sum":
            right = f"{over}{views[0]}"
        case "extreme":
            right = f"{instruction['row']} {', '.join(inner)} {views[0]}"
        case "gather":
            right = f"memory[{views[0]}]"
        case "indexed":
            right = f"{instruction['row']}({', '.join(f'memory[{view}]' for view in views)})"
        case "select":
            slot = _index(instruction["views"][1][1], instruction["views"][1][2])
            chosen = f"{views[0]} + {instruction['stride']}*index[{slot}]"
            right = f"memory[{views[0]} + index[{slot}]]" if instruction["through_pool"] else f"memory[&{chosen}]"
        case _:
            right = _formula(instruction["row"], views)
    head = f"for {', '.join(members)}: " if members else ""
    return f"{head}{result} = {right}"


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}


def _formula(row: str, views: list[str]) -> str:
    if row in _INFIX:
        return f"{views[0]} {_INFIX[row]} {views[1]}"
    return f"{row}({', '.join(views)})"
