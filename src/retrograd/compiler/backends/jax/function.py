"""``f.to_jax(…)``: a compiled function as a function of JAX arrays, to jit, differentiate, map and shard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .... import engine, errors
from ....engine import Value
from ....engine.pytree import flatten
from ....engine.source_lines import Location
from ....index import Index
from ....ops.jax_functions import import_jax
from ...recorder import Recorder
from ...recording import Recording
from ...request import CompileRequest, Options
from ...signature import Signature, Unsuitable, signature_of
from .layout import Layout
from .lowering import Memory, lowered
from .views import gather

__all__ = ["JaxFunction", "to_jax"]


class JaxFunction:
    """``g(parameters, *inputs)``: the value of a scalar function as a JAX scalar; a pure function of arrays.

    ``parameters`` is one vector, a number for each of ``g.values`` in their order; its dtype is that of the
    computation. ``inputs`` are arrays for the function's arguments, as ``g.inputs(*arguments)`` makes them
    (:mod:`retrograd.compiler.jax.layout` says how): floats and Values become floating arrays, Indexes int32 ones,
    and what is the same in every call is left out.

    Nothing raises inside: an operation outside its domain gives an infinity or NaN, a position that selects nothing
    gives NaN. Where a comparison that decided something in the example comes out otherwise, the value and every
    derivative are NaN; ``g.guards`` lists those comparisons.
    """

    def __init__(
        self, function: Callable[..., Any], values: Sequence[Value], recording: Recording, spec: Any, program: Any
    ) -> None:
        self.__name__ = self.__qualname__ = getattr(function, "__name__", "function")
        #: The Values whose numbers are the parameters.
        self.values = tuple(values)
        #: The comparisons that decided something, a sentence each.
        self.guards = tuple(
            [_sentence(g.kind, g.outcome, g.where) for g in recording.guards]
            + [_sentence(g.kind, g.outcome, g.where) for g in recording.index_guards]
        )
        self._layout = Layout(spec)
        self._run = lowered(program)
        self._places = _places(program, self.values)
        self._limits = _limits(program)
        self._checks = program["guards"]
        self._index_checks = [(g.slot, g.kind, g.other_slot, g.other, g.outcome) for g in recording.index_guards]

    # --- the function -----------------------------------------------------------------------------------------

    def __call__(self, parameters: Any, *inputs: Any) -> Any:
        """The value, a scalar array. Raises TypeError for arrays of another shape than it was made for."""
        import jax.numpy as jnp

        parameters = jnp.asarray(parameters)
        if parameters.shape != (len(self.values),):
            raise errors.other_arguments(f"it has {len(self.values)} parameters, not the shape {parameters.shape}")
        dtype = parameters.dtype if jnp.issubdtype(parameters.dtype, jnp.floating) else jnp.result_type(float)

        def convert(thing: Any, kind: str) -> Any:
            return jnp.asarray(thing, jnp.int32 if kind == "index" else dtype)

        numbers = self._layout.vectors(inputs, convert)
        stores = {store: gather(parameters.astype(dtype), where) for store, where in self._places.items()}
        memory = Memory(stores, numbers["passive"], numbers["active"], numbers["index"], dtype)
        roots = self._run(memory)
        value, holds = roots[0], self._hold(roots, numbers["index"])
        return value if holds is None else value * jnp.where(holds, 1.0, jnp.nan)

    def _hold(self, roots: Sequence[Any], indices: Any) -> Any:
        """Whether every comparison comes out as in the example; None when there is none."""
        holds = None
        decisions = []
        for kind, left, right, number, outcome in self._checks:
            decisions.append((kind, roots[left], number if right is None else roots[right], outcome))
        for slot, kind, other_slot, other, outcome in self._index_checks:
            decisions.append((kind, indices[slot], other if other_slot is None else indices[other_slot], outcome))
        for kind, left, right, outcome in decisions:
            here = _COMPARE[kind](left, right) == outcome
            holds = here if holds is None else holds & here
        return holds

    # --- from and to the scalar world -------------------------------------------------------------------------

    @property
    def parameters(self) -> Any:
        """The numbers of ``values`` now, as one vector: float64 where JAX has it enabled, else float32."""
        import jax.numpy as jnp

        return jnp.asarray(np.asarray([value.data for value in self.values], dtype=np.float64))

    def fits(self, *arguments: Any) -> bool:
        """Whether arguments of the scalar function have the structure that this function was made for."""
        return self._layout.read(arguments) is not None

    def inputs(self, *arguments: Any) -> tuple[Any, ...]:
        """What to pass after the parameters for a call ``function(*arguments)``: a tuple of NumPy arrays.

        Raises TypeError for arguments of another structure, IndexError for an Index that selects nothing.
        """
        numbers = self._layout.read(arguments)
        if numbers is None:
            raise errors.other_arguments(f"it takes {self._layout or 'none'} and what was the same in the example")
        for slot, limit in self._limits.items():
            if not 0 <= numbers["index"][slot] < limit:
                raise errors.no_such_position(int(numbers["index"][slot]), limit)
        return self._layout.arrays(numbers)

    def batch(self, members: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
        """The inputs of several calls with one more axis in front: ``jax.vmap(g, (None, 0, …))`` takes them."""
        import jax

        rows = [self.inputs(*arguments) for arguments in members]
        if not rows:
            raise ValueError("batch takes at least one member, a tuple of arguments.")
        return jax.tree.map(lambda *arrays: np.stack(arrays), *rows)  # type: ignore[no-any-return]

    def assign(self, parameters: Any) -> None:
        """Give ``values`` the numbers of a parameter vector."""
        for value, number in zip(self.values, self._vector(parameters), strict=True):
            value.data = number

    def add_gradients(self, gradients: Any) -> None:
        """Add a gradient by the parameters, as ``jax.grad(g)`` gives it, to ``.grad`` of ``values``."""
        for value, number in zip(self.values, self._vector(gradients), strict=True):
            value.grad += number

    def _vector(self, vector: Any) -> list[float]:
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


def _sentence(kind: str, outcome: bool, where: Location | None) -> str:
    compares = "asks whether a number is zero" if kind == "bool" else f"compares with {kind}"
    return f"{where or 'the function'} {compares} and found it {str(outcome).lower()}."


# --- making one -----------------------------------------------------------------------------------------------


def to_jax(function: Callable[..., Any], arguments: Sequence[Any], parameters: Any) -> JaxFunction:
    """``function``, traced with ``arguments``, as a JAX function; see ``Compiled.to_jax``."""
    import_jax("to_jax")
    if engine.ENGINE != "native":
        raise errors.not_traceable(function, "the reference engine has no compiler; use the native engine")
    recording, signature = _traced(function, arguments)
    program = _program(function, recording, signature)
    return JaxFunction(function, _values(function, program, parameters), recording, signature.spec, program)


def _traced(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Recording, Signature]:
    recorder = Recorder(pure=True)
    try:
        signature = signature_of(arguments, recorder, False)
    except Unsuitable as problem:
        raise errors.not_traceable(function, str(problem)) from None
    recording = recorder.run(function, signature.tracers, want_sources=True)
    if recording.graph_breaks:
        raise errors.not_traceable(function, recording.graph_breaks[0])
    return recording, signature


def _program(function: Callable[..., Any], recording: Recording, signature: Signature) -> Any:
    """The vector program of a recording. Its roots are the result and then what the guards compare."""
    if not isinstance(recording.result, Value):
        raise errors.not_traceable(function, "its result depends neither on a Value nor on an argument")
    programs = engine.Programs(lambda *_: None, Index)
    try:
        guards = list(recording.guards)
        positional = CompileRequest(recording, signature, False, Options(tier="vm")).positional()
        number = programs.add(*positional)
    except NotImplementedError as problem:
        raise errors.not_traceable(function, str(problem)) from None
    recording.guards[:] = guards
    listed = programs.listing(number)
    listed["guards"] = [(k, left, right or None, x, outcome) for k, left, right, x, outcome in positional[7]]
    return listed


def _values(function: Callable[..., Any], program: Any, parameters: Any) -> list[Value]:
    """The Values of the parameter vector: those of ``parameters``, or all that the program reads, in its order."""
    used = [(store, offset, leaf) for leaf, _, _, store, offset in program["leaves"] if leaf is not None]
    if parameters is None:
        return [leaf for _, _, leaf in sorted(used, key=lambda place: place[:2])]
    values = [leaf for leaf in flatten(parameters, "parameters")[0] if isinstance(leaf, Value)]
    known = set(map(id, values))
    for _, _, leaf in used:
        if id(leaf) not in known:
            raise errors.not_traceable(
                function, f"it depends on {errors.name_of(leaf)}, which is not among parameters="
            )
    return list({id(value): value for value in values}.values())


def _places(program: Any, values: Sequence[Value]) -> dict[int, Any]:
    """For each store, which parameter each of its numbers is."""
    position = {id(value): place for place, value in enumerate(values)}
    places: dict[int, Any] = {}
    for kind, _, _, length, store in program["regions"]:
        if kind == "parameter":
            places[store] = np.full(length, -1, dtype=np.int64)
    for leaf, _, _, store, offset in program["leaves"]:
        if leaf is not None:
            places[store][offset] = position[id(leaf)]
    for where in places.values():
        _fill(where, len(values))
    return places


def _fill(where: Any, count: int) -> None:
    """Give what the program does not read the place after its neighbour's, so that a slice stays one."""
    known = np.flatnonzero(where >= 0)
    if not known.size:
        where.fill(0)
        return
    before = np.searchsorted(known, np.arange(where.size), side="right") - 1
    neighbour = known[np.maximum(before, 0)]
    where[:] = np.clip(where[neighbour] + np.arange(where.size) - neighbour, 0, count - 1)


def _limits(program: Any) -> dict[int, int]:
    """For each index argument that selects, the number of things that it selects from."""
    limits: dict[int, int] = {}
    for instruction in program["instructions"]:
        if instruction["code"] != "select":
            continue
        _, base, strides = instruction["views"][1]
        for place in np.ndindex(*instruction["sizes"]):
            slot = base + sum(i * stride for i, stride in zip(place, strides, strict=True))
            limits[slot] = min(limits.get(slot, instruction["limit"]), instruction["limit"])
    return limits
