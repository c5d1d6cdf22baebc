"""Trees as arguments of compiled functions: what is an input, what is compared, and gradients in the same structure."""

from __future__ import annotations

import copy
import enum
import math
import random
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.compiled_cases import native
from support.trees import plain, random_tree

import retrograd as rg
from retrograd import Value, errors
from retrograd.compiler.calls import eager as eager_module
from retrograd.engine.pytree import flatten

pytestmark = native


@pytest.fixture(params=[True, False], ids=["in place", "by calls"], autouse=True)
def _reading(request: pytest.FixtureRequest) -> Iterator[None]:
    """Numbers read where CPython keeps them, and as for another Python."""
    from retrograd import _native

    assert _native.read_in_place(request.param)
    assert _native.read_in_place(request.param) is request.param
    yield
    _native.read_in_place(True)


class Pair(NamedTuple):
    left: Any
    right: Any


class Shape(enum.Enum):
    ROUND = "round"
    SQUARE = "square"


@dataclass
class Params:
    w: Any
    rest: Any = None
    name: str = "p"
    shape: Shape = Shape.ROUND
    power: int = field(default=2, metadata={"static": True})


@dataclass(frozen=True, slots=True)
class Frozen:
    a: Any
    b: Any


class Segment:
    def __init__(self, low: Any, high: Any, scale: Any = 1) -> None:
        self.low, self.high, self.scale = low, high, scale


flattened: list[Callable[[], None]] = []  #: what the user's flatten function does besides


def flatten_segment(one: Segment) -> tuple[tuple[Any, Any], Any]:
    for effect in flattened:
        effect()
    return (one.low, one.high), one.scale


rg.register_pytree_node(Segment, flatten_segment, lambda scale, items: Segment(*items, scale))


def leaves_of(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [x for item in tree.values() for x in leaves_of(item)]
    if isinstance(tree, (list, tuple)):
        return [x for item in tree for x in leaves_of(item)]
    if isinstance(tree, np.ndarray):
        return list(tree.ravel())
    if isinstance(tree, Params):
        return leaves_of([tree.w, tree.rest])
    if isinstance(tree, Frozen):
        return leaves_of([tree.a, tree.b])
    if isinstance(tree, Segment):
        return leaves_of([tree.low, tree.high])
    return [] if tree is None or isinstance(tree, str) else [tree]


def objective(tree: Any, factor: float = 1.0) -> Any:
    return sum((i + 1.0) * factor * x * x for i, x in enumerate(leaves_of(tree)))


TREES: dict[str, Callable[[float], Any]] = {
    "a number": lambda k: k,
    "a whole number": lambda k: int(10 * k),
    "a list": lambda k: [k + i for i in range(20)],
    "an empty list": lambda k: [k, []],
    "a tuple": lambda k: (k, k + 1.0),
    "a named tuple": lambda k: Pair(k, [k + 1.0, (k,)]),
    "a dictionary": lambda k: {"w": [k, k + 2.0], "b": k},
    "an array": lambda k: k + np.arange(6.0),
    "an array of two axes": lambda k: [k + np.arange(6.0).reshape(2, 3), np.zeros((0, 3)), k],
    "a transposed array": lambda k: (k + np.arange(12.0).reshape(3, 4)).T[1:, ::2],
    "an array without axes": lambda k: {"x": np.array(k)},
    "an ordered dictionary": lambda k: OrderedDict(b=k, a=k + 1.0),
    "a defaultdict": lambda k: defaultdict(list, x=k, y=[k]),
    "a dataclass": lambda k: Params(k, [k + 1.0, {"x": np.array([k])}]),
    "a frozen dataclass": lambda k: [Frozen(k, Frozen(k + 1.0, [k]))],
    "a registered class": lambda k: {"s": Segment(k, [k + 1.0, k])},
    "None among numbers": lambda k: [None, k, {"x": None, "y": k}],
}


def as_plain(tree: Any) -> Any:
    """Something that ``==`` compares, with types."""
    if isinstance(tree, dict):
        return type(tree), [(key, as_plain(item)) for key, item in tree.items()]
    if isinstance(tree, (list, tuple)):
        return type(tree), [as_plain(item) for item in tree]
    if isinstance(tree, np.ndarray):
        return type(tree), tree.dtype, tree.shape, tree.tolist()
    if isinstance(tree, Segment):
        return Segment, as_plain([tree.low, tree.high]), tree.scale
    if isinstance(tree, Params):
        return Params, as_plain([tree.w, tree.rest]), tree.name, tree.shape, tree.power
    if isinstance(tree, Frozen):
        return Frozen, as_plain([tree.a, tree.b])
    return tree


@pytest.mark.parametrize("make", TREES.values(), ids=TREES.keys())
def test_gradients_have_the_structure_of_the_argument(make: Callable[[float], Any]) -> None:
    compiled = rg.compile(objective, exact=True)
    for k in (0.5, -1.5, 2.25):
        expected = rg.value_and_grad(objective)(make(k), 3.0)
        value, gradient = compiled.value_and_grad(make(k), 3.0)
        assert value == expected[0]
        assert as_plain(gradient) == as_plain(expected[1])
    statistics = compiled.stats()
    assert (statistics.traces, statistics.hits, statistics.eager) == (1, 3, 0), statistics.reasons


@pytest.mark.parametrize("make", TREES.values(), ids=TREES.keys())
def test_trees_that_are_not_differentiated(make: Callable[[float], Any]) -> None:
    w = Value(1.5)

    def loss(tree: Any) -> Any:
        return w * objective(tree)

    compiled = rg.compile(loss, exact=True)
    for k in (0.5, -1.5, 0.5):
        w.grad = 0.0
        loss(make(k)).backward()
        expected, w.grad = w.grad, 0.0
        compiled.backward(make(k))
        assert w.grad == expected
    assert compiled.stats().eager == 0, compiled.stats().reasons


def test_random_trees() -> None:
    def squares(tree: Any) -> Any:
        return sum((i + 1.0) * x * x for i, x in enumerate(flatten(tree)[0]))

    compiled, eager, calls = rg.compile(squares, exact=True), rg.value_and_grad(squares), 0
    for seed in range(60):
        tree = [1.0, random_tree(random.Random(seed), 4)]
        leaves, structure = flatten(tree)
        for given in (tree, structure.collect([leaf + 0.25 for leaf in leaves]), tree):
            assert plain(compiled.value_and_grad(given)) == plain(eager(given)), seed
            calls += 1
    statistics = compiled.stats()
    assert (statistics.hits, statistics.eager) == (calls, 0), statistics.reasons


def test_a_gradient_is_built_without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = rg.compile(objective)
    given = {"w": [1.0, 2.0], "m": np.arange(3.0), "t": (3.0,)}
    expected = compiled.value_and_grad(given)
    monkeypatch.setattr(eager_module, "flatten", None)
    assert as_plain(compiled.value_and_grad(given)) == as_plain(expected)


def test_an_array_of_gradients_is_the_callers_own() -> None:
    compiled = rg.compile(objective)
    given = np.arange(4.0)
    first = compiled.value_and_grad(given)[1]
    second = compiled.value_and_grad(2.0 * given)[1]
    assert not np.shares_memory(first, second)
    first += 1.0
    np.testing.assert_array_equal(compiled.value_and_grad(given)[1], second / 2.0)


def unaligned(numbers: Any) -> Any:
    return np.frombuffer(b"\0" + numbers.tobytes(), dtype=np.float64, offset=1).reshape(numbers.shape)


MEMORY: dict[str, Callable[[Any], Any]] = {
    "backwards": lambda a: a[::-1],
    "by columns": lambda a: np.asfortranarray(a),
    "every other": lambda a: np.repeat(a, 2, axis=0)[::2],
    "the same row": lambda a: np.broadcast_to(a[0], a.shape),
    "unaligned": unaligned,
    "read only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "another byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "another dtype object": lambda a: a.view(np.dtype(np.float64, metadata={"unit": "m"})),
    "float32": lambda a: a.astype(np.float32),
    "other axes": lambda a: a.T,
    "many axes": lambda a: a.reshape((1,) * 8 + a.shape),
    "none": lambda a: a[:, :0],
}


@pytest.mark.parametrize("lay_out", MEMORY.values(), ids=MEMORY)
def test_arrays_lie_in_memory_as_they_like(lay_out: Callable[[Any], Any]) -> None:
    def weighted(array: Any, factors: Any) -> Any:
        pairs = zip(array.flat, factors.flat, strict=True)
        return sum(((k + 2.0) * a**2 * b for k, (a, b) in enumerate(pairs)), array.size * 1.0)

    compiled = rg.compile(weighted)
    plain = np.arange(6.0).reshape(2, 3) + 1.0
    compiled.value_and_grad(plain, plain)
    for array, factors in [(lay_out(plain), lay_out(0.5 * plain)), (plain, plain)] * 2:
        value, gradient = compiled.value_and_grad(array, factors)
        expected, slopes = rg.value_and_grad(weighted)(array, factors)
        assert value == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-13)
        assert (type(gradient), gradient.dtype, gradient.shape) == (np.ndarray, np.float64, array.shape)


def test_values_in_trees_get_their_gradients() -> None:
    a, b, c = Value(2.0), Value(3.0), Value(4.0)
    compiled = rg.compile(objective)
    for _ in range(2):
        a.grad = b.grad = c.grad = 0.0
        assert compiled.backward([Params(a, [b]), Frozen(c, Segment(a, 1.0))]) == objective([a, b, c, a, 1.0]).data
        assert (a.grad, b.grad, c.grad) == (2 * 2 + 2 * 4 * 2, 2 * 2 * 3, 2 * 3 * 4)
    assert compiled.stats().eager == 0


def test_what_is_no_number_is_compared() -> None:
    def powers(p: Params) -> Any:
        return p.w**p.power * (2.0 if p.shape is Shape.ROUND else 5.0) * len(p.name)

    compiled = rg.compile(powers)
    cases = [
        Params(2.0),
        Params(2.0, name="longer"),
        Params(2.0, shape=Shape.SQUARE),
        Params(2.0, power=3),
        Params(3.0),
        Params(3, name="longer"),
    ]
    for given in (*cases, *cases):
        assert compiled.value_and_grad(given) == rg.value_and_grad(powers)(given)
    changing = Params(2.0)
    for power in (2, 3, 4, 2):
        changing.power = power
        assert compiled.value_and_grad(changing)[0] == powers(changing)
    assert compiled.stats().eager == 0, compiled.stats().reasons


def test_static_numbers_are_compared_by_their_bits() -> None:
    def signed(x: float, data: Any) -> Any:
        return x * math.copysign(1.0, data.real) + x * x * math.copysign(1.0, data.imag)

    compiled = rg.compile(signed)
    for data in (complex(0.0, 0.0), complex(-0.0, 0.0), complex(0.0, -0.0), complex(1.0, -0.0), complex(math.nan, 0.0)):
        for _ in range(2):
            assert compiled.value_and_grad(2.0, data) == rg.value_and_grad(signed)(2.0, data), data

    @dataclass
    class Rate:
        x: Any
        rate: float = field(metadata={"static": True})

    sign = rg.compile(lambda r: r.x * math.copysign(1.0, r.rate))
    for rate in (0.0, -0.0, 0.0, math.nan):
        assert sign.value_and_grad(Rate(2.0, rate))[0] == 2.0 * math.copysign(1.0, rate)


def test_a_factory_of_missing_items_is_compared() -> None:
    compiled = rg.compile(lambda x, d: x * d["missing"])
    for number in (2.0, 3.0, 2.0):
        made = defaultdict((lambda n: lambda: n)(number))
        assert compiled.value_and_grad(5.0, made)[0] == 5.0 * number


def test_an_ordered_dictionary_has_an_order_of_its_own() -> None:
    compiled = rg.compile(objective, exact=True)
    one = OrderedDict(a=1.0, b=2.0)
    for _ in range(2):
        assert compiled.value_and_grad(one) == (9.0, OrderedDict(a=2.0, b=8.0))
    one.move_to_end("a")
    for _ in range(2):
        value, gradient = compiled.value_and_grad(one)
        assert (value, list(gradient.items())) == (6.0, [("b", 4.0), ("a", 4.0)])


def test_a_later_change_of_the_traced_argument_changes_no_gradient() -> None:
    compiled = rg.compile(objective)
    first = defaultdict(float, x=1.0)
    params = Params(1.0)
    compiled.value_and_grad(first), compiled.value_and_grad(params)
    first["y"], params.name = 5.0, "another"
    assert compiled.value_and_grad(defaultdict(float, x=2.0))[1] == {"x": 4.0}
    assert compiled.value_and_grad(Params(2.0))[1] == Params(4.0)


def test_truth_values_and_indices_are_differentiated_as_the_transforms_do() -> None:
    def product(xs: Any) -> Any:
        return xs[0] * xs[1]

    compiled = rg.compile(product)
    for given in ([True, 2.0], [False, 2.0], [rg.Index(3), 2.0], [np.float64(1.5), 2]):
        for _ in range(2):
            assert compiled.value_and_grad(given) == rg.value_and_grad(product)(given)
    square = rg.compile(lambda x: x * x)
    for single in (rg.Index(3), True, np.float32(1.5)):
        for _ in range(2):
            assert square.value_and_grad(single) == rg.value_and_grad(lambda x: x * x)(single)


def test_modules_among_other_things() -> None:
    layer = rg.nn.MLP(2, [2, 1])

    def loss(tree: Any) -> Any:
        return tree["m"](tree["x"]) ** 2 * tree["k"]

    compiled = rg.compile(loss)
    for k in (1.0, 2.0):
        given = {"m": layer, "x": [0.5, -0.25], "k": k}
        value, gradient = compiled.value_and_grad(given)
        expected_value, expected = rg.value_and_grad(loss)(given)
        assert value == pytest.approx(expected_value)
        assert gradient["m"] == pytest.approx(expected["m"])
        assert gradient["x"] == pytest.approx(expected["x"])
        assert gradient["k"] == pytest.approx(expected["k"])
    assert compiled.stats().eager == 0, compiled.stats().reasons


def test_a_wrong_leaf_is_named_as_by_the_transforms() -> None:
    compiled = rg.compile(objective)
    for given in ({"a": [1.0, "x"]}, [object()], [Frozen(1.0, {2.0})], None, "text"):
        with pytest.raises(TypeError) as ours:
            compiled.value_and_grad(given)
        with pytest.raises(TypeError) as theirs:
            rg.value_and_grad(objective)(given)
        assert str(ours.value).removeprefix("the first argument") == str(theirs.value).removeprefix(
            "argument 0 of objective"
        )


def test_a_list_nested_900_deep() -> None:
    deep: Any = 2.0
    for _ in range(900):
        deep = [deep]

    def innermost(tree: Any) -> Any:
        while isinstance(tree, list):
            tree = tree[0]
        return tree * tree

    compiled = rg.compile(innermost)
    for _ in range(2):
        value, gradient = compiled.value_and_grad(deep)
        assert (value, innermost(gradient)) == (4.0, 16.0)
        assert compiled(deep) == 4.0
    w = Value(3.0)
    assert rg.compile(lambda tree: w * innermost(tree)).backward(deep) == 12.0
    assert w.grad == 4.0


def test_a_dataclass_that_is_more_than_its_fields_must_be_the_same_object() -> None:
    class Odd(Params):
        def __init__(self, w: float) -> None:
            super().__init__(w)
            self.extra = 3.0

    w = Value(2.0)
    compiled = rg.compile(lambda p: w * p.w * p.extra)
    odd = Odd(5.0)
    for _ in range(2):
        assert compiled.backward(odd) == 30.0
    odd.extra = 4.0
    assert compiled.backward(odd) == 40.0
    with pytest.raises(TypeError, match="has the attribute 'extra'"):
        compiled.value_and_grad(odd)
    holds_a_set = Params(1.0, {1, 2})
    sizes = rg.compile(lambda p: w * len(p.rest))
    for _ in range(2):
        assert sizes.backward(holds_a_set) == 4.0


@pytest.fixture
def effects() -> Any:
    yield flattened
    flattened.clear()


def test_a_user_function_that_takes_apart_may_do_anything(effects: list[Callable[[], None]]) -> None:
    compiled = rg.compile(objective)
    expected = [rg.value_and_grad(objective)(Segment(k, 2.0))[0] for k in (1.0, 2.0, 3.0)]
    for effect in (compiled.clear, lambda: compiled.value_and_grad(7.0), lambda: compiled([1.0, 2.0, 3.0])):
        effects[:] = [effect]
        for _ in range(2):
            assert [compiled.value_and_grad(Segment(k, 2.0))[0] for k in (1.0, 2.0, 3.0)] == expected
            assert compiled.backward_batch([(Segment(k, 2.0),) for k in (1.0, 2.0, 3.0)]) == sum(expected) / 3
    effects.clear()

    def fail() -> None:
        raise KeyError("user")

    effects[:] = [fail]
    with pytest.raises(KeyError, match="user"):
        compiled.value_and_grad(Segment(1.0, 2.0))


def test_what_a_registered_class_keeps_besides_is_compared() -> None:
    def scaled(s: Segment) -> Any:
        return (s.high - s.low) * s.scale

    compiled = rg.compile(scaled)
    for scale in (2, 3, 2):
        value, gradient = compiled.value_and_grad(Segment(1.0, 4.0, scale))
        assert (value, gradient.high, gradient.scale) == (3.0 * scale, float(scale), scale)
    assert compiled.stats().traces == 2
    incomparable = np.arange(2.0)  # == gives an array, which is neither true nor false
    for _ in range(2):
        assert compiled.value_and_grad(Segment(1.0, 4.0, 2.0))[0] == 6.0
        compiled.value_and_grad(Segment(1.0, 4.0, incomparable[0]))


def test_batches_of_trees() -> None:
    w = Value(0.5)

    def loss(p: Params) -> Any:
        return w * p.w * p.rest[0]

    members = [(Params(float(k), [k + 1.0]),) for k in range(5)]
    compiled = rg.compile(loss)
    for _ in range(2):
        w.grad = 0.0
        assert compiled.backward_batch(members) == pytest.approx(sum(loss(*m).data for m in members) / 5)
        assert w.grad == pytest.approx(sum(m[0].w * m[0].rest[0] for m in members) / 5)


def test_trees_become_arrays_for_jax() -> None:
    jax = pytest.importorskip("jax")
    w = Value(0.5)

    def loss(p: Params, s: Segment) -> Any:
        return w * p.w * p.rest[0] * p.rest[1] + s.low * s.high * s.scale

    g = rg.compile(loss).to_jax(Params(1.0, [2.0, 3.0]), Segment(1.0, 2.0, 3))
    assert float(g(g.parameters, *g.inputs(Params(4.0, [2.0, 5.0]), Segment(2.0, 7.0, 3)))) == pytest.approx(
        20.0 + 42.0
    )
    assert not g.fits(Params(1.0, [2.0, 3.0], name="q"), Segment(1.0, 2.0, 3))
    assert not g.fits(Params(1.0, [2.0, 3.0]), Segment(1.0, 2.0, 4))
    assert jax is not None


@dataclass
class State:
    x: Any
    steps: int = 0


def counts(state: State) -> Any:
    state.steps += 1
    return state.x * 2.0


def adds(state: State) -> Any:
    state.twice = state.x * 2.0  # type: ignore[attr-defined]
    return state.x * 2.0


def sets_first(items: Any) -> Any:
    items[0] = items[1]
    return items[0] * 2.0


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (counts, [State(1.0), State(2.0), State(3.0)]),
        (adds, [State(1.0), State(2.0), State(3.0)]),
        (sets_first, [[1.0, 1.0], [1.0, 2.0], [2.0, 3.0]]),  # at first to what is there
        (sets_first, [np.array([1.0, 1.0]), np.array([1.0, 2.0])]),
        (sets_first, [{0: 1.0, 1: 1.0}, {0: 1.0, 1: 2.0}]),
    ],
)
def test_an_argument_that_is_changed(function: Callable[[Any], Any], arguments: list[Any]) -> None:
    compiled = rg.compile(function)
    with pytest.warns(errors.CompileWarning, match="changes an argument"):
        compiled(copy.deepcopy(arguments[0]))
    for argument in arguments:
        ours, other = copy.deepcopy(argument), copy.deepcopy(argument)
        assert compiled(ours) == function(other)
        assert str(getattr(ours, "__dict__", ours)) == str(getattr(other, "__dict__", other))
    assert compiled.stats().hits == 0


def test_a_numpy_float_is_not_just_any_float() -> None:
    def told_apart(x: Any) -> Any:
        return [x * 2.0, (x, 3.0)]

    def single(x: Any) -> Any:
        return x * 2.0

    for function in (told_apart, single):
        compiled: Any = rg.compile(function)
        for _ in range(2):
            for x in (np.float64(1.5), 2.5, np.float64(3.5), 4.5):
                assert repr(compiled(x)) == repr(function(x))
        assert (compiled.stats().traces, compiled.stats().eager) == (2, 0)
    compiled = rg.compile(lambda items: items[0] + items[1])
    for items in ([np.float64(1.0), np.float64(2.0)], [1.0, 2.0], [np.float64(1.0), 2.0]):
        assert type(compiled(items)) is type(items[0] + items[1])
    rows = np.array([1.0, 2.0])
    compiled = rg.compile(lambda row: np.sum(row))
    assert [compiled(rows).item() for _ in range(3)] == [3.0] * 3
    assert list(map(type, compiled.call_batch([(rows,)] * 3))) == [np.float64] * 3


def test_a_value_in_an_argument_is_noticed_after_calls_without_one() -> None:
    """A program for numbers alone answers before anything looks for Values; with one, the results are Values."""

    @rg.compile
    def f(p: Any, record: Params) -> Any:
        return p * record.w * record.rest["x"][0]

    both = rg.value_and_grad(f)
    held = Value(3.0)
    calls = f._cache.calls
    for _ in range(3):
        assert both(2.0, Params(3.0, {"x": [4.0]})) == (24.0, 12.0)
        before = calls()
        assert both(2.0, Params(3.0, {"x": [4.0]})) == (24.0, 12.0)
        assert calls() == before + 1
        for record in (Params(held, {"x": [4.0]}), Params(3.0, {"x": [held]})):
            value, gradient = both(2.0, record)
            assert isinstance(value, Value)
            assert isinstance(gradient, Value)
            assert gradient.data == record.w * record.rest["x"][0]
        value, gradient = both(Value(2.0), Params(3.0, {"x": [4.0]}))
        assert isinstance(value, Value)
        assert gradient.data == 12.0


def test_other_arguments_are_answered_alike() -> None:
    @rg.compile
    def f(p: Any, record: Params, q: Any) -> Any:
        return p * record.w + q * q

    assert rg.grad(f, argnums=(2, 0))(2.0, Params(3.0), 5.0) == (10.0, 3.0)
    assert rg.grad(f, argnums=(2, 0))(2.0, Params(3.0), 5.0) == (10.0, 3.0)
    (q, p) = rg.grad(f, argnums=(2, 0))(2.0, Params(Value(3.0)), 5.0)
    assert (type(q), type(p)) == (Value, Value)


@pytest.mark.parametrize("odd", [None, 3.0, "text", (), [], [1.0], (1.0, 2.0), [1.0, 2.0, 3.0], [1.0, None], [1, 2.0]])
@pytest.mark.parametrize("kind", [list, tuple])
def test_one_row_of_many_that_is_another_thing(odd: Any, kind: type) -> None:
    """Rows of numbers are loaded before they are read."""

    def f(p: float, rows: list[Any]) -> Any:
        lengths = sum(len(row) for row in rows if isinstance(row, (list, tuple)))
        return p * sum(row[0] for row in rows if isinstance(row, (list, tuple)) and len(row) == 2) + lengths

    compiled = rg.compile(f)
    for place in (0, 1, 4, 7, 8, 11, 12, 30, 39):
        rows = [kind((0.5 * k, 1.0)) for k in range(40)]
        for _ in range(2):
            assert compiled.value_and_grad(2.0, rows) == rg.value_and_grad(f)(2.0, rows)
            rows[place] = odd
            assert compiled.value_and_grad(2.0, rows) == rg.value_and_grad(f)(2.0, rows)


@pytest.mark.parametrize("argnums", [1, (1,), (0, 1)])
def test_none_is_no_argument_to_differentiate(argnums: Any) -> None:
    def f(p: Any, d: Any) -> Any:
        return p * p

    for function in (f, rg.compile(f)):
        for _ in range(2):
            with pytest.raises(TypeError, match="argument 1 of f"):
                rg.grad(function, argnums=argnums)(2.0, None)


WEIGHT = Value(2.0)
KEYS: list[tuple[list[Any], list[Any]]] = [  # of one program, and of others
    (["a", "a"], ["b"]),
    ([1000, int("1000")], [1001, 1000.0]),
    ([1.5, float("1.5")], [2.5]),
    ([0.0], [-0.0, 0]),
    ([1], [True, 1.0]),
    ([b"x", bytes([120])], [b"y"]),
    ([("a", "b"), tuple("ab")], [("a", "c"), ("a",), ("b", "a")]),
    ([(1000, tuple("ab")), (int("1000"), tuple("ab"))], [(1000.0, tuple("ab")), (True, tuple("ab"))]),
]


@pytest.mark.parametrize(("same", "others"), KEYS)
def test_keys_are_compared_by_what_they_are(same: list[Any], others: list[Any]) -> None:
    """The program of one dictionary answers calls with another that has equal keys."""

    def function(table: dict[Any, float]) -> Any:
        return sum(WEIGHT * x * (key if isinstance(key, (int, float)) else 3.0) for key, x in table.items())

    compiled = rg.compile(function)
    for x, key in enumerate([*same, *others, *same]):
        table = {key: 1.0 + x}
        assert compiled(table).data == function(table).data
        assert math.copysign(1.0, compiled(table).data) == math.copysign(1.0, function(table).data)
    assert (compiled.stats().traces, compiled.stats().eager) == (1 + len(others), 0)
