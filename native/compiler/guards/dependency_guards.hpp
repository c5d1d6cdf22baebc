// Guards on captured state: the variables that a function closes over or names, and what lists, dictionaries and
// objects hold there. dependencies.py finds these locations; this class checks them. A specialization is valid while
// every location holds what it held when the function was traced.
//
// A call checks all locations if they are few. Otherwise it checks the first ones and a sample of the others, and all
// of them if a Value was created since, because what replaces an object is nearly always new.
#pragma once

#include <memory>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

class DependencyGuards {
 public:
  // From a list of tuples (kind, object, name), outermost locations first: ("items", list, None), ("size", list, dict,
  // set or deque, None), ("entry", dict, key), which must keep its position, ("named", dict, key), ("shared", class or
  // function, attribute), ("slot", object, descriptor) and ("cell", cell, None). Their present contents are what later
  // checks expect. Null with an exception set.
  static std::unique_ptr<DependencyGuards> read(PyObject* places);

  // The check of one call: whether the locations that it looks at are unchanged.
  bool check();
  // True while a check is running. A check may call user code that replaces this object; keep the old one alive until
  // it returns.
  bool busy() const { return active_checks_ > 0; }

  // Checks everything: a list of (location, whether every call checks it, [new contents]). Null with an exception set.
  PyObject* violations();
  // Whether a leaf is younger than the last full check: it cannot have been in any location unnoticed.
  bool newer(const Value* leaf) const { return born_after(leaf, since_); }

  // How often all locations have been checked, in one call or by samples.
  uint64_t rounds() const { return rounds_; }
  // For the garbage collector: what this refers to.
  int traverse(visitproc visit, void* arg) const;

 private:
  enum Kind { ITEMS, SIZE, ENTRY, NAMED, SHARED, SLOT, CELL };
  struct Location {
    Kind kind;
    Ref object, name;
    Py_ssize_t position = 0;      // in a dictionary: where PyDict_Next found it
    size_t first = 0, count = 0;  // its contents; of a SIZE, the size
  };
  // What a location held. A Value may be freed, which its parameter buffer notices (ParameterBuffer::invalid), so only
  // its address is kept.
  struct Held {
    PyObject* object;
    Ref held;
  };

  // Counts a running check.
  class CheckScope {
   public:
    explicit CheckScope(DependencyGuards* captured) : captured_(captured) { ++captured_->active_checks_; }
    ~CheckScope() { --captured_->active_checks_; }
    CheckScope(const CheckScope&) = delete;
    CheckScope& operator=(const CheckScope&) = delete;

   private:
    DependencyGuards* captured_;
  };

  void choose();
  size_t cost_of(const Location& place) const;
  bool read_location(PyObject* tuple);
  void keep(PyObject* object);
  static Ref content(const Location& place);
  bool same_held(size_t thing, PyObject* now);
  bool same_items(const Location& place, size_t begin, size_t end);
  bool same_location(const Location& place);
  bool check_sample();
  bool check_all();
  PyObject* others(const Location& place);

  std::vector<Location> locations_;
  std::vector<Held> held_;
  std::vector<uint32_t> hot_, sampled_;  // locations that every call checks, and those that calls sample
  size_t next_sample_ = 0, within_ = 0;  // the next location to sample, and the item of it
  uint64_t rounds_ = 1;
  int active_checks_ = 0;
  uint32_t since_ = 0;  // leaves born at the last full check
};

}  // namespace retrograd::compiler
