// Nested-loop recognition (Ketterlin & Clauss, CGO 2008): describes a sequence of address tuples as few nests of loops
// with constant strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace retrograd::compiler {

constexpr int kMostColumns = 6;  // addresses of one tuple at most

// `length` tuples, each `step` further than the one before.
struct Loop {
  uint32_t length;
  int64_t step[kMostColumns];
  friend bool operator==(const Loop&, const Loop&) = default;
};

// The tuples from number `start` on, as nested loops, outermost first.
struct LoopNest {
  size_t start;
  std::vector<Loop> loops;
};

// Address tuples, each of `width` numbers, and the regions of their addresses. Tuples in different regions never share
// a loop: any two points form a line, so a common stride would mean nothing.
struct AddressTable {
  int width = 0;
  int regions_width = 0;
  std::vector<int64_t> numbers;
  std::vector<uint32_t> regions;

  size_t size() const { return width ? numbers.size() / static_cast<size_t>(width) : 0; }
  const int64_t* row(size_t i) const { return numbers.data() + i * static_cast<size_t>(width); }
  const uint32_t* regions_of(size_t i) const { return regions.data() + i * static_cast<size_t>(regions_width); }
};

// Describes the tuples by nests of at most `depth` loops. Takes near-linear time.
std::vector<LoopNest> find_nests(const AddressTable& rows, int depth);

}  // namespace retrograd::compiler
