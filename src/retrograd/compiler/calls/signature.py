"""The signature of a call: what each argument is, the tracer that takes its place, and how to read it in later calls.

The native reader (native/compiler/run/signature.hpp) checks later calls against the description, and reads them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property
from itertools import count, repeat
from typing import Any, NamedTuple

import numpy as np

from ... import engine
from ...engine import Value
from .varying import CONSTANT, Column, Varying, structure_of

__all__ = ["Gradient", "Signature", "one_by_one"]


class Gradient(NamedTuple):
    """One of the derivatives that ``value_and_grad`` gives: of an active input, by its offset, or of a parameter."""

    offset: int | None = None
    parameter: Value | None = None


class Signature:
    """The arguments of one call: the tracers to call the function with, and how to read later calls."""

    def __init__(self) -> None:
        self.tracers: list[Any] = []  #: what to call the function with
        #: How to read a call, as nested tuples; native/compiler/run/signature.hpp lists them.
        self.spec: tuple[Any, ...] = ()
        self.inputs: list[Value] = []  #: the leaves whose numbers each call brings, in order
        self.are_active: bytearray = bytearray()  #: of each, whether a gradient of it is wanted
        self.originals: dict[int, Value] = {}  #: the Values among the arguments, by their offsets as active inputs
        self.index_count: int = 0  #: how many arguments are indices
        self.varying: Varying = CONSTANT  #: the ints that each call brings
        self.columns: dict[int, Column] = {}  #: where an int of those is, by the id of its leaf
        self.codes: dict[Column, dict[str, float]] = {}  #: the numbers that stand for texts; none for any
        self.gradients: list[Gradient] = []  #: one for each leaf of a differentiated first argument, in order
        #: Arguments that must be the same in each call, whose attributes are captured state, and classes of containers.
        self.objects: list[Any] = []
        self.keeps_arrays: bool = False  #: whether a trace cannot change the arrays among the arguments
        self._active: list[Value] = []  #: the leaves of the active inputs, by offset
        self._inactive_count = 0

    def add_input(self, leaf: Value, active: bool) -> int:
        """The offset of a new input."""
        offset = len(self._active) if active else self._inactive_count
        self.inputs.append(leaf)
        self.are_active.append(active)
        if active:
            self._active.append(leaf)
        else:
            self._inactive_count += 1
        return offset

    def add_inputs(self, leaves: Sequence[Value], active: bool) -> int:
        """Several inputs; the offset of the first."""
        first = self.next_offset(active)
        self.inputs.extend(leaves)
        self.are_active.extend(repeat(active, len(leaves)))
        if active:
            self._active.extend(leaves)
        else:
            self._inactive_count += len(leaves)
        return first

    def add_variables(self, leaves: Sequence[Value]) -> int:
        """Several inputs of which gradients are wanted; the offset of the first."""
        first = self.add_inputs(leaves, True)
        offsets = range(first, first + len(leaves))
        self.gradients.extend(map(tuple.__new__, repeat(Gradient), zip(offsets, repeat(None), strict=False)))
        return first

    def mark(self) -> tuple[int, ...]:
        """How much has been described."""
        return *map(len, self._described()), self._inactive_count, self.index_count

    def rewind(self, mark: tuple[int, ...]) -> None:
        """Forget what was described since :meth:`mark`."""
        for described, length in zip(self._described(), mark, strict=False):
            del described[length:]
        *_, self._inactive_count, self.index_count = mark
        self.originals = {offset: value for offset, value in self.originals.items() if offset < len(self._active)}

    def _described(self) -> tuple[Any, ...]:
        return self.inputs, self.are_active, self.gradients, self.objects, self._active

    def offsets(self) -> list[tuple[bool, int]]:
        """Of each input, whether it is active, and its offset among those that are as well as it, or as little."""
        counts = count(), count()
        return [(active == 1, next(counts[active])) for active in self.are_active]

    def next_offset(self, active: bool) -> int:
        """The offset that the next input will have."""
        return len(self._active) if active else self._inactive_count

    def active_leaf(self, offset: int) -> Value:
        """The leaf of an active input."""
        return self._active[offset]

    def active_leaves(self) -> list[Value]:
        """The leaves of all active inputs, by offset."""
        return self._active

    def take_any_text(self, read: Set[int]) -> None:
        """Where no leaf is among those that are ``read``, by their ids, any text will do."""
        for column in self.codes.keys() - {self.columns[leaf] for leaf in read}:
            self.codes[column].clear()

    def wanted(self) -> list[Value]:
        """The leaves of which gradients are wanted, in order."""
        active = self._active
        return [active[offset] if offset is not None else parameter for offset, parameter in self.gradients]  # type: ignore[misc]

    def is_like(self, other: Signature) -> bool:
        """Whether both are of one kind of call. Each has functions of its own that build records of numbers."""
        return self._without_builders == other._without_builders

    def may_vary_from(self, other: Signature) -> bool:
        """Whether both may differ in what a program can read, and in nothing else."""
        return self._structure == other._structure

    # Once for each, since a new one is compared with those of all programs.
    @cached_property
    def _without_builders(self) -> tuple[Any, ...]:
        return _without_builders(self.spec)

    @cached_property
    def _structure(self) -> list[Any]:
        return structure_of(self.spec)

    def forget_tracers(self) -> None:
        """Let go what a trace has used, which may be large: what is left says how to read calls."""
        self.tracers, self.inputs, self.are_active = [], [], bytearray()

    @property
    def aliases_a_parameter(self) -> bool:
        """Whether a Value among the arguments turned out to be one of the function's parameters as well."""
        return any(map(engine.is_parameter, self.originals.values()))


def _without_builders(spec: tuple[Any, ...]) -> tuple[Any, ...]:
    match spec:
        case ("sequence", kind, parts, *_):
            return "sequence", kind, list(map(_without_builders, parts))
        case ("node", kind, parts, _, *rest):
            return "node", kind, list(map(_without_builders, parts)), *rest
        case (("dict" | "fields") as form, kind, named, *_):
            return form, kind, [(name, _without_builders(part)) for name, part in named]
        case ("apart", captured, part):
            return "apart", captured, _without_builders(part)
        case ("text", offset, _):
            return "text", offset
        case ("key", *described, _):
            return "key", *described
    return spec


def one_by_one(spec: tuple[Any, ...]) -> tuple[Any, ...]:
    """The spec of a list or tuple of floats with one spec for each of them; any other spec as it is."""
    if spec[0] != "floats":
        return spec
    _, kind, first, length, active, _ = spec
    item = ("active", np.float64) if active else ("passive", float)
    return "sequence", kind, [(item[0], offset, item[1]) for offset in range(first, first + length)]
