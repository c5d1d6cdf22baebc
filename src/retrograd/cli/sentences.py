"""Errors on the command line: one sentence on stderr and an exit status, never a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

import typer
from rich.console import Console

from ..errors import RetrogradError

__all__ = [
    "INTERRUPTED",
    "OutputConsole",
    "StopRequest",
    "end_with_verdict",
    "fail",
    "file_sentence",
    "one_sentence_errors",
]

#: The exit status of a command that Ctrl-C ended (128 + SIGINT), as shells have it.
INTERRUPTED = 130


@contextmanager
def one_sentence_errors(*also: type[Exception]) -> Iterator[None]:
    """Inside, a RetrogradError, an OSError or one of ``also`` ends the command: a sentence, exit status 1.

    Ctrl-C exits with 130; a reader of our output that went away (``| head``) has had enough: the status is 0.
    """
    expected: tuple[type[Exception], ...] = (RetrogradError, *also)
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        raise typer.Exit(0) from None
    except KeyboardInterrupt:
        fail("interrupted.", INTERRUPTED)
    except OSError as error:
        if error.filename is None:
            _discard_output()  # most likely standard output failed, and Python would write to it again at exit
        fail(file_sentence(error))
    except MemoryError:
        fail("there is not enough memory: make the problem smaller.")
    except expected as error:
        fail(str(error))


def end_with_verdict(right: bool, write: Callable[[], object]) -> NoReturn:
    """Write a verdict and exit: with 0 if it is ``right``, with 1 if not; with 2 if a right one cannot be written."""
    unwritten = 0
    try:
        with one_sentence_errors():
            write()
            sys.stdout.flush()
    except typer.Exit as error:  # 0: a reader that went away does not change the verdict
        unwritten = 2 if error.exit_code == 1 else error.exit_code
    raise typer.Exit(unwritten if right else 1)


class OutputConsole(Console):
    """Standard output through rich, where a reader that went away is what it is for print: a BrokenPipeError.

    Rich's own exits with 1 and says nothing.
    """

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _discard_output() -> None:
    """Discard the output that Python has not written yet."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(sentence: str, status: int = 1) -> NoReturn:
    """Print a sentence on stderr and end the command with an exit status."""
    print(f"retrograd: {' '.join(sentence.split())}", file=sys.stderr)
    raise typer.Exit(status)


def file_sentence(error: OSError) -> str:
    """The system's message about a file, as a sentence that names the file."""
    reason = (error.strerror or str(error) or type(error).__name__).rstrip(".")
    return f"{error.filename}: {reason}." if error.filename is not None else f"writing failed: {reason}."


class StopRequest:
    """A context in which the first Ctrl-C only sets ``made``, for a loop to see; the second interrupts at once.

    SIGTERM, which batch systems send, does the same; ``status`` is the exit status that tells of either.
    """

    def __init__(self) -> None:
        self.made: bool = False
        self.status: int = INTERRUPTED

    def __enter__(self) -> StopRequest:
        self._previous = {number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.made:
            raise KeyboardInterrupt
        self.made = True
        self.status = 128 + number
        with suppress(OSError):  # not print: a handler may run in the middle of one
            os.write(2, b"\nstopping after this step, and saving; Ctrl-C again interrupts at once\n")
