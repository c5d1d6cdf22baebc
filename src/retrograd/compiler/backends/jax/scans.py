"""Lowers a graph with loops to JAX: what iterations hand on is a ``lax.scan``, all else is mapped over them.

Each loop's body is traced once, so the size of the JAX program does not grow with the number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..loops.layouts.operands import Carry, Constant, Constants, Far, Leaf, Near, Operand
from ..loops.shapes.structure import Body, Position
from .op_functions import folds, row_functions
from .plan import Key, Plan, Roots, Work
from .reads import Read
from .views import gather

__all__ = ["lower_loops"]

#: Short bodies are repeated within an iteration of XLA's loop until they have about so many operations.
_UNROLLED = 8

#: Elements in so many stretches are sliced one by one; in more, gathered.
_STRETCHES = 6


def lower_loops(plan: Plan) -> Callable[[Any, Any], tuple[Any, Any]]:
    """A JAX function from the leaves, a vector, and a dtype to the graph's result, and all its roots as a vector."""
    return lambda leaves, dtype: _Evaluation(plan, leaves, dtype).roots()


class _Numbers:
    """The arrays that are known where some loops run: those of the innermost, and those of the ones around it.

    In the padding of a loop, whatever comes from outside gets no gradient: padding computes with any numbers.
    """

    def __init__(self, known: dict[Key, Any], outer: _Numbers | None = None, exists: Any = None) -> None:
        self._outer, self._exists = outer, exists
        self._known = known if exists is None else {key: self._guarded(each) for key, each in known.items()}

    def _guarded(self, number: Any) -> Any:
        import jax
        import jax.numpy as jnp

        if self._exists is None or not isinstance(number, jax.Array) or not jnp.issubdtype(number.dtype, jnp.floating):
            return number
        return jnp.where(self._exists, number, jax.lax.stop_gradient(number))

    def get(self, key: Key) -> Any:
        """An array, or None."""
        if key not in self._known and self._outer is not None:
            number = self._outer.get(key)
            if number is None:
                return None
            self._known[key] = self._guarded(number)
        return self._known.get(key)

    def __getitem__(self, key: Key) -> Any:
        number = self.get(key)
        assert number is not None
        return number

    def __setitem__(self, key: Key, number: Any) -> None:
        self._known[key] = number


class _Evaluation:
    """One pass over the graph, with JAX's arrays or tracers."""

    def __init__(self, plan: Plan, leaves: Any, dtype: Any) -> None:
        self._plan, self._leaves, self._dtype = plan, leaves, dtype
        self._rows = {**row_functions(), **folds()}

    def roots(self) -> tuple[Any, Any]:
        """The result, and all roots."""
        import jax.numpy as jnp

        top = _Numbers({})
        for body, mask in self._plan.masks.items():
            if mask is not None:
                top[body] = jnp.asarray(mask.table.astype(bool))
        for read in self._plan.varying():
            top[read] = jnp.asarray(read.table.astype(np.int32))
        self._run(self._plan.layout.top.items, top)
        return self._these(self._plan.result, top).reshape(()), self._these(self._plan.roots, top)

    def _these(self, roots: Roots, top: _Numbers) -> Any:
        """Some roots, as a vector."""
        import jax.numpy as jnp

        parts = [self._array(roots.literals)]
        if len(roots.leaves):
            parts.append(gather(self._leaves, roots.leaves))
        if roots.nodes is not None:
            parts.append(jnp.broadcast_to(self._taken(roots.nodes, top), (roots.count,)))
        return _elements(jnp.concatenate(parts), roots.order)

    def _array(self, number: Any) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(number, self._dtype)

    def _run(self, items: Iterable[Position | Body], numbers: _Numbers) -> None:
        """Compute items where the loops around them run, so that each position is one number."""
        layout = self._plan.layout
        for item in items:
            if isinstance(item, Position):
                operands = [self._read(operand, numbers) for operand in layout.operands[item.number]]
                numbers[item] = self._array(self._rows[layout.rows[item.number]](*operands))
            else:
                for work in self._plan.work[item]:
                    self._run_block(item, work, numbers)

    # --- operands -------------------------------------------------------------------------------------------

    def _read(self, operand: Operand, numbers: _Numbers) -> Any:
        """What an operand is for the loops that run: a number, or an array for those in them."""
        if isinstance(operand, Constant):
            return operand.number
        if isinstance(operand, Near):
            return numbers[operand.position]
        known = numbers.get(operand)
        if known is None:
            known = numbers[operand] = self._made(operand, numbers)
        return known

    def _made(self, operand: Operand, numbers: _Numbers) -> Any:
        import jax.numpy as jnp

        match operand:
            case Leaf():
                return gather(self._leaves, self._plan.numbers[operand].table.astype(np.int64))
            case Constants():
                return self._array(self._plan.numbers[operand].table)
            case Carry(frame=frame, start=start) if self._plan.is_own(operand):
                later = self._taken(self._plan.reads[operand], numbers)
                later = jnp.broadcast_to(later, (self._plan.axes.size(frame) - 1,))
                return jnp.concatenate([self._array(self._read(start, numbers))[None], later])
        return self._taken(self._plan.reads[operand], numbers)

    def _taken(self, read: Read, numbers: _Numbers) -> Any:
        """The elements that a Read takes."""
        import jax.numpy as jnp

        if not read.sources:  # nothing but padding
            return jnp.zeros(read.table.shape[max(read.depth - read.skipped, 0) :], self._dtype)
        parts = [numbers[source].reshape(-1) for source in read.sources]
        flat = parts[0] if len(parts) == 1 else jnp.concatenate(parts)
        if not read.varies:
            return _elements(flat, read.table)
        return flat.at[numbers[read]].get(mode="promise_in_bounds")

    # --- loops ----------------------------------------------------------------------------------------------

    def _run_block(self, body: Body, work: Work, numbers: _Numbers) -> None:
        import jax

        for operand in work.before:
            self._read(operand, numbers)
        block, size = work.block, self._plan.axes.size(body)
        if block.kind == "sum":
            self._add_up(body, work, numbers)
            return
        rows = [numbers[key] for key in work.rows]

        def step(handed: Sequence[list[Any]], rows: Sequence[Any]) -> tuple[list[list[Any]], list[Any]]:
            known = dict(zip(work.rows, rows, strict=True))
            known |= {one: next_[0] for one, next_ in zip(block.handed, handed, strict=True)}
            mask = self._plan.masks[body]
            exists = None if mask is None else known.get(body, numbers.get(body))
            inner = _Numbers(known, numbers, exists)
            self._run(block.items, inner)
            later = [[*next_[1:], self._following(one, inner)] for one, next_ in zip(block.handed, handed, strict=True)]
            return later, [inner[key] for key in work.out]

        if block.kind == "map":
            results = jax.vmap(lambda rows: step((), rows)[1], axis_size=size)(rows)
        else:
            start = [self._start(one, numbers) for one in block.handed]
            unroll = max(1, min(size, _UNROLLED // max(1, len(list(block.positions())))))
            _, results = jax.lax.scan(jax.checkpoint(step, prevent_cse=False), start, rows, size, unroll=unroll)
        for key, result in zip(work.out, results, strict=True):
            numbers[key] = result

    def _start(self, one: Carry | Far, numbers: _Numbers) -> list[Any]:
        """What the first iterations get."""
        if one in self._plan.starts:
            return [self._handed(one, read, numbers) for read in self._plan.starts[one]]
        assert isinstance(one, Carry)
        return [self._array(self._read(one.start, numbers))]

    def _following(self, one: Carry | Far, numbers: _Numbers) -> Any:
        if one in self._plan.followings:
            return self._handed(one, self._plan.followings[one], numbers)
        assert isinstance(one, Carry)
        return self._array(self._read(one.following, numbers))

    def _handed(self, one: Carry | Far, read: Read, numbers: _Numbers) -> Any:
        """What an iteration hands on, with the axes along which it differs in any of them."""
        import jax.numpy as jnp

        axes = self._plan.axes.sizes(one.frame)[self._plan.skipped(one) :]
        return jnp.broadcast_to(self._array(self._taken(read, numbers)), axes)

    def _add_up(self, body: Body, work: Work, numbers: _Numbers) -> None:
        """A number to which each iteration adds, or from which it subtracts."""
        import jax.numpy as jnp

        (item,), (carry,) = work.block.items, work.block.handed
        assert isinstance(item, Position)
        assert isinstance(carry, Carry)
        layout = self._plan.layout
        (other,) = (operand for operand in layout.operands[item.number] if operand is not carry)
        terms = jnp.broadcast_to(self._array(self._read(other, numbers)), (self._plan.axes.size(body),))
        start = self._array(self._read(carry.start, numbers))
        sums = jnp.cumsum(-terms if layout.rows[item.number] == "sub" else terms) + start
        numbers[item] = sums
        numbers[carry] = jnp.concatenate([start[None], sums[:-1]])


def _elements(flat: Any, table: Any) -> Any:
    """Elements at constant positions: slices where there are few stretches of them, else one gather."""
    import jax.numpy as jnp

    indices = table.ravel()
    breaks = np.flatnonzero(np.diff(indices) != 1) + 1
    if len(breaks) >= _STRETCHES:
        return gather(flat, table)
    parts = [gather(flat, part) for part in np.split(indices, breaks)]
    return (parts[0] if len(parts) == 1 else jnp.concatenate(parts)).reshape(table.shape)
