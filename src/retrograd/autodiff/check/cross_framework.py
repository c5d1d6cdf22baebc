"""Runs a recorded graph again on another engine or library: the reference engine, PyTorch or JAX.

The other library gets the structure of the graph, the data of its leaves, and for each node the *forward* formula of
the op table, written with that library's functions. So it computes the derivatives by its own rules.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any, Protocol

from ... import engine
from ...engine import Value
from ...errors import MissingDerivativeError, name_of
from ...ops import CONSTANTS, NARY, OPS, NaryOp
from ...ops.formula import compile_python, operand_names, parse
from ...ops.jax_functions import double_precision, floor_quotient, ieee_remainder, primitives

__all__ = ["PEERS", "NotReplayableError", "Recipe", "double_precision", "jax_backend", "torch_backend"]


class NotReplayableError(Exception):
    """The graph holds a node that only the user's own ``_backward`` can differentiate. The message names it."""


class Backend(Protocol):
    """A library that runs the graph. Its kind of number is ``Any`` here."""

    def constant(self, number: float) -> Any: ...
    def apply(self, name: str, operands: Sequence[Any]) -> Any: ...
    def reduce(self, name: str, operands: Sequence[Any]) -> Sequence[Any]: ...
    def linearized(self, data: float, operands: Sequence[Any], at: Sequence[float], slopes: Sequence[float]) -> Any: ...


class Recipe:
    """How to compute ``root`` from ``inputs``, step by step. Its length is the number of nodes."""

    def __init__(self, root: Value | float, inputs: Sequence[Value]) -> None:
        self.root = root
        self.inputs = inputs
        self.nodes: list[Value] = engine.interior(root) if isinstance(root, Value) else []
        self.user_nodes: int = sum(engine.row_name(node) == "user" for node in self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def gradients(self, peer: str) -> tuple[float, list[float]]:
        """The result and its derivative with respect to each input, computed by 'reference', 'torch' or 'jax'.

        Raises NotReplayableError when the user assigned a function to the ``_backward`` of some node.
        """
        if not isinstance(self.root, Value):
            return self.root, [0.0] * len(self.inputs)
        return {"reference": _by_reference, **PEERS}[peer](self)

    def run(self, backend: Backend, inputs: Sequence[Any]) -> Any:
        """The result, computed by ``backend`` from its own ``inputs``."""
        known = {id(mine): theirs for mine, theirs in zip(self.inputs, inputs, strict=True)}
        outputs: dict[tuple[int, ...], Sequence[Any]] = {}
        for node in self.nodes:
            operands = engine.operands(node)
            theirs = [_translated(operand, known, backend) for operand in operands]
            name = engine.row_name(node)
            if name == "user":
                at = [_number(operand) for operand in operands]
                known[id(node)] = backend.linearized(node.data, theirs, at, _slopes(node))
            elif name in _NARY:
                key = (id(node),) if not _NARY[name].outputs else tuple(map(id, theirs))
                if key not in outputs:
                    outputs[key] = backend.reduce(name, theirs)
                known[id(node)] = outputs[key][engine.output_index(node)]
            else:
                known[id(node)] = backend.apply(name, theirs)
        return _translated(self.root, known, backend)


_NARY: dict[str, NaryOp] = {row.name: row for row in NARY}


def _number(operand: Value | float) -> float:
    return operand.data if isinstance(operand, Value) else operand


def _translated(operand: Value | float, known: dict[int, Any], backend: Backend) -> Any:
    if not isinstance(operand, Value):
        return backend.constant(operand)
    if id(operand) not in known:
        known[id(operand)] = backend.constant(operand.data)
    return known[id(operand)]


def _slopes(node: Value) -> Sequence[float]:
    try:
        slopes = node._local_grads
    except MissingDerivativeError:
        slopes = ()
    if len(slopes) != len(engine.operands(node)):
        raise NotReplayableError(f"{name_of(node)} has a _backward function of its own")
    return slopes


# --- the reference engine -------------------------------------------------------------------------


class _Reference:
    """The graph on ``reference.Value``, node by node."""

    def __init__(self) -> None:
        from ...engine import reference

        self.engine: Any = reference

    def constant(self, number: float) -> float:
        return number

    def apply(self, name: str, operands: Sequence[Any]) -> Any:
        if not any(isinstance(operand, self.engine.Value) for operand in operands):
            return self.engine.evaluate(name, *operands)
        return self.engine.apply(name, *operands)

    def reduce(self, name: str, operands: Sequence[Any]) -> Sequence[Any]:
        half = len(operands) // len(_NARY[name].partials)
        result = self.engine.reduce(name, operands[:half], operands[half:] if _NARY[name].paired else None)
        return result if isinstance(result, list) else [result]

    def linearized(self, data: float, operands: Sequence[Any], at: Sequence[float], slopes: Sequence[float]) -> Any:
        own = [
            operand if isinstance(operand, self.engine.Value) else self.engine.Value(operand) for operand in operands
        ]
        return self.engine.Value(data, tuple(own), tuple(slopes))


def _by_reference(recipe: Recipe) -> tuple[float, list[float]]:
    backend = _Reference()
    reference = backend.engine
    before = reference.set_errstate(False, False, False)
    recording = reference.set_recording(True)
    try:
        inputs = [reference.Value(x.data) for x in recipe.inputs]
        result = recipe.run(backend, inputs)
        if not isinstance(result, reference.Value):
            return result, [0.0] * len(inputs)
        return result.data, reference.gradients(result, 1.0, inputs)
    finally:
        reference.set_recording(recording)
        reference.set_errstate(*before)


# --- PyTorch and JAX ------------------------------------------------------------------------------


class _Library:
    """The rows of the op table as functions of another library's numbers, from their forward formulas."""

    def __init__(self, primitives: Mapping[str, Callable[..., Any]], convert: Callable[[Any], Any]) -> None:
        self.constant = convert
        self.functions: dict[str, Callable[..., Any]] = {"div": lambda a, b: a / b, **primitives}
        for row in OPS:
            if not row.primitive and row.name not in self.functions:
                self.functions[row.name] = self._compiled(row.forward, operand_names(row.name)[:-1])

    def _compiled(self, text: str, names: Sequence[str]) -> Callable[..., Any]:
        bare = compile_python(parse(text, names), ", ".join(names), self.functions)
        # compile_python() removes the builtins, and the libraries need them to import modules while they compute
        return FunctionType(bare.__code__, {**self.functions, **CONSTANTS, "__builtins__": vars(builtins)})

    def apply(self, name: str, operands: Sequence[Any]) -> Any:
        return self.constant(self.functions[name](*operands))

    def reduce(self, name: str, operands: Sequence[Any]) -> Sequence[Any]:
        row = _NARY[name]
        half = len(operands) // len(row.partials)
        xs, ys = operands[:half], operands[-half:] if half else operands
        step = self._compiled(row.step, ("s", "a", "b", "m"))
        finish = self._compiled(row.finish, ("s", "a", "m", "n"))
        s, m = self.constant(self._compiled(row.init, ())()), self.constant(_largest(xs))
        for a, b in zip(xs, ys, strict=True):
            s = self.constant(step(s, a, b, m))
        return [self.constant(finish(s, a, m, float(half))) for a in (xs if row.outputs else [0.0])]

    def linearized(self, data: float, operands: Sequence[Any], at: Sequence[float], slopes: Sequence[float]) -> Any:
        result = self.constant(data)
        for operand, start, slope in zip(operands, at, slopes, strict=True):
            result = result + slope * (operand - start)
        return result


def _largest(xs: Sequence[Any]) -> float:
    """The largest operand as a plain number. It is a shift that cancels out, so it needs no derivative."""
    numbers = [x.item() if hasattr(x, "item") else x for x in map(_primal, xs)]
    return max(numbers, default=float("-inf"))


def _primal(x: Any) -> Any:
    """The plain number inside JAX's tracers."""
    while hasattr(x, "primal"):
        x = x.primal
    return x


_SAME_NAME = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh",
              "tanh", "hypot", "fmod", "abs", "floor", "ceil", "trunc", "copysign")  # fmt: skip
_ARC = ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")


def torch_backend() -> Backend:
    """PyTorch in double precision."""
    import torch

    def cube_root(a: Any) -> Any:
        return torch.sign(a) * torch.pow(torch.abs(a), 1.0 / 3.0)

    def polygamma(order: Any, a: Any) -> Any:
        return torch.polygamma(int(order), a)

    def gamma(a: Any) -> Any:
        negative = (a < 0) & (torch.floor(a) % 2 != 0)
        return torch.where(negative, -1.0, 1.0) * torch.exp(torch.lgamma(a))

    primitives = {
        name: getattr(torch, name) for name in (*_SAME_NAME, *_ARC, "erf", "erfc", "lgamma", "digamma", "pow")
    }
    primitives |= {"cbrt": cube_root, "rint": torch.round, "mod": torch.remainder, "polygamma": polygamma}
    primitives |= {"gamma": gamma, "remainder": partial(ieee_remainder, torch)}
    primitives |= {"floordiv": partial(floor_quotient, torch), "detach": torch.Tensor.detach}
    return _Library(primitives, lambda x: torch.as_tensor(x, dtype=torch.float64))


def _by_torch(recipe: Recipe) -> tuple[float, list[float]]:
    import torch

    inputs = [torch.tensor(x.data, dtype=torch.float64, requires_grad=True) for x in recipe.inputs]
    with torch.enable_grad():
        result = recipe.run(torch_backend(), inputs)
    if not inputs or not result.requires_grad:
        return result.item(), [0.0] * len(inputs)
    slopes = torch.autograd.grad(result, inputs, allow_unused=True)
    return result.item(), [0.0 if slope is None else slope.item() for slope in slopes]


def jax_backend() -> Backend:
    """JAX in double precision; use it inside ``double_precision()``."""
    import jax.numpy as jnp

    return _Library(primitives(), lambda x: jnp.asarray(x, dtype=jnp.float64))


def _by_jax(recipe: Recipe) -> tuple[float, list[float]]:
    import jax
    import jax.numpy as jnp

    with double_precision():
        backend = jax_backend()
        inputs = [jnp.asarray(x.data, dtype=jnp.float64) for x in recipe.inputs]
        if not inputs:
            return float(recipe.run(backend, inputs)), []
        result, slopes = jax.value_and_grad(lambda xs: recipe.run(backend, xs))(inputs)
        return float(result), [float(slope) for slope in slopes]


#: The libraries that can run a graph, by the name of their package.
PEERS: dict[str, Callable[[Recipe], tuple[float, list[float]]]] = {"torch": _by_torch, "jax": _by_jax}
