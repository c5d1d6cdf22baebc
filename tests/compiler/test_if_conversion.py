"""The compiler converts an ``if`` whose test flips, and leaves alone one whose arms do more than compute."""

from __future__ import annotations

import importlib.util
import itertools
import random
import sys
import threading
import types
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.flipping import Function, agrees_with_jax, draw, flips, is_converted
from support.parts import ALL

import retrograd as rg
from retrograd import math as m
from retrograd.compiler.if_conversion import budget
from retrograd.compiler.if_conversion.rewriting.converter import Wanted, converted

pytestmark = pytest.mark.native

Pair = namedtuple("Pair", "low high")  # as users write it


# --- what is converted ------------------------------------------------------------------------------------------


def huber(r: Any, d: float) -> Any:
    """Two returns."""
    a = abs(r)
    if a <= d:
        return 0.5 * r * r
    return d * (a - 0.5 * d)


class Tank:
    """State that a method reads."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.low = -1.0

    def outflow(self, level: Any) -> Any:
        if level > self.limit:
            return self.excess(level) + 0.1
        elif level < self.low:
            rate = 0.0
        else:
            rate = 0.1 * level
            if rate > 0.05:
                rate = 0.05 + 0.5 * (rate - 0.05)
        return rate

    def excess(self, level: Any) -> Any:
        """What an arm calls."""
        over = level - self.limit
        return over * over if over < 1.0 else 2.0 * over - 1.0


def returns(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum(huber(p - x, 0.7) for p, x in zip(ps, xs, strict=True))


def assigns(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        if p > x:
            total += p * x
        elif p > 0.2:
            square = p * p
            total -= square
        else:
            total = 0.5 * total + 1.0
    return total + ps[0]


def chooses(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    return sum((p * x if p < 0 else 0) for p, x in zip(ps, xs, strict=True))


def combines(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total = 0.0
    for p, x in zip(ps, xs, strict=True):
        total += p * (2.0 if 0 < x < 0.5 or x > 2 else m.exp(x) if not p > 1 and x != 0 else 0.5)
    return total


def asks_a_method(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    tank = Tank(0.8)
    return sum(tank.outflow(p) * x for p, x in zip(ps, xs, strict=True))


def swaps(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    total, velocity = 0.0, ps[0]
    for p, x in zip(ps, xs, strict=True):
        low, high = (p, x) if p < x else (x, p)
        velocity = velocity + 0.3 * low
        if velocity > 0.4:
            velocity, total = 0.9 * high, total + velocity * velocity
        total += max(0.0, velocity) * high
    return total


def closes_over(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    scale = 2.0

    def bent(p: Any) -> Any:
        if p < 0:
            return scale * p
        return p * max(q * q for q in xs)

    return sum(map(bent, ps))


def indexes(ps: Sequence[Any], xs: Sequence[float]) -> Any:
    table, ends = {"low": [0.5, 1.5], "high": (3.0, 4.0)}, Pair(0.25, 0.75)
    total = 0.0
    for i, p in enumerate(ps):
        total += p * table["low"][i % 2] if p < xs[i] else p * table["high"][0] + ends.high * sum(table["high"][:1])
    return total


CONVERTED: list[Function] = [
    *(returns, assigns, chooses, combines, asks_a_method, swaps, closes_over, indexes),
    lambda ps, xs: sum(p * (x if x > p else 1.0) for p, x in zip(ps, xs, strict=True)),
]


@pytest.mark.parametrize("options", [{}, {"tier": "vm"}, {"tier": "interpreter"}], ids=str)
@pytest.mark.parametrize("f", CONVERTED, ids=lambda f: f.__name__)
def test_one_program_takes_the_place_of_many(f: Function, options: dict[str, Any]) -> None:
    """Values, gradients and types are those of the function, whichever way it goes."""
    compiled = flips(f, **options)
    if f is not swaps:  # of which a second if flips later
        assert is_converted(compiled), compiled.stats()


def test_machine_code_of_a_converted_function() -> None:
    """LLVM's code decides as the function does."""
    pytest.importorskip("llvmlite", reason='the LLVM tier needs it: pip install "retrograd[llvm]"')
    compiled = flips(assigns, tier="llvm")
    assert [program.tier for program in compiled.stats().programs] == ["llvm"]


def test_derivatives_of_any_order() -> None:
    """Hessian-vector products and second derivatives of what is converted, against the plain function's."""

    def f(xs: Sequence[Any]) -> Any:
        return sum(x**3 if x > 0 else x * x * xs[0] for x in xs)

    compiled = rg.compile(f)
    for seed in range(8):
        xs, v = draw(seed, 6)
        assert np.allclose(rg.grad(compiled)(xs), rg.grad(f)(xs), rtol=1e-12)
        assert np.allclose(rg.hessian(compiled)(xs), rg.hessian(f)(xs), rtol=1e-12)
        assert np.allclose(rg.hvp(compiled, xs, v), rg.hvp(f, xs, v), rtol=1e-12)


def test_jax_agrees_with_a_converted_function() -> None:
    """Value and gradient against JAX, where the function is written with jnp.where."""
    jax = pytest.importorskip("jax", reason="JAX checks the gradients: pip install jax")
    jnp = jax.numpy

    def written(ps: Any, xs: Any) -> Any:
        r = ps - xs
        return jnp.where(jnp.abs(r) <= 0.7, 0.5 * r * r, 0.7 * (jnp.abs(r) - 0.35)).sum()

    compiled = rg.compile(returns)
    agrees_with_jax(compiled, written)
    assert is_converted(compiled)


def test_what_exported_functions_decide(tmp_path: Path) -> None:
    """JAX's function and C's hold on both sides of each test, and program() shows what calls run."""
    compiled = rg.compile(assigns)
    ps, xs = draw(1)
    compiled.to_c(tmp_path / "f.c", ps, xs)
    assert " ? " in (tmp_path / "f.c").read_text()
    flips(assigns)
    for seed in range(6):
        compiled.value_and_grad(*draw(seed))
    assert "where" in compiled.program(after="lift")
    jax = pytest.importorskip("jax", reason="JAX runs what to_jax writes: pip install jax")
    leaves = [rg.Value(p) for p in ps]
    exported = rg.compile(lambda xs: assigns(leaves, xs)).to_jax(xs, parameters=leaves)
    assert exported.guards == ()
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        for seed in range(4):
            ps, xs = draw(seed)
            value, gradient = jax.value_and_grad(exported)(jax.numpy.array(ps), *exported.inputs(xs))
            wanted = rg.value_and_grad(assigns)(ps, xs)
            assert float(value) == pytest.approx(wanted[0], rel=1e-12)
            assert np.asarray(gradient).tolist() == pytest.approx(wanted[1], rel=1e-12, abs=1e-12)


def test_an_arm_that_is_not_taken_may_overflow() -> None:
    """It computes with another number then, or the function itself answers, in which it never runs."""

    def softplus(z: Any) -> Any:
        return m.log1p(m.exp(z)) if z < 30 else z

    f: Function = lambda ps, xs: sum(softplus(p * x) for p, x in zip(ps, xs, strict=True))  # noqa: E731
    compiled = rg.compile(f)
    for seed, scale in itertools.product(range(8), (1.0, 40.0)):
        ps, xs = draw(seed)
        compiled.value_and_grad([scale * p for p in ps], xs)
    large = [1000.0, *ps[1:]], [1.0, *xs[1:]]
    (value, gradients), wanted = compiled.value_and_grad(*large), rg.value_and_grad(f)(*large)
    assert value == pytest.approx(wanted[0], rel=1e-12)
    assert gradients == pytest.approx(wanted[1], rel=1e-12)


def test_arms_that_multiply_are_none() -> None:
    """A function that calls itself in both arms would be traced exponentially often."""

    def walk(p: Any, xs: Sequence[float], depth: int) -> Any:
        if depth == 0:
            return p
        if p > xs[depth]:
            return walk(0.9 * p - 0.1, xs, depth - 1) + 0.1
        return walk(1.1 * p + 0.1, xs, depth - 1) * 0.9

    def f(ps: Sequence[Any], xs: Sequence[float]) -> Any:
        return walk(ps[0], [*xs, *xs, *xs], 30) + sum(huber(p, 0.5) for p in ps)

    compiled = flips(f)
    assert max(program.nodes for program in compiled.stats().programs) < 3_000


def test_long_functions_are_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is recorded is held against what the function records anyway."""
    monkeypatch.setattr(budget, "_FREE", budget._MOST)
    compiled = rg.compile(assigns)
    for seed in range(4):
        compiled.value_and_grad(*draw(seed, 4_000))
    for seed in range(6):
        ps, xs = draw(seed, 6_000)
        found, wanted = compiled.value_and_grad(ps, xs), rg.value_and_grad(assigns)(ps, xs)
        assert found[1] == pytest.approx(wanted[1], rel=1e-9, abs=1e-12)
    assert len(compiled.stats().programs) == 2
    assert compiled.stats().eager == 0


def test_a_kink_at_the_end_of_a_domain() -> None:
    """No gradient comes from an arm that is not taken, not even an infinite one."""
    f: Function = lambda ps, xs: sum((m.sqrt(p) if p > x else p * x) for p, x in zip(ps, xs, strict=True))  # noqa: E731
    compiled = rg.compile(f, tier="vm")
    for seed in range(12):
        ps, xs = draw(seed)
        ps = [0.0 if p < 0.3 else p for p in ps]
        assert compiled.value_and_grad(ps, xs)[1] == pytest.approx(rg.value_and_grad(f)(ps, xs)[1], rel=1e-12)


# --- the source, and the code that takes its place ------------------------------------------------------------------


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Callable[[str], types.ModuleType]]:
    """Imports text as a module."""
    made: list[str] = []

    def make(text: str) -> types.ModuleType:
        path = tmp_path / f"written_{len(made)}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        made.append(path.stem)
        sys.modules[path.stem] = found
        spec.loader.exec_module(found)
        return found

    yield make
    for name in made:
        del sys.modules[name]


WRITTEN = "def f(ps, xs):\n    return sum(p * x if p > x else p for p, x in zip(ps, xs))\n"


def test_source_that_has_changed_is_not_taken(module: Callable[[str], types.ModuleType]) -> None:
    """A file may have been edited since it was imported."""
    written = module(WRITTEN)
    path = Path(written.__file__ or "")
    path.write_text(WRITTEN.replace("p * x", "p * 7"))
    flips(written.f)
    assert converted(written.f.__code__, Wanted(frozenset({2}))) is None


def test_code_without_source_runs_as_it_is() -> None:
    """As in a shell that keeps no lines."""
    names: dict[str, Any] = {}
    exec(compile(WRITTEN, "<nowhere>", "exec"), names)
    flips(names["f"])


def test_functions_keep_their_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other code takes its place for as long as a trace runs, also one that fails; another thread is not disturbed."""
    codes = {f: f.__code__ for f in (huber, returns, Tank.outflow)}
    flips(returns)
    flips(asks_a_method)
    stop, wrong = threading.Event(), []

    def calls() -> None:
        while not stop.is_set():
            if huber(0.5, 1.0) != 0.125 or huber(3.0, 1.0) != 2.5:
                wrong.append(1)

    thread = threading.Thread(target=calls)
    thread.start()
    try:
        for _ in range(5):
            flips(returns, calls=6)
    finally:
        stop.set()
        thread.join()
    assert not wrong
    assert {f: f.__code__ for f in codes} == codes


def test_converted_code_outside_of_a_trial() -> None:
    """Another thread may trace a function, or call it, while it has converted code: that does what it always does."""
    own = huber.__code__
    made = converted(own, Wanted(frozenset(range(own.co_firstlineno, own.co_firstlineno + 6))))
    assert made is not None
    try:
        huber.__code__ = made  # type: ignore[attr-defined]  # a function
        compiled = rg.compile(lambda x: huber(x, 1.0) * 2.0)
        found = [compiled.value_and_grad(x) for x in (0.5, 3.0, -0.5)]
        programs = compiled.stats().programs
    finally:
        huber.__code__ = own  # type: ignore[attr-defined]
    assert found == [rg.value_and_grad(lambda x: huber(x, 1.0) * 2.0)(x) for x in (0.5, 3.0, -0.5)]
    assert [program.guards for program in programs] == [1, 1]


class Program:
    """Writes a random function of two lists, with ``if`` of all kinds."""

    def __init__(self, seed: int) -> None:
        self.draw, self.made = random.Random(seed), 0

    def number(self, names: Sequence[str], depth: int = 0) -> str:
        kind = self.draw.random()
        if depth > 2 or kind < 0.3:
            return self.draw.choice([*names, *names, f"{self.draw.uniform(-2, 2):.2f}", "1", "xs[1]"])
        one, other = (self.number(names, depth + 1) for _ in range(2))
        if kind < 0.65:
            return f"({one} {self.draw.choice('+-*')} {other})"
        if kind < 0.8:
            return self.draw.choice([f"m.tanh({one})", f"max({one}, {other})", f"abs({one})", f"m.sin({one})"])
        return f"({one} if {self.test(names)} else {other})"

    def test(self, names: Sequence[str], depth: int = 0) -> str:
        kind = self.draw.random()
        if depth < 2 and kind < 0.3:
            joined = self.draw.choice(["and", "or"])
            return f"({self.test(names, depth + 1)} {joined} {self.test(names, depth + 1)})"
        if kind < 0.4:
            return f"not {self.test(names, 2)}"
        if kind < 0.5:
            return f"-0.5 < {self.draw.choice(names)} <= 0.8"
        return f"{self.draw.choice(names)} {self.draw.choice(['<', '<=', '>', '>='])} {self.number(names, 2)}"

    def block(self, names: list[str], indent: str, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.draw.randint(1, 3)):
            kind = self.draw.random()
            if kind < 0.3:
                name = self.draw.choice([*names[2:], f"t{self.made}"])
                self.made += 1
                lines.append(f"{indent}{name} = {self.number(names)}")
                names = [*names, name]
            elif kind < 0.5 or depth > 2:
                lines.append(f"{indent}{self.draw.choice(names[2:4])} {self.draw.choice('+-*')}= {self.number(names)}")
            else:
                lines += [f"{indent}if {self.test(names)}:", *self.block(names, f"{indent}    ", depth + 1)]
                if kind < 0.8:
                    lines += [f"{indent}elif {self.test(names)}:", *self.block(names, f"{indent}    ", depth + 1)]
                if kind < 0.9:
                    lines += [f"{indent}else:", *self.block(names, f"{indent}    ", depth + 1)]
        return lines

    def text(self) -> str:
        return "\n".join(
            [
                *(
                    "from retrograd import math as m",
                    "def f(ps, xs):",
                    "    s, z = 0.0, 0.5",
                    "    for p, x in zip(ps, xs):",
                ),
                *self.block(["p", "x", "s", "z"], "        ", 0),
                *("        s, z = m.tanh(s) + p * z, m.tanh(z)", "    return s + z * ps[0]", ""),
            ]
        )


@pytest.mark.parametrize("seed", range(60 if ALL else 36))
def test_random_functions(seed: int, module: Callable[[str], types.ModuleType]) -> None:
    """Randomly written functions have the values and gradients of the engine, compiled or not."""
    flips(module(Program(seed).text()).f, calls=10, bound=1e-9, **({"tier": "vm"} if seed % 2 else {}))


def test_exact_mode_keeps_the_bits_where_tests_flip() -> None:
    def f(p: list[Any], x: list[float]) -> Any:
        total = p[0] * 0.3
        for k, v in enumerate(x):
            total = total * p[1] + m.sin(v) * p[k % 3] if v > 0.1 else total - p[2] * v * total
        return total * p[0]

    rng = random.Random(5)
    compiled, eager = rg.compile(f, exact=True), rg.value_and_grad(f)
    for _ in range(40):
        p, x = [rng.uniform(-1, 1) for _ in range(3)], [rng.choice([-0.7, 0.4]) for _ in range(3)]
        assert compiled.value_and_grad(p, x) == eager(p, x)
    with pytest.raises(ValueError, match="exact=True keeps the engine's bits"):
        rg.compile(f, exact=True, tier="llvm")
