"""The grader in the page: runs in Pyodide, where ``grade(text)`` examines a learner's class.

NumPy is not there, and the grader needs none of it: some modules that it reads on its way only name its types.
"""
# ruff: noqa: E402  (the packages have to be laid out first)

import importlib
import linecache
import random
import sys
import traceback
import types

ROOT = __file__.rpartition("/")[0]


class _Type:
    """Stands for a type of NumPy's, of which there are no instances here."""

    def __class_getitem__(cls, item: object) -> type:
        return cls


def _lay_out() -> None:
    numpy, typing = types.ModuleType("numpy"), types.ModuleType("numpy.typing")
    for name in ("ndarray", "bool_", "timedelta64", "float64", "generic", "integer"):
        setattr(numpy, name, type(name, (_Type,), {}))
    typing.NDArray = typing.ArrayLike = _Type  # type: ignore[attr-defined]
    numpy.typing = typing  # type: ignore[attr-defined]
    sys.modules.update({"numpy": numpy, "numpy.typing": typing})
    # Packages without what their own __init__ would import.
    for name in ("", ".engine", ".trace", ".lesson", ".autodiff", ".autodiff.check"):
        package = types.ModuleType(f"retrograd{name}")
        package.__path__ = [f"{ROOT}/retrograd{name.replace('.', '/')}"]
        sys.modules[package.__name__] = package
    sys.modules["retrograd"].errors = importlib.import_module("retrograd.errors")  # type: ignore[attr-defined]


_lay_out()
from retrograd.lesson.grader.grading import examine
from retrograd.lesson.grader.loading import module_class
from retrograd.lesson.grader.report import Subtitle, report_lines

FILE = "my_value.py"


def grade(text: str) -> str:
    """What ``retrograd grade`` says of the class ``Value`` in a text."""
    names: dict[str, object] = {"__name__": "my_value"}
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    try:
        exec(compile(text, FILE, "exec"), names)
    except Exception as error:
        lines = [step.lineno for step in traceback.extract_tb(error.__traceback__) if step.filename == FILE]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else None)
        return f"The code stops in line {line}, with {type(error).__name__}: {error}"
    cls = names.get("Value")
    if not isinstance(cls, type):
        return "A class Value is expected, and the code has none."
    seed = random.randrange(100_000)
    report = examine(cls, seed, module_class(names))
    subtitle = Subtitle("Value", "", seed, f"--seed {seed}", "--hint")
    return "\n".join(line.plain for line in report_lines(report, subtitle, 68, True))
