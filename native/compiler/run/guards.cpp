#include "compiler/run/guards.hpp"

#include <algorithm>

namespace retrograd::compiler {

Divergence Divergence::at(GuardSchedule::const_iterator guard, GuardSchedule::const_iterator end) {
  const auto by_number = [](const auto& a, const auto& b) { return a.second < b.second; };
  return {std::min_element(guard, end, by_number)->second, guard->second};
}

}  // namespace retrograd::compiler
