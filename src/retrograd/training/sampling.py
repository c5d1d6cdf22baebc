"""Documents that a trained GPT makes up."""

from __future__ import annotations

import math
import random

from ..engine import no_grad
from ..errors import DataError
from ..nn import GPT
from .data import Vocabulary

__all__ = ["sample", "sampling_tokens"]


def sampling_tokens(vocabulary: Vocabulary, block_size: int, temperature: float, prompt: str) -> list[int]:
    """The tokens of a prompt, after a check that :func:`sample` can go on from it.

    Args:
        vocabulary: The model's.
        block_size: The number of positions that the model has.
        temperature: From 0 up, as for :func:`sample`.
        prompt: At most ``block_size - 1`` characters.

    Returns:
        One token for each character.

    Raises:
        DataError: The prompt is too long or has a character outside the vocabulary, or the temperature is negative or
            not finite.

    Example:
        >>> from retrograd.training import sampling_tokens
        >>> from retrograd.training.data import Vocabulary
        >>> sampling_tokens(Vocabulary("abc"), block_size=4, temperature=1.0, prompt="cab")
        [2, 0, 1]
    """
    if not 0 <= temperature < math.inf:
        raise DataError(f"the temperature must be a number from 0 up, and finite; it is {temperature}.")
    if len(prompt) >= block_size:
        raise DataError(f"a prompt can have at most {block_size - 1} characters here; this one has {len(prompt)}.")
    return vocabulary.encode(prompt)


def sample(model: GPT, vocabulary: Vocabulary, temperature: float = 0.5, prompt: str = "") -> str:
    """A document drawn from the model, character by character, with Python's ``random``.

    Args:
        model: A GPT.
        vocabulary: The one that it was trained with.
        temperature: What the logits are divided by: 1 draws from the model's own probabilities, less is more cautious,
            0 always takes the likeliest character.
        prompt: How the document begins.

    Returns:
        The document with its prompt, at most ``block_size`` characters long.

    Raises:
        DataError: The prompt is too long or has a character outside the vocabulary, or the temperature is negative or
            not finite.

    Example:
        >>> import retrograd as rg
        >>> from retrograd.training import sample
        >>> from retrograd.training.data import Vocabulary
        >>> model = rg.nn.GPT(vocab_size=4, block_size=5, n_embd=4, n_head=1)
        >>> document = sample(model, Vocabulary("abc"), prompt="ab")
        >>> document[:2], len(document) <= 5
        ('ab', True)
    """
    tokens = sampling_tokens(vocabulary, model.block_size, temperature, prompt)
    cache, token = model.new_cache(), vocabulary.bos
    with no_grad():
        for position in range(model.block_size):
            logits = model(token, position, cache)
            if position < len(tokens):
                token = tokens[position]
                continue
            token = _draw([logit.data for logit in logits], temperature)
            if token == vocabulary.bos:
                break
            tokens.append(token)
    return vocabulary.decode(tokens)


def _draw(logits: list[float], temperature: float) -> int:
    largest = max(logits)
    if not temperature:
        return logits.index(largest)
    weights = [math.exp((logit - largest) / temperature) for logit in logits]
    return random.choices(range(len(logits)), weights)[0]
