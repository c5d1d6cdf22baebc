"""What taped code answers for the calls of one compiled function, compared with the function in some of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import engine
from ...engine import Value, unrecorded
from ...engine.pytree import Structure, flatten
from ..calls.eager import EagerRunner, Method, Result, answer, number_of
from ..calls.fused_node import FusedOperation
from ..comparison import TOLERANCE
from .code import TapedCode, TapedResult
from .constants import leaf_numbers
from .entry import TapedProgram, positional, written
from .packing import Packed
from .types import BOOL, EITHER, FLOAT, INT, VALUE, NotTypedError

__all__ = ["Answers", "program_of"]

#: So many answers are compared with the function, and then those whose number is a power of four.
_COMPARED = 4

_PLAIN: dict[Any, Any] = {FLOAT: float, INT: int, BOOL: bool}
#: What a plain call may give; of others it is not known what they are in Python.
_RETURNED = frozenset([*_PLAIN, VALUE, EITHER])


def program_of(
    function: Callable[..., Any], method: Method, arguments: tuple[Any, ...]
) -> tuple[TapedProgram | None, str]:
    """The program of a function for calls like one; or None, and why there is none."""
    try:
        call = _Call.of(function, method, arguments)
        if call is None:
            return None, ""
        return written(call.function, call.arguments), ""
    except NotTypedError as error:
        return None, str(error)
    except Exception as error:  # the function itself answers, whatever is wrong here
        return None, f"its source could not be followed: {error!r}"


class Answers:
    """Taped code for arguments of some types.

    Attributes:
        answers: How many calls it has answered.
        failures: How many it has left to the function.
        is_wrong: Whether it has given something else than the function.
    """

    def __init__(
        self, function: Callable[..., Any], eager: EagerRunner, program: TapedProgram, compiled: bytes
    ) -> None:
        self._function, self._eager = function, eager
        self._name = getattr(function, "__name__", "compiled")
        self._code = TapedCode(program, compiled)
        self.answers: int = 0
        self.failures: int = 0
        self.is_wrong: bool = False

    def answer(self, method: Method, arguments: tuple[Any, ...]) -> list[Any] | None:
        """What a call returns, in a list; None where the function itself must run."""
        try:
            call = _Call.of(self._function, method, arguments)
        except NotTypedError:
            return None
        if call is None or (method is Method.CALL and self._code.result not in _RETURNED):
            return None
        packed = self._code.packed(call.arguments, call.leaves, method is Method.CALL)
        if packed is None:
            return None
        result = self._code.run(packed, method is not Method.CALL or bool(packed[2]))
        if result is None:
            self.failures += 1
            return None
        if method is Method.CALL and not (result.is_node or result.kind in _PLAIN):
            return None  # which may be a Value or a number
        is_recorded = method is not Method.CALL or engine.is_recording()  # else a plain run has no gradients
        if is_recorded and self._is_due():
            return [self._compared(call, packed, result, arguments)]
        self.answers += 1
        return [self._returned(call, packed, result)]

    def _is_due(self) -> bool:
        """Whether the next answer is compared with the function."""
        count = self.answers
        return count < _COMPARED or (count & (count - 1) == 0 and count.bit_length() % 2 == 1)

    def _returned(self, call: _Call, packed: Packed, result: TapedResult) -> Any:
        if call.structure is not None:
            return result.number, call.structure.collect(result.gradients[: len(call.leaves)])
        if call.method is Method.BACKWARD:
            for value, gradient in zip(packed[2], result.gradients, strict=True):
                value.grad += gradient
            return result.number
        if not result.is_node:
            return _PLAIN[result.kind](result.number)
        if not engine.is_recording():
            return unrecorded(result.number)
        operation = FusedOperation(self._name, self._function, call.given, result.number)
        return Value(result.number, packed[2], operation, local_grads=result.gradients)

    def _compared(self, call: _Call, packed: Packed, result: TapedResult, arguments: tuple[Any, ...]) -> Any:
        """The function's own answer, which the code must have given."""
        before = engine.set_recording(True)
        try:
            plain = self._eager.run(arguments, call.method.differentiates_first)
            self.is_wrong = not _is_right(call, packed, result, plain)
            self.answers += 1
            return answer(call.method, plain)
        finally:
            engine.set_recording(before)


class _Call:
    """A call as the code takes it.

    Attributes:
        method: How the compiled function was called.
        function: The function in Python.
        arguments: Its arguments, with leaves in the places of the variables.
        given: The arguments as the caller gave them.
        leaves: The numbers of those.
        structure: Of the first argument, if its numbers are variables.
    """

    __slots__ = ("arguments", "function", "given", "leaves", "method", "structure")

    def __init__(
        self, method: Method, given: tuple[Any, ...], function: Any, arguments: list[Any], leaves: list[float]
    ) -> None:
        self.method, self.given, self.function = method, given, function
        self.arguments, self.leaves = arguments, leaves
        self.structure: Structure | None = None

    @staticmethod
    def of(function: Callable[..., Any], method: Method, arguments: tuple[Any, ...]) -> _Call | None:
        """A call, from its arguments; None for what no code takes: a module as the first argument."""
        if not method.differentiates_first:
            return _Call(method, arguments, *positional(function, arguments), [])
        leaves, structure = flatten(arguments[0], "the first argument")
        if structure.kind == "module":
            return None
        filled = structure.fill(leaf_numbers(len(leaves)))
        call = _Call(method, arguments, *positional(function, (filled, *arguments[1:])), [*map(number_of, leaves)])
        call.structure = structure
        return call


def _is_right(call: _Call, packed: Packed, result: TapedResult, plain: Result) -> bool:
    """Whether a result is what the function gives, but for rounding."""
    root: Any = plain.root
    if call.method is Method.CALL and not result.is_node:
        return type(root) is _PLAIN[result.kind] and _is_close([result.number], [float(root)], abs(root))
    if not isinstance(root, Value):
        return _is_close([result.number], [number_of(root)], abs(number_of(root))) and not any(result.gradients)
    wanted = plain.signature.wanted() if call.structure is not None else packed[2]
    gradients = engine.gradients(root, 1.0, wanted) if wanted else []
    ours = result.gradients[: len(gradients)]
    largest = max(map(abs, gradients), default=0.0)
    return _is_close([result.number], [root.data], abs(root.data)) and _is_close(ours, gradients, largest)


def _is_close(ours: list[float], theirs: list[float], scale: float) -> bool:
    size = max(scale, 1e-300)
    return all(
        abs(one - other) <= TOLERANCE * max(size, abs(other)) or (math.isnan(one) and math.isnan(other))
        for one, other in zip(ours, theirs, strict=True)
    )
