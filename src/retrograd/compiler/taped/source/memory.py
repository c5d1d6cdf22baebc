"""Lists in memory: a header of five words, which are how many items there are, how many there is room for, where they
are, how often one was added or taken, and the limit of a deque or the index of the keys; and the items."""

from __future__ import annotations

from ..frame import Frame
from ..ir.arithmetic import Typed
from ..types import Cell, ListType

__all__ = ["LAST_WORD", "counted", "item_place", "new_list", "words_of"]

#: The limit of a deque; where the index of a dictionary or a set is.
LAST_WORD = 4


def words_of(kind: ListType) -> int:
    return len(kind.item.words)


def new_list(f: Frame, cell: Cell, count: str, kind: type = list) -> Typed:
    """A list with room for so many items, which are not there yet."""
    made = ListType(cell, kind)
    place = f.allocated(f"@new_list(ptr %context, i64 {count}, i64 {words_of(made)})")
    return Typed(made, (place,))


def item_place(f: Frame, the_list: Typed, at: str) -> str:
    """Where an item is whose index is known to be there."""
    assert isinstance(the_list.kind, ListType)
    data = f.w.load("ptr", f.w.at(the_list.number, 2))
    words = words_of(the_list.kind)
    return f.w.at(data, at if words == 1 else f.w.emit(f"mul i64 {at}, {words}"))


class counted:  # noqa: N801
    """A loop over indices, begun when this is made and ended by ``close``."""

    def __init__(self, f: Frame, count: str) -> None:
        self._f, self._place = f, f.w.allocate("i64")
        self._head = f.w.name("head")
        self.end: str = f.w.name("end")
        f.w.store("i64", "0", self._place)
        f.w.block(self._head)
        self.index: str = f.w.load("i64", self._place)
        body = f.w.name("body")
        f.w.branch(f.w.emit(f"icmp slt i64 {self.index}, {count}"), body, self.end)
        f.w.block(body)

    def close(self) -> None:
        """The end of the body."""
        f = self._f
        f.w.store("i64", f.w.emit(f"add i64 {self.index}, 1"), self._place)
        f.w.jump(self._head)
        f.w.block(self.end)
