"""``retrograd learn``: where the page goes, which chapter it opens, and a teacher's own sources."""

from __future__ import annotations

import base64
import json
import re
import webbrowser
import zlib
from pathlib import Path
from typing import Any

import pytest
from support.parts import missing
from typer.testing import CliRunner

from retrograd.cli.app import app
from retrograd.errors import BundleMissingError
from retrograd.explorer.page import bundle
from retrograd.lesson.course.page import kept_at

pytestmark = pytest.mark.native  # the last chapters show compiled programs


def learn(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["learn", *arguments])


def needs_the_page() -> None:
    try:
        bundle("lesson.js")
    except BundleMissingError as error:
        missing("the page", str(error))


def payload(file: Path) -> dict[str, Any]:
    """What a page carries."""
    match = re.search(r'id="retrograd-data">(.*?)</script>', file.read_text(encoding="utf-8"), re.DOTALL)
    assert match is not None
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(json.loads(match[1])["packed"])))
    return found


def test_the_chapters_are_listed() -> None:
    done = learn("--list")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert len(lines) == 10
    assert lines[2].split() == ["3", "walk-it-backward", "Walk", "it", "backward"]


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ("walk", 3),
        *(pytest.param(*each, marks=pytest.mark.long) for each in (("3", 3), ("walk-it-backward", 3), ("10", 10))),
    ],
)
def test_a_chapter_is_opened_by_its_number_or_its_name(wanted: str, number: int, tmp_path: Path) -> None:
    needs_the_page()
    file = tmp_path / "page.html"
    done = learn(wanted, "--no-browser", "--out", str(file))
    assert done.exit_code == 0, done.output
    assert f"Written: {file}" in done.output.replace("\n", "")
    assert payload(file)["start"] == number


def test_without_a_file_the_page_keeps_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Browsers keep progress by file: the page is always written to the same one."""
    needs_the_page()
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert learn().exit_code == 0
    assert opened == [kept_at().resolve().as_uri()]
    assert kept_at().is_relative_to(tmp_path)
    assert payload(kept_at())["start"] is None


@pytest.mark.parametrize("wanted", ["11", "0", "nothing", "two"])
def test_an_unknown_chapter_is_one_sentence_and_the_list(wanted: str) -> None:
    done = learn(wanted, "--no-browser")
    assert done.exit_code == 1
    assert f"there is no chapter '{wanted}'" in done.output
    assert "real-work" in done.output
    assert "Traceback" not in done.output


def test_a_teacher_exports_edits_and_builds(tmp_path: Path) -> None:
    needs_the_page()
    folder = tmp_path / "mine"
    assert learn("--export", str(folder)).exit_code == 0
    assert (folder / "README.md").exists()
    first = folder / "01-two-directions.md"
    first.write_text(first.read_text(encoding="utf-8").replace("title: Two directions", "title: Zwei Richtungen"))
    for file in folder.glob("*.md"):
        if file.name[:2] > "04":
            file.unlink()
    page = tmp_path / "mine.html"
    done = learn("--from", str(folder), "--no-browser", "--out", str(page))
    assert done.exit_code == 0, done.output
    chapters = payload(page)["chapters"]
    assert [chapter["head"]["title"] for chapter in chapters][:1] == ["Zwei Richtungen"]
    assert len(chapters) == 4
    again = learn("--export", str(folder))
    assert again.exit_code == 1
    assert "is not empty" in again.output


def test_a_mistake_in_a_chapter_names_its_line(tmp_path: Path) -> None:
    head = "---\ntitle: T\nminutes: 1\nidea: I\n---\n"
    (tmp_path / "01-mine.md").write_text(f"{head}\nL is {{{{ product.L }}}}.\n")
    done = learn("--from", str(tmp_path), "--no-browser", "--out", str(tmp_path / "page.html"))
    assert done.exit_code == 1
    assert "01-mine.md, line 7: there is no figure product" in done.output.replace("\n", " ")
