"""A Sphinx extension: the directive ``{explorer}`` puts the explorer where an expression stands.

::

    ```{explorer} (a*b + c) * (a + b) a=2 b=-3 c=10
    :view: ledger
    ```

Options are those of a link (docs/explorer.md), and ``height`` in pixels and ``caption``. A program of several lines
stands in the body. The page's script loads the explorer once it is near the window; until then, and without scripts,
the expression is shown as it was written.
"""

from __future__ import annotations

import html
import re
from typing import Any, ClassVar
from urllib.parse import quote

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

#: The options of a link that a figure may have.
LINK = ("digits", "answers", "views", "view", "bug", "assign", "order", "step", "node", "edge", "set")
_INPUT = re.compile(r"\s+([A-Za-z_]\w*)=(\S+)$")


def program(text: str) -> str:
    """``a * b a=2 b=3`` as the program ``a = 2; b = 3; a * b``."""
    inputs: list[str] = []
    expression = text.strip()
    while match := _INPUT.search(expression):
        inputs.insert(0, f"{match[1]} = {match[2]}")
        expression = expression[: match.start()]
    return "; ".join([*inputs, expression.strip()])


def figure(options: dict[str, str], height: str = "", caption: str = "", shown: str = "") -> str:
    """The HTML of a figure: what the script makes a frame of."""
    link = "&".join(f"{name}={quote(value, safe=' ,:;=*()/.-<>')}" for name, value in options.items())
    return framed(f'data-page="live/explorer.html" data-options="{html.escape(link)}"', caption, shown, height)


def framed(data: str, caption: str = "", shown: str = "", height: str = "") -> str:
    """A place for a frame, with what stands there until the script has made it."""
    style = f' style="--height:{int(height)}px"' if height else ""
    below = f"<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="live"{style}><div class="live-frame" {data}>'
        f"<pre>{html.escape(shown)}</pre></div>{below}</figure>"
    )


class Explorer(SphinxDirective):  # type: ignore[misc]
    """The directive."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = dict.fromkeys((*LINK, "height", "caption"), directives.unchanged)

    def run(self) -> list[nodes.Node]:
        lines = self.arguments or [line for line in self.content if line.strip()]
        text = program(lines[0]) if self.arguments else "; ".join(lines)
        given = {name: self.options[name] for name in LINK if name in self.options}
        height, caption = self.options.get("height", ""), self.options.get("caption", "")
        made = figure({"program": text, **given}, height=height, caption=caption, shown=text)
        return [nodes.raw("", made, format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("explorer", Explorer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
