"""The same programs vectorised by hand for JAX: what a user of JAX would write, double precision, one jitted step.

Documents stay on the device, state is donated, and the step's number is part of the state, so that a step costs one
call and no transfer. Parameters are one vector in the order in which the Python model lists them: a call with one
array is quicker than one with nine.
"""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from typing import Any

from .documents import BETAS, BLOCK_SIZE, EPSILON, RATE, VOCABULARY

__all__ = ["GPT", "Mixture"]

HEADS = 4


class GPT:
    """The scalar GPT with Adam on padded documents; ``members`` of them make one step."""

    def __init__(self, parameters: list[float], n_embd: int, members: int, documents: list[list[int]]) -> None:
        jax = self._jax = import_module("jax")
        jnp = self._jnp = jax.numpy
        self.n_embd, self.members = n_embd, members
        padded = [document + [0] * (BLOCK_SIZE + 1 - len(document)) for document in documents]
        self._tokens = jnp.asarray(padded, dtype=jnp.int32)
        self._lengths = jnp.asarray([len(document) - 1 for document in documents], dtype=jnp.int32)
        values = jnp.asarray(parameters)
        self._state = (jnp.asarray(0), values, jnp.zeros_like(values), jnp.zeros_like(values))
        self._step = jax.jit(self._one_step, donate_argnums=(0,))
        self._gradient = jax.jit(jax.value_and_grad(self._loss))

    def gradient(self) -> tuple[float, list[float]]:
        """The mean loss of the next batch and its gradient; the parameters stay."""
        step, values, _, _ = self._state
        loss, gradient = self._gradient(values, *self._batch(step, self._tokens, self._lengths))
        return float(loss), gradient.tolist()

    def gradient_on_device(self) -> tuple[Any, Any]:
        """The same of the first documents, as JAX's arrays."""
        return self._gradient(self._state[1], self._tokens[: self.members], self._lengths[: self.members])  # type: ignore[no-any-return]

    def train(self, steps: int) -> tuple[float, list[float]]:
        """Some steps of Adam: nanoseconds in all, and the losses."""
        losses = []
        start = time.perf_counter_ns()
        for _ in range(steps):
            self._state, loss = self._step(self._state, self._tokens, self._lengths)
            losses.append(loss)
        self._jax.block_until_ready(self._state)
        spent = time.perf_counter_ns() - start
        return spent, [float(loss) for loss in losses]

    def parameters(self) -> list[float]:
        """The parameters now."""
        values: list[float] = self._state[1].tolist()
        return values

    def _batch(self, step: Any, tokens: Any, lengths: Any) -> tuple[Any, Any]:
        """The documents of a step, which begin anew at the end."""
        first = step * self.members % (len(tokens) - self.members + 1)
        part = partial(self._jax.lax.dynamic_slice_in_dim, start_index=first, slice_size=self.members)
        return part(tokens), part(lengths)

    def _one_step(self, state: Any, tokens: Any, lengths: Any) -> tuple[Any, Any]:
        step, values, first, second = state
        loss, gradient = self._jax.value_and_grad(self._loss)(values, *self._batch(step, tokens, lengths))
        step = step + 1
        beta1, beta2 = BETAS
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient * gradient
        root = self._jnp.sqrt(second / (1 - beta2**step)) + EPSILON
        return (step, values - RATE * first / (1 - beta1**step) / root, first, second), loss

    def _matrices(self, values: Any) -> dict[str, Any]:
        e = self.n_embd
        shapes = {
            "wte": (VOCABULARY, e), "wpe": (BLOCK_SIZE, e), "lm_head": (VOCABULARY, e), "qkv": (3 * e, e),
            "wo": (e, e), "fc1": (4 * e, e), "fc2": (e, 4 * e),
        }  # fmt: skip
        matrices, start = {}, 0
        for name, (rows, width) in shapes.items():
            matrices[name] = values[start : start + rows * width].reshape(rows, width)
            start += rows * width
        return matrices

    def _loss(self, values: Any, tokens: Any, lengths: Any) -> Any:
        losses = partial(self._document_loss, self._matrices(values))
        if self.members == 1:
            return losses(tokens[0], lengths[0])
        return self._jnp.mean(self._jax.vmap(losses)(tokens, lengths))

    def _document_loss(self, w: dict[str, Any], tokens: Any, length: Any) -> Any:
        jnp, nn = self._jnp, self._jax.nn
        size = self.n_embd // HEADS

        def norm(x: Any) -> Any:
            return x * (jnp.mean(x * x, -1, keepdims=True) + 1e-5) ** -0.5

        x = norm(w["wte"][tokens[:-1]] + w["wpe"])
        query, key, value = jnp.moveaxis((norm(x) @ w["qkv"].T).reshape(BLOCK_SIZE, 3, HEADS, size), 1, 0)
        scores = jnp.einsum("thj,shj->hts", query, key) / size**0.5
        weights = nn.softmax(jnp.where(jnp.tril(jnp.ones((BLOCK_SIZE, BLOCK_SIZE), bool)), scores, -jnp.inf), -1)
        mixed = jnp.einsum("hts,shj->thj", weights, value).reshape(BLOCK_SIZE, self.n_embd)
        x = mixed @ w["wo"].T + x
        x = nn.relu(norm(x) @ w["fc1"].T) @ w["fc2"].T + x
        logits = x @ w["lm_head"].T
        picked = jnp.take_along_axis(logits, tokens[1:, None], 1)[:, 0]
        losses = nn.logsumexp(logits, -1) - picked
        return jnp.sum(jnp.where(jnp.arange(BLOCK_SIZE) < length, losses, 0)) / length


class Mixture:
    """ADBench's Gaussian mixture and its gradient: all clusters' Q times all points is one matrix product."""

    def __init__(self, alphas: Any, means: Any, icf: Any, points: Any, gamma: float, m: int, constant: float) -> None:
        jax = self._jax = import_module("jax")
        jnp = self._jnp = jax.numpy
        self._given = [jnp.asarray(numbers) for numbers in (alphas, means, icf)]
        self._homogeneous = jnp.concatenate([jnp.asarray(points), jnp.ones((len(points), 1))], 1)
        self._gamma, self._m, self._constant = gamma, m, constant
        self._gradient = jax.jit(jax.value_and_grad(self._objective, argnums=(0, 1, 2)))

    def gradient(self) -> tuple[float, list[float]]:
        """The objective and its gradient by alphas, means and icf in one row."""
        value, parts = self._gradient(*self._given)
        return float(value), [float(number) for part in parts for number in part.ravel().tolist()]

    def time(self, times: int) -> float:
        """Nanoseconds of some evaluations one after the other."""
        start = time.perf_counter_ns()
        for _ in range(times):
            result = self._gradient(*self._given)
        self._jax.block_until_ready(result)
        return time.perf_counter_ns() - start

    def _objective(self, alphas: Any, means: Any, icf: Any) -> Any:
        jnp, logsumexp = self._jnp, self._jax.nn.logsumexp
        clusters, dimensions = means.shape
        count = len(self._homogeneous)
        columns, rows = jnp.triu_indices(dimensions, 1)  # the triangle below the diagonal, column by column
        diagonal = jnp.exp(icf[:, :dimensions])
        q = jnp.zeros((clusters, dimensions, dimensions)).at[:, rows, columns].set(icf[:, dimensions:])
        q = q + diagonal[:, :, None] * jnp.eye(dimensions)
        shift = -jnp.einsum("kij,kj->ki", q, means)
        affine = jnp.concatenate([q, shift[:, :, None]], 2).reshape(clusters * dimensions, dimensions + 1)
        scaled = (affine @ self._homogeneous.T).reshape(clusters, dimensions, count)
        logs = jnp.sum(icf[:, :dimensions], 1)
        terms = (alphas + logs)[:, None] - 0.5 * jnp.sum(scaled * scaled, 1)
        likelihood = jnp.sum(logsumexp(terms, 0)) - count * logsumexp(alphas)
        norm = jnp.sum(diagonal**2) + jnp.sum(icf[:, dimensions:] ** 2)
        return likelihood + 0.5 * self._gamma**2 * norm - self._m * jnp.sum(logs) + self._constant
