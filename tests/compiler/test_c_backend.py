"""``Compiled.to_c``: the file builds without a warning, and its functions equal the engine."""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import itertools
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import retrograd as rg
import retrograd.math as rm
from retrograd.engine import ENGINE
from retrograd.errors import NotTraceableError

pytestmark = pytest.mark.native

GCC = shutil.which("gcc") or shutil.which("cc")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2")


class Built:
    """The functions of a file, built as a shared library."""

    def __init__(self, written: Any, *flags: str) -> None:
        if GCC is None:
            pytest.skip("a C compiler: gcc or cc")
        library = written.path.with_suffix(".so")
        command = [GCC, *(flags or STRICT), "-shared", "-fPIC", str(written.path), "-o", str(library), "-lm"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr[:3000]
        loaded = ctypes.CDLL(str(library))
        self._value = getattr(loaded, f"{written.name}_value")
        self._gradient = getattr(loaded, f"{written.name}_gradient")
        self._value.restype = self._gradient.restype = ctypes.c_double
        self._written = written
        self._work = (ctypes.c_double * written.work)(*[math.nan] * written.work)  # nothing may rely on zeros

    def value(self, *arguments: Any) -> float:
        return float(self._value(*self._given(arguments), self._work))

    def gradient(self, *arguments: Any) -> tuple[float, list[float], list[float]]:
        dx = doubles([math.nan] * self._written.derivatives)
        dp = doubles([math.nan] * len(self._written.values))
        value = float(self._gradient(*self._given(arguments), dx, dp, self._work))
        return value, list(dx), list(dp)

    def _given(self, arguments: tuple[Any, ...]) -> list[Any]:
        written = self._written
        indices = written.indices(*arguments)
        more = [(ctypes.c_int * len(indices))(*indices)] if indices else []
        return [doubles(written.inputs(*arguments)), doubles(written.parameters), *more]


def doubles(numbers: list[float]) -> Any:
    return (ctypes.c_double * len(numbers))(*numbers)


def check(f: Callable[..., Any], tmp_path: Path, *calls: tuple[Any, ...], name: str = "f") -> str:
    """Write, build and call; the text."""
    written = rg.compile(f).to_c(tmp_path / "f.c", *calls[0], name=name)
    built = Built(written)
    for arguments in calls:
        value, dx, dp = built.gradient(*arguments)
        wanted, gradient = rg.value_and_grad(lambda *a: f(*a), argnums=tuple(range(len(arguments))))(*arguments)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert built.value(*arguments) == value
        assert dx == pytest.approx(flat(gradient), rel=1e-10, abs=1e-12)
        assert not dp
    return written.path.read_text(encoding="utf-8")


def flat(tree: Any) -> list[float]:
    return [x for each in tree for x in flat(each)] if isinstance(tree, list | tuple) else [float(tree)]


def test_straight_line_code(tmp_path: Path) -> None:
    text = check(lambda x, y: rm.exp(-x * y) / (1.0 + y * y) + rm.tanh(x) ** 2.5, tmp_path, (0.7, 0.4), (1.5, -2.0))
    assert "for (" not in text
    assert "test_c_backend.py:" in text  # the user's line


def test_an_item_that_data_choose_is_an_element(tmp_path: Path) -> None:
    grid = [0.0, 0.1, 0.3, 0.5, 0.8, 1.1]

    def looked_up(p: list[Any], xs: list[Any]) -> Any:
        total = 0.0
        for x in xs:
            k = sum((rg.where(x < g, 0.0, 1.0) for g in grid[1:]), 0.0)
            low, item = grid[0], p[0]
            for j in range(1, 6):
                low, item = rg.where(k == j, grid[j], low), rg.where(k == j, p[j], item)
            total = total + (x - low) * item
        return total

    calls = [([0.5, 1.5, -0.3, 0.7, 2.0, 1.0], [0.05 + shift, 0.4, 0.9, 2.0, 0.3]) for shift in (0.0, 0.3, 0.6)]
    text = check(looked_up, tmp_path, *calls)
    assert "= L[(int)(" in text
    assert "G[(int)(" in text


def test_a_loop_stays_a_loop(tmp_path: Path) -> None:
    def predator(p: list[float], start: list[float]) -> Any:
        x, y = start
        for _ in range(200):
            dx = p[0] * x - p[1] * x * y
            dy = p[2] * x * y - p[3] * y
            x, y = x + 0.01 * dx, y + 0.01 * dy
        return x * x + y * y

    calls = (([1.1, 0.4, 0.1, 0.4], [10.0, 5.0]), ([1.0, 0.3, 0.2, 0.5], [8.0, 4.0]))
    text = check(predator, tmp_path, *calls, name="predator")
    assert text.count("for (int k") == 2  # one forward, one backward
    assert len(text.splitlines()) < 170  # however many steps
    assert "x, y = x + 0.01 * dx, y + 0.01 * dy" in text


def test_a_state_that_is_used_once_more_before_it_is_handed_on(tmp_path: Path) -> None:
    def euler(p: list[float]) -> Any:
        x, v, total = p[0], p[1], 0.0
        for _ in range(30):
            v, x = 0.9 * v, x + p[2] * v  # x takes the old v
            total = total + x
        return total + v

    check(euler, tmp_path, ([0.3, 0.7, 0.2],), ([1.3, -0.7, 0.4],))


def test_the_first_of_equals_gets_the_gradient_of_python_s_max(tmp_path: Path) -> None:
    def largest(x: float, y: float, z: float) -> Any:
        return max(x, y, z) + 2.0 * min(y, x) + max([z, x, 1.0]) * 3.0 + rg.max([x, y])

    check(largest, tmp_path, (0.5, 0.7, 2.0), (0.5, 0.5, 0.5), (1.0, 1.0, 1.0), (2.0, 3.0, 3.0))


def test_values_that_the_function_holds(tmp_path: Path) -> None:
    w, b = rg.Value(0.5, label="w"), rg.Value(-0.25, label="b")
    f = rg.compile(lambda x: rm.log(1.0 + (w * x + b) ** 2))
    written = f.to_c(tmp_path / "held.c", 2.0, name="held")
    assert written.values == (w, b)
    assert ": w, b" in written.path.read_text(encoding="utf-8")
    value, dx, dp = Built(written).gradient(3.0)
    x = rg.Value(3.0)
    f.scalar_function(x).backward()
    assert value == pytest.approx(f.scalar_function(3.0).data, rel=1e-14)
    assert [*dx, *dp] == pytest.approx([x.grad, w.grad, b.grad], rel=1e-13)


def test_another_branch_and_a_domain_error_are_nan(tmp_path: Path) -> None:
    def branch(x: Any, y: Any) -> Any:
        if bool(x > y):  # which stays a comparison
            return rm.sqrt(x)
        return -x

    built = Built(rg.compile(branch).to_c(tmp_path / "branch.c", 2.0, 1.0, name="branch"))
    assert built.value(4.0, 1.0) == 2.0
    assert math.isnan(built.value(1.0, 2.0))
    assert math.isnan(built.value(-1.0, -2.0))
    value, dx, _ = built.gradient(1.0, 2.0)
    assert math.isnan(value)
    assert all(math.isnan(d) for d in dx)  # as they were


def test_guards_hold_where_a_compiler_is_told_that_nothing_is_nan(tmp_path: Path) -> None:
    def f(p: list[float]) -> Any:
        x, total = p[0], 0.0
        for k in range(40):
            x = 0.9 * x + 0.1 * rm.cos(p[1] * k)
            total = total + rm.log(x + 1.5)
        return total if bool(p[2] > 0.0) else x

    written = rg.compile(f).to_c(tmp_path / "f.c", [0.5, 0.3, 1.0], name="f")
    text = written.path.read_text(encoding="utf-8")
    assert "failed |=" in text  # noted in the loop, and looked at behind it
    built = Built(written, "-std=c99", "-O3", "-ffinite-math-only", "-Wall", "-Wextra", "-Werror")
    for p in ([0.5, 0.3, 1.0], [0.7, 0.1, 2.0]):
        wanted, gradient = rg.value_and_grad(f)(p)
        value, dx, _ = built.gradient(p)
        assert (value, dx) == (pytest.approx(wanted), pytest.approx(gradient))
    for p in ([0.5, 0.3, -1.0], [-9.0, 0.3, 1.0]):  # another branch; a logarithm of a negative number
        _, dx, _ = built.gradient(p)
        assert all(math.isnan(d) for d in dx)  # as they were


def test_sines_and_cosines_are_apart_where_iterations_wait_for_nothing(tmp_path: Path) -> None:
    def waves(p: list[float], times: list[float]) -> Any:
        return sum(p[0] * rm.cos(p[1] * t - p[2]) for t in times)

    def swinging(p: list[float], times: list[float]) -> Any:
        x, v = p[0], p[1]
        for t in times:
            x, v = x + 0.1 * v, v - 0.1 * rm.sin(x) * t
        return x * p[2]

    calls = (([0.5, 1.5, 0.25], [0.1 * k for k in range(30)]), ([1.5, -0.5, 0.75], [0.2 * k for k in range(30)]))
    for f, together in ((waves, False), (swinging, True)):
        (tmp_path / f.__name__).mkdir()
        text = check(f, tmp_path / f.__name__, *calls)
        forward = text.split("static int f_forward(")[1].split("double f_value(")[0]
        assert (" sin(" in forward and " cos(" in forward) == together


def test_an_if_is_written_as_such(tmp_path: Path) -> None:
    f = rg.compile(lambda x, y: rm.sqrt(x) if x > y else -x)
    built = Built(f.to_c(tmp_path / "chosen.c", 2.0, 1.0, name="chosen"))
    assert (built.value(4.0, 1.0), built.value(1.0, 2.0)) == (2.0, -1.0)
    assert math.isnan(built.value(-1.0, -2.0))
    assert built.gradient(1.0, 2.0)[1] == [-1.0, 0.0]


def test_tables_and_results_of_a_loop_that_are_read_later(tmp_path: Path) -> None:
    def seen(p: list[float]) -> Any:
        x, all_of = p[0], []
        for k in range(30):
            x = 0.5 * x + p[1] * math.sin(k) + rm.maximum(x, p[2]) * 0.1
            all_of.append(x)
        return rg.sum([a * b for a, b in zip(all_of, reversed(all_of), strict=True)])

    check(seen, tmp_path, ([0.3, 0.7, 0.2],), ([1.3, -0.7, 0.4],))


def test_the_gamma_functions_that_c_lacks_are_written(tmp_path: Path) -> None:
    def likelihood(x: float, y: float) -> Any:
        return rm.lgamma(x + 2.5) - rm.log(rm.gamma(abs(y) + 0.5)) + rm.digamma(x - 0.25) * y

    text = check(likelihood, tmp_path, (1.5, 2.0), (-0.3, -1.2), (-7.6, 40.0))
    assert "static double retrograd_digamma(" in text
    without = rg.compile(lambda x: rm.sin(x)).to_c(tmp_path / "sine.c", 1.5, name="sine")
    assert "retrograd_" not in without.path.read_text(encoding="utf-8")


def test_what_c_cannot_do_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotTraceableError, match=r"cannot be written as C: max of more than two operands"):
        rg.compile(lambda x: rg.max([x, x * x, 0.5])).to_c(tmp_path / "f.c", 1.5)
    for given in ((), (1.5,), (1.5, 2.0, 3.0)):
        with pytest.raises(NotTraceableError, match=r"example of its arguments, .*: write f\.to_c\(path, x, y\)\.$"):
            rg.compile(lambda x, y: x * y).to_c(tmp_path / "f.c", *given, derivatives=["hessian"])
    with pytest.raises(ValueError, match="name="):
        rg.compile(lambda x: x * x).to_c(tmp_path / "f.c", 1.5, name="2nd")
    with pytest.raises(ValueError, match="argnums"):
        rg.compile(lambda x: x * x).to_c(tmp_path / "f.c", 1.5, name="f", argnums=1)
    assert not (tmp_path / "f.c").exists()


def test_the_gradient_by_some_arguments(tmp_path: Path) -> None:
    def misfit(p: list[float], data: list[float], scale: float) -> Any:
        return sum((p[0] + p[1] * x - y) ** 2 for x, y in itertools.pairwise(data)) * scale

    arguments = [0.3, 0.7], [0.1 * k * k for k in range(20)], 1.5
    for number, argnums in enumerate((0, 2, (2, 0), (1,))):
        of = (argnums,) if isinstance(argnums, int) else tuple(sorted(argnums))  # in the order of the arguments
        written = rg.compile(misfit).to_c(tmp_path / f"f{number}.c", *arguments, name="f", argnums=argnums)
        value, dx, dp = Built(written).gradient(*arguments)
        wanted, gradient = rg.value_and_grad(misfit, argnums=of)(*arguments)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert dx == pytest.approx(flat(gradient), rel=1e-10)
        assert not dp


class TestIndices:
    """What an Index selects in C."""

    def test_rows_of_parameters_and_computed_numbers(self, tmp_path: Path) -> None:
        table = [[rg.Value(math.sin(5 * i + j)) for j in range(4)] for i in range(6)]
        numbers = [0.5, -1.5, 2.5, 1.0, 0.25, -0.75]

        def loss(tokens: list[Any], scale: float) -> Any:
            total = 0.0
            for now, following in itertools.pairwise(tokens):
                row = rg.take(table, now)
                logits = [sum(a * b for a, b in zip(row, other, strict=True)) * scale for other in table]
                z = rm.log(rg.sum([rm.exp(x) for x in logits]))
                total = total + (z - rg.take(logits, following)) * rg.take(numbers, now)
            return total

        calls = [([rg.Index(i) for i in tokens], scale) for tokens, scale in (([0, 5, 2, 2, 1], 1.5), ([3] * 5, -0.5))]
        written = rg.compile(loss).to_c(tmp_path / "f.c", *calls[0], name="f")
        built = Built(written)
        for tokens, scale in calls:
            for value in written.values:
                value.grad = 0.0
            x = rg.Value(scale)
            wanted = loss(tokens, x)  # type: ignore[arg-type]
            wanted.backward()
            value, dx, dp = built.gradient(tokens, scale)
            assert value == pytest.approx(wanted.data, rel=1e-12)
            assert dx == pytest.approx([x.grad], rel=1e-10)
            assert dp == pytest.approx([each.grad for each in written.values], rel=1e-10, abs=1e-14)
        for wrong in (-1, 6):
            assert math.isnan(built.value([rg.Index(i) for i in (0, 1, 2, 3, wrong)], 1.0))

    def test_a_table_in_no_order_and_one_of_a_single_number(self, tmp_path: Path) -> None:
        def f(p: list[float], i: Any, j: Any) -> Any:
            chosen = rg.take([p[3], p[0], p[1], p[0]], i)
            return chosen * chosen + rg.take([p[2] * p[2]], j) * rg.take([p[1], 2.0, p[1] * p[0]], i) + p[2]

        f_of = rg.compile(f)
        p = [0.5, 1.5, -2.0, 0.75]
        built = Built(f_of.to_c(tmp_path / "f.c", p, rg.Index(1), rg.Index(0), name="f"))
        for i in range(3):
            wanted, gradient = rg.value_and_grad(f)(p, rg.Index(i), rg.Index(0))
            value, dx, _ = built.gradient(p, rg.Index(i), rg.Index(0))
            assert (value, dx) == (pytest.approx(wanted), pytest.approx(gradient))
        assert math.isnan(built.value(p, rg.Index(3), rg.Index(0)))  # the shorter of two that it selects from
        assert math.isnan(built.value(p, rg.Index(0), rg.Index(1)))

    def test_a_comparison_of_an_index_decides(self, tmp_path: Path) -> None:
        def f(x: float, i: Any, j: Any) -> Any:
            if i == 2:
                return rm.exp(x)
            return x * 2.0 if i < j else x * 3.0

        built = Built(rg.compile(f).to_c(tmp_path / "f.c", 1.5, rg.Index(0), rg.Index(1), name="f"))
        assert built.value(2.0, rg.Index(3), rg.Index(4)) == 4.0
        assert math.isnan(built.value(2.0, rg.Index(2), rg.Index(4)))
        assert math.isnan(built.value(2.0, rg.Index(4), rg.Index(4)))

    def test_an_index_that_nothing_needs(self, tmp_path: Path) -> None:
        compiled = rg.compile(lambda p, i: [p[0] * p[1], p[1]])
        written = compiled.to_c(tmp_path / "f.c", [1.0, 2.0], rg.Index(1), name="f", derivatives=["jacobian"])
        Built(rg.compile(lambda p, i: p[0] * p[1]).to_c(tmp_path / "g.c", [1.0, 2.0], rg.Index(1), name="g"))
        command = [GCC or "cc", *STRICT, "-c", str(written.path), "-o", str(tmp_path / "f.o")]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_inputs_have_the_structure_of_the_example(tmp_path: Path) -> None:
    written = rg.compile(lambda x: x[0] * x[1]).to_c(tmp_path / "f.c", [1.0, 2.0], name="f")
    assert written.inputs([3.0, 4.0]) == [3.0, 4.0]
    with pytest.raises(TypeError):
        written.inputs([3.0, 4.0, 5.0])


if ENGINE != "native":
    pytest.skip("the native engine", allow_module_level=True)


def test_a_result_that_may_be_a_plain_number(tmp_path: Path) -> None:
    """In C it is a number in any case, whatever ``max`` chooses."""

    def hinge(x: list[Any]) -> Any:
        return sum(max(0.0, 1.0 - v) for v in x)

    check(hinge, tmp_path, ([0.5, 0.2, 2.0],), ([2.0, 0.2, 0.3],), ([5.0, 6.0, 7.0],))


@dataclasses.dataclass
class Body:
    x: float
    v: float


@pytest.mark.parametrize("copies", [False, True])
def test_records_that_are_told_apart(copies: bool, tmp_path: Path) -> None:
    def pushed(bodies: list[Any]) -> Any:
        bodies = copy.deepcopy(bodies) if copies else bodies
        first, kept = bodies[0], bodies[0].x
        first.x = kept + first.v
        total = sum(body.x * body.x for body in bodies)
        first.x = kept
        return total

    one, other = Body(2.0, 0.5), Body(3.0, 1.0)
    for example, call, another in (
        ([one, other], [other, one], [one, one]),
        ([one, one], [other, other], [one, other]),
    ):
        written = rg.compile(pushed).to_c(tmp_path / f"f{example[0] is example[1]}.c", example, name="f")
        assert Built(written).value(call) == pushed(call)
        with pytest.raises(TypeError, match="another structure"):
            written.inputs(another)


def test_a_comparison_that_is_true_itself(tmp_path: Path) -> None:
    """No tracer of one is. What it decides is checked where it cannot be selected."""

    def by_match(xs: list[float]) -> float:
        total = 0.0
        for x in xs:
            match (x > 0.0, "a"):
                case (True, "a"):
                    total += x
                case _:
                    total -= 2.0 * x
        return total

    def by_identity(xs: list[float]) -> float:
        total = 0.0
        for x in xs:
            up = x > 0.0
            if up is True:
                total += x
            if up is not False:
                total += 100.0 * x
        return total

    for f in (by_match, by_identity):
        built = Built(rg.compile(f).to_c(tmp_path / f"{f.__name__}.c", [0.3, 1.2, -1.7]))
        for xs in ([0.3, 1.2, -1.7], [1.3, 0.2, -0.7]):
            assert built.value(xs) == pytest.approx(f(xs), rel=1e-12)
        found = built.value([-0.3, 1.2, 1.7])
        assert math.isnan(found) or found == pytest.approx(f([-0.3, 1.2, 1.7]), rel=1e-12)


def test_a_flag_that_is_true_itself_leaves_tests_selections(tmp_path: Path) -> None:
    def gated(xs: list[float], flag: bool = True) -> float:
        total = 0.0
        for x in xs:
            total += x if flag is True and x > 0.0 else -2.0 * x
        return total

    check(gated, tmp_path, ([0.3, 1.2, -1.7],), ([-0.3, 1.2, 1.7],), ([-0.3, -1.2, -1.7],))
