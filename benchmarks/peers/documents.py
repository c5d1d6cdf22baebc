"""What every contender trains the scalar GPT on, and how: documents in one order, Adam with one set of numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrograd.errors import RetrogradError
from retrograd.training.data import Vocabulary, load_documents

from . import gpt

__all__ = ["BETAS", "BLOCK_SIZE", "EPSILON", "RATE", "SEED", "VOCABULARY", "Documents", "Packed"]

SEED = 42
RATE, BETAS, EPSILON = 0.01, (0.85, 0.99), 1e-8
BLOCK_SIZE = gpt.BLOCK_SIZE
VOCABULARY = len(gpt.ALPHABET) + 1


@dataclass(frozen=True, slots=True)
class Packed:
    """Documents one after the other, as C takes them: document ``i`` is ``tokens[offsets[i]:offsets[i + 1]]``."""

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many documents these are."""
        return len(self.offsets) - 1


class Documents:
    """The shuffled names of a file (None: the bundled ones) as tokens, each no longer than the model looks at.

    Raises RetrogradError unless the names use the letters a to z, for which the programs are written.
    """

    def __init__(self, path: Path | None = None) -> None:
        names = load_documents(path)
        vocabulary = Vocabulary("".join(names))
        if vocabulary.characters != gpt.ALPHABET:
            raise RetrogradError(
                f"the benchmarks train on names of the letters {gpt.ALPHABET}; these use {vocabulary.characters!r}: "
                "give a file of names in small letters, one a line."
            )
        random.Random(SEED).shuffle(names)
        self.tokens = [[vocabulary.bos, *vocabulary.encode(name), vocabulary.bos][: BLOCK_SIZE + 1] for name in names]

    def slice(self, first: int, count: int) -> list[list[int]]:
        """``count`` documents from number ``first``, beginning anew at the end."""
        return [self.tokens[i % len(self.tokens)] for i in range(first, first + count)]

    def packed(self, first: int, count: int) -> Packed:
        """The same documents for C."""
        chosen = self.slice(first, count)
        tokens = np.array([token for document in chosen for token in document], dtype=np.int32)
        offsets = np.cumsum([0, *(len(document) for document in chosen)]).astype(np.int64)
        return Packed(tokens, offsets)
