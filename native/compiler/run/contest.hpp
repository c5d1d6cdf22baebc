// A contest between two kinds of machine code for the same calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace retrograd::compiler {

// Machine code of the whole graph and machine code of the vector instructions do the same; which is faster is known
// only by running them. Calls with gradients take turns until each kind has run so often: the least time decides. So do
// all calls of a program that never has any.
class Contest {
 public:
  void open() {
    left_ = 2 * kRuns;
    least_[0] = least_[1] = kNever;
  }
  // Whether the vector instructions run next; the graph's code does before the contest.
  bool favours_instructions() const { return left_ ? left_ % 2 == 1 : least_[1] < least_[0]; }
  // A call begins; one that has run to its end, with gradients.
  void begin() {
    if (left_) start_ = Clock::now();
  }
  void end() {
    if (!left_) return;
    double& least = least_[left_ % 2];
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start_).count());
    --left_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint8_t kRuns = 8;
  static constexpr double kNever = 1e300;

  uint8_t left_ = 0;
  double least_[2] = {kNever, kNever};  // of the graph's code, and of the instructions'
  Clock::time_point start_;
};

}  // namespace retrograd::compiler
