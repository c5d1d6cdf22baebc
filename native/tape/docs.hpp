// Generated from ops/docs.py and engine/interface.py by tools/generate.py (make generate). Do not edit.
// The docstrings of Value and of the operations, which CPython shows to users.
#pragma once

#include <cstdlib>
#include <string_view>

// clang-format off
namespace retrograd::docs {

struct Doc {
  std::string_view name;
  const char* text;
};

// The docstring of that name; a name without one is an error of compilation.
consteval const char* find(const auto& docs, std::string_view name) {
  for (const Doc& doc : docs) {
    if (doc.name == name) return doc.text;
  }
  std::abort();  // no constant expression: a name without a text does not compile
}

inline constexpr Doc VALUE[] = {
{"Value", R"doc(Value(data, _children=(), _op='', label='', *, children=(), local_grads=None)
--

A number that remembers how it was computed, so that derivatives can flow back through it.

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
    [-3.0, 2.0])doc"},
{"data", R"doc(The number itself, the primal.

A leaf's may be assigned at any time. Assigned after an operation used it, that operation's ``backward()``
raises ChangedValueError, since its local derivatives belong to the old number.

Raises:
    TypeError: What is assigned is not a real number.)doc"},
{"grad", R"doc(The gradient: the adjoint of this Value, in the units of the result per unit of this Value.

0.0 at first. A leaf's accumulates from one ``backward()`` to the next, until ``zero_grad()`` or an assignment;
an interior node's is that of the last pass.

Raises:
    TypeError: What is assigned is not a real number.)doc"},
{"label", R"doc(A name for people, empty at first; error messages and pictures show it.

Raises:
    TypeError: What is assigned is not a str.)doc"},
{"_prev", R"doc(The operands as a set, under the name that micrograd gives it; empty for a leaf.)doc"},
{"_op", R"doc(The operation that computed this Value, such as ``+`` or ``tanh`` or ``**2``; empty for a leaf.)doc"},
{"_children", R"doc(The operands in order, repeats included; a constant is a Value here. Empty for a leaf.)doc"},
{"_local_grads", R"doc(The local derivative with respect to each of ``_children``, at the numbers that the operation used.

Raises:
    ChangedValueError: The data of an operand or of the result has changed since.
    MissingDerivativeError: The derivative is a function assigned to ``_backward``, or missing.)doc"},
{"_backward", R"doc(The VJP of this node as a function without arguments: it adds to each operand's ``.grad``.

Assign one of your own to a node made as ``Value(data, children, "op")``. It reads this Value's ``.grad`` and
does ``child.grad += local_derivative * out.grad`` for each child. A pass calls it once, when this Value's
gradient is complete, and not when it is 0.

Raises:
    TypeError: What is assigned cannot be called, or it refers to the result of a built-in operation.)doc"},
{"backward", R"doc(backward($self, /, gradient=1.0, *, retain_graph=None, create_graph=False)
--

Run one reverse-mode pass: add to the ``.grad`` of each leaf its derivative times ``gradient``.

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
    66.0)doc"},
{"zero_grad", R"doc(zero_grad($self, /)
--

Set this Value's ``.grad`` to zero, so that the next pass does not add to an old gradient.)doc"},
{"detach", R"doc(detach($self, /)
--

Cut the gradient: a leaf with the same number, through which nothing flows back.

Returns:
    A new leaf. While a function is compiled it is a node whose derivative is zero.

Example:
    >>> import retrograd as rg
    >>> x = rg.Value(3.0)
    >>> (x * x.detach()).backward()
    >>> x.grad
    3.0)doc"},
{"item", R"doc(item($self, /)
--

Refused, as ``float(v)`` is: a bare number would cut the gradient. The number is ``.data``.

Raises:
    TypeError: Always.)doc"},
{"conjugate", R"doc(conjugate($self, /)
--

This Value itself, since a real number is its own conjugate. NumPy calls it.

Returns:
    This very Value.)doc"},
{"__floor__", R"doc(__floor__($self, /)
--

``math.floor(v)``: the largest whole number not above this one, as a node with derivative zero.)doc"},
{"__ceil__", R"doc(__ceil__($self, /)
--

``math.ceil(v)``: the smallest whole number not below this one, as a node with derivative zero.)doc"},
{"__trunc__", R"doc(__trunc__($self, /)
--

``math.trunc(v)``: the whole part, as a node with derivative zero.)doc"},
{"__divmod__", R"doc(__divmod__($self, other, /)
--

``divmod(v, other)``: the pair ``(v // other, v % other)``, two nodes.)doc"},
{"__rdivmod__", R"doc(__rdivmod__($self, other, /)
--

``divmod(other, v)``: the pair ``(other // v, other % v)``, two nodes.)doc"},
{"__round__", R"doc(__round__($self, ndigits=None, /)
--

``round(v)``: the nearest whole number, ties to even, as a node with derivative zero.

With ``ndigits`` it is a new leaf with the rounded number, which has no derivative either.)doc"},
{"__complex__", R"doc(__complex__($self, /)
--

Raises TypeError, as ``float(v)`` does: a bare number would cut the gradient.)doc"},
{"__format__", R"doc(__format__($self, spec, /)
--

The number formatted as a float's is: ``f"{v:.3f}"``; without a format, the repr.)doc"},
{"__copy__", R"doc(__copy__($self, /)
--

A Value with the same number, gradient, label and operands.)doc"},
{"__deepcopy__", R"doc(__deepcopy__($self, memo, /)
--

A copy of this Value and of everything that it was computed from; shared operands stay shared.)doc"},
};
consteval const char* value(std::string_view name) { return find(VALUE, name); }

inline constexpr Doc FUNCTION[] = {
{"add", R"doc(add(a, b, /)
--

Sum of two numbers.

The operation and its local derivatives::

    y = a + b
    dy/da = 1
    dy/db = 1

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.add(2.0, 3.0)
    5.0
    >>> a, b = rg.Value(2.0), rg.Value(3.0)
    >>> rg.math.add(a, b).backward()
    >>> a.grad, b.grad
    (1.0, 1.0))doc"},
{"sub", R"doc(sub(a, b, /)
--

a minus b.

The operation and its local derivatives::

    y = a - b
    dy/da = 1
    dy/db = -1

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.sub(2.0, 5.0)
    -3.0
    >>> a, b = rg.Value(2.0), rg.Value(5.0)
    >>> rg.math.sub(a, b).backward()
    >>> a.grad, b.grad
    (1.0, -1.0))doc"},
{"subtract", R"doc(subtract(a, b, /)
--

a minus b.

The operation and its local derivatives::

    y = a - b
    dy/da = 1
    dy/db = -1

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.subtract(2.0, 5.0)
    -3.0
    >>> a, b = rg.Value(2.0), rg.Value(5.0)
    >>> rg.math.subtract(a, b).backward()
    >>> a.grad, b.grad
    (1.0, -1.0))doc"},
{"mul", R"doc(mul(a, b, /)
--

a times b.

The operation and its local derivatives::

    y = a * b
    dy/da = b
    dy/db = a

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.mul(2.0, 5.0)
    10.0
    >>> a, b = rg.Value(2.0), rg.Value(5.0)
    >>> rg.math.mul(a, b).backward()
    >>> a.grad, b.grad
    (5.0, 2.0))doc"},
{"multiply", R"doc(multiply(a, b, /)
--

a times b.

The operation and its local derivatives::

    y = a * b
    dy/da = b
    dy/db = a

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.multiply(2.0, 5.0)
    10.0
    >>> a, b = rg.Value(2.0), rg.Value(5.0)
    >>> rg.math.multiply(a, b).backward()
    >>> a.grad, b.grad
    (5.0, 2.0))doc"},
{"div", R"doc(div(a, b, /)
--

a divided by b.

The operation and its local derivatives::

    y = a / b
    dy/da = 1 / b
    dy/db = -y / b

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.div(3.0, 4.0)
    0.75
    >>> a, b = rg.Value(3.0), rg.Value(4.0)
    >>> rg.math.div(a, b).backward()
    >>> a.grad, b.grad
    (0.25, -0.1875))doc"},
{"divide", R"doc(divide(a, b, /)
--

a divided by b.

The operation and its local derivatives::

    y = a / b
    dy/da = 1 / b
    dy/db = -y / b

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.divide(3.0, 4.0)
    0.75
    >>> a, b = rg.Value(3.0), rg.Value(4.0)
    >>> rg.math.divide(a, b).backward()
    >>> a.grad, b.grad
    (0.25, -0.1875))doc"},
{"true_divide", R"doc(true_divide(a, b, /)
--

a divided by b.

The operation and its local derivatives::

    y = a / b
    dy/da = 1 / b
    dy/db = -y / b

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.true_divide(3.0, 4.0)
    0.75
    >>> a, b = rg.Value(3.0), rg.Value(4.0)
    >>> rg.math.true_divide(a, b).backward()
    >>> a.grad, b.grad
    (0.25, -0.1875))doc"},
{"neg", R"doc(neg(a, /)
--

Minus a.

The operation and its local derivatives::

    y = -a
    dy/da = -1

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.neg(2.0)
    -2.0
    >>> a = rg.Value(2.0)
    >>> rg.math.neg(a).backward()
    >>> a.grad
    -1.0)doc"},
{"negative", R"doc(negative(a, /)
--

Minus a.

The operation and its local derivatives::

    y = -a
    dy/da = -1

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.negative(2.0)
    -2.0
    >>> a = rg.Value(2.0)
    >>> rg.math.negative(a).backward()
    >>> a.grad
    -1.0)doc"},
{"pow", R"doc(pow(a, b, /)
--

a to the power b. With a negative base only a constant whole exponent has a real derivative.

The operation and its local derivatives::

    y = pow(a, b)
    dy/da = zero_product(b, pow(a, b - 1))
    dy/db = select(a == 0 and (b == 0 or b > 1), 0, select(a == 0 and b > 0, zero_product(a, log(a)
        * exp(zero_product(b - 1, log(a)))), zero_product(y, log(a))))

By convention, at a = 0, b = 0: y = 1, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where
the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

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
    >>> rg.math.pow(3.0, 2.0)
    9.0
    >>> a, b = rg.Value(3.0), rg.Value(2.0)
    >>> rg.math.pow(a, b).backward()
    >>> a.grad, round(b.grad, 6)
    (6.0, 9.887511))doc"},
{"power", R"doc(power(a, b, /)
--

a to the power b. With a negative base only a constant whole exponent has a real derivative.

The operation and its local derivatives::

    y = pow(a, b)
    dy/da = zero_product(b, pow(a, b - 1))
    dy/db = select(a == 0 and (b == 0 or b > 1), 0, select(a == 0 and b > 0, zero_product(a, log(a)
        * exp(zero_product(b - 1, log(a)))), zero_product(y, log(a))))

By convention, at a = 0, b = 0: y = 1, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where
the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

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
    >>> rg.math.power(3.0, 2.0)
    9.0
    >>> a, b = rg.Value(3.0), rg.Value(2.0)
    >>> rg.math.power(a, b).backward()
    >>> a.grad, round(b.grad, 6)
    (6.0, 9.887511))doc"},
{"mod", R"doc(mod(a, b, /)
--

Remainder with the sign of b, as Python's %.

The operation and its local derivatives::

    y = mod(a, b)
    dy/da = 1
    dy/db = -floordiv(a, b)

As Python's ``%``: the result has the sign of b, and a == b * (a // b) + a % b.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DivisionByZeroError: Where b == 0 (modulo by zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.mod(7.5, 2.0)
    1.5
    >>> a, b = rg.Value(7.5), rg.Value(2.0)
    >>> rg.math.mod(a, b).backward()
    >>> a.grad, b.grad
    (1.0, -3.0))doc"},
{"floordiv", R"doc(floordiv(a, b, /)
--

Quotient rounded down, as Python's //.

The operation and its local derivatives::

    y = floordiv(a, b)
    dy/da = 0
    dy/db = 0

It is constant between its jumps, so that no gradient flows through it.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.floordiv(7.5, 2.0)
    3.0
    >>> a, b = rg.Value(7.5), rg.Value(2.0)
    >>> rg.math.floordiv(a, b).backward()
    >>> a.grad, b.grad
    (0.0, 0.0))doc"},
{"floor_divide", R"doc(floor_divide(a, b, /)
--

Quotient rounded down, as Python's //.

The operation and its local derivatives::

    y = floordiv(a, b)
    dy/da = 0
    dy/db = 0

It is constant between its jumps, so that no gradient flows through it.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DivisionByZeroError: Where b == 0 (division by zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.floor_divide(7.5, 2.0)
    3.0
    >>> a, b = rg.Value(7.5), rg.Value(2.0)
    >>> rg.math.floor_divide(a, b).backward()
    >>> a.grad, b.grad
    (0.0, 0.0))doc"},
{"fmod", R"doc(fmod(a, b, /)
--

Remainder with the sign of a, as C's fmod.

The operation and its local derivatives::

    y = fmod(a, b)
    dy/da = 1
    dy/db = select(y == y, -rint(a / b - y / b), -trunc(a / b))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where (b == 0 or abs(a) == inf) and a == a and b == b (no remainder exists);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.fmod(-7.5, 2.0)
    -1.5
    >>> a, b = rg.Value(-7.5), rg.Value(2.0)
    >>> rg.math.fmod(a, b).backward()
    >>> a.grad, b.grad
    (1.0, 3.0))doc"},
{"remainder", R"doc(remainder(a, b, /)
--

Distance from the nearest multiple of b, as Python's math.remainder and IEEE 754.

The operation and its local derivatives::

    y = remainder(a, b)
    dy/da = 1
    dy/db = select(y == y, -rint(a / b - y / b), -rint(a / b))

As ``math.remainder``: a minus the nearest multiple of b, the even multiple at a tie, so that the
result is at most half of b. ``mod`` and ``%`` have the sign of b, ``fmod`` that of a.
``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where (b == 0 or abs(a) == inf) and a == a and b == b (no remainder exists);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.remainder(7.0, 4.0)
    -1.0
    >>> a, b = rg.Value(7.0), rg.Value(4.0)
    >>> rg.math.remainder(a, b).backward()
    >>> a.grad, b.grad
    (1.0, -2.0))doc"},
{"square", R"doc(square(a, /)
--

a times a.

The operation and its local derivatives::

    y = a * a
    dy/da = 2 * a

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.square(3.0)
    9.0
    >>> a = rg.Value(3.0)
    >>> rg.math.square(a).backward()
    >>> a.grad
    6.0)doc"},
{"reciprocal", R"doc(reciprocal(a, /)
--

One over a; infinite at zero.

The operation and its local derivatives::

    y = 1 / a
    dy/da = -y * y

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.reciprocal(4.0)
    0.25
    >>> a = rg.Value(4.0)
    >>> rg.math.reciprocal(a).backward()
    >>> a.grad
    -0.0625)doc"},
{"exp", R"doc(exp(a, /)
--

e to the power a.

The operation and its local derivatives::

    y = exp(a)
    dy/da = y

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
        float); ``errstate(over="ignore")`` gives an infinity instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.exp(0.5), 6)
    1.648721
    >>> a = rg.Value(0.5)
    >>> rg.math.exp(a).backward()
    >>> round(a.grad, 6)
    1.648721)doc"},
{"exp2", R"doc(exp2(a, /)
--

2 to the power a.

The operation and its local derivatives::

    y = exp2(a)
    dy/da = y * LN2

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
        float); ``errstate(over="ignore")`` gives an infinity instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.exp2(3.0)
    8.0
    >>> a = rg.Value(3.0)
    >>> rg.math.exp2(a).backward()
    >>> round(a.grad, 6)
    5.545177)doc"},
{"expm1", R"doc(expm1(a, /)
--

exp(a) - 1, exact near zero.

The operation and its local derivatives::

    y = expm1(a)
    dy/da = exp(a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
        float); ``errstate(over="ignore")`` gives an infinity instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.expm1(0.5), 6)
    0.648721
    >>> a = rg.Value(0.5)
    >>> rg.math.expm1(a).backward()
    >>> round(a.grad, 6)
    1.648721)doc"},
{"log", R"doc(log(a, base=None, /)
--

Natural logarithm.

The operation and its local derivatives::

    y = log(a)
    dy/da = 1 / a

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    base: The base, e when it is left out; a Value or a real number. The result is log(a) /
        log(base).

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.log(0.5), 6)
    -0.693147
    >>> a = rg.Value(0.5)
    >>> rg.math.log(a).backward()
    >>> a.grad
    2.0)doc"},
{"log2", R"doc(log2(a, /)
--

Logarithm to base 2.

The operation and its local derivatives::

    y = log2(a)
    dy/da = INV_LN2 / a

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.log2(0.5)
    -1.0
    >>> a = rg.Value(0.5)
    >>> rg.math.log2(a).backward()
    >>> round(a.grad, 6)
    2.88539)doc"},
{"log10", R"doc(log10(a, /)
--

Logarithm to base 10.

The operation and its local derivatives::

    y = log10(a)
    dy/da = INV_LN10 / a

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a == 0 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead. Where a < 0 (the logarithm of a negative number);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.log10(0.5), 6)
    -0.30103
    >>> a = rg.Value(0.5)
    >>> rg.math.log10(a).backward()
    >>> round(a.grad, 6)
    0.868589)doc"},
{"log1p", R"doc(log1p(a, /)
--

log(1 + a), exact near zero.

The operation and its local derivatives::

    y = log1p(a)
    dy/da = 1 / (1 + a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a == -1 (the logarithm of zero); ``errstate(divide="ignore")`` gives an
        infinity or NaN instead. Where a < -1 (the logarithm of a negative number);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.log1p(0.5), 6)
    0.405465
    >>> a = rg.Value(0.5)
    >>> rg.math.log1p(a).backward()
    >>> round(a.grad, 6)
    0.666667)doc"},
{"sqrt", R"doc(sqrt(a, /)
--

Square root; its derivative at zero is infinite.

The operation and its local derivatives::

    y = sqrt(a)
    dy/da = 0.5 / y

By convention, at a = 0: y = 0, dy/da = inf.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a < 0 (the square root of a negative number); ``errstate(invalid="ignore")``
        gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.sqrt(9.0)
    3.0
    >>> a = rg.Value(9.0)
    >>> rg.math.sqrt(a).backward()
    >>> round(a.grad, 6)
    0.166667)doc"},
{"cbrt", R"doc(cbrt(a, /)
--

Cube root, of negative numbers too.

The operation and its local derivatives::

    y = cbrt(a)
    dy/da = 1 / (3 * y) / y

By convention, at a = 0: y = 0, dy/da = inf.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.cbrt(8.0)
    2.0
    >>> a = rg.Value(8.0)
    >>> rg.math.cbrt(a).backward()
    >>> round(a.grad, 6)
    0.083333)doc"},
{"hypot", R"doc(hypot(a, b, /, *more)
--

sqrt(a*a + b*b) without overflow; its derivative at the origin is zero.

The operation and its local derivatives::

    y = hypot(a, b)
    dy/da = select(y == 0, 0, select(abs(a) >= abs(b), sign(a) / hypot(1, b / a), a / y))
    dy/db = select(y == 0, 0, select(abs(b) >= abs(a), sign(b) / hypot(1, a / b), b / y))

The larger leg is divided out, so that squares do not overflow. By convention, at a = 0, b = 0: y =
0, dy/da = 0, dy/db = 0. ``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.
    *more: Further coordinates: the result is the square root of the sum of all squares.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.hypot(3.0, 4.0)
    5.0
    >>> a, b = rg.Value(3.0), rg.Value(4.0)
    >>> rg.math.hypot(a, b).backward()
    >>> a.grad, b.grad
    (0.6, 0.8))doc"},
{"sin", R"doc(sin(a, /)
--

Sine of an angle in radians.

The operation and its local derivatives::

    y = sin(a)
    dy/da = cos(a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
        instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.sin(0.5), 6)
    0.479426
    >>> a = rg.Value(0.5)
    >>> rg.math.sin(a).backward()
    >>> round(a.grad, 6)
    0.877583)doc"},
{"cos", R"doc(cos(a, /)
--

Cosine of an angle in radians.

The operation and its local derivatives::

    y = cos(a)
    dy/da = -sin(a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
        instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.cos(0.5), 6)
    0.877583
    >>> a = rg.Value(0.5)
    >>> rg.math.cos(a).backward()
    >>> round(a.grad, 6)
    -0.479426)doc"},
{"tan", R"doc(tan(a, /)
--

Tangent of an angle in radians.

The operation and its local derivatives::

    y = tan(a)
    dy/da = 1 + y * y

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) == inf (an infinite angle); ``errstate(invalid="ignore")`` gives NaN
        instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.tan(0.5), 6)
    0.546302
    >>> a = rg.Value(0.5)
    >>> rg.math.tan(a).backward()
    >>> round(a.grad, 6)
    1.298446)doc"},
{"asin", R"doc(asin(a, /)
--

Angle in radians whose sine is a.

The operation and its local derivatives::

    y = asin(a)
    dy/da = 1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) > 1 (the arc sine of a number outside [-1, 1]);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.asin(0.5), 6)
    0.523599
    >>> a = rg.Value(0.5)
    >>> rg.math.asin(a).backward()
    >>> round(a.grad, 6)
    1.154701)doc"},
{"arcsin", R"doc(arcsin(a, /)
--

Angle in radians whose sine is a.

The operation and its local derivatives::

    y = asin(a)
    dy/da = 1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) > 1 (the arc sine of a number outside [-1, 1]);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.arcsin(0.5), 6)
    0.523599
    >>> a = rg.Value(0.5)
    >>> rg.math.arcsin(a).backward()
    >>> round(a.grad, 6)
    1.154701)doc"},
{"acos", R"doc(acos(a, /)
--

Angle in radians whose cosine is a.

The operation and its local derivatives::

    y = acos(a)
    dy/da = -1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) > 1 (the arc cosine of a number outside [-1, 1]);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.acos(0.5), 6)
    1.047198
    >>> a = rg.Value(0.5)
    >>> rg.math.acos(a).backward()
    >>> round(a.grad, 6)
    -1.154701)doc"},
{"arccos", R"doc(arccos(a, /)
--

Angle in radians whose cosine is a.

The operation and its local derivatives::

    y = acos(a)
    dy/da = -1 / sqrt(select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a)))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) > 1 (the arc cosine of a number outside [-1, 1]);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.arccos(0.5), 6)
    1.047198
    >>> a = rg.Value(0.5)
    >>> rg.math.arccos(a).backward()
    >>> round(a.grad, 6)
    -1.154701)doc"},
{"atan", R"doc(atan(a, /)
--

Angle in radians whose tangent is a.

The operation and its local derivatives::

    y = atan(a)
    dy/da = 1 / (1 + a * a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.atan(0.5), 6)
    0.463648
    >>> a = rg.Value(0.5)
    >>> rg.math.atan(a).backward()
    >>> a.grad
    0.8)doc"},
{"arctan", R"doc(arctan(a, /)
--

Angle in radians whose tangent is a.

The operation and its local derivatives::

    y = atan(a)
    dy/da = 1 / (1 + a * a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.arctan(0.5), 6)
    0.463648
    >>> a = rg.Value(0.5)
    >>> rg.math.arctan(a).backward()
    >>> a.grad
    0.8)doc"},
{"atan2", R"doc(atan2(a, b, /)
--

Angle in radians of the point (b, a).

The operation and its local derivatives::

    y = atan2(a, b)
    dy/da = b / hypot(a, b) / hypot(a, b)
    dy/db = -a / hypot(a, b) / hypot(a, b)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.atan2(0.5, 2.0), 6)
    0.244979
    >>> a, b = rg.Value(0.5), rg.Value(2.0)
    >>> rg.math.atan2(a, b).backward()
    >>> round(a.grad, 6), round(b.grad, 6)
    (0.470588, -0.117647))doc"},
{"arctan2", R"doc(arctan2(a, b, /)
--

Angle in radians of the point (b, a).

The operation and its local derivatives::

    y = atan2(a, b)
    dy/da = b / hypot(a, b) / hypot(a, b)
    dy/db = -a / hypot(a, b) / hypot(a, b)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.arctan2(0.5, 2.0), 6)
    0.244979
    >>> a, b = rg.Value(0.5), rg.Value(2.0)
    >>> rg.math.arctan2(a, b).backward()
    >>> round(a.grad, 6), round(b.grad, 6)
    (0.470588, -0.117647))doc"},
{"degrees", R"doc(degrees(a, /)
--

Radians to degrees.

The operation and its local derivatives::

    y = a * RADIAN
    dy/da = RADIAN

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.degrees(1.0), 6)
    57.29578
    >>> a = rg.Value(1.0)
    >>> rg.math.degrees(a).backward()
    >>> round(a.grad, 6)
    57.29578)doc"},
{"rad2deg", R"doc(rad2deg(a, /)
--

Radians to degrees.

The operation and its local derivatives::

    y = a * RADIAN
    dy/da = RADIAN

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.rad2deg(1.0), 6)
    57.29578
    >>> a = rg.Value(1.0)
    >>> rg.math.rad2deg(a).backward()
    >>> round(a.grad, 6)
    57.29578)doc"},
{"radians", R"doc(radians(a, /)
--

Degrees to radians.

The operation and its local derivatives::

    y = a * DEGREE
    dy/da = DEGREE

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.radians(180.0), 6)
    3.141593
    >>> a = rg.Value(180.0)
    >>> rg.math.radians(a).backward()
    >>> round(a.grad, 6)
    0.017453)doc"},
{"deg2rad", R"doc(deg2rad(a, /)
--

Degrees to radians.

The operation and its local derivatives::

    y = a * DEGREE
    dy/da = DEGREE

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.deg2rad(180.0), 6)
    3.141593
    >>> a = rg.Value(180.0)
    >>> rg.math.deg2rad(a).backward()
    >>> round(a.grad, 6)
    0.017453)doc"},
{"sinh", R"doc(sinh(a, /)
--

Hyperbolic sine.

The operation and its local derivatives::

    y = sinh(a)
    dy/da = cosh(a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
        float); ``errstate(over="ignore")`` gives an infinity instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.sinh(0.5), 6)
    0.521095
    >>> a = rg.Value(0.5)
    >>> rg.math.sinh(a).backward()
    >>> round(a.grad, 6)
    1.127626)doc"},
{"cosh", R"doc(cosh(a, /)
--

Hyperbolic cosine.

The operation and its local derivatives::

    y = cosh(a)
    dy/da = sinh(a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
        float); ``errstate(over="ignore")`` gives an infinity instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.cosh(0.5), 6)
    1.127626
    >>> a = rg.Value(0.5)
    >>> rg.math.cosh(a).backward()
    >>> round(a.grad, 6)
    0.521095)doc"},
{"tanh", R"doc(tanh(a, /)
--

Hyperbolic tangent.

The operation and its local derivatives::

    y = tanh(a)
    dy/da = select(abs(y) < 0.7072, 1 - y * y, 4 * sigmoid(2 * a) * sigmoid(-2 * a))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.tanh(0.5), 6)
    0.462117
    >>> a = rg.Value(0.5)
    >>> rg.math.tanh(a).backward()
    >>> round(a.grad, 6)
    0.786448)doc"},
{"asinh", R"doc(asinh(a, /)
--

Inverse hyperbolic sine.

The operation and its local derivatives::

    y = asinh(a)
    dy/da = 1 / hypot(1, a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.asinh(0.5), 6)
    0.481212
    >>> a = rg.Value(0.5)
    >>> rg.math.asinh(a).backward()
    >>> round(a.grad, 6)
    0.894427)doc"},
{"arcsinh", R"doc(arcsinh(a, /)
--

Inverse hyperbolic sine.

The operation and its local derivatives::

    y = asinh(a)
    dy/da = 1 / hypot(1, a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.arcsinh(0.5), 6)
    0.481212
    >>> a = rg.Value(0.5)
    >>> rg.math.arcsinh(a).backward()
    >>> round(a.grad, 6)
    0.894427)doc"},
{"acosh", R"doc(acosh(a, /)
--

Inverse hyperbolic cosine.

The operation and its local derivatives::

    y = acosh(a)
    dy/da = 1 / select(a == 1, sqrt(a * a - 1), sqrt(a - 1) * sqrt(a + 1))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a < 1 (the inverse hyperbolic cosine of a number below 1);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.acosh(2.0), 6)
    1.316958
    >>> a = rg.Value(2.0)
    >>> rg.math.acosh(a).backward()
    >>> round(a.grad, 6)
    0.57735)doc"},
{"arccosh", R"doc(arccosh(a, /)
--

Inverse hyperbolic cosine.

The operation and its local derivatives::

    y = acosh(a)
    dy/da = 1 / select(a == 1, sqrt(a * a - 1), sqrt(a - 1) * sqrt(a + 1))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a < 1 (the inverse hyperbolic cosine of a number below 1);
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.arccosh(2.0), 6)
    1.316958
    >>> a = rg.Value(2.0)
    >>> rg.math.arccosh(a).backward()
    >>> round(a.grad, 6)
    0.57735)doc"},
{"atanh", R"doc(atanh(a, /)
--

Inverse hyperbolic tangent.

The operation and its local derivatives::

    y = atanh(a)
    dy/da = 1 / select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) >= 1 (the inverse hyperbolic tangent of a number outside (-1, 1));
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.atanh(0.5), 6)
    0.549306
    >>> a = rg.Value(0.5)
    >>> rg.math.atanh(a).backward()
    >>> round(a.grad, 6)
    1.333333)doc"},
{"arctanh", R"doc(arctanh(a, /)
--

Inverse hyperbolic tangent.

The operation and its local derivatives::

    y = atanh(a)
    dy/da = 1 / select(abs(a) < 0.5 or abs(a) == 1, 1 - a * a, (1 - a) * (1 + a))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where abs(a) >= 1 (the inverse hyperbolic tangent of a number outside (-1, 1));
        ``errstate(invalid="ignore")`` gives NaN instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.arctanh(0.5), 6)
    0.549306
    >>> a = rg.Value(0.5)
    >>> rg.math.arctanh(a).backward()
    >>> round(a.grad, 6)
    1.333333)doc"},
{"sigmoid", R"doc(sigmoid(a, /)
--

Logistic function, 1 / (1 + exp(-a)).

The operation and its local derivatives::

    y = select(a >= 0, 1 / (1 + exp(-a)), exp(a) / (1 + exp(a)))
    dy/da = select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), y *
        sigmoid(-a))

Computed without overflow for either sign of a. ``select(condition, x, y)`` is x where the condition
holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.sigmoid(0.5), 6)
    0.622459
    >>> a = rg.Value(0.5)
    >>> rg.math.sigmoid(a).backward()
    >>> round(a.grad, 6)
    0.235004)doc"},
{"expit", R"doc(expit(a, /)
--

Logistic function, 1 / (1 + exp(-a)).

The operation and its local derivatives::

    y = select(a >= 0, 1 / (1 + exp(-a)), exp(a) / (1 + exp(a)))
    dy/da = select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) * tanh(0.5 * a)), y *
        sigmoid(-a))

Computed without overflow for either sign of a. ``select(condition, x, y)`` is x where the condition
holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.expit(0.5), 6)
    0.622459
    >>> a = rg.Value(0.5)
    >>> rg.math.expit(a).backward()
    >>> round(a.grad, 6)
    0.235004)doc"},
{"softplus", R"doc(softplus(a, /)
--

log(1 + exp(a)).

The operation and its local derivatives::

    y = select(a > 0, a, 0) + log1p(exp(-abs(a)))
    dy/da = sigmoid(a)

A smooth relu. Computed without overflow for either sign of a. ``select(condition, x, y)`` is x
where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.softplus(0.5), 6)
    0.974077
    >>> a = rg.Value(0.5)
    >>> rg.math.softplus(a).backward()
    >>> round(a.grad, 6)
    0.622459)doc"},
{"relu", R"doc(relu(a, /)
--

The larger of a and zero; its derivative at zero is zero.

The operation and its local derivatives::

    y = select(a <= 0, 0, a)
    dy/da = select(a <= 0, 0, 1)

The rectified linear unit (Nair & Hinton 2010). Of the subgradients at 0, which are 0 to 1, it takes
0. By convention, at a = 0: y = 0, dy/da = 0. ``select(condition, x, y)`` is x where the condition
holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.relu(-1.5)
    0.0
    >>> a = rg.Value(-1.5)
    >>> rg.math.relu(a).backward()
    >>> a.grad
    0.0)doc"},
{"silu", R"doc(silu(a, /)
--

a times sigmoid(a), also called swish.

The operation and its local derivatives::

    y = zero_product(sigmoid(a), a)
    dy/da = sigmoid(a) + zero_product(select(a != 0 and abs(a) < 0.01, 0.25 * (1 - tanh(0.5 * a) *
        tanh(0.5 * a)), sigmoid(a) * sigmoid(-a)), a)

The sigmoid linear unit (Hendrycks & Gimpel 2016; Elfwing et al. 2018), also called swish.
``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.silu(0.5), 6)
    0.31123
    >>> a = rg.Value(0.5)
    >>> rg.math.silu(a).backward()
    >>> round(a.grad, 6)
    0.739961)doc"},
{"gelu", R"doc(gelu(a, /)
--

a times the normal distribution function (the erf form).

The operation and its local derivatives::

    y = zero_product(0.5 * erfc(-a * SQRT_HALF), a)
    dy/da = 0.5 * erfc(-a * SQRT_HALF) + select(abs(a) < 50, a * (INV_SQRT_2PI * exp(-0.5 * a * a)),
        0)

The Gaussian error linear unit (Hendrycks & Gimpel 2016), exact and not the tanh approximation.
``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.gelu(0.5), 6)
    0.345731
    >>> a = rg.Value(0.5)
    >>> rg.math.gelu(a).backward()
    >>> round(a.grad, 6)
    0.867495)doc"},
{"erf", R"doc(erf(a, /)
--

Error function.

The operation and its local derivatives::

    y = erf(a)
    dy/da = select(abs(a) > 30, 0, TWO_OVER_SQRT_PI * exp(-a * a))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.erf(0.5), 6)
    0.5205
    >>> a = rg.Value(0.5)
    >>> rg.math.erf(a).backward()
    >>> round(a.grad, 6)
    0.878783)doc"},
{"erfc", R"doc(erfc(a, /)
--

1 - erf(a), exact in the tail.

The operation and its local derivatives::

    y = erfc(a)
    dy/da = select(abs(a) > 30, 0, -TWO_OVER_SQRT_PI * exp(-a * a))

``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.erfc(0.5), 6)
    0.4795
    >>> a = rg.Value(0.5)
    >>> rg.math.erfc(a).backward()
    >>> round(a.grad, 6)
    -0.878783)doc"},
{"lgamma", R"doc(lgamma(a, /)
--

Logarithm of the absolute value of the gamma function.

The operation and its local derivatives::

    y = lgamma(a)
    dy/da = digamma(a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
        ``errstate(divide="ignore")`` gives an infinity or NaN instead.
    NumberTooLargeError: Where y == inf and abs(a) != inf (the result is too large for a float);
        ``errstate(over="ignore")`` gives an infinity instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.lgamma(0.5), 6)
    0.572365
    >>> a = rg.Value(0.5)
    >>> rg.math.lgamma(a).backward()
    >>> round(a.grad, 6)
    -1.96351)doc"},
{"gammaln", R"doc(gammaln(a, /)
--

Logarithm of the absolute value of the gamma function.

The operation and its local derivatives::

    y = lgamma(a)
    dy/da = digamma(a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
        ``errstate(divide="ignore")`` gives an infinity or NaN instead.
    NumberTooLargeError: Where y == inf and abs(a) != inf (the result is too large for a float);
        ``errstate(over="ignore")`` gives an infinity instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.gammaln(0.5), 6)
    0.572365
    >>> a = rg.Value(0.5)
    >>> rg.math.gammaln(a).backward()
    >>> round(a.grad, 6)
    -1.96351)doc"},
{"gamma", R"doc(gamma(a, /)
--

Gamma function: (a - 1)! for a whole number above 0.

The operation and its local derivatives::

    y = gamma(a)
    dy/da = select(a == 0, -y * y, y * digamma(a))

``lgamma`` is the logarithm of its absolute value, which does not overflow. ``select(condition, x,
y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    DomainError: Where a <= 0 and a == floor(a) and a != -inf (a pole of the gamma function);
        ``errstate(divide="ignore")`` gives an infinity or NaN instead. Where a == -inf (the gamma
        function has no limit at minus infinity); ``errstate(invalid="ignore")`` gives NaN instead.
    NumberTooLargeError: Where abs(y) == inf and abs(a) != inf (the result is too large for a
        float); ``errstate(over="ignore")`` gives an infinity instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.gamma(5.0)
    24.0
    >>> a = rg.Value(5.0)
    >>> rg.math.gamma(a).backward()
    >>> round(a.grad, 6)
    36.146824)doc"},
{"digamma", R"doc(digamma(a, /)
--

Derivative of lgamma; NaN at the poles.

The operation and its local derivatives::

    y = digamma(a)
    dy/da = polygamma(1, a)

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.digamma(0.5), 6)
    -1.96351
    >>> a = rg.Value(0.5)
    >>> rg.math.digamma(a).backward()
    >>> round(a.grad, 6)
    4.934802)doc"},
{"abs", R"doc(abs(a, /)
--

Absolute value; its derivative at zero is zero.

The operation and its local derivatives::

    y = abs(a)
    dy/da = sign(a)

Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.abs(-1.5)
    1.5
    >>> a = rg.Value(-1.5)
    >>> rg.math.abs(a).backward()
    >>> a.grad
    -1.0)doc"},
{"absolute", R"doc(absolute(a, /)
--

Absolute value; its derivative at zero is zero.

The operation and its local derivatives::

    y = abs(a)
    dy/da = sign(a)

Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.absolute(-1.5)
    1.5
    >>> a = rg.Value(-1.5)
    >>> rg.math.absolute(a).backward()
    >>> a.grad
    -1.0)doc"},
{"fabs", R"doc(fabs(a, /)
--

Absolute value; its derivative at zero is zero.

The operation and its local derivatives::

    y = abs(a)
    dy/da = sign(a)

Of the subgradients at 0, which are -1 to 1, it takes 0. By convention, at a = 0: y = 0, dy/da = 0.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.fabs(-1.5)
    1.5
    >>> a = rg.Value(-1.5)
    >>> rg.math.fabs(a).backward()
    >>> a.grad
    -1.0)doc"},
{"copysign", R"doc(copysign(a, b, /)
--

The magnitude of a with the sign of b; its derivative at a = 0 is zero.

The operation and its local derivatives::

    y = copysign(a, b)
    dy/da = sign(a) * copysign(1, b)
    dy/db = 0

The sign of a zero b counts: ``copysign(3.0, -0.0)`` is -3.0. By convention, at a = 0, b = 1: y = 0,
dy/da = 0, dy/db = 0.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.copysign(-1.5, 2.0)
    1.5
    >>> a, b = rg.Value(-1.5), rg.Value(2.0)
    >>> rg.math.copysign(a, b).backward()
    >>> a.grad, b.grad
    (-1.0, 0.0))doc"},
{"sign", R"doc(sign(a, /)
--

-1, 0 or 1; its derivative is zero.

The operation and its local derivatives::

    y = select(a > 0, 1, select(a < 0, -1, a))
    dy/da = 0

By convention, at a = 0: y = 0, dy/da = 0. ``select(condition, x, y)`` is x where the condition
holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.sign(-1.5)
    -1.0
    >>> a = rg.Value(-1.5)
    >>> rg.math.sign(a).backward()
    >>> a.grad
    0.0)doc"},
{"floor", R"doc(floor(a, /)
--

Largest whole number not above a; its derivative is zero.

The operation and its local derivatives::

    y = floor(a)
    dy/da = 0

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    NumberTooLargeError: Where abs(a) == inf (the floor of an infinity); ``errstate(over="ignore")``
        gives an infinity instead.
    DomainError: Where a != a (the floor of a NaN); ``errstate(invalid="ignore")`` gives NaN
        instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.floor(-1.5)
    -2.0
    >>> a = rg.Value(-1.5)
    >>> rg.math.floor(a).backward()
    >>> a.grad
    0.0)doc"},
{"ceil", R"doc(ceil(a, /)
--

Smallest whole number not below a; its derivative is zero.

The operation and its local derivatives::

    y = ceil(a)
    dy/da = 0

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    NumberTooLargeError: Where abs(a) == inf (the ceiling of an infinity);
        ``errstate(over="ignore")`` gives an infinity instead.
    DomainError: Where a != a (the ceiling of a NaN); ``errstate(invalid="ignore")`` gives NaN
        instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.ceil(-1.5)
    -1.0
    >>> a = rg.Value(-1.5)
    >>> rg.math.ceil(a).backward()
    >>> a.grad
    0.0)doc"},
{"trunc", R"doc(trunc(a, /)
--

Whole part of a; its derivative is zero.

The operation and its local derivatives::

    y = trunc(a)
    dy/da = 0

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    NumberTooLargeError: Where abs(a) == inf (the whole part of an infinity);
        ``errstate(over="ignore")`` gives an infinity instead.
    DomainError: Where a != a (the whole part of a NaN); ``errstate(invalid="ignore")`` gives NaN
        instead.
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.trunc(-1.5)
    -1.0
    >>> a = rg.Value(-1.5)
    >>> rg.math.trunc(a).backward()
    >>> a.grad
    0.0)doc"},
{"rint", R"doc(rint(a, /)
--

Nearest whole number, ties to even; its derivative is zero.

The operation and its local derivatives::

    y = rint(a)
    dy/da = 0

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.rint(2.5)
    2.0
    >>> a = rg.Value(2.5)
    >>> rg.math.rint(a).backward()
    >>> a.grad
    0.0)doc"},
{"minimum", R"doc(minimum(a, b, /)
--

The smaller of two; at a tie each gets half the gradient.

The operation and its local derivatives::

    y = select(a != a or a <= b, a, b)
    dy/da = select(a > b, 0, select(a == b, 0.5, 1))
    dy/db = select(b > a, 0, select(a == b, 0.5, 1))

At a tie each operand gets half of the gradient. A NaN operand gives NaN, as NumPy's ``minimum``. By
convention, at a = 1, b = 1: y = 1, dy/da = 0.5, dy/db = 0.5. ``select(condition, x, y)`` is x where
the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.minimum(2.0, 5.0)
    2.0
    >>> a, b = rg.Value(2.0), rg.Value(5.0)
    >>> rg.math.minimum(a, b).backward()
    >>> a.grad, b.grad
    (1.0, 0.0))doc"},
{"maximum", R"doc(maximum(a, b, /)
--

The larger of two; at a tie each gets half the gradient.

The operation and its local derivatives::

    y = select(a != a or a >= b, a, b)
    dy/da = select(a < b, 0, select(a == b, 0.5, 1))
    dy/db = select(b < a, 0, select(a == b, 0.5, 1))

At a tie each operand gets half of the gradient. A NaN operand gives NaN, as NumPy's ``maximum``. By
convention, at a = 1, b = 1: y = 1, dy/da = 0.5, dy/db = 0.5. ``select(condition, x, y)`` is x where
the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.maximum(2.0, 2.0)
    2.0
    >>> a, b = rg.Value(2.0), rg.Value(2.0)
    >>> rg.math.maximum(a, b).backward()
    >>> a.grad, b.grad
    (0.5, 0.5))doc"},
{"where", R"doc(where(a, b, c, /)
--

b where a is true (not zero), else c; the branch not taken gets no gradient.

The operation and its local derivatives::

    y = select(a != 0, b, c)
    dy/da = 0
    dy/db = select(a != 0, 1, 0)
    dy/dc = select(a != 0, 0, 1)

Both b and c have been computed already when it chooses; the one not chosen gets no gradient at all.
``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.
    c: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.where(1.0, 2.0, 5.0)
    2.0
    >>> a, b, c = rg.Value(1.0), rg.Value(2.0), rg.Value(5.0)
    >>> rg.math.where(a, b, c).backward()
    >>> a.grad, b.grad, c.grad
    (0.0, 1.0, 0.0))doc"},
{"select", R"doc(select(a, b, c, /)
--

b where a is true (not zero), else c; the branch not taken gets no gradient.

The operation and its local derivatives::

    y = select(a != 0, b, c)
    dy/da = 0
    dy/db = select(a != 0, 1, 0)
    dy/dc = select(a != 0, 0, 1)

Both b and c have been computed already when it chooses; the one not chosen gets no gradient at all.
``select(condition, x, y)`` is x where the condition holds and y elsewhere.

Args:
    a: A Value or a real number (int, float, NumPy scalar), or an array.
    b: A Value or a real number (int, float, NumPy scalar), or an array.
    c: A Value or a real number (int, float, NumPy scalar), or an array.

Returns:
    A Value, which is one new node, when an operand is a Value; a float otherwise; of NumPy arrays an array
    with one of these for each element.

Raises:
    TypeError: An operand is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.select(1.0, 2.0, 5.0)
    2.0
    >>> a, b, c = rg.Value(1.0), rg.Value(2.0), rg.Value(5.0)
    >>> rg.math.select(a, b, c).backward()
    >>> a.grad, b.grad, c.grad
    (0.0, 1.0, 0.0))doc"},
{"sum", R"doc(sum(a, /)
--

Sum of a sequence, from left to right.

A fold from left to right, its result y, and the local derivative with respect to each operand::

    s = 0
    s = s + a  for each operand
    y = s
    dy/da = 1

An empty sequence gives 0.0. To add products, ``dot`` records one node instead of many.

Args:
    a: An iterable of Values and real numbers, which may be mixed.

Returns:
    A float, or a Value when an operand is a Value: one new node, whatever the length.

Raises:
    TypeError: An argument is not iterable, or an element is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.sum([3.0, 1.0, 3.0])
    7.0
    >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
    >>> rg.math.sum(a).backward()
    >>> [x.grad for x in a]
    [1.0, 1.0, 1.0])doc"},
{"mean", R"doc(mean(a, /)
--

Arithmetic mean of a sequence.

A fold from left to right, its result y, and the local derivative with respect to each operand::

    s = 0
    s = s + a  for each operand
    y = s / n
    dy/da = 1 / n

``n`` is the number of operands.

Args:
    a: An iterable of Values and real numbers, which may be mixed; at least one.

Returns:
    A float, or a Value when an operand is a Value: one new node, whatever the length.

Raises:
    TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
    ValueError: The sequence is empty.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.mean([3.0, 1.0, 3.0]), 6)
    2.333333
    >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
    >>> rg.math.mean(a).backward()
    >>> [round(x.grad, 6) for x in a]
    [0.333333, 0.333333, 0.333333])doc"},
{"dot", R"doc(dot(a, b, /)
--

Sum of the products of two sequences of equal length.

A fold from left to right, its result y, and the local derivative with respect to each operand::

    s = 0
    s = s + a * b  for each operand
    y = s
    dy/da = b
    dy/db = a

Two empty sequences give 0.0. The products are added from left to right, without fused operations.

Args:
    a: An iterable of Values and real numbers, which may be mixed.
    b: An iterable of Values and real numbers, of the same length as a.

Returns:
    A float, or a Value when an operand is a Value: one new node, whatever the length.

Raises:
    TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
    ValueError: The sequences differ in length.

Example:
    >>> import retrograd as rg
    >>> rg.math.dot([3.0, 1.0, 3.0], [10.0, 20.0, 30.0])
    140.0
    >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
    >>> rg.math.dot(a, [10.0, 20.0, 30.0]).backward()
    >>> [x.grad for x in a]
    [10.0, 20.0, 30.0])doc"},
{"prod", R"doc(prod(a, /)
--

Product of a sequence.

A fold from left to right, its result y, and the local derivative with respect to each operand::

    s = 1
    s = s * a  for each operand
    y = s
    dy/da = rest

An empty sequence gives 1.0. ``rest`` is the product of the other operands, found without a
division, so that zeros do no harm.

Args:
    a: An iterable of Values and real numbers, which may be mixed.

Returns:
    A float, or a Value when an operand is a Value: one new node, whatever the length.

Raises:
    TypeError: An argument is not iterable, or an element is neither a Value nor a real number.

Example:
    >>> import retrograd as rg
    >>> rg.math.prod([3.0, 1.0, 3.0])
    9.0
    >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
    >>> rg.math.prod(a).backward()
    >>> [x.grad for x in a]
    [3.0, 9.0, 3.0])doc"},
{"max", R"doc(max(a, /)
--

Largest of a sequence; tied operands share the gradient.

A fold from left to right, its result y, and the local derivative with respect to each operand::

    s = -inf
    s = select(s != s or s >= a, s, a)  for each operand
    y = s
    dy/da = select(a == y or y != y, 1 / ties, 0)

Operands that tie for the largest share the gradient equally; ``ties`` is their number. A NaN
operand gives NaN.

Args:
    a: An iterable of Values and real numbers, which may be mixed; at least one.

Returns:
    A float, or a Value when an operand is a Value: one new node, whatever the length.

Raises:
    TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
    ValueError: The sequence is empty.

Example:
    >>> import retrograd as rg
    >>> rg.math.max([3.0, 1.0, 3.0])
    3.0
    >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
    >>> rg.math.max(a).backward()
    >>> [x.grad for x in a]
    [0.5, 0.0, 0.5])doc"},
{"min", R"doc(min(a, /)
--

Smallest of a sequence; tied operands share the gradient.

A fold from left to right, its result y, and the local derivative with respect to each operand::

    s = inf
    s = select(s != s or s <= a, s, a)  for each operand
    y = s
    dy/da = select(a == y or y != y, 1 / ties, 0)

Operands that tie for the smallest share the gradient equally; ``ties`` is their number. A NaN
operand gives NaN.

Args:
    a: An iterable of Values and real numbers, which may be mixed; at least one.

Returns:
    A float, or a Value when an operand is a Value: one new node, whatever the length.

Raises:
    TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
    ValueError: The sequence is empty.

Example:
    >>> import retrograd as rg
    >>> rg.math.min([3.0, 1.0, 3.0])
    1.0
    >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
    >>> rg.math.min(a).backward()
    >>> [x.grad for x in a]
    [0.0, 1.0, 0.0])doc"},
{"logsumexp", R"doc(logsumexp(a, /)
--

log of the sum of the exponentials, without overflow.

A fold from left to right, its result y, and the local derivative with respect to each operand::

    s = 0
    s = s + exp(a - m)  for each operand
    y = select(abs(m) == inf, m, m + log(s))
    dy/da = select(abs(y) == inf, select(a == y, 1 / ties, 0), rest)

Stable: ``m``, the largest operand, is taken out of the exponentials (Blanchard, Higham & Higham
2021). ``rest`` is the operand's softmax probability.

Args:
    a: An iterable of Values and real numbers, which may be mixed; at least one.

Returns:
    A float, or a Value when an operand is a Value: one new node, whatever the length.

Raises:
    TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
    ValueError: The sequence is empty.

Example:
    >>> import retrograd as rg
    >>> round(rg.math.logsumexp([3.0, 1.0, 3.0]), 6)
    3.758624
    >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
    >>> rg.math.logsumexp(a).backward()
    >>> [round(x.grad, 6) for x in a]
    [0.468311, 0.063379, 0.468311])doc"},
{"softmax", R"doc(softmax(a, /)
--

Probabilities proportional to exp(a), one for each operand.

A fold from left to right, its result y, and the local derivative with respect to each operand::

    s = 0
    s = s + exp(a - m)  for each operand
    y = exp(a - m) / s
    dy/da = y * rest

Stable: ``m``, the largest operand, is taken out of the exponentials (Blanchard, Higham & Higham
2021). ``y * rest`` is y * (1 - y) for an output's own operand and -y * p for another one, of
probability p.

Args:
    a: An iterable of Values and real numbers, which may be mixed; at least one.

Returns:
    A list with one float for each operand, or one Value each when an operand is a Value: one new node for each, whatever the length.

Raises:
    TypeError: An argument is not iterable, or an element is neither a Value nor a real number.
    ValueError: The sequence is empty.

Example:
    >>> import retrograd as rg
    >>> [round(p, 6) for p in rg.math.softmax([3.0, 1.0, 3.0])]
    [0.468311, 0.063379, 0.468311]
    >>> a = [rg.Value(x) for x in [3.0, 1.0, 3.0]]
    >>> rg.math.softmax(a)[0].backward()
    >>> [round(x.grad, 6) for x in a]
    [0.248996, -0.029681, -0.219315])doc"},
};
consteval const char* function(std::string_view name) { return find(FUNCTION, name); }

inline constexpr Doc METHOD[] = {
{"add", R"doc(add($self, b, /)
--

Sum of two numbers.

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
    (1.0, 1.0))doc"},
{"sub", R"doc(sub($self, b, /)
--

a minus b.

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
    (1.0, -1.0))doc"},
{"subtract", R"doc(subtract($self, b, /)
--

a minus b.

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
    (1.0, -1.0))doc"},
{"mul", R"doc(mul($self, b, /)
--

a times b.

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
    (5.0, 2.0))doc"},
{"multiply", R"doc(multiply($self, b, /)
--

a times b.

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
    (5.0, 2.0))doc"},
{"div", R"doc(div($self, b, /)
--

a divided by b.

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
    (0.25, -0.1875))doc"},
{"divide", R"doc(divide($self, b, /)
--

a divided by b.

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
    (0.25, -0.1875))doc"},
{"true_divide", R"doc(true_divide($self, b, /)
--

a divided by b.

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
    (0.25, -0.1875))doc"},
{"neg", R"doc(neg($self, /)
--

Minus a.

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
    -1.0)doc"},
{"negative", R"doc(negative($self, /)
--

Minus a.

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
    -1.0)doc"},
{"pow", R"doc(pow($self, b, /)
--

a to the power b. With a negative base only a constant whole exponent has a real derivative.

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
    (6.0, 9.887511))doc"},
{"power", R"doc(power($self, b, /)
--

a to the power b. With a negative base only a constant whole exponent has a real derivative.

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
    (6.0, 9.887511))doc"},
{"mod", R"doc(mod($self, b, /)
--

Remainder with the sign of b, as Python's %.

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
    (1.0, -3.0))doc"},
{"floordiv", R"doc(floordiv($self, b, /)
--

Quotient rounded down, as Python's //.

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
    (0.0, 0.0))doc"},
{"floor_divide", R"doc(floor_divide($self, b, /)
--

Quotient rounded down, as Python's //.

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
    (0.0, 0.0))doc"},
{"fmod", R"doc(fmod($self, b, /)
--

Remainder with the sign of a, as C's fmod.

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
    (1.0, 3.0))doc"},
{"remainder", R"doc(remainder($self, b, /)
--

Distance from the nearest multiple of b, as Python's math.remainder and IEEE 754.

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
    (1.0, -2.0))doc"},
{"square", R"doc(square($self, /)
--

a times a.

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
    6.0)doc"},
{"reciprocal", R"doc(reciprocal($self, /)
--

One over a; infinite at zero.

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
    -0.0625)doc"},
{"exp", R"doc(exp($self, /)
--

e to the power a.

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
    1.648721)doc"},
{"exp2", R"doc(exp2($self, /)
--

2 to the power a.

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
    5.545177)doc"},
{"expm1", R"doc(expm1($self, /)
--

exp(a) - 1, exact near zero.

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
    1.648721)doc"},
{"log", R"doc(log($self, /)
--

Natural logarithm.

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
    2.0)doc"},
{"log2", R"doc(log2($self, /)
--

Logarithm to base 2.

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
    2.88539)doc"},
{"log10", R"doc(log10($self, /)
--

Logarithm to base 10.

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
    0.868589)doc"},
{"log1p", R"doc(log1p($self, /)
--

log(1 + a), exact near zero.

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
    0.666667)doc"},
{"sqrt", R"doc(sqrt($self, /)
--

Square root; its derivative at zero is infinite.

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
    0.166667)doc"},
{"cbrt", R"doc(cbrt($self, /)
--

Cube root, of negative numbers too.

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
    0.083333)doc"},
{"hypot", R"doc(hypot($self, b, /)
--

sqrt(a*a + b*b) without overflow; its derivative at the origin is zero.

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
    (0.6, 0.8))doc"},
{"sin", R"doc(sin($self, /)
--

Sine of an angle in radians.

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
    0.877583)doc"},
{"cos", R"doc(cos($self, /)
--

Cosine of an angle in radians.

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
    -0.479426)doc"},
{"tan", R"doc(tan($self, /)
--

Tangent of an angle in radians.

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
    1.298446)doc"},
{"asin", R"doc(asin($self, /)
--

Angle in radians whose sine is a.

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
    1.154701)doc"},
{"arcsin", R"doc(arcsin($self, /)
--

Angle in radians whose sine is a.

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
    1.154701)doc"},
{"acos", R"doc(acos($self, /)
--

Angle in radians whose cosine is a.

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
    -1.154701)doc"},
{"arccos", R"doc(arccos($self, /)
--

Angle in radians whose cosine is a.

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
    -1.154701)doc"},
{"atan", R"doc(atan($self, /)
--

Angle in radians whose tangent is a.

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
    0.8)doc"},
{"arctan", R"doc(arctan($self, /)
--

Angle in radians whose tangent is a.

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
    0.8)doc"},
{"atan2", R"doc(atan2($self, b, /)
--

Angle in radians of the point (b, a).

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
    (0.470588, -0.117647))doc"},
{"arctan2", R"doc(arctan2($self, b, /)
--

Angle in radians of the point (b, a).

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
    (0.470588, -0.117647))doc"},
{"degrees", R"doc(degrees($self, /)
--

Radians to degrees.

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
    57.29578)doc"},
{"rad2deg", R"doc(rad2deg($self, /)
--

Radians to degrees.

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
    57.29578)doc"},
{"radians", R"doc(radians($self, /)
--

Degrees to radians.

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
    0.017453)doc"},
{"deg2rad", R"doc(deg2rad($self, /)
--

Degrees to radians.

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
    0.017453)doc"},
{"sinh", R"doc(sinh($self, /)
--

Hyperbolic sine.

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
    1.127626)doc"},
{"cosh", R"doc(cosh($self, /)
--

Hyperbolic cosine.

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
    0.521095)doc"},
{"tanh", R"doc(tanh($self, /)
--

Hyperbolic tangent.

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
    0.786448)doc"},
{"asinh", R"doc(asinh($self, /)
--

Inverse hyperbolic sine.

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
    0.894427)doc"},
{"arcsinh", R"doc(arcsinh($self, /)
--

Inverse hyperbolic sine.

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
    0.894427)doc"},
{"acosh", R"doc(acosh($self, /)
--

Inverse hyperbolic cosine.

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
    0.57735)doc"},
{"arccosh", R"doc(arccosh($self, /)
--

Inverse hyperbolic cosine.

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
    0.57735)doc"},
{"atanh", R"doc(atanh($self, /)
--

Inverse hyperbolic tangent.

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
    1.333333)doc"},
{"arctanh", R"doc(arctanh($self, /)
--

Inverse hyperbolic tangent.

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
    1.333333)doc"},
{"sigmoid", R"doc(sigmoid($self, /)
--

Logistic function, 1 / (1 + exp(-a)).

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
    0.235004)doc"},
{"expit", R"doc(expit($self, /)
--

Logistic function, 1 / (1 + exp(-a)).

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
    0.235004)doc"},
{"softplus", R"doc(softplus($self, /)
--

log(1 + exp(a)).

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
    0.622459)doc"},
{"relu", R"doc(relu($self, /)
--

The larger of a and zero; its derivative at zero is zero.

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
    0.0)doc"},
{"silu", R"doc(silu($self, /)
--

a times sigmoid(a), also called swish.

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
    0.739961)doc"},
{"gelu", R"doc(gelu($self, /)
--

a times the normal distribution function (the erf form).

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
    0.867495)doc"},
{"erf", R"doc(erf($self, /)
--

Error function.

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
    0.878783)doc"},
{"erfc", R"doc(erfc($self, /)
--

1 - erf(a), exact in the tail.

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
    -0.878783)doc"},
{"lgamma", R"doc(lgamma($self, /)
--

Logarithm of the absolute value of the gamma function.

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
    -1.96351)doc"},
{"gammaln", R"doc(gammaln($self, /)
--

Logarithm of the absolute value of the gamma function.

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
    -1.96351)doc"},
{"gamma", R"doc(gamma($self, /)
--

Gamma function: (a - 1)! for a whole number above 0.

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
    36.146824)doc"},
{"digamma", R"doc(digamma($self, /)
--

Derivative of lgamma; NaN at the poles.

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
    4.934802)doc"},
{"abs", R"doc(abs($self, /)
--

Absolute value; its derivative at zero is zero.

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
    -1.0)doc"},
{"absolute", R"doc(absolute($self, /)
--

Absolute value; its derivative at zero is zero.

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
    -1.0)doc"},
{"fabs", R"doc(fabs($self, /)
--

Absolute value; its derivative at zero is zero.

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
    -1.0)doc"},
{"copysign", R"doc(copysign($self, b, /)
--

The magnitude of a with the sign of b; its derivative at a = 0 is zero.

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
    (-1.0, 0.0))doc"},
{"sign", R"doc(sign($self, /)
--

-1, 0 or 1; its derivative is zero.

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
    0.0)doc"},
{"floor", R"doc(floor($self, /)
--

Largest whole number not above a; its derivative is zero.

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
    0.0)doc"},
{"ceil", R"doc(ceil($self, /)
--

Smallest whole number not below a; its derivative is zero.

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
    0.0)doc"},
{"trunc", R"doc(trunc($self, /)
--

Whole part of a; its derivative is zero.

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
    0.0)doc"},
{"rint", R"doc(rint($self, /)
--

Nearest whole number, ties to even; its derivative is zero.

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
    0.0)doc"},
{"minimum", R"doc(minimum($self, b, /)
--

The smaller of two; at a tie each gets half the gradient.

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
    (1.0, 0.0))doc"},
{"maximum", R"doc(maximum($self, b, /)
--

The larger of two; at a tie each gets half the gradient.

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
    (0.5, 0.5))doc"},
{"where", R"doc(where($self, b, c, /)
--

b where a is true (not zero), else c; the branch not taken gets no gradient.

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
    (0.0, 1.0, 0.0))doc"},
{"select", R"doc(select($self, b, c, /)
--

b where a is true (not zero), else c; the branch not taken gets no gradient.

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
    (0.0, 1.0, 0.0))doc"},
};
consteval const char* method(std::string_view name) { return find(METHOD, name); }

}  // namespace retrograd::docs
