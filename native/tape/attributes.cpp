// What a user sees of a Value: its attributes, comparisons, and how it prints.
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "tape/comparison_tracer.hpp"
#include "tape/docs.hpp"
#include "tape/record.hpp"

namespace retrograd {
namespace {

std::string number_text(double number) {
  char* text = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
  if (!text) {
    PyErr_Clear();
    throw std::bad_alloc();
  }
  std::string result = text;
  PyMem_Free(text);
  return result;
}

// 2 for 2.0: an exponent as people write it.
std::string exponent_text(double number) {
  std::string text = number_text(number);
  if (text.size() > 2 && text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

// Writes back the buffer that a Value is in, if it is in one.
bool is_current(PyObject* self) { return !(as_value(self)->flags & IN_BUFFER) || flush_parameters(); }

PyObject* get_data(PyObject* self, void*) {
  if (!is_current(self)) return nullptr;
  if (following()) return ask_tracer("data", self);
  return PyFloat_FromDouble(as_value(self)->data);
}

PyObject* get_grad(PyObject* self, void*) {
  if (!is_current(self) || !tell_tracer("reads a gradient")) return nullptr;
  return PyFloat_FromDouble(as_value(self)->grad);
}

bool cannot_delete(PyObject* given, const char* name) {
  if (given) return false;
  PyErr_Format(PyExc_AttributeError, "%s cannot be deleted; assign to it instead.", name);
  return true;
}

int set_data(PyObject* self, PyObject* given, void*) {
  double number;
  if (cannot_delete(given, "data") || !need_number(given, &number, ".data")) return -1;
  if (!flush_parameters() || !tell_tracer("assigns .data")) return -1;
  return ChangeScope().change(as_value(self), number) ? 0 : -1;
}

int set_grad(PyObject* self, PyObject* given, void*) {
  double number;
  if (cannot_delete(given, "grad") || !need_number(given, &number, ".grad") || !flush_parameters()) return -1;
  as_value(self)->grad = number;
  return tell_tracer("assigns .grad") ? 0 : -1;
}

PyObject* get_label(PyObject* self, void*) {
  if (!tell_tracer("reads .label")) return nullptr;
  const Extra* extra = find_extra(as_value(self));
  return extra && extra->label ? Py_NewRef(extra->label.get()) : PyUnicode_FromString("");
}

int set_label(PyObject* self, PyObject* given, void*) {
  if (cannot_delete(given, "label")) return -1;
  if (!PyUnicode_Check(given)) {
    raise_from("not_a_label", "(O)", given);
    return -1;
  }
  Extra* extra = need_extra(as_value(self));
  if (!extra) return -1;
  extra->label = Ref::borrow(given);
  // A leaf may be there before the call, and after it. What the call computes matters if it is the result.
  return as_value(self)->code != LEAF || tell_tracer("assigns .label") ? 0 : -1;
}

PyObject* get_op(PyObject* self, void*) try {
  if (!tell_tracer("reads ._op")) return nullptr;
  const Value* value = as_value(self);
  if (!is_op(value->code)) {
    const Extra* extra = find_extra(value);
    return extra && extra->op ? Py_NewRef(extra->op.get()) : PyUnicode_FromString("");
  }
  std::string text = kRows[row_of(value)].label;
  if (row_of(value) == ROW_pow && form_of(value) == NUMBER_RIGHT) text += exponent_text(value->number);
  if (row_of(value) == ROW_pow && form_of(value) == NUMBER_LEFT) text = exponent_text(value->number) + text;
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* get_children(PyObject* self, void*) try {
  Value* value = as_value(self);
  show_operands();
  if (!materialize(value)) return nullptr;
  Py_ssize_t count = 0;
  each_operand(value, [&](Value*) { ++count; });
  PyObject* children = PyTuple_New(count);
  if (!children) return nullptr;
  Py_ssize_t i = 0;
  each_operand(value, [&](Value* child) { PyTuple_SetItem(children, i++, Py_NewRef(as_object(child))); });
  return children;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* get_prev(PyObject* self, void* closure) {
  Ref children(get_children(self, closure));
  return children ? PySet_New(children.get()) : nullptr;
}

// The built-in _apply_vjp, bound to the node; the user's function when one was assigned.
PyObject* get_backward(PyObject* self, void*) {
  const Extra* extra = find_extra(as_value(self));
  if (extra && extra->backward) return Py_NewRef(extra->backward.get());
  // Of a result of a call with several it is no rule of the node's own, which a copy would have, too.
  static PyMethodDef run_back = {"_backward", push_joint, METH_NOARGS, nullptr};
  if (is_joint(as_value(self))) return PyCFunction_New(&run_back, self);
  return PyObject_GetAttrString(self, "_apply_vjp");
}

// Whether a function's closure holds `value`, which makes a cycle: 1, 0, or -1 with MemoryError set.
int captures(PyObject* function, PyObject* value) {
  auto nothing = [] {
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)) return -1;
    PyErr_Clear();
    return 0;
  };
  Ref cells(PyObject_GetAttrString(function, "__closure__"));
  if (!cells || !PyTuple_Check(cells.get())) return nothing();
  for (Py_ssize_t i = 0; i < PyTuple_Size(cells.get()); ++i) {
    Ref content(PyObject_GetAttrString(PyTuple_GetItem(cells.get(), i), "cell_contents"));
    if (content.get() == value) return 1;
    if (nothing() < 0) return -1;
  }
  return 0;
}

int set_backward(PyObject* self, PyObject* given, void*) {
  if (cannot_delete(given, "_backward")) return -1;
  if (!PyCallable_Check(given)) {
    raise_from("not_a_function", "(O)", given);
    return -1;
  }
  Value* value = as_value(self);
  // The collector cannot see a cycle through a node in the arena.
  if (const int known = value->flags & IN_ARENA ? captures(given, self) : 0) {
    if (known > 0) raise_from("operator_backward", "(O)", self);
    return -1;
  }
  Extra* extra = need_extra(value);
  if (!extra) return -1;
  bool first = !extra->backward;
  extra->backward = Ref::borrow(given);
  if (value->flags & IN_ARENA) {
    if (first) ++chunk_of(value)->tape->user_nodes;
  } else if (!PyObject_GC_IsTracked(self)) {
    PyObject_GC_Track(self);
  }
  return 0;
}

PyGetSetDef properties[] = {
    {"data", get_data, set_data, docs::value("data"), nullptr},
    {"grad", get_grad, set_grad, docs::value("grad"), nullptr},
    {"label", get_label, set_label, docs::value("label"), nullptr},
    {"_prev", get_prev, nullptr, docs::value("_prev"), nullptr},
    {"_op", get_op, nullptr, docs::value("_op"), nullptr},
    {"_children", get_children, nullptr, docs::value("_children"), nullptr},
    {"_local_grads", value_local_grads, nullptr, docs::value("_local_grads"), nullptr},
    {"_backward", get_backward, set_backward, docs::value("_backward"), nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// --- methods ---------------------------------------------------------------------------------------------------

PyObject* zero_grad(PyObject* self, PyObject*) {
  if (!flush_parameters() || !tell_tracer("assigns .grad")) return nullptr;
  as_value(self)->grad = 0.0;
  Py_RETURN_NONE;
}

PyObject* detach(PyObject* self, PyObject*) {
  if (!flush_parameters()) return nullptr;
  if (following()) return ask_tracer("detach", self);
  return as_object(new_leaf(as_value(self)->data));
}

PyObject* repr(PyObject* self) try {
  if (!flush_parameters() || !tell_tracer("turns a number into text")) return nullptr;
  const Value* value = as_value(self);
  std::string text = "Value(data=" + number_text(value->data) + ", grad=" + number_text(value->grad) + ")";
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* format(PyObject* self, PyObject* spec) {
  if (PyUnicode_Check(spec) && PyUnicode_GetLength(spec) == 0) return PyObject_Str(self);
  if (!flush_parameters() || !tell_tracer("turns a number into text")) return nullptr;
  Ref data(PyFloat_FromDouble(as_value(self)->data));
  return data ? PyObject_Format(data.get(), spec) : nullptr;
}

Py_hash_t hash(PyObject* self) {
  if (following() && !Ref(ask_tracer("hashed", self, nullptr))) return -1;
  auto address = reinterpret_cast<uintptr_t>(self);
  auto rotated = static_cast<Py_hash_t>((address >> 4) | (address << (8 * sizeof address - 4)));
  return rotated == -1 ? -2 : rotated;
}

PyObject* compare_data(PyObject* self, PyObject* other, int operation) {
  if (!flush_parameters()) return nullptr;
  // Python compares numbers exactly, ints beyond the floats too.
  Ref number(PyFloat_FromDouble(as_value(self)->data));
  if (!number) return nullptr;
  if (is_value(other)) {
    Ref second(PyFloat_FromDouble(as_value(other)->data));
    return second ? PyObject_RichCompare(number.get(), second.get(), operation) : nullptr;
  }
  int known = is_number(other);
  if (known <= 0) return known < 0 ? nullptr : Py_NewRef(Py_NotImplemented);
  return PyObject_RichCompare(number.get(), other, operation);
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  Ref outcome(compare_data(self, other, operation));
  if (!outcome || outcome.get() == Py_NotImplemented || !following()) return outcome.release();
  if (outcome.get() == Py_True || outcome.get() == Py_False) {
    PyObject* made = traced_comparison(operation, as_value(self), other, outcome.get() == Py_True);
    if (made || PyErr_Occurred()) return made;
  }
  Ref answer(ask_tracer("compare", self, "(sOO)", kComparisons[operation], other, outcome.get()));
  return answer.get() == Py_NotImplemented ? outcome.release() : answer.release();
}

int is_true(PyObject* self) {
  if (!flush_parameters()) return -1;
  const bool truth = as_value(self)->data != 0.0;
  if (following() && !Ref(ask_tracer("truth", self, "(O)", truth ? Py_True : Py_False))) return -1;
  return truth;
}

template <const char* function>
PyObject* no_float(PyObject*) {
  raise_from("no_float", "(s)", function);
  return nullptr;
}
template <const char* function>
PyObject* no_float_method(PyObject*, PyObject*) {
  return no_float<function>(nullptr);
}
constexpr char kComplex[] = "complex()";
constexpr char kItem[] = "item()";
constexpr char kFloat[] = "float()";
constexpr char kInt[] = "int()";
constexpr char kIndex[] = "an index";

void* slot(auto function) { return reinterpret_cast<void*>(function); }

}  // namespace

PyMethodDef attribute_methods[] = {
    {"backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(value_backward)),
     METH_VARARGS | METH_KEYWORDS, docs::value("backward")},
    {"_apply_vjp", value_push, METH_NOARGS,
     "Add this node's contributions, local derivative times .grad, to its operands."},
    {"zero_grad", zero_grad, METH_NOARGS, docs::value("zero_grad")},
    {"detach", detach, METH_NOARGS, docs::value("detach")},
    {"__format__", format, METH_O, docs::value("__format__")},
    {"__copy__", value_copy, METH_NOARGS, docs::value("__copy__")},
    {"__deepcopy__", value_deepcopy, METH_O, docs::value("__deepcopy__")},
    {"__reduce__", value_reduce, METH_NOARGS, "What pickle writes."},
    {"__complex__", no_float_method<kComplex>, METH_NOARGS, docs::value("__complex__")},
    {"item", no_float_method<kItem>, METH_NOARGS, docs::value("item")},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot attribute_slots[] = {
    {Py_tp_getset, properties},
    {Py_tp_repr, slot(repr)},
    {Py_tp_hash, slot(hash)},
    {Py_tp_richcompare, slot(compare)},
    {Py_nb_bool, slot(is_true)},
    {Py_nb_float, slot(no_float<kFloat>)},
    {Py_nb_int, slot(no_float<kInt>)},
    {Py_nb_index, slot(no_float<kIndex>)},
    {0, nullptr},
};

}  // namespace retrograd
