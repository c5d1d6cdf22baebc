"""Derivatives of functions and of recorded graphs, to any order: gradient, grad, jacobian, hessian, hvp, jvp, vjp.

A first derivative in plain numbers is one sweep of the engine. A higher derivative is the same sweep done with Values:
it records the adjoints as expressions, built from the partials in the op table, and they can be differentiated again.
So the transforms nest in every combination. Each call differentiates with respect to fresh variables of its own, so an
inner derivative never mixes with the perturbation of an outer one.

Numbers give numbers. Values give Values that are connected to the graph. Inside the function of another transform the
results are always Values, because the outer transform differentiates through them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import engine, errors, habits
from ..engine import Value
from ..engine.pytree import Leaf, Structure, flatten, join, single_output
from . import anomaly
from . import sparse as sparse_matrices
from .active import (
    derivative_of,
    is_differentiating,
    running_transform,
)
from .calls import Argnums, Call, Results, as_returned, function_name, pair, transformed_by
from .local_derivatives import ieee
from .sweeps import first_derivatives, forward_sweep, is_result, reverse_sweep, weighted_sweep

__all__ = ["grad", "gradient", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jvp", "value_and_grad", "vjp"]


@habits.refusing(habits.keywords.GRADIENT)
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
        TypeError: ``y`` is neither a Value nor a number, ``xs`` holds something other than Values, or ``create_graph``
            is one of them.
        ValueError: ``xs`` is a Value that was computed from ``y``.
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
    if not isinstance(create_graph, bool):
        raise TypeError(
            f"create_graph is True or False and not {errors.describe(create_graph)}: several xs are one argument, "
            "rg.gradient(y, [x, w])."
        )
    leaves, structure = flatten(xs, "xs")
    for leaf in leaves:
        if not isinstance(leaf, Value):
            raise TypeError(f"gradient needs Values to differentiate with respect to; xs holds the number {leaf!r}.")
    root = single_output(y, "y")
    hidden = any(isinstance(leaf, Value) and is_result(leaf) for leaf in leaves)
    nested, recording = is_differentiating(), engine.is_recording()
    if nested and not (recording or create_graph):  # under no_grad in the function of another transform
        return structure.collect([Value(slope) for slope in _derivatives(root, leaves, False, hidden)])
    engine.set_recording(True)
    try:
        slopes = _derivatives(root, leaves, create_graph or nested, hidden)
    finally:
        engine.set_recording(recording)
    if isinstance(xs, Value) and type(slopes[0]) is float and slopes[0] == 0.0 and _is_below(root, xs):
        raise ValueError(
            f"{errors.name_of(xs)} was computed from {errors.name_of(root)}, and gradient(y, xs) is the derivative of "
            "its first argument by its second: exchange them."
        )
    return structure.collect(slopes)


def _is_below(root: Leaf, x: Value) -> bool:
    """Whether ``x`` was computed from ``root``, another Value."""
    return x is not root and bool(x._children) and any(node is root for node in engine.topological_order(x))


def _derivatives(root: Leaf, xs: Sequence[Any], graph: bool, hidden: bool = False) -> Results:
    """d root / d x for each x: floats, or Values when ``graph``.

    ``hidden`` says that a compiled function's result is among xs.
    """
    if graph:
        return reverse_sweep(root, xs)
    if isinstance(root, Value) and (hidden or engine.program_recorder() is not None):
        return [(slope + 0.0).data for slope in reverse_sweep(root, xs)]  # without -0.0
    return first_derivatives(root, xs) if isinstance(root, Value) else [0.0] * len(xs)


# --- the transforms -------------------------------------------------------------------------------


@habits.refusing(habits.keywords.GRAD)
def grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """A function of the same arguments that returns the gradient of ``f``, in reverse mode.

    Numbers in, numbers out: the results are floats when the arguments are numbers, and Values connected to the graph
    when one is a Value, or a container of some, or inside another transform. A Value that ``f`` only closes over is
    not an argument: to differentiate a gradient once more with respect to it, pass it in, or use
    ``gradient(…, create_graph=True)``.
    A call costs one forward pass and one sweep, whatever the number of inputs.

    Args:
        f: A function that returns one Value; a plain number is a constant, with gradient 0. It gets Values in place
            of the numbers of the arguments that are differentiated.
        argnums: The position or the name of the argument to differentiate, or a tuple of them; the first one by
            default. Each of these arguments is a number, a Value, or a pytree of them (lists, tuples, dictionaries,
            dataclasses, arrays, modules, and what :func:`retrograd.register_pytree_node` has registered).
        has_aux: ``f`` returns a pair of the Value and something else, which is not differentiated.

    Returns:
        A function. Its result has the structure of the argument; a tuple of them when ``argnums`` is a tuple. With
        ``has_aux`` it is the pair of that and of what ``f`` returned beside its Value. It raises TypeError when ``f``
        returns something other than one Value or number, or when ``argnums`` is not the position of an argument, and
        ValueError when ``argnums`` names an argument twice.

    Example:
        >>> from retrograd import grad
        >>> grad(lambda x: x**3)(2.0), grad(grad(lambda x: x**3))(2.0)
        (12.0, 12.0)
        >>> grad(lambda x, w: w[0] * x + w[1], argnums=1)(2.0, [5.0, 7.0])
        [2.0, 1.0]
    """

    def body(call: Call, inputs: Structure) -> tuple[Results, Callable[[Results], Any]]:
        value, aux = call.scalar_and_aux(has_aux)
        slopes = _derivatives(value, call.variables, call.connected)
        return slopes, (lambda flat: (inputs.collect(flat), call.released(aux))) if has_aux else inputs.collect

    return transformed_by(f, argnums, body, ("grad", has_aux), None if has_aux else lambda pair: pair[1])


@habits.refusing(habits.keywords.GRAD)
def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """A function of the same arguments that returns the value of ``f`` and its gradient, from one forward pass.

    Args:
        f: A function that returns one Value; a plain number is a constant, with gradient 0.
        argnums: The position of the argument to differentiate, or a tuple of positions, as for :func:`grad`.
        has_aux: ``f`` returns a pair of the Value and something else, as for :func:`grad`.

    Returns:
        A function whose result is the pair (value, gradient); ((value, aux), gradient) with ``has_aux``. It raises
        what that of :func:`grad` raises, and whether it gives floats or Values is decided in the same way.

    Example:
        >>> from retrograd import value_and_grad
        >>> value_and_grad(lambda p: p["w"] * p["x"])({"w": 2.0, "x": 5.0})
        (10.0, {'w': 5.0, 'x': 2.0})
    """

    def body(call: Call, inputs: Structure) -> tuple[Results, Callable[[Results], Any]]:
        value, aux = call.scalar_and_aux(has_aux)
        slopes = _derivatives(value, call.variables, call.connected)
        results = [value.data if isinstance(value, Value) and not call.connected else value, *slopes]

        def arrange(flat: Results) -> tuple[Any, Any]:
            return (flat[0], call.released(aux)) if has_aux else flat[0], inputs.collect(flat[1:])

        return results, arrange

    return transformed_by(f, argnums, body, ("value_and_grad", has_aux), None if has_aux else lambda pair: pair)


def jacobian(f: Callable[..., Any], argnums: Argnums = 0, *, sparse: bool = False) -> Callable[..., Any]:
    """A function that returns the Jacobian of ``f``: the derivative of each output with respect to each input.

    A call costs one forward pass and one reverse-mode sweep (a VJP) for each output. For many outputs of few inputs,
    :func:`jvp` gives one column at the cost of one forward-mode pass.

    Args:
        f: A function that returns a Value or a pytree of Values and numbers, of m leaves.
        argnums: The position of the argument to differentiate, or a tuple of positions, as for :func:`grad`; n leaves.
        sparse: The result is a ``scipy.sparse.csr_array`` of m by n, leaves in the order of the trees. Each sweep
            visits only what its output depends on. An entry is absent where an input does not reach the output, or
            only through derivatives that are structurally zero (a branch not taken); entries that are zero by chance
            stay.

    Returns:
        A function. Its result has the structure of ``f``'s output, and in each of its places the structure of the
        input: for a list of m outputs and one of n inputs, m lists of n; for arrays, one array of shape
        ``output.shape + input.shape``. It raises TypeError when an output is neither a Value nor a number, and what
        the function that :func:`grad` returns raises for a wrong ``argnums``. With ``sparse`` it raises
        MissingExtraError without SciPy, and TypeError where the result would be Values.

    Example:
        >>> from retrograd import jacobian
        >>> jacobian(lambda x, y: [x * y, x + y], argnums=(0, 1))(2.0, 5.0)
        [(5.0, 2.0), (1.0, 1.0)]
    """

    def body(call: Call, inputs: Structure) -> tuple[Results, Callable[[Results], Any]]:
        if sparse:
            sparse_matrices.check(call.connected, "jacobian")
        outputs, shape = flatten(call.run(), f"the result of {function_name(f)}")
        if sparse:
            entries = sparse_matrices.entries_of(outputs, call.variables, upper=False)
            return [], lambda _: entries
        results = [d for output in outputs for d in _derivatives(output, call.variables, call.connected)]
        return results, functools.partial(_collect_blocks, shape, inputs)

    return transformed_by(
        f, argnums, body, ("jacobian", sparse), finish=sparse_matrices.Entries.jacobian if sparse else None
    )


#: JAX's name for :func:`jacobian`, which works in reverse mode.
jacrev = jacobian


def jacfwd(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The same as :func:`jacobian` in forward mode: for few inputs and many outputs.

    A call costs one forward pass and, for each input, one pass over the recorded graph (a JVP).

    Args:
        f: A function that returns a Value or a pytree of Values and numbers, of m leaves.
        argnums: The position or name of the argument to differentiate, or a tuple of them, as for :func:`grad`.

    Returns:
        A function, as :func:`jacobian` returns it.

    Example:
        >>> from retrograd import jacfwd
        >>> jacfwd(lambda x: [x, x**2, x**3])(2.0)
        [1.0, 4.0, 12.0]
    """

    def body(call: Call, inputs: Structure) -> tuple[Results, Callable[[Results], Any]]:
        outputs, shape = flatten(call.run(), f"the result of {function_name(f)}")
        roots = [output for output in outputs if isinstance(output, Value)]
        count = len(call.variables)
        columns = []
        for i in range(count):
            seeds: list[Leaf] = [float(i == j) for j in range(count)]
            along = iter(forward_sweep(roots, call.variables, seeds, call.connected))
            columns.append([next(along) if isinstance(output, Value) else 0.0 for output in outputs])
        results = [column[row] for row in range(len(outputs)) for column in columns]
        return results, functools.partial(_collect_blocks, shape, inputs)

    return transformed_by(f, argnums, body, "jacfwd")


def _collect_blocks(outer: Structure, inner: Structure, flat: Results) -> Any:
    """A result with the structure ``outer``, whose leaves have the structure ``inner`` each."""
    size = inner.size
    return outer.collect([inner.collect(flat[i * size : (i + 1) * size]) for i in range(outer.size)])


def hessian(f: Callable[..., Any], argnums: Argnums = 0, *, sparse: bool = False) -> Callable[..., Any]:
    """A function that returns the Hessian of ``f``: all second derivatives, reverse over reverse mode.

    For n inputs a call costs one forward pass, one sweep that is recorded, and n sweeps of that record. The upper half
    is computed and mirrored, so that the result is exactly symmetric. Where only the product of the Hessian and a
    vector is wanted, :func:`hvp` costs two sweeps.

    Args:
        f: A function that returns one Value; a plain number is a constant.
        argnums: The position of the argument to differentiate, or a tuple of positions, as for :func:`grad`.
        sparse: The result is a ``scipy.sparse.csr_array`` of n by n, as for :func:`jacobian`: of the n sweeps, each
            visits only what its component of the gradient depends on.

    Returns:
        A function. Its result has, in each place of the input, the structure of the input: for a list of n inputs, n
        lists of n. It raises HigherOrderError when ``f`` passes through a node whose derivative a user wrote, and what
        the function that :func:`grad` returns raises; with ``sparse`` also what that of :func:`jacobian` does.

    Example:
        >>> from retrograd import hessian
        >>> hessian(lambda p: p[0] ** 2 * p[1])([3.0, 5.0])
        [[10.0, 6.0], [6.0, 0.0]]
    """

    def body(call: Call, inputs: Structure) -> tuple[Results, Callable[[Results], Any]]:
        xs = call.variables
        if sparse:
            sparse_matrices.check(call.connected, "hessian")
        slopes = _derivatives(call.scalar(), xs, True)
        if sparse:
            entries = sparse_matrices.entries_of(slopes, xs, upper=True)
            return [], lambda _: entries
        upper = [_derivatives(slope, xs[i:], call.connected) for i, slope in enumerate(slopes)]
        size = range(len(xs))
        results = [upper[min(i, j)][abs(j - i)] for i in size for j in size]
        return results, functools.partial(_collect_blocks, inputs, inputs)

    finish = sparse_matrices.Entries.hessian if sparse else None
    return transformed_by(f, argnums, body, ("hessian", sparse), finish=finish)


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
    if (compiled_derivative := derivative_of(f)) is not None:
        return compiled_derivative("hvp", lambda plain: lambda at, direction: hvp(plain, at, direction))(at, direction)
    recording, call, seeds = _call_along(f, at, direction, "hvp")
    with running_transform(call.numbers):
        inputs = _differentiate_all(call, at)
        slopes = _derivatives(call.scalar(), call.variables, True)
        with ieee(), anomaly.unchecked_nodes():
            along = engine.reduce("dot", slopes, seeds)
        results = _derivatives(along, call.variables, call.connected)
    return inputs.collect(as_returned(results, call.connected, recording))


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
    if (compiled_derivative := derivative_of(f)) is not None:
        along = compiled_derivative("jvp", lambda plain: lambda at, direction: jvp(plain, at, direction))
        return along(primals, tangents)  # type: ignore[no-any-return]
    recording, call, seeds = _call_along(f, primals, tangents, "jvp")
    with running_transform(call.numbers):
        _differentiate_all(call, primals)
        outputs, shape = flatten(call.run(), f"the result of {function_name(f)}")
        roots = [output for output in outputs if isinstance(output, Value)]
        tangents_of_roots = iter(forward_sweep(roots, call.variables, seeds, call.connected))
        slopes = [next(tangents_of_roots) if isinstance(output, Value) else 0.0 for output in outputs]
    values = as_returned([x if isinstance(x, Value) else float(x) for x in outputs], call.connected, recording)
    return shape.collect(values), shape.collect(as_returned(slopes, call.connected, recording))


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of ``f`` and a function from cotangents of its outputs to those of its arguments.

    Reverse mode: ``f`` runs once, and each call of the function is one sweep of what was recorded, whatever the number
    of outputs: the product of a cotangent with the Jacobian (a VJP).

    Args:
        f: A function that returns a Value or a pytree of Values and numbers.
        primals: The arguments of ``f``: each a number, a Value, or a pytree of them.
        has_aux: ``f`` returns a pair of its outputs and something else, which is not differentiated.

    Returns:
        The pair (outputs, pullback), or (outputs, pullback, aux). The outputs are floats when all primals are, Values
        otherwise. ``pullback`` takes a cotangent in the structure of the outputs and returns a tuple with the cotangent
        of each primal; it can be called as often as you like, and differentiated.

    Raises:
        TypeError: An argument or an output is neither a Value nor a number; from ``pullback``, the cotangent has
            another structure than the outputs.

    Example:
        >>> from retrograd import vjp
        >>> outputs, pullback = vjp(lambda x, y: [x * y, x + y], 2.0, 5.0)
        >>> outputs, pullback([1.0, 0.0]), pullback([0.0, 1.0])
        ([10.0, 7.0], (5.0, 2.0), (1.0, 1.0))
    """
    call = Call(f, primals, {})
    by_program = derivative_of(f) is not None  # whose results are nodes of the tape, and run it back
    with running_transform(call.numbers):
        inputs = join(call.differentiate(range(len(primals))))
    with running_transform(call.numbers, 0 if by_program and not call.connected else 1):
        result, aux = pair(call.run(), f) if has_aux else (call.run(), None)
        outputs, shape = flatten(result, f"the result of {function_name(f)}")
    values = shape.collect(call.returned([x if isinstance(x, Value) else float(x) for x in outputs]))

    def pullback(cotangent: Any) -> Any:
        seeds, structure = flatten(cotangent, "the cotangent")
        if structure.definition != shape.definition:
            raise TypeError(
                f"a cotangent has the structure of the outputs of {function_name(f)}: these have {len(outputs)} "
                f"({shape.kind}), the cotangent {len(seeds)} ({structure.kind})."
            )
        connected = call.connected or is_differentiating() or any(isinstance(seed, Value) for seed in seeds)
        recording = engine.is_recording()
        with running_transform(call.numbers):
            if any(isinstance(seed, Value) for seed in seeds):  # which may depend on the variables themselves
                results: Results = list(weighted_sweep(outputs, seeds, call.variables))
            else:
                with ieee(), anomaly.unchecked_nodes():
                    along = engine.reduce("dot", outputs, seeds)
                results = _derivatives(along, call.variables, connected)
        return inputs.collect(as_returned(results, connected, recording))

    return (values, pullback, call.released(aux)) if has_aux else (values, pullback)


def _call_along(f: Callable[..., Any], at: Any, direction: Any, transform: str) -> tuple[bool, Call, list[Leaf]]:
    """Whether the caller records, the call, and the leaves of the direction."""
    recording = engine.is_recording()
    leaves, structure = flatten(at, "the point")
    seeds, directions = flatten(direction, "the direction")
    if structure.definition != directions.definition:
        raise TypeError(
            f"{transform} needs a direction with the same structure as the point: the point has {len(leaves)} "
            f"({structure.kind}), the direction {len(seeds)} ({directions.kind})."
        )
    call = Call(f, at if isinstance(at, tuple) else (at,), {})
    call.connected = call.connected or directions.holds_values
    if engine.program_recorder() is None:
        seeds = [seed if isinstance(seed, Value) else float(seed) for seed in seeds]
    return recording, call, seeds


def _differentiate_all(call: Call, at: Any) -> Structure:
    structures = call.differentiate(range(len(call.arguments)))
    return join(structures) if isinstance(at, tuple) else structures[0]
