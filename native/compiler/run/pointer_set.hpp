// A set of pointers that is emptied in no time: which objects of a call are one.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace retrograd::compiler {

class PointerSet {
 public:
  // Empties it, and makes room for so many pointers.
  void clear(size_t count) {
    const size_t wanted = std::bit_ceil(2 * count + 2);
    if (wanted > places_.size()) {
      places_.assign(wanted, {});
      now_ = 0;
    }
    ++now_;
  }

  // Whether the pointer is new. There must be room for it.
  bool insert(const void* pointer) {
    Place& at = places_[place_of(pointer)];
    if (at.when == now_) return false;
    at = {pointer, now_};
    return true;
  }

  bool contains(const void* pointer) const { return !places_.empty() && places_[place_of(pointer)].when == now_; }

 private:
  struct Place {
    const void* pointer;
    uint64_t when;  // in which of its lives the set got it
  };

  // Where the pointer is, or would be.
  size_t place_of(const void* pointer) const {
    constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
    const size_t mask = places_.size() - 1;
    size_t i = static_cast<size_t>(((reinterpret_cast<uintptr_t>(pointer) >> 4) * kMix) >> 32) & mask;
    while (places_[i].when == now_ && places_[i].pointer != pointer) i = (i + 1) & mask;
    return i;
  }

  std::vector<Place> places_;
  uint64_t now_ = 0;
};

}  // namespace retrograd::compiler
