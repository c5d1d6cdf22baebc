"""``retrograd.compile``: a scalar Python function, traced once and run as a short list of vector instructions."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, overload

from .. import engine, errors
from ..engine import Value
from ..index import Index
from ..tree import flatten, single_output
from .arguments import Description, Unsuitable, describe
from .statistics import Statistics, gathered
from .tiers import Tier, Tiers
from .trace_records import Trace
from .tracing import Recorder, active_recorder

__all__ = ["Compiled", "compile"]

P = ParamSpec("P")

#: Programs that one function keeps; beyond them, the one that was not used for longest goes.
LIMIT = 256

#: How far a program's numbers may be from the engine's, relative to the largest, before it is not trusted.
_TOLERANCE = {"float64": 1e-7, "float32": 5e-3}

_BACKWARD, _GRADIENTS = 0, 1


class Compiled(Generic[P]):
    """A function that :func:`compile` made fast. Calls take the arguments of the function itself."""

    def __init__(self, function: Callable[P, Any], pure: bool, exact: bool, dtype: str, tier: Tier) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._pure, self._exact, self._dtype, self._tier = pure, exact, dtype, tier
        self._reasons: Counter[str] = Counter()
        self._native = engine.ENGINE == "native"
        self._orders: dict[int, list[tuple[str, int]]] = {}
        if self._native:
            self._programs = engine.Programs(self._missed, Index)
            self._tiers = Tiers(self._programs, tier, dtype == "float32")
            if pure:
                # The native method itself, so that a call costs no Python frame.
                self.backward = self._programs.backward  # type: ignore[method-assign]

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
        """The function's value, and its derivatives in the structure of the first argument. No ``.grad`` is touched."""
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
        if not (self._native and self._pure):
            return self._batch_eagerly(batch, seed)
        left = self._programs.batch_forward(batch)
        if left:
            # New structures are traced; what still does not fit is run by itself.
            for i in left:
                if self._programs.batch_forward([batch[i]]):
                    self._trace(_BACKWARD, tuple(batch[i]), "new")
            left = self._programs.batch_forward(batch)
        roots = [self._root(tuple(batch[i])) for i in left]
        total = self._programs.batch_backward(seed)
        self._tiers.catch_up()
        for root in roots:
            if isinstance(root, Value):
                root.backward(seed)
                total += root.data
            else:
                total += root
        return total * seed

    # --- looking inside ---------------------------------------------------------------------------------

    def stats(self) -> Statistics:
        """What was compiled, how long each pass took, and how often calls hit, were traced again or ran eagerly."""
        return gathered(self._programs.facts() if self._native else [], self._reasons)

    def program(self) -> str:
        """The vector program that was used last, as text: one instruction a line, with the user's line beside it."""
        from .listing import listing

        facts = self._programs.facts() if self._native else []
        if not facts:
            return "No program yet: one is made by the first call."
        return listing(facts[0], self._programs.listing(facts[0]["number"]))

    def clear(self) -> None:
        """Forget every program: the next call traces the function again."""
        for fact in self._programs.facts() if self._native else []:
            self._programs.drop(fact["number"])

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
        mode = _GRADIENTS if kind == "gradients" else _BACKWARD
        if reason == "domain":
            self._reasons["an operation left its domain, or a number was not finite: run eagerly"] += 1
            return self._run_eagerly(kind, arguments)
        root = self._trace(mode, arguments, reason)
        if root is None:
            return getattr(self._programs, kind)(*arguments)
        return self._finish(kind, *root)

    def _inside_a_trace(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        recorder = active_recorder()
        assert recorder is not None
        recorder.mark(f"calls {self._function.__name__}.{kind}()")
        return self._run_eagerly(kind, arguments)

    def _trace(self, mode: int, arguments: tuple[Any, ...], reason: str) -> tuple[Any, Description] | None:
        """Trace one call and add its program. None when that stands for the call now; else the root and its inputs."""
        recorder = Recorder(pure=True)
        try:
            description = describe(arguments, recorder, mode == _GRADIENTS)
        except Unsuitable as problem:
            return self._plainly(mode, arguments, f"{problem}: run eagerly")
        since = engine.tape_position()
        try:
            trace = recorder.run(self._function, description.stand_ins, want_sources=True)
        except (errors.TracedIndexError, errors.LeakedTraceError):
            raise
        except Exception as error:
            # Perhaps the function's own doing, perhaps a stand-in's: the plain call tells.
            return self._plainly(mode, arguments, f"tracing failed with {type(error).__name__}: run eagerly")
        if trace.reasons:
            self._reasons[f"{trace.reasons[0]} Run eagerly"] += 1
            return trace.result, description
        if not isinstance(trace.result, Value):
            self._reasons["the result does not depend on any Value: run eagerly"] += 1
            return trace.result, description
        self._reasons[_TRACED[reason]] += 1
        if not self._add(mode, trace, description, arguments, since):
            return trace.result, description
        return None

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
        return single_output(self._function(*plain), "the function's result"), description

    def _add(self, mode: int, trace: Trace, description: Description, arguments: tuple[Any, ...], since: int) -> bool:
        """Compile a trace; whether there now is a program that gives what the trace gave."""
        assert isinstance(trace.result, Value)
        roots: list[Value] = [trace.result]
        numbers: dict[int, int] = {}
        guards: list[tuple[str, int, int, float, bool]] = []

        def root_of(value: Value) -> int:
            if id(value) not in numbers:
                numbers[id(value)] = len(roots)
                roots.append(value)
            return numbers[id(value)]

        for guard in trace.guards:
            kind, right = ("!=", 0.0) if guard.kind == "bool" else (guard.kind, guard.right)
            left = root_of(guard.left)
            if isinstance(right, Value):
                guards.append((kind, left, root_of(right), 0.0, guard.outcome))
            else:
                guards.append((kind, left, 0, float(right or 0.0), guard.outcome))
        index_guards = [
            (g.kind, g.slot + 1, 0 if g.other_slot is None else g.other_slot + 1, float(g.other), g.outcome)
            for g in trace.index_guards
        ]
        try:
            number = self._programs.add(
                mode,
                description.spec,
                roots,
                description.inputs,
                description.actives,
                description.offsets,
                [tuple(selection) for selection in trace.selections],
                guards,
                index_guards,
                description.wanted,
                since,
                self._exact,
                self._dtype == "float32",
                self._tier,
            )
        except NotImplementedError as problem:
            self._reasons[f"{problem}: run eagerly"] += 1
            return False
        if not self._agrees(number, trace.result, arguments):
            self._programs.drop(number)
            self._reasons["the program did not give the engine's numbers: run eagerly"] += 1
            return False
        self._orders[number] = description.order
        self._tiers.added(number)
        facts = self._programs.facts()
        if len(facts) > LIMIT:
            self._programs.drop(facts[-1]["number"])
        return True

    def _agrees(self, number: int, root: Value, arguments: tuple[Any, ...]) -> bool:
        """Whether a new program gives the engine's value and gradients for the call that it was traced from."""
        found = self._programs.check(number, arguments)
        if found is None:
            return not math.isfinite(root.data)  # such calls are the tape's
        value, pairs = found
        expected = engine.gradients(root, 1.0, [leaf for leaf, _ in pairs])
        mine, theirs = [value, *(gradient for _, gradient in pairs)], [root.data, *expected]
        if self._exact:
            return all(a == b or (a != a and b != b) for a, b in zip(mine, theirs, strict=True))
        tolerance = _TOLERANCE[self._dtype]
        scale = max(map(abs, theirs[1:]), default=0.0)
        close = abs(mine[0] - theirs[0]) <= tolerance * max(1.0, abs(theirs[0]))
        return close and all(
            abs(a - b) <= tolerance * max(scale, 1e-300) for a, b in zip(mine[1:], theirs[1:], strict=True)
        )

    def _root(self, arguments: tuple[Any, ...]) -> Any:
        return single_output(self._function(*arguments), "the function's result")

    def _run_eagerly(self, kind: str, arguments: tuple[Any, ...]) -> Any:
        mode = _GRADIENTS if kind == "gradients" else _BACKWARD
        return self._finish(kind, *self._plainly(mode, arguments, _EAGER[self._native]))

    def _batch_eagerly(self, batch: list[tuple[Any, ...]], seed: float) -> float:
        roots = [self._plainly(_BACKWARD, tuple(member), _EAGER[self._native])[0] for member in batch]
        total = 0.0
        for root in roots:
            total += root.data if isinstance(root, Value) else root
        for root in reversed(roots):
            if isinstance(root, Value):
                root.backward(seed)
        return total * seed

    def _finish(self, kind: str, root: Any, description: Description) -> Any:
        """What a call of ``kind`` answers, from the Value that the function returned."""
        value = root.data if isinstance(root, Value) else float(root)
        if kind == "call":
            return value
        if kind == "backward":
            if isinstance(root, Value):
                root.backward()
            return value
        leaves = [
            description.inputs[self._input(description, place)] if where == "active" else description.wanted[place]
            for where, place in description.order
        ]
        gradients = engine.gradients(root, 1.0, leaves) if isinstance(root, Value) else [0.0] * len(leaves)
        return value, gradients

    @staticmethod
    def _input(description: Description, place: int) -> int:
        if not description.actives:
            return place
        return next(
            i
            for i, (active, offset) in enumerate(zip(description.actives, description.offsets, strict=True))
            if active and offset == place
        )


_TRACED = {
    "new": "traced: arguments of a new structure",
    "guard": "traced: a comparison came out otherwise",
    "parameter": "traced: a parameter is gone",
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
    again. Without the promise, the function runs in each call.

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
