// The memory that machines compute in. Machines of like size share one workspace: whichever runs finds it in the
// cache, and leaves nothing in it that another needs.
#pragma once

#include <cstddef>
#include <map>
#include <memory>

namespace retrograd::compiler {

// 64-byte aligned numbers, zero at first.
class Numbers {
 public:
  explicit Numbers(size_t bytes);
  ~Numbers();
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  char* at() { return bytes_; }

 private:
  char* bytes_;
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

}  // namespace retrograd::compiler
