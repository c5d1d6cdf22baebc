"""What code may know of the memory that kernel calls refer to."""

from __future__ import annotations

import sys
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Memory"]


@dataclass(frozen=True, slots=True)
class Memory:
    """Blocks of memory, and numbers in them.

    Attributes:
        blocks: address and length in bytes of each block, by address.
        literals: the numbers at addresses that are never written.
        overlapping: the blocks, by their addresses, in which there may be numbers of another one of these.
    """

    blocks: Sequence[tuple[int, int]] = ()
    literals: Mapping[int, float] = field(default_factory=dict)
    overlapping: frozenset[int] = frozenset()

    def block_of(self, address: int) -> tuple[int, int]:
        """Address and length of the block that an address is in."""
        begin, length = self._last_before(address)
        if not begin <= address < begin + length:
            raise ValueError("an address is in no block of the program's memory")
        return begin, length

    def owns(self, address: int, size: int) -> bool:
        """Whether so many bytes from an address on are in one block."""
        begin, length = self._last_before(address)
        return begin <= address and address + size <= begin + length

    def _last_before(self, address: int) -> tuple[int, int]:
        return self.blocks[bisect(self.blocks, (address, sys.maxsize)) - 1]
