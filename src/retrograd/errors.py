"""One class for each error that a user can meet, and the sentences that both engines raise.

Every class is also the built-in error that Python itself would raise there (``1 / Value(0)`` is a
``ZeroDivisionError``), and ``except rg.errors.RetrogradError`` catches them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .ops import BY_NAME, Op

__all__ = [
    "AnomalyError",
    "BundleMissingError",
    "ChangedValueError",
    "CheckpointError",
    "DataError",
    "DivisionByZeroError",
    "DomainError",
    "EngineChoiceError",
    "ExpressionError",
    "ForeignThreadError",
    "HigherOrderError",
    "LeakedTraceError",
    "MissingDerivativeError",
    "MissingExtraError",
    "NativeMismatchError",
    "NotTraceableError",
    "NumberTooLargeError",
    "RetrogradError",
    "StaleProgramError",
    "TerminalError",
    "TracedIndexError",
]


class RetrogradError(Exception):
    """Base of every error that retrograd raises on purpose, except plain ``TypeError`` and ``ValueError``."""


class DivisionByZeroError(RetrogradError, ZeroDivisionError):
    """A division, a remainder or a negative power of zero, as Python's ``ZeroDivisionError``.

    ``with retrograd.errstate(divide="ignore")`` gives IEEE infinity or NaN instead.
    """


class NumberTooLargeError(RetrogradError, OverflowError):
    """A result, or an int given as a number, that no float can hold (the largest is about 1.8e308).

    ``with retrograd.errstate(over="ignore")`` gives IEEE infinity instead, for results.
    """


class DomainError(RetrogradError, ValueError):
    """An operation at a point where it has no real value, as ``math``'s "math domain error".

    ``with retrograd.errstate(invalid="ignore")`` gives NaN instead (``divide="ignore"`` for the logarithm of zero).
    """


class ChangedValueError(RetrogradError, RuntimeError):
    """A Value's ``.data`` was changed after an operation used it and before the backward pass.

    The derivatives of that operation belong to the old number. Run the forward pass again.
    """


class BundleMissingError(RetrogradError, FileNotFoundError):
    """The explorer's page was not built: only in a checkout, never in an installed package."""


class TerminalError(RetrogradError, RuntimeError):
    """What is shown in a terminal was to be shown where there is none, or none that can be drawn on."""


class MissingDerivativeError(RetrogradError, RuntimeError):
    """The backward pass reached a node that a user made without saying how it differentiates."""


class HigherOrderError(RetrogradError, RuntimeError):
    """A second derivative was asked for through a node that knows its first derivative only as a number."""


class ForeignThreadError(RetrogradError, RuntimeError):
    """A result computed in one thread was used in another. Leaves may be used by every thread."""


class TracedIndexError(RetrogradError, TypeError):
    """An Index argument of a compiled function was used as the plain number that it is in one call only.

    ``retrograd.take(sequence, i)`` and ``retrograd.table(rows)[i]`` select with it.
    """


class LeakedTraceError(RetrogradError, RuntimeError):
    """A number or index of a compiled function's trace was kept and used after the trace, or in another thread."""


class StaleProgramError(RetrogradError, RuntimeError):
    """Something that a function compiled with ``pure=True`` uses has changed, and earlier calls did not notice.

    Their numbers may be of the past. The call that raises this has forgotten the program: the next one traces anew.
    """


class NotTraceableError(RetrogradError, TypeError):
    """A function that cannot become a JAX function, because no trace of it stands for other calls."""


class AnomalyError(RetrogradError, ArithmeticError):
    """The first NaN or infinity that ``retrograd.detect_anomaly()`` met."""


class ExpressionError(RetrogradError, ValueError):
    """An expression given as text that is not one, or uses a name without a value."""


class DataError(RetrogradError, ValueError):
    """A data file that cannot be used."""


class CheckpointError(RetrogradError, ValueError):
    """A checkpoint that cannot be read, or belongs to another model."""


class MissingExtraError(RetrogradError, ImportError):
    """A feature needs an optional package that is not installed."""


class NativeMismatchError(RetrogradError, ImportError):
    """The native engine is missing, or was built from another op table or for another kind of Python."""


class EngineChoiceError(RetrogradError, ValueError):
    """The environment variable RETROGRAD_ENGINE names no engine."""


# --- the sentences --------------------------------------------------------------------------------

_CLASSES: dict[str, type[RetrogradError]] = {
    "ZeroDivisionError": DivisionByZeroError,
    "OverflowError": NumberTooLargeError,
    "ValueError": DomainError,
}


def domain_error(name: str, index: int, operands: Sequence[float]) -> RetrogradError:
    """The error of row ``name``'s domain entry ``index``, which ``operands`` violate."""
    row = BY_NAME[name]
    assert isinstance(row, Op)
    domain = row.domain[index]
    return _CLASSES[domain.error](
        f"{_call(row, operands)}: {domain.says}. Change the operand, or compute inside "
        f'`with retrograd.errstate({domain.kind}="ignore")` to get an infinity or NaN instead.'
    )


def _call(row: Op, operands: Sequence[float]) -> str:
    """The operation as a user would write it, with its numbers: ``1.0 / 0.0`` or ``log(-1.0)``."""
    texts = [repr(float(operand)) for operand in operands]
    if row.symbol and not row.symbol.isalnum() and len(texts) == 2:
        left = f"({texts[0]})" if texts[0].startswith("-") else texts[0]
        return f"{left} {row.symbol} {texts[1]}"
    return f"{row.name}({', '.join(texts)})"


def describe(thing: object) -> str:
    """A short description of something received: its type and, when short, its repr."""
    text = _safe_repr(thing)
    kind = type(thing).__name__
    return text if thing is None else f"{kind} {text}" if len(text) <= 60 else f"an object of type {kind}"


def _safe_repr(thing: object) -> str:
    try:
        return repr(thing)
    except Exception:
        return f"<{type(thing).__name__}>"


def name_of(value: Any) -> str:
    """How a message names a Value: its label, or its repr when it has none."""
    return repr(value.label) if value.label else repr(value)


def not_a_number(thing: object, where: str) -> Exception:
    """``thing`` was given to ``where`` (``Value(…)``, ``+``, ``exp``), which takes real numbers."""
    refusal: Callable[[object], Exception] | None = getattr(type(thing), "_refusal", None)
    if refusal is not None:  # what stands for a number in a trace has its own reasons
        return refusal(thing)
    remedy = "pass a Value, int, float or NumPy scalar"
    if hasattr(type(thing), "_local_grads"):
        remedy = "a bare number belongs here; v.data is the number of a Value"
    elif isinstance(thing, complex):
        remedy = "there are no complex Values; pass its real part or its abs()"
    elif isinstance(thing, str):
        remedy = "convert the text with float(text) first"
    elif hasattr(thing, "__len__") or hasattr(thing, "shape"):
        remedy = "pass its elements one by one; a Value is one number"
    elif thing is None:
        remedy = "did a function return nothing?"
    return TypeError(f"{where} takes real numbers and got {describe(thing)}: {remedy}.")


def number_too_large(thing: object, where: str) -> NumberTooLargeError:
    """An int or fraction that no float can hold was given to ``where``."""
    digits = f"an int of {thing.bit_length()} bits" if isinstance(thing, int) else f"a {type(thing).__name__}"
    return NumberTooLargeError(
        f"{where} got {digits}, too large to convert to a float, whose largest value is about 1.8e308: scale it down."
    )


def no_float(function: str) -> TypeError:
    """``function`` (``float()``, ``int()`` …) would turn a Value into a bare number and cut the gradient."""
    return TypeError(
        f"{function} on a Value would silently cut the gradient: use v.data for the bare number, "
        "and retrograd.math (exp, log, floor, …) instead of Python's math for a Value."
    )


def changed_value(value: Any, used: float) -> ChangedValueError:
    """``value.data`` is no longer ``used``, the number that the forward pass computed with."""
    return ChangedValueError(
        f"the data of {name_of(value)} is {value.data!r} now, but the forward pass used {used!r}: run the "
        "forward pass again before backward(), or change the data after it."
    )


def missing_derivative(value: Any) -> MissingDerivativeError:
    """``value`` was made with children and without any rule to differentiate it."""
    operation = f" (operation {value._op!r})" if value._op else ""
    return MissingDerivativeError(
        f"{name_of(value)}{operation} was made with children but without a derivative: assign its _backward, "
        "or make it as Value(data, children, local_grads)."
    )


def no_local_grads(value: Any) -> MissingDerivativeError:
    """The local derivatives of ``value`` are inside a user's function and cannot be shown as numbers."""
    return MissingDerivativeError(
        f"the local derivatives of {name_of(value)} are not known as numbers, because its maker gave a _backward or "
        "nothing: call value._backward(), or make it as Value(data, children, local_grads)."
    )


def foreign_thread() -> ForeignThreadError:
    """An interior node of another thread was used."""
    return ForeignThreadError(
        "this Value was computed in another thread, and each thread has a tape of its own: run the forward pass and "
        "backward() in one thread. Leaves may be shared; v.detach() makes a leaf with the same data."
    )


def not_copyable(value: Any) -> TypeError:
    """A Value whose derivative is a function that refers to the original cannot be copied."""
    return TypeError(
        f"{name_of(value)} cannot be copied or pickled: its _backward is a function that refers to the original "
        "Values. Copy v.detach(), make it as Value(data, children, local_grads), or write _backward as a method of "
        "a subclass of Value."
    )


def not_a_label(thing: object) -> TypeError:
    """``thing`` was given as a label."""
    return TypeError(f"a label is a str, not {describe(thing)}: pass str(…) of it.")


def not_a_function(thing: object) -> TypeError:
    """``thing`` was assigned to ``_backward``."""
    return TypeError(f"_backward is a function without arguments, not {describe(thing)}: assign a function.")


def operator_backward(value: Any) -> TypeError:
    """A function that refers to ``value`` itself was assigned to the result of a built-in operation."""
    return TypeError(
        f"{name_of(value)} is the result of a built-in operation, whose _backward must not refer to the result itself "
        "(it could never be freed): make the node as Value(data, children, 'op') and assign _backward to that."
    )


def not_a_value(thing: object, where: str) -> TypeError:
    """``where`` works on Values and got something else."""
    return TypeError(f"{where} takes Values and got {describe(thing)}: make it one with Value(…).")


def not_a_sequence(thing: object, where: str) -> TypeError:
    """``where`` works on a sequence and got something else."""
    return TypeError(f"{where} takes a sequence of Values and numbers and got {describe(thing)}: put it in a list.")


def not_a_child(thing: object) -> TypeError:
    """``thing`` was given as a child."""
    return TypeError(f"the children of a Value are Values, not {describe(thing)}: wrap it in Value(…).")


def children_twice() -> TypeError:
    """Value(data, _children, children=…) was given both."""
    return TypeError("Value(…) got its children twice, by position and as children=: give them once.")


def wrong_length(where: str, expected: str, got: int) -> ValueError:
    """A sequence given to ``where`` has ``got`` elements instead of ``expected``."""
    return ValueError(f"{where} needs {expected} and got {got}.")


def unknown_operation(name: object, instead: str) -> ValueError:
    """No row called ``name`` can be used here."""
    return ValueError(f"there is no operation {name!r} here: {instead}.")


def static_operand(name: str, position: int) -> TypeError:
    """Operand ``position`` of row ``name`` must be a plain number and was a Value."""
    return TypeError(
        f"operand {position + 1} of {name} must be a plain number, because {name} has no derivative with respect "
        "to it: pass v.data if that is what you mean."
    )


def not_an_index(thing: object, where: str) -> TypeError:
    """``thing`` was given to ``where``, which takes a whole number that selects."""
    return TypeError(f"{where} takes an int or a retrograd.Index and got {describe(thing)}.")


def no_such_position(position: int, count: int) -> IndexError:
    """A selection asked for an element that a sequence of ``count`` does not have."""
    has = f"elements 0 to {count - 1}" if count else "no elements"
    return IndexError(f"the sequence has {has}; it was asked for element {position}.")


def traced_index() -> TracedIndexError:
    """An index of a trace would become the plain number of this one call."""
    return TracedIndexError(
        "this Index differs from call to call, and a compiled function must not keep the number of one: select with "
        "retrograd.take(sequence, i), or retrograd.table(rows)[i] for a list of rows, instead of sequence[i]; pass a "
        "plain int for what is the same in every call."
    )


def unequal_rows(lengths: Sequence[int]) -> ValueError:
    """The rows that an index selects from differ in length."""
    return ValueError(
        f"an Index selects from rows of one length, and these have {min(lengths)} to {max(lengths)} elements: pad them."
    )


def not_selectable(thing: object, position: int) -> TypeError:
    """Element ``position`` of a sequence that an index selects from cannot be part of a trace."""
    return TypeError(
        f"a compiled function selects among Values and numbers, or rows of them; element {position} is "
        f"{describe(thing)}."
    )


def leaked_trace(thing: str) -> LeakedTraceError:
    """``thing`` (a number, an index) was used outside its trace."""
    return LeakedTraceError(
        f"{thing} of a compiled function's trace was kept and is used after the trace, or in another thread, where it "
        "means nothing: return what you need from the function instead of storing it."
    )


def stale_program(function: object, what: str) -> StaleProgramError:
    """``what`` (as users write it) has changed, and programs of ``function`` answered calls meanwhile."""
    name = getattr(function, "__qualname__", None) or describe(function)
    return StaleProgramError(
        f"{what or 'something'} has changed, which {name} uses, and calls before this one may have been answered as if "
        "it had not: large structures are looked at in turn. The program is forgotten, and the next call is right. "
        "Call .clear() after such a change, or pass what changes as an argument."
    )


def not_traceable(function: object, reason: str) -> NotTraceableError:
    """``function`` was to become a JAX function, and ``reason`` (part of a sentence) speaks against it."""
    name = getattr(function, "__qualname__", None) or describe(function)
    return NotTraceableError(f"{name} cannot become a JAX function: {reason.rstrip('.')}.")


def other_arguments(what: str) -> TypeError:
    """A JAX function got arguments of another structure than it was made for."""
    return TypeError(f"this JAX function was made for arguments of another structure: {what}. Make one with to_jax.")


def unknown_engine(name: str) -> EngineChoiceError:
    """RETROGRAD_ENGINE is ``name``, which is no engine."""
    return EngineChoiceError(f"RETROGRAD_ENGINE is {name!r}: set it to 'native' (the default) or 'reference'.")


def native_missing(reason: object) -> NativeMismatchError:
    """The native module cannot be imported."""
    return NativeMismatchError(
        f"the native engine cannot be loaded ({reason}): build it with 'pip install .', "
        "or set RETROGRAD_ENGINE=reference to use the slow engine in plain Python."
    )


def native_mismatch(built: str, table: str) -> NativeMismatchError:
    """The native module was built from another op table than the one in src/retrograd/ops/table.py."""
    return NativeMismatchError(
        f"the native engine was built from another op table (digest {built}; src/retrograd/ops/table.py has {table}): "
        "build it again with 'pip install .'."
    )


def free_threaded() -> NativeMismatchError:
    """This Python runs without the GIL."""
    return NativeMismatchError(
        "retrograd keeps one tape a thread and needs the GIL, and this is a free-threaded Python: "
        "use an ordinary build of Python 3.11 or newer."
    )
