#include "compiler/run/batch_run.hpp"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>

namespace retrograd::compiler {
namespace {

// A batch has so many chunks at most, each of which is_long(), and so many members run together at least, if they fit
// in the cache: kernels do more of them at a time.
constexpr size_t kMostChunks = 16;
constexpr size_t kTogether = 8;

size_t quotient(size_t a, size_t b) { return (a + b - 1) / b; }

size_t members_of_chunk(const Specialization& entry, size_t members) {
  const size_t together =
      entry.runs_nodes_in_batches() ? entry.group_width() : std::min<size_t>(entry.largest_batch(), kTogether);
  size_t chunk = std::max(quotient(members, kMostChunks), together);
  while (chunk < members && !is_long(entry, chunk)) chunk += quotient(chunk, 8);
  return std::min(chunk, members);
}

void add(const ParameterGradients& from, ParameterGradients& to) {
  for (size_t b = 0; b < to.size(); ++b) {
    for (size_t i = 0; i < to[b].size(); ++i) to[b][i] += from[b][i];
  }
}

ParameterGradients zeros_for(const Specialization& entry) {
  ParameterGradients sums;
  for (const auto& buffer : entry.buffers) sums.emplace_back(buffer->size());
  return sums;
}

}  // namespace

BatchRun::BatchRun(std::shared_ptr<Specialization> entry, std::vector<const Arguments*> members,
                   std::optional<double> seed, size_t threads)
    : entry_(std::move(entry)),
      members_(std::move(members)),
      seed_(seed),
      inputs_(entry_->leaves.active_inputs),
      width_(std::max<size_t>(entry_->outputs.size(), 1)),
      sums_up_(seed && !entry_->differentiate_first),
      outcomes_(members_.size(), Outcome::GUARD),
      values_(members_.size() * width_),
      input_gradients_(seed ? members_.size() * inputs_ : 0),
      sums_(zeros_for(*entry_)) {
  chunk_ = threads ? members_of_chunk(*entry_, members_.size()) : members_.size();
  together_ =
      entry_->runs_nodes_in_batches() ? entry_->group_width() : std::min<size_t>(chunk_, entry_->largest_batch());
  chunk_ = quotient(chunk_, together_) * together_;
  chunks_ = quotient(members_.size(), chunk_);
  const size_t workers = std::clamp<size_t>(threads, 1, chunks_);
  workers_.reserve(workers);
  while (workers_.size() < workers) make_worker();
}

void BatchRun::make_worker() {
  Worker& worker = workers_.emplace_back();
  worker.twin = twin_for_batch(entry_, static_cast<uint32_t>(together_));
  const Machine* machine = worker.twin->machine();
  if (sums_up_ && (!machine || !machine->accumulates())) worker.sums = zeros_for(*entry_);
}

void BatchRun::run() {
  std::vector<std::thread> threads;
  threads.reserve(workers_.size());
  for (size_t i = 1; i < workers_.size(); ++i) {
    try {
      threads.emplace_back([this, i] { work(workers_[i]); });
    } catch (const std::system_error&) {
      break;  // there are no more: the others do its work
    }
  }
  work(workers_[0]);
  for (std::thread& thread : threads) thread.join();
  if (failed_) throw std::bad_alloc();
}

void BatchRun::work(Worker& worker) {
  for (size_t chunk; (chunk = next_.fetch_add(1)) < chunks_;) {
    try {
      if (failed_) return;
      run_chunk(worker, chunk * chunk_, std::min((chunk + 1) * chunk_, members_.size()));
      merge(worker, chunk);
    } catch (const std::bad_alloc&) {
      failed_ = true;
    }
  }
}

void BatchRun::run_chunk(Worker& worker, size_t begin, size_t end) {
  worker.first = true;
  worker.runs.clear();
  for (auto& sums : worker.sums) std::fill(sums.begin(), sums.end(), 0.0);
  for (size_t i = begin; i < end; i += together_) {
    if (worker.twin->runner()) {
      run_group(worker, i, std::min(i + together_, end));
      continue;
    }
    worker.together.clear();
    for (size_t member = i; member < std::min(i + together_, end); ++member) {
      worker.together.push_back(static_cast<uint32_t>(member));
    }
    run_together(worker);
  }
}

// Runs those members whose guards hold, in one run of the machine.
void BatchRun::run_together(Worker& worker) {
  Machine& machine = *worker.twin->machine();
  std::vector<uint32_t>& together = worker.together;
  for (Outcome outcome = Outcome::GUARD; outcome != Outcome::DONE;) {
    if (together.empty()) return;
    machine.set_batch_size(static_cast<uint32_t>(together.size()));
    machine.enter();
    for (uint32_t m = 0; m < together.size(); ++m) entry_->give(machine, m, *members_[together[m]]);
    worker.broken.clear();
    outcome = machine.forward(entry_->guards, seed_ ? Wanted::GRADIENTS : Wanted::VALUE, &worker.broken);
    if (outcome == Outcome::EXCEPTIONAL) {
      for (const uint32_t member : together) outcomes_[member] = outcome;
      return;
    }
    for (size_t b = worker.broken.size(); b-- > 0;) together.erase(together.begin() + worker.broken[b]);
  }
  worker.runs.push_back(static_cast<uint32_t>(together.size()));
  if (seed_) {
    machine.backward(*seed_, entry_->destination(machine), worker.first || !sums_up_);
    worker.first = false;
    if (sums_up_ && !machine.accumulates()) machine.add_gradients_to(worker.sums);
  }
  for (uint32_t m = 0; m < together.size(); ++m) {
    outcomes_[together[m]] = Outcome::DONE;
    take_values(together[m], [&](size_t root) { return machine.root(m, root); });
    if (seed_ && inputs_) machine.input_gradients(m, input_gradients_.data() + together[m] * inputs_);
  }
}

// Runs members side by side, and one by one those that are exceptional.
void BatchRun::run_group(Worker& worker, size_t begin, size_t end) {
  CodeRun* group = worker.twin->group();
  const auto alone = [&](size_t member) { interpret(worker, static_cast<uint32_t>(member)); };
  if (!group || end - begin == 1) {
    for (size_t member = begin; member < end; ++member) alone(member);
    return;
  }
  for (uint32_t call = 0; call < group->width(); ++call) {
    group->set_inputs(call, *members_[std::min(begin + call, end - 1)]);
  }
  const bool done = group->forward() && (!seed_ || group->backward(*seed_));
  for (size_t member = begin; member < end; ++member) {
    const auto call = static_cast<uint32_t>(member - begin);
    // As in GraphRunner::forward.
    if (!done || !group->finite_results(call) || (seed_ && !group->finite(call))) {
      alone(member);
      continue;
    }
    const auto root = [&](size_t which) { return group->root(call, which); };
    if (first_broken(entry_->guards, root)) continue;
    outcomes_[member] = Outcome::DONE;
    take_values(static_cast<uint32_t>(member), root);
    if (!seed_) continue;
    if (sums_up_) group->add_gradients_to(worker.sums, call);
    if (inputs_) group->input_gradients(call, input_gradients_.data() + member * inputs_);
  }
}

void BatchRun::interpret(Worker& worker, uint32_t member) {
  GraphRunner& runner = *worker.twin->runner();
  outcomes_[member] = worker.twin->forward(*members_[member], Wanted::VALUE);
  if (outcomes_[member] != Outcome::DONE) return;
  take_values(member, [&](size_t root) { return runner.root(root); });
  if (!seed_) return;
  runner.backward(*seed_, GradientDestination::WORKSPACE);
  if (sums_up_) runner.add_gradients_to(worker.sums);
  runner.input_gradients(input_gradients_.data() + member * inputs_);
}

template <class Root>
void BatchRun::take_values(uint32_t member, Root&& root) {
  double* values = values_.data() + member * width_;
  values[0] = root(0);
  for (size_t i = 0; i < entry_->outputs.size(); ++i) values[i] = root(entry_->outputs[i]);
}

void BatchRun::add_gradients_of(const Worker& worker, ParameterGradients& sums) {
  const Machine* machine = worker.twin->machine();
  if (!machine || !machine->accumulates()) return add(worker.sums, sums);
  if (!worker.first) machine->add_gradients_to(sums);
}

BatchRun::Sum BatchRun::kept(const Worker& worker) const {
  Sum kept{zeros_for(*entry_), worker.runs};
  if (sums_up_) add_gradients_of(worker, kept.sums);
  return kept;
}

// Adds the gradients of a chunk to those of the chunks before it, and those of later ones that waited for it.
void BatchRun::merge(Worker& worker, size_t chunk) {
  std::optional<Sum> early;
  if (turn_ != chunk) early = kept(worker);
  const std::lock_guard lock(mutex_);
  if (early) {
    early_.emplace(chunk, std::move(*early));
  } else {
    if (sums_up_) add_gradients_of(worker, sums_);
    runs_.insert(runs_.end(), worker.runs.begin(), worker.runs.end());
    ++turn_;
  }
  for (auto next = early_.find(turn_); next != early_.end(); next = early_.find(++turn_)) {
    add(next->second.sums, sums_);
    runs_.insert(runs_.end(), next->second.runs.begin(), next->second.runs.end());
    early_.erase(next);
  }
}

void BatchRun::add_gradients_out() {
  for (size_t b = 0; b < sums_.size(); ++b) {
    ParameterBuffer& buffer = *entry_->buffers[b];
    buffer.take_ownership();
    if (buffer.zero_pending()) {
      std::copy(sums_[b].begin(), sums_[b].end(), buffer.new_gradients());
      continue;
    }
    double* gradients = buffer.gradients();
    for (size_t i = 0; i < sums_[b].size(); ++i) gradients[i] += sums_[b][i];
  }
}

}  // namespace retrograd::compiler
