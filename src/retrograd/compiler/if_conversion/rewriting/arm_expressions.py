"""Writes expressions so that they do nothing but compute, where both arms of an ``if`` run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import Any

from ..operators import ANEW, COMPARISONS, OF_TESTS
from .matches import asks_for_parts
from .tree import RefusedError, at, copied, later, of_arms

__all__ = [
    "REDUCTIONS",
    "ArmExpressions",
    "TestsOfIdentity",
    "Visit",
    "asks_array",
    "is_of_tests",
    "membership",
    "of_tests",
    "test_of_identity",
]

#: Functions of a generator, or of a list of what it gives, that are written otherwise.
REDUCTIONS = frozenset({"any", "all", "sum", "next", "len", "list", "max", "min", "sorted"})

#: The options of those that have any.
_OPTIONS = {"max": ("key", "default"), "min": ("key", "default"), "sorted": ("key", "reverse")}

#: Methods without arguments that an array of numbers may have.
_OF_ARRAYS = frozenset({"max", "min", "argmax", "argmin"})

#: What the item is called of which such a function computes something, and the sum of those before.
_ITEM, _TOTAL = "_rg_item", "_rg_total"

#: Writes an expression.
Visit = Callable[[ast.expr], Any]


class ArmExpressions(ast.NodeTransformer):
    """Writes an expression so that it does nothing but compute, or raises RefusedError."""

    def __init__(self, file: str, refused: Collection[int]) -> None:
        self._file, self._refused = file, refused

    def site(self, test: ast.expr) -> ast.expr:
        """Where a test begins."""
        if test.lineno in self._refused:
            raise RefusedError("a test that stays as it is")
        return ast.Tuple([ast.Constant(self._file), ast.Constant(test.lineno)], ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in ("super", "__class__"):  # which look at the frame that calls them
            raise RefusedError(f"the name {node.id}")
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, (*_ALLOWED, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)):
            raise RefusedError(type(node).__name__)
        return super().generic_visit(node)

    def operand(self, node: ast.expr) -> ast.expr:
        visited = self.visit(node)
        return at(of_arms("allowed.operand", visited), node) if isinstance(node, _FOUND) else visited

    def _held(self, node: ast.expr) -> ast.expr:
        visited = self.visit(node)
        return at(of_arms("allowed.held", visited), node) if isinstance(node, _HELD) else visited

    def items(self, node: ast.expr) -> ast.expr:
        return at(of_arms("allowed.items", self._held(node)), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        name = type(node.op).__name__
        if name in ANEW:
            return at(
                of_arms("allowed.operated", ast.Constant(name), self.visit(node.left), self.visit(node.right)), node
            )
        node.left, node.right = self.operand(node.left), self.operand(node.right)
        return of_tests(node) if name in OF_TESTS else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.USub):
            return at(of_arms("allowed.minus", self.visit(node.operand)), node)
        if isinstance(node.op, ast.Not):
            return self._written_test(node, self.visit, is_value=False)
        node.operand = self.operand(node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if made := test_of_identity(node):
            return at(of_arms(made, self.visit(node.left), self.visit(node.comparators[0])), node)
        if found := membership(node, self.visit):
            return found
        of_two = is_of_tests(node)
        node.left, node.comparators = self._compared(node.left), list(map(self._compared, node.comparators))
        relation = type(node.ops[0]).__name__
        if len(node.ops) == 1 and relation in COMPARISONS and not of_two:  # of arrays, NumPy would decide
            return at(of_arms("compared", ast.Constant(relation), node.left, *node.comparators), node)
        return of_tests(node) if of_two else node

    def _compared(self, node: ast.expr) -> ast.expr:
        visited = self.visit(node)
        return visited if isinstance(node, ast.Constant) else at(of_arms("allowed.operand", visited), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value = self.item_at_once(node.value, self.visit) or self.visit(node.value)
        return at(of_arms("places.attribute", value, ast.Constant(node.attr)), node)

    def item_at_once(self, node: ast.expr, visit: Visit) -> ast.expr | None:
        """``things[key]`` in ``things[key].name`` and ``things[key](…)``; None of something else."""
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, (ast.Slice, ast.Constant)):
            return None
        return at(of_arms("places.item", visit(node.value), visit(node.slice), ast.Constant(True)), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return at(of_arms("places.item", self.visit(node.value), self.key(node.slice)), node)

    def key(self, node: ast.expr) -> ast.expr:
        """What is between the brackets of an item."""
        key: ast.expr = self.visit(node)
        if isinstance(key, ast.Slice):
            key = of_arms("span", *(one or ast.Constant(None) for one in (key.lower, key.upper, key.step)))
        return key

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return at(of_arms("places.born", node), node) if isinstance(node.ctx, ast.Load) else node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._filtered(copied(node)) or self._born(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        made = self._born(node)
        node.key = at(of_arms("places.as_key", node.key), node.key)
        return made

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        if None in node.keys:
            raise RefusedError("a ** before an argument or an item")
        made = self._born(node)
        node.keys = [at(of_arms("places.as_key", key), key) for key in node.keys if key is not None]
        return made

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._born(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        try:
            return self._written_test(node, self.visit, is_value=True)
        except RefusedError:
            *asked, last = map(self.visit, node.values)
            node.values = [*(at(of_arms("allowed.tested", one), one) for one in asked), last]
            return node

    def _born(self, node: ast.expr) -> ast.AST:
        self.generic_visit(node)
        return at(of_arms("places.born", node), node)

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        return at(ast.Starred(of_arms("allowed.spread", self._held(node.value)), ast.Load()), node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = at(of_arms("allowed.shown", self.visit(node.value)), node.value)
        node.format_spec = node.format_spec and self.visit(node.format_spec)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        if node.args.defaults or any(node.args.kw_defaults):
            raise RefusedError("a default that is computed")
        return at(of_arms("allowed.written", at(ast.Lambda(node.args, self.visit(node.body)), node)), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if asks_for_parts(node):
            node.args[0] = self.visit(node.args[0])
            return node
        if any(one.arg is None for one in node.keywords):
            raise RefusedError("a ** before an argument or an item")
        if getattr(node.func, "id", "") not in ("any", "all") and (made := self.reduction(node, _of_that_name)):
            return made
        if asks_array(node):
            assert isinstance(node.func, ast.Attribute)
            return at(of_arms("of_array", ast.Constant(node.func.attr), self.visit(node.func.value)), node)
        for keyword in node.keywords:
            keyword.value = self._held(keyword.value)
        function = self.item_at_once(node.func, self.visit) or self.visit(node.func)
        arguments = [function, *map(self._held, node.args)]
        call = of_arms("allowed.call", *arguments)
        assert isinstance(call, ast.Call)
        call.keywords = node.keywords
        return at(call, node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return self.selection(node, self.test(node.test, self.visit))

    def selection(self, node: ast.IfExp, test: ast.expr) -> ast.expr:
        """``a if test else b``, given the test as it is written."""
        arms = [later(self.visit(copied(one))) for one in (node.body, node.orelse)]
        return at(of_arms("decisions.select", test, *arms, self.site(node.test)), node)

    def test(self, node: ast.expr, visit: Visit, is_value: bool = False) -> ast.expr:
        """A test whose ``and``, ``or`` and ``not`` keep what is traced; as it is, where that cannot be written.

        ``is_value``: it is kept what ``and`` and ``or`` give, and not only whether that is true.
        """
        try:
            return self._written_test(node, visit, is_value)
        except RefusedError:
            return visit(node)  # type: ignore[no-any-return]

    def _written_test(self, node: ast.expr, visit: Visit, is_value: bool) -> ast.expr:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return at(of_arms("negated", self.test(node.operand, visit)), node)
        if isinstance(node, ast.Compare) and not all(isinstance(one, _TWICE) for one in node.comparators[:-1]):
            return self._chain(node, visit)
        name, parts = _parts(node)
        if len(parts) == 1:
            return visit(node)  # type: ignore[no-any-return]
        found, *others = (self.test(copied(one), self.visit if i else visit, is_value) for i, one in enumerate(parts))
        if not is_value:
            found, *others = (at(of_arms("asked", one), node) for one in (found, *others))
        for other in others:
            found = at(of_arms(name, found, later(other), self.site(node)), node)
        return found

    def _chain(self, node: ast.Compare, visit: Visit) -> ast.expr:
        """``a < f(b) < c``, which computes each number once."""
        if not all(type(op).__name__ in COMPARISONS for op in node.ops):
            raise RefusedError("a chain of other comparisons")
        left, first, *others = (copied(one) for one in (node.left, *node.comparators))
        sides = [later(of_arms("allowed.operand", one)) for one in (visit(first), *map(self.visit, others))]
        relations = [ast.Constant(type(op).__name__) for op in node.ops]
        pairs = [one for pair in zip(relations, sides, strict=True) for one in pair]
        return at(of_arms("chain", self.site(node), of_arms("allowed.operand", visit(left)), *pairs), node)

    def reduction(self, node: ast.Call, plainly: Visit) -> ast.expr | None:
        """``any(test for …)``, ``sum(x for … if test)`` and the like; None where that cannot be written.

        What is computed of each item is written as an arm. ``plainly`` writes the call as it is, for a function of the
        user's that has the name, and where items can be read only once.
        """
        if not _is_reduction(node):
            return None
        name, (of, *others) = getattr(node.func, "id", ""), node.args
        assert isinstance(of, (ast.GeneratorExp, ast.ListComp))
        try:
            given = self._given(name, of, plainly(copied(node)))
            more = [later(self.visit(copied(one))) for one in others]
            options = [ast.keyword(one.arg, later(self.visit(copied(one.value)))) for one in node.keywords]
        except RefusedError:
            return None
        made = of_arms("reduced", node.func, ast.Constant(name), *given, *more)
        assert isinstance(made, ast.Call)
        made.keywords = options
        return at(made, node)

    def _filtered(self, node: ast.ListComp) -> ast.expr | None:
        """``[x for … if test]``; None where that cannot be written, or need not be."""
        if any(one.is_async for one in node.generators) or not any(one.ifs for one in node.generators):
            return None
        try:
            return at(of_arms("filtered", *self._given("list", node, _of_that_iterator(copied(node)))), node)
        except RefusedError:
            return None

    def _given(self, name: str, of: ast.GeneratorExp | ast.ListComp, plainly: ast.expr) -> list[ast.expr]:
        """What is read, what each item gives, where, what is done as it is written, whether an item gives several."""
        items, is_nested = later(self.items(copied(of.generators[0].iter))), len(of.generators) > 1
        return [items, self._of_each(name, of), self.site(of), later(plainly), ast.Constant(is_nested)]

    def _of_each(self, name: str, of: ast.GeneratorExp | ast.ListComp) -> ast.expr:
        """A function of an item, which gives the test of it, and what is computed of it: both as functions."""
        generator = of.generators[0]
        tests: ast.expr = ast.Constant(True)
        if generator.ifs:
            whole = generator.ifs[0] if len(generator.ifs) == 1 else at(ast.BoolOp(ast.And(), generator.ifs), of)
            tests = self.test(copied(whole), self.visit)
        element = ast.Constant(1) if name == "len" else copied(of.elt)
        rest = [copied(one) for one in of.generators[1:]]
        if rest and name == "sum":  # which goes on with what the items before gave
            inner = at(ast.GeneratorExp(element, rest), of)
            element = at(ast.Call(ast.Name("sum", ast.Load()), [inner, ast.Name(_TOTAL, ast.Load())], []), of)
        elif rest:  # the items of each are a list of their own
            element = at(ast.ListComp(element, rest), of)
        computed = self.test(element, self.visit) if name in ("any", "all") else self.visit(element)
        item = ast.Tuple([ast.Name(_ITEM, ast.Load())], ast.Load())
        unpacked = self.visit_comprehension(ast.comprehension(copied(generator.target), item, [], 0))
        gives = _of_one(_TOTAL, computed) if rest and name == "sum" else later(computed)
        pair = ast.Tuple([at(later(tests), of), at(gives, of)], ast.Load())
        only = ast.Subscript(ast.ListComp(pair, [unpacked]), ast.Constant(0), ast.Load())
        return at(_of_one(_ITEM, only), of)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        if node.is_async or node.ifs:
            raise RefusedError("a condition in a comprehension")
        node.iter = self.items(node.iter)
        if not isinstance(node.target, ast.Name):
            node.iter = at(of_arms("allowed.rows", node.iter, _shape_of(node.target)), node.iter)
        return node


def _of_one(name: str, body: ast.expr) -> ast.Lambda:
    """A function of one argument."""
    return ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body)


def asks_array(call: ast.Call) -> bool:
    """Whether a call is of a method that compares all numbers of an array, if it is one's."""
    is_alone = not (call.args or call.keywords)
    return is_alone and isinstance(call.func, ast.Attribute) and call.func.attr in _OF_ARRAYS


def _is_reduction(node: ast.Call) -> bool:
    """Whether a call may be that of a function of Python's that reduces what a generator gives to one thing."""
    name = getattr(node.func, "id", "")
    if name not in REDUCTIONS or not node.args or not all(one.arg in _OPTIONS.get(name, ()) for one in node.keywords):
        return False
    of, *others = node.args
    kinds = {"len": (ast.ListComp,), "sum": (ast.GeneratorExp, ast.ListComp)}.get(name, (ast.GeneratorExp,))
    if not isinstance(of, kinds):
        return False
    if len(of.generators) > 1 and (name in ("any", "all", "next") or any(one.is_async for one in of.generators)):
        return False
    if name == "len" and not isinstance(of.elt, (ast.Name, ast.Constant)):  # which do nothing else
        return False
    most, least = int(name in ("sum", "next")), int(name == "next")
    is_whole = least <= len(others) <= most and not any(isinstance(one, ast.Starred) for one in others)
    is_filtered = any(one.ifs for one in of.generators) or name in ("any", "all")
    return is_whole and not of.generators[0].is_async and is_filtered


def _of_that_iterator(node: ast.expr) -> ast.expr:
    """What an arm does in place of reading from an iterator that others may read."""
    return at(of_arms("refused", ast.Constant("reads from an iterator, which moves on")), node)


def _of_that_name(node: ast.expr) -> ast.expr:
    """What an arm does in place of a function of the user's that has the name of one of Python's."""
    return at(of_arms("refused", ast.Constant("calls a function that has the name of one of Python's")), node)


def _shape_of(target: ast.expr) -> ast.expr:
    """Which parts of an item are unpacked, too: None where none is, else the same of each."""
    if not isinstance(target, (ast.Tuple, ast.List)) or not all(_is_target(one) for one in target.elts):
        raise RefusedError("a target of another kind")
    parts = [ast.Constant(None) if isinstance(one, ast.Name) else _shape_of(one) for one in target.elts]
    return ast.Tuple(parts, ast.Load())


def _is_target(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Tuple, ast.List))


def test_of_identity(node: ast.Compare) -> str:
    """What is called in place of a test whether something is a certain object, if a comparison is one."""
    if len(node.ops) != 1:
        return ""
    return (
        "places.is_"
        if isinstance(node.ops[0], ast.Is)
        else "places.is_not"
        if isinstance(node.ops[0], ast.IsNot)
        else ""
    )


def membership(node: ast.Compare, visit: Visit) -> ast.expr | None:
    """``thing in things``, and ``not in``; None of another comparison."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return None
    found = at(of_arms("allowed.contains", visit(node.left), visit(node.comparators[0])), node)
    return found if isinstance(node.ops[0], ast.In) else at(of_arms("negated", found), node)


def is_of_tests(node: ast.expr) -> bool:
    """Whether an operator may be between two tests, though it need not be."""
    is_equality = isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]).__name__ in OF_TESTS
    return _is_of_bits(node) or (is_equality and any(map(_is_test, (node.left, *node.comparators))))  # type: ignore[attr-defined]


def of_tests(node: Any) -> ast.expr:
    """What is called in place of such an operator."""
    (op,), (other,) = (node.ops, node.comparators) if isinstance(node, ast.Compare) else ([node.op], [node.right])
    return at(of_arms("of_tests", ast.Constant(type(op).__name__), node.left, other), node)


def _is_of_bits(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and type(node.op).__name__ in OF_TESTS


def _is_test(node: ast.expr) -> bool:
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return isinstance(node, (ast.Compare, ast.BoolOp)) or is_not or _is_of_bits(node)


class TestsOfIdentity(ast.NodeTransformer):
    """Writes tests whether something is a certain object, and leaves all else as it is."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        made = test_of_identity(node)
        return at(of_arms(made, node.left, *node.comparators), node) if made else node


_ALLOWED = (
    *(ast.Constant, ast.Name, ast.BoolOp, ast.Tuple, ast.List, ast.Dict, ast.Slice),
    *(ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr),
)
#: Expressions whose values may be anything, and those that may be what a variable holds.
_FOUND = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.IfExp, ast.BoolOp)
_HELD = tuple(kind for kind in _FOUND if kind is not ast.Call)
#: What may stand between two comparisons, each of which then computes it.
_TWICE = (ast.Constant, ast.Name)


def _parts(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """What must hold for a test: all parts, or one of them."""
    if isinstance(node, ast.BoolOp):
        return ("both" if isinstance(node.op, ast.And) else "either"), node.values
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        pairs = zip(sides, node.ops, sides[1:], strict=False)
        return "both", [at(ast.Compare(left, [op], [right]), node) for left, op, right in pairs]
    return "", [node]
