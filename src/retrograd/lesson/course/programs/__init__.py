"""The figures that are computed in Python: programs that are trained, compiled, priced or fitted, by name."""

from __future__ import annotations

from collections.abc import Callable

from ..figures import Figure
from .applications import bundle, decay, option
from .compiled import layer
from .networks import gpt, moons

__all__ = ["PROGRAMS"]

#: Each makes the figure of a name; all of them together take about a second.
PROGRAMS: dict[str, Callable[[str], Figure]] = {
    "moons": moons,
    "gpt": gpt,
    "layer": layer,
    "option": option,
    "decay": decay,
    "bundle": bundle,
}
