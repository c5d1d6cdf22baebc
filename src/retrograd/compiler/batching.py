"""Batches: the mean of a compiled function over many tuples of arguments, all of them in one pass, or none."""

from __future__ import annotations

import operator
from typing import Any

from .. import engine
from ..engine import Value
from .eager import EagerRunner, number_of, scalar, sum_of
from .reasons import Cause, Reason
from .specializer import Specializer

__all__ = ["backward_batch", "backward_batch_eagerly", "thread_count"]

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


def backward_batch(
    cache: engine.SpecializationCache, specializer: Specializer, eager: EagerRunner, batch: Batch, threads: int
) -> float:
    """The mean over ``batch``, whose gradient is added to ``.grad``. If anything raises, no gradient has changed."""
    seed = 1.0 / len(batch)
    done = cache.batch(batch, seed, threads)
    if type(done) is not tuple:  # isinstance(done, Reason) would ask for memory, and gradients have changed by now
        assert isinstance(done, Reason)
        return backward_batch_eagerly(eager, batch, Cause(done))
    total, unmatched = done
    if unmatched:
        total = _with_new_specializations(cache, specializer, eager, batch, unmatched, threads)
    specializer.tier_up.catch_up()
    return total * seed


def backward_batch_eagerly(eager: EagerRunner, batch: Batch, cause: Cause) -> float:
    """The same, where the function runs for every member."""
    seed = 1.0 / len(batch)
    total = sum_of([scalar(eager.run(tuple(member), False, cause).root) for member in batch])
    mean = number_of(total) * seed
    if isinstance(total, Value):
        total.backward(seed)
    return mean


def _with_new_specializations(
    cache: engine.SpecializationCache,
    specializer: Specializer,
    eager: EagerRunner,
    batch: Batch,
    unmatched: list[int],
    threads: int,
) -> float:
    """The sum over a batch of which the members ``unmatched`` fit no specialization; no gradient has changed yet.

    Traces the new structures. Members that still match nothing run eagerly.
    """
    seed = 1.0 / len(batch)
    for i in unmatched:
        if cache.unmatched([batch[i]]):
            specializer.specialize(False, tuple(batch[i]), Reason.NEW_ARGUMENTS)
    alone = set(cache.unmatched(batch))
    # The eager members run first: whatever they raise, they raise before a gradient has changed.
    cause = Cause(Reason.UNMATCHED_MEMBER)
    eagerly = sum_of([scalar(eager.run(tuple(batch[i]), False, cause).root) for i in sorted(alone)])
    together = [member for i, member in enumerate(batch) if i not in alone]
    done = cache.batch(together, seed, threads)
    if type(done) is not tuple or done[1]:
        raise RuntimeError("backward_batch: a parameter or a program was lost while the batch was run.")
    if isinstance(eagerly, Value):
        eagerly.backward(seed)
    return done[0] + number_of(eagerly)
