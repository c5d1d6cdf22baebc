"""Sparse Jacobians and Hessians against CasADi's virtual machine and JAX's dense ones, and our dense ones.

python -m benchmarks.sparse [TURNS]

Three programs: the residuals of a bundle adjustment (1,800 outputs of 1,750 inputs), a curved valley of 100 unknowns
(Rosenbrock's), and coupled rotors on a 16 by 16 torus. CasADi builds its matrix once, which is not timed, and runs it
on buffers; ours is that of the compiled function, once there is machine code, and takes a list. The eager one runs the
function in each call.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter, sleep
from typing import Any

import numpy as np

import retrograd as rg

from .measure import Contender, interleaved, optional, same, timed

__all__ = ["PROGRAMS", "Program", "casadi_matrix", "jax_matrix", "main"]

Function = Callable[..., Any]

#: Calls a turn. A collection of garbage comes before each, which empties the caches: few calls would show that.
CALLS = 200


@dataclass(frozen=True)
class Program:
    """A function of m (for m.sin) and a list, the same for JAX by hand in vectors; whether its Hessian is wanted."""

    name: str
    function: Function
    in_jax: Function
    at: list[float]
    second: bool


def bundle_adjustment() -> Program:
    """50 cameras of 11 parameters see 200 points 600 times: two residuals each, and one for each weight."""
    cameras, points, seen = 50, 200, 600
    draw = random.Random(1)
    pairs = [(k % cameras, draw.randrange(points)) for k in range(seen)]
    camera = np.array([c for c, _ in pairs])[:, None] * 11 + np.arange(11)
    point = np.array([p for _, p in pairs])[:, None] * 3 + np.arange(3) + 11 * cameras

    def project(m: Any, c: Any, p: Any) -> tuple[Any, Any]:
        x, y, z = (a - b for a, b in zip(p, c[3:6], strict=True))
        angle = m.sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2])
        cos, sin = m.cos(angle), m.sin(angle)
        u, v, w = c[0] / angle, c[1] / angle, c[2] / angle
        along = (u * x + v * y + w * z) * (1.0 - cos)
        a = x * cos + (v * z - w * y) * sin + u * along
        b = y * cos + (w * x - u * z) * sin + v * along
        depth = z * cos + (u * y - v * x) * sin + w * along
        a, b = a / depth, b / depth
        square = a * a + b * b
        scale = c[6] * (1.0 + c[9] * square + c[10] * square * square)
        return c[7] + scale * a, c[8] + scale * b

    def residuals(m: Any, x: Any) -> list[Any]:
        errors = []
        for k, (i, j) in enumerate(pairs):
            weight, first = x[11 * cameras + 3 * points + k], 11 * cameras + 3 * j
            a, b = project(m, [x[11 * i + n] for n in range(11)], [x[first + n] for n in range(3)])
            errors += [weight * (a - 20.0), weight * (b + 10.0)]
        weights = [x[11 * cameras + 3 * points + k] for k in range(seen)]
        return errors + [1.0 - weight * weight for weight in weights]

    def in_jax(np: Any, x: Any) -> Any:
        weights = x[11 * cameras + 3 * points :]
        a, b = project(np, x[camera].T, x[point].T)
        errors = np.stack([weights * (a - 20.0), weights * (b + 10.0)], axis=1)
        return np.concatenate([errors.ravel(), 1.0 - weights * weights])

    at = [draw.gauss(0.0, 0.2) + (-6.0, 500.0)[n == 6] * (n in (5, 6)) for _ in range(cameras) for n in range(11)]
    at += [draw.gauss(0.0, 1.0) for _ in range(3 * points)] + [draw.uniform(0.8, 1.2) for _ in range(seen)]
    return Program("bundle adjustment, Jacobian", residuals, in_jax, at, second=False)


def valley() -> Program:
    """Rosenbrock's function of 100 unknowns: a tridiagonal Hessian."""

    def f(m: Any, x: Any) -> Any:
        return sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x))

    def in_jax(np: Any, x: Any) -> Any:
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    draw = random.Random(2)
    return Program("valley of 100, Hessian", f, in_jax, [draw.uniform(-1.5, 1.5) for _ in range(100)], second=True)


def rotors() -> Program:
    """The energy of 256 rotors on a torus, four of five bonds kept, in a field."""
    side, draw = 16, random.Random(3)
    bonds = [
        (side * i + j, k % side * side + n % side, draw.gauss(0.0, 1.0))
        for i in range(side)
        for j in range(side)
        for k, n in ((i + 1, j), (i, j + 1))
        if draw.random() < 0.8
    ]
    first, second, strength = (np.array(column) for column in zip(*bonds, strict=True))

    def f(m: Any, x: Any) -> Any:
        energy = sum(c * m.cos(x[i] - x[j]) for i, j, c in bonds)
        return energy - sum(0.3 * m.cos(angle) for angle in x)

    def in_jax(np: Any, x: Any) -> Any:
        return np.sum(strength * np.cos(x[first] - x[second])) - 0.3 * np.sum(np.cos(x))

    at = [draw.uniform(-3.0, 3.0) for _ in range(side * side)]
    return Program("rotors of 256, Hessian", f, in_jax, at, second=True)


PROGRAMS = (bundle_adjustment, valley, rotors)


def casadi_matrix(program: Program, casadi: Any) -> tuple[Callable[[], Any], Any]:
    """What runs CasADi's sparse matrix on buffers, and that matrix in SciPy's form, which the runs fill."""
    from scipy import sparse

    x = casadi.SX.sym("x", len(program.at))
    result = program.function(casadi, [x[i] for i in range(len(program.at))])
    matrix = casadi.hessian(result, x)[0] if program.second else casadi.jacobian(casadi.vertcat(*result), x)
    buffer, run = casadi.Function("matrix", [x], [matrix]).buffer()
    pattern = matrix.sparsity()
    at, numbers = np.array(program.at), np.zeros(pattern.nnz())
    buffer.set_arg(0, at.data)
    buffer.set_res(0, numbers.data)
    keep = (at, buffer)  # the buffer holds addresses
    whole = sparse.csc_array((numbers, pattern.row(), pattern.colind()), shape=pattern.shape)
    return lambda: (run(), keep)[0], whole


def jax_matrix(program: Program, jax: Any) -> Callable[[], Any]:
    """JAX's dense matrix, compiled; in double precision where that is switched on."""

    def function(x: Any) -> Any:
        return program.in_jax(jax.numpy, x)

    compiled = jax.jit((jax.hessian if program.second else jax.jacobian)(function))
    at = jax.numpy.array(program.at)
    return lambda: compiled(at).block_until_ready()


def settled(transform: Callable[..., Function], compiled: Any, at: list[float]) -> Function:
    """The sparse derivative of a compiled function, once machine code has taken over."""
    matrix = transform(compiled, sparse=True)
    start = perf_counter()
    for _ in range(260):
        matrix(at)
    derivative = compiled.derivative(((transform.__name__, True), 0), lambda _: matrix)
    while derivative.tier != "llvm" and perf_counter() - start < 20.0:
        sleep(0.01)
        matrix(at)
    for _ in range(100):  # where there is code of two kinds, these decide
        matrix(at)
    return matrix


def measured(program: Program, turns: int) -> dict[str, float]:
    """Microseconds of each contender on one program; all give the same matrix."""

    formula = program.function  # and not the program, whose numbers each call would compare with what they were

    def function(x: Any) -> Any:
        return formula(rg.math, x)

    values = [rg.Value(number) for number in program.at]
    transform = rg.hessian if program.second else rg.jacobian
    eager, dense = transform(function, sparse=True), transform(function)
    ours = settled(transform, rg.compile(function), program.at)
    found = ours(program.at)
    same("our eager matrix", found.toarray().ravel().tolist(), eager(program.at).toarray().ravel().tolist())
    contenders = [Contender("ours", timed(lambda: ours(program.at), CALLS), turns, collector_on=False)]
    contenders.append(Contender("ours, eager", timed(lambda: eager(program.at), 3), turns, collector_on=False))
    contenders.append(Contender("the function", timed(lambda: function(values), 3), turns, collector_on=False))
    if casadi := optional("casadi"):
        run, theirs = casadi_matrix(program, casadi)
        run()
        same("CasADi's entries", found.toarray().ravel().tolist(), theirs.toarray().ravel().tolist())
        contenders.append(Contender("CasADi", timed(run, CALLS), turns, collector_on=False))
    if jax := optional("jax"):
        jax.config.update("jax_enable_x64", True)
        of_jax = jax_matrix(program, jax)
        same("JAX's matrix", found.toarray().ravel().tolist(), np.asarray(of_jax()).ravel().tolist(), 1e-8)
        contenders.append(Contender("JAX, dense", timed(of_jax, 3), turns, collector_on=False))
    contenders.append(Contender("ours, dense", timed(lambda: dense(program.at), 1), 1, collector_on=False))
    return {name: phases["call"] / 1e3 for name, phases in interleaved(contenders).items()}


def main(turns: int) -> None:
    """Print what each contender takes on each program, and ours over it."""
    for make in PROGRAMS:
        program = make()
        figures = measured(program, turns)
        print(program.name)
        for name, microseconds in figures.items():
            print(f"  {name:14} {microseconds:13,.1f} µs   ours / it {figures['ours'] / microseconds:10.3f}")
    print(f"Minimum of {turns} turns, collector off; CasADi and JAX where installed.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
