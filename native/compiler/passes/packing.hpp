// Packing of isomorphic terms, as in superword-level parallelism (Larsen & Amarasinghe, PLDI 2000). Terms that apply
// the same op to operands of the same kind form a pack. Each pack gets a region of its own, and reroll.cpp turns it
// into instructions.
#pragma once

#include <algorithm>
#include <compare>
#include <functional>
#include <span>

#include "compiler/passes/program.hpp"

namespace retrograd::compiler {

// How packs are scheduled: by level (terms of one pack have the same level); by level, and in a pack terms that are
// read alike stand together; or, for irregular graphs, by a list scheduler that emits a kind of term when its operands
// are available.
enum class Schedule { BY_LEVEL, BY_USE, LIST };

// Terms with equal keys form a pack.
struct PackKey {
  uint32_t level;     // or step of the list schedule
  uint32_t what;      // kind of term, op, start value, activity
  uint32_t operands;  // kinds of the operands
  uint64_t number;    // a literal exponent
  // What follows is not part of the pack's identity, but of the order in it.
  uint32_t arity;  // number of operands
  uint32_t use;    // terms that are read alike have the same; 0 unless the schedule is BY_USE
  uint32_t term;

  bool same_pack(const PackKey& other) const {
    return level == other.level && what == other.what && operands == other.operands && number == other.number;
  }
  bool same_arity(const PackKey& other) const { return arity == other.arity; }
  friend auto operator<=>(const PackKey&, const PackKey&) = default;  // by all of that, in this order
};

// Calls visit(some) for each stretch of keys that are all alike.
template <class Key, class Alike, class Visit>
void each_stretch(std::span<Key> keys, Alike alike, Visit visit) {
  for (size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && std::invoke(alike, keys[begin], keys[end])) ++end;
    visit(keys.subspan(begin, end - begin));
  }
}

struct Packs {
  std::vector<PackKey> keys;  // one for each term, sorted so that packs are contiguous and operands come before results
  // Activity analysis: the nodes that need a gradient, because they depend on something that a gradient is wanted of
  // and the result depends on them.
  std::vector<bool> active;
  size_t count = 0;

  // How many kernel calls they become at least: one for each pack, and one more where its results have gradients.
  size_t fewest_calls() const;

  // Whether the same terms stand in the same order.
  bool same_order(const Packs& other) const {
    return std::equal(keys.begin(), keys.end(), other.keys.begin(), other.keys.end(),
                      [](const PackKey& a, const PackKey& b) { return a.term == b.term && a.same_pack(b); });
  }
};

// How many kernel calls terms become at least, in whatever order: terms that need each other are in different packs.
size_t fewest_calls(const Graph& graph, const Terms& terms, const LeafLayout& leaves);

Packs pack_terms(const Graph& graph, const Terms& terms, const LeafLayout& leaves,
                 Schedule schedule = Schedule::BY_LEVEL);

Program reroll(const Graph& graph, const Terms& terms, const LeafLayout& leaves, const Packs& packs);

}  // namespace retrograd::compiler
