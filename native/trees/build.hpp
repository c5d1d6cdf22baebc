// Containers like those of the caller, built from new items: what transforms and compiled programs return.
#pragma once

#include "tape/python.hpp"

namespace retrograd::trees {

// What Python's half of the trees (src/retrograd/engine/pytree.py) gives when it is loaded.
struct PythonHalf {
  PyObject* array_type = nullptr;   // numpy.ndarray
  PyObject* empty_array = nullptr;  // numpy.empty
  // flatten_other(thing): the leaves and the Structure of what is taken apart in Python; None for a leaf.
  PyObject* flatten_other = nullptr;
  PyObject* fill_array = nullptr;     // fill_array(shape, items): an array of objects
  PyObject* collect_array = nullptr;  // collect_array(shape, items): an array of floats, where they are floats
  PyObject* records = nullptr;        // classes whose instances are their fields: the names of those
};
extern PythonHalf python_half;

// A named tuple of a type, made of the items of a tuple; null with an exception set.
PyObject* make_named_tuple(PyObject* type, PyObject* items);

}  // namespace retrograd::trees
