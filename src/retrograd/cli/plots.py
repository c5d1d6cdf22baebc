"""Pictures of a training run: the loss curve and the decision boundary, in the terminal and as PNG.

What is drawn in the terminal can be read without colour, and with ``ascii_only`` in any encoding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from rich.text import Text

from ..errors import MissingExtraError

__all__ = ["MINUS_COLOUR", "PLUS_COLOUR", "boundary", "curve", "running_means", "save_boundary", "save_curve"]

#: Blue for the label +1, vermilion for -1: told apart with any colour vision.
PLUS_COLOUR, MINUS_COLOUR = "#0072B2", "#D55E00"

Point = tuple[float, float]
Score = Callable[[float, float], float]


def curve(values: Sequence[float], width: int, height: int = 8, ascii_only: bool = False) -> list[str]:
    """``values`` over their index (from 1) as lines of at most ``width`` characters, with the scales on them.

    More values than there are columns are averaged. Needs at least one value.
    """
    columns = max(width - 11, 4)  # a label has at most nine characters
    across, down = (1, 1) if ascii_only else (2, 4)
    heights = _resampled(values, columns * across)
    low, high = min(heights), max(heights)
    labels = [f"{high:.4g}", f"{low:.4g}"]
    margin = max(map(len, labels))
    top = height * down - 1
    rows = [round((high - value) / (high - low) * top) if high > low else top // 2 for value in heights]
    cells = _cells(rows, across, down)
    lines = []
    for row in range(height):
        label = labels[0] if row == 0 else labels[1] if row == height - 1 else ""
        drawn = "".join(_glyph(cells.get((column, row), 0), ascii_only) for column in range(columns))
        lines.append(f"{label:>{margin}} {'|' if ascii_only else '┤' if label else '│'}{drawn}".rstrip())
    lines.append(" " * (margin + 2) + "1" + f"step {len(values)}".rjust(columns - 1))
    return lines


def running_means(values: Sequence[float], window: int) -> list[float]:
    """For each value the mean of it and those before it, ``window`` in all, or as many as there are."""
    sums = [0.0, *accumulate(values)]
    return [(sums[i] - sums[max(0, i - window)]) / min(i, window) for i in range(1, len(sums))]


def _resampled(values: Sequence[float], count: int) -> list[float]:
    """``count`` numbers that follow ``values``: means of equal shares, or a line through them when they are few."""
    n = len(values)
    if n >= count:
        edges = [i * n // count for i in range(count + 1)]
        return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    places = [i * (n - 1) / max(count - 1, 1) for i in range(count)]
    return [values[int(p)] + (p % 1) * (values[min(int(p) + 1, n - 1)] - values[int(p)]) for p in places]


def _cells(rows: list[int], across: int, down: int) -> dict[tuple[int, int], int]:
    """The Braille dots (as bits) of a line through ``rows``, one for each dot column, by cell."""
    bits = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
    cells: dict[tuple[int, int], int] = {}
    previous = rows[0]
    for x, y in enumerate(rows):
        step = 1 if y > previous else -1
        for dot in [y] if abs(y - previous) < 2 else range(previous + step, y + step, step):
            cell = (x // across, dot // down)
            cells[cell] = cells.get(cell, 0) | bits[x % across][dot % down]
        previous = y
    return cells


def _glyph(dots: int, ascii_only: bool) -> str:
    if ascii_only:
        return "*" if dots else " "
    return chr(0x2800 + dots) if dots else " "


def boundary(
    score: Score, points: Sequence[Point], labels: Sequence[int], width: int, ascii_only: bool = False
) -> list[Text]:
    """The plane in ``width`` columns: shaded where ``score`` is above zero, the points on top, a legend below."""
    left, right, bottom, top = _frame(points)
    height = max(8, round(width * (top - bottom) / (right - left) / 2))  # a character is about twice as high as wide
    shade, plus, minus = (".", "#", "o") if ascii_only else ("░", "●", "○")
    marks = {}
    for (x, y), label in zip(points, labels, strict=True):
        column = int((x - left) / (right - left) * width)
        marks[int((top - y) / (top - bottom) * height), column] = label
    lines = []
    for row in range(height):
        y = top - (row + 0.5) / height * (top - bottom)
        line = Text(no_wrap=True)
        for column in range(width):
            mark = marks.get((row, column))
            inside = score(left + (column + 0.5) / width * (right - left), y) > 0
            if mark is None:
                line.append(shade if inside else " ", style=PLUS_COLOUR if inside else "")
            else:
                line.append(plus if mark > 0 else minus, style=f"bold {PLUS_COLOUR if mark > 0 else MINUS_COLOUR}")
        lines.append(line)
    legend = Text(f"{plus} +1   ", style=f"bold {PLUS_COLOUR}")
    legend.append(f"{minus} -1   ", style=f"bold {MINUS_COLOUR}")
    legend.append(f"{shade} the network says +1", style=PLUS_COLOUR)
    return [*lines, legend]


def _frame(points: Sequence[Point]) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of a frame with some room around the points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    room = 0.15 * max(max(xs) - min(xs), max(ys) - min(ys), 1e-9)
    return min(xs) - room, max(xs) + room, min(ys) - room, max(ys) + room


# --- PNG ------------------------------------------------------------------------------------------


def save_curve(path: str | os.PathLike[str], steps: Sequence[int], losses: Sequence[float]) -> None:
    """The loss of each step and its running mean as a PNG. Raises MissingExtraError without matplotlib, and OSError."""
    figure = _figure(7, 4)
    axes = figure.add_subplot(xlabel="step", ylabel="loss", title="Loss while training")
    window = max(1, len(losses) // 20)
    marker = "o" if len(losses) == 1 else None  # a line through one point is nothing
    if window > 1:
        axes.plot(steps, losses, color="#999999", linewidth=0.6, label="each step")
    label = f"mean of {window} steps" if window > 1 else "each step"
    axes.plot(steps, running_means(losses, window), color=PLUS_COLOUR, linewidth=1.8, marker=marker, label=label)
    if len(losses) < 10:
        axes.set_xticks(steps)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)


def save_boundary(path: str | os.PathLike[str], score: Score, points: Sequence[Point], labels: Sequence[int]) -> None:
    """The plane coloured by sign and size of ``score``, and the points, as a PNG. Raises as :func:`save_curve` does."""
    figure = _figure(8, 5)
    axes = figure.add_subplot(
        xlabel="x", ylabel="y", aspect="equal", title="Two moons, and where the network tells them apart"
    )
    left, right, bottom, top = _frame(points)
    xs = [left + (right - left) * i / 100 for i in range(101)]
    ys = [bottom + (top - bottom) * i / 70 for i in range(71)]
    scores = [[max(-2.0, min(2.0, score(x, y))) for x in xs] for y in ys]
    bands = axes.contourf(
        xs, ys, scores, levels=[-2.01, -1, 0, 1, 2.01], colors=["#e8a678", "#f6dccb", "#cfe3f0", "#86b9da"]
    )
    axes.contour(xs, ys, scores, levels=[0], colors="black", linewidths=1.2)
    figure.colorbar(bands, ticks=[-1, 0, 1], label="score of the network; its sign is the label", shrink=0.75)
    for label, colour, marker in ((1, PLUS_COLOUR, "o"), (-1, MINUS_COLOUR, "s")):
        chosen = [point for point, its in zip(points, labels, strict=True) if its == label]
        axes.scatter(
            [x for x, _ in chosen],
            [y for _, y in chosen],
            c=colour,
            marker=marker,
            edgecolors="white",
            label=f"label {label:+d}".replace("-", "\N{MINUS SIGN}"),
        )
    axes.legend(loc="upper right")
    figure.savefig(path, dpi=150)


def _figure(width: float, height: float) -> Any:
    """A matplotlib figure of that many inches, drawn without any window system."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError('a PNG needs matplotlib: pip install "retrograd[plot]"') from None
    return Figure(figsize=(width, height), layout="constrained")
