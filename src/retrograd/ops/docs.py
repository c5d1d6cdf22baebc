"""The docstring of every operation, written from its row of the op table.

A row says what an operation computes, its local derivatives, where it raises and what holds at its kinks; a docstring
says the same in sentences. ``tools/generate.py`` writes these texts into the native engine and the stubs, and the
reference engine takes them as they are, so that ``help(rg.math.tanh)``, ``help(rg.Value.tanh)`` and an editor agree.

The numbers of the examples come from :data:`Compute`, since the table itself computes nothing.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from functools import cache

from .table import NaryOp, Op

__all__ = [
    "EXTRA",
    "Compute",
    "example_point",
    "function_doc",
    "function_signature",
    "method_doc",
    "nary_doc",
    "parameters",
    "signature",
]

#: The results of a row and its local derivatives at a point; for a row over a sequence, those of the first result.
Compute = Callable[[str, tuple[float, ...]], tuple[list[float], list[float]]]

_WIDTH = 100

_ERRORS = {"ZeroDivisionError": "DivisionByZeroError", "OverflowError": "NumberTooLargeError"}
_INSTEAD = {"divide": "an infinity or NaN", "over": "an infinity", "invalid": "NaN"}

#: What the table does not say: tie rules in words, empty sequences, other names, and where a formula comes from.
_NOTES = {
    "mod": "As Python's ``%``: the result has the sign of b, and a == b * (a // b) + a % b.",
    "remainder": (
        "As ``math.remainder``: a minus the nearest multiple of b, the even multiple at a tie, so that the result is "
        "at most half of b. ``mod`` and ``%`` have the sign of b, ``fmod`` that of a."
    ),
    "copysign": "The sign of a zero b counts: ``copysign(3.0, -0.0)`` is -3.0.",
    "gamma": "``lgamma`` is the logarithm of its absolute value, which does not overflow.",
    "floordiv": "It is constant between its jumps, so that no gradient flows through it.",
    "relu": "The rectified linear unit (Nair & Hinton 2010). Of the subgradients at 0, which are 0 to 1, it takes 0.",
    "silu": "The sigmoid linear unit (Hendrycks & Gimpel 2016; Elfwing et al. 2018), also called swish.",
    "gelu": "The Gaussian error linear unit (Hendrycks & Gimpel 2016), exact and not the tanh approximation.",
    "sigmoid": "Computed without overflow for either sign of a.",
    "softplus": "A smooth relu. Computed without overflow for either sign of a.",
    "maximum": "At a tie each operand gets half of the gradient. A NaN operand gives NaN, as NumPy's ``maximum``.",
    "minimum": "At a tie each operand gets half of the gradient. A NaN operand gives NaN, as NumPy's ``minimum``.",
    "abs": "Of the subgradients at 0, which are -1 to 1, it takes 0.",
    "where": "Both b and c have been computed already when it chooses; the one not chosen gets no gradient at all.",
    "hypot": "The larger leg is divided out, so that squares do not overflow.",
    "sum": "An empty sequence gives 0.0. To add products, ``dot`` records one node instead of many.",
    "dot": "Two empty sequences give 0.0. The products are added from left to right, without fused operations.",
    "prod": (
        "An empty sequence gives 1.0. ``rest`` is the product of the other operands, found without a division, so that "
        "zeros do no harm."
    ),
    "max": (
        "Operands that tie for the largest share the gradient equally; ``ties`` is their number. A NaN operand gives "
        "NaN."
    ),
    "min": (
        "Operands that tie for the smallest share the gradient equally; ``ties`` is their number. A NaN operand gives "
        "NaN."
    ),
    "logsumexp": (
        "Stable: ``m``, the largest operand, is taken out of the exponentials (Blanchard, Higham & Higham 2021). "
        "``rest`` is the operand's softmax probability."
    ),
    "softmax": (
        "Stable: ``m``, the largest operand, is taken out of the exponentials (Blanchard, Higham & Higham 2021). "
        "``y * rest`` is y * (1 - y) for an output's own operand and -y * p for another one, of probability p."
    ),
    "mean": "``n`` is the number of operands.",
}

#: Points for the examples of rows whose sample intervals give dull ones.
_POINTS: dict[str, tuple[float, ...]] = {
    "add": (2.0, 3.0),
    "sub": (2.0, 5.0),
    "mul": (2.0, 5.0),
    "div": (3.0, 4.0),
    "neg": (2.0,),
    "pow": (3.0, 2.0),
    "mod": (7.5, 2.0),
    "floordiv": (7.5, 2.0),
    "fmod": (-7.5, 2.0),
    "remainder": (7.0, 4.0),
    "copysign": (-1.5, 2.0),
    "gamma": (5.0,),
    "square": (3.0,),
    "reciprocal": (4.0,),
    "exp2": (3.0,),
    "sqrt": (9.0,),
    "cbrt": (8.0,),
    "hypot": (3.0, 4.0),
    "degrees": (1.0,),
    "radians": (180.0,),
    "relu": (-1.5,),
    "abs": (-1.5,),
    "sign": (-1.5,),
    "floor": (-1.5,),
    "ceil": (-1.5,),
    "trunc": (-1.5,),
    "rint": (2.5,),
    "minimum": (2.0, 5.0),
    "maximum": (2.0, 2.0),
    "where": (1.0, 2.0, 5.0),
}
_NARY_POINT, _PARTNERS = (3.0, 1.0, 3.0), (10.0, 20.0, 30.0)


def parameters(row: Op | NaryOp) -> str:
    """The names of a row's operands: ``a``, ``b``, ``c`` in order."""
    return "abc"[: (2 if row.paired else 1) if isinstance(row, NaryOp) else row.arity]


def signature(names: Sequence[str]) -> inspect.Signature:
    """A signature of positional parameters, as that of the native engine's built-ins."""
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names])


#: What ``retrograd.math``'s functions take beyond the operands of their row, as Python's do: name, default, text.
EXTRA: dict[str, tuple[str, str, str]] = {
    "log": (
        "base",
        "None",
        "The base, e when it is left out; a Value or a real number. The result is log(a) / log(base).",
    ),
    "hypot": ("*more", "", "Further coordinates: the result is the square root of the sum of all squares."),
}


def function_signature(row: Op | NaryOp) -> inspect.Signature:
    """The signature of ``retrograd.math``'s function that computes ``row``."""
    plain = signature(parameters(row))
    if row.name not in EXTRA:
        return plain
    name, default, _ = EXTRA[row.name]
    if name.startswith("*"):
        extra = inspect.Parameter(name[1:], inspect.Parameter.VAR_POSITIONAL)
    else:
        extra = inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, default=ast.literal_eval(default))
    return plain.replace(parameters=[*plain.parameters.values(), extra])


def function_doc(row: Op, name: str, compute: Compute) -> str:
    """The docstring of ``retrograd.math``'s function ``name``, which computes ``row``."""
    point = example_point(row)
    given = ", ".join(f"rg.Value({number!r})" for number in point)
    letters = ", ".join(parameters(row))
    call = f"rg.math.{name}({', '.join(map(repr, point))})"
    (y, *_), partials = compute(row.name, point)
    operands = dict.fromkeys(parameters(row), "A Value or a real number (int, float, NumPy scalar), or an array.")
    if name in EXTRA:
        extra, _, says = EXTRA[name]
        operands[extra] = says
    return _document(
        row.doc,
        _equations(row),
        _arguments(operands),
        "Returns:\n    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays "
        "an array\n    with one of these for each element.",
        _raises(row),
        f"Example:\n    >>> import retrograd as rg\n    >>> {_shown(call, y)}\n    {_number(y)}\n"
        f"    >>> {letters} = {given}\n    >>> rg.math.{name}({letters}).backward()\n"
        + _gradients(parameters(row), partials),
    )


def method_doc(row: Op, name: str, compute: Compute) -> str:
    """The docstring of Value's method ``name``, which computes ``row`` with the Value as its first operand."""
    point = example_point(row)
    letters = parameters(row)
    given = ", ".join(f"rg.Value({number!r})" for number in point)
    call = f"a.{name}({', '.join(letters[1:])})"
    (y, *_), partials = compute(row.name, point)
    return _document(
        row.doc,
        f"The same as ``retrograd.math.{name}``, with this Value as a.",
        _equations(row),
        _arguments(dict.fromkeys(letters[1:], "A Value or a real number (int, float, NumPy scalar).")),
        "Returns:\n    A Value: one new node.",
        _raises(row),
        f"Example:\n    >>> import retrograd as rg\n    >>> {', '.join(letters)} = {given}\n    >>> y = {call}\n"
        f"    >>> y.backward()\n    >>> {_shown('y.data', y)}\n    {_number(y)}\n" + _gradients(letters, partials),
    )


def nary_doc(row: NaryOp, compute: Compute) -> str:
    """The docstring of ``retrograd.math``'s function over a sequence, or two, which computes ``row``."""
    kind = "An iterable of Values and real numbers"
    arguments = {"a": f"{kind}, which may be mixed{'' if row.empty else '; at least one'}."}
    point: tuple[float, ...] = _NARY_POINT
    if row.paired:
        arguments["b"] = f"{kind}, of the same length as a."
        point += _PARTNERS
    result = "A list with one float for each operand, or one Value each" if row.outputs else "A float, or a Value"
    raises = {"TypeError": "An argument is not iterable, or an element is neither a Value nor a real number."}
    if row.paired:
        raises["ValueError"] = "The sequences differ in length."
    elif not row.empty:
        raises["ValueError"] = "The sequence is empty."
    results, partials = compute(row.name, point)
    shown = results if row.outputs else results[0]
    lists = "".join(f", {list(_PARTNERS)!r}" if row.paired else "")
    plain = f"rg.math.{row.name}({list(_NARY_POINT)!r}{lists})"
    if row.outputs:
        plain = f"[round(p, 6) for p in {plain}]"
        answer = repr([round(number, 6) for number in results])
    else:
        plain, answer = _shown(plain, results[0]), _number(results[0])
    assert shown is not None
    first = [_rounded(partial) for partial in partials[: len(_NARY_POINT)]]
    slope = "x.grad" if all(map(_is_short, partials[: len(_NARY_POINT)])) else "round(x.grad, 6)"
    output = "[0]" if row.outputs else ""
    return _document(
        row.doc,
        _fold(row),
        _arguments(arguments),
        f"Returns:\n    {result} when an operand is a Value: one new node{' for each' if row.outputs else ''}, "
        "whatever the length.",
        _section("Raises", raises),
        f"Example:\n    >>> import retrograd as rg\n    >>> {plain}\n    {answer}\n"
        f"    >>> a = [rg.Value(x) for x in {list(_NARY_POINT)!r}]\n"
        f"    >>> rg.math.{row.name}(a{lists}){output}.backward()\n"
        f"    >>> [{slope} for x in a]\n    {first!r}",
    )


# --- the parts of a docstring -------------------------------------------------------------------------


def _document(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


@cache
def _wrap(text: str, indent: str = "", more: str = "") -> str:
    if len(indent + text) <= _WIDTH:
        return indent + text
    return textwrap.fill(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent + more, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _section(title: str, entries: dict[str, str]) -> str:
    """A section of Google's style: a title and an entry for each name."""
    lines = [_wrap(f"{name}: {text}", "    ", "    ") for name, text in entries.items()]
    return "\n".join([f"{title}:", *lines]) if entries else ""


def _arguments(entries: dict[str, str]) -> str:
    return _section("Args", entries)


def _equations(row: Op) -> str:
    """What a row computes and its local derivatives, as the table has them."""
    letters = parameters(row)
    equations = [f"y = {row.forward}"]
    equations += [f"dy/d{letter} = {text}" for letter, text in zip(letters, row.partials, strict=True)]
    lines = ["The operation and its local derivatives::", ""]
    lines += [_wrap(equation, "    ", "    ") for equation in equations]
    notes = [_NOTES[row.name]] if row.name in _NOTES else []
    notes += [_convention(letters, edge.at, edge.y, edge.partials) for edge in row.edges]
    if any("select(" in text for text in (row.forward, *row.partials)):
        notes.append("``select(condition, x, y)`` is x where the condition holds and y elsewhere.")
    return "\n".join([*lines, *(["", _wrap(" ".join(notes))] if notes else [])])


def _convention(letters: str, at: Sequence[float], y: float, partials: Sequence[float]) -> str:
    point = ", ".join(f"{letter} = {number:g}" for letter, number in zip(letters, at, strict=True))
    slopes = ", ".join(f"dy/d{letter} = {number:g}" for letter, number in zip(letters, partials, strict=True))
    return f"By convention, at {point}: y = {y:g}, {slopes}."


def _fold(row: NaryOp) -> str:
    slopes = [f"dy/d{letter} = {text}" for letter, text in zip("ab", row.partials, strict=False)]
    lines = [
        "A fold from left to right, its result y, and the local derivative with respect to each operand::",
        "",
        f"    s = {row.init}",
        f"    s = {row.step}  for each operand",
        f"    y = {row.finish}",
        *(_wrap(slope, "    ", "    ") for slope in slopes),
    ]
    return "\n".join([*lines, "", _wrap(_NOTES[row.name])])


def _raises(row: Op) -> str:
    raises: dict[str, list[str]] = {}
    for item in row.domain:
        name = _ERRORS.get(item.error, "DomainError")
        instead = f'``errstate({item.kind}="ignore")`` gives {_INSTEAD[item.kind]} instead'
        raises.setdefault(name, []).append(f"Where {item.when} ({item.says}); {instead}.")
    entries = {name: " ".join(texts) for name, texts in raises.items()}
    entries["TypeError"] = "An operand is neither a Value nor a real number."
    return _section("Raises", entries)


# --- examples -----------------------------------------------------------------------------------------


def example_point(row: Op) -> tuple[float, ...]:
    """A point inside the row's domain: the one chosen above, or numbers that its sample intervals hold."""
    if row.name in _POINTS:
        return _POINTS[row.name]
    point: list[float] = []
    for low, high in row.sample:
        point.append(next(x for x in (0.5, 2.0, 1.5, 3.0, low) if low <= x <= high and x not in point))
    return tuple(point)


def _is_short(number: float) -> bool:
    return len(repr(number)) <= 8


def _rounded(number: float) -> float:
    return number if _is_short(number) else round(number, 6)


def _number(number: float) -> str:
    """A number as an example prints it: whole, or rounded, so that it does not depend on the C library's last bit."""
    return repr(_rounded(number))


def _shown(expression: str, number: float) -> str:
    return expression if _is_short(number) else f"round({expression}, 6)"


def _gradients(letters: Sequence[str], partials: Sequence[float]) -> str:
    """The last lines of an example, which look at the gradients."""
    slopes = [partial + 0.0 for partial in partials]  # an accumulated gradient is never minus zero
    shown = [_shown(f"{letter}.grad", slope) for letter, slope in zip(letters, slopes, strict=True)]
    numbers = [_number(slope) for slope in slopes]
    answer = numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"
    return f"    >>> {', '.join(shown)}\n    {answer}"
