"""What the theme's pages lack for a screen reader: levels of headings, names of landmarks, a heading for the search."""

from __future__ import annotations

from pathlib import Path

#: What the theme writes, and what stands in its place.
MENDED = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Site">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ('<div id="search-results">', '<h1>Search</h1>\n<div id="search-results">'),
)


def mend(site: Path) -> None:
    """Mend every page that Sphinx wrote."""
    for path in site.rglob("*.html"):
        text = before = path.read_text(encoding="utf-8")
        for theirs, ours in MENDED:
            text = text.replace(theirs, ours)
        if text != before:
            path.write_text(text, encoding="utf-8")
