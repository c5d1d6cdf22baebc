"""One version: what tools/version.py compares, and how it notices a difference."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import version

pytestmark = pytest.mark.native


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with every file that has the version."""
    for name in [*version.PLACES, "CHANGELOG.md"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(version.ROOT / name, tmp_path / name)
    monkeypatch.setattr(version, "ROOT", tmp_path)
    return tmp_path


def test_every_place_says_the_same() -> None:
    assert version.others() == []


@pytest.mark.parametrize("name", [name for name in version.PLACES if name != "pyproject.toml"])
def test_a_place_that_says_something_else_is_named(copies: Path, name: str) -> None:
    file = copies / name
    file.write_text(file.read_text().replace(version.version(), "9.9.9"))
    assert next(place.split()[0] for place in version.others()) == name


def test_a_version_is_set_everywhere_and_a_tag_must_agree(copies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert version.main(["--set", "9.8.7rc1"]) == 0
    assert version.version() == "9.8.7rc1"
    assert version.others() == []
    assert version.main(["--tag", "v9.8.7rc1"]) == 1
    assert "CHANGELOG.md has no chapter" in capsys.readouterr().out
    log = copies / "CHANGELOG.md"
    log.write_text(log.read_text().replace("# Changes\n", "# Changes\n\n## 9.8.7rc1\n\n- New.\n"))
    assert version.main(["--tag", "v9.8.7rc1"]) == 0
    assert version.main(["--tag", "v9.8.8"]) == 1
    assert version.changes("9.8.7rc1") == "- New."


def test_other_packages_in_the_lock_file_keep_their_versions(copies: Path) -> None:
    before = (copies / "web/package-lock.json").read_text()
    version.main(["--set", "9.8.7"])
    after = (copies / "web/package-lock.json").read_text()
    assert after.count("9.8.7") == 2
    assert len(after.splitlines()) == len(before.splitlines())
