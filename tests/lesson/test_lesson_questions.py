"""The lesson's questions in a real browser: every one with its right and its wrong answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.lesson_page import NAMES, Open, box, choose, type_in, verdict

from retrograd.lesson.course.build import Built
from retrograd.lesson.course.questions import Question

pytestmark = [pytest.mark.native, pytest.mark.long]  # the last chapters show compiled programs


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
    for given, says in ((1.09, "Nearly."), (0.33, "the probability itself")) if own.name == "blind" else ():
        type_in(section, [given])
        assert says in verdict(section)
    type_in(section, [1234.5 for _ in right])
    assert said(own.otherwise) in verdict(section)
    section.locator("input").first.fill("wat")
    section.get_by_role("button", name="Check").click()
    assert "“wat” is not a number" in verdict(section)
    section.locator("input").first.fill(" ")
    section.get_by_role("button", name="Check").click()
    assert verdict(section).startswith("Not yet. Type a number into the field, such as 2, -0.5 or 1/3.")
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


def test_what_is_no_number_does_not_count_as_a_try(show: Open) -> None:
    section = show("walk-it-backward").locator("[data-question=walk-a]")
    for typed in ("", "wat", "1/2/3"):
        section.locator("input").fill(typed)
        section.get_by_role("button", name="Check").click()
        assert "number" in verdict(section)
    assert section.get_by_role("button", name="Show the answer").count() == 0


def test_what_was_wrong_with_one_graph_is_not_said_of_the_next(show: Open) -> None:
    section = show("in-which-order").locator("[data-question=game]")
    for order in ("af", "fa"):
        section.get_by_role("button", name="Start over").click()
        for name in order:
            section.locator("[data-place]").get_by_text(name, exact=True).click()
        section.get_by_role("button", name="Check").click()
        assert verdict(section).startswith("Not yet. a was visited before f") == (order == "af")
    assert "Graph 1 of 6 is right." in section.inner_text()
    assert verdict(section) == ""


@pytest.mark.parametrize(
    ("before", "order", "says"),
    [
        (
            (),
            "af",
            "the share of f, 3 · 1 + 3 · 1 = 6, came too late. a.grad was 0 when it was read; the right number is 6.",
        ),
        (("fa", "dcba", "cba"), "dbca", "the share of c, 6 · 1 + 6 · 1 = 12, came too late. a.grad was 2 when"),
    ],
)
def test_a_wrong_order_is_told_all_that_came_too_late(
    show: Open, before: tuple[str, ...], order: str, says: str
) -> None:
    section = show("in-which-order").locator("[data-question=game]")
    for names in (*before, order):
        place_all(section, [*names])
    assert says in verdict(section)


def test_a_wrong_answer_after_the_right_one_has_one_mark(show: Open) -> None:
    section = show("walk-it-backward").locator("[data-question=walk-a]")
    type_in(section, [10.0])
    assert "✓ right" in section.locator("h3").inner_text()
    type_in(section, [9.0])
    assert verdict(section).startswith("Not yet.")
    assert "right" not in section.locator("h3").inner_text()


@pytest.mark.parametrize(
    ("name", "question", "sentence", "figure", "leaf", "answer"),
    [
        ("in-which-order", "early", "Now the wrong order d, b, c", "inner", "a", 2.0),
        ("a-neuron-a-network", "w1", "Then the products swap", "neuron", "w1", 1.0),
    ],
)
def test_a_figure_does_not_give_away_what_is_asked_beside_it(
    show: Open, name: str, question: str, sentence: str, figure: str, leaf: str, answer: float
) -> None:
    shown = show(name)
    section = shown.locator(f"[data-question={question}]")
    shown.get_by_role("button", name=sentence, exact=True).click()
    assert "gradient" not in box(shown, figure, leaf)
    assert f"{leaf}.grad\n·" in shown.locator(f"[data-figure={figure}]").inner_text() or name != "in-which-order"
    type_in(section, [answer])
    assert verdict(section).startswith("Right.")
    assert float(box(shown, figure, leaf).rpartition("gradient ")[2]) == pytest.approx(answer)


def test_the_right_pass_of_a_figure_is_not_covered_with_the_wrong_one(show: Open) -> None:
    shown = show("in-which-order")
    shown.get_by_role("button", name="The right order", exact=True).click()
    assert "gradient 26.0" in box(shown, "inner", "a")


def test_a_number_that_follows_from_a_wrong_one_is_told_and_an_empty_field_is_marked(show: Open) -> None:
    section = show("walk-it-backward").locator("[data-question=paper]")
    type_in(section, [3.0, -6.0, -6.0, 9.0, -6.0, -6.0])
    assert verdict(section).count("This follows rightly from your p.grad. Mend p.grad first.") == 2
    section.locator("input").nth(3).fill("")
    section.get_by_role("button", name="Check").click()
    assert section.locator("input[aria-invalid=true]").evaluate_all("all => all.map(e => e.ariaLabel)") == ["y.grad"]
    assert section.locator("label.wrong").count() == 1
