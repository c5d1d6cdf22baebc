#include "trees/build.hpp"

namespace retrograd::trees {

PythonHalf python_half;

PyObject* make_named_tuple(PyObject* type, PyObject* items) { return PyObject_CallMethod(type, "_make", "(O)", items); }

}  // namespace retrograd::trees
