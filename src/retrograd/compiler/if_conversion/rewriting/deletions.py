"""``del things[i]`` as the call of a method."""

from __future__ import annotations

import ast

from .tree import at

__all__ = ["write_deletions"]


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
