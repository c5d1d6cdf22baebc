"""The explorer in a real browser: every interaction, as a person would make it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.browser import Page, Show

import retrograd as rg
from retrograd import Value, explore

pytestmark = pytest.mark.native  # the page is the same, whichever engine made the trace

#: As the page writes them.
MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
NEURON = {"x1": 2.0, "x2": 0.0, "w1": -3.0, "w2": 1.0, "b": 6.8813735870195432}
NEURON_TEXT = "tanh(x1*w1 + x2*w2 + b)"


def boxes(page: Page) -> dict[str, str]:
    """What the boxes say to a screen reader, by name."""
    labels = page.page.eval_on_selector_all(".box[data-node]", "all => all.map(e => e.getAttribute('aria-label'))")
    return {re.split(r"[ ,]", label.removeprefix("input "))[0]: label for label in labels}


@pytest.fixture
def product(show: Show) -> Page:
    """(a + b) * c, as in the lesson."""
    return show("(a + b) * c", values={"a": 2.0, "b": -3.0, "c": 10.0})


@pytest.fixture
def diamond(show: Show) -> Page:
    page = show("a*b", values={"a": 1.0, "b": 1.0})
    page.open("b = a + 1; c = a * 3; d = b * c", a=2.0)
    return page


# --- the steps ------------------------------------------------------------------------------------


def test_steps_go_forward_and_back_as_in_the_lesson(product: Page) -> None:
    product.press("Home")
    assert "a = 2.0, b = -3.0, c = 10.0" in product.text(".sentence")
    assert "not computed yet" in boxes(product)["d"]
    product.press("ArrowRight")
    assert "d = a + b = 2.0 + -3.0 = -1.0" in product.text(".sentence")
    assert boxes(product)["d"] == "d = a + b, data -1.0"
    product.press("Shift+ArrowRight", "ArrowRight")
    assert product.text(".phase") == "seed"
    assert "gradient 1.0" in boxes(product)["L"]
    assert "gradient 0.0" in boxes(product)["a"]
    product.press("ArrowRight")
    assert "gradient 10.0" in boxes(product)["d"]
    assert "gradient -1.0" in boxes(product)["c"]
    product.press("ArrowRight")
    assert "gradient 10.0" in boxes(product)["a"]
    product.press("ArrowLeft")
    assert "gradient 0.0" in boxes(product)["a"]  # true time travel: numbers at step k are step k's
    product.press("End", "Home", "Shift+ArrowRight", "Shift+ArrowRight")
    assert product.step == product.steps - 1


def test_play_runs_to_the_end_and_pauses(show: Show) -> None:
    page = show("a*b + b*c + c*a + a*a + b*b + c*c", values={"a": 1.0, "b": 2.0, "c": 3.0})
    page.press("Home")
    page.page.select_option(".speed select", "8")
    page.page.click("button[aria-label=Play]")
    page.page.wait_for_selector("button[aria-label=Pause]")
    page.wait("explorer.state.step > 2")
    page.page.click("button[aria-label=Pause]")
    paused = page.step
    page.page.wait_for_timeout(300)
    assert page.step == paused
    page.page.click("button[aria-label=Play]")
    page.page.wait_for_selector("button[aria-label=Play]")
    assert page.step == page.steps - 1


def test_the_slider_scrubs(product: Page) -> None:
    slider = product.page.locator("input[type=range]")
    slider.fill("2")
    assert product.step == 2
    assert "step 3 of" in slider.get_attribute("aria-valuetext")


# --- what others get wrong ------------------------------------------------------------------------


def test_every_operand_occurrence_is_an_edge_of_its_own(show: Show) -> None:
    page = show("a*a", values={"a": 3.0})
    assert page.page.locator(".wire").count() == 2
    paths = page.page.eval_on_selector_all(".wire .line", "all => all.map(e => e.getAttribute('d'))")
    assert len(set(paths)) == 2
    assert "gradient 6.0" in boxes(page)["a"]
    page.press("l")
    rows = page.page.locator("[data-account='0'] tbody tr").all_inner_texts()
    assert len(rows) == 2
    assert [re.split(r"\s+", row)[-1] for row in rows] == ["3.0", "6.0"]


def test_a_value_used_twice_is_one_node(diamond: Page) -> None:
    assert diamond.page.locator(".box.leaf").count() == 1
    diamond.press("End")
    assert "gradient 15.0" in boxes(diamond)["a"]
    diamond.press("l")
    assert [row.split()[-1] for row in diamond.page.locator("[data-account='0'] tbody tr").all_inner_texts()] == [
        "9.0",
        "15.0",
    ]


def test_equal_constants_stay_two(show: Show) -> None:
    page = show("(a + 2) * 2", values={"a": 1.0})
    assert page.page.locator(".box.constant").count() == 2


def test_numbers_of_a_step_are_final_at_once(show: Show) -> None:
    page = show(NEURON_TEXT, values=NEURON, reduced_motion="no-preference")
    page.press("Home", "Shift+ArrowRight", "ArrowRight")
    tokens, said = page.forward()
    assert tokens == 1
    page.wait("document.querySelectorAll('.token').length === 0")
    assert page.page.text_content(".boxes") == said


# --- looking at things ----------------------------------------------------------------------------


def test_a_node_shows_its_sum_and_its_rule(product: Page) -> None:
    product.page.click("[data-node='4']")
    panel = product.text("#panel")
    assert "L = d * c = -1.0 * 10.0 = -10.0" in panel
    assert "The swapper" in panel
    product.page.click("[data-node='3']")
    assert "The distributor" in product.text("#panel")
    assert "d.grad += c.data * L.grad = 10.0 * 1.0 = 10.0" in product.text("#panel")


def test_an_edge_shows_local_times_upstream_and_the_nudge_check(product: Page) -> None:
    product.page.locator("[data-edge='2']").dispatch_event("click")
    panel = product.text("#panel")
    for part in ("local", "10.0", "upstream", "1.0", "contribution", "d.grad += c.data * L.grad", "Nudge check", "10"):
        assert part in panel


def test_the_rule_card_speaks_of_the_operands_by_name(show: Show) -> None:
    page = show("tanh(x1*w1) + 2", values={"x1": 2.0, "w1": 0.3})
    page.run("explorer.select({ kind: 'node', id: explorer.state.run.graph.find('a') })")
    assert "a = x1 \N{MULTIPLICATION SIGN} w1" in page.text(".rule")
    assert "x1 gets w1 \N{MULTIPLICATION SIGN} G" in page.text(".rule")
    assert "a.grad" in page.text(".rule .story")


def test_every_view_follows_the_one_cursor(product: Page) -> None:
    product.press("Home", "ArrowRight", "w")
    assert product.text(".waterfall li.now") == "d = a + b = 2.0 + -3.0 = -1.0"
    product.page.click(".waterfall .backward li:nth-child(2) button")
    assert product.step == 4
    assert product.page.locator(".box.now").get_attribute("data-node") == "4"
    product.press("l")
    assert product.page.locator(".ledger tr.now").count() == 2
    product.page.click("[data-account='0'] tbody tr")
    assert product.step == 5
    product.press("t")
    assert "a" in product.text(".bars")


def test_the_thermometer_ranks_signed_influence(show: Show) -> None:
    page = show("a*b + c", values={"a": 2.0, "b": -3.0, "c": 10.0})
    page.press("t")
    rows = page.page.locator(".bars button").all_inner_texts()
    assert [re.split(r"\s+", row.strip()) for row in rows] == [["a", MINUS + "3"], ["b", "+2"], ["c", "+1"]]
    assert "lower a, raise b or raise c; the first does most" in page.text(".reading")
    page.page.click(".bars li:first-child button")
    assert page.page.locator(".box.chosen").get_attribute("data-node") == "0"


def test_the_formula_can_be_clicked_and_copied(product: Page) -> None:
    product.press("m")
    assert product.text(".whole").replace("\n", "") == "L = (a + b) · c"
    product.page.click(".whole [data-part='1']")
    assert product.page.locator(".box.chosen").get_attribute("data-node") == "1"
    product.page.click(".whole [data-part='3']", position={"x": 2, "y": 8})
    assert "d = a + b" in product.text(".latex")
    assert product.page.locator("math mfrac").count() == 2
    product.click("Copy this line")
    product.page.wait_for_selector("text=/Copied|Select the text/")


def line_of(a: Value, b: Value) -> Value:
    c = a * b
    return c + a


def test_the_source_line_is_shown(show: Show) -> None:
    page = show(explore(line_of, a=2.0, b=3.0))
    page.press("Home", "ArrowRight")
    assert page.text(".source code") == "c = a * b"
    assert "in line_of" in page.text(".source small")


# --- changing things ------------------------------------------------------------------------------


def test_editing_an_input_computes_everything_again_and_undo_brings_it_back(product: Page) -> None:
    places = product.page.eval_on_selector_all(".box", "all => all.map(e => e.getAttribute('transform'))")
    product.page.fill("[data-leaf='0']", "5")
    product.page.press("[data-leaf='0']", "Enter")
    product.page.keyboard.press("Tab")
    assert "data 20.0" in boxes(product)["L"]
    assert "gradient 2.0" in boxes(product)["c"]
    assert product.page.eval_on_selector_all(".box", "all => all.map(e => e.getAttribute('transform'))") == places
    product.page.focus(".explorer")
    product.press("Control+z")
    assert "data -10.0" in boxes(product)["L"]
    product.press("Control+y")
    assert "data 20.0" in boxes(product)["L"]


def test_what_has_no_value_is_refused_with_a_sentence(show: Show) -> None:
    page = show("a / b", values={"a": 1.0, "b": 2.0})
    page.page.fill("[data-leaf='1']", "0")
    page.page.keyboard.press("Tab")
    assert "division by zero" in page.text("[role=alert]")
    assert "data 0.5" in boxes(page)["L"]
    page.page.fill("[data-leaf='1']", "soup")
    page.page.keyboard.press("Tab")
    assert "not a number" in page.text("[role=alert]")


def test_any_expression_can_be_typed(product: Page) -> None:
    product.page.fill(".expression input", "x = 2; y = sin(x); y * y + q")
    product.page.press(".expression input", "Enter")
    assert set(boxes(product)) >= {"x", "y", "q", "L"}
    product.page.fill(".expression input", "a +* b")
    product.page.press(".expression input", "Enter")
    assert "is expected" in product.text("[role=alert]")


PRESETS = {"(a + b) · c": "f", "One neuron": "o", "a · a": "f", "The diamond": "d", "Attention over two tokens": "out"}


@pytest.mark.parametrize("name", PRESETS)
def test_the_gallery_opens_its_graphs(product: Page, name: str) -> None:
    product.click("Examples")
    product.page.click(f".gallery b:text-is('{name}')")
    assert PRESETS[name] in boxes(product)
    assert product.page.locator("dialog").count() == 0
    assert product.step == 0


def test_the_neurons_slope_is_a_half(product: Page) -> None:
    product.click("Examples")
    product.page.click(".gallery b:text-is('One neuron')")
    product.press("End")
    gradients = {
        name: float(label.split("gradient ")[1]) for name, label in boxes(product).items() if "gradient" in label
    }
    assert gradients["w1"] == pytest.approx(1.0)
    assert gradients["n"] == pytest.approx(0.5)


# --- games ----------------------------------------------------------------------------------------


def place(page: Page, *nodes: int) -> None:
    for node in nodes:
        page.page.click(f"[data-place='{node}']")
    page.click("Run it")


def test_the_game_names_the_lost_path_and_the_amount(diamond: Page) -> None:
    diamond.press("g")
    place(diamond, 5, 4, 0, 2)  # d, c, a, b: the input is read before b has sent its share
    result = diamond.text(".result")
    assert "0 of 1 gradients are right" in result
    assert "d → b → a lost 6.0. a was visited before b" in result
    assert "9.0" in result
    assert "15.0" in result
    diamond.click("Start over")
    place(diamond, 5, 2, 4, 0)
    assert "reverse topological order" in diamond.text(".result")
    diamond.click("Start over")
    place(diamond, 2, 5, 4, 0)  # b before d: b passes on nothing
    assert "b was visited before d" in diamond.text(".result")
    assert "wrong" in diamond.text(".wrong-pass") or "order that you placed" in diamond.text(".wrong-pass")


def test_the_game_has_levels(product: Page) -> None:
    product.press("g")
    product.page.click(".levels button:nth-child(3)")
    assert set(boxes(product)) == {"a", "b", "c"}


def test_predict_is_played_by_keyboard_alone(diamond: Page) -> None:
    diamond.press("p")
    diamond.page.wait_for_selector(".predict input")
    assert "?" in diamond.page.text_content(".boxes")  # what is asked for is covered
    diamond.page.keyboard.type("6")
    diamond.press("Tab")
    diamond.page.keyboard.type("3")
    diamond.press("Enter")
    diamond.page.wait_for_selector("text=2 of 2 right")
    diamond.press("Enter")
    diamond.page.wait_for_selector(".predict input")
    diamond.page.keyboard.type("1")
    diamond.press("Enter")
    assert "it is 9.0" in diamond.text(".predict")
    assert "2 of 3 right" in diamond.text(".predict")
    diamond.press("Enter")
    diamond.page.keyboard.type("6")
    diamond.press("Enter", "Enter")
    assert "3 of 4 right" in diamond.text(".predict")
    assert "whole backward pass" in diamond.text(".predict")


def test_stepping_on_while_predicting_asks_about_the_new_step(diamond: Page) -> None:
    diamond.press("p")
    diamond.page.wait_for_selector(".predict input")
    diamond.page.focus(".explorer")
    diamond.press("ArrowRight")
    assert "visits c" in diamond.text(".predict")
    assert diamond.page.locator(".predict input").count() == 1
    diamond.page.focus(".explorer")
    diamond.press("s")
    assert "?" not in diamond.page.text_content(".boxes")


BUGS = {
    "= in place of +=": "6.0",
    "zero_grad forgotten": "30.0",
    "no topological order": "15.0",
    "visiting a node twice": "15.0",
    "stale gradients inside": "30.0",
}


@pytest.mark.parametrize("name", BUGS)
def test_the_bug_lab_runs_each_bug(diamond: Page, name: str) -> None:
    diamond.press("b")
    diamond.page.click(f".bug button:text-is('{name}')")
    row = diamond.page.locator(".bug.chosen tbody tr").first.inner_text().split()
    assert row[0] == "a.grad"
    assert row[1:] == [BUGS[name], "15.0"]
    diamond.press("End")
    assert f"gradient {BUGS[name]}" in boxes(diamond)["a"]
    diamond.click("Back to the right one")
    assert "gradient 15.0" in boxes(diamond)["a"]


def test_a_missing_order_shows_where_it_matters(product: Page) -> None:
    product.open("b = a + a; c = b * b; d = b + c", a=3.0)
    product.press("b")
    product.page.click(".bug button:text-is('no topological order')")
    got, right = product.page.locator(".bug.chosen tbody tr").first.inner_text().split()[1:]
    assert right == "26.0"
    assert got != right


def test_assignment_in_place_of_addition_is_a_switch(show: Show) -> None:
    page = show("a*a", values={"a": 3.0})
    page.press("l")
    page.page.check("input[name=assign] >> nth=1")
    assert "a.grad is 3.0 and should be 6.0" in page.text(".ledger")
    assert "gradient 3.0" in boxes(page)["a"]
    page.page.check("input[name=assign] >> nth=0")
    assert "gradient 6.0" in boxes(page)["a"]


# --- why, find, large -----------------------------------------------------------------------------


def test_why_names_the_factor_that_makes_a_gradient_small(show: Show) -> None:
    page = show("tanh(a * 4) * b", values={"a": 2.0, "b": 3.0})
    page.page.click("[data-node='0']")
    page.click("Why this gradient?")
    said = page.text(".why")
    assert "tanh" in said
    assert "smallest" in said
    assert page.page.locator(".wire.follow").count() == 3
    page.open("relu(a) * b", a=-1.0, b=2.0)
    page.press("End")
    page.run("explorer.select({ kind: 'node', id: 0 })")
    assert "local derivative is zero" in page.text(".why")


@pytest.fixture(scope="module")
def model() -> rg.nn.MLP:
    import random

    random.seed(1)
    return rg.nn.MLP(2, [16, 16, 1])


def test_a_large_graph_opens_folded_and_unfolds_to_one_multiplication(show: Show, model: Any) -> None:
    def loss() -> Any:
        return (model([1.0, 0.5]) - 1.0) ** 2

    page = show(explore(loss))
    assert page.page.locator(".box").count() < 40
    while page.page.locator(".box.group:has-text('neurons[3]')").count() == 0:
        page.page.locator(".box.group:has-text('layers[0]')").first.dispatch_event("click")
    page.page.locator(".box.group:has-text('neurons[3]')").first.dispatch_event("click")
    assert page.page.locator(".box.operation").count() > 3
    page.press("Backspace") if page.run("return explorer.state.selection?.kind") == "node" else None
    page.press("/")
    page.page.keyboard.type("layers[1].neurons[2].w[1]")
    page.press("Enter")
    page.page.wait_for_selector(".box.chosen")
    assert page.page.locator(".box.chosen").get_attribute("aria-label").startswith("input layers[1].neurons[2].w[1]")


def test_everything_unfolded_is_a_canvas_that_can_be_panned_and_clicked(show: Show, model: Any) -> None:
    def loss() -> Any:
        return sum(((model([x, 0.5]) - 1.0) ** 2 for x in (0.1, 0.9)), Value(0.0))

    page = show(explore(loss))
    page.click("Unfold all")
    canvas = page.page.locator("canvas")
    assert "Overview of" in canvas.get_attribute("aria-label")
    box = canvas.bounding_box()
    page.page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 200, box["y"] + 150, steps=5)
    page.page.mouse.up()
    page.page.click(".tools button:text-is('Fold')")
    assert page.page.locator("svg.graph").count() == 1


def test_a_link_leads_to_a_step(show: Show) -> None:
    page = show("(a + b) * c", "#step=5&node=c&view=ledger&set=a%3A4.0", values={"a": 2.0, "b": -3.0, "c": 10.0})
    assert page.step == 4
    assert page.page.locator("[role=tab][aria-selected=true]").inner_text() == "Ledger"
    assert "data 10.0" in boxes(page)["L"]
    page.press("ArrowRight")
    page.wait("location.hash.includes('step=6')")
    assert "set=a" in page.page.evaluate("location.hash")


# --- graphs out of the ordinary -------------------------------------------------------------------


def test_a_node_of_the_users_own_is_shown_and_not_computed_again(show: Show) -> None:
    a = Value(3.0, label="a")
    own = Value(a.data**2, (a,), "mine", label="own")

    def back() -> None:
        a.grad += 2 * a.data * own.grad

    own._backward = back
    page = show(explore(own * 2.0))
    assert "gradient 12.0" in boxes(page)["a"]
    page.page.click("[data-node='0']")
    page.press("Shift+ArrowLeft")
    assert page.page.locator("[data-leaf]").count() == 0
    for key in ("w", "l", "t", "m", "y", "b", "g"):
        page.press(key)


def test_infinities_and_nan_are_shown(show: Show) -> None:
    with rg.errstate(divide="ignore", invalid="ignore"):
        a = Value(0.0, label="a")
        root = 1 / a - 1 / a
        page = show(explore(root))
    assert "data nan" in boxes(page)["root"]
    for key in ("s", "w", "l", "t", "m", "y", "b", "g"):
        page.press(key)


def test_a_leaf_alone_is_a_graph_too(show: Show) -> None:
    page = show(explore(Value(3.0, label="a")))
    assert "gradient 1.0" in boxes(page)["a"]
    for key in ("Home", "End", "s", "w", "l", "t", "m", "y", "p", "b", "g"):
        page.press(key)


def test_a_long_chain_is_folded_and_stepped(show: Show) -> None:
    value = root = Value(1.0, label="a")
    for _ in range(3000):
        root = root * 1.0001
    page = show(explore(root))
    assert page.page.locator(".box").count() < 120
    page.press("Home", "ArrowRight", "End")
    assert page.step == page.steps - 1 == 6001
    page.run("explorer.edit(0, 2)")
    assert page.run("return explorer.state.shown.final(0)") > 1.3
    assert value.data == 1.0
