"""Whether code may change a list, a dictionary or an array that it has not made itself, as its bytecode tells.

A function that changes a container and puts back what was there computes something else where two of its arguments are
one object, or where it captures one of them. A container that the function has made itself can be neither. So this
module follows the bytecode, and keeps of each object on the stack only who has made it (an abstract interpretation:
Cousot and Cousot, "Abstract Interpretation", 1977). An instruction that it does not know counts as a change.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .libraries import is_library

__all__ = ["Changes", "changes_of"]


class Changes(enum.IntEnum):
    """What code may change that it has not made."""

    NONE = 0
    ARRAYS = 1
    CONTAINERS = 2  #: also lists, dictionaries and the like


class _Made(enum.IntEnum):
    """Who has made something, and what is in it."""

    ELSEWHERE = 0
    HERE = 1  #: but it may hold what was not
    ALL_HERE = 2  #: and so was all that it holds
    NUMBER = 3  #: a number, or what holds numbers alone


class _Thing(NamedTuple):
    """Something on the stack: who made it, the variable that it was read from, and which function it is."""

    made: _Made = _Made.ELSEWHERE
    variable: str = ""
    name: str = ""
    is_method: bool = False


_NUMBER, _UNKNOWN = _Thing(_Made.NUMBER), _Thing()

#: Methods that change what they are methods of.
_CHANGING = frozenset(
    (
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update", "setdefault", "popitem"),
        *("add", "discard", "appendleft", "extendleft", "popleft", "rotate", "subtract", "move_to_end", "fill", "put"),
        *("difference_update", "intersection_update", "symmetric_difference_update", "partition", "resize", "itemset"),
        *("__setitem__", "__delitem__", "__iadd__", "__imul__", "__ior__", "fromlist", "frombytes", "byteswap"),
    )
)
#: Functions that change their first argument.
_CHANGERS = frozenset(
    (
        *("heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left", "insort_right"),
        *("shuffle", "setitem", "delitem", "iadd", "imul", "isub", "itruediv", "put", "place", "copyto", "at"),
        *("fill_diagonal", "putmask", "put_along_axis", "_heapify_max", "nan_to_num"),
    )
)
#: Functions of NumPy that may give what they were given, or a view of it.
_VIEWS = frozenset(
    (
        *("asarray", "asanyarray", "ravel", "reshape", "transpose", "squeeze", "broadcast_to", "moveaxis", "swapaxes"),
        *("atleast_1d", "atleast_2d", "split", "array_split", "expand_dims", "flip", "diagonal", "nditer", "flatiter"),
        *("ascontiguousarray", "require", "nan_to_num", "real", "rollaxis", "as_strided", "reduce", "accumulate"),
        *("imag", "atleast_3d", "hsplit", "vsplit", "dsplit", "rot90", "fliplr", "flipud", "broadcast_arrays"),
        *("unstack", "matrix_transpose", "permute_dims", "frombuffer", "asmatrix", "mode"),
    )
)
_CHANGES = _CHANGING | _CHANGERS
_STORES = {dis.opmap[name] for name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE") if name in dis.opmap}
_BINARY_OP = dis.opmap["BINARY_OP"]
_IN_PLACE = frozenset(range(13, 26))  # what BINARY_OP does there
#: Before the names of functions of libraries of numbers, of methods of a class, and those of keywords.
_LIBRARYS, _CLASS, _KEYWORDS = "library.", "class.", "keywords."
#: Libraries whose functions give numbers, or arrays of their own.
_OF_LIBRARIES = frozenset({"numpy", "math", "cmath", "statistics", "scipy", "retrograd"})
#: What finds a method by a text.
_FINDS_METHODS = frozenset({"getattr", "methodcaller"})
_OF_NUMBERS = frozenset({"abs", "len", "sum", "round", "pow", "divmod", "any", "all", "isinstance", "ord", "hash"})
#: After these, the next instruction is not the one that follows; these take something and give nothing.
_LEAVES = ("RETURN_", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
_TAKE_ALONE = ("POP_", "NOP", "RESUME", "JUMP", "CACHE", "COPY_FREE_VARS", "MAKE_CELL", "END_FOR", "NOT_TAKEN")
_UNCHECKED = frozenset({"PRECALL", "CALL", "CALL_KW", "RETURN_GENERATOR"})  # whose effects Python gives otherwise
#: In which order a function and the NULL beside it are loaded.
_NULL_COMES_LAST = sys.version_info >= (3, 13)
_MOST_RUNS = 50
_NUMBERS = (int, float, bool, str, range, complex, bytes)
_COPIES = frozenset({"copy", "deepcopy", "tolist", "flatten", "astype"})
#: Methods that put nothing into what they are given.
_HARMLESS = _CHANGING | _COPIES | {"get", "items", "values", "keys", "index", "count", "dot", "sum", "join", "format"}


def changes_of(function: types.FunctionType) -> Changes:
    """What a function may change that it has not made, or code in it."""
    codes = [*_with_inner(function.__code__)]
    if not any(map(_may_change, codes)):
        return Changes.NONE
    if any(not _FINDS_METHODS.isdisjoint(code.co_names) and not _CHANGES.isdisjoint(_texts(code)) for code in codes):
        return Changes.CONTAINERS
    return _changes(function.__code__, tuple(_kinds(function.__globals__, codes)))


def _kinds(namespace: Mapping[str, Any], codes: Iterable[types.CodeType]) -> Iterator[tuple[str, str]]:
    """Each global name that the code reads, or attribute of a module, with the kind of thing that it stands for."""
    names = sorted({name for code in codes for name in code.co_names})
    for name in names:
        thing = namespace.get(name, getattr(builtins, name, None))
        if kind := _kind(thing):
            yield name, kind
        if kind == "module":
            inside = ((f"{name}.{attribute}", _kind(vars(thing).get(attribute))) for attribute in names)
            yield from (found for found in inside if found[1])


def _texts(code: types.CodeType) -> list[str]:
    return [one for one in code.co_consts if type(one) is str]


def _may_change(code: types.CodeType) -> bool:
    """Whether code has any instruction or name that may change a container: a quick look before the slow one."""
    if not _CHANGES.isdisjoint((*code.co_names, *_texts(code))) or "out" in str(code.co_consts):
        return True
    pairs = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    return any(kind in _STORES or (kind == _BINARY_OP and operator in _IN_PLACE) for kind, operator in pairs)


def _with_inner(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _with_inner(constant)


def _kind(thing: Any) -> str:
    """What calls of something give: numbers, something that is made then, or "" where that is not known."""
    if isinstance(thing, types.ModuleType):
        of_numbers = thing.__name__.partition(".")[0] in _OF_LIBRARIES
        return "library" if of_numbers else "module" if is_library(thing.__name__) else ""
    if thing is memoryview:
        return ""
    if isinstance(thing, type):
        return "numbers" if issubclass(thing, _NUMBERS) else "made" if is_library(thing.__module__) else "object"
    module = getattr(thing, "__module__", None)
    if module == "math" or (type(module) is str and module.startswith("retrograd.math")):
        return "numbers"
    if module == "builtins" and getattr(thing, "__name__", "") in _OF_NUMBERS:
        return "numbers"
    return "made" if thing is sorted else ""


@functools.lru_cache(maxsize=1024)
def _changes(code: types.CodeType, kinds: tuple[tuple[str, str], ...]) -> Changes:
    try:
        return max(_Run(one, dict(kinds)).changes() for one in _with_inner(code) if not _is_comprehension(one))
    except (LookupError, ValueError, TypeError, AttributeError):
        return Changes.CONTAINERS


def _is_comprehension(code: types.CodeType) -> bool:
    """Whether it is run where it is made (before Python 3.12), and looked at there."""
    return code.co_name in ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


class _Run:
    """Follows the bytecode of one code object, and keeps who has made each object on the stack and in variables."""

    def __init__(self, code: types.CodeType, kinds: Mapping[str, str], outside: Mapping[str, _Made] | None = None):
        self._code, self._kinds = code, kinds
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        given = dict.fromkeys((*code.co_varnames[:count], *code.co_freevars), _Made.ELSEWHERE)
        self._variables: dict[str, _Made] = {**given, **(outside or {})}
        self._shared = _assigned_inside(code)
        self._found = Changes.NONE
        self._stack: list[_Thing] = []
        self._linked: dict[str, frozenset[str]] = {}  # the variables that may hold one container, or one in the other
        self._waiting: dict[int, list[_Thing]] = {}  # the stacks at the ends of jumps
        #: Where exceptions go, how much of the stack is left there, and how much is put on it.
        self._handlers: dict[int, list[tuple[int, int, int]]] = {}
        for entry in dis.Bytecode(code).exception_entries:  # type: ignore[attr-defined]
            self._handlers.setdefault(entry.start, []).append((entry.target, entry.depth, 1 + entry.lasti))
        self._given: _Made = _Made.NUMBER  # what a comprehension has collected, or a generator has yielded
        self._keywords: tuple[str, ...] = ()

    def changes(self) -> Changes:
        """What the code may change."""
        instructions = [*dis.get_instructions(self._code)]
        for _ in range(_MOST_RUNS):  # until nothing more turns out to hold what was made elsewhere
            before = dict(self._variables), dict(self._waiting), dict(self._linked)
            self._run_through(instructions)
            if before == (self._variables, self._waiting, self._linked):
                return self._found
        raise ValueError("the code is not understood")

    @property
    def given(self) -> _Made:
        """What a comprehension holds."""
        return self._given

    # --- one instruction after the other

    def _run_through(self, instructions: list[dis.Instruction]) -> None:
        self._stack, runs_on = [], True
        for now in instructions:
            if now.offset in self._waiting:
                arriving = self._waiting[now.offset]
                self._stack, runs_on = _joined(self._stack, arriving) if runs_on else [*arriving], True
            if not runs_on:
                continue
            for target, depth, more in self._handlers.get(now.offset, ()):
                self._arrives(target, [*self._stack[:depth], *[_UNKNOWN] * more])
            if now.opcode in dis.hasjrel or now.opcode in dis.hasjabs:
                effect = dis.stack_effect(now.opcode, _argument(now), jump=True)
                self._arrives(now.argval, [*self._stack[: len(self._stack) + min(effect, 0)], *[_UNKNOWN] * effect])
            before = len(self._stack)
            self._step(now)
            runs_on = not now.opname.startswith(_LEAVES) or now.opname == "RETURN_GENERATOR"
            if runs_on and now.opname not in _UNCHECKED and len(self._stack) - before != _effect(now):
                raise ValueError(f"{now.opname} is not understood")

    def _arrives(self, at: int, stack: list[_Thing]) -> None:
        """The code goes on elsewhere with this stack."""
        self._waiting[at] = _joined(self._waiting[at], stack) if at in self._waiting else stack

    def _step(self, now: dis.Instruction) -> None:
        act: Callable[[dis.Instruction], None] | None = getattr(self, f"_{now.opname.lower()}", None)
        if act is not None:
            act(now)
            return
        name = now.opname
        if name.startswith("LOAD_FAST") or name in ("LOAD_DEREF", "LOAD_CLOSURE", "LOAD_NAME", "LOAD_CLASSDEREF"):
            for variable in now.argval if type(now.argval) is tuple else (now.argval,):
                self._load(variable)
        elif name in ("STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL"):
            self._assign(now.argval, self._pop())
        elif name in ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST"):  # since Python 3.13
            self._assign(now.argval[0], self._pop())
            if name.endswith("_STORE_FAST"):
                self._assign(now.argval[1], self._pop())
            else:
                self._load(now.argval[1])
        elif name.startswith("STORE_"):
            raise ValueError(f"{name} is not understood")
        else:
            self._other(now)

    def _other(self, now: dis.Instruction) -> None:
        """An instruction of which only is known how many objects it takes from the stack and puts there."""
        effect = _effect(now)
        if effect < 0:
            del self._stack[effect:]
        self._stack.extend([_UNKNOWN] * effect)
        if effect <= 0 and self._stack and not now.opname.startswith(_TAKE_ALONE):
            self._stack[-1] = _UNKNOWN

    def _pop(self) -> _Thing:
        return self._stack.pop() if self._stack else _UNKNOWN

    def _pops(self, count: int) -> list[_Thing]:
        return [self._pop() for _ in range(count)][::-1]

    def _push(self, made: _Made, variable: str = "") -> None:
        self._stack.append(_Thing(made, variable))

    def _load(self, variable: str) -> None:
        self._stack.append(_Thing(self._variables.get(variable, _Made.NUMBER), variable))

    def _assign(self, variable: str, thing: _Thing) -> None:
        made = _Made.ELSEWHERE if variable in self._shared else thing.made
        self._variables[variable] = min(self._variables.get(variable, _Made.NUMBER), made)
        self._link([thing, _Thing(made, variable)])

    def _link(self, things: Iterable[_Thing]) -> str:
        """What one of some containers holds, the others hold from now on; the variable of one of them."""
        names = [thing.variable for thing in things if thing.variable and _Made.ELSEWHERE < thing.made < _Made.NUMBER]
        together = frozenset(names).union(*(self._linked.get(name, ()) for name in names))
        if len(together) > 1:
            self._linked.update(dict.fromkeys(together, together))
        return names[0] if names else ""

    def _takes(self, container: _Thing, thing: _Thing) -> None:
        """A container that is made here holds something from now on."""
        self._link([container, thing])
        if container.variable and thing.made < _Made.ALL_HERE and container.made is not _Made.NUMBER:
            for name in self._linked.get(container.variable, (container.variable,)):
                self._variables[name] = min(self._variables.get(name, _Made.NUMBER), _Made.HERE)

    def _changed(self, container: _Thing, what: Changes = Changes.CONTAINERS) -> None:
        if container.made is _Made.ELSEWHERE:
            self._found = max(self._found, what)

    # --- what is made, read and written

    def _load_const(self, now: dis.Instruction) -> None:
        constant, name = now.argval, ""
        if isinstance(constant, types.CodeType):
            name = f"{id(constant)}"
        elif type(constant) is tuple and constant and all(type(one) is str for one in constant):
            name = _KEYWORDS + " ".join(constant)  # since Python 3.13
        self._stack.append(_Thing(_Made.NUMBER, name=name))

    _load_small_int = _load_const  # Python 3.14

    def _load_global(self, now: dis.Instruction) -> None:
        with_null = _effect(now) == 2
        thing = _Thing(_Made.NUMBER if now.argval in self._kinds else _Made.ELSEWHERE, name=now.argval)
        null = [_NUMBER] if with_null else []
        self._stack.extend([thing, *null] if _NULL_COMES_LAST else [*null, thing])

    def _load_attr(self, now: dis.Instruction) -> None:
        thing = self._pop()
        is_method = _effect(now) == 1
        if (name := self._of_named(thing, now.argval)) is not None:
            found = _Thing(_Made.NUMBER if name in self._kinds else _Made.ELSEWHERE, name=name)
            self._stack.extend([found, _NUMBER] if is_method else [found])
            return
        if now.argval in _CHANGING and not is_method:
            self._changed(thing)
            self._takes(thing, _UNKNOWN)
        part = _Thing(_part(thing.made), thing.variable, now.argval if is_method else "", is_method)
        self._stack.extend([part, thing] if is_method else [part])

    def _of_named(self, thing: _Thing, attribute: str) -> str | None:
        """The name of what a module or a class has; None of anything else."""
        kind = self._kinds.get(thing.name) if not thing.is_method else None
        if kind == "library" or thing.name.startswith(_LIBRARYS):  # np.add.at
            return _LIBRARYS + attribute
        if kind == "module":
            return f"{thing.name}.{attribute}"
        return _CLASS + attribute if kind in ("made", "object", "numbers") else None

    _load_method = _load_attr

    def _binary_subscr(self, now: dis.Instruction) -> None:
        container, _ = self._pops(2)
        self._push(_part(container.made), container.variable)

    def _binary_slice(self, now: dis.Instruction) -> None:
        container, *_ = self._pops(3)
        self._push(_part(container.made), container.variable)

    def _for_iter(self, now: dis.Instruction) -> None:
        iterated = self._stack[-1]
        self._push(_part(iterated.made), iterated.variable)

    def _get_iter(self, now: dis.Instruction) -> None:
        pass

    def _unpack_sequence(self, now: dis.Instruction) -> None:
        thing = self._pop()
        self._stack.extend([_Thing(_part(thing.made), thing.variable)] * now.argval)

    def _store_subscr(self, now: dis.Instruction) -> None:
        value, container, _ = self._pops(3)
        self._changed(container)
        self._takes(container, value)

    def _delete_subscr(self, now: dis.Instruction) -> None:
        self._changed(self._pops(2)[0])

    def _store_slice(self, now: dis.Instruction) -> None:
        value, container, *_ = self._pops(4)
        self._changed(container)
        self._takes(container, value)

    def _store_attr(self, now: dis.Instruction) -> None:
        value, thing = self._pops(2)
        self._takes(thing, value)

    def _build_list(self, now: dis.Instruction) -> None:
        self._make(now.argval)

    _build_set = _build_list

    def _build_map(self, now: dis.Instruction) -> None:
        self._make(2 * now.argval)

    def _build_const_key_map(self, now: dis.Instruction) -> None:
        self._make(now.argval + 1)

    def _make(self, count: int) -> None:
        things = self._pops(count)
        made = min((thing.made for thing in things), default=_Made.NUMBER)
        self._push(_holding(made), self._link(things))

    def _build_tuple(self, now: dis.Instruction) -> None:
        things = self._pops(now.argval)
        made = min((thing.made for thing in things), default=_Made.NUMBER)
        self._push(_Made.NUMBER if made is _Made.NUMBER else _holding(made), self._link(things))

    def _list_append(self, now: dis.Instruction) -> None:
        self._collect(now.argval, self._pop())

    _set_add = _list_extend = _set_update = _dict_update = _dict_merge = _list_append

    def _map_add(self, now: dis.Instruction) -> None:
        self._collect(now.argval, min(self._pops(2)))

    def _collect(self, depth: int, thing: _Thing) -> None:
        if len(self._stack) >= depth:
            container = self._stack[-depth]
            self._stack[-depth] = _Thing(min(container.made, _holding(thing.made)), self._link([container, thing]))

    def _return_generator(self, now: dis.Instruction) -> None:
        self._push(_Made.NUMBER)

    def _yield_value(self, now: dis.Instruction) -> None:
        self._given = min(self._given, self._pop().made)
        self._stack.append(_NUMBER)

    def _return_value(self, now: dis.Instruction) -> None:
        self._given = min(self._given, self._pop().made)

    def _copy(self, now: dis.Instruction) -> None:
        self._stack.append(self._stack[-now.argval] if len(self._stack) >= now.argval else _UNKNOWN)

    def _swap(self, now: dis.Instruction) -> None:
        if len(self._stack) < now.argval:
            raise ValueError("SWAP")
        self._stack[-1], self._stack[-now.argval] = self._stack[-now.argval], self._stack[-1]

    # --- what is computed

    def _compare_op(self, now: dis.Instruction) -> None:
        self._pops(2)
        self._push(_Made.NUMBER)

    _is_op = _contains_op = _compare_op

    def _unary_negative(self, now: dis.Instruction) -> None:
        self._pop()
        self._push(_Made.NUMBER)

    _unary_positive = _unary_invert = _unary_not = _unary_negative

    def _format_value(self, now: dis.Instruction) -> None:
        self._pops(1 - _effect(now))
        self._push(_Made.NUMBER)

    def _build_string(self, now: dis.Instruction) -> None:
        self._pops(now.argval)
        self._push(_Made.NUMBER)

    def _build_slice(self, now: dis.Instruction) -> None:
        self._pops(now.argval)
        self._push(_Made.NUMBER)

    def _binary_op(self, now: dis.Instruction) -> None:
        if now.argrepr == "[]":
            self._binary_subscr(now)
            return
        one, other = self._pops(2)
        if now.argrepr.endswith("="):
            may_be_set = now.argrepr in ("|=", "&=", "^=") and other.made is not _Made.NUMBER
            self._changed(one, Changes.CONTAINERS if may_be_set else Changes.ARRAYS)
            self._takes(one, other)
        stays = now.argrepr.endswith("=") and one.made is _Made.ELSEWHERE
        made = _Made.ELSEWHERE if stays else _combined(now.argrepr.rstrip("="), one.made, other.made)
        self._push(made, self._link([one, other]))

    # --- what is called

    def _make_function(self, now: dis.Instruction) -> None:
        code = self._pop()
        self._pops(-_effect(now))
        self._stack.append(_Thing(name=code.name))

    def _kw_names(self, now: dis.Instruction) -> None:
        self._keywords = self._code.co_consts[now.arg or 0]

    def _precall(self, now: dis.Instruction) -> None:
        """Before Python 3.12, half of a call."""

    def _push_null(self, now: dis.Instruction) -> None:
        self._push(_Made.NUMBER)

    def _call(self, now: dis.Instruction) -> None:
        arguments = self._pops(now.argval)
        first, second = self._pops(2)
        callee, own = (first, second) if first.is_method or not second.name else (second, first)
        self._push(self._called(callee, own, arguments), self._link([own, *arguments]))
        self._keywords = ()

    def _call_kw(self, now: dis.Instruction) -> None:
        self._keywords = tuple(self._pop().name.removeprefix(_KEYWORDS).split())
        self._call(now)

    def _called(self, callee: _Thing, own: _Thing, arguments: list[_Thing]) -> _Made:
        """Who has made what a call gives."""
        made = min((thing.made for thing in arguments), default=_Made.NUMBER)
        kind = self._kind_of(callee)
        if "out" in self._keywords and made is _Made.ELSEWHERE:
            self._found = max(self._found, Changes.ARRAYS)
        if any(map(_changes_first, arguments)):  # of map(), say
            self._found = Changes.CONTAINERS
        if _changes_first(callee) and arguments:
            self._changed(arguments[0])
            self._takes(arguments[0], _Thing(made))
        is_harmless = callee.name in _HARMLESS if callee.is_method else kind not in ("", "object")
        for one in arguments:  # to which the call may add what it was given, or knows
            self._takes(one, _NUMBER if is_harmless else _UNKNOWN)
        name = callee.name.rpartition(".")[2]
        if callee.is_method:
            return self._method(callee, own, made)
        if kind == "made" or name in _COPIES:
            return _holding(made)
        if (name == "sum" and len(arguments) > 1) or "copy" in self._keywords:  # of lists; np.array(a, copy=False)
            return made
        if kind == "numbers" or (kind == "library" and name not in _VIEWS):
            return _Made.NUMBER
        if kind == "object":
            return _Made.HERE
        if kind == "comprehension":
            return self._comprehension(callee.name, own if not arguments else arguments[0])
        return _Made.ELSEWHERE if kind == "" else made

    def _kind_of(self, callee: _Thing) -> str:
        if callee.name in self._kinds:
            return self._kinds[callee.name]
        if callee.name.startswith(_LIBRARYS):
            return "library"
        return "comprehension" if self._inner(callee.name) is not None else ""

    def _inner(self, name: str) -> types.CodeType | None:
        found = (one for one in self._code.co_consts if isinstance(one, types.CodeType) and f"{id(one)}" == name)
        return next((one for one in found if _is_comprehension(one)), None)

    def _comprehension(self, name: str, iterated: _Thing) -> _Made:
        code = self._inner(name)
        assert code is not None
        outside = {variable: self._variables.get(variable, _Made.NUMBER) for variable in code.co_freevars}
        run = _Run(code, self._kinds, {**outside, ".0": iterated.made})
        self._found = max(self._found, run.changes())
        for variable in code.co_freevars:  # of which the comprehension may have found that they hold something
            self._variables[variable] = min(run._variables[variable], outside[variable])
        return _holding(run.given) if code.co_name == "<genexpr>" else run.given

    def _method(self, callee: _Thing, own: _Thing, made: _Made) -> _Made:
        if callee.name in _CHANGING:
            self._changed(own)
            self._takes(own, _Thing(made))
        if callee.name in _COPIES:
            return _holding(min(own.made, made))
        return own.made if own.made is _Made.NUMBER else _Made.ELSEWHERE if own.made < _Made.ALL_HERE else own.made


def _changes_first(function: _Thing) -> bool:
    """Whether a function changes its first argument: ``heappush``, ``list.append``."""
    name = function.name.rpartition(".")[2]
    return not function.is_method and name in (_CHANGES if function.name.startswith(_CLASS) else _CHANGERS)


def _joined(one: list[_Thing], other: list[_Thing]) -> list[_Thing]:
    """What is known where two ways meet."""
    if len(one) != len(other):
        raise ValueError("the stack is not understood")
    return [
        a if a == b else _Thing(min(a.made, b.made), a.variable if a.variable == b.variable else "")
        for a, b in zip(one, other, strict=True)
    ]


def _part(made: _Made) -> _Made:
    return _Made.ELSEWHERE if made is _Made.HERE else made


def _holding(made: _Made) -> _Made:
    """A container that is made here and holds such things."""
    return _Made.ALL_HERE if made >= _Made.ALL_HERE else _Made.HERE


def _combined(operator: str, one: _Made, other: _Made) -> _Made:
    """What an operator gives: a number or an array, unless one of the two is a list that is made here."""
    if operator not in ("+", "*", "|") or {one, other}.isdisjoint({_Made.HERE, _Made.ALL_HERE}):
        return _Made.NUMBER
    return _holding(min(one, other))


def _effect(now: dis.Instruction) -> int:
    """By how much an instruction makes the stack longer, where it does not jump."""
    return dis.stack_effect(now.opcode, _argument(now), jump=False)


def _argument(now: dis.Instruction) -> int | None:
    return now.arg if now.opcode >= dis.HAVE_ARGUMENT else None


def _assigned_inside(code: types.CodeType) -> frozenset[str]:
    """Variables of its own that a function in it assigns."""
    return frozenset(
        now.argval
        for constant in code.co_consts
        if isinstance(constant, types.CodeType)
        for one in _with_inner(constant)
        if one.co_freevars
        for now in dis.get_instructions(one)
        if now.opname == "STORE_DEREF" and now.argval in one.co_freevars
    )
