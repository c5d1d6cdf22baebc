// The leaves of a graph as runs: neighbours in the graph that are neighbours where they come from, so that whole
// stretches are copied.
#pragma once

#include <algorithm>
#include <functional>

#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

struct LeafRun {
  RegionKind kind;
  bool active;
  uint32_t buffer;
  uint32_t offset;  // of the first leaf, as in its LeafLocation
  uint32_t first;   // leaf
  uint32_t count;
};

inline std::vector<LeafRun> leaf_runs(const LeafLayout& leaves) {
  std::vector<LeafRun> runs;
  for (uint32_t i = 0; i < leaves.locations.size(); ++i) {
    const LeafLocation& place = leaves.locations[i];
    if (!runs.empty()) {
      LeafRun& last = runs.back();
      if (place.kind == last.kind && place.active == last.active && place.buffer == last.buffer &&
          place.offset == last.offset + last.count) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({place.kind, place.active, place.buffer, place.offset, i, 1});
  }
  return runs;
}

// Adds the numbers of a run elsewhere.
inline void add_stretch(double* to, const double* from, uint32_t count) {
  std::transform(from, from + count, to, to, std::plus<>());
}

}  // namespace retrograd::compiler
