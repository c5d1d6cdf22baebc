// The interpreter: evaluates the scalar graph node by node in order of creation, and back. It does the engine's
// operations in the engine's order, so it gives the same bits. It runs exact mode, and decides what happens when the
// machine meets an exceptional number.
#pragma once

#include <functional>

#include "compiler/run/leaf_runs.hpp"
#include "compiler/run/machine.hpp"

namespace retrograd::compiler {

// Machine code for a whole graph, made by LLVM. It keeps the numbers of nodes in memory of its own, and finds all
// memory through a table of addresses.
struct GraphCode {
  using Function = int32_t (*)(double seed, const uint64_t* bases);
  Function forward = nullptr;  // not zero if an operation was outside its domain
  Function backward = nullptr;
  std::vector<uint64_t> bases;
  std::vector<Block> memory;  // its own
  std::vector<const double*> roots;
  std::vector<std::pair<void*, size_t>> zeroed;  // bytes that are zero before the backward pass
  size_t bytes = 0;
};

class Interpreter {
 public:
  // `graph` is the lifted graph, not the expanded one; it and `leaves` must outlive this.
  Interpreter(const Graph& graph, const LeafLayout& leaves, std::vector<std::shared_ptr<ParameterBuffer>> buffers);

  // One that does the same on memory of its own: after prepare() it touches nothing that others can reach.
  std::unique_ptr<Interpreter> twin() const;
  // Of a twin: copies the parameters, and takes over the machine code that `original` has.
  void prepare(const Interpreter& original);
  // Of a twin: adds the gradients of parameters to their buffers, or to `sums`.
  void add_gradients_out();
  void add_gradients_to(ParameterGradients& sums) const;

  void set_inputs(bool active, const double* numbers);
  void set_literals(const std::vector<double>& numbers);
  std::vector<int32_t>& indices() { return indices_; }
  double root(size_t which) const { return by_code_ ? *code_.roots[which] : values_[roots_[which]]; }
  void input_gradients(double* gradients) const;
  double leaf_gradient(size_t leaf) const { return adjoints_[leaf]; }

  // EXCEPTIONAL if an operation must raise, or (`strict`) would raise without rg.errstate: the engine then raises.
  Outcome forward(std::span<const Guard> guards, bool strict);
  // Of a call whose guards did not hold.
  Divergence divergence() const { return divergence_; }
  void backward(double seed, GradientDestination target);

  // Runs the code from now on. Where it meets an exceptional number, the nodes are interpreted as before.
  void install(GraphCode code) { code_ = std::move(code); }
  bool has_code() const { return code_.forward != nullptr; }
  // The values and adjoints of the leaves, where the code finds them.
  uintptr_t leaf_values() { return reinterpret_cast<uintptr_t>(values_.data()); }
  uintptr_t leaf_adjoints() { return reinterpret_cast<uintptr_t>(adjoints_.data()); }

  size_t bytes() const { return 16 * values_.size() + 4 * operands_.size() + code_.bytes; }

 private:
  std::vector<Block> blocks(const GraphCode& code) const;
  uint32_t flat(Id id) const;
  void schedule(std::span<const Guard> guards);
  void read_parameters();
  bool run(size_t begin, size_t end, bool strict);
  bool run_code_back(double seed, GradientDestination target);
  bool nary(size_t node);
  uint32_t first_extreme(size_t node) const;
  void nary_back(size_t node, double gradient, const uint32_t* targets);

  const Graph& graph_;
  const LeafLayout& leaves_;
  std::vector<std::shared_ptr<ParameterBuffer>> buffers_;
  std::vector<LeafRun> runs_;
  uint32_t first_node_;
  const uint32_t* targets();

  std::vector<uint32_t> operands_, roots_;
  std::vector<uint32_t> chosen_, targets_;  // see targets(); empty when nothing is selected
  std::vector<double> values_, adjoints_;
  std::vector<int32_t> indices_;
  GuardSchedule schedule_;  // after nodes
  Divergence divergence_;
  std::vector<double> scratch_;
  GraphCode code_;
  bool by_code_ = false;                          // the last forward pass was the code's
  bool twin_ = false;                             // keeps gradients of parameters to itself
  bool raise_[4] = {};                            // which operations outside their domain raise
  std::vector<std::unique_ptr<Numbers>> memory_;  // a twin's, for its machine code
};

}  // namespace retrograd::compiler
