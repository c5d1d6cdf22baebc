#include "groups.hpp"

#include <algorithm>
#include <bit>

#include "rows.hpp"

namespace retrograd::compiler {

std::vector<bool> active_nodes(const Graph& graph, const Terms& terms, const Leaves& leaves) {
  std::vector<bool> active(graph.size());
  const auto is_active = [&](Id id) {
    if (id.is_node()) return bool(active[id.index()]);
    return id.is_leaf() && leaves.places[id.index()].active;
  };
  for (size_t term = 0; term < terms.size(); ++term) {
    auto operands = terms.operands_of(term);
    bool any = false;
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool flows = terms.kinds[term] != Kind::MAP || kFacts[terms.rows[term]].flows[i];
      any |= flows && is_active(operands[i]);
    }
    active[terms.results[term]] = any && terms.rows[term] != ROW_LARGEST;
  }
  // What depends on a parameter and does not reach the result needs no gradient.
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
      const bool flows = terms.kinds[term] != Kind::MAP || kFacts[terms.rows[term]].flows[i];
      if (flows && operands[i].is_node()) reaches[operands[i].index()] = true;
    }
  }
  return active;
}

namespace {

// In a large program without a pattern, a few terms that differ from many in the kinds of their operands join those:
// lists name any operand, and a call for each of the few would cost more. Whether it changed anything.
bool join_small_groups(std::vector<Key>& keys) {
  constexpr size_t kLarge = 10'000, kWithoutPattern = 64, kSmall = 8;  // terms; terms a group
  std::vector<std::span<Key>> groups;
  for (size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[begin].same_group(keys[end])) ++end;
    groups.push_back(std::span(keys).subspan(begin, end - begin));
  }
  if (keys.size() < kLarge || groups.size() * kWithoutPattern < keys.size()) return false;
  bool joined = false;
  for (size_t first = 0, last = 0; first < groups.size(); first = last) {
    const Key alike = groups[first][0];
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
      for (Key& key : groups[i]) key.operands = groups[most][0].operands;
      joined |= i != most;
    }
  }
  return joined;
}

}  // namespace

std::vector<Key> grouped_terms(const Graph& graph, const Terms& terms, const std::vector<bool>& active) {
  std::vector<Key> keys(terms.size());
  for (size_t term = 0; term < terms.size(); ++term) {
    auto operands = terms.operands_of(term);
    const Kind kind = terms.kinds[term];
    Key& key = keys[term];
    key.level = terms.levels[term];
    key.what = static_cast<uint32_t>(kind) << 24 | static_cast<uint32_t>(terms.rows[term]) << 8 |
               static_cast<uint32_t>(terms.has_init[term]) << 1 | static_cast<uint32_t>(active[terms.results[term]]);
    key.arity = static_cast<uint32_t>(operands.size());
    key.term = static_cast<uint32_t>(term);
    key.operands = 0;
    key.number = 0;
    // The kinds of the operands; of those that are summed over, the first one's, or the first pair's.
    const size_t looked_at = kind == Kind::MAP || kind == Kind::DOT ? std::min<size_t>(operands.size(), 3) : size_t{1};
    for (size_t i = 0; i < looked_at; ++i) key.operands = key.operands << 2 | operands[i].kind();
    if (kind == Kind::MAP && terms.rows[term] == ROW_pow && operands[1].is_literal()) {
      key.number = std::bit_cast<uint64_t>(graph.literals[operands[1].index()]);
    }
  }
  std::sort(keys.begin(), keys.end());
  if (join_small_groups(keys)) std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace retrograd::compiler
