// A compiled call whose result has not been differentiated yet. Its node on the tape depends on every parameter of the
// program. Finding all these derivatives, and keeping them, would take many times as long as the program. So the node
// keeps the arguments, and the numbers of the parameters, and a backward pass that reaches it runs the program back,
// which adds to the parameter buffers.
#pragma once

#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {

// One call, to be run again, and back.
struct Replay {
  std::shared_ptr<Specialization> entry;
  Ref cache;  // whose workspaces the entry uses
  Arguments arguments;
};

// Whether the result of a call should be such a node: only parameters have gradients, and there are many.
bool may_defer(const Specialization& entry, const Arguments& arguments);
// For the garbage collector: the parameters that a specialization keeps for such calls.
int traverse_operands(const Specialization& entry, visitproc visit, void* arg);
// A capsule that holds such a call for node(); null with an exception set.
Ref deferral(Replay call);
// The same for a call whose derivatives are known; None where there is none.
Ref slopes_capsule(const std::vector<std::pair<Value*, double>>& slopes);
// node(data, operation, capsule): the node of the call, once.
PyObject* node(PyObject* object, PyObject* args);

// Both run the program of a call once more. False where the engine must find the derivatives. (dispatch.cpp)
// Adds `seed` times the derivative with respect to each parameter to the parameter buffers.
bool add_gradients(const Replay& call, double seed);
// The derivative with respect to each parameter, in the order of the graph's leaves.
bool find_slopes(const Replay& call, std::vector<double>& slopes);

}  // namespace retrograd::compiler
