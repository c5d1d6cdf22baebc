"""Machine code of a whole graph, and what it wants of memory."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ARRAYS", "NAMES", "GraphCode"]

#: The functions of an object file, and the arrays whose addresses they take before those of the tables.
NAMES, ARRAYS = ("forward", "backward"), "LGWB"


@dataclass(frozen=True, slots=True)
class GraphCode:
    """Machine code of a whole graph, and what it wants of memory.

    Attributes:
        object: an object file with the functions ``forward`` and ``backward``.
        size: so many numbers of nodes are kept, and as many adjoints.
        tables: the constant arrays that it reads.
        literals: the graph's.
        roots: kind and element of each root.
        zeroed: the stretches of the adjoints that must be zero before the backward pass: begin and length.
        lookups: the leaves that stand for what indices select (``Lookups.packed``).
        length: how many nodes of code it is.
    """

    object: bytes
    size: int
    tables: list[NDArray[np.float64] | NDArray[np.int64]]
    literals: NDArray[np.float64]
    roots: list[tuple[int, int]]
    zeroed: list[tuple[int, int]]
    lookups: NDArray[np.uint64]
    length: int

    @property
    def total_bytes(self) -> int:
        """How much memory it takes."""
        return len(self.object) + sum(entries.nbytes for entries in self.tables)

    def packed(self) -> bytes:
        """All of it as bytes, for a file."""
        arrays: dict[str, Any] = {
            "object": np.frombuffer(self.object, np.uint8),
            "numbers": np.array([self.size, self.length, len(self.tables)]),
            "literals": self.literals,
            "roots": np.array(self.roots, np.int64).reshape(-1, 2),
            "zeroed": np.array(self.zeroed, np.int64).reshape(-1, 2),
            "lookups": self.lookups,
        }
        arrays |= {f"table{i}": entries for i, entries in enumerate(self.tables)}
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> GraphCode:
        """What ``packed`` has made bytes of."""
        with np.load(io.BytesIO(data)) as arrays:
            size, length, count = map(int, arrays["numbers"])
            return cls(
                arrays["object"].tobytes(),
                size,
                [arrays[f"table{i}"] for i in range(count)],
                arrays["literals"],
                _pairs(arrays["roots"]),
                _pairs(arrays["zeroed"]),
                arrays["lookups"],
                length,
            )


def _pairs(rows: NDArray[np.int64]) -> list[tuple[int, int]]:
    return [(one, other) for one, other in rows.tolist()]
