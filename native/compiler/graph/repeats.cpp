// Computes once what a program computes again (common subexpressions), where that is faster.
//
// A result from a few nodes before is in a register still, and a function takes longer than to read its result. But a
// sum or a product from long ago is computed again: its result would have to be kept in memory, and so would its
// adjoint, and what is computed in one iteration only makes loops irregular. What follows from leaves alone is the same
// in all iterations of a loop, so that some would read what the first one computes, and others would not: it is
// computed in each, and goes before the loop later.
#include <algorithm>
#include <bit>
#include <unordered_set>

#include "compiler/graph/graph.hpp"

namespace retrograd::compiler {
namespace {

// So many nodes later a result is in a register still: about an iteration of a loop.
constexpr size_t kNear = 300;

bool takes_long(uint16_t row) {
  switch (row) {
    case ROW_add:
    case ROW_sub:
    case ROW_mul:
    case ROW_zero_product:
    case ROW_neg:
    case ROW_identity:
    case ROW_detach:
    case ROW_square:
    case ROW_relu:
    case ROW_abs:
    case ROW_sum:
    case ROW_dot:
    case ROW_SELECT:
    case ROW_FIRST_MAX:
    case ROW_FIRST_MIN:
    case ROW_LARGEST: return false;
    default: return true;
  }
}

class Repeats {
 public:
  Repeats(const Graph& graph, Repeated which)
      : graph_(graph),
        which_(which),
        first_(graph.size()),
        last_(graph.size()),
        varies_(graph.size()),
        used_(graph.size()),
        now_(graph.size()) {}

  Graph without() {
    find_first();
    find_used();
    Graph result;
    result.leaves = graph_.leaves;
    result.literals = graph_.literals;
    std::vector<Id> ids;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (!used_[i]) continue;
      ids.clear();
      for (Id id : graph_.operands_of(i)) ids.push_back(renamed(id));
      now_[i] = result.add(graph_.rows[i], ids, graph_.source[i], graph_.extra[i]);
    }
    for (Id root : graph_.roots) result.roots.push_back(renamed(root));
    return result;
  }

  // The new Id of what was computed by another one.
  Id renamed(Id id) const {
    const Id read = read_for(id);
    return read.is_node() ? now_[read.index()] : read;
  }

 private:
  // The first node that computes the same as each, and the last.
  void find_first() {
    std::unordered_set<uint32_t, Same, Same> known(graph_.size(), Same{this}, Same{this});
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      first_[i] = *known.insert(i).first;
      last_[first_[i]] = i;
      varies_[i] = takes_long(graph_.rows[i]) || std::ranges::any_of(graph_.operands_of(i), [&](Id id) {
                     return id.is_node() && varies_[id.index()];
                   });
    }
  }

  // What is read in place of `id`.
  Id read_for(Id id) const {
    if (!id.is_node()) return id;
    const size_t i = id.index(), first = first_[i];
    const size_t until = varies_[i] ? i : last_[first];
    return which_ == Repeated::ALL || until - first <= kNear || takes_long(graph_.rows[i]) ? Id{Id::NODE, first} : id;
  }

  // What the roots depend on still.
  void find_used() {
    const auto use = [&](Id id) {
      const Id read = read_for(id);
      if (read.is_node()) used_[read.index()] = true;
    };
    for (Id root : graph_.roots) use(root);
    for (size_t i = graph_.size(); i-- > 0;) {
      if (!used_[i]) continue;
      for (Id id : graph_.operands_of(i)) use(id);
    }
  }

  // Compares nodes by what they compute. Literals are the same that have the same bits.
  struct Same {
    const Repeats* of;

    std::pair<uint64_t, Id::Kind> operand(Id id) const {
      if (id.is_literal()) return {std::bit_cast<uint64_t>(of->graph_.literals[id.index()]), id.kind()};
      return {id.is_node() ? of->first_[id.index()] : id.index(), id.kind()};
    }
    bool operator()(uint32_t a, uint32_t b) const {
      const Graph& graph = of->graph_;
      return graph.rows[a] == graph.rows[b] && graph.extra[a] == graph.extra[b] &&
             std::ranges::equal(graph.operands_of(a), graph.operands_of(b),
                                [&](Id one, Id other) { return operand(one) == operand(other); });
    }
    size_t operator()(uint32_t node) const {
      uint64_t hash = uint64_t{of->graph_.rows[node]} << 32 | of->graph_.extra[node];
      for (Id id : of->graph_.operands_of(node)) {
        const auto [bits, kind] = operand(id);
        hash = (hash ^ (bits + kind)) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };

  const Graph& graph_;
  const Repeated which_;
  std::vector<uint32_t> first_;
  std::vector<uint32_t> last_;  // by the first
  std::vector<bool> varies_;    // what more than sums and products of leaves goes into
  std::vector<bool> used_;
  std::vector<Id> now_;  // of each node that is used
};

}  // namespace

Graph without_repeats(const Graph& graph, Repeated which, std::vector<Id>* renamed) {
  Repeats repeats(graph, which);
  Graph result = repeats.without();
  if (renamed) {
    for (size_t i = 0; i < graph.size(); ++i) renamed->push_back(repeats.renamed({Id::NODE, i}));
  }
  return result;
}

}  // namespace retrograd::compiler
