"""The example of the arguments with which ``to_c`` and ``to_jax`` trace a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from ... import errors

__all__ = ["check_example"]


def check_example(function: Callable[..., Any], arguments: Sequence[Any], what: str, call: str) -> None:
    """Raise NotTraceableError where the function does not take ``arguments``.

    Args:
        function: the function to trace.
        arguments: the example of its arguments.
        what: what it cannot do then: ``"be written as C"``.
        call: how the call begins: ``"to_c(path, "``.
    """
    try:
        own = signature(function)
    except (TypeError, ValueError):  # a builtin
        return
    try:
        own.bind(*arguments)
    except TypeError as problem:
        name = call.partition("(")[0]
        raise errors.not_traceable(
            function,
            f"{name} traces it with an example of its arguments, and got none that fits ({problem}): write "
            f"f.{call}{', '.join(own.parameters)})",
            what,
        ) from None
