"""A training run with time travel: one step on, back to any step with the same numbers, the graph of any step.

Going back restores the nearest of the states that are kept in memory and runs on from there; since everything random
comes from the seed, the steps come out the same, bit for bit. Looking (at samples, at a graph) changes nothing.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import engine
from ..engine import Value
from ..nn import GPT, MLP
from ..trace.callgraph import record_calls
from ..trace.codec import pack
from ..trace.columns import Json
from ..training import (
    LOG,
    GPTSettings,
    MoonsSettings,
    Progress,
    Task,
    gpt_task,
    log_line,
    moons_task,
    one_step,
    open_run,
    read_log,
    sample,
    save_run,
)
from ..training.checkpoints import write_atomically
from ..training.data import Vocabulary, make_moons

__all__ = ["Entry", "GPTSession", "MoonsSession", "Session", "session_for"]

#: Steps between two kept states, and how many states are kept before every second one is dropped.
_KEEP_EVERY, _MOST_KEPT = 25, 128
#: Columns and rows of the decision field.
FIELD = (72, 48)
#: Made-up documents shown at a time, and the temperature they are drawn with.
_SAMPLES, _TEMPERATURE = 6, 0.5


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one finished step, which is ``step`` counted from 1."""

    progress: Progress
    norms: list[float] = field(default_factory=list)  #: of each layer's gradient, before the update


@dataclass(frozen=True, slots=True)
class _State:
    """The state on which all later steps depend."""

    parameters: list[float]
    optimizer: dict[str, Any]
    random: Any


class Session:
    """One run. ``done`` steps are finished; ``entries[k]`` is what step k + 1 gave."""

    kind = ""

    def __init__(self, task: Task, out: Path, resume: bool = False, force: bool = False) -> None:
        """Open the run in the folder ``out``; raises as ``train_gpt`` does."""
        self.task: Task
        self.out: Path
        self.task, self.out = task, out
        self.parameters: list[Value] = task.model.parameters()
        self.layers: list[str]
        self.layers, self._layer_of = _layers(task)
        self._kept: dict[int, _State] = {0: self._state()}
        self._keep_every = _KEEP_EVERY
        self._loss: Value | None = None  #: of the step that was made last; None when the run was just resumed
        self.done: int = open_run(task, out, resume, force)
        self.saved: int = self.done
        self.entries: list[Entry] = [_entry_of(line, task.settings.steps) for line in read_log(out)[: self.done]]
        self._keep()

    @property
    def steps(self) -> int:
        return self.task.settings.steps

    # --- moving -------------------------------------------------------------------------------------

    def step(self) -> Entry:
        """Make the next step. Raises AnomalyError when the loss is no longer finite; nothing is changed then."""
        began = time.perf_counter()
        norms: list[float] = []

        def note(loss: Value) -> None:
            norms.extend(self._norms())
            self._loss = loss

        self.task.schedule.seek(self.done)
        lr = self.task.optimizer.lr
        loss, accuracy = one_step(self.task, self.done, self.saved, note)
        self.done += 1
        rate = 1 / max(time.perf_counter() - began, 1e-9)
        entry = Entry(Progress(self.done, self.steps, loss, lr, rate, accuracy), norms)
        self.entries[self.done - 1 :] = [entry]
        if self.done % self._keep_every == 0:
            self._keep()
        return entry

    def seek(self, step: int) -> None:
        """Go back to the state after ``step`` steps and drop the later ones. Raises ValueError for a later step."""
        if not 0 <= step <= self.done:
            raise ValueError(f"the run can go back to the steps 0 to {self.done}; {step} is none of them.")
        if step == self.done:
            return
        start = max(kept for kept in self._kept if kept < step or kept == 0)
        self._set(self._kept[start])
        self._kept = {kept: state for kept, state in self._kept.items() if kept <= step}
        entries, self.entries = self.entries, self.entries[:start]
        self.done, self._loss = start, None
        while self.done < step:
            self.step()
        self.entries = entries[:step]

    def graph(self, step: int, example: int | None = None) -> tuple[str, int, Json]:
        """Title, number of operations, and packed trace of the loss that step ``step`` (from 1) went down.

        With ``example``, of the loss of that example alone. Raises ValueError for a step that was not made or an
        example that there is not.
        """
        if not 1 <= step <= self.done:
            raise ValueError(f"the steps that were made are 1 to {self.done}; {step} is none of them.")
        if example is not None and not (self.task.example and 0 <= example < self.task.examples(step - 1)):
            raise ValueError(f"there is no example {example} with a graph of its own in this step.")
        with self._elsewhere(step - 1):
            with record_calls() as calls:
                if example is None or self.task.example is None:
                    loss, what = self.task.evaluate(step - 1)[0], self.task.about(step - 1)
                else:
                    loss, what = self.task.example(example), f"point {example + 1}"
            title = f"step {step}: the loss on {what}"
            return title, len(engine.interior(loss)), pack(loss, title=title, calls=calls)

    @contextmanager
    def _elsewhere(self, step: int) -> Iterator[None]:
        """A context in which the model is as it was after ``step`` steps; on leaving, everything is restored."""
        here, done, entries, kept, loss = self._state(), self.done, self.entries, self._kept, self._loss
        try:
            self.seek(step)
            yield
        finally:
            self._set(here)
            self.done, self.entries, self._kept, self._loss = done, entries, kept, loss

    # --- states -------------------------------------------------------------------------------------

    def _state(self) -> _State:
        return _State([p.data for p in self.parameters], self.task.optimizer.state_dict(), random.getstate())

    def _set(self, state: _State) -> None:
        for parameter, data in zip(self.parameters, state.parameters, strict=True):
            parameter.data = data
        self.task.optimizer.load_state_dict(state.optimizer)
        random.setstate(state.random)

    def _keep(self) -> None:
        self._kept[self.done] = self._state()
        if len(self._kept) > _MOST_KEPT:
            self._keep_every *= 2
            self._kept = {step: state for step, state in self._kept.items() if step % self._keep_every == 0}

    def save(self) -> None:
        """Write the checkpoint and the log from which ``--resume`` continues."""
        lines = "".join(log_line(entry.progress) for entry in self.entries)
        write_atomically(self.out / LOG, lines.encode())
        save_run(self.task, self.out, self.done)
        self.saved = self.done

    # --- looking ------------------------------------------------------------------------------------

    def _norms(self) -> list[float]:
        with np.errstate(over="ignore"):
            squares = np.square([parameter.grad for parameter in self.parameters])
        return [math.sqrt(x) for x in np.bincount(self._layer_of, squares, len(self.layers)).tolist()]

    def dead(self) -> list[list[int]]:
        """For each hidden layer the ReLUs that were closed for every example of the step made last; [] when unknown.

        The engine keeps the order in which nodes were recorded: example by example, layer by layer.
        """
        if self._loss is None:
            return []
        count, width = self.task.examples(self.done - 1), sum(self.task.hidden.values())
        gates = [node.data > 0 for node in engine.interior(self._loss) if engine.row_name(node) == "relu"]
        asleep = [not any(gates[unit : count * width : width]) for unit in range(width)]
        dead, start = [], 0
        for size in self.task.hidden.values():
            dead.append([unit for unit in range(size) if asleep[start + unit]])
            start += size
        return dead

    def opening(self) -> dict[str, Any]:
        """What the page needs to know once."""
        return {"kind": self.kind, "layers": self.layers, "hidden": self.task.hidden}

    def picture(self) -> dict[str, Any]:
        """The model's present output, for the page."""
        raise NotImplementedError  # abstract: the sessions of the moons and of the GPT each draw their own


class MoonsSession(Session):
    """A network that learns to tell the two moons apart."""

    kind = "moons"

    def __init__(self, settings: MoonsSettings, out: Path, resume: bool = False, force: bool = False) -> None:
        super().__init__(moons_task(settings), out, resume, force)
        self.points: list[tuple[float, float]]
        self.labels: list[int]
        self.points, self.labels = make_moons(settings.points, settings.noise, settings.seed)
        self.frame: tuple[float, float, float, float] = _frame(np.array(self.points))

    def opening(self) -> dict[str, Any]:
        return {**super().opening(), "points": self.points, "labels": self.labels, "frame": self.frame, "field": FIELD}

    def picture(self) -> dict[str, Any]:
        """The score over the plane, row by row from the top left, in steps of 1/50, from -127 to 127; NaN as 0."""
        columns, rows = FIELD
        left, right, bottom, top = self.frame
        xs = left + (np.arange(columns) + 0.5) / columns * (right - left)
        ys = top - (np.arange(rows) + 0.5) / rows * (top - bottom)
        plane = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        scores = scores_of(self.task.model, plane)
        steps = np.nan_to_num(np.clip(np.rint(scores * 50), -127, 127))
        return {"scores": steps.astype(int).tolist()}


class GPTSession(Session):
    """A GPT that learns to make up documents."""

    kind = "gpt"

    def __init__(self, settings: GPTSettings, out: Path, resume: bool = False, force: bool = False) -> None:
        super().__init__(gpt_task(settings), out, resume, force)
        self.vocabulary: Vocabulary = Vocabulary(self.task.config["characters"])

    def picture(self) -> dict[str, Any]:
        """Documents that the model makes up: the same ones whenever it comes to this step."""
        model = self.task.model
        assert isinstance(model, GPT)
        kept = random.getstate()
        random.seed(f"{self.task.settings.seed} {self.done}")
        try:
            return {"samples": [sample(model, self.vocabulary, _TEMPERATURE) for _ in range(_SAMPLES)]}
        finally:
            random.setstate(kept)


def session_for(settings: GPTSettings | MoonsSettings, out: Path, resume: bool = False, force: bool = False) -> Session:
    """The session of a run with these settings in the folder ``out``."""
    if isinstance(settings, MoonsSettings):
        return MoonsSession(settings, out, resume, force)
    return GPTSession(settings, out, resume, force)


def scores_of(model: Any, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The outputs of an MLP with one output at many points, computed with arrays and without a graph."""
    assert isinstance(model, MLP)
    values = points
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in model.layers:
            weights = np.array([[w.data for w in neuron.w] for neuron in layer.neurons])
            values = values @ weights.T + np.array([neuron.b.data for neuron in layer.neurons])
            if layer.neurons[0].nonlin:
                values = np.maximum(values, 0.0)
    return values[:, 0]


def _frame(points: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of a frame with some room around the points."""
    (left, bottom), (right, top) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    room = 0.15 * max(right - left, top - bottom, 1e-9)
    return left - room, right + room, bottom - room, top + room


#: What a parameter's name says beyond its layer: the neuron, the kind of parameter, the place in it.
_WITHIN = re.compile(r"(\.neurons\.\d+)?\.(w|b|weight|bias|gain)(\.\d+)*$")


def _layers(task: Task) -> tuple[list[str], NDArray[np.int64]]:
    """The layers that have parameters, in order, and for each parameter the position of its layer."""
    names = [_WITHIN.sub("", name) for name, _ in task.model.named_parameters()]
    layers = list(dict.fromkeys(names))
    at = {name: position for position, name in enumerate(layers)}
    return layers, np.array([at[name] for name in names])


def _entry_of(line: dict[str, Any], steps: int) -> Entry:
    """A finished step as the log of a resumed run has it."""
    return Entry(
        Progress(
            line["step"],
            steps,
            line["loss"],
            float(line.get("lr", 0.0)),
            float(line.get("rate", 0.0)),
            line.get("accuracy"),
        )
    )
