"""Size: long chains and many graphs, in flat memory. A slice here, all of it in ``make accuracy``."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest
from support.parts import ALL
from support.timeouts import PATIENCE

pytestmark = [pytest.mark.native, pytest.mark.memory]
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")

#: In a process of its own, so that nothing else is in its memory. Prints the bytes a node that it took at most.
CHAIN = """
import itertools, sys
from retrograd import Value
length = int(sys.argv[1])
x = y = Value(1.0)
for _ in itertools.repeat(None, length):
    y = y + 0.0
y.backward()
assert x.grad == 1.0 and y.data == 1.0
del y
assert (x + 1.0).data == 2.0
resident = next((line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")), "0")
print(int(resident) * 1024 / length)
"""

HUNDRED_MILLION = pytest.param(
    100_000_000, marks=pytest.mark.skipif(not ALL, reason="7 GB and a minute: make accuracy")
)


@needs_proc
@pytest.mark.parametrize("length", [10_000_000, HUNDRED_MILLION])
def test_a_long_chain_is_built_swept_and_freed(length: int) -> None:
    """Linear memory; quadratic work would take days, and ends at the time limit. How fast it is: the benchmarks."""
    done = subprocess.run([sys.executable, "-c", CHAIN, str(length)], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 68  # nodes of 56 bytes, and the interpreter


@needs_proc
def test_memory_is_flat_over_ten_thousand_dropped_graphs() -> None:
    from retrograd import Value

    def resident() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    w = Value(0.5)

    def graph() -> None:
        y = w
        for i in range(100):
            y = (y * w + float(i)).tanh()
        y.backward()

    gc.collect()
    gc.disable()
    try:
        for _ in range(1000):
            graph()
        before = resident()
        for _ in range(10_000):
            graph()
        assert resident() - before < 1_000_000
    finally:
        gc.enable()


HASHED = """
import random
import retrograd as rg
from retrograd import Value, nn
random.seed(3)
model = nn.MLP(3, [8, 8, 1])
loss = rg.mean([(model([0.1 * i, 0.2, -0.3]) - 0.5) ** 2 for i in range(5)])
loss.backward()
values = {Value(float(i)): i for i in range(50)}
total = rg.sum([v * v for v in sorted(values, key=lambda v: v.data)])
total.backward()
print(loss.data.hex(), [p.grad.hex() for p in model.parameters()], sum(v.grad for v in sorted(values)).hex())
"""


@pytest.mark.long
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_same_bits_for_every_hash_seed(engine: str) -> None:
    found = set()
    for seed in range(10):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "RETROGRAD_ENGINE": engine}
        done = subprocess.run(
            [sys.executable, "-c", HASHED], env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1
