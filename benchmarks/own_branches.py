"""Functions whose branches and loops are others in each call, against C by hand with its adjoint by hand, and eager.

No program with both arms of each test stands for them: loops that data end are nested, queues fill and empty, events
are sorted. So they become taped code, which keeps their branches and loops (docs/compile.md, "Taped code").

python -m benchmarks.own_branches [TURNS]

Each call brings the next of 32 samples of parameters and data. Before the race all of them are held against the eager
engine, and C as well. C, in ``peers/own_branches_c.py``, has its data as flat arrays beforehand and is timed inside C;
ours takes lists and objects in each call. It is left out where there is no gcc. Figures are the minima of the turns.
"""

from __future__ import annotations

import bisect
import ctypes
import math
import random
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, perf_counter_ns, sleep
from typing import Any, NamedTuple

import numpy as np

import retrograd as rg
import retrograd.math as rm

from .flips import check
from .peers import own_branches_c as in_c

__all__ = ["PROGRAMS", "Program", "compare", "main", "written"]

SAMPLES = 32

#: -ffast-math as in the other races; the loops that data end compare numbers that may be infinite.
_FLAGS = ["-O3", "-march=native", "-ffast-math", "-fno-finite-math-only", "-shared", "-fPIC"]

#: So many seconds may pass until taped code answers: it is made in the background.
_PATIENCE = 20.0

Sample = tuple[Any, ...]


# --- particles through a slab -------------------------------------------------------------------------------

EDGES = [0.0, 0.5, 1.2, 1.8, 3.0]
LAYERS = 4


class Stream:
    """Hands out the numbers of a list, one after the other."""

    def __init__(self, numbers: list[float]) -> None:
        self.numbers, self.at = numbers, 0

    def draw(self) -> float:
        """The next one."""
        self.at += 1
        return self.numbers[self.at - 1]

    def left(self) -> int:
        """How many there still are."""
        return len(self.numbers) - self.at


def scattered(stream: Stream, forward: float) -> float:
    """A direction by rejection, without grazing ones."""
    while stream.left() > 8:
        c = 2.0 * stream.draw() - 1.0
        if abs(c) < 0.05:
            continue
        if stream.draw() * (1.0 + forward) < 1.0 + forward * c:
            return c
    return 1.0


def history(stream: Stream, sigma: list[Any], albedo: list[Any], forward: float, dose: list[Any]) -> tuple[str, Any]:
    """What becomes of a particle, and the weight that it has then."""
    x, k, weight = 0.0, 0, 1.0
    mu = max(0.1, stream.draw())
    while stream.left() > 8:
        tau = -rm.log(1.0 - stream.draw())
        while True:
            d = ((EDGES[k + 1] if mu > 0.0 else EDGES[k]) - x) / mu
            if tau <= sigma[k] * d:
                break
            dose[k] += weight * d
            tau -= sigma[k] * d
            x = EDGES[k + 1] if mu > 0.0 else EDGES[k]
            k += 1 if mu > 0.0 else -1
            if k < 0:
                return "reflected", weight
            if k >= LAYERS:
                return "transmitted", weight
        d = tau / sigma[k]
        dose[k] += weight * d
        x += mu * d
        weight = weight * albedo[k]
        if weight < 0.3:  # Russian roulette
            if stream.draw() < 0.5:
                return "absorbed", 0.0
            weight = weight * 2.0
        mu = scattered(stream, forward)
    return "lost", weight


def transport(p: list[Any], forward: float, numbers: list[list[float]], target: list[float]) -> Any:
    """Sixty particles through four layers, on given random numbers; doses and fates are fitted."""
    sigma = [rm.exp(s) for s in p[:LAYERS]]
    albedo = [1.0 / (1.0 + rm.exp(-a)) for a in p[LAYERS:]]
    dose = [0.0] * LAYERS
    tally = {"reflected": 0.0, "transmitted": 0.0, "absorbed": 0.0, "lost": 0.0}
    for row in numbers:
        fate, weight = history(Stream(row), sigma, albedo, forward, dose)
        tally[fate] += weight
    n = len(numbers)
    loss = (tally["transmitted"] / n - 0.2) ** 2 + (tally["reflected"] / n - 0.3) ** 2
    for k, d in enumerate(dose):
        loss += (d / n - target[k]) ** 2
    return loss


def _transport_sample(draw: random.Random) -> Sample:
    p = [draw.gauss(0.2, 0.2) for _ in range(LAYERS)] + [draw.gauss(0.8, 0.3) for _ in range(LAYERS)]
    numbers = [[draw.random() for _ in range(60)] for _ in range(60)]
    return p, draw.uniform(0.1, 0.6), numbers, [draw.uniform(0.3, 1.0) for _ in range(LAYERS)]


def _transport_flat(forward: float, numbers: list[list[float]], target: list[float]) -> tuple[list[float], list[int]]:
    return [forward, *target, *(u for row in numbers for u in row)], []


# --- perishable stock ---------------------------------------------------------------------------------------

SHELF = 6


@dataclass
class Article:
    """What it costs, how much of it is wanted each day, and how many days orders take."""

    price: float
    fixed: float
    hold: float
    lost: float
    waste: float
    demand: list[float]
    leads: list[int]


@dataclass
class Lot:
    """Of one age."""

    age: int
    quantity: Any


def softplus(x: Any) -> Any:
    """Log of 1 + e^x."""
    return rm.log(1.0 + rm.exp(x)) if x < 30.0 else x


def season(low: Any, high: Any, article: Article) -> Iterator[tuple[int, Any]]:
    """Each day and its cost: lots age, the oldest go first, orders arrive late."""
    lots = deque([Lot(0, high)])
    coming: deque[tuple[int, Any]] = deque()
    placed = 0
    for day, wanted in enumerate(article.demand):
        cost = 0.0
        while coming and coming[0][0] <= day:
            lots.append(Lot(0, coming.popleft()[1]))
        while lots and lots[0].age >= SHELF:
            cost += article.waste * lots.popleft().quantity
        left = wanted
        while lots and left > 0.0:
            lot = lots[0]
            if lot.quantity > left:
                lot.quantity -= left
                left = 0.0
            else:
                left -= lot.quantity
                lots.popleft()
        cost += article.lost * left
        stock = sum(lot.quantity for lot in lots)
        cost += article.hold * stock + 0.2 * softplus((low - stock) / 4.0)
        position = stock + sum(quantity for _, quantity in coming)
        if position < low:
            quantity = high - position
            cost += article.fixed * (1.0 - rm.exp(-quantity / 10.0)) + article.price * quantity
            coming.append((day + article.leads[placed % len(article.leads)], quantity))
            placed += 1
        for lot in lots:
            lot.age += 1
        yield day, cost


def inventory(p: list[Any], articles: list[Article]) -> Any:
    """The discounted cost of 90 days with perishable stock of four articles, each ordered when there is little."""
    total = 0.0
    for i, article in enumerate(articles):
        for day, cost in season(p[2 * i], p[2 * i] + p[2 * i + 1], article):
            total += 0.999**day * cost
    return total


def _inventory_sample(draw: random.Random) -> Sample:
    p = [x for _ in range(4) for x in (draw.uniform(15.0, 25.0), draw.uniform(15.0, 30.0))]
    articles = [
        Article(
            price=draw.uniform(1.0, 2.0),
            fixed=draw.uniform(5.0, 10.0),
            hold=draw.uniform(0.02, 0.05),
            lost=draw.uniform(4.0, 8.0),
            waste=draw.uniform(0.5, 1.5),
            demand=[max(0.0, draw.gauss(5.0, 2.5)) for _ in range(90)],
            leads=[draw.randint(1, 4) for _ in range(12)],
        )
        for _ in range(4)
    ]
    return p, articles


def _inventory_flat(articles: list[Article]) -> tuple[list[float], list[int]]:
    rows = [[a.price, a.fixed, a.hold, a.lost, a.waste, *a.demand] for a in articles]
    return [x for row in rows for x in row], [days for a in articles for days in a.leads]


# --- genealogies --------------------------------------------------------------------------------------------

KINDS = ["sample", "coalescence", "migration"]


class Event(NamedTuple):
    """A branch begins, two meet, or one goes to the other deme."""

    time: float
    kind: str
    deme: int


class Deme:
    """A population that grows since a time, and had one size before (times count backwards)."""

    def __init__(self, size: Any, growth: Any, change: Any) -> None:
        self.size, self.growth, self.change = size, growth, change
        self.ancient = size * rm.exp(-growth * change)

    def at(self, t: float) -> Any:
        """Its size at a time."""
        return self.ancient if t >= self.change else self.size * rm.exp(-self.growth * t)

    def growing(self, a: Any, b: Any) -> Any:
        """The integral of 1 / size while it grows."""
        if abs(self.growth) < 1e-6:
            return (b - a) / self.size
        return (rm.exp(self.growth * b) - rm.exp(self.growth * a)) / (self.growth * self.size)

    def exposure(self, a: float, b: float) -> Any:
        """The integral of 1 / size."""
        if b <= self.change:
            return self.growing(a, b)
        if a >= self.change:
            return (b - a) / self.ancient
        return self.growing(a, self.change) + (b - self.change) / self.ancient


def log_likelihood(demes: list[Deme], rates: list[Any], events: list[Event]) -> Any:
    """Of one genealogy, whose events are in no order."""
    lineages, now, total = [0, 0], 0.0, 0.0
    for event in sorted(events, key=lambda e: e.time):
        t, d = event.time, event.deme
        if t > now:
            for i, k in enumerate(lineages):
                if k >= 2:
                    total -= 0.5 * k * (k - 1) * demes[i].exposure(now, t)
                if k > 0:
                    total -= k * rates[i] * (t - now)
            now = t
        if event.kind == "sample":
            lineages[d] += 1
        elif event.kind == "coalescence":
            if lineages[d] < 2:
                return -1e6
            total -= rm.log(demes[d].at(t))
            lineages[d] -= 1
        else:
            total += rm.log(rates[d])
            lineages[d] -= 1
            lineages[1 - d] += 1
    return total


def coalescent(p: list[Any], genealogies: list[list[Event]]) -> Any:
    """The likelihood of the sizes, growth and migration of two demes, given five genealogies of 61 events."""
    change = rm.exp(p[6])
    demes = [Deme(rm.exp(p[0]), p[1], change), Deme(rm.exp(p[2]), p[3], change)]
    rates = [rm.exp(p[4]), rm.exp(p[5])]
    return -sum(log_likelihood(demes, rates, events) for events in genealogies) / len(genealogies)


def _genealogy(draw: random.Random) -> list[Event]:
    """Sixteen samples now and eight later, fourteen moves; where a choice leads nowhere, it is begun again."""
    events, k, t = [Event(0.0, "sample", draw.randrange(2)) for _ in range(16)], [0, 0], 0.0
    for event in events:
        k[event.deme] += 1
    later, moves, joins = sorted(draw.uniform(0.01, 0.8) for _ in range(8)), 14, 23
    while later or moves or joins:
        t += draw.expovariate(3.0 + sum(k))
        while later and later[0] < t:
            events.append(Event(later.pop(0), "sample", draw.randrange(2)))
            k[events[-1].deme] += 1
        can = [d for d in (0, 1) if k[d] >= 2]
        if moves and (not can or joins - len(later) <= 1 or draw.random() < 0.3):
            d, moves = draw.choice([d for d in (0, 1) if k[d] > 0]), moves - 1
            k[d], k[1 - d] = k[d] - 1, k[1 - d] + 1
            events.append(Event(t, "migration", d))
        elif can and joins and (sum(k) > 2 or not later):
            d, joins = draw.choice(can), joins - 1
            k[d] -= 1
            events.append(Event(t, "coalescence", d))
        elif not moves and not can and not later:
            return _genealogy(draw)
    draw.shuffle(events)
    return events


def _coalescent_sample(draw: random.Random) -> Sample:
    means = (0.0, 0.2), (1.0, 0.3), (0.0, 0.2), (0.5, 0.3), (-1.0, 0.2), (-1.0, 0.2), (-0.7, 0.2)
    return [draw.gauss(*one) for one in means], [_genealogy(draw) for _ in range(5)]


def _coalescent_flat(genealogies: list[list[Event]]) -> tuple[list[float], list[int]]:
    events = [event for one in genealogies for event in one]
    return [e.time for e in events], [x for e in events for x in (KINDS.index(e.kind), e.deme)]


# --- reserves -----------------------------------------------------------------------------------------------

COVERS = ["term", "endowment", "annuity"]


@dataclass
class Policy:
    """A life insurance, and what is booked for it."""

    age: int
    term: int
    cover: str
    smoker: bool
    insured: float
    premium: float
    booked: float


def zero_rate(times: list[float], rates: list[float], t: int) -> float:
    """Between the points of a curve."""
    if t <= times[0]:
        return rates[0]
    if t >= times[-1]:
        return rates[-1]
    k = bisect.bisect_right(times, t) - 1
    return rates[k] + (t - times[k]) / (times[k + 1] - times[k]) * (rates[k + 1] - rates[k])


def mortality(p: list[Any], age: int, smoker: bool) -> Any:
    """Gompertz's."""
    force = rm.exp(p[0] + p[1] * (age - 40))
    if smoker:
        force = force * (1.0 + rm.exp(p[2]))
    return 1.0 - rm.exp(-force)


def reserve(p: list[Any], policy: Policy, times: list[float], rates: list[float]) -> Any:
    """What a policy takes until its end, or until few of its like are left."""
    alive, total, v = 1.0, 0.0, 1.0
    for year in range(policy.term):
        q = mortality(p, policy.age + year, policy.smoker)
        lapse = 1.0 / (1.0 + rm.exp(-p[3 + min(year, 9)]))
        before, v = v, rm.exp(-(zero_rate(times, rates, year + 1) + p[14]) * (year + 1))
        total += p[13] * alive * before
        if policy.cover == "annuity":
            total += 0.05 * policy.insured * alive * (1.0 - q) * v
        else:
            total -= policy.premium * alive * before
            total += policy.insured * q * alive * v
            if policy.cover == "endowment" and year >= 2:
                total += 0.8 * policy.premium * (year + 1) * lapse * (1.0 - q) * alive * v
        alive = alive * (1.0 - q) * (1.0 - lapse)
        if alive < 0.1:
            break
    if policy.cover == "endowment":
        total += policy.insured * alive * v
    return total


def reserving(p: list[Any], policies: list[Policy], curve: list[tuple[float, float]]) -> Any:
    """Mortality, lapse and expenses, fitted to what is booked for thirty policies."""
    times, rates = [t for t, _ in curve], [rate for _, rate in curve]
    loss = 0.0
    for policy in policies:
        loss += ((reserve(p, policy, times, rates) - policy.booked) / (1.0 + abs(policy.booked))) ** 2
    return loss / len(policies)


def _reserving_sample(draw: random.Random) -> Sample:
    p = [draw.gauss(-6.2, 0.1), draw.gauss(0.09, 0.005), draw.gauss(-0.3, 0.1)]
    p += [draw.gauss(-1.6 - 0.15 * k, 0.2) for k in range(10)] + [draw.uniform(0.01, 0.03), draw.gauss(0.0, 0.004)]
    policies = []
    for _ in range(30):
        cover, insured = draw.choice(COVERS), draw.uniform(1.0, 10.0)
        premium = insured * {"term": 0.006, "endowment": 0.05, "annuity": 0.0}[cover] * draw.uniform(0.8, 1.3)
        age, term, smoker = draw.randint(25, 60), draw.randint(5, 30), draw.random() < 0.3
        policies.append(Policy(age, term, cover, smoker, insured, premium, draw.gauss(0.5, 1.0)))
    level, slope = draw.uniform(0.01, 0.03), draw.uniform(0.0, 0.0008)
    times = [0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 25.0]
    return p, policies, [(t + draw.uniform(0.0, 0.2), level + slope * t + draw.gauss(0.0, 0.001)) for t in times]


def _reserving_flat(policies: list[Policy], curve: list[tuple[float, float]]) -> tuple[list[float], list[int]]:
    numbers = [x for pair in curve for x in pair] + [x for q in policies for x in (q.insured, q.premium, q.booked)]
    return numbers, [x for q in policies for x in (q.age, q.term, COVERS.index(q.cover), int(q.smoker))]


# --- the race -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A function of parameters and data, and the same in C."""

    function: Callable[..., Any]
    draw: Callable[[random.Random], Sample]
    flat: Callable[..., tuple[list[float], list[int]]]
    source: str

    @property
    def name(self) -> str:
        """Of the function."""
        return self.function.__name__

    def samples(self) -> list[Sample]:
        """Parameters and data of the calls."""
        return [self.draw(random.Random(seed)) for seed in range(SAMPLES)]


PROGRAMS = [
    Program(transport, _transport_sample, _transport_flat, in_c.TRANSPORT),
    Program(inventory, _inventory_sample, _inventory_flat, in_c.INVENTORY),
    Program(coalescent, _coalescent_sample, _coalescent_flat, in_c.COALESCENT),
    Program(reserving, _reserving_sample, _reserving_flat, in_c.RESERVING),
]


def written(program: Program, calls: list[Sample]) -> Callable[[], list[Any]] | None:
    """All calls in C by hand, one after the other; None without gcc. What it gives is of no use before it has run."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "f.c").write_text(program.source + in_c.CALLS)
        subprocess.run([gcc, *_FLAGS, f"{folder}/f.c", "-o", f"{folder}/f.so", "-lm"], check=True)
        run = ctypes.CDLL(f"{folder}/f.so").calls
    run.restype = None
    flat = [program.flat(*rest) for _, *rest in calls]
    columns = [
        [np.array(call[0]) for call in calls],
        [np.array(numbers) for numbers, _ in flat],
        [np.array(ints, np.int32) for _, ints in flat],
        [np.zeros(len(call[0])) for call in calls],
    ]
    values = np.zeros(len(calls))
    pointers = [(ctypes.c_void_p * len(calls))(*(array.ctypes.data for array in column)) for column in columns]

    def all_calls() -> list[Any]:
        run(len(calls), *pointers, ctypes.c_void_p(values.ctypes.data))
        return list(zip(values, columns[3], strict=True))

    return all_calls


def _settled(program: Program, calls: list[Sample], wanted: list[Any]) -> Any:
    """The compiled function, which gives what is wanted, and whose code is there if that is within some time."""
    compiled = rg.compile(program.function)
    begin = monotonic()
    while compiled.tier != "taped" and monotonic() - begin < _PATIENCE:
        for one, want in zip(calls, wanted, strict=True):
            check(program.name, compiled.value_and_grad(*one), want)
        sleep(0.05)
    for one, want in zip(calls, wanted, strict=True):
        check(program.name, compiled.value_and_grad(*one), want)
    return compiled


def compare(program: Program, turns: int) -> tuple[dict[str, float], str]:
    """The least microseconds of a call, over all samples, of each contender; and what has answered ours."""
    calls = program.samples()
    eager, by_hand = rg.value_and_grad(program.function), written(program, calls)
    wanted = [eager(*one) for one in calls]
    if by_hand is not None:
        for found, want in zip(by_hand(), wanted, strict=True):
            check(f"{program.name} in C", found, want)
    compiled = _settled(program, calls, wanted)
    contenders: dict[str, Callable[[], Any]] = {
        "ours": lambda: [compiled.value_and_grad(*one) for one in calls],
        "eager": lambda: [eager(*one) for one in calls],
    }
    if by_hand is not None:
        contenders["C"] = by_hand
    least = dict.fromkeys(contenders, math.inf)
    for _ in range(turns):
        for name, run in contenders.items():
            start = perf_counter_ns()
            run()
            least[name] = min(least[name], (perf_counter_ns() - start) / SAMPLES / 1e3)
    return least, compiled.tier


def main(turns: int) -> None:
    """Print the times of each program, and what they are to each other."""
    if find_spec("llvmlite") is None:
        print("There is no llvmlite, and so no taped code: pip install llvmlite")
    if shutil.which("gcc") is None:
        print("C by hand is left out: there is no gcc.")
    for program in PROGRAMS:
        least, tier = compare(program, turns)
        shown = "  ".join(f"{name} {time:8.2f} µs" for name, time in least.items())
        over_c = f"  ours / C {least['ours'] / least['C']:5.2f}" if "C" in least else ""
        other = "" if tier == "taped" else f"  (most calls were not answered by taped code; the last by {tier})"
        print(
            f"{program.name:10}  {shown}  eager / ours {least['eager'] / least['ours']:6.1f}{over_c}{other}", flush=True
        )
    print(f"The minimum of {turns} turns of {SAMPLES} calls of each.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
