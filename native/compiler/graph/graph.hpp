// The scalar graph: what one run of the user's function computed, in flat arrays. Every pass of the compiler reads it.
//
//   tape --lift--> Graph --expand--> Graph --reductions--> Terms --reroll--> Program --lower--> KernelCalls
//
// A Graph keeps the tape's order of creation, so operands come before results. An Id names one value of the graph: a
// leaf (a Value that no operation made), a literal (a number in the program, one for each place that uses it), or a
// node (the result of an operation).
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

// Names a value of the graph: two bits of kind and an index.
class Id {
 public:
  enum Kind : uint32_t { LEAF, LITERAL, NODE };
  static constexpr uint32_t kLimit = uint32_t{1} << 30;

  constexpr Id() = default;
  constexpr Id(Kind kind, size_t index) : bits_(static_cast<uint32_t>(kind) << 30 | static_cast<uint32_t>(index)) {}
  constexpr Kind kind() const { return static_cast<Kind>(bits_ >> 30); }
  constexpr uint32_t index() const { return bits_ & (kLimit - 1); }
  constexpr bool is_leaf() const { return kind() == LEAF; }
  constexpr bool is_literal() const { return kind() == LITERAL; }
  constexpr bool is_node() const { return kind() == NODE; }
  constexpr uint32_t bits() const { return bits_; }
  static constexpr Id from_bits(uint32_t bits) {
    Id id;
    id.bits_ = bits;
    return id;
  }
  friend constexpr bool operator==(Id, Id) = default;

 private:
  uint32_t bits_ = 0;
};

// Ops that only a graph has, numbered after those of the op table. SELECT picks one of its operands by a run-time
// index.
constexpr uint16_t ROW_SELECT = ROW_COUNT;
// The operands that all outputs of one softmax share. It has no value of its own.
constexpr uint16_t ROW_BLOCK = ROW_COUNT + 1;
// The operand that Python's own max (or min) returns: the first that no other is larger (smaller) than.
constexpr uint16_t ROW_FIRST_MAX = ROW_COUNT + 2;
constexpr uint16_t ROW_FIRST_MIN = ROW_COUNT + 3;
// The largest operand, treated as a constant by the backward pass.
constexpr uint16_t ROW_LARGEST = ROW_COUNT + 4;

// The function uses something that the compiler does not handle. Python then runs the function eagerly and counts it.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Graph {
  std::vector<Value*> leaves;    // borrowed
  std::vector<double> literals;  // their numbers in the recorded run
  std::vector<uint16_t> rows;    // the op of each node
  std::vector<uint32_t> first;   // where each node's operands begin; one entry more than there are nodes
  std::vector<Id> operands;
  std::vector<uint32_t> extra;       // of a softmax: which output; of a SELECT: its index argument
  std::vector<uint32_t> source;      // the user's source line of each node; 0 if unknown
  std::vector<Id> roots;             // the result, then the values that guards compare
  std::vector<const Value*> values;  // of an inspected graph: the tape node of each; may dangle, so only compare it

  size_t size() const { return rows.size(); }
  std::span<const Id> operands_of(size_t node) const {
    return {operands.data() + first[node], operands.data() + first[node + 1]};
  }
  // Appends a node; its operands must exist.
  Id add(uint16_t row, std::span<const Id> of, uint32_t source_line, uint32_t more = 0);
  Id literal(double number);
};

// A node that takes one of several values: chosen by the index argument `slot`, or the first largest or smallest.
struct Selection {
  Value* node;
  uint16_t row;  // ROW_SELECT, ROW_FIRST_MAX or ROW_FIRST_MIN
  uint32_t slot;
  std::vector<Value*> candidates;
};

// How many references to each Value a recording holds.
using References = std::unordered_map<const Value*, Py_ssize_t>;

// One run of the user's function, as it is on the tape.
struct Recorded {
  std::span<Value* const> roots, inputs;
  std::span<Value* const> fallible;  // nodes whose operands may be outside a domain in another call
  std::span<const Selection> selections;
  uint64_t first_node;           // the position of the first node that the function recorded
  uint32_t leaves_before;        // how many leaves had been made when it was called
  const References& references;  // those that the recording's own lists and tuples hold
  bool inspected;                // the graph says which node of the tape each of its nodes was
};

// Reads everything that the roots depend on from the tape. The inputs come last among the leaves. Another leaf becomes
// a literal if it is known to be a constant: the function made it while it was traced, and only operations and the
// recording refer to it. All others are parameters. A fallible node that nothing depends on is one more root, so that
// a call whose operands it refuses is noticed. Throws Unsupported for nodes that a user made, and for those that
// were there before the function was called.
Graph lift(const Recorded& recorded);

// Rewrites the graph in fewer ops: mean, prod, logsumexp and softmax become their numerically safe formulas. What runs
// as vectors (`for_vectors`) multiplies where it divided by a power of two, and has a long chain a - b + c - … as the
// difference of two sums. What runs as loops does not: one iteration may divide by 3.0 and the next by 4.0.
//
// A graph in which derivatives were recorded has less in it then: what is computed twice is computed once, and what
// leaves a number as it is goes. A product that is zero where one factor is, even if the other is infinite, becomes a
// plain one: the machine's results count only where every number is finite. Of such a graph `active` says of each leaf
// whether a gradient of it may be wanted, and a gradient stops at `detach` nowhere else; else it is null.
//
// `renamed`, if given, receives the new Id of each old node; that of no node where nothing needs it any more.
Graph expand(const Graph& graph, bool for_vectors, const std::vector<bool>* active, std::vector<Id>* renamed = nullptr);

// What is computed twice is computed once: where its result is near, or that of a function; or everywhere.
enum class Repeated { NEAR, ALL };

// The same graph with less in it. `renamed` as above.
Graph without_repeats(const Graph& graph, Repeated which, std::vector<Id>* renamed = nullptr);

// The same graph, in which a sum that grows only where something holds is one of a term and of nothing: then it is a
// sum like any other. `renamed`: Ids of nodes of `graph`, which become those of the new one.
Graph with_masked_sums(Graph graph, std::vector<Id>* renamed);

}  // namespace retrograd::compiler
