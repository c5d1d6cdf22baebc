// Which numbers must be looked at to know whether any number of a program is not finite.
#pragma once

#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// What is not finite makes everything that is computed from it not finite, up to the result; but for the operands of
// rows that can give a finite number for one that is not: the regions that those read.
std::vector<bool> absorbing_regions(const Program& program);

}  // namespace retrograd::compiler
