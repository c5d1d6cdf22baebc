"""``retrograd learn``: the lesson, as one page that works offline."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from .sentences import fail, one_sentence_errors

__all__ = ["learn"]


def learn(
    chapter: Annotated[
        str | None, typer.Argument(metavar="CHAPTER", help="A number or a name; where you left off without one.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the page here; for a class, or a website.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Write the page and do not open it.")] = False,
    chapters: Annotated[bool, typer.Option("--list", help="List the chapters.")] = False,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FOLDER", help="Chapters of your own, edited or translated.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FOLDER", help="Write the chapters' sources here, to be edited.")
    ] = None,
) -> None:
    """Learn backpropagation: ten chapters with figures to move and questions, in the browser, offline.

    retrograd learn walk-it-backward
    """
    with one_sentence_errors():
        if export is not None:
            _export(export)
            return
        from ..lesson.course.build import load
        from ..lesson.course.page import open_page

        course = load(source)
        if chapters:
            for number, one in enumerate(course.chapters, start=1):
                print(f"{number:2}  {one.name:24}  {one.head['title']}")
            return
        start = None if chapter is None else course.find(chapter)
        print(f"Written: {open_page(course, start, out, not no_browser)}")


def _export(folder: Path) -> None:
    """Copy the chapters' sources, and never over a teacher's own."""
    if folder.exists() and any(folder.iterdir()):
        fail(f"{folder} is not empty: name a new folder, so that nothing of yours is overwritten.")
    with as_file(files("retrograd.lesson") / "chapters") as own:
        shutil.copytree(own, folder, dirs_exist_ok=True)
    print(f"Written: {folder}. Edit it, then: retrograd learn --from {folder}")
