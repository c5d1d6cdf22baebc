"""The tracers of dictionaries and sets of which decisions choose the keys that they have.

Such a tracer has the entries that there may be: a key, what it stands for, whether it is there, and since when. At most
one entry is there for a key. Where a plain dictionary is wanted, that it has the same keys again becomes a guard.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from ..conversions import Site

__all__ = ["KEYED", "Copied", "KeyEntries", "KeyEntry", "KeyedMethod", "PartialDict", "PartialSet", "PartialView"]


class KeyEntry(NamedTuple):
    """A key that may be there."""

    key: Any  #: a constant, or an int that decisions choose
    value: Any  #: None in a set
    is_there: Any  #: True, or a comparison
    since: Any  #: when it came, as an int that grows from change to change; no matter where it is not there
    absent: Any  #: what makes the value that is here where the key is not there; None where that is not known


class KeyEntries(tuple[KeyEntry, ...]):
    """What a dictionary, or a set, may have at a time."""

    __slots__ = ()


class Copied(NamedTuple):
    """Of a copy of one of two dictionaries that decisions choose, which does not change."""

    site: Site  #: where that was
    changes: Sequence[Callable[[], bool]]  #: what tells whether one of them has changed since


class _Keyed:
    """Args:
    entries: what it may have.
    kind: the class that it is of.
    factory: what makes the value of a key that is not there; None if nothing does.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    __slots__ = (
        *("_rg_asked", "_rg_copied", "_rg_factory", "_rg_fresh", "_rg_is_result", "_rg_kind", "_rg_now"),
        "_rg_shown",
    )

    def __init__(self, entries: Iterable[KeyEntry], kind: type, factory: Callable[[], Any] | None = None) -> None:
        self._rg_now: KeyEntries = KeyEntries(entries)
        self._rg_kind = kind
        self._rg_factory = factory
        self._rg_is_result = False
        self._rg_copied: Copied | None = None
        self._rg_asked: dict[tuple[int, int], tuple[Any, ...]] = {}  # whether it has a key, by that, and its entries
        self._rg_fresh: dict[Any, Any] = {}  # what was made of keys that were not there, by key
        self._rg_shown: dict[int, tuple[Any, Any]] = {}  # keys that a loop reads, and which are there, by their ids

    @property
    def _rg_entries(self) -> KeyEntries:
        """What it may have now; of a copy, if what it was chosen from still has the same."""
        if self._rg_copied is not None and any(has_changed() for has_changed in self._rg_copied.changes):
            _actions().note_stale(self._rg_copied.site)
        return self._rg_now

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, dict) decides as it does in plain Python
        return self._rg_kind

    def __bool__(self) -> bool:
        return bool(_actions().truth(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(_actions().plain(self))

    def __len__(self) -> int:
        return len(_actions().plain(self))

    def __contains__(self, key: Any) -> bool:
        return bool(_actions().done(_actions().contains, self, key))

    def __repr__(self) -> str:
        return repr(_actions().plain(self))

    def _rg_settled(self) -> Any:
        """A plain one, of a result: a second one would be another object."""
        if self._rg_kind is not dict or self._rg_is_result:
            _actions().cannot("is a result")
        self._rg_is_result = True
        return _actions().plain(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        _actions().cannot("is copied")

    def __eq__(self, other: object) -> Any:
        return _actions().done(_actions().equal, self, other)

    def __ne__(self, other: object) -> Any:
        return _actions().done(_actions().unequal, self, other)


class PartialDict(_Keyed):
    """Reads as a dictionary, a defaultdict or a Counter, and changes as one."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return _actions().done(_actions().read, self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _actions().done(_actions().store, self, key, value)

    def __delitem__(self, key: Any) -> None:
        _actions().done(_actions().deleted, self, key)

    def __getattr__(self, name: str) -> Any:
        return _actions().method(self, name)

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(_actions().plain(self))[::-1])


class PartialSet(_Keyed):
    """Reads as a set, and changes as one."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return _sets().method(self, name)


class PartialView:
    """What ``keys``, ``values`` and ``items`` give.

    Args:
        name: which of them.
        of: the dictionary.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    __slots__ = ("_rg_name", "_rg_of")

    def __init__(self, name: str, of: PartialDict) -> None:
        self._rg_name, self._rg_of = name, of

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(getattr({}, self._rg_name)())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rg_plain())

    def __len__(self) -> int:
        return len(self._rg_plain())

    def __contains__(self, thing: Any) -> bool:
        if self._rg_name == "keys":
            return thing in self._rg_of
        return thing in self._rg_plain()

    def __repr__(self) -> str:
        return repr(self._rg_plain())

    def _rg_settled(self) -> Any:
        _actions().cannot("is a result")

    def _rg_plain(self) -> Any:
        return getattr(_actions().plain(self._rg_of), self._rg_name)()


class KeyedMethod:
    """A method of such a dictionary, or set."""

    __slots__ = ("_function", "_of")

    def __init__(self, function: Callable[..., Any], of: Any) -> None:
        self._function, self._of = function, of

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _actions().done(self._function, self._of, *arguments, **options)


#: The tracers, by their classes.
KEYED: frozenset[type] = frozenset({PartialDict, PartialSet, PartialView})


def _actions() -> ModuleType:
    from . import dicts  # which imports this module, and the arms

    return dicts


def _sets() -> ModuleType:
    from . import sets

    return sets


def _define(kind: type, name: str) -> None:
    function = getattr(operator, name)
    setattr(kind, f"__{name.strip('_')}__", lambda self, other: _sets().operated(function, self, other))


def _define_reflected(kind: type, name: str) -> None:
    function = getattr(operator, name)
    setattr(kind, f"__r{name.strip('_')}__", lambda self, other: _sets().operated(function, other, self))


for _name in ("and_", "or_", "sub", "xor", "le", "lt", "ge", "gt", "iand", "ior", "isub", "ixor"):
    _define(PartialSet, _name)
for _name in ("and_", "or_", "sub", "xor"):
    _define_reflected(PartialSet, _name)
for _kind in (PartialDict, PartialView):
    for _name in ("and_", "or_", "sub", "xor", "add"):
        _define(_kind, _name)
        _define_reflected(_kind, _name)
    for _name in ("ior", "iand", "iadd", "isub", "le", "lt", "ge", "gt"):
        _define(_kind, _name)
