"""Writes generator functions that yield in an arm as functions that collect what they give in a list.

They run as they are where what they read may change meanwhile (``containers/generators.py``).
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from .jumps import has_jumps
from .tree import (
    ARMS,
    assign,
    assigned,
    at,
    called,
    copied,
    function,
    later,
    load,
    no_arguments,
    of_arms,
    parameters,
    reads,
)

__all__ = ["write_generators"]

_LAZY, _SOURCES, _GIVEN = "_rg_lazy", "_rg_sources", "_rg_given"

#: In a generator function with one of these, it shows when it runs, or what is sent to it.
_SEEN = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.NamedExpr, ast.Await, ast.Delete),
    *(ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.AsyncFor, ast.Global, ast.Nonlocal, ast.Return, ast.Match),
)


def write_generators(outer: ast.FunctionDef, lists: bool, lines: Collection[int] | None) -> bool:
    """Write a function so, and those in it, if decisions choose how long lists are; else they ask for that; in place.

    Args:
        outer: the function.
        lists: whether decisions choose that.
        lines: on one of which a generator function decides; None for those that an arm calls.

    Returns:
        Whether there are any.
    """
    found = False
    for node in [one for one in ast.walk(outer) if isinstance(one, ast.FunctionDef)]:
        decides = lines is None or any(getattr(one, "lineno", 0) in lines for one in ast.walk(node))
        found |= decides and _can_be_collected(node) and _write(node, lists, lines is None)
    return found


def _write(node: ast.FunctionDef, lists: bool, is_in_arm: bool) -> bool:
    read = sorted((reads(ast.Module(node.body, [])) | parameters(node)) - assigned(node.body) - {ARMS})
    values = later(ast.Tuple([load(name) for name in read], ast.Load()))
    if not lists and not is_in_arm:
        node.body.insert(0, _at_line(ast.Expr(of_arms("generators.want_lists", values)), node.lineno))
        return True
    lazy = function(_LAZY, no_arguments(), [copied(one) for one in node.body])
    runs_lazily = ast.If(of_arms("generators.is_lazy", load(_SOURCES)), [ast.Return(ast.Call(load(_LAZY), [], []))], [])
    before = [
        *([] if is_in_arm else [lazy]),
        assign(_SOURCES, of_arms("generators.sources_of", values)),
        *([] if is_in_arm else [runs_lazily]),
        assign(_GIVEN, of_arms("changing", ast.List([], ast.Load()))),
    ]
    after = ast.Return(of_arms("generators.collected", load(_GIVEN), load(_SOURCES)))
    body = [_Collecting().visit(one) for one in node.body]
    node.body = [_at_line(one, node.lineno) for one in before] + body + [_at_line(after, node.lineno)]
    return True


def _at_line(written: ast.stmt, line: int) -> ast.stmt:
    """What is written has the line of the definition, on which nothing decides."""
    for one in ast.walk(written):
        if "lineno" in one._attributes and not hasattr(one, "lineno"):
            one.lineno = one.end_lineno = line  # type: ignore[attr-defined]
            one.col_offset = one.end_col_offset = 0  # type: ignore[attr-defined]
    return written


class _Collecting(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.YieldFrom):
            return _at_line(at(ast.Expr(called(_GIVEN, "extend", node.value.value)), node), node.lineno)
        if isinstance(node.value, ast.Yield):
            item = node.value.value or ast.Constant(None)
            return _at_line(at(ast.Expr(called(_GIVEN, "append", item)), node), node.lineno)
        return node


def _can_be_collected(node: ast.FunctionDef) -> bool:
    """Whether a generator function yields in an arm, stores in variables alone, and may end."""
    parts = [part for one in node.body for part in ast.walk(one)]
    yields = [one for one in parts if isinstance(one, (ast.Yield, ast.YieldFrom))]
    statements = [one for one in parts if isinstance(one, ast.Expr) and one.value in yields]
    in_arms = any(isinstance(one, ast.If) and any(each in yields for each in ast.walk(one)) for one in parts)
    in_arms |= any(isinstance(one, (ast.For, ast.While)) and has_jumps(one.body) for one in parts)
    if not in_arms or len(statements) != len(yields) or not parameters(node).isdisjoint(assigned(node.body)):
        return False
    stores = (one for one in parts if isinstance(getattr(one, "ctx", None), ast.Store))
    is_endless = any(isinstance(one, ast.While) and isinstance(one.test, ast.Constant) for one in parts)
    are_variables = all(isinstance(one, (ast.Name, ast.Tuple, ast.List)) for one in stores)
    return are_variables and not is_endless and not any(isinstance(one, _SEEN) for one in parts)
