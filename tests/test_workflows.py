"""What only GitHub runs, read here: each step calls something that exists, with placeholders that are filled in."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.parts import require

pytestmark = pytest.mark.native  # reads files: once is enough

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

#: The actions that are used, with the major version that was looked at.
ACTIONS = {
    "actions/attest-build-provenance@v2",
    "actions/attest-sbom@v2",
    "actions/checkout@v4",
    "actions/download-artifact@v4",
    "actions/setup-node@v4",
    "actions/setup-python@v5",
    "actions/upload-artifact@v4",
    "anchore/sbom-action@v0",
    "pypa/gh-action-pypi-publish@release/v1",
}

#: The machines that GitHub lends.
RUNNERS = {"macos-14", "macos-15-intel", "ubuntu-24.04-arm", "ubuntu-latest", "windows-latest"}


def jobs(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = require("yaml").safe_load(path.read_text())["jobs"]
    return found


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in jobs(path).values():
        yield from job.get("steps", [])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_need_jobs_and_run_somewhere(path: Path) -> None:
    found = jobs(path)
    for name, job in found.items():
        needs = job.get("needs", [])
        assert {needs} if isinstance(needs, str) else set(needs) <= found.keys(), name
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
            continue
        matrix = job.get("strategy", {}).get("matrix", {}).get("include", [])
        runners = {row["runner"] for row in matrix} if "matrix.runner" in job["runs-on"] else {job["runs-on"]}
        assert runners <= RUNNERS, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_steps_use_known_actions_and_call_what_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for step in steps(path):
        if "uses" in step:
            assert step["uses"] in ACTIONS
            continue
        for command in step["run"].split("&&"):
            words = shlex.split(command)
            if words[0] == "make":
                assert words[1] in targets
            for word in words:
                if re.fullmatch(r"(tools|tests|\.ci)[/\w.-]*", word):
                    assert (ROOT / word).exists(), f"{path.name} names {word}"


def test_what_is_downloaded_was_uploaded() -> None:
    [wheels] = (path for path in WORKFLOWS if path.name == "wheels.yml")
    uploaded = {step["with"]["name"] for step in steps(wheels) if "upload-artifact" in step.get("uses", "")}
    assert uploaded == {"dist-${{ matrix.name }}", "dist-pure"}
    names = {row["name"] for row in jobs(wheels)["native"]["strategy"]["matrix"]["include"]}
    downloaded = {step["with"]["name"] for step in steps(wheels) if "download-artifact" in step.get("uses", "")}
    assert downloaded <= {f"dist-{name}" for name in names} | {"dist-pure"}


#: The settings of cibuildwheel that hold commands, and what it fills in there.
PLACEHOLDERS = {
    "before-all": {"project", "package"},
    "before-build": {"project", "package"},
    "before-test": {"project", "package"},
    "repair-wheel-command": {"project", "package", "wheel", "dest_dir"},
    "test-command": {"project", "package", "wheel"},
}


def test_cibuildwheel_fills_in_every_placeholder() -> None:
    """Others it leaves in the command as they are."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    commands = {key: text for key, text in settings.items() if key.startswith(("before-", "repair-", "test-command"))}
    assert "test-command" in commands
    for key, text in commands.items():
        assert set(re.findall(r"\{(\w+)\}", text)) <= PLACEHOLDERS[key], key


def test_hooks_and_the_container_are_there() -> None:
    yaml = require("yaml")
    hooks = [
        hook
        for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        for hook in repo["hooks"]
    ]
    assert {"ruff", "ruff-format", "clang-format", "generated"} == {hook["id"] for hook in hooks}
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert "make demo" in container["postCreateCommand"]
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").iterdir():
        assert {"name", "description", "body"} <= yaml.safe_load(form.read_text()).keys()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
