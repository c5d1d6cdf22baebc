"""Checkpoints of a training run: parameters as safetensors, everything else as JSON, nothing unpickled.

A checkpoint is a folder with ``checkpoint.json``, which names the safetensors file it belongs to together
with that file's size and SHA-256. Both are written to a temporary name, flushed to the disk and renamed, the JSON last:
a process killed at any moment leaves the old pair or the new one.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from ..errors import CheckpointError

__all__ = ["INDEX", "Checkpoint", "load_checkpoint", "save_checkpoint"]

INDEX = "checkpoint.json"
FORMAT, VERSION = "retrograd-checkpoint", 1
#: A larger ``checkpoint.json`` is foreign; ours hold about 8 KB beside the vocabulary.
LARGEST_INDEX = 64 * 1024 * 1024

Arrays = dict[str, NDArray[np.float64]]


@dataclass(slots=True)
class Checkpoint:
    """A moment of a training run.

    ``parameters`` is a ``Module.state_dict()``, ``optimizer`` an ``Optimizer.state_dict()``, ``step`` the
    number of finished steps, ``config`` whatever JSON the run needs to be built again, ``random_state`` the
    state of Python's ``random``.
    """

    step: int
    config: dict[str, Any]
    parameters: Arrays
    optimizer: dict[str, Any]
    random_state: tuple[Any, ...] = field(default_factory=random.getstate)


def save_checkpoint(folder: str | os.PathLike[str], checkpoint: Checkpoint) -> None:
    """Write the checkpoint into ``folder``, in place of the one there; see the module for how.

    Raises OSError when the disk is full or the folder cannot be written, and leaves the old checkpoint whole.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"model.{name}": array for name, array in checkpoint.parameters.items()}
    tensors |= {f"optimizer.{name}": array for name, array in checkpoint.optimizer["arrays"].items()}
    content = safetensors.numpy.save(tensors)
    digest = hashlib.sha256(content).hexdigest()
    name = f"parameters-{digest[:16]}.safetensors"
    index = {
        "format": FORMAT,
        "version": VERSION,
        "step": checkpoint.step,
        "parameters": {"file": name, "bytes": len(content), "sha256": digest},
        "config": checkpoint.config,
        "optimizer": {key: value for key, value in checkpoint.optimizer.items() if key != "arrays"},
        "random_state": checkpoint.random_state,
    }
    write_atomically(folder / name, content)
    write_atomically(folder / INDEX, json.dumps(index, allow_nan=False).encode())
    for other in [*folder.glob("parameters-*.safetensors"), *folder.glob(".parameters-*.tmp")]:
        if other.name != name:
            other.unlink(missing_ok=True)


def load_checkpoint(folder: str | os.PathLike[str]) -> Checkpoint:
    """Read the checkpoint in ``folder``. Raises CheckpointError when there is none, or it is damaged or foreign."""
    path = Path(folder) / INDEX
    index = _read_index(path)
    with _blaming(path):
        tensors = _read_tensors(path.parent, index["parameters"])
        optimizer = {**index["optimizer"], "arrays": _under("optimizer.", tensors)}
        step, config = index["step"], index["config"]
        if type(step) is not int or step < 0 or not isinstance(config, dict):
            raise TypeError("its step or its config")
        state = _random_state(index["random_state"])
        return Checkpoint(step, config, _under("model.", tensors), optimizer, state)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that ``path`` holds, at every moment and after a crash, all of the old content or of the new."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:  # Ctrl-C leaves nothing behind either
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the system can open a folder (Windows cannot)."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _blaming(path: Path) -> Iterator[None]:
    """Turn an exception that a damaged index causes into a CheckpointError that names the file."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(
            f"{path} is damaged or was not written by retrograd ({_reason(error)}): start a new run."
        ) from None


def _reason(error: Exception) -> str:
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)


def _read_index(path: Path) -> dict[str, Any]:
    try:
        size = path.stat().st_size
        text = path.read_bytes() if size <= LARGEST_INDEX else b""
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(
            f"there is no checkpoint in {path.parent} (no {path.name}): give the folder of a run, or start one."
        ) from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        index = json.loads(text)
    except (ValueError, RecursionError):
        raise CheckpointError(
            f"{path} is truncated or not a checkpoint: it holds {size} bytes that are not JSON. Start a new run."
        ) from None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise CheckpointError(
            f"{path} is JSON but not a retrograd checkpoint (its format is not {FORMAT!r}): give the folder of a run."
        )
    if index.get("version") != VERSION:
        raise CheckpointError(
            f"{path} has the version {index.get('version')!r}; this retrograd reads version {VERSION}: "
            "use the release that wrote it."
        )
    return index


def _read_tensors(folder: Path, entry: Mapping[str, Any]) -> Arrays:
    name, size, digest = entry["file"], entry["bytes"], entry["sha256"]
    path = folder / name
    if Path(name).name != name:
        raise ValueError(f"its parameter file {name!r} is not a plain file name")
    try:
        actual = path.stat().st_size
        if actual != size:
            raise CheckpointError(
                f"{path} holds {actual} bytes and the checkpoint says {size}: it is truncated, or another file. "
                "Start a new run."
            )
        content = path.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(
            f"{path} is missing: a checkpoint is {INDEX} together with the file it names; "
            "put it back, or start a new run."
        ) from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}.") from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise CheckpointError(
            f"{path} is not the file that {INDEX} describes (its SHA-256 differs): it is damaged, or another file. "
            "Start a new run."
        )
    try:
        tensors = safetensors.numpy.load(content)
    except SafetensorError as error:
        raise CheckpointError(f"{path} is not a safetensors file: {error}.") from None
    for key, array in tensors.items():
        if array.dtype != np.float64:
            raise CheckpointError(f"{path} holds {key!r} as {array.dtype}; a checkpoint's arrays are float64.")
    return tensors


def _under(prefix: str, tensors: Arrays) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


def _random_state(state: Any) -> tuple[Any, ...]:
    """The JSON form of ``random.getstate()`` as ``random.setstate`` takes it; raises TypeError or ValueError."""
    version, numbers, gauss = state
    if gauss is not None and not (isinstance(gauss, float) and math.isfinite(gauss)):
        raise ValueError("its random state")
    if version != random.Random.VERSION:
        raise ValueError(f"its random state has the version {version!r}")
    checked = (version, tuple(numbers), gauss)
    random.Random().setstate(checked)
    return checked
