// Writes a sum that grows only at times as a sum that always grows: where(c, a + v, a) is a + where(c, v, -0.0).
//
// Such a sum's next number waits for an addition alone, a loop may add up in the lanes of a vector, and the backward
// pass hands the sum's adjoint on as it is. Minus zero is what leaves every number as it is: the bits are the same.
#include <algorithm>
#include <bit>
#include <unordered_map>

#include "compiler/graph/graph.hpp"

namespace retrograd::compiler {
namespace {

// So many terms are added under one condition at most.
constexpr size_t kMost = 4;

// One addend under a condition.
struct Step {
  uint32_t node;
  Id addend;
};

class Masks {
 public:
  explicit Masks(const Graph& graph) : from_(graph), inner_(graph.size()), now_(graph.size()) { find(); }

  bool any() const { return !steps_.empty(); }

  Graph run() {
    Graph to;
    to.leaves = from_.leaves;
    to.literals = from_.literals;
    std::vector<Id> ids;
    for (size_t i = 0; i < from_.size(); ++i) {
      if (inner_[i]) continue;
      ids.clear();
      for (Id id : from_.operands_of(i)) ids.push_back(renamed(id));
      const auto found = steps_.find(i);
      now_[i] = found == steps_.end() ? to.add(from_.rows[i], ids, from_.source[i], from_.extra[i])
                                      : sum(i, found->second, ids, to);
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
      std::vector<Step> steps = steps_between(of[1], of[2], uses);
      if (steps.empty()) steps = steps_between(of[2], of[1], uses);
      for (const Step& step : steps) inner_[step.node] = true;
      if (!steps.empty()) steps_.emplace(i, std::move(steps));
    }
  }

  // What is added to `start` to give `end`, the last addend first, where nothing else reads a partial sum.
  std::vector<Step> steps_between(Id end, Id start, const std::vector<uint32_t>& uses) const {
    std::vector<Step> steps;
    while (!is_same(end, start) && steps.size() < kMost && end.is_node() && uses[end.index()] == 1) {
      const uint32_t node = end.index();
      const auto of = from_.operands_of(node);
      if (from_.rows[node] == ROW_add && is_same(of[1], start)) {
        steps.push_back({node, of[0]});
        end = start;
      } else if (from_.rows[node] == ROW_add || from_.rows[node] == ROW_sub) {
        steps.push_back({node, of[1]});
        end = of[0];
      } else {
        break;
      }
    }
    if (!is_same(end, start)) steps.clear();
    return steps;
  }

  // Whether two are one value; each place that uses a number has a literal of its own.
  bool is_same(Id one, Id other) const {
    if (!one.is_literal() || !other.is_literal()) return one == other;
    const std::vector<double>& numbers = from_.literals;
    return std::bit_cast<uint64_t>(numbers[one.index()]) == std::bit_cast<uint64_t>(numbers[other.index()]);
  }

  // The sum that a selection of one is; `ids`: the selection's new operands.
  Id sum(size_t selection, const std::vector<Step>& steps, const std::vector<Id>& ids, Graph& to) {
    const auto of = from_.operands_of(selection);
    const bool if_true = of[1] == Id{Id::NODE, steps[0].node};
    Id total = ids[if_true ? 2 : 1];
    for (size_t k = steps.size(); k-- > 0;) {
      const auto [node, addend] = steps[k];
      const Id nothing = to.literal(from_.rows[node] == ROW_sub ? 0.0 : -0.0), some = renamed(addend);
      const Id mask[] = {ids[0], if_true ? some : nothing, if_true ? nothing : some};
      const Id operands[] = {total, to.add(ROW_where, mask, from_.source[selection])};
      total = to.add(from_.rows[node], operands, from_.source[node]);
    }
    for (const Step& step : steps) now_[step.node] = total;
    return total;
  }

  const Graph& from_;
  std::vector<bool> inner_;                              // partial sums
  std::unordered_map<size_t, std::vector<Step>> steps_;  // of each selection that is a sum
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
