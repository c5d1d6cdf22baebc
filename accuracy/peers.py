"""PyTorch and JAX, asked at the same points: where the two of us differ, exact mathematics says who is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrograd.autodiff.check.cross_framework import double_precision

from .matrix import fill
from .oracle import Verdict, expected, judge

__all__ = ["Peer", "ask"]

#: Rows that both libraries have under these names; softplus and the like from their neural parts.
_NAMES = ("add", "sub", "mul", "div", "neg", "pow", "square", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
          "sqrt", "hypot", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
          "acosh", "atanh", "erf", "erfc", "lgamma", "gamma", "digamma", "sigmoid", "softplus", "silu", "gelu", "relu",
          "abs", "sign", "floor", "ceil", "trunc", "minimum", "maximum", "copysign")  # fmt: skip
_SPELLED = {"div": "true_divide", "neg": "negative"}
CLOSE = 1e-9  #: relative: beyond it two answers are different


@dataclass(slots=True)
class Peer:
    """How often another library gave another number, and who was right."""

    name: str
    cells: int = 0
    differ: list[Verdict] = field(default_factory=list)  #: our verdict on each cell on which we differ
    absent: str = ""

    def sentence(self) -> str:
        if self.absent:
            return f"{self.name}: not asked: {self.absent}"
        ours = sum(verdict.ok for verdict in self.differ)
        return (
            f"{self.name}: {self.cells:,} cells of orders 0 and 1 compared, {len(self.differ)} differ by more than "
            f"{CLOSE:g}; of these ours is within its bound or convention in {ours} "
            f"and falls short in {len(self.differ) - ours}"
        )


def _torch_answers(name: str, points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]] | None:
    import torch

    functional = torch.nn.functional
    function = getattr(torch, _SPELLED.get(name, name), None) or getattr(functional, name, None)
    if name in ("softplus", "silu", "gelu"):
        function = getattr(functional, name)
    if function is None:
        return None
    columns = [torch.tensor(column, dtype=torch.float64, requires_grad=True) for column in zip(*points, strict=True)]
    y = function(*columns)
    if not y.requires_grad:
        return None
    slopes = torch.autograd.grad(y.sum(), columns, allow_unused=True)
    found = [y.detach().tolist()]
    found += [[0.0] * len(points) if slope is None else slope.tolist() for slope in slopes]
    return list(zip(*found, strict=True))


def _jax_answers(name: str, points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]] | None:
    import jax
    import jax.numpy as jnp

    special = {"erf": jax.scipy.special.erf, "erfc": jax.scipy.special.erfc, "lgamma": jax.scipy.special.gammaln,
               "gamma": jax.scipy.special.gamma, "digamma": jax.scipy.special.digamma, "pow": jnp.power,
               "gelu": lambda x: jax.nn.gelu(x, approximate=False)}  # fmt: skip
    neural = name in ("sigmoid", "softplus", "silu", "relu")
    function: Any = special.get(name) or getattr(jax.nn if neural else jnp, _SPELLED.get(name, name), None)
    if function is None:
        function = getattr(jnp, name.replace("a", "arc", 1), None)
    if function is None:
        return None
    with double_precision():
        columns = [jnp.asarray(column, dtype=jnp.float64) for column in zip(*points, strict=True)]
        slots = tuple(range(len(columns)))
        y, slopes = jax.vmap(jax.value_and_grad(function, slots))(*columns)
        found = [[float(v) for v in y], *([float(v) for v in slope] for slope in slopes)]
    return list(zip(*found, strict=True))


_LIBRARIES: dict[str, Callable[[str, Sequence[tuple[float, ...]]], list[tuple[float, ...]] | None]] = {
    "torch": _torch_answers,
    "jax": _jax_answers,
}


def _different(mine: float, theirs: float) -> bool:
    if mine != mine or theirs != theirs or math.isinf(mine) or math.isinf(theirs):
        return not (mine == theirs or (mine != mine and theirs != theirs))
    return abs(mine - theirs) > CLOSE * max(abs(mine), abs(theirs)) and abs(mine - theirs) > 1e-300


def ask(name: str, verdicts: Sequence[Verdict]) -> Peer:
    """Compare the cells of orders 0 and 1, every operand a Value, with the library ``name``."""
    peer = Peer(name)
    by_row: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        cell = verdict.cell
        if cell.order < 2 and all(cell.values) and cell.row.name in _NAMES:
            by_row.setdefault(cell.row.name, []).append(verdict)
    for row, some in by_row.items():
        try:
            answers = _LIBRARIES[name](row, [verdict.cell.point.numbers for verdict in some])
        except ImportError as error:
            peer.absent = str(error)
            return peer
        for verdict, answer in zip(some, answers or (), strict=False):
            _compare(peer, verdict, answer)
    return peer


def _compare(peer: Peer, verdict: Verdict, answer: Any) -> None:
    mine = fill(verdict.cell)
    if isinstance(mine, str):
        return  # Python's error, which neither library has
    peer.cells += 1
    theirs = answer[1:] if verdict.cell.order else answer[:1]
    if any(_different(x, y) for x, y in zip(mine, theirs, strict=True)):
        peer.differ.append(judge(verdict.cell, mine, expected(verdict.cell)))
