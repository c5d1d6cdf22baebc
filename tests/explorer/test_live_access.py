"""The live training view: who may ask, and what is refused."""

from __future__ import annotations

import json
import socket

import pytest
from support.live import Running, Start

from retrograd.explorer.server import _MOST_STREAMS, _MOST_WAITING, Answer, Pages, Server

pytestmark = pytest.mark.native  # the view is the same, whichever engine trains


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
