// What Python's own max and min are in a trace: the recorder's commonest question, answered where it is simple.
#include <cmath>
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

}  // namespace

PyMethodDef extreme_functions[] = {
    {"first_extreme", first_extreme, METH_VARARGS,
     "The first of items that no other is larger (or smaller) than, the candidates, and how many were Values."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
