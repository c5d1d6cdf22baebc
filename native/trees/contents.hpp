// What the containers of a tree hold, so that a change to them shows.
#pragma once

#include "tape/python.hpp"

namespace retrograd::trees {

// contents(thing, deep, is_container, of_other): something that is equal as long as the lists, tuples and dictionaries
// in `thing` hold the same objects. It looks `deep` containers into each other. is_container(type) says whether
// instances of another class are looked into, and of_other(thing, deep) does that.
PyObject* contents(PyObject*, PyObject* const* arguments, Py_ssize_t count);

}  // namespace retrograd::trees
