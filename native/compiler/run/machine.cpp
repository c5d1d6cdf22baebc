#include "compiler/run/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/lower/nonfinite.hpp"

namespace retrograd::compiler {

namespace {

void count_single(KernelCall& call) {
  for (call.single = 0; call.single < kLoops && call.n[call.single] == 1;) ++call.single;
}

}  // namespace

Machine::Machine(const Program& program, const std::vector<double>& literals, std::span<const uint32_t> results,
                 ParameterBuffers buffers, uint32_t capacity, Workspaces& workspaces)
    : program_(program),
      results_(results),
      buffers_(std::move(buffers)),
      lowered_(std::make_shared<const Lowered>(lower(program, capacity))),
      direct_(!lowered_->addresses_parameters),
      index_count_(static_cast<uint32_t>(program.index_limits.size())),
      batch_size_(capacity),
      bytes_(static_cast<size_t>(lowered_->size) * sizeof(double)),
      workspace_(workspaces.of(bytes_)),
      indices_(size_t{index_count_} * capacity),
      use_(size_t{capacity} + 1) {
  find_checked_ranges();
  for (size_t i = 0; i < literals.size(); ++i) {
    const Location& place = program_.literals[i];
    if (place.address >= 0) fixed_.emplace_back(lowered_->moved(program_, place.region, place.address), literals[i]);
  }
  find_fixed();
  bind_all();
  find_roots();
}

Machine::Machine(const Machine& original, std::shared_ptr<Workspace> workspace)
    : program_(original.program_),
      results_(original.results_),
      buffers_(original.buffers_),
      lowered_(original.lowered_),
      direct_(original.direct_),
      twin_(true),
      index_count_(original.index_count_),
      batch_size_(original.capacity()),
      bytes_(original.bytes_),
      workspace_(std::move(workspace)),
      indices_(original.indices_.size()),
      use_(original.use_.size()) {
  find_checked_ranges();
  fixed_.assign(original.fixed_.begin(), original.fixed_.begin() + static_cast<std::ptrdiff_t>(original.literals_));
  find_fixed();
  bind_all();
  find_roots();
}

std::unique_ptr<Machine> Machine::twin() const {
  return std::unique_ptr<Machine>(new Machine(*this, std::make_shared<Workspace>(bytes_)));
}

void Machine::bind_all() {
  for (const GradientDestination target : {GradientDestination::BUFFERS, GradientDestination::WORKSPACE}) {
    // Private gradients are used by single calls only.
    if (target == GradientDestination::WORKSPACE && capacity() > 1) continue;
    for (const int pass : passes(target)) {
      if (calls_[pass].empty()) calls_[pass] = bind(pass);
    }
  }
  batch_size_ = 0;
  set_batch_size(capacity());
}

void Machine::set_batch_size(uint32_t members) {
  if (members == batch_size_) return;
  batch_size_ = members;
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::vector<LoweredCall>& lowered = lowered_->pass(pass).calls;
    for (size_t i = 0; i < calls_[pass].size(); ++i) {
      if (lowered[i].batch_loop < 0) continue;
      calls_[pass][i].n[lowered[i].batch_loop] = lowered[i].per_element * static_cast<int32_t>(members);
      count_single(calls_[pass][i]);
    }
  }
}

std::vector<uint32_t> Machine::batch_sizes() const {
  std::vector<uint32_t> sizes;
  for (uint32_t members = 1; members <= capacity(); ++members) {
    if (use_[members].runs) sizes.push_back(members);
  }
  return sizes;
}

// Finds the constants of the workspace: besides literals, zeros in the gaps between ranges that are checked together.
void Machine::find_fixed() {
  literals_ = fixed_.size();
  auto range = checked_.begin();  // they are in the order of their addresses, as the regions here
  for (const uint32_t i : lowered_->order) {
    const Address end = lowered_->base[i] + lowered_->strips.room(program_, i);
    while (range != checked_.end() && range->end <= end) ++range;
    if (range == checked_.end()) return;
    if (range->stride) continue;
    for (Address at = end; at < (end + 7) / 8 * 8 && at > range->begin && at < range->end; ++at) {
      fixed_.emplace_back(at, 0.0);
    }
  }
}

void Machine::enter() {
  if (workspace_->owner == this) return;
  workspace_->owner = this;
  for (const auto& [at, number] : fixed_) *value_at(at) = number;
}

double* Machine::locate(Address address, bool gradient, GradientDestination target) const {
  const uint32_t region = lowered_->region_at(address);
  const Region& of = program_.regions[region];
  if (in_buffers() && of.kind == RegionKind::PARAMETER && !(gradient && target == GradientDestination::WORKSPACE)) {
    ParameterBuffer& buffer = *buffers_[of.buffer];
    return (gradient ? buffer.gradients() : buffer.data()) + (address - lowered_->base[region]);
  }
  return gradient ? gradient_at(address) : value_at(address);
}

std::vector<int> Machine::passes(GradientDestination target) const {
  if (lowered_->is_fused()) return {FORWARD, FUSED};
  if (target == GradientDestination::WORKSPACE || !direct_) return {FORWARD, BACKWARD_PRIVATE};
  if (buffers_.empty()) return {FORWARD, BACKWARD_ACCUMULATE};
  return {FORWARD, BACKWARD_ACCUMULATE, BACKWARD_OVERWRITE};
}

std::vector<KernelCall> Machine::bind(int pass) {
  const GradientDestination target = pass == BACKWARD_ACCUMULATE || pass == BACKWARD_OVERWRITE
                                         ? GradientDestination::BUFFERS
                                         : GradientDestination::WORKSPACE;
  std::vector<KernelCall> bound;
  bound.reserve(lowered_->pass(pass).calls.size());
  for (const LoweredCall& lowered : lowered_->pass(pass).calls) {
    KernelCall call = lowered.call;
    if (lowered.first_write && pass != BACKWARD_ACCUMULATE) call.accumulate = false;
    for (int i = 0; i < kPointers; ++i) {
      switch (lowered.spaces[i]) {
        case Space::NONE: call.p[i] = nullptr; break;
        case Space::VALUES: call.p[i] = locate(lowered.at[i], false, target); break;
        case Space::GRADIENTS: call.p[i] = locate(lowered.at[i], true, target); break;
        case Space::VALUE_BASE: call.p[i] = value_at(0); break;
        case Space::GRADIENT_BASE: call.p[i] = gradient_at(0); break;
        case Space::POOL: call.p[i] = const_cast<int32_t*>(lowered_->pool.data()) + lowered.at[i]; break;
        case Space::INDICES: call.p[i] = indices_.data() + lowered.at[i]; break;
      }
    }
    choose_kernel(call);
    count_single(call);
    bound.push_back(call);
  }
  return bound;
}

void Machine::choose_kernel(KernelCall& call) {
  const KernelSet& set = best_kernels();
  if (call.pooled) {
    call.run = find_pooled_select(call.kernel == Kernel::SELECT_BACK);
    return;
  }
  call.run = find_kernel(set, call.kernel, call.row, call.which);
  if (call.kernel != Kernel::INDEXED && call.kernel != Kernel::INDEXED_BACK) return;
  const KernelFunction ragged =
      set.find(call.kernel == Kernel::INDEXED ? Kernel::RAGGED : Kernel::RAGGED_BACK, call.row, call.which);
  std::vector<int32_t> begins = ragged ? ragged_rows(call) : std::vector<int32_t>{};
  if (begins.empty()) return;
  call.run = ragged;
  call.stride = static_cast<int32_t>(std::find(begins.begin(), begins.end(), call.n[4]) - begins.begin());
  call.p[7] = ragged_rows_.emplace_back(std::move(begins)).data();
}

void Machine::set_inputs(uint32_t member, bool active, const double* numbers) {
  const size_t i = buffers_.size() + active;  // after the parameters; see reroll
  const Address base = lowered_->base[i] + lowered_->stride[i] * member;
  std::copy_n(numbers, program_.regions[i].length, value_at(base));
}

double Machine::root(uint32_t member, size_t which) const {
  const double* place = root_places_[which];
  return member == 0 ? *place : place[lowered_->stride[program_.roots[which].region] * member];
}

// Once: there may be thousands, whose places take longer to find than to read.
void Machine::find_roots() {
  root_places_.reserve(program_.roots.size());
  for (const Location& place : program_.roots) {
    const Address at = lowered_->moved(program_, place.region, place.address);
    root_places_.push_back(locate(at, false, GradientDestination::BUFFERS));
  }
  result_places_.reserve(results_.size());
  for (const uint32_t which : results_) result_places_.push_back(root_places_[which]);
}

void Machine::input_gradients(uint32_t member, double* gradients) const {
  const size_t i = buffers_.size() + 1;
  const Address base = lowered_->base[i] + lowered_->stride[i] * member;
  std::copy_n(gradient_at(base), program_.regions[i].length, gradients);
}

double Machine::parameter_gradient(uint32_t buffer, uint32_t index) const {
  return *gradient_at(lowered_->base[buffer] + index);
}

void Machine::read_parameters() {
  for (const auto& buffer : buffers_) buffer->take_ownership();
  if (in_buffers()) return;
  for (size_t i = 0; i < buffers_.size(); ++i) {  // the first regions are theirs; see reroll
    std::copy_n(buffers_[i]->data(), program_.regions[i].length, value_at(lowered_->base[i]));
  }
}

void Machine::add_gradients_out() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    ParameterBuffer& buffer = *buffers_[i];
    const bool blank = buffer.zero_pending();
    double* gradients = buffer.new_gradients();  // each of them is written
    for (uint32_t k = 0; k < program_.regions[i].length; ++k) {
      const double gradient = *gradient_at(lowered_->base[i] + k);
      gradients[k] = blank ? gradient : gradients[k] + gradient;
    }
  }
}

void Machine::add_gradients_to(ParameterGradients& sums) const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const double* gradients = gradient_at(lowered_->base[i]);
    for (uint32_t k = 0; k < program_.regions[i].length; ++k) sums[i][k] += gradients[k];
  }
}

// Finds what to check for NaN and infinity besides the result: see nonfinite.hpp. Of several results those that are
// computed are checked; others are the numbers that the caller gave.
void Machine::find_checked_ranges() {
  std::vector<bool> watched = absorbing_regions(program_);
  watched[program_.roots[0].region] = true;
  for (const uint32_t which : results_) {
    const uint32_t region = program_.roots[which].region;
    if (program_.regions[region].kind == RegionKind::VALUE) watched[region] = true;
  }
  for (const uint32_t i : lowered_->order) {
    if (!watched[i] || lowered_->strips.contracted(i)) continue;
    const Region& region = program_.regions[i];
    if (in_buffers() && region.kind == RegionKind::PARAMETER) {
      checked_buffers_.push_back(buffers_[region.buffer].get());
      continue;
    }
    const Address begin = lowered_->base[i], end = begin + region.length;
    // Merge ranges with small gaps: the gaps are zero.
    if (capacity() == 1 && !checked_.empty() && begin - checked_.back().end < 8) {
      checked_.back().end = end;
    } else {
      checked_.push_back({begin, end, lowered_->stride[i]});
    }
  }
}

bool Machine::finite(Range range) const {
  // The elements of a batch lie side by side.
  const Address count = (range.end - range.begin) * (range.stride ? batch_size_ : 1);
  return best_kernels().all_finite(value_at(range.begin), count);
}

bool Machine::finite() const {
  for (const Range& range : checked_) {
    if (!finite(range)) return false;
  }
  for (ParameterBuffer* buffer : checked_buffers_) {
    if (!best_kernels().all_finite(buffer->data(), static_cast<int64_t>(buffer->size()))) return false;
  }
  return true;
}

// Runs the calls of a pass. Returns whether an operation was outside its domain.
bool Machine::run(int pass) {
  if (const MachineCode& code = use_[batch_size_].code[pass]; code.run) return code.run(code.bases.data()) != 0;
  std::vector<KernelCall>& list = calls_[pass];
  bool outside = false;
  const auto run_some = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) outside |= list[i].run(list[i]);
  };
  size_t done = 0;
  for (const Repeat& repeat : lowered_->pass(pass).repeats) {
    run_some(done, repeat.begin);
    for (uint32_t i = 0; i < repeat.times; ++i) {
      run_some(repeat.begin, repeat.end);
      move(list, pass, repeat, i + 1 < repeat.times ? 1 : 1 - static_cast<int64_t>(repeat.times));
    }
    done = repeat.end;
  }
  run_some(done, list.size());
  return outside;
}

// Advances the pointers of repeated calls by a number of strips.
void Machine::move(std::vector<KernelCall>& list, int pass, const Repeat& repeat, int64_t strips) {
  if (strips == 0) return;
  const std::vector<LoweredCall>& lowered = lowered_->pass(pass).calls;
  for (size_t i = repeat.begin; i < repeat.end; ++i) {
    for (int p = 0; p < kPointers; ++p) {
      if (lowered[i].strip_steps[p] == 0) continue;
      list[i].p[p] = static_cast<double*>(list[i].p[p]) + lowered[i].strip_steps[p] * strips;
    }
  }
}

Outcome Machine::forward(std::span<const Guard> guards, Wanted wanted, std::vector<uint32_t>* broken) {
  ++use_[batch_size_].runs;
  if (!twin_) read_parameters();
  swept_ = wanted == Wanted::GRADIENTS && lowered_->is_fused();
  const bool by_calls = !swept_ && !has_code() && lowered_->forward.repeats.empty();
  if (by_calls && batch_size_ == 1 && !guards.empty()) {
    const Outcome outcome = run_guarded(guards);
    if (outcome == Outcome::GUARD && broken) broken->push_back(0);
    return outcome;
  }
  const bool outside = swept_ ? run_fused() : run(FORWARD);
  // Check guards first: past a branch that was not taken, anything may be outside its domain.
  bool held = true;
  const bool certain = guards.empty() || (batch_size_ == 1 && all_hold(guards));
  for (uint32_t member = 0; member < batch_size_ && !certain; ++member) {
    const auto first = first_broken(guards, [&](size_t which) { return root(member, which); });
    if (!first) continue;
    held = false;
    divergence_ = {*first, *first};
    if (broken) broken->push_back(member);
  }
  if (!held) return Outcome::GUARD;
  return outside || !finite() ? Outcome::EXCEPTIONAL : Outcome::DONE;
}

bool Machine::all_hold(std::span<const Guard> guards) {
  if (!checks_) checks_ = std::make_unique<GuardChecks>(guards, [&](size_t which) { return root_places_[which]; });
  return checks_->all_hold();
}

// Finds out how early each guard can be checked.
void Machine::schedule(std::span<const Guard> guards) {
  std::vector<size_t> after(program_.instructions.size() + 1);  // of each instruction, its last call; 0 for none
  const std::vector<LoweredCall>& calls = lowered_->forward.calls;
  for (size_t i = 0; i < calls.size(); ++i) after[calls[i].instruction] = i + 1;
  std::vector<Address> addresses;
  addresses.reserve(program_.roots.size());
  for (const Location& place : program_.roots) addresses.push_back(place.address);
  const std::vector<size_t> producers = producers_of(program_, addresses);
  const auto ready = [&](uint32_t which) {
    const bool computed = program_.regions[program_.roots[which].region].kind == RegionKind::VALUE;
    return computed ? after[producers[which]] : 0;
  };
  for (uint32_t i = 0; i < guards.size(); ++i) {
    schedule_.emplace_back(std::max(ready(guards[i].left), guards[i].right ? ready(guards[i].right) : 0), i);
  }
  std::sort(schedule_.begin(), schedule_.end());
}

// The forward pass of one call, no further than to the first guard that fails.
Outcome Machine::run_guarded(std::span<const Guard> guards) {
  if (schedule_.empty()) schedule(guards);
  std::vector<KernelCall>& list = calls_[FORWARD];
  bool outside = false;
  size_t done = 0;
  for (auto guard = schedule_.begin(); guard != schedule_.end(); ++guard) {
    const auto [after, number] = *guard;
    for (; done < after; ++done) outside |= list[done].run(list[done]);
    if (guards[number].holds([&](size_t which) { return root(0, which); })) continue;
    divergence_ = Divergence::at(guard, schedule_.end());
    return Outcome::GUARD;
  }
  for (; done < list.size(); ++done) outside |= list[done].run(list[done]);
  return outside || !finite() ? Outcome::EXCEPTIONAL : Outcome::DONE;
}

void Machine::zero(int pass) {
  for (const Range& range : lowered_->zero_workspace) {
    const size_t bytes = static_cast<size_t>(range.end - range.begin) * sizeof(double);
    if (range.end - range.begin == range.stride) {
      std::memset(gradient_at(range.begin), 0, bytes * batch_size_);
      continue;
    }
    for (uint32_t member = 0; member < (range.stride ? batch_size_ : 1); ++member) {
      std::memset(gradient_at(range.begin + range.stride * member), 0, bytes);
    }
  }
  if (pass == BACKWARD_ACCUMULATE) return;
  const GradientDestination target =
      pass == BACKWARD_OVERWRITE ? GradientDestination::BUFFERS : GradientDestination::WORKSPACE;
  for (const Range& range : lowered_->zero_parameters) {
    std::memset(locate(range.begin, true, target), 0, static_cast<size_t>(range.end - range.begin) * sizeof(double));
  }
}

void Machine::seed(double number, GradientDestination target) {
  const Location& place = program_.roots[0];
  const Region& region = program_.regions[place.region];
  for (uint32_t member = 0; member < batch_size_; ++member) {
    const Address at = lowered_->moved(program_, place.region, place.address) + lowered_->stride[place.region] * member;
    double* gradient = locate(at, true, target);
    // If the function returns a parameter itself, the seed is added like any other contribution.
    *gradient = region.kind == RegionKind::PARAMETER ? *gradient + number : number;
  }
}

bool Machine::run_fused() {
  zero(FUSED);
  seed(1.0, GradientDestination::WORKSPACE);
  scale_ = 1.0;
  return run(FUSED);
}

// Of parameters and of inputs.
void Machine::scale_gradients(double factor) {
  for (size_t i = 0; i < program_.regions.size(); ++i) {
    const Region& region = program_.regions[i];
    if (region.kind != RegionKind::PARAMETER && region.kind != RegionKind::INPUT) continue;
    const Address length = lowered_->stride[i] ? lowered_->stride[i] * batch_size_ : region.length;
    for (Address k = 0; k < length; ++k) *gradient_at(lowered_->base[i] + k) *= factor;
  }
}

void Machine::backward(double number, GradientDestination target, bool first) {
  if (lowered_->is_fused()) {
    if (!swept_) run_fused();
    swept_ = true;
    if (number != scale_) scale_gradients(number / scale_);
    scale_ = number;
    if (target == GradientDestination::BUFFERS && !twin_) add_gradients_out();
    return;
  }
  const int pass = choose_backward(target, first);
  zero(pass);
  seed(number, target);
  run(pass);
  if (!direct_ && target == GradientDestination::BUFFERS && !twin_) add_gradients_out();
}

int Machine::choose_backward(GradientDestination target, bool first) {
  if (!direct_ || target == GradientDestination::WORKSPACE) return BACKWARD_PRIVATE;
  if (!twin_) return prepare_buffers();
  return first && !buffers_.empty() ? BACKWARD_OVERWRITE : BACKWARD_ACCUMULATE;
}

// Chooses the backward pass: overwrite if all buffers' gradients are zero.
int Machine::prepare_buffers() {
  const bool blank = !buffers_.empty() && std::all_of(buffers_.begin(), buffers_.end(),
                                                      [](const auto& buffer) { return buffer->zero_pending(); });
  for (const auto& buffer : buffers_) {
    if (blank) {
      buffer->new_gradients();  // the pass writes all of it
    } else {
      buffer->gradients();  // writes pending zeros
    }
  }
  return blank ? BACKWARD_OVERWRITE : BACKWARD_ACCUMULATE;
}

// --- twins --------------------------------------------------------------------------------------------------------

std::vector<Block> Machine::blocks() const {
  const auto block = [](const void* begin, size_t bytes) { return Block{reinterpret_cast<uintptr_t>(begin), bytes}; };
  std::vector<Block> list{block(value_at(0), bytes_), block(gradient_at(0), bytes_),
                          block(indices_.data(), indices_.size() * sizeof(int32_t))};
  if (!direct_) return list;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    ParameterBuffer& buffer = *buffers_[i];
    const size_t bytes = program_.regions[i].length * sizeof(double);
    list.push_back(block(twin_ ? value_at(lowered_->base[i]) : buffer.data(), bytes));
    list.push_back(block(twin_ ? gradient_at(lowered_->base[i]) : buffer.gradient_memory(), bytes));
  }
  return list;
}

std::vector<Block> Machine::constant_blocks() const {
  std::vector<Block> list;
  const auto add = [&](const std::vector<int32_t>& numbers) {
    list.push_back({reinterpret_cast<uintptr_t>(numbers.data()), numbers.size() * sizeof(int32_t)});
  };
  add(lowered_->pool);
  for (const auto& rows : ragged_rows_) add(rows);
  return list;
}

void Machine::install(int pass, MachineCode code) {
  use_[batch_size_].code[pass] = std::move(code);
  ++installed_;
}

uint64_t relocated(uint64_t address, std::span<const Block> from, std::span<const Block> to) {
  for (size_t i = 0; i < from.size(); ++i) {
    if (address - from[i].begin < from[i].bytes) return to[i].begin + (address - from[i].begin);
  }
  return address;
}

void Machine::prepare(const Machine& original) {
  read_parameters();
  if (installed_ == original.installed_) return;
  const uint32_t size = batch_size_;
  const std::vector<Block> there = original.blocks(), here = blocks();
  for (uint32_t members = 1; members <= capacity(); ++members) {
    for (int pass = 0; pass < kPasses; ++pass) {
      const MachineCode& code = original.use_[members].code[pass];
      if (code.run == use_[members].code[pass].run) continue;
      set_batch_size(members);
      const std::vector<KernelCall>& calls = copied_calls_.emplace_back(calls_[pass]);
      const Block from{code.calls, code.call_bytes}, to{reinterpret_cast<uintptr_t>(calls.data()), code.call_bytes};
      MachineCode own = code;
      for (uint64_t& base : own.bases) base = relocated(relocated(base, there, here), {&from, 1}, {&to, 1});
      use_[members].code[pass] = std::move(own);
    }
  }
  set_batch_size(size);
  installed_ = original.installed_;
}

}  // namespace retrograd::compiler
