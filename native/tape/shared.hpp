// A shared pointer that is copied and destroyed with the GIL alone. std::shared_ptr counts atomically, which takes a
// tenth of a short call.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace retrograd {

template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(std::unique_ptr<T> thing) : block_(thing ? new Block{std::move(thing), 1} : nullptr) {}
  Shared(const Shared& other) : block_(other.block_) {
    if (block_) ++block_->count;
  }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() {
    if (block_ && --block_->count == 0) delete block_;
  }

  T* get() const { return block_ ? block_->thing.get() : nullptr; }
  T* operator->() const { return block_->thing.get(); }
  T& operator*() const { return *block_->thing; }
  explicit operator bool() const { return block_ != nullptr; }
  size_t use_count() const { return block_ ? block_->count : 0; }
  friend bool operator==(const Shared&, const Shared&) = default;
  friend bool operator==(const Shared& one, std::nullptr_t) { return !one; }

 private:
  struct Block {
    std::unique_ptr<T> thing;
    size_t count;
  };
  Block* block_ = nullptr;
};

}  // namespace retrograd
