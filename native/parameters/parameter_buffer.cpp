#include "parameters/parameter_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_map>
#include <unordered_set>

namespace retrograd {

size_t dirty_buffers = 0;

namespace compiler {
namespace {

struct BufferEntry {
  std::weak_ptr<ParameterBuffer> buffer;
  uint32_t index;
};
std::unordered_map<const Value*, BufferEntry>& buffer_entries() {
  static auto* map = new std::unordered_map<const Value*, BufferEntry>;
  return *map;
}
std::vector<ParameterBuffer*>& all_buffers() {
  static auto* buffers = new std::vector<ParameterBuffer*>;
  return *buffers;
}
std::unordered_map<const void*, std::vector<Value*>>& parameter_orders() {
  static auto* map = new std::unordered_map<const void*, std::vector<Value*>>;
  return *map;
}
uint64_t version = 1;

double* new_array(size_t count) {
  constexpr std::align_val_t kLine{64};
  const size_t bytes = (count + 8) * sizeof(double);
  auto* array = static_cast<double*>(::operator new(bytes, kLine));
  std::memset(array, 0, bytes);
  return array;
}
void free_array(double* array) { ::operator delete(array, std::align_val_t{64}); }

}  // namespace

std::shared_ptr<ParameterBuffer> ParameterBuffer::make(const std::vector<Value*>& leaves) {
  std::shared_ptr<ParameterBuffer> buffer(new ParameterBuffer);
  buffer->values_ = leaves;
  buffer->data_ = new_array(leaves.size());
  buffer->gradients_ = new_array(leaves.size());
  all_buffers().push_back(buffer.get());
  for (size_t i = 0; i < leaves.size(); ++i) {
    buffer_entries()[leaves[i]] = {buffer, static_cast<uint32_t>(i)};
    leaves[i]->flags |= IN_BUFFER;
  }
  ++version;
  return buffer;
}

ParameterBuffer::~ParameterBuffer() {
  // Write the numbers back before freeing them. A destructor cannot raise, so it reports a failure as unraisable.
  if (!dissolve()) PyErr_WriteUnraisable(nullptr);
  std::erase(all_buffers(), this);
  free_array(data_);
  free_array(gradients_);
}

void ParameterBuffer::write_zeros() { std::fill_n(new_gradients(), size(), 0.0); }

bool ParameterBuffer::dissolve() {
  const bool flushed = flush();
  for (Value*& value : values_) {
    if (!value) continue;
    buffer_entries().erase(value);
    value->flags &= static_cast<uint8_t>(~IN_BUFFER);
    value = nullptr;
  }
  invalid_ = true;
  ++version;
  return flushed;
}

void ParameterBuffer::take_ownership() {
  if (dirty_) return;
  zero_pending_ = false;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (i + 16 < values_.size() && values_[i + 16]) RETROGRAD_PREFETCH(values_[i + 16]);
    if (!values_[i]) continue;
    data_[i] = values_[i]->data;
    gradients_[i] = values_[i]->grad;
  }
  dirty_ = true;
  ++dirty_buffers;
}

bool ParameterBuffer::flush() {
  if (!dirty_) return true;
  dirty_ = false;
  --dirty_buffers;
  ChangeScope scope;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!values_[i]) continue;
    values_[i]->grad = zero_pending_ ? 0.0 : gradients_[i];
    if (!scope.change(values_[i], data_[i])) {
      // Out of memory for the record of the change: the buffer stays dirty.
      dirty_ = true;
      ++dirty_buffers;
      return false;
    }
  }
  return true;
}

BufferSlot find_buffer(const Value* leaf) {
  if (!(leaf->flags & IN_BUFFER)) return {};
  auto found = buffer_entries().find(leaf);
  if (found == buffer_entries().end()) return {};
  return {found->second.buffer.lock(), found->second.index};
}

uint64_t buffers_version() { return version; }

void remember_order(const void* key, std::vector<Value*> leaves) { parameter_orders()[key] = std::move(leaves); }
void forget_order(const void* key) { parameter_orders().erase(key); }

bool is_parameter(const Value* leaf) {
  if (leaf->flags & IN_BUFFER) return true;
  return std::any_of(parameter_orders().begin(), parameter_orders().end(), [&](const auto& order) {
    return std::find(order.second.begin(), order.second.end(), leaf) != order.second.end();
  });
}

std::vector<BufferSlot> assign_buffers(const std::vector<Value*>& leaves) {
  std::vector<std::shared_ptr<ParameterBuffer>> made;  // keeps new buffers alive until they are looked up
  // Dissolve buffers of which a leaf was freed; programs that use them are invalid as well.
  for (const Value* leaf : leaves) {
    const BufferSlot place = find_buffer(leaf);
    if (place.buffer && place.buffer->invalid() && !place.buffer->dissolve()) {
      PyErr_Clear();
      throw std::bad_alloc();
    }
  }
  auto take = [&](const std::vector<Value*>& order) {
    std::vector<Value*> taken;
    std::unordered_set<const Value*> seen;
    for (Value* leaf : order) {
      if (leaf->code == LEAF && !(leaf->flags & IN_BUFFER) && seen.insert(leaf).second) taken.push_back(leaf);
    }
    if (!taken.empty()) made.push_back(ParameterBuffer::make(taken));
  };
  const std::unordered_set<const Value*> wanted(leaves.begin(), leaves.end());
  for (auto& [key, order] : parameter_orders()) {
    if (std::any_of(order.begin(), order.end(), [&](const Value* leaf) { return wanted.count(leaf) > 0; })) take(order);
  }
  take(leaves);
  std::vector<BufferSlot> places;
  places.reserve(leaves.size());
  for (const Value* leaf : leaves) places.push_back(find_buffer(leaf));
  return places;
}

}  // namespace compiler

bool flush_all() {
  // Flushing runs no Python code unless it fails.
  for (compiler::ParameterBuffer* buffer : compiler::all_buffers()) {
    if (!buffer->flush()) return false;
  }
  return true;
}

void forget_leaf(Value* leaf) {
  auto found = compiler::buffer_entries().find(leaf);
  if (found == compiler::buffer_entries().end()) return;
  if (auto buffer = found->second.buffer.lock()) buffer->forget(found->second.index);
  compiler::buffer_entries().erase(found);
  ++compiler::version;
}

}  // namespace retrograd
