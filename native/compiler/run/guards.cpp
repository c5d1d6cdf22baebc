#include "compiler/run/guards.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

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

std::vector<Guard> GuardChecks::tightest(std::span<const Guard> guards) {
  std::vector<Guard> found;
  std::map<std::tuple<Guard::Test, bool, uint32_t>, size_t> places;  // in `found`, by test, outcome and root
  for (const Guard& guard : guards) {
    if (guard.right || guard.test >= Guard::EQUAL || std::isnan(guard.number)) {
      found.push_back(guard);
      continue;
    }
    const auto [place, is_new] = places.try_emplace({guard.test, guard.outcome, guard.left}, found.size());
    if (is_new) {
      found.push_back(guard);
      continue;
    }
    const bool below = (guard.test == Guard::LESS || guard.test == Guard::LESS_EQUAL) == guard.outcome;
    double& number = found[place->second].number;
    number = below ? std::min(number, guard.number) : std::max(number, guard.number);
  }
  return found;
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
