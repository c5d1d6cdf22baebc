"""Statements: what a function does, one after another."""

from __future__ import annotations

import ast
import functools
from types import MemberDescriptorType
from typing import Any

from ..constants import has_dict, is_data_descriptor, is_frozen
from ..frame import Frame, Loop, split
from ..ir.arithmetic import Typed
from ..syntax import is_asked_first, names_assigned
from ..types import INT, NONE, UNKNOWN, Instance, Iterated, ListType, NotTypedError, Static, Tuple, join
from .comparisons import condition
from .containers import item_of, made_list, not_given, store_field, store_item
from .expressions import attribute_of, binary, tuple_of
from .library.in_python import replaced
from .library.sets import OF_SETS, is_set, updated
from .loops import as_list, assign_target, extended, fixed_names, loop, taken_now

__all__ = ["STATEMENTS", "store_attribute", "stored"]


def _assign(f: Frame, node: ast.Assign) -> None:
    value = f.evaluated(node.value)
    if isinstance(value.kind, Iterated) and isinstance(node.targets[0], ast.Tuple):
        value = as_list(f, node, value)
    if len(node.targets) > 1:
        value = f.settled(value)
    for target in node.targets:
        assign_target(f, target, value)


def _annotated(f: Frame, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign_target(f, node.target, f.evaluated(node.value))


def _augmented(f: Frame, node: ast.AugAssign) -> None:
    """``target op= value``: what the target consists of is computed once, and a list is extended as it is."""
    target = node.target
    if isinstance(target, ast.Name):
        old = f.there(f.evaluated(ast.copy_location(ast.Name(target.id, ast.Load()), target)))
        if (new := _added_again(f, node, old)) is not None:
            assign_target(f, target, new)
        return
    of = f.there(f.evaluated(target.value))
    if isinstance(target, ast.Subscript) and isinstance(of.kind, Instance) and not of.kind.is_record:
        raise NotTypedError(f"it changes an item of {of.kind} in place")
    if isinstance(target, ast.Subscript):
        if isinstance(of.kind, Tuple):  # which raises, once a list in it has been extended
            raise NotTypedError(f"it changes {of.kind}")
        index = f.settled(f.evaluated(target.slice))
        new = _added_again(f, node, f.there(item_of(f, of, index)))
        if new is not None and new.kind is not UNKNOWN:
            store_item(f, of, index, new)
    elif not isinstance(of.kind, Instance):
        if of.kind is not UNKNOWN:
            raise NotTypedError(f"it changes {of.kind}")
    else:
        _augmented_attribute(f, node, of, target.attr, f.there(attribute_of(f, target, of)))


def _added_again(f: Frame, node: ast.AugAssign, old: Typed) -> Typed | None:
    """What is stored: a list that has been extended, too, where a call may have put another one in its place."""
    new = _added(f, node, old)
    return old if new is None and any(isinstance(one, ast.Call) for one in ast.walk(node.value)) else new


def _augmented_attribute(f: Frame, node: ast.AugAssign, of: Typed, name: str, old: Typed) -> None:
    assert isinstance(of.kind, Instance)
    new = _added(f, node, old)
    if new is not None and new.kind is not UNKNOWN:
        store_attribute(f, of, name, new)
    elif new is None and (not of.kind.layout.is_given or _decides(f, of.kind.layout.kind, name)):
        store_attribute(f, of, name, old)  # which is the same list, but a property is told of it


def _decides(f: Frame, kind: type, name: str) -> bool:
    """Whether a class does more than keep what is assigned to an attribute, or refuses it."""
    of_class = f.program.reads.attribute(kind, name)[1] if hasattr(kind, name) else None
    return is_frozen(kind) or is_data_descriptor(of_class)


def _added(f: Frame, node: ast.AugAssign, old: Typed) -> Typed | None:
    """What ``old op= value`` gives; None for a list, which has been extended."""
    if isinstance(old.kind, ListType):
        if is_set(old) and isinstance(node.op, OF_SETS):
            if not is_set(other := f.evaluated(node.value)):
                raise NotTypedError(f"it computes {type(node.op).__name__}= of a set and {other.kind}")
            updated(f, node, node.op, old, other)
            return None
        if not isinstance(node.op, ast.Add):
            raise NotTypedError(f"it computes {type(node.op).__name__}= of {old.kind}")
        extended(f, node, old, f.evaluated(node.value))
        return None
    if isinstance(old.kind, Instance) and _operators(old.kind.layout.kind):
        raise NotTypedError(f"{old.kind} decides about operators that assign")
    return binary(f, node, node.op, old, f.evaluated(node.value))


def _operators(kind: type) -> set[str]:
    """The methods of a class for ``+=`` and the like."""
    names = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "or", "and", "xor")
    return {f"__i{name}__" for name in names if hasattr(kind, f"__i{name}__")}


def stored(f: Frame, target: ast.Subscript | ast.Attribute, value: Typed) -> None:
    """Store an item or an attribute."""
    of = f.there(f.evaluated(target.value))
    if of.kind is UNKNOWN:
        return
    if isinstance(target, ast.Attribute):
        store_attribute(f, of, target.attr, value)
    elif isinstance(target.slice, ast.Slice):
        _replace(f, target, of, target.slice, value)
    elif isinstance(of.kind, Instance) and not of.kind.is_record:
        thing = f.program.reads.attribute(of.kind.layout.kind, "__setitem__")[1]
        f.call(target, thing, [of, f.settled(f.evaluated(target.slice)), f.settled(value)], {})
    else:
        store_item(f, of, f.evaluated(target.slice), value)


def _replace(f: Frame, node: ast.AST, of: Typed, at: ast.Slice, new: Typed) -> None:
    """``of[from:to] = new``."""
    if not isinstance(of.kind, ListType) or of.kind.kind is not list or at.step is not None:
        raise NotTypedError(f"it stores a slice of {of.kind}")
    not_given(f, of)
    bounds = [f.math.integer(f.there(f.evaluated(one))) if one else None for one in (at.lower, at.upper)]
    start, stop = bounds[0] or Typed(INT, ("0",), known=0), bounds[1] or Typed(INT, (str(2**62),))
    new = taken_now(f, (node, "new"), new)  # after the bounds
    items = made_list(f, (node, "items"), split(new)) if isinstance(new.kind, Tuple) else new
    if items.kind is UNKNOWN:
        f.w.bail()
        return
    f.call((node, "replaced"), replaced, [of, start, stop, items], {})


def store_attribute(f: Frame, of: Typed, name: str, value: Typed, is_field: bool = False) -> None:
    """``of.name = value``; ``is_field``: as the ``__init__`` of a dataclass does it."""
    if not isinstance(of.kind, Instance):
        raise NotTypedError(f"it changes {of.kind}")
    layout, value = of.kind.layout, f.settled(value)
    if layout.is_given:
        raise NotTypedError(f"it changes a {layout.kind.__name__} that it may not have made")
    of_class = f.program.reads.attribute(layout.kind, name)[1] if hasattr(layout.kind, name) else None
    if isinstance(of_class, property) and of_class.fset is not None:
        f.call((of_class, name), of_class.fset, [of, value], {})
        return
    if not isinstance(of_class, MemberDescriptorType) and not has_dict(layout.kind):
        f.w.bail()  # it has no such slot
        return
    if is_data_descriptor(of_class) or (is_frozen(layout.kind) and not is_field):
        raise NotTypedError(f"it stores .{name}, about which {layout.kind.__name__} decides")
    if value.kind is UNKNOWN:
        return
    layout.fields[name] = join(layout.fields.get(name, UNKNOWN), value.kind)
    store_field(f, of, name, value)


def _if(f: Frame, node: ast.If) -> bool:
    test = condition(f, node.test)
    if test.known is not None:
        return f.follow(node.body if test.known else node.orelse)
    yes, no, end = f.w.name("yes"), f.w.name("no"), f.w.name("end")
    f.w.branch(test.number, yes, no)
    f.w.block(yes)
    ends = f.follow(node.body)
    f.w.jump(end)
    f.w.block(no)
    ends = f.follow(node.orelse) and ends
    f.w.block(end)
    return ends


def _while(f: Frame, node: ast.While) -> None:
    head, body, exhausted, end = (f.w.name(one) for one in ("head", "body", "rest", "end"))
    f.w.block(head)
    f.burn()
    f.loops.append(Loop(head, end))
    test = condition(f, node.test)
    if test.known is None:
        f.w.branch(test.number, body, exhausted)
    else:
        f.w.jump(body if test.known else exhausted)
    f.w.block(body)
    f.follow(node.body)
    f.loops.pop()
    f.w.jump(head)
    f.w.block(exhausted)
    f.follow(node.orelse)
    f.w.block(end)


def _for(f: Frame, node: ast.For) -> None:
    assigned = names_assigned(node.body)

    def body(item: Typed) -> None:
        assign_target(f, node.target, item)
        with fixed_names(f, node.target, item, assigned):
            f.follow(node.body)

    loop(f, f.evaluated(node.iter), body, (lambda: f.follow(node.orelse)) if node.orelse else None)


def _break(f: Frame, _: ast.Break) -> None:
    f.w.jump(f.loops[-1].end)


def _continue(f: Frame, _: ast.Continue) -> None:
    f.w.jump(f.loops[-1].next)


def _return(f: Frame, node: ast.Return) -> None:
    if f.give_item is not None:
        f.w.jump(f.end)
        return
    f.give(Typed(NONE) if node.value is None else f.evaluated(node.value))


def _try(f: Frame, node: ast.Try) -> bool:
    """What is tried: where something is raised, the function itself answers the call, and its handlers."""
    leaves = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
    tried = [one for part in (*node.body, *node.orelse) for one in ast.walk(part)]
    if node.finalbody and any(isinstance(one, leaves) for one in tried):
        raise NotTypedError("it leaves what is tried, and something comes finally")
    if node.handlers and any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in tried):
        raise NotTypedError("it yields where an exception is handled, which ends a generator that is left")
    ends = f.follow(node.body) or f.follow(node.orelse)
    return f.follow(node.finalbody) or ends


def _raise(f: Frame, _: ast.Raise) -> None:
    f.w.bail()  # the function itself raises it


def _assert(f: Frame, node: ast.Assert) -> None:
    test = condition(f, node.test)
    f.w.bail_if(f.w.emit(f"xor i1 {test.number}, true"))


def _expression(f: Frame, node: ast.Expr) -> None:
    if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
        _yield(f, node.value)
    elif not isinstance(node.value, ast.Constant):
        f.evaluated(node.value)


def _yield(f: Frame, node: ast.Yield | ast.YieldFrom) -> None:
    if f.give_item is None:
        raise NotTypedError("a generator is used otherwise than in a loop")
    if isinstance(node, ast.YieldFrom):
        loop(f, f.evaluated(node.value), f.give_item)
    else:
        f.give_item(Typed(NONE) if node.value is None else f.settled(f.evaluated(node.value)))


def _define(f: Frame, node: ast.FunctionDef) -> None:
    if node.decorator_list and not _is_kept(f, node):
        raise NotTypedError("it decorates a function")
    assign_target(f, ast.Name(node.name, ast.Store()), f.local_function(node))


def _is_kept(f: Frame, node: ast.FunctionDef) -> bool:
    """Whether a function keeps what it returns, by a decorator of Python's."""
    if not is_asked_first(node):
        return False
    decorator = node.decorator_list[0]
    made = f.evaluated(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return isinstance(made.kind, Static) and made.kind.thing in (functools.cache, functools.lru_cache)


def _delete(f: Frame, node: ast.Delete) -> None:
    from .containers import removed
    from .keys import present

    for target in node.targets:
        if not isinstance(target, ast.Subscript):
            raise NotTypedError("it deletes a name")
        of = f.there(f.evaluated(target.value))
        if of.kind is UNKNOWN:
            continue
        if isinstance(target.slice, ast.Slice):
            _replace(f, target, of, target.slice, tuple_of([]))
            continue
        key = f.evaluated(target.slice)
        if isinstance(of.kind, ListType) and of.kind.kind in (set, frozenset):
            raise NotTypedError(f"it deletes an item of {of.kind}")
        if isinstance(of.kind, ListType) and of.kind.kind is dict:
            key = Typed(INT, (present(f, of, key),))
        removed(f, of, key)


def _pass(f: Frame, node: ast.stmt) -> None:
    """Nothing: ``pass``, and ``nonlocal``, which the frame has been told of."""
    del f, node


#: What writes a statement of each kind.
STATEMENTS: dict[type[ast.stmt], Any] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Try: _try,
    ast.Assert: _assert,
    ast.Expr: _expression,
    ast.FunctionDef: _define,
    ast.Delete: _delete,
    ast.Pass: _pass,
    ast.Nonlocal: _pass,
}
