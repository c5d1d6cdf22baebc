"""Operations of a user's own: a function of numbers and its partial derivatives, which becomes one node."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from . import engine, errors, habits
from .engine import Value
from .engine.numbers import is_number, to_float
from .engine.pytree import Structure, flatten

__all__ = ["primitive"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Made = TypeVar("_Made")
_P = ParamSpec("_P")


def _by_name(make: Callable[_P, _Made]) -> Callable[_P, _Made]:
    """Have ``@primitive`` alone, which is how autograd's is written, say what it wants."""

    @functools.wraps(make)
    def call(*given: _P.args, **keywords: _P.kwargs) -> _Made:
        if given:
            raise TypeError(
                f"primitive takes the partials by name and got {errors.describe(given[0])}: write "
                "@rg.primitive(partials=…), a function of the same arguments with the partial derivative for each."
            )
        return make(*given, **keywords)

    return call


@_by_name
@habits.refusing(habits.keywords.PRIMITIVE)
def primitive(*, partials: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Make a function of plain numbers one operation, with the partial derivatives that you give.

    The function gets floats in place of the Values among its arguments and returns a number, by whatever means: a
    formula, SciPy, a table, a root finder. Its result is one node, of the function's name in ``explain`` and
    ``explore``. ``check_gradients`` compares the partials with differences.

    Where ``partials`` is written with retrograd's operations (``+``, ``rg.math``, this and other primitives), it is
    evaluated on Values when a derivative is to be differentiated again, and every order is right. Where it is not, a
    second derivative raises HigherOrderError. A compiled function has the function and its partials in the program
    where they can be traced, and runs as it is otherwise; ``to_jax`` refuses both.

    Args:
        partials: A function of the same arguments. It returns the partial derivative for each of them, a tuple when
            there are several, in the structure of the argument where that is a list or another pytree; None for an
            argument that is not differentiated, where there are several.

    Returns:
        A decorator. The decorated function takes Values and numbers, and returns a Value when there is a Value among
        them, else a float. It raises TypeError when the function does not return a number or when the partials do not
        have the structure of the arguments.

    Raises:
        TypeError: ``partials`` is no function, such as a tuple of functions.

    Example:
        >>> import math
        >>> import retrograd as rg
        >>> @rg.primitive(partials=lambda x: 0.5 / root(x))
        ... def root(x):
        ...     return math.sqrt(x)
        >>> rg.grad(root)(4.0), rg.hessian(root)(4.0)
        (0.25, -0.03125)
    """

    if not callable(partials):
        raise TypeError(
            "partials is one function of the same arguments, which returns the partial derivative for each in a tuple, "
            f"and is {errors.describe(partials)}: write partials=lambda x, y: (…, …)."
        )

    def decorate(function: _Function) -> _Function:
        name = getattr(function, "__name__", "primitive").strip("<>")
        names = inspect.signature(function)

        @functools.wraps(function)
        def operation(*arguments: Any, **keywords: Any) -> Any:
            if keywords:
                call = names.bind(*arguments, **keywords)
                call.apply_defaults()
                arguments, keywords = call.args, call.kwargs
            given = _Arguments(name, arguments, len(names.parameters))
            number = function(*given.numbers(), **keywords)
            rule = functools.partial(partials, **keywords) if keywords else partials
            tracer = engine.program_recorder()
            if tracer is not None:
                return _traced(tracer, given, number, rule)
            if not given.values:
                return _checked(number, name)
            if not engine.is_recording():
                return Value(_checked(number, name), given.values)  # a result of no_grad, which records no children
            slopes = [_plain(slope) for slope in given.slopes(rule, given.leaves_as_numbers())]
            return Value(_checked(number, name), given.values, OwnOperation(given, rule), local_grads=slopes)

        return operation  # type: ignore[return-value]

    return decorate


def _plain(slope: Any) -> Any:
    """A local derivative as a number: inside a transform a gradient of numbers is a Value."""
    return 0.0 if slope is None else slope.data if isinstance(slope, Value) else slope


def _checked(number: Any, name: str) -> Any:
    if isinstance(number, Value):
        raise TypeError(f"{name} must return a number and returned a Value: it gets plain numbers, so close over none.")
    return number if isinstance(number, float) else to_float(number, f"the result of {name}")


def _traced(tracer: Any, given: _Arguments, number: Any, rule: Callable[..., Any]) -> Any:
    """The result in a program: its number, plus terms that are zero and have the partials as derivatives."""
    tracer.first_order(given.name)
    slopes = given.slopes(rule, given.leaves_as_numbers()) if given.values else []
    result = number
    for value, slope in zip(given.values, slopes, strict=True):
        if slope is not None:
            result = result + slope * (value - value.data)
    return result


class _Arguments:
    """The arguments of one call: which of their leaves are Values, and how to put others in their places."""

    def __init__(self, name: str, arguments: tuple[Any, ...], most: int) -> None:
        self.name = name
        self._most = most  # arguments, with those that have a default and were not given
        self._trees = [_taken_apart(argument, name) for argument in arguments]
        self._leaves = [leaf for leaves, _ in self._trees for leaf in leaves]
        self._slots = [slot for slot, leaf in enumerate(self._leaves) if isinstance(leaf, Value)]
        self.values: list[Any] = [self._leaves[slot] for slot in self._slots]

    def leaves_as_numbers(self) -> list[Any]:
        """The leaves, with the numbers of Values."""
        return [leaf.data if isinstance(leaf, Value) else leaf for leaf in self._leaves]

    def numbers(self) -> list[Any]:
        """The arguments, with the numbers of Values."""
        return self._filled(self.leaves_as_numbers())

    def with_operands(self, operands: Sequence[Any]) -> list[Any]:
        """The leaves, with others in the places of the Values."""
        leaves = list(self._leaves)
        for slot, operand in zip(self._slots, operands, strict=True):
            leaves[slot] = operand
        return leaves

    def _filled(self, leaves: Sequence[Any]) -> list[Any]:
        arguments, start = [], 0
        for own, structure in self._trees:
            part = list(leaves[start : start + len(own)])
            start += len(own)
            arguments.append(part[0] if structure is None or structure is _NUMBER else structure.fill(part))
        return arguments

    def slopes(self, rule: Callable[..., Any], leaves: Sequence[Any]) -> list[Any]:
        """The partial derivative for each Value, as ``rule`` gives it at ``leaves``; None where it gives none."""
        result = rule(*self._filled(leaves))
        parts = [result] if len(self._trees) == 1 and not isinstance(result, tuple) else result
        if isinstance(parts, tuple) and len(self._trees) < len(parts) == self._most:
            parts = parts[: len(self._trees)]
        if not isinstance(parts, (tuple, list)) or len(parts) != len(self._trees):
            raise _wrong_partials(self.name, f"{len(self._trees)} in a tuple, one for each argument", result)
        found: list[Any] = []
        for part, (own, structure) in zip(parts, self._trees, strict=True):
            if part is None and len(self._trees) == 1:
                raise TypeError(
                    f"the partials of {self.name} are None, and must be its partial derivative: check whether the "
                    "function returns it."
                )
            if part is None:
                found += [None] * len(own)
            elif structure is None:
                raise _wrong_partials(self.name, "None for an argument that is no number", part)
            elif structure is _NUMBER and not isinstance(part, (list, tuple, dict)):
                found.append(part)
            else:
                slopes, shape = flatten(part, f"a partial derivative of {self.name}")
                if shape.definition != structure.definition:
                    raise _wrong_partials(self.name, f"the structure of its argument, {structure.kind}", part)
                found += slopes
        return [found[slot] for slot in self._slots]


#: The structure of a single number.
_NUMBER: Structure = flatten(0.0, "a number")[1]


def _taken_apart(argument: Any, name: str) -> tuple[list[Any], Structure | None]:
    """An argument's leaves and structure: None for what is no number and no tree of them, such as a name."""
    if isinstance(argument, Value) or is_number(argument):
        return [argument], _NUMBER
    if argument is None or isinstance(argument, (str, bytes)) or callable(argument):
        return [argument], None
    if engine.program_recorder() is not None and not isinstance(argument, (list, tuple, dict)):
        # The tracer of a number.
        return [argument], _NUMBER
    return flatten(argument, f"an argument of {name}")


class OwnOperation(str):
    """The name of a primitive's node, which knows the call that it stands for."""

    __slots__ = ("_given", "_rule")
    _given: _Arguments
    _rule: Callable[..., Any]

    def __new__(cls, given: _Arguments, rule: Callable[..., Any]) -> OwnOperation:
        self = super().__new__(cls, given.name)
        self._given, self._rule = given, rule
        return self

    def slopes(self, operands: Sequence[Any]) -> list[Any]:
        """The local derivatives at ``operands``: Values where these are. Raises HigherOrderError where it cannot."""
        try:
            return self._given.slopes(self._rule, self._given.with_operands(operands))
        except (TypeError, AttributeError) as problem:  # SciPy and Python's math refuse a Value
            raise _numbers_only(str(self), problem) from problem

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """A copy or a pickle is the name alone."""
        return str, (str(self),)


# --- errors ----------------------------------------------------------------------------------------------------


def _wrong_partials(name: str, expected: str, got: object) -> TypeError:
    """The partials of the primitive ``name`` do not fit its arguments."""
    return TypeError(f"the partials of {name} must be {expected}, and are {errors.describe(got)}.")


def _numbers_only(name: str, problem: object) -> errors.HigherOrderError:
    """The partials of the primitive ``name`` cannot be evaluated on Values."""
    return errors.HigherOrderError(
        f"the partials of {name} work on plain numbers only ({problem}): write them with retrograd's operations and "
        "primitives for derivatives of a higher order, or take first derivatives only."
    )
