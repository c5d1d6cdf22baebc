"""The live training view in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.browser import new_context
from support.live import MOONS, Running, Start
from support.timeouts import PATIENCE

from retrograd.training import GPTSettings

pytestmark = pytest.mark.native  # the view is the same, whichever engine trains


@pytest.fixture
def opened(browser: Any, needs_bundle: None) -> Iterator[Callable[..., Any]]:
    """Opens a run's page; at the end nothing went wrong in it and nothing else was asked for."""
    pages: list[tuple[Any, list[str], list[str], str]] = []

    def opened(running: Running, **options: Any) -> Any:
        context = new_context(browser, **{"viewport": {"width": 1280, "height": 800}, **options})
        problems: list[str] = []
        requests: list[str] = []

        def watch(page: Any) -> None:
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
            page.on("request", lambda request: requests.append(request.url))

        context.on("page", watch)
        page = context.new_page()
        page.goto(running.live.address)
        page.wait_for_selector(".run-tiles")
        pages.append((context, problems, requests, running.origin))
        return page

    yield opened
    for context, problems, requests, origin in pages:
        context.close()
        assert problems == []
        assert [url for url in requests if not url.startswith((origin, "data:", "blob:"))] == []


def shown(page: Any, text: str | re.Pattern[str]) -> None:
    page.locator(".run-shown").filter(has_text=text).wait_for()


def wait_for_step(page: Any, least: int) -> None:
    until = time.monotonic() + PATIENCE
    while page.evaluate("document.querySelector('progress').value") < least:
        assert time.monotonic() < until
        page.wait_for_timeout(50)


def test_the_page_runs_pauses_steps_goes_back_and_opens_a_graph(running: Running, opened: Callable[..., Any]) -> None:
    page = opened(running)
    wait_for_step(page, 2)
    page.click("text=Pause")
    page.wait_for_selector("button:text('Run')")
    session = running.live.session
    done = session.done
    shown(page, f"Step {done} of 40")
    page.click("button:text('Step')")
    shown(page, f"Step {done + 1} of 40: loss")
    loss = float(re.search(r"loss ([\d.]+)", page.inner_text(".run-shown"))[1])  # type: ignore[index]
    assert loss == pytest.approx(session.entries[done].progress.loss, rel=1e-5)
    page.click("button:text('Back')")
    shown(page, f"Step {done} of 40")
    page.click("button:text('Step')")
    shown(page, re.compile(rf"Step {done + 1} of 40: .*; as before, to the last bit"))
    with page.context.expect_page() as other:
        page.click(".run-shown a")
    other.value.wait_for_selector(".explorer")
    assert other.value.title() == f"step {done + 1}: the loss on all 20 points · retrograd"
    page.click("button:text('Start over')")
    shown(page, "Step 0 of 40")
    page.select_option(".run-speed select", "0")
    page.click("button:text('Run')")
    shown(page, "Step 40 of 40")
    assert page.is_disabled("button:text('Step')")


def test_the_page_by_keyboard_alone(running: Running, opened: Callable[..., Any]) -> None:
    running.tell(do="pause")
    page = opened(running)
    for number in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        shown(page, f"Step {number} of 40")
    page.keyboard.press("ArrowLeft")
    shown(page, "Step 2 of 40")
    page.keyboard.press("Home")
    shown(page, "Step 0 of 40")
    page.keyboard.press(" ")
    wait_for_step(page, 2)
    page.keyboard.press(" ")
    page.wait_for_selector("button:text('Run')")
    page.focus("[role=slider]")
    page.keyboard.press("Home")
    shown(page, "Step 1 of 40")
    page.click("text=go back here")
    page.wait_for_selector("text=go back here", state="detached")
    shown(page, "Step 1 of 40")
    assert running.live.session.done == 1
    page.focus("[role=application]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "Point 2 at" in page.inner_text(".run-pick")
    with page.context.expect_page() as other:
        page.keyboard.press("Enter")
    other.value.wait_for_selector(".explorer")
    assert other.value.title() == "step 1: the loss on point 2 · retrograd"


def test_the_field_is_drawn_in_the_colours_of_the_signs(running: Running, opened: Callable[..., Any]) -> None:
    running.tell(do="pause")
    for _ in range(30):
        running.tell(do="step")
    scores = running.live.session.picture()["scores"]
    for scheme in ("light", "dark"):
        page = opened(running, color_scheme=scheme)
        pixels = page.evaluate(
            "() => { const c = document.querySelector('canvas');"
            " return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data] }"
        )
        assert len(pixels) == 4 * len(scores)
        for number, score in enumerate(scores):
            red, _, blue, alpha = pixels[4 * number : 4 * number + 4]
            assert alpha == 255
            if abs(score) > 5:
                assert (blue > red) == (score > 0), (number, score, red, blue)


def test_two_pages_of_one_run_show_the_same(running: Running, opened: Callable[..., Any]) -> None:
    running.tell(do="pause")
    one, two = opened(running), opened(running)
    one.click("button:text('Step')")
    for page in (one, two):
        shown(page, "Step 1 of 40: loss")
    two.click("button:text('Start over')")
    for page in (one, two):
        shown(page, "Step 0 of 40")


@pytest.mark.parametrize("kind", ["moons", "gpt"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (320, "light")])
def test_the_page_fits_and_has_a_name_for_everything(
    start: Start, opened: Callable[..., Any], kind: str, width: int, scheme: str
) -> None:
    running = start(MOONS if kind == "moons" else GPTSettings(steps=9, n_embd=4, n_head=2, block_size=6))
    running.tell(do="pause")
    running.tell(do="step")
    page = opened(running, viewport={"width": width, "height": 800}, color_scheme=scheme)
    shown(page, "Step 1 of")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    snapshot = page.locator(".explorer").aria_snapshot()
    headings = ["Loss", "Gradient of each layer", "Dead ReLUs"]
    headings.append("Where it draws the line" if kind == "moons" else "What it makes up")
    for heading in headings:
        assert f'heading "{heading}"' in snapshot
    assert 'slider "Step to look at"' in snapshot
    assert 'button "Run"' in snapshot
    assert "- button\n" not in snapshot, "every button has a name"


def test_the_end_of_the_training_is_told(start: Start, opened: Callable[..., Any]) -> None:
    running = start()
    running.tell(do="pause")
    page = opened(running)
    running.end()
    page.wait_for_selector("text=The training has ended, or the connection is lost.")
    page.evaluate("window.stop()")
