// Taped code beside the programs of a cache: some calls are answered both ways, which tells which is faster.
#pragma once

#include <chrono>
#include <cstdint>

#include "bindings/taped_code.hpp"
#include "tape/python.hpp"

namespace retrograd::compiler {

class Rival {
 public:
  // Code that may be faster than the programs; none for null.
  void set(Ref code) { *this = Rival(std::move(code)); }
  // A program has become faster: calls are to tell again which is.
  void again() { set(std::move(code_)); }
  PyObject* code() const { return code_.get(); }

  // A call begins. Whether it is timed.
  bool begin() {
    if (!code_ || --wait_ > 0) return false;
    wait_ = 1;
    start_ = Clock::now();
    return true;
  }
  // A program has answered a call that is timed; the code does now, too. After some of these it may lead.
  void end(Called called, PyObject* const* args, Py_ssize_t count);
  // Whether calls are the code's, as long as it is known to be faster; and one of them is.
  bool leads() const { return left_ > 0; }
  void count() { --left_; }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(code_.get());
    return 0;
  }

  Rival() = default;

 private:
  explicit Rival(Ref code) : code_(std::move(code)) {}
  // The seconds that the code takes for a call; negative if it does not answer.
  double seconds(Called called, PyObject* const* args, Py_ssize_t count) const;

  using Clock = std::chrono::steady_clock;

  Ref code_;
  Clock::time_point start_;
  uint64_t wait_ = 64, next_ = 256;   // so many calls are not timed; nor the next time
  uint64_t left_ = 0, leads_ = 1024;  // in so many calls the code leads; the next time
  uint32_t calls_ = 0, wins_ = 0;     // of those that are timed in a row
};

}  // namespace retrograd::compiler
