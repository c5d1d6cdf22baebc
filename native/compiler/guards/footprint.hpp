// The memory of Python objects in which a change of what they hold shows: comparing it is quicker than asking them.
//
// A footprint is a list of spans of words, each with what it held. As long as all of them hold the same, in their
// order, so do the objects; where one does not, the objects may hold the same all the same, and have to be asked.
// CPython's stable ABI does not say where that memory is. So each layout is tried out once, on objects made for it, or
// compared with what the object itself answers; an object whose memory is not understood has no footprint.
#pragma once

#include <cstdint>
#include <vector>

#include "tape/python.hpp"

namespace retrograd::compiler {

class Footprint {
 public:
  // The items of a list. These functions return whether they know how; if not, they add nothing.
  bool add_list(PyObject* list);
  // The keys and items of a dictionary.
  bool add_dict(PyObject* dict);
  // The class of an object, and which dictionary has its attributes, if it has one.
  bool add_namespace(PyObject* object, PyObject* attributes);
  // All that a function or a cell refers to itself.
  bool add_body(PyObject* object);

  // The number of the first span from `begin` on that is not as it was, or size(). A span is looked at only if those
  // before it are: it may be reached through them.
  size_t changed_from(size_t begin) const;
  // Reads the spans again.
  void renew(size_t begin, size_t end);
  size_t size() const { return spans_.size(); }

 private:
  struct Span {
    const uintptr_t* at;
    uint32_t words;
    uint32_t held;       // where what it held begins
    bool items = false;  // of a list, whose header is the span before
  };
  void add(const void* at, size_t words, bool items = false);

  std::vector<Span> spans_;
  std::vector<uintptr_t> held_;
};

}  // namespace retrograd::compiler
