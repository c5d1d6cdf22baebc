#include "trees/build.hpp"

#include <cstring>

namespace retrograd::trees {

PythonHalf python_half;

PyObject* new_array(PyObject* shape, const double* numbers, size_t count) {
  Ref array(PyObject_CallFunctionObjArgs(python_half.empty_array, shape, nullptr));
  Py_buffer view;
  if (!array || PyObject_GetBuffer(array.get(), &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) < 0) return nullptr;
  const bool fits = static_cast<size_t>(view.len) == count * sizeof(double);
  if (fits && count) std::memcpy(view.buf, numbers, count * sizeof(double));
  PyBuffer_Release(&view);
  if (fits) return array.release();
  return PyErr_Format(PyExc_ValueError, "%zu numbers do not fill an array of this shape", count);
}

bool holds_doubles(const Py_buffer& view) { return view.format && std::strcmp(view.format, "d") == 0; }

namespace {
// Copies the elements of one axis of an array and of those within it, in order.
void copy_axis(const Py_buffer& view, int axis, const char* at, double*& to) {
  if (axis == view.ndim) {
    std::memcpy(to++, at, sizeof(double));
    return;
  }
  for (Py_ssize_t i = 0; i < view.shape[axis]; ++i) copy_axis(view, axis + 1, at + i * view.strides[axis], to);
}
}  // namespace

void copy_numbers(const Py_buffer& view, double* to) {
  if (view.len == 0) return;
  if (PyBuffer_IsContiguous(&view, 'C')) {
    std::memcpy(to, view.buf, static_cast<size_t>(view.len));
  } else {
    copy_axis(view, 0, static_cast<const char*>(view.buf), to);
  }
}

PyObject* make_named_tuple(PyObject* type, PyObject* items) { return PyObject_CallMethod(type, "_make", "(O)", items); }

}  // namespace retrograd::trees
