"""``match`` as ``if``: where its cases ask for values, classes, and so many items."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .tree import RefusedError, assign, at, copied, is_of_arms, load, of_arms

__all__ = ["asks_for_parts", "write_as_tests"]

_SUBJECT = "_rg_subject"

#: What follows so many cases at most is written twice, each time: where the pattern does not match, or the guard fails.
_MOST_TWICE = 4


def write_as_tests(function: ast.FunctionDef) -> bool:
    """Write, in place, each ``match`` of a function whose patterns have no ``*``, and no keys of a mapping.

    Returns:
        Whether there is any.
    """
    has_any = any(isinstance(one, ast.Match) for one in ast.walk(function))
    if has_any:
        _AsTests(_own_names(function)).generic_visit(function)
    return has_any


def asks_for_parts(node: ast.Call) -> bool:
    """Whether a call was written for a pattern."""
    return any(is_of_arms(node, name) for name in ("is_instance", "has_items", "part_of"))


class _Asked(NamedTuple):
    """What a pattern asks of its subject, in order, and the variables that it assigns then, each with its value."""

    tests: list[ast.expr]
    variables: list[tuple[str, ast.expr]]


class _NoMatchError(Exception):
    """A pattern that never matches."""


class _AsTests(ast.NodeTransformer):
    """Writes each ``match`` as tests; ``own``: the variables that no other function can assign."""

    def __init__(self, own: set[str]) -> None:
        self._own = own

    def visit_Match(self, node: ast.Match) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        try:
            before, subject = _subject(node, self._own)
            made = _cases(node.cases, subject)
        except RefusedError:
            return node
        return [*before, *made] or at(ast.Pass(), node)


def _own_names(function: ast.FunctionDef) -> set[str]:
    """The variables of a function, but those that it shares with others which assign them."""
    own = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    own |= {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    shared = (one.names for one in ast.walk(function) if isinstance(one, (ast.Nonlocal, ast.Global)))
    return own.difference(*shared)


def _is_assigned(node: ast.Match, name: str, own: set[str]) -> bool:
    """Whether a pattern or a guard may assign a variable, which the cases behind it do not ask then."""
    guards = [part for case in node.cases if case.guard for part in ast.walk(case.guard)]
    if any(isinstance(one, ast.NamedExpr) and one.target.id == name for one in guards):
        return True
    return name in _captured(node) or (name not in own and any(isinstance(one, ast.Call) for one in guards))


def _subject(node: ast.Match, own: set[str]) -> tuple[list[ast.stmt], ast.expr]:
    """What assigns the subject to a variable, and its value; of a tuple, to one for each item."""
    subject = node.subject
    name = f"{_SUBJECT}_{node.lineno}_{node.col_offset}"
    if isinstance(subject, ast.Name) and not _is_assigned(node, subject.id, own):
        return [], subject
    if not isinstance(subject, ast.Tuple) or any(isinstance(one, ast.Starred) for one in subject.elts):
        return [at(assign(name, subject), subject)], at(load(name), subject)
    names = [f"{name}_{i}" for i in range(len(subject.elts))]
    before = [at(assign(one, item), item) for one, item in zip(names, subject.elts, strict=True)]
    return before, at(ast.Tuple([at(load(one), subject) for one in names], ast.Load()), subject)


def _captured(node: ast.Match) -> set[str | None]:
    """The variables that patterns assign."""
    return {one.name for case in node.cases for one in ast.walk(case.pattern) if isinstance(one, ast.MatchAs)}


def _cases(cases: list[ast.match_case], subject: ast.expr) -> list[ast.stmt]:
    """Statements that do what the first case does that matches."""
    otherwise: list[ast.stmt] = []
    written_twice = 0
    for case in reversed(cases):
        try:
            asked = _asked(case.pattern, subject)
        except _NoMatchError:
            continue
        tests, assigns = asked.tests, [at(assign(one, copied(value)), case.pattern) for one, value in asked.variables]
        if assigns and case.guard:  # which may read them
            guarded = [*assigns, at(ast.If(case.guard, case.body, otherwise), case.guard)]
            otherwise, written_twice = list(map(copied, otherwise)), written_twice + bool(tests and otherwise)
            if written_twice > _MOST_TWICE:
                raise RefusedError("a match with many guards")
            if tests:
                guarded = [at(ast.If(_all_of(tests, case.pattern), guarded, otherwise), case.pattern)]
            otherwise = guarded
        elif tests or case.guard:
            test = _all_of([*tests, *([case.guard] if case.guard else [])], case.pattern)
            otherwise = [at(ast.If(test, [*assigns, *case.body], otherwise), case.pattern)]
        else:
            otherwise = [*assigns, *case.body]
    return otherwise


def _all_of(tests: list[ast.expr], place: ast.AST) -> ast.expr:
    return tests[0] if len(tests) == 1 else at(ast.BoolOp(ast.And(), tests), place)


def _asked(pattern: ast.pattern, subject: ast.expr) -> _Asked:
    """What a pattern asks of a subject. Raises RefusedError, and _NoMatchError."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            asked = _asked(inner, subject) if inner is not None else _Asked([], [])
            return _Asked(asked.tests, [*asked.variables, *([(name, subject)] if name is not None else [])])
        case ast.MatchOr(patterns=patterns):
            each = [_asked(one, subject) for one in patterns]
            if not all(one.tests for one in each) or any(one.variables for one in each):
                raise RefusedError("a pattern with variables in alternatives")
            return _Asked([at(ast.BoolOp(ast.Or(), [_all_of(one.tests, pattern) for one in each]), pattern)], [])
        case ast.MatchValue(value=value):
            return _Asked([at(ast.Compare(copied(subject), [ast.Eq()], [value]), pattern)], [])
        case ast.MatchSingleton(value=value):
            constant = at(ast.Constant(value), pattern)
            return _Asked([at(ast.Compare(copied(subject), [ast.Is()], [constant]), pattern)], [])
        case ast.MatchSequence(patterns=patterns):
            return _of_sequence(pattern, patterns, subject)
        case ast.MatchClass():
            return _of_class(pattern, subject)
    raise RefusedError("a match")


def _of_sequence(pattern: ast.pattern, patterns: list[ast.pattern], subject: ast.expr) -> _Asked:
    """What ``case (a, b)`` asks."""
    if any(isinstance(one, ast.MatchStar) for one in patterns):
        raise RefusedError("a match")
    count = len(patterns)
    if isinstance(subject, ast.Tuple):
        if len(subject.elts) != count:
            raise _NoMatchError
        return _together([], patterns, subject.elts)
    items: list[ast.expr] = [
        at(ast.Subscript(copied(subject), ast.Constant(i), ast.Load()), pattern) for i in range(count)
    ]
    test = at(of_arms("has_items", copied(subject), ast.Constant(count)), pattern)
    return _together([test], patterns, items)


def _of_class(pattern: ast.MatchClass, subject: ast.expr) -> _Asked:
    """What ``case Point(x, y=0.0)`` asks."""
    is_one = at(of_arms("is_instance", copied(subject), copied(pattern.cls)), pattern)
    keys: list[int | str] = [*range(len(pattern.patterns)), *pattern.kwd_attrs]
    parts = [at(of_arms("part_of", copied(subject), copied(pattern.cls), ast.Constant(key)), pattern) for key in keys]
    return _together([is_one], [*pattern.patterns, *pattern.kwd_patterns], parts)


def _together(tests: list[ast.expr], patterns: list[ast.pattern], subjects: list[ast.expr]) -> _Asked:
    """What patterns ask of their subjects, after some tests."""
    each = [_asked(one, subject) for one, subject in zip(patterns, subjects, strict=True)]
    return _Asked(
        [*tests, *(test for one in each for test in one.tests)],
        [variable for one in each for variable in one.variables],
    )
