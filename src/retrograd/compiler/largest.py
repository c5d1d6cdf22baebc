"""The built-in ``max`` and ``min`` while a function is traced.

Left to comparisons, ``max(v.data for v in logits)`` would be a guard that fails at nearly every other input. So while
a trace is made the two names mean functions that ask the trace first; in every other thread, and for everything that
is no traced number, they do what they always did.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["substituted"]

#: Asks this thread's trace: the answer for ``"max"`` or ``"min"`` and the items, or None.
Answer = Callable[[str, Sequence[Any]], Any]

_lock = threading.Lock()
_users = 0
_originals: dict[str, Callable[..., Any]] = {}
_substitutes: dict[str, Callable[..., Any]] = {}


@contextmanager
def substituted(answer: Answer) -> Iterator[None]:
    """Inside the ``with`` block, in any thread, the built-ins ask ``answer`` first."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            for name in ("max", "min"):
                _originals[name] = getattr(builtins, name)
                _substitutes[name] = _substitute(name, _originals[name], answer)
                setattr(builtins, name, _substitutes[name])
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for name, original in _originals.items():
                    if getattr(builtins, name) is _substitutes[name]:  # else somebody else put theirs there
                        setattr(builtins, name, original)


def _substitute(name: str, original: Callable[..., Any], answer: Answer) -> Callable[..., Any]:
    def extreme(*arguments: Any, **options: Any) -> Any:
        if len(arguments) != 1:
            items: Sequence[Any] = arguments
        elif isinstance(arguments[0], (list, tuple)) or not hasattr(type(arguments[0]), "__iter__"):
            items = arguments[0] if isinstance(arguments[0], (list, tuple)) else ()
        else:
            items = list(arguments[0])
            arguments = (items,)
        result = None if options.get("key") is not None else answer(name, items)
        return original(*arguments, **options) if result is None else result

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = original.__doc__
    return extreme
