"""``explore(...)``: an expression, a function or a Value as a page that can be stepped through."""

from __future__ import annotations

import html
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..engine import Value
from ..trace import Trace
from ..trace.codec import to_dictionary
from ..trace.explain import Explanation, explain
from .page import document

__all__ = ["Explorer", "explore", "payload_of"]

#: The version of the payload that the page is given.
VERSION = 1


def payload_of(trace: Trace, scopes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the page is given: the trace, the scopes in which its nodes were recorded, and the lines they stand on."""
    lines: dict[str, dict[str, str]] = {}
    for node in trace.nodes:
        if node.source is not None and node.source.text:
            lines.setdefault(node.source.file, {})[str(node.source.line)] = node.source.text
    return {
        "format": "retrograd-explorer",
        "version": VERSION,
        "trace": to_dictionary(trace),
        "scopes": scopes,
        "lines": lines,
    }


@dataclass(slots=True)
class Explorer:
    """A page about one trace: a notebook displays it, ``save`` writes it, ``open`` shows it in the browser."""

    trace: Trace
    scopes: Mapping[str, Any] | None = field(default=None, repr=False)
    height: int = 640  #: of the frame in a notebook, in pixels

    def to_html(self) -> str:
        """The whole page: one HTML file that works offline. Raises BundleMissingError where it was not built."""
        return document(payload_of(self.trace, self.scopes), self.trace.title)

    def save(self, path: str | Path) -> Path:
        """Write the page to ``path`` and return it."""
        file = Path(path)
        file.write_text(self.to_html(), encoding="utf-8")
        return file

    def open(self, path: str | Path | None = None) -> Path:
        """Write the page (to a temporary file without ``path``), open it in the browser, and return where it is."""
        if path is None:
            path = Path(tempfile.mkdtemp(prefix="retrograd-")) / "explorer.html"
        file = self.save(path)
        webbrowser.open(file.resolve().as_uri())
        return file

    def _repr_html_(self) -> str:
        """A frame that may run the page's script and nothing else; it is part of the notebook, so that saving keeps it."""
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe title="retrograd explorer" sandbox="allow-scripts allow-downloads" width="100%" '
            f'height="{self.height}" style="border:1px solid #8884;border-radius:8px" srcdoc="{page}"></iframe>'
        )

    def __repr__(self) -> str:
        title = f" of {self.trace.title}" if self.trace.title else ""
        return f"<retrograd explorer{title}: {len(self.trace.nodes)} nodes; .open() shows it in the browser>"


def explore(thing: str | Value | Callable[..., Any], /, **values: Any) -> Explorer:
    """Explore an expression (``explore("a*b + c", a=2, b=-3, c=10)``), a function called with ``values``, or a Value.

    Takes what :func:`retrograd.explain` takes, and raises what it raises. A notebook shows the result; elsewhere
    ``.open()`` shows it in the browser and ``.save("page.html")`` writes one file that works offline.
    """
    return of_explanation(explain(thing, **values))


def of_explanation(explanation: Explanation) -> Explorer:
    """The page of what was already explained."""
    return Explorer(explanation.trace)
