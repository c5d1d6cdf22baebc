#include "compiler/run/guards.hpp"

#include <algorithm>

namespace retrograd::compiler {

Divergence Divergence::at(GuardSchedule::const_iterator guard, GuardSchedule::const_iterator end) {
  const auto by_number = [](const auto& a, const auto& b) { return a.second < b.second; };
  return {std::min_element(guard, end, by_number)->second, guard->second};
}

bool Guard::decides(double a, double b) const {
  switch (test) {
    case LESS: return (a < b) == outcome;
    case LESS_EQUAL: return (a <= b) == outcome;
    case GREATER: return (a > b) == outcome;
    case GREATER_EQUAL: return (a >= b) == outcome;
    case EQUAL: return (a == b) == outcome;
    default: return (a != b) == outcome;
  }
}

}  // namespace retrograd::compiler
