"""``Compiled.to_c`` of several results, Jacobians and Hessians, dense and sparse."""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
import retrograd.math as rm
from retrograd.errors import NotTraceableError

pytestmark = pytest.mark.native

GCC = shutil.which("gcc") or shutil.which("cc")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1")


class Built:
    """The functions with several results of a file, built as a shared library."""

    def __init__(self, written: Any) -> None:
        if GCC is None:
            pytest.skip("a C compiler: gcc or cc")
        library = written.path.with_suffix(".so")
        command = [GCC, *STRICT, "-shared", "-fPIC", str(written.path), "-o", str(library), "-lm"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr[:3000]
        self.library, self._written = ctypes.CDLL(str(library)), written

    def numbers(self, what: str, *arguments: Any) -> list[float] | None:
        """What a function gives; None if it returns 1."""
        written = self._written
        name = f"{written.name}_{what}"
        x, p = doubles(written.inputs(*arguments)), doubles(written.parameters)
        indices = written.indices(*arguments)
        more = [(ctypes.c_int * len(indices))(*indices)] if indices else []
        y, work = doubles([math.nan] * written.results[name]), doubles([math.nan] * written.work)
        return None if getattr(self.library, name)(x, p, *more, y, work) else list(y)

    def matrix(self, what: str, width: int, *arguments: Any) -> Any:
        """A sparse matrix, with its places as the file has them."""
        numbers, name = self.numbers(what, *arguments), f"{self._written.name}_{what}"
        starts, columns = self._written.matrices[name]
        for given, where in ((starts, "starts"), (columns, "columns")):
            assert list((ctypes.c_int * len(given)).in_dll(self.library, f"{name}_{where}")) == given.tolist()
        dense = np.zeros((len(starts) - 1, width))
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        dense[rows, columns] = numbers
        return dense


def doubles(numbers: list[float]) -> Any:
    return (ctypes.c_double * max(len(numbers), 1))(*numbers) if numbers else (ctypes.c_double * 1)()


def flat(tree: Any) -> list[float]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if dataclasses.is_dataclass(tree):
        tree = [getattr(tree, field.name) for field in dataclasses.fields(tree)]
    if isinstance(tree, list | tuple | np.ndarray):
        return [x for each in tree for x in flat(each)]
    return [float(tree.data if isinstance(tree, rg.Value) else tree)]


def close(found: Any, wanted: Any) -> None:
    assert np.asarray(found) == pytest.approx(np.asarray(wanted), rel=1e-12, abs=1e-12 * np.abs(wanted).max())


def orbit(p: list[float], start: list[float]) -> Any:
    x, v = start
    for _ in range(60):
        a = -p[0] * x - p[1] * v * rm.exp(-x * x)
        x, v = x + 0.05 * v, v + 0.05 * a
    return x * x + p[2] * v * v


def valley(p: list[float]) -> Any:
    return rg.sum([100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in itertools.pairwise(p)])


def rotors(p: list[float]) -> Any:
    return rg.sum([rm.cos(a - b) for a, b in zip(p, [*p[1:], p[0]], strict=True)]) + rm.log(1.0 + p[0] ** 2)


def gammas(p: list[float]) -> Any:
    return rm.lgamma(p[0] + 2.5) * p[1] - rm.log(rm.gamma(abs(p[1]) + 0.5)) + rm.digamma(p[0] * p[1] - 0.25) * p[2]


HESSIANS = [
    (gammas, ([1.5, 2.0, 0.3],), ([-2.7, 1.2, -40.0],)),
    (orbit, ([1.0, 0.3, 0.7], [1.0, 0.2]), ([0.8, 0.2, 0.9], [0.5, -0.2])),
    (valley, ([0.1 * k - 0.7 for k in range(20)],), ([0.03 * k * k - 0.7 for k in range(20)],)),
    (rotors, ([0.3 * k for k in range(12)],), ([0.1 * k * k for k in range(12)],)),
]


@pytest.mark.parametrize(("f", "first", "second"), HESSIANS, ids=lambda x: getattr(x, "__name__", ""))
def test_dense_hessians(f: Callable[..., Any], first: Any, second: Any, tmp_path: Path) -> None:
    written = rg.compile(f).to_c(tmp_path / "f.c", *first, name="f", derivatives=["hessian"])
    built = Built(written)
    for arguments in (first, second):
        close(built.numbers("hessian", *arguments), flat(rg.hessian(f)(*arguments)))
    text = written.path.read_text(encoding="utf-8")
    assert "double f_gradient(" in text
    assert "test_c_results.py:" in text


@pytest.mark.parametrize(("f", "first", "second"), HESSIANS, ids=lambda x: getattr(x, "__name__", ""))
def test_sparse_hessians(f: Callable[..., Any], first: Any, second: Any, tmp_path: Path) -> None:
    require("scipy")
    written = rg.compile(f).to_c(tmp_path / "f.c", *first, name="f", derivatives=["sparse hessian"])
    built = Built(written)
    for arguments in (first, second):
        wanted = rg.hessian(f, sparse=True)(*arguments)
        close(built.matrix("hessian", len(arguments[0]), *arguments), wanted.toarray())
    if f is not orbit:
        assert len(written.matrices["f_hessian"].columns) < 4 * len(first[0])


def test_the_hessian_of_a_long_loop_stays_a_loop(tmp_path: Path) -> None:
    sizes = []
    for steps in (40, 400):

        def f(p: list[float], steps: int = steps) -> Any:
            x = p[0]
            for _ in range(steps):
                x = x + 0.01 * rm.sin(x * p[1])
            return x

        written = rg.compile(f).to_c(tmp_path / f"f{steps}.c", [0.5, 1.2], name="f", derivatives=["hessian"])
        close(Built(written).numbers("hessian", [0.7, 0.9]), flat(rg.hessian(f)([0.7, 0.9])))
        sizes.append(len(written.path.read_text(encoding="utf-8").splitlines()))
    assert sizes[1] < 1.3 * sizes[0]


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


def test_any_tree_of_results_and_its_jacobians(tmp_path: Path) -> None:
    require("scipy")
    w = rg.Value(0.7, label="w")

    def residuals(p: list[float], at: list[float]) -> Any:
        return [w * rm.exp(-p[0] * t) - p[1 + k % 3] for k, t in enumerate(at)]

    def tree(p: list[float], at: list[float]) -> Any:
        r = residuals(p, at)
        return {"all": r, "pair": Pair(r[0] * r[1], 2.5), "sum": (rg.sum(r), r[0])}

    first, second = ([0.3, 0.5, 0.1, 0.2], [0.1 * k for k in range(9)]), ([0.4, 0.2, 0.7, 0.3], [0.2] * 9)
    written = rg.compile(tree).to_c(tmp_path / "tree.c", *first, name="tree")
    built = Built(written)
    for arguments in (first, second):
        close(built.numbers("values", *arguments), flat(tree(*arguments)))

    kinds = ["jacobian"], ["sparse jacobian"]
    for number, kind in enumerate(kinds):
        written = rg.compile(residuals).to_c(tmp_path / f"r{number}.c", *first, name=f"r{number}", derivatives=kind)
        built = Built(written)
        for arguments in (first, second):
            wanted = np.array(flat(rg.jacobian(residuals)(*arguments)))
            close(built.numbers("values", *arguments), flat(residuals(*arguments)))
            found = built.numbers("jacobian", *arguments) if not number else built.matrix("jacobian", 4, *arguments)
            close(np.ravel(found), wanted)
        w.data = 0.9  # p is read when it is called
        close(built.numbers("values", *first), flat(residuals(*first)))
        w.data = 0.7


def test_another_branch_and_a_domain_error_leave_y_as_it_was(tmp_path: Path) -> None:
    def f(p: list[Any]) -> Any:
        root = -p[0]
        if bool(p[0] > p[1]):  # which stays a comparison
            root = rm.sqrt(p[0])
        return [root, p[1] * p[1]]

    built = Built(rg.compile(f).to_c(tmp_path / "f.c", [2.0, 1.0], name="f"))
    assert built.numbers("values", [4.0, 1.0]) == [2.0, 1.0]
    assert built.numbers("values", [1.0, 2.0]) is None
    assert built.numbers("values", [-1.0, -2.0]) is None


def test_what_is_refused(tmp_path: Path) -> None:
    f = rg.compile(lambda p: p[0] * p[1])
    with pytest.raises(ValueError, match="hessian"):
        f.to_c(tmp_path / "f.c", [1.0, 2.0], name="f", derivatives=["laplacian"])
    with pytest.raises(ValueError, match="f_jacobian: write them to two files"):
        rg.compile(lambda p: p[0] * p[1]).to_c(
            tmp_path / "f.c", [1.0, 2.0], name="f", derivatives=["jacobian", "sparse jacobian"]
        )
    with pytest.raises(NotTraceableError):
        rg.compile(lambda p: [p[0], "text"]).to_c(tmp_path / "f.c", [1.0, 2.0], name="f")
    assert not (tmp_path / "f.c").exists()


def test_several_results_by_an_index(tmp_path: Path) -> None:
    table = [[rg.Value(math.cos(3 * i + j)) for j in range(3)] for i in range(4)]

    def f(x: list[float], i: Any) -> Any:
        row = rg.take(table, i)
        return [a * b for a, b in zip(row, x, strict=True)], rg.take([x[0], x[1] * x[1]], i)

    x = [0.5, -1.5, 2.0]
    built = Built(rg.compile(f).to_c(tmp_path / "f.c", x, rg.Index(1), name="f", derivatives=["jacobian"]))
    for i in range(2):
        rows, last = f(x, rg.Index(i))
        assert built.numbers("values", x, rg.Index(i)) == pytest.approx([*(v.data for v in rows), last])
    assert built.numbers("values", x, rg.Index(2)) is None
    wanted = rg.jacobian(lambda x: [*f(x, rg.Index(1))[0], f(x, rg.Index(1))[1]])(x)
    assert built.numbers("jacobian", x, rg.Index(1)) == pytest.approx([v for row in wanted for v in row])
    assert built.numbers("jacobian", x, rg.Index(0)) is None  # the derivative of what was selected in the trace
