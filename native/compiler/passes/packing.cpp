#include "compiler/passes/packing.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "ops/op_traits.hpp"

namespace retrograd::compiler {
namespace {

std::vector<bool> active_nodes(const Graph& graph, const Terms& terms, const LeafLayout& leaves) {
  std::vector<bool> active(graph.size());
  const auto is_active = [&](Id id) {
    if (id.is_node()) return bool(active[id.index()]);
    return id.is_leaf() && leaves.locations[id.index()].active;
  };
  for (size_t term = 0; term < terms.size(); ++term) {
    auto operands = terms.operands_of(term);
    bool any = false;
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool differentiable = terms.kinds[term] != Kind::MAP || kTraits[terms.rows[term]].differentiable[i];
      any |= differentiable && is_active(operands[i]);
    }
    active[terms.results[term]] = any && terms.rows[term] != ROW_LARGEST;
  }
  // A node that depends on a parameter but does not reach the result needs no gradient.
  std::vector<bool> reaches(graph.size());
  if (graph.roots[0].is_node()) reaches[graph.roots[0].index()] = true;
  for (size_t term = terms.size(); term-- > 0;) {
    const uint32_t result = terms.results[term];
    if (!active[result] || !reaches[result]) {
      active[result] = false;
      continue;
    }
    auto operands = terms.operands_of(term);
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool differentiable = terms.kinds[term] != Kind::MAP || kTraits[terms.rows[term]].differentiable[i];
      if (differentiable && operands[i].is_node()) reaches[operands[i].index()] = true;
    }
  }
  return active;
}

// A list scheduler for irregular graphs. Each step takes all terms of one kind whose operands are available, whatever
// their level. It ignores the kinds of the operands, because lists of addresses can name any operand.
class ListScheduler {
 public:
  ListScheduler(const Terms& terms, const std::vector<PackKey>& keys, size_t nodes)
      : terms_(terms), wanted_(terms.size()) {
    number_kinds(keys);
    find_readers(nodes);
  }

  // The step at which each term is scheduled.
  std::vector<uint32_t> run() {
    std::vector<uint32_t> steps(terms_.size());
    for (uint32_t term = 0; term < terms_.size(); ++term) {
      if (wanted_[term] == 0) make_ready(term);
    }
    uint32_t turn = 0, kind = 0;
    while (!waiting_.empty()) {
      const auto next = waiting_.lower_bound(kind);
      kind = next == waiting_.end() ? *waiting_.begin() : *next;
      waiting_.erase(kind);
      for (const uint32_t term : std::exchange(ready_[kind], {})) {
        steps[term] = turn;
        for (uint32_t i = first_[term]; i < first_[term + 1]; ++i) {
          if (--wanted_[readers_[i]] == 0) make_ready(readers_[i]);
        }
      }
      ++kind;
      ++turn;
    }
    return steps;
  }

 private:
  void number_kinds(const std::vector<PackKey>& keys) {
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> numbers;
    kind_.resize(keys.size());
    for (const PackKey& key : keys) {
      const auto next = static_cast<uint32_t>(numbers.size());
      kind_[key.term] = numbers.try_emplace({key.what, key.number}, next).first->second;
    }
    ready_.resize(numbers.size());
  }

  // Finds the readers of each term's result.
  void find_readers(size_t nodes) {
    std::vector<uint32_t> maker(nodes);
    for (uint32_t term = 0; term < terms_.size(); ++term) maker[terms_.results[term]] = term;
    const auto each_read = [&](auto visit) {
      for (uint32_t term = 0; term < terms_.size(); ++term) {
        for (Id id : terms_.operands_of(term)) {
          if (id.is_node()) visit(term, maker[id.index()]);
        }
      }
    };
    first_.resize(terms_.size() + 1);
    each_read([&](uint32_t, uint32_t read) { ++first_[read + 1]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    readers_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    each_read([&](uint32_t term, uint32_t read) {
      readers_[next[read]++] = term;
      ++wanted_[term];
    });
  }

  void make_ready(uint32_t term) {
    ready_[kind_[term]].push_back(term);
    waiting_.insert(kind_[term]);
  }

  const Terms& terms_;
  std::vector<uint32_t> kind_, wanted_;       // of each term; `wanted_`: how many operands are still missing
  std::vector<uint32_t> first_, readers_;     // the readers of term t begin at first_[t]
  std::vector<std::vector<uint32_t>> ready_;  // of each kind: its terms whose operands are available
  std::set<uint32_t> waiting_;                // kinds with ready terms
};

// Numbers terms by what reads their results, and what reads those: where a branch of the program has sorted the members
// of a pack into two kinds, each kind gets a number, in order of appearance (colour refinement, from the results down).
void number_uses(const Graph& graph, const Terms& terms, std::vector<PackKey>& keys) {
  const auto mixed = [](uint64_t a, uint64_t b) {  // splitmix64
    uint64_t x = a + 0x9e3779b97f4a7c15u * (b + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  std::vector<uint64_t> reads(graph.size());  // a sum: readers have no order
  for (size_t term = terms.size(); term-- > 0;) {
    const PackKey& key = keys[term];
    const uint64_t kind = mixed(mixed(key.level, key.what), mixed(key.operands, key.number));
    const uint64_t own = mixed(kind, reads[terms.results[term]]);
    const auto operands = terms.operands_of(term);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].is_node()) reads[operands[i].index()] += mixed(own, terms.kinds[term] == Kind::MAP ? i : 0);
    }
  }
  std::map<uint64_t, uint32_t> numbers;
  for (PackKey& key : keys) {
    const auto next = static_cast<uint32_t>(numbers.size());
    key.use = numbers.try_emplace(reads[terms.results[key.term]], next).first->second;
  }
}

// By level first, which takes time in proportion to the terms: most levels have few.
void sort(std::vector<PackKey>& keys) {
  uint32_t levels = 0;
  for (const PackKey& key : keys) levels = std::max(levels, key.level + 1);
  std::vector<uint32_t> ends(levels + 1);  // of each level's keys, in the end
  for (const PackKey& key : keys) ++ends[key.level + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<PackKey> sorted(keys.size());
  for (const PackKey& key : keys) sorted[ends[key.level]++] = key;
  size_t begin = 0;
  for (uint32_t level = 0; level < levels; ++level) {
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(begin), sorted.begin() + ends[level]);
    begin = ends[level];
  }
  keys = std::move(sorted);
}

size_t count_packs(const std::vector<PackKey>& keys) {
  size_t count = 0;
  each_stretch(std::span(keys), &PackKey::same_pack, [&](std::span<const PackKey>) { ++count; });
  return count;
}

// In an irregular program, small packs that differ from a larger one only in the kinds of their operands join it: lists
// can name any operand, and each small pack would cost a call. Returns whether anything changed.
bool merge_small_packs(std::vector<PackKey>& keys) {
  constexpr size_t kSmall = 8;  // terms
  std::vector<std::span<PackKey>> groups;
  each_stretch(std::span(keys), &PackKey::same_pack, [&](std::span<PackKey> pack) { groups.push_back(pack); });
  if (!is_irregular(keys.size(), groups.size())) return false;
  bool joined = false;
  for (size_t first = 0, last = 0; first < groups.size(); first = last) {
    const PackKey alike = groups[first][0];
    if (alike.what >> 24 != static_cast<uint32_t>(Kind::MAP)) {
      last = first + 1;
      continue;
    }
    size_t most = first;
    for (; last < groups.size() && groups[last][0].level == alike.level && groups[last][0].what == alike.what; ++last) {
      if (groups[last].size() > groups[most].size()) most = last;
    }
    for (size_t i = first; i < last; ++i) {
      if (groups[i].size() >= kSmall || groups[i][0].number != groups[most][0].number) continue;
      for (PackKey& key : groups[i]) key.operands = groups[most][0].operands;
      joined |= i != most;
    }
  }
  return joined;
}

}  // namespace

size_t Packs::fewest_calls() const {
  size_t calls = 0;
  each_stretch(std::span(keys), &PackKey::same_pack,
               [&](std::span<const PackKey> pack) { calls += 1 + (pack[0].what & 1); });
  return calls;
}

size_t fewest_calls(const Graph& graph, const Terms& terms, const LeafLayout& leaves) {
  const std::vector<bool> active = active_nodes(graph, terms, leaves);
  std::vector<uint32_t> depths(graph.size());  // of active nodes, counted in active terms
  uint32_t levels = 0, depth = 0;
  for (size_t term = 0; term < terms.size(); ++term) {
    levels = std::max(levels, terms.levels[term]);
    const uint32_t result = terms.results[term];
    if (!active[result]) continue;
    for (const Id id : terms.operands_of(term)) {
      if (id.is_node()) depths[result] = std::max(depths[result], depths[id.index()]);
    }
    depth = std::max(depth, ++depths[result]);
  }
  return size_t{levels} + depth;
}

Packs pack_terms(const Graph& graph, const Terms& terms, const LeafLayout& leaves, Schedule schedule) {
  Packs packs{std::vector<PackKey>(terms.size()), active_nodes(graph, terms, leaves)};
  std::vector<PackKey>& keys = packs.keys;
  for (size_t term = 0; term < terms.size(); ++term) {
    auto operands = terms.operands_of(term);
    const Kind kind = terms.kinds[term];
    PackKey& key = keys[term];
    key.level = terms.levels[term];
    key.what = static_cast<uint32_t>(kind) << 24 | static_cast<uint32_t>(terms.rows[term]) << 8 |
               static_cast<uint32_t>(terms.has_init[term]) << 1 |
               static_cast<uint32_t>(packs.active[terms.results[term]]);  // see fewest_calls
    key.arity = static_cast<uint32_t>(operands.size());
    key.term = static_cast<uint32_t>(term);
    key.operands = 0;
    key.number = 0;
    key.use = 0;
    // The kinds of the operands. Of reductions, only the first operand's (or pair's) kind counts.
    const size_t looked_at = kind == Kind::MAP || kind == Kind::DOT ? std::min<size_t>(operands.size(), 3) : size_t{1};
    for (size_t i = 0; i < looked_at; ++i) key.operands = key.operands << 2 | operands[i].kind();
    if (kind == Kind::MAP && terms.rows[term] == ROW_pow && operands[1].is_literal()) {
      key.number = std::bit_cast<uint64_t>(graph.literals[operands[1].index()]);
    }
  }
  if (schedule == Schedule::LIST) {
    const std::vector<uint32_t> steps = ListScheduler(terms, keys, graph.size()).run();
    for (PackKey& key : keys) {
      key.level = steps[key.term];
      key.operands = 0;
    }
  }
  if (schedule == Schedule::BY_USE) number_uses(graph, terms, keys);
  sort(keys);
  if (merge_small_packs(keys)) sort(keys);
  packs.count = count_packs(keys);
  return packs;
}

}  // namespace retrograd::compiler
