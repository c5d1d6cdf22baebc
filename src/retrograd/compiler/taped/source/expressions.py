"""Expressions: each gives a value with its type, as Python would compute it."""

from __future__ import annotations

import ast
import operator as operators
from collections import deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ..constants import constant_of
from ..frame import Frame, split
from ..ir.arithmetic import Typed
from ..reads import is_constant
from ..types import (
    BOOL,
    BOUNDED,
    FLOAT,
    INT,
    NONE,
    NUMPY_INT,
    TEXT,
    TRUTH,
    UNKNOWN,
    VALUE,
    Bound,
    Instance,
    Layout,
    ListType,
    NotTypedError,
    Static,
    Tuple,
    Union,
    is_number,
    is_real,
    is_whole,
    join,
)
from .choices import choice, of_each
from .classes import is_super, of_super
from .comparisons import condition, negated, truth
from .containers import (
    added,
    concatenated,
    item_of,
    length,
    load_field,
    made_list,
    repeated,
    sliced,
)
from .library.in_python import power_of_ints
from .library.sets import OF_SETS, is_set, of_sets
from .library.texts import formatted, joined
from .memory import LAST_WORD

__all__ = ["EXPRESSIONS", "OPERATORS", "attribute_of", "binary", "bound_parts", "tuple_of"]

_ROWS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
}
_METHODS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
}
#: Functions of the module operator.
OPERATORS: dict[Any, ast.operator] = {
    operators.add: ast.Add(),
    operators.sub: ast.Sub(),
    operators.mul: ast.Mult(),
    operators.truediv: ast.Div(),
    operators.pow: ast.Pow(),
}
#: An int to a larger power is left to the function itself.
_MOST_PRODUCTS = 16


def _constant(f: Frame, node: ast.Constant) -> Typed:
    return constant_of(f.program, node.value)


def _name(f: Frame, node: ast.Name) -> Typed:
    found = f.read(node.id)
    if found is not None:
        return found
    owner: Frame = f
    while owner.outer is not None:
        owner = owner.outer
    key, thing = owner.program.reads.named(owner.function, node.id)
    if type(thing) is range:
        bounds = [constant_of(f.program, one) for one in (thing.start, thing.stop, thing.step)]
        return f.apply(node, Typed(Static(range)), bounds, {})
    return f.constant(key, thing)


def _attribute(f: Frame, node: ast.Attribute) -> Typed:
    if is_super(f, node.value):
        instance, kind, own = of_super(f)
        key, thing = f.program.reads.attribute(kind, node.attr, after=own)
        if isinstance(thing, FunctionType):
            return Typed(Bound(Static(thing), (instance.kind,)), instance.parts)
        return f.call(node, thing.fget, [instance], {}) if isinstance(thing, property) else f.constant(key, thing)
    of = f.there(f.evaluated(node.value))
    if of.kind is UNKNOWN:
        return of
    if isinstance(of.kind, Static):
        return f.constant(*f.program.reads.attribute(of.kind.thing, node.attr))
    if node.attr == "data" and of.kind is VALUE:
        return Typed(FLOAT, (of.number,))
    if isinstance(of.kind, Tuple) and node.attr in getattr(of.kind.kind, "_fields", ()):
        return split(of)[of.kind.kind._fields.index(node.attr)]  # type: ignore[attr-defined]
    if isinstance(of.kind, ListType) and of.kind.kind is np.ndarray and node.attr == "shape":
        return _shape(f, of)
    if isinstance(of.kind, ListType) and of.kind.kind is deque and node.attr == "maxlen":
        is_bounded = of.kind.default is BOUNDED
        return Typed(INT, (f.w.load("i64", f.w.at(of.number, LAST_WORD)),)) if is_bounded else Typed(NONE)
    if isinstance(of.kind, Union):
        return of_each(f, of, (node, "of"), lambda one: attribute_of(f, node, one))
    return attribute_of(f, node, of)


def attribute_of(f: Frame, node: ast.Attribute, of: Typed) -> Typed:
    """An attribute of an instance, or of one of several things; a class without it leaves the call to the function."""
    if isinstance(of.kind, Static):
        return f.constant(*f.program.reads.attribute(of.kind.thing, node.attr))
    if isinstance(of.kind, Instance) and not of.kind.is_record:
        return _attribute_of_instance(f, node, of, of.kind.layout)
    raise NotTypedError(f"it reads .{node.attr} of {of.kind}")


def _shape(f: Frame, array: Typed) -> Typed:
    sizes = []
    while isinstance(array.kind, ListType):
        sizes.append(length(f, array))
        if isinstance(array.kind.item, ListType):
            array = item_of(f, array, Typed(INT, ("0",), known=0))
        else:
            break
    return tuple_of(sizes)


def _attribute_of_instance(f: Frame, node: ast.Attribute, of: Typed, layout: Layout) -> Typed:
    name, of_class = node.attr, None
    if hasattr(layout.kind, name):
        key, thing = f.program.reads.attribute(layout.kind, name)
        if isinstance(thing, property):
            return f.call(node, thing.fget, [of], {})
        if isinstance(thing, FunctionType) and name not in layout.fields:
            return Typed(Bound(Static(thing), (of.kind,)), of.parts)
        if is_constant(thing) and not isinstance(thing, FunctionType):
            of_class = f.constant(key, thing)
    if name not in layout.fields:
        if of_class is not None:
            return of_class
        f.w.bail()  # it may be stored before this is reached, or the class is not asked for it
        return Typed(UNKNOWN)
    if of_class is None:
        return load_field(f, of, name)
    has_own = f.w.emit(f"icmp ne i64 {f.w.load('i64', f.w.at(of.number, layout.offset(name)))}, 0")
    own, other, end = f.w.name("own"), f.w.name("class"), f.w.name("end")
    f.w.branch(has_own, own, other)
    sides: list[tuple[str, Callable[[], Typed]]] = [(own, lambda: load_field(f, of, name)), (other, lambda: of_class)]
    return choice(f, (f.path, id(node)), sides, end)


def _tuple(f: Frame, node: ast.Tuple) -> Typed:
    items = []
    for one in node.elts:
        if isinstance(one, ast.Starred):
            items += split(_as_tuple(f, f.evaluated(one.value)))
        else:
            items.append(f.settled(f.evaluated(one)))
    return tuple_of(items)


def bound_parts(bound: Typed) -> list[Typed]:
    """The function that has some of its arguments, and those."""
    assert isinstance(bound.kind, Bound)
    found, at = [], 0
    for kind in (bound.kind.function, *bound.kind.items):
        found.append(Typed(kind, bound.parts[at : at + len(kind.words)]))
        at += len(kind.words)
    return found


def tuple_of(items: list[Typed]) -> Typed:
    """A tuple of these items."""
    kinds = tuple(item.kind for item in items)
    return Typed(Tuple(kinds), tuple(part for item in items for part in item.parts), items=items)


def _as_tuple(f: Frame, value: Typed) -> Typed:
    if isinstance(value.kind, Tuple):
        return value
    raise NotTypedError(f"it takes the items of {value.kind}")


def _set(f: Frame, node: ast.Set) -> Typed:
    made = made_list(f, node, [], set)
    for one in node.elts:
        added(f, made, f.evaluated(one))
    return made


def _subscript(f: Frame, node: ast.Subscript) -> Typed:
    of = f.there(f.evaluated(node.value))
    if isinstance(node.slice, ast.Slice):
        return sliced(f, node, of, node.slice)
    if isinstance(of.kind, Instance) and not of.kind.is_record:
        thing = f.program.reads.attribute(of.kind.layout.kind, "__getitem__")[1]
        return f.call(node, thing, [of, f.settled(f.evaluated(node.slice))], {})
    if isinstance(node.slice, ast.IfExp) and isinstance(of.kind, Instance):  # a record
        return _either(f, node.slice, lambda key: item_of(f, of, f.evaluated(key)))
    return item_of(f, of, f.evaluated(node.slice))


# --- operators ----------------------------------------------------------------------------------------------


def _binary(f: Frame, node: ast.BinOp) -> Typed:
    return binary(f, node, node.op, f.evaluated(node.left), f.evaluated(node.right))


def binary(f: Frame, node: ast.AST, operator: ast.operator, one: Typed, other: Typed) -> Typed:
    """An operator of two values."""
    one, other = f.there(one), f.there(other)
    if UNKNOWN in (one.kind, other.kind):
        return Typed(UNKNOWN)
    if NONE in (one.kind, other.kind):  # the function itself raises, unless something else comes there first
        f.w.bail()
        return Typed(UNKNOWN)
    row = _ROWS.get(type(operator))
    if row is not None and is_number(one.kind) and is_number(other.kind):
        if is_real(one.kind) or is_real(other.kind) or row == "div":
            return f.math.row(row, one, other)
        return _power_of_ints(f, one, other) if row == "pow" else f.math.of_ints(row, one, other)
    if isinstance(one.kind, Instance) or isinstance(other.kind, Instance):
        return _of_instances(f, node, operator, one, other)
    bits = _BITS.get(type(operator))
    if bits is not None and ((is_whole(one.kind) and is_whole(other.kind)) or {one.kind, other.kind} <= {BOOL, TRUTH}):
        return _of_bits(f, bits, one, other)
    if isinstance(operator, OF_SETS) and is_set(one) and is_set(other):
        return of_sets(f, node, operator, one, other)
    lists = [isinstance(each.kind, ListType) and each.kind.kind is list for each in (one, other)]
    if row == "add" and all(lists):
        return concatenated(f, node, one, other)
    if row == "add" and isinstance(one.kind, Tuple) and isinstance(other.kind, Tuple):
        return tuple_of([*split(one), *split(other)])
    if row == "add" and one.kind is other.kind is TEXT:
        return joined(f, one, other)
    if row == "mul" and any(lists):
        the_list, times = (one, other) if lists[0] else (other, one)
        return repeated(f, node, the_list, f.math.integer(times))
    raise NotTypedError(f"it computes {type(operator).__name__} of {one.kind} and {other.kind}")


_BITS: dict[type[ast.operator], str] = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}


def _of_bits(f: Frame, name: str, one: Typed, other: Typed) -> Typed:
    """An operator between the bits of two ints, or between two bools, which gives a bool."""
    kinds = {one.kind, other.kind}
    if kinds <= {BOOL, TRUTH}:
        return Typed(join(one.kind, other.kind), (f.w.emit(f"{name} i1 {one.number}, {other.number}"),))
    whole = f.math.integer(one).number, f.math.integer(other).number
    return Typed(NUMPY_INT if NUMPY_INT in kinds else INT, (f.w.emit(f"{name} i64 {whole[0]}, {whole[1]}"),))


def _of_instances(f: Frame, node: ast.AST, operator: ast.operator, one: Typed, other: Typed) -> Typed:
    """An operator that a class defines."""

    name = _METHODS.get(type(operator), "")
    if isinstance(one.kind, Instance) and isinstance(other.kind, Instance):
        kinds = other.kind.layout.kind, one.kind.layout.kind
        if kinds[0] is not kinds[1] and issubclass(*kinds):
            raise NotTypedError(f"{other.kind} may decide about operators of {one.kind}")
    for of, given, method in ((one, other, f"__{name}__"), (other, one, f"__r{name}__")):
        if isinstance(of.kind, Instance) and hasattr(of.kind.layout.kind, method):
            thing = f.program.reads.attribute(of.kind.layout.kind, method)[1]
            return f.call((node, name), thing, [of, given], {})
    raise NotTypedError(f"it computes {type(operator).__name__} of {one.kind} and {other.kind}")


#: In place of the source of a call that is the same everywhere.
_POWER = ast.Pass()


def _power_of_ints(f: Frame, one: Typed, other: Typed) -> Typed:
    power, least = other.known, 1 if one.kind is NUMPY_INT else 0  # the product of none is an int of Python's
    if not isinstance(power, int) or not least <= power <= _MOST_PRODUCTS:
        found = f.call(_POWER, power_of_ints, [f.math.integer(one), f.math.integer(other)], {})
        is_numpy = NUMPY_INT in (one.kind, other.kind) and found.kind is INT
        return Typed(NUMPY_INT, found.parts) if is_numpy else found
    found = Typed(INT, ("1",), known=1)
    for _ in range(power):
        found = f.math.of_ints("mul", found, one)
    return found


def _unary(f: Frame, node: ast.UnaryOp) -> Typed:
    if isinstance(node.op, ast.Not):
        return negated(f, condition(f, node.operand))
    value = f.there(f.evaluated(node.operand))
    if value.kind is UNKNOWN:
        return value
    if isinstance(value.kind, Instance) and isinstance(node.op, ast.USub):
        thing = f.program.reads.attribute(value.kind.layout.kind, "__neg__")[1]
        return f.call(node, thing, [value], {})
    if isinstance(node.op, ast.Invert):
        raise NotTypedError("it computes ~")
    found = f.math.plus_or_minus(value, isinstance(node.op, ast.USub))
    if isinstance(value.known, (int, float)) and value.kind is INT:
        known = -value.known if isinstance(node.op, ast.USub) else +value.known
        return Typed(INT, (str(known),), known=known)
    return found


# --- choices ------------------------------------------------------------------------------------------------


def _if_expression(f: Frame, node: ast.IfExp) -> Typed:
    return _either(f, node, f.evaluated)


def _either(f: Frame, node: ast.IfExp, write: Callable[[ast.expr], Typed]) -> Typed:
    """What ``write`` makes of one arm or of the other."""
    test = condition(f, node.test)
    if test.known is not None:
        return write(node.body if test.known else node.orelse)
    yes, no, end = f.w.name("yes"), f.w.name("no"), f.w.name("end")
    f.w.branch(test.number, yes, no)
    sides: list[tuple[str, Callable[[], Typed]]] = [
        (yes, lambda: write(node.body)),
        (no, lambda: write(node.orelse)),
    ]
    return choice(f, (f.path, id(node)), sides, end)


def _bool_op(f: Frame, node: ast.BoolOp) -> Typed:
    stops_at = isinstance(node.op, ast.Or)
    value = f.settled(f.evaluated(node.values[0]))
    for rest in range(1, len(node.values)):
        test = truth(f, value)
        if test.known is not None:
            if test.known == stops_at:
                return value
            value = f.settled(f.evaluated(node.values[rest]))
            continue
        keep, on, end = f.w.name("keep"), f.w.name("on"), f.w.name("end")
        f.w.branch(test.number, *((keep, on) if stops_at else (on, keep)))
        now, other = value, node.values[rest]
        sides: list[tuple[str, Callable[[], Typed]]] = [
            (keep, lambda now=now: now),  # type: ignore[misc]
            (on, lambda other=other: f.evaluated(other)),  # type: ignore[misc]
        ]
        value = choice(f, (f.path, id(node), rest), sides, end)
    return value


def _walrus(f: Frame, node: ast.NamedExpr) -> Typed:
    value = f.evaluated(node.value)
    owner: Frame = f
    while owner.is_comprehension and owner.outer is not None:
        owner = owner.outer
    owner.assign(node.target.id, value)
    return value


def _lambda(f: Frame, node: ast.Lambda) -> Typed:
    return f.local_function(node)


#: What writes an expression of each kind; those that are missing here are in other modules (language.py).
EXPRESSIONS: dict[type[ast.expr], Any] = {
    ast.Constant: _constant,
    ast.JoinedStr: formatted,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Tuple: _tuple,
    ast.Subscript: _subscript,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.IfExp: _if_expression,
    ast.BoolOp: _bool_op,
    ast.NamedExpr: _walrus,
    ast.Set: _set,
    ast.Lambda: _lambda,
}
