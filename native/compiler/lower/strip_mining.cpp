#include "compiler/lower/strip_mining.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

namespace retrograd::compiler {
namespace {

constexpr uint32_t kLong = 64;                // iterations of a loop worth strip-mining
constexpr Address kCache = Address{1} << 16;  // results that need no strips: half a megabyte of numbers
constexpr uint32_t kShort = 16, kTall = 256;  // fewest and most iterations of a strip

// Numbers that fit in the cache. RETROGRAD_CACHE overrides it, so that tests can strip-mine small programs.
Address cache() {
  const char* wanted = std::getenv("RETROGRAD_CACHE");
  return wanted ? std::max<Address>(std::strtoll(wanted, nullptr, 10), 1) : kCache;
}

int outer_rank(const Instruction& instruction) { return instruction.rank - instruction.reduced; }

// The number of loops that a view has: the start value of a DOT does not move in those that are summed over.
int loops_of(const Instruction& instruction, int view) {
  return instruction.code == Code::DOT && view == 2 ? outer_rank(instruction) : instruction.rank;
}

// The layout of a view whose loop number `axis` is the strip-mined one, of `length` iterations.
Layout along(const Instruction& instruction, const View& view, int rank, const Region& region, int axis,
             uint32_t length) {
  const Address offset = view.base - region.base, step = view.strides[static_cast<size_t>(axis)];
  const auto other = [&](auto test) {
    for (int i = 0; i < rank; ++i) {
      if (i != axis &&
          !test(Address{view.strides[static_cast<size_t>(i)]}, instruction.sizes[static_cast<size_t>(i)])) {
        return false;
      }
    }
    return true;
  };
  if (region.length % length != 0) return Layout::NONE;
  if (step == 1 && offset % length == 0 &&
      other([&](Address stride, uint32_t) { return stride % Address{length} == 0; })) {
    return Layout::INNER;
  }
  const Address width = region.length / length;
  Address low = offset, high = offset;
  other([&](Address stride, uint32_t size) {
    (stride < 0 ? low : high) += stride * (Address{size} - 1);
    return true;
  });
  return step == width && low >= 0 && high < width ? Layout::OUTER : Layout::NONE;
}

class StripMiner {
 public:
  explicit StripMiner(const Program& program) : program_(program) {}

  StripPlan run(bool wanted) {
    const size_t count = program_.instructions.size();
    strips_.axis.assign(count, -1);
    strips_.contracted_layout.assign(program_.regions.size(), Layout::NONE);
    if (wanted && choose_length()) {
      find_axes();
      exclude_unrelated();
      find_phases();
      find_locals();
    }
    make_runs();
    return std::move(strips_);
  }

 private:
  const Region& region(uint32_t number) const { return program_.regions[number]; }
  bool is_result(uint32_t number) const { return number != kNoRegion && region(number).kind == RegionKind::VALUE; }

  // Chooses the trip count whose loops write the most numbers, if those exceed the cache.
  bool choose_length() {
    std::map<uint32_t, Address> written;
    for (const Instruction& instruction : program_.instructions) {
      std::vector<uint32_t> seen;
      for (int i = 0; i < outer_rank(instruction); ++i) {
        const uint32_t size = instruction.sizes[static_cast<size_t>(i)];
        if (size < kLong || std::find(seen.begin(), seen.end(), size) != seen.end()) continue;
        seen.push_back(size);
        written[size] += instruction.terms;
      }
    }
    Address most = 0;
    for (const auto& [size, numbers] : written) {
      if (numbers <= most) continue;
      most = numbers;
      strips_.length = size;
    }
    if (most <= cache()) strips_.length = 0;
    return strips_.length > 0;
  }

  // Finds, for each instruction, the loop with that trip count along which its results lie.
  void find_axes() {
    layout_.assign(program_.regions.size(), Layout::NONE);
    mixed_.assign(program_.regions.size(), false);
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& instruction = program_.instructions[i];
      const int axis = axis_of(instruction);
      strips_.axis[i] = axis;
      const uint32_t target = instruction.result.region;
      if (axis < 0 || axis >= outer_rank(instruction)) {
        mixed_[target] = true;
        continue;
      }
      const Layout lies =
          along(instruction, instruction.result, outer_rank(instruction), region(target), axis, strips_.length);
      if (layout_[target] != Layout::NONE && layout_[target] != lies) mixed_[target] = true;
      layout_[target] = lies;
    }
  }

  int axis_of(const Instruction& instruction) const {
    const bool sums = instruction.code == Code::DOT || instruction.code == Code::SUM;
    if (!sums && instruction.code != Code::MAP && instruction.code != Code::EXTREME) return -1;
    for (int i = 0; i < instruction.rank; ++i) {
      if (instruction.sizes[static_cast<size_t>(i)] != strips_.length) continue;
      if (i >= outer_rank(instruction)) {
        if (sums) return i;
      } else if (along(instruction, instruction.result, outer_rank(instruction), region(instruction.result.region), i,
                       strips_.length) != Layout::NONE) {
        return i;
      }
    }
    return -1;
  }

  // Whether an instruction reads in each iteration what was written in the same one.
  bool in_step(size_t number, int view) const {
    const Instruction& instruction = program_.instructions[number];
    const View& of = instruction.views[static_cast<size_t>(view)];
    const int axis = strips_.axis[number], rank = loops_of(instruction, view);
    if (axis < 0 || axis >= rank || mixed_[of.region] || layout_[of.region] == Layout::NONE) return false;
    return along(instruction, of, rank, region(of.region), axis, strips_.length) == layout_[of.region];
  }

  // Calls visit(region, view) for each region that an instruction reads; view is -1 if a list names the region.
  template <class Visit>
  void each_read(size_t number, Visit visit) {
    const Instruction& instruction = program_.instructions[number];
    for (int i = 0; i < instruction.operands; ++i) {
      const View& view = instruction.views[static_cast<size_t>(i)];
      if (view.region != kNoRegion) {
        visit(view.region, i);
      } else if (instruction.code != Code::SELECT || (i == 0 && instruction.through_pool)) {
        for (const uint32_t listed : listed_regions(instruction, view)) visit(listed, -1);
      }
    }
  }

  // Another loop can have the same trip count by coincidence. Exclude instructions that neither read from nor feed
  // another one along the loop.
  void exclude_unrelated() {
    std::vector<bool> linked(program_.regions.size()), reads(program_.instructions.size());
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      each_read(i, [&](uint32_t read, int view) {
        if (!is_result(read) || view < 0 || !in_step(i, view)) return;
        linked[read] = reads[i] = true;
      });
    }
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const uint32_t target = program_.instructions[i].result.region;
      if (strips_.axis[i] < 0 || linked[target] || reads[i]) continue;
      strips_.axis[i] = -1;
      mixed_[target] = true;
    }
  }

  // The regions that an instruction's list names.
  std::vector<uint32_t> listed_regions(const Instruction& instruction, const View& view) const {
    Address begin = view.base, end = view.base + instruction.sizes[0];
    if (instruction.code == Code::SELECT) begin = 0, end = static_cast<Address>(program_.pool.size());
    std::vector<bool> seen(program_.regions.size());
    std::vector<uint32_t> found;
    uint32_t last = 0;
    for (Address i = begin; i < end; ++i) {
      const Address at = program_.pool[static_cast<size_t>(i)];
      if (!seen[last] || at < region(last).base || at >= region(last).base + region(last).length)
        last = region_at(program_, at);
      if (seen[last]) continue;
      seen[last] = true;
      found.push_back(last);
    }
    return found;
  }

  // Section p along the loop comes after the other instructions of phase p.
  void find_phases() {
    phase_.assign(program_.instructions.size(), 0);
    std::vector<uint32_t> of_region(program_.regions.size());
    std::vector<bool> along_run(program_.regions.size());  // written by a section along the loop
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      each_read(i, [&](uint32_t read, int view) {
        if (!is_result(read)) return;
        const bool later = along_run[read] && (view < 0 || !in_step(i, view));
        phase_[i] = std::max(phase_[i], of_region[read] + later);
      });
      const uint32_t target = program_.instructions[i].result.region;
      of_region[target] = std::max(of_region[target], phase_[i]);
      along_run[target] = along_run[target] || strips_.axis[i] >= 0;
    }
  }

  void find_locals() {
    constexpr uint32_t kNone = UINT32_MAX, kSeveral = UINT32_MAX - 1;
    std::vector<uint32_t> run(program_.regions.size(), kNone);
    const auto belongs = [&](uint32_t number, uint32_t to) {
      run[number] = run[number] == kNone || run[number] == to ? to : kSeveral;
    };
    for (const Location& root : program_.roots) belongs(root.region, kSeveral);
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      belongs(program_.instructions[i].result.region, strips_.axis[i] < 0 ? kSeveral : phase_[i]);
      each_read(i, [&](uint32_t read, int view) {
        if (!is_result(read)) return;
        belongs(read, strips_.axis[i] >= 0 && view >= 0 && in_step(i, view) ? phase_[i] : kSeveral);
      });
    }
    std::map<uint32_t, Address> numbers;  // of the contracted regions of each section
    const auto is_local = [&](uint32_t i) {
      return is_result(i) && !mixed_[i] && layout_[i] != Layout::NONE && run[i] < kSeveral;
    };
    for (uint32_t i = 0; i < program_.regions.size(); ++i) {
      if (is_local(i)) numbers[run[i]] += region(i).length;
    }
    choose_runs(numbers);
    for (uint32_t i = 0; i < program_.regions.size(); ++i) {
      if (is_local(i) && numbers.count(run[i])) strips_.contracted_layout[i] = layout_[i];
    }
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      if (!numbers.count(phase_[i])) strips_.axis[i] = -1;
    }
  }

  // Keeps the sections that gain from strips, given the numbers of their contracted regions, and chooses the strip
  // size.
  void choose_runs(std::map<uint32_t, Address>& numbers) {
    // The largest strip of a section should fill some of the cache: else strips cost more than they save.
    std::erase_if(numbers, [&](const auto& run) { return run.second / strips_.length * kTall < cache() / 16; });
    Address all = 0, most = 0;
    for (const auto& [phase, some] : numbers) {
      all += some;
      most = std::max(most, some / strips_.length);
    }
    if (all <= cache()) numbers.clear();
    if (numbers.empty()) {
      strips_.length = 0;
      return;
    }
    // The contracted regions of a strip may take three quarters of the cache.
    const auto fit = static_cast<uint32_t>(cache() / 4 * 3 / most) / kShort * kShort;
    strips_.size = std::min(std::clamp(fit, kShort, kTall), strips_.length);
  }

  void make_runs() {
    strips_.order.resize(program_.instructions.size());
    std::iota(strips_.order.begin(), strips_.order.end(), uint32_t{0});
    if (strips_.length == 0) {
      strips_.sections.push_back({0, strips_.order.size(), false});
      return;
    }
    const auto key = [&](uint32_t i) { return 2 * phase_[i] + (strips_.axis[i] >= 0); };
    std::stable_sort(strips_.order.begin(), strips_.order.end(),
                     [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (size_t begin = 0; begin < strips_.order.size();) {
      size_t end = begin;
      while (end < strips_.order.size() && key(strips_.order[end]) == key(strips_.order[begin])) ++end;
      strips_.sections.push_back({begin, end, strips_.axis[strips_.order[begin]] >= 0});
      begin = end;
    }
  }

  const Program& program_;
  StripPlan strips_;
  std::vector<Layout> layout_;   // of each region that some instruction writes along the loop
  std::vector<bool> mixed_;      // regions that are not written along the loop, or in different layouts
  std::vector<uint32_t> phase_;  // of each instruction
};

}  // namespace

StripPlan plan_strips(const Program& program, uint32_t members) { return StripMiner(program).run(members == 1); }

std::string verify(const Program& program, const StripPlan& strips) {
  std::vector<size_t> run_of(program.instructions.size(), SIZE_MAX);
  for (size_t r = 0; r < strips.sections.size(); ++r) {
    for (size_t k = strips.sections[r].begin; k < strips.sections[r].end; ++k) {
      if (run_of[strips.order[k]] != SIZE_MAX) return "an instruction is in two runs";
      if ((strips.axis[strips.order[k]] >= 0) != strips.sections[r].along) return "a run mixes what is along the loop";
      run_of[strips.order[k]] = r;
    }
  }
  // Of each region: the last section that writes it, and whether that section sums into it.
  std::vector<size_t> written(program.regions.size(), SIZE_MAX);
  std::vector<bool> summed(program.regions.size());
  for (const uint32_t i : strips.order) {
    if (run_of[i] == SIZE_MAX) return "an instruction is in no run";
    const Instruction& instruction = program.instructions[i];
    const std::string where = "instruction " + std::to_string(i);
    const auto fits = [&](const View& view, int rank) {
      return strips.axis[i] >= 0 && strips.axis[i] < rank &&
             along(instruction, view, rank, program.regions[view.region], strips.axis[i], strips.length) ==
                 strips.contracted_layout[view.region];
    };
    for (int v = 0; v < instruction.operands; ++v) {
      const View& view = instruction.views[static_cast<size_t>(v)];
      if (view.region == kNoRegion || program.regions[view.region].kind != RegionKind::VALUE) continue;
      if (written[view.region] == SIZE_MAX) return where + ": it runs before what it reads";
      if (summed[view.region] && written[view.region] == run_of[i]) return where + ": it reads a sum that is not done";
      if (strips.contracted(view.region) &&
          (written[view.region] != run_of[i] || !fits(view, loops_of(instruction, v)))) {
        return where + ": it reads a local region out of step";
      }
    }
    const uint32_t target = instruction.result.region;
    if (strips.contracted(target) && !fits(instruction.result, outer_rank(instruction))) {
      return where + ": it writes a local region out of step";
    }
    written[target] = run_of[i];
    summed[target] = summed[target] || (strips.axis[i] >= 0 && strips.reduces(program, i));
  }
  for (const Location& root : program.roots) {
    if (strips.contracted(root.region)) return "a root is local";
  }
  return "";
}

}  // namespace retrograd::compiler
