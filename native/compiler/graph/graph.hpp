// The scalar graph: what one run of the user's function computed, in flat arrays. Every pass of the compiler reads it.
//
//   tape --lift--> Graph --expand--> Graph --terms--> Terms --reroll--> Program --lower--> Calls --> kernels
//
// A Graph keeps the tape's order of creation, so operands come before results. What it names, it names by an Id:
// a leaf (a Value that no operation made), a literal (a number in the program, one for each place that uses
// it), or a node (the result of an operation).
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

// What a value of the graph is called: two bits of kind and an index.
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

// Rows that only a graph has, after those of the op table: a choice among its operands by a run-time index,
constexpr uint16_t ROW_SELECT = ROW_COUNT;
// and the operands that the outputs of one softmax share, which has no value of its own.
constexpr uint16_t ROW_BLOCK = ROW_COUNT + 1;
// The first of its operands that no other is larger (or smaller) than, as Python's own max (and min) choose it.
constexpr uint16_t ROW_FIRST_MAX = ROW_COUNT + 2;
constexpr uint16_t ROW_FIRST_MIN = ROW_COUNT + 3;
// The largest of its operands, through which no gradient differentiable.
constexpr uint16_t ROW_LARGEST = ROW_COUNT + 4;

// Something about the user's function that the compiler does not handle; function.py then runs it eagerly and counts.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Graph {
  std::vector<Value*> leaves;    // borrowed
  std::vector<double> literals;  // their numbers in the run that was recorded
  std::vector<uint16_t> rows;    // of each node
  std::vector<uint32_t> first;   // where a node's operands begin; one more than there are nodes
  std::vector<Id> operands;
  std::vector<uint32_t> extra;       // of a softmax, which output; of a SELECT, its slot
  std::vector<uint32_t> source;      // the user's line, as src/retrograd/sources.py numbers it; 0 unknown
  std::vector<Id> roots;             // the result, then what the guards compare
  std::vector<const Value*> values;  // of each node of the tape, for those who look inside; to be compared only

  size_t size() const { return rows.size(); }
  std::span<const Id> operands_of(size_t node) const {
    return {operands.data() + first[node], operands.data() + first[node + 1]};
  }
  // Appends a node; its operands must exist.
  Id add(uint16_t row, std::span<const Id> of, uint32_t source_line, uint32_t more = 0);
  Id literal(double number);
};

// A node whose value is one of several: chosen by the index argument in `slot`, or the first largest or smallest.
struct Selection {
  Value* node;
  uint16_t row;  // ROW_SELECT, ROW_FIRST_MAX or ROW_FIRST_MIN
  uint32_t slot;
  std::vector<Value*> candidates;
  const void* shared;  // the same for selections from one tuple of candidates, which holds a reference to each
};

// Reads everything that `roots` depend on from the tape. Leaves that nothing outside the graph can reach any more are
// numbers of the program: they become literals, unless they are among `inputs`, which come first among the leaves.
// Besides the graph itself, the caller holds one reference to each root, two to the first, and those of `selections`.
// Throws Unsupported for nodes that a user made, and for those that were there before the position `since`.
Graph lift(std::span<Value* const> roots, std::span<Value* const> inputs, std::span<const Selection> selections,
           uint64_t since);

// The same graph in fewer rows: mean, prod, logsumexp and softmax become what they are computed from, by formulas that
// neither overflow nor divide by zero where the originals do not; a division by a literal power of two becomes a
// multiplication. `renamed`, if given, gets what each node is called in the new graph.
Graph expand(const Graph& graph, std::vector<Id>* renamed = nullptr);

}  // namespace retrograd::compiler
