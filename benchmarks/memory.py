"""``python -m benchmarks.memory HOLDER NODES``: bytes a node of one graph held, measured in this process alone.

``ours-compiled`` holds a compiled recurrence of so many nodes that runs in machine code, in place of a graph.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .measure import resident_memory
from .peers import gpt, slotted, xad_chain
from .peers.chain import ADDEND, FACTOR, chain

__all__ = ["HOLDERS", "main"]

#: Builds a graph of about so many nodes: the graph, held by what is returned, and its number of nodes.
Builder = Callable[[int], tuple[object, int]]


def _chain_over(make: Callable[[float], Any]) -> Builder:
    return lambda nodes: (chain(nodes, make(ADDEND), make(FACTOR)), nodes)


def _ours_chain() -> Builder:
    return _chain_over(import_module("retrograd.engine").Value)


def _ours_gpt() -> Builder:
    """As many documents of the scalar GPT as make that many nodes; its parameters do not count."""
    engine = import_module("retrograd.engine")
    number = gpt.with_methods(engine.Value)
    model = gpt.weights(number)
    first = gpt.loss(model, gpt.document(), number)
    each = len(engine.interior(first))

    def build(nodes: int) -> tuple[object, int]:
        documents = max(1, nodes // each)
        return [first, *(gpt.loss(model, gpt.document(), number) for _ in range(documents))], documents * each

    return build


def _ours_compiled() -> Builder:
    """A competition of two species over many steps, compiled, called until it runs in machine code."""
    rg = import_module("retrograd")
    each = 11  # nodes of a step

    def build(nodes: int) -> tuple[object, int]:
        def competition(rate: Any, decay: Any) -> Any:
            x, y = rate * 0.5, decay * 0.5
            for _ in range(nodes // each):
                met = 0.01 * x * y
                x, y = x + 0.001 * rate * (1.0 - x) - met, y + 0.5 * met - 0.002 * decay * y
            return x + y

        compiled = rg.compile(competition)
        while not (programs := compiled.stats().programs) or programs[0].tier != "llvm":
            compiled.value_and_grad(0.3, 0.2)
        compiled.value_and_grad(0.3, 0.2)
        return compiled, compiled.stats().programs[0].nodes

    return build


def _slotted_chain() -> Builder:
    return _chain_over(slotted.Value)


def _micrograd_chain() -> Builder:
    return _chain_over(import_module("micrograd.engine").Value)


def _xad_chain() -> Builder:
    adj_1st = import_module("xad.adj_1st")
    return lambda nodes: (xad_chain.held(adj_1st, nodes), nodes)


def _torch_chain() -> Builder:
    torch = import_module("torch")
    return _chain_over(lambda number: torch.tensor(number, dtype=torch.float64, requires_grad=True))


#: What can be measured. Each prepares what is not to be counted and returns what builds the graph.
HOLDERS: dict[str, Callable[[], Builder]] = {
    "ours-chain": _ours_chain,
    "ours-gpt": _ours_gpt,
    "ours-compiled": _ours_compiled,
    "slotted-chain": _slotted_chain,
    "micrograd-chain": _micrograd_chain,
    "xad-chain": _xad_chain,
    "torch-chain": _torch_chain,
}


def main(holder: str, nodes: int) -> None:
    """Print the growth of resident memory a node."""
    build = HOLDERS[holder]()
    small = build(1000)  # held, so that nothing it used is used again
    gc.collect()
    gc.disable()
    before = resident_memory()
    held, count = build(nodes)
    print((resident_memory() - before) / count, flush=True)
    os._exit(0 if held and small else 1)  # at once: tearing down a peer's deep graph may overflow the stack


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
