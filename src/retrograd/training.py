"""Training runs: a GPT on the lines of a text file, a small network on the two moons.

``train_gpt`` and ``train_moons`` yield a :class:`Progress` after each step, and keep in a folder the checkpoint and
``log.jsonl``, one JSON object a step. A run that was killed and is resumed goes on with the same numbers, bit for bit.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import random
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar

from .checkpoint import INDEX, Checkpoint, load_checkpoint, save_checkpoint, write_atomically
from .compiler import Compiled, Tier
from .compiler import compile as compiled_function
from .data import Vocabulary, load_documents, make_moons
from .engine import ENGINE, Value, no_grad
from .errors import AnomalyError, CheckpointError, DataError
from .index import Index
from .math import mean, where
from .nn import GPT, MLP, Module, hinge
from .optim import SGD, Adam, LinearSchedule, Optimizer, Schedule

if TYPE_CHECKING:
    from .data_parallel import DataParallel

__all__ = [
    "LOG",
    "GPTSettings",
    "MoonsSettings",
    "Progress",
    "Task",
    "clear_run",
    "gpt_task",
    "load_gpt",
    "load_moons",
    "log_line",
    "moons_task",
    "one_step",
    "open_run",
    "read_log",
    "run_exists",
    "sample",
    "sampling_tokens",
    "save_run",
    "saved_settings",
    "train_gpt",
    "train_moons",
]

LOG = "log.jsonl"
#: Seconds between two checkpoints of a run; one is also written at its beginning and its end.
SAVE_EVERY = 10.0
#: A model of more parameters, or more points in the moons, is refused: a step would take minutes and many gigabytes.
MOST_PARAMETERS = 10_000_000
MOST_POINTS = 100_000

#: Runs that are resumed go on with the same bits, so their steps are not left to a tier that takes over at some time.
_TIER: Tier = "vm"

PathLike = str | os.PathLike[str]
#: Who computes: this library, or JAX on its devices.
Backend = Literal["native", "jax"]


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


@dataclass(frozen=True, slots=True)
class GPTSettings:
    """What fixes a GPT run: the same settings and data give the same losses. ``data`` None: the bundled names."""

    data: str | None = None
    steps: int = 1000
    n_embd: int = 16
    n_layer: int = 1
    n_head: int = 4
    block_size: int = 16
    seed: int = 42
    lr: float = 0.01
    batch: int = 1  #: documents in each step, whose losses are averaged


@dataclass(frozen=True, slots=True)
class MoonsSettings:
    """What fixes a moons run: an MLP 2-16-16-1 trained on all points at once."""

    points: int = 100
    noise: float = 0.1
    steps: int = 100
    seed: int = 1337
    lr: float = 1.0


Settings = GPTSettings | MoonsSettings
AnySettings = TypeVar("AnySettings", bound=Settings)
_KINDS: dict[type[Any], str] = {GPTSettings: "gpt", MoonsSettings: "moons"}


@dataclass(slots=True)
class Task:
    """Something to train. ``evaluate(step)`` is the loss of one step and, where it makes sense, the accuracy.

    With a ``mesh``, JAX's devices hold the numbers, and take the arguments of the loss from ``members(step)``.
    """

    settings: Settings
    config: dict[str, Any]
    model: Module
    optimizer: Optimizer
    schedule: Schedule
    evaluate: Callable[[int], tuple[Value, float | None]]
    hidden: dict[str, int]  #: how many ReLUs each hidden layer has, in the order in which one example meets them
    examples: Callable[[int], int]  #: how many examples go through the hidden layers in a step
    about: Callable[[int], str]  #: what a step learns from, in words
    example: Callable[[int], Value] | None = None  #: the loss of one example alone, where a step takes many
    #: The same as ``evaluate``, compiled: runs backward too, and tells the loss's number.
    compiled: Callable[[int], tuple[float, float | None]] | None = None
    loss: Compiled[Any] | None = None  #: what ``compiled`` runs
    members: Callable[[int], list[tuple[Any, ...]]] | None = None
    mesh: DataParallel | None = None


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
        raise ValueError("eager is a way of this library's own engine: leave it out, or the backend.")
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


# --- the two tasks --------------------------------------------------------------------------------


def gpt_task(settings: GPTSettings, backend: Backend = "native", devices: int | None = None) -> Task:
    """A fresh GPT and its documents. Seeds Python's ``random``."""
    if settings.batch < 1:
        raise ValueError(f"a step takes at least one document; batch is {settings.batch}.")
    random.seed(settings.seed)
    documents = load_documents(settings.data)
    digest = hashlib.sha256("\n".join(documents).encode()).hexdigest()
    random.shuffle(documents)
    vocabulary = Vocabulary("".join(documents))
    model = _gpt(settings, vocabulary)
    optimizer = Adam(model, lr=settings.lr, betas=(0.85, 0.99), eps=1e-8)

    def chosen(step: int) -> list[str]:
        """The documents of a step, which begin anew at the end."""
        first = step * settings.batch
        return [documents[i % len(documents)] for i in range(first, first + settings.batch)]

    def tokens(step: int) -> list[list[int]]:
        return [[vocabulary.bos, *vocabulary.encode(document), vocabulary.bos] for document in chosen(step)]

    def evaluate(step: int) -> tuple[Value, None]:
        losses: list[Any] = [model.loss(document) for document in tokens(step)]
        return losses[0] if len(losses) == 1 else sum(losses) / len(losses), None

    def members(step: int) -> list[tuple[list[Index]]]:
        # What the model cannot see is left out, so that all long documents are alike.
        return [([Index(token) for token in document[: settings.block_size + 1]],) for document in tokens(step)]

    loss = compiled_function(model.loss, pure=True, tier=_TIER)

    def compiled(step: int) -> tuple[float, None]:
        batch = members(step)
        return loss.backward(*batch[0]) if len(batch) == 1 else loss.backward_batch(batch), None

    config = {"characters": vocabulary.characters, "documents_sha256": digest}
    schedule = LinearSchedule(optimizer, settings.steps)
    hidden = {f"layers.{layer}.mlp_fc1": 4 * settings.n_embd for layer in range(settings.n_layer)}

    def examples(step: int) -> int:
        return sum(min(settings.block_size, len(document) + 1) for document in chosen(step))

    def about(step: int) -> str:
        return ", ".join(map(repr, chosen(step)))

    return Task(
        settings,
        config,
        model,
        optimizer,
        schedule,
        evaluate,
        hidden,
        examples,
        about,
        compiled=compiled,
        loss=loss,
        members=members,
        mesh=_mesh(model.loss, optimizer, backend, devices),
    )


def _mesh(loss: Callable[..., Value], optimizer: Adam, backend: Backend, devices: int | None) -> DataParallel | None:
    """Where the JAX backend trains; None for the native one."""
    if backend == "jax":
        from .data_parallel import DataParallel

        return DataParallel(loss, optimizer, devices)
    if devices is not None:
        raise ValueError("devices are chosen for the JAX backend alone: leave them out, or ask for backend 'jax'.")
    return None


def _gpt(settings: GPTSettings, vocabulary: Vocabulary) -> GPT:
    width = settings.n_embd
    parameters = width * (2 * len(vocabulary) + settings.block_size + 12 * width * settings.n_layer)
    if parameters > MOST_PARAMETERS:
        raise ValueError(
            f"n_embd {width}, n_layer {settings.n_layer} and block_size {settings.block_size} make "
            f"{parameters:,} parameters, and a scalar engine trains at most {MOST_PARAMETERS:,}: make them smaller."
        )
    return GPT(len(vocabulary), settings.block_size, settings.n_layer, settings.n_embd, settings.n_head)


def moons_task(settings: MoonsSettings) -> Task:
    """A fresh MLP and the two moons. Seeds Python's ``random``."""
    if settings.points > MOST_POINTS:
        raise ValueError(f"the moons can have at most {MOST_POINTS:,} points; {settings.points:,} were asked for.")
    random.seed(settings.seed)
    points, labels = make_moons(settings.points, settings.noise, settings.seed)
    model = MLP(2, [16, 16, 1])
    parameters = model.parameters()
    optimizer = SGD(model, lr=settings.lr)

    def loss_of(scores: list[Value]) -> Value:
        losses: list[Any] = [hinge(score, label) for score, label in zip(scores, labels, strict=True)]
        weights: Any = sum(p * p for p in parameters)
        total: Any = sum(losses)
        loss: Value = total / len(losses) + 1e-4 * weights
        return loss

    def evaluate(step: int) -> tuple[Value, float]:
        scores = [model(point) for point in points]
        right = [(score.data > 0) == (label > 0) for score, label in zip(scores, labels, strict=True)]
        return loss_of(scores), sum(right) / len(right)

    loss = compiled_function(lambda: loss_of([model(point) for point in points]), pure=True, tier=_TIER)

    @compiled_function(pure=True, tier=_TIER)
    def accuracy() -> Value:
        # A comparison would be a guard that other weights break: the choice is part of the program instead.
        sides = [where(model(point).relu(), label > 0, label < 0) for point, label in zip(points, labels, strict=True)]
        share: Value = mean(sides)
        return share

    def compiled(step: int) -> tuple[float, float]:
        return loss.backward(), accuracy()

    def example(index: int) -> Value:
        return hinge(model(points[index]), labels[index])

    schedule = LinearSchedule(optimizer, settings.steps, end=0.1 * settings.lr)
    hidden = {"layers.0": 16, "layers.1": 16}

    def examples(step: int) -> int:
        return len(points)

    def about(step: int) -> str:
        return f"all {len(points)} points"

    return Task(settings, {}, model, optimizer, schedule, evaluate, hidden, examples, about, example, compiled, loss)


# --- the run --------------------------------------------------------------------------------------


def open_run(task: Task, out: Path, resume: bool, force: bool) -> int:
    """Begin the run in ``out``, or restore it, and return how many steps are done. Raises as :func:`train_gpt` does."""
    if out.exists() and not out.is_dir():
        raise CheckpointError(f"{out} is a file, and a run needs a folder: give another name.")
    if resume:
        return _restore(task, out)
    if run_exists(out) and not force:
        raise CheckpointError(
            f"{out} already holds a run: resume it (--resume), force a new one in its place (--force), "
            "or give another folder (--out)."
        )
    clear_run(out)
    save_run(task, out, 0)
    return 0


def _start(
    task: Task, out: Path, resume: bool, force: bool, save_every: float, eager: bool
) -> Generator[Progress, None, None]:
    """Open the run, so that whatever is wrong is raised here and not at the first step."""
    done = open_run(task, out, resume, force)
    run_step: StepFunction = one_step if eager or ENGINE == "reference" else compiled_step
    if task.mesh is not None:
        run_step = mesh_step
    return _steps(task, out, done, _open_log(out / LOG, done), save_every, run_step)


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
                    _flush(log)
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
            f"the loss of step {step + 1} is {loss}: the run has diverged; start it anew with a learning rate "
            f"below {task.schedule.start:g}. The checkpoint of step {saved} is kept."
        )


def _finish(task: Task, out: Path, done: int, saved: int, log: IO[str]) -> None:
    _flush(log)
    if done > saved:
        save_run(task, out, done)


def save_run(task: Task, out: Path, done: int) -> None:
    """Write the checkpoint of a run of which ``done`` steps are finished."""
    if task.mesh is not None:
        task.mesh.settle()
    settings = dataclasses.asdict(task.settings)
    config = {"kind": _KINDS[type(task.settings)], "settings": settings, **task.config}
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
            f"ask for {checkpoint.step} or more."
        )
    if any(checkpoint.config.get(key) != value for key, value in task.config.items()):
        raise CheckpointError(f"the data is not what the run in {out} was started with: give the same file.")
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


# --- the log --------------------------------------------------------------------------------------


def read_log(out: PathLike) -> list[dict[str, Any]]:
    """The log of a run, one dict a step; a line that a crash cut short, or that is not ours, is left out."""
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


def _open_log(path: Path, done: int) -> IO[str]:
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


def _flush(log: IO[str]) -> None:
    log.flush()
    os.fsync(log.fileno())


# --- what a run leaves ----------------------------------------------------------------------------


def saved_settings(out: PathLike, kind: type[AnySettings]) -> AnySettings:
    """The settings of the run in ``out``. Raises CheckpointError when it is of another kind, or damaged."""
    return _settings_of(load_checkpoint(out), kind, out)


def _settings_of(checkpoint: Checkpoint, kind: type[AnySettings], out: PathLike) -> AnySettings:
    found = checkpoint.config.get("kind")
    if found != _KINDS[kind]:
        raise CheckpointError(
            f"{out} holds a run of the kind {found!r}, not {_KINDS[kind]!r}: resume it as what it is, "
            "or give another folder."
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
    model = _gpt(settings, vocabulary)
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


def sampling_tokens(vocabulary: Vocabulary, block_size: int, temperature: float, prompt: str) -> list[int]:
    """The tokens of a prompt, once the wishes of :func:`sample` are found possible.

    Raises DataError for a prompt with a character outside the vocabulary or too long to go on from, and for a
    temperature that is negative or not a number.
    """
    if not 0 <= temperature < math.inf:
        raise DataError(f"the temperature must be a number from 0 up, and finite; it is {temperature}.")
    if len(prompt) >= block_size:
        raise DataError(f"a prompt can have at most {block_size - 1} characters here; this one has {len(prompt)}.")
    return vocabulary.encode(prompt)


def sample(model: GPT, vocabulary: Vocabulary, temperature: float = 0.5, prompt: str = "") -> str:
    """A document that the model makes up, beginning with ``prompt``, at most ``block_size`` characters long.

    ``temperature`` 1 draws from the model's own probabilities, less is more cautious, 0 always takes the likeliest.
    Draws from Python's ``random``. Raises DataError as :func:`sampling_tokens` does.
    """
    tokens = sampling_tokens(vocabulary, model.block_size, temperature, prompt)
    cache, token = model.new_cache(), vocabulary.bos
    with no_grad():
        for position in range(model.block_size):
            logits = model(token, position, cache)
            if position < len(tokens):
                token = tokens[position]
                continue
            token = _draw([logit.data for logit in logits], temperature)
            if token == vocabulary.bos:
                break
            tokens.append(token)
    return vocabulary.decode(tokens)


def _draw(logits: list[float], temperature: float) -> int:
    largest = max(logits)
    if not temperature:
        return logits.index(largest)
    weights = [math.exp((logit - largest) / temperature) for logit in logits]
    return random.choices(range(len(logits)), weights)[0]
