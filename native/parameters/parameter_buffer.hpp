// Parameter buffers: the numbers and gradients of many leaves in two arrays, so that compiled programs and optimizers
// work on them without visiting the Values.
//
// A buffer is a write-back cache of its Values. A compiled program or an optimizer takes ownership (`take_ownership`),
// and from then on the buffer is dirty: its arrays hold the present numbers. Every entry from Python that reads a Value
// calls `flush_parameters()` first, which writes all dirty buffers back.
#pragma once

#include <memory>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

class ParameterBuffer {
 public:
  // Makes a buffer of leaves that are in no buffer yet. Throws std::bad_alloc.
  static std::shared_ptr<ParameterBuffer> make(const std::vector<Value*>& leaves);
  ~ParameterBuffer();
  ParameterBuffer(const ParameterBuffer&) = delete;
  ParameterBuffer& operator=(const ParameterBuffer&) = delete;

  size_t size() const { return values_.size(); }
  double* data() { return data_; }
  const double* data() const { return data_; }
  double* gradients() {
    if (zero_pending_) write_zeros();
    return gradients_;
  }
  // The array, whatever it holds.
  const double* gradient_memory() const { return gradients_; }
  // Whether all gradients are zero, although the array does not say so yet: code that overwrites all of it need not
  // read it.
  bool zero_pending() const { return zero_pending_; }
  void set_zero_pending() { zero_pending_ = true; }
  // The array, for code that overwrites all of it.
  double* new_gradients() {
    zero_pending_ = false;
    return gradients_;
  }
  // Whether a leaf of the buffer has been freed: programs that use the buffer are invalid.
  bool invalid() const { return invalid_; }
  // The leaf at an index; null if it has been freed.
  Value* value(size_t index) const { return values_[index]; }
  bool dirty() const { return dirty_; }
  // Whether an exact-mode program uses it: then optimizers compute the engine's bits, too.
  bool exact() const { return exact_; }
  void be_exact() { exact_ = true; }

  // Makes the arrays current.
  void take_ownership();
  // Makes the Values current; false with an exception set.
  bool flush();

  // Releases the remaining leaves, so that a new buffer can take them. False with an exception set.
  bool dissolve();

  void forget(size_t index) {
    values_[index] = nullptr;
    invalid_ = true;
  }

 private:
  ParameterBuffer() = default;
  void write_zeros();

  std::vector<Value*> values_;  // borrowed; null if freed
  double* data_ = nullptr;
  double* gradients_ = nullptr;
  bool zero_pending_ = false;
  bool dirty_ = false;
  bool invalid_ = false;
  bool exact_ = false;
};

// Where a leaf is stored; the buffer is null if nowhere.
struct BufferSlot {
  std::shared_ptr<ParameterBuffer> buffer;
  uint32_t index = 0;
};
BufferSlot find_buffer(const Value* leaf);

// Changes whenever a buffer is made or lost: earlier lookups may be outdated.
uint64_t buffers_version();

// The orders in which optimizers list their parameters; new buffers follow them. A list is forgotten by its key.
void remember_order(const void* key, std::vector<Value*> leaves);
void forget_order(const void* key);
// Whether a leaf is in a buffer, or will be because an optimizer lists it.
bool is_parameter(const Value* leaf);

// Puts every leaf into a valid buffer, and returns where each is. Throws std::bad_alloc.
std::vector<BufferSlot> assign_buffers(const std::vector<Value*>& leaves);

}  // namespace retrograd::compiler
