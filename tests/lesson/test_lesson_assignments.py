"""Links that open the lesson at a place, for teachers."""

from __future__ import annotations

import pytest
from support.lesson_page import Open, box, count, read_to, type_in, verdict

pytestmark = pytest.mark.native  # the last chapters show compiled programs


def test_an_assignment_opens_a_chapter_with_a_program_and_a_step(show: Open) -> None:
    shown = show("chapter=3&program=u = 2; v = 5; s = u * v&step=2&set=u:7")
    assert shown.inner_text("h1") == "Walk it backward"
    assert "data 7.0" in box(shown, "walk", "u")
    assert shown.locator("[data-figure=walk] .count b").inner_text() == "2"
    assert "data 35.0" in box(shown, "walk", "s")


def test_an_assignment_shows_a_program_of_its_own_after_its_forward_pass(show: Open) -> None:
    shown = show("chapter=3&program=u = 2; v = 5; s = u * v&step=forward")
    assert count(shown, "walk") == 2
    assert box(shown, "walk", "s").endswith("data 10.0")
    caption = shown.locator("[data-figure=walk] figcaption").inner_text()
    assert caption == "A program from the link: s = u * v. The text speaks of another one."
    shown.get_by_role("button", name="Begin at f").click()
    assert count(shown, "walk") == 2
    assert shown.locator(".ignored, .problem").count() == 0


@pytest.mark.parametrize(
    ("link", "place", "says"),
    [
        ("chapter=3&program=u = 2; s = u * * 3", "[data-figure=walk] .problem", "s"),
        ("chapter=3&set=q:7", "[data-figure=walk] .problem", "The link sets q, and this figure has no such input."),
        ("chapter=3&step=end", ".ignored", "step=end"),
        ("chapter=3&step=77", "[data-figure=walk] .problem", "The link asks for step 77, and this figure has 6 steps."),
        ("chapter=3&anwers=hide", ".ignored", "anwers=hide"),
        ("chapter=3&answers=", ".ignored", "answers="),
        ("chapter=3&embed=figure&foo=1", ".ignored", "foo=1"),
        ("chapter=30", ".ignored", "chapter=30"),
        ("chapter=3&figure=frech&digits=99&theme=pink", ".ignored", "digits=99, figure=frech, theme=pink"),
    ],
)
def test_a_link_that_cannot_be_followed_is_told(show: Open, link: str, place: str, says: str) -> None:
    assert says in show(link).locator(place).inner_text()


def test_a_page_opened_without_a_link_complains_of_none(show: Open) -> None:
    shown = show("")
    assert shown.inner_text("h1") == "Two directions"
    assert shown.locator(".warning, .problem").count() == 0


def test_a_step_out_of_range_leaves_the_figure_where_it_was(show: Open) -> None:
    assert count(show("chapter=3&step=77"), "walk") == count(show("chapter=3"), "walk")


def test_a_program_without_a_chapter_is_for_the_one_that_opens(show: Open) -> None:
    assert "data 10.0" in box(show("program=u = 2; v = 5; s = u * v&step=last"), "product", "s")


def test_an_assignment_may_name_its_figure_and_be_embedded(show: Open) -> None:
    shown = show("chapter=walk-it-backward&figure=fresh&set=x:10&embed=1")
    assert "data 10.0" in box(shown, "fresh", "x")
    assert shown.locator(".lesson-top, .chapters").count() == 0


def test_a_figure_can_stand_alone_and_be_led_by_its_address(show: Open) -> None:
    shown = show("chapter=walk-it-backward&figure=steps&embed=figure&theme=dark")
    assert shown.locator("h1, .text").count() == 0
    assert shown.get_attribute(".lesson", "data-theme") == "dark"
    shown.evaluate("""location.hash = 'embed=figure&go={"figure":"steps","step":"end"}'""")
    shown.get_by_text("6 of 6", exact=False).wait_for(timeout=5000)
    assert "gradient 10.0" in box(shown, "steps", "a")


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


@pytest.mark.parametrize("word", ["hidden", "locked"])
def test_the_words_of_the_explorers_links_hide_the_answers_too(show: Open, word: str) -> None:
    shown = show(f"chapter=3&answers={word}")
    type_in(shown.locator("[data-question=walk-a]"), [99.0])
    assert "kept" in verdict(shown.locator("[data-question=walk-a]"))


def test_an_assignment_takes_no_answer_that_is_no_number(show: Open) -> None:
    section = show("chapter=3&answers=hide").locator("[data-question=walk-a]")
    section.locator("input").fill("wat")
    section.get_by_role("button", name="Check").click()
    assert "“wat” is not a number" in verdict(section)
    assert "answered" not in section.locator("h3").inner_text()


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
