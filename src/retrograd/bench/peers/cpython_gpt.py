"""``python -m retrograd.bench.peers.cpython_gpt``: the scalar GPT trained by plain Python, the collector on.

Reads documents, a list of lists of tokens, as JSON from its input; prints the mean nanoseconds of a whole step:
forward, backward, Adam and zeroing the gradients. In a process of its own, where nothing else burdens the collector.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter_ns
from typing import Any

from ..measure import deep_recursion
from . import gpt, slotted
from .documents import BETAS, EPSILON, RATE

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


def main(documents: list[list[int]]) -> float:
    """Train one step a document; the mean nanoseconds of those after the first."""
    number = gpt.with_methods(slotted.Value)
    model = gpt.weights(number)
    adam = Adam(gpt.parameters(model))
    with deep_recursion():
        for i, tokens in enumerate(documents):
            if i == 1:
                start = perf_counter_ns()
            gpt.loss(model, tokens, number).backward()
            adam.step()
    return (perf_counter_ns() - start) / (len(documents) - 1)


if __name__ == "__main__":
    print(main(json.load(sys.stdin)))
