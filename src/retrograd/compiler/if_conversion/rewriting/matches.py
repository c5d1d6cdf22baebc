"""``match`` as ``if``: where its cases compare the subject with values, and nothing else."""

from __future__ import annotations

import ast

from .tree import assign, at, copied

__all__ = ["write_as_tests"]


def write_as_tests(function: ast.FunctionDef) -> None:
    """Write, in place, each ``match`` of a function whose patterns are values, None, True, False, or anything."""
    _AsTests().generic_visit(function)


class _AsTests(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        if not all(_is_plain(case) for case in node.cases):
            return node
        before: list[ast.stmt] = []
        subject = node.subject
        if not isinstance(subject, ast.Name):
            name = f"_rg_subject_{node.lineno}_{node.col_offset}"
            before.append(at(assign(name, subject), subject))
            subject = at(ast.Name(name, ast.Load()), subject)
        otherwise: list[ast.stmt] = []
        for case in reversed(node.cases):
            body = case.body
            if isinstance(case.pattern, ast.MatchAs) and case.pattern.name is not None:
                body = [at(assign(case.pattern.name, copied(subject)), case.pattern), *body]
            tests = [one for one in (_test(case.pattern, subject), case.guard) if one is not None]
            if not tests:
                otherwise = body
                continue
            test = tests[0] if len(tests) == 1 else at(ast.BoolOp(ast.And(), tests), case.pattern)
            otherwise = [at(ast.If(test, body, otherwise), case.pattern)]
        return [*before, *otherwise] or at(ast.Pass(), node)


def _is_plain(case: ast.match_case) -> bool:
    """Whether a case asks no more of its subject than what it is equal to; it has no name for it in its guard."""
    if isinstance(case.pattern, ast.MatchAs):
        return case.pattern.pattern is None and (case.pattern.name is None or case.guard is None)
    return all(
        isinstance(one, (ast.MatchValue, ast.MatchSingleton))
        for one in (case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern])
    )


def _test(pattern: ast.pattern, subject: ast.expr) -> ast.expr | None:
    """What a pattern asks of a subject; None if nothing."""
    match pattern:
        case ast.MatchOr(patterns=patterns):
            tests = [test for test in (_test(one, subject) for one in patterns) if test is not None]
            return at(ast.BoolOp(ast.Or(), tests), pattern)
        case ast.MatchValue(value=value):
            return at(ast.Compare(copied(subject), [ast.Eq()], [value]), pattern)
        case ast.MatchSingleton(value=value):
            return at(ast.Compare(copied(subject), [ast.Is()], [at(ast.Constant(value), pattern)]), pattern)
    return None
