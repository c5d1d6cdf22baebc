"""``retrograd trust``: measure, print the summary, write the pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import MissingExtraError, RetrogradError

__all__ = ["run"]


class UnknownRowError(RetrogradError, ValueError):
    """A row that the op table does not have."""


def _need_oracle() -> None:
    try:
        import mpmath  # noqa: F401
        import sympy  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f'the accuracy table needs {error.name}: pip install "retrograd[trust]"') from None


def run(names: Sequence[str], folder: Path, mutate: bool, quick: bool) -> bool:
    """Print the summary; write ``trust.md`` and ``conventions.md`` into ``folder`` unless rows were chosen.

    True when every path agrees and every mutant was caught. Cells that fall short are listed on the page.
    Raises MissingExtraError without mpmath and SymPy.
    """
    _need_oracle()
    from . import conventions, mutants, peers, report, table
    from .arguments import rows

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
    return not any(path.differ for path in measured.ways) and not (hunted and hunted[1])
