"""The accuracy table in words and figures: what ``python -m accuracy`` prints, and the page docs/trust.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from .mutants import Mutant
from .oracle import RELATIVE, Verdict
from .peers import Peer
from .table import Table
from .variants import FastVariant

__all__ = ["lines", "page"]

MARK = "<!-- Written by make accuracy. Do not edit. -->"
#: Why cells fall short, by what they have in common; the first that fits is said.
CAUSES = (
    (
        "the zero of a product: a power of zero is given slope zero by its exponent, and what follows from it",
        "pow zero",
    ),
    (
        "a negative base has a real power at whole exponents only, and the number beside it is one by rounding",
        "pow negative",
    ),
    ("an intermediate overflows, underflows or is subnormal, though the result is not", "extreme"),
    ("two large terms cancel at this very point; the error is that of the terms", "cancels"),
    ("a limit that the formula reaches as another infinity or zero", "limit"),
)


def cause(verdict: Verdict) -> str:
    """Why a cell falls short, as far as its operands say."""
    numbers = verdict.cell.point.numbers
    extreme = any(x != 0 and (abs(x) < 1e-300 or abs(x) > 700 or not math.isfinite(x)) for x in numbers)
    if verdict.cell.row.name == "pow" and numbers[0] == 0:
        return "pow zero"
    if verdict.cell.row.name == "pow" and -math.inf < numbers[0] < 0 and not extreme:
        return "pow negative"
    if verdict.kind == "exact":
        deep = verdict.wanted not in ("", "0.0") and "e-3" in verdict.wanted
        return "extreme" if extreme or deep else "cancels"
    return "extreme" if any(0 < abs(x) < 1e-300 or abs(x) == 1e308 for x in numbers) else "limit"


def _worst(table: Table, order: int) -> str:
    """The largest error of an order among the cells that a float can hold, in ulp over condition or relative."""
    exact = [v for v in table.verdicts if v.kind == "exact" and v.cell.order == order]
    good = [v for v in exact if v.ok and (order < 2 or v.relative <= RELATIVE[order])]  # subnormal ones are beyond it
    if not good:
        return "-"
    if order < 2:
        worst = max(good, key=lambda v: v.ulp)
        return f"{worst.ulp:.2f} ulp ({worst.cell})"
    worst = max(good, key=lambda v: v.relative)
    return f"{worst.relative:.1e} ({worst.cell})"


def _bar(order: int) -> str:
    return ("2 ulp", "4 ulp")[order] if order < 2 else f"{RELATIVE[order]:.0e} relative"


def _orders(table: Table) -> Iterable[str]:
    yield "| order | cells | exact | conventions | errors | fall short | bar | worst within it |"
    yield "|---|---|---|---|---|---|---|---|"
    for order in range(4):
        of_order = [v for v in table.verdicts if v.cell.order == order]
        kinds = Counter(v.kind for v in of_order)
        short = sum(not v.ok for v in of_order)
        counts = " | ".join(str(kinds[kind]) for kind in ("exact", "convention", "raises"))
        yield f"| {order} | {len(of_order)} | {counts} | {short} | {_bar(order)} | {_worst(table, order)} |"


def lines(table: Table, mutants: tuple[int, Sequence[Mutant]] | None, peers: Sequence[Peer]) -> list[str]:
    """The summary that is printed."""
    found = [
        f"{table.cells:,} cells on {1 + sum(not variant.absent for variant in table.variants)} paths; "
        f"{len(table.short)} of the {len(table.verdicts):,} of the {table.engine} engine fall short",
        *_orders(table),
    ]
    found += map(str, table.variants)
    for peer in peers:
        found.append(peer.sentence())
    if mutants is not None:
        count, missed = mutants
        found.append(f"mutants of the op table caught: {count - len(missed)} of {count}")
        found += [f"  not caught: {mutant}" for mutant in missed]
    return found


def _short(verdict: Verdict) -> str:
    exact = verdict.kind == "exact"
    error = "" if not exact else f"{verdict.ulp:.3g} ulp" if verdict.cell.order < 2 else f"{verdict.relative:.2g}"
    return f"| `{verdict.cell}` | {verdict.cell.order} | {verdict.got} | {verdict.wanted} | {error} |"


def _fast_short(fast: FastVariant) -> list[str]:
    """The cells on which a fast tier falls short and the engine does not."""
    if not fast.short:
        return []
    return [
        "",
        f"**{len(fast.short)} answers, {fast.name},** where the engine is within the bar: a fast program adds in "
        "another order.",
        "",
        "| cell | order | got | wanted | error |",
        "|---|---|---|---|---|",
        *dict.fromkeys(map(_short, fast.short)),  # alone and in vectors it may be the same
    ]


def page(table: Table, mutants: tuple[int, Sequence[Mutant]] | None, peers: Sequence[Peer]) -> str:
    """docs/trust.md."""
    summary = lines(table, mutants, peers)
    end = next(i for i, line in enumerate(summary) if i and not line.startswith("|"))
    text = [MARK, "# How right the engine is", "", _INTRODUCTION, "", summary[0] + ".", "", *summary[1:end], ""]
    text += [f"* {line.strip()}" for line in summary[end:]]
    text += ["", "## Cells that fall short", "", "Each with its numbers; nothing is averaged away."]
    for says, key in CAUSES:
        chosen = [v for v in table.short if cause(v) == key]
        if chosen:
            text += [
                "",
                f"**{len(chosen)} cells:** {says}.",
                "",
                "| cell | order | got | wanted | error |",
                "|---|---|---|---|---|",
            ]
            text += map(_short, chosen)
    for fast in table.fast:
        text += _fast_short(fast)
    differing = [(variant.name, cell) for variant in table.variants for cell in variant.differ]
    if differing:
        text += ["", "## Cells on which the paths differ", "", *(f"* {name}: `{cell}`" for name, cell in differing)]
    return "\n".join(text) + "\n"


_INTRODUCTION = """\
Every public row of the [op table](ops.md) is asked at every class of argument: ordinary numbers,
0, -0, ±1 and their neighbours, the edges of its domain and of overflow, 5e-324, ±1e308, ±1000,
±inf, NaN, an int, a bool, NumPy scalars; rows of two operands at all pairs of these, as
Value∘Value, Value∘number and number∘Value. One cell holds all partial derivatives of one order at
one point.

*Exact* cells are compared with SymPy's derivative of the textbook definition, evaluated by mpmath at 60 to 2,100
digits. Order 0 must be within 2 units in the last place and order 1 within 4, times the condition number where that
is above 1, or within what [docs/ops.md](ops.md#accuracy) states for the row; orders 2 and 3 within the relative bars
below, with no allowance for the condition. *Errors* must be raised exactly where Python's `float` or `math` raises,
and be of that class.

The *convention* for all other cells, inside `retrograd.errstate(…="ignore")`:

* a value is Python's and C's own; a NaN operand gives NaN wherever they do not say otherwise (`pow(1, nan)` is 1);
* a derivative at a pole is its limit from inside the domain, from the side of the zero's sign if the operand is ±0;
  where the limits from two sides differ it is NaN; kinks and stated edges are those of [docs/ops.md](ops.md);
* a derivative at an infinite operand is its limit, or NaN; so is every derivative of order 2 and up at a pole (never
  another number); beyond the domain a derivative is NaN or what its own formula gives there (`log'` is `1/a`);
* a derivative that does not depend on an operand is the same when that operand is NaN.

Orders 0 and 1 are asked of `retrograd.compile` as well, each row compiled once and called at every cell. With
`exact=True` it must have the engine's bits. Without it (the virtual machine's vectors, LLVM's machine code) it must
have the engine's errors, infinities and NaNs, and is held against the same bars of exact mathematics; its finite cells
are asked twice, alone and side by side in vectors."""
