"""Which variables are live: what statements that follow may read before they assign it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .tree import assigned, parameters, parts_of, reads, surely_assigned

__all__ = ["READ_AT_ONCE", "Around", "kept"]

#: What reads a generator expression at once.
READ_AT_ONCE = frozenset({"sum", "max", "min", "any", "all", "list", "tuple", "set", "dict", "sorted"})


def kept(function: ast.FunctionDef) -> frozenset[str]:
    """The variables of a function that functions and generators in it may read at any time."""
    own = parameters(function) | assigned(function.body)
    return frozenset().union(*(_read_later(one, own) for one in function.body))


def _read_later(node: ast.AST, own: frozenset[str]) -> frozenset[str]:
    """The variables that pieces of code read when they run later. ``own``: those of the function that they are in."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
        free = {name for one in ast.walk(node) if isinstance(one, ast.Nonlocal) for name in one.names}
        hidden = (parameters(node) | assigned(body)) - free
        return frozenset(name for one in body for name in reads(one)) - hidden
    if isinstance(node, (ast.GeneratorExp, ast.ClassDef)):
        return frozenset(reads(node))
    is_at_once = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READ_AT_ONCE - own
    found: frozenset[str] = frozenset()
    for child in parts_of(node):
        if is_at_once and isinstance(child, ast.GeneratorExp):
            found |= frozenset().union(*(_read_later(one, own) for one in parts_of(child)))
        else:
            found |= _read_later(child, own)
    return found


class Around(NamedTuple):
    """What is known of the variables around statements.

    Attributes:
        bound: those that are surely assigned before them.
        live: those that are live after them.
        kept: those that are live everywhere, since functions in the function read them.
        jumps: those that are live where a ``break`` or ``continue`` among them goes.
    """

    bound: frozenset[str]
    live: frozenset[str]
    kept: frozenset[str]
    jumps: frozenset[str] = frozenset()

    def of_each(self, statements: Sequence[ast.stmt]) -> list[Around]:
        """What is around each of some statements."""
        if not statements:
            return []
        live, bound = [self.live], [self.bound]
        for one in reversed(statements[1:]):
            live.append(_Liveness(self.kept, self.jumps).block([one], live[-1]))
        for one in statements[:-1]:
            bound.append(bound[-1] | surely_assigned([one]))
        return [self._replace(bound=known, live=after) for known, after in zip(bound, reversed(live), strict=True)]

    def before(self, statements: Sequence[ast.stmt]) -> frozenset[str]:
        """The variables that are live before statements, after which ``live`` is."""
        return _Liveness(self.kept, self.jumps).block(statements, self.live)

    def in_loop(self, loop: ast.For | ast.While) -> frozenset[str]:
        """The variables that are live before each iteration of a loop but the first, and after the last one."""
        test = _read(loop.test) if isinstance(loop, ast.While) else frozenset()
        targets = frozenset(assigned([loop.target])) if isinstance(loop, ast.For) else frozenset()
        return _Liveness(self.kept, frozenset()).loop(loop, self.live | test, targets)

    def until_raised(self, read: frozenset[str]) -> Around:
        """The same for statements after each of which something may be raised, and what is ``read`` then."""
        return self._replace(live=self.live | read, kept=self.kept | read)

    def also(self, bound: Iterable[str]) -> Around:
        """The same with more variables bound."""
        return self._replace(bound=self.bound.union(bound))


class _Liveness:
    """``kept``: what is live everywhere. ``jumps``: what is live where a ``break`` or ``continue`` goes."""

    def __init__(self, kept: frozenset[str], jumps: frozenset[str]) -> None:
        self._kept, self._jumps = kept, jumps

    def block(self, statements: Sequence[ast.stmt], after: frozenset[str]) -> frozenset[str]:
        for one in reversed(statements):
            after = self._statement(one, after) | self._kept
        return after

    def _statement(self, one: ast.stmt, after: frozenset[str]) -> frozenset[str]:
        if isinstance(one, ast.If):
            return self.block(one.body, after) | self.block(one.orelse, after) | _read(one.test)
        if isinstance(one, ast.For):
            return self.loop(one, after, frozenset(assigned([one.target]))) | _read(one.iter)
        if isinstance(one, ast.While):
            return self.loop(one, after | _read(one.test), frozenset())
        if isinstance(one, (ast.Return, ast.Raise)):
            return _read(one)
        if isinstance(one, (ast.Break, ast.Continue)):
            return self._jumps
        if isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            return (after - surely_assigned([one])) | _read(one)
        return after | _read(one) | self._jumps  # which may be in it

    def loop(self, one: ast.For | ast.While, after: frozenset[str], targets: frozenset[str]) -> frozenset[str]:
        after |= self.block(one.orelse, after)
        head = after
        while True:
            again = head | (_Liveness(self._kept, head).block(one.body, head) - targets)
            if again == head:
                return head
            head = again


def _read(node: ast.AST) -> frozenset[str]:
    return frozenset(reads(node))
