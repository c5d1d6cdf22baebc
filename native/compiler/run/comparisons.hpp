// When a program is compared with its function again. It was in the call that it was made for; what a program lacks may
// not show there, since a weight is zero or a branch gives what the other one gives.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace retrograd::compiler {

// A number for a call's numbers, and for what a program makes of them.
class Digest {
 public:
  void add(double number) { digest_ = (digest_ ^ std::bit_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15; }
  uint64_t get() const { return digest_; }

 private:
  uint64_t digest_ = 0;
};

class Comparisons {
 public:
  void await(size_t times) { left_ = times; }

  // Whether the next answer may be one to compare, or the first one, by its digest.
  bool look(size_t answers) const { return left_ > 0 && answers < kLast && (!compared_ || answers >= next_); }
  // Whether it is: what is as in the last comparison shows nothing new.
  bool are_due(size_t answers, uint64_t digest) {
    if (!compared_) compared_ = digest;
    if (answers < next_ || digest == *compared_) return false;
    due_ = digest;
    at_ = answers;
    return true;
  }

  // Counts a comparison that begins; false where another thread has begun it, and none is left. The call that it is for
  // needs no other one, though another thread change its numbers meanwhile.
  bool take() {
    if (left_ == 0) return false;
    --left_;
    next_ = std::max(next_ * kFewer, at_ + 1);
    compared_ = due_;
    return true;
  }

 private:
  static constexpr size_t kFewer = 8;    // so many times as many answers until the next one
  static constexpr size_t kLast = 1024;  // there is none after so many: a digest takes time
  size_t left_ = 0, next_ = 1, at_ = 0;  // after so many answers the next one is due; the last one was
  std::optional<uint64_t> compared_, due_;
};

}  // namespace retrograd::compiler
