"""Training runs: ``train_gpt`` and ``train_moons``.

Both yield a :class:`Progress` after each step, and keep in a folder the checkpoint and ``log.jsonl``, one JSON object
a step. A run that was killed and is resumed goes on with the same numbers, bit for bit.
"""

from __future__ import annotations

import dataclasses
import math
import os
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
from .log import LOG, PathLike, Progress, RecentRate, flush_log, log_line, open_log
from .tasks import KINDS, AnySettings, Backend, GPTSettings, MoonsSettings, Task, build_gpt, gpt_task, moons_task

__all__ = [
    "SAVE_EVERY",
    "clear_run",
    "load_gpt",
    "load_moons",
    "one_step",
    "open_run",
    "refuse_taken",
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
    """Train a GPT on the documents of ``settings.data``, with Adam and a learning rate that falls linearly.

    The run is begun, or resumed, before the first step is asked for. A run that was killed and is resumed goes on with
    the same losses, bit for bit. Close the iterator between two steps to stop early: it saves first. Seeds Python's
    ``random``.

    Args:
        settings: What fixes the run.
        out: The folder with the checkpoint and ``log.jsonl``, one JSON object a step.
        resume: Go on with the run in the folder; only ``steps`` and ``data`` of the settings may differ then.
        force: Delete the run in the folder first.
        save_every: Seconds between two checkpoints; one is also written at the beginning and at the end.
        eager: Record and sweep each step instead of running it compiled (:func:`retrograd.compile`). The losses of the
            two differ in their last digits.
        backend: ``"native"``, or ``"jax"`` to divide each step's documents among JAX's devices, with the same losses
            but for rounding. A run may be resumed with another backend.
        devices: How many devices of JAX; None for all.

    Returns:
        An iterator that takes one step at a time and gives its :class:`Progress`.

    Raises:
        DataError: The data cannot be used.
        CheckpointError: The folder holds a run and neither ``resume`` nor ``force`` is given, or one that cannot be
            resumed with these settings.
        ValueError: A size is impossible, or ``eager`` comes with another backend than the native one.
        OSError: The folder cannot be written.
        AnomalyError: While it runs: the loss is not a finite number. The last checkpoint is kept.
        MissingExtraError: The backend is not installed.
        HostsError: Where several processes train together: they have different runs, or one is gone.

    Example:
        >>> import tempfile
        >>> from retrograd.training import GPTSettings, train_gpt
        >>> settings = GPTSettings(steps=2, n_embd=4, n_head=1, block_size=4)
        >>> with tempfile.TemporaryDirectory() as out:
        ...     [progress.step for progress in train_gpt(settings, out, eager=True)]
        [1, 2]
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
    """Train an MLP to tell the two moons apart, with a hinge loss and SGD.

    Args:
        settings: What fixes the run.
        out: The folder with the checkpoint and ``log.jsonl``, one JSON object a step.
        resume: Go on with the run in the folder; only ``steps`` of the settings may differ then.
        force: Delete the run in the folder first.
        save_every: Seconds between two checkpoints; one is also written at the beginning and at the end.
        eager: Record and sweep each step instead of running it compiled.

    Returns:
        An iterator that takes one step at a time and gives its :class:`Progress`, with the accuracy.

    Raises:
        CheckpointError: As for :func:`train_gpt`.
        ValueError: There are more than 100,000 points.
        OSError: The folder cannot be written.
        AnomalyError: While it runs: the loss is not a finite number. The last checkpoint is kept.

    Example:
        >>> import tempfile
        >>> from retrograd.training import MoonsSettings, train_moons
        >>> with tempfile.TemporaryDirectory() as out:
        ...     [progress.step for progress in train_moons(MoonsSettings(points=10, steps=2), out, eager=True)]
        [1, 2]
    """
    return _start(moons_task(settings), Path(out), resume, force, save_every, eager)


# --- the run --------------------------------------------------------------------------------------


def open_run(task: Task, out: Path, resume: bool, force: bool) -> int:
    """Begin the run of a task in a folder, or restore it.

    Args:
        task: A fresh task; its model and optimizer are restored.
        out: The folder.
        resume: Go on with the run in the folder.
        force: Delete the run in the folder first.

    Returns:
        How many steps are done.

    Raises:
        CheckpointError: As for :func:`train_gpt`.
        OSError: The folder cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from retrograd.training import MoonsSettings, moons_task, open_run
        >>> with tempfile.TemporaryDirectory() as out:
        ...     open_run(moons_task(MoonsSettings(points=10)), Path(out), resume=False, force=False)
        0
    """
    if out.exists() and not out.is_dir():
        raise CheckpointError(f"{out} is a file, and a run needs a folder: choose another name.")
    if resume:
        return _restore(task, out)
    if not force:
        refuse_taken(out)
    clear_run(out)
    save_run(task, out, 0)
    return 0


def _start(
    task: Task, out: Path, resume: bool, force: bool, save_every: float, eager: bool
) -> Generator[Progress, None, None]:
    """Open the run here, so that an error is raised now and not at the first step."""
    writes = task.mesh is None or task.mesh.first
    # A process of another host writes nothing: it begins afresh, or reads what the first one wrote.
    restored = _restore if resume else lambda *_: 0
    done = open_run(task, out, resume, force) if writes else restored(task, out)
    if task.mesh is not None:
        task.mesh.insist_on_the_same(done)
    run_step: StepFunction = one_step if eager or ENGINE == "reference" else compiled_step
    if task.mesh is not None:
        run_step = mesh_step
    log = open_log(out / LOG, done) if writes else open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (_steps does)
    return _steps(task, out, done, log, save_every if writes else math.inf, run_step)


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
    saved, saved_at, speed = done, time.monotonic(), RecentRate(done)
    with log:
        try:
            while done < task.settings.steps:
                task.schedule.seek(done)
                lr = task.optimizer.lr
                loss, accuracy = run_step(task, done, saved)
                tier = _tier(task, run_step)
                done += 1
                now = time.monotonic()
                progress = Progress(done, task.settings.steps, loss, lr, speed.after(done, now), accuracy, tier)
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
    """One eager training step: forward, backward, update.

    Args:
        task: What is trained.
        step: The number of the step, from 0, which chooses the data.
        saved: The step of the last checkpoint, for the message of the error.
        look: A function that is called with the loss when the gradients are complete and nothing has moved yet.

    Returns:
        The loss before the update, and the accuracy or None.

    Raises:
        AnomalyError: The loss is not a finite number; nothing is updated.

    Example:
        >>> from retrograd.training import MoonsSettings, moons_task, one_step
        >>> task = moons_task(MoonsSettings(points=10))
        >>> first, _ = one_step(task, step=0, saved=0)
        >>> second, _ = one_step(task, step=1, saved=0)
        >>> first != second
        True
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
    if task.mesh is not None and not task.mesh.first:
        return
    flush_log(log)
    if done > saved:
        save_run(task, out, done)


def save_run(task: Task, out: Path, done: int) -> None:
    """Write the checkpoint of a run into its folder, in place of the one there.

    Args:
        task: What is trained.
        out: The folder.
        done: How many steps are finished.

    Raises:
        OSError: The disk is full or the folder cannot be written; the old checkpoint is whole.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from retrograd.training import MoonsSettings, moons_task, run_exists, save_run
        >>> with tempfile.TemporaryDirectory() as out:
        ...     save_run(moons_task(MoonsSettings(points=10)), Path(out), done=0)
        ...     run_exists(out)
        True
    """
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
    """Whether a folder holds a run, finished or not.

    Args:
        out: The folder, which need not exist.

    Returns:
        Whether there is a checkpoint or a log.

    Example:
        >>> from retrograd.training import run_exists
        >>> run_exists("/nowhere")
        False
    """
    return any((Path(out) / name).exists() for name in (INDEX, LOG))


def refuse_taken(out: PathLike) -> None:
    """Raise CheckpointError where a folder holds a run already.

    Args:
        out: The folder, which need not exist.

    Raises:
        CheckpointError: There is a run; the message says what can be done.

    Example:
        >>> from retrograd.training import refuse_taken
        >>> refuse_taken("/nowhere")
    """
    if run_exists(out):
        raise CheckpointError(
            f"{out} already holds a run: resume it (--resume), replace it by a new one (--force), "
            "or choose another folder (--out)."
        )


def clear_run(out: PathLike) -> None:
    """Delete a run's checkpoint and log from its folder, and nothing else that may be there.

    Args:
        out: The folder, which need not hold a run.

    Example:
        >>> from retrograd.training import clear_run
        >>> clear_run("/nowhere")
    """
    out = Path(out)
    for path in [out / INDEX, out / LOG, *out.glob("parameters-*.safetensors")]:
        path.unlink(missing_ok=True)


# --- what a run leaves ----------------------------------------------------------------------------


def saved_settings(out: PathLike, kind: type[AnySettings]) -> AnySettings:
    """The settings of a run.

    Args:
        out: The folder of the run.
        kind: GPTSettings or MoonsSettings.

    Returns:
        The settings that it was begun with, or last resumed with.

    Raises:
        CheckpointError: There is no run, it is of the other kind, or it is damaged.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from retrograd.training import MoonsSettings, moons_task, save_run, saved_settings
        >>> with tempfile.TemporaryDirectory() as out:
        ...     save_run(moons_task(MoonsSettings(points=10)), Path(out), done=0)
        ...     saved_settings(out, MoonsSettings).points
        10
    """
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
    """The model of a GPT run; sets Python's ``random`` to the state after the run's last step.

    Args:
        out: The folder of the run.

    Returns:
        The model with its trained parameters, and the vocabulary.

    Raises:
        CheckpointError: There is no run, it is of another kind, or it is damaged.

    Example:
        >>> import tempfile
        >>> from retrograd.training import GPTSettings, load_gpt, train_gpt
        >>> settings = GPTSettings(steps=1, n_embd=4, n_head=1, block_size=4)
        >>> with tempfile.TemporaryDirectory() as out:
        ...     steps = list(train_gpt(settings, out, eager=True))
        ...     model, vocabulary = load_gpt(out)
        >>> model.block_size
        4
    """
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
    """The model of a moons run, with the points and labels it was trained on.

    Args:
        out: The folder of the run.

    Returns:
        The model with its trained parameters, the points (x, y), and their labels, -1 or 1.

    Raises:
        CheckpointError: There is no run, it is of another kind, or it is damaged.

    Example:
        >>> import tempfile
        >>> from retrograd.training import MoonsSettings, load_moons, train_moons
        >>> with tempfile.TemporaryDirectory() as out:
        ...     steps = list(train_moons(MoonsSettings(points=10, steps=1), out, eager=True))
        ...     model, points, labels = load_moons(out)
        >>> len(points), sorted(set(labels))
        (10, [-1, 1])
    """
    checkpoint = load_checkpoint(out)
    settings = _settings_of(checkpoint, MoonsSettings, out)
    model = MLP(2, [16, 16, 1])
    model.load_state_dict(checkpoint.parameters)
    points, labels = make_moons(settings.points, settings.noise, settings.seed)
    return model, points, labels
