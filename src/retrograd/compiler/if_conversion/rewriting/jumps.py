"""Rewrites loops so that nothing jumps out of an iteration: what a ``break`` skips becomes an arm of its test."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .tree import RefusedError, assign, at, copied, load, parts_of

__all__ = [
    "Loop",
    "deciding_tests",
    "has_jumps",
    "header_of",
    "noting_breaks",
    "returns",
    "returns_or_goes_on",
    "without_jumps",
    "without_returns",
]

Loop = ast.For | ast.While

#: So many tests may be written: what follows two arms that both go on is written twice.
_MOST_TESTS = 100


def has_jumps(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements may leave the loop that they are the body of, or an iteration of it."""
    return any(_may_jump(one, is_own=True) for one in statements)


def _may_jump(node: ast.AST, is_own: bool) -> bool:
    if isinstance(node, ast.Return) or (is_own and isinstance(node, (ast.Break, ast.Continue))):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.expr)):
        return False
    is_own &= not isinstance(node, (ast.For, ast.While))
    return any(_may_jump(child, is_own) for child in parts_of(node))


def returns(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements end with a ``return`` whatever they decide."""
    return any(
        isinstance(one, ast.Return) or (isinstance(one, ast.If) and returns(one.body) and returns(one.orelse))
        for one in statements
    )


def returns_or_goes_on(node: ast.If, rest: Sequence[ast.stmt]) -> bool:
    """Whether an ``if`` may return, and each way through it ends with a ``return``, there or in what follows."""
    may_return = any(_may_jump(one, is_own=False) for one in (*node.body, *node.orelse))
    return may_return and (returns(rest) or (returns(node.body) and returns(node.orelse)))


def deciding_tests(statements: Sequence[ast.stmt], is_own: bool = True) -> Iterator[ast.expr]:
    """The tests that decide whether a loop, whose body these statements are, is left, or an iteration of it."""
    for one in statements:
        if isinstance(one, ast.If) and _may_jump(one, is_own):
            yield one.test
        if isinstance(one, (ast.If, ast.For, ast.While, ast.With)):
            inside = is_own and not isinstance(one, (ast.For, ast.While))
            yield from deciding_tests([*one.body, *getattr(one, "orelse", [])], inside)


def header_of(loop: Loop) -> ast.expr:
    """What a loop iterates over, or its test."""
    return loop.iter if isinstance(loop, ast.For) else loop.test


def without_returns(loop: Loop, returned: str, result: str) -> Loop:
    """A loop in which each ``return`` is a ``break`` instead.

    Args:
        loop: the loop.
        returned: the variable that becomes True where there was a ``return``.
        result: the variable that gets what it would return.
    """
    made = copied(loop)
    made.body = _Returns(returned, result).block(made.body)
    return made


class _Returns:
    """Writes each ``return`` as a ``break``; in an inner loop, a second one follows that."""

    def __init__(self, returned: str, result: str) -> None:
        self._returned, self._result = returned, result

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for one in statements:
            if isinstance(one, ast.Return):
                value = one.value or ast.Constant(None)
                some = [assign(self._result, value), assign(self._returned, ast.Constant(True)), ast.Break()]
                made += [at(each, one) for each in some]
                return made
            if _may_jump(one, is_own=False):  # it returns
                self._inside(one)
            made.append(one)
            if isinstance(one, (ast.For, ast.While)) and _assigns(one, self._returned):
                test = at(load(self._returned), header_of(one))
                made.append(at(ast.If(test, [at(ast.Break(), one)], []), header_of(one)))
        return made

    def _inside(self, one: ast.stmt) -> None:
        if not isinstance(one, (ast.If, ast.For, ast.While)) or (not isinstance(one, ast.If) and one.orelse):
            raise RefusedError("a return in other statements")
        one.body, one.orelse = self.block(one.body), self.block(one.orelse)


def _assigns(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def noting_breaks(loop: Loop, unbroken: str) -> Loop:
    """A loop without an ``else``, in which each ``break`` makes a variable False first."""
    made = copied(loop)
    made.body, made.orelse = _Breaks(unbroken).block(made.body), []
    return made


class _Breaks(ast.NodeTransformer):
    def __init__(self, unbroken: str) -> None:
        self._unbroken = unbroken

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return self.visit(ast.Module(statements, [])).body  # type: ignore[no-any-return]

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        return [at(assign(self._unbroken, ast.Constant(False)), node), node]

    def _loop(self, node: Loop) -> Loop:
        node.orelse = self.block(node.orelse)  # a break in its body leaves that loop alone
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node


def without_jumps(statements: Sequence[ast.stmt], goes_on: str) -> list[ast.stmt]:
    """The body of a loop without ``break`` and ``continue``.

    Args:
        statements: the body.
        goes_on: the variable that becomes False where there was a ``break``.
    """
    return _Jumps(goes_on).without(statements)


class _Jumps:
    def __init__(self, goes_on: str) -> None:
        self._goes_on, self._tests = goes_on, 0

    def without(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for i, one in enumerate(statements):
            if isinstance(one, ast.Break):
                return [*made, at(assign(self._goes_on, ast.Constant(False)), one)]
            if isinstance(one, ast.Continue):
                return [*made, at(ast.Pass(), one)]
            if has_jumps([one]):
                return [*made, self._test(one, statements[i + 1 :])]
            made.append(one)
        return made

    def _test(self, one: ast.stmt, rest: Sequence[ast.stmt]) -> ast.stmt:
        self._tests += 1
        if not isinstance(one, ast.If) or self._tests > _MOST_TESTS:
            raise RefusedError("a jump out of other statements, or too many ways to go on")
        yes, no = (self.without([*arm, *rest]) for arm in (one.body, one.orelse))
        return at(ast.If(one.test, yes or [at(ast.Pass(), one)], no), one)
