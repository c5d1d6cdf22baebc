"""What code says of what it does and reads, as far as its bytecode tells."""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import itertools
import os
import re
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ... import engine
from .reach.contents import contents_of_cell

__all__ = [
    "ANY_ATTRIBUTE",
    "IDENTITY",
    "MATCH_CLASS",
    "NUMBERS",
    "TALKS",
    "TYPES",
    "are_numbers",
    "asked_for",
    "asks_for_layout",
    "asks_for_numbers",
    "asks_unheard",
    "asks_what_it_is",
    "assigned",
    "catches_exceptions",
    "catches_missing",
    "changed_attributes",
    "codes_of",
    "compares_dtypes",
    "compares_objects",
    "compares_types",
    "compares_variables",
    "global_names",
    "handed_on",
    "is_of_dataclass",
    "line_that_changes",
    "looks_inside",
    "method_that_is_asked_for",
    "named_in_texts",
    "reached_by_name",
    "tests_identity",
    "tests_none",
    "tests_truth",
]

#: Classes of which there are stand-ins in a trace.
NUMBERS = frozenset({"float", "int", "bool", "Index"})
#: Functions that tell which object something is, or by which it is found again.
IDENTITY = frozenset({"id", "hash", "is_", "is_not"})
#: What reads and writes; only where the function's own code calls it can that be heard.
TALKS = frozenset({print, input, open})
#: What numbers that are traced have, and floats have not.
_METHODS_OF_VALUES = frozenset(engine.functions)
#: What asks for attributes by their names; and what gives all there are.
_ASK = frozenset({"getattr", "hasattr", "attrgetter"})
_GIVE_ALL = frozenset({"vars", "dir", "__dict__"})
_ANY_ERROR = frozenset({"Exception", "BaseException"})
_STORE_GLOBAL = dis.opmap["STORE_GLOBAL"]
_STORES = frozenset({"STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF", "STORE_NAME"})
_IDENTIFIER = re.compile(r"\w+")


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code, and the code of functions and classes in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def line_that_changes(codes: Iterable[types.CodeType], path: str) -> str:
    """The line at which code changes a place, as far as it can be told: an assignment, or a use; "" if none does."""
    words = [word for word in _IDENTIFIER.findall(path) if not word.isdigit()]
    lines = {False: "", True: ""}
    for code in codes:
        line = code.co_firstlineno
        for now in dis.get_instructions(code):
            line = now.starts_line if type(now.starts_line) is int else getattr(now, "line_number", None) or line
            if now.argval in words[-1:]:
                stores = now.opname in _STORES
                lines[stores] = lines[stores] or f"{code.co_filename}:{line}, in {code.co_name},"
    return lines[True] or lines[False]


def assigned(code: types.CodeType) -> set[str]:
    """The global variables that code assigns."""
    found = [one for one in codes_of(code) if _STORE_GLOBAL in one.co_code[::2]]  # reading instructions takes long
    return {now.argval for one in found for now in dis.get_instructions(one) if now.opcode == _STORE_GLOBAL}


@functools.lru_cache(maxsize=1024)
def global_names(code: types.CodeType) -> frozenset[str]:
    """The names that code reads or assigns as global variables, or imports; others in ``co_names`` are attributes'."""
    found: set[str] = set()
    rest, instructions = 0, code.co_code  # reading them by ``dis`` takes long
    for at in range(0, len(instructions), 2):
        kind, argument = instructions[at], instructions[at + 1] | rest
        rest = argument << 8 if kind == _EXTENDED else 0
        if kind in _OF_GLOBALS:
            found.add(code.co_names[argument >> _OF_GLOBALS[kind]])
    return frozenset(found)


#: Instructions on global variables, and by how much the number of the name is shifted.
_OF_GLOBALS = {
    dis.opmap[name]: int(name == "LOAD_GLOBAL")
    for name in (
        *("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL", "DELETE_NAME", "IMPORT_NAME"),
        *(name for name in ("LOAD_FROM_DICT_OR_GLOBALS",) if name in dis.opmap),
    )
}
_EXTENDED = dis.EXTENDED_ARG


def handed_on(code: types.CodeType) -> list[str]:
    """What reads and writes, where code does not call it itself, as in ``map(print, xs)``."""
    names = {talks.__name__ for talks in TALKS}.intersection(code.co_names)
    loads = [now for now in dis.get_instructions(code) if now.argval in names] if names else []
    called = 1  # the bit of LOAD_GLOBAL that makes room for a call
    return [now.argval for now in loads if now.opname == "LOAD_GLOBAL" and not (now.arg or 0) & called]


def asks_unheard(code: types.CodeType) -> str:
    """What code asks by a text, which no call shows: what the time is; or ""."""
    asks = "datetime64" in code.co_names and not {"now", "today"}.isdisjoint(code.co_consts)
    return "what the time is, with datetime64()" if asks else ""


def asks_for_layout(code: types.CodeType) -> bool:
    """Whether code may ask how an array lies in memory."""
    if not _OF_LAYOUT.isdisjoint((*code.co_names, *(one for one in code.co_consts if type(one) is str))):
        return True
    if not {"A", "K"}.isdisjoint(code.co_consts) and not _TAKES_ORDER.isdisjoint(code.co_names):
        return True
    names = [now.argval for now in dis.get_instructions(code)] if "strides" in code.co_names else []
    return any(name == "strides" and before != "self" for before, name in itertools.pairwise(names))


_TAKES_ORDER = frozenset({"ravel", "flatten", "reshape", "copy"})
#: Names of what tells where an array lies, and where its elements do; ``strides`` is also users'.
_OF_LAYOUT = frozenset(
    {"nditer", "as_strided", "isfortran", "shares_memory", "may_share_memory", "byte_bounds", "__array_interface__"}
    | {"c_contiguous", "f_contiguous", "owndata", "C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA"}
)


@functools.lru_cache(maxsize=512)
def compares_dtypes(code: types.CodeType) -> bool:
    """Whether code asks what the items of an array are that it has made, or was given: not whether they are objects."""
    if "dtype" not in code.co_names:
        return False
    found = [now for now in dis.get_instructions(code) if now.opname not in ("CACHE", "PRECALL", "PUSH_NULL")]
    for at, (before, now) in enumerate(itertools.pairwise(found), 2):
        if now.opname == "LOAD_ATTR" and now.argval == "dtype" and before.opname.startswith(("LOAD_FAST", "CALL")):
            after = found[at : at + 3]
            is_of_objects = any(one.argval == "object" for one in after)
            compares = any(one.opname in _COMPARES for one in after) and not is_of_objects
            if compares or "issubdtype" in code.co_names or after[0].opname in _READS:  # .kind
                return True
    return False


_COMPARES = frozenset({"COMPARE_OP", "IS_OP", "CONTAINS_OP"})
_READS = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


def changed_attributes(code: types.CodeType) -> set[str]:
    """The names of attributes that code may change, and of what may change any; not of an object that is being made."""
    if code.co_name == "__init__" and code.co_filename == "<string>":  # by @dataclass
        return set()
    found = set(ANY_ATTRIBUTE.intersection(code.co_names))
    if not _CHANGES.isdisjoint(code.co_code[::2]):
        new = code.co_varnames[:1] if code.co_name in ("__init__", "__post_init__") else ()
        for before, now in itertools.pairwise(dis.get_instructions(code)):
            loaded = before.argval[-1:] if type(before.argval) is tuple else (before.argval,)
            if now.opcode in _CHANGES and loaded != new:
                found.add(now.argval)
    return found


#: What may change an attribute of any name.
ANY_ATTRIBUTE = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "__dict__", "vars"})
_CHANGES = frozenset({dis.opmap["STORE_ATTR"], dis.opmap["DELETE_ATTR"]})


def named_in_texts(code: types.CodeType) -> set[str]:
    """The attributes that code reads where it formats a text: of ``"{0.mode}".format(…)``."""
    if {"format", "format_map", "Formatter"}.isdisjoint(code.co_names):
        return set()
    return {name for one in code.co_consts if type(one) is str for name in _ATTRIBUTE_IN_TEXT.findall(one)}


_ATTRIBUTE_IN_TEXT = re.compile(r"\.(\w+)")

#: The methods that ``@dataclass`` writes and that ask for something, and a part of a name in the code of each.
_IN_DATACLASS = {
    **dict.fromkeys(("__eq__", "__lt__", "__le__", "__gt__", "__ge__"), "__class__"),
    **dict.fromkeys(("__setattr__", "__delattr__"), "FrozenInstanceError"),
    "__hash__": "hash",
    "__init__": "HAS_DEFAULT_FACTORY",
    "__repr__": "__qualname__",
}


def is_of_dataclass(code: types.CodeType) -> bool:
    """Whether ``@dataclass`` wrote a method.

    It may ask for the class of a dataclass, or which arguments are missing: that is the same for a Value and a number.
    """
    name = _IN_DATACLASS.get(code.co_name) if code.co_filename == "<string>" else None
    return name is not None and any(name in one for one in (*code.co_names, *code.co_freevars))


@functools.lru_cache(maxsize=512)
def tests_identity(code: types.CodeType) -> bool:
    """Whether code, or code in it, has an ``x is y`` in which y is not None or another constant that no number is."""
    for one in codes_of(code):
        before = None
        for now in dis.get_instructions(one) if _IS_OP in one.co_code[::2] else ():
            if (
                now.opname == "IS_OP"
                and before
                and (before.opname != "LOAD_CONST" or type(before.argval) in (bool, int))
            ):
                return True
            before = now
    return False


def compares_objects(function: types.FunctionType) -> bool:
    """Whether a function asks of numbers or containers which object they are: not ``state is State.OPEN``."""
    for code in codes_of(function.__code__):
        instructions = [*dis.get_instructions(code)] if _IS_OP in code.co_code[::2] else []
        for place, now in enumerate(instructions):
            if now.opname == "IS_OP" and not _is_of_its_own(instructions[:place], function):
                return True
    return False


@functools.lru_cache(maxsize=512)
def compares_variables(code: types.CodeType) -> bool:
    """Whether code, or code in it, asks which objects variables hold that may be numbers: no part of them is read."""
    for one in codes_of(code):
        if _IS_OP not in one.co_code[::2] and "id" not in one.co_names:
            continue
        found = [now for now in dis.get_instructions(one) if now.opname not in ("CACHE", "PRECALL", "PUSH_NULL")]
        asked, parted = list[tuple[str, ...]](), set[str]()
        for first, second, now in zip(found, found[1:], found[2:], strict=False):
            if now.opname == "IS_OP":
                last = _loaded(second)
                both = last if len(last) > 1 else (*_loaded(first)[-1:], *last)
                asked += [both] if len(both) > 1 else []
            elif now.opname == "BINARY_SUBSCR" or now.argrepr == "[]":
                parted.update(_loaded(first)[-1:] or _loaded(second)[:1])
            elif now.opname.startswith(_PARTS):
                parted.update(_loaded(second)[-1:])
            elif second.argval == "id" and second.opname == "LOAD_GLOBAL":
                asked.append(_loaded(now))
        if any(variables and parted.isdisjoint(variables) for variables in asked):
            return True
    return False


def _loaded(instruction: dis.Instruction) -> tuple[str, ...]:
    """The variables that an instruction loads, of the function or of one around it."""
    if not instruction.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
        return ()
    return instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)


#: What reads a part of what was loaded last, or calls a method of it.
_PARTS = ("LOAD_ATTR", "LOAD_METHOD", "GET_ITER", "UNPACK", "STORE_ATTR")


def _is_of_its_own(before: Sequence[dis.Instruction], function: types.FunctionType) -> bool:
    """Whether what code has loaded last is None, or a variable that holds what no number or container can be."""
    last = before[-1]
    if last.opname == "LOAD_CONST":
        return type(last.argval) not in (bool, int)
    name, attribute = last.argval, ""
    if last.opname == "LOAD_ATTR" and len(before) > 1:
        name, attribute = before[-2].argval, last.argval
    thing = _variable(function, name) if before[-2 if attribute else -1].opname in _VARIABLES else None
    if attribute:
        return isinstance(thing, enum.EnumMeta) and attribute in thing.__members__
    return isinstance(thing, _OF_THEIR_OWN) or type(thing) is object


def _variable(function: types.FunctionType, name: str) -> Any:
    """What a global variable holds, or one of the closure; None if there is none."""
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        return next(iter(contents_of_cell(cell)), None)
    return function.__globals__.get(name, getattr(builtins, name, None))


#: What no number and no container is.
_OF_THEIR_OWN = (enum.Enum, type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
#: What loads a variable of the function's module, or of its closure.
_VARIABLES = frozenset({"LOAD_GLOBAL", "LOAD_DEREF"})
_IS_OP = dis.opmap["IS_OP"]


@functools.lru_cache(maxsize=512)
def tests_truth(code: types.CodeType) -> bool:
    """Whether code, or code in it, asks whether something is True itself, or False: ``case True`` does, too."""
    for one in codes_of(code):
        found = [*dis.get_instructions(one)] if _IS_OP in one.co_code[::2] else []
        for at, now in enumerate(found):
            if now.opname == "IS_OP" and any(type(load.argval) is bool for load in found[max(at - 2, 0) : at]):
                return True
    return False


@functools.lru_cache(maxsize=512)
def tests_none(code: types.CodeType) -> bool:
    """Whether code, or code in it, asks whether something is None."""
    for one in codes_of(code):
        before = None
        for now in dis.get_instructions(one):
            if now.opname.endswith("_NONE") or (now.opname == "IS_OP" and before and before.argval is None):
                return True
            before = now
    return False


def asks_what_it_is(code: types.CodeType) -> bool:
    """Whether code, or code in it, may ask for the type or the attributes of something whatever it is."""
    return any(not _ASKS.isdisjoint(one.co_names) for one in codes_of(code))


#: Names in code that may ask for a number's type, or for its attributes.
TYPES = frozenset({"issubclass", "type", "hasattr", "__class__"})
#: What there is of numbers in a trace, and in a plain run.
_NUMBERS = (engine.Value, float, int, bool)
#: What plain numbers lack; of ``data`` and ``detach`` the tape says by itself when they are read.
_OF_VALUES_ALONE = frozenset({*dir(engine.Value)} - {*dir(float), "data", "detach"})
#: What functions raise that take a plain number and no Value, and what is that, too.
_REFUSALS = frozenset({"TypeError", *_ANY_ERROR})
MATCH_CLASS = dis.opmap["MATCH_CLASS"]


def asks_for_numbers(function: types.FunctionType) -> bool:
    """Whether a function's code may ask if something is a Value or a plain number.

    ``isinstance(tree, str)`` does not: no number is a text. Other classes count where the code names them itself.
    """
    for code in codes_of(function.__code__):
        if not {*TYPES, "dtype", "dir"}.isdisjoint(code.co_names) or _asks_by_pattern(function, code):
            return True
        if _catches_what_numbers_lack(code):
            return True
        if "isinstance" not in code.co_names:
            continue
        found = [now for now in dis.get_instructions(code) if now.opname not in ("CACHE", "PRECALL")]
        for at, now in enumerate(found):
            if now.argval == "isinstance" and not _has_no_numbers(function, code, _second_argument(found, at)):
                return True
    return False


def _asks_by_pattern(function: types.FunctionType, code: types.CodeType) -> bool:
    """Whether a ``case float():`` in code, or another class of which numbers may be, asks what something is."""
    found = [*dis.get_instructions(code)] if MATCH_CLASS in code.co_code[::2] else []
    found = [now for now in found if now.opname != "CACHE"]
    loads = (found[at - 2 : at - 1] for at, now in enumerate(found) if now.opcode == MATCH_CLASS)
    return any(not _has_no_numbers(function, code, each) for each in loads)


def _catches_what_numbers_lack(code: types.CodeType) -> bool:
    """Whether code goes on where one of a Value and a plain number raises: has no ``grad``, or is none for ``hex``."""
    if not _REFUSALS.isdisjoint(code.co_names):
        found = [*dis.get_instructions(code)]
        checks = (at for at, now in enumerate(found) if now.opname == "CHECK_EXC_MATCH")
        if any(load.argval in _REFUSALS for at in checks for load in found[max(at - _NEAR, 0) : at]):
            return True
    if _OF_VALUES_ALONE.isdisjoint(code.co_names) or not catches_missing(code):
        return False
    instructions = itertools.pairwise(dis.get_instructions(code))
    return any(
        now.opname in ("LOAD_ATTR", "LOAD_METHOD") and now.argval in _OF_VALUES_ALONE and before.opname != "LOAD_GLOBAL"
        for before, now in instructions
    )


def _second_argument(code: Sequence[dis.Instruction], at: int) -> Sequence[dis.Instruction]:
    """The instructions that load the second of two arguments of a function, which is loaded there; none if unknown."""
    if code[at].opname != "LOAD_GLOBAL":
        return ()
    depth, second = 0, 0
    for place in range(at + 1, len(code)):
        now = code[place]
        if depth == 1:
            second = place
        if now.opname == "CALL" and depth == 2:
            return code[second:place] if now.arg == 2 else ()
        if now.opname == "PUSH_NULL" and depth == 0:
            continue  # belongs to the function
        if now.opcode in dis.hasjrel or now.opcode in dis.hasjabs:
            return ()
        depth += -1 - (now.arg or 0) if now.opname == "CALL" else dis.stack_effect(now.opcode, now.arg)
        if depth < 1:
            return ()
    return ()


def _has_no_numbers(function: types.FunctionType, code: types.CodeType, loads: Sequence[dis.Instruction]) -> bool:
    """Whether what some instructions load are classes, of which no number is: one, a tuple, or a union."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for now in loads:
        if now.opname == "LOAD_GLOBAL":
            found = function.__globals__.get(now.argval, getattr(builtins, now.argval, None))
        elif now.opname == "LOAD_DEREF" and code is function.__code__ and now.argval in cells:
            found = next(iter(contents_of_cell(cells[now.argval])), None)
        elif now.opname == "BUILD_TUPLE" or (now.opname == "BINARY_OP" and now.argrepr == "|"):
            continue
        else:
            return False
        if type(found) is not type or are_numbers(found):
            return False
    return bool(loads)


def are_numbers(kind: type) -> bool:
    """Whether numbers may be of a class: in a trace, or in a plain run."""
    return any(issubclass(one, kind) for one in _NUMBERS)


@functools.lru_cache(maxsize=512)
def catches_exceptions(code: types.CodeType) -> bool:
    """Whether code, or code in it, catches exceptions, or runs a ``finally`` or the end of a ``with``."""
    return any(_CATCHES.intersection(now.opname for now in dis.get_instructions(one)) for one in codes_of(code))


_CATCHES = frozenset({"PUSH_EXC_INFO"})
_ASKS = frozenset(
    {"isinstance", "issubclass", "type", "hasattr", "getattr", "callable", "vars", "id", "print", "str", "repr"}
)


@functools.lru_cache(maxsize=512)
def looks_inside(code: types.CodeType) -> bool:
    """Whether code, or code in it, asks of something what only the thing itself can tell.

    That is a pattern of ``match``, its type, or a special method by its name.
    """
    for one in codes_of(code):
        names = {*one.co_names, *(constant for constant in one.co_consts if type(constant) is str)}
        if not _TYPES.isdisjoint(one.co_names) or not _MATCHES.isdisjoint(one.co_code[::2]):
            return True
        if any(name.startswith("__") and name.endswith("__") and name not in _PLAIN for name in names):
            return True
    return False


@functools.lru_cache(maxsize=512)
def stored_attributes(code: types.CodeType) -> frozenset[str]:
    """The attributes that code, or code in it, stores or deletes, other than those of what it makes; "*" for any."""
    found: set[str] = set()
    for one in codes_of(code):
        if not _STORES_ANY.isdisjoint(one.co_names):
            found.add("*")
        made = one.co_varnames[0] if one.co_name in _MAKING and one.co_argcount else None
        before = None
        for now in dis.get_instructions(one):
            if now.opname in ("STORE_ATTR", "DELETE_ATTR"):
                is_of_made = now.opname == "STORE_ATTR" and made is not None and _loads_last(before) == made
                found.update(() if is_of_made else {now.argval})
            before = now
    return frozenset(found)


def _loads_last(instruction: dis.Instruction | None) -> object:
    """The variable that an instruction loads; of two at once, the last."""
    if instruction is None or not instruction.opname.startswith("LOAD_FAST"):
        return None
    return instruction.argval[-1] if isinstance(instruction.argval, tuple) else instruction.argval


@functools.lru_cache(maxsize=512)
def read_attributes(code: types.CodeType) -> frozenset[str]:
    """The attributes that code, or code in it, reads for something else than to call them at once."""
    calls = sys.version_info >= (3, 12)  # LOAD_ATTR is LOAD_METHOD, too, where its lowest bit says so
    return frozenset(
        now.argval
        for one in codes_of(code)
        for now in dis.get_instructions(one)
        if now.opname == "LOAD_ATTR" and not (calls and (now.arg or 0) & 1)
    )


_STORES_ANY = frozenset({"setattr", "delattr", "vars", "__dict__", "__setattr__", "__delattr__"})
_MAKING = frozenset({"__init__", "__post_init__"})
_TYPES = frozenset({"type", "id", "callable"})
_MATCHES = frozenset(number for name, number in dis.opmap.items() if name.startswith("MATCH_"))
#: Names with underscores of which a tracer in place of something knows, or that none is asked for.
_PLAIN = frozenset(
    f"__{name}__"
    for name in ("class", "delitem", "dict", "init", "main", "name", "new", "post_init", "qualname", "setattr")
)


def reached_by_name(codes: Iterable[types.CodeType]) -> Iterator[tuple[Any, str]]:
    """The variables of the environment, if code asks for them, and the modules that it finds by their names."""
    for code in codes:
        names = {*code.co_names, *code.co_varnames}
        if not _ENVIRONMENT.isdisjoint(names):
            yield getattr(os.environ, "_data", None), "os.environ"
        if not _FINDS_MODULES.isdisjoint(names):
            for name in code.co_consts:
                if type(name) is str and name in sys.modules:
                    yield sys.modules[name], name


_ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb"})
_FINDS_MODULES = frozenset({"import_module", "__import__", "modules"})


def method_that_is_asked_for(code: types.CodeType) -> str:
    """A method of Values for which code asks with ``hasattr(x, "exp")`` or ``getattr(x, "exp", …)``; else "".

    What it asks of a global variable, as of a module, is not asked of a number.
    """
    if not {"hasattr", "getattr"}.intersection(code.co_names):
        return ""
    since: list[str] = []  # what has been done since the function was named
    for now in dis.get_instructions(code):
        if now.argval in ("hasattr", "getattr"):
            since = ["names it"]
        elif 0 < len(since) < _NEAR:
            asks = now.opname == "LOAD_CONST" and now.argval in _METHODS_OF_VALUES
            if asks and since[1:] != ["LOAD_GLOBAL"]:
                return str(now.argval)
            since.append(now.opname)
    return ""


#: So many instructions after its name, a function has its arguments.
_NEAR = 6


def compares_types(code: types.CodeType) -> bool:
    """Whether code that names ``type`` and a class of numbers may ask whether ``type(x)`` is that class."""
    before = None
    for now in dis.get_instructions(code):
        if before is not None and (now.opname in ("IS_OP", "CONTAINS_OP") or now.argval in ("==", "!=")):
            made = before.opname.startswith(("CALL", "BUILD"))  # type(x), or (int, float)
            if made or before.argval in NUMBERS:
                return True
        before = now
    return False


def catches_missing(code: types.CodeType) -> bool:
    """Whether code goes on where an attribute is missing."""
    names = code.co_names
    return "AttributeError" in names or (not _ANY_ERROR.isdisjoint(names) and catches_exceptions(code))


def asked_for(code: types.CodeType) -> tuple[set[str], bool]:
    """The attributes that code asks for although they may be missing; and whether it may ask for any others."""
    caught = catches_missing(code)
    if _ASK.isdisjoint(code.co_names) and _GIVE_ALL.isdisjoint(code.co_names) and not caught:
        return set(), False
    names = {text for text in _texts(code.co_consts) if text.isidentifier()}
    any_other, near = not _GIVE_ALL.isdisjoint(code.co_names), 0
    instructions = list(dis.get_instructions(code))
    for place, now in enumerate(instructions):
        if now.opname in ("LOAD_ATTR", "LOAD_METHOD") and caught:
            names.add(now.argval)
        if near > 0 and now.opname == "LOAD_CONST" and type(now.argval) is str:
            near = 0
            any_other |= _is_part_of_a_text([one.opname for one in instructions[place + 1 : place + 3]])
        elif near > 0:
            near -= 1
            any_other |= near == 0
        if now.argval in _ASK:
            near = 6
    return names, any_other or near > 0


def _is_part_of_a_text(following: Sequence[str]) -> bool:
    """Whether instructions that come after that of a text make another one with it: a name that is computed."""
    first, second = [*following, "", ""][:2]
    at_once = first == "BUILD_STRING" or first.startswith(("FORMAT", "LOAD_METHOD", "LOAD_ATTR"))
    return at_once or second.startswith(("FORMAT", "CONVERT", "BINARY_OP"))


def _texts(constants: Any) -> Iterator[str]:
    """The texts among constants, and in tuples and sets of them."""
    for constant in constants:
        if type(constant) is str:
            yield constant
        elif type(constant) in (tuple, frozenset):
            yield from _texts(constant)
