"""One training step of micrograd's demo: an MLP 2-16-16-1 on 100 moon points, hinge loss and L2, SGD.

Written once, over a ``Value`` class and an ``MLP`` class: micrograd's own (``pip install micrograd``)
or ours. Nothing here knows which.
"""

# ruff: noqa: B905 -- zip as people write it; strict=True would cost every contender
from __future__ import annotations

import math
import random
from typing import Any

__all__ = ["Moons", "points"]

SAMPLES = 100


def points(seed: int = 1337) -> tuple[list[list[float]], list[int]]:
    """Two interleaved half circles with noise 0.1: coordinates, and labels of -1 and +1."""
    generator = random.Random(seed)
    half = SAMPLES // 2
    coordinates, labels = [], []
    for i in range(half):
        angle = math.pi * i / (half - 1)
        for label, x, y in ((-1, math.cos(angle), math.sin(angle)), (1, 1 - math.cos(angle), 0.5 - math.sin(angle))):
            coordinates.append([x + generator.gauss(0, 0.1), y + generator.gauss(0, 0.1)])
            labels.append(label)
    return coordinates, labels


class Moons:
    """The model, its data and one step; the same seed gives the same numbers for either library."""

    def __init__(self, value: Any, mlp: Any, seed: int = 1337) -> None:
        random.seed(seed)
        self.value = value
        self.model = mlp(2, [16, 16, 1])
        self.parameters = self.model.parameters()
        self.x, self.y = points(seed)

    def loss(self) -> Any:
        """The SVM "max-margin" loss over all points plus 1e-4 times the sum of squares, as in the demo."""
        inputs = [list(map(self.value, row)) for row in self.x]
        scores = list(map(self.model, inputs))
        losses = [(1 + -yi * scorei).relu() for yi, scorei in zip(self.y, scores)]
        data_loss = sum(losses) * (1.0 / len(losses))
        reg_loss = 1e-4 * sum(p * p for p in self.model.parameters())
        return data_loss + reg_loss

    def step(self, learning_rate: float = 0.05) -> float:
        """Forward, zero_grad, backward, SGD; the loss before the step."""
        total_loss = self.loss()
        self.model.zero_grad()
        total_loss.backward()
        for p in self.model.parameters():
            p.data -= learning_rate * p.grad
        result: float = total_loss.data
        return result
