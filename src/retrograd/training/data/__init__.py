"""Data to train on: text files of one document a line, characters as tokens, and the two moons."""

from __future__ import annotations

import math
import os
import random
import stat
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import BinaryIO

from ...errors import DataError

__all__ = ["LARGEST_FILE", "Vocabulary", "load_documents", "make_moons", "save_documents"]

#: Bytes; a larger file is refused before it is read (32 million characters keep a scalar model busy for days).
LARGEST_FILE = 64 * 1024 * 1024


def load_documents(path: str | os.PathLike[str] | None = None) -> list[str]:
    """The documents of a UTF-8 text file, one a line, stripped, empty lines left out.

    Without a path: the given names that ship with the package (see ``README.md`` beside this file).
    Raises DataError when the file is missing, unreadable, not a regular file, too large, binary, or without a document.
    """
    if path is None:
        return _documents(resources.files(__package__).joinpath("names.txt").read_text(encoding="utf-8"), "names.txt")
    return _documents(_decoded(_read(path), path), path)


def save_documents(stream: BinaryIO, name: str, path: str | os.PathLike[str]) -> None:
    """Copy a stream, such as standard input, to a file, if it holds documents as ``load_documents`` wants them.

    ``name`` stands for the stream in messages. Raises DataError as ``load_documents`` does, and OSError.
    """
    content = stream.read(LARGEST_FILE + 1)
    _refuse_large(len(content), name)
    _documents(_decoded(content, name), name)
    Path(path).write_bytes(content)


def _documents(text: str, path: str | os.PathLike[str]) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    documents = [stripped for line in lines if (stripped := line.strip())]
    if not documents:
        raise DataError(f"{path} holds no document: it needs at least one line of text, and each line is a document.")
    return documents


def _read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of at most LARGEST_FILE bytes; a pipe is refused, not waited for."""
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise DataError(
                    f"{path} is not a regular file: copy its text into one, one document a line; the command takes "
                    "--data - for standard input."
                )
            content = file.read(LARGEST_FILE + 1) if status.st_size <= LARGEST_FILE else b""
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): give a text file, one document a line.") from None
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{str(path)!r} is not a file name ({error}).") from None
    _refuse_large(max(status.st_size, len(content)), path)
    return content


def _refuse_large(size: int, path: str | os.PathLike[str]) -> None:
    if size > LARGEST_FILE:
        raise DataError(
            f"{path} is too large: {size:,} bytes, and at most {LARGEST_FILE:,} are read; give a part of it, "
            f"such as its first lines (head -n 100000)."
        )


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _decoded(content: bytes, path: str | os.PathLike[str]) -> str:
    if b"\0" in content:
        position = content.index(b"\0")
        raise DataError(f"{path} is a binary file (byte {position} is zero): give a text file, one document a line.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path} is not UTF-8 text (byte 0x{content[error.start]:02x} in line {line}): "
            "convert it, for instance with iconv -f latin1 -t utf-8."
        ) from None


class Vocabulary:
    """Characters as tokens: character ``i`` of the sorted ``characters`` is token ``i``, and ``bos`` the one after.

    The token ``bos`` (beginning of sequence) also ends a document.
    """

    def __init__(self, characters: Iterable[str]) -> None:
        self.characters: str = "".join(sorted(set(characters)))
        self.bos: int = len(self.characters)
        self._tokens = {character: token for token, character in enumerate(self.characters)}

    def __len__(self) -> int:
        return len(self.characters) + 1

    def encode(self, text: str) -> list[int]:
        """The tokens of a text. Raises DataError naming the first character that the vocabulary lacks."""
        for character in text:
            if character not in self._tokens:
                raise DataError(
                    f"{character!r} is not in the vocabulary; the model was trained on these characters: "
                    f"{_shortened(self.characters)}"
                )
        return [self._tokens[character] for character in text]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens other than ``bos``."""
        return "".join(self.characters[token] for token in tokens)


def _shortened(characters: str) -> str:
    return characters if len(characters) <= 80 else f"{characters[:80]}… ({len(characters)} in all)"


def make_moons(n: int = 100, noise: float = 0.1, seed: int = 1337) -> tuple[list[tuple[float, float]], list[int]]:
    """Two interleaved half circles of ``n`` points in all, and their labels: -1 the upper, 1 the lower.

    ``noise`` is the standard deviation of what is added to each coordinate. The points are shuffled.
    Raises DataError for fewer than two points or a noise that is negative or not finite.
    """
    if n < 2:
        raise DataError(f"the moons need at least two points, one each, not {n}.")
    if not 0 <= noise < math.inf:
        raise DataError(f"the noise must be a number from 0 up, and finite; it is {noise}.")
    draw = random.Random(seed)
    upper = n // 2
    angles = [math.pi * i / max(upper - 1, 1) for i in range(upper)]
    points = [(math.cos(t), math.sin(t), -1) for t in angles]
    angles = [math.pi * i / max(n - upper - 1, 1) for i in range(n - upper)]
    points += [(1 - math.cos(t), 0.5 - math.sin(t), 1) for t in angles]
    draw.shuffle(points)
    moved = [(x + draw.gauss(0, noise), y + draw.gauss(0, noise)) for x, y, _ in points]
    return moved, [label for _, _, label in points]
