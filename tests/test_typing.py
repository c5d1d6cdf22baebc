"""Type checking says the same whatever is installed: every optional package is Any to it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.parts import require

pytestmark = pytest.mark.native  # reads files only: once is enough
ROOT = Path(__file__).resolve().parents[1]
CHECKED = ("src/retrograd", "tools", "benchmarks", "accuracy")


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def test_every_optional_package_is_skipped() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    installed = {re.split(r"\W", wanted)[0] for wanted in settings["project"]["dependencies"]}
    [skipped] = (item for item in settings["tool"]["mypy"]["overrides"] if item["follow_imports"] == "skip")
    files = [file for folder in CHECKED for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 100
    own = {"retrograd", "benchmarks", "accuracy", *(file.stem for file in (ROOT / "tools").iterdir())}
    optional = {name for file in files for name in imported(file)} - set(sys.stdlib_module_names) - own - installed
    assert {"jax", "torch", "sympy"} <= optional
    assert optional - {name.removesuffix(".*") for name in skipped["module"]} == set()


# --- what users and their editors see -----------------------------------------------------------------------

PROGRAM = ROOT / "tests" / "typing" / "user_program.py"
NO_ANNOTATIONS = ["--allow-untyped-defs", "--allow-untyped-calls", "--allow-incomplete-defs", "--no-warn-return-any"]


def readme(folder: Path) -> Path:
    """The README's Python blocks as one program, which a reader would type in that order."""
    lines = []
    for block in re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL):
        session = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
        lines += session if ">>>" in block else block.splitlines()
    page = folder / "readme.py"
    page.write_text("\n".join(lines) + "\n")
    return page


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MYPYPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.long
def test_mypy_accepts_a_users_program_and_the_readme(tmp_path: Path) -> None:
    """With the strict settings of a user, who has not our overrides."""
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict = True\n[mypy-retrograd.*]\nfollow_imports = silent\nignore_errors = True\n")
    mypy = (sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(tmp_path / "cache"))
    found = run(*mypy, str(PROGRAM), folder=tmp_path)
    assert found.returncode == 0, found.stdout
    found = run(*mypy, *NO_ANNOTATIONS, str(readme(tmp_path)), folder=tmp_path)
    assert found.returncode == 0, found.stdout


def test_pyright_accepts_them_too(tmp_path: Path) -> None:
    pyright = require("pyright")
    assert pyright
    (tmp_path / "user_program.py").write_text(PROGRAM.read_text())
    page = readme(tmp_path)
    found = run(
        *(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, page.name, "user_program.py"),
        folder=tmp_path,
    )
    assert found.returncode == 0, found.stdout


def completeness(folder: Path) -> tuple[float, str]:
    """Pyright's type completeness score of the package, in percent, and all that it says."""
    verify = ("--pythonpath", sys.executable, "--verifytypes", "retrograd", "--ignoreexternal")
    found = run(sys.executable, "-m", "pyright", *verify, folder=folder)
    score = re.search(r"Type completeness score: ([\d.]+)%", found.stdout)
    assert score, found.stdout[-2000:]
    return float(score[1]), found.stdout


@pytest.mark.long
def test_the_public_types_are_known(tmp_path: Path) -> None:
    require("pyright")
    score, report = completeness(tmp_path)
    if score <= 98:  # once, beside other processes, Pyright did not find the stub of retrograd._native
        score, report = completeness(tmp_path)
    assert score > 98, report
