"""The base class of everything that has parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..engine import Value, zero_gradients
from ..errors import CheckpointError
from ..habits import MODULE, elsewhere

__all__ = ["Module"]

#: A parameter block: the Values of one attribute in row-major order, and the shape of their nesting.
_Block = tuple[list[Value], tuple[int, ...]]


class Module:
    """Something with parameters: a neuron, a layer, a whole model.

    The parameters are the leaf Values that the instance's public attributes hold, directly or in lists,
    tuples, dicts, object arrays and other modules, in the order of assignment. A result of an operation
    that happens to be kept in an attribute is no parameter; neither is anything behind a leading underscore. A
    module that refers back to the one it is part of is not entered again.
    A subclass may define ``parameters`` itself, as micrograd's do. What it computes is its ``forward``, which a call
    runs; or it defines ``__call__``.

    Attributes:
        training: Whether ``train()`` or ``eval()`` was called last, for modules that differ in training; True at first.

    Example:
        >>> import retrograd as rg
        >>> class Line(rg.nn.Module):
        ...     def __init__(self):
        ...         self.slope, self.offset = rg.Value(2.0), rg.Value(1.0)
        ...
        ...     def forward(self, x):
        ...         return self.slope * x + self.offset
        >>> line = Line()
        >>> line(3.0).backward()
        >>> [(name, p.data, p.grad) for name, p in line.named_parameters()]
        [('slope', 2.0, 3.0), ('offset', 1.0, 1.0)]
    """

    training: bool = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run :meth:`forward`, which a subclass defines.

        Args:
            *args: What ``forward`` takes.
            **kwargs: What it takes by name.

        Returns:
            What ``forward`` returns.
        """
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. A subclass defines it.

        Args:
            *args: The module's inputs.
            **kwargs: Those that it takes by name.

        Returns:
            What it computes.

        Raises:
            TypeError: The class does not say what it computes.
        """
        raise TypeError(
            f"a {type(self).__name__} cannot be called: define what it computes as its method forward(self, x)."
        )

    if not TYPE_CHECKING:  # a type checker would believe that every attribute exists

        def __getattr__(self, name: str) -> NoReturn:
            raise elsewhere(f"{type(self).__name__!r} object", name, MODULE)

    def modules(self) -> Iterator[Module]:
        """This module and every module in its public attributes, each once, in the order of assignment.

        Returns:
            An iterator.

        Example:
            >>> import retrograd as rg
            >>> [type(module).__name__ for module in rg.nn.MLP(1, [1]).modules()]
            ['MLP', 'Layer', 'Neuron']
        """
        return (module for _, module in self.named_modules())

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        """Every module with its path through attributes and lists; this one's is empty.

        Returns:
            An iterator of pairs such as ``("layers.0", module)``.
        """
        seen: set[int] = set()
        for name, module in _modules_in("", self):
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules that this one holds directly, in attributes or in lists there, each once.

        Returns:
            An iterator.
        """
        held = (module for name, item in vars(self).items() if name[:1] != "_" for module in _held(item))
        return iter({id(module): module for module in held}.values())

    def apply(self, function: Callable[[Module], object]) -> Self:
        """Call ``function`` with every module: those inside first, this one last.

        Args:
            function: A function of a module, such as one that initializes its parameters.

        Returns:
            This module.
        """
        for module in reversed(list(self.modules())):
            function(module)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set ``training`` of this module and every module inside.

        Args:
            mode: What to set it to.

        Returns:
            This module.

        Example:
            >>> import retrograd as rg
            >>> rg.nn.MLP(2, [1]).eval().layers[0].training
            False
        """
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Set ``training`` to False, here and in every module inside.

        Returns:
            This module.
        """
        return self.train(False)

    def parameters(self) -> list[Value]:
        """Every parameter once, in the order of assignment.

        Returns:
            A new list of leaf Values.
        """
        values: dict[Value, None] = {}
        _gather(self, values)
        return list(values)

    def named_parameters(self) -> Iterator[tuple[str, Value]]:
        """Every parameter once, with its path through attributes and lists.

        Returns:
            An iterator of pairs such as ``("layers.0.neurons.3.w.1", value)``.
        """
        seen = set()
        for name, (values, shape) in _blocks(self):
            for index, value in zip(np.ndindex(shape), values, strict=True):
                if value not in seen:
                    seen.add(value)
                    yield ".".join([name, *map(str, index)]), value

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Set the gradient of every parameter to zero.

        Args:
            set_to_none: Accepted as PyTorch has it; a gradient here is a number, and zero either way.
        """
        zero_gradients(self.parameters())

    def state_dict(self) -> dict[str, NDArray[np.float64]]:
        """A copy of the parameters, to be saved.

        Returns:
            For each attribute that holds some, its path and a float64 array in the shape of its nesting.

        Example:
            >>> import retrograd as rg
            >>> {name: array.shape for name, array in rg.nn.Linear(2, 3).state_dict().items()}
            {'weight': (3, 2), 'bias': (3,)}
        """
        return {
            name: np.array([value.data for value in values], dtype=np.float64).reshape(shape)
            for name, (values, shape) in _blocks(self)
        }

    def load_state_dict(self, state: Mapping[str, ArrayLike], strict: bool = True) -> None:
        """Set the parameters from what :meth:`state_dict` returned; nothing is set unless all of it fits.

        Args:
            state: Arrays, or nested lists of numbers, by path.
            strict: Whether a name on one side only is an error; with False it is passed over.

        Raises:
            CheckpointError: A name is missing or unknown, a shape differs, or an array holds something other than real
                numbers. The message names the arrays.
        """
        blocks = dict(_blocks(self))
        missing, unknown = blocks.keys() - state.keys(), state.keys() - blocks.keys()
        if strict and (missing or unknown):
            parts = [f"lacks {_some(missing)}"] * bool(missing) + [f"has the unknown {_some(unknown)}"] * bool(unknown)
            raise CheckpointError(f"these parameters belong to another model: the state {' and '.join(parts)}.")
        arrays = {name: _fitting(name, state[name], blocks[name][1]) for name in blocks if name in state}
        for name, array in arrays.items():
            for value, data in zip(blocks[name][0], array.ravel().tolist(), strict=True):
                value.data = data


def _held(attribute: Any) -> Iterator[Module]:
    """The modules in an attribute, without those inside them."""
    if isinstance(attribute, Module):
        yield attribute
    elif isinstance(attribute, (list, tuple, dict)):
        for item in attribute.values() if isinstance(attribute, dict) else attribute:
            yield from _held(item)


def _modules_in(name: str, attribute: Any, above: tuple[Module, ...] = ()) -> Iterator[tuple[str, Module]]:
    """The modules in an attribute and inside them, with their paths."""
    if isinstance(attribute, Module):
        if _is_in(attribute, above):
            return
        yield name, attribute
        items, above = vars(attribute).items(), (*above, attribute)
        entries = [(key, item) for key, item in items if not key.startswith("_")]
    elif isinstance(attribute, (list, tuple)):
        entries = [(str(index), item) for index, item in enumerate(attribute)]
    elif isinstance(attribute, dict):
        entries = [(str(key), item) for key, item in attribute.items()]
    else:
        return
    for key, item in entries:
        yield from _modules_in(f"{name}.{key}" if name else key, item, above)


def _gather(attribute: Any, values: dict[Value, None], above: tuple[Module, ...] = ()) -> None:
    """Add the leaf Values in ``attribute``, in the order of :func:`_blocks`; ``above`` are the modules that hold it."""
    if isinstance(attribute, Value):
        if not attribute._children:
            values[attribute] = None
    elif isinstance(attribute, (list, tuple)):
        for item in attribute:
            _gather(item, values, above)
    elif isinstance(attribute, Module):
        if _is_in(attribute, above):
            return
        for name, inner in vars(attribute).items():
            if not name.startswith("_"):
                _gather(inner, values, (*above, attribute))
    elif isinstance(attribute, dict):
        for item in attribute.values():
            _gather(item, values, above)
    elif isinstance(attribute, np.ndarray) and attribute.dtype == object:
        _gather(attribute.tolist(), values, above)


def _is_in(module: Module, above: tuple[Module, ...]) -> bool:
    return any(module is owner for owner in above)


def _blocks(module: Module, above: tuple[Module, ...] = ()) -> Iterator[tuple[str, _Block]]:
    if _is_in(module, above):
        return
    for name, attribute in vars(module).items():
        if not name.startswith("_"):
            yield from _blocks_in(name, attribute, (*above, module))


def _blocks_in(name: str, attribute: Any, above: tuple[Module, ...]) -> Iterator[tuple[str, _Block]]:
    if isinstance(attribute, Module):
        for inner, block in _blocks(attribute, above):
            yield f"{name}.{inner}", block
        return
    if isinstance(attribute, np.ndarray) and attribute.dtype == object:
        attribute = attribute.tolist()
    whole = _as_block(attribute)
    if whole is not None:
        yield name, whole
    elif isinstance(attribute, (list, tuple)):
        for index, item in enumerate(attribute):
            yield from _blocks_in(f"{name}.{index}", item, above)
    elif isinstance(attribute, dict):
        for key, item in attribute.items():
            yield from _blocks_in(f"{name}.{key}", item, above)


def _as_block(attribute: Any) -> _Block | None:
    """The attribute as one block, if it is a leaf Value, or a rectangular nesting of lists of leaf Values."""
    if isinstance(attribute, Value):
        return None if attribute._children else ([attribute], ())
    if not isinstance(attribute, (list, tuple)) or not attribute:
        return None
    inner = [_as_block(item) for item in attribute]
    first = inner[0]
    if first is None or any(block is None or block[1] != first[1] for block in inner):
        return None
    return [value for block in inner if block for value in block[0]], (len(inner), *first[1])


def _fitting(name: str, given: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        raise CheckpointError(f"parameter {name!r} must be an array; its rows differ in length or kind.") from None
    if array.dtype.kind not in "fiu":
        raise CheckpointError(f"parameter {name!r} must be an array of real numbers, not of {array.dtype}.")
    if array.shape != shape:
        raise CheckpointError(
            f"parameter {name!r} has the shape {_times(shape)} in this model and {_times(array.shape)} in the state; "
            "build the model with the sizes it was saved with."
        )
    return array.astype(np.float64)


def _times(shape: tuple[int, ...]) -> str:
    return " by ".join(map(str, shape)) or "of one number"


def _some(names: set[str]) -> str:
    listed = ", ".join(map(repr, sorted(names)[:3]))
    return listed if len(names) <= 3 else f"{listed} and {len(names) - 3} more"
