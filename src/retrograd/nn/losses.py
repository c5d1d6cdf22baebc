"""Losses: how wrong a model's answer is, as one Value."""

from __future__ import annotations

from collections.abc import Sequence

from ..engine import Value
from ..index import take
from ..math import logsumexp, softmax

__all__ = ["cross_entropy", "hinge", "softmax"]


def cross_entropy(logits: Sequence[Value], target: int) -> Value:
    """Minus the logarithm of the probability that the softmax of ``logits`` gives to ``target``, in nats.

    Computed as ``logsumexp(logits) - logits[target]``, which neither overflows nor takes the log of zero.
    Raises IndexError when ``target`` is not the index of a logit.
    """
    try:
        chosen: Value = take(logits, target)
    except IndexError:
        raise IndexError(f"the target must be the index of one of the {len(logits)} logits; it is {target}.") from None
    return logsumexp(logits) - chosen


def hinge(score: Value, label: float) -> Value:
    """``max(0, 1 - label * score)``: zero once the score is on the label's side by a margin of 1.

    Raises ValueError when the label is neither -1 nor 1.
    """
    if abs(label) != 1:  # one guard that holds for both labels, where the function is compiled
        raise ValueError(f"a hinge loss takes the labels -1 and 1; this one is {label!r}.")
    return (1 - label * score).relu()
