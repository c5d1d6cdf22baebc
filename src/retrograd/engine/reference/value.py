"""The textbook engine: reverse-mode automatic differentiation in plain Python, to be read.

A :class:`Value` is one number. Arithmetic on Values computes the result and keeps a :class:`Record` of
where it came from: which row of the op table, and which operands. Those records are the graph.
:meth:`Value.backward` walks it from the result back to the leaves and applies one rule at every node:

    operand.grad += (local derivative) * node.grad

That is all there is. The rest is care: operands exist before results, so the order in which
Values were created is an order in which the walk may visit them, and no sorting of the graph and no
recursion is needed; a leaf changed behind the graph's back is noticed; an operand reached through two
paths gets the sum of both.

The native engine does the same in C++, with the same floating-point operations in the same order. Choose
this one with ``RETROGRAD_ENGINE=reference``; users import :mod:`retrograd.engine` in either case.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, SupportsFloat, TypeAlias, cast

from ... import errors
from .. import pickling
from ..numbers import same_bits, to_tuple
from .modes import tape, to_float, turn
from .operators import Operators
from .rules import NARY_RULES, RULES, NaryRule, Rule, label
from .steps import adam_step, sgd_step, zero_gradients

__all__ = [
    "Number",
    "Value",
    "adam_step",
    "apply",
    "evaluate",
    "get_source",
    "interior",
    "is_constant",
    "operands",
    "output_index",
    "reduce",
    "restore",
    "row_name",
    "set_source",
    "sgd_step",
    "zero_gradients",
]

_engine = sys.modules[__name__.rpartition(".")[0]]
_creation = itertools.count(1)


class Record:
    """How an interior Value came to be: its operation and the operands, as they were at that moment."""

    __slots__ = ("data", "local_grads", "operands", "output", "rule", "source", "thread", "used")

    def __init__(self, rule: Rule | NaryRule | None, operands: list[Value | float], data: float) -> None:
        self.rule = rule  #: None for a node that a user made
        self.operands = operands  #: in order; plain numbers stay floats until somebody looks at them
        self.used = [_data(operand) for operand in operands]  #: their data, as this operation used it
        self.data = data  #: the result
        self.local_grads: tuple[float, ...] | None = None  #: of a user's node
        self.output = 0  #: which of a softmax's results this is
        self.source = 0
        self.thread = tape.thread


class Value(Operators):
    """A number that remembers how it was computed, so that derivatives can flow back through it.

    ``Value(data)`` is a leaf: an input or a parameter. ``Value(data, children, '*')`` is a node that you make
    yourself, whose ``_backward`` you then assign; ``Value(data, children, local_grads)`` is one whose local
    derivatives are given as numbers, one for each child.

    Raises TypeError for anything that is not a real number, NumberTooLargeError for an int beyond the floats.
    """

    __slots__ = ("_closure", "_constant", "_creation", "_data", "_given_op", "_grad", "_label", "_record")

    _data: float
    _grad: float
    _label: str
    _creation: int
    _record: Record | None
    _closure: Callable[[], object] | None
    _constant: bool
    _given_op: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if cls is Value and len(args) == 1:
            traced = tape.ask("leaf", *args)
            if traced is not NotImplemented:
                return cast(Self, traced)
        self = object.__new__(cls)
        self._data = self._grad = 0.0
        self._label = self._given_op = ""
        self._creation = 0  # until it is made
        self._record = self._closure = None
        self._constant = False
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
        if tape.tracing and row_name(self) == "detach":  # what Value(x) of a traced number is: __new__
            self._label = label
            return
        number = to_float(data, "Value(…)")
        if not isinstance(_op, str):  # the third argument of Value(data, children, local_grads)
            local_grads = _op
        by_position, by_name = to_tuple(_children, "Value(data, children)"), to_tuple(children, "Value(data, children)")
        if by_position and by_name:
            raise errors.children_twice()
        operands = by_position or by_name
        for child in operands:
            if not isinstance(child, Value):
                raise errors.not_a_child(child)
        partials = None if local_grads is None else tuple(to_float(g, "local_grads") for g in local_grads)
        if partials is not None and len(partials) != len(operands):
            expected = f"one local derivative for each of the {len(operands)} children"
            raise errors.wrong_length("Value(data, children, local_grads)", expected, len(partials))
        if self._record is not None or (operands and self._creation):
            raise TypeError("this Value has been made already: make another one instead of calling __init__ again.")
        self._data, self._label, self._given_op = number, label, _op if isinstance(_op, str) else ""
        self._creation = next(_creation)
        _check_thread(operands)
        if operands and tape.recording:
            record = Record(None, list(operands), self._data)
            record.local_grads = partials
            _append(self, record)

    # --- what a Value shows ---------------------------------------------------------------------------

    @property
    def data(self) -> float:
        """The number itself. Assigning it after an operation used it makes ``backward()`` refuse that operation."""
        traced = tape.ask("data", self)
        return self._data if traced is NotImplemented else cast(float, traced)

    @data.setter
    def data(self, number: SupportsFloat) -> None:
        tape.ask("notice", "assigns .data")
        self._data = to_float(number, ".data")

    @property
    def grad(self) -> float:
        """The derivative of the result that ``backward()`` was called on, with respect to this Value."""
        tape.ask("notice", "reads a gradient")
        with turn:  # not what another thread's pass has of it so far
            return self._grad

    @grad.setter
    def grad(self, number: SupportsFloat) -> None:
        tape.ask("notice", "assigns .grad")
        gradient = to_float(number, ".grad")
        with turn:
            self._grad = gradient

    @property
    def label(self) -> str:
        """A name for people; messages and pictures show it."""
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
        for slot in _child_slots(record):  # a number becomes a Value at the first look, and stays that very Value
            record.operands[slot] = _as_value(record.operands[slot])
        return tuple(operand for operand in record.operands if isinstance(operand, Value))

    @property
    def _prev(self) -> set[Value]:
        return set(self._children)

    @property
    def _local_grads(self) -> tuple[float, ...]:
        tape.ask("notice", "reads local derivatives")
        record = self._record
        if record is None:
            return ()
        _check_unchanged(self, record)
        if self._closure is not None or (record.rule is None and record.local_grads is None):
            raise errors.no_local_grads(self)
        return tuple(0.0 if partial is None else partial for partial in _partials(record, _child_slots(record)))

    @property
    def _backward(self) -> Callable[[], object]:
        """Pushes this node's contributions to its operands. Assign a function of your own to replace it."""
        return self._closure or self._push

    @_backward.setter
    def _backward(self, function: Callable[[], object]) -> None:
        if not callable(function):
            raise errors.not_a_function(function)
        if self._record is not None and self._record.rule is not None and _captures(function, self):
            raise errors.operator_backward(self)
        self._closure = function

    def __repr__(self) -> str:
        tape.ask("notice", "turns a number into text")
        return f"Value(data={self._data!r}, grad={self._grad!r})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        tape.ask("notice", "turns a number into text")
        return format(self._data, spec)

    # --- the backward pass ----------------------------------------------------------------------------

    def backward(self, gradient: SupportsFloat = 1.0) -> None:
        """Add the derivatives of ``gradient`` times this Value to the ``.grad`` of every leaf it depends on.

        Leaves accumulate from call to call. Interior nodes get the gradient of this pass, so that calling
        backward() twice is right. Raises ChangedValueError, MissingDerivativeError or ForeignThreadError.
        """
        tape.ask("notice", "calls backward()")
        seed = to_float(gradient, "backward(…)")
        if tape.backward_hook is not None:
            tape.backward_hook(self, seed)
        else:
            with turn:
                sweep(self, seed)

    def zero_grad(self) -> None:
        """Set this Value's ``.grad`` to zero."""
        self.grad = 0.0

    def detach(self) -> Value:
        """A new leaf with the same data, through which no gradient flows back."""
        traced = tape.ask("detach", self)
        return _leaf(self._data) if traced is NotImplemented else cast(Value, traced)

    def item(self) -> Value:
        """This Value itself; the bare number is ``.data``."""
        return self

    def _push(self) -> None:
        """operand.grad += local derivative * self.grad, for each operand that is a Value."""
        record, gradient = self._record, self._grad
        if record is None:
            return
        if record.rule is None and record.local_grads is None:
            raise errors.missing_derivative(self)
        _check_unchanged(self, record)
        if gradient == 0.0:
            return  # nothing to pass on, even against an infinite local derivative
        values = [(slot, operand) for slot, operand in enumerate(record.operands) if isinstance(operand, Value)]
        partials = _partials(record, [slot for slot, _ in values])
        for (_, operand), partial in zip(values, partials, strict=True):
            if partial is not None:  # None is structurally zero: the branch not taken
                operand._grad += partial * gradient

    @staticmethod
    def _apply(name: str, /, *operands: Any) -> Value:
        return apply(name, *operands)  # what the operators and methods call: see operators.py

    # --- copies: see pickling.py -------------------------------------------------------------------------

    def __copy__(self) -> Any:
        return pickling.shallow(_engine, self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return pickling.deep(_engine, self, memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickling.reduce(_engine, self)


Number: TypeAlias = Value | float


# --- recording --------------------------------------------------------------------------------------------


def apply(name: str, /, *operands: Number) -> Value:
    """Compute the row ``name`` of the op table and record it.

    Operands are Values or real numbers, at least one a Value. Raises TypeError for anything else, ValueError
    for a name that the table does not have, and the errors of the row's domain (see ``retrograd.errstate``).
    """
    rule = _rule_named(name, operands)
    traced = tape.ask("call", name, operands)
    if traced is not NotImplemented:
        return cast(Value, traced)
    slots: list[Value | float] = [_operand(operand, name) for operand in operands]
    if not any(isinstance(slot, Value) for slot in slots):
        raise TypeError(f"apply({name!r}, …) needs a Value among its operands: use evaluate for plain numbers.")
    for position in rule.row.static:
        if isinstance(slots[position], Value):
            raise errors.static_operand(name, position)
    if name in _COMMUTATIVE and not isinstance(slots[0], Value):
        slots.reverse()  # 2 + x records x + 2
    data = _evaluate(rule, [_data(slot) for slot in slots])
    if len(slots) > 2:
        slots = [_as_value(slot) for slot in slots]
    return _recorded(rule, slots, data)


def evaluate(name: str, /, *numbers: float) -> float:
    """The row ``name`` on plain numbers, with its domain errors."""
    rule = _rule_named(name, numbers)
    traced = tape.ask("call", name, numbers)
    if traced is not NotImplemented:
        return cast(float, traced)
    return _evaluate(rule, [to_float(number, name) for number in numbers])


def reduce(name: str, xs: Iterable[Number], ys: Iterable[Number] | None = None, /) -> Any:
    """Compute the row ``name`` over a sequence, or two of equal length for ``dot``, and record it as one node.

    A float when no operand is a Value. ``softmax`` gives a list, one result for each operand.
    Raises ValueError for an empty sequence where the row needs an operand, and for unequal lengths.
    """
    rule = NARY_RULES.get(name)
    if rule is None:
        raise errors.unknown_operation(name, f"the operations over a sequence are {', '.join(NARY_RULES)}")
    xs = to_tuple(xs, name)
    ys = None if ys is None else to_tuple(ys, name)
    traced = tape.ask("reduce", name, (xs,) if ys is None else (xs, ys))
    if traced is not NotImplemented:
        return traced
    first = _sequence(xs, name)
    second = [] if ys is None else _sequence(ys, name)
    if rule.row.paired != (ys is not None):
        raise TypeError(f"{name} takes {'two sequences' if rule.row.paired else 'one sequence'}.")
    if rule.row.paired and len(first) != len(second):
        raise errors.wrong_length(name, f"two sequences of equal length, the first has {len(first)}", len(second))
    if not first and not rule.row.empty:
        raise errors.wrong_length(name, "at least one operand", 0)
    results = rule.forward([_data(x) for x in first], [_data(y) for y in second])
    slots = first + second
    if any(isinstance(slot, Value) for slot in slots):
        values: list[Value | float] = [_as_value(slot) for slot in slots]
        nodes = [_recorded(rule, values, data, output) for output, data in enumerate(results)]
        return nodes if rule.row.outputs else nodes[0]
    return results if rule.row.outputs else results[0]


_COMMUTATIVE = frozenset({"add", "mul"})


def _rule_named(name: str, operands: Sequence[object]) -> Rule:
    rule = RULES.get(name)
    if rule is None:
        raise errors.unknown_operation(name, "see retrograd.ops for the table of operations")
    if len(operands) != rule.row.arity:
        raise TypeError(f"{name} takes {rule.row.arity} operands, and {len(operands)} were given.")
    return rule


def _sequence(operands: Iterable[object], where: str) -> list[Value | float]:
    return [_operand(operand, where) for operand in operands]


def _operand(operand: object, where: str) -> Value | float:
    return operand if isinstance(operand, Value) else to_float(operand, where)


def _evaluate(rule: Rule, numbers: Sequence[float]) -> float:
    """The row's result; raises where an operand lies outside its domain."""
    data = rule.forward(*numbers)
    violation = rule.violation(numbers, data, tape.raising)
    if violation is not None:
        raise errors.domain_error(rule.row.name, violation, numbers)
    return data


def _data(operand: Value | float) -> float:
    return operand._data if isinstance(operand, Value) else operand


def _leaf(data: float) -> Value:
    leaf = Value.__new__(Value)
    leaf._data = data
    leaf._creation = next(_creation)
    return leaf


def _as_value(operand: Value | float) -> Value:
    """The operand, or the constant Value that stands for a number."""
    if isinstance(operand, Value):
        return operand
    constant = _leaf(operand)
    constant._constant = True
    return constant


def _recorded(rule: Rule | NaryRule, slots: Sequence[Value | float], data: float, output: int = 0) -> Value:
    """The result of an operation, connected to its operands unless recording is off."""
    _check_thread(slots)
    result = _leaf(data)
    if tape.recording or tape.tracer is not None:
        record = Record(rule, list(slots), data)
        record.output = output
        _append(result, record)
    return result if tape.recording or tape.tracer is None else _without_gradient(result)


def _without_gradient(value: Value) -> Value:
    """What an operation under no_grad gives in a pure trace: a node, so that the trace knows where it came from."""
    result = _leaf(value._data)
    _append(result, Record(RULES["detach"], [value], value._data))
    return result


def _append(node: Value, record: Record) -> None:
    """Make ``node`` the newest interior node of this thread."""
    _check_thread(record.operands)
    node._record = record
    node._creation = next(_creation)
    if tape.observer is not None and not tape.observing:
        tape.observing = True
        try:
            tape.observer(node)
        finally:
            tape.observing = False


def _check_thread(operands: Iterable[Value | float]) -> None:
    for operand in operands:
        if isinstance(operand, Value) and operand._record is not None and operand._record.thread is not tape.thread:
            raise errors.foreign_thread()


# --- looking at a node --------------------------------------------------------------------------------------


def _child_slots(record: Record) -> list[int]:
    """The slots that ``_children`` shows: all, except the number in a power."""
    power = record.rule is not None and record.rule.row.name == "pow"
    return [slot for slot, operand in enumerate(record.operands) if isinstance(operand, Value) or not power]


def interior(root: Value, /) -> list[Value]:
    """The nodes with operands that ``root`` depends on, itself included, oldest first."""
    return [value for value in reached(root) if value._record is not None]


def operands(value: Value, /) -> tuple[Value | float, ...]:
    """A node's operands in order, numbers as floats unless somebody has looked at them; a dot's a before its b."""
    return () if value._record is None else tuple(value._record.operands)


def row_name(value: Value, /) -> str:
    """The row that made ``value``; ``"user"`` for a node with a user's own derivative, ``""`` for a leaf."""
    record = value._record
    if record is None:
        return ""
    return "user" if record.rule is None or value._closure is not None else record.rule.row.name


def output_index(value: Value, /) -> int:
    """Which result of a softmax ``value`` is; 0 for all others."""
    return 0 if value._record is None else value._record.output


def is_constant(value: Value, /) -> bool:
    """Whether ``value`` is a leaf that the engine made from a number."""
    return value._constant


def set_source(value: Value, source: int, /) -> None:
    """Keep a small number with an interior node: where in the user's program it was recorded."""
    if value._record is not None:
        value._record.source = source


def get_source(value: Value, /) -> int:
    """The number that ``set_source`` kept; 0 when there is none."""
    return 0 if value._record is None else value._record.source


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


def sweep(root: Value, seed: float) -> None:
    """One backward pass. Results come after operands, so each gradient is complete before its node is visited."""
    _check_thread([root])
    nodes = interior(root)
    for node in reversed(nodes):  # before anything is added to any gradient
        _check_unchanged(node, cast(Record, node._record))
    for node in reversed(nodes):
        _check_differentiable(node, cast(Record, node._record))
    for node in nodes:
        node._grad = 0.0  # an interior node gets the gradient of this pass only; leaves accumulate
    leaves = [(value, value._grad) for value in reached(root) if value._record is None]
    root._grad += seed
    try:
        for node in reversed(nodes):
            own = _own_backward(node)
            if own is None:
                node._push()
            elif node._grad != 0.0:
                own()
    except BaseException:  # a user's function raised, or Ctrl-C: a pass adds all or nothing
        for leaf, gradient in leaves:
            leaf._grad = gradient
        raise


def _check_differentiable(node: Value, record: Record) -> None:
    """Raises MissingDerivativeError for a node that a user made without saying how it differentiates."""
    if record.rule is None and record.local_grads is None and _own_backward(node) is None:
        raise errors.missing_derivative(node)


def _own_backward(node: Value) -> Callable[[], object] | None:
    """A user's own derivative of a node: the function assigned to ``_backward``, or the method of a subclass."""
    if node._closure is not None:
        return node._closure
    record = node._record
    given = record is not None and record.local_grads is not None
    return None if given or type(node)._backward is Value._backward else node._backward


def _captures(function: Callable[[], object], value: Value) -> bool:
    """Whether a function's closure holds ``value``: a cycle, which the native engine could not free."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            if cell.cell_contents is value:
                return True
        except ValueError:  # the variable has no value yet
            continue
    return False


def _partials(record: Record, slots: Sequence[int]) -> Sequence[float | None]:
    """Local derivatives with respect to the operands in ``slots``; None where structurally zero."""
    if record.rule is not None:
        return record.rule.derivatives(record.used, record.data, slots, record.output)
    return [(record.local_grads or ())[slot] for slot in slots]


def _check_unchanged(value: Value, record: Record) -> None:
    """Raises ChangedValueError when the result, or an operand, is not what this operation computed and used."""
    if not same_bits(value._data, record.data):
        raise errors.changed_value(value, record.data)
    for operand, used in zip(record.operands, record.used, strict=True):
        if isinstance(operand, Value) and not same_bits(operand._data, used):
            raise errors.changed_value(operand, used)


# --- rebuilding, for copies ----------------------------------------------------------------------------------


def restore(name: str, operands: Sequence[Number], data: float, grad: float, index: int = 0, /) -> Value:
    """A node of row ``name`` with this data and gradient, without computing anything; a leaf when ``name`` is ``""``.

    ``"constant"`` is a leaf that the engine made from a number; ``index`` is a softmax's output.
    """
    value = _leaf(to_float(data, "restore"))
    if name in ("", "constant"):
        value._constant = name == "constant"
    else:
        rule = RULES.get(name) or NARY_RULES.get(name)
        if rule is None:
            raise errors.unknown_operation(name, "it was saved by another version of retrograd")
        slots = [_operand(operand, "restore") for operand in operands]
        if isinstance(rule, NaryRule) or len(slots) > 2:
            slots = [_as_value(slot) for slot in slots]
        _check_thread(slots)
        value._record = Record(rule, slots, value._data)
        value._record.output = index
        value._creation = next(_creation)
    value._grad = to_float(grad, "restore")
    return value
