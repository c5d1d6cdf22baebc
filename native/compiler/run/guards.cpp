#include "compiler/run/guards.hpp"

#include <algorithm>
#include <functional>

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

bool GuardChecks::all_hold() const {
  const auto hold = [&](Guard::Test test, auto compare) {
    bool broken = false;
    for (const bool outcome : {false, true}) {
      for (const Pair& pair : pairs_[test][outcome]) broken |= compare(*pair.left, *pair.right) != outcome;
    }
    return !broken;
  };
  return hold(Guard::LESS, std::less<>()) && hold(Guard::LESS_EQUAL, std::less_equal<>()) &&
         hold(Guard::GREATER, std::greater<>()) && hold(Guard::GREATER_EQUAL, std::greater_equal<>()) &&
         hold(Guard::EQUAL, std::equal_to<>()) && hold(Guard::NOT_EQUAL, std::not_equal_to<>());
}

}  // namespace retrograd::compiler
