"""Layers: micrograd's Neuron, Layer and MLP, and the Linear, Embedding and RMSNorm of a GPT.

Initial weights are drawn from Python's ``random``, so that ``random.seed`` fixes them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from ..engine import Value, weighted_sum
from ..errors import wrong_length
from ..index import take
from .module import Module

__all__ = ["MLP", "Embedding", "Layer", "Linear", "Neuron", "RMSNorm"]

Number = Value | float


class Neuron(Module):
    """A weighted sum of ``nin`` inputs plus a bias, then ReLU unless ``nonlin`` is false.

    micrograd's, with its initial weights: uniform in [-1, 1], bias 0.
    """

    def __init__(self, nin: int, nonlin: bool = True) -> None:
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(0)
        self.nonlin = nonlin

    def __call__(self, x: Sequence[Number]) -> Value:
        """The neuron's output. Raises ValueError when ``x`` has not one number for each weight."""
        activation: Value = weighted_sum(self.w, x, self.b)
        return activation.relu() if self.nonlin else activation

    def __repr__(self) -> str:
        return f"{'ReLU' if self.nonlin else 'Linear'}Neuron({len(self.w)})"


class Layer(Module):
    """``nout`` neurons that see the same ``nin`` inputs; keyword arguments go to each Neuron."""

    def __init__(self, nin: int, nout: int, **kwargs: Any) -> None:
        self.neurons = [Neuron(nin, **kwargs) for _ in range(nout)]

    def __call__(self, x: Sequence[Number]) -> Any:
        """A list of the outputs, or the one output itself, as micrograd has it."""
        outputs = [neuron(x) for neuron in self.neurons]
        return outputs[0] if len(outputs) == 1 else outputs

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(str(neuron) for neuron in self.neurons)}]"


class MLP(Module):
    """A multi-layer perceptron: ``nin`` inputs, then layers of the sizes ``nouts``, ReLU on all but the last."""

    def __init__(self, nin: int, nouts: Sequence[int]) -> None:
        sizes = [nin, *nouts]
        self.layers = [Layer(sizes[i], sizes[i + 1], nonlin=i != len(nouts) - 1) for i in range(len(nouts))]

    def __call__(self, x: Sequence[Number]) -> Any:
        """The last layer's outputs: a list, or one Value when the last size is 1."""
        for layer in self.layers:
            x = layer(x)
        return x

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(str(layer) for layer in self.layers)}]"


class Linear(Module):
    """A matrix times a vector: ``weight`` has ``nout`` rows of ``nin``, ``bias`` (when there is one) ``nout`` numbers.

    Weights are drawn from the normal distribution with standard deviation ``std``; biases start at 0.
    """

    def __init__(self, nin: int, nout: int, bias: bool = True, std: float = 0.08) -> None:
        self.weight = gaussian_matrix(nout, nin, std)
        self.bias = [Value(0.0) for _ in range(nout)] if bias else None

    def __call__(self, x: Sequence[Number]) -> list[Value]:
        """``nout`` numbers from ``nin``. Raises ValueError when ``x`` has another length."""
        y: list[Value] = [weighted_sum(row, x, 0.0) for row in self.weight]
        return y if self.bias is None else [yi + bi for yi, bi in zip(y, self.bias, strict=True)]

    def __repr__(self) -> str:
        return f"Linear({len(self.weight[0])}, {len(self.weight)}, bias={self.bias is not None})"


class Embedding(Module):
    """A table: ``count`` rows of ``size`` numbers, one row for each token or position."""

    def __init__(self, count: int, size: int, std: float = 0.08) -> None:
        self.weight = gaussian_matrix(count, size, std)

    def __call__(self, index: int) -> list[Value]:
        """Row ``index``. Raises IndexError when there is no such row (negative ones included)."""
        try:
            row: list[Value] = take(self.weight, index)
        except IndexError:
            raise IndexError(f"{self!r} has rows 0 to {len(self.weight) - 1}; it was asked for row {index}.") from None
        return row

    def __repr__(self) -> str:
        return f"Embedding({len(self.weight)}, {len(self.weight[0])})"


class RMSNorm(Module):
    """Scales a vector to a root mean square of 1; with ``size`` given, then times a learned gain for each number."""

    def __init__(self, size: int | None = None, eps: float = 1e-5) -> None:
        self.gain = None if size is None else [Value(1.0) for _ in range(size)]
        self.eps = eps

    def __call__(self, x: Sequence[Value]) -> list[Value]:
        """The scaled vector. Raises ValueError when ``x`` is empty or does not fit the gain."""
        if not x or (self.gain is not None and len(x) != len(self.gain)):
            raise wrong_length(repr(self), f"{len(self.gain)} numbers" if self.gain else "at least one number", len(x))
        mean_square: Any = sum(xi * xi for xi in x) / len(x)
        scale = (mean_square + self.eps) ** -0.5
        scaled = [xi * scale for xi in x]
        return scaled if self.gain is None else [yi * gi for yi, gi in zip(scaled, self.gain, strict=True)]

    def __repr__(self) -> str:
        return f"RMSNorm({'' if self.gain is None else len(self.gain)})"


def gaussian_matrix(rows: int, columns: int, std: float) -> list[list[Value]]:
    """A matrix of fresh parameters, row by row from ``random.gauss(0, std)``. Raises ValueError for an empty one."""
    if rows < 1 or columns < 1:
        raise ValueError(f"a parameter matrix has at least one row and one column, not {rows} by {columns}.")
    return [[Value(random.gauss(0, std)) for _ in range(columns)] for _ in range(rows)]
