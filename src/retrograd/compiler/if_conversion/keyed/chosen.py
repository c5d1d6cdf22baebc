"""What is asked of one of some dictionaries, or sets, whose keys decisions choose: of each that it may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tracers.object_tracer import ObjectTracer
from .tracers import PartialDict, PartialSet

__all__ = ["are_keyed", "asked_of_each"]


def are_keyed(thing: Any) -> bool:
    """Whether decisions choose one of some such dictionaries, or sets."""
    return type(thing) is ObjectTracer and all(
        type(one) in (PartialDict, PartialSet) for one in thing._rg_things.values()
    )


def asked_of_each(thing: ObjectTracer, give: Callable[[Any], Any]) -> Any:
    """What that one gives."""
    from ..selecting.decisions import of_chosen  # which imports what imports this module

    return of_chosen(thing._rg_things, thing._rg_key, give, thing._rg_site)
