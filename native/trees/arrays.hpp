// Arrays of float64 numbers, read where NumPy keeps them and made by its C interface, as extensions do that are
// compiled with its headers. This one is not: what it takes for granted is tried once, and buffers and numpy.empty do
// the same in three times the time.
#pragma once

#include <vector>

#include "tape/python.hpp"

namespace retrograd::trees {

// Looks at numpy.ndarray, and at the table of NumPy's functions, a capsule or None. False with an exception set.
bool look_at_arrays(PyObject* table);

// Whether arrays are read in place; tests may turn that off.
bool reads_arrays_in_place();
bool read_arrays_in_place(bool wanted);

// The numbers of an array as long as this lives, if it has such numbers in the machine's byte order: float64 or int64.
template <class Number>
class NumberArray {
 public:
  explicit NumberArray(PyObject* array);
  ~NumberArray() {
    if (taken_) PyBuffer_Release(&view_);
  }
  NumberArray(const NumberArray&) = delete;
  NumberArray& operator=(const NumberArray&) = delete;

  explicit operator bool() const { return numbers_ != nullptr; }
  int axes() const { return axes_; }
  Py_ssize_t extent(int axis) const { return shape_[axis]; }
  size_t size() const;
  // The numbers, if they lie one after the other in row-major order; else null.
  Number* row_major() const;
  // Copies them in row-major order. The array's memory may have any strides.
  void copy(Number* to) const;

 private:
  void copy_axis(int axis, const char* at, Number*& to) const;

  char* numbers_ = nullptr;
  int axes_ = 0;
  const Py_ssize_t *shape_ = nullptr, *strides_ = nullptr;
  Py_buffer view_;
  bool taken_ = false;
};

using FloatArray = NumberArray<double>;
using IntArray = NumberArray<int64_t>;

// A new array of so many numbers, which are the caller's to set at `numbers`; null with an exception set.
PyObject* blank_array(size_t count, double*& numbers);

// An array of one axis whose elements are plain bytes, of which many copies are wanted.
class Original {
 public:
  // False with an exception set.
  bool keep(PyObject* array);
  // A new array with what it had; null with an exception set.
  PyObject* copy() const;

 private:
  Ref array_;  // a private copy: the user's array may change
  int type_ = 0;
  Py_ssize_t count_ = 0;
  std::vector<char> bytes_;
};

// A new array of a shape, a tuple, with the given numbers in row-major order; null with an exception set.
PyObject* new_array(PyObject* shape, const double* numbers, size_t count);

}  // namespace retrograd::trees
