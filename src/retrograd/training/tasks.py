"""What can be trained: a GPT on the lines of a text file, and a small network on the two moons."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..compiler import Compiled, Tier
from ..compiler import compile as compiled_function
from ..engine import Value, no_grad
from ..index import Index
from ..math import mean, where
from ..nn import GPT, MLP, Module, hinge
from ..optim import SGD, Adam, LinearSchedule, Optimizer, Schedule
from .data import Vocabulary, load_documents, make_moons

if TYPE_CHECKING:
    from .devices import DataParallel

__all__ = [
    "KINDS",
    "AnySettings",
    "Backend",
    "GPTSettings",
    "MoonsSettings",
    "Task",
    "build_gpt",
    "gpt_task",
    "moons_task",
]

#: A model of more parameters, or more points in the moons, is refused: a step would take minutes and many gigabytes.
MOST_PARAMETERS = 10_000_000
MOST_POINTS = 100_000

#: A resumed run must go on with the same bits, so no other tier may take over in the middle of a run.
_TIER: Tier = "vm"

#: Who computes: this library, or JAX on its devices.
Backend = Literal["native", "jax"]


@dataclass(frozen=True, slots=True)
class GPTSettings:
    """What fixes a GPT run: the same settings and data give the same losses.

    Attributes:
        data: A text file of one document a line; None for the bundled names.
        steps: How many optimizer steps the run has.
        n_embd: The length of the model's vectors.
        n_layer: The number of its layers.
        n_head: The number of attention heads in each layer.
        block_size: The number of positions.
        seed: Of Python's ``random``, which draws the initial weights and the order of the documents.
        lr: Adam's learning rate at the first step; it falls linearly to 0.
        batch: Documents in each step, whose losses are averaged.

    Example:
        >>> from retrograd.training import GPTSettings
        >>> GPTSettings(steps=10).n_embd
        16
    """

    data: str | None = None
    steps: int = 1000
    n_embd: int = 16
    n_layer: int = 1
    n_head: int = 4
    block_size: int = 16
    seed: int = 42
    lr: float = 0.01
    batch: int = 1


@dataclass(frozen=True, slots=True)
class MoonsSettings:
    """What fixes a moons run: an MLP 2-16-16-1 trained on all points at once.

    Attributes:
        points: How many points there are, half of them in each moon.
        noise: The standard deviation of the points around their moon.
        steps: How many optimizer steps the run has.
        seed: Of Python's ``random``, which draws the points and the initial weights.
        lr: SGD's learning rate at the first step; it falls linearly to a tenth.

    Example:
        >>> from retrograd.training import MoonsSettings
        >>> MoonsSettings(points=50).steps
        100
    """

    points: int = 100
    noise: float = 0.1
    steps: int = 100
    seed: int = 1337
    lr: float = 1.0


Settings = GPTSettings | MoonsSettings
AnySettings = TypeVar("AnySettings", bound=Settings)
#: The name of each kind of run, as a checkpoint has it.
KINDS: dict[type[Any], str] = {GPTSettings: "gpt", MoonsSettings: "moons"}


@dataclass(slots=True)
class Task:
    """Something to train: the model, its data, its loss and its optimizer, as :func:`gpt_task` and the like make it.

    Attributes:
        settings: What the task was made from.
        config: What else a checkpoint must keep, so that the run can be resumed with the same data.
        model: The model.
        optimizer: Moves the model's parameters.
        schedule: Sets the learning rate of each step.
        evaluate: ``evaluate(step)`` is the loss of one step and, where it makes sense, the accuracy.
        hidden: How many ReLUs each hidden layer has, in the order in which one example meets them.
        examples: ``examples(step)`` is how many examples go through the hidden layers in a step.
        about: ``about(step)`` says what a step learns from.
        example: ``example(index)`` is the loss of one example alone, where a step takes many.
        compiled: As ``evaluate``, by a compiled function; it runs backward too and gives the loss's number.
        loss: The compiled function that ``compiled`` runs.
        members: ``members(step)`` are the arguments of the loss for each document of a step.
        mesh: The devices of JAX that hold the numbers, for ``backend="jax"``.

    Example:
        >>> from retrograd.training import MoonsSettings, moons_task
        >>> task = moons_task(MoonsSettings(points=10))
        >>> loss, accuracy = task.evaluate(0)
        >>> 0.0 <= accuracy <= 1.0
        True
    """

    settings: Settings
    config: dict[str, Any]
    model: Module
    optimizer: Optimizer
    schedule: Schedule
    evaluate: Callable[[int], tuple[Value, float | None]]
    hidden: dict[str, int]
    examples: Callable[[int], int]
    about: Callable[[int], str]
    example: Callable[[int], Value] | None = None
    compiled: Callable[[int], tuple[float, float | None]] | None = None
    loss: Compiled[Any] | None = None
    members: Callable[[int], list[tuple[Any, ...]]] | None = None
    mesh: DataParallel | None = None


def gpt_task(settings: GPTSettings, backend: Backend = "native", devices: int | None = None) -> Task:
    """A fresh GPT with its documents, Adam and a learning rate that falls linearly. Seeds Python's ``random``.

    Args:
        settings: What fixes the run.
        backend: ``"native"``, or ``"jax"`` to divide each step's documents among JAX's devices.
        devices: How many devices of JAX; None for all.

    Returns:
        The task.

    Raises:
        ValueError: A size is below 1 or too large for a scalar engine, ``batch`` is below 1, or ``devices`` are given
            without JAX.
        DataError: The data cannot be used.
        MissingExtraError: The backend is not installed.

    Example:
        >>> from retrograd.training import GPTSettings, gpt_task
        >>> task = gpt_task(GPTSettings(n_embd=8, n_head=2))
        >>> task.about(0)
        "'ofelia'"
    """
    if settings.batch < 1:
        raise ValueError(f"a step takes at least one document; batch is {settings.batch}.")
    random.seed(settings.seed)
    documents = load_documents(settings.data)
    digest = hashlib.sha256("\n".join(documents).encode()).hexdigest()
    random.shuffle(documents)
    vocabulary = Vocabulary("".join(documents))
    model = build_gpt(settings, vocabulary)
    optimizer = Adam(model, lr=settings.lr, betas=(0.85, 0.99), eps=1e-8)

    def chosen(step: int) -> list[str]:
        """The documents of a step, which start over after the last one."""
        first = step * settings.batch
        return [documents[i % len(documents)] for i in range(first, first + settings.batch)]

    def tokens(step: int) -> list[list[int]]:
        return [[vocabulary.bos, *vocabulary.encode(document), vocabulary.bos] for document in chosen(step)]

    def evaluate(step: int) -> tuple[Value, None]:
        losses: list[Any] = [model.loss(document) for document in tokens(step)]
        return losses[0] if len(losses) == 1 else sum(losses) / len(losses), None

    def members(step: int) -> list[tuple[list[Index]]]:
        # The model sees only block_size tokens: cut the rest, so that one program serves all long documents.
        return [([Index(token) for token in document[: settings.block_size + 1]],) for document in tokens(step)]

    loss = compiled_function(model.loss, tier=_TIER)

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
        from .devices import DataParallel

        return DataParallel(loss, optimizer, devices)
    if devices is not None:
        raise ValueError("devices needs the JAX backend: leave devices out, or set backend='jax'.")
    return None


def build_gpt(settings: GPTSettings, vocabulary: Vocabulary) -> GPT:
    """A fresh model of these sizes. Raises ValueError when it has more parameters than a scalar engine can train."""
    width = settings.n_embd
    parameters = width * (2 * len(vocabulary) + settings.block_size + 12 * width * settings.n_layer)
    if parameters > MOST_PARAMETERS:
        raise ValueError(
            f"n_embd {width}, n_layer {settings.n_layer} and block_size {settings.block_size} make "
            f"{parameters:,} parameters, and a scalar engine trains at most {MOST_PARAMETERS:,}: make them smaller."
        )
    return GPT(len(vocabulary), settings.block_size, settings.n_layer, settings.n_embd, settings.n_head)


def moons_task(settings: MoonsSettings) -> Task:
    """A fresh MLP with the two moons, SGD and a learning rate that falls linearly. Seeds Python's ``random``.

    The loss is the mean hinge loss plus 1e-4 times the sum of the squared parameters, as in micrograd's demo.

    Args:
        settings: What fixes the run.

    Returns:
        The task.

    Raises:
        ValueError: There are more than 100,000 points.

    Example:
        >>> from retrograd.training import MoonsSettings, moons_task
        >>> moons_task(MoonsSettings(points=10)).about(0)
        'all 10 points'
    """
    if settings.points > MOST_POINTS:
        raise ValueError(f"the moons can have at most {MOST_POINTS:,} points, not {settings.points:,}.")
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

    loss = compiled_function(lambda: loss_of([model(point) for point in points]), tier=_TIER)

    @compiled_function(tier=_TIER)
    def accuracy() -> Value:
        # where() is part of the compiled program; a comparison would be a guard that fails when the weights change.
        sides = [where(model(point).relu(), label > 0, label < 0) for point, label in zip(points, labels, strict=True)]
        share: Value = mean(sides)
        return share

    def compiled(step: int) -> tuple[float, float]:
        with no_grad():
            share = accuracy().data
        return loss.backward(), share

    def example(index: int) -> Value:
        return hinge(model(points[index]), labels[index])

    schedule = LinearSchedule(optimizer, settings.steps, end=0.1 * settings.lr)
    hidden = {"layers.0": 16, "layers.1": 16}

    def examples(step: int) -> int:
        return len(points)

    def about(step: int) -> str:
        return f"all {len(points)} points"

    return Task(settings, {}, model, optimizer, schedule, evaluate, hidden, examples, about, example, compiled, loss)
