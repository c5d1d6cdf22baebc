#include "compiler/run/group.hpp"

#include <algorithm>
#include <cmath>

namespace retrograd::compiler {

Group::Group(const GroupCode& code, const LeafLayout& leaves) : code_(code), leaves_(leaves) {
  const size_t count = leaves.locations.size();
  for (const size_t vectors : {count, count, code.kept + 1, code.kept + 1}) {
    memory_.push_back(std::make_unique<Numbers>(vectors * code.width * sizeof(double)));
    bases_.push_back(reinterpret_cast<uintptr_t>(memory_.back()->at()));
  }
  leaf_values_ = numbers_of(*memory_[0]);
  leaf_adjoints_ = numbers_of(*memory_[1]);
  values_ = numbers_of(*memory_[2]);
  adjoints_ = numbers_of(*memory_[3]);
  bases_.insert(bases_.end(), code.tables.begin(), code.tables.end());
}

void Group::read_parameters(const std::vector<std::shared_ptr<ParameterBuffer>>& buffers) {
  for (const auto& buffer : buffers) buffer->take_ownership();
  for (size_t i = 0; i < leaves_.locations.size(); ++i) {
    const LeafLocation& place = leaves_.locations[i];
    if (place.kind != RegionKind::PARAMETER) continue;
    std::fill_n(&leaf(i, 0), code_.width, buffers[place.buffer]->data()[place.offset]);
  }
}

void Group::set_inputs(uint32_t call, const Arguments& arguments) {
  for (size_t i = 0; i < leaves_.locations.size(); ++i) {
    const LeafLocation& place = leaves_.locations[i];
    if (place.kind != RegionKind::INPUT) continue;
    leaf(i, call) = (place.active ? arguments.active : arguments.passive)[place.offset];
  }
}

bool Group::forward() { return code_.forward(0.0, bases_.data()) == 0; }

double Group::root(uint32_t call, size_t which) const {
  const Id id = code_.roots[which];
  switch (id.kind()) {
    case Id::LEAF: return leaf(id.index(), call);
    case Id::LITERAL: return code_.literals[id.index()];
    default: return values_[size_t{id.index()} * code_.width + call];
  }
}

bool Group::backward(double seed) {
  std::fill_n(leaf_adjoints_, leaves_.locations.size() * code_.width, 0.0);
  for (const auto& [begin, count] : code_.zeroed) {
    std::fill_n(adjoints_ + begin * code_.width, count * code_.width, 0.0);
  }
  return code_.backward(seed, bases_.data()) == 0;
}

bool Group::finite(uint32_t call) const {
  for (size_t i = 0; i < leaves_.locations.size(); ++i) {
    if (!std::isfinite(adjoint(i, call))) return false;
  }
  return true;
}

void Group::input_gradients(uint32_t call, double* gradients) const {
  for (size_t i = 0; i < leaves_.locations.size(); ++i) {
    const LeafLocation& place = leaves_.locations[i];
    if (place.kind == RegionKind::INPUT && place.active) gradients[place.offset] = adjoint(i, call);
  }
}

void Group::add_gradients_to(uint32_t call, ParameterGradients& sums) const {
  for (size_t i = 0; i < leaves_.locations.size(); ++i) {
    const LeafLocation& place = leaves_.locations[i];
    if (place.kind == RegionKind::PARAMETER) sums[place.buffer][place.offset] += adjoint(i, call);
  }
}

}  // namespace retrograd::compiler
