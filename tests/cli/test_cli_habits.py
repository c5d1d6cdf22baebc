"""What hands expect of a command: -h, completion, pipes, exit statuses, signals."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retrograd import cli
from retrograd.trace.grammar import FUNCTIONS
from retrograd.training.log import RecentRate

pytestmark = pytest.mark.native  # what commands say is the same on every engine

WRONG = """
from retrograd import Value

def wrong(a):
    return Value(a.data**3, (a,), (1.0,))

def noisy(a):
    print("said")
    return a * a
"""


def status(*words: str) -> int:
    """What the command exits with."""
    argv, sys.argv = sys.argv, ["retrograd", *words]
    try:
        with pytest.raises(SystemExit) as exit_:
            cli.main()
    finally:
        sys.argv = argv
    return int(exit_.value.code or 0)


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    path = tmp_path / "mistaken.py"
    path.write_text(WRONG)
    return str(path)


def test_check_tells_right_wrong_and_cannot_be_asked_apart(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check", "a*b", "a=2", "b=3", "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert status("check", f"{wrong}:wrong", "a=2") == 1
    for question in (["a*"], ["a*b", "a=2"], [f"{wrong}:nothing", "a=2"], ["no.py:f", "a=1"], ["a", "a=x"], ["2*3"]):
        assert status("check", *question) == 2, question


def test_check_in_json(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("check", f"{wrong}:wrong", "a=2", "--json") == 1
    table = json.loads(capsys.readouterr().out)
    assert table["ok"] is False
    assert [(row["name"], row["ours"], row["verdict"]) for row in table["rows"]] == [("a", 1.0, "differs")]
    assert status("check", "log(a)*0 + 1e308*10*a", "a=1", "--json") in (1, 2)
    assert "Infinity" not in capsys.readouterr().out


def test_short_options_and_functions_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("-V") == 0
    assert capsys.readouterr().out.startswith("retrograd ")
    assert status("explain", "-h") == 0
    told = capsys.readouterr().out.replace(",", " ").replace(".", " ").split()
    assert {"logsumexp", "tanh", "where"} <= set(told) & set(FUNCTIONS)
    assert status("explain", "-h*2", "h=3", "--no-check") == 0  # an expression
    assert "= -6.0" in capsys.readouterr().out


def test_a_dash_is_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("a * b\n"))
    assert status("explain", "-", "a=2", "b=3", "--no-check") == 0
    assert capsys.readouterr().out.startswith("L = a * b = 6.0")


def standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_training_reads_standard_input_and_resumes_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    command = ["train", "gpt", "--data", "-", "--eager", "--quiet", "--samples", "1", "--out", str(out)]
    standard_input(monkeypatch, b"anna\nbob\n")
    assert status(*command, "--steps", "2") == 0
    assert (out / "documents.txt").read_text() == "anna\nbob\n"
    assert status("train", "gpt", "--resume", "--steps", "3", "--eager", "--quiet", "--out", str(out)) == 0
    assert len((out / "log.jsonl").read_text().splitlines()) == 3
    standard_input(monkeypatch, b"carl\n")
    assert status(*command) == 1
    assert "already holds a run" in capsys.readouterr().err
    assert (out / "documents.txt").read_text() == "anna\nbob\n"
    standard_input(monkeypatch, b"carl\n")
    assert status(*command, "--force", "--steps", "1") == 0
    assert (out / "documents.txt").read_text() == "carl\n"


@pytest.mark.parametrize(
    ("content", "says"), [(b"\n", "standard input holds no document"), (b"a\0", "is a binary file")]
)
def test_standard_input_that_is_no_text(
    content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    standard_input(monkeypatch, content)
    assert status("train", "gpt", "--data", "-", "--out", str(tmp_path / "run")) == 1
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("ln(a)", "did you mean log?"),
        ("tg(a)", "did you mean tan?"),
        ("foo(a)", "if you mean a product, write foo*"),
        ("sigmod(a)", "did you mean sigmoid?"),
    ],
)
def test_names_of_elsewhere(expression: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("explain", expression, "a=1") == 1
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(("option", "text"), [("--steps", "abc"), ("--lr", "fast"), ("--steps", "1.5")])
def test_a_wrong_number_is_told_in_words(option: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("train", "gpt", option, text) == 2
    told = capsys.readouterr().err
    assert "parse" not in told
    assert "Input" not in told
    assert text in told


def test_a_page_is_not_overwritten_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("explorer.html").write_text("mine")
    assert status("explore", "a*b", "a=2", "b=3", "--no-browser") == 1
    assert "name a file with --out" in capsys.readouterr().err
    assert Path("explorer.html").read_text() == "mine"


def test_without_the_check_a_function_runs_once(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("explain", f"{wrong}:noisy", "a=2", "--no-check") == 0
    assert capsys.readouterr().err.count("said") == 1


FEW_CALLS = """
from pathlib import Path
from random import random
from retrograd import Value

def count():
    with Path(__file__).with_suffix(".calls").open("a") as calls:
        calls.write("x")

def smooth(a, b):
    count()
    return a.sin() * b

def kink(a, b):
    count()
    return a.relu() * b + abs(b)

def cut(a, b):
    count()
    return a * b.data

def wrong(a, b):
    count()
    return Value(a.data**3, (a,), (1.0,)) * b

def right(a, b):
    count()
    return Value(a.data**3, (a,), (3 * a.data**2,)) * b

def chance(a, b):
    count()
    return a * b + random()

def prints(a, b):
    count()
    print("hello", end="")
    return a * b
"""


@pytest.mark.parametrize(
    ("name", "point", "calls", "says"),
    [
        ("smooth", ("a=2", "b=3"), 3, "All 2 gradients agree."),
        ("smooth", ("a=0", "b=0"), 3, "All 2 gradients agree."),
        ("kink", ("a=0", "b=3"), 3, "All 2 gradients agree"),
        ("cut", ("a=2", "b=3"), 3, "must not be trusted"),
        ("wrong", ("a=2", "b=3"), 3, "must not be trusted"),
        ("right", ("a=2", "b=3"), 3, "All 2 gradients agree."),
        ("chance", ("a=2", "b=3"), 3, "could not be compared with its graph|must not be trusted"),
        ("prints", ("a=2", "b=3"), 1, "prints prints, so it was not run again"),
    ],
)
def test_explain_calls_a_function_three_times_at_most(
    name: str, point: tuple[str, str], calls: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "few.py"
    path.write_text(FEW_CALLS)
    sys.modules.pop("few", None)
    assert status("explain", f"{path}:{name}", *point) == 0
    told = capsys.readouterr()
    assert re.search(says, " ".join(told.out.split()))
    assert path.with_suffix(".calls").read_text() == "x" * calls
    assert told.err.count("hello") == (name == "prints")


def test_a_reader_that_goes_away_is_no_failure() -> None:
    command = [sys.executable, "-m", "retrograd", "explain", "sin(a)*cos(a)*tan(a)", "a=2", "--no-check"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (0, b"")


def test_a_reader_of_a_loss_curve_may_go_away(tmp_path: Path) -> None:
    command = ["train", "moons", "--steps", "3", "--eager", "--points", "4", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(
        [sys.executable, "-m", "retrograd", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, told = process.communicate(timeout=60)
    assert (process.returncode, b"Error" in told) == (0, False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(("function", "expected"), [("noisy", 2), ("wrong", 1)])
def test_a_verdict_that_cannot_be_written_is_not_a_good_one(wrong: str, function: str, expected: int) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "retrograd", "check", f"{wrong}:{function}", "a=2", "--json"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert ran.returncode == expected
    assert "retrograd: writing failed: No space left on device." in ran.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(("body", "expected"), [("rg.Value", 2), ("list", 1)])
def test_a_grade_that_cannot_be_written_is_not_a_good_one(tmp_path: Path, body: str, expected: int) -> None:
    file = tmp_path / "mine.py"
    backward = "def backward(self): super().backward()"  # one of its own, and right if that of its base is
    file.write_text(f"import retrograd as rg\nclass Value({body}):\n    {backward}\n", encoding="utf-8")
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "retrograd", "grade", str(file), "--json"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert ran.returncode == expected
    assert "retrograd: writing failed: No space left on device." in ran.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain", "-"], "the expression is empty"),
        (["train", "gpt", "--data", "-"], "standard input holds no document"),
    ],
)
def test_a_closed_input_is_an_empty_one(arguments: list[str], says: str, tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-m", "retrograd", *arguments])
    ran = subprocess.run(f"{command} <&-", shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.startswith("retrograd: ")
    assert says in ran.stderr


def test_an_expression_in_another_encoding_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a*\xff"), encoding="utf-8"))
    assert status("explain", "-", "a=2") == 1
    assert capsys.readouterr().err == (
        "retrograd: standard input is no text in utf-8: write the expression in it, such as 'a*b + c'.\n"
    )


def test_the_shell_completes_commands() -> None:
    environment = {
        **os.environ,
        "_RETROGRAD_COMPLETE": "complete_bash",
        "COMP_WORDS": "retrograd ex",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "retrograd"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert {"explain", "explore"} <= set(done.stdout.split())


def test_sigterm_saves_as_ctrl_c_does(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ["train", "gpt", "--steps", "1000000", "--eager", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "retrograd", *command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    log = out / "log.jsonl"
    for _ in range(600):
        if log.exists():
            break
        time.sleep(0.1)
    time.sleep(1.0)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "and saved; resume with: retrograd train gpt" in told
    assert log.read_text().count("\n") >= 1


def test_quiet_training_prints_the_samples_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        status("train", "gpt", "--steps", "2", "--eager", "--quiet", "--samples", "2", "--out", str(tmp_path / "r"))
        == 0
    )
    told = capsys.readouterr()
    assert told.err == ""
    assert [line.partition(":")[0] for line in told.out.splitlines()] == ["sample  1", "sample  2"]


def test_the_rate_is_the_recent_one() -> None:
    rate = RecentRate(0)
    start = rate._newer[1]
    for second in range(1, 11):
        slow = rate.after(second, start + second)  # a step a second
    assert slow == pytest.approx(1.0)
    for tenth in range(1, 31):
        fast = rate.after(10 + 100 * tenth, start + 10 + tenth / 10)
    assert fast == pytest.approx(1000.0)
