"""Taped code of functions whose data come as people arrange them: dictionaries of several sorts, lists of arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE

pytestmark = pytest.mark.native
pytest.importorskip("llvmlite", reason='machine code needs it: pip install "retrograd[llvm]"')

if ENGINE == "native":
    from support.taped_cases import assert_same, code_of, drawn, numbers

    from retrograd.compiler.taped.types import NotTypedError

# --- the items of a list as arguments --------------------------------------------------------------------------------


@dataclass
class Curve:
    level: Any
    slope: Any
    tau: Any

    def at(self, time: float) -> Any:
        return self.level + self.slope * rm.exp(-time / (1.0 + self.tau * self.tau))


def rate(level: Any, slope: Any, time: float) -> Any:
    return level - slope * time if level > slope else level


def arguments_from_lists(xs: list[Any]) -> Any:
    def mixed(a: Any, b: Any, c: Any) -> Any:
        return a * b + c

    curve = Curve(*xs[:3])
    return curve.at(2.0) + rate(*xs[3:5], 0.5) + rate(xs[0], *[xs[1], 1.5]) + mixed(*xs[1:4]) * mixed(1.0, *xs[4:6])


def test_items_of_lists_are_arguments() -> None:
    assert_same(arguments_from_lists, drawn(numbers(6)))


def test_the_function_raises_where_a_list_has_another_length() -> None:
    def curved(xs: list[Any], times: list[float]) -> Any:
        return Curve(*xs).at(1.0) + rate(*xs[:2], *times)

    with pytest.raises(NotTypedError):  # how many each of two lists brings is not known
        code_of(curved, ([0.5, 1.5, -1.0], [1.0]))

    def called(xs: list[Any], times: list[float]) -> Any:
        return rate(*times) * xs[0]

    assert_same(called, [([0.5], [1.0, 0.3, 0.2]), ([0.5], [1.0, 0.3]), ([2.0], [0.1, 0.3, 0.2])], answers=2)


# --- dictionaries ----------------------------------------------------------------------------------------------------

SPECIES = {"OH": ({"H": -1}, -1.4), "HCO3": ({"H": 1, "C": 1}, 1.0), "CaCO3": ({"Ca": 1, "C": 1}, 0.3)}
SITES = range(3)
LATER = range(5, 0, -2)


def same_keys(model: dict[str, Any], seen: dict[str, list[float]]) -> Any:
    """Numbers and lists under the same names."""
    total = 0.0
    for name, values in seen.items():
        for x in values:
            gap = x - model["offset"][name]
            total = total + (gap * gap if gap > 0.0 else -gap) * model["scale"][name]
    return total


def formulas(model: dict[str, Any], start: float) -> Any:
    """Dictionaries that have other keys each, in one variable."""
    logs = {"H": model["H"] + start, "C": model["C"], "Ca": 0.5}
    missing = {name: 1.0 - rm.exp(value) for name, value in logs.items()}
    for name, (formula, strength) in SPECIES.items():
        amount = rm.exp(strength * model[name] + sum(count * logs[one] for one, count in formula.items()))
        for one, count in formula.items():
            missing[one] -= count * amount if amount < 1.5 else 0.5 * amount
    return sum(each * each for each in missing.values())


def places(xs: list[Any], start: float) -> Any:
    """Ranges from outside of the function."""
    total = start
    for i in SITES:
        total = total + xs[i] * i if xs[i] > 0.0 else total - xs[i]
    for i in LATER:
        total = total * 0.5 + xs[i]
    return total * len(SITES) + sum(xs[i] for i in reversed(SITES))


def _called_with(function: Callable[..., Any]) -> list[tuple[Any, ...]]:
    def of(source: Any) -> tuple[Any, ...]:
        draw = source.uniform
        if function is places:
            return [draw(-1.0, 1.0) for _ in range(6)], draw(0.0, 1.0)
        if function is formulas:
            return {name: draw(-1.0, 1.0) for name in ("H", "C", *SPECIES)}, draw(0.0, 1.0)
        offsets = {name: {one: draw(-1.0, 1.0) for one in ("a", "b")} for name in ("offset", "scale")}
        return offsets, {one: [draw(-1.0, 1.0) for _ in range(4)] for one in ("a", "b")}

    return drawn(of)


@pytest.mark.parametrize("function", [same_keys, formulas, places], ids=lambda function: function.__name__)
def test_data_of_several_sorts(function: Callable[..., Any]) -> None:
    assert_same(function, _called_with(function))


def test_another_range_is_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = rg.compile(places, tier="llvm")
    calls = _called_with(places)
    for sites in (range(3), range(2), range(1, 6)):
        monkeypatch.setitem(globals(), "SITES", sites)
        for call in calls:
            (value, found), (wanted, gradients) = compiled.value_and_grad(*call), rg.value_and_grad(places)(*call)
            assert value == pytest.approx(wanted, rel=1e-12)
            assert found == pytest.approx(gradients, rel=1e-12)
