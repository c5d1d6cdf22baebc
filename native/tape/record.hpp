// Recording: what each arithmetic operation of the user's program costs.
#pragma once

#include "tape/value.hpp"

namespace retrograd {

// The first sixteen bytes of every node in the arena.
extern PyObject prototype;

// Records in the uncommon cases: a full chunk, several threads, no_grad, an observer. Steals `block`; `index` says
// which output of a softmax this is.
PyObject* record_carefully(double data, uint16_t code, Value* a, Value* b, double number, OperandList* block,
                           uint64_t index = 0);

inline Value* begin_node(Tape* tape, double data, uint16_t code, uint8_t flags = IN_ARENA) {
  Value* node = tape->bump++;
  permit(node);
  node->ob_base = prototype;
  node->data = data;
  node->grad = 0.0;
  node->code = code;
  node->mark = 0;
  node->flags = flags;
  node->source = 0;
  return node;
}

inline bool plain(const Tape* tape) { return tape && tape->bump < tape->limit; }

inline PyObject* record_unary(double data, uint16_t code, Value* a) {
  Tape* tape = current_tape;
  if (!plain(tape)) [[unlikely]]
    return record_carefully(data, code, a, nullptr, 0.0, nullptr);
  Value* node = begin_node(tape, data, code);
  Py_INCREF(as_object(a));
  node->a = a;
  node->b = nullptr;
  return as_object(node);
}

inline PyObject* record_binary(double data, uint16_t code, Value* a, Value* b) {
  Tape* tape = current_tape;
  if (!plain(tape)) [[unlikely]]
    return record_carefully(data, code, a, b, 0.0, nullptr);
  Value* node = begin_node(tape, data, code, IN_ARENA | OWNS_B);
  Py_INCREF(as_object(a));
  Py_INCREF(as_object(b));
  node->a = a;
  node->b = b;
  return as_object(node);
}

inline PyObject* record_with_number(double data, uint16_t code, Value* a, double number) {
  Tape* tape = current_tape;
  if (!plain(tape)) [[unlikely]]
    return record_carefully(data, code, a, nullptr, number, nullptr);
  Value* node = begin_node(tape, data, code);
  Py_INCREF(as_object(a));
  node->a = a;
  node->number = number;
  return as_object(node);
}

// Shows a new node to this thread's observer, if any; false with the observer's exception set.
bool observe(Tape* tape, Value* node);

// Raises if an operation is outside its domain and rg.errstate says so. Returns whether it did. `violation` is the
// value of a Rule's domain().
bool refused(Row row, int violation, const double* operands, int count);

// The operators of Values: a row (neg, abs or identity) on one, and on two operands of which one is a Value;
// NotImplemented where the other is neither a Value nor a number, nor a tracer.
PyObject* on_operand(Row row, Value* a);
PyObject* on_operands(Row row, PyObject* x, PyObject* y);

inline int read_operand(PyObject* object, double* number) {
  if (PyFloat_CheckExact(object)) {
    *number = PyFloat_AsDouble(object);
    return 1;
  }
  if (PyLong_CheckExact(object)) {  // the 0 that sum() starts from, among others
    *number = PyLong_AsDouble(object);
    if (*number != -1.0 || !PyErr_Occurred()) return 1;
    PyErr_Clear();  // too large: the careful path raises
  }
  return read_number(object, number);
}

}  // namespace retrograd
