"""Run with faults.so preloaded: allocations of each work fail in turn, one at a time, and nothing may break.

Prints one line a work: how many allocations failed, how often the work raised MemoryError and how often it did
without. (A thread's first operation is left out: the C library ends the process when it has no memory to
register the thread's end, and Python's own threads wait for ever.) Ends with a sentence and status 1 when a
work ends in anything else, gives another result afterwards, or has changed a gradient that it should not have.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import itertools
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

import retrograd as rg
from retrograd import engine, errors
from retrograd.engine import Value

_arm = ctypes.CDLL(None).faults_arm
_arm.argtypes = [ctypes.c_long]
_arm.restype = ctypes.c_long
MOST = 20_000
#: Every so many allocations one fails: all of them in make accuracy.
STRIDE = 1 if os.environ.get("RETROGRAD_ALL") else 9

x, w, b = Value(0.5, label="x"), Value(-1.5, label="w"), Value(2.0)
LEAVES = [x, w, b]


def arm(n: int) -> int:
    """Let allocation ``n`` from now on fail; whether the last one did."""
    while True:
        try:
            return int(_arm(n))
        except (MemoryError, ctypes.ArgumentError):  # it was this call's own
            continue


def graph() -> Any:
    return (
        ((x * w + b).tanh() * x + 3.0).exp() + rg.softmax([x, w, b])[1] + rg.dot([x, w], [b, 2.0]) + rg.where(x, w, b)
    )


def with_users_nodes() -> Any:
    inner = x * w
    given = Value(inner.data * 2, (inner, b), (2.0, 1.0))
    mine = Value(given.data, (given,), "mine")

    def push() -> None:
        given.grad += mine.grad

    mine._backward = push
    return mine * x


def backward(make: Callable[[], Any]) -> Callable[[], Any]:
    def work() -> list[float]:
        y = make()
        try:
            y.backward()
        except MemoryError:
            if any(leaf.grad != 0.0 for leaf in LEAVES):
                fail("a pass that failed has left a gradient")
            raise
        return [leaf.grad for leaf in LEAVES]

    return work


def changed() -> list[float]:
    y = graph()
    w.data = 0.25
    try:
        y.backward()
    except errors.ChangedValueError:
        w.data = -1.5
    y.backward()
    return [leaf.grad for leaf in LEAVES]


def observed() -> int:
    seen: list[Any] = []
    before = engine.set_observer(seen.append)
    try:
        graph()
    finally:
        engine.set_observer(before)
    return len(seen)


def refused() -> list[str]:
    found = []
    for attempt in (lambda: x / 0.0, lambda: w.log(), lambda: float(x), lambda: x + "a", lambda: Value(None)):  # type: ignore[arg-type]
        try:
            attempt()
        except MemoryError:
            raise
        except (ArithmeticError, TypeError, ValueError) as error:
            found.append(type(error).__name__)
    return found


def pickled() -> float:
    try:
        return float(pickle.loads(pickle.dumps(graph())).data)
    except pickle.PicklingError as error:  # what pickle makes of a MemoryError
        raise MemoryError from error


def steps() -> list[float]:
    parameters = [Value(float(i)) for i in range(20)]
    for parameter in parameters:
        parameter.grad = 1.0
    moments = np.zeros(20), np.zeros(20)
    engine.sgd_step(parameters, None, 0.1, 0.0, 0.0, False)
    engine.adam_step(parameters, *moments, 1.0, 0.1, 0.9, 0.999, 1e-8, 0.0, False)
    engine.zero_gradients(parameters)
    return [p.data for p in parameters]


def looked_at() -> list[object]:
    y = (x * 2.0 + w) ** 2.0
    return [y._op, len(y._prev), [c.data for c in y._children], y._local_grads, repr(y), f"{y:.3f}", hash(y) == hash(y),
            y < 3, y == x, [len(engine.operands(node)) for node in engine.interior(y)], engine.row_name(y),
            x.atan2(w).data, y.detach().data, (x * 1.5)._local_grads]  # fmt: skip


def long_chain() -> float:
    y = x
    for _ in itertools.repeat(None, 1_500_000):  # more than the engine keeps for the next graph
        y = y + 0.0
    return y.data


def labelled() -> list[str]:
    values = [x * float(i) for i in range(40)]
    for i, value in enumerate(values):
        value.label = f"v{i}"
    return [value.label for value in values]


def loss(v: Any, tokens: list[Any]) -> Any:
    """With parameters, a sequence, a selection, a branch and a power: what a program has parts for."""
    scores = [leaf * v + 0.5 for leaf in LEAVES]
    chosen = rg.take(scores, tokens[0])
    return rg.logsumexp(scores) - chosen * (2.0 if v > 0.0 else 3.0) + (chosen * chosen + 1.0) ** 1.5


CALLS = [(0.5, [rg.Index(1)]), (0.25, [rg.Index(2)]), (0.75, [rg.Index(0), rg.Index(1)])]


def rounded(numbers: Any) -> Any:
    """A fast program and the engine, which stands in for it without memory, differ in the last digits."""
    if isinstance(numbers, (list, tuple)):
        return [rounded(number) for number in numbers]
    return f"{numbers:.10g}"


def compiled(exact: bool) -> Callable[[], Any]:
    """A function compiled anew, and called in every way."""

    def work() -> list[Any]:
        function = rg.compile(loss, exact=exact, tier="auto" if exact else "vm")
        return [rounded([function(*CALLS[0]), function.value_and_grad(*CALLS[1])]), replayed(function)()]

    return work


def made_late() -> list[Any]:
    """A function whose program is made, and compared with the interpreter, when it has run a few times."""
    function = rg.compile(loss)
    return [rounded(function.value_and_grad(*CALLS[1])) for _ in range(10)]


def replayed(function: Any) -> Callable[[], Any]:
    """A pass, and one over several calls; when it fails, no gradient has changed."""

    def work() -> list[Any]:
        found: list[Any] = []
        for call in (lambda: function.backward(*CALLS[0]), lambda: function.backward_batch(CALLS)):
            before = [leaf.grad for leaf in LEAVES]
            try:
                value = call()
            except MemoryError:
                if [leaf.grad for leaf in LEAVES] != before:
                    fail("a compiled pass that failed has left a gradient")
                raise
            found += [value, [leaf.grad for leaf in LEAVES]]
        return rounded(found)

    return work


def looked_at_programs() -> list[object]:
    """What the native side tells of its programs. (inspect() asks for lines, and CPython 3.11 loses the errors of
    ``frame.f_back``.)"""
    programs = READY._cache
    READY(*CALLS[0])
    if not programs.facts():  # calls that failed have made it back off
        READY.clear()
        READY(*CALLS[0])
    number = programs.facts()[0]["number"]
    listing = programs.listing(number)
    codes = [instruction["code"] for instruction in listing["instructions"]]
    sizes = [len(programs.kernel_calls(number, 1, 0)), len(programs.profile(number, 1, 1, 1)), len(listing["nodes"])]
    return [programs.tier(), programs.verify(number), sorted(programs.memory(number, 1)), *sizes, *codes]


READY = rg.compile(loss, tier="vm")
EXACTLY = rg.compile(loss, exact=True)


def trained() -> list[Any]:
    """What optimizers do with parameters whose stores are looked for anew."""
    for leaves, call in ((LEAVES, CALLS[0]), ([w, x], CALLS[1]), (LEAVES, CALLS[0])):
        parameters = engine.Parameters(leaves)
        engine.zero_gradients(parameters)
        READY.backward(*call)
        engine.sgd_step(parameters, None, 0.1, 0.0, 0.0, False)
    return rounded([[leaf.data for leaf in LEAVES], [leaf.grad for leaf in LEAVES]])


WORKS: dict[str, Callable[[], Any]] = {
    "recording": lambda: graph().data,
    "by name": lambda: [
        engine.apply("hypot", x, 2.0).data, engine.evaluate("exp", 1.0), engine.apply("where", x, w, 1.0).data
    ],
    "sequences": lambda: [rg.sum([x, 1.0]).data, *(f([x, 1.0, w]).data for f in (rg.mean, rg.max, rg.min, rg.logsumexp,
                                                                                rg.prod))],
    "numbers": lambda: [rg.softmax([1.0, 2.0]), rg.dot([1.0], [2.0]), rg.math.maximum(1.0, 2.0)],
    "a neuron": lambda: engine.weighted_sum([x, w], [b, 3.0], x).data,
    "a pass": backward(graph),
    "a pass through users' nodes": backward(with_users_nodes),
    "gradients": lambda: rg.gradient(graph(), LEAVES),
    "gradients through users' nodes": lambda: rg.gradient(with_users_nodes(), LEAVES),
    "second derivatives": lambda: rg.hessian(lambda p: (p[0] * p[1]).tanh() * p[0])([0.5, 2.0]),
    "changed values": changed,
    "an observer": observed,
    "refusals": refused,
    "looking": looked_at,
    "labels": labelled,
    "copies": lambda: [copy.copy(x * w).data, copy.deepcopy(graph()).data, pickled()],
    "optimizers": steps,
    "compiling": compiled(exact=False),
    "compiling exactly": compiled(exact=True),
    "compiling late": made_late,
    "a program": replayed(READY),
    "an exact program": replayed(EXACTLY),
    "training a program": trained,
    "looking at programs": looked_at_programs,
    "a long chain": long_chain,
}  # fmt: skip


def fail(says: str) -> NoReturn:
    arm(0)
    print(says)
    sys.exit(1)


#: Works that raise on purpose. CPython 3.11 itself loses an error when there is no memory for the frame of its
#: traceback, and says "error return without exception set", also of a method in Python that does nothing but raise.
LOSING = ("refusals", "changed values")


def afresh() -> None:
    """Undo what a work did, or half did."""
    engine.set_observer(None)
    for leaf, number in zip(LEAVES, (0.5, -1.5, 2.0), strict=True):
        leaf.data, leaf.grad = number, 0.0


def attempt(name: str, work: Callable[[], Any], n: int, expected: str) -> str:
    """What came of it when allocation ``n`` failed: "raised", "did without", or "over" when there were fewer."""
    arm(n)
    try:
        result = work()
    except MemoryError:
        arm(0)
        if engine.set_tracer(None) is not None:
            fail(f"{name}: when allocation {n} failed, the trace was left without its end")
        return "raised"
    except SystemExit:
        raise
    except BaseException as error:
        if isinstance(error, SystemError) and name in LOSING and arm(0):
            return "raised"
        fired = arm(0)
        fail(f"{name}: {f'when allocation {n} failed' if fired else 'without a failed allocation'}, {error!r}")
    try:
        fired = arm(0)
    except MemoryError:  # entering arm() was what failed
        fired = arm(0)
    if repr(result) != expected:
        fail(f"{name}: when allocation {n} failed, {result!r} instead of {expected}")
    return "did without" if fired else "over"


def torture(name: str, work: Callable[[], Any]) -> None:
    for _ in range(3):
        afresh()
        expected = repr(work())
    counts = {"raised": 0, "did without": 0}
    for n in range(1, MOST, STRIDE):
        afresh()
        came = attempt(name, work, n, expected)
        afresh()
        if repr(work()) != expected:
            fail(f"{name}: after allocation {n} failed, it is no longer {expected}")
        if came == "over":
            break
        counts[came] += 1
    else:
        fail(f"{name}: more than {MOST} allocations")
    total, (raised, survived) = sum(counts.values()), counts.values()
    print(
        f"{name}: {total} allocations failed in turn, {raised} raised MemoryError, {survived} did without", flush=True
    )


if __name__ == "__main__":
    sys.unraisablehook = lambda _: None  # a destructor that fails says so; it is not what is looked for
    gc.disable()
    for chosen in sys.argv[1:] or WORKS:
        torture(chosen, WORKS[chosen])
