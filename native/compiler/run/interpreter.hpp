// The interpreter: evaluates the scalar graph node by node in order of creation, and back. It does the engine's
// operations in the engine's order, so it gives the same bits. It runs exact mode, and decides what happens when the
// machine meets an exceptional number.
#pragma once

#include <functional>

#include "compiler/run/machine.hpp"

namespace retrograd::compiler {

class Interpreter {
 public:
  // `graph` is the lifted graph, not the expanded one; it and `leaves` must outlive this.
  Interpreter(const Graph& graph, const LeafLayout& leaves, std::vector<std::shared_ptr<ParameterBuffer>> buffers);

  void set_inputs(bool active, const double* numbers);
  void set_literals(const std::vector<double>& numbers);
  std::vector<int32_t>& indices() { return indices_; }
  double root(size_t which) const { return values_[roots_[which]]; }
  void input_gradients(double* gradients) const;
  double leaf_gradient(size_t leaf) const { return adjoints_[leaf]; }

  // EXCEPTIONAL if an operation must raise, or (`strict`) would raise without rg.errstate: the engine then raises.
  Outcome forward(std::span<const Guard> guards, bool strict);
  void backward(double seed, GradientDestination target);

  size_t bytes() const { return 16 * values_.size() + 4 * operands_.size(); }

 private:
  uint32_t flat(Id id) const;
  bool nary(size_t node);
  uint32_t first_extreme(size_t node) const;
  void nary_back(size_t node, double gradient, const uint32_t* targets);

  const Graph& graph_;
  const LeafLayout& leaves_;
  std::vector<std::shared_ptr<ParameterBuffer>> buffers_;
  uint32_t first_node_;
  const uint32_t* targets();

  std::vector<uint32_t> operands_, roots_;
  std::vector<uint32_t> chosen_, targets_;  // see targets(); empty when nothing is selected
  std::vector<double> values_, adjoints_;
  std::vector<int32_t> indices_;
  std::vector<double> scratch_;
};

}  // namespace retrograd::compiler
