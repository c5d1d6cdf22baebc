#include "compiler/graph/graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tape/walk.hpp"

namespace retrograd::compiler {

Id Graph::add(uint16_t row, std::span<const Id> of, uint32_t source_line, uint32_t more) {
  if (rows.size() >= Id::kLimit) throw Unsupported("the function records more than a thousand million operations");
  if (first.empty()) first.push_back(0);
  rows.push_back(row);
  operands.insert(operands.end(), of.begin(), of.end());
  first.push_back(static_cast<uint32_t>(operands.size()));
  extra.push_back(more);
  source.push_back(source_line);
  return {Id::NODE, rows.size() - 1};
}

Id Graph::literal(double number) {
  literals.push_back(number);
  return {Id::LITERAL, literals.size() - 1};
}

namespace {

// Borrows the `source` field of Values to hold their Ids while the tape is read; restores it at the end.
class Scratch {
 public:
  explicit Scratch(size_t expected) { saved_.reserve(expected); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    for (size_t i = saved_.size(); i-- > 0;) saved_[i].first->source = saved_[i].second;
  }
  void set(Value* value, uint32_t number) {
    saved_.emplace_back(value, value->source);
    value->source = number;
  }

 private:
  std::vector<std::pair<Value*, uint32_t>> saved_;
};

// Sets the marks of nodes, which no walk is using, and takes them away at the end.
class Marks {
 public:
  explicit Marks(size_t expected) { marked_.reserve(expected); }
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  ~Marks() {
    for (Value* place : marked_) place->mark = 0;
  }
  // False where there is one.
  bool set(Value* node) {
    Value* place = node->code == USER ? node->slot : node;
    if (place->mark) return false;
    marked_.push_back(place);
    place->mark = 1;
    return true;
  }

 private:
  std::vector<Value*> marked_;
};

class Lifter {
 public:
  explicit Lifter(const Recorded& recorded) : recorded_(recorded) {
    for (const Selection& selection : recorded.selections) selections_.emplace(selection.node, &selection);
  }

  Graph run() {
    collect();
    find_constants();
    build();
    sort_leaves();
    return std::move(graph_);
  }

 private:
  void build() {
    Scratch scratch(nodes_.size() + 1024);
    // Zero: no Id yet.
    for (auto& [value, uses] : uses_) scratch.set(value, 0);
    for (Value* input : recorded_.inputs) {
      if (!uses_.count(input)) scratch.set(input, 0);
    }
    reserve();
    for (Value* input : recorded_.inputs) leaf(input, scratch);
    inputs_ = graph_.leaves.size();
    for (Value* node : nodes_) add(node, scratch);
    for (Value* root : recorded_.roots) graph_.roots.push_back(id_of(root, scratch));
    add_unused(scratch);
  }

  // Numbers the leaves: first the parameters, in the order in which they were made. Then a loop that reads some of a
  // matrix finds them as far apart as they are in the matrix, however the function that was traced came to them; and
  // they are where numbers of a first argument would be, so that code for those is code for these.
  void sort_leaves() {
    std::vector<Value*>& leaves = graph_.leaves;
    std::vector<uint32_t> order(leaves.size());
    std::iota(order.begin(), order.end(), 0);
    const auto parameters = order.begin() + static_cast<std::ptrdiff_t>(inputs_);
    const auto age = [&](uint32_t leaf) { return births - leaves[leaf]->source; };
    std::stable_sort(parameters, order.end(), [&](uint32_t a, uint32_t b) { return age(a) > age(b); });
    std::rotate(order.begin(), parameters, order.end());
    std::vector<Value*> sorted(leaves.size());
    std::vector<Id> renamed(leaves.size());
    for (size_t i = 0; i < order.size(); ++i) {
      sorted[i] = leaves[order[i]];
      renamed[order[i]] = Id{Id::LEAF, i};
    }
    leaves = std::move(sorted);
    for (auto* ids : {&graph_.operands, &graph_.roots}) {
      for (Id& id : *ids) {
        if (id.is_leaf()) id = renamed[id.index()];
      }
    }
  }

  // Collects what the roots and the fallible nodes depend on, oldest first.
  void collect() {
    Value* youngest = nullptr;
    for (const auto& wanted : {recorded_.roots, recorded_.fallible}) {
      for (Value* root : wanted) {
        if (root->code == LEAF) continue;
        mark_any(root);
        if (!youngest || creation_position(root) > creation_position(youngest)) youngest = root;
      }
    }
    if (!youngest) return;
    const uint64_t last = creation_position(youngest);
    if (last > recorded_.first_node) {
      nodes_.reserve(((last - recorded_.first_node) / kChunkBytes + 1) * kChunkNodes);
    }
    bool users = false, older = false;
    Interrupt interrupt;
    interrupt.ignore();
    walk(youngest, interrupt, [&](Value* place) {
      Value* node = node_at(place);
      users |= node->code == USER || (node->flags & HAS_EXTRA && find_extra(node)->backward);
      older |= position_of(place) < recorded_.first_node;
      nodes_.push_back(node);
      each_older_operand(node, place, mark_any);
      if (const Selection* selection = selection_of(node)) {
        followed_.insert(node);
        for (Value* candidate : selection->candidates) mark_any(candidate);
      }
      return !users && !older;
    });
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw std::bad_alloc();
    }
    if (users) throw Unsupported("a node made by hand, with its own derivative, is part of the function");
    if (older) throw Unsupported("the function uses a result that was computed before it was called");
    std::reverse(nodes_.begin(), nodes_.end());
  }

  const Selection* selection_of(const Value* node) const {
    if (selections_.empty() || row_of(node) != ROW_identity) return nullptr;
    auto found = selections_.find(node);
    return found == selections_.end() ? nullptr : found->second;
  }

  // Finds the leaves that become literals: those that the function made while it was traced, if the engine made them
  // from numbers, or nothing refers to them but operations and the recording. No later call can reach such a leaf, so
  // its number cannot change and its gradient cannot be read. What is not known to be a constant stays a parameter.
  void find_constants() {
    count_references();
    for (const auto& [leaf, references] : uses_) {
      if (!born_after(leaf, recorded_.leaves_before)) continue;
      // Operations that nothing reads may hold the engine's own, too, as long as objects in a cycle hold them.
      if (leaf->flags & CONSTANT || references == Py_REFCNT(as_object(leaf))) constants_.insert(leaf);
    }
  }

  // Counts the references to each leaf that the operations and the recording hold.
  void count_references() {
    std::unordered_set<const OperandList*> seen;
    for (Value* node : nodes_) count_operands(node, seen);
    std::vector<Value*> rest;  // what no root depends on, and the recording keeps: selections, and what is behind them
    for (auto& [node, selection] : selections_) {
      for (Value* candidate : selection->candidates) count(candidate, 0);
      if (followed_.count(node)) continue;
      rest.push_back(selection->node);
      rest.insert(rest.end(), selection->candidates.begin(), selection->candidates.end());
    }
    Marks known(rest.empty() ? 0 : nodes_.size());
    for (size_t i = 0; i < nodes_.size() && !rest.empty(); ++i) known.set(nodes_[i]);
    while (!rest.empty()) {
      Value* node = rest.back();
      rest.pop_back();
      if (node->code == LEAF || !known.set(node)) continue;
      count_operands(node, seen);
      each_operand(node, [&](Value* operand) { rest.push_back(operand); });
    }
    for (Value* root : recorded_.roots) count(root, 0);
    for (auto& [leaf, references] : uses_) {
      const auto held = recorded_.references.find(leaf);
      if (held != recorded_.references.end()) references += held->second;
    }
  }
  void count(Value* value, Py_ssize_t references) {
    if (value->code == LEAF) uses_[value] += references;
  }
  // Nodes may share a list of operands, which refers to each of them once.
  void count_operands(Value* node, std::unordered_set<const OperandList*>& seen) {
    const bool shared = node->flags & OWNS_OPERANDS && node->operand_list->references > 1;
    if (shared && !seen.insert(node->operand_list).second) return;
    each_operand(node, [&](Value* operand) { count(operand, 1); });
  }

  void reserve() {
    graph_.rows.reserve(nodes_.size());
    graph_.first.reserve(nodes_.size() + 1);
    graph_.first.push_back(0);
    graph_.operands.reserve(2 * nodes_.size());
    graph_.extra.reserve(nodes_.size());
    graph_.source.reserve(nodes_.size());
    if (recorded_.inspected) graph_.values.reserve(nodes_.size());
    graph_.literals.reserve(nodes_.size() / 2);
  }

  Id leaf(Value* value, Scratch& scratch) {
    if (value->source) return Id::from_bits(value->source - 1);
    Id id{Id::LEAF, graph_.leaves.size()};
    graph_.leaves.push_back(value);
    scratch.set(value, id.bits() + 1);
    return id;
  }

  Id id_of(Value* value, Scratch& scratch) {
    if (value->source) return Id::from_bits(value->source - 1);
    if (!constants_.count(value)) return leaf(value, scratch);
    Id id = graph_.literal(value->data);
    scratch.set(value, id.bits() + 1);
    return id;
  }

  void add(Value* node, Scratch& scratch) {
    const uint32_t source = node->source;
    const uint16_t row = row_of(node);
    std::vector<Id>& ids = ids_;
    ids.clear();
    Id id;
    if (const Selection* selection = selection_of(node)) {
      for (Value* candidate : selection->candidates) ids.push_back(id_of(candidate, scratch));
      id = graph_.add(selection->row, ids, source, selection->slot);
    } else if (row == ROW_softmax) {
      const Id shared[] = {shared_block(node, scratch)};
      id = graph_.add(row, shared, source, static_cast<uint32_t>(node->index));
    } else {
      const Form form = form_of(node);
      if (form == NUMBER_LEFT) ids.push_back(graph_.literal(node->number));
      each_operand(node, [&](Value* operand) { ids.push_back(id_of(operand, scratch)); });
      if (form == NUMBER_RIGHT) ids.push_back(graph_.literal(node->number));
      id = graph_.add(row, ids, source);
    }
    scratch.set(node, id.bits() + 1);
    if (!recorded_.inspected) return;
    graph_.values.resize(graph_.size());
    graph_.values.back() = node;
  }

  // Makes roots of the fallible nodes that are no operand.
  void add_unused(Scratch& scratch) {
    std::vector<bool> used(graph_.size());
    const auto use = [&](Id id) {
      if (id.is_node()) used[id.index()] = true;
    };
    for (const auto& ids : {graph_.operands, graph_.roots}) std::for_each(ids.begin(), ids.end(), use);
    for (Value* node : recorded_.fallible) {
      const Id id = id_of(node, scratch);
      if (!used[id.index()]) graph_.roots.push_back(id);
    }
  }

  // One node for the operands that all outputs of one softmax share.
  Id shared_block(Value* node, Scratch& scratch) {
    auto [found, fresh] = blocks_.try_emplace(node->operand_list);
    if (!fresh) return found->second;
    std::vector<Id> ids;
    each_operand(node, [&](Value* operand) { ids.push_back(id_of(operand, scratch)); });
    return blocks_[node->operand_list] = graph_.add(ROW_BLOCK, ids, node->source);
  }

  const Recorded& recorded_;
  std::unordered_map<const Value*, const Selection*> selections_;
  std::unordered_set<const Value*> followed_;    // those of their nodes that the roots depend on
  std::unordered_map<Value*, Py_ssize_t> uses_;  // references to each leaf, see count_references
  std::unordered_set<const Value*> constants_;
  std::unordered_map<const OperandList*, Id> blocks_;
  std::vector<Value*> nodes_;
  std::vector<Id> ids_;
  size_t inputs_ = 0;  // how many leaves they are
  Graph graph_;
};

}  // namespace

Graph lift(const Recorded& recorded) { return Lifter(recorded).run(); }

// --- expansion -------------------------------------------------------------------------------------------------

namespace {

class Expander {
 public:
  // `active_leaves`: null where no derivatives were recorded. `for_vectors`: as of expand.
  Expander(const Graph& graph, const std::vector<bool>* active_leaves, bool for_vectors)
      : from_(graph), active_leaves_(active_leaves), for_vectors_(for_vectors) {
    to_.leaves = graph.leaves;
    to_.literals = graph.literals;
    to_.rows.reserve(graph.size());
    to_.first.reserve(graph.size() + 1);
    to_.operands.reserve(graph.operands.size());
    new_ids_.resize(graph.size());
  }

  const std::vector<Id>& new_ids() const { return new_ids_; }

  Graph run() {
    inner_.resize(from_.size());
    is_difference_.resize(from_.size());
    if (for_vectors_) find_differences();
    for (size_t i = 0; i < from_.size(); ++i) {
      if (!inner_[i]) new_ids_[i] = is_difference_[i] ? difference(i) : node(i);
    }
    for (Id root : from_.roots) to_.roots.push_back(renamed(root));
    return std::move(to_);
  }

 private:
  Id renamed(Id id) const { return id.is_node() ? new_ids_[id.index()] : id; }

  Id add(uint16_t row, std::initializer_list<Id> of) { return add(row, std::vector<Id>(of)); }
  Id add(uint16_t row, const std::vector<Id>& of, uint32_t more = 0) {
    if (!active_leaves_) return to_.add(row, of, source_, more);
    if (const std::optional<Id> known = simpler(row, of)) return *known;
    const uint16_t kept = row == ROW_zero_product ? uint16_t{ROW_mul} : row;
    const bool active = kept != ROW_detach && std::any_of(of.begin(), of.end(), [&](Id id) { return is_active(id); });
    active_.push_back(active);
    return to_.add(kept, of, source_, more);
  }

  bool is_active(Id id) const {
    if (id.is_literal()) return false;
    return id.is_leaf() ? (*active_leaves_)[id.index()] : bool{active_[id.index()]};
  }
  bool is_number(Id id, double number) const { return id.is_literal() && to_.literals[id.index()] == number; }

  // What an operation gives without computing.
  std::optional<Id> simpler(uint16_t row, const std::vector<Id>& of) {
    switch (row) {
      case ROW_identity: return of[0];
      case ROW_detach: return is_active(of[0]) ? std::nullopt : std::optional(of[0]);
      case ROW_zero_product:
      case ROW_mul:
        if (is_number(of[0], 1.0)) return of[1];
        return is_number(of[1], 1.0) ? std::optional(of[0]) : std::nullopt;
      case ROW_pow:
        if (is_number(of[1], 0.0)) return to_.literal(1.0);
        return is_number(of[1], 1.0) ? std::optional(of[0]) : std::nullopt;
      default: return std::nullopt;
    }
  }

  Id node(size_t i) {
    source_ = from_.source[i];
    std::vector<Id> ids;
    for (Id id : from_.operands_of(i)) ids.push_back(renamed(id));
    switch (from_.rows[i]) {
      case ROW_sum: return ids.empty() ? to_.literal(0.0) : add(ROW_sum, ids);
      case ROW_dot: return ids.empty() ? to_.literal(0.0) : add(ROW_dot, ids);
      case ROW_mean:
        if (ids.empty()) return to_.literal(std::numeric_limits<double>::quiet_NaN());
        return add(ROW_div, {add(ROW_sum, ids), to_.literal(static_cast<double>(ids.size()))});
      case ROW_prod: return product(ids);
      case ROW_logsumexp: {
        const Shares shares = shares_of(ids);
        return add(ROW_add, {shares.largest, add(ROW_log, {shares.sum})});
      }
      case ROW_BLOCK: blocks_.emplace(i, shares_of(ids)); return Id();  // no node reads its value
      case ROW_softmax: {
        const Shares& shares = blocks_.at(from_.operands_of(i)[0].index());
        return add(ROW_div, {shares.exponentials[from_.extra[i]], shares.sum});
      }
      case ROW_div:
        if (for_vectors_ && ids[1].is_literal() && has_inverse(to_.literals[ids[1].index()])) {
          return add(ROW_mul, {ids[0], to_.literal(1.0 / to_.literals[ids[1].index()])});
        }
        return add(ROW_div, ids);
      case ROW_FIRST_MAX:
      case ROW_FIRST_MIN:
        if (for_vectors_ && ids.size() <= kFewCandidates) return first_of_few(from_.rows[i], ids);
        return add(from_.rows[i], ids);
      default: return add(from_.rows[i], ids, from_.extra[i]);
    }
  }

  // Of more, one reduction is quicker.
  static constexpr size_t kFewCandidates = 4;

  // The first of a few that no other is larger (smaller) than, by comparisons, which many lanes make side by side.
  Id first_of_few(uint16_t row, const std::vector<Id>& ids) {
    Id best = ids[0];
    for (size_t i = 1; i < ids.size(); ++i) {
      const Id is_better = add(row == ROW_FIRST_MAX ? ROW_greater : ROW_less, {ids[i], best});
      best = add(ROW_where, {is_better, ids[i], best});
    }
    return ids.size() == 1 ? add(ROW_identity, {best}) : best;
  }

  // --- chains of additions and subtractions ---

  bool is_step(size_t i) const { return from_.rows[i] == ROW_add || from_.rows[i] == ROW_sub; }
  // The left operand of a step, if that is a step of the same chain.
  std::optional<size_t> before(size_t i) const {
    const Id left = from_.operands_of(i)[0];
    return left.is_node() && inner_[left.index()] ? std::optional(size_t{left.index()}) : std::nullopt;
  }

  // Finds the chains in which something is subtracted: steps whose partial sums have no other use.
  void find_differences() {
    std::vector<uint32_t> uses(from_.size());
    for (const auto& ids : {std::span(from_.operands), std::span(from_.roots)}) {
      for (Id id : ids) {
        if (id.is_node()) ++uses[id.index()];
      }
    }
    for (Id root : from_.roots) {
      if (root.is_node()) ++uses[root.index()];  // no chain absorbs it
    }
    for (size_t i = 0; i < from_.size(); ++i) {
      const Id left = is_step(i) ? from_.operands_of(i)[0] : Id();
      if (left.is_node() && is_step(left.index()) && uses[left.index()] == 1) inner_[left.index()] = true;
    }
    for (size_t i = from_.size(); i-- > 0;) {
      if (is_step(i) && !inner_[i]) is_difference_[i] = keep_chain(i);
    }
  }

  // Whether the chain that ends at `top` is long and has a subtraction; if not, its steps stay as they are.
  bool keep_chain(size_t top) {
    constexpr size_t kLong = 6;  // steps
    size_t steps = 0;
    bool subtracts = false;
    for (std::optional<size_t> i = top; i; i = before(*i)) {
      ++steps;
      // In (a - b) + (c - d) + … each difference is a term, also the first.
      subtracts |= from_.rows[*i] == ROW_sub && before(*i);
    }
    if (steps >= kLong && subtracts) return true;
    for (std::optional<size_t> i = before(top), next; i; i = next) {
      next = before(*i);
      inner_[*i] = false;
    }
    return false;
  }

  // a - b + c - d - … as the sum of what is added less the sum of what is subtracted.
  Id difference(size_t top) {
    source_ = from_.source[top];
    std::vector<Id> added, subtracted;
    for (std::optional<size_t> i = top; i; i = before(*i)) {
      const auto operands = from_.operands_of(*i);
      (from_.rows[*i] == ROW_sub ? subtracted : added).push_back(renamed(operands[1]));
      if (!before(*i)) added.push_back(renamed(operands[0]));
    }
    const auto sum = [&](const std::vector<Id>& numbers) {
      Id total = numbers.back();
      for (size_t k = numbers.size() - 1; k-- > 0;) total = add(ROW_add, {total, numbers[k]});
      return total;
    };
    const Id result = add(ROW_sub, {sum(added), sum(subtracted)});
    for (std::optional<size_t> i = before(top); i; i = before(*i)) new_ids_[*i] = result;
    return result;
  }

  // Whether multiplying by 1/number gives the same bits as dividing: true for powers of two.
  static bool has_inverse(double number) {
    int exponent;
    return std::fabs(std::frexp(number, &exponent)) == 0.5 && std::fabs(number) < 0x1p1000 &&
           std::fabs(number) > 0x1p-1000;
  }

  Id product(const std::vector<Id>& ids) {
    if (ids.empty()) return to_.literal(1.0);
    Id result = ids[0];
    for (size_t i = 1; i < ids.size(); ++i) result = add(ROW_mul, {result, ids[i]});
    return ids.size() == 1 ? add(ROW_identity, {result}) : result;
  }

  struct Shares {
    Id largest, sum;
    std::vector<Id> exponentials;
  };
  // exp(a - m) of each operand, and their sum; m, the largest operand, is treated as a constant.
  Shares shares_of(const std::vector<Id>& ids) {
    Shares shares;
    shares.largest = add(ROW_LARGEST, ids);
    for (Id id : ids) shares.exponentials.push_back(add(ROW_sub, {id, shares.largest}));
    for (Id& id : shares.exponentials) id = add(ROW_exp, {id});
    shares.sum = add(ROW_sum, shares.exponentials);
    return shares;
  }

  const Graph& from_;
  const std::vector<bool>* active_leaves_;
  const bool for_vectors_;
  Graph to_;
  std::vector<Id> new_ids_;
  std::vector<bool> inner_;          // steps inside a chain
  std::vector<bool> is_difference_;  // the last steps of chains in which something is subtracted
  std::vector<bool> active_;         // of each new node, whether it depends on an active leaf
  std::unordered_map<size_t, Shares> blocks_;
  uint32_t source_ = 0;
};

}  // namespace

Graph expand(const Graph& graph, bool for_vectors, const std::vector<bool>* active, std::vector<Id>* renamed) {
  Expander expansion(graph, active, for_vectors);
  Graph result = expansion.run();
  std::vector<Id> ids = expansion.new_ids();
  if (active) {
    std::vector<Id> first;
    result = without_repeats(result, Repeated::ALL, &first);
    for (Id& id : ids) id = id.is_node() ? first[id.index()] : id;
  }
  result = with_masked_sums(std::move(result), &ids);
  if (renamed) *renamed = std::move(ids);
  return result;
}

}  // namespace retrograd::compiler
