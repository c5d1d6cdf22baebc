"""``python -m benchmarks.gc_forward_backward WHOSE STEPS MODULE…``: training with the garbage collector on.

What Python's collector costs depends on everything else a process holds, so it is measured in a fresh
one: the modules named are imported first, as a user's script would, and nothing else is there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from time import perf_counter_ns
from typing import Any

from .measure import deep_recursion
from .peers import gpt, slotted

__all__ = ["NUMBERS", "main"]

#: Whose Value trains.
NUMBERS: dict[str, Callable[[], Any]] = {
    "ours": lambda: import_module("retrograd.engine").Value,
    "slotted": lambda: slotted.Value,
}


def _mean_step(model: dict[str, gpt.Matrix], number: gpt.NumberType, steps: int) -> float:
    """Nanoseconds a document, of some one after the other, each replacing the one before as a training loop does."""
    tokens = gpt.document()
    start = perf_counter_ns()
    for _ in range(steps):
        loss = gpt.loss(model, tokens, number)
        loss.backward()
    del loss
    return (perf_counter_ns() - start) / steps


def main(whose: str, steps: int, modules: Sequence[str]) -> None:
    """Print the mean nanoseconds a document."""
    for module in modules:
        import_module(module)
    number = gpt.with_methods(NUMBERS[whose]())
    model = gpt.weights(number)
    with deep_recursion():
        _mean_step(model, number, 1)  # code and memory are warm from here on
        print(_mean_step(model, number, steps))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
