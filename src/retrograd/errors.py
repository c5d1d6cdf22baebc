"""The errors that retrograd raises: a class for each kind, and the messages that both engines share.

Each class is also the built-in error that Python raises in the same situation: ``1 / Value(0)`` raises a
``ZeroDivisionError``. ``except rg.errors.RetrogradError`` catches them all.
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
    "CompileWarning",
    "DataError",
    "DivisionByZeroError",
    "DomainError",
    "EngineChoiceError",
    "EngineWarning",
    "ExpressionError",
    "ForeignArrayError",
    "ForeignThreadError",
    "GradingError",
    "HigherOrderError",
    "HostsError",
    "LeakedTraceError",
    "MissingDerivativeError",
    "MissingExtraError",
    "MissingPeerError",
    "NativeMismatchError",
    "NotTraceableError",
    "NumberTooLargeError",
    "RetrogradError",
    "SingularMatrixError",
    "TerminalError",
    "TracedIndexError",
    "VerificationError",
    "ZeroPowerError",
]


class RetrogradError(Exception):
    """The base class of every error that retrograd raises on purpose, except plain ``TypeError`` and ``ValueError``.

    Example:
        >>> import retrograd as rg
        >>> try:
        ...     rg.Value(0.0).log()
        ... except rg.errors.RetrogradError as error:
        ...     print(type(error).__name__)
        DomainError
    """


class DivisionByZeroError(RetrogradError, ZeroDivisionError):
    """A division by zero, a remainder by zero, or a negative power of zero, as Python's ``ZeroDivisionError``.

    ``with retrograd.errstate(divide="ignore")`` gives IEEE infinity or NaN instead.

    Example:
        >>> import retrograd as rg
        >>> 1 / rg.Value(0.0)
        Traceback (most recent call last):
        retrograd.errors.DivisionByZeroError: 1.0 / 0.0: division by zero. ...
    """


class ZeroPowerError(DivisionByZeroError, ValueError):
    """A negative power of zero: ``0.0 ** -1`` raises a ``ZeroDivisionError`` and ``math.pow`` a ``ValueError``; both.

    Example:
        >>> import retrograd as rg
        >>> rg.math.pow(rg.Value(0.0), -1.0)
        Traceback (most recent call last):
        retrograd.errors.ZeroPowerError: 0.0 ** -1.0: zero to a negative power. ...
    """


class NumberTooLargeError(RetrogradError, OverflowError):
    """A result, or an int given as a number, is too large for a float (the largest is about 1.8e308).

    For results, ``with retrograd.errstate(over="ignore")`` gives IEEE infinity instead.

    Example:
        >>> import retrograd as rg
        >>> rg.Value(1000.0).exp()
        Traceback (most recent call last):
        retrograd.errors.NumberTooLargeError: exp(1000.0): the result is too large for a float. ...
    """


class DomainError(RetrogradError, ValueError):
    """An operation has no real value for its operands: ``math`` calls this a "math domain error".

    ``with retrograd.errstate(invalid="ignore")`` gives NaN instead (``divide="ignore"`` for the logarithm of zero).

    Example:
        >>> import retrograd as rg
        >>> rg.Value(-1.0).sqrt()
        Traceback (most recent call last):
        retrograd.errors.DomainError: sqrt(-1.0): the square root of a negative number. ...
    """


class ChangedValueError(RetrogradError, RuntimeError):
    """The ``.data`` of a Value was changed after an operation used it and before the backward pass.

    The derivatives of that operation belong to the old number. Run the forward pass again.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(2.0, label="x")
        >>> y = x * x
        >>> x.data = 3.0
        >>> y.backward()
        Traceback (most recent call last):
        retrograd.errors.ChangedValueError: the data of 'x' is 3.0 now, but the forward pass used 2.0: ...
    """


class SingularMatrixError(RetrogradError, ValueError):
    """A matrix has no inverse, or a system of equations not exactly one solution.

    Example:
        >>> import retrograd as rg
        >>> rg.linalg.solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0])
        Traceback (most recent call last):
        retrograd.errors.SingularMatrixError: the matrix is singular: ...
    """


class BundleMissingError(RetrogradError, FileNotFoundError):
    """The explorer's page has not been built, which happens in a checkout alone: ``make web`` builds it."""


class TerminalError(RetrogradError, RuntimeError):
    """The terminal explorer needs an interactive terminal on which it can draw."""


class MissingDerivativeError(RetrogradError, RuntimeError):
    """The backward pass reached a node that the user made without a derivative, or began at a result of ``no_grad``.

    Assign the node's ``_backward``, or make it as ``Value(data, children, local_grads)``.

    Example:
        >>> import retrograd as rg
        >>> x = rg.Value(2.0)
        >>> rg.Value(4.0, (x,), "square").backward()
        Traceback (most recent call last):
        retrograd.errors.MissingDerivativeError: Value(data=4.0, grad=0.0) (operation 'square') was made with ...
    """


class HigherOrderError(RetrogradError, RuntimeError):
    """A derivative of a derivative was requested through a node whose local derivatives are plain numbers.

    Such a node was made as ``Value(data, children, …)``. Build it from retrograd's operations instead.

    Example:
        >>> import retrograd as rg
        >>> rg.hessian(lambda x: rg.Value(x.data**2, (x,), (2 * x.data,)))(3.0)
        Traceback (most recent call last):
        retrograd.errors.HigherOrderError: Value(data=9.0, grad=0.0) is a user-made node: ...
    """


class ForeignArrayError(RetrogradError, ValueError):
    """A function of PyTorch or JAX, which computes with arrays of its own alone, got a Value."""


class ForeignThreadError(RetrogradError, RuntimeError):
    """A result computed in one thread was used in another. Only leaves can be shared between threads.

    Each thread records on a tape of its own. ``v.detach()`` makes a leaf.
    """


class TracedIndexError(RetrogradError, TypeError):
    """An Index argument of a compiled function was used as a plain number, which differs from call to call.

    Select with it instead: ``retrograd.take(sequence, i)`` or ``retrograd.table(rows)[i]``.
    """


class LeakedTraceError(RetrogradError, RuntimeError):
    """A number or index was stored while a function was traced, and used after the trace or in another thread."""


class VerificationError(RetrogradError, AssertionError):
    """``rg.compile(f, verify=n)`` found a call in which the compiled program does not give what the function gives."""


class CompileWarning(UserWarning):
    """A compiled function runs as it is, or takes something as unchanging; the message says what to do about it."""


class EngineWarning(UserWarning):
    """The native engine is not installed, so the slow engine in plain Python runs; said once, when it is imported."""


class NotTraceableError(RetrogradError, TypeError):
    """A function cannot become a JAX function or C, because a trace of it is not valid for other arguments."""


class AnomalyError(RetrogradError, ArithmeticError):
    """``retrograd.detect_anomaly()`` found the first NaN or infinity, or a training loss is not finite.

    The message names the operation, its operands and the line of the user's program.

    Example:
        >>> import retrograd as rg
        >>> with rg.detect_anomaly(), rg.errstate(divide="ignore"):
        ...     rg.Value(0.0).log()
        Traceback (most recent call last):
        retrograd.errors.AnomalyError: log made the first infinity: with a = 0.0 it is -inf, at ...
    """


class ExpressionError(RetrogradError, ValueError):
    """The text of an expression cannot be parsed, or it uses a name without a value.

    Example:
        >>> import retrograd as rg
        >>> rg.explain("a * b", a=2)
        Traceback (most recent call last):
        retrograd.errors.ExpressionError: ...
    """


class GradingError(RetrogradError, ValueError):
    """There is nothing to grade: no such file or class, or a file that Python cannot read."""


class DataError(RetrogradError, ValueError):
    """Data cannot be used: a malformed file or saved trace, a prompt that is too long."""


class CheckpointError(RetrogradError, ValueError):
    """A checkpoint cannot be read, or it was saved from another model.

    Example:
        >>> import retrograd as rg
        >>> rg.nn.Linear(2, 1).load_state_dict({"weight": [[1.0, 2.0, 3.0]], "bias": [0.0]})
        Traceback (most recent call last):
        retrograd.errors.CheckpointError: parameter 'weight' has the shape 1 by 2 in this model and 1 by 3 in ...
    """


class HostsError(RetrogradError, RuntimeError):
    """The processes of a run on several hosts cannot go on together: one is gone, or they have different runs."""


class MissingExtraError(RetrogradError, ImportError):
    """A feature needs an optional package that is not installed; the message has the command that installs it."""


class MissingPeerError(MissingExtraError, ValueError):
    """``check_gradients`` was to ask a framework that is not installed."""


class NativeMismatchError(RetrogradError, ImportError):
    """The native engine is missing, or was built from another op table or for another kind of Python."""


class EngineChoiceError(RetrogradError, ValueError):
    """The value of the environment variable RETROGRAD_ENGINE is not the name of an engine."""


# --- the messages: what was expected, what came, what to do ----------------------------------------

_CLASSES: dict[str, type[RetrogradError]] = {
    "ZeroDivisionError": DivisionByZeroError,
    "OverflowError": NumberTooLargeError,
    "ValueError": DomainError,
}


def domain_error(name: str, index: int, operands: Sequence[float]) -> RetrogradError:
    """``operands`` violate entry ``index`` of the domain of row ``name``."""
    row = BY_NAME[name]
    assert isinstance(row, Op)
    domain = row.domain[index]
    kind = ZeroPowerError if (name, domain.error) == ("pow", "ZeroDivisionError") else _CLASSES[domain.error]
    return kind(
        f"{_call(row, operands)}: {domain.says}. Change the operand, or compute inside "
        f'`with retrograd.errstate({domain.kind}="ignore")` to get an infinity or NaN instead.'
    )


def out_of_range(name: str, operands: Sequence[float]) -> NumberTooLargeError:
    """A function of retrograd.math, not a row, has a result that is too large."""
    return NumberTooLargeError(f"{name}({', '.join(map(repr, operands))}): the result is too large for a float.")


def singular_matrix(column: int) -> SingularMatrixError:
    """Elimination found no pivot in a column. The error is NumPy's ``LinAlgError`` as well."""
    from numpy.linalg import LinAlgError  # here: NumPy must not be imported before the engine has spoken

    kind: type[SingularMatrixError] = type(
        "SingularMatrixError", (SingularMatrixError, LinAlgError), {"__module__": __name__}
    )
    return kind(
        f"the matrix is singular: its column {column} depends on those before it. Check its numbers, or add a small "
        "number to its diagonal."
    )


def no_result(name: str, operands: Sequence[float]) -> DomainError:
    """A function of retrograd.math, not a row, has no real result."""
    return DomainError(f"{name}({', '.join(map(repr, operands))}): there is no real result.")


def whole_numbers_only(name: str, instead: str) -> TypeError:
    """A Value was given to a function of ints; ``instead`` names what has a derivative, if anything has."""
    remedy = f"use {instead}, which has one, or int(v.data)" if instead else "use int(v.data)"
    return TypeError(f"{name} takes whole numbers and has no derivative, and got a Value: {remedy}.")


def _call(row: Op, operands: Sequence[float]) -> str:
    """The operation as a user would write it, with its numbers: ``1.0 / 0.0`` or ``log(-1.0)``."""
    texts = [repr(float(operand)) for operand in operands]
    if row.symbol and not row.symbol.isalnum() and len(texts) == 2:
        left = f"({texts[0]})" if texts[0].startswith("-") else texts[0]
        return f"{left} {row.symbol} {texts[1]}"
    return f"{row.name}({', '.join(texts)})"


def counted(count: int, noun: str) -> str:
    """``1 program``, ``2,000 programs``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def describe(thing: object) -> str:
    """A short description of something received: its type and, when short, its repr."""
    text, kind = _safe_repr(thing), type(thing).__name__
    if len(text) > 60:
        return f"an object of type {kind}"
    return text if thing is None or text.startswith(f"{kind}(") else f"{kind} {text}"


def _safe_repr(thing: object) -> str:
    try:
        return repr(thing)
    except Exception:
        return f"<{type(thing).__name__}>"


def name_of(value: Any) -> str:
    """How a message names a Value: its label, or its repr when it has none."""
    return repr(value.label) if value.label else repr(value)


def not_a_number(thing: object, where: str) -> Exception:
    """``where`` (``Value(…)``, ``+``, ``exp``) takes real numbers and got ``thing``."""
    refusal: Callable[[object], Exception] | None = getattr(type(thing), "_refusal", None)
    if refusal is not None:  # an index in a trace raises an error of its own
        return refusal(thing)
    takes_values = where not in ("Value(…)", ".data", ".grad", "backward(…)", "local_grads")
    remedy = f"pass {'a Value, ' if takes_values else 'an '}int, float or NumPy scalar"
    if hasattr(type(thing), "_local_grads"):
        remedy = "pass v.data, the plain number of the Value"
    elif isinstance(thing, complex):
        remedy = "there are no complex Values; pass its real part or its abs()"
    elif isinstance(thing, str):
        remedy = "convert the text with float(text) first"
    elif getattr(thing, "ndim", None) == 0 and hasattr(thing, "item"):
        remedy = "pass its number, x.item()"
    elif hasattr(thing, "__len__") or hasattr(thing, "shape"):
        remedy = "a Value holds one number, so pass the elements one by one"
    elif hasattr(thing, "__float__"):
        remedy = "convert it with float(…) first"
    elif thing is None and where == ".grad":
        remedy = "call zero_grad(), or assign 0.0, to clear a gradient"
    elif thing is None:
        remedy = "check whether a function returns its result"
    return TypeError(f"{where} takes real numbers and got {describe(thing)}: {remedy}.")


def number_too_large(thing: object, where: str) -> NumberTooLargeError:
    """``where`` got an int or fraction that is too large for a float."""
    digits = f"an int of {thing.bit_length()} bits" if isinstance(thing, int) else f"a {type(thing).__name__}"
    return NumberTooLargeError(
        f"{where} got {digits}, too large to convert to a float, whose largest value is about 1.8e308: scale it down."
    )


def no_float(function: str) -> TypeError:
    """``function`` (``float()``, ``int()``, ``an index`` …) would turn a Value into a plain number."""
    if function == "an index":
        return TypeError(
            "using a Value as an index or a count would silently cut the gradient: use int(v.data) for that, and "
            "[v * x for x in xs] for the product with a list."
        )
    return TypeError(
        f"{function} on a Value would silently cut the gradient: write retrograd.math (exp, log, floor, …) instead of "
        "Python's math, and a list or an array of dtype=object instead of an array of floats; where no gradient is "
        "wanted, v.data is the plain number."
    )


def condition_second() -> TypeError:
    """The method ``where`` got its operands as PyTorch's has them."""
    return TypeError("v.where(x, y) is x or y, and v the condition: write rg.where(condition, v, other).")


def create_graph_given() -> TypeError:
    """backward() was to record the gradients."""
    return TypeError(
        "backward(create_graph=True) would have to put Values into .grad, which is a number: write "
        "rg.gradient(y, xs, create_graph=True), or rg.grad(rg.grad(f))."
    )


def changed_value(value: Any, used: float) -> ChangedValueError:
    """``value.data`` is no longer ``used``, the number that the forward pass computed with."""
    return ChangedValueError(
        f"the data of {name_of(value)} is {value.data!r} now, but the forward pass used {used!r}: run the "
        "forward pass again before backward(), or change the data after backward()."
    )


def missing_derivative(value: Any) -> MissingDerivativeError:
    """The user made ``value`` with children and without a derivative."""
    operation = f" (operation {value._op!r})" if value._op else ""
    return MissingDerivativeError(
        f"{name_of(value)}{operation} was made with children but without a derivative: assign its _backward, "
        "or make it as Value(data, children, local_grads)."
    )


def not_recorded(value: Any) -> MissingDerivativeError:
    """``value``, whose backward() was called, is the result of an operation inside ``no_grad``."""
    return MissingDerivativeError(
        f"{name_of(value)} was computed inside no_grad, where nothing is recorded, so that backward() has no graph to "
        "go through: compute it outside of no_grad."
    )


def no_local_grads(value: Any) -> MissingDerivativeError:
    """The derivative of ``value`` is a user's function, or missing: there are no numbers to show."""
    return MissingDerivativeError(
        f"the local derivatives of {name_of(value)} are not known as numbers, because its derivative is a _backward "
        "function or missing: call value._backward(), or make it as Value(data, children, local_grads)."
    )


def foreign_thread() -> ForeignThreadError:
    """A thread used an interior node that another thread computed."""
    return ForeignThreadError(
        "this Value was computed in another thread, and each thread has its own tape: run the forward pass and "
        "backward() in one thread. Leaves can be shared; v.detach() makes a leaf with the same data."
    )


def not_copyable(value: Any) -> TypeError:
    """``value`` cannot be copied: its derivative is a function that refers to the original Values."""
    return TypeError(
        f"{name_of(value)} cannot be copied or pickled: its _backward is a function that refers to the original "
        "Values. Copy v.detach(), make it as Value(data, children, local_grads), or write _backward as a method of "
        "a subclass of Value."
    )


def not_a_label(thing: object) -> TypeError:
    """``thing`` was given as a label."""
    return TypeError(f"a label must be a str, not {describe(thing)}: convert it with str(…).")


def not_a_function(thing: object) -> TypeError:
    """``thing`` was assigned to ``_backward``."""
    return TypeError(f"_backward must be a function without arguments, not {describe(thing)}: assign a function.")


def operator_backward(value: Any) -> TypeError:
    """A function that refers to ``value`` itself was assigned to the result of a built-in operation."""
    return TypeError(
        f"{name_of(value)} is the result of a built-in operation, whose _backward must not refer to the result itself "
        "(Python could never free it): make the node as Value(data, children, 'op') and assign _backward to that."
    )


def not_a_value(thing: object, where: str) -> TypeError:
    """``where`` takes Values and got ``thing``."""
    return TypeError(f"{where} takes Values and got {describe(thing)}: convert it with Value(…).")


def not_a_sequence(thing: object, where: str) -> TypeError:
    """``where`` takes a sequence and got ``thing``."""
    return TypeError(f"{where} takes a sequence of Values and numbers and got {describe(thing)}: put it in a list.")


def not_a_child(thing: object) -> TypeError:
    """``thing`` was given as a child."""
    return TypeError(f"the children of a Value must be Values, not {describe(thing)}: convert it with Value(…).")


def children_twice() -> TypeError:
    """``Value(data, _children, children=…)`` got both kinds of children."""
    return TypeError("Value(…) got its children twice, by position and as children=: give them once.")


def unequal_lengths(where: str, first: int, second: int) -> ValueError:
    """``where`` got two sequences of so many elements."""
    return ValueError(
        f"{where} needs two sequences of equal length: the first has {counted(first, 'element')}, the second {second}."
    )


def wrong_inputs(expected: int, got: int) -> ValueError:
    """A layer with ``expected`` weights for each output got another number of inputs."""
    return ValueError(f"this layer takes {counted(expected, 'input')} and got {got}.")


def wrong_length(where: str, expected: str, got: int) -> ValueError:
    """``where`` got a sequence of ``got`` elements, and ``expected`` says how many it needs."""
    return ValueError(f"{where} needs {expected} and got {got}.")


def batch_given(count: int, row: object) -> TypeError:
    """A weighted sum of ``count`` numbers got rows of numbers; ``row`` is one of them."""
    return TypeError(
        f"a layer takes one sample, a sequence of {count} numbers, and got a sequence of sequences such as "
        f"{describe(row)}: loop over the rows, [model(row) for row in batch]."
    )


def unknown_operation(name: object, instead: str) -> ValueError:
    """No row of the op table called ``name`` can be used here; ``instead`` says what can."""
    return ValueError(f"there is no operation {name!r} here: {instead}.")


def static_operand(name: str, position: int) -> TypeError:
    """Operand ``position`` of row ``name`` must be a plain number, and is a Value."""
    return TypeError(
        f"operand {position + 1} of {name} must be a plain number, because {name} has no derivative with respect "
        "to it: pass v.data to use the number of a Value."
    )


def pair_expected(function: str, result: object) -> TypeError:
    """A function with has_aux returned something other than a pair."""
    return TypeError(
        f"with has_aux=True {function} must return a tuple (value, aux) and returned {describe(result)}: return both, "
        "or leave has_aux out."
    )


def not_an_index(thing: object, where: str) -> TypeError:
    """``where`` takes an index and got ``thing``."""
    return TypeError(f"{where} takes an int or a retrograd.Index and got {describe(thing)}.")


def no_such_position(position: int, count: int) -> IndexError:
    """A sequence of ``count`` elements has none at ``position``."""
    has = f"elements 0 to {count - 1}" if count else "no elements"
    return IndexError(f"the sequence has {has}; it was asked for element {position}.")


def traced_index() -> TracedIndexError:
    """A function that is being traced used an index as a plain number."""
    return TracedIndexError(
        "this Index differs from call to call, so a compiled function cannot use it as a plain number: select with "
        "retrograd.take(sequence, i), or retrograd.table(rows)[i] for a list of rows, instead of sequence[i]. Pass a "
        "plain int if the number is the same in every call."
    )


def unequal_rows(lengths: Sequence[int]) -> ValueError:
    """The rows to select from differ in length."""
    return ValueError(
        f"an Index needs rows of equal length; these have {min(lengths)} to {max(lengths)} elements: pad them."
    )


def not_selectable(thing: object, position: int) -> TypeError:
    """A trace cannot select from a sequence whose element at ``position`` is ``thing``."""
    return TypeError(
        f"a compiled function selects among Values and numbers, or rows of them; element {position} is "
        f"{describe(thing)}: convert it to a number."
    )


def leaked_trace(thing: str) -> LeakedTraceError:
    """``thing`` (a number, an index) was used outside its trace."""
    return LeakedTraceError(
        f"{thing} from the trace of a compiled function was stored and is used after the trace, or in another thread, "
        "where it has no value: return what you need from the function instead of storing it."
    )


def name_of_function(function: object) -> str:
    return getattr(function, "__qualname__", None) or describe(function)


def not_the_function(function: object, number: int) -> VerificationError:
    """Specialization ``number`` of ``function`` gave other numbers than the function itself."""
    name = name_of_function(function)
    return VerificationError(
        f"program {number} of {name} gives another value or gradient than {name} itself for these arguments: {name} "
        "reads something that changes and that no guard sees. print(f.guards()) lists what is checked; pass the rest "
        "as an argument."
    )


def not_traceable(function: object, reason: str, what: str = "become a JAX function") -> NotTraceableError:
    """``function`` cannot become that, or be written as C; ``reason`` is part of a sentence."""
    return NotTraceableError(f"{name_of_function(function)} cannot {what}: {reason.rstrip('.')}.")


def other_arguments(what: str, made_by: str = "to_jax()") -> TypeError:
    """A function that was made for an example got arguments of another structure."""
    structure = "this function was made for arguments of another structure"
    return TypeError(f"{structure}: {what}. Make a new one with {made_by}.")
