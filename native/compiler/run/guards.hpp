// Guards: comparisons that decided something while the function was traced. A program answers calls in which they come
// out as they did then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace retrograd::compiler {

// The outcome of a comparison between two of the program's roots when the function was traced.
struct Guard {
  enum Test : uint8_t { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL };
  Test test;
  uint32_t left, right;  // numbers of roots; right is 0 for a comparison with a plain number
  double number;
  bool outcome;

  bool decides(double a, double b) const {
    switch (test) {
      case LESS: return (a < b) == outcome;
      case LESS_EQUAL: return (a <= b) == outcome;
      case GREATER: return (a > b) == outcome;
      case GREATER_EQUAL: return (a >= b) == outcome;
      case EQUAL: return (a == b) == outcome;
      default: return (a != b) == outcome;
    }
  }
  // `root(i)` is the number of the i-th root.
  template <class Root>
  bool holds(Root&& root) const {
    return decides(root(left), right ? root(right) : number);
  }
};

// The number of the first of some guards that does not hold.
template <class Root>
std::optional<size_t> first_broken(std::span<const Guard> guards, Root&& root) {
  for (size_t i = 0; i < guards.size(); ++i) {
    if (!guards[i].holds(root)) return i;
  }
  return std::nullopt;
}

// Each guard by its number, after so many steps of a pass its numbers are there, in ascending order.
using GuardSchedule = std::vector<std::pair<size_t, uint32_t>>;

// Where a call left the path of a trace. Guards are in the order in which the function compared.
struct Divergence {
  size_t certain = 0;  // so many guards hold, from the first on
  size_t broken = 0;   // the number of one that does not

  // A pass ended at this guard of a schedule; those before it hold.
  static Divergence at(GuardSchedule::const_iterator guard, GuardSchedule::const_iterator end);
};

}  // namespace retrograd::compiler
