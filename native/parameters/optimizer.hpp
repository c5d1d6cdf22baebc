// The steps of the optimizers, as functions of the module.
#pragma once

#include "tape/python.hpp"

namespace retrograd {

extern PyMethodDef optimizer_functions[];

}  // namespace retrograd
