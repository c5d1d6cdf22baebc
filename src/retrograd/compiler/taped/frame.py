"""The routines of a program as they are followed: their variables, what is known of types, and the code so far.

The entry (entry.py) follows a program again and again, until no type changes any more. Each time the writers write all
of its code once more, and LLVM compiles what they wrote last.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from ..guards.libraries import is_library
from ..if_conversion.rewriting.tree import leaves
from .ir.arithmetic import Arithmetic, Typed
from .ir.context import CONTEXT
from .ir.rows import Rows
from .ir.tape import Tape
from .ir.writer import Budget, Writer
from .reads import Reads
from .sources import Sources
from .syntax import is_endless, names_assigned, names_used, place_key
from .types import (
    BOOL,
    INT,
    NONE,
    NUMPY_INT,
    TRUTH,
    UNKNOWN,
    Cell,
    Closure,
    Instance,
    Iterated,
    Layout,
    ListType,
    NotTypedError,
    Optional,
    Row,
    Tuple,
    Type,
    Union,
    is_number,
    is_plain,
    is_real,
    is_unkept,
    is_whole,
    join,
    signature,
)

__all__ = ["Frame", "Language", "LocalFunction", "Loop", "Program", "Routine", "split"]

#: So many routines are followed: each call of other types has one of its own.
_MOST_ROUTINES = 200


@dataclass(eq=False, slots=True)
class Routine:
    """A function that is followed with arguments of some types.

    Attributes:
        function: The function, or the one in whose source it is.
        definition: Its source.
        symbol: What it is called in the code.
        kinds: The types of its variables so far.
        result: The type of what it returns so far.
        text: Its code.
    """

    function: FunctionType
    definition: ast.FunctionDef | ast.Lambda
    symbol: str
    kinds: dict[str, Type] = field(default_factory=dict)
    result: Type = UNKNOWN
    text: str = ""


@dataclass(eq=False, slots=True)
class Program:
    """All routines of one program, and what they share.

    Attributes:
        language: What writes their statements and expressions.
        budget: How much may still be written.
        rows: The rows of the op table that they compute.
        tape: The records that they write.
        reads: What they read besides their arguments.
        texts: The number of each text.
        text_tables: Functions of a text, and the types of what they give (source/library/texts.py), by what they are.
        has_letters: Whether it reads letters of texts by an index that is computed.
        has_tables: Whether dictionaries of numbers have no fields, so that those with other keys are of one type.
        has_rows: Whether lists of few items of several types have a type for each item.
        saw_rows: Whether there are such lists among the data.
        layouts: The attributes of the classes.
        data: The type of data outside of the function, by its place, and where in the context the entry puts it.
        routines: The functions that are called, by what their arguments are.
        cells: The cells of lists, by where they are made.
        inlined: The types of the variables of comprehensions and generators, by where they are.
        results: The types of what is chosen or summed, by where that is.
        readers: What reads instances whose attributes are of their own class again, by their layouts.
        local_functions: The functions that are defined in others, by where that is.
        around: The keys of the routines that are being followed, each called by another one.
        sources: The sources of the functions.
        followed: The keys of the routines that have been followed, this time.
        has_numpy: Whether it reads arrays, whose items are numbers of NumPy's.
    """

    language: Language
    has_letters: bool = False
    has_tables: bool = False
    has_rows: bool = False
    saw_rows: bool = False
    budget: Budget = field(default_factory=Budget)
    rows: Rows = field(default_factory=Rows)
    tape: Tape = field(default_factory=Tape)
    reads: Reads = field(default_factory=Reads)
    texts: dict[str, int] = field(default_factory=dict)
    text_tables: dict[Any, tuple[Callable[[str], Any], Type]] = field(default_factory=dict)
    layouts: dict[Any, Layout] = field(default_factory=dict)
    data: dict[tuple[int, str], tuple[Type, int]] = field(default_factory=dict)
    routines: dict[Any, Routine] = field(default_factory=dict)
    cells: dict[Any, Cell] = field(default_factory=dict)
    inlined: dict[Any, dict[str, Type]] = field(default_factory=dict)
    results: dict[Any, Type] = field(default_factory=dict)
    readers: dict[Layout, str] = field(default_factory=dict)
    local_functions: dict[Any, LocalFunction] = field(default_factory=dict)
    around: set[Any] = field(default_factory=set)
    sources: Sources = field(default_factory=Sources)
    followed: set[Any] = field(default_factory=set)
    has_numpy: bool = False

    def text(self, text: str) -> int:
        """The number of a text."""
        return self.texts.setdefault(text, len(self.texts))

    def layout(self, kind: type, names: tuple[str, ...] = (), is_given: bool = False, variant: int = 0) -> Layout:
        """The attributes of a class; of dictionaries with fixed texts as keys, the items, which may be of several sorts
        (``variant``)."""
        if kind is not dict:
            self.reads.watch(kind)
        return self.layouts.setdefault((kind, names, is_given, variant), Layout(kind, is_given=is_given))

    def cell(self, key: Any, item: Type = UNKNOWN) -> Cell:
        """The cell of the lists that one place in the source makes."""
        cell = self.cells.setdefault(key, Cell())
        root = cell.root()
        root.item = join(root.item, item)
        return cell

    def routine(self, function: FunctionType, kinds: Sequence[Type]) -> tuple[Any, Routine]:
        """The routine of a function for arguments of these types, and its key."""
        key = function, tuple(map(signature, kinds))
        if key not in self.routines:
            self.reads.code_of(function)
            self._add(key, function, self.sources.of(function))
        return key, self.routines[key]

    def local_routine(self, local: LocalFunction, kinds: Sequence[Type]) -> tuple[Any, Routine]:
        """The routine of a function in a function for arguments of these types, and its key."""
        key = local, tuple(map(signature, kinds))
        if key not in self.routines:
            self._add(key, local.function, local.node)
        return key, self.routines[key]

    def _add(self, key: Any, function: FunctionType, definition: ast.FunctionDef | ast.Lambda) -> None:
        if len(self.routines) >= _MOST_ROUTINES:
            raise NotTypedError("it calls too many functions")
        self.routines[key] = Routine(function, definition, f"routine{len(self.routines)}")

    def state(self) -> Any:
        """What is known of all types: two that are equal say that nothing new was learned in between."""
        cells = [(id(cell.root()), cell.root().item) for cell in self.cells.values()]
        routines = [(dict(one.kinds), one.result) for one in self.routines.values()]
        routines += [one.pointers for one in self.local_functions.values()]  # type: ignore[misc]
        layouts = [(dict(one.fields), one.is_given) for one in self.layouts.values()]
        inlined = [dict(kinds) for kinds in self.inlined.values()]
        return cells, routines, layouts, inlined, dict(self.results), dict(self.data)


@dataclass(eq=False, slots=True)
class LocalFunction:
    """A function that is defined in another one.

    Attributes:
        node: Its source.
        function: The function in whose source it is.
        owners: The frames whose variables it uses, by name.
        pointers: So many they are.
        kept: The types of the one argument for which it keeps results.
    """

    node: ast.FunctionDef | ast.Lambda
    function: FunctionType
    owners: dict[str, Frame] = field(default_factory=dict)
    pointers: int = 0
    kept: Type = UNKNOWN


@dataclass(eq=False, slots=True)
class Variable:
    """A variable on the stack: where it is. The first word says whether it has been assigned; its own follow."""

    kind: Type
    place: str


@dataclass(frozen=True, slots=True)
class Loop:
    """Where ``continue`` and ``break`` go."""

    next: str
    end: str


@dataclass(frozen=True, slots=True)
class Language:
    """What writes each kind of statement and expression into a frame (source/language.py).

    Attributes:
        statements: Statements, by the class of their node.
        expressions: Expressions, which give what they compute.
        call: A call of a function or a class in Python, with its arguments.
        call_closure: A call of a function in a function.
        apply: A call of what a variable holds.
        compare: A comparison of two values.
        store_at: An assignment to an item or an attribute.
    """

    statements: Mapping[type[ast.stmt], Any]
    expressions: Mapping[type[ast.expr], Any]
    call: Callable[..., Typed]
    call_closure: Callable[..., Typed]
    apply: Callable[..., Typed]
    compare: Callable[..., Typed]
    store_at: Callable[..., None]


class Frame:
    """One routine, or a function that is written into another one, while it is followed.

    Attributes:
        program: The program.
        w: Writes its instructions.
        math: Computes with numbers.
        kinds: The types of its variables, which last from one time that it is followed to the next.
        outer: The frame whose variables it may use, too.
        function: The function, whose free names are looked up.
        path: What tells its places in the source from those of the same source elsewhere.
        loops: The loops around the statement that is followed.
    """

    def __init__(
        self,
        program: Program,
        function: FunctionType,
        kinds: dict[str, Type],
        path: Any,
        writer: Writer | None = None,
        outer: Frame | None = None,
    ) -> None:
        self.program: Program = program
        self.function: FunctionType = function
        self.kinds: dict[str, Type] = kinds
        self.outer: Frame | None = outer
        self.path: Any = path
        self.w: Writer = writer or Writer(program.budget)
        self.math: Arithmetic = Arithmetic(self.w, program.rows, program.tape, program.has_numpy)
        self.variables: dict[str, Variable] = {}
        self.own: set[str] = set()  # the names that it assigns
        self.lent: dict[str, Frame] = {}  # the frames around it whose variables it uses
        self.fixed: dict[str, Typed] = {}  # what names are known to hold where they are read
        self.once: set[str] = set()  # the names that are assigned once, in no loop and under no test
        self.expressions: set[str] = set()  # those that stand for an expression where they are read
        self.iterators: dict[str, Typed | None] = {}  # what such names hold to be gone over; None when it has been
        self.loops: list[Loop] = []
        self.is_comprehension: bool = False
        self.is_repeated: bool = False  # what is written here may run several times in one run of the routine
        self.around: list[Any] = []  # the generators that are written into each other, around this one
        self.give_item: Callable[[Typed], None] | None = None  # what a generator does with what it yields
        self.shared: set[str] = set()  # the names that functions in it assign
        self._body: list[Any] = []
        self.end: str = self.w.name("end")
        self.result: Variable | None = None
        self.returned: Type = UNKNOWN

    def begin(self, definition: ast.FunctionDef | ast.Lambda, parameters: Sequence[str]) -> None:
        """What the function assigns is its own; none of it has been assigned yet."""
        body = [definition.body] if isinstance(definition, ast.Lambda) else definition.body
        self.own = {*parameters} | names_assigned(body)
        self.once = self.program.sources.once.get(definition, set())
        self.expressions = self.program.sources.expressions.get(definition, set())
        self.shared = {name for one in ast.walk(definition) if isinstance(one, ast.Nonlocal) for name in one.names}
        self._body = body
        for name, kind in self.kinds.items():
            self.variables[name] = self.variable(kind)
            self.w.store("i64", "0", self.variables[name].place)
        if self.returned is not UNKNOWN:
            self.result = self.variable(self.returned)

    def falls_off(self) -> bool:
        """Whether the end of the function may be reached without ``return``."""
        return not leaves(self._body) and not is_endless(self._body[-1])

    def inner(self, node: Any, own: set[str]) -> Frame:
        """The frame of a comprehension, which assigns to these names."""
        path = self.path, place_key(node)
        frame = Frame(self.program, self.function, self.program.inlined.setdefault(path, {}), path, self.w, self)
        frame.own, frame.is_comprehension, frame.around = own, True, self.around
        frame.is_repeated = True
        return frame

    def local_function(self, node: ast.FunctionDef | ast.Lambda) -> Typed:
        """A function that is defined in the one that is followed, with pointers to the variables that it uses."""
        local = self.program.local_functions.setdefault((self.path, id(node)), LocalFunction(node, self.function))
        local.owners = {}
        pointers: list[str] = []
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        own = names_assigned(body) | {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        for name in sorted(names_used(node) - own):
            if (owner := self.owner(name)) is not None:
                local.owners[name] = owner
                pointers.append(owner.known(name).place)
        local.pointers = len(pointers)
        return Typed(Closure(local), tuple(pointers))

    def lend(self, local: LocalFunction, pointers: Sequence[str]) -> None:
        """Use the variables of the functions around this one, to which there are pointers."""
        for (name, owner), pointer in zip(local.owners.items(), pointers, strict=True):
            while name in owner.lent:
                owner = owner.lent[name]
            self.variables[name] = Variable(owner.kinds.get(name, UNKNOWN), pointer)
            self.lent[name] = owner

    def constant(self, key: tuple[int, str], thing: Any) -> Typed:
        """What a name or an attribute outside of the function holds: a constant, or data that each call brings."""
        from .constants import constant_of, kind_of

        if key in self.program.data or key in self.program.reads.data:
            return self.data(key, kind_of(self.program, thing, key))
        return constant_of(self.program, thing)

    # --- source ---------------------------------------------------------------------------------------------

    def follow(self, statements: Sequence[ast.stmt]) -> bool:
        """Write statements.

        Returns:
            Whether what comes after them is never reached.

        Raises:
            NotTypedError: One does something that has no type, or that machine code cannot do.
        """
        for statement in statements:
            if self._written(statement) or isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
                return True
        return False

    def _written(self, statement: ast.stmt) -> bool:
        """Whether a statement that is written ends what it is in."""
        write = self.program.language.statements.get(type(statement))
        try:
            if write is None:
                raise NotTypedError(f"it has “{type(statement).__name__.lower()}”")
            return bool(write(self, statement))
        except NotTypedError as error:
            if not error.place and not is_library(self.function.__module__):
                error.place = f"line {statement.lineno}, in {self.function.__name__}"
            raise

    def evaluated(self, node: ast.expr) -> Typed:
        """What an expression computes.

        Raises:
            NotTypedError: It does something that has no type.
        """
        write = self.program.language.expressions.get(type(node))
        if write is None:
            text = ast.unparse(node)
            raise NotTypedError(f"it has {text if len(text) < 60 else text[:57] + '…'}")
        found: Typed = write(self, node)
        return found

    def call(self, node: Any, thing: Any, arguments: list[Typed], keywords: Mapping[str, Typed]) -> Typed:
        """A call of a function or a class in Python."""
        return self.program.language.call(self, node, thing, arguments, keywords)

    def call_closure(self, closure: Typed, arguments: list[Typed], keywords: Mapping[str, Typed]) -> Typed:
        """A call of a function in a function."""
        return self.program.language.call_closure(self, closure, arguments, keywords)

    def apply(self, node: Any, function: Typed, arguments: list[Typed], keywords: Mapping[str, Typed]) -> Typed:
        """A call of what a variable holds: a function or a class, or one of several."""
        return self.program.language.apply(self, node, function, arguments, keywords)

    def compare(self, operator: ast.cmpop, one: Typed, other: Typed) -> Typed:
        """A comparison."""
        return self.program.language.compare(self, operator, one, other)

    def store_at(self, target: ast.Subscript | ast.Attribute, value: Typed) -> None:
        """An assignment to an item or an attribute."""
        self.program.language.store_at(self, target, value)

    # --- variables ------------------------------------------------------------------------------------------

    def variable(self, kind: Type) -> Variable:
        """A new variable."""
        place = self.w.allocate("i64", 1 + len(kind.words))
        self.w.variables.append(f"store i64 0, ptr {place}, align 8")
        return Variable(kind, place)

    def assign(self, name: str, value: Typed) -> None:
        """Assign to a name of this frame."""
        if isinstance(value.kind, Iterated):
            if name not in self.once or self.loops:
                raise NotTypedError("an iterator is kept")
            self.iterators[name] = value
            return
        if name in self.expressions and value.terms:
            self.fixed[name] = value
            return
        value = self.settled(value)
        self.fixed.pop(name, None)
        if name in self.lent:
            owner = self.lent[name]
            owner.kinds[name] = join(owner.kinds.get(name, UNKNOWN), value.kind)
            if owner.kinds[name] == self.variables[name].kind:
                self.set(self.variables[name], value)
            return
        kind = self.kinds[name] = join(self.kinds.get(name, UNKNOWN), value.kind)
        known = self.variables.get(name)
        if known is None or known.kind != kind:
            known = self.variables[name] = self.variable(kind)
        self.set(known, value)

    def set(self, variable: Variable, value: Typed) -> None:
        """Assign to a variable."""
        parts = self.converted(value, variable.kind).parts
        for i, (word, part) in enumerate(zip(variable.kind.words, parts, strict=True), 1):
            self.w.store(word, part, self.w.at(variable.place, i))
        self.w.store("i64", "1", variable.place)

    def get(self, variable: Variable) -> Typed:
        """What a variable holds; without a value, the function itself raises."""
        self.w.bail_if(self.w.emit(f"icmp eq i64 {self.w.load('i64', variable.place)}, 0"))
        return self.load(variable.kind, self.w.at(variable.place, 1))

    def owner(self, name: str) -> Frame | None:
        """The frame whose variable a name is; None for a name outside of all of them."""
        frame: Frame | None = self
        while frame is not None and name not in frame.own and name not in frame.lent:
            frame = frame.outer
        return frame

    def read(self, name: str) -> Typed | None:
        """What a name of this frame, or of one around it, holds; None if it is none of theirs."""
        owner = self.owner(name)
        if owner is None:
            return None
        if name in owner.fixed:
            return owner.fixed[name]
        if name in owner.iterators:
            return self._gone_over(name)
        return self.get(owner.known(name))

    def _gone_over(self, name: str) -> Typed:
        """The iterator that a name of this frame holds. It is gone over once, and in no loop."""
        found = self.iterators.get(name)
        if found is not None and isinstance(found.kind, Iterated) and found.kind.is_view:
            return found
        if found is None or self.loops:
            raise NotTypedError("an iterator is gone over twice")
        self.iterators[name] = None
        return found

    def known(self, name: str) -> Variable:
        """The variable of a name of this frame."""
        if name not in self.variables:
            self.variables[name] = self.variable(self.kinds.get(name, UNKNOWN))
        return self.variables[name]

    # --- conversions ----------------------------------------------------------------------------------------

    def settled(self, value: Typed) -> Typed:
        """A value all of whose words are there."""
        if isinstance(value.kind, Iterated):
            raise NotTypedError("an iterator is kept")
        return self.math.node(value) if value.terms is not None else value

    def converted(self, value: Typed, kind: Type) -> Typed:
        """A value as one of another type, which it was joined to."""
        value = self.settled(value)
        if value.kind == kind:
            return value
        if value.kind is UNKNOWN:
            self.w.bail()
            return Typed(kind, ("poison",) * len(kind.words))
        if isinstance(kind, Optional):
            return self._optional(value, kind)
        if is_real(kind) and is_number(value.kind):
            real = self.math.real(value)
            return Typed(kind, (real.number,) if is_plain(kind) else self.math.node(real).parts)
        if kind in (INT, NUMPY_INT) and is_whole(value.kind):
            return Typed(kind, self.math.integer(value).parts)
        if kind is TRUTH and value.kind is BOOL:
            return Typed(kind, value.parts)
        if isinstance(kind, (Tuple, Row)) and type(value.kind) is type(kind):
            items = [self.converted(*pair) for pair in zip(split(value), kind.items, strict=True)]
            return Typed(kind, tuple(part for item in items for part in item.parts))
        if isinstance(kind, ListType) and isinstance(value.kind, ListType):
            join(kind, value.kind)
            return Typed(kind, value.parts)
        if isinstance(kind, Union):
            return self._one_of(value, kind)
        raise NotTypedError(f"{value.kind} meets {kind}")

    def _one_of(self, value: Typed, kind: Union) -> Typed:
        """One of several as one of more."""
        if not isinstance(value.kind, Union):
            if value.kind not in kind.options:
                raise NotTypedError(f"{value.kind} meets {kind}")
            which = kind.options.index(value.kind)
            return Typed(kind, (str(which), value.number if isinstance(value.kind, Instance) else "null"))
        which_now = "0"
        for i, option in enumerate(value.kind.options):
            is_it = self.w.emit(f"icmp eq i64 {value.number}, {i}")
            which_now = self.w.emit(f"select i1 {is_it}, i64 {kind.options.index(option)}, i64 {which_now}")
        return Typed(kind, (which_now, value.parts[1]))

    def _optional(self, value: Typed, kind: Optional) -> Typed:
        if value.kind is NONE:
            return Typed(kind, ("false", *("poison" for _ in kind.item.words)))
        if isinstance(value.kind, Optional):
            inner = Typed(value.kind.item, value.parts[1:])
            if inner.kind == kind.item:
                return Typed(kind, value.parts)
            if is_real(inner.kind) or isinstance(kind.item, Union):  # which is computed of nothing as well
                return Typed(kind, (value.parts[0], *self.converted(inner, kind.item).parts))
            raise NotTypedError(f"{value.kind} meets {kind}")
        return Typed(kind, ("true", *self.converted(value, kind.item).parts))

    def there(self, value: Typed) -> Typed:
        """What may be None, where it is wanted: the function itself raises if it is."""
        if value.kind is UNKNOWN:
            self.w.bail()
        if not isinstance(value.kind, Optional):
            return value
        self.w.bail_if(self.w.emit(f"xor i1 {value.parts[0]}, true"))
        return Typed(value.kind.item, value.parts[1:])

    # --- memory ---------------------------------------------------------------------------------------------

    def load(self, kind: Type, place: str) -> Typed:
        """A value in memory."""
        words = [self.w.load(word, self.w.at(place, i)) for i, word in enumerate(kind.words)]
        return Typed(kind, tuple(words))

    def store(self, value: Typed, kind: Type, place: str) -> None:
        """Store a value in memory."""
        if is_unkept(kind):
            raise NotTypedError("it stores a function in it")
        for i, (word, part) in enumerate(zip(kind.words, self.converted(value, kind).parts, strict=True)):
            self.w.store(word, part, self.w.at(place, i))

    def allocated(self, call: str) -> str:
        """Memory that a function of the runtime gives; without any, the call is made again with more."""
        place = self.w.emit(f"call ptr {call}")
        self.w.bail_if(self.w.emit(f"icmp eq ptr {place}, null"))
        return place

    def data(self, key: tuple[int, str], kind: Type) -> Typed:
        """Data outside of the function, which the entry has put into the context for this call."""
        known = self.program.data.get(key)
        if known is None:
            used = sum(len(one.words) for one, _ in self.program.data.values())
            known = self.program.data[key] = kind, len(CONTEXT) + used
        return self.load(known[0], self.w.at("%context", known[1]))

    def burn(self) -> None:
        """Before each iteration of a loop: one without an end is left to the function itself, which can be stopped."""
        self.w.bail_if(self.w.emit("call i1 @is_out_of_fuel(ptr %context)"))

    # --- results --------------------------------------------------------------------------------------------

    def give(self, value: Typed) -> None:
        """Return a value."""
        value = self.settled(value)
        if is_unkept(value.kind):
            raise NotTypedError("it returns a function in it")
        self.returned = join(self.returned, value.kind)
        if self.result is None or self.result.kind != self.returned:
            self.result = self.variable(self.returned)
        self.set(self.result, value)
        self.w.jump(self.end)


def split(value: Typed) -> list[Typed]:
    """The items of a tuple."""
    assert isinstance(value.kind, (Tuple, Row))
    if value.items is not None:
        return list(value.items)
    found, at = [], 0
    for item in value.kind.items:
        found.append(Typed(item, value.parts[at : at + len(item.words)]))
        at += len(item.words)
    return found
