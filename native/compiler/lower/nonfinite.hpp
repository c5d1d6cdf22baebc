// Analysis of how NaN and infinity propagate.
#pragma once

#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// A NaN or infinity normally propagates to the result, so checking the result suffices. Returns the regions read by ops
// that can absorb one (max, select, 1/x, ...), which must be checked, too.
std::vector<bool> absorbing_regions(const Program& program);

}  // namespace retrograd::compiler
