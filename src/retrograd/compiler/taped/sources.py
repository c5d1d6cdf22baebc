"""The sources of the functions that are followed, and what these say of their names."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from types import FunctionType

from .syntax import KEPT, definition_of, names_around
from .versions import with_versions

__all__ = ["KEPT_ITERATOR", "Sources", "read_once"]

#: In place of ``iter``, where what it gives is kept.
KEPT_ITERATOR = f"iter{KEPT}"

_FUNCTIONS = (ast.FunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(eq=False, slots=True)
class Sources:
    """The sources of functions, each of which is looked for once.

    Attributes:
        once: The names that a function assigns once (versions.py), by its source.
        expressions: Those that stand for an expression where they are read (``read_once``).
    """

    once: dict[ast.AST, set[str]] = field(default_factory=dict)
    expressions: dict[ast.AST, set[str]] = field(default_factory=dict)
    _found: dict[FunctionType, ast.FunctionDef] = field(default_factory=dict)

    def of(self, function: FunctionType) -> ast.FunctionDef:
        """The source of a function, in which each name is one variable.

        Raises:
            NotTypedError: It is not found.
        """
        if function not in self._found:
            found = self._found[function] = definition_of(function)
            shadowed = names_around(function)
            for one in ast.walk(found):
                if isinstance(one, ast.FunctionDef):
                    _keep_iterators(one, shadowed)
                    self.once[one] = with_versions(one, shadowed)
                    self.expressions[one] = read_once(one)
        return self._found[function]


def _keep_iterators(definition: ast.FunctionDef, shadowed: Collection[str]) -> None:
    """Write ``rest = iter(items)`` with ``KEPT_ITERATOR``, where nothing but ``next(rest)`` reads what it gives.

    The name gets a mark, since it may be that of the items, too.

    Args:
        definition: The function; it is changed in place.
        shadowed: The names outside of it that hold something else than Python's own functions.
    """
    names = [one for one in ast.walk(definition) if isinstance(one, ast.Name)]
    if {"iter", "next"} & {*shadowed, *(one.id for one in names if not isinstance(one.ctx, ast.Load))}:
        return
    inside = [one for one in ast.walk(definition) if isinstance(one, _FUNCTIONS) and one is not definition]
    theirs = {one.arg for each in inside for one in ast.walk(each) if isinstance(one, ast.arg)}
    asked: dict[str, list[ast.Name]] = {}
    for node in ast.walk(definition):
        if (first := _asked_by(node, "next", 2)) is not None:
            asked.setdefault(first.id, []).append(first)
    for target, value in _assigned(definition):
        items = _asked_by(value, "iter", 1)
        uses = [target, *asked.get(target.id, []), *([items] if items and items.id == target.id else [])]
        others = [one for one in names if one.id == target.id and not any(one is each for each in uses)]
        is_kept = target.id in asked and target.id not in theirs and not others
        if is_kept and isinstance(value, ast.Call) and _is_call(value, "iter", 1):
            value.func = ast.copy_location(ast.Name(KEPT_ITERATOR, ast.Load()), value.func)
            for one in (target, *asked[target.id]):
                one.id += KEPT


def _is_call(node: ast.AST, function: str, most: int) -> bool:
    """Whether it is a call of a function of that name, with one argument to so many."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == function
        and not node.keywords
        and 1 <= len(node.args) <= most
    )


def _asked_by(node: ast.AST, function: str, most: int) -> ast.Name | None:
    """The name that is the first argument of such a call."""
    if not _is_call(node, function, most):
        return None
    assert isinstance(node, ast.Call)
    return node.args[0] if isinstance(node.args[0], ast.Name) else None


def _assigned(definition: ast.FunctionDef) -> Iterator[tuple[ast.Name, ast.expr]]:
    """The names to which a function assigns something, one by one, and what; not those of functions in it."""
    rest: list[ast.AST] = [*definition.body]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                pairs = [*zip(target.elts, value.elts, strict=True)]
            yield from ((one, each) for one, each in pairs if isinstance(one, ast.Name))
        if not isinstance(node, _FUNCTIONS):
            rest += ast.iter_child_nodes(node)


#: What may run more often than the statement that it is in, or later.
_APART = (
    *(ast.For, ast.While, *_FUNCTIONS),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def read_once(definition: ast.FunctionDef) -> set[str]:
    """The names that one assignment gives to something that one expression behind it reads, and comparisons.

    They are in the same block, or under a test in it: in no loop and no function.
    """
    stored, read = Counter(one.arg for one in ast.walk(definition.args) if isinstance(one, ast.arg)), Counter[str]()
    for one in ast.walk(definition):
        if isinstance(one, ast.Name):
            (read if isinstance(one.ctx, ast.Load) else stored)[one.id] += 1
        elif isinstance(one, (ast.Nonlocal, ast.Global)):
            stored.update(2 * one.names)
    found: set[str] = set()
    for block in _blocks(definition):
        behind, compared = Counter[str](), Counter[str]()
        for statement in reversed(block):
            for name in _targets(statement):
                if stored[name] == 1 and behind[name] == read[name] <= compared[name] + 1:
                    found.add(name)
            _count_reads(statement, behind, compared)
    return found


def _blocks(definition: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(definition):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _targets(statement: ast.stmt) -> Iterator[str]:
    """The names that an assignment gives something, and does nothing else."""
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


def _count_reads(statement: ast.stmt, reads: Counter[str], compared: Counter[str]) -> None:
    rest: list[tuple[ast.AST, bool]] = [(statement, False)]
    while rest:
        node, compares = rest.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads[node.id] += 1
            compared[node.id] += compares
        elif not isinstance(node, _APART):
            compares = isinstance(node, ast.Compare)
            rest += [(one, compares) for one in ast.iter_child_nodes(node)]
