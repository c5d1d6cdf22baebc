// What Python's own max and min are in a trace: the recorder's commonest question, answered where it is simple.
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "tape/number_tracer.hpp"
#include "tape/record.hpp"

namespace retrograd {
namespace {

// A candidate of a selection as a node; none where that is not simple, or with an exception set.
Ref candidate(PyObject* item, PyObject* constants) {
  if (is_value(item)) return Ref::borrow(item);
  if (Value* node = followed_node(item)) return Ref::borrow(as_object(node));
  double number;
  if (!exact_number(item, &number)) return Ref();
  const Ref bits(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&number), sizeof number));
  return Ref(bits ? PyObject_GetItem(constants, bits.get()) : nullptr);
}

// The identity of a node, recorded whether or not the user's code is inside no_grad.
PyObject* identity(Value* node) {
  Tape* tape = current_tape;
  const bool before = std::exchange(tape->recording, true);
  tape->refresh_limit();
  PyObject* made = on_operand(ROW_identity, node);
  tape->recording = before;
  tape->refresh_limit();
  return made;
}

PyObject* first_extreme(PyObject*, PyObject* args) {
  PyObject *items, *constants;
  int largest;
  if (!PyArg_ParseTuple(args, "OpO:first_extreme", &items, &largest, &constants)) return nullptr;
  if (!flush_parameters()) return nullptr;
  const Ref listed(PySequence_Tuple(items));
  const Py_ssize_t count = listed ? PyTuple_Size(listed.get()) : 0;
  const Ref candidates(PyTuple_New(count));
  if (!listed || !candidates) return nullptr;
  Value* best = nullptr;
  Py_ssize_t values = 0, tracers = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GetItem(listed.get(), i);
    Ref made = candidate(item, constants);
    if (PyErr_Occurred()) return nullptr;
    if (!made || std::isnan(as_value(made.get())->data)) Py_RETURN_NONE;
    values += is_value(item);
    tracers += followed_node(item) != nullptr;
    Value* node = as_value(made.get());
    PyTuple_SetItem(candidates.get(), i, made.release());
    if (!best || (largest ? node->data > best->data : node->data < best->data)) best = node;
  }
  if (!values && !tracers) Py_RETURN_NONE;
  const Ref node(identity(best)), how_many(PyLong_FromSsize_t(values));
  return node && how_many ? PyTuple_Pack(3, node.get(), candidates.get(), how_many.get()) : nullptr;
}

// --- the functions that take the places of max and min --------------------------------------------------------------

// What one of them is bound to, a tuple: Python's function, one in Python for whatever is not simple here, the class
// of selections, and how those choose.
enum Bound { ORIGINAL, OTHERWISE, SELECTION, CHOICE };
// What it asks the recorder for, a tuple: the selections of the recording, the ids of the nodes that are a Value or a
// plain number, the leaves of constants, and whether it is a guard which of these a node is. None where the recorder
// compares the candidates itself.
enum Asked { SELECTIONS, MIXED, CONSTANTS, DECIDES_KINDS };

bool is_plain(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object);
}

// A record of four fields, in a fraction of the time that its class takes.
Ref record_of_four(PyObject* type, std::array<PyObject*, 4> fields) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(reinterpret_cast<PyTypeObject*>(type), Py_tp_alloc));
  Ref record(allocate(reinterpret_cast<PyTypeObject*>(type), 4));
  for (Py_ssize_t i = 0; record && i < 4; ++i)
    PyTuple_SetItem(record.get(), i, Py_NewRef(fields[static_cast<size_t>(i)]));
  return record;
}

// The extreme of two Values, or of a Value and a plain number, as a selection of this thread's trace. Null where that
// is not simple, or with an exception set.
Ref selected(PyObject* bound, PyObject* const* items, bool largest) {
  if (!following() || !(is_value(items[0]) || is_value(items[1]))) return Ref();
  const bool mixed = !is_value(items[0]) || !is_value(items[1]);
  const Ref asked(PyObject_GetAttrString(current_tape->tracer.get(), "asked_by_extremes"));
  if (!asked || asked.get() == Py_None || (mixed && PyTuple_GetItem(asked.get(), DECIDES_KINDS) == Py_True) ||
      !flush_parameters())
    return Ref();
  const Ref candidates(PyTuple_New(2));
  if (!candidates) return Ref();
  for (Py_ssize_t i = 0; i < 2; ++i) {
    PyObject* item = items[i];
    if (!is_value(item) && !PyFloat_CheckExact(item) && !PyLong_CheckExact(item)) return Ref();
    Ref made = candidate(item, PyTuple_GetItem(asked.get(), CONSTANTS));
    if (!made || std::isnan(as_value(made.get())->data)) return Ref();
    PyTuple_SetItem(candidates.get(), i, made.release());
  }
  Value* const first = as_value(PyTuple_GetItem(candidates.get(), 0));
  Value* const second = as_value(PyTuple_GetItem(candidates.get(), 1));
  const bool is_second = largest ? second->data > first->data : second->data < first->data;
  Ref node(identity(is_second ? second : first)), zero(PyLong_FromLong(0));
  if (!node || !zero) return Ref();
  PyObject* known = PyTuple_GetItem(asked.get(), MIXED);
  if (mixed || PySet_Size(known) > 0) {  // so may the candidates be
    const Ref id(PyLong_FromVoidPtr(node.get()));
    if (!id || PySet_Add(known, id.get()) < 0) return Ref();
  }
  const Ref selection = record_of_four(PyTuple_GetItem(bound, SELECTION),
                                       {node.get(), PyTuple_GetItem(bound, CHOICE), candidates.get(), zero.get()});
  if (!selection || PyList_Append(PyTuple_GetItem(asked.get(), SELECTIONS), selection.get()) < 0) return Ref();
  return node;
}

PyObject* extreme(PyObject* bound, PyObject* const* args, Py_ssize_t count, PyObject* keywords, bool largest) {
  const bool has_keywords = keywords && PyTuple_Size(keywords) > 0;
  if (count == 2 && !has_keywords) {
    if (is_plain(args[0]) && is_plain(args[1])) {
      return PyObject_CallFunctionObjArgs(PyTuple_GetItem(bound, ORIGINAL), args[0], args[1], nullptr);
    }
    Ref found = selected(bound, args, largest);
    if (found || PyErr_Occurred()) return found.release();
  }
  const Ref positional(PyTuple_New(count)), named(has_keywords ? PyDict_New() : nullptr);
  if (!positional || (has_keywords && !named)) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; has_keywords && i < PyTuple_Size(keywords); ++i) {
    if (PyDict_SetItem(named.get(), PyTuple_GetItem(keywords, i), args[count + i]) < 0) return nullptr;
  }
  return PyObject_Call(PyTuple_GetItem(bound, OTHERWISE), positional.get(), named.get());
}

PyObject* maximum(PyObject* bound, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return extreme(bound, args, count, keywords, true);
}
PyObject* minimum(PyObject* bound, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return extreme(bound, args, count, keywords, false);
}

PyMethodDef substitutes[] = {
    {"max", fast_with_keywords(maximum), METH_FASTCALL | METH_KEYWORDS, "Python's max, which asks the trace first."},
    {"min", fast_with_keywords(minimum), METH_FASTCALL | METH_KEYWORDS, "Python's min, which asks the trace first."},
};

// following_extreme(name, module, original, otherwise, selection, choice): what takes the place of max or min.
PyObject* following_extreme(PyObject*, PyObject* args) {
  const char* name;
  PyObject *module, *original, *otherwise, *selection, *choice;
  if (!PyArg_ParseTuple(args, "sUOOO!O:following_extreme", &name, &module, &original, &otherwise, &PyType_Type,
                        &selection, &choice)) {
    return nullptr;
  }
  const Ref bound(PyTuple_Pack(4, original, otherwise, selection, choice));
  if (!bound) return nullptr;
  return PyCFunction_NewEx(&substitutes[std::string_view(name) == "min"], bound.get(), module);
}

}  // namespace

PyMethodDef extreme_functions[] = {
    {"first_extreme", first_extreme, METH_VARARGS,
     "The first of items that no other is larger (or smaller) than, the candidates, and how many were Values."},
    {"following_extreme", following_extreme, METH_VARARGS,
     "What takes the place of max or min while functions are traced."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
