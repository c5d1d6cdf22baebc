"""What hands know from PyTorch, JAX and NumPy and retrograd does otherwise: the sentence that says how.

The sentences are in tables: of what modules lack (:mod:`.names`), of what objects lack (:mod:`.attributes`), and of
keyword arguments (:mod:`.keywords`).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, ParamSpec, TypeVar

from ..ops import NARY
from . import keywords
from .attributes import COMPILED, MODULE, OPTIMIZER, SCHEDULE, VALUE
from .names import LINALG, MATH, NN, OPTIM, PACKAGE

__all__ = [
    "COMPILED", "LINALG", "MATH", "MODULE", "NN", "OPTIM", "OPTIMIZER", "PACKAGE", "SCHEDULE", "VALUE",
    "answer_imports", "elsewhere", "error_of_engine", "keywords", "refuse_in_reference", "refuse_on",
    "refusing", "strange_keyword",
]  # fmt: skip

P = ParamSpec("P")
Result = TypeVar("Result")


def elsewhere(owner: str, name: str, table: Mapping[str, str]) -> AttributeError:
    """``owner`` has no attribute ``name``; where ``table`` knows the habit, the message says what to write."""
    remedy = f": {table[name]}." if name in table else ""
    error = AttributeError(f"{owner} has no attribute {name!r}{remedy}", name=name)
    if not remedy:  # Python looks there for a name like it
        error.obj = sys.modules.get(owner.removeprefix("module ").strip("'"))
    return error


class _Imports:
    """The last of Python's finders: ``from retrograd import jit`` and ``import retrograd.nn.functional`` get an answer.

    ``from`` asks a module for the name, and hides what its ``__getattr__`` says; then it looks for a submodule.
    """

    tables: ClassVar[dict[str, dict[str, str]]] = {"retrograd": PACKAGE, "retrograd.nn": NN, "retrograd.optim": OPTIM}

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        owner, _, wanted = name.rpartition(".")
        if wanted in self.tables.get(owner, ()):
            raise ImportError(f"{owner} has no {wanted!r}: {self.tables[owner][wanted]}.", name=name)


def answer_imports() -> None:
    """Have an import of a name that a table knows fail with its sentence."""
    if not any(type(finder).__qualname__ == _Imports.__qualname__ for finder in sys.meta_path):
        sys.meta_path.append(_Imports())


class Elsewhere:
    """An attribute that a class does not have; asking for it raises AttributeError with the sentence of its table.

    A ``__getattr__`` would slow every other attribute down. What an instance with a dictionary holds, or a base class
    that comes later, is found as ever.
    """

    def __init__(self, name: str, table: Mapping[str, str]) -> None:
        self._name, self._table = name, table
        self.__doc__ = f"Not here: {table[name]}."

    def _refuse(self, owner: type) -> NoReturn:
        raise elsewhere(f"{owner.__name__!r} object", self._name, self._table)

    def _hidden(self, owner: type) -> Any:
        """What a base class has that comes after the one which refuses the name; None if none has anything."""
        found = (vars(kind)[self._name] for kind in owner.__mro__ if self._name in vars(kind))
        return next((one for one in found if not isinstance(one, Elsewhere)), None)

    def __get__(self, instance: object, owner: type) -> Any:
        hidden, own = self._hidden(owner), getattr(instance, "__dict__", {})
        if self._name in own and not hasattr(type(hidden), "__set__"):
            return own[self._name]
        if hidden is None:
            self._refuse(owner)
        return hidden.__get__(instance, owner) if hasattr(type(hidden), "__get__") else hidden

    def __set__(self, instance: object, thing: object) -> None:
        hidden = self._hidden(type(instance))
        if hasattr(type(hidden), "__set__"):
            hidden.__set__(instance, thing)
        elif hasattr(instance, "__dict__"):
            vars(instance)[self._name] = thing
        else:
            self._refuse(type(instance))

    def __delete__(self, instance: object) -> None:
        hidden = self._hidden(type(instance))
        if hasattr(type(hidden), "__delete__"):
            hidden.__delete__(instance)
        elif self._name in getattr(instance, "__dict__", {}):
            del vars(instance)[self._name]
        else:
            self._refuse(type(instance))


def _listed(instance: object) -> list[str]:
    """What ``dir`` lists: nothing that is refused, so that no editor offers it."""
    members = [each for kind in type(instance).__mro__ for each in vars(kind).items()]
    there = {name for name, member in members if not isinstance(member, Elsewhere)}
    there.update(getattr(instance, "__dict__", ()))
    return [name for name in object.__dir__(instance) if name in there]


def refuse_on(owner: Any, table: Mapping[str, str]) -> None:
    """Have a class refuse each name of a table."""
    for name in table:
        setattr(owner, name, Elsewhere(name, table))
    owner.__dir__ = _listed


def strange_keyword(owner: str, given: Mapping[str, object], table: Mapping[str, str]) -> TypeError | None:
    """The error that says what to write in place of a keyword argument, if ``table`` knows one of those given."""
    name = next((name for name in given if name in table), None)
    return None if name is None else TypeError(f"{owner}() takes no {name!r}: {table[name]}.")


def error_of_engine(function: str, given: Mapping[str, object]) -> TypeError | None:
    """The same, for a function that both engines have; the native one asks when it has refused a call."""
    return strange_keyword(function, given, keywords.of_engine(function))


def refusing(table: Mapping[str, str]) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Have a function answer the keyword arguments of a table, none of which it takes, with their sentences."""

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Result:
            if kwargs:
                name = type(args[0]).__name__ if call.__name__ == "__init__" else call.__name__
                if error := strange_keyword(name, kwargs, table):
                    raise error
            return function(*args, **kwargs)

        return call

    return decorate


def refuse_in_reference(engine: Any) -> None:
    """Have the reference engine answer keyword arguments, too; its own modules stay a textbook without them."""
    kind, functions = engine.Value, engine.functions
    kind.__init__ = refusing(keywords.of_engine("Value"))(kind.__init__)
    kind.backward = refusing(keywords.of_engine("backward"))(kind.backward)
    functions.update({row.name: refusing(keywords.of_engine(row.name))(functions[row.name]) for row in NARY})
