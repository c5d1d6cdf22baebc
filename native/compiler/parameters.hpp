// The type retrograd._native.Parameters: what an optimizer updates, in the order of its list.
#pragma once

#include "store.hpp"

namespace retrograd::compiler {

// Consecutive parameters that stand side by side in one store.
struct Segment {
  Store* store;
  uint32_t index;        // in the store
  size_t start, length;  // in the list
  bool whole;            // every number of the store is in the list
};

// The segments of a list of parameters, if all of them are in stores that are ahead of their Values; else null.
// With `take` the stores are made to be.
const std::vector<Segment>* segments_of(PyObject* parameters, bool take);
// The list itself: of a Parameters object or any sequence.
Ref list_of_parameters(PyObject* parameters);

bool add_parameters_type(PyObject* module);

}  // namespace retrograd::compiler
