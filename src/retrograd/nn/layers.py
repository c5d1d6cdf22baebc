"""Layers: micrograd's Neuron, Layer and MLP, and the Linear, Embedding and RMSNorm of a GPT.

Initial weights are drawn from Python's ``random``, so that ``random.seed`` fixes them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from .. import habits
from ..engine import Value, weighted_sum
from ..errors import describe, wrong_length
from ..index import take
from .module import Module

__all__ = ["MLP", "Embedding", "Layer", "Linear", "Neuron", "RMSNorm"]

Number = Value | float


class Neuron(Module):
    """One neuron, micrograd's: a weighted sum of its inputs plus a bias, then ReLU.

    ``w`` holds the weights, drawn uniformly from [-1, 1] with Python's ``random``, and ``b`` the bias, 0 at first.

    Args:
        nin: The number of inputs.
        nonlin: Whether ReLU is applied to the sum.

    Example:
        >>> import retrograd as rg
        >>> neuron = rg.nn.Neuron(2, nonlin=False)
        >>> neuron.load_state_dict({"w": [2.0, 3.0], "b": 1.0})
        >>> neuron([10.0, 100.0]).data
        321.0
    """

    def __init__(self, nin: int, nonlin: bool = True) -> None:
        checked_sizes(nin=nin)
        self.w: list[Value] = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b: Value = Value(0)
        self.nonlin = nonlin

    def __call__(self, x: Sequence[Number]) -> Value:
        """The neuron's output.

        Args:
            x: A sequence of ``nin`` Values or numbers.

        Returns:
            One Value.

        Raises:
            ValueError: ``x`` has another length.
        """
        activation: Value = weighted_sum(self.w, x, self.b)
        return activation.relu() if self.nonlin else activation

    def __repr__(self) -> str:
        return f"{'ReLU' if self.nonlin else 'Linear'}Neuron({len(self.w)})"


class Layer(Module):
    """A layer of micrograd's neurons that see the same inputs.

    Args:
        nin: The number of inputs.
        nout: The number of neurons, and of outputs.
        **kwargs: What each :class:`Neuron` is given, such as ``nonlin=False``.

    Example:
        >>> import retrograd as rg
        >>> layer = rg.nn.Layer(2, 3)
        >>> len(layer([1.0, 2.0])), len(layer.parameters())
        (3, 9)
    """

    def __init__(self, nin: int, nout: int, **kwargs: Any) -> None:
        checked_sizes(nin=nin, nout=nout)
        self.neurons: list[Neuron] = [Neuron(nin, **kwargs) for _ in range(nout)]

    def __call__(self, x: Sequence[Number]) -> Any:
        """The outputs of the neurons.

        Args:
            x: A sequence of ``nin`` Values or numbers.

        Returns:
            A list of ``nout`` Values, or the Value itself when ``nout`` is 1, as micrograd has it.

        Raises:
            ValueError: ``x`` has another length.
        """
        outputs = [neuron(x) for neuron in self.neurons]
        return outputs[0] if len(outputs) == 1 else outputs

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(str(neuron) for neuron in self.neurons)}]"


class MLP(Module):
    """A multi-layer perceptron, micrograd's: fully connected layers, with ReLU on all but the last.

    Args:
        nin: The number of inputs.
        nouts: The number of neurons of each layer, in a list.

    Raises:
        TypeError: ``nouts`` is a number.

    Example:
        >>> import retrograd as rg
        >>> model = rg.nn.MLP(2, [16, 16, 1])
        >>> len(model.parameters())
        337
        >>> model([1.0, -2.0]).backward()
    """

    def __init__(self, nin: int, nouts: Sequence[int]) -> None:
        if isinstance(nouts, (int, float)):
            raise TypeError(f"the sizes of the layers stand in a list, also of one: MLP({nin}, [{nouts}]).")
        sizes = [nin, *nouts]
        self.layers: list[Layer] = [
            Layer(sizes[i], sizes[i + 1], nonlin=i != len(nouts) - 1) for i in range(len(nouts))
        ]

    def __call__(self, x: Sequence[Number]) -> Any:
        """The outputs of the last layer.

        Args:
            x: A sequence of ``nin`` Values or numbers.

        Returns:
            A list of Values, or one Value when the last layer has one neuron.

        Raises:
            ValueError: ``x`` has another length.
        """
        for layer in self.layers:
            x = layer(x)
        return x

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(str(layer) for layer in self.layers)}]"


class Linear(Module):
    """A matrix times a vector, plus a bias: y[i] = sum over j of weight[i][j] * x[j], plus bias[i].

    ``weight`` holds ``nout`` rows of ``nin`` parameters, drawn with Python's ``random`` from the normal distribution
    of mean 0; ``bias`` holds ``nout`` parameters that start at 0, or is None.

    Args:
        nin: The number of inputs.
        nout: The number of outputs.
        bias: Whether a bias is added.
        std: The standard deviation of the initial weights.

    Raises:
        ValueError: ``nin`` or ``nout`` is below 1.

    Example:
        >>> import retrograd as rg
        >>> linear = rg.nn.Linear(2, 1)
        >>> linear.load_state_dict({"weight": [[2.0, 3.0]], "bias": [1.0]})
        >>> [y.data for y in linear([10.0, 100.0])]
        [321.0]
    """

    @habits.refusing(habits.keywords.LINEAR)
    def __init__(self, nin: int, nout: int, bias: bool = True, std: float = 0.08) -> None:
        checked_sizes(nin=nin, nout=nout)
        self.weight: list[tuple[Value, ...]] = gaussian_matrix(nout, nin, std)
        self.bias: list[Value] | None = [Value(0.0) for _ in range(nout)] if bias else None

    def __call__(self, x: Sequence[Number]) -> list[Value]:
        """The matrix times ``x``, plus the bias.

        Args:
            x: A sequence of ``nin`` Values or numbers.

        Returns:
            A list of ``nout`` Values.

        Raises:
            ValueError: ``x`` has another length.
        """
        y: list[Value] = [weighted_sum(row, x, 0.0) for row in self.weight]
        return y if self.bias is None else [yi + bi for yi, bi in zip(y, self.bias, strict=True)]

    def __repr__(self) -> str:
        return f"Linear({len(self.weight[0])}, {len(self.weight)}, bias={self.bias is not None})"


class Embedding(Module):
    """A table of vectors, one for each token or position.

    ``weight`` holds ``count`` rows of ``size`` parameters, drawn with Python's ``random`` from the normal distribution
    of mean 0.

    Args:
        count: The number of rows.
        size: The length of a row.
        std: The standard deviation of the initial weights.

    Raises:
        ValueError: ``count`` or ``size`` is below 1.

    Example:
        >>> import retrograd as rg
        >>> embedding = rg.nn.Embedding(count=27, size=4)
        >>> embedding(3) == list(embedding.weight[3])
        True
    """

    @habits.refusing(habits.keywords.EMBEDDING)
    def __init__(self, count: int, size: int, std: float = 0.08) -> None:
        checked_sizes(count=count, size=size)
        self.weight: list[tuple[Value, ...]] = gaussian_matrix(count, size, std)

    def __call__(self, index: int) -> list[Value]:
        """One row of the table.

        Args:
            index: Which one, from 0 to ``count - 1``; an :class:`retrograd.Index` where a compiled function gets it.

        Returns:
            The row: a list of ``size`` Values, the parameters themselves.

        Raises:
            IndexError: There is no such row; negative numbers are refused.
        """
        try:
            return list(take(self.weight, index))
        except IndexError:
            raise IndexError(f"{self!r} has rows 0 to {len(self.weight) - 1}; it was asked for row {index}.") from None

    def __repr__(self) -> str:
        return f"Embedding({len(self.weight)}, {len(self.weight[0])})"


class RMSNorm(Module):
    """Root mean square layer normalization (Zhang & Sennrich 2019): y[i] = gain[i] * x[i] / sqrt(mean(x * x) + eps).

    Args:
        size: The length of the vectors, for a learned gain that starts at 1; None for no gain, and vectors of any
            length.
        eps: What keeps the denominator from 0, in units of x squared.

    Example:
        >>> import retrograd as rg
        >>> [round(y.data, 3) for y in rg.nn.RMSNorm(eps=0.0)([rg.Value(3.0), rg.Value(4.0)])]
        [0.849, 1.131]
    """

    def __init__(self, size: int | None = None, eps: float = 1e-5) -> None:
        if size is not None:
            checked_sizes(size=size)
        self.gain: list[Value] | None = None if size is None else [Value(1.0) for _ in range(size)]
        self.eps = eps

    def __call__(self, x: Sequence[Value]) -> list[Value]:
        """The normalized vector.

        Args:
            x: A sequence of Values, of length ``size`` when there is a gain.

        Returns:
            A list of as many Values.

        Raises:
            ValueError: ``x`` is empty or does not fit the gain.
        """
        if not x or (self.gain is not None and len(x) != len(self.gain)):
            raise wrong_length(repr(self), f"{len(self.gain)} numbers" if self.gain else "at least one number", len(x))
        mean_square: Any = sum(xi * xi for xi in x) / len(x)
        scale = (mean_square + self.eps) ** -0.5
        scaled = [xi * scale for xi in x]
        return scaled if self.gain is None else [yi * gi for yi, gi in zip(scaled, self.gain, strict=True)]

    def __repr__(self) -> str:
        return f"RMSNorm({'' if self.gain is None else len(self.gain)})"


def checked_sizes(**sizes: object) -> None:
    """Raise TypeError for a size that is no whole number: ``checked_sizes(nin=nin)``."""
    for name, size in sizes.items():
        if not hasattr(size, "__index__") or isinstance(size, Value):
            raise TypeError(f"{name} must be a whole number and is {describe(size)}: pass an int.")


def gaussian_matrix(rows: int, columns: int, std: float) -> list[tuple[Value, ...]]:
    """A matrix of fresh parameters, row by row from ``random.gauss(0, std)``. Raises ValueError for an empty one.

    Each row is a tuple, so that nobody can replace a parameter behind the optimizer's back, and a compiled function
    need not look for that.
    """
    if rows < 1 or columns < 1:
        raise ValueError(f"a parameter matrix has at least one row and one column, not {rows} by {columns}.")
    return [tuple([Value(random.gauss(0, std)) for _ in range(columns)]) for _ in range(rows)]
