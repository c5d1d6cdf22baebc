"""Calls: of functions in Python, which become routines, of classes and methods, and of what libraries bring."""

from __future__ import annotations

import ast
import bisect
import dataclasses
import heapq
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import Any

from ..constants import is_named_tuple, is_plain_class
from ..frame import Frame, LocalFunction, Program, Routine, split
from ..ir.arithmetic import Typed
from ..sources import KEPT_ITERATOR
from ..syntax import gives_function, is_asked_first, own_returns
from ..types import (
    MIXED,
    NONE,
    NUMPY_INT,
    TEXT,
    UNKNOWN,
    VALUE,
    Bound,
    Closure,
    Instance,
    Iterated,
    ListType,
    NotTypedError,
    Static,
    Tuple,
    Type,
    Union,
    join,
)
from .choices import of_each
from .classes import is_super, of_super
from .containers import load_field, made_by, made_record, new_instance
from .expressions import OPERATORS, binary, bound_parts, tuple_of
from .library.builtin_calls import BUILTINS, from_keys
from .library.in_python import (
    bisect_left,
    bisect_right,
    chained,
    heapify,
    heappop,
    heappush,
    heappushpop,
    heapreplace,
    insert_sorted,
    insert_sorted_left,
    nlargest,
    nsmallest,
)
from .library.iterators import kept_iterator, of_itertools
from .library.library_calls import library_call
from .library.texts import text_method
from .loops import as_list, is_record, unpacked
from .methods import list_method, method_row, record_method
from .statements import store_attribute

__all__ = ["applied", "called", "called_function", "of_closure"]

#: So deep are generators written into each other.
_DEEPEST = 20

#: Functions of libraries, and what they do in Python that can be followed.
_IN_PYTHON: dict[Any, Any] = {
    heapq.heappush: heappush,
    heapq.heappop: heappop,
    heapq.heapify: heapify,
    heapq.heapreplace: heapreplace,
    heapq.heappushpop: heappushpop,
    heapq.nlargest: nlargest,
    heapq.nsmallest: nsmallest,
    bisect.bisect: bisect_right,
    bisect.bisect_left: bisect_left,
    bisect.bisect_right: bisect_right,
    bisect.insort: insert_sorted,
    bisect.insort_left: insert_sorted_left,
    bisect.insort_right: insert_sorted,
}


def called(f: Frame, node: ast.Call) -> Typed:
    """What a call gives."""
    if isinstance(node.func, ast.Name) and node.func.id == KEPT_ITERATOR:
        return kept_iterator(f, node)
    if isinstance(node.func, ast.Attribute) and is_super(f, node.func.value):
        return _of_super(f, node, node.func.attr)
    if isinstance(node.func, ast.Attribute):
        of = f.there(f.evaluated(node.func.value))
        if of.kind is UNKNOWN:
            f.w.bail()
            return of
        if not isinstance(of.kind, Static):
            return _method(f, node, of, node.func.attr)
        if of.kind.thing is itertools.chain and node.func.attr == "from_iterable":
            return f.call(node, chained, [f.evaluated(node.args[0])], {})
        if of.kind.thing is dict and node.func.attr == "fromkeys":
            return from_keys(f, node)
        key, thing = f.program.reads.attribute(of.kind.thing, node.func.attr)
        if isinstance(thing, (classmethod, staticmethod)):
            return _of_class(f, node, of.kind.thing, node.func.attr, *_arguments(f, node))
        function = f.constant(key, thing)
    else:
        function = f.evaluated(node.func)
    if function.kind is UNKNOWN:
        return function
    if not isinstance(function.kind, Static):
        return applied(f, node, function, *_arguments(f, node, _takes_locally(function)))
    thing = function.kind.thing
    if isinstance(thing, (BuiltinFunctionType, FunctionType)):
        thing = _IN_PYTHON.get(thing, thing)
    if not isinstance(thing, FunctionType) and not (isinstance(thing, type) and is_plain_class(thing)):
        _refuse_keywords_of_dict(node)
    if (write := BUILTINS.get(thing) if isinstance(thing, (type, BuiltinFunctionType)) else None) is not None:
        found: Typed = write(f, node)
        return found
    if (answer := library_call(f, node, thing)) is not None:
        return answer
    if thing is dataclasses.replace:
        return _replaced(f, node)
    arguments, keywords = _arguments(f, node, _takes(thing))
    if isinstance(thing, BuiltinFunctionType) and thing in OPERATORS:
        return applied(f, node, function, arguments, keywords)
    if isinstance(thing, type) and not keywords:
        thing, arguments = of_itertools(f, node, thing, arguments)
    return f.call(node, thing, arguments, keywords)


def _arguments(f: Frame, node: ast.Call, takes: int | None = None) -> tuple[list[Typed], dict[str, Typed]]:
    """What a call gives; ``takes``: how many arguments the function has, if there are always as many."""
    arguments: list[Typed] = []
    for one in node.args:
        if isinstance(one, ast.Starred):
            items = as_list(f, node, f.evaluated(one.value))
            left = -1 if takes is None or node.keywords else takes - len(node.args) + 1
            if isinstance(items.kind, Tuple):
                arguments += split(items)
            elif left < 0 or sum(isinstance(each, ast.Starred) for each in node.args) > 1:
                raise NotTypedError(f"a call takes the items of {items.kind}")
            else:
                arguments += unpacked(f, items, left)
        else:
            given = f.evaluated(one)
            arguments.append(given if isinstance(given.kind, Iterated) else f.settled(given))
    keywords: dict[str, Typed] = {}
    for each in node.keywords:
        value = f.evaluated(each.value)
        more = _items_of_record(f, f.there(value)) if each.arg is None else {each.arg: f.settled(value)}
        if not keywords.keys().isdisjoint(more):
            raise NotTypedError("a call has an argument twice")
        keywords |= more
    return arguments, keywords


def _items_of_record(f: Frame, value: Typed) -> dict[str, Typed]:
    """The keywords that ``**value`` gives, all of which must be there."""
    if value.kind is UNKNOWN:
        f.w.bail()
        return {}
    if not is_record(value):
        raise NotTypedError(f"a call has keywords from {value.kind}")
    assert isinstance(value.kind, Instance)
    return {name: load_field(f, value, name) for name in value.kind.layout.fields}


def _refuse_keywords_of_dict(node: ast.Call) -> None:
    if any(one.arg is None for one in node.keywords):
        raise NotTypedError("a call of what is no function in Python has keywords from a dict")


def _takes(thing: Any) -> int | None:
    """How many arguments a function or a class takes; None if there may be fewer, or more."""
    if not isinstance(thing, FunctionType) and not (isinstance(thing, type) and is_plain_class(thing)):
        return None
    parameters = inspect.signature(thing, follow_wrapped=False).parameters.values()
    may_differ = any(one.kind not in _IN_ORDER or one.default is not one.empty for one in parameters)
    return None if may_differ else len(parameters)


_IN_ORDER = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _takes_locally(function: Typed) -> int | None:
    """The same of a function in a function."""
    if not isinstance(function.kind, Closure):
        return None
    given = function.kind.thing.node.args
    return None if given.vararg or given.defaults or given.kwonlyargs else len([*given.posonlyargs, *given.args])


def _method(f: Frame, node: ast.Call, of: Typed, name: str) -> Typed:
    if isinstance(of.kind, ListType) or of.kind in (TEXT, VALUE) or is_record(of):
        _refuse_keywords_of_dict(node)
    if isinstance(of.kind, ListType):
        return list_method(f, node, of, name)
    if is_record(of):
        return record_method(f, node, of, name)
    if of.kind is TEXT:
        return text_method(f, node, of)
    if of.kind is VALUE and not node.keywords:
        return method_row(f, of, name, [f.evaluated(one) for one in node.args])
    arguments, keywords = _arguments(f, node)
    if isinstance(of.kind, Union):
        return of_each(f, of, (node, name), lambda one: _method_with(f, node, one, name, arguments, keywords))
    return _method_with(f, node, of, name, arguments, keywords)


def _method_with(
    f: Frame, node: ast.AST, of: Typed, name: str, arguments: list[Typed], keywords: dict[str, Typed]
) -> Typed:
    """A method of an instance or a named tuple; a class without it leaves the call to the function."""
    kind: Any = of.kind.layout.kind if isinstance(of.kind, Instance) else getattr(of.kind, "kind", None)
    if isinstance(of.kind, Static):
        return _of_class(f, node, of.kind.thing, name, arguments, keywords)
    if isinstance(of.kind, Instance) and name in of.kind.layout.fields:
        held = load_field(f, of, name)
        return applied(f, node, f.there(held), arguments, keywords)
    if isinstance(of.kind, Tuple) and name == "_replace" and kind is not tuple and not arguments:
        fields = dict(zip(kind._fields, split(of), strict=True))
        return _named_tuple(f, kind, [], {**fields, **keywords})
    if not isinstance(of.kind, (Instance, Tuple)) or (isinstance(of.kind, Instance) and of.kind.is_record):
        raise NotTypedError(f"it calls .{name}() of {of.kind}")
    if not hasattr(kind, name):
        f.w.bail()
        return Typed(UNKNOWN)
    _, thing = f.program.reads.attribute(kind, name)
    if isinstance(thing, (staticmethod, classmethod)):
        return _of_class(f, node, kind, name, arguments, keywords)
    if not isinstance(thing, FunctionType):
        raise NotTypedError(f"it calls .{name}(), a {type(thing).__name__}")
    return f.call(node, thing, [of, *arguments], keywords)


def _of_super(f: Frame, node: ast.Call, name: str) -> Typed:
    """``super().name(...)``."""
    of, kind, own = of_super(f)
    arguments, keywords = _arguments(f, node)
    thing = f.program.reads.attribute(kind, name, after=own)[1]
    if thing is object.__init__ and not arguments and not keywords:
        return Typed(NONE)
    if not isinstance(thing, FunctionType):
        raise NotTypedError(f"it calls .{name}(), a {type(thing).__name__}")
    return f.call(node, thing, [of, *arguments], keywords)


def _replaced(f: Frame, node: ast.Call) -> Typed:
    """``dataclasses.replace``."""
    (of, *more), changes = _arguments(f, node)
    of = f.there(of)
    if more or not isinstance(of.kind, Instance) or not _has_made_init(of.kind.layout.kind):
        raise NotTypedError(f"it calls replace() of {of.kind}")
    kind: Any = of.kind.layout.kind
    names = [one.name for one in dataclasses.fields(kind) if one.init and one.name not in changes]
    if any(name not in of.kind.layout.fields for name in names):
        f.w.bail()
        return Typed(UNKNOWN)
    return _instance(f, node, kind, [], {**{name: load_field(f, of, name) for name in names}, **changes})


def _of_class(
    f: Frame, node: ast.AST, kind: Any, name: str, arguments: list[Typed], keywords: dict[str, Typed]
) -> Typed:
    """``Class.name(...)``, or a function of a module."""
    _, thing = f.program.reads.attribute(kind, name)
    if isinstance(thing, classmethod):
        return f.call(node, thing.__func__, [Typed(Static(kind)), *arguments], keywords)
    return f.call(node, thing.__func__ if isinstance(thing, staticmethod) else thing, arguments, keywords)


def applied(f: Frame, node: ast.AST, function: Typed, arguments: list[Typed], keywords: Mapping[str, Typed]) -> Typed:
    """A call of what a variable holds."""
    if isinstance(function.kind, Closure):
        return f.call_closure(function, arguments, keywords)
    if isinstance(function.kind, Union):
        return of_each(f, function, (node, "function"), lambda one: applied(f, node, one, arguments, keywords))
    if isinstance(function.kind, Bound):
        first, *given = bound_parts(function)
        split_at = len(given) - len(function.kind.names)
        named = dict(zip(function.kind.names, given[split_at:], strict=True))
        return applied(f, node, first, [*given[:split_at], *arguments], {**named, **keywords})
    if isinstance(function.kind, Instance):
        return _method_with(f, node, function, "__call__", arguments, dict(keywords))
    if not isinstance(function.kind, Static):
        raise NotTypedError(f"it calls {function.kind}")
    thing = function.kind.thing
    if isinstance(thing, BuiltinFunctionType) and thing in OPERATORS and len(arguments) == 2 and not keywords:
        return binary(f, node, OPERATORS[thing], *arguments)
    if isinstance(thing, (type, BuiltinFunctionType)) and not keywords:
        found = _of_python(f, node, thing, arguments)
        if found is not None:
            return found
    if not isinstance(thing, FunctionType) and not (isinstance(thing, type) and is_plain_class(thing)):
        raise NotTypedError(f"it calls {getattr(thing, '__name__', type(thing).__name__)} by another name")
    return f.call(node, thing, arguments, keywords)


@cache
def _call_of(function: str, count: int) -> ast.Call:
    """The source of a call whose arguments have names that no variable has."""
    return ast.Call(ast.Name(function, ast.Load()), [ast.Name(f"#{i}", ast.Load()) for i in range(count)], [])


def _of_python(f: Frame, node: Any, thing: Any, arguments: list[Typed]) -> Typed | None:
    """What a function of Python's own gives, or of a library, as in ``map(abs, xs)``; None for one that is none."""
    if thing not in BUILTINS and not isinstance(thing, BuiltinFunctionType):
        return None
    values = {f"#{i}": value for i, value in enumerate(arguments)}
    inner, call = f.inner(node, {*values}), _call_of(thing.__name__, len(arguments))
    inner.fixed.update(values)
    write = BUILTINS.get(_IN_PYTHON.get(thing, thing))
    return write(inner, call) if write is not None else library_call(inner, call, thing)


def called_function(
    f: Frame, node: ast.AST, thing: Any, arguments: list[Typed], keywords: Mapping[str, Typed]
) -> Typed:
    """A call of a function or a class in Python, also of a compiled function."""
    from ...compiled import Compiled

    if isinstance(thing, Compiled):
        thing = thing.scalar_function
    if isinstance(thing, type):
        return _instance(f, node, thing, arguments, keywords)
    if not isinstance(thing, FunctionType):
        raise NotTypedError(f"it calls {getattr(thing, '__name__', type(thing).__name__)}()")
    bound = _bound(f, thing, arguments, keywords)
    if is_generator(thing):
        definition = f.program.sources.of(thing)
        return Typed(Iterated(run=lambda give: _generated(f, node, definition, bound, give, thing)))
    if gives_function(f.program.sources.of(thing)):
        if f.loops or f.is_repeated:
            raise NotTypedError("it makes functions in a loop")
        return _inlined(f, node, thing, bound)
    gives_iterator = thing.__name__ == "__iter__"
    if gives_iterator or any(isinstance(one.kind, Iterated) for one in bound.values()):
        return _inlined(f, node, thing, bound)
    return _of_routine(f, *f.program.routine(thing, [one.kind for one in bound.values()]), bound)


def of_closure(f: Frame, closure: Typed, arguments: list[Typed], keywords: Mapping[str, Typed]) -> Typed:
    """A call of a function in a function."""
    assert isinstance(closure.kind, Closure)
    local: LocalFunction = closure.kind.thing
    if keywords and is_asked_first(local.node):
        raise NotTypedError("it calls a function that keeps results with keywords, which are another key")
    bound = _bound_locally(f, local, arguments, keywords)
    if any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in ast.walk(local.node)):
        return Typed(
            Iterated(
                run=lambda give: _generated(f, local.node, local.node, bound, give, local.function, closure, local)
            )
        )
    bound = {name: f.settled(value) for name, value in bound.items()}
    if is_asked_first(local.node):
        _check_kept(local, [one.kind for one in bound.values()])
    found = f.program.local_routine(local, [one.kind for one in bound.values()])
    return _of_routine(f, *found, bound, local, closure.parts)


def _check_kept(local: LocalFunction, kinds: list[Type]) -> None:
    """Refuse one argument that is an int here and a float there: Python keeps results for 1 and for 1.0 apart."""
    if len(kinds) == 1:
        local.kept = join(local.kept, kinds[0])
        if local.kept in (MIXED, NUMPY_INT):  # and for NumPy's numbers
            raise NotTypedError("it keeps results for ints and for floats")


def is_generator(function: FunctionType) -> bool:
    """Whether a call of a function gives a generator."""
    return bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def _generated(
    f: Frame,
    node: ast.AST,
    definition: ast.FunctionDef | ast.Lambda,
    bound: dict[str, Typed],
    give: Callable[[Typed], None],
    function: FunctionType,
    closure: Typed | None = None,
    local: LocalFunction | None = None,
) -> None:
    """Write a generator function into a frame: where it yields, what the loop over it does."""
    inner = _inner(f, node, definition, function)
    inner.give_item = give
    inner.begin(definition, list(bound))
    if closure is not None and local is not None:
        inner.lend(local, closure.parts)
    for name, value in bound.items():
        inner.assign(name, value)
    inner.follow(definition.body)  # type: ignore[arg-type]
    f.w.block(inner.end)


def _inlined(f: Frame, node: ast.AST, function: FunctionType, bound: dict[str, Typed]) -> Typed:
    """Write a function into a frame: what it is given to go over is nowhere in memory, and may be what it returns."""
    definition = f.program.sources.of(function)
    inner = _inner(f, node, definition, function)
    key, last = (inner.path, "result"), definition.body[-1]
    inner.returned = f.program.results.get(key, UNKNOWN)
    inner.begin(definition, list(bound))
    for name, value in bound.items():
        inner.assign(name, value)
    returns = own_returns(definition)
    if returns == [last] and returns[0].value is not None:
        inner.follow(definition.body[:-1])
        return inner.evaluated(returns[0].value)
    if not inner.follow(definition.body) and inner.falls_off():
        inner.give(Typed(NONE))
    f.w.block(inner.end)
    f.program.results[key] = inner.returned
    if inner.result is None:
        f.w.bail()
        return Typed(UNKNOWN)
    return f.get(inner.result)


def _inner(f: Frame, node: ast.AST, definition: ast.FunctionDef | ast.Lambda, function: FunctionType) -> Frame:
    """The frame of a function that is written into another one."""
    path = f.path, id(node), id(definition)
    if any(definition is one for one in f.around) or len(f.around) > _DEEPEST:
        raise NotTypedError("a generator goes over itself")
    inner = Frame(f.program, function, f.program.inlined.setdefault(path, {}), path, f.w)
    inner.around = [*f.around, definition]
    inner.is_repeated = f.is_repeated or bool(f.loops)
    return inner


def _bound(f: Frame, function: FunctionType, arguments: list[Typed], keywords: Mapping[str, Typed]) -> dict[str, Typed]:
    """The arguments of a function by name, its defaults included."""
    f.program.reads.code_of(function)
    if hasattr(function, "__signature__"):
        raise NotTypedError(f"{function.__name__} says itself what it takes")
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        given = signature.bind(*arguments, **keywords).arguments
    except TypeError as error:
        raise NotTypedError(str(error)) from None
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            given[name] = tuple_of([f.settled(one) for one in given.get(name, ())])
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            given[name] = made_record(f, given.get(name, {}))
        elif name not in given:
            given[name] = f.constant((id(function), f"default {name}"), parameter.default)
    return {name: given[name] for name in signature.parameters}


def _bound_locally(
    f: Frame, function: LocalFunction, arguments: list[Typed], keywords: Mapping[str, Typed]
) -> dict[str, Typed]:
    """The arguments of a function in a function."""
    given = function.node.args
    if given.vararg or given.kwarg or given.kwonlyargs:
        raise NotTypedError("a function in it takes any number of arguments, or keywords alone")
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    bound = dict(zip(names, arguments, strict=False))
    bound.update(keywords)
    for name, default in zip(names[::-1], given.defaults[::-1], strict=False):
        if name not in bound:
            if not isinstance(default, ast.Constant):
                raise NotTypedError("a function in it has a default that is computed")
            bound[name] = f.evaluated(default)
    if set(bound) != set(names) or len(arguments) > len(names):
        raise NotTypedError("a call does not fit the function")
    return {name: bound[name] for name in names}


# --- routines -----------------------------------------------------------------------------------------------


def _of_routine(
    f: Frame,
    key: Any,
    routine: Routine,
    bound: dict[str, Typed],
    local: LocalFunction | None = None,
    pointers: Sequence[str] = (),
) -> Typed:
    """Call the routine of a function."""
    for name, value in bound.items():
        routine.kinds[name] = join(routine.kinds.get(name, UNKNOWN), value.kind)
    if key not in f.program.followed:
        f.program.followed.add(key)
        f.program.around.add(key)
        follow_routine(f.program, routine, list(bound), local)
        f.program.around.discard(key)
    is_recursive = key in f.program.around
    if is_recursive:
        f.w.bail_if(f.w.emit("call i1 @is_too_deep(ptr %context)"))
    words = ["ptr %context", *(f"ptr {one}" for one in pointers)]
    for name, value in bound.items():
        kind = routine.kinds[name]
        words += [f"{word} {part}" for word, part in zip(kind.words, f.converted(value, kind).parts, strict=True)]
    places = [(word, f.w.allocate(word)) for word in routine.result.words]
    words += [f"ptr {place}" for _, place in places]
    status = f.w.emit(f"call i32 @{routine.symbol}({', '.join(words)})")
    f.w.bail_if(f.w.emit(f"icmp ne i32 {status}, 0"))
    if is_recursive:
        f.w.line("call void @is_back(ptr %context)")
    if routine.result is UNKNOWN:
        f.w.bail()
    return Typed(routine.result, tuple(f.w.load(word, place) for word, place in places))


def follow_routine(
    program: Program, routine: Routine, parameters: list[str], local: LocalFunction | None = None
) -> None:
    """Write the code of a routine; of a function in a function, with pointers to the variables that it uses."""
    f = Frame(program, routine.function, routine.kinds, routine.symbol)
    f.returned = routine.result
    head = ["ptr noalias %context"]
    f.begin(routine.definition, parameters)
    if local is not None:
        names = [f"%{f.w.name('l')}" for _ in range(local.pointers)]
        head += [f"ptr {one}" for one in names]
        f.lend(local, names)
    for name in parameters:
        kind = routine.kinds[name]
        names = [f"%{f.w.name('p')}" for _ in kind.words]
        head += [f"{word} {one}" for word, one in zip(kind.words, names, strict=True)]
        f.assign(name, Typed(kind, tuple(names)))
    if isinstance(routine.definition, ast.Lambda):
        f.give(f.evaluated(routine.definition.body))
    else:
        ends = f.follow(routine.definition.body)
        if not ends and f.falls_off():
            f.give(Typed(NONE))
    f.w.block(f.end)
    routine.result = f.returned
    results = [(word, f"%{f.w.name('r')}") for word in f.returned.words]
    head += [f"ptr noalias {one}" for _, one in results]
    if f.result is not None:
        for i, (word, target) in enumerate(results, 1):
            f.w.store(word, f.w.load(word, f.w.at(f.result.place, i)), target)
    f.w.line("ret i32 0")
    routine.text = f.w.text(f"define internal i32 @{routine.symbol}({', '.join(head)})")


# --- instances ----------------------------------------------------------------------------------------------


def _instance(f: Frame, node: ast.AST, kind: type, arguments: list[Typed], keywords: Mapping[str, Typed]) -> Typed:
    """A new instance of a class in Python."""
    if is_named_tuple(kind):
        return _named_tuple(f, kind, arguments, keywords)
    if not is_plain_class(kind) or inspect.isabstract(kind) or hasattr(kind, "__del__"):
        raise NotTypedError(f"it makes a {kind.__name__}")
    layout = f.program.layout(kind)
    made = new_instance(f, layout)
    if dataclasses.is_dataclass(kind) and _has_made_init(kind):
        _fill(f, node, made, kind, arguments, keywords)
        if hasattr(kind, "__post_init__"):
            f.call(node, f.program.reads.attribute(kind, "__post_init__")[1], [made], {})
    elif getattr(kind, "__init__", None) is not object.__init__:
        f.call(node, f.program.reads.attribute(kind, "__init__")[1], [made, *arguments], keywords)
    elif arguments or keywords:
        raise NotTypedError(f"a call does not fit {kind.__name__}")
    return made


def _has_made_init(kind: type) -> bool:
    """Whether a dataclass has the ``__init__`` that was made for it."""
    code = getattr(getattr(kind, "__init__", None), "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _named_tuple(f: Frame, kind: Any, arguments: list[Typed], keywords: Mapping[str, Typed]) -> Typed:
    given = dict(zip(kind._fields, arguments, strict=False)) | dict(keywords)
    for name, default in kind._field_defaults.items():
        if name not in given:
            given[name] = f.constant((id(kind), f"default {name}"), default)
    if set(given) != set(kind._fields) or len(arguments) > len(kind._fields):
        raise NotTypedError(f"a call does not fit {kind.__name__}")
    items = [given[name] for name in kind._fields]
    parts = tuple(part for item in items for part in item.parts)
    return Typed(Tuple(tuple(item.kind for item in items), kind), parts)


def _fill(
    f: Frame, node: ast.AST, made: Typed, kind: Any, arguments: list[Typed], keywords: Mapping[str, Typed]
) -> None:
    """The fields of a dataclass."""
    fields = dataclasses.fields(kind)
    f.program.reads.attribute(kind, "__init__")
    has_more = len(inspect.signature(kind).parameters) != sum(one.init for one in fields)  # for its __post_init__
    if has_more or any(one.kw_only for one in fields):
        raise NotTypedError(f"{kind.__name__} takes more than its fields, or some by keyword alone")
    names = [one.name for one in fields if one.init]
    given = dict(zip(names, arguments, strict=False)) | dict(keywords)
    if len(arguments) > len(names) or set(given) - set(names):
        raise NotTypedError(f"a call does not fit {kind.__name__}")
    for one in fields:
        if one.name in given:
            value = given[one.name]
        elif one.default is not dataclasses.MISSING:
            value = f.constant((id(kind), f"default {one.name}"), one.default)
        elif one.default_factory is not dataclasses.MISSING:
            value = made_by(f, one.default_factory, (node, one.name))
        else:
            raise NotTypedError(f"a call does not fit {kind.__name__}")
        store_attribute(f, made, one.name, value, is_field=True)
