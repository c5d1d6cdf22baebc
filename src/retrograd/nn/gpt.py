"""A small decoder-only GPT, one number at a time: the architecture of Karpathy's scalar GPT.

RMSNorm without gain, no biases, ReLU, learned token and position embeddings, multi-head attention over a
growing list of keys and values. With the same seed it has that script's weights and its losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine import Value
from ..index import Index
from .layers import Embedding, Linear, RMSNorm, checked_sizes
from .losses import cross_entropy, softmax
from .module import Module

__all__ = ["GPT", "Block"]

Vector = list[Value]
#: For each layer the keys and the values of the positions so far.
Cache = list[tuple[list[Vector], list[Vector]]]


class Block(Module):
    """One transformer layer (Vaswani et al. 2017): attention, then a two-layer perceptron, each added to its input.

    Each of the two works on the RMS-normalized vector. The perceptron has ``4 * n_embd`` hidden ReLUs.

    Args:
        n_embd: The length of the vectors.
        n_head: The number of attention heads, each of which sees ``n_embd // n_head`` numbers.

    Example:
        >>> import retrograd as rg
        >>> block = rg.nn.Block(n_embd=4, n_head=2)
        >>> keys, values = [], []
        >>> len(block([rg.Value(1.0)] * 4, keys, values)), len(keys)
        (4, 1)
    """

    def __init__(self, n_embd: int, n_head: int) -> None:
        self.n_head = n_head
        self.norm: RMSNorm = RMSNorm()
        self.attn_wq: Linear = Linear(n_embd, n_embd, bias=False)
        self.attn_wk: Linear = Linear(n_embd, n_embd, bias=False)
        self.attn_wv: Linear = Linear(n_embd, n_embd, bias=False)
        self.attn_wo: Linear = Linear(n_embd, n_embd, bias=False)
        self.mlp_fc1: Linear = Linear(n_embd, 4 * n_embd, bias=False)
        self.mlp_fc2: Linear = Linear(4 * n_embd, n_embd, bias=False)

    def __call__(self, x: Vector, keys: list[Vector], values: list[Vector]) -> Vector:
        """The layer's output at one position.

        Args:
            x: The vector at this position: ``n_embd`` Values.
            keys: The keys of the positions before; this position's is appended.
            values: The values of the positions before; this position's is appended.

        Returns:
            A list of ``n_embd`` Values.

        Raises:
            ValueError: ``x`` has another length.
        """
        x = add(self.attention(self.norm(x), keys, values), x)
        hidden = [h.relu() for h in self.mlp_fc1(self.norm(x))]
        return add(self.mlp_fc2(hidden), x)

    def attention(self, x: Vector, keys: list[Vector], values: list[Vector]) -> Vector:
        """Causal multi-head attention: a head averages the values so far, weighted by softmax(query · key / sqrt(d)).

        Args:
            x: The normalized vector at this position: ``n_embd`` Values.
            keys: The keys of the positions before; this position's is appended.
            values: The values of the positions before; this position's is appended.

        Returns:
            A list of ``n_embd`` Values.
        """
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
    """A decoder-only transformer language model, of the architecture of Karpathy's scalar GPT.

    Args:
        vocab_size: The number of tokens; they are 0 to ``vocab_size - 1``.
        block_size: The number of positions; they are 0 to ``block_size - 1``.
        n_layer: The number of transformer layers.
        n_embd: The length of the vectors that pass through the layers.
        n_head: The number of attention heads in each layer; it divides ``n_embd``.

    Raises:
        ValueError: A size is below 1, or ``n_head`` does not divide ``n_embd``.

    Example:
        >>> import retrograd as rg
        >>> model = rg.nn.GPT(vocab_size=3, block_size=4, n_embd=8, n_head=2)
        >>> logits = model(token=0, position=0, cache=model.new_cache())
        >>> len(logits), len(model.parameters())
        (3, 848)
        >>> model.loss([0, 1, 2, 0]).backward()
    """

    def __init__(
        self, vocab_size: int, block_size: int = 16, n_layer: int = 1, n_embd: int = 16, n_head: int = 4
    ) -> None:
        sizes = {"vocab_size": vocab_size, "block_size": block_size, "n_layer": n_layer, "n_embd": n_embd}
        checked_sizes(**sizes, n_head=n_head)
        for name, size in {**sizes, "n_head": n_head}.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1; it is {size}.")
        if n_embd % n_head:
            raise ValueError(f"n_head must divide n_embd, and {n_head} does not divide {n_embd}.")
        self.block_size = block_size
        self.norm: RMSNorm = RMSNorm()
        self.wte: Embedding = Embedding(vocab_size, n_embd)
        self.wpe: Embedding = Embedding(block_size, n_embd)
        self.lm_head: Linear = Linear(n_embd, vocab_size, bias=False)
        self.layers: list[Block] = [Block(n_embd, n_head) for _ in range(n_layer)]

    def new_cache(self) -> Cache:
        """The cache with which a sequence begins.

        Returns:
            For each layer an empty list of keys and one of values.
        """
        return [([], []) for _ in self.layers]

    def __call__(self, token: int, position: int, cache: Cache) -> Vector:
        """The logits of the token that follows ``token``; call it for positions 0, 1, 2, … with one cache.

        Args:
            token: From 0 to ``vocab_size - 1``; an :class:`retrograd.Index` where a compiled function gets it.
            position: From 0 to ``block_size - 1``.
            cache: The keys and values of the positions before, to which this position's are appended.

        Returns:
            A list of ``vocab_size`` Values, the unnormalized log-probabilities.

        Raises:
            IndexError: There is no such token or position.
            ValueError: ``cache`` is another model's.
        """
        x = self.norm(add(self.wte(token), self.wpe(position)))
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            x = layer(x, keys, values)
        return self.lm_head(x)

    def loss(self, tokens: Sequence[int]) -> Value:
        """Mean cross-entropy, in nats a token, of predicting each token from those before it.

        Args:
            tokens: At least two, from 0 to ``vocab_size - 1``. Those after the first ``block_size + 1`` do not count.

        Returns:
            The loss: one Value.

        Raises:
            ValueError: There are fewer than two tokens.
            IndexError: A token is outside the vocabulary.
        """
        count = min(self.block_size, len(tokens) - 1)
        if count < 1:
            raise ValueError(f"a loss needs at least two tokens, one to predict from; this sequence has {len(tokens)}.")
        cache = self.new_cache()
        try:
            losses: list[Any] = [cross_entropy(self(tokens[i], i, cache), tokens[i + 1]) for i in range(count)]
        except (IndexError, TypeError):
            self._refuse_tokens(tokens)
            raise
        total: Value = sum(losses)
        return (1 / count) * total

    def _refuse_tokens(self, tokens: Sequence[Any]) -> None:
        """Raise IndexError or TypeError for the first token that is none; one in a trace says so itself."""
        size = len(self.wte.weight)
        for place, token in enumerate(tokens):
            if type(token) is str:
                raise TypeError(f"tokens are numbers from 0 to {size - 1}, and the one at place {place} is {token!r}.")
            if type(token) in (int, Index) and not 0 <= token < size:
                raise IndexError(
                    f"token {token} at place {place} is outside the vocabulary of {size}: tokens are 0 to {size - 1}."
                )


def add(x: Vector, y: Vector) -> Vector:
    """The sum of two vectors of the same length."""
    return [xi + yi for xi, yi in zip(x, y, strict=True)]
