"""Several hosts: one process on each, connected by ``jax.distributed``, all with the same run.

Every process takes every step, and computes the members on its own devices. They share a folder, from which all read
when a run is resumed; the first process alone writes the checkpoint and the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import HostsError
from ..ops.jax_functions import import_jax

__all__ = ["connect", "insist_on_the_same", "together"]

#: Seconds in which all processes must have come, and after which one that is silent counts as lost.
PATIENCE, SILENCE = 120, 30


def connect(coordinator: str, processes: int | None = None, process_id: int | None = None) -> bool:
    """Join the other processes of a run, before anything else uses JAX.

    Args:
        coordinator: The address of the first process, as ``HOST:PORT``.
        processes: How many there are; None where JAX finds out, as on Slurm, Open MPI and Kubernetes.
        process_id: Which of them this is, from 0; None as above.

    Returns:
        Whether this is the first process, which writes.

    Raises:
        MissingExtraError: JAX is not installed.
        ValueError: The address is not one, or the numbers do not fit.
        HostsError: The others did not come.
    """
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"the coordinator is {coordinator!r}: give the first host's address as HOST:PORT.")
    if (processes is None) != (process_id is None):
        raise ValueError("the number of processes and this one's number come together: give both, or neither.")
    if processes is not None and process_id is not None and not 0 <= process_id < processes:
        raise ValueError(f"process {process_id} of {processes}: they are numbered from 0 to {processes - 1}.")
    jax = import_jax("training on several hosts")
    try:
        jax.distributed.initialize(
            coordinator, processes, process_id, initialization_timeout=PATIENCE, heartbeat_timeout_seconds=SILENCE
        )
    except RuntimeError as error:
        raise HostsError(f"the processes could not connect through {coordinator}: {_first_line(error)}.") from error
    return bool(jax.process_index() == 0)


@contextmanager
def together(jax: Any) -> Iterator[None]:
    """Turn the failure of what several processes compute together into a :class:`HostsError`."""
    if jax.process_count() == 1:
        yield
        return
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        raise HostsError(
            f"another process of the run is gone ({_first_line(error)}). The last checkpoint is kept: start all "
            "processes again, and let them resume the run (--resume)."
        ) from error


def insist_on_the_same(jax: Any, what: list[int]) -> None:
    """Compare numbers that must be equal in all processes. Raises HostsError where they are not."""
    if jax.process_count() == 1:
        return
    import numpy as np
    from jax.experimental import multihost_utils

    with together(jax):
        found = multihost_utils.process_allgather(np.asarray(what, dtype=np.int32))
    if (found != found[0]).any():
        raise HostsError(
            "the processes do not have the same run: give each the same options and the same folder, which they share, "
            f"and the same data (steps done and fingerprints: {found.tolist()})."
        )


def _first_line(error: Exception) -> str:
    """What an error says, without its details."""
    return (str(error).splitlines() or [type(error).__name__])[0].strip().rstrip(".")[:200]
