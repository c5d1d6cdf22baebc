"""The check of a function that is printed with its explanation, from one call that was recorded and two more at most.

The gradients of a graph can be compared without the function: with its differences, when it runs again, with the
reference engine, PyTorch and JAX. That the function is what its graph says, two calls along one direction tell; a
function that prints is not called again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import engine
from ..autodiff.check import GradientCheck, check_gradients
from ..autodiff.check.along import compare_along_a_direction
from ..autodiff.check.cross_framework import NotReplayableError, Recipe
from ..engine import Value
from ..engine.pytree import flatten, single_output

__all__ = ["Call", "check_in_few_calls", "listening", "rerun"]


@dataclass(frozen=True, slots=True)
class Call:
    """A function that was called with Values in place of numbers: its result, and the Values by name."""

    title: str  #: ``loss(a, b)``
    result: Value
    leaves: Mapping[str, Value]


def check_in_few_calls(
    call: Call, function: Callable[..., Any], values: Mapping[str, Any], peers: tuple[str, ...] | None, *, prints: bool
) -> GradientCheck | str:
    """The check of a recorded call, or a sentence where the function is not what its graph says."""
    name = call.title.partition("(")[0]
    numbers = {key: leaf.data for key, leaf in call.leaves.items()}
    graph = rerun(call.result, call.leaves)
    try:
        check = check_gradients(graph, numbers, peers)
    except NotReplayableError:  # a node of the user's: only at this point it is known
        check = check_gradients(graph, numbers, ("reference",))
    if prints:
        note = f"{name} prints, so it was not run again: retrograd check does, for differences of its own."
        return dataclasses.replace(check, notes=(*check.notes, note))
    shifted = _Shifted(function, values)
    verdict = "unknown"
    if len(shifted.numbers) == len(check.rows):  # else two inputs have one name
        slopes = [row.ours for row in check.rows]
        verdict = compare_along_a_direction(shifted, shifted.numbers, call.result.data, slopes)
    if verdict == "differs":
        return (
            f"The gradients must not be trusted: beside this point {name} does not change as they say. It uses .data "
            "or float() of an input, draws random numbers, or has a node with a wrong derivative; retrograd check "
            "looks at each input."
        )
    if verdict == "unknown":
        note = f"{name} could not be compared with its graph beside this point: retrograd check looks at each input."
        return dataclasses.replace(check, notes=(*check.notes, note))
    return check


class _Shifted:
    """The function of a list of all its numbers."""

    def __init__(self, function: Callable[..., Any], values: Mapping[str, Any]) -> None:
        self._function = function
        self._trees = {name: flatten(value, name) for name, value in values.items()}
        self.numbers = [
            leaf.data if isinstance(leaf, Value) else float(leaf)
            for leaves, _ in self._trees.values()
            for leaf in leaves
        ]

    def __call__(self, numbers: Sequence[float]) -> float:
        rest = iter(numbers)
        arguments = {
            name: structure.fill([Value(next(rest)) for _ in leaves])
            for name, (leaves, structure) in self._trees.items()
        }
        result = single_output(self._function(**arguments), "the result")
        return result.data if isinstance(result, Value) else result


# --- whether a function prints ----------------------------------------------------------------------------------


class _Heard:
    """A stream that notices whether anything is written to it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.anything = False

    def write(self, text: str) -> Any:
        self.anything = True
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def listening() -> Iterator[_Heard]:
    """Inside, what is printed is noticed; it goes where it went."""
    heard = _Heard(sys.stdout)
    with contextlib.redirect_stdout(heard):
        yield heard


# --- running a user's graph again -------------------------------------------------------------------------------


class _Recorder:
    """Runs a recorded graph again on Values of the engine in use (see ``cross_framework.Backend``)."""

    def constant(self, number: float) -> float:
        return number

    def apply(self, name: str, operands: Sequence[Any]) -> Any:
        if any(isinstance(operand, Value) for operand in operands):
            return engine.apply(name, *operands)
        return engine.evaluate(name, *operands)

    def reduce(self, name: str, operands: Sequence[Any]) -> Sequence[Any]:
        half = len(operands) // 2
        result = engine.reduce(*(name, operands[:half], operands[half:]) if name == "dot" else (name, operands))
        return result if isinstance(result, list) else [result]

    def linearized(self, data: float, operands: Sequence[Any], at: Sequence[float], slopes: Sequence[float]) -> Any:
        if [operand.data if isinstance(operand, Value) else operand for operand in operands] != list(at):
            raise NotReplayableError("the graph has a node that you made yourself, and how it computes is not known")
        children = [operand if isinstance(operand, Value) else Value(operand) for operand in operands]
        return Value(data, children, local_grads=slopes)


def rerun(root: Value, leaves: Mapping[str, Value]) -> Callable[..., Any]:
    """The graph of ``root`` as a function of its leaves, by name."""
    recipe = Recipe(root, list(leaves.values()))
    return lambda **values: recipe.run(_Recorder(), [values[name] for name in leaves])
