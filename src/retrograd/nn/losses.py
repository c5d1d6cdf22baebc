"""Losses: how wrong a model's answer is, as one Value."""

from __future__ import annotations

from collections.abc import Sequence

from .. import errors, habits
from ..engine import Value
from ..index import take
from ..math import logsumexp, softmax

__all__ = ["cross_entropy", "hinge", "softmax"]


@habits.refusing(habits.keywords.CROSS_ENTROPY)
def cross_entropy(logits: Sequence[Value], target: int) -> Value:
    """Cross-entropy: minus the logarithm of the probability that the softmax of ``logits`` gives to ``target``.

    Computed as ``logsumexp(logits) - logits[target]``, which neither overflows nor takes the log of zero.

    Args:
        logits: A score for each class; at least one.
        target: The index of the right class; an :class:`retrograd.Index` where a compiled function gets it.

    Returns:
        The loss in nats, from 0 up: one Value.

    Raises:
        IndexError: ``target`` is not the index of a logit.
        TypeError: ``target`` is no index, such as a list of them.
        ValueError: ``logits`` is empty, or its rows differ in length while a function is compiled.

    Example:
        >>> import retrograd as rg
        >>> logits = [rg.Value(0.0), rg.Value(0.0)]
        >>> loss = rg.nn.cross_entropy(logits, target=0)
        >>> round(loss.data, 6)
        0.693147
        >>> [round(slope, 6) for slope in rg.gradient(loss, logits)]  # softmax minus one-hot
        [-0.5, 0.5]
    """
    try:
        chosen: Value = take(logits, target)
    except IndexError:
        raise IndexError(f"the target must be the index of one of the {len(logits)} logits; it is {target}.") from None
    except TypeError:
        if isinstance(target, str) or not hasattr(target, "__len__"):
            raise
        raise TypeError(
            f"cross_entropy takes one sample, its logits and the index of its class, and got {errors.describe(target)} "
            "for the index: write rg.mean([nn.cross_entropy(z, t) for z, t in zip(logits, targets)]); for "
            "probabilities of the classes, rg.logsumexp(logits) - rg.dot(probabilities, logits)."
        ) from None
    return logsumexp(logits) - chosen


def hinge(score: Value, label: float) -> Value:
    """The hinge loss, ``max(0, 1 - label * score)``: 0 once the score is on the label's side by a margin of 1.

    Args:
        score: What the model says; its sign is the predicted label.
        label: The right label, -1 or 1.

    Returns:
        The loss, from 0 up: one Value. Its derivative at the kink is 0.

    Raises:
        ValueError: ``label`` is neither -1 nor 1.

    Example:
        >>> import retrograd as rg
        >>> rg.nn.hinge(rg.Value(0.25), label=-1).data
        1.25
    """
    if abs(label) != 1:  # one guard that holds for both labels, where the function is compiled
        raise ValueError(f"a hinge loss takes the labels -1 and 1; this one is {label!r}.")
    return (1 - label * score).relu()
