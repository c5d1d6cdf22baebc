"""Bridges to SciPy, PyTorch, SymPy, Graphviz, Mermaid and IPython: what goes over arrives as it was."""

from __future__ import annotations

import math
import random
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
from retrograd.errors import HigherOrderError
from retrograd.scipy import objective, vector_function
from retrograd.sympy import to_sympy
from retrograd.torch import to_torch

START = [-1.2, 1.0, 0.7]


def rosenbrock(x: Any) -> Any:
    return sum((1 - a) ** 2 + 100 * (b - a * a) ** 2 for a, b in pairwise(x))


# --- SciPy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["BFGS", "Newton-CG", "trust-exact", "trust-krylov"])
def test_scipy_minimizes(method: str) -> None:
    optimize = require("scipy.optimize")
    f = objective(rosenbrock)
    second = {} if method == "BFGS" else {"hessp": f.hessp} if method == "trust-krylov" else {"hess": f.hess}
    found = optimize.minimize(f, START, jac=f.jac, method=method, options={"gtol": 1e-9, "maxiter": 500}, **second)
    assert found.x == pytest.approx([1.0] * 3, abs=2e-4)


def test_the_objective_is_scipys_own_rosenbrock() -> None:
    optimize = require("scipy.optimize")
    f = objective(rosenbrock)
    assert f(START) == pytest.approx(optimize.rosen(START), rel=1e-14)
    assert f.jac(START) == pytest.approx(optimize.rosen_der(START), rel=1e-13)
    assert f.hess(START) == pytest.approx(optimize.rosen_hess(np.array(START)), rel=1e-13)
    assert f.hessp(START, [1.0, 2.0, -1.0]) == pytest.approx(
        optimize.rosen_hess_prod(START, [1.0, 2.0, -1.0]), rel=1e-13
    )
    value, slopes = f.value_and_grad(START)
    assert (value, slopes.tolist()) == (f(START), f.jac(START).tolist())


def test_further_arguments_and_what_changes_are_seen() -> None:
    scale = [2.0]
    f = objective(lambda x, k: scale[0] * x[0] ** 2 * k)
    assert (f([3.0], 5.0), f.jac([3.0], 5.0).tolist(), f.hess([3.0], 5.0).tolist()) == (90.0, [60.0], [[20.0]])
    assert f.hessp([3.0], [2.0], 5.0).tolist() == [40.0]
    scale[0] = 1.0
    assert (f([3.0], 5.0), f.jac([3.0], 5.0).tolist()) == (45.0, [30.0])


@pytest.mark.native
def test_a_compiled_objective() -> None:
    f = objective(rg.compile(rosenbrock))
    plain = objective(rosenbrock)
    assert f(START) == pytest.approx(plain(START), rel=1e-14)
    assert f.jac(START) == pytest.approx(plain.jac(START), rel=1e-13)
    assert f.hess(START).tolist() == plain.hess(START).tolist()


def residuals(x: Any) -> Any:
    """A banded system: each output depends on two neighbours."""
    return [10 * (b - a * a) for a, b in pairwise(x)] + [1 - a for a in x[:-1]] + [0.0]


def circles(x: Any) -> Any:
    return [a * a + rg.math.exp(b) for a, b in pairwise(x)]


def test_vector_functions_are_their_dense_selves() -> None:
    sparse = require("scipy.sparse")
    x, weights = [0.5, -0.3, 0.8, 1.1], [1.0, -2.0, 0.5]
    for function in (residuals, circles):
        dense, thin = vector_function(function), vector_function(sparse=True)(function)
        assert dense(x).tolist() == thin(x).tolist() == [getattr(y, "data", y) for y in function(x)]
        assert sparse.issparse(thin.jac(x))
        assert thin.jac(x).toarray().tolist() == dense.jac(x).tolist() == rg.jacobian(function)(x)
    dense, thin = vector_function(circles), vector_function(circles, sparse=True)
    weighted = rg.hessian(lambda x: rg.dot(weights, circles(x)))(x)
    assert thin.hess(x, weights).toarray().tolist() == dense.hess(x, weights).tolist() == weighted
    assert thin.hess(x, weights).nnz == 4
    f = objective(rosenbrock, sparse=True)
    assert f.hess(x).toarray().tolist() == rg.hessian(rosenbrock)(x)
    assert f.hess(x).nnz == 10  # tridiagonal


def test_sparse_least_squares() -> None:
    optimize = require("scipy.optimize")
    f = vector_function(residuals, sparse=True)
    found = optimize.least_squares(f, [0.3] * 12, jac=f.jac, tr_solver="lsmr", xtol=1e-12, ftol=1e-12, gtol=1e-12)
    assert found.x == pytest.approx([1.0] * 12, abs=1e-5)


def test_trust_constr_with_everything_sparse() -> None:
    optimize = require("scipy.optimize")
    f, c = objective(rosenbrock, sparse=True), vector_function(circles, sparse=True)
    inside = optimize.NonlinearConstraint(c, -np.inf, 2.0, jac=c.jac, hess=c.hess)
    found = optimize.minimize(f, [0.2] * 6, jac=f.jac, hess=f.hess, constraints=[inside], method="trust-constr")
    assert found.constr_violation < 1e-8
    assert found.optimality < 1e-5
    assert max(c(found.x)) == pytest.approx(2.0, abs=1e-4)


def test_sparse_matrices_are_casadis() -> None:
    casadi = require("casadi")
    n, weights = 8, [0.5, -1.0, 2.0, 1.0, 3.0, -0.25, 1.5]
    at = [0.1 * k - 0.3 for k in range(n)]
    x = casadi.SX.sym("x", n)
    theirs = casadi.vertcat(*[x[i] ** 2 + casadi.exp(x[i + 1]) for i in range(n - 1)])
    jacobian = casadi.Function("j", [x], [casadi.jacobian(theirs, x)])(at)
    hessian = casadi.Function("h", [x], [casadi.hessian(casadi.dot(weights, theirs), x)[0]])(at)
    ours = vector_function(circles, sparse=True)
    for mine, other in ((ours.jac(at), jacobian), (ours.hess(at, weights), hessian)):
        assert mine.nnz == other.nnz()
        assert mine.toarray() == pytest.approx(np.array(other.full()), rel=1e-14)
        assert set(zip(*(index.tolist() for index in mine.nonzero()), strict=True)) == set(
            zip(*other.sparsity().get_triplet(), strict=True)
        )


# --- PyTorch -----------------------------------------------------------------------------------------------------


def network(x: Any, w: Any, k: int) -> Any:
    return rg.math.tanh(rg.sum([rg.dot(row, x) * k for row in w])) * rg.math.exp(x[0])


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.native)])
def test_torch_checks_the_gradient(compiled: bool) -> None:
    torch = require("torch")
    f = to_torch(rg.compile(network) if compiled else network)
    x = torch.tensor([0.3, -0.2], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([[0.1, 0.5], [0.7, -0.4]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, w: f(x, w, 2), (x, w))
    loss = f(x * 2, w, 2) * 3
    loss.backward()
    y = x.detach().clone().requires_grad_()
    their = torch.tanh((w.detach() @ (2 * y)).sum() * 2) * torch.exp(2 * y[0]) * 3
    their.backward()
    assert x.grad.tolist() == pytest.approx(y.grad.tolist(), rel=1e-13)
    assert loss.item() == pytest.approx(their.item(), rel=1e-14)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.native)])
def test_torch_differentiates_again(compiled: bool) -> None:
    torch = require("torch")
    f = to_torch(rg.compile(network) if compiled else network)
    x = torch.tensor([0.3, -0.2], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([[0.1, 0.5], [0.7, -0.4]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x, w: f(x, w, 2), (x, w))
    theirs = torch.autograd.functional.hessian(lambda x, w: f(x, w, 2), (x, w))
    ours = rg.hessian(network, argnums=(0, 1))(x.tolist(), w.tolist(), 2)
    for i in range(2):
        assert theirs[0][0][i].tolist() == pytest.approx(ours[0][i][0], rel=1e-12)
        assert theirs[0][1][i].tolist() == [pytest.approx(row, rel=1e-12) for row in ours[0][i][1]]


def test_torch_has_every_order() -> None:
    torch = require("torch")
    f = to_torch(lambda x, y: rg.math.exp(x) * y * y)
    x = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    slope = f(x, y)
    for _ in range(3):
        [slope] = torch.autograd.grad(slope, x, create_graph=True)
        assert slope.item() == pytest.approx(9.0 * math.exp(0.5), rel=1e-14)
    [mixed] = torch.autograd.grad(slope, y, create_graph=True)
    [last] = torch.autograd.grad(mixed, y)
    assert (mixed.item(), last.item()) == pytest.approx((6.0 * math.exp(0.5), 2.0 * math.exp(0.5)), rel=1e-14)
    norm = torch.autograd.grad(f(x, y), x, create_graph=True)[0] ** 2  # a gradient penalty
    assert torch.autograd.grad(norm, x)[0].item() == pytest.approx(2 * 81.0 * math.exp(1.0), rel=1e-14)


def test_torch_is_told_what_has_the_first_order_only() -> None:
    torch = require("torch")
    f = to_torch(lambda x: rg.Value(x.data**3, (x,), (3 * x.data**2,)))
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(f(x), x)[0].item() == 12.0
    [slope] = torch.autograd.grad(f(x), x, create_graph=True)
    with pytest.raises(HigherOrderError, match="user-made node"):
        torch.autograd.grad(slope, x)


def test_torch_keeps_kinds_and_notices_changes() -> None:
    torch = require("torch")
    f = to_torch(lambda x: x * x * x)
    x = torch.tensor(2.0, requires_grad=True)
    y = f(x)
    assert y.dtype == torch.float32
    [slope] = torch.autograd.grad(y, x)
    assert slope.item() == 12.0
    with pytest.raises(TypeError, match="none of these arguments is a tensor of floats"):
        f(2.0)
    y = f(x)
    with torch.no_grad():
        x += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(y, x, create_graph=True)


# --- SymPy -------------------------------------------------------------------------------------------------------


def test_sympy_has_the_value_and_the_exact_derivative() -> None:
    sympy = require("sympy")
    random.seed(3)
    rows = "exp sin cos tanh sigmoid softplus silu gelu erf expm1 atan sinh square relu log1p exp2 asinh"
    for name in rows.split():
        x, w = rg.Value(0.4, label="x"), rg.Value(random.uniform(0.5, 2), label="w")
        y = getattr(rg.math, name)(x * w) / (2 + x**3) - rg.math.hypot(x, w)
        expression = to_sympy(y)
        at = {symbol: {"x": x, "w": w}[symbol.name].data for symbol in expression.free_symbols}
        assert float(expression.subs(at)) == pytest.approx(y.data, rel=1e-13), name
        for symbol in at:
            exact = float(sympy.diff(expression, symbol).subs(at).evalf())
            assert rg.gradient(y, {"x": x, "w": w}[symbol.name]) == pytest.approx(exact, rel=1e-11), name


def test_sympy_takes_a_result_and_no_function() -> None:
    require("sympy")
    with pytest.raises(TypeError, match=r"to_sympy takes a Value.* and got .*: for a function, call it"):
        to_sympy(lambda x: x)  # type: ignore[arg-type]


def test_sympy_knows_sequences_and_names() -> None:
    require("sympy")
    a, b = rg.Value(2.0), rg.Value(3.0)
    assert str(to_sympy(rg.dot([a, b], [b, 2.0]), a=a, b=b)) == "a*b + 2*b"
    assert str(to_sympy(rg.mean([a, b, 1.0]))) == "x1/3 + x2/3 + 1/3"
    assert str(to_sympy(rg.max([a, b]) - rg.prod([a, b]), a=a, b=b)) == "-a*b + Max(a, b)"
    with pytest.raises(ValueError, match="which to_sympy does not know"):
        to_sympy(rg.Value(1.0, (a,), "mine", local_grads=(1.0,)))


# --- diagrams ----------------------------------------------------------------------------------------------------


def test_diagrams_have_every_node_and_edge() -> None:
    explanation = rg.explain("where(a < b, a*b, 2) + dot([a, b], [b, a])", a=2, b=-3)
    trace = explanation.trace
    dot, mermaid = explanation.to_dot(), explanation.to_mermaid()
    for text, node, edge in (
        (dot, r"^  n\d+ \[label=", r"^  n\d+ -> n\d+"),
        (mermaid, r"^  n\d+\[", r"^  n\d+ --.*> n\d+"),
    ):
        assert len(re.findall(node, text, re.MULTILINE)) == len(trace.nodes)
        assert len(re.findall(edge, text, re.MULTILINE)) == len(trace.edges)


def test_names_of_users_cannot_break_a_diagram() -> None:
    name = 'a"]|{}<b>\\;'
    explanation = rg.explain(rg.Value(2.0, label=name) * 3.0)
    assert r"a\"]\|\{\}\<b\>\\;" in explanation.to_dot()
    [line] = [line for line in explanation.to_mermaid().splitlines() if line.startswith('  n0["a')]
    assert line.count('"') == 2
    assert line.count("[") == 1


# --- IPython -----------------------------------------------------------------------------------------------------


def test_magics() -> None:
    shell_class = require("IPython.core.interactiveshell").InteractiveShell
    shell = shell_class.instance()
    try:
        shell.extension_manager.load_extension("retrograd")
        shell.user_ns["L"] = rg.Value(2.0, label="a") * 3.0
        assert "a * 3.0 = 6.0" in shell.run_line_magic("explain", "L").to_text(check=False)
        assert "= -6.0" in shell.run_line_magic("explain", "a*b a=2 b=-3").to_text(check=False)
        assert "= -6.0" in shell.run_line_magic("explain", '"a * b" a=2 b=-3').to_text(check=False)
        assert hasattr(shell.run_line_magic("explore", "a*b a=2 b=-3"), "save")
        shell.run_cell("import retrograd as rg; x = rg.Value(2.0); M = x * 4.0\ndef g(a, xs): return a * rg.sum(xs)")
        told = shell.run_line_magic("explain", "M").to_text(check=False)
        assert told.startswith("M = x * 4.0 = 8.0")  # the names are those of the user's variables
        assert "= 6.0" in shell.run_line_magic("explain", "g a=2 xs=1,2").to_text(check=False)
        usage_error = require("IPython.core.error").UsageError  # which IPython prints without a traceback
        with pytest.raises(usage_error, match="a=two is not a number: write digits, such as a=2"):
            shell.run_line_magic("explain", "a*a a=two")
        with pytest.raises(usage_error, match="a value is missing for b"):
            shell.run_line_magic("explore", "a*b a=2")
    finally:
        shell_class.clear_instance()
