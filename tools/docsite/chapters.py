"""The chapters of the lesson as pages of the site: the same text, the same questions, the figures live beside them."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from functools import cache
from urllib.parse import quote

from docsite.explorer import framed
from retrograd.lesson.course.build import Built, Course, load
from retrograd.lesson.course.questions import Question
from retrograd.lesson.course.source import (
    Block,
    Code,
    FigureSource,
    Heading,
    Items,
    Paragraph,
    Place,
    QuestionSource,
)


@cache
def built() -> tuple[Course, tuple[Built, ...]]:
    """The course, and its chapters with every number computed."""
    course = load()
    return course, tuple(course.build(number) for number in course.numbers.values())


def file_name(chapter: Built) -> str:
    """``02-two-rules``"""
    return f"{chapter.number:02}-{chapter.name}"


def pages() -> Iterator[tuple[str, str]]:
    """The page of each chapter."""
    _, chapters = built()
    for chapter in chapters:
        yield f"lesson/{file_name(chapter)}.md", _Page(chapter).text()


class _Page:
    """One chapter as Markdown."""

    def __init__(self, chapter: Built) -> None:
        self.chapter = chapter

    def text(self) -> str:
        chapter, head = self.chapter, self.chapter.chapter.head
        place = chapter.chapter.place
        start = (
            f'<p class="chapter-start"><a href="../lesson.html#{chapter.name}">Do this chapter as the interactive '
            f"course</a> <span>about {head['minutes']} minutes; answers are checked, progress is kept</span></p>"
        )
        parts = [
            f"# {chapter.number}. {head['title']}",
            f":::{{container}} idea\n{self.written(head['idea'], place)}\n:::",
            start,
            *(part for block in chapter.chapter.blocks for part in self.block(block)),
        ]
        return "\n\n".join(parts) + "\n"

    def written(self, text: str, place: Place) -> str:
        return self.chapter.text.markdown(text, place, self.link)

    def link(self, inner: str, target: str) -> str:
        """A sentence that leads a figure, or a link."""
        if "@" in target:
            return self.bound(inner, target)
        if target.startswith("chapter:"):
            course, chapters = built()
            return f"[{inner}]({file_name(chapters[course.find(target.removeprefix('chapter:')) - 1])}.md)"
        return f"[{inner}]({target})"

    def bound(self, inner: str, target: str) -> str:
        found = self.chapter.text.bound(target)
        go = quote(json.dumps(found, separators=(",", ":")))
        where = f'data-figure="{self.chapter.name}-{found["figure"]}" data-options="go={go}"'
        return f'<button type="button" class="bound" {where}>{inner}</button>'

    def block(self, block: Block) -> Iterator[str]:
        match block:
            case Heading():
                yield f"{'###' if block.inner else '##'} {self.written(block.text, block.place)}"
            case Paragraph(only="notebook") | Code(language="notebook"):
                return
            case Paragraph():
                yield f"{'> ' if block.note else ''}{self.written(block.text, block.place)}"
            case Items():
                marks = [f"{n}. " if block.ordered else "- " for n in range(1, len(block.items) + 1)]
                items = zip(marks, block.items, strict=True)
                yield "\n".join(mark + self.written(item, block.place) for mark, item in items)
            case Code(language="python") if self.chapter.name == "write-your-own" and block.text.startswith(
                "class Value"
            ):
                yield editor(block.text)
            case Code():
                yield f"```{block.language}\n{block.text}\n```"
            case FigureSource() if block.options.get("show") != "no":
                yield self.figure(block)
            case QuestionSource():
                yield self.question(self.chapter.questions[block.name])

    def figure(self, source: FigureSource) -> str:
        figure = self.chapter.figures[source.name]
        caption = self.written(source.options.get("caption", ""), source.place)
        shown = figure.program or f"{figure.title}: a computation of {len(figure.trace.operations)} operations"
        link = f"embed=figure&amp;chapter={self.chapter.name}&amp;figure={source.name}"
        data = (
            f'data-name="{self.chapter.name}-{source.name}" data-page="lesson.html" data-link="{link}" data-options=""'
        )
        return framed(f'{data} data-title="The figure {source.name}, step by step"', caption, shown)

    def question(self, own: Question) -> str:
        def written(text: str) -> str:
            return self.written(text, own.source.place)

        def folded(summary: str, *inside: str) -> list[str]:
            return [f"<details><summary>{summary}</summary>", *inside, "</details>"]

        parts = [":::{admonition} Question", *(written(text) for text in own.source.prompt)]
        for choice in own.choices:
            mark = "**Right.** " if choice.right else "**Not this one.** "
            parts += folded(_inline(written(choice.text)), mark + written(choice.says))
        for number, hint in enumerate(own.hints, start=1):
            parts += folded(f"Hint {number}", written(hint))
        if own.fields:
            answers = ", ".join(f"{field.label} = {field.answer:.6g}".removeprefix(" = ") for field in own.fields)
            said = [f"- {case.value:.6g}? {written(case.says)}" for field in own.fields for case in field.cases]
            found = f"**{answers}**. {written(own.right)}" if own.right else f"**{answers}**"
            parts += folded("Compare your answer", found, "\n".join(said))
        if own.kind == "order":
            parts.append(
                f'<a href="../lesson.html#{self.chapter.name}">Play the order game in the interactive course</a>'
            )
        return "\n\n".join([*(part for part in parts if part), ":::"])


def editor(code: str) -> str:
    """The editor of a class, with the button that has it examined; lines of HTML, none of them empty."""
    lines = html.escape(code).replace("\n\n", "\n&#10;").replace("\n\n", "\n&#10;")
    return (
        '<div class="classroom"><textarea aria-label="Your class Value" spellcheck="false" autocapitalize="off">'
        f"{lines}</textarea>\n"
        '<button type="button">Examine it, rule by rule</button>\n'
        '<pre aria-live="polite">The button brings Python into this page, and the examiner of retrograd grade.</pre>'
        "</div>"
    )


def _inline(text: str) -> str:
    """Markdown inside a line of HTML: code is all that a choice has."""
    pieces = text.split("`")
    return "".join(
        f"<code>{html.escape(piece)}</code>" if number % 2 else html.escape(piece)
        for number, piece in enumerate(pieces)
    )
