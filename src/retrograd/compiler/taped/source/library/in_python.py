"""Functions of Python's library as Python: taped code follows them as it follows the user's own."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = [
    *("COMBINATIONS", "ITERTOOLS", "bisect_left", "bisect_right", "chained", "count_of", "equal_lists", "every"),
    *("every_backwards", "heapify", "heappop", "heappush", "heappushpop", "heapreplace", "insert_sorted"),
    *("insert_sorted_left", "most_common", "nlargest", "nsmallest", "power_of_ints", "product_of", "replaced"),
    *("reversed_in_place", "rotated", "sorted_by", "sorted_list", "transposed"),
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


def power_of_ints(base: int, power: int) -> int:
    """``base**power``; a float of a negative power is left to the function itself."""
    if power < 0:
        raise ValueError
    found = 1
    for _ in range(power):
        found = found * base
    return found


def insert_sorted(items: list[Any], item: Any) -> None:
    """``bisect.insort(items, item)``."""
    items.insert(bisect_right(items, item), item)


def insert_sorted_left(items: list[Any], item: Any) -> None:
    """``bisect.insort_left(items, item)``."""
    items.insert(bisect_left(items, item), item)


def every(items: list[Any], start: int, stop: int, step: int) -> list[Any]:
    """``items[start:stop:step]``, with a step above 0."""
    count = len(items)
    i = max(start + count, 0) if start < 0 else start
    end = stop + count if stop < 0 else min(stop, count)
    made: list[Any] = []
    while i < end:
        made.append(items[i])
        i += step
    return made


def every_backwards(items: list[Any], start: int, stop: int, step: int) -> list[Any]:
    """``items[start:stop:step]``, with a step below 0."""
    count = len(items)
    i = start + count if start < 0 else min(start, count - 1)
    end = max(stop + count, -1) if stop < 0 else stop
    made: list[Any] = []
    while i > end and i >= 0:
        made.append(items[i])
        i += step
    return made


def replaced(items: list[Any], start: int, stop: int, new: list[Any]) -> None:
    """``items[start:stop] = new``."""
    count = len(items)
    first = max(start + count, 0) if start < 0 else min(start, count)
    last = max(max(stop + count, 0) if stop < 0 else min(stop, count), first)
    rest = items[last:]
    while len(items) > first:
        items.pop()
    items.extend(new)
    items.extend(rest)


def rotated(items: deque[Any], count: int) -> None:
    """``items.rotate(count)``."""
    if len(items) > 1:
        for _ in range(count % len(items)):
            items.appendleft(items.pop())


def most_common(pairs: list[Any], count: int) -> list[Any]:
    """``counter.most_common(count)``, given its items."""
    ordered = sorted_by(pairs, [pair[1] for pair in pairs], True)
    return ordered[: max(count, 0)]


def count_of(items: list[Any], item: Any) -> int:
    """``items.count(item)``."""
    found = 0
    for one in items:
        if one in [item]:
            found += 1
    return found


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


def nlargest(count: int, items: Iterable[Any], key: Any = None) -> list[Any]:
    """``heapq.nlargest(count, items, key)``."""
    made: list[Any] = []
    if count > 0:  # else it reads nothing
        made = sorted(items, key=key, reverse=True)[:count]
    return made


def nsmallest(count: int, items: Iterable[Any], key: Any = None) -> list[Any]:
    """``heapq.nsmallest(count, items, key)``."""
    made: list[Any] = []
    if count > 0:
        made = sorted(items, key=key)[:count]
    return made


def bisect_left(items: list[Any], item: Any, lo: int = 0, hi: int | None = None) -> int:
    """``bisect.bisect_left(items, item, lo, hi)``."""
    low, high = lo, len(items) if hi is None else hi
    if low < 0 or high < 0:  # a high of -1 is the end
        raise ValueError
    while low < high:
        middle = (low + high) // 2
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(items: list[Any], item: Any, lo: int = 0, hi: int | None = None) -> int:
    """``bisect.bisect_right(items, item, lo, hi)``."""
    low, high = lo, len(items) if hi is None else hi
    if low < 0 or high < 0:  # a high of -1 is the end
        raise ValueError
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


# --- what itertools brings, which goes over its arguments item by item --------------------------------------


def chained(rows: Iterable[Iterable[Any]]) -> Iterator[Any]:
    """``chain.from_iterable(rows)``."""
    for row in rows:
        for item in row:  # noqa: UP028
            yield item


def _chain_two(one: Iterable[Any], other: Iterable[Any]) -> Iterator[Any]:
    for item in one:
        yield item
    for item in other:
        yield item


def _pairwise(items: Iterable[Any]) -> Iterator[Any]:
    before: Any
    has_one = False
    for item in items:
        if has_one:
            yield before, item  # noqa: F821
        before, has_one = item, True


def _accumulate(items: Iterable[Any]) -> Iterator[Any]:
    total: Any
    has_one = False
    for item in items:
        if has_one:
            total = total + item  # noqa: F821
        else:
            total, has_one = item, True
        yield total


def _accumulate_by(items: Iterable[Any], function: Callable[[Any, Any], Any]) -> Iterator[Any]:
    total: Any
    has_one = False
    for item in items:
        if has_one:
            total = function(total, item)  # noqa: F821
        else:
            total, has_one = item, True
        yield total


def _take_while(test: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        if not test(item):
            break
        yield item


def _drop_while(test: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    has_begun = False
    for item in items:
        if has_begun or not test(item):
            has_begun = True
            yield item


def _first_ones(items: Iterable[Any], count: int) -> Iterator[Any]:
    left = count
    if left < 0:
        raise ValueError
    if left > 0:
        for item in items:
            yield item
            left -= 1
            if left == 0:
                break


def product_of(ones: list[Any], others: list[Any]) -> Iterator[Any]:
    """``product(ones, others)``."""
    for one in ones:
        for other in others:
            yield one, other


def _pairs(pool: list[Any]) -> Iterator[Any]:
    for i in range(len(pool)):
        for j in range(i + 1, len(pool)):
            yield pool[i], pool[j]


def _triples(pool: list[Any]) -> Iterator[Any]:
    for i in range(len(pool)):
        for j in range(i + 1, len(pool)):
            for k in range(j + 1, len(pool)):
                yield pool[i], pool[j], pool[k]


def _repeat(item: Any, times: int) -> Iterator[Any]:
    for _ in range(times):
        yield item


def _star_map(function: Callable[..., Any], rows: Iterable[Any]) -> Iterator[Any]:
    for row in rows:
        yield function(*row)


class _Count:
    """``itertools.count(start, step)``, of which ``next`` alone is asked."""

    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        self._next, self._step = start, step

    def __next__(self) -> Any:
        found = self._next
        self._next = found + self._step
        return found


class Kept:
    """``iter(items)`` of a list, of which ``next`` alone is asked."""

    def __init__(self, items: list[Any]) -> None:
        self._items, self._at = items, 0

    def __next__(self) -> Any:
        found = self._items[self._at]  # at its end, the function itself raises
        self._at += 1
        return found

    def next_or(self, default: Any) -> Any:
        """``next(it, default)``."""
        return self.__next__() if self._at < len(self._items) else default


class Cycle:
    """``itertools.cycle(items)`` of a list, of which ``next`` alone is asked: it saves what it goes over at first."""

    def __init__(self, items: list[Any]) -> None:
        self._items, self._saved = items, items[:0]
        self._at, self._is_over = 0, False

    def __next__(self) -> Any:
        if not self._is_over and self._at < len(self._items):
            self._saved.append(self._items[self._at])
        elif not self._is_over or self._at == len(self._saved):
            self._at, self._is_over = 0, True
        self._at += 1
        return self._saved[self._at - 1]


#: Generators for classes of itertools, by how many arguments they are given.
ITERTOOLS: dict[tuple[Any, int], Any] = {
    **dict.fromkeys([(itertools.count, 0), (itertools.count, 1), (itertools.count, 2)], _Count),
    (itertools.accumulate, 1): _accumulate,
    (itertools.accumulate, 2): _accumulate_by,
    (itertools.chain, 2): _chain_two,
    (itertools.dropwhile, 2): _drop_while,
    (itertools.islice, 2): _first_ones,
    (itertools.pairwise, 1): _pairwise,
    (itertools.repeat, 2): _repeat,
    (itertools.starmap, 2): _star_map,
    (itertools.takewhile, 2): _take_while,
}
#: Those of combinations, by how many items are taken.
COMBINATIONS: dict[int, Any] = {2: _pairs, 3: _triples}
