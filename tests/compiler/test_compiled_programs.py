"""Named programs, compiled, against the engine: each in every kind, at points on both sides of its branches."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import reduce
from operator import add, mul
from typing import Any

import pytest
from support.compiled_cases import KINDS, assert_equals_eager, assert_near, assert_whole, backward, eagerly, native
from support.parts import ALL

import retrograd as rg
from retrograd import Index, Value, nn, table, take

pytestmark = native

Vector = list[Any]


def values(count: int, seed: int = 0, spread: float = 1.0) -> list[Value]:
    generator = random.Random(seed)
    return [Value(generator.uniform(-spread, spread)) for _ in range(count)]


def flat(rows: Sequence[Vector]) -> Vector:
    return [item for row in rows for item in row]


def settings(leaves: Sequence[Value], *seeds: int, spread: float = 1.0) -> list[list[float]]:
    return [[random.Random(f"{seed} {i}").uniform(-spread, spread) for i in range(len(leaves))] for seed in seeds]


# --- models -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", range(1, 17) if ALL else (1, 2, 7, 11, 16))
def test_the_gpt_at_each_length(length: int) -> None:
    random.seed(length)
    model = nn.GPT(11, block_size=16, n_embd=8, n_head=2)
    leaves = list(model.parameters())
    generator = random.Random(length)
    documents = [[Index(generator.randrange(11)) for _ in range(length + 1)] for _ in range(3)]
    data = [leaf.data for leaf in leaves]
    points = [(data, (documents[0],)), ([2.0 * n for n in data], (documents[1],)), (data, (documents[2],))]
    made = assert_equals_eager(model.loss, leaves, points, kinds=("vm", "interpreter"), bound=1e-11)
    for compiled in made.values():
        assert compiled.stats().traces == 1  # other tokens, other weights, one program


def test_a_gpt_of_two_layers_and_wider_heads() -> None:
    random.seed(1)
    model = nn.GPT(7, block_size=6, n_layer=2, n_embd=16, n_head=4)
    leaves = list(model.parameters())
    tokens = [Index(i) for i in (0, 3, 6, 1, 1, 5)]
    points = [([leaf.data for leaf in leaves], (tokens,)), ([3.0 * leaf.data for leaf in leaves], (tokens[::-1],))]
    assert_equals_eager(model.loss, leaves, points, bound=1e-11)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3, 1), (3, 16, 16, 1), (5, 7, 4, 9, 1), (8, 8, 8, 1)])
def test_a_perceptron_on_a_batch_of_points(sizes: tuple[int, ...]) -> None:
    random.seed(sum(sizes))
    model = nn.MLP(sizes[0], list(sizes[1:]))
    leaves = list(model.parameters())

    def loss(points: list[list[float]], targets: list[float]) -> Any:
        scores = [model(point) for point in points]
        outputs = [score[0] if isinstance(score, list) else score for score in scores]
        margins = [(1 + -target * output).relu() for target, output in zip(targets, outputs, strict=True)]
        return sum(margins) * (1.0 / len(margins)) + 1e-3 * sum(p * p for p in leaves)

    def batch(seed: int) -> tuple[list[list[float]], list[float]]:
        generator = random.Random(seed)
        points = [[generator.uniform(-2, 2) for _ in range(sizes[0])] for _ in range(6)]
        return points, [generator.choice((-1.0, 1.0)) for _ in points]

    data = [leaf.data for leaf in leaves]
    points = [(data, batch(0)), ([1.5 * n for n in data], batch(1)), ([-n for n in data], batch(2))]
    assert_equals_eager(loss, leaves, points, bound=1e-11)


def test_a_recurrent_network() -> None:
    size = 5
    w = [values(size, seed) for seed in range(size)]
    u = [values(3, 10 + seed) for seed in range(size)]
    bias, start = values(size, 20), values(size, 21)
    leaves = [*flat(w), *flat(u), *bias, *start]

    def loss(inputs: list[list[float]]) -> Any:
        state: Vector = list(start)
        for x in inputs:
            state = [
                (
                    sum(wi * s for wi, s in zip(w[k], state, strict=True))
                    + sum(ui * xi for ui, xi in zip(u[k], x, strict=True))
                    + bias[k]
                ).tanh()
                for k in range(size)
            ]
        return sum(s * s for s in state)

    points = []
    for seed, steps in ((0, 1), (1, 7), (2, 7), (3, 12)):
        generator = random.Random(seed)
        inputs = [[generator.uniform(-1, 1) for _ in range(3)] for _ in range(steps)]
        points.append((settings(leaves, seed)[0], (inputs,)))
    made = assert_equals_eager(loss, leaves, points, bound=1e-11)
    assert all(compiled.stats().traces == 3 for compiled in made.values())  # one for each number of steps


@pytest.mark.parametrize(
    ("rows", "columns", "size", "stride"), [(8, 8, 3, 1), (9, 7, 2, 1), (9, 9, 3, 2), (12, 5, 4, 1), (6, 17, 1, 1)]
)
def test_a_convolution_written_as_loops(rows: int, columns: int, size: int, stride: int) -> None:
    """Its windows overlap: every pixel is owed by up to size * size outputs."""
    image = [values(columns, r) for r in range(rows)]
    kernels = [[values(size, 100 + 10 * k + r) for r in range(size)] for k in range(3)]
    leaves = [*flat(image), *(leaf for kernel in kernels for row in kernel for leaf in row)]

    def loss() -> Any:
        total: Any = 0.0
        for number, kernel in enumerate(kernels):
            for r in range(0, rows - size + 1, stride):
                for c in range(0, columns - size + 1, stride):
                    s: Any = 0.0
                    for i in range(size):
                        for j in range(size):
                            s = s + image[r + i][c + j] * kernel[i][j]
                    total = total + (1.0 + number) * s.relu() * s
        return total

    assert_equals_eager(loss, leaves, [(n, ()) for n in settings(leaves, 0, 1)], bound=1e-11)


def test_a_convolution_in_one_dimension_with_overlapping_results() -> None:
    """A transposed one: the outputs overlap instead, and are summed in place."""
    signal, kernel = values(13), values(5, 1)

    def loss() -> Any:
        out: Vector = [0.0] * 17
        for i, x in enumerate(signal):
            for j, k in enumerate(kernel):
                out[i + j] = out[i + j] + x * k
        return sum(o * o * (1 + i % 3) for i, o in enumerate(out))

    assert_equals_eager(loss, [*signal, *kernel], [(n, ()) for n in settings([*signal, *kernel], 0, 1)], bound=1e-11)


def test_max_pooling_and_softmax_over_windows() -> None:
    pixels = values(24)

    def loss() -> Any:
        pooled = [rg.math.max([pixels[i + j] for j in range(4)]) for i in range(21)]
        soft = [rg.math.softmax([pooled[i + 2 * j] for j in range(3)]) for i in range(16)]
        return sum(a[0] * a[2] + pooled[i] for i, a in enumerate(soft))

    points = [(n, ()) for n in settings(pixels, 0, 1)]
    points.append(([float(i // 3) for i in range(24)], ()))  # ties
    assert_equals_eager(loss, pixels, points, bound=1e-11)


def test_a_tree() -> None:
    """Recursion over a tree of another shape at each leaf: nothing is regular."""
    weights = values(6)

    def walk(depth: int, node: int) -> Any:
        if depth == 0:
            return weights[node % 6] * (node % 7 + 1.0)
        left, right = walk(depth - 1, 2 * node + 1), walk(depth - 1 - (node % 3 == 0 and depth > 1), 2 * node + 2)
        return (left * weights[depth % 6] + right).tanh() if node % 2 else left - right * left

    assert_equals_eager(lambda: walk(7, 0), weights, [(n, ()) for n in settings(weights, 0, 1, 2)], bound=1e-10)


def test_a_bundle_adjustment_residual() -> None:
    cameras = [values(9, seed, 0.3) for seed in range(3)]
    points = [values(3, 50 + seed, 1.0) for seed in range(7)]
    leaves = [*flat(cameras), *flat(points)]
    seen = [(c, p) for c in range(3) for p in range(7) if (c + p) % 3]

    def project(camera: Vector, point: Vector) -> Vector:
        x, y, z = rotate(camera[:3], point)
        x, y, z = x + camera[3], y + camera[4], z + camera[5] + 5.0
        px, py = -x / z, -y / z
        n = px * px + py * py
        distortion = 1.0 + n * (camera[7] + camera[8] * n)
        return [(camera[6] + 2.0) * distortion * px, (camera[6] + 2.0) * distortion * py]

    def rotate(axis: Vector, point: Vector) -> Vector:
        theta2 = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]
        if theta2 > 1e-3:
            theta = theta2.sqrt()
            c, s = theta.cos(), theta.sin()
            w = [a / theta for a in axis]
            cross = [
                w[1] * point[2] - w[2] * point[1],
                w[2] * point[0] - w[0] * point[2],
                w[0] * point[1] - w[1] * point[0],
            ]
            dot = (w[0] * point[0] + w[1] * point[1] + w[2] * point[2]) * (1.0 - c)
            return [p * c + x * s + a * dot for p, x, a in zip(point, cross, w, strict=True)]
        cross = [
            axis[1] * point[2] - axis[2] * point[1],
            axis[2] * point[0] - axis[0] * point[2],
            axis[0] * point[1] - axis[1] * point[0],
        ]
        return [p + x for p, x in zip(point, cross, strict=True)]

    def loss(observed: list[list[float]]) -> Any:
        total: Any = 0.0
        for (c, p), (u, v) in zip(seen, observed, strict=True):
            x, y = project(cameras[c], points[p])
            total = total + (x - u) ** 2 + (y - v) ** 2
        return total

    observed = [[0.1 * i, -0.05 * i] for i in range(len(seen))]
    data = settings(leaves, 0, 1, spread=0.4)
    small = [0.0 if i in (0, 1, 2) else n for i, n in enumerate(data[0])]  # the first camera takes the other branch
    assert_equals_eager(
        loss, leaves, [(data[0], (observed,)), (small, (observed,)), (data[1], (observed,))], bound=1e-11
    )


def test_a_pricer_with_branches() -> None:
    spot, rate, sigma, barrier = (Value(0.0) for _ in range(4))

    def price(shocks: list[float], strike: float) -> Any:
        s: Any = spot
        alive = True
        for shock in shocks:
            s = s * ((rate - 0.5 * sigma**2) * 0.1 + sigma * 0.1**0.5 * shock).exp()
            if s > barrier:
                alive = False
                break
            if s.data < 0.5 * strike:
                s = s + 0.01 * strike
        if not alive:
            return s * 0.0 + 1.0 * rate
        payoff = s - strike
        return (-rate).exp() * (payoff if payoff > 0 else 0.0 * s)

    points = [
        ([100.0, 0.05, 0.2, 130.0], ([0.1, -0.2, 0.4], 95.0)),
        ([100.0, 0.05, 0.2, 101.0], ([0.1, 1.2, 0.4], 95.0)),
        ([100.0, 0.05, 0.2, 130.0], ([-0.1, -2.0, -0.4], 120.0)),
        ([50.0, 0.01, 0.6, 130.0], ([-2.1, -2.0, -1.4], 99.0)),
        ([100.0, 0.02, 0.1, 140.0], ([0.3, -0.2, 0.4], 90.0)),
    ]
    assert_equals_eager(price, [spot, rate, sigma, barrier], points, bound=1e-11, kinds=("vm", "interpreter", "exact"))


# --- patterns -----------------------------------------------------------------------------------------------------


def test_sums_of_ragged_lengths() -> None:
    xs, ys = values(40), values(40, 1)

    def loss() -> Any:
        parts = [sum(x * y for x, y in zip(xs[i : i + i % 7 + 1], ys[: i % 7 + 1], strict=True)) for i in range(30)]
        plain = [sum(xs[i : 2 * i]) for i in range(1, 20)]
        return sum(p * p for p in parts) + reduce(mul, [1.0 + 0.1 * p for p in plain]) + sum(parts[::3])

    assert_equals_eager(loss, [*xs, *ys], [(n, ()) for n in settings([*xs, *ys], 0, 1)], bound=1e-11)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("length", [1, 2, 3, 9, 40])
def test_chains_in_both_nestings(length: int, left: bool) -> None:
    """Sums that start from nothing, zero, a number, a Value; of products, squares and what is neither."""
    a, b = values(length), values(length, 1)

    def chain(terms: Vector, start: Any) -> Any:
        total = start
        for term in terms:
            total = total + term if left else term + total
        return total

    def loss() -> Any:
        products: Vector = [x * y for x, y in zip(a, b, strict=True)]
        mixed: Vector = [x * y if i % 2 else x - y for i, (x, y) in enumerate(zip(a, b, strict=True))]
        powers: Vector = [x**2 if i % 3 else x * x for i, x in enumerate(a)]
        scaled: Vector = [2.0 * x if i % 3 else x * 0.5 for i, x in enumerate(a)]
        lists: list[Vector] = [products, mixed, powers, scaled, list(a), [*b, *products], [*a, 3.0, *b]]
        starts: list[Any] = [0, 0.0, -0.0, 1.5, a[0], a[0] * b[0]]
        total: Any = products[0] * 0.25  # a product that is used twice
        for terms in lists:
            for k, start in enumerate(starts):
                total = total + chain(terms, start) * (1.0 + 0.1 * k)
        return total + reduce(mul, [1.0 + 0.1 * x for x in a])

    assert_equals_eager(loss, [*a, *b], [(n, ()) for n in settings([*a, *b], 0, 1)], bound=1e-11)


@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 1, 1), (2, 3, 4), (4, 4, 4), (7, 5, 3), (8, 16, 9), (17, 1, 2), (1, 33, 5), (3, 9, 64)]
)
def test_products_of_matrices_and_their_transposes(m: int, n: int, k: int) -> None:
    """A B, A B', A' B, with softmax over rows, means over columns and both added back."""
    a, b = [values(k, i) for i in range(m)], [values(n, 100 + i) for i in range(k)]
    leaves = [*flat(a), *flat(b)]

    def loss() -> Any:
        c = [[sum(a[i][p] * b[p][j] for p in range(k)) for j in range(n)] for i in range(m)]
        gram = [[rg.math.dot(a[i], a[j]) for j in range(m)] for i in range(m)]
        rows = [rg.math.softmax(row) for row in c]
        means = [rg.math.mean([row[j] for row in rows]) for j in range(n)]
        centred = [[x - means[j] for j, x in enumerate(row)] for row in c]
        back = [sum(centred[i][j] * gram[i][i] for i in range(m)) for j in range(n)]
        return sum(x * x for row in centred for x in row) + sum(back) + sum(sum(row) for row in gram)

    assert_equals_eager(loss, leaves, [(numbers, ()) for numbers in settings(leaves, 0, 1)], bound=1e-11)


@pytest.mark.parametrize("m", range(1, 10))
@pytest.mark.parametrize(("n", "k"), [(5, 8), (8, 16), (13, 24), (27, 8), (4, 17), (16, 64)])
def test_layers_of_any_width_for_any_number_of_positions(m: int, n: int, k: int) -> None:
    """d[i][j] = w[j] . x[i], as a layer computes it, and the same added to a row that is there."""
    w, x, bias = [values(k, i) for i in range(n)], [values(k, 100 + i) for i in range(m)], values(n, 300)
    leaves = [*flat(w), *flat(x), *bias]

    def loss() -> Any:
        plain = [[sum(a * b for a, b in zip(row, position, strict=True)) for row in w] for position in x]
        added = [
            [b0 + rg.math.dot(row, position) for b0, row in zip(before, w, strict=True)]
            for before, position in zip(
                [[b * y for b, y in zip(bias, row, strict=True)] for row in plain], x, strict=True
            )
        ]
        return sum(y * y for row in added for y in row) + sum(y.tanh() for row in plain for y in row)

    assert_equals_eager(loss, leaves, [(numbers, ()) for numbers in settings(leaves, 0, 1)], bound=1e-11)


def test_groups_of_four_as_the_heads_of_attention() -> None:
    for heads in (1, 2, 3):
        query, keys = values(4 * heads), [values(4 * heads, 1 + t) for t in range(5)]
        leaves = [*query, *flat(keys)]

        def loss(heads: int = heads, query: Vector = query, keys: list[Vector] = keys) -> Any:
            total: Any = 0.0
            for h in range(heads):
                part = range(4 * h, 4 * h + 4)
                scores = [sum(query[j] * key[j] for j in part) / 2.0 for key in keys]
                weights = rg.math.softmax(scores)
                mixed = [sum(w * key[j] for w, key in zip(weights, keys, strict=True)) for j in part]
                total = total + sum(x * x * (1 + j) for j, x in enumerate(mixed))
            return total

        assert_equals_eager(loss, leaves, [(n, ()) for n in settings(leaves, 0, 1)], bound=1e-11)


def test_selections_of_leaves_literals_nodes_and_rows() -> None:
    rows = [values(5, seed) for seed in range(4)]
    leaves = flat(rows)

    def loss(i: Index, j: Index, tokens: list[Index]) -> Any:
        computed = [row[0] * row[1] for row in rows]
        numbers = [0.5, -1.0, 2.0, 0.25]
        mixed = [rows[0][0], 3.0, computed[1], rows[0][0]]
        picked = take(rows, i)
        nested = take([rows[:2], rows[2:]], Index(1))
        twice = take(take(rows, i), j)
        total = sum(picked) * take(numbers, j) + take(computed, i) * take(mixed, j) + twice + nested[0][2]
        for k, token in enumerate(tokens):
            for x, y in zip(table(rows)[token], table(rows)[tokens[0]], strict=True):
                total = total + x * y * (1.0 + k)
        if i == j:
            total = total * 2.0
        return total

    data = settings(leaves, 0, 1)
    points = [
        (data[k % 2], (Index(i), Index(j), [Index(t) for t in tokens]))
        for k, (i, j, tokens) in enumerate([(0, 1, (0, 3)), (3, 3, (1, 1)), (2, 0, (2, 0)), (1, 1, (3, 3))])
    ]
    assert_equals_eager(loss, leaves, points, bound=1e-11)


def test_an_irregular_graph() -> None:
    """Two thousand random operations on random earlier results: the fallback, and the vectors."""
    generator = random.Random(3)
    leaves = values(12)
    plan = [(generator.randrange(5), generator.random(), generator.random()) for _ in range(2000)]

    def loss() -> Any:
        nodes: Vector = list(leaves)
        for code, i, j in plan:
            x, y = nodes[int(i * len(nodes))], nodes[int(j * len(nodes))]
            nodes.append((x + y, x * y, x - y, (x * 0.5).tanh(), rg.math.sin(y))[code].tanh())
        return sum(nodes[-300:])

    points = [(n, ()) for n in settings(leaves, 0, 1)]
    assert_equals_eager(loss, leaves, points, bound=1e-9, kinds=("vm", "interpreter", "exact"))
    compiled = rg.compile(loss)
    assert_near(backward(compiled, leaves, ()), eagerly(loss, leaves, ()), 1e-9, "auto")
    assert compiled.stats().eager == 0


def chosen_at_random(count: int, leaves: Vector, seed: int) -> Any:
    """``count`` operations of many kinds on random earlier results, kept near one, and the sum of the last."""
    generator = random.Random(seed)
    nodes: Vector = list(leaves)
    for _ in range(count):
        x, y, z = (generator.choice(nodes) if generator.random() < 0.3 else nodes[-1 - i * 7] for i in range(3))
        kind = generator.randrange(16)
        if kind < 4:
            result = (x + y + z, x * y + z, x * y + y * z, x - y)[kind]
        elif kind < 8:
            result = (x**2, x**3, x / (y * y + 1.5), x * 2.0 + 1)[kind - 4]
        elif kind < 11:
            result = (rg.math.sin(x), (x * x + 0.1).log(), 0 + x + y)[kind - 8]
        else:
            base = x * x + 0.5
            results = (rg.maximum(x, y), rg.where(x < y, x, z), rg.sum([x, y * z, z]), base**y, base**0.0)
            result = results[kind - 11]
        nodes.append(result.tanh() if generator.random() < 0.5 else result * 0.25)
    return sum(nodes[-400:]) + rg.dot(nodes[-50:], nodes[-100:-50])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_a_large_graph_without_a_pattern(seed: int) -> None:
    """So many small groups that kinds have turns, instead of levels."""
    leaves = values(60, seed)

    def loss() -> Any:
        return chosen_at_random(12_000, leaves, seed)

    points = [(n, ()) for n in settings(leaves, 0, 1)]
    assert_equals_eager(loss, leaves, points, bound=1e-9, kinds=("vm",))


def test_turns_make_fewer_and_larger_groups_than_levels() -> None:
    """A thousand chains of operations, each of which takes a random other one's number at every second step."""
    leaves, generator = values(300), random.Random(0)
    plan = [(k, generator.randrange(6), generator.randrange(300)) for _ in range(60) for k in range(300)]

    def loss() -> Any:
        heads = list(leaves)
        for k, kind, other in plan:
            x, y = heads[k], heads[other]
            heads[k] = (x.tanh(), x.sin(), x.cos(), x - y * 0.5, 0.5 * x * y, (x * x + 1.0).sqrt())[kind]
        return sum(heads)

    assert_equals_eager(loss, leaves, [(n, ()) for n in settings(leaves, 0, 1)], bound=1e-9, kinds=("vm",))
    compiled = rg.compile(loss, tier="vm")
    assert_near(backward(compiled, leaves, ()), eagerly(loss, leaves, ()), 1e-9, "vm")
    program = compiled.stats().programs[0]
    assert program.instructions < program.nodes / 40


def test_a_program_for_the_interpreter_is_not_lowered_before() -> None:
    def likelihood(p: Vector) -> Any:
        variance, total = p[0], 0.0
        for k in range(120):
            variance = p[0] + p[1] * math.sin(k) ** 2 + p[2] * variance
            total = total + variance.log() + (k % 7) / variance
        return total

    compiled = rg.compile(likelihood)
    compiled.value_and_grad([0.5, 0.3, 0.2])
    program = compiled.stats().programs[0]
    assert program.tier == "interpreter"
    assert "lower" not in program.milliseconds


def test_the_result_may_be_a_leaf_a_node_used_elsewhere_or_a_number() -> None:
    x, y = values(2)

    def node() -> Any:
        inner = x * y
        _ = inner + inner * x
        return inner

    for function, kinds in ((lambda: x, KINDS), (node, KINDS), (lambda: x * 0.0 + 5.0, KINDS)):
        assert_equals_eager(function, [x, y], [([0.5, 2.0], ()), ([-0.5, 3.0], ())], kinds=tuple(kinds))
    for kind, options in KINDS.items():
        compiled = rg.compile(lambda: 3.0, **options)
        assert compiled() == compiled.backward() == 3.0, kind
        assert rg.compile(lambda: Value(4.0), **options).backward() == 4.0


def test_gradients_of_arguments_in_nested_lists_and_arrays() -> None:
    import numpy as np

    def function(x: dict[str, Any], scale: float) -> Any:
        total = x["a"][0] * x["a"][1] ** 2 + x["b"] * scale
        for row in x["m"]:
            for number in row:
                total = total + number * number * scale
        return total + x["t"][0] * x["t"][1]

    expected = rg.value_and_grad(function)
    for kind, options in KINDS.items():
        compiled = rg.compile(function, **options)
        for k in range(3):
            given = {
                "a": [1.0 + k, 2],
                "b": 3.0,
                "m": np.arange(6.0).reshape(2, 3) - k,
                "t": (Value(0.5), Value(2.0 + k)),
            }
            value, gradients = compiled.value_and_grad(given, 0.5)
            eager_value, eager_gradients = expected({**given, "t": (0.5, 2.0 + k)}, 0.5)
            assert math.isclose(value, eager_value, rel_tol=1e-12)
            assert gradients.keys() == eager_gradients.keys()
            for key in gradients:
                np.testing.assert_allclose(np.array(gradients[key]), np.array(eager_gradients[key]), rtol=1e-5)
            assert isinstance(gradients["t"], tuple)
            assert gradients["m"].shape == (2, 3)
            assert [v.grad for v in given["t"]] == [0.0, 0.0]
        assert_whole(compiled, kind)


@pytest.mark.parametrize("seed", range(3))
def test_sums_that_share_their_beginnings(seed: int) -> None:
    """Running sums and products: every partial one is used, so none is a chain to be gathered."""
    xs = values(25, seed)

    def loss() -> Any:
        running: Any = Value(0.0)
        total: Any = 0.0
        product: Any = 1.0
        for x in xs:
            running = running + x * x
            product = product * (1.0 + 0.2 * x)
            total = total + running * product
        return total + reduce(add, xs) + running

    assert_equals_eager(loss, xs, [(n, ()) for n in settings(xs, seed, seed + 10)], bound=1e-11)


def test_a_sum_of_products_and_of_numbers() -> None:
    """``rg.sum`` names no partial sum: its products are multiplied first, each in its place."""
    leaves = values(24)

    def function() -> Any:
        rows = [leaves[i : i + 6] for i in range(0, 24, 6)]
        sums = [rg.sum([a * b, c, d, e * e, f**2, c * d]) for a, b, c, d, e, f in rows]
        return rg.sum([sums[0] * sums[1], sums[2], sums[3], 2.0])

    made = assert_equals_eager(function, leaves, [(numbers, ()) for numbers in settings(leaves, 1, 2)], bound=1e-13)
    assert made["vm"].stats().programs[0].groups < 16  # the rows are alike


def test_a_convolution_of_images_with_channels() -> None:
    """Six loops, and the members of a batch around them: more than a kernel walks along by itself."""
    channels, outputs, side, size = 3, 4, 5, 2
    weights = values(outputs * channels * size * size, 4)
    place = side - size + 1

    def weight(o: int, c: int, p: int, q: int) -> Value:
        return weights[((o * channels + c) * size + p) * size + q]

    def function(image: list[list[list[float]]]) -> Any:
        results = [
            rg.sum(
                [
                    image[c][i + p][j + q] * weight(o, c, p, q)
                    for c in range(channels)
                    for p in range(size)
                    for q in range(size)
                ]
            ).tanh()
            for o in range(outputs)
            for i in range(place)
            for j in range(place)
        ]
        return rg.sum(results)

    generator = random.Random(7)
    images = [
        [[[generator.uniform(-1, 1) for _ in range(side)] for _ in range(side)] for _ in range(channels)]
        for _ in range(3)
    ]
    points = [(numbers, (image,)) for numbers, image in zip(settings(weights, 1, 2, 3), images, strict=True)]
    made = assert_equals_eager(function, weights, points, bound=1e-12)
    expected = [eagerly(function, weights, (image,)) for image in images]
    for kind, compiled in made.items():
        for weight_ in weights:
            weight_.grad = 0.0
        value = compiled.backward_batch([(image,) for image in images])
        mean = [sum(one[1][k] for one in expected) / 3 for k in range(len(weights))]
        found = value, [weight_.grad for weight_ in weights]
        assert_near(found, (sum(one[0] for one in expected) / 3, mean), 1e-12, kind)
