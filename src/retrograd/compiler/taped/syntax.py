"""What the source of a function says of its names, and of where it ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from ..if_conversion.rewriting.matches import write_as_tests
from ..if_conversion.rewriting.source import definitions_of
from .types import NotTypedError

__all__ = [
    *("KEPT", "definition_of", "gives_function", "is_asked_first", "is_endless", "names_around", "names_assigned"),
    *("names_used", "own_returns", "place_key"),
]

#: Behind the name of a function, that of what it has returned; and what says that it is asked first.
KEPT = "·kept"


def names_assigned(body: Sequence[ast.AST]) -> set[str]:
    """The names that statements assign, but those of functions in them."""
    found: set[str] = set()
    outside: set[str] = set()
    rest = list(body)
    while rest:
        node = rest.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Nonlocal):
            outside.update(node.names)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            inner = [one for one in ast.walk(node) if isinstance(one, ast.NamedExpr)]
            found.update(one.target.id for one in inner)
        elif not isinstance(node, ast.Lambda):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            rest += ast.iter_child_nodes(node)
    return found - outside


def names_around(function: FunctionType) -> set[str]:
    """The names that a function's module, its parameters and the functions around it give to something."""
    code = function.__code__
    return {*function.__globals__, *code.co_freevars, *code.co_varnames, *code.co_cellvars}


def own_returns(function: ast.FunctionDef) -> list[ast.Return]:
    """The ``return`` statements of a function, but those of functions in it."""
    found: list[ast.Return] = []
    rest: list[ast.AST] = list(function.body)
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            rest += ast.iter_child_nodes(node)
    return found


def gives_function(function: ast.FunctionDef) -> bool:
    """Whether a function gives one that is defined in it."""
    last, defined = function.body[-1], {one.name for one in function.body if isinstance(one, ast.FunctionDef)}
    if not isinstance(last, ast.Return) or own_returns(function) != [last]:
        return False
    return isinstance(last.value, ast.Lambda) or (isinstance(last.value, ast.Name) and last.value.id in defined)


def is_endless(node: ast.AST) -> bool:
    """Whether a statement is ``while True`` without a ``break``."""
    if not (isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value):
        return False
    rest: list[ast.AST] = list(node.body)
    while rest:
        one = rest.pop()
        if isinstance(one, ast.Break):
            return False
        if not isinstance(one, (ast.For, ast.While, ast.FunctionDef, ast.Lambda)):
            rest += ast.iter_child_nodes(one)
        elif isinstance(one, (ast.For, ast.While)):
            rest += one.orelse
    return True


def names_used(node: ast.AST) -> set[str]:
    """The names that a function uses, and the functions in it."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def place_key(node: Any) -> Any:
    """What tells a place in the source from others: of a node, or of one with a word for what is made there."""
    return (
        (id(node[0]) if not isinstance(node[0], tuple) else place_key(node[0]), node[1])
        if isinstance(node, tuple)
        else id(node)
    )


def definition_of(function: FunctionType) -> ast.FunctionDef:
    """The source of a function.

    Raises:
        NotTypedError: It is not found.
    """
    found = next(definitions_of(function.__code__), None)
    if found is None:
        raise NotTypedError(f"the source of {function.__name__} is not found")
    write_as_tests(found)
    keep_results(found)
    return found


def keep_results(function: ast.FunctionDef) -> None:
    """Write ``@cache`` of the functions in a function as a dictionary that is asked first.

    ``statements.py`` looks at whether the decorator is what its name says.
    """
    for node in ast.walk(function):
        for statements in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if not isinstance(statements, list):
                continue
            for one in [*statements]:
                if isinstance(one, ast.FunctionDef) and one is not function and _is_kept(one):
                    made = ast.copy_location(ast.parse(f"{one.name}{KEPT} = {{}}").body[0], one)
                    statements.insert(statements.index(one), ast.fix_missing_locations(made))
                    _ask_first(one)


def _is_kept(function: ast.FunctionDef) -> bool:
    """Whether a function has one decorator, which is called ``cache``, or ``lru_cache`` and given no limit."""
    text = ast.unparse(function.decorator_list[0]) if len(function.decorator_list) == 1 else ""
    return text.removeprefix("functools.") in ("cache", "lru_cache(maxsize=None)", "lru_cache(None)")


def _ask_first(function: ast.FunctionDef) -> None:
    """Begin a function with a look at what it has returned, and note that in place of its annotation."""
    given = function.args
    if (
        given.vararg
        or given.kwarg
        or given.kwonlyargs
        or given.defaults  # the key of a call without them is another one
        or any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in ast.walk(function))
    ):
        return
    names = "".join(f"{one.arg}, " for one in (*given.posonlyargs, *given.args))
    kept, key = f"{function.name}{KEPT}", f"{function.name}{KEPT}key"
    first = ast.parse(f"{key} = ({names})\nif {key} in {kept}: return {kept}[{key}]").body
    whole = ast.Module([*function.body, ast.Return(None)], [])
    function.body = [*first, *_Keeping(kept, key).visit(whole).body]
    function.returns = ast.Constant(KEPT)
    for one in function.body:
        ast.copy_location(one, function)
        ast.fix_missing_locations(one)


def is_asked_first(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function begins with a look at what it has returned."""
    noted = function.returns if isinstance(function, ast.FunctionDef) else None
    return isinstance(noted, ast.Constant) and noted.value == KEPT


class _Keeping(ast.NodeTransformer):
    """Stores what a function returns."""

    def __init__(self, kept: str, key: str) -> None:
        self._kept, self._key = kept, key

    def visit_Return(self, node: ast.Return) -> Any:
        value = ast.unparse(node.value) if node.value is not None else "None"
        made = ast.parse(f"{self._kept}[{self._key}] = {value}\nreturn {self._kept}[{self._key}]").body
        return [
            ast.fix_missing_locations(ast.copy_location(one, node) if hasattr(node, "lineno") else one) for one in made
        ]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node
