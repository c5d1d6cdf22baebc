// What a function can reach beside its arguments: the variables that it closes over or names, and what lists,
// dictionaries and objects hold there. src/retrograd/compiler/captured.py finds the places; here they are looked at. A
// pure program stands for its function as long as every place holds what it held when the function was traced.
//
// Every call looks: at the first places always, at some of the others in turn, and at all of them when a Value was made
// since, because what takes another's place is nearly always new.
#pragma once

#include <memory>
#include <vector>

#include "../value.hpp"

namespace retrograd::compiler {

class Captured {
 public:
  // From a list of tuples (kind, object, name), the outermost places first: ("items", list, None),
  // ("size", list or dict or set, None), ("entry", dict, key), ("shared", class, name), ("slot", object, descriptor)
  // and
  // ("cell", cell, None). What they hold now is what they shall hold. Null with an exception set.
  static std::unique_ptr<Captured> read(PyObject* places);

  // Whether everything that one call looks at is as it was.
  bool same();
  // Looks at everything: a list of (place, whether every call looks there, [what is there and was not before]). Null
  // with an exception set.
  PyObject* changed();
  // Whether a leaf is younger than the last look at everything: it cannot have been in any place unnoticed.
  bool newer(const Value* leaf) const { return born_after(leaf, since_); }

  size_t size() const { return places_.size(); }
  // For the garbage collector: what this refers to.
  int traverse(visitproc visit, void* arg) const;

 private:
  enum Kind { ITEMS, SIZE, ENTRY, SHARED, SLOT, CELL };
  struct Place {
    Kind kind;
    Ref object, name;
    Py_ssize_t position = 0;      // of an ENTRY, where PyDict_Next found it
    size_t first = 0, count = 0;  // its things; of a SIZE, how many there are
  };
  // What was in a place. A Value may die, which the stores notice (Store::broken), so its address alone is kept.
  struct Thing {
    PyObject* object;
    Ref held;
  };

  bool read_place(PyObject* tuple);
  void keep(PyObject* object);
  static Ref content(const Place& place);
  bool same_thing(size_t thing, PyObject* now);
  bool same_items(const Place& place, size_t begin, size_t end);
  bool same_place(const Place& place);
  bool same_in_turn();
  bool all_same();
  PyObject* others(const Place& place);

  std::vector<Place> places_;
  std::vector<Thing> things_;
  std::vector<uint32_t> always_, in_turn_;  // places at which every call looks, and those that have their turns
  size_t turn_ = 0, within_ = 0;            // the one of these, and the thing of it, that is next
  uint32_t since_ = 0;                      // leaves born when all places were looked at
};

}  // namespace retrograd::compiler
