"""Feed what comes from outside with nonsense, guided by coverage: ``python tools/fuzz.py [TARGET ...] [--seconds N]``.

Whatever bytes an expression, a checkpoint or a trace is made of, reading it ends in a result or in the one error
that its reader documents. Needs atheris (``pip install "retrograd[fuzz]"``).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SEEDS: dict[str, list[bytes]] = {"expression": [], "checkpoint": [], "trace": []}
SEEDS["expression"] = [
    b"(a*b + c) * (a + b)", b"-a**-2**b % 3 // c", b"where(a > b, tanh(a), b)", b"softmax(a, b, 1e-3)[0]",
    b"dot([a, b], [c, 2]) + logsumexp([a, b])", "a \u2212 b \u00b7 c \u00f7 2".encode(),
    b"9**9**9**9", b"((((((a))))))",
]  # fmt: skip


def _said(error: Exception) -> None:
    if not str(error).strip():
        raise AssertionError("an error without a sentence") from error


def expression(data: bytes) -> None:
    """Parse, and record what could be parsed."""
    from retrograd.errors import ExpressionError
    from retrograd.trace.expression import parse

    text = data.decode("utf-8", errors="replace")
    try:
        parsed = parse(text)
        evaluation = parsed.evaluate({name: 0.5 + i for i, name in enumerate(parsed.names)})
        evaluation.root.backward()
        evaluation.written(evaluation.root)
    except ExpressionError as error:
        _said(error)


def checkpoint(data: bytes) -> None:
    """As the index, and as the parameters that a right index names."""
    from retrograd.errors import CheckpointError
    from retrograd.training.checkpoints import load_checkpoint

    with tempfile.TemporaryDirectory() as folder:
        kind, content = data[:1], data[1:]
        if kind == b"t":
            digest = hashlib.sha256(content).hexdigest()
            entry = {"file": "parameters-x.safetensors", "bytes": len(content), "sha256": digest}
            index = {"format": "retrograd-checkpoint", "version": 1, "step": 1, "parameters": entry, "config": {},
                     "optimizer": {}, "random_state": [3, [0] * 625, None]}  # fmt: skip
            Path(folder, "parameters-x.safetensors").write_bytes(content)
            content = json.dumps(index).encode()
        Path(folder, "checkpoint.json").write_bytes(content)
        try:
            load_checkpoint(folder)
        except CheckpointError as error:
            _said(error)


def trace(data: bytes) -> None:
    """As a trace; one that is read is written and read again to the same."""
    from retrograd.errors import DataError
    from retrograd.trace.codec import encode
    from retrograd.trace.reader import decode

    try:
        read = decode(data)
    except DataError as error:
        _said(error)
        return
    assert encode(decode(encode(read))) == encode(read)


TARGETS: dict[str, Callable[[bytes], None]] = {"expression": expression, "checkpoint": checkpoint, "trace": trace}


def _seeds(name: str) -> list[bytes]:
    """Valid input for the fuzzer to start from."""
    import numpy as np
    import safetensors.numpy

    import retrograd as rg
    from retrograd.training.checkpoints import Checkpoint, save_checkpoint

    if name == "trace":
        a, b = rg.Value(2.0, label="a"), rg.Value(-3.0, label="b")
        return [rg.explain((a * b).tanh() + a).to_json(check=False).encode()]
    if name == "checkpoint":
        with tempfile.TemporaryDirectory() as folder:
            save_checkpoint(folder, Checkpoint(1, {"a": 1}, {"w": np.zeros(2)}, {"arrays": {}, "steps": 1}))
            index = Path(folder, "checkpoint.json").read_bytes()
        return [b"j" + index, b"j{}", b"t" + safetensors.numpy.save({"model.w": np.zeros(3)})]
    return SEEDS[name]


def fuzz(name: str, arguments: list[str]) -> None:
    """Run one target in this process, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(include=["retrograd.trace", "retrograd.training.checkpoints", "json"]):
        pass
    atheris.Setup([sys.argv[0], *arguments], TARGETS[name])
    atheris.Fuzz()


def run(name: str, seconds: int) -> int:
    """Fuzz a target in a process of its own; how often it ran. Raises SystemExit when something was found."""
    with tempfile.TemporaryDirectory() as corpus:
        for i, seed in enumerate(_seeds(name)):
            Path(corpus, f"seed{i}").write_bytes(seed)
        command = [sys.executable, __file__, "--inside", name, corpus, f"-max_total_time={seconds}", "-max_len=4096",
                   "-timeout=20", "-rss_limit_mb=4096", f"-artifact_prefix={corpus}/"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        found = re.search(r"Done (\d+) (?:runs )?in", done.stderr) or re.search(r"Done (\d+) runs", done.stderr)
        if done.returncode or found is None:
            for artifact in [*Path(corpus).glob("crash-*"), *Path(corpus).glob("timeout-*")]:
                print(f"{name}: {artifact.read_bytes()[:2000]!r}")
            sys.exit(f"{name}: {done.stderr[-3000:]}")
    return int(found[1])


def main() -> None:
    """Fuzz the targets beside each other."""
    if sys.argv[1:2] == ["--inside"]:
        fuzz(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(TARGETS)}; all without")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    given = parser.parse_args()
    with ThreadPoolExecutor() as pool:  # each target has a process of its own
        running = {name: pool.submit(run, name, given.seconds) for name in given.targets or TARGETS}
        for name, executions in running.items():
            print(f"{name}: {executions.result():,} executions, nothing found", flush=True)


if __name__ == "__main__":
    main()
