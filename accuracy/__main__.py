"""Measure how right every operation is, and write docs/trust.md and docs/conventions.md.

    python -m accuracy [ROW …] [--out FOLDER] [--quick]

Against exact mathematics, Python, PyTorch and JAX; with a check that the table would notice wrong formulas. The exit
status is 1 when two engines differ or a wrong formula goes unnoticed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from retrograd.errors import MissingExtraError, RetrogradError

__all__ = ["main", "run"]


class UnknownRowError(RetrogradError, ValueError):
    """A row that the op table does not have."""


def _need_oracle() -> None:
    try:
        import mpmath  # noqa: F401
        import sympy  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"the accuracy table needs {error.name}: pip install mpmath sympy") from None


def run(names: Sequence[str], folder: Path, mutate: bool, quick: bool) -> bool:
    """Print the summary; write ``trust.md`` and ``conventions.md`` into ``folder`` unless rows were chosen.

    True when every variant agrees and every mutant was caught. Cells that fall short are listed on the page.
    Raises MissingExtraError without mpmath and SymPy.
    """
    _need_oracle()
    from . import conventions, mutants, peers, report, table
    from .sample_points import rows

    known = [row.name for row in rows()]
    for name in names:
        if name not in known:
            raise UnknownRowError(f"there is no row {name!r} to ask: they are {', '.join(known)}.")
    measured = table.measure(names or None, step=5 if quick else 1)
    asked = [peers.ask(name, measured.verdicts) for name in ("torch", "jax")]
    hunted = mutants.hunt(names or None) if mutate else None
    print("\n".join(report.lines(measured, hunted, asked)))
    if not names and not quick:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "trust.md").write_text(report.page(measured, hunted, asked), encoding="utf-8")
        (folder / "conventions.md").write_text(conventions.page(), encoding="utf-8")
        print(f"Written: {folder / 'trust.md'}, {folder / 'conventions.md'}")
    elif names:
        for verdict in measured.short:
            print(f"falls short: {verdict.cell} at order {verdict.cell.order}: {verdict.got}, exactly {verdict.wanted}")
    return not any(variant.differ for variant in measured.variants) and not (hunted and hunted[1])


def main(arguments: Sequence[str]) -> int:
    """The command: its exit status."""
    parser = argparse.ArgumentParser(prog="python -m accuracy", description="Measure how right every operation is.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="which rows; all without it")
    parser.add_argument("--out", type=Path, metavar="FOLDER", default=Path("docs"), help="where the pages go")
    parser.add_argument("--quick", action="store_true", help="every fifth point, no mutants, no pages")
    given = parser.parse_args(arguments)
    try:
        return 0 if run(given.rows, given.out, not given.quick, given.quick) else 1
    except (OSError, RetrogradError) as error:
        print(f"accuracy: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
