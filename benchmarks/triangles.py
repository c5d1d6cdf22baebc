"""Loops in loops whose inner one changes its length: tables, trees, solves and pairs, against CasADi and C by hand.

python -m benchmarks.triangles [TURNS]

Each program is a function of a module of functions (``m.exp``, …) and a list of parameters. Each contender gives the
value and the gradient. Ours is ``rg.compile(f).value_and_grad`` with a NumPy array, in machine code; CasADi's virtual
machine and its C by gcc run on buffers; so does C by hand where a program has it. Making the code is not timed, and is
printed.
"""

from __future__ import annotations

import ctypes
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .measure import Contender, interleaved, optional, print_over_c, same, timed
from .recurrences import casadi_calls, ours

__all__ = ["PROGRAMS", "main"]

Function = Callable[[Any, Any], Any]

_SERIES = [math.sin(0.7 * k) + 0.3 * math.cos(2.1 * k) for k in range(100)]


def time_warping(m: Any, p: Any) -> Any:
    """Soft dynamic time warping of 30 parameters to 30 points."""
    row = [0.0] + [50.0] * 30
    for i in range(30):
        following = [50.0]
        for j in range(30):
            cost = (p[i] - _SERIES[j]) ** 2
            soft = m.log(m.exp(-row[j]) + m.exp(-row[j + 1]) + m.exp(-following[j]))
            following.append(cost - soft)
        row = following
    return row[30]


def edit_distance(m: Any, p: Any) -> Any:
    """The edit distance of two words of 32 letters with smooth minima and costs of two kinds of letters."""
    row = [j * p[0] for j in range(33)]
    for i in range(1, 33):
        following = [i * p[1]]
        for j in range(1, 33):
            other = 1.0 if (i * i) % 7 != (3 * j) % 7 else 0.0
            change = row[j - 1] + other * p[2]
            soft = m.log(m.exp(-row[j] - p[1]) + m.exp(-following[j - 1] - p[0]) + m.exp(-change))
            following.append(-soft)
        row = following
    return row[32]


def cholesky(m: Any, p: Any) -> Any:
    """A Gaussian's log-likelihood: a covariance of 20 points, its factor, and a triangular solve."""
    n = 20
    lower: list[list[Any]] = [[0.0] * n for _ in range(n)]
    total: Any = 0.0
    z: list[Any] = []
    for i in range(n):
        for j in range(i + 1):
            s = p[0] * m.exp(-p[1] * (i - j) * (i - j)) + (p[2] if i == j else 0.0)
            for k in range(j):
                s = s - lower[i][k] * lower[j][k]
            lower[i][j] = m.sqrt(s) if i == j else s / lower[j][j]
        r = _SERIES[i] - p[3]
        for k in range(i):
            r = r - lower[i][k] * z[k]
        z.append(r / lower[i][i])
        total = total + 0.5 * z[i] * z[i] + m.log(lower[i][i])
    return total


def barrier_bond(m: Any, p: Any) -> Any:
    """A callable bond on a tree of short rates: 30 steps, and what is above a barrier is smoothly called."""
    n = 30
    up, values = m.exp(p[1]), [p[2] + 0.0 * p[0] for _ in range(n + 1)]
    for step in reversed(range(n)):
        for i in range(step + 1):
            rate = p[0] * m.exp(0.02 * (2 * i - step)) + 0.001 * up
            value = (0.5 * values[i] + 0.5 * values[i + 1]) / (1.0 + rate) + 0.01
            values[i] = p[3] - 0.05 * m.log(1.0 + m.exp((p[3] - value) * 20.0))
    return values[0]


def triangular_solve(m: Any, p: Any) -> Any:
    """Forward and backward substitution, 40 x 40, with a matrix of parameters."""
    n = 40
    x: list[Any] = []
    at = 0
    for i in range(n):
        s = _SERIES[i]
        for k in range(i):
            s = s - p[at + k] * x[k]
        x.append(s / p[at + i])
        at += i + 1
    y: list[Any] = [0.0] * n
    for i in reversed(range(n)):
        s = x[i]
        for k in range(i + 1, n):
            s = s - p[k * (k + 1) // 2 + i] * y[k]
        y[i] = s / p[i * (i + 1) // 2 + i]
    return sum(v * v for v in y)


def particles(m: Any, p: Any) -> Any:
    """The Lennard-Jones energy of 30 particles: all pairs of them."""
    energy: Any = 0.0
    for i in range(30):
        for j in range(i):
            dx, dy, dz = p[3 * i] - p[3 * j], p[3 * i + 1] - p[3 * j + 1], p[3 * i + 2] - p[3 * j + 2]
            s = 1.0 / (dx * dx + dy * dy + dz * dz)
            cube = s * s * s
            energy = energy + 4.0 * (cube * cube - cube)
    return energy


_DECLARED = "#include <math.h>\n#include <string.h>\ndouble run(const double *p, double *g) {\n"

_TRIANGULAR_SOLVE = """
  enum { N = 40 };
  double x[N], y[N], xb[N], yb[N], value = 0.0;
  for (int i = 0; i < N; ++i) {
    const double *a = p + i * (i + 1) / 2;
    double s = sin(0.7 * i) + 0.3 * cos(2.1 * i);
    for (int k = 0; k < i; ++k) s -= a[k] * x[k];
    x[i] = s / a[i];
  }
  for (int i = N - 1; i >= 0; --i) {
    double s = x[i];
    for (int k = i + 1; k < N; ++k) s -= p[k * (k + 1) / 2 + i] * y[k];
    y[i] = s / p[i * (i + 1) / 2 + i];
    value += y[i] * y[i];
  }
  memset(g, 0, N * (N + 1) / 2 * sizeof(double));
  for (int i = 0; i < N; ++i) yb[i] = 2.0 * y[i];
  for (int i = 0; i < N; ++i) {
    const int d = i * (i + 1) / 2 + i;
    const double s = yb[i] / p[d];
    g[d] -= s * y[i];
    xb[i] = s;
    for (int k = i + 1; k < N; ++k) {
      g[k * (k + 1) / 2 + i] -= s * y[k];
      yb[k] -= s * p[k * (k + 1) / 2 + i];
    }
  }
  for (int i = N - 1; i >= 0; --i) {
    const int a = i * (i + 1) / 2;
    const double s = xb[i] / p[a + i];
    g[a + i] -= s * x[i];
    for (int k = 0; k < i; ++k) {
      g[a + k] -= s * x[k];
      xb[k] -= s * p[a + k];
    }
  }
  return value;
}
"""

_TIME_WARPING = """
  enum { N = 30 };
  static double R[N + 1][N + 1], A[N + 1][N + 1];
  double S[N];
  for (int j = 0; j < N; ++j) S[j] = sin(0.7 * j) + 0.3 * cos(2.1 * j);
  for (int j = 1; j <= N; ++j) R[0][j] = R[j][0] = 50.0;
  R[0][0] = 0.0;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      R[i + 1][j + 1] = (p[i] - S[j]) * (p[i] - S[j]) - log(exp(-R[i][j]) + exp(-R[i][j + 1]) + exp(-R[i + 1][j]));
  memset(A, 0, sizeof A);
  memset(g, 0, N * sizeof(double));
  A[N][N] = 1.0;
  for (int i = N - 1; i >= 0; --i)
    for (int j = N - 1; j >= 0; --j) {
      const double a = A[i + 1][j + 1], c = p[i] - S[j], e = a * exp(R[i + 1][j + 1] - c * c);
      g[i] += 2.0 * a * c;
      A[i][j] += e * exp(-R[i][j]);
      A[i][j + 1] += e * exp(-R[i][j + 1]);
      A[i + 1][j] += e * exp(-R[i + 1][j]);
    }
  return R[N][N];
}
"""

_PARTICLES = """
  enum { N = 30 };
  double value = 0.0;
  memset(g, 0, 3 * N * sizeof(double));
  for (int i = 0; i < N; ++i) {
    double gx = 0.0, gy = 0.0, gz = 0.0;
    for (int j = 0; j < i; ++j) {
      const double dx = p[3 * i] - p[3 * j], dy = p[3 * i + 1] - p[3 * j + 1], dz = p[3 * i + 2] - p[3 * j + 2];
      const double s = 1.0 / (dx * dx + dy * dy + dz * dz), cube = s * s * s;
      value += 4.0 * (cube * cube - cube);
      const double d = -24.0 * (2.0 * cube - 1.0) * cube * s;
      gx += d * dx;
      gy += d * dy;
      gz += d * dz;
      g[3 * j] -= d * dx;
      g[3 * j + 1] -= d * dy;
      g[3 * j + 2] -= d * dz;
    }
    g[3 * i] += gx;
    g[3 * i + 1] += gy;
    g[3 * i + 2] += gz;
  }
  return value;
}
"""


def _matrix(n: int) -> list[float]:
    return [2.0 + 0.1 * i if i == j else 0.3 * math.sin(i + 2.0 * j) for i in range(n) for j in range(i + 1)]


PROGRAMS: list[tuple[Function, list[float], str]] = [
    (time_warping, [math.sin(0.6 * k) for k in range(30)], _TIME_WARPING),
    (edit_distance, [0.8, 0.9, 1.1], ""),
    (cholesky, [1.2, 0.05, 0.4, 0.1], ""),
    (barrier_bond, [0.03, 0.1, 1.0, 1.1], ""),
    (triangular_solve, _matrix(40), _TRIANGULAR_SOLVE),
    (particles, [2.0 * math.sin(1.7 * k) + 1.5 * math.cos(0.9 * k * k) for k in range(90)], _PARTICLES),
]


def by_hand(source: str, at: list[float]) -> tuple[Callable[[], Any], Any]:
    """C that was written by hand, and the array of its gradient."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hand.c"
        path.write_text(_DECLARED + source)
        flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
        subprocess.run(["gcc", *flags, str(path), "-o", str(path.with_suffix(".so")), "-lm"], check=True)
        run = ctypes.CDLL(str(path.with_suffix(".so"))).run
    run.restype = ctypes.c_double
    numbers, gradient = np.array(at), np.zeros(len(at))
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (numbers, gradient)]
    return lambda keep=numbers: run(*addresses), gradient


def measured(function: Function, at: list[float], source: str, turns: int) -> tuple[dict[str, float], float]:
    """Microseconds of each contender, which give the same numbers, and what making our code took."""
    call, milliseconds = ours(function, at)
    value, gradient = call()
    contenders = [Contender("ours", timed(call, 50), turns, collector_on=False)]
    if source:
        hand, theirs = by_hand(source, at)
        same("C by hand", [value, *gradient], [hand(), *theirs.tolist()], 1e-8)
        contenders.append(Contender("C by hand", timed(hand, 50), turns, collector_on=False))
    if casadi := optional("casadi"):
        machine, code, answer = casadi_calls(function, at, casadi)
        for name, run in (("CasADi's C", code), ("CasADi's VM", machine)):
            run()
            same(name, [value, *gradient], answer.tolist(), 1e-8)
            contenders.append(Contender(name, timed(run, 50), turns, collector_on=False))
    return {name: phases["call"] / 1e3 for name, phases in interleaved(contenders).items()}, milliseconds


def main(turns: int) -> None:
    """Print what each contender takes on each program, ours over the better C, and the geometric mean."""
    found = ((function.__name__, *measured(function, at, source, turns)) for function, at, source in PROGRAMS)
    print_over_c(((name, figures, f"code in {ms:6.0f} ms") for name, figures, ms in found), "ours", turns)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
