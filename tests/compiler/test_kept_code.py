"""A graph that is the same as one before gets the machine code of that one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import retrograd as rg
import retrograd.math as rm
from retrograd import Value
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from retrograd.compiler.backends.loops import install, kept_code, pipeline


def simulate(p: list[Any], inputs: list[float], decay: float = 0.9) -> Any:
    state = p[0]
    for number in inputs:
        state = rm.tanh(state * p[1] + number) * decay
    return state * state


INPUTS = [0.1 * k for k in range(60)]
P = [0.5, 0.8]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of what has been called to write code, none of which is there at first."""
    install.kept.clear()
    found: list[str] = []
    for name in ("code_of_graph", "code_of_group"):
        plainly = getattr(pipeline, name)
        monkeypatch.setattr(pipeline, name, lambda *args, n=name, f=plainly: (found.append(n), f(*args))[1])
    yield found
    install.kept.clear()


def flat(value: float, gradients: list[float]) -> list[float]:
    return [value, *gradients]


def gradients(function: Any = simulate, inputs: list[float] = INPUTS) -> list[float]:
    found = flat(*rg.compile(function, tier="llvm").value_and_grad(P, inputs))
    assert found == pytest.approx(flat(*rg.value_and_grad(function)(P, inputs)), rel=1e-12)
    return found


def test_a_function_that_is_compiled_again_has_the_code(written: list[str]) -> None:
    assert gradients() == gradients()
    assert written == ["code_of_graph"]


def test_parameters_have_the_code_of_a_first_argument(written: list[str]) -> None:
    """And their own gradients."""
    found = gradients()
    for factor in (1.0, 0.5):
        p = [Value(factor * number) for number in P]
        compiled = rg.compile(lambda inputs, p=p: simulate(p, inputs), tier="llvm")
        ours = flat(compiled.backward(INPUTS), [leaf.grad for leaf in p])
        assert (ours == found) is (factor == 1.0)
        expected = flat(*rg.value_and_grad(simulate)([leaf.data for leaf in p], INPUTS))
        assert ours == pytest.approx(expected, rel=1e-12)
    assert written == ["code_of_graph"]


def test_other_data_have_it_and_other_numbers_of_the_function_do_not(written: list[str]) -> None:
    gradients()
    gradients(inputs=[0.2 * number for number in INPUTS])
    assert len(written) == 1
    gradients(lambda p, inputs: simulate(p, inputs, 0.8))
    assert len(written) == 2


def test_groups_have_code_of_their_own(written: list[str]) -> None:
    members = [(P, [factor * number for number in INPUTS]) for factor in (0.5, 1.0, 1.5, 2.0, 2.5)]
    found = []
    for _ in range(2):
        compiled = rg.compile(simulate, tier="llvm")
        found.append([compiled.call_batch(members) for _ in range(2)])
    assert found[0] == found[1]
    assert found[0][1] == pytest.approx([simulate(*member) for member in members], rel=1e-12)
    assert written == ["code_of_graph", "code_of_group"]


def test_what_was_used_last_is_kept_while_there_is_room(written: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    gradients()
    (size,) = (code.total_bytes for code in install.kept._codes.values())
    monkeypatch.setattr(kept_code, "_MOST_BYTES", int(2.5 * size))
    others = [lambda p, inputs, d=d: simulate(p, inputs, d) for d in (0.7, 0.8)]
    gradients(others[0])
    gradients()
    gradients(others[1])  # in place of the first of those
    assert len(written) == 3
    gradients()
    assert len(written) == 3
    gradients(others[0])
    assert len(written) == 4
