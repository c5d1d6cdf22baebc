"""Optional parts of the environment: a test that wants one says so, and is skipped where it is missing."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, NoReturn

import pytest

#: Parts that must be there (``RETROGRAD_REQUIRE=torch,jax``, or all): their absence is a failure, not a skip.
REQUIRED = {part.strip() for part in os.environ.get("RETROGRAD_REQUIRE", "").split(",") if part.strip()}
#: Parts that are passed over although they are there (``RETROGRAD_WITHOUT``): PyTorch under a sanitizer's runtime.
WITHOUT = {part.strip() for part in os.environ.get("RETROGRAD_WITHOUT", "").split(",") if part.strip()}
#: Packages that have no wheel for this Python or system, as the markers in pyproject.toml say.
UNAVAILABLE = {
    name for name, there in {"xad": sys.version_info < (3, 13), "atheris": sys.platform == "linux"}.items() if not there
}
#: Whether the tests that run in slices run whole (make accuracy).
ALL = bool(os.environ.get("RETROGRAD_ALL"))


def missing(part: str, how: str) -> NoReturn:
    """Skip for want of a part that ``how`` installs, or fail where RETROGRAD_REQUIRE asks for it."""
    if part in REQUIRED or "all" in REQUIRED:
        pytest.fail(f"{part} is missing ({how}), and RETROGRAD_REQUIRE={','.join(sorted(REQUIRED))} asks for it")
    pytest.skip(f"wants {part} ({how})")  # tools/not_run.py knows it by its first word


def require(module: str) -> Any:
    """This module of an optional package; without it the test is skipped, or fails where it is required."""
    if module in WITHOUT:
        pytest.skip(f"RETROGRAD_WITHOUT leaves {module} out")
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        if package in UNAVAILABLE:
            pytest.skip(f"{package} is not published for this Python and system")
        missing(package, f"pip install {package}")
