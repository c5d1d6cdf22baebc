"""What the native compiler is asked to compile: one recorded call, how to read later calls, and the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..engine import Value
from .recording import Choice, Guard, Recording
from .signature import Signature

__all__ = ["TIERS", "CompileRequest", "Options", "Tier"]

Tier = Literal["auto", "vm", "llvm", "interpreter"]
TIERS: tuple[Tier, ...] = get_args(Tier)


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller of ``compile`` chose."""

    exact: bool = False
    float32: bool = False
    tier: Tier = "auto"


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """One specialization to make. ``native/bindings/compile_request.cpp`` reads it, field by field.

    The recording must be the only Python object that refers to the leaves which the function made while it was traced:
    a leaf with another reference may be used again, and becomes a parameter instead of a constant.
    """

    recording: Recording
    signature: Signature
    differentiate_first: bool  #: whether gradients are taken of the first argument instead of the parameters
    options: Options = Options()

    def positional(self) -> tuple[Any, ...]:
        """The arguments of the native ``add``."""
        recording, signature, options = self.recording, self.signature, self.options
        assert isinstance(recording.result, Value)
        roots: list[Value] = [recording.result]
        guards = _numbered(recording.guards, roots)
        recording.guards.clear()  # only `roots` refers to what they compare: see lift in native
        wanted = [gradient.parameter for gradient in signature.gradients if gradient.parameter is not None]
        order, number = [], 0
        for gradient in signature.gradients:
            if gradient.offset is not None:
                order.append(gradient.offset)
            else:
                order.append(-1 - number)
                number += 1
        slots = {Choice.FIRST_MAX: -1, Choice.FIRST_MIN: -2}
        return (
            int(self.differentiate_first),
            signature.spec,
            roots,
            [one.leaf for one in signature.inputs],
            [one.active for one in signature.inputs],
            [one.offset for one in signature.inputs],
            [(one.node, slots.get(one.choice, one.slot), one.candidates) for one in recording.selections],
            guards,
            [
                (g.kind, g.slot + 1, 0 if g.other_slot is None else g.other_slot + 1, float(g.other), g.outcome)
                for g in recording.index_guards
            ],
            wanted,
            order,
            recording.since,
            options.exact,
            options.float32,
            recording.float_errors,
            options.tier,
        )


def _numbered(guards: Sequence[Guard], roots: list[Value]) -> list[tuple[str, int, int, float, bool]]:
    """The guards as the native side reads them, with what they compare appended to ``roots``."""
    numbers: dict[int, int] = {}

    def root_of(value: Value) -> int:
        if id(value) not in numbers:
            numbers[id(value)] = len(roots)
            roots.append(value)
        return numbers[id(value)]

    numbered = []
    for guard in guards:
        kind, right = ("!=", 0.0) if guard.kind == "bool" else (guard.kind, guard.right)
        left = root_of(guard.left)
        if isinstance(right, Value):
            numbered.append((kind, left, root_of(right), 0.0, guard.outcome))
        else:
            numbered.append((kind, left, 0, float(right or 0.0), guard.outcome))
    return numbered
