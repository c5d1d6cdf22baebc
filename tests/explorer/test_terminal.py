"""``retrograd explore --tty``: the same steps as everywhere else, at any width, and the terminal as it was before."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from support.terminal import ROOT, Terminal
from support.timeouts import PATIENCE

from retrograd.engine import Value
from retrograd.explorer.screen import Screen, View
from retrograd.explorer.timeline import Timeline
from retrograd.trace import Trace
from retrograd.trace.explain import explain
from retrograd.trace.render import short

pytestmark = pytest.mark.native  # the screen is the same, whichever engine made the trace

TEXT, VALUES = "(a*b + c) * (a + b) - relu(a*b)", {"a": 2.0, "b": -3.0, "c": 10.0}
ARGUMENTS = ["explore", "--tty", TEXT, *(f"{name}={value}" for name, value in VALUES.items())]
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture(scope="module")
def trace() -> Trace:
    """The trace as every reader of its JSON knows it."""
    return Trace.from_json(explain(TEXT, **VALUES).to_json())


def numbers_at(trace: Trace, step: int) -> dict[str, tuple[str, str]]:
    """Data and gradient of every named node after a step, short, worked out from the steps alone."""
    names = {node.id: node.name for node in trace.nodes if node.kind != "constant"}
    data = dict.fromkeys(names, "")
    grad = dict.fromkeys(names, "")
    for index, item in enumerate([*trace.forward, *trace.backward][: step + 1]):
        if index >= len(trace.forward):
            grad = {number: text or "grad 0" for number, text in grad.items()}
        if item.kind == "seed":
            grad[item.nodes[0]] = "grad +1"
        for number in item.nodes:
            if number in names and item.kind in ("inputs", "operation"):
                data[number] = short(trace.nodes[number].data)
        for addition in item.additions:
            grad[addition.target] = f"grad {short(addition.after, True)}"
    return {name: (data[number], grad[number]) for number, name in names.items()}


@pytest.mark.parametrize(("width", "height"), [(100, 40), (36, 40)])
def test_step_k_is_step_k_of_the_json(trace: Trace, width: int, height: int) -> None:
    steps = [*trace.forward, *trace.backward]
    with Terminal(ARGUMENTS, width, height) as terminal:
        for number, step in enumerate(steps):
            phase = "forward" if number < len(trace.forward) else "backward"
            terminal.wait_for(f"{phase}, step {number + 1} of {len(steps)}")
            for text in (step.text, *(item.text for item in step.additions)):
                terminal.wait_for(" ".join(text.split()))
            for name, (data, grad) in numbers_at(trace, number).items():
                line = next(line for line in terminal.lines if re.match(rf"[ ><+] {name}\s", line))
                pattern = rf"\s{re.escape(data)}\s*{re.escape(grad)}$" if data else rf"{re.escape(name)}(\s+=.*)?$"
                assert re.search(pattern, line), (number, line, data, grad)
            terminal.send("right")
        terminal.send("q")
        assert terminal.wait_for_end() == 0


def test_every_way_to_move() -> None:
    with Terminal(ARGUMENTS) as terminal:
        for key, place in [
            ("right", "forward, step 2 of"),
            ("down", "forward, step 3 of"),
            ("left", "forward, step 2 of"),
            ("up", "forward, step 1 of"),
            ("left", "forward, step 1 of"),
            ("shift+right", "backward, step 9 of 16"),
            ("shift+right", "backward, step 16 of 16"),
            ("right", "backward, step 16 of 16"),
            ("shift+left", "backward, step 9 of 16"),
            ("shift+left", "forward, step 1 of 16"),
            ("end", "backward, step 16 of 16"),
            ("home", "forward, step 1 of 16"),
            ("l", "forward, step 2 of 16"),
        ]:
            terminal.send(key)
            terminal.wait_for(place)
        terminal.send("?")
        terminal.wait_for("find a node by its name")
        terminal.send("escape")
        terminal.wait_for("d = a * b = 2.0 * -3.0")
        terminal.send("q")
        assert terminal.wait_for_end() == 0


def test_find_goes_to_the_step_of_a_node() -> None:
    with Terminal(ARGUMENTS) as terminal:
        terminal.wait_for("step 1 of")
        terminal.send("/", "g", "enter")
        terminal.wait_for("> g")
        terminal.send("end", "/", "f", "enter")
        terminal.wait_for("< f")
        terminal.send("/", "a", "enter")
        terminal.wait_for("a is a leaf, which the backward pass does not visit")
        terminal.send("/", "zz", "enter")
        terminal.wait_for("there is no node called zz")
        terminal.send("/", "q", "escape")
        terminal.wait_for("? help")
        terminal.send("q")
        assert terminal.wait_for_end() == 0


def test_play_goes_on_by_itself_to_the_end_and_space_stops_it() -> None:
    with Terminal(ARGUMENTS) as terminal:
        terminal.wait_for("step 1 of")
        terminal.send("+", "+", "+")
        terminal.wait_for("8 steps a second")
        terminal.send(" ")
        terminal.wait_for(re.compile(r"step ([4-9]|1\d) of"))  # of several frames only the last is looked at
        terminal.send(" ")
        terminal.wait_for("space play")
        place = next(line for line in terminal.lines if "step" in line)
        time.sleep(0.5)
        terminal.read()
        assert place in terminal.lines
        terminal.send(" ")
        terminal.wait_for("step 16 of 16")
        terminal.wait_for("space play")
        terminal.send("-", "-", "-", "-", "-", " ")  # slow enough for the first step to be seen
        terminal.wait_for("step 1 of 16")
        terminal.send("q")
        assert terminal.wait_for_end() == 0


def test_a_new_size_is_drawn_anew() -> None:
    with Terminal(ARGUMENTS, 80, 24) as terminal:
        terminal.wait_for("/ find")
        terminal.resize(30, 12)
        terminal.wait_for("? help q leave")
        assert all(len(line) <= 30 for line in terminal.lines)
        terminal.send("q")
        assert terminal.wait_for_end() == 0


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_the_last_column_is_not_erased(width: int) -> None:
    with Terminal(ARGUMENTS, width, 24) as terminal:
        terminal.wait_for("forward, step 1 of 16")
        assert terminal.screen.display[0].endswith("step 1 of 16")
        terminal.send("end")
        terminal.wait_for("backward, step 16 of 16")
        assert terminal.screen.display[0].endswith("step 16 of 16")
        terminal.send("q")
        assert terminal.wait_for_end() == 0


# --- the terminal is left as it was found -----------------------------------------------------------


def assert_restored(terminal: Terminal) -> None:
    assert terminal.raw.rindex(LEAVE) > terminal.raw.rindex(ENTER)
    assert terminal.raw.count(b"\x1b[?25h") == terminal.raw.count(b"\x1b[?25l") == terminal.raw.count(ENTER)
    assert termios.tcgetattr(terminal.fd) == terminal.before


@pytest.mark.parametrize("key", ["q", "escape", "ctrl+c"])
def test_keys_that_leave(key: str) -> None:
    with Terminal(ARGUMENTS) as terminal:
        terminal.wait_for("step 1 of")
        terminal.send("right", key)
        assert terminal.wait_for_end() == 0
        assert_restored(terminal)


FORGETFUL = """
import runpy, select
asked = select.select
def ask(*arguments):
    try:
        return asked(*arguments)
    except KeyboardInterrupt:  # as happens to what a signal raises in the middle of a finalizer
        return [], [], []
select.select = ask
runpy.run_module("retrograd", run_name="__main__")
"""


@pytest.mark.long
def test_ctrl_c_that_python_passes_over_leaves_all_the_same() -> None:
    with Terminal(ARGUMENTS, command=("-c", FORGETFUL)) as terminal:
        terminal.wait_for("step 1 of")
        terminal.send("ctrl+c")
        assert terminal.wait_for_end() == 0
        assert_restored(terminal)


THROWN_AWAY = """
import os, runpy, termios
asked = os.read
def read(keys, count):
    if os.isatty(keys):
        os.read = asked
        termios.tcflush(keys, termios.TCIFLUSH)  # what Ctrl-C does, at the worst moment
    return asked(keys, count)
os.read = read
runpy.run_module("retrograd", run_name="__main__")
"""


def test_keys_thrown_away_before_they_are_read_are_not_waited_for() -> None:
    with Terminal(ARGUMENTS, command=("-c", THROWN_AWAY)) as terminal:
        terminal.wait_for("step 1 of")
        terminal.send("right")
        until, drawn = time.monotonic() + PATIENCE, len(terminal.raw)
        while len(terminal.raw) == drawn:  # it looks at the window's size between keys
            assert time.monotonic() < until, "it waits for keys that are gone"
            terminal.resize(100, 30)
            terminal.read()
        terminal.wait_for("step 1 of")
        terminal.send("q")
        assert terminal.wait_for_end() == 0
        assert_restored(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_the_terminal_is_restored(number: signal.Signals) -> None:
    with Terminal(ARGUMENTS) as terminal:
        terminal.wait_for("step 1 of")
        os.kill(terminal.pid, number)
        assert terminal.wait_for_end() == 128 + number
        assert_restored(terminal)


@pytest.mark.long
def test_ctrl_z_hands_the_terminal_back_and_takes_it_again() -> None:
    with Terminal(ARGUMENTS) as terminal:
        terminal.wait_for("step 1 of")
        terminal.send("ctrl+z")
        until = time.monotonic() + PATIENCE
        while terminal.raw.count(ENTER) < 2:  # nobody else is in this session, so it goes on at once
            assert time.monotonic() < until
            terminal.read()
        assert terminal.raw.rindex(ENTER) > terminal.raw.index(LEAVE)
        terminal.send("right")
        terminal.wait_for("step 2 of")
        terminal.send("q")
        assert terminal.wait_for_end() == 0
        assert_restored(terminal)


RAISING = """
from retrograd.explorer import screen, terminal
from retrograd.trace.explain import explain
draw = screen.Screen.lines
def lines(self, view, *rest):
    if view.step == 1:
        raise RuntimeError("in the middle of it")
    return draw(self, view, *rest)
screen.Screen.lines = lines
terminal.explore_in_terminal(explain("a*b", a=2, b=3).trace)
"""


def test_an_exception_is_shown_on_a_terminal_that_was_restored() -> None:
    with Terminal([RAISING], command=["-c"], environment={"PYTHON_COLORS": "0"}) as terminal:
        terminal.wait_for("step 1 of")
        terminal.send("right")
        assert terminal.wait_for_end() == 1
        assert_restored(terminal)
        assert terminal.raw.index(b"RuntimeError: in the middle of it") > terminal.raw.index(LEAVE)


# --- what it is shown on ------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "vt100"}, None)]
)
def test_colour_is_never_needed(environment: dict[str, str], coloured: bool | None) -> None:
    with Terminal(ARGUMENTS, environment=environment) as terminal:
        terminal.send("end")
        terminal.wait_for("step 16 of 16")
        terminal.wait_for("+ a")
        terminal.send("q")
        assert terminal.wait_for_end() == 0
    if coloured is not None:
        assert bool(re.search(rb"\x1b\[[0-9;]*38;", terminal.raw)) is coloured


@pytest.mark.long
def test_a_terminal_without_unicode_gets_ascii() -> None:
    with Terminal(ARGUMENTS, environment={"PYTHONIOENCODING": "ascii"}) as terminal:
        terminal.wait_for("left/right step")
        terminal.send("q")
        assert terminal.wait_for_end() == 0
    assert terminal.raw.isascii()


@pytest.mark.long
@pytest.mark.parametrize(
    ("environment", "options", "sentence"),
    [
        ({}, [], "--tty needs a terminal, and input or output is redirected: use retrograd explain instead."),
        ({}, ["-o", "page.html"], "--tty shows the steps in this terminal and writes no page"),
    ],
)
def test_without_a_terminal_there_is_a_sentence(environment: dict[str, str], options: list[str], sentence: str) -> None:
    command = [sys.executable, "-m", "retrograd", *ARGUMENTS, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stdout == ""


@pytest.mark.long
def test_a_dumb_terminal_gets_a_sentence() -> None:
    with Terminal(ARGUMENTS, environment={"TERM": "dumb"}) as terminal:
        assert terminal.wait_for_end() == 1
        assert "cannot move its cursor: use retrograd explain instead." in "".join(terminal.screen.display)


def test_a_function_in_a_file_shows_its_lines_and_obeys_none_of_them(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("def loss(xs):\n    return xs[0] * xs[1]  # \x1b[2J\x07 nothing\n")
    with Terminal(["explore", "--tty", f"{program}:loss", "xs=2,3"], 200, 24) as terminal:
        terminal.send("right")
        terminal.wait_for("in loss: return xs[0] * xs[1] #")
        terminal.send("q")
        assert terminal.wait_for_end() == 0
    assert b"\x1b[2J" not in terminal.raw


# --- any size, any trace ------------------------------------------------------------------------------


def large() -> Trace:
    x = [Value(float(i), label=f"数{i}" if i % 2 else f"a_long_label_for_the_input_number_{i}") for i in range(40)]
    total: Any = sum(a * b for a in x for b in x[:3])
    return Trace.of(total, title="a title that is rather long, so that it has to be cut off " * 3)


TRACES = [explain(TEXT, **VALUES).trace, large(), explain("a", a=1.0).trace]


@settings(max_examples=60, deadline=None)
@given(
    trace=st.sampled_from(TRACES),
    width=st.integers(1, 200),
    height=st.integers(1, 60),
    step=st.integers(0, 500),
    scroll=st.integers(-5, 50),
    wanted=st.sampled_from(["", "help", "search", "message"]),
)
def test_any_size_is_filled_and_not_exceeded(
    trace: Trace, width: int, height: int, step: int, scroll: int, wanted: str
) -> None:
    timeline = Timeline(trace)
    view = View(min(step, len(timeline.steps) - 1), scroll, help=wanted == "help")
    view.search = "abc" * 30 if wanted == "search" else None
    view.message = "a sentence " * 20 if wanted == "message" else ""
    lines = Screen(timeline).lines(view, Console(file=io.StringIO(), width=width, height=height), width, height)
    assert len(lines) == height
    assert all(cell_len(line.plain) <= max(width, 20) for line in lines)
    if height > 2 and not wanted:
        assert f"step {view.step + 1} of" in lines[0].plain or width < 28


def test_all_of_a_long_step_can_be_read() -> None:
    trace = explain(
        "sum(" + ", ".join(f"x{i}" for i in range(30)) + ")", **{f"x{i}": float(i) for i in range(30)}
    ).trace
    timeline = Timeline(trace)
    console = Console(file=io.StringIO(), width=70, height=12)
    seen: set[str] = set()
    for scroll in range(100):
        view = View(len(timeline.steps) - 1, scroll)
        seen |= {line.plain.strip() for line in Screen(timeline).lines(view, console, 70, 12)}
    for item in trace.backward[-1].additions:
        assert item.text in seen


@pytest.mark.long
def test_sequences_of_unknown_keys_do_nothing() -> None:
    """A function key is neither a letter to search for nor an end."""
    with Terminal(ARGUMENTS) as terminal:
        terminal.wait_for("forward, step 1 of 16")
        terminal.send("\x1b[15~", "\x1b[1;5P", "right")
        terminal.wait_for("forward, step 2 of 16")
        terminal.send("q")
        assert terminal.wait_for_end() == 0


@pytest.mark.long
def test_training_in_a_terminal_shows_a_bar(tmp_path: Path) -> None:
    arguments = ["train", "moons", "--steps", "3", "--points", "10", "--out", str(tmp_path / "run")]
    with Terminal(arguments, width=100) as terminal:
        terminal.wait_for("step 3/3", seconds=60.0)
        assert terminal.wait_for_end(60.0) == 0
    assert b"\x1b[" in terminal.raw
    assert b"loss" in terminal.raw
