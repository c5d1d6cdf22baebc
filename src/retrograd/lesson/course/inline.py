"""Inline markup: ``**strong**``, ``*emphasis*``, ``` `code` ```, links, and sentences that are bound to a figure."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import DataError
from .figures import Figure
from .source import Place
from .sums import evaluate, filled

__all__ = ["Text"]

_TOKEN = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>.+?)\*\*"
    r"|\*(?P<em>(?=\S)[^*]+?(?<=\S))\*"
    r"|\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])+)\]\((?P<target>[^)\s]+)\)"
)
_BUGS = ("assign", "zero", "order", "twice", "stale")


class Text:
    """Writes the texts of one chapter, whose figures their numbers come from, as HTML or as Markdown."""

    def __init__(self, figures: Mapping[str, Figure], chapters: Mapping[str, int]) -> None:
        """The figures by name, and the numbers of the chapters by name, for links between them."""
        self.figures = figures
        self.chapters = chapters

    def html(self, text: str, place: Place) -> str:
        """A text as HTML: numbers filled in, and every bound sentence a button that says where it leads."""
        return self._written(text, place, _Html(self))

    def markdown(self, text: str, place: Place, link: Callable[[str, str], str] | None = None) -> str:
        """A text as plain Markdown: numbers filled in, and bound sentences as they read.

        ``link`` writes a link or a bound sentence, of its text and its target, where it is not to be as in a notebook.
        """
        return self._written(text, place, _Markdown(self, link))

    def _written(self, text: str, place: Place, writer: _Html | _Markdown) -> str:
        try:
            return writer.write(filled(text, self.figures))
        except DataError as error:
            raise place.error(str(error)) from None

    def bound(self, target: str) -> dict[str, Any]:
        """Where a bound sentence puts its figure: ``product@visit-d&node=a&a=2.5&wrong=assign``."""
        name, _, rest = target.partition("@")
        figure = self.figures.get(name)
        if figure is None:
            raise DataError(f"there is no figure {name} here; there are {', '.join(self.figures) or 'none'}.")
        first, *options = rest.split("&")
        found: dict[str, Any] = {"figure": name, "step": figure.step(first)}
        values: dict[int, float] = {}
        for option in options:
            key, _, value = option.partition("=")
            if key == "node":
                found["node"] = figure.node(value).id
            elif key == "edge":
                found["edge"] = figure.edge(*value.split("-", 1))
            elif key == "wrong" and value in _BUGS:
                found["wrong"] = value
            elif key in figure.leaves:
                values[figure.node(key).id] = float(evaluate(value, self.figures))
            else:
                raise DataError(f"{option} is not known: write node=…, edge=…-…, wrong=… or INPUT=NUMBER.")
        if values:
            found["values"] = sorted(values.items())
        if "wrong" in found:
            if first != "end":
                raise DataError(f"a wrong pass has steps of its own: write {name}@end, and not {name}@{first}.")
            found["step"] = "end"  # how many steps it has is known once it has been made
        return found


class _Html:
    def __init__(self, text: Text) -> None:
        self.text = text

    def write(self, text: str) -> str:
        done, at = [], 0
        for match in _TOKEN.finditer(text):
            done += [html.escape(text[at : match.start()], quote=False), self.token(match)]
            at = match.end()
        return "".join([*done, html.escape(text[at:], quote=False)])

    def token(self, match: re.Match[str]) -> str:
        if match["code"]:
            return f"<code>{html.escape(match['code'], quote=False)}</code>"
        if match["strong"]:
            return f"<strong>{self.write(match['strong'])}</strong>"
        if match["em"]:
            return f"<em>{self.write(match['em'])}</em>"
        return self.link(self.write(match["text"]), match["target"])

    def link(self, inner: str, target: str) -> str:
        if "@" in target:
            where = json.dumps(self.text.bound(target), separators=(",", ":"))
            return f'<button type="button" class="bound" data-go="{html.escape(where)}">{inner}</button>'
        if target.startswith("chapter:"):
            return f'<a href="#{self.chapter(target)}">{inner}</a>'
        if not target.startswith("https://"):
            raise DataError(f"a link leads to https://…, chapter:NAME or FIGURE@STEP; {target} is none.")
        return f'<a href="{html.escape(target)}" rel="noreferrer">{inner}</a>'

    def chapter(self, target: str) -> str:
        name = target.removeprefix("chapter:")
        if name not in self.text.chapters:
            raise DataError(f"there is no chapter {name}; there are {', '.join(self.text.chapters)}.")
        return name


class _Markdown(_Html):
    def __init__(self, text: Text, link: Callable[[str, str], str] | None = None) -> None:
        super().__init__(text)
        self.own_link = link

    def write(self, text: str) -> str:
        done, at = [], 0
        for match in _TOKEN.finditer(text):
            done += [text[at : match.start()], self.token(match)]
            at = match.end()
        return "".join([*done, text[at:]])

    def token(self, match: re.Match[str]) -> str:
        return self.link(self.write(match["text"]), match["target"]) if match["text"] else match[0]

    def link(self, inner: str, target: str) -> str:
        if self.own_link is not None:
            return self.own_link(inner, target)
        if "@" in target:
            self.text.bound(target)
            return inner
        if target.startswith("chapter:"):
            name = self.chapter(target)
            return f"[{inner}]({self.text.chapters[name]:02}-{name}.ipynb)"
        return f"[{inner}]({target})"
