// What a function can reach beside its arguments: the variables that it closes over or names, and what lists,
// dictionaries and objects hold there. src/retrograd/compiler/reach.py finds the places; here they are looked at. A
// pure program stands for its function as long as every place holds what it held when the function was traced.
//
// Every call looks: at all places where they are few; else at the first ones always, at some of the others in turn, and
// at all of them when a Value was made since, because what takes another's place is nearly always new.
#pragma once

#include <memory>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

class DependencyGuards {
 public:
  // From a list of tuples (kind, object, name), the outermost places first: ("items", list, None),
  // ("size", list, dict, set or deque, None), ("entry", dict, key), whose place in the order counts,
  // ("named", dict, key), ("shared", class or function, attribute), ("slot", object, descriptor) and
  // ("cell", cell, None). What they hold now is what they shall hold. Null with an exception set.
  static std::unique_ptr<DependencyGuards> read(PyObject* places);

  // Whether everything that one call looks at is as it was.
  bool check();
  // Whether somebody is looking, which may run users' code: whoever replaces this must keep it until nobody is.
  bool busy() const { return active_checks_ > 0; }

  // Looks at everything: a list of (place, whether every call looks there, [what is there and was not before]). Null
  // with an exception set.
  PyObject* violations();
  // Whether a leaf is younger than the last look at everything: it cannot have been in any place unnoticed.
  bool newer(const Value* leaf) const { return born_after(leaf, since_); }

  // How often every place has been looked at, in one call or in turn.
  uint64_t rounds() const { return rounds_; }
  // For the garbage collector: what this refers to.
  int traverse(visitproc visit, void* arg) const;

 private:
  enum Kind { ITEMS, SIZE, ENTRY, NAMED, SHARED, SLOT, CELL };
  struct Location {
    Kind kind;
    Ref object, name;
    Py_ssize_t position = 0;      // in a dictionary, where PyDict_Next found it
    size_t first = 0, count = 0;  // its things; of a SIZE, how many there are
  };
  // What was in a place. A Value may die, which the stores notice (ParameterBuffer::broken), so its address alone is
  // kept.
  struct Held {
    PyObject* object;
    Ref held;
  };

  // Counts as looking for as long as it lives.
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
  std::vector<uint32_t> hot_, sampled_;  // places at which every call looks, and those that have their turns
  size_t next_sample_ = 0, within_ = 0;  // the one of these, and the thing of it, that is next
  uint64_t rounds_ = 1;
  int active_checks_ = 0;
  uint32_t since_ = 0;  // leaves born when all places were looked at
};

}  // namespace retrograd::compiler
