"""Index, take and table in plain Python."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from retrograd import Index, Value


def test_an_index_is_an_int_that_says_so() -> None:
    i = Index(7)
    assert repr(i) == "Index(7)"
    assert (str(i), f"{i:03d}") == ("7", "007")
    assert i == 7
    assert i < 8
    assert i in {7}
    assert i + 1 == 8
    assert type(i + 1) is int
    assert list("abcdefgh")[i] == "h"
    assert Index(np.int64(3)) == 3
    assert type(pickle.loads(pickle.dumps(i))) is Index
    assert copy.deepcopy(i) == 7


@pytest.mark.parametrize("wrong", [1.5, "7", None, Value(2.0)])
def test_an_index_is_a_whole_number(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"Index\(…\) takes an int or a retrograd.Index and got"):
        Index(wrong)
    with pytest.raises(TypeError, match="takes an int"):
        rg.take([1.0, 2.0, 3.0], wrong)


def test_take_and_table_are_plain_selections_in_plain_python() -> None:
    rows = [[Value(1.0), Value(2.0)], [Value(3.0), Value(4.0)]]
    assert rg.take(rows, 1) is rows[1]
    assert rg.take(rows, Index(0)) is rows[0]
    assert rg.table(rows)[Index(1)] is rows[1]
    assert rg.table([5.0, 6.0])[1] == 6.0
    assert len(rg.table(rows)) == 2
    assert repr(rg.table(rows)) == "<a table of 2 rows>"
    with pytest.raises(TypeError, match="table takes a list, of rows or of numbers, and not int 3"):
        rg.table(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("index", [-1, 3, Index(3), Index(-1)])
def test_there_is_no_element_beyond_the_ends(index: int) -> None:
    with pytest.raises(IndexError, match=f"has elements 0 to 2; it was asked for element {int(index)}"):
        rg.take([1.0, 2.0, 3.0], index)
    with pytest.raises(IndexError, match="no elements"):
        rg.take([], 0)
