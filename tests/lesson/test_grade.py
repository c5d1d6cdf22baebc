"""``retrograd grade`` and ``grade(Value)``: right classes pass, wrong ones are told by name, and nothing escapes."""

from __future__ import annotations

import importlib
import json
import linecache
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from support.parts import require
from value_classes import AFRESH, CLOSURES, ITERATIVE, LOCAL_GRADS, MINIMAL, NOTEBOOK, WRONG, Wrong

import retrograd as rg
from retrograd.cli.app import main
from retrograd.errors import GradingError
from retrograd.lesson.grade import Grade, grade_file
from retrograd.lesson.grader import process
from retrograd.lesson.grader.advice import texts
from retrograd.lesson.grader.expressions import record
from retrograd.lesson.grader.findings import Report, Status
from retrograd.lesson.grader.grading import RULES, examine
from retrograd.lesson.grader.loading import module_class

SEED = 20


def defined(source: str) -> dict[str, Any]:
    """What a learner's file defines, with its lines at hand for messages."""
    names: dict[str, Any] = {"__name__": "my_value"}
    with redirect_stdout(StringIO()):
        exec(compile(source, "my_value.py", "exec"), names)
    linecache.cache["my_value.py"] = (len(source), None, source.splitlines(keepends=True), "my_value.py")
    return names


def examined(source: str, seed: int = SEED) -> Report:
    names = defined(source)
    return examine(names.get("Value") or names["Number"], seed, module_class(names))


def statuses(report: Report | Grade) -> dict[str, str]:
    return {rule.name: rule.status.value for rule in report.rules}


# --- right classes --------------------------------------------------------------------------------

RIGHT: dict[str, Callable[[], type]] = {
    "the notebook's": lambda: defined(NOTEBOOK)["Value"],
    "in the notebook's style, complete": lambda: defined(CLOSURES)["Value"],
    "micrograd's": lambda: require("micrograd.engine").Value,
    "the scalar GPT's": lambda: defined(LOCAL_GRADS)["Value"],
    "iterative": lambda: defined(ITERATIVE)["Number"],
    "only + and *": lambda: defined(MINIMAL)["Value"],
    "set back at the start": lambda: defined(AFRESH)["Value"],
    "retrograd's own": lambda: rg.Value,
}


@pytest.mark.parametrize("cls", RIGHT.values(), ids=RIGHT)
def test_right_classes_pass(cls: Callable[[], type]) -> None:
    report = examine(cls(), SEED)
    assert report.first_failure is None
    assert set(statuses(report).values()) <= {"passed", "absent"}


def test_what_is_not_there_yet_is_named() -> None:
    report = examined(NOTEBOOK)
    assert report.absent == [
        "backward()", "-a", "a ** 3", "a - b", "a / b", "tanh", "exp", "log", "relu", "2 + a", "2 * a",
    ]  # fmt: skip
    assert statuses(report)["order"] == "absent"
    assert examined(MINIMAL).absent[-4:] == ["a + 2", "2 + a", "a * 2", "2 * a"]
    assert examine(rg.Value, SEED).absent == []


def test_each_convention_of_a_second_pass_is_named() -> None:
    def says(cls: type) -> str:
        return next(rule.says for rule in examine(cls, SEED).rules if rule.name == "again")

    assert says(rg.Value) == "a second backward() adds to the gradients, 2 times"
    assert says(defined(AFRESH)["Value"]) == "a second backward() starts afresh"
    assert says(defined(CLOSURES)["Value"]) == "backward() adds to the gradients of the leaves"


def test_depth_is_a_remark() -> None:
    assert any("recursion limit" in remark for remark in examined(CLOSURES).remarks)
    assert examined(ITERATIVE).remarks[:1] == []
    says = next(rule.says for rule in examined(ITERATIVE).rules if rule.name == "depth")
    assert says == "a chain of 20,000 operations is right"


def test_the_zero_grad_of_a_module_is_found() -> None:
    says = next(rule.says for rule in examined(CLOSURES).rules if rule.name == "zero_grad")
    assert "L.zero_grad() sets L's own gradient to 0" in says
    assert "Module.zero_grad() clears its parameters" in says


# --- wrong classes --------------------------------------------------------------------------------


def test_there_are_many_wrong_classes() -> None:
    assert len(WRONG) >= 70
    assert len({wrong.name for wrong in WRONG}) == len(WRONG)
    assert len({wrong.source for wrong in WRONG}) == len(WRONG)


@pytest.mark.native  # of a learner's class the engine computes nothing
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_wrong_classes_are_told_by_name(wrong: Wrong) -> None:
    report = examined(wrong.source)
    failure = report.first_failure
    assert failure is not None
    assert (failure.rule, failure.operation, failure.mistake) == wrong.finding
    assert failure.program
    assert failure.headline
    assert failure.explanation
    assert len(failure.hints) == 2
    assert not failure.rows or any(not row.right for row in failure.rows)
    first = next(rule for rule in report.rules if rule.status is Status.failed)
    assert first.name == failure.rule
    assert "{" not in " ".join([failure.headline, failure.explanation, *failure.hints])


@pytest.mark.native
def test_a_rule_that_was_called_and_not_stored_is_told() -> None:
    wrong = next(own for own in WRONG if own.name == "rule called and not stored")
    failure = examined(wrong.source).first_failure
    assert failure is not None
    assert failure.headline == "A _backward is None where it should be a function"
    assert "without the parentheses" in failure.hints[1]


@pytest.mark.parametrize(
    ("name", "program", "numbers"),
    [
        ("= for +=", ("a = Value(3.0)", "L = a + a", "L.backward()"), [("a.grad", "1.0", "2.0")]),
        ("= for += in *", ("a = Value(3.0)", "L = a * a", "L.backward()"), [("a.grad", "3.0", "6.0")]),
        ("product not swapped", ("a = Value(3.0)", "b = Value(2.0)", "L = a * b", "L.backward()"),
         [("a.grad", "3.0", "2.0"), ("b.grad", "2.0", "3.0")]),
        ("forgets the seed", ("a = Value(3.0)", "b = Value(2.0)", "L = a + b", "L.backward()"),
         [("L.grad", "0.0", "1.0")]),
        ("no visited set", ("a = Value(3.0)", "b = Value(2.0)", "d = a * b", "L = d + d", "L.backward()"),
         [("a.grad", "8.0", "4.0"), ("b.grad", "12.0", "6.0")]),
    ],
)  # fmt: skip
def test_the_smallest_expression_shows_it(
    name: str, program: tuple[str, ...], numbers: list[tuple[str, str, str]]
) -> None:
    failure = examined(next(wrong.source for wrong in WRONG if wrong.name == name)).first_failure
    assert failure is not None
    assert failure.program == program
    shown = [(row.name, row.came, row.expected) for row in failure.rows if not row.right]
    assert shown == numbers


def test_the_lost_path_is_named() -> None:
    source = next(wrong.source for wrong in WRONG if wrong.name == "breadth first")
    failure = examined(source).first_failure
    assert failure is not None
    assert any("was lost" in note or "were lost" in note for note in failure.notes)
    overwritten = examined(next(wrong.source for wrong in WRONG if wrong.name == "= for +=")).first_failure
    assert overwritten is not None
    assert overwritten.notes == (
        "2 paths lead from L to a, and each adds its share: 1.0 + 1.0 = 2.0.",
        "One path from L to a, which brings 1.0, was lost.",
    )


def test_a_nudge_of_the_learners_own_forward_pass_is_evidence() -> None:
    failure = examined(next(wrong.source for wrong in WRONG if wrong.name == "1 - t")).first_failure
    assert failure is not None
    assert failure.notes[0].startswith("Your own forward pass agrees: a from ")


def test_what_raises_names_the_line() -> None:
    failure = examined(next(wrong.source for wrong in WRONG if wrong.name == "misspelt attribute")).first_failure
    assert failure is not None
    assert failure.trouble is not None
    assert failure.trouble.place.startswith("my_value.py, line ")
    assert failure.trouble.place.endswith(", in __mul__")
    assert "other.dta" in failure.trouble.source
    assert failure.trouble.says == "AttributeError: 'Value' object has no attribute 'dta'"


def test_the_seed_repeats_the_numbers() -> None:
    source = next(wrong.source for wrong in WRONG if wrong.name == "leaves reset alone")
    once, again, other = (examined(source, seed).first_failure for seed in (3, 3, 4))
    assert once == again
    assert once != other


def test_rules_wait_for_what_they_need() -> None:
    found = statuses(examined(next(wrong.source for wrong in WRONG if wrong.name == "a stack")))
    assert found["accumulation"] == found["identity"] == "passed"
    assert found["order"] == "failed"
    assert found["derivatives"] == found["depth"] == "skipped"
    one_wrong = statuses(examined(next(wrong.source for wrong in WRONG if wrong.name == "1 - t")))
    assert [name for name, status in one_wrong.items() if status != "passed"] == ["derivatives"]


def test_every_text_of_advice_can_be_filled() -> None:
    told = texts()
    assert set(told["rule"]) | {"two rules", "derivatives"} == {rule.name for rule in RULES}
    groups = [*told["rule"].values(), told["slip"], *told["local"].values(), told["raised"]]
    for group in groups:
        for advice in group.values():
            assert len(advice["hints"]) == 2
            assert not advice["headline"].endswith(".")
            for text in (advice["headline"], advice["explanation"], *advice["hints"]):
                assert text.format(op="a + b", kind="KeyError", rule="The derivative is 1.").strip()


def test_expressions_print_as_programs() -> None:
    def program(a: Any, b: Any) -> Any:
        d = a * b
        return (d - (a + -b)) * d / (2 - d) ** 3

    expression = record(program, [3.0, -2.0])
    assert expression.lines() == [
        "a = Value(3.0)", "b = Value(-2.0)", "d = a * b", "L = (d - (a + -b)) * d / (2 - d) ** 3", "L.backward()",
    ]  # fmt: skip
    names: dict[str, Any] = {"Value": rg.Value}
    exec("\n".join(expression.lines()), names)
    assert names["L"].data == expression.compute(rg.Value)[-1].data


def test_the_readme_shows_what_is_printed() -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    block = readme.split("$ retrograd grade my_value.py\n")[1].split("```")[0]
    cls = defined(next(wrong.source for wrong in WRONG if wrong.name == "= for +="))["Value"]
    printed = rg.grade(cls).to_text()
    for part in block.split("  …\n"):
        assert part in printed


# --- grade(Value) ---------------------------------------------------------------------------------


def test_grade_of_a_class_shows_itself() -> None:
    found = rg.grade(defined(CLOSURES)["Value"], seed=SEED)
    assert found.ok
    assert found.first_failure is None
    assert [rule.name for rule in found.rules] == [rule.name for rule in RULES]
    assert found.not_there_yet == ["log"]
    assert "All 17 rules hold." in repr(found)
    assert str(found) == repr(found) == found.to_text().rstrip("\n")
    assert found._repr_html_().startswith("<pre")
    assert max(map(len, found.to_text(60).splitlines())) <= 60


def test_grade_with_a_hint() -> None:
    cls = defined(next(wrong.source for wrong in WRONG if wrong.name == "= for +="))["Value"]
    found = rg.grade(cls, seed=SEED)
    assert not found.ok
    assert "hint=True adds a plainer one." in str(found)
    assert "(+=)" not in str(found)
    assert "(+=)" in str(rg.grade(cls, seed=SEED, hint=True))


@pytest.mark.native
def test_grade_leaves_random_numbers_as_they_were() -> None:
    code = "import random; random.seed(1); import retrograd as rg; rg.grade(rg.Value); print(random.random())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    random.seed(1)
    assert float(done.stdout) == random.random()


def test_grade_takes_a_class_alone() -> None:
    with pytest.raises(TypeError, match=r"write grade\(Value\), without calling it"):
        rg.grade(rg.Value(3.0))


def test_grade_leaves_this_process_alone(capfd: pytest.CaptureFixture[str]) -> None:
    cls = defined(CLOSURES.replace("        topo = []\n", "        print('walking'); topo = []; Value.walks = 1\n"))[
        "Value"
    ]
    found = rg.grade(cls, seed=SEED)
    assert found.ok
    assert capfd.readouterr().out == ""
    assert not process.can_fork() or not hasattr(cls, "walks")
    assert not process.can_fork() or "lines, which are not shown here." in str(found)


@pytest.mark.native  # of a learner's class the engine computes nothing
@pytest.mark.skipif(not process.can_fork(), reason="without fork the class runs in this process")
@pytest.mark.parametrize(
    ("does", "says"),
    [("import os; os._exit(3)", "it ended without a word"), ("list(iter(int, 1))", "the process was ended")],
)
def test_what_ends_or_fills_the_process_becomes_a_sentence(does: str, says: str) -> None:
    cls = defined(CLOSURES.replace("        topo = []\n", f"        topo = []; {does}\n"))["Value"]
    found = rg.grade(cls, seed=SEED, limit=1.0)
    assert found.first_failure is not None
    assert found.first_failure.rule == "operands"
    assert found.first_failure.trouble is not None
    assert found.first_failure.trouble.kind in ("Ended", "MemoryError")
    assert statuses(found)["values"] == "passed"


@pytest.mark.native  # of a learner's class the engine computes nothing
@pytest.mark.skipif(not process.can_fork(), reason="without fork the class runs in this process")
def test_a_class_that_starts_processes_is_stopped_at_the_first() -> None:
    cls = defined(CLOSURES.replace("        topo = []\n", "        topo = []; import os; os.fork()\n"))["Value"]
    found = rg.grade(cls, seed=SEED)
    assert found.first_failure is not None
    assert found.first_failure.trouble is not None
    assert "starts no process" in found.first_failure.trouble.says


def test_without_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "can_fork", lambda: False)
    tracer = sys.gettrace()
    endless = defined(next(wrong.source for wrong in WRONG if wrong.name == "endless"))["Value"]
    found = rg.grade(endless, seed=SEED)
    assert found.first_failure is not None
    assert found.first_failure.mistake == "Endless"
    assert sys.gettrace() is tracer


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    def write(source: str, name: str = "my_value.py") -> str:
        (tmp_path / name).write_text(source, encoding="utf-8")
        return str(tmp_path / name)

    return write


def test_a_file_that_fails_below_the_class_is_graded(file: Callable[..., str]) -> None:
    below = "\nprint('checking')\nassert Value(2.0).grad == 1.0, 'so I thought'\n"
    found = grade_file(file(CLOSURES + below), seed=SEED)
    assert found.ok
    assert "The file did not run to its end: AssertionError: so I thought at my_value.py, line " in " ".join(
        str(found).split()
    )
    assert "Your code printed 1 line, which is not shown here." in str(found)
    told = json.loads(found.to_json())
    assert told["ok"] is True
    assert told["class"] == "Value"
    assert told["file_error"]["kind"] == "AssertionError"


@pytest.mark.native  # of a learner's class the engine computes nothing
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("x = 1\n", "no class called Value, and none with a method backward; it defines no class"),
        ("from retrograd import Value\n", "Value comes from retrograd, and not from my_value.py: write the class in"),
        ("import retrograd\nclass Value(retrograd.Value): pass\n", "the backward of Value comes from retrograd, and"),
        ("class A:\n    def backward(self): pass\nclass B(A): pass\n", "classes with backward: A, B. Say which"),
        ("class Value:\n    def __init__(self data):\n        pass\n", "my_value.py, line 2: invalid syntax"),
        ("import sys\nsys.exit('bye')\n", "my_value.py, line 2: sys.exit('bye'): SystemExit: bye."),
        ("import os\nos._exit(0)\n", "my_value.py could not be loaded: it ended without a word"),
        ("many = bytearray(5 << 30)\n", "my_value.py, line 1: many = bytearray(5 << 30): MemoryError."),
        ("x = 1 / 0\n", "my_value.py, line 1: x = 1 / 0: ZeroDivisionError: division by zero."),
    ],
)  # fmt: skip
def test_what_cannot_be_graded_is_a_sentence(source: str, says: str, file: Callable[..., str]) -> None:
    with pytest.raises(GradingError) as caught:
        grade_file(file(source))
    assert says in str(caught.value)


@pytest.mark.native  # of a learner's class the engine computes nothing
def test_a_file_that_never_ends_is_a_sentence(file: Callable[..., str]) -> None:
    with pytest.raises(GradingError, match=r"my_value.py could not be loaded: it gave no answer within 1 s"):
        grade_file(file("while True: pass\n"), limit=1.0)


@pytest.mark.native  # of a learner's class the engine computes nothing
def test_a_syntax_error_has_a_caret(file: Callable[..., str]) -> None:
    with pytest.raises(GradingError) as caught:
        grade_file(file("class Value:\n    def __init__(self data):\n        pass\n"))
    line, caret = str(caught.value).splitlines()[1:3]
    assert line[caret.index("^") :].startswith(("self data", "data"))


@pytest.mark.native  # of a learner's class the engine computes nothing
def test_a_notebook_is_graded(file: Callable[..., str]) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Day 2"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip install torch"]},
        {"cell_type": "code", "source": ["%%time\n", *CLOSURES.splitlines(keepends=True)]},
        {"cell_type": "code", "source": ["?Value\n", "Value.backward??"]},
        {"cell_type": "code", "source": ["%%bash\n", "ls -l"]},
        {"cell_type": "code", "source": ["import a_package_that_is_not_there"]},
    ]
    found = grade_file(file(json.dumps({"cells": cells}), "day2.ipynb"), seed=SEED)
    assert found.ok
    assert "ModuleNotFoundError" in str(found)
    wrong = CLOSURES.replace("self.data * other.data", "self.data * other.dta")
    cells[2] = {"cell_type": "code", "source": wrong}
    failure = grade_file(file(json.dumps({"cells": cells}), "day2.ipynb"), seed=SEED).first_failure
    assert failure is not None
    assert failure.trouble is not None
    assert failure.trouble.place == "day2.ipynb cell 2, line 24, in __mul__"
    assert "other.dta" in failure.trouble.source
    with pytest.raises(GradingError, match=r"cannot be read: JSONDecodeError"):
        grade_file(file("{", "broken.ipynb"))


# --- the command ----------------------------------------------------------------------------------


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["retrograd", "grade", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return int(caught.value.code or 0)


@pytest.mark.native
def test_the_command_and_its_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], file: Callable[..., str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert command(monkeypatch, file(ITERATIVE)) == 0
    assert "Number in my_value.py" in capsys.readouterr().out
    wrong = file(next(wrong.source for wrong in WRONG if wrong.name == "= for +="))
    assert command(monkeypatch, f"{wrong}:Value", "--seed", "5") == 1
    printed = capsys.readouterr().out
    assert "✗ accumulation  A contribution replaces what was there\n" in printed
    assert "    a.grad   1.0       2.0  ✗\n" in printed
    assert "--hint adds a plainer one.\n" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert command(monkeypatch, wrong, "--json", "--seed", "5") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["seed"] == 5
    assert told["first_failure"]["mistake"] == "overwrites"
    assert [rule["rule"] for rule in told["rules"]] == [rule.name for rule in RULES]


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "says"),
    [("missing.py", "there is no file"), ("my_value.py:Wert", "has no class Wert; it has Value, Module.")],
)
def test_the_command_when_there_is_nothing_to_grade(
    name: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    file: Callable[..., str],
) -> None:
    folder = Path(file(CLOSURES)).parent
    assert command(monkeypatch, f"{folder}/{name}") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("retrograd: ")
    assert says in printed.err


@pytest.mark.native
def test_what_the_page_is_given_grades_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chapter 6 has this archive and Python in the page: no other file of the package, nor any library."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "tools"))
    packed = importlib.import_module("docsite.classroom").grader()
    with zipfile.ZipFile(BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    program = "import sys; sys.path.insert(0, sys.argv[1]); from classroom import grade; print(grade(sys.stdin.read()))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(tmp_path)],
        input=CLOSURES, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert not done.stderr
    assert "accumulation" in done.stdout
