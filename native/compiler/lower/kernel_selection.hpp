// Calls of the kernel that suits the strides: from what is to be computed over which loops.
#pragma once

#include "compiler/lower/lower.hpp"

namespace retrograd::compiler {

// One loop of a nest and how far each operand moves in it: d, a, b, c.
struct CallLoop {
  int32_t n = 1;
  int64_t s[4] = {0, 0, 0, 0};
  bool batch = false;  // whether it goes over the members of a batch, alone or joined with others inside of it
};
using Loops = std::vector<CallLoop>;

// Drops loops of one iteration and joins those that are one walk for all operands.
Loops coalesced(Loops loops);

CallLoop remove_loop(Loops& loops, size_t i);

// The loop that `score` likes best, if it likes any (a score above zero).
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

// The loop along which all operands lie side by side, if there is one.
CallLoop take_unit_stride(Loops& loops);

// A view of memory: which space, where, and over which loops.
struct Operand {
  Space space = Space::NONE;
  Address at = 0;
  Address move = 0;  // from one strip to the next
};

class KernelSelector {
 public:
  // `members`: how many members of a batch the loops are laid out for.
  explicit KernelSelector(uint32_t members) : batch_size_(members) {}
  virtual ~KernelSelector() = default;

 protected:
  LoweredCall new_call(Kernel kernel, std::initializer_list<Operand> operands) const;
  // Issues a call whose innermost loops are `inner`, in the kernel's order, and whose others are `outer`; those that
  // have no room in the call are unrolled.
  void emit(LoweredCall lowered, Loops outer, const Loops& inner);
  // A row of the table: the loop that vectors like best goes innermost.
  void elementwise(const LoweredCall& call, Loops loops);
  // d (+)= k * a, summed over where d stands still.
  void add(Operand d, Operand a, Loops loops, double k, bool accumulate);
  void sum(Operand d, Operand a, Loops loops, bool accumulate);
  // d = 0 over the loops in which d moves.
  void fill(Operand d, Loops loops);
  // d (+)= sum a * b over any loops.
  void contract(Operand d, Operand a, Operand b, Loops loops, bool accumulate);
  // A product: the loop that vectors like best goes innermost.
  void scale(const LoweredCall& call, Loops loops);
  // What is to be known of a call before it is issued, and may still be changed.
  virtual void before_emit(LoweredCall& lowered) = 0;

  const uint32_t batch_size_;
  std::vector<LoweredCall>* out_ = nullptr;  // where the calls go
  uint32_t current_ = 0;                     // the instruction that is lowered

 private:
  bool contract_groups(Operand d, Operand a, Operand b, const Loops& all, bool accumulate);
  bool contract_nn(Operand d, Operand a, Operand b, const Loops& all, bool accumulate);
  bool contract_nt(Operand d, Operand a, Operand b, const Loops& all, bool accumulate);
};

}  // namespace retrograd::compiler
