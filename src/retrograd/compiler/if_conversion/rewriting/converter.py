"""Rewrites the source of a function, so that both arms of its data-dependent ``if`` run in a trace.

The converter rewrites an ``if`` whose arms assign variables, attributes or items, an ``if`` whose arms return,
``a if test else b``, and a loop that data leave. In an arm, every call, attribute, subscript and operand goes through
``arms``, which looks at it first. The converter leaves alone what it cannot write so.

Source: Allen, Kennedy, Porterfield, Warren, "Conversion of control dependence to data dependence", POPL 1983.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..operators import COMPARISONS, IN_PLACE
from .arm_expressions import REDUCTIONS, asks_array, is_of_tests, membership, of_tests, test_of_identity
from .arm_statements import ArmStatements, WrittenLoop
from .assignment_expressions import write_as_assignments
from .deletions import write_deletions
from .jumps import Loop, deciding_tests, header_of, returns, returns_or_goes_on
from .liveness import Around, kept
from .matches import asks_for_parts, write_as_tests
from .source import compiled, definitions_of
from .tree import (
    ARMS,
    RefusedError,
    assigned,
    at,
    copied,
    is_of_arms,
    load,
    of_arms,
    parameters,
    parts_of,
    surely_assigned,
    swapped_parts,
)

__all__ = ["Wanted", "as_arm", "converted", "refusals", "unconverted"]

#: Methods and functions that sort, or keep in order.
_ORDERS = frozenset(
    {
        *("argsort", "sort", "sorted"),
        *("heapify", "heappop", "heappush", "heappushpop", "heapreplace"),
        *("insort", "insort_left", "insort_right"),
    }
)
#: Methods and functions that search, sort, or ask what decisions choose.
_SEARCHES = _ORDERS | {
    *("accumulate", "get", "index", "isinstance", "len", "median", "nlargest", "nsmallest"),
}

_SEE_VARIABLES = frozenset({"locals", "vars", "dir", "eval", "exec", "globals"})


class Wanted(NamedTuple):
    """What of a function is to be converted."""

    lines: frozenset[int] = frozenset()  #: those of its file on which tests and searches are
    refused: frozenset[int] = frozenset()  #: where tests begin that stay as they are
    identity: bool = False  #: each ``x is y``, if there is nothing else
    orders: bool = False  #: what sorts, wherever it is: a ``__lt__`` decides


def converted(code: types.CodeType, wanted: Wanted) -> types.CodeType | None:
    """The code of a function in which each ``if`` whose test is on one of the lines is converted.

    Args:
        code: that of the function.
        wanted: what is to be converted.

    Returns:
        None if nothing can be converted, or where the source is not to be found.
    """
    return _converted(code, code.co_filename, wanted)


@functools.lru_cache(maxsize=256)
def _converted(code: types.CodeType, file: str, wanted: Wanted) -> types.CodeType | None:
    """``file``: that of the code, which is equal to the same code of another file."""
    made = _rewritten(code, lambda function: _Converter(file, function, wanted).convert())
    if made is not None:
        _originals[made] = code
    return made


#: Why a test could not be written as one of arms, by its file and its line.
refusals: dict[tuple[str, int], str] = {}

_originals: weakref.WeakKeyDictionary[types.CodeType, types.CodeType] = weakref.WeakKeyDictionary()


def unconverted(code: types.CodeType) -> types.CodeType:
    """The code that other code was converted from; the same, if it was not."""
    return _originals.get(code, code)


def as_arm(code: types.CodeType) -> types.CodeType | str:
    """The code of a function that an arm calls, converted or not, written as an arm itself; or why that cannot be."""
    code = unconverted(code)
    try:
        made = _written(code, lambda function: _Converter(code.co_filename, function, Wanted()).convert_to_arm())
        return made or "whose source cannot be found"
    except RefusedError as refused:
        return f"in which there is {refused}, which the compiler cannot run for a branch that is not taken"
    except Exception:
        return "which may do something else than compute"


def _rewritten(code: types.CodeType, rewrite: Callable[[ast.FunctionDef], bool]) -> types.CodeType | None:
    try:
        return _written(code, rewrite)
    except Exception:  # a RefusedError, or code that the converter does not know: the function stays as it is
        return None


def _written(code: types.CodeType, rewrite: Callable[[ast.FunctionDef], bool]) -> types.CodeType | None:
    definition = next(definitions_of(code), None)
    return compiled(definition, code) if definition is not None and rewrite(definition) else None


class _Converter(ast.NodeTransformer):
    """Converts, in place, what decides on some lines of a function."""

    def __init__(self, file: str, function: ast.FunctionDef, wanted: Wanted) -> None:
        self._file, self._function, self._wanted = file, function, wanted
        write_as_assignments(function)
        self._found = write_as_tests(function)
        write_deletions(function)
        self._arms = ArmStatements(file, wanted.refused, kept(function), _free_in(function))

    def convert(self) -> bool:
        """Whether there was something to convert."""
        self._scope(self._function)
        _import_arms(self._function)
        return self._found

    def convert_to_arm(self) -> bool:
        """Write the function as an arm."""
        self._arms.function_for_trials(self._function)
        _import_arms(self._function)
        return True

    def _scope(self, node: ast.FunctionDef, outer: frozenset[str] = frozenset()) -> None:
        """``outer``: the variables of the function around that it assigns."""
        body = node.body if returns(node.body) else [*node.body, at(ast.Return(ast.Constant(None)), node.body[-1])]
        kept = self._arms.kept | outer
        with self._arms.assigning_outer(outer):
            node.body = self._block(body, Around(parameters(node) | outer, kept, kept))

    def _hits(self, test: ast.expr | ast.stmt) -> bool:
        if self._arms.is_written(test):
            return True
        lines = range(test.lineno, (test.end_lineno or test.lineno) + 1)
        wanted = any(line in self._wanted.lines for line in lines)
        wanted |= self._wanted.identity and _asks_for_identity(test)
        return wanted and test.lineno not in self._wanted.refused

    def _is_left_by_data(self, loop: Loop) -> bool:
        """Whether a test that is to be converted decides how often a loop runs, or what an iteration skips."""
        tests = [loop.test] if isinstance(loop, ast.While) else []
        return any(map(self._hits, (*tests, *deciding_tests(loop.body))))

    # --- expressions

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self._hits(node.test):
            arm = self._arms.expressions
            try:
                made = arm.selection(node, arm.test(copied(node.test), self.visit))
            except RefusedError:
                pass
            else:
                self._found = True
                return made
        self.generic_visit(node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) > 1:
            return self._as_test(node)
        of_two = self._hits(node) and is_of_tests(node)
        self.generic_visit(node)
        if of_two:
            self._found = True
            return of_tests(node)
        if self._hits(node) and (found := membership(node, _as_it_is)):
            self._found = True
            return found
        made = test_of_identity(node)
        self._found |= bool(made) and self._wanted.identity
        if made:
            return at(of_arms(made, node.left, *node.comparators), node)
        relation = type(node.ops[0]).__name__
        if relation not in COMPARISONS or not self._hits(node):
            return node
        self._found = True  # of arrays, NumPy would decide
        return at(of_arms("compared", ast.Constant(relation), node.left, *node.comparators), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not (self._hits(node) and is_of_tests(node)):
            return node
        self._found = True
        return of_tests(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if asks_for_parts(node):
            node.args[0] = self.visit(node.args[0])
            return node
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if isinstance(node.func, ast.Attribute) and asks_array(node) and self._hits(node):
            self._found = True
            return at(of_arms("of_array", ast.Constant(name), self.visit(node.func.value)), node)
        is_whole = not any(isinstance(one, ast.Starred) for one in node.args) and all(one.arg for one in node.keywords)
        hits = self._hits(node) or (self._wanted.orders and name in _ORDERS)
        is_wanted = is_whole and (name in _SEARCHES or name.startswith("bisect")) and hits
        has_key = name in ("max", "min") and any(one.arg == "key" for one in node.keywords)
        self._found |= has_key and self._hits(node)  # what it gives may choose an item
        if name in REDUCTIONS and self._hits(node):
            if made := self._arms.expressions.reduction(copied(node), self._plainly):
                self._found = True
                return made
            if name in ("any", "all") and len(node.args) == 1 and not node.keywords:
                self._found = True
                return at(of_arms("all_of_list", node.func, self.visit(node.args[0])), node)
        if function := self._arms.expressions.item_at_once(node.func, self.visit):
            node.func, node.args = function, list(map(self.visit, node.args))
            for keyword in node.keywords:
                keyword.value = self.visit(keyword.value)
            self._found |= self._hits(node)
            return node
        self.generic_visit(node)
        self._found |= is_wanted and hits
        call = of_arms("allowed.call", node.func, *node.args)
        assert isinstance(call, ast.Call)
        call.keywords = node.keywords
        return at(call, node) if is_wanted else node

    def _as_test(self, node: ast.expr) -> ast.expr:
        """A test that is no ``if``'s: a flag that is kept."""
        if not self._hits(node):
            return self._plainly(node)
        self._found = True
        return self._arms.expressions.test(
            copied(node), lambda one: self._plainly(one) if _is_test(one) else self.visit(one), is_value=True
        )

    def _plainly(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        if any(self._hits(test) for one in node.generators for test in one.ifs):
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):  # Python may name any of them
                refusals[self._file, line] = "the test decides how long a list is"
        return self._plainly(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._as_test(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self._as_test(node) if isinstance(node.op, ast.Not) else self._plainly(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = None
        if isinstance(node.ctx, ast.Load):
            value = self._arms.expressions.item_at_once(node.value, self.visit)
        if value is None:
            return self._plainly(node)
        self._found |= self._hits(node)
        node.value = value
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, (ast.Slice, ast.Constant)):
            return node
        self._found |= self._hits(node)
        return at(of_arms("places.item", node.value, node.slice), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        swapped = swapped_parts(node)
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1:
            return node
        if swapped is not None:
            self._found |= self._hits(node)
            things, one, other = map(self.visit, swapped)
            return at(ast.Expr(of_arms("places.swap", things, one, other)), node)
        if (within := _within(target)) is not None:
            self._found |= self._hits(node)
            return at(ast.Expr(of_arms("places.set_within", node.value, *within)), node)
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            self._found |= self._hits(node)
            return at(ast.Expr(of_arms("places.set_item", node.value, target.value, target.slice)), node)
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
        if not any(isinstance(one, ast.Subscript) and not isinstance(one.slice, ast.Slice) for one in parts):
            return node
        self._found |= self._hits(node)
        return [at(one, node) for one in self._arms.stored_parts(parts, node.value)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        target = node.target
        if type(node.op).__name__ not in IN_PLACE:
            return node
        if (within := _within(target)) is not None:
            self._found |= self._hits(node)
            return [at(one, node) for one in self._arms.augmented_within(within, node.op, node.value)]
        if not isinstance(target, ast.Subscript) or isinstance(target.slice, (ast.Slice, ast.Constant)):
            return node
        self._found |= self._hits(node)
        return [at(one, node) for one in self._arms.augmented_item(target, node.op, node.value)]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        as_arm = self._arms.inner_function(node)
        self._scope(node, self._outer_variables(node))
        if as_arm is None:
            return [node]
        node.decorator_list = [at(of_arms("allowed.written_as", load(as_arm.name)), node)]
        return [as_arm, node]

    def _outer_variables(self, node: ast.FunctionDef) -> frozenset[str]:
        """The nonlocal variables of a function that have been assigned where it is defined."""
        own = (one for one in _statements_of(node) if isinstance(one, ast.Nonlocal))
        body = self._function.body
        before = body[: body.index(node)] if node in body else []
        return frozenset(name for one in own for name in one.names) & (
            surely_assigned(before) | parameters(self._function)
        )

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        arm: ast.expr | None = None
        with contextlib.suppress(RefusedError):
            arm = self._arms.expressions.visit(copied(node))
        self.generic_visit(node)
        if arm is None:
            return node
        decorate = at(of_arms("allowed.written_as", arm), node)
        return at(ast.Call(decorate, [node], []), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    # --- statements

    def _block(self, statements: Sequence[ast.stmt], around: Around) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for i, (one, about) in enumerate(zip(statements, around.of_each(statements), strict=True)):
            rest = statements[i + 1 :]
            if isinstance(one, ast.If) and self._hits(one.test):
                if returns_or_goes_on(one, rest):
                    some = self._tried(self._arms.returning, one, rest, about._replace(live=around.live), self.visit)
                    if some is not None:
                        return [*made, *some]
                elif (some := self._tried(self._arms.assigning, one, about, self.visit)) is not None:
                    made += some
                    continue
            elif isinstance(one, (ast.For, ast.While)) and self._is_left_by_data(one):
                here = about._replace(live=around.live)
                loop: WrittenLoop | None = self._tried(self._arms.loop, one, rest, here, self.visit)
                if loop is not None:
                    return [*made, *loop.statements, *self._block(loop.rest, here.also(loop.bound))]
            made += self._statement(one, about)
        return made

    def _tried(self, write: Callable[..., Any], node: ast.If | Loop, *arguments: Any) -> Any:
        try:
            made = write(node, *arguments)
        except RefusedError as refused:
            site = self._file, (node.test if isinstance(node, ast.If) else header_of(node)).lineno
            refusals[site] = f"it cannot run both branches, because one has {refused}"
            return None
        self._found = True
        return made

    def _statement(self, node: ast.stmt, around: Around) -> list[ast.stmt]:
        if isinstance(node, (ast.TryStar, ast.Match)):
            return [node]
        if isinstance(node, (ast.Try, ast.With)):
            return [self._guarded(node, around)]
        if isinstance(node, (ast.If, ast.For, ast.While)):
            inside = around
            if isinstance(node, (ast.For, ast.While)):
                again = around.in_loop(node)
                inside = around._replace(live=again, jumps=again)
            if isinstance(node, ast.For):
                inside = inside.also(assigned([node.target]))
            bodies = {"body": node.body, "orelse": getattr(node, "orelse", [])}
            for name in bodies:
                setattr(node, name, [])
            self.generic_visit(node)
            for name, body in bodies.items():
                if name == "body" or body:
                    setattr(node, name, self._block(body, inside if name == "body" else around))
            return [node]
        visited = self.visit(node)
        return visited if isinstance(visited, list) else [visited]

    def _guarded(self, node: ast.Try | ast.With, around: Around) -> ast.stmt:
        """A ``try`` or a ``with``: what runs after an exception may read what was assigned until then."""
        if isinstance(node, ast.With):
            for item in node.items:
                item.context_expr = self.visit(item.context_expr)
            bound = assigned([one.optional_vars for one in node.items if one.optional_vars is not None])
            node.body = self._block(node.body, around.until_raised(around.live).also(bound))
            return node
        after = [node.orelse, node.finalbody, *(one.body for one in node.handlers)]
        inside = around.until_raised(around.live.union(*map(around.before, after)))
        node.body = self._block(node.body, inside)
        for statements in (node.orelse, *(one.body for one in node.handlers)):
            statements[:] = self._block(statements, inside)
        node.finalbody = self._block(node.finalbody, around)
        return node


def _within(target: ast.expr) -> list[ast.expr] | None:
    """Of ``things[key][name]`` and ``things[key].name``: the things, the key, the name, and whether that is an item."""
    if not isinstance(target, (ast.Subscript, ast.Attribute)):
        return None
    of = target.value
    if not is_of_arms(of, "places.item"):  # as it is written
        return None
    assert isinstance(of, ast.Call)
    things, key = of.args
    if isinstance(target, ast.Attribute):
        return [things, key, ast.Constant(target.attr), ast.Constant(False)]
    return [things, key, target.slice, ast.Constant(True)] if not isinstance(target.slice, ast.Slice) else None


def _as_it_is(node: ast.expr) -> ast.expr:
    return node


def _is_test(node: ast.expr) -> bool:
    return isinstance(node, (ast.BoolOp, ast.UnaryOp)) or (isinstance(node, ast.Compare) and len(node.ops) > 1)


def _asks_for_identity(test: ast.AST) -> bool:
    return any(isinstance(one, ast.Compare) and test_of_identity(one) for one in ast.walk(test))


def _free_in(function: ast.FunctionDef) -> frozenset[str]:
    """The names that a function assigns in other scopes. Raises RefusedError where it sees names as such."""
    found: set[str] = set()
    for one in ast.walk(function):
        if isinstance(one, (ast.Global, ast.Nonlocal)):
            found.update(one.names)
        elif isinstance(one, ast.Delete) or (isinstance(one, ast.Name) and one.id in _SEE_VARIABLES):
            raise RefusedError("a del, or a function that sees all variables")
    return frozenset(found)


def _statements_of(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """The statements of a function; not of those that are defined in it."""
    rest: list[ast.AST] = list(function.body)
    while rest:
        one = rest.pop()
        if isinstance(one, ast.stmt):
            yield one
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            rest += parts_of(one)


def _import_arms(node: ast.FunctionDef) -> None:
    """Begin a function with ``from retrograd.compiler.if_conversion.selecting import arms``."""
    module = __name__.removesuffix("rewriting.converter") + "selecting"
    written = ast.ImportFrom(module, [ast.alias("arms", ARMS)], 0)
    node.body.insert(0, at(written, node.body[0]))
