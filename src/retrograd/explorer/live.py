"""``retrograd train --live``: a page in the browser shows a training run and steers it.

The training stays in the thread that called :meth:`Live.run`; the server's threads hand it what the page asks for and
wait for the answer. The page is at ``/TOKEN/``, and below it are

``events`` (GET)
    A stream of JSON objects, told apart by ``event``. ``opening`` comes first: ``kind`` (``moons`` or ``gpt``),
    ``layers``, ``hidden``, ``settings``, all ``entries`` so far, the last ``look``, the ``state``, and for the moons
    ``points``, ``labels``, ``frame`` and ``field``. ``progress``: the ``entries`` since the last message, a ``look``,
    the ``state``. ``back``: the ``state`` after going back, and the ``look`` there. ``state``: the ``state`` alone.
``command`` (POST)
    ``{"do": "run"}``, ``"pause"``, ``"step"``, ``{"do": "back", "step": k}``, and ``{"do": "pace", "rate": r}`` for r
    steps a second, 0 for as fast as it goes. The answer is the ``state``, or 400 with ``problem``, a sentence.
``graph`` (GET)
    The explorer's page of the graph of ``?step=k``, with ``&example=i`` of one example's.

An entry is ``[step, loss, accuracy or null, norm of each layer's gradient ...]``. A look is
``{"step", "dead", "about"}`` with ``scores`` or ``samples``. A state is
``{"running", "done", "steps", "pace", "problem"}``. Numbers that are not finite are strings.
"""

from __future__ import annotations

import contextlib
import dataclasses
import html
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from typing import Any

from ..errors import AnomalyError
from ..trace.columns import number_to_json
from ..training import SAVE_EVERY
from .explorer import VERSION, Explorer
from .page import document
from .server import Answer, Pages, Server
from .session import Entry, Session

__all__ = ["Live"]

#: Seconds between two messages of a run without a pace, and how long a request waits for its answer.
_EVERY, _PATIENCE = 0.05, 120.0
#: A run starts with a pace at which it lasts about this many seconds.
_LASTING = 10.0
#: The fastest pace that the page may set, in steps a second; 0 means no limit.
_FASTEST = 1000.0


class Live:
    """One session with its page. ``address`` is where the page is."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.running: bool = False
        self.pace: float = max(1.0, session.steps / _LASTING)
        self.problem: str = ""
        self._begun = session.done > 0  # a new run begins when the first page opens
        self._told = session.done
        self._due = self._told_at = 0.0
        self._look = self.look()
        self._asked: queue.Queue[tuple[Callable[[], Any], Future[Any]]] = queue.Queue()
        self._ended = threading.Event()
        self.server: Server = Server(
            Pages(
                get={"": self._page, "graph": self._graph},
                post={"command": self._command},
                opening=lambda: self._ask(self.opening),
            )
        )
        self.address: str = self.server.address

    # --- the training's thread ----------------------------------------------------------------------

    def run(self, stop: Callable[[], bool]) -> None:
        """Train and answer until ``stop()`` is true; saves now and then, and at the end unless it is interrupted."""
        self.server.start()
        saved_at = time.monotonic()
        try:
            while not stop():
                self._answer()
                if self.running and time.monotonic() >= self._due:
                    self._advance()
                if self.session.done != self.session.saved and time.monotonic() - saved_at > SAVE_EVERY:
                    self.session.save()
                    saved_at = time.monotonic()
        finally:
            self._ended.set()
            self._refuse_all()
            self.server.stop()
        if self.session.done != self.session.saved:
            self.session.save()

    def _answer(self) -> None:
        """Run the tasks that were asked for; wait for one while there is nothing else to do."""
        wait = min(0.1, max(0.0, self._due - time.monotonic())) if self.running else 0.1
        try:
            while True:
                task, future = self._asked.get(timeout=wait) if wait else self._asked.get_nowait()
                wait = 0.0
                try:
                    future.set_result(task())
                except Exception as error:  # the asking thread's to deal with
                    future.set_exception(error)
        except queue.Empty:
            pass

    def _refuse_all(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._asked.get_nowait()[1].set_exception(ValueError("the training has ended."))

    def _advance(self) -> None:
        """Make one step, and publish it unless the last message was sent a moment ago."""
        now = time.monotonic()
        self._due = max(self._due + 1 / self.pace, now) if self.pace else now
        last = self.session.done + 1 >= self.session.steps
        tell = last or now - self._told_at >= _EVERY
        self._step()
        if tell:
            self._tell()

    def _step(self) -> None:
        try:
            self.session.step()
        except AnomalyError as error:
            self.running, self.problem = False, str(error)
            self._tell()
            return
        if self.session.done >= self.session.steps:
            self.running = False

    def _tell(self) -> None:
        """Publish what happened since the last message."""
        session = self.session
        entries = [_entry(entry) for entry in session.entries[self._told : session.done]]
        self._look = self.look()
        self._told, self._told_at = session.done, time.monotonic()
        self.server.publish({"event": "progress", "entries": entries, "look": self._look, "state": self.state()})

    def opening(self) -> dict[str, Any]:
        """The first message of a page. The first page that opens starts a new run."""
        if not self._begun:
            self._begun = self.running = True
            self._due = time.monotonic() + 0.5
        return {
            "event": "opening",
            **self.session.opening(),
            "settings": dataclasses.asdict(self.session.task.settings),
            "entries": [_entry(entry) for entry in self.session.entries[: self._told]],
            "look": self._look,
            "state": self.state(),
        }

    def state(self) -> dict[str, Any]:
        session = self.session
        return {
            "running": self.running,
            "done": session.done,
            "steps": session.steps,
            "pace": self.pace,
            "problem": self.problem,
        }

    def look(self) -> dict[str, Any]:
        session = self.session
        about = session.task.about(session.done - 1) if session.done else ""
        return {"step": session.done, "dead": session.dead(), "about": about, **session.picture()}

    # --- what the page asks for ---------------------------------------------------------------------

    def obey(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Do what the page says and return the state. Raises ValueError, with a sentence, for what cannot be done."""
        match command:
            case {"do": "run"}:
                self._run()
            case {"do": "pause"}:
                self.running = False
            case {"do": "step"}:
                self._single()
            case {"do": "back", "step": int(step)} if not isinstance(step, bool):
                self._back(step)
            case {"do": "pace", "rate": int(rate) | float(rate)} if (
                not isinstance(rate, bool) and 0 <= rate <= _FASTEST
            ):
                self.pace, self._due = float(rate), time.monotonic()
            case _:
                raise ValueError("the commands are run, pause, step, back (with a step) and pace (with a rate).")
        self._begun = True
        if self._told < self.session.done:  # steps that were too quick to be told one by one
            self._tell()
        self.server.publish({"event": "state", "state": self.state()})
        return self.state()

    def _run(self) -> None:
        self._check_unfinished()
        self.running, self.problem, self._due = True, "", time.monotonic()

    def _single(self) -> None:
        self._check_unfinished()
        self.running, self.problem = False, ""
        self._step()
        self._tell()

    def _check_unfinished(self) -> None:
        if self.session.done >= self.session.steps:
            raise ValueError(f"all {self.session.steps} steps are done: go back first.")

    def _back(self, step: int) -> None:
        self.running, self.problem = False, ""
        self.session.seek(step)
        self._told, self._look = step, self.look()
        self.server.publish({"event": "back", "look": self._look, "state": self.state()})

    # --- the server's threads -----------------------------------------------------------------------

    def _ask(self, task: Callable[[], Any]) -> Any:
        """Run a task in the training's thread and return its result."""
        if self._ended.is_set():
            raise ValueError("the training has ended.")
        future: Future[Any] = Future()
        self._asked.put((task, future))
        return future.result(_PATIENCE)

    def _page(self, query: Mapping[str, Any]) -> Answer:
        page = {"format": "retrograd-live", "version": VERSION}
        return Answer(document(page, "training", connect="'self'", entry="live"), "text/html")

    def _command(self, command: Mapping[str, Any]) -> Answer:
        try:
            return Answer.json(self._ask(lambda: self.obey(command)))
        except ValueError as error:
            return Answer.json({"problem": str(error)}, HTTPStatus.BAD_REQUEST)
        except TimeoutError:
            return Answer.json({"problem": "the training is busy."}, HTTPStatus.SERVICE_UNAVAILABLE)

    def _graph(self, query: Mapping[str, Any]) -> Answer:
        """The explorer's page of a step, or a page with the reason why there is none."""
        try:
            step = _whole(query, "step")
            example = _whole(query, "example") if "example" in query else None
            title, operations, trace = self._ask(lambda: self.session.graph(step, example))
        except (ValueError, TimeoutError) as error:
            return Answer(
                f"<!doctype html><title>retrograd</title><p>{html.escape(str(error))}",
                "text/html",
                HTTPStatus.BAD_REQUEST,
            )
        payload = {"format": "retrograd-explorer", "version": VERSION, "trace": trace}
        return Answer(Explorer(title, operations, payload).to_html(), "text/html")


def _whole(query: Mapping[str, Any], name: str) -> int:
    text = str(query.get(name, ""))
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ValueError(f"{name} must be a whole number, as in ?{name}=1.")
    return int(text)


def _entry(entry: Entry) -> list[float | str | None]:
    progress = entry.progress
    norms = [number_to_json(norm) for norm in entry.norms]
    return [progress.step, number_to_json(progress.loss), progress.accuracy, *norms]
