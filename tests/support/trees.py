"""Containers of every kind, and random trees of them."""

from __future__ import annotations

import enum
import random
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import retrograd as rg
from retrograd import Value


class Pair(NamedTuple):
    left: Any
    right: Any


class Kind(enum.IntEnum):
    ONE = 1


@dataclass
class Layer:
    w: Any
    b: Any
    name: str = "layer"
    bias: bool = True
    kind: Kind = Kind.ONE
    activation: Any = len
    size: int = field(default=3, metadata={"static": True})


@dataclass(frozen=True, slots=True)
class Frozen:
    x: Any
    rest: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.x, (float, Value)):
            raise ValueError("x is a number")


class Interval:
    """A container that only its registration makes one."""

    def __init__(self, low: Any, high: Any, unit: str = "m") -> None:
        self.low, self.high, self.unit = low, high, unit


rg.register_pytree_node(
    Interval, lambda one: ((one.low, one.high), one.unit), lambda unit, items: Interval(*items, unit)
)


def random_tree(draw: random.Random, depth: int) -> Any:
    """A tree of floats, and of all containers."""
    kind = draw.choice(["leaf", "leaf", *([] if depth == 0 else ["list", "tuple", "dict", "pair", "array", "ordered"])])
    kind = draw.choice([kind, kind, kind, "none", "layer", "interval"]) if depth else kind
    inner = [random_tree(draw, depth - 1) for _ in range(draw.randrange(4))] if depth else []
    if kind == "array":
        return np.array([draw.random() for _ in range(draw.randrange(5))])
    if kind in ("pair", "layer", "interval"):
        inner = [random_tree(draw, depth - 1) for _ in range(2)]
        return {"pair": Pair, "layer": Layer, "interval": Interval}[kind](*inner)
    if kind in ("dict", "ordered"):
        pairs = [(f"k{i}", item) for i, item in enumerate(inner)]
        return dict(pairs) if kind == "dict" else OrderedDict(reversed(pairs))
    return {"leaf": draw.random, "none": lambda: None, "list": lambda: inner, "tuple": lambda: tuple(inner)}[kind]()


def plain(tree: Any) -> Any:
    """A tree as something that ``==`` compares, with the type of each container."""
    if isinstance(tree, dict):
        return type(tree), [(key, plain(item)) for key, item in tree.items()]
    if isinstance(tree, (list, tuple)):
        return type(tree), [plain(item) for item in tree]
    if isinstance(tree, np.ndarray):
        return np.ndarray, tree.dtype, tree.shape, tree.tolist()
    if isinstance(tree, (Layer, Interval)):
        return type(tree), {name: plain(item) for name, item in vars(tree).items()}
    return tree
