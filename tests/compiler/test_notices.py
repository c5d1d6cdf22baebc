"""The sentences of warnings and statistics, as users read them."""

from __future__ import annotations

import pytest

import retrograd as rg
from retrograd import errors
from retrograd.compiler.reports.notices import other_comparison, traced_in_vain

pytestmark = pytest.mark.native  # the reference engine has no compiler


def test_what_to_do_about_a_comparison_follows_from_what_is_in_the_way() -> None:
    assert other_comparison("line 7", "").endswith("every call. Write rg.where(a < b, x, y) or rg.maximum, which need "
                                                   "no decision.")  # fmt: skip
    assert ": x is read. Do without that, or write rg.where" in other_comparison("line 7", "x is read")
    lost = other_comparison("line 7", "the source of price cannot be found, or has changed")
    assert "cannot be found, or has changed. Define price in a file, or write rg.where(a < b, x, y)" in lost


def test_what_comes_again_is_traced_when_it_comes_again() -> None:
    says = traced_in_vain(test_what_comes_again_is_traced_when_it_comes_again, "traced: why", "Do this.", waits=True)
    assert says.endswith("(why); from now on it is traced only when the same structure comes a second time. Do this.")


def test_one_of_anything_is_singular() -> None:
    compiled = rg.compile(lambda x: x * 2.0, tier="vm")
    compiled.backward(rg.Value(1.0))
    told = str(compiled.stats()).splitlines()
    assert told[0] == "1 call answered by 1 program, 1 trace, 0 run eagerly"
    assert "1 node, 1 group, 1 vector instruction, " in told[1]
    assert told[1].endswith(" ms to compile, 1 hit")
    assert told[2] == "  1 time: traced: arguments of a new structure"
    assert compiled.program().startswith("1 node -> 1 group -> 1 vector instruction, ")
    assert errors.counted(2000, "node") == "2,000 nodes"


def test_an_int_that_selects_without_a_mark_is_told_to_be_marked() -> None:
    rows = [[rg.Value(0.1 * i + j) for j in range(3)] for i in range(50)]
    chosen = rg.compile(lambda i: rg.sum(rg.table(rows)[i]) ** 2)
    with pytest.warns(errors.CompileWarning, match=r"uses an int, and another one in nearly .* as rg\.Index\(t\)"):
        _ = [chosen.backward(7 * i % 50) for i in range(40)]
    marked = rg.compile(lambda i: rg.sum(rg.table(rows)[i]) ** 2)
    for i in range(40):
        marked.backward(rg.Index(7 * i % 50))
    assert marked.stats().eager == 0


def test_functions_that_round_once_are_named() -> None:
    for function, name in ((lambda x: rg.math.fma(x, 2.0, x), "fma"), (lambda x: rg.math.sumprod([x], [x]), "sumprod")):
        compiled = rg.compile(function)
        with pytest.warns(errors.CompileWarning, match=rf"computes {name}\(\) of a traced number"):
            assert compiled.value_and_grad(1.5) == rg.value_and_grad(function)(1.5)


def test_a_sparse_derivative_changes_nothing() -> None:
    pytest.importorskip("scipy")
    inner = rg.compile(lambda xs: xs[0] ** 2 * xs[1])
    outer = rg.compile(rg.hessian(inner, sparse=True))
    assert inner.value_and_grad([1.0, 3.0])[0] == 3.0
    with pytest.warns(errors.CompileWarning, match="something else than Values and numbers: it is a csr_array"):
        assert outer([1.0, 3.0]).toarray().tolist() == [[6.0, 2.0], [2.0, 0.0]]
    assert outer([2.0, 3.0]).toarray().tolist() == [[6.0, 4.0], [4.0, 0.0]]
    assert "changes" not in str(outer.stats())


def test_a_derivative_of_a_plain_argument_wants_no_plain_number() -> None:
    compiled = rg.compile(lambda x, y: y if x != 0.0 else 7.0 * x)
    hessian = rg.hessian(compiled)
    assert [hessian(0.5, 0.1 * i) for i in range(20)] == [0.0] * 20
    assert (compiled.stats().traces, compiled.stats().eager) == (1, 0)
