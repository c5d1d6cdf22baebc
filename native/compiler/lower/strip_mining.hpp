// Strip-mining: run the program's longest loop (such as the points of a data set) in strips of iterations, so that
// intermediate results fit in the nearest caches and need storage for one strip only.
//
// The plan orders the instructions into sections: those along the loop, which run strip by strip, between those that
// are not. Invariants, which verify() checks:
//   - an instruction along the loop reads what its own section wrote in the same iteration, or an earlier section
//   wrote;
//   - a sum over the loop is read after its section only;
//   - a region that only one section writes and reads is contracted: it has room for one strip (array contraction). The
//     backward pass recomputes it (rematerialization).
#pragma once

#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// How the numbers of the loop's iterations lie in a region: INNER: iterations are contiguous (element r of iteration i
// is at r * length + i); OUTER: each iteration's numbers are contiguous (at i * width + r); NONE: neither.
enum class Layout : uint8_t { NONE, INNER, OUTER };

struct StripPlan {
  // Instructions [begin, end) of `order`.
  struct Section {
    size_t begin, end;
    bool along;
  };

  uint32_t length = 0;          // trip count of the loop; 0 if there are no strips
  uint32_t size = 0;            // iterations of a strip; the last one may be shorter
  std::vector<uint32_t> order;  // instruction numbers
  std::vector<Section> sections;
  std::vector<int> axis;                  // of each instruction along the loop: which of its loops it is; else -1
  std::vector<Layout> contracted_layout;  // of each region: its layout if it is contracted, else NONE
  bool contracted(uint32_t region) const { return region != kNoRegion && contracted_layout[region] != Layout::NONE; }
  // The numbers that a region has room for: a contracted one, for one strip.
  Address room(const Program& program, uint32_t region) const {
    const Address numbers = program.regions[region].length;
    return contracted(region) ? numbers / length * size : numbers;
  }
  // Whether an instruction sums over the loop.
  bool reduces(const Program& program, uint32_t instruction) const {
    const Instruction& of = program.instructions[instruction];
    return axis[instruction] >= of.rank - of.reduced;
  }
};

// Chooses strips. There are none if the results fit in a cache, or if batch elements run together (only small programs
// do).
StripPlan plan_strips(const Program& program, uint32_t members);

// Checks the invariants stated above. Returns the first violation in words, or an empty string.
std::string verify(const Program& program, const StripPlan& strips);

}  // namespace retrograd::compiler
