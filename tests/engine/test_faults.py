"""No memory: allocations of Python and C++ fail in turn, in every call into the native core; all in make accuracy."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.native,
    pytest.mark.memory,  # a sanitizer has an allocator of its own
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the allocator is replaced as glibc has it"),
]
HERE = Path(__file__).parents[1] / "native"


@pytest.mark.long
def test_allocations_fail_in_turn(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = tmp_path / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "faults.c"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONMALLOC": "malloc", "PYTHONFAULTHANDLER": "1"}
    done = subprocess.run(
        [sys.executable, HERE / "faults.py"], env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.count("did without") == 25, done.stdout
