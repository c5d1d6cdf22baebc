"""Taped code answers the calls that no program does: those of functions whose branches and loops are others each time.

A program has no branches: it stands for the calls that decide as one did, or for both arms of each test. Where loops
that data end are nested, or data decide which objects there are, nearly every call needs a program of its own. The
code here keeps the control flow of the function and records a tape as it runs, as the engine does (entry.py).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ...engine import SpecializationCache
from ..backends.llvm.jit import available, object_of
from ..backends.process import Run, here
from ..calls.eager import EagerRunner, Method, Result
from ..reports.notices import Notices, runs_as_it_is
from ..reports.reasons import Reason
from ..request import Options

if TYPE_CHECKING:
    from .answers import Answers, TapedResult
    from .entry import TapedProgram

__all__ = ["TapedCalls"]

T = TypeVar("T")

#: After so many calls that no program answered, code is made, and after twice as many again for other types.
_FIRST, _MOST_CODES = 8, 4
#: If they are at least one in so many of all calls.
_ONE_IN = 4
#: So often code may leave a call to the function, if it answers fewer.
_FAILURES = 32
#: After so many calls in a row that no program answered, none is tried in ever more calls, up to so many.
_IN_A_ROW, _LONGEST = 6, 256
#: Where code runs members of a batch, it takes so many batches.
_BATCHES = 16
_ANSWERED = frozenset(
    [
        *(Reason.NEW_ARGUMENTS, Reason.GUARD_FAILED, Reason.PARAMETER_DELETED, Reason.STATE_CHANGED),
        *(Reason.BACKING_OFF, Reason.AWAITS_CODE),
    ]
)


class TapedCalls:
    """The taped code of one compiled function.

    Attributes:
        why_not: Why there is none, if the function cannot be followed.
    """

    def __init__(
        self, function: Callable[..., Any], options: Options, eager: EagerRunner, cache: SpecializationCache
    ) -> None:
        self._function, self._eager, self._cache = function, eager, cache
        self._at_once = options.tier == "llvm"
        self._possible = options.tier in ("auto", "llvm") and not options.exact and not options.verify
        self._notices = Notices()
        self.forget()

    def forget(self) -> None:
        """Drop all code, as if no call had been seen."""
        self.why_not: str = ""
        self._codes: list[Answers] = []
        self._given_up: list[Answers] = []
        self._cache.pause(0)
        self._cache.compete(None)
        self._pending: TapedProgram | None = None
        self._misses, self._next, self._paused, self._since = 0, _FIRST, 0, 0
        self._before = self._last = self._cache.calls()
        self._in_a_row = self._batches = 0

    @property
    def hits(self) -> int:
        """How many calls it has answered."""
        return sum(code.code.answers for code in (*self._codes, *self._given_up) if not code.is_wrong)

    def takes_batch(self) -> bool:
        """Whether code runs the members of the next batch, and no program is tried."""
        self._batches = max(0, self._batches - 1)
        return self._batches > 0 and bool(self._codes)

    def has_taken(self, members: int, of: int) -> None:
        """Code has run so many members of a batch. Where that is some, it takes batches for a while."""
        if _ONE_IN * members >= of and not self._batches:
            self._batches = _BATCHES

    @property
    def is_being_made(self) -> bool:
        """Whether code is being compiled, and there is no other."""
        return self._pending is not None and not self._codes

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
        found = self._asked(method, arguments, lambda code: code.answer(method, arguments))
        if found is None:
            return None
        self._spare_programs(reason, found[1])
        return found[0]

    def in_batch(self, arguments: tuple[Any, ...]) -> TapedResult | Result | None:
        """What a member of a batch gives that fits no program, of which no gradient is added as yet."""
        if not self._possible or self.why_not:
            return None

        def ask(code: Answers) -> TapedResult | Result | None:
            return code.in_batch(arguments)

        found: tuple[TapedResult | Result, Answers] | None = self._asked(Method.BACKWARD, arguments, ask)
        return None if found is None else found[0]

    def _is_traced(self) -> bool:
        """Whether a call is traced even so, since a program may be faster: ever fewer are."""
        self._since += 1
        return self._since & (self._since - 1) == 0

    def _spare_programs(self, reason: Reason, code: Answers) -> None:
        """Where no program answers in call after call, none is tried for a while: the code answers without Python."""
        if not reason.traces:
            return
        calls = self._cache.calls()
        self._in_a_row = self._in_a_row + 1 if calls == self._last + 1 else 1
        self._last = calls
        if self._in_a_row >= _IN_A_ROW:
            self._cache.pause(min(2**self._in_a_row, _LONGEST), code.code if code.is_plain else None)

    # --- answers --------------------------------------------------------------------------------------------

    def _asked(
        self, method: Method, arguments: tuple[Any, ...], ask: Callable[[Answers], T | None]
    ) -> tuple[T, Answers] | None:
        """What one of the codes gives, and which; None if none does. Then code is made after some more such calls."""
        for code in list(self._codes):
            found = ask(code)
            self._look_at(code, found is not None)
            if found is not None:
                return found, code
        self._misses += 1
        if self._misses >= self._next and self._pending is None:
            self._next *= 2
            calls = self._cache.calls() - self._before + self._paused
            if (self._codes or _ONE_IN * self._misses >= calls) and available():
                self._make(method, arguments)
        return None

    def _look_at(self, code: Answers, has_answered: bool) -> None:
        """Drop code that gives other numbers, or leaves most calls to the function."""
        if code.is_wrong:
            self._give_up("its code gave other numbers than it does")
            self._notices.once("taped", runs_as_it_is(self._function, self.why_not))
        elif not has_answered and code.code.failures >= max(_FAILURES, code.code.answers + 1):
            self._give_up("it changes what it is given, raises, or gives numbers that are not finite")

    def _give_up(self, why: str) -> None:
        self._given_up += self._codes
        self._codes.clear()
        self._cache.pause(0)
        self._cache.compete(None)
        self.why_not = why

    # --- code -----------------------------------------------------------------------------------------------

    def _make(self, method: Method, arguments: tuple[Any, ...]) -> None:
        """Write code for calls like this one, and have it compiled."""
        if len(self._codes) >= _MOST_CODES:
            self.why_not = "its arguments have other types in nearly every call"
            return
        from .answers import program_of  # few functions need it

        self._pending, self.why_not = program_of(self._function, method, arguments)
        if self._pending is None:
            return
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
        from .answers import Answers

        try:
            compiled = run(object_of, program.text, passes=True, level=2)
            made = Answers(self._function, self._eager, program, compiled)
            self._codes.insert(0, made)
            if made.is_plain:
                self._cache.compete(made.code)
        except Exception as error:  # a call that has been answered must not fail afterwards
            self.why_not = f"LLVM did not compile it: {error}"
