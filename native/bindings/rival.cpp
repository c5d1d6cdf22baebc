#include "bindings/rival.hpp"

#include <algorithm>

namespace retrograd::compiler {
namespace {

// So many calls in a row are timed, of which the code must win so many, each by so much.
constexpr uint32_t kCalls = 8, kWins = 6;
constexpr double kFaster = 1.2;
constexpr uint64_t kLongest = 1 << 16, kSeldom = 1 << 20;

}  // namespace

double Rival::seconds(Called called, PyObject* const* args, Py_ssize_t count) const {
  double least = -1.0;
  for (int run = 0; run < 2; ++run) {  // the first one has its memory elsewhere
    const auto start = Clock::now();
    if (!runs(code_.get(), called, args, count)) return -1.0;
    const double taken = std::chrono::duration<double>(Clock::now() - start).count();
    least = least < 0.0 ? taken : std::min(least, taken);
  }
  return least;
}

void Rival::end(Called called, PyObject* const* args, Py_ssize_t count) {
  const double program = std::chrono::duration<double>(Clock::now() - start_).count();
  const double taken = seconds(called, args, count);
  wins_ += taken >= 0.0 && kFaster * taken < program;
  if (++calls_ < kCalls) return;
  if (wins_ >= kWins) {
    left_ = leads_;
    leads_ = std::min(4 * leads_, kLongest);
  } else {
    wait_ = next_;
    next_ = std::min(4 * next_, kSeldom);
  }
  calls_ = wins_ = 0;
}

}  // namespace retrograd::compiler
