"""What users keep in libraries' objects, and what those lead to, is compared in every call."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import inspect
import operator
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, NewType, TypeVar

import numpy as np
import pytest
from support.compiled_cases import native

import retrograd as rg
from retrograd import Value
from retrograd.errors import CompileWarning

pytestmark = native

W = Value(2.0)
T = TypeVar("T")

Case = tuple[Callable[[Any], Any], list[Callable[[], object]]]


class Held:
    """An object of the user's."""

    k = 2.0

    def __init__(self) -> None:
        self.own = 3.0

    def close(self) -> None:
        """For ``contextlib.closing``."""

    def scaled(self, factor: float = 1.0) -> float:
        return self.own * factor


class Box(Generic[T]):
    """A generic class."""

    K = 2.0

    def read(self) -> float:
        return self.K


@dataclasses.dataclass
class Record:
    """One that is copied with ``replace``."""

    a: float = 1.0

    def __post_init__(self) -> None:
        self.b = self.a * SETTINGS.own


SETTINGS = Held()


def attributes_of_wrappers() -> Iterator[tuple[str, Case]]:
    """Attributes that users give to what libraries made of their functions."""

    def scaled(k: Any, x: Any) -> Any:
        return k.scale * x

    @contextlib.contextmanager
    def manager() -> Iterator[None]:
        yield

    made: dict[str, Any] = {
        "partial": functools.partial(max, 1.0),
        "lru_cache": functools.lru_cache(lambda: 1.0),
        "singledispatch": functools.singledispatch(lambda x: x),
        "contextmanager": manager,
        "no_grad": rg.no_grad()(lambda: 1.0),
        "event": threading.Event(),
        "OrderedDict": collections.OrderedDict(),
        "Counter": collections.Counter(),
    }
    for name, thing in made.items():
        thing.scale = 3.0

        def another(thing: Any = thing) -> None:
            thing.scale = 5.0

        yield f"an attribute of {name}", (functools.partial(scaled, thing), [another])
    event, held = threading.Event(), Held()
    event.settings, event.held = {"k": 2.0}, held  # type: ignore[attr-defined]
    yield (
        "what attributes hold",
        (
            lambda x: x * event.settings["k"] * event.held.own,  # type: ignore[attr-defined]
            [lambda: event.settings.update(k=5.0), lambda: setattr(held, "own", 7.0)],  # type: ignore[attr-defined]
        ),
    )


def what_they_lead_to() -> Iterator[tuple[str, Case]]:
    """Users' things inside of libraries' objects."""
    held = Held()
    closing, null = contextlib.closing(held), contextlib.nullcontext(held)

    def inside(manager: Any, x: Any) -> Any:
        with manager as found:
            return x * found.own

    for name, manager in (("closing", closing), ("nullcontext", null)):
        yield name, (functools.partial(inside, manager), [lambda: setattr(held, "own", held.own + 1.0)])
    alias, kind = Box[int], NewType("kind", Box[int])
    raised: list[Callable[[], object]] = [lambda: setattr(Box, "K", Box.K + 1.0)]
    yield "a generic alias", (lambda x: alias().read() * x, raised)
    yield "a new type", (lambda x: kind(Box()).K * x, raised)
    factors = {"k": 2.0}
    wise = np.frompyfunc(lambda x: x * factors["k"], 1, 1)
    yield "frompyfunc", (lambda x: wise(x), [lambda: factors.update(k=5.0)])
    made = collections.defaultdict(lambda: 2.0)
    yield "default_factory", (lambda x: made.default_factory() * x, [lambda: setattr(made, "default_factory", int)])  # type: ignore[misc]
    record = Record()
    yield (
        "replace",
        (lambda x: dataclasses.replace(record, a=2.0).b * x, [lambda: setattr(SETTINGS, "own", SETTINGS.own + 1.0)]),
    )


def under_other_names() -> Iterator[tuple[str, Case]]:
    """What reads attributes that are named in texts."""
    get, attributes, read, call = getattr, vars, operator.attrgetter, operator.methodcaller
    for name, function in {
        "getattr": lambda held, x: x * get(held, "o" + "wn"),
        "vars": lambda held, x: x * attributes(held)["own"],
        "attrgetter": lambda held, x: x * read("own")(held),
        "methodcaller": lambda held, x: x * call("scaled", 2.0)(held),
        "methodcaller itself": lambda held, x: x * operator.methodcaller("scaled", 2.0)(held),
        "getmembers": lambda held, x: x * dict(inspect.getmembers(held))["own"],
    }.items():
        held = Held()
        yield name, (functools.partial(function, held), [functools.partial(setattr, held, "own", 9.0)])


CASES: dict[str, Case] = {
    name: case for make in (attributes_of_wrappers, what_they_lead_to, under_other_names) for name, case in make()
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_seen(name: str) -> None:
    function, changes = CASES[name]
    compiled = rg.compile(lambda x: W * function(x))
    before = compiled(2.0).data
    assert (compiled(2.0).data, compiled.stats().hits) == (before, 2)
    for change in changes:
        change()
        assert compiled(2.0).data == (W * function(2.0)).data != before
        before = compiled(2.0).data


def test_other_attributes_of_theirs_may_change() -> None:
    event = threading.Event()
    event.scale, event.steps = 3.0, []  # type: ignore[attr-defined]
    compiled = rg.compile(lambda x: W * x * event.scale)  # type: ignore[attr-defined]
    for step in range(5):
        event.steps.append(step)  # type: ignore[attr-defined]
        assert compiled(2.0).data == 12.0
    assert compiled.stats().traces == 1


def test_a_weak_proxy_runs_as_it_is() -> None:
    held = Held()
    proxy = weakref.proxy(held)
    compiled = rg.compile(lambda x: W * x * proxy.own)
    with pytest.warns(CompileWarning, match="a weak proxy"):
        assert compiled(1.0).data == 6.0
    held.own = 5.0
    assert compiled(1.0).data == 10.0


def test_modules_of_libraries_are_left_alone() -> None:
    compiled = rg.compile(lambda x: W * x * np.float64(2.0) * (1.0 if isinstance(types, type) else 2.0))
    assert compiled(1.0).data == 8.0
    assert not any(path.startswith(("np.", "types.")) for path in compiled.guards().split())
