"""Two kinds of machine code for one program: calls take turns, and the one with the least time stays."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import retrograd as rg
import retrograd.math as rm
from retrograd.compiler import tier_up

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

XS = [0.1 * k - 1.5 for k in range(40)]
RUNS = 16  # of both kinds together


def waves(p: list[Any], xs: list[Any]) -> Any:
    return sum(p[0] * rm.sin(p[1] * x + p[2]) * rm.exp(-x * x) for x in xs)


@pytest.fixture(autouse=True)
def _both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier_up, "_most_scalar_nodes", lambda _: 1_000)
    monkeypatch.setattr(tier_up, "_nodes_an_instruction", lambda _: 20)


def by_graph(compiled: Any) -> bool:
    return bool(compiled._cache.facts()[0]["graph_code"])


def turns_of(compiled: Any) -> list[bool]:
    """Whether each call of a few was answered by scalar code; all of them are right."""
    point, turns = [1.5, 0.7, -0.2], []
    for _ in range(3 + RUNS):
        assert compiled.value_and_grad(point, XS)[0] == pytest.approx(waves(point, XS), rel=1e-12)
        turns.append(by_graph(compiled))
    return turns


def made_by_compilers(monkeypatch: pytest.MonkeyPatch, length: int | None = None) -> list[str]:
    """A list to which each compiler adds its name, whose scalar code is said to have that length."""
    from retrograd.compiler.backends.llvm import install as llvm_install
    from retrograd.compiler.backends.loops import install as loops_install

    made: list[str] = []
    program, graph = llvm_install.compile_program, loops_install.compile_graph

    def compile_program(*given: Any, **named: Any) -> bool:
        made.append("compile_program")
        return program(*given, **named)

    def compile_graph(*given: Any, **named: Any) -> int:
        made.append("compile_graph")
        found = graph(*given, **named)
        return found if length is None else length

    monkeypatch.setattr(llvm_install, "compile_program", compile_program)
    monkeypatch.setattr(loops_install, "compile_graph", compile_graph)
    return made


def test_calls_with_gradients_take_turns_and_then_one_kind_stays() -> None:
    compiled = rg.compile(waves, tier="llvm")
    point = [1.5, 0.7, -0.2]
    value, gradient = rg.value_and_grad(waves)(point, XS)
    for _ in range(3):  # the program is made, and runs
        compiled.value_and_grad(point, XS)
    turns = []
    for _ in range(RUNS):
        turns.append(by_graph(compiled))
        ours, ours_gradient = compiled.value_and_grad(point, XS)
        assert ours == pytest.approx(value, rel=1e-12)
        assert ours_gradient == pytest.approx(gradient, rel=1e-12)
    assert {True, False} == set(turns)
    assert all(a != b for a, b in itertools.pairwise(turns[:12]))
    stays = by_graph(compiled)
    for k in range(10):
        point[0] = 1.5 + k
        assert compiled.value_and_grad(point, XS)[0] == pytest.approx(waves(point, XS), rel=1e-12)
        assert by_graph(compiled) is stays


def test_gradients_of_parameters_are_added_by_both_and_values_decide_nothing() -> None:
    p = [rg.Value(v) for v in (1.5, 0.7, -0.2)]
    compiled = rg.compile(lambda xs: waves(p, xs), tier="llvm")
    value, gradient = rg.value_and_grad(waves)([v.data for v in p], XS)
    for k in range(2 * RUNS):
        compiled.backward(XS)
        assert [v.grad for v in p] == pytest.approx([(k + 1) * g for g in gradient], rel=1e-12)
        turn = by_graph(compiled)
        with rg.no_grad():
            assert compiled(XS).data == pytest.approx(value, rel=1e-12)
        assert by_graph(compiled) is turn


def test_numbers_that_are_never_differentiated_take_turns_in_each_call() -> None:
    compiled = rg.compile(lambda p, xs: [p * x * x - 1.0 for x in xs], tier="llvm")
    for _ in range(3):
        compiled(1.5, XS)
    turns = []
    for k in range(RUNS):
        turns.append(by_graph(compiled))
        assert compiled(1.5 + k, XS) == pytest.approx([(1.5 + k) * x * x - 1.0 for x in XS], rel=1e-12)
    assert {True, False} == set(turns)
    stays = by_graph(compiled)
    for _ in range(5):
        compiled(1.5, XS)
        assert by_graph(compiled) is stays


def test_code_of_thousands_of_nodes_takes_part_however_long_the_vectors_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """An arm of six joints at 15 places: 200 nodes a vector instruction, and half the time as scalar code."""
    monkeypatch.undo()
    fact = {"nodes": 7_240, "instructions": 38}
    assert tier_up._most_scalar_nodes(fact) >= 2_000
    assert tier_up._nodes_an_instruction(fact) >= tier_up._FEW_NODES


def test_vectors_come_first_where_either_may_be_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rotor at 40 places has 18 to 200 nodes a vector instruction, however many of them are straight-line code."""
    from retrograd.compiler.backends.loops.graphs.graph import MOST_STRAIGHT

    monkeypatch.undo()
    made = made_by_compilers(monkeypatch)
    compiled = rg.compile(waves, tier="llvm")
    turns_of(compiled)
    fact = compiled._cache.facts()[0]
    assert tier_up._FEW_NODES <= fact["nodes"] / fact["instructions"] < tier_up._MANY_NODES
    assert tier_up._most_scalar_nodes({"nodes": 40_000, "instructions": 400}) == MOST_STRAIGHT
    assert made == ["compile_program", "compile_graph"]


@pytest.mark.parametrize(("length", "nodes", "takes_part"), [(9_000, 8, False), (13_000, 8, True), (13_000, 5, False)])
def test_long_scalar_code_is_compared_with_vectors_that_are_not_too_short(
    monkeypatch: pytest.MonkeyPatch, length: int, nodes: int, takes_part: bool
) -> None:
    monkeypatch.setattr(tier_up, "_nodes_an_instruction", lambda _: nodes)
    made = made_by_compilers(monkeypatch, length)
    turns = turns_of(rg.compile(waves, tier="llvm"))
    assert made == ["compile_graph"] + ["compile_program"] * takes_part
    assert (False in turns[3:]) is takes_part


@pytest.mark.parametrize(("most", "takes_part"), [(100_000, True), (10, False)])
def test_many_instructions_take_part_where_they_take_few_lines(
    monkeypatch: pytest.MonkeyPatch, most: int, takes_part: bool
) -> None:
    monkeypatch.setattr(tier_up, "_FEW_INSTRUCTIONS", 0)
    monkeypatch.setattr(tier_up, "_FEW_LINES", most)
    turns = turns_of(rg.compile(waves, tier="llvm"))
    assert (False in turns[3:]) is takes_part
