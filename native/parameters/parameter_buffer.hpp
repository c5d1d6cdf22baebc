// Stores: the numbers and gradients of many leaves in two arrays, so that compiled programs and optimizers work on
// them without visiting the Values.
//
// At any time either the Values of a buffer hold the truth, or its arrays do. A compiled program or an optimizer takes
// the arrays (`acquire`), and from then on the buffer is ahead of its Values. Whoever looks at Values from Python
// calls `flush_parameters()` first, which puts everything back; the engine does so wherever Python can enter it.
#pragma once

#include <memory>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

class ParameterBuffer {
 public:
  // Takes leaves that are in no buffer yet. Throws std::bad_alloc.
  static std::shared_ptr<ParameterBuffer> make(const std::vector<Value*>& leaves);
  ~ParameterBuffer();
  ParameterBuffer(const ParameterBuffer&) = delete;
  ParameterBuffer& operator=(const ParameterBuffer&) = delete;

  size_t size() const { return values_.size(); }
  double* data() { return data_; }
  double* gradients() {
    if (zero_pending_) write_zeros();
    return gradients_;
  }
  // Whether all gradients are zero, without the array's saying so yet: whoever writes all of it need not read it.
  bool zero_pending() const { return zero_pending_; }
  void set_zero_pending() { zero_pending_ = true; }
  // The array, for one who writes all of it.
  double* new_gradients() {
    zero_pending_ = false;
    return gradients_;
  }
  // Whether a leaf of the buffer has died: programs that used it have lost their meaning.
  bool invalid() const { return invalid_; }
  // The leaf at a place; null when it has died.
  Value* value(size_t index) const { return values_[index]; }
  bool dirty() const { return dirty_; }
  // Whether a program in exact mode works on it: then optimizers take the engine's bits, too.
  bool exact() const { return exact_; }
  void be_exact() { exact_ = true; }

  // Makes the arrays hold the truth.
  void take_ownership();
  // Makes the Values hold it; false with an exception set.
  bool flush();

  // Gives up the leaves that are left, so that a new buffer can take them. False with an exception set.
  bool dissolve();

  void forget(size_t index) {
    values_[index] = nullptr;
    invalid_ = true;
  }

 private:
  ParameterBuffer() = default;
  void write_zeros();

  std::vector<Value*> values_;  // borrowed; null when it has died
  double* data_ = nullptr;
  double* gradients_ = nullptr;
  bool zero_pending_ = false;
  bool dirty_ = false;
  bool invalid_ = false;
  bool exact_ = false;
};

// Where a leaf is stored; the buffer is null when nowhere.
struct BufferSlot {
  std::shared_ptr<ParameterBuffer> buffer;
  uint32_t index = 0;
};
BufferSlot find_buffer(const Value* leaf);

// Grows with every buffer that is made or lost: what was looked up before may have changed.
uint64_t buffers_version();

// The orders in which optimizers list their parameters, which buffers follow. A list is forgotten by its key.
void remember_order(const void* key, std::vector<Value*> leaves);
void forget_order(const void* key);
// Whether a leaf is in a buffer, or will be because an optimizer lists it.
bool is_parameter(const Value* leaf);

// Sees to it that every leaf is in some buffer that is whole; where each is. Throws std::bad_alloc.
std::vector<BufferSlot> assign_buffers(const std::vector<Value*>& leaves);

}  // namespace retrograd::compiler
