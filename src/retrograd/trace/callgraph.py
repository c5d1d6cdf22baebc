"""The call graph of a recorded program: which call recorded each node. A large graph folds by it.

Inside ``with record_calls() as calls:`` every new node reads the call stack, and the calls found there make a tree:
a method of a module, such as ``layers[0].attn_wq``, or a function, such as ``gpt(token_id=4, pos_id=0)``. Nothing is
guessed: a node belongs to the innermost call that was running when it was recorded. Calls inside this package count
only when they are of :mod:`retrograd.nn` or of the lesson's programs; comprehensions and lambdas count as part of the
function around them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, Literal

from .. import engine
from ..engine import Value
from ..engine.source_lines import Location
from ..nn.module import Module

__all__ = ["Call", "Calls", "names_in", "record_calls"]

_PACKAGE = str(Path(__file__).resolve().parents[1])
#: Of this package, what is seen as a user's own.
_SEEN = (str(Path(_PACKAGE) / "nn"), str(Path(_PACKAGE) / "lesson" / "course" / "programs"))
#: How deep lists, dictionaries and modules are searched for the Values they hold.
_DEEPEST = 8
#: The longest text of one argument in a call's label.
_ARGUMENT = 20


@dataclass(frozen=True, slots=True)
class Call:
    """One call during which nodes were recorded."""

    parent: int | None  #: position in ``Calls.calls``; None for the program itself, which is the first
    kind: Literal["program", "module", "call"]
    label: str
    path: str  #: where it is in the model: ``layers[0].attn_wq``, ``layers[0].attention``; empty for others
    place: Location | None  #: the line that called


@dataclass(slots=True)
class Calls:
    """What :class:`record_calls` found: the calls, parents first, the call of each node, and names of leaves."""

    calls: list[Call] = field(default_factory=lambda: [Call(None, "program", "", "", None)])
    of: dict[Value, int] = field(default_factory=dict)
    namespaces: list[Mapping[str, Any]] = field(default_factory=list)
    models: list[Module] = field(default_factory=list)

    def names(self) -> dict[str, Value]:
        """Names for leaves: their path in the model that was called, or in the variables of the functions' files."""
        found: dict[str, Value] = {}
        seen: set[Value] = set()
        several = len(self.models) > 1
        for number, model in enumerate(self.models):
            stem = f"{type(model).__name__.lower()}{number + 1}." if several else ""
            for name, value in model.named_parameters():
                if value not in seen:
                    seen.add(value)
                    found[stem + bracketed(name)] = value
        for namespace in self.namespaces:
            for name, value in names_in(namespace):
                if value not in seen and name not in found:
                    seen.add(value)
                    found[name] = value
        return found


def bracketed(name: str) -> str:
    """``layers.0.weight.3`` as ``layers[0].weight[3]``."""
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split(".")).removeprefix(".")


def names_in(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    """The leaves that variables hold, directly or in lists, tuples, dictionaries and modules, with their names."""

    def inside(name: str, thing: Any, depth: int) -> Iterator[tuple[str, Value]]:
        if isinstance(thing, Value):
            if not engine.row_name(thing):
                yield name, thing
        elif depth == _DEEPEST:
            return
        elif type(thing) in (list, tuple):
            for index, item in enumerate(thing):
                yield from inside(f"{name}[{index}]", item, depth + 1)
        elif type(thing) is dict:
            for key, item in thing.items():
                if isinstance(key, (str, int)):
                    yield from inside(f"{name}.{key}" if isinstance(key, str) else f"{name}[{key}]", item, depth + 1)
        elif isinstance(thing, Module):
            for path, value in thing.named_parameters():
                yield f"{name}.{bracketed(path)}", value

    for name, thing in list(namespace.items()):
        if not name.startswith("__"):
            yield from inside(name, thing, 0)


class record_calls:  # noqa: N801  # named like a function, as contexts are
    """A context that notes, for every node that this thread records, the call that recorded it."""

    def __init__(self) -> None:
        self.calls: Calls = Calls()
        self._stack: list[FrameType] = []
        self._known: dict[FrameType, tuple[int, Module | None]] = {}
        self._paths: dict[int, str] = {}
        self._previous: Callable[[Value], object] | None = None

    def __enter__(self) -> Calls:
        base = sys._getframe(1)
        self._stack, self._known = [base], {base: (0, None)}
        self._previous = engine.set_observer(self._observe)
        return self.calls

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        engine.set_observer(self._previous)
        self._stack, self._known = [], {}

    def _observe(self, node: Value) -> None:
        self.calls.of[node] = self._current(sys._getframe(1))
        if self._previous is not None:
            self._previous(node)

    def _current(self, innermost: FrameType) -> int:
        """The call of the running frame. Drops frames that have ended and makes calls of new ones."""
        fresh: list[FrameType] = []
        frame: FrameType | None = innermost
        while frame is not None and frame not in self._known:
            fresh.append(frame)
            frame = frame.f_back
        if frame is None:  # another thread's, or a coroutine's: not called from the block
            return 0
        while self._stack[-1] is not frame:
            del self._known[self._stack.pop()]
        for inner in reversed(fresh):
            self._known[inner] = self._call_of(inner, *self._known[self._stack[-1]])
            self._stack.append(inner)
        return self._known[innermost][0]

    def _call_of(self, frame: FrameType, parent: int, within: Module | None) -> tuple[int, Module | None]:
        """The call of a new frame, and the module it runs in; those of the parent if the frame makes no call."""
        code = frame.f_code
        if code.co_name.startswith("<") or not _counts(code):
            return parent, within
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        variables = frame.f_locals
        own = variables.get(names[0]) if names else None
        arguments = [f"{name}={variables[name]!r}" for name in names if _shown(variables.get(name))]
        module = own if isinstance(own, Module) else None
        if module is None:
            self._see(frame.f_globals)
            label, path, kind = code.co_name, "", "call"
        else:
            label, path, kind = self._module_label(module, within, code.co_name)
        text = f"{label}({', '.join(arguments)})" if arguments else label
        self.calls.calls.append(Call(parent, "module" if kind == "module" else "call", text, path, _line(frame.f_back)))
        return len(self.calls.calls) - 1, module or within

    def _module_label(self, module: Module, within: Module | None, method: str) -> tuple[str, str, str]:
        """Label, path and kind of a module's method, called while a method of ``within`` ran."""
        if id(module) not in self._paths:
            self.calls.models.append(module)
            self._paths.update({id(inner): path for path, inner in _modules(module)})
        path = self._paths[id(module)]
        if method != "__call__":
            label = method if module is within else f"{path or type(module).__name__}.{method}"
            return label, f"{path}.{method}".removeprefix("."), "call"
        above = self._paths.get(id(within), "") if within is not None else ""
        shown = path.removeprefix(above).removeprefix(".") if above else path
        return shown or type(module).__name__, path, "module"

    def _see(self, namespace: Mapping[str, Any]) -> None:
        """Remember the variables of a user's file, because they may name leaves."""
        outside = not str(namespace.get("__file__", "")).startswith(_PACKAGE)
        if outside and not any(namespace is known for known in self.calls.namespaces):
            self.calls.namespaces.append(namespace)


def _shown(argument: Any) -> bool:
    return type(argument) is int or (type(argument) is str and len(argument) <= _ARGUMENT)


def _line(frame: FrameType | None) -> Location | None:
    """The line of the user's code that made a call; frames inside this package are skipped."""
    while frame is not None and (frame.f_code.co_filename.startswith(_PACKAGE) or frame.f_code.co_name[0] == "<"):
        if frame.f_code.co_name == "<module>":
            break
        frame = frame.f_back
    return None if frame is None else Location(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


_counted: dict[CodeType, bool] = {}


def _counts(code: CodeType) -> bool:
    """Whether calls of a function appear in the graph: users' functions and layers do, the rest of this package not."""
    known = _counted.get(code)
    if known is None:
        name = code.co_filename
        known = _counted[code] = not name.startswith(_PACKAGE) or name.startswith(_SEEN)
    return known


def _modules(module: Module, path: str = "") -> Iterator[tuple[str, Module]]:
    """A module and those in its public attributes, with their paths; the first path of each counts."""
    seen: set[int] = set()

    def inside(name: str, thing: Any) -> Iterator[tuple[str, Module]]:
        if isinstance(thing, Module) and id(thing) not in seen:
            seen.add(id(thing))
            yield name, thing
            for attribute, inner in vars(thing).items():
                if not attribute.startswith("_"):
                    yield from inside(f"{name}.{attribute}" if name else attribute, inner)
        elif isinstance(thing, (list, tuple)):
            for index, item in enumerate(thing):
                yield from inside(f"{name}[{index}]", item)
        elif isinstance(thing, dict):
            for key, item in thing.items():
                yield from inside(f"{name}.{key}", item)

    yield from inside(path, module)
