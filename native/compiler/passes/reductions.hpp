// Reduction recognition: chains of additions become sums and dot products.
//
// `s = 0; for w, x in ...: s = s + w * x` records thousands of nodes for one dot product. A chain is a sequence of
// additions whose partial sums have no other use. Its products become one DOT and its other terms one SUM. This
// reassociates; exact mode does not use it.
//
// Each term has a level: one more than the highest level among its operands. Leaves and literals have level 0.
#pragma once

#include "compiler/graph/graph.hpp"

namespace retrograd::compiler {

enum class Kind : uint8_t {
  MAP,      // one op of the table on up to three operands
  DOT,      // [init +] x0*y0 + x1*y1 + …
  SUM,      // x0 + x1 + …
  EXTREME,  // the largest or smallest of x0, x1, …
  SELECT,   // one of x0, x1, …, chosen by an index argument
};

struct Terms {
  std::vector<Kind> kinds;
  std::vector<uint16_t> rows;     // of a MAP or EXTREME
  std::vector<uint8_t> has_init;  // of a DOT: its first operand is a start value, added to the products
  std::vector<uint32_t> slots;    // of a SELECT: which index argument
  std::vector<uint32_t> results;  // the graph node that a term computes
  std::vector<uint32_t> first;    // where each term's operands begin; one entry more than there are terms
  std::vector<Id> operands;       // of a DOT: the start value if any, then x0, y0, x1, y1, …
  std::vector<uint32_t> levels;   // see above

  size_t size() const { return kinds.size(); }
  std::span<const Id> operands_of(size_t term) const {
    return {operands.data() + first[term], operands.data() + first[term + 1]};
  }
};

// Terms for what the roots depend on. A chain of fewer than `least` numbers stays a sequence of additions.
Terms terms_of(const Graph& graph, size_t least = 0);

}  // namespace retrograd::compiler
