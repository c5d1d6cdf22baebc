// The compiler as Python sees it: the type retrograd._native.Programs.
#pragma once

#include "../python.hpp"

namespace retrograd::compiler {

bool add_programs_type(PyObject* module);

}  // namespace retrograd::compiler
