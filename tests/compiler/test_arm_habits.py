"""What arms may do in Python's many ways to write the same: functions of functions, records, objects, dictionaries."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pytest
from support.flipping import flips, is_converted

import retrograd as rg
from retrograd import math as m

pytestmark = pytest.mark.native

Arm = Callable[[Sequence[Any], Any], Any]


class Both(NamedTuple):
    one: Any
    other: Any

    def product(self) -> Any:
        return self.one * self.other


@dataclass
class Point:
    x: Any
    y: Any = 0.5
    more: list[Any] = field(default_factory=list)

    def length(self) -> Any:
        return m.sqrt(self.x * self.x + self.y * self.y + 0.1)


@dataclass(frozen=True)
class Vector:
    x: Any
    y: Any

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, scale: Any) -> Vector:
        return Vector(self.x * scale, self.y * scale)

    def __rmul__(self, scale: Any) -> Vector:
        return self * scale

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y)

    @property
    def sum(self) -> Any:
        return self.x + self.y


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x: Any) -> None:
        self.x = x
        self.y = x * x

    def __add__(self, other: Any) -> Any:
        return self.x + other

    def __radd__(self, other: Any) -> Any:
        return other - self.y


class Squared(Slotted):
    """The method of the class that inherits comes first."""

    __slots__ = ()

    def __radd__(self, other: Any) -> Any:
        return self.y * (other.x if isinstance(other, Slotted) else other)


class Body:
    """A class with an __init__ of its own."""

    kind = "body"

    def __init__(self, place: Any, speed: Any) -> None:
        self.place, self.speed = place, speed
        self.energy = 0.5 * speed * speed

    def moved(self, step: float) -> Body:
        return Body(self.place + step * self.speed, self.speed * 0.9)

    def push(self, force: Any) -> None:
        self.speed = self.speed + force


def over_records(p: Sequence[Any], x: Any) -> Any:
    both = Both(p[0] * x, other=p[1])
    return both.product() + both[0] + sum(both._replace(one=p[2]))


def over_points(p: Sequence[Any], x: Any) -> Any:
    point = Point(p[0], x)
    point.x = point.x * 2.0
    return point.length() + Point(p[2]).y + Point(p[1], more=[x]).more[0]


def over_vectors(p: Sequence[Any], x: Any) -> Any:
    moved = replace(Vector(p[0], x), y=2.0 * x) + 0.5 * Vector(x, p[1]) * 2.0 + -Vector(p[2], 1.0)
    return moved.sum * moved.x


def over_bodies(p: Sequence[Any], x: Any) -> Any:
    body = Body(p[0], x).moved(0.1)
    body.push(p[1])
    return body.place * body.speed + body.energy


def with_a_dictionary(p: Sequence[Any], x: Any) -> Any:
    table = {"a": p[0] * x, "b": p[1]}
    table["b"] += 0.1 * x
    table.setdefault("c", []).append(x)
    squares = {name: v * v for name, v in zip("uv", p, strict=False)}
    return sum(v for v in (table["a"], table["b"])) + table["c"][0] + squares["u"] * ("w" in squares) + ("u" in squares)


def with_lambdas(p: Sequence[Any], x: Any) -> Any:
    bent = lambda v, w: v * w + x  # noqa: E731
    return bent(p[0], p[1]) + functools.partial(bent, 2.0)(x)


def with_defaults(p: Sequence[Any], x: Any) -> Any:
    def scaled(v: Any, by: Any = 2.0 * x, *, more: Any = p[1] + 1.0) -> Any:
        return v * by + more

    return scaled(p[0]) + scaled(p[2], 3.0)


def with_queues(p: Sequence[Any], x: Any) -> Any:
    queue = collections.deque([p[0]], maxlen=2)
    queue.append(p[1] * x)
    queue.appendleft(x)
    sums: dict[str, Any] = collections.defaultdict(float)
    for name, v in zip("aba", p, strict=False):
        sums[name] += v * x
    return queue[0] * queue[1] + sums["a"] * sums["b"]


def unpacked(p: Sequence[Any], x: Any) -> Any:
    first, *rest = [v * x for v in p[:4]]
    (a, b), c = (first, rest[0]), [*rest, x][-1]
    values = [0.0, 0.0, p[3]]
    values[0:2] = [a, b]
    return sum(values) * c + sum(u * v for u, v in zip(*[p[:3], rest], strict=True))


ARMS: dict[str, Arm] = {
    "reduce": lambda p, x: functools.reduce(lambda a, b: a * 0.5 + b, [p[0] * x, p[1], p[2]]),
    "reduce by an operator": lambda p, x: functools.reduce(operator.mul, [p[0], x], 2.0),
    "map": lambda p, x: sum(map(lambda v, w: v * x + w, p[:3], p[1:])) + sum(map(operator.sub, p[:2], p[2:4])),
    "filter": lambda p, x: sum(filter(None, [None, 2.0, 0.0, 3.0])) * x + p[0],
    "accumulate": lambda p, x: list(itertools.accumulate([x, *p[:3]], lambda a, b: a * b + 1.0))[-1],
    "chain": lambda p, x: sum(a * b for a, b in itertools.pairwise(itertools.chain([x], p[:3]))),
    "product": lambda p, x: sum(a * b * x for a, b in itertools.product(p[:2], p[2:4])),
    "combinations": lambda p, x: sum(a * b for a, b in itertools.combinations([x, *p[:3]], 2)),
    "starmap": lambda p, x: sum(itertools.starmap(lambda a, b: a * b + x, [(p[0], p[1]), (p[2], 2.0)])),
    "reversed": lambda p, x: functools.reduce(lambda a, c: a * x + c, reversed(p[:4]), 0.0),
    "divmod": lambda p, x: divmod(p[0] + 7.0, 2.0)[1] * x,
    "any": lambda p, x: m.exp(p[0]) if any(v > x for v in p[:4]) or all(v < 1.0 for v in p[:2]) else x * 2.0,
    "a text as a key": lambda p, x: {"k1": p[0], "k2": x}[f"k{1 + len(p) % 2}"] * x,
    "getattr": lambda p, x: getattr(Vector(p[0], x), "x") * x,  # noqa: B009
    "records": over_records,
    "points": over_points,
    "vectors": over_vectors,
    "bodies": over_bodies,
    "slots": lambda p, x: (Slotted(p[0]) + x) * (p[1] + Slotted(x)) + 0.1 * (Slotted(x) + Squared(p[2])),
    "a dictionary": with_a_dictionary,
    "lambdas": with_lambdas,
    "defaults": with_defaults,
    "queues": with_queues,
    "unpacked": unpacked,
}


@pytest.mark.parametrize("name", ARMS)
def test_what_a_loop_that_data_leave_may_call(name: str) -> None:
    arm = ARMS[name]

    def f(p: Sequence[Any], data: Sequence[float]) -> Any:
        x, steps = p[0], 0
        while x * x < 9.0 and steps < 9:
            x = x + 0.3 + 0.05 * m.tanh(arm(p, x * 0.2))
            steps += 1
        return x * p[1] + data[0]

    compiled = flips(f, calls=24, bound=1e-10)
    stats = compiled.stats()
    assert len(stats.programs) == 1, stats


@pytest.mark.parametrize("name", ARMS)
def test_what_an_if_may_call(name: str) -> None:
    arm = ARMS[name]

    def f(p: Sequence[Any], data: Sequence[float]) -> Any:
        total = p[0]
        for i, x in enumerate(data):
            step = total * 0.5
            if x > p[i]:
                step = total + arm(p, total * 0.1 + x)
            total = m.tanh(step)
        return total

    assert is_converted(flips(f, calls=12, bound=1e-10), traces=5)


def test_which_of_two_records_is_chosen() -> None:
    def f(p: Sequence[Any], data: Sequence[float]) -> Any:
        place, both = Vector(p[0], p[1]), Both(p[1], 0.5)
        for x, v in zip(data, p, strict=True):
            place = place + Vector(x, v) if v > x else place * 0.5
            both = Both(v * x, both.one) if x > 0.2 else both
        return place.sum + both.product()

    assert is_converted(flips(f, calls=16), traces=5)


@dataclass(frozen=True, eq=False)
class Marker:
    x: Any


@dataclass(frozen=True)
class Plain:
    x: Any


def test_a_record_that_has_more_than_its_fields_is_itself() -> None:
    def f(p: Sequence[Any], data: Sequence[float]) -> Any:
        one, other = Plain(p[0]), Plain(p[1])
        object.__setattr__(other, "more", 5.0)
        chosen = one if p[0] > data[0] else other
        return chosen.x * getattr(chosen, "more", 1.0) * (3.0 if p[4] > data[4] else 1.0)

    flips(f, calls=30)


def test_what_is_the_same_object_is_asked_of_the_original() -> None:
    def f(p: Sequence[Any], data: Sequence[float]) -> Any:
        one, other = Marker(p[0]), Marker(p[1])
        chosen = one if p[0] > data[0] else other
        step = p[2] * (1.0 if chosen == one else 2.0)
        return step * 3.0 if p[4] > data[4] else step

    flips(f, calls=30)


# --- what stays an effect ---------------------------------------------------------------------------------------

LOG: list[float] = []


class Noted:
    """A class whose objects are noted when they are made."""

    def __init__(self, x: Any) -> None:
        self.x = x
        LOG.append(1.0)


@dataclass
class Prepared:
    x: Any

    def __post_init__(self) -> None:
        LOG.append(1.0)


class Counted:
    made = 0

    def __new__(cls, x: Any) -> Any:
        cls.made += 1
        return super().__new__(cls)

    def __init__(self, x: Any) -> None:
        self.x = x


class Total:
    """What += changes."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, other: Any) -> Total:
        return Total(self.x + other)

    def __iadd__(self, other: Any) -> Total:
        LOG.append(1.0)
        self.x = self.x + 2.0 * other
        return self

    def __getitem__(self, place: int) -> Any:
        LOG.append(1.0)
        return self.x

    def __len__(self) -> int:
        LOG.append(1.0)
        return 3


class Setting:
    """Has a property that notes what it is set to."""

    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def x(self) -> Any:
        return self.found

    @x.setter
    def x(self, value: Any) -> None:
        LOG.append(1.0)
        self.found = value


def added_in_place(p: Sequence[Any], x: Any) -> Any:
    total = Total(x)
    total += p[0]
    return total.x


def read_twice(p: Sequence[Any], x: Any) -> Any:
    doubled = map(lambda v: v * 2.0, p[:2])  # noqa: C417
    return sum(doubled) + sum(doubled) * 3.0 + x


class Loud:
    """All that Python asks of it is noted."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def _noted(self, *_: Any) -> Any:
        LOG.append(1.0)
        return True

    def __bool__(self) -> bool:
        return bool(self._noted())

    def __eq__(self, other: object) -> bool:
        return bool(self._noted())

    def __hash__(self) -> int:
        return int(self._noted())

    def __lt__(self, other: object) -> bool:
        return bool(self._noted())

    def __radd__(self, other: Any) -> Any:
        LOG.append(1.0)
        return other + self.x

    def __index__(self) -> int:
        return int(self._noted())

    def __divmod__(self, other: Any) -> Any:
        LOG.append(1.0)
        return other, self.x


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def up(self, x: Any) -> Any:
        self.count += 1
        return x


def counts(p: Sequence[Any], x: Any) -> Any:
    counter = Counter()
    found = any(counter.up(v) > 0.3 for v in p[:4])
    return counter.count * 0.1 + (2.0 if found else 1.0) * x


def late_bound(p: Sequence[Any], x: Any) -> Any:
    k = 2.0
    scaled = map(lambda v: v * k, p[:2])  # noqa: C417
    k = 3.0
    return sum(scaled) * x


def only_as_many_as_needed(p: Sequence[Any], x: Any) -> Any:
    seen = [0.0]

    def noted(v: Any) -> Any:
        seen[0] += 1.0
        return v

    return sum(a * b for a, b in zip([x, x], map(noted, p[:4]), strict=False)) + seen[0]


def extended_by_itself(p: Sequence[Any], x: Any) -> Any:
    values = [x]
    values.extend(v * len(values) for v in p[:3])
    table = {0: x}
    table.update((k, len(table) * v) for k, v in zip((5, 6, 7), p, strict=False))
    return sum(values) + table[7] + table[5]


def counted_in_an_if(p: Sequence[Any], x: Any) -> Any:
    counter = Counter()

    def up(v: Any) -> Any:
        if v > -0.5:
            counter.count = counter.count + 1
        return v

    found = any(up(v) > 0.3 for v in p[:4])
    return counter.count * 0.1 + (2.0 if found else 1.0) * x


def counted_in_place(p: Sequence[Any], x: Any) -> Any:
    seen = [0.0]

    def noted(v: Any) -> Any:
        same = seen
        same += [v]
        return v

    found = all(noted(v) > -0.3 for v in p[:4])
    return len(seen) * 0.1 + (2.0 if found else 1.0) * x


def read_by_any(p: Sequence[Any], x: Any) -> Any:
    table = {"a": map(lambda v, w: v * 2.0 + w, p[:4], p[1:])}
    found = any(v > 0.2 for v in table.get("a"))  # type: ignore[union-attr]
    return sum(table.get("a")) + (2.0 if found else 1.0) * x  # type: ignore[arg-type]


def asked_of_loud_ones(p: Sequence[Any], x: Any) -> Any:
    compared = (Both(1, 2) in [Both(Loud(1.0), 2)]) + [Both(Loud(1.0), 2)].count((1, 2))  # type: ignore[comparison-overlap]
    return x * compared + max({1: Loud(x), 2: Loud(p[0])}.values()).x + sum(filter(lambda v: Loud(v), [x, p[1]]))


def formatted(p: Sequence[Any], x: Any) -> Any:
    return len(f"{3:{int(note(4.0))}}") * x


def note(x: Any) -> Any:
    LOG.append(1.0)
    return x


EFFECTS: dict[str, Arm] = {
    "an object that is noted": lambda p, x: Noted(x).x,
    "what follows __init__": lambda p, x: Prepared(x).x,
    "a __new__ that counts": lambda p, x: Counted(x).x,
    "a function that notes": lambda p, x: sum(map(note, [x, p[0]])),
    "one that reduce calls": lambda p, x: functools.reduce(lambda a, b: note(a * b), [x, p[0]]),
    "+= of a class": added_in_place,
    "its truth": lambda p, x: x if Loud(x) else p[0],
    "its truth in and": lambda p, x: (Loud(x) and p[0]) * x,
    "what a list compares": lambda p, x: x * ("a" in [Loud(x)]) + ([Loud(x)] == [Loud(p[0])]) + [Loud(x)].count(1.0),
    "what a dictionary hashes": lambda p, x: len({Loud(x): 1.0}) * x,
    "what a sum adds": lambda p, x: sum([p[0], Loud(x)]),
    "a place in a list": lambda p, x: [x, p[0]][Loud(x)],
    "divmod of a class": lambda p, x: divmod(Loud(x), 2.0)[1],
    "any that counts": counts,
    "what a lambda finds later": late_bound,
    "as many as are needed": only_as_many_as_needed,
    "a list that is extended by itself": extended_by_itself,
    "any that counts in an if": counted_in_an_if,
    "all that counts in place": counted_in_place,
    "what any has read": read_by_any,
    "what is asked of loud ones": asked_of_loud_ones,
    "a width that is computed": formatted,
    "what is read only once": read_twice,
    "an item of a class": lambda p, x: Total(x)[0],
    "the length of an object": lambda p, x: len(Total(x)) * x,
    "a property that is set": lambda p, x: Setting(x).x,
    "objects that a dictionary makes": lambda p, x: collections.defaultdict(lambda: Noted(1.0))["a"].x * x,
    "a class that maps": lambda p, x: sum(one.x for one in map(Noted, [x, p[0]])),
    "a factory that notes": lambda p, x: collections.defaultdict(lambda: note(1.0))["a"] * x,
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_happen_where_the_arm_is_taken(name: str) -> None:
    arm = EFFECTS[name]

    def f(p: Sequence[Any], data: Sequence[float]) -> Any:
        total = p[0]
        for x, v in zip(data, p, strict=True):
            if v > x:
                total = total + arm(p, v * x)
        return total + len(LOG) * 0.25 + Counted.made * 0.5

    compiled = rg.compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(8):
            rng = random.Random(seed)
            arguments = [[rng.gauss(0.0, 1.0) for _ in range(6)] for _ in range(2)]
            found, counts = [], []
            for g in (rg.value_and_grad(f), compiled.value_and_grad):
                LOG.clear()
                Counted.made = 0
                found.append(g(*arguments))
                counts.append((len(LOG), Counted.made))
            assert found[1][0] == pytest.approx(found[0][0], rel=1e-12)
            assert found[1][1] == pytest.approx(found[0][1], rel=1e-12)
            assert counts[0] == counts[1]


def test_an_item_is_read_before_the_arguments_of_its_method() -> None:
    def method(x: Any, y: Any) -> Any:
        total = 0.0 * x
        for a in (x, y, x * y - 0.3, x + y):
            total = total + a if a > 0 else total - 2.0 * a
        vectors, which = [Vector(2.0, 1.0), Vector(3.0, 1.0)], -2

        def put() -> Any:
            vectors[0] = Vector(rg.where(x > 1.0, 7.0, 2.0), 1.0)
            return y

        return vectors[which].__mul__(put()).x + total

    compiled = rg.compile(method)
    for point in [(-1.0, -1.0), (-0.5, 0.5), (0.1, 0.9), (1.5, 0.5)]:
        assert compiled(*map(rg.Value, point)).data == pytest.approx(method(*map(rg.Value, point)).data, rel=1e-12)


def test_sums_of_what_passes() -> None:
    """In loops in each other, too, in lists, and in an arm."""

    def nested(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        rows = [xs[:4], xs[4:8], xs[8:]]
        total = sum(p * x for p, row in zip(ps, rows, strict=False) for x in row if x > 0.1)
        total += sum([p * p for p in ps if p > 0.2]) + len([1 for x in xs if x < ps[0]]) * ps[1]
        if total > ps[2]:
            total += sum(x * y * ps[3] for row in rows for x in row for y in row if x > y)
        return total + sum((x * ps[4] for row in rows if row[0] > 0.0 for x in row if x > -0.5), ps[5])

    assert is_converted(flips(nested, 40, bound=1e-11), traces=6)


def test_the_warning_says_what_decides_how_long_a_list_is() -> None:
    def filtered(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        return max([ps[0] * x for x in xs if x > ps[1]], default=0.0 * ps[0])

    def grown(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        hits = []
        for x in xs:
            if x > ps[1]:
                hits.append(x * ps[0])
        return max(hits, default=0.0 * ps[0])

    for f, why in ((filtered, "decides how long a list is"), (grown, "append, which changes what a list has")):
        with pytest.warns(rg.errors.CompileWarning, match=why):
            flips(f, 60, warns=True, tier="vm")
