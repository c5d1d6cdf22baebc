"""What the terminal shows of one step: a line for each node, and the step spelled out, at any width.

Colour is never the only channel: signs are printed, and the step's nodes carry a mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from ..trace.render import (
    HEADING,
    Entry,
    addition_entries,
    card_of,
    card_sentence,
    short,
    style_of,
    wrapped,
)
from ..trace.trace import Node, Trace
from .timeline import Timeline

__all__ = ["HELP", "Screen", "View"]

#: The narrowest supported terminal; a narrower one cuts lines off.
_NARROWEST = 20
#: A node's line also says how it was computed where there is room for that much of it.
_FORMULA = 8

HELP = (
    ("right, down", "one step on"),
    ("left, up", "one step back"),
    ("shift+right, n", "on to the next phase"),
    ("shift+left, p", "back to the phase before"),
    ("home, end", "the first and the last step"),
    ("space", "play and pause; + and - set the speed"),
    ("/", "find a node by its name, and go to its step"),
    ("page down, up", "more of a long step"),
    ("?", "this list, and away with it again"),
    ("q, escape", "leave"),
    ("> < +", "before a node: it is computed, it is visited, something is added to its gradient"),
)


@dataclass(slots=True)
class View:
    """What is shown: the step, how far it is scrolled, and what is being typed."""

    step: int = 0
    scroll: int = 0  #: the lines of the step's text that are above the window
    help: bool = False
    playing: bool = False
    search: str | None = None  #: what is being typed after ``/``
    message: str = ""  #: said in the last line until the next key


class Screen:
    """Draws views of one trace."""

    def __init__(self, timeline: Timeline, ascii_only: bool = False) -> None:
        self.timeline: Timeline = timeline
        self.trace: Trace = timeline.trace
        self.rows: list[Node] = [node for node in self.trace.nodes if node.kind != "constant"]
        self._row_of = {node.id: number for number, node in enumerate(self.rows)}
        self._line, self._dots, self._arrows = ("-", "...", "left/right") if ascii_only else ("─", "…", "←/→")

    def lines(self, view: View, console: Console, width: int, height: int) -> list[Text]:
        """Exactly ``height`` lines, none wider than ``width``."""
        width = max(width, _NARROWEST)
        framed = height > 2
        room = height - 2 if framed else height
        if view.help:
            body = self.help(console, width)[:room]
        else:
            body = self.body(view, self.step_lines(view.step, console, width), width, room)
        body += [Text("")] * (room - len(body))
        return [self.head(view, width), *body, self.foot(view, width)] if framed else body

    def body(self, view: View, text: list[Text], width: int, height: int) -> list[Text]:
        """The nodes above, the step below. If both do not fit, the step has priority and a line says what is cut."""
        room = height if height < 7 else max(min(len(text), height - 5), height // 2)
        view.scroll = max(0, min(view.scroll, len(text) - room))
        shown = text[view.scroll : view.scroll + room]
        if hidden := len(text) - view.scroll - len(shown):
            shown[-1] = Text(self.cut(f"  {self._dots} {hidden + 1} more lines: page down", width), "italic")
        if height < 7:
            return shown
        nodes = self.node_lines(view.step, width, height - len(shown) - 1)
        rule = Text(self._line * width, "dim")
        return [*nodes, rule, *shown]

    def head(self, view: View, width: int) -> Text:
        """Where we are: ``L = a*b + c  forward, step 2 of 7``."""
        timeline = self.timeline
        place = f"{timeline.phase(view.step)}, step {view.step + 1} of {len(timeline.steps)}"
        root = self.trace.nodes[self.trace.root]
        title = _harmless(self.trace.title or root.formula)
        room = width - len(place) - 2
        if room < 8:
            return Text(self.cut(place, width), HEADING)
        title = title if title in ("", root.name) else f"{root.name} = {title}"
        return Text(self.fit(title, room) + "  ", HEADING).append(place)

    def foot(self, view: View, width: int) -> Text:
        if view.search is not None:
            return Text(self.cut(f"go to: {view.search}_", width), "reverse")
        if view.message:
            return Text(self.cut(view.message, width), "reverse")
        play = "pause" if view.playing else "play"
        for keys in (
            f"{self._arrows} step   shift+{self._arrows} phase   home/end   space {play}   / find   ? help   q leave",
            f"{self._arrows} step   space {play}   ? help   q leave",
            "? help  q leave",
        ):
            if len(keys) <= width:
                return Text(keys, "dim")
        return Text("")

    def help(self, console: Console, width: int) -> list[Text]:
        lead = max(len(keys) for keys, _ in HELP) + 4
        entries = [
            Entry(f"  {keys:<{lead - 2}}", Text(words)) if width >= 2 * lead else Entry("", Text(f"{keys}: {words}"))
            for keys, words in HELP
        ]
        return [line for entry in entries for line in wrapped(entry, console, width)]

    # --- the step ---------------------------------------------------------------------------------

    def step_lines(self, number: int, console: Console, width: int) -> list[Text]:
        """The step as the trace says it, every ``+=``, then the rule it follows and the line it comes from."""
        step = self.timeline.steps[number]
        node = self.trace.nodes[step.nodes[0]] if step.nodes else None
        entries = [Entry("", Text(step.text, HEADING))]
        for item in step.additions:
            entries += addition_entries(self.trace, item, "  ")
        if node is not None and step.kind == "visit" and step.additions and (card := card_of(node)):
            entries.append(Entry("", Text(f"{card[:1].upper()}{card[1:]}: {card_sentence(node)}.", "italic")))
        if node is not None and node.source is not None and step.kind in ("operation", "visit"):
            entries.append(Entry("", Text(_harmless(f"{node.source}: {node.source.text}".rstrip(": ")), "dim")))
        return [line for entry in entries for line in wrapped(entry, console, width)]

    # --- the nodes --------------------------------------------------------------------------------

    def node_lines(self, number: int, width: int, height: int) -> list[Text]:
        """Lines for the nodes around the step's; the marks say which the step computes, visits or adds to."""
        marks = self.marks(number)
        centre = next((self._row_of[node] for node in marks if node in self._row_of), 0)
        first = max(0, min(centre - height // 2, len(self.rows) - height))
        rows = self.rows[first : first + height]
        cells = [self.cells(node, number) for node in rows]
        widths = [max((cell_len(row[column]) for row in cells), default=0) for column in range(4)]
        return [self.node_line(node, row, widths, marks, number, width) for node, row in zip(rows, cells, strict=True)]

    def marks(self, number: int) -> dict[int, str]:
        step = self.timeline.steps[number]
        if step.kind == "inputs":
            return dict.fromkeys((node for node in step.nodes if node in self._row_of), ">")
        marks = dict.fromkeys(step.nodes, ">" if step.kind != "visit" else "<")
        for item in step.additions:
            marks.setdefault(item.target, "+")
        return marks

    def cells(self, node: Node, number: int) -> tuple[str, str, str, str]:
        data, grad = self.timeline.data(node.id, number), self.timeline.grad(node.id, number)
        return (
            node.name,
            "" if data is None else short(data),
            node.formula,
            "" if grad is None else f"grad {short(grad, True)}",
        )

    def node_line(
        self, node: Node, cells: Sequence[str], widths: Sequence[int], marks: dict[int, str], number: int, width: int
    ) -> Text:
        """``> d = a * b           -6     grad +1``; what does not fit is the formula, then the name."""
        mark = marks.get(node.id, " ")
        grad_width = widths[3] + 2 if widths[3] else 0
        fixed = 2 + 3 + widths[1] + grad_width
        name_width = min(widths[0], max(4, (width - fixed) // 2))
        room = min(widths[2], width - fixed - name_width - 3)
        line = Text(f"{mark} ", HEADING).append(self.fit(cells[0], name_width), HEADING if mark != " " else "")
        if room >= min(_FORMULA, max(widths[2], 1)):
            line.append(f" = {self.fit(cells[2], room)}" if cells[2] else " " * (room + 3), "dim")
        line.append(f"   {cells[1]:>{widths[1]}}")
        if grad_width:
            grad = self.timeline.grad(node.id, number) or 0.0
            line.append(f"  {cells[3]:<{widths[3]}}", style_of(grad) if grad else "dim")
        line.truncate(width)
        return line

    def fit(self, text: str, width: int) -> str:
        """Exactly ``width`` columns: cut off, or filled up with spaces."""
        return set_cell_size(self.cut(text, width), width)

    def cut(self, text: str, width: int) -> str:
        if cell_len(text) <= width:
            return text
        return set_cell_size(text, max(0, width - len(self._dots))) + self._dots[:width]


def _harmless(text: str) -> str:
    """The text with control characters replaced by spaces."""
    return "".join(character if character.isprintable() else " " for character in text)
