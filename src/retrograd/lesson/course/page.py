"""The lesson as one offline page, kept in a place of its own so that the browser remembers what was done."""

from __future__ import annotations

import base64
import json
import os
import sys
import webbrowser
import zlib
from pathlib import Path

from ...explorer.page import document
from .build import Course

__all__ = ["kept_at", "open_page", "page"]


def page(course: Course, start: int | None = None) -> str:
    """The whole HTML file. Raises BundleMissingError where the script was not built, and DataError as ``load`` does."""
    text = json.dumps(course.payload(start), allow_nan=False, separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    return document({"format": "retrograd-lesson", "packed": packed}, course.words["course_title"], entry="lesson")


def kept_at() -> Path:
    """The default file of the page. It never changes, because a browser keeps the progress of each file apart."""
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "retrograd" / "lesson.html"


def open_page(course: Course, start: int | None = None, path: Path | None = None, show: bool = True) -> Path:
    """Write the page, to ``path`` or to its own place, and open it in the browser unless ``show`` is False."""
    file = path or kept_at()
    if path is None:
        file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(course, start), encoding="utf-8")
    if show:
        webbrowser.open(file.resolve().as_uri())
    return file
