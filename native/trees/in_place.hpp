// The numbers of floats and the items of lists, read where Python keeps them. The stable ABI has a call for each of
// them, which takes several times as long as the reading.
#pragma once

#include "tape/python.hpp"

namespace retrograd::trees {

// Whether this Python keeps them where CPython always has. If not, only the calls are used.
extern bool reads_in_place;

// Finds that out, on objects whose content is known; when the module is loaded. False with an exception set.
bool look_in_place();

// read_in_place(wanted): whether that has been so, and is from now on if it can be.
PyObject* read_in_place(PyObject*, PyObject* wanted);

// The number of a float, which is none of a subclass.
inline double number_of(PyObject* number) {
  if (!reads_in_place) return PyFloat_AsDouble(number);
  return *reinterpret_cast<const double*>(reinterpret_cast<const char*>(number) + sizeof(PyObject));
}

// The items of a list, as long as nothing changes it; null where only calls reach them.
inline PyObject** items_of(PyObject* list) {
  if (!reads_in_place) return nullptr;
  return *reinterpret_cast<PyObject***>(reinterpret_cast<char*>(list) + sizeof(PyVarObject));
}

// A new list of floats; null with an exception set.
PyObject* list_of_floats(const double* numbers, size_t count);

}  // namespace retrograd::trees
