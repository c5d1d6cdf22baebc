#include "compiler/run/graph_code.hpp"

#include <algorithm>
#include <cmath>

namespace retrograd::compiler {
namespace {

double* numbers_of(Numbers& memory) { return reinterpret_cast<double*>(memory.at()); }

}  // namespace

CodeRun::CodeRun(std::shared_ptr<const GraphCode> code, const LeafLayout& leaves, std::span<const uint32_t> results)
    : code_(std::move(code)),
      leaves_(leaves.locations.size()),
      runs_(leaf_runs(leaves)),
      result_roots_(results.begin(), results.end()) {
  for (const size_t numbers : {leaves_, leaves_, code_->kept + 1, code_->kept + 1}) {
    memory_.push_back(std::make_unique<Numbers>(numbers * code_->width * sizeof(double)));
    bases_.push_back(reinterpret_cast<uintptr_t>(memory_.back()->at()));
  }
  bases_.insert(bases_.end(), code_->tables.begin(), code_->tables.end());
  leaf_values_ = numbers_of(*memory_[0]);
  leaf_adjoints_ = numbers_of(*memory_[1]);
  values_ = numbers_of(*memory_[2]);
  adjoints_ = numbers_of(*memory_[3]);
  for (const Id root : code_->roots) {
    const size_t element = size_t{root.index()} * code_->width;
    roots_.push_back(root.is_leaf()      ? Root{leaf_values_ + element, 1}
                     : root.is_literal() ? Root{code_->literals.data() + root.index(), 0}
                                         : Root{values_ + element, 1});
  }
  if (code_->width == 1) find_results();
}

void CodeRun::find_results() {
  const double *first = nullptr, *last = nullptr;
  for (const uint32_t which : result_roots_) {
    const double* place = roots_[which].at;
    results_.push_back(place);
    if (!code_->roots[which].is_node()) continue;
    first = first ? std::min(first, place) : place;
    last = last ? std::max(last, place) : place;
  }
  if (first) computed_ = std::span(first, last + 1);
}

bool CodeRun::finite_results(uint32_t call) const {
  if (!std::isfinite(root(call, 0))) return false;
  if (code_->width == 1) return best_kernels().all_finite(computed_.data(), static_cast<int64_t>(computed_.size()));
  return std::all_of(result_roots_.begin(), result_roots_.end(),
                     [&](uint32_t which) { return std::isfinite(root(call, which)); });
}

void CodeRun::read_parameters(const std::vector<std::shared_ptr<ParameterBuffer>>& buffers) {
  for (const auto& buffer : buffers) buffer->take_ownership();
  const uint32_t width = code_->width;
  for (const LeafRun& run : runs_) {
    if (run.kind != RegionKind::PARAMETER) continue;
    const double* from = buffers[run.buffer]->data() + run.offset;
    double* to = leaf_values_ + size_t{run.first} * width;
    if (width == 1) {
      std::copy_n(from, run.count, to);
    } else {
      for (uint32_t i = 0; i < run.count; ++i) std::fill_n(to + size_t{i} * width, width, from[i]);
    }
  }
}

void CodeRun::set_inputs(uint32_t call, const Arguments& arguments) {
  const uint32_t width = code_->width;
  for (const LeafRun& run : runs_) {
    if (run.kind != RegionKind::INPUT) continue;
    const double* from = (run.active ? arguments.active : arguments.passive).data() + run.offset;
    double* to = leaf_values_ + size_t{run.first} * width + call;
    if (width == 1) {
      std::copy_n(from, run.count, to);
    } else {
      for (uint32_t i = 0; i < run.count; ++i) to[size_t{i} * width] = from[i];
    }
  }
}

bool CodeRun::backward(double seed) {
  const size_t width = code_->width;
  std::fill_n(leaf_adjoints_, leaves_ * width, 0.0);
  for (const auto& [begin, count] : code_->zeroed) std::fill_n(adjoints_ + begin * width, count * width, 0.0);
  return code_->backward(seed, bases_.data()) == 0;
}

bool CodeRun::finite(uint32_t call) const {
  if (code_->width == 1) return best_kernels().all_finite(leaf_adjoints_, static_cast<int64_t>(leaves_));
  for (size_t i = 0; i < leaves_; ++i) {
    if (!std::isfinite(leaf_gradient(call, i))) return false;
  }
  return true;
}

void CodeRun::input_gradients(uint32_t call, double* gradients) const {
  for (const LeafRun& run : runs_) {
    if (run.kind != RegionKind::INPUT || !run.active) continue;
    if (code_->width == 1) {
      std::copy_n(leaf_adjoints_ + run.first, run.count, gradients + run.offset);
    } else {
      for (uint32_t i = 0; i < run.count; ++i) gradients[run.offset + i] = leaf_gradient(call, size_t{run.first} + i);
    }
  }
}

void CodeRun::add_gradients_to(uint32_t call, ParameterGradients& sums) const {
  for (const LeafRun& run : runs_) {
    if (run.kind != RegionKind::PARAMETER) continue;
    double* to = sums[run.buffer].data() + run.offset;
    for (uint32_t i = 0; i < run.count; ++i) to[i] += leaf_gradient(call, size_t{run.first} + i);
  }
}

void CodeRun::add_gradients_to(const std::vector<std::shared_ptr<ParameterBuffer>>& buffers) const {
  for (const LeafRun& run : runs_) {
    if (run.kind != RegionKind::PARAMETER) continue;
    add_stretch(buffers[run.buffer]->gradients() + run.offset, leaf_adjoints_ + run.first, run.count);
  }
}

size_t CodeRun::bytes() const {
  return 2 * sizeof(double) * code_->width * (leaves_ + code_->kept + 1) + code_->table_bytes;
}

}  // namespace retrograd::compiler
