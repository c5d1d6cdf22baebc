"""Types of what a function computes with, inferred from its source and its arguments, and how they lie in memory.

A type is a number of *words*, each of which takes eight bytes in memory: a float is one double, a Value is a double and
the number of its node on the tape. Where two values meet in one variable, their types are *joined*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    *("ANY_NUMBER", "BOOL", "BOUNDED", "COUNTER", "EITHER", "FLOAT", "INT", "MEMBER", "MIXED", "NONE", "NUMPY"),
    *(
        "NUMPY_INT",
        "TEXT",
        "TRUTH",
        "UNKNOWN",
        "VALUE",
        "Bound",
        "Cell",
        "Closure",
        "Instance",
        "Iterated",
        "Layout",
        "ListType",
    ),
    *("NotTypedError", "Optional", "Row", "Static", "Tuple", "Type", "Union", "is_number", "is_plain", "is_real"),
    *("is_unkept", "is_whole", "join", "signature"),
]


class NotTypedError(Exception):
    """The function does something that has no type here, or that machine code cannot do; the message says what.

    Attributes:
        place: The line on which it does.
    """

    place: str = ""

    def __str__(self) -> str:
        what = super().__str__()
        return f"{what} ({self.place})" if self.place else what


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, a text or nothing."""

    name: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


INT, BOOL, FLOAT = Scalar("an int", ("i64",)), Scalar("a bool", ("i1",)), Scalar("a float", ("double",))
MIXED = Scalar("an int or a float", ("double",))
NUMPY = Scalar("a float of NumPy's", ("double",))
NUMPY_INT = Scalar("an int of NumPy's", ("i64",))  #: or one of Python's, where both meet
TRUTH = Scalar("a bool of NumPy's", ("i1",))  #: or one of Python's: what it is added to or taken for, decides
VALUE = Scalar("a Value", ("double", "i32"))  #: a number, and its node; 0 for a constant
EITHER = Scalar("a Value or a float", ("double", "i32"))
ANY_NUMBER = Scalar("a Value, a float or an int", ("double", "i32"))  #: and what is one for NumPy
TEXT = Scalar("a str", ("i64",))  #: which of the texts of the program it is
MEMBER = Scalar("a member of an Enum", ("i64",))  #: the number of a text that stands for it
NONE = Scalar("None", ())
UNKNOWN = Scalar("nothing yet", ())  #: what no run has computed so far


@dataclass(frozen=True, slots=True)
class Static:
    """One object, known when the code is made: a function, a class or a module."""

    thing: Any
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return getattr(self.thing, "__name__", type(self.thing).__name__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple, or a named one: its items side by side."""

    items: tuple[Type, ...]
    kind: type = tuple

    @property
    def words(self) -> tuple[str, ...]:
        return _side_by_side(self.items)

    def __str__(self) -> str:
        return f"a tuple of {len(self.items)}" if self.kind is tuple else f"a {self.kind.__name__}"


@dataclass(frozen=True, slots=True)
class Row:
    """A list of few items of several types, which comes from outside, and which nothing changes: its items side by
    side, as of a tuple."""

    items: tuple[Type, ...]
    kind: type = list

    @property
    def words(self) -> tuple[str, ...]:
        return _side_by_side(self.items)

    def __str__(self) -> str:
        return f"a list of {len(self.items)} items of several types"


@dataclass(frozen=True, slots=True)
class Closure:
    """A function in a function: where the variables are that it uses of the functions around it."""

    thing: Any

    @property
    def words(self) -> tuple[str, ...]:
        return ("ptr",) * int(self.thing.pointers)

    def __str__(self) -> str:
        return "a function in it"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Closure) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


@dataclass(frozen=True, slots=True)
class Bound:
    """A function with its first arguments, and some by name: ``partial(f, x, y=z)``, or a method of an instance."""

    function: Type
    items: tuple[Type, ...]
    names: tuple[str, ...] = ()  #: of the last ones

    @property
    def words(self) -> tuple[str, ...]:
        return _side_by_side((self.function, *self.items))

    def __str__(self) -> str:
        return "a function with some of its arguments"


@dataclass(frozen=True, slots=True)
class Optional:
    """Something or None: whether it is there, and what it is."""

    item: Type

    @property
    def words(self) -> tuple[str, ...]:
        return "i1", *self.item.words

    def __str__(self) -> str:
        return f"{self.item} or None"


@dataclass(eq=False, slots=True)
class Cell:
    """What the items of a list are, which is learned as the function is followed. Lists that meet share one.

    Attributes:
        item: Their type so far.
    """

    item: Any = UNKNOWN
    _same: Cell | None = None

    def root(self) -> Cell:
        """The cell that stands for all that were united."""
        cell = self
        while cell._same is not None:
            cell = cell._same
        return cell

    def unite(self, other: Cell) -> bool:
        """Make two cells one; whether they were not."""
        one, two = self.root(), other.root()
        if one is two:
            return False
        two._same = one
        one.item = join(one.item, two.item)
        return True


#: A deque that lets an item go for each one more than it may have; a dictionary that counts.
BOUNDED, COUNTER = "maxlen", "Counter"


@dataclass(frozen=True, slots=True)
class ListType:
    """A list or a deque; a dict, a set and an array as lists of pairs, items and rows: a pointer to the header."""

    cell: Cell
    kind: type = list
    dtype: Any = None  #: of a whole array of NumPy's, which is a list of rows
    default: Any = None  #: what makes the items that a defaultdict lacks; or ``BOUNDED``, or ``COUNTER``
    words: tuple[str, ...] = ("ptr",)

    @property
    def item(self) -> Type:
        return self.cell.root().item  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return f"a {self.kind.__name__}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ListType) or other.kind is not self.kind or other.default is not self.default:
            return False
        return other.cell.root() is self.cell.root()

    def __hash__(self) -> int:
        return id(self.cell.root())


@dataclass(eq=False, slots=True)
class Layout:
    """The attributes that instances of one class have, in the order in which they lie in memory.

    A dictionary with fixed texts as keys is one of class ``dict``, whose attributes are its items.

    Attributes:
        kind: The class.
        fields: Their types so far, by name.
        is_given: Whether instances come from outside: then nothing may change one.
        sorts: Of what class each item of such a dictionary is, a number or something else.
    """

    kind: type
    fields: dict[str, Any] = field(default_factory=dict)
    is_given: bool = False
    sorts: dict[str, type] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for item in self.fields.values() for word in ("i64", *item.words))

    def offset(self, name: str) -> int:
        """How many words lie before an attribute; the first of its own says whether it has been assigned."""
        count = 0
        for one, item in self.fields.items():
            if one == name:
                return count
            count += 1 + len(item.words)
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a class in Python: a pointer to its attributes."""

    layout: Layout
    words: tuple[str, ...] = ("ptr",)

    @property
    def is_record(self) -> bool:
        """Whether it is a dictionary with fixed texts as keys."""
        return self.layout.kind is dict

    def __str__(self) -> str:
        return f"a {self.layout.kind.__name__}"


@dataclass(frozen=True, slots=True)
class Union:
    """One of several: instances of classes, and functions or classes themselves. Which one, and where it is."""

    options: tuple[Instance | Static, ...]
    words: tuple[str, ...] = ("i64", "ptr")

    def __str__(self) -> str:
        return " or ".join(dict.fromkeys(map(str, self.options)))


@dataclass(frozen=True, slots=True, eq=False)
class Iterated:
    """What can only be gone over, which is nowhere in memory: how a loop over it is written (source/loops.py).

    Attributes:
        source: Its items by index.
        run: Writes it with what a loop does with each item.
        fixed: What gives its items, if it has a fixed number.
        count: How many items it has, if that is known when the loop begins.
        is_iterator: Whether ``iter`` gave it: what it has given, it does not give again.
        is_view: Whether it gives its items each time that it is gone over.
    """

    source: Any = None
    run: Any = None
    fixed: Any = None
    count: str = ""
    is_iterator: bool = False
    is_view: bool = False
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "an iterator"


Type = Scalar | Static | Iterated | Tuple | Row | Closure | Bound | Optional | ListType | Instance | Union

#: So many classes and functions may meet in one variable.
_MOST_OPTIONS = 12

_REAL = (FLOAT, MIXED, NUMPY, VALUE, EITHER, ANY_NUMBER)
_PLAIN = (FLOAT, MIXED, NUMPY)


def _side_by_side(items: Sequence[Type]) -> tuple[str, ...]:
    """The words of several things, one after the other."""
    return tuple(word for item in items for word in item.words)


def is_real(kind: Type) -> bool:
    """Whether it is a float or a Value."""
    return kind in _REAL


def is_plain(kind: Type) -> bool:
    """Whether it is a number, and no Value, that lies in memory as a double."""
    return kind in _PLAIN


def is_unkept(kind: Type) -> bool:
    """Whether it is, or holds, what lives no longer than the routine that makes it."""
    if isinstance(kind, Optional):
        return is_unkept(kind.item)
    if isinstance(kind, Bound):
        return any(map(is_unkept, (kind.function, *kind.items)))
    return isinstance(kind, (Closure, Iterated)) or (isinstance(kind, Tuple) and any(map(is_unkept, kind.items)))


def is_number(kind: Type) -> bool:
    """Whether one can compute with it."""
    return kind in _REAL or is_whole(kind)


def is_whole(kind: Type) -> bool:
    """Whether it is an int or a bool, which lies in memory as one."""
    return kind in (INT, BOOL, NUMPY_INT)


def signature(kind: Type, around: tuple[Cell, ...] = ()) -> Any:
    """What two types have in common that one routine can take; ``around``: the lists that the type is inside of."""
    if isinstance(kind, ListType):
        cell = kind.cell.root()
        item = around.index(cell) if cell in around else signature(kind.item, (*around, cell))
        return kind.kind, kind.default, item
    if isinstance(kind, (Tuple, Row)):
        return type(kind), kind.kind, tuple(signature(one, around) for one in kind.items)
    if isinstance(kind, Optional):
        return Optional, signature(kind.item, around)
    if isinstance(kind, Bound):
        parts = (kind.function, *kind.items)
        return Bound, kind.names, tuple(signature(one, around) for one in parts)
    return kind


def join(one: Type, other: Type) -> Type:
    """The type of a variable that holds both. Lists that meet become of one kind.

    Raises:
        NotTypedError: There is none.
    """
    if one == other or other is UNKNOWN:
        return one
    if one is UNKNOWN:
        return other
    if NONE in (one, other):
        rest = other if one is NONE else one
        return rest if isinstance(rest, Optional) else Optional(rest)
    if isinstance(one, Optional) or isinstance(other, Optional):
        inner = [kind.item if isinstance(kind, Optional) else kind for kind in (one, other)]
        return Optional(join(*inner))
    if isinstance(one, Scalar) and isinstance(other, Scalar) and is_number(one) and is_number(other):
        if BOOL in (one, other):
            raise NotTypedError(f"{one} and {other} meet in one variable")
        if {one, other} == {INT, NUMPY_INT}:
            return NUMPY_INT
        if {one, other} <= {FLOAT, VALUE, EITHER}:
            return EITHER
        return ANY_NUMBER if {one, other} & {VALUE, EITHER, ANY_NUMBER} else MIXED
    if {one, other} == {BOOL, TRUTH}:
        return TRUTH
    if isinstance(one, Tuple) and isinstance(other, Tuple):
        if one.kind is not other.kind or len(one.items) != len(other.items):
            raise NotTypedError(f"{one} and {other} meet in one variable")
        return Tuple(_joined(one.items, other.items), one.kind)
    if isinstance(one, Row) and isinstance(other, Row) and len(one.items) == len(other.items):
        return Row(_joined(one.items, other.items))
    if isinstance(one, ListType) and isinstance(other, ListType) and _are_alike(one, other):
        one.cell.unite(other.cell)
        return one
    options = [*dict.fromkeys((*_options(one), *_options(other)))]
    if _options(one) and _options(other) and len(options) <= _MOST_OPTIONS:
        return Union(tuple(sorted(options, key=hash)))
    raise NotTypedError(f"{one} and {other} meet in one variable")


def _are_alike(one: ListType, other: ListType) -> bool:
    return one.kind is other.kind and one.default is other.default


def _options(kind: Type) -> tuple[Instance | Static, ...]:
    """What may be one of several: not a dictionary."""
    if isinstance(kind, Union):
        return kind.options
    return (kind,) if isinstance(kind, Static) or (isinstance(kind, Instance) and not kind.is_record) else ()


def _joined(ones: Sequence[Type], others: Sequence[Type]) -> tuple[Type, ...]:
    return tuple(map(join, ones, others))
