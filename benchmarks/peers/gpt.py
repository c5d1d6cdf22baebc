"""A small GPT in scalar Python, written once and run on any number type: our ``Value``, the slotted one, plain floats.

The architecture is the scalar GPT's: token and position embeddings, RMSNorm, multi-head attention
with lists of keys and values, a ReLU block, no biases. The code is what people write with scalars:
list comprehensions and ``sum(wi * xi for ...)``, nothing of ours in it. A number type supplies only
what plain floats lack: ``exp``, ``log``, ``relu`` and the way to look at a value's data.
"""

# ruff: noqa: B905 -- zip as people write it; strict=True would cost every contender
from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter, methodcaller
from typing import Any

__all__ = ["FLOATS", "NumberType", "document", "loss", "parameters", "weights", "with_methods"]

N_EMBD, N_HEAD, N_LAYER, BLOCK_SIZE = 16, 4, 1, 16
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
BEGIN = len(ALPHABET)  #: the token that begins and ends a document

Vector = list[Any]
Matrix = list[Vector]


@dataclass(frozen=True, slots=True)
class NumberType:
    """What the model runs on: how to make a number, and the four things that floats spell otherwise."""

    make: Callable[[float], Any]
    exp: Callable[[Any], Any]
    log: Callable[[Any], Any]
    relu: Callable[[Any], Any]
    data: Callable[[Any], float]


def _relu(x: float) -> float:
    return x if x > 0.0 else 0.0


#: Plain Python floats: the forward pass alone, with no gradient at all.
FLOATS = NumberType(make=float, exp=math.exp, log=math.log, relu=_relu, data=float)


def with_methods(make: Callable[[float], Any]) -> NumberType:
    """The number type of a class that has ``exp``, ``log`` and ``relu`` as methods and ``data`` as attribute."""
    return NumberType(make, methodcaller("exp"), methodcaller("log"), methodcaller("relu"), attrgetter("data"))


def weights(number: NumberType, seed: int = 42) -> dict[str, Matrix]:
    """The model's 4,192 parameters, Gaussian with standard deviation 0.08; the same numbers for every type."""
    generator = random.Random(seed)

    def matrix(rows: int, columns: int) -> Matrix:
        return [[number.make(generator.gauss(0, 0.08)) for _ in range(columns)] for _ in range(rows)]

    vocabulary = len(ALPHABET) + 1
    model = {
        "wte": matrix(vocabulary, N_EMBD),
        "wpe": matrix(BLOCK_SIZE, N_EMBD),
        "lm_head": matrix(vocabulary, N_EMBD),
    }
    for i in range(N_LAYER):
        for name in ("wq", "wk", "wv", "wo"):
            model[f"layer{i}.attn_{name}"] = matrix(N_EMBD, N_EMBD)
        model[f"layer{i}.mlp_fc1"] = matrix(4 * N_EMBD, N_EMBD)
        model[f"layer{i}.mlp_fc2"] = matrix(N_EMBD, 4 * N_EMBD)
    return model


def parameters(model: dict[str, Matrix]) -> Vector:
    """All numbers of the model in one list, in the order in which they were made."""
    return [p for matrix in model.values() for row in matrix for p in row]


def document(name: str = "sophia") -> list[int]:
    """The tokens of one name between two marks: for six letters, seven predictions."""
    return [BEGIN] + [ALPHABET.index(letter) for letter in name] + [BEGIN]


def linear(x: Vector, w: Matrix) -> Vector:
    return [sum(wi * xi for wi, xi in zip(wo, x)) for wo in w]


def softmax(logits: Vector, number: NumberType) -> Vector:
    max_val = max(number.data(val) for val in logits)
    exps = [number.exp(val - max_val) for val in logits]
    total = sum(exps)
    return [e / total for e in exps]


def rmsnorm(x: Vector) -> Vector:
    ms = sum(xi * xi for xi in x) / len(x)
    scale = (ms + 1e-5) ** -0.5
    return [xi * scale for xi in x]


def attention(q: Vector, keys: Matrix, values: Matrix, number: NumberType) -> Vector:
    """Every head's mixture of the values so far, joined."""
    head_dim = N_EMBD // N_HEAD
    x_attn = []
    for h in range(N_HEAD):
        hs = h * head_dim
        q_h = q[hs : hs + head_dim]
        k_h = [ki[hs : hs + head_dim] for ki in keys]
        v_h = [vi[hs : hs + head_dim] for vi in values]
        attn_logits = [sum(q_h[j] * k_h[t][j] for j in range(head_dim)) / head_dim**0.5 for t in range(len(k_h))]
        attn_weights = softmax(attn_logits, number)
        head_out = [sum(attn_weights[t] * v_h[t][j] for t in range(len(v_h))) for j in range(head_dim)]
        x_attn.extend(head_out)
    return x_attn


def gpt(
    model: dict[str, Matrix], token_id: int, pos_id: int, keys: list[Matrix], values: list[Matrix], number: NumberType
) -> Vector:
    """The logits of the token after ``token_id`` at ``pos_id``; ``keys`` and ``values`` grow by one position."""
    x = [t + p for t, p in zip(model["wte"][token_id], model["wpe"][pos_id])]
    x = rmsnorm(x)
    for li in range(N_LAYER):
        x_residual = x
        x = rmsnorm(x)
        q = linear(x, model[f"layer{li}.attn_wq"])
        keys[li].append(linear(x, model[f"layer{li}.attn_wk"]))
        values[li].append(linear(x, model[f"layer{li}.attn_wv"]))
        x = linear(attention(q, keys[li], values[li], number), model[f"layer{li}.attn_wo"])
        x = [a + b for a, b in zip(x, x_residual)]
        x_residual = x
        x = rmsnorm(x)
        x = linear(x, model[f"layer{li}.mlp_fc1"])
        x = [number.relu(xi) for xi in x]
        x = linear(x, model[f"layer{li}.mlp_fc2"])
        x = [a + b for a, b in zip(x, x_residual)]
    return linear(x, model["lm_head"])


def loss(model: dict[str, Matrix], tokens: list[int], number: NumberType) -> Any:
    """The mean negative log-likelihood of a document, as a number of that type."""
    n = min(BLOCK_SIZE, len(tokens) - 1)
    keys: list[Matrix] = [[] for _ in range(N_LAYER)]
    values: list[Matrix] = [[] for _ in range(N_LAYER)]
    losses = []
    for pos_id in range(n):
        logits = gpt(model, tokens[pos_id], pos_id, keys, values, number)
        probs = softmax(logits, number)
        losses.append(-number.log(probs[tokens[pos_id + 1]]))
    return (1 / n) * sum(losses)
