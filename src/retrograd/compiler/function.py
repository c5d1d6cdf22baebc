"""``retrograd.compile``: a scalar Python function, traced once and run as a short list of vector instructions."""

from __future__ import annotations

import functools
import math
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, overload

from .. import engine, errors
from ..engine import Value
from ..engine.pytree import flatten, single_output
from ..index import Index
from .guards.builtin_overrides import sums
from .guards.invalidation import Captured
from .printer import Inspection
from .recorder import Recorder, active_recorder
from .recording import Guard, Trace
from .signature import Description, Unsuitable, describe
from .statistics import Statistics, gathered
from .tier_up import Tier, Tiers

if TYPE_CHECKING:
    from .backends.jax import JaxFunction

__all__ = ["Compiled", "Tier", "compile"]

P = ParamSpec("P")

#: Programs that one function keeps; beyond them, the one that was not used for longest goes.
LIMIT = 256

#: How far a program's numbers may be from the engine's, relative to the largest, before it is not trusted.
_TOLERANCE = {"float64": 1e-7, "float32": 5e-3}

_BACKWARD, _GRADIENTS = 0, 1


_sums = sums()


class _Example(NamedTuple):
    """The call that a program was traced from, and those of its arguments that may change without being others."""

    mode: int
    arguments: tuple[Any, ...]
    objects: list[Any]


class _Again(threading.local):
    """Whether this thread is about to be answered by a program that was just made."""

    active = False


class Compiled(Generic[P]):
    """A function that :func:`compile` made fast. Calls take the arguments of the function itself."""

    def __init__(self, function: Callable[P, Any], pure: bool, exact: bool, dtype: str, tier: Tier) -> None:
        functools.update_wrapper(self, function)
        self._function: Callable[..., Any] = function
        self._pure, self._exact, self._dtype, self._tier = pure, exact, dtype, tier
        self._reasons: Counter[str] = Counter()
        self._native = engine.ENGINE == "native"
        #: For each program the call that it was traced from, for those who want to look inside.
        self._shown: Any = None  # the result of the last trace that was made to be looked at
        self._examples: dict[int, _Example] = {}
        self._again = _Again()
        if self._native:
            self._programs = engine.Programs(self._missed, Index)
            self._captured = Captured(self._programs, function)
            replayed = exact and tier == "auto"  # such programs stay on the tape
            self._tiers = Tiers(self._programs, "tape" if replayed else tier, dtype == "float32")
            if pure:
                # The native method itself, so that a call costs no Python frame.
                self.backward = self._programs.backward  # type: ignore[method-assign, assignment]

    # --- calls ----------------------------------------------------------------------------------------

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The function's value, as a float. Inside another traced function, the Value."""
        arguments = self._positional(args, kwargs)
        if active_recorder() is not None:
            return self._function(*arguments)
        if not (self._native and self._pure):
            return self._run_eagerly("call", arguments)
        return self._programs.call(*arguments)

    def backward(self, *args: P.args, **kwargs: P.kwargs) -> float:
        """Runs forward and backward: adds to ``.grad`` of every leaf what ``function(*args).backward()`` would.

        Returns the function's value.
        """
        arguments = self._positional(args, kwargs)
        if not (self._native and self._pure):
            return self._run_eagerly("backward", arguments)  # type: ignore[no-any-return]
        return self._programs.backward(*arguments)

    def value_and_grad(self, *args: P.args, **kwargs: P.kwargs) -> tuple[float, Any]:
        """The function's value, and its derivatives in the structure of the first argument. No ``.grad`` is touched.

        A Value that is passed in, and that the function uses besides as a parameter, counts in both roles.
        """
        arguments = self._positional(args, kwargs)
        if not arguments:
            raise TypeError("value_and_grad differentiates with respect to the first argument, and there is none.")
        structure = flatten(arguments[0], "the first argument")[1]
        if not (self._native and self._pure):
            value, gradients = self._run_eagerly("gradients", arguments)
        else:
            value, gradients = self._programs.gradients(*arguments)
        return value, structure.collect(gradients)

    def backward_batch(self, members: Sequence[tuple[Any, ...]]) -> float:
        """The mean of the function over ``members``, tuples of arguments; adds the mean's gradient to ``.grad``.

        Members of like structure run together, whatever their order. Raises ValueError when there are none.
        """
        batch = list(members)
        if not batch:
            raise ValueError("backward_batch takes at least one member, a tuple of arguments.")
        seed = 1.0 / len(batch)
        recorder = active_recorder()
        if recorder is not None:
            recorder.mark(f"calls {self._function.__name__}.backward_batch()")
        answer = self._programs.batch(batch, seed) if self._native and self._pure else None
        if answer is None:
            return self._batch_eagerly(batch, seed)
        total, left = answer
        if left:
            total = self._batch_anew(batch, seed, left)
        self._tiers.catch_up()
        return total * seed

    def to_jax(self, *args: Any, parameters: Any = None) -> JaxFunction:
        """The function as a JAX function ``g(parameters, *inputs)``, traced with ``args``: jit it, map it, shard it.

        ``args`` are an example: other calls differ in their floats, Values and Indexes alone. As with ``pure=True``,
        this is your promise that the function depends on its arguments and its parameters alone. ``parameters``, a
        Module or nested lists of Values, fixes the order of the parameter vector; without it, the vector holds every
        leaf that the function depends on. See :class:`retrograd.compiler.jax.JaxFunction`.
        Raises MissingExtraError without JAX and NotTraceableError where no trace stands for other calls.
        """
        from .backends.jax import to_jax

        return to_jax(self._function, args, parameters)

    # --- looking inside ---------------------------------------------------------------------------------

    @property
    def scalar_function(self) -> Callable[..., Any]:
        """The function that was compiled, on Values: what ``explain`` and ``explore`` look at."""
        return self._function

    @property
    def tier(self) -> str:
        """What answered the last call: "vm", "llvm", "tape", or "eager" when no program could."""
        return self._programs.tier() if self._native and self._pure else "eager"

    def stats(self) -> Statistics:
        """What was compiled, how long each pass took, and how often calls hit, were traced again or ran eagerly."""
        return gathered(self._programs.facts() if self._native else [], self._reasons)

    def program(self) -> str:
        """The vector program that was used last, as text: one instruction a line, with the user's line beside it."""
        facts = self._programs.facts() if self._native else []
        if not facts:
            return "No program yet: one is made by the first call." if self._pure else "Safe mode runs the function."
        example = self._examples[facts[0]["number"]]
        inspection = self._inspected(example.mode, example.arguments)
        return (
            inspection.program if inspection else "The last program cannot be traced again: the function is not pure."
        )

    def inspect(self, *args: P.args, **kwargs: P.kwargs) -> Inspection:
        """The scalar graph of one call beside its vector program: which instruction computes which node.

        The function is traced anew, with source lines; ``.value`` is its result as a Value, for ``rg.explain`` and
        ``rg.explore``. Raises ValueError where no program can stand for the call (``stats()`` says why), and in safe
        mode, which has none.
        """
        inspection = self._inspected(_BACKWARD, self._positional(args, kwargs)) if self._native and self._pure else None
        if inspection is None:
            raise ValueError(
                "there is no program for this call: a compiled function has one with pure=True; see stats()."
            )
        return inspection

    def _inspected(self, mode: int, arguments: tuple[Any, ...]) -> Inspection | None:
        # Traced again, with the user's lines: calls do not wait for those.
        shown = engine.Programs(self._missed, Index)
        self._trace(mode, arguments, "new", shown)
        described = shown.facts()
        return Inspection(self._shown, shown, described[0]) if described else None

    def clear(self) -> None:
        """Forget every program: the next call traces the function again."""
        for fact in self._programs.facts() if self._native else []:
            self._programs.drop(fact["number"])
        self._examples.clear()
        if self._native:
            self._captured.forget()

    def __reduce__(self) -> str | tuple[Any, ...]:
        """A copy, or what a pickle gives back, has no programs yet; a module's function stays the one that it is."""
        name = getattr(self, "__qualname__", "")
        if getattr(sys.modules.get(getattr(self, "__module__", "")), name, None) is self:
            return name
        return Compiled, (self._function, self._pure, self._exact, self._dtype, self._tier)

    def __repr__(self) -> str:
        return f"<compiled {getattr(self._function, '__qualname__', self._function)!s}>"

    # --- what no program stands for -----------------------------------------------------------------------

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        if kwargs:
            name = next(iter(kwargs))
            raise TypeError(f"a compiled function takes its arguments by position; {name!r} was given by keyword.")
        return args

    def _missed(self, kind: str, arguments: tuple[Any, ...], reason: str) -> Any:
        """The native side found no program for a call: trace it, and answer it."""
        if reason == "trace":
            return self._inside_a_trace(kind, arguments)
        if reason in _INSTEAD:
            return self._run_eagerly(kind, arguments, _INSTEAD[reason])
        if self._again.active:  # a program was made for this call, and does not stand for it
            return self._run_eagerly(kind, arguments, "the program that was made lost its meaning: run eagerly")
        root = self._trace(_GRADIENTS if kind == "gradients" else _BACKWARD, arguments, reason)
        if root is not None:
            return self._finish(kind, *root)
        self._again.active = True
        try:
            return getattr(self._programs, kind)(*arguments)
        finally:
            self._again.active = False

    def _inside_a_trace(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        recorder = active_recorder()
        assert recorder is not None
        recorder.mark(f"calls {self._function.__name__}.{kind}()")
        return self._run_eagerly(kind, arguments)

    def _trace(
        self, mode: int, arguments: tuple[Any, ...], reason: str, shown: engine.Programs | None = None
    ) -> tuple[Any, Description] | None:
        """Trace one call and add its program. None when that stands for the call now; else the root and its inputs.

        With ``shown`` the program goes there, with the user's lines, and nothing is counted.
        """
        changed = "" if shown else self._captured.look()
        if self._captured.asks:
            return self._plainly(mode, arguments, f"{self._captured.asks}: run eagerly")
        recorder = Recorder(pure=True)
        try:
            description = describe(arguments, recorder, mode == _GRADIENTS)
        except Unsuitable as problem:
            return self._plainly(mode, arguments, f"{problem}: run eagerly")
        since = engine.tape_position()
        try:
            trace = recorder.run(self._function, description.stand_ins, want_sources=shown is not None)
        except (errors.TracedIndexError, errors.LeakedTraceError, MemoryError):
            raise
        except Exception as error:
            # Perhaps the function's own doing, perhaps a stand-in's: the plain call tells.
            return self._plainly(mode, arguments, f"tracing failed with {type(error).__name__}: run eagerly")
        if trace.reasons or not isinstance(trace.result, Value):
            self._captured.give_up(mode, arguments)
        if trace.reasons:
            self._reasons[f"{trace.reasons[0]} Run eagerly"] += 1
            return trace.result, description
        if not isinstance(trace.result, Value):
            self._reasons["the result does not depend on any Value: run eagerly"] += 1
            return trace.result, description
        if shown is not None:
            self._shown = trace.result
            self._compile(shown, mode, trace, description, since)
            return None
        self._captured.keep(
            [*description.objects, *(thing for one in list(self._examples.values()) for thing in one.objects)]
        )
        self._reasons[f"traced: {changed} has changed" if changed else _TRACED[reason]] += 1
        added = self._add(mode, trace, description, arguments, since)
        if any(map(engine.is_parameter, description.originals.values())):
            # The function uses an argument as a parameter, too: now it is known to be one.
            return self._trace(mode, arguments, reason)
        return None if added else (trace.result, description)

    def _add(self, mode: int, trace: Trace, description: Description, arguments: tuple[Any, ...], since: int) -> bool:
        """Compile a trace; whether there now is a program that gives what the trace gave."""
        assert isinstance(trace.result, Value)
        try:
            number = self._compile(self._programs, mode, trace, description, since)
        except NotImplementedError as problem:
            self._reasons[f"{problem}: run eagerly"] += 1
            return False
        if any(map(engine.is_parameter, description.originals.values())):
            self._programs.drop(number)
            return False
        if not self._agrees(number, trace.result, arguments):
            self._programs.drop(number)
            self._reasons["the program did not give the engine's numbers: run eagerly"] += 1
            return False
        kept = self._captured.settle(mode, arguments, number)
        self._examples[kept] = _Example(mode, arguments, description.objects)
        if kept == number:
            self._tiers.added(number)
            self._forget_the_oldest()
        return True

    def _forget_the_oldest(self) -> None:
        if len(self._examples) <= LIMIT:
            return
        living = [fact["number"] for fact in self._programs.facts()]
        for number in living[LIMIT:]:
            self._programs.drop(number)
        self._examples = {number: self._examples[number] for number in living[:LIMIT]}

    def _plainly(self, mode: int, arguments: tuple[Any, ...], why: str) -> tuple[Any, Description]:
        self._reasons[why] += 1
        description = Description()
        plain = list(arguments)
        if mode == _GRADIENTS:
            leaves, structure = flatten(arguments[0], "the first argument")
            values = [leaf if isinstance(leaf, Value) else Value(leaf) for leaf in leaves]
            if structure.kind != "module":
                plain[0] = structure.fill(values)
            description.inputs = values
            description.order = [("active", place) for place in range(len(values))]
        with _sums:
            result = self._function(*plain)
        return single_output(result, "the function's result"), description

    def _compile(self, programs: engine.Programs, mode: int, trace: Trace, description: Description, since: int) -> int:
        """The number of the program that a trace makes. Raises NotImplementedError where there can be none."""
        assert isinstance(trace.result, Value)
        roots: list[Value] = [trace.result]
        guards = _numbered(trace.guards, roots)
        trace.guards.clear()  # only `roots` refers to what they compare: see lift in native/compiler/graph/graph.hpp
        index_guards = [
            (g.kind, g.slot + 1, 0 if g.other_slot is None else g.other_slot + 1, float(g.other), g.outcome)
            for g in trace.index_guards
        ]
        return programs.add(
            mode,
            description.spec,
            roots,
            description.inputs,
            description.actives,
            description.offsets,
            [(chosen.node, chosen.slot, chosen.candidates) for chosen in trace.selections],
            guards,
            index_guards,
            description.wanted,
            [place if where == "active" else -1 - place for where, place in description.order],
            since,
            self._exact,
            self._dtype == "float32",
            trace.floats,
            self._tier,
        )

    def _agrees(self, number: int, root: Value, arguments: tuple[Any, ...]) -> bool:
        """Whether a new program gives the engine's value and gradients for the call that it was traced from."""
        found = self._programs.check(number, arguments)
        if found is None:
            return not math.isfinite(root.data)  # such calls are the tape's
        if found is False:
            return False
        value, pairs = found
        expected = engine.gradients(root, 1.0, [leaf for leaf, _ in pairs])
        mine, theirs = [value, *(gradient for _, gradient in pairs)], [root.data, *expected]
        tolerance = 0.0 if self._exact else _TOLERANCE[self._dtype]
        scale = max((abs(slope) for slope in theirs[1:] if math.isfinite(slope)), default=0.0)
        scales = [max(1.0, abs(theirs[0])), *[max(scale, 1e-300)] * len(expected)]
        return all(
            a == b or (a != a and b != b) or abs(a - b) <= tolerance * most < math.inf
            for a, b, most in zip(mine, theirs, scales, strict=True)
        )

    def _run_eagerly(self, kind: str, arguments: tuple[Any, ...], why: str = "") -> Any:
        mode = _GRADIENTS if kind == "gradients" else _BACKWARD
        before = engine.set_recording(True) if kind == "gradients" else None  # as the transforms do
        try:
            return self._finish(kind, *self._plainly(mode, arguments, why or _EAGER[self._native]))
        finally:
            if before is not None:
                engine.set_recording(before)

    def _batch_eagerly(self, batch: list[tuple[Any, ...]], seed: float) -> float:
        total = _sum([self._plainly(_BACKWARD, tuple(member), _EAGER[self._native])[0] for member in batch])
        mean = _number_of(total) * seed
        if isinstance(total, Value):
            total.backward(seed)
        return mean

    def _batch_anew(self, batch: list[tuple[Any, ...]], seed: float, left: list[int]) -> float:
        """The same when no program stood for the members ``left``: their structures are traced, if they are new, and
        what still does not fit is run by itself. Nothing has been added to any gradient yet."""
        for i in left:
            if self._programs.unfit([batch[i]]):
                self._trace(_BACKWARD, tuple(batch[i]), "new")
        alone = set(self._programs.unfit(batch))
        # Whatever raises does so before the others are swept.
        rest = _sum([self._plainly(_BACKWARD, tuple(batch[i]), _ALONE)[0] for i in sorted(alone)])
        together = [member for i, member in enumerate(batch) if i not in alone]
        total, left = self._programs.batch(together, seed) or (0.0, [0])
        if left:
            raise RuntimeError("backward_batch: a parameter or a program was lost while the batch was run.")
        if isinstance(rest, Value):
            rest.backward(seed)
        return total + _number_of(rest)

    def _finish(self, kind: str, root: Any, description: Description) -> Any:
        """What a call of ``kind`` answers, from the Value that the function returned."""
        value = _number_of(root)
        if kind == "call":
            return value
        if kind == "backward":
            if isinstance(root, Value):
                root.backward()
                if description.originals:  # without any, nothing may fail any more
                    self._pass_on(description)
            return value
        leaves = [
            description.inputs[self._input(description, place)] if where == "active" else description.wanted[place]
            for where, place in description.order
        ]
        if not isinstance(root, Value):
            return value, [0.0] * len(leaves)
        gradients = engine.gradients(root, 1.0, leaves)
        for i, (where, place) in enumerate(description.order):
            if where == "active" and place in description.originals:
                gradients[i] += engine.gradients(root, 1.0, [description.originals[place]])[0]
        return value, gradients

    def _pass_on(self, description: Description) -> None:
        """Give the Values among the arguments what their stand-ins are owed."""
        for place, original in description.originals.items():
            original.grad += description.inputs[self._input(description, place)].grad

    @staticmethod
    def _input(description: Description, place: int) -> int:
        if not description.actives:
            return place
        return next(
            i
            for i, (active, offset) in enumerate(zip(description.actives, description.offsets, strict=True))
            if active and offset == place
        )


def _sum(results: Sequence[Any]) -> Any:
    """One result that stands for many: a pass through it is all or nothing."""
    return engine.reduce("sum", results) if any(isinstance(one, Value) for one in results) else float(sum(results))


def _number_of(result: Any) -> float:
    return result.data if isinstance(result, Value) else float(result)


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


_ALONE = "a member of a batch that no program stands for: run eagerly"
_TRACED = {
    "new": "traced: arguments of a new structure",
    "guard": "traced: a comparison came out otherwise",
    "parameter": "traced: a parameter is gone",
    "changed": "traced: something that the function uses has changed",
    "doubted": "traced: something had changed, perhaps for this call, too",
}
#: Why a call that a program would fit is run eagerly all the same.
_INSTEAD = {
    "domain": "an operation left its domain, or a number was not finite: run eagerly",
    "off": "gradients were switched off by no_grad: run eagerly",
    "watched": "every operation is watched, as detect_anomaly does: run eagerly",
}
_EAGER = {True: "run in safe mode", False: "the reference engine runs every call eagerly"}


@overload
def compile(  # noqa: A001  (named like the field names it)
    function: Callable[P, Any], *, pure: bool = ..., exact: bool = ..., dtype: str = ..., tier: Tier = ...
) -> Compiled[P]: ...
@overload
def compile(  # noqa: A001
    function: None = None, *, pure: bool = ..., exact: bool = ..., dtype: str = ..., tier: Tier = ...
) -> Callable[[Callable[P, Any]], Compiled[P]]: ...
def compile(  # noqa: A001
    function: Callable[P, Any] | None = None,
    *,
    pure: bool = False,
    exact: bool = False,
    dtype: str = "float64",
    tier: Tier = "auto",
) -> Any:
    """``function``, a scalar program on Values, at the speed of C.

    The result has ``f(*args)``, the value; ``f.backward(*args)``, which also adds to ``.grad``;
    ``f.backward_batch([(arg, …), …])``, the mean over many; ``f.value_and_grad(*args)``; and ``f.stats()`` and
    ``f.program()`` to look inside. It works as a decorator, with options in parentheses.

    ``pure=True`` is your promise that the function depends on its arguments and on its parameters alone: it is traced
    once for each structure of arguments, and later calls do not run it. Integers that select among Values must be
    :class:`retrograd.Index`; a comparison that decided something is checked in each call, and another outcome traces
    again. So does a change of a variable that the function uses, or in a list, dictionary, object or class behind
    one (``retrograd.compiler.reach`` says which): each call looks at all of them where they are few; where they are
    many, at the outermost, at some of the others in turn, and at all when a Value was made meanwhile. A call that
    notices too late what mattered raises StaleProgramError. Nobody looks into arrays, sets and long lists of numbers,
    or at files, clocks and random numbers. Without the promise, the function runs in each call.

    ``exact=True`` keeps the order of every sum: the same bits as the engine. ``dtype`` is ``"float64"`` or
    ``"float32"``. ``tier`` is ``"auto"``, or ``"vm"``, ``"llvm"``, ``"tape"`` to insist on one. Raises ValueError for
    something else.

    >>> import retrograd as rg
    >>> square = rg.compile(lambda x: x * x, pure=True)
    >>> square.value_and_grad(3.0)
    (9.0, 6.0)
    """
    if dtype not in _TOLERANCE:
        raise ValueError(f"compile: dtype is 'float64' or 'float32', not {dtype!r}.")
    if tier not in ("auto", "vm", "llvm", "tape"):
        raise ValueError(f"compile: tier is 'auto', 'vm', 'llvm' or 'tape', not {tier!r}.")
    if function is None:
        return functools.partial(compile, pure=pure, exact=exact, dtype=dtype, tier=tier)
    return Compiled(function, pure, exact, dtype, tier)
