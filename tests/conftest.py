"""What pytest is told for all tests: which to leave out on which engine, and what to write down."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.browser import browser, show, windows  # noqa: F401  (fixtures of every test that looks at a page)

from retrograd.engine import ENGINE


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--not-run", metavar="FILE", type=Path, help="write the skipped tests and why to this file")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--not-run")
    if file is not None and not hasattr(config, "workerinput"):  # not in the processes of pytest-xdist
        config.pluginmanager.register(NotRun(file))


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: a process waits half of the time for its browser."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In make test, leave long tests to make test-rest; on the reference engine, what does not depend on it."""
    if config.getoption("--not-run") is not None:
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="wants more time"))  # see tools/not_run.py
    if ENGINE == "native":
        return
    once = [item for item in items if item.get_closest_marker("native")]
    items[:] = [item for item in items if not item.get_closest_marker("native")]
    config.hook.pytest_deselected(items=once)


class NotRun:
    """Writes down which tests were skipped, and why, for tools/not_run.py."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.skipped: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            self.skipped[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")

    def pytest_sessionfinish(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.skipped, indent=1) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def names_file() -> Path:
    """The 32,033 names on which the scalar GPT's log was made; skips where they are absent."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data" / "names.txt"
    if not path.exists():
        pytest.skip("../shared/data/names.txt is absent")
    return path
