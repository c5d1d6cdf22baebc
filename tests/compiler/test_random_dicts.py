"""Random functions that change dictionaries and sets under tests that data decide, and ask for what they have."""

from __future__ import annotations

import random
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from support.parts import require

import retrograd as rg

pytestmark = pytest.mark.native

_HEAD = "from collections import Counter, defaultdict\n\n\ndef f(ps, xs):\n    total = ps[0]\n"

_KEYS = {
    "texts": ('("up" if x > {c} else "down")', '("a" if x > 0.5 else "b" if x > {c} else "up")', '"up"', '"down"'),
    "ints": ("int(x * 2)", "round(x)", "i % 3", "(1 if x > {c} else 2)", "(i if x > {c} else 0)"),
    "tests": ("(x > {c})", "True", "(1 if x > {c} else 0)"),
    "none": ('(None if x > {c} else "x")', '"x"', "None"),
    "pairs": ("(x > {c}, i % 2)", '("up" if x > {c} else "down", x > 0.4)', "(0, True)"),
}
_MAKERS = {
    "sums": ("{}", "dict()", "defaultdict(float)", "defaultdict(int)", "Counter()", "defaultdict(lambda: 1.0)"),
    "rows": ("{}", "defaultdict(list)"),
    "seen": ("set()",),
}
_CHANGES = {
    "sums": (
        "sums[k] = sums.get(k, 0.0) + ps[0] * x",
        "sums[k] = x * ps[1]",
        "if k not in sums:\n    sums[k] = ps[1]\nsums[k] += x",
        "if k in sums:\n    total += sums[k] * ps[1]\nelse:\n    total -= ps[0]",
        "if k in sums:\n    sums[k] *= 0.5\nelse:\n    sums[k] = x",
        "total += sums.setdefault(k, x)",
        "total += len(sums) * ps[0]",
        "sums.pop(k, None)",
        "total += sums.pop(k, 0.5) * ps[0]",
        "total += sums[k]",
    ),
    "rows": (
        "rows.setdefault(k, []).append(ps[0] * x)",
        "if k not in rows:\n    rows[k] = []\nrows[k].append(x * ps[1])",
        "total += len(rows.get(k, [])) * ps[1]",
        "if k in rows and rows[k]:\n    total += rows[k][-1] * ps[0]",
        "rows.pop(k, None)",
        "rows[k] = [x]",
        "rows[k].append(x)",
    ),
    "seen": (
        "seen.add(k)",
        "seen.discard(k)",
        "if k in seen:\n    total += ps[0] * x\nelse:\n    seen.add(k)",
        "total += len(seen) * ps[1]",
        "seen.update([k])",
    ),
}
_READS = {
    "sums": (
        "for k, v in sums.items():\n    total = total * 0.7 + v",
        "kept = {k: v for k, v in sums.items() if v > 0.1}\ntotal += len(kept) * ps[0] + sum(kept.values())",
        "if sums:\n    total += sums[max(sums, key=sums.get)] * ps[0]",
        "for k, v in sorted(sums.items()):\n    total = total * 0.5 + v",
        "for k in sums:\n    sums[k] = sums[k] * ps[0] + 1.0\ntotal += sum(sums.values())",
        "other = sums.copy()\nsums.clear()\nfor v in other.values():\n    total = total * 0.9 + v",
        "for k in list(sums):\n    if sums[k] > 0.2:\n        sums.pop(k)\ntotal += sum(sums.values()) * ps[0]",
    ),
    "rows": (
        "total += sum(len(v) * sum(v) for v in rows.values())",
        "for k, v in rows.items():\n    total = total * 0.8 + sum(v) * ps[1]",
        "means = {k: sum(v) / len(v) for k, v in rows.items() if v}\ntotal += sum(means.values()) * ps[0]",
    ),
    "seen": (
        "for j, k in enumerate(sorted(seen)):\n    total += ps[0] * (j + 1) * xs[j % 3]",
        "total += sum(ps[0] * 0.5 for k in seen) + (ps[1] if not seen else 0.0)",
    ),
}


class _Writer:
    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._keys = _KEYS[self._rng.choice(list(_KEYS))]
        self._used = self._rng.sample(list(_MAKERS), self._rng.choice([1, 2, 3]))

    def source(self) -> str:
        rng = self._rng
        made = [f"{name} = {rng.choice(_MAKERS[name])}" for name in self._used]
        loop = [f"for i, x in enumerate(xs[:{rng.choice([4, 8])}]):", *self._block(2, 1), *self._block(1, 1)]
        read = [line for name in self._used for line in rng.choice(_READS[name]).split("\n")]
        lines = [*made, *loop, *read, "return total * ps[1] + ps[0]"]
        return _HEAD + "".join(f"    {line}\n" for line in lines)

    def _block(self, depth: int, indent: int) -> list[str]:
        return [line for _ in range(self._rng.choice([1, 1, 2])) for line in self._statement(depth, indent)]

    def _statement(self, depth: int, indent: int) -> list[str]:
        rng, pad = self._rng, "    " * indent
        if depth and rng.random() < 0.45:
            test = rng.choice(["x > 0.0", "ps[0] * x < 0.4", "abs(x) > 0.6"])
            made = [f"{pad}if {test}:", *self._block(depth - 1, indent + 1)]
            if rng.random() < 0.1:
                return [*made, f"{pad}    {rng.choice(['continue', 'break'])}"]
            return [*made, f"{pad}else:", *self._block(depth - 1, indent + 1)] if rng.random() < 0.5 else made
        key = rng.choice(self._keys).format(c=rng.choice(["0.0", "0.3", "ps[1] - 0.5"]))
        change = rng.choice(_CHANGES[rng.choice(self._used)])
        return [f"{pad}k = {key}", *(pad + line for line in change.split("\n"))]


def _function(seed: int, folder: Path) -> Any:
    path = folder / f"random_{seed}.py"
    path.write_text(_Writer(seed).source())
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def _given(function: Any, *arguments: Any) -> Any:
    """What a function gives, or the class of what it raises."""
    try:
        return function(*arguments)
    except Exception as raised:
        return type(raised)


@pytest.mark.parametrize("tier", ["auto", "llvm"])
@pytest.mark.parametrize("seed", range(60))
def test_a_random_function_is_what_it_says(seed: int, tier: str, tmp_path: Path) -> None:
    """Machine code is taped code here, as soon as no program answers."""
    if tier == "llvm":
        require("llvmlite")
    f = _function(seed, tmp_path)
    compiled, plain, rng = rg.compile(f, tier=tier), rg.value_and_grad(f), random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(100):
            data = [rng.uniform(0.8, 1.3), rng.uniform(0.3, 0.9)], [rng.gauss(0.0, 1.0) for _ in range(8)]
            wanted, found = _given(plain, *data), _given(compiled.value_and_grad, *data)
            if isinstance(wanted, type) or isinstance(found, type):
                assert found is wanted
                continue
            assert found[0] == pytest.approx(wanted[0], rel=1e-9, abs=1e-9)
            assert found[1] == pytest.approx(wanted[1], rel=1e-9, abs=1e-9)
