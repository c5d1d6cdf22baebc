"""Expressions, with values of their inputs, that the tests of traces and of the page share."""

from __future__ import annotations

EXAMPLES = [
    ("a*b + c", {"a": 2.0, "b": -3.0, "c": 10.0}),
    ("(a*b + c) * (a + b)", {"a": 2.0, "b": -3.0, "c": 10.0}),
    ("a*a", {"a": 3.0}),
    ("(a + 1) * (a * 3)", {"a": 2.0}),
    ("tanh(x1*w1 + x2*w2 + b)", {"x1": 2.0, "x2": 0.0, "w1": -3.0, "w2": 1.0, "b": 6.8813735870195432}),
    ("relu(a*b + d)", {"a": 2.0, "b": -3.0, "d": 10.0}),
    ("relu(a) * exp(b)", {"a": -1.0, "b": 0.5}),
    ("where(a > b, a**2, 2**b) - 3 * softmax(a, b, 1)[1]", {"a": 0.5, "b": 0.25}),
    ("max(a, b, 3) + min([a, b]) + prod(a, b, a) + mean(a, b, 4)", {"a": 3.0, "b": 0.5}),
    ("logsumexp(a, b) + dot([a, b], [b, 2])", {"a": 3.0, "b": 0.5}),
    ("prod(a, a, b, b, a, b, a)", {"a": 1.1, "b": 0.7}),
    ("a**b + atan2(a, b) + hypot(a, b) + a % b + a // b + minimum(a, b) + maximum(a, a)", {"a": 2.5, "b": 1.5}),
    ("1 / a - gelu(a) * silu(a) / sigmoid(a)", {"a": 0.3}),
]
