"""``python -m benchmarks.compile_cost PROGRAM SIZE``: what the first call of a compiled function costs.

Prints the nanoseconds of the first call less those of a later one: running the function once, every pass, and
preparing the kernels of the VM; and how many of them the system worked, which is handing out memory. In a process of
its own, so that no program compiled before is at hand.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from importlib import import_module
from time import perf_counter_ns
from typing import Any

from retrograd.engine import interior

from .compiled_programs import moons_loss
from .measure import system_time
from .peers import gpt
from .peers.documents import SEED, VOCABULARY

__all__ = ["PROGRAMS", "main", "nodes", "points_for"]

Program = Callable[[], Any]


def _gpt(letters: int) -> Program:
    """The scalar GPT on one name."""
    rg = import_module("retrograd")
    random.seed(SEED)
    model = rg.nn.GPT(VOCABULARY)
    tokens = gpt.document("sophia"[:letters])
    return lambda: model.loss(tokens)


def _moons(samples: int) -> Program:
    """An MLP 2-16-16-1 on ever more points: a program that grows and repeats itself."""
    rg = import_module("retrograd")
    random.seed(SEED)
    model = rg.nn.MLP(2, [16, 16, 1])
    places = [(random.gauss(0, 1), random.gauss(0, 1)) for _ in range(samples)]
    labels = [random.choice((-1, 1)) for _ in range(samples)]
    return lambda: moons_loss(model, places, labels)


PROGRAMS: dict[str, Callable[[int], Program]] = {"gpt": _gpt, "moons": _moons}


def nodes(program: str, size: int) -> int:
    """How many operations the program records; linear in the points of the moons, so large ones are not run."""
    if program == "moons" and size > 20:
        ten, twenty = nodes(program, 10), nodes(program, 20)
        return ten + (size - 10) * (twenty - ten) // 10
    return len(interior(PROGRAMS[program](size)()))


def points_for(count: int) -> int:
    """With how many points the moons record about ``count`` operations."""
    ten, twenty = nodes("moons", 10), nodes("moons", 20)
    return max(1, 10 + round((count - ten) * 10 / (twenty - ten)))


def main(program: str, size: int) -> tuple[float, float]:
    """Nanoseconds of the first call beyond those of a later one, and of the system in the first call."""
    rg = import_module("retrograd")
    rg.compile(PROGRAMS[program](2), tier="vm").backward()  # code and memory are warm from here on
    compiled = rg.compile(PROGRAMS[program](size), tier="vm")

    def call() -> int:
        start = perf_counter_ns()
        compiled.backward()
        return perf_counter_ns() - start

    system, first = system_time(), call()
    system = system_time() - system
    return first - min(call() for _ in range(3)), system


if __name__ == "__main__":
    print(*main(sys.argv[1], int(sys.argv[2])))
