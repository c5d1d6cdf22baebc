"""A run's log: ``log.jsonl``, one JSON object a step."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .checkpoints import write_atomically

__all__ = ["LOG", "PathLike", "Progress", "RecentRate", "flush_log", "log_line", "open_log", "read_log"]

LOG = "log.jsonl"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Progress:
    """One finished training step.

    Attributes:
        step: Its number, from 1.
        steps: How many steps the run has.
        loss: The loss before the parameters moved.
        lr: The learning rate of the step.
        rate: Steps a second, over the last two seconds or so.
        accuracy: Of the moons: the share of points on the right side, before the parameters moved; else None.
        tier: What ran the step: "eager", "jax", or a tier of :func:`retrograd.compile`.

    Example:
        >>> from retrograd.training import Progress
        >>> Progress(step=1, steps=10, loss=0.5, lr=0.1, rate=20.0).tier
        'eager'
    """

    step: int
    steps: int
    loss: float
    lr: float
    rate: float
    accuracy: float | None = None
    tier: str = "eager"


def read_log(out: PathLike) -> list[dict[str, Any]]:
    """The log of a run, ``log.jsonl`` in its folder.

    Args:
        out: The folder of the run.

    Returns:
        One dictionary for each step, with the fields of :class:`Progress`; an empty list when there is no log. A line
        that a crash cut short, or that another program wrote, is left out.

    Example:
        >>> from retrograd.training import read_log
        >>> read_log("/nowhere")
        []
    """
    try:
        lines = (Path(out) / LOG).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    entries = []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and type(entry.get("step")) is int and type(entry.get("loss")) is float:
            entries.append(entry)
    return entries


def open_log(path: Path, done: int) -> IO[str]:
    """The log opened for appending, without the lines of steps that the checkpoint does not know."""
    kept = [json.dumps(entry) + "\n" for entry in read_log(path.parent) if entry["step"] <= done]
    write_atomically(path, "".join(kept).encode())
    return open(path, "a", encoding="utf-8", buffering=1)


def log_line(progress: Progress) -> str:
    r"""One line of a run's log: what the step was, as JSON.

    Args:
        progress: The step. Its accuracy is left out where it is None.

    Returns:
        The line, with its line break.

    Example:
        >>> from retrograd.training import Progress, log_line
        >>> log_line(Progress(step=1, steps=10, loss=0.5, lr=0.1, rate=20.0))
        '{"step": 1, "loss": 0.5, "lr": 0.1, "rate": 20.0, "tier": "eager"}\n'
    """
    entry = dataclasses.asdict(progress)
    del entry["steps"]
    if progress.accuracy is None:
        del entry["accuracy"]
    return json.dumps({**entry, "rate": round(progress.rate, 2)}) + "\n"


def flush_log(log: IO[str]) -> None:
    """Put the lines written so far on the disk."""
    log.flush()
    os.fsync(log.fileno())


class RecentRate:
    """Steps a second lately: over a window of one to two seconds, because the first steps compile and are slow."""

    def __init__(self, done: int) -> None:
        now = time.monotonic()
        self._older = self._newer = (done, now)

    def after(self, done: int, now: float) -> float:
        """The rate after ``done`` steps, at the time ``now``."""
        if now - self._newer[1] >= 1.0:
            self._older, self._newer = self._newer, (done, now)
        steps, since = self._older
        return (done - steps) / max(now - since, 1e-9)
