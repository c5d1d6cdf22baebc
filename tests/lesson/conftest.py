"""The lesson's page in a real browser, offline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import new_context
from support.lesson_page import WIDE, Open

from retrograd.lesson.course.build import Built, Course, load
from retrograd.lesson.course.page import page


@pytest.fixture(scope="session")
def course() -> Course:
    return load()


@pytest.fixture(scope="session")
def chapters(course: Course) -> dict[str, Built]:
    return {name: course.build(number) for name, number in course.numbers.items()}


@pytest.fixture(scope="session")
def file(course: Course, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("lesson") / "lesson.html"
    path.write_text(page(course), encoding="utf-8")
    return path


@pytest.fixture
def show(browser: Any, file: Path) -> Iterator[Open]:
    """Opens the page at a chapter, offline; at the end nothing was requested and nothing went wrong in it."""
    contexts: list[Any] = []
    requests: list[str] = []
    problems: list[str] = []

    def show(hash_: str, context: Any = None, **options: Any) -> Any:
        if context is None:
            settings = {"viewport": WIDE, "offline": True, "reduced_motion": "reduce", **options}
            context = new_context(browser, **settings)
            contexts.append(context)
        shown = context.new_page()
        shown.on("request", lambda request: requests.append(request.url))
        shown.on("pageerror", lambda error: problems.append(str(error)))
        shown.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        shown.goto(f"{file.as_uri()}#{hash_}")
        shown.wait_for_selector("h1, .alone")
        return shown

    yield show
    for context in contexts:
        context.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
