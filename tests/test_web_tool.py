"""tools/web.py, where npm cannot do its work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import web

pytestmark = pytest.mark.native


def failing(said: str) -> list[str]:
    return [sys.executable, "-c", f"import sys; sys.exit({said!r})"]


def test_a_registry_that_cannot_be_reached_ends_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "npm", lambda: failing("npm error code ECONNREFUSED\nnpm error at Socket.emit"))
    with pytest.raises(SystemExit) as stopped:
        web.install()
    assert str(stopped.value).splitlines() == [str(stopped.value)]
    assert "npm's registry cannot be reached (ECONNREFUSED)" in str(stopped.value)


def test_any_other_failure_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "npm", lambda: failing("npm error code EJSONPARSE\nnpm error in package.json"))
    with pytest.raises(SystemExit, match=r"(?s)failed in web/:.*EJSONPARSE.*package.json"):
        web.install()
