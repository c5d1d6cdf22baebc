"""The sentences of a trace, as templates: ``tools/generate.py`` gives the same ones to the explorer's page."""

from __future__ import annotations

from collections.abc import Sequence

from .notation import fill

__all__ = ["INPUTS", "LISTED", "SENTENCES", "listed"]

SENTENCES = {
    "input": "$name = $data",
    "moreInputs": "and $count more inputs",
    "seed": "$name.grad = 1.0",
    "visit": "$name = $formula",
    "stopped": "$visit: $name.grad is $grad, so nothing flows on.",
    "flows": "$visit: $name.grad = $grad sends $shares.",
    "share": "$amount to $name",
    "flowsNowhere": "$visit: nothing flows on.",
    "allClosed": "$visit: nothing flows to $targets, because the local derivative there is zero.",
    "closed": " Nothing flows to $targets: the local derivative there is zero.",
    "addition": "$target.grad $sign $formula * $name.grad = $local * $upstream = $contribution",
    "ownAddition": "$target.grad $sign $formula = $contribution",
    "ownDerivative": "$name._backward()",
    "moreNames": "$count more",
    "lastName": "$names and $last",
}
#: From this many inputs on, the first step names only half as many.
INPUTS = 16
#: The most names in a list; a longer one ends in "and 13 more".
LISTED = 6


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``, or ``a, b, c and 13 more``; each name once."""
    names = list(dict.fromkeys(names))
    if len(names) > LISTED:
        names = [*names[: LISTED - 1], fill(SENTENCES["moreNames"], count=len(names) - LISTED + 1)]
    if len(names) < 2:
        return "".join(names)
    return fill(SENTENCES["lastName"], names=", ".join(names[:-1]), last=names[-1])
