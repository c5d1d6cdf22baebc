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

#: A class to grade: our own, under the name of a learner's.
LEARNER = "from retrograd import Value\n"

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
