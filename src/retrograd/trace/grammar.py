"""Parses arithmetic as people type it into instructions for a stack machine. Nothing is ever run as Python.

The grammar: numbers (all of them floats, whole ones too), names, ``+ - * / % // **``, unary minus,
parentheses, and calls of every public row of the op table, its aliases and its n-ary functions, whose operands may
be written as a list: ``dot([a, b], [c, d])``. One output of softmax is picked as ``softmax(a, b, c)[0]``. Comparisons
are allowed in the first operand of ``where(a > b, x, y)`` only. Precedence is Python's: ``**`` binds to the right and
tighter than a minus before it. The typographic signs for minus, times (cross or dot) and divide are read too.

The parser is a shunting yard, so that no expression, however deep, meets Python's recursion limit. What is wrong
is an ExpressionError: a sentence, and the place it is about.
"""

from __future__ import annotations

import difflib
import keyword
import math
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NoReturn

from ..errors import ExpressionError
from ..ops import NARY, OPS, NaryOp, Op

__all__ = ["FUNCTIONS", "MAX_LENGTH", "MINUS", "Instruction", "Span", "complaint", "is_literal", "read"]

#: The longest expression that is read, in characters.
MAX_LENGTH = 100_000

#: Every function an expression may call, by each of its names.
FUNCTIONS: dict[str, Op | NaryOp] = {
    **{row.name: row for row in NARY},
    **{name: row for row in OPS if row.public for name in (row.name, *row.aliases)},
}

MINUS = "\N{MINUS SIGN}"
_SIGNS = {
    MINUS: "-",
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{MIDDLE DOT}": "*",
    "\N{DOT OPERATOR}": "*",
    "\N{DIVISION SIGN}": "/",
}
_COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
_ROW_OF_OPERATOR = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "//": "floordiv", "**": "pow"}
_COMPARE, _SUM, _PRODUCT, _MINUS, _POWER = 1, 2, 3, 4, 5
_PRECEDENCE = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "//": _PRODUCT, "**": _POWER}

#: Latin and Greek letters, but for the Greek ones that look like Latin ones: nobody can tell those apart.
_LETTERS = (
    r"A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f"
    r"\u0393\u0394\u0398\u039b\u039e\u03a0\u03a3\u03a6\u03a8\u03a9\u03b1-\u03be\u03c0-\u03c9"
)
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+\u2212]?[0-9]+)?)"
    rf"|(?P<name>[{_LETTERS}][{_LETTERS}0-9]*)"
    r"|(?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%()\[\],<>=.\u2212\u00d7\u00b7\u22c5\u00f7])"
    r"|(?P<space>\s+)"
)
_REFUSED = {
    "^": "^ is not a power here: use **, as in a**2",
    "'": "text in quotes is not part of an expression; write numbers and names",
    '"': "text in quotes is not part of an expression; write numbers and names",
    ":": "':' is not part of an expression: there are no slices, lambdas or conversions; write plain arithmetic",
    "{": "braces are not part of an expression; use parentheses",
    "}": "braces are not part of an expression; use parentheses",
    ";": "';' is not part of an expression; explain one expression at a time",
    "@": "'@' is not part of an expression; write dot([a, b], [c, d]) for a product of sequences",
    "|": "'|' is not part of an expression; an absolute value is written abs(x)",
    "!": "'!' is not part of an expression; n! is written gamma(n + 1)",
    "\N{SQUARE ROOT}": "a root is written sqrt(x)",
    "\N{LESS-THAN OR EQUAL TO}": "this is written <=",
    "\N{GREATER-THAN OR EQUAL TO}": "this is written >=",
    "\N{NOT EQUAL TO}": "this is written !=",
    **{power: f"a power is written **, as in x**{n}" for n, power in zip((2, 3), "\u00b2\u00b3", strict=True)},
}

Span = tuple[int, int]


class _Token(NamedTuple):
    kind: Literal["number", "name", "sign", "end"]
    text: str
    start: int
    end: int


class _Operator(NamedTuple):
    """A waiting operator: one of ``+ - * / % // **``, a comparison, or ``minus`` and ``plus`` for the unary signs."""

    text: str
    precedence: int
    start: int


@dataclass(slots=True)
class _Opening:
    """An open parenthesis or bracket: a group, the operands of a call, or a list of operands."""

    kind: Literal["group", "call", "list"]
    start: int  #: of the call's name, or of the bracket itself
    conditional: bool  #: whether a comparison may stand here
    name: str = ""
    commas: int = 0
    lists: list[int] = field(default_factory=list)  #: the lengths of the lists among a call's operands


class Instruction(NamedTuple):
    """One step of the stack machine: push a number or a name, or replace operands by their result."""

    kind: Literal["number", "name", "apply", "compare", "reduce"]
    what: str  #: the name, the row, or the comparison
    span: Span  #: the sub-expression in the text
    operands: tuple[Span, ...] = ()  #: where the operands stand, parentheses included
    number: float = 0.0
    split: int = 0  #: the length of dot's first list
    output: int = 0  #: which one of softmax's results


def complaint(text: str, message: str, start: int, end: int | None = None) -> ExpressionError:
    """The ExpressionError that says ``message`` and points at ``text[start:end]`` with a line of ``^~~``."""
    width = 72
    first = max(0, min(start - width // 2, len(text) - width))
    shown = "".join(c if c.isprintable() else " " for c in text[first : first + width])
    length = max(1, min((end or start + 1) - start, len(shown) - (start - first)))
    before, after = ("..." if first else ""), ("..." if first + width < len(text) else "")
    pointer = " " * (len(before) + start - first) + "^" + "~" * (length - 1)
    return ExpressionError(f"{message}\n  {before}{shown}{after}\n  {pointer}")


# --- reading --------------------------------------------------------------------------------------


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _refused_character(text, at)
        at = match.end()
        if match.lastgroup != "space":
            found = match.group()
            sign = _SIGNS.get(found, found)
            tokens.append(_Token(match.lastgroup, sign, match.start(), at))  # type: ignore[arg-type]  # the groups' names
    tokens.append(_Token("end", "", len(text), len(text)))
    return tokens


def _refused_character(text: str, at: int) -> ExpressionError:
    character = text[at]
    if character in _REFUSED:
        return complaint(text, _REFUSED[character], at)
    if character.isascii():
        return complaint(text, f"{character!r} is not part of an expression; write plain arithmetic", at)
    name = unicodedata.name(character, "a character without a name")
    if character.isalnum():
        rule = "names are written with the letters a-z and A-Z, digits and _, numbers with the digits 0-9"
        return complaint(text, f"{character!r} (U+{ord(character):04X}, {name}) is not a plain letter; {rule}", at)
    shown = repr(character) if character.isprintable() else "a character"
    return complaint(text, f"{shown} (U+{ord(character):04X}, {name}) is not part of an expression", at)


class _Parser:
    """A shunting-yard parser: tokens to instructions, with one stack of operators and one of operand spans."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0
        self.waiting: list[_Operator | _Opening] = []
        self.operands: list[Span] = []
        self.program: list[Instruction] = []
        self.names: dict[str, Span] = {}

    def fail(self, message: str, token: _Token | Span) -> NoReturn:
        start, end = token[-2:]
        raise complaint(self.text, message, start, end)

    def run(self) -> tuple[tuple[Instruction, ...], dict[str, Span]]:
        expecting = True
        while True:
            token = self.tokens[self.at]
            self.at += 1
            expecting = self.operand(token) if expecting else self.operator(token)
            if token.kind == "end":
                return tuple(self.program), self.names

    @property
    def opening(self) -> _Opening | None:
        """The bracket that was opened last, unless an operator waits on top of it."""
        top = self.waiting[-1] if self.waiting else None
        return top if isinstance(top, _Opening) else None

    @property
    def conditional(self) -> bool:
        for entry in reversed(self.waiting):
            if isinstance(entry, _Opening):
                return entry.conditional
        return False

    # An operand is expected; both methods say whether the next token must be an operand (again).

    def operand(self, token: _Token) -> bool:
        match token.kind, token.text:
            case "number", _:
                self.push_number(token)
                return False
            case "name", _:
                return self.push_name(token)
            case "sign", "-" | "+":
                self.waiting.append(_Operator("minus" if token.text == "-" else "plus", _MINUS, token.start))
                return True
            case "sign", "(":
                self.waiting.append(_Opening("group", token.start, self.conditional))
                return True
            case "sign", "[":
                return self.open_list(token)
            case "sign", ")" | "]" if (opening := self.opening) and not opening.commas and not opening.lists:
                return self.close_empty(token, opening)
            case "end", _ if not self.waiting:
                self.fail("the expression is empty; write for example 'a*b + c' and then a=2 b=-3 c=10", token)
            case "end", _:
                self.fail("the expression ends where a number, a name or ( should follow", token)
            case "sign", "=":
                self.fail(_EQUALS, token)
        self.fail(f"a number, a name or ( is missing before {token.text!r}", token)

    def push_number(self, token: _Token) -> None:
        number = float(token.text.replace(MINUS, "-"))
        if math.isinf(number):
            shown = token.text if len(token.text) <= 24 else token.text[:20] + "..."
            self.fail(f"{shown} is too large for a float; the largest is 1.7976931348623157e+308", token)
        self.operands.append((token.start, token.end))
        self.program.append(Instruction("number", token.text, (token.start, token.end), number=number))

    def push_name(self, token: _Token) -> bool:
        name = token.text
        if keyword.iskeyword(name):
            self.fail(_keyword_sentence(name), token)
        following = self.tokens[self.at]
        if following.text == "(":
            if name not in FUNCTIONS:
                self.fail(f"{name} is not a function of the op table{_suggestion(name, FUNCTIONS)}", token)
            self.at += 1
            self.waiting.append(_Opening("call", token.start, FUNCTIONS[name].name == "where", name))
            return True
        self.names.setdefault(name, (token.start, token.end))
        self.operands.append((token.start, token.end))
        self.program.append(Instruction("name", name, (token.start, token.end)))
        return False

    def open_list(self, token: _Token) -> bool:
        opening = self.opening
        if opening is None or opening.kind != "call" or not isinstance(FUNCTIONS[opening.name], NaryOp):
            names = ", ".join(row.name for row in NARY)
            self.fail(f"a list in [ ] can only be the operand of {names}", token)
        self.waiting.append(_Opening("list", token.start, False))
        return True

    def close_empty(self, token: _Token, opening: _Opening) -> bool:
        if opening.kind == "group" or (token.text == "]") != (opening.kind == "list"):
            self.fail(f"a number, a name or ( is missing before {token.text!r}", token)
        opening.commas = -1
        return self.close(token)

    # An operator is expected.

    def operator(self, token: _Token) -> bool:
        if token.kind == "end":
            self.reduce(0)
            if self.waiting:
                opening = self.waiting[-1]
                self.fail("this is never closed: a ) or ] is missing", (opening.start, opening.start + 1))
            return False
        if token.kind != "sign" or token.text == "(":
            self.missing_operator(token)
        match token.text:
            case "," | ")" | "]":
                self.reduce(0)
                return self.comma(token) if token.text == "," else self.close(token)
            case "[":
                self.fail("subscripts are not part of an expression, except to pick an output: softmax(a, b)[0]", token)
            case ".":
                self.fail(self.attribute_sentence(), token)
            case "=":
                self.fail(_EQUALS, token)
        if token.text in _COMPARISONS:
            self.compare(token)
        else:
            precedence = _PRECEDENCE[token.text]
            self.reduce(precedence + (token.text == "**"))
            self.waiting.append(_Operator(token.text, precedence, token.start))
        return True

    def missing_operator(self, token: _Token) -> NoReturn:
        if keyword.iskeyword(token.text):
            self.fail(_keyword_sentence(token.text), token)
        start, end = self.operands[-1]
        left = self.text[start:end] if end - start <= 20 else "what is before it"
        if left in FUNCTIONS:
            self.fail(f"the operand of {left} stands in parentheses: {left}(...)", (start, token.end))
        if token.kind == "name" and self.tokens[self.at].text in ("'", '"'):
            self.fail(_REFUSED["'"], token)
        self.fail(f"an operator is missing between {left} and {token.text}; multiplication is written *", token)

    def attribute_sentence(self) -> str:
        (start, end), name = self.operands[-1], self.tokens[self.at].text
        if name not in FUNCTIONS:
            return "attributes are not part of an expression; write names and functions without dots"
        before = self.text[start:end]
        operand = "" if before in ("math", "np", "rg", "torch", "jnp") else before if end - start <= 20 else "..."
        return f"write {name}({operand or '...'}), without a dot: attributes are not part of an expression"

    def compare(self, token: _Token) -> None:
        if not self.conditional:
            self.fail(f"{token.text} can only be used in the first operand of where(a > b, x, y)", token)
        self.reduce(_SUM)
        if self.waiting and isinstance(self.waiting[-1], _Operator):
            self.fail("two comparisons in a row; nest where(a < b, where(b < c, x, y), y) instead", token)
        self.waiting.append(_Operator(token.text, _COMPARE, token.start))

    def reduce(self, precedence: int) -> None:
        """Emit the waiting operators that bind at least as tightly as ``precedence``."""
        while self.waiting and isinstance(self.waiting[-1], _Operator) and self.waiting[-1].precedence >= precedence:
            operator = self.waiting.pop()
            assert isinstance(operator, _Operator)
            right = self.operands.pop()
            if operator.text in ("minus", "plus"):
                self.emit("apply", "neg" if operator.text == "minus" else "", (operator.start, right[1]), (right,))
                continue
            left = self.operands.pop()
            kind: Literal["compare", "apply"] = "compare" if operator.text in _COMPARISONS else "apply"
            what = operator.text if kind == "compare" else _ROW_OF_OPERATOR[operator.text]
            self.emit(kind, what, (left[0], right[1]), (left, right))

    def emit(self, kind: Literal["apply", "compare"], what: str, span: Span, operands: tuple[Span, ...]) -> None:
        self.operands.append(span)
        if what:  # a plus sign before an operand does nothing
            self.program.append(Instruction(kind, what, span, operands))

    def comma(self, token: _Token) -> bool:
        opening = self.opening
        if opening is None or opening.kind == "group":
            self.fail("a comma can only stand between the operands of a function; decimals are written 0.5", token)
        opening.commas += 1
        opening.conditional = False
        return True

    def close(self, token: _Token) -> bool:
        opening = self.opening
        if opening is None:
            self.fail(f"this {token.text} closes nothing: there is no opening one before it", token)
        if (token.text == "]") != (opening.kind == "list"):
            self.fail(f"{token.text} does not close the {self.text[opening.start]!r} opened before it", token)
        self.waiting.pop()
        if opening.kind == "group":
            _, _ = self.operands.pop()
            self.operands.append((opening.start, token.end))
        elif opening.kind == "list":
            self.close_list(opening, token)
        else:
            self.close_call(opening, token)
        return False

    def close_list(self, opening: _Opening, token: _Token) -> None:
        call = self.opening
        assert call is not None
        count = opening.commas + 1
        call.lists.append(count)
        if self.tokens[self.at].text not in (",", ")"):
            self.fail("a list must be a whole operand: put , or ) after it", self.tokens[self.at])

    def close_call(self, opening: _Opening, token: _Token) -> None:
        row, count = FUNCTIONS[opening.name], opening.commas + 1
        span = (opening.start, token.end)
        if isinstance(row, Op):
            if count != row.arity:
                expected = f"{row.arity} operand" + "s" * (row.arity != 1)
                self.fail(f"{opening.name} takes {expected}, and {count} came", span)
            operands = tuple(self.operands[len(self.operands) - count :])
            del self.operands[len(self.operands) - count :]
            self.operands.append(span)
            self.program.append(Instruction("apply", row.name, span, operands))
            return
        self.close_nary(opening, row, count, span)

    def close_nary(self, opening: _Opening, row: NaryOp, count: int, span: Span) -> None:
        lists = opening.lists
        if lists and len(lists) != count:
            self.fail(f"{opening.name} takes either a list or operands with commas between, not both", span)
        if row.paired and len(lists) != 2:
            self.fail(f"{opening.name} takes two lists: {opening.name}([a, b], [c, d])", span)
        if not row.paired and len(lists) > 1:
            self.fail(f"{opening.name} takes one list, and {len(lists)} came", span)
        if row.paired and lists[0] != lists[1]:
            self.fail(f"{opening.name} takes two lists of equal length, and {lists[0]} and {lists[1]} came", span)
        total = sum(lists) if lists else count
        if not total and not row.empty:
            self.fail(f"{opening.name} needs at least one operand", span)
        operands = tuple(self.operands[len(self.operands) - total :])
        del self.operands[len(self.operands) - total :]
        output, span = self.pick(opening, total, span) if row.outputs else (0, span)
        split = lists[0] if row.paired else 0
        self.operands.append(span)
        self.program.append(Instruction("reduce", row.name, span, operands, split=split, output=output))

    def pick(self, opening: _Opening, count: int, span: Span) -> tuple[int, Span]:
        """Read the ``[0]`` that says which of several outputs is meant."""
        bracket, number, closing = (self.tokens[min(self.at + k, len(self.tokens) - 1)] for k in range(3))
        if bracket.text != "[" or closing.text != "]" or not number.text.isdigit():
            name = opening.name
            self.fail(f"{name} gives one number for each operand; pick one with {name}(...)[0]", span)
        if int(number.text[:9]) >= count:
            self.fail(f"{opening.name} has {count} outputs here, numbered from 0; there is no [{number.text}]", number)
        self.at += 3
        return int(number.text), (span[0], closing.end)


_EQUALS = "= is not part of an expression: give values after it, as in 'a*b' a=2 b=-3 (equality is ==, inside where)"


def _keyword_sentence(word: str) -> str:
    if word in ("and", "or", "not", "if", "else"):
        return f"{word!r} is not part of an expression; choose with where(a > b, x, y), nested if need be"
    if word in ("True", "False", "None"):
        return f"{word} is not a number; write 1 or 0"
    return f"{word!r} is a word of the Python language and not part of an expression; choose another name"


#: What functions are called elsewhere.
_ELSEWHERE = {
    "ln": "log", "lg": "log10", "tg": "tan", "sgn": "sign", "arctg": "atan", "logistic": "sigmoid", "swish": "silu",
    "root": "sqrt", "sqr": "square", "average": "mean",
}  # fmt: skip


def _suggestion(word: str, known: Collection[str]) -> str:
    close = [_ELSEWHERE[word]] if word in _ELSEWHERE else difflib.get_close_matches(word, known, n=1, cutoff=0.7)
    if close and word not in _ELSEWHERE and len(close[0]) > len(word) + 1:  # foo is no floor
        close = []
    return f"; did you mean {close[0]}?" if close else f"; if you mean a product, write {word}*(...)"


def is_literal(text: str) -> bool:
    """Whether ``text`` is a number as the grammar writes them."""
    match = _TOKEN.fullmatch(text)
    return match is not None and match.lastgroup == "number"


def read(text: str) -> tuple[tuple[Instruction, ...], dict[str, Span]]:
    """The instructions of ``text``, and its names with the place of their first use.

    Raises ExpressionError, saying what was found, where, and what to write instead.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"the expression has {len(text):,} characters, and at most {MAX_LENGTH:,} are read; "
            "put it in a file as a function and use FILE.py:function"
        )
    return _Parser(text).run()
