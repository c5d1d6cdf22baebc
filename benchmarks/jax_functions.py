"""What ``to_jax`` makes of scalar Python against the same written by hand in JAX: value and gradient, in turns.

python -m benchmarks.jax_functions [TURNS]

The scalar GPT, jitted and mapped over 64 documents of 16 tokens, at two widths. Both run in this process: one core,
double precision, documents on the device.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter
from types import SimpleNamespace
from typing import Any

from .compiled_programs import GPT
from .measure import Contender, interleaved, same, timed
from .peers.documents import BLOCK_SIZE, SEED, VOCABULARY
from .peers.jax_process import SETTINGS

__all__ = ["gpt_calls", "main"]

DOCUMENTS = 64

Call = Callable[[], Any]


def gpt_calls(width: int, documents: int = DOCUMENTS) -> tuple[Call, Call]:
    """Ours and the one by hand: the mean loss of documents of the whole block, and its gradient."""
    import jax

    from .peers import jax_programs

    draw = random.Random(SEED)
    tokens = [[draw.randrange(VOCABULARY) for _ in range(BLOCK_SIZE + 1)] for _ in range(documents)]
    ours: Any = GPT(SimpleNamespace(tokens=tokens), width, documents)  # type: ignore[arg-type]
    members = ours.batch(0)
    function = ours.loss.to_jax(*members[0], parameters=ours.parameters)
    mapped = jax.vmap(function, (None, 0))
    compiled = jax.jit(jax.value_and_grad(lambda parameters, inputs: mapped(parameters, inputs).mean()))
    parameters, (inputs,) = function.parameters, jax.device_put(function.batch(members))
    by_hand = jax_programs.GPT([p.data for p in ours.parameters], width, documents, tokens)
    return lambda: compiled(parameters, inputs), by_hand.gradient_on_device


def ratio(name: str, ours: Call, by_hand: Call, turns: int) -> None:
    """Print what both take and the ratio, after insisting on the same numbers."""
    import jax

    start = perf_counter()
    value, gradient = jax.block_until_ready(ours())
    seconds = perf_counter() - start
    other, theirs = by_hand()
    same(name, [float(value), *gradient.tolist()], [float(other), *theirs.tolist()])
    contenders = [
        Contender(each, timed(partial(_waited, call), 3), turns, collector_on=False)
        for each, call in (("ours", ours), ("by hand", by_hand))
    ]
    figures = {each: phases["call"] / 1e6 for each, phases in interleaved(contenders).items()}
    line = "  ".join(f"{each} {milliseconds:8.3f} ms" for each, milliseconds in figures.items())
    print(f"{name:10} {line}  ours / by hand {figures['ours'] / figures['by hand']:5.2f}  first call {seconds:5.1f} s")


def _waited(call: Call) -> None:
    import jax

    jax.block_until_ready(call())


def main(turns: int) -> None:
    """Print the ratios."""
    os.environ.update(SETTINGS)  # before JAX is imported
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for width in (16, 64):
        ratio(f"GPT E{width}", *gpt_calls(width), turns)
    print(f"Minimum of {turns} turns, collector off.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
