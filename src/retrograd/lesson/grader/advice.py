"""What each mistake means, in a sentence or two, and two hints; the texts are in ``advice.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from .subject import Trouble

__all__ = ["Advice", "advise", "advise_on_trouble", "texts"]

#: The rules of which the advice depends on the operation.
_DERIVATIVES = ("two rules", "derivatives")


@dataclass(frozen=True, slots=True)
class Advice:
    """A headline, what the mistake does, and two hints, the second plainer than the first."""

    headline: str
    explanation: str
    hints: tuple[str, ...]


@cache
def texts() -> dict[str, Any]:
    """Every text, as ``advice.toml`` has it."""
    return tomllib.loads((files(__package__) / "advice.toml").read_text(encoding="utf-8"))


def advise(rule: str, mistake: str, operation: str = "") -> Advice:
    """The advice for a mistake: the operation's own, the rule's, or what the rule asks."""
    if rule in _DERIVATIVES:
        found = texts()["local"].get(operation, {}).get(mistake)
        if found is None:
            found = texts()["slip"].get(mistake) or texts()["slip"]["otherwise"]
    else:
        by_mistake = texts()["rule"][rule]
        found = by_mistake.get(mistake) or by_mistake["otherwise"]
    if operation and rule in ("chain", "accumulation"):  # of all operations this one
        found = {**found, "headline": found["headline"] + " ({op})"}
    return _filled(found, op=_named(operation), rule=texts()["derivative"].get(operation, ""))


def advise_on_trouble(trouble: Trouble, operation: str = "") -> Advice:
    """The advice for an exception in the learner's code."""
    kind = "RuleCalled" if _called_its_rule(trouble) else trouble.kind
    raised = texts()["raised"].get(kind) or texts()["raised"]["otherwise"]
    return _filled(raised, kind=trouble.kind, op=_named(operation))


def _called_its_rule(trouble: Trouble) -> bool:
    """Whether ``out._backward = _backward()`` stands somewhere: what the call returned, None, is called later."""
    return "'NoneType' object is not callable" in trouble.says and "_backward" in trouble.source


def _filled(found: dict[str, Any], **words: str) -> Advice:
    hints = tuple(hint.format(**words) for hint in found["hints"])
    return Advice(found["headline"].format(**words), found["explanation"].format(**words), hints)


def _named(operation: str) -> str:
    """An operation as a sentence names it."""
    words = {"": "an operation", "neg": "-a", "-": "a - b", "/": "a / b", "**": "a ** n", "+": "a + b", "*": "a * b"}
    return words.get(operation, f"{operation}()" if operation.isidentifier() else operation)
