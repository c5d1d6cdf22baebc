"""Comparisons of numbers that are equal in the function, and not in machine code, which rounds otherwise."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

import retrograd as rg
from retrograd.compiler.backends.loops.install import compile_graph
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')
if ENGINE != "native":
    pytest.skip("machine code is the native engine's", allow_module_level=True)


def remainder(a: Any, b: Any) -> Any:
    """What elimination leaves of a row that is a multiple of another one."""
    return a * 3.0 - (a / b) * (b * 3.0)


def eliminated(pairs: Any) -> Any:
    total = 0.0
    for a, b in pairs:
        left = remainder(a, b)
        total += a * b if left == 0.0 else a * b + left
    return total


def nearly(pairs: Any) -> list[Any]:
    return [pytest.approx(pair, rel=1e-12) for pair in pairs]


def ties(count: int) -> list[list[float]]:
    draw = random.Random(1)
    found = ([draw.uniform(1, 2), draw.uniform(1, 2)] for _ in range(100 * count))
    return [pair for pair in found if remainder(*pair) == 0.0][:count]


@pytest.mark.parametrize("count", [3, 26])
@pytest.mark.parametrize("calls", ["value_and_grad", "backward", "call"])
def test_a_tie_in_machine_code_traces_nothing(count: int, calls: str) -> None:
    compiled, plain = rg.compile(eliminated), rg.value_and_grad(eliminated)
    pairs = ties(count)
    wanted, gradient = plain(pairs)
    compiled.value_and_grad(pairs)
    values = [[rg.Value(number) for number in pair] for pair in pairs]
    for _ in range(12):
        compiled.value_and_grad(pairs)
        compiled(values)
        compiled.backward(values)
    for number in range(len(compiled.stats().programs)):
        compile_graph(compiled._cache, number)
    for _ in range(200):
        if calls == "value_and_grad":
            assert compiled.value_and_grad(pairs) == (pytest.approx(wanted, rel=1e-12), nearly(gradient))
            continue
        for value in (one for pair in values for one in pair):
            value.grad = 0.0
        if calls == "backward":
            assert compiled.backward(values) == pytest.approx(wanted, rel=1e-12)
        else:
            compiled(values).backward()
        for pair, slopes in zip(values, gradient, strict=True):
            assert [one.grad for one in pair] == pytest.approx(slopes, rel=1e-12)
    stats = compiled.stats()
    assert (stats.traces, stats.eager) == (len(stats.programs), 0)
    assert sum(program.broken_guards for program in stats.programs) == 0


def test_where_ties_are_many_there_is_code_that_rounds_as_the_function() -> None:
    compiled, pairs = rg.compile(eliminated), ties(26)
    wanted = rg.value_and_grad(eliminated)(pairs)
    until = time.monotonic() + 60.0
    while not any(fact["ties"] for fact in compiled._cache.facts()):
        compiled.value_and_grad(pairs)
        assert time.monotonic() < until, "no machine code"
    first = compiled.stats().programs[0].milliseconds
    while compiled.stats().programs[0].milliseconds == first:
        assert compiled.value_and_grad(pairs)[0] == pytest.approx(wanted[0], rel=1e-12)
        assert time.monotonic() < until, "no other machine code"
        time.sleep(0.002)
    before = [fact["hits"] for fact in compiled._cache.facts()]
    assert compiled.value_and_grad(pairs) == wanted
    (fact,) = compiled._cache.facts()
    assert (fact["graph_code"], fact["broken_guards"], fact["hits"]) == (True, 0, before[0] + 1)


def test_a_call_that_decides_otherwise_is_traced() -> None:
    compiled, plain, pairs = rg.compile(eliminated), rg.value_and_grad(eliminated), ties(3)
    compiled.value_and_grad(pairs)
    compile_graph(compiled._cache, 0)
    others = [*pairs[:2], [1.1, 1.7]]
    assert remainder(1.1, 1.7) != 0.0
    for given in (pairs, others, pairs, others):
        assert compiled.value_and_grad(given) == (pytest.approx(plain(given)[0], rel=1e-12), nearly(plain(given)[1]))
    assert compiled.stats().traces == 2


def test_code_that_rounds_alike_has_the_bits_of_the_function() -> None:
    def f(ps: Any, xs: Any) -> Any:
        total, state = 0.0, ps[0]
        for x in xs:
            state = state * ps[1] + x / 3.0
            total = total + (state - x * ps[2]) ** 2 / 7.0
        return total

    draw = random.Random(3)
    for length in (4, 90):
        compiled, plain = rg.compile(f), rg.value_and_grad(f)
        ps, xs = [draw.uniform(-1, 1) for _ in range(3)], [draw.uniform(-1, 1) for _ in range(length)]
        compiled.value_and_grad(ps, xs)
        compile_graph(compiled._cache, 0, rounds_alike=True)
        for _ in range(5):
            ps, xs = [draw.uniform(-1, 1) for _ in range(3)], [draw.uniform(-1, 1) for _ in range(length)]
            value, gradient = compiled.value_and_grad(ps, xs)
            wanted, slopes = plain(ps, xs)
            assert (value, gradient) == (wanted, pytest.approx(slopes, rel=1e-12))


@pytest.mark.parametrize("test", ["a * b / b == a", "(a + b * p[1]) - a != b * p[1]", "remainder(a, b) == 0.0"])
def test_code_selects_by_equality_as_the_function_does(test: str, tmp_path: Path) -> None:
    source = (
        "def f(p, pairs):\n    total = p[0]\n    for a, b in pairs:\n"
        f"        if {test}:\n            total = total + a * p[1]\n"
        "        else:\n            total = total * 0.5 - b\n    return total\n"
    )
    file = tmp_path / "selects.py"
    file.write_text(source)
    names: dict[str, Any] = {"remainder": remainder, "__name__": "selects"}
    exec(compile(source, str(file), "exec"), names)
    compiled, plain, draw = rg.compile(names["f"]), rg.value_and_grad(names["f"]), random.Random(5)

    def call() -> tuple[list[float], list[list[float]]]:
        pairs = [[draw.uniform(1, 2), draw.uniform(1, 2)] for _ in range(9)]
        return [draw.uniform(1, 2), draw.uniform(1, 2)], pairs

    for _ in range(12):
        compiled.value_and_grad(*call())
    for fact in compiled._cache.facts():
        compile_graph(compiled._cache, fact["number"])
    for _ in range(60):
        given = call()
        value, gradient = compiled.value_and_grad(*given)
        wanted, slopes = plain(*given)
        assert (value, gradient) == (pytest.approx(wanted, rel=1e-12), pytest.approx(slopes, rel=1e-12))
    assert compiled.stats().traces <= 4
