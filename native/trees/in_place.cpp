#include "trees/in_place.hpp"

#include <bit>
#include <vector>

#include "trees/arrays.hpp"

namespace retrograd::trees {

bool reads_in_place = false;
Py_ssize_t begin_of_tuples = 0;
SmallInts small_ints;

namespace {

// How many bytes an instance of a type has; -1 with an exception set.
Py_ssize_t size_of_instances(PyTypeObject& type) {
  const Ref size(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&type), "__basicsize__"));
  return size ? PyLong_AsSsize_t(size.get()) : -1;
}

// Finds the small ints. False with an exception set.
bool look_for_small_ints() {
  constexpr long count = 262;
  std::vector<uintptr_t> places;
  for (long value = kLeastSmall; value < kLeastSmall + count; ++value) {
    const Ref one(PyLong_FromLong(value)), again(PyLong_FromLong(value));
    if (!one || !again) return false;
    if (one.get() != again.get()) return true;
    places.push_back(reinterpret_cast<uintptr_t>(one.get()));
  }
  const uintptr_t apart = places[1] - places[0];
  if (!std::has_single_bit(apart)) return true;
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i] - places[i - 1] != apart) return true;
  }
  small_ints = {places[0], places.size(), static_cast<unsigned>(std::countr_zero(apart))};
  return true;
}

}  // namespace

bool look_in_place() {
  if (!look_for_small_ints()) return false;
  constexpr auto kFloat = static_cast<Py_ssize_t>(sizeof(PyObject) + sizeof(double));
  constexpr auto kList = static_cast<Py_ssize_t>(sizeof(PyVarObject) + sizeof(PyObject**) + sizeof(Py_ssize_t));
  const Py_ssize_t of_float = size_of_instances(PyFloat_Type), of_list = size_of_instances(PyList_Type);
  begin_of_tuples = size_of_instances(PyTuple_Type);
  if (of_float < 0 || of_list < 0 || begin_of_tuples < 0) return false;
  if (of_float != kFloat || of_list != kList) return true;
  const double known[] = {1.4142135623730951, -3.5e-300};
  const Ref list(list_of_floats(known, 2)), tuple(list ? PyList_AsTuple(list.get()) : nullptr);
  if (!tuple) return false;
  const auto begin = static_cast<size_t>(begin_of_tuples);
  if (begin < sizeof(PyVarObject) || begin % alignof(PyObject*) != 0) return true;
  reads_in_place = true;
  PyObject** items = items_of(list.get());
  const auto address = reinterpret_cast<uintptr_t>(items);
  constexpr uintptr_t kFirstPage = 4096;  // below it are counts, not addresses
  reads_in_place = address >= kFirstPage && address % alignof(PyObject*) == 0;
  reads_in_place = reads_in_place && size_of(list.get(), true) == 2 && size_of(tuple.get(), false) == 2;
  for (Py_ssize_t i = 0; i < 2 && reads_in_place; ++i) {
    PyObject* item = PyList_GetItem(list.get(), i);
    reads_in_place = items[i] == item && number_of(item) == known[i] && items_of(tuple.get(), false)[i] == item;
  }
  return true;
}

PyObject* read_in_place(PyObject*, PyObject* wanted) {
  const bool before = reads_in_place;
  reads_in_place = false;
  small_ints = {};
  read_arrays_in_place(wanted == Py_True);
  if (wanted == Py_True && !look_in_place()) return nullptr;
  return PyBool_FromLong(before);
}

PyObject* list_of_floats(const double* numbers, size_t count) {
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) return nullptr;
  PyObject** items = items_of(list.get());
  for (size_t i = 0; i < count; ++i) {
    PyObject* number = PyFloat_FromDouble(numbers[i]);
    if (!number) return nullptr;
    if (items) {
      items[i] = number;
    } else {
      PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), number);
    }
  }
  return list.release();
}

}  // namespace retrograd::trees
