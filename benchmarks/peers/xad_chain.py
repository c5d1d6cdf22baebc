"""The chain on XAD's Python tape (``pip install xad``), a C++ tape with a Python front."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from .chain import ADDEND, FACTOR, chain

__all__ = ["held", "step"]


def _record(adj_1st: Any, nodes: int) -> tuple[Any, Any, Any, Any, int]:
    """A new active tape with the chain on it: (tape, x, w, y, nanoseconds of recording)."""
    tape = adj_1st.Tape()
    tape.activate()
    x, w = adj_1st.Real(ADDEND), adj_1st.Real(FACTOR)
    tape.registerInput(x)
    tape.registerInput(w)
    tape.newRecording()
    start = perf_counter_ns()
    y = chain(nodes, x, w)
    return tape, x, w, y, perf_counter_ns() - start


def step(adj_1st: Any, nodes: int) -> tuple[dict[str, float], float]:
    """Record, sweep and free once: nanoseconds of each, and d y / d x."""
    tape, x, w, y, record = _record(adj_1st, nodes)
    tape.registerOutput(y)
    y.derivative = 1.0
    start = perf_counter_ns()
    tape.computeAdjoints()
    backward = perf_counter_ns() - start
    slope = float(x.derivative)
    tape.deactivate()
    start = perf_counter_ns()
    del tape, x, w, y
    return {"record": record, "backward": backward, "free": perf_counter_ns() - start}, slope


def held(adj_1st: Any, nodes: int) -> object:
    """Whatever must be held for the chain to be swept later."""
    recorded = _record(adj_1st, nodes)
    recorded[0].deactivate()
    return recorded
