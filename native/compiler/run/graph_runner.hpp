// Runs single calls of a graph: in machine code where there is some, and node by node where there is none, or where the
// code meets a number that the engine has rules for.
#pragma once

#include "compiler/graph/stored_graph.hpp"
#include "compiler/run/graph_code.hpp"
#include "compiler/run/interpreter.hpp"

namespace retrograd::compiler {

class GraphRunner {
 public:
  // All of them must outlive it; `outputs` are the numbers of several results among the roots. A `twin` works on memory
  // of its own: after prepare() it touches nothing that others can reach, but the graph, which never changes.
  GraphRunner(const StoredGraph& graph, const LeafLayout& leaves, const std::vector<uint32_t>& outputs,
              const ParameterBuffers& buffers, bool twin = false)
      : graph_(graph), leaves_(leaves), outputs_(outputs), buffers_(buffers), twin_(twin) {}

  // Of a twin: copies the parameters, and runs the code that `original` runs.
  void prepare(const GraphRunner& original);

  // EXCEPTIONAL if an operation must raise, or (`strict`) would raise without rg.errstate: the engine then raises.
  Outcome forward(const Arguments& arguments, std::span<const Guard> guards, bool strict);
  // The same node by node, which rounds as the engine does.
  Outcome forward_by_nodes(const Arguments& arguments, std::span<const Guard> guards, bool strict);
  // Of a call whose guards did not hold.
  Divergence divergence() const { return by_code_ ? divergence_ : interpreter_->divergence(); }
  double root(size_t which) const { return by_code_ ? run_->root(0, which) : interpreter_->root(which); }
  // Where the several results are, as long as the next forward pass has not begun.
  std::span<const double* const> results() const { return by_code_ ? run_->results() : interpreter_->results(); }
  // A twin keeps the gradients of parameters to itself, until they are wanted.
  void backward(double seed, GradientDestination target);
  void input_gradients(double* gradients) const;
  double leaf_gradient(size_t leaf) const;
  void add_gradients_out();
  void add_gradients_to(ParameterGradients& sums) const;

  // Runs the code from the next call on; not between a forward and a backward pass, as rest() below.
  void install(std::shared_ptr<const GraphCode> code);
  bool has_code() const { return code_ != nullptr; }
  // Lets go of what can be made again.
  void rest() { interpreter_.reset(); }
  size_t bytes() const { return (interpreter_ ? interpreter_->bytes() : 0) + (run_ ? run_->bytes() : 0); }

 private:
  Interpreter& interpreter();
  void read_parameters();
  bool run_code(const Arguments& arguments);
  Outcome run_nodes(const Arguments& arguments, std::span<const Guard> guards, bool strict);
  Outcome check(std::span<const Guard> guards);

  const StoredGraph& graph_;
  const LeafLayout& leaves_;
  const std::vector<uint32_t>& outputs_;
  const ParameterBuffers& buffers_;
  const bool twin_;
  std::shared_ptr<const GraphCode> code_;
  std::unique_ptr<CodeRun> run_;              // of that code, or of the one before
  std::unique_ptr<GuardChecks> checks_;       // of its numbers
  std::unique_ptr<Interpreter> interpreter_;  // made when it is first wanted
  bool by_code_ = false;                      // the last forward pass was the code's, and so is the backward pass
  Divergence divergence_;
  bool raises_[4] = {};  // which operations outside their domain raise
};

}  // namespace retrograd::compiler
