// The numbers of floats and the items of lists and tuples, read where Python keeps them. The stable ABI has a call for
// each of them, which takes several times as long as the reading.
#pragma once

#include "tape/python.hpp"

namespace retrograd::trees {

// Whether this Python keeps them where CPython always has. If not, only the calls are used.
extern bool reads_in_place;
// After so many bytes of a tuple its items begin.
extern Py_ssize_t begin_of_tuples;

// Where Python keeps the ints from kLeastSmall on that it makes once: the first of them, how many there are, and by how
// many bits their distance moves a number. None where they do not lie one after the other.
constexpr long kLeastSmall = -5;
struct SmallInts {
  uintptr_t first = 0, count = 0;
  unsigned bits = 0;
};
extern SmallInts small_ints;

// The value of one of those, which its address tells; false of another object.
inline bool small_int(PyObject* object, long& value) {
  const uintptr_t which = (reinterpret_cast<uintptr_t>(object) - small_ints.first) >> small_ints.bits;
  if (which >= small_ints.count) return false;
  value = kLeastSmall + static_cast<long>(which);
  return true;
}

// Finds that out, on objects whose content is known; when the module is loaded. False with an exception set.
bool look_in_place();

// read_in_place(wanted): whether that has been so, and is from now on if it can be.
PyObject* read_in_place(PyObject*, PyObject* wanted);

// The number of a float, which is none of a subclass.
inline double number_of(PyObject* number) {
  if (!reads_in_place) return PyFloat_AsDouble(number);
  return *reinterpret_cast<const double*>(reinterpret_cast<const char*>(number) + sizeof(PyObject));
}

// Copies the numbers of the leading items that are floats, of no subclass, and returns how many those are. Only where
// reads_in_place.
inline size_t read_numbers(PyObject* const* items, size_t count, double* to) {
  constexpr size_t begin = sizeof(PyObject);
  for (size_t i = 0; i < count; ++i) {
    if (Py_TYPE(items[i]) != &PyFloat_Type) return i;
    to[i] = *reinterpret_cast<const double*>(reinterpret_cast<const char*>(items[i]) + begin);
  }
  return count;
}

// How many items a list or a tuple has.
inline Py_ssize_t size_of(PyObject* sequence, bool is_list) {
  if (!reads_in_place) return is_list ? PyList_Size(sequence) : PyTuple_Size(sequence);
  return reinterpret_cast<const PyVarObject*>(sequence)->ob_size;
}

// The items of a list, as long as nothing changes it, or of a tuple; null where only calls reach them.
inline PyObject** items_of(PyObject* sequence, bool is_list = true) {
  if (!reads_in_place) return nullptr;
  char* begin = reinterpret_cast<char*>(sequence);
  if (is_list) return *reinterpret_cast<PyObject***>(begin + sizeof(PyVarObject));
  return reinterpret_cast<PyObject**>(begin + begin_of_tuples);
}

// A new list of floats; null with an exception set.
PyObject* list_of_floats(const double* numbers, size_t count);

}  // namespace retrograd::trees
