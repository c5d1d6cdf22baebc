#include "lower.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "rows.hpp"
#include "watch.hpp"

namespace retrograd::compiler {
namespace {

// One loop of a nest and how far each operand moves in it: d, a, b, c.
struct Loop {
  int32_t n = 1;
  int64_t s[4] = {0, 0, 0, 0};
};
using Loops = std::vector<Loop>;

// Drops loops of one iteration and joins those that are one walk for all operands.
Loops joined(Loops loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.n == 1; });
  auto continues = [](const Loop& outer, const Loop& inner) {
    for (int w = 0; w < 4; ++w) {
      if (outer.s[w] != inner.n * inner.s[w]) return false;
    }
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < loops.size() && !again; ++i) {
      for (size_t j = 0; j < loops.size() && !again; ++j) {
        if (i == j || !continues(loops[i], loops[j])) continue;
        loops[j].n *= loops[i].n;
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
  Address move = 0;  // from one strip to the next
};

class Lowering {
 public:
  Lowering(const Program& program, uint32_t batch, bool literals_vary) : program_(program) {
    result_.batch = batch;
    result_.strips = find_strips(program, batch);
    for (uint32_t i = 0; i < program.regions.size(); ++i) result_.order.push_back(i);
    auto results = std::stable_partition(result_.order.begin(), result_.order.end(),
                                         [&](uint32_t i) { return program.regions[i].memory != Memory::VALUE; });
    std::stable_partition(results, result_.order.end(), [&](uint32_t i) { return !strips().local(i); });
    result_.base.resize(program.regions.size());
    result_.stride.resize(program.regions.size());
    for (const uint32_t i : result_.order) {
      const Region& region = program.regions[i];
      const bool own = region.memory == Memory::VALUE || region.memory == Memory::INPUT ||
                       (region.memory == Memory::LITERAL && literals_vary);
      const Address length = (length_of(i) + 7) / 8 * 8;
      result_.base[i] = result_.size;
      if (!strips().local(i)) result_.local = result_.size + (own ? length * batch : length);
      result_.stride[i] = own && batch > 1 ? length : 0;
      result_.size += own ? length * batch : length;
    }
  }

  Lowered run() {
    move_pool();
    for (const Strips::Run& run : strips().runs) forward_run(run);
    if (!passes_together()) {
      start_backward(result_.backward);
      for (size_t i = strips().runs.size(); i-- > 0;) backward_run(strips().runs[i]);
    }
    find_zeroed();
    return std::move(result_);
  }

 private:
  // --- strips ------------------------------------------------------------------------------------------------------

  const Strips& strips() const { return result_.strips; }

  // Of a region, for one member; a local one has room for a strip.
  Address length_of(uint32_t region) const {
    const Address length = program_.regions[region].length;
    return strips().local(region) ? length / strips().length * strips().size : length;
  }

  const Instruction& instruction_at(size_t place) {
    current_ = strips().order[place];
    return program_.instructions[current_];
  }

  void forward_run(const Strips::Run& run) {
    if (!run.along) {
      for (size_t i = run.begin; i < run.end; ++i) forward(instruction_at(i));
      return;
    }
    start_sums(run);
    strip_by_strip([&] { forward_strip(run); });
  }

  void start_sums(const Strips::Run& run) {
    for (size_t i = run.begin; i < run.end; ++i) {
      const Instruction& instruction = instruction_at(i);
      if (strips().reduces(program_, current_)) start_sum(instruction);
    }
  }

  void forward_strip(const Strips::Run& run) {
    for (size_t i = run.begin; i < run.end; ++i) forward(of_strip(instruction_at(i)));
    const std::vector<bool> watched = absorbed_regions(program_);
    for (uint32_t i = 0; i < watched.size(); ++i) {
      if (watched[i] && strips().local(i) && written_in(run, i)) look_at(i);
    }
  }

  void backward_run(const Strips::Run& run) {
    if (run.along) return strip_by_strip([&] { backward_strip(run, true); });
    for (size_t i = run.end; i-- > run.begin;) backward(instruction_at(i));
  }

  // `again`: what the strip's results were is computed again.
  void backward_strip(const Strips::Run& run, bool again) {
    std::vector<LoweredCall> calls;  // they tell what else is needed
    std::vector<LoweredCall>* pass = std::exchange(out_, &calls);
    for (uint32_t i = 0; i < program_.regions.size(); ++i) {
      if (strips().local(i)) forget_touched(i);
    }
    for (size_t i = run.end; i-- > run.begin;) backward(of_strip(instruction_at(i)));
    out_ = pass;
    if (again) compute_again(run, calls);
    for (uint32_t i = 0; i < program_.regions.size(); ++i) {
      if (strips().local(i) && written_in(run, i)) each_unstored(i, [&](Range range) { fill_range(range); });
    }
    out_->insert(out_->end(), calls.begin(), calls.end());
  }

  void start_backward(Pass& pass) {
    begin_pass(pass);
    backward_ = true;
    touched_.assign(static_cast<size_t>(result_.size), false);
    added_ = {};
    touch_result();
  }

  void begin_pass(Pass& pass) {
    repeats_ = &pass.repeats;
    out_ = &pass.calls;
  }

  // Both passes in one: what comes after the last run along the loop goes back before that run goes forward. False
  // where that asks for the run's results.
  bool passes_together() {
    const auto& runs = strips().runs;
    size_t last = runs.size();
    while (last > 0 && !runs[last - 1].along) --last;
    if (last == 0) return false;
    const Strips::Run& run = runs[--last];
    begin_pass(result_.both);
    for (size_t i = 0; i < last; ++i) forward_run(runs[i]);
    start_sums(run);
    start_backward(result_.both);
    const size_t begin = out_->size();
    for (size_t i = runs.size(); i-- > last + 1;) backward_run(runs[i]);
    const bool known = std::none_of(out_->begin() + static_cast<std::ptrdiff_t>(begin), out_->end(),
                                    [&](const LoweredCall& call) { return reads_results(call, run.begin); });
    if (!known) {
      result_.both = {};
      backward_ = false;
      return false;
    }
    strip_by_strip([&] {
      backward_ = false;
      forward_strip(run);
      backward_ = true;
      backward_strip(run, false);
    });
    backward_ = false;
    for (size_t i = last + 1; i < runs.size(); ++i) forward_run(runs[i]);
    backward_ = true;
    for (size_t i = last; i-- > 0;) backward_run(runs[i]);
    return true;
  }

  // Whether a call reads what instructions from that place of the order on compute.
  bool reads_results(const LoweredCall& call, size_t place) const {
    if (call.call.kernel == Kernel::INDEXED_BACK) return true;
    for (int p = 0; p < kPointers; ++p) {
      if (call.spaces[p] != Space::VALUES) continue;
      if (written_in({place, strips().order.size(), false}, result_.region_at(call.at[p]))) return true;
    }
    return false;
  }

  // `body` issues the calls of one strip: of all whole ones, and of what is left.
  template <class Body>
  void strip_by_strip(Body body) {
    const uint32_t whole = strips().length / strips().size, rest = strips().length % strips().size;
    in_strip_ = true;
    iterations_ = strips().size;
    first_ = 0;
    size_t begin = out_->size();
    body();
    repeats_->push_back({begin, out_->size(), whole, iterations_});
    if (rest > 0) {
      iterations_ = rest;
      first_ = whole * strips().size;
      begin = out_->size();
      body();
      repeats_->push_back({begin, out_->size(), 1, iterations_});
    }
    in_strip_ = false;
  }

  // An instruction as it is done in the strip that begins at iteration `first_`.
  Instruction of_strip(Instruction instruction) {
    const auto axis = static_cast<size_t>(strips().axis[current_]);
    axis_ = axis;
    instruction.sizes[axis] = iterations_;
    place_in_strip(instruction.result);
    for (int i = 0; i < instruction.operands; ++i) place_in_strip(instruction.views[i]);
    return instruction;
  }

  void place_in_strip(View& view) const {
    if (!strips().local(view.region)) {
      view.base += Address{view.strides[axis_]} * first_;
      return;
    }
    if (strips().locals[view.region] == Along::OUTER) return;
    // Iterations lie side by side: fewer of them.
    const Address length = strips().length, size = strips().size, start = program_.regions[view.region].base;
    view.base = start + (view.base - start) / length * size;
    for (size_t i = 0; i < view.strides.size(); ++i) {
      if (i != axis_) view.strides[i] = static_cast<int32_t>(view.strides[i] / length * size);
    }
  }

  // How far an operand of the current instruction moves from one strip to the next.
  Address move_of(const View& view) const {
    return in_strip_ && !strips().local(view.region) ? Address{view.strides[axis_]} * strips().size : 0;
  }

  // What a sum over the loop starts from.
  void start_sum(const Instruction& instruction) {
    if (instruction.has_init) return copy_init(instruction);
    Instruction members = instruction;
    members.rank -= instruction.reduced;
    fill(values(instruction.result), loops_of(members, {&instruction.result}));
  }
  bool sums_over_strips() const { return in_strip_ && strips().reduces(program_, current_); }

  bool written_in(const Strips::Run& run, uint32_t region) const {
    for (size_t i = run.begin; i < run.end; ++i) {
      if (program_.instructions[strips().order[i]].result.region == region) return true;
    }
    return false;
  }

  // Whether all numbers of a local region are finite.
  void look_at(uint32_t region) {
    LoweredCall call = blank(Kernel::FINITE, {{Space::VALUES, result_.base[region]}});
    const Address length = result_.stride[region] ? result_.stride[region] * result_.batch : length_of(region);
    issue(call, {}, {Loop{static_cast<int32_t>(length), {1}}});
  }

  // The results of a run that its backward calls read, and what those need.
  void compute_again(const Strips::Run& run, const std::vector<LoweredCall>& calls) {
    std::vector<bool> needed(program_.regions.size());
    for (const LoweredCall& call : calls) {
      for (int p = 0; p < kPointers; ++p) {
        if (call.spaces[p] == Space::VALUES) needed[result_.region_at(call.at[p])] = true;
      }
    }
    std::vector<size_t> again;
    for (size_t i = run.end; i-- > run.begin;) {
      const Instruction& instruction = instruction_at(i);
      if (!needed[instruction.result.region] || !strips().local(instruction.result.region)) continue;
      for (int v = 0; v < instruction.operands; ++v) needed[instruction.views[v].region] = true;
      again.push_back(i);
    }
    backward_ = false;
    for (size_t i = again.size(); i-- > 0;) forward(of_strip(instruction_at(again[i])));
    backward_ = true;
  }

  void forget_touched(uint32_t region) {
    const auto begin = static_cast<size_t>(result_.base[region]);
    const Address length = result_.stride[region] ? result_.stride[region] * result_.batch : length_of(region);
    for (size_t i = begin; i < begin + static_cast<size_t>(length); ++i) {
      touched_[i] = false;
      added_[i] = false;
    }
  }

  void fill_range(Range range) {
    LoweredCall call = blank(Kernel::FILL, {{Space::GRADIENTS, range.begin}});
    call.call.k = 0.0;
    out_->push_back(call);
    out_->back().call.n[4] = static_cast<int32_t>(range.end - range.begin);
    for (int i = 0; i < kLoops - 1; ++i) out_->back().call.n[i] = 1;
    out_->back().call.s[0][4] = 1;
  }

  // --- operands and loops -----------------------------------------------------------------------------------------

  Address place(const View& view) const { return result_.moved(program_, view.region, view.base); }
  Operand values(const View& view) const { return {Space::VALUES, place(view), move_of(view)}; }
  Operand gradients(const View& view) const { return {Space::GRADIENTS, place(view), move_of(view)}; }
  bool active(const View& view) const { return program_.regions[view.region].active; }
  bool is_literal(const View& view) const { return program_.regions[view.region].memory == Memory::LITERAL; }

  // The loops of an instruction, the batch outermost, with the strides of up to four views.
  Loops loops_of(const Instruction& instruction, std::initializer_list<const View*> views) const {
    Loops loops(1 + instruction.rank);
    loops[0].n = static_cast<int32_t>(result_.batch);
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
    result_.pool.resize(program_.pool.size() * result_.batch);
    for (size_t i = 0; i < program_.pool.size(); ++i) {
      const size_t region = region_at(program_, program_.pool[i]);
      result_.addresses_parameters |= program_.regions[region].memory == Memory::PARAMETER;
      for (uint32_t member = 0; member < result_.batch; ++member) {
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
      lowered.moves[i] = operand.move;
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
      std::sort(outer.begin(), outer.end(), [](const Loop& a, const Loop& b) { return a.n < b.n; });
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
      lowered.call.n[i] = outer[static_cast<size_t>(i)].n;
      for (int w = 0; w < 4; ++w) lowered.call.s[w][i] = to_int(outer[static_cast<size_t>(i)].s[w]);
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
          call.moves[1 + i] = move_of(v[i]);
        }
        return elementwise(call, loops_of(instruction, {r, views[0], views[1], views[2]}));
      }
      case Code::DOT: {
        if (instruction.has_init && !sums_over_strips()) copy_init(instruction);
        return contract(values(*r), values(v[0]), values(v[1]), loops_of(instruction, {r, &v[0], &v[1]}),
                        instruction.has_init || sums_over_strips());
      }
      case Code::SUM: return sum(values(*r), values(v[0]), loops_of(instruction, {r, &v[0]}), sums_over_strips());
      case Code::EXTREME: {
        LoweredCall call = blank(Kernel::EXTREME, {values(*r), values(v[0])});
        call.call.row = instruction.row;
        Loops loops = loops_of(instruction, {r, &v[0]});
        const Loop inner = taken(loops, loops.size() - 1);
        loops = joined(loops);
        return issue(call, loops, {take_row(loops), inner});
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

  static auto longest(auto condition) {
    return [condition](const Loop& loop) -> int64_t { return condition(loop) ? loop.n : 0; };
  }

  // The loop along which all operands lie side by side, if there is one.
  static Loop take_row(Loops& loops) {
    return take_best(loops, longest([](const Loop& loop) {
                       return loop.s[0] == 1 && loop.s[1] == 1 && (loop.s[2] == 1 || loop.s[2] == 0);
                     }));
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
    if (!reduced) return scale(call, loops);
    const Loop inner = take_best(loops, longest([](const Loop& loop) { return loop.s[0] == 0; }));
    issue(call, loops, {take_row(loops), inner});
  }

  // A product: the loop that vectors like best goes innermost.
  void scale(const LoweredCall& call, Loops loops) {
    const Loop inner = take_best(loops, [&](const Loop& loop) {
      auto unit = [](int64_t s) { return s == 0 || s == 1; };
      int64_t score = loop.n;
      if (loop.s[0] == 1 && unit(loop.s[1]) && unit(loop.s[2])) score += int64_t{1} << 38;
      return score;
    });
    issue(call, loops, {inner});
  }

  static Loops swapped(Loops loops) {
    for (Loop& loop : loops) std::swap(loop.s[1], loop.s[2]);
    return loops;
  }

  // Groups of four, as attention heads of four dimensions.
  bool groups(Operand d, Operand a, Operand b, const Loops& all, bool accumulate) {
    for (int swap = 0; swap < 2; ++swap) {
      const Loops loops = swap ? swapped(all) : all;
      if (swap) std::swap(a, b);
      for (size_t j = 0; j < loops.size(); ++j) {
        if (loops[j].n != 4 || loops[j].s[2] != 1) continue;
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

  void listed(Kernel kernel, const Instruction& instruction) {
    const bool back = kernel == Kernel::SCATTER;
    for (uint32_t member = 0; member < result_.batch; ++member) {
      LoweredCall call = blank(kernel, {back ? gradients(instruction.result) : values(instruction.result)});
      call.at[0] += result_.stride[instruction.result.region] * member;
      call.spaces[1] = Space::VALUE_BASE;
      call.spaces[2] = Space::GRADIENT_BASE;
      call.spaces[5] = Space::POOL;
      call.at[5] = instruction.views[0].base + static_cast<Address>(member * program_.pool.size());
      Loop loop{static_cast<int32_t>(instruction.sizes[0]), {1, 1, 1, 1}};
      issue(call, {}, {loop});
    }
  }

  void indexed(const Instruction& instruction, bool back = false, uint8_t mask = 0) {
    for (uint32_t member = 0; member < result_.batch; ++member) {
      const Address offset = result_.stride[instruction.result.region] * member;
      LoweredCall call = blank(back ? Kernel::INDEXED_BACK : Kernel::INDEXED, {values(instruction.result)});
      call.call.row = instruction.row;
      call.call.which = mask;
      call.at[0] += offset;
      call.spaces[1] = Space::VALUE_BASE;
      call.spaces[2] = Space::GRADIENT_BASE;
      if (back) {
        call.spaces[0] = Space::NONE;
        call.spaces[3] = Space::VALUES;
        call.spaces[4] = Space::GRADIENTS;
        call.at[3] = call.at[4] = place(instruction.result) + offset;
      }
      for (int i = 0; i < instruction.operands; ++i) {
        call.spaces[5 + i] = Space::POOL;
        call.at[5 + i] = instruction.views[i].base + static_cast<Address>(member * program_.pool.size());
      }
      issue(call, {}, {Loop{static_cast<int32_t>(instruction.sizes[0]), {1, 1, 1, 1}}});
    }
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
        for (int i = 0; i < 2 && !squares(instruction); ++i) {
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
        loops = joined(loops);
        return issue(call, loops, {take_row(loops), inner});
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

  // What squares are owed, 2 g x in one go; false where they are not squares, or one is owed for several.
  bool squares(const Instruction& instruction) {
    const View *r = &instruction.result, *v = instruction.views.data();
    if (!(v[0] == v[1]) || !active(v[0])) return false;
    const Loops loops = joined(loops_of(instruction, {&v[0], r, &v[1]}));
    if (std::any_of(loops.begin(), loops.end(), [](const Loop& loop) { return loop.s[0] == 0; })) return false;
    LoweredCall call = blank(Kernel::PRODUCT, {gradients(v[0]), gradients(*r), values(v[1])});
    call.call.k = 2.0;
    call.call.accumulate = true;
    scale(call, loops);
    return true;
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

  bool is_workspace(uint32_t region) const {
    const Memory memory = program_.regions[region].memory;
    return memory == Memory::VALUE || memory == Memory::INPUT;
  }

  // The result's gradient is set before the pass; what guards compare is no result.
  void touch_result() {
    const Place& root = program_.roots[0];
    for (uint32_t member = 0; member < result_.batch; ++member) {
      const Address at = result_.moved(program_, root.region, root.address) + result_.stride[root.region] * member;
      touched_[static_cast<size_t>(at)] = true;
    }
  }

  // A call whose targets nobody has written yet stores instead of adding, if it writes each of them once.
  void touch(LoweredCall& lowered) {
    if (!backward_) return;
    Call& call = lowered.call;
    switch (call.kernel) {
      case Kernel::SCATTER: return touch_list(lowered, 5, call.n[4]);
      case Kernel::INDEXED_BACK:
        for (int i = 0; i < 3; ++i) {
          if (call.which >> i & 1) touch_list(lowered, 5 + i, call.n[4]);
        }
        return;
      case Kernel::SELECT_BACK: return touch_candidates(program_.instructions[current_]);
      default: break;
    }
    if (lowered.spaces[0] != Space::GRADIENTS) return;
    const uint32_t region = result_.region_at(lowered.at[0]);
    // What several strips add to is added to by the first one, too.
    const bool own = in_strip_ ? strips().local(region) : is_workspace(region);
    const bool fresh = can_store(call) && own && untouched(lowered);
    if (fresh) call.accumulate = false;
    const uint32_t times = lowered.moves[0] && first_ == 0 ? strips().length / strips().size : 1;
    each_target(lowered, [&](Address first) {
      for (uint32_t i = 0; i < times; ++i) {
        const auto at = static_cast<size_t>(first + lowered.moves[0] * i);
        if (!fresh && !touched_[at]) added_[at] = true;
        touched_[at] = true;
      }
    });
  }

  void touch_list(const LoweredCall& lowered, int pointer, int count) {
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(result_.pool[static_cast<size_t>(lowered.at[pointer] + i)]);
      if (!touched_[at]) added_[at] = true;
      touched_[at] = true;
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
      const Address length = std::max<Address>(result_.stride[x.region], program_.regions[x.region].length);
      const Address members = result_.stride[x.region] ? result_.batch : 1;
      for (Address i = 0; i < length * members; ++i) touch_one(result_.base[x.region] + i);
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
  // written it.
  void find_zeroed() {
    for (uint32_t region = 0; region < program_.regions.size(); ++region) {
      if (!is_workspace(region) || strips().local(region)) continue;
      each_unstored(region, [&](Range range) {
        if (!result_.zeroed.empty() && result_.zeroed.back().end == range.begin) {
          result_.zeroed.back().end = range.end;
        } else {
          result_.zeroed.push_back(range);
        }
      });
    }
  }

  // Whether an address is of iterations that a last strip has not.
  bool beyond_strip(uint32_t region, Address at) const {
    if (!in_strip_) return false;
    const Address stride = result_.stride[region] ? result_.stride[region] : length_of(region);
    const Address offset = (at - result_.base[region]) % stride, size = strips().size;
    if (strips().locals[region] == Along::INNER) return offset % size >= iterations_;
    return offset >= length_of(region) / size * iterations_;
  }

  // The ranges of a region's gradients that no call stores first.
  template <class Visit>
  void each_unstored(uint32_t region, Visit visit) {
    if (!program_.regions[region].active) return;
    const Address length = result_.stride[region] ? result_.stride[region] * result_.batch : length_of(region);
    Range range{0, 0};
    for (Address at = result_.base[region]; at < result_.base[region] + length; ++at) {
      const auto i = static_cast<size_t>(at);
      if ((touched_[i] && !added_.count(i)) || beyond_strip(region, at)) continue;
      if (range.end != at) {
        if (range.end > range.begin) visit(range);
        range.begin = at;
      }
      range.end = at + 1;
    }
    if (range.end > range.begin) visit(range);
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
  Lowered result_;
  std::vector<LoweredCall>* out_ = &result_.forward.calls;
  std::vector<Repeat>* repeats_ = &result_.forward.repeats;
  uint32_t current_ = 0;   // the instruction that is lowered
  bool backward_ = false;  // the calls issued are of its adjoint
  bool in_strip_ = false;
  size_t axis_ = 0;            // in a strip: the loop's number among those of the current instruction,
  uint32_t iterations_ = 0;    // how long it is,
  uint32_t first_ = 0;         // and the iteration it begins at
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

size_t Pass::calls_made() const {
  size_t made = calls.size();
  for (const Repeat& repeat : repeats) made += (repeat.end - repeat.begin) * (repeat.times - 1);
  return made;
}

Lowered lower(const Program& program, uint32_t batch, bool literals_vary) {
  return Lowering(program, batch, literals_vary).run();
}

}  // namespace retrograd::compiler
