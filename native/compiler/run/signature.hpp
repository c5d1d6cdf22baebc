// The signature of a specialization, as src/retrograd/compiler/signature.py describes it: what must equal the traced
// call, and where each new number goes.
#pragma once

#include <memory>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

// The numbers of one call.
struct Arguments {
  std::vector<double> passive, active;  // numbers without and with a wanted gradient
  std::vector<Value*> values;           // of each active number: the Value it came from, or null; borrowed
  std::vector<int32_t> indices;
};

// The description of one argument, or of several.
class Signature {
 public:
  // From nested tuples: ("passive", k), ("active", k), ("index", slot), ("value", k), ("variable", k),
  // ("same", k), ("is", object), ("equal", object), ("sequence", type, [spec, …]), ("dict", type, [(key, spec), …]),
  // ("array", type, shape, k, is_active). A passive or active number may name a type that it can have beside float.
  // Null with an exception set.
  static std::unique_ptr<Signature> parse(PyObject* description);

  // Returns 1 and the call's numbers, 0 if the argument does not match, -1 with an exception set.
  int read(PyObject* argument, Arguments& into) const;
  // The same for a call's arguments, which are the items of a sequence spec.
  int read_all(PyObject* const* arguments, Py_ssize_t count, Arguments& into) const;
  // For the garbage collector: what this refers to.
  int traverse(visitproc visit, void* arg) const;

 private:
  enum Kind { PASSIVE, ACTIVE, INDEX, VALUE, VARIABLE, SAME, IS, EQUAL, SEQUENCE, DICT, ARRAY };
  int read_array(PyObject* argument, Arguments& into) const;

  Kind kind_ = IS;
  size_t number_ = 0;
  bool active_ = false;
  Ref object_;  // the object it is or equals, or its type
  Ref shape_;   // of an array
  std::vector<std::unique_ptr<Signature>> items_;
  std::vector<Ref> keys_;
};

// The type retrograd.Index, whose instances are index arguments.
extern PyObject* index_type;

}  // namespace retrograd::compiler
