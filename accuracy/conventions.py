"""Kinks, ties and poles: what PyTorch, JAX, autograd, CasADi and XAD answer beside us, found out by asking them."""

from __future__ import annotations

import importlib
import importlib.util
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from retrograd.autodiff.check.cross_framework import double_precision

__all__ = ["EDGES", "LIBRARIES", "Edge", "answers", "missing", "page", "shown"]

INF, NAN = math.inf, math.nan


@dataclass(frozen=True, slots=True)
class Edge:
    """A function at a point; ``name`` is the same in every library's table below."""

    name: str
    at: tuple[float, ...]
    text: str


EDGES: tuple[Edge, ...] = (
    Edge("abs", (0.0,), "abs(x) at 0"),
    Edge("abs", (-0.0,), "abs(x) at -0"),
    Edge("sign", (0.0,), "sign(x) at 0"),
    Edge("relu", (0.0,), "relu(x) at 0"),
    Edge("relu", (NAN,), "relu(x) at NaN"),
    Edge("maximum", (1.0, 1.0), "max(x, y) at a tie"),
    Edge("minimum", (1.0, 1.0), "min(x, y) at a tie"),
    Edge("maximum", (1.0, NAN), "max(x, y) at y = NaN"),
    Edge("floor", (1.0,), "floor(x) at 1"),
    Edge("sqrt", (0.0,), "sqrt(x) at 0"),
    Edge("sqrt", (-1.0,), "sqrt(x) at -1"),
    Edge("cbrt", (0.0,), "cbrt(x) at 0"),
    Edge("log", (0.0,), "log(x) at 0"),
    Edge("log", (-1.0,), "log(x) at -1"),
    Edge("div", (1.0, 0.0), "x/y at 1/0"),
    Edge("div", (0.0, 0.0), "x/y at 0/0"),
    Edge("square_by_power", (0.0,), "x**2 at 0"),
    Edge("power_0", (0.0,), "x**0 at 0"),
    Edge("power_1", (0.0,), "x**1 at 0"),
    Edge("power_half", (0.0,), "x**0.5 at 0"),
    Edge("pow", (0.0, 0.0), "x**y at 0**0"),
    Edge("pow", (0.0, 2.0), "x**y at 0**2"),
    Edge("pow", (-2.0, 3.0), "x**y at (-2)**3"),
    Edge("pow", (-8.0, 1 / 3), "x**y at (-8)**(1/3)"),
    Edge("hypot", (0.0, 0.0), "hypot(x, y) at the origin"),
    Edge("norm", (0.0, 0.0), "sqrt(x*x + y*y) at the origin"),
    Edge("atan2", (0.0, 0.0), "atan2(x, y) at the origin"),
    Edge("asin", (1.0,), "asin(x) at 1"),
    Edge("acosh", (1.0,), "acosh(x) at 1"),
    Edge("atanh", (1.0,), "atanh(x) at 1"),
    Edge("tanh", (1000.0,), "tanh(x) at 1000"),
    Edge("sigmoid_naive", (1000.0,), "1/(1 + exp(-x)) at 1000"),
    Edge("sigmoid_naive", (-1000.0,), "1/(1 + exp(-x)) at -1000"),
    Edge("mod", (4.0, 2.0), "x % y at 4 % 2"),
    Edge("branch", (0.0,), "x > 0 ? log(x) : 0 at 0, by the library's where"),
)


def _common(m: Any, where: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The functions that are written with operators, for a library whose module of functions is ``m``."""
    return {
        "div": lambda x, y: x / y,
        "square_by_power": lambda x: x**2,
        "power_0": lambda x: x**0,
        "power_1": lambda x: x**1,
        "power_half": lambda x: x**0.5,
        "pow": lambda x, y: x**y,
        "norm": lambda x, y: m.sqrt(x * x + y * y),
        "sigmoid_naive": lambda x: 1 / (1 + m.exp(-x)),
        "mod": lambda x, y: x % y,
        "branch": lambda x: where(x > 0, m.log(x), 0.0 * x),
    }


def _named(m: Any, **spelled: str) -> dict[str, Callable[..., Any]]:
    names = ("abs", "sign", "floor", "sqrt", "cbrt", "log", "hypot", "atan2", "asin", "acosh", "atanh", "tanh",
             "maximum", "minimum")  # fmt: skip
    found = {name: getattr(m, spelled.get(name, name), None) for name in names}
    return {name: function for name, function in found.items() if function is not None}


def _ours(edge: Edge) -> tuple[float, ...]:
    from retrograd import engine
    from retrograd import math as rmath
    from retrograd.autodiff.transforms import gradient

    table: dict[str, Any] = {
        **_named(rmath),
        "relu": rmath.relu,
        **_common(rmath, lambda c, x, y: rmath.where(float(c), x, y)),
    }
    xs = [engine.Value(x) for x in edge.at]
    with engine.errstate(divide="ignore", over="ignore", invalid="ignore"):
        y = table[edge.name](*xs)
        return (y.data, *gradient(y, xs))


def _torch(edge: Edge) -> tuple[float, ...]:
    import torch

    table: dict[str, Any] = {**_named(torch), **_common(torch, torch.where), "relu": torch.relu}
    xs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in edge.at]
    y = table[edge.name](*xs)
    slopes = torch.autograd.grad(y, xs, allow_unused=True) if y.requires_grad else [None] * len(xs)
    return (y.item(), *(0.0 if s is None else s.item() for s in slopes))


def _jax(edge: Edge) -> tuple[float, ...]:
    import jax
    import jax.numpy as jnp

    spelled = {"atan2": "arctan2", "asin": "arcsin", "acosh": "arccosh", "atanh": "arctanh"}
    table: dict[str, Any] = {**_named(jnp, **spelled), **_common(jnp, jnp.where), "relu": jax.nn.relu}
    with double_precision():
        y, slopes = jax.value_and_grad(table[edge.name], tuple(range(len(edge.at))))(*map(jnp.float64, edge.at))
        return (float(y), *map(float, slopes))


def _autograd(edge: Edge) -> tuple[float, ...]:
    grad: Any = importlib.import_module("autograd").grad
    numpy: Any = importlib.import_module("autograd.numpy")

    spelled = {"atan2": "arctan2", "asin": "arcsin", "acosh": "arccosh", "atanh": "arctanh"}
    table: dict[str, Any] = {
        **_named(numpy, **spelled),
        **_common(numpy, numpy.where),
        "relu": lambda x: numpy.maximum(x, 0.0),
    }
    function, at = table[edge.name], [numpy.float64(x) for x in edge.at]  # a Python float would raise by itself
    slopes = [float(grad(function, slot)(*at)) for slot in range(len(at))]
    return (float(table[edge.name](*at)), *slopes)


def _casadi(edge: Edge) -> tuple[float, ...]:
    casadi = importlib.import_module("casadi")
    spelled = {"abs": "fabs", "maximum": "fmax", "minimum": "fmin"}
    table = {**_named(casadi, **spelled), **_common(casadi, casadi.if_else), "relu": lambda x: casadi.fmax(x, 0)}
    table |= {"mod": casadi.fmod}
    xs = [casadi.SX.sym(f"x{slot}") for slot in range(len(edge.at))]
    y = table[edge.name](*xs)
    run = casadi.Function("f", xs, [y, *(casadi.gradient(y, x) for x in xs)])
    return tuple(float(part) for part in run.call(list(edge.at)))


def _xad(edge: Edge) -> tuple[float, ...]:
    adjoint: Any = importlib.import_module("xad.adj_1st")
    functions: Any = importlib.import_module("xad.math")
    table: dict[str, Any] = {**_named(functions), **_common(functions, lambda c, x, y: x if c else y)}
    table |= {"maximum": functions.max, "minimum": functions.min}
    table |= {"relu": lambda x: functions.max(x, 0.0), "mod": functions.fmod}
    with adjoint.Tape() as tape:
        xs = [adjoint.Real(x) for x in edge.at]
        for x in xs:
            tape.registerInput(x)
        tape.newRecording()
        y = table[edge.name](*xs)
        tape.registerOutput(y)
        y.derivative = 1.0
        tape.computeAdjoints()
        return (float(y.value), *(float(x.derivative) for x in xs))


#: Who is asked, by the name of the package.
LIBRARIES: dict[str, Callable[[Edge], tuple[float, ...]]] = {
    "retrograd": _ours, "torch": _torch, "jax": _jax, "autograd": _autograd, "casadi": _casadi, "xad": _xad,
}  # fmt: skip


def missing() -> list[str]:
    """The packages among them that are not installed."""
    return [name for name in LIBRARIES if importlib.util.find_spec(name) is None]


def answers(edge: Edge) -> dict[str, tuple[float, ...] | str]:
    """What each installed library says: value and derivatives, or the error that it raises, or that it has no such."""
    found: dict[str, tuple[float, ...] | str] = {}
    for name in LIBRARIES:
        if name in missing():
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[name] = LIBRARIES[name](edge)
        except KeyError:
            found[name] = "has none"
        except Exception as error:
            found[name] = type(error).__name__
    return found


def _same(one: tuple[float, ...] | str, other: tuple[float, ...] | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return all(x == y or (x != x and y != y) or abs(x - y) < 1e-12 for x, y in zip(one, other, strict=True))


def shown(answer: tuple[float, ...] | str) -> str:
    """An answer as the page has it: the value; the derivatives."""
    if isinstance(answer, str):
        return answer
    return f"{answer[0]:.6g}; {', '.join(f'{slope + 0.0:.6g}' for slope in answer[1:])}"


def page(edges: Sequence[Edge] = EDGES) -> str:
    """docs/conventions.md."""
    asked = [name for name in LIBRARIES if name not in missing()]
    table = [(edge, answers(edge)) for edge in edges]
    agree = sum(_agreed(found) for _, found in table)
    text = [
        "<!-- Written by make accuracy. Do not edit. -->",
        "# Kinks, ties and poles: what others answer",
        "",
        "The value, then the derivative by each operand, as the libraries gave them when this page was written: "
        + ", ".join(f"{name} {_version(name)}" for name in asked)
        + '. retrograd is asked inside `errstate(…="ignore")`; without it, it raises where Python does.',
        "",
        f"All of them give one answer on {agree} of the {len(table)} edges.",
        "",
    ]
    if missing():
        text += [f"Not installed, and so not asked: {', '.join(missing())}.", ""]
    text += ["| edge | " + " | ".join(asked) + " |", "|---" * (len(asked) + 1) + "|"]
    for edge, found in table:
        text.append(f"| {edge.text} | " + " | ".join(shown(found[name]) for name in asked) + " |")
    return "\n".join(text) + "\n"


def _agreed(found: dict[str, tuple[float, ...] | str]) -> bool:
    given = [answer for answer in found.values() if answer != "has none"]
    return all(_same(given[0], answer) for answer in given[1:])


def _version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "of this checkout"
