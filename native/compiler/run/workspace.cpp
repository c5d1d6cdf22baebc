#include "compiler/run/workspace.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace retrograd::compiler {

namespace {

constexpr size_t kLeast = size_t{1} << 17, kLarge = size_t{1} << 24;

// Rounds small sizes up so that machines share workspaces; large ones are not rounded, to waste no memory.
size_t rounded(size_t bytes) { return bytes > kLarge ? bytes : std::bit_ceil(std::max(bytes, kLeast)); }

}  // namespace

Numbers::Numbers(size_t bytes) : bytes_(static_cast<char*>(::operator new(bytes + 128, std::align_val_t{64}))) {
  std::memset(bytes_, 0, bytes + 128);
}
Numbers::~Numbers() { ::operator delete(bytes_, std::align_val_t{64}); }

std::shared_ptr<Workspace> Workspaces::of(size_t bytes) {
  const size_t size = rounded(bytes);
  std::shared_ptr<Workspace> workspace = by_size_[size].lock();
  if (!workspace) by_size_[size] = workspace = std::make_shared<Workspace>(size);
  return workspace;
}

}  // namespace retrograd::compiler
