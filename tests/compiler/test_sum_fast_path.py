"""Python's ``sum`` in a compiled function that runs: products are added natively, and nobody can tell."""

# ruff: noqa: B905 -- zip as people write it
from __future__ import annotations

import builtins
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value, engine
from retrograd.engine import interior
from retrograd.engine.source_lines import location_of, record_sources

pytestmark = native


@pytest.fixture(scope="module")
def fast() -> tuple[Callable[..., Any], list[int]]:
    """The function that stands for ``sum``, and how often it has called Python's own."""
    from retrograd.compiler.guards.builtin_overrides import sums

    calls = [0]

    def original(*arguments: Any, **options: Any) -> Any:
        calls[0] += 1
        return sum(*arguments, **options)

    return sums()._makers["sum"](original), calls


def numbers(draw: random.Random, count: int, kinds: str) -> list[Any]:
    make: dict[str, Callable[[], Any]] = {
        "v": lambda: Value(draw.uniform(-2, 2)),
        "f": lambda: draw.uniform(-2, 2),
        "i": lambda: draw.randrange(-3, 4),
        "b": lambda: draw.random() < 0.5,
        "n": lambda: np.float64(draw.uniform(-2, 2)),
    }
    return [make[draw.choice(kinds)]() for _ in range(count)]


def shape(result: Any, leaves: list[Any]) -> Any:
    """Everything about a result: its bits, and the graph below it, node for node in the order of recording."""
    if not isinstance(result, Value):
        return type(result), repr(result)
    nodes = interior(result)
    names = {id(leaf): ("leaf", i) for i, leaf in enumerate(leaves)} | {id(n): ("node", i) for i, n in enumerate(nodes)}

    def name(operand: Any) -> Any:
        return names.get(id(operand)) or ("number", float(operand.data if isinstance(operand, Value) else operand))

    return [
        (engine.row_name(node), node.data.hex(), [name(operand) for operand in engine.operands(node)]) for node in nodes
    ]


#: Expressions on lists a and b, and whether they are added natively where a has Values alone.
EXPRESSIONS: dict[str, tuple[Callable[[list[Any], list[Any]], Any], bool]] = {
    "products": (lambda a, b: (x * y for x, y in zip(a, b, strict=False)), True),
    "plain zip": (lambda a, b: (x * y for x, y in zip(a, b)), True),
    "other names": (lambda a, b: (wi * xi for wi, xi in zip(a, b)), True),
    "turned": (lambda a, b: (y * x for x, y in zip(a, b)), True),
    "squares": (lambda a, b: (x * x for x in a), True),
    "strict": (lambda a, b: (x * y for x, y in zip(a, b, strict=True)), True),
    "twice the first": (lambda a, b: (x * x for x, y in zip(a, b)), False),
    "some": (lambda a, b: (x * y for x, y in zip(a, b) if x != 0.5), False),
    "quotients": (lambda a, b: (x / (y + 5.0) for x, y in zip(a, b)), False),
    "by place": (lambda a, b: (a[i] * b[i] for i in range(len(a))), False),
    "scaled": (lambda a, b: (x * y * 2.0 for x, y in zip(a, b)), False),
    "three": (lambda a, b: (x * y * z for x, y, z in zip(a, b, a)), False),
    "tuples": (lambda a, b: (x * y for x, y in zip(tuple(a), b)), False),
    "pairs": (lambda a, b: (x * y for x, y in list(zip(a, b))), False),
    "a list": (lambda a, b: [x * y for x, y in zip(a, b)], False),
    "the Values": (lambda a, b: a, False),
}


@pytest.mark.parametrize("kinds", ["v", "vf", "fv", "vfibn", "f", "ifb"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_sums_are_pythons(fast: tuple[Callable[..., Any], list[int]], name: str, kinds: str) -> None:
    quick, calls = fast
    expression, natively = EXPRESSIONS[name]
    for seed in range(25):
        draw = random.Random(seed)
        count = draw.choice([0, 1, 2, 3, 5, 17, 70])
        a, b = numbers(draw, count, "v" if seed % 2 else kinds), numbers(draw, count, kinds)
        before = calls[0]
        found, expected = shape(quick(expression(a, b)), [*a, *b]), shape(sum(expression(a, b)), [*a, *b])
        assert found == expected
        if seed % 2 and count:
            assert (calls[0] == before) == natively, "who was asked"


def test_lists_of_unequal_length(fast: tuple[Callable[..., Any], list[int]]) -> None:
    a, b = [Value(1.0), Value(2.0), Value(3.0)], [Value(4.0), Value(5.0)]
    for x, y in ((a, b), (b, a)):
        assert fast[0](p * q for p, q in zip(x, y)).data == 14.0
        with pytest.raises(ValueError, match=r"shorter|longer"):
            fast[0](p * q for p, q in zip(x, y, strict=True))


def test_what_has_begun_goes_on_from_there(fast: tuple[Callable[..., Any], list[int]]) -> None:
    quick = fast[0]
    a, b = [Value(float(i)) for i in range(5)], [Value(10.0) for _ in range(5)]
    started = zip(a, b)
    next(started)
    assert quick(x * y for x, y in started).data == 100.0
    iterator = iter(a)
    next(iterator)
    next(iterator)
    assert quick(x * x for x in iterator).data == 29.0
    generator = (x * y for x, y in zip(a, b))
    next(generator)
    next(generator)
    assert quick(generator).data == 90.0
    iterator = iter(a)
    assert quick(x * y for x, y in zip(iterator, b)).data == 100.0
    assert list(iterator) == []


def test_what_is_summed_is_at_its_end(fast: tuple[Callable[..., Any], list[int]]) -> None:
    quick = fast[0]
    a, b = [Value(float(i)) for i in range(5)], [Value(10.0) for _ in range(5)]
    generator = (x * y for x, y in zip(a, b))
    assert quick(generator).data == 100.0
    assert list(generator) == []
    assert quick(generator) == 0
    pairs = zip(a, b)
    assert quick(x * y for x, y in pairs).data == 100.0
    assert list(pairs) == []
    iterator = iter(a)
    assert quick(x * x for x in iterator).data == 30.0
    assert list(iterator) == []


def test_other_arguments_and_errors(fast: tuple[Callable[..., Any], list[int]]) -> None:
    quick = fast[0]
    a = [Value(1.0), Value(2.0)]
    assert quick((x * x for x in a), Value(0.5)).data == 5.5
    assert quick((x * x for x in a), start=10).data == 15.0
    assert quick([1, 2]) == 3
    for wrong in ((), (1,), ([1], 2, 3), (["a"],)):
        with pytest.raises(TypeError):
            quick(*wrong)
    with pytest.raises(TypeError, match="keyword"):
        quick([1], begin=2)
    with pytest.raises(TypeError):
        quick(x * y for x, y in zip(a, ["a", None]))
    with pytest.raises(ValueError, match="unpack"):
        quick(x * y for x, y in zip(a))
    with pytest.raises(ValueError, match="unpack"):
        quick(x * y for x, y in zip(a, a, a))


def test_operands_that_run_python_code(fast: tuple[Callable[..., Any], list[int]]) -> None:
    """They may change the lists while these are gone over."""

    class Half:
        def __rmul__(self, other: Value) -> Value:
            if len(weights) > 3:
                weights.pop()
                inputs.pop()
            return other * 0.5

    for add in (fast[0], sum):
        weights: list[Any] = [Value(float(i)) for i in range(1, 7)]
        inputs: list[Any] = [Half() for _ in range(6)]
        assert add(x * y for x, y in zip(weights, inputs)).data == 3.0


def test_nothing_is_kept_alive(fast: tuple[Callable[..., Any], list[int]]) -> None:
    import sys

    a, b = [Value(1.0) for _ in range(9)], [Value(2.0) for _ in range(9)]
    before = [sys.getrefcount(thing) for thing in (a, b, a[0], b[8])]
    for _ in range(50):
        fast[0](x * y for x, y in zip(a, b))
        fast[0](x * x for x in a)
    assert [sys.getrefcount(thing) for thing in (a, b, a[0], b[8])] == before


# --- in a compiled function -----------------------------------------------------------------------------------------


def model() -> tuple[list[Value], Callable[[list[float]], Any]]:
    w = [Value(0.1 * i) for i in range(5)]
    return w, lambda x: sum(wi * xi for wi, xi in zip(w, x)).tanh() + sum(wi * wi for wi in w)  # type: ignore[union-attr]


def test_a_safe_call_is_an_eager_one() -> None:
    w, loss = model()
    x = [0.3, -0.2, 0.5, 1.0, 2.0]
    loss(x).backward()
    expected = loss(x).data, [v.grad for v in w]
    for v in w:
        v.grad = 0.0
    assert (rg.compile(loss).backward(x), [v.grad for v in w]) == expected


def test_sum_is_pythons_afterwards() -> None:
    original = builtins.sum
    seen: list[object] = []

    def loss(x: Value) -> Value:
        seen.append(builtins.sum)
        return rg.compile(inner)(x) * x if len(seen) < 3 else x  # type: ignore[no-any-return]

    def inner(x: Value) -> Value:
        seen.append(builtins.sum)
        if x.data > 1:
            raise RuntimeError
        return x * x

    rg.compile(loss).backward(Value(0.5))
    assert all(function is not original for function in seen)
    assert builtins.sum is original
    with pytest.raises(RuntimeError):
        rg.compile(inner).backward(Value(2.0))
    assert builtins.sum is original


def test_who_puts_a_sum_there_meanwhile_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def own(*_: Any) -> int:
        return 7

    monkeypatch.setattr(builtins, "sum", builtins.sum)  # put back in the end

    def loss(x: Value) -> Value:
        builtins.sum = own
        return x * sum([1])

    assert rg.compile(loss)(Value(2.0)) == 14.0
    assert builtins.sum is own


def test_threads() -> None:
    """Others add as ever, and several compiled functions may run at once."""
    original = builtins.sum
    errors: list[BaseException] = []
    stop = threading.Event()

    def train() -> None:
        try:
            _, loss = model()
            x = [0.3, -0.2, 0.5, 1.0, 2.0]
            expected = loss(x).data
            compiled = rg.compile(loss)
            for _ in range(200):
                assert compiled(x) == expected
        except BaseException as error:
            errors.append(error)

    def add() -> None:
        try:
            while not stop.is_set():
                assert sum(x * y for x, y in zip([1, 2], [3.0, 4.0])) == 11.0
                assert sum([1, 2], start=3) == 6
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=train) for _ in range(3)]
    other = threading.Thread(target=add)
    for thread in (*threads, other):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    other.join()
    assert not errors
    assert builtins.sum is original


def test_those_who_look_see_the_lines() -> None:
    a = [Value(1.0), Value(2.0)]
    sources: list[Any] = []

    def loss() -> Value:
        total = sum(x * x for x in a)
        sources.append([location_of(node) for node in interior(total)])
        return total  # type: ignore[return-value]

    with record_sources():
        rg.compile(loss).backward()
        loss()
    assert sources[0] == sources[1]
    assert all(source is not None for source in sources[0])
