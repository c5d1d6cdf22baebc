"""JAX in a process of its own, one thread, double precision: those settings must be made before it is imported.

The two talk in lines of JSON: ``{"make": name, "arguments": {...}}`` makes a program, ``{"call": method, "arguments":
{...}}`` calls a method of the last one; each is answered with ``{"result": ...}`` or ``{"error": sentence}``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import Any

from retrograd.errors import RetrogradError

from ..measure import ROOT

__all__ = ["JaxProgram", "main"]

SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class JaxProgram:
    """A program of :mod:`jax_programs`, made and called in its own process; close it when done."""

    def __init__(self, name: str, **arguments: Any) -> None:
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 -- closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env={**os.environ, **SETTINGS},
        )
        try:
            self._ask({"make": name, "arguments": arguments})
        except BaseException:
            self.close()
            raise

    def call(self, method: str, **arguments: Any) -> Any:
        """What the method returns. Raises RetrogradError when it raises or the process is gone."""
        return self._ask({"call": method, "arguments": arguments})

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process.wait()
        self._said.close()

    def __enter__(self) -> JaxProgram:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _ask(self, question: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # then there is no answer either, and what it said is told below
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._said.seek(0)
            raise RetrogradError(f"the process that runs JAX ended: {self._said.read().strip()[-500:]}")
        answer = json.loads(line)
        if "error" in answer:
            raise RetrogradError(f"JAX, in its own process: {answer['error']}")
        return answer["result"]


def main() -> None:
    """Serve until the input ends."""
    if hasattr(os, "sched_setaffinity"):  # one core, so that no pool of threads helps
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    from . import jax_programs

    answers, sys.stdout = sys.stdout, sys.stderr
    program: Any = None
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if "make" in question:
                program = getattr(jax_programs, question["make"])(**question["arguments"])
                result = None
            else:
                result = getattr(program, question["call"])(**question["arguments"])
            answer = {"result": result}
        except Exception:
            answer = {"error": traceback.format_exc(limit=-3).strip()}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
