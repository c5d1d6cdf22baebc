"""The programs of one function, each with the call that it was traced from; which of them stay."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import engine
from .calls.outputs import Outputs
from .calls.signature import Signature
from .guards.words import program_guards
from .tracing.outcomes import Outcomes

__all__ = ["LIMIT", "Example", "Examples"]

#: The most programs that one function keeps, and the most bytes of them. Beyond them, the least recently used ones are
#: dropped.
LIMIT = 256
BYTES = 64 * 1024 * 1024


class Example(NamedTuple):
    """The call that a program was traced from."""

    differentiate_first: bool
    arguments: tuple[Any, ...]
    signature: Signature
    number: type | None  #: what plain number the function returned: a float, an int, or NumPy's; None for a Value
    outputs: Outputs | None  #: of a function with several results
    decided: Outcomes
    lengthened: int  #: how often loops were recorded with more iterations until then
    conversion: tuple[Any, ...] | None  #: what was converted, and how; None if nothing was
    largest: float = 0.0  #: of the function's gradients in this call
    label: str = ""  #: that the function gives to its result
    hands_on: bool = False  #: whether a result may be a Value that was there before

    def is_like(self, other: Example) -> bool:
        """Whether both are of one kind of call."""
        return self.differentiate_first == other.differentiate_first and self.signature.is_like(other.signature)


class Examples:
    """Those of the programs in a cache, by their numbers, the latest last.

    Another thread, or a handler of a signal, may forget all of them between any two lines.
    """

    def __init__(self, cache: engine.SpecializationCache) -> None:
        self._cache = cache
        self._by_number: dict[int, Example] = {}

    def __contains__(self, number: object) -> bool:
        return number in self._by_number

    def get(self, number: int) -> Example | None:
        """The call that a program was traced from; None if it has been forgotten since."""
        return self._by_number.get(number)

    def numbered(self) -> list[tuple[int, Example]]:
        """All of them, with the numbers of their programs."""
        return list(self._by_number.items())

    def all(self) -> list[Example]:
        """All of them."""
        return [*self._by_number.values()]

    def passes(self, differentiate_first: bool) -> list[Example]:
        """Those in which gradients are taken of the first argument, or of the parameters."""
        return [one for one in self.all() if one.differentiate_first == differentiate_first]

    def like(self, example: Example) -> list[tuple[int, Example]]:
        """Those of one kind of call, with the numbers of their programs."""
        return [(number, one) for number, one in self.numbered() if one.is_like(example)]

    def add(self, number: int, example: Example) -> None:
        """A program was made."""
        self._by_number[number] = example

    def drop(self, number: int) -> None:
        """Drop a program."""
        self._cache.drop(number)
        self._by_number.pop(number, None)

    def clear(self) -> None:
        """Drop all programs."""
        for number, _, _ in self._cache.inventory():
            self._cache.drop(number)
        self._by_number.clear()

    def drop_least_recently_used(self) -> list[tuple[int, int]]:
        """Make room: those that have not been used for longest rest first, and are dropped if that is not enough.

        Returns:
            The numbers of those that were dropped, and how many calls each has answered.
        """
        oldest_first = self._cache.inventory()[::-1]
        total = sum(weight for _, weight, _ in oldest_first)
        weights, dropped = {}, []
        for number, weight, _ in oldest_first:
            weights[number] = self._cache.rest(number) if total > BYTES else weight
            total += weights[number] - weight
        for place, (number, _, hits) in enumerate(oldest_first[:-1]):
            if total > BYTES or len(oldest_first) - place > LIMIT:
                self._cache.drop(number)
                dropped.append((number, hits))
                total -= weights[number]
        living = {number for number, _, _ in self._cache.inventory()}
        self._by_number = {number: example for number, example in self.numbered() if number in living}
        return dropped

    def guards(self) -> list[str]:
        """What each program takes for granted, as text, in the order of the cache."""
        found = ((number, self.get(number)) for number, _, _ in self._cache.inventory())
        return [
            program_guards(number, one.signature.spec, one.decided.guards) for number, one in found if one is not None
        ]
