"""Objects of classes that users derive from libraries': what inherited methods read is compared in every call, too."""

from __future__ import annotations

import abc
import collections
import collections.abc
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value, nn

pytestmark = native

W = Value(3.0)


class Net(nn.Module):
    """As users write it: called through ``nn.Module.__call__``, and with an attribute that it has from there."""

    def __init__(self) -> None:
        self.w, self.scale, self.bounds = Value(2.0), 3.0, [1.0]

    def forward(self, x: Any) -> Any:
        return self.w * x * self.scale * (2.0 if self.training else 1.0) + self.bounds[0]


class Doubled(nn.Linear):
    """A layer whose inherited ``forward`` does the work."""

    def forward(self, x: Any) -> Any:
        return [2.0 * y for y in super().forward(x)]


class Layers(nn.MLP):
    """Nothing of its own."""


class Table(collections.UserDict[str, float]):
    """A dictionary whose items are in an attribute of its base class."""


class Rows(collections.abc.Mapping[str, float]):
    """A mapping, of which a library has half of the methods."""

    def __init__(self) -> None:
        self.rows = {"a": 1.0}

    def __getitem__(self, key: str) -> float:
        return self.rows[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class Template(abc.ABC):
    """A method that calls one of a class derived from it."""

    factor = 2.0

    def run(self, x: Any) -> Any:
        return self.inner(x)

    @abc.abstractmethod
    def inner(self, x: Any) -> Any: ...


class Filled(Template):
    def inner(self, x: Any) -> Any:
        return W * x * self.factor


@functools.total_ordering
class Rank:
    def __init__(self, rank: float) -> None:
        self.rank = rank

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rank) and self.rank == other.rank

    def __lt__(self, other: Rank) -> bool:
        return self.rank < other.rank

    __hash__ = object.__hash__


def set_in(kind: type, name: str, thing: Any) -> None:
    setattr(kind, name, thing)


CASES: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any], list[Callable[[Any], Any]]]] = {
    "a module that is called": (
        Net,
        lambda n, x: n(x),
        [
            lambda n: setattr(n, "scale", 5.0),
            lambda n: n.eval(),
            lambda n: n.bounds.append(n.bounds.pop() + 1.0),
            lambda n: n.train(),
            lambda n: setattr(n, "w", Value(7.0)),
            lambda n: delattr(n, "training"),
            lambda n: set_in(type(n), "training", False),
            lambda n: set_in(type(n), "forward", lambda self, x: self.w * x),
        ],
    ),
    "a module's forward": (
        Net,
        lambda n, x: n.forward(x),
        [lambda n: n.eval(), lambda n: set_in(type(n), "training", False), lambda n: delattr(n, "training")],
    ),
    "an inherited forward": (
        lambda: Doubled(1, 1),
        lambda n, x: n([x])[0],
        [lambda n: setattr(n, "weight", ((Value(9.0),),)), lambda n: setattr(n, "bias", (Value(4.0),))],
    ),
    "an MLP by another name": (
        lambda: Layers(1, [2, 1]),
        lambda n, x: n([x]),
        [
            lambda n: setattr(n.layers[0].neurons[1].w[0], "data", 5.0),
            lambda n: n.layers.reverse() or n.layers.reverse(),
        ],
    ),
    "a dictionary's base class": (
        lambda: Table(a=2.0),
        lambda t, x: W * x * t["a"],
        [lambda t: t.update(a=5.0), lambda t: setattr(t, "data", {"a": 6.0})],
    ),
    "a mapping's items": (
        Rows,
        lambda t, x: W * x * sum(row for _, row in t.items()) * t.get("a", 0.0),
        [lambda t: t.rows.update(a=5.0), lambda t: t.rows.update(b=1.0)],
    ),
    "a template": (
        Filled,
        lambda t, x: t.run(x),
        [lambda t: setattr(t, "factor", 5.0), lambda t: delattr(t, "factor"), lambda t: set_in(Filled, "factor", 7.0)],
    ),
    "an order that is completed": (
        lambda: [Rank(1.0), Rank(2.0)],
        lambda t, x: W * x * (2.0 if t[0] >= t[1] else 1.0),
        [lambda t: setattr(t[0], "rank", 3.0), lambda t: setattr(t[1], "rank", 4.0)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_change_is_seen(case: str) -> None:
    make, use, changes = CASES[case]
    thing = make()
    kind = type(thing)
    before = dict(vars(kind))

    def function(x: Any) -> Any:
        return use(thing, x)

    compiled = rg.compile(function)
    try:
        for change in [lambda _: None, *changes]:
            change(thing)
            for x in (1.0, 2.0, 1.0):
                assert compiled(x).data == pytest.approx(function(x).data, rel=1e-12)
        assert compiled.stats().eager == 0
        assert compiled.stats().traces <= 1 + len(changes)
    finally:
        for name in [name for name in vars(kind) if name not in before]:
            delattr(kind, name)
        for name in ("training", "forward", "factor"):
            if name in before:
                setattr(kind, name, before[name])


def test_what_is_not_read_may_change() -> None:
    """A history that a training loop keeps in a module is no reason to trace again."""
    net = Net()
    net.history = []  # type: ignore[attr-defined]
    compiled = rg.compile(lambda x: net(x))
    for step in range(8):
        net.history.append(compiled.backward(1.0 + step))  # type: ignore[attr-defined]
    assert (compiled.stats().traces, compiled.stats().eager) == (1, 0)


def test_a_module_says_what_it_computes() -> None:
    with pytest.raises(TypeError, match="a Module cannot be called: define what it computes as its method forward"):
        nn.Module()(1.0)
