"""What a compiler makes of scalars: a small layer with its program, line by line, and the size of the GPT's."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from .... import nn
from ....compiler import compile as compiled_function
from ....engine import ENGINE, Value
from ....errors import DataError
from ....index import Index
from ....trace.graph import Graph
from ..figures import Figure

__all__ = ["RECORD", "compiled", "layer"]

#: What the native engine's compiler makes, for where there is none.
RECORD = Path(__file__).with_name("layer.json")

#: Of the little layer, and of the GPT whose size is told.
ROWS, COLUMNS = 2, 3
INPUTS = [1.0, -1.0, 0.5]
NAME = "isabella"
_HEADER = re.compile(r"([\d,]+) nodes -> ([\d,]+) groups -> ([\d,]+) vector instructions")


def layer(name: str) -> Figure:
    """A layer written with plain loops: its scalar graph, and which line of the compiled program computes what.

    The reference engine has no compiler, and shows what the native one wrote down in ``layer.json``.
    """
    root = layer_of(_weights(), [Value(x, label=f"x[{j}]") for j, x in enumerate(INPUTS)])
    made = compiled() if ENGINE == "native" else json.loads(RECORD.read_text(encoding="utf-8"))
    return Figure(name, root, _labelled(root), "a layer", facts=made["facts"], extra={"program": made["program"]})


def compiled() -> dict[str, Any]:
    """What the compiler makes of the layer and of the GPT; ``tools/course.py`` writes it to ``layer.json``."""
    found = compiled_function(layer_of).inspect(_weights(), INPUTS)
    lines = [line.strip() for line in found.program.splitlines()[1:]]
    graph = Graph(found.value, _labelled(found.value))
    line_of: dict[str, int] = {}
    for number, value in enumerate(graph.values):
        own = None if value is None else found.instruction(value)
        if own is not None:
            line_of[str(number)] = lines.index(own.strip())
    facts = {
        "scalars": len(graph.interior),
        "lines": len(lines),
        "products": ROWS * COLUMNS,
        "most": max(list(line_of.values()).count(line) for line in line_of.values()),
        **_gpt(),
    }
    shown = [_named(re.sub(r"\s+#.*", "", line)) for line in lines]
    return {"facts": facts, "program": {"lines": shown, "line": line_of}}


def _named(line: str) -> str:
    """A line with the names that the function has for its arguments, and the weights by row and column."""
    return line.replace(f"in1[{COLUMNS}i + j]", "w[i][j]").replace("in0[", "x[")


def _weights() -> list[list[Value]]:
    rows = [1.0, -2.0, 0.5], [-1.0, -1.0, 2.0]
    return [[Value(w, label=f"w[{i}][{j}]") for j, w in enumerate(row)] for i, row in enumerate(rows)]


def layer_of(w: list[list[Any]], x: list[Any]) -> Value:
    """The sum of what the neurons say."""
    total: Any = 0.0
    for row in w:
        s = row[0] * x[0]
        for weight, value in zip(row[1:], x[1:], strict=True):
            s = s + weight * value
        total = total + s.relu()
    return total  # type: ignore[no-any-return]


def _labelled(root: Value) -> dict[str, Value]:
    """The leaves under a root by the labels that the tracer gave them."""
    graph = Graph(root, {})
    return {graph.names[leaf]: leaf for leaf in graph.leaves}


def _gpt() -> dict[str, int]:
    """How many scalars the loss of the scalar GPT has, and how many instructions do their work."""
    random.seed(42)
    model = nn.GPT(vocab_size=27, block_size=16)
    loss = compiled_function(model.loss)
    loss([Index(0), *(Index(ord(letter) - 96) for letter in NAME), Index(0)])
    match = _HEADER.match(loss.program())
    if match is None:
        raise DataError("the listing of a program begins in another way than the lesson expects.")
    nodes, groups, instructions = (int(text.replace(",", "")) for text in match.groups())
    return {"gpt_nodes": nodes, "gpt_groups": groups, "gpt_instructions": instructions}
