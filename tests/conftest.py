"""What all tests share: optional parts of the environment, and the files beside the repository."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest
from support.browser import browser, show  # noqa: F401  (fixtures of every test that looks at a page)

#: Parts that must be there (``RETROGRAD_REQUIRE=torch,jax``): their absence is a failure, not a skip.
REQUIRED = {part.strip() for part in os.environ.get("RETROGRAD_REQUIRE", "").split(",") if part.strip()}
#: Parts that are passed over although they are there (``RETROGRAD_WITHOUT``): PyTorch under a sanitizer's runtime.
WITHOUT = {part.strip() for part in os.environ.get("RETROGRAD_WITHOUT", "").split(",") if part.strip()}


def require(part: str) -> Any:
    """The module ``part``; without it the test is skipped, or fails where RETROGRAD_REQUIRE lists it."""
    if part in WITHOUT:
        pytest.skip(f"RETROGRAD_WITHOUT leaves {part} out")
    try:
        return importlib.import_module(part)
    except ImportError as error:
        if part in REQUIRED:
            pytest.fail(
                f"{part} is not installed ({error}), and RETROGRAD_REQUIRE={','.join(sorted(REQUIRED))} asks for it"
            )
        pytest.skip(f"{part} is not installed")


@pytest.fixture(scope="session")
def names_file() -> Path:
    """The 32,033 names on which the scalar GPT's log was made; skips where they are absent."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data" / "names.txt"
    if not path.exists():
        pytest.skip("../shared/data/names.txt is absent")
    return path
