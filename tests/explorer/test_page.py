"""The explorer's page as a file: alone, offline, in any colours, for every reader, and deaf to hostile text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from support.browser import Page, Show, new_context
from support.parts import missing, require
from support.timeouts import PATIENCE

from retrograd import Value, errors, explore
from retrograd.explorer import page as page_module
from retrograd.explorer.page import bundle, document
from retrograd.explorer.svg import small_svg
from retrograd.trace import Trace

pytestmark = pytest.mark.native  # the page is the same, whichever engine made the trace

VALUES = {"a": 2.0, "b": -3.0, "c": 10.0}
TEXT = "(a*b + c) * (a + b)"


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    try:
        bundle("explorer.js")
    except errors.BundleMissingError as error:
        missing("the page", str(error))


# --- the file -------------------------------------------------------------------------------------


def test_the_policy_allows_the_one_script_and_the_one_style_and_nothing_else() -> None:
    text = explore(TEXT, **VALUES).to_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    script = re.search(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert script is not None
    assert style is not None
    for rule, part in (("script-src", script[1]), ("style-src", style[1])):
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    assert not re.search(r'(src|href)="', text.replace(script[1], ""))


def test_the_page_is_small() -> None:
    assert len(bundle("explorer.js").encode()) <= 205_000
    assert len(explore(TEXT, **VALUES).to_html().encode()) <= 235_000


def test_a_missing_bundle_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bundle.cache_clear()
    monkeypatch.setattr(page_module, "files", lambda package: tmp_path)
    with pytest.raises(errors.BundleMissingError, match="make web"):
        bundle("explorer.js")
    monkeypatch.undo()


def test_hostile_text_is_only_shown(show: Show) -> None:
    hostile = '<img src=x onerror="document.title=1">'
    a = Value(2.0, label=hostile)
    b = Value(3.0, label="</script><script>document.title=2</script>")
    c = Value(4.0, label="x" * 1_000_000)
    root = a * b + c
    root.label = "<!--<script>"
    page = show(explore(root))
    assert page.page.title().endswith("retrograd")
    assert page.page.locator("img").count() == 0
    assert page.page.locator("script").count() == 2
    for key in ("w", "l", "t", "g"):
        page.press(key)
        assert page.page.locator("img").count() == 0
    page.press("m")
    assert page.page.locator("img").count() == 0
    assert "<img src=x" in page.page.content().replace("&lt;", "<")
    assert page.page.title().endswith("retrograd")


def test_a_hostile_title_and_payload_stay_inside_their_places() -> None:
    text = document({"program": "</script><b>", "x": "<!--"}, "</title><script>alert(1)</script>")
    assert "</title><script>" not in text
    assert text.count("<script") == 2
    data = re.search(r'id="retrograd-data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1]) == {"program": "</script><b>", "x": "<!--"}


# --- for everyone ---------------------------------------------------------------------------------


def luminance(color: str) -> float:
    channels = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page: Page, selector: str, background: str = ".explorer", of_svg: str = "fill") -> float:
    front = page.page.eval_on_selector(
        selector, f"e => e instanceof SVGElement ? getComputedStyle(e).{of_svg} : getComputedStyle(e).color"
    )
    back = page.page.eval_on_selector(background, "e => getComputedStyle(e).backgroundColor")
    one, two = sorted((luminance(front), luminance(back)), reverse=True)
    return (one + 0.05) / (two + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_can_be_read(show: Show, scheme: str) -> None:
    page = show(TEXT, values=VALUES, color_scheme=scheme)
    back = page.page.eval_on_selector(".explorer", "e => getComputedStyle(e).backgroundColor")
    assert (luminance(back) < 0.2) == (scheme == "dark")
    for selector in (".said", ".grad.plus", ".grad.minus", ".box .word", ".tabs button[aria-selected=false]"):
        assert contrast(page, selector) >= 4.5, selector
    page.page.get_by_role("button", name="Colours: auto").click()
    page.page.get_by_role("button", name="Colours: dark").click()
    assert page.page.get_attribute(".explorer", "data-theme") == "light"
    assert luminance(page.page.eval_on_selector(".explorer", "e => getComputedStyle(e).backgroundColor")) > 0.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_wires_can_be_seen_before_the_first_step(show: Show, scheme: str) -> None:
    page = show(TEXT, "", values=VALUES, color_scheme=scheme)
    assert page.page.locator(".wire.ahead .line").count() > 0
    assert contrast(page, ".wire.ahead .line", of_svg="stroke") >= 3.0


@pytest.mark.parametrize("deficiency", ["deuteranopia", "protanopia", "tritanopia", "achromatopsia"])
def test_a_sign_is_never_hue_alone(show: Show, deficiency: str) -> None:
    page = show(TEXT, values=VALUES)
    session = page.page.context.new_cdp_session(page.page)
    session.send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})
    assert len(page.page.screenshot()) > 10_000
    texts = page.page.locator(".grad.near").all_text_contents()
    assert texts
    assert all(text[0] in "+\N{MINUS SIGN}0" for text in texts)
    chips = page.page.locator(".chip text").all_text_contents()
    assert chips
    assert all(text[0] in "+\N{MINUS SIGN}0" for text in chips)


def test_nothing_moves_under_reduced_motion(show: Show) -> None:
    page = show(TEXT, values=VALUES, reduced_motion="reduce")
    page.press("Home", "ArrowRight")
    assert page.page.locator(".token").count() == 0
    assert page.page.eval_on_selector(".box .frame", "e => getComputedStyle(e).transitionDuration") == "0s"
    moving = show(TEXT, values=VALUES, reduced_motion="no-preference")
    moving.press("Home")
    assert moving.forward()[0] == 2


def test_the_keyboard_alone_is_enough(show: Show) -> None:
    page = show(TEXT, values=VALUES)
    page.press("Home", " ", " ", "Home")
    names = []
    while len(names) < 7:  # Tab goes along the program, operands before results
        page.press("Tab")
        node = page.page.evaluate("document.activeElement.dataset.node ?? ''")
        if node:
            names.append(int(node))
    assert names == sorted(names)
    assert page.page.evaluate("document.activeElement.dataset.node") == str(names[-1])
    page.press("Enter")
    assert page.page.locator("[role=tab][aria-selected=true]").inner_text() == "Step"
    page.press("e")
    page.wait("document.activeElement.dataset.leaf === '0'")
    page.page.keyboard.type("7")
    page.press("Enter", "Escape")
    page.wait("explorer.state.run.data[0] === 7")
    page.page.focus(".explorer")
    page.press("?")
    assert "Space" in page.text("dialog")
    page.press("Escape")
    page.page.wait_for_selector("dialog", state="detached")
    page.press("/")
    page.page.keyboard.type("e")
    page.press("Enter")
    assert page.page.locator(".box.chosen").count() == 1
    page.page.focus("#tab-step")
    page.press("ArrowRight")
    assert page.page.evaluate("document.activeElement.id") == "tab-ledger"


def test_a_screen_reader_hears_each_step_and_knows_each_part(show: Show) -> None:
    page = show("a*b", values={"a": 2.0, "b": -3.0})
    page.press("Home", "ArrowRight")
    live = page.page.locator("[aria-live=polite].sentence")
    assert live.inner_text().endswith("L = a * b = 2.0 * -3.0 = -6.0")
    snapshot = page.page.locator(".explorer").aria_snapshot()
    for line in (
        '- heading "retrograd" [level=1]',
        '- group "The graph of a*b"',
        '- button "input a, data 2.0"',
        '- button "L = a * b, data -6.0"',
        '- slider "Step"',
        '- button "Step forward"',
        '- tab "Step" [selected]',
        "- tabpanel",
    ):
        assert line in snapshot, snapshot
    unnamed = page.page.eval_on_selector_all(
        "button, input, select, [role=button]",
        """all => all.filter(e => !(e.getAttribute('aria-label') || e.innerText || e.labels?.length))
                     .map(e => e.outerHTML)""",
    )
    assert unnamed == []


@pytest.mark.parametrize("width", [320, 390, 768])
def test_narrow_pages_have_no_sideways_scroll(show: Show, width: int) -> None:
    page = show(TEXT, values=VALUES, viewport={"width": width, "height": 844})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    centres = page.page.eval_on_selector_all(".box", "all => all.map(e => e.getBoundingClientRect().y)")
    if width < 620:  # from top to bottom
        assert centres == sorted(centres) or max(centres) == centres[-1]


# --- pictures -------------------------------------------------------------------------------------


def test_svg_and_png_carry_their_styles(show: Show) -> None:
    page = show(TEXT, values=VALUES, accept_downloads=True)
    page.page.get_by_role("button", name="Save or print").click()
    with page.page.expect_download() as waiting:
        page.page.click("dialog b:text-is('SVG')")
    text = Path(waiting.value.path()).read_text()
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in text
    assert "class=" not in text
    assert "<script" not in text
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert texts
    assert all(element.get("fill") and element.get("font-size") for element in texts)
    with page.page.expect_download() as waiting:
        page.page.click("dialog b:text-is('PNG')")
    data = Path(waiting.value.path()).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    assert width > 1000
    assert height > 200
    with page.page.expect_download() as waiting:
        page.page.click("dialog b:text-is('Trace')")
    assert Trace.from_json(Path(waiting.value.path()).read_text()).node("a").grad == 7.0


def test_print_shows_the_graph_and_the_steps(show: Show) -> None:
    page = show(TEXT, values=VALUES)
    page.page.emulate_media(media="print")
    assert page.page.locator("svg.graph").is_visible()
    assert not page.page.locator(".buttons").is_visible()
    assert not page.page.locator("nav").is_visible()


def test_a_bare_value_shows_as_one_small_svg() -> None:
    a = Value(2.0, label="<a>")
    root = (a * a + 1.0) * a
    text = small_svg(root)
    assert text is not None
    assert len(text) < 6_000
    tree = ElementTree.fromstring(text)
    assert len(tree.findall("{http://www.w3.org/2000/svg}path")) == 6  # every operand occurrence is an edge
    assert "<a>" not in text
    assert small_svg(a) is None
    long = a
    for _ in range(200):
        long = long + 1.0
    assert small_svg(long) is None


# --- notebooks ------------------------------------------------------------------------------------


def test_a_notebook_frame_may_run_its_script_and_nothing_else() -> None:
    text = explore("a*b", a=2.0, b=3.0)._repr_html_()
    assert text.startswith("<iframe")
    assert 'sandbox="allow-scripts allow-downloads"' in text
    assert "allow-same-origin" not in text
    srcdoc = re.search(r'srcdoc="([^"]*)"', text)
    assert srcdoc is not None
    assert html.unescape(srcdoc[1]).startswith("<!doctype html>")
    assert len(text) <= 500_000


def test_the_frame_works_inside_a_saved_page(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><h1>A notebook</h1>{explore('a*b', a=2.0, b=3.0)._repr_html_()}")
    context = new_context(browser, offline=True, reduced_motion="reduce")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Step forward").click()
    assert "L = a * b = 2.0 * 3.0 = 6.0" in frame.locator(".sentence").inner_text()
    assert problems == []
    context.close()


def test_a_notebook_shows_pictures_and_pages_and_keeps_them(tmp_path: Path) -> None:
    nbformat = require("nbformat")
    nbclient = require("nbclient")
    source = ["import retrograd as rg\na = rg.Value(2.0, label='a')\nL = a * a\nL", "rg.explore(L, a=a)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in source])
    nbclient.NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3").execute()
    file = tmp_path / "saved.ipynb"
    nbformat.write(notebook, file)
    saved = nbformat.read(file, as_version=4)
    picture = saved.cells[0].outputs[0].data
    assert "image/svg+xml" in picture
    assert "text/plain" in picture
    page = saved.cells[1].outputs[0].data
    assert page["text/html"].startswith("<iframe")
    assert file.stat().st_size <= 500_000


def test_the_live_widget_shares_step_and_values() -> None:
    require("anywidget")
    widget = explore("a*b", a=2.0, b=3.0).widget()
    assert "render" in widget._esm
    assert widget.payload["trace"]["title"] == "a*b"
    assert (widget.step, widget.values) == (0, {})


def test_the_widgets_script_shows_the_page_and_follows_its_model(browser: Any) -> None:
    context = new_context(browser, offline=True, reduced_motion="reduce")
    page = context.new_page()
    page.set_content("<div id='cell'></div>")
    page.add_style_tag(content=bundle("explorer.css"))
    said = page.evaluate(
        """async ({ script, payload }) => {
            const values = { payload, height: 500, step: 2 };
            const listeners = {};
            const model = {
                get: (name) => values[name], set: (name, value) => { values[name] = value; },
                on: (name, listener) => { listeners[name] = listener; }, save_changes: () => { values.saved = true; },
            };
            const module = await import(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
            const cell = document.getElementById('cell');
            const remove = module.default.render({ model, el: cell });
            const rest = () => new Promise((done) => setTimeout(done, 50));
            const found = [];
            await rest();
            found.push(cell.querySelector('.sentence').innerText);
            cell.querySelector('[aria-label="Step forward"]').click();
            await rest();
            found.push(values.step, values.saved);
            values.step = 1;
            listeners['change:step']();
            await rest();
            found.push(cell.querySelector('.sentence').innerText);
            remove();
            found.push(cell.querySelectorAll('.explorer').length);
            return found;
        }""",
        {"script": bundle("explorer.js"), "payload": explore("a*b", a=2.0, b=3.0).payload},
    )
    assert "L = a * b = 2.0 * 3.0 = 6.0" in said[0]
    assert said[1:3] == [3, True]
    assert "a = 2.0, b = 3.0" in said[3]
    assert said[4] == 0
    context.close()


def test_what_the_page_cannot_read_is_said(browser: Any, tmp_path: Path) -> None:
    payload = dict(explore("a*b", a=2.0, b=3.0).payload)
    payload["trace"] = {**payload["trace"], "version": 99}
    file = tmp_path / "page.html"
    file.write_text(document(payload))
    context = new_context(browser, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("text=This page cannot be shown")
    assert "version 2" in page.inner_text("#retrograd")
    context.close()
