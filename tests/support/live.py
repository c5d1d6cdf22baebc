"""A live training run, and a client that asks it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retrograd.explorer.live import Live
from retrograd.explorer.page import bundle
from retrograd.explorer.session import session_for
from retrograd.training import GPTSettings, MoonsSettings
from support.parts import missing
from support.timeouts import PATIENCE

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
