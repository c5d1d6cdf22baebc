"""Validates JSON by the published ``schema.json``, in the part of the JSON Schema language that it uses.

The tests hold this validator against the library ``jsonschema``; it is here because reading a trace must not need one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NoReturn

from ..errors import DataError

__all__ = ["fail", "schema", "validate"]

Json = dict[str, Any]

#: How a sentence calls each type of JSON, and what it is in Python.
_TYPES: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "object": ("an object", lambda thing: isinstance(thing, dict)),
    "array": ("a list", lambda thing: isinstance(thing, list)),
    "string": ("a string", lambda thing: isinstance(thing, str)),
    "integer": ("a whole number", lambda thing: type(thing) is int),
    "number": ("a number", lambda thing: type(thing) in (int, float)),
    "boolean": ("true or false", lambda thing: isinstance(thing, bool)),
    "null": ("null", lambda thing: thing is None),
}


@cache
def schema() -> Json:
    """The published JSON Schema of the format."""
    text = (files(__package__) / "schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def fail(where: str, what: str) -> NoReturn:
    raise DataError(f"{where}: {what}.")


def validate(thing: object, rule: Json | None = None, where: str = "") -> None:
    """Raise DataError, saying where and what was expected, unless ``thing`` follows the schema."""
    rule = _resolved(schema() if rule is None else rule)
    if not _fits(thing, rule):
        fail(where or "the trace", f"{_expected(rule)} is expected, and {_shown(thing)} came")
    if "oneOf" in rule:
        validate(thing, next(choice for choice in rule["oneOf"] if _fits(thing, _resolved(choice))), where)
    if isinstance(thing, dict):
        _validate_object(thing, rule, where)
    if isinstance(thing, list):
        first = rule.get("prefixItems", [])
        for index, item in enumerate(thing):
            validate(item, first[index] if index < len(first) else rule.get("items", {}), f"{where}[{index}]")


def _validate_object(thing: Json, rule: Json, where: str) -> None:
    known, others = rule.get("properties", {}), rule.get("additionalProperties", True)
    for name in rule.get("required", ()):
        if name not in thing:
            fail(where or "the trace", f"{name!r} is missing")
    for name, part in thing.items():
        if name not in known and others is False:
            fail(where or "the trace", f"{name!r:.80} is not part of the format")
        rule_of_others = others if isinstance(others, dict) else {}
        validate(part, known.get(name, rule_of_others), f"{where}.{name}" if where else name)


def _resolved(rule: Json) -> Json:
    while "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    return rule


def _fits(thing: object, rule: Json) -> bool:
    """Whether the thing itself, whatever is inside, is what the rule asks for."""
    if "oneOf" in rule:
        return any(_fits(thing, _resolved(choice)) for choice in rule["oneOf"])
    if "enum" in rule:
        return isinstance(thing, str) and thing in rule["enum"]
    if "const" in rule:
        return type(thing) is type(rule["const"]) and thing == rule["const"]
    if "type" in rule and not _TYPES[rule["type"]][1](thing):
        return False
    if isinstance(thing, list):
        return bool(rule.get("minItems", 0) <= len(thing) <= rule.get("maxItems", len(thing)))
    return not isinstance(thing, (int, float)) or bool(thing >= rule.get("minimum", thing))


def _expected(rule: Json) -> str:
    if "oneOf" in rule:
        return " or ".join(_expected(_resolved(choice)) for choice in rule["oneOf"])
    if "enum" in rule:
        return "one of " + ", ".join(rule["enum"])
    if "const" in rule:
        return json.dumps(rule["const"])
    text = _TYPES[rule["type"]][0]
    if "minimum" in rule:
        text += f", {rule['minimum']} or more"
    if "minItems" in rule:
        most = rule.get("maxItems")
        text += f" of {most} items" if most == rule["minItems"] else f" of at least {rule['minItems']} items"
    return text


def _shown(thing: object) -> str:
    if isinstance(thing, list):
        return f"a list of {len(thing)} items"
    names: Mapping[type, str] = {dict: "an object", bool: "true or false", type(None): "null"}
    return names.get(type(thing), f"{thing!r:.60}")
