"""What the tests did not run, and why: the last lines of ``make test``. And exactly that: ``make test-rest``.

    python tools/not_run.py          say what was not run, and how to run it
    python tools/not_run.py --run    run what was skipped for want of a part that is installed by now

``pytest --not-run=FILE`` (tests/conftest.py) writes the skipped tests with their reasons, one file an engine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "not-run"
ENGINES = ("native", "reference")

#: One process builds the site that these tests read, while the other one runs tests that want none.
FIRST = "tests/test_site.py"

Skipped = dict[str, str]  # a test's node id, and why it was skipped


def skipped(engine: str) -> Skipped:
    """The tests that the last ``make test`` skipped on this engine."""
    file = FOLDER / f"{engine}.json"
    if not file.exists():
        sys.exit("Run make test first: it writes down what it could not run.")
    found: Skipped = json.loads(file.read_text(encoding="utf-8"))
    return found


def wants_part(reason: str) -> bool:
    """Whether a test was skipped for want of a part that can be installed."""
    return reason.startswith("wants ")


def report() -> str:
    """The reasons with their counts, and the one command that runs what is missing."""
    reasons = Counter(reason for engine in ENGINES for reason in skipped(engine).values())
    if not reasons:
        return "All tests were run."
    lines = ["Not run:"]
    lines += [f"  {count:5}  {reason}" for reason, count in sorted(reasons.items(), key=lambda item: -item[1])]
    wanted = sum(count for reason, count in reasons.items() if wants_part(reason))
    if wanted:
        lines.append(f"To run these {wanted} that want something (PyTorch is a large download): make test-rest")
    return "\n".join(lines)


def run() -> int:
    """Run the tests that wanted a part, on both engines; one that still misses its part fails."""
    worst = 0
    for engine in ENGINES:
        tests = [test for test, reason in skipped(engine).items() if wants_part(reason)]
        tests.sort(key=lambda test: not test.startswith(FIRST))
        if not tests:
            continue
        file = FOLDER / f"{engine}.txt"
        file.write_text("\n".join(tests) + "\n", encoding="utf-8")
        environment = {**os.environ, "RETROGRAD_REQUIRE": "all"}
        if engine == "reference":
            environment["RETROGRAD_ENGINE"] = engine
        print(f"{len(tests)} tests on the {engine} engine that make test skipped", flush=True)
        command = [sys.executable, "-m", "pytest", f"@{file}", "-n", "auto", "--dist", "worksteal", "-rs"]
        worst = max(worst, subprocess.run(command, cwd=ROOT, env=environment).returncode)
    return worst


if __name__ == "__main__":
    if sys.argv[1:] == ["--run"]:
        sys.exit(run())
    print(report())
