#include "lower.hpp"

#include <algorithm>
#include <cstdlib>

#include "rows.hpp"

namespace retrograd::compiler {
namespace {

// The members for which the loops of a batch are laid out, whatever its capacity: most batches are small.
constexpr uint32_t kUsualMembers = 4;

// One loop of a nest and how far each operand moves in it: d, a, b, c.
struct Loop {
  int32_t n = 1;
  int64_t s[4] = {0, 0, 0, 0};
  bool members = false;  // whether it goes over the members of a batch, alone or joined with others inside of it
};
using Loops = std::vector<Loop>;

// Drops loops of one iteration and joins those that are one walk for all operands.
Loops joined(Loops loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.n == 1; });
  auto continues = [](const Loop& outer, const Loop& inner) {
    for (int w = 0; w < 4; ++w) {
      if (outer.s[w] != inner.n * inner.s[w]) return false;
    }
    return !inner.members;  // how long that is shows when it runs
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < loops.size() && !again; ++i) {
      for (size_t j = 0; j < loops.size() && !again; ++j) {
        if (i == j || !continues(loops[i], loops[j])) continue;
        loops[j].n *= loops[i].n;
        loops[j].members = loops[i].members;
        loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
        again = true;
      }
    }
  }
  return loops;
}

Loop taken(Loops& loops, size_t i) {
  Loop loop = loops[i];
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  return loop;
}

// The loop that `score` likes best, if it likes any (a score above zero).
template <class Score>
Loop take_best(Loops& loops, Score score) {
  size_t best = loops.size();
  int64_t top = 0;
  for (size_t i = 0; i < loops.size(); ++i) {
    const int64_t value = score(loops[i]);
    if (value > top) {
      top = value;
      best = i;
    }
  }
  return best == loops.size() ? Loop{} : taken(loops, best);
}

// A view of memory: which space, where, and over which loops.
struct Operand {
  Space space = Space::NONE;
  Address at = 0;
};

class Lowering {
 public:
  Lowering(const Program& program, uint32_t capacity)
      : program_(program), members_(capacity == 1 ? 1 : std::min(capacity, kUsualMembers)) {
    result_.capacity = capacity;
    for (uint32_t i = 0; i < program.regions.size(); ++i) result_.order.push_back(i);
    std::stable_partition(result_.order.begin(), result_.order.end(),
                          [&](uint32_t i) { return program.regions[i].memory != Memory::VALUE; });
    result_.base.resize(program.regions.size());
    result_.stride.resize(program.regions.size());
    for (const uint32_t i : result_.order) {
      const Region& region = program.regions[i];
      const bool own = region.memory == Memory::VALUE || region.memory == Memory::INPUT;
      const Address length = own ? Address{region.length} * capacity : Address{region.length};
      result_.base[i] = result_.size;
      result_.stride[i] = own && capacity > 1 ? region.length : 0;
      result_.size += (length + 7) / 8 * 8;
    }
  }

  Lowered run() {
    move_pool();
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      current_ = static_cast<uint32_t>(i);
      forward(program_.instructions[i]);
    }
    out_ = &result_.backward;
    touched_.resize(static_cast<size_t>(result_.size));
    touch_result();
    for (size_t i = program_.instructions.size(); i-- > 0;) {
      current_ = static_cast<uint32_t>(i);
      backward(program_.instructions[i]);
    }
    find_zeroed();
    return std::move(result_);
  }

 private:
  // --- operands and loops -----------------------------------------------------------------------------------------

  Address place(const View& view) const { return result_.moved(program_, view.region, view.base); }
  Operand values(const View& view) const { return {Space::VALUES, place(view)}; }
  Operand gradients(const View& view) const { return {Space::GRADIENTS, place(view)}; }
  bool active(const View& view) const { return program_.regions[view.region].active; }
  bool is_literal(const View& view) const { return program_.regions[view.region].memory == Memory::LITERAL; }

  // The loops of an instruction, the batch outermost, with the strides of up to four views.
  Loops loops_of(const Instruction& instruction, std::initializer_list<const View*> views) const {
    Loops loops(1 + instruction.rank);
    loops[0].n = static_cast<int32_t>(members_);
    loops[0].members = members_ > 1;
    for (int i = 0; i < instruction.rank; ++i) loops[1 + i].n = static_cast<int32_t>(instruction.sizes[i]);
    int w = 0;
    for (const View* view : views) {
      if (view) {
        loops[0].s[w] = view->region == kNoRegion ? 0 : result_.stride[view->region];
        for (int i = 0; i < instruction.rank; ++i) loops[1 + i].s[w] = view->strides[i];
      }
      ++w;
    }
    return loops;
  }

  // The lists of the pool, once for each member of the batch.
  void move_pool() {
    auto region_of = [&](Address address) {
      auto after = std::upper_bound(program_.regions.begin(), program_.regions.end(), address,
                                    [](Address at, const Region& region) { return at < region.base; });
      // Empty regions share their base with the next one.
      return static_cast<size_t>(after - program_.regions.begin()) - 1;
    };
    result_.pool.resize(program_.pool.size() * result_.capacity);
    for (size_t i = 0; i < program_.pool.size(); ++i) {
      const size_t region = region_of(program_.pool[i]);
      result_.addresses_parameters |= program_.regions[region].memory == Memory::PARAMETER;
      for (uint32_t member = 0; member < result_.capacity; ++member) {
        const Address address =
            result_.base[region] + (program_.pool[i] - program_.regions[region].base) + result_.stride[region] * member;
        if (address > INT32_MAX) throw Unsupported("the function needs more memory than can be addressed");
        result_.pool[member * program_.pool.size() + i] = static_cast<int32_t>(address);
      }
    }
  }

  // --- calls -------------------------------------------------------------------------------------------------------

  LoweredCall blank(Kernel kernel, std::initializer_list<Operand> operands) const {
    LoweredCall lowered;
    lowered.call.kernel = kernel;
    lowered.call.k = 1.0;
    lowered.instruction = current_;
    int i = 0;
    for (const Operand& operand : operands) {
      lowered.spaces[i] = operand.space;
      lowered.at[i++] = operand.at;
    }
    return lowered;
  }

  // Which kind of operand's strides a pointer moves by.
  static int kind_of(Kernel kernel, int pointer) {
    if (pointer <= 3) return pointer;
    if (pointer == 4) return 3;
    return kernel == Kernel::SELECT || kernel == Kernel::SELECT_BACK ? (pointer == 5 ? 2 : -1) : -1;
  }

  // Issues a call whose innermost loops are `inner`, in the kernel's order, and whose others are `outer`; those that
  // have no room in the call are unrolled.
  void issue(LoweredCall lowered, Loops outer, const Loops& inner) {
    const size_t room = kLoops - inner.size();
    if (outer.size() > room) {
      std::sort(outer.begin(), outer.end(),
                [](const Loop& a, const Loop& b) { return std::pair(a.members, a.n) < std::pair(b.members, b.n); });
      const Loop loop = taken(outer, 0);
      for (int i = 0; i < loop.n; ++i) {
        LoweredCall one = lowered;
        for (int p = 0; p < kPointers; ++p) {
          const int kind = kind_of(lowered.call.kernel, p);
          if (kind >= 0 && one.spaces[p] != Space::NONE) one.at[p] += loop.s[kind] * i;
        }
        issue(one, outer, inner);
      }
      return;
    }
    while (outer.size() < room) outer.insert(outer.begin(), Loop{});
    outer.insert(outer.end(), inner.begin(), inner.end());
    for (int i = 0; i < kLoops; ++i) {
      const Loop& loop = outer[static_cast<size_t>(i)];
      lowered.call.n[i] = loop.n;
      for (int w = 0; w < 4; ++w) lowered.call.s[w][i] = to_int(loop.s[w]);
      if (!loop.members) continue;
      lowered.members_loop = i;
      lowered.each = loop.n / static_cast<int32_t>(members_);
    }
    touch(lowered);
    out_->push_back(lowered);
  }

  static int32_t to_int(int64_t stride) {
    if (stride > INT32_MAX || stride < INT32_MIN)
      throw Unsupported("the function needs more memory than can be addressed");
    return static_cast<int32_t>(stride);
  }

  // --- forward -----------------------------------------------------------------------------------------------------

  void forward(const Instruction& instruction) {
    const View *r = &instruction.result, *v = instruction.views.data();
    switch (instruction.code) {
      case Code::MAP: {
        LoweredCall call = blank(Kernel::MAP, {values(*r)});
        call.call.row = instruction.row;
        const View* views[3] = {};
        for (int i = 0; i < instruction.operands; ++i) {
          views[i] = &v[i];
          call.spaces[1 + i] = Space::VALUES;
          call.at[1 + i] = place(v[i]);
        }
        return elementwise(call, loops_of(instruction, {r, views[0], views[1], views[2]}));
      }
      case Code::DOT: {
        if (instruction.has_init) copy_init(instruction);
        return contract(values(*r), values(v[0]), values(v[1]), loops_of(instruction, {r, &v[0], &v[1]}),
                        instruction.has_init);
      }
      case Code::SUM: return sum(values(*r), values(v[0]), loops_of(instruction, {r, &v[0]}), false);
      case Code::EXTREME: {
        LoweredCall call = blank(Kernel::EXTREME, {values(*r), values(v[0])});
        call.call.row = instruction.row;
        Loops loops = loops_of(instruction, {r, &v[0]});
        const Loop inner = taken(loops, loops.size() - 1);
        return issue(call, joined(loops), {inner});
      }
      case Code::GATHER: return listed(Kernel::GATHER, instruction);
      case Code::INDEXED: return indexed(instruction);
      case Code::SELECT: return select(instruction, false);
    }
  }

  // d = the init of each member.
  void copy_init(const Instruction& instruction) {
    Instruction members = instruction;
    members.rank -= instruction.reduced;
    add(values(instruction.result), values(instruction.views[2]),
        loops_of(members, {&instruction.result, &instruction.views[2]}), 1.0, false);
  }

  // A row of the table: the loop that vectors like best goes innermost.
  void elementwise(const LoweredCall& call, Loops loops) {
    loops = joined(loops);
    const Loop inner = take_best(loops, [](const Loop& loop) {
      int64_t score = loop.n;
      if (loop.s[0] == 1) score += int64_t{1} << 40;
      for (int w = 1; w < 4; ++w) {
        if (loop.s[w] == 0 || loop.s[w] == 1) score += int64_t{1} << 36;
      }
      return score;
    });
    issue(call, loops, {inner});
  }

  // d (+)= k * a, summed over where d stands still.
  void add(Operand d, Operand a, Loops loops, double k, bool accumulate) {
    loops = joined(loops);
    const bool reduces = std::any_of(loops.begin(), loops.end(), [](const Loop& loop) { return loop.s[0] == 0; });
    const bool rows = std::any_of(loops.begin(), loops.end(),
                                  [](const Loop& loop) { return loop.s[0] == 1 && loop.s[1] == 1 && loop.n >= 4; });
    if (reduces && rows && !accumulate) {
      fill(d, loops);
      accumulate = true;
    }
    LoweredCall call = blank(Kernel::ADD, {d, a});
    call.call.k = k;
    call.call.accumulate = accumulate;
    const Loop inner = take_best(loops, [&](const Loop& loop) {
      const bool row = loop.s[0] == 1 && (loop.s[1] == 0 || loop.s[1] == 1);
      int64_t score = loop.n;
      if (row && (!reduces || rows)) score += int64_t{1} << 40;
      if (loop.s[0] == 0) score += int64_t{1} << (loop.s[1] == 1 ? 38 : 37);
      return score;
    });
    if (inner.s[0] == 0 && inner.n > 1) call.call.kernel = Kernel::SUM;
    issue(call, loops, {inner});
  }

  void sum(Operand d, Operand a, Loops loops, bool accumulate) {
    loops = joined(loops);
    const auto reduced = std::count_if(loops.begin(), loops.end(), [](const Loop& loop) { return loop.s[0] == 0; });
    if (!accumulate && reduced > 1) {
      fill(d, loops);
      accumulate = true;
    }
    add(d, a, loops, 1.0, accumulate);
  }

  // d = 0 over the loops in which d moves.
  void fill(Operand d, Loops loops) {
    std::erase_if(loops, [](const Loop& loop) { return loop.s[0] == 0; });
    for (Loop& loop : loops) loop.s[1] = loop.s[2] = loop.s[3] = 0;
    LoweredCall call = blank(Kernel::FILL, {d});
    call.call.k = 0.0;
    issue(call, joined(loops), {});
  }

  // d (+)= sum a * b over any loops: the kernel that suits their strides.
  void contract(Operand d, Operand a, Operand b, Loops loops, bool accumulate) {
    loops = joined(loops);
    const auto reduced = std::count_if(loops.begin(), loops.end(), [](const Loop& loop) { return loop.s[0] == 0; });
    if (!accumulate && reduced > 1) {
      fill(d, loops);
      accumulate = true;
    }
    if (groups(d, a, b, loops, accumulate) || columns(d, a, b, loops, accumulate) || dots(d, a, b, loops, accumulate)) {
      return;
    }
    LoweredCall call = blank(reduced ? Kernel::CONTRACT : Kernel::PRODUCT, {d, a, b});
    call.call.accumulate = accumulate;
    const Loop inner = take_best(loops, [&](const Loop& loop) {
      auto unit = [](int64_t s) { return s == 0 || s == 1; };
      int64_t score = loop.n;
      if (reduced && loop.s[0] == 0) return score + (int64_t{1} << 40);
      if (loop.s[0] == 1 && unit(loop.s[1]) && unit(loop.s[2])) score += int64_t{1} << 38;
      return score;
    });
    issue(call, loops, {inner});
  }

  static Loops swapped(Loops loops) {
    for (Loop& loop : loops) std::swap(loop.s[1], loop.s[2]);
    return loops;
  }

  static auto longest(auto condition) {
    return [condition](const Loop& loop) -> int64_t { return condition(loop) ? loop.n : 0; };
  }

  // Groups of four, as attention heads of four dimensions.
  bool groups(Operand d, Operand a, Operand b, const Loops& all, bool accumulate) {
    for (int swap = 0; swap < 2; ++swap) {
      const Loops loops = swap ? swapped(all) : all;
      if (swap) std::swap(a, b);
      for (size_t j = 0; j < loops.size(); ++j) {
        if (loops[j].n != 4 || loops[j].members || loops[j].s[2] != 1) continue;
        for (size_t h = 0; h < loops.size(); ++h) {
          if (h == j || loops[h].n < 2 || loops[h].s[2] != 4) continue;
          Loops rest = loops;
          rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(std::max(j, h)));
          rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(std::min(j, h)));
          const bool spread = loops[j].s[0] == 1 && loops[j].s[1] == 0 && loops[h].s[0] == 4 && loops[h].s[1] != 0;
          const bool dot = loops[j].s[0] == 0 && loops[j].s[1] == 1 && loops[h].s[1] == 4 && loops[h].s[0] != 0;
          if (!spread && !dot) continue;
          Loop k;
          if (spread) k = take_best(rest, longest([](const Loop& loop) { return loop.s[0] == 0; }));
          const bool more = std::any_of(rest.begin(), rest.end(), [](const Loop& loop) { return loop.s[0] == 0; });
          if (more && !accumulate) continue;
          LoweredCall call = blank(spread ? Kernel::CONTRACT_GROUPS_SPREAD : Kernel::CONTRACT_GROUPS_DOT, {d, a, b});
          call.call.accumulate = accumulate;
          const Loop m = take_best(rest, longest([](const Loop&) { return true; }));
          issue(call, rest, {m, loops[h], k});
          return true;
        }
      }
    }
    return false;
  }

  // Rows of numbers times one number each: d[m, n] += a[m, k] * b[k, n].
  bool columns(Operand d, Operand a, Operand b, const Loops& all, bool accumulate) {
    const bool reduces = std::any_of(all.begin(), all.end(), [](const Loop& loop) { return loop.s[0] == 0; });
    auto is_column = [](const Loop& loop) { return loop.s[0] == 1 && loop.s[2] == 1 && loop.s[1] == 0; };
    auto best = [&](const Loops& loops) {
      int32_t n = 0;
      for (const Loop& loop : loops) n = is_column(loop) ? std::max(n, loop.n) : n;
      return n;
    };
    Loops loops = all;
    if (best(swapped(all)) > best(all)) {
      loops = swapped(all);
      std::swap(a, b);
    }
    if (best(loops) == 0) return false;
    Loop n = take_best(loops, longest(is_column));
    Loop k = take_best(loops, longest([](const Loop& loop) { return loop.s[0] == 0; }));
    // Rows of a tile must not overlap.
    Loop m = take_best(loops, longest([&](const Loop& loop) {
                         return loop.s[2] == 0 && loop.s[0] != 0 && std::llabs(loop.s[0]) >= n.n;
                       }));
    if (!reduces && m.n == 1) return false;  // scaled rows: PRODUCT
    LoweredCall call = blank(Kernel::CONTRACT_NN, {d, a, b});
    call.call.accumulate = accumulate;
    issue(call, loops, {m, n, k});
    return true;
  }

  // Products along a row: d[m, n] += sum over k of a[m, n, k] * b[m, n, k], both with stride 1 in k.
  bool dots(Operand d, Operand a, Operand b, const Loops& all, bool accumulate) {
    Loops loops = all;
    Loop k =
        take_best(loops, longest([](const Loop& loop) { return loop.s[0] == 0 && loop.s[1] == 1 && loop.s[2] == 1; }));
    if (k.n == 1) return false;
    // Columns share one row, if they can.
    auto score = [](const Loop& loop, int a_index) -> int64_t {
      if (loop.s[0] == 0) return 0;
      const bool shared = loop.s[a_index] == 0 && loop.s[3 - a_index] != 0;
      return (shared ? 4000 : 0) + (loop.s[0] == 1 ? 2000 : 0) + std::min(loop.n, 8) * 100 + std::min(loop.n, 99);
    };
    int64_t plain = 0, other = 0;
    for (const Loop& loop : loops) {
      plain = std::max(plain, score(loop, 1));
      other = std::max(other, score(loop, 2));
    }
    if (other > plain) {
      loops = swapped(loops);
      std::swap(a, b);
    }
    const Loop n = take_best(loops, [&](const Loop& loop) { return score(loop, 1); });
    Loop m;
    if (n.s[1] == 0) {
      // A tile is two rows of columns: they must not overlap.
      m = take_best(loops,
                    longest([&](const Loop& loop) { return loop.s[0] != 0 && loop.s[2] == 0 && distinct(loop, n); }));
    }
    LoweredCall call = blank(Kernel::CONTRACT_NT, {d, a, b});
    call.call.accumulate = accumulate;
    issue(call, loops, {m, n, k});
    return true;
  }

  // Whether two loops never reach the same element of d.
  static bool distinct(const Loop& x, const Loop& y) {
    const int64_t sx = std::llabs(x.s[0]), sy = std::llabs(y.s[0]);
    return sx >= sy * y.n || sy >= sx * x.n;
  }

  // The loops of a call that works through lists: over members, each of which has lists of its own, and along one.
  Loops list_loops(const Instruction& instruction) const {
    const int64_t result = result_.stride[instruction.result.region], list = static_cast<int64_t>(program_.pool.size());
    return {Loop{static_cast<int32_t>(members_), {result, list, 0, result}, members_ > 1},
            Loop{static_cast<int32_t>(instruction.sizes[0]), {1, 1, 1, 1}}};
  }

  void listed(Kernel kernel, const Instruction& instruction) {
    const bool back = kernel == Kernel::SCATTER;
    LoweredCall call = blank(kernel, {back ? gradients(instruction.result) : values(instruction.result)});
    call.spaces[1] = Space::VALUE_BASE;
    call.spaces[2] = Space::GRADIENT_BASE;
    call.spaces[5] = Space::POOL;
    call.at[5] = instruction.views[0].base;
    issue(call, {}, list_loops(instruction));
  }

  void indexed(const Instruction& instruction, bool back = false, uint8_t mask = 0) {
    LoweredCall call = blank(back ? Kernel::INDEXED_BACK : Kernel::INDEXED, {values(instruction.result)});
    call.call.row = instruction.row;
    call.call.which = mask;
    call.spaces[1] = Space::VALUE_BASE;
    call.spaces[2] = Space::GRADIENT_BASE;
    if (back) {
      call.spaces[0] = Space::NONE;
      call.spaces[3] = Space::VALUES;
      call.spaces[4] = Space::GRADIENTS;
      call.at[3] = call.at[4] = place(instruction.result);
    }
    for (int i = 0; i < instruction.operands; ++i) {
      call.spaces[5 + i] = Space::POOL;
      call.at[5 + i] = instruction.views[i].base;
    }
    issue(call, {}, list_loops(instruction));
  }

  void select(const Instruction& instruction, bool back) {
    const View &r = instruction.result, &x = instruction.views[0], &slot = instruction.views[1];
    Loops loops = loops_of(instruction, {&r, &x, &slot});
    LoweredCall call = blank(back ? Kernel::SELECT_BACK : Kernel::SELECT, {back ? gradients(r) : values(r)});
    call.call.stride = instruction.stride;
    call.spaces[5] = Space::INDICES;
    call.at[5] = slot.base;
    loops[0].s[2] = static_cast<int64_t>(program_.index_limits.size());
    if (instruction.through_pool) {
      call.call.pooled = 1;
      call.spaces[1] = Space::VALUE_BASE;
      call.spaces[2] = Space::GRADIENT_BASE;
      call.spaces[6] = Space::POOL;
      call.at[6] = x.base;
      loops[0].s[1] = static_cast<int64_t>(program_.pool.size());
      // The addresses move, not the bases.
      return select_pooled(call, joined(loops));
    }
    call.spaces[1] = back ? Space::GRADIENTS : Space::VALUES;
    call.at[1] = place(x);
    loops = joined(loops);
    const Loop inner = take_best(loops, [](const Loop& loop) {
      return (loop.s[0] == 1 && loop.s[1] == 1 && loop.s[2] == 0 ? int64_t{1} << 40 : 0) + loop.n;
    });
    issue(call, loops, {inner});
  }

  void select_pooled(const LoweredCall& call, const Loops& loops) {
    if (loops.size() <= kLoops) return issue(call, loops, {});
    throw Unsupported("a selection is nested too deep");
  }

  // --- backward ----------------------------------------------------------------------------------------------------

  void backward(const Instruction& instruction) {
    const View *r = &instruction.result, *v = instruction.views.data();
    if (!active(*r)) return;
    switch (instruction.code) {
      case Code::MAP: return map_back(instruction);
      case Code::DOT:
        for (int i = 0; i < 2; ++i) {
          if (!active(v[i])) continue;
          contract(gradients(v[i]), gradients(*r), values(v[1 - i]), loops_of(instruction, {&v[i], r, &v[1 - i]}),
                   true);
        }
        if (instruction.has_init && active(v[2])) {
          Instruction members = instruction;
          members.rank -= instruction.reduced;
          add(gradients(v[2]), gradients(*r), loops_of(members, {&v[2], r}), 1.0, true);
        }
        return;
      case Code::SUM:
        if (active(v[0])) add(gradients(v[0]), gradients(*r), loops_of(instruction, {&v[0], r}), 1.0, true);
        return;
      case Code::EXTREME: {
        if (!active(v[0])) return;
        LoweredCall call =
            blank(Kernel::EXTREME_BACK, {gradients(v[0]), values(v[0]), Operand{}, values(*r), gradients(*r)});
        call.call.accumulate = true;
        call.call.row = instruction.row;
        Loops loops = loops_of(instruction, {&v[0], &v[0], nullptr, r});
        const Loop inner = taken(loops, loops.size() - 1);
        return issue(call, joined(loops), {inner});
      }
      case Code::GATHER: return listed(Kernel::SCATTER, instruction);
      case Code::INDEXED: {
        uint8_t mask = 0;
        for (int i = 0; i < instruction.operands; ++i) {
          if (kFacts[instruction.row].flows[i]) mask = static_cast<uint8_t>(mask | 1 << i);
        }
        return indexed(instruction, true, mask);
      }
      case Code::SELECT:
        if (instruction.through_pool || active(v[0])) select(instruction, true);
        return;
    }
  }

  void map_back(const Instruction& instruction) {
    const View *r = &instruction.result, *v = instruction.views.data();
    for (int i = 0; i < instruction.operands; ++i) {
      if (!active(v[i]) || !kFacts[instruction.row].flows[i]) continue;
      const Operand target = gradients(v[i]), g = gradients(*r);
      switch (instruction.row) {
        case ROW_add:
        case ROW_identity: add(target, g, loops_of(instruction, {&v[i], r}), 1.0, true); continue;
        case ROW_sub: add(target, g, loops_of(instruction, {&v[i], r}), i ? -1.0 : 1.0, true); continue;
        case ROW_neg: add(target, g, loops_of(instruction, {&v[i], r}), -1.0, true); continue;
        case ROW_mul:
          contract(target, g, values(v[1 - i]), loops_of(instruction, {&v[i], r, &v[1 - i]}), true);
          continue;
        default: break;
      }
      // The partials of a row of three look at its condition alone.
      const bool two = instruction.operands == 2;
      LoweredCall call = blank(Kernel::MAP_BACK, {target, values(v[0]), two ? values(v[1]) : Operand{}, values(*r), g});
      call.call.row = instruction.row;
      call.call.which = static_cast<uint8_t>(i);
      call.call.accumulate = true;
      elementwise(call, loops_of(instruction, {&v[i], &v[0], two ? &v[1] : nullptr, r}));
    }
  }

  // --- gradients that are stored, not added --------------------------------------------------------------------------

  bool is_workspace(Address address) const {
    const Memory memory = program_.regions[result_.region_at(address)].memory;
    return memory == Memory::VALUE || memory == Memory::INPUT;
  }

  // The result's gradient is set before the pass; what guards compare is no result.
  void touch_result() {
    const Place& root = program_.roots[0];
    for (uint32_t member = 0; member < members_; ++member) {
      const Address at = result_.moved(program_, root.region, root.address) + result_.stride[root.region] * member;
      touched_[static_cast<size_t>(at)] = true;
    }
  }

  // A call whose targets nobody has written yet stores instead of adding, if it writes each of them once.
  void touch(LoweredCall& lowered) {
    if (out_ != &result_.backward) return;
    Call& call = lowered.call;
    switch (call.kernel) {
      case Kernel::SCATTER: return touch_list(lowered, 5);
      case Kernel::INDEXED_BACK:
        for (int i = 0; i < 3; ++i) {
          if (call.which >> i & 1) touch_list(lowered, 5 + i);
        }
        return;
      case Kernel::SELECT_BACK: return touch_candidates(program_.instructions[current_]);
      default: break;
    }
    if (lowered.spaces[0] != Space::GRADIENTS) return;
    const bool fresh = can_store(call) && is_workspace(lowered.at[0]) && untouched(lowered);
    if (fresh) call.accumulate = false;
    each_target(lowered, [&](Address at) {
      if (!fresh && !touched_[static_cast<size_t>(at)]) added_[static_cast<size_t>(at)] = true;
      touched_[static_cast<size_t>(at)] = true;
    });
  }

  void touch_list(const LoweredCall& lowered, int pointer) {
    const Call& call = lowered.call;
    for (int member = 0; member < call.n[3]; ++member) {
      for (int i = 0; i < call.n[4]; ++i) {
        const Address entry = lowered.at[pointer] + Address{member} * call.s[1][3] + i;
        const auto at = static_cast<size_t>(result_.pool[static_cast<size_t>(entry)]);
        if (!touched_[at]) added_[at] = true;
        touched_[at] = true;
      }
    }
  }

  // What is chosen is known only when it runs: any candidate may be added to.
  void touch_candidates(const Instruction& instruction) {
    const View& x = instruction.views[0];
    auto touch_one = [&](Address at) {
      const auto i = static_cast<size_t>(at);
      if (!touched_[i]) added_[i] = true;
      touched_[i] = true;
    };
    if (!instruction.through_pool) {
      const Address members = result_.stride[x.region] ? members_ : 1;
      const Address length = members * program_.regions[x.region].length;
      for (Address i = 0; i < length; ++i) touch_one(result_.base[x.region] + i);
      return;
    }
    for (const int32_t address : result_.pool) touch_one(address);
  }

  // Loops in which the target stands still must all be inside the kernel's own sum.
  static bool can_store(const Call& call) {
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

  static bool grouped(Kernel kernel) { return kernel == Kernel::CONTRACT_GROUPS_SPREAD; }

  template <class Visit>
  static void each_target(const LoweredCall& lowered, Visit visit) {
    const Call& call = lowered.call;
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

  // Whether all targets are new, and each is written once.
  bool untouched(const LoweredCall& lowered) {
    bool fresh = true;
    seen_.clear();
    each_target(lowered, [&](Address at) {
      fresh &= !touched_[static_cast<size_t>(at)];
      seen_.push_back(at);
    });
    if (!fresh) return false;
    std::sort(seen_.begin(), seen_.end());
    return std::adjacent_find(seen_.begin(), seen_.end()) == seen_.end();
  }

  // What must be zero before the backward calls: what some call adds to first, or reads without anybody's having
  // written it. Members are alike.
  void find_zeroed() {
    for (size_t region = 0; region < program_.regions.size(); ++region) {
      const Memory memory = program_.regions[region].memory;
      if (!program_.regions[region].active || (memory != Memory::VALUE && memory != Memory::INPUT)) continue;
      for (uint32_t i = 0; i < program_.regions[region].length; ++i) {
        if (needs_zero(region, i)) add_zeroed(result_.base[region] + i, result_.stride[region]);
      }
    }
  }

  bool needs_zero(size_t region, uint32_t i) {
    const Address members = result_.stride[region] ? members_ : 1;
    for (Address member = 0; member < members; ++member) {
      const auto at = static_cast<size_t>(result_.base[region] + i + result_.stride[region] * member);
      if (!touched_[at] || added_.count(at)) return true;
    }
    return false;
  }

  void add_zeroed(Address at, Address stride) {
    if (!result_.zeroed.empty() && result_.zeroed.back().end == at && result_.zeroed.back().stride == stride) {
      ++result_.zeroed.back().end;
    } else {
      result_.zeroed.push_back({at, at + 1, stride});
    }
  }

  struct Set {
    std::vector<bool> bits;
    bool count(size_t i) const { return i < bits.size() && bits[i]; }
    std::vector<bool>::reference operator[](size_t i) {
      if (i >= bits.size()) bits.resize(i + 1);
      return bits[i];
    }
  };

  const Program& program_;
  const uint32_t members_;  // for which loops are laid out
  Lowered result_;
  std::vector<LoweredCall>* out_ = &result_.forward;
  uint32_t current_ = 0;
  std::vector<bool> touched_;  // gradients that some backward call has written
  Set added_;                  // those among them that were added to first
  std::vector<Address> seen_;
};

}  // namespace

uint32_t Lowered::region_at(Address address) const {
  auto after = std::upper_bound(order.begin(), order.end(), address,
                                [&](Address at, uint32_t region) { return at < base[region]; });
  return *(after - 1);
}

Lowered lower(const Program& program, uint32_t capacity) { return Lowering(program, capacity).run(); }

}  // namespace retrograd::compiler
