#include "compiler/run/workspace.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace retrograd::compiler {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLeast = size_t{1} << 17, kLarge = size_t{1} << 24;

// Rounds small sizes up so that machines share workspaces; large ones are not rounded, to waste no memory.
size_t rounded(size_t bytes) { return bytes > kLarge ? bytes : std::bit_ceil(std::max(bytes, kLeast)); }

}  // namespace

Numbers::Numbers(size_t bytes) : allocated_(std::calloc(1, bytes + 128 + kAlignment)) {
  if (!allocated_) throw std::bad_alloc();
  const auto address = reinterpret_cast<uintptr_t>(allocated_);
  at_ = static_cast<char*>(allocated_) + (kAlignment - address % kAlignment);
}
Numbers::~Numbers() { std::free(allocated_); }

std::shared_ptr<Workspace> Workspaces::of(size_t bytes) {
  const size_t size = rounded(bytes);
  std::shared_ptr<Workspace> workspace = by_size_[size].lock();
  if (!workspace) by_size_[size] = workspace = std::make_shared<Workspace>(size);
  return workspace;
}

void give_memory_back() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace retrograd::compiler
