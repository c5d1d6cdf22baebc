"""What trees cost: ``value_and_grad`` of many parameters beside the pass itself, compiled and eager.

python -m benchmarks.tree_calls [PARAMETERS]

The pass is ``backward`` of the same program with its parameters in place, and, without the compiler, the function and
``backward`` on Values that exist already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter_ns
from typing import Any

import numpy as np

import retrograd as rg

TURNS, CALLS = 200, 20


def rosenbrock(x: Any) -> Any:
    """A sum over neighbours, so that the pass itself is short."""
    return sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x))


def least(calls: dict[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """The least microseconds of each call, all of them in turns."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(turns):
        for name, call in calls.items():
            start = perf_counter_ns()
            for _ in range(CALLS):
                call()
            found[name] = min(found[name], (perf_counter_ns() - start) / CALLS / 1e3)
    return found


def main(count: int) -> None:
    """Print the microseconds of each way to call, and what it costs beyond the pass."""
    numbers = [0.5 + 0.001 * i for i in range(count)]
    array, leaves = np.array(numbers), [rg.Value(number) for number in numbers]
    of_values, of_trees = rg.compile(lambda: rosenbrock(leaves)), rg.compile(rosenbrock)
    eager = rg.value_and_grad(rosenbrock)
    compiled = least(
        {
            "the pass": of_values.backward,
            "list": lambda: of_trees.value_and_grad(numbers),
            "array": lambda: of_trees.value_and_grad(array),
        },
        TURNS,
    )
    plain = least(
        {
            "the pass": lambda: rosenbrock(leaves).backward(),
            "list": lambda: eager(numbers),
            "array": lambda: eager(array),
        },
        TURNS // 10,
    )
    for title, figures in (("compiled", compiled), ("eager", plain)):
        print(f"{title}, {count:,} parameters, microseconds a call")
        for name, microseconds in figures.items():
            print(f"  {name:10} {microseconds:9.2f}   beyond the pass {microseconds - figures['the pass']:9.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
