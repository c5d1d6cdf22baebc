"""Derivatives of functions and of recorded graphs, to any order: gradient, grad, jacobian, hessian, hvp, jvp.

A first derivative in plain numbers is one sweep of the engine. A higher derivative is the same sweep done with Values:
it records the adjoints as expressions, built from the partials in the op table, and they can be differentiated again.
So the transforms nest in every combination. Each call differentiates with respect to fresh variables of its own, so an
inner derivative never mixes with the perturbation of an outer one.

Numbers give numbers. Values give Values that are connected to the graph. Inside the function of another transform the
results are always Values, because the outer transform differentiates through them.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import engine
from ..engine import Value
from ..engine.pytree import Leaf, Structure, flatten, single_output
from ..errors import HigherOrderError, MissingDerivativeError, name_of
from . import anomaly
from .local_derivatives import Local, LocalDerivatives, ieee, product

__all__ = ["grad", "gradient", "hessian", "hvp", "jacobian", "jvp", "value_and_grad"]

_Results = list[Any]


class _ActiveTransforms(threading.local):
    """How many transforms are running their function on this thread."""

    count = 0


_active = _ActiveTransforms()


def is_differentiating() -> bool:
    """Whether a transform is running its function on this thread."""
    return _active.count > 0


@contextmanager
def _running_transform() -> Iterator[None]:
    """Count one more transform, and record operations even where the caller has switched recording off."""
    recording = engine.set_recording(True)
    _active.count += 1
    try:
        yield
    finally:
        _active.count -= 1
        engine.set_recording(recording)


def _is_recording() -> bool:
    """Whether operations are recorded on this thread (not under ``no_grad``)."""
    recording = engine.set_recording(True)
    engine.set_recording(recording)
    return recording


# --- reverse: adjoints along a recorded graph -----------------------------------------------------


def gradient(y: Leaf, xs: Any, create_graph: bool = False) -> Any:
    """The derivative of ``y`` with respect to each Value in ``xs``: one reverse-mode sweep that touches no ``.grad``.

    Args:
        y: The Value to differentiate; a plain number is a constant.
        xs: A Value, a leaf or an interior one, or a pytree of them: nested lists, tuples, dictionaries, NumPy arrays
            of objects, and modules.
        create_graph: Record the derivatives as nodes, so that they can be differentiated again. It is always so
            inside the function of another transform.

    Returns:
        The derivatives in the structure of ``xs``: floats, or Values with ``create_graph``. A Value that ``y`` does not
        depend on gets 0.

    Raises:
        TypeError: ``y`` is neither a Value nor a number, or ``xs`` holds something other than Values.
        ChangedValueError: The ``.data`` of something that ``y`` was computed from has changed since.
        MissingDerivativeError: A node made with children has no derivative.
        HigherOrderError: A graph is wanted through a node whose derivative a user wrote.

    Example:
        >>> from retrograd import Value, gradient
        >>> x = Value(3.0)
        >>> slope = gradient(x**3, x, create_graph=True)
        >>> slope.data, gradient(slope, x)
        (27.0, 18.0)
    """
    leaves, structure = flatten(xs, "xs")
    for leaf in leaves:
        if not isinstance(leaf, Value):
            raise TypeError(f"gradient needs Values to differentiate with respect to; xs holds the number {leaf!r}.")
    root = single_output(y, "y")
    nested, recording = _active.count > 0, _is_recording()
    if nested and not (recording or create_graph):  # under no_grad in the function of another transform
        return structure.collect([Value(slope) for slope in _derivatives(root, leaves, False)])
    engine.set_recording(True)
    try:
        return structure.collect(_derivatives(root, leaves, create_graph or nested))
    finally:
        engine.set_recording(recording)


def _derivatives(root: Leaf, xs: Sequence[Any], graph: bool) -> _Results:
    """d root / d x for each x: floats, or Values when ``graph``."""
    if graph:
        return [_as_result(adjoint) for adjoint in _adjoints(root, xs)]
    return _first_derivatives(root, xs) if isinstance(root, Value) else [0.0] * len(xs)


def _compiled(
    f: Callable[..., Any], argnums: int | Sequence[int], arguments: tuple[Any, ...]
) -> Callable[..., tuple[float, Any]] | None:
    """The compiled ``value_and_grad`` of ``f``, where it returns what the transform does: floats for plain numbers."""
    if argnums != 0 or not arguments or _active.count > 0 or not hasattr(f, "scalar_function"):
        return None
    leaves, structure = flatten(arguments[0], f"argument 0 of {_name(f)}")
    connected = _has_bare_value(structure, leaves) or any(isinstance(x, Value) for x in arguments)
    return None if connected or structure.kind == "module" else f.value_and_grad  # type: ignore[attr-defined]


def _first_derivatives(root: Value, xs: Sequence[Value]) -> list[float]:
    if anomaly.is_detecting():
        return anomaly.checked_gradients(root, xs)
    return engine.gradients(root, 1.0, xs)


def _as_result(adjoint: Leaf) -> Value:
    """``adjoint`` as a new Value. Minus zero becomes zero, as it does in an accumulated ``.grad``."""
    if not isinstance(adjoint, Value):
        return Value(adjoint + 0.0)
    return engine.apply("add", adjoint, 0.0) if adjoint.data == 0.0 else engine.apply("identity", adjoint)


def _adjoints(root: Leaf, xs: Sequence[Value]) -> list[Leaf]:
    """The sweep of ``backward`` with Values: a constant adjoint is a number, any other a recorded expression."""
    if not isinstance(root, Value):
        return [0.0] * len(xs)
    steps = _dependent(root, {id(x) for x in xs}, expand=True)
    for node, _, _ in steps:
        if _plain_call(node) is None:
            _refuse_user_node(node)
    _first_derivatives(root, xs)  # for its errors: a changed .data, another thread's graph
    adjoints: dict[int, Leaf] = {id(root): 1.0}
    with ieee(), anomaly.unchecked_nodes():
        derivatives = LocalDerivatives(graph=True)
        for node, operands, wanted in reversed(steps):
            upstream = adjoints.get(id(node))
            if upstream is None:
                continue
            expanded = _plain_call(node) is not None  # then its operand is the same result, recorded
            locals_ = [1.0] if expanded else derivatives.of(node, operands, wanted)
            for operand, local in zip(operands, locals_, strict=True):
                contribution = None if local is None else product(upstream, local)
                if contribution is not None:
                    before = adjoints.get(id(operand))
                    adjoints[id(operand)] = contribution if before is None else before + contribution
    return [adjoints.get(id(x), 0.0) for x in xs]


_Step = tuple[Value, tuple[Leaf, ...], list[bool]]


def _dependent(root: Value, sources: set[int], expand: bool = False) -> list[_Step]:
    """The nodes under ``root`` that depend on one of ``sources`` (a set of ids), oldest first.

    Each comes with its operands, and with one bool an operand: whether that operand depends on a source. With
    ``expand``, a compiled function's result comes after the nodes of a plain call, whose result is its one operand.
    """
    dependent, seen = set(sources), dict[int, Value]()
    steps: list[_Step] = []

    def visit(top: Value) -> None:
        for node in engine.interior(top):
            if id(node) in seen:
                continue
            seen[id(node)] = node
            operands: tuple[Leaf, ...] = engine.operands(node)
            wanted = [id(operand) in dependent for operand in operands]
            if True not in wanted:
                continue
            plain_call = _plain_call(node) if expand else None
            if plain_call is not None:
                result = plain_call()
                if isinstance(result, Value):
                    visit(result)
                operands, wanted = (result,), [id(result) in dependent]
            dependent.add(id(node))
            steps.append((node, operands, wanted))

    visit(root)
    return steps


def _plain_call(node: Value) -> Callable[[], Any] | None:
    """For the result of a compiled function: what calls the function itself, operation by operation."""
    return getattr(node._op, "plain", None) if engine.row_name(node) == "user" else None


def _refuse_user_node(node: Value) -> None:
    if engine.row_name(node) == "user":
        raise HigherOrderError(
            f"{name_of(node)} is a user-made node: its local derivatives are plain numbers or a function, so they "
            "cannot be differentiated again. Compute it with retrograd's operations, or take first derivatives only."
        )


# --- forward: tangents along a recorded graph -----------------------------------------------------


def _tangents(roots: Sequence[Value], variables: Sequence[Value], seeds: Sequence[Leaf], graph: bool) -> list[Leaf]:
    """The tangent of each root, where ``seeds`` are the tangents of the variables."""
    if not roots:
        return []
    if not graph:
        seeds = [seed.data if isinstance(seed, Value) else seed for seed in seeds]
    tangents: dict[int, Leaf] = {id(x): seed for x, seed in zip(variables, seeds, strict=True)}
    with ieee(), anomaly.unchecked_nodes():
        joint = engine.reduce("sum", roots)  # depends on all roots, so that one walk lists all nodes
        derivatives = LocalDerivatives(graph)
        for node, operands, wanted in _dependent(joint, set(tangents)):
            if node is joint:
                continue
            tangent: Leaf | None = None
            for slot, local in enumerate(_local_derivatives(derivatives, node, operands, wanted, graph)):
                upstream = tangents.get(id(operands[slot]))
                if local is None or upstream is None:
                    continue
                if anomaly.is_detecting():
                    anomaly.inspect_contribution(node, operands, slot, local, upstream)
                term = product(upstream, local)
                if term is not None:
                    tangent = term if tangent is None else tangent + term
            if tangent is not None:
                tangents[id(node)] = tangent
    return [tangents.get(id(root), 0.0) for root in roots]


def _local_derivatives(
    derivatives: LocalDerivatives, node: Value, operands: Sequence[Leaf], wanted: Sequence[bool], graph: bool
) -> Sequence[Local]:
    if not graph and engine.row_name(node) == "user":
        return _given_local_derivatives(node, len(operands))
    _refuse_user_node(node)
    return derivatives.of(node, operands, wanted)


def _given_local_derivatives(node: Value, count: int) -> Sequence[float]:
    try:
        slopes = node._local_grads
    except MissingDerivativeError:
        slopes = ()
    if len(slopes) != count:
        raise HigherOrderError(
            f"{name_of(node)} is a user-made node whose _backward is a function: forward mode cannot pass through it. "
            "Make it as Value(data, children, local_grads), or use grad, which works in reverse mode."
        )
    return slopes


# --- what the transforms of functions share -------------------------------------------------------


class _Call:
    """One call of the user's function, with fresh variables instead of the arguments to differentiate.

    ``connected`` tells whether the results are Values that belong to the caller's graph, or floats.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.function = function
        self.arguments = list(arguments)
        self.keywords = keywords
        self.connected = _active.count > 0 or any(isinstance(x, Value) for x in (*arguments, *keywords.values()))
        self.variables: list[Value] = []

    def differentiate(self, positions: Sequence[int]) -> list[Structure]:
        """Replace the arguments at ``positions`` by variables. Returns the structures of those arguments."""
        flat = [flatten(self.arguments[i], f"argument {i} of {_name(self.function)}") for i in positions]
        self.connected = self.connected or any(_has_bare_value(structure, leaves) for leaves, structure in flat)
        for position, (leaves, structure) in zip(positions, flat, strict=True):
            fresh = [_variable(leaf, self.connected) for leaf in leaves]
            self.variables.extend(fresh)
            self.arguments[position] = structure.fill(fresh)
        return [structure for _, structure in flat]

    def run(self) -> Any:
        return self.function(*self.arguments, **self.keywords)

    def scalar(self) -> Leaf:
        """The function's single result. Raises TypeError when it returns anything else."""
        return single_output(self.run(), f"the result of {_name(self.function)}")


def _variable(leaf: Leaf, connected: bool) -> Value:
    """A fresh Value to differentiate with respect to: a leaf, or a node that keeps ``leaf`` in the graph."""
    if not isinstance(leaf, Value):
        return Value(leaf)
    return engine.apply("identity", leaf) if connected else Value(leaf.data)


def _has_bare_value(structure: Structure, leaves: Sequence[Leaf]) -> bool:
    """Whether the structure holds a Value. The parameters of a module do not count: they are its numbers."""
    if structure.kind == "module":
        return False
    if not structure.parts:
        return any(isinstance(leaf, Value) for leaf in leaves)
    start, found = 0, False
    for part in structure.parts:
        found = found or _has_bare_value(part, leaves[start : start + part.size])
        start += part.size
    return found


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _positions(argnums: int | Sequence[int], function: Callable[..., Any], count: int) -> list[int]:
    positions = []
    for number in argnums if isinstance(argnums, (tuple, list)) else [argnums]:
        if not isinstance(number, int):
            raise TypeError(f"argnums must be the position of an argument, or a tuple of positions; it is {argnums!r}.")
        if not -count <= number < count:
            raise TypeError(
                f"argnums is {argnums!r}, but {_name(function)} was called with {count} positional arguments; "
                "pass the arguments to differentiate by position, not by keyword."
            )
        positions.append(number % count)
    if len(set(positions)) < len(positions):
        raise ValueError(f"argnums is {argnums!r}, which names an argument of {_name(function)} twice.")
    return positions


def _joined_structure(structures: Sequence[Structure], argnums: int | Sequence[int]) -> Structure:
    """The structure of all differentiated arguments: that of the one, or a tuple."""
    if isinstance(argnums, int):
        return structures[0]
    return Structure("tuple", sum(part.size for part in structures), (), tuple(structures))


def _as_returned(results: _Results, connected: bool, recording: bool) -> _Results:
    """Results as the caller gets them: floats, Values in the graph, or new leaves when the caller does not record."""
    if not connected:
        return [result.data if isinstance(result, Value) else result for result in results]
    return [
        result
        if recording and isinstance(result, Value)
        else Value(result.data if isinstance(result, Value) else result)
        for result in results
    ]


def _transform(
    function: Callable[..., Any],
    argnums: int | Sequence[int],
    body: Callable[[_Call, Structure], tuple[_Results, Callable[[_Results], Any]]],
    of_compiled: Callable[[tuple[float, Any]], Any] | None = None,
) -> Callable[..., Any]:
    """A function of the same arguments that runs ``body`` on a call with variables for ``argnums``.

    ``body`` gets the call and the structure of the differentiated arguments. It returns a flat list of results, and a
    function that arranges such a list for the caller. ``of_compiled`` takes the result from a compiled function's own
    value and gradient.
    """

    @functools.wraps(function, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def transformed(*arguments: Any, **keywords: Any) -> Any:
        if of_compiled is not None and (compiled := _compiled(function, argnums, arguments)) is not None:
            return of_compiled(compiled(*arguments, **keywords))
        recording = _is_recording()
        positions = _positions(argnums, function, len(arguments))
        call = _Call(function, arguments, keywords)
        with _running_transform():
            inputs = _joined_structure(call.differentiate(positions), argnums)
            results, arrange = body(call, inputs)
        return arrange(_as_returned(results, call.connected, recording))

    return transformed


# --- the transforms -------------------------------------------------------------------------------


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function of the same arguments that returns the gradient of ``f``, in reverse mode.

    Numbers in, numbers out: the results are floats when every argument is a number, and Values connected to the
    graph when one is a Value, or inside another transform. A Value that ``f`` only closes over is not an argument:
    to differentiate a gradient once more with respect to it, pass it in, or use ``gradient(…, create_graph=True)``.
    A call costs one forward pass and one sweep, whatever the number of inputs.

    Args:
        f: A function that returns one Value; a plain number is a constant, with gradient 0. It gets Values in place
            of the numbers of the arguments that are differentiated.
        argnums: The position of the argument to differentiate, or a tuple of positions; the first one by default.
            Each of these arguments is a number, a Value, or a pytree of them (lists, tuples, dictionaries, arrays,
            modules).

    Returns:
        A function. Its result has the structure of the argument; a tuple of them when ``argnums`` is a tuple. It raises
        TypeError when ``f`` returns something other than one Value or number, or when ``argnums`` is not the position
        of an argument, and ValueError when ``argnums`` names an argument twice.

    Example:
        >>> from retrograd import grad
        >>> grad(lambda x: x**3)(2.0), grad(grad(lambda x: x**3))(2.0)
        (12.0, 12.0)
        >>> grad(lambda x, w: w[0] * x + w[1], argnums=1)(2.0, [5.0, 7.0])
        [2.0, 1.0]
    """

    def body(call: _Call, inputs: Structure) -> tuple[_Results, Callable[[_Results], Any]]:
        return _derivatives(call.scalar(), call.variables, call.connected), inputs.collect

    return _transform(f, argnums, body, lambda pair: pair[1])


def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function of the same arguments that returns the value of ``f`` and its gradient, from one forward pass.

    Args:
        f: A function that returns one Value; a plain number is a constant, with gradient 0.
        argnums: The position of the argument to differentiate, or a tuple of positions, as for :func:`grad`.

    Returns:
        A function whose result is the pair (value, gradient). It raises what that of :func:`grad` raises, and whether
        it gives floats or Values is decided in the same way.

    Example:
        >>> from retrograd import value_and_grad
        >>> value_and_grad(lambda p: p["w"] * p["x"])({"w": 2.0, "x": 5.0})
        (10.0, {'w': 5.0, 'x': 2.0})
    """

    def body(call: _Call, inputs: Structure) -> tuple[_Results, Callable[[_Results], Any]]:
        value = call.scalar()
        results = [value, *_derivatives(value, call.variables, call.connected)]
        return results, lambda flat: (flat[0], inputs.collect(flat[1:]))

    return _transform(f, argnums, body, lambda pair: pair)


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``f``: the derivative of each output with respect to each input.

    A call costs one forward pass and one reverse-mode sweep (a VJP) for each output. For many outputs of few inputs,
    :func:`jvp` gives one column at the cost of one forward-mode pass.

    Args:
        f: A function that returns a Value or a pytree of Values and numbers, of m leaves.
        argnums: The position of the argument to differentiate, or a tuple of positions, as for :func:`grad`; n leaves.

    Returns:
        A function. Its result has the structure of ``f``'s output, and in each of its places the structure of the
        input: for a list of m outputs and one of n inputs, m lists of n; for arrays, one array of shape
        ``output.shape + input.shape``. It raises TypeError when an output is neither a Value nor a number, and what
        the function that :func:`grad` returns raises for a wrong ``argnums``.

    Example:
        >>> from retrograd import jacobian
        >>> jacobian(lambda x, y: [x * y, x + y], argnums=(0, 1))(2.0, 5.0)
        [(5.0, 2.0), (1.0, 1.0)]
    """

    def body(call: _Call, inputs: Structure) -> tuple[_Results, Callable[[_Results], Any]]:
        outputs, shape = flatten(call.run(), f"the result of {_name(f)}")
        results = [d for output in outputs for d in _derivatives(output, call.variables, call.connected)]
        return results, functools.partial(_collect_blocks, shape, inputs)

    return _transform(f, argnums, body)


def _collect_blocks(outer: Structure, inner: Structure, flat: _Results) -> Any:
    """A result with the structure ``outer``, whose leaves have the structure ``inner`` each."""
    size = inner.size
    return outer.collect([inner.collect(flat[i * size : (i + 1) * size]) for i in range(outer.size)])


def hessian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of ``f``: all second derivatives, reverse over reverse mode.

    For n inputs a call costs one forward pass, one sweep that is recorded, and n sweeps of that record. The upper half
    is computed and mirrored, so that the result is exactly symmetric. Where only the product of the Hessian and a
    vector is wanted, :func:`hvp` costs two sweeps.

    Args:
        f: A function that returns one Value; a plain number is a constant.
        argnums: The position of the argument to differentiate, or a tuple of positions, as for :func:`grad`.

    Returns:
        A function. Its result has, in each place of the input, the structure of the input: for a list of n inputs, n
        lists of n. It raises HigherOrderError when ``f`` passes through a node whose derivative a user wrote, and what
        the function that :func:`grad` returns raises.

    Example:
        >>> from retrograd import hessian
        >>> hessian(lambda p: p[0] ** 2 * p[1])([3.0, 5.0])
        [[10.0, 6.0], [6.0, 0.0]]
    """

    def body(call: _Call, inputs: Structure) -> tuple[_Results, Callable[[_Results], Any]]:
        xs = call.variables
        slopes = _derivatives(call.scalar(), xs, True)
        upper = [_derivatives(slope, xs[i:], call.connected) for i, slope in enumerate(slopes)]
        size = range(len(xs))
        results = [upper[min(i, j)][abs(j - i)] for i in size for j in size]
        return results, functools.partial(_collect_blocks, inputs, inputs)

    return _transform(f, argnums, body)


def hvp(f: Callable[..., Any], at: Any, direction: Any) -> Any:
    """The Hessian of ``f`` at ``at`` times ``direction``, without the Hessian: two sweeps, whatever the size.

    The product is the gradient of (gradient of ``f``) · ``direction`` (Pearlmutter 1994), reverse over reverse mode.

    Args:
        f: A function that returns one Value; a plain number is a constant.
        at: The point. A tuple holds the positional arguments of ``f``; anything else is its only argument.
        direction: The vector that the Hessian is multiplied by, in the structure of ``at``.

    Returns:
        The product, in the structure of ``at``: floats when all numbers given are floats, Values otherwise.

    Raises:
        TypeError: ``direction`` has another structure than ``at``, or ``f`` returns something other than one number.
        HigherOrderError: ``f`` passes through a node whose derivative a user wrote.

    Example:
        >>> from retrograd import hvp
        >>> hvp(lambda p: p[0] ** 2 * p[1], [3.0, 5.0], [1.0, 0.0])
        [10.0, 6.0]
    """
    recording, call, seeds = _call_along(f, at, direction, "hvp")
    with _running_transform():
        inputs = _differentiate_all(call, at)
        slopes = _derivatives(call.scalar(), call.variables, True)
        with ieee(), anomaly.unchecked_nodes():
            along = engine.reduce("dot", slopes, seeds)
        results = _derivatives(along, call.variables, call.connected)
    return inputs.collect(_as_returned(results, call.connected, recording))


def jvp(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The value of ``f`` at ``primals`` and its derivative along ``tangents``: a Jacobian-vector product.

    Forward mode (Griewank & Walther 2008, chapter 3): one pass over the recorded graph gives all outputs.

    Args:
        f: A function that returns a Value or a pytree of Values and numbers.
        primals: The point. A tuple holds the positional arguments of ``f``; anything else is its only argument.
        tangents: The direction, in the structure of ``primals``.

    Returns:
        The pair (outputs, output tangents), both in the structure of ``f``'s output: floats when all numbers given are
        floats, Values otherwise.

    Raises:
        TypeError: ``tangents`` has another structure than ``primals``, or an output is neither a Value nor a number.
        HigherOrderError: ``f`` passes through a node whose ``_backward`` is a function, which only goes backward.

    Example:
        >>> from retrograd import jvp
        >>> jvp(lambda x, y: [x * y, x + y], (2.0, 5.0), (1.0, 0.0))
        ([10.0, 7.0], [5.0, 1.0])
    """
    recording, call, seeds = _call_along(f, primals, tangents, "jvp")
    with _running_transform():
        _differentiate_all(call, primals)
        outputs, shape = flatten(call.run(), f"the result of {_name(f)}")
        roots = [output for output in outputs if isinstance(output, Value)]
        tangents_of_roots = iter(_tangents(roots, call.variables, seeds, call.connected))
        slopes = [next(tangents_of_roots) if isinstance(output, Value) else 0.0 for output in outputs]
    values = _as_returned([x if isinstance(x, Value) else float(x) for x in outputs], call.connected, recording)
    return shape.collect(values), shape.collect(_as_returned(slopes, call.connected, recording))


def _call_along(f: Callable[..., Any], at: Any, direction: Any, transform: str) -> tuple[bool, _Call, list[Leaf]]:
    """Whether the caller records, the call, and the leaves of the direction."""
    recording = _is_recording()
    leaves, structure = flatten(at, "the point")
    seeds, directions = flatten(direction, "the direction")
    if _tree_definition(structure) != _tree_definition(directions):
        raise TypeError(
            f"{transform} needs a direction with the same structure as the point: the point has {len(leaves)} "
            f"({structure.kind}), the direction {len(seeds)} ({directions.kind})."
        )
    call = _Call(f, at if isinstance(at, tuple) else (at,), {})
    call.connected = call.connected or _has_bare_value(directions, seeds)
    return recording, call, [seed if isinstance(seed, Value) else float(seed) for seed in seeds]


def _differentiate_all(call: _Call, at: Any) -> Structure:
    structures = call.differentiate(range(len(call.arguments)))
    if isinstance(at, tuple):
        return Structure("tuple", sum(part.size for part in structures), at, tuple(structures))
    return structures[0]


def _tree_definition(structure: Structure) -> Any:
    """Nesting, sizes and keys: what a point and a direction must have in common. A module counts as a list."""
    if structure.kind == "leaf":
        return "leaf"
    if structure.kind == "array":
        return "array", structure.original.shape
    if structure.kind == "module":
        return "list", ("leaf",) * structure.size, None
    keys = tuple(structure.original) if structure.kind == "dict" else None
    return structure.kind, tuple(map(_tree_definition, structure.parts)), keys
