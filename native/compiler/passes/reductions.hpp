// Terms: the graph with chains of additions gathered into sums and dot products, and a level for each.
//
// `s = 0; for w, x in …: s = s + w * x` is thousands of nodes and one idea. A chain is a run of additions whose partial
// sums nobody else uses; its terms become one DOT (those that are products nobody else uses) and one SUM.
#pragma once

#include "compiler/graph/graph.hpp"

namespace retrograd::compiler {

enum class Kind : uint8_t {
  MAP,      // one row of the op table on up to three operands
  DOT,      // [init +] x0*y0 + x1*y1 + …
  SUM,      // x0 + x1 + …
  EXTREME,  // the largest or smallest of x0, x1, …
  SELECT,   // one of x0, x1, …, by an index argument
};

struct Terms {
  std::vector<Kind> kinds;
  std::vector<uint16_t> rows;     // of a MAP or EXTREME
  std::vector<uint8_t> has_init;  // of a DOT: its first operand is added to the products
  std::vector<uint32_t> slots;    // of a SELECT
  std::vector<uint32_t> results;  // the node of the graph whose value this is
  std::vector<uint32_t> first;    // where operands begin; one more than there are terms
  std::vector<Id> operands;       // of a DOT, after the init, x0, y0, x1, y1, …
  std::vector<uint32_t> levels;   // 1 + the highest level among the operands; leaves and literals have level 0

  size_t size() const { return kinds.size(); }
  std::span<const Id> operands_of(size_t term) const {
    return {operands.data() + first[term], operands.data() + first[term + 1]};
  }
};

// Only what the graph's roots depend on. Chains of fewer than `least` numbers stay additions.
Terms terms_of(const Graph& graph, size_t least = 0);

}  // namespace retrograd::compiler
