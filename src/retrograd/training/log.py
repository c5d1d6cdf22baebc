"""A run's log: ``log.jsonl``, one JSON object a step."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .checkpoints import write_atomically

__all__ = ["LOG", "PathLike", "Progress", "flush_log", "log_line", "open_log", "read_log"]

LOG = "log.jsonl"

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Progress:
    """One finished training step: its loss (before the step), its learning rate, and steps a second so far."""

    step: int
    steps: int
    loss: float
    lr: float
    rate: float
    accuracy: float | None = None  #: of the moons: the share of points on the right side
    tier: str = "eager"  #: what ran the step: "eager", "jax", or a tier of :func:`retrograd.compile`


def read_log(out: PathLike) -> list[dict[str, Any]]:
    """The log of a run, one dict for each step. Lines that are cut short, or not of a log, are left out."""
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
    """One line of a run's log."""
    entry = dataclasses.asdict(progress)
    del entry["steps"]
    if progress.accuracy is None:
        del entry["accuracy"]
    return json.dumps({**entry, "rate": round(progress.rate, 2)}) + "\n"


def flush_log(log: IO[str]) -> None:
    """Put the lines written so far on the disk."""
    log.flush()
    os.fsync(log.fileno())
