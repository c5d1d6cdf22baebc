"""What the tests of the lesson's page ask of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from retrograd.lesson.course.build import load

NAMES = [chapter.name for chapter in load().chapters]
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
#: A window of 1280 x 800 at 200 %, too low for a figure that stays in view.
LOW = {"width": 640, "height": 400}

Open = Callable[..., Any]


def verdict(section: Any) -> str:
    return " ".join(section.locator(".verdict").inner_text().split())


def choose(section: Any, number: int) -> None:
    section.locator("input[type=radio]").nth(number).check()
    section.get_by_role("button", name="Check").click()


def type_in(section: Any, numbers: list[float]) -> None:
    fields = section.locator("input[type=text]")
    fields.first.wait_for()  # all() takes what is there, which may be the chapter before
    for field, number in zip(fields.all(), numbers, strict=True):
        field.fill(repr(number))
    section.get_by_role("button", name="Check").click()


def box(shown: Any, figure: str, name: str) -> str:
    """What a screen reader says of a node."""
    labels = shown.locator(f"[data-figure={figure}] .box[data-node]").evaluate_all(
        "all => all.map(e => e.getAttribute('aria-label'))"
    )
    return next(label for label in labels if re.match(rf"(input )?{re.escape(name)}\b", label))


def count(shown: Any, figure: str) -> int:
    return int(shown.locator(f"[data-figure={figure}] .count b").inner_text())


def read_to(shown: Any, name: str) -> Any:
    """Scroll until the sentence stands just above the reading line. Returns it."""
    sentence = shown.get_by_role("button", name=name, exact=True)
    sentence.evaluate("e => scrollTo(0, e.getBoundingClientRect().top + scrollY - 0.38 * innerHeight)")
    settle(shown)
    return sentence


def settle(shown: Any) -> None:
    """Until what was scrolled past has been told: an observer speaks after the frame in which it saw something."""
    shown.evaluate("() => new Promise(d => { let n = 6; const f = () => n-- ? requestAnimationFrame(f) : d(); f(); })")
