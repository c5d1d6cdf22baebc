"""A page for each row of the op table: its formula, its local derivatives, its picture, and what holds at its edges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from docsite.drawing import FIRST, SECOND, THIRD, style, svg
from retrograd.engine.reference.rules import NARY_RULES, RULES
from retrograd.errors import RetrogradError
from retrograd.explorer import explore
from retrograd.ops import NARY, OPS, NaryOp, Op, formula
from retrograd.ops.docs import example_point
from retrograd.ops.textbook import NAMES, TEXTBOOK
from retrograd.trace.notation import ATOM, LATEX, write

#: What is plotted where the sample interval of a row does not show what it is about: from where to where.
RANGES = {
    **dict.fromkeys(("asin", "acos", "atanh"), (-1.0, 1.0)),
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "log1p"), (-1.0, 4.0)),
    **dict.fromkeys(("gamma", "lgamma", "digamma"), (-3.0, 5.0)),
    **dict.fromkeys(("tan",), (-4.5, 4.5)),
    "acosh": (0.5, 4.0),
}
WIDE = (-4.0, 4.0)
#: Operands of the picture of an operation over a sequence.
SEQUENCE, PARTNERS = (1.0, 2.5, -0.5, 2.0), (0.5, -1.0, 2.0, 1.0)
POINTS = 601
#: The highest and lowest that is plotted: poles go on beyond.
CEILING = 6.0

SECTIONS = {
    "Arithmetic": ("add", "zero_product"), "Exponentials, logarithms, roots": ("exp", "hypot"),
    "Angles": ("sin", "radians"), "Hyperbolic": ("sinh", "atanh"),
    "Neural networks": ("sigmoid", "gelu"), "Special functions": ("erf", "polygamma"),
    "Kinks and jumps": ("abs", "round"), "Choices and comparisons": ("minimum", "not_equal"),
    "Others": ("sech2", "detach"),
}  # fmt: skip


def pages() -> Iterator[tuple[str, str]]:
    """The page of each operator, and the list of them."""
    import matplotlib

    matplotlib.use("svg")
    with matplotlib.rc_context(style()):
        rows: tuple[Op | NaryOp, ...] = (*OPS, *NARY)
        for row in rows:
            yield f"operators/{row.name}.md", page(row)
    yield "operators/index.md", index()


def index() -> str:
    parts = [
        "# Operators",
        "Everything that a graph is made of, each with its formula, its local derivatives, what holds at kinks and "
        "poles, and a picture. All of it follows from one table; {doc}`../ops` shows that table as one page.",
    ]
    rows = {"Over a sequence": [row.name for row in NARY]}
    names = [row.name for row in OPS]
    grouped = {
        title: names[names.index(first) : names.index(last) + 1] for title, (first, last) in SECTIONS.items()
    } | rows
    assert sorted(name for group in grouped.values() for name in group) == sorted([*names, *rows["Over a sequence"]])
    for title, group in grouped.items():
        links = " · ".join(f"[`{name}`]({name}.md)" for name in group)
        parts += [f"## {title}", links, "```{toctree}\n:hidden:\n" + "\n".join(group) + "\n```"]
    return "\n\n".join(parts) + "\n"


def page(row: Op | NaryOp) -> str:
    parts = [f"# {row.name}", _sentence(row.doc)]
    parts += formulas(row) if isinstance(row, Op) else fold(row)
    parts.append(f'<div class="plot">\n{picture(row)}\n</div>')
    if isinstance(row, Op):
        parts += [*facts(row), *tried(row)]
    if isinstance(row, NaryOp) or row.public:
        parts.append(f"The function is {{py:func}}`retrograd.math.{row.name}`.")
    return "\n\n".join(parts) + "\n"


def _sentence(doc: str) -> str:
    return doc if doc.endswith(".") else doc + "."


def latex(text: str, names: Sequence[str]) -> str:
    """A formula of the table as LaTeX."""
    return write(formula.parse(text, (*names, *NAMES)), LATEX, {name: (name, ATOM) for name in names})[0]


def formulas(row: Op) -> list[str]:
    """The rule as a textbook prints it, and where it is computed otherwise, how."""
    names = (*"abc"[: row.arity], "y")
    printed = TEXTBOOK.get(row.name, row)
    lines = [f"y = {latex(printed.forward, names)}"]
    lines += [
        rf"\frac{{\partial y}}{{\partial {name}}} = {latex(text, names)}"
        for name, text in zip(names, printed.partials, strict=False)
        if text != "nan"
    ]
    parts = [f"```{{math}}\n{line}\n```" for line in lines]
    if printed is not row:
        computed = [f"y = {row.forward}", *(f"dy/d{n} = {text}" for n, text in zip(names, row.partials, strict=False))]
        parts += ["It is computed as", "```text\n" + "\n".join(computed) + "\n```"]
        if any("select" in line for line in computed):
            parts.append("where `select(condition, x, y)` is x if the condition holds, else y.")
    return parts


def fold(row: NaryOp) -> list[str]:
    lines = [f"s = {row.init}", f"for each operand:  s = {row.step}", f"y = {row.finish}"]
    names = "ab" if row.paired else "a"
    lines += [f"dy/d{name} = {text}" for name, text in zip(names, row.partials, strict=True)]
    note = (
        "`m` is the largest operand, `n` their number, `ties` how many equal y; `rest` is explained with the function."
    )
    return ["```text\n" + "\n".join(lines) + "\n```", note]


def facts(row: Op) -> list[str]:
    """Where it raises, what holds at its edges, its other names."""
    found = []
    if row.symbol:
        found.append(f"Python writes it `{row.symbol}`.")
    if row.aliases:
        found.append(f"Also called {', '.join(f'`{name}`' for name in row.aliases)}.")
    found += [f"Raises {domain.error} when `{domain.when}`: {domain.says}." for domain in row.domain]
    parts = ["\n".join(f"- {fact}" for fact in found)] if found else []
    if row.edges:
        lines = ["| at | y | local derivatives |", "|---|---|---|"]
        for edge in row.edges:
            at, local = ", ".join(f"{x:g}" for x in edge.at), ", ".join(f"{x:g}" for x in edge.partials)
            lines.append(f"| {row.name}({at}) | {edge.y:g} | {local} |")
        parts += ["**By convention**", "\n".join(lines)]
    return parts


def tried(row: Op) -> list[str]:
    """The operator in the explorer, where its language has it."""
    point = example_point(row)
    names = "abc"[: row.arity]
    text = f"{row.name}({', '.join(names)})"
    inputs = dict(zip(names, point, strict=True))
    try:
        explore(text, **inputs)
    except (RetrogradError, TypeError):
        return []
    given = " ".join(f"{name}={number!r}" for name, number in inputs.items())
    return ["## Try it", f"```{{explorer}} {text} {given}\n:views: slope,step\n:view: slope\n:height: 760\n```"]


# --- pictures -------------------------------------------------------------------------------------


def picture(row: Op | NaryOp) -> str:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(7.2, 2.7))
    (_bars if isinstance(row, NaryOp) else _curves)(row, *axes)
    made = svg(figure, f"Curves of {row.name} and of its local derivatives")
    pyplot.close(figure)
    return made


def _curves(row: Any, left: Any, right: Any) -> None:
    """The result over a, and the local derivatives; of an operator of two operands for three values of b."""
    low, high = RANGES.get(row.name, WIDE)
    xs = [low + (high - low) * (k + 0.31) / POINTS for k in range(POINTS)]
    others = [()] if row.arity == 1 else [(b, *(2.0,) * (row.arity - 2)) for b in (-1.5, 0.5, 2.0)]
    if row.name == "polygamma":
        others, xs = [()], [x for x in xs if x > 0.2]
    rule = RULES[row.name]
    for other, colour in zip(others, (FIRST, SECOND, THIRD), strict=False):
        label = f"b = {other[0]:g}" if other else None
        points = [(1.0, x) if row.name == "polygamma" else (x, *other) for x in xs]
        ys = [_number(rule.forward, *point) for point in points]
        left.plot(xs, _broken(ys), color=colour, label=label)
    middle = others[-1]
    for slot, (name, colour) in enumerate(zip("abc"[: row.arity], (FIRST, SECOND, THIRD), strict=False)):
        points = [(1.0, x) if row.name == "polygamma" else (x, *middle) for x in xs]
        slopes = [_slope(rule, slot, point) for point in points]
        if not all(map(math.isnan, slopes)):
            where = f"  (b = {middle[0]:g})" if middle else ""
            right.plot(xs, _broken(slopes), color=colour, label=f"dy/d{name}{where}")
    left.set_title("y")
    right.set_title("local derivative" if row.arity == 1 else "local derivatives")
    for axes in (left, right):
        axes.set_xlabel("b" if row.name == "polygamma" else "a")
        if row.arity > 1 and row.name != "polygamma":
            axes.legend(fontsize=8, loc="best")
        bottom, top = axes.get_ylim()
        axes.set_ylim(
            max(bottom, -CEILING) if top > -CEILING else bottom, min(top, CEILING) if bottom < CEILING else top
        )
        if row.name in ("degrees",):
            axes.set_ylim(bottom, top)
        if axes.get_ylim()[1] - axes.get_ylim()[0] < 0.5:
            middle_y = sum(axes.get_ylim()) / 2
            axes.set_ylim(middle_y - 1, middle_y + 1)


def _bars(row: Any, left: Any, right: Any) -> None:
    """Four operands, and what the result gives each of them."""
    rule = NARY_RULES[row.name]
    numbers = (*SEQUENCE, *PARTNERS) if row.paired else SEQUENCE
    y = rule.forward(SEQUENCE, PARTNERS if row.paired else ())[0]
    local = [slope or 0.0 for slope in rule.derivatives(numbers, y, range(len(SEQUENCE)))]
    names = [f"a{k}" for k in range(1, len(SEQUENCE) + 1)]
    left.bar(names, SEQUENCE, color=FIRST, width=0.5, label="a")
    if row.paired:
        left.bar([k + 0.25 for k in range(len(PARTNERS))], PARTNERS, color=THIRD, width=0.25, label="b")
        left.legend(fontsize=8)
    left.set_title(f"operands; y = {y:.4g}" if not row.outputs else f"operands; the first result is {y:.4g}")
    right.bar(names, local, color=SECOND, width=0.5)
    right.set_title("local derivatives" if not row.outputs else "local derivatives of the first result")


def _number(function: Any, *point: float) -> float:
    try:
        return float(function(*point))
    except (ArithmeticError, ValueError):
        return math.nan


def _slope(rule: Any, slot: int, point: Sequence[float]) -> float:
    y = _number(rule.forward, *point)
    if math.isnan(y):
        return math.nan
    found = rule.partials[slot]
    local = _number(lambda *numbers: 0.0 if (one := found(*numbers)) is None else one, *point, y)
    return local


def _broken(ys: list[float]) -> list[float]:
    """The numbers with a gap at each jump and beyond the ceiling: no line is drawn where there is none."""
    kept = [y if abs(y) < 4 * CEILING else math.nan for y in ys] if min(map(abs, ys)) < CEILING else list(ys)
    steps = sorted(abs(b - a) for a, b in pairwise(kept) if not math.isnan(b - a))
    usual = steps[len(steps) * 9 // 10] if steps else 0.0
    for k in range(1, len(kept)):
        if abs(kept[k] - kept[k - 1]) > 20 * usual + 0.2:
            kept[k] = math.nan
    return kept
