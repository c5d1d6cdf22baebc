"""Comparisons, and what is true."""

from __future__ import annotations

import ast
import dataclasses
from types import FunctionType
from typing import Any

import numpy as np

from ...backends.llvm.ir_builder import constant
from ..frame import Frame, split
from ..ir.arithmetic import Typed
from ..types import (
    ANY_NUMBER,
    BOOL,
    MEMBER,
    MIXED,
    NONE,
    NUMPY,
    NUMPY_INT,
    TEXT,
    TRUTH,
    UNKNOWN,
    Instance,
    ListType,
    NotTypedError,
    Optional,
    Static,
    Tuple,
    Type,
    Union,
    is_number,
    is_real,
    is_whole,
)
from .choices import of_each
from .containers import load_field, not_given
from .keys import equal_to_itself, found_at
from .library.in_python import equal_lists
from .library.sets import compared_sets, is_set
from .library.texts import of_text

__all__ = ["compared", "compared_in_a_row", "condition", "negated", "truth"]

_COMPARED = {
    ast.Lt: ("olt", "slt"),
    ast.LtE: ("ole", "sle"),
    ast.Gt: ("ogt", "sgt"),
    ast.GtE: ("oge", "sge"),
    ast.Eq: ("oeq", "eq"),
    ast.NotEq: ("une", "ne"),
}


# --- tests --------------------------------------------------------------------------------------------------


def _bit(known: bool) -> str:
    return "true" if known else "false"


def _known(known: bool) -> Typed:
    return Typed(BOOL, (_bit(known),), known=known)


def truth(f: Frame, value: Typed) -> Typed:
    """What ``bool()`` gives."""
    kind = value.kind
    if kind is BOOL:
        return value
    if kind is TRUTH:
        return Typed(BOOL, value.parts)
    if kind is UNKNOWN:
        f.w.bail()
        return Typed(BOOL, ("false",))
    if (value.known is not None and kind is not MEMBER) or kind is NONE:  # an Enum may have a truth of its own
        return _known(bool(value.known))
    if isinstance(kind, Optional):
        result, there, end = f.w.allocate("i1"), f.w.name("there"), f.w.name("end")
        f.w.store("i1", "false", result)
        f.w.branch(value.parts[0], there, end)
        f.w.block(there)
        f.w.store("i1", truth(f, Typed(kind.item, value.parts[1:])).number, result)
        f.w.block(end)
        return Typed(BOOL, (f.w.load("i1", result),))
    if is_whole(kind):
        return Typed(BOOL, (f.w.emit(f"icmp ne i64 {value.number}, 0"),))
    if is_real(kind):
        return Typed(BOOL, (f.w.emit(f"fcmp une double {value.number}, {constant(0.0)}"),))
    if isinstance(kind, ListType) and kind.kind is not np.ndarray:  # of which each item is asked
        return Typed(BOOL, (f.w.emit(f"icmp ne i64 {f.w.load('i64', value.number)}, 0"),))
    if kind is TEXT:
        return Typed(BOOL, (f.w.emit(f"icmp ne i64 {value.number}, {f.program.text('')}"),))
    if isinstance(kind, Tuple):
        return _known(bool(kind.items))
    if isinstance(kind, Instance) and kind.is_record:
        return _known(bool(kind.layout.fields))
    if isinstance(kind, Union):
        return of_each(f, value, (truth, kind), lambda one: truth(f, one))
    if isinstance(kind, Static) and isinstance(kind.thing, (FunctionType, type)):
        return _known(True)
    if isinstance(kind, Instance) and not {"__bool__", "__len__"} & {*dir(kind.layout.kind)}:
        return _known(True)
    raise NotTypedError(f"it tests {kind}")


def condition(f: Frame, node: ast.expr) -> Typed:
    """Whether an expression is true; its parts need no type in common."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return negated(f, condition(f, node.operand))
    if not isinstance(node, ast.BoolOp):
        return truth(f, f.evaluated(node))
    stops_at = isinstance(node.op, ast.Or)
    result, end = f.w.allocate("i1"), f.w.name("tested")
    known = True
    for i, part in enumerate(node.values):
        test = condition(f, part)
        f.w.store("i1", test.number, result)
        if test.known == stops_at:
            if known:
                return test
            break
        known = known and test.known is not None
        if i + 1 < len(node.values) and test.known is None:
            on = f.w.name("on")
            f.w.branch(test.number, *((end, on) if stops_at else (on, end)))
            f.w.block(on)
    f.w.block(end)
    return _known(not stops_at) if known else Typed(BOOL, (f.w.load("i1", result),))


def negated(f: Frame, test: Typed) -> Typed:
    """``not test``."""
    if test.known is not None:
        return _known(not test.known)
    return Typed(BOOL, (f.w.emit(f"xor i1 {test.number}, true"),))


def compared_in_a_row(f: Frame, node: ast.Compare) -> Typed:
    left = f.evaluated(node.left)
    if len(node.ops) == 1:
        return compared(f, node.ops[0], *_sides(f, left, f.evaluated(node.comparators[0])))
    result, end = f.w.allocate("i1"), f.w.name("chain")
    kind: Type = BOOL
    for i, (operator, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = f.evaluated(comparator)
        test = compared(f, operator, *_sides(f, left, right))
        kind = test.kind if kind is BOOL else kind
        f.w.store("i1", test.number, result)
        if i + 1 < len(node.ops):
            on = f.w.name("link")
            f.w.branch(test.number, on, end)
            f.w.block(on)
        left = right
    f.w.block(end)
    return Typed(kind, (f.w.load("i1", result),))


def _sides(f: Frame, *sides: Typed) -> tuple[Typed, ...]:
    """What is compared: no numbers need nodes for that."""
    return sides if all(is_number(side.kind) for side in sides) else tuple(map(f.settled, sides))


def compared(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    """A comparison of two values."""
    if isinstance(operator, (ast.Is, ast.IsNot)):
        return _identity(f, operator, one, other)
    if isinstance(operator, (ast.In, ast.NotIn)):
        return _membership(f, operator, one, other)
    if UNKNOWN in (one.kind, other.kind):
        f.w.bail()
        return Typed(BOOL, ("false",))
    equality = isinstance(operator, (ast.Eq, ast.NotEq))
    if equality and (one.kind is NONE or other.kind is NONE):
        return _identity(f, ast.Is() if isinstance(operator, ast.Eq) else ast.IsNot(), one, other)
    if equality and (isinstance(one.kind, Optional) or isinstance(other.kind, Optional)):
        return _maybe_equal(f, operator, one, other)
    one, other = f.there(one), f.there(other)
    if NONE in (one.kind, other.kind):  # the function itself raises, unless something else comes there first
        f.w.bail()
        return Typed(BOOL, ("false",))
    if isinstance(one.kind, Instance) or isinstance(other.kind, Instance):
        return _by_method(f, operator, one, other)
    if is_set(one) and is_set(other):
        return compared_sets(f, operator, one, other)
    if isinstance(one.kind, ListType) and isinstance(other.kind, ListType) and equality:
        return _lists(f, operator, one, other)
    of_reals, of_ints = _COMPARED[type(operator)]
    if is_number(one.kind) and is_number(other.kind):
        if is_real(one.kind) or is_real(other.kind):
            numbers = f"{f.math.real(one).number}, {f.math.real(other).number}"
            return Typed(_given_by(f, one, other), (f.w.emit(f"fcmp {of_reals} double {numbers}"),))
        numbers = f"{f.math.integer(one).number}, {f.math.integer(other).number}"
        return Typed(_given_by(f, one, other), (f.w.emit(f"icmp {of_ints} i64 {numbers}"),))
    if one.kind is other.kind is TEXT and not equality:
        return _texts(f, of_ints, one, other)
    if one.kind in (TEXT, MEMBER) and one.kind is other.kind and equality:
        if isinstance(one.known, str) and isinstance(other.known, str):
            return _known((one.known == other.known) == isinstance(operator, ast.Eq))
        return Typed(BOOL, (f.w.emit(f"icmp {of_ints} i64 {one.number}, {other.number}"),))
    if isinstance(one.kind, Tuple) and isinstance(other.kind, Tuple):
        return _tuples(f, operator, split(one), split(other))
    if isinstance(one.kind, (Static, Union)) and isinstance(other.kind, Static) and equality:
        return _identity(f, ast.Is() if isinstance(operator, ast.Eq) else ast.IsNot(), one, other)
    raise NotTypedError(f"it compares {one.kind} with {other.kind}")


def _given_by(f: Frame, *values: Typed) -> Type:
    """The type of what a comparison of numbers gives: a bool of NumPy's, if one of them may be NumPy's."""
    of_numpy = (NUMPY, NUMPY_INT, MIXED, ANY_NUMBER) if f.program.has_numpy else ()
    kinds = [one.kind.item if isinstance(one.kind, Optional) else one.kind for one in values]
    return TRUTH if any(kind in of_numpy for kind in kinds) else BOOL


def _texts(f: Frame, relation: str, one: Typed, other: Typed) -> Typed:
    """The order of two texts, if the program had seen both when its code was made."""
    ranks = [f.w.emit(f"call i64 @text_rank(i64 {each.number})") for each in (one, other)]
    for rank in ranks:
        f.w.bail_if(f.w.emit(f"icmp slt i64 {rank}, 0"))
    return Typed(BOOL, (f.w.emit(f"icmp {relation} i64 {ranks[0]}, {ranks[1]}"),))


def _maybe_equal(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    """Whether what may be None is equal to something."""
    if isinstance(one.kind, Optional) and isinstance(other.kind, Optional):
        return _both_equal(f, operator, one, other)
    maybe, rest = (one, other) if isinstance(one.kind, Optional) else (other, one)
    assert isinstance(maybe.kind, Optional)
    result, yes, end = f.w.allocate("i1"), f.w.name("there"), f.w.name("end")
    f.w.store("i1", "false", result)
    f.w.branch(maybe.parts[0], yes, end)
    f.w.block(yes)
    inner = Typed(maybe.kind.item, maybe.parts[1:])
    test = compared(f, ast.Eq(), *((inner, rest) if maybe is one else (rest, inner)))
    f.w.store("i1", test.number, result)
    f.w.block(end)
    return _equal_or_not(f, operator, test.kind, f.w.load("i1", result))


def _both_equal(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    """Whether two values are equal of which each may be None."""
    assert isinstance(one.kind, Optional)
    result, yes, end = f.w.allocate("i1"), f.w.name("there"), f.w.name("end")
    differ = f.w.emit(f"xor i1 {one.parts[0]}, {other.parts[0]}")
    f.w.store("i1", f.w.emit(f"xor i1 {differ}, true"), result)
    f.w.branch(f.w.emit(f"and i1 {one.parts[0]}, {other.parts[0]}"), yes, end)
    f.w.block(yes)
    test = compared(f, ast.Eq(), f.there(one), f.there(other))
    f.w.store("i1", test.number, result)
    f.w.block(end)
    return _equal_or_not(f, operator, test.kind, f.w.load("i1", result))


def _equal_or_not(f: Frame, operator: ast.cmpop, kind: Type, is_equal: str) -> Typed:
    return Typed(kind, (is_equal if isinstance(operator, ast.Eq) else f.w.emit(f"xor i1 {is_equal}, true"),))


_ORDER = {ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__", ast.Eq: "__eq__"}
#: What Python asks of the other instance, where the first one does not say which comes first.
_REFLECTED = {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__"}


def _by_method(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    """A comparison that a class defines."""

    name = _ORDER.get(type(operator), "")
    if isinstance(one.kind, Instance) and isinstance(other.kind, Instance):
        kinds = other.kind.layout.kind, one.kind.layout.kind
        if kinds[0] is not kinds[1] and issubclass(*kinds):
            raise NotTypedError(f"{other.kind} may decide about comparisons with {one.kind}")
    if isinstance(one.kind, Instance) and name and not one.kind.is_record:
        thing = f.program.reads.attribute(one.kind.layout.kind, name)[1]
        if isinstance(thing, FunctionType) and thing.__code__.co_filename != "<string>":
            return _said(f, name, f.call((operator, name), thing, [one, other], {}))
        if thing is object.__eq__ and _is_told_by_identity(f, other):
            return _identity(f, ast.Is(), one, other)
        is_made = isinstance(thing, FunctionType) and dataclasses.is_dataclass(one.kind.layout.kind)
        if is_made and isinstance(other.kind, Instance):
            return _dataclasses(f, operator, one, other)
        if name in _REFLECTED and one.kind == other.kind and _has_no_order(f, one.kind.layout.kind, name):
            f.w.bail()  # the function itself raises
            return Typed(BOOL, ("false",))
    raise NotTypedError(f"it compares {one.kind} with {other.kind}")


def _has_no_order(f: Frame, kind: type, name: str) -> bool:
    """Whether a class leaves it to ``object`` which of two instances comes first."""
    methods = (name, _REFLECTED[name])
    return all(f.program.reads.attribute(kind, one)[1] is getattr(object, one) for one in methods)


def _said(f: Frame, name: str, found: Typed) -> Typed:
    """What a class says of a comparison: Python hands on what is no bool."""
    if found.kind not in (BOOL, TRUTH, UNKNOWN):
        raise NotTypedError(f"its {name} gives {found.kind}")
    return found if found.kind is TRUTH else truth(f, found)


def _is_told_by_identity(f: Frame, value: Typed) -> bool:
    """Whether an instance's class does not say what it is equal to."""
    if not isinstance(value.kind, Instance) or value.kind.is_record:
        return False
    return f.program.reads.attribute(value.kind.layout.kind, "__eq__")[1] is object.__eq__


def _dataclasses(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    """Two instances of a dataclass, by its own method: as their fields in tuples."""
    assert isinstance(one.kind, Instance)
    assert isinstance(other.kind, Instance)
    kind = one.kind.layout.kind
    if other.kind.layout.kind is not kind:
        raise NotTypedError(f"it compares {one.kind} with {other.kind}")
    owner: Any = next(base for base in kind.__mro__ if _ORDER[type(operator)] in vars(base))  # whose fields it compares
    names = [one.name for one in dataclasses.fields(owner) if one.compare]
    fields = [[load_field(f, each, name) for name in names] for each in (one, other)]
    found = _tuples(f, operator, *fields)
    return Typed(_given_by(f, *fields[0], *fields[1]), found.parts) if names else found  # since Python 3.13, of each


def _lists(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    """Whether two lists have equal items."""

    assert isinstance(one.kind, ListType)
    assert isinstance(other.kind, ListType)
    if one.kind.kind is not list or other.kind.kind is not list:
        raise NotTypedError(f"it compares {one.kind} with {other.kind}")
    found = truth(f, f.call(operator, equal_lists, [one, other], {}))
    return found if isinstance(operator, ast.Eq) else negated(f, found)


def _tuples(f: Frame, operator: ast.cmpop, ones: list[Typed], others: list[Typed]) -> Typed:
    """Tuples in the order of their first items that differ."""
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        found = _known(len(ones) == len(others))
        for pair in zip(ones, others, strict=False) if found.known else ():
            equal_to_itself(f, pair[0])
            found = Typed(BOOL, (f.w.emit(f"and i1 {found.number}, {compared(f, ast.Eq(), *pair).number}"),))
        return found if isinstance(operator, ast.Eq) else Typed(BOOL, (f.w.emit(f"xor i1 {found.number}, true"),))
    strict = ast.Lt() if isinstance(operator, (ast.Lt, ast.LtE)) else ast.Gt()
    if len(ones) != len(others):
        raise NotTypedError("it compares tuples of different lengths")
    if not all(is_number(one.kind) for one in (*ones, *others)):
        return _one_by_one(f, operator, strict, ones, others)
    for one in ones:
        equal_to_itself(f, one)
    found, kind = _known(isinstance(operator, (ast.LtE, ast.GtE))), _given_by(f, *ones, *others)
    for one, other in reversed([*zip(ones, others, strict=True)]):
        equal, before = compared(f, ast.Eq(), one, other), compared(f, strict, one, other)
        found = Typed(kind, (f.w.emit(f"select i1 {equal.number}, i1 {found.number}, i1 {before.number}"),))
    return found


def _one_by_one(f: Frame, operator: ast.cmpop, strict: ast.cmpop, ones: list[Typed], others: list[Typed]) -> Typed:
    """The order of tuples in which what comes after the first difference may not be compared at all."""
    result, end = f.w.allocate("i1"), f.w.name("end")
    kind: Type = BOOL
    f.w.store("i1", _bit(isinstance(operator, (ast.LtE, ast.GtE))), result)
    for one, other in zip(ones, others, strict=True):
        kinds = [each.kind.item if isinstance(each.kind, Optional) else each.kind for each in (one, other)]
        if any(isinstance(kind, ListType) for kind in kinds):
            f.w.bail()  # such as the lists in sorted(groups.items()), whose keys differ
            break
        differ, on = f.w.name("differ"), f.w.name("on")
        equal_to_itself(f, one)
        f.w.branch(compared(f, ast.Eq(), one, other).number, on, differ)
        f.w.block(differ)
        test = compared(f, strict, one, other)
        kind = test.kind if kind is BOOL else kind
        f.w.store("i1", test.number, result)
        f.w.jump(end)
        f.w.block(on)
    f.w.block(end)
    return Typed(kind, (f.w.load("i1", result),))


def _identity(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    is_same: str | bool
    if UNKNOWN in (one.kind, other.kind):
        f.w.bail()
        is_same = False
    elif NONE in (one.kind, other.kind):
        rest = other if one.kind is NONE else one
        is_same = rest.kind is NONE
        if isinstance(rest.kind, Optional):
            is_same = f.w.emit(f"xor i1 {rest.parts[0]}, true")
    elif isinstance(one.kind, Static) and isinstance(other.kind, Static):
        is_same = one.kind.thing is other.kind.thing
    elif isinstance(one.kind, Union) and other.kind in one.kind.options and isinstance(other.kind, Static):
        is_same = f.w.emit(f"icmp eq i64 {one.number}, {one.kind.options.index(other.kind)}")
    elif one.kind is MEMBER and other.kind is MEMBER:
        is_same = f.w.emit(f"icmp eq i64 {one.number}, {other.number}")
    elif BOOL in (one.kind, other.kind) and one.kind is other.kind:
        is_same = f.w.emit(f"icmp eq i1 {one.number}, {other.number}")
    elif isinstance(one.kind, (ListType, Instance)) and type(one.kind) is type(other.kind):
        for each in (one, other):
            not_given(f, each)  # one may be there twice, of which this makes two
        is_same = f.w.emit(f"icmp eq ptr {one.number}, {other.number}")
    else:
        raise NotTypedError(f"it asks whether {one.kind} is {other.kind}")
    negative = isinstance(operator, ast.IsNot)
    if isinstance(is_same, bool):
        return _known(is_same != negative)
    return Typed(BOOL, (f.w.emit(f"xor i1 {is_same}, {_bit(negative)}"),))


def _membership(f: Frame, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
    other = f.there(other)
    if UNKNOWN in (one.kind, other.kind):
        f.w.bail()
        return Typed(BOOL, ("false",))
    found: Typed
    if isinstance(other.kind, Instance) and other.kind.is_record and isinstance(one.known, str):
        found = _known(one.known in other.kind.layout.fields)
    elif isinstance(other.kind, ListType):
        found = Typed(BOOL, (f.w.emit(f"icmp sge i64 {found_at(f, other, one)}, 0"),))
    elif isinstance(other.kind, Tuple):
        equal_to_itself(f, one)
        found = _known(False)
        for item in split(other):
            found = Typed(BOOL, (f.w.emit(f"or i1 {found.number}, {compared(f, ast.Eq(), one, item).number}"),))
    elif isinstance(other.kind, Instance) and other.kind.is_record and one.kind is TEXT:
        found = _known(False)
        for name in other.kind.layout.fields:
            is_it = f.w.emit(f"icmp eq i64 {one.number}, {f.program.text(name)}")
            found = Typed(BOOL, (f.w.emit(f"or i1 {found.number}, {is_it}"),))
    elif one.kind is other.kind is TEXT and isinstance(whole := other.known, str):
        found = of_text(f, one, ("in", whole), lambda text: text in whole, BOOL)
    elif one.kind is other.kind is TEXT and isinstance(part := one.known, str):
        found = of_text(f, other, ("has", part), lambda text: part in text, BOOL)
    else:
        raise NotTypedError(f"it asks what is in {other.kind}")
    return negated(f, found) if isinstance(operator, ast.NotIn) else found
