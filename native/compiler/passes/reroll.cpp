// Loop rerolling (compare LLVM's LoopReroll pass): the lanes of each pack become the iterations of loop nests, found
// from the addresses that they read and write. A pack whose addresses form no pattern becomes an INDEXED instruction,
// or a GATHER before it.
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

class Reroller {
 public:
  Reroller(const Graph& graph, const Terms& terms, const LeafLayout& leaves, const Packs& packs)
      : graph_(graph), terms_(terms), leaves_(leaves), packs_(packs) {}

  Program run() {
    locate_leaves();
    program_.literals.resize(graph_.literals.size());
    nodes_.resize(graph_.size());
    program_.groups = packs_.count;
    program_.instructions.reserve(packs_.count);
    each_stretch(std::span(packs_.keys), &PackKey::same_pack, [&](std::span<const PackKey> keys) { pack(keys); });
    for (Id root : graph_.roots) program_.roots.push_back(root_location(root));
    program_.nodes.reserve(nodes_.size());
    for (const Location& place : nodes_) program_.nodes.push_back(place.address);
    program_.terms = terms_.size();
    return std::move(program_);
  }

 private:
  // --- memory ---------------------------------------------------------------------------------------------------

  uint32_t add_region(RegionKind kind, bool active, size_t length, uint32_t buffer = 0) {
    program_.regions.push_back({kind, active, program_.size, static_cast<uint32_t>(length), buffer});
    program_.size += static_cast<Address>((length + 7) / 8 * 8);
    return static_cast<uint32_t>(program_.regions.size() - 1);
  }
  Address base_of(uint32_t region) const { return program_.regions[region].base; }

  void locate_leaves() {
    std::vector<uint32_t> buffers;
    buffers.reserve(leaves_.buffer_sizes.size());
    for (size_t i = 0; i < leaves_.buffer_sizes.size(); ++i) {
      buffers.push_back(add_region(RegionKind::PARAMETER, true, leaves_.buffer_sizes[i], static_cast<uint32_t>(i)));
    }
    const uint32_t inputs[] = {add_region(RegionKind::INPUT, false, leaves_.inactive_inputs),
                               add_region(RegionKind::INPUT, true, leaves_.active_inputs)};
    for (const LeafLocation& leaf : leaves_.locations) {
      const uint32_t region = leaf.kind == RegionKind::PARAMETER ? buffers[leaf.buffer] : inputs[leaf.active];
      leaf_locations_.push_back({region, base_of(region) + leaf.offset});
    }
  }

  Location location_of(Id id) const {
    switch (id.kind()) {
      case Id::LEAF: return leaf_locations_[id.index()];
      case Id::LITERAL: return program_.literals[id.index()];
      default: return nodes_[id.index()];
    }
  }

  Location root_location(Id root) {
    if (root.is_literal() && program_.literals[root.index()].address < 0) {
      const uint32_t region = add_region(RegionKind::LITERAL, false, 1);
      program_.literals[root.index()] = {region, base_of(region)};
    }
    return location_of(root);
  }

  // --- packs ----------------------------------------------------------------------------------------------------

  void pack(std::span<const PackKey> keys) {
    const uint32_t first = terms_.results[keys[0].term];
    const uint32_t region = add_region(RegionKind::VALUE, packs_.active[first], keys.size());
    outer_.clear();
    Address base = base_of(region);
    each_stretch(keys, &PackKey::same_arity, [&](std::span<const PackKey> lanes) {
      locate_lanes(lanes, region, base);
      base += static_cast<Address>(lanes.size());
    });
    size_t number = 0;
    each_stretch(keys, &PackKey::same_arity, [&](std::span<const PackKey> lanes) {
      lanes_ = lanes;
      results_.clear();
      for (const PackKey& key : lanes_) results_.push_back(nodes_[terms_.results[key.term]]);
      pack_of_arity(outer_[number++]);
    });
  }

  // Lanes lie in memory in order of creation. Exception: if they form a loop nest with a long outermost loop (such as
  // the points of a data set), that loop goes innermost in memory, so that vectors run along it.
  void locate_lanes(std::span<const PackKey> keys, uint32_t region, Address base) {
    const size_t outer = long_outer_loop(keys), inner = keys.size() / outer;
    for (size_t i = 0; i < keys.size(); ++i) {
      const size_t place = outer == 1 ? i : i % inner * outer + i / inner;
      nodes_[terms_.results[keys[i].term]] = {region, base + static_cast<Address>(place)};
    }
    outer_.push_back(outer);
  }

  // The length of the outermost loop, if it should go innermost in memory; else 1.
  size_t long_outer_loop(std::span<const PackKey> keys) const {
    constexpr uint32_t kLong = 64;
    if (keys.size() < size_t{2} * kLong || terms_.kinds[keys[0].term] == Kind::SELECT) return 1;
    AddressTable rows;
    const auto first = terms_.operands_of(keys[0].term);
    std::vector<size_t> looked_at;
    for (size_t i = 0; i < first.size() && i < 3; ++i) {
      if (!first[i].is_literal()) looked_at.push_back(i);
    }
    if (looked_at.empty()) return 1;
    rows.width = rows.regions_width = static_cast<int>(looked_at.size());
    for (const PackKey& key : keys) {
      for (const size_t i : looked_at) {
        const Id id = terms_.operands_of(key.term)[i];
        if (id.is_literal()) return 1;
        const Location place = location_of(id);
        rows.numbers.push_back(place.address);
        rows.regions.push_back(place.region);
      }
    }
    const std::vector<LoopNest> nests = find_nests(rows, kRank);
    if (nests.size() != 1 || nests[0].loops.size() < 2 || nests[0].loops[0].length < kLong) return 1;
    return nests[0].loops[0].length;
  }

  std::span<const Id> operands_of(size_t member) const { return terms_.operands_of(lanes_[member].term); }
  Location result_of(size_t member) const { return results_[member]; }

  // `outer`: the length of the lanes' outermost loop, if results lie along it; else 1.
  void pack_of_arity(size_t outer) {
    const size_t term = lanes_[0].term;
    Instruction prototype;
    prototype.row = terms_.rows[term];
    prototype.source = graph_.source[terms_.results[term]];
    const size_t arity = lanes_[0].arity;
    switch (terms_.kinds[term]) {
      case Kind::MAP: {
        prototype.code = Code::MAP;
        for (size_t i = 0; i < arity; ++i) {
          if (!locate_along(i, outer)) locate_literals(i, 1, 1);
        }
        std::vector<OperandAccess> accesses;
        accesses.reserve(arity);
        for (size_t i = 0; i < arity; ++i) accesses.push_back(access(i, 1, 1));
        return map(prototype, accesses);
      }
      case Kind::DOT: {
        prototype.code = Code::DOT;
        prototype.has_init = terms_.has_init[term];
        const size_t init = prototype.has_init;
        const size_t pairs = (arity - init) / 2;
        if (pairs == 0) return constant();
        for (size_t i = 0; i < 2; ++i) locate_literals(init + i, 2, pairs);
        if (init) locate_literals(0, 1, 1);
        std::vector<OperandAccess> accesses{access(init, 2, pairs), access(init + 1, 2, pairs)};
        if (init) accesses.push_back(access(0, 1, 1));
        return reduction(prototype, accesses, 2);
      }
      case Kind::SUM:
      case Kind::EXTREME: {
        prototype.code = terms_.kinds[term] == Kind::SUM ? Code::SUM : Code::EXTREME;
        locate_literals(0, 1, arity);
        std::vector<OperandAccess> accesses{access(0, 1, arity)};
        return reduction(prototype, accesses, 1);
      }
      case Kind::SELECT: return select(prototype);
    }
  }

  [[noreturn]] static void constant() { throw Unsupported("an empty dot product is part of the function"); }

  // --- operands -------------------------------------------------------------------------------------------------

  // Gives operand i's literals an address along the long outer loop, in the order of the results. Numbers that several
  // lanes read alike (as all clusters read a point) are stored once. False if there is no such loop, or locate_literals
  // does better.
  bool locate_along(size_t i, size_t outer) {
    if (outer == 1) return false;
    std::vector<uint32_t> literals;
    std::vector<double> numbers;
    for (size_t m = 0; m < lanes_.size(); ++m) {
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
    const uint32_t region = add_region(RegionKind::LITERAL, false, outer * kept);
    for (size_t m = 0; m < literals.size(); ++m) {
      const size_t one = m / repeats.block * repeats.width + m % repeats.block % repeats.width;
      program_.literals[literals[m]] = {region,
                                        base_of(region) + static_cast<Address>(one % kept * outer + one / kept)};
    }
    return true;
  }

  // Gives the literals among operands first, first + step, … (`count` of them) of each lane an address: side by side,
  // and stored once if a lane has the same numbers as the one before (as the neurons of a layer do).
  void locate_literals(size_t first, size_t step, size_t count) {
    std::vector<uint32_t> fresh, before;
    bool all = true, same = true;
    for (size_t m = 0; m < lanes_.size(); ++m) {
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
    const uint32_t region = add_region(RegionKind::LITERAL, false, static_cast<size_t>(length));
    for (size_t i = 0; i < fresh.size(); ++i) program_.literals[fresh[i]] = {region, base_of(region) + offsets[i]};
  }

  bool equal_numbers(const std::vector<uint32_t>& literals, size_t i, size_t j, size_t count) const {
    for (size_t k = 0; k < count; ++k) {
      if (!same_bits(graph_.literals[literals[i + k]], graph_.literals[literals[j + k]])) return false;
    }
    return true;
  }

  OperandAccess access(size_t first, size_t step, size_t count) const {
    OperandAccess result{count, {}};
    result.locations.reserve(lanes_.size() * count);
    for (size_t m = 0; m < lanes_.size(); ++m) {
      auto operands = operands_of(m);
      for (size_t k = 0; k < count; ++k) result.locations.push_back(location_of(operands[first + k * step]));
    }
    return result;
  }

  // --- instructions ---------------------------------------------------------------------------------------------

  size_t few(size_t width) const { return std::max<size_t>(4, lanes_.size() * width / 24); }

  AddressTable address_table_of(std::span<const OperandAccess* const> accesses) const {
    AddressTable rows;
    rows.width = static_cast<int>(accesses.size()) + 1;
    rows.regions_width = static_cast<int>(accesses.size());
    rows.numbers.reserve(lanes_.size() * static_cast<size_t>(rows.width));
    for (size_t m = 0; m < lanes_.size(); ++m) {
      rows.numbers.push_back(result_of(m).address);
      for (const OperandAccess* access : accesses) {
        rows.numbers.push_back(access->at(m).address);
        rows.regions.push_back(access->at(m).region);
      }
    }
    return rows;
  }

  std::vector<LoopNest> nests_of(std::span<const OperandAccess* const> accesses, int depth) const {
    if (lanes_.size() == 1) return {LoopNest{0, {}}};
    return find_nests(address_table_of(accesses), depth);
  }

  static int32_t stride_of(int64_t step) {
    if (step > INT32_MAX || step < INT32_MIN) throw Unsupported("the function needs more memory than can be addressed");
    return static_cast<int32_t>(step);
  }

  // Emits one instruction for each nest; `inner` are the loops that are summed over.
  void emit(const Instruction& prototype, std::span<const OperandAccess* const> accesses,
            const std::vector<LoopNest>& nests, const std::vector<Loop>& inner) {
    for (const LoopNest& nest : nests) {
      Instruction instruction = prototype;
      instruction.operands = static_cast<uint8_t>(accesses.size());
      instruction.rank = static_cast<uint8_t>(nest.loops.size() + inner.size());
      instruction.reduced = static_cast<uint8_t>(inner.size());
      instruction.terms = 1;
      instruction.result.region = result_of(nest.start).region;
      instruction.result.base = result_of(nest.start).address;
      for (size_t i = 0; i < accesses.size(); ++i) {
        instruction.views[i].region = accesses[i]->at(nest.start).region;
        instruction.views[i].base = accesses[i]->at(nest.start).address;
      }
      for (size_t l = 0; l < nest.loops.size(); ++l) {
        instruction.sizes[l] = nest.loops[l].length;
        instruction.terms *= nest.loops[l].length;
        instruction.result.strides[l] = stride_of(nest.loops[l].step[0]);
        for (size_t i = 0; i < accesses.size(); ++i)
          instruction.views[i].strides[l] = stride_of(nest.loops[l].step[i + 1]);
      }
      for (size_t l = 0; l < inner.size(); ++l) {
        instruction.sizes[nest.loops.size() + l] = inner[l].length;
        for (size_t i = 0; i < accesses.size() && i < 2; ++i) {
          instruction.views[i].strides[nest.loops.size() + l] = stride_of(inner[l].step[i]);
        }
      }
      program_.instructions.push_back(instruction);
    }
  }

  void map(const Instruction& prototype, const std::vector<OperandAccess>& accesses) {
    std::vector<const OperandAccess*> all;
    all.reserve(accesses.size());
    for (const OperandAccess& access : accesses) all.push_back(&access);
    const std::vector<LoopNest> nests = nests_of(all, kRank);
    if (nests.size() <= few(1)) return emit(prototype, all, nests, {});
    Instruction instruction = prototype;
    instruction.code = Code::INDEXED;
    instruction.rank = 1;
    instruction.operands = static_cast<uint8_t>(accesses.size());
    instruction.terms = instruction.sizes[0] = static_cast<uint32_t>(lanes_.size());
    std::vector<size_t> order(lanes_.size());  // that of the results in memory
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return result_of(a).address < result_of(b).address; });
    instruction.result = {result_of(order[0]).region, result_of(order[0]).address, {1}};
    for (size_t i = 0; i < accesses.size(); ++i) {
      instruction.views[i] = {kNoRegion, static_cast<Address>(program_.pool.size()), {1}};
      for (const size_t m : order) program_.pool.push_back(stride_of(accesses[i].at(m).address));
    }
    program_.instructions.push_back(instruction);
  }

  // Gathers an operand into a contiguous region. If `shared`, lanes that read the same addresses share one copy, which
  // may leave the lanes in no order.
  void gather_operand(OperandAccess& access, bool shared = true) {
    std::map<std::vector<Address>, size_t> numbers;
    std::vector<size_t> of_member;
    std::vector<int32_t> addresses;
    bool any = false;
    for (size_t m = 0; m * access.width < access.locations.size(); ++m) {
      std::vector<Address> row;
      row.reserve(access.width);
      for (size_t k = 0; k < access.width; ++k) row.push_back(access.at(m, k).address);
      if (shared) {
        const auto [found, fresh] = numbers.try_emplace(std::move(row), numbers.size());
        of_member.push_back(found->second);
        if (!fresh) continue;
      } else {
        of_member.push_back(m);
      }
      for (size_t k = 0; k < access.width; ++k) {
        addresses.push_back(stride_of(access.at(m, k).address));
        any |= program_.regions[access.at(m, k).region].active;
      }
    }
    const uint32_t region = add_region(RegionKind::VALUE, any, addresses.size());
    Instruction gather;
    gather.code = Code::GATHER;
    gather.rank = 1;
    gather.operands = 1;
    gather.sizes[0] = static_cast<uint32_t>(addresses.size());
    gather.source = graph_.source[terms_.results[lanes_[0].term]];
    gather.result = {region, base_of(region), {1}};
    gather.views[0] = {kNoRegion, static_cast<Address>(program_.pool.size()), {1}};
    program_.pool.insert(program_.pool.end(), addresses.begin(), addresses.end());
    for (size_t m = 0; m < of_member.size(); ++m) {
      for (size_t k = 0; k < access.width; ++k) {
        access.locations[m * access.width + k] = {
            region, base_of(region) + static_cast<Address>(of_member[m] * access.width + k)};
      }
    }
    program_.instructions.push_back(gather);
  }

  // Emits a sum as the sum of its parts (split_by_region), each with a region of its own.
  void reduction_in_parts(const Instruction& prototype, const std::vector<OperandAccess>& accesses, size_t summed,
                          const std::vector<size_t>& part) {
    const size_t parts = *std::max_element(part.begin(), part.end()) + 1;
    const std::vector<Location> results = results_;
    const Location first = *std::min_element(
        results.begin(), results.end(), [](const Location& a, const Location& b) { return a.address < b.address; });
    // Addresses for the lanes in a new region, laid out like the results.
    const auto fresh = [&](bool active) {
      const uint32_t region = add_region(RegionKind::VALUE, active, results.size());
      std::vector<Location> locations;
      locations.reserve(results.size());
      for (const Location& place : results)
        locations.push_back({region, base_of(region) + place.address - first.address});
      return locations;
    };
    OperandAccess sofar{1, {}};
    bool active = false;
    for (size_t p = 0; p < parts; ++p) {
      Instruction one = prototype;
      one.has_init = prototype.has_init && p == 0;
      std::vector<OperandAccess> some;
      for (size_t i = 0; i < accesses.size(); ++i) {
        if (i < summed) some.push_back(part_of_access(accesses[i], part, p));
        if (i >= summed && p == 0) some.push_back(accesses[i]);
      }
      bool moves = false;
      for (const OperandAccess& access : some) moves |= program_.regions[access.at(0).region].active;
      OperandAccess sum{1, fresh(moves)};
      results_ = sum.locations;
      reduction(one, some, summed);
      if (p > 0) {
        active |= moves;
        results_ = p + 1 < parts ? fresh(active) : results;
        Instruction both = prototype;
        both.code = Code::MAP;
        both.row = ROW_add;
        both.has_init = false;
        map(both, {sofar, sum});
        sum.locations = results_;
      }
      active |= moves;
      sofar = std::move(sum);
    }
  }

  // Emits a DOT, SUM or EXTREME. The first `summed` operands are summed over; another one is the start value.
  void reduction(const Instruction& prototype, std::vector<OperandAccess>& accesses, size_t summed) {
    const std::span<OperandAccess> inner_sides = std::span(accesses).first(summed);
    if (prototype.code != Code::EXTREME) {
      if (const std::vector<size_t> part = split_by_region(inner_sides); !part.empty())
        return reduction_in_parts(prototype, accesses, summed, part);
      reorder_sum(inner_sides);
    }
    const bool squares = summed == 2 && accesses[0] == accesses[1];
    for (OperandAccess& access : inner_sides) {
      if (squares && &access == &accesses[1]) {  // the same numbers are collected once
        access = accesses[0];
        break;
      }
      const bool regular = same_offsets(access);
      const std::vector<LoopNest> nests = regular ? inner_loops({&access, 1}) : std::vector<LoopNest>();
      // The EXTREME kernel has a single loop.
      if (nests.size() != 1 || (prototype.code == Code::EXTREME && nests[0].loops.size() > 1)) gather_operand(access);
    }
    if (inner_loops(inner_sides).size() > 1) gather_operand(inner_sides.back());
    std::vector<LoopNest> pattern = inner_loops(inner_sides);
    if (pattern.size() > 1) {
      gather_operand(inner_sides.front());
      pattern = inner_loops(inner_sides);
    }
    std::vector<Loop> inner = pattern[0].loops;
    if (inner.empty()) inner.push_back({1, {}});

    std::vector<const OperandAccess*> all;
    all.reserve(accesses.size());
    for (const OperandAccess& access : accesses) all.push_back(&access);
    const int depth = kRank - static_cast<int>(inner.size());
    std::vector<LoopNest> nests = nests_of(all, depth);
    if (nests.size() > few(accesses[0].width)) {
      for (OperandAccess& access : accesses) {
        const OperandAccess* one[] = {&access};
        if (nests_of(one, depth).size() <= few(accesses[0].width)) continue;
        gather_operand(access, false);
        // The gathered numbers are contiguous, whatever the pattern was.
        if (&access - accesses.data() < static_cast<std::ptrdiff_t>(summed)) {
          return reduction(prototype, accesses, summed);
        }
      }
      nests = nests_of(all, depth);
    }
    emit(prototype, all, nests, inner);
  }

  void select(Instruction prototype) {
    prototype.code = Code::SELECT;
    const size_t count = lanes_[0].arity;
    prototype.limit = static_cast<uint32_t>(count);
    locate_literals(0, 1, count);
    OperandAccess candidates = access(0, 1, count);
    OperandAccess slots{1, {}};
    for (size_t m = 0; m < lanes_.size(); ++m) {
      const uint32_t slot = terms_.slots[lanes_[m].term];
      slots.locations.push_back({kNoRegion, slot});
      if (slot >= program_.index_limits.size()) program_.index_limits.resize(slot + 1);
      uint32_t& limit = program_.index_limits[slot];
      limit = limit ? std::min(limit, prototype.limit) : prototype.limit;
    }
    const int64_t stride = count > 1 ? candidates.at(0, 1).address - candidates.at(0).address : 0;
    bool regular = same_offsets(candidates);
    for (size_t k = 1; k < count && regular; ++k) {
      regular = candidates.at(0, k).address - candidates.at(0, k - 1).address == stride;
    }
    OperandAccess first{1, {}};
    if (regular) {
      prototype.stride = stride_of(stride);
      for (size_t m = 0; m < lanes_.size(); ++m) first.locations.push_back(candidates.at(m));
    } else {
      prototype.through_pool = true;
      for (size_t m = 0; m < lanes_.size(); ++m) {
        first.locations.push_back({kNoRegion, static_cast<Address>(program_.pool.size())});
        for (size_t k = 0; k < count; ++k) program_.pool.push_back(stride_of(candidates.at(m, k).address));
      }
    }
    const OperandAccess* all[] = {&first, &slots};
    emit(prototype, all, nests_of(all, kRank), {});
  }

  const Graph& graph_;
  const Terms& terms_;
  const LeafLayout& leaves_;
  const Packs& packs_;
  Program program_;
  std::vector<Location> leaf_locations_;
  std::vector<Location> nodes_;
  std::span<const PackKey> lanes_;
  std::vector<Location> results_;  // of each lane
  std::vector<size_t> outer_;      // of each arity in the pack
};

}  // namespace

Program reroll(const Graph& graph, const Terms& terms, const LeafLayout& leaves, const Packs& packs) {
  return Reroller(graph, terms, leaves, packs).run();
}

}  // namespace retrograd::compiler
