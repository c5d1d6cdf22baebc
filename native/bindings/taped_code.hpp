// Machine code that keeps the branches and loops of its function: the type retrograd._native.TapedCode.
#pragma once

#include <cstdint>

#include "tape/python.hpp"

namespace retrograd::compiler {

bool add_taped_code_type(PyObject* module);
bool is_taped_code(PyObject* object);

// How a function is called that code answers for: value_and_grad(*arguments), or backward(*arguments).
enum class Called : uint8_t { GRADIENTS, BACKWARD };

// What the code gives for a call whose answer need not be compared with the function. Null without an exception where
// Python must see to it.
Ref answer_by(PyObject* taped_code, Called called, PyObject* const* args, Py_ssize_t count);

// Whether its next answer is compared with the function.
bool is_due(PyObject* taped_code);

// Whether the code answers a call; of what it gives nothing is kept.
bool runs(PyObject* taped_code, Called called, PyObject* const* args, Py_ssize_t count);

}  // namespace retrograd::compiler
