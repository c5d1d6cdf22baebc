"""Linear algebra on small matrices of Values: ``solve``, ``det`` and ``inv``, differentiable to every order.

NumPy's ``linalg`` knows matrices of floats and complex numbers only, and raises for one of objects. These functions
take lists of rows or NumPy arrays, of Values and numbers, and eliminate with partial pivoting, as LAPACK does
(Golub & Van Loan, *Matrix Computations*, 3.4). In a trace, which row has the pivot is selected, element by element, so
that a program stands for each choice; in exact mode, and of large matrices, the choice is a guard.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import engine, errors, habits
from .engine import Value
from .engine.numbers import to_float, to_tuple

__all__ = ["det", "inv", "solve"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise habits.elsewhere("module 'retrograd.linalg'", name, habits.LINALG)


_Row = list[Any]
_Matrix = list[_Row]

#: Of a matrix with so many rows at most the elements are selected in a trace: that takes about n³ operations.
_MOST_SELECTED = 8


def solve(a: Any, b: Any) -> Any:
    """The solution x of ``a @ x == b``, as ``numpy.linalg.solve``.

    Elimination of n unknowns records about 2 n³ / 3 nodes. A backward pass through them is the solution with the
    transposed matrix, which the formula for the derivative asks for.

    Args:
        a: A square matrix: a list of rows or a NumPy array with two axes, of Values and numbers.
        b: The right-hand side: a sequence of n numbers, or n rows of as many numbers as there are systems.

    Returns:
        The solution in the shape of ``b``: a list, or an array where ``b`` is one (of floats when no Value is
        involved).

    Raises:
        SingularMatrixError: A pivot is zero: no solution exists, or more than one.
        TypeError: An element is neither a Value nor a real number.
        ValueError: ``a`` is not square, or ``b`` has not as many rows.

    Example:
        >>> import retrograd as rg
        >>> k = rg.Value(4.0)
        >>> x = rg.linalg.solve([[k, 1.0], [1.0, 3.0]], [1.0, 2.0])
        >>> round(x[1].data, 12), round(rg.gradient(x[1], k), 12)
        (0.636363636364, 0.00826446281)
    """
    matrix = _square(a, "solve")
    rows = [_elements(row) if _is_row(row) else row for row in to_tuple(b, "solve")]
    if len(rows) != len(matrix):
        raise errors.wrong_length("solve", f"a right-hand side of {len(matrix)} rows", len(rows))
    one = not any(isinstance(row, list) for row in rows)
    sides: _Matrix = [[_number(row)] for row in rows] if one else [list(map(_number, row)) for row in rows]
    if len({len(row) for row in sides}) > 1:
        raise ValueError("solve needs rows of equal length on the right-hand side.")
    solution = _solved(matrix, sides)
    answer: Any = [row[0] for row in solution] if one else solution
    return _array(answer, np.shape(b)) if isinstance(b, np.ndarray) else answer


def inv(a: Any) -> Any:
    """The inverse of a square matrix, as ``numpy.linalg.inv``. To solve equations, :func:`solve` costs a third of it.

    Args:
        a: A square matrix: a list of rows or a NumPy array with two axes, of Values and numbers.

    Returns:
        The inverse: a list of rows, or an array where ``a`` is one.

    Raises:
        SingularMatrixError: The matrix has no inverse.
        TypeError: An element is neither a Value nor a real number.
        ValueError: ``a`` is not square.

    Example:
        >>> import retrograd as rg
        >>> rg.linalg.inv([[2.0, 1.0], [1.0, 1.0]])
        [[1.0, -1.0], [-1.0, 2.0]]
    """
    matrix = _square(a, "inv")
    size = range(len(matrix))
    inverse = _solved(matrix, [[float(i == k) for k in size] for i in size])
    return _array(inverse, np.shape(a)) if isinstance(a, np.ndarray) else inverse


def det(a: Any) -> Any:
    """The determinant of a square matrix, as ``numpy.linalg.det``.

    Its derivatives are right at singular matrices, too, where they are minors: elimination goes on to another column
    when one is zero, and what is left, when all of it is zero, is multiplied out without a division.

    Args:
        a: A square matrix: a list of rows or a NumPy array with two axes, of Values and numbers.

    Returns:
        A Value when an element is one, else a float. Of a matrix without rows it is 1.0.

    Raises:
        TypeError: An element is neither a Value nor a real number.
        ValueError: ``a`` is not square.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(2.0)
        >>> d = rg.linalg.det([[x, 4.0], [1.0, x]])  # singular: x * x - 4 is zero
        >>> d.data, rg.gradient(d, x)
        (0.0, 4.0)
    """
    matrix = _square(a, "det")
    factors: _Row = []
    sign = 1.0
    for k in range(len(matrix)):
        column = next((c for c in range(k, len(matrix)) if _largest(matrix, k, c) != 0.0), None)
        if column is None:
            rest = _division_free([row[k:] for row in matrix[k:]])
            break
        if column != k:
            sign = -sign
            for row in matrix:
                row[k], row[column] = row[column], row[k]
        sign *= _bring_up(matrix, k)
        factors.append(matrix[k][k])
        _eliminate(matrix, k, range(k + 1, len(matrix)))
    else:
        rest = 1.0
    return sign * rest * engine.reduce("prod", factors) if len(matrix) else 1.0


# --- elimination --------------------------------------------------------------------------------------------


def _solved(matrix: _Matrix, sides: _Matrix) -> _Matrix:
    """Elimination of ``matrix`` with ``sides`` beside it, and substitution from the last row up. Both are changed."""
    size, width = len(matrix), len(sides[0]) if sides else 0
    both = [row + side for row, side in zip(matrix, sides, strict=True)]
    for k in range(size):
        _bring_up(both, k)
        if _size(both[k][k]) == 0.0:
            raise errors.singular_matrix(k)
        _eliminate(both, k, range(k + 1, size + width))
    solution: _Matrix = [[] for _ in range(size)]
    for i in reversed(range(size)):
        for s in range(size, size + width):
            known = [solution[j][s - size] for j in range(i + 1, size)]
            rest = both[i][s] - engine.reduce("dot", both[i][i + 1 : size], known) if known else both[i][s]
            solution[i].append(rest / both[i][i])
    return solution


def _largest(matrix: _Matrix, first: int, column: int) -> Any:
    """The largest magnitude in ``column``, from row ``first`` on."""
    largest = _size(matrix[first][column])
    for row in matrix[first + 1 :]:
        size = _size(row[column])
        largest = engine.functions["where"](size > largest, size, largest)
    return largest


def _bring_up(matrix: _Matrix, k: int) -> Any:
    """Exchange row k with the one that has the pivot of column k. Gives -1.0 when that changes the sign, else 1.0."""
    largest, tests = _size(matrix[k][k]), []  # whether a row has a larger element than all before it
    for row in matrix[k + 1 :]:
        size = _size(row[k])
        tests.append(size > largest)
        largest = engine.functions["where"](tests[-1], size, largest)
    if len(matrix) <= _MOST_SELECTED and any(map(_may_select, tests)):
        return _select(matrix, k, tests)
    best = max((k + 1 + i for i, test in enumerate(tests) if test), default=k)
    matrix[k], matrix[best] = matrix[best], matrix[k]
    return 1.0 if best == k else -1.0


def _may_select(test: Any) -> bool:
    """Whether a comparison is one of traced numbers, of which a program may stand for both outcomes."""
    return issubclass(type(test), engine.ComparisonTracer) and not test._recorder.is_exact


def _select(matrix: _Matrix, k: int, tests: list[Any]) -> Any:
    """The same where the comparisons are traced: each element of these rows is selected."""
    where = engine.functions["where"]
    columns, top = range(k, len(matrix[k])), [*matrix[k]]
    for row, test in zip(matrix[k + 1 :], tests, strict=True):
        for j in columns:
            matrix[k][j] = where(test, row[j], matrix[k][j])
    later: Any = 0.0  # whether a row below this one has the pivot
    for row, test in zip(reversed(matrix[k + 1 :]), reversed(tests), strict=True):
        has_pivot = where(test, where(later, 0.0, 1.0), 0.0)
        for j in columns:
            row[j] = where(has_pivot, top[j], row[j])
        later = where(test, 1.0, later)
    return where(later, -1.0, 1.0)


def _eliminate(matrix: _Matrix, k: int, columns: range) -> None:
    """Subtract multiples of row k from those below, in ``columns``, so that column k would become zero."""
    for i in range(k + 1, len(matrix)):
        factor = matrix[i][k] / matrix[k][k]
        for j in columns:
            matrix[i][j] = matrix[i][j] - factor * matrix[k][j]


def _division_free(matrix: _Matrix) -> Any:
    """The determinant by Bird's algorithm (2011), which only adds and multiplies, in n**4 operations."""
    size = len(matrix)
    product = matrix
    for _ in range(size - 1):
        upper: _Matrix = [[0.0] * size for _ in range(size)]
        below: Any = 0.0  # minus the sum of the diagonal below row i
        for i in reversed(range(size)):
            upper[i][i] = below
            upper[i][i + 1 :] = product[i][i + 1 :]
            below = below - product[i][i]
        product = [[engine.reduce("dot", row, column) for column in zip(*matrix, strict=True)] for row in upper]
    return product[0][0] if size % 2 else -product[0][0]


# --- what comes in and goes out -----------------------------------------------------------------------------


def _size(x: Any) -> Any:
    """The magnitude as a plain number."""
    return abs(x.data if isinstance(x, Value) else x)


def _is_row(thing: Any) -> bool:
    return isinstance(thing, (Sequence, np.ndarray)) and not isinstance(thing, str)


def _elements(row: Any) -> list[Any]:
    return row.tolist() if isinstance(row, np.ndarray) else list(row)


def _number(x: Any) -> Any:
    """A Value, or a float; of a float that is traced its tracer."""
    if isinstance(x, Value):
        return x
    tracer = isinstance(x, float) and not issubclass(type(x), float)
    return x if tracer else to_float(x, "a matrix")


def _square(a: Any, where: str) -> _Matrix:
    """The rows of a square matrix as new lists. Raises ValueError for another shape."""
    rows = to_tuple(a, where)
    matrix = [[_number(x) for x in _elements(row)] if _is_row(row) else [] for row in rows]
    lengths = {len(row) for row in matrix}
    if lengths - {len(rows)} or not all(map(_is_row, rows)):
        shape = "rows of different lengths" if len(lengths) > 1 else f"{len(rows)} by {max(lengths, default=0)} numbers"
        raise ValueError(f"{where} needs a square matrix, a list of n rows of n numbers, and got {shape}.")
    return matrix


def _array(items: Any, shape: tuple[int, ...]) -> Any:
    """A nested list as an array: of floats, or of objects when there is a Value."""
    flat = [x for row in items for x in row] if len(shape) > 1 else items
    if all(type(x) is float for x in flat):
        return np.array(flat, dtype=np.float64).reshape(shape)
    filled = np.empty(math.prod(shape), dtype=object)
    filled[:] = flat
    return filled.reshape(shape)
