// The signature of a specialization, as src/retrograd/compiler/calls/signature.py describes it: what must equal the
// traced call, and where each new number goes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::compiler {

// The numbers of one call.
struct Arguments {
  std::vector<double> passive, active;  // numbers without and with a wanted gradient
  std::vector<Value*> values;           // that active numbers came from, borrowed; null, or none, for the others
  std::vector<int32_t> indices;
  std::vector<PyObject*> apart;  // the containers that are different objects, borrowed
};

// The description of one argument, or of several.
class Signature {
 public:
  // From nested tuples. A passive or active number may name a type that it can have beside float.
  //   ("passive", k), ("active", k), ("value", k), ("variable", k), ("same", k), ("equal", object)
  //   ("index", slot[, k])                        k: the passive number that it is, too
  //   ("int", slot, k)                            the same of a plain int
  //   ("is", object[, how many of its parameters are differentiated])
  //   ("array", type, shape, k, is_active)
  //   ("sequence", type, [spec, …][, None, n])                         n: how many attributes a named tuple has besides
  //   ("floats", type, k, count, is_active, other type)                a list or tuple of numbers that follow each
  //   other
  //   ("dict", type, [(key, spec), …][, build, default_factory])       a subclass of dict, which `build` makes of items
  //   ("fields", type, [(name, spec), …], build, n)                    a dataclass; n: attributes in its dictionary
  //   ("node", type, [spec, …], build, flatten, rest)                  a class that the user has registered
  //   ("apart", ids, spec)                        a container: none of those before it, nor of those with these ids
  //   ("again", k)                                the k-th of those before it
  // Null with an exception set.
  static std::unique_ptr<Signature> parse(PyObject* description);

  // Returns 1 and the call's numbers, 0 if the argument does not match, -1 with an exception set.
  int read(PyObject* argument, Arguments& into) const;
  // The same for a call's arguments, which are the items of a sequence spec.
  int read_all(PyObject* const* arguments, Py_ssize_t count, Arguments& into) const;
  // The gradients of a differentiated argument in its own structure, taken from `next` one after the other: floats,
  // arrays by a copy of memory. Null with an exception set.
  Ref collect(const double*& next) const;
  // The same for the first of a call's arguments.
  Ref collect_first(const double* gradients) const { return items_.front()->collect(gradients); }
  // Whether read() runs the user's Python code, which may do anything to the cache that this is in.
  bool runs_python() const { return runs_python_; }
  // Whether there is no Value in an argument that matches, and it is no object that may have some.
  bool has_no_values() const { return has_no_values_; }
  // For the garbage collector: what this refers to.
  int traverse(visitproc visit, void* arg) const;

 private:
  enum Kind {
    PASSIVE,
    ACTIVE,
    INDEX,
    INT,
    VALUE,
    VARIABLE,
    SAME,
    IS,
    EQUAL,
    SEQUENCE,
    FLOATS,
    DICT,
    ARRAY,
    FIELDS,
    NODE,
    APART,
    AGAIN
  };
  static constexpr size_t kNotDifferentiated = SIZE_MAX;

  bool parse_items(PyObject* descriptions);
  int read_number(PyObject* argument, Arguments& into) const;
  int read_index(PyObject* argument, Arguments& into) const;
  int read_array(PyObject* argument, Arguments& into) const;
  int read_sequence(PyObject* argument, Arguments& into) const;
  int read_items(PyObject* const* items, Arguments& into) const;
  int read_floats(PyObject* argument, Arguments& into) const;
  int read_dict(PyObject* argument, Arguments& into) const;
  int read_other_dict(PyObject* argument, Arguments& into) const;
  bool has_as_many(PyObject* record) const;
  int read_fields(PyObject* argument, Arguments& into) const;
  int read_node(PyObject* argument, Arguments& into) const;
  int read_apart(PyObject* argument, Arguments& into) const;
  bool is_key(PyObject* key, size_t i) const;
  bool equals(PyObject* argument) const;
  Ref collect_items(const double*& next) const;
  Ref collect_dict(const double*& next) const;

  Kind kind_ = IS;
  size_t number_ = 0;
  bool active_ = false;
  bool runs_python_ = false;
  bool has_no_values_ = true;
  Ref object_;                       // the object it is or equals, or its type
  Ref shape_;                        // of an array
  std::vector<Py_ssize_t> extents_;  // the same
  std::optional<size_t> twin_;       // of an index: the number among the passive ones that it is, too
  size_t count_ = 1;                 // of the numbers of an array, or of floats
  Ref build_, factory_, flatten_, rest_;
  std::vector<std::unique_ptr<Signature>> items_;
  std::vector<Ref> keys_;  // of a dictionary, or the names of fields
};

// The type retrograd.Index, whose instances are index arguments.
extern PyObject* index_type;

}  // namespace retrograd::compiler
