// Finding loops: a list of address rows as few nests of loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace retrograd::compiler {

constexpr int kMostColumns = 6;  // numbers of a row at most

// `length` rows whose numbers grow by `step` from one to the next.
struct Loop {
  uint32_t length;
  int64_t step[kMostColumns];
  friend bool operator==(const Loop&, const Loop&) = default;
};

// AddressTable that begin at row `start`, in the order of nested loops, outermost first.
struct LoopNest {
  size_t start;
  std::vector<Loop> loops;
};

// AddressTable of `width` numbers each, and for each row the regions that its addresses are in: rows of different
// regions never share a loop, because any two points look like a line.
struct AddressTable {
  int width = 0;
  int regions_width = 0;
  std::vector<int64_t> numbers;
  std::vector<uint32_t> regions;

  size_t size() const { return width ? numbers.size() / static_cast<size_t>(width) : 0; }
  const int64_t* row(size_t i) const { return numbers.data() + i * static_cast<size_t>(width); }
  const uint32_t* regions_of(size_t i) const { return regions.data() + i * static_cast<size_t>(regions_width); }
};

// The rows as nests of at most `depth` loops. Near to linear in the number of rows.
std::vector<LoopNest> find_nests(const AddressTable& rows, int depth);

}  // namespace retrograd::compiler
