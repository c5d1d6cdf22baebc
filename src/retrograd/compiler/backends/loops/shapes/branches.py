"""Finds loops whose iterations are not all alike: some have parts that others lack, as branches decided by data do.

An observation may be missing, a return negative: then the nodes of a loop have no period. But some nodes are made in
each iteration, once, and what is between two of them is a word of few kinds. The words are aligned with each other;
what not all of them have is a loop of one iteration or none. Where an iteration is of a rare kind, the loop ends, and
another one begins after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from ..graphs.graph import ScalarGraph
from .structure import Repeat

__all__ = ["Branches", "find_branches"]

Item = int | Repeat
Word = tuple[int, ...]

_LEAST_ITERATIONS, _MOST_KINDS, _LONGEST_WORD = 24, 12, 1_500
_WINDOW = 4  # so many nodes, one after the other, are looked for in each iteration
_NODES_A_CHOICE = 3  # so many nodes an iteration has at least for each of the parts that it may have or not
_LOOPS = 4  # so many are looked at
_RARE = 3  # a kind of word with fewer occurrences is not in the loop


@dataclass(frozen=True, slots=True)
class Branches:
    """Such a loop, or several with some nodes between them: its first node, the one after its last, its items, and how
    many nodes of code these are."""

    begin: int
    end: int
    items: list[Item]
    size: int


def find_branches(graph: ScalarGraph, first: int = 0, after: int | None = None) -> Branches | None:
    """One such loop in a stretch of the graph; None if there is none.

    Args:
        graph: the graph.
        first: where the stretch begins.
        after: where it ends; with the graph by default.
    """
    after = len(graph) if after is None else after
    keys = _keys(graph)[first:after]
    words = [[(first + at, word) for at, word in each] for each in _words(keys)]

    def left(one: Branches) -> int:
        return one.size + after - first - (one.end - one.begin)

    for find in (_loop, _loops):  # the latter where there is no loop of all iterations
        found = [(each, find(each)) for each in words if len(each) >= _LEAST_ITERATIONS]
        loops = [_between(each, *loop) for each, loop in found if loop is not None]
        if loops:
            return min(loops, key=left)
    return None


def _between(words: Sequence[tuple[int, Word]], items: list[Item], size: int) -> Branches:
    begin, (last, word) = words[0][0], words[-1]
    return Branches(begin, last + len(word), items, size)


def _loops(words: Sequence[tuple[int, Word]]) -> tuple[list[Item], int] | None:
    """Loops of the iterations of usual kinds, if there are any, and the nodes of the others; and how many nodes of code
    they are."""
    kinds = Counter(word for _, word in words)
    items, size = list[Item](), 0
    for is_usual, group in groupby(words, key=lambda each: kinds[each[1]] >= _RARE):
        run = [*group]
        found = _loop(run) if is_usual and len(run) >= _LEAST_ITERATIONS else None
        if found is None:
            nodes = [node for at, word in run for node in range(at, at + len(word))]
            found = [*nodes], len(nodes)
        items += found[0]
        size += found[1]
    return (items, size) if any(isinstance(item, Repeat) for item in items) else None


def _loop(words: Sequence[tuple[int, Word]]) -> tuple[list[Item], int] | None:
    """The loop of some iterations, as an item, and how many nodes of code it is; None if they have little in common."""
    kinds = Counter(word for _, word in words)
    if len(kinds) > _MOST_KINDS or max(map(len, kinds)) > _LONGEST_WORD:
        return None
    merged = _Merged(sorted(kinds, key=lambda word: -kinds[word]))
    if sum(len(word) for _, word in words) < _NODES_A_CHOICE * merged.choices * len(words):
        return None
    return [Repeat([merged.iteration(at, word) for at, word in words])], merged.size


def _keys(graph: ScalarGraph) -> NDArray[np.int64]:
    """The same number for nodes that apply the same operator to the same kinds of operands, for the same line."""
    return np.unique(np.stack([graph.shapes().astype(np.int64), graph.sources]), axis=1, return_inverse=True)[1].ravel()


def _words(keys: NDArray[np.int64]) -> Iterator[list[tuple[int, Word]]]:
    """The iterations of some loops, one or the other of which may be: where each begins.

    What is made equally often, and is most of the nodes, is made once in each iteration.
    """
    windows = keys.copy()
    for i in range(1, _WINDOW):
        windows = windows * 1_000_003 + np.roll(keys, -i)
    windows = np.unique(windows, return_inverse=True)[1].ravel()
    counts = np.bincount(windows)
    frequent = counts[counts >= _LEAST_ITERATIONS]
    if not len(frequent):
        return
    covered = np.bincount(frequent) * np.arange(int(frequent.max()) + 1)  # nodes, by how often their windows occur
    for count in np.argsort(-covered, kind="stable")[:_LOOPS].tolist():
        if covered[count]:
            often = np.isin(windows, np.flatnonzero(counts == count))
            yield _words_from(keys, np.flatnonzero(windows == windows[int(np.argmax(often))]).tolist())


def _words_from(keys: NDArray[np.int64], begins: list[int]) -> list[tuple[int, Word]]:
    """The iterations that begin at some nodes, without those of rare kinds at both ends."""
    found = [(a, tuple(keys[a:b].tolist())) for a, b in pairwise(begins)]
    kinds = Counter(word for _, word in found)
    last = begins[-1]
    ending = max((w for w in kinds if tuple(keys[last : last + len(w)].tolist()) == w), key=len, default=None)
    if ending is not None:
        found.append((last, ending))
    usual = [kinds[word] >= _RARE for _, word in found]
    if not any(usual):
        return []
    return found[usual.index(True) : len(usual) - usual[::-1].index(True)]


class _Merged:
    """Words as one: each of them is what is left if some stretches are left out.

    Attributes:
        size: how many nodes it has.
        choices: how many parts not all words have.
    """

    def __init__(self, words: Sequence[Word]) -> None:
        tokens: list[tuple[int, frozenset[Word]]] = []  # a key, and the words that have it there
        for word in words:
            tokens = _with(tokens, word)
        self.size = len(tokens)
        self._all = frozenset(words)
        self._stretches: list[tuple[frozenset[Word], int]] = []  # which words have it, and its length
        for _, having in tokens:
            if self._stretches and self._stretches[-1][0] == having:
                self._stretches[-1] = having, self._stretches[-1][1] + 1
            else:
                self._stretches.append((having, 1))
        self.choices = sum(having != self._all for having, _ in self._stretches)

    def iteration(self, begin: int, word: Word) -> list[Item]:
        """The items of an iteration that begins with a node and is a word."""
        items: list[Item] = []
        at = begin
        for having, length in self._stretches:
            nodes: list[Item] = list(range(at, at + length)) if word in having else []
            at += len(nodes)
            items += nodes if having == self._all else [Repeat([nodes] if nodes else [])]
        return items


def _with(tokens: list[tuple[int, frozenset[Word]]], word: Word) -> list[tuple[int, frozenset[Word]]]:
    """Tokens with a word aligned to them."""
    merged: list[tuple[int, frozenset[Word]]] = []
    only = frozenset([word])
    matcher = SequenceMatcher(None, [key for key, _ in tokens], word, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            merged += [(key, having | only) for key, having in tokens[a:b]]
        else:
            merged += tokens[a:b]
            merged += [(key, only) for key in word[c:d]]
    return merged
