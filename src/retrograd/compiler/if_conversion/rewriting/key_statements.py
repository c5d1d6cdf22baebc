"""Writes what makes dictionaries and sets, for such of which decisions choose the keys that they have."""

from __future__ import annotations

import ast
from collections.abc import Collection

from .tree import at, is_of_arms, no_arguments, of_arms

__all__ = ["calls_in_each", "collecting", "is_maker_call", "write_for_keys"]

_MAKERS = frozenset({"dict", "set", "defaultdict", "Counter"})
_CHANGES = frozenset({"add", "clear", "discard", "pop", "popitem", "remove", "setdefault", "update"})
_OF_SETS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)


def write_for_keys(function: ast.FunctionDef) -> bool:
    """Let decisions choose the keys of dictionaries and sets that a function changes; in place. Whether it does."""
    writer = _Writer(_changed_in(function))
    writer.generic_visit(function)
    return writer.found


def is_maker_call(node: ast.Call) -> bool:
    """Whether a call was that of a maker, or puts in what is made."""
    return any(is_of_arms(node, f"makers.{name}") for name in ("Maker", "made", "set_default_of", "store_new"))


def collecting(node: ast.expr) -> tuple[ast.expr, ast.ListComp] | None:
    """What a comprehension makes, or ``set(… for …)``, and a list of its items, or pairs; None of anything else."""
    if isinstance(node, ast.DictComp):
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return ast.Constant("dict"), at(ast.ListComp(pair, node.generators), node)
    if isinstance(node, ast.SetComp):
        return ast.Constant("set"), at(ast.ListComp(node.elt, node.generators), node)
    made = node.args[1:] if isinstance(node, ast.Call) and is_of_arms(node, "makers.made") else None
    given = made[1:] if made is not None else node.args if isinstance(node, ast.Call) and _is_maker(node) else []
    if len(given) != 1 or not isinstance(of := given[0], ast.GeneratorExp) or node.keywords:  # type: ignore[attr-defined]
        return None
    kind = node.args[0] if made is not None else node.func  # type: ignore[attr-defined]
    return kind, at(ast.ListComp(of.elt, of.generators), node)


def calls_in_each(of: ast.GeneratorExp | ast.ListComp) -> bool:
    """Whether something is called of each item, or read in a loop inside, which may tell the order of items."""
    parts = [of.elt, *(test for one in of.generators for test in one.ifs), *(one.iter for one in of.generators[1:])]
    calls = (one for part in parts for one in ast.walk(part) if isinstance(one, (ast.Call, ast.NamedExpr, ast.Yield)))
    return any(not (isinstance(one, ast.Call) and _is_still(one.func)) for one in calls)


def _is_still(function: ast.expr) -> bool:
    """Whether to call a function does nothing but compute, as far as its name says."""
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id in ("math", "np", "rg")
    return isinstance(function, ast.Name) and function.id in ("abs", "float", "int", "len", "max", "min")


def _changed_in(function: ast.FunctionDef) -> set[str]:
    """The variables whose items are stored, or whose methods change them."""
    found: set[str] = set()
    for one in ast.walk(function):
        of: ast.expr | None = None
        if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store):
            of = one.value
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _CHANGES:
            of = one.func.value
        elif isinstance(one, ast.AugAssign) and isinstance(one.op, _OF_SETS):
            of = one.target
        if isinstance(of, ast.Name):
            found.add(of.id)
    return found


class _Writer(ast.NodeTransformer):
    """``changed``: the variables that hold what is changed."""

    def __init__(self, changed: Collection[str]) -> None:
        self._changed = changed
        self.found = False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            node.value = self._value(target, node.value)
        self.generic_visit(node)
        target, kind = node.targets[0], _empty(node.value)
        if kind is None or len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        if isinstance(target.slice, ast.Slice):
            return node
        self.found = True
        target = at(ast.Subscript(target.value, target.slice, ast.Load()), target)
        return at(ast.Expr(at(of_arms("makers.store_new", target.value, target.slice, kind), node)), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self._value(node.target, node.value)
        self.generic_visit(node)
        return node

    def _value(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            value.elts = [self._value(one, each) for one, each in zip(target.elts, value.elts, strict=True)]
            return value
        is_new = isinstance(value, ast.Call) and _is_maker(value) and _name_of(value) not in ("dict", "set")
        is_changed = isinstance(target, ast.Attribute) or (isinstance(target, ast.Name) and target.id in self._changed)
        if not is_changed and not (is_new and isinstance(target, ast.Name)):
            return value
        if isinstance(value, ast.Call) and _is_maker(value) and _is_whole(value):
            return self._made(value, True)
        is_display = isinstance(value, (ast.Set, ast.SetComp, ast.DictComp))
        if not is_display and not (isinstance(value, ast.Dict) and None not in value.keys):
            return value
        self.found = True
        return at(of_arms("changing", value), value)

    def _made(self, node: ast.Call, is_changed: bool) -> ast.expr:
        self.found |= is_changed
        if _name_of(node) == "defaultdict" and node.args:
            node.args[0] = _maker_of(node.args[0])
        made = of_arms("makers.made", node.func, ast.Constant(is_changed), *node.args)
        assert isinstance(made, ast.Call)
        made.keywords = node.keywords
        return at(made, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if is_of_arms(node, "makers.made"):
            return node
        if _is_maker(node) and _is_whole(node) and node.args:
            return self._made(node, False)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault" and len(node.args) == 2:
            if node.keywords or (kind := _empty(node.args[1])) is None:
                return node
            self.found = True
            return at(of_arms("makers.set_default_of", node.func.value, node.args[0], kind), node)
        return node


def _maker_of(node: ast.expr) -> ast.expr:
    """``lambda: []``, or the like, as what is known to make a list."""
    if not isinstance(node, ast.Lambda) or ast.dump(node.args) != ast.dump(no_arguments()):
        return node
    made = node.body
    if (kind := _empty(made)) is not None:
        return at(of_arms("makers.Maker", kind), node)
    if isinstance(made, ast.Call) and _is_maker(made) and _is_whole(made) and not made.keywords:
        return at(of_arms("makers.Maker", made.func, *map(_maker_of, made.args)), node)
    return node


def _name_of(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _is_maker(node: ast.Call) -> bool:
    is_of_module = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    return _name_of(node) in _MAKERS and (isinstance(node.func, ast.Name) or is_of_module)


def _is_whole(node: ast.Call) -> bool:
    return not any(isinstance(one, ast.Starred) for one in node.args) and all(one.arg for one in node.keywords)


def _empty(node: ast.expr) -> ast.expr | None:
    """What makes an empty list, dictionary or set: its name, or the function; None of anything else."""
    if isinstance(node, ast.List) and not node.elts:
        return ast.Constant("list")
    if isinstance(node, ast.Dict) and not node.keys:
        return ast.Constant("dict")
    is_call = isinstance(node, ast.Call) and not node.args and not node.keywords and isinstance(node.func, ast.Name)
    return node.func if is_call and node.func.id in ("list", "dict", "set") else None  # type: ignore[attr-defined]
