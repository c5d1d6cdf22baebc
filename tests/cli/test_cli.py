"""The command line: what it prints, what it exits with, and one sentence for every wrong input."""

from __future__ import annotations

import builtins
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from retrograd import __version__, cli
from retrograd.cli import app
from retrograd.trace import Trace

pytestmark = pytest.mark.native  # what commands say and refuse is the same on every engine

LOSS = """
import math
from dataclasses import dataclass

from helper import square
from retrograd import math as rm


def loss(w, b, x=2.0):
    hidden = rm.tanh(w * x + b)
    return square(hidden - 1)


def total(xs, scale):
    return sum(x * x for x in xs) * scale


def plain(a):
    return 3.0


def cut(a):
    return math.sin(a)


def crash(a):
    return [a][3]


def wrong(a):
    from retrograd import Value
    return Value(a.data**3, (a,), (1.0,))


def unsteady(a, calls=[]):
    calls.append(1)
    return a * len(calls)


def nobody(a):
    pass


def mute(a):
    raise ValueError


async def later(a):
    return a


def talk(a):
    print("said by the function")
    return a * a


@dataclass
class Model:
    bias: float = 1.0
"""


@pytest.fixture
def loss_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "helper.py").write_text("def square(x):\n    return x * x\n")
    (tmp_path / "my_loss.py").write_text(LOSS)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("helper", "my_loss"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return str(tmp_path / "my_loss.py")


class Ran:
    """One run of the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        sys.argv[1:], before = list(arguments), sys.argv[1:]
        try:
            with pytest.raises(SystemExit) as exit_:
                cli.main()
        finally:
            sys.argv[1:] = before
        self.status = exit_.value.code
        self.out, self.err = capsys.readouterr()


@pytest.fixture(autouse=True)
def plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_explain_prints_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "(a*b + c) * (a + b)", "a=2", "b=-3", "c=10", "--no-check")
    assert ran.status == 0
    assert ran.err == ""
    assert "a.grad += b.data * d.grad = -3.0 * -1.0 = 3.0" in ran.out
    assert "Strongest influence, positive: increase a and L rises." in ran.out
    assert "\x1b" not in ran.out
    assert "Check" not in ran.out


def test_explain_checks(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "a*b", "a=2", "b=-3")
    assert "reference" in ran.out
    assert "All 2 gradients agree." in ran.out


def test_explain_json(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "a*b", "a=2", "b=-3", "--format", "json", "--no-check")
    trace = Trace.from_json(ran.out)
    assert [node.grad for node in trace.leaves] == [-3.0, 2.0]
    ran = Ran(capsys, "explain", "a*b", "a=2", "b=-3", "--format", "json")
    assert json.loads(ran.out)["check"]["ok"] is True


def test_explain_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "a*b", "a=2", "b=-3", "--format=markdown", "--no-check")
    assert ran.out.startswith("## `L = a*b`\n")


@pytest.mark.parametrize("arguments", [["-a**2", "a=-3"], ["--no-check", "-a**2", "a=-3"], ["--a*a", "a=-3"]])
def test_a_minus_in_front_is_no_option(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    ran = Ran(capsys, "explain", *arguments, "--no-check")
    assert (ran.status, ran.err) == (0, "")
    assert " = -9.0" in ran.out or " = 9.0" in ran.out


def test_explain_a_function_of_a_file(capsys: pytest.CaptureFixture[str], loss_file: str) -> None:
    ran = Ran(capsys, "explain", f"{loss_file}:loss", "w=0.5", "b=-3", "--no-check")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("L = loss(w, b) = 3.8574043352984693\n")
    assert "in loss: hidden = rm.tanh(w * x + b)" in " ".join(ran.out.split())


def test_explain_a_sequence(capsys: pytest.CaptureFixture[str], loss_file: str) -> None:
    ran = Ran(capsys, "explain", f"{loss_file}:total", "xs=1,2,-3", "scale=2", "--no-check", "--format", "json")
    trace = Trace.from_json(ran.out)
    assert [(node.name, node.grad) for node in trace.leaves] == [
        ("xs[0]", 4.0),
        ("xs[1]", 8.0),
        ("xs[2]", -12.0),
        ("scale", 14.0),
    ]


@pytest.mark.parametrize("arguments", [["--format", "json"], ["--format", "json", "--no-check"]])
def test_what_a_function_prints_stays_out_of_the_output(
    capsys: pytest.CaptureFixture[str], loss_file: str, arguments: list[str]
) -> None:
    ran = Ran(capsys, "explain", f"{loss_file}:talk", "a=3", *arguments)
    assert json.loads(ran.out)["title"] == "talk(a)"
    assert "said by the function" in ran.err


def test_an_error_of_ours_names_what_was_asked_for_and_no_line_of_ours(
    capsys: pytest.CaptureFixture[str], loss_file: str
) -> None:
    for command in ("explain", "check"):
        ran = Ran(capsys, command, f"{loss_file}:plain", "a=3")
        assert ran.err.startswith(f"retrograd: {loss_file}:plain: plain returned 3.0")


def test_check(capsys: pytest.CaptureFixture[str], loss_file: str) -> None:
    ran = Ran(capsys, "check", f"{loss_file}:loss", "w=0.5", "b=-3")
    assert (ran.status, ran.err) == (0, "")
    assert "All 2 gradients agree." in ran.out


def test_check_has_exit_status_1_for_a_wrong_gradient(capsys: pytest.CaptureFixture[str], loss_file: str) -> None:
    ran = Ran(capsys, "check", f"{loss_file}:wrong", "a=2")
    assert ran.status == 1
    assert "The gradient must not be trusted: a (differs)." in ran.out


def test_check_refuses_a_function_that_is_not_steady(capsys: pytest.CaptureFixture[str], loss_file: str) -> None:
    ran = Ran(capsys, "check", f"{loss_file}:unsteady", "a=2")
    assert ran.status == 2
    assert "a random function has no gradient to check" in ran.err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert Ran(capsys, "--version").out == f"retrograd {__version__}\n"
    ran = Ran(capsys, "--help")
    assert ran.status == 0
    for command in ("explain", "explore", "check", "train"):
        assert command in ran.out
        assert Ran(capsys, command, "--help").status == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain", "a / (b - b)", "a=1", "b=2"], "a / (b - b): division by zero, because (b - b) is 0.0"),
        (["explain", "9**9**9**9"], "9**9**9: the result is too large for a float"),
        (["explain", "a + x", "a=1"], "a value is missing for x"),
        (["explain", "a", "a=1", "b=2"], "b=2.0 is given, but 'a' does not use b"),
        (["explain", "open('x')"], "text in quotes"),
        (["explain", "a*b", "a=2", "b=two"], "b='two' is not a number"),
        (["explain", "a*b", "a=2", "b"], "'b' is not of the form name=value"),
        (["explain", "a", "a=1,2"], "a is a list, [1.0, 2.0]"),
        (["explain", "a", "a=1,,2"], "a='' is not a number"),
        (["explain", "--formt", "a", "a=1"], "'a' is not of the form name=value"),
        (["explain", "--formt", "a=1"], "there is no option --formt"),
        (["explain", "some.py:", "a=1"], "some.py: names a file: add the function to call, as in some.py:loss."),
        (
            ["explain", "a", "a=1", "--format", "yaml"],
            "'yaml' is not one of 'text', 'json', 'markdown', 'dot', 'mermaid': see",
        ),
        (["train", "gpt", "--steps", "-1"], "'--steps': "),
        (["train", "gpt", "--steps", "-1"], "-1"),
        (["train", "gpt", "--steps=many"], "'many'"),
        (["expain", "a"], "no such command 'expain'"),
        (["explain", "a", "a=1", "a=2"], "a is given twice"),
        (["explain", "a", "a=1e999"], "a=1e999 is too large for a float"),
        (["explain", "a", "a=1", "--formt", "json"], "there is no option --formt"),
        (["explain", "no_such.py:f", "a=1"], "there is no file no_such.py"),
        (["check", "2 + 3"], "depends on no name"),
        (["explain", "a", "a=1", "--format", "xml"], "see"),
        (["explain"], "missing argument"),
        (["nonsense"], "no such command 'nonsense'"),
    ],
)
def test_wrong_input_gets_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    ran = Ran(capsys, *arguments)
    assert ran.status in (1, 2)
    assert ran.out == ""
    assert says in ran.err
    assert ran.err.startswith("retrograd: ")
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("function", "values", "says"),
    [
        ("", ["a=1"], "names a file: add the function to call"),
        (
            ":nothing",
            ["a=1"],
            "has no function nothing; it has loss, total, plain, cut, crash, wrong, unsteady, nobody, mute, later, "
            "talk, Model.",
        ),
        (":loss", ["w=1"], "my_loss.py:loss: loss(w, b, x) needs a value for b"),
        (":nobody", ["a=1"], "my_loss.py:nobody: the result of nobody is None"),
        (":mute", ["a=1"], "in mute: ValueError"),
        (":later", ["a=1"], "later of "),
        (":loss", ["w=1", "b=2", "z=3"], "has no parameter 'z'"),
        (":plain", ["a=1"], "plain returned 3.0, a plain number"),
        (":cut", ["a=1"], "line 23, in cut: float() on a Value would silently cut the gradient"),
        (":total", ["xs=5", "scale=2"], "(a list of one number is written with a comma, as in xs=5,)"),
        (":total", ["xs=[1,2]", "scale=2"], "write a list without brackets, xs=1,2,3 (of one: xs=5,)."),
        (":crash", ["a=1"], "line 27, in crash: IndexError: list index out of range"),
    ],
)
def test_a_wrong_function_gets_one_sentence(
    capsys: pytest.CaptureFixture[str], loss_file: str, function: str, values: list[str], says: str
) -> None:
    ran = Ran(capsys, "explain", loss_file + function, *values)
    assert ran.status == 1
    assert says in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = (", "line 1: '(' was never closed"),
        ("import no_such_thing", "line 1, in <module>: ModuleNotFoundError"),
        ("1/0", "ZeroDivisionError"),
        ("\0", "broken_file.py: "),
    ],
)
def test_a_file_that_cannot_be_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "broken_file.py").write_text(text)
    monkeypatch.delitem(sys.modules, "broken_file", raising=False)
    ran = Ran(capsys, "explain", f"{tmp_path / 'broken_file.py'}:f", "a=1")
    assert ran.status == 1
    assert says in ran.err


def _process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "retrograd.cli", *arguments],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        check=False,
    )


def test_a_pipe_gets_plain_text_and_ascii_where_needed() -> None:
    command = ("explain", "(a*b + c) * (a + b)", "a=2", "b=-3", "c=10", "--no-check")
    plain = _process(*command, PYTHONIOENCODING="utf-8", COLUMNS="60")
    assert plain.returncode == 0
    assert b"\x1b" not in plain.stdout
    assert max(map(len, plain.stdout.decode().split("\n"))) <= 60
    ascii_only = _process(*command, PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 0
    assert "|################" in ascii_only.stdout.decode("ascii")


def test_a_reader_that_goes_away_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "retrograd.cli", "explain", "+".join(["a"] * 3000), "a=1", "--no-check", "--all"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["explain", "a*b", "a=1", "b=2", "--no-check"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_sentence(arguments: list[str], unbuffered: str) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "retrograd.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (1, "retrograd: writing failed: No space left on device.\n")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_a_closed_output_is_no_error() -> None:
    command = shlex.join([sys.executable, "-m", "retrograd.cli", "explain", "a*b", "a=1", "b=2", "--no-check"])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(f"{command} >&-", shell=True, stderr=subprocess.PIPE, env=environment, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_only_titles_are_bold(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")  # as in other tests: rich keeps a style's first rendering
    ran = Ran(capsys, "explain", "a*a", "a=2", "--no-check")
    assert "\x1b[1mThe swapper\x1b[0m (L): each operand" in ran.out
    assert "\x1b[1mPaths that meet\x1b[0m: what is used" in ran.out


def test_ctrl_c_while_the_modules_are_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(name: str, *arguments: object) -> object:
        if name.endswith("app"):
            raise KeyboardInterrupt
        return imported(name, *arguments)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", interrupt)
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert exit_.value.code == 130
    assert capsys.readouterr().err == "retrograd: interrupted.\n"


@pytest.mark.parametrize(
    ("installed", "says"),
    [
        ((), "Checking the gradients ..."),
        (("jax",), "Checking the gradients (importing JAX takes seconds) ..."),
        (("torch", "jax"), "Checking the gradients (importing PyTorch and JAX takes seconds) ..."),
    ],
)
def test_what_takes_seconds_is_named_where_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], says: str
) -> None:
    find_spec = app.importlib.util.find_spec
    monkeypatch.setattr(
        app.importlib.util, "find_spec", lambda part: part in installed if part in ("torch", "jax") else find_spec(part)
    )
    assert app._checking() == says
