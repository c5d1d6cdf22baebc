// What the compiler needs to know of each op besides its formulas.
#pragma once

#include <string_view>

#include "ops/ops.hpp"

namespace retrograd::compiler {

struct OpTraits {
  bool differentiable[3];  // whether a gradient ever reaches each operand
};

constexpr bool ever(std::string_view condition) { return condition != "false"; }

inline constexpr OpTraits kTraits[] = {
    {{false, false, false}},
#define RG_OP1(name, label, forward, g1, d1, rule) {{ever(#g1), false, false}},
#define RG_OP2(name, label, forward, g1, d1, g2, d2, rule) {{ever(#g1), ever(#g2), false}},
#define RG_OP3(name, label, forward, g1, d1, g2, d2, g3, d3, rule) {{ever(#g1), ever(#g2), ever(#g3)}},
#define RG_NARY(name, ...) {{true, true, true}},
#include "ops/ops.inc"
};

}  // namespace retrograd::compiler
