"""The same chapters as notebooks: text, code to run, figures as ``explore`` shows them, and questions to answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from .build import Built, Course
from .questions import Question
from .source import Code, FigureSource, Heading, Items, Paragraph, QuestionSource

__all__ = ["file_name", "notebook"]

Cell = dict[str, Any]


def file_name(built: Built) -> str:
    """``03-walk-it-backward.ipynb``"""
    return f"{built.number:02}-{built.name}.ipynb"


def notebook(course: Course, built: Built) -> str:
    """The chapter as a notebook file. It holds no outputs: the learner runs the cells."""
    cells = [_cell(built, number, kind, text) for number, (kind, text) in enumerate(_cells(course, built))]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _cell(built: Built, number: int, kind: str, text: str) -> Cell:
    digest = hashlib.sha256(f"{built.name} {number}".encode()).hexdigest()[:8]
    cell: Cell = {"cell_type": kind, "id": digest, "metadata": {}, "source": text.splitlines(keepends=True)}
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell


def _cells(course: Course, built: Built) -> Iterator[tuple[str, str]]:
    """The cells in order, as their kind and their text; paragraphs that follow each other share one."""
    head, text = built.chapter.head, built.text
    idea = text.markdown(head["idea"], built.chapter.place)
    yield "markdown", f"# {built.number}. {head['title']}\n\n{idea}"
    waiting: list[str] = []
    yield "code", "import retrograd as rg\nfrom retrograd.lesson import check"
    for block in built.chapter.blocks:
        match block:
            case Heading():
                waiting.append(f"{'###' if block.inner else '##'} {text.markdown(block.text, block.place)}")
            case Paragraph(only="page"):
                pass
            case Paragraph():
                waiting.append(f"{'> ' if block.note else ''}{text.markdown(block.text, block.place)}")
            case Items():
                marks = [f"{n}. " if block.ordered else "- " for n in range(1, len(block.items) + 1)]
                items = zip(marks, block.items, strict=True)
                waiting.append("\n".join(mark + text.markdown(item, block.place) for mark, item in items))
            case Code(language="python" | "notebook"):
                if waiting:
                    yield "markdown", "\n\n".join(waiting)
                yield "code", block.text
                waiting = []
            case Code():
                waiting.append(f"```{block.language}\n{block.text}\n```")
            case FigureSource() if block.options.get("show") != "no":
                if waiting:
                    yield "markdown", "\n\n".join(waiting)
                yield "code", _figure(built, block)
                waiting = []
            case QuestionSource():
                own = built.questions[block.name]
                waiting.append(_asked(own, built))
                yield "markdown", "\n\n".join(waiting)
                yield "code", _answer(own, built)
                waiting = []
    following = built.number + 1
    if following <= len(course.chapters):
        chapter = course.chapters[following - 1]
        waiting.append(f"Next: [{chapter.head['title']}]({following:02}-{chapter.name}.ipynb)")
    if waiting:
        yield "markdown", "\n\n".join(waiting)


def _figure(built: Built, source: FigureSource) -> str:
    figure = built.figures[source.name]
    if not figure.program:
        return f'rg.lesson.figure("{built.name}/{source.name}")'
    inputs = {name: leaf.data for name, leaf in figure.leaves.items()}
    lines = [line for line in _statements(figure.program) if line.partition("=")[0].strip() not in inputs]
    leaves = [f'{name} = rg.Value({value!r}, label="{name}")' for name, value in inputs.items()]
    names = [line.partition("=")[0].strip() for line in lines]
    shown = ", ".join([names[-1], *(f"{name}={name}" for name in names)])
    return "\n".join([*leaves, *(_with_math(line) for line in lines), f"rg.explore({shown})"])


def _statements(program: str) -> list[str]:
    return [part.strip() for line in program.splitlines() for part in line.split(";") if part.strip()]


def _with_math(line: str) -> str:
    """``y = tanh(x)`` as a program calls it: ``y = rg.math.tanh(x)``."""
    name, _, text = line.partition("=")
    for function in ("relu", "tanh", "exp", "log"):
        text = text.replace(f"{function}(", f"rg.math.{function}(")
    return f"{name.strip()} = {text.strip()}"


def _asked(own: Question, built: Built) -> str:
    def written(text: str) -> str:
        return built.text.markdown(text, own.source.place)

    parts = [f"**Question.** {written(own.source.prompt[0])}", *(written(text) for text in own.source.prompt[1:])]
    if own.choices:
        parts.append("\n".join(f"{n}. {written(choice.text)}" for n, choice in enumerate(own.choices, start=1)))
    hints = [f"<details><summary>Hint {n}</summary>{written(hint)}</details>" for n, hint in enumerate(own.hints, 1)]
    return "\n\n".join([*parts, *hints])


def _answer(own: Question, built: Built) -> str:
    """The cell in which one answers: None stands for what is to be filled in."""
    empty = {
        "gradients": "{" + ", ".join(f'"{field.label}": None' for field in own.fields) + "}",
        "order": "{" + ", ".join(f'"{figure.name}": []' for figure in own.orders) + "}",
    }.get(own.kind, "None")
    lines = [f"answer = {empty}"]
    if own.kind == "order":
        lines += [f"# {figure.name}: {figure.title}" for figure in own.orders]
    return "\n".join([*lines, f'check("{built.name}/{own.name}", answer)'])
