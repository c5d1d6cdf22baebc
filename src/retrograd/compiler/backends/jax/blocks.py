"""Takes loops apart, into what can run for all iterations at once and what hands numbers on (loop fission).

After Allen and Kennedy (TOPLAS 1987): the items of a loop that depend on each other in a circle, through what one
iteration hands to the next, run in order of the iterations. All others are arrays over the iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..loops.graphs.graph import UnsupportedGraphError
from ..loops.layouts.layout import Layout
from ..loops.layouts.operands import Carry, Constant, Far, Near, NodeOperand, Operand
from ..loops.shapes.fission import circles_of
from ..loops.shapes.structure import Body, Position
from .reads import Reads

__all__ = ["Block", "blocks_of", "operands_in"]

Item = Position | Body
Handed = Carry | Far  # what an iteration gets from the one before it

_SUMS = ("add", "sum", "sub")


@dataclass(slots=True, eq=False)
class Block:
    """A part of a loop: items that run for all iterations at once, one iteration after another, or as one long sum."""

    kind: Literal["map", "scan", "sum"]
    items: list[Item]
    handed: list[Handed] = field(default_factory=list)

    def positions(self) -> Iterator[Position]:
        """The positions in it, those of inner loops too."""
        for item in self.items:
            yield from (item,) if isinstance(item, Position) else item.positions()


def operands_in(
    layout: Layout,
    positions: Iterable[Position],
    through: Callable[[Carry], Iterable[NodeOperand]],
    handed: Iterable[Handed] = (),
) -> list[Operand]:
    """All that positions read, and what leads to it.

    Args:
        layout: their operands.
        positions: the positions.
        through: what else is read for a Carry.
        handed: what is read besides.
    """
    found: dict[Operand, None] = {}
    left: list[Operand] = [operand for position in positions for operand in layout.operands[position.number]]
    left += handed
    while left:
        operand = left.pop()
        if not isinstance(operand, Constant) and operand not in found:
            found[operand] = None
            left += through(operand) if isinstance(operand, Carry) else ()
    return list(found)


def blocks_of(body: Body, layout: Layout, reads: Reads) -> list[Block]:
    """The blocks of a loop, in an order in which they can run.

    Raises:
        UnsupportedGraphError: an operand comes from different numbers of iterations before.
    """
    return _Fission(body, layout, reads).blocks()


class _Fission:
    """Sets of what is handed on are bits of whole numbers: ``needs`` of each item, which go into it in one iteration;
    ``feeds``, into which it goes."""

    def __init__(self, body: Body, layout: Layout, reads: Reads) -> None:
        self._body, self._layout, self._reads = body, layout, reads
        self._handed: dict[Handed, int] = {}
        self._sources: list[set[Item | Handed]] = []  # of what is handed on
        self._operands = {item: self._dependences(item) for item in body.items}
        self._note_sources()
        self._needs: dict[Item, int] = {}
        for item in body.items:
            self._needs[item] = self._bits(self._operands[item])
        self._feeds = dict.fromkeys(body.items, 0)
        for number, sources in enumerate(self._sources):
            for source in sources:
                if isinstance(source, Position | Body):
                    self._feeds[source] |= 1 << number
        for item in reversed(body.items):
            for source in self._operands[item]:
                if isinstance(source, Position | Body):
                    self._feeds[source] |= self._feeds[item]
        _, self._circles = circles_of([self._bits(sources) for sources in self._sources])  # of what is handed on

    # --- dependences ------------------------------------------------------------------------------------------

    def _dependences(self, item: Item) -> set[Item | Handed]:
        """What an item reads of this loop."""
        positions = [item] if isinstance(item, Position) else list(item.positions())
        found: set[Item | Handed] = set()
        for operand in operands_in(self._layout, positions, self._through):
            if isinstance(operand, NodeOperand):
                found |= self._of(operand)
        return found - {item}

    def _through(self, carry: Carry) -> Iterable[NodeOperand]:
        """An inner loop's begins in this one."""
        inner = carry.frame is not self._body and self._reads.is_own(carry)
        return (carry.start, carry.following) if inner else ()

    def _of(self, operand: NodeOperand) -> set[Item | Handed]:
        if not operand.frame.within(self._body):
            return set()
        carrier = None if isinstance(operand, Near) else self._reads.trail(operand).carrier
        if carrier is self._body:
            assert isinstance(operand, Carry | Far)
            self._handed.setdefault(operand, len(self._handed))
            return {operand}
        if carrier is not None and not carrier.within(self._body):
            return set()
        sources = [operand.position] if isinstance(operand, Near) else self._reads.trail(operand).sources
        return {self._item(source) for source in sources if source.body.within(self._body)}

    def _item(self, position: Position) -> Item:
        return position if position.body is self._body else position.body.child_of(self._body)

    def _note_sources(self) -> None:
        """What an iteration hands on, and what that is made of."""
        for operand in self._handed_now():
            if self._reads.is_own(operand):
                self._sources.append(self._of(operand.following))
            else:
                inside = (s for s in self._reads.trail(operand).sources if s.body.within(self._body))
                self._sources.append({self._item(source) for source in inside})

    def _handed_now(self) -> Iterator[Handed]:
        """All that is handed on, also what is found to be while going through it."""
        number = 0
        while number < len(self._handed):
            yield list(self._handed)[number]
            number += 1

    def _bits(self, sources: set[Item | Handed]) -> int:
        bits = 0
        for source in sources:
            bits |= self._needs[source] if isinstance(source, Position | Body) else 1 << self._handed[source]
        return bits

    # --- blocks -----------------------------------------------------------------------------------------------

    def blocks(self) -> list[Block]:
        handed = list(self._handed)
        parts: dict[object, list[Item]] = {}
        part_of: dict[Item | Handed, object] = {}
        for item in self._body.items:
            circle = next((c for c in self._circles if c & self._needs[item] and c & self._feeds[item]), 0)
            part_of[item] = circle or item
            parts.setdefault(part_of[item], []).append(item)
        for one, circle in zip(handed, self._circles, strict=True):
            part_of[one] = circle or one
            parts.setdefault(part_of[one], [])
            if circle and not self._reads.is_own(one) and not self._reads.trail(one).lag:
                raise UnsupportedGraphError("an iteration reads what came one and more than one before it")
        needed: dict[object, set[object]] = {part: set() for part in parts}
        dependences: list[tuple[Item | Handed, set[Item | Handed]]] = [*self._operands.items()]
        dependences += zip(handed, self._sources, strict=True)
        for each, sources in dependences:
            needed[part_of[each]].update(part_of[source] for source in sources)
        for part, others in needed.items():
            others.discard(part)
        blocks: list[Block] = []
        while parts:
            blocks += self._ready(parts, needed, handed)
        return blocks

    def _ready(
        self, parts: dict[object, list[Item]], needed: dict[object, set[object]], handed: list[Handed]
    ) -> Iterator[Block]:
        """Remove the parts that can run now: all that run at once, or else those that run in order."""
        while known := [part for part in parts if isinstance(part, Handed) and not needed[part] & parts.keys()]:
            for one in known:  # an array of what has been computed; so not before the block with that is done
                del parts[one]
        at_once: list[Item] = []
        while free := [part for part in parts if isinstance(part, Item) and not needed[part] & parts.keys()]:
            for item in free:
                at_once += parts.pop(item)
        if at_once:
            yield Block("map", self._in_order(at_once))
        scan = Block("scan", [])
        for circle in [part for part in parts if isinstance(part, int) and not needed[part] & parts.keys()]:
            items = parts.pop(circle)
            carried = [one for i, one in enumerate(handed) if circle >> i & 1]
            if self._is_sum(items, carried):
                yield Block("sum", items, carried)
            else:
                scan.items += items
                scan.handed += carried
        if scan.handed:
            yield Block("scan", self._in_order(scan.items), scan.handed)

    def _in_order(self, items: list[Item]) -> list[Item]:
        chosen = set(items)
        return [item for item in self._body.items if item in chosen]

    def _is_sum(self, items: list[Item], carried: list[Handed]) -> bool:
        """Whether a circle only adds to one number, or subtracts from it."""
        if len(items) != 1 or len(carried) != 1:
            return False
        (item,), (one,) = items, carried
        if not isinstance(item, Position) or not self._reads.is_own(one) or not isinstance(one.following, Near):
            return False
        row, operands = self._layout.rows[item.number], self._layout.operands[item.number]
        if row not in _SUMS or len(operands) != 2 or operands.count(one) != 1 or one.following.position is not item:
            return False
        return row != "sub" or operands[0] is one
