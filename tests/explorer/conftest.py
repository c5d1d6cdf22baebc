"""The fixtures of the tests of the live training view."""

from __future__ import annotations

from support.live import needs_bundle, running, start  # noqa: F401
