"""What taped code answers for the calls of one compiled function, compared with the function in some of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from ... import engine
from ...engine import Value, unrecorded
from ...engine.pytree import Structure, flatten
from ..calls.argument_order import written_by_user
from ..calls.eager import EagerRunner, Method, Result, answer, number_of
from ..calls.fused_node import FusedOperation
from ..comparison import TOLERANCE
from .code import loaded
from .constants import leaf_numbers
from .entry import TapedProgram, positional, written
from .types import ANY_NUMBER, BOOL, EITHER, FLOAT, INT, VALUE, NotTypedError
from .versions import as_written

__all__ = ["Answers", "program_of"]

_PLAIN: dict[Any, Any] = {FLOAT: float, INT: int, BOOL: bool}
#: What a plain call may give; of others it is not known what they are in Python.
_RETURNED = frozenset([*_PLAIN, VALUE, EITHER, ANY_NUMBER])


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
        return None, as_written(str(error))
    except Exception as error:  # the function itself answers, whatever is wrong here
        return None, f"its source could not be followed ({type(error).__name__})"


class Answers:
    """Taped code for arguments of some types.

    Attributes:
        code: The machine code.
        is_plain: Whether the function takes its arguments as the call has them.
        is_wrong: Whether it has given something else than the function.
    """

    def __init__(
        self, function: Callable[..., Any], eager: EagerRunner, program: TapedProgram, compiled: bytes
    ) -> None:
        self._function, self._eager = function, eager
        self._name = getattr(function, "__name__", "compiled")
        self.code, self._result = loaded(program, compiled), program.result
        self.is_plain = type(function) is FunctionType and written_by_user(function, ())[0] is function
        self.is_wrong: bool = False

    def answer(self, method: Method, arguments: tuple[Any, ...]) -> list[Any] | None:
        """What a call returns, in a list; None where the function itself must run."""
        is_due = self.code.is_due
        if method is Method.GRADIENTS and self.is_plain and not is_due:
            answered = self.code.value_and_grad(*arguments)
            if answered is not None:
                return [answered] if answered else None
        try:
            call = _Call.of(self._function, method, arguments)
        except NotTypedError:
            return None
        if call is None or (method is Method.CALL and self._result not in _RETURNED):
            return None
        found = self.code.run(tuple(call.arguments), call.leaves, method is Method.CALL)
        if not found:
            return None
        result = TapedResult(*found)
        if method is Method.CALL and not (result.is_node or self._result in _PLAIN):
            return None  # which may be a Value or a number
        is_recorded = method is not Method.CALL or engine.is_recording()  # else a plain run has no gradients
        if is_recorded and is_due:
            return [self._compared(call, result, arguments)]
        self.code.count_answer()
        return [self._returned(call, result)]

    def in_batch(self, arguments: tuple[Any, ...]) -> TapedResult | Result | None:
        """What a member of a batch gives, of which no gradient is added as yet; None where the function must run.

        Where it is compared with the function, what that gives.
        """
        is_due = self.code.is_due
        try:
            call = _Call.of(self._function, Method.BACKWARD, arguments)
        except NotTypedError:
            return None
        found = self.code.run(tuple(call.arguments), call.leaves, False) if call is not None else None
        if call is None or not found:
            return None
        result = TapedResult(*found)
        self.code.count_answer()
        if not is_due:
            return result
        plain = self._eager.run(arguments, False)
        self.is_wrong = not self._is_right(call, result, plain)
        return plain

    def _returned(self, call: _Call, result: TapedResult) -> Any:
        if call.structure is not None:
            return result.number, call.structure.collect(result.gradients[: len(call.leaves)])
        if call.method is Method.BACKWARD:
            for value, gradient in zip(result.values, result.gradients, strict=True):
                value.grad += gradient
            return result.number
        if not result.is_node:
            return _PLAIN[self._result](result.number)
        if not engine.is_recording():
            return unrecorded(result.number)
        operation = FusedOperation(self._name, self._function, call.given, result.number)
        return Value(result.number, result.values, operation, local_grads=result.gradients)

    def _compared(self, call: _Call, result: TapedResult, arguments: tuple[Any, ...]) -> Any:
        """The function's own answer, which the code must have given."""
        before = engine.set_recording(True)
        try:
            plain = self._eager.run(arguments, call.method.differentiates_first)
            self.is_wrong = not self._is_right(call, result, plain)
            self.code.count_answer()
            return answer(call.method, plain)
        finally:
            engine.set_recording(before)

    def _is_right(self, call: _Call, result: TapedResult, plain: Result) -> bool:
        """Whether a result is what the function gives, but for rounding."""
        root: Any = plain.root
        if call.method is Method.CALL and not result.is_node:
            return type(root) is _PLAIN[self._result] and _is_close([result.number], [float(root)], abs(root))
        if not isinstance(root, Value):
            number = number_of(root)
            return _is_close([result.number], [number], abs(number)) and not any(result.gradients)
        wanted = plain.signature.wanted() if call.structure is not None else result.values
        gradients = engine.gradients(root, 1.0, wanted) if wanted else []
        ours = result.gradients[: len(gradients)]
        if call.structure is None and any(one._children for one in wanted):  # one may be computed of another
            ours = engine.gradients(Value(result.number, wanted, "", local_grads=ours), 1.0, wanted)
        largest = max(map(abs, gradients), default=0.0)
        return _is_close([result.number], [root.data], abs(root.data)) and _is_close(ours, gradients, largest)


class TapedResult(NamedTuple):
    """What a run gave.

    Attributes:
        number: The value.
        gradients: The derivatives by the leaves, if they were wanted.
        is_node: Whether the value was computed of a Value.
        values: The Values among the leaves that are no variables.
    """

    number: float
    gradients: list[float]
    is_node: bool
    values: list[Value]


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


def _is_close(ours: list[float], theirs: list[float], scale: float) -> bool:
    size = max(scale, 1e-300)
    return all(
        abs(one - other) <= TOLERANCE * max(size, abs(other)) or (math.isnan(one) and math.isnan(other))
        for one, other in zip(ours, theirs, strict=True)
    )
