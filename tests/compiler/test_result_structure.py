"""What is in a result beside its numbers: keys, truth values, static fields and what registered classes keep."""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as rg

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore::retrograd.errors.CompileWarning")]


@dataclasses.dataclass
class Fit:
    loss: Any
    note: Any


@dataclasses.dataclass(frozen=True)
class Tagged:
    loss: Any
    tag: Any = dataclasses.field(metadata={"static": True})


class Kept:
    """A registered class: ``tag`` is what its number keeps."""

    def __init__(self, loss: Any, tag: Any) -> None:
        self.loss, self.tag = loss, tag

    def __repr__(self) -> str:
        return f"Kept({self.loss}, {self.tag})"


rg.register_pytree_node(Kept, lambda one: ([one.loss], one.tag), lambda tag, children: Kept(children[0], tag))

RESULTS: dict[str, Callable[[Any, float, int], Any]] = {
    "an int in a field": lambda p, x, k: Fit(p[0] * x, k),
    "a truth value in a field": lambda p, x, k: Fit(p[0] * x, x > 3.0),
    "a text in a field": lambda p, x, k: Fit(p[0] * x, "large" if x > 3.0 else "small"),
    "an int in a static field": lambda p, x, k: Tagged(p[0] * x, k),
    "a float in a static field": lambda p, x, k: Tagged(p[0] * x, 2.0 * x),
    "a truth value in a static field": lambda p, x, k: Tagged(p[0] * x, x > 3.0),
    "a list in a static field": lambda p, x, k: Tagged(p[0] * x, [2.0 * x, k]),
    "an int that an object keeps": lambda p, x, k: Kept(p[0] * x, k),
    "a float that an object keeps": lambda p, x, k: Kept(p[0] * x, 2.0 * x),
    "a truth value that an object keeps": lambda p, x, k: Kept(p[0] * x, x > 3.0),
    "a key": lambda p, x, k: {k: p[0] * x},
    "a truth value as a key": lambda p, x, k: {"loss": p[0] * x, x > 3.0: 1.0},
    "a float as a key": lambda p, x, k: {2.0 * x: p[0] * x},
    "a key of another dictionary": lambda p, x, k: defaultdict(float, {k: p[0] * x}),
    "an item": lambda p, x, k: OrderedDict(loss=p[0] * x, count=k + 1),
    "counts": lambda p, x, k: (p[0] * x, Counter(["a", "a", "b"])),
    "rows": lambda p, x, k: [Fit(p[0] * x, [k, k + 1]), Fit(p[0], x < 2.0)],
}


@pytest.mark.parametrize("kind", RESULTS)
def test_it_is_that_of_each_call(kind: str) -> None:
    f = RESULTS[kind]
    compiled = rg.compile(f)
    for k in [1, 2, 3, 1, 7, 2, 9, 4, 4, 5, 6, 8, 1, 2] * 2:
        assert repr(compiled([0.3], 0.5 + k, k)) == repr(f([0.3], 0.5 + k, k))


@pytest.mark.parametrize("kind", ["a truth value in a field", "an int in a field", "a key", "counts"])
def test_such_functions_are_compiled(kind: str) -> None:
    f = RESULTS[kind]
    compiled = rg.compile(f)
    for k in [1, 2, 3, 5, 7] * 3:
        compiled([0.3], 0.5 + k, k)
    assert compiled.stats().eager == 0


def of_objects(xs: list[Any]) -> Any:
    return 2.0 * np.array(xs, dtype=object)


def in_a_tree(xs: list[Any]) -> Any:
    return {"now": np.array([xs, xs], dtype=object), "sum": xs[0] + xs[1]}


def beside_floats(xs: list[Any]) -> Any:
    return np.array(xs, dtype=object), np.array(xs) * 1.5


@pytest.mark.parametrize("function", [of_objects, in_a_tree, beside_floats])
@pytest.mark.parametrize("given", [float, rg.Value])
def test_arrays_of_objects_stay_such(function: Any, given: Any) -> None:
    compiled = rg.compile(function)
    for call in range(4):
        xs = [given(0.5 + call), given(2.0)]
        found, wanted = compiled(xs), function(xs)
        for ours, theirs in zip(arrays_in(found), arrays_in(wanted), strict=True):
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            assert [*map(type, ours.flat)] == [*map(type, theirs.flat)]
            assert [*map(number_in, ours.flat)] == [*map(number_in, theirs.flat)]
    several = compiled.call_batch([([1.0, 2.0],), ([3.0, 4.0],)])
    assert [one.dtype for result in several for one in arrays_in(result)] == [
        one.dtype for xs in ([1.0, 2.0], [3.0, 4.0]) for one in arrays_in(function(xs))
    ]


def arrays_in(tree: Any) -> list[Any]:
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, tuple) else [tree]
    return [part for part in parts if isinstance(part, np.ndarray)]


def number_in(thing: Any) -> float:
    return thing.data if isinstance(thing, rg.Value) else thing
