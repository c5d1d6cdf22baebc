"""Every example in the README, the pages and the docstrings is run, and shows what it says."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import require

import retrograd

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), ROOT / "benchmarks/README.md"]
)
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(retrograd.__path__, "retrograd.") if not m.name.endswith("_native")
)
BLOCK = re.compile(r"^```(?P<language>\w+)(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=OPTIONS)
    assert result.failed == 0


def blocks(page: Path, language: str) -> list[str]:
    return [
        m["code"] for m in BLOCK.finditer(page.read_text()) if m["language"] == language and "no-run" not in m["info"]
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of one page run one after the other, as a reader would run them."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__page__"}
    for number, code in enumerate(blocks(page, "python")):
        if ">>>" not in code:
            exec(compile(code, f"{page.name}[{number}]", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(code, names, f"{page.name}[{number}]", str(page), 0)
        runner = doctest.DocTestRunner(optionflags=OPTIONS)
        assert runner.run(test, clear_globs=False).failed == 0
        names.update(test.globs)


def console_sessions(page: Path) -> list[tuple[str, str]]:
    """Commands shown as ``$ command`` with what they print."""
    sessions = []
    for code in blocks(page, "console"):
        for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            sessions.append((command, output))
    return sessions


SESSIONS = [(page, *session) for page in PAGES for session in console_sessions(page)]


@pytest.mark.parametrize(("page", "command", "output"), SESSIONS, ids=lambda x: x.name if isinstance(x, Path) else None)
def test_commands_in_pages(page: Path, command: str, output: str, tmp_path: Path) -> None:
    """What a page shows is what the command prints; ``...`` stands for anything."""
    words = shlex.split(command)
    if words[0] != "retrograd":
        pytest.skip(f"'{words[0]}' is not run here: make demo and make test are what CI runs")
    if "torch" in output:
        require("torch")
    if "jax" in output:
        require("jax")
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "retrograd.cli", *words[1:]],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert doctest.OutputChecker().check_output(output, done.stdout, OPTIONS), done.stdout


def test_links_between_pages() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_notebook() -> None:
    """Our notebook runs from top to bottom and prints what it shows."""
    nbformat, nbclient = require("nbformat"), require("nbclient")
    require("torch")
    notebook = nbformat.read(ROOT / "examples" / "backward_pass.ipynb", 4)
    shown = [cell.get("outputs", []) for cell in notebook.cells]
    nbclient.NotebookClient(notebook, timeout=300).execute()
    for cell, before in zip(notebook.cells, shown, strict=True):
        after = cell.get("outputs", [])
        assert [o.get("text") for o in after] == [o.get("text") for o in before], cell.source
