"""Every example in the README, the pages, the docstrings and the notebook is run, and prints what it shows."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import json
import pkgutil
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from support.parts import require

import retrograd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from examples import NOTEBOOK, PAGES, ROOT, blocks, run, runs_here, sessions

pytestmark = pytest.mark.native  # what pages show is the same on every engine

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(retrograd.__path__, "retrograd.")
    if not module.name.endswith(("_native", "__main__"))
)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: Modules that are imported by who has the other side of the bridge.
BRIDGES = {"retrograd.sklearn": "sklearn", "retrograd.torch": "torch", "retrograd.sympy": "sympy"}
COMMANDS = [
    (command, output)
    for page in PAGES
    for block in blocks(page, "console")
    for command, output in sessions(block)
    if runs_here(command)
]


#: What a block of code prints, where a page shows it.
SHOWN = re.compile(r"```\n\n((?:    .*\n)+)")

#: What the code of a page imports besides what comes with retrograd.
WANTS = {
    "jax.md": ("jax",),
    "from-jax.md": ("jax",),
    "bridges.md": ("sklearn", "scipy", "sympy"),
    "from-autograd.md": ("autograd",),
    "fit-with-scipy.md": ("scipy",),
    "own-derivative.md": ("scipy",),
}


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    if name in BRIDGES:
        require(BRIDGES[name])
    result = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_pages(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The blocks of one page run one after the other, as a reader would run them."""
    monkeypatch.chdir(tmp_path)
    for part in WANTS.get(page.name, ()):
        require(part)
    if "jax" in WANTS.get(page.name, ()):
        config = require("jax").config
        request.addfinalizer(lambda before=config.jax_enable_x64: config.update("jax_enable_x64", before))
    names: dict[str, Any] = {"__name__": "__page__"}
    for number, code in enumerate(blocks(page, "python")):
        title = f"{page.name}[{number}]"
        if ">>>" not in code:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(code, title, "exec"), names)
            if page.parent.name != "internals":  # which shows parts of it
                shown = SHOWN.match(page.read_text().partition(f"```python\n{code}")[2])
                assert shown is None or textwrap.dedent(shown[1]) == printed.getvalue()
            continue
        test = doctest.DocTestParser().get_doctest(code, names, title, str(page), 0)
        assert doctest.DocTestRunner(optionflags=OPTIONS).run(test, clear_globs=False).failed == 0
        names.update(test.globs)


def test_the_program_in_the_readme_is_what_the_code_above_it_makes() -> None:
    page = (ROOT / "README.md").read_text()
    code = next(code for code in blocks(ROOT / "README.md", "python") if "rg.compile(gpt.loss)" in code)
    names: dict[str, Any] = {"__name__": "__page__"}
    exec(compile(code, "README.md", "exec"), names)
    made = [re.sub(r"\s+#.*", "", line) for line in names["loss"].program().splitlines()]
    shown = re.search(r"```\n(\d[\d,]+ nodes -> .*?)\n```", page, re.DOTALL)
    assert shown is not None
    assert [line for line in shown[1].splitlines() if line.strip() != "…" and line not in made] == []


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_commands_in_pages(command: str, output: str, tmp_path: Path) -> None:
    for peer in ("torch", "jax", "matplotlib"):
        if peer in output or (peer == "matplotlib" and ".png" in output):
            require(peer)
    assert run(command, tmp_path) == output, "make examples writes what it prints now"


def test_links_between_pages() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


#: What the pages for builders name: `path: name`, `path` or `folder/`, from the root of the repository.
POINTER = re.compile(r"`((?:src|native|web|tests|tools|docs|benchmarks)/[\w./-]*)(?::\s(\w+))?`")
POINTERS = {
    page.name: found
    for page in PAGES
    if page.name == "CONTRIBUTING.md" or page.parent.name == "internals"
    if (found := POINTER.findall(" ".join(page.read_text().split())))
}


@pytest.mark.parametrize(
    ("page", "path", "name"), [(page, *pointer) for page, pointers in POINTERS.items() for pointer in pointers]
)
def test_pages_for_builders_point_at_what_is_there(page: str, path: str, name: str) -> None:
    found = ROOT / path
    assert found.exists(), f"{page} names {path}"
    assert not name or re.search(rf"\b{name}\b", found.read_text()), f"{page} names {path}: {name}"


def test_the_notebook_runs_with_what_is_installed() -> None:
    names: dict[str, Any] = {"__name__": "__notebook__"}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)


@pytest.mark.long
def test_the_notebook() -> None:
    nbformat, nbclient = require("nbformat"), require("nbclient")
    require("torch")
    notebook = nbformat.read(NOTEBOOK, 4)
    shown = [[output.get("text") for output in cell.get("outputs", [])] for cell in notebook.cells]
    nbclient.NotebookClient(notebook, timeout=300).execute()
    printed = [[output.get("text") for output in cell.get("outputs", [])] for cell in notebook.cells]
    assert printed == shown, "make examples writes what it prints now"


def test_the_number_of_compared_cells_is_that_of_the_report() -> None:
    report = re.search(r"^([\d,]+) cells on \d paths", (ROOT / "docs" / "trust.md").read_text(), re.MULTILINE)
    assert report is not None
    for page in ("README.md", "docs/index.md"):
        assert re.findall(r"(\d+,\d{3}) cells", (ROOT / page).read_text()) == [report[1]], page
