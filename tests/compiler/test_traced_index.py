"""Index, take and table in a trace: selections that the trace keeps, and uses of an index that it refuses."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import Index, Value, engine, errors, nn
from retrograd.compiler.tracing.recorder import Recorder
from retrograd.compiler.tracing.recording import Recording

pytestmark = pytest.mark.native  # the reference engine has no compiler


def trace_indices(function: Callable[..., Any], *indices: int) -> Recording:
    """One trace of ``function``, with stand-ins for its indices."""
    recorder = Recorder()
    return recorder.run(function, [recorder.index(slot, i) for slot, i in enumerate(indices)])


def number_of(result: Value | float) -> float:
    return result.data if isinstance(result, Value) else result


@pytest.mark.parametrize("index", [-1, 3])
def test_a_trace_has_no_element_beyond_the_ends_either(index: int) -> None:
    with pytest.raises(IndexError, match="elements 0 to 2"):
        trace_indices(lambda i: rg.take([1.0, 2.0, 3.0], i), index)


def test_a_selection_keeps_all_candidates_and_passes_the_gradient_to_one() -> None:
    values = [Value(1.0), Value(2.0), Value(3.0)]
    result = trace_indices(lambda i: rg.take(values, i) * 5.0, 1)
    (selection,) = result.selections
    assert selection.slot == 0
    assert [id(c) for c in selection.candidates] == [id(v) for v in values]
    assert engine.row_name(selection.node) == "identity"
    assert isinstance(result.result, Value)
    result.result.backward()
    assert [v.grad for v in values] == [0.0, 5.0, 0.0]
    assert result.replayable


def test_a_row_is_a_list_of_selections() -> None:
    rows = [[Value(float(3 * i + j)) for j in range(3)] for i in range(4)]
    result = trace_indices(lambda i, j: sum(rg.table(rows)[i]) * rg.take(rows[0], j), 2, 1)
    assert number_of(result.result) == (6 + 7 + 8) * 1.0
    assert [s.slot for s in result.selections] == [0, 0, 0, 1]
    assert [s.node.data for s in result.selections] == [6.0, 7.0, 8.0, 1.0]
    assert [c.data for c in result.selections[1].candidates] == [1.0, 4.0, 7.0, 10.0]


def test_selections_from_the_same_values_share_their_candidates() -> None:
    numbers = (1.0, 2.0, 2.0)
    result = trace_indices(lambda i, j: rg.take(numbers, i) + rg.take(numbers, j), 0, 2)
    first, second = result.selections
    assert first.candidates is second.candidates
    assert first.candidates[1] is first.candidates[2]  # one constant a number
    assert all(engine.is_constant(c) for c in first.candidates)
    assert number_of(result.result) == 3.0


def test_among_numbers_a_selection_is_a_number() -> None:
    def f(i: Any) -> Any:
        label = rg.take([-1.0, 1.0], i)
        assert isinstance(label, float)
        assert not isinstance(label, Value)
        return label * Value(3.0)

    assert number_of(trace_indices(f, 0).result) == -3.0
    mixed = trace_indices(lambda i: rg.take([Value(1.0), 2.0], i), 1)
    assert isinstance(mixed.result, Value)


def test_among_float_arguments() -> None:
    recorder = Recorder()
    leaves = [Value(1.0), Value(2.0)]
    xs = [recorder.number(leaf) for leaf in leaves]
    result = recorder.run(lambda xs, i: rg.take(xs, i), [xs, recorder.index(0, 1)])
    assert [id(c) for c in result.selections[0].candidates] == [id(leaf) for leaf in leaves]


def test_rows_of_different_length_and_other_things_cannot_be_selected() -> None:
    with pytest.raises(ValueError, match="these have 1 to 2 elements: pad them"):
        trace_indices(lambda i: rg.take([[1.0], [1.0, 2.0]], i), 0)
    with pytest.raises(TypeError, match="among Values and numbers, or rows of them; element 1 is str 'b'"):
        trace_indices(lambda i: rg.take([1.0, "b"], i), 0)


@pytest.mark.parametrize(
    "use",
    [
        lambda i: [10.0, 20.0][i],
        lambda i: np.array([10.0, 20.0])[i],
        lambda i: {0: 1.0, 1: 2.0}[i],
        lambda i: i + 1,
        lambda i: 2 * i,
        lambda i: -i,
        lambda i: int(i),
        lambda i: float(i),
        lambda i: math.sqrt(i),
        lambda i: list(range(i)),
        lambda i: "ab"[i],
        lambda i: Value(i),
        lambda i: Value(2.0) * i,
        lambda i: rg.math.exp(i),
        lambda i: Value(2.0).maximum(i),
    ],
)
def test_an_index_never_becomes_the_number_of_one_call(use: Callable[[Any], Any]) -> None:
    with pytest.raises(errors.TracedIndexError) as error:
        trace_indices(use, 1)
    assert "retrograd.take(sequence, i)" in str(error.value)
    assert "retrograd.table(rows)[i]" in str(error.value)
    assert isinstance(error.value, TypeError)


def test_comparisons_of_indices_are_guards() -> None:
    def f(i: Any, j: Any) -> float:
        assert isinstance(i, int)
        first = 1.0 if i == 3 else 0.0
        second = 10.0 if j < 5 else 0.0
        third = 100.0 if i < j else 0.0
        fourth = 1000.0 if i else 0.0
        return first + second + third + fourth

    result = trace_indices(f, 3, 4)
    assert result.result == 1111.0
    assert [(g.slot, g.kind, g.other, g.other_slot, g.outcome) for g in result.index_guards] == [
        (0, "==", 3, None, True),
        (1, "<", 5, None, True),
        (0, "<", 4, 1, True),
        (0, "!=", 0, None, True),
    ]
    assert result.index_guards[0].where is not None
    assert "first = 1.0" in result.index_guards[0].where.text
    assert not trace_indices(lambda i: 1.0 if i < 2.5 else 0.0, 1).replayable
    assert trace_indices(lambda i: 1.0 if i == "a" or i is None else 0.0, 1).result == 0.0


def test_an_index_as_text_cannot_be_replayed() -> None:
    for use in (str, repr, lambda i: f"{i:02d}"):
        seen = []
        result = trace_indices(lambda i, use=use, seen=seen: len(seen.append(use(i)) or ""), 7)
        assert "7" in seen[0]
        assert "turns an index into text" in result.graph_breaks[0]


def test_an_index_of_an_index_is_itself() -> None:
    values = [Value(1.0), Value(2.0)]
    assert len(trace_indices(lambda i: rg.take(values, Index(copy.deepcopy(i))), 1).selections) == 1


def test_the_gpt_selects_its_tokens() -> None:
    random.seed(3)
    model = nn.GPT(5, block_size=4, n_layer=2, n_embd=4, n_head=2)
    tokens = [4, 0, 3, 4]
    recorder = Recorder()
    traced = [recorder.index(slot, token) for slot, token in enumerate(tokens)]
    result = recorder.run(model.loss, [traced])
    eager = model.loss([Index(token) for token in tokens])
    assert isinstance(result.result, Value)
    assert result.result.data == eager.data
    assert (result.graph_breaks, result.guards, result.index_guards) == ([], [], [])
    assert len(result.selections) == 3 * 4 + 3
    assert len({id(s.candidates) for s in result.selections}) == 4 + 3
    eager.backward()
    expected = [p.grad for p in model.parameters()]
    model.zero_grad()
    result.result.backward()
    assert [p.grad for p in model.parameters()] == expected
    with pytest.raises(IndexError, match="has rows 0 to 4; it was asked for row"):
        trace_indices(lambda i: model.wte(i), 5)
    with pytest.raises(IndexError, match="one of the 2 logits"):
        trace_indices(lambda i: nn.cross_entropy([Value(1.0), Value(2.0)], i), 2)


def test_a_kept_value_is_an_ordinary_value() -> None:
    kept: list[Value] = []
    values = [Value(1.0), Value(2.0)]
    trace_indices(lambda i: kept.append(rg.take(values, i) * 2.0) or 1.0, 1)
    assert kept[0].data == 4.0
    kept[0].backward()
    assert values[1].grad == 2.0


@pytest.mark.parametrize("options", [{}, {"tier": "vm"}], ids=str)
def test_what_selects_is_checked_though_nothing_needs_the_result(options: dict[str, Any]) -> None:
    def function(p: Any, i: Any) -> Any:
        rg.take([1.0, p], i)
        return p * rg.take([2.0, 3.0, 4.0], i)

    compiled = rg.compile(function, **options)
    assert [compiled(1.5, Index(i)) for i in (0, 1, 0)] == [3.0, 4.5, 3.0]
    with pytest.raises(IndexError, match="elements 0 to 1"):
        compiled(1.5, Index(2))
