"""Run the benchmarks from a checkout: the same as ``retrograd bench``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from retrograd.bench import main
from retrograd.bench.works import WORKS
from retrograd.errors import RetrogradError


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"which works, of {', '.join(WORKS)}; all without it")
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="fewer runs and smaller sizes")
    effort.add_argument("--full", action="store_true", help="more runs, and 100 million nodes (about 7 GB of memory)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result here too")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    try:
        main(arguments.works, arguments.quick, arguments.json, arguments.full)
    except (ArithmeticError, OSError, RetrogradError, ValueError) as error:
        sys.exit(f"benchmarks: {error}")
