"""What all transforms share: a call with variables in place of arguments, and results as the caller gets them."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import engine
from ..engine import Value
from ..engine.containers import note_record, taken_apart
from ..engine.pytree import Leaf, Structure, flatten, join, new_leaves, single_output, without_values
from ..errors import pair_expected
from . import sparse as sparse_matrices
from .active import (
    Transform,
    is_differentiating,
    is_recorded,
    remember_transform,
    running,
    running_transform,
)

__all__ = ["Argnums", "Call", "Results", "as_returned", "function_name", "pair", "transformed_by"]

Results = list[Any]

#: Which arguments a transform differentiates: positions or names, one or several.
Argnums: TypeAlias = int | str | Sequence[int | str]


_PLAIN = frozenset({float, int, bool, str, bytes, complex, type(None), np.float64})


class Call:
    """One call of the user's function, with fresh variables instead of the arguments to differentiate.

    ``connected`` tells whether the results are Values that belong to the caller's graph, or floats.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.function = function
        self.arguments = list(arguments)
        self.keywords = keywords
        self.connected = is_differentiating() or any(map(_holds_values, (*arguments, *keywords.values())))
        self.recording: bool = engine.is_recording()
        self.variables: list[Value] = []
        self.numbers: list[Value] = []  #: those of them that are no parameters of a module

    def differentiate(self, positions: Sequence[int]) -> list[Structure]:
        """Replace the arguments at ``positions`` by variables. Returns the structures of those arguments."""
        flat = [flatten(self.arguments[i], f"argument {i} of {function_name(self.function)}") for i in positions]
        self.connected = self.connected or any(structure.holds_values for _, structure in flat)
        for position, (leaves, structure) in zip(positions, flat, strict=True):
            recorded = self.connected or engine.program_recorder() is not None
            fresh = [_variable(leaf) for leaf in leaves] if recorded else new_leaves(leaves)
            self.variables.extend(fresh)
            self.numbers.extend(fresh if structure.kind != "module" else ())
            self.arguments[position] = structure.fill(fresh)
        return [structure for _, structure in flat]

    def run(self) -> Any:
        return self.function(*self.arguments, **self.keywords)

    def scalar(self) -> Leaf:
        """The function's single result. Raises TypeError when it returns anything else."""
        return single_output(self.run(), f"the result of {function_name(self.function)}")

    def scalar_and_aux(self, has_aux: bool) -> tuple[Leaf, Any]:
        """The single result and, with ``has_aux``, what the function returns beside it."""
        if not has_aux:
            return self.scalar(), None
        value, aux = pair(self.run(), self.function)
        return single_output(value, f"the first result of {function_name(self.function)}"), aux

    def returned(self, results: Results) -> Results:
        """Results as the caller gets them."""
        return as_returned(results, self.connected, self.recording)

    def released(self, aux: Any) -> Any:
        """What the function returned beside its result: numbers for Values, unless the caller gets Values, too."""
        if isinstance(aux, Value):
            return self.returned([aux])[0]
        if isinstance(aux, dict):
            return {key: self.released(item) for key, item in aux.items()}
        if isinstance(aux, (list, tuple)):
            items = [self.released(item) for item in aux]
            return items if isinstance(aux, list) else aux._make(items) if hasattr(aux, "_make") else tuple(items)
        return aux


def _holds_values(thing: Any) -> bool:
    """Whether an argument is a Value, or a container of some; a module's parameters are its numbers."""
    rest, seen = [thing], dict[int, Any]()  # an object may contain itself
    while rest:
        thing = rest.pop()
        if isinstance(thing, Value):
            return True
        if type(thing) in _PLAIN or id(thing) in seen or without_values(thing):
            continue
        seen[id(thing)] = thing
        if type(thing) in (list, tuple):
            rest += [item for item in thing if type(item) not in _PLAIN]
        elif isinstance(thing, np.ndarray):
            rest += thing.ravel().tolist() if thing.dtype == object else []
        else:
            with contextlib.suppress(AttributeError, TypeError):  # a field that is not set, or another attribute
                note_record(thing)
                container = taken_apart(thing)
                rest += [] if container is None else container.items
    return False


def _variable(leaf: Leaf) -> Value:
    """A fresh Value to differentiate with respect to: a leaf, or a node that keeps ``leaf`` in the graph."""
    return engine.apply("identity", leaf) if isinstance(leaf, Value) else Value(leaf)


def pair(result: Any, function: Callable[..., Any]) -> tuple[Any, Any]:
    """The result of a function with ``has_aux``. Raises TypeError unless it is a pair."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise pair_expected(function_name(function), result)
    return result


def function_name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _bound(
    function: Callable[..., Any], argnums: Argnums, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[int | tuple[int, ...], tuple[Any, ...], dict[str, Any]]:
    """The positions to differentiate and the arguments by position, where names or keywords were given."""
    several = isinstance(argnums, (tuple, list))
    wanted: list[Any] = list(argnums) if isinstance(argnums, (tuple, list)) else [argnums]
    if not keywords and not any(isinstance(name, str) for name in wanted):
        return argnums, arguments, keywords  # type: ignore[return-value]  # no name among them
    call = inspect.signature(function).bind(*arguments, **keywords)
    call.apply_defaults()
    names = list(call.arguments)[: len(call.args)]
    for name in wanted:
        if isinstance(name, str) and name not in names:
            those = ", ".join(names)
            raise TypeError(f"{function_name(function)} has no argument {name!r} by position; it has {those}.")
    positions = [names.index(name) if isinstance(name, str) else name for name in wanted]
    return tuple(positions) if several else positions[0], call.args, call.kwargs


def _positions(argnums: Argnums, function: Callable[..., Any], count: int) -> list[int]:
    positions = []
    for number in argnums if isinstance(argnums, (tuple, list)) else [argnums]:
        assert isinstance(number, int)  # a name has become a position by now
        if not -count <= number < count:
            raise TypeError(
                f"argnums is {argnums!r}, but {function_name(function)} was called with {count} positional arguments; "
                "an argument that is a keyword only cannot be differentiated: pass it by position."
            )
        positions.append(number % count)
    if len(set(positions)) < len(positions):
        raise ValueError(f"argnums is {argnums!r}, which names an argument of {function_name(function)} twice.")
    return positions


def _check(function: Any, argnums: Any) -> None:
    """Raise TypeError unless a transform can be made of these: before the call, which may never come."""
    if isinstance(function, Value):
        raise TypeError(
            "a transform takes a function and got a Value: the derivative of y by xs is rg.gradient(y, xs)."
        )
    if not callable(function):
        raise TypeError(f"a transform takes a function and got {function!r} of type {type(function).__name__}.")
    wanted = argnums if isinstance(argnums, (tuple, list)) else [argnums]
    if not all(isinstance(which, (int, str)) for which in wanted):
        raise TypeError(
            f"argnums must be the position or the name of an argument, or a tuple of them; it is {argnums!r}. "
            "The arguments come in a call of what the transform returns: rg.grad(f)(2.0)."
        )


def _joined_structure(structures: Sequence[Structure], argnums: Argnums) -> Structure:
    """The structure of all differentiated arguments: that of the one, or a tuple."""
    return structures[0] if isinstance(argnums, int) else join(structures)


def as_returned(results: Results, connected: bool, recording: bool) -> Results:
    """Results as the caller gets them: floats, Values in the graph, or new leaves when the caller does not record."""
    if not connected:
        return [result.data if isinstance(result, Value) else result for result in results]
    return [
        result
        if recording and isinstance(result, Value)
        else Value(result.data if isinstance(result, Value) else result)
        for result in results
    ]


def transformed_by(
    function: Callable[..., Any],
    argnums: Argnums,
    body: Callable[[Call, Structure], tuple[Results, Callable[[Results], Any]]],
    key: Any,
    of_compiled: Callable[[tuple[float, Any]], Any] | None = None,
    finish: Callable[[Any], Any] | None = None,
) -> Callable[..., Any]:
    """A function of the same arguments that runs ``body`` on a call with variables for ``argnums``.

    ``body`` gets the call and the structure of the differentiated arguments. It returns a flat list of results, floats
    unless the call is connected, and a function that arranges such a list for the caller. ``of_compiled`` takes the
    result from a compiled function's own value and gradient. Where it cannot, a compiled function's derivative is a
    program of its own, kept by ``key``. ``finish`` makes of a result what the caller gets.
    """
    _check(function, argnums)
    counted = _counted(argnums)
    fast = counted if of_compiled is not None and hasattr(function, "scalar_function") else []
    furthest = max(fast, default=-1)
    is_compiled = hasattr(function, "scalar_function") and hasattr(function, "derivative")

    def of_plain(plain: Callable[..., Any], which: Argnums) -> Callable[..., Any]:
        if finish is not None:
            sparse_matrices.check(False, function_name(function))  # here, since importing SciPy is an effect
        return transformed_by(plain, which, body, key)

    @functools.wraps(function, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def transformed(*arguments: Any, **keywords: Any) -> Any:
        if 0 <= furthest < len(arguments) and not keywords and not is_recorded():
            found = _answered(function, argnums, fast, arguments)
            if found is None and without_values(arguments):
                found = _value_and_grad(function, argnums, fast, arguments)
            if found is not None:
                return of_compiled(found)  # type: ignore[misc]
        wanted: Any = argnums
        if keywords or not counted:
            wanted, arguments, keywords = _bound(function, argnums, arguments, keywords)
        if of_compiled is not None and (compiled := _compiled(function, wanted, arguments, keywords)) is not None:
            return of_compiled(compiled)
        if is_compiled and not is_recorded():
            which = tuple(wanted) if isinstance(wanted, list) else wanted
            derivative = function.derivative((key, which), lambda plain: of_plain(plain, which))  # type: ignore[attr-defined]
            result = derivative(*arguments, **keywords)
            return finish(result) if finish else result
        recording = engine.is_recording()
        positions = _positions(wanted, function, len(arguments))
        call = Call(function, arguments, keywords)
        with running_transform(call.numbers):
            inputs = _joined_structure(call.differentiate(positions), wanted)
            results, arrange = body(call, inputs)
        result = arrange(as_returned(results, True, recording) if call.connected else results)
        return finish(result) if finish else result

    if finish is not None and is_compiled and counted:
        return _by_matrices(function, (key, argnums), transformed, of_plain, finish)
    if of_compiled is not None:
        remember_transform(
            transformed,
            Transform(
                function,
                lambda other: transformed_by(other, argnums, body, key, of_compiled),
                functools.partial(_many_compiled, function, argnums, of_compiled),
            ),
        )
    return transformed


def _by_matrices(
    function: Any,
    key: tuple[Any, Argnums],
    transformed: Callable[..., Any],
    of_plain: Callable[[Callable[..., Any], Argnums], Callable[..., Any]],
    finish: Callable[[Any], Any],
) -> Callable[..., Any]:
    """``transformed``, a sparse derivative of a compiled function, by what makes its matrix natively.

    That is kept with the compiled function, which lets go of it when it forgets its programs.
    """
    name, which = repr(key), tuple(key[1]) if isinstance(key[1], list) else key[1]

    @functools.wraps(function, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def sparse(*arguments: Any, **keywords: Any) -> Any:
        if keywords or running.count:
            return transformed(*arguments, **keywords)
        matrices: dict[str, Callable[..., Any]] = function._matrices  # captured, its change would be an effect
        matrix = matrices.get(name)
        if matrix is None:
            derivative = function.derivative((key[0], which), lambda plain: of_plain(plain, which))
            matrix = matrices[name] = derivative._as_matrices(finish)
        return matrix(*arguments)

    return sparse


def _compiled(
    f: Callable[..., Any], argnums: Argnums, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[float, Any] | None:
    """What the compiled ``value_and_grad`` of ``f`` gives, where the transform gives the same: for plain numbers."""
    if not arguments or not hasattr(f, "scalar_function") or is_recorded():
        return None
    if any(map(_holds_values, arguments)):
        return None
    positions = _positions(argnums, f, len(arguments))
    for i in positions:
        if without_values(arguments[i]):
            continue
        _, structure = flatten(arguments[i], f"argument {i} of {function_name(f)}")
        if structure.holds_values or structure.kind == "module":
            return None
    if not keywords:
        return _value_and_grad(f, argnums, positions, arguments)
    return f.value_and_grad(*arguments, **keywords) if argnums == 0 else None  # type: ignore[attr-defined]


def _counted(argnums: Argnums) -> list[int]:
    """The positions that argnums gives, each once, as numbers that count from the first argument; else none."""
    wanted: list[Any] = list(argnums) if isinstance(argnums, (tuple, list)) else [argnums]
    counted = len(set(wanted)) == len(wanted) and all(isinstance(i, int) and i >= 0 for i in wanted)
    return wanted if counted else []


def _value_and_grad(
    f: Any, argnums: Argnums, positions: Sequence[int], arguments: tuple[Any, ...]
) -> tuple[float, Any]:
    """What a compiled function's own ``value_and_grad`` gives for the arguments at ``positions``."""
    if argnums == 0:
        return f.value_and_grad(*arguments)  # type: ignore[no-any-return]
    variant, reordered = _by_first(f, argnums, positions, [arguments])
    return variant.value_and_grad(*reordered[0])  # type: ignore[no-any-return]


def _answered(f: Any, argnums: Argnums, positions: Sequence[int], arguments: tuple[Any, ...]) -> Any:
    """The same where a program of ``f`` tells that there is no Value among the arguments; else None."""
    if argnums != 0:
        f, (arguments,) = _by_first(f, argnums, positions, [arguments])
    answered = getattr(f, "_gradients_of_numbers", None)
    return answered(*arguments) if answered is not None else None


def _are_numbers(column: Sequence[Any]) -> bool:
    """Whether all are floats, or arrays of them, which can be seen at a glance."""
    kinds = set(map(type, column))
    if kinds == {np.ndarray}:
        return {argument.dtype for argument in column} == {np.dtype(float)}
    return kinds <= {float, np.float64}


def _hold_values(column: Sequence[Any], label: str) -> bool:
    """Whether there is a Value in any of some arguments, or a module."""
    each_once = list({id(argument): argument for argument in column}.values())
    return flatten(each_once, label)[1].holds_values


def _by_first(
    f: Any, argnums: Argnums, positions: Sequence[int], calls: Sequence[tuple[Any, ...]]
) -> tuple[Any, list[tuple[Any, ...]]]:
    """A compiled function that takes the arguments at ``positions`` first, and those of some calls in its order."""
    several = not isinstance(argnums, int)
    reordered = []
    for arguments in calls:
        for i in positions:
            if arguments[i] is None:  # which a tuple may hold, and which is no argument to differentiate
                flatten(None, f"argument {i} of {function_name(f)}")  # raises
        first = tuple(arguments[i] for i in positions) if several else arguments[positions[0]]
        reordered.append((first, *(argument for i, argument in enumerate(arguments) if i not in positions)))
    return f.differentiated_by(positions, several), reordered


def _many_compiled(
    f: Callable[..., Any],
    argnums: Argnums,
    of_compiled: Callable[[tuple[float, Any]], Any],
    calls: list[tuple[Any, ...]],
    threads: int | None,
) -> list[Any] | None:
    """The same for many calls with as many arguments each, all by position."""
    if not calls or not hasattr(f, "value_and_grad_batch") or is_recorded():
        return None
    columns = list(zip(*calls, strict=True))
    names = argnums if isinstance(argnums, (tuple, list)) else [argnums]
    if any(isinstance(name, str) for name in names):
        return None
    if any(issubclass(kind, Value) for column in columns for kind in set(map(type, column))):
        return None
    positions = _positions(argnums, f, len(columns))
    for i in positions:
        if not _are_numbers(columns[i]) and _hold_values(columns[i], f"argument {i} of {function_name(f)}"):
            return None
    if argnums != 0:
        f, calls = _by_first(f, argnums, positions, calls)
    pairs = f.value_and_grad_batch(calls, threads=threads)
    return [of_compiled(pair) for pair in pairs]
