"""Training runs: ``train_gpt`` and ``train_moons``.

Both yield a :class:`Progress` after each step, and keep in a folder the checkpoint and ``log.jsonl``, one JSON object
a step. A run that was killed and is resumed goes on with the same numbers, bit for bit.
"""

from __future__ import annotations

import dataclasses
import math
import random
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO

from ..engine import ENGINE, Value
from ..errors import AnomalyError, CheckpointError
from ..nn import GPT, MLP
from .checkpoints import INDEX, Checkpoint, load_checkpoint, save_checkpoint
from .data import Vocabulary, make_moons
from .log import LOG, PathLike, Progress, flush_log, log_line, open_log
from .tasks import KINDS, AnySettings, Backend, GPTSettings, MoonsSettings, Task, build_gpt, gpt_task, moons_task

__all__ = [
    "SAVE_EVERY",
    "clear_run",
    "load_gpt",
    "load_moons",
    "one_step",
    "open_run",
    "run_exists",
    "save_run",
    "saved_settings",
    "train_gpt",
    "train_moons",
]

#: Seconds between two checkpoints of a run; one is also written at its beginning and its end.
SAVE_EVERY = 10.0


def train_gpt(
    settings: GPTSettings,
    out: PathLike,
    *,
    resume: bool = False,
    force: bool = False,
    save_every: float = SAVE_EVERY,
    eager: bool = False,
    backend: Backend = "native",
    devices: int | None = None,
) -> Generator[Progress, None, None]:
    """Train a GPT on the documents of ``settings.data``, ``batch`` a step, with Adam and a linearly falling rate.

    The run lives in the folder ``out``. When there is one already, ``resume`` goes on with it (only ``steps`` may
    differ then), and ``force`` deletes it first. A checkpoint is written every ``save_every`` seconds.
    ``backend="jax"`` divides each step's documents among ``devices`` devices of JAX (all without it), with the
    same losses but for rounding; a run may be resumed with another backend.
    Seeds Python's ``random``. Close the iterator between two steps to stop early: it saves first.
    Steps are compiled (:func:`retrograd.compile`), or, with ``eager``, recorded and swept one by one; the losses of
    the two differ in their last digits.

    Raises DataError, CheckpointError, ValueError for impossible sizes, OSError when the folder cannot be written,
    AnomalyError when the loss stops being a finite number, and MissingExtraError for a backend that is not installed.
    """
    if eager and backend != "native":
        raise ValueError("eager=True runs on retrograd's own engine: leave out eager or the backend.")
    return _start(gpt_task(settings, backend, devices), Path(out), resume, force, save_every, eager)


def train_moons(
    settings: MoonsSettings,
    out: PathLike,
    *,
    resume: bool = False,
    force: bool = False,
    save_every: float = SAVE_EVERY,
    eager: bool = False,
) -> Generator[Progress, None, None]:
    """Train an MLP to tell the two moons apart, with a hinge loss, as :func:`train_gpt` does in all else."""
    return _start(moons_task(settings), Path(out), resume, force, save_every, eager)


# --- the run --------------------------------------------------------------------------------------


def open_run(task: Task, out: Path, resume: bool, force: bool) -> int:
    """Begin the run in ``out``, or restore it, and return how many steps are done. Raises as :func:`train_gpt` does."""
    if out.exists() and not out.is_dir():
        raise CheckpointError(f"{out} is a file, and a run needs a folder: choose another name.")
    if resume:
        return _restore(task, out)
    if run_exists(out) and not force:
        raise CheckpointError(
            f"{out} already holds a run: resume it (--resume), replace it by a new one (--force), "
            "or choose another folder (--out)."
        )
    clear_run(out)
    save_run(task, out, 0)
    return 0


def _start(
    task: Task, out: Path, resume: bool, force: bool, save_every: float, eager: bool
) -> Generator[Progress, None, None]:
    """Open the run here, so that an error is raised now and not at the first step."""
    done = open_run(task, out, resume, force)
    run_step: StepFunction = one_step if eager or ENGINE == "reference" else compiled_step
    if task.mesh is not None:
        run_step = mesh_step
    return _steps(task, out, done, open_log(out / LOG, done), save_every, run_step)


StepFunction = Callable[[Task, int, int], tuple[float, float | None]]


def _tier(task: Task, run_step: StepFunction) -> str:
    """What ran the last step."""
    if task.mesh is not None:
        return "jax"
    return "eager" if run_step is one_step or task.loss is None else task.loss.tier


def _steps(
    task: Task,
    out: Path,
    done: int,
    log: IO[str],
    save_every: float,
    run_step: StepFunction,
) -> Generator[Progress, None, None]:
    first, began, saved, saved_at = done, time.monotonic(), done, time.monotonic()
    with log:
        try:
            while done < task.settings.steps:
                task.schedule.seek(done)
                lr = task.optimizer.lr
                loss, accuracy = run_step(task, done, saved)
                tier = _tier(task, run_step)
                done += 1
                now = time.monotonic()
                rate = (done - first) / max(now - began, 1e-9)
                progress = Progress(done, task.settings.steps, loss, lr, rate, accuracy, tier)
                log.write(log_line(progress))
                if now - saved_at >= save_every:
                    flush_log(log)
                    save_run(task, out, done)
                    saved, saved_at = done, now
                yield progress
        except GeneratorExit:
            _finish(task, out, done, saved, log)
            raise
        _finish(task, out, done, saved, log)


def one_step(
    task: Task, step: int, saved: int, look: Callable[[Value], object] | None = None
) -> tuple[float, float | None]:
    """Forward, backward and update; returns the loss and the accuracy. A loss that is not finite updates nothing.

    ``look`` is called with the loss when the gradients are there and nothing is updated yet.
    """
    task.optimizer.zero_grad()
    loss, accuracy = task.evaluate(step)
    _insist_on_finite(task, step, saved, loss.data)
    loss.backward()
    if look is not None:
        look(loss)
    task.optimizer.step()
    return loss.data, accuracy


def compiled_step(task: Task, step: int, saved: int) -> tuple[float, float | None]:
    """The same as :func:`one_step`, by the task's compiled function."""
    assert task.compiled is not None
    task.optimizer.zero_grad()
    loss, accuracy = task.compiled(step)
    _insist_on_finite(task, step, saved, loss)
    task.optimizer.step()
    return loss, accuracy


def mesh_step(task: Task, step: int, saved: int) -> tuple[float, None]:
    """The same as :func:`one_step`, on the devices of a JAX mesh."""
    assert task.mesh is not None
    assert task.members is not None
    loss = task.mesh.step(task.members(step))
    _insist_on_finite(task, step, saved, loss)
    return loss, None


def _insist_on_finite(task: Task, step: int, saved: int, loss: float) -> None:
    if not math.isfinite(loss):
        raise AnomalyError(
            f"the loss of step {step + 1} is {loss}: the run has diverged; start again with a learning rate "
            f"below {task.schedule.start:g}. The checkpoint of step {saved} is kept."
        )


def _finish(task: Task, out: Path, done: int, saved: int, log: IO[str]) -> None:
    flush_log(log)
    if done > saved:
        save_run(task, out, done)


def save_run(task: Task, out: Path, done: int) -> None:
    """Write the checkpoint of a run of which ``done`` steps are finished."""
    if task.mesh is not None:
        task.mesh.write_back()
    settings = dataclasses.asdict(task.settings)
    config = {"kind": KINDS[type(task.settings)], "settings": settings, **task.config}
    save_checkpoint(out, Checkpoint(done, config, task.model.state_dict(), task.optimizer.state_dict()))


def _restore(task: Task, out: Path) -> int:
    """Put the checkpoint's numbers into a freshly built task and return the number of finished steps."""
    checkpoint = load_checkpoint(out)
    saved = _settings_of(checkpoint, type(task.settings), out)
    for name, value in dataclasses.asdict(saved).items():
        wanted = getattr(task.settings, name)
        if name not in ("steps", "data") and wanted != value:
            raise CheckpointError(
                f"the run in {out} was started with {name} {value}, not {wanted}: resume it with {value}."
            )
    if task.settings.steps < checkpoint.step:
        raise CheckpointError(
            f"the run in {out} has finished {checkpoint.step} steps, more than {task.settings.steps}: "
            f"set steps to {checkpoint.step} or more."
        )
    if any(checkpoint.config.get(key) != value for key, value in task.config.items()):
        raise CheckpointError(f"the run in {out} was started with other data: give it the same file.")
    task.model.load_state_dict(checkpoint.parameters)
    task.optimizer.load_state_dict(checkpoint.optimizer)
    random.setstate(checkpoint.random_state)
    return checkpoint.step


def run_exists(out: PathLike) -> bool:
    """Whether the folder holds a run, finished or not."""
    return any((Path(out) / name).exists() for name in (INDEX, LOG))


def clear_run(out: PathLike) -> None:
    """Delete a run's checkpoint and log from its folder, and nothing else that may be there."""
    out = Path(out)
    for path in [out / INDEX, out / LOG, *out.glob("parameters-*.safetensors")]:
        path.unlink(missing_ok=True)


# --- what a run leaves ----------------------------------------------------------------------------


def saved_settings(out: PathLike, kind: type[AnySettings]) -> AnySettings:
    """The settings of the run in ``out``. Raises CheckpointError when it is of another kind, or damaged."""
    return _settings_of(load_checkpoint(out), kind, out)


def _settings_of(checkpoint: Checkpoint, kind: type[AnySettings], out: PathLike) -> AnySettings:
    found = checkpoint.config.get("kind")
    if found != KINDS[kind]:
        raise CheckpointError(
            f"{out} holds a run of the kind {found!r}, not {KINDS[kind]!r}: resume it as a {found!r} run, "
            "or choose another folder."
        )
    defaults, settings = dataclasses.asdict(kind()), checkpoint.config.get("settings")
    if not isinstance(settings, dict) or settings.keys() != defaults.keys():
        raise CheckpointError(f"the checkpoint in {out} lacks the run's settings: it is damaged or foreign.")
    for name, value in settings.items():
        right = value is None or isinstance(value, str) if name == "data" else type(value) is type(defaults[name])
        if not right:
            raise CheckpointError(f"the checkpoint in {out} says {name} is {value!r}: it is damaged or foreign.")
    return kind(**settings)


def load_gpt(out: PathLike) -> tuple[GPT, Vocabulary]:
    """The model and vocabulary of a GPT run; sets Python's ``random`` to the state after the run's last step."""
    checkpoint = load_checkpoint(out)
    settings = _settings_of(checkpoint, GPTSettings, out)
    characters = checkpoint.config.get("characters")
    if not isinstance(characters, str):
        raise CheckpointError(f"the checkpoint in {out} lacks the vocabulary: it is damaged or foreign.")
    vocabulary = Vocabulary(characters)
    model = build_gpt(settings, vocabulary)
    model.load_state_dict(checkpoint.parameters)
    random.setstate(checkpoint.random_state)
    return model, vocabulary


def load_moons(out: PathLike) -> tuple[MLP, list[tuple[float, float]], list[int]]:
    """The model of a moons run, with the points and labels it was trained on."""
    checkpoint = load_checkpoint(out)
    settings = _settings_of(checkpoint, MoonsSettings, out)
    model = MLP(2, [16, 16, 1])
    model.load_state_dict(checkpoint.parameters)
    points, labels = make_moons(settings.points, settings.noise, settings.seed)
    return model, points, labels
