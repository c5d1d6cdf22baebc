"""The lesson's page in a real browser: progress, chapters, the keyboard, the size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.browser import new_context
from support.lesson_page import WIDE, Open, count, type_in, verdict

pytestmark = pytest.mark.native  # the last chapters show compiled programs

#: The whole page may be so large, in bytes.
MOST = 400_000


def test_the_page_is_small(file: Path) -> None:
    assert file.stat().st_size <= MOST


def test_progress_is_kept(show: Open) -> None:
    shown = show("two-rules")
    type_in(shown.locator("[data-question=plus]"), [7.0])
    again = show("", context=shown.context)
    assert again.inner_text("h1") == "Two rules"  # where the learner was
    assert "right" in again.locator("[data-question=plus] h3").inner_text()
    assert verdict(again.locator("[data-question=plus]")).startswith("Right.")
    assert again.locator(".chapters a[aria-current] .mark").inner_text() == "1/4"


def test_two_windows_do_not_undo_each_others_progress(show: Open) -> None:
    one = show("two-directions")
    two = show("two-rules", context=one.context)
    type_in(one.locator("[data-question=forward]"), [-2.0])
    type_in(two.locator("[data-question=plus]"), [7.0])
    two.reload()
    two.wait_for_selector("h1")
    assert "right" in two.locator("[data-question=plus] h3").inner_text()
    one.reload()
    one.wait_for_selector("h1")
    assert "right" in one.locator("[data-question=forward] h3").inner_text()


def test_the_page_works_where_nothing_may_be_stored(browser: Any, file: Path) -> None:
    context = new_context(browser, viewport=WIDE, offline=True)
    context.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })")
    shown = context.new_page()
    problems: list[str] = []
    shown.on("pageerror", lambda error: problems.append(str(error)))
    shown.goto(file.as_uri())
    shown.wait_for_selector("h1")
    shown.get_by_role("link", name="Two rules").first.click()
    type_in(shown.locator("[data-question=plus]"), [7.0])
    assert verdict(shown.locator("[data-question=plus]")).startswith("Right.")
    context.close()
    assert problems == []


def test_the_next_chapter_is_a_link(show: Open) -> None:
    shown = show("two-directions")
    shown.locator(".end .next").click()
    shown.wait_for_selector("h1:text-is('Two rules')")
    assert shown.evaluate("document.activeElement.id") == "chapter-title"
    assert shown.evaluate("scrollY") == 0
    shown.go_back()
    assert shown.inner_text("h1") == "Two directions"
    assert shown.title().startswith("Two directions \N{EN DASH} ")


def test_a_chapter_is_done_by_keyboard_alone(show: Open) -> None:
    shown = show("walk-it-backward")
    press = shown.keyboard.press

    def tab_to(selector: str) -> None:
        for _ in range(200):
            press("Tab")
            if shown.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"Tab does not lead to {selector}")

    tab_to("[data-figure=walk] .box")
    assert count(shown, "walk") == 4  # the sentence before it, that Tab came to, has put it there
    press("ArrowRight")
    assert count(shown, "walk") == 5
    tab_to("button.bound")
    press("Enter")
    for question, answers in (("walk-a", ["10"]), ("walk-c", ["4"]), ("paper", ["9", "-6", "-18", "27", "-6", "-6"])):
        tab_to(f"[data-question={question}] input")
        for number, answer in enumerate(answers):
            if number:
                press("Tab")
            press("Control+a")
            shown.keyboard.type(answer)
        press("Enter")
    tab_to("[data-question=cost] input")
    press("Space")
    while shown.evaluate("document.activeElement.parentElement.innerText.trim()") != "once":
        press("ArrowDown")
    tab_to("[data-question=cost] .primary")
    press("Enter")
    tab_to(".next.primary")
    press("Enter")
    # Not wait_for_function: it polls by eval, which the page's policy forbids.
    shown.wait_for_selector("h1:text-is('The += trap')")


def test_the_theme_may_be_chosen(show: Open) -> None:
    shown = show("two-directions", color_scheme="light")
    button = shown.locator(".lesson-top button")
    button.click()
    button.click()
    assert shown.get_attribute(".lesson", "data-theme") == "dark"
    assert shown.locator(".figure").first.get_attribute("data-theme") == "dark"
    again = show("two-directions", context=shown.context)
    assert again.get_attribute(".lesson", "data-theme") == "dark"
