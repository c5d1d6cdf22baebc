"""The command line: ``retrograd explain | explore | check | grade | train``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command and exit with its status; Ctrl-C while its modules are imported ends it without a traceback."""
    try:
        from .app import main as run
    except KeyboardInterrupt:
        print("retrograd: interrupted.", file=sys.stderr)
        sys.exit(130)
    run()
