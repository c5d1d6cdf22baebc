// What instructions read, before it is known how: the addresses of one operand of all members of a group.
#pragma once

#include <span>

#include "compiler/passes/loop_recognition.hpp"
#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// What one operand of each member reads: `width` addresses a member.
struct Side {
  size_t width = 1;
  std::vector<Place> places;
  const Place& at(size_t member, size_t k = 0) const { return places[member * width + k]; }
  size_t members() const { return places.size() / width; }
  friend bool operator==(const Side&, const Side&) = default;
};

// Whether all members see the same pattern of offsets, which stays in one region.
bool one_pattern(const Side& side);

// The loops of the first member.
std::vector<Nest> pattern_of(std::span<const Side> sides);

// How many different rows of numbers a side reads.
size_t distinct(const Side& side);

// A sum may be taken in any order: that of the addresses of the side which would be the dearest to collect, if that
// makes a nest of them.
void reorder_sum(std::span<Side> sides);

// Where numbers of several regions are summed, to which of a few parts each belongs: within a part a side stays in
// one region. Nothing when there is but one part, or few numbers would have to be copied side by side instead.
std::vector<size_t> parts_of(std::span<const Side> sides);

// Numbers as blocks of equal length, in each of which the first `width` repeat.
struct Repeats {
  size_t width = 1, block = 1;  // 1 and 1 when nothing repeats
};
Repeats repeats_of(std::span<const double> numbers);

Side part_of_side(const Side& side, const std::vector<size_t>& part, size_t p);

}  // namespace retrograd::compiler
