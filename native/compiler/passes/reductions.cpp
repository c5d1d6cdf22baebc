#include "compiler/passes/reductions.hpp"

#include <algorithm>
#include <cmath>

namespace retrograd::compiler {
namespace {

class ReductionFinder {
 public:
  ReductionFinder(const Graph& graph, size_t least)
      : graph_(graph), least_(least), uses_(graph.size()), link_(graph.size(), kNone) {
    const auto tells = [](uint16_t row) { return row == ROW_atan2 || row == ROW_copysign; };
    signs_ = std::any_of(graph.rows.begin(), graph.rows.end(), tells);
    terms_.first.push_back(0);
    terms_.operands.reserve(graph.operands.size());
  }

  Terms run() {
    count_uses();
    link_chains();
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (uses_[i] > 0 && !absorbed(i)) gather(i);
    }
    assign_levels();
    return std::move(terms_);
  }

 private:
  static constexpr uint8_t kNone = 2;

  // Counts uses by live nodes. A root counts twice, so that no chain absorbs it.
  void count_uses() {
    for (Id root : graph_.roots) {
      if (root.is_node()) uses_[root.index()] += 2;
    }
    for (size_t i = graph_.size(); i-- > 0;) {
      if (uses_[i] == 0) continue;
      for (Id id : graph_.operands_of(i)) {
        if (id.is_node()) ++uses_[id.index()];
      }
    }
  }

  bool is(Id id, uint16_t row) const { return id.is_node() && graph_.rows[id.index()] == row; }
  bool used_once(Id id) const { return id.is_node() && uses_[id.index()] == 1; }

  // For each addition, chooses the operand through which it continues a chain: the left one if possible.
  void link_chains() {
    inner_.resize(graph_.size());
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (graph_.rows[i] != ROW_add || uses_[i] == 0) continue;
      auto operands = graph_.operands_of(i);
      // Adding to a literal zero starts a new chain: the term that is added keeps its own terms.
      if (is_zero(operands[0]) || is_zero(operands[1])) continue;
      for (uint8_t side = 0; side < 2 && link_[i] == kNone; ++side) {
        if (!is(operands[side], ROW_add) || !used_once(operands[side])) continue;
        link_[i] = side;
        inner_[operands[side].index()] = true;
      }
    }
    for (size_t i = graph_.size(); i-- > 0;) {
      if (graph_.rows[i] == ROW_add && uses_[i] > 0 && !inner_[i]) unlink_if_short(i);
    }
    // Mark the products that a chain absorbs. Two numbers are worth a chain only if both are products, or the chain
    // starts from zero.
    product_.resize(graph_.size());
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (graph_.rows[i] == ROW_add && uses_[i] > 0 && !inner_[i]) mark_products(i);
      if (graph_.rows[i] == ROW_sum && uses_[i] > 0) {
        for (Id id : graph_.operands_of(i)) mark_product(id);
      }
    }
  }

  bool is_product(Id id) const {
    if (!used_once(id)) return false;
    const uint16_t row = graph_.rows[id.index()];
    return row == ROW_mul || row == ROW_square || (row == ROW_pow && is_two(graph_.operands_of(id.index())[1]));
  }
  bool is_two(Id id) const { return id.is_literal() && graph_.literals[id.index()] == 2.0; }
  bool is_zero(Id id) const {
    return id.is_literal() && graph_.literals[id.index()] == 0.0 && !std::signbit(graph_.literals[id.index()]);
  }
  void mark_product(Id id) {
    if (is_product(id) && !signs_) product_[id.index()] = true;
  }

  // Reads the numbers that a chain adds up, in order, leaving out a zero at its start.
  void read_chain(size_t top) {
    chain_.clear();
    size_t node = top;
    while (link_[node] != kNone) {
      auto operands = graph_.operands_of(node);
      chain_.push_back(operands[1 - link_[node]]);
      node = operands[link_[node]].index();
    }
    auto operands = graph_.operands_of(node);
    chain_.push_back(operands[1]);
    chain_.push_back(operands[0]);
    std::reverse(chain_.begin(), chain_.end());
    starts_at_zero_ = false;
    for (size_t side = 0; side < 2 && !starts_at_zero_; ++side) {
      if (!is_zero(chain_[side])) continue;
      starts_at_zero_ = true;
      chain_.erase(chain_.begin() + static_cast<std::ptrdiff_t>(side));
    }
  }

  void unlink_if_short(size_t top) {
    read_chain(top);
    if (chain_.size() >= least_ && keeps_sign()) return;
    for (size_t node = top; link_[node] != kNone;) {
      const size_t next = graph_.operands_of(node)[link_[node]].index();
      link_[node] = kNone;
      inner_[next] = false;
      node = next;
    }
  }

  // A sum begins with 0.0, so that it is never -0.0, as a chain that begins otherwise may be, and a sum of one number.
  bool keeps_sign() const { return !signs_ || (starts_at_zero_ && chain_.size() > 1); }

  bool worth_gathering() const {
    if (chain_.size() < least_ || !keeps_sign()) return false;
    return starts_at_zero_ || chain_.size() > 2 || (is_product(chain_[0]) && is_product(chain_[1]));
  }

  void mark_products(size_t top) {
    read_chain(top);
    if (!worth_gathering()) return;
    for (Id id : chain_) mark_product(id);
  }

  bool absorbed(size_t node) const { return inner_[node] || product_[node]; }

  void gather(size_t node) {
    const uint16_t row = graph_.rows[node];
    auto operands = graph_.operands_of(node);
    if (row == ROW_add) {
      read_chain(node);
      if (worth_gathering()) return sum_of_chain(node);
      return emit(Kind::MAP, row, node, operands);
    }
    if (row == ROW_sum) {
      chain_.assign(operands.begin(), operands.end());
      return sum_of_chain(node);
    }
    if (row == ROW_dot) return dot_of(node, operands);
    if (row == ROW_max || row == ROW_min || row >= ROW_FIRST_MAX) return emit(Kind::EXTREME, row, node, operands);
    if (row == ROW_SELECT) return emit(Kind::SELECT, row, node, operands, graph_.extra[node]);
    emit(Kind::MAP, row, node, operands);
  }

  void dot_of(size_t node, std::span<const Id> operands) {
    const size_t half = operands.size() / 2;
    pairs_.clear();
    for (size_t i = 0; i < half; ++i) pairs_.insert(pairs_.end(), {operands[i], operands[half + i]});
    emit(Kind::DOT, ROW_dot, node, pairs_);
  }

  // Emits a DOT of the chain's products. Its other terms are the start value: none, one number, or a SUM of them.
  void sum_of_chain(size_t node) {
    pairs_.clear();
    plain_.clear();
    for (Id id : chain_) {
      if (!id.is_node() || !product_[id.index()]) {
        plain_.push_back(id);
        continue;
      }
      auto factors = graph_.operands_of(id.index());
      pairs_.insert(pairs_.end(), {factors[0], graph_.rows[id.index()] == ROW_mul ? factors[1] : factors[0]});
    }
    if (pairs_.empty()) return emit(Kind::SUM, ROW_sum, node, plain_);
    if (plain_.size() > 1) {
      // The SUM needs a node to stand for: take a partial sum of the chain, which has no other use.
      const size_t name = partial_of(node);
      if (name == node) return sum_with_products(node);
      emit(Kind::SUM, ROW_sum, name, plain_);
      plain_.assign(1, Id{Id::NODE, name});
    }
    if (!plain_.empty()) pairs_.insert(pairs_.begin(), plain_[0]);
    emit(Kind::DOT, ROW_dot, node, pairs_);
    terms_.has_init.back() = !plain_.empty();
  }

  size_t partial_of(size_t node) const {
    if (graph_.rows[node] != ROW_add || link_[node] == kNone) return node;
    return graph_.operands_of(node)[link_[node]].index();
  }

  // rg.sum() of products and other numbers has no partial sums: its products stay terms of their own.
  void sum_with_products(size_t node) {
    const std::vector<Id> all = chain_;
    for (Id id : all) {
      if (!id.is_node() || !product_[id.index()]) continue;
      product_[id.index()] = false;
      emit(Kind::MAP, graph_.rows[id.index()], id.index(), graph_.operands_of(id.index()));
    }
    emit(Kind::SUM, ROW_sum, node, all);
  }

  void emit(Kind kind, uint16_t row, size_t result, std::span<const Id> operands, uint32_t slot = 0) {
    terms_.kinds.push_back(kind);
    terms_.rows.push_back(row);
    terms_.has_init.push_back(false);
    terms_.slots.push_back(slot);
    terms_.results.push_back(static_cast<uint32_t>(result));
    terms_.operands.insert(terms_.operands.end(), operands.begin(), operands.end());
    terms_.first.push_back(static_cast<uint32_t>(terms_.operands.size()));
  }

  void assign_levels() {
    std::vector<uint32_t> of_node(graph_.size());
    terms_.levels.resize(terms_.size());
    for (size_t term = 0; term < terms_.size(); ++term) {
      uint32_t level = 0;
      for (Id id : terms_.operands_of(term)) {
        if (id.is_node()) level = std::max(level, of_node[id.index()]);
      }
      terms_.levels[term] = of_node[terms_.results[term]] = level + 1;
    }
  }

  const Graph& graph_;
  const size_t least_;  // numbers of the shortest chain
  Terms terms_;
  std::vector<uint32_t> uses_;
  std::vector<uint8_t> link_;
  std::vector<bool> inner_;    // additions inside a chain
  std::vector<bool> product_;  // products inside a chain
  std::vector<Id> chain_, pairs_, plain_;
  bool starts_at_zero_ = false;
  bool signs_ = false;  // an operator tells -0.0 from 0.0
};

}  // namespace

Terms terms_of(const Graph& graph, size_t least) { return ReductionFinder(graph, least).run(); }

}  // namespace retrograd::compiler
