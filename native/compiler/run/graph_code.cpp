#include "compiler/run/graph_code.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace retrograd::compiler {
namespace {

// The C library stores as widely as the processor can, which is faster from about 16 numbers on.
void set_to_zero(double* numbers, size_t count) {
  constexpr size_t enough = 16;
  if (count < enough) {
    std::fill_n(numbers, count, 0.0);
  } else {
    std::memset(numbers, 0, count * sizeof(double));
  }
}

double* numbers_of(Numbers& memory) { return reinterpret_cast<double*>(memory.at()); }

}  // namespace

CodeRun::CodeRun(std::shared_ptr<const GraphCode> code, const LeafLayout& leaves, std::span<const uint32_t> results)
    : code_(std::move(code)),
      count_(leaves.locations.size()),
      leaves_(leaves),
      result_roots_(results.begin(), results.end()) {
  const size_t inputs = count_ + code_->lookups.size();
  chosen_.resize(code_->lookups.size() * code_->width);
  for (const size_t numbers : {inputs, inputs, code_->kept + 1, code_->kept + 1}) {
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
  set_to_zero(leaf_adjoints_, (count_ + code_->lookups.size()) * width);
  for (const auto& [begin, count] : code_->zeroed) set_to_zero(adjoints_ + begin * width, count * width);
  const bool done = code_->backward(seed, bases_.data()) == 0;
  if (!code_->lookups.empty()) hand_back();
  return done;
}

void CodeRun::set_indices(uint32_t call, const std::vector<int32_t>& indices) {
  for (size_t i = 0; i < code_->lookups.size(); ++i) {  // they have been compared with their limits
    chosen_[i * code_->width + call] = static_cast<uint32_t>(indices[code_->lookups[i].slot]);
  }
}

void CodeRun::look_up() {
  const size_t width = code_->width;
  const uint32_t* index = chosen_.data();
  for (const Lookup& lookup : code_->lookups) {
    for (size_t call = 0; call < width; ++call, ++index) {
      double& leaf = leaf_values_[lookup.leaf * width + call];
      switch (lookup.kind) {
        case Id::LEAF: leaf = leaf_values_[lookup.elements[*index] * width + call]; break;
        case Id::LITERAL: leaf = std::bit_cast<double>(lookup.elements[*index]); break;
        case Id::NODE: leaf = *index; break;
      }
    }
  }
}

void CodeRun::hand_back() {
  const size_t width = code_->width;
  const uint32_t* index = chosen_.data();
  for (const Lookup& lookup : code_->lookups) {
    for (size_t call = 0; call < width; ++call, ++index) {
      if (lookup.kind != Id::LEAF) continue;
      leaf_adjoints_[lookup.elements[*index] * width + call] += leaf_adjoints_[lookup.leaf * width + call];
    }
  }
}

bool CodeRun::finite(uint32_t call) const {
  if (code_->width == 1) return best_kernels().all_finite(leaf_adjoints_, static_cast<int64_t>(count_));
  for (size_t i = 0; i < count_; ++i) {
    if (!std::isfinite(leaf_gradient(call, i))) return false;
  }
  return true;
}

size_t CodeRun::bytes() const {
  return 2 * sizeof(double) * code_->width * (count_ + code_->lookups.size() + code_->kept + 1) + code_->table_bytes;
}

}  // namespace retrograd::compiler
