"""Value and the functions around it, from the engine in use.

The native engine (C++) is the default. ``RETROGRAD_ENGINE=reference`` in the environment chooses the textbook
engine in plain Python, :mod:`retrograd.engine.reference`, which gives the same bits, slowly. Where the native module
is not installed (the pure wheel), that engine is chosen with a warning.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .. import errors, habits, ops
from . import installation

if TYPE_CHECKING:
    from .._native import (
        ComparisonTracer,
        NumberTracer,
        Parameters,
        SpecializationCache,
        Value,
        acquire_backward_lock,
        adam_step,
        apply,
        concrete,
        contents,
        evaluate,
        first_extreme,
        following_extreme,
        functions,
        get_source,
        gradients,
        hear_calls,
        interior,
        is_constant,
        is_parameter,
        keep_fallible,
        operands,
        output_index,
        reduce,
        release_backward_lock,
        restore,
        row_name,
        set_backward_hook,
        set_errstate,
        set_observer,
        set_recording,
        set_source,
        set_tracer,
        sgd_step,
        sparse_gradients,
        tape_position,
        weighted_sum,
        zero_gradients,
    )

__all__ = [
    "ENGINE",
    "ComparisonTracer",
    "Number",
    "NumberTracer",
    "Parameters",
    "SpecializationCache",
    "Value",
    "acquire_backward_lock",
    "adam_step",
    "apply",
    "backward_lock",
    "concrete",
    "contents",
    "errstate",
    "evaluate",
    "first_extreme",
    "following_extreme",
    "functions",
    "get_source",
    "gradients",
    "hear_calls",
    "interior",
    "is_constant",
    "is_parameter",
    "is_recording",
    "keep_fallible",
    "no_grad",
    "operands",
    "output_index",
    "program_recorder",
    "reduce",
    "release_backward_lock",
    "restore",
    "row_name",
    "set_backward_hook",
    "set_errstate",
    "set_observer",
    "set_recording",
    "set_source",
    "set_tracer",
    "sgd_step",
    "sparse_gradients",
    "tape_position",
    "topological_order",
    "unrecorded",
    "weighted_sum",
    "zero_gradients",
]


def _choice() -> str:
    """The engine asked for; else the native one, wherever its module is installed."""
    if asked := os.environ.get("RETROGRAD_ENGINE"):
        return asked
    if importlib.util.find_spec("retrograd._native") is not None:
        return "native"
    warnings.warn(installation.native_absent(), errors.EngineWarning, stacklevel=4)  # where retrograd is imported
    return "reference"


#: Which engine is in use: ``"native"`` or ``"reference"``.
ENGINE: str = _choice()

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise installation.free_threaded()

if not TYPE_CHECKING:
    if ENGINE == "native":
        try:
            _engine = importlib.import_module("retrograd._native")
        except ImportError as error:
            raise installation.native_missing(error) from error
        if ops.digest() != _engine.OPS_DIGEST:
            raise installation.native_mismatch(_engine.OPS_DIGEST, ops.digest())
    elif ENGINE == "reference":
        from . import reference as _engine

        habits.refuse_in_reference(_engine)
    else:
        raise installation.unknown_engine(ENGINE)

    # The names above, from the engine chosen; what follows here is the same for both.
    _OWN = {
        "ENGINE",
        "Number",
        "errstate",
        "no_grad",
        "is_recording",
        "backward_lock",
        "topological_order",
        "program_recorder",
        "unrecorded",
    }
    globals().update({name: getattr(_engine, name) for name in __all__ if name not in _OWN})
    habits.refuse_on(Value, habits.VALUE)


if hasattr(os, "register_at_fork"):  # in a forked child, no other thread is left to release the lock
    os.register_at_fork(
        before=acquire_backward_lock, after_in_parent=release_backward_lock, after_in_child=release_backward_lock
    )

Number: TypeAlias = Value | float


@contextlib.contextmanager
def backward_lock() -> Iterator[None]:
    """Hold the lock of a backward pass: only one thread at a time works on gradients.

    A derivative written by a user runs under this lock, too. It must not wait for a thread that needs the lock.
    """
    acquire_backward_lock()
    try:
        yield
    finally:
        release_backward_lock()


def is_recording() -> bool:
    """Whether operations are recorded on this thread (not under ``no_grad``)."""
    recording = set_recording(True)
    set_recording(recording)
    return recording


_ONE: Value = Value(1.0)


def unrecorded(number: float) -> Value:
    """A leaf with a number that a program computed, marked as the result of an operation is inside ``no_grad``."""
    return _ONE * number if not is_recording() else Value(number)


class no_grad(contextlib.ContextDecorator):  # noqa: N801  # named like the function it is used as
    """Record nothing: inside ``with no_grad():``, or in a function decorated with ``@no_grad()``, results are leaves.

    It holds for the current thread, and nests. Without a graph an operation costs less memory and time, but no
    gradient flows through its result, whose own ``backward()`` raises MissingDerivativeError. Do not ``await`` inside:
    other tasks of asyncio run in the same thread meanwhile, and would record nothing either, as in PyTorch.

    Args:
        function: What ``@no_grad`` decorates where it is written without parentheses.

    Example:
        >>> from retrograd import Value, no_grad
        >>> x = Value(3.0)
        >>> with no_grad():
        ...     y = x * x
        >>> y.data, y._children
        (9.0, ())
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        return object.__new__(cls) if function is None else cls()(function)

    def __init__(self, function: None = None) -> None:
        self._previous: list[bool] = []

    def _recreate_cm(self) -> no_grad:
        return no_grad()  # calls of a decorated function may overlap, in threads

    def __enter__(self) -> None:
        self._previous.append(set_recording(False))

    def __exit__(self, *exception: object) -> None:
        set_recording(self._previous.pop())


Treatment = Literal["raise", "ignore"]


def program_recorder() -> Any:
    """The ``retrograd.compiler.tracing.recorder.Recorder`` that traces this thread; None if nothing does."""
    tracer: Any = set_tracer(None)  # type: ignore[func-returns-value, unused-ignore]  # the stub has one of both
    set_tracer(tracer)
    return tracer if hasattr(tracer, "first_order") else None


def tell_tracer(what: str) -> None:
    """Tell who traces this thread that the function does something which no program can: a verb and its object."""
    tracer = set_tracer(None)
    set_tracer(tracer)
    if tracer is not None:
        tracer.notice(what)


class errstate(contextlib.ContextDecorator):  # noqa: N801  # named like NumPy's
    """What operations do outside their domain, inside ``with errstate(…):`` or a function decorated with it.

    Each treatment is ``"raise"`` (at first, as Python does), ``"ignore"``, which gives IEEE 754's infinity or NaN, or
    None, which leaves it as it is. It holds for the current thread, and nests. The name and the kinds are NumPy's. Do
    not ``await`` inside: other tasks of asyncio run in the same thread meanwhile, and it would hold for them, too.

    Args:
        divide: Division by zero and its like, such as the logarithm of zero.
        over: A finite operand gives a result too large for a float (above about 1.8e308).
        invalid: No real result exists, such as the square root of a negative number.

    Raises:
        ValueError: A treatment is neither "raise" nor "ignore".

    Example:
        >>> from retrograd import Value, errstate
        >>> with errstate(divide="ignore"):
        ...     print((1 / Value(0.0)).data)
        inf
    """

    @habits.refusing(habits.keywords.ERRSTATE)
    def __init__(
        self, *, divide: Treatment | None = None, over: Treatment | None = None, invalid: Treatment | None = None
    ) -> None:
        self._wanted = (divide, over, invalid)
        self._previous: list[tuple[bool, bool, bool]] = []
        for kind, treatment in zip(("divide", "over", "invalid"), self._wanted, strict=True):
            if treatment not in (None, "raise", "ignore"):
                raise ValueError(f"errstate({kind}={treatment!r}): the treatment is 'raise' or 'ignore'.")

    def _recreate_cm(self) -> errstate:
        divide, over, invalid = self._wanted
        return errstate(divide=divide, over=over, invalid=invalid)

    def __enter__(self) -> None:
        tell_tracer("changes what operations do outside their domain, with rg.errstate()")
        previous = set_errstate(True, True, True)
        self._previous.append(previous)
        divide, over, invalid = (
            old if wanted is None else wanted == "raise" for old, wanted in zip(previous, self._wanted, strict=True)
        )
        set_errstate(divide, over, invalid)

    def __exit__(self, *exception: object) -> None:
        set_errstate(*self._previous.pop())


def topological_order(root: Value) -> list[Value]:
    """Everything ``root`` was computed from, operands before results, ``root`` last.

    Results come in the order in which they were computed, and each leaf, constants included, right before the
    first result that uses it. ``for v in reversed(topological_order(root)): v._backward()`` is a backward pass, once
    ``root.grad`` is 1. The time is proportional to the size of the graph; there is no recursion.

    Args:
        root: The Value whose graph is listed.

    Returns:
        Each Value of the graph once.

    Example:
        >>> from retrograd import Value, topological_order
        >>> a, b = Value(2.0, label="a"), Value(3.0, label="b")
        >>> [v.label or v._op for v in topological_order((a + b) * a)]
        ['a', 'b', '+', '*']
    """
    order: list[Value] = []
    placed: set[int] = set()
    for node in interior(root) or [root]:
        for value in (*node._children, node):
            if id(value) not in placed:
                placed.add(id(value))
                order.append(value)
    return order
