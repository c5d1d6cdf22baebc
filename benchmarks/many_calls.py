"""What hundreds of calls take in all, each with other numbers: compiled, over eager.

To compile pays only if it is not dearer than the calls that it makes faster. Each program is called with fresh
parameters and data, and with the same data and parameters that take small steps, as an optimizer's do. Those of
``flips`` become one program each. The first four decide what exists and what is visited next: two become one program,
which waits for its machine code where it is long, and two run as they are in the end.

python -m benchmarks.many_calls [CALLS]

The milliseconds are what all calls take beyond eager ones. The last column is the median of the last third of the
calls, which tells what the wait was for.
"""

from __future__ import annotations

import heapq
import random
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter_ns, sleep
from typing import Any

import retrograd as rg
import retrograd.math as rm

from . import flips

__all__ = ["PROGRAMS", "fresh", "main", "race", "steps"]

#: The point of a call: parameters and data.
Point = tuple[list[float], list[float]]


def beads(p: list[Any], starts: list[float]) -> Any:
    """Beads on a ring: the next collision is searched, and changes two speeds, until the time is up."""
    places, speeds = [k + 0.3 * x for k, x in enumerate(starts)], [p[0] * x for x in starts]
    count, now = len(starts), 0.0
    for _ in range(12):
        soonest, pair = None, None
        for k in range(count):
            other = (k + 1) % count
            gap = places[other] - places[k] + (count if other == 0 else 0.0)
            closing = speeds[k] - speeds[other]
            if closing > 0.0 and (soonest is None or gap / closing < soonest):
                soonest, pair = gap / closing, (k, other)
        if soonest is None or pair is None or now + soonest > 4.0:
            break
        places = [x + v * soonest for x, v in zip(places, speeds, strict=True)]
        one, other = pair
        speeds[one], speeds[other] = p[1] * speeds[other], p[1] * speeds[one]
        now = now + soonest
    return sum(x * x for x in places) / count


def chart(p: list[Any], marks: list[float]) -> Any:
    """A chart of sums over adjacent spans, in dictionaries that keep what is large enough."""
    cells = {(k, k + 1): {"a": p[0] * abs(x), "b": p[1] * abs(1.0 - x)} for k, x in enumerate(marks)}
    for width in range(2, len(marks) + 1):
        for i in range(len(marks) - width + 1):
            cell: dict[str, Any] = {}
            for j in range(i + 1, i + width):
                for kind, one in cells[i, j].items():
                    for other, two in cells[j, i + width].items():
                        name = "a" if kind == other else "b"
                        cell[name] = cell.get(name, 0.0) + 0.5 * one * two
            most = max(cell.values()) if cell else 0.0
            cells[i, i + width] = {name: x for name, x in cell.items() if x > 0.3 * most}
    return rm.log(1e-9 + sum(cells[0, len(marks)].values()))


def roads(p: list[Any], lengths: list[float]) -> Any:
    """Shortest paths on a grid with Dijkstra's queue; how fast a road is depends on parameters."""
    side = 5
    costs = [abs(x) * p[k % 2] + 0.1 for k, x in enumerate(lengths)]
    best: dict[int, Any] = {0: 0.0}
    queue, done = [(0.0, 0)], set()
    while queue:
        so_far, here = heapq.heappop(queue)
        if here in done:
            continue
        done.add(here)
        for k, there in enumerate((here + 1, here + side, here - 1, here - side)):
            beside = abs(there % side - here % side) + abs(there // side - here // side) == 1
            if 0 <= there < side * side and beside:
                through = so_far + costs[(here * 4 + k) % len(costs)]
                if there not in best or through < best[there]:
                    best[there] = through
                    heapq.heappush(queue, (through, there))
    return sum(best.values()) / len(best)


def particles(p: list[Any], draws: list[float]) -> Any:
    """A particle filter that resamples when few particles carry the weight."""
    count = 20
    states, weights = [p[0] * x for x in draws[:count]], [1.0 / count] * count
    likelihood = 0.0
    for step in range(4):
        seen = draws[count + step]
        states = [p[1] * x + 0.3 * z for x, z in zip(states, draws[step * 7 :], strict=False)]
        weights = [w * rm.exp(-2.0 * (seen - x) * (seen - x)) + 1e-12 for w, x in zip(weights, states, strict=True)]
        total = sum(weights)
        likelihood += rm.log(total)
        weights = [w / total for w in weights]
        if 1.0 / sum(w * w for w in weights) < 0.5 * count:
            kept, upto, k = [], weights[0], 0
            for n in range(count):
                while (n + 0.5) / count > upto and k < count - 1:
                    k += 1
                    upto = upto + weights[k]
                kept.append(states[k])
            states, weights = kept, [1.0 / count] * count
    return -likelihood


#: A function, how many parameters it has, and how many numbers its data are.
PROGRAMS: list[tuple[Callable[..., Any], int, int]] = [
    (beads, 2, 8),
    (chart, 2, 9),
    (roads, 2, 100),
    (particles, 2, 60),
    *flips.PROGRAMS,
]


def fresh(parameters: int, numbers: int, calls: int) -> list[Point]:
    """Calls with parameters and data of their own."""
    return [flips.sample(seed, parameters, numbers) for seed in range(calls)]


def steps(parameters: int, numbers: int, calls: int) -> list[Point]:
    """Calls with the same data, whose parameters move by a thousandth."""
    start, data = flips.sample(0, parameters, numbers)
    drift = random.Random(1)
    ways = [drift.choice((-1.0, 1.0)) for _ in start]
    return [([x + 1e-3 * n * way for x, way in zip(start, ways, strict=True)], data) for n in range(calls)]


def race(f: Callable[..., Any], points: Sequence[Point]) -> tuple[float, float, float, Any]:
    """What all calls take over eager ones, and beyond them in milliseconds; what the late ones do; the statistics."""
    eager, compiled = rg.value_and_grad(f), rg.compile(f)
    spent: list[tuple[int, int]] = []  # compiled and eager, nanoseconds
    for number, point in enumerate(points):
        start = perf_counter_ns()
        found = compiled.value_and_grad(*point)
        between = perf_counter_ns()
        wanted = eager(*point)
        spent.append((between - start, perf_counter_ns() - between))
        flips.check(f.__name__, found, wanted)
        if number > len(points) // 3:
            sleep(0.001)  # as long as other work takes between two calls; machine code is made meanwhile
    ours, theirs = (median(pair[k] for pair in spent[-len(spent) // 3 :]) for k in (0, 1))
    all_ours, all_theirs = (sum(pair[k] for pair in spent) for k in (0, 1))
    return all_ours / all_theirs, (all_ours - all_theirs) / 1e6, ours / theirs, compiled.stats()


def main(calls: int) -> None:
    """Print what each program takes."""
    for f, parameters, numbers in PROGRAMS:
        for points in (fresh, steps):
            total, more, late, stats = race(f, points(parameters, numbers, calls))
            print(
                f"{f.__name__:12} {points.__name__:6} all calls / eager {total:6.2f} ({more:+6.0f} ms)  "
                f"traces {stats.traces:3}  as they are {stats.eager:3}  late calls / eager {late:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
