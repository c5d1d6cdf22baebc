"""The guards of a compiled function in words, for ``print(f.guards())``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import describe
from ..calls.signature import one_by_one
from ..tracing.bool_tracer import Purpose
from ..tracing.recording import Guard, IndexGuard

__all__ = ["program_guards", "state_guards"]


def program_guards(number: int, spec: tuple[Any, ...], decisions: Iterable[Guard | IndexGuard]) -> str:
    """What one specialization takes for granted: the structure of the arguments, and what comparisons decided."""
    arguments = ", ".join(map(_argument, spec[2])) or "none"
    lines = [f"program {number} answers a call if", f"  its arguments are: {arguments}"]
    lines += dict.fromkeys(f"  {_decision(guard)}" for guard in decisions)
    return "\n".join(lines)


def state_guards(paths: Sequence[str], frozen: Sequence[str]) -> str:
    """What every call compares besides the arguments, and what none does."""
    lines = [f"and if what the function reads holds what it held: {', '.join(paths) or 'nothing'}"]
    if frozen:
        lines.append(f"not compared, because there is too much of it: {', '.join(frozen)}")
    return "\n".join(lines)


def _decision(guard: Guard | IndexGuard) -> str:
    where = f"{guard.where}: {guard.where.text}" if guard.where else "a comparison"
    if isinstance(guard, Guard) and guard.purpose is Purpose.MUST_HOLD:
        return f"{where}   # it raises nothing there"
    if isinstance(guard, Guard) and guard.purpose is Purpose.ENDS_LOOP:
        return f"{where}   # it ends within as many iterations as the program has"
    if isinstance(guard, Guard) and guard.purpose is Purpose.BOUNDS:
        return f"{where}   # an int there is no larger than floats hold exactly"
    if isinstance(guard, Guard) and guard.purpose is Purpose.ROUNDS:
        return f"{where}   # the terms of a sum there do not cancel"
    if isinstance(guard, Guard) and guard.purpose is Purpose.DERIVES:
        return f"{where}   # of two numbers between which max or min chose, its {guard.kind} is {guard.outcome}"
    if isinstance(guard, Guard) and guard.use:
        return f"{where}   # a number there is {guard.chosen!r}"
    if isinstance(guard, Guard) and guard.chosen is not None:
        return f"{where}   # an int or a text there is {guard.chosen!r}"
    relation = "its truth" if guard.kind == "bool" else f"its {guard.kind}"
    return f"{where}   # {relation} is {guard.outcome}"


def _argument(spec: tuple[Any, ...]) -> str:
    kind, thing = spec[0], spec[1]
    if kind == "floats":
        return _argument(one_by_one(spec))
    if kind == "apart":
        return f"{_argument(spec[2])}, another one than any before it"
    if kind == "sequence":
        return _several(f"a {thing.__name__} of ", spec[2])
    if kind == "dict":
        return "a dict of " + ", ".join(f"{key!r}: {_argument(item)}" for key, item in spec[2])
    if kind == "fields":
        return f"a {thing.__name__} of " + ", ".join(f"{name}: {_argument(item)}" for name, item in spec[2])
    if kind == "node":
        return _several(f"a {thing.__name__} of ", spec[2])
    if kind == "member":
        return "one of " + ", ".join(map(str, spec[2]))
    if kind == "some":
        return _several("a list of at most ", spec[3])
    if kind == "optional":
        return f"{_argument(spec[3])}, or None"
    if kind == "array":
        return f"a float64 array of shape {spec[2]}"
    if kind == "ints":
        return f"an array of ints of shape {spec[2]}"
    if kind == "text":
        return "one of the texts " + ", ".join(map(repr, spec[2])) if spec[2] else "a text"
    if kind == "key":
        return f"an equal {thing.__name__}"
    if kind == "equal":
        return repr(thing)
    if kind == "is":
        return f"this {describe(thing)}"
    return _NAMES[kind]


def _several(container: str, items: Sequence[tuple[Any, ...]]) -> str:
    names = [_argument(item) for item in items]
    if len(names) > 3 and len(set(names)) == 1:
        return f"{container}{len(names)} times {names[0]}"
    return container + (", ".join(names) or "nothing")


_NAMES = {
    "passive": "a float",
    "active": "a number",
    "variable": "a Value",
    "value": "a Value",
    "same": "the same Value again",
    "again": "a container that came before",
    "index": "an Index",
    "int": "an int",
    "bool": "a bool",
}
