// First-write analysis: the first contribution to a gradient is stored instead of added to zero, where that is safe.
// The rest must be zeroed before the pass.
#pragma once

#include "compiler/lower/lower.hpp"

namespace retrograd::compiler {

// Where in a pass a call is: outside of strips, or in the strip that begins at iteration `first`.
struct StripPosition {
  bool in_strip = false;
  uint32_t first = 0, iterations = 0;
};

class FirstWrites {
 public:
  // `members`: the batch size that the calls are laid out for.
  FirstWrites(const Program& program, const Lowered& lowered, uint32_t members)
      : program_(program), lowered_(lowered), batch_size_(members) {}

  void start();
  // Records a call. If it is the first to write its targets, and writes each once, it is made to store instead of add.
  // A call that writes parameters is marked (LoweredCall::first_write): it may store if their gradients are zero.
  void record(LoweredCall& lowered, const StripPosition& position);
  // Each strip starts over in a contracted region.
  void reset(uint32_t region);
  // The ranges of a region's gradients that no call stores first; the same for all batch elements.
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
  std::vector<bool> added_;    // those that were added to first
  std::vector<Address> seen_;
};

}  // namespace retrograd::compiler
