// Kernel selection: chooses the kernel for an operation from its loops and strides.
#pragma once

#include "compiler/lower/lower.hpp"

namespace retrograd::compiler {

// One loop of a nest, with the strides of the operands d, a, b, c.
struct CallLoop {
  int32_t n = 1;
  int64_t s[4] = {0, 0, 0, 0};
  bool batch = false;  // the loop over the batch, possibly coalesced with loops inside it
};
using Loops = std::vector<CallLoop>;

// Drops loops with one iteration and coalesces loops that are one walk for all operands.
Loops coalesced(Loops loops);

CallLoop remove_loop(Loops& loops, size_t i);

// Removes and returns the loop with the highest score above zero, if any.
template <class Score>
CallLoop take_best(Loops& loops, Score score) {
  size_t best = loops.size();
  int64_t top = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    const int64_t value = score(loops[i]);
    if (value > top) {
      top = value;
      best = i;
    }
  }
  return best == loops.size() ? CallLoop{} : remove_loop(loops, best);
}

inline auto longest(auto condition) {
  return [condition](const CallLoop& loop) -> int64_t { return condition(loop) ? loop.n : 0; };
}

// Removes and returns the loop along which all operands have stride one (or b stands still), if any.
CallLoop take_unit_stride(Loops& loops);

// Where an operand is in memory.
struct Operand {
  Space space = Space::NONE;
  Address at = 0;
  Address move = 0;  // per strip
};

class KernelSelector {
 public:
  // `members`: the batch size that the loops are laid out for.
  explicit KernelSelector(uint32_t members) : batch_size_(members) {}
  virtual ~KernelSelector() = default;

 protected:
  LoweredCall new_call(Kernel kernel, std::initializer_list<Operand> operands) const;
  // Emits a call whose innermost loops are `inner`, in the kernel's order, and whose other loops are `outer`. Loops
  // that exceed the kernel's nest are unrolled.
  void emit(LoweredCall lowered, Loops outer, const Loops& inner);
  // An op of the table. The loop that vectorizes best goes innermost.
  void elementwise(const LoweredCall& call, Loops loops);
  // d (+)= k * a, summed over the loops in which d does not move.
  void add(Operand d, Operand a, Loops loops, double k, bool accumulate);
  void sum(Operand d, Operand a, Loops loops, bool accumulate);
  // d = 0 over the loops in which d moves.
  void fill(Operand d, Loops loops);
  // d (+)= sum a * b over any loops.
  void contract(Operand d, Operand a, Operand b, Loops loops, bool accumulate);
  // A product. The loop that vectorizes best goes innermost.
  void scale(const LoweredCall& call, Loops loops);
  // Sees each call before it is emitted, and may change it.
  virtual void before_emit(LoweredCall& lowered) = 0;

  const uint32_t batch_size_;
  std::vector<LoweredCall>* out_ = nullptr;  // where the calls go
  uint32_t current_ = 0;                     // the instruction being lowered

 private:
  bool contract_groups(Operand d, Operand a, Operand b, const Loops& all, bool accumulate);
  bool contract_nn(Operand d, Operand a, Operand b, const Loops& all, bool accumulate);
  bool contract_nt(Operand d, Operand a, Operand b, const Loops& all, bool accumulate);
};

}  // namespace retrograd::compiler
