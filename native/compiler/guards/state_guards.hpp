// Guards on captured state: what the function reads besides its arguments. It finds that in places: variables that it
// closes over or names, and what lists, dictionaries, arrays and objects hold there. guards/reach/ finds the places;
// this class compares their contents with what they held when the function was traced. A specialization answers a call
// only if every place still holds the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/guards/footprint.hpp"
#include "tape/value.hpp"

namespace retrograd::compiler {

class StateGuards {
 public:
  // From a list of tuples (kind, object, name):
  //   ("items", list, None)             its items
  //   ("entries", dict, None)           its keys and items, in their order
  //   ("elements", container, type)     what the container yields when it is iterated as `type`
  //   ("bytes", buffer, None)           the numbers of an array, its shape and its format
  //   ("named", dict, key)              the variable or attribute of that name, which may be missing
  //   ("namespace", object, None)       the class of the object, and the dictionary of its attributes
  //   ("function", function, None)      its code, defaults, closure, and all else that it refers to
  //   ("shared", class, attribute), ("slot", object, descriptor), ("cell", cell, None),
  //   ("referent", weak reference, None)
  // Null with an exception set.
  static std::unique_ptr<StateGuards> read(PyObject* places);

  // The first place that holds something else now. This may run code of the user, such as the __eq__ of a key: the
  // caller keeps a reference to this object meanwhile.
  std::optional<size_t> changed();
  // Whether a place held one number or text, which may come back, or nothing.
  bool held_scalar(size_t place) const;
  // Whether no place has changed; asked once for each `call`.
  bool hold_in(uint64_t call);
  // For the garbage collector: what this refers to.
  int traverse(visitproc visit, void* arg) const;

  size_t number = 0;  // the name by which Python knows this state

 private:
  enum Kind { ITEMS, ENTRIES, ELEMENTS, BYTES, NAMED, NAMESPACE, FUNCTION, SHARED, SLOT, CELL, REFERENT };
  struct Place {
    Kind kind;
    Ref object, name;
    Py_ssize_t position = 0;      // in a dictionary: where PyDict_Next found it
    size_t first = 0, count = 0;  // its contents; of BYTES, `first` is the number of the buffer
  };
  struct Buffer {
    std::string format;
    std::vector<Py_ssize_t> shape;
    std::vector<char> bytes;
  };

  bool read_place(PyObject* tuple);
  bool read_buffer(PyObject* object);
  void read_contents(Place& place);
  void keep(PyObject* object);
  static Ref content(const Place& place);
  static Ref iterator_of(const Place& place);
  bool same(size_t thing, PyObject* now);
  bool same_place(const Place& place);
  bool same_items(const Place& place);
  bool same_entries(const Place& place);
  bool same_elements(const Place& place);
  bool same_buffer(const Place& place) const;
  bool same_namespace(const Place& place) const;
  bool same_function(const Place& place) const;
  bool same_name(const Place& place);
  bool same_groups();
  void watch(const Place& place);

  std::vector<Place> places_;
  // Places [begin, end) that have one footprint, which begins with that span; and the numbers of places without.
  struct Group {
    size_t begin, end, span;
  };
  std::vector<Group> groups_;
  std::vector<size_t> asked_;
  Footprint footprint_;
  // What the places held, one after another. A reference keeps each alive, except Values, which may be freed: then
  // their parameter buffer is invalid (ParameterBuffer::invalid).
  std::vector<PyObject*> contents_;
  std::vector<Ref> kept_;
  std::vector<Buffer> buffers_;
  uint64_t call_ = 0;
  bool held_ = false;  // in that call
};

}  // namespace retrograd::compiler
