// A tree without its leaves: the type retrograd._native.Structure, and the functions around it.
#pragma once

#include "tape/value.hpp"

namespace retrograd::trees {

bool add_structure_type(PyObject* module);

extern PyMethodDef tree_functions[];

}  // namespace retrograd::trees
