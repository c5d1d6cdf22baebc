"""A web server for one person on this machine: loopback only, and only with the token in the address.

Every request must name the token as the first part of its path, this server as its host (so that no other name can be
made to point here), and, where it says where it comes from, this very page. Nothing is answered to anyone else,
and nothing may be framed, cached, or read by another page.
"""

from __future__ import annotations

import hmac
import json
import queue
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

__all__ = ["Answer", "Pages", "Server"]

#: The longest body that is read, in bytes, and the longest address.
_LONGEST_BODY, _LONGEST_PATH = 4096, 1024
#: Seconds until a silent client is disconnected, and between two keep-alive messages of a stream.
_PATIENCE, _ALIVE = 30.0, 10.0
#: The accepted values of Sec-Fetch-Site: missing, this page, or ("none") the address bar.
_OURS = (None, "same-origin", "none")
#: The most open streams, and the most messages that wait in one before it is closed.
_MOST_STREAMS, _MOST_WAITING = 16, 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request gets."""

    body: str
    kind: str = "application/json"
    status: int = HTTPStatus.OK

    @staticmethod
    def json(thing: Any, status: int = HTTPStatus.OK) -> Answer:
        return Answer(json.dumps(thing, allow_nan=False), status=status)


#: A request's answer, from the parameters of its query or the members of its body.
Page = Callable[[Mapping[str, Any]], Answer]


@dataclass(frozen=True, slots=True)
class Pages:
    """What is served, by the last part of its path: ``""`` is the page itself."""

    get: Mapping[str, Page]
    post: Mapping[str, Page]
    #: The first message of the stream ``events``, made when a client opens it and before it gets any other.
    opening: Callable[[], Any]


class Server:
    """Serves ``pages`` on a random port from its own threads, between ``start`` and ``stop``."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.token: str = secrets.token_urlsafe(32)
        self._streams: set[queue.Queue[str | None]] = set()
        self._lock = threading.Lock()
        self._http = _Http(self)
        self.port: int = self._http.server_address[1]
        self.address: str = f"http://127.0.0.1:{self.port}/{self.token}/"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.1,), daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End all streams and stop listening."""
        with self._lock:
            for stream in self._streams:
                stream.put(None)
        self._http.shutdown()
        self._http.server_close()

    def publish(self, thing: Any) -> None:
        """Send a message to every open stream; close a stream whose client does not keep up."""
        text = json.dumps(thing, allow_nan=False)
        with self._lock:
            for stream in list(self._streams):
                if stream.qsize() >= _MOST_WAITING:
                    self._streams.discard(stream)
                    stream.put(None)
                else:
                    stream.put(text)

    def open_stream(self) -> queue.Queue[str | None] | None:
        """A new stream, or None when there are too many."""
        with self._lock:
            if len(self._streams) >= _MOST_STREAMS:
                return None
            stream: queue.Queue[str | None] = queue.Queue()
            self._streams.add(stream)
            return stream

    def close_stream(self, stream: queue.Queue[str | None]) -> None:
        with self._lock:
            self._streams.discard(stream)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, owner: Server) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "retrograd", ""
    timeout = _PATIENCE

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  # the base class's name
        """Log nothing: the terminal is the user's, and the addresses contain the token."""

    def do_GET(self) -> None:
        parts = self._admitted()
        if parts is None:
            return
        name, query = parts
        if name == "events":
            self._stream()
        elif name in self.server.owner.pages.get:
            self._send(self.server.owner.pages.get[name](query))
        elif name in self.server.owner.pages.post:
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, "this takes POST.")
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here.")

    def do_POST(self) -> None:
        parts = self._admitted(writing=True)
        if parts is None:
            return
        page = self.server.owner.pages.post.get(parts[0])
        if page is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here to post to.")
            return
        body = self._body()
        if body is not None:
            self._send(page(body))

    # --- who may ask ------------------------------------------------------------------------------

    def _admitted(self, writing: bool = False) -> tuple[str, dict[str, str]] | None:
        """The page's name and the query of a request that may be answered; else it is refused, and None."""
        hosts = [f"{name}:{self.server.owner.port}" for name in ("127.0.0.1", "localhost")]
        host = self.headers.get("Host", "")
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site")
        if len(self.headers.get_all("Host", [])) != 1 or host not in hosts:
            self._refuse(HTTPStatus.FORBIDDEN, "this server answers to its own address only.")
        elif origin not in (None, f"http://{host}") or (origin is None and writing) or site not in _OURS:
            self._refuse(HTTPStatus.FORBIDDEN, "this server answers to its own page only.")
        elif len(self.path) > _LONGEST_PATH:
            self._refuse(HTTPStatus.REQUEST_URI_TOO_LONG, "the address is too long.")
        else:
            return self._token_checked()
        return None

    def _token_checked(self) -> tuple[str, dict[str, str]] | None:
        url = urlsplit(self.path)
        _, _, rest = url.path.partition("/")
        token, slash, name = rest.partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.server.owner.token.encode()):
            self._refuse(HTTPStatus.FORBIDDEN, "the token is missing or wrong: use the address that was printed.")
            return None
        return name, dict(parse_qsl(url.query))

    def _body(self) -> dict[str, Any] | None:
        """The object that was posted as JSON; else the request is refused, and None."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json.")
            return None
        if not length.isdecimal() or int(length) > _LONGEST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {_LONGEST_BODY} bytes.")
            return None
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            self._refuse(HTTPStatus.BAD_REQUEST, "the body must be one JSON object.")
            return None
        return body

    # --- answers ----------------------------------------------------------------------------------

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        self.close_connection = True
        self._send(Answer.json({"problem": sentence}, status))

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        self._send_headers(answer.kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _send_headers(self, kind: str) -> None:
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")

    def _stream(self) -> None:
        """Server-sent events, one JSON object each, until the client goes away or the server stops."""
        owner = self.server.owner
        stream = owner.open_stream()
        if stream is None:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open on this run: close one.")
            return
        self.close_connection = True
        try:
            self.send_response(HTTPStatus.OK)
            self._send_headers("text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._event(json.dumps(owner.pages.opening(), allow_nan=False))
            for text in _messages(stream):
                self._event(text)
        except OSError:
            pass
        finally:
            owner.close_stream(stream)

    def _event(self, text: str) -> None:
        self.wfile.write(f"data: {text}\n\n".encode() if text else b":\n\n")
        self.wfile.flush()


def _messages(stream: queue.Queue[str | None]) -> Iterator[str]:
    """The messages of a stream until it ends; an empty text now and then keeps the connection alive."""
    while True:
        try:
            text = stream.get(timeout=_ALIVE)
        except queue.Empty:
            yield ""
            continue
        if text is None:
            return
        yield text
