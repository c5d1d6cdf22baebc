"""What the programs of a function say about the tests to convert, and which programs conversions make needless."""

from __future__ import annotations

from ... import engine
from ..backoff import Storm
from ..examples import Example, Examples
from ..tracing.outcomes import DECIDING, flipping
from ..tracing.traced_call import Traced
from .conversions import Conversions

__all__ = ["Learning"]

#: So many programs of code that is converted alike, each for decisions of its own, are in vain if they are larger than
#: those of the code as it is by this factor.
_IN_VAIN, _LARGER = 6, 8


class Learning:
    """Tells the conversions of one function what its calls decide."""

    def __init__(
        self, cache: engine.SpecializationCache, examples: Examples, conversions: Conversions, storm: Storm
    ) -> None:
        self._cache, self._examples, self._conversions, self._storm = cache, examples, conversions, storm

    def learns_from(self, traced: Traced, differentiate_first: bool) -> bool:
        """Whether there is more to convert, since a comparison has decided otherwise once more."""
        alike = [
            one.decided for one in self._examples.passes(differentiate_first) if one.signature.is_like(traced.signature)
        ]
        return self._conversions.learn([*alike, traced.recording.decided()])

    def learn_from_departures(self) -> None:
        """Which tests of converted code have come out otherwise in this call, which is traced next."""
        for number, guard in self._cache.departures():
            example = self._examples.get(number)
            if example is not None and example.conversion is not None:
                one = example.decided.guards[guard]
                if one.where is not None and one.purpose in DECIDING:
                    self._conversions.departed((one.where.file, one.where.line), example.decided)

    def drop_needless(self, number: int, new: Example) -> None:
        """Drop the programs that a new one makes needless; or those that are converted, where that is in vain."""
        if self._conversions:
            self._drop_unconverted(number, new)
            self._drop_conversion_in_vain(new)

    def _drop_unconverted(self, number: int, new: Example) -> None:
        """Drop programs that others would be compared by, and that do less than the new one.

        They have guards that the converted code has no more, or fewer iterations of loops: where such a one has machine
        code, it stays, for the calls that it is long enough for. Where the new one decides otherwise than they do even
        so, each of them may answer the calls that it was made for.
        """
        others = [(one, example) for one, example in self._examples.numbered() if one != number]
        turning = flipping([new.decided, *(example.decided for _, example in others)])
        is_whole = turning.isdisjoint(new.decided.by_line)
        for one, example in others:
            is_shorter = example.lengthened < new.lengthened and example.decided.ends_loops and example.is_like(new)
            if is_shorter and self._cache.keep_first(one):
                continue
            if is_shorter or (is_whole and self._conversions.concerns(example.decided)):
                self._drop(one)

    def _drop_conversion_in_vain(self, new: Example) -> None:
        """Trace the code as it is from now on, if converted code has given larger programs, and no fewer."""
        like = [(one, example.conversion) for one, example in self._examples.like(new)]
        converted = [one for one, conversion in like if conversion == new.conversion]
        if new.conversion is None or len(converted) < _IN_VAIN or len(converted) == len(like):
            return
        nodes = {fact["number"]: int(fact["nodes"]) for fact in self._cache.facts()}
        plain = [nodes.get(one, 0) for one, conversion in like if conversion is None]
        if plain and min(nodes.get(one, 0) for one in converted) > _LARGER * max(plain):
            self._conversions.give_up()
            for one in converted:
                self._drop(one)

    def _drop(self, number: int) -> None:
        """Drop a program; it was not in vain if it has answered calls."""
        hits = next((count for one, _, count in self._cache.inventory() if one == number), 0)
        self._examples.drop(number)
        self._storm.dropped(number, hits)
