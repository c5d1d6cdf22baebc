// A compiled call with several results on the tape: it runs again, and back, when a pass has all their gradients.
#pragma once

#include "bindings/deferred_call.hpp"

namespace retrograd::compiler {

// A capsule that holds a call for joint(), once; None where it depends on no Value; null with an exception set.
Ref joint_capsule(Replay call);
// joint(capsule, results, name of the shared node, of the results, gradients, by_program): the list of nodes. Where no
// program can say, gradients(operands, cotangents) is asked, and always unless `by_program`.
PyObject* joint(PyObject* object, PyObject* args);

// Runs a call once more, and back: the derivative of the results times the cotangents with respect to each Value that
// the call depended on. False where the engine must find it. (dispatch.cpp)
bool run_back(Replay& call, std::span<const double> cotangents, std::vector<std::pair<Value*, double>>& slopes);

}  // namespace retrograd::compiler
