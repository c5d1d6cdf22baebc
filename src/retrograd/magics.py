"""IPython's ``%explain`` and ``%explore``: after ``%load_ext retrograd``, in a terminal or a notebook."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .engine import Value
from .errors import ExpressionError
from .explorer import explore
from .trace.explain import explain

__all__ = ["register"]

_PAIRS = re.compile(r"(?P<what>.*?)(?P<pairs>(?:\s+[^\W\d]\w*=[^\s=]+)*)\s*", re.DOTALL)


def register(shell: Any) -> None:
    """Add the magics to an IPython shell."""

    def asked(line: str, answer: Callable[..., Any]) -> Any:
        """``answer`` of a Value or a function of the user's, or of an expression, and of its names' numbers."""
        match = _PAIRS.fullmatch(line.strip())
        what = match["what"].strip().strip("\"'") if match else line
        pairs = (pair.split("=") for pair in (match["pairs"].split() if match else ()))
        numbers = {name: _number(name, text) for name, text in pairs}
        found = shell.user_ns.get(what)
        is_theirs = isinstance(found, Value) or callable(found)
        call = functools.partial(answer, found if is_theirs else what, **numbers)

        def there() -> Any:
            return call()

        # Among the user's variables, whose names stand for labels.
        return FunctionType(there.__code__, shell.user_ns, closure=there.__closure__)()

    def answered(line: str, answer: Callable[..., Any]) -> Any:
        """The same; an expression that cannot be read is one sentence, without IPython's traceback."""
        from IPython.core.error import UsageError

        try:
            return asked(line, answer)
        except ExpressionError as error:
            raise UsageError(str(error)) from None

    def explain_line(line: str) -> Any:
        """Explain a Value, a function or an expression: ``%explain L`` or ``%explain a*b a=2 b=3``."""
        return answered(line, explain)

    def explore_line(line: str) -> Any:
        """Explore a Value, a function or an expression: ``%explore L`` or ``%explore a*b a=2 b=3``."""
        return answered(line, explore)

    shell.register_magic_function(explain_line, "line", "explain")
    shell.register_magic_function(explore_line, "line", "explore")


def _number(name: str, text: str) -> float | list[float]:
    """``2`` as a number, and ``1,2,3`` as a list of them."""
    try:
        return [float(item) for item in text.removesuffix(",").split(",")] if "," in text else float(text)
    except ValueError:
        raise ExpressionError(
            f"{name}={text} is not a number: write digits, such as {name}=2 or {name}=1,2,3."
        ) from None
