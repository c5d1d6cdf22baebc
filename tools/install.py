"""pip install, and how far it is: the native build alone takes a minute or two, in which pip says nothing.

python tools/install.py ARGUMENTS…    as for pip install; all that pip says goes to build/install.log

Versions are those of tools/constraints.txt, so that a new release of a tool breaks no build; make lock renews them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

LOG = Path(__file__).resolve().parent.parent / "build" / "install.log"
CONSTRAINTS = Path(__file__).with_name("constraints.txt")
#: At most one line in so many seconds.
EVERY = 5.0

#: What pip and Ninja write, and what is said of it.
STAGES = (
    (re.compile(r"\s*Collecting ([\w.-]+)"), "fetching {}"),
    (re.compile(r"\s*Building wheel for (\S+).*started"), "building {}"),
    (re.compile(r"\s*\[(\d+/\d+)\]"), "compiling the native engine, step {}"),
    (re.compile(r"\s*Installing collected packages: (.+)"), "installing packages"),
)


def stage(line: str) -> str | None:
    """What a line of pip's says about how far it is, if it does."""
    for pattern, said in STAGES:
        if found := pattern.match(line):
            return said.format(*found.groups())
    return None


def main(arguments: list[str]) -> int:
    """Run ``pip install`` with these arguments and return its exit status."""
    began, told_at, told = time.monotonic(), float("-inf"), ""
    LOG.parent.mkdir(exist_ok=True)
    print("installing into", sys.prefix, "...", flush=True)
    # Python compiles what is imported; of all that is installed, pip would take half a minute for it.
    command = [sys.executable, "-m", "pip", "install", "--no-compile", "--verbose", "--progress-bar=off"]
    command += ["--constraint", str(CONSTRAINTS), *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with LOG.open("w", encoding="utf-8") as log:
        pip = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        assert pip.stdout is not None
        for line in pip.stdout:
            log.write(line)
            now, said = time.monotonic(), stage(line)
            if said and said != told and now - told_at >= EVERY:
                print(f"  {now - began:4.0f} s  {said}", flush=True)
                told_at, told = now, said
    if pip.wait():
        print("".join(LOG.read_text(encoding="utf-8").splitlines(keepends=True)[-60:]))
        print(f"pip could not install; all it said is in {LOG}")
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
