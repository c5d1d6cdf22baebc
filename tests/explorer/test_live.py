"""The live training view: what it answers, and the command that opens it."""

from __future__ import annotations

import http.client
import json
import queue
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from support.live import MOONS, Running, Start
from support.terminal import ROOT
from support.timeouts import PATIENCE

from retrograd.explorer.live import Live
from retrograd.explorer.session import session_for
from retrograd.training import GPTSettings, MoonsSettings, train_moons

pytestmark = pytest.mark.native  # the view is the same, whichever engine trains


def reference(tmp_path: Path, options: MoonsSettings = MOONS) -> list[float]:
    return [progress.loss for progress in train_moons(options, tmp_path / "reference", eager=True)]


def until(events: Iterator[dict[str, Any]], done: int) -> dict[str, Any]:
    """The first message after which so many steps are done."""
    return next(message for message in events if message["state"]["done"] >= done)


def test_a_run_begins_with_its_first_page_and_tells_every_step_once(running: Running, tmp_path: Path) -> None:
    assert running.live.session.done == 0
    running.tell(do="pace", rate=0)
    assert running.live.session.done == 0, "a command alone does not begin it"
    running.tell(do="run")
    told: list[list[Any]] = []
    for message in running.events():
        if message["event"] == "opening":
            assert (message["kind"], message["layers"]) == ("moons", ["layers.0", "layers.1", "layers.2"])
            assert message["settings"]["seed"] == MOONS.seed
            assert len(message["points"]) == len(message["labels"]) == 20
            assert len(message["look"]["scores"]) == message["field"][0] * message["field"][1]
        for entry in message.get("entries", ()):
            told[entry[0] - 1 :] = [entry]
        assert all(len(entry) == 3 + 3 for entry in told)
        if message["state"]["done"] == 40 and len(told) == 40:
            break
    assert [entry[0] for entry in told] == list(range(1, 41))
    assert [entry[1] for entry in told] == reference(tmp_path)
    assert all(0 <= entry[2] <= 1 and min(entry[3:]) > 0 for entry in told)
    assert not running.tell(do="pause")["running"]


def test_a_page_that_opens_sets_a_new_run_going_and_only_a_new_one(start: Start) -> None:
    running = start()
    events = running.events()
    assert next(events)["state"]["running"]
    until(events, 1)
    running.tell(do="pause")
    assert not next(running.events())["state"]["running"]


def test_pause_step_back_and_on_give_the_same_losses(running: Running, tmp_path: Path) -> None:
    losses = reference(tmp_path)
    assert running.tell(do="pause") == {"running": False, "done": 0, "steps": 40, "pace": 4.0, "problem": ""}
    events = running.events()
    opening = next(events)
    assert not opening["state"]["running"]
    for number in range(1, 6):
        assert running.tell(do="step")["done"] == number
        message = until(events, number)
        assert [entry[:2] for entry in message["entries"]] == [[number, losses[number - 1]]]
        assert message["look"]["step"] == number
        assert len(message["look"]["dead"]) == 2
    state = running.tell(do="back", step=2)
    assert (state["done"], state["running"]) == (2, False)
    back = next(message for message in events if message["event"] == "back")
    assert (back["look"]["step"], back["state"]["done"]) == (2, 2)
    running.tell(do="step")
    assert until(events, 3)["entries"][0][:2] == [3, losses[2]]
    running.tell(do="pace", rate=0)
    running.tell(do="run")
    assert until(events, 40)["state"]["running"] is False
    status, _, said = running.ask("command", "POST", '{"do": "step"}')
    assert (status, json.loads(said)["problem"]) == (400, "all 40 steps are done: go back first.")


@pytest.mark.parametrize(
    "command",
    [
        *({}, {"do": "jump"}, {"do": ["run"]}, {"do": "back"}, {"do": "pace"}),
        *({"do": "back", "step": step} for step in ("1", True, 1.0, -1, 41)),
        *({"do": "pace", "rate": rate} for rate in (-1, 1e9, True, "2")),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(running: Running, command: dict[str, Any]) -> None:
    running.tell(do="pause")
    status, _, said = running.ask("command", "POST", json.dumps(command))
    assert status == 400
    assert json.loads(said)["problem"].endswith(".")
    assert running.tell(do="pause")["done"] == 0


def test_the_pace_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that only waiting moves: ten steps at 20 a second take 9/20 of a second, no less and no more."""
    now = 0.0

    class Nothing:
        """A queue in which nothing ever comes, so that every wait for it is as long as allowed."""

        def get(self, timeout: float) -> NoReturn:
            nonlocal now
            now += timeout
            raise queue.Empty

        def get_nowait(self) -> NoReturn:
            raise queue.Empty

    live = Live(session_for(MOONS, tmp_path / "run"))
    monkeypatch.setattr("retrograd.explorer.live.time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(live, "_asked", Nothing())
    live.running, live.pace = True, 20.0
    live.run(lambda: live.session.done == 10)
    assert now == pytest.approx(9 / 20)


def test_a_run_that_diverges_pauses_and_says_why(start: Start) -> None:
    running = start(MoonsSettings(points=20, steps=40, lr=1e200))
    running.tell(do="run")
    message = next(message for message in running.events() if message["state"]["problem"])
    assert "the run has diverged" in message["state"]["problem"]
    assert not message["state"]["running"]
    assert running.tell(do="back", step=0)["problem"] == ""


def payload(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="retrograd-data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    found: dict[str, Any] = json.loads(match[1])
    return found


def test_any_step_opens_as_a_graph(running: Running, needs_bundle: None) -> None:
    running.tell(do="pause")
    for _ in range(4):
        running.tell(do="step")
    status, headers, page = running.ask("graph?step=3")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert payload(page)["trace"]["title"] == "step 3: the loss on all 20 points"
    one = payload(running.ask("graph?step=3&example=7")[2])["trace"]
    assert one["title"] == "step 3: the loss on point 8"
    assert running.tell(do="step")["done"] == 5


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?step=",
        "?step=0",
        "?step=99",
        "?step=-1",
        "?step=1&example=20",
        "?step=<script>",
        "?step=1e3",
        "?step=%D9%A1",
    ],
)
def test_a_step_that_is_not_there_is_said(running: Running, query: str) -> None:
    running.tell(do="pause")
    running.tell(do="step")
    status, headers, page = running.ask("graph" + query)
    assert status == 400
    assert headers["content-type"].startswith("text/html")
    assert "<script" not in page


def test_a_gpt_run_shows_its_samples(start: Start) -> None:
    running = start(GPTSettings(steps=5, n_embd=4, n_head=2, block_size=6))
    running.tell(do="pace", rate=0)
    running.tell(do="run")
    events = running.events()
    opening = next(events)
    assert opening["kind"] == "gpt"
    assert "layers.0.attn_wq" in opening["layers"]
    last = opening if opening["state"]["done"] == 5 else until(events, 5)
    assert len(last["look"]["samples"]) == 6
    assert re.fullmatch(r"'[a-z]+'", last["look"]["about"])


def test_the_command_prints_its_address_and_ctrl_c_saves(tmp_path: Path, needs_bundle: None) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "retrograd", "train", "moons", "--live", "--no-browser", "--points", "20"]
    with subprocess.Popen([*command, "--out", str(out)], cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        match = re.search(r"http://127\.0\.0\.1:(\d+)/([\w-]{43})/", process.stderr.readline())
        assert match is not None
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=PATIENCE)
        headers = {"Origin": f"http://127.0.0.1:{match[1]}", "Content-Type": "application/json"}
        for _ in range(3):
            connection.request("POST", f"/{match[2]}/command", '{"do": "step"}', headers)
            assert connection.getresponse().read()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(20) == 130
    assert "stopped after step 3 of 100, and saved; resume with: retrograd train moons --out" in said
    again = subprocess.run([*command, "--out", str(out)], cwd=ROOT, capture_output=True, text=True)
    assert again.returncode == 1
    assert "already holds a run" in again.stderr
