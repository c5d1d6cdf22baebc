// A profile function that hears of calls of C functions; see src/retrograd/compiler/calls/effects.py.
#pragma once

#include "tape/python.hpp"

namespace retrograd {

extern PyMethodDef listener_functions[];

}  // namespace retrograd
