"""What hands know from PyTorch, JAX and NumPy works, or is refused with the sentence that says what to write."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.parts import require

import retrograd as rg
from retrograd import habits, nn, optim
from retrograd.habits import keywords

# --- what does not exist says what does ---------------------------------------------------------------------

OWNERS: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {
    "Value": (lambda: rg.Value(2.0), habits.VALUE),
    "a result": (lambda: rg.Value(2.0) * 3.0, habits.VALUE),
    "Module": (lambda: nn.Linear(2, 1), habits.MODULE),
    "Optimizer": (lambda: optim.SGD([rg.Value(1.0)]), habits.OPTIMIZER),
    "nn": (lambda: nn, habits.NN),
    "optim": (lambda: optim, habits.OPTIM),
    "math": (lambda: rg.math, habits.MATH),
    "rg": (lambda: rg, habits.PACKAGE),
    "linalg": (lambda: rg.linalg, habits.LINALG),
    "Schedule": (lambda: optim.CosineSchedule(optim.SGD([rg.Value(1.0)]), 10), habits.SCHEDULE),
    "Compiled": (lambda: rg.compile(lambda x: x * x), habits.COMPILED),
}


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, (_, table) in OWNERS.items() for name in table])
def test_a_habit_is_answered_with_its_sentence(owner: str, name: str) -> None:
    make, table = OWNERS[owner]
    thing = make()
    assert not hasattr(thing, name)
    with pytest.raises(AttributeError) as caught:
        getattr(thing, name)
    assert table[name] in str(caught.value)
    assert "\n" not in str(caught.value)


ANSWERS = [table for _, table in OWNERS.values()]
ANSWERS += list(keywords.OF_ONE.values())
ANSWERS += [getattr(keywords, name) for name in keywords.__all__ if name.isupper() and name not in ("OF_ONE", "REDUCE")]
SENTENCES = sorted({sentence for table in ANSWERS for sentence in table.values()})
NAMED = re.compile(r"\b(?:rg|nn|optim|np|random|itertools|math)(?:\.[A-Za-z_]\w*)+")


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_a_sentence_names_exists(sentence: str) -> None:
    """A sentence may not send anybody to a name that is not there."""
    known = {"rg": rg, "nn": nn, "optim": optim, "np": np, "random": random, "itertools": itertools, "math": math}
    for name in NAMED.findall(sentence):
        if name != "retrograd.sklearn" and f"retrograd.{name}" not in sentence:
            eval(name, known)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("from retrograd import jit", "the name is rg.compile"),
        ("from retrograd import tensor", r"a number is rg\.Value\(2\.0\)"),
        ("import retrograd.numpy as jnp", "NumPy's functions take Values"),
        ("from retrograd import numpy as jnp", "NumPy's functions take Values"),
        ("import retrograd.nn.functional as F", r"functions of numbers are in rg\.math"),
        ("from retrograd.nn.functional import relu", r"functions of numbers are in rg\.math"),
        ("from retrograd.optim.lr_scheduler import StepLR", r"schedules are optim\.LinearSchedule"),
        ("from retrograd.autograd import grad", "are names of retrograd itself"),
        ("from retrograd.test_util import check_grads", r"the name is rg\.check_gradients"),
    ],
)
def test_an_import_is_answered_too(line: str, says: str) -> None:
    with pytest.raises(ImportError, match=says):
        exec(line)


def test_other_imports_are_pythons_own() -> None:
    for line in ("import retrograd.nonsense", "from retrograd import nonsense"):
        with pytest.raises(ImportError, match="nonsense") as caught:
            exec(line)
        assert "the name is" not in str(caught.value)
    before = len(sys.meta_path)
    habits.answer_imports()
    assert len(sys.meta_path) == before


@pytest.mark.parametrize("owner", OWNERS)
def test_another_name_is_pythons_own_error(owner: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = OWNERS[owner][0]().nonsense


@pytest.mark.parametrize(
    ("base", "arguments", "method", "other", "refused"),
    [
        (nn.Module, (), "to", "device", "cuda"),
        (optim.SGD, ([rg.Value(1.0)],), "minimize", "defaults", "state"),
        (rg.Value, (1.0,), "numpy", "device", "cuda"),
    ],
)
def test_what_another_base_class_has_is_found(
    base: Any, arguments: tuple[Any, ...], method: str, other: str, refused: str
) -> None:
    class Mixin:
        @property
        def kept(self) -> Any:
            return self.__dict__["_kept"]

        @kept.setter
        def kept(self, thing: Any) -> None:
            self.__dict__["_kept"] = [thing]

        @kept.deleter
        def kept(self) -> None:
            self.__dict__["_kept"] = "gone"

    setattr(Mixin, other, Mixin.kept)
    setattr(Mixin, method, lambda self: f"of the mixin, {type(self).__name__}")
    both = type("Both", (base, Mixin), {})
    thing = both(*arguments)
    setattr(thing, other, "one")
    assert (getattr(thing, method)(), getattr(thing, other)) == ("of the mixin, Both", ["one"])
    assert getattr(both, other) is Mixin.kept
    delattr(thing, other)
    assert getattr(thing, other) == "gone"
    setattr(thing, method, "its own")
    assert getattr(thing, method) == "its own"
    delattr(thing, method)
    assert {method, other} <= set(dir(thing))
    assert refused not in dir(thing)
    with pytest.raises(AttributeError, match=f"'Both' object has no attribute '{refused}'"):
        getattr(thing, refused)
    with pytest.raises(AttributeError, match=refused):
        delattr(thing, refused)
    setattr(thing, refused, 1)
    assert getattr(thing, refused) == 1
    delattr(thing, refused)
    assert not hasattr(thing, refused)


def test_type_checkers_do_not_believe_in_them() -> None:
    """The stub has none of them, and stubtest, which compares it with the class, knows why."""
    text = (Path(__file__).resolve().parents[1] / "tools" / "stubtest_allowlist.txt").read_text()
    allowed = text.partition("# What other libraries ask")[0].splitlines()[1:]
    assert allowed == [rf"retrograd\._native\.Value\.{name}" for name in habits.VALUE]


def a_line(x: Any, **keywords: Any) -> Any:
    return x


KEYWORDS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "Value": (lambda **k: rg.Value(2.0, **k), keywords.VALUE),
    "backward": (lambda **k: (rg.Value(2.0) * 3.0).backward(**k), keywords.BACKWARD),
    **{
        name: (lambda name=name, **k: getattr(rg, name)([rg.Value(1.0), 2.0], **k), keywords.of_engine(name))
        for name in ("sum", "mean", "max", "min", "logsumexp", "softmax")
    },
    "compile": (lambda **k: rg.compile(a_line, **k), keywords.COMPILE),
    "grad": (lambda **k: rg.grad(a_line, **k), keywords.GRAD),
    "value_and_grad": (lambda **k: rg.value_and_grad(a_line, **k), keywords.GRAD),
    "vmap": (lambda **k: rg.vmap(a_line, **k), keywords.VMAP),
    "Linear": (lambda **k: nn.Linear(2, 1, **k), keywords.LINEAR),
    "Embedding": (lambda **k: nn.Embedding(2, 1, **k), keywords.EMBEDDING),
    "SGD": (lambda **k: optim.SGD([rg.Value(1.0)], **k), keywords.OPTIMIZER),
    "Adam": (lambda **k: optim.Adam([rg.Value(1.0)], **k), keywords.OPTIMIZER),
    "AdamW": (lambda **k: optim.AdamW([rg.Value(1.0)], **k), keywords.OPTIMIZER),
    "StepSchedule": (lambda **k: optim.StepSchedule(optim.SGD([rg.Value(1.0)]), 2, **k), keywords.SCHEDULE),
    "primitive": (lambda **k: rg.primitive(**k), keywords.PRIMITIVE),
    "gradient": (lambda **k: rg.gradient(rg.Value(2.0), rg.Value(3.0), **k), keywords.GRADIENT),
    "check_gradients": (lambda **k: rg.check_gradients(a_line, (2.0,), **k), keywords.CHECK),
    "errstate": (lambda **k: rg.errstate(**k), keywords.ERRSTATE),
    "cross_entropy": (lambda **k: nn.cross_entropy([rg.Value(1.0), 2.0], 1, **k), keywords.CROSS_ENTROPY),
    "GELU": (lambda **k: nn.GELU(**k), keywords.ACTIVATION),
    "clip_grad_norm_": (lambda **k: optim.clip_grad_norm_([rg.Value(1.0)], 1.0, **k), keywords.CLIP),
}


@pytest.mark.parametrize(
    ("function", "keyword"), [(function, keyword) for function, (_, table) in KEYWORDS.items() for keyword in table]
)
def test_a_keyword_is_answered_with_its_sentence(function: str, keyword: str) -> None:
    call, table = KEYWORDS[function]
    with pytest.raises(TypeError) as caught:
        call(**{keyword: 1})
    assert str(caught.value) == f"{function}() takes no {keyword!r}: {table[keyword]}."


@pytest.mark.parametrize("function", KEYWORDS)
def test_another_keyword_is_pythons_own_error(function: str) -> None:
    with pytest.raises(TypeError, match=r"keyword argument") as caught:
        KEYWORDS[function][0](nonsense=1)
    assert "takes no 'nonsense':" not in str(caught.value)


def test_a_condition_is_no_number() -> None:
    """PyTorch's ``x.where(condition, other)`` would be ``True`` here, a number, and cut the gradient in silence."""
    x, y = rg.Value(2.0), rg.Value(3.0)
    for condition in (x > 0, x < 0):
        with pytest.raises(TypeError, match=r"write rg\.where\(condition, v, other\)"):
            x.where(condition, y)
    assert (x.where(y, 5.0).data, rg.where(x > 0, x, y).data) == (3.0, 2.0)


@pytest.mark.parametrize("make", [rg.grad, rg.value_and_grad, rg.jacobian, rg.hessian])
def test_a_transform_says_at_once_what_it_cannot_take(make: Callable[..., Any]) -> None:
    x = rg.Value(2.0)
    with pytest.raises(TypeError, match=r"the derivative of y by xs is rg\.gradient\(y, xs\)"):
        make(x * x, x)  # torch.autograd.grad
    with pytest.raises(TypeError, match="a transform takes a function and got 3 of type int"):
        make(3)
    with pytest.raises(TypeError, match=r"it is 2\.0\. The arguments come in a call"):
        make(a_line, 2.0)  # torch.autograd.functional.jacobian


def test_several_xs_are_one_argument() -> None:
    """``autograd.grad(y, x, w)`` of other libraries: the third was taken for ``create_graph``, and w for no x."""
    x, w = rg.Value(2.0), rg.Value(3.0)
    with pytest.raises(TypeError, match=r"several xs are one argument, rg\.gradient\(y, \[x, w\]\)"):
        rg.gradient(x * w, x, w)  # type: ignore[arg-type]
    assert rg.gradient(x * w, [x, w], False) == [3.0, 2.0]


def test_a_primitive_says_how_its_partials_are_given() -> None:
    def times(a: Any, b: Any) -> Any:
        return a * b

    with pytest.raises(TypeError, match=r"takes the partials by name and got .* write @rg\.primitive\(partials=…\)"):
        rg.primitive(times)  # type: ignore[call-arg]
    for rules in ((lambda a, b: b, lambda a, b: a), [None]):
        with pytest.raises(
            TypeError, match=r"one function of the same arguments.* write partials=lambda x, y: \(…, …\)"
        ):
            rg.primitive(partials=rules)  # type: ignore[arg-type]
    assert rg.grad(rg.primitive(partials=lambda a, b: (b, a))(times), argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)


def test_a_schedule_takes_an_optimizer() -> None:
    for schedule in (lambda: optim.CosineSchedule(0.1, 10), lambda: optim.LinearSchedule(0.1, 0.0, 10)):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"takes the optimizer whose lr it sets and got float 0\.1: write optim\."):
            schedule()


def test_a_rate_is_a_number() -> None:
    """Optax takes a function for the learning rate."""
    with pytest.raises(TypeError, match=r"a plain number and not .*: optim\.LambdaSchedule\(optimizer, f\)\."):
        optim.Adam([rg.Value(1.0)], lr=lambda step: 0.1)  # type: ignore[arg-type]
    for rate in (None, "fast", [0.1]):
        with pytest.raises(TypeError, match="the learning rate must be a plain number and not") as caught:
            optim.SGD([rg.Value(1.0)], lr=rate)  # type: ignore[arg-type]
        assert "Schedule" not in str(caught.value)


def test_a_batch_of_targets_is_no_target() -> None:
    logits = [rg.Value(1.0), rg.Value(2.0)]
    for target in ([1], np.array([1]), [0.0, 1.0]):
        with pytest.raises(TypeError, match="one sample, its logits and the index of its class"):
            nn.cross_entropy(logits, target)  # type: ignore[arg-type]
    for wrong in ("a", 1.5):
        with pytest.raises(TypeError, match="a selection takes an int"):
            nn.cross_entropy(logits, wrong)  # type: ignore[arg-type]


def test_nothing_returned_is_told_as_such() -> None:
    for make in (rg.grad, rg.value_and_grad, rg.hessian):
        with pytest.raises(TypeError, match="is None: check whether it returns its result"):
            make(lambda x: None)(1.0)


@pytest.mark.parametrize("name", ["softmax", "cross_entropy"])
def test_the_formulas_of_sentences_are_right(name: str) -> None:
    torch = require("torch")
    values, s = [0.5, -1.0, 2.0], 0.1
    theirs = torch.tensor(values, dtype=torch.float64)
    if name == "softmax":
        ours = [y.data for y in rg.softmax([rg.Value(v) / 2.0 for v in values])]
        assert ours == pytest.approx(torch.softmax(theirs / 2.0, 0).tolist(), rel=1e-14)
        return
    logits = [rg.Value(v) for v in values]
    smooth = (1 - s) * nn.cross_entropy(logits, 2) + s * (rg.logsumexp(logits) - rg.mean(logits))
    expected = torch.nn.functional.cross_entropy(theirs, torch.tensor(2), label_smoothing=s).item()
    assert smooth.data == pytest.approx(expected, rel=1e-14)


def test_only_functions_are_compiled() -> None:
    with pytest.raises(TypeError, match="compile takes a function and got 3"):
        rg.compile(3)  # type: ignore[call-overload]


def test_known_keywords_reach_their_function() -> None:
    assert rg.Value(data=2.0, label="x").label == "x"
    (y := rg.Value(2.0) * 3.0).backward(gradient=2.0)
    assert y.grad == 2.0
    assert list(inspect.signature(rg.grad).parameters) == ["f", "argnums", "has_aux"]
    assert list(inspect.signature(optim.SGD).parameters)[:2] == ["params", "lr"]
    with pytest.raises(TypeError, match="missing"):
        rg.Value(label="x")  # type: ignore[call-arg]


def test_a_habit_cannot_be_assigned_to_a_value() -> None:
    with pytest.raises(AttributeError, match=r"optim\.Adam\(model\.head\)"):
        rg.Value(1.0).requires_grad = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("owner", OWNERS)
def test_dir_lists_what_there_is(owner: str) -> None:
    instance, table = OWNERS[owner][0](), OWNERS[owner][1]
    assert set(table) & set(dir(instance)) == set()
    assert "__class__" in dir(instance) or inspect.ismodule(instance)


def test_dir_lists_what_a_subclass_has() -> None:
    class Tensor(rg.Value):
        def argmax(self) -> int:
            return 0

    tensor = Tensor(2.0)
    tensor.shape = ()
    assert {"argmax", "shape", "data", "backward"} <= set(dir(tensor))
    assert not {"cuda", "sort"} & set(dir(tensor))


def test_a_subclass_may_have_such_an_attribute() -> None:
    class Named(rg.Value):
        shape = (1,)

    value = Named(1.0)
    value.numpy = 5  # type: ignore[attr-defined]
    assert (value.shape, value.numpy) == ((1,), 5)  # type: ignore[attr-defined]


# --- a bare number -------------------------------------------------------------------------------------------


def test_a_misspelt_name_is_compared_with_those_that_there_are() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = rg.math.sigmod
    assert caught.value.obj is rg.math  # where Python, when it prints the error, looks for what was meant


def test_item_is_refused_as_float_is() -> None:
    loss = rg.Value(2.0) * 3.0
    for ask in (float, lambda v: v.item()):
        with pytest.raises(TypeError, match=r"v\.data is the plain number"):
            ask(loss)
    assert json.dumps(loss.data) == "6.0"


def test_numpy_does_not_ask_for_an_item() -> None:
    values = np.array([rg.Value(float(i)) for i in range(1, 5)], dtype=object)
    assert values[:1].item() is values[0]
    assert values.tolist()[1] is values[1]
    square = values.reshape(2, 2)
    results = [
        *(f(values) for f in (np.sum, np.mean, np.var, np.std, np.prod, np.max, np.min, np.median, np.cumsum)),
        *(f(square, axis=0) for f in (np.sum, np.mean, np.var, np.max)),
        *(np.dot(values, values), square @ square, np.einsum("ij,ij->", square, square), np.trace(square)),
        *(np.linalg.norm(values), np.average(values, weights=[1, 2, 3, 4]), np.clip(values, 2.0, 3.0)),
        *(np.argmax(values), np.sort(values), np.where([True, False, True, False], values, 0.0)),
    ]
    assert len(results) == 23


def test_none_clears_no_gradient() -> None:
    with pytest.raises(TypeError, match=r"call zero_grad\(\), or assign 0\.0"):
        rg.Value(1.0).grad = None  # type: ignore[assignment]


@pytest.mark.parametrize("decorate", [rg.no_grad, rg.no_grad()])
def test_no_grad_decorates_with_and_without_parentheses(decorate: Any) -> None:
    @decorate
    def square(x: rg.Value) -> rg.Value:
        return x * x

    assert square(rg.Value(3.0))._children == ()
    assert (rg.Value(3.0) * 2)._children != ()


def test_clip_is_numpys() -> None:
    assert [rg.math.clip(x, 0.0, 1.0) for x in (-1.0, 0.5, 2.0)] == [0.0, 0.5, 1.0]
    assert [rg.grad(rg.math.clip)(x, 0.0, 1.0) for x in (-1.0, 0.5, 2.0)] == [0.0, 1.0, 0.0]
    assert rg.math.clip(np.array([-1.0, 0.5]), 0.0, 1.0).tolist() == [0.0, 0.5]


# --- a batch is no sample -------------------------------------------------------------------------------------

BATCHES = [np.ones((2, 2)), np.ones((4, 2)), [[1.0, 2.0], [3.0, 4.0]], [(1.0, 2.0)], np.full((2, 2), rg.Value(1.0))]


@pytest.mark.parametrize("batch", BATCHES, ids=range(len(BATCHES)))
@pytest.mark.parametrize(
    "layer", [nn.Linear(2, 3), nn.Neuron(2), nn.Layer(2, 2), nn.MLP(2, [2, 1]), nn.Linear(2, 3, bias=False)], ids=repr
)
def test_a_batch_is_refused(layer: nn.Module, batch: Any) -> None:
    with pytest.raises(TypeError, match=r"\[model\(row\) for row in batch\]"):
        layer(batch)
    assert len([layer(row) for row in batch]) == len(batch)


def test_one_number_is_no_sample() -> None:
    with pytest.raises(TypeError, match="takes a sequence of Values and numbers and got float 3"):
        nn.Linear(2, 3)(3.0)  # type: ignore[arg-type]


def test_zero_grad_takes_pytorchs_argument() -> None:
    x = rg.Value(1.0)
    optimizer = optim.SGD([x])
    model = nn.Linear(1, 1)
    for given in ({}, {"set_to_none": True}, {"set_to_none": False}):
        x.grad = 3.0
        optimizer.zero_grad(**given)
        assert x.grad == 0.0
        model.weight[0][0].grad = 3.0
        model.zero_grad(**given)
        assert model.weight[0][0].grad == 0.0


def test_parameter_groups_are_several_optimizers() -> None:
    head, body = rg.Value(1.0), rg.Value(1.0)
    with pytest.raises(TypeError, match="make an optimizer for each group"):
        optim.Adam([{"params": [head], "lr": 0.1}, {"params": [body]}], lr=1.0)  # type: ignore[list-item]


# --- argnums by name, and both modes of the Jacobian ------------------------------------------------------------


def slope(x: float, w: Any, *, k: float = 2.0) -> Any:
    return x * x * w["a"] * k


def test_arguments_are_differentiated_by_name() -> None:
    w = {"a": rg.Value(5.0).data}
    assert rg.grad(slope, argnums="w")(3.0, w) == {"a": 18.0}
    assert rg.grad(slope, argnums=("x", "w"))(3.0, w) == (60.0, {"a": 18.0})
    assert rg.grad(slope, argnums="w")(3.0, w=w, k=1.0) == {"a": 9.0}
    assert rg.grad(slope)(x=3.0, w=w) == 60.0
    assert rg.value_and_grad(slope, argnums=["w"])(w=w, x=3.0) == (90.0, ({"a": 18.0},))
    assert rg.hessian(slope, argnums="x")(3.0, w=w) == 20.0


def test_wrong_names_are_refused() -> None:
    with pytest.raises(TypeError, match="has no argument 'z' by position; it has x, w"):
        rg.grad(slope, argnums="z")(3.0, {"a": 1.0})
    with pytest.raises(TypeError, match="has no argument 'k' by position"):
        rg.grad(slope, argnums="k")(3.0, {"a": 1.0}, k=1.0)
    with pytest.raises(TypeError, match="position or the name"):
        rg.grad(slope, argnums=1.5)(3.0, {"a": 1.0})  # type: ignore[arg-type]


@pytest.mark.native
def test_a_compiled_function_takes_names_too() -> None:
    f = rg.compile(lambda x, w: x * x * w)
    assert rg.grad(f, argnums="w")(3.0, 5.0) == 9.0
    assert rg.grad(f)(x=3.0, w=5.0) == 30.0


def test_the_jacobian_in_both_modes() -> None:
    def f(p: list[Any], s: Any) -> dict[str, Any]:
        return {"a": [p[0] * p[1], rg.math.sin(p[0]) * s], "b": 3.0}

    for argnums in (0, 1, (0, 1), "s"):
        forward, reverse = rg.jacfwd(f, argnums)([2.0, 5.0], 7.0), rg.jacrev(f, argnums)([2.0, 5.0], 7.0)
        assert forward == reverse == rg.jacobian(f, argnums)([2.0, 5.0], 7.0)
    assert rg.grad(lambda x: rg.jacfwd(lambda y: [y**3, y])(x)[0])(2.0) == 12.0


# --- modules ---------------------------------------------------------------------------------------------------


class Net(nn.Module):
    def __init__(self) -> None:
        self.first = nn.Linear(2, 3)
        self.rest = [nn.Tanh(), nn.Linear(3, 1)]
        self.again = self.first
        self.scale = rg.Value(1.0)

    def forward(self, x: Any, factor: float = 1.0) -> Any:
        for module in (self.first, *self.rest):
            x = module(x)
        return x[0] * factor


def test_a_call_runs_forward() -> None:
    net = Net()
    assert net([1.0, 2.0], factor=2.0).data == 2 * net.forward([1.0, 2.0]).data
    with pytest.raises(TypeError, match=r"define what it computes as its method forward\(self, x\)"):
        nn.Module()(1.0)


def test_modules_are_found_once_and_by_name() -> None:
    net = Net()
    assert [name for name, _ in net.named_modules()] == ["", "first", "rest.0", "rest.1"]
    assert list(net.modules()) == [net, net.first, *net.rest]
    assert list(net.children()) == [net.first, *net.rest]
    seen: list[nn.Module] = []
    assert net.apply(seen.append) is net
    assert seen == [*reversed(net.rest), net.first, net]
    net.parent = net  # refers back
    assert len(list(net.modules())) == 4


def test_train_and_eval_reach_every_module() -> None:
    net = Net()
    assert net.training
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    assert net.train().rest[0].training
    assert "training" not in net.state_dict()


@pytest.mark.parametrize("name", ["ReLU", "Tanh", "Sigmoid", "Softplus", "SiLU", "GELU"])
def test_activations_are_torchs(name: str) -> None:
    torch = require("torch")
    xs = [-2.0, -0.5, 0.3, 1.7]
    expected = getattr(torch.nn, name)()(torch.tensor(xs, dtype=torch.float64)).tolist()
    ours = getattr(nn, name)()
    assert ours(xs) == pytest.approx(expected, rel=1e-15)
    assert [y.data for y in ours([rg.Value(x) for x in xs])] == pytest.approx(expected, rel=1e-15)
    assert ours(xs[0]) == pytest.approx(expected[0], rel=1e-15)


def test_sequential_takes_modules_and_says_so() -> None:
    with pytest.raises(TypeError, match=r"write nn\.Tanh\(\)"):
        nn.Sequential(nn.Linear(1, 1), rg.math.tanh)  # type: ignore[arg-type]
    for modules, says in (([nn.Tanh()], r"\(\*modules\)"), ({"a": nn.Tanh()}, r"\(\*modules\.values\(\)\)")):
        with pytest.raises(TypeError, match=rf"write nn\.Sequential{says}"):
            nn.Sequential(modules)  # type: ignore[arg-type]
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    assert len(model) == 2
    assert model[-1] is list(model)[1]
    assert nn.Sequential()([1.0]) == [1.0]


def pair() -> tuple[nn.Sequential, Any, Any]:
    torch = require("torch")
    ours = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Sequential(nn.Linear(4, 4), nn.GELU()), nn.Linear(4, 2))
    theirs = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()),
        torch.nn.Linear(4, 2),
    ).double()  # fmt: skip
    return ours, theirs, torch


def same_outputs_and_gradients(ours: nn.Module, theirs: Any, torch: Any) -> None:
    x = [0.5, -1.0, 2.0]
    loss = rg.sum([y * y for y in ours(x)])
    loss.backward()
    their_loss = (theirs(torch.tensor(x, dtype=torch.float64)) ** 2).sum()
    their_loss.backward()
    assert loss.data == pytest.approx(their_loss.item(), rel=1e-13)
    for (name, parameter), other in zip(ours.state_dict().items(), theirs.parameters(), strict=True):
        assert parameter == pytest.approx(other.detach().numpy()), name
    gradients = [p.grad for p in ours.parameters()]
    assert gradients == pytest.approx(torch.cat([p.grad.ravel() for p in theirs.parameters()]).tolist(), rel=1e-12)


def test_a_state_dict_goes_to_torch_and_comes_from_it() -> None:
    ours, theirs, torch = pair()
    theirs.load_state_dict({name: torch.tensor(array) for name, array in ours.state_dict().items()})
    same_outputs_and_gradients(ours, theirs, torch)
    ours, theirs, torch = pair()
    ours.load_state_dict(theirs.state_dict())
    same_outputs_and_gradients(ours, theirs, torch)


def test_an_embedding_loads_torchs() -> None:
    torch = require("torch")
    theirs, ours = torch.nn.Embedding(5, 3), nn.Embedding(5, 3)
    ours.load_state_dict(theirs.state_dict())
    assert [v.data for v in ours(4)] == theirs(torch.tensor(4)).tolist()


@pytest.mark.native
def test_a_compiled_sequential_is_the_model() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    f = rg.compile(lambda x: model(x)[0])
    assert f([1.0, -2.0]).data == pytest.approx(model([1.0, -2.0])[0].data, rel=1e-15)
    assert f.stats().eager == 0
