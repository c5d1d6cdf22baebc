// Machine code for a whole graph, made by LLVM. It runs one call, or a group of calls side by side: then each number is
// a vector, with a call in each of its elements.
#pragma once

#include "compiler/graph/graph.hpp"
#include "compiler/run/leaf_runs.hpp"

namespace retrograd::compiler {

// A leaf beside the graph's own, which stands for what an index argument selects.
struct Lookup {
  uint32_t leaf, slot;
  Id::Kind kind;                   // of what it selects; NODE: the leaf is the index itself, as a number
  std::vector<uint64_t> elements;  // leaves, or the bits of numbers
};

struct GraphCode {
  // It finds its memory through a table of addresses: values and adjoints of leaves, values and adjoints of the nodes
  // that are kept, and tables that never change.
  using Function = int32_t (*)(double seed, const uint64_t* bases);
  Function forward = nullptr;  // not zero if an operation was outside its domain, in any call
  Function backward = nullptr;
  uint32_t width = 1;  // calls that run side by side
  std::vector<uint64_t> tables;
  size_t table_bytes = 0;
  size_t kept = 0;        // numbers of nodes that it keeps, of each call
  std::vector<Id> roots;  // leaves, literals, and nodes by their places among those that are kept
  std::vector<double> literals;
  std::vector<std::pair<size_t, size_t>> zeroed;  // adjoints that are zero before the backward pass: begin and count
  std::vector<Lookup> lookups;                    // in the order of their leaves, which come last
};

// Memory for such code, and its passes, which need no GIL.
class CodeRun {
 public:
  // `results` are the numbers of several results among the roots.
  CodeRun(std::shared_ptr<const GraphCode> code, const LeafLayout& leaves, std::span<const uint32_t> results);

  uint32_t width() const { return code_->width; }
  bool runs(const std::shared_ptr<const GraphCode>& code) const { return code_ == code; }
  void read_parameters(const ParameterBuffers& buffers) { leaves_.read_parameters(buffers, leaf_values_, width()); }
  void set_inputs(uint32_t call, const Arguments& arguments) {
    leaves_.set_inputs(arguments, leaf_values_ + call, width());
    if (!code_->lookups.empty()) set_indices(call, arguments.indices);
  }
  // False if one of the calls must be run by other means.
  bool forward() {
    if (!code_->lookups.empty()) look_up();
    return code_->forward(0.0, bases_.data()) == 0;
  }
  double root(uint32_t call, size_t which) const { return roots_[which].of(call); }
  const double* root_place(size_t which) const { return roots_[which].at; }  // of the first call
  // Where the several results are, of code for one call.
  std::span<const double* const> results() const { return results_; }
  // Whether the first root and the several results of a call are finite.
  bool finite_results(uint32_t call) const;
  // The same. A gradient that is not finite is such a call's, too; see finite().
  bool backward(double seed);
  // Whether the gradients of a call are finite.
  bool finite(uint32_t call) const;
  double leaf_gradient(uint32_t call, size_t leaf) const { return leaf_adjoints_[leaf * code_->width + call]; }
  void input_gradients(uint32_t call, double* gradients) const {
    leaves_.input_gradients(leaf_adjoints_ + call, gradients, width());
  }
  void add_gradients_to(ParameterGradients& sums, uint32_t call = 0) const {
    leaves_.add_gradients_to(sums, leaf_adjoints_ + call, width());
  }
  // Of code for one call.
  const double* leaf_values() const { return leaf_values_; }
  void add_gradients_to(const ParameterBuffers& buffers) const { leaves_.add_gradients_to(buffers, leaf_adjoints_); }
  size_t bytes() const;

 private:
  void find_results();
  void set_indices(uint32_t call, const std::vector<int32_t>& indices);
  // Fills the leaves that stand for what indices select; and adds their gradients to those of what was selected.
  void look_up();
  void hand_back();
  struct Root {
    const double* at;
    uint32_t step;  // from one call to the next
    double of(uint32_t call) const { return at[size_t{step} * call]; }
  };

  std::shared_ptr<const GraphCode> code_;
  size_t count_;  // of leaves
  LeafRuns leaves_;
  std::vector<std::unique_ptr<Numbers>> memory_;  // values and adjoints of leaves, values and adjoints of nodes
  double *leaf_values_, *leaf_adjoints_, *values_, *adjoints_;
  std::vector<uint64_t> bases_;
  std::vector<uint32_t> chosen_;  // of each lookup and each call, the index
  std::vector<Root> roots_;
  std::vector<uint32_t> result_roots_;
  std::vector<const double*> results_;
  std::span<const double> computed_;  // the stretch of memory where several results are that the code computes
};

}  // namespace retrograd::compiler
