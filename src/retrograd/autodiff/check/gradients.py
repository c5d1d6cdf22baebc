"""``check_gradients(f, at)``: compares the gradient of every input with independently computed ones.

The other gradients are

* ``differences``: central differences of the function itself, with an estimate of their own error;
* ``reference``: the recorded graph swept by the reference engine, which must agree to the last bit;
* ``torch`` and ``jax``: the recorded graph run again in PyTorch or JAX in double precision. They get only the forward
  formulas of the op table, so they differentiate by their own rules.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from ... import engine, habits
from ...engine import Value
from ...engine.pytree import Leaf, flatten, paths, single_output
from ...errors import MissingPeerError, describe
from .cross_framework import PEERS, NotReplayableError, Recipe
from .differences import Difference, central_difference
from .ulp import ulp_distance

__all__ = ["GradientCheck", "GradientRow", "check_gradients"]

Verdict = Literal["agrees", "differs", "at a kink", "not finite"]

_RELATIVE = 1e-9  # how far PyTorch and JAX may be from us, of the number itself
_ABSOLUTE = 1e-13  # and of the largest gradient: what cancellation leaves of it
_LARGE = 10_000  # nodes, above which PyTorch and JAX are asked only by name
_MOST_ROWS = 60


@dataclass(frozen=True, slots=True)
class GradientRow:
    """One input of the function: our gradient beside the independent answers, and the verdict.

    Attributes:
        name: The input, such as ``x`` or ``weights[3]``.
        at: The number at which it was checked.
        ours: retrograd's gradient.
        difference: The central difference with a bound of its error; None when differences were not asked for.
        peers: The gradients of those that were asked and could answer, by name: 'reference', 'torch', 'jax'.
        verdict: What follows from them.

            * ``'agrees'``: the reference engine has the same bits, the central difference contains our gradient within
              its error, and PyTorch and JAX are within 1e-9 of theirs, or 1e-13 of the largest gradient, or the
              difference's error, whichever is largest.
            * ``'differs'``: at least one of these does not hold. The gradient must not be trusted.
            * ``'at a kink'``: the function has a kink or a jump there, and our gradient lies between the slopes on
              both sides: a subgradient. It counts as right.
            * ``'not finite'``: our gradient is infinite or NaN, and no central difference contradicts it.

    Example:
        >>> from retrograd import check_gradients
        >>> row = check_gradients(lambda x: x.relu(), (0.0,), peers=("differences",)).rows[0]
        >>> row.name, row.ours, row.verdict
        ('x', 0.0, 'at a kink')
    """

    name: str
    at: float
    ours: float
    difference: Difference | None  #: None when not asked for
    peers: Mapping[str, float]  #: 'reference', 'torch', 'jax': those that were asked and could answer
    verdict: Verdict

    def ulp(self, peer: str) -> float:
        """How many floats our gradient is from the peer's, in units in the last place (ULP).

        Args:
            peer: A key of ``peers``.

        Returns:
            0.0 for the same bits; infinity when one of the two is infinite or NaN.

        Raises:
            KeyError: That peer was not asked, or could not answer.
        """
        return ulp_distance(self.ours, self.peers[peer])


@dataclass(frozen=True, slots=True)
class GradientCheck:
    """The result of :func:`check_gradients`: true when every gradient is right. ``print`` shows it as a table.

    Attributes:
        value: The function's value at the point.
        rows: One :class:`GradientRow` for each input, with its verdict.
        peers: What the gradients were compared with: 'differences', 'reference', 'torch', 'jax'.
        notes: What could not be compared, and why, in sentences.

    Example:
        >>> from retrograd import check_gradients
        >>> check = check_gradients(lambda x, y: x * y, (2.0, 5.0), peers=("differences", "reference"))
        >>> check.summary
        'All 2 gradients agree.'
    """

    value: float
    rows: tuple[GradientRow, ...]
    peers: tuple[str, ...]  #: who was compared with
    notes: tuple[str, ...]  #: what could not be compared, and why

    @property
    def ok(self) -> bool:
        """Whether every gradient agrees, or lies between the two slopes of a kink. One not finite is not ok."""
        return all(row.verdict in ("agrees", "at a kink") for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def summary(self) -> str:
        """One line: all is well, or what is wrong with which input."""
        wrong = [row for row in self.rows if row.verdict in ("differs", "not finite")]
        if wrong:
            names = ", ".join(f"{row.name} ({row.verdict})" for row in wrong[:5]) + (", …" if len(wrong) > 5 else "")
            which = f"{len(wrong)} of {len(self.rows)} gradients" if len(self.rows) > 1 else "The gradient"
            return f"{which} must not be trusted: {names}."
        kinks = sum(row.verdict == "at a kink" for row in self.rows)
        if len(self.rows) == 1:
            return "The gradient agrees, at a kink." if kinks else "The gradient agrees."
        return f"All {len(self.rows)} gradients agree" + (f", {kinks} of them at a kink." if kinks else ".")

    def to_json(self) -> str:
        """The comparison as JSON: ``ok``, ``summary`` and the attributes; a number that is not finite is a string.

        Returns:
            One object on one line.

        Example:
            >>> from retrograd import check_gradients
            >>> check_gradients(lambda x: x * x, {"x": 3.0}, peers=("reference",)).to_json()[:56]
            '{"ok": true, "summary": "The gradient agrees.", "value":'
        """
        return json.dumps(_finite({"ok": self.ok, "summary": self.summary, **dataclasses.asdict(self)}))

    def __str__(self) -> str:
        from .table import render

        return render(self, _MOST_ROWS)


def _finite(thing: Any) -> Any:
    """``thing`` without numbers that JSON lacks: "inf", "-inf" and "nan"."""
    if isinstance(thing, dict):
        return {key: _finite(item) for key, item in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_finite(item) for item in thing]
    return repr(float(thing)) if isinstance(thing, float) and not math.isfinite(thing) else thing


@habits.refusing(habits.keywords.CHECK)
def check_gradients(f: Callable[..., Any], at: Any, peers: Sequence[str] | None = None) -> GradientCheck:
    """Compare our gradient of ``f`` at ``at`` with independent ones, input by input.

    ``'differences'`` are central differences of ``f`` itself, extrapolated (Richardson) and with a bound of their own
    error. ``'reference'`` is the sweep of the textbook engine in plain Python, which must have the same bits.
    ``'torch'`` and ``'jax'`` replay the graph in double precision from the forward formulas alone and differentiate it
    in their own way: they may differ by 1e-9 of the gradient, by 1e-13 of the largest one, or by the error of the
    central difference. :class:`GradientRow` says what each verdict means.

    Args:
        f: A function that returns one Value and is not random.
        at: What ``f`` is called with: a dictionary with the names of its arguments, a tuple with its positional
            arguments, or else its only argument. Each is a number or a pytree of numbers; Values and modules stand for
            their numbers.
        peers: Names out of the four above. By default the first two, and of the other two those that are installed, if
            the graph has at most 10,000 nodes. Importing them takes a second or two, once.

    Returns:
        A :class:`GradientCheck`, true when all gradients are right. Differences run ``f`` at least four times for
        each input.

    Raises:
        ValueError: A peer is unknown, or ``f`` gives another value at the same point.
        MissingPeerError: A peer is not installed. It is a MissingExtraError and a ValueError.
        TypeError: ``at`` holds something other than numbers, or other arguments than those of ``f``, or ``f`` returns
            something other than one number.

    Example:
        >>> from retrograd import check_gradients
        >>> bool(check_gradients(lambda x, y: x * y.sin(), {"x": 2.0, "y": 0.5}, peers=("differences", "reference")))
        True
    """
    chosen = _chosen(peers)
    point = _Point(f, at)
    recording = engine.set_recording(True)
    try:
        return _check(point, chosen, asked=peers is not None)
    finally:
        engine.set_recording(recording)


def _chosen(peers: Sequence[str] | None) -> list[str]:
    known = ["differences", "reference", *PEERS]
    if peers is None:
        return [name for name in known if name not in PEERS or find_spec(name) is not None]
    if not isinstance(peers, Iterable):
        raise TypeError(
            f"check_gradients takes the arguments of f in one, and got {describe(peers)} for peers: give them in a "
            "tuple, check_gradients(f, (2.0, 5.0)), or in a dictionary by their names."
        )
    for name in [peers] if isinstance(peers, str) else peers:
        if name not in known:
            raise ValueError(f"check_gradients knows no peer {name!r}; choose among {', '.join(known)}.")
        if name in PEERS and find_spec(name) is None:
            install = f'pip install "retrograd[{name}]"'
            raise MissingPeerError(f"the peer {name!r} is not installed: {install}, or leave it out of peers.")
    return [name for name in known if name in peers]


class _Point:
    """The function to check, and the numbers to check it at."""

    def __init__(self, function: Callable[..., Any], at: Any) -> None:
        self.function = function
        self.by_name = isinstance(at, dict) and all(isinstance(key, str) for key in at)
        self.by_position = isinstance(at, tuple)
        leaves, self.structure = flatten(at, "at")
        self._check_call(at)
        self.numbers = [leaf.data if isinstance(leaf, Value) else float(leaf) for leaf in leaves]
        self.names = _names(function, at, self.by_name, self.by_position)
        self.what = f"the result of {getattr(function, '__name__', type(function).__name__)}"

    def _check_call(self, at: Any) -> None:
        """Raise TypeError where the function does not take the arguments that ``at`` stands for."""
        try:
            own = inspect.signature(self.function)
        except (TypeError, ValueError):  # a builtin, which says so itself
            return
        try:
            own.bind(**at) if self.by_name else own.bind(*at) if self.by_position else own.bind(at)
        except TypeError as problem:
            name = getattr(self.function, "__name__", type(self.function).__name__)
            unknown = [key for key in at if key not in own.parameters] if self.by_name else []
            says = f"it has no {unknown[0]!r}" if unknown else problem
            meaning = "arguments" if self.by_name or self.by_position else "only argument"
            raise TypeError(
                f"{name}({', '.join(own.parameters)}) cannot be called with {describe(at)} as its {meaning} "
                f"({says}): give all arguments in a tuple, or in a dictionary by their names."
            ) from None

    def run(self, numbers: Sequence[float]) -> tuple[list[Value], Leaf]:
        """The inputs as fresh Values, and the function's result for them."""
        values = [Value(number) for number in numbers]
        for value, name in zip(values, self.names, strict=True):
            value.label = name
        filled = self.structure.fill(values)
        if self.by_name:
            result = self.function(**filled)
        elif self.by_position:
            result = self.function(*filled)
        else:
            result = self.function(filled)
        return values, single_output(result, self.what)

    def along(self, index: int) -> Callable[[float], float]:
        """The function of one input alone; NaN where it raises a domain error."""

        def function(x: float) -> float:
            numbers = list(self.numbers)
            numbers[index] = x
            try:
                _, result = self.run(numbers)
            except (ArithmeticError, ValueError):
                return float("nan")
            return result.data if isinstance(result, Value) else result

        return function


def _names(function: Callable[..., Any], at: Any, by_name: bool, by_position: bool) -> list[str]:
    """A name for each input, from the names of the function's parameters."""
    if by_name:
        return [name for key, item in at.items() for name in paths(item, key)]
    items = at if by_position else (at,)
    try:
        own = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        own = []
    own += [f"argument {index}" for index in range(len(own), len(items))]
    return [name for own_name, item in zip(own, items, strict=False) for name in paths(item, own_name)]


def _check(point: _Point, chosen: Sequence[str], asked: bool) -> GradientCheck:
    values, root = point.run(point.numbers)
    value = root.data if isinstance(root, Value) else root
    again = point.along(0)(point.numbers[0]) if point.numbers else value
    if again != value and (again == again or value == value):
        raise ValueError(
            f"{point.what} was {value!r}, and {again!r} when called again at the same point: a random function has no "
            "gradient to check. Seed its random numbers inside the function."
        )
    recipe = Recipe(root, values)
    ours = engine.gradients(root, 1.0, values) if isinstance(root, Value) else [0.0] * len(values)
    answers, notes = _ask_peers(recipe, chosen, asked, value)
    differences: list[Difference | None] = [None] * len(values)
    if "differences" in chosen:
        differences = [central_difference(point.along(i), x, value) for i, x in enumerate(point.numbers)]
    largest = max((abs(g) for g in ours if g == g and abs(g) != float("inf")), default=0.0)
    rows = []
    for index, (name, at, mine, difference) in enumerate(
        zip(point.names, point.numbers, ours, differences, strict=True)
    ):
        theirs = {peer: gradients[index] for peer, gradients in answers.items()}
        verdict = _verdict(mine, difference, theirs, largest)
        rows.append(GradientRow(name, at, mine, difference, theirs, verdict))
    compared = tuple(name for name in chosen if name == "differences" or name in answers)
    return GradientCheck(value, tuple(rows), compared, tuple(notes))


def _ask_peers(
    recipe: Recipe, chosen: Sequence[str], asked: bool, value: float
) -> tuple[dict[str, list[float]], list[str]]:
    """The gradients of each peer, and a note for each peer that gave none."""
    answers: dict[str, list[float]] = {}
    notes: list[str] = []
    skipped: dict[str, list[str]] = {}  # a reason, and the peers that were not asked for it
    given: list[str] = []  # peers that used the local derivatives of the user's own nodes
    for name in chosen:
        if name == "differences":
            continue
        if name in PEERS and not asked and len(recipe) > _LARGE:
            reason = f"replaying {len(recipe):,} nodes is slow; check_gradients does it for those named in peers"
            skipped.setdefault(reason, []).append(name)
            continue
        try:
            theirs, answers[name] = recipe.gradients(name)
        except NotReplayableError as error:
            skipped.setdefault(str(error), []).append(name)
            continue
        if name in PEERS and recipe.user_nodes:
            given.append(name)
        if name == "reference" and theirs != value and (theirs == theirs or value == value):
            notes.append(f"the reference engine computes {theirs!r} for the function itself, ours {value!r}.")
    for reason, names in skipped.items():
        notes.append(f"{_listed(names)} {'was' if len(names) == 1 else 'were'} not asked: {reason}.")
    if given:
        nodes = "a user-made node" if recipe.user_nodes == 1 else f"{recipe.user_nodes:,} user-made nodes"
        notes.append(f"{_listed(given)} took the local derivatives of {nodes} as they were given.")
    return answers, notes


def _listed(names: Sequence[str]) -> str:
    """``torch``, ``torch and jax``, ``reference, torch and jax``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _verdict(ours: float, difference: Difference | None, theirs: Mapping[str, float], largest: float) -> Verdict:
    """Ours must have the reference's bits, lie in the range of the differences, and be close to the other peers."""
    if "reference" in theirs and ulp_distance(ours, theirs["reference"]) != 0:
        return "differs"
    if ours != ours or abs(ours) == float("inf"):
        return "differs" if difference is not None and difference.sure else "not finite"
    if difference is not None and difference.known:
        low, high = difference.range
        if not low <= ours <= high:
            return "differs"
        if difference.kink:
            return "at a kink"
    slack = max(_ABSOLUTE * largest, difference.error if difference is not None and difference.known else 0.0)
    for peer, gradient in theirs.items():
        finite = gradient == gradient and abs(gradient) != float("inf")
        if peer != "reference" and finite and abs(ours - gradient) > max(slack, _RELATIVE * abs(gradient)):
            return "differs"
    return "agrees"
