"""What a figure of the lesson shows can be read, wide and narrow; and what cannot be seen at once can be reached."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator
from support.lesson_page import NAMES, NARROW, WIDE, Open, settle

pytestmark = [pytest.mark.native, pytest.mark.long]  # the last chapters show compiled programs

#: The smallest text of a graph, in pixels.
READABLE = 8.6
#: Every text of a graph that is in its frame, with its size in pixels.
TEXTS = """figure => {
    const frame = figure.querySelector('svg.graph').getBoundingClientRect();
    return [...figure.querySelectorAll('svg.graph text')].flatMap(text => {
        const box = text.getBoundingClientRect();
        const beside = box.right < frame.left || box.left > frame.right;
        const out = beside || box.bottom < frame.top || box.top > frame.bottom;
        if (!text.textContent.trim() || box.width === 0 || out) return [];
        return [[text.textContent, parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a]];
    });
}"""
#: Of a box, how far it is outside of its frame.
OUTSIDE = """box => {
    const [own, frame] = [box, box.closest('svg')].map(part => part.getBoundingClientRect());
    return Math.max(frame.left - own.left, own.right - frame.right, frame.top - own.top, own.bottom - frame.bottom);
}"""


def boxes(figure: Locator) -> int:
    return figure.locator(".graph .box").count()


@pytest.mark.parametrize("window", [WIDE, NARROW])
@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_every_graph_can_be_read(show: Open, name: str, window: dict[str, int]) -> None:
    for figure in show(name, viewport=window).locator(".figure").all():
        small = [(text, size) for text, size in figure.evaluate(TEXTS) if size < READABLE]
        assert not small, figure.get_attribute("data-figure")


def test_a_graph_that_fits_has_controls_when_it_was_moved(show: Open) -> None:
    shown = show("two-directions")
    figure = shown.locator("[data-figure=product]")
    assert figure.locator(".tools").count() == 0
    place = figure.locator("svg.graph").bounding_box()
    shown.mouse.move(place["x"] + 40, place["y"] + 40)
    shown.keyboard.down("Control")
    shown.mouse.wheel(0, -80)
    shown.keyboard.up("Control")
    assert max(box.evaluate(OUTSIDE) for box in figure.locator(".box").all()) > 0
    fit = figure.get_by_role("button", name="Fit")
    fit.focus()
    shown.keyboard.press("Enter")
    assert all(box.evaluate(OUTSIDE) <= 0 for box in figure.locator(".box").all())
    assert fit.evaluate("e => e === document.activeElement")


def test_a_folded_graph_is_opened_moved_and_folded_again_by_keyboard(show: Open) -> None:
    shown = show("a-gpt-from-scalars")
    figure = shown.locator("[data-figure=gpt]")
    first = boxes(figure)
    assert first <= 10
    fold = figure.get_by_role("button", name="Fold", exact=True)
    assert fold.get_attribute("aria-disabled") == "true"
    figure.get_by_role("button", name="letters, ").focus()
    shown.keyboard.press("Enter")
    assert boxes(figure) > first
    assert figure.locator(".box:focus").evaluate(OUTSIDE) <= 0  # the first part of what was opened
    for name in ("Zoom in", "Zoom out"):
        before = figure.locator("svg.graph > g").get_attribute("transform")
        figure.get_by_role("button", name=name).press("Enter")
        assert figure.locator("svg.graph > g").get_attribute("transform") != before
    fold.press("Enter")
    assert boxes(figure) == first


def test_a_sentence_about_a_folded_node_shows_it_with_its_own_ledger(show: Open) -> None:
    shown = show("a-gpt-from-scalars")
    shown.get_by_role("button", name="wte.weight[2][0]", exact=True).click()
    figure = shown.locator("[data-figure=gpt]")
    assert figure.locator(".account").count() == 1
    assert figure.locator("[aria-pressed=true]").evaluate(OUTSIDE) <= 0


def test_what_the_keyboard_comes_to_is_in_view(show: Open) -> None:
    shown = show("real-work", viewport=NARROW)
    nodes = shown.locator("[data-figure=bundle] .box").all()
    assert max(node.evaluate(OUTSIDE) for node in nodes) > 0
    for node in nodes:
        node.focus()
        assert node.evaluate(OUTSIDE) <= 0


@pytest.mark.parametrize("name", ["two-rules", "the-plus-equals-trap", "a-neuron-a-network", "real-work"])
def test_a_figure_has_one_minus_and_one_sign_for_times(show: Open, name: str) -> None:
    shown = show(name)
    for figure in shown.locator(".figure").all():
        figure.get_by_role("slider", name="Step").press("End")
        text = figure.inner_text()
        assert not re.findall(r"(?<!\w)-\d.*", text)
        assert "\N{MULTIPLICATION SIGN}" not in text
        assert not re.findall(r".*\w \* \w.*", text)


@pytest.mark.parametrize("window", [WIDE, NARROW])
def test_the_numbers_of_a_ledger_stand_under_their_headings(show: Open, window: dict[str, int]) -> None:
    shown = show("in-which-order", viewport=window)
    settle(shown)
    for table in shown.locator("[data-figure=inner] .account table").all():
        edges = table.evaluate(
            """e => [...e.rows].map(row => [...row.cells].slice(2).map(cell => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return [range.getBoundingClientRect().left, range.getBoundingClientRect().right];
            }))"""
        )
        for row in edges[1:]:
            assert [round(right) for _, right in row] == [round(right) for _, right in edges[0]]
            assert row[1][0] - row[0][1] > 6  # apart from each other


@pytest.mark.parametrize("name", ["in-which-order", "write-your-own"])
def test_code_is_not_cut_off_on_a_telephone(show: Open, name: str) -> None:
    for code in show(name, viewport=NARROW).locator("pre.code").all():
        assert code.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_inputs_of_different_units_are_not_compared(show: Open) -> None:
    panel = show("real-work").locator("[data-figure=option] .thermometer-panel")
    said = panel.inner_text()
    assert "The inputs have different units" in said
    assert "Positive: increase S and price rises." in said
    assert not re.search("strongest|weak|moderate|does most|downhill", said, re.IGNORECASE)
