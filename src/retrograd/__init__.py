"""retrograd: reverse-mode automatic differentiation for scalar Python programs.

Write plain Python on ``Value``s, one number each; see every number, every local derivative and every ``+=``
of the backward pass; and run the same code at the speed of C.

>>> import retrograd as rg
>>> a, b, c = rg.Value(2.0), rg.Value(-3.0), rg.Value(10.0)
>>> L = (a * b + c) * (a + b)
>>> L.backward()
>>> a.grad, b.grad, c.grad
(7.0, 2.0, -1.0)
"""

from typing import TYPE_CHECKING

from . import engine as engine  # first: where it cannot be loaded it says why, which NumPy would not

# isort: split
from . import array_protocols, errors, habits, linalg, math, nn, optim
from .autodiff.anomaly import detect_anomaly
from .autodiff.batching import vmap
from .autodiff.check import check_gradients
from .autodiff.transforms import grad, gradient, hessian, hvp, jacfwd, jacobian, jacrev, jvp, value_and_grad, vjp
from .compiler import compile  # noqa: A004  (named like the field names it)
from .engine import Value, errstate, no_grad, topological_order
from .engine.containers import register_pytree_node
from .index import Index, table, take
from .math import dot, logsumexp, max, maximum, mean, min, minimum, prod, softmax, sum, where  # noqa: A004
from .primitives import primitive

if TYPE_CHECKING:
    from .explorer import explore
    from .lesson.grade import grade
    from .trace.explain import explain

__all__ = [
    "Index",
    "Value",
    "check_gradients",
    "compile",
    "detect_anomaly",
    "dot",
    "errors",
    "errstate",
    "explain",
    "explore",
    "grad",
    "grade",
    "gradient",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linalg",
    "logsumexp",
    "math",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "nn",
    "no_grad",
    "optim",
    "primitive",
    "prod",
    "register_pytree_node",
    "softmax",
    "sum",
    "table",
    "take",
    "topological_order",
    "value_and_grad",
    "vjp",
    "vmap",
    "where",
]


for _name, _method in array_protocols.METHODS.items():
    setattr(Value, _name, _method)


def __getattr__(name: str) -> object:
    """What costs more to import than the rest: ``explain``, ``explore`` and ``grade``, and ``__version__``."""
    if name == "explain":
        from .trace.explain import explain

        globals()[name] = explain
        return explain
    if name == "explore":
        from .explorer import explore

        globals()[name] = explore
        return explore
    if name == "grade":
        from .lesson.grade import grade

        globals()[name] = grade
        return grade
    if name == "__version__":
        from importlib.metadata import version

        return version("retrograd")
    raise habits.elsewhere("module 'retrograd'", name, habits.PACKAGE)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def load_ipython_extension(ipython: object) -> None:
    """What ``%load_ext retrograd`` calls: it adds the magics ``%explain`` and ``%explore``."""
    from .magics import register

    register(ipython)


def _register_display() -> None:
    """In IPython and notebooks, let a bare Value show one small SVG of its graph beside its text."""
    import sys

    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    formatter = getattr(shell, "display_formatter", None)
    if formatter is None:
        return

    def picture(value: Value) -> str | None:
        from .explorer.svg import small_svg

        try:
            return small_svg(value)
        except Exception:  # a display must not fail: a Value that cannot be passed backward still shows as text
            return None

    formatter.formatters["image/svg+xml"].for_type(Value, picture)


_register_display()
habits.answer_imports()
