"""Sparse Jacobians and Hessians: each row is the sweep of one output through what that output depends on, and no more.

So a Jacobian costs the sum of the outputs' subgraphs, without colouring, and its pattern is read off the graph: an
entry is where a path of local derivatives leads from the output to the input, none of them structurally zero.

A compiled function's matrix is the result of a program, made of the same sweeps, recorded. Its pattern is made once,
and from then on the native cache makes the matrices (native/bindings/matrix.hpp).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import engine
from ..engine import Value
from ..engine.containers import register_pytree_node
from ..engine.pytree import Leaf
from ..errors import MissingExtraError
from . import anomaly
from .sweeps import partial_derivatives

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Entries", "Pattern", "check", "entries_of"]


def check(connected: bool, transform: str) -> None:
    """Refuse before the function runs where SciPy is missing, or where the results would be Values.

    Raises:
        MissingExtraError: SciPy is not installed.
        TypeError: The results would be Values connected to a graph; a SciPy array holds numbers.
    """
    _scipy_sparse()
    if connected:
        raise TypeError(
            f"{transform}(…, sparse=True) gives a SciPy array of numbers, which cannot be differentiated further: call "
            "it with plain numbers (.data of a Value) and outside other transforms, or leave sparse=True out."
        )


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the entries of a matrix are: compressed sparse rows without numbers."""

    starts: NDArray[Any]
    columns: NDArray[Any]
    width: int

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Pattern)
            and self.width == other.width
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.columns, other.columns)
        )

    def __hash__(self) -> int:
        return hash((self.width, len(self.starts), len(self.columns)))

    @functools.cached_property
    def rows(self) -> NDArray[Any]:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @functools.cached_property
    def whole(self) -> Any:
        """The matrix, with the number of each entry, from 1, in its place."""
        numbers = np.arange(1, len(self.columns) + 1, dtype=np.float64)
        shape = len(self.starts) - 1, self.width
        kind = _index_type(len(self.columns), *shape)
        return _scipy_sparse().csr_array((numbers, self.columns.astype(kind), self.starts.astype(kind)), shape=shape)

    @functools.cached_property
    def mirrored(self) -> tuple[Any, NDArray[Any]]:
        """The same of the symmetric matrix of which this is the upper half, and which entry each of its entries is."""
        off = self.columns > self.rows
        places = np.arange(1, len(self.columns) + 1, dtype=np.float64)
        kind = _index_type(2 * len(self.columns), self.width)
        rows = np.concatenate([self.rows, self.columns[off]], dtype=kind, casting="unsafe")
        columns = np.concatenate([self.columns, self.rows[off]], dtype=kind, casting="unsafe")
        whole = (np.concatenate([places, places[off]]), (rows, columns))
        matrix = _scipy_sparse().coo_array(whole, shape=(self.width, self.width)).tocsr()
        matrix.sort_indices()
        return matrix, matrix.data.astype(np.intp) - 1


@dataclass(slots=True)  # not frozen, which would take a quarter of a microsecond
class Entries:
    """The numbers of a matrix and where they are. A compiled function may return it."""

    numbers: Any  #: an array: of floats, or, while a program is recorded, of what takes their places
    pattern: Pattern

    def jacobian(self) -> Any:
        """The matrix."""
        return _filled(self.pattern.whole, self.numbers)

    def hessian(self) -> Any:
        """The symmetric matrix of which the entries are the upper half."""
        matrix, which = self.pattern.mirrored
        return _filled(matrix, self.numbers[which])

    def aligned(self, pattern: Pattern) -> Entries | None:
        """The same entries in a pattern that has others besides, which are 0; None if one of them is not in it."""
        if self.pattern == pattern:
            return self
        ours = self.pattern.rows * pattern.width + self.pattern.columns
        theirs = pattern.rows * pattern.width + pattern.columns
        order = np.argsort(theirs)
        at = np.searchsorted(theirs, ours, sorter=order) if len(theirs) else np.zeros(len(ours), np.intp)
        if len(ours) and (np.max(at) >= len(theirs) or not np.array_equal(theirs[order[at]], ours)):
            return None
        numbers = np.zeros(len(theirs))
        numbers[order[at]] = self.numbers
        return Entries(numbers, pattern)


register_pytree_node(
    Entries, lambda one: ((one.numbers,), one.pattern), lambda pattern, items: Entries(items[0], pattern)
)


def _filled(like: Any, numbers: Any) -> Any:
    """A matrix with the pattern of another."""
    matrix = object.__new__(type(like))
    attributes = like.__dict__
    own = {"data": numbers, "indices": attributes["indices"].copy(), "indptr": attributes["indptr"].copy()}
    matrix.__dict__ = attributes | own
    return matrix


def entries_of(outputs: Sequence[Leaf], variables: Sequence[Value], upper: bool) -> Entries:
    """The derivatives of each output with respect to each variable; with ``upper``, to none before its own."""
    if engine.program_recorder() is not None:
        return _recorded(outputs, variables, upper)
    starts, columns, numbers = _rows(outputs, variables)
    pattern = Pattern(starts, columns, len(variables))
    if not upper:
        return Entries(numbers, pattern)
    kept = columns >= pattern.rows
    counts = np.bincount(pattern.rows[kept], minlength=len(outputs))
    return Entries(numbers[kept], Pattern(np.concatenate([[0], np.cumsum(counts)]), columns[kept], len(variables)))


def _recorded(outputs: Sequence[Leaf], variables: Sequence[Value], upper: bool) -> Entries:
    """The same as nodes of a program; an entry is where any call of the program may have one."""
    starts, columns, numbers = [0], list[int](), list[Any]()
    for row, output in enumerate(outputs):
        first = row if upper else 0
        if isinstance(output, Value):
            slopes = partial_derivatives([output], [1.0], variables[first:])
            reached = [(first + place, slope) for place, slope in enumerate(slopes) if slope is not None]
            columns += [column for column, _ in reached]
            numbers += [(slope + 0.0).data if isinstance(slope, Value) else float(slope) for _, slope in reached]
        starts.append(len(columns))
    filled = np.empty(len(numbers), dtype=object)
    filled[:] = numbers
    return Entries(filled, Pattern(np.array(starts), np.array(columns, dtype=np.int64), len(variables)))


def _rows(roots: Sequence[Leaf], variables: Sequence[Value]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The rows' starts, the columns, and the numbers of the entries."""
    if anomaly.is_detecting():
        for root in roots:
            if isinstance(root, Value):
                anomaly.checked_gradients(root, variables)
    starts, columns, numbers = engine.sparse_gradients(roots, variables)
    return np.frombuffer(starts, np.int64), np.frombuffer(columns, np.int64), np.frombuffer(numbers, np.float64)


def _index_type(*sizes: int) -> type[np.signedinteger[Any]]:
    """The integers that count so far: of 32 bits where these can, as SciPy has them and its solvers want."""
    return np.int32 if max(sizes) <= np.iinfo(np.int32).max else np.int64


@functools.cache  # where SciPy is there
def _scipy_sparse() -> Any:
    try:
        from scipy import sparse
    except ImportError:
        raise MissingExtraError('sparse=True needs SciPy: pip install "retrograd[sparse]"') from None
    return sparse
