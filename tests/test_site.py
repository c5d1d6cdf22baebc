"""The documentation site: built with warnings as errors, whole, and asking nothing of anybody."""

from __future__ import annotations

import functools
import http.server
import importlib
import re
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from filelock import FileLock
from support.browser import new_context
from support.parts import missing, require

import retrograd as rg
from retrograd.ops import NARY, OPS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from examples import PAGES

pytestmark = [pytest.mark.native, pytest.mark.long]  # about the pages
MODULES = ("errors", "linalg", "math", "nn", "optim")
#: A program of the directive {explorer}, in a page.
FIGURE = re.compile(r"^```\{explorer\} (.+)$", re.MULTILINE)


class Links(HTMLParser):
    """What a page refers to, what it loads, and where it can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.figures: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attributes}
        if tag == "a" and "href" in own:
            self.links.append(own["href"])
        if "src" in own:
            self.loads.append(own["src"])
        if tag == "link" and "href" in own and own.get("rel") not in ("canonical",):
            self.loads.append(own["href"])
        self.places |= {own[name] for name in ("id", "name") if name in own}
        if "data-page" in own:
            self.figures.append(own["data-page"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The site, which one of the test processes builds and all read."""
    for module in ("sphinx", "furo", "myst_parser", "sphinx_copybutton", "latex2mathml", "matplotlib", "scipy"):
        require(module)
    assemble = importlib.import_module("docsite.assemble")
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent
    with FileLock(shared / "site.lock"):
        built = shared / "site.txt"
        if not built.exists():
            folder = tmp_path_factory.mktemp("site")
            assert assemble.build(folder / "source", folder / "site") == 0, "Sphinx warned: see what it printed"
            built.write_text(str(folder / "site"))
        return Path(built.read_text())


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Links]:
    """The pages that Sphinx wrote, by their names."""
    found = {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}
    return {name: Links(text) for name, text in found.items() if "/_static/" not in name}


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[str, Links]) -> None:
    for name, page in pages.items():
        for target in page.loads:
            assert re.match(r"data:|(?!\w+:|//)", target), f"{name} loads {target}"
            own = unquote(target.partition("?")[0].partition("#")[0])
            assert target.startswith("data:") or (site / name).parent.joinpath(own).exists(), f"{name} loads {target}"
    for sheet in [*site.rglob("*.css"), *(site / "_static").rglob("*.js")]:
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", sheet.read_text()), sheet


def test_links_lead_somewhere(site: Path, pages: dict[str, Links]) -> None:
    for name, page in pages.items():
        for link in page.links:
            target, place = urldefrag(link)
            if re.match(r"\w+:", link):
                continue
            other = (site / name if not target else (site / name).parent / unquote(target)).resolve()
            assert other.exists(), f"{name} links to {link}"
            known = pages.get(other.relative_to(site.resolve()).as_posix())
            if known and place and other.name not in ("lesson.html",):
                assert unquote(place) in known.places, f"{name} links to {link}"
        for figure in page.figures:
            assert (site / figure).exists(), f"{name} shows {figure}"


def test_every_public_name_has_its_place(pages: dict[str, Links]) -> None:
    places = set().union(*(page.places for name, page in pages.items() if name.startswith("reference/")))
    wanted = {f"retrograd.{name}" for name in rg.__all__ if name not in MODULES}
    for module in MODULES:
        wanted |= {f"retrograd.{module}.{name}" for name in getattr(rg, module).__all__}
    for bridge in ("scipy", "sklearn", "sympy", "torch"):
        exported = importlib.import_module(f"retrograd.{bridge}").__all__
        wanted |= {f"retrograd.{bridge}.{name}" for name in exported}
    assert wanted - places == set()
    for row in (*OPS, *NARY):
        assert f"operators/{row.name}.html" in pages


@pytest.mark.parametrize(
    "page", [page for page in PAGES if FIGURE.search(page.read_text())], ids=lambda page: page.name
)
def test_expressions_of_figures_can_be_explored(page: Path) -> None:
    for shown in FIGURE.findall(page.read_text()):
        text, *inputs = re.split(r"\s+(?=\w+=\S+(?:\s+\w+=\S+)*$)", shown)
        numbers = dict(pair.split("=") for pair in " ".join(inputs).split())
        assert rg.explore(text, **{name: float(number) for name, number in numbers.items()}).operations > 0


@pytest.fixture
def opened(browser: Any, site: Path) -> Iterator[Any]:
    """Opens a page of the site as a file; at the end nothing was asked of anybody and nothing went wrong."""
    context = new_context(browser, viewport={"width": 1280, "height": 800}, offline=True, reduced_motion="reduce")
    problems: list[str] = []
    requests: list[str] = []

    def show(name: str) -> Any:
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / name).as_uri())
        return page

    yield show
    context.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_front_page_has_the_explorer(opened: Any) -> None:
    page = opened("index.html")
    frame = page.frame_locator(".live-frame iframe").first
    frame.locator(".explorer").wait_for()
    frame.get_by_text("1 of 10", exact=False).first.wait_for()  # five steps forward, five back: it could be read
    frame.locator(".explorer").press("ArrowRight")
    frame.get_by_text("2 of 10", exact=False).first.wait_for()


def test_a_sentence_leads_its_figure(opened: Any) -> None:
    page = opened("lesson/02-two-rules.html")
    gate = page.frame_locator('[data-name="two-rules-gate"] iframe')
    for name, gradient in (("open", "+1"), ("closed", "0")):
        page.get_by_role("button", name=name, exact=True).click()
        gate.locator("text.grad.near").filter(has_text=gradient).first.wait_for()


#: What the text of a chapter tells the reader to press, by its figure.
PRESSED = {
    "01-two-directions": ("two-directions-nudge", ["Move a"]),
    "05-in-which-order": ("in-which-order-find", ["Next line"]),
    "07-a-neuron-a-network": ("a-neuron-a-network-moons", ["Keep going"]),
    "08-a-gpt-from-scalars": ("a-gpt-from-scalars-gpt", ["Keep going", "Start over"]),
    "09-what-a-compiler-sees": ("what-a-compiler-sees-layer", ["for i"]),
}


@pytest.mark.parametrize("name", PRESSED)
def test_what_a_chapter_tells_the_reader_to_press_is_there(opened: Any, name: str) -> None:
    page = opened(f"lesson/{name}.html")
    place, labels = PRESSED[name]
    page.locator(f'[data-name="{place}"]').scroll_into_view_if_needed()
    frame = page.frame_locator(f'[data-name="{place}"] iframe')
    for label in labels:
        frame.locator(f"button:has-text('{label}'), input[aria-label='{label}']").first.wait_for()
    graph = frame.locator(".canvas").bounding_box()
    for box in frame.locator(".canvas .box").all()[:20]:
        own = box.bounding_box()
        assert own["x"] >= graph["x"] - 1
        assert own["x"] + own["width"] <= graph["x"] + graph["width"] + 1
    room = page.locator(f'[data-name="{place}"]').bounding_box()["height"]
    assert abs(room - frame.locator("main").bounding_box()["height"]) < 4  # no scroll bar inside


def test_a_sentence_acts_again_when_it_is_pressed_again(opened: Any) -> None:
    page = opened("lesson/05-in-which-order.html")
    sentence = page.get_by_role("button", name="the search comes to b three times")
    figure = page.frame_locator('[data-name="in-which-order-again"] iframe')
    for _ in range(2):
        sentence.click()
        figure.get_by_text("10 of 10", exact=False).first.wait_for()
        figure.get_by_role("button", name="To the start").click()
        figure.get_by_text("1 of 10", exact=False).first.wait_for()


def test_search_finds_without_a_server(opened: Any) -> None:
    page = opened("index.html")
    page.locator("input[name=q]").first.fill("distributor")
    page.locator("input[name=q]").first.press("Enter")
    page.locator("#search-results li a").first.wait_for()


#: A page of each kind.
KINDS = (
    "index.html",
    "start/first-ten-minutes.html",
    "lesson/02-two-rules.html",
    "lesson/06-write-your-own.html",
    "howto/from-micrograd.html",
    "reference/sequences.html",
    "operators/tanh.html",
    "gallery/index.html",
    "gallery/lens.html",
    "conventions.html",
    "teachers.html",
    "search.html",
)
AXE = Path(__file__).resolve().parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"
#: The figures are the explorer's own pages, which have tests of their own.
AXE_RUN = """axe
    .run(document, { preload: false, iframes: false, rules: { 'target-size': { enabled: true } } })
    .then(({ violations }) => violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]))"""


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("theme", "window"), [("light", (1280, 800)), ("dark", (390, 844))])
def test_axe_finds_nothing(opened: Any, name: str, theme: str, window: tuple[int, int]) -> None:
    if not AXE.exists():
        missing("axe-core", "npm ci in web/")
    page = opened(name)
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(dict(zip(("width", "height"), window, strict=True)))
    page.evaluate(AXE.read_text())
    assert page.evaluate(AXE_RUN) == []


@pytest.mark.parametrize("window", [(640, 400), (390, 844)], ids=["200 percent", "telephone"])
def test_no_page_is_wider_than_its_window(opened: Any, pages: dict[str, Links], window: tuple[int, int]) -> None:
    page = opened("index.html")
    page.set_viewport_size(dict(zip(("width", "height"), window, strict=True)))
    home = page.url.removesuffix("index.html")
    wide = []
    for name in pages:
        if name.startswith(("live/", "operators/")) and name not in KINDS:
            continue  # the explorer has tests of its own, and one operator is as wide as another
        page.goto(home + name, wait_until="domcontentloaded")
        if page.evaluate("document.documentElement.scrollWidth") > window[0]:
            wide.append(name)
    assert wide == []


def focused(page: Any) -> str:
    return str(page.evaluate("(e => e.ariaLabel || e.innerText || e.placeholder)(document.activeElement)"))


def test_a_figure_leaves_the_keyboard_to_its_page(opened: Any) -> None:
    page = opened("index.html")
    page.frame_locator(".live-frame iframe").first.locator(".explorer").wait_for()
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to content"
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#furo-main-content'")


def test_the_drawers_of_a_narrow_window_are_opened_by_keyboard(opened: Any) -> None:
    page = opened("start/first-ten-minutes.html")
    page.set_viewport_size({"width": 640, "height": 400})
    for name, inside in (("Site navigation", ".sidebar-drawer"), ("On this page", ".toc-drawer")):
        drawer = page.locator(inside)
        assert not drawer.is_visible()
        for _ in range(6):
            page.keyboard.press("Tab")
            assert not page.evaluate("(s) => document.activeElement.closest(s) !== null", inside)
            if focused(page) == name:
                break
        page.keyboard.press("Enter")
        assert page.evaluate("(s) => document.activeElement.closest(s) !== null", inside)
        page.keyboard.press("Escape")
        assert focused(page) == name
        assert not drawer.is_visible()


def test_what_is_wider_than_its_place_is_scrolled_by_keyboard(opened: Any) -> None:
    page = opened("gallery/lens.html")
    page.set_viewport_size({"width": 390, "height": 844})
    code = page.locator("pre").last
    page.wait_for_function(
        "document.querySelector('pre:last-of-type') && [...document.querySelectorAll('pre')].at(-1).tabIndex === 0"
    )
    code.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("[...document.querySelectorAll('pre')].at(-1).scrollLeft > 0")


def test_chapter_six_examines_a_class_in_the_page(browser: Any, site: Path) -> None:
    """Python runs in the page, from the site's own files: over HTTP, since a worker cannot be had from a file."""
    if not (site / "live" / "pyodide").exists():
        missing("pyodide", "Node and a network while the site is built")
    handler = functools.partial(Silent, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}/"
        context = new_context(browser)
        requests: list[str] = []
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.goto(home + "lesson/06-write-your-own.html")
        assert not any("pyodide" in url for url in requests), "Python comes only when it is asked for"
        page.locator(".classroom button").first.click()
        page.get_by_text("The backward pass begins with nothing").first.wait_for()
        page.locator(".classroom textarea").fill("class Value(:")
        page.locator(".classroom button").first.click()
        page.get_by_text("The code stops in line 1").wait_for()
        context.close()
        server.shutdown()
    assert [url for url in requests if not url.startswith((home, "data:", "blob:"))] == []


def test_the_editor_of_chapter_six_keeps_what_was_typed(opened: Any) -> None:
    page = opened("lesson/06-write-your-own.html")
    code, again = page.locator(".classroom textarea"), page.get_by_role("button", name="Start over")
    given = code.input_value()
    assert again.count() == 0
    code.fill("class Value:\n    def __neg__(self):")
    code.press("End")
    code.press("Enter")
    code.press_sequentially("return self * -1")
    mine = "class Value:\n    def __neg__(self):\n        return self * -1"
    assert code.input_value() == mine
    page.reload()
    assert code.input_value() == mine
    again.click()
    assert code.input_value() == given
    code.press("Control+z")
    assert code.input_value() == mine
    again.click()
    page.reload()
    assert code.input_value() == given


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing of it."""

    def log_message(self, *what: object) -> None:
        """Nothing."""
