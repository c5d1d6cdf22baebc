"""The lesson's page for every eye and hand: widths, zoom, themes, a screen reader, fingers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.lesson_page import LOW, NAMES, NARROW, WIDE, Open
from support.parts import missing

pytestmark = [pytest.mark.native, pytest.mark.long]  # the last chapters show compiled programs


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_a_telephone(show: Open, name: str, theme: str) -> None:
    shown = show(name, viewport=NARROW, color_scheme=theme)
    assert shown.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    paper = shown.evaluate("getComputedStyle(document.querySelector('.lesson')).backgroundColor")
    assert (sum(int(part) for part in re.findall(r"\d+", paper)[:3]) > 380) == (theme == "light")


def test_in_a_low_window_one_comes_back_from_the_figure_to_the_sentence(show: Open) -> None:
    shown = show("walk-it-backward", viewport=LOW)
    sentence = shown.get_by_role("button", name="Visit e", exact=True)
    sentence.scroll_into_view_if_needed()
    shown.evaluate("e => scrollTo(0, e.getBoundingClientRect().top + scrollY - 40)", sentence.element_handle())
    sentence.click()
    back = shown.get_by_role("button", name="Back to the sentence")
    back.click()
    assert sentence.evaluate("e => e === document.activeElement")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_at_200_percent(show: Open, name: str) -> None:
    shown = show(name, viewport={"width": 640, "height": 400}, device_scale_factor=2)
    assert shown.evaluate("document.documentElement.scrollWidth") <= 640
    cut = shown.locator(".lesson *").evaluate_all(
        """all => all.filter(e => !e.closest('svg, pre') && getComputedStyle(e).overflowX !== 'visible'
            && (e.scrollWidth > e.clientWidth + 1 || e.matches('.sentence') && e.scrollHeight > e.clientHeight + 1))
            .map(e => e.outerHTML.slice(0, 120))"""
    )
    assert cut == []


#: As in tests/explorer: a box and a wire show numbers in short, and their labels say them in full.
AXE_RUN = """axe
    .run(document, { rules: { 'label-content-name-mismatch': { enabled: false }, 'target-size': { enabled: true } } })
    .then(({ violations }) => violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]))"""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("theme", "window"), [("light", WIDE), ("dark", NARROW)])
def test_axe_finds_nothing(show: Open, name: str, theme: str, window: dict[str, int]) -> None:
    axe = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        missing("axe-core", "npm ci in web/")
    shown = show(name, viewport=window, color_scheme=theme)
    for sentence in shown.locator("button.bound").all()[:1]:
        sentence.click()
    for back in shown.locator(".back-to-text:visible").all():
        back.click()  # it floats above what is under it, until it is used
    shown.evaluate(axe.read_text())
    assert shown.evaluate(AXE_RUN) == []


@pytest.mark.parametrize("name", NAMES)
def test_controls_are_large_enough_for_a_finger(show: Open, name: str) -> None:
    shown = show(name, viewport=NARROW)
    controls = shown.locator(".lesson :is(button, .chapters a, .next, label, select, input:not([type=radio])):visible")
    small = controls.evaluate_all(
        """all => all.filter(e => {
            const box = e.getBoundingClientRect();
            return box.width < 24 || box.height < 24;
        }).map(e => e.outerHTML.slice(0, 120))"""
    )
    assert small == []
