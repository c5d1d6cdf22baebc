"""The border to the native compiler: which leaves are constants, and that a malformed request is refused."""

from __future__ import annotations

import enum
from types import SimpleNamespace
from typing import Any

import pytest

import retrograd as rg
from retrograd import Value, engine
from retrograd.compiler.calls.signature import Signature
from retrograd.compiler.reports.reasons import Reason
from retrograd.compiler.request import CompileRequest, Options
from retrograd.compiler.tracing.recorder import Recorder
from retrograd.index import Index

pytestmark = pytest.mark.native  # the reference engine has no compiler


def leaves_of(function: Any) -> list[Value]:
    """The parameters of a function without arguments; its constants are not among them."""
    cache = engine.SpecializationCache(lambda *_: None, Index, Reason)
    recording = Recorder().run(function, [])
    signature = Signature()
    signature.spec = ("sequence", tuple, [])
    number = cache.add(CompileRequest(recording, signature, False, Options(tier="vm"), cache.capture([])))
    return [leaf for leaf, *_ in cache.listing(number)["leaves"]]


def test_a_leaf_that_only_the_recording_has_is_a_constant() -> None:
    w = Value(2.0)
    assert leaves_of(lambda: w * Value(3.0) + Value(1.0)) == [w]
    assert leaves_of(lambda: Value(3.0) * Value(2.0)) == []
    assert leaves_of(lambda: max(w, Value(3.0), Value(4.0)) * 2.0) == [w]
    assert leaves_of(lambda: rg.sum([w, 1.0, Value(5.0)])) == [w]


def test_a_constant_may_be_compared_and_chosen_from() -> None:
    w = Value(2.0)

    def branches() -> Value:
        bound = Value(1.0)
        return w * bound if w > bound else w + bound

    assert leaves_of(branches) == [w]

    def chosen() -> Value:
        bound = Value(9.0)
        return max(w, bound) * 2.0 + min([w, bound])

    assert leaves_of(chosen) == [w]


def test_a_leaf_that_the_function_keeps_is_a_parameter() -> None:
    """It may be used by the next call, or its gradient be read."""
    w, kept = Value(2.0), []

    def keeps() -> Value:
        kept.append(Value(3.0))
        return w * kept[-1]

    assert leaves_of(keeps) == [w, kept[0]]


def test_a_leaf_that_was_there_before_is_a_parameter_even_if_nothing_holds_it() -> None:
    w, stack = Value(2.0), [Value(3.0)]
    parameters = leaves_of(lambda: w * stack.pop())
    assert len(parameters) == 2
    assert parameters[0] is w


def test_a_parameter_made_by_the_first_call_gets_its_gradient() -> None:
    made: dict[str, Value] = {}

    def lazy(x: float) -> Value:
        if "w" not in made:
            made["w"] = Value(2.0)
        return made["w"] * x

    compiled = rg.compile(lazy)
    for calls in (1, 2, 3):
        compiled.backward(3.0)
        assert made["w"].grad == 3.0 * calls
    made["w"].data = 5.0
    assert compiled(3.0) == 15.0


def test_names_that_one_side_does_not_know_are_refused() -> None:
    class Few(enum.Enum):
        NEW_ARGUMENTS = "new"

    with pytest.raises(AttributeError, match="GUARD_FAILED"):
        engine.SpecializationCache(lambda *_: None, Index, Few)  # type: ignore[arg-type]
    cache = engine.SpecializationCache(lambda *_: None, Index, Reason)
    w = Value(2.0)

    def request(**changed: Any) -> Any:
        recording = Recorder().run(lambda: max(w * w, w), [])
        fields = {name: getattr(recording, name) for name in recording.__slots__}
        signature = Signature()
        signature.spec = ("sequence", tuple, [])
        return SimpleNamespace(
            recording=SimpleNamespace(**{**fields, **changed.pop("recording", {})}),
            **{"signature": signature, "differentiate_first": False, "options": Options(tier="vm"), "state": state}
            | {"code": 0, "at_once": True}
            | changed,
        )

    state = cache.capture([])
    assert cache.add(request()) == 0
    with pytest.raises(IndexError, match="a state that there is not"):
        cache.add(request(state=state + 1))
    with pytest.raises(ValueError, match="unknown tier, 'warp'"):
        cache.add(request(options=SimpleNamespace(exact=False, tier="warp")))
    with pytest.raises(AttributeError, match="float_errors"):
        cache.add(SimpleNamespace(**{**vars(request()), "recording": None}))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not a Value"):
        cache.add(request(recording={"result": 3.0}))
    guard = SimpleNamespace(kind="~", outcome=True, where=None)
    with pytest.raises(ValueError, match="unknown comparison, '~'"):
        cache.add(request(recording={"guards": [guard], "compared": [w, None]}))
    with pytest.raises(OverflowError):
        cache.add(request(recording={"leaves_before": -1}))
    assert [facts["number"] for facts in cache.facts()] == [0]
