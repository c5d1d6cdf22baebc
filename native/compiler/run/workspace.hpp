// The memory that machines compute in. Machines of similar size share one workspace, so that it stays in the cache; no
// machine relies on its contents between runs.
#pragma once

#include <cstddef>
#include <map>
#include <memory>

namespace retrograd::compiler {

// 64-byte aligned numbers, zero at first. The system hands out large ones page by page, as they are used.
class Numbers {
 public:
  explicit Numbers(size_t bytes);
  ~Numbers();
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  char* at() { return at_; }

 private:
  void* allocated_;
  char* at_;
};

struct Workspace {
  explicit Workspace(size_t bytes) : values(bytes), gradients(bytes) {}
  Numbers values, gradients;
  const void* owner = nullptr;  // the machine that ran last
};

class Workspaces {
 public:
  // One for at least so many bytes of values, and of gradients.
  std::shared_ptr<Workspace> of(size_t bytes);

 private:
  std::map<size_t, std::weak_ptr<Workspace>> by_size_;
};

// Gives free memory back to the system that lies between what is not free, where the C library does not do so itself.
void give_memory_back();

}  // namespace retrograd::compiler
