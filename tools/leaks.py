"""Exercise the native core under LeakSanitizer and fail for what it lost: run by tools/sanitize.sh.

The interpreter keeps memory until its end, and libraries do too. What counts is a leak with a frame of ours on its
stack: the parent reads the report of the child and shows those.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any, cast


def exercise() -> None:
    """Graphs of every kind, made, differentiated, refused, copied, dropped; nothing is kept."""
    import copy
    import functools
    import gc
    import operator
    import pickle
    import threading

    import numpy as np

    import retrograd as rg
    from retrograd import engine, errors, nn
    from retrograd.engine import Value

    def push(node: Value, y: Value) -> None:
        y.grad += node.grad

    def works() -> None:
        x, w, b = Value(0.5, label="x"), Value(-1.5), Value(2.0)
        y = ((x * w + b).tanh() * x + 3.0).exp() + rg.softmax([x, w, b])[1] + rg.dot([x, w], [b, 2.0])
        y = y + rg.where(x, w, b)
        y.backward()
        rg.gradient(y, [x, w])
        node = Value(1.0, (y, x), "mine")
        node._backward = functools.partial(push, node, y)
        node.backward()
        Value(1.0, (y,), (2.0,)).backward()
        pickle.loads(pickle.dumps(copy.deepcopy(y)))
        w.data = 9.0
        bad: tuple[Callable[[], object], ...] = (
            y.backward,
            lambda: x / 0.0,
            lambda: operator.add(x, "a"),
            lambda: Value(cast(Any, "a")),
            lambda: engine.reduce("max", []),
        )
        for attempt in bad:
            try:
                attempt()
            except (errors.RetrogradError, TypeError, ValueError):
                continue
        rg.hessian(lambda p: (p[0] * p[1]).tanh())([0.5, 2.0])
        for options in ({"tier": "vm"}, {"exact": True}):
            compiles(rg.compile(price, **cast(Any, options)))
        model = nn.MLP(2, [4, 1])
        parameters = model.parameters()
        rg.mean([model([float(i), 1.0]) ** 2 for i in range(4)]).backward()
        moments = np.zeros(len(parameters)), np.zeros(len(parameters))
        engine.adam_step(parameters, *moments, 1, 0.1, 0.9, 0.999, 1e-8, 0.0, False)
        thread = threading.Thread(target=lambda: (Value(1.0) * 2.0).backward())
        thread.start()
        thread.join()

    weights = [Value(0.5), Value(-0.25), Value(2.0)]

    def price(v: Any, tokens: list[Any]) -> Any:
        scores = [w * v for w in weights]
        return rg.logsumexp(scores) - rg.take(scores, tokens[0]) if v > 0.0 else (scores[0] + 1.0).log()

    def compiles(function: Any) -> None:
        calls = [(0.5, [rg.Index(1)]), (1.5, [rg.Index(0), rg.Index(2)]), (-0.5, [rg.Index(0)])]
        function.backward(*calls[0])
        function.backward_batch(calls)
        function.value_and_grad(*calls[1])
        for wrong in ((9.0, [rg.Index(7)]), (-9.0, [rg.Index(0)]), (1.0, [object()])):
            try:
                function(*wrong)
            except (errors.RetrogradError, TypeError, ValueError, IndexError):
                continue
        adam = rg.optim.Adam(weights, lr=0.01)
        adam.step()
        function.inspect(*calls[0])
        function.stats()
        weights[0] = Value(weights[0].data)  # the program outlives its parameter
        function.backward(*calls[0])

    for _ in range(10):
        works()
    gc.collect()


def plant() -> None:
    """Lose a leaf on purpose."""
    import ctypes

    from retrograd.engine import Value

    lost = Value(1.0)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(lost))


def found(work: str) -> tuple[int, int, list[str]]:
    """The status of a child that does ``work``, how many leaks it reports, and those with a frame of ours."""
    # Whole stacks: without fast_unwind_on_malloc=0 they end at the interpreter, which is built without frame pointers.
    options = {"ASAN_OPTIONS": "detect_leaks=1:fast_unwind_on_malloc=0", "LSAN_OPTIONS": "exitcode=0"}
    child = {**os.environ, **options}
    done = subprocess.run([sys.executable, __file__, work], env=child, capture_output=True, text=True)
    if done.returncode or "done" not in done.stdout:
        print(done.stdout + done.stderr)
    reports = re.split(r"\n\s*\n", done.stderr)
    leaks = [text for text in reports if "leak of" in text and re.search(r" in retrograd::|_native", text)]
    return done.returncode, sum("leak of" in text for text in reports), leaks


def main() -> int:
    """The status of the check: 0 when no leak has a frame of the native core, and a planted one is found."""
    if not found("plant")[2]:
        print("a leak made on purpose was not found: the check is blind")
        return 1
    status, total, leaks = found("exercise")
    print(f"leaks of the native core: {len(leaks)} ({total} reports in all, the others are the interpreter's)")
    print("\n\n".join(leaks))
    return status or int(bool(leaks))


if __name__ == "__main__":
    if sys.argv[1:]:
        {"exercise": exercise, "plant": plant}[sys.argv[1]]()
        print("done")
    else:
        sys.exit(main())
