"""``retrograd explore --tty``: the steps of a trace in the terminal, one for each press of an arrow key.

Rich draws, and the keys are read with the standard library: what a key library adds is less than these lines.
The terminal is left as it was found, also after an exception, a signal or Ctrl-Z.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, TextIO

from rich.console import Console

from ..errors import TerminalError
from ..trace import Trace
from ..trace.explain import ascii_text
from .screen import Screen, View
from .timeline import Timeline

__all__ = ["Player", "explore_in_terminal"]

try:
    import termios
    import tty
except ImportError:  # Windows
    termios = tty = None  # type: ignore[assignment]

#: The escape sequences of keys that are not characters.
_SEQUENCES = {
    "\x1b[C": "right", "\x1bOC": "right", "\x1b[D": "left", "\x1bOD": "left",
    "\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down",
    "\x1b[1;2C": "shift+right", "\x1b[1;2D": "shift+left", "\x1b[1;5C": "shift+right", "\x1b[1;5D": "shift+left",
    "\x1b[H": "home", "\x1bOH": "home", "\x1b[1~": "home", "\x1b[7~": "home",
    "\x1b[F": "end", "\x1bOF": "end", "\x1b[4~": "end", "\x1b[8~": "end",
    "\x1b[5~": "page up", "\x1b[6~": "page down", "\x1b": "escape",
    "\r": "enter", "\n": "enter", "\x7f": "backspace", "\x08": "backspace", "\x04": "q",
}  # fmt: skip
_NAMES = {"l": "right", "j": "right", "h": "left", "k": "left", "n": "shift+right", "p": "shift+left", "g": "home"}
_NAMES |= {"G": "end", "down": "right", "up": "left", "Q": "q"}

#: Seconds to wait for the rest of an escape sequence, and between two looks at the window's size.
_ESCAPE, _LOOK = 0.05, 0.25
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"


def explore_in_terminal(trace: Trace, step: int = 0) -> None:
    """Show ``trace`` on standard output and follow the keys on standard input until one of them leaves.

    Raises TerminalError when these are no terminal that can be drawn on.
    """
    if termios is None:
        raise TerminalError(
            "exploring in the terminal needs one as Unix has them, and this Python has no termios: "
            "leave --tty out, or use retrograd explain."
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise TerminalError("--tty needs a terminal, and input or output is redirected: use retrograd explain instead.")
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        raise TerminalError("this terminal (TERM=dumb) cannot move its cursor: use retrograd explain instead.")
    with _Terminal(sys.stdin.fileno(), sys.stdout) as terminal:
        Player(trace, terminal, step).run()


class Player:
    """Moves through the steps as the keys say."""

    def __init__(self, trace: Trace, terminal: _Terminal, step: int = 0) -> None:
        self.timeline: Timeline = Timeline(trace)
        self.terminal = terminal
        self.screen: Screen = Screen(self.timeline, terminal.ascii_only)
        self.view: View = View(min(max(step, 0), len(self.timeline.steps) - 1))
        self.seconds: float = 1.0  #: from step to step while playing
        self.due: float = 0.0

    def run(self) -> None:
        """Draw and follow keys until one of them leaves; Ctrl-C is one of them."""
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                self.terminal.draw(self.screen, self.view)
                key = self.terminal.key(max(0.0, self.due - time.monotonic()) if self.view.playing else None)
                if key is None:
                    self.tick()
                elif not self.press(key):
                    return

    def tick(self) -> None:
        """Make the next step of a playing trace when it is due; stop at the end."""
        if self.view.playing and time.monotonic() >= self.due:
            self.go(self.view.step + 1)
            self.due = time.monotonic() + self.seconds
            self.view.playing = self.view.step < len(self.timeline.steps) - 1

    def press(self, key: str) -> bool:
        """Do what a key asks for; False to leave."""
        self.view.message = ""
        if self.view.search is not None:
            self.type(key)
            return True
        key = _NAMES.get(key, key)
        if key == "q" or (key == "escape" and not self.view.help):
            return False
        if key in ("?", "escape"):
            self.view.help = not self.view.help
        elif key == " ":
            self.play()
        elif key in ("+", "-"):
            self.seconds = min(8.0, max(0.125, self.seconds * (0.5 if key == "+" else 2.0)))
            self.view.message = f"{1 / self.seconds:g} steps a second"
        elif key == "/":
            self.view.search, self.view.playing = "", False
        elif key.startswith("page"):
            self.view.scroll += 5 if key == "page down" else -5
        else:
            self.move(key)
        return True

    def move(self, key: str) -> None:
        step = self.view.step
        goals = {
            "right": step + 1,
            "left": step - 1,
            "shift+right": self.timeline.other_phase(step, True),
            "shift+left": self.timeline.other_phase(step, False),
            "home": 0,
            "end": len(self.timeline.steps) - 1,
        }
        if key in goals:
            self.view.playing = False
            self.view.help = False
            self.go(goals[key])

    def go(self, step: int) -> None:
        self.view.step = min(max(step, 0), len(self.timeline.steps) - 1)
        self.view.scroll = 0

    def play(self) -> None:
        view = self.view
        view.playing = not view.playing
        if view.playing:
            if view.step == len(self.timeline.steps) - 1:
                self.go(0)
            self.due = time.monotonic() + self.seconds

    def type(self, key: str) -> None:
        """A key while a name is being typed."""
        text = self.view.search or ""
        if key == "enter":
            self.view.search = None
            self.find(text.strip())
        elif key == "escape" or (key == "backspace" and not text):
            self.view.search = None
        elif key == "backspace":
            self.view.search = text[:-1]
        elif len(key) == 1 and key.isprintable():
            self.view.search = text + key

    def find(self, name: str) -> None:
        """Go to the step of this phase that computes or visits a node; a leaf has none of the backward pass."""
        node = next((node for node in self.screen.rows if node.name == name), None)
        if node is None:
            self.view.message = f"there is no node called {name}" if name else ""
            return
        phase = self.timeline.phase(self.view.step)
        step = self.timeline.step_of(node.id, phase)
        if step is None:
            self.view.message = f"{name} is a leaf, which the backward pass does not visit"
        else:
            self.go(step)


class _Terminal:
    """The terminal in raw mode: reads keys, draws views, and restores the terminal at the end."""

    def __init__(self, keys: int, out: TextIO) -> None:
        self.keys: int
        self.out: TextIO
        self.keys, self.out = keys, out
        self.ascii_only: bool = not (out.encoding or "").lower().replace("-", "").startswith("utf")
        self._console = Console(file=io.StringIO(), force_terminal=True, legacy_windows=False, highlight=False)
        self._decoder = codecs.getincrementaldecoder(sys.stdin.encoding or "utf-8")("replace")
        self._pending = ""
        self._saved: list[Any] = []
        self._handlers: dict[int, Any] = {}
        self._last: tuple[int, int] | None = None
        self._interrupted = False

    # --- entering and leaving -----------------------------------------------------------------------

    def __enter__(self) -> _Terminal:
        self._saved = termios.tcgetattr(self.keys)
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._handlers[number] = signal.signal(number, self._end)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspend)
        self._handlers[signal.SIGINT] = signal.signal(signal.SIGINT, self._interrupt)
        try:
            self._take()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _take(self) -> None:
        tty.setcbreak(self.keys, termios.TCSADRAIN)
        mode = termios.tcgetattr(self.keys)
        mode[6][termios.VMIN] = 0  # a read does not wait: see _read
        termios.tcsetattr(self.keys, termios.TCSADRAIN, mode)
        self._write(_ENTER)
        self._last = None

    def _give_back(self) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            self._write(_LEAVE)
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(self.keys, termios.TCSADRAIN, self._saved)

    def _end(self, number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        # Python ignores exceptions raised inside a finalizer, so the loop that waits for a key checks the flag as well.
        self._interrupted = True
        raise KeyboardInterrupt

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z: restore the terminal, stop, and take it again when the process continues."""
        self._give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._suspend)
        self._take()

    # --- out ------------------------------------------------------------------------------------------

    def draw(self, screen: Screen, view: View) -> None:
        """Draw a view over the whole window, in one write."""
        width, height = self._size()
        self._last = (width, height)
        self._console.size = (width, height)
        lines = []
        for line in screen.lines(view, self._console, width, height):
            with self._console.capture() as capture:
                self._console.print(line, end="", no_wrap=True, crop=True, overflow="crop")
            # After a line of full width the cursor still stands on the last cell, which erasing would take away.
            lines.append(capture.get() + ("" if line.cell_len >= width else "\x1b[K"))
        text = "\x1b[H" + "\r\n".join(lines)
        self._write(ascii_text(text) if self.ascii_only else text)

    def _size(self) -> tuple[int, int]:
        try:
            size = os.get_terminal_size(self.out.fileno())
        except OSError:
            return 80, 24
        return size.columns or 80, size.lines or 24

    def _write(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()

    # --- in -------------------------------------------------------------------------------------------

    def key(self, seconds: float | None) -> str | None:
        """The next key by its name; None when time is up or the window has another size, so that we draw again."""
        until = None if seconds is None else time.monotonic() + seconds
        while not self._pending:
            if self._interrupted:
                raise KeyboardInterrupt
            wait = _LOOK if until is None else min(_LOOK, max(0.0, until - time.monotonic()))
            ready = bool(select.select([self.keys], [], [], wait)[0])
            if ready and not self._read():
                return "q"  # the terminal has been closed
            if not ready and (self._size() != self._last or (until is not None and time.monotonic() >= until)):
                return None
        return self._next_key()

    def _read(self) -> bool:
        """Take in the keys that wait to be read; False when the terminal has been closed.

        Ctrl-C throws away what waits, also between the answer of select and this read: a read that waited for more
        would never come back. One that finds nothing asks again, for a closed terminal stays ready without a key.
        """
        for _ in range(2):
            data = os.read(self.keys, 1024)
            self._pending += self._decoder.decode(data)
            if data or not select.select([self.keys], [], [], 0)[0]:
                return True
        return False

    def _next_key(self) -> str:
        """Take one key off what was read; an escape waits a little for the rest of its sequence."""
        if self._pending == "\x1b" and select.select([self.keys], [], [], _ESCAPE)[0]:
            self._read()
        for text in _longest_first():
            if self._pending.startswith(text) and not (text == "\x1b" and len(self._pending) > 1):
                self._pending = self._pending[len(text) :]
                return _SEQUENCES[text]
        if self._pending.startswith("\x1b"):  # a sequence we do not know
            self._pending = _after_sequence(self._pending)
            return "unknown"
        first, self._pending = self._pending[0], self._pending[1:]
        return first


def _longest_first() -> Iterator[str]:
    yield from sorted(_SEQUENCES, key=len, reverse=True)


def _after_sequence(text: str) -> str:
    """What follows an unknown escape sequence: it ends with its first letter or tilde."""
    for position, character in enumerate(text[2:], 2):
        if character.isalpha() or character == "~":
            return text[position + 1 :]
    return ""
