"""What can be trained: a GPT on the lines of a text file, and a small network on the two moons."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..compiler import Compiled, Tier
from ..compiler import compile as compiled_function
from ..engine import Value
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
#: The name of each kind of run, as a checkpoint has it.
KINDS: dict[type[Any], str] = {GPTSettings: "gpt", MoonsSettings: "moons"}


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


def gpt_task(settings: GPTSettings, backend: Backend = "native", devices: int | None = None) -> Task:
    """A fresh GPT and its documents. Seeds Python's ``random``."""
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
    """A fresh MLP and the two moons. Seeds Python's ``random``."""
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

    loss = compiled_function(lambda: loss_of([model(point) for point in points]), pure=True, tier=_TIER)

    @compiled_function(pure=True, tier=_TIER)
    def accuracy() -> Value:
        # where() is part of the compiled program; a comparison would be a guard that fails when the weights change.
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
