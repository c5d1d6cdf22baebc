"""Rewrites the source of a function, so that both arms of its data-dependent ``if`` run in a trace.

The converter rewrites three forms: an ``if`` whose arms assign variables, an ``if`` whose arms return, and
``a if test else b``. In an arm, every call, attribute, subscript and operand goes through ``arms``, which looks at it
first. The converter leaves alone what it cannot write so.

Source: Allen, Kennedy, Porterfield, Warren, "Conversion of control dependence to data dependence", POPL 1983.
"""

from __future__ import annotations

import ast
import copy
import functools
import types
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from .arm_expressions import ArmExpressions, Visit
from .source import compiled, definitions_of
from .tree import (
    ARMS,
    RefusedError,
    assign,
    assigned,
    at,
    called,
    load,
    names,
    of_arms,
    reads,
    reads_first,
    returns,
    surely_assigned,
    tried,
)

__all__ = ["as_arm", "converted"]

#: What the variables begin with that are written, and what would find them.
_VARIABLE = "_rg_"
_IN_PLACE = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_SEE_VARIABLES = frozenset({"locals", "vars", "dir", "eval", "exec", "globals"})


@functools.lru_cache(maxsize=256)
def converted(code: types.CodeType, lines: frozenset[int], refused: frozenset[int]) -> types.CodeType | None:
    """The code of a function in which each ``if`` whose test is on one of the lines is converted.

    Args:
        code: that of the function.
        lines: those of its file.
        refused: where tests begin that stay as they are.

    Returns:
        None if nothing can be converted, or where the source is not to be found.
    """
    made = _rewritten(code, lambda function: _Converter(code.co_filename, lines, refused).function(function))
    if made is not None:
        _originals[made] = code
    return made


_originals: weakref.WeakKeyDictionary[types.CodeType, types.CodeType] = weakref.WeakKeyDictionary()


def as_arm(code: types.CodeType) -> types.CodeType | None:
    """The code of a function that an arm calls, converted or not, written as an arm itself; None if that cannot be."""
    code = _originals.get(code, code)
    return _rewritten(code, lambda function: _Converter(code.co_filename).arm_function(function))


def _rewritten(code: types.CodeType, rewrite: Callable[[ast.FunctionDef], bool]) -> types.CodeType | None:
    try:
        definition = next(definitions_of(code), None)
        return compiled(definition, code) if definition is not None and rewrite(definition) else None
    except (RefusedError, SyntaxError, ValueError, RecursionError):
        return None


class _Converter(ast.NodeTransformer):
    """Converts what decides on some lines of a function."""

    def __init__(self, file: str, lines: Collection[int] = (), refused: Collection[int] = ()) -> None:
        self._lines, self._refused, self._variables = lines, refused, 0
        self._arm = ArmExpressions(file, refused)
        self._free: set[str] = set()  # names of the function that are no variables of its own
        self._reads: Counter[str] = Counter()  # how often variables are read
        self.found = False

    def function(self, node: ast.FunctionDef) -> bool:
        """Convert a function in place. Whether there was something to convert."""
        self._scope(node)
        _import_arms(node)
        return self.found

    def arm_function(self, node: ast.FunctionDef) -> bool:
        """Write a function as an arm, in place."""
        self._look_over(node)
        result = self._variable()
        body = _without_docstring(node.body)
        if not returns(body):
            raise RefusedError("it may return nothing")
        node.body = [*self._arm_block(body, result, _parameters(node)), ast.Return(ast.Name(result, ast.Load()))]
        _import_arms(node)
        return True

    # --- scopes

    def _look_over(self, node: ast.FunctionDef) -> None:
        self._reads += reads(node)
        for one in ast.walk(node):
            if isinstance(one, (ast.Global, ast.Nonlocal)):
                self._free.update(one.names)
            elif isinstance(one, ast.Delete) or (isinstance(one, ast.Name) and one.id in _SEE_VARIABLES):
                raise RefusedError("it deletes variables, or sees those that are written")

    def _scope(self, node: ast.FunctionDef) -> None:
        self._look_over(node)
        node.body = self._block(node.body, _parameters(node))

    def _variable(self) -> str:
        self._variables += 1
        return f"{_VARIABLE}{self._variables}"

    def _hits(self, test: ast.expr) -> bool:
        lines = range(test.lineno, (test.end_lineno or test.lineno) + 1)
        return test.lineno not in self._refused and any(line in self._lines for line in lines)

    # --- expressions

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self._hits(node.test):
            try:
                made = self._arm.selection(node, self._arm.test(copy.deepcopy(node.test), self.visit))
            except RefusedError:
                pass
            else:
                self.found = True
                return made
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self._scope(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    # --- statements

    def _block(self, statements: Sequence[ast.stmt], bound: set[str]) -> list[ast.stmt]:
        """A block of plain code. ``bound``: the variables that are surely assigned before it."""
        made: list[ast.stmt] = []
        bound = set(bound)
        for i, one in enumerate(statements):
            if isinstance(one, ast.If) and self._hits(one.test):
                rest = statements[i + 1 :]
                if _decides_what_returns(one, rest):
                    result = self._variable()
                    some = self._tried(self._returning, one, rest, result, bound, self.visit)
                    if some is not None:
                        return [*made, *some, at(ast.Return(ast.Name(result, ast.Load())), one)]
                elif (some := self._tried(self._assigning, one, bound, self.visit)) is not None:
                    made += some
                    bound |= surely_assigned([one])
                    continue
            made.append(self._statement(one, bound))
            bound |= surely_assigned([one])
        return made

    def _tried(self, write: Callable[..., list[ast.stmt]], *arguments: Any) -> list[ast.stmt] | None:
        try:
            made = write(*arguments)
        except RefusedError:
            return None
        self.found = True
        return made

    def _statement(self, node: ast.stmt, bound: set[str]) -> ast.stmt:
        if isinstance(node, (ast.Try, ast.TryStar, ast.Match)):
            return node
        if isinstance(node, (ast.If, ast.For, ast.While, ast.With)):
            inside = bound | (assigned([node.target]) if isinstance(node, ast.For) else set())
            bodies = {"body": node.body, "orelse": getattr(node, "orelse", [])}
            for name in bodies:
                setattr(node, name, [])
            self.generic_visit(node)
            for name, body in bodies.items():
                if name == "body" or body:
                    setattr(node, name, self._block(body, inside if name == "body" else bound))
            return node
        visited = self.visit(node)
        assert isinstance(visited, ast.stmt)
        return visited

    def _assigning(self, node: ast.If, bound: set[str], visit: Visit) -> list[ast.stmt]:
        """An ``if`` whose arms assign variables."""
        arms = node.body, node.orelse
        merged = []
        for name in sorted(assigned(node.body) | assigned(node.orelse)):
            surely = all(name in surely_assigned(arm) for arm in arms)
            if name in self._free or (name not in bound and any(reads_first(arm, name) for arm in arms)):
                raise RefusedError(name)
            if name in bound or surely:
                merged.append(name)
            elif self._is_read_outside(name, node):
                raise RefusedError(name)
        yes, no = (self._arm_block(arm, None, bound) for arm in arms)
        return self._both(node, yes, no, [name for name in merged if name in bound], merged, visit)

    def _is_read_outside(self, name: str, node: ast.AST) -> bool:
        return self._reads[name] > reads(node)[name]

    def _returning(
        self, node: ast.If, rest: Sequence[ast.stmt], result: str, bound: set[str], visit: Visit
    ) -> list[ast.stmt]:
        """An ``if`` of whose arms at least one returns, and what follows it. ``result``: gets what they return."""
        yes, no = (arm if returns(arm) else [*arm, *rest] for arm in (node.body, node.orelse))
        for name in assigned(yes):
            if name not in bound and reads_first(no, name):
                raise RefusedError(name)
        if self._free & (assigned(yes) | assigned(no)):
            raise RefusedError("a variable of another scope")
        arms = [self._arm_block(arm, result, bound) for arm in (yes, no)]
        return self._both(node, arms[0], arms[1], sorted(assigned(yes) & bound), [result], visit)

    def _both(
        self,
        node: ast.If,
        yes: Sequence[ast.stmt],
        no: Sequence[ast.stmt],
        old: Sequence[str],
        merged: Sequence[str],
        visit: Visit,
    ) -> list[ast.stmt]:
        """Runs one arm or both. ``old``: the variables that both begin with; ``merged``: those that they assign."""
        made, kept, again = (self._variable() for _ in range(3))
        old_again = [assign(names(old, ast.Store()), load(kept))] if old else []
        test = self._arm.test(copy.deepcopy(node.test), visit)
        ends = [ast.Expr(called(made, method, names(merged, ast.Load()))) for method in ("ends_yes", "ends_no")]
        arms: list[ast.stmt] = [
            ast.Expr(called(made, "begins")),
            *old_again,
            ast.If(load(made, "yes"), [*yes, ends[0]], []),
            ast.If(load(made, "no"), [*old_again, *no, ends[1]], []),
            ast.Expr(called(made, "leaves")),
        ]
        unless_fails = ast.If(ast.UnaryOp(ast.Not(), called(made, "fails")), [ast.Raise()], [])
        written = [
            assign(made, of_arms("Decision", test, self._arm.site(node.test))),
            *([assign(kept, names(old, ast.Load()))] if old else []),
            ast.For(ast.Name(again, ast.Store()), load(made), tried(arms, [unless_fails]), []),
            *([assign(names(merged, ast.Store()), load(made, "results"))] if merged else []),
        ]
        return [at(one, node.test) for one in written]

    # --- arms

    def _arm_block(self, statements: Sequence[ast.stmt], result: str | None, bound: set[str]) -> list[ast.stmt]:
        """Statements as an arm; with ``result``, that variable gets what they return."""
        made: list[ast.stmt] = []
        bound = set(bound)
        for i, one in enumerate(copy.deepcopy(list(statements))):
            if isinstance(one, ast.If) and result is not None and _decides_what_returns(one, statements[i + 1 :]):
                return [*made, *self._returning(one, statements[i + 1 :], result, bound, self._arm.visit)]
            if isinstance(one, ast.If):
                made += self._assigning(one, bound, self._arm.visit)
            elif isinstance(one, ast.Return) and result is not None:
                value = one.value or ast.Constant(None)
                return [*made, at(assign(result, self._arm.visit(value)), one)]
            else:
                made += self._arm_statement(one)
            bound |= surely_assigned([one])
        return made

    def _arm_statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return []
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and isinstance(node.op, _IN_PLACE):
            old, name = ast.Name(node.target.id, ast.Load()), ast.Constant(type(node.op).__name__)
            return [at(assign(node.target, of_arms("augmented", name, old, self._arm.operand(node.value))), node)]
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            raise RefusedError(type(node).__name__)
        targets, value = (node.targets if isinstance(node, ast.Assign) else [node.target]), node.value
        if value is None:
            return []
        if len(targets) > 1 or not _are_names(targets[0]):
            raise RefusedError("an assignment to something else than variables")
        unpacks = isinstance(targets[0], (ast.Tuple, ast.List)) and not isinstance(value, (ast.Tuple, ast.List))
        return [at(assign(targets[0], self._arm.items(value) if unpacks else self._arm.visit(value)), node)]


def _decides_what_returns(node: ast.If, rest: Sequence[ast.stmt]) -> bool:
    """Whether one arm of an ``if`` returns, and the other does, or goes on to a ``return``."""
    ends = returns(node.body), returns(node.orelse)
    return any(ends) and (all(ends) or returns(rest))


def _are_names(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(_are_names, target.elts))
    return isinstance(target, ast.Name)


def _parameters(node: ast.FunctionDef) -> set[str]:
    arguments = node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return {one.arg for one in every if one is not None}


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if documented else body


def _import_arms(node: ast.FunctionDef) -> None:
    """Begin a function with ``from retrograd.compiler.if_conversion import arms``."""
    module = __name__.rpartition(".")[0]
    written = ast.ImportFrom(module, [ast.alias("arms", ARMS)], 0)
    node.body.insert(0, at(written, node.body[0]))
