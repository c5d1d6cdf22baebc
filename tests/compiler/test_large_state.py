"""What a function does with data that no call compares, and with other things that are hard to see."""

from __future__ import annotations

import collections
import threading
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg

pytestmark = [
    pytest.mark.native,  # the reference engine has no compiler
    pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning"),
]

LARGE = 9_000  #: numbers, of which no list is compared


def test_a_list_that_grows_too_large_to_be_compared_keeps_growing() -> None:
    history: list[float] = []

    @rg.compile
    def f(x: float) -> float:
        history.append(x)
        return x * x

    for k in range(LARGE + 2_000):
        assert f(float(k)) == float(k) ** 2
    assert history == [float(k) for k in range(LARGE + 2_000)]


def number(result: Any) -> float:
    return float(result.data if isinstance(result, rg.Value) else result)


def appends(log: list[Any], x: Any) -> None:
    log.append(x)


def counts(log: list[Any], x: Any) -> None:
    log[0] += 1.0


def counts_in_an_array(log: Any, x: Any) -> None:
    log[-1] += 1.0


def appends_to_a_row(log: list[list[Any]], x: Any) -> None:
    log[5].append(x)


def sets_an_entry(log: dict[int, Any], x: Any) -> None:
    log[int(x)] = x


CHANGES: list[tuple[Callable[..., None], Callable[[], Any]]] = [
    (appends, lambda: [0.0] * LARGE),
    (counts, lambda: [0.0] * LARGE),
    (counts_in_an_array, lambda: np.zeros(2 * LARGE)),
    (appends_to_a_row, lambda: [[0.0] * 100 for _ in range(LARGE // 50)]),
    (sets_an_entry, lambda: dict.fromkeys(range(-LARGE, 0), 0.0)),
]


@pytest.mark.parametrize(("change", "make"), CHANGES, ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("numbers", [False, True])
def test_changes_of_large_data_are_done_once_in_each_call(change: Any, make: Any, numbers: bool) -> None:
    weight = rg.Value(2.0)

    def on(log: Any) -> Any:
        def f(x: Any) -> Any:
            change(log, x)
            return x * x if numbers else weight * x

        return f

    log, expected = make(), make()
    compiled, plain = rg.compile(on(log)), on(expected)
    for k in range(30):
        assert number(compiled(float(k))) == number(plain(float(k)))
    assert np.array_equal(log, expected) if isinstance(log, np.ndarray) else log == expected


def test_large_data_that_are_written_alike_are_all_seen() -> None:
    logs: dict[Any, Any] = {(1, 2): [0.0] * LARGE, (3, 4): [0.0] * LARGE, "other": Thing()}

    @rg.compile
    def f(x: float) -> float:
        logs[1, 2].append(x)
        return x * x

    for k in range(20):
        f(float(k))
    assert logs[1, 2][LARGE:] == [float(k) for k in range(20)]


def test_dates_are_compared() -> None:
    days = np.array(["2024-01-01"], dtype="datetime64[D]")
    compiled = rg.compile(lambda x: x * float(days.astype(np.int64)[0]))
    before = compiled(1.0)
    days[0] += 1
    assert compiled(1.0) == before + 1.0


def test_a_batch_runs_what_has_effects_once() -> None:
    calls: list[float] = []
    weight = rg.Value(3.0)

    def f(x: float) -> Any:
        calls.append(x)
        return weight * x

    compiled = rg.compile(f)
    for _ in range(3):
        calls.clear()
        assert compiled.backward_batch([(1.0,), (2.0,), (6.0,)]) == 9.0
        assert calls == [1.0, 2.0, 6.0]
    assert weight.grad == pytest.approx(9.0)


class Decaying(rg.Value):
    decay = 1.0


@pytest.mark.parametrize("wrap", [lambda p: p, lambda p: [p], lambda p: {"p": p}])
def test_attributes_of_values_among_the_arguments_are_compared(wrap: Callable[[Any], Any]) -> None:
    def f(holder: Any) -> Any:
        p = holder if isinstance(holder, rg.Value) else holder["p"] if isinstance(holder, dict) else holder[0]
        return p.decay * p * p  # type: ignore[attr-defined]

    compiled, p = rg.compile(f), Decaying(2.0)
    assert compiled(wrap(p)).data == 4.0
    p.decay = 5.0
    assert compiled(wrap(p)).data == 20.0


def test_numbers_of_library_objects_among_the_arguments_are_compared() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    sparse = pytest.importorskip("scipy.sparse")
    spline = interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    compiled = rg.compile(lambda s, x: x * float(s(0.5)))
    before = compiled(spline, 2.0)
    spline.c[:] *= 10.0
    assert compiled(spline, 2.0) == pytest.approx(10.0 * before)
    matrix = sparse.dok_matrix((3, 3))
    matrix[0, 1] = 2.0
    captured = rg.compile(lambda x: x * float(matrix[0, 1]))
    assert captured(1.0) == 2.0
    matrix[0, 1] = 5.0
    assert captured(1.0) == 5.0


def test_the_thread_that_asks_is_no_constant() -> None:
    here = threading.current_thread()
    compiled = rg.compile(lambda x: x * (1.0 if threading.current_thread() is here else 100.0))
    found = [compiled(2.0), compiled(2.0)]
    thread = threading.Thread(target=lambda: found.append(compiled(2.0)))
    thread.start()
    thread.join()
    assert found == [2.0, 2.0, 200.0]


def test_clocks_are_no_constants() -> None:
    compiled = rg.compile(lambda x: x * float(uuid.uuid1().int))
    assert len({compiled(1.0) for _ in range(5)}) == 5
    now = rg.compile(lambda x: x * float(np.datetime64("now").astype(np.int64)))
    now(1.0)
    assert now.stats().hits == 0


def test_an_iterator_of_a_queue_moves_on() -> None:
    rest = iter(collections.deque([1.0, 2.0, 3.0]))
    compiled = rg.compile(lambda x: x * next(rest))
    assert [compiled(2.0) for _ in range(3)] == [2.0, 4.0, 6.0]
    with pytest.raises(StopIteration):
        compiled(2.0)


class Listed(list[Any]):
    def total(self) -> Any:
        return sum(self)


def test_a_list_of_a_class_of_its_own_is_returned() -> None:
    compiled = rg.compile(lambda x: Listed([x, x * x]))
    for x in (2.0, 3.0):
        assert compiled(x).total() == x + x * x
    with pytest.warns(rg.errors.CompileWarning, match="a Listed"):
        rg.compile(lambda x: [Listed([x])])(1.0)


def test_an_argument_that_makes_each_call_run_as_it_is_is_named() -> None:
    weight = rg.Value(2.0)
    compiled = rg.compile(lambda x: weight * x)
    with pytest.warns(rg.errors.CompileWarning, match="result of an operation"):
        compiled.backward(weight * 2.0)


class Thing:
    mode = "a"


def test_attributes_that_a_text_reads_are_compared() -> None:
    thing, table = Thing(), {"a": 1.0, "b": 10.0}
    compiled = rg.compile(lambda x: x * table["{0.mode}".format(thing)])  # noqa: UP030, UP032
    assert compiled(2.0) == 2.0
    thing.mode = "b"
    assert compiled(2.0) == 20.0


def test_the_order_of_an_array_in_memory_is_no_constant() -> None:
    compiled = rg.compile(lambda a: a.ravel(order="K")[1] * 3.0)
    numbers = np.arange(6.0).reshape(2, 3)
    assert (compiled(numbers), compiled(np.asfortranarray(numbers))) == (3.0, 9.0)
