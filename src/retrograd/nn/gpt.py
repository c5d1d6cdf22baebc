"""A small decoder-only GPT, one number at a time: the architecture of Karpathy's scalar GPT.

RMSNorm without gain, no biases, ReLU, learned token and position embeddings, multi-head attention over a
growing list of keys and values. With the same seed it has that script's weights and its losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine import Value
from .layers import Embedding, Linear, RMSNorm
from .losses import cross_entropy, softmax
from .module import Module

__all__ = ["GPT", "Block"]

Vector = list[Value]
#: For each layer the keys and the values of the positions so far.
Cache = list[tuple[list[Vector], list[Vector]]]


class Block(Module):
    """One transformer layer: attention, then a two-layer perceptron, each added to what came in."""

    def __init__(self, n_embd: int, n_head: int) -> None:
        self.n_head = n_head
        self.norm = RMSNorm()
        self.attn_wq = Linear(n_embd, n_embd, bias=False)
        self.attn_wk = Linear(n_embd, n_embd, bias=False)
        self.attn_wv = Linear(n_embd, n_embd, bias=False)
        self.attn_wo = Linear(n_embd, n_embd, bias=False)
        self.mlp_fc1 = Linear(n_embd, 4 * n_embd, bias=False)
        self.mlp_fc2 = Linear(4 * n_embd, n_embd, bias=False)

    def __call__(self, x: Vector, keys: list[Vector], values: list[Vector]) -> Vector:
        """The layer's output at one position; its key and value are appended for the positions to come."""
        x = add(self.attention(self.norm(x), keys, values), x)
        hidden = [h.relu() for h in self.mlp_fc1(self.norm(x))]
        return add(self.mlp_fc2(hidden), x)

    def attention(self, x: Vector, keys: list[Vector], values: list[Vector]) -> Vector:
        """Each head mixes the values seen so far, weighted by how well their keys match this position's query."""
        query = self.attn_wq(x)
        keys.append(self.attn_wk(x))
        values.append(self.attn_wv(x))
        size = len(query) // self.n_head
        mixed: Vector = []
        for start in range(0, len(query), size):
            head = range(start, start + size)
            scores: list[Any] = [sum(query[j] * key[j] for j in head) / size**0.5 for key in keys]
            weights = softmax(scores)
            columns: list[Any] = [sum(w * v[j] for w, v in zip(weights, values, strict=True)) for j in head]
            mixed.extend(columns)
        return self.attn_wo(mixed)


class GPT(Module):
    """A language model over ``vocab_size`` tokens that sees at most ``block_size`` of them.

    Raises ValueError when a size is below 1 or the heads do not divide ``n_embd``.
    """

    def __init__(
        self, vocab_size: int, block_size: int = 16, n_layer: int = 1, n_embd: int = 16, n_head: int = 4
    ) -> None:
        sizes = {"vocab_size": vocab_size, "block_size": block_size, "n_layer": n_layer, "n_embd": n_embd}
        for name, size in {**sizes, "n_head": n_head}.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1; it is {size}.")
        if n_embd % n_head:
            raise ValueError(f"n_head must divide n_embd, and {n_head} does not divide {n_embd}.")
        self.block_size = block_size
        self.norm = RMSNorm()
        self.wte = Embedding(vocab_size, n_embd)
        self.wpe = Embedding(block_size, n_embd)
        self.lm_head = Linear(n_embd, vocab_size, bias=False)
        self.layers = [Block(n_embd, n_head) for _ in range(n_layer)]

    def new_cache(self) -> Cache:
        """An empty list of keys and one of values for each layer, with which a sequence begins."""
        return [([], []) for _ in self.layers]

    def __call__(self, token: int, position: int, cache: Cache) -> Vector:
        """The logits of the token that follows ``token``; call it for positions 0, 1, 2, … with one cache."""
        x = self.norm(add(self.wte(token), self.wpe(position)))
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            x = layer(x, keys, values)
        return self.lm_head(x)

    def loss(self, tokens: Sequence[int]) -> Value:
        """Mean cross-entropy, in nats a token, of predicting each token from those before it.

        Only the first ``block_size`` predictions count. Raises ValueError for fewer than two tokens.
        """
        count = min(self.block_size, len(tokens) - 1)
        if count < 1:
            raise ValueError(f"a loss needs at least two tokens, one to predict from; this sequence has {len(tokens)}.")
        cache = self.new_cache()
        losses: list[Any] = [cross_entropy(self(tokens[i], i, cache), tokens[i + 1]) for i in range(count)]
        total: Value = sum(losses)
        return (1 / count) * total


def add(x: Vector, y: Vector) -> Vector:
    """The sum of two vectors of the same length."""
    return [xi + yi for xi, yi in zip(x, y, strict=True)]
