// A list that is made for Python, item by item.
#pragma once

#include "tape/python.hpp"

namespace retrograd::compiler {

class NewList {
 public:
  // Appends what it owns from then on. Where an item could not be made, there is no list any more.
  void add(PyObject* item) {
    const Ref owned(item);
    if (!item || !list_ || PyList_Append(list_.get(), item) < 0) list_ = Ref();
  }
  // Null with an exception set where something could not be made, which Py_BuildValue hands on.
  PyObject* get() const { return list_.get(); }
  PyObject* release() { return list_.release(); }

 private:
  Ref list_{PyList_New(0)};
};

}  // namespace retrograd::compiler
