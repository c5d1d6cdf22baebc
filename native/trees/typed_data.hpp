// The data of a call as bytes, for code that was made for arguments of some types.
#pragma once

#include "tape/value.hpp"

namespace retrograd::trees {

extern PyMethodDef typed_data_functions[];

}  // namespace retrograd::trees
