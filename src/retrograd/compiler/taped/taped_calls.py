"""Taped code answers the calls that no program does: those of functions whose branches and loops are others each time.

A program has no branches: it stands for the calls that decide as one did, or for both arms of each test. Where loops
that data end are nested, or data decide which objects there are, nearly every call needs a program of its own. The
code here keeps the control flow of the function and records a tape as it runs, as the engine does (entry.py).
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

from ... import engine
from ...engine import Value, unrecorded
from ...engine.pytree import Structure, flatten
from ..backends.llvm.jit import available, object_of
from ..backends.process import Run, here
from ..calls.eager import EagerRunner, Method, Result, answer, number_of
from ..calls.fused_node import FusedOperation
from ..comparison import TOLERANCE
from ..reports.notices import Notices, runs_as_it_is
from ..reports.reasons import Reason
from ..request import Options
from .code import TapedCode, TapedResult
from .constants import leaf_numbers
from .entry import TapedProgram, positional, written
from .packing import Packed
from .types import BOOL, FLOAT, INT, NotTypedError

__all__ = ["TapedCalls"]

#: After so many calls that no program answered, code is made, and after twice as many again for other types.
_FIRST, _MOST_CODES = 32, 4
#: If they are at least one in so many of all calls.
_ONE_IN = 4
#: So often code may leave a call to the function, if it answers fewer.
_FAILURES = 32
#: After so many calls in a row that no program answered, none is tried in ever more calls, up to so many.
_IN_A_ROW, _LONGEST = 6, 256
#: So many answers are compared with the function, and then those whose number is a power of four.
_COMPARED = 4

_PLAIN: dict[Any, Any] = {FLOAT: float, INT: int, BOOL: bool}
_ANSWERED = frozenset(
    [
        *(Reason.NEW_ARGUMENTS, Reason.GUARD_FAILED, Reason.PARAMETER_DELETED, Reason.STATE_CHANGED),
        *(Reason.BACKING_OFF, Reason.AWAITS_CODE),
    ]
)


class TapedCalls:
    """The taped code of one compiled function.

    Attributes:
        hits: How many calls it has answered.
        why_not: Why there is none, if the function cannot be followed.
    """

    def __init__(
        self, function: Callable[..., Any], options: Options, eager: EagerRunner, cache: engine.SpecializationCache
    ) -> None:
        self._function, self._eager, self._calls, self._pause = function, eager, cache.calls, cache.pause
        self._name = getattr(function, "__name__", "compiled")
        self._at_once = options.tier == "llvm"
        self._possible = options.tier in ("auto", "llvm") and not options.exact and not options.verify
        self._notices = Notices()
        self.forget()

    def forget(self) -> None:
        """Drop all code, as if no call had been seen."""
        self.hits: int = 0
        self.why_not: str = ""
        self._codes: list[_Code] = []
        self._pending: TapedProgram | None = None
        self._misses, self._next, self._paused, self._since = 0, _FIRST, 0, 0
        self._before = self._last = self._calls()
        self._in_a_row = 0

    def is_offered(self, differentiates_first: bool, arguments: tuple[Any, ...]) -> bool:
        """Whether there is code for a call like this one, or will be when it is compiled."""
        if not self._possible or self.why_not or not available():
            return False
        if not self._codes and self._pending is None:
            self._make(Method.GRADIENTS if differentiates_first else Method.CALL, arguments)
        return not self.why_not

    def answer(self, kind: str, arguments: tuple[Any, ...], reason: Reason | None) -> list[Any] | None:
        """What a call returns that no program answered, in a list; None where the function itself must run."""
        if not self._possible or self.why_not or reason not in _ANSWERED:
            return None
        self._paused += reason is Reason.BACKING_OFF  # the cache has not counted it
        method = Method(kind)
        if reason.traces and self._codes and self._is_traced():
            return None
        for code in list(self._codes):
            found = self._by(code, method, arguments)
            if found is not None:
                self._spare_programs(reason)
                return found
        self._misses += 1
        if self._misses >= self._next and self._pending is None:
            self._next *= 2
            calls = self._calls() - self._before + self._paused
            if (self._codes or _ONE_IN * self._misses >= calls) and available():
                self._make(method, arguments)
        return None

    def _is_traced(self) -> bool:
        """Whether a call is traced even so, since a program may be faster: ever fewer are."""
        self._since += 1
        return self._since & (self._since - 1) == 0

    def _spare_programs(self, reason: Reason) -> None:
        """Where no program answers in call after call, none of them is tried for a while."""
        if not reason.traces:
            return
        calls = self._calls()
        self._in_a_row = self._in_a_row + 1 if calls == self._last + 1 else 1
        self._last = calls
        if self._in_a_row >= _IN_A_ROW:
            self._pause(min(2**self._in_a_row, _LONGEST))

    # --- answers --------------------------------------------------------------------------------------------

    def _by(self, code: _Code, method: Method, arguments: tuple[Any, ...]) -> list[Any] | None:
        try:
            call = _Call.of(self._function, method, arguments)
        except NotTypedError:
            return None
        if call is None:
            return None
        packed = code.code.packed(call.arguments, call.leaves, method is Method.CALL)
        if packed is None:
            return None
        result = code.code.run(packed, method is not Method.CALL or bool(packed[2]))
        if result is None:
            self._failed(code)
            return None
        if method is Method.CALL and not (result.is_node or result.kind in _PLAIN):
            return None  # which may be a Value or a number
        is_recorded = method is not Method.CALL or engine.is_recording()  # else a plain run has no gradients
        if is_recorded and code.is_due():
            return [self._compared(code, call, packed, result, arguments)]
        self.hits += 1
        return [self._answer(call, packed, result)]

    def _answer(self, call: _Call, packed: Packed, result: TapedResult) -> Any:
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

    def _failed(self, code: _Code) -> None:
        """Code has left a call to the function; if it does so most of the time, it is dropped."""
        code.failures += 1
        if code.failures >= _FAILURES and code.failures > code.answers:
            self._codes.clear()
            self.why_not = "it changes what it is given, raises, or gives numbers that are not finite"

    def _compared(
        self, code: _Code, call: _Call, packed: Packed, result: TapedResult, arguments: tuple[Any, ...]
    ) -> Any:
        """The function's own answer, which the code must have given."""
        before = engine.set_recording(True)
        try:
            plain = self._eager.run(arguments, call.method.differentiates_first)
            is_right = _is_right(call, packed, result, plain)
            found = answer(call.method, plain)
        finally:
            engine.set_recording(before)
        if is_right:
            code.answers += 1
            self.hits += 1
        else:
            self._codes.clear()
            self.why_not = "its code gave other numbers than it does"
            self._notices.once("taped", runs_as_it_is(self._function, self.why_not))
        return found

    # --- code -----------------------------------------------------------------------------------------------

    def _make(self, method: Method, arguments: tuple[Any, ...]) -> None:
        """Write code for calls like this one, and have it compiled."""
        if len(self._codes) >= _MOST_CODES:
            self.why_not = "its arguments have other types in nearly every call"
            return
        try:
            call = _Call.of(self._function, method, arguments)
            if call is None:
                return
            program = written(call.function, call.arguments)
        except NotTypedError as error:
            self.why_not = str(error)
            return
        except Exception as error:  # the function itself answers, whatever is wrong here
            self.why_not = f"its source could not be followed: {error!r}"
            return
        self._pending = program
        if self._at_once:
            self.compile(0, 0, here)
        else:
            from ..compile_threads import became_hot

            became_hot((weakref.ref(self), 0, 0))

    def is_large(self, number: int) -> bool:
        """Whether the code takes seconds to compile."""
        del number
        return self._pending is not None and self._pending.text.count("\n") > 20_000

    def compile(self, number: int, batch: int, run: Run) -> None:
        """Compile what is pending; ``run`` says in which process."""
        del number, batch
        program, self._pending = self._pending, None
        if program is None:
            return
        try:
            code = TapedCode(program, run(object_of, program.text, passes=True, level=2))
        except Exception as error:  # a call that has been answered must not fail afterwards
            self.why_not = f"LLVM did not compile it: {error}"
            return
        self._codes.insert(0, _Code(code))


class _Code:
    """Code, and how many calls it has answered."""

    def __init__(self, code: TapedCode) -> None:
        self.code, self.answers, self.failures = code, 0, 0

    def is_due(self) -> bool:
        """Whether its next answer is compared with the function; else it is counted."""
        count = self.answers
        if count < _COMPARED or (count & (count - 1) == 0 and count.bit_length() % 2):
            return True
        self.answers += 1
        return False


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
