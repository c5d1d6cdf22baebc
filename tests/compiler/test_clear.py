"""``clear()`` at any moment: from other threads, from a signal handler in the midst of a call, from the function."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value
from retrograd.compiler import specializer
from retrograd.compiler.examples import Examples
from retrograd.compiler.specializer import Specializer
from retrograd.compiler.tier_up import TierUp

pytestmark = native


def test_threads_that_clear_while_others_call() -> None:
    w = Value(2.0)
    compiled = rg.compile(lambda x: w * x * x)
    problems: list[BaseException] = []
    finished = threading.Event()

    def guarded(step: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            try:
                while not finished.is_set():
                    step()
            except BaseException as error:
                problems.append(error)

        return run

    def call() -> None:
        assert compiled(3.0).data == 18.0
        assert compiled.value_and_grad(3.0) == (18.0, 12.0)
        assert compiled.program()

    threads = [threading.Thread(target=guarded(step)) for step in (compiled.clear, compiled.clear, call)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        call()
    finished.set()
    for thread in threads:
        thread.join()
    assert not problems


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        *((specializer, "difference"), (Examples, "drop_least_recently_used")),
        *((TierUp, "added"), (Specializer, "example")),
    ],
)
def test_a_handler_that_clears_during_a_call(owner: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python runs a handler between two instructions: here before a function of the compiler."""
    w = Value(2.0)
    compiled = rg.compile(lambda x: w * x * x)
    original = getattr(owner, name)

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    monkeypatch.setattr(owner, name, interrupted)
    before = signal.signal(signal.SIGINT, lambda *_: compiled.clear())
    try:
        for _ in range(3):
            w.grad = 0.0
            assert compiled(3.0).data == 18.0
            assert compiled.value_and_grad(3.0) == (18.0, 12.0)
            assert compiled.backward(3.0) == 18.0
            assert compiled.backward_batch([(3.0,), (3.0,)]) == 18.0
            assert w.grad == 18.0
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_function_that_clears_itself() -> None:
    def square(x: Any) -> Any:
        compiled.clear()
        return x * x

    compiled = rg.compile(square)
    for number in (2.0, 3.0):
        assert compiled.value_and_grad(number) == (number * number, 2.0 * number)
