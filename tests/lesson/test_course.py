"""The chapters' sources: how they are read, and that every number and every right answer in them is computed."""

from __future__ import annotations

import html
import json
import math
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.parts import require

from retrograd.errors import DataError
from retrograd.lesson import check
from retrograd.lesson.course.build import PANELS, Built, Course, load
from retrograd.lesson.course.figures import Figure, written
from retrograd.lesson.course.questions import Question
from retrograd.lesson.course.source import Items, Paragraph, QuestionSource, read
from retrograd.lesson.course.sums import evaluate, filled, shown

pytestmark = pytest.mark.native  # the last chapters show compiled programs

ROOT = Path(__file__).resolve().parents[2]
MINUS = "\N{MINUS SIGN}"
NAMES = [chapter.name for chapter in load().chapters]
HEAD = "---\ntitle: T\nminutes: 1\nidea: I\n---\n"
FIGURE = ":::{figure} product\na = 2; b = -3; c = 10\nd = a * b\nL = d + c\n:::\n"


@cache
def built(name: str) -> Built:
    course = load()
    return course.build(course.find(name))


def question(body: str) -> Question:
    source = read("09-x.md", f"{HEAD}{FIGURE}:::{{question}} q\n{body}\n:::\n")
    return Course((source,), load().words).build(1).questions["q"]


def product() -> Figure:
    return written("product", "a = 2; b = -3; c = 10\nd = a * b\nL = d + c")


# --- reading --------------------------------------------------------------------------------------


def test_a_chapter_is_read_block_by_block() -> None:
    text = f"{HEAD}\nOne line\nand its second.\n\n> A note.\n\n- one\n  goes on\n- two\n\n## Heading\n\n{FIGURE}"
    chapter = read("03-some-name.md", text)
    assert (chapter.name, chapter.head["idea"]) == ("some-name", "I")
    first, note, items, heading, figure = chapter.blocks
    assert isinstance(first, Paragraph)
    assert first.text == "One line and its second."
    assert isinstance(note, Paragraph)
    assert note.note
    assert isinstance(items, Items)
    assert items.items == ("one goes on", "two")
    assert heading.text == "Heading"  # type: ignore[union-attr]
    assert figure.program.startswith("a = 2")  # type: ignore[union-attr]
    assert [block.place.line for block in chapter.blocks] == [7, 10, 12, 16, 18]


def test_a_question_is_read_with_its_parts() -> None:
    text = (
        f"{HEAD}:::{{question}} sign\n:figure: product\nWhich way?\n\nTell me.\n\n- [x] up\n  Because\n  of this.\n"
        "- {1 > 2} down\n  No.\nhint: first\n  goes on\nhint: second\n:::\n"
    )
    (block,) = read("01-x.md", text).blocks
    assert isinstance(block, QuestionSource)
    assert block.options == {"figure": "product"}
    assert block.prompt == ("Which way?", "Tell me.")
    assert [(own.condition, own.text, own.meaning) for own in block.choices] == [
        ("x", "up", "Because of this."),
        ("1 > 2", "down", "No."),
    ]
    assert block.all("hint") == ["first goes on", "second"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no head", "line 1: a chapter begins with ---"),
        ("---\ntitle: T\n---\n", "line 2: the head has no minutes"),
        (f"{HEAD}# Title\n", "line 6: a chapter has its title in the head"),
        (f"{HEAD}:::{{figur}} x\n:::\n", "line 6: a directive is"),
        (f"{HEAD}:::{{figure}}\n:::\n", "line 6: a figure needs a name"),
        (f"{HEAD}:::{{figure}} x\na = 1\n", "a line ::: is expected"),
        (f"{HEAD}:::{{question}} x\nhint: one\n:::\n", "the question x asks nothing"),
        (f"{HEAD}:::{{question}} x\nWhat?\n\n- [x] a\nno indent\n:::\n", "line 10: what goes on"),
    ],
)
def test_what_cannot_be_read_names_its_line(text: str, says: str) -> None:
    with pytest.raises(DataError, match=re.escape(says)):
        read("01-x.md", text)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("What?\nhint: a\nhint: b", "it has neither choices nor answer"),
        ("What?\n- [ ] a\n  No.\n- [ ] b\n  No.\nhint: a\nhint: b", "one answer is right, and here 0 are"),
        ("What?\n- [x] a\n- [ ] b\n  No.\nhint: a\nhint: b", "does not say, indented below it"),
        ("What?\nanswer: {product.a.grad}\nright: R\notherwise: O\nhint: a", "has 1 hints, and it needs two"),
        ("What?\nanswer: {product.a.grad}\nhint: a\nhint: b", "needs right: … and otherwise: …"),
        ("What?\nanswer: {product.z}\nright: R\notherwise: O\nhint: a\nhint: b", "the figure product has no z"),
        (
            "What?\nanswer: {product.a.grad}\nwhen {0 - 3}: R\nright: R\notherwise: O\nhint: a\nhint: b",
            "which is the right answer",
        ),
        (
            "What?\nanswer: {5}\nwhen {2}: R\nwhen {product.b.grad}: S\nright: R\notherwise: O\nhint: a\nhint: b",
            "when {product.b.grad} is 2, as is another wrong answer",
        ),
        ("[go](product@visit-q)?\n- [x] a\n  Y.\nhint: a\nhint: b", "the figure product has no q"),
        ("[go](product@nowhere)?\n- [x] a\n  Y.\nhint: a\nhint: b", "nowhere is no step"),
    ],
)
def test_a_wrong_question_says_what_to_do(body: str, says: str) -> None:
    with pytest.raises(DataError, match=re.escape(says)) as caught:
        question(body)
    assert str(caught.value).startswith("09-x.md, line ")


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("product.a", 2.0),
        ("product.a.grad", -3.0),
        ("product.d.by.a", -3.0),
        ("product(a=4).L", -2.0),
        ("product.downhill(0.1).a", 2.3),
        ('product.downhill(0.1, "b").a', 2.0),
        ("abs(product.a.grad) ** 2 + 1", 10.0),
        ("product.a.grad < 0 and not product.b.grad < 0", True),
        ("1 < product.a < 3", True),
    ],
)
def test_sums_take_their_numbers_from_figures(text: str, value: float) -> None:
    assert evaluate(text, {"product": product()}) == value


@pytest.mark.parametrize(
    "text", ["__import__('os')", "product.__class__", "(lambda: 1)()", "[1]", "other.a", "product.a.x", "1 +"]
)
def test_sums_know_nothing_else(text: str) -> None:
    with pytest.raises(DataError):
        evaluate(text, {"product": product()})


@pytest.mark.parametrize(
    ("value", "text"),
    [(-3.0, f"{MINUS}3"), (0.20000000000000018, "0.2"), (1e-14, f"1e{MINUS}14"), (53096, "53,096"), (2 / 3, "0.6667")],
)
def test_numbers_are_written_as_people_write_them(value: float, text: str) -> None:
    assert shown(value) == text


def test_wrong_passes_lose_what_they_lose_in_the_page() -> None:
    diamond = written("diamond", "a = 2\nb = a + 1\nc = a * 3\nd = b * c")
    assert diamond.wrong(assign=True)["a"] == 6.0
    assert diamond.wrong(order=["d", "a", "b", "c"])["a"] == 0.0
    assert diamond.wrong(order=["d", "b", "a", "c"])["a"] == 6.0
    assert diamond.wrong(order=["d", "b", "c", "a"])["a"] == 15.0
    assert diamond.late(["d", "a", "b", "c"]) == [("a", "b"), ("a", "c")]


# --- the chapters ---------------------------------------------------------------------------------


def test_there_are_ten_chapters() -> None:
    assert NAMES == [
        "two-directions",
        "two-rules",
        "walk-it-backward",
        "the-plus-equals-trap",
        "in-which-order",
        "write-your-own",
        "a-neuron-a-network",
        "a-gpt-from-scalars",
        "what-a-compiler-sees",
        "real-work",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_asks_three_to_six_questions(name: str) -> None:
    assert 3 <= len(built(name).questions) <= 6


def spoken(name: str) -> list[str]:
    """Every text of a chapter as it is read, without markup."""
    found: list[str] = []

    def visit(thing: Any) -> None:
        if isinstance(thing, str):
            found.append(html.unescape(re.sub(r"<[^>]+>", "", thing)))
        elif isinstance(thing, dict):
            for key, value in thing.items():
                if key not in ("payload", "extra", "program"):
                    visit(value)
        elif isinstance(thing, list):
            for item in thing:
                visit(item)

    visit(built(name).payload())
    return found


#: Products and sums of numbers alone, with what is said to come out; not what has letters in it.
NUMBER = rf"\(?{MINUS}?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?\)?"
BEFORE, AFTER = rf"(?<![·+{MINUS}÷=] )(?<![\w.{MINUS}])", rf"(?![\d.]\d)(?! [·+÷{MINUS}])"
EQUATION = re.compile(rf"{BEFORE}{NUMBER}(?: [·+{MINUS}÷] {NUMBER})+ = {NUMBER}{AFTER}")


def equations(name: str) -> list[str]:
    return [match[0] for text in spoken(name) for match in EQUATION.finditer(text)]


def test_every_equation_in_the_text_holds() -> None:
    found = [equation for name in NAMES for equation in equations(name)]
    assert len(found) >= 20
    for equation in found:
        left, right = (
            side.replace(MINUS, "-").replace("·", "*").replace("÷", "/").replace(",", "")
            for side in equation.split(" = ")
        )
        assert math.isclose(eval(left), eval(right), rel_tol=2e-3), equation


def test_no_text_is_left_with_a_hole() -> None:
    for name in NAMES:
        for text in spoken(name):
            assert "{{" not in text
            assert "}}" not in text
            assert "nan" not in text.split()


@pytest.mark.parametrize("name", NAMES)
def test_every_right_answer_is_right_and_every_wrong_one_says_something(name: str) -> None:
    for own in built(name).questions.values():
        if own.kind == "choice":
            for number, choice in enumerate(own.choices, start=1):
                assert own.judge(number) == own.judge(choice.text)
                assert own.judge(number).right == choice.right
                assert len(choice.says) > 10
        elif own.kind in ("number", "gradients"):
            right = {field.label: field.answer for field in own.fields}
            assert own.judge(right).right
            for field in own.fields:
                assert field.cases
                for case in field.cases:
                    verdict = own.judge({**right, field.label: case.value})
                    assert not verdict.right
                    assert case.says in verdict.says
            assert own.otherwise in own.judge(dict.fromkeys(right, 12345.678)).says
        elif own.kind == "order":
            orders = {figure.name: [*reversed(figure.players)] for figure in own.orders}
            assert own.judge(orders).right
            for figure in own.orders:
                wrong = own.judge({**orders, figure.name: figure.players})
                assert not wrong.right
                assert "was placed before" in wrong.says


def test_what_is_said_of_a_sign_holds_whichever_answer_is_right() -> None:
    question = built("a-gpt-from-scalars").questions["most"]
    for number in range(1, len(question.choices) + 1):
        said = question.judge(number).says
        assert not re.search(r"\u2212[\d.]+, which is positive|(?<!\u2212)\b[\d.]+, which is negative", said), said


def test_gradients_to_be_filled_in_know_the_mistakes_that_people_make() -> None:
    own = built("the-plus-equals-trap").questions["paper"]
    right = {field.label: field.answer for field in own.fields}
    assert right == {"a.grad": 7.0, "b.grad": 2.0, "c.grad": -1.0}
    assert "`=` leaves" in own.judge({**right, "a.grad": 3.0}).says
    assert "one contribution alone, the one by way of f" in own.judge({**right, "a.grad": 4.0}).says
    assert "local derivatives alone" in own.judge({**right, "c.grad": 1.0}).says
    assert "data of b" in own.judge({**right, "b.grad": -3.0}).says


def test_a_product_that_gives_each_factor_its_own_value_is_told() -> None:
    own = built("walk-it-backward").questions["paper"]
    right = {field.label: field.answer for field in own.fields}
    said = own.judge({**right, "x.grad": 27.0, "y.grad": -18.0}).says
    assert "`x.grad`: That is x with its own value. Times swaps" in said
    assert "`y.grad`: That is y with its own value. Times swaps" in said


def test_two_digits_are_enough_to_tell_a_mistake_and_not_for_the_answer() -> None:
    blind = built("a-gpt-from-scalars").questions["blind"]
    assert "the probability itself" in blind.judge(0.33).says
    assert "to base 2" in blind.judge(1.6).says
    assert blind.judge(1.09).says == "Nearly. Give one digit more."
    assert blind.judge(1.1).right
    whole = built("walk-it-backward").questions["walk-a"]
    assert "Nearly" not in whole.judge(9.9).says


def test_the_line_that_is_right_in_the_class_is_right() -> None:
    """Each answer of chapter 6 is put into the class of the chapter, and the class is asked for a gradient."""
    chapter = built("write-your-own")
    (source,) = (block.text for block in chapter.chapter.blocks if getattr(block, "language", "") == "python")
    for choice in chapter.questions["swapper"].choices:
        line = choice.text.strip("`")
        names: dict[str, Any] = {}
        exec(source, names)
        value = names["Value"]
        a, b = value(3.0), value(5.0)
        a.grad = 1.0  # what another use has paid in
        out = a * b
        out.grad = 2.0
        exec(line, {"self": a, "other": b, "out": out})
        assert (a.grad == 1.0 + 5.0 * 2.0) == choice.right


# --- a teacher's own ------------------------------------------------------------------------------


def test_a_teachers_own_chapters_are_read_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "01-mein-kapitel.md").write_text(f"{HEAD}{FIGURE}\nL ist {{{{ product.L }}}}.\n", encoding="utf-8")
    (tmp_path / "words.toml").write_text('lang = "de"\ncheck = "Prüfen"\n', encoding="utf-8")
    course = load(tmp_path)
    assert course.words["check"] == "Prüfen"
    assert course.words["next"] == load().words["next"]
    assert "L ist 4." in course.build(1).payload()["scenes"][0]["blocks"][0]["html"]


def test_a_folder_without_chapters_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no chapter"):
        load(tmp_path)
    with pytest.raises(DataError, match="--export"):
        load(tmp_path / "none")


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("01-x.md", b":caption:", b":panel: leger\n:caption:", "01-x.md, line 6: there is no panel leger"),
        ("01-x.md", b":caption:", b":pannel: ledger\n:caption:", "01-x.md, line 6: a figure has no option pannel"),
        ("01-x.md", b":caption:", b":leaf: q\n:caption:", "01-x.md, line 6: the figure product has no q"),
        ("01-x.md", b"title: ", b"title: R\xfcck", "01-x.md, line 2: this is no UTF-8"),
        ("words.toml", b"check", b"chek", "words.toml: no word is called chek; check is one"),
        ("words.toml", b'"Pr', b'1  # "Pr', "words.toml: check is a text in quotes"),
        ("words.toml", b"{done}", b"{fertig}", "filled in for {fertig} in overall; it may hold {done}, {count}"),
    ],
)
def test_a_mistake_in_an_edited_folder_is_a_sentence_with_its_place(
    tmp_path: Path, file: str, old: bytes, new: bytes, says: str
) -> None:
    figure = FIGURE.replace("product\n", "product\n:caption: C\n")
    (tmp_path / "01-x.md").write_text(f"{HEAD}{figure}", encoding="utf-8")
    words = 'check = "Prüfen"\noverall = "{done} von {count} Kapiteln"\n'
    (tmp_path / "words.toml").write_text(words, encoding="utf-8")
    load(tmp_path).payload()
    text = (tmp_path / file).read_bytes()
    assert old in text
    (tmp_path / file).write_bytes(text.replace(old, new, 1))
    with pytest.raises(DataError, match=re.escape(says)):
        load(tmp_path).payload()


def test_every_panel_of_the_page_may_be_named_in_a_chapter() -> None:
    source = (ROOT / "web" / "src" / "lesson" / "figure.tsx").read_text(encoding="utf-8")
    block = source.split("const PANELS")[1].split("= {")[1].split("};")[0]
    assert tuple(re.findall(r"(\w+): \w", block)) == PANELS


def test_numbers_are_escaped_and_links_are_checked() -> None:
    chapter = built("two-directions")
    place = chapter.chapter.place
    assert chapter.text.html("1 < 2 & `a<b`", place) == "1 &lt; 2 &amp; <code>a&lt;b</code>"
    with pytest.raises(DataError, match="a link leads to"):
        chapter.text.html("[x](http://example.com)", place)
    with pytest.raises(DataError, match="there is no chapter nowhere"):
        chapter.text.html("[x](chapter:nowhere)", place)
    assert filled("{{ product.L | .2f }}", chapter.figures) == "4.00"


# --- notebooks ------------------------------------------------------------------------------------


def test_the_notebooks_are_fresh() -> None:
    done = subprocess.run([sys.executable, "tools/course.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_notebook_computes_the_gradients_that_it_speaks_of() -> None:
    notebook = json.loads((ROOT / "docs" / "course" / "01-two-directions.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    last = next(place for place, cell in enumerate(cells) if "backward()" in cell)
    known: dict[str, Any] = {}
    for cell in cells[: last + 1]:
        exec(cell, known)
    assert eval(cells[last].splitlines()[-1], known) == (-3.0, 2.0, 1.0)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_its_questions_take_the_right_answers(name: str) -> None:
    nbformat, nbclient = require("nbformat"), require("nbclient")
    require("ipykernel")
    number = NAMES.index(name) + 1
    notebook = nbformat.read(ROOT / "docs" / "course" / f"{number:02}-{name}.ipynb", 4)
    questions = list(built(name).questions.values())
    asked = [cell for cell in notebook.cells if cell.cell_type == "code" and "\ncheck(" in cell.source]
    assert len(asked) == len(questions)
    for cell, own in zip(asked, questions, strict=True):
        cell.source = re.sub(r"answer = .*", f"answer = {answer_to(own)!r}", cell.source)
    nbclient.NotebookClient(notebook, timeout=300).execute()
    for cell in asked:
        printed = "".join(output.get("text", "") for output in cell.outputs)
        assert printed.startswith("Right."), (cell.source, printed)


def answer_to(own: Question) -> Any:
    match own.kind:
        case "choice":
            return next(number for number, choice in enumerate(own.choices, start=1) if choice.right)
        case "number":
            return own.fields[0].answer
        case "gradients":
            return {field.label: field.answer for field in own.fields}
        case "order":
            return {figure.name: [*reversed(figure.players)] for figure in own.orders}
    return True


def test_an_unanswered_question_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    check("two-rules/plus", None)
    check("walk-it-backward/paper", {"p.grad": None})
    check("two-rules/plus", "seven")
    check("in-which-order/game", {"g1": ["f"]})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == ["No answer yet", "No answer yet", "This is no answer yet"]
    assert lines[3].startswith("This is no answer yet: the answer for g1 is a list of a, f")
    with pytest.raises(DataError, match="there is no question nothing"):
        check("two-rules/nothing", 1)


@pytest.mark.parametrize(
    ("question", "answer", "says"),
    [
        (
            "walk-it-backward/paper",
            {"p.grad": 9, "q.grad": -6, "x.grad": None, "y.grad": None, "z.grad": None, "w.grad": None},
            "Not yet. What is there is right. Still to be filled in: x.grad, y.grad, z.grad, w.grad.",
        ),
        (
            "walk-it-backward/paper",
            {"p.grad": 3, "q.grad": -6, "x.grad": -6, "y.grad": 9, "z.grad": -6, "w.grad": -6},
            "`x.grad`: This follows rightly from your `p.grad`. Mend `p.grad` first. `y.grad`: This follows rightly",
        ),
        ("in-which-order/game", {"g1": ["f", "a"], "g2": []}, "What is there is right. Still to be placed: g2, g3, g4"),
        ("in-which-order/game", {"g1": ["f", "a"], "g2": ["d", "a", "b", "c"]}, "Not yet. g2: a was placed before b"),
    ],
)
def test_what_is_filled_in_is_judged(capsys: pytest.CaptureFixture[str], question: str, answer: Any, says: str) -> None:
    check(question, answer)
    assert says in capsys.readouterr().out
