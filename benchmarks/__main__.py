"""Run the benchmarks from a checkout: ``make bench``, ``make bench-compiled``.

python -m benchmarks [--quick | --full] [--json FILE] [--compiled [--names FILE]] [WORK …]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from retrograd.errors import RetrogradError

from . import main
from .compiled_workloads import COMPILED_WORKS
from .workloads import WORKS


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed and memory as ratios to peers.")
    which = f"which works, of {', '.join(WORKS)}, or with --compiled of {', '.join(COMPILED_WORKS)}; all without it"
    parser.add_argument("works", nargs="*", metavar="WORK", help=which)
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="fewer runs and smaller sizes")
    effort.add_argument("--full", action="store_true", help="more runs, and 100 million nodes (about 7 GB of memory)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result here too")
    parser.add_argument("--compiled", action="store_true", help="compiled programs against C and JAX written by hand")
    parser.add_argument("--names", type=Path, metavar="FILE", help="with --compiled: names to train on, one a line")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    try:
        main(arguments.works, arguments.quick, arguments.json, arguments.full, arguments.compiled, arguments.names)
    except (ArithmeticError, OSError, RetrogradError, ValueError) as error:
        sys.exit(f"benchmarks: {error}")
