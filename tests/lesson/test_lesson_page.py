"""The lesson in a real browser: every question with its right and its wrong answers, by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import new_context
from support.parts import missing

from retrograd.lesson.course.build import Built, Course, load
from retrograd.lesson.course.page import page
from retrograd.lesson.course.questions import Question

pytestmark = pytest.mark.native  # the last chapters show compiled programs

MINUS = "\N{MINUS SIGN}"
NAMES = [chapter.name for chapter in load().chapters]
#: The whole page may be so large, in bytes.
MOST = 400_000
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def course() -> Course:
    return load()


@pytest.fixture(scope="module")
def chapters(course: Course) -> dict[str, Built]:
    return {name: course.build(number) for name, number in course.numbers.items()}


@pytest.fixture(scope="module")
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
        shown.wait_for_selector("h1")
        return shown

    yield show
    for context in contexts:
        context.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


def words(text: str) -> str:
    """A text without its markup, as a page shows it."""
    return " ".join(re.sub(r"[`*]|\[(.*?)\]\(.*?\)", r"\1", text).split())


def verdict(section: Any) -> str:
    return " ".join(section.locator(".verdict").inner_text().split())


def choose(section: Any, number: int) -> None:
    section.locator("input[type=radio]").nth(number).check()
    section.get_by_role("button", name="Check").click()


def type_in(section: Any, numbers: list[float]) -> None:
    for field, number in zip(section.locator("input[type=text]").all(), numbers, strict=True):
        field.fill(repr(number))
    section.get_by_role("button", name="Check").click()


# --- the questions --------------------------------------------------------------------------------


def ask_choice(section: Any, own: Question, said: Callable[[str], str]) -> None:
    order = sorted(range(len(own.choices)), key=lambda number: own.choices[number].right)
    for number in order:
        choose(section, number)
        choice = own.choices[number]
        assert verdict(section).startswith("Right." if choice.right else "Not yet.")
        assert said(choice.says) in verdict(section)


def ask_numbers(section: Any, own: Question, said: Callable[[str], str]) -> None:
    right = [field.answer for field in own.fields]
    for place, field in enumerate(own.fields):
        for case in field.cases:
            type_in(section, [*right[:place], case.value, *right[place + 1 :]])
            assert verdict(section).startswith("Not yet.")
            assert said(case.says) in verdict(section)
    type_in(section, [1234.5 for _ in right])
    assert said(own.otherwise) in verdict(section)
    section.locator("input").first.fill("wat")
    section.get_by_role("button", name="Check").click()
    assert "“wat” is not a number" in verdict(section)
    type_in(section, right)
    assert verdict(section).startswith("Right.")


def place_all(section: Any, names: list[str]) -> None:
    for name in names:
        section.locator("[data-place]").get_by_text(name, exact=True).click()
    section.get_by_role("button", name="Check").click()


def ask_orders(section: Any, own: Question, said: Callable[[str], str]) -> None:
    for number, figure in enumerate(own.orders, start=1):
        assert f"Graph {number} of {len(own.orders)}" in section.inner_text()
        place_all(section, figure.players)  # the forward order, which is wrong for every graph
        assert "was visited before" in verdict(section)
        section.get_by_role("button", name="Start over").click()
        place_all(section, [*reversed(figure.players)])
    assert verdict(section).startswith("Right.")


ASK = {"choice": ask_choice, "number": ask_numbers, "gradients": ask_numbers, "order": ask_orders}


@pytest.mark.parametrize("name", NAMES)
def test_every_question_takes_right_answers_and_says_what_wrong_ones_mean(
    show: Open, chapters: dict[str, Built], name: str
) -> None:
    shown = show(name)
    built = chapters[name]

    def said(text: str) -> str:
        html = built.text.html(text, built.chapter.place)
        return " ".join(
            str(
                shown.evaluate(
                    "h => { const d = document.createElement('p'); d.innerHTML = h; return d.innerText; }", html
                )
            ).split()
        )

    for own in built.questions.values():
        section = shown.locator(f"[data-question={own.name}]")
        section.get_by_role("button", name="Give me a hint").click()
        assert said(own.hints[0]) in verdict(section)
        section.get_by_role("button", name="One more hint").click()
        assert said(own.hints[1]) in verdict(section)
        if own.kind == "report":
            section.get_by_role("button", name="Not yet").click()
            assert said(own.otherwise) in verdict(section)
            section.get_by_role("button", name="Yes").click()
        else:
            ASK[own.kind](section, own, said)
        assert "right" in section.locator("h3").inner_text()
    assert "Chapter done" in shown.inner_text(".end")
    assert shown.locator(".chapters a[aria-current] .mark").inner_text() == "✓"


def test_an_answer_may_be_looked_up_after_two_tries(show: Open) -> None:
    shown = show("walk-it-backward")
    section = shown.locator("[data-question=walk-c]")
    assert section.get_by_role("button", name="Show the answer").count() == 0
    for _ in range(2):
        type_in(section, [99.0])
    section.get_by_role("button", name="Show the answer").click()
    assert section.locator("input").input_value() == "4"
    assert "looked up" in section.locator("h3").inner_text()


@pytest.mark.parametrize("typed", ["10", " 10.0 ", "1e1", "20/2", "10,0", "+10"])
def test_numbers_may_be_typed_in_many_ways(show: Open, typed: str) -> None:
    section = show("walk-it-backward").locator("[data-question=walk-a]")
    section.locator("input").fill(typed)
    section.get_by_role("button", name="Check").click()
    assert verdict(section).startswith("Right.")


# --- figures --------------------------------------------------------------------------------------


def box(shown: Any, figure: str, name: str) -> str:
    """What a screen reader says of a node."""
    labels = shown.locator(f"[data-figure={figure}] .box[data-node]").evaluate_all(
        "all => all.map(e => e.getAttribute('aria-label'))"
    )
    return next(label for label in labels if re.match(rf"(input )?{re.escape(name)}\b", label))


@pytest.mark.parametrize("name", NAMES)
def test_every_bound_sentence_puts_its_figure_where_it_is(show: Open, chapters: dict[str, Built], name: str) -> None:
    shown = show(name)
    sentences = shown.locator("button.bound").all()
    for sentence in sentences:
        target = sentence.evaluate("e => JSON.parse(e.dataset.go)")
        sentence.click()
        figure = shown.locator(f"[data-figure={target['figure']}]")
        count = figure.locator(".count b").inner_text()
        assert int(count) == target["step"] + 1
        assert sentence.get_attribute("aria-current") == "step"
        assert figure.locator(".wrong-pass").count() == (1 if "wrong" in target else 0)
        if "node" in target and figure.locator(f"[data-node='{target['node']}']").count():
            assert figure.locator(f"[data-node='{target['node']}'][aria-pressed=true]").count() == 1
    assert len(sentences) >= (1 if name not in ("write-your-own", "what-a-compiler-sees") else 0)


def test_a_sentence_sets_numbers_and_wrong_passes(show: Open) -> None:
    shown = show("two-rules")
    shown.get_by_role("button", name="open", exact=True).click()
    assert "data 2.0, gradient 1.0" in box(shown, "gate", "x")
    shown.get_by_role("button", name="closed", exact=True).click()
    assert "gradient 0.0" in box(shown, "gate", "x")
    shown.get_by_role("link", name="The += trap").click()
    shown.get_by_role("button", name="With = it is wrong").click()
    assert "gradient 3.0" in box(shown, "square", "a")
    assert shown.locator("[data-figure=square] .switch").get_by_label("put in its place").is_checked()
    shown.get_by_role("button", name="Back to the right one").click()
    assert "gradient 6.0" in box(shown, "square", "a")


def read_to(shown: Any, name: str) -> Any:
    """Scroll until the sentence stands just above the reading line. Returns it."""
    sentence = shown.get_by_role("button", name=name, exact=True)
    sentence.evaluate("e => scrollTo(0, e.getBoundingClientRect().top + scrollY - 0.38 * innerHeight)")
    settle(shown)
    return sentence


def settle(shown: Any) -> None:
    """Until what was scrolled past has been told: an observer speaks after the frame in which it saw something."""
    shown.evaluate("() => new Promise(d => { let n = 6; const f = () => n-- ? requestAnimationFrame(f) : d(); f(); })")


def count(shown: Any, figure: str) -> int:
    return int(shown.locator(f"[data-figure={figure}] .count b").inner_text())


def test_a_sentence_acts_when_it_is_reached_by_scrolling(show: Open) -> None:
    shown = show("walk-it-backward")
    assert shown.locator(".bound[aria-current]").count() == 0
    for name, step in (("Visit f", 5), ("Visit e", 6), ("Done", 6), ("Visit f", 5)):
        sentence = read_to(shown, name)
        before = shown.evaluate("scrollY")
        assert sentence.get_attribute("aria-current") == "step", name
        assert count(shown, "steps") == step
        assert shown.locator(".bound[aria-current]").count() == 1
        assert shown.evaluate("scrollY") == before
    assert count(shown, "walk") == 3  # what one long scroll has passed over stays
    mark = [
        shown.locator(f".bound{own}").first.evaluate("e => getComputedStyle(e).backgroundColor")
        for own in ("", "[aria-current]")
    ]
    assert mark[0] != mark[1]


def test_nothing_moves_where_the_page_opens_and_in_one_long_scroll_the_last_sentence_counts(show: Open) -> None:
    shown = show("the-plus-equals-trap", viewport={"width": 1280, "height": 3000})
    settle(shown)
    assert shown.locator(".bound[aria-current]").count() == 0
    shown.set_viewport_size(WIDE)
    shown.evaluate("scrollTo(0, document.body.scrollHeight)")
    settle(shown)
    assert shown.inner_text(".bound[aria-current]") == "With ="
    assert shown.locator("[data-figure=diamond] .wrong-pass").count() == 1


def test_scrolling_moves_nothing_that_the_reader_is_at_work_on(show: Open) -> None:
    shown = show("walk-it-backward")
    read_to(shown, "Visit f")
    figure = shown.locator("[data-figure=steps]")
    figure.get_by_role("button", name="To the start").click()
    shown.mouse.wheel(0, 40)
    read_to(shown, "Visit e")
    assert count(shown, "steps") == 1
    shown.mouse.move(100, 300)  # out of the figure: the text leads again
    read_to(shown, "Done")
    assert count(shown, "steps") == 6
    figure.get_by_role("slider").focus()
    shown.keyboard.press("ArrowLeft")
    read_to(shown, "Visit f")
    assert count(shown, "steps") == 5
    figure.get_by_role("slider").press("Home")
    read_to(shown, "Visit e")
    assert count(shown, "steps") == 1


def test_scrolling_leaves_a_run_downhill_alone(show: Open) -> None:
    shown = show("a-neuron-a-network")
    figure = shown.locator("[data-figure=step]")
    assert figure.locator("[data-running]").count() == 0
    figure.get_by_role("button", name="Keep going").evaluate("e => e.click()")
    assert figure.locator("[data-running]").count() == 1
    read_to(shown, "p = 2")
    assert shown.locator(".bound[aria-current]").count() == 0


def test_a_sentence_acts_when_the_keyboard_comes_to_it(show: Open) -> None:
    shown = show("walk-it-backward")
    shown.get_by_role("button", name="The forward pass is done").focus()
    for _ in range(20):
        shown.keyboard.press("Tab")
        if shown.evaluate("document.activeElement.textContent") == "Visit e":
            break
    settle(shown)
    assert shown.inner_text(".bound[aria-current]") == "Visit e"
    assert count(shown, "steps") == 6


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_what_is_reached_moves_only_where_movement_is_wanted(show: Open, motion: str) -> None:
    shown = show("walk-it-backward", reduced_motion=motion)
    shown.evaluate(
        """() => { window.tokens = 0;
            const count = e => { window.tokens += e.matches?.('.token') ? 1 : 0; };
            const seen = all => all.forEach(({ addedNodes }) => addedNodes.forEach(count));
            new MutationObserver(seen).observe(document.body, { childList: true, subtree: true }); }"""
    )
    read_to(shown, "Visit f")
    assert count(shown, "steps") == 5
    assert (shown.evaluate("window.tokens") > 0) == (motion == "no-preference")


def test_what_was_pressed_holds_while_the_page_scrolls_to_its_figure(show: Open) -> None:
    shown = show("walk-it-backward", viewport=NARROW)
    read_to(shown, "Visit e").click()
    settle(shown)
    assert shown.evaluate("scrollY") < shown.locator("[data-figure=steps]").evaluate(
        "e => e.offsetTop + e.offsetHeight"
    )
    assert shown.inner_text(".bound[aria-current]") == "Visit e"
    shown.get_by_role("button", name="Back to the sentence").click()
    settle(shown)
    assert shown.inner_text(".bound[aria-current]") == "Visit e"
    read_to(shown, "Done")
    assert shown.inner_text(".bound[aria-current]") == "Done"


def test_a_slider_moves_the_input_and_the_result_follows(show: Open) -> None:
    shown = show("two-directions")
    figure = shown.locator("[data-figure=slope]")
    figure.get_by_label("Move a", exact=True).fill("4.02")
    assert "a = 4.0" in figure.inner_text()
    assert f"L = {MINUS}2.0" in figure.inner_text()
    picture = figure.locator(".nudge-view svg").bounding_box()
    shown.mouse.click(picture["x"] + picture["width"] / 2, picture["y"] + 40)
    assert "4.0" not in figure.locator(".slide").inner_text()


def test_the_search_is_run_line_by_line(show: Open) -> None:
    shown = show("in-which-order")
    figure = shown.locator("[data-figure=find]")
    seen = [figure.locator("[data-order]").inner_text()]
    button = figure.get_by_role("button", name="Next line")
    while button.get_attribute("aria-disabled") != "true":
        button.click()
        seen.append(figure.locator("[data-order]").inner_text())
    assert seen[0] == "[]"
    assert seen[-1] == "[a, b, c, d]"
    assert figure.locator(".line.now").inner_text().strip() == "order.append(v)"


def test_steps_downhill_are_those_of_python(show: Open, chapters: dict[str, Built]) -> None:
    shown = show("a-neuron-a-network")
    figure = shown.locator("[data-figure=step]")
    figure.get_by_role("button", name="One step downhill").click()
    assert "Steps: 1. loss is 0.25;" in figure.inner_text()
    moons = shown.locator("[data-figure=moons]")
    for _ in range(3):
        moons.get_by_role("button", name="One step downhill").click()
    reading = moons.locator(".descent-view .reading").inner_text()
    last, first = (float(text) for text in re.findall(r"is ([\d.]+); it began at ([\d.]+)\.", reading)[0])
    assert last < first == pytest.approx(chapters["a-neuron-a-network"].figures["moons"].facts["start"], rel=1e-3)


def test_the_gpt_learns_in_the_page_as_it_does_in_python(show: Open, chapters: dict[str, Built]) -> None:
    facts = chapters["a-gpt-from-scalars"].figures["gpt"].facts
    shown = show("a-gpt-from-scalars")
    shown.get_by_role("button", name="Keep going").click()
    shown.locator(".descent-view .reading", has_text=f"Steps: {facts['steps']}.").wait_for()
    reading = shown.locator(".descent-view .reading").inner_text()
    assert f"is {facts['trained']:.4g};" in reading


def test_a_line_of_the_program_shows_its_scalars(show: Open, chapters: dict[str, Built]) -> None:
    facts = chapters["what-a-compiler-sees"].figures["layer"].facts
    shown = show("what-a-compiler-sees")
    counts = []
    for line in shown.locator(".listing button").all():
        line.click()
        counts.append(shown.locator("[data-lit]").count())
        assert f"computes {counts[-1]} scalars" in shown.locator(".listing-view .reading").inner_text()
    assert max(counts) == facts["most"]
    assert sum(counts) == facts["scalars"]


# --- the page -------------------------------------------------------------------------------------


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
    assert shown.inner_text("h1") == "Two rules"
    assert shown.evaluate("document.activeElement.id") == "chapter-title"
    assert shown.evaluate("scrollY") == 0
    shown.go_back()
    assert shown.inner_text("h1") == "Two directions"


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
    shown.wait_for_function("document.querySelector('h1').innerText === 'The += trap'")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_a_telephone(show: Open, name: str, theme: str) -> None:
    shown = show(name, viewport=NARROW, color_scheme=theme)
    assert shown.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    paper = shown.evaluate("getComputedStyle(document.querySelector('.lesson')).backgroundColor")
    assert (sum(int(part) for part in re.findall(r"\d+", paper)[:3]) > 380) == (theme == "light")


def test_on_a_telephone_one_comes_back_from_the_figure_to_the_sentence(show: Open) -> None:
    shown = show("walk-it-backward", viewport=NARROW)
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


def test_the_theme_may_be_chosen(show: Open) -> None:
    shown = show("two-directions", color_scheme="light")
    button = shown.locator(".lesson-top button")
    button.click()
    button.click()
    assert shown.get_attribute(".lesson", "data-theme") == "dark"
    assert shown.locator(".figure").first.get_attribute("data-theme") == "dark"
    again = show("two-directions", context=shown.context)
    assert again.get_attribute(".lesson", "data-theme") == "dark"


# --- for teachers ---------------------------------------------------------------------------------


def test_an_assignment_opens_a_chapter_with_a_program_and_a_step(show: Open) -> None:
    shown = show("chapter=3&program=u = 2; v = 5; s = u * v&step=2&set=u:7")
    assert shown.inner_text("h1") == "Walk it backward"
    assert "data 7.0" in box(shown, "walk", "u")
    assert shown.locator("[data-figure=walk] .count b").inner_text() == "2"
    assert "data 35.0" in box(shown, "walk", "s")


def test_an_assignment_may_name_its_figure_and_be_embedded(show: Open) -> None:
    shown = show("chapter=walk-it-backward&figure=fresh&set=x:10&embed=1")
    assert "data 10.0" in box(shown, "fresh", "x")
    assert shown.locator(".lesson-top, .chapters").count() == 0


def test_what_an_assignment_asks_of_a_figure_is_left_alone_by_reading(show: Open) -> None:
    shown = show("chapter=3&step=2")
    read_to(shown, "Begin at f")
    assert count(shown, "walk") == 2
    read_to(shown, "Visit f")
    assert count(shown, "steps") == 5
    assert count(shown, "walk") == 2


def test_an_assignment_says_how_many_digits(show: Open) -> None:
    context = show("two-directions").context
    for digits, written in (("2", "17.1"), ("6", "17.0736"), ("all", "17.0736"), ("0", "17.07"), ("x", "17.07")):
        shown = show(f"chapter=4&digits={digits}&figure=diamond&set=a:2.3456", context=context)
        account = shown.inner_text("[data-figure=diamond] .account[data-account='0']").split()
        assert account[1][: len(written)] == written, digits
        assert digits == "all" or account[1] == written, digits


def test_a_link_chooses_colours_for_its_page_alone(show: Open) -> None:
    shown = show("chapter=4&theme=dark", color_scheme="light")
    assert shown.get_attribute(".lesson", "data-theme") == "dark"
    assert shown.locator(".figure").first.get_attribute("data-theme") == "dark"
    again = show("chapter=4", context=shown.context)
    assert again.get_attribute(".lesson", "data-theme") == "auto"


def test_an_assignment_in_the_address_is_read_without_leaving_the_page(show: Open) -> None:
    shown = show("two-rules")
    shown.evaluate("location.hash = 'chapter=3&embed=1'")
    shown.wait_for_selector("[data-figure=walk]")
    assert shown.locator(".lesson-top").count() == 0


def test_gradients_that_an_assignment_asks_for_are_covered(show: Open) -> None:
    shown = show("chapter=3&answers=hide")
    fresh = shown.locator("[data-figure=fresh]")
    fresh.get_by_role("slider").press("End")
    assert "gradient 9.0" not in box(shown, "fresh", "p")
    assert "9.0" not in fresh.inner_text()
    own = show("walk-it-backward", context=shown.context)
    own.locator("[data-figure=fresh]").get_by_role("slider").press("End")
    assert "gradient 9.0" in box(own, "fresh", "p")


def test_an_assignment_can_hide_the_answers(show: Open) -> None:
    shown = show("chapter=3&answers=hide")
    type_in(shown.locator("[data-question=walk-a]"), [99.0])
    section = shown.locator("[data-question=walk-a]")
    assert "kept" in verdict(section)
    assert "Not yet" not in section.inner_text()
    assert section.get_by_role("button", name="hint").count() == 0
    type_in(shown.locator("[data-question=walk-c]"), [4.0])
    type_in(shown.locator("[data-question=paper]"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    cost = shown.locator("[data-question=cost]")
    cost.get_by_label("once for each input").check()
    cost.get_by_role("button", name="Check").click()
    assert "All questions answered" in shown.inner_text(".end")
    sheet = shown.locator(".sheet textarea").input_value()
    assert sheet.splitlines() == [
        "Walk it backward",
        "1. 99.0 (tries: 1)",
        "2. 4.0 (tries: 1)",
        "3. p.grad = 1.0, q.grad = 2.0, x.grad = 3.0, y.grad = 4.0, z.grad = 5.0, w.grad = 6.0 (tries: 1)",
        "4. once for each input (tries: 1)",
    ]
    own = show("walk-it-backward", context=shown.context)
    assert "right" not in own.locator("[data-question=walk-c] h3").inner_text()  # an assignment is apart
