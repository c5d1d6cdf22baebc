"""The command line: ``retrograd explain | check | train | bench``."""

from .app import main

__all__ = ["main"]
