"""Finds the learner's class in a Python file or a notebook."""

from __future__ import annotations

import inspect
import json
import linecache
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from ...errors import GradingError
from .subject import Trouble, trouble_of

__all__ = ["Loaded", "load", "module_class", "read_cells", "split_target"]


@dataclass(slots=True)
class Loaded:
    """The class to examine, and what the file ended with, where it did not run to its end."""

    cls: type
    names: dict[str, Any]
    trouble: Trouble | None = field(default=None)


def split_target(target: str) -> tuple[Path, str]:
    """``FILE.py:Class`` as a path and a name, the name empty when it is not given. Raises GradingError."""
    match = re.fullmatch(r"(?P<file>.+\.(?:py|ipynb)):(?P<cls>[A-Za-z_]\w*)?", target, re.DOTALL)
    path = Path(match["file"] if match else target)
    if path.is_dir():
        raise GradingError(f"{path} is a folder: name the Python file in it that has your class.")
    if not path.is_file():
        raise GradingError(f"there is no file {path}: check the name, and the folder that you are in.")
    if path.suffix not in (".py", ".ipynb"):
        raise GradingError(f"{path} is neither a Python file (.py) nor a notebook (.ipynb).")
    return path, (match["cls"] or "") if match else ""


def load(path: Path, name: str) -> Loaded:
    """Run a file or the cells of a notebook, and find the class in it. Raises GradingError where there is none.

    A file that fails half-way, as with an assertion at its end, is examined all the same when the class was defined.
    """
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.resolve().parent))
    cells = [(compile_cell(text, filename), filename) for text, filename in read_cells(path)]
    trouble = None
    for code, _ in cells:
        try:
            exec(code, module.__dict__)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            trouble = trouble_of(error)
            if path.suffix == ".py":
                break
    names = vars(module)
    try:
        return Loaded(_own(find_class(names, name, path), path), names, trouble)
    except GradingError as error:
        raise error if trouble is None else GradingError(f"{_where(trouble)}: {trouble.says}.") from None


def _own(cls: type, path: Path) -> type:
    """The class, where it is the learner's: an imported one would be graded right. Raises GradingError.

    A class from another file of the same folder is the learner's, too.
    """
    owner = next((one for one in cls.__mro__ if "backward" in vars(one)), cls)
    package = owner.__module__.partition(".")[0]
    beside = path.parent / package
    if (
        package == path.stem
        or package in sys.stdlib_module_names
        or beside.is_dir()
        or beside.with_suffix(".py").exists()
    ):
        return cls
    what = cls.__name__ if owner is cls else f"the backward of {cls.__name__}"
    raise GradingError(f"{what} comes from {package}, and not from {path.name}: write the class in that file.")


def _where(trouble: Trouble) -> str:
    return f"{trouble.place}: {trouble.source}" if trouble.source else trouble.place


#: Magics of a whole cell in which Python stands.
AROUND_PYTHON = ("%%time", "%%capture")
#: Lines that are for the notebook: magics, commands of the shell, and questions such as ``?Value`` and ``Value.exp??``.
NOTEBOOK_LINE = re.compile(r"\s*([%!?]|[\w.]+\?\??\s*$)")


def read_cells(path: Path) -> Iterator[tuple[str, str]]:
    """The code of a file, or of each cell of a notebook, with the name that messages give it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".py":
            yield text, str(path)
            return
        cells = json.loads(text)["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise GradingError(f"{path} cannot be read: {type(error).__name__}, {error}.") from None
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}.") from None
    for number, source in enumerate(sources, 1):
        lines = source.splitlines(keepends=True)
        if lines and lines[0].startswith("%%") and lines[0].split()[0] not in AROUND_PYTHON:
            continue  # a cell in another language, or for the notebook itself
        plain = "".join("\n" if NOTEBOOK_LINE.match(line) else line for line in lines)
        filename = f"{path.name} cell {number}"
        linecache.cache[filename] = (len(plain), None, plain.splitlines(keepends=True), filename)
        yield plain, filename


def compile_cell(text: str, filename: str) -> Any:
    """The code of a cell. Raises GradingError with the line and a caret for a syntax error."""
    try:
        return compile(text, filename, "exec")
    except SyntaxError as error:
        line = (error.text or "").rstrip("\n")
        indent = len(line) - len(line.lstrip())
        caret = " " * max((error.offset or 1) - 1 - indent, 0) + "^"
        place = f"{Path(filename).name}, line {error.lineno}: {error.msg}."
        raise GradingError(f"{place}\n    {line.strip()}\n    {caret}" if line else place) from None
    except ValueError as error:
        raise GradingError(f"{Path(filename).name} is no Python: {error}.") from None


def find_class(names: dict[str, Any], name: str, path: Path) -> type:
    """The class called ``name``; without a name the one called Value, else the only one that has ``backward``."""
    classes = {key: thing for key, thing in names.items() if inspect.isclass(thing) and not key.startswith("__")}
    if name:
        if name in classes:
            return classes[name]
        raise GradingError(f"{path} has no class {name}; {_has(classes)}.")
    if "Value" in classes:
        return classes["Value"]
    fitting = {key: cls for key, cls in classes.items() if callable(getattr(cls, "backward", None))}
    if len(set(fitting.values())) == 1:
        return next(iter(fitting.values()))
    if fitting:
        listed = ", ".join(fitting)
        raise GradingError(
            f"{path} has several classes with backward: {listed}. Say which, as in {path}:{listed.split(',')[0]}."
        )
    raise GradingError(f"{path} has no class called Value, and none with a method backward; {_has(classes)}.")


def _has(classes: dict[str, type]) -> str:
    return f"it has {', '.join(classes)}" if classes else "it defines no class"


def module_class(names: dict[str, Any]) -> type | None:
    """The class with ``zero_grad`` and ``parameters`` that layers and networks are built on; None without one."""
    fitting = [
        thing
        for thing in names.values()
        if inspect.isclass(thing)
        and callable(vars(thing).get("zero_grad"))
        and callable(getattr(thing, "parameters", None))
    ]
    return fitting[0] if fitting else None
