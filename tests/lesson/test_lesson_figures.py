"""The lesson's figures in a real browser, and the sentences that move them."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from support.lesson_page import LOW, NAMES, NARROW, WIDE, Open, box, count, read_to, settle, type_in

from retrograd import Value
from retrograd.lesson.course.build import Built
from retrograd.lesson.course.sums import evaluate

pytestmark = [pytest.mark.native, pytest.mark.long]  # the last chapters show compiled programs

MINUS = "\N{MINUS SIGN}"


@pytest.mark.parametrize("name", NAMES)
def test_every_bound_sentence_puts_its_figure_where_it_is(show: Open, chapters: dict[str, Built], name: str) -> None:
    shown = show(name)
    sentences = shown.locator("button.bound").all()
    for sentence in sentences:
        target = sentence.evaluate("e => JSON.parse(e.dataset.go)")
        sentence.click()
        figure = shown.locator(f"[data-figure={target['figure']}]")
        count, last = re.findall(r"\d+", figure.locator(".count").inner_text())
        assert count == (last if target["step"] == "end" else str(target["step"] + 1))
        assert sentence.get_attribute("aria-current") == "step"
        assert figure.locator(".wrong-pass").count() == (1 if "wrong" in target else 0)
        if "node" in target and figure.locator(f"[data-node='{target['node']}']").count():
            assert figure.locator(f"[data-node='{target['node']}'][aria-pressed=true]").count() == 1
    assert len(sentences) >= (1 if name not in ("write-your-own", "what-a-compiler-sees") else 0)


#: What the text says of an input in a wrong pass, and after which sentence the figure shows it.
CLAIMS = [
    ("the-plus-equals-trap", "With = it is wrong", "square", "a", "square.assign.a"),
    ("the-plus-equals-trap", "With =", "diamond", "a", "diamond.assign.a"),
    ("in-which-order", "Now the wrong order d, b, c", "inner", "a", 'inner.visited("d b c a").a'),
    ("in-which-order", "the search comes to b three times", "again", "a", 'again.visited("d c b b b").a'),
]


@pytest.mark.parametrize(("name", "sentence", "figure", "leaf", "claim"), CLAIMS)
def test_a_wrong_pass_ends_with_the_number_that_its_sentence_claims(
    show: Open, chapters: dict[str, Built], name: str, sentence: str, figure: str, leaf: str, claim: str
) -> None:
    source = files("retrograd.lesson").joinpath("chapters", chapters[name].chapter.place.file).read_text("utf-8")
    assert claim in source
    number = float(evaluate(claim, chapters[name].figures))
    shown = show(name)
    for question in shown.locator("[data-question=early]").all():
        type_in(question, [2.0])  # until then the number is covered
    shown.get_by_role("button", name=sentence, exact=True).click()
    assert f"gradient {number}" in box(shown, figure, leaf)


def test_without_a_visited_set_the_search_of_the_chapter_visits_b_three_times(chapters: dict[str, Built]) -> None:
    again = chapters["in-which-order"].figures["again"]
    order: list[Value] = []

    def visit(v: Value) -> None:
        for child in v._children:
            visit(child)
        order.append(v)

    visit(again.root)
    names = [own.label for own in reversed(order) if own.label]  # the constant 2 has none
    assert names == ["d", "c", "b", "a", "b", "a", "b", "a"]
    assert again.wrong([name for name in names if name != "a"])["a"] == 78.0


def test_a_sentence_restores_the_inputs_that_the_reader_has_changed(show: Open) -> None:
    shown = show("a-neuron-a-network")
    figure = shown.locator("[data-figure=step]")
    for _ in range(3):
        figure.get_by_role("button", name="One step downhill").click()
    assert "Steps: 3." in figure.inner_text()
    read_to(shown, "p = 2")  # what is merely read leaves them alone
    assert "Steps: 3." in figure.inner_text()
    shown.get_by_role("button", name="The backward pass", exact=True).click()
    assert "data 0.5, gradient 4.0" in box(shown, "step", "w")
    assert "Steps: 0. loss is 1;" in figure.inner_text()
    read_to(shown, "Backward through tanh")
    read_to(shown, "p = 2")
    assert count(shown, "step") == 5


def test_a_sentence_sets_numbers_and_wrong_passes(show: Open) -> None:
    shown = show("two-rules")
    shown.get_by_role("button", name="open", exact=True).click()
    assert "data 2.0, gradient 1.0" in box(shown, "gate", "x")
    shown.get_by_role("button", name="closed", exact=True).click()
    assert "gradient 0.0" in box(shown, "gate", "x")
    shown.get_by_role("link", name="The += trap").click()
    shown.get_by_role("button", name="With = it is wrong").click()
    assert "gradient 3.0" in box(shown, "square", "a")
    assert shown.locator("[data-figure=square] .switch").get_by_label("overwrites").is_checked()
    shown.get_by_role("button", name="Back to the right one").click()
    assert "gradient 6.0" in box(shown, "square", "a")


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
    settle(shown)
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
    shown = show("walk-it-backward", viewport=LOW)
    read_to(shown, "Visit e").click()
    settle(shown)
    assert shown.evaluate("scrollY") < shown.locator("[data-figure=steps]").evaluate(
        "e => e.querySelector('.held').getBoundingClientRect().bottom + scrollY"
    )
    assert shown.inner_text(".bound[aria-current]") == "Visit e"
    shown.get_by_role("button", name="Back to the sentence").click()
    settle(shown)
    assert shown.inner_text(".bound[aria-current]") == "Visit e"
    read_to(shown, "Done")
    assert shown.inner_text(".bound[aria-current]") == "Done"


# Where there is one column, the graph and its step stay in view above the text.


@pytest.mark.parametrize("window", [NARROW, {"width": 768, "height": 1024}])
def test_the_graph_stays_in_view_while_its_text_scrolls(show: Open, window: dict[str, int]) -> None:
    shown = show("the-plus-equals-trap", viewport=window)
    held = shown.locator("[data-figure=diamond] .held")
    text = shown.locator("section", has=held).locator(".text")
    for part in text.locator("> *").all()[1:]:  # the first paragraph may stand above the graph
        place = "(e, y) => scrollTo(0, e.getBoundingClientRect().top + scrollY - y * innerHeight)"
        part.evaluate(place, 0.6)
        box = held.bounding_box()
        assert abs(box["y"]) < 1
        assert box["height"] < 0.55 * window["height"]
        assert held.get_by_role("button", name="Step back").is_visible()
    shown.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert held.bounding_box()["y"] < 0  # it goes with its text


def test_on_a_narrow_page_the_first_paragraph_stands_above_its_figure(show: Open) -> None:
    shown = show("two-rules", viewport=NARROW)
    section = shown.locator("section.with-figure").first
    heading, first, held = (section.locator(part).first.bounding_box() for part in ("h2", ".text > p", ".held"))
    assert heading["y"] < first["y"] < first["y"] + first["height"] <= held["y"] < heading["y"] + 500


def test_on_a_narrow_page_a_first_sentence_that_moves_the_graph_stands_right_below_it(show: Open) -> None:
    shown = show("a-gpt-from-scalars", viewport=NARROW)
    section = shown.locator("section", has=shown.locator("[data-figure=gpt]"))
    first, held, beside = (section.locator(part).first.bounding_box() for part in (".text > p", ".held", ".beside"))
    assert held["y"] + held["height"] <= first["y"] < first["y"] + first["height"] <= beside["y"]


def test_a_sentence_below_the_graph_acts_when_it_is_reached(show: Open) -> None:
    shown = show("walk-it-backward", viewport=NARROW)
    for name, step in (("Visit f", 5), ("Visit e", 6), ("Visit f", 5)):
        sentence = shown.get_by_role("button", name=name, exact=True)
        sentence.evaluate("e => scrollTo(0, e.getBoundingClientRect().top + scrollY - 0.68 * innerHeight)")
        settle(shown)
        assert sentence.get_attribute("aria-current") == "step", name
        assert count(shown, "steps") == step
        held = shown.locator("[data-figure=steps] .held").bounding_box()
        assert held["y"] + held["height"] < sentence.bounding_box()["y"]
    before = shown.evaluate("scrollY")
    shown.get_by_role("button", name="Visit e", exact=True).evaluate("e => e.click()")
    assert count(shown, "steps") == 6
    assert shown.evaluate("scrollY") == before  # both are in view: nothing moves
    assert shown.get_by_role("button", name="Back to the sentence").count() == 0


def test_nothing_that_the_keyboard_comes_to_is_under_the_graph(show: Open) -> None:
    shown = show("the-plus-equals-trap", viewport=NARROW)
    seen = 0
    for key in ("Tab", "Shift+Tab"):
        for _ in range(60):
            shown.keyboard.press(key)
            hidden = shown.evaluate(
                """() => {
                    const at = document.activeElement, box = at.getBoundingClientRect();
                    if (!at.closest('.text')) return null;
                    const over = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                    return over && (at.contains(over) || over.contains(at)) ? false : at.outerHTML;
                }"""
            )
            assert not hidden
            seen += hidden is False
    assert seen > 20


def test_each_figure_has_a_switch_of_its_own(show: Open) -> None:
    shown = show("the-plus-equals-trap")
    for figure in ("square", "diamond"):
        assert shown.locator(f"[data-figure={figure}]").get_by_label("is added").is_checked()
    shown.locator("[data-figure=square]").get_by_label("overwrites").check()
    assert shown.locator("[data-figure=diamond]").get_by_label("is added").is_checked()


def test_an_operation_over_many_operands_has_a_short_sentence(show: Open) -> None:
    shown = show("a-neuron-a-network")
    said = shown.locator("[data-figure=moons] .said").inner_text()
    assert re.search(r"mean\(\w+, \w+, \w+, … 12 more …, \w+\) = ", said)
    assert len(said) < 200


def test_a_slider_moves_the_input_and_the_result_follows(show: Open) -> None:
    shown = show("two-directions")
    figure = shown.locator("[data-figure=slope]")
    figure.get_by_label("Move a", exact=True).fill("4.02")
    assert "a = 4.0" in figure.inner_text()
    assert f"L = {MINUS}2.0" in figure.inner_text()
    picture = figure.locator(".nudge-view svg").bounding_box()
    shown.mouse.click(picture["x"] + picture["width"] / 2, picture["y"] + 40)
    assert "4.0" not in figure.locator(".slide").inner_text()
    shown.locator("[data-figure=nudge]").get_by_label("Move a", exact=True).fill("2.01")  # the number of the text
    assert "L = 3.97" in shown.locator("[data-figure=nudge]").inner_text()


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
        number = re.match(r"\d+", line.inner_text())
        said = f"Line {number[0]} computes {counts[-1]} scalars" if number else "This line computes no scalar"
        assert said in shown.locator(".listing-view .reading").inner_text()
    assert max(counts) == facts["most"]
    assert sum(counts) == facts["scalars"]


def test_the_figure_of_the_gpt_shows_the_contributions_and_the_path_of_its_text(
    show: Open, chapters: dict[str, Built]
) -> None:
    facts = chapters["a-gpt-from-scalars"].figures["gpt"].facts
    shown = show("a-gpt-from-scalars")
    figure = shown.locator("[data-figure=gpt]")
    rows = figure.locator(".account tr:has(.from)").all_inner_texts()
    assert [float(row.split("\t")[2].replace(MINUS, "-")) for row in rows] == pytest.approx(facts["amounts"], rel=1e-3)
    text = " ".join(shown.inner_text(".body").split())
    paths = f"{facts['paths'] / 1e6:.0f} million paths"
    for said in (paths, f"{facts['factors']} factors"):
        assert said in text
        assert said in figure.locator(".why").inner_text()
    assert figure.locator(".why .path > li").count() == facts["factors"] + 1
    assert figure.locator(".why .path .formula").first.inner_text().startswith("= ")


@pytest.mark.parametrize(
    ("name", "figure"),
    [("a-gpt-from-scalars", "gpt"), ("real-work", "decay"), ("real-work", "bundle")],
)
def test_a_run_downhill_has_as_many_steps_as_its_text_says(chapters: dict[str, Built], name: str, figure: str) -> None:
    scenes = chapters[name].payload()["scenes"]
    options = next(scene["figure"]["options"] for scene in scenes if (scene["figure"] or {}).get("name") == figure)
    assert int(options["most"]) == chapters[name].figures[figure].facts["steps"]


def test_the_learning_rate_that_a_question_asks_about_may_be_tried(show: Open, chapters: dict[str, Built]) -> None:
    shown = show("a-neuron-a-network")
    figure = shown.locator("[data-figure=step]")
    figure.get_by_label("Learning rate").select_option("0.3")
    figure.get_by_role("button", name="One step downhill (0.3").click()
    loss = chapters["a-neuron-a-network"].figures["step"].downhill(0.3, "w", "b").node("loss").data
    assert f"loss is {loss:.4g};" in figure.inner_text()
    assert shown.locator("[data-figure=moons]").get_by_label("Learning rate").count() == 0


def test_a_nudge_through_two_nodes_shows_the_numbers_of_its_text(show: Open) -> None:
    shown = show("walk-it-backward")
    shown.get_by_role("button", name="Nudge a by 0.01").click()
    assert "data -0.99" in box(shown, "steps", "e").replace(MINUS, "-")
    assert "data -9.9" in box(shown, "steps", "f").replace(MINUS, "-")
    assert "e moves by 1 · 0.01 = 0.01." in " ".join(shown.inner_text(".body").split())
