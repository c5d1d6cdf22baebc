"""Functions of Python's library as Python: taped code follows them as it follows the user's own."""

from __future__ import annotations

from typing import Any

__all__ = [
    *("bisect_left", "bisect_right", "equal_lists", "heapify", "heappop", "heappush", "heappushpop"),
    *("heapreplace", "reversed_in_place", "sorted_by", "sorted_list", "transposed"),
]


def equal_lists(one: list[Any], other: list[Any]) -> bool:
    """``one == other``."""
    if len(one) != len(other):
        return False
    for i in range(len(one)):  # noqa: SIM110
        if one[i] not in [other[i]]:  # which asks whether one is a NaN
            return False
    return True


def transposed(rows: list[Any]) -> list[Any]:
    """``zip(*rows)``."""
    made: list[Any] = []
    if len(rows) == 0:
        return made
    shortest = len(rows[0])
    for row in rows:
        if len(row) < shortest:
            shortest = len(row)
    for i in range(shortest):
        made.append([row[i] for row in rows])
    return made


def reversed_in_place(items: list[Any]) -> None:
    """``items.reverse()``."""
    i, j = 0, len(items) - 1
    while i < j:
        items[i], items[j] = items[j], items[i]
        i += 1
        j -= 1


# --- sorting ------------------------------------------------------------------------------------------------


def sorted_list(items: list[Any], reverse: bool) -> list[Any]:
    """``sorted(items, reverse=reverse)``."""
    return sorted_by(items, items, reverse)


def sorted_by(items: list[Any], keys: list[Any], reverse: bool) -> list[Any]:
    """The items in the order of their keys, by a merge sort: as Python's own, it leaves equal ones in their order."""
    count = len(items)
    order = list(range(count))
    width = 1
    while width < count:
        merged: list[int] = []
        start = 0
        while start < count:
            middle = min(start + width, count)
            end = min(start + 2 * width, count)
            i, j = start, middle
            while i < middle or j < end:
                if j >= end:
                    takes_first = True
                elif i >= middle:
                    takes_first = False
                elif reverse:
                    takes_first = not keys[order[i]] < keys[order[j]]
                else:
                    takes_first = not keys[order[j]] < keys[order[i]]
                if takes_first:
                    merged.append(order[i])
                    i += 1
                else:
                    merged.append(order[j])
                    j += 1
            start = end
        order = merged
        width = 2 * width
    return [items[i] for i in order]


def bisect_left(items: list[Any], item: Any) -> int:
    """``bisect.bisect_left(items, item)``."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(items: list[Any], item: Any) -> int:
    """``bisect.bisect_right(items, item)``."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if item < items[middle]:
            high = middle
        else:
            low = middle + 1
    return low


# --- heaps, as CPython's Lib/heapq.py -----------------------------------------------------------------------


def _down(heap: list[Any], start: int, at: int) -> None:
    new = heap[at]
    while at > start:
        parent = (at - 1) // 2
        if not new < heap[parent]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = new


def _up(heap: list[Any], at: int) -> None:
    end, start = len(heap), at
    new = heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = new
    _down(heap, start, at)


def heappush(heap: list[Any], item: Any) -> None:
    """``heapq.heappush(heap, item)``."""
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap: list[Any]) -> Any:
    """``heapq.heappop(heap)``."""
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _up(heap, 0)
    return first


def heapreplace(heap: list[Any], item: Any) -> Any:
    """``heapq.heapreplace(heap, item)``."""
    first = heap[0]
    heap[0] = item
    _up(heap, 0)
    return first


def heappushpop(heap: list[Any], item: Any) -> Any:
    """``heapq.heappushpop(heap, item)``."""
    if len(heap) > 0 and heap[0] < item:
        first = heap[0]
        heap[0] = item
        _up(heap, 0)
        return first
    return item


def heapify(heap: list[Any]) -> None:
    """``heapq.heapify(heap)``."""
    i = len(heap) // 2 - 1
    while i >= 0:
        _up(heap, i)
        i -= 1
