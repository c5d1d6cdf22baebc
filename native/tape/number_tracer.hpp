// What takes the place of a float in a trace: the arithmetic of the class
// retrograd.compiler.tracing.float_tracer.FloatTracer.
#pragma once

#include "tape/value.hpp"

namespace retrograd {

struct NumberTracer {
  PyObject_HEAD Value* node;
  PyObject* recorder;
  double number;  // of this run
};

extern PyTypeObject* number_tracer_type;

// The node of a tracer that belongs to the trace of this thread; null for anything else, borrowed.
inline Value* followed_node(PyObject* object) {
  if (!following() || !PyType_IsSubtype(Py_TYPE(object), number_tracer_type)) return nullptr;
  const auto* tracer = reinterpret_cast<NumberTracer*>(object);
  return tracer->recorder == current_tape->tracer.get() ? tracer->node : nullptr;
}

// Reads a float, or an int that a float equals, of exactly these types: whether it is one.
bool exact_number(PyObject* object, double* number);

// A tracer of the same trace, of a node that is given away; null where that is null.
PyObject* traced_number(PyObject* like, PyObject* node);

bool add_number_tracer_type(PyObject* module);

}  // namespace retrograd
