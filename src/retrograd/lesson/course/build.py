"""Puts the course together: every chapter's figures and questions computed, and all of it as data for the page."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...errors import DataError
from .figures import Figure, written
from .inline import Text
from .programs import PROGRAMS
from .questions import ROUNDING, Question, question
from .source import Chapter, Code, FigureSource, Heading, Items, Paragraph, QuestionSource, read

__all__ = ["Built", "Course", "load"]

Json = dict[str, Any]

#: What may stand below a figure's graph, as web/src/lesson/figure.tsx knows it.
PANELS = (
    "nudge", "inputs", "step", "ledger", "thermometer", "waterfall", "why", "search", "descent", "listing",
)  # fmt: skip
#: What a figure's lines ``:option: …`` may say.
OPTIONS = (
    "step", "panel", "leaf", "range", "tangent", "parameters", "rate", "most", "node", "show", "caption", "program",
    "units",
)  # fmt: skip


@dataclass(frozen=True)
class Built:
    """A chapter with everything that it shows computed."""

    number: int
    chapter: Chapter
    figures: dict[str, Figure]
    questions: dict[str, Question]
    text: Text

    @property
    def name(self) -> str:
        return self.chapter.name

    def payload(self) -> Json:
        """What the page is given of this chapter."""
        head = {key: self.text.html(value, self.chapter.place) for key, value in self.chapter.head.items()}
        return {"name": self.name, "head": head, "scenes": list(self._scenes())}

    def _scenes(self) -> Iterator[Json]:
        """The sections of the chapter: the heading, the blocks, and the figure that stands beside them."""
        scene: Json = {"heading": "", "blocks": [], "figure": None}
        for block in self.chapter.blocks:
            if isinstance(block, Heading) and block.inner:
                scene["blocks"].append({"kind": "heading", "html": self.text.html(block.text, block.place)})
            elif isinstance(block, Heading):
                if scene["blocks"] or scene["figure"]:
                    yield scene
                scene = {"heading": self.text.html(block.text, block.place), "blocks": [], "figure": None}
            elif isinstance(block, FigureSource):
                if block.options.get("show") == "no":
                    continue
                if scene["figure"] is not None:
                    raise block.place.error(
                        "a section has one figure: begin another one with ## before the next figure."
                    )
                scene["figure"] = self._figure(block)
            elif not _in_notebook_only(block):
                scene["blocks"].append(self._block(block))
        yield scene

    def _figure(self, source: FigureSource) -> Json:
        figure = self.figures[source.name]
        options = dict(source.options)
        start = options.pop("step", "start")
        try:
            _check_options(figure, options)
            step = figure.step(start)
        except DataError as error:
            raise source.place.error(str(error)) from None
        caption = self.text.html(options.pop("caption", ""), source.place)
        known = {key: options[key] for key in sorted(options)}
        return {
            "name": source.name,
            "payload": figure.packed(),
            "program": figure.program,
            "step": step,
            "caption": caption,
            "options": known,
            "extra": dict(figure.extra),
        }

    def _block(self, block: Paragraph | Items | Code | QuestionSource) -> Json:
        if isinstance(block, Paragraph):
            return {"kind": "note" if block.note else "text", "html": self.text.html(block.text, block.place)}
        if isinstance(block, Items):
            items = [self.text.html(item, block.place) for item in block.items]
            return {"kind": "list", "ordered": block.ordered, "items": items}
        if isinstance(block, Code):
            return {"kind": "code", "language": block.language, "text": block.text}
        return self._question(self.questions[block.name])

    def _question(self, own: Question) -> Json:
        def html(text: str) -> str:
            return self.text.html(text, own.source.place)

        return {
            "kind": "question",
            "name": own.name,
            "form": own.kind,
            "prompt": [html(text) for text in own.source.prompt],
            "choices": [{"html": html(c.text), "right": c.right, "says": html(c.says)} for c in own.choices],
            "fields": [
                {
                    "label": f.label,
                    "answer": f.answer,
                    "cases": [[case.value, html(case.says)] for case in f.cases],
                    "terms": [[term.local, term.upstream, term.grad] for term in f.terms],
                    "follows": html(f.follows),
                }
                for f in own.fields
            ],
            "orders": [{"name": figure.name, "payload": figure.packed()} for figure in own.orders],
            "tolerance": own.tolerance,
            "rounding": ROUNDING,
            "nearly": html(own.nearly),
            "covers": self._covers(own),
            "hints": [html(hint) for hint in own.hints],
            "right": html(own.right),
            "otherwise": html(own.otherwise),
        }

    def _covers(self, own: Question) -> Json | None:
        """``:covers: FIGURE NODE``, and ``wrong`` behind it for the gradient of a wrong pass."""
        text = own.source.options.get("covers", "")
        if not text:
            return None
        figure, _, node = text.removesuffix(" wrong").partition(" ")
        if figure not in self.figures:
            raise own.source.place.error(f"covers: there is no figure {figure}; there are {', '.join(self.figures)}.")
        try:
            return {"figure": figure, "node": self.figures[figure].node(node).id, "wrong": text.endswith(" wrong")}
        except DataError as error:
            raise own.source.place.error(str(error)) from None


def _check_options(figure: Figure, options: Mapping[str, str]) -> None:
    """Raise DataError for what the page would pass over in silence."""
    for key in options:
        if key not in OPTIONS:
            raise DataError(f"a figure has no option {key}; it has {', '.join(OPTIONS)}.")
    for panel in options.get("panel", "").split():
        if panel not in PANELS:
            raise DataError(f"there is no panel {panel}; there are {', '.join(PANELS)}.")
    for rate in options.get("rate", "").split():
        try:
            float(rate)
        except ValueError:
            raise DataError(f"rate is a number, or several with spaces between; {rate} is none.") from None
    if options.get("units", "differ") != "differ":
        raise DataError(f"units is differ, or is left out; it is {options['units']}.")
    for key in ("leaf", "node"):
        if key in options:
            figure.node(options[key])


def _in_notebook_only(block: Paragraph | Items | Code | QuestionSource) -> bool:
    match block:
        case Paragraph(only="notebook") | Code(language="notebook"):
            return True
    return False


@dataclass(frozen=True)
class Course:
    """The chapters in order, and the words that stand around them."""

    chapters: tuple[Chapter, ...]
    words: dict[str, str]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each chapter, from 1, by its name."""
        return {chapter.name: number for number, chapter in enumerate(self.chapters, start=1)}

    def find(self, wanted: str) -> int:
        """The number of a chapter by its number or (the beginning of) its name. Raises DataError without one."""
        if wanted.isdecimal() and 1 <= int(wanted) <= len(self.chapters):
            return int(wanted)
        fitting = [number for name, number in self.numbers.items() if name.startswith(wanted.strip().lower())]
        if not wanted.strip() or len(fitting) != 1:
            names = "\n".join(f"  {number:2}  {name}" for name, number in self.numbers.items())
            raise DataError(f"there is no chapter {wanted!r}. Give a number or a name:\n{names}")
        return fitting[0]

    def build(self, number: int) -> Built:
        """Compute a chapter. Raises DataError, with file and line, where its source is wrong."""
        chapter = self.chapters[number - 1]
        figures: dict[str, Figure] = {}
        for block in chapter.blocks:
            if isinstance(block, FigureSource):
                if block.name in figures:
                    raise block.place.error(f"there are two figures {block.name}.")
                figures[block.name] = _computed(block)
        text = Text(figures, self.numbers)
        questions: dict[str, Question] = {}
        for block in chapter.blocks:
            if isinstance(block, QuestionSource):
                if block.name in questions:
                    raise block.place.error(f"there are two questions {block.name}.")
                questions[block.name] = question(block, figures, self.words, text)
        return Built(number, chapter, figures, questions, text)

    def payload(self, start: int | None = None) -> Json:
        """Everything for the page; ``start`` is the chapter to open, or None for where the learner was."""
        chapters = [self.build(number).payload() for number in self.numbers.values()]
        return {
            "format": "retrograd-lesson",
            "version": 1,
            "start": start,
            "words": self.words,
            "chapters": chapters,
        }


def _computed(source: FigureSource) -> Figure:
    try:
        if "program" not in source.options:
            return written(source.name, source.program)
        make = PROGRAMS.get(source.options["program"])
        if make is None:
            raise DataError(f"there is no program {source.options['program']}; there are {', '.join(PROGRAMS)}.")
        return make(source.name)
    except DataError as error:
        raise source.place.error(str(error)) from None


def load(folder: Path | None = None) -> Course:
    """The course that comes with the package, or a teacher's own from a folder of chapters and ``words.toml``.

    Raises DataError where a file is missing or cannot be read.
    """
    texts = _own_files() if folder is None else _files(folder)
    words = texts.pop("words.toml", "")
    chapters = [read(name, text) for name, text in sorted(texts.items()) if name[:1].isdigit()]
    if not chapters:
        raise DataError(f"{folder} has no chapter: files such as 01-two-directions.md are expected.")
    try:
        said: Mapping[str, Any] = tomllib.loads(words or _own_files()["words.toml"])
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"words.toml: {error}.") from None
    standard = tomllib.loads(_own_files()["words.toml"])
    for key, text in said.items():
        _check_word(key, text, standard)
    return Course(tuple(chapters), {**standard, **said})


def _check_word(key: str, text: object, standard: Mapping[str, str]) -> None:
    """Raise DataError for a word that the page does not know, or would show with a brace in it."""
    if key not in standard:
        near = difflib.get_close_matches(key, standard, 1)
        raise DataError(f"words.toml: no word is called {key}{f'; {near[0]} is one' if near else ''}.")
    if not isinstance(text, str):
        raise DataError(f'words.toml: {key} is a text in quotes, as in {key} = "…", and this is {text}.')
    known = re.findall(r"\{(\w+)\}", standard[key])
    for name in re.findall(r"\{(\w*)\}", text):
        if name not in known:
            has = f"it may hold {', '.join(f'{{{own}}}' for own in known)}" if known else "it has none"
            raise DataError(
                f"words.toml: nothing is filled in for {{{name}}} in {key}; {has}. Words in braces are not translated."
            )


def _own_files() -> dict[str, str]:
    folder = files(__package__.rpartition(".")[0]) / "chapters"
    return {
        item.name: item.read_text(encoding="utf-8") for item in folder.iterdir() if item.name.endswith((".md", ".toml"))
    }


def _files(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}: retrograd learn --export {folder} writes one to begin with.")
    texts = {}
    for file in sorted(folder.iterdir()):
        if file.suffix in (".md", ".toml"):
            try:
                texts[file.name] = file.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError as error:
                line = file.read_bytes()[: error.start].count(b"\n") + 1
                raise DataError(
                    f"{file.name}, line {line}: this is no UTF-8: save the file in that encoding."
                ) from None
    return texts
