// The addresses that the lanes of a pack read, before a pattern is known.
#pragma once

#include <span>

#include "compiler/passes/loop_recognition.hpp"
#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// The addresses that one operand reads in each lane: `width` of them, more than one in a reduction.
struct OperandAccess {
  size_t width = 1;
  std::vector<Location> locations;
  const Location& at(size_t member, size_t k = 0) const { return locations[member * width + k]; }
  size_t lanes() const { return locations.size() / width; }
  friend bool operator==(const OperandAccess&, const OperandAccess&) = default;
};

// Whether all lanes have the same offsets from their first address, within one region.
bool same_offsets(const OperandAccess& access);

// The loops over the first lane's addresses.
std::vector<LoopNest> inner_loops(std::span<const OperandAccess> accesses);

// The number of different first addresses.
size_t distinct_bases(const OperandAccess& access);

// Sums may be reordered. Sorts the terms by the addresses of the operand that would be most expensive to gather, if
// that turns its addresses into a loop nest.
void reorder_sum(std::span<OperandAccess> accesses);

// Splits a sum over several regions into a few parts, so that within a part each operand stays in one region. Returns
// the part of each term; nothing if there is only one part, or a gather is cheaper.
std::vector<size_t> split_by_region(std::span<const OperandAccess> accesses);

// A sequence of numbers as blocks of equal length; within each block, the first `width` numbers repeat.
struct Repeats {
  size_t width = 1, block = 1;  // 1 and 1: nothing repeats
};
Repeats repeats_of(std::span<const double> numbers);

OperandAccess part_of_access(const OperandAccess& access, const std::vector<size_t>& part, size_t p);

}  // namespace retrograd::compiler
