"""Each program of the gallery runs, and its own checks hold: closed forms, SciPy, differences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.parts import require
from support.timeouts import PATIENCE

pytestmark = pytest.mark.native  # whole programs, which would be slow on the reference engine
PROGRAMS = sorted((Path(__file__).resolve().parents[1] / "examples" / "gallery").glob("*.py"))


def test_there_are_ten() -> None:
    assert len(PROGRAMS) >= 10
    for program in PROGRAMS:
        assert 30 <= len(program.read_text().splitlines()) <= 150, program.name


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_its_checks_hold(program: Path) -> None:
    for part in ("scipy",):
        if part in program.read_text():
            require(part)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=10 * PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout
