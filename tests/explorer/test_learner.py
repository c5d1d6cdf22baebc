"""What a learner meets on the page: nothing spoils, nothing contradicts itself, and the keyboard is never lost."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from support.browser import Page, Show
from support.parts import missing

import retrograd as rg
from retrograd import Value, explore
from retrograd.ops import NARY, OPS

pytestmark = pytest.mark.native  # the page is the same, whichever engine made the trace

MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"
VALUES = {"a": 2.0, "b": -3.0, "c": 10.0}
TEXT = "(a*b + c) * (a + b)"
DIAMOND = "a = 2; b = a + 1; c = a * 3; d = b * c"


def opened(show: Show, program: str, hash_: str = "#step=last") -> Page:
    page = show("x*y", hash_, values={"x": 1.0, "y": 1.0})
    page.run("explorer.open({ text: x.text, values: x.values })", split(program))
    page.press(*(["End"] if "last" in hash_ else []))
    return page


def split(program: str) -> dict[str, Any]:
    inputs = re.findall(r"(\w+) = (-?[\d.]+)(?:;|$)", program)
    rest = [part.strip() for part in program.split(";") if not re.fullmatch(r"\s*\w+ = -?[\d.]+\s*", part)]
    return {"text": "; ".join(rest), "values": {name: float(number) for name, number in inputs}}


# --- the canvas -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_unfolded_is_drawn_in_the_pages_colours_and_saved(show: Show, scheme: str) -> None:
    model = rg.nn.MLP(2, [16, 16, 1])
    page = show(explore(lambda: (model([1.0, 0.5]) - 1.0) ** 2), color_scheme=scheme, accept_downloads=True)
    page.click("Unfold all")
    page.page.wait_for_selector("canvas")
    paper = page.page.evaluate(
        "getComputedStyle(document.querySelector('.explorer')).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    corner, kinds = page.page.evaluate(
        """() => {
            const canvas = document.querySelector('canvas');
            const context = canvas.getContext('2d');
            const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            for (let k = 0; k < data.length; k += 4) seen.add(data[k] << 16 | data[k + 1] << 8 | data[k + 2]);
            return [[data[0], data[1], data[2]], seen.size];
        }"""
    )
    assert corner == paper
    assert kinds > 10
    page.page.get_by_role("button", name="Save or print").click()
    with page.page.expect_download() as waiting:
        page.page.click("dialog b:text-is('SVG')")
    text = Path(waiting.value.path()).read_text()
    assert text.count("<rect") > 900
    assert "var(" not in text
    with page.page.expect_download() as waiting:
        page.page.click("dialog b:text-is('PNG')")
    assert Path(waiting.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


# --- the keyboard ---------------------------------------------------------------------------------


def test_a_button_that_can_do_no_more_keeps_the_keyboard(show: Show) -> None:
    page = show(TEXT, values=VALUES)
    page.page.click("[aria-label='To the start']")
    page.press("ArrowRight")
    assert page.step == 1
    page.page.focus("[aria-label='Step forward']")
    for _ in range(page.steps + 2):
        page.press("Enter")
    assert page.step == page.steps - 1
    page.press("ArrowLeft")
    assert page.step == page.steps - 2
    page.page.focus(".expression input")
    page.press("Escape", "ArrowLeft")
    assert page.step == page.steps - 3


def test_keys_work_after_a_group_was_opened_and_from_an_idle_page(show: Show) -> None:
    model = rg.nn.MLP(2, [16, 16, 1])
    page = show(explore(lambda: model([1.0, 0.5])), "")
    page.page.locator(".box.group").last.click()
    page.press("ArrowRight")
    assert page.step == 1
    page.page.evaluate("document.activeElement.blur()")
    page.press("ArrowRight")
    assert page.step == 2


def test_the_order_is_placed_by_keyboard_alone(show: Show) -> None:
    page = opened(show, DIAMOND)
    page.press("g")
    page.page.focus("[data-place]")
    page.press("Enter", "Enter", "Enter", "Enter")
    page.wait("explorer.state.order.length === 4")
    page.wait("document.activeElement.textContent === 'Run it'")
    page.press("Enter")
    assert "gradients are right" in page.text(".result")


# --- the step -------------------------------------------------------------------------------------


def test_a_step_shows_its_own_additions(show: Show) -> None:
    page = show(TEXT, "#step=8", values=VALUES)
    assert page.text(".said") == "f = a + b: f.grad = 4.0 sends 4.0 to a and 4.0 to b."
    card = page.text(".card.now")
    assert "a.grad += 1.0 * f.grad = 1.0 * 4.0 = 4.0" in card
    assert "b.grad += 1.0 * f.grad = 1.0 * 4.0 = 4.0" in card
    page.press("End")
    assert "now a.grad = 4.0 + 3.0 = 7.0" in page.text(".card.now")
    page = show("a*a", values={"a": 3.0})
    assert page.text(".said") == "L = a * a: L.grad = 1.0 sends 3.0 + 3.0 to a."


def test_the_seed_says_why_it_is_one(show: Show) -> None:
    page = show(TEXT, "#step=seed", values=VALUES)
    assert "How much does L change when L changes?" in page.text(".card.now")


def test_a_rule_says_nothing_of_gradients_in_the_forward_pass(show: Show) -> None:
    page = show(TEXT, "#step=2", values=VALUES)
    assert " gets " not in page.text(".rule")
    page.press("End")
    assert "a gets b × G" in page.text(".rule")  # noqa: RUF001


# --- the order game -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "order", "got", "lost", "right"),
    [
        ("a = 3; f = a * a", ["a", "f"], 0.0, "3.0 + 3.0", 6.0),
        ("a = 3; b = a + a; c = b + b", ["c", "a", "b"], 0.0, "1.0 + 1.0 + 1.0 + 1.0", 4.0),
        ("a = 3; b = a * 2; c = b * b; d = b + c", ["d", "b", "c", "a"], 2.0, "12.0 + 12.0", 26.0),
        (DIAMOND, ["d", "a", "b", "c"], 0.0, "9.0 + 6.0", 15.0),
    ],
)
def test_what_the_game_says_was_lost_adds_up(
    show: Show, program: str, order: list[str], got: float, lost: str, right: float
) -> None:
    page = opened(show, program)
    page.press("g")
    for name in order:
        page.page.click(f".to-place button:text-is('{name}')")
    page.click("Run it")
    row = page.page.locator(".result tbody tr").first.locator("td").all_inner_texts()
    assert row == ["a.grad", str(got), lost, str(right)]
    assert sum(float(part) for part in lost.split(" + ")) == right - got
    page.press("End")  # what the graph shows is what the game says
    assert page.run("return explorer.state.shown.final(explorer.state.run.graph.find('a'))") == got
    assert page.page.locator(".wrong-pass").count() == 1


def test_a_right_order_is_a_success_and_leads_on(show: Show) -> None:
    page = opened(show, DIAMOND)
    page.press("g")
    for name in "dbca":
        page.page.click(f".to-place button:text-is('{name}')")
    page.click("Run it")
    assert "every gradient arrived" in page.text(".result")
    assert "goes wrong" not in page.text(".result")
    assert page.page.locator(".wrong-pass").count() == 0
    page.page.get_by_role("button", name="Next level").click()
    assert page.run("return explorer.state.run.graph.names.join()") == "a,b,c"


# --- rules ----------------------------------------------------------------------------------------


def rule_text(page: Page, text: str, **values: float) -> str:
    page.open(text, **values)
    page.press("End")
    return page.text(".rule")


def test_rules_are_those_of_a_textbook(show: Show) -> None:
    page = show("a*b", values={"a": 1.0, "b": 1.0})
    assert f"n gets (1 {MINUS} tanh²(n)) {TIMES} G" in rule_text(page, "o = tanh(n)", n=0.9)
    assert f"x gets σ(x) {TIMES} (1 {MINUS} σ(x)) {TIMES} G" in rule_text(page, "sigmoid(x)", x=0.2)  # noqa: RUF001
    assert "L = ln(1 + exp(x))" in rule_text(page, "softplus(x)", x=0.2)
    assert "x gets nothing if x ≤ 0, else G" in rule_text(page, "relu(x)", x=0.2)
    assert "the largest operand gets G" in rule_text(page, "max(x, y)", x=1.0, y=2.0)
    assert f"{TIMES} G" in rule_text(page, "gelu(x)", x=1.0)
    assert "1 / √(1 " + MINUS + " x²)" in rule_text(page, "asin(x)", x=0.3)
    assert "a gets b × G as operand 1" not in rule_text(page, "a*b", a=1.0, b=2.0)  # noqa: RUF001


NUMERICS = re.compile(
    r"select|zero_product|hypot\(1|0\.7072|SQRT|_PI|LN2|RADIAN|DEGREE|undefined|\brest\b|\bties\b|NaN"
)


def test_every_row_of_the_table_is_printed_and_can_be_read(show: Show) -> None:
    """Balanced, in the operands' own names, and without the numerics."""
    page = show("a*b", values={"a": 1.0, "b": 1.0})
    for op in OPS:
        if not op.public:
            continue
        at = dict(zip(("alpha", "beta", "gamma"), (0.5, 0.25, 0.75), strict=False))
        names = list(at)[: op.arity]
        if op.name == "acosh":
            at["alpha"] = 1.5
        arguments = ", ".join(["alpha > beta", *names[1:]] if op.name == "where" else names)
        card = rule_text(page, f"{op.name}({arguments})", **at)
        assert_readable(card, op.name)
    for row in NARY:
        call = "dot([alpha], [beta])" if row.paired else f"{row.name}(alpha, beta){'[0]' if row.outputs else ''}"
        assert_readable(rule_text(page, call, alpha=0.5, beta=0.25), row.name)


def assert_readable(card: str, name: str) -> None:
    assert not NUMERICS.search(law_of(card)), (name, card)
    for left, right in ("()", "⌊⌋", "⌈⌉"):
        assert card.count(left) == card.count(right), (name, card)
    assert not re.search(r"\b[abcy]\b(?! (?:number|plain|sequence|negative|real|constant))", law_of(card)), (name, card)


def law_of(card: str) -> str:
    """The lines with formulas: the law, and what each operand gets."""
    return "\n".join(line for line in card.splitlines() if " gets " in line or " = " in line)


# --- the step -------------------------------------------------------------------------------------


def test_the_card_of_a_node_has_all_its_contributions_and_their_sum(show: Show) -> None:
    page = show("(a*b + c) * (a + b)", "#step=last&node=b", values=VALUES)
    card = page.page.get_by_role("group", name="Details of b")
    said = card.locator(".sum").all_inner_texts()
    assert [text.rpartition("= ")[2] for text in said] == ["4.0", "-2.0", "2.0"]
    assert said[-1] == "b.grad = 4.0 + (-2.0) = 2.0"


# --- why ------------------------------------------------------------------------------------------


def test_why_is_a_sum_over_paths(show: Show) -> None:
    page = opened(show, DIAMOND)
    page.press("y")
    said = page.text(".why")
    assert "sum over 2 paths" in said
    rows = [row.split("\t") for row in page.page.locator(".paths tr").all_inner_texts()]
    assert [row[0] for row in rows] == ["d → c → a", "d → b → a", "together"]
    assert [row[-1] for row in rows] == ["9.0", "6.0", "15.0"]
    page = opened(show, "a = 3; f = a * a")
    page.press("y")
    assert "f → a (operand 1)" in page.text(".paths")
    assert "sum over 2 paths" in page.text(".why")


def test_why_does_not_tell_what_is_still_to_come(show: Show) -> None:
    page = show(TEXT, "#step=1&view=why", values=VALUES)
    assert "has not begun" in page.text(".why")
    page.click("Go to the step that completes it")
    assert "sum over 2 paths" in page.text(".why") or "One path" in page.text(".why")


# --- bugs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bug", ["no topological order", "visiting a node twice"])
def test_a_harmless_bug_leads_to_a_graph_that_shows_it(show: Show, bug: str) -> None:
    page = opened(show, DIAMOND)
    page.press("b")
    page.page.click(f".bug button:text-is('{bug}')")
    page.page.get_by_role("button", name="Try “").click()
    assert "wrong" in page.text(".bug.chosen .verdict")
    assert "_prev" not in page.text(".bug.chosen pre")


def test_numbers_stand_under_the_heads_of_their_columns(show: Show) -> None:
    page = opened(show, TEXT)
    page.press("b")
    page.page.click(".bug button:text-is('zero_grad forgotten')")
    ends = ".bug.chosen {} :is(th, td):not(:first-child)"
    right = """all => all.map(e => {
        const words = document.createRange();
        words.selectNodeContents(e);
        return Math.round(words.getBoundingClientRect().right);
    })"""
    heads = page.page.eval_on_selector_all(ends.format("thead"), right)
    assert len(heads) == 2
    assert heads == page.page.eval_on_selector_all(ends.format("tbody tr:first-child"), right)


def test_covered_gradients_are_not_said_to_be_revealed_at_a_step(show: Show) -> None:
    page = opened(show, TEXT)
    page.press("p")
    assert "Predict it, then reveal it." in page.text(".sentence")
    page.click("The final gradients")
    assert "reveal" not in page.text(".sentence")
    assert "the gradients are covered" in page.text(".sentence")


# --- the view -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), [(640, 400), (720, 450), (700, 300)])
def test_on_a_low_window_the_graph_stays_above_the_steps(show: Show, width: int, height: int) -> None:
    page = show(TEXT, values=VALUES, viewport={"width": width, "height": height})  # 1280 x 800 at 200 %, …
    graph, steps = (page.page.locator(name).bounding_box() for name in (".canvas > .graph", ".transport"))
    assert graph is not None
    assert steps is not None
    assert graph["y"] + graph["height"] <= steps["y"] + 1


def in_view(page: Page, selector: str) -> tuple[bool, float]:
    """Whether a box is inside the graph's frame, and how wide it is."""
    frame = page.page.locator(".canvas").bounding_box()
    box = page.page.locator(selector).first.bounding_box()
    assert frame is not None
    assert box is not None
    inside = frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
    return inside and frame["y"] <= box["y"] <= frame["y"] + frame["height"], box["width"]


def test_the_view_follows_a_long_chain(show: Show) -> None:
    root = a = Value(1.0, label="a")
    for _ in range(65):
        root = root * a
    page = show(explore(root), "")
    for keys in (["ArrowRight"], ["Shift+ArrowRight"], ["ArrowRight"] * 3, ["Shift+ArrowRight"], ["Home"]):
        page.press(*keys)
        inside, width = in_view(page, ".box.now")
        assert inside, keys
        assert width > 40


def test_find_brings_a_folded_node_into_view_at_once(show: Show) -> None:
    model = rg.nn.MLP(2, [16, 16, 1])
    page = show(explore(lambda: model([1.0, 0.5])), "")
    page.press("/")
    page.page.keyboard.type("layers[1].neurons[2].w[1]")
    page.press("Enter")
    page.page.wait_for_selector(".box.chosen")
    inside, width = in_view(page, ".box.chosen")
    assert inside
    assert width > 80


def test_a_narrow_frame_shows_the_numbers_of_the_readme_example(show: Show) -> None:
    page = show(TEXT, values=VALUES, viewport={"width": 828, "height": 640})
    assert page.page.locator(".box .data.near").first.is_visible()
    assert page.page.locator(".chip").first.is_visible()


# --- typing ---------------------------------------------------------------------------------------


def type_in(page: Page, text: str) -> None:
    page.page.fill(".expression input", text)
    page.page.press(".expression input", "Enter")


def test_a_typed_expression_inherits_inputs_and_nothing_else(show: Show) -> None:
    page = show("sigmoid(x) * softplus(y)", values={"x": 1.0, "y": 1.0})
    type_in(page, "a*b + c + x")
    assert page.run("return explorer.state.run.graph.leaves.map(k => explorer.state.run.data[k])") == [1, 1, 1, 1]
    page.run("explorer.edit(0, 5)")
    type_in(page, "a * a")
    assert page.run("return explorer.state.run.data[0]") == 5


def test_an_error_stands_under_the_field_with_a_caret(show: Show) -> None:
    page = show(TEXT, values=VALUES)
    type_in(page, "(a + b")
    problem = page.page.locator("[role=alert] pre").inner_text().splitlines()
    assert problem[0] == "(a + b"
    assert problem[1].index("^") == 6
    assert page.page.get_attribute(".expression input", "aria-invalid") == "true"
    field, note = (page.page.locator(place).bounding_box() for place in (".expression input", "[role=alert]"))
    assert note["y"] >= field["y"] + field["height"] - 1
    type_in(page, "a; b; c")
    assert "“c” is an input" in page.text("[role=alert]")
    type_in(page, "a / (b - b)")
    assert "This has no value: division by zero." in page.text("[role=alert]")


MISTYPED = {
    "|a|": "an absolute value is written abs(x)",
    "a²": "a power is written **, as in a**2",
    "√a": "a root is written sqrt(x)",
    "a * sin b": "The operand of sin stands in parentheses: sin(…).",
}


@pytest.mark.parametrize("text", MISTYPED)
def test_mathematics_as_it_is_written_by_hand_is_answered(show: Show, text: str) -> None:
    page = show(TEXT, values=VALUES)
    type_in(page, text)
    assert MISTYPED[text] in page.text("[role=alert]")


def test_pi_is_pi(show: Show) -> None:
    page = show(TEXT, values=VALUES)
    type_in(page, "pi * r")
    assert page.run("return explorer.state.run.graph.leaves.map(k => explorer.state.run.data[k])") == [math.pi, 1]


def test_greek_letters_are_names(show: Show) -> None:
    page = show("θ * sin(φ)", values={"θ": 2.0, "φ": 0.5})
    assert page.run("return explorer.state.run.graph.names.slice(0, 2)") == ["θ", "φ"]
    type_in(page, "π * é")
    assert page.run("return explorer.state.run.data[0]") == pytest.approx(3.141592653589793)


def test_underscores_can_be_seen(show: Show) -> None:
    page = show("w_1 * x", values={"w_1": 2.0, "x": 1.0})
    room, letters = page.page.eval_on_selector(
        ".expression input", "e => [e.clientHeight, parseFloat(getComputedStyle(e).lineHeight)]"
    )
    assert letters >= 20
    assert room >= letters


# --- digits ---------------------------------------------------------------------------------------


def test_words_have_four_digits_and_the_exact_number_on_demand(show: Show) -> None:
    page = opened(show, "x = 0.1; y = 0.7; z = tanh(x * y) * x")
    page.press("s", "Home", "ArrowRight")
    assert "0.07" in page.text(".said")
    assert "0.06999999999999999" not in page.text(".explorer")
    page.press("d")
    assert "0.06999999999999999" in page.text(".said")
    page.press("d")
    assert "0.06999999999999999" in str(page.page.get_attribute(".step dd .number", "title"))


# --- names ----------------------------------------------------------------------------------------


def test_variables_give_their_names(show: Show) -> None:
    w, x = Value(2.0), Value(3.0)
    inner = w * x
    out = inner.tanh()
    page = show(explore(out))
    assert page.run("return explorer.state.run.graph.names") == ["w", "x", "inner", "out"]


# --- tabs, targets, accessibility -----------------------------------------------------------------


def test_no_tab_moves_when_another_is_chosen(show: Show) -> None:
    page = show(TEXT, values=VALUES)
    page.page.click(".more")
    places = "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.x, b.y]; })"
    before = page.page.eval_on_selector_all("[role=tab]", places)
    for name in ("Waterfall", "Thermometer", "Formula"):
        page.page.get_by_role("tab", name=name).click()
        assert page.page.eval_on_selector_all("[role=tab]", places) == before


def test_targets_are_large_enough(show: Show) -> None:
    page = show(TEXT, values=VALUES, viewport={"width": 390, "height": 844})
    small = page.page.eval_on_selector_all(
        "button, select, input:not([type=radio])",
        """all => all.map(e => [e.getAttribute('aria-label') || e.innerText, e.getBoundingClientRect()])
                     .filter(([, b]) => b.width > 0 && (b.width < 24 || b.height < 20)).map(([name]) => name)""",
    )
    assert small == []


def test_inputs_are_moved_by_the_arrow_keys_and_by_buttons(show: Show) -> None:
    page = show(TEXT, values=VALUES)
    page.page.focus("[data-leaf='0']")
    page.press("ArrowUp")
    assert page.run("return explorer.state.run.data[0]") == 2.1
    page.page.get_by_role("button", name="a down").focus()
    page.press("Enter")
    assert page.run("return explorer.state.run.data[0]") == 2.0


def test_an_input_is_dragged_and_undone_in_one(show: Show) -> None:
    page = show(TEXT, values=VALUES)
    page.page.locator(".drag").first.scroll_into_view_if_needed()
    box = page.page.locator(".drag").first.bounding_box()
    page.page.mouse.move(box["x"] + 5, box["y"] + 10)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 105, box["y"] + 10, steps=5)
    page.page.mouse.up()
    assert page.run("return explorer.state.run.data[0]") == 2.5
    page.page.focus(".explorer")
    page.press("Control+z")
    assert page.run("return explorer.state.run.data[0]") == 2.0


def test_predict_asks_again_for_what_is_no_number(show: Show) -> None:
    page = opened(show, "a = 3; f = a * a")
    page.press("p")
    page.page.wait_for_selector(".predict input")
    page.page.locator(".predict input").first.fill("wat")
    page.press("Enter")
    assert "“wat” is not a number" in page.text("[role=alert]")
    assert page.run("return explorer.state.hidden") is True


AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


#: A box and a wire show numbers in short, and their labels say them in full: that rule is for words.
AXE_RUN = """axe.run(document, { rules: { 'label-content-name-mismatch': { enabled: false } } })
    .then(({ violations }) => violations.map(v => [v.id, v.nodes.map(n => n.html.slice(0, 200))]))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(show: Show, scheme: str) -> None:
    if not AXE.exists():
        missing("axe-core", "npm ci in web/")
    page = show(TEXT, values=VALUES, color_scheme=scheme)
    page.page.evaluate(AXE.read_text())
    for key in "slwtvmyogpb":
        page.page.focus(".explorer")
        page.press(key)
        page.page.wait_for_timeout(50)
        found = page.page.evaluate(AXE_RUN)
        assert found == [], key


# --- slope, downhill, search ----------------------------------------------------------------------


def test_the_slope_shows_the_tangent_once_the_gradient_is_known(show: Show) -> None:
    page = show(TEXT, "#view=slope", values=VALUES)
    assert page.page.locator(".tangent").count() == 0
    page.click("Run both passes")
    assert "a.grad = 7.0" in page.text(".slope")
    line = page.page.eval_on_selector(".tangent", "e => ['x1', 'y1', 'x2', 'y2'].map(k => Number(e.getAttribute(k)))")
    assert line[3] < line[1]  # up to the right
    page.page.focus(".plot")
    page.press("ArrowRight")
    assert page.run("return explorer.state.run.data[0]") > 2
    page.page.click(".slope .modes button:text-is('c')")
    assert "c.grad = -0.85" in page.text(".slope")


def test_a_step_downhill_lowers_the_result_as_foretold(show: Show) -> None:
    page = opened(show, "x = 3; y = 1; L = x*x + y*y")
    page.press("t")
    page.page.select_option(".downhill select", "0.1")
    page.click("One step downhill")
    assert page.run("return [...explorer.state.run.data.slice(0, 2)]") == pytest.approx([2.4, 0.8])
    assert "went from 10.0 to 6.4" in page.text(".downhill")
    page.click("One step downhill")
    assert page.page.locator(".curve circle").count() == 3
    page.page.focus(".explorer")
    page.press("Control+z", "Control+z")
    assert page.run("return explorer.state.run.data[0]") == 3
    page.page.select_option(".downhill select", "1")
    page.click("One step downhill")
    page.click("One step downhill")
    assert "NaN" not in page.text(".downhill")


def test_the_search_is_walked_move_by_move(show: Show) -> None:
    page = opened(show, DIAMOND)
    page.press("o")
    said = []
    for _ in range(9):
        page.click("Next move")
        said.append(page.text(".sort .move"))
    assert said[0].startswith("It comes to d: new")
    assert any("in the visited set" in text for text in said)
    assert page.text(".sort dd:last-of-type") == "[a, b, c, d]"
    assert "d, c, b, a" in page.text(".sort .card")
    assert page.page.locator(".box.done").count() == 4


def test_the_tour_has_a_sentence_for_each_control(show: Show) -> None:
    page = show(TEXT, "", values=VALUES)
    page.press("?")
    page.click("Show me around")
    for _ in range(5):
        box = page.page.locator(".tour").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280
        page.click("Next")
    page.click("Done")
    assert page.page.locator(".tour").count() == 0
