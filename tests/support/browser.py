"""A real Chromium (or Chrome, or Edge) for the explorer's tests, driven by Playwright, offline."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.parts import missing, require
from support.timeouts import PATIENCE

#: Where Chromium, Chrome or Edge may be: names on PATH, and where macOS and Windows put them.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "chrome", "msedge")
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
HOW = "Chromium, Chrome or Edge; Debian: apt-get install chromium, macOS: brew install chromium, or CHROMIUM=its path"


def found() -> str:
    """The browser that the tests drive, or an empty string."""
    on_path = (shutil.which(name) for name in NAMES)
    return os.environ.get("CHROMIUM") or next(filter(None, on_path), None) or next(filter(os.path.exists, PLACES), "")


CHROMIUM = found()
ARGUMENTS = ["--disable-background-networking", "--disable-component-update", "--no-first-run"]
if hasattr(os, "geteuid") and os.geteuid() == 0:
    ARGUMENTS.append("--no-sandbox")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from retrograd.explorer.page import bundle

    playwright = require("playwright.sync_api")
    if not CHROMIUM:
        missing("a browser", HOW)
    try:
        bundle("explorer.js")
    except FileNotFoundError as error:
        missing("the page", str(error))
    preloaded = os.environ.pop("LD_PRELOAD", None)  # a sanitizer's runtime, which is for this process alone
    try:
        started = playwright.sync_playwright().start()
    finally:
        if preloaded is not None:
            os.environ["LD_PRELOAD"] = preloaded
    try:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()
    finally:
        started.stop()


def new_context(browser: Any, **options: Any) -> Any:
    """A window of its own, in which everything that is waited for has its time."""
    context = browser.new_context(**options)
    context.set_default_timeout(1000 * PATIENCE)
    return context


class Page:
    """A page of the explorer, and what the tests ask it."""

    def __init__(self, page: Any, requests: list[str], problems: list[str]) -> None:
        self.page = page
        self.requests = requests
        self.problems = problems

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def run(self, body: str, argument: Any = None) -> Any:
        """The value of a JavaScript function body that may use ``explorer`` (the page's store) and ``x``."""
        source = f"x => {{ const explorer = document.getElementById('retrograd').explorer; {body} }}"
        return self.page.evaluate(source, argument)

    def wait(self, condition: str) -> None:
        """Until a JavaScript expression holds, asked again and again: the page may not evaluate text itself."""
        deadline = time.monotonic() + PATIENCE
        while not self.run(f"return {condition}"):
            assert time.monotonic() < deadline, f"waited in vain for {condition}"
            self.page.wait_for_timeout(20)

    def click(self, name: str) -> None:
        """Click the button with this name."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def forward(self) -> tuple[int, str]:
        """One step forward: how many tokens set out, and what the boxes say, before anything has moved."""
        tokens, said = self.page.evaluate(
            """async () => {
                document.getElementById('retrograd').explorer.forward();
                for (let k = 0; k < 9; k++) await null;
                return [document.querySelectorAll('.token').length, document.querySelector('.boxes').textContent];
            }"""
        )
        return int(tokens), str(said)

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def trace(self) -> str:
        return json.dumps(self.run("return explorer.trace()"))

    def open(self, text: str, **values: float) -> None:
        """Open a typed program."""
        assert self.run("return explorer.open(x)", {"text": text, "values": values}), self.run(
            "return explorer.state.problem"
        )

    @property
    def step(self) -> int:
        return int(self.run("return explorer.state.step"))

    @property
    def steps(self) -> int:
        return int(self.run("return explorer.state.shown.stepCount"))


Show = Callable[..., Page]

#: What most pages are opened with.
SETTINGS = {"viewport": {"width": 1280, "height": 800}, "offline": True, "reduced_motion": "reduce"}


class Windows:
    """Windows that stay open for the next test: a new one takes longer than most tests do anything in it."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.free: dict[str, list[Page]] = {}

    def take(self, settings: dict[str, Any]) -> Page:
        """A window with these settings, in which nothing was requested and nothing went wrong so far."""
        waiting = self.free.get(repr(sorted(settings.items())))
        if waiting:
            page = waiting.pop()
            page.page.set_viewport_size(settings["viewport"])
            return page
        window = new_context(self.browser, **settings).new_page()
        page = Page(window, [], [])
        window.on("request", lambda request: page.requests.append(request.url))
        window.on("pageerror", lambda error: page.problems.append(str(error)))
        window.on("console", lambda message: page.problems.append(message.text) if message.type == "error" else None)
        return page

    def give_back(self, page: Page, settings: dict[str, Any]) -> None:
        """Check that nothing was requested and nothing went wrong, and forget what the page has left behind."""
        page.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        requests, problems = page.requests[:], page.problems[:]
        page.requests.clear()
        page.problems.clear()
        assert problems == []
        assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
        page.page.emulate_media(media="screen")
        page.page.mouse.move(0, 0)
        self.free.setdefault(repr(sorted(settings.items())), []).append(page)


@pytest.fixture(scope="session")
def windows(browser: Any) -> Windows:
    return Windows(browser)


@pytest.fixture
def show(windows: Windows, tmp_path: Path) -> Iterator[Show]:
    """Opens a page from a file, offline, at its last step; in the end nothing was requested and nothing went wrong."""
    opened: list[tuple[Page, dict[str, Any]]] = []

    from retrograd.explorer import Explorer, explore

    def show(thing: Any, hash_: str = "#step=last", **options: Any) -> Page:
        values = options.pop("values", {})
        explorer = thing if isinstance(thing, Explorer) else explore(thing, **values)
        file = explorer.save(tmp_path / f"page{len(opened)}.html")
        settings = {**SETTINGS, **options}
        page = windows.take(settings)
        opened.append((page, settings))
        page.page.goto(file.as_uri() + hash_)
        page.page.wait_for_selector(".explorer")
        return page

    yield show
    for page, settings in opened:
        windows.give_back(page, settings)
