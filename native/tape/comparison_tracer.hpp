// What takes the place of a bool in a trace: the data of the class retrograd.compiler.tracing.bool_tracer.BoolTracer.
#pragma once

#include "tape/value.hpp"

namespace retrograd {

// The names of Python's comparisons, in the order of Py_LT, Py_LE, ...
inline constexpr const char* kComparisons[] = {"<", "<=", "==", "!=", ">", ">="};

// A comparison of a node of the trace with `right`, a Value, a tracer or a number, that came out as `outcome`: a tracer
// if the trace of this thread makes them, and the number is a float's. Where comparisons decide at once, a bool, if the
// same was decided there before. Null without an exception where the recorder must be asked.
PyObject* traced_comparison(int operation, Value* left, PyObject* right, bool outcome);

bool add_comparison_tracer_type(PyObject* module);

}  // namespace retrograd
