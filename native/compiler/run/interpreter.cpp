#include "compiler/run/interpreter.hpp"

#include <algorithm>
#include <cmath>

#include "tape/record.hpp"

namespace retrograd::compiler {

Interpreter::Interpreter(std::shared_ptr<const Graph> of, const LeafLayout& leaves, std::span<const uint32_t> results)
    : graph_(std::move(of)),
      leaves_(leaves),
      first_node_(static_cast<uint32_t>(graph_->leaves.size() + graph_->literals.size())),
      values_(first_node_ + graph_->size()),
      adjoints_(values_.size()) {
  const Graph& graph = *graph_;
  operands_.reserve(graph.operands.size());
  for (Id id : graph.operands) operands_.push_back(flat(id));
  for (Id id : graph.roots) roots_.push_back(flat(id));
  for (const uint32_t which : results) results_.push_back(&values_[roots_[which]]);
  size_t longest = 0;
  for (size_t node = 0; node < graph.size(); ++node) {
    longest = std::max<size_t>(longest, graph.first[node + 1] - graph.first[node]);
  }
  const auto selects = [](uint16_t row) { return row == ROW_SELECT || row == ROW_FIRST_MAX || row == ROW_FIRST_MIN; };
  if (std::any_of(graph.rows.begin(), graph.rows.end(), selects)) {
    chosen_.resize(values_.size());
    targets_.resize(operands_.size());
  }
  scratch_.reserve(longest);  // a pass must not allocate: it could fail halfway
  std::copy(graph.literals.begin(), graph.literals.end(),
            values_.begin() + static_cast<std::ptrdiff_t>(graph.leaves.size()));
}

uint32_t Interpreter::flat(Id id) const {
  switch (id.kind()) {
    case Id::LEAF: return id.index();
    case Id::LITERAL: return static_cast<uint32_t>(graph_->leaves.size()) + id.index();
    default: return first_node_ + id.index();
  }
}

namespace {

double largest_of(const double* values, const uint32_t* operands, size_t count) {
  double m = Rule_max::start();
  for (size_t i = 0; i < count; ++i) m = Rule_max::step(m, values[operands[i]], 0.0, 0.0);
  return m;
}

// The fold of an op over `n` operands (and their partners, if paired), before finish().
template <class R>
double folded(const double* values, const uint32_t* operands, size_t n, double m) {
  double s = R::start();
  for (size_t i = 0; i < n; ++i) {
    const double a = values[operands[i]];
    s = R::step(s, a, R::nary_kind == PAIRED ? values[operands[n + i]] : a, m);
  }
  return s;
}

}  // namespace

// The operand that Python's max or min would choose.
uint32_t Interpreter::first_extreme(size_t node) const {
  uint32_t best = operands_[graph_->first[node]];
  for (size_t i = graph_->first[node] + 1; i < graph_->first[node + 1]; ++i) {
    const double x = values_[operands_[i]], s = values_[best];
    if (graph_->rows[node] == ROW_FIRST_MAX ? x > s : x < s) best = operands_[i];
  }
  return best;
}

bool Interpreter::nary(size_t node) {
  const uint32_t* operands = operands_.data() + graph_->first[node];
  size_t count = graph_->first[node + 1] - graph_->first[node];
  double* v = values_.data();
  if (graph_->rows[node] == ROW_softmax) {  // its
                                            // operand is the node with the operands that all its outputs share
    const size_t block = operands[0] - first_node_;
    operands = operands_.data() + graph_->first[block];
    count = graph_->first[block + 1] - graph_->first[block];
    const double m = largest_of(v, operands, count), s = folded<Rule_softmax>(v, operands, count, m);
    v[first_node_ + node] = Rule_softmax::finish(s, v[operands[graph_->extra[node]]], m, static_cast<double>(count));
    return true;
  }
  switch (graph_->rows[node]) {
#define RG_NARY(name, kind, ...)                                                                     \
  case ROW_##name: {                                                                                 \
    const size_t n = kind == PAIRED ? count / 2 : count;                                             \
    const double m = largest_of(v, operands, n);                                                     \
    v[first_node_ + node] =                                                                          \
        Rule_##name::finish(folded<Rule_##name>(v, operands, n, m), 0.0, m, static_cast<double>(n)); \
    return true;                                                                                     \
  }
#include "ops/ops.inc"
    default: return false;
  }
}

Outcome Interpreter::forward(std::span<const Guard> guards, bool strict, const bool* raising) {
  if (schedule_.empty() && !guards.empty()) schedule(guards);
  bool raises = false;
  size_t done = 0;
  // Without guards, an earlier call's schedule is of no interest.
  for (auto guard = schedule_.begin(); guard != schedule_.end() && !guards.empty(); ++guard) {
    const auto [after, number] = *guard;
    raises |= run(done, after, strict, raising);
    done = std::max(done, after);
    if (guards[number].holds([&](size_t which) { return root(which); })) continue;
    divergence_ = Divergence::at(guard, schedule_.end());
    return Outcome::GUARD;
  }
  raises |= run(done, graph_->size(), strict, raising);
  return raises ? Outcome::EXCEPTIONAL : Outcome::DONE;
}

// Finds out how early each guard can be checked.
void Interpreter::schedule(std::span<const Guard> guards) {
  const auto ready = [&](uint32_t which) {
    const Id root = graph_->roots[which];
    return root.is_node() ? size_t{root.index()} + 1 : 0;
  };
  for (uint32_t i = 0; i < guards.size(); ++i) {
    schedule_.emplace_back(std::max(ready(guards[i].left), guards[i].right ? ready(guards[i].right) : 0), i);
  }
  std::sort(schedule_.begin(), schedule_.end());
}

// Computes the nodes from `begin` to `end`. Returns whether an operation was outside its domain.
bool Interpreter::run(size_t begin, size_t end, bool strict, const bool* raising) {
  double* v = values_.data();
  bool raises = false;
  for (size_t node = begin; node < end; ++node) {
    const uint32_t* p = operands_.data() + graph_->first[node];
    double& result = v[first_node_ + node];
    switch (graph_->rows[node]) {
#define RG_CHECK(violation)                                                                    \
  if (const int found = violation; found && (strict || raising[(found - 1) & 3])) [[unlikely]] \
    raises = true;
#define RG_OP1(name, ...)                    \
  case ROW_##name: {                         \
    const double a = v[p[0]];                \
    result = f_##name(a);                    \
    RG_CHECK(Rule_##name::domain(a, result)) \
    break;                                   \
  }
#define RG_OP2(name, ...)                       \
  case ROW_##name: {                            \
    const double a = v[p[0]], b = v[p[1]];      \
    result = f_##name(a, b);                    \
    RG_CHECK(Rule_##name::domain(a, b, result)) \
    break;                                      \
  }
#define RG_OP3(name, ...) \
  case ROW_##name: result = f_##name(v[p[0]], v[p[1]], v[p[2]]); break;
#include "ops/ops.inc"
#undef RG_CHECK
      case ROW_SELECT: result = v[p[indices_[graph_->extra[node]]]]; break;
      case ROW_BLOCK: break;
      case ROW_FIRST_MAX:
      case ROW_FIRST_MIN: result = v[first_extreme(node)]; break;
      default: nary(node);
    }
  }
  return raises;
}

// Where the gradient of each operand goes. A selection is no operation of the function's: what the function computes
// with is the chosen value itself, so each contribution goes to that one directly, in the engine's order.
const uint32_t* Interpreter::targets() {
  if (chosen_.empty()) return operands_.data();
  for (uint32_t i = 0; i < chosen_.size(); ++i) chosen_[i] = i;
  for (size_t node = 0; node < graph_->size(); ++node) {
    const uint16_t row = graph_->rows[node];
    if (row == ROW_SELECT) {
      chosen_[first_node_ + node] = chosen_[operands_[graph_->first[node] + indices_[graph_->extra[node]]]];
    } else if (row == ROW_FIRST_MAX || row == ROW_FIRST_MIN) {
      chosen_[first_node_ + node] = chosen_[first_extreme(node)];
    }
  }
  for (size_t i = 0; i < operands_.size(); ++i) targets_[i] = chosen_[operands_[i]];
  return targets_.data();
}

void Interpreter::nary_back(size_t node, double gradient, const uint32_t* targets) {
  const uint32_t* operands = operands_.data() + graph_->first[node];
  const uint32_t* to = targets + graph_->first[node];
  size_t count = graph_->first[node + 1] - graph_->first[node];
  const double* v = values_.data();
  double* adjoint = adjoints_.data();
  [[maybe_unused]] const double y = v[first_node_ + node];
  std::vector<double>& rests = scratch_;
  rests.clear();
  if (graph_->rows[node] == ROW_softmax) {
    const size_t block = operands[0] - first_node_;
    operands = operands_.data() + graph_->first[block];
    to = targets + graph_->first[block];
    count = graph_->first[block + 1] - graph_->first[block];
    const double m = largest_of(v, operands, count), s = folded<Rule_softmax>(v, operands, count, m);
    double others = 0.0;
    for (size_t j = 0; j < count; ++j) {
      const double probability = Rule_softmax::finish(s, v[operands[j]], m, 0.0);
      if (j != graph_->extra[node]) others += probability;
      rests.push_back(-probability);
    }
    rests[graph_->extra[node]] = others;
  }
  const double largest = graph_->rows[node] == ROW_logsumexp ? largest_of(v, operands, count) : 0.0;
  if (graph_->rows[node] == ROW_logsumexp) {
    const double s = folded<Rule_softmax>(v, operands, count, largest);
    for (size_t j = 0; j < count; ++j) rests.push_back(Rule_softmax::finish(s, v[operands[j]], largest, 0.0));
  }
  if (graph_->rows[node] == ROW_prod) {
    rests.resize(count);
    double after = 1.0;
    for (size_t j = count; j-- > 0;) {
      rests[j] = after;
      after = after * v[operands[j]];
    }
    double before = 1.0;
    for (size_t j = 0; j < count; ++j) {
      rests[j] = before * rests[j];
      before *= v[operands[j]];
    }
  }
  double tied = 0.0;
  for (size_t j = 0; j < count; ++j) tied += v[operands[j]] == y;
  switch (graph_->rows[node]) {
#define RG_NARY(name, kind, allows_empty, init, step, finish, g1, d1, g2, d2)              \
  case ROW_##name: {                                                                       \
    const size_t half = kind == PAIRED ? count / 2 : count;                                \
    [[maybe_unused]] const double n = static_cast<double>(half), ties = y != y ? n : tied; \
    for (size_t j = 0; j < half; ++j) {                                                    \
      [[maybe_unused]] const double a = v[operands[j]];                                    \
      [[maybe_unused]] const double b = kind == PAIRED ? v[operands[half + j]] : 0.0;      \
      [[maybe_unused]] const double rest = rests.empty() ? 0.0 : rests[j];                 \
      if (g1) adjoint[to[j]] += (d1) * gradient;                                           \
    }                                                                                      \
    for (size_t j = half; j < count; ++j) {                                                \
      [[maybe_unused]] const double a = v[operands[j - half]], b = v[operands[j]];         \
      if (g2) adjoint[to[j]] += (d2) * gradient;                                           \
    }                                                                                      \
    break;                                                                                 \
  }
#include "ops/ops.inc"
    default: break;
  }
}

void Interpreter::backward(double seed, const ParameterBuffers* buffers) {
  std::fill(adjoints_.begin(), adjoints_.end(), 0.0);
  double* adjoint = adjoints_.data();
  // Contributions are added to the parameter's previous gradient, one after the other, as the engine does.
  if (buffers) leaves_.copy_gradients_from(*buffers, adjoint);
  const uint32_t* targets = this->targets();
  adjoint[chosen_.empty() ? roots_[0] : chosen_[roots_[0]]] += seed + 0.0;
  const double* v = values_.data();
  for (size_t node = graph_->size(); node-- > 0;) {
    const double gradient = adjoint[first_node_ + node];
    if (gradient == 0.0) continue;
    const uint32_t* p = operands_.data() + graph_->first[node];
    const uint32_t* to = targets + graph_->first[node];
    [[maybe_unused]] const double y = v[first_node_ + node];
    switch (graph_->rows[node]) {
#define RG_OP1(name, label, forward, g1, d1, rule) \
  case ROW_##name: {                               \
    [[maybe_unused]] const double a = v[p[0]];     \
    if (g1) adjoint[to[0]] += (d1) * gradient;     \
    break;                                         \
  }
#define RG_OP2(name, label, forward, g1, d1, g2, d2, rule)  \
  case ROW_##name: {                                        \
    [[maybe_unused]] const double a = v[p[0]], b = v[p[1]]; \
    if (g1) adjoint[to[0]] += (d1) * gradient;              \
    if (g2) adjoint[to[1]] += (d2) * gradient;              \
    break;                                                  \
  }
#define RG_OP3(name, label, forward, g1, d1, g2, d2, g3, d3, rule)       \
  case ROW_##name: {                                                     \
    [[maybe_unused]] const double a = v[p[0]], b = v[p[1]], c = v[p[2]]; \
    if (g1) adjoint[to[0]] += (d1) * gradient;                           \
    if (g2) adjoint[to[1]] += (d2) * gradient;                           \
    if (g3) adjoint[to[2]] += (d3) * gradient;                           \
    break;                                                               \
  }
#include "ops/ops.inc"
      default: nary_back(node, gradient, targets);
    }
  }
  if (buffers) leaves_.copy_gradients_to(*buffers, adjoint);
}

}  // namespace retrograd::compiler
