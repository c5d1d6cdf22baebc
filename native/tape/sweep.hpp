// What the passes share that leave every gradient as it was: the lock, the checks, and the gradients put back.
#pragma once

#include <utility>
#include <vector>

#include "tape/walk.hpp"

namespace retrograd {

// Takes the backward lock; waits while another thread holds it. False, with the exception set, if a signal handler
// raises meanwhile.
bool lock_backward();
void unlock_backward();

// Holds the backward lock in a scope.
class BackwardLock {
 public:
  BackwardLock() : taken_(lock_backward()) {}
  BackwardLock(const BackwardLock&) = delete;
  BackwardLock& operator=(const BackwardLock&) = delete;
  ~BackwardLock() {
    if (taken_) unlock_backward();
  }
  explicit operator bool() const { return taken_; }

 private:
  const bool taken_;
};

// Saves gradients during a pass without side effects, and restores them at the end.
class IsolatedGradients {
 public:
  // Saves a gradient and sets it to zero.
  void save(Value* value) {
    if (value->code == LEAF) {
      reach(value);
      return;
    }
    gradients_.emplace_back(value, value->grad);
    value->grad = 0.0;
  }
  void reserve(size_t count) { gradients_.reserve(count); }
  // The same for what the pass reaches, once each. True for a node that the walk has now to visit.
  bool reach(Value* value) {
    double before = value->grad;
    if (value->code == LEAF) {
      if (value->mark == kSaved) return false;
      gradients_.emplace_back(value, before);
      value->mark = kSaved;
      value->grad = 0.0;
    } else if (mark_any(value)) {
      gradients_.emplace_back(value, before);
      value->grad = 0.0;
      return true;
    }
    return false;
  }
  void unmark_leaves() {
    for (auto& [value, before] : gradients_) {
      if (value->code == LEAF) value->mark = 1;
    }
  }
  // Calls visit(leaf) for each leaf that the pass has reached.
  template <class Visit>
  void each_leaf(Visit&& visit) const {
    for (auto& [value, before] : gradients_) {
      if (value->code == LEAF) visit(value);
    }
  }
  // Puts all back, and is ready for another pass.
  void restore() {
    for (auto entry = gradients_.rbegin(); entry != gradients_.rend(); ++entry) {
      Value* value = entry->first;
      if (value->code == LEAF) value->mark = 1;
      value->grad = entry->second;
    }
    gradients_.clear();
  }
  ~IsolatedGradients() { restore(); }

 private:
  static constexpr uint8_t kSaved = 2;  // the mark of a saved leaf
  std::vector<std::pair<Value*, double>> gradients_;
};

// Whether a node's derivative is Python code instead of a rule of the table.
bool has_python_rule(Value* node);
// Whether `object` is a Value; raises a sentence with `where` if not.
bool need_value(PyObject* object, const char* where);
// Whether this thread may run a pass from `root`, with the derivatives of all nodes found; else raises.
bool may_walk(Value* root);
// Whether nothing that `root` depends on has changed since it was recorded: before a pass changes any gradient.
bool check_graph(Value* root);
// A pass without side effects, on a checked graph: `saved` undoes it.
bool run_pure(Value* root, double seed, IsolatedGradients& saved, Interrupt& interrupt);

}  // namespace retrograd
