"""The trace as calm text: forward steps, backward steps, waterfall, thermometer, rules and the check.

Everything is a list of sections, each a title and entries that wrap under a hanging indent, so that nothing is
ever cropped, at any width. Colour is never the only channel: blue stands for +, vermilion for -, and the sign
is always printed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ..autodiff.check.table import peer_cell
from ..engine.source_lines import Location
from ..ops import BY_NAME, Op
from .trace import Addition, Node, Step, Trace

if TYPE_CHECKING:
    from ..autodiff.check import GradientCheck

__all__ = [
    "LIMIT",
    "Entry",
    "Section",
    "addition_entries",
    "card_of",
    "card_sentence",
    "check_section",
    "influence_words",
    "ranked_leaves",
    "rules_section",
    "sections",
    "short",
    "waterfall_cells",
    "without_influence",
]

#: How many steps, inputs or lines of a section are shown unless all are asked for.
LIMIT = 40
#: How many ``+=`` of one step are shown unless all are asked for.
_ADDITIONS = 12
#: How many inputs without influence are shown one by one unless all are asked for.
_SILENT = 4
#: The longest sentence of a step that is shown whole unless all are asked for, in characters.
_STEP = 600

POSITIVE, NEGATIVE, HEADING = "bold #0072B2", "bold #D55E00", "bold"

#: What each rule card says, for those who learn the rules by name.
CARDS = {
    "the distributor": "each operand gets the whole upstream gradient",
    "the distributor with a sign": "a - b is a + (-1) * b: the first operand gets the upstream gradient, "
    "the second its negative",
    "the swapper": "each operand gets the other's data times the upstream gradient",
    "the mirror": "the upstream gradient passes with its sign turned",
    "the gate": "the upstream gradient passes where the operand is positive, and stops elsewhere",
    "the squasher": "the flatter the curve, the less of the upstream gradient passes",
    "the switch": "the branch that was taken gets the whole upstream gradient, the other nothing",
    "its own derivative": "the operand gets the result times the upstream gradient",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Text after a lead such as ``  1  ``; what does not fit goes on under the text, not under the lead."""

    lead: str
    text: Text


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the output. Where ``width`` allows it, ``wide`` takes the place of ``entries``."""

    title: str
    entries: Sequence[Entry] = ()
    wide: Sequence[Entry] = field(default=())
    width: int = 0  #: the columns that ``wide`` needs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.title, HEADING)
        entries = self.wide if self.wide and options.max_width >= self.width else self.entries
        for entry in entries:
            yield from wrapped(entry, console, options.max_width)
        yield Text("")


def wrapped(entry: Entry, console: Console, width: int) -> Iterator[Text]:
    """The lines of one entry, none wider than ``width``."""
    room = max(12, width - len(entry.lead))
    lines = entry.text.wrap(console, room, overflow="fold") or [Text("")]
    for number, line in enumerate(lines):
        line.rstrip()
        yield Text(entry.lead if number == 0 else " " * len(entry.lead)) + line


def short(number: float, sign: bool = False) -> str:
    """Six digits, for pictures; steps print every digit."""
    return f"{number:+.6g}" if sign and number != 0.0 else f"{number:.6g}"


def style_of(number: float) -> str:
    return POSITIVE if number > 0 else NEGATIVE if number < 0 else HEADING


# --- all of it ------------------------------------------------------------------------------------


def sections(trace: Trace, limit: int | None = LIMIT) -> list[Section]:
    """Every part but the check. ``limit`` bounds the steps shown in each; None shows all."""
    parts = [
        Section(_title(trace)),
        forward_section(trace, limit),
        backward_section(trace, limit),
        waterfall_section(trace, limit),
        thermometer_section(trace, limit),
        rules_section(trace),
    ]
    return [part for part in parts if part.entries or part is parts[0]]


def _title(trace: Trace) -> str:
    root = trace.nodes[trace.root]
    written = trace.title or root.formula
    if written in ("", root.name):
        return f"{root.name} = {root.data!r}"
    return f"{root.name} = {written} = {root.data!r}" if len(written) <= 400 else f"{root.name} = {root.data!r}"


def _shown(count: int, limit: int | None) -> list[int | None]:
    """The positions that are shown of ``count`` things: all, or the first and the last with None for those between."""
    if limit is None or count <= limit:
        return list(range(count))
    first, last = (limit + 1) // 2, limit // 2
    return [*range(first), None, *range(count - last, count)]


def _shortened(groups: Sequence[Sequence[Entry]], limit: int | None, what: str) -> list[Entry]:
    """The first and the last groups of entries, with a sentence for those in between."""
    entries: list[Entry] = []
    for position in _shown(len(groups), limit):
        entries += [_left_out(len(groups), limit, what)] if position is None else groups[position]
    return entries


def _left_out(count: int, limit: int | None, what: str) -> Entry:
    return Entry(
        "     ", Text(f"... {count - (limit or 0):,} {what} left out; --all or to_text(limit=None) shows them ...")
    )


def _lead(number: int, total: int) -> str:
    return f"  {number:>{len(str(total))}}  "


# --- forward --------------------------------------------------------------------------------------


def forward_section(trace: Trace, limit: int | None) -> Section:
    entries: list[Entry] = []
    total, last = len(trace.forward), None
    for position in _shown(total, limit):
        if position is None:
            entries.append(_left_out(total, limit, "steps"))
            continue
        step = trace.forward[position]
        place = trace.nodes[step.nodes[0]].source if step.kind == "operation" else None
        if place is not None and place != last:
            entries.append(Entry("     ", Text(_place(place))))
            last = place
        entries.append(Entry(_lead(position + 1, total), Text(_step_text(step.text, limit))))
    root = trace.nodes[trace.root].name
    return Section(f"Forward pass: data flows from the inputs to {root}", entries)


def _place(place: Location) -> str:
    code = place.text
    return f"{place}: {code}" if code else str(place)


# --- backward -------------------------------------------------------------------------------------


def backward_section(trace: Trace, limit: int | None) -> Section:
    total = len(trace.backward)
    quiet: dict[int, list[str]] = {}
    for edge in trace.edges:
        if edge.zero:
            quiet.setdefault(edge.result, []).append(trace.nodes[edge.operand].name)
    entries: list[Entry] = []
    for position in _shown(total, limit):
        if position is None:
            entries.append(_left_out(total, limit, "steps"))
            continue
        step = trace.backward[position]
        lead = _lead(position + 1, total)
        entries.append(Entry(lead, _step_head(trace, step, quiet.get(step.nodes[0], []), limit)))
        additions = step.additions if limit is None else step.additions[:_ADDITIONS]
        for item in additions:
            entries += addition_entries(trace, item, " " * len(lead) + "  ")
        if hidden := len(step.additions) - len(additions):
            entries.append(Entry(" " * len(lead) + "  ", Text(f"... and {hidden:,} more += (--all shows them)")))
    root = trace.nodes[trace.root].name
    return Section(f"Backward pass: blame flows from {root} to the inputs", entries)


def _step_text(text: str, limit: int | None) -> str:
    """A step's sentence; of a very long one, such as a sum of thousands, the beginning and the end."""
    return text if limit is None or len(text) <= _STEP else f"{text[: _STEP - 80]} ... {text[-75:]}"


def _step_head(trace: Trace, step: Step, quiet: Sequence[str], limit: int | None) -> Text:
    node = trace.nodes[step.nodes[0]]
    if step.kind == "seed":
        name = node.name if len(node.name) == 1 else f"({node.name})"
        return Text(f"{step.text}  (the seed: d{name}/d{name} is 1)")
    head = Text(_step_text(f"{node.name} = {node.formula}", limit))
    if not step.additions:
        return Text(_step_text(step.text, limit))
    if card := card_of(node):
        head.append(f"  ({card})")
    if quiet:
        head.append(f"  nothing flows to {_abridged(list(dict.fromkeys(quiet)))}")
    return head


def addition_entries(trace: Trace, item: Addition, lead: str) -> Iterator[Entry]:
    """One ``+=`` spelled out, and the running sum where it is not the first."""
    stem, _, number = item.text.rpartition(" = ")
    yield Entry(lead, Text(f"{stem} = ").append(number, style_of(item.contribution)))
    if item.before != 0.0:
        name = trace.nodes[item.target].name
        total = Text(f"now {name}.grad = {item.before!r} + {item.contribution!r} = ").append(f"{item.after!r}", HEADING)
        yield Entry(lead + "  ", total)


def card_of(node: Node) -> str:
    """The name of the rule that ``node`` follows, or an empty string."""
    row = BY_NAME.get(node.row)
    return row.card if isinstance(row, Op) else ""


# --- waterfall ------------------------------------------------------------------------------------


def waterfall_section(trace: Trace, limit: int | None) -> Section:
    """Forward going down on the left, backward coming up on the right, one row for each operation."""
    if not trace.operations:
        return Section("")
    left, right = waterfall_cells(trace)
    width = max(map(len, left))
    lead = "     "
    wide = [[Entry(f"{lead}{a:<{width}}    ", Text(b))] for a, b in zip(left, right, strict=True)]
    head = Entry(f"{lead}{'forward, down':<{width}}    ", Text("backward, up"))
    needed = len(lead) + width + 4 + min(max(map(len, right)), 44)
    down = [[Entry(lead, Text(a))] for a in left]
    up = [[Entry(lead, Text(b))] for b in reversed(right)]
    half = None if limit is None else max(2, limit // 2)
    narrow = [
        Entry("  ", Text("forward")),
        *_shortened(down, half, "rows"),
        Entry("  ", Text("backward")),
        *_shortened(up, half, "rows"),
    ]
    title = "Waterfall: backward mirrors forward"
    return Section(title, narrow, [head, *_shortened(wide, limit, "rows")], needed)


def waterfall_cells(trace: Trace) -> tuple[list[str], list[str]]:
    """One row for the inputs and one for each operation: what went forward, and what came back."""
    leaves = trace.leaves
    left = [_abridged([f"{node.name} = {short(node.data)}" for node in leaves])]
    right = [_abridged([f"{node.name}.grad = {short(node.grad or 0.0)}" for node in leaves])]
    visits = {step.nodes[0]: step for step in trace.backward if step.kind == "visit"}
    for node in trace.operations:
        left.append(f"{node.name} = {_cut(node.formula, 40)} = {short(node.data)}")
        adds = [f"{trace.nodes[item.target].name} += {short(item.contribution)}" for item in visits[node.id].additions]
        flows = _abridged(adds) or "nothing flows on"
        right.append(f"{node.name}.grad = {short(node.grad or 0.0)}:  {flows}")
    return left, right


def _abridged(parts: Sequence[str], most: int = 6) -> str:
    if len(parts) <= most:
        return ", ".join(parts)
    return ", ".join(parts[: most - 1]) + f", ... ({len(parts) - most + 1:,} more)"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


# --- thermometer ----------------------------------------------------------------------------------


def ranked_leaves(trace: Trace) -> list[Node]:
    """The leaves from the strongest influence to the weakest; those whose gradient is not a number come first."""

    def strength(node: Node) -> float:
        grad = node.grad or 0.0
        return math.inf if grad != grad else abs(grad)

    return sorted(trace.leaves, key=strength, reverse=True)


def influence_words(trace: Trace, leaves: Sequence[Node]) -> list[str]:
    """One sentence for each of the ranked leaves: how strong, which sign, and what that means."""
    root = trace.nodes[trace.root].name
    strengths = [abs(node.grad or 0.0) for node in leaves]
    ranks = sorted(strength for strength in strengths if strength > 0.0) or [0.0]
    words = []
    for node, strength in zip(leaves, strengths, strict=True):
        grad = node.grad or 0.0
        if grad != grad:
            words.append(f"Not a number: no direction can be given for {node.name}.")
            continue
        if strength == 0.0:
            words.append(f"No influence: {root} does not change with {node.name} here.")
            continue
        if ranks[0] == ranks[-1]:
            rank = "Only" if len(ranks) == 1 else "Equal"
        elif strength in (ranks[0], ranks[-1]):
            rank = "Strongest" if strength == ranks[-1] else "Weakest"
        else:
            rank = "Moderate" if strength >= 0.1 * ranks[-1] else "Weak"
        sign, verb = ("positive", "rises") if grad > 0 else ("negative", "drops")
        words.append(f"{rank} influence, {sign}: increase {node.name} and {root} {verb}.")
    return words


def without_influence(trace: Trace, leaves: Sequence[Node], limit: int | None) -> tuple[list[Node], str]:
    """The leaves to show, and a sentence for many with a zero gradient, which are left out unless all are asked for."""
    silent = sum(node.grad == 0.0 for node in leaves)
    if limit is None or silent <= _SILENT:
        return list(leaves), ""
    root = trace.nodes[trace.root].name
    sentence = f"{silent:,} inputs have no influence: {root} does not change with them here."
    return [node for node in leaves if node.grad != 0.0], sentence


def thermometer_section(trace: Trace, limit: int | None) -> Section:
    leaves, sentence = without_influence(trace, ranked_leaves(trace), limit)
    root = trace.nodes[trace.root].name
    name_width = max((len(node.name) for node in leaves), default=1)
    number_width = max((len(short(node.grad or 0.0, True)) for node in leaves), default=1)
    largest = max((abs(node.grad or 0.0) for node in leaves if math.isfinite(node.grad or 0.0)), default=0.0)
    half = 16
    narrow, wide = [], []
    for node, words in zip(leaves, influence_words(trace, leaves), strict=True):
        grad = node.grad or 0.0
        lead = f"  {node.name:<{name_width}}  "
        line = (
            Text()
            .append(f"{short(grad, True):>{number_width}}", style_of(grad))
            .append("  ")
            .append_text(_bar(grad, largest, half))
        )
        narrow.append([Entry(lead, line), Entry(" " * len(lead), Text(words))])
        wide.append([Entry(lead, line.copy().append(f"  {words}"))])
    ends = [sentence] if sentence else []
    ends.append(f"{root}.grad is always 1: the effect of {root} on itself.")
    end = [Entry("  ", Text(words)) for words in ends]
    needed = 2 + name_width + 2 + number_width + 2 + 2 * half + 1 + 2 + 66
    return Section(
        f"Gradient thermometer: how {root} answers when an input grows",
        [*_shortened(narrow, limit, "inputs"), *end],
        [*_shortened(wide, limit, "inputs"), *end],
        needed,
    )


def _bar(number: float, largest: float, half: int) -> Text:
    """A bar to the right of the axis for a positive number, to the left for a negative one."""
    if math.isfinite(number):
        length = math.ceil(half * abs(number) / largest) if number and largest else 0
    else:
        length = 0 if number != number else half
    bar = "█" * length
    if number < 0:
        return Text(" " * (half - length)).append(bar, NEGATIVE).append("│").append(" " * half)
    return Text(" " * half).append("│").append(bar, POSITIVE).append(" " * (half - length))


# --- rules ----------------------------------------------------------------------------------------


def rules_section(trace: Trace) -> Section:
    """The rule cards that occur, each with where, and the places where several paths meet."""
    where: dict[str, list[str]] = {}
    sentences: dict[str, str] = {}
    for node in trace.operations:
        if card := card_of(node):
            where.setdefault(card, []).append(node.name)
            sentences.setdefault(card, card_sentence(node))
    entries = [
        Entry(
            "  ",
            Text().append(card.capitalize(), HEADING).append(f" ({_abridged(names)}): {sentences[card]}."),
        )
        for card, names in where.items()
    ]
    entries += _meetings(trace)
    return Section("Rules on the way", entries)


def card_sentence(node: Node) -> str:
    """What the rule that ``node`` follows says, without a full stop; empty where it has no name."""
    card = card_of(node)
    return card and CARDS.get(card, BY_NAME[node.row].doc.rstrip("."))


def _meetings(trace: Trace) -> Iterable[Entry]:
    """The reason for ``+=``: what was used more than once, with the sum of its contributions."""
    ledger = trace.ledger()
    met = [(trace.nodes[number], items) for number, items in sorted(ledger.items()) if len(items) > 1]
    if not met:
        return
    reason = ": what is used more than once adds up its contributions, hence += and not =."
    yield Entry("  ", Text().append("Paths that meet", HEADING).append(reason))
    for node, items in met[:4]:
        terms = _abridged([repr(item.contribution) for item in items]).replace(", ", " + ")
        yield Entry("    ", Text(f"{node.name}.grad = {terms} = ").append(f"{items[-1].after!r}", HEADING))
    if len(met) > 4:
        yield Entry("    ", Text(f"... and {len(met) - 4:,} more."))


# --- check ----------------------------------------------------------------------------------------


_CHECK_TITLE = "Check: our gradients beside other ways to compute them"


def check_section(check: GradientCheck | str, limit: int | None = LIMIT) -> Section:
    """Ours and theirs for each input, with the distance in ulp (units in the last place) and the verdict.

    Or the sentence that says why there is no check.
    """
    if isinstance(check, str):
        return Section(_CHECK_TITLE, [Entry("  ", Text(check))])
    header = ["input", "ours", *check.peers, "verdict"]
    rows = [
        [row.name, repr(row.ours), *(peer_cell(row, peer) for peer in check.peers), row.verdict] for row in check.rows
    ]
    widths = [max(len(cells[column]) for cells in [header, *rows]) for column in range(len(header))]
    wide = [[_table_line(header, widths)], *[[_table_line(cells, widths)] for cells in rows]]
    narrow = []
    for cells in rows:
        head = Text(f"{cells[0]}: ours {cells[1]}, ").append(cells[-1], HEADING)
        peers = [Entry("       ", Text(f"{peer}: {cell}")) for peer, cell in zip(check.peers, cells[2:-1], strict=True)]
        narrow.append([Entry("     ", head), *peers])
    end = [Entry("  ", Text(line)) for line in (check.summary, *check.notes)]
    shown = None if limit is None else limit + 1
    return Section(
        _CHECK_TITLE,
        [*_shortened(narrow, limit, "inputs"), *end],
        [*_shortened(wide, shown, "inputs"), *end],
        2 + sum(widths) + 2 * (len(widths) - 1),
    )


def _table_line(cells: Sequence[str], widths: Sequence[int]) -> Entry:
    padded = [
        f"{cell:<{width}}" if index in (0, len(cells) - 1) else f"{cell:>{width}}"
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return Entry("  ", Text("  ".join(padded)))
