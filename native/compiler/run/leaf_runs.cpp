#include "compiler/run/leaf_runs.hpp"

#include <algorithm>

#include "compiler/kernels/kernels.hpp"

namespace retrograd::compiler {
namespace {

// Copies numbers, each of them so far after the one before.
void copy(const double* from, size_t from_step, uint32_t count, double* to, size_t to_step) {
  if (from_step == 1 && to_step == 1) {
    std::copy_n(from, count, to);
    return;
  }
  for (size_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
}

void add(const double* from, size_t step, uint32_t count, double* to) {
  if (step == 1) {
    best_kernels().add_to(to, from, count);
    return;
  }
  for (size_t i = 0; i < count; ++i) to[i] += from[i * step];
}

}  // namespace

LeafRuns::LeafRuns(const LeafLayout& leaves) {
  for (uint32_t i = 0; i < leaves.locations.size(); ++i) {
    const LeafLocation& place = leaves.locations[i];
    std::vector<Run>& runs = place.kind == RegionKind::PARAMETER ? parameters_ : inputs_;
    if (!runs.empty()) {
      Run& last = runs.back();
      if (i == last.first + last.count && place.active == last.active && place.buffer == last.buffer &&
          place.offset == last.offset + last.count) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({place.active, place.buffer, place.offset, i, 1});
  }
}

void LeafRuns::set_inputs(const Arguments& arguments, double* values, size_t width) const {
  for (const Run& run : inputs_) {
    const std::vector<double>& numbers = run.active ? arguments.active : arguments.passive;
    copy(numbers.data() + run.offset, 1, run.count, values + run.first * width, width);
  }
}

void LeafRuns::read_parameters(const ParameterBuffers& buffers, double* values, size_t width) const {
  for (const auto& buffer : buffers) buffer->take_ownership();
  for (const Run& run : parameters_) {
    const double* from = buffers[run.buffer]->data() + run.offset;
    double* to = values + run.first * width;
    if (width == 1) {
      std::copy_n(from, run.count, to);
    } else {
      for (size_t i = 0; i < run.count; ++i) std::fill_n(to + i * width, width, from[i]);
    }
  }
}

void LeafRuns::input_gradients(const double* adjoints, double* gradients, size_t width) const {
  for (const Run& run : inputs_) {
    if (run.active) copy(adjoints + run.first * width, width, run.count, gradients + run.offset, 1);
  }
}

void LeafRuns::add_gradients_to(const ParameterBuffers& buffers, const double* adjoints) const {
  for (const Run& run : parameters_) {
    add(adjoints + run.first, 1, run.count, buffers[run.buffer]->gradients() + run.offset);
  }
}

void LeafRuns::add_gradients_to(ParameterGradients& sums, const double* adjoints, size_t width) const {
  for (const Run& run : parameters_) {
    add(adjoints + run.first * width, width, run.count, sums[run.buffer].data() + run.offset);
  }
}

void LeafRuns::copy_gradients_from(const ParameterBuffers& buffers, double* adjoints) const {
  for (const Run& run : parameters_) {
    std::copy_n(buffers[run.buffer]->gradients() + run.offset, run.count, adjoints + run.first);
  }
}

void LeafRuns::copy_gradients_to(const ParameterBuffers& buffers, const double* adjoints) const {
  for (const Run& run : parameters_) {
    std::copy_n(adjoints + run.first, run.count, buffers[run.buffer]->gradients() + run.offset);
  }
}

}  // namespace retrograd::compiler
