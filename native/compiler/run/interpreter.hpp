// The interpreter: evaluates the scalar graph node by node in order of creation, and back. It does the engine's
// operations in the engine's order, so it gives the same bits. It runs exact mode, and decides what happens when the
// machine meets an exceptional number.
#pragma once

#include <algorithm>

#include "compiler/graph/graph.hpp"
#include "compiler/run/leaf_runs.hpp"

namespace retrograd::compiler {

class Interpreter {
 public:
  // `graph` is the lifted graph, not the expanded one; `results` are the numbers of several results among its roots.
  Interpreter(std::shared_ptr<const Graph> graph, const LeafLayout& leaves, std::span<const uint32_t> results);

  // The numbers of leaves: all of them, or the inputs from a call, and the parameters from their buffers.
  void set_leaves(const double* numbers) { std::copy_n(numbers, graph_->leaves.size(), values_.begin()); }
  void set_inputs(const Arguments& arguments) {
    leaves_.set_inputs(arguments, values_.data());
    indices_ = arguments.indices;
  }
  void read_parameters(const ParameterBuffers& buffers) { leaves_.read_parameters(buffers, values_.data()); }
  double root(size_t which) const { return values_[roots_[which]]; }
  // Where the several results are.
  std::span<const double* const> results() const { return results_; }
  void input_gradients(double* gradients) const { leaves_.input_gradients(adjoints_.data(), gradients); }
  double leaf_gradient(size_t leaf) const { return adjoints_[leaf]; }

  // EXCEPTIONAL if an operation must raise, or (`strict`) would raise without rg.errstate: the engine then raises.
  // `raises` says of divide, over and invalid whether they do.
  Outcome forward(std::span<const Guard> guards, bool strict, const bool* raises);
  // Of a call whose guards did not hold.
  Divergence divergence() const { return divergence_; }
  // Adds to the gradients of parameters in `buffers`, where there are any.
  void backward(double seed, const ParameterBuffers* buffers);
  // After a backward pass without: adds the gradients of parameters to their buffers, or to `sums`.
  template <class To>
  void add_gradients_to(To& to) const {
    leaves_.add_gradients_to(to, adjoints_.data());
  }

  size_t bytes() const { return 16 * values_.size() + 4 * operands_.size(); }

 private:
  uint32_t flat(Id id) const;
  void schedule(std::span<const Guard> guards);
  bool run(size_t begin, size_t end, bool strict, const bool* raises);
  bool nary(size_t node);
  uint32_t first_extreme(size_t node) const;
  void nary_back(size_t node, double gradient, const uint32_t* targets);
  const uint32_t* targets();

  const std::shared_ptr<const Graph> graph_;
  const LeafRuns leaves_;
  uint32_t first_node_;
  std::vector<uint32_t> operands_, roots_;
  std::vector<uint32_t> chosen_, targets_;  // see targets(); empty when nothing is selected
  std::vector<double> values_, adjoints_;
  std::vector<int32_t> indices_;
  GuardSchedule schedule_;  // after nodes
  Divergence divergence_;
  std::vector<double> scratch_;
  std::vector<const double*> results_;
};

}  // namespace retrograd::compiler
