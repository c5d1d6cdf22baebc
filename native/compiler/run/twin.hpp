// A twin of a specialization's machine, or of its runner, runs passes without the GIL. One
// thread has it at a time.
#pragma once

#include "compiler/run/specialization.hpp"

namespace retrograd::compiler {

class Twin {
 public:
  // A twin of the machine, or of the entry's runner where there is none.
  Twin(Specialization& entry, std::shared_ptr<Machine> original);

  bool is_twin_of(const Machine* machine) const { return original_.get() == machine; }
  // Copies the parameters; with the GIL.
  void prepare();

  // One call, and its results. A backward pass leaves the parameters' gradients in the twin.
  Outcome forward(const Arguments& arguments, Wanted wanted);
  void backward(double seed);
  Divergence divergence() const { return machine_ ? machine_->divergence() : runner_->divergence(); }
  double root(uint32_t which) const { return machine_ ? machine_->root(0, which) : runner_->root(which); }
  std::span<const double* const> results() const { return machine_ ? machine_->results() : runner_->results(); }
  void input_gradients(double* gradients) const;
  double leaf_gradient(uint32_t leaf) const;
  // Adds the parameters' gradients to their buffers; with the GIL.
  void add_gradients_out();

  size_t bytes() const;

  Machine* machine() const { return machine_.get(); }
  GraphRunner* runner() const { return runner_.get(); }
  // Of a twin for batches, where members can run side by side; else null.
  CodeRun* group() const { return group_.get(); }
  // Copies the parameters for that; with the GIL.
  void prepare_group();

 private:
  Specialization& entry_;
  std::shared_ptr<Machine> original_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<GraphRunner> runner_;
  std::unique_ptr<CodeRun> group_;
};

// Gives a twin back to its specialization, which it keeps alive.
struct GiveBack {
  std::shared_ptr<Specialization> entry;
  void operator()(Twin* twin) const;
};
using LeasedTwin = std::unique_ptr<Twin, GiveBack>;

// A twin for single calls, with the GIL; and one for up to so many members of a batch at once.
LeasedTwin twin_for_call(const std::shared_ptr<Specialization>& entry);
LeasedTwin twin_for_batch(const std::shared_ptr<Specialization>& entry, uint32_t members);

// Whether a pass over so many members is long enough that other threads should run meanwhile, with so many operands for
// each parameter that copying these, and adding up their gradients, takes little beside it.
bool is_long(const Specialization& entry, size_t members = 1);

}  // namespace retrograd::compiler
