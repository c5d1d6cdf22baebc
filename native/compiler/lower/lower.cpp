#include "compiler/lower/lower.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/lower/first_writes.hpp"
#include "compiler/lower/kernel_selection.hpp"
#include "compiler/lower/nonfinite.hpp"
#include "ops/op_traits.hpp"

namespace retrograd::compiler {
namespace {

// Loops are ordered for this batch size, whatever the capacity: most batches are small.
constexpr uint32_t kUsualBatch = 4;

class Lowering : public KernelSelector {
 public:
  Lowering(const Program& program, uint32_t capacity)
      : KernelSelector(capacity == 1 ? 1 : std::min(capacity, kUsualBatch)),
        program_(program),
        first_writes_(program, result_, batch_size_) {
    begin_pass(result_.forward);
    result_.capacity = capacity;
    result_.strips = plan_strips(program, capacity);
    for (uint32_t i = 0; i < program.regions.size(); ++i) result_.order.push_back(i);
    auto results = std::stable_partition(result_.order.begin(), result_.order.end(),
                                         [&](uint32_t i) { return program.regions[i].kind != RegionKind::VALUE; });
    std::stable_partition(results, result_.order.end(), [&](uint32_t i) { return !strips().contracted(i); });
    result_.base.resize(program.regions.size());
    result_.stride.resize(program.regions.size());
    for (const uint32_t i : result_.order) {
      const RegionKind kind = program.regions[i].kind;
      const bool own = kind == RegionKind::VALUE || kind == RegionKind::INPUT;
      const Address room = strips().room(program_, i), length = own ? room * capacity : room;
      result_.base[i] = result_.size;
      result_.stride[i] = own && capacity > 1 ? room : 0;
      result_.size += (length + 7) / 8 * 8;
      if (!strips().contracted(i)) result_.contracted_begin = result_.size;
    }
  }

  Lowered run() {
    move_pool();
    for (const StripPlan::Section& run : strips().sections) forward_run(run);
    if (!fuse_passes()) {
      start_backward(result_.backward);
      for (size_t i = strips().sections.size(); i-- > 0;) backward_run(strips().sections[i]);
    }
    find_zeroed();
    return std::move(result_);
  }

 private:
  // --- strips ------------------------------------------------------------------------------------------------------

  const StripPlan& strips() const { return result_.strips; }

  const Instruction& instruction_at(size_t place) {
    current_ = strips().order[place];
    return program_.instructions[current_];
  }

  void forward_run(const StripPlan::Section& run) {
    if (!run.along) {
      for (size_t i = run.begin; i < run.end; ++i) forward(instruction_at(i));
      return;
    }
    start_sums(run);
    strip_by_strip([&] { forward_strip(run); });
  }

  void start_sums(const StripPlan::Section& run) {
    for (size_t i = run.begin; i < run.end; ++i) {
      const Instruction& instruction = instruction_at(i);
      if (strips().reduces(program_, current_)) start_sum(instruction);
    }
  }

  void forward_strip(const StripPlan::Section& run) {
    for (size_t i = run.begin; i < run.end; ++i) forward(of_strip(instruction_at(i)));
    const std::vector<bool> watched = absorbing_regions(program_);
    for (uint32_t i = 0; i < watched.size(); ++i) {
      if (watched[i] && strips().contracted(i) && written_in(run, i)) check_finite(i);
    }
  }

  void backward_run(const StripPlan::Section& run) {
    if (run.along) return strip_by_strip([&] { backward_strip(run, true); });
    for (size_t i = run.end; i-- > run.begin;) backward(instruction_at(i));
  }

  // `again`: recompute the strip's results first.
  void backward_strip(const StripPlan::Section& run, bool again) {
    std::vector<LoweredCall> calls;  // generated first, to find what must be recomputed
    std::vector<LoweredCall>* pass = std::exchange(out_, &calls);
    for (uint32_t i = 0; i < program_.regions.size(); ++i) {
      if (strips().contracted(i)) first_writes_.reset(i);
    }
    for (size_t i = run.end; i-- > run.begin;) backward(of_strip(instruction_at(i)));
    out_ = pass;
    if (again) rematerialize(run, calls);
    for (uint32_t i = 0; i < program_.regions.size(); ++i) {
      if (strips().contracted(i) && written_in(run, i)) zero_init(i);
    }
    out_->insert(out_->end(), calls.begin(), calls.end());
  }

  void start_backward(Pass& pass) {
    begin_pass(pass);
    backward_ = true;
    first_writes_.start();
  }

  void begin_pass(Pass& pass) {
    repeats_ = &pass.repeats;
    out_ = &pass.calls;
  }

  // Fuses both passes: the backward calls after the last section along the loop run before that section goes forward.
  // False if they read the section's results.
  bool fuse_passes() {
    const auto& runs = strips().sections;
    size_t last = runs.size();
    while (last > 0 && !runs[last - 1].along) --last;
    if (last == 0) return false;
    const StripPlan::Section& run = runs[--last];
    begin_pass(result_.fused);
    for (size_t i = 0; i < last; ++i) forward_run(runs[i]);
    start_sums(run);
    start_backward(result_.fused);
    const size_t begin = out_->size();
    for (size_t i = runs.size(); i-- > last + 1;) backward_run(runs[i]);
    const bool known = std::none_of(out_->begin() + static_cast<std::ptrdiff_t>(begin), out_->end(),
                                    [&](const LoweredCall& call) { return reads_results(call, run.begin); });
    if (!known) {
      result_.fused = {};
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

  // Whether a call reads the results of an instruction from that position of the order on.
  bool reads_results(const LoweredCall& call, size_t place) const {
    if (call.call.kernel == Kernel::INDEXED_BACK) return true;
    for (int p = 0; p < kPointers; ++p) {
      if (call.spaces[p] != Space::VALUES) continue;
      if (written_in({place, strips().order.size(), false}, result_.region_at(call.at[p]))) return true;
    }
    return false;
  }

  // `body` emits the calls of one strip: once for all full strips, once for the remainder.
  template <class Body>
  void strip_by_strip(Body body) {
    const uint32_t whole = strips().length / strips().size, rest = strips().length % strips().size;
    position_.in_strip = true;
    position_.iterations = strips().size;
    position_.first = 0;
    size_t begin = out_->size();
    body();
    repeats_->push_back({begin, out_->size(), whole, position_.iterations});
    if (rest > 0) {
      position_.iterations = rest;
      position_.first = whole * strips().size;
      begin = out_->size();
      body();
      repeats_->push_back({begin, out_->size(), 1, position_.iterations});
    }
    position_ = {};
  }

  // An instruction restricted to the strip that begins at iteration `position_.first`.
  Instruction of_strip(Instruction instruction) {
    const auto axis = static_cast<size_t>(strips().axis[current_]);
    axis_ = axis;
    instruction.sizes[axis] = position_.iterations;
    place_in_strip(instruction.result);
    for (int i = 0; i < instruction.operands; ++i) place_in_strip(instruction.views[i]);
    return instruction;
  }

  void place_in_strip(View& view) const {
    if (!strips().contracted(view.region)) {
      view.base += Address{view.strides[axis_]} * position_.first;
      return;
    }
    if (strips().contracted_layout[view.region] == Layout::OUTER) return;
    // Iterations are contiguous: there are fewer of them.
    const Address length = strips().length, size = strips().size, start = program_.regions[view.region].base;
    view.base = start + (view.base - start) / length * size;
    for (size_t i = 0; i < view.strides.size(); ++i) {
      if (i != axis_) view.strides[i] = static_cast<int32_t>(view.strides[i] / length * size);
    }
  }

  // How far an operand of the current instruction advances per strip.
  Address step_of(const View& view) const {
    return position_.in_strip && !strips().contracted(view.region) ? Address{view.strides[axis_]} * strips().size : 0;
  }

  // Initializes a sum over the strip-mined loop.
  void start_sum(const Instruction& instruction) {
    if (instruction.has_init) return copy_init(instruction);
    Instruction members = instruction;
    members.rank -= instruction.reduced;
    fill(values(instruction.result), loops_of(members, {&instruction.result}));
  }
  bool sums_over_strips() const { return position_.in_strip && strips().reduces(program_, current_); }

  bool written_in(const StripPlan::Section& run, uint32_t region) const {
    for (size_t i = run.begin; i < run.end; ++i) {
      if (program_.instructions[strips().order[i]].result.region == region) return true;
    }
    return false;
  }

  // Emits a call that checks that a contracted region is finite.
  void check_finite(uint32_t region) {
    LoweredCall call = new_call(Kernel::FINITE, {{Space::VALUES, result_.base[region]}});
    emit(call, {}, {CallLoop{static_cast<int32_t>(strips().room(program_, region)), {1}}});
  }

  // Recomputes the results of a section that its backward calls read, and what those need (rematerialization).
  void rematerialize(const StripPlan::Section& run, const std::vector<LoweredCall>& calls) {
    std::vector<bool> needed(program_.regions.size());
    for (const LoweredCall& call : calls) {
      for (int p = 0; p < kPointers; ++p) {
        if (call.spaces[p] == Space::VALUES) needed[result_.region_at(call.at[p])] = true;
      }
    }
    std::vector<size_t> again;
    for (size_t i = run.end; i-- > run.begin;) {
      const Instruction& instruction = instruction_at(i);
      if (!needed[instruction.result.region] || !strips().contracted(instruction.result.region)) continue;
      for (int v = 0; v < instruction.operands; ++v) needed[instruction.views[v].region] = true;
      again.push_back(i);
    }
    backward_ = false;
    for (size_t i = again.size(); i-- > 0;) forward(of_strip(instruction_at(again[i])));
    backward_ = true;
  }

  // Zeroes the contracted gradients that a strip's calls would otherwise add to uninitialized.
  void zero_init(uint32_t region) {
    backward_ = false;  // these calls are not part of an adjoint
    for (const Range& range : first_writes_.needs_zero_init(region, position_)) {
      fill({Space::GRADIENTS, range.begin}, {{static_cast<int32_t>(range.end - range.begin), {1}}});
    }
    backward_ = true;
  }

  // --- operands and loops -----------------------------------------------------------------------------------------

  Address place(const View& view) const { return result_.moved(program_, view.region, view.base); }
  Operand values(const View& view) const { return {Space::VALUES, place(view), step_of(view)}; }
  Operand gradients(const View& view) const { return {Space::GRADIENTS, place(view), step_of(view)}; }
  bool active(const View& view) const { return program_.regions[view.region].active; }
  bool is_literal(const View& view) const { return program_.regions[view.region].kind == RegionKind::LITERAL; }

  // The loops of an instruction, the batch outermost, with the strides of up to four views.
  Loops loops_of(const Instruction& instruction, std::initializer_list<const View*> views) const {
    Loops loops(1 + instruction.rank);
    loops[0].n = static_cast<int32_t>(batch_size_);
    loops[0].batch = batch_size_ > 1;
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

  // Copies the lists of the pool for each batch element.
  void move_pool() {
    result_.pool.resize(program_.pool.size() * result_.capacity);
    for (size_t i = 0; i < program_.pool.size(); ++i) {
      const size_t region = region_at(program_, program_.pool[i]);
      result_.addresses_parameters |= program_.regions[region].kind == RegionKind::PARAMETER;
      for (uint32_t member = 0; member < result_.capacity; ++member) {
        const Address address =
            result_.base[region] + (program_.pool[i] - program_.regions[region].base) + result_.stride[region] * member;
        if (address > INT32_MAX) throw Unsupported("the function needs more memory than can be addressed");
        result_.pool[member * program_.pool.size() + i] = static_cast<int32_t>(address);
      }
    }
  }

  // --- forward -----------------------------------------------------------------------------------------------------

  void forward(const Instruction& instruction) {
    const View *r = &instruction.result, *v = instruction.views.data();
    switch (instruction.code) {
      case Code::MAP: {
        LoweredCall call = new_call(Kernel::MAP, {values(*r)});
        call.call.row = instruction.row;
        const View* views[3] = {};
        for (int i = 0; i < instruction.operands; ++i) {
          views[i] = &v[i];
          call.spaces[1 + i] = Space::VALUES;
          call.at[1 + i] = place(v[i]);
          call.strip_steps[1 + i] = step_of(v[i]);
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
        LoweredCall call = new_call(Kernel::EXTREME, {values(*r), values(v[0])});
        call.call.row = instruction.row;
        Loops loops = loops_of(instruction, {r, &v[0]});
        const CallLoop inner = remove_loop(loops, loops.size() - 1);
        loops = coalesced(loops);
        return emit(call, loops, {take_unit_stride(loops), inner});
      }
      case Code::GATHER: return listed(Kernel::GATHER, instruction);
      case Code::INDEXED: return indexed(instruction);
      case Code::SELECT: return select(instruction, false);
    }
  }

  // d = the start value.
  void copy_init(const Instruction& instruction) {
    Instruction members = instruction;
    members.rank -= instruction.reduced;
    add(values(instruction.result), values(instruction.views[2]),
        loops_of(members, {&instruction.result, &instruction.views[2]}), 1.0, false);
  }

  // The loops of a call with lists: over batch elements, each with its own lists, and along one list.
  Loops list_loops(const Instruction& instruction) const {
    const int64_t result = result_.stride[instruction.result.region], list = static_cast<int64_t>(program_.pool.size());
    return {CallLoop{static_cast<int32_t>(batch_size_), {result, list, 0, result}, batch_size_ > 1},
            CallLoop{static_cast<int32_t>(instruction.sizes[0]), {1, 1, 1, 1}}};
  }

  void listed(Kernel kernel, const Instruction& instruction) {
    const bool back = kernel == Kernel::SCATTER;
    LoweredCall call = new_call(kernel, {back ? gradients(instruction.result) : values(instruction.result)});
    call.spaces[1] = Space::VALUE_BASE;
    call.spaces[2] = Space::GRADIENT_BASE;
    call.spaces[5] = Space::POOL;
    call.at[5] = instruction.views[0].base;
    emit(call, {}, list_loops(instruction));
  }

  void indexed(const Instruction& instruction, bool back = false, uint8_t mask = 0) {
    LoweredCall call = new_call(back ? Kernel::INDEXED_BACK : Kernel::INDEXED, {values(instruction.result)});
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
    emit(call, {}, list_loops(instruction));
  }

  void select(const Instruction& instruction, bool back) {
    const View &r = instruction.result, &x = instruction.views[0], &slot = instruction.views[1];
    Loops loops = loops_of(instruction, {&r, &x, &slot});
    LoweredCall call = new_call(back ? Kernel::SELECT_BACK : Kernel::SELECT, {back ? gradients(r) : values(r)});
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
      // The addresses in the pool move, not the base pointers.
      return select_pooled(call, coalesced(loops));
    }
    call.spaces[1] = back ? Space::GRADIENTS : Space::VALUES;
    call.at[1] = place(x);
    loops = coalesced(loops);
    const CallLoop inner = take_best(loops, [](const CallLoop& loop) {
      return (loop.s[0] == 1 && loop.s[1] == 1 && loop.s[2] == 0 ? int64_t{1} << 40 : 0) + loop.n;
    });
    emit(call, loops, {inner});
  }

  void select_pooled(const LoweredCall& call, const Loops& loops) {
    if (loops.size() <= kLoops) return emit(call, loops, {});
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
            new_call(Kernel::EXTREME_BACK, {gradients(v[0]), values(v[0]), Operand{}, values(*r), gradients(*r)});
        call.call.accumulate = true;
        call.call.row = instruction.row;
        Loops loops = loops_of(instruction, {&v[0], &v[0], nullptr, r});
        const CallLoop inner = remove_loop(loops, loops.size() - 1);
        loops = coalesced(loops);
        return emit(call, loops, {take_unit_stride(loops), inner});
      }
      case Code::GATHER: return listed(Kernel::SCATTER, instruction);
      case Code::INDEXED: {
        uint8_t mask = 0;
        for (int i = 0; i < instruction.operands; ++i) {
          if (kTraits[instruction.row].differentiable[i]) mask = static_cast<uint8_t>(mask | 1 << i);
        }
        return indexed(instruction, true, mask);
      }
      case Code::SELECT:
        if (instruction.through_pool || active(v[0])) select(instruction, true);
        return;
    }
  }

  // The adjoint of x*x as one kernel: dx += 2*g*x. False if the operands differ, or one x feeds several results.
  bool squares(const Instruction& instruction) {
    const View *r = &instruction.result, *v = instruction.views.data();
    if (!(v[0] == v[1]) || !active(v[0])) return false;
    const Loops loops = coalesced(loops_of(instruction, {&v[0], r, &v[1]}));
    if (std::any_of(loops.begin(), loops.end(), [](const CallLoop& loop) { return loop.s[0] == 0; })) return false;
    LoweredCall call = new_call(Kernel::PRODUCT, {gradients(v[0]), gradients(*r), values(v[1])});
    call.call.k = 2.0;
    call.call.accumulate = true;
    scale(call, loops);
    return true;
  }

  void map_back(const Instruction& instruction) {
    const View *r = &instruction.result, *v = instruction.views.data();
    for (int i = 0; i < instruction.operands; ++i) {
      if (!active(v[i]) || !kTraits[instruction.row].differentiable[i]) continue;
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
      // The partials of an op with three operands depend on its condition only.
      const bool two = instruction.operands == 2;
      LoweredCall call =
          new_call(Kernel::MAP_BACK, {target, values(v[0]), two ? values(v[1]) : Operand{}, values(*r), g});
      call.call.row = instruction.row;
      call.call.which = static_cast<uint8_t>(i);
      call.call.accumulate = true;
      elementwise(call, loops_of(instruction, {&v[i], &v[0], two ? &v[1] : nullptr, r}));
    }
  }

  // --- first writes ------------------------------------------------------------------------------------------------

  void before_emit(LoweredCall& lowered) override {
    if (backward_) first_writes_.record(lowered, position_);
  }

  // Gradients that must be zero before the backward calls: some call adds to them first, or reads them although no call
  // writes them.
  void find_zeroed() {
    for (uint32_t region = 0; region < program_.regions.size(); ++region) {
      const bool parameter = program_.regions[region].kind == RegionKind::PARAMETER;
      if (!(parameter || first_writes_.is_workspace(region)) || strips().contracted(region)) continue;
      std::vector<Range>& ranges = parameter ? result_.zero_parameters : result_.zero_workspace;
      for (const Range& range : first_writes_.needs_zero_init(region, position_)) {
        Range* last = ranges.empty() ? nullptr : &ranges.back();
        if (last && !parameter && last->end == range.begin && last->stride == range.stride) {
          last->end = range.end;
        } else {
          ranges.push_back(range);
        }
      }
    }
  }

  const Program& program_;
  Lowered result_;
  std::vector<Repeat>* repeats_ = nullptr;  // of the pass under construction
  bool backward_ = false;                   // emitting backward calls
  size_t axis_ = 0;                         // the strip-mined loop of the current instruction
  StripPosition position_;                  // the current strip
  FirstWrites first_writes_;
};

}  // namespace

uint32_t Lowered::region_at(Address address) const {
  auto after = std::upper_bound(order.begin(), order.end(), address,
                                [&](Address at, uint32_t region) { return at < base[region]; });
  return *(after - 1);
}

size_t Pass::executed_calls() const {
  size_t made = calls.size();
  for (const Repeat& repeat : repeats) made += (repeat.end - repeat.begin) * (repeat.times - 1);
  return made;
}

Lowered lower(const Program& program, uint32_t capacity) { return Lowering(program, capacity).run(); }

}  // namespace retrograd::compiler
