"""The figures that Python computes are the same on both engines, though only the native one compiles."""

from __future__ import annotations

import json

from retrograd.engine import ENGINE
from retrograd.lesson.course.programs.compiled import RECORD, compiled, layer


def test_the_compiled_layer_is_as_written_down() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if ENGINE == "native":
        assert compiled() == record
    figure = layer("layer")
    assert figure.extra == {"program": record["program"]}
    # The numbers of the scalars are those of the page's trace: what a line computes has no leaf among it.
    leaves = len(figure.leaves)
    assert sorted(map(int, record["program"]["line"]))[0] >= leaves
    assert record["facts"]["scalars"] == len([node for node in figure.trace.nodes if node.kind == "operation"])
