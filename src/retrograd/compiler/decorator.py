"""``retrograd.compile``, as a call and as a decorator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, overload

from .. import habits
from ..errors import describe
from .compiled import Compiled
from .request import TIERS, Options, Tier

__all__ = ["Tier", "compile"]

P = ParamSpec("P")


@overload
def compile(  # noqa: A001  (named like the field names it)
    function: Callable[P, Any], *, exact: bool = ..., tier: Tier = ..., verify: int = ...
) -> Compiled[P]: ...
@overload
def compile(  # noqa: A001
    function: None = None, *, exact: bool = ..., tier: Tier = ..., verify: int = ...
) -> Callable[[Callable[P, Any]], Compiled[P]]: ...
@habits.refusing(habits.keywords.COMPILE)
def compile(  # noqa: A001
    function: Callable[P, Any] | None = None,
    *,
    exact: bool = False,
    tier: Tier = "auto",
    verify: int = 0,
) -> Any:
    """Make ``function``, a scalar program on Values, fast: the same function, run as vector instructions.

    Call the result as the function: ``f(*args)`` gives what the function returns, ``f.backward(*args)`` also adds to
    ``.grad``, ``f.backward_batch([(arg, …), …])`` gives the mean over many calls, ``f.value_and_grad(*args)`` the
    gradient of the first argument. See :class:`Compiled`.

    The function is traced once for each structure of arguments, and later calls run the compiled program instead.
    Every call checks what the program takes for granted (its guards; ``print(f.guards())`` lists them): the structure
    and types of the arguments; whole numbers, strings and objects among them, which must be the same; every comparison
    of a Value, float or Index that decided something; and captured state, that is the variables that the function
    reads and the lists, dictionaries, sets, arrays and objects behind them. Where one fails, the function is traced
    again. Data beyond 64 KB is frozen, with a warning that names it. ``docs/compile.md`` has the whole table.

    A function that changes what it reads, asks the time, draws random numbers, reads or writes runs as it is, with a
    warning that names the line. Integers that select among Values must be :class:`retrograd.Index`.

    A new graph is compared with a plain run of the same call, before its first answer, and with that of a few later
    ones. If its value differs by more than 1e-7 of the value (or of 1), or a gradient by more than 1e-7 of the largest,
    the call runs eagerly. For ``exact`` the tolerance is 0. The vector program, which is made after a few calls, is
    compared with the graph in the same way. One function keeps the 256 programs used last, and 64 MB of them.

    Args:
        function: A function of numbers, Values, Indexes, and nested lists, tuples, dicts, dataclasses and float64
            arrays of them, which returns one Value or number. Without it, ``compile`` returns a decorator.
        exact: Keep the order of every sum, so that each result has the same bits as the engine's: the interpreter runs
            the graph, and each way through the function's tests has a program of its own. Slower.
        tier: What runs the program. ``"auto"`` (the default) interprets the graph eight times, then runs it on
            the virtual machine (or goes on, if the graph is too irregular for vectors), and changes to LLVM after 200
            runs if llvmlite is installed.
            ``"vm"``, ``"llvm"`` and ``"interpreter"`` insist on one.
        verify: Run the function itself too, each so many calls, and raise VerificationError if the program gives other
            numbers. 0 (the default) never does.

    Returns:
        The compiled function; without ``function``, a decorator that compiles.

    Raises:
        TypeError: ``function`` cannot be called, or ``verify`` is no int.
        ValueError: For another ``tier``, one that does not keep bits beside ``exact``, or a negative ``verify``.
        MissingExtraError: For ``tier="llvm"`` without llvmlite.

    Example:
        >>> import retrograd as rg
        >>> square = rg.compile(lambda x: x * x)
        >>> square.value_and_grad(3.0)
        (9.0, 6.0)
    """
    if tier not in TIERS:
        raise ValueError(f"compile: tier is one of {', '.join(map(repr, TIERS))}, not {tier!r}.")
    if exact and tier in ("vm", "llvm"):
        raise ValueError(
            f"compile: exact=True keeps the engine's bits, which only the interpreter does and tier={tier!r} does not: "
            "leave one of them out."
        )
    if not isinstance(verify, int):
        raise TypeError(f"compile: verify is a number of calls, such as 100, not {describe(verify)}.")
    if verify < 0:
        raise ValueError(f"compile: verify is a number of calls, 0 or more, not {verify!r}.")
    if function is None:
        return functools.partial(compile, exact=exact, tier=tier, verify=verify)
    if not callable(function):
        raise TypeError(f"compile takes a function and got {function!r} of type {type(function).__name__}.")
    return Compiled(function, Options(exact, tier, verify))
