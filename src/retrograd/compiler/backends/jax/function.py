"""``to_jax``: a scalar function becomes a JAX function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np

from .... import engine, errors
from ....engine import Value
from ....engine.pytree import flatten
from ....engine.source_lines import Location
from ....index import Index
from ....ops.jax_functions import import_jax
from ...calls.arguments import Unsuitable, signature_of
from ...calls.effects import contents
from ...calls.signature import Signature
from ...guards.captured_state import asks_of, functions_of
from ...if_conversion.conversions import Conversions, without_decisions
from ...reports.reasons import Reason
from ...request import CompileRequest, Options
from ...tracing.followed_calls import following
from ...tracing.recorder import Recorder
from ...tracing.recording import Recording
from ..example import check_example
from ..loops.graphs.graph import UnsupportedGraphError
from ..loops.shapes.sections import find_structure, forms_of
from .layout import Layout
from .lowering import CallNumbers, lower
from .plan import Plan
from .scans import lower_loops
from .views import gather

__all__ = ["JaxFunction", "to_jax"]


#: The loops of a graph are written where they have so many times fewer operations than the program has vector
#: instructions, and at most so many.
_SHORTER, _MOST_OPERATIONS = 2, 6_000


class JaxFunction:
    """A compiled scalar function as a pure JAX function of arrays, made by :func:`retrograd.compile` and ``to_jax``.

    ``g(parameters, *inputs)`` gives the function's value as a JAX scalar. JAX can jit it, differentiate it to any
    order, map it over a batch (``jax.vmap``) and shard it.

    Nothing raises inside: an operation outside its domain gives an infinity or NaN, and an index that selects nothing
    gives NaN. Where a comparison that chose the path through the function comes out otherwise than in the example,
    the value and all derivatives are NaN; ``guards`` lists those comparisons.

    Attributes:
        values: the Values whose numbers are the parameters, in the order of the parameter vector.
        guards: a sentence for each comparison that chose the path.

    Example::

        loss = rg.compile(lambda x, y: (model(x) - y) ** 2)
        g = loss.to_jax([0.5, -1.0], 1.0, parameters=model)
        value, gradient = jax.value_and_grad(g)(g.parameters, *g.inputs([0.5, -1.0], 1.0))
        g.add_gradients(gradient)  # into .grad of the model's Values
    """

    def __init__(
        self,
        function: Callable[..., Any],
        values: Sequence[Value],
        recording: Recording,
        spec: Any,
        program: Any,
        lowered: Callable[[CallNumbers], tuple[Any, Any]],
    ) -> None:
        """Users call ``to_jax``.

        Args:
            function: the scalar function; its name is the JAX function's.
            values: the Values of the parameter vector.
            recording: what was recorded when the example ran; its guards are checked in every call.
            spec: the structure of the arguments, as ``signature_of`` gives it.
            program: the vector program, as ``listing`` gives it, with its guards.
            lowered: the same in JAX: the value, and a vector of that and what the guards compare.
        """
        self.__name__: str = getattr(function, "__name__", "function")
        self.__qualname__ = self.__name__
        self.values: tuple[Value, ...] = tuple(values)
        self.guards: tuple[str, ...] = (
            *(_sentence(g.kind, g.outcome, g.where) for g in recording.guards),
            *(_sentence(g.kind, g.outcome, g.where) for g in recording.index_guards),
        )
        self._layout = Layout(spec)
        self._program = lowered
        self._parameter_positions = _parameter_positions(program, self.values)
        self._index_limits = _index_limits(program)
        #: (place, kind, place of the other or -1, else its number, outcome) of each
        self._number_guards = [
            (left, kind, -1 if right is None else right, number, outcome)
            for kind, left, right, number, outcome in program["guards"]
        ]
        self._index_guards = [
            (g.slot, g.kind, -1 if g.other_slot is None else g.other_slot, g.other, g.outcome)
            for g in recording.index_guards
        ]

    # --- the function -----------------------------------------------------------------------------------------

    def __call__(self, parameters: Any, *inputs: Any) -> Any:
        """The function's value.

        Args:
            parameters: a vector with a number for each of ``values``. Its dtype is that of the computation, or JAX's
                default if it is not a floating one.
            inputs: arrays for the function's arguments, as ``inputs`` makes them.

        Returns:
            A JAX array without axes.

        Raises:
            TypeError: an array has another shape, or there are fewer or more than the function was made for.
        """
        import jax
        import jax.numpy as jnp

        parameters = jnp.asarray(parameters)
        if parameters.shape != (len(self.values),):
            raise errors.other_arguments(f"it has {len(self.values)} parameters, not the shape {parameters.shape}")
        dtype = parameters.dtype if jnp.issubdtype(parameters.dtype, jnp.floating) else jnp.result_type(float)

        def convert(array: Any, kind: str) -> Any:
            return jnp.asarray(array, jnp.int32 if kind == "index" else dtype)

        numbers = self._layout.vectors(inputs, convert)
        stores = {
            store: gather(parameters.astype(dtype), positions) for store, positions in self._parameter_positions.items()
        }
        call = CallNumbers(stores, numbers["passive"], numbers["active"], numbers["index"], dtype)
        value, compared = self._program(call)
        hold = self._guards_hold(jax.lax.stop_gradient(compared), numbers["index"])
        if hold is None:
            return value
        given = jnp.concatenate([parameters.astype(dtype), numbers["passive"], numbers["active"]])
        return jnp.where(hold, value, _nothing(hold, given))

    def _guards_hold(self, compared: Any, indices: Any) -> Any:
        """Whether every comparison comes out as in the example; None if there is none."""
        import jax.numpy as jnp

        hold = None
        for numbers, guards in ((compared, self._number_guards), (indices, self._index_guards)):
            for kind in sorted({kind for _, kind, *_ in guards}):
                rows = [row for row in guards if row[1] == kind]
                left, other, number, outcome = (np.asarray([row[i] for row in rows]) for i in (0, 2, 3, 4))
                right = jnp.where(other < 0, number.astype(numbers.dtype), numbers[np.maximum(other, 0)])
                holds = jnp.all(_COMPARE[kind](numbers[left], right) == outcome)
                hold = holds if hold is None else hold & holds
        return hold

    # --- from and to the scalar world -------------------------------------------------------------------------

    @property
    def parameters(self) -> Any:
        """The present numbers of ``values`` as one vector: float64 where JAX has it enabled, else float32."""
        import jax.numpy as jnp

        return jnp.asarray(np.asarray([value.data for value in self.values], dtype=np.float64))

    def fits(self, *arguments: Any) -> bool:
        """Whether arguments of the scalar function have the structure that this function was made for."""
        return self._layout.read(arguments) is not None

    def inputs(self, *arguments: Any) -> tuple[Any, ...]:
        """The inputs for one call.

        Args:
            arguments: the arguments of the scalar function.

        Returns:
            What to pass after the parameters: NumPy arrays, or tuples and dictionaries of them. Floats and Values
            become floating arrays, Indexes int32 arrays; what is the same in every call is left out.

        Raises:
            TypeError: the arguments have another structure than those of the example.
            IndexError: an Index selects nothing.
        """
        numbers = self._layout.read(arguments)
        if numbers is None:
            raise errors.other_arguments(f"it takes {self._layout or 'none'} and what was the same in the example")
        for slot, limit in self._index_limits.items():
            if not 0 <= numbers["index"][slot] < limit:
                raise errors.no_such_position(int(numbers["index"][slot]), limit)
        return self._layout.arrays(numbers)

    def batch(self, members: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
        """The inputs of several calls, stacked along one more axis in front.

        Args:
            members: the arguments of each call.

        Returns:
            Inputs that ``jax.vmap(g, (None, 0, …))`` takes after the parameters.

        Raises:
            ValueError: there are no members.
            TypeError: a member has another structure than the example.
            IndexError: an Index selects nothing.
        """
        import jax

        inputs = [self.inputs(*arguments) for arguments in members]
        if not inputs:
            raise ValueError("batch takes at least one member, a tuple of arguments.")
        return jax.tree.map(lambda *arrays: np.stack(arrays), *inputs)  # type: ignore[no-any-return]

    def assign(self, parameters: Any) -> None:
        """Set ``.data`` of ``values`` to the numbers of a parameter vector.

        Raises:
            TypeError: the vector has another shape.
        """
        for value, number in zip(self.values, self._numbers(parameters), strict=True):
            value.data = number

    def add_gradients(self, gradients: Any) -> None:
        """Add a gradient by the parameters, as ``jax.grad(g)`` gives it, to ``.grad`` of ``values``.

        Raises:
            TypeError: the gradient has another shape than the parameter vector.
        """
        for value, number in zip(self.values, self._numbers(gradients), strict=True):
            value.grad += number

    def _numbers(self, vector: Any) -> list[float]:
        numbers = np.asarray(vector, dtype=np.float64)
        if numbers.shape != (len(self.values),):
            raise errors.other_arguments(f"it has {len(self.values)} parameters, not the shape {numbers.shape}")
        return numbers.tolist()  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        inputs = str(self._layout)
        return f"<JAX function {self.__name__}(parameters[{len(self.values)}]{', ' if inputs else ''}{inputs})>"


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def _nothing(hold: Any, given: Any) -> Any:
    """NaN with all its derivatives, of each order, by all that is given, unless the guards hold.

    Where they do, nothing here is NaN or depends on what is given, so that the derivatives are zeros.
    """
    import jax.numpy as jnp

    return jnp.where(hold, 0.0, jnp.nan) * jnp.exp(jnp.sum(jnp.where(hold, 0.0, given)))


def _sentence(kind: str, outcome: bool, where: Location | None) -> str:
    compares = "asks whether a number is zero" if kind == "bool" else f"compares with {kind}"
    return f"{where or 'the function'} {compares} and found it {str(outcome).lower()}."


# --- making one -----------------------------------------------------------------------------------------------


def to_jax(
    function: Callable[..., Any], arguments: Sequence[Any], parameters: Any, known: Callable[[], Conversions]
) -> JaxFunction:
    """A scalar function as a JAX function; users call ``Compiled.to_jax``.

    Args:
        function: the scalar function.
        arguments: an example of its arguments, with which it is traced.
        parameters: a Module or nested Values, which fix the order of the parameter vector. None takes every leaf that
            the function depends on.
        known: gives how many iterations loops took in calls of the function.

    Raises:
        MissingExtraError: JAX is not installed.
        NotTraceableError: a trace would not be valid for other calls, or the function depends on a leaf that is not
            among ``parameters``.
    """
    import_jax("to_jax")
    if engine.ENGINE != "native":
        raise errors.not_traceable(function, "the reference engine has no compiler; use the native engine")
    check_example(function, arguments, "become a JAX function", "to_jax(")
    recording, signature = without_decisions(
        function,
        arguments,
        lambda: _traced(function, arguments),
        lambda traced: traced[0].guards if isinstance(traced[0].result, Value) else None,
        known(),
    )
    program, lowered = _program(function, recording, signature)
    values = _values(function, program, parameters)
    return JaxFunction(function, values, recording, signature.spec, program, lowered)


def _traced(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Recording, Signature]:
    asks = asks_of(function, arguments)._replace(identity=None, same_numbers=False)
    # Maxima of lists become families of reductions, as in attention; to find the first of equals takes longer.
    recorder = Recorder(asks.truth, wants_ints=asks.types, derives_by_floats=True, orders_lists=False)
    try:
        signature = signature_of(arguments, recorder, False, asks)
    except Unsuitable as problem:
        raise errors.not_traceable(function, str(problem)) from None
    held = contents(signature.tracers)
    with following(functions_of(function, arguments), exact=False):
        recording = recorder.run(function, signature.tracers, want_sources=True)
    if contents(signature.tracers) != held:
        raise errors.not_traceable(function, "it changes an argument, which no call of the JAX function would do")
    if recording.graph_breaks:
        raise errors.not_traceable(function, recording.graph_breaks[0])
    if recording.asks_kind or recording.asks_which:
        raise errors.not_traceable(
            function,
            "it asks which of several numbers, or of a Value and a plain number, was chosen: as a key, or by .data; "
            "choose with rg.maximum or rg.where",
        )
    if recording.primitives:
        raise errors.not_traceable(
            function,
            f"it calls the primitive {recording.primitives[0]}, whose own derivatives JAX would not know beyond the "
            "first order; write it as a jax.custom_jvp in the JAX program",
        )
    return recording, signature


def _program(
    function: Callable[..., Any], recording: Recording, signature: Signature
) -> tuple[Any, Callable[[CallNumbers], tuple[Any, Any]]]:
    """The vector program of a recording, and the same in JAX. Its roots are the result and what the guards compare."""
    if not isinstance(recording.result, Value):
        raise errors.not_traceable(function, "its result depends neither on a Value nor on an argument")
    cache = engine.SpecializationCache(lambda *_: None, Index, Reason)
    try:
        number = cache.add(CompileRequest(recording, signature, False, Options(tier="vm"), cache.capture([])))
    except NotImplementedError as problem:
        raise errors.not_traceable(function, str(problem)) from None
    program = cache.listing(number)
    plan = _plan(cache, number, len(program["instructions"]))
    return program, lower(program) if plan is None else _with_leaves(lower_loops(plan), program)


def _plan(cache: engine.SpecializationCache, number: int, instructions: int) -> Plan | None:
    """The loops of a program's graph, if they are much less to write than its vector instructions."""
    most = min(instructions // _SHORTER, _MOST_OPERATIONS)
    try:
        graphs = forms_of(cache.scalar_graph(number, False), balanced=False)
    except UnsupportedGraphError:
        return None
    for graph, nested in product(graphs, (True, False)):
        with suppress(UnsupportedGraphError):
            return Plan(graph, find_structure(graph, most, nested))
    return None


def _with_leaves(
    function: Callable[[Any, Any], tuple[Any, Any]], program: Any
) -> Callable[[CallNumbers], tuple[Any, Any]]:
    """A function of a call's numbers, given one of the vector of leaves."""
    places = [
        (("parameter", store) if kind == "parameter" else ("input", int(active)), offset)
        for _, kind, active, store, offset in program["leaves"]
    ]

    def call(numbers: CallNumbers) -> tuple[Any, Any]:
        import jax.numpy as jnp

        parts = {("input", 0): numbers.passive, ("input", 1): numbers.active}
        parts |= {("parameter", store): array for store, array in numbers.parameters.items()}
        begins = dict(zip(parts, np.cumsum([0, *(part.shape[0] for part in parts.values())]).tolist(), strict=False))
        positions = np.array([begins[part] + offset for part, offset in places], np.int64)
        return function(gather(jnp.concatenate(list(parts.values())), positions), numbers.dtype)

    return call


def _values(function: Callable[..., Any], program: Any, parameters: Any) -> list[Value]:
    """The Values of the parameter vector: those of ``parameters``, or all that the program reads, in its order."""
    used = [(store, offset, leaf) for leaf, _, _, store, offset in program["leaves"] if leaf is not None]
    if parameters is None:
        return [leaf for _, _, leaf in sorted(used, key=lambda entry: entry[:2])]
    values = [leaf for leaf in flatten(parameters, "parameters")[0] if isinstance(leaf, Value)]
    known = set(map(id, values))
    for _, _, leaf in used:
        if id(leaf) not in known:
            raise errors.not_traceable(
                function, f"it depends on {errors.name_of(leaf)}, which is not among parameters="
            )
    return list({id(value): value for value in values}.values())


def _parameter_positions(program: Any, values: Sequence[Value]) -> dict[int, Any]:
    """For each store of the program, the position of each of its numbers in the parameter vector."""
    position_of = {id(value): position for position, value in enumerate(values)}
    positions: dict[int, Any] = {}
    for kind, _, _, length, store in program["regions"]:
        if kind == "parameter":
            positions[store] = np.full(length, -1, dtype=np.int64)
    for leaf, _, _, store, offset in program["leaves"]:
        if leaf is not None:
            positions[store][offset] = position_of[id(leaf)]
    for of_store in positions.values():
        _fill_gaps(of_store, len(values))
    return positions


def _fill_gaps(positions: Any, count: int) -> None:
    """Replace -1, of numbers that the program does not read, so that consecutive positions stay consecutive."""
    known = np.flatnonzero(positions >= 0)
    if not known.size:
        positions.fill(0)
        return
    before = np.searchsorted(known, np.arange(positions.size), side="right") - 1
    neighbour = known[np.maximum(before, 0)]
    positions[:] = np.clip(positions[neighbour] + np.arange(positions.size) - neighbour, 0, count - 1)


def _index_limits(program: Any) -> dict[int, int]:
    """For each index argument that selects, the number of candidates that it selects from."""
    limits: dict[int, int] = {}
    for instruction in program["instructions"]:
        if instruction["code"] != "select":
            continue
        _, base, strides = instruction["views"][1]
        for indices in np.ndindex(*instruction["sizes"]):
            slot = base + sum(i * stride for i, stride in zip(indices, strides, strict=True))
            limits[slot] = min(limits.get(slot, instruction["limit"]), instruction["limit"])
    return limits
