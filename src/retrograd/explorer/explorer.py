"""``explore(...)``: an expression, a function or a Value as a page that can be stepped through."""

from __future__ import annotations

import html
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import engine
from ..engine import Value
from ..errors import counted
from ..trace.callgraph import Calls, record_calls
from ..trace.codec import pack
from ..trace.explain import call_function
from ..trace.expression import parse
from ..trace.trace import Written
from ..trace.variables import with_variables
from .page import document

__all__ = ["Explorer", "explore", "explore_function"]

#: The version of the payload that the page is given.
VERSION = 2
#: What a page can be opened with: the options of ``web/src/state/link.ts``, but for those that change the graph.
OPTIONS = (
    "digits", "theme", "figure", "hint", "answers", "views", "view", "bug", "assign", "order", "step", "node", "edge",
)  # fmt: skip
#: From this many operations on, the graph is folded.
LARGE = 60


@dataclass(slots=True)
class Explorer:
    """A page about one graph: a notebook displays it, ``save`` writes it, ``open`` shows it in the browser."""

    title: str  #: the expression or the function; may be empty
    operations: int  #: how many the graph has
    payload: Mapping[str, Any] = field(repr=False)  #: what the page is given: the trace, ready for JSON
    height: int = 640  #: of the frame in a notebook, in pixels

    def to_html(self) -> str:
        """The whole page: one HTML file that works offline. Raises BundleMissingError where it was not built."""
        return document(self.payload, self.title)

    def at(self, **options: str | int | bool) -> Explorer:
        """The same page, opened at a step, a view, a node, or with its answers hidden.

        Args:
            **options: The options of a link, such as ``step="last"``, ``view="ledger"``, ``views="step,slope"``,
                ``answers="hidden"``, ``digits=6`` or ``figure=True``. docs/explorer.md lists them all.

        Returns:
            A new Explorer.

        Raises:
            TypeError: There is no such option.

        Example:
            >>> import retrograd as rg
            >>> rg.explore("a*a", a=3).at(step="seed", view="ledger").payload["options"]
            {'step': 'seed', 'view': 'ledger'}
        """
        if unknown := options.keys() - OPTIONS:
            raise TypeError(f"no option is called {min(unknown)!r}; there are {', '.join(OPTIONS)}.")
        said = {name: str(int(value) if isinstance(value, bool) else value) for name, value in options.items()}
        return replace(self, payload={**self.payload, "options": {**self.payload.get("options", {}), **said}})

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

    def widget(self) -> Any:
        """The live widget (needs anywidget); Python reads and sets its ``step`` and its edited ``values``.

        What a notebook shows without it, a frame, survives saving and export; a widget needs its kernel.
        Raises MissingExtraError without anywidget.
        """
        from .widget import widget

        return widget(self.payload, self.height)

    def _repr_html_(self) -> str:
        """A frame that may run the page's script and nothing else; being part of the output, it is saved with it."""
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe title="retrograd explorer" sandbox="allow-scripts allow-downloads" width="100%" '
            f'height="{self.height}" style="border:1px solid #8884;border-radius:8px" srcdoc="{page}"></iframe>'
        )

    def __repr__(self) -> str:
        title = f" of {self.title}" if self.title else ""
        return f"<retrograd explorer{title}: {counted(self.operations, 'operation')}; .open() shows it in the browser>"


def explore(thing: str | Value | Callable[..., Any], /, **values: Any) -> Explorer:
    """Explore a graph in the browser: a page that steps through its forward and backward pass.

    No ``.grad`` is touched. A function's calls and source lines are recorded, so that a large graph opens folded by
    them.

    Args:
        thing: An expression as text, a Value, or a function, which is called with ``values`` and returns one Value.
        **values: For an expression, the number of each name. For a function, its arguments: numbers or pytrees of
            them. For a Value, names for the Values it was computed from; otherwise their labels are shown, or else
            the names of the variables that hold them, and letters where there are none.

    Returns:
        An Explorer. A notebook shows it; elsewhere ``.open()`` shows it in the browser, and ``.save("page.html")``
        writes one file that works offline.

    Raises:
        ExpressionError: The expression cannot be read, or uses a name without a value.
        TypeError: ``thing`` is something else, an argument is missing or unknown, or a function's result is not one
            Value.
        ChangedValueError: The ``.data`` of something that an operation used has changed since.
        MissingDerivativeError: A node made with children has no derivative.

    Example:
        >>> import retrograd as rg
        >>> rg.explore("(a*b + c) * (a + b)", a=2, b=-3, c=10)
        <retrograd explorer of (a*b + c) * (a + b): 4 operations; .open() shows it in the browser>
    """
    if isinstance(thing, str):
        evaluation = parse(thing).evaluate(values)
        return _explorer(evaluation.root, evaluation.leaves, " ".join(thing.split()), evaluation.written)
    if isinstance(thing, Value):
        for name, value in values.items():
            if not isinstance(value, Value):
                raise TypeError(f"explore(value, {name}=...) names a Value, and got {value!r}: leave it out.")
        return _explorer(thing, with_variables(values, thing, sys._getframe(1)), "")
    if callable(thing):
        return explore_function(thing, values)
    raise TypeError(
        f"explore() takes an expression, a Value or a function, not {type(thing).__name__}. "
        "Pass the Value that you would call .backward() on, for example explore(loss)."
    )


def explore_function(function: Callable[..., Any], values: Mapping[str, Any], title: str = "") -> Explorer:
    """Call ``function`` with Values in place of the numbers in ``values`` and explore its result."""
    with record_calls() as calls:
        call = call_function(function, values, title)
    return _explorer(call.result, call.leaves, call.title, calls=calls)


def _explorer(
    root: Value, names: Mapping[str, Value], title: str, written: Written | None = None, calls: Calls | None = None
) -> Explorer:
    operations = len(engine.interior(root))
    trace = pack(root, names, title=title, written=written, calls=calls, fold=operations >= LARGE)
    return Explorer(title, operations, {"format": "retrograd-explorer", "version": VERSION, "trace": trace})
