"""The learner's class, run with care: every exception becomes a Trouble, and an endless loop ends after a bound."""

from __future__ import annotations

import linecache
import math
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from .expressions import BINARY, Expression

__all__ = ["LINES", "Outcome", "Subject", "Trouble", "TroubleError", "number_of"]

Answer = TypeVar("Answer")

#: Lines of Python that a learner's class may run for one small expression; a right one needs a few hundred.
LINES = 50_000

#: The package's own folder and Python's: frames there are not the learner's.
_NOT_THEIRS = (str(Path(__file__).resolve().parents[2]), "<frozen")


@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong inside the learner's code: the exception in words, and the line that raised it."""

    kind: str  #: the exception's class
    says: str
    place: str = ""  #: ``my_value.py, line 12, in __mul__``
    source: str = ""

    def to_json(self) -> dict[str, str]:
        """As plain data."""
        return asdict(self)


class TroubleError(Exception):
    """The learner's code failed; ``trouble`` says how."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.says)
        self.trouble = trouble


class _EndlessError(BaseException):
    """More lines ran than any right class needs. A BaseException, so that ``except Exception`` lets it pass."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An expression computed with the learner's class: numbers by node, None for plain numbers in the expression."""

    data: list[float | None]
    grads: list[float | None]
    values: list[Any]


class Subject:
    """A learner's class, and how its backward pass is run.

    ``style`` is ``"backward"`` when the class has the method, ``"closures"`` or ``"local_grads"`` when it only records
    the local rules of each node (then the pass is run for it, in the right order), and ``"none"`` when it has neither.
    """

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.name: str = cls.__name__
        self.style = "backward" if callable(getattr(cls, "backward", None)) else "none"

    def find_style(self, sign: str) -> None:
        """Look at a result how the class without ``backward`` records its derivatives."""
        if self.style == "backward":
            return
        result = self.guard(lambda: BINARY[sign](self.make(1.5), self.make(2.5)))
        if callable(getattr(result, "_backward", None)):
            self.style = "closures"
        elif hasattr(result, "_local_grads") and _children(result):
            self.style = "local_grads"

    def has(self, method: str) -> bool:
        """Whether the class has a method; ``object`` has none of those that are asked for."""
        return callable(getattr(self.cls, method, None))

    def make(self, number: float) -> Any:
        """A Value of the learner's class."""
        return self.cls(number)

    def forward(self, expression: Expression) -> Outcome:
        """The expression's numbers, without a backward pass. Raises TroubleError."""
        values = self.compute(expression)
        return Outcome([_optional(value, self.data) for value in values], [], values)

    def compute(self, expression: Expression) -> list[Any]:
        """The expression's nodes. Raises TroubleError, also where an operation gives something else than a Value."""
        values = self.guard(lambda: expression.compute(self.make))
        for at in expression.operations:
            if not hasattr(values[at], "data") or isinstance(values[at], (int, float)):
                got = "None" if values[at] is None else f"a plain {type(values[at]).__name__}"
                says = f"{expression.nodes[at].operation} gave {got} and not a {self.name}"
                raise TroubleError(Trouble("NotAValue", says))
        return values

    def run(self, expression: Expression) -> Outcome:
        """The expression's numbers, and every gradient after one backward pass. Raises TroubleError."""
        values = self.compute(expression)
        self.backward(values[-1])
        return self.outcome(values)

    def outcome(self, values: list[Any]) -> Outcome:
        """What the nodes hold now."""
        return Outcome(
            [_optional(value, self.data) for value in values], [_optional(value, self.grad) for value in values], values
        )

    def data(self, value: Any) -> float:
        """The number of a Value."""
        return number_of(self.guard(lambda: value.data), ".data")

    def grad(self, value: Any) -> float:
        """The gradient of a Value."""
        return number_of(self.guard(lambda: value.grad), ".grad")

    def backward(self, root: Any, lines: int = LINES) -> None:
        """The backward pass: the learner's own, or for one without it the local rules in the right order."""
        self.guard(root.backward if self.style == "backward" else lambda: _walk_for_them(root, self.style), lines)

    def guard(self, work: Callable[[], Answer], lines: int = LINES) -> Answer:
        """Call ``work``; whatever it raises becomes a TroubleError that names the learner's line."""
        try:
            with bounded_lines(lines):
                return work()
        except (KeyboardInterrupt, TroubleError):
            raise
        except _EndlessError as error:
            says = f"it was still running after {lines:,} lines of Python"
            trouble = trouble_of(error)
            raise TroubleError(Trouble("Endless", says, trouble.place, trouble.source)) from None
        except BaseException as error:
            raise TroubleError(trouble_of(error)) from None


def number_of(thing: Any, where: str) -> float:
    """A number that a learner's Value holds. Raises TroubleError when it is none."""
    try:
        if thing is None or isinstance(thing, str):
            raise TypeError
        return float(thing)
    except OverflowError:
        return math.inf
    except Exception:
        kind = "None" if thing is None else f"of type {type(thing).__name__}"
        raise TroubleError(Trouble("NotANumber", f"{where} is {kind}, and should be a number")) from None


def trouble_of(error: BaseException) -> Trouble:
    """An exception in words, with the last line of the learner's that it passed."""
    kind = type(error).__name__
    says = " ".join(str(error).split())
    frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(_NOT_THEIRS)
    ]
    sentence = f"{kind}: {says}" if says else kind
    if not frames:
        return Trouble(kind, sentence)
    frame, line = frames[-1]
    return Trouble(kind, sentence, place_of(frame, line), linecache.getline(frame.f_code.co_filename, line).strip())


def place_of(frame: FrameType, line: int) -> str:
    """``my_value.py, line 12, in __mul__``."""
    name = frame.f_code.co_name
    inside = "" if name.startswith("<") else f", in {name}"
    return f"{Path(frame.f_code.co_filename).name}, line {line}{inside}"


def _optional(value: Any, read: Callable[[Any], float]) -> float | None:
    return None if isinstance(value, (int, float)) else read(value)


@contextmanager
def bounded_lines(most: int) -> Iterator[list[int]]:
    """Raise inside once more than ``most`` lines of Python have run there; yields the count so far, in a list."""
    count, previous = [0], sys.gettrace()

    def on_line(frame: FrameType, event: str, argument: object) -> Any:
        count[0] += 1
        if count[0] > most:
            raise _EndlessError
        return on_line

    sys.settrace(on_line)
    try:
        yield count
    finally:
        sys.settrace(previous)


# --- for a class without backward() ---------------------------------------------------------------


def _children(value: Any) -> tuple[Any, ...]:
    for name in ("_prev", "_children"):
        if hasattr(value, name):
            return tuple(getattr(value, name))
    return ()


def _walk_for_them(root: Any, style: str) -> None:
    """The backward pass of a class that only has local rules: what a lesson's reader does by hand."""
    order: list[Any] = []
    placed: set[int] = set()
    open_nodes = [(root, False)]
    while open_nodes:
        value, complete = open_nodes.pop()
        if complete:
            order.append(value)
        elif id(value) not in placed:
            placed.add(id(value))
            open_nodes.append((value, True))
            open_nodes.extend((child, False) for child in _children(value))
    root.grad = 1.0
    for value in reversed(order):
        if style == "closures":
            value._backward()
        else:
            for child, local in zip(value._children, value._local_grads, strict=False):
                child.grad += local * value.grad
