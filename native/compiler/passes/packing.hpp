// Which terms do the same to different numbers: those of a group have a region of their own, and become instructions
// together (reroll.cpp).
#pragma once

#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// For each node of the graph, whether a gradient is wanted of it: it depends on what one is wanted of, and the result
// depends on it.
std::vector<bool> active_nodes(const Graph& graph, const Terms& terms, const LeafLayout& leaves);

// Terms with equal keys form a group.
struct PackKey {
  uint32_t level;     // or turn
  uint32_t what;      // kind, row, init, whether a gradient is wanted
  uint32_t operands;  // what kinds of operands
  uint32_t arity;     // how many operands; not part of the group, but of the order in it
  uint64_t number;    // a literal exponent
  uint32_t term;

  bool same_pack(const PackKey& other) const {
    return level == other.level && what == other.what && operands == other.operands && number == other.number;
  }
  friend auto operator<=>(const PackKey& a, const PackKey& b) {
    if (auto c = a.level <=> b.level; c != 0) return c;
    if (auto c = a.what <=> b.what; c != 0) return c;
    if (auto c = a.operands <=> b.operands; c != 0) return c;
    if (auto c = a.number <=> b.number; c != 0) return c;
    if (auto c = a.arity <=> b.arity; c != 0) return c;
    return a.term <=> b.term;
  }
};

// A key for each term, in an order in which groups are together, and operands come before results.
std::vector<PackKey> pack_terms(const Graph& graph, const Terms& terms, const std::vector<bool>& active,
                                Schedule schedule);

}  // namespace retrograd::compiler
