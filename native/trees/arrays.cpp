#include "trees/arrays.hpp"

#include <cstring>
#include <type_traits>

#include "trees/build.hpp"

namespace retrograd::trees {
namespace {

char nothing[sizeof(double)];  // the numbers of an array that has none

// What NumPy's headers call PyArrayObject_fields, which all that was compiled with them reads.
struct Fields {
  PyObject head;
  char* numbers;
  int axes;
  const Py_ssize_t *shape, *strides;
  PyObject *base, *type;
};

// The functions of NumPy's table that are used, by their places there, and the type number of float64.
constexpr size_t kVersion = 0, kNew = 93;
constexpr unsigned kVersions[] = {0x01000009, 0x02000000};
constexpr int kFloat64 = 12;
using Version = unsigned (*)();
using New = PyObject* (*)(PyTypeObject*, int, const Py_ssize_t*, int, const Py_ssize_t*, void*, int, int, PyObject*);

constexpr Py_ssize_t kMostAxes = 8;

bool in_place = false;
bool found_in_place = false;         // whether it can be
PyObject* float64 = nullptr;         // the dtype that arrays of floats share
New make = nullptr, made = nullptr;  // the latter is what was found

const Fields* fields_of(PyObject* array) { return reinterpret_cast<const Fields*>(array); }

template <class Number>
bool holds(const Py_buffer& view) {
  if (!view.format || view.itemsize != sizeof(Number) || view.format[0] == '\0' || view.format[1] != '\0') return false;
  return std::is_same_v<Number, double> ? view.format[0] == 'd' : view.format[0] == 'l' || view.format[0] == 'q';
}

// Whether the fields of an array say what its buffer does. Each is compared before the next one is followed.
bool fields_agree(PyObject* array) {
  Py_buffer view;
  if (PyObject_GetBuffer(array, &view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
    PyErr_Clear();
    return false;
  }
  const Fields* fields = fields_of(array);
  const auto is_address = [](const void* place) {
    constexpr uintptr_t kFirstPage = 4096;  // below it are counts, not addresses
    const auto address = reinterpret_cast<uintptr_t>(place);
    return address >= kFirstPage && address % alignof(Py_ssize_t) == 0;
  };
  bool agree = holds<double>(view) && fields->numbers == view.buf && fields->axes == view.ndim &&
               is_address(fields->shape) && is_address(fields->strides);
  for (int i = 0; agree && i < view.ndim; ++i) {
    agree = fields->shape[i] == view.shape[i] && fields->strides[i] == view.strides[i];
  }
  PyBuffer_Release(&view);
  return agree;
}

// Whether instances of numpy.ndarray have room for the fields.
int has_room() {
  const Ref size(PyObject_GetAttrString(python_half.array_type, "__basicsize__"));
  if (!size) return -1;
  return PyLong_AsSize_t(size.get()) >= sizeof(Fields);
}

PyObject* empty_array(PyObject* shape) { return PyObject_CallFunctionObjArgs(python_half.empty_array, shape, nullptr); }

// Whether an array of two axes and its transpose are as expected. False, and perhaps an exception set, if not.
bool fields_are_known() {
  const Ref shape(Py_BuildValue("(nn)", Py_ssize_t{2}, Py_ssize_t{3}));
  const Ref array(shape ? empty_array(shape.get()) : nullptr);
  const Ref transpose(array ? PyObject_GetAttrString(array.get(), "T") : nullptr);
  const Ref type(transpose ? PyObject_GetAttrString(array.get(), "dtype") : nullptr);
  if (!type || has_room() != 1 || !fields_agree(array.get()) || !fields_agree(transpose.get())) return false;
  if (fields_of(array.get())->type != type.get() || fields_of(transpose.get())->type != type.get()) return false;
  if (!float64) float64 = Py_NewRef(type.get());  // for good
  return float64 == type.get();
}

// NumPy's function for new arrays; null if it is not known, or an exception is set.
New find_new(PyObject* table) {
  if (!table || !PyCapsule_CheckExact(table)) return nullptr;
  void** functions = static_cast<void**>(PyCapsule_GetPointer(table, PyCapsule_GetName(table)));
  if (!functions) return nullptr;
  const unsigned version = reinterpret_cast<Version>(functions[kVersion])();
  if (version != kVersions[0] && version != kVersions[1]) return nullptr;
  const auto found = reinterpret_cast<New>(functions[kNew]);
  const Py_ssize_t shape[] = {2, 3};
  auto* type = reinterpret_cast<PyTypeObject*>(python_half.array_type);
  const Ref array(found(type, 2, shape, kFloat64, nullptr, nullptr, 0, 0, nullptr));
  return array && Py_TYPE(array.get()) == type && fields_agree(array.get()) ? found : nullptr;
}

PyObject* blank(PyObject* shape) {
  const Py_ssize_t axes = PyTuple_Size(shape);
  if (!make || axes > kMostAxes) return empty_array(shape);
  Py_ssize_t extents[kMostAxes];
  for (Py_ssize_t i = 0; i < axes; ++i) extents[i] = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
  auto* type = reinterpret_cast<PyTypeObject*>(python_half.array_type);
  return make(type, static_cast<int>(axes), extents, kFloat64, nullptr, nullptr, 0, 0, nullptr);
}

}  // namespace

bool look_at_arrays(PyObject* table) {
  found_in_place = fields_are_known();
  if (found_in_place) made = find_new(table);
  if (PyErr_Occurred()) return false;
  read_arrays_in_place(true);
  return true;
}

bool reads_arrays_in_place() { return in_place; }

bool read_arrays_in_place(bool wanted) {
  make = wanted ? made : nullptr;
  return std::exchange(in_place, wanted && found_in_place);
}

template <class Number>
NumberArray<Number>::NumberArray(PyObject* array) {
  if (std::is_same_v<Number, double> && in_place &&
      reinterpret_cast<PyObject*>(Py_TYPE(array)) == python_half.array_type) {
    const Fields* fields = fields_of(array);
    if (fields->type == float64) {
      numbers_ = fields->numbers ? fields->numbers : nothing;
      axes_ = fields->axes;
      shape_ = fields->shape;
      strides_ = fields->strides;
      return;
    }
  }
  if (PyObject_GetBuffer(array, &view_, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
    PyErr_Clear();
    return;
  }
  taken_ = true;
  if (!holds<Number>(view_)) return;
  numbers_ = view_.buf ? static_cast<char*>(view_.buf) : nothing;
  axes_ = view_.ndim;
  shape_ = view_.shape;
  strides_ = view_.strides;
}

template <class Number>
size_t NumberArray<Number>::size() const {
  size_t count = 1;
  for (int i = 0; i < axes_; ++i) count *= static_cast<size_t>(shape_[i]);
  return count;
}

template <class Number>
Number* NumberArray<Number>::row_major() const {
  Py_ssize_t next = size() ? sizeof(Number) : 0;
  for (int i = next ? axes_ : 0; i-- > 0;) {
    if (shape_[i] != 1 && strides_[i] != next) return nullptr;
    next *= shape_[i];
  }
  return reinterpret_cast<Number*>(numbers_);
}

template <class Number>
void NumberArray<Number>::copy_axis(int axis, const char* at, Number*& to) const {
  if (axis == axes_) {
    std::memcpy(to++, at, sizeof(Number));
    return;
  }
  for (Py_ssize_t i = 0; i < shape_[axis]; ++i) copy_axis(axis + 1, at + i * strides_[axis], to);
}

template <class Number>
void NumberArray<Number>::copy(Number* to) const {
  const size_t count = size();
  if (count == 0) return;
  if (row_major()) {
    std::memcpy(to, numbers_, count * sizeof(Number));
  } else {
    copy_axis(0, numbers_, to);
  }
}

template class NumberArray<double>;
template class NumberArray<int64_t>;

namespace {

// A new array of one axis, where NumPy's functions are known.
PyObject* blank(Py_ssize_t count, int type) {
  return make(reinterpret_cast<PyTypeObject*>(python_half.array_type), 1, &count, type, nullptr, nullptr, 0, 0,
              nullptr);
}

}  // namespace

PyObject* blank_array(size_t count, double*& numbers) {
  const auto extent = static_cast<Py_ssize_t>(count);
  const Ref shape(make ? nullptr : Py_BuildValue("(n)", extent));
  Ref array(make ? blank(extent, kFloat64) : shape ? empty_array(shape.get()) : nullptr);
  if (!array) return nullptr;
  const FloatArray filled(array.get());
  numbers = filled && filled.size() == count ? filled.row_major() : nullptr;
  if (!numbers) return PyErr_Format(PyExc_ValueError, "numpy.empty gives no %zu float64 numbers", count);
  return array.release();
}

bool Original::keep(PyObject* array) {
  array_ = Ref(PyObject_CallMethod(array, "copy", nullptr));
  const Ref dtype(array_ ? PyObject_GetAttrString(array, "dtype") : nullptr);
  const Ref number(dtype ? PyObject_GetAttrString(dtype.get(), "num") : nullptr);
  Py_buffer view;
  if (!number || PyObject_GetBuffer(array_.get(), &view, PyBUF_SIMPLE) < 0) return false;
  const auto* bytes = static_cast<const char*>(view.buf);
  if (view.len) bytes_.assign(bytes, bytes + view.len);
  count_ = view.len / view.itemsize;
  PyBuffer_Release(&view);
  type_ = static_cast<int>(PyLong_AsLong(number.get()));
  return !PyErr_Occurred();
}

PyObject* Original::copy() const {
  if (!make) return PyObject_CallMethod(array_.get(), "copy", nullptr);
  PyObject* array = blank(count_, type_);
  if (array && !bytes_.empty()) std::memcpy(fields_of(array)->numbers, bytes_.data(), bytes_.size());
  return array;
}

PyObject* new_array(PyObject* shape, const double* numbers, size_t count) {
  Ref array(blank(shape));
  if (!array) return nullptr;
  const FloatArray filled(array.get());
  double* to = filled && filled.size() == count ? filled.row_major() : nullptr;
  if (!to) return PyErr_Format(PyExc_ValueError, "%zu numbers do not fill an array of this shape", count);
  if (count) std::memcpy(to, numbers, count * sizeof(double));
  return array.release();
}

}  // namespace retrograd::trees
