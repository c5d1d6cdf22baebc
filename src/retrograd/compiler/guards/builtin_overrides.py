"""What Python's own ``max`` and ``min`` mean while a function is traced.

Left to comparisons, ``max(v.data for v in logits)`` in a trace would be a guard that fails at nearly every other input:
the names mean functions there that ask the trace first. In every other thread, and for everything else, the names do
what they always did.
"""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import engine

__all__ = ["Substitutes", "extremes"]

Function = Callable[..., Any]

#: No trace knows numbers of these types.
_PLAIN = frozenset({float, int, bool})


class Substitutes:
    """Other functions for built-in ones inside ``with`` blocks: any number of blocks, nested and in any thread.

    ``makers`` make them, by name, of those that they stand for. Who puts a function there meanwhile keeps it.
    """

    def __init__(self, **makers: Callable[[Function], Function]) -> None:
        self._makers = makers
        self._made: dict[str, tuple[Function, Function]] = {}  #: what was there last, and its substitute
        self._lock = threading.RLock()  # a signal handler may enter while its thread is entering
        self._users = 0
        self._mine = threading.local()  # .blocks: how many of the users are blocks of this thread
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        """In a forked child the other threads are gone, and with them their blocks, or the lock that one held."""
        self._lock = threading.RLock()
        self._users = getattr(self._mine, "blocks", 0)
        if self._users == 0:
            self._restore()

    def _restore(self) -> None:
        for name, (original, substitute) in self._made.items():
            if getattr(builtins, name) is substitute:
                setattr(builtins, name, original)

    def __enter__(self) -> None:
        self._mine.blocks = getattr(self._mine, "blocks", 0) + 1
        with self._lock:
            if self._users == 0:
                for name, make in self._makers.items():
                    original = getattr(builtins, name)
                    if name not in self._made or self._made[name][0] is not original:
                        self._made[name] = original, make(original)
                for name, (_, substitute) in self._made.items():  # all of them, once there was memory for all
                    setattr(builtins, name, substitute)
            self._users += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._restore()
        self._mine.blocks -= 1


def extremes(
    answer: Callable[[str, Sequence[Any]], Any],
    answer_by_key: Callable[[str, Sequence[Any], Function], Any],
    selection: type,
    choices: Mapping[str, object],
) -> Substitutes:
    """``max`` and ``min`` that ask this thread's trace first: its answer for the name and the items, or None.

    ``answer_by_key`` is asked where there is a key. The engine answers where the items are two Values, or a Value
    and a number: with a ``selection`` of the trace, which chooses as one of the ``choices``.
    """

    def made(original: Function) -> Function:
        name, otherwise = original.__name__, _extreme(original, answer, answer_by_key)
        return engine.following_extreme(name, __name__, original, otherwise, selection, choices[name])

    return Substitutes(max=made, min=made)


def _extreme(
    original: Function,
    answer: Callable[[str, Sequence[Any]], Any],
    answer_by_key: Callable[[str, Sequence[Any], Function], Any],
) -> Function:
    name = original.__name__

    def extreme(*arguments: Any, **options: Any) -> Any:
        if len(arguments) == 2 and not options:  # nearly all calls
            one, other = arguments
            is_plain = type(one) in _PLAIN and type(other) in _PLAIN
            return original(one, other) if is_plain or (found := answer(name, arguments)) is None else found
        if _PLAIN.issuperset(map(type, arguments)):
            return original(*arguments, **options)
        if len(arguments) != 1:
            items: Sequence[Any] = arguments
        elif isinstance(arguments[0], (list, tuple, range)) or not hasattr(type(arguments[0]), "__iter__"):
            items = arguments[0] if isinstance(arguments[0], (list, tuple, range)) else ()
        else:
            items = list(arguments[0])
            arguments = (items,)
        key = options.get("key")
        result = answer(name, items) if key is None else answer_by_key(name, items, key)
        return original(*arguments, **options) if result is None else result

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = original.__doc__
    return extreme
