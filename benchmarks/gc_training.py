"""``python -m benchmarks.gc_training WHOSE MODULE…``: the scalar GPT trained with the collector on.

Reads documents, a list of lists of tokens, as JSON from its input; prints the mean nanoseconds of a whole step:
forward, backward, Adam and zeroing the gradients. ``slotted``: plain Python; ``plain``: on this engine. In a
process of its own, which has imported the modules and holds nothing else that burdens the collector.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from time import perf_counter_ns
from typing import Any

from .compiled_programs import PlainGPT
from .measure import deep_recursion
from .peers import gpt, slotted
from .peers.documents import BETAS, EPSILON, RATE

__all__ = ["Adam", "main"]


class Adam:
    """Adam as the scalar GPT's script has it, parameter by parameter; zeroes the gradients too."""

    def __init__(self, params: list[Any]) -> None:
        self.params = params
        self.m = [0.0] * len(params)
        self.v = [0.0] * len(params)
        self.steps = 0

    def step(self) -> None:
        """Move every parameter once."""
        self.steps += 1
        beta1, beta2 = BETAS
        for i, p in enumerate(self.params):
            self.m[i] = beta1 * self.m[i] + (1 - beta1) * p.grad
            self.v[i] = beta2 * self.v[i] + (1 - beta2) * p.grad**2
            m_hat = self.m[i] / (1 - beta1**self.steps)
            v_hat = self.v[i] / (1 - beta2**self.steps)
            p.data -= RATE * m_hat / (v_hat**0.5 + EPSILON)
            p.grad = 0


class _Slotted:
    """Plain Python."""

    def __init__(self) -> None:
        self.number = gpt.with_methods(slotted.Value)
        self.model = gpt.weights(self.number)
        self.adam = Adam(gpt.parameters(self.model))

    def step(self, tokens: list[int]) -> None:
        gpt.loss(self.model, tokens, self.number).backward()
        self.adam.step()


def main(whose: str, modules: Sequence[str], documents: list[list[int]]) -> float:
    """Train one step a document; the mean nanoseconds of those after the first."""
    for module in modules:
        import_module(module)
    contenders: dict[str, type[_Slotted] | type[PlainGPT]] = {"slotted": _Slotted, "plain": PlainGPT}
    step = contenders[whose]().step
    with deep_recursion():
        step(documents[0])
        start = perf_counter_ns()
        for tokens in documents[1:]:
            step(tokens)
    return (perf_counter_ns() - start) / (len(documents) - 1)


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2:], json.load(sys.stdin)))
