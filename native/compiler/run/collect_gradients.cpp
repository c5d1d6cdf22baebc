// The gradients of a call's first argument, in its own structure.
#include <algorithm>
#include <utility>

#include "compiler/run/signature.hpp"
#include "trees/arrays.hpp"
#include "trees/build.hpp"
#include "trees/in_place.hpp"

namespace retrograd::compiler {

// Whether derivatives are taken of numbers in it.
bool Signature::has_active(const Node& node) const {
  switch (node.kind) {
    case ACTIVE:
    case VARIABLE: return true;
    case FLOATS:
    case ARRAY: return node.active;
    case SEQUENCE:
    case DICT:
    case FIELDS:
    case NODE:
    case APART: {
      const auto first = nodes_.begin() + node.first;
      return std::any_of(first, first + node.count, [this](const Node& child) { return has_active(child); });
    }
    default: return false;
  }
}

// Marks what varies from call to call in it and is no number.
void Signature::mark_given(Node& node) {
  switch (node.kind) {
    case INDEX:
    case INT:
    case INTS:
    case BOOL:
    case TEXT:
    case OPTIONAL:
    case MEMBER: node.is_given = true; break;
    case SEQUENCE:
    case DICT:
    case FIELDS:
    case NODE:
    case APART:
      for (uint32_t i = 0; i < node.count; ++i) mark_given(nodes_[node.first + i]);
      break;
    default: break;
  }
}

Ref Signature::collect(const Node& node, const double*& next, const Ref*& given) const {
  if (node.is_given) return Ref::borrow((given++)->get());
  PyObject* list_type = reinterpret_cast<PyObject*>(&PyList_Type);
  switch (node.kind) {
    case ACTIVE:
    case VARIABLE: return Ref(PyFloat_FromDouble(*next++));
    case ARRAY: {
      const double* numbers = std::exchange(next, next + node.count);
      return Ref(trees::new_array(details_of(node).shape, numbers, node.count));
    }
    case FLOATS: {
      Ref list(trees::list_of_floats(std::exchange(next, next + node.count), node.count));
      return !list || node.object == list_type ? std::move(list) : Ref(PyList_AsTuple(list.get()));
    }
    case SEQUENCE: {
      Ref items = collect_items(node, next, given);
      if (!items || node.object == list_type) return items;
      Ref tuple(PyList_AsTuple(items.get()));
      if (!tuple || node.object == reinterpret_cast<PyObject*>(&PyTuple_Type)) return tuple;
      return Ref(trees::make_named_tuple(node.object, tuple.get()));
    }
    case DICT: return collect_dict(node, next, given);
    case FIELDS:
    case NODE: {
      const Ref items = collect_items(node, next, given);
      return Ref(items ? PyObject_CallFunctionObjArgs(details_of(node).build, items.get(), nullptr) : nullptr);
    }
    case IS:
      if (node.number == kNone) return Ref::borrow(node.object);
      return Ref(trees::list_of_floats(std::exchange(next, next + node.number), node.number));
    case APART: return collect(child_of(node, 0), next, given);
    default: return Ref::borrow(node.object);  // what is the same in each call
  }
}

Ref Signature::collect_items(const Node& node, const double*& next, const Ref*& given) const {
  Ref list(PyList_New(node.count));
  for (size_t i = 0; list && i < node.count; ++i) {
    Ref one = collect(child_of(node, i), next, given);
    if (!one) return Ref();
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), one.release());
  }
  return list;
}

Ref Signature::collect_dict(const Node& node, const double*& next, const Ref*& given) const {
  const Details& more = details_of(node);
  const Ref items = collect_items(node, next, given);
  if (!items) return Ref();
  if (more.build) return Ref(PyObject_CallFunctionObjArgs(more.build, items.get(), nullptr));
  Ref dict(PyDict_New());
  for (size_t i = 0; dict && i < node.count; ++i) {
    if (PyDict_SetItem(dict.get(), more.keys[i], PyList_GetItem(items.get(), static_cast<Py_ssize_t>(i))) < 0) {
      return Ref();
    }
  }
  return dict;
}

}  // namespace retrograd::compiler
