"""Our side of the compiled benchmarks: programs as a user writes them, through the public names alone."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from time import perf_counter_ns
from typing import Any

from .peers import gmm, gpt, irregular_graph
from .peers.documents import BETAS, EPSILON, RATE, SEED, VOCABULARY, Documents
from .peers.micrograd_moons import points

__all__ = ["GPT", "Graph", "Mixture", "Moons", "PlainGPT", "moons_loss"]


def _retrograd() -> Any:
    return import_module("retrograd")


def _adam(params: Any) -> Any:
    return _retrograd().optim.Adam(params, lr=RATE, betas=BETAS, eps=EPSILON)


class GPT:
    """``nn.GPT`` compiled once for each length of document; ``members`` documents make one step.

    Without documents it only holds the model. The optimizer is told nothing of the compiler.
    """

    def __init__(self, documents: Documents, n_embd: int, members: int, tier: str = "auto") -> None:
        rg = _retrograd()
        random.seed(SEED)
        self.members = members
        self.model = rg.nn.GPT(VOCABULARY, n_embd=n_embd)
        self.parameters = self.model.parameters()
        self.adam = _adam(self.parameters)
        self.loss = rg.compile(self._loss, tier=tier)
        self._documents = [[rg.Index(token) for token in tokens] for tokens in documents.tokens]

    def _loss(self, tokens: Sequence[Any]) -> Any:
        return self.model.loss(tokens)

    def batch(self, step: int) -> list[tuple[list[Any]]]:
        """The arguments of the calls that make up a step."""
        count = len(self._documents)
        return [(self._documents[i % count],) for i in range(step * self.members, (step + 1) * self.members)]

    def gradient(self, step: int) -> tuple[float, list[float]]:
        """The mean loss of a batch and its gradient, compiled; the parameters stay."""
        self.adam.zero_grad()
        loss = self._backward(self.batch(step))
        gradient = [p.grad for p in self.parameters]
        self.adam.zero_grad()
        return loss, gradient

    def eager_gradient(self, documents: Sequence[list[int]]) -> tuple[float, list[float]]:
        """The same without the compiler: what every contender is held against."""
        self.adam.zero_grad()
        total = 0.0
        for tokens in documents:
            loss = self.model.loss(tokens) * (1 / len(documents))
            loss.backward()
            total += loss.data
        gradient = [p.grad for p in self.parameters]
        self.adam.zero_grad()
        return total, gradient

    def train(self, first: int, steps: int) -> tuple[float, list[float]]:
        """Some whole steps from number ``first``: nanoseconds in all, and the losses."""
        batches = [self.batch(step) for step in range(first, first + steps)]
        backward, adam, losses = self._backward, self.adam, []
        start = perf_counter_ns()
        for batch in batches:
            losses.append(backward(batch))
            adam.step()
            adam.zero_grad()
        return perf_counter_ns() - start, losses

    @property
    def _backward(self) -> Callable[[list[tuple[list[Any]]]], float]:
        if self.members == 1:
            backward = self.loss.backward
            return lambda batch: backward(batch[0][0])
        whole: Callable[[list[tuple[list[Any]]]], float] = self.loss.backward_batch
        return whole


class PlainGPT:
    """The scalar GPT as people write it, unmodified and not compiled: the function runs at each call."""

    def __init__(self) -> None:
        rg = _retrograd()
        self.number = gpt.with_methods(rg.Value)
        self.model = gpt.weights(self.number)
        self.parameters = gpt.parameters(self.model)
        self.adam = _adam(self.parameters)

    def loss(self, tokens: list[int]) -> Any:
        """The loss of a document, as a Value."""
        return gpt.loss(self.model, tokens, self.number)

    def step(self, tokens: list[int]) -> None:
        """A whole step on one document."""
        self.loss(tokens).backward()
        self.adam.step()
        self.adam.zero_grad()


def moons_loss(model: Any, places: Sequence[Sequence[float]], labels: Sequence[int]) -> Any:
    """The hinge loss over all points plus 1e-4 times the sum of squares, as in micrograd's demo."""
    hinge = _retrograd().nn.hinge
    losses = [hinge(model(place), label) for place, label in zip(places, labels, strict=True)]
    return sum(losses) * (1.0 / len(losses)) + 1e-4 * sum(p * p for p in model.parameters())


class Moons:
    """micrograd's demo on ``nn.MLP``, with ``optim.SGD``."""

    def __init__(self, rate: float) -> None:
        rg = _retrograd()
        random.seed(1337)
        self.model = rg.nn.MLP(2, [16, 16, 1])
        self.parameters = self.model.parameters()
        self.places, self.labels = points()
        self.sgd = rg.optim.SGD(self.parameters, lr=rate)
        self.loss = rg.compile(self.eager_loss)

    def eager_loss(self) -> Any:
        """The loss as a Value; its data are constants of the program."""
        return moons_loss(self.model, self.places, self.labels)

    def train(self, steps: int) -> tuple[float, list[float]]:
        """Some whole steps: nanoseconds in all, and the losses."""
        losses = []
        start = perf_counter_ns()
        for _ in range(steps):
            losses.append(self.loss.backward())
            self.sgd.step()
            self.sgd.zero_grad()
        return perf_counter_ns() - start, losses


class _Function(ABC):
    """A compiled function without arguments, of parameters that stay where they are."""

    def __init__(self, parameters: list[Any]) -> None:
        self.parameters = parameters
        self._zero_grad = _retrograd().optim.SGD(parameters).zero_grad
        self.compiled = _retrograd().compile(self.eager)

    @abstractmethod
    def eager(self) -> Any:
        """The value, uncompiled."""

    def gradient(self, compiled: bool = True) -> tuple[float, list[float]]:
        """The value and its gradient."""
        self._zero_grad()
        if compiled:
            value = self.compiled.backward()
        else:
            result = self.eager()
            result.backward()
            value = result.data
        gradient = [p.grad for p in self.parameters]
        self._zero_grad()
        return value, gradient

    def time(self, times: int) -> float:
        """Nanoseconds of some values and gradients one after the other."""
        start = perf_counter_ns()
        for _ in range(times):
            self.compiled.backward()
            self._zero_grad()
        return perf_counter_ns() - start


class Mixture(_Function):
    """ADBench's Gaussian mixture as scalar Python; the points are constants of the program."""

    def __init__(self, problem: gmm.Mixture) -> None:
        rg = _retrograd()
        alphas = [rg.Value(number) for number in problem.alphas]
        means, icf = ([[rg.Value(number) for number in row] for row in rows] for rows in (problem.means, problem.icf))
        self._objective = partial(
            gmm.objective, alphas, means, icf, problem.points, problem.gamma, problem.m, rg.math.exp, rg.math.log
        )
        super().__init__([*alphas, *(v for row in means for v in row), *(v for row in icf for v in row)])

    def eager(self) -> Any:
        """The objective as a Value."""
        return self._objective()


class Graph(_Function):
    """The random graph without a pattern."""

    def __init__(self, plan: irregular_graph.Plan) -> None:
        self._plan = plan
        super().__init__([_retrograd().Value(number) for number in plan.leaves])

    def eager(self) -> Any:
        """Its result as a Value."""
        return irregular_graph.run(self._plan, self.parameters)
