#include "tape/record.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "ops/op_traits.hpp"
#include "tape/docs.hpp"
#include "tape/number_tracer.hpp"

namespace retrograd {

PyObject prototype;

bool observe(Tape* tape, Value* node) {
  if (!tape->observer || tape->observing) return true;
  Ref observer = Ref::borrow(tape->observer.get());
  tape->observing = true;
  Ref result(PyObject_CallFunctionObjArgs(observer.get(), as_object(node), nullptr));
  tape->observing = false;
  return bool(result);
}

namespace {
// In a trace. False with MemoryError set.
bool keep_if_fallible(Tape* tape, Value* node) try {
  if (tape->keeps_fallible && kTraits[row_of(node)].fallible) tape->fallible.push_back(Ref::borrow(as_object(node)));
  return true;
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return false;
}

// The result of an operation under no_grad in a pure trace. The tracer must know where the number came from, so it is a
// node that blocks gradients instead of a leaf. Steals the reference to `node`.
PyObject* without_gradient(Tape* tape, Value* node) {
  if (!make_room(tape)) {
    Py_DECREF(as_object(node));
    return nullptr;
  }
  Value* stop = begin_node(tape, node->data, code_of(ROW_detach));
  stop->a = node;
  stop->b = nullptr;
  return as_object(stop);
}
}  // namespace

PyObject* record_carefully(double data, uint16_t code, Value* a, Value* b, double number, OperandList* block,
                           uint64_t index) {
  Tape* tape = this_tape();
  bool foreign = tape && ((a && is_foreign(a, tape)) || (b && is_foreign(b, tape)));
  for (uint32_t i = 0; tape && block && i < block->count; ++i) foreign |= is_foreign(block->operands[i], tape);
  if (foreign) raise_from("foreign_thread", "()");
  if (!tape || foreign) {
    if (block) release_operands(block);
    return nullptr;
  }
  if (!tape->recording && !tape->tracer) {
    if (block) release_operands(block);
    return as_object(new_leaf(data, UNRECORDED));
  }
  if (!make_room(tape)) {
    if (block) release_operands(block);
    return nullptr;
  }
  Value* node = begin_node(tape, data, code);
  Py_XINCREF(as_object(a));
  Py_XINCREF(as_object(b));
  node->a = a;
  if (block) {
    node->index = index;
    node->operand_list = block;
    node->flags |= OWNS_OPERANDS;
  } else if (b || form_of(node) == VALUES) {
    node->b = b;
    if (b) node->flags |= OWNS_B;
  } else {
    node->number = number;
  }
  if (!keep_if_fallible(tape, node) || !observe(tape, node)) {
    Py_DECREF(as_object(node));
    return nullptr;
  }
  return tape->recording ? as_object(node) : without_gradient(tape, node);
}

bool refused(Row row, int violation, const double* operands, int count) {
  Tape* tape = this_tape();
  if (!tape) return true;
  if (!tape->raise[(violation - 1) & 3]) return false;
  // The function may catch what is raised now, and go on: a decision that no guard checks.
  if (!tell_tracer("leaves the domain of an operation")) return true;
  Ref numbers(PyTuple_New(count));
  if (!numbers) return true;
  for (int i = 0; i < count; ++i) {
    PyObject* number = PyFloat_FromDouble(operands[i]);
    if (!number) return true;
    PyTuple_SetItem(numbers.get(), i, number);
  }
  raise_from("domain_error", "(siO)", kRows[row].name, (violation - 1) >> 2, numbers.get());
  return true;
}

namespace {

// --- one row on any mixture of Values and numbers ------------------------------------------------------

template <class R>
PyObject* on_value(Value* a) {
  if (!flush_parameters()) [[unlikely]]
    return nullptr;
  double y = R::call(a->data);
  if (int violation = R::domain(a->data, y)) [[unlikely]] {
    if (refused(R::row, violation, &a->data, 1)) return nullptr;
  }
  return record_unary(y, code_of(R::row), a);
}

template <class R>
inline bool outside(double a, double b, double y) {
  int violation = R::domain(a, b, y);
  if (!violation) [[likely]]
    return false;
  double operands[] = {a, b};
  return refused(R::row, violation, operands, 2);
}

template <class R>
constexpr bool kCommutes = R::row == ROW_add || R::row == ROW_mul;

// Returns NotImplemented when an operand is neither a Value nor a number; one of them is a Value.
template <class R>
PyObject* on_two(PyObject* x, PyObject* y) {
  if (!flush_parameters()) [[unlikely]]
    return nullptr;
  if (is_value(x)) {
    Value* a = as_value(x);
    if (Value* b = is_value(y) ? as_value(y) : followed_node(y)) {
      double data = R::call(a->data, b->data);
      if (outside<R>(a->data, b->data, data)) return nullptr;
      return record_binary(data, code_of(R::row), a, b);
    }
    double number;
    int known = read_operand(y, &number);
    if (known <= 0) return known < 0 ? nullptr : Py_NewRef(Py_NotImplemented);
    double data = R::call(a->data, number);
    if (outside<R>(a->data, number, data)) return nullptr;
    return record_with_number(data, code_of(R::row, NUMBER_RIGHT), a, number);
  }
  if (Value* a = followed_node(x)) return on_two<R>(as_object(a), y);
  double number;
  int known = read_operand(x, &number);
  if (known <= 0) return known < 0 ? nullptr : Py_NewRef(Py_NotImplemented);
  if constexpr (kCommutes<R>) {
    return record_with_number(R::call(as_value(y)->data, number), code_of(R::row, NUMBER_RIGHT), as_value(y), number);
  }
  Value* b = as_value(y);
  double data = R::call(number, b->data);
  if (outside<R>(number, b->data, data)) return nullptr;
  return record_with_number(data, code_of(R::row, NUMBER_LEFT), b, number);
}

bool wrong_count(const char* name, Py_ssize_t expected, Py_ssize_t got) {
  if (expected == got) return false;
  PyErr_Format(PyExc_TypeError, "%s() takes %zd operands, and %zd were given.", name, expected, got);
  return true;
}

// Calls the function of a module in Python with a row's name and operands.
PyObject* call_python(const char* module, const char* function, const char* name, PyObject* const* arguments,
                      Py_ssize_t count) {
  Ref operands(PyTuple_New(count));
  if (!operands) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(operands.get(), i, Py_NewRef(arguments[i]));
  Ref found(PyImport_ImportModule(module));
  return found ? PyObject_CallMethod(found.get(), function, "sO", name, operands.get()) : nullptr;
}

// A row on operands that are not all numbers: on each element of NumPy arrays; for anything else it raises.
PyObject* on_elements(const char* name, PyObject* const* arguments, Py_ssize_t count) {
  return call_python("retrograd.engine.elementwise", "on_elements", name, arguments, count);
}

// An op called as a function: returns a Value if an operand is one, else a float.
template <class R>
PyObject* call_unary(PyObject* x, const char* name) {
  if (is_value(x)) return on_value<R>(as_value(x));
  if (Value* node = followed_node(x)) return traced_number(x, on_value<R>(node));
  const bool plain_float = PyFloat_CheckExact(x);
  if (PyObject* result; !plain_float && traced_call("call", name, &x, 1, &result)) return result;
  double a;
  if (int known = find_number(x, &a, name); known <= 0) return known < 0 ? nullptr : on_elements(name, &x, 1);
  double y = R::call(a);
  if (int violation = R::domain(a, y)) {
    if (refused(R::row, violation, &a, 1)) return nullptr;
  }
  return PyFloat_FromDouble(y);
}

template <class R>
PyObject* call_binary(PyObject* x, PyObject* y, const char* name) {
  double a, b;
  PyObject* const both[] = {x, y};
  if (is_value(x) || is_value(y)) {
    PyObject* result = on_two<R>(x, y);
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
    if (traced_call("call", name, both, 2, &result)) return result;
    int known = find_number(is_value(x) ? y : x, &a, name);
    return known < 0 ? nullptr : on_elements(name, both, 2);
  }
  if (PyObject* result; traced_call("call", name, both, 2, &result)) return result;
  int known = find_number(x, &a, name);
  if (known > 0) known = find_number(y, &b, name);
  if (known <= 0) return known < 0 ? nullptr : on_elements(name, both, 2);
  double data = R::call(a, b);
  if (outside<R>(a, b, data)) return nullptr;
  return PyFloat_FromDouble(data);
}

template <class R>
PyObject* call_ternary(PyObject* const* arguments, const char* name) {
  double numbers[3] = {};
  bool any = false;
  if (!std::all_of(arguments, arguments + 3, is_value)) {  // of Values alone, it is no affair of a trace's
    if (PyObject* result; traced_call("call", name, arguments, 3, &result)) return result;
  }
  for (int i = 0; i < 3; ++i) {
    if (is_value(arguments[i])) {
      any = true;
    } else if (int known = find_number(arguments[i], &numbers[i], name); known <= 0) {
      return known < 0 ? nullptr : on_elements(name, arguments, 3);
    }
  }
  if (!any) return PyFloat_FromDouble(R::call(numbers[0], numbers[1], numbers[2]));
  OperandList* block = OperandList::make(3, false);
  if (!block) return nullptr;
  for (int i = 0; i < 3; ++i) {
    PyObject* operand = is_value(arguments[i]) ? Py_NewRef(arguments[i]) : as_object(new_leaf(numbers[i], CONSTANT));
    if (!operand) {
      release_operands(block);
      return nullptr;
    }
    block->operands[block->count++] = as_value(operand);
  }
  // Reading the numbers may have run Python code; nothing after this does.
  if (!flush_parameters()) {
    release_operands(block);
    return nullptr;
  }
  double y = R::call(block->operands[0]->data, block->operands[1]->data, block->operands[2]->data);
  return record_carefully(y, code_of(R::row), nullptr, nullptr, 0.0, block);
}

// --- the type's slots, methods and the module's functions ------------------------------------------------

template <class R>
PyObject* slot_unary(PyObject* self) {
  return on_value<R>(as_value(self));
}
template <class R>
PyObject* slot_binary(PyObject* x, PyObject* y) {
  return on_two<R>(x, y);
}
PyObject* slot_power(PyObject* x, PyObject* y, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return on_two<Rule_pow>(x, y);
}
PyObject* slot_divmod(PyObject* x, PyObject* y) {
  Ref quotient(on_two<Rule_floordiv>(x, y));
  if (!quotient || quotient.get() == Py_NotImplemented) return quotient.release();
  Ref remainder(on_two<Rule_mod>(x, y));
  return remainder ? PyTuple_Pack(2, quotient.get(), remainder.get()) : nullptr;
}
// round(v) is a node; round(v, digits) is a new leaf, since no row rounds to decimals.
PyObject* method_round(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count > 1) {
    PyErr_Format(PyExc_TypeError, "round() takes a Value and a number of digits, and %zd arguments were given.",
                 count + 1);
    return nullptr;
  }
  if (count == 0 || arguments[0] == Py_None) return on_value<Rule_round>(as_value(self));
  Ref data(PyObject_GetAttrString(self, "data"));
  Ref rounded(data ? PyObject_CallMethod(data.get(), "__round__", "O", arguments[0]) : nullptr);
  return rounded ? PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(value_type), rounded.get(), nullptr)
                 : nullptr;
}
PyObject* itself(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* slot_positive(PyObject* self) { return Py_NewRef(self); }

template <class R>
PyObject* method_unary(PyObject* self, PyObject*) {
  return on_value<R>(as_value(self));
}
template <class R>
PyObject* method_binary(PyObject* self, PyObject* other) {
  return call_binary<R>(self, other, kRows[R::row].name);
}
template <class R>
PyObject* method_ternary(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (wrong_count(kRows[R::row].name, 3, count + 1)) return nullptr;
  if (R::row == ROW_where && PyBool_Check(arguments[0])) {
    raise_from("condition_second", "()");
    return nullptr;
  }
  PyObject* all[] = {self, arguments[0], arguments[1]};
  return call_ternary<R>(all, kRows[R::row].name);
}

template <class R>
PyObject* function_unary(PyObject*, PyObject* x) {
  return call_unary<R>(x, kRows[R::row].name);
}
// log(x, base), as in Python's math.
PyObject* function_log(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count == 1 || (count == 2 && arguments[1] == Py_None)) return call_unary<Rule_log>(arguments[0], "log");
  if (count != 2) {
    PyErr_Format(PyExc_TypeError, "log() takes a number and a base, and %zd operands were given.", count);
    return nullptr;
  }
  Ref of_number(call_unary<Rule_log>(arguments[0], "log"));
  Ref of_base(of_number ? call_unary<Rule_log>(arguments[1], "log") : nullptr);
  return of_base ? PyNumber_TrueDivide(of_number.get(), of_base.get()) : nullptr;
}
template <class R>
PyObject* function_binary(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (R::row == ROW_hypot && count != 2) {
    return call_python("retrograd.engine.norm", "of_any_number", "hypot", arguments, count);
  }
  if (wrong_count(kRows[R::row].name, 2, count)) return nullptr;
  return call_binary<R>(arguments[0], arguments[1], kRows[R::row].name);
}
template <class R>
PyObject* function_ternary(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (wrong_count(kRows[R::row].name, 3, count)) return nullptr;
  return call_ternary<R>(arguments, kRows[R::row].name);
}

// --- rows by name ------------------------------------------------------------------------------------------

using Call = PyObject* (*)(PyObject* const* arguments);
struct Entry {
  Row row;
  Call call;
};

const std::unordered_map<std::string_view, Entry>& rows_by_name() {
  static const std::unordered_map<std::string_view, Entry> rows = {
#define RG_OP1(name, ...) \
  {#name, {ROW_##name, [](PyObject* const* x) { return call_unary<Rule_##name>(x[0], #name); }}},
#define RG_OP2(name, ...) \
  {#name, {ROW_##name, [](PyObject* const* x) { return call_binary<Rule_##name>(x[0], x[1], #name); }}},
#define RG_OP3(name, ...) {#name, {ROW_##name, [](PyObject* const* x) { return call_ternary<Rule_##name>(x, #name); }}},
#include "ops/ops.inc"
  };
  return rows;
}

// apply and evaluate: the first argument is the name of an op, the others are its operands.
PyObject* call_by_name(PyObject* const* arguments, Py_ssize_t count, bool on_values) {
  const char* name =
      count > 0 && PyUnicode_Check(arguments[0]) ? PyUnicode_AsUTF8AndSize(arguments[0], nullptr) : nullptr;
  if (!name) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "The first argument is the name of a row of the op table.");
    return nullptr;
  }
  auto found = rows_by_name().find(name);
  if (found == rows_by_name().end()) {
    PyErr_Format(PyExc_ValueError, "The op table has no row %R with a fixed number of operands.", arguments[0]);
    return nullptr;
  }
  if (wrong_count(name, kRows[found->second.row].arity, count - 1)) return nullptr;
  bool any = false;
  for (Py_ssize_t i = 1; i < count; ++i) any |= is_value(arguments[i]);
  if (any != on_values) {
    PyErr_Format(PyExc_TypeError,
                 on_values ? "apply(%R, ...) needs a Value among its operands; use evaluate for numbers."
                           : "evaluate(%R, ...) takes numbers only; use apply for Values.",
                 arguments[0]);
    return nullptr;
  }
#define RG_STATIC(row_name, position)                                             \
  if (found->second.row == ROW_##row_name && is_value(arguments[1 + position])) { \
    raise_from("static_operand", "(si)", name, position);                         \
    return nullptr;                                                               \
  }
#include "ops/ops.inc"
  return found->second.call(arguments + 1);
}

PyObject* apply(PyObject*, PyObject* const* arguments, Py_ssize_t count) try {
  return call_by_name(arguments, count, true);
} catch (const std::bad_alloc&) {  // the first call makes the table of names
  return PyErr_NoMemory();
}
PyObject* evaluate(PyObject*, PyObject* const* arguments, Py_ssize_t count) try {
  return call_by_name(arguments, count, false);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

void* slot(auto function) { return reinterpret_cast<void*>(function); }

}  // namespace

PyObject* on_operand(Row row, Value* a) {
  switch (row) {
    case ROW_neg: return on_value<Rule_neg>(a);
    case ROW_abs: return on_value<Rule_abs>(a);
    default: return on_value<Rule_identity>(a);
  }
}

PyObject* on_operands(Row row, PyObject* x, PyObject* y) {
  switch (row) {
    case ROW_add: return on_two<Rule_add>(x, y);
    case ROW_sub: return on_two<Rule_sub>(x, y);
    case ROW_mul: return on_two<Rule_mul>(x, y);
    case ROW_div: return on_two<Rule_div>(x, y);
    case ROW_mod: return on_two<Rule_mod>(x, y);
    case ROW_floordiv: return on_two<Rule_floordiv>(x, y);
    default: return on_two<Rule_pow>(x, y);
  }
}

namespace {
template <class R>
PyMethodDef unary_function(const char* name, const char* text) {
  if constexpr (R::row == ROW_log) return {name, fast(function_log), METH_FASTCALL, text};
  return {name, function_unary<R>, METH_O, text};
}
}  // namespace

PyMethodDef operator_functions[] = {
#define RG_NAME1(name, row) unary_function<Rule_##row>(#name, docs::function(#name)),
#define RG_NAME2(name, row) {#name, fast(function_binary<Rule_##row>), METH_FASTCALL, docs::function(#name)},
#define RG_NAME3(name, row) {#name, fast(function_ternary<Rule_##row>), METH_FASTCALL, docs::function(#name)},
#include "ops/ops.inc"
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef record_methods[] = {
#define RG_NAME1(name, row) {#name, method_unary<Rule_##row>, METH_NOARGS, docs::method(#name)},
#define RG_NAME2(name, row) {#name, method_binary<Rule_##row>, METH_O, docs::method(#name)},
#define RG_NAME3(name, row) {#name, fast(method_ternary<Rule_##row>), METH_FASTCALL, docs::method(#name)},
#include "ops/ops.inc"
    {"__floor__", method_unary<Rule_floor>, METH_NOARGS, docs::value("__floor__")},
    {"__ceil__", method_unary<Rule_ceil>, METH_NOARGS, docs::value("__ceil__")},
    {"__trunc__", method_unary<Rule_trunc>, METH_NOARGS, docs::value("__trunc__")},
    {"__round__", fast(method_round), METH_FASTCALL, docs::value("__round__")},
    {"conjugate", itself, METH_NOARGS, docs::value("conjugate")},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot record_slots[] = {
    {Py_nb_add, slot(slot_binary<Rule_add>)},
    {Py_nb_subtract, slot(slot_binary<Rule_sub>)},
    {Py_nb_multiply, slot(slot_binary<Rule_mul>)},
    {Py_nb_true_divide, slot(slot_binary<Rule_div>)},
    {Py_nb_remainder, slot(slot_binary<Rule_mod>)},
    {Py_nb_floor_divide, slot(slot_binary<Rule_floordiv>)},
    {Py_nb_divmod, slot(slot_divmod)},
    {Py_nb_power, slot(slot_power)},
    {Py_nb_negative, slot(slot_unary<Rule_neg>)},
    {Py_nb_absolute, slot(slot_unary<Rule_abs>)},
    {Py_nb_positive, slot(slot_positive)},
    {0, nullptr},
};

PyMethodDef record_functions[] = {
    {"apply", fast(apply), METH_FASTCALL, "Record the named row of the op table on operands, one of them a Value."},
    {"evaluate", fast(evaluate), METH_FASTCALL, "The named row of the op table on plain numbers."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
