"""Trees: taken apart and built again, every kind of container, on both engines."""

from __future__ import annotations

import enum
import functools
import random
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.trees import Frozen, Interval, Layer, plain, random_tree

import retrograd as rg
from retrograd import Value
from retrograd.engine.containers import note_record
from retrograd.engine.pytree import flatten, join, new_leaves, paths, without_values


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclass
class Segment:
    begin: Any
    end: Any


class Line:
    def __init__(self) -> None:
        self.w, self.b = Value(2.0), Value(1.0)

    def parameters(self) -> list[Value]:
        return [self.w, self.b, self.w]


@pytest.mark.parametrize("seed", range(60))
def test_a_tree_comes_back_as_it_went_in(seed: int) -> None:
    tree = [random_tree(random.Random(seed), 4)]
    leaves, structure = flatten(tree)
    assert all(isinstance(leaf, float) for leaf in leaves)
    assert structure.size == len(leaves) == len(paths(tree))
    assert len(set(paths(tree))) == len(leaves)
    assert not structure.holds_values
    assert plain(structure.collect(leaves)) == plain(tree)
    again, other = flatten(structure.fill([leaf + 1.0 for leaf in leaves]))
    assert again == [leaf + 1.0 for leaf in leaves]
    assert other.definition == structure.definition
    assert structure.definition == flatten(structure.collect(leaves))[1].definition


def test_trees_of_other_shapes_have_other_definitions() -> None:
    trees: list[Any] = [1.0, [1.0], (1.0,), [1.0, 1.0], [[1.0], 1.0], {"a": 1.0}, {"b": 1.0}, [None], [], [()], [{}]]
    trees += [np.zeros(1), np.zeros((1, 1)), Frozen(1.0), Layer(1.0, None), Interval(1.0, 2.0), Interval(1.0, 2.0, "s")]
    definitions = [flatten(tree)[1].definition for tree in trees]
    for i, one in enumerate(definitions):
        for j, other in enumerate(definitions):
            assert (one == other) == (i == j), (trees[i], trees[j])
    assert flatten(np.arange(3))[1].definition == flatten(np.zeros(3))[1].definition
    assert flatten(Line())[1].definition == flatten([1.0, 2.0])[1].definition


def test_arrays_of_every_layout_and_type() -> None:
    numbers = np.arange(24.0).reshape(2, 3, 4)
    for array in (
        numbers,
        numbers.T,
        numbers[::-1, 1:, ::2],
        numbers.astype(">f8"),
        numbers.astype(np.float32),
        np.asfortranarray(numbers),
        np.arange(6).reshape(2, 3),
        np.array(1.5),
        np.zeros((0, 3)),
    ):
        leaves, structure = flatten(array)
        assert [float(leaf) for leaf in leaves] == [float(number) for number in array.ravel()]
        assert structure.kind == "array"
        back = structure.collect([float(leaf) for leaf in leaves])
        assert back.dtype == np.float64
        np.testing.assert_array_equal(back, np.asarray(array, dtype=np.float64))
        filled = structure.fill([Value(leaf) for leaf in leaves])
        assert filled.dtype == object
        assert filled.shape == array.shape
    back[...] = 5.0  # a new array, which can be written


def test_kinds_of_dictionaries_keep_type_order_and_factory() -> None:
    ordered = OrderedDict(a=1.0, b=2.0)
    ordered.move_to_end("a")
    leaves, structure = flatten([ordered])
    assert leaves == [2.0, 1.0]
    (back,) = structure.collect([20.0, 10.0])
    assert list(back.items()) == [("b", 20.0), ("a", 10.0)]
    counts = defaultdict(lambda: 7.0, x=1.0)
    (again,) = flatten([counts])[1].collect([5.0])
    assert again == {"x": 5.0}
    assert again["missing"] == 7.0
    assert counts == {"x": 1.0}


def test_fields_of_a_dataclass_that_are_no_numbers_stay() -> None:
    layer = Layer([1.0, 2.0], 3)
    leaves, structure = flatten(layer)
    assert leaves == [1.0, 2.0, 3]
    assert structure.kind == "dataclass"
    assert structure.collect([4.0, 5.0, 6.0]) == Layer([4.0, 5.0], 6.0)
    assert paths(layer, "m") == ["m.w[0]", "m.w[1]", "m.b"]


def test_a_dataclass_is_built_without_its_init() -> None:
    """A gradient may be what __post_init__ refuses, and a number that it has converted must not be so twice."""
    structure = flatten(Frozen(1.0, [2.0]))[1]
    assert structure.collect(["a gradient", 3.0]).x == "a gradient"

    @dataclass
    class Doubled:
        x: float

        def __post_init__(self) -> None:
            self.x = 2.0 * self.x

    assert rg.value_and_grad(lambda d: d.x * d.x)(Doubled(1.5))[0] == 9.0


def test_attributes_besides_the_fields_are_refused() -> None:
    layer = Layer(1.0, 2.0)
    layer.extra = 3.0  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"Layer has the attribute 'extra', which is no field"):
        flatten(layer)

    @dataclass
    class Cached:
        x: Any

        @functools.cached_property
        def square(self) -> Any:
            return self.x * self.x

    cached = Cached(3.0)
    assert cached.square == 9.0
    assert rg.grad(lambda c: c.square)(cached).x == 6.0  # computed again of the variable


def test_what_is_registered() -> None:
    leaves, structure = flatten({"i": Interval(1.0, [2.0, 3.0], "s")}, "it")
    assert leaves == [1.0, 2.0, 3.0]
    back = structure.collect(["a", "b", "c"])["i"]
    assert (back.low, back.high, back.unit) == ("a", ["b", "c"], "s")
    with pytest.raises(ValueError, match="Interval has been registered already"):
        rg.register_pytree_node(Interval, lambda _: ((), None), lambda _, items: Interval(*items))
    for nodetype in (list, float, Value, int):
        with pytest.raises(TypeError, match="has a meaning in trees already"):
            rg.register_pytree_node(nodetype, lambda _: ((), None), lambda _, items: None)
    with pytest.raises(TypeError, match="takes a class"):
        rg.register_pytree_node("Interval", lambda _: ((), None), lambda _, items: None)  # type: ignore[arg-type]


def test_a_user_function_that_raises_is_heard() -> None:
    class Broken:
        pass

    def no(_: Any) -> Any:
        raise KeyError("broken")

    rg.register_pytree_node(Broken, no, no)
    with pytest.raises(KeyError, match="broken"):
        flatten([1.0, Broken()])


def test_the_first_thing_that_is_no_number_is_named() -> None:
    for tree, sentence in (
        ({"a": [1.0, (2.0, "text")], "b": object()}, r"it\['a'\]\[1\]\[1\] is 'text' of type str; expected a Value"),
        ([Layer(1.0, [1.0, {2.0}])], r"it\[0\]\.b\[1\] is \{2\.0\} of type set"),
        (Interval(1.0, 1j), r"it\[1\] is 1j of type complex"),
        (np.array([1.0, "x"], dtype=object), r"it\.flat\[1\] is 'x' of type str"),
        (None, r"it is None of type NoneType"),
        ("text", r"it is 'text' of type str"),
    ):
        with pytest.raises(TypeError, match=sentence):
            flatten(tree, "it")


def test_none_is_a_tree_without_leaves() -> None:
    assert flatten([None, 1.0, {"a": None}])[0] == [1.0]
    assert flatten([None, 1.0, {"a": None}])[1].collect([2.0]) == [None, 2.0, {"a": None}]
    assert rg.grad(lambda p: p["w"] * 3.0 if p["b"] is None else p["b"])({"w": 2.0, "b": None}) == {"w": 3.0, "b": None}
    with pytest.raises(TypeError, match="is None"):
        rg.jacobian(lambda x: None)(1.0)


def test_whether_a_value_is_among_the_leaves() -> None:
    for tree, holds in (
        ([1.0, [2.0]], False),
        ([1.0, [Value(2.0)]], True),
        (np.array([Value(1.0)]), True),
        (Layer(1.0, Value(2.0)), True),
        ([Interval(1.0, Value(2.0))], True),
        (Line(), False),
        ([Line(), 1.0], False),
    ):
        structure = flatten(tree)[1]
        assert structure.holds_values is holds, tree
        assert join([structure, structure]).holds_values is holds


def test_a_module_is_its_parameters() -> None:
    line = Line()
    leaves, structure = flatten([line, 5.0])
    assert leaves == [line.w, line.b, 5.0]
    copy, number = structure.fill([Value(7.0), Value(8.0), 9.0])
    assert (copy.w.data, copy.b.data, number) == (7.0, 8.0, 9.0)
    assert line.w.data == 2.0
    assert structure.collect([1.0, 2.0, 3.0]) == [[1.0, 2.0], 3.0]


def test_new_leaves() -> None:
    x = Value(2.0) * 3.0
    made = new_leaves([1.0, 2, True, np.float64(0.5), x])
    assert [type(leaf) for leaf in made] == [Value] * 5
    assert [leaf.data for leaf in made] == [1.0, 2.0, 1.0, 0.5, 6.0]
    assert [leaf._children for leaf in made] == [()] * 5
    with pytest.raises(OverflowError):
        new_leaves([10**400])


def test_empty_lists_beside_full_ones() -> None:
    for tree in ([], [[], 1.0], [1.0, []], [[1.0, 2.0], [], [3.0]], [[[]], [1.0]], {"a": [], "b": [1.0]}):
        leaves, structure = flatten(tree)
        assert structure.collect(leaves) == structure.fill(leaves) == tree
    tree = [1.0, 2.0]
    leaves, structure = flatten(tree)
    structure.fill(leaves).append(3.0)  # the caller's lists and the leaves are not what a function gets
    assert tree == leaves == [1.0, 2.0]


@pytest.mark.native
def test_that_there_is_no_value_is_seen_at_a_glance() -> None:
    pair, line = Pair(1.0, [2.0]), Segment(1.0, (2.0,))
    plain: list[Any] = [1.0, 1, True, None, "1", np.float64(1.0), [1.0, 2], (), (1.0, [(2.0,)])]
    plain += [{"w": [np.zeros((2, 3)).T, 1.0]}, pair, [line], {"a": pair}]
    values: list[Any] = [Value(1.0), [1.0, Value(1.0)], Pair(1.0, Value(2.0)), [Segment(Value(1.0), 2.0)]]
    others: list[Any] = [np.arange(3), np.zeros(2, dtype=">f8"), np.array([Value(1.0)], dtype=object), object()]
    nested: Any = 1.0
    for _ in range(20):
        nested = [nested]
    assert not without_values(pair)  # a class that has not been looked at
    note_record(pair)
    note_record(line)
    assert [tree for tree in plain if not without_values(tree)] == []
    assert [tree for tree in (*values, *others, nested) if without_values(tree)] == []


@pytest.mark.native
def test_records_of_members_of_enumerations_are_seen_at_a_glance() -> None:
    class Kind(enum.Enum):
        A = 1

    @dataclass
    class Event:
        kind: Kind
        size: Any

    note_record(Event(Kind.A, 1.0))
    note_record(np.int64(3))
    assert without_values([Event(Kind.A, 1.0), Kind.A, np.int64(4)])
    assert not without_values([Event(Kind.A, Value(1.0))])
    assert rg.value_and_grad(lambda w, e: w * e.size)(2.0, Event(Kind.A, 3.0)) == (6.0, 3.0)


@dataclass(eq=False)
class Sized:
    size: Any


class Size(Sized, enum.Enum):
    ONE = (Value(1.0),)


@pytest.mark.native
def test_a_member_of_an_enumeration_may_be_a_record() -> None:
    note_record(Size.ONE)
    assert not without_values(Size.ONE)


@pytest.mark.native
def test_a_class_that_is_registered_is_no_record() -> None:
    class Own(NamedTuple):
        x: float

    own = Own(1.0)
    note_record(own)
    assert without_values(own)
    rg.register_pytree_node(Own, lambda one: ((one.x,), None), lambda _, items: Own(*items))
    assert not without_values(own)
    note_record(own)
    assert not without_values(own)


def test_lists_may_be_nested_deep_but_not_without_end() -> None:
    deep: Any = 1.0
    for _ in range(250):
        deep = [deep]
    leaves, structure = flatten(deep)
    assert leaves == [1.0]
    assert structure.collect([1.0]) == deep
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        flatten(endless)


def test_leaves_must_be_as_many_as_there_are() -> None:
    structure = flatten([1.0, [2.0, 3.0]])[1]
    for count in (0, 2, 4):
        with pytest.raises((ValueError, IndexError)):
            structure.collect([0.0] * count)


def test_a_list_that_is_changed_while_it_is_taken_apart() -> None:
    class Sly:
        pass

    items: list[Any] = [1.0, Sly(), 2.0, 3.0]

    def flatten_sly(_: Any) -> Any:
        items.clear()
        return (5.0,), None

    rg.register_pytree_node(Sly, flatten_sly, lambda _, given: list(given))
    leaves, structure = flatten(items)
    assert leaves == [1.0, 5.0]
    assert structure.collect(["a", "b"]) == ["a", ["b"]]


class Plain:
    """No dataclass."""

    def __init__(self) -> None:
        self.x = 1.0


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ({"name": "a", "x": 1.0}, r"\['name'\] is 'a' of type str; .*: pass what is not differentiated as another arg"),
        ([Plain()], "make its class a dataclass, or register it with retrograd.register_pytree_node"),
    ],
)
def test_what_is_no_leaf_is_refused_with_a_way_out(tree: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        flatten(tree)
