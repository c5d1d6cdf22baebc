// The leaves of a graph as runs: neighbours in the graph that are neighbours where they come from, so that whole
// stretches are copied.
#pragma once

#include "compiler/run/machine.hpp"
#include "compiler/run/signature.hpp"

namespace retrograd::compiler {

// Moves numbers between the leaves of a graph and where they come from. Of calls that run side by side, each leaf has
// `width` numbers, one for each call; where one call is meant, the pointer is to its number of the first leaf.
class LeafRuns {
 public:
  explicit LeafRuns(const LeafLayout& leaves);

  // Gives the inputs of one call their numbers, and parameters theirs in all calls; the latter with the GIL.
  void set_inputs(const Arguments& arguments, double* values, size_t width = 1) const;
  void read_parameters(const ParameterBuffers& buffers, double* values, size_t width = 1) const;
  // Reads the gradients of active inputs of one call, and adds those of parameters to others.
  void input_gradients(const double* adjoints, double* gradients, size_t width = 1) const;
  void add_gradients_to(const ParameterBuffers& buffers, const double* adjoints) const;
  void add_gradients_to(ParameterGradients& sums, const double* adjoints, size_t width = 1) const;
  // Copies the gradients of parameters from their buffers, or to them.
  void copy_gradients_from(const ParameterBuffers& buffers, double* adjoints) const;
  void copy_gradients_to(const ParameterBuffers& buffers, const double* adjoints) const;

 private:
  struct Run {
    bool active;
    uint32_t buffer;
    uint32_t offset;  // of the first leaf, as in its LeafLocation
    uint32_t first;   // leaf
    uint32_t count;
  };
  std::vector<Run> inputs_, parameters_;
};

}  // namespace retrograd::compiler
