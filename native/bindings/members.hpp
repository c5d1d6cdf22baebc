// The members of a batch: a tuple of arguments each, and the numbers in them.
#pragma once

#include <utility>

#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {

class Members {
 public:
  // With the cache's scratch memory for batches, if no other batch has it.
  explicit Members(SpecializationCache* cache) : cache_(cache), arguments_(std::exchange(*cache->members, {})) {}
  ~Members() { *cache_->members = std::move(arguments_); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  // False with an exception set, which begins with the name of the method that was called.
  bool read(PyObject* list, const char* method) {
    for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
      PyObject* tuple = PyList_GetItem(list, i);
      if (!PyTuple_Check(tuple)) {
        PyErr_Format(PyExc_TypeError, "%s takes a list with a tuple of arguments for each member; write (x,) for one.",
                     method);
        return false;
      }
      held_.push_back(Ref::borrow(tuple));
      for (Py_ssize_t k = 0; k < PyTuple_Size(tuple); ++k) items_.push_back(PyTuple_GetItem(tuple, k));
      ends_.push_back(items_.size());
    }
    if (arguments_.size() < held_.size()) arguments_.resize(held_.size());
    return true;
  }

  size_t size() const { return held_.size(); }
  // As Specialization::matches; the numbers are the member's arguments from then on.
  int match(const Specialization& entry, uint32_t member) {
    const size_t begin = member ? ends_[member - 1] : 0;
    return entry.matches(items_.data() + begin, static_cast<Py_ssize_t>(ends_[member] - begin), arguments_[member]);
  }
  const Arguments& arguments(uint32_t member) const { return arguments_[member]; }

 private:
  SpecializationCache* cache_;
  std::vector<Ref> held_;         // the tuples
  std::vector<PyObject*> items_;  // their items, one member's after the other's
  std::vector<size_t> ends_;      // where those of each member end
  std::vector<Arguments> arguments_;
};

// Runs of machines for members of batches, to be counted when their results have been taken.
class BatchRuns {
 public:
  void note(const Specialization& entry, uint32_t members, bool by_twin) {
    runs_.push_back({entry.number, members, by_twin});
  }
  // Programs that were used come first in the next search.
  void count(SpecializationCache* cache, const std::vector<const Specialization*>& used);

 private:
  struct Run {
    size_t number;  // of the specialization
    uint32_t members;
    bool by_twin;
  };
  std::vector<Run> runs_;
};

}  // namespace retrograd::compiler
