"""Pieces of syntax trees: how they are written, and what statements do to variables."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import Any, TypeVar

__all__ = [
    "ARMS",
    "RefusedError",
    "arms",
    "assign",
    "assigned",
    "at",
    "called",
    "copied",
    "function",
    "is_of_arms",
    "later",
    "leaves",
    "load",
    "names",
    "no_arguments",
    "of_arms",
    "parameters",
    "parts_of",
    "reachable",
    "reads",
    "reads_first",
    "surely_assigned",
    "swapped_parts",
    "tried",
]

T = TypeVar("T", bound=ast.AST)

#: What the module is called whose functions converted code calls.
ARMS = "_rg_arms"


class RefusedError(Exception):
    """Something cannot be written as an arm: what it is, in a few words, or the name of its class in a syntax tree."""

    def __str__(self) -> str:
        what = str(self.args[0]) if self.args else ""
        return _WORDS.get(what, what)


_WORDS = {
    "NamedExpr": "an assignment in an expression, :=",
    "Return": "a return",
    "Raise": "a raise",
    "Break": "a break",
    "Continue": "a continue",
    "Try": "a try",
    "TryStar": "a try",
    "With": "a with",
    "Match": "a match",
    "Delete": "a del",
    "Yield": "a yield",
    "YieldFrom": "a yield from",
    "Await": "an await",
    "Nonlocal": "a nonlocal",
    "Global": "a global",
    "ClassDef": "a class",
    "Import": "an import",
    "ImportFrom": "an import",
    "Set": "a set",
    "SetComp": "a set",
}


def copied(node: T) -> T:
    """A piece of syntax with parts of its own. A tree needs none of what makes ``copy.deepcopy`` slow."""
    made = node.__class__.__new__(node.__class__)
    inside = made.__dict__
    inside.update(node.__dict__)
    for name in node._fields:
        part = inside.get(name)
        if isinstance(part, ast.AST):
            inside[name] = copied(part) if part._fields else part
        elif isinstance(part, list):
            inside[name] = [copied(one) if isinstance(one, ast.AST) else one for one in part]
    return made


def parts_of(node: ast.AST) -> list[ast.AST]:
    """The pieces of syntax that one is made of: ``ast.iter_child_nodes``, in half the time."""
    found: list[ast.AST] = []
    inside = node.__dict__
    for name in node._fields:
        part = inside.get(name)
        if isinstance(part, ast.AST):
            found.append(part)
        elif isinstance(part, list):
            found += [one for one in part if isinstance(one, ast.AST)]
    return found


def arms(name: str) -> ast.expr:
    """What has a name in the module of the arms, or in one that this imports: ``places.item``."""
    return functools.reduce(lambda of, part: ast.Attribute(of, part, ast.Load()), name.split("."), load(ARMS))


def of_arms(function: str, *arguments: ast.expr) -> ast.expr:
    """The call of a function of those."""
    return ast.Call(arms(function), list(arguments), [])


def is_of_arms(node: ast.AST, function: str) -> bool:
    """Whether a piece of syntax is such a call."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == function.rpartition(".")[2] and ast.dump(node.func) == ast.dump(arms(function))


def load(variable: str, attribute: str = "") -> ast.expr:
    """A variable, or an attribute of what it has."""
    name = ast.Name(variable, ast.Load())
    return ast.Attribute(name, attribute, ast.Load()) if attribute else name


def called(variable: str, method: str, *arguments: ast.expr) -> ast.expr:
    """The call of a method of what a variable has."""
    return ast.Call(load(variable, method), list(arguments), [])


def tried(body: list[ast.stmt], otherwise: list[ast.stmt]) -> list[ast.stmt]:
    """Statements, and what is done if they raise something."""
    return [ast.Try(body, [ast.ExceptHandler(arms("raised"), None, otherwise)], [], [])]


def no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


def function(name: str, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    written: dict[str, Any] = {"type_params": []}  # which Python 3.12 has
    return ast.FunctionDef(name, arguments, body, [], **written)


def later(expression: ast.expr) -> ast.expr:
    return ast.Lambda(no_arguments(), expression)


def names(names: Sequence[str], context: ast.expr_context) -> ast.expr:
    return ast.Tuple([ast.Name(name, type(context)()) for name in names], context)


def assign(target: str | ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(target, ast.Store()) if isinstance(target, str) else target], value)


def at(node: T, place: ast.AST) -> T:
    """What is written has the lines of what it was, where the user looks for it; so have its parts, in the end."""
    return ast.copy_location(node, place)


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The names of a function's parameters."""
    arguments = node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return frozenset(one.arg for one in every if one is not None)


# --- what statements do to variables ------------------------------------------------------------------------------


def assigned(statements: Sequence[ast.AST]) -> set[str]:
    """The variables that statements may assign."""
    found: set[str] = set()
    rest = list(statements)
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.comprehension):  # whose variables are its own
            rest += [node.iter, *node.ifs]
        else:
            rest += parts_of(node)
    return found


def reads(node: ast.AST) -> set[str]:
    """The variables that a piece of code reads; those of comprehensions in it are their own."""
    found: set[str] = set()
    rest: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]  # with the variables of comprehensions around
    while rest:
        one, own = rest.pop()
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            found.add(one.target.id)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and one.id not in own:
            found.add(one.id)
        inside = own
        if isinstance(one, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            inside = own | assigned([each.target for each in one.generators])
            first, *generators = one.generators
            rest.append((first.iter, own))
            children = [first.target, *first.ifs, *generators]
            children += [one.key, one.value] if isinstance(one, ast.DictComp) else [one.elt]
        else:
            children = parts_of(one)
        rest += [(child, inside) for child in children]
    return found


def surely_assigned(statements: Sequence[ast.stmt]) -> set[str]:
    """The variables that statements assign whatever they decide."""
    found: set[str] = set()
    for one in statements:
        if isinstance(one, ast.Assign):
            found |= assigned(one.targets)
        elif isinstance(one, (ast.AugAssign, ast.AnnAssign)) and one.value is not None:
            found |= assigned([one.target])
        elif isinstance(one, ast.If):
            arms = [surely_assigned(arm) for arm in (one.body, one.orelse) if not leaves(arm)]
            found |= set.intersection(*arms) if arms else set()
        elif isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            found.add(one.name)
        elif isinstance(one, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in one.names}
    return found


def leaves(statements: Sequence[ast.stmt]) -> bool:
    """Whether what follows statements is never reached from them."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise, ast.Break, ast.Continue))


def reachable(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements up to the first that nothing follows."""
    ends = (i for i, one in enumerate(statements) if leaves([one]))
    return list(statements[: next(ends, len(statements)) + 1])


def reads_first(statements: Sequence[ast.stmt], name: str) -> bool:
    """Whether statements may read a variable before they have assigned it."""
    for one in statements:
        if isinstance(one, ast.If):
            if name in reads(one.test) or any(reads_first(arm, name) for arm in (one.body, one.orelse)):
                return True
        elif isinstance(one, ast.For):
            if name in reads(one.iter) or (name not in assigned([one.target]) and reads_first(one.body, name)):
                return True
        elif isinstance(one, ast.While):
            if name in reads(one.test) or reads_first(one.body, name):
                return True
        elif name in reads(one):
            return True
        if name in surely_assigned([one]):
            return False
    return False


def swapped_parts(node: ast.Assign) -> list[ast.expr] | None:
    """The parts of ``things[one], things[other] = things[other], things[one]``, as they are; None of anything else."""
    sides = [one.elts if isinstance(one, ast.Tuple) else [] for one in (node.targets[0], node.value)]
    if len(node.targets) > 1 or [*map(len, sides)] != [2, 2]:
        return None
    (a, b), (c, d) = sides
    first, second = [ast.unparse(one) for one in (a, b)], [ast.unparse(one) for one in (d, c)]
    if not isinstance(a, ast.Subscript) or not isinstance(b, ast.Subscript) or first != second:
        return None
    parts = [a.value, a.slice, b.slice]
    is_same = isinstance(a.value, ast.Name) and ast.unparse(a.value) == ast.unparse(b.value)
    is_plain = all(isinstance(each, _IN_KEYS) for one in (a.slice, b.slice) for each in ast.walk(one))
    return [copied(one) for one in parts] if is_same and is_plain else None


#: What a key may be made of that is computed once instead of twice.
_IN_KEYS = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
