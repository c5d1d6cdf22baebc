"""What a Value offers and its documentation, once for both engines.

:class:`Value` here is never instantiated. ``tools/generate.py`` writes its signatures and docstrings into the stub
``_native.pyi`` and its docstrings into the native engine; the reference engine's class takes them with
:func:`documented`. The methods named after rows of the op table are documented by :mod:`retrograd.ops.docs`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any, NoReturn, Protocol, Self, SupportsFloat, TypeVar

__all__ = ["Value", "documented"]

_Class = TypeVar("_Class", bound=type)


class Value(Protocol):
    """A number that remembers how it was computed, so that derivatives can flow back through it.

    ``Value(2.0)`` is a leaf: an input or a parameter. Every operation on Values computes its result at once, in double
    precision, and records a node: the operation and its operands. These nodes are the graph (the tape, Wengert 1964).
    ``y.backward()`` sweeps it in reverse mode, from ``y`` to the leaves, and accumulates into each leaf's ``.grad`` the
    adjoint d y / d leaf (Griewank & Walther, *Evaluating Derivatives*, 2008). One sweep costs a small constant times
    the forward pass, whatever the number of leaves.

    Operators: ``+ - * / // % **``, unary ``-`` and ``+``, ``abs()``, ``round()`` and ``math.floor``, ``ceil`` and
    ``trunc`` give Values, ``divmod()`` two of them; the other operand is a Value or a real number (int, float, NumPy
    scalar, Fraction). With a NumPy array an operator applies to each element. Operations outside their domain raise
    what Python's floats raise there: ``1 / Value(0.0)`` is a ZeroDivisionError, unless :class:`retrograd.errstate` says
    otherwise.

    Comparisons (``== != < <= > >=``) and ``bool()`` look at the numbers and record nothing: two Values are equal when
    their ``.data`` is. The hash is that of the identity, so that sets and dictionaries tell Values apart even when
    their numbers are equal; a list does not (``x in values`` compares numbers).

    ``float(v)`` and ``int(v)`` raise TypeError, because they would cut the gradient without a word: write ``v.data``.

    A node of your own is ``Value(data, children, local_grads)``, with the local derivatives as numbers, or
    ``Value(data, children, "op")`` whose ``_backward`` you then assign. Each thread records on a tape of its own;
    leaves may be shared between threads, results may not.

    Args:
        data: The number: an int, a float, or anything with ``__float__`` that is a real number.
        _children: For a node of your own, the Values that it was computed from, in order.
        _op: For a node of your own, what the operation is called; or, as the third positional argument,
            ``local_grads``.
        label: A name that error messages and pictures show.
        children: ``_children`` by another name.
        local_grads: For a node of your own, the derivative of the result with respect to each child.

    Raises:
        TypeError: ``data`` or a local derivative is not a real number, a child is not a Value, ``label`` is not a str,
            or the children are given twice.
        ValueError: The number of local derivatives is not the number of children.
        NumberTooLargeError: ``data`` is an int that no float can hold.
        ForeignThreadError: A child was computed in another thread.

    Example:
        >>> import retrograd as rg
        >>> a, b = rg.Value(2.0), rg.Value(-3.0, label="b")
        >>> y = a * b + a**2
        >>> y.backward()
        >>> y.data, a.grad, b.grad
        (-2.0, 1.0, 2.0)
        >>> rg.Value(1.0) == rg.Value(1.0), len({rg.Value(1.0), rg.Value(1.0)})
        (True, 2)
        >>> product = rg.Value(a.data * b.data, (a, b), (b.data, a.data))  # a node of your own
        >>> rg.gradient(product, [a, b])
        [-3.0, 2.0]
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...

    def __init__(
        self,
        data: SupportsFloat,
        _children: Iterable[Value] = (),
        _op: str | Sequence[float] = "",
        label: str = "",
        *,
        children: Iterable[Value] = (),
        local_grads: Sequence[float] | None = None,
    ) -> None: ...

    @property
    def data(self) -> float:
        """The number itself, the primal.

        A leaf's may be assigned at any time. Assigned after an operation used it, that operation's ``backward()``
        raises ChangedValueError, since its local derivatives belong to the old number.

        Raises:
            TypeError: What is assigned is not a real number.
        """

    @data.setter
    def data(self, number: float) -> None: ...

    @property
    def grad(self) -> float:
        """The gradient: the adjoint of this Value, in the units of the result per unit of this Value.

        0.0 at first. A leaf's accumulates from one ``backward()`` to the next, until ``zero_grad()`` or an assignment;
        an interior node's is that of the last pass.

        Raises:
            TypeError: What is assigned is not a real number.
        """

    @grad.setter
    def grad(self, number: float) -> None: ...

    @property
    def label(self) -> str:
        """A name for people, empty at first; error messages and pictures show it.

        Raises:
            TypeError: What is assigned is not a str.
        """

    @label.setter
    def label(self, text: str) -> None: ...

    @property
    def _prev(self) -> set[Value]:
        """The operands as a set, under the name that micrograd gives it; empty for a leaf."""

    @property
    def _op(self) -> str:
        """The operation that computed this Value, such as ``+`` or ``tanh`` or ``**2``; empty for a leaf."""

    @property
    def _children(self) -> tuple[Value, ...]:
        """The operands in order, repeats included; a constant is a Value here. Empty for a leaf."""

    @property
    def _local_grads(self) -> tuple[float, ...]:
        """The local derivative with respect to each of ``_children``, at the numbers that the operation used.

        Raises:
            ChangedValueError: The data of an operand or of the result has changed since.
            MissingDerivativeError: The derivative is a function assigned to ``_backward``, or missing.
        """

    @property
    def _backward(self) -> Callable[[], object]:
        """The VJP of this node as a function without arguments: it adds to each operand's ``.grad``.

        Assign one of your own to a node made as ``Value(data, children, "op")``. It reads this Value's ``.grad`` and
        does ``child.grad += local_derivative * out.grad`` for each child. A pass calls it once, when this Value's
        gradient is complete, and not when it is 0.

        Raises:
            TypeError: What is assigned cannot be called, or it refers to the result of a built-in operation.
        """

    @_backward.setter
    def _backward(self, function: Callable[[], object], /) -> None: ...

    def backward(self, gradient: float = 1.0, *, retain_graph: bool | None = None, create_graph: bool = False) -> None:
        """Run one reverse-mode pass: add to the ``.grad`` of each leaf its derivative times ``gradient``.

        Leaves accumulate from pass to pass; interior nodes get the gradient of this pass alone, so that a second
        ``backward()`` is right. A pass adds everything or, when it raises, nothing. Every node is visited once, without
        recursion: the cost is proportional to the number of nodes. Passes of several threads run one at a time.

        Args:
            gradient: The cotangent of this Value, with which the pass begins; 1 gives plain derivatives.
            retain_graph: PyTorch's; a graph is kept as long as its result is, whatever is given here.
            create_graph: PyTorch's; True is refused, because ``.grad`` is a number.

        Raises:
            TypeError: ``gradient`` is not a real number, or ``create_graph`` is true.
            ChangedValueError: The ``.data`` of something that an operation used has changed since.
            MissingDerivativeError: A node made with children has no derivative, or this Value was computed inside
                ``no_grad``.
            ForeignThreadError: This Value was computed in another thread.

        Example:
            >>> import retrograd as rg
            >>> x = rg.Value(3.0)
            >>> (x * x).backward()
            >>> x.grad
            6.0
            >>> (x * x).backward(gradient=10.0)
            >>> x.grad
            66.0
        """

    def zero_grad(self) -> None:
        """Set this Value's ``.grad`` to zero, so that the next pass does not add to an old gradient."""

    def detach(self) -> Value:
        """Cut the gradient: a leaf with the same number, through which nothing flows back.

        Returns:
            A new leaf. While a function is compiled it is a node whose derivative is zero.

        Example:
            >>> import retrograd as rg
            >>> x = rg.Value(3.0)
            >>> (x * x.detach()).backward()
            >>> x.grad
            3.0
        """

    def item(self) -> NoReturn:
        """Refused, as ``float(v)`` is: a bare number would cut the gradient. The number is ``.data``.

        Raises:
            TypeError: Always.
        """

    def conjugate(self) -> Value:
        """This Value itself, since a real number is its own conjugate. NumPy calls it.

        Returns:
            This very Value.
        """

    def __lt__(self, other: object, /) -> bool: ...
    def __le__(self, other: object, /) -> bool: ...
    def __gt__(self, other: object, /) -> bool: ...
    def __ge__(self, other: object, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __neg__(self) -> Value: ...
    def __pos__(self) -> Self: ...
    def __abs__(self) -> Value: ...
    def __pow__(self, other: Value | float, modulo: None = None, /) -> Value: ...
    def __rpow__(self, other: Value | float, modulo: None = None, /) -> Value: ...

    def __floor__(self) -> Value:
        """``math.floor(v)``: the largest whole number not above this one, as a node with derivative zero."""

    def __ceil__(self) -> Value:
        """``math.ceil(v)``: the smallest whole number not below this one, as a node with derivative zero."""

    def __trunc__(self) -> Value:
        """``math.trunc(v)``: the whole part, as a node with derivative zero."""

    def __divmod__(self, other: Value | float, /) -> tuple[Value, Value]:
        """``divmod(v, other)``: the pair ``(v // other, v % other)``, two nodes."""

    def __rdivmod__(self, other: Value | float, /) -> tuple[Value, Value]:
        """``divmod(other, v)``: the pair ``(other // v, other % v)``, two nodes."""

    def __round__(self, ndigits: int | None = None, /) -> Value:
        """``round(v)``: the nearest whole number, ties to even, as a node with derivative zero.

        With ``ndigits`` it is a new leaf with the rounded number, which has no derivative either.
        """

    def __complex__(self) -> complex:
        """Raises TypeError, as ``float(v)`` does: a bare number would cut the gradient."""

    def __format__(self, spec: str, /) -> str:
        """The number formatted as a float's is: ``f"{v:.3f}"``; without a format, the repr."""

    def __copy__(self) -> Self:
        """A Value with the same number, gradient, label and operands."""

    def __deepcopy__(self, memo: dict[int, Any], /) -> Self:
        """A copy of this Value and of everything that it was computed from; shared operands stay shared."""


def documented(cls: _Class) -> _Class:
    """A class decorator: the class and its members take their docstrings from :class:`Value` above."""
    cls.__doc__ = Value.__doc__
    _, *arguments = inspect.signature(vars(cls)["__init__"]).parameters.values()  # that of __new__ says nothing
    cls.__signature__ = inspect.Signature(arguments)  # type: ignore[attr-defined]
    for name, member in vars(Value).items():
        if isinstance(member, FunctionType | property) and member.__doc__:
            own = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
            own.__doc__ = member.__doc__
    return cls
