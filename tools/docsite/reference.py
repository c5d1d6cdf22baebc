"""The reference: every public name from its docstring, in pages of one module each."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import retrograd as rg
from retrograd import habits


@dataclass(frozen=True)
class Part:
    """A page: names of one module, or all that it exports."""

    name: str
    title: str
    says: str
    module: str
    names: tuple[str, ...] = ()

    def all(self) -> tuple[str, ...]:
        """The names on the page."""
        if self.names or self.name == "others":
            return self.names
        return tuple(sorted(importlib.import_module(self.module).__all__, key=str.lower))


#: Names that are modules, and have pages of their own.
MODULES = ("errors", "linalg", "math", "nn", "optim")

PARTS = (
    Part("value", "Value", "One number, with its gradient.", "retrograd", ("Value",)),
    Part(
        "derivatives",
        "Derivatives of functions",
        "Gradients and more, of functions of numbers and of structures of them.",
        "retrograd",
        (
            "grad",
            "value_and_grad",
            "gradient",
            "jacobian",
            "jacfwd",
            "jacrev",
            "hessian",
            "hvp",
            "vjp",
            "jvp",
            "vmap",
            "primitive",
        ),
    ),
    Part(
        "sequences",
        "Over sequences",
        "Functions of a list of Values, and choices that a program can follow.",
        "retrograd",
        ("sum", "mean", "dot", "prod", "max", "min", "logsumexp", "softmax", "maximum", "minimum", "where"),
    ),
    Part(
        "compile",
        "compile",
        "The same function at the speed of C: {doc}`../compile`.",
        "retrograd",
        ("compile", "Index", "take", "table"),
    ),
    Part("compiled", "Compiled functions", "What `rg.compile` returns.", "retrograd.compiler", ("Compiled",)),
    Part(
        "looking",
        "Look and check",
        "See a pass, check a gradient, find a NaN, grade a class.",
        "retrograd",
        (
            "explain",
            "explore",
            "check_gradients",
            "detect_anomaly",
            "grade",
        ),
    ),
    Part("explorer", "The explorer's page", "What `rg.explore` returns.", "retrograd.explorer", ("Explorer",)),
    Part(
        "explanation", "The record of a pass", "What `rg.explain` returns, and what it consists of.", "retrograd.trace"
    ),
    Part(
        "math",
        "retrograd.math",
        "A drop-in for Python's `math`, and more: {doc}`../numpy`. "
        "The rows of the op table have {doc}`pages of their own <../operators/index>`.",
        "retrograd.math",
    ),
    Part("linalg", "retrograd.linalg", "Matrices of Values.", "retrograd.linalg"),
    Part("nn", "retrograd.nn", "Modules, layers and losses.", "retrograd.nn"),
    Part("optim", "retrograd.optim", "Optimizers and schedules.", "retrograd.optim"),
    Part("scipy", "retrograd.scipy", "Objectives and residuals for SciPy: {doc}`../howto/bridges`.", "retrograd.scipy"),
    Part("sklearn", "retrograd.sklearn", "Estimators with scikit-learn's interface.", "retrograd.sklearn"),
    Part("torch", "retrograd.torch", "A function, as one of tensors.", "retrograd.torch"),
    Part("sympy", "retrograd.sympy", "A graph, as an expression of SymPy.", "retrograd.sympy"),
    Part(
        "errors",
        "retrograd.errors",
        "One class for each thing that can be wrong; each says what to do.",
        "retrograd.errors",
    ),
    Part("lesson", "retrograd.lesson", "For the notebooks of the course.", "retrograd.lesson"),
    Part(
        "devices",
        "retrograd.training.devices",
        "Training on a mesh of devices: {doc}`../jax`.",
        "retrograd.training.devices",
    ),
)


def pages() -> Iterator[tuple[str, str]]:
    """The pages of the reference, and their list."""
    shown = {name for part in PARTS if part.module == "retrograd" for name in part.all()}
    others = tuple(sorted(set(rg.__all__) - shown - set(MODULES)))
    yield (
        "reference/others.md",
        page(Part("others", "Settings and the rest", "What else the package offers.", "retrograd", others)),
    )
    for part in PARTS:
        yield f"reference/{part.name}.md", page(part)


def is_strange(name: str, member: object) -> bool:
    """Whether a class's attribute is scikit-learn's own, or stands for one that it does not have."""
    return name.endswith("_request") or isinstance(member, habits.Elsewhere)


def page(part: Part) -> str:
    module = importlib.import_module(part.module)
    lines = []
    for name in part.all():
        thing = getattr(module, name)
        full = f"{part.module}.{name}"
        if inspect.isclass(thing):
            kind = "autoexception" if issubclass(thing, BaseException) else "autoclass"
            lines.append(f".. {kind}:: {full}")
            lines += ["   :show-inheritance:"] if kind == "autoexception" else ["   :members:"]
            if strange := [name for name, member in vars(thing).items() if is_strange(name, member)]:
                lines += [f"   :exclude-members: {', '.join(strange)}"]
        elif callable(thing):
            lines.append(f".. autofunction:: {full}")
        else:
            lines.append(
                f".. autodata:: {full}\n   :no-value:"
                if not isinstance(thing, float)
                else f".. py:data:: {full}\n   :value: {thing!r}"
            )
        lines.append("")
    return f"# {part.title}\n\n{part.says}\n\n```{{eval-rst}}\n" + "\n".join(lines) + "```\n"
