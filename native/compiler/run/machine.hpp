// The virtual machine: a lowered program bound to memory, and its runs, forward and backward.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>

#include "compiler/lower/lower.hpp"
#include "compiler/run/guard_checks.hpp"
#include "compiler/run/guards.hpp"
#include "compiler/run/workspace.hpp"
#include "parameters/parameter_buffer.hpp"

namespace retrograd::compiler {

enum class Outcome : uint8_t {
  DONE,
  GUARD,       // a comparison came out differently: this call needs another trace
  EXCEPTIONAL  // an operation left its domain, or a number is not finite: the engine must decide what that means
};

// What the caller wants of a forward pass.
enum class Wanted : uint8_t {
  VALUE,
  GRADIENTS,  // a backward pass follows, and may be fused
              // with it
};

enum class GradientDestination : uint8_t {
  BUFFERS,    // gradients of parameters are added to their buffers
  WORKSPACE,  // they are left in the machine's own memory
};

// Machine code for one pass. It finds its numbers through a table of addresses, so that a machine and its twins share
// it.
struct MachineCode {
  using Function = int32_t (*)(const uint64_t* bases);
  Function run = nullptr;
  std::vector<uint64_t> bases;
  uint64_t calls = 0;  // where it has the calls of prebuilt kernels that are left, and how many bytes they take
  size_t call_bytes = 0;
};

// A stretch of memory.
struct Block {
  uint64_t begin;
  size_t bytes;
};

// An address in one of some blocks, in the block that stands for it; others stay as they are.
uint64_t relocated(uint64_t address, std::span<const Block> from, std::span<const Block> to);

using ParameterBuffers = std::vector<std::shared_ptr<ParameterBuffer>>;
// Gradients of parameters, by buffer.
using ParameterGradients = std::vector<std::vector<double>>;

// A program lowered for batches of up to `capacity` elements. It owns its workspace from the beginning of a forward
// pass to the end of the backward pass, if no other machine runs in between.
class Machine {
 public:
  // `results`: of a program with several, their numbers among its roots; they must outlive this.
  Machine(const Program& program, const std::vector<double>& literals, std::span<const uint32_t> results,
          ParameterBuffers buffers, uint32_t capacity, Workspaces& workspaces);

  // A machine that does the same on memory of its own, where it keeps a copy of the parameters, too, and their
  // gradients: between prepare() and add_gradients_out() it touches nothing that others can reach.
  std::unique_ptr<Machine> twin() const;
  // Of a twin: copies the parameters, and takes over the machine code that `original` has.
  void prepare(const Machine& original);

  uint32_t capacity() const { return lowered_->capacity; }
  // The batch size of the next run; the capacity at first.
  void set_batch_size(uint32_t members);
  uint32_t batch_size() const { return batch_size_; }

  // Takes the workspace; to be called before inputs are set.
  void enter();
  // Sets one batch element's inputs and reads its results, as doubles.
  void set_inputs(uint32_t member, bool active, const double* numbers);
  int32_t* indices(uint32_t member) { return indices_.data() + size_t{member} * index_count_; }
  double root(uint32_t member, size_t which) const;
  // Where the first member's several results are.
  std::span<const double* const> results() const { return result_places_; }
  void input_gradients(uint32_t member, double* gradients) const;
  double parameter_gradient(uint32_t buffer, uint32_t index) const;  // after GradientDestination::WORKSPACE

  // Runs forward. The outcome is that of the whole batch; `broken`, if given, receives the elements whose guards
  // failed.
  Outcome forward(std::span<const Guard> guards, Wanted wanted, std::vector<uint32_t>* broken = nullptr);
  // Of one call, whose guards did not hold.
  Divergence divergence() const { return divergence_; }
  // Of a twin, gradients stay in its memory; those of the pass before are added to unless this one is the `first`.
  void backward(double seed, GradientDestination target, bool first = true);
  // Whether backward passes of a twin can add up.
  bool accumulates() const { return direct_ && !lowered_->is_fused(); }
  // Adds the gradients of parameters in the machine's own memory to their buffers, or to `sums`.
  void add_gradients_out();
  void add_gradients_to(ParameterGradients& sums) const;

  // The passes that this machine uses for a destination of gradients.
  std::vector<int> passes(GradientDestination target) const;
  // The bound calls, which the JIT compiles, and the machine code that replaces them, for the present batch size.
  const std::vector<KernelCall>& calls(int pass) const { return calls_[pass]; }
  void install(int pass, MachineCode code);
  bool has_code() const { return use_[batch_size_].code[FORWARD].run != nullptr; }
  uint32_t runs() const { return use_[batch_size_].runs; }
  // Counts a run that a twin did for this machine.
  void count_twin() { ++use_[batch_size_].runs; }
  // The batch sizes that it has run with, in ascending order.
  std::vector<uint32_t> batch_sizes() const;
  // The addresses of its values and gradients.
  uintptr_t numbers() { return reinterpret_cast<uintptr_t>(workspace_->values.at()); }
  uintptr_t gradients() { return reinterpret_cast<uintptr_t>(workspace_->gradients.at()); }

  // Where its own numbers are: what its machine code may refer to, besides what never changes. A twin has as many
  // blocks, in the same order.
  std::vector<Block> blocks() const;
  // What never changes.
  std::vector<Block> constant_blocks() const;

  const Lowered& lowered() const { return *lowered_; }
  // The address and number of each literal.
  std::span<const std::pair<Address, double>> literals() const { return std::span(fixed_).first(literals_); }
  size_t bytes() const { return bytes_; }

 private:
  double* value_at(Address address) const { return reinterpret_cast<double*>(workspace_->values.at()) + address; }
  double* gradient_at(Address address) const { return reinterpret_cast<double*>(workspace_->gradients.at()) + address; }
  Machine(const Machine& original, std::shared_ptr<Workspace> workspace);
  void bind_all();
  bool in_buffers() const { return direct_ && !twin_; }
  void read_parameters();
  int choose_backward(GradientDestination target, bool first);
  std::vector<KernelCall> bind(int pass);
  void choose_kernel(KernelCall& call);
  double* locate(Address address, bool gradient, GradientDestination target) const;
  void find_fixed();
  void find_checked_ranges();
  void find_roots();
  bool finite(Range range) const;
  bool finite() const;
  void zero(int pass);
  void seed(double number, GradientDestination target);
  void scale_gradients(double factor);
  bool run(int pass);
  Outcome run_guarded(std::span<const Guard> guards);
  void schedule(std::span<const Guard> guards);
  bool all_hold(std::span<const Guard> guards);
  bool run_fused();
  int prepare_buffers();
  void move(std::vector<KernelCall>& list, int pass, const Repeat& repeat, int64_t strips);

  // What happened with one batch size.
  struct Use {
    uint32_t runs = 0;
    MachineCode code[kPasses] = {};
  };

  const Program& program_;
  std::span<const uint32_t> results_;
  std::vector<const double*> root_places_, result_places_;  // of the first member
  ParameterBuffers buffers_;
  std::shared_ptr<const Lowered> lowered_;
  bool direct_;        // parameters are used in their buffers, without a copy
  bool twin_ = false;  // but not by this one
  uint32_t index_count_;
  uint32_t batch_size_;
  size_t bytes_;
  std::shared_ptr<Workspace> workspace_;
  std::vector<int32_t> indices_;
  std::vector<std::pair<Address, double>> fixed_;  // the literals first
  size_t literals_ = 0;
  std::vector<Range> checked_;                     // must be finite: the program's result would not show it
  std::vector<ParameterBuffer*> checked_buffers_;  // the same for parameters
  std::vector<KernelCall> calls_[kPasses];
  std::deque<std::vector<int32_t>> ragged_rows_;  // of calls with ragged rows
  GuardSchedule schedule_;                        // after calls of the forward pass
  std::unique_ptr<GuardChecks> checks_;           // of one member
  Divergence divergence_;
  bool swept_ = false;  // the workspace holds the gradients of the last forward pass, times `scale_`
  double scale_ = 1.0;
  std::vector<Use> use_;                              // by batch size
  uint64_t installed_ = 0;                            // counts what was installed; a twin has so much of it
  std::deque<std::vector<KernelCall>> copied_calls_;  // a twin's, for its machine code
};

}  // namespace retrograd::compiler
