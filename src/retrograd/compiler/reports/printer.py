"""Prints a vector program: one instruction a line, in a notation of loops and indexed regions."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from ...engine.source_lines import location_numbered
from ...errors import counted

__all__ = ["formula", "listing"]

_NAMES = {"parameter": "p", "input": "in", "literal": "c", "value": "v"}


def listing(facts: dict[str, Any], program: dict[str, Any]) -> str:
    """The program as text, one instruction a line: its loops, its formula, and the user's line, if there are several.

    ``v3[4i + j]`` is element 4i + j of region v3. Regions are ``p`` parameters, ``in`` inputs, ``c`` literals and
    ``v`` results; loops are named i, j, k, … from the outside, and ``sum k<16`` is summed over.
    """
    regions = program["regions"]
    lines = [
        f"{counted(facts['nodes'], 'node')} -> {counted(facts['groups'], 'group')} -> "
        f"{counted(facts['instructions'], 'vector instruction')}, "
        f"{facts['forward_calls']} forward and {facts['backward_calls']} backward kernel calls"
    ]
    # Of a library's function all come from the line that calls it, which tells nothing.
    several = len({instruction["source"] for instruction in program["instructions"]}) > 1
    for number, instruction in enumerate(program["instructions"]):
        text = _instruction(instruction, regions)
        where = location_numbered(instruction["source"])
        comment = f"  # {where}" if where and several else ""
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


def _instruction(instruction: dict[str, Any], regions: Sequence[Any]) -> str:
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
            right = formula(instruction["row"], views)
    head = f"for {', '.join(members)}: " if members else ""
    return f"{head}{result} = {right}"


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}


def formula(row: str, views: list[str]) -> str:
    """An operator applied to what has these names."""
    if row in _INFIX:
        return f"{views[0]} {_INFIX[row]} {views[1]}"
    return f"{row}({', '.join(views)})"
