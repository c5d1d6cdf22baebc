"""Does an installed retrograd work? ``python tools/smoke.py [native|reference]``, with the Python it is installed into.

Runs each main command once, as a user would, in a folder of its own. The argument says which engine is expected; the
wheels' workflow and ``make dist`` run this after installing a wheel beside nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: A class to grade, as a learner may write it.
LEARNER = """
import math


class Value:
    def __init__(self, data, operands=(), slopes=()):
        self.data, self.grad, self.operands, self.slopes = data, 0.0, operands, slopes

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, power):
        return Value(self.data**power, (self,), (power * self.data ** (power - 1),))

    def tanh(self):
        y = math.tanh(self.data)
        return Value(y, (self,), (1.0 - y * y,))

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -other

    def __truediv__(self, other):
        return self * other**-1.0

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if id(value) not in seen:
                seen.add(id(value))
                for operand in value.operands:
                    visit(operand)
                order.append(value)

        visit(self)
        self.grad = 1.0
        for value in reversed(order):
            for operand, slope in zip(value.operands, value.slopes):
                operand.grad += slope * value.grad
"""

LIBRARY = """
import retrograd as rg
assert rg.engine.ENGINE == {engine!r}, rg.engine.ENGINE
f = lambda x: rg.math.tanh(x) * x
assert rg.grad(lambda x: x * x)(3.0) == 6.0
compiled = rg.compile(f)
assert compiled(rg.Value(0.5)).data == f(rg.Value(0.5)).data
assert rg.hessian(lambda x: x**3)(2.0) == 12.0
print(rg.__version__, rg.engine.ENGINE, rg.__file__)
"""

EXPRESSION = ("(a*b + c) * (a + b)", "a=2", "b=-3", "c=10")


def commands(engine: str) -> dict[str, tuple[list[str], str]]:
    """What is run, each with something that its output must contain."""
    command = [sys.executable, "-m", "retrograd"]
    return {
        "library": ([sys.executable, "-c", LIBRARY.format(engine=engine)], engine),
        "explain": ([*command, "explain", *EXPRESSION], "a.grad = 7"),
        "check": ([*command, "check", *EXPRESSION], "agree"),
        "explore": ([*command, "explore", *EXPRESSION, "--no-browser", "--out", "page.html"], "page.html"),
        "learn": ([*command, "learn", "--no-browser", "--out", "lesson.html"], "lesson.html"),
        "grade": ([*command, "grade", "learner.py"], "holds"),
        "train": ([*command, "train", "moons", "--steps", "3", "--out", "run"], "loss"),
        "gpt": ([*command, "train", "gpt", "--steps", "2", "--out", "gpt"], "loss"),
    }


def run(name: str, command: list[str], expected: str, folder: Path, environment: dict[str, str]) -> str | None:
    """Run one; what went wrong, or None."""
    began = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    said = done.stdout + done.stderr
    print(f"  {name:8} {time.monotonic() - began:6.2f} s", flush=True)
    if done.returncode:
        return f"{name} ended with status {done.returncode}:\n{said}"
    if expected not in said:
        return f"{name} did not say {expected!r}:\n{said}"
    warned = said.count("EngineWarning")
    if warned != (environment["EXPECTED_WARNINGS"] == "1"):
        return f"{name} warned {warned} times that the native module is absent:\n{said}"
    return None


def main() -> int:
    """Run all; the exit status is 1 when one of them failed."""
    engine = sys.argv[1] if len(sys.argv) > 1 else "native"
    # Isolated from a checkout around it, and from the terminal.
    dropped = ("RETROGRAD_ENGINE", "FORCE_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"PYTHONUTF8": "1", "NO_COLOR": "1", "COLUMNS": "120"}
    environment["EXPECTED_WARNINGS"] = "1" if engine == "reference" else "0"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "learner.py").write_text(LEARNER, encoding="utf-8")
        found = [
            wrong
            for name, (command, expected) in commands(engine).items()
            if (wrong := run(name, command, expected, Path(folder), environment))
        ]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
