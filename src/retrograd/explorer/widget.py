"""The explorer as a live notebook widget (needs anywidget); Python reads and sets its step and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import MissingExtraError
from .page import bundle

__all__ = ["widget"]


def widget(payload: Mapping[str, Any], height: int) -> Any:
    """An ``anywidget.AnyWidget`` that shows a payload.

    Its traits: ``step`` (from 1, what the cursor is on; set it to move the cursor) and ``values`` (the inputs that were
    edited, by name). Raises MissingExtraError without anywidget.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtraError(
            "the live widget needs anywidget: pip install 'retrograd[widget]' (showing the explorer itself does not)."
        ) from None

    class ExplorerWidget(anywidget.AnyWidget):  # type: ignore[misc]  # an optional package: Any
        _esm = bundle("explorer.js")
        _css = bundle("explorer.css")
        payload = traitlets.Dict().tag(sync=True)
        height = traitlets.Int().tag(sync=True)
        step = traitlets.Int(0).tag(sync=True)
        values = traitlets.Dict().tag(sync=True)

    return ExplorerWidget(payload=dict(payload), height=height)
