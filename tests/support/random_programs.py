"""Random programs as people write them, in text, and their calls: what a compiled function must do as the plain one.

A program is a module: captured state, a class, helpers, and a function ``f``. It is executed twice from the same text.
In one copy the functions stay plain, in the other they are compiled; both get the same calls, in between which state
changes. Everything that can be seen must be the same: results, gradients, derivatives, exceptions, and the state.
"""

from __future__ import annotations

import math
import random
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import retrograd as rg
from retrograd import Value

__all__ = ["DifferenceError", "attack", "program"]

BOUND = 1e-9

HEAD = """
import math, random
import numpy as np
import retrograd as rg

SCALE = 1.5
FLAG = True
ROWS = [0.5, -1.25, 2.0]
TABLE = {"a": 0.75, "b": -0.5}
BAG = {0.25, 3.0}
DATA = np.array([0.5, 1.5, -2.0])
SEEN = []
W = [rg.Value(0.6), rg.Value(-1.2), rg.Value(0.3)]
FIXED = {id(W[1])}


class Box:
    gain = 0.5

    def __init__(self):
        self.bias, self.calls = rg.Value(0.2), 0

    def shift(self, v):
        return v * self.gain + self.bias

    def count(self, v):
        self.calls += 1
        return v * self.calls


BOX = Box()


def helper(v, power=2):
    if v > SCALE:
        return v * W[0]
    return v**power * W[1]


def product(z):
    return z[0] * z[1] * W[0]


def recursive(v, n):
    return v if n == 0 else v * recursive(v, n - 1)
"""

#: Statements; {a}, {b} are numbers that are there, {v} the new one, {c} a plain number.
STATEMENTS = (
    "{v} = {a} + {b} * {c}",
    "{v} = {a} * {b} - {c}",
    "{v} = {a} / ({b} * {b} + 1.0)",
    "{v} = rg.math.tanh({a}) * {b}",
    "{v} = rg.math.sin({a}) + {c}",
    "{v} = {a} * W[0] + W[2]",
    "{v} = {a} * SCALE if FLAG else {b}",
    "{v} = sum(r * {a} for r in ROWS)",
    "{v} = {a} * TABLE['a'] + len(TABLE) * {c}",
    "{v} = {a} * sum(sorted(BAG))",
    "{v} = {a} * float(DATA.sum()) + {b}",
    "{v} = BOX.shift({a})",
    "{v} = helper({a})",
    "{v} = helper({a}, power=3) + {b}",
    "{v} = recursive({a}, 3)",
    "{v} = max({a}, {b})",
    "{v} = min({a}, {b}, {c}) * 1.5",
    "{v} = rg.where({a} > {b}, {a}, {b} * {c})",
    "{v} = rg.maximum({a}, {b})",
    "{v} = abs({a}) + {b}",
    "{v} = {a} if {a} > {b} else {b} * {c}",
    "{v} = {a} * n + k",
    "{v} = rg.take(W, i) * {a}",
    "{v} = rg.take([1.0, 2.0, 4.0], i) * {a}",
    "{v} = p[0] * p[-1] + {a}",
    "{v} = q['x'] * {a} + q['y']",
    "{v} = {a} * 2.0 if isinstance(x, float) else {a} * 3.0",
    "{v} = {a} * (4.0 if hasattr(x, 'tanh') else 5.0)",
    "{v} = {a} * (1.0 if any(t is W[0] for t in p) else 2.0)",
    "{v} = {a} * (0.5 if id(p[0]) in FIXED else 1.0)",
    "{v} = rg.Value({a}.data if isinstance({a}, rg.Value) else {a}) * {b}",
    "{v} = {a} * (x == x) + ({a} < {b}) * {c}",
    "{v} = rg.math.hypot({a}, {b} + 3.0)",
    "{v} = (int(k) % 2) * {a} + {b}",
    """
    try:
        {v} = rg.math.log({a})
    except ValueError:
        {v} = {a} * 3.0
    """,
    """
    items = [{a}, {b}, {c}]
    items[1] = items[0] * {c}
    {v} = sum(items)
    """,
    """
    {v} = {a}
    for step in range(3):
        {v} = {v} * 0.5 + {b}
    """,
    """
    {v}, turns = {a} * 0.1, 0
    while {v} < {b} and turns < 5:
        {v} = {v} + 0.7
        turns += 1
    """,
    """
    with rg.no_grad():
        still = {a} * 2.0
    {v} = still * {b}
    """,
    """
    pair = {{"l": {a}, "r": [{b}]}}
    {v} = pair["l"] * pair["r"][0]
    """,
)
#: What no program can do, or hardly one: it must run as it is, once a call.
EFFECTS = (
    "{v} = BOX.count({a})",
    "{v} = {a} * random.random()",
    "{v} = {a} * np.random.rand()",
    "SEEN.append(len(SEEN)); {v} = {a} * len(SEEN)",
    "TABLE['a'] = TABLE['a'] + 0.5; {v} = {a} * TABLE['a']",
    "p[0] = p[0] * 0.5; {v} = {a} + p[0]",
    "{v} = {a} * float(x)",
    "{v} = {a} * len(str(x))",
    "{v} = {a} * round(float(x) * 4)",
    "{v} = {a} * 3.0 if type(x) is float else {a} * 4.0",
    "{v} = rg.grad(helper)({c}) * {a}",
    """
    try:
        {v} = {a} * [1.0, 2.0, 3.0][i]
    except Exception:
        {v} = {a} * 50.0
    """,
    """
    with rg.errstate(divide="ignore", invalid="ignore"):
        {v} = rg.math.log(abs({a}) + {c} * {c})
    """,
    """
    try:
        {v} = {a} / (x - x)
    except ZeroDivisionError:
        {v} = {b} * 0.5
    """,
)
RESULTS = (
    "return {a}",
    "return {a} + {b}",
    "return [{a}, {b}]",
    "return {{'one': {a}, 'two': ({b}, 2.0)}}",
    "return {c}",
)
CHANGES = (
    "SCALE = {c}",
    "FLAG = not FLAG",
    "ROWS[1] = {c}",
    "ROWS.append({c})",
    "TABLE['b'] = {c}",
    "TABLE['a'] = {c}",
    "BAG.add({c})",
    "DATA[1] = {c}",
    "W[2] = rg.Value({c})",
    "W[0].data = {c}",
    "BOX.gain = {c}",
    "Box.gain = {c}",
    "BOX.bias = rg.Value({c})",
    "helper.__defaults__ = (3,)",
    "FIXED.add(id(W[0]))",
)


class DifferenceError(AssertionError):
    """A compiled program does something that the plain one does not; the text says what, and of which program."""


def program(draw: random.Random) -> str:
    """The text of a random program."""
    names, lines = ["x", "p[0]", "p[1]", "q['x']"], []
    for number in range(draw.randint(2, 7)):
        statement = draw.choice(EFFECTS) if draw.random() < 0.06 else draw.choice(STATEMENTS)
        new = f"v{number}"
        lines.append(textwrap.dedent(_filled(statement, draw, names, new)).strip())
        names += [new, new]
    lines.append(_filled(draw.choice((*RESULTS[:2] * 3, *RESULTS)), draw, names[4:] or names, ""))
    body = textwrap.indent("\n".join(lines), "    ")
    return f"{HEAD}\n\ndef f(x, p, q, i, n=2, *, k=3.0):\n{body}\n"


def _filled(text: str, draw: random.Random, names: list[str], new: str) -> str:
    return text.format(a=draw.choice(names), b=draw.choice(names), c=draw.choice((0.5, -1.5, 2.0, 3.25)), v=new)


class Copy:
    """One copy of a program, and what can be seen of its calls."""

    def __init__(self, text: str, compile: Callable[..., Any] | None) -> None:  # noqa: A002
        self.names: dict[str, Any] = {"__name__": "a_random_program"}
        exec(text, self.names)
        if compile is not None:
            self.names["helper"] = compile(self.names["helper"])
            self.names["f"] = compile(self.names["f"])
            self.names["product"] = compile(self.names["product"])
        self.compiled = compile is not None

    def change(self, text: str) -> None:
        """A statement between calls."""
        if self.compiled:
            text = text.replace("helper.__defaults__", "helper.scalar_function.__defaults__")
        exec(text, self.names)

    def seen(self, how: str, numbers: list[float], alias: bool) -> Any:
        """Call in one way; the result, the gradients, or the class of the exception, and the state after it."""
        w = self.names["W"]
        leaves = [Value(number) for number in numbers]
        shared = [w[0], leaves[1]] if alias else leaves[:2]
        q = {"x": leaves[2], "y": numbers[3]}
        for leaf in (*w, self.names["BOX"].bias):
            leaf.grad = 0.0
        random.seed(7)
        np.random.seed(7)
        try:
            found = self._called(how, numbers, shared, q, leaves)
        except Exception as error:
            found = type(error).__name__
        gradients = [leaf.grad for leaf in (*leaves, *w, self.names["BOX"].bias)]
        box, table = self.names["BOX"], self.names["TABLE"]
        return found, gradients, box.calls, len(self.names["SEEN"]), dict(table)

    def _called(self, how: str, numbers: list[float], p: list[Any], q: Any, leaves: list[Value]) -> Any:
        f, i = self.names["f"], rg.Index(int(abs(numbers[4] * 10)) % 3)
        if how == "float":
            return _plain(f(numbers[4], p, q, i))
        if how == "value":
            result = f(leaves[4], p, q, i, n=3)
            return _plain(result), [_backward(one) for one in _values(result)]
        if how == "backward":
            if self.compiled:
                return f.backward(numbers[4], p, q, i, 1, k=2.0)
            result = rg.engine.pytree.single_output(f(numbers[4], p, q, i, 1, k=2.0), "the result")
            return _backward(result) if isinstance(result, Value) else float(result)
        if how == "value_and_grad":
            if self.compiled:
                return f.value_and_grad(numbers[4], p, q, i)
            return tuple(one.data for one in rg.value_and_grad(f)(numbers[4], p, q, i))  # Values, since p holds some
        if how == "twice":
            product, z = self.names["product"], [leaves[0], leaves[0]]
            if self.compiled:
                return product.value_and_grad(z)
            value, gradient = rg.value_and_grad(product)(z)  # Values, of Values
            return value.data, [one.data for one in gradient]
        if how == "grad":
            return rg.grad(lambda x: f(x, p, q, i) * 2.0)(numbers[4])
        return rg.hessian(lambda z: f(z[0], [z[1], 0.5], {"x": z[2], "y": 1.0}, i) * z[0])([*numbers[:3]])


WAYS = ("float", "value", "backward", "value_and_grad", "grad", "second", "twice")


def _backward(result: Value) -> float:
    result.backward()
    return result.data


def _values(tree: Any) -> list[Value]:
    if isinstance(tree, Value):
        return [tree]
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ()
    return [value for child in children for value in _values(child)]


def _plain(tree: Any) -> Any:
    """A tree in which each Value is told from a number."""
    if isinstance(tree, Value):
        return ("Value", tree.data)
    if isinstance(tree, dict):
        return {key: _plain(item) for key, item in tree.items()}
    return type(tree)(map(_plain, tree)) if isinstance(tree, (list, tuple)) else tree


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        scale = max(1.0, abs(one), abs(other))
        return one == other or (math.isnan(one) and math.isnan(other)) or abs(one - other) <= BOUND * scale
    return type(one) is type(other) and bool(one == other)


def attack(seed: int, compile: Callable[..., Any] = rg.compile) -> int:  # noqa: A002
    """Compare one random program with itself, compiled; how many calls a program answered. Raises DifferenceError."""
    draw = random.Random(seed)
    text = program(draw)
    plain, compiled = Copy(text, None), Copy(text, compile)
    calls, often = [], draw.choice(WAYS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rg.errors.CompileWarning)
        for _ in range(draw.randint(5, 12)):
            if draw.random() < 0.3:
                change = _filled(draw.choice(CHANGES), draw, ["x"], "")
                calls.append(change)
                plain.change(change)
                compiled.change(change)
            how, alias = draw.choice((often, often, *WAYS)), draw.random() < 0.2
            numbers = [draw.choice((0.7, -0.4, 2.0, 0.0, draw.uniform(-2.0, 2.0))) for _ in range(5)]
            calls.append((how, alias, numbers))
            expected, found = plain.seen(how, numbers, alias), compiled.seen(how, numbers, alias)
            if not _same(found, expected):
                history = "\n".join(map(repr, calls))
                raise DifferenceError(f"seed {seed}: {found} instead of {expected} after\n{history}\n\n{text}")
    return int(compiled.names["f"].stats().hits)
