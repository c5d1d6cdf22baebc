"""What an arm computes with, reads, loops over, and calls."""

from __future__ import annotations

import enum
import inspect
import itertools
import math
import types
from collections import defaultdict, deque, namedtuple
from typing import Any

import numpy as np

from .... import engine
from .... import math as our_math
from ....index import IndexTracer
from ...tracing.bool_tracer import BoolTracer
from ...tracing.choice_tracer import CHOICES
from ..tracers.frozen_list import FrozenList
from ..tracers.test_array import TestArray
from .selections import NUMBERS

__all__ = [
    "CONTAINERS",
    "ITERATORS",
    "OF_ARRAYS",
    "OPERANDS",
    "PURE",
    "STILL",
    "VIEWS",
    "may_be_read_on",
]

#: What arithmetic on which has no effect.
OPERANDS: frozenset[type] = NUMBERS | {
    BoolTracer,
    *CHOICES,
    FrozenList,
    IndexTracer,
    TestArray,
    bool,
    complex,
    str,
    type(None),
    tuple,
    list,
    range,
    np.ndarray,
}
#: What is read by subscripts and loops without effect.
CONTAINERS: frozenset[type] = frozenset({list, tuple, FrozenList, deque, dict, str, range, np.ndarray})
#: What loops over them give.
VIEWS: frozenset[type] = frozenset({type({}.items()), type({}.keys()), type({}.values())})
#: What is read once. An arm reads what it has made.
ITERATORS: frozenset[type] = frozenset(
    {
        *(zip, enumerate, map, filter, reversed, type(reversed([])), type(reversed(range(0))), types.GeneratorType),
        *(itertools.starmap, itertools.accumulate, itertools.chain, itertools.pairwise, itertools.product),
        *(itertools.combinations, itertools.permutations, itertools.islice, itertools.zip_longest),
        *(itertools.count, itertools.repeat, itertools.cycle),
    }
)
#: What descriptors of a class give without running code.
STILL: tuple[type, ...] = (
    types.FunctionType,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.BuiltinFunctionType,
    enum.property,
    staticmethod,
    classmethod,
    type(inspect.getattr_static(namedtuple("Field", "name"), "name")),
)

#: Functions that only compute.
PURE: frozenset[Any] = frozenset(
    [
        *(abs, len, sum, pow, range, zip, enumerate, reversed, list, tuple, float, int, bool),
        *(dict, deque, defaultdict),
        *(max, min, math.prod),
        *(one for name, one in vars(math).items() if callable(one)),
        *(one for name, one in vars(our_math).items() if isinstance(one, types.BuiltinFunctionType)),
        *engine.functions.values(),
        *(np.sum, np.mean, np.prod, np.cumsum, np.diff, np.dot, np.inner, np.outer, np.cross, np.trace),
        *(np.array, np.zeros, np.ones, np.full, np.eye, np.arange, np.linspace, np.concatenate, np.stack, np.roll),
    ]
)
#: Methods of arrays that only compute.
OF_ARRAYS: frozenset[str] = frozenset(
    {"copy", "cumsum", "dot", "flatten", "mean", "prod", "ravel", "reshape", "sum", "tolist"}
)


def may_be_read_on(thing: Any) -> bool:
    """Whether a loop may read more items than the function does: no other code reads them, and reading runs none."""
    kind = type(thing)
    if kind is _BY_INDEX:  # of an array
        return type(thing.__reduce__()[1][0]) in CONTAINERS
    if kind in (zip, enumerate, reversed):
        parts = thing.__reduce__()[1]
        return all(may_be_read_on(one) for one in (parts if kind is zip else parts[:1]))
    return kind in CONTAINERS or kind in _ITERATORS or kind is enum.EnumMeta


_BY_INDEX: type = type(iter(np.empty(0)))
_ITERATORS = frozenset(
    type(one)
    for one in (
        *map(iter, ([], (), {}, "", range(0), {}.items(), {}.values())),
        *(reversed([]), itertools.count(), itertools.repeat(0)),
        *({}.items(), {}.keys(), {}.values()),
    )
)
