"""One cursor over a trace: its steps in a row, forward then backward, and every number as it stands at step k."""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

from ..trace import Step, Trace

__all__ = ["Timeline"]


class Timeline:
    """The steps of a trace, numbered from 0, and what each node shows once a step is done."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.steps: tuple[Step, ...] = (*trace.forward, *trace.backward)
        self.forward: int = len(trace.forward)
        self._known: dict[int, int] = {}
        self._changes: dict[int, tuple[list[int], list[float]]] = {}
        for number, step in enumerate(trace.forward):
            self._known.update(dict.fromkeys(step.nodes, number))
        self._note(self.forward, trace.root, 1.0)
        for number, step in enumerate(trace.backward, self.forward):
            for item in step.additions:
                self._note(number, item.target, item.after)

    def _note(self, step: int, node: int, grad: float) -> None:
        steps, grads = self._changes.setdefault(node, ([], []))
        steps.append(step)
        grads.append(grad)

    def phase(self, step: int) -> Literal["forward", "backward"]:
        return "forward" if step < self.forward else "backward"

    def data(self, node: int, step: int) -> float | None:
        """A node's number after a step; None while it is not computed."""
        return self.trace.nodes[node].data if self._known[node] <= step else None

    def grad(self, node: int, step: int) -> float | None:
        """A node's gradient after a step: 0.0 until something is added; None before the backward pass begins."""
        if step < self.forward:
            return None
        steps, grads = self._changes.get(node, ([], []))
        done = bisect_right(steps, step)
        return grads[done - 1] if done else 0.0

    def other_phase(self, step: int, forward: bool) -> int:
        """The first step of the next phase (or the very last one), or of this phase, or of the one before."""
        last = len(self.steps) - 1
        if forward:
            return self.forward if step < self.forward else last
        return self.forward if step > self.forward else 0

    def step_of(self, node: int, phase: str) -> int | None:
        """The step that computes a node, or the one that visits it; None when no step of that phase does."""
        if phase == "forward":
            return self._known.get(node)
        for number in range(self.forward, len(self.steps)):
            if self.steps[number].kind == "visit" and node in self.steps[number].nodes:
                return number
        return None
