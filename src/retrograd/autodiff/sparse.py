"""Sparse Jacobians and Hessians: each row is the sweep of one output through what that output depends on, and no more.

So a Jacobian costs the sum of the outputs' subgraphs, without colouring, and its pattern is read off the graph: an
entry is where a path of local derivatives leads from the output to the input, none of them structurally zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import engine
from ..engine import Value
from ..engine.pytree import Leaf
from ..errors import MissingExtraError
from . import anomaly

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["check", "jacobian_matrix", "symmetric_matrix"]


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


def jacobian_matrix(outputs: Sequence[Leaf], variables: Sequence[Value]) -> Any:
    """The derivatives of each output with respect to each variable, as a ``scipy.sparse.csr_array``."""
    starts, columns, numbers = _rows(outputs, variables)
    return _scipy_sparse().csr_array((numbers, columns, starts), shape=(len(outputs), len(variables)))


def symmetric_matrix(slopes: Sequence[Leaf], variables: Sequence[Value]) -> Any:
    """The same for the components of a gradient: the upper half, mirrored, so that it is exactly symmetric."""
    starts, columns, numbers = _rows(slopes, variables)
    size = len(variables)
    rows = np.repeat(np.arange(size), np.diff(starts))
    upper, above = columns >= rows, columns > rows
    data = np.concatenate([numbers[upper], numbers[above]])
    places = np.concatenate([rows[upper], columns[above]]), np.concatenate([columns[upper], rows[above]])
    matrix = _scipy_sparse().coo_array((data, places), shape=(size, size)).tocsr()
    matrix.sort_indices()
    return matrix


def _rows(roots: Sequence[Leaf], variables: Sequence[Value]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The rows' starts, the columns, and the numbers of the entries."""
    if anomaly.is_detecting():
        for root in roots:
            if isinstance(root, Value):
                anomaly.checked_gradients(root, variables)
    starts, columns, numbers = engine.sparse_gradients(roots, variables)
    return np.frombuffer(starts, np.int64), np.frombuffer(columns, np.int64), np.frombuffer(numbers, np.float64)


def _scipy_sparse() -> Any:
    try:
        from scipy import sparse
    except ImportError:
        raise MissingExtraError('sparse=True needs SciPy: pip install "retrograd[sparse]"') from None
    return sparse
