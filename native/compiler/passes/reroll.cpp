// From terms to instructions: like terms of one level, or turn, become a group with a region of its own, and the
// addresses of what they read and write become nests of loops.
#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/passes/accesses.hpp"
#include "compiler/passes/loop_recognition.hpp"
#include "compiler/passes/packing.hpp"
#include "compiler/passes/program.hpp"
#include "ops/op_traits.hpp"

namespace retrograd::compiler {
namespace {

class Rerolling {
 public:
  Rerolling(const Graph& graph, const Terms& terms, const Leaves& leaves, Order order)
      : graph_(graph), terms_(terms), leaves_(leaves), order_(order) {}

  Program run() {
    place_leaves();
    program_.literals.resize(graph_.literals.size());
    nodes_.resize(graph_.size());
    active_ = active_nodes(graph_, terms_, leaves_);
    const std::vector<Key> keys = grouped_terms(graph_, terms_, active_, order_);
    for (size_t begin = 0; begin < keys.size();) {
      size_t end = begin;
      while (end < keys.size() && keys[begin].same_group(keys[end])) ++end;
      group(std::span(keys).subspan(begin, end - begin));
      begin = end;
    }
    for (Id root : graph_.roots) program_.roots.push_back(root_place(root));
    program_.nodes.reserve(nodes_.size());
    for (const Place& place : nodes_) program_.nodes.push_back(place.address);
    program_.terms = terms_.size();
    return std::move(program_);
  }

 private:
  // --- memory ---------------------------------------------------------------------------------------------------

  uint32_t add_region(Memory memory, bool active, size_t length, uint32_t store = 0) {
    program_.regions.push_back({memory, active, program_.size, static_cast<uint32_t>(length), store});
    program_.size += static_cast<Address>((length + 7) / 8 * 8);
    return static_cast<uint32_t>(program_.regions.size() - 1);
  }
  Address base_of(uint32_t region) const { return program_.regions[region].base; }

  void place_leaves() {
    std::vector<uint32_t> stores;
    stores.reserve(leaves_.store_sizes.size());
    for (size_t i = 0; i < leaves_.store_sizes.size(); ++i) {
      stores.push_back(add_region(Memory::PARAMETER, true, leaves_.store_sizes[i], static_cast<uint32_t>(i)));
    }
    const uint32_t inputs[] = {add_region(Memory::INPUT, false, leaves_.inactive_inputs),
                               add_region(Memory::INPUT, true, leaves_.active_inputs)};
    for (const LeafPlace& leaf : leaves_.places) {
      const uint32_t region = leaf.memory == Memory::PARAMETER ? stores[leaf.store] : inputs[leaf.active];
      leaf_places_.push_back({region, base_of(region) + leaf.offset});
    }
  }

  Place place_of(Id id) const {
    switch (id.kind()) {
      case Id::LEAF: return leaf_places_[id.index()];
      case Id::LITERAL: return program_.literals[id.index()];
      default: return nodes_[id.index()];
    }
  }

  Place root_place(Id root) {
    if (root.is_literal() && program_.literals[root.index()].address < 0) {
      const uint32_t region = add_region(Memory::LITERAL, false, 1);
      program_.literals[root.index()] = {region, base_of(region)};
    }
    return place_of(root);
  }

  // --- groups ---------------------------------------------------------------------------------------------------

  void group(std::span<const Key> keys) {
    ++program_.groups;
    const uint32_t first = terms_.results[keys[0].term];
    const uint32_t region = add_region(Memory::VALUE, active_[first], keys.size());
    outer_.clear();
    for (size_t begin = 0; begin < keys.size();) {
      size_t end = begin;
      while (end < keys.size() && keys[begin].arity == keys[end].arity) ++end;
      place_members(keys.subspan(begin, end - begin), region, base_of(region) + static_cast<Address>(begin));
      begin = end;
    }
    for (size_t begin = 0, number = 0; begin < keys.size();) {
      size_t end = begin;
      while (end < keys.size() && keys[begin].arity == keys[end].arity) ++end;
      members_ = keys.subspan(begin, end - begin);
      results_.clear();
      for (const Key& key : members_) results_.push_back(nodes_[terms_.results[key.term]]);
      subgroup(outer_[number++]);
      begin = end;
    }
  }

  // The order of members in memory is that of their creation, unless they are a nest of loops with a long outermost
  // one, such as the points of a data set: then that one goes innermost, where vectors run along it.
  void place_members(std::span<const Key> keys, uint32_t region, Address base) {
    const size_t outer = long_outer_loop(keys), inner = keys.size() / outer;
    for (size_t i = 0; i < keys.size(); ++i) {
      const size_t place = outer == 1 ? i : i % inner * outer + i / inner;
      nodes_[terms_.results[keys[i].term]] = {region, base + static_cast<Address>(place)};
    }
    outer_.push_back(outer);
  }

  // How long the outermost loop is, if it is to go innermost; else 1.
  size_t long_outer_loop(std::span<const Key> keys) const {
    constexpr uint32_t kLong = 64;
    if (keys.size() < size_t{2} * kLong || terms_.kinds[keys[0].term] == Kind::SELECT) return 1;
    Rows rows;
    const auto first = terms_.operands_of(keys[0].term);
    std::vector<size_t> looked_at;
    for (size_t i = 0; i < first.size() && i < 3; ++i) {
      if (!first[i].is_literal()) looked_at.push_back(i);
    }
    if (looked_at.empty()) return 1;
    rows.width = rows.regions_width = static_cast<int>(looked_at.size());
    for (const Key& key : keys) {
      for (const size_t i : looked_at) {
        const Id id = terms_.operands_of(key.term)[i];
        if (id.is_literal()) return 1;
        const Place place = place_of(id);
        rows.numbers.push_back(place.address);
        rows.regions.push_back(place.region);
      }
    }
    const std::vector<Nest> nests = find_nests(rows, kRank);
    if (nests.size() != 1 || nests[0].loops.size() < 2 || nests[0].loops[0].length < kLong) return 1;
    return nests[0].loops[0].length;
  }

  std::span<const Id> operands_of(size_t member) const { return terms_.operands_of(members_[member].term); }
  Place result_of(size_t member) const { return results_[member]; }

  // `outer`: how long the members' outermost loop is, if their results lie along it; else 1.
  void subgroup(size_t outer) {
    const size_t term = members_[0].term;
    Instruction blank;
    blank.row = terms_.rows[term];
    blank.source = graph_.source[terms_.results[term]];
    const size_t arity = members_[0].arity;
    switch (terms_.kinds[term]) {
      case Kind::MAP: {
        blank.code = Code::MAP;
        for (size_t i = 0; i < arity; ++i) {
          if (!place_along(i, outer)) place_literals(i, 1, 1);
        }
        std::vector<Side> sides;
        sides.reserve(arity);
        for (size_t i = 0; i < arity; ++i) sides.push_back(side(i, 1, 1));
        return map(blank, sides);
      }
      case Kind::DOT: {
        blank.code = Code::DOT;
        blank.has_init = terms_.has_init[term];
        const size_t init = blank.has_init;
        const size_t pairs = (arity - init) / 2;
        if (pairs == 0) return constant();
        for (size_t i = 0; i < 2; ++i) place_literals(init + i, 2, pairs);
        if (init) place_literals(0, 1, 1);
        std::vector<Side> sides{side(init, 2, pairs), side(init + 1, 2, pairs)};
        if (init) sides.push_back(side(0, 1, 1));
        return reduction(blank, sides, 2);
      }
      case Kind::SUM:
      case Kind::EXTREME: {
        blank.code = terms_.kinds[term] == Kind::SUM ? Code::SUM : Code::EXTREME;
        place_literals(0, 1, arity);
        std::vector<Side> sides{side(0, 1, arity)};
        return reduction(blank, sides, 1);
      }
      case Kind::SELECT: return select(blank);
    }
  }

  [[noreturn]] static void constant() { throw Unsupported("an empty dot product is part of the function"); }

  // --- operands -------------------------------------------------------------------------------------------------

  // Gives the literals that operand i of each member is a place along the long outer loop, as the members' results lie;
  // rows that several members read one after the other, as each cluster reads a point, are there once. False when there
  // is no such loop, or place_literals does better.
  bool place_along(size_t i, size_t outer) {
    if (outer == 1) return false;
    std::vector<uint32_t> literals;
    std::vector<double> numbers;
    for (size_t m = 0; m < members_.size(); ++m) {
      const Id id = operands_of(m)[i];
      if (!id.is_literal() || program_.literals[id.index()].address >= 0) return false;
      literals.push_back(id.index());
      numbers.push_back(graph_.literals[id.index()]);
    }
    Repeats repeats = repeats_of(numbers);
    if (repeats.block == numbers.size()) return false;
    const size_t inner = numbers.size() / outer;
    if (inner % repeats.block != 0) repeats = {};
    const size_t kept = inner / repeats.block * repeats.width;
    const uint32_t region = add_region(Memory::LITERAL, false, outer * kept);
    for (size_t m = 0; m < literals.size(); ++m) {
      const size_t one = m / repeats.block * repeats.width + m % repeats.block % repeats.width;
      program_.literals[literals[m]] = {region,
                                        base_of(region) + static_cast<Address>(one % kept * outer + one / kept)};
    }
    return true;
  }

  // Gives the literals among operands first, first + step, … (`count` of them) of each member a place: side by side,
  // and once only where a member has the same numbers as the one before it, as the neurons of a layer do.
  void place_literals(size_t first, size_t step, size_t count) {
    std::vector<uint32_t> fresh, before;
    bool all = true, same = true;
    for (size_t m = 0; m < members_.size(); ++m) {
      auto operands = operands_of(m);
      for (size_t k = 0; k < count; ++k) {
        const Id id = operands[first + k * step];
        if (id.is_literal() && program_.literals[id.index()].address < 0) {
          fresh.push_back(id.index());
          same &= same_bits(graph_.literals[id.index()], graph_.literals[fresh[0]]);
        } else {
          all = false;
        }
      }
    }
    if (fresh.empty()) return;
    const size_t width = all ? count : 1;
    const bool share = same || (all && count > 1);
    std::vector<Address> offsets(fresh.size());
    Address length = 0;
    for (size_t i = 0; i < fresh.size(); i += width) {
      const bool repeated = share && i > 0 && equal_numbers(fresh, i, i - width, width);
      if (!repeated) length += static_cast<Address>(width);
      for (size_t k = 0; k < width; ++k)
        offsets[i + k] = length - static_cast<Address>(width) + static_cast<Address>(k);
    }
    if (length == 0) return;
    const uint32_t region = add_region(Memory::LITERAL, false, static_cast<size_t>(length));
    for (size_t i = 0; i < fresh.size(); ++i) program_.literals[fresh[i]] = {region, base_of(region) + offsets[i]};
  }

  bool equal_numbers(const std::vector<uint32_t>& literals, size_t i, size_t j, size_t count) const {
    for (size_t k = 0; k < count; ++k) {
      if (!same_bits(graph_.literals[literals[i + k]], graph_.literals[literals[j + k]])) return false;
    }
    return true;
  }

  Side side(size_t first, size_t step, size_t count) const {
    Side result{count, {}};
    result.places.reserve(members_.size() * count);
    for (size_t m = 0; m < members_.size(); ++m) {
      auto operands = operands_of(m);
      for (size_t k = 0; k < count; ++k) result.places.push_back(place_of(operands[first + k * step]));
    }
    return result;
  }

  // --- instructions ---------------------------------------------------------------------------------------------

  size_t few(size_t width) const { return std::max<size_t>(4, members_.size() * width / 24); }

  Rows rows_of(std::span<const Side* const> sides) const {
    Rows rows;
    rows.width = static_cast<int>(sides.size()) + 1;
    rows.regions_width = static_cast<int>(sides.size());
    rows.numbers.reserve(members_.size() * static_cast<size_t>(rows.width));
    for (size_t m = 0; m < members_.size(); ++m) {
      rows.numbers.push_back(result_of(m).address);
      for (const Side* side : sides) {
        rows.numbers.push_back(side->at(m).address);
        rows.regions.push_back(side->at(m).region);
      }
    }
    return rows;
  }

  std::vector<Nest> nests_of(std::span<const Side* const> sides, int depth) const {
    return find_nests(rows_of(sides), depth);
  }

  static int32_t stride_of(int64_t step) {
    if (step > INT32_MAX || step < INT32_MIN) throw Unsupported("the function needs more memory than can be addressed");
    return static_cast<int32_t>(step);
  }

  // One instruction for each nest; `inner` are the loops that are summed over.
  void emit(const Instruction& blank, std::span<const Side* const> sides, const std::vector<Nest>& nests,
            const std::vector<Loop>& inner) {
    for (const Nest& nest : nests) {
      Instruction instruction = blank;
      instruction.operands = static_cast<uint8_t>(sides.size());
      instruction.rank = static_cast<uint8_t>(nest.loops.size() + inner.size());
      instruction.reduced = static_cast<uint8_t>(inner.size());
      instruction.terms = 1;
      instruction.result.region = result_of(nest.start).region;
      instruction.result.base = result_of(nest.start).address;
      for (size_t i = 0; i < sides.size(); ++i) {
        instruction.views[i].region = sides[i]->at(nest.start).region;
        instruction.views[i].base = sides[i]->at(nest.start).address;
      }
      for (size_t l = 0; l < nest.loops.size(); ++l) {
        instruction.sizes[l] = nest.loops[l].length;
        instruction.terms *= nest.loops[l].length;
        instruction.result.strides[l] = stride_of(nest.loops[l].step[0]);
        for (size_t i = 0; i < sides.size(); ++i)
          instruction.views[i].strides[l] = stride_of(nest.loops[l].step[i + 1]);
      }
      for (size_t l = 0; l < inner.size(); ++l) {
        instruction.sizes[nest.loops.size() + l] = inner[l].length;
        for (size_t i = 0; i < sides.size() && i < 2; ++i) {
          instruction.views[i].strides[nest.loops.size() + l] = stride_of(inner[l].step[i]);
        }
      }
      program_.instructions.push_back(instruction);
    }
  }

  void map(const Instruction& blank, const std::vector<Side>& sides) {
    std::vector<const Side*> all;
    all.reserve(sides.size());
    for (const Side& side : sides) all.push_back(&side);
    const std::vector<Nest> nests = nests_of(all, kRank);
    if (nests.size() <= few(1)) return emit(blank, all, nests, {});
    Instruction instruction = blank;
    instruction.code = Code::INDEXED;
    instruction.rank = 1;
    instruction.operands = static_cast<uint8_t>(sides.size());
    instruction.terms = instruction.sizes[0] = static_cast<uint32_t>(members_.size());
    std::vector<size_t> order(members_.size());  // that of the results in memory
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return result_of(a).address < result_of(b).address; });
    instruction.result = {result_of(order[0]).region, result_of(order[0]).address, {1}};
    for (size_t i = 0; i < sides.size(); ++i) {
      instruction.views[i] = {kNoRegion, static_cast<Address>(program_.pool.size()), {1}};
      for (const size_t m : order) program_.pool.push_back(stride_of(sides[i].at(m).address));
    }
    program_.instructions.push_back(instruction);
  }

  // Copies what a side reads into a region of its own, side by side; if `shared`, once only for members that read the
  // same, which may leave them in no order.
  void collect(Side& side, bool shared = true) {
    std::map<std::vector<Address>, size_t> numbers;
    std::vector<size_t> of_member;
    std::vector<int32_t> addresses;
    bool any = false;
    for (size_t m = 0; m * side.width < side.places.size(); ++m) {
      std::vector<Address> row;
      row.reserve(side.width);
      for (size_t k = 0; k < side.width; ++k) row.push_back(side.at(m, k).address);
      if (shared) {
        const auto [found, fresh] = numbers.try_emplace(std::move(row), numbers.size());
        of_member.push_back(found->second);
        if (!fresh) continue;
      } else {
        of_member.push_back(m);
      }
      for (size_t k = 0; k < side.width; ++k) {
        addresses.push_back(stride_of(side.at(m, k).address));
        any |= program_.regions[side.at(m, k).region].active;
      }
    }
    const uint32_t region = add_region(Memory::VALUE, any, addresses.size());
    Instruction gather;
    gather.code = Code::GATHER;
    gather.rank = 1;
    gather.operands = 1;
    gather.sizes[0] = static_cast<uint32_t>(addresses.size());
    gather.source = graph_.source[terms_.results[members_[0].term]];
    gather.result = {region, base_of(region), {1}};
    gather.views[0] = {kNoRegion, static_cast<Address>(program_.pool.size()), {1}};
    program_.pool.insert(program_.pool.end(), addresses.begin(), addresses.end());
    for (size_t m = 0; m < of_member.size(); ++m) {
      for (size_t k = 0; k < side.width; ++k) {
        side.places[m * side.width + k] = {region,
                                           base_of(region) + static_cast<Address>(of_member[m] * side.width + k)};
      }
    }
    program_.instructions.push_back(gather);
  }

  // A sum as the sum of its parts, each of which has a region of its own.
  void in_parts(const Instruction& blank, const std::vector<Side>& sides, size_t summed,
                const std::vector<size_t>& part) {
    const size_t parts = *std::max_element(part.begin(), part.end()) + 1;
    const std::vector<Place> results = results_;
    const Place first = *std::min_element(results.begin(), results.end(),
                                          [](const Place& a, const Place& b) { return a.address < b.address; });
    // The places of the members in a new region like that of the results.
    const auto fresh = [&](bool active) {
      const uint32_t region = add_region(Memory::VALUE, active, results.size());
      std::vector<Place> places;
      places.reserve(results.size());
      for (const Place& place : results) places.push_back({region, base_of(region) + place.address - first.address});
      return places;
    };
    Side sofar{1, {}};
    bool active = false;
    for (size_t p = 0; p < parts; ++p) {
      Instruction one = blank;
      one.has_init = blank.has_init && p == 0;
      std::vector<Side> some;
      for (size_t i = 0; i < sides.size(); ++i) {
        if (i < summed) some.push_back(part_of_side(sides[i], part, p));
        if (i >= summed && p == 0) some.push_back(sides[i]);
      }
      bool moves = false;
      for (const Side& side : some) moves |= program_.regions[side.at(0).region].active;
      Side sum{1, fresh(moves)};
      results_ = sum.places;
      reduction(one, some, summed);
      if (p > 0) {
        active |= moves;
        results_ = p + 1 < parts ? fresh(active) : results;
        Instruction both = blank;
        both.code = Code::MAP;
        both.row = ROW_add;
        both.has_init = false;
        map(both, {sofar, sum});
        sum.places = results_;
      }
      active |= moves;
      sofar = std::move(sum);
    }
  }

  // A DOT, SUM or EXTREME; the first `summed` sides are summed over, another is the init.
  void reduction(const Instruction& blank, std::vector<Side>& sides, size_t summed) {
    const std::span<Side> inner_sides = std::span(sides).first(summed);
    if (blank.code != Code::EXTREME) {
      if (const std::vector<size_t> part = parts_of(inner_sides); !part.empty())
        return in_parts(blank, sides, summed, part);
      reorder_sum(inner_sides);
    }
    const bool squares = summed == 2 && sides[0] == sides[1];
    for (Side& side : inner_sides) {
      if (squares && &side == &sides[1]) {  // the same numbers are collected once
        side = sides[0];
        break;
      }
      const bool regular = one_pattern(side);
      const std::vector<Nest> nests = regular ? pattern_of({&side, 1}) : std::vector<Nest>();
      // The kernel of an EXTREME walks along one loop.
      if (nests.size() != 1 || (blank.code == Code::EXTREME && nests[0].loops.size() > 1)) collect(side);
    }
    if (pattern_of(inner_sides).size() > 1) collect(inner_sides.back());
    std::vector<Nest> pattern = pattern_of(inner_sides);
    if (pattern.size() > 1) {
      collect(inner_sides.front());
      pattern = pattern_of(inner_sides);
    }
    std::vector<Loop> inner = pattern[0].loops;
    if (inner.empty()) inner.push_back({1, {}});

    std::vector<const Side*> all;
    all.reserve(sides.size());
    for (const Side& side : sides) all.push_back(&side);
    const int depth = kRank - static_cast<int>(inner.size());
    std::vector<Nest> nests = nests_of(all, depth);
    if (nests.size() > few(sides[0].width)) {
      for (Side& side : sides) {
        const Side* one[] = {&side};
        if (nests_of(one, depth).size() <= few(sides[0].width)) continue;
        collect(side, false);
        // Its numbers now stand side by side, whatever the pattern was.
        if (&side - sides.data() < static_cast<std::ptrdiff_t>(summed)) {
          return reduction(blank, sides, summed);
        }
      }
      nests = nests_of(all, depth);
    }
    emit(blank, all, nests, inner);
  }

  void select(Instruction blank) {
    blank.code = Code::SELECT;
    const size_t count = members_[0].arity;
    blank.limit = static_cast<uint32_t>(count);
    place_literals(0, 1, count);
    Side candidates = side(0, 1, count);
    Side slots{1, {}};
    for (size_t m = 0; m < members_.size(); ++m) {
      const uint32_t slot = terms_.slots[members_[m].term];
      slots.places.push_back({kNoRegion, slot});
      if (slot >= program_.index_limits.size()) program_.index_limits.resize(slot + 1);
      uint32_t& limit = program_.index_limits[slot];
      limit = limit ? std::min(limit, blank.limit) : blank.limit;
    }
    const int64_t stride = count > 1 ? candidates.at(0, 1).address - candidates.at(0).address : 0;
    bool regular = one_pattern(candidates);
    for (size_t k = 1; k < count && regular; ++k) {
      regular = candidates.at(0, k).address - candidates.at(0, k - 1).address == stride;
    }
    Side first{1, {}};
    if (regular) {
      blank.stride = stride_of(stride);
      for (size_t m = 0; m < members_.size(); ++m) first.places.push_back(candidates.at(m));
    } else {
      blank.through_pool = true;
      for (size_t m = 0; m < members_.size(); ++m) {
        first.places.push_back({kNoRegion, static_cast<Address>(program_.pool.size())});
        for (size_t k = 0; k < count; ++k) program_.pool.push_back(stride_of(candidates.at(m, k).address));
      }
    }
    const Side* all[] = {&first, &slots};
    emit(blank, all, nests_of(all, kRank), {});
  }

  const Graph& graph_;
  const Terms& terms_;
  const Leaves& leaves_;
  const Order order_;
  Program program_;
  std::vector<Place> leaf_places_;
  std::vector<Place> nodes_;
  std::vector<bool> active_;
  std::span<const Key> members_;
  std::vector<Place> results_;  // of each member
  std::vector<size_t> outer_;   // of each subgroup
};

}  // namespace

Program reroll(const Graph& graph, const Terms& terms, const Leaves& leaves, Order order) {
  return Rerolling(graph, terms, leaves, order).run();
}

}  // namespace retrograd::compiler
