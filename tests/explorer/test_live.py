"""The live training view: who may ask, what is answered, and the page in a real browser."""

from __future__ import annotations

import http.client
import json
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from support.browser import new_context
from support.parts import missing
from support.terminal import ROOT
from support.timeouts import PATIENCE

from retrograd.explorer.live import Live
from retrograd.explorer.page import bundle
from retrograd.explorer.server import _MOST_STREAMS, _MOST_WAITING, Answer, Pages, Server
from retrograd.explorer.session import session_for
from retrograd.training import GPTSettings, MoonsSettings, train_moons

pytestmark = pytest.mark.native  # the view is the same, whichever engine trains

MOONS = MoonsSettings(points=20, steps=40)


@pytest.fixture
def needs_bundle() -> None:
    try:
        bundle("live.js")
    except FileNotFoundError as error:
        missing("the page", str(error))


class Running:
    """A live run in a thread of its own, and a client of it."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.over = threading.Event()
        self.thread = threading.Thread(target=live.run, args=(self.over.is_set,))
        self.thread.start()
        self.port, self.token = live.server.port, live.server.token
        self.origin = f"http://127.0.0.1:{self.port}"

    def end(self) -> None:
        self.over.set()
        self.thread.join(20)
        assert not self.thread.is_alive()

    def ask(
        self, path: str, method: str = "GET", body: str | None = None, **headers: str | None
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and body of a request below the token; a header that is None is not sent."""
        return self.ask_raw(f"/{self.token}/{path}", method, body, **headers)

    def ask_raw(
        self, path: str, method: str = "GET", body: str | None = None, **headers: str | None
    ) -> tuple[int, dict[str, str], str]:
        sent: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}"}
        if method == "POST":
            sent |= {"Origin": self.origin, "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None and "Content_Length" not in headers:
                connection.putheader("Content-Length", str(len(body.encode())))
            connection.endheaders(None if body is None else body.encode())
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode()
        finally:
            connection.close()

    def tell(self, **command: Any) -> dict[str, Any]:
        status, _, body = self.ask("command", "POST", json.dumps(command))
        assert status == 200, body
        found: dict[str, Any] = json.loads(body)
        return found

    def events(self) -> Iterator[dict[str, Any]]:
        """The messages of the stream, from one connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", f"/{self.token}/events")
            answer = connection.getresponse()
            assert answer.status == 200
            assert answer.headers.get_content_type() == "text/event-stream"
            while line := answer.readline():
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        finally:
            connection.close()


Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Running] = []

    def start(options: MoonsSettings | GPTSettings = MOONS, **more: Any) -> Running:
        live = Live(session_for(options, tmp_path / f"run{len(started)}", **more))
        started.append(Running(live))
        return started[-1]

    yield start
    for running in started:
        running.end()


@pytest.fixture
def running(start: Start) -> Running:
    return start()


# --- who may ask ----------------------------------------------------------------------------------


def assert_refused(answer: tuple[int, dict[str, str], str], status: int, word: str) -> None:
    assert answer[0] == status, answer
    assert word in json.loads(answer[2])["problem"]


STATE = '{"do": "pause"}'


def test_it_listens_on_loopback_alone(running: Running) -> None:
    assert running.live.server._http.server_address[0] == "127.0.0.1"
    assert running.live.address == f"http://127.0.0.1:{running.port}/{running.token}/"
    assert len(running.token) >= 43, "256 bits"
    other = Server(Pages({}, {}, dict))
    assert other.token != running.token
    other._http.server_close()


@pytest.mark.parametrize(
    "path", ["/", "/events", "/command", "/graph?step=1", "//", "/x/", "/%00/", "/../", "/?token=x"]
)
def test_without_the_token_nothing_is_told(running: Running, path: str) -> None:
    assert_refused(running.ask_raw(path), 403, "token")
    assert_refused(running.ask_raw(path, "POST", STATE), 403, "token")


def test_a_wrong_token_is_wrong_however_near_it_is(running: Running) -> None:
    token = running.token
    for wrong in (
        token[:-1],
        token + "x",
        token.swapcase(),
        token[::-1],
        f"{token}%20",
        f"é{token}".encode().decode("latin1"),
    ):
        path = "".join(f"%{b:02X}" if b > 126 else chr(b) for b in f"/{wrong}/".encode())
        assert_refused(running.ask_raw(path), 403, "token")
    assert_refused(running.ask_raw(f"/{token}"), 403, "token")


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:{port}", "127.0.0.1:{port}.evil.example"),
        *("127.0.0.1", "127.0.0.1:1", "localhost", "[::1]:{port}", "", None),
    ],
)
def test_another_name_for_this_machine_is_refused(running: Running, host: str | None) -> None:
    """A page elsewhere can let its own name point here (DNS rebinding); the Host header tells."""
    named = host and host.format(port=running.port)
    assert_refused(running.ask("", Host=named), 403, "own address")
    assert_refused(running.ask("command", "POST", STATE, Host=named), 403, "own address")


def test_two_hosts_are_refused(running: Running) -> None:
    with socket.create_connection(("127.0.0.1", running.port), 20) as client:
        lines = [f"GET /{running.token}/ HTTP/1.1", f"Host: 127.0.0.1:{running.port}", "Host: evil.example", "", ""]
        client.sendall("\r\n".join(lines).encode())
        assert client.recv(100).startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://localhost:{port}", "null", ""],
)
def test_another_page_is_refused(running: Running, origin: str) -> None:
    said = origin.format(port=running.port)
    for path in ("", "events", "graph?step=1"):
        assert_refused(running.ask(path, Origin=said), 403, "own page")
    assert_refused(running.ask("command", "POST", STATE, Origin=said), 403, "own page")


def test_a_command_says_where_it_comes_from(running: Running) -> None:
    assert_refused(running.ask("command", "POST", STATE, Origin=None), 403, "own page")
    assert running.ask("command", "POST", STATE)[0] == 200
    local = {"Host": f"localhost:{running.port}", "Origin": f"http://localhost:{running.port}"}
    assert running.ask("command", "POST", STATE, **local)[0] == 200


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 404), ("none", 404)]
)
def test_what_a_browser_says_of_the_site_counts(running: Running, site: str, status: int) -> None:
    assert running.ask("nothing", Sec_Fetch_Site=site)[0] == status


def test_other_methods_and_paths_get_nothing(running: Running) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"):
        assert running.ask("command", method)[0] == 501
    assert running.ask("command")[0] == 405
    assert running.ask("../../etc/passwd")[0] == 404
    assert running.ask("events", "POST", STATE)[0] == 404
    assert running.ask("x" * 2000)[0] == 414


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_a_form_of_another_page_cannot_command(running: Running, kind: str | None) -> None:
    """These are the types that a browser lets any page send without asking first."""
    assert_refused(running.ask("command", "POST", STATE, Content_Type=kind), 415, "application/json")


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "1", '"run"', "null", "[" * 4000, '{"a":' * 700, "\ufeff{}", '{"do": NaN}']
)
def test_a_body_that_is_no_command_gets_a_sentence(running: Running, body: str) -> None:
    status, _, said = running.ask("command", "POST", body)
    assert status == 400
    assert json.loads(said)["problem"]


def test_a_long_body_is_not_read(running: Running) -> None:
    assert_refused(running.ask("command", "POST", " " * 5000 + STATE), 413, "4096")
    assert_refused(running.ask("command", "POST", None, Content_Length="-1"), 413, "4096")
    assert_refused(running.ask("command", "POST", None, Content_Length="9" * 30), 413, "4096")
    assert_refused(running.ask("command", "POST", None, Content_Length="²"), 413, "4096")


def test_no_answer_may_be_framed_cached_or_read_by_others(running: Running, needs_bundle: None) -> None:
    for path in ("", "nothing", "graph?step=x"):
        headers = running.ask(path)[1]
        assert headers["cache-control"] == "no-store"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer", "the address holds the token"
        assert headers["x-content-type-options"] == "nosniff"
        assert not [name for name in headers if name.startswith("access-control")]
        assert "python" not in headers.get("server", "").lower()
    page = running.ask("")[2]
    assert "default-src 'none'" in page
    assert "connect-src 'self'" in page


def test_the_server_is_gone_when_the_run_is(start: Start) -> None:
    running = start()
    stream = running.events()
    next(stream)
    running.end()
    assert list(stream)[-1:] is not None, "the stream has ended"
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", running.port), 5)


def test_too_many_streams_and_one_that_is_not_read_are_ended() -> None:
    server = Server(Pages({"": lambda query: Answer.json({})}, {}, dict))
    streams = [server.open_stream() for _ in range(_MOST_STREAMS)]
    assert server.open_stream() is None
    for number in range(_MOST_WAITING + 1):
        server.publish({"number": number})
    lazy = streams[0]
    assert lazy is not None
    assert lazy.qsize() == _MOST_WAITING + 1
    assert [lazy.get() for _ in range(_MOST_WAITING + 1)][-1] is None
    assert server.open_stream() is not None
    server._http.server_close()


# --- what is answered -----------------------------------------------------------------------------


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


# --- the command ----------------------------------------------------------------------------------


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


# --- the page in a browser ------------------------------------------------------------------------


@pytest.fixture
def opened(browser: Any, needs_bundle: None) -> Iterator[Callable[..., Any]]:
    """Opens a run's page; at the end nothing went wrong in it and nothing else was asked for."""
    pages: list[tuple[Any, list[str], list[str], str]] = []

    def opened(running: Running, **options: Any) -> Any:
        context = new_context(browser, **{"viewport": {"width": 1280, "height": 800}, **options})
        problems: list[str] = []
        requests: list[str] = []

        def watch(page: Any) -> None:
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
            page.on("request", lambda request: requests.append(request.url))

        context.on("page", watch)
        page = context.new_page()
        page.goto(running.live.address)
        page.wait_for_selector(".run-tiles")
        pages.append((context, problems, requests, running.origin))
        return page

    yield opened
    for context, problems, requests, origin in pages:
        context.close()
        assert problems == []
        assert [url for url in requests if not url.startswith((origin, "data:", "blob:"))] == []


def shown(page: Any, text: str | re.Pattern[str]) -> None:
    page.locator(".run-shown").filter(has_text=text).wait_for()


def wait_for_step(page: Any, least: int) -> None:
    until = time.monotonic() + PATIENCE
    while page.evaluate("document.querySelector('progress').value") < least:
        assert time.monotonic() < until
        page.wait_for_timeout(50)


def test_the_page_runs_pauses_steps_goes_back_and_opens_a_graph(running: Running, opened: Callable[..., Any]) -> None:
    page = opened(running)
    wait_for_step(page, 2)
    page.click("text=Pause")
    page.wait_for_selector("button:text('Run')")
    session = running.live.session
    done = session.done
    shown(page, f"Step {done} of 40")
    page.click("button:text('Step')")
    shown(page, f"Step {done + 1} of 40: loss")
    loss = float(re.search(r"loss ([\d.]+)", page.inner_text(".run-shown"))[1])  # type: ignore[index]
    assert loss == pytest.approx(session.entries[done].progress.loss, rel=1e-5)
    page.click("button:text('Back')")
    shown(page, f"Step {done} of 40")
    page.click("button:text('Step')")
    shown(page, re.compile(rf"Step {done + 1} of 40: .*; as before, to the last bit"))
    with page.context.expect_page() as other:
        page.click(".run-shown a")
    other.value.wait_for_selector(".explorer")
    assert other.value.title() == f"step {done + 1}: the loss on all 20 points · retrograd"
    page.click("button:text('Start over')")
    shown(page, "Step 0 of 40")
    page.select_option(".run-speed select", "0")
    page.click("button:text('Run')")
    shown(page, "Step 40 of 40")
    assert page.is_disabled("button:text('Step')")


def test_the_page_by_keyboard_alone(running: Running, opened: Callable[..., Any]) -> None:
    running.tell(do="pause")
    page = opened(running)
    for number in (1, 2, 3):
        page.keyboard.press("ArrowRight")
        shown(page, f"Step {number} of 40")
    page.keyboard.press("ArrowLeft")
    shown(page, "Step 2 of 40")
    page.keyboard.press("Home")
    shown(page, "Step 0 of 40")
    page.keyboard.press(" ")
    wait_for_step(page, 2)
    page.keyboard.press(" ")
    page.wait_for_selector("button:text('Run')")
    page.focus("[role=slider]")
    page.keyboard.press("Home")
    shown(page, "Step 1 of 40")
    page.click("text=go back here")
    page.wait_for_selector("text=go back here", state="detached")
    shown(page, "Step 1 of 40")
    assert running.live.session.done == 1
    page.focus("[role=application]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "Point 2 at" in page.inner_text(".run-pick")
    with page.context.expect_page() as other:
        page.keyboard.press("Enter")
    other.value.wait_for_selector(".explorer")
    assert other.value.title() == "step 1: the loss on point 2 · retrograd"


def test_the_field_is_drawn_in_the_colours_of_the_signs(running: Running, opened: Callable[..., Any]) -> None:
    running.tell(do="pause")
    for _ in range(30):
        running.tell(do="step")
    scores = running.live.session.picture()["scores"]
    for scheme in ("light", "dark"):
        page = opened(running, color_scheme=scheme)
        pixels = page.evaluate(
            "() => { const c = document.querySelector('canvas');"
            " return [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data] }"
        )
        assert len(pixels) == 4 * len(scores)
        for number, score in enumerate(scores):
            red, _, blue, alpha = pixels[4 * number : 4 * number + 4]
            assert alpha == 255
            if abs(score) > 5:
                assert (blue > red) == (score > 0), (number, score, red, blue)


def test_two_pages_of_one_run_show_the_same(running: Running, opened: Callable[..., Any]) -> None:
    running.tell(do="pause")
    one, two = opened(running), opened(running)
    one.click("button:text('Step')")
    for page in (one, two):
        shown(page, "Step 1 of 40: loss")
    two.click("button:text('Start over')")
    for page in (one, two):
        shown(page, "Step 0 of 40")


@pytest.mark.parametrize("kind", ["moons", "gpt"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (320, "light")])
def test_the_page_fits_and_has_a_name_for_everything(
    start: Start, opened: Callable[..., Any], kind: str, width: int, scheme: str
) -> None:
    running = start(MOONS if kind == "moons" else GPTSettings(steps=9, n_embd=4, n_head=2, block_size=6))
    running.tell(do="pause")
    running.tell(do="step")
    page = opened(running, viewport={"width": width, "height": 800}, color_scheme=scheme)
    shown(page, "Step 1 of")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    snapshot = page.locator(".explorer").aria_snapshot()
    headings = ["Loss", "Gradient of each layer", "Dead ReLUs"]
    headings.append("Where it draws the line" if kind == "moons" else "What it makes up")
    for heading in headings:
        assert f'heading "{heading}"' in snapshot
    assert 'slider "Step to look at"' in snapshot
    assert 'button "Run"' in snapshot
    assert "- button\n" not in snapshot, "every button has a name"


def test_the_end_of_the_training_is_told(start: Start, opened: Callable[..., Any]) -> None:
    running = start()
    running.tell(do="pause")
    page = opened(running)
    running.end()
    page.wait_for_selector("text=The training has ended, or the connection is lost.")
    page.evaluate("window.stop()")
