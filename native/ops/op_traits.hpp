// What is known of each op besides its formulas.
#pragma once

#include <string_view>

#include "ops/ops.hpp"

namespace retrograd {

struct OpTraits {
  bool differentiable[3];  // whether a gradient ever reaches each operand
  bool fallible;           // whether some operands are outside its domain
};

constexpr bool ever(std::string_view condition) { return condition != "false"; }
constexpr bool violable(std::string_view rule) { return rule != "(0)"; }

inline constexpr OpTraits kTraits[] = {
    {{false, false, false}, false},
#define RG_OP1(name, label, forward, g1, d1, rule) {{ever(#g1), false, false}, violable(#rule)},
#define RG_OP2(name, label, forward, g1, d1, g2, d2, rule) {{ever(#g1), ever(#g2), false}, violable(#rule)},
#define RG_OP3(name, label, forward, g1, d1, g2, d2, g3, d3, rule) {{ever(#g1), ever(#g2), ever(#g3)}, false},
#define RG_NARY(name, ...) {{true, true, true}, false},
#include "ops/ops.inc"
};

}  // namespace retrograd
