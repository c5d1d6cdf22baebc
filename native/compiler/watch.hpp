// Which numbers must be looked at to know whether any number of a program is not finite.
#pragma once

#include "program.hpp"

namespace retrograd::compiler {

// What is not finite makes everything that is computed from it not finite, up to the result; but for the operands of
// rows that absorb it: the regions that those are in, and the result's.
std::vector<bool> watched_regions(const Program& program);

// Whether rows that can turn what is not finite into what is, read parameters.
bool reads_parameters_unseen(const Program& program);

}  // namespace retrograd::compiler
