#include "compiler/run/graph_code.hpp"

#include <algorithm>
#include <cmath>

namespace retrograd::compiler {
namespace {

double* numbers_of(Numbers& memory) { return reinterpret_cast<double*>(memory.at()); }

}  // namespace

CodeRun::CodeRun(std::shared_ptr<const GraphCode> code, const LeafLayout& leaves, std::span<const uint32_t> results)
    : code_(std::move(code)),
      count_(leaves.locations.size()),
      leaves_(leaves),
      result_roots_(results.begin(), results.end()) {
  for (const size_t numbers : {count_, count_, code_->kept + 1, code_->kept + 1}) {
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

bool CodeRun::backward(double seed) {
  const size_t width = code_->width;
  std::fill_n(leaf_adjoints_, count_ * width, 0.0);
  for (const auto& [begin, count] : code_->zeroed) std::fill_n(adjoints_ + begin * width, count * width, 0.0);
  return code_->backward(seed, bases_.data()) == 0;
}

bool CodeRun::finite(uint32_t call) const {
  if (code_->width == 1) return best_kernels().all_finite(leaf_adjoints_, static_cast<int64_t>(count_));
  for (size_t i = 0; i < count_; ++i) {
    if (!std::isfinite(leaf_gradient(call, i))) return false;
  }
  return true;
}

size_t CodeRun::bytes() const {
  return 2 * sizeof(double) * code_->width * (count_ + code_->kept + 1) + code_->table_bytes;
}

}  // namespace retrograd::compiler
