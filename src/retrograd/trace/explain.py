"""``explain(...)``: the forward and the backward pass of an expression, a function or a Value, step by step."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from ..autodiff.check import GradientCheck, check_gradients
from ..autodiff.check.cross_framework import PEERS, NotReplayableError
from ..engine import Value
from ..engine.pytree import flatten, paths, single_output
from ..engine.source_lines import record_sources
from ..errors import RetrogradError, counted
from .build import trace_of
from .callgraph import record_calls
from .codec import check_to_json, encode
from .diagrams import to_dot, to_mermaid
from .expression import parse
from .few_calls import Call, check_in_few_calls, listening, rerun
from .graph import Graph
from .markdown import to_markdown
from .render import LIMIT, Section, check_section, sections
from .trace import Trace
from .variables import with_calls, with_variables

__all__ = ["Call", "Explanation", "call_function", "explain", "explain_function"]

#: Inputs times operations up to which showing an explanation also checks its gradients.
_CHECKED = 60_000


@dataclass(slots=True)
class Explanation:
    """A trace and how to show it: ``print`` it, let a notebook display it, or take ``.to_json()``.

    ``.trace`` is the plain data. ``.check`` compares the gradients with other ways to compute them, when first asked.
    """

    trace: Trace
    _function: Callable[..., Any] | None = field(default=None, repr=False)
    _at: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _check: GradientCheck | None = field(default=None, repr=False)
    _brief_check: Callable[[tuple[str, ...] | None], GradientCheck | str] | None = field(default=None, repr=False)

    @property
    def check(self) -> GradientCheck | None:
        """Compares our gradients with finite differences, the reference engine, and PyTorch and JAX if installed.

        Of a function these are its own differences, for which it runs at least four times for each input. What is
        printed has those of the recorded graph, and runs the function twice more, or never where it prints.

        None when there are no inputs. Raises what ``check_gradients`` does, and ValueError when the graph cannot be
        run again because of a node that the user made.
        """
        return self.checked(None)

    def checked(self, peers: tuple[str, ...] | None) -> GradientCheck | None:
        """As ``check``, against these peers only (see ``check_gradients``)."""
        if self._check is None and self._function is not None and self._at:
            try:
                self._check = check_gradients(self._function, dict(self._at), peers)
            except NotReplayableError as reason:
                raise ValueError(str(reason)) from None
        return self._check

    def check_or_reason(self, peers: tuple[str, ...] | None = ()) -> GradientCheck | str | None:
        """The check, or a sentence why there is none.

        ``()`` stands for the peers that a display can afford: those which need no library to be imported for them.
        """
        inputs, operations = len(self.trace.leaves), len(self.trace.operations)
        if self._check is None and inputs * operations > _CHECKED:
            size = f"{counted(inputs, 'input')} and {counted(operations, 'operation')}"
            return f"Not made by itself for {size}: run retrograd check, or ask for .check."
        if peers == ():
            peers = ("differences", "reference", *(name for name in PEERS if name in sys.modules))
        try:
            if self._check is None and self._brief_check is not None:
                return self._brief_check(peers)
            return self.checked(peers)
        except (ArithmeticError, ValueError, TypeError, RetrogradError) as error:
            return f"Not made: {str(error).rstrip('.')}."

    def to_text(self, width: int = 80, limit: int | None = LIMIT, check: bool = True) -> str:
        """Plain text, no line wider than ``width`` columns.

        ``limit`` bounds the steps shown in each part (None: all of them); ``check`` adds the table of the check.
        """
        console = Console(
            file=io.StringIO(),
            width=width,
            color_system=None,
            force_terminal=False,
            legacy_windows=False,
            force_jupyter=False,
        )
        with console.capture() as capture:
            for section in self.sections(limit, check):
                console.print(section)
        return "\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip() + "\n"

    def sections(
        self, limit: int | None = LIMIT, check: bool = True, peers: tuple[str, ...] | None = ()
    ) -> Iterator[Section]:
        """The parts of the text in order; the check comes last, because it takes longest."""
        yield from sections(self.trace, limit)
        if check and (table := self.check_or_reason(peers)) is not None:
            yield check_section(table, limit)

    def to_json(self, indent: int | None = None, check: bool = False) -> str:
        """The trace as JSON (its schema is ``retrograd/trace/schema.json``), with the check where there is one."""
        table = self.check_or_reason(None) if check else None
        return encode(self.trace, indent, check_to_json(table) if isinstance(table, GradientCheck) else None)

    def to_markdown(self, limit: int | None = LIMIT, check: bool = True) -> str:
        """Markdown with formulas in LaTeX, as notebooks and web pages show it."""
        return to_markdown(self.trace, self.check_or_reason() if check else None, limit)

    def to_dot(self) -> str:
        """The graph in Graphviz's language: ``dot -Tsvg`` draws it."""
        return to_dot(self.trace)

    def to_mermaid(self) -> str:
        """The graph as a flowchart of Mermaid, which Markdown pages show."""
        return to_mermaid(self.trace)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __str__(self) -> str:
        text = self.to_text()
        try:
            text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
        except UnicodeEncodeError:
            return ascii_text(text)
        return text

    __repr__ = __str__

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.sections()


def ascii_text(text: str) -> str:
    """The same text where only ASCII can be shown: ``#`` for a bar, ``|`` for its axis, ``?`` for the rest."""
    return text.replace("█", "#").replace("│", "|").encode("ascii", "replace").decode("ascii")


def explain(thing: str | Value | Callable[..., Any], /, **values: Any) -> Explanation:
    """Explain a forward and a backward pass step by step: every number, local derivative and ``+=``.

    No ``.grad`` is touched: the pass is one of its own, seeded with 1.

    Args:
        thing: An expression as text, a Value, or a function, which is called with ``values`` and returns one Value.
        **values: For an expression, the number of each name. For a function, its arguments: numbers or pytrees of
            them. For a Value, names for the Values it was computed from; otherwise their labels are shown, or else
            the names of the variables that hold them, and letters where there are none.

    Returns:
        An Explanation: ``print`` it, let a notebook display it, or take ``.to_json()`` or ``.trace``.

    Raises:
        ExpressionError: The expression cannot be read, or uses a name without a value.
        TypeError: ``thing`` is something else, an argument is missing or unknown, or a function's result is not one
            Value.
        ChangedValueError: The ``.data`` of something that an operation used has changed since.
        MissingDerivativeError: A node made with children has no derivative.

    Example:
        >>> import retrograd as rg
        >>> print(rg.explain("a*b", a=2, b=-3).trace.backward[1].additions[0].text)
        a.grad += b.data * L.grad = -3.0 * 1.0 = -3.0
    """
    if isinstance(thing, str):
        return _explain_expression(thing, values)
    if isinstance(thing, Value):
        return _explain_value(thing, values, sys._getframe(1))
    if callable(thing):
        return explain_function(thing, values)
    raise TypeError(
        f"explain() takes an expression, a Value or a function, not {type(thing).__name__}. "
        "Pass the Value that you would call .backward() on, for example explain(loss)."
    )


def _explain_expression(text: str, values: Mapping[str, Any]) -> Explanation:
    expression = parse(text)
    evaluation = expression.evaluate(values)
    trace = Trace.of(
        evaluation.root, evaluation.leaves, title=" ".join(expression.text.split()), written=evaluation.written
    )
    numbers = {name: leaf.data for name, leaf in evaluation.leaves.items()}
    return Explanation(trace, lambda **leaves: expression.evaluate(leaves).root, numbers)


def _explain_value(root: Value, names: Mapping[str, Any], frame: FrameType) -> Explanation:
    for name, value in names.items():
        if not isinstance(value, Value):
            raise TypeError(f"explain(value, {name}=...) names a Value, and got {value!r}: leave it out.")
    graph = Graph(root, with_variables(names, root, frame))
    leaves = {graph.names[leaf]: leaf for leaf in graph.leaves}
    return Explanation(trace_of(graph), rerun(root, leaves), {name: leaf.data for name, leaf in leaves.items()})


def explain_function(function: Callable[..., Any], values: Mapping[str, Any], title: str = "") -> Explanation:
    """Call ``function`` with Values in place of the numbers in ``values`` and explain its result.

    Numbers may be nested in lists, tuples, dictionaries and arrays. Raises TypeError when a parameter has no value, a
    value no parameter, or the result is not a Value.
    """
    function = getattr(function, "scalar_function", function)  # of a compiled function
    with record_calls() as calls, listening() as heard:
        call = call_function(function, values, title)
    names = with_calls(call.leaves, call.result, calls)

    def brief_check(peers: tuple[str, ...] | None) -> GradientCheck | str:
        return check_in_few_calls(call, function, values, peers, prints=heard.anything)

    trace = Trace.of(call.result, names, title=call.title)
    return Explanation(trace, function, values, _brief_check=brief_check if call.leaves else None)


def call_function(function: Callable[..., Any], values: Mapping[str, Any], title: str = "") -> Call:
    """Call ``function`` as :func:`explain_function` does, recording source lines, without making a trace.

    Of a compiled function it is the scalar function that is called: its graph is what is looked at.
    """
    function = getattr(function, "scalar_function", function)
    name = title or getattr(function, "__qualname__", type(function).__name__)
    _check_parameters(function, values, name)
    named: dict[str, Value] = {}
    arguments: dict[str, Any] = {}
    for parameter, value in values.items():
        leaves, structure = flatten(value, parameter)
        own = [leaf if isinstance(leaf, Value) else Value(leaf) for leaf in leaves]
        for leaf, label in zip(own, paths(value, parameter), strict=True):
            leaf.label = leaf.label or label
            named[leaf.label] = leaf
        arguments[parameter] = structure.fill(own)
    with record_sources():
        result = single_output(function(**arguments), f"the result of {name}")
    if not isinstance(result, Value):
        raise TypeError(
            f"{name} returned {result!r}, a plain number: its result must be a Value computed from its arguments, "
            "so use retrograd.math instead of math, and no .data or float()."
        )
    return Call(f"{name}({', '.join(values)})", result, named)


def _check_parameters(function: Callable[..., Any], values: Mapping[str, Any], name: str) -> None:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    kinds = inspect.Parameter
    if any(parameter.kind is kinds.VAR_KEYWORD for parameter in parameters.values()):
        return
    usable = {key: p for key, p in parameters.items() if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)}
    called = f"{name}({', '.join(parameters)})"
    unknown = [key for key in values if key not in usable]
    if unknown:
        raise TypeError(f"{called} has no parameter {unknown[0]!r} that can be given by name: leave it out.")
    missing = [key for key, parameter in usable.items() if parameter.default is kinds.empty and key not in values]
    if missing:
        raise TypeError(f"{called} needs a value for {', '.join(missing)}: give it, for example {missing[0]}=1.")
    hidden = [key for key, p in parameters.items() if p.kind is kinds.POSITIONAL_ONLY and p.default is kinds.empty]
    if hidden:
        raise TypeError(f"{called} takes {hidden[0]!r} by position only: remove the / from its parameters.")
