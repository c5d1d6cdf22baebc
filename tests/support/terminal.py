"""A terminal to test in: a command on a pseudo-terminal, the keys it is sent, and the screen it draws."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

from support.timeouts import PATIENCE

ROOT = str(Path(__file__).resolve().parents[2])
KEYS = {
    "right": "\x1b[C",
    "left": "\x1b[D",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "shift+right": "\x1b[1;2C",
    "shift+left": "\x1b[1;2D",
    "home": "\x1b[H",
    "end": "\x1bOF",
    "page down": "\x1b[6~",
    "page up": "\x1b[5~",
    "escape": "\x1b",
    "enter": "\r",
    "ctrl+c": "\x03",
    "ctrl+z": "\x1a",
}


class Screen(pyte.Screen):
    """As tmux and xterm do it: after a line of full width the cursor still stands on its last cell."""

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        self.cursor.x = min(self.cursor.x, self.columns - 1)
        super().erase_in_line(how, private)


class Terminal:
    """Runs ``python -m retrograd`` with ``arguments``; reads all it draws into ``screen``."""

    def __init__(
        self,
        arguments: Sequence[str],
        width: int = 80,
        height: int = 24,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] = ("-m", "retrograd"),
    ) -> None:
        self.screen = Screen(width, height)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status: int | None = None
        surroundings = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **(environment or {})}
        surroundings.pop("COLUMNS", None)
        surroundings.pop("LINES", None)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:  # the child
            os.execve(sys.executable, [sys.executable, *command, *arguments], surroundings)
        self.resize(width, height)
        self.before = termios.tcgetattr(self.fd)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        if (self.screen.columns, self.screen.lines) != (width, height):
            self.screen.resize(height, width)

    def send(self, *keys: str) -> None:
        for key in keys:
            os.write(self.fd, KEYS.get(key, key).encode())

    def read(self, seconds: float = 0.05) -> bool:
        """Take in what was drawn; False when nothing was."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other side has gone
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def flat(self) -> str:
        """All words on the screen, one space between them, whatever lines they stand on."""
        return " ".join(self.text.split())

    def wait_for(self, pattern: str | re.Pattern[str], seconds: float = PATIENCE) -> None:
        """Until this text, or something that a compiled pattern finds, stands on the screen."""
        found = pattern if isinstance(pattern, re.Pattern) else re.compile(re.escape(pattern))
        until = time.monotonic() + seconds
        while not found.search(self.flat):
            assert time.monotonic() < until, f"{found.pattern!r} was not drawn:\n{self.text}"
            self.read()

    def wait_for_end(self, seconds: float = PATIENCE) -> int:
        """The exit status; negative for a signal."""
        until = time.monotonic() + seconds
        while True:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read():
                    pass
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
            assert time.monotonic() < until, f"it did not end:\n{self.text}"
