"""The places in what is a library's: numbers and arrays, results of caches, and what the user has put there."""

from __future__ import annotations

import functools
import types
from itertools import islice
from typing import Any

import numpy as np

from ..libraries import are_of_one_package, is_users
from .containers import Containers
from .contents import MOST_RESULTS, attributes_of, content_of_slot, has_buffer, is_in_order, open_results, results_of
from .data import holds_numbers, is_number_or_array
from .frontier import Frontier

__all__ = ["LibraryObjects"]


class LibraryObjects:
    """Visits what is a library's.

    Attributes:
        caches: those of ``lru_cache``, with their results that may change.
    """

    def __init__(self, frontier: Frontier, containers: Containers) -> None:
        self._frontier, self._containers = frontier, containers
        self.caches: list[tuple[Any, list[Any]]] = []

    def attributes(self, thing: Any, path: str) -> None:
        """Those attributes that code names, and those that are the user's."""
        for attributes in attributes_of(thing):
            for name, item in list(attributes.items()):
                act = functools.partial(self._frontier.named, attributes, name, f"{path}.{name}")
                act() if is_users(item) else self._frontier.used.when_named(name, act)

    def cache(self, cached: Any, path: str) -> None:
        """The results that an ``lru_cache`` has, which it may forget, and others that it may get."""
        self.caches.append((cached, found := open_results(cached)))
        if found and is_in_order(cached):  # a program asks it for none of them
            self._frontier.refuse(f"asks {path}(), whose bounded cache drops objects that were not asked for lately")
        results = results_of(cached)
        for arguments in list(islice(results, MOST_RESULTS)):
            self._frontier.named(results, arguments, f"{path}.cache_info()")
        for result in found:
            self._frontier.ahead(result, f"{path}.cache_info()")

    def numbers(self, thing: Any, path: str, inner: bool = False) -> None:
        """The numbers and arrays that an instance of a library's class has: of a spline, or of a sparse matrix."""
        kind = type(thing)
        if callable(getattr(kind, "__dlpack__", None)):
            self._tensor(thing, path)
            return
        for attributes in attributes_of(thing):
            for name, item in list(attributes.items()):
                if is_number_or_array(item) or holds_numbers(item) or has_buffer(item):
                    inside = not holds_numbers(item) or bool(item)
                    self._frontier.named(attributes, name, f"{path}.{name}", inside=inside)
                elif not inner and are_of_one_package(kind, type(item)):  # to which it may leave everything
                    self._frontier.named(attributes, name, f"{path}.{name}")
                    self.numbers(item, f"{path}.{name}", inner=True)
        for base in kind.__mro__ if kind.__module__ != "builtins" else ():
            for name, member in vars(base).items():
                if type(member) is types.MemberDescriptorType and all(
                    map(is_number_or_array, content_of_slot(member, thing))
                ):
                    self._frontier.slot(thing, member, f"{path}.{name}")

    def _tensor(self, thing: Any, path: str) -> None:
        try:
            self._containers.buffer(np.from_dlpack(thing.detach() if hasattr(thing, "detach") else thing), path)
        except (BufferError, RuntimeError, TypeError, ValueError):  # on another device, of half precision, sparse
            self._frontier.refuse(f"may read {path}, a tensor that calls cannot compare with what it was")
