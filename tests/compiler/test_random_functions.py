"""Random programs as people write them are the same compiled; and defects that were there once are found again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest
from support.compiled_cases import native
from support.parts import ALL
from support.random_programs import DifferenceError, attack

import retrograd as rg
from retrograd import Value
from retrograd.compiler import specializer
from retrograd.compiler.calls import arguments, dispatch, effects
from retrograd.compiler.comparison import Difference
from retrograd.compiler.guards import captured_state
from retrograd.compiler.guards.reach import code, places
from retrograd.compiler.tracing import float_tracer, recorder

pytestmark = native

#: A run of ``make accuracy`` asks thousands.
PARTS, PROGRAMS = (40, 150) if ALL else (4, 60)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_are_the_same_compiled(part: int) -> None:
    hits = sum(attack(part * PROGRAMS + k) for k in range(PROGRAMS))
    assert hits > PROGRAMS  # programs answer most calls; the rest runs as it is


@pytest.mark.parametrize("part", range(PARTS // 2))
def test_random_programs_are_the_same_in_exact_mode(part: int) -> None:
    for k in range(PROGRAMS):
        attack(100_000 + part * PROGRAMS + k, lambda f: rg.compile(f, exact=True))


# --- defects, put back --------------------------------------------------------------------------------------------


def _patched(owner: object, name: str, make: Callable[[Any], Any]) -> Any:
    return mock.patch.object(owner, name, make(getattr(owner, name)))


def _a_result_is_a_number(finished: Any) -> Any:
    def cut(self: Any, found: Any, arguments: Any) -> Any:
        result = finished(self, found, arguments)
        return Value(result.data) if isinstance(result, Value) else result

    return cut


def _without_marks(*kinds: str) -> Callable[[Any], Any]:
    def make(plain: Any) -> Any:
        def some(self: Any, number: Any, use: str) -> None:
            if not any(kind in use for kind in kinds):
                plain(self, number, use)

        return some

    return make


def _no_plain_run_agrees() -> Any:
    return mock.patch.object(specializer, "difference", return_value=Difference(0.0))


@contextlib.contextmanager
def _identity_unnoticed() -> Iterator[None]:
    with (
        _no_plain_run_agrees(),
        mock.patch.object(captured_state.CapturedState, "asks", captured_state.Asks(identity=None)),
        mock.patch.object(recorder.Recorder, "hashed", return_value=NotImplemented),
    ):
        yield


def _without_places(*kinds: str) -> Any:
    def make(place: Any) -> Any:
        def some(self: Any, kind: str, *rest: Any) -> None:
            if kind not in kinds:
                place(self, kind, *rest)

        return some

    return _patched(places.Places, "add", make)


def _unguarded() -> Any:
    return mock.patch.object(recorder.Recorder, "guard", return_value=None)


@contextlib.contextmanager
def _effects_unnoticed() -> Iterator[None]:
    with (
        mock.patch.object(effects.Effects, "notice", return_value=None),
        mock.patch.object(captured_state.CapturedState, "change_by_function", return_value=""),
    ):
        yield


@contextlib.contextmanager
def _attributes_unnoticed() -> Iterator[None]:
    with (
        _no_plain_run_agrees(),
        mock.patch.object(code, "method_that_is_asked_for", return_value=""),
        mock.patch.object(float_tracer, "_reads_attribute", return_value=False),
    ):
        yield


DEFECTS: dict[str, Callable[[], Any]] = {
    "the gradient of a result is cut": lambda: _patched(dispatch.Dispatcher, "finished", _a_result_is_a_number),
    "no comparison is a guard": _unguarded,
    "identity is not noticed": _identity_unnoticed,
    "effects are not noticed": _effects_unnoticed,
    "float() is neither a guard nor a graph break": lambda: _patched(
        recorder.Recorder, "plain", _without_marks("float()", "text")
    ),
    "lists and dictionaries are not compared": lambda: _without_places("items", "entries"),
    "sets are not compared": lambda: _without_places("elements"),
    "arrays are not compared": lambda: _without_places("bytes"),
    "variables are not compared": lambda: _without_places("named"),
    "defaults are not compared": lambda: _without_places("shared"),
    "attributes of numbers are not noticed": _attributes_unnoticed,
    "a Value twice is one variable": lambda: _patched(arguments._Reader, "_value", lambda value: _merged(value)),
}


def _merged(value: Any) -> Any:
    def once(self: Any, thing: Any, differentiate: bool) -> Any:
        return value(self, thing, False)

    return once


@pytest.mark.long
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_that_is_put_back_is_found(defect: str) -> None:
    no_more = mock.patch.multiple(specializer, LATER=0, LATER_OF_MANY=0)  # comparisons, which would see to it
    with DEFECTS[defect](), no_more, pytest.raises(DifferenceError):
        _attack_many(1500)


def _attack_many(programs: int) -> None:
    for seed in range(programs):
        attack(seed)
