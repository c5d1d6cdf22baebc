"""Type checking says the same whatever is installed: every optional package is Any to it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    own = {"retrograd", "benchmarks", "accuracy", *(file.stem for file in (ROOT / "tools").glob("*.py"))}
    optional = {name for file in files for name in imported(file)} - set(sys.stdlib_module_names) - own - installed
    assert {"jax", "torch", "sympy"} <= optional
    assert optional - {name.removesuffix(".*") for name in skipped["module"]} == set()
