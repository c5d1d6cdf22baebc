// Stores: the numbers and gradients of many leaves in two arrays, so that compiled programs and optimizers work on
// them without visiting the Values.
//
// At any time either the Values of a store hold the truth, or its arrays do. A compiled program or an optimizer takes
// the arrays (`acquire`), and from then on the store is ahead of its Values. Whoever looks at Values from Python
// calls `settle()` first, which puts everything back; the engine does so wherever Python can enter it.
#pragma once

#include <memory>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

class Store {
 public:
  // Takes leaves that are in no store yet. Throws std::bad_alloc.
  static std::shared_ptr<Store> make(const std::vector<Value*>& leaves);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  size_t size() const { return values_.size(); }
  double* data() { return data_; }
  double* gradients() {
    if (blank_) write_zeros();
    return gradients_;
  }
  // Whether all gradients are zero, without the array's saying so yet: whoever writes all of it need not read it.
  bool blank() const { return blank_; }
  void make_blank() { blank_ = true; }
  // The array, for one who writes all of it.
  double* new_gradients() {
    blank_ = false;
    return gradients_;
  }
  // Whether a leaf of the store has died: programs that used it have lost their meaning.
  bool broken() const { return broken_; }
  // The leaf at a place; null when it has died.
  Value* value(size_t index) const { return values_[index]; }
  bool ahead() const { return ahead_; }
  // Whether a program in exact mode works on it: then optimizers take the engine's bits, too.
  bool exact() const { return exact_; }
  void be_exact() { exact_ = true; }

  // Makes the arrays hold the truth.
  void acquire();
  // Makes the Values hold it; false with an exception set.
  bool settle();

  // Gives up the leaves that are left, so that a new store can take them. False with an exception set.
  bool dissolve();

  void forget(size_t index) {
    values_[index] = nullptr;
    broken_ = true;
  }

 private:
  Store() = default;
  void write_zeros();

  std::vector<Value*> values_;  // borrowed; null when it has died
  double* data_ = nullptr;
  double* gradients_ = nullptr;
  bool blank_ = false;
  bool ahead_ = false;
  bool broken_ = false;
  bool exact_ = false;
};

// Where a leaf is stored; the store is null when nowhere.
struct StorePlace {
  std::shared_ptr<Store> store;
  uint32_t index = 0;
};
StorePlace find_store(const Value* leaf);

// Grows with every store that is made or lost: what was looked up before may have changed.
uint64_t stores_version();

// The orders in which optimizers list their parameters, which stores follow. A list is forgotten by its key.
void remember_order(const void* key, std::vector<Value*> leaves);
void forget_order(const void* key);
// Whether a leaf is in a store, or will be because an optimizer lists it.
bool is_parameter(const Value* leaf);

// Sees to it that every leaf is in some store that is whole; where each is. Throws std::bad_alloc.
std::vector<StorePlace> store_all(const std::vector<Value*>& leaves);

}  // namespace retrograd::compiler
