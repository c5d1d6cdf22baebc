// Whether two descriptions of arguments are the same: programs that differ in decisions alone share one, and a call
// reads its arguments once for all of them.
#include <algorithm>

#include "compiler/run/signature.hpp"

namespace retrograd::compiler {
namespace {

bool are_equal(PyObject* one, PyObject* other) {
  if (one == other) return true;
  if (!one || !other || Py_TYPE(one) != Py_TYPE(other)) return false;
  const int same = PyObject_RichCompareBool(one, other, Py_EQ);
  if (same < 0) PyErr_Clear();
  return same == 1;
}

bool are_keys(PyObject* one, PyObject* other) { return one == other || (one && other && is_key(one, other)); }

}  // namespace

bool Signature::is_same(const Signature& other) const {
  if (nodes_.size() != other.nodes_.size() || runs_python() || other.runs_python()) return false;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node &a = nodes_[i], &b = other.nodes_[i];
    if (a.kind != b.kind || a.active != b.active || a.number != b.number || a.count != b.count || a.first != b.first ||
        (a.more == 0) != (b.more == 0) || !has_same_object(a, b)) {
      return false;
    }
    if (a.more != 0 && !are_same(details_of(a), other.details_of(b))) return false;
  }
  return true;
}

bool Signature::has_same_object(const Node& a, const Node& b) {
  switch (a.kind) {
    case EQUAL:
    case OPTIONAL:
    case MEMBER: return are_keys(a.object, b.object);
    case TEXT:
    case APART: return are_equal(a.object, b.object);  // a dictionary of texts, and a set of ints
    default: return a.object == b.object;
  }
}

// What builds instances may be other functions, which do the same.
bool Signature::are_same(const Details& a, const Details& b) {
  return a.extents == b.extents && a.twin == b.twin && a.flatten == b.flatten && !a.build == !b.build &&
         are_keys(a.factory, b.factory) && are_keys(a.rest, b.rest) &&
         std::equal(a.keys.begin(), a.keys.end(), b.keys.begin(), b.keys.end(), are_keys);
}

}  // namespace retrograd::compiler
