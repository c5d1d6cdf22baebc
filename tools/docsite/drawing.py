"""Pictures that follow the theme: Matplotlib draws in marked colours, which become variables of the style sheet."""

from __future__ import annotations

import html
import io
import re
from typing import Any

#: Colours that Matplotlib is given, and the variables of docs/conf.py that stand for them in the page.
INKS = {
    "#010203": "--plot-ink", "#040506": "--plot-soft", "#070809": "--plot-line",
    "#0a0b01": "--plot-1", "#0a0b02": "--plot-2", "#0a0b03": "--plot-3", "#0a0b04": "--plot-4",
}  # fmt: skip
INK, SOFT, LINE, FIRST, SECOND, THIRD, FOURTH = INKS

STYLE: dict[str, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "retrograd", "font.family": "sans-serif", "font.size": 10,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "legend.frameon": False,
    "text.color": INK, "axes.labelcolor": INK, "axes.titlecolor": INK, "axes.titlesize": 10,
    "xtick.color": SOFT, "ytick.color": SOFT, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
    "axes.edgecolor": SOFT, "grid.color": LINE, "axes.grid": True, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.8,
    "figure.constrained_layout.use": True, "image.cmap": "cividis",
}  # fmt: skip


def style() -> dict[str, Any]:
    """Matplotlib's settings for a picture of the site."""
    from cycler import cycler

    return {**STYLE, "axes.prop_cycle": cycler(color=[FIRST, SECOND, THIRD, FOURTH])}


def svg(figure: Any, title: str) -> str:
    """A figure of Matplotlib as an element of a page, and what a screen reader says of it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return themed(out.getvalue(), title)


def themed(text: str, title: str = "") -> str:
    """An SVG file as an element of a page, its marked colours made variables; without a title it adorns a text."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for colour, variable in INKS.items():
        text = text.replace(colour, f"var({variable})")
    # Sizes are the page's business; an empty line would end raw HTML in Markdown.
    said = f'role="img" aria-label="{html.escape(title)}"' if title else 'aria-hidden="true"'
    text = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', rf'<svg {said} viewBox="\1">', text, count=1, flags=re.DOTALL)
    text = re.sub(r"font: (?:\S+ )?([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    return re.sub(r"\n\s*", "\n", text).strip()
