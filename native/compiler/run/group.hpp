// Machine code for a whole graph that runs a group of calls side by side: each number is a vector, with a call in each
// of its elements.
#pragma once

#include "compiler/graph/graph.hpp"
#include "compiler/run/machine.hpp"
#include "compiler/run/signature.hpp"

namespace retrograd::compiler {

struct GroupCode {
  using Function = int32_t (*)(double seed, const uint64_t* bases);
  Function forward = nullptr;  // not zero if an operation was outside its domain, in any call
  Function backward = nullptr;
  uint32_t width = 0;            // calls of a group
  std::vector<uint64_t> tables;  // addresses of what never changes
  size_t kept = 0;               // vectors of nodes that it keeps
  std::vector<Id> roots;         // leaves, literals, and nodes by their places among those that are kept
  std::vector<double> literals;
  std::vector<std::pair<size_t, size_t>> zeroed;  // adjoints that are zero before the backward pass: begin and count

  // Of the numbers of one group.
  size_t bytes() const { return 2 * sizeof(double) * width * kept; }
};

// The memory of a group, and its passes, which need no GIL.
class Group {
 public:
  Group(const GroupCode& code, const LeafLayout& leaves);

  uint32_t width() const { return code_.width; }
  bool runs(const GroupCode& code) const { return code_.forward == code.forward; }
  void read_parameters(const std::vector<std::shared_ptr<ParameterBuffer>>& buffers);
  void set_inputs(uint32_t call, const Arguments& arguments);
  // False if one of the calls must be run by other means.
  bool forward();
  double root(uint32_t call, size_t which) const;
  bool backward(double seed);
  // Whether the gradients of a call are finite.
  bool finite(uint32_t call) const;
  void input_gradients(uint32_t call, double* gradients) const;
  void add_gradients_to(uint32_t call, ParameterGradients& sums) const;

 private:
  double* numbers_of(Numbers& vectors) const { return reinterpret_cast<double*>(vectors.at()); }
  double& leaf(size_t number, uint32_t call) const { return leaf_values_[number * code_.width + call]; }
  double adjoint(size_t number, uint32_t call) const { return leaf_adjoints_[number * code_.width + call]; }

  GroupCode code_;
  const LeafLayout& leaves_;
  std::vector<std::unique_ptr<Numbers>> memory_;  // values and gradients of leaves, values and adjoints of nodes
  double *leaf_values_, *leaf_adjoints_, *values_, *adjoints_;
  std::vector<uint64_t> bases_;
};

}  // namespace retrograd::compiler
