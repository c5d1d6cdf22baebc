"""The source of a function that runs, found again; and code made of source.

Source counts as a function's only if it compiles to the function's own code: a file may have changed since.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import inspect
import linecache
import types
from collections.abc import Iterator
from typing import Any

from .tree import assign, at, copied, function, no_arguments, parts_of

__all__ = ["compiled", "definitions_of", "is_found"]

Function = ast.FunctionDef | ast.Lambda

#: The names of the function that is compiled, and of one around it.
_FUNCTION, _OUTER = "_rg_function", "_rg_outer"

_FUTURE = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
_COROUTINE = inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR


def definitions_of(code: types.CodeType) -> Iterator[ast.FunctionDef]:
    """The definitions in a file, copies of their own, that compile to some code; none of a coroutine's.

    Nor such as are nested deeper than Python can copy: sums of hundreds of terms, or as many ``elif``.
    """
    return map(_definition, _sources_of(code, code.co_filename, _text_of(code)))


def is_found(code: types.CodeType) -> bool:
    """Whether the source of a function is there, as it was when it was compiled."""
    return bool(_sources_of(code, code.co_filename, _text_of(code)))


def compiled(definition: ast.FunctionDef, code: types.CodeType) -> types.CodeType | None:
    """The code of a definition, which can take the place of ``code``; None if it closes over other variables."""
    made = _compiled(definition, code)
    return made if made.co_freevars == code.co_freevars else None


def _returned(value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Return(value), value)


def _text_of(code: types.CodeType) -> str:
    """The file that code was compiled from, as it is now."""
    linecache.checkcache(code.co_filename)
    return "".join(linecache.getlines(code.co_filename))


@functools.lru_cache(maxsize=32)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


@functools.lru_cache(maxsize=32)
def _imports(text: str) -> list[ast.stmt]:
    """What a module imports for itself."""
    found: list[ast.stmt] = []
    rest: list[ast.AST] = [_tree(text) or ast.Module([], [])]
    while rest:
        node = rest.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", "") != "__future__":
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            rest += parts_of(node)
    return found


@functools.lru_cache(maxsize=64)
def _sources_of(code: types.CodeType, file: str, text: str) -> tuple[Function, ...]:
    """The functions in a file that compile to some code. The same code of another file is equal to it."""
    found: list[Function] = []
    for node in _functions_at(code, text) if not code.co_flags & _COROUTINE else ():
        with contextlib.suppress(RecursionError):
            if _are_alike(_compiled(node, code), code):
                found.append(node)
    return tuple(found)


def _functions_at(code: types.CodeType, text: str) -> Iterator[Function]:
    """The functions in a file that code may have been compiled from."""
    tree = _tree(text)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if node.name == code.co_name and first == code.co_firstlineno:
                yield node
        elif isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            yield node


def _definition(node: Function) -> ast.FunctionDef:
    """A function as a definition of its own, without what is computed where it is defined."""
    arguments = copied(node.args)
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [one and ast.Constant(None) for one in arguments.kw_defaults]
    body: list[ast.stmt] = node.body if isinstance(node, ast.FunctionDef) else [_returned(node.body)]
    return at(function(_FUNCTION, arguments, [copied(one) for one in body]), node)


def _compiled(node: Function, code: types.CodeType) -> types.CodeType:
    """The code of a function, which closes over the variables that ``code`` does."""
    written: ast.stmt = _definition(node)
    if isinstance(node, ast.Lambda):  # which has no place for a docstring
        alone = copied(node)
        alone.args = _definition(node).args
        written = assign(_FUNCTION, alone)
    variables = [assign(name, ast.Constant(None)) for name in code.co_freevars]
    imports = _imports(_text_of(code))  # methods of modules are called otherwise
    module = ast.Module([*imports, function(_OUTER, no_arguments(), [*variables, written])], [])
    flags = code.co_flags & _FUTURE
    made = compile(ast.fix_missing_locations(module), code.co_filename, "exec", flags, dont_inherit=True)
    outer = next(one for one in made.co_consts if isinstance(one, types.CodeType))
    inner = next(one for one in outer.co_consts if isinstance(one, types.CodeType))
    return inner.replace(co_name=code.co_name, co_qualname=code.co_qualname)


_SAME = (
    *("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount"),
)


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two pieces of code, or two constants in them, do the same."""
    if type(one) is not type(other):
        return False
    if isinstance(one, types.CodeType):
        takes = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
        same = all(getattr(one, name) == getattr(other, name) for name in _SAME)
        same &= one.co_flags & takes == other.co_flags & takes
        return same and _are_alike(one.co_consts, other.co_consts)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_are_alike, one, other))
    return repr(one) == repr(other)
