#include "compiler/lower/first_writes.hpp"

#include <algorithm>

namespace retrograd::compiler {
namespace {

// Whether a call can store: loops in which the target does not move must all be inside the kernel's own sum.
bool can_store(const KernelCall& call) {
  int inside = 1;  // how many of the innermost loops the kernel sums before it stores
  switch (call.kernel) {
    case Kernel::CONTRACT_NN:
    case Kernel::CONTRACT_NT:
    case Kernel::CONTRACT_GROUPS_SPREAD:
    case Kernel::CONTRACT_GROUPS_DOT:
    case Kernel::CONTRACT:
    case Kernel::SUM:
    case Kernel::ADD:
    case Kernel::MAP_BACK: break;
    default: inside = 0;
  }
  if (call.kernel == Kernel::EXTREME_BACK) return false;
  for (int i = 0; i < kLoops - inside; ++i) {
    if (call.n[i] > 1 && call.s[0][i] == 0) return false;
  }
  return true;
}

bool grouped(Kernel kernel) { return kernel == Kernel::CONTRACT_GROUPS_SPREAD; }

template <class Visit>
void each_target(const LoweredCall& lowered, Visit visit) {
  const KernelCall& call = lowered.call;
  const int width = grouped(call.kernel) ? 4 : 1;
  for (int i0 = 0; i0 < call.n[0]; ++i0) {
    for (int i1 = 0; i1 < call.n[1]; ++i1) {
      for (int i2 = 0; i2 < call.n[2]; ++i2) {
        for (int i3 = 0; i3 < call.n[3]; ++i3) {
          const Address at = lowered.at[0] + int64_t{i0} * call.s[0][0] + int64_t{i1} * call.s[0][1] +
                             int64_t{i2} * call.s[0][2] + int64_t{i3} * call.s[0][3];
          const int n = call.s[0][4] == 0 ? 1 : call.n[4];
          for (int i4 = 0; i4 < n; ++i4) {
            for (int j = 0; j < width; ++j) visit(at + int64_t{i4} * call.s[0][4] + j);
          }
        }
      }
    }
  }
}

}  // namespace

bool FirstWrites::is_workspace(uint32_t region) const {
  const RegionKind kind = program_.regions[region].kind;
  return kind == RegionKind::VALUE || kind == RegionKind::INPUT;
}

// For all batch elements.
Address FirstWrites::length_of(uint32_t region) const {
  return lowered_.strips.room(program_, region) * (lowered_.stride[region] ? batch_size_ : 1);
}

// The result's gradient is the seed: set before the pass, or added if the result is a parameter. Other roots serve
// guards only.
void FirstWrites::start() {
  written_.assign(static_cast<size_t>(lowered_.size), false);
  added_.assign(static_cast<size_t>(lowered_.size), false);
  const Location& root = program_.roots[0];
  for (uint32_t member = 0; member < batch_size_; ++member) {
    const Address at = lowered_.moved(program_, root.region, root.address) + lowered_.stride[root.region] * member;
    if (is_workspace(root.region)) {
      written_[static_cast<size_t>(at)] = true;
    } else {
      add_to(static_cast<size_t>(at));
    }
  }
}

void FirstWrites::add_to(size_t at) {
  if (!written_[at]) added_[at] = true;
  written_[at] = true;
}

void FirstWrites::record(LoweredCall& lowered, const StripPosition& position) {
  KernelCall& call = lowered.call;
  switch (call.kernel) {
    case Kernel::SCATTER: return record_list(lowered, 5);
    case Kernel::INDEXED_BACK:
      for (int i = 0; i < 3; ++i) {
        if (call.which >> i & 1) record_list(lowered, 5 + i);
      }
      return;
    case Kernel::SELECT_BACK: return record_candidates(program_.instructions[lowered.instruction]);
    default: break;
  }
  if (lowered.spaces[0] != Space::GRADIENTS) return;
  const uint32_t region = lowered_.region_at(lowered.at[0]);
  const StripPlan& strips = lowered_.strips;
  // Several strips add to the same gradient, so the first one must add, too.
  const bool fresh = can_store(call) && (!position.in_strip || strips.contracted(region)) && first_and_once(lowered);
  if (fresh) {
    if (is_workspace(region)) {
      call.accumulate = false;
    } else {
      lowered.first_write = true;
    }
  }
  const uint32_t times = lowered.strip_steps[0] && position.first == 0 ? strips.length / strips.size : 1;
  each_target(lowered, [&](Address first) {
    for (uint32_t i = 0; i < times; ++i) {
      const auto at = static_cast<size_t>(first + lowered.strip_steps[0] * i);
      if (fresh) written_[at] = true;
      add_to(at);
    }
  });
}

void FirstWrites::record_list(const LoweredCall& lowered, int pointer) {
  const KernelCall& call = lowered.call;
  for (int member = 0; member < call.n[3]; ++member) {
    for (int i = 0; i < call.n[4]; ++i) {
      const Address entry = lowered.at[pointer] + Address{member} * call.s[1][3] + i;
      add_to(static_cast<size_t>(lowered_.pool[static_cast<size_t>(entry)]));
    }
  }
}

// The choice is made at run time: any candidate may be added to.
void FirstWrites::record_candidates(const Instruction& instruction) {
  const View& x = instruction.views[0];
  if (instruction.through_pool) {
    for (const int32_t address : lowered_.pool) add_to(static_cast<size_t>(address));
    return;
  }
  const auto begin = static_cast<size_t>(lowered_.base[x.region]);
  for (size_t i = 0; i < static_cast<size_t>(length_of(x.region)); ++i) add_to(begin + i);
}

// Whether no target was written before, and each is written once.
bool FirstWrites::first_and_once(const LoweredCall& lowered) {
  bool fresh = true;
  seen_.clear();
  each_target(lowered, [&](Address at) {
    fresh &= !written_[static_cast<size_t>(at)];
    seen_.push_back(at);
  });
  if (!fresh) return false;
  std::sort(seen_.begin(), seen_.end());
  return std::adjacent_find(seen_.begin(), seen_.end()) == seen_.end();
}

void FirstWrites::reset(uint32_t region) {
  const auto begin = static_cast<std::ptrdiff_t>(lowered_.base[region]);
  const Address length = length_of(region);
  std::fill_n(written_.begin() + begin, length, false);
  std::fill_n(added_.begin() + begin, length, false);
}

std::vector<Range> FirstWrites::needs_zero_init(uint32_t region, const StripPosition& position) const {
  std::vector<Range> ranges;
  if (is_workspace(region) && !program_.regions[region].active) return ranges;
  const Address begin = lowered_.base[region], stride = lowered_.stride[region];
  for (Address i = 0; i < lowered_.strips.room(program_, region); ++i) {
    if (beyond_strip(region, i, position) || !needs_zero(region, begin + i)) continue;
    if (ranges.empty() || ranges.back().end != begin + i) ranges.push_back({begin + i, begin + i, stride});
    ranges.back().end = begin + i + 1;
  }
  return ranges;
}

bool FirstWrites::needs_zero(uint32_t region, Address at) const {
  for (uint32_t member = 0; member < (lowered_.stride[region] ? batch_size_ : 1); ++member) {
    const auto i = static_cast<size_t>(at + lowered_.stride[region] * member);
    if (!written_[i] || added_[i]) return true;
  }
  return false;
}

// Whether an element of a contracted region belongs to iterations beyond a short last strip.
bool FirstWrites::beyond_strip(uint32_t region, Address offset, const StripPosition& position) const {
  if (!position.in_strip) return false;
  const Address size = lowered_.strips.size;
  if (lowered_.strips.contracted_layout[region] == Layout::INNER) return offset % size >= position.iterations;
  return offset >= lowered_.strips.room(program_, region) / size * position.iterations;
}

}  // namespace retrograd::compiler
