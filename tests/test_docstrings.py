"""Every public name is documented in one style: what it does, Args, Returns, Raises and an Example that runs.

The names are computed from what ``retrograd`` and its public packages export; a class brings its public members.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pydoc
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd
from retrograd import errors

#: Packages that users import by name; ``retrograd`` itself, and the modules among its names, are added.
PACKAGES = ["autodiff.check", "training"]
#: Where a thing that is exempt is defined, and why.
EXEMPT = {
    "retrograd.compiler": "the docstrings of compile and Compiled are being written",
}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: Special methods that users call, and so have to be documented.
CALLED = {"__call__"}


def exports(module: types.ModuleType, prefix: str) -> Iterator[tuple[str, Any]]:
    """The names that a module exports, with those of the modules among them."""
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, types.ModuleType):
            yield from exports(thing, f"{prefix}.{name}")
        else:
            yield f"{prefix}.{name}", thing


def is_exempt(thing: Any) -> bool:
    module = getattr(thing, "__module__", None) or ""
    return any(module == name or module.startswith(f"{name}.") for name in EXEMPT)


def public_things() -> dict[str, Any]:
    """Public functions, classes, and the public members that a class of this package defines, by their full names."""
    things: dict[str, Any] = dict(exports(retrograd, "rg"))
    for package in PACKAGES:
        things.update(exports(importlib.import_module(f"retrograd.{package}"), f"retrograd.{package}"))
    things = {name: thing for name, thing in things.items() if callable(thing) and not is_exempt(thing)}
    for name, cls in list(things.items()):
        if not isinstance(cls, type):
            continue
        things.update({f"{name}.{own}": member for own, member in members(cls)})
    return things


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class has from this package."""
    for base in reversed(cls.__mro__[:-1]):
        if not base.__module__.startswith("retrograd"):
            continue
        for name, member in vars(base).items():
            member = getattr(member, "__func__", member)
            if (not name.startswith("_") or name in CALLED) and (callable(member) or is_property(member)):
                yield name, member


def is_property(thing: Any) -> bool:
    return isinstance(thing, property) or inspect.isgetsetdescriptor(thing)


def section(text: str, title: str) -> str | None:
    """The body of a section of a docstring in Google's style; None when it has no such section."""
    lines = inspect.cleandoc(text).splitlines()
    if f"{title}:" not in lines:
        return None
    start = lines.index(f"{title}:") + 1
    end = next((i for i in range(start, len(lines)) if lines[i] and not lines[i].startswith(" ")), len(lines))
    return "\n".join(lines[start:end])


def entries(text: str, *titles: str) -> set[str]:
    """The names that the sections explain."""
    bodies = [textwrap.dedent(section(text, title) or "") for title in titles]
    return {
        line.split(":")[0].split("(")[0].strip(" *")
        for body in bodies
        for line in body.splitlines()
        if line and not line.startswith(" ")
    }


def parameters(thing: Callable[..., Any]) -> list[inspect.Parameter]:
    signature = inspect.signature(thing)
    return [parameter for name, parameter in signature.parameters.items() if name != "self"]


def is_exception(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


THINGS = public_things()
FUNCTIONS = {name: thing for name, thing in THINGS.items() if not is_property(thing)}
#: Errors are left out: this package raises them.
CALLED_BY_USERS = [name for name, thing in FUNCTIONS.items() if not is_exception(thing)]


def test_the_names_are_found() -> None:
    assert {"rg.Value", "rg.Value.backward", "rg.math.tanh", "rg.nn.Linear.__call__", "rg.optim.Adam.step"} <= set(
        THINGS
    )
    assert len(THINGS) > 250


@pytest.mark.native  # one text for both engines
@pytest.mark.parametrize("name", THINGS)
def test_it_begins_with_one_sentence(name: str) -> None:
    text = THINGS[name].__doc__
    assert text, f"{name} has no docstring"
    first, *rest = inspect.cleandoc(text).splitlines()
    assert first.endswith((".", "…", "::", ":")), f"the first line of {name} is not a sentence: {first}"
    assert not rest or rest[0] == "", f"an empty line comes after the first line of {name}"


@pytest.mark.parametrize("name", CALLED_BY_USERS)
def test_it_explains_every_parameter(name: str) -> None:
    thing = FUNCTIONS[name]
    names = {parameter.name for parameter in parameters(thing)}
    explained = entries(thing.__doc__, "Args", "Attributes")
    assert names <= explained, f"{name} does not explain {sorted(names - explained)}"
    assert not isinstance(thing, types.FunctionType) or explained <= names, f"{name} has no {sorted(explained - names)}"


@pytest.mark.native  # one text for both engines
@pytest.mark.parametrize("name", [name for name, thing in FUNCTIONS.items() if not isinstance(thing, type)])
def test_it_says_what_it_returns(name: str) -> None:
    thing = FUNCTIONS[name]
    annotation = inspect.signature(thing).return_annotation
    nothing = annotation in (None, "None") or name in ("rg.Value.backward", "rg.Value.zero_grad", "rg.Value.item")
    assert (section(thing.__doc__, "Returns") is None) == nothing, f"{name} returns {annotation}"


def raised(thing: Any) -> set[str]:
    """The names of the exceptions that a function's own source raises, itself or by a sentence of ``errors``."""
    function: Any = vars(thing).get("__init__") if isinstance(thing, type) else thing
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError):  # a built-in, or what has no source
        return set()
    names = {
        ast.unparse(node.exc.func).rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    }
    return {getattr(vars(errors).get(name), "__annotations__", {}).get("return", name) for name in names}


@pytest.mark.native  # one text for both engines
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_says_what_it_raises(name: str) -> None:
    text = FUNCTIONS[name].__doc__
    classes = raised(FUNCTIONS[name])
    said = entries(text, "Raises")
    assert classes <= said, f"{name} raises {sorted(classes - said)} and does not say so"
    known = {*vars(errors), "TypeError", "ValueError", "IndexError", "KeyError", "OSError"}
    assert said <= known, f"{name} says that it raises {sorted(said - known)}"


@pytest.mark.native  # one text for both engines
@pytest.mark.parametrize("name", [name for name in CALLED_BY_USERS if name.rpartition(".")[0] not in THINGS])
def test_a_function_or_a_class_has_an_example(name: str) -> None:
    assert section(FUNCTIONS[name].__doc__, "Example"), f"{name} has no example"


@pytest.mark.parametrize("name", [name for name, thing in FUNCTIONS.items() if section(thing.__doc__, "Example")])
def test_its_example_runs(name: str) -> None:
    text = FUNCTIONS[name].__doc__
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(text), {"__name__": "__example__"}, name, None, 0)
    assert test.examples, f"the example of {name} shows no code"
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0


def test_help_shows_value_with_its_signatures() -> None:
    text = pydoc.plain(pydoc.render_doc(retrograd.Value))
    assert "class Value" in text
    assert "backward(self, /, gradient=1.0" in text or "gradient: 'SupportsFloat' = 1.0" in text
    assert "(a, b, /)" in pydoc.plain(pydoc.render_doc(retrograd.math.atan2))
