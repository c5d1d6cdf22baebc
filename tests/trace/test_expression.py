"""The expression language: Python's arithmetic, and one sentence for everything else."""

from __future__ import annotations

import ast
import contextlib
import keyword
import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograd import engine, errors
from retrograd.engine import Value
from retrograd.ops import NARY, OPS
from retrograd.trace.expression import Evaluation, parse, unused_names
from retrograd.trace.grammar import FUNCTIONS, MAX_LENGTH

pytestmark = pytest.mark.native  # the language is the same, whichever engine computes


def evaluate(text: str, **values: float) -> Evaluation:
    return parse(text).evaluate(values)


def refusal(text: str, **values: float) -> str:
    """The sentence with which an expression is refused, without the lines that point at its place."""
    with pytest.raises(errors.ExpressionError) as caught:
        evaluate(text, **values)
    return str(caught.value).split("\n")[0]


# --- agreement with Python ------------------------------------------------------------------------

_NUMBERS = st.sampled_from(["0.0", "1.0", "2.0", "0.5", "3.25", "1e3", "7.", ".25", "1e-3", "12e0"])
_NAMES = st.sampled_from(["a", "b", "c"])
_FUNCTIONS = st.sampled_from(["abs"])


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.tuples(parts, st.sampled_from([" + ", "-", " * ", "/", "%", "//", "**", " - "]), parts).map("".join)
    minus = parts.map("-{}".format)
    plus = parts.map("+{}".format)
    group = parts.map("({})".format)
    call = st.tuples(_FUNCTIONS, parts).map(lambda pair: f"{pair[0]}({pair[1]})")
    choice = st.tuples(parts, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), parts, parts, parts).map(
        lambda p: f"where({p[0]} {p[1]} {p[2]}, {p[3]}, {p[4]})"
    )
    return st.one_of(binary, binary, minus, plus, group, call, choice)


EXPRESSIONS = st.recursive(st.one_of(_NUMBERS, _NAMES), _joined, max_leaves=12)
FLOATS = st.floats(-5, 5) | st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0])


_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Mod: operator.mod, ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow, ast.USub: operator.neg,
    ast.UAdd: operator.pos, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


def python_value(node: ast.expr, names: dict[str, float]) -> float:
    """What Python's parser and Python's floats make of an expression; ValueError for a complex number."""
    match node:
        case ast.Constant(value=float() as number):
            return number
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=sign, operand=operand):
            return _OPERATORS[type(sign)](python_value(operand, names))
        case ast.BinOp(left=left, op=sign, right=right) | ast.Compare(left=left, ops=[sign], comparators=[right]):
            result = _OPERATORS[type(sign)](python_value(left, names), python_value(right, names))
            if isinstance(result, complex):
                raise ValueError
            return result
        case ast.Call(func=ast.Name(id="abs"), args=[operand]):
            return abs(python_value(operand, names))
        case ast.Call(func=ast.Name(id="where"), args=arguments):
            condition, yes, no = (python_value(argument, names) for argument in arguments)
            return yes if condition else no
    raise AssertionError(ast.dump(node))


@settings(max_examples=400, deadline=None)
@given(EXPRESSIONS, FLOATS, FLOATS, FLOATS)
def test_expressions_mean_what_they_mean_in_python(text: str, a: float, b: float, c: float) -> None:
    text = f"unit * ({text})"
    names = {"a": a, "b": b, "c": c, "unit": 1.0}
    used = {name: names[name] for name in parse(text).names}
    try:
        expected = python_value(ast.parse(text, mode="eval").body, names)
    except (ArithmeticError, ValueError):
        with pytest.raises(errors.ExpressionError):
            evaluate(text, **used)
    else:
        result = evaluate(text, **used).root.data
        assert result == expected or (math.isnan(result) and math.isnan(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-a**2", -4.0),
        ("2**-1*a", 1.0),
        ("2**a**3", 256.0),
        ("-a--a", 0.0),
        ("a*-b", 6.0),
        ("7//a", 3.0),
        ("-7%a", 1.0),
        ("a\n*\t2", 4.0),
        ("a − b × a · 2 ÷ 4", 5.0),  # noqa: RUF001  # the signs people paste
        ("a ⋅ 2", 4.0),
        ("1e−1*a", 0.2),  # noqa: RUF001
        ("where(a > b, a, b)", 2.0),
        ("where((a + 1) * 2 > b, a, b)", 2.0),
        ("select(a < b, a, b)", -3.0),
        ("sum(a, b, 1)", 0.0),
        ("sum([a, b, 1])", 0.0),
        ("dot([a, b], [3, 4])", -6.0),
        ("max(a, b) + min([a, b])", -1.0),
        ("softmax(a, a)[1]", 0.5),
        ("arctan2(a, a) * 4", math.pi),
    ],
)
def test_examples(text: str, expected: float) -> None:
    expression = parse(text)
    result = expression.evaluate({name: {"a": 2, "b": -3}[name] for name in expression.names})
    assert result.root.data == pytest.approx(expected)


def test_every_public_row_and_alias_can_be_called() -> None:
    for row in OPS:
        if row.public:
            for name in (row.name, *row.aliases):
                operands = [f"x{index}" for index in range(row.arity)]
                values = dict(zip(operands, [low + 0.4 * (high - low) for low, high in row.sample], strict=True))
                result = evaluate(f"{name}({', '.join(operands)})", **values).root
                assert engine.row_name(result) == row.name
                assert result.data == engine.evaluate(row.name, *values.values())
    for nary in NARY:
        operands_text = "[a, b], [b, a]" if nary.paired else "a, b"
        pick = "[0]" if nary.outputs else ""
        assert engine.row_name(evaluate(f"{nary.name}({operands_text}){pick}", a=0.5, b=2.0).root) == nary.name
    assert all(not row.public for row in OPS if row.name not in FUNCTIONS)


def test_nodes_are_named_and_remember_what_they_were_written_as() -> None:
    result = evaluate("(a*b + c) * (a + b)", a=2, b=-3, c=10)
    written = {node.label: result.written(node) for node in result.steps}
    assert written == {"d": "a*b", "e": "a*b + c", "f": "a + b", "L": "(a*b + c) * (a + b)"}
    assert result.written(result.root, 1) == "(a + b)"
    assert {name: leaf.label for name, leaf in result.leaves.items()} == {"a": "a", "b": "b", "c": "c"}


def test_a_given_value_is_used_itself() -> None:
    a = Value(2.0)
    result = parse("a*a").evaluate({"a": a})
    result.root.backward()
    assert a.grad == 4.0


def test_names_left_over() -> None:
    names = unused_names({"a", "b", "v2"})
    taken = [next(names) for _ in range(26)]
    assert taken[:3] == ["c", "d", "e"]
    assert "l" not in taken
    assert taken[-4:] == ["z", "v1", "v3", "v4"]


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a / (b - b)", "a / (b - b): division by zero, because (b - b) is 0.0"),
        ("9**9**9**9", "9**9**9: the result is too large for a float, because 9**9 is 387420489.0"),
        ("log(a - 3)", "log(a - 3): the logarithm of a negative number, because a - 3 is -1.0"),
        ("a % 0", "a % 0: modulo by zero"),
        ("0**-1 * a", "0**-1: zero to a negative power"),
        ("(b)**0.5 * a", "(b)**0.5: a negative number to a fractional power is not a real number, because (b) is -3.0"),
        ("exp(1000*a)", "exp(1000*a): the result is too large for a float, because 1000*a is 2000.0"),
    ],
)
def test_failing_arithmetic_names_the_sub_expression(text: str, says: str) -> None:
    values = {"a": 2.0, "b": -3.0}
    assert refusal(text, **{name: values[name] for name in parse(text).names}) == says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("a +", "ends where a number"),
        ("a + * 2", "missing before '*'"),
        ("(a", "never closed"),
        ("a)", "closes nothing"),
        ("(a]", "does not close"),
        ("()", "missing before ')'"),
        ("2a", "an operator is missing between 2 and a"),
        ("a b", "an operator is missing between a and b"),
        ("(a)(2)", "an operator is missing"),
        ("1.2.3", "an operator is missing"),
        ("a^2", "use **"),
        ("a.real", "attributes"),
        ("a.__class__", "attributes"),
        ("a[0]", "subscripts"),
        ("[a]", "a list"),
        ("'x' * a", "text in quotes"),
        ('f"{a}"', "text in quotes"),
        ("{a}", "braces"),
        ("lambda: a", "lambda"),
        ("a if a else a", "where("),
        ("a and a", "where("),
        ("True * a", "write 1 or 0"),
        ("class * a", "word of the Python language"),
        ("a = 2", "give values after it"),
        ("a := 2", "':'"),
        ("a; a", "';'"),
        ("a @ a", "dot("),
        ("a, 2", "a comma"),
        ("exp(a, 2)", "exp takes 1 operand, and 2 came"),
        ("exp()", "exp takes 1 operand, and 0 came"),
        ("hypot(a)", "hypot takes 2 operands, and 1 came"),
        ("sigmoidd(a)", "did you mean sigmoid?"),
        ("a(2)", "write a*(...)"),
        ("identity(a)", "not a function"),
        ("a < 2", "first operand of where"),
        ("where(a, a < 2, 1)", "first operand of where"),
        ("where(1 < a < 2, a, 1)", "two comparisons"),
        ("softmax(a, a)", "pick one"),
        ("softmax(a, a)[2]", "there is no [2]"),
        ("softmax(a, a)[0.5]", "pick one"),
        ("dot(a, a)", "two lists"),
        ("dot([a], [a, a])", "equal length"),
        ("sum([a], 2)", "either a list or operands"),
        ("mean([])", "at least one operand"),
        ("1e999 * a", "too large for a float"),
        ("а", "CYRILLIC SMALL LETTER A"),  # noqa: RUF001  # a look-alike
        ("ａ", "FULLWIDTH LATIN SMALL LETTER A"),  # noqa: RUF001
        ("a\u200bb", "ZERO WIDTH SPACE"),
        ("a\x00", "not part of an expression"),
        ("__import__('os')", "text in quotes"),
        ("__import__(a)", "not a function"),
        ("a²", "a power is written **, as in x**2"),
        ("√a", "a root is written sqrt(x)"),
        ("|a|", "an absolute value is written abs(x)"),
        ("a!", "gamma(n + 1)"),
        ("where(a ≤ 2, a, 1)", "this is written <="),
        ("sin a", "the operand of sin stands in parentheses: sin(...)"),
        ("2 * log a", "the operand of log stands in parentheses"),
        ("a.tanh()", "write tanh(a), without a dot"),
        ("math.sin(a)", "write sin(...), without a dot"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    assert says in refusal(text, a=2.0)


def test_names_and_values_must_match() -> None:
    assert refusal("a + b", a=1.0) == "a value is missing for b: give it after the expression, for example b=1"
    assert refusal("2 * pi * r") == "a value is missing for r: give it after the expression, for example r=1"
    assert refusal("a + x", a=1.0, y=2.0) == "unknown name x: the values given are for a, y"
    assert refusal("a", a=1.0, b=2.0) == "b=2.0 is given, but 'a' does not use b; its names: a"
    assert refusal("exp + a", a=1.0) == "exp is a function: write exp(...) with its operands in parentheses"


def test_names_of_constants_need_no_value() -> None:
    evaluation = evaluate("2 * pi * r", r=0.5)
    assert evaluation.root.data == math.pi
    assert list(evaluation.leaves) == ["r"]
    assert evaluate("a**e + tau - π", a=1.0).root.data == 1.0 + math.tau - math.pi
    for name in ("e", "pi"):  # a variable of that name is the variable
        assert evaluate(f"{name} * {name}", **{name: 3.0}).root.data == 9.0


def test_an_expression_without_names_has_no_gradient() -> None:
    assert "depends on no name" in refusal("2 * pi")
    assert refusal("2 + 3") == "the result is 5.0 and depends on no name, so that it has no gradient"
    assert "depends on no name" in refusal("where(a > 0, 2, 3)", a=1.0)


def test_the_place_is_pointed_at() -> None:
    with pytest.raises(errors.ExpressionError) as caught:
        evaluate("a + 1 / (b - b)", a=1.0, b=2.0)
    _, line, pointer = str(caught.value).split("\n")
    assert line == "  a + 1 / (b - b)"
    assert pointer == "      ^~~~~~~~~~~"


def test_the_place_in_a_long_expression_is_cut_out() -> None:
    with pytest.raises(errors.ExpressionError) as caught:
        parse("a + " * 1000 + "? + " + "a + " * 1000 + "a")
    _, line, pointer = str(caught.value).split("\n")
    assert len(line) < 90
    assert line[pointer.index("^")] == "?"


@pytest.mark.parametrize("word", keyword.kwlist)
def test_no_keyword_of_python_is_a_name(word: str) -> None:
    with pytest.raises(errors.ExpressionError):
        parse(f"{word} + 1")


def test_length_is_limited() -> None:
    assert "100,001 characters" in refusal("a" * (MAX_LENGTH + 1))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 20_000 + "a" + ")" * 20_000,
        "-" * 20_000 + "a",
        "abs(" * 10_000 + "a" + ")" * 10_000,
        "a" + " + a" * 10_000,
        "a" + "**1" * 10_000,
        "max([" + "a, " * 10_000 + "a])",
    ],
)
def test_depth_is_no_limit(text: str) -> None:
    assert evaluate(text, a=1.0).root.data in (1.0, 10_001.0)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab01. +-*/%()[],<>=!^'\"\\lambdaexpwhere_−×é\n", max_size=40))  # noqa: RUF001
def test_any_text_is_evaluated_or_refused(text: str) -> None:
    with contextlib.suppress(errors.ExpressionError):
        expression = parse(text)
        expression.evaluate(dict.fromkeys(expression.names, 0.5))
