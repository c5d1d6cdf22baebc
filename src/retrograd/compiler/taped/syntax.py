"""What the source of a function says of its names, and of where it ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType

from ..if_conversion.rewriting.matches import write_as_tests
from ..if_conversion.rewriting.source import definitions_of
from .types import NotTypedError

__all__ = ["definition_of", "is_endless", "names_assigned", "names_used"]


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


def definition_of(function: FunctionType) -> ast.FunctionDef:
    """The source of a function.

    Raises:
        NotTypedError: It is not found.
    """
    found = next(definitions_of(function.__code__), None)
    if found is None:
        raise NotTypedError(f"the source of {function.__name__} is not found")
    write_as_tests(found)
    return found
