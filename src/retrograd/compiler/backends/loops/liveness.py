"""Which values of a function anything depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .code import Block, Loop, Op, Ref, Value

__all__ = ["live_values"]


def live_values(block: Block, keep: Iterable[Value] = ()) -> set[int]:
    """The numbers of the values that a store or a flag depends on, and of those that ``keep`` does."""
    sources: dict[int, list[int]] = {}
    waiting = _numbers(keep)
    for step in _steps(block):
        if isinstance(step, Op):
            if step.result is None:
                waiting += _numbers(step.operands)
            else:
                sources[step.result.number] = _numbers(step.operands)
            continue
        for phi in step.phis:
            sources[phi.result.number] = _numbers((phi.start, phi.following))
            if phi.final is not None:
                sources[phi.final.number] = [phi.result.number]
    live: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number not in live:
            live.add(number)
            waiting += sources.get(number, ())
    return live


def _numbers(values: Iterable[Value | None]) -> list[int]:
    return [value.number for value in values if isinstance(value, Ref)]


def _steps(block: Block) -> Iterator[Op | Loop]:
    for step in block.steps:
        yield step
        if isinstance(step, Loop):
            yield from _steps(step.body)
