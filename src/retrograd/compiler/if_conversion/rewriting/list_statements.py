"""Writes what makes lists, and what loops over them, for lists of which decisions choose the items that they have."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from .jumps import has_jumps
from .tree import assign, at, copied, is_of_arms, later, load, of_arms

__all__ = [
    "KEEP_IN_ORDER",
    "LIST_FUNCTIONS",
    "asks_for_entry",
    "is_written_for_lists",
    "write_deletions",
    "write_for_lists",
]

#: Python's functions that are asked of such lists.
LIST_FUNCTIONS = frozenset(
    {
        *("all", "any", "enumerate", "filter", "len", "list", "map", "max", "min"),
        *("range", "reversed", "sorted", "sum", "zip"),
    }
)
_CHANGES = frozenset({"__delitem__", "append", "appendleft", "clear", "extend", "insert", "pop", "popleft", "remove"})
#: Of those, such as add an item that is given.
_ADDS = frozenset({"append", "appendleft", "insert"})
#: Functions that change their first argument.
KEEP_IN_ORDER = frozenset(
    {
        *("heapify", "heappop", "heappush", "heappushpop", "heapreplace"),
        *("insort", "insort_left", "insort_right"),
    }
)
_ENTRY = "_rg_entry"

#: What is written so.
WRITTEN = (
    *("changing", "changing_in", "entries", "is_absent", "is_there", "item_of"),
    *("generators.collected", "generators.sources_of"),
)


def write_deletions(function: ast.FunctionDef) -> None:
    """Write, in place, each ``del things[i]`` of a function as the call of a method."""
    _Deletions().generic_visit(function)


class _Deletions(ast.NodeTransformer):
    def visit_Delete(self, node: ast.Delete) -> ast.stmt | list[ast.stmt]:
        parts = [one for one in node.targets if isinstance(one, ast.Subscript) and not isinstance(one.slice, ast.Slice)]
        if len(parts) != len(node.targets):
            return node
        methods = [ast.Attribute(one.value, "__delitem__", ast.Load()) for one in parts]
        calls = [ast.Call(method, [one.slice], []) for method, one in zip(methods, parts, strict=True)]
        return [at(ast.Expr(at(call, node)), node) for call in calls]


def write_for_lists(function: ast.FunctionDef) -> bool:
    """Let lists that a function changes be partial, and its loops run over their entries; in place. Whether it does."""
    calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
    changed = [one.func.value for one in calls if isinstance(one.func, ast.Attribute) and one.func.attr in _CHANGES] + [
        one.args[0] for one in calls if one.args and _name_of(one.func) in KEEP_IN_ORDER
    ]
    names = {one.id for one in changed if isinstance(one, ast.Name)}
    attributes = any(isinstance(one, ast.Attribute) for one in changed)
    of_lists = {one.value.id for one in changed if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name)}
    writer = _Writer(names, of_lists, attributes)
    writer.generic_visit(function)
    return writer.found


def asks_for_entry(test: ast.AST) -> bool:
    """Whether a test asks whether an item is there."""
    return is_of_arms(test, "is_there") or is_of_arms(test, "is_absent")


def is_written_for_lists(node: ast.Call) -> bool:
    """Whether a call was none of the function's."""
    return any(is_of_arms(node, name) for name in WRITTEN)


class _Writer(ast.NodeTransformer):
    """Writes one function.

    Args:
        changed: the variables that hold lists which are changed.
        of_lists: those of what holds such lists.
        attributes: whether lists are changed that objects hold.
    """

    def __init__(self, changed: Collection[str], of_lists: Collection[str], attributes: bool) -> None:
        self._changed, self._of_lists, self._attributes, self._loops = changed, of_lists, attributes, 0
        self.found = False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            node.value = self._value(target, node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self._value(node.target, node.value)
        return node

    def _value(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            value.elts = [self._value(one, each) for one, each in zip(target.elts, value.elts, strict=True)]
            return value
        if isinstance(target, ast.Name) and target.id in self._of_lists:
            value = _with_items(value, self._changing)
            return self._changing(value) if target.id in self._changed else value
        value = self._with_lists_in_it(value) if self._attributes else value
        # An empty list is made to be changed, though it may have another name there, or in another function.
        is_changed = isinstance(target, ast.Name) and (target.id in self._changed or _is_empty(value))
        return self._changing(value) if is_changed or isinstance(target, ast.Attribute) else value

    def _with_lists_in_it(self, value: ast.expr) -> ast.expr:
        """What may make an object, or several, that hold empty lists."""
        if not isinstance(value, ast.Call) or _makes_list(value):
            return _with_items(value, self._with_lists_in_it)
        self.found = True
        return at(of_arms("changing_in", value), value)

    def _changing(self, value: ast.expr) -> ast.expr:
        if not _makes_list(value):
            return value
        self.found = True
        maker = [later(copied(value.func))] if isinstance(value, ast.Call) else []
        return at(of_arms("changing", value, *maker), value)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        of = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS else None
        if isinstance(of, ast.Name) and of.id in self._of_lists:
            node.args = list(map(self._changing, node.args))
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        self._loops, self.found = self._loops + 1, True
        name = f"{_ENTRY}{self._loops}"
        there = at(of_arms("is_there", load(name)), node.iter)
        body = [at(assign(node.target, of_arms("item_of", load(name))), node.target), *node.body]
        if has_jumps(node.body):
            there = at(of_arms("is_absent", load(name)), node.iter)
            body = [at(ast.If(there, [at(ast.Continue(), node.iter)], []), node.iter), *body]
        else:
            body = [at(ast.If(there, body, []), node.iter)]
        over = at(of_arms("entries", node.iter), node.iter)
        return at(ast.For(at(ast.Name(name, ast.Store()), node.target), over, body, node.orelse), node)


def _with_items(value: ast.expr, write: Callable[[ast.expr], ast.expr]) -> ast.expr:
    """What makes a list or a dictionary, each item of which is written."""
    if isinstance(value, ast.List):
        value.elts = list(map(write, value.elts))
    elif isinstance(value, ast.ListComp):
        value.elt = write(value.elt)
    elif isinstance(value, ast.Dict):
        value.values = list(map(write, value.values))
    elif isinstance(value, ast.DictComp):
        value.value = write(value.value)
    return value


def _is_empty(value: ast.expr) -> bool:
    return not (value.args if isinstance(value, ast.Call) else getattr(value, "elts", [value]))


def _makes_list(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return _name_of(value.func) in ("list", "deque")
    return isinstance(value, (ast.List, ast.ListComp))


def _name_of(function: ast.expr) -> str:
    """The name of a function, or of a method."""
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
