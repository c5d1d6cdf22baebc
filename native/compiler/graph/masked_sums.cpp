// Writes a sum that grows only at times as a sum that always grows: where(c, a + v, a) is a + where(c, v, -0.0), and
// where(c, a + v, a + w) is a + where(c, v, w).
//
// Such a sum's next number waits for an addition alone, a loop may add up in the lanes of a vector, and the backward
// pass hands the sum's adjoint on as it is. Minus zero is what leaves every number as it is: the bits are the same.
#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "compiler/graph/graph.hpp"

namespace retrograd::compiler {
namespace {

// So many terms are added under one condition at most.
constexpr size_t kMost = 4;

// One addend under a condition, and the node that adds it.
struct Step {
  uint32_t node;
  Id addend;
};

// What is added to a number where a condition holds, and where it does not; the last addend first.
struct Sums {
  Id start;
  std::vector<Step> steps[2];
};

class Masks {
 public:
  explicit Masks(const Graph& graph) : from_(graph), inner_(graph.size()), now_(graph.size()) { find(); }

  bool any() const { return !sums_.empty(); }

  Graph run() {
    Graph to;
    to.leaves = from_.leaves;
    to.literals = from_.literals;
    std::vector<Id> ids;
    for (size_t i = 0; i < from_.size(); ++i) {
      if (inner_[i]) continue;
      ids.clear();
      for (Id id : from_.operands_of(i)) ids.push_back(renamed(id));
      const auto found = sums_.find(i);
      now_[i] = found == sums_.end() ? to.add(from_.rows[i], ids, from_.source[i], from_.extra[i])
                                     : sum(i, found->second, ids[0], to);
    }
    for (Id root : from_.roots) to.roots.push_back(renamed(root));
    return to;
  }

  // The new Id. Of a partial sum, which nothing else reads, it is the whole sum's.
  Id renamed(Id id) const { return id.is_node() ? now_[id.index()] : id; }

 private:
  void find() {
    std::vector<uint32_t> uses(from_.size());
    for (const auto& ids : {std::span(from_.operands), std::span(from_.roots)}) {
      for (Id id : ids) {
        if (id.is_node()) ++uses[id.index()];
      }
    }
    for (size_t i = 0; i < from_.size(); ++i) {
      if (from_.rows[i] != ROW_where) continue;
      const auto of = from_.operands_of(i);
      std::optional<Sums> found = sums_of(of[1], of[2], uses);
      if (!found) continue;
      for (const auto& steps : found->steps) {
        for (const Step& step : steps) inner_[step.node] = true;
      }
      sums_.emplace(i, std::move(*found));
    }
  }

  // Two numbers as sums that begin with the same one.
  std::optional<Sums> sums_of(Id yes, Id no, const std::vector<uint32_t>& uses) const {
    Id end = yes;
    for (size_t k = 0; k <= kMost; ++k) {
      const bool adds = end.is_node() && uses[end.index()] == 1 && is_sum(end.index());
      std::vector<Id> starts = {end};
      if (adds && from_.rows[end.index()] == ROW_add) starts.push_back(from_.operands_of(end.index())[1]);
      for (Id start : starts) {
        auto added = steps_between(yes, start, uses), otherwise = steps_between(no, start, uses);
        if (added && otherwise && (!added->empty() || !otherwise->empty())) {
          return Sums{start, {std::move(*added), std::move(*otherwise)}};
        }
      }
      if (!adds) return {};
      end = from_.operands_of(end.index())[0];
    }
    return {};
  }

  bool is_sum(uint32_t node) const { return from_.rows[node] == ROW_add || from_.rows[node] == ROW_sub; }

  // What is added to `start` to give `end`, the last addend first, where nothing else reads a partial sum.
  std::optional<std::vector<Step>> steps_between(Id end, Id start, const std::vector<uint32_t>& uses) const {
    std::vector<Step> steps;
    while (!is_same(end, start)) {
      if (steps.size() == kMost || !end.is_node() || uses[end.index()] != 1 || !is_sum(end.index())) return {};
      const auto of = from_.operands_of(end.index());
      const bool commuted = from_.rows[end.index()] == ROW_add && is_same(of[1], start);
      steps.push_back({static_cast<uint32_t>(end.index()), of[commuted ? 0 : 1]});
      end = commuted ? start : of[0];
    }
    return steps;
  }

  // Whether two are one value; each place that uses a number has a literal of its own.
  bool is_same(Id one, Id other) const {
    if (!one.is_literal() || !other.is_literal()) return one == other;
    const std::vector<double>& numbers = from_.literals;
    return std::bit_cast<uint64_t>(numbers[one.index()]) == std::bit_cast<uint64_t>(numbers[other.index()]);
  }

  // The sum that a selection by a condition is.
  Id sum(size_t selection, const Sums& of, Id condition, Graph& to) {
    const auto& [yes, no] = of.steps;
    Id total = renamed(of.start);
    for (size_t k = 0; k < std::max(yes.size(), no.size()); ++k) {
      const Step* added = k < yes.size() ? &yes[yes.size() - 1 - k] : nullptr;
      const Step* otherwise = k < no.size() ? &no[no.size() - 1 - k] : nullptr;
      const uint32_t node = added ? added->node : otherwise->node;
      const bool differ = added && otherwise && from_.rows[added->node] != from_.rows[otherwise->node];
      const uint16_t row = differ ? uint16_t{ROW_add} : from_.rows[node];
      const auto addend = [&](const Step* step) {
        if (!step) return to.literal(row == ROW_sub ? 0.0 : -0.0);
        const Id operand[] = {renamed(step->addend)};
        return row == from_.rows[step->node] ? operand[0] : to.add(ROW_neg, operand, from_.source[step->node]);
      };
      const Id mask[] = {condition, addend(added), addend(otherwise)};
      const Id operands[] = {total, to.add(ROW_where, mask, from_.source[selection])};
      total = to.add(row, operands, from_.source[node]);
    }
    for (const auto& steps : of.steps) {
      for (const Step& step : steps) now_[step.node] = total;
    }
    return total;
  }

  const Graph& from_;
  std::vector<bool> inner_;                // partial sums
  std::unordered_map<size_t, Sums> sums_;  // of each selection that is one
  std::vector<Id> now_;
};

}  // namespace

Graph with_masked_sums(Graph graph, std::vector<Id>* renamed) {
  if (std::ranges::find(graph.rows, uint16_t{ROW_where}) == graph.rows.end()) return graph;
  Masks masks(graph);
  if (!masks.any()) return graph;
  Graph result = masks.run();
  if (renamed) {
    for (Id& id : *renamed) id = masks.renamed(id);
  }
  return result;
}

}  // namespace retrograd::compiler
