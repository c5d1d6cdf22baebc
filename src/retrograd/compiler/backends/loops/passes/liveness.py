"""Takes out of a function what no store and no flag depends on."""

from __future__ import annotations

from collections.abc import Iterable

from .code import Block, Loop, Op, Ref, Value, steps_in

__all__ = ["drop_dead"]


def drop_dead(block: Block) -> None:
    """Remove the operations, and what loops hand on, on which no store and no flag depends; and loops of nothing."""
    _drop(block, _live_values(block))


def _drop(block: Block, live: set[int]) -> None:
    kept: list[Op | Loop] = []
    for step in block.steps:
        if isinstance(step, Loop):
            _drop(step.body, live)
            step.phis = [phi for phi in step.phis if phi.result.number in live]
            if step.body.steps or step.phis:
                kept.append(step)
        elif step.result is None or step.result.number in live:
            kept.append(step)
    block.steps = kept


def _live_values(block: Block) -> set[int]:
    """The numbers of the values that a store or a flag depends on."""
    sources: dict[int, list[int]] = {}
    waiting: list[int] = []
    for step in steps_in(block):
        if isinstance(step, Loop):
            for phi in step.phis:
                sources[phi.result.number] = _numbers((phi.start, phi.following))
                if phi.final is not None:
                    sources[phi.final.number] = [phi.result.number]
        elif step.result is None:
            waiting += _numbers(step.operands)
        else:
            sources[step.result.number] = _numbers(step.operands)
    live: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number not in live:
            live.add(number)
            waiting += sources.get(number, ())
    return live


def _numbers(values: Iterable[Value | None]) -> list[int]:
    return [value.number for value in values if isinstance(value, Ref)]
