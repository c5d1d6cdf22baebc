"""The compiler converts loops that data leave, and what arms assign: ints, states, attributes, items, lists, None."""

from __future__ import annotations

import bisect
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.flipping import Function, agrees_with_jax, draw, flips, is_converted

import retrograd as rg
from retrograd import math as m

pytestmark = pytest.mark.native


# --- loops --------------------------------------------------------------------------------------------------------


def root_of(p: Any) -> Any:
    """Newton's method to a tolerance, with a counter."""
    x, step, n = 1.0 + 0.1 * p, 1.0, 0
    while abs(step) > 1e-9 and n < 40:
        step = (x * x * x - 1.0 - p * p) / (3.0 * x * x)
        x = x - step
        n += 1
    return x


def halved(p: Any, x: float) -> Any:
    """A root between two bounds, where the loop returns."""
    low, high = -4.0, 4.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        miss = middle + 0.3 * m.tanh(middle) - p
        if abs(miss) < 1e-2:
            return middle * p
        if miss > 0:
            high = middle
        else:
            low = middle
    raise ValueError(f"no root for {p} and {x}")


def newton(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(root_of(p) * x for p, x in zip(ps, xs, strict=True))


def bisects(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(halved(p, x) for p, x in zip(ps, xs, strict=True))


def falls(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A break out of ``while True``; variables that only the loop assigns, and a loop variable, are read after it."""
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        height, speed = 1.0 + p * p, x
        while True:
            speed = speed - 0.3
            lower = height + 0.3 * speed
            if lower < 0.0:
                break
            height = lower
        for step in range(20):
            if height > 2.0 + p + 0.01 * step:
                break
            height = height + 0.25
        total += height * speed + lower + 0.01 * step
    return total


def skips(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """``continue`` and ``else``, and a break in a loop in a loop."""
    total = 0.0
    for p in ps:
        if p < -1.0:
            continue
        part = p
        for i, x in enumerate(xs):
            if x > 1.0:
                continue
            if part > 2.0:
                total += 1.0
                break
            part += abs(x) * 0.5 if i % 2 else abs(x)
        else:
            part = part * p
        total += part
    return total


def adapts(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Steps that are accepted or rejected, whose length divides by an error that is zero at the end."""
    y, t, h, rejected = [1.0, ps[0]], 0.0, 0.2, 0
    while t < 1.0:
        h = min(h, 1.0 - t)
        new = [y[0] + h * y[1], y[1] - h * ps[1] * y[0]]
        error = abs(h * h * (ps[1] * y[1] + xs[0])) + h * 1e-3
        if error < 0.02:
            t, y = t + h, new
        else:
            rejected += 1
        h = h * min(2.0, max(0.5, 0.9 * (0.02 / error) ** 0.5))
    return y[0] * y[1] + 0.1 * rejected


def solved(a: Any, count: int) -> list[Any]:
    """A list of one's own, whose items are set."""
    x = [0.0] * count
    for i in range(count):
        x[i] = a * (i + 1) + (x[i - 1] if i else 0.5)
    return x


def settles(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Lists that other code makes are handed on until they change little; a part of one is changed on its own."""
    beta, weight = [0.0] * 3, 1.0 + ps[0] * ps[0]
    for _ in range(30):
        new = solved(weight, 3)
        shift = max(abs(x - y) for x, y in zip(new, beta, strict=True))
        beta = new
        if shift < 0.01 + abs(xs[0]):
            break
        weight = weight * 0.6
    rest = beta[1:]
    rest[0] = rest[0] * ps[1]
    return sum(beta) + rest[0]


def approached(p: Any, x: float) -> Any:
    """What is assigned after a ``return`` in a loop is read after it; the function asks what it was given."""
    far = p - x
    for _ in range(50):
        if far == 0:
            return 0.0
        inner = far * far + 1.0
        ratio = far / inner
        before, far = far, 0.5 * far
        if abs(before - far) < 0.01:
            break
    return ratio + inner * p


def met(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    given = xs.tolist() if hasattr(xs, "tolist") else xs
    return sum(approached(p, x) for p, x in zip(ps, given, strict=True))


def shares_names(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Comprehensions have variables of the names that arms assign."""
    total = 0.0
    for _ in range(2):
        level = sum(v * ps[1] for v in xs)
        table = [[ps[1] * i * j for j in range(2)] for i in range(2)]
        for x in xs:
            if ps[0] * x < 0.2 * level:
                v = ps[0] * x
                for i in range(2):
                    total += v * v + table[i][1] * x
    return total


class Unit:
    """Weights of a neuron that can be called."""

    def __init__(self, weight: Any, bias: Any) -> None:
        self.weight, self.bias = weight, bias

    def __call__(self, x: Any) -> Any:
        return m.tanh(self.weight * x + self.bias)

    def slope(self, x: Any, scale: float = 1.0) -> Any:
        return scale * self.weight * (1.0 - self(x) ** 2)


def routes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The place of the largest of some numbers chooses an object, which is called, and whose attribute is read."""
    units = [Unit(ps[0], ps[1]), Unit(ps[2], ps[3]), Unit(ps[4], ps[5])]
    total = 0.0
    for x in xs:
        best = 0
        for k in range(1, 3):
            if units[k].weight * x > units[best].weight * x:
                best = k
        total += units[best](x) + units[best].bias * x + units[best].slope(x, scale=0.5)
        if total > x:
            total = total - 0.1 * units[best].slope(x, scale=0.5 * units[0].bias) * units[best].weight
    return total


def ranks(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The place of the largest, or the smallest, by a key chooses items; in an arm, too."""
    total = 0.0
    for x in xs:
        scores = [ps[0] * x, ps[1] * (1.0 - x), 0.1, ps[2]]
        best = max(range(4), key=scores.__getitem__)
        total += scores[best] * x + ps[best]
        if total > x:
            total = total - 0.3 * scores[min([0, 1, 2], key=lambda k: scores[k])]
    return total


# --- ints, texts, lists, None -------------------------------------------------------------------------------------


def counts(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Ints that are added, divided by, compared, and that choose items; sums of comparisons."""
    over, last, total = 0, 0, 0.0
    seen = [0.0, 0.0, 0.0]
    for i, (p, x) in enumerate(zip(ps, xs, strict=True)):
        if p > x:
            over += 1
            last = i
            total += p
        seen[over % 3] += p * x
    if over:
        total = total / over
    nearer = sum(p > 0.5 for p in ps)
    return total * (2.0 if over > 6 else 1.0) + seen[0] - seen[1] * xs[last] + nearer * ps[0] + seen[2] * ps[last]


def serves(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """The place of the least of some numbers chooses what is read and stored."""
    free = [0.0, 0.1, 0.2]
    waited = 0.0
    for p, x in zip(ps, xs, strict=True):
        best = 0
        for k in range(1, 3):
            if free[k] < free[best]:
                best = k
        start = max(free[best], 0.1 * x)
        waited += start * p
        free[best] = start + abs(p)
    return waited + sum(free)


def states(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Texts that are compared, and the keys of a dictionary."""
    mode, gain = "idle", {"idle": 0.1, "heat": 1.0, "cool": -0.5}
    store = {"energy": 0.0, "switches": 0}
    level = ps[0]
    for p, x in zip(ps, xs, strict=True):
        before = mode
        if mode == "idle":
            mode = "heat" if level < -0.5 else "cool" if level > 0.5 else mode
        elif (mode == "heat" and level > 0.2) or (mode == "cool" and level < -0.2):
            mode = "idle"
        if mode != before:
            store["switches"] += 1
        level = level + gain[mode] * 0.4 * abs(p) + 0.2 * x
        store["energy"] += level * level
    return store["energy"] + 0.1 * store["switches"]


@dataclass
class Cell:
    """A neuron that fires."""

    voltage: Any = 0.0
    resting: int = 0

    def step(self, current: Any) -> bool:
        """Whether it fires."""
        if self.resting > 0:
            self.resting -= 1
            return False
        self.voltage += 0.5 * (current - self.voltage)
        if self.voltage > 0.3:
            self.voltage, self.resting = 0.1 * self.voltage, 2
            return True
        return False


def fires(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Attributes of an object that a method sets."""
    cell, total = Cell(), 0.0
    for p, x in zip(ps, xs, strict=True):
        if cell.step(p + x):
            total += p
        total += cell.voltage * 0.1
    return total + cell.resting * ps[0]


def sorts(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Items that change places."""
    order = [p * x for p, x in zip(ps, xs, strict=True)][:6]
    for end in range(len(order) - 1, 0, -1):
        for i in range(end):
            if order[i] > order[i + 1]:
                order[i], order[i + 1] = order[i + 1], order[i]
    return sum(k * v for k, v in enumerate(order))


def hit(p: Any, x: float) -> Any:
    """Where something is met, if anywhere."""
    inside = p * p - x
    if inside <= 0.0:
        return None
    root = m.sqrt(inside)
    near = p - root
    if near > 0.0:
        return near
    return p + root if p + root > 0.0 else None


def meets(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """None where there is nothing, in a function, and as what there is before anything else."""
    first, total = None, 0.0
    for p, x in zip(ps, xs, strict=True):
        there = hit(p, x)
        if there is None:
            total += 0.1 * p
            continue
        if first is None or there < first:
            first = there
        total += there
    return total if first is None else total + 2.0 * first


def copies(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """Lists that are chosen, and one that a function in the function makes."""

    def moved(place: Sequence[Any], by: Any) -> list[Any]:
        out = []
        for one in place:
            out.append(one + by)
        return out

    best, least = [0.0, 0.0], 1e9
    for p, x in zip(ps, xs, strict=True):
        place = [p, x]
        cost = (p - 0.3) ** 2 + abs(x)
        if cost < least:
            best, least = moved(place, 0.5 * p), cost
    return best[0] * best[1] + least + sum(best[1:])


KNOTS = [-1.0, -0.5, 0.0, 0.75, 1.5]


def interpolates(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    """A table in which bisection finds the place."""
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        i = bisect_right(KNOTS, p)
        if i == 0 or i == len(KNOTS):
            total += x * p
            continue
        w = (p - KNOTS[i - 1]) / (KNOTS[i] - KNOTS[i - 1])
        total += xs[i - 1] * (1.0 - w) + xs[i] * w * x
    return total + bisect.bisect_left(KNOTS, ps[0]) * ps[0]


def leaves_a_loop(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = ps[0]
    for p, x in zip(ps, xs, strict=True):
        if p * x > 0.8:
            break
        total = total + p
    return total


def counts_to_an_item(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    above = 0
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            above += 1
    return ps[above % len(ps)] * above


def sets_an_attribute(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    cell = Cell()
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            cell.voltage = cell.voltage + p
    return cell.voltage + ps[0]


CONVERTED: list[Function] = [
    *(leaves_a_loop, counts_to_an_item, sets_an_attribute),
    *(newton, interpolates, bisects, falls, skips, adapts, counts, serves, states, fires, sorts, meets, copies),
    *(settles, met, shares_names, routes, ranks),
]


@pytest.mark.parametrize("options", [{}, {"tier": "vm"}, {"tier": "interpreter"}], ids=str)
@pytest.mark.parametrize("f", CONVERTED, ids=lambda f: f.__name__)
def test_one_program_takes_the_place_of_many(f: Function, options: dict[str, Any]) -> None:
    """Values, gradients and types are those of the function, whichever way it goes."""
    compiled = flips(f, 40, **options)
    assert is_converted(compiled, traces=9), compiled.stats()


def test_jax_agrees_with_a_converted_loop() -> None:
    """Value and gradient against JAX, where iterations that come too late keep what there is."""
    jax = pytest.importorskip("jax", reason="JAX checks the gradients: pip install jax")
    jnp = jax.numpy

    def written(ps: Any, xs: Any) -> Any:
        x, step = 1.0 + 0.1 * ps, jnp.ones_like(ps)
        for _ in range(12):
            goes_on = abs(step) > 1e-9
            step = jnp.where(goes_on, (x**3 - 1.0 - ps * ps) / (3.0 * x * x), step)
            x = jnp.where(goes_on, x - step, x)
        return (x * xs).sum()

    compiled = rg.compile(newton)
    agrees_with_jax(compiled, written, bound=1e-10)
    assert is_converted(compiled)


def test_loops_may_take_more_iterations_later() -> None:
    """A call that needs more of them than the program has is traced again, with as many."""
    f: Function = lambda ps, xs: sum(halvings(p, x) for p, x in zip(ps, xs, strict=True))  # noqa: E731

    def halvings(p: Any, x: float) -> Any:
        left, n = abs(x), 0
        while left > 0.1:
            left, n = 0.7 * left, n + 1
        return left * p + n * p * p

    compiled = rg.compile(f)
    for seed in range(24):
        ps, xs = draw(seed)
        xs = [x * 1.3**seed for x in xs]
        wanted, found = rg.value_and_grad(f)(ps, xs), compiled.value_and_grad(ps, xs)
        assert found[0] == pytest.approx(wanted[0], rel=1e-12)
        assert found[1] == pytest.approx(wanted[1], rel=1e-12)
    assert "it ends within as many iterations as the program has" in compiled.guards()
    assert len(compiled.stats().programs) < 4
    zeros = [0.0] * 12
    assert compiled.value_and_grad(ps, zeros)[0] == rg.value_and_grad(f)(ps, zeros)[0] == 0.0


def test_what_is_raised() -> None:
    """What only some calls raise is raised by the compiled function, too."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        total = 0.0
        for p, x in zip(ps, xs, strict=True):
            if p >= 6.0:
                raise OverflowError("too large")
            if p > x:
                if p > 4.0:
                    raise ValueError("out of range")
                total += m.log(p + 5.0)
            elif p < -100.0:
                raise KeyError(p)
            else:
                total -= p * p
        return total

    compiled = flips(f)
    assert is_converted(compiled)
    ps, xs = draw(3)
    for p, error in ((4.5, ValueError), (7.0, OverflowError), (-101.0, KeyError)):
        for g in (rg.value_and_grad(f), compiled.value_and_grad):
            with pytest.raises(error):
                g([*ps[:-1], p], xs)
    assert compiled.value_and_grad(ps, xs)[0] == pytest.approx(rg.value_and_grad(f)(ps, xs)[0], rel=1e-12)


def test_a_domain_that_a_test_protects() -> None:
    """Operators get numbers that they allow in an arm that is not taken: the program answers all calls."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        total = 0.0
        for p, x in zip(ps, xs, strict=True):
            if p > 0.0:
                total += m.log(p) * p**x + m.sqrt(p)
            elif x != 0.0:
                total += (1.0 / p) * 1e-3 + m.asin(max(-1.0, p)) + (-p).sqrt()
        return total

    assert is_converted(flips(f))


def test_ints_among_floats_in_results() -> None:
    """A result is an int where the function's is: that is checked in each call."""

    def tax(income: float) -> float:
        return 0 if income < 10.0 else 0.2 * income if income < 20.0 else 0.3 * income - 2.0

    def both(income: float) -> list[float]:
        return [tax(income), income]

    for f in (tax, both):
        compiled = rg.compile(f)
        for k in range(60):
            income = (7.0 * k) % 30.0
            wanted, found = f(income), compiled(income)
            assert repr(found) == repr(wanted) or found == pytest.approx(wanted, rel=1e-12)
            assert repr(found)[:2] == repr(wanted)[:2]


def test_two_names_of_a_list() -> None:
    """A list that is chosen is a copy, so a function that changes the original afterwards is not converted."""

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        now, best = [0.0, 1.0], [5.0, 5.0]
        for p, x in zip(ps, xs, strict=True):
            if p > x:
                best = now
            now[0] = now[0] + p
        return best[0] * best[1]

    assert not is_converted(flips(f, 40))


def test_exported_loops(tmp_path: Any) -> None:
    """C has the iterations that the arguments took, and some more."""
    compiled = rg.compile(newton)
    ps, xs = draw(1)
    compiled.to_c(tmp_path / "f.c", ps, xs)
    assert " ? " in (tmp_path / "f.c").read_text()


def looks_up(xs: list[float], ys: list[Any], x: float) -> Any:
    """The search may end at the last interval, after which there is nothing to compare with."""
    i = 0
    while i < len(xs) - 2 and x > xs[i + 1]:
        i += 1
    w = (x - xs[i]) / (xs[i + 1] - xs[i])
    return ys[i] * (1.0 - w) + ys[i + 1] * w


def searches(xs: list[float], ys: list[Any], x: float) -> Any:
    """It leaves the list where x is too large, which raises."""
    i = 0
    while x > xs[i + 1]:
        i = i + 1
    return ys[i] * x


@pytest.mark.parametrize("f", [looks_up, searches])
def test_a_search_that_may_reach_the_end_of_a_table(f: Any) -> None:
    rng = random.Random(3)
    xs, ys = [k / 7 for k in range(8)], [rng.uniform(-1, 1) for _ in range(8)]

    def total(ys: list[Any], queries: list[float]) -> Any:
        return sum(f(xs, ys, x) for x in queries)

    compiled, eager = rg.compile(total), rg.value_and_grad(total)
    for _ in range(30):
        queries = [rng.uniform(0, 1) for _ in range(4)]
        value, gradient = compiled.value_and_grad(ys, queries)
        wanted, slopes = eager(ys, queries)
        assert (value, *gradient) == pytest.approx((wanted, *slopes), rel=1e-13, abs=1e-15)
    assert len(compiled.stats().programs) == 1
    if f is searches:
        with pytest.raises(IndexError):
            compiled.value_and_grad(ys, [1.5, 0.1, 0.2, 0.3])


# --- what decides only because something else was selected ----------------------------------------------------------


class _Loan:
    def __init__(self, amount: Any) -> None:
        self.amount, self.alive = amount, True


def remaining(ps: Any, xs: Sequence[float]) -> Any:
    """Loans default as data and parameters say, and those that are left count: a flag that was plain decides."""
    loans = [_Loan(p * p + 1.0) for p in ps[:4]]
    total = 0.0
    for step in range(3):
        for loan, x in zip(loans, xs[step:], strict=False):
            if loan.alive and loan.amount * x < -0.8:
                loan.alive = False
        total = total + sum(loan.amount for loan in loans if loan.alive) * xs[step]
    return total + ps[5]


def test_a_flag_that_was_plain_is_converted_in_the_same_trace() -> None:
    compiled = flips(remaining, bound=1e-9)
    assert is_converted(compiled, traces=3)


def bouncing(height: Any, speed: Any, rest: Any, end: float) -> Any:
    t, bounces = 0.0, 0
    while t < end and bounces < 50:
        flight = (speed + m.sqrt(speed * speed + 19.62 * height)) / 9.81
        if t + flight > end:
            left = end - t
            return height + speed * left - 4.905 * left * left
        t, speed, height = t + flight, -(speed - 9.81 * flight) * rest, 0.0
        bounces += 1
    return height


def test_programs_that_longer_loops_make_needless_were_not_in_vain() -> None:
    """Two kinds of calls, each of which has traced a few programs that answered calls, are no reason to stop."""
    compiled, rng = rg.compile(bouncing), random.Random(0)
    gradient = rg.value_and_grad(compiled)
    for _ in range(60):
        call = (1 + rng.random() * 3, rng.random() * 2 - 1, 0.6 + 0.3 * rng.random(), 1 + 2 * rng.random())
        assert float(compiled(*call)) == pytest.approx(float(bouncing(*call)), rel=1e-12)
        assert gradient(*call) == pytest.approx(rg.value_and_grad(bouncing)(*call), rel=1e-9)
    assert compiled.stats().eager == 0


def roots(p: Any, xs: Sequence[float]) -> Any:
    total = 0.0
    for x in xs:
        y, step, n = x, 1.0, 0
        while abs(step) > 1e-9 and n < 60:
            step = (y * y - p * x) / (2.0 * y)
            y, n = y - step, n + 1
        total = total + y
    return total


def test_a_program_with_machine_code_stays_for_what_it_is_long_enough_for() -> None:
    compiled, rng = rg.compile(roots, tier="llvm"), random.Random(1)
    for _ in range(12):
        compiled.value_and_grad(1.0 + rng.random(), [1.0 + rng.random() for _ in range(3)])
    short, far = [1.2, 1.4, 1.1], [1e9, 1.4, 1.1]
    compiled.value_and_grad(1.3, short)
    before = {one.number: one.hits for one in compiled.stats().programs}
    number = compiled.stats().programs[0].number
    assert compiled.value_and_grad(1.3, far) == pytest.approx(rg.value_and_grad(roots)(1.3, far), rel=1e-9)
    for k in range(20):
        assert compiled.value_and_grad(1.3 + k, far) == pytest.approx(rg.value_and_grad(roots)(1.3 + k, far), rel=1e-9)
        assert compiled.value_and_grad(1.3, short) == pytest.approx(rg.value_and_grad(roots)(1.3, short), rel=1e-9)
    after = {one.number: one.hits for one in compiled.stats().programs}
    assert after[number] >= before[number] + 18
    for k in range(20):  # which it is not any more, as others do not
        compiled.value_and_grad(1.3 + k, far)
    assert compiled.value_and_grad(1.3, short) == pytest.approx(rg.value_and_grad(roots)(1.3, short), rel=1e-9)


def test_a_loop_over_arrays_is_left() -> None:
    def f(p: Any, warm: Any, sun: Any) -> Any:
        heat = total = 0.0
        for x, y in zip(warm, sun, strict=True):
            heat += x
            if heat > p[0]:
                break
            total += p[1] * y
        return total

    compiled, plain, rng = rg.compile(f), rg.value_and_grad(f), np.random.default_rng(1)
    for _ in range(40):
        call = [float(rng.uniform(10, 20)), 1.5], rng.uniform(0, 2, 40), rng.uniform(0, 1, 40)
        value, gradient = compiled.value_and_grad(*call)
        assert (value, gradient) == (pytest.approx(plain(*call)[0]), pytest.approx(plain(*call)[1]))
    assert is_converted(compiled, traces=9), compiled.stats()
