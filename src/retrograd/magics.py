"""IPython's ``%explain`` and ``%explore``: after ``%load_ext retrograd``, in a terminal or a notebook."""

from __future__ import annotations

import re
from typing import Any

from .engine import Value
from .explorer import explore
from .trace.explain import explain

__all__ = ["register"]

_PAIRS = re.compile(r"(?P<what>.*?)(?P<pairs>(?:\s+[^\W\d]\w*=[^\s=]+)*)\s*", re.DOTALL)


def register(shell: Any) -> None:
    """Add the magics to an IPython shell."""

    def asked(line: str) -> tuple[Any, dict[str, float]]:
        """A Value of the user's, or the text of an expression, and the numbers of its names."""
        match = _PAIRS.fullmatch(line.strip())
        what = match["what"].strip().strip("\"'") if match else line
        pairs = (pair.split("=") for pair in (match["pairs"].split() if match else ()))
        found = shell.user_ns.get(what)
        numbers = {name: float(text) for name, text in pairs}
        return (found if isinstance(found, Value) or callable(found) else what), numbers

    def explain_line(line: str) -> Any:
        """Explain a Value, a function or an expression: ``%explain L`` or ``%explain a*b a=2 b=3``."""
        thing, numbers = asked(line)
        return explain(thing, **numbers)

    def explore_line(line: str) -> Any:
        """Explore a Value, a function or an expression: ``%explore L`` or ``%explore a*b a=2 b=3``."""
        thing, numbers = asked(line)
        return explore(thing, **numbers)

    shell.register_magic_function(explain_line, "line", "explain")
    shell.register_magic_function(explore_line, "line", "explore")
