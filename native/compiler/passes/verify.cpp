// The invariants of a vector program, checked after it is made.
#include <algorithm>
#include <unordered_map>

#include "compiler/passes/program.hpp"

namespace retrograd::compiler {
namespace {

// Calls visit(address) for each iteration of the first `rank` loops.
template <class Visit>
void each(const Instruction& instruction, const View& view, int rank, Visit visit) {
  std::array<uint32_t, kRank> index{};
  while (true) {
    Address at = view.base;
    for (int i = 0; i < rank; ++i) at += Address{view.strides[i]} * index[i];
    visit(at);
    int loop = rank - 1;
    while (loop >= 0 && ++index[loop] == instruction.sizes[loop]) index[loop--] = 0;
    if (loop < 0) return;
  }
}

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  std::string run(bool every_address) {
    if (every_address) written_.resize(static_cast<size_t>(program_.size));
    for (size_t i = 0; i < program_.regions.size() && every_address; ++i) {
      const Region& region = program_.regions[i];
      if (region.kind == RegionKind::VALUE) continue;
      for (uint32_t k = 0; k < region.length; ++k) written_[static_cast<size_t>(region.base) + k] = true;
    }
    for (size_t i = 0; i < program_.instructions.size() && problem_.empty(); ++i) {
      where_ = "instruction " + std::to_string(i);
      check(program_.instructions[i], every_address);
    }
    for (const Location& root : program_.roots) {
      if (root.address < 0 || (every_address && !written(root.address))) fail("a root has no value");
    }
    return problem_;
  }

 private:
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = where_ + ": " + what;
  }
  bool written(Address at) const { return written_[static_cast<size_t>(at)]; }

  // Checks that the lowest and highest address of a view are in its region.
  void check_range(const Instruction& instruction, const View& view, int rank) {
    if (view.region >= program_.regions.size()) return fail("a view has no region");
    const Region& region = program_.regions[view.region];
    Address low = view.base, high = view.base;
    for (int i = 0; i < rank; ++i) {
      const Address reach = Address{view.strides[i]} * (static_cast<Address>(instruction.sizes[i]) - 1);
      (reach < 0 ? low : high) += reach;
    }
    if (low < region.base || high >= region.base + region.length) fail("a view leaves its region");
  }

  void check_list(Address begin, Address count) {
    if (begin < 0 || begin + count > static_cast<Address>(program_.pool.size())) return fail("a list leaves the pool");
    for (Address i = begin; i < begin + count; ++i) {
      const int32_t address = program_.pool[static_cast<size_t>(i)];
      if (address < 0 || address >= program_.size) return fail("a list leaves memory");
      if (!written_.empty() && !written(address)) return fail("a list reads what has no value yet");
    }
  }

  void check(const Instruction& instruction, bool every_address) {
    if (instruction.rank > kRank || instruction.reduced > instruction.rank) return fail("its loops are not a nest");
    const int members = instruction.rank - instruction.reduced;
    check_range(instruction, instruction.result, members);
    for (int i = 0; i < instruction.operands && problem_.empty(); ++i) {
      const View& view = instruction.views[i];
      const bool is_init = instruction.code == Code::DOT && i == 2;
      const int rank = is_init ? members : instruction.rank;
      if (view.region != kNoRegion) {
        check_range(instruction, view, rank);
        if (!every_address || !problem_.empty()) continue;
        each(instruction, view, rank, [&](Address at) {
          if (!written(at)) fail("it reads what has no value yet");
        });
      } else if (instruction.code == Code::INDEXED || instruction.code == Code::GATHER) {
        check_list(view.base, instruction.sizes[0]);
      } else if (instruction.code == Code::SELECT && i == 0) {
        each(instruction, view, rank, [&](Address at) { check_list(at, instruction.limit); });
      }
    }
    if (!every_address || !problem_.empty()) return;
    each(instruction, instruction.result, members, [&](Address at) {
      if (written(at)) fail("it writes what has a value");
      written_[static_cast<size_t>(at)] = true;
    });
  }

  const Program& program_;
  std::vector<bool> written_;
  std::string where_, problem_;
};

}  // namespace

uint32_t region_at(const Program& program, Address address) {
  // Empty regions share their base with the next one.
  const auto after = std::upper_bound(program.regions.begin(), program.regions.end(), address,
                                      [](Address at, const Region& region) { return at < region.base; });
  return static_cast<uint32_t>(after - program.regions.begin()) - 1;
}

std::vector<size_t> producers_of(const Program& program, std::span<const Address> addresses) {
  const size_t none = program.instructions.size();
  std::unordered_map<Address, size_t> found;
  for (const Address address : addresses) found.emplace(address, none);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    each(instruction, instruction.result, instruction.rank - instruction.reduced, [&](Address at) {
      const auto wanted = found.find(at);
      if (wanted != found.end() && wanted->second == none) wanted->second = i;
    });
  }
  std::vector<size_t> producers;
  producers.reserve(addresses.size());
  for (const Address address : addresses) producers.push_back(found[address]);
  return producers;
}

std::string verify(const Program& program, bool every_address) { return Verifier(program).run(every_address); }

}  // namespace retrograd::compiler
