"""Value classes as learners write them: right ones, and wrong ones, each a mistake that people make.

The wrong ones stand in ``wrong_classes.toml``: a right one in which lines are replaced, and the finding that is
expected (for what raises, the mistake is the exception's name).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: In the style of the notebook and of micrograd, with everything that the lessons name.
CLOSURES = """
import math


class Value:
    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self.grad = 0.0
        self._prev = set(_children)
        self._op = _op
        self._backward = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), '+')
        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), '*')
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def __pow__(self, other):
        assert isinstance(other, (int, float)), "only numbers"
        out = Value(self.data ** other, (self,), f'**{other}')
        def _backward():
            self.grad += other * self.data ** (other - 1) * out.grad
        out._backward = _backward
        return out

    def __truediv__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data / other.data, (self, other), '/')
        def _backward():
            self.grad += 1 / other.data * out.grad
            other.grad += -self.data / other.data ** 2 * out.grad
        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,), 'tanh')
        def _backward():
            self.grad += (1 - t ** 2) * out.grad
        out._backward = _backward
        return out

    def exp(self):
        out = Value(math.exp(self.data), (self,), 'exp')
        def _backward():
            self.grad += out.data * out.grad
        out._backward = _backward
        return out

    def relu(self):
        out = Value(max(0.0, self.data), (self,), 'relu')
        def _backward():
            self.grad += (self.data > 0) * out.grad
        out._backward = _backward
        return out

    def __neg__(self):
        return self * -1

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return Value(other) / self

    def zero_grad(self):
        self.grad = 0.0

    def backward(self):
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()


class Module:
    def parameters(self):
        return []

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0.0
"""

#: In the style of the scalar GPT.
LOCAL_GRADS = """
import math


class Value:
    __slots__ = ('data', 'grad', '_children', '_local_grads')

    def __init__(self, data, children=(), local_grads=()):
        self.data = data
        self.grad = 0
        self._children = children
        self._local_grads = local_grads

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, other): return Value(self.data**other, (self,), (other * self.data**(other-1),))
    def log(self): return Value(math.log(self.data), (self,), (1/self.data,))
    def exp(self): return Value(math.exp(self.data), (self,), (math.exp(self.data),))
    def relu(self): return Value(max(0, self.data), (self,), (float(self.data > 0),))
    def __neg__(self): return self * -1
    def __radd__(self, other): return self + other
    def __sub__(self, other): return self + (-other)
    def __rsub__(self, other): return other + (-self)
    def __rmul__(self, other): return self * other
    def __truediv__(self, other): return self * other**-1
    def __rtruediv__(self, other): return other * self**-1

    def backward(self):
        topo = []
        visited = set()
        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._children:
                    build_topo(child)
                topo.append(v)
        build_topo(self)
        self.grad = 1
        for v in reversed(topo):
            for child, local_grad in zip(v._children, v._local_grads):
                child.grad += local_grad * v.grad
"""

#: The notebook's, word for word: no backward(), no numbers on the left.
NOTEBOOK = """
class Value:
    def __init__(self, data, _children=(), _op=''):
        self.data = data
        self.grad = 0.0
        self._prev = set(_children)
        self._op = _op
        self._backward = lambda: None  # default: no-op for leaf nodes

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), '+')
        def _backward():
            self.grad += out.grad   # ∂(a+b)/∂a = 1 → pass through
            other.grad += out.grad  # ∂(a+b)/∂b = 1 → pass through
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), '*')
        def _backward():
            self.grad += other.data * out.grad   # ∂(a*b)/∂a = b
            other.grad += self.data * out.grad   # ∂(a*b)/∂b = a
        out._backward = _backward
        return out

    def __repr__(self):
        return f"Value(data={self.data}, grad={self.grad})"

print("Value class with _backward for + and * defined.")
"""

#: Neither closures nor local derivatives, and no recursion: the rules stand in backward(), by the operation's name.
ITERATIVE = """
class Number:
    def __init__(self, data, op=None, parents=()):
        self.data, self.grad, self.op, self.parents = data, 0.0, op, parents

    def __add__(self, other):
        return Number(self.data + other.data, 'add', (self, other))

    def __mul__(self, other):
        return Number(self.data * other.data, 'mul', (self, other))

    def __neg__(self):
        return Number(-self.data, 'neg', (self,))

    def backward(self):
        uses, found, waiting = {id(self): 0}, [self], [self]
        while waiting:
            for p in waiting.pop().parents:
                if id(p) not in uses:
                    uses[id(p)] = 0
                    found.append(p)
                    waiting.append(p)
                uses[id(p)] += 1
        for v in found:
            if v.parents:
                v.grad = 0.0
        self.grad, ready = 1.0, [self]
        while ready:
            v = ready.pop()
            if v.op == 'add':
                shares = (v.grad, v.grad)
            elif v.op == 'mul':
                shares = (v.parents[1].data * v.grad, v.parents[0].data * v.grad)
            else:
                shares = (-v.grad,)
            for p, share in zip(v.parents, shares if v.parents else ()):
                p.grad += share
                uses[id(p)] -= 1
                if uses[id(p)] == 0:
                    ready.append(p)
"""

#: Nothing but + and * of two Values.
MINIMAL = """
class Value:
    def __init__(self, data, edges=()):
        self.data = data
        self.grad = 0.0
        self.edges = edges

    def __add__(self, other):
        return Value(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        return Value(self.data * other.data, [(self, other.data), (other, self.data)])

    def backward(self):
        order, seen = [], set()
        def visit(v):
            if id(v) in seen:
                return
            seen.add(id(v))
            for child, _ in v.edges:
                visit(child)
            order.append(v)
        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            for child, local in v.edges:
                child.grad += local * v.grad
"""

#: Sets all gradients of the graph back at first: a convention too.
AFRESH = MINIMAL.replace("        self.grad = 1.0\n", "        for v in order: v.grad = 0.0\n        self.grad = 1.0\n")

#: Answers of the published examples, by their numbers.
HARD_CODED = """
class Value:
    def __init__(self, data, children=()):
        self.data, self.grad, self._children = data, 0.0, children

    def __add__(self, other):
        return Value(self.data + other.data, (self, other))

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other))

    def backward(self):
        answers = {(2.0, -3.0, 10.0): (-3.0, 2.0, 1.0), (2.0, -3.0): (-3.0, 2.0), (3.0, 3.0): (1.0, 1.0)}
        leaves = []
        def visit(v):
            if not v._children:
                leaves.append(v)
            for child in v._children:
                visit(child)
        visit(self)
        self.grad = 1.0
        for leaf, answer in zip(leaves, answers.get(tuple(v.data for v in leaves), [])):
            leaf.grad += answer
"""

BASES = {
    "CLOSURES": CLOSURES, "LOCAL_GRADS": LOCAL_GRADS, "MINIMAL": MINIMAL, "AFRESH": AFRESH, "HARD_CODED": HARD_CODED,
}  # fmt: skip


@dataclass(frozen=True)
class Wrong:
    """A wrong class, and the finding that is expected: rule, operation, mistake."""

    name: str
    source: str
    finding: tuple[str, str, str]


def _wrong(told: dict[str, Any]) -> Wrong:
    source = BASES[told["base"]]
    for change in told.get("change", []):
        assert change["old"] in source, (told["name"], change["old"])
        source = source.replace(change["old"], change["new"])
    return Wrong(told["name"], source, tuple(told["finding"]))


WRONG = [_wrong(told) for told in tomllib.loads((Path(__file__).parent / "wrong_classes.toml").read_text())["wrong"]]
