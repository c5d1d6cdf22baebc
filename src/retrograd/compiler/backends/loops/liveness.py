"""Which values of a function anything depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .code import Block, Loop, Op, Ref, Value

__all__ = ["live_values"]


def live_values(block: Block, keep: Iterable[Value] = ()) -> set[int]:
    """The numbers of the values that a store or a flag depends on, and of those that ``keep`` does."""
    live: set[int] = set()

    def use(*values: Value | None) -> None:
        live.update(v.number for v in values if isinstance(v, Ref))

    use(*keep)
    before = -1
    while len(live) != before:
        before = len(live)
        for step in _steps(block):
            if isinstance(step, Op):
                if step.result is None or step.result.number in live:
                    use(*step.operands)
                continue
            for phi in step.phis:
                if phi.result.number in live or (phi.final is not None and phi.final.number in live):
                    use(phi.result, phi.start, phi.following)
    return live


def _steps(block: Block) -> Iterator[Op | Loop]:
    for step in reversed(block.steps):
        yield step
        if isinstance(step, Loop):
            yield from _steps(step.body)
