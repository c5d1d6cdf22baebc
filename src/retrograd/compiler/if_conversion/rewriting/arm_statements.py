"""Writes statements as arms: what they assign is selected afterwards, and what they do is looked at first."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ..operators import IN_PLACE
from .arm_expressions import ArmExpressions, TestsOfIdentity, Visit
from .jumps import (
    Loop,
    has_jumps,
    header_of,
    noting_breaks,
    returns,
    returns_or_goes_on,
    without_jumps,
    without_returns,
)
from .liveness import Around
from .tree import (
    RefusedError,
    arms,
    assign,
    assigned,
    at,
    called,
    copied,
    later,
    load,
    names,
    of_arms,
    parameters,
    reachable,
    reads_first,
    surely_assigned,
    swapped_parts,
    tried,
)

__all__ = ["ArmStatements", "WrittenLoop"]

#: What the variables begin with that are written.
_VARIABLE = "_rg_"

#: So many tests may be converted in a function: what follows two arms that both go on is written twice.
_MOST_TESTS = 300


class WrittenLoop(NamedTuple):
    """A loop that data leave, as it is written."""

    statements: list[ast.stmt]
    rest: list[ast.stmt]  #: what follows it, not yet written
    bound: frozenset[str]  #: the variables that are assigned for that


class ArmStatements:
    """Writes the arms of a function.

    Args:
        file: that of the function.
        refused: where tests begin that stay as they are.
        kept: variables that are read at any time.
        free: names of the function that are no variables of its own.
    """

    def __init__(self, file: str, refused: Collection[int], kept: frozenset[str], free: frozenset[str]) -> None:
        self.expressions: ArmExpressions = ArmExpressions(file, refused)
        self.kept: frozenset[str] = kept
        self._free, self._variables, self._tests = free, 0, 0
        self._outer: frozenset[str] = frozenset()  # of them, those that the function in it which is written may assign
        self._written: list[ast.expr] = []
        self._is_for_trials = False  # what is written runs in trials only

    def is_written(self, test: ast.expr | ast.stmt) -> bool:
        """Whether a test was none in the function."""
        return any(test is one for one in self._written)

    def _variable(self) -> str:
        self._variables += 1
        return f"{_VARIABLE}{self._variables}"

    @contextmanager
    def assigning_outer(self, variables: frozenset[str]) -> Iterator[None]:
        """For a function in the function, which assigns some of its variables, and is not called in an arm."""
        before, self._outer = self._outer, variables
        try:
            yield
        finally:
            self._outer = before

    def _assigns_free(self, names: Collection[str]) -> bool:
        return not (self._free - self._outer).isdisjoint(names)

    def function_for_trials(self, node: ast.FunctionDef) -> None:
        """Write a function as an arm, in place. Only trials call it."""
        before, self._is_for_trials = self._is_for_trials, True
        try:
            with self.assigning_outer(frozenset()):
                self._function(node)
        finally:
            self._is_for_trials = before

    def _function(self, node: ast.FunctionDef) -> None:
        body = _without_docstring(node.body)
        if self._free & assigned(body):
            raise RefusedError("a variable of another scope")
        result = self._variable()
        body = body if returns(body) else [*body, at(ast.Return(ast.Constant(None)), node)]
        written = self._block(body, result, Around(parameters(node), self.kept, self.kept))
        node.body = [*written, at(ast.Return(load(result)), node)]

    # --- tests

    def assigning(self, node: ast.If, around: Around, visit: Visit) -> list[ast.stmt]:
        """An ``if`` whose arms assign variables. ``visit`` writes its test."""
        arms = node.body, node.orelse
        surely = surely_assigned(node.body) & surely_assigned(node.orelse)
        names_in_it = assigned(node.body) | assigned(node.orelse)
        if self._assigns_free(names_in_it):
            raise RefusedError("a variable of another scope")
        for name in names_in_it - around.bound:
            if any(reads_first(arm, name) for arm in arms) or (name in around.live and name not in surely):
                raise RefusedError(f"a variable that it alone assigns, {name}")
        merged = sorted(names_in_it & around.live)
        yes, no = (self._block(arm, None, around) for arm in arms)
        return self._both(node, yes, no, sorted(names_in_it & around.bound), merged, self._decision(node, visit))

    def returning(self, node: ast.If, rest: Sequence[ast.stmt], around: Around, visit: Visit) -> list[ast.stmt]:
        """An ``if`` and what follows it, where either arm returns, or goes on to a ``return``."""
        result = self._variable()
        ends = at(ast.Return(load(result)), node.test)
        return [*self._returning(node, rest, result, around, visit), ends]

    def _returning(
        self, node: ast.If, rest: Sequence[ast.stmt], result: str, around: Around, visit: Visit
    ) -> list[ast.stmt]:
        yes, no = (reachable([*arm, *rest]) for arm in (node.body, node.orelse))
        names_in_it = assigned(yes) | assigned(no)
        if self._assigns_free(names_in_it) or any(reads_first(no, name) for name in assigned(yes) - around.bound):
            raise RefusedError("a variable of another scope, or of the other branch")
        arms = [self._block(arm, result, around) for arm in (yes, no)]
        old = sorted(assigned(yes) & around.bound)
        return self._both(node, arms[0], arms[1], old, [result], self._decision(node, visit))

    def _both(
        self,
        node: ast.If,
        yes: Sequence[ast.stmt],
        no: Sequence[ast.stmt],
        old: Sequence[str],
        merged: Sequence[str],
        decision: ast.expr,
    ) -> list[ast.stmt]:
        """Runs one arm or both. ``old``: the variables that both begin with; ``merged``: those that they assign."""
        self._tests += 1
        if self._tests > _MOST_TESTS:
            raise RefusedError("too many ways to go on")
        made, kept, again = (self._variable() for _ in range(3))
        old_again = [assign(names(old, ast.Store()), load(kept))] if old else []
        ends = [
            ast.Expr(called(made, method, _nothing(merged) if _ends_with_raise(arm) else names(merged, ast.Load())))
            for method, arm in (("ends_yes", node.body), ("ends_no", node.orelse))
        ]
        arms: list[ast.stmt] = [
            ast.Expr(called(made, "begins")),
            *old_again,
            ast.If(load(made, "yes"), [*yes, ends[0]], []),
            ast.If(load(made, "no"), [*old_again, *no, ends[1]], []),
            ast.Expr(called(made, "leaves")),
        ]
        unless_fails = ast.If(ast.UnaryOp(ast.Not(), called(made, "fails")), [ast.Raise()], [])
        written = [
            assign(made, decision),
            *([assign(kept, names(old, ast.Load()))] if old else []),
            ast.For(ast.Name(again, ast.Store()), load(made), tried(arms, [unless_fails]), []),
            *([assign(names(merged, ast.Store()), load(made, "results"))] if merged else []),
        ]
        return [at(one, node.test) for one in written]

    def _decision(self, node: ast.If, visit: Visit) -> ast.expr:
        test = self.expressions.test(copied(node.test), visit)
        return of_arms("decisions.Decision", test, self.expressions.site(node.test))

    # --- loops

    def loop(self, node: Loop, rest: Sequence[ast.stmt], around: Around, visit: Visit) -> WrittenLoop:
        """A loop that data leave. ``rest``: what follows it, after which ``around.live`` is live."""
        goes_on, returned, result, ended = (self._variable() for _ in range(4))
        after: list[ast.stmt] = []
        before: list[ast.stmt] = []
        loop = without_returns(node, returned, result)
        if returned in assigned([loop]):
            before = [assign(returned, ast.Constant(False)), assign(result, arms("selections.unset"))]
            after.append(ast.If(self._test_of(returned, node), [ast.Return(load(result))], []))
        if not isinstance(node, ast.While) or not node.orelse:
            ended = goes_on
        else:  # which stops going on where its test fails, too
            loop = noting_breaks(loop, ended)
            before.append(assign(ended, ast.Constant(True)))
        if node.orelse:
            after.append(ast.If(self._test_of(ended, node), node.orelse, []))
        rest = [*(at(one, header_of(node)) for one in after), *rest]
        bound = frozenset(assigned(before))
        inside = around.also(bound)._replace(live=around.before(rest))
        made = self._iterations(loop, goes_on, inside, visit)
        if not self._is_for_trials:  # elsewhere, the loop is what it was
            left = [assign(name, ast.Constant(False)) for name in dict.fromkeys((goes_on, ended))]
            plain = [TestsOfIdentity().visit(copied(node)), *left]
            made = [ast.If(of_arms("in_trial"), made, plain)]
        return WrittenLoop([at(one, header_of(node)) for one in (*before, *made)], rest, bound)

    def _test_of(self, variable: str, loop: Loop) -> ast.expr:
        """A test that is converted wherever it stands."""
        self._written.append(at(load(variable), header_of(loop)))
        return self._written[-1]

    def _iterations(self, node: Loop, goes_on: str, around: Around, visit: Visit) -> list[ast.stmt]:
        """A loop without ``return``, as one whose body is an arm: that of whether the loop goes on."""
        before, self._is_for_trials = self._is_for_trials, True
        try:
            return self._written_iterations(node, goes_on, around, visit)
        finally:
            self._is_for_trials = before

    def _written_iterations(self, node: Loop, goes_on: str, around: Around, visit: Visit) -> list[ast.stmt]:
        loop, item = self._variable(), self._variable()
        names_in_it = assigned([node])
        if self._assigns_free(names_in_it):
            raise RefusedError("a variable of another scope")
        again = around.in_loop(node)
        live = sorted(names_in_it & again)
        body = without_jumps(node.body, goes_on)
        if isinstance(node, ast.For):
            body.insert(0, at(assign(node.target, load(item)), node.target))
        step = at(ast.If(load(goes_on), body, []), header_of(node))
        merged = [*live, goes_on]
        arm = self._block(step.body, None, around.also(merged)._replace(live=again | {goes_on}))
        both = self._both(step, arm, [], merged, merged, called(loop, "decides", load(goes_on)))
        begins: list[ast.stmt] = [
            assign(loop, of_arms("Loop", self.expressions.site(header_of(node)))),
            assign(goes_on, called(loop, "begins")),
            *(assign(name, arms("selections.unbound")) for name in live if name not in around.bound),
        ]
        leave = ast.If(called(loop, "ends", load(goes_on)), [ast.Break()], [])
        if isinstance(node, ast.For):
            items = called(loop, "over", later(self.expressions.items(copied(node.iter))))
            return [*begins, ast.For(ast.Name(item, ast.Store()), items, [*both, leave], [])]
        test = at(ast.BoolOp(ast.And(), [load(goes_on), copied(node.test)]), node.test)
        is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        asks = [] if is_endless else [assign(goes_on, of_arms("asked", self.expressions.test(test, visit)))]
        return [*begins, ast.While(ast.Constant(True), [*asks, leave, *both], [])]

    # --- arms

    def _block(self, statements: Sequence[ast.stmt], result: str | None, around: Around) -> list[ast.stmt]:
        """Statements as an arm; with ``result``, that variable gets what they return."""
        made: list[ast.stmt] = []
        visit = self.expressions.visit
        for i, (one, about) in enumerate(zip(statements, around.of_each(statements), strict=True)):
            rest, here = statements[i + 1 :], about._replace(live=around.live)
            if isinstance(one, ast.If) and result is not None and returns_or_goes_on(one, rest):
                return [*made, *self._returning(one, rest, result, here, visit)]
            if isinstance(one, ast.While) or (isinstance(one, ast.For) and (has_jumps(one.body) or one.orelse)):
                loop = self.loop(one, rest, here, visit)
                return [*made, *loop.statements, *self._block(loop.rest, result, here.also(loop.bound))]
            if isinstance(one, ast.Return) and result is not None:
                value = copied(one.value) if one.value else ast.Constant(None)
                return [*made, at(assign(result, visit(value)), one)]
            if isinstance(one, ast.Raise):
                return [*made, at(ast.If(ast.UnaryOp(ast.Not(), of_arms("conditions.not_reached")), [one], []), one)]
            if isinstance(one, ast.If):
                made += [self._unless(one)] if _raises(one) else self.assigning(one, about, visit)
            else:
                made += self._statement(copied(one), about)
        return made

    def _unless(self, node: ast.If) -> ast.stmt:
        """``if test: raise …``: that it does not is a guard, where the arm is taken."""
        test = at(ast.UnaryOp(ast.Not(), copied(node.test)), node.test)
        holds = of_arms("conditions.must_hold", of_arms("asked", self.expressions.test(test, self.expressions.visit)))
        return at(ast.If(ast.UnaryOp(ast.Not(), at(holds, node.test)), node.body, []), node)

    def _statement(self, node: ast.stmt, around: Around) -> list[ast.stmt]:
        if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return []
        if isinstance(node, ast.For):
            return [self._plain_loop(node, around)]
        if isinstance(node, ast.FunctionDef):
            return [self._inner_function(node)]
        if isinstance(node, ast.Expr):
            return [at(ast.Expr(self.expressions.visit(node.value)), node)]
        if isinstance(node, ast.Assert):
            fails = at(ast.UnaryOp(ast.Not(), node.test), node.test)
            written = at(ast.If(fails, [ast.Assert(ast.Constant(False), node.msg)], []), node)
            return [self._unless(written)] if __debug__ else []
        if isinstance(node, ast.AugAssign) and type(node.op).__name__ in IN_PLACE:
            return [at(one, node) for one in self._augmented(node)]
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            raise RefusedError(type(node).__name__)
        if isinstance(node, ast.Assign) and (swapped := swapped_parts(node)) is not None:
            return [at(ast.Expr(of_arms("places.swap", *map(self.expressions.visit, swapped))), node)]
        targets, value = (node.targets if isinstance(node, ast.Assign) else [node.target]), node.value
        return [at(one, node) for one in self._assignment(targets, value)] if value is not None else []

    def _plain_loop(self, node: ast.For, around: Around) -> ast.stmt:
        """A loop over what is there, which no data leave."""
        item = self._variable()
        again = around.in_loop(node)
        body = [at(assign(node.target, load(item)), node.target), *node.body]
        written = self._block(body, None, around._replace(live=again))
        return at(ast.For(ast.Name(item, ast.Store()), self.expressions.items(node.iter), written, []), node)

    def inner_function(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        """A function in plain code as an arm, of another name; None if it cannot be one."""
        made = copied(node)
        made.name = self._variable()
        _drop_annotations(made)
        try:
            _check_definition(made)
            self.function_for_trials(made)
        except RefusedError:
            return None
        made.decorator_list = [at(arms("allowed.written"), node)]
        return made

    def _inner_function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        _check_definition(node, may_compute=True)
        given = node.args
        given.defaults = list(map(self.expressions.visit, given.defaults))
        given.kw_defaults = [one and self.expressions.visit(one) for one in given.kw_defaults]
        if _drop_annotations(node):
            raise RefusedError("an annotation that calls something")
        self._function(node)
        node.decorator_list = [at(arms("allowed.written"), node)]
        return node

    # --- assignments

    def _assignment(self, targets: Sequence[ast.expr], value: ast.expr) -> list[ast.stmt]:
        unpacks = any(isinstance(one, (ast.Tuple, ast.List)) for one in targets)
        unpacks &= not isinstance(value, (ast.Tuple, ast.List))
        written = self.expressions.items(value) if unpacks else self.expressions.visit(value)
        if len(targets) == 1:
            return self._assign(targets[0], written)
        whole = self._variable()
        return [assign(whole, written), *(made for one in targets for made in self._assign(one, load(whole)))]

    def _assign(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """An assignment to variables, attributes and items."""
        if _are_names(target):
            return [assign(target, value)]
        if isinstance(target, ast.Attribute):
            thing = self.expressions.visit(target.value)
            return [ast.Expr(of_arms("places.set_attribute", thing, ast.Constant(target.attr), value))]
        if isinstance(target, ast.Subscript):
            thing, key = self.expressions.visit(target.value), self.expressions.key(target.slice)
            return [ast.Expr(of_arms("places.set_item", value, thing, key))]
        if not isinstance(target, (ast.Tuple, ast.List)):
            raise RefusedError(type(target).__name__)
        parts = [self._variable() for _ in target.elts]
        stores: list[ast.expr] = [ast.Name(part, ast.Store()) for part in parts]
        for i, one in enumerate(target.elts):
            if isinstance(one, ast.Starred):
                stores[i] = ast.Starred(stores[i], ast.Store())
        made = [assign(ast.Tuple(stores, ast.Store()), value)]
        for starred, part in zip(target.elts, parts, strict=True):
            one = starred.value if isinstance(starred, ast.Starred) else starred
            is_several = isinstance(one, (ast.Tuple, ast.List))
            made += self._assign(one, of_arms("allowed.items", load(part)) if is_several else load(part))
        return made

    def _augmented(self, node: ast.AugAssign) -> list[ast.stmt]:
        target, visit = node.target, self.expressions.visit
        value = self.expressions.operand(node.value)
        if isinstance(target, ast.Name):
            return [assign(target, _augmented(node.op, load(target.id), value))]
        if isinstance(target, ast.Subscript):
            written = ast.Subscript(visit(target.value), visit(target.slice), ast.Store())
            return self.augmented_item(written, node.op, value)
        holder, name = self._variable(), ast.Constant(target.attr)
        new = _augmented(node.op, of_arms("places.attribute", load(holder), name), value)
        return [assign(holder, visit(target.value)), ast.Expr(of_arms("places.set_attribute", load(holder), name, new))]

    def stored_parts(self, targets: Sequence[ast.expr], value: ast.expr) -> list[ast.stmt]:
        """``a[i], a[j] = …``, of which all parts are written already."""
        parts = [self._variable() for _ in targets]
        stores: list[ast.expr] = [ast.Name(part, ast.Store()) for part in parts]
        made = [assign(ast.Tuple(stores, ast.Store()), value)]
        for one, part in zip(targets, parts, strict=True):
            if isinstance(one, ast.Starred):
                raise RefusedError("a starred target")
            if isinstance(one, ast.Subscript) and not isinstance(one.slice, ast.Slice):
                made.append(ast.Expr(of_arms("places.set_item", load(part), one.value, one.slice)))
            else:
                made.append(assign(one, load(part)))
        return made

    def augmented_within(self, within: Sequence[ast.expr], op: ast.operator, value: ast.expr) -> list[ast.stmt]:
        """``things[key][name] += value``, or ``things[key].name += value``, of which all is written already."""
        holder, part = self._variable(), self._variable()
        things, key, name, is_item = within
        new = _augmented(op, called(holder, "read", load(part), is_item), value)
        return [
            assign(holder, of_arms("places.Within", things, key)),
            assign(part, name),
            ast.Expr(called(holder, "store", new, load(part), is_item)),
        ]

    def augmented_item(self, target: ast.Subscript, op: ast.operator, value: ast.expr) -> list[ast.stmt]:
        """``target += value``, or another operator; both are written already."""
        holder, key = self._variable(), self._variable()
        new = _augmented(op, of_arms("places.item", load(holder), load(key)), value)
        return [
            assign(holder, target.value),
            assign(key, target.slice),
            ast.Expr(of_arms("places.set_item", new, load(holder), load(key))),
            assign(holder, ast.Constant(None)),  # so that rows can change places
        ]


def _drop_annotations(node: ast.FunctionDef) -> bool:
    """Leave out what would be computed where the function is defined. Whether that calls something."""
    arguments = node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    found = [node.returns, *(one.annotation for one in every if one is not None)]
    node.returns = None
    for one in filter(None, every):
        one.annotation = None
    return any(isinstance(part, ast.Call) for one in found if one is not None for part in ast.walk(one))


def _check_definition(node: ast.FunctionDef, may_compute: bool = False) -> None:
    arguments = node.args
    defaults = (*arguments.defaults, *filter(None, arguments.kw_defaults))
    is_plain = may_compute or all(isinstance(one, (ast.Constant, ast.Name)) for one in defaults)
    if node.decorator_list or not is_plain:
        raise RefusedError("a decorator, or a default that is computed")


def _augmented(op: ast.operator, old: ast.expr, value: ast.expr) -> ast.expr:
    return of_arms("allowed.augmented", ast.Constant(type(op).__name__), old, value)


def _raises(node: ast.If) -> bool:
    """Whether an ``if`` does nothing but raise."""
    return not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ast.Raise)


def _ends_with_raise(arm: Sequence[ast.stmt]) -> bool:
    return bool(arm) and isinstance(arm[-1], ast.Raise)


def _nothing(merged: Sequence[str]) -> ast.expr:
    return ast.Tuple([arms("selections.unset") for _ in merged], ast.Load())


def _are_names(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(isinstance(one, ast.Name) for one in target.elts)
    return isinstance(target, ast.Name)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if documented else body
