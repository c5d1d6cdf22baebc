"""Numbers that live in a compiled program's stores: who looks at a Value, and who changes one, finds the truth."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import random
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.compiled_cases import KINDS, assert_near, assert_whole, backward, eagerly, native

import retrograd as rg
import retrograd.math as rmath
from retrograd import (
    Index,
    Value,
    engine,
    errors,
    nn,
    optim,
    take,
)

pytestmark = native


def model_and_loss() -> tuple[list[Value], Callable[..., Any]]:
    w = [Value(0.3 * i - 0.7) for i in range(6)]

    def loss(x: float) -> Any:
        hidden = [(w[i] * x + w[i + 1]).tanh() for i in range(4)]
        return sum(h * h for h in hidden) + w[5] * hidden[0]

    return w, loss


# --- training -----------------------------------------------------------------------------------------------------

OPTIMIZERS: dict[str, Callable[[Any], optim.Optimizer]] = {
    "sgd": lambda p: optim.SGD(p, 0.1),
    "momentum": lambda p: optim.SGD(p, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adam": lambda p: optim.Adam(p, 0.05),
    "decay": lambda p: optim.Adam(p, 0.05, weight_decay=0.02),
    "adamw": lambda p: optim.AdamW(p, 0.05, weight_decay=0.02),
}


@pytest.mark.parametrize("kind", ["vm", "interpreter", "exact"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_compiled_is_training(name: str, kind: str) -> None:
    """With looks at the model, eager steps and assignments in between, in the same places."""
    histories = []
    for compiled in (False, True):
        w, loss = model_and_loss()
        run = rg.compile(loss, **KINDS[kind]) if compiled else None
        optimizer = OPTIMIZERS[name](w)
        history = []
        for step in range(25):
            x = 0.1 * (step % 7) - 0.3
            if run is not None and step % 5 != 3:
                history.append(run.backward(x))
            else:  # eager steps, too
                result = loss(x)
                result.backward()
                history.append(result.data)
            if step == 6:
                w[2].data = 0.25
            if step == 8:
                w[1].grad += 0.5
            if step == 11:
                history.append(w[4].data + w[4].grad)
            optimizer.step()
            if step % 3:
                optimizer.zero_grad()
            elif step % 2:
                w[0].zero_grad()
        histories.append(history + [leaf.data for leaf in w] + [leaf.grad for leaf in w])
    bound = 1e-12 if kind == "vm" else 0.0
    assert_near((0.0, histories[1]), (0.0, histories[0]), bound, (name, kind))


@pytest.mark.parametrize("eps", [1e-8, 0.0, 1e-200, 1e-110, 10.0])
@pytest.mark.parametrize("kind", ["adam", "decay", "adamw"])
def test_adam_on_stores_is_adam(kind: str, eps: float) -> None:
    """Its roots come from series there: gradients of all magnitudes, unused parameters, squares that overflow, NaN."""
    sizes = [0.0, 5e-324, 1e-200, 1e-160, 1e-154, 1e-150, 3e-9, 0.7, 1e5, 1e149, 1e150, 1e156, 1e200, math.nan]
    finals = []
    for stored in (False, True):
        w = [Value(0.1 * i - 1.0) for i in range(37)]
        optimizer: Any = OPTIMIZERS[kind](w)
        optimizer.eps = eps
        run = rg.compile(lambda w=w: sum(p * p for p in w), tier="vm")
        run.backward() if stored else None
        for step in range(4):
            for i, p in enumerate(w):
                p.grad = sizes[(i + step // 3) % len(sizes)] * (-1) ** i
            optimizer.step()
        finals.append([p.data for p in w])
    for found, wanted in zip(finals[1], finals[0], strict=True):
        assert found == pytest.approx(wanted, rel=2e-15, abs=1e-15, nan_ok=True)


def test_looking_at_a_parameter_changes_no_step() -> None:
    finals = []
    for looks in (False, True):
        w, loss = model_and_loss()
        run, optimizer = rg.compile(loss, tier="vm"), optim.Adam(w, 0.05)
        for _ in range(20):
            run.backward(0.3)
            if looks:
                assert all(math.isfinite(p.data + p.grad) for p in w)
            optimizer.step()
            optimizer.zero_grad()
        finals.append([p.data for p in w])
    assert finals[0] == finals[1]


def test_training_the_gpt_compiled_is_training_it() -> None:
    documents = [[Index(i * 3 % 7) for i in range(n)] for n in (5, 3, 5, 6, 2, 3)]
    finals = []
    for compiled in (False, True):
        random.seed(0)
        model = nn.GPT(7, block_size=5, n_embd=8, n_head=2)
        optimizer = optim.Adam(model, 0.01)
        run = rg.compile(lambda tokens, model=model: model.loss(tokens), tier="vm")
        for document in documents * 2:
            if compiled:
                run.backward(document)
            else:
                model.loss(document).backward()
            optimizer.step()
            optimizer.zero_grad()
        if compiled:
            assert run.stats().traces == 4
            assert_whole(run, "vm")
        finals.append([parameter.data for parameter in model.parameters()])
    assert_near((0.0, finals[1]), (0.0, finals[0]), 1e-9, "weights")


def test_two_functions_share_parameters_and_each_has_others_of_its_own() -> None:
    a, b, c = Value(0.5), Value(-0.25), Value(2.0)
    first = rg.compile(lambda x: (a * x + b).tanh(), tier="vm")
    second = rg.compile(lambda x: a * c + c * x, tier="vm")
    for _ in range(3):
        for leaf in (a, b, c):
            leaf.grad = 0.0
        first.backward(0.7)
        second.backward(0.3)
        first.backward(0.2)
        found = [a.grad, b.grad, c.grad]
        for leaf in (a, b, c):
            leaf.grad = 0.0
        (a * 0.7 + b).tanh().backward()
        (a * c + c * 0.3).backward()
        (a * 0.2 + b).tanh().backward()
        assert found == pytest.approx([a.grad, b.grad, c.grad], rel=1e-14)
        a.data += 0.1
    assert_whole(first, "vm")


def test_parameters_in_two_optimizers_and_in_another_order() -> None:
    histories = []
    for compiled in (False, True):
        w, loss = model_and_loss()
        one, two = optim.SGD(w[:4], 0.1), optim.Adam(w[::-1], 0.05)
        run = rg.compile(loss)
        for step in range(10):
            if compiled:
                run.backward(0.3)
            else:
                loss(0.3).backward()
            (one if step % 2 else two).step()
            two.zero_grad()
            if step == 5:
                two.params = w[1:3]  # from here on the others keep their gradients
                two.__dict__.update(optim.Adam(w[1:3], 0.05).__dict__)
        histories.append([leaf.data for leaf in w] + [leaf.grad for leaf in w])
    assert_near((0.0, histories[1]), (0.0, histories[0]), 1e-12, "")


def test_an_eager_graph_that_is_older_than_a_compiled_step_notices_the_change() -> None:
    """The engine refuses to differentiate with numbers that an optimizer changed; stores must not hide the change."""
    w = Value(2.0)
    optimizer = optim.SGD([w], 0.1)
    compiled = rg.compile(lambda: w * w)
    compiled.backward()
    old = w * w * w
    optimizer.step()
    with pytest.raises(errors.ChangedValueError):
        old.backward()
    del old
    kept = w * 3.0
    compiled.backward()  # gradients alone: the graph stays valid
    before = w.grad
    kept.backward()
    assert w.grad == before + 3.0


# --- whoever looks settles ----------------------------------------------------------------------------------------


def stale(number: float = 2.0) -> tuple[Value, Any]:
    """A parameter whose number and gradient are, at this moment, in a store alone: 1.0 and 4.0 were the old ones."""
    w = Value(number)
    optimizer = optim.SGD([w], 0.25)
    compiled = rg.compile(lambda: w * w)
    compiled.backward()
    optimizer.step()  # 2 - 0.25 * 4 = 1
    return w, compiled


def looks() -> dict[str, Callable[[Value], Any]]:
    """Every attribute, method and function that can see a Value's number or gradient."""
    found: dict[str, Callable[[Value], Any]] = {}
    for name in sorted(dir(Value)):
        if name in (
            "__class__",
            "__init__",
            "__new__",
            "__init_subclass__",
            "__subclasshook__",
            "__delattr__",
            "__setattr__",
        ):
            continue

        def look(w: Value, name: str = name) -> Any:
            attribute = getattr(w, name)
            if not callable(attribute):
                return attribute
            for arguments in ((), (0.5,), (0.5, 0.25), ({},), ("",)):
                try:
                    return attribute(*arguments)
                except (TypeError, AttributeError) as error:
                    last = error
            return type(last)

        found[f"Value.{name}"] = look
    for name in sorted(engine.functions):
        found[f"functions.{name}"] = lambda w, name=name: _call(engine.functions[name], w)
    for name in rmath.__all__:
        found[f"math.{name}"] = lambda w, name=name: _call(getattr(rmath, name), w)
    return found | {
        "repr": repr,
        "str": str,
        "format": lambda w: f"{w:.3f}",
        "bool": bool,
        "round": lambda w: round(w.data, 2),
        "copy": lambda w: copy.copy(w).data,
        "deepcopy": lambda w: [copy.deepcopy(w).data, copy.deepcopy([w, w])[1].grad],
        "pickle": lambda w: [pickle.loads(pickle.dumps(w)).data, pickle.loads(pickle.dumps(w)).grad],
        "sum": lambda w: sum([w, w]).data,
        "max": lambda w: max([w, Value(1.5)]).data,
        "sorted": lambda w: [v.data for v in sorted([w, Value(1.5), Value(0.5)])],
        "compare": lambda w: [w < 1.5, w > 1.5, w == 1.0, w != 1.0, w <= Value(1.0)],
        "operands": lambda w: [v.data for v in engine.operands(w * 2.0) if isinstance(v, Value)],
        "array": lambda w: np.array([w]).sum().data,
        "ufunc": lambda w: np.exp(np.array([w]))[0].data,
        "apply": lambda w: engine.apply("mul", w, w).data,
        "reduce": lambda w: engine.reduce("sum", [w, w]).data,
        "weighted_sum": lambda w: engine.weighted_sum([w], [2.0], w).data,
        "gradients": lambda w: engine.gradients(w * w, 1.0, [w]),
        "backward": lambda w: ((w * w).backward(), w.grad)[1],
        "gradient": lambda w: rg.gradient(w * w * w, w),
        "second": lambda w: rg.gradient(rg.gradient(w * w * w, w, create_graph=True), w),
        "hessian": lambda w: rg.hessian(lambda v: v[0] * v[0] * w)([1.0])[0],
        "jvp": lambda w: rg.grad(lambda v: v * w * v)(2.0),
        "sgd": lambda w: (optim.SGD([w], 0.5).step(), w.data)[1],
        "adam": lambda w: (optim.Adam([w], 0.5).step(), w.data)[1],
        "sgd_list": lambda w: (engine.sgd_step([w], None, 0.5, 0.0, 0.0, False), w.data)[1],
        "zero": lambda w: (engine.zero_gradients([w]), w.grad, w.data)[1:],
        "zero_grad": lambda w: (w.zero_grad(), w.grad, w.data)[1:],
        "set_data": lambda w: (setattr(w, "data", 5.0), w.data, w.grad)[1:],
        "set_grad": lambda w: (setattr(w, "grad", 5.0), w.data, w.grad)[1:],
        "add_grad": lambda w: (setattr(w, "grad", w.grad + 1.0), w.grad)[1],
        "Value(v)": lambda w: Value(w.data).data,
        "user_node": lambda w: Value(w.data * 2, children=(w,), local_grads=(2.0,)).data,
        "restore": lambda w: engine.restore("mul", (w, 3.0), w.data * 3.0, 0.0).data,
        "explain": lambda w: (
            rg.explain(w * w).root.data if hasattr(rg.explain(w * w), "root") else str(rg.explain(w * w))[:200]
        ),
        "take": lambda w: take([w, w], 1).data,
        "compiled": lambda w: rg.compile(lambda: w * 3.0)(),
        "argument": lambda w: rg.compile(lambda v: v * 3.0)(w),
        "eager_in_no_grad": lambda w: _without_gradients(lambda: (w * 2.0).data),
        "interior": lambda w: [node.data for node in engine.interior(w * 2.0 + 1.0)],
        "state": lambda w: (w.data, w.grad, w._prev == set(), w._op, w.label),
    }


def _call(function: Callable[..., Any], w: Value) -> Any:
    for arguments in ((w,), (w, 0.5), ([w, w],), ([w, 2.0], [w, w]), (w, 0.5, 0.25)):
        try:
            return function(*arguments)
        except (TypeError, AttributeError) as error:
            last = error
    return type(last)


def _without_gradients(function: Callable[[], Any]) -> Any:
    with rg.no_grad():
        return function()


def plain(thing: Any) -> Any:
    """What can be compared: Values as their numbers, containers as tuples of them, other objects as their types."""
    if isinstance(thing, Value):
        return ("Value", thing.data, thing.grad)
    if isinstance(thing, (list, tuple, set)):
        return tuple(map(plain, thing))
    if isinstance(thing, dict):
        return tuple((key, plain(item)) for key, item in thing.items())
    return thing if isinstance(thing, (float, int, str, bool, type(None))) else type(thing)


@pytest.mark.parametrize("name", looks())
def test_a_look_at_a_stale_parameter_sees_the_truth(name: str) -> None:
    look = looks()[name]
    w, compiled = stale()
    try:
        found = plain(look(w))
    except Exception as error:
        found = (type(error), str(error))
    truth = Value(1.0)
    truth.grad = 4.0
    try:
        expected = plain(look(truth))
    except Exception as error:
        expected = (type(error), str(error))
    if name not in ("Value.__hash__", "Value.__sizeof__", "Value.__reduce_ex__", "Value.__reduce__", "explain"):
        assert found == expected
    assert (w.data, w.grad) == (truth.data, truth.grad)
    # And the program goes on from there.
    w.grad = 0.0
    assert compiled.backward() == truth.data**2
    assert w.grad == 2.0 * truth.data


def test_models_are_copied_pickled_saved_and_loaded_after_compiled_training(tmp_path: Any) -> None:
    random.seed(0)
    model = nn.MLP(2, [3, 1])
    optimizer = optim.Adam(model, 0.1)

    def loss_of(model: nn.MLP) -> Any:
        return (model([0.3, -0.2]) - 0.5) ** 2

    compiled = rg.compile(lambda: loss_of(model))
    for _ in range(3):
        optimizer.zero_grad()
        compiled.backward()
        optimizer.step()
    makers: list[Callable[[], Any]] = [
        lambda: copy.deepcopy(model),
        lambda: pickle.loads(pickle.dumps(model)),
        lambda: _loaded(model.state_dict()),
    ]
    for make in makers:
        for step in (optimizer.step, compiled.backward):
            step()
            other = make()
            assert [p.data for p in other.parameters()] == [p.data for p in model.parameters()]
            assert loss_of(other).data == pytest.approx(compiled(), rel=1e-13)
    model.load_state_dict({name: array * 0.5 for name, array in model.state_dict().items()})
    leaves = list(model.parameters())
    assert_near(backward(compiled, leaves, ()), eagerly(lambda: loss_of(model), leaves, ()), 1e-13, "loaded")


def _loaded(state: Any) -> nn.MLP:
    model = nn.MLP(2, [3, 1])
    model.load_state_dict(state)
    return model


# --- lives --------------------------------------------------------------------------------------------------------


def test_parameters_that_die_while_programs_live() -> None:
    a, box = Value(1.5), [Value(2.0)]
    first = rg.compile(lambda: a * box[0])
    second = rg.compile(lambda: a * a)
    first.backward()
    second.backward()
    assert first.program()
    box[0] = Value(5.0)
    gc.collect()
    assert first.program()  # of the program that has lost a parameter
    a.grad = 0.0
    assert second.backward() == 2.25
    assert a.grad == 3.0
    assert first.backward() == 7.5
    assert (a.grad, box[0].grad) == (8.0, 1.5)
    assert first.stats().eager == second.stats().eager == 0
    assert "traced: box has changed" in first.stats().reasons


def test_programs_that_die_while_parameters_live() -> None:
    w, compiled = stale()
    reference = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert reference() is None
    assert (w.data, w.grad) == (1.0, 4.0)
    (w * w).backward()
    assert w.grad == 6.0
    assert rg.compile(lambda: w * w).backward() == 1.0


def test_a_model_that_keeps_its_own_compiled_step_can_be_collected() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            self.w = Value(2.0)
            self.step = rg.compile(lambda model, x: model.w * x)

    model = Model()
    model.step.backward(model, 3.0)
    reference = weakref.ref(model)
    del model
    gc.collect()
    assert reference() is None


@pytest.mark.long
def test_optimizers_and_functions_may_go_in_any_order() -> None:
    for order in range(6):
        w = [Value(1.0), Value(2.0)]
        things: list[Any] = [
            optim.SGD(w, 0.5),
            rg.compile(lambda w=w: w[0] * w[1]),
            rg.compile(lambda w=w: w[1] * 3.0),
        ]
        things[1].backward()
        things[2].backward()
        things[0].step()
        expected = [0.0, 0.0]
        for k in (order % 3, order // 3, 0):
            if k < len(things):
                del things[k]
                gc.collect()
            assert [v.data for v in w] == expected
        things.clear()
        w[0].data = 4.0
        assert rg.compile(lambda w=w: w[0] * 2.0).backward() == 8.0


@pytest.mark.long
@pytest.mark.memory
def test_memory_stays_flat_over_many_compiles() -> None:
    import resource

    def rounds(count: int) -> None:
        for k in range(count):
            w = [Value(float(i)) for i in range(50)]
            compiled = rg.compile(lambda x, w=w: sum(v * x * v for v in w), tier="vm")
            compiled.backward(float(k))
            compiled.backward_batch([(1.0,), (2.0,)])
            if k % 100 == 0:
                gc.collect()  # which of them the collector keeps for later depends on when it happens to run

    rounds(300)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rounds(1500)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # kilobytes


def test_a_function_keeps_a_limited_number_of_programs() -> None:
    w = Value(2.0)
    compiled = rg.compile(lambda name: w * int(name))
    for n in range(300):
        assert [compiled.backward(str(n)), compiled.backward(str(n))] == [2.0 * n, 2.0 * n]
    assert len(compiled.stats().programs) == 256
    assert w.grad == 2 * sum(range(300))
    compiled.clear()
    assert compiled.stats().programs == ()
    assert compiled.backward("1") == 2.0


@pytest.mark.native
def test_explain_and_inspect_show_the_scalar_graph_of_a_compiled_function() -> None:
    weights = [Value(0.5), Value(-1.0)]

    def neuron(x: list[float]) -> Any:
        total: Any = 0.0
        for weight, number in zip(weights, x, strict=True):
            total = total + weight * number
        return total.tanh() * 2.0

    compiled = rg.compile(neuron, tier="vm")
    explanation = rg.explain(compiled, x=[1.0, 2.0])
    assert explanation.trace.to_json() == rg.explain(neuron, x=[1.0, 2.0]).trace.to_json()
    inspection = compiled.inspect([1.0, 2.0])
    assert inspection.value.data == neuron([1.0, 2.0]).data
    lines = {
        inspection.instruction(node)
        for node in rg.topological_order(inspection.value)
        if node._children and inspection.instruction(node)
    }
    assert len(lines) == 3
    assert all("test_parameter_buffers.py" in line for line in lines if line)
    assert all(line in inspection.program for line in lines if line)
    assert inspection.instruction(weights[0]) is None
    with pytest.raises(ValueError, match="does not depend on any Value"):
        rg.compile(lambda: 1.0).inspect()


def test_adams_mode_of_the_processor_ends_with_its_step() -> None:
    """It reads and writes numbers too small to be normal as zero; nothing else does."""
    w = Value(1.0)
    compiled = rg.compile(lambda: w * 1e-310, tier="vm")
    adam = rg.optim.Adam([w], lr=0.0)
    compiled.backward()
    adam.step()
    assert compiled() == 1e-310
    assert (Value(5e-324) * 1.0).data == 5e-324 == float("5e-324") * w.data


def test_statistics_in_words() -> None:
    """How calls were answered, each program, and every reason why one was traced or run eagerly."""
    w = Value(2.0)
    compiled = rg.compile(lambda x: (w * x).log() if x > 0.0 else w * x, tier="vm")
    for x in (1.0, 2.0, -1.0, 3.0):
        compiled.backward(x)
    w.data = -1.0
    with pytest.raises(ValueError, match="log"):
        compiled(1.0)
    told = str(compiled.stats()).splitlines()
    assert told[0] == "4 calls answered by 2 programs, 2 traces, 1 run eagerly"
    assert told[1].startswith("  program ")
    assert " (vm): " in told[1]
    assert told[3:] == [
        "  1 time: traced: arguments of a new structure",
        "  1 time: traced: a comparison had another outcome",
        "  1 time: run eagerly: an operation left its domain, or a number was not finite",
    ]
