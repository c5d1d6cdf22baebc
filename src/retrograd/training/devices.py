"""Data-parallel training on the devices of a JAX mesh: each has all parameters and a share of a step's members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..compiler import compile as compiled
from ..compiler.backends.jax import JaxFunction
from ..engine import Value
from ..ops.jax_functions import double_precision, import_jax
from ..optim import Adam, AdamW

__all__ = ["DataParallel"]

Member = tuple[Any, ...]
_Parts = tuple[Callable[..., Any], Callable[..., Any]]


class DataParallel:
    """Steps of ``optimizer``, an Adam or AdamW, on the mean of ``loss`` over many members, in double precision.

    Members of like structure (documents of one length) are computed together, divided among ``devices`` devices; what
    does not divide evenly is filled up with members of weight zero, so the mean is exact. Losses and parameters are
    those of ``loss(*member).backward()`` and ``optimizer.step()`` but for rounding, on any number of devices.

    From the first step on the numbers live on the devices; :meth:`write_back` copies them back into the Values and the
    optimizer. A step whose loss is not finite changes nothing. Where ``jax.distributed`` connects several processes,
    each makes the same calls, and ``devices`` counts all of theirs.

    ``devices`` None takes all that JAX sees. Raises MissingExtraError without JAX, ValueError for more devices than
    there are, and TypeError for another optimizer.
    """

    def __init__(self, loss: Callable[..., Value], optimizer: Adam, devices: int | None = None) -> None:
        jax = self._jax = import_jax("training on a mesh of devices")
        if not isinstance(optimizer, Adam):
            raise TypeError(f"training on a mesh takes Adam or AdamW, not {type(optimizer).__name__}.")
        found = jax.devices()
        count = len(found) if devices is None else devices
        if not 1 <= count <= len(found):
            raise ValueError(
                f"{count} devices were requested and JAX has {len(found)} ({found[0].platform}): request 1 to "
                f"{len(found)}, or split the CPU with XLA_FLAGS=--xla_force_host_platform_device_count={count}."
            )
        mesh = jax.sharding.Mesh(np.asarray(found[:count]), ("members",))
        self._whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        self._divided = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("members"))
        self._devices: int = count
        self._loss = compiled(loss, pure=True)
        self._optimizer = optimizer
        self._functions: list[tuple[JaxFunction, _Parts]] = []
        self._update = jax.jit(_guarded(_adam(optimizer)), donate_argnums=0, out_shardings=self._whole)
        self._state: Any = None

    def step(self, members: Sequence[Member]) -> float:
        """One step on ``members``, tuples of arguments of the loss; their mean loss before it.

        Raises ValueError when there are none, and what ``Compiled.to_jax`` and ``JaxFunction.inputs`` raise.
        """
        if not members:
            raise ValueError("a step takes at least one member, a tuple of arguments.")
        with double_precision():
            buckets = self._bucketed(members)
            if self._state is None:
                self._state = self._placed(self._fresh(), self._whole)
            rate = self._optimizer.lr
            if len(buckets) == 1:
                (whole_step, _), inputs, weights = buckets[0]
                self._state, loss = whole_step(self._state, inputs, weights, rate)
                return float(loss)
            sums = self._placed((np.zeros(()), np.zeros(len(self._optimizer.params))), self._whole)
            for (_, share), inputs, weights in buckets:
                sums = share(self._state[0], sums, inputs, weights)
            self._state, loss = self._update(self._state, sums, rate)
            return float(loss)

    def write_back(self) -> None:
        """Copy the parameters and the optimizer's state from the devices into the Values and the optimizer."""
        if self._state is None:
            return
        parameters, first, second, steps = (np.asarray(array) for array in self._state)
        for value, number in zip(self._optimizer.params, parameters.tolist(), strict=True):
            value.data = number
        self._optimizer.m[:], self._optimizer.v[:] = first, second
        self._optimizer.steps = int(steps)

    # --- a step's members -----------------------------------------------------------------------------------------

    def _bucketed(self, members: Sequence[Member]) -> list[tuple[_Parts, Any, Any]]:
        """The members grouped by structure: for each group its functions, and its inputs and weights on the devices."""
        chosen: dict[int, list[Member]] = {}
        for member in members:
            chosen.setdefault(self._number_of(member), []).append(member)
        buckets = []
        for number, alike in sorted(chosen.items()):
            function, parts = self._functions[number]
            each = -(-len(alike) // self._devices)
            size = self._devices * (1 << (each - 1).bit_length())  # few sizes, since each is compiled
            filled = [*alike, *[alike[0]] * (size - len(alike))]
            weights = np.where(np.arange(size) < len(alike), 1.0 / len(members), 0.0)
            buckets.append((parts, *self._placed((function.batch(filled), weights), self._divided)))
        return buckets

    def _number_of(self, member: Member) -> int:
        for number, (function, _) in enumerate(self._functions):
            if function.fits(*member):
                return number
        function = self._loss.to_jax(*member, parameters=list(self._optimizer.params))
        self._functions.append((function, self._parts(function)))
        return len(self._functions) - 1

    def _placed(self, arrays: Any, sharding: Any) -> Any:
        """NumPy arrays put on the devices; each process puts its part on its own devices."""
        jax = self._jax
        if jax.process_count() == 1:
            return jax.device_put(arrays, sharding)
        return jax.tree.map(
            lambda array: jax.make_array_from_callback(array.shape, sharding, lambda part: array[part]), arrays
        )

    def _fresh(self) -> tuple[Any, ...]:
        optimizer = self._optimizer
        parameters = np.asarray([value.data for value in optimizer.params], dtype=np.float64)
        return parameters, optimizer.m.copy(), optimizer.v.copy(), np.asarray(optimizer.steps)

    # --- what runs on the devices ---------------------------------------------------------------------------------

    def _parts(self, function: JaxFunction) -> _Parts:
        """Two jitted functions: a whole step, for members of one structure, and one that adds a group to ``sums``."""
        jax, update = self._jax, _guarded(_adam(self._optimizer))

        def mean(parameters: Any, inputs: Any, weights: Any) -> Any:
            each = jax.vmap(function, (None, *[0] * len(inputs)), axis_size=len(weights))(parameters, *inputs)
            return (weights * each).sum()

        def whole_step(state: Any, inputs: Any, weights: Any, rate: Any) -> Any:
            return update(state, jax.value_and_grad(mean)(state[0], inputs, weights), rate)

        def share(parameters: Any, sums: Any, inputs: Any, weights: Any) -> Any:
            loss, gradient = jax.value_and_grad(mean)(parameters, inputs, weights)
            return sums[0] + loss, sums[1] + gradient

        return (
            jax.jit(whole_step, donate_argnums=0, out_shardings=self._whole),
            jax.jit(share, donate_argnums=1, out_shardings=self._whole),
        )


def _guarded(update: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, Any]]:
    """An update that changes nothing when the loss is not finite, and that also returns the loss."""

    def step(state: Any, sums: Any, rate: Any) -> tuple[Any, Any]:
        import jax.numpy as jnp

        loss, gradient = sums
        new = update(*state, gradient, rate)
        return tuple(jnp.where(jnp.isfinite(loss), b, a) for a, b in zip(state, new, strict=True)), loss

    return step


def _adam(optimizer: Adam) -> Callable[..., tuple[Any, ...]]:
    """The optimizer's step on vectors: parameters, first and second moment, number of steps, gradient, rate."""
    (beta1, beta2), eps, decay = optimizer.betas, optimizer.eps, optimizer.weight_decay
    decoupled = isinstance(optimizer, AdamW)

    def update(parameters: Any, first: Any, second: Any, steps: Any, gradient: Any, rate: Any) -> tuple[Any, ...]:
        steps = steps + 1
        if decoupled:
            parameters = parameters * (1.0 - rate * decay)
        elif decay:
            gradient = gradient + decay * parameters
        first = beta1 * first + (1.0 - beta1) * gradient
        second = beta2 * second + (1.0 - beta2) * gradient * gradient
        mean, square = first / (1.0 - beta1**steps), second / (1.0 - beta2**steps)
        return parameters - rate * mean / (square**0.5 + eps), first, second, steps

    return update
