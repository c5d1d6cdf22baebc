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
    """The tokens of a prompt, after a check of the arguments of :func:`sample`.

    Raises DataError for a prompt with a character outside the vocabulary or too long to go on from, and for a
    temperature that is negative or not a number.
    """
    if not 0 <= temperature < math.inf:
        raise DataError(f"the temperature must be a number from 0 up, and finite; it is {temperature}.")
    if len(prompt) >= block_size:
        raise DataError(f"a prompt can have at most {block_size - 1} characters here; this one has {len(prompt)}.")
    return vocabulary.encode(prompt)


def sample(model: GPT, vocabulary: Vocabulary, temperature: float = 0.5, prompt: str = "") -> str:
    """A document that the model makes up, beginning with ``prompt``, at most ``block_size`` characters long.

    ``temperature`` 1 draws from the model's own probabilities, less is more cautious, 0 always takes the likeliest.
    Draws from Python's ``random``. Raises DataError as :func:`sampling_tokens` does.
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
