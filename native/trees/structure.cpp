#include "trees/structure.hpp"

#include <memory>
#include <new>
#include <vector>

#include "trees/arrays.hpp"
#include "trees/build.hpp"
#include "trees/contents.hpp"
#include "trees/in_place.hpp"

namespace retrograd::trees {
namespace {

// So deep may lists be nested: as Python's own functions may be by default.
constexpr int kDeepest = 1000;

enum class Kind : uint8_t { LEAVES, NONE, LIST, TUPLE, NAMED, DICT, FLOATS, OTHER };

// One container, or a run of leaves that follow each other in one. A tree is its nodes in preorder.
struct Node {
  Kind kind;
  Py_ssize_t count;  // items of a container; leaves of the others
  Ref about;  // the type of a named tuple, the keys of a dictionary, the shape of an array, or Python's Structure
};

struct Structure {
  PyObject_HEAD std::vector<Node>* nodes;
  Py_ssize_t size;    // leaves
  bool holds_values;  // among the leaves are Values, other than parameters of modules
};

PyTypeObject* structure_type = nullptr;
Structure* as_structure(PyObject* object) { return reinterpret_cast<Structure*>(object); }

// --- taking apart -------------------------------------------------------------------------------------------------

class Flattener {
 public:
  std::vector<Node> nodes;
  Ref leaves{PyList_New(0)};
  bool holds_values = false;

  // False with an exception set.
  bool add(PyObject* thing) {
    if (PyFloat_CheckExact(thing) || PyLong_CheckExact(thing)) return add_leaf(thing);
    if (is_value(thing)) {
      holds_values = true;
      return add_leaf(thing);
    }
    if (thing == Py_None) {
      nodes.push_back({Kind::NONE, 0, Ref()});
      return true;
    }
    if (PyFloat_Check(thing) || PyLong_Check(thing)) return add_leaf(thing);
    if (depth_ >= kDeepest) {
      PyErr_Format(PyExc_RecursionError, "the argument is nested more than %d deep, or contains itself", kDeepest);
      return false;
    }
    ++depth_;
    const Ref held = Ref::borrow(thing);
    const bool added = add_container(thing);
    --depth_;
    return added;
  }

 private:
  bool add_leaf(PyObject* leaf) {
    if (!nodes.empty() && nodes.back().kind == Kind::LEAVES && run_is_open_) {
      ++nodes.back().count;
    } else {
      nodes.push_back({Kind::LEAVES, 1, Ref()});
      run_is_open_ = true;
    }
    return PyList_Append(leaves.get(), leaf) == 0;
  }

  bool add_container(PyObject* thing) {
    run_is_open_ = false;
    const bool added = dispatch(thing);
    run_is_open_ = false;
    return added;
  }

  bool dispatch(PyObject* thing) {
    if (PyList_CheckExact(thing)) return add_list(thing);
    if (PyTuple_CheckExact(thing)) return add_tuple(thing, Kind::TUPLE, Ref());
    if (PyDict_CheckExact(thing)) return add_dict(thing);
    PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(thing));
    if (type == python_half.array_type) {
      const int floats = add_floats(thing);
      if (floats != 0) return floats > 0;
    }
    if (PyTuple_Check(thing) && PyObject_HasAttrString(type, "_make") && !PyObject_HasAttrString(type, "parameters")) {
      return add_tuple(thing, Kind::NAMED, Ref::borrow(type));
    }
    return add_other(thing);
  }

  static bool holds_floats_alone(PyObject* list) {
    const Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!PyFloat_CheckExact(PyList_GetItem(list, i))) return false;
    }
    return count > 0;
  }
  bool add_floats_of(PyObject* list) {
    const Py_ssize_t count = PyList_Size(list), before = PyList_Size(leaves.get());
    nodes.back().count = count;
    nodes.push_back({Kind::LEAVES, count, Ref()});
    return PyList_SetSlice(leaves.get(), before, before, list) == 0;
  }

  // What Python code runs meanwhile may change a list, so its size is asked for each time.
  bool add_list(PyObject* list) {
    const size_t at = nodes.size();
    nodes.push_back({Kind::LIST, 0, Ref()});
    if (holds_floats_alone(list)) return add_floats_of(list);
    Py_ssize_t i = 0;
    for (; i < PyList_Size(list); ++i) {
      if (!add(PyList_GetItem(list, i))) return false;
    }
    nodes[at].count = i;
    return true;
  }

  bool add_tuple(PyObject* tuple, Kind kind, Ref about) {
    nodes.push_back({kind, PyTuple_Size(tuple), std::move(about)});
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
      if (!add(PyTuple_GetItem(tuple, i))) return false;
    }
    return true;
  }

  bool add_dict(PyObject* dict) {
    Ref keys(PyDict_Keys(dict)), items(PyDict_Values(dict));
    if (!keys || !items) return false;
    nodes.push_back({Kind::DICT, PyList_Size(keys.get()), std::move(keys)});
    for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
      if (!add(PyList_GetItem(items.get(), i))) return false;
    }
    return true;
  }

  // 1 for an array of floats, 0 for another one, -1 with an exception set.
  int add_floats(PyObject* array) {
    const FloatArray floats(array);
    if (!floats) return 0;
    std::vector<double> numbers(floats.size());
    floats.copy(numbers.data());
    Ref shape(PyObject_GetAttrString(array, "shape"));
    if (!shape) return -1;
    for (const double number : numbers) {
      Ref leaf(PyFloat_FromDouble(number));
      if (!leaf || PyList_Append(leaves.get(), leaf.get()) < 0) return -1;
    }
    nodes.push_back({Kind::FLOATS, static_cast<Py_ssize_t>(numbers.size()), std::move(shape)});
    return 1;
  }

  bool add_other(PyObject* thing) {
    Ref answer(PyObject_CallFunctionObjArgs(python_half.flatten_other, thing, nullptr));
    if (!answer) return false;
    if (answer.get() == Py_None) return add_leaf(thing);
    PyObject *found, *structure;
    if (!PyArg_ParseTuple(answer.get(), "O!O:flatten_other", &PyList_Type, &found, &structure)) return false;
    Ref values(PyObject_GetAttrString(structure, "holds_values"));
    if (!values) return false;
    holds_values |= values.get() == Py_True;
    const Py_ssize_t count = PyList_Size(found);
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (PyList_Append(leaves.get(), PyList_GetItem(found, i)) < 0) return false;
    }
    nodes.push_back({Kind::OTHER, count, Ref::borrow(structure)});
    return true;
  }

  int depth_ = 0;
  bool run_is_open_ = false;  // the last node is a run of leaves of the container that is being read
};

// flatten_tree(tree): its leaves, a list, and its Structure.
PyObject* flatten_tree(PyObject*, PyObject* tree) try {
  Flattener flattener;
  if (!flattener.leaves || !flattener.add(tree)) return nullptr;
  auto nodes = std::make_unique<std::vector<Node>>(std::move(flattener.nodes));
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(structure_type, Py_tp_alloc));
  Ref object(allocate(structure_type, 0));
  if (!object) return nullptr;
  Structure* structure = as_structure(object.get());
  structure->nodes = nodes.release();
  structure->size = PyList_Size(flattener.leaves.get());
  structure->holds_values = flattener.holds_values;
  return PyTuple_Pack(2, flattener.leaves.get(), object.get());
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// --- putting together ---------------------------------------------------------------------------------------------

enum class Purpose : uint8_t { FILL, COLLECT };

// Builds a tree like that of a Structure from other leaves, a list that has as many.
class Builder {
 public:
  Builder(const std::vector<Node>& nodes, PyObject* leaves, Purpose purpose)
      : nodes_(nodes), leaves_(leaves), purpose_(purpose) {}

  // The next item in preorder; null with an exception set.
  Ref item() {
    const Node& node = nodes_[at_];
    if (node.kind == Kind::LEAVES) {
      if (++in_run_ == node.count) {
        ++at_;
        in_run_ = 0;
      }
      return Ref::borrow(PyList_GetItem(leaves_, next_++));
    }
    ++at_;
    switch (node.kind) {
      case Kind::NONE: return Ref::borrow(Py_None);
      case Kind::LIST: return list(node.count);
      case Kind::TUPLE: return tuple(node.count);
      case Kind::NAMED: {
        const Ref items = tuple(node.count);
        return Ref(items ? make_named_tuple(node.about.get(), items.get()) : nullptr);
      }
      case Kind::DICT: return dict(node);
      case Kind::FLOATS: return array(node);
      default: return other(node);
    }
  }

 private:
  Ref list(Py_ssize_t count) {
    if (count > 0 && nodes_[at_].kind == Kind::LEAVES && nodes_[at_].count == count) {
      ++at_;
      return next_leaves(count);
    }
    Ref result(PyList_New(count));
    for (Py_ssize_t i = 0; result && i < count; ++i) {
      Ref one = item();
      if (!one) return Ref();
      PyList_SetItem(result.get(), i, one.release());
    }
    return result;
  }

  Ref tuple(Py_ssize_t count) {
    Ref result(PyTuple_New(count));
    for (Py_ssize_t i = 0; result && i < count; ++i) {
      Ref one = item();
      if (!one) return Ref();
      PyTuple_SetItem(result.get(), i, one.release());
    }
    return result;
  }

  Ref dict(const Node& node) {
    Ref result(PyDict_New());
    for (Py_ssize_t i = 0; result && i < node.count; ++i) {
      const Ref one = item();
      if (!one || PyDict_SetItem(result.get(), PyList_GetItem(node.about.get(), i), one.get()) < 0) return Ref();
    }
    return result;
  }

  // So many of the leaves that come next.
  Ref next_leaves(Py_ssize_t count) {
    next_ += count;
    return Ref(PyList_GetSlice(leaves_, next_ - count, next_));
  }

  Ref array(const Node& node) {
    PyObject* shape = node.about.get();
    if (purpose_ == Purpose::FILL) return call_for_array(python_half.fill_array, node);
    std::vector<double> numbers(static_cast<size_t>(node.count));
    for (size_t i = 0; i < numbers.size(); ++i) {
      PyObject* leaf = PyList_GetItem(leaves_, next_ + static_cast<Py_ssize_t>(i));
      if (!PyFloat_CheckExact(leaf)) return call_for_array(python_half.collect_array, node);
      numbers[i] = PyFloat_AsDouble(leaf);
    }
    next_ += node.count;
    return Ref(new_array(shape, numbers.data(), numbers.size()));
  }

  Ref call_for_array(PyObject* function, const Node& node) {
    const Ref items = next_leaves(node.count);
    return Ref(items ? PyObject_CallFunctionObjArgs(function, node.about.get(), items.get(), nullptr) : nullptr);
  }

  Ref other(const Node& node) {
    const Ref items = next_leaves(node.count);
    const char* method = purpose_ == Purpose::FILL ? "fill" : "collect";
    return Ref(items ? PyObject_CallMethod(node.about.get(), method, "(O)", items.get()) : nullptr);
  }

  const std::vector<Node>& nodes_;
  PyObject* leaves_;
  Purpose purpose_;
  size_t at_ = 0;          // the node that comes next
  Py_ssize_t in_run_ = 0;  // leaves of it that have been taken
  Py_ssize_t next_ = 0;    // the leaf that comes next
};

PyObject* build(PyObject* self, PyObject* given, Purpose purpose) try {
  const Structure* structure = as_structure(self);
  const Ref leaves = PyList_Check(given) ? Ref::borrow(given) : Ref(PySequence_List(given));
  if (!leaves) return nullptr;
  if (PyList_Size(leaves.get()) != structure->size) {
    return PyErr_Format(PyExc_ValueError, "a tree of %zd leaves cannot be made of %zd", structure->size,
                        PyList_Size(leaves.get()));
  }
  return Builder(*structure->nodes, leaves.get(), purpose).item().release();
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* fill(PyObject* self, PyObject* leaves) { return build(self, leaves, Purpose::FILL); }
PyObject* collect(PyObject* self, PyObject* leaves) { return build(self, leaves, Purpose::COLLECT); }

// --- attributes ---------------------------------------------------------------------------------------------------

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::LEAVES: return "leaf";
    case Kind::NONE: return "none";
    case Kind::LIST: return "list";
    case Kind::DICT: return "dict";
    case Kind::FLOATS: return "array";
    default: return "tuple";
  }
}

// What two trees must have in common to be added: nesting, sizes and keys, as Python's Structure.definition has it.
Ref define(const std::vector<Node>& nodes, size_t& at, Py_ssize_t& in_run) {
  const Node& node = nodes[at];
  if (node.kind == Kind::LEAVES) {
    if (++in_run == node.count) {
      ++at;
      in_run = 0;
    }
    return Ref(PyUnicode_FromString("leaf"));
  }
  ++at;
  if (node.kind == Kind::OTHER) return Ref(PyObject_GetAttrString(node.about.get(), "definition"));
  if (node.kind == Kind::FLOATS) return Ref(Py_BuildValue("(sO)", "array", node.about.get()));
  Ref parts(PyTuple_New(node.count));
  for (Py_ssize_t i = 0; parts && i < node.count; ++i) {
    Ref part = define(nodes, at, in_run);
    if (!part) return Ref();
    PyTuple_SetItem(parts.get(), i, part.release());
  }
  if (!parts) return Ref();
  const Ref keys(node.kind == Kind::DICT ? PyList_AsTuple(node.about.get()) : Py_NewRef(Py_None));
  return Ref(keys ? Py_BuildValue("(sOO)", name_of(node.kind), parts.get(), keys.get()) : nullptr);
}

PyObject* get_definition(PyObject* self, void*) {
  size_t at = 0;
  Py_ssize_t in_run = 0;
  return define(*as_structure(self)->nodes, at, in_run).release();
}
PyObject* get_kind(PyObject* self, void*) {
  const Node& root = as_structure(self)->nodes->front();
  if (root.kind == Kind::OTHER) return PyObject_GetAttrString(root.about.get(), "kind");
  return PyUnicode_FromString(name_of(root.kind));
}
PyObject* get_size(PyObject* self, void*) { return PyLong_FromSsize_t(as_structure(self)->size); }
PyObject* get_holds_values(PyObject* self, void*) { return PyBool_FromLong(as_structure(self)->holds_values); }

// --- the type -----------------------------------------------------------------------------------------------------

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!as_structure(self)->nodes) return 0;
  for (const Node& node : *as_structure(self)->nodes) Py_VISIT(node.about.get());
  return 0;
}
// It never changes, so that it needs no tp_clear, as a tuple needs none.
void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  delete as_structure(self)->nodes;
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyMethodDef methods[] = {
    {"fill", fill, METH_O, "The tree with other leaves, as an argument for a function: arrays hold objects."},
    {"collect", collect, METH_O, "The tree with a result for each leaf: arrays of numbers stay arrays of floats."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef attributes[] = {
    {"definition", get_definition, nullptr, "What two trees must have in common to be added.", nullptr},
    {"kind", get_kind, nullptr, "What the outermost container is.", nullptr},
    {"size", get_size, nullptr, "The number of leaves.", nullptr},
    {"holds_values", get_holds_values, nullptr, "Whether there is a Value among the leaves.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("A tree without its leaves.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};
PyType_Spec spec = {"retrograd._native.Structure", sizeof(Structure), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

// --- functions of the module --------------------------------------------------------------------------------------

// new_leaves(numbers): a new Value for each number or Value in a list.
PyObject* new_leaves(PyObject*, PyObject* numbers) {
  if (!PyList_Check(numbers)) return PyErr_Format(PyExc_TypeError, "new_leaves() takes a list");
  if (!flush_parameters()) return nullptr;
  const Py_ssize_t count = PyList_Size(numbers);
  Ref result(PyList_New(count));
  for (Py_ssize_t i = 0; result && i < count; ++i) {
    PyObject* number = PyList_GetItem(numbers, i);
    PyObject* leaf;
    if (tracing() || !(PyFloat_CheckExact(number) || is_value(number))) {
      const Ref data = is_value(number) ? Ref(PyObject_GetAttrString(number, "data")) : Ref::borrow(number);
      leaf =
          data ? PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(value_type), data.get(), nullptr) : nullptr;
    } else {
      leaf = as_object(new_leaf(is_value(number) ? as_value(number)->data : PyFloat_AsDouble(number)));
    }
    if (!leaf) return nullptr;
    PyList_SetItem(result.get(), i, leaf);
  }
  return result.release();
}

// Whether a number or a text is no Value: these have no parts.
bool is_plain(PyObject* thing) {
  return PyFloat_CheckExact(thing) || PyFloat_Check(thing) || PyLong_Check(thing) || PyUnicode_Check(thing) ||
         thing == Py_None;
}

// Whether a tree holds no Value, as a glance at its items shows, which makes nothing: plain numbers, float64 arrays,
// lists, tuples, dictionaries, and records of classes that Python has looked at before (engine/containers.py). What is
// nested deeply is not looked at.
bool is_without_values(PyObject* thing, int levels);

bool are_without_values(PyObject* tuple, int levels) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
    PyObject* item = PyTuple_GetItem(tuple, i);
    if (!is_plain(item) && !is_without_values(item, levels)) return false;
  }
  return true;
}

bool is_record_without_values(PyObject* thing, int levels) {
  PyObject* names = PyDict_GetItemWithError(python_half.records, reinterpret_cast<PyObject*>(Py_TYPE(thing)));
  if (!names) return PyErr_Clear(), false;
  if (PyTuple_Check(thing)) return are_without_values(thing, levels);
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
    const Ref item(PyObject_GetAttr(thing, PyTuple_GetItem(names, i)));
    if (!item) return PyErr_Clear(), false;  // a field that is not set
    if (!is_plain(item.get()) && !is_without_values(item.get(), levels)) return false;
  }
  return true;
}

bool is_without_values(PyObject* thing, int levels) {
  if (is_plain(thing)) return true;
  if (--levels == 0) return false;
  if (PyList_CheckExact(thing)) {
    for (Py_ssize_t i = 0; i < PyList_Size(thing); ++i) {
      PyObject* item = PyList_GetItem(thing, i);
      if (!is_plain(item) && !is_without_values(item, levels)) return false;
    }
    return true;
  }
  if (PyTuple_CheckExact(thing)) return are_without_values(thing, levels);
  if (PyDict_CheckExact(thing)) {
    PyObject *key, *item;
    for (Py_ssize_t at = 0; PyDict_Next(thing, &at, &key, &item);) {
      if (!is_without_values(item, levels)) return false;
    }
    return true;
  }
  if (reinterpret_cast<PyObject*>(Py_TYPE(thing)) == python_half.array_type)
    return static_cast<bool>(FloatArray(thing));
  return !is_value(thing) && is_record_without_values(thing, levels);
}

PyObject* without_values(PyObject*, PyObject* tree) { return PyBool_FromLong(is_without_values(tree, 8)); }

// set_python_half(array_type, empty_array, flatten_other, fill_array, collect_array, records, table): see PythonHalf,
// and look_at_arrays for the table of NumPy's functions.
PyObject* set_python_half(PyObject*, PyObject* args) {
  PythonHalf given;
  PyObject* table;
  if (!PyArg_ParseTuple(args, "OOOOOOO:set_python_half", &given.array_type, &given.empty_array, &given.flatten_other,
                        &given.fill_array, &given.collect_array, &given.records, &table)) {
    return nullptr;
  }
  for (PyObject* one : {given.array_type, given.empty_array, given.flatten_other, given.fill_array, given.collect_array,
                        given.records}) {
    Py_INCREF(one);  // for good: the module stays
  }
  python_half = given;
  if (!look_at_arrays(table)) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace

bool add_structure_type(PyObject* module) {
  structure_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return structure_type && PyModule_AddObjectRef(module, "Structure", reinterpret_cast<PyObject*>(structure_type)) == 0;
}

PyMethodDef tree_functions[] = {
    {"contents", fast(contents), METH_FASTCALL, "What the containers in a tree hold, to compare it later."},
    {"flatten_tree", flatten_tree, METH_O, "The leaves of a tree, a list, and its Structure."},
    {"new_leaves", new_leaves, METH_O, "A new Value for each number or Value in a list."},
    {"without_values", without_values, METH_O, "Whether a tree holds no Value, as can be seen at a glance."},
    {"read_in_place", read_in_place, METH_O, "Whether floats and lists are read in place, which tests may turn off."},
    {"set_python_half", set_python_half, METH_VARARGS, "What takes apart and builds the containers that Python knows."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd::trees
