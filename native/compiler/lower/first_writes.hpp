// Which gradients a backward pass has written so far: the first contribution to one is stored, and not added to a zero,
// where that is safe.
#pragma once

#include "compiler/lower/lower.hpp"

namespace retrograd::compiler {

// Where in a pass a call is: in no strip, or in the one that begins at iteration `first`.
struct StripPosition {
  bool in_strip = false;
  uint32_t first = 0, iterations = 0;
};

class FirstWrites {
 public:
  // `members`: of a batch, for which the calls are laid out.
  FirstWrites(const Program& program, const Lowered& lowered, uint32_t members)
      : program_(program), lowered_(lowered), batch_size_(members) {}

  void start();
  // A call whose targets nobody has written yet is made to store instead of adding, if it writes each of them once.
  // One that writes to parameters is told to do so where their gradients are zero (LoweredCall::first).
  void record(LoweredCall& lowered, const StripPosition& position);
  // A local region begins anew in each strip.
  void reset(uint32_t region);
  // The ranges of a region's gradients that no call stores first. Members are alike.
  std::vector<Range> needs_zero_init(uint32_t region, const StripPosition& position) const;
  bool is_workspace(uint32_t region) const;

 private:
  Address length_of(uint32_t region) const;
  void add_to(size_t at);
  void record_list(const LoweredCall& lowered, int pointer);
  void record_candidates(const Instruction& instruction);
  bool first_and_once(const LoweredCall& lowered);
  bool needs_zero(uint32_t region, Address at) const;
  bool beyond_strip(uint32_t region, Address offset, const StripPosition& position) const;

  const Program& program_;
  const Lowered& lowered_;
  const uint32_t batch_size_;
  std::vector<bool> written_;  // gradients that some backward call has written
  std::vector<bool> added_;    // those among them that were added to first
  std::vector<Address> seen_;
};

}  // namespace retrograd::compiler
