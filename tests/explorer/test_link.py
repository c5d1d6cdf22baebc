"""What a link, a figure and an assignment can say (docs/explorer.md), in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.browser import Page, Show

from retrograd import Value, explore
from retrograd.explorer.explorer import OPTIONS

pytestmark = pytest.mark.native  # the page is the same, whichever engine made the trace

ROOT = Path(__file__).resolve().parents[2]
VALUES = {"a": 2.0, "b": -3.0, "c": 10.0}
TEXT = "(a*b + c) * (a + b)"


def test_the_manual_names_every_option_and_every_view() -> None:
    manual = (ROOT / "docs" / "explorer.md").read_text()
    table = re.findall(r"^\| `(\w+)` \|", manual, re.MULTILINE)
    source = (ROOT / "web" / "src" / "state" / "link.ts").read_text()
    block = source.split("OPTIONS: Readonly")[1].split("\n};")[0]
    assert table == re.findall(r"^  (\w+): \(store", block, re.MULTILINE)
    assert table == ["program", "set", *OPTIONS]
    tabs = re.search(r"TABS = \[([^\]]*)\]", (ROOT / "web" / "src" / "state" / "state.ts").read_text())
    assert tabs is not None
    views = manual.split("The views:")[1].split("\n\n")[0]
    assert re.findall(r"`(\w+)`", views) == re.findall(r'"(\w+)"', tabs[1])


def selected_view(page: Page) -> str:
    return str(page.page.locator("[role=tab][aria-selected=true]").inner_text())


def test_a_page_opens_at_its_first_step_with_one_marked_control(show: Show) -> None:
    page = show(TEXT, "", values=VALUES)
    assert page.step == 0
    assert page.page.locator(".begin").count() == 1
    assert "Begin here" in page.text(".sentence")
    assert page.page.locator("[role=tab]").all_inner_texts() == ["Step", "Ledger", "Waterfall", "Thermometer"]
    page.press("ArrowRight")
    assert page.step == 1
    assert page.page.locator(".begin").count() == 0


@pytest.mark.parametrize(("word", "step"), [("first", 0), ("forward", 4), ("seed", 5), ("last", 9), ("3", 2)])
def test_a_step_has_a_number_or_a_word(show: Show, word: str, step: int) -> None:
    assert show(TEXT, f"#step={word}", values=VALUES).step == step


def test_a_figure_shows_what_its_options_say(show: Show) -> None:
    explorer = explore(TEXT, **VALUES).at(figure=True, views="ledger,slope", step="last", digits="all", edge="a>d")
    page = show(explorer, "")
    assert page.page.locator("header.top").count() == 0
    assert page.page.locator("[role=tab]").all_inner_texts() == ["Ledger", "Slope"]
    assert page.page.locator(".more").count() == 0
    assert page.step == page.steps - 1
    assert page.run("return explorer.state.selection") == {"kind": "edge", "id": 0}
    page.press("g")  # a view that is not there is not opened
    assert selected_view(page) == "Ledger"


def test_the_graph_can_stand_alone(show: Show) -> None:
    page = show(explore("a*a", a=3.0).at(views="", figure=True), "")
    assert page.page.locator("aside").count() == 0
    assert page.page.locator("svg.graph").is_visible()


def test_an_unknown_option_is_an_error_in_python() -> None:
    with pytest.raises(TypeError, match="no option is called 'vew'"):
        explore("a*a", a=3.0).at(vew="ledger")


def test_a_link_round_trips_names_with_spaces(show: Show) -> None:
    a, b = Value(2.0, label="my rate"), Value(3.0, label="b, c:d")
    page = show(explore(a * b), "")
    page.run("explorer.edit(0, 5); explorer.edit(1, 7)")
    page.wait("location.hash.includes('set=')")
    other = show(explore(a * b), page.page.evaluate("location.hash"))
    assert other.run("return [...explorer.state.run.data]") == [5.0, 7.0, 35.0]


def test_what_does_not_fit_is_left_out(show: Show) -> None:
    page = show(TEXT, "#step=soup&view=nothing&node=zz&edge=99&digits=x&answers=maybe&theme=pink&bug=no", values=VALUES)
    assert page.step == 0
    assert selected_view(page) == "Step"
    assert page.run("return [explorer.state.selection, explorer.state.digits, explorer.state.bug]") == [None, 4, None]


@pytest.mark.parametrize("part", ["step=99", "step=0", "foo=3", "view=zzz", "set=zz:3", "views=step,zzz", "order=a,zz"])
def test_what_is_left_out_is_told(show: Show, part: str) -> None:
    page = show(TEXT, f"#{part}&digits=6", values=VALUES)
    assert (
        page.text(".problem p") == f"The link asks for something that this page does not have. It was left out: {part}"
    )
    assert page.run("return [explorer.state.step, explorer.state.digits]") == [0, 6]
    assert show(explore("a*a", a=3.0).at(view="zzz"), "").page.locator(".problem").count() == 1


def test_a_link_that_can_be_followed_is_not_commented(show: Show) -> None:
    page = show(
        TEXT, "#set=a:4 b:1&step=last&views=step,ledger&view=ledger&order=d,c&bug=assign&edge=a>d", values=VALUES
    )
    assert page.page.locator(".problem").count() == 0


# --- answers --------------------------------------------------------------------------------------


def test_hidden_answers_are_nowhere_on_the_page(show: Show) -> None:
    page = show(TEXT, "#answers=hidden&step=last", values=VALUES)
    for key in ("s", "l", "w", "t", "v", "y", "b"):
        page.press(key)
        said = page.page.locator(".explorer").evaluate("e => e.outerHTML + e.innerText")
        for told in ("+7", "= 7.0", "a.grad = 7", "gradient 7", "gradient 2.0", "slope 7"):
            assert told not in said, (key, told)
    assert page.page.locator(".chip").count() == 0


def test_hidden_answers_are_not_told_by_the_order_game(show: Show) -> None:
    page = show(TEXT, "#answers=locked&view=game", values=VALUES)
    page.click("Show a right order")
    page.click("Run it")
    assert "every gradient arrived" in page.text(".result")
    page.page.get_by_role("button", name="e, visited").click()  # then it is placed last
    page.page.locator(".to-place button").click()
    page.click("Run it")
    said = page.text(".result")
    assert "L → e → c was lost. c was visited before e" in said
    assert not re.search(r"\d\.\d", said)


def test_a_locked_assignment_opens_to_right_answers_alone(show: Show) -> None:
    page = show(TEXT, "#answers=locked&view=predict", values=VALUES)
    page.page.wait_for_selector(".predict input")
    assert page.page.get_by_role("button", name="Show the gradients").count() == 0
    fields = page.page.locator(".predict input")
    for field, text in zip(fields.all(), ["4", "2", "1"], strict=True):
        field.fill(text)
    page.press("Enter")
    assert "share of one path" in page.text(".predict")  # a = 4 forgets the path through d
    assert "sign" in page.text(".predict")
    assert "1 of 3 right" in page.text(".predict")
    assert page.run("return explorer.state.answers") == "locked"
    fields.nth(0).fill("7")
    fields.nth(2).fill("-1")
    page.press("Enter")
    page.page.wait_for_selector("text=All 3 are right")
    assert page.run("return explorer.state.answers") == "shown"


def test_share_writes_links_that_open_what_they_say(show: Show) -> None:
    page = show(TEXT, "#step=7", values=VALUES)
    page.page.get_by_role("button", name="Share").click()
    page.page.get_by_label("hidden until worked out").check()
    address = page.text("dialog .latex")
    assert "answers=locked" in address
    assert "step=1&" in address
    other = show(TEXT, "#" + address.split("#", 1)[1], values=VALUES)
    assert other.step == 0
    assert other.run("return explorer.state.answers") == "locked"
    assert selected_view(other) == "Predict"


def test_the_address_keeps_the_program_that_a_link_brought(show: Show) -> None:
    page = show(TEXT, "#program=p+%3D+3%3B+p*p&step=2", values=VALUES)
    page.press("ArrowRight")
    page.page.wait_for_url("**step=3*")
    assert "program=p" in page.page.url
    page.page.reload()
    page.page.wait_for_selector(".explorer")
    assert page.page.get_by_label("Expression").first.input_value() == "p*p"
    assert page.step == 2


def test_a_copy_button_says_again_what_it_copies_and_works_without_a_clipboard(show: Show) -> None:
    page = show(TEXT, "#step=7", values=VALUES)
    # What a page behind plain http has: no clipboard, and only what execCommand takes from a selection.
    page.page.evaluate(
        """() => {
            Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });
            document.execCommand = () => { window.copied = String(document.activeElement.value ?? ''); return true; };
        }"""
    )
    page.page.get_by_role("button", name="Share").click()
    button = page.page.locator("dialog .actions button").first
    button.click()
    assert button.inner_text() == "Copied"
    assert page.page.evaluate("window.copied") == page.text("dialog .latex")
    button.click()
    page.page.get_by_role("button", name="Copy the link").wait_for()


def test_what_a_link_brings_is_not_to_be_undone(show: Show) -> None:
    page = show(TEXT, "#program=p+%3D+3%3B+p*p&set=p:4", values=VALUES)
    undo = page.page.get_by_role("button", name="Undo")
    assert undo.get_attribute("aria-disabled") == "true"
    page.press("Control+z")
    assert page.page.get_by_label("Expression").first.input_value() == "p*p"
    page.open("p + 1", p=2.0)
    page.press("Control+z")
    assert page.page.get_by_label("Expression").first.input_value() == "p*p"


def test_an_assignment_in_a_frame_leaves_the_keyboard_to_the_page_around_it(show: Show, tmp_path: Path) -> None:
    page = show(TEXT, values=VALUES)
    address = page.page.url.split("#")[0] + "#answers=locked&view=predict&figure=1"
    around = tmp_path / "around.html"
    around.write_text(f"<p tabindex=0 autofocus>Text</p><iframe src='{address}' width=900 height=600></iframe>")
    page.page.goto(around.as_uri())
    frame = page.page.frame_locator("iframe")
    frame.locator(".predict input").first.wait_for()
    page.page.wait_for_timeout(100)
    assert page.page.evaluate("document.activeElement.tagName") != "IFRAME"
    frame.locator(".predict input").first.fill("7")
    page.page.goto(address)
    page.page.wait_for_selector(".predict input")
    assert page.page.evaluate("document.activeElement.tagName") == "INPUT"
