"""The table that a gradient check prints: every input with our gradient, each peer's, and the verdict."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .gradients import GradientCheck, GradientRow

__all__ = ["peer_cell", "render"]


def render(check: GradientCheck, most: int) -> str:
    """The check as plain text, with at most ``most`` inputs. Where there are more, those that disagree come first."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("input")
    table.add_column("at", justify="right")
    table.add_column("ours", justify="right")
    for peer in check.peers:
        table.add_column(peer, justify="right")
    table.add_column("verdict")
    shown = sorted(check.rows, key=lambda row: row.verdict == "agrees")[:most] if len(check.rows) > most else check.rows
    for row in shown:
        cells = [peer_cell(row, peer) for peer in check.peers]
        table.add_row(row.name, f"{row.at:.6g}", repr(row.ours), *cells, row.verdict)
    console = Console(
        file=io.StringIO(),
        width=1000,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
        force_jupyter=False,
    )
    console.print(table)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    lines = [line for line in lines if line]
    if len(shown) < len(check.rows):
        lines.append(f"… and {len(check.rows) - len(shown)} more inputs")
    return "\n".join([*lines, "", check.summary, *check.notes])


def peer_cell(row: GradientRow, peer: str) -> str:
    """A peer's derivative for one input: ``7 +/- 1e-11`` from differences, ``7 (0 ulp)`` from the others."""
    if peer != "differences":
        distance = row.ulp(peer)
        return f"{row.peers[peer]:.10g} ({distance:{',.0f' if distance < 1e6 else '.0e'}} ulp)"
    difference = row.difference
    if difference is None or not difference.known:
        return "unknown"
    if difference.kink:
        return f"{difference.left:.6g} to {difference.right:.6g}"
    return f"{difference.value:.10g} +/- {difference.error:.0e}"
