"""Data-parallel training on the devices of a JAX mesh: the members of a batch are sharded, parameters replicated."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..compiler import compile as compiled
from ..compiler.backends.jax import JaxFunction
from ..engine import Value
from ..ops.jax_functions import double_precision, import_jax
from ..optim import Adam, AdamW
from .hosts import insist_on_the_same, together

__all__ = ["DataParallel"]

Member = tuple[Any, ...]

#: Jitted, for members of one structure: a whole step, and the addition of their loss and gradient to others'.
_Compiled = tuple[Callable[..., Any], Callable[..., Any]]


class DataParallel:
    """Trains with Adam or AdamW on the mean loss of many members, on several devices, in double precision.

    Members of one structure, such as documents of one length, are computed together and divided among the devices.
    Where their number does not divide evenly, members of weight zero fill up, so the mean is exact. On any number of
    devices, losses and parameters are those of ``loss(*member).backward()`` and ``optimizer.step()`` but for rounding.

    From the first step on, parameters and moments live on the devices; :meth:`write_back` copies them back. A step
    whose loss is not finite changes nothing. Where ``jax.distributed`` connects several processes, each makes the same
    calls, and ``devices`` counts the devices of all.

    Args:
        loss: a scalar function of a member's arguments; what it reads besides is as in the first call.
        optimizer: whose parameters are trained, with its hyperparameters and moments.
        devices: how many devices to use; None takes all that JAX sees.

    Raises:
        MissingExtraError: JAX is not installed.
        TypeError: the optimizer is neither Adam nor AdamW.
        ValueError: there are fewer devices.

    Example::

        optimizer = rg.optim.Adam(model, lr=0.01)
        trainer = DataParallel(lambda x, y: (model(x) - y) ** 2, optimizer)
        for members in batches:  # lists of (x, y)
            mean_loss = trainer.step(members)
        trainer.write_back()
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
        if jax.process_count() > 1 and count != len(found):
            raise ValueError(
                f"{count} of {len(found)} devices were requested: several processes use all of them, so leave it out."
            )
        mesh = jax.sharding.Mesh(np.asarray(found[:count]), ("members",))
        self._replicated = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        self._sharded = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("members"))
        self._devices: int = count
        self._loss = compiled(loss)
        self._optimizer = optimizer
        self._functions: list[tuple[JaxFunction, _Compiled]] = []
        update = _unless_not_finite(_adam(optimizer))
        self._update = jax.jit(update, donate_argnums=0, out_shardings=self._replicated)
        self._state: Any = None

    def step(self, members: Sequence[Member]) -> float:
        """One step of the optimizer.

        Args:
            members: for each member of the batch, a tuple of the arguments of ``loss``.

        Returns:
            The mean loss before the step.

        Raises:
            ValueError: there are no members.
            NotTraceableError: no trace of ``loss`` is valid for other members.
            IndexError: an Index selects nothing.
            HostsError: another process is gone.
        """
        if not members:
            raise ValueError("a step takes at least one member, a tuple of arguments.")
        with together(self._jax), double_precision():
            buckets = self._buckets(members)
            if self._state is None:
                self._state = self._put(self._initial_state(), self._replicated)
            rate = self._optimizer.lr
            if len(buckets) == 1:
                (whole_step, _), inputs, weights = buckets[0]
                self._state, loss = whole_step(self._state, inputs, weights, rate)
                return float(loss)
            sums = self._put((np.zeros(()), np.zeros(len(self._optimizer.params))), self._replicated)
            for (_, add_bucket), inputs, weights in buckets:
                sums = add_bucket(self._state[0], sums, inputs, weights)
            self._state, loss = self._update(self._state, sums, rate)
            return float(loss)

    @property
    def first(self) -> bool:
        """Whether this process is the only one, or the first of several, which saves."""
        return bool(self._jax.process_index() == 0)

    def insist_on_the_same(self, done: int) -> None:
        """Compare the numbers of all processes before they train together. Raises HostsError where they differ."""
        arrays = self._state or self._initial_state()
        insist_on_the_same(self._jax, [done, *(zlib.crc32(np.asarray(array).tobytes()) >> 1 for array in arrays)])

    def write_back(self) -> None:
        """Copy the parameters into their Values, and the moments and number of steps into the optimizer.

        Later steps continue from the state on the devices.
        """
        if self._state is None:
            return
        parameters, first, second, steps = (np.asarray(array) for array in self._state)
        for value, number in zip(self._optimizer.params, parameters.tolist(), strict=True):
            value.data = number
        self._optimizer.m[:], self._optimizer.v[:] = first, second
        self._optimizer.steps = int(steps)

    # --- from members to arrays on the devices --------------------------------------------------------------------

    def _buckets(self, members: Sequence[Member]) -> list[tuple[_Compiled, Any, Any]]:
        """The members by structure: the jitted functions for it, and the sharded inputs and weights."""
        chosen: dict[int, list[Member]] = {}
        for member in members:
            chosen.setdefault(self._function_for(member), []).append(member)
        buckets = []
        for number, alike in sorted(chosen.items()):
            function, steps = self._functions[number]
            per_device = -(-len(alike) // self._devices)
            size = self._devices * (1 << (per_device - 1).bit_length())  # few sizes, since XLA compiles each
            filled = [*alike, *[alike[0]] * (size - len(alike))]
            weights = np.where(np.arange(size) < len(alike), 1.0 / len(members), 0.0)
            buckets.append((steps, *self._put((function.batch(filled), weights), self._sharded)))
        return buckets

    def _function_for(self, member: Member) -> int:
        """The number of the JAX function for members of this structure."""
        for number, (function, _) in enumerate(self._functions):
            if function.fits(*member):
                return number
        function = self._loss.to_jax(*member, parameters=list(self._optimizer.params))
        self._functions.append((function, self._compile(function)))
        return len(self._functions) - 1

    def _put(self, arrays: Any, sharding: Any) -> Any:
        """NumPy's arrays on the devices; each process gives the shards of its own devices."""
        jax = self._jax
        if jax.process_count() == 1:
            return jax.device_put(arrays, sharding)
        return jax.tree.map(
            lambda array: jax.make_array_from_callback(array.shape, sharding, lambda part: array[part]), arrays
        )

    def _initial_state(self) -> tuple[Any, ...]:
        """Parameters, first and second moments, and number of steps."""
        optimizer = self._optimizer
        parameters = np.asarray([value.data for value in optimizer.params], dtype=np.float64)
        return parameters, optimizer.m.copy(), optimizer.v.copy(), np.asarray(optimizer.steps)

    # --- what runs on the devices ---------------------------------------------------------------------------------

    def _compile(self, function: JaxFunction) -> _Compiled:
        """Jit what a bucket of members needs: a whole step, and the addition of loss and gradient to ``sums``."""
        jax, update = self._jax, _unless_not_finite(_adam(self._optimizer))

        def weighted_sum(parameters: Any, inputs: Any, weights: Any) -> Any:
            losses = jax.vmap(function, (None, *[0] * len(inputs)), axis_size=len(weights))(parameters, *inputs)
            return (weights * losses).sum()

        def whole_step(state: Any, inputs: Any, weights: Any, rate: Any) -> Any:
            return update(state, jax.value_and_grad(weighted_sum)(state[0], inputs, weights), rate)

        def add_bucket(parameters: Any, sums: Any, inputs: Any, weights: Any) -> Any:
            loss, gradient = jax.value_and_grad(weighted_sum)(parameters, inputs, weights)
            return sums[0] + loss, sums[1] + gradient

        return (
            jax.jit(whole_step, donate_argnums=0, out_shardings=self._replicated),
            jax.jit(add_bucket, donate_argnums=1, out_shardings=self._replicated),
        )


def _unless_not_finite(update: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, Any]]:
    """The update, but the old state where the loss is not finite; it also gives the loss."""

    def step(state: Any, sums: Any, rate: Any) -> tuple[Any, Any]:
        import jax.numpy as jnp

        loss, gradient = sums
        updated = update(*state, gradient, rate)
        return tuple(jnp.where(jnp.isfinite(loss), new, old) for old, new in zip(state, updated, strict=True)), loss

    return step


def _adam(optimizer: Adam) -> Callable[..., tuple[Any, ...]]:
    """The optimizer's step as a function of arrays: the state, the gradient and the learning rate."""
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
