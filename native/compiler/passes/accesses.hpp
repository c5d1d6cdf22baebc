// What instructions read, before it is known how: the addresses of one operand of all members of a group.
#pragma once

#include <span>

#include "compiler/passes/loop_recognition.hpp"
#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// What one operand of each member reads: `width` addresses a member.
struct OperandAccess {
  size_t width = 1;
  std::vector<Location> locations;
  const Location& at(size_t member, size_t k = 0) const { return locations[member * width + k]; }
  size_t lanes() const { return locations.size() / width; }
  friend bool operator==(const OperandAccess&, const OperandAccess&) = default;
};

// Whether all members see the same pattern of offsets, which stays in one region.
bool same_offsets(const OperandAccess& access);

// The loops of the first member.
std::vector<LoopNest> inner_loops(std::span<const OperandAccess> accesses);

// How many different rows of numbers a access reads.
size_t distinct_bases(const OperandAccess& access);

// A sum may be taken in any order: that of the addresses of the access which would be the dearest to gather_operand, if
// that makes a nest of them.
void reorder_sum(std::span<OperandAccess> accesses);

// Where numbers of several regions are summed, to which of a few parts each belongs: within a part a access stays in
// one region. Nothing when there is but one part, or few numbers would have to be copied access by access instead.
std::vector<size_t> split_by_region(std::span<const OperandAccess> accesses);

// Numbers as blocks of equal length, in each of which the first `width` repeat.
struct Repeats {
  size_t width = 1, block = 1;  // 1 and 1 when nothing repeats
};
Repeats repeats_of(std::span<const double> numbers);

OperandAccess part_of_access(const OperandAccess& access, const std::vector<size_t>& part, size_t p);

}  // namespace retrograd::compiler
