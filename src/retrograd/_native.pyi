# Generated from src/retrograd/ops/table.py by tools/generate.py (make generate). Do not edit.
# The part that is not in the table comes from tools/native_stub.pyi.in.
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NoReturn, Self, SupportsFloat, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from .compiler.reports.reasons import Reason
from .compiler.request import CompileRequest

_Number: TypeAlias = Value | float

OPS_DIGEST: str
functions: dict[str, Callable[..., Any]]

@disjoint_base
class Value:
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

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: Literal["__call__", "reduce", "reduceat", "accumulate", "outer", "at"],
        *inputs: Any,
        **kwargs: Any,
    ) -> Any: ...

    def __add__(self, other: _Number, /) -> Value: ...
    def __radd__(self, other: _Number, /) -> Value: ...
    def __sub__(self, other: _Number, /) -> Value: ...
    def __rsub__(self, other: _Number, /) -> Value: ...
    def __mul__(self, other: _Number, /) -> Value: ...
    def __rmul__(self, other: _Number, /) -> Value: ...
    def __truediv__(self, other: _Number, /) -> Value: ...
    def __rtruediv__(self, other: _Number, /) -> Value: ...
    def __mod__(self, other: _Number, /) -> Value: ...
    def __rmod__(self, other: _Number, /) -> Value: ...
    def __floordiv__(self, other: _Number, /) -> Value: ...
    def __rfloordiv__(self, other: _Number, /) -> Value: ...
    def add(self, b: _Number, /) -> Value:
        r"""Sum of two numbers.

        The same as ``retrograd.math.add``, with this Value as a.

        The operation and its local derivatives::

            y = a + b
            dy/da = 1
            dy/db = 1

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(2.0), rg.Value(3.0)
            >>> y = a.add(b)
            >>> y.backward()
            >>> y.data
            5.0
            >>> a.grad, b.grad
            (1.0, 1.0)
        """

    def sub(self, b: _Number, /) -> Value:
        r"""a minus b.

        The same as ``retrograd.math.sub``, with this Value as a.

        The operation and its local derivatives::

            y = a - b
            dy/da = 1
            dy/db = -1

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(2.0), rg.Value(5.0)
            >>> y = a.sub(b)
            >>> y.backward()
            >>> y.data
            -3.0
            >>> a.grad, b.grad
            (1.0, -1.0)
        """

    def subtract(self, b: _Number, /) -> Value:
        r"""a minus b.

        The same as ``retrograd.math.subtract``, with this Value as a.

        The operation and its local derivatives::

            y = a - b
            dy/da = 1
            dy/db = -1

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(2.0), rg.Value(5.0)
            >>> y = a.subtract(b)
            >>> y.backward()
            >>> y.data
            -3.0
            >>> a.grad, b.grad
            (1.0, -1.0)
        """

    def mul(self, b: _Number, /) -> Value:
        r"""a times b.

        The same as ``retrograd.math.mul``, with this Value as a.

        The operation and its local derivatives::

            y = a * b
            dy/da = b
            dy/db = a

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(2.0), rg.Value(5.0)
            >>> y = a.mul(b)
            >>> y.backward()
            >>> y.data
            10.0
            >>> a.grad, b.grad
            (5.0, 2.0)
        """

    def multiply(self, b: _Number, /) -> Value:
        r"""a times b.

        The same as ``retrograd.math.multiply``, with this Value as a.

        The operation and its local derivatives::

            y = a * b
            dy/da = b
            dy/db = a

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(2.0), rg.Value(5.0)
            >>> y = a.multiply(b)
            >>> y.backward()
            >>> y.data
            10.0
            >>> a.grad, b.grad
            (5.0, 2.0)
        """

    def div(self, b: _Number, /) -> Value:
        r"""a divided by b.

        The same as ``retrograd.math.div``, with this Value as a.

        The operation and its local derivatives::

            y = a / b
            dy/da = 1 / b
            dy/db = -y / b

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(3.0), rg.Value(4.0)
            >>> y = a.div(b)
            >>> y.backward()
            >>> y.data
            0.75
            >>> a.grad, b.grad
            (0.25, -0.1875)
        """

    def divide(self, b: _Number, /) -> Value:
        r"""a divided by b.

        The same as ``retrograd.math.divide``, with this Value as a.

        The operation and its local derivatives::

            y = a / b
            dy/da = 1 / b
            dy/db = -y / b

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(3.0), rg.Value(4.0)
            >>> y = a.divide(b)
            >>> y.backward()
            >>> y.data
            0.75
            >>> a.grad, b.grad
            (0.25, -0.1875)
        """

    def true_divide(self, b: _Number, /) -> Value:
        r"""a divided by b.

        The same as ``retrograd.math.true_divide``, with this Value as a.

        The operation and its local derivatives::

            y = a / b
            dy/da = 1 / b
            dy/db = -y / b

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(3.0), rg.Value(4.0)
            >>> y = a.true_divide(b)
            >>> y.backward()
            >>> y.data
            0.75
            >>> a.grad, b.grad
            (0.25, -0.1875)
        """

    def neg(self, /) -> Value:
        r"""Minus a.

        The same as ``retrograd.math.neg``, with this Value as a.

        The operation and its local derivatives::

            y = -a
            dy/da = -1

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(2.0)
            >>> y = a.neg()
            >>> y.backward()
            >>> y.data
            -2.0
            >>> a.grad
            -1.0
        """

    def negative(self, /) -> Value:
        r"""Minus a.

        The same as ``retrograd.math.negative``, with this Value as a.

        The operation and its local derivatives::

            y = -a
            dy/da = -1

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(2.0)
            >>> y = a.negative()
            >>> y.backward()
            >>> y.data
            -2.0
            >>> a.grad
            -1.0
        """

    def pow(self, b: _Number, /) -> Value:
        r"""a to the power b. With a negative base only a constant whole exponent has a real derivative.

        The same as ``retrograd.math.pow``, with this Value as a.

        The operation and its local derivatives::

            y = pow(a, b)
            dy/da = zero_product(b, pow(a, b - 1))
            dy/db = select(a == 0 and (b == 0 or b > 1), 0, select(a == 0 and b > 0, zero_product(a, log(a)
                * exp(zero_product(b - 1, log(a)))), zero_product(y, log(a))))

        By convention, at a = 0, b = 0: y = 1, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where
        the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DivisionByZeroError: Where a == 0 and b < 0 and b != -inf (zero to a negative power);
                ``errstate(divide="ignore")`` gives an infinity or NaN instead.
            DomainError: Where a < 0 and a != -inf and b == b and abs(b) != inf and b != floor(b) (a
                negative number to a fractional power is not a real number); ``errstate(invalid="ignore")``
                gives NaN instead.
            NumberTooLargeError: Where abs(y) == inf and a != 0 and abs(a) != inf and abs(b) != inf (the
                result is too large for a float); ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(3.0), rg.Value(2.0)
            >>> y = a.pow(b)
            >>> y.backward()
            >>> y.data
            9.0
            >>> a.grad, round(b.grad, 6)
            (6.0, 9.887511)
        """

    def power(self, b: _Number, /) -> Value:
        r"""a to the power b. With a negative base only a constant whole exponent has a real derivative.

        The same as ``retrograd.math.power``, with this Value as a.

        The operation and its local derivatives::

            y = pow(a, b)
            dy/da = zero_product(b, pow(a, b - 1))
            dy/db = select(a == 0 and (b == 0 or b > 1), 0, select(a == 0 and b > 0, zero_product(a, log(a)
                * exp(zero_product(b - 1, log(a)))), zero_product(y, log(a))))

        By convention, at a = 0, b = 0: y = 1, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where
        the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DivisionByZeroError: Where a == 0 and b < 0 and b != -inf (zero to a negative power);
                ``errstate(divide="ignore")`` gives an infinity or NaN instead.
            DomainError: Where a < 0 and a != -inf and b == b and abs(b) != inf and b != floor(b) (a
                negative number to a fractional power is not a real number); ``errstate(invalid="ignore")``
                gives NaN instead.
            NumberTooLargeError: Where abs(y) == inf and a != 0 and abs(a) != inf and abs(b) != inf (the
                result is too large for a float); ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(3.0), rg.Value(2.0)
            >>> y = a.power(b)
            >>> y.backward()
            >>> y.data
            9.0
            >>> a.grad, round(b.grad, 6)
            (6.0, 9.887511)
        """

    def mod(self, b: _Number, /) -> Value:
        r"""Remainder with the sign of b, as Python's %.

        The same as ``retrograd.math.mod``, with this Value as a.

        The operation and its local derivatives::

            y = mod(a, b)
            dy/da = 1
            dy/db = -floordiv(a, b)

        As Python's ``%``: the result has the sign of b, and a == b * (a // b) + a % b.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DivisionByZeroError: Where b == 0 (modulo by zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(7.5), rg.Value(2.0)
            >>> y = a.mod(b)
            >>> y.backward()
            >>> y.data
            1.5
            >>> a.grad, b.grad
            (1.0, -3.0)
        """

    def floordiv(self, b: _Number, /) -> Value:
        r"""Quotient rounded down, as Python's //.

        The same as ``retrograd.math.floordiv``, with this Value as a.

        The operation and its local derivatives::

            y = floordiv(a, b)
            dy/da = 0
            dy/db = 0

        It is constant between its jumps, so that no gradient flows through it.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(7.5), rg.Value(2.0)
            >>> y = a.floordiv(b)
            >>> y.backward()
            >>> y.data
            3.0
            >>> a.grad, b.grad
            (0.0, 0.0)
        """

    def floor_divide(self, b: _Number, /) -> Value:
        r"""Quotient rounded down, as Python's //.

        The same as ``retrograd.math.floor_divide``, with this Value as a.

        The operation and its local derivatives::

            y = floordiv(a, b)
            dy/da = 0
            dy/db = 0

        It is constant between its jumps, so that no gradient flows through it.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(7.5), rg.Value(2.0)
            >>> y = a.floor_divide(b)
            >>> y.backward()
            >>> y.data
            3.0
            >>> a.grad, b.grad
            (0.0, 0.0)
        """

    def fmod(self, b: _Number, /) -> Value:
        r"""Remainder with the sign of a, as C's fmod.

        The same as ``retrograd.math.fmod``, with this Value as a.

        The operation and its local derivatives::

            y = fmod(a, b)
            dy/da = 1
            dy/db = select(y == y, -rint(a / b - y / b), -trunc(a / b))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where (b == 0 or abs(a) == inf) and a == a and b == b (no remainder exists);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(-7.5), rg.Value(2.0)
            >>> y = a.fmod(b)
            >>> y.backward()
            >>> y.data
            -1.5
            >>> a.grad, b.grad
            (1.0, 3.0)
        """

    def remainder(self, b: _Number, /) -> Value:
        r"""Distance from the nearest multiple of b, as Python's math.remainder and IEEE 754.

        The same as ``retrograd.math.remainder``, with this Value as a.

        The operation and its local derivatives::

            y = remainder(a, b)
            dy/da = 1
            dy/db = select(y == y, -rint(a / b - y / b), -rint(a / b))

        As ``math.remainder``: a minus the nearest multiple of b, the even multiple at a tie, so that the
        result is at most half of b. ``mod`` and ``%`` have the sign of b, ``fmod`` that of a.
        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where (b == 0 or abs(a) == inf) and a == a and b == b (no remainder exists);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(7.0), rg.Value(4.0)
            >>> y = a.remainder(b)
            >>> y.backward()
            >>> y.data
            -1.0
            >>> a.grad, b.grad
            (1.0, -2.0)
        """

    def square(self, /) -> Value:
        r"""a times a.

        The same as ``retrograd.math.square``, with this Value as a.

        The operation and its local derivatives::

            y = a * a
            dy/da = 2 * a

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(3.0)
            >>> y = a.square()
            >>> y.backward()
            >>> y.data
            9.0
            >>> a.grad
            6.0
        """

    def reciprocal(self, /) -> Value:
        r"""One over a; infinite at zero.

        The same as ``retrograd.math.reciprocal``, with this Value as a.

        The operation and its local derivatives::

            y = 1 / a
            dy/da = -y * y

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(4.0)
            >>> y = a.reciprocal()
            >>> y.backward()
            >>> y.data
            0.25
            >>> a.grad
            -0.0625
        """

    def exp(self, /) -> Value:
        r"""e to the power a.

        The same as ``retrograd.math.exp``, with this Value as a.

        The operation and its local derivatives::

            y = exp(a)
            dy/da = y

        Returns:
            A Value: one new node.

        Raises:
            NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
                float); ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.exp()
            >>> y.backward()
            >>> round(y.data, 6)
            1.648721
            >>> round(a.grad, 6)
            1.648721
        """

    def exp2(self, /) -> Value:
        r"""2 to the power a.

        The same as ``retrograd.math.exp2``, with this Value as a.

        The operation and its local derivatives::

            y = exp2(a)
            dy/da = y * LN2

        Returns:
            A Value: one new node.

        Raises:
            NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
                float); ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(3.0)
            >>> y = a.exp2()
            >>> y.backward()
            >>> y.data
            8.0
            >>> round(a.grad, 6)
            5.545177
        """

    def expm1(self, /) -> Value:
        r"""exp(a) - 1, exact near zero.

        The same as ``retrograd.math.expm1``, with this Value as a.

        The operation and its local derivatives::

            y = expm1(a)
            dy/da = exp(a)

        Returns:
            A Value: one new node.

        Raises:
            NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
                float); ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.expm1()
            >>> y.backward()
            >>> round(y.data, 6)
            0.648721
            >>> round(a.grad, 6)
            1.648721
        """

    def log(self, /) -> Value:
        r"""Natural logarithm.

        The same as ``retrograd.math.log``, with this Value as a.

        The operation and its local derivatives::

            y = log(a)
            dy/da = 1 / a

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.log()
            >>> y.backward()
            >>> round(y.data, 6)
            -0.693147
            >>> a.grad
            2.0
        """

    def log2(self, /) -> Value:
        r"""Logarithm to base 2.

        The same as ``retrograd.math.log2``, with this Value as a.

        The operation and its local derivatives::

            y = log2(a)
            dy/da = INV_LN2 / a

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.log2()
            >>> y.backward()
            >>> y.data
            -1.0
            >>> round(a.grad, 6)
            2.88539
        """

    def log10(self, /) -> Value:
        r"""Logarithm to base 10.

        The same as ``retrograd.math.log10``, with this Value as a.

        The operation and its local derivatives::

            y = log10(a)
            dy/da = INV_LN10 / a

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.log10()
            >>> y.backward()
            >>> round(y.data, 6)
            -0.30103
            >>> round(a.grad, 6)
            0.868589
        """

    def log1p(self, /) -> Value:
        r"""log(1 + a), exact near zero.

        The same as ``retrograd.math.log1p``, with this Value as a.

        The operation and its local derivatives::

            y = log1p(a)
            dy/da = 1 / (1 + a)

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a == -1 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
                infinity or NaN instead. Where a < -1 (the logarithm of a negative number);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.log1p()
            >>> y.backward()
            >>> round(y.data, 6)
            0.405465
            >>> round(a.grad, 6)
            0.666667
        """

    def sqrt(self, /) -> Value:
        r"""Square root; its derivative at zero is infinite.

        The same as ``retrograd.math.sqrt``, with this Value as a.

        The operation and its local derivatives::

            y = sqrt(a)
            dy/da = 0.5 / y

        By convention, at a = 0: y = 0, dy/da = inf.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a < 0 (the square root of a negative number); ``errstate(invalid="ignore")``
                gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(9.0)
            >>> y = a.sqrt()
            >>> y.backward()
            >>> y.data
            3.0
            >>> round(a.grad, 6)
            0.166667
        """

    def cbrt(self, /) -> Value:
        r"""Cube root, of negative numbers too.

        The same as ``retrograd.math.cbrt``, with this Value as a.

        The operation and its local derivatives::

            y = cbrt(a)
            dy/da = 1 / (3 * y) / y

        By convention, at a = 0: y = 0, dy/da = inf.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(8.0)
            >>> y = a.cbrt()
            >>> y.backward()
            >>> y.data
            2.0
            >>> round(a.grad, 6)
            0.083333
        """

    def hypot(self, b: _Number, /) -> Value:
        r"""sqrt(a*a + b*b) without overflow; its derivative at the origin is zero.

        The same as ``retrograd.math.hypot``, with this Value as a.

        The operation and its local derivatives::

            y = hypot(a, b)
            dy/da = select(y == 0, 0, select(abs(a) >= abs(b), sign(a) / hypot(1, b / a), a / y))
            dy/db = select(y == 0, 0, select(abs(b) >= abs(a), sign(b) / hypot(1, a / b), b / y))

        The larger leg is divided out, so that squares do not overflow. By convention, at a = 0, b = 0: y =
        0, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(3.0), rg.Value(4.0)
            >>> y = a.hypot(b)
            >>> y.backward()
            >>> y.data
            5.0
            >>> a.grad, b.grad
            (0.6, 0.8)
        """

    def sin(self, /) -> Value:
        r"""Sine of an angle in radians.

        The same as ``retrograd.math.sin``, with this Value as a.

        The operation and its local derivatives::

            y = sin(a)
            dy/da = cos(a)

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
                instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.sin()
            >>> y.backward()
            >>> round(y.data, 6)
            0.479426
            >>> round(a.grad, 6)
            0.877583
        """

    def cos(self, /) -> Value:
        r"""Cosine of an angle in radians.

        The same as ``retrograd.math.cos``, with this Value as a.

        The operation and its local derivatives::

            y = cos(a)
            dy/da = -sin(a)

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
                instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.cos()
            >>> y.backward()
            >>> round(y.data, 6)
            0.877583
            >>> round(a.grad, 6)
            -0.479426
        """

    def tan(self, /) -> Value:
        r"""Tangent of an angle in radians.

        The same as ``retrograd.math.tan``, with this Value as a.

        The operation and its local derivatives::

            y = tan(a)
            dy/da = 1 + y * y

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
                instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.tan()
            >>> y.backward()
            >>> round(y.data, 6)
            0.546302
            >>> round(a.grad, 6)
            1.298446
        """

    def asin(self, /) -> Value:
        r"""Angle in radians whose sine is a.

        The same as ``retrograd.math.asin``, with this Value as a.

        The operation and its local derivatives::

            y = asin(a)
            dy/da = 1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) > 1 (the arc sine of a number outside [-1, 1]);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.asin()
            >>> y.backward()
            >>> round(y.data, 6)
            0.523599
            >>> round(a.grad, 6)
            1.154701
        """

    def arcsin(self, /) -> Value:
        r"""Angle in radians whose sine is a.

        The same as ``retrograd.math.arcsin``, with this Value as a.

        The operation and its local derivatives::

            y = asin(a)
            dy/da = 1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) > 1 (the arc sine of a number outside [-1, 1]);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.arcsin()
            >>> y.backward()
            >>> round(y.data, 6)
            0.523599
            >>> round(a.grad, 6)
            1.154701
        """

    def acos(self, /) -> Value:
        r"""Angle in radians whose cosine is a.

        The same as ``retrograd.math.acos``, with this Value as a.

        The operation and its local derivatives::

            y = acos(a)
            dy/da = -1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) > 1 (the arc cosine of a number outside [-1, 1]);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.acos()
            >>> y.backward()
            >>> round(y.data, 6)
            1.047198
            >>> round(a.grad, 6)
            -1.154701
        """

    def arccos(self, /) -> Value:
        r"""Angle in radians whose cosine is a.

        The same as ``retrograd.math.arccos``, with this Value as a.

        The operation and its local derivatives::

            y = acos(a)
            dy/da = -1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) > 1 (the arc cosine of a number outside [-1, 1]);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.arccos()
            >>> y.backward()
            >>> round(y.data, 6)
            1.047198
            >>> round(a.grad, 6)
            -1.154701
        """

    def atan(self, /) -> Value:
        r"""Angle in radians whose tangent is a.

        The same as ``retrograd.math.atan``, with this Value as a.

        The operation and its local derivatives::

            y = atan(a)
            dy/da = 1 / (1 + a * a)

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.atan()
            >>> y.backward()
            >>> round(y.data, 6)
            0.463648
            >>> a.grad
            0.8
        """

    def arctan(self, /) -> Value:
        r"""Angle in radians whose tangent is a.

        The same as ``retrograd.math.arctan``, with this Value as a.

        The operation and its local derivatives::

            y = atan(a)
            dy/da = 1 / (1 + a * a)

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.arctan()
            >>> y.backward()
            >>> round(y.data, 6)
            0.463648
            >>> a.grad
            0.8
        """

    def atan2(self, b: _Number, /) -> Value:
        r"""Angle in radians of the point (b, a).

        The same as ``retrograd.math.atan2``, with this Value as a.

        The operation and its local derivatives::

            y = atan2(a, b)
            dy/da = b / hypot(a, b) / hypot(a, b)
            dy/db = -a / hypot(a, b) / hypot(a, b)

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(0.5), rg.Value(2.0)
            >>> y = a.atan2(b)
            >>> y.backward()
            >>> round(y.data, 6)
            0.244979
            >>> round(a.grad, 6), round(b.grad, 6)
            (0.470588, -0.117647)
        """

    def arctan2(self, b: _Number, /) -> Value:
        r"""Angle in radians of the point (b, a).

        The same as ``retrograd.math.arctan2``, with this Value as a.

        The operation and its local derivatives::

            y = atan2(a, b)
            dy/da = b / hypot(a, b) / hypot(a, b)
            dy/db = -a / hypot(a, b) / hypot(a, b)

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(0.5), rg.Value(2.0)
            >>> y = a.arctan2(b)
            >>> y.backward()
            >>> round(y.data, 6)
            0.244979
            >>> round(a.grad, 6), round(b.grad, 6)
            (0.470588, -0.117647)
        """

    def degrees(self, /) -> Value:
        r"""Radians to degrees.

        The same as ``retrograd.math.degrees``, with this Value as a.

        The operation and its local derivatives::

            y = a * RADIAN
            dy/da = RADIAN

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(1.0)
            >>> y = a.degrees()
            >>> y.backward()
            >>> round(y.data, 6)
            57.29578
            >>> round(a.grad, 6)
            57.29578
        """

    def rad2deg(self, /) -> Value:
        r"""Radians to degrees.

        The same as ``retrograd.math.rad2deg``, with this Value as a.

        The operation and its local derivatives::

            y = a * RADIAN
            dy/da = RADIAN

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(1.0)
            >>> y = a.rad2deg()
            >>> y.backward()
            >>> round(y.data, 6)
            57.29578
            >>> round(a.grad, 6)
            57.29578
        """

    def radians(self, /) -> Value:
        r"""Degrees to radians.

        The same as ``retrograd.math.radians``, with this Value as a.

        The operation and its local derivatives::

            y = a * DEGREE
            dy/da = DEGREE

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(180.0)
            >>> y = a.radians()
            >>> y.backward()
            >>> round(y.data, 6)
            3.141593
            >>> round(a.grad, 6)
            0.017453
        """

    def deg2rad(self, /) -> Value:
        r"""Degrees to radians.

        The same as ``retrograd.math.deg2rad``, with this Value as a.

        The operation and its local derivatives::

            y = a * DEGREE
            dy/da = DEGREE

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(180.0)
            >>> y = a.deg2rad()
            >>> y.backward()
            >>> round(y.data, 6)
            3.141593
            >>> round(a.grad, 6)
            0.017453
        """

    def sinh(self, /) -> Value:
        r"""Hyperbolic sine.

        The same as ``retrograd.math.sinh``, with this Value as a.

        The operation and its local derivatives::

            y = sinh(a)
            dy/da = cosh(a)

        Returns:
            A Value: one new node.

        Raises:
            NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
                float); ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.sinh()
            >>> y.backward()
            >>> round(y.data, 6)
            0.521095
            >>> round(a.grad, 6)
            1.127626
        """

    def cosh(self, /) -> Value:
        r"""Hyperbolic cosine.

        The same as ``retrograd.math.cosh``, with this Value as a.

        The operation and its local derivatives::

            y = cosh(a)
            dy/da = sinh(a)

        Returns:
            A Value: one new node.

        Raises:
            NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
                float); ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.cosh()
            >>> y.backward()
            >>> round(y.data, 6)
            1.127626
            >>> round(a.grad, 6)
            0.521095
        """

    def tanh(self, /) -> Value:
        r"""Hyperbolic tangent.

        The same as ``retrograd.math.tanh``, with this Value as a.

        The operation and its local derivatives::

            y = tanh(a)
            dy/da = select(abs(y) < 0.7072, 1 - y * y, 4 * sigmoid(2 * a) * sigmoid(-2 * a))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.tanh()
            >>> y.backward()
            >>> round(y.data, 6)
            0.462117
            >>> round(a.grad, 6)
            0.786448
        """

    def asinh(self, /) -> Value:
        r"""Inverse hyperbolic sine.

        The same as ``retrograd.math.asinh``, with this Value as a.

        The operation and its local derivatives::

            y = asinh(a)
            dy/da = 1 / hypot(1, a)

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.asinh()
            >>> y.backward()
            >>> round(y.data, 6)
            0.481212
            >>> round(a.grad, 6)
            0.894427
        """

    def arcsinh(self, /) -> Value:
        r"""Inverse hyperbolic sine.

        The same as ``retrograd.math.arcsinh``, with this Value as a.

        The operation and its local derivatives::

            y = asinh(a)
            dy/da = 1 / hypot(1, a)

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.arcsinh()
            >>> y.backward()
            >>> round(y.data, 6)
            0.481212
            >>> round(a.grad, 6)
            0.894427
        """

    def acosh(self, /) -> Value:
        r"""Inverse hyperbolic cosine.

        The same as ``retrograd.math.acosh``, with this Value as a.

        The operation and its local derivatives::

            y = acosh(a)
            dy/da = 1 / select(a == 1, sqrt(a * a - 1), sqrt(a - 1) * sqrt(a + 1))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a < 1 (the inverse hyperbolic cosine of a number below 1);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(2.0)
            >>> y = a.acosh()
            >>> y.backward()
            >>> round(y.data, 6)
            1.316958
            >>> round(a.grad, 6)
            0.57735
        """

    def arccosh(self, /) -> Value:
        r"""Inverse hyperbolic cosine.

        The same as ``retrograd.math.arccosh``, with this Value as a.

        The operation and its local derivatives::

            y = acosh(a)
            dy/da = 1 / select(a == 1, sqrt(a * a - 1), sqrt(a - 1) * sqrt(a + 1))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a < 1 (the inverse hyperbolic cosine of a number below 1);
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(2.0)
            >>> y = a.arccosh()
            >>> y.backward()
            >>> round(y.data, 6)
            1.316958
            >>> round(a.grad, 6)
            0.57735
        """

    def atanh(self, /) -> Value:
        r"""Inverse hyperbolic tangent.

        The same as ``retrograd.math.atanh``, with this Value as a.

        The operation and its local derivatives::

            y = atanh(a)
            dy/da = 1 / select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) >= 1 (the inverse hyperbolic tangent of a number outside (-1, 1));
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.atanh()
            >>> y.backward()
            >>> round(y.data, 6)
            0.549306
            >>> round(a.grad, 6)
            1.333333
        """

    def arctanh(self, /) -> Value:
        r"""Inverse hyperbolic tangent.

        The same as ``retrograd.math.arctanh``, with this Value as a.

        The operation and its local derivatives::

            y = atanh(a)
            dy/da = 1 / select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where abs(a) >= 1 (the inverse hyperbolic tangent of a number outside (-1, 1));
                ``errstate(invalid="ignore")`` gives NaN instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.arctanh()
            >>> y.backward()
            >>> round(y.data, 6)
            0.549306
            >>> round(a.grad, 6)
            1.333333
        """

    def sigmoid(self, /) -> Value:
        r"""Logistic function, 1 / (1 + exp(-a)).

        The same as ``retrograd.math.sigmoid``, with this Value as a.

        The operation and its local derivatives::

            y = select(a >= 0, 1 / (1 + exp(-a)), exp(a) / (1 + exp(a)))
            dy/da = select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), y *
                sigmoid(-a))

        Computed without overflow for either sign of a. ``select(condition, x, y)`` is x where the condition
        holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.sigmoid()
            >>> y.backward()
            >>> round(y.data, 6)
            0.622459
            >>> round(a.grad, 6)
            0.235004
        """

    def expit(self, /) -> Value:
        r"""Logistic function, 1 / (1 + exp(-a)).

        The same as ``retrograd.math.expit``, with this Value as a.

        The operation and its local derivatives::

            y = select(a >= 0, 1 / (1 + exp(-a)), exp(a) / (1 + exp(a)))
            dy/da = select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), y *
                sigmoid(-a))

        Computed without overflow for either sign of a. ``select(condition, x, y)`` is x where the condition
        holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.expit()
            >>> y.backward()
            >>> round(y.data, 6)
            0.622459
            >>> round(a.grad, 6)
            0.235004
        """

    def softplus(self, /) -> Value:
        r"""log(1 + exp(a)).

        The same as ``retrograd.math.softplus``, with this Value as a.

        The operation and its local derivatives::

            y = select(a > 0, a, 0) + log1p(exp(-abs(a)))
            dy/da = sigmoid(a)

        A smooth relu. Computed without overflow for either sign of a. ``select(condition, x, y)`` is x
        where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.softplus()
            >>> y.backward()
            >>> round(y.data, 6)
            0.974077
            >>> round(a.grad, 6)
            0.622459
        """

    def relu(self, /) -> Value:
        r"""The larger of a and zero; its derivative at zero is zero.

        The same as ``retrograd.math.relu``, with this Value as a.

        The operation and its local derivatives::

            y = select(a <= 0, 0, a)
            dy/da = select(a <= 0, 0, 1)

        The rectified linear unit (Nair & Hinton 2010). Of the subgradients at 0, which are 0 to 1, it takes
        0. By convention, at a = 0: y = 0, dy/da = 0. ``select(condition, x, y)`` is x where the condition
        holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(-1.5)
            >>> y = a.relu()
            >>> y.backward()
            >>> y.data
            0.0
            >>> a.grad
            0.0
        """

    def silu(self, /) -> Value:
        r"""a times sigmoid(a), also called swish.

        The same as ``retrograd.math.silu``, with this Value as a.

        The operation and its local derivatives::

            y = zero_product(sigmoid(a), a)
            dy/da = sigmoid(a) + zero_product(select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) *
                tanh(0.5 * a)), sigmoid(a) * sigmoid(-a)), a)

        The sigmoid linear unit (Hendrycks & Gimpel 2016; Elfwing et al. 2018), also called swish.
        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.silu()
            >>> y.backward()
            >>> round(y.data, 6)
            0.31123
            >>> round(a.grad, 6)
            0.739961
        """

    def gelu(self, /) -> Value:
        r"""a times the normal distribution function (the erf form).

        The same as ``retrograd.math.gelu``, with this Value as a.

        The operation and its local derivatives::

            y = zero_product(0.5 * erfc(-a * SQRT_HALF), a)
            dy/da = 0.5 * erfc(-a * SQRT_HALF) + select(abs(a) < 50, a * (INV_SQRT_2PI * exp(-0.5 * a * a)),
                0)

        The Gaussian error linear unit (Hendrycks & Gimpel 2016), exact and not the tanh approximation.
        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.gelu()
            >>> y.backward()
            >>> round(y.data, 6)
            0.345731
            >>> round(a.grad, 6)
            0.867495
        """

    def erf(self, /) -> Value:
        r"""Error function.

        The same as ``retrograd.math.erf``, with this Value as a.

        The operation and its local derivatives::

            y = erf(a)
            dy/da = select(abs(a) > 30, 0, TWO_OVER_SQRT_PI * exp(-a * a))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.erf()
            >>> y.backward()
            >>> round(y.data, 6)
            0.5205
            >>> round(a.grad, 6)
            0.878783
        """

    def erfc(self, /) -> Value:
        r"""1 - erf(a), exact in the tail.

        The same as ``retrograd.math.erfc``, with this Value as a.

        The operation and its local derivatives::

            y = erfc(a)
            dy/da = select(abs(a) > 30, 0, -TWO_OVER_SQRT_PI * exp(-a * a))

        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.erfc()
            >>> y.backward()
            >>> round(y.data, 6)
            0.4795
            >>> round(a.grad, 6)
            -0.878783
        """

    def lgamma(self, /) -> Value:
        r"""Logarithm of the absolute value of the gamma function.

        The same as ``retrograd.math.lgamma``, with this Value as a.

        The operation and its local derivatives::

            y = lgamma(a)
            dy/da = digamma(a)

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
                ``errstate(divide="ignore")`` gives an infinity or NaN instead.
            NumberTooLargeError: Where y == inf and abs(a) != inf (the result is too large for a float);
                ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.lgamma()
            >>> y.backward()
            >>> round(y.data, 6)
            0.572365
            >>> round(a.grad, 6)
            -1.96351
        """

    def gammaln(self, /) -> Value:
        r"""Logarithm of the absolute value of the gamma function.

        The same as ``retrograd.math.gammaln``, with this Value as a.

        The operation and its local derivatives::

            y = lgamma(a)
            dy/da = digamma(a)

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
                ``errstate(divide="ignore")`` gives an infinity or NaN instead.
            NumberTooLargeError: Where y == inf and abs(a) != inf (the result is too large for a float);
                ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.gammaln()
            >>> y.backward()
            >>> round(y.data, 6)
            0.572365
            >>> round(a.grad, 6)
            -1.96351
        """

    def gamma(self, /) -> Value:
        r"""Gamma function: (a - 1)! for a whole number above 0.

        The same as ``retrograd.math.gamma``, with this Value as a.

        The operation and its local derivatives::

            y = gamma(a)
            dy/da = select(a == 0, -y * y, y * digamma(a))

        ``lgamma`` is the logarithm of its absolute value, which does not overflow. ``select(condition, x,
        y)`` is x where the condition holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
                ``errstate(divide="ignore")`` gives an infinity or NaN instead. Where a == -inf (the gamma
                function has no limit at minus infinity); ``errstate(invalid="ignore")`` gives NaN instead.
            NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
                float); ``errstate(over="ignore")`` gives an infinity instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(5.0)
            >>> y = a.gamma()
            >>> y.backward()
            >>> y.data
            24.0
            >>> round(a.grad, 6)
            36.146824
        """

    def digamma(self, /) -> Value:
        r"""Derivative of lgamma; NaN at the poles.

        The same as ``retrograd.math.digamma``, with this Value as a.

        The operation and its local derivatives::

            y = digamma(a)
            dy/da = polygamma(1, a)

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(0.5)
            >>> y = a.digamma()
            >>> y.backward()
            >>> round(y.data, 6)
            -1.96351
            >>> round(a.grad, 6)
            4.934802
        """

    def abs(self, /) -> Value:
        r"""Absolute value; its derivative at zero is zero.

        The same as ``retrograd.math.abs``, with this Value as a.

        The operation and its local derivatives::

            y = abs(a)
            dy/da = sign(a)

        Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(-1.5)
            >>> y = a.abs()
            >>> y.backward()
            >>> y.data
            1.5
            >>> a.grad
            -1.0
        """

    def absolute(self, /) -> Value:
        r"""Absolute value; its derivative at zero is zero.

        The same as ``retrograd.math.absolute``, with this Value as a.

        The operation and its local derivatives::

            y = abs(a)
            dy/da = sign(a)

        Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(-1.5)
            >>> y = a.absolute()
            >>> y.backward()
            >>> y.data
            1.5
            >>> a.grad
            -1.0
        """

    def fabs(self, /) -> Value:
        r"""Absolute value; its derivative at zero is zero.

        The same as ``retrograd.math.fabs``, with this Value as a.

        The operation and its local derivatives::

            y = abs(a)
            dy/da = sign(a)

        Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(-1.5)
            >>> y = a.fabs()
            >>> y.backward()
            >>> y.data
            1.5
            >>> a.grad
            -1.0
        """

    def copysign(self, b: _Number, /) -> Value:
        r"""The magnitude of a with the sign of b; its derivative at a = 0 is zero.

        The same as ``retrograd.math.copysign``, with this Value as a.

        The operation and its local derivatives::

            y = copysign(a, b)
            dy/da = sign(a) * copysign(1, b)
            dy/db = 0

        The sign of a zero b counts: ``copysign(3.0, -0.0)`` is -3.0. By convention, at a = 0, b = 1: y = 0,
        dy/da = 0, dy/db = 0.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(-1.5), rg.Value(2.0)
            >>> y = a.copysign(b)
            >>> y.backward()
            >>> y.data
            1.5
            >>> a.grad, b.grad
            (-1.0, 0.0)
        """

    def sign(self, /) -> Value:
        r"""-1, 0 or 1; its derivative is zero.

        The same as ``retrograd.math.sign``, with this Value as a.

        The operation and its local derivatives::

            y = select(a > 0, 1, select(a < 0, -1, a))
            dy/da = 0

        By convention, at a = 0: y = 0, dy/da = 0. ``select(condition, x, y)`` is x where the condition
        holds and y elsewhere.

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(-1.5)
            >>> y = a.sign()
            >>> y.backward()
            >>> y.data
            -1.0
            >>> a.grad
            0.0
        """

    def floor(self, /) -> Value:
        r"""Largest whole number not above a; its derivative is zero.

        The same as ``retrograd.math.floor``, with this Value as a.

        The operation and its local derivatives::

            y = floor(a)
            dy/da = 0

        Returns:
            A Value: one new node.

        Raises:
            NumberTooLargeError: Where abs(a) == inf (the floor of an infinity); ``errstate(over="ignore")``
                gives an infinity instead.
            DomainError: Where a != a (the floor of a NaN); ``errstate(invalid="ignore")`` gives NaN
                instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(-1.5)
            >>> y = a.floor()
            >>> y.backward()
            >>> y.data
            -2.0
            >>> a.grad
            0.0
        """

    def ceil(self, /) -> Value:
        r"""Smallest whole number not below a; its derivative is zero.

        The same as ``retrograd.math.ceil``, with this Value as a.

        The operation and its local derivatives::

            y = ceil(a)
            dy/da = 0

        Returns:
            A Value: one new node.

        Raises:
            NumberTooLargeError: Where abs(a) == inf (the ceiling of an infinity);
                ``errstate(over="ignore")`` gives an infinity instead.
            DomainError: Where a != a (the ceiling of a NaN); ``errstate(invalid="ignore")`` gives NaN
                instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(-1.5)
            >>> y = a.ceil()
            >>> y.backward()
            >>> y.data
            -1.0
            >>> a.grad
            0.0
        """

    def trunc(self, /) -> Value:
        r"""Whole part of a; its derivative is zero.

        The same as ``retrograd.math.trunc``, with this Value as a.

        The operation and its local derivatives::

            y = trunc(a)
            dy/da = 0

        Returns:
            A Value: one new node.

        Raises:
            NumberTooLargeError: Where abs(a) == inf (the whole part of an infinity);
                ``errstate(over="ignore")`` gives an infinity instead.
            DomainError: Where a != a (the whole part of a NaN); ``errstate(invalid="ignore")`` gives NaN
                instead.
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(-1.5)
            >>> y = a.trunc()
            >>> y.backward()
            >>> y.data
            -1.0
            >>> a.grad
            0.0
        """

    def rint(self, /) -> Value:
        r"""Nearest whole number, ties to even; its derivative is zero.

        The same as ``retrograd.math.rint``, with this Value as a.

        The operation and its local derivatives::

            y = rint(a)
            dy/da = 0

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a = rg.Value(2.5)
            >>> y = a.rint()
            >>> y.backward()
            >>> y.data
            2.0
            >>> a.grad
            0.0
        """

    def minimum(self, b: _Number, /) -> Value:
        r"""The smaller of two; at a tie each gets half the gradient.

        The same as ``retrograd.math.minimum``, with this Value as a.

        The operation and its local derivatives::

            y = select(a != a or a <= b, a, b)
            dy/da = select(a > b, 0, select(a == b, 0.5, 1))
            dy/db = select(b > a, 0, select(a == b, 0.5, 1))

        At a tie each operand gets half of the gradient. A NaN operand gives NaN, as NumPy's ``minimum``. By
        convention, at a = 1, b = 1: y = 1, dy/da = 0.5, dy/db = 0.5. ``select(condition, x, y)`` is x where
        the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(2.0), rg.Value(5.0)
            >>> y = a.minimum(b)
            >>> y.backward()
            >>> y.data
            2.0
            >>> a.grad, b.grad
            (1.0, 0.0)
        """

    def maximum(self, b: _Number, /) -> Value:
        r"""The larger of two; at a tie each gets half the gradient.

        The same as ``retrograd.math.maximum``, with this Value as a.

        The operation and its local derivatives::

            y = select(a != a or a >= b, a, b)
            dy/da = select(a < b, 0, select(a == b, 0.5, 1))
            dy/db = select(b < a, 0, select(a == b, 0.5, 1))

        At a tie each operand gets half of the gradient. A NaN operand gives NaN, as NumPy's ``maximum``. By
        convention, at a = 1, b = 1: y = 1, dy/da = 0.5, dy/db = 0.5. ``select(condition, x, y)`` is x where
        the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b = rg.Value(2.0), rg.Value(2.0)
            >>> y = a.maximum(b)
            >>> y.backward()
            >>> y.data
            2.0
            >>> a.grad, b.grad
            (0.5, 0.5)
        """

    def where(self, b: _Number, c: _Number, /) -> Value:
        r"""b where a is true (not zero), else c; the branch not taken gets no gradient.

        The same as ``retrograd.math.where``, with this Value as a.

        The operation and its local derivatives::

            y = select(a != 0, b, c)
            dy/da = 0
            dy/db = select(a != 0, 1, 0)
            dy/dc = select(a != 0, 0, 1)

        Both b and c have been computed already when it chooses; the one not chosen gets no gradient at all.
        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).
            c: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b, c = rg.Value(1.0), rg.Value(2.0), rg.Value(5.0)
            >>> y = a.where(b, c)
            >>> y.backward()
            >>> y.data
            2.0
            >>> a.grad, b.grad, c.grad
            (0.0, 1.0, 0.0)
        """

    def select(self, b: _Number, c: _Number, /) -> Value:
        r"""b where a is true (not zero), else c; the branch not taken gets no gradient.

        The same as ``retrograd.math.select``, with this Value as a.

        The operation and its local derivatives::

            y = select(a != 0, b, c)
            dy/da = 0
            dy/db = select(a != 0, 1, 0)
            dy/dc = select(a != 0, 0, 1)

        Both b and c have been computed already when it chooses; the one not chosen gets no gradient at all.
        ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

        Args:
            b: A Value or a real number (int, float, NumPy scalar).
            c: A Value or a real number (int, float, NumPy scalar).

        Returns:
            A Value: one new node.

        Raises:
            TypeError: An operand is neither a Value nor a real number.

        Example:
            >>> import retrograd as rg
            >>> a, b, c = rg.Value(1.0), rg.Value(2.0), rg.Value(5.0)
            >>> y = a.select(b, c)
            >>> y.backward()
            >>> y.data
            2.0
            >>> a.grad, b.grad, c.grad
            (0.0, 1.0, 0.0)
        """


def apply(name: str, /, *operands: _Number) -> Value: ...
def evaluate(name: str, /, *numbers: float) -> float: ...
def reduce(name: str, xs: Iterable[_Number], ys: Iterable[_Number] | None = None, /) -> Any: ...
def weighted_sum(weights: Sequence[_Number], inputs: Sequence[_Number], start: _Number, /) -> Any: ...
def acquire_backward_lock() -> None: ...
def release_backward_lock() -> None: ...
def interior(root: Value, /) -> list[Value]: ...
def operands(value: Value, /) -> tuple[Value | float, ...]: ...
def row_name(value: Value, /) -> str: ...
def output_index(value: Value, /) -> int: ...
def is_constant(value: Value, /) -> bool: ...
def gradients(root: Value, seed: float, xs: Sequence[Value], /) -> list[float]: ...
def sparse_gradients(
    roots: Sequence[Value | float], leaves: Sequence[Value], /
) -> tuple[bytearray, bytearray, bytearray]: ...
@final
class Structure:
    @property
    def kind(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def holds_values(self) -> bool: ...
    @property
    def definition(self) -> Any: ...
    def fill(self, leaves: Sequence[Any], /) -> Any: ...
    def collect(self, results: Sequence[Any], /) -> Any: ...

def flatten_tree(tree: Any, /) -> tuple[list[_Number], Structure]: ...
def new_leaves(numbers: list[_Number], /) -> list[Value]: ...
def read_in_place(wanted: bool, /) -> bool: ...
def set_python_half(
    array_type: type,
    empty_array: Callable[..., Any],
    flatten_other: Callable[[Any], Any],
    fill_array: Callable[[tuple[int, ...], list[Any]], Any],
    collect_array: Callable[[tuple[int, ...], list[Any]], Any],
    records: dict[type, tuple[str, ...]],
    functions: object,
    /,
) -> None: ...
def without_values(tree: Any, /) -> bool: ...
def restore(
    name: str, operands: Sequence[_Number], data: float, grad: float, index: int = 0, /
) -> Value: ...
def set_recording(on: bool, /) -> bool: ...
def set_errstate(divide: bool, over: bool, invalid: bool, /) -> tuple[bool, bool, bool]: ...
def set_observer(observer: Callable[[Value], object] | None, /) -> Callable[[Value], object] | None: ...
def keep_fallible(on: bool, /) -> list[Any]: ...
def first_extreme(
    items: Sequence[Any], largest: bool, constants: Mapping[bytes, Value], /
) -> tuple[Value, tuple[Value, ...], int] | None: ...
def following_extreme(
    name: str,
    module: str,
    original: Callable[..., Any],
    otherwise: Callable[..., Any],
    selection: type,
    choice: object,
    /,
) -> Callable[..., Any]: ...
def contents(
    thing: Any,
    deep: int,
    is_container: Callable[[type], bool],
    of_other: Callable[[Any, int], Any],
    /,
) -> object: ...
def hear_calls(setter: int, listener: Callable[[Any, str, Any], object], /) -> None: ...
@disjoint_base
class ComparisonTracer:
    _decided: bool
    _kind: str
    _left: Value
    _recorder: Any
    _right: Any
    joins: str
    node: Value | None
    outcome: bool
    parts: tuple[Any, ...]
    def __new__(cls, recorder: Any, kind: str, left: Value, right: Any, outcome: bool, /) -> Self: ...
    def __bool__(self) -> bool: ...

@disjoint_base
class NumberTracer:
    _node: Value
    _number: float
    _recorder: Any
    def __new__(cls, recorder: Any, node: Value, number: float, /) -> Self: ...
    def __pos__(self) -> Self: ...

def concrete(value: Value, /) -> float: ...
def set_tracer(tracer: Any, /) -> Any: ...
def set_backward_hook(
    hook: Callable[[Value, float], object] | None, /
) -> Callable[[Value, float], object] | None: ...
def set_source(value: Value, source: int, /) -> None: ...
def get_source(value: Value, /) -> int: ...
@final
class Parameters:
    def __new__(cls, values: Iterable[Value], /) -> Self: ...

def tape_position() -> tuple[int, int]: ...
def is_parameter(value: Value, /) -> bool: ...
def zero_gradients(values: Sequence[Value] | Parameters, /) -> None: ...
def sgd_step(
    values: Sequence[Value] | Parameters,
    velocity: NDArray[np.float64] | None,
    lr: float,
    momentum: float,
    weight_decay: float,
    nesterov: bool,
    /,
) -> None: ...
def adam_step(
    values: Sequence[Value] | Parameters,
    m: NDArray[np.float64],
    v: NDArray[np.float64],
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    /,
) -> None: ...

@final
class TapedCode:
    def __new__(
        cls,
        run: int,
        sweep: int,
        words: int,
        types: tuple[Any, ...],
        getters: tuple[Callable[[], Any], ...],
        items: tuple[tuple[Any, ...], ...],
        attributes: tuple[tuple[Any, ...], ...],
        sizes: tuple[tuple[Any, int], ...],
        is_equal: Callable[[], bool],
        leaf_type: type[int],
        keeps: object,
        /,
    ) -> Self: ...
    @property
    def answers(self) -> int: ...
    @property
    def failures(self) -> int: ...
    @property
    def is_due(self) -> bool: ...
    def count_answer(self) -> None: ...
    def run(
        self, arguments: tuple[Any, ...], numbers: list[float], is_call: bool, /
    ) -> tuple[float, list[float], bool, list[Value]] | Literal[False] | None: ...
    def value_and_grad(self, *arguments: Any) -> tuple[float, Any] | Literal[False] | None: ...
@final
class SpecializationCache:
    def __new__(
        cls, miss: Callable[[str, tuple[Any, ...], Reason], Any], index: type[int], reasons: type[Reason], /
    ) -> Self: ...
    def add(self, request: CompileRequest, /) -> int: ...
    def call(self, *arguments: Any) -> Any: ...
    def matrix(self, *arguments: Any) -> Any: ...
    def arrange_by(self, arrange: Callable[[Any, tuple[Any, ...]], Any], /) -> None: ...
    def present(self, number: int, like: object, which: bytes, constants: bytes, /) -> None: ...
    def backward(self, *arguments: Any) -> float: ...
    def gradients(self, *arguments: Any, **keywords: Any) -> tuple[float, Any]: ...
    def gradients_of_numbers(self, *arguments: Any) -> tuple[float, Any] | None: ...
    def check(
        self, number: int, arguments: tuple[Any, ...], cotangents: list[float], by_nodes: bool, /
    ) -> tuple[float, list[tuple[Value, float]], Any] | Literal[False] | None: ...
    def joint(
        self,
        call: object,
        results: list[float],
        shared: str,
        operation: str,
        gradients: Callable[[tuple[Value, ...], list[float]], list[float]],
        by_program: bool,
        /,
    ) -> list[Value]: ...
    def node(self, data: float, operation: str, call: object, /) -> Value: ...
    def standing(self, differentiate_first: bool, plain_call: bool, arguments: tuple[Any, ...], /) -> int | None: ...
    def calls(self) -> int: ...
    def dropped_hits(self) -> int: ...
    def departures(self) -> list[tuple[int, int]]: ...
    def wait_for_code(self, number: int, nodes: int, /) -> None: ...
    def keep_first(self, number: int, /) -> bool: ...
    def await_comparisons(self, number: int, times: int, /) -> None: ...
    def take_comparison(self, number: int, /) -> bool: ...
    def compete(self, taped: TapedCode | None, /) -> None: ...
    def pause(self, calls: int, taped: TapedCode | None = None, /) -> None: ...
    def capture(self, places: list[tuple[str, Any, Any]], /) -> int: ...
    def changed(self, state: int, /) -> int | None: ...
    def outdated(self, state: int, /) -> None: ...
    def batch(
        self, members: list[tuple[Any, ...]], seed: float, threads: int, /
    ) -> tuple[float, list[int]] | Reason: ...
    def unmatched(self, members: list[tuple[Any, ...]], /) -> list[int]: ...
    @staticmethod
    def special_functions() -> dict[str, int]: ...
    def vector_functions(self) -> tuple[int, dict[str, int]]: ...
    def map(
        self, differentiate_first: bool, members: list[tuple[Any, ...]], threads: int, /
    ) -> list[tuple[int, list[int], list[Any]]] | Reason: ...
    def tier(self) -> str: ...
    def facts(self) -> list[dict[str, Any]]: ...
    def inventory(self) -> list[tuple[int, int, int]]: ...
    def rest(self, number: int, /) -> int: ...
    def listing(self, number: int, /) -> dict[str, Any]: ...
    def kernel_calls(self, number: int, batch: int, which: int, /) -> bytes: ...
    def strips(
        self, number: int, batch: int, which: int, /
    ) -> list[tuple[int, int, int, int, list[tuple[int, ...]]]]: ...
    def memory(self, number: int, batch: int, /) -> dict[str, Any]: ...
    def scalar_graph(self, number: int, once: bool, /) -> dict[str, Any]: ...
    def install_graph(
        self,
        number: int,
        width: int,
        forward: int,
        backward: int,
        tables: bytes,
        table_bytes: int,
        kept: int,
        roots: bytes,
        zeroed: bytes,
        literals: bytes,
        lookups: bytes,
        keep: object,
        milliseconds: float,
        /,
    ) -> None: ...
    def compare(self, number: int, /) -> None: ...
    def notify_when_hot(self, threshold: int, hot: Callable[[tuple[Any, int, int]], object], token: object, /) -> None: ...
    def fresh(self) -> bool: ...
    def install(
        self,
        number: int,
        batch: int,
        which: int,
        address: int,
        bases: bytes,
        calls: int,
        size: int,
        keep: object,
        milliseconds: float,
        /,
    ) -> None: ...
    def profile(
        self, number: int, batch: int, which: int, times: int, /
    ) -> list[tuple[int, int, tuple[int, ...], int, int, float]]: ...
    def verify(self, number: int, /) -> str: ...
    def stages(self, number: int, /) -> dict[str, Any]: ...
    def locate(self, number: int, node: Value, /) -> int | None: ...
    def drop(self, number: int, /) -> None: ...
