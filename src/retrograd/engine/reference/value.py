"""The textbook engine: reverse-mode automatic differentiation in plain Python, to be read.

A :class:`Value` is one number. Arithmetic on Values computes the result and keeps a :class:`Record` of
where it came from: which row of the op table, and which operands. Those records are the graph.
:meth:`Value.backward` walks it from the result back to the leaves and applies one rule at every node:

    operand.grad += (local derivative) * node.grad

That is all there is. The rest is care: operands exist before results, so the order in which Values were created is an
order in which the walk may visit them, and no sorting of the graph and no recursion is needed; a leaf changed behind
the graph's back is noticed; an operand reached through two paths gets the sum of both.

Read this file from top to bottom; its neighbours fill in the details: ``rules`` (the op table as Python functions),
``operators`` (``+``, ``<``, ``abs`` …), ``nary`` (``sum``, ``dot``, ``softmax``), ``checks`` (when a pass is refused),
``modes`` (``no_grad`` and ``errstate``), ``nodes`` (what others may ask of a node), ``calls`` and ``steps``.

The native engine does the same in C++, with the same floating-point operations in the same order. Choose
this one with ``RETROGRAD_ENGINE=reference``; users import :mod:`retrograd.engine` in either case.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, Self, SupportsFloat, TypeAlias

from ... import errors
from ..interface import documented
from ..numbers import to_float
from .checks import check_children, check_local_grads, check_thread, check_unchanged, refers_to
from .copies import Copies
from .modes import backward_lock, tape
from .operators import Operators
from .rules import RULES, NaryRule, Rule, label

__all__ = ["Number", "Value", "apply", "evaluate", "interior"]

_creation = itertools.count(1)


class Record:
    """How an interior Value came to be: its operation and the operands, as they were at that moment."""

    __slots__ = ("data", "local_grads", "operands", "output", "rule", "source", "thread", "used")

    def __init__(
        self,
        rule: Rule | NaryRule | None,
        operands: Iterable[Value | float],
        data: float,
        output: int = 0,
        local_grads: tuple[float, ...] | None = None,
    ) -> None:
        self.rule: Rule | NaryRule | None = rule  #: the row of the op table; None for a node that a user made
        self.operands: list[Value | float] = list(
            operands
        )  #: in order; a plain number stays a float until ``_children`` shows it
        self.used: list[float] = [
            data_of(operand) for operand in self.operands
        ]  #: their data, as this operation used it
        self.data: float = data  #: the result
        self.output: int = output  #: which of a softmax's results this is
        self.local_grads: tuple[float, ...] | None = local_grads  #: of a node that a user made, where given
        self.source: int = 0  #: where in the user's program, see ``nodes.set_source``
        self.thread: object = tape.thread

    def child_slots(self) -> list[int]:
        """The positions of the operands that ``_children`` shows: all, except the number in a power."""
        power = self.rule is not None and self.rule.row.name == "pow"
        return [slot for slot, operand in enumerate(self.operands) if isinstance(operand, Value) or not power]

    def local_derivatives(self, slots: Sequence[int]) -> Sequence[float | None]:
        """The local derivatives with respect to the operands in ``slots``; None where structurally zero."""
        if self.rule is not None:
            return self.rule.derivatives(self.used, self.data, slots, self.output)
        return [(self.local_grads or ())[slot] for slot in slots]


@documented
class Value(Operators, Copies):
    """A number and its record. What it offers to users is documented in interface.py, for both engines."""

    __slots__ = (
        "_closure",
        "_constant",
        "_creation",
        "_data",
        "_given_op",
        "_grad",
        "_label",
        "_record",
        "_unrecorded",
    )

    _data: float
    _grad: float
    _label: str
    _creation: int
    _record: Record | None
    _closure: Callable[[], object] | None
    _constant: bool
    _given_op: str
    _unrecorded: bool

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = object.__new__(cls)
        self._data = self._grad = 0.0
        self._label = self._given_op = ""
        self._creation = 0  # until it is made
        self._record = self._closure = None
        self._constant = self._unrecorded = False
        return self

    def __init__(
        self,
        data: SupportsFloat,
        _children: Iterable[Value] = (),
        _op: str | Sequence[float] = "",
        label: str = "",
        *,
        children: Iterable[Value] = (),
        local_grads: Sequence[float] | None = None,
    ) -> None:
        if not isinstance(label, str):
            raise errors.not_a_label(label)
        number = to_float(data, "Value(…)")
        if not isinstance(_op, str):  # the third argument of Value(data, children, local_grads)
            local_grads, _op = _op, ""
        operands = check_children(_children, children)
        given = None if local_grads is None else check_local_grads(local_grads, len(operands))
        if self._record is not None or (operands and self._creation):
            raise TypeError("this Value has been made already: make another one instead of calling __init__ again.")
        check_thread(operands)
        self._data, self._label, self._given_op = number, label, _op
        self._creation = next(_creation)
        self._unrecorded = bool(operands) and not tape.recording
        if operands and tape.recording:
            self._record = Record(None, operands, number, local_grads=given)
            tape.show(self)

    # --- what a Value shows ---------------------------------------------------------------------------

    @property
    def data(self) -> float:
        return self._data

    @data.setter
    def data(self, number: SupportsFloat) -> None:
        self._data = to_float(number, ".data")

    @property
    def grad(self) -> float:
        with backward_lock:  # not what another thread's pass has of it so far
            return self._grad

    @grad.setter
    def grad(self, number: SupportsFloat) -> None:
        gradient = to_float(number, ".grad")
        with backward_lock:
            self._grad = gradient

    @property
    def label(self) -> str:
        return self._label

    @label.setter
    def label(self, text: str) -> None:
        if not isinstance(text, str):
            raise errors.not_a_label(text)
        self._label = text

    @property
    def _op(self) -> str:
        record = self._record
        if record is None or record.rule is None:
            return self._given_op
        return label(record.rule.row, [None if isinstance(slot, Value) else slot for slot in record.operands])

    @property
    def _children(self) -> tuple[Value, ...]:
        record = self._record
        if record is None:
            return ()
        for slot in record.child_slots():  # a number becomes a Value when it is first shown, and stays that very Value
            record.operands[slot] = as_value(record.operands[slot])
        return tuple(operand for operand in record.operands if isinstance(operand, Value))

    @property
    def _prev(self) -> set[Value]:
        return set(self._children)

    @property
    def _local_grads(self) -> tuple[float, ...]:
        record = self._record
        if record is None:
            return ()
        check_unchanged(self, record)
        if self._closure is not None or (record.rule is None and record.local_grads is None):
            raise errors.no_local_grads(self)
        derivatives = record.local_derivatives(record.child_slots())
        return tuple(0.0 if derivative is None else derivative for derivative in derivatives)

    @property
    def _backward(self) -> Callable[[], object]:
        return self._closure or self._apply_vjp

    @_backward.setter
    def _backward(self, function: Callable[[], object]) -> None:
        if not callable(function):
            raise errors.not_a_function(function)
        if self._record is not None and self._record.rule is not None and refers_to(function, self):
            raise errors.operator_backward(self)
        self._closure = function

    def __repr__(self) -> str:
        return f"Value(data={self._data!r}, grad={self._grad!r})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        return format(self._data, spec)

    # --- the backward pass ----------------------------------------------------------------------------

    def backward(
        self, gradient: SupportsFloat = 1.0, *, retain_graph: bool | None = None, create_graph: bool = False
    ) -> None:
        if create_graph:
            raise errors.create_graph_given()
        seed = to_float(gradient, "backward(…)")
        if self._unrecorded:  # computed inside no_grad: there is nothing to go back through
            raise errors.not_recorded(self)
        if tape.backward_hook is not None:
            tape.backward_hook(self, seed)
        else:
            with backward_lock:
                sweep(self, seed)

    def zero_grad(self) -> None:
        self.grad = 0.0

    def detach(self) -> Value:
        return leaf(self._data)

    def item(self) -> NoReturn:
        raise errors.no_float("item()")

    def __round__(self, ndigits: int | None = None) -> Value:
        return apply("round", self) if ndigits is None else leaf(round(self._data, ndigits))

    def _apply_vjp(self) -> None:
        """operand.grad += local derivative * self.grad, for each operand that is a Value."""
        record, gradient = self._record, self._grad
        if record is None:
            return
        if record.rule is None and record.local_grads is None:
            raise errors.missing_derivative(self)
        check_unchanged(self, record)
        if gradient == 0.0:
            return  # nothing to pass on, even against an infinite local derivative
        values = [(slot, operand) for slot, operand in enumerate(record.operands) if isinstance(operand, Value)]
        derivatives = record.local_derivatives([slot for slot, _ in values])
        for (_, operand), derivative in zip(values, derivatives, strict=True):
            if derivative is not None:  # None is structurally zero: the branch not taken
                operand._grad += derivative * gradient

    @staticmethod
    def _apply(name: str, /, *operands: Any) -> Value:
        return apply(name, *operands)  # what the operators and methods call: see operators.py


Number: TypeAlias = Value | float


# --- the forward pass: compute and record -----------------------------------------------------------------


def apply(name: str, /, *operands: Number) -> Value:
    """Compute the row ``name`` of the op table and record it.

    Operands are Values or real numbers, at least one a Value. Raises TypeError for anything else, ValueError
    for a name that the table does not have, and the errors of the row's domain (see ``retrograd.errstate``).
    """
    rule = _rule_named(name, operands)
    slots = [operand_of(operand, name) for operand in operands]
    if not any(isinstance(slot, Value) for slot in slots):
        raise TypeError(f"apply({name!r}, …) needs a Value among its operands: use evaluate for plain numbers.")
    for position in rule.row.static:
        if isinstance(slots[position], Value):
            raise errors.static_operand(name, position)
    if name in _COMMUTATIVE and not isinstance(slots[0], Value):
        slots.reverse()  # 2 + x records x + 2
    data = _computed(rule, [data_of(slot) for slot in slots])
    if len(slots) > 2:
        slots = [as_value(slot) for slot in slots]
    return recorded(rule, slots, data)


def evaluate(name: str, /, *numbers: float) -> float:
    """The row ``name`` on plain numbers, with its domain errors."""
    rule = _rule_named(name, numbers)
    return _computed(rule, [to_float(number, name) for number in numbers])


_COMMUTATIVE = frozenset({"add", "mul"})


def _rule_named(name: str, operands: Sequence[object]) -> Rule:
    rule = RULES.get(name)
    if rule is None:
        raise errors.unknown_operation(name, "see retrograd.ops for the table of operations")
    if len(operands) != rule.row.arity:
        raise TypeError(f"{name} takes {rule.row.arity} operands, and {len(operands)} were given.")
    return rule


def _computed(rule: Rule, numbers: Sequence[float]) -> float:
    """The row's result. Raises where an operand lies outside its domain."""
    data = rule.forward(*numbers)
    violation = rule.violation(numbers, data, tape.raising)
    if violation is not None:
        raise errors.domain_error(rule.row.name, violation, numbers)
    return data


def recorded(rule: Rule | NaryRule, operands: Sequence[Value | float], data: float, output: int = 0) -> Value:
    """The result of an operation, connected to its operands unless recording is off."""
    check_thread(operands)
    result = leaf(data)
    result._unrecorded = not tape.recording
    if tape.recording:
        result._record = Record(rule, operands, data, output)
        tape.show(result)
    return result


def leaf(data: float) -> Value:
    """A new leaf; unlike ``Value(data)`` it takes a float and nothing else."""
    value = Value.__new__(Value)
    value._data = data
    value._creation = next(_creation)
    return value


def as_value(operand: Value | float) -> Value:
    """The operand itself, or a constant Value made from a number."""
    if isinstance(operand, Value):
        return operand
    constant = leaf(operand)
    constant._constant = True
    return constant


def operand_of(thing: object, where: str) -> Value | float:
    """A Value, or a number as a float. Raises TypeError for anything else, naming ``where`` it was given."""
    return thing if isinstance(thing, Value) else to_float(thing, where)


def data_of(operand: Value | float) -> float:
    """The number of an operand."""
    return operand._data if isinstance(operand, Value) else operand


# --- the backward pass --------------------------------------------------------------------------------------


def reached(root: Value) -> list[Value]:
    """Everything ``root`` depends on, itself included, in the order of creation: operands before results."""
    found, stack = {id(root): root}, [root]
    while stack:
        record = stack.pop()._record
        for operand in record.operands if record is not None else ():
            if isinstance(operand, Value) and id(operand) not in found:
                found[id(operand)] = operand
                stack.append(operand)
    return sorted(found.values(), key=lambda value: value._creation)


def structural_leaves(root: Value) -> list[Value]:
    """The leaves that ``root`` depends on through local derivatives that are not structurally zero, in no order."""
    found, stack = {id(root): root}, [root]
    while stack:
        for operand in _structural_operands(stack.pop()):
            if id(operand) not in found:
                found[id(operand)] = operand
                stack.append(operand)
    return [value for value in found.values() if value._record is None]


def _structural_operands(value: Value) -> list[Value]:
    record = value._record
    if record is None:
        return []
    values = [(slot, operand) for slot, operand in enumerate(record.operands) if isinstance(operand, Value)]
    if record.rule is None or _user_backward(value) is not None:  # a user's own function may reach any operand
        return [operand for _, operand in values]
    derivatives = record.local_derivatives([slot for slot, _ in values])
    return [operand for (_, operand), d in zip(values, derivatives, strict=True) if d is not None]


def interior(root: Value, /) -> list[Value]:
    """The nodes with operands that ``root`` depends on, itself included, oldest first."""
    return [value for value in reached(root) if value._record is not None]


def sweep(root: Value, seed: float) -> None:
    """One backward pass. Results come after operands, so each gradient is complete before its node is visited."""
    nodes = interior(root)
    _check_graph(root, nodes)
    leaves = GradientSnapshot(value for value in reached(root) if value._record is None)
    for node in nodes:
        node._grad = 0.0  # an interior node gets the gradient of this pass only; leaves accumulate
    root._grad += seed
    try:
        for node in reversed(nodes):
            backward = _user_backward(node)
            if backward is None:
                node._apply_vjp()
            elif node._grad != 0.0:
                backward()
    except BaseException:  # a user's function raised, or Ctrl-C: a pass adds all or nothing
        leaves.restore()
        raise


class GradientSnapshot:
    """The gradients of some Values, to be put back."""

    def __init__(self, values: Iterable[Value]) -> None:
        self._saved = [(value, value._grad) for value in values]

    def restore(self) -> None:
        """Give each Value the gradient that it had."""
        for value, gradient in self._saved:
            value._grad = gradient


def _check_graph(root: Value, nodes: Sequence[Value]) -> None:
    """Refuse a pass that would go wrong, before it adds anything to any gradient."""
    check_thread([root])
    for node in reversed(nodes):
        if node._record is not None:
            check_unchanged(node, node._record)
    for node in reversed(nodes):
        record = node._record
        if record is not None and record.rule is None and record.local_grads is None and _user_backward(node) is None:
            raise errors.missing_derivative(node)


def _user_backward(node: Value) -> Callable[[], object] | None:
    """A user's own derivative of a node: the function assigned to ``_backward``, or the method of a subclass."""
    if node._closure is not None:
        return node._closure
    given = node._record is not None and node._record.local_grads is not None
    return None if given or type(node)._backward is Value._backward else node._backward
