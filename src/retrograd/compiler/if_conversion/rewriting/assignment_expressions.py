"""``:=`` as an assignment before the statement that it is in, where that computes the same in the same order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .liveness import READ_AT_ONCE
from .tree import RefusedError, assign, assigned, at, copied, load, parts_of, reads

__all__ = ["write_as_assignments"]

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def write_as_assignments(function: ast.FunctionDef) -> None:
    """Write, in place, each ``:=`` of a function as an assignment. One that does not run first stays as it is."""
    if any(isinstance(one, ast.NamedExpr) for one in ast.walk(function)):
        _Writer(function).visit_block(function.body)


class _Writer:
    def __init__(self, function: ast.FunctionDef) -> None:
        self._function = function

    def visit_block(self, statements: list[ast.stmt]) -> None:
        """Write the statements of a block, and of those in it, in place."""
        made: list[ast.stmt] = []
        for one in statements:
            if not isinstance(one, ast.ClassDef):
                self._inside(one)
            made += self._statement(one)
        statements[:] = made

    def _inside(self, node: ast.AST) -> None:
        for _, part in ast.iter_fields(node):
            if not isinstance(part, list):
                continue
            if part and isinstance(part[0], ast.stmt):
                self.visit_block(part)
            else:
                for one in part:
                    if isinstance(one, (ast.ExceptHandler, ast.match_case)):
                        self._inside(one)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        try:
            expressions = _expressions_in(node)
            at_once = {id(one.args[0]) for one in expressions if isinstance(one, ast.Call) and _reads_at_once(one)}
            for one in expressions:
                if isinstance(one, _COMPREHENSIONS):
                    self._filter(one, not isinstance(one, ast.GeneratorExp) or id(one) in at_once)
            if isinstance(node, ast.While):
                return [self._loop(node)]
            if isinstance(node, ast.If):
                return _branch(node.test, node.body, node.orelse) if _assigns(node.test) else [node]
            if (field := _FIRST.get(type(node))) is None or getattr(node, field) is None:
                return [node]
            before, value = _taken_out(getattr(node, field))
            _check_target(node, before)
        except RefusedError:
            return [node]
        setattr(node, field, value)
        return [*before, node]

    def _loop(self, node: ast.While) -> ast.stmt:
        """``while (x := f()) > 0``, as one that is left where the test fails."""
        if not _assigns(node.test):
            return node
        if node.orelse:
            raise RefusedError("an else of a loop")
        leave = _branch(node.test, [], [at(ast.Break(), node.test)])
        return at(ast.While(at(ast.Constant(True), node.test), [*leave, *node.body], []), node)

    def _filter(self, node: Any, is_read_at_once: bool) -> None:
        """``… for x in xs if (y := f(x)) > 0``, as ``… for x, y in [(x, f(x)) for x in xs] if y > 0``.

        ``is_read_at_once``: all items are computed anyway.
        """
        generator = node.generators[0]
        if not any(map(_assigns, generator.ifs)):
            return
        before, test = _taken_out(generator.ifs[0])
        names = assigned(before)
        if any(map(_assigns, generator.ifs[1:])) or not _is_read_only_in(self._function, node, names):
            raise RefusedError("an assignment in an expression, :=")
        pairs = [(generator.target, _loaded(generator.target))]
        for one in before:
            assert isinstance(one, ast.Assign)
            if reads(one.value) & names:
                raise RefusedError("an assignment in an expression, :=")
            pairs.append((one.targets[0], one.value))
        row = ast.Tuple([value for _, value in pairs], ast.Load())
        inner = ast.comprehension(copied(generator.target), generator.iter, [], 0)
        generator.ifs[0] = test
        kind: Any = ast.ListComp if is_read_at_once else ast.GeneratorExp
        generator.target = at(ast.Tuple([target for target, _ in pairs], ast.Store()), generator.target)
        generator.iter = at(kind(at(row, node), [inner]), generator.iter)


#: What each statement computes first.
_FIRST: dict[type, str] = {
    **dict.fromkeys((ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return), "value"),
    ast.For: "iter",
    ast.Assert: "test",
}


def _branch(test: ast.expr, yes: list[ast.stmt], no: list[ast.stmt]) -> list[ast.stmt]:
    """An ``if`` by a test that assigns. What ``and`` and ``or`` may skip is in a branch of its own."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _branch(test.operand, no, yes)
    if isinstance(test, ast.BoolOp) and any(map(_assigns, test.values[1:])):
        first, *rest = test.values
        others = rest[0] if len(rest) == 1 else at(ast.BoolOp(test.op, rest), test)
        if isinstance(test.op, ast.And):
            return _branch(first, _branch(others, yes, no), list(map(copied, no)))
        return _branch(first, list(map(copied, yes)), _branch(others, yes, no))
    before, left = _taken_out(test)
    if not yes:
        left, yes, no = at(ast.UnaryOp(ast.Not(), left), left), no, []
    return [*before, at(ast.If(left, yes or [at(ast.Pass(), left)], no), left)]


def _check_target(node: ast.stmt, before: Sequence[ast.stmt]) -> None:
    """``x += (x := 1)`` reads the variable first, and so does ``x[i] += …``."""
    if before and isinstance(node, ast.AugAssign):
        is_name = isinstance(node.target, ast.Name)
        if not is_name or assigned([node.target]) & assigned(before):
            raise RefusedError("an assignment in an expression, :=")


def _assigns(node: ast.AST) -> bool:
    return any(isinstance(one, ast.NamedExpr) for one in ast.walk(node))


def _reads_at_once(call: ast.Call) -> bool:
    """Whether a call is of a function of Python's that reads the whole of a generator."""
    name = getattr(call.func, "id", "")
    return len(call.args) > 0 and name in READ_AT_ONCE and name not in ("any", "all")


def _expressions_in(node: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement, those in others first; not of the statements in it."""
    found: list[ast.expr] = []
    rest: list[ast.AST] = [node]
    while rest:
        one = rest.pop()
        if isinstance(one, ast.expr):
            found.append(one)
        if not isinstance(one, ast.Lambda):
            rest += (part for part in parts_of(one) if not isinstance(part, ast.stmt))
    return found[::-1]


def _is_read_only_in(function: ast.FunctionDef, comprehension: ast.expr, variables: set[str]) -> bool:
    """Whether variables that a comprehension assigns are read and assigned nowhere else."""
    inside = {id(one) for one in ast.walk(comprehension)}
    outside = (one for one in ast.walk(function) if isinstance(one, ast.Name) and id(one) not in inside)
    return variables.isdisjoint(one.id for one in outside)


def _loaded(target: ast.expr) -> ast.expr:
    """The value of what a loop assigns to."""
    if isinstance(target, ast.Name):
        return at(load(target.id), target)
    if not isinstance(target, (ast.Tuple, ast.List)):
        raise RefusedError("a target that is no variable")
    return at(ast.Tuple(list(map(_loaded, target.elts)), ast.Load()), target)


def _taken_out(node: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    """The assignments in an expression, and what is left of it, which is another one.

    Raises:
        RefusedError: something else is computed before one of them, or it may not run at all.
    """
    if not _assigns(node):
        return [], node
    taker = _Taker()
    left = taker.take(copied(node))
    return taker.before, left


class _Taker:
    """Goes through an expression in the order in which it is computed.

    Attributes:
        before: the assignments so far.
    """

    def __init__(self) -> None:
        self.before: list[ast.stmt] = []
        self._read: set[str] = set()  # the variables that what is left has read so far
        self._has_computed = False  # whether it has done more than that

    def take(self, node: Any) -> Any:
        """What is left of a part."""
        if not _assigns(node):
            self._read |= reads(node)
            self._has_computed |= not isinstance(node, (ast.Name, ast.Constant))
            return node
        if isinstance(node, ast.NamedExpr):
            return self._variable(node)
        for name, count in _computed_first(node):
            part = getattr(node, name)
            if isinstance(part, list):
                part[:count] = map(self.take, part[:count])
            elif part is not None:
                setattr(node, name, self.take(part))
        if _assigns(node):
            raise RefusedError("an assignment in an expression, :=")
        self._has_computed = True
        return node

    def _variable(self, node: ast.NamedExpr) -> ast.expr:
        name = node.target.id
        is_late, read = self._has_computed, {*self._read}
        value = self.take(node.value)
        if is_late or name in read:
            raise RefusedError("an assignment in an expression, :=")
        self.before.append(at(assign(name, value), node))
        self._has_computed, self._read = False, read | {name}
        return at(load(name), node)


def _computed_first(node: ast.AST) -> list[tuple[str, int | None]]:
    """The fields of a piece of an expression that surely run, in order, and how many parts of each; None for all."""
    match node:
        case ast.Compare():
            return [("left", None), ("comparators", 1)]
        case ast.BoolOp():
            return [("values", 1)]
        case ast.IfExp():
            return [("test", None)]
    return [(name, None) for name in _IN_ORDER.get(type(node), ())]


_IN_ORDER: dict[type, tuple[str, ...]] = {
    ast.Attribute: ("value",),
    ast.BinOp: ("left", "right"),
    ast.Call: ("func", "args", "keywords"),
    ast.FormattedValue: ("value",),
    ast.JoinedStr: ("values",),
    ast.List: ("elts",),
    ast.Starred: ("value",),
    ast.Subscript: ("value", "slice"),
    ast.Tuple: ("elts",),
    ast.UnaryOp: ("operand",),
    ast.keyword: ("value",),
}
