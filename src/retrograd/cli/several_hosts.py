"""``retrograd train gpt --coordinator``: this process among those of other hosts, and what is said when one is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..training.hosts import connect
from .sentences import fail

__all__ = ["joined", "supervised"]

#: In the environment of the process that trains; its parent waits for it.
CHILD = "RETROGRAD_TRAINS_FOR"


@contextmanager
def supervised(coordinator: str | None, command: str) -> Iterator[None]:
    """Inside, the command trains; with a coordinator, in a child process.

    JAX aborts a process when another one is lost, in the middle of C++, and Python has no word in it: the parent says
    what happened. And a process that fails does not wait for the others, as JAX would when Python exits.
    """
    if coordinator is not None and CHILD not in os.environ:
        _wait_for_child(command)
    try:
        yield
    except typer.Exit as ended:
        if coordinator is not None and ended.exit_code:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(ended.exit_code)
        raise


def _wait_for_child(command: str) -> None:
    """Run this command line in a child process, and end as it ends."""
    child = subprocess.Popen(
        [sys.executable, "-m", "retrograd", *sys.argv[1:]], env={**os.environ, CHILD: str(os.getpid())}
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the child, which saves
    signal.signal(signal.SIGTERM, lambda number, frame: child.send_signal(number))
    status = child.wait()
    if status == -signal.SIGABRT:
        fail(
            "another process of the run is lost, or cannot be reached, so JAX has ended this one. The last checkpoint "
            f"is kept: start all processes again, each with: retrograd train {command} --resume"
        )
    raise typer.Exit(status if status >= 0 else 128 - status)


def joined(coordinator: str | None, processes: int | None, process_id: int | None, backend: str) -> bool:
    """Join the other hosts' processes, if there are any. Returns whether this one shows and saves."""
    if coordinator is None:
        if processes is not None or process_id is not None:
            fail("--processes and --process-id are for several hosts: give --coordinator HOST:PORT, too.")
        return True
    if backend != "jax":
        fail("--coordinator is for JAX on several hosts: give --backend jax, too.")
    return connect(coordinator, processes, process_id)
