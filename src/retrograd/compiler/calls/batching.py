"""Batches: many calls of a compiled function at once.

:func:`backward_batch` is the mean over the calls, whose gradient is added to ``.grad`` for all of them, or for none.
:func:`mapped` is a result for each, without any effect on gradients.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine import Value
from ..reports.reasons import Cause, Reason
from .dispatch import Dispatcher
from .eager import EagerRunner, Method, Result, number_of, scalar, sum_of

if TYPE_CHECKING:
    from ..taped.answers import TapedResult

__all__ = ["backward_batch", "backward_batch_eagerly", "mapped", "thread_count"]

Batch = list[tuple[Any, ...]]

#: More would only take turns.
_MOST_THREADS = 256


def thread_count(threads: int | None, name: str) -> int:
    """How many threads the caller of ``name`` wants: 0 for None. Raises where that is no number of threads."""
    if threads is None:
        return 0
    try:
        count = operator.index(threads)
    except TypeError:
        raise TypeError(f"{name}: threads is a whole number or None, not {threads!r}.") from None
    if isinstance(threads, bool) or count < 1:
        raise ValueError(f"{name}: threads is 1 or more, not {threads!r}.")
    return min(count, _MOST_THREADS)


def backward_batch(dispatcher: Dispatcher, eager: EagerRunner, batch: Batch, threads: int) -> float:
    """The mean over ``batch``, whose gradient is added to ``.grad``. If anything raises, no gradient has changed."""
    seed = 1.0 / len(batch)
    if dispatcher.taped.takes_batch():
        return _with_others(dispatcher, eager, batch, list(range(len(batch))), threads, False) * seed
    done = dispatcher.cache.batch(batch, seed, threads)
    if type(done) is not tuple:  # isinstance(done, Reason) would ask for memory, and gradients have changed by now
        assert isinstance(done, Reason)
        return backward_batch_eagerly(eager, batch, Cause(done))
    total, unmatched = done
    if unmatched:
        total = _with_others(dispatcher, eager, batch, unmatched, threads, True)
    dispatcher.specializer.tier_up.catch_up()
    return total * seed


def backward_batch_eagerly(eager: EagerRunner, batch: Batch, cause: Cause) -> float:
    """The same, where the function runs for every member."""
    seed = 1.0 / len(batch)
    total = sum_of([scalar(eager.run(tuple(member), False, cause).root) for member in batch])
    mean = number_of(total) * seed
    if isinstance(total, Value):
        total.backward(seed)
    return mean


def _with_others(
    dispatcher: Dispatcher, eager: EagerRunner, batch: Batch, unmatched: list[int], threads: int, tries_programs: bool
) -> float:
    """The sum over a batch of which the members ``unmatched`` fit no specialization; no gradient has changed yet.

    Taped code runs them, or their structures are traced. Members that still match nothing run eagerly.
    """
    cache, specializer, seed = dispatcher.cache, dispatcher.specializer, 1.0 / len(batch)
    taped: dict[int, TapedResult] = {}
    answered: dict[int, Result] = {}  # by a plain run, which may have effects: it is not done again
    for i in unmatched:
        if tries_programs and not cache.unmatched([batch[i]]):
            continue  # the trace of one before it has given it a program
        found = dispatcher.taped.in_batch(tuple(batch[i]))
        if isinstance(found, Result):
            answered[i] = found
        elif found is not None:
            taped[i] = found
        elif not dispatcher.taped.is_being_made:
            result = specializer.specialize(False, tuple(batch[i]), Reason.NEW_ARGUMENTS)
            answered |= {i: result} if result is not None else {}
    if unmatched[-1] not in answered and unmatched[-1] not in taped:
        specializer.compare(Method.BACKWARD, tuple(batch[unmatched[-1]]))
    dispatcher.taped.has_taken(len(taped), len(batch))
    left = [i for i in range(len(batch)) if i not in answered and i not in taped]
    alone = [left[i] for i in cache.unmatched([batch[i] for i in left])] if left else []
    # The eager members run first: whatever they raise, they raise before a gradient has changed.
    cause = Cause(Reason.UNMATCHED_MEMBER)
    for i in sorted(alone):
        answered[i] = eager.run(tuple(batch[i]), False, cause)
    eagerly = sum_of([scalar(answered[i].root) for i in sorted(answered)])
    together = [batch[i] for i in left if i not in alone]
    total = number_of(eagerly) + sum(one.number for one in taped.values())
    slopes = [(v, seed * g) for one in taped.values() for v, g in zip(one.values, one.gradients, strict=True)]
    done = cache.batch(together, seed, threads) if together else (0.0, [])
    if type(done) is not tuple or done[1]:
        raise RuntimeError("backward_batch: a parameter or a program was lost while the batch was run.")
    if isinstance(eagerly, Value):
        eagerly.backward(seed)
    if slopes:
        for value, slope in slopes:
            value.grad += slope
    return done[0] + total


def mapped(dispatcher: Dispatcher, method: Method, call: Callable[..., Any], members: Batch, threads: int) -> list[Any]:
    """What ``call`` gives for each member: programs run many together, and ``call`` itself answers for the others.

    As long as a new specialization gives the rest a program, the first that is left is called, which traces it.
    """
    results: list[Any] = [None] * len(members)
    left = list(range(len(members)))
    together = True
    while left and together:
        done = _together(dispatcher, method, [members[i] for i in left], threads)
        together = bool(done) or len(left) == len(members)
        for i, result in done.items():
            results[left[i]] = result
        left = [number for i, number in enumerate(left) if i not in done]
        if left and together:
            results[left[0]] = call(*members[left[0]])
            left = left[1:]
            if left:
                dispatcher.specializer.compare(method, members[left[-1]])
    for i in left:
        results[i] = call(*members[i])
    dispatcher.specializer.tier_up.catch_up()
    return results


def _together(dispatcher: Dispatcher, method: Method, members: Batch, threads: int) -> dict[int, Any]:
    """The results of those members that programs stand for, by their numbers."""
    found = dispatcher.cache.map(method.differentiates_first, members, threads)
    if isinstance(found, Reason):
        return {}
    done: dict[int, Any] = {}
    for number, which, results in found:
        finished = results if method.differentiates_first else dispatcher.finished_batch(number, results)
        done.update(zip(which, finished, strict=False))  # none of them, if the specialization is gone
    return done
