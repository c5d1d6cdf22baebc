// The type retrograd._native.Parameters: the parameters of an optimizer, in the order of its list.
#pragma once

#include "parameters/parameter_buffer.hpp"

namespace retrograd {

// A writable one-dimensional float64 array of a given length, held for as long as this lives.
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { close(); }

  // False with an exception that names `where`. If the object is the one held already, nothing is done.
  bool open(PyObject* object, Py_ssize_t length, const char* where);
  void close();
  double* numbers() const { return static_cast<double*>(view_.buf); }
  PyObject* object() const { return view_.obj; }

 private:
  Py_buffer view_{};
};

namespace compiler {

// Consecutive parameters that are contiguous in one buffer.
struct Segment {
  ParameterBuffer* buffer;
  uint32_t index;        // in the buffer
  size_t start, length;  // in the list
  bool whole;            // every number of the buffer is in the list
};

// The segments of a list of parameters, if all of them are in dirty buffers; else null. With `take`, takes ownership of
// the buffers first.
const std::vector<Segment>* segments_of(PyObject* parameters, bool take);
// The list itself: of a Parameters object or any sequence.
Ref list_of_parameters(PyObject* parameters);

// The array number `which` (0 or 1) that a Parameters object keeps from step to step; `other` if `parameters` is no
// Parameters object.
Array& array_of(PyObject* parameters, int which, Array& other);

bool add_parameters_type(PyObject* module);

}  // namespace compiler
}  // namespace retrograd
