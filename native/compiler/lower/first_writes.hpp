// Which gradients a backward pass has written so far: the first contribution to one is stored, and not added to a zero,
// where that is safe.
#pragma once

#include "compiler/lower/lower.hpp"

namespace retrograd::compiler {

// Where in a pass a call is: in no strip, or in the one that begins at iteration `first`.
struct Moment {
  bool in_strip = false;
  uint32_t first = 0, iterations = 0;
};

class Touched {
 public:
  // `members`: of a batch, for which the calls are laid out.
  Touched(const Program& program, const Lowered& lowered, uint32_t members)
      : program_(program), lowered_(lowered), members_(members) {}

  void start();
  // A call whose targets nobody has written yet is made to store instead of adding, if it writes each of them once.
  // One that writes to parameters is told to do so where their gradients are zero (LoweredCall::first).
  void note(LoweredCall& lowered, const Moment& moment);
  // A local region begins anew in each strip.
  void forget(uint32_t region);
  // The ranges of a region's gradients that no call stores first. Members are alike.
  std::vector<Range> unstored(uint32_t region, const Moment& moment) const;
  bool is_workspace(uint32_t region) const;

 private:
  Address length_of(uint32_t region) const;
  void add_to(size_t at);
  void note_list(const LoweredCall& lowered, int pointer);
  void note_candidates(const Instruction& instruction);
  bool untouched(const LoweredCall& lowered);
  bool needs_zero(uint32_t region, Address at) const;
  bool beyond_strip(uint32_t region, Address offset, const Moment& moment) const;

  const Program& program_;
  const Lowered& lowered_;
  const uint32_t members_;
  std::vector<bool> touched_;  // gradients that some backward call has written
  std::vector<bool> added_;    // those among them that were added to first
  std::vector<Address> seen_;
};

}  // namespace retrograd::compiler
