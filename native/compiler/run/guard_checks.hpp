// All guards of a program, to be checked at once, where the numbers that they compare have their places in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/run/guards.hpp"

namespace retrograd::compiler {

// Comparisons from which all guards follow, often far fewer: what a sort has compared follows from each
// number and the next one. If one of them does not hold, the guards may hold all the same, as they do of some NaNs:
// then they have to be asked.
class GuardChecks {
 public:
  // `place(i)` is where the number of the i-th root is.
  GuardChecks(std::span<const Guard> guards, const std::function<const double*(uint32_t)>& place);

  bool all_hold() const;

 private:
  struct Pair {
    const double *left, *right;
  };
  struct Bound {
    const double* root;
    double number;
  };
  std::vector<Pair> below_, at_most_, equal_, unequal_;
  std::vector<Bound> below_numbers_, at_most_numbers_, above_numbers_, at_least_numbers_;
  std::vector<Bound> equal_numbers_, unequal_numbers_;
  bool compares_with_nan_ = false;  // a plain one: then the guards themselves are asked
};

}  // namespace retrograd::compiler
