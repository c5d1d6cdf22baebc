#include "compiler/run/twin.hpp"

#include <algorithm>

namespace retrograd::compiler {
namespace {

constexpr size_t kMostIdle = 64;

// From about so many tenths of a nanosecond on, a pass lets other threads run.
constexpr size_t kLong = 300'000;
constexpr size_t kOperandsPerParameter = 256;

LeasedTwin twin_of(const std::shared_ptr<Specialization>& entry, const std::shared_ptr<Machine>& machine) {
  auto& idle = entry->idle;
  idle.reserve(kMostIdle);
  const auto found =
      std::find_if(idle.begin(), idle.end(), [&](const auto& twin) { return twin->is_twin_of(machine.get()); });
  std::unique_ptr<Twin> twin;
  if (found == idle.end()) {
    twin = std::make_unique<Twin>(*entry, machine);
  } else {
    twin = std::move(*found);
    idle.erase(found);
  }
  twin->prepare();
  return LeasedTwin(twin.release(), GiveBack{entry});
}

}  // namespace

Twin::Twin(Specialization& entry, std::shared_ptr<Machine> original) : entry_(entry), original_(std::move(original)) {
  if (original_) {
    machine_ = original_->twin();
  } else {
    runner_ = std::make_unique<GraphRunner>(entry.graph, entry.leaves, entry.outputs, entry.buffers, true);
  }
}

void Twin::prepare() {
  if (machine_) return machine_->prepare(*original_);
  runner_->prepare(entry_.runner);
}

void Twin::prepare_group() {
  if (!entry_.group_code) return;
  if (!group_ || !group_->runs(entry_.group_code))
    group_ = std::make_unique<CodeRun>(entry_.group_code, entry_.leaves, entry_.outputs);
  group_->read_parameters(entry_.buffers);
}

Outcome Twin::forward(const Arguments& arguments, Wanted wanted) {
  if (runner_) return runner_->forward(arguments, entry_.guards, entry_.options.float_errors);
  machine_->enter();
  entry_.give(*machine_, 0, arguments);
  return machine_->forward(entry_.guards, wanted);
}

void Twin::backward(double seed) {
  if (runner_) return runner_->backward(seed, GradientDestination::WORKSPACE);
  machine_->backward(seed, entry_.destination(*machine_));
}

void Twin::input_gradients(double* gradients) const {
  if (runner_) return runner_->input_gradients(gradients);
  machine_->input_gradients(0, gradients);
}

double Twin::leaf_gradient(uint32_t leaf) const {
  const LeafLocation& place = entry_.leaves.locations[leaf];
  return runner_ ? runner_->leaf_gradient(leaf) : machine_->parameter_gradient(place.buffer, place.offset);
}

void Twin::add_gradients_out() {
  for (const auto& buffer : entry_.buffers) buffer->take_ownership();
  if (runner_) return runner_->add_gradients_out();
  machine_->add_gradients_out();
}

size_t Twin::bytes() const {
  return (machine_ ? 2 * machine_->bytes() : runner_->bytes()) + (group_ ? group_->bytes() : 0);
}

void GiveBack::operator()(Twin* twin) const {
  std::unique_ptr<Twin> own(twin);
  if (entry->idle.size() < kMostIdle) entry->idle.push_back(std::move(own));
}

LeasedTwin twin_for_call(const std::shared_ptr<Specialization>& entry) {
  return twin_of(entry, entry->runs_nodes() ? nullptr : entry->single);
}

LeasedTwin twin_for_batch(const std::shared_ptr<Specialization>& entry, uint32_t members) {
  if (entry->runs_nodes_in_batches()) {
    LeasedTwin twin = twin_of(entry, nullptr);
    twin->prepare_group();
    return twin;
  }
  const Machine* machine = &entry->machine(members);
  return twin_of(entry, machine == entry->single.get() ? entry->single : entry->many);
}

bool is_long(const Specialization& entry, size_t members) {
  if (entry.options.exact || entry.hits == 0 || members * entry.cost() < kLong) return false;
  size_t parameters = 0;
  for (const auto& buffer : entry.buffers) parameters += buffer->size();
  return members * entry.graph.operands() >= kOperandsPerParameter * parameters;
}

}  // namespace retrograd::compiler
