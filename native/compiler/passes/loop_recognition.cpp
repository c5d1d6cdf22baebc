#include "compiler/passes/loop_recognition.hpp"

#include <algorithm>

namespace retrograd::compiler {
namespace {

// Merges tuples with equal steps into loops, then equal neighbouring nests into outer loops, until nothing changes.
class LoopRecognizer {
 public:
  LoopRecognizer(const AddressTable& rows, int depth) : rows_(rows), depth_(depth) {}

  std::vector<LoopNest> run() {
    std::vector<LoopNest> nests = runs_of_rows();
    for (int depth = 1; depth < depth_; ++depth) {
      const size_t before = nests.size();
      nests = runs_of_nests(std::move(nests));
      if (nests.size() == before) break;
    }
    return nests;
  }

 private:
  bool same_regions(size_t i, size_t j) const {
    return std::equal(rows_.regions_of(i), rows_.regions_of(i) + rows_.regions_width, rows_.regions_of(j));
  }

  Loop step_between(size_t i, size_t j, uint32_t length) const {
    Loop loop{length, {}};
    for (int c = 0; c < rows_.width; ++c) loop.step[c] = rows_.row(j)[c] - rows_.row(i)[c];
    return loop;
  }

  bool continues(size_t i, size_t j, const Loop& loop) const {
    for (int c = 0; c < rows_.width; ++c) {
      if (rows_.row(j)[c] - rows_.row(i)[c] != loop.step[c]) return false;
    }
    return same_regions(i, j);
  }

  // The number of tuples from `start` on with the same step as the first two.
  size_t run_length(size_t start) const {
    const size_t n = rows_.size();
    if (start + 1 >= n || !same_regions(start, start + 1)) return 1;
    const Loop loop = step_between(start, start + 1, 0);
    size_t end = start + 2;
    while (end < n && continues(end - 1, end, loop)) ++end;
    return end - start;
  }

  std::vector<LoopNest> runs_of_rows() const {
    std::vector<LoopNest> nests;
    const size_t n = rows_.size();
    for (size_t start = 0; start < n;) {
      size_t length = run_length(start);
      // Any two points form a line: leave the second one to a longer loop that it begins.
      if (length == 2 && start + 2 < n && run_length(start + 1) > 2) length = 1;
      LoopNest nest{start, {}};
      if (length > 1) nest.loops.push_back(step_between(start, start + 1, static_cast<uint32_t>(length)));
      nests.push_back(std::move(nest));
      start += length;
    }
    return nests;
  }

  std::vector<LoopNest> runs_of_nests(std::vector<LoopNest> nests) const {
    std::vector<LoopNest> merged;
    for (size_t i = 0; i < nests.size();) {
      size_t end = i + 1;
      Loop outer{1, {}};
      if (end < nests.size() && alike(nests[i], nests[end])) {
        outer = step_between(nests[i].start, nests[end].start, 0);
        ++end;
        while (end < nests.size() && alike(nests[end - 1], nests[end]) &&
               continues(nests[end - 1].start, nests[end].start, outer)) {
          ++end;
        }
      }
      LoopNest nest = std::move(nests[i]);
      if (end - i > 1) {
        outer.length = static_cast<uint32_t>(end - i);
        nest.loops.insert(nest.loops.begin(), outer);
      }
      merged.push_back(std::move(nest));
      i = end;
    }
    return merged;
  }

  bool alike(const LoopNest& a, const LoopNest& b) const {
    return a.loops == b.loops && same_regions(a.start, b.start);
  }

  const AddressTable& rows_;
  int depth_;
};

}  // namespace

std::vector<LoopNest> find_nests(const AddressTable& rows, int depth) { return LoopRecognizer(rows, depth).run(); }

}  // namespace retrograd::compiler
