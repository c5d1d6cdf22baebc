"""What make test says at its end, and what make test-rest runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import install
import not_run

pytestmark = pytest.mark.native  # about the tools
TESTS = Path(__file__).resolve().parent
SUITE = """
import pytest
from support.parts import require

def test_runs(): pass
def test_wants(): require("no_such_package")
@pytest.mark.parametrize("x", ["a b", "[c]"])
def test_wants_in_each_case(x): require("no_such_package.part")
@pytest.mark.skip(reason="a day")
def test_takes(): pass
"""


@pytest.mark.long
def test_what_is_skipped_is_said_and_can_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_PLUGINS", "conftest")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), *sys.path]))
    monkeypatch.delenv("RETROGRAD_REQUIRE", raising=False)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_some.py").write_text(SUITE)
    written = tmp_path / "not-run" / "native.json"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "1", "--not-run", str(written), "test_some.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 passed, 4 skipped" in done.stdout, done.stdout + done.stderr
    wants = "wants no_such_package (pip install no_such_package)"
    assert json.loads(written.read_text()) == {
        "test_some.py::test_wants": wants,
        "test_some.py::test_wants_in_each_case[a b]": wants,
        "test_some.py::test_wants_in_each_case[[c]]": wants,
        "test_some.py::test_takes": "a day",
    }
    (written.parent / "reference.json").write_text("{}")
    monkeypatch.setattr(not_run, "FOLDER", written.parent)
    assert not_run.report().splitlines() == [
        "Not run:",
        f"      3  {wants}",
        "      1  a day",
        "To run these 3 that want something (PyTorch is a large download): make test-rest",
    ]
    monkeypatch.setattr(not_run, "ROOT", tmp_path)
    assert not_run.run() == 1  # it is still missing: now that is a failure


def test_all_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for engine in not_run.ENGINES:
        (tmp_path / f"{engine}.json").write_text("{}")
    monkeypatch.setattr(not_run, "FOLDER", tmp_path)
    assert not_run.report() == "All tests were run."
    assert not_run.run() == 0


def test_what_pip_says_is_told_in_short() -> None:
    assert install.stage("  [12/43] Building CXX object x.o") == "compiling the native engine, step 12/43"
    assert install.stage("Collecting numpy>=1.26") == "fetching numpy"
    assert install.stage("  Downloading numpy.whl (18 MB)") is None
