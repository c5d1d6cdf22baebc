// StripPlan: what runs along the program's longest loop, as the points of a data set, is done some iterations at a
// time, so that results which nothing else reads stay in the nearest caches and need no memory of the whole loop's
// length.
//
// The instructions get another order: runs of those that have the loop ("along" it), between those that have not. A run
// is executed strip by strip. What it reads of an iteration, another instruction of the same run has written in that
// very iteration, or somebody before the run; what it sums over the loop is read after the run. A region that only one
// run writes and reads is local to it: it has room for one strip. The backward pass computes it again.
#pragma once

#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// How the numbers of one iteration lie in a region: side by side with those of the next iteration (element r of
// iteration i is at r * length + i), or together (at i * width + r).
enum class Layout : uint8_t { NONE, INNER, OUTER };

struct StripPlan {
  // Instructions [begin, end) of the order.
  struct Section {
    size_t begin, end;
    bool along;
  };

  uint32_t length = 0;          // of the loop; 0 when there are no strips
  uint32_t size = 0;            // iterations of a strip, the last one may be shorter
  std::vector<uint32_t> order;  // the instructions' numbers
  std::vector<Section> sections;
  std::vector<int> axis;                  // of each instruction along, which of its loops is the one; else -1
  std::vector<Layout> contracted_layout;  // of each region that is local to a run, how it lies; else NOWHERE
  bool contracted(uint32_t region) const { return region != kNoRegion && contracted_layout[region] != Layout::NONE; }
  // How many numbers a region has room for: a local one for a strip.
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

// The strips that suit the program; without any where its results fit in a cache, and where several members of a batch
// run together, since only small programs do that.
StripPlan plan_strips(const Program& program, uint32_t members);

// Checks what the comment above promises; the first violation in words, or nothing.
std::string verify(const Program& program, const StripPlan& strips);

}  // namespace retrograd::compiler
