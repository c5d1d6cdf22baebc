"""Reads a chapter: Markdown with a head, figures and questions, as a teacher writes it.

The head is a few ``key: value`` lines between two ``---``. A directive stands between ``:::{figure} name`` (or
``{question}``) and ``:::``; lines ``:key: value`` at its beginning are its options. See ``chapters/README.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ...errors import DataError

__all__ = [
    "Chapter",
    "Code",
    "FigureSource",
    "Heading",
    "Items",
    "Option",
    "Paragraph",
    "Place",
    "QuestionSource",
    "read",
]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the sources, for errors that a teacher can act on."""

    file: str
    line: int

    def error(self, says: str) -> DataError:
        """The error that names this place."""
        return DataError(f"{self.file}, line {self.line}: {says}")


@dataclass(frozen=True, slots=True)
class Heading:
    """``## …``: a section of the chapter begins. ``### …`` is a heading inside it, beside the same figure."""

    text: str
    place: Place
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text, with its inline markup as it was written; a ``note`` began with ``>``.

    ``only`` is ``page`` or ``notebook`` where it began with ``[page]`` or ``[notebook]``, and empty otherwise.
    """

    text: str
    place: Place
    note: bool = False
    only: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of short texts."""

    items: tuple[str, ...]
    ordered: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced block: ``python`` is a cell of the notebook, ``notebook`` one that only the notebook has."""

    language: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class FigureSource:
    """A figure: a program of assignments, or the name of one that is computed in Python."""

    name: str
    options: dict[str, str]
    program: str
    place: Place


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a choice: what makes it right, its text, and what choosing it means."""

    condition: str  #: ``x`` or empty where a person decided; else a comparison that the engine decides
    text: str
    meaning: str
    place: Place


@dataclass(frozen=True, slots=True)
class QuestionSource:
    """A question as it was written; ``fields`` are its lines ``key: text``, in order."""

    name: str
    options: dict[str, str]
    prompt: tuple[str, ...]
    choices: tuple[Option, ...]
    fields: tuple[tuple[str, str], ...]
    place: Place

    def all(self, key: str) -> list[str]:
        """The texts of every field with this key."""
        return [text for own, text in self.fields if own == key]

    def one(self, key: str, default: str = "") -> str:
        """The text of the field with this key."""
        return next(iter(self.all(key)), default)


Block = Heading | Paragraph | Items | Code | FigureSource | QuestionSource


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter as it was written."""

    name: str  #: the file's, without its number: ``two-directions``
    head: dict[str, str]
    blocks: tuple[Block, ...]
    place: Place


_HEAD = ("title", "minutes", "idea")
_DIRECTIVE = re.compile(r":::\{(?P<kind>[a-z]+)\}\s*(?P<name>[a-z][a-z0-9-]*)?\s*")
_OPTION = re.compile(r":(?P<key>[a-z]+):\s*(?P<value>.*)")
_FIELD = re.compile(
    r"(?P<key>answer|unit|gradients|order|right|otherwise|hint|tolerance|when \{[^}]+\}):\s*(?P<text>.*)"
)
_CHOICE = re.compile(r"- (?:\[(?P<mark>[ x])\]|\{(?P<condition>[^}]+)\})\s+(?P<text>.*)")
_ONLY = re.compile(r"\[(?P<where>page|notebook)\] ")
_ITEM = re.compile(r"(?:- |(?P<number>\d+)\. )(?P<text>.*)")


class _Reader:
    """The lines of a file, one after the other."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.lines = text.splitlines()
        self.at = 0

    @property
    def place(self) -> Place:
        return Place(self.file, self.at + 1)

    @property
    def line(self) -> str | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def next(self) -> str:
        line = self.lines[self.at]
        self.at += 1
        return line

    def until(self, end: str) -> list[str]:
        """The lines before ``end``, which is passed over."""
        began = self.place
        taken: list[str] = []
        while self.line is not None:
            line = self.next()
            if line.rstrip() == end:
                return taken
            taken.append(line)
        raise began.error(f"a line {end} is expected after this one, and the file ended.")


def read(file: str, text: str) -> Chapter:
    """The chapter that a file holds.

    Raises DataError, with the file and the line, where it cannot be read.
    """
    reader = _Reader(file, text)
    began = reader.place
    head = _head(reader)
    blocks: list[Block] = []
    while reader.line is not None:
        if not reader.line.strip():
            reader.next()
            continue
        blocks.append(_block(reader))
    name = re.sub(r"^\d+-", "", file.rsplit("/", 1)[-1].removesuffix(".md"))
    return Chapter(name, head, tuple(blocks), began)


def _head(reader: _Reader) -> dict[str, str]:
    if reader.line is None or reader.line.strip() != "---":
        raise reader.place.error("a chapter begins with --- and the lines title: …, minutes: … and idea: ….")
    reader.next()
    began = reader.place
    head = {}
    for line in reader.until("---"):
        key, colon, value = line.partition(":")
        if not colon:
            raise began.error(f"the head has lines key: value, and this is none: {line!r}.")
        head[key.strip()] = value.strip()
    missing = [key for key in _HEAD if not head.get(key)]
    if missing:
        raise began.error(f"the head has no {missing[0]}.")
    return head


def _block(reader: _Reader) -> Block:
    place, line = reader.place, reader.line or ""
    if line.startswith(":::"):
        return _directive(reader)
    if line.startswith("```"):
        reader.next()
        return Code(line.strip("` ").strip(), "\n".join(reader.until("```")), place)
    if line.startswith(("## ", "### ")):
        return Heading(reader.next().lstrip("#").strip(), place, line.startswith("###"))
    if line.startswith("#"):
        raise place.error("a chapter has its title in the head, and headings with ## alone.")
    if _ITEM.match(line):
        return _items(reader)
    return _paragraph(reader)


def _paragraph(reader: _Reader) -> Paragraph:
    place, parts = reader.place, []
    note = (reader.line or "").startswith("> ")
    while reader.line is not None and reader.line.strip() and not reader.line.startswith((":::", "```", "## ", "### ")):
        line = reader.next()
        parts.append(line.removeprefix("> ").strip() if note else line.strip())
    text = " ".join(parts)
    only = _ONLY.match(text)
    return Paragraph(text[only.end() :], place, note, only["where"]) if only else Paragraph(text, place, note)


def _items(reader: _Reader) -> Items:
    place = reader.place
    items: list[str] = []
    ordered = False
    while reader.line is not None and reader.line.strip():
        line = reader.next()
        match = _ITEM.match(line)
        if match is not None:
            ordered = ordered or match["number"] is not None
            items.append(match["text"].strip())
        else:
            items[-1] += " " + line.strip()
    return Items(tuple(items), ordered, place)


def _directive(reader: _Reader) -> Block:
    place = reader.place
    match = _DIRECTIVE.fullmatch(reader.next())
    if match is None or match["kind"] not in ("figure", "question"):
        raise place.error("a directive is :::{figure} name or :::{question} name.")
    if not match["name"]:
        raise place.error(f"a {match['kind']} needs a name of small letters, digits and hyphens.")
    body = reader.until(":::")
    options = {}
    while body and (option := _OPTION.fullmatch(body[0].strip())) is not None:
        options[option["key"]] = option["value"].strip()
        body.pop(0)
    if match["kind"] == "figure":
        return FigureSource(match["name"], options, "\n".join(body).strip(), place)
    return _question(match["name"], options, body, place, reader.at - len(body))


def _question(name: str, options: dict[str, str], body: list[str], place: Place, first: int) -> QuestionSource:
    """The parts of a question: its prompt, then choices or fields; an indented line goes on with the last part."""
    prompt: list[str] = []
    choices: list[list[str]] = []
    places: list[Place] = []
    fields: list[list[str]] = []
    last: Literal["prompt", "choice", "field"] = "prompt"
    new = True
    for number, line in enumerate(body):
        here = Place(place.file, first + number)
        if not line.strip():
            new = True
        elif match := _CHOICE.match(line):
            condition = match["condition"] or match["mark"].strip()
            choices.append([condition, match["text"].strip(), ""])
            places.append(here)
            last = "choice"
        elif match := _FIELD.match(line):
            fields.append([match["key"], match["text"].strip()])
            last = "field"
        elif last == "prompt":
            prompt = [*prompt, line.strip()] if new else [*prompt[:-1], f"{prompt[-1]} {line.strip()}"]
            new = False
        elif not line.startswith(" "):
            raise here.error("what goes on with an answer or a field is indented; this line is neither.")
        elif last == "choice":
            choices[-1][2] = f"{choices[-1][2]} {line.strip()}".strip()
        else:
            fields[-1][1] = f"{fields[-1][1]} {line.strip()}".strip()
    if not prompt:
        raise place.error(f"the question {name} asks nothing: begin it with its text.")
    return QuestionSource(
        name,
        options,
        tuple(prompt),
        tuple(Option(what, text, says, own) for (what, text, says), own in zip(choices, places, strict=True)),
        tuple((key, text) for key, text in fields),
        place,
    )
