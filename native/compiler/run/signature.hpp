// The signature of a specialization, as src/retrograd/compiler/calls/signature.py describes it: what must equal the
// traced call, and where each new number goes.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "compiler/run/pointer_set.hpp"
#include "tape/value.hpp"
#include "trees/arrays.hpp"

namespace retrograd::compiler {

// The numbers of one call.
struct Arguments {
  std::vector<double> passive, active;  // numbers without and with a wanted gradient
  std::vector<Value*> values;           // that active numbers came from, borrowed; null, or none, for the others
  std::vector<int32_t> indices;
  std::vector<PyObject*> apart;  // the containers that are different objects, borrowed
  std::vector<Ref> given;        // what is no number of a first argument that is differentiated, where it varies
  bool reads_results = false;    // Values may be results of operations, to which a call's result passes its gradient on
  PointerSet different;          // those containers, while they are compared

  // The same, without what is given.
  Arguments copy() const { return {passive, active, values, indices, apart, {}, reads_results, {}}; }
};

// The description of one argument, or of several.
class Signature {
 public:
  // From nested tuples. A passive or active number may name a type that it can have beside float.
  //   ("passive", k), ("active", k), ("value", k), ("variable", k), ("same", k), ("equal", object)
  //   ("index", slot[, k])                        k: the passive number that it is, too
  //   ("int", slot, k[, type])                    the same of a plain int, or of NumPy's
  //   ("bool", k)                                 the same of a truth value, which is no index
  //   ("text", k, {text: number, …})               one of some texts; with none, any text
  //   ("optional", k, placeholder, spec)          None, or something; k: the passive number that says whether it is
  //                                               there; placeholder: what is read in the place of None
  //   ("member", k, members)                      one of these objects; k: the passive number that says which
  //   ("ints", type, shape, slot, k, dtype)       the same of each in an array of them
  //   ("is", object[, how many of its parameters are differentiated])
  //   ("array", type, shape, k, is_active)
  //   ("sequence", type, [spec, …][, None, n])                         n: how many attributes a named tuple has besides
  //   ("floats", type, k, count, is_active, other type)                a list or tuple of numbers that follow each
  //   other
  //   ("dict", type, [(key, spec), …][, build, default_factory])       a subclass of dict, which `build` makes of items
  //   ("fields", type, [(name, spec), …], build, n)                    a dataclass; n: attributes in its dictionary
  //   ("node", type, [spec, …], build, flatten, rest)                  a class that the user has registered
  //   ("apart", ids, spec)                        a container: none of those before it, nor of those with these ids
  //   ("key", type, key of one, key, object)      this object, or what has an equal key: a tuple of numbers, texts and
  //                                               bytes, or one of those
  //   ("again", k)                                the k-th of those before it
  // Null with an exception set.
  static std::unique_ptr<Signature> parse(PyObject* description);

  // Returns 1 and the numbers of a call's arguments, which are the items of a sequence spec; 0 if they do not match, -1
  // with an exception set. `into` has room for passive and active numbers.
  int read_all(PyObject* const* arguments, Py_ssize_t count, Arguments& into) const;
  // The gradients of a call's first argument in its own structure, taken from `gradients` one after the other: floats,
  // arrays by a copy of memory; what was read for it and is no number is as it was given. Null with an exception set.
  Ref collect_first(const double* gradients, const Arguments& call) const {
    const Ref* given = call.given.data();
    return collect(child_of(root(), 0), gradients, given);
  }
  // Whether read_all() runs the user's Python code, which may do anything to the cache that this is in.
  bool runs_python() const { return root().runs_python; }
  // Whether the same arguments match another description, with the same numbers; false also where that runs Python.
  bool is_same(const Signature& other) const;
  // Whether there is no Value in arguments that match, and they are no objects that may have some.
  bool has_no_values() const { return root().has_no_values; }
  // For the garbage collector: what this refers to.
  int traverse(visitproc visit, void* arg) const;

 private:
  enum Kind : uint8_t {
    PASSIVE,
    ACTIVE,
    INDEX,
    INT,
    INTS,
    BOOL,
    TEXT,
    OPTIONAL,
    MEMBER,
    VALUE,
    VARIABLE,
    SAME,
    IS,
    EQUAL,
    KEY,
    SEQUENCE,
    FLOATS,
    DICT,
    ARRAY,
    FIELDS,
    NODE,
    APART,
    AGAIN
  };
  // One description. Those of a container's items lie one after the other: calls read thousands.
  struct Node {
    Kind kind = IS;
    bool active : 1 = false;
    bool is_list : 1 = false;  // and no tuple
    bool runs_python : 1 = false;
    bool has_no_values : 1 = true;
    bool has_dictionary : 1 = false;  // of its attributes
    bool is_given : 1 = false;        // is as it is in what value_and_grad() returns
    uint32_t number = 0;
    uint32_t count = 0;          // of the items; of the numbers of an array, or of floats
    uint32_t first = 0;          // of the items
    uint32_t more = 0;           // which of the Details, if it has some
    PyObject* object = nullptr;  // the object it is or equals, or its type
  };
  // What few have.
  struct Details {
    PyObject *shape = nullptr, *build = nullptr, *factory = nullptr, *flatten = nullptr, *rest = nullptr;
    std::vector<Py_ssize_t> extents;  // of an array
    uint32_t twin = 0;                // of an array of indices: the first of the passive numbers that they are, too
    std::vector<PyObject*> keys;      // of a dictionary, or the names of fields
  };
  static constexpr uint32_t kNone = UINT32_MAX;  // no number

  bool parse(PyObject* description, uint32_t place);
  bool parse_items(PyObject* descriptions, Node& node);
  static bool has_same_object(const Node& a, const Node& b);
  static bool are_same(const Details& a, const Details& b);
  static Kind kind_named(std::string_view name);
  PyObject* held(PyObject* object);
  Details& details(Node& node);
  const Node& root() const { return nodes_.front(); }
  const Node& child_of(const Node& node, size_t i) const { return nodes_[node.first + i]; }
  const Details& details_of(const Node& node) const { return details_[node.more]; }

  int read(const Node& node, PyObject* argument, Arguments& into) const;
  int read_container(const Node& node, PyObject* argument, Arguments& into) const;
  int read_sequence(const Node& node, PyObject* argument, Arguments& into) const;
  int read_items(const Node& node, PyObject* const* items, Arguments& into) const;
  int read_floats(const Node& node, PyObject* argument, Arguments& into) const;
  static void load_ahead(const Node& row, PyObject* const* rows, size_t left);
  int read_dict(const Node& node, PyObject* argument, Arguments& into) const;
  int read_other_dict(const Node& node, PyObject* argument, Arguments& into) const;
  int read_fields(const Node& node, PyObject* argument, Arguments& into) const;
  int read_node(const Node& node, PyObject* argument, Arguments& into) const;
  int read_optional(const Node& node, PyObject* argument, Arguments& into) const;
  bool take_captured(PyObject* ids);
  int read_apart(const Node& node, PyObject* argument, Arguments& into) const;
  int read_array(const Node& node, PyObject* argument, Arguments& into) const;
  int read_ints(const Node& node, PyObject* argument, Arguments& into) const;
  int read_ints(const Node& node, const trees::IntArray& array, Arguments& into) const;
  int read_key(const Node& node, PyObject* argument) const;
  bool has_active(const Node& node) const;
  void mark_given(Node& node);
  Ref collect(const Node& node, const double*& next, const Ref*& given) const;
  Ref collect_items(const Node& node, const double*& next, const Ref*& given) const;
  Ref collect_dict(const Node& node, const double*& next, const Ref*& given) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<Details> details_ = std::vector<Details>(1);  // the first has nothing
  std::vector<Ref> held_;                                   // what they refer to
  PyObject* captured_ids_ = nullptr;                        // of what no container may be, borrowed; and the same set
  PointerSet captured_;
};

// Whether two keys are equal, as far as that runs no code of the user's: numbers, texts, bytes, tuples of such, and
// what is one object.
bool is_key(PyObject* key, PyObject* traced);

// The type retrograd.Index, whose instances are index arguments.
extern PyObject* index_type;

}  // namespace retrograd::compiler
