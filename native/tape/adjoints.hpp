// The adjoint rules: the local derivatives of every op in one place (reverse mode; Griewank & Walther, Evaluating
// Derivatives).
//
// `differentiate(node, sink)` shows the sink each operand that is a Value, in order. Then it tells the sink the local
// derivative of operand i with sink.add(i, value, local, first), or calls sink.skip(value, first) if there is none: it
// is structurally zero, or the gradient that arrives from upstream is zero (sink.zero_upstream). `first` is the sink's
// answer when it was shown the operand. A sink may sweep the tape, apply the VJP of one node, or only collect the
// derivatives.
#pragma once

#include <vector>

#include "tape/value.hpp"

namespace retrograd {

// What the partials of an n-ary op may use besides their operand; see NaryOp in ops/table.py.
struct NaryContext {
  double n = 0.0;
  double ties = 0.0;
  const double* rest = nullptr;  // of each operand, if a partial asks for it; valid until the next context
};

// Reserves scratch memory for any node. A pass does so before it changes any gradient: after that it allocates nothing,
// so it cannot run out of memory halfway. May throw std::bad_alloc.
inline void reserve_scratch(Tape* tape) {
  tape->rest.reserve(longest_operand_list);
  tape->after.reserve(size_t{longest_operand_list} + 1);
}

inline void products_of_others(const OperandList* block, std::vector<double>& rest, std::vector<double>& after) {
  uint32_t n = block->count;
  rest.assign(n, 0.0);
  after.assign(size_t{n} + 1, 0.0);
  after[n] = 1.0;
  for (uint32_t i = n; i-- > 0;) after[i] = after[i + 1] * block->operands[i]->data;
  double before = 1.0;
  for (uint32_t i = 0; i < n; ++i) {
    rest[i] = before * after[i + 1];
    before *= block->operands[i]->data;
  }
}

// The softmax probability of each operand.
inline void shares(const OperandList* block, std::vector<double>& rest) {
  double largest = Rule_max::start(), sum = Rule_softmax::start();
  for (uint32_t i = 0; i < block->count; ++i) largest = Rule_max::step(largest, block->operands[i]->data, 0.0, 0.0);
  for (uint32_t i = 0; i < block->count; ++i) sum = Rule_softmax::step(sum, block->operands[i]->data, 0.0, largest);
  rest.resize(block->count);
  for (uint32_t i = 0; i < block->count; ++i)
    rest[i] = Rule_softmax::finish(sum, block->operands[i]->data, largest, 0.0);
}

inline void other_probabilities(const OperandList* block, uint64_t output, std::vector<double>& rest) {
  double others = 0.0;
  rest.resize(block->count);
  for (uint32_t j = 0; j < block->count; ++j) {
    if (j != output) others += block->probabilities[j];
    rest[j] = -block->probabilities[j];
  }
  rest[output] = others;
}

template <class Rule>
NaryContext context_of(const Value* node) {
  NaryContext context;
  const OperandList* block = node->operand_list;
  uint32_t half = Rule::nary_kind == PAIRED ? block->count / 2 : block->count;
  context.n = half;
  if constexpr (Rule::row == ROW_max || Rule::row == ROW_min || Rule::row == ROW_logsumexp) {
    double y = node->data;
    for (uint32_t i = 0; i < half; ++i) context.ties += block->operands[i]->data == y;
    if (y != y) context.ties = context.n;
  }
  if constexpr (Rule::row == ROW_prod) {
    products_of_others(block, current_tape->rest, current_tape->after);
    context.rest = current_tape->rest.data();
  } else if constexpr (Rule::row == ROW_logsumexp) {
    shares(block, current_tape->rest);
    context.rest = current_tape->rest.data();
  } else if constexpr (Rule::row == ROW_softmax) {
    other_probabilities(block, node->index, current_tape->rest);
    context.rest = current_tape->rest.data();
  }
  return context;
}

// Which rules a copy of the switch handles. Most nodes are sums and products: a sweep keeps their rules, which call no
// functions, in registers, and all others out of line.
enum class RuleSet { ALL, FREQUENT, OTHERS };

constexpr bool handles(RuleSet rules, Row row) {
  const bool frequent = row == ROW_add || row == ROW_sub || row == ROW_mul;
  return rules == RuleSet::ALL || frequent == (rules == RuleSet::FREQUENT);
}

// The case of each kind of row in the switch below.
#define RG_UNLESS_HANDLED(name)                \
  if constexpr (!handles(rules, ROW_##name)) { \
    return false;                              \
  } else
#define RG_CONTRIBUTE(i, V, first, guard, partial) \
  if (!sink.zero_upstream && (guard)) {            \
    sink.add(i, V, partial, first);                \
  } else {                                         \
    sink.skip(V, first);                           \
  }
#define RG_OP1(name, label, forward, g1, d1, rule) \
  case code_of(ROW_##name):                        \
    RG_UNLESS_HANDLED(name) {                      \
      Value* A = node->a;                          \
      [[maybe_unused]] const double a = A->data;   \
      const bool first_a = sink.operand(A);        \
      RG_CONTRIBUTE(0, A, first_a, g1, d1)         \
      return true;                                 \
    }
#define RG_OP2(name, label, forward, g1, d1, g2, d2, rule)         \
  case code_of(ROW_##name):                                        \
    RG_UNLESS_HANDLED(name) {                                      \
      Value *A = node->a, *B = node->b;                            \
      [[maybe_unused]] const double a = A->data, b = B->data;      \
      const bool first_a = sink.operand(A);                        \
      const bool first_b = sink.operand(B);                        \
      RG_CONTRIBUTE(0, A, first_a, g1, d1)                         \
      RG_CONTRIBUTE(1, B, first_b, g2, d2)                         \
      return true;                                                 \
    }                                                              \
  case code_of(ROW_##name, NUMBER_RIGHT):                          \
    RG_UNLESS_HANDLED(name) {                                      \
      Value* A = node->a;                                          \
      [[maybe_unused]] const double a = A->data, b = node->number; \
      const bool first_a = sink.operand(A);                        \
      RG_CONTRIBUTE(0, A, first_a, g1, d1)                         \
      return true;                                                 \
    }                                                              \
  case code_of(ROW_##name, NUMBER_LEFT):                           \
    RG_UNLESS_HANDLED(name) {                                      \
      Value* B = node->a;                                          \
      [[maybe_unused]] const double a = node->number, b = B->data; \
      const bool first_b = sink.operand(B);                        \
      RG_CONTRIBUTE(0, B, first_b, g2, d2)                         \
      return true;                                                 \
    }
#define RG_OP3(name, label, forward, g1, d1, g2, d2, g3, d3, rule)                        \
  case code_of(ROW_##name):                                                               \
    RG_UNLESS_HANDLED(name) {                                                             \
      Value** all = node->operand_list->operands;                                         \
      [[maybe_unused]] const double a = all[0]->data, b = all[1]->data, c = all[2]->data; \
      for (int i = 0; i < 3; ++i) sink.skip(all[i], sink.operand(all[i]));                \
      if (sink.zero_upstream) return true;                                                \
      if (g1) sink.add(0, all[0], d1, false);                                             \
      if (g2) sink.add(1, all[1], d2, false);                                             \
      if (g3) sink.add(2, all[2], d3, false);                                             \
      return true;                                                                        \
    }
#define RG_NARY(name, kind, allows_empty, init, step, finish, g1, d1, g2, d2)                           \
  case code_of(ROW_##name):                                                                             \
    RG_UNLESS_HANDLED(name) {                                                                           \
      Value** all = node->operand_list->operands;                                                       \
      const uint32_t count = node->operand_list->count;                                                 \
      for (uint32_t i = 0; i < count; ++i) sink.skip(all[i], sink.operand(all[i]));                     \
      if (sink.zero_upstream || count == 0) return true;                                                \
      const NaryContext context = context_of<Rule_##name>(node);                                        \
      const uint32_t half = kind == PAIRED ? count / 2 : count;                                         \
      [[maybe_unused]] const double n = context.n, ties = context.ties;                                 \
      for (uint32_t i = 0; i < half; ++i) {                                                             \
        [[maybe_unused]] const double a = all[i]->data, b = kind == PAIRED ? all[half + i]->data : 0.0; \
        [[maybe_unused]] const double rest = context.rest ? context.rest[i] : 0.0;                      \
        if (g1) sink.add(i, all[i], d1, false);                                                         \
      }                                                                                                 \
      for (uint32_t i = half; i < count; ++i) {                                                         \
        [[maybe_unused]] const double a = all[i - half]->data, b = all[i]->data;                        \
        if (g2) sink.add(i, all[i], d2, false);                                                         \
      }                                                                                                 \
      return true;                                                                                      \
    }

// Returns false if `rules` does not include the node's op.
template <RuleSet rules, class Sink>
inline bool differentiate_among(Value* node, Sink& sink) {
  [[maybe_unused]] const double y = node->data;
  switch (node->code) {
#include "ops/ops.inc"
#undef RG_CONTRIBUTE
#undef RG_UNLESS_HANDLED
    case USER: {
      if (rules == RuleSet::FREQUENT) return false;
      const Extra* extra = node->extra;
      for (Value* child : extra->children) sink.skip(child, sink.operand(child));
      if (sink.zero_upstream || !extra->has_partials) return true;
      for (uint32_t i = 0; i < extra->partials.size(); ++i) sink.add(i, extra->children[i], extra->partials[i], false);
      return true;
    }
    default: return false;
  }
}

template <class Sink>
void differentiate(Value* node, Sink& sink) {
  differentiate_among<RuleSet::ALL>(node, sink);
}

}  // namespace retrograd
