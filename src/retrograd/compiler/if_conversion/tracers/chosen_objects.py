"""What is done with an object that decisions choose: with each one that it may be."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from ..operators import IN_PLACE, METHODS
from ..selecting.allowed import call
from ..selecting.allowed import operated as by_operator
from ..selecting.decisions import of_chosen
from ..selecting.objects import has_method
from ..selecting.places import attribute, is_same, is_still, is_told_by_identity, item, one_of, set_attribute, set_item
from ..selecting.selections import chosen_at
from ..trial import NotAnArmError, current, in_arms, refuse
from .conditions import among, joined, must_hold, negated
from .object_tracer import ObjectTracer

__all__ = [
    "augmented",
    "called",
    "class_of",
    "equal",
    "is_instance",
    "operated",
    "plain",
    "read",
    "read_item",
    "store",
    "store_item",
    "truth",
    "unequal",
]

#: What a class may have under a name that is called.
_METHODS = (
    *(types.FunctionType, staticmethod, classmethod, types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.BuiltinFunctionType, types.WrapperDescriptorType),
)


def plain(chosen: ObjectTracer) -> Any:
    """Which object it is in this run, for a use that decides something: it must be the same again."""
    if in_arms():  # what is done with it may run code of the user's
        _refused(chosen)
        raise refuse("asks what an object is that decisions choose")
    return chosen._rg_things[chosen._rg_key.plain()]


def read(chosen: ObjectTracer, name: str) -> Any:
    """``chosen.name``."""
    if name.startswith("__") and name.endswith("__"):
        return getattr(plain(chosen), name)
    things = _with(chosen, lambda one: _has(one, name))
    are_methods = [_is_method(one, name) for one in things.values()]
    if not things or any(are_methods):
        if not things or not all(are_methods):
            return getattr(plain(chosen), name)
        return ObjectTracer(
            {place: attribute(one, name) for place, one in things.items()}, chosen._rg_key, chosen._rg_site
        )
    if all(is_still(one, name, False) for one in things.values()):
        return _selected(chosen, {place: getattr(one, name) for place, one in things.items()})
    return of_chosen(things, chosen._rg_key, lambda one: attribute(one, name), chosen._rg_site)


def read_item(chosen: ObjectTracer, key: Any) -> Any:
    """``chosen[key]``."""
    things = _possible(chosen)
    if all(type(one) is dict for one in things.values()) and type(key) in (int, str):
        things = _with(chosen, lambda one: key in one)
        if things:
            return _selected(chosen, {place: one[key] for place, one in things.items()})
        return plain(chosen)[key]
    return of_chosen(things, chosen._rg_key, lambda one: item(one, key), chosen._rg_site)


def store(chosen: ObjectTracer, name: str, value: Any) -> None:
    """``chosen.name = value``: each object that it may be keeps what it has, unless it is the one."""
    _store(chosen, value, lambda one: is_still(one, name, False), lambda one: getattr(one, name), name)


def store_item(chosen: ObjectTracer, key: Any, value: Any) -> None:
    """``chosen[key] = value``."""
    _store(chosen, value, lambda one: is_still(one, key, True), lambda one: one[key], key, is_item=True)


def _store(
    chosen: ObjectTracer,
    value: Any,
    is_stored: Callable[[Any], bool],
    get: Callable[[Any], Any],
    name: Any,
    is_item: bool = False,
) -> None:
    def set_in(one: Any, thing: Any) -> None:
        if is_item:
            set_item(thing, one, name)
        else:
            set_attribute(one, name, thing)

    things = _possible(chosen)
    if not all(map(is_stored, things.values())):
        of_chosen(things, chosen._rg_key, lambda one: set_in(one, value), chosen._rg_site)
        return
    tests: dict[int, Any] = {}  # by the object, which may be in several places
    for place, one in things.items():
        tests[id(one)] = joined("maximum", chosen._rg_key.is_(place), tests.get(id(one), False))
    different = {id(one): one for one in things.values()}
    try:
        made = {key: chosen_at(tests[key], value, get(one)) for key, one in different.items()}
    except NotAnArmError:
        _refused(chosen)
        set_in(plain(chosen), value)
        return
    for key, thing in made.items():
        set_in(different[key], thing)


def called(chosen: ObjectTracer, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """``chosen(…)``."""

    def of(one: Any) -> Any:
        return call(one, *arguments, **options)

    if any(hasattr(type(one), "__next__") for one in (*arguments, *options.values())):  # only one may read it
        return of(plain(chosen))
    return of_chosen(_possible(chosen), chosen._rg_key, of, chosen._rg_site)


def operated(name: str, left: Any, right: Any) -> Any:
    """An operator between two operands, at least one of which decisions choose."""
    if type(left) is ObjectTracer:
        return of_chosen(_possible(left), left._rg_key, lambda one: by_operator(name, one, right), left._rg_site)
    return of_chosen(_possible(right), right._rg_key, lambda one: by_operator(name, left, one), right._rg_site)


def augmented(name: str, chosen: ObjectTracer, other: Any) -> Any:
    """``chosen += other``, or another operator."""
    method = METHODS[name][0].replace("__", "__i", 1)
    if any(hasattr(type(one), method) for one in _possible(chosen).values()):
        return IN_PLACE[name](plain(chosen), other)
    return operated(name, chosen, other)


def class_of(chosen: ObjectTracer) -> Any:
    """``chosen.__class__``."""
    kinds = {type(one) for one in _possible(chosen).values()}
    return kinds.pop() if len(kinds) == 1 else type(plain(chosen))


def is_instance(chosen: ObjectTracer, kinds: Any) -> Any:
    """``isinstance(chosen, kinds)``."""
    return among(chosen._rg_key, [place for place, one in chosen._rg_things.items() if isinstance(one, kinds)])


def truth(chosen: ObjectTracer) -> Any:
    """Whether it is true, as objects are whose class says nothing else."""
    kinds = {type(one) for one in _possible(chosen).values()}
    return not any(has_method(kind, name) for kind in kinds for name in ("__bool__", "__len__")) or plain(chosen)


def equal(chosen: ObjectTracer, other: Any) -> Any:
    """``chosen == other``."""
    kinds = {type(one) for one in _possible(chosen).values()}
    kinds |= {type(one) for one in _possible(other).values()} if type(other) is ObjectTracer else {type(other)}
    if all(map(is_told_by_identity, kinds)):
        return is_same(chosen, other)
    return plain(chosen) == other


def unequal(chosen: ObjectTracer, other: Any) -> Any:
    """``chosen != other``."""
    return negated(equal(chosen, other))


# --- the objects that it may be -----------------------------------------------------------------------------------


def _possible(chosen: ObjectTracer) -> dict[Any, Any]:
    """Those that the tests of the arms leave which run now, by place."""
    left = chosen._rg_key.possible()
    things = chosen._rg_things
    return {place: one for place, one in things.items() if left is None or place in left}


def _with(chosen: ObjectTracer, asked: Callable[[Any], bool]) -> dict[Any, Any]:
    """Those of which something is so; that it is no other becomes a guard. None, if it is another now."""
    found = {}
    for place, one in _possible(chosen).items():
        if asked(one):
            found[place] = one
        elif not must_hold(negated(chosen._rg_key.is_(place))):
            return {}  # so the function raises
    return found


def _selected(chosen: ObjectTracer, parts: Mapping[Any, Any]) -> Any:
    """One of the parts of the objects, selected as they are."""
    try:
        return one_of(parts, chosen._rg_key)
    except NotAnArmError:
        _refused(chosen)
        if in_arms():
            raise
        return parts[chosen._rg_key.plain()]


def _refused(chosen: ObjectTracer) -> None:
    """What is done with the object is nothing to be done with each: the next trial chooses none there."""
    trial = current()
    if trial is not None:
        trial.refused_objects.add(chosen._rg_site)


def _has(thing: Any, name: str) -> bool:
    """Whether a thing has an attribute, or may have."""
    missing = object()
    kind: Any = type(thing)
    if has_method(kind, "__getattr__") or kind.__getattribute__ is not object.__getattribute__:
        return hasattr(thing, name)
    return inspect.getattr_static(thing, name, missing) is not missing


def _is_method(thing: Any, name: str) -> bool:
    found = inspect.getattr_static(type(thing), name, None)
    return name not in getattr(thing, "__dict__", ()) and isinstance(found, _METHODS)
