#include "compiler/run/signature.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "trees/arrays.hpp"
#include "trees/in_place.hpp"

namespace retrograd::compiler {

PyObject* index_type = nullptr;

namespace {
PyObject* const int_type = reinterpret_cast<PyObject*>(&PyLong_Type);

PyObject* type_of(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)); }

// Whether an object that is the same in each call has nothing in it.
bool is_plain(PyObject* object) { return object == Py_None || PyBool_Check(object) || PyType_Check(object); }

bool is_list_type(PyObject* type) {
  return PyType_Check(type) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &PyList_Type);
}

uint32_t number_in(PyObject* number) { return static_cast<uint32_t>(PyLong_AsSize_t(number)); }
}  // namespace

Signature::Kind Signature::kind_named(std::string_view name) {
  static constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"passive", PASSIVE},   {"active", ACTIVE},     {"index", INDEX},
      {"value", VALUE},       {"same", SAME},         {"is", IS},
      {"equal", EQUAL},       {"dict", DICT},         {"fields", FIELDS},
      {"node", NODE},         {"sequence", SEQUENCE}, {"array", ARRAY},
      {"variable", VARIABLE}, {"floats", FLOATS},     {"apart", APART},
      {"again", AGAIN},       {"int", INT},           {"ints", INTS},
      {"bool", BOOL},         {"text", TEXT},         {"key", KEY},
      {"optional", OPTIONAL}, {"member", MEMBER},
  };
  const auto* found = std::ranges::find(kinds, name, &std::pair<std::string_view, Kind>::first);
  return found == std::end(kinds) ? IS : found->second;
}

std::unique_ptr<Signature> Signature::parse(PyObject* description) {
  auto signature = std::make_unique<Signature>();
  if (!signature->parse(description, 0)) return nullptr;
  const Node& all = signature->root();
  if (all.count > 0 && signature->has_active(signature->child_of(all, 0))) {
    signature->mark_given(signature->nodes_[all.first]);
  }
  return signature;
}

PyObject* Signature::held(PyObject* object) {
  if (object) held_.push_back(Ref::borrow(object));
  return object;
}

Signature::Details& Signature::details(Node& node) {
  node.more = static_cast<uint32_t>(details_.size());
  return details_.emplace_back();
}

// Reads the description of the node at a place. False with an exception set.
bool Signature::parse(PyObject* description, uint32_t place) {
  const char* kind;
  PyObject *second = nullptr, *third = nullptr, *fourth = nullptr, *fifth = nullptr, *sixth = nullptr;
  if (!PyArg_ParseTuple(description, "sO|OOOO", &kind, &second, &third, &fourth, &fifth, &sixth)) return false;
  Node node;
  node.kind = kind_named(kind);
  node.object = second;
  switch (node.kind) {
    case IS:
      node.number = third ? number_in(third) : kNone;
      node.has_no_values = is_plain(second);
      break;
    case EQUAL: break;
    case KEY: {
      Details& more = details(node);
      more.build = held(third);
      more.rest = held(fourth);
      more.factory = held(fifth);
      node.runs_python = true;
      break;
    }
    case ARRAY:
    case INTS: {
      Details& more = details(node);
      more.shape = held(third);
      node.number = number_in(fourth);
      node.active = node.kind == ARRAY && PyObject_IsTrue(fifth) == 1;
      if (node.kind == INTS) {
        more.twin = number_in(fifth);
        more.rest = held(sixth);
      }
      node.count = 1;
      for (Py_ssize_t i = 0; i < PyTuple_Size(third); ++i) {
        more.extents.push_back(PyLong_AsSsize_t(PyTuple_GetItem(third, i)));
        node.count *= static_cast<uint32_t>(more.extents.back());
      }
      break;
    }
    case FLOATS:
      node.is_list = is_list_type(second);
      node.number = number_in(third);
      node.count = number_in(fourth);
      node.active = PyObject_IsTrue(fifth) == 1;
      details(node).rest = held(sixth);
      break;
    case SEQUENCE:
    case DICT:
    case FIELDS:
    case NODE:
      node.is_list = is_list_type(second);
      if (fourth || node.kind != SEQUENCE) {
        Details& more = details(node);
        more.build = held(fourth);
        (node.kind == NODE ? more.flatten : more.factory) = held(fifth);
        more.rest = held(sixth);
      }
      if (!parse_items(third, node)) return false;
      if (node.kind == FIELDS) {
        const Ref offset(PyObject_GetAttrString(second, "__dictoffset__"));
        node.has_dictionary = offset && PyObject_IsTrue(offset.get()) == 1;
      }
      break;
    case OPTIONAL:
    case APART:
      node.first = static_cast<uint32_t>(nodes_.size());
      node.count = 1;
      nodes_.emplace_back();
      if (node.kind == OPTIONAL) {
        node.number = number_in(second);
        node.object = third;
      }
      if (node.kind == APART && !take_captured(second)) return false;
      if (!parse(node.kind == OPTIONAL ? fourth : third, node.first)) return false;
      node.runs_python = nodes_[node.first].runs_python;
      node.has_no_values = nodes_[node.first].has_no_values;
      break;
    default:
      node.number = number_in(second);
      node.object = third;
      node.count = third && PyLong_Check(third) ? number_in(third) : kNone;  // of an index: the number that it is, too
      if (node.kind == INT) node.object = fourth ? fourth : int_type;
      node.has_no_values = node.kind != VALUE && node.kind != VARIABLE && node.kind != SAME;
  }
  held(node.object);
  nodes_[place] = node;
  return !PyErr_Occurred();
}

bool Signature::parse_items(PyObject* descriptions, Node& node) {
  node.runs_python = node.kind == NODE;
  const bool named = node.kind == DICT || node.kind == FIELDS;
  node.count = static_cast<uint32_t>(PyList_Size(descriptions));
  node.first = static_cast<uint32_t>(nodes_.size());
  nodes_.resize(nodes_.size() + node.count);
  for (uint32_t i = 0; i < node.count; ++i) {
    PyObject* item = PyList_GetItem(descriptions, i);
    if (named) {
      details_[node.more].keys.push_back(held(PyTuple_GetItem(item, 0)));
      item = PyTuple_GetItem(item, 1);
    }
    if (!item || !parse(item, node.first + i)) return false;
    const Node& child = nodes_[node.first + i];
    node.runs_python |= child.runs_python;
    node.has_no_values &= child.has_no_values;
  }
  return true;
}

namespace {
template <class T>
void put(std::vector<T>& numbers, size_t i, T number) {
  if (i >= numbers.size()) numbers.resize(i + 1);
  numbers[i] = number;
}

bool is_float(PyObject* argument) { return Py_TYPE(argument) == &PyFloat_Type; }

void put_index(long index, uint32_t number, uint32_t twin, Arguments& into) {
  put(into.indices, number, static_cast<int32_t>(index));
  if (twin != UINT32_MAX) into.passive[twin] = static_cast<double>(index);
}

int read_index(PyObject* argument, uint32_t number, uint32_t twin, Arguments& into) {
  int overflow;
  const long index = PyLong_AsLongAndOverflow(argument, &overflow);
  if (index == -1 && PyErr_Occurred()) return -1;
  // Too large for any sequence: let the function itself raise.
  if (overflow || index < INT32_MIN || index > INT32_MAX) return 0;
  put_index(index, number, twin, into);
  return 1;
}

// The number that stands for a text; with no texts, any will do.
int read_text(PyObject* argument, PyObject* codes, double& to) {
  if (!PyUnicode_CheckExact(argument)) return 0;
  PyObject* code = PyDict_Size(codes) ? PyDict_GetItemWithError(codes, argument) : nullptr;
  if (!code) return PyErr_Occurred() ? -1 : PyDict_Size(codes) == 0;
  to = PyFloat_AsDouble(code);
  return 1;
}

// Which of some objects it is.
int read_member(PyObject* argument, PyObject* members, double& to) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(members); ++i) {
    if (PyTuple_GetItem(members, i) == argument) return to = static_cast<double>(i), 1;
  }
  return 0;
}

int read_value(PyObject* argument, uint32_t number, Arguments& into) {
  if (Py_TYPE(argument) != value_type) return 0;
  if (as_value(argument)->code != LEAF && !into.reads_results) return 0;
  Value* value = as_value(argument);
  // The function may also use this parameter directly: then it must be traced as a parameter.
  if (value->flags & IN_BUFFER) return 0;
  if (!flush_parameters()) return -1;
  into.active[number] = value->data;
  put(into.values, number, value);
  return 1;
}

int read_variable(PyObject* argument, uint32_t number, Arguments& into) {
  if (!is_value(argument)) return 0;
  if (!flush_all()) return -1;
  into.active[number] = as_value(argument)->data;
  return 1;
}

// Whether an argument is the number or text of the traced call. Zeros of other signs are other numbers.
bool equals(PyObject* argument, PyObject* traced) {
  if (argument == traced) return true;
  if (Py_TYPE(argument) != Py_TYPE(traced)) return false;
  if (PyFloat_Check(traced)) return same_bits(PyFloat_AsDouble(argument), PyFloat_AsDouble(traced));
  if (PyComplex_Check(traced)) {
    return same_bits(PyComplex_RealAsDouble(argument), PyComplex_RealAsDouble(traced)) &&
           same_bits(PyComplex_ImagAsDouble(argument), PyComplex_ImagAsDouble(traced));
  }
  return PyObject_RichCompareBool(argument, traced, Py_EQ) == 1;
}

// Any float or int is accepted where a gradient is wanted; code may tell NumPy's floats from others elsewhere.
bool is_number(PyObject* argument, bool active, PyObject* type) {
  return (active && (is_float(argument) || PyLong_CheckExact(argument))) || type_of(argument) == type;
}

bool read_number(PyObject* argument, double& to) {
  to = is_float(argument) ? trees::number_of(argument) : PyFloat_AsDouble(argument);
  return to != -1.0 || !PyErr_Occurred();
}
}  // namespace

int Signature::read(const Node& node, PyObject* argument, Arguments& into) const {
  if (node.is_given) into.given.push_back(Ref::borrow(argument));
  switch (node.kind) {
    case PASSIVE:
      if (!is_number(argument, false, node.object)) return 0;
      return read_number(argument, into.passive[node.number]) ? 1 : -1;
    case ACTIVE:
      if (!is_number(argument, true, node.object)) return 0;
      return read_number(argument, into.active[node.number]) ? 1 : -1;
    case EQUAL: return equals(argument, node.object);
    case INDEX: return type_of(argument) == index_type ? read_index(argument, node.number, node.count, into) : 0;
    case INT: return type_of(argument) == node.object ? read_index(argument, node.number, node.count, into) : 0;
    case BOOL:
      if (!PyBool_Check(argument)) return 0;
      into.passive[node.number] = argument == Py_True ? 1.0 : 0.0;
      return 1;
    case TEXT: return read_text(argument, node.object, into.passive[node.number]);
    case MEMBER: return read_member(argument, node.object, into.passive[node.number]);
    case VALUE: return read_value(argument, node.number, into);
    case VARIABLE: return read_variable(argument, node.number, into);
    case SAME: return node.number < into.values.size() && as_object(into.values[node.number]) == argument;
    case AGAIN: return node.number < into.apart.size() && into.apart[node.number] == argument;
    case IS: return argument == node.object;
    case APART: return read_apart(node, argument, into);
    case OPTIONAL: return read_optional(node, argument, into);
    default: return type_of(argument) == node.object ? read_container(node, argument, into) : 0;
  }
}

int Signature::read_container(const Node& node, PyObject* argument, Arguments& into) const {
  switch (node.kind) {
    case SEQUENCE: return read_sequence(node, argument, into);
    case FLOATS: return read_floats(node, argument, into);
    case DICT: return read_dict(node, argument, into);
    case FIELDS: return read_fields(node, argument, into);
    case NODE: return read_node(node, argument, into);
    case ARRAY: return read_array(node, argument, into);
    case INTS: return read_ints(node, argument, into);
    case KEY: return read_key(node, argument);
    default: return 0;
  }
}

namespace {
// Whether a record has as many attributes in its dictionary as the traced call's, if that matters.
bool has_as_many(PyObject* record, PyObject* count) {
  if (!count || !PyLong_Check(count)) return true;
  const Ref attributes(PyObject_GenericGetDict(record, nullptr));
  if (!attributes) return PyErr_Clear(), false;
  return PyDict_Size(attributes.get()) == PyLong_AsSsize_t(count);
}
}  // namespace

int Signature::read_sequence(const Node& node, PyObject* argument, Arguments& into) const {
  const bool list = node.is_list;
  const Py_ssize_t count = trees::size_of(argument, list);
  if (count != static_cast<Py_ssize_t>(node.count) || !has_as_many(argument, details_of(node).factory)) return 0;
  if (PyObject** items = !list || !node.runs_python ? trees::items_of(argument, list) : nullptr) {
    return read_items(node, items, into);
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (list && i >= PyList_Size(argument)) return 0;  // the user's code made it shorter
    PyObject* item = list ? PyList_GetItem(argument, i) : PyTuple_GetItem(argument, i);
    const int read_one = read(child_of(node, static_cast<size_t>(i)), item, into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

// Has the processor load what is read next of several rows of numbers, each of which is an object of its own,
// somewhere: first a row, then the list of its items, and then those.
void Signature::load_ahead(const Node& row, PyObject* const* rows, size_t left) {
  constexpr size_t kStep = 4;  // rows
  constexpr uint32_t kMost = 16;
  if (left <= 3 * kStep || row.count > kMost) return;  // the numbers of a long row come by themselves
  __builtin_prefetch(rows[3 * kStep]);
  PyObject *const second = rows[2 * kStep], *const first = rows[kStep];
  if (type_of(second) == row.object) {
    __builtin_prefetch(static_cast<const void*>(trees::items_of(second, row.is_list)));
  }
  if (type_of(first) != row.object) return;
  if (trees::size_of(first, row.is_list) != static_cast<Py_ssize_t>(row.count)) return;
  PyObject* const* items = trees::items_of(first, row.is_list);
  for (uint32_t i = 0; i < row.count; ++i) __builtin_prefetch(items[i]);
}

// Nothing changes a list meanwhile: what is read runs no code of the user's. Most items are numbers, or rows of them.
int Signature::read_items(const Node& node, PyObject* const* items, Arguments& into) const {
  const Node* child = &nodes_[node.first];
  double *passive = into.passive.data(), *active = into.active.data();
  for (size_t i = 0; i < node.count; ++i, ++child) {
    PyObject* item = items[i];
    if (child->kind == EQUAL && item == child->object) continue;
    if (child->kind == FLOATS && trees::reads_in_place && type_of(item) == child->object) {
      load_ahead(*child, items + i, node.count - i);
      const size_t count = child->count;
      double* to = (child->active ? active : passive) + child->number;
      if (trees::size_of(item, child->is_list) == static_cast<Py_ssize_t>(count) &&
          trees::read_numbers(trees::items_of(item, child->is_list), count, to) == count) {
        continue;
      }
    }
    if (child->kind <= ACTIVE && is_float(item) && (child->kind == ACTIVE || type_of(item) == child->object)) {
      (child->kind == ACTIVE ? active : passive)[child->number] = trees::number_of(item);
      continue;
    }
    long small;
    if (child->kind == INT && child->object == int_type && !child->is_given && trees::small_int(item, small)) {
      put_index(small, child->number, child->count, into);
      continue;
    }
    const int read_one = read(*child, item, into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

int Signature::read_floats(const Node& node, PyObject* argument, Arguments& into) const {
  const bool list = node.is_list;
  if (trees::size_of(argument, list) != static_cast<Py_ssize_t>(node.count)) return 0;
  double* to = (node.active ? into.active : into.passive).data() + node.number;
  PyObject* const* items = trees::items_of(argument, list);
  for (size_t i = items ? trees::read_numbers(items, node.count, to) : 0; i < node.count; ++i) {
    const auto at = static_cast<Py_ssize_t>(i);
    PyObject* item = items ? items[i] : list ? PyList_GetItem(argument, at) : PyTuple_GetItem(argument, at);
    if (is_float(item)) {
      to[i] = trees::number_of(item);
      continue;
    }
    // Any float or int is accepted where a gradient is wanted, as above.
    if (!node.active || !(PyLong_CheckExact(item) || type_of(item) == details_of(node).rest)) return 0;
    if (!read_number(item, to[i])) return -1;
  }
  return 1;
}

// Others than Python's own numbers, strings and tuples must be the same object.
bool is_key(PyObject* key, PyObject* traced) {
  if (key == traced) return true;
  if (Py_TYPE(key) != Py_TYPE(traced)) return false;
  if (PyUnicode_CheckExact(key)) return PyUnicode_Compare(key, traced) == 0;
  if (PyFloat_CheckExact(key)) return same_bits(PyFloat_AsDouble(key), PyFloat_AsDouble(traced));
  if (PyLong_CheckExact(key) || PyBytes_CheckExact(key)) return PyObject_RichCompareBool(key, traced, Py_EQ) == 1;
  if (!PyTuple_CheckExact(key) || PyTuple_Size(key) != PyTuple_Size(traced)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(key); ++i) {
    if (!is_key(PyTuple_GetItem(key, i), PyTuple_GetItem(traced, i))) return false;
  }
  return true;
}

int Signature::read_dict(const Node& node, PyObject* argument, Arguments& into) const {
  if (PyDict_Size(argument) != static_cast<Py_ssize_t>(node.count)) return 0;
  const Details& more = details_of(node);
  // The user's code may change a dictionary, and an OrderedDict has an order of its own.
  if (node.runs_python || more.build) return read_other_dict(node, argument, into);
  PyObject *key, *item;
  Py_ssize_t at = 0;
  for (size_t i = 0; PyDict_Next(argument, &at, &key, &item); ++i) {
    const int read_one = is_key(key, more.keys[i]) ? read(child_of(node, i), item, into) : 0;
    if (read_one != 1) return read_one;
  }
  return 1;
}

int Signature::read_other_dict(const Node& node, PyObject* argument, Arguments& into) const {
  const Details& more = details_of(node);
  if (more.factory && more.factory != Py_None) {
    const Ref factory(PyObject_GetAttrString(argument, "default_factory"));
    if (!factory) return -1;
    if (factory.get() != more.factory) return 0;
  }
  const Ref pairs(PyMapping_Items(argument));
  if (!pairs) return -1;
  for (size_t i = 0; i < node.count; ++i) {
    PyObject* pair = PyList_GetItem(pairs.get(), static_cast<Py_ssize_t>(i));
    const bool same = is_key(PyTuple_GetItem(pair, 0), more.keys[i]);
    const int read_one = same ? read(child_of(node, i), PyTuple_GetItem(pair, 1), into) : 0;
    if (read_one != 1) return read_one;
  }
  return 1;
}

// Reads a dataclass whose attributes are its fields and no descriptors of the user's: most have them in their order.
int Signature::read_fields(const Node& node, PyObject* argument, Arguments& into) const {
  const Details& more = details_of(node);
  if (!has_as_many(argument, more.factory)) return 0;
  size_t i = 0;
  if (node.has_dictionary && !node.runs_python) {
    const Ref attributes(PyObject_GenericGetDict(argument, nullptr));
    if (!attributes) return -1;
    PyObject *name, *item;
    Py_ssize_t at = 0;
    for (; i < node.count && PyDict_Next(attributes.get(), &at, &name, &item) && name == more.keys[i]; ++i) {
      const int read_one = read(child_of(node, i), item, into);
      if (read_one != 1) return read_one;
    }
  }
  for (; i < node.count; ++i) {
    const Ref item(PyObject_GenericGetAttr(argument, more.keys[i]));
    if (!item) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
      PyErr_Clear();  // the field was deleted
      return 0;
    }
    const int read_one = read(child_of(node, i), item.get(), into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

// Reads an instance of a registered class: the user's function takes it apart.
int Signature::read_node(const Node& node, PyObject* argument, Arguments& into) const {
  const Details& more = details_of(node);
  const Ref pair(PyObject_CallFunctionObjArgs(more.flatten, argument, nullptr));
  PyObject *children, *rest;
  if (!pair || !PyArg_ParseTuple(pair.get(), "OO:flatten_func", &children, &rest)) return -1;
  const Ref items(PySequence_List(children));
  if (!items) return -1;
  const int same = PyObject_RichCompareBool(rest, more.rest, Py_EQ);
  if (same < 0 && !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
  PyErr_Clear();  // what cannot be compared is something else
  if (same != 1 || PyList_Size(items.get()) != static_cast<Py_ssize_t>(node.count)) return 0;
  for (size_t i = 0; i < node.count; ++i) {
    const int read_one = read(child_of(node, i), PyList_GetItem(items.get(), static_cast<Py_ssize_t>(i)), into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

int Signature::read_optional(const Node& node, PyObject* argument, Arguments& into) const {
  const bool is_there = argument != Py_None;
  into.passive[node.number] = is_there ? 1.0 : 0.0;
  return read(child_of(node, 0), is_there ? argument : node.object, into);
}

// The ids of what is captured, which are the same for all containers of a signature.
bool Signature::take_captured(PyObject* ids) {
  if (ids == captured_ids_) return true;
  captured_ids_ = ids;
  const Ref list(PySequence_List(ids));
  if (!list) return false;
  const Py_ssize_t count = PyList_Size(list.get());
  captured_.clear(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) captured_.insert(PyLong_AsVoidPtr(PyList_GetItem(list.get(), i)));
  return PyErr_Occurred() == nullptr;
}

// The function may ask which object a container is: it is a new one, as read_all sees, and none that is captured.
int Signature::read_apart(const Node& node, PyObject* argument, Arguments& into) const {
  if (captured_.contains(argument)) return 0;
  into.apart.push_back(argument);
  return read(child_of(node, 0), argument, into);
}

// What a function of ours gives of it: it runs no code of the user's, but Python may collect garbage meanwhile.
int Signature::read_key(const Node& node, PyObject* argument) const {
  const Details& more = details_of(node);
  if (argument == more.factory) return 1;
  const Ref key(PyObject_CallFunctionObjArgs(more.build, argument, nullptr));
  return key ? is_key(key.get(), more.rest) : -1;
}

namespace {
template <class Number>
bool has_shape(const trees::NumberArray<Number>& array, const std::vector<Py_ssize_t>& extents) {
  if (!array || array.axes() != static_cast<int>(extents.size())) return false;
  for (int i = 0; i < array.axes(); ++i) {
    if (array.extent(i) != extents[static_cast<size_t>(i)]) return false;
  }
  return true;
}
}  // namespace

// Reads a float64 array of the traced shape, in any memory order.
int Signature::read_array(const Node& node, PyObject* argument, Arguments& into) const {
  const trees::FloatArray array(argument);
  if (!has_shape(array, details_of(node).extents)) return 0;
  array.copy((node.active ? into.active : into.passive).data() + node.number);
  return 1;
}

// The same of an array of ints, which are indices, too.
int Signature::read_ints(const Node& node, PyObject* argument, Arguments& into) const {
  const Details& more = details_of(node);
  const Ref dtype(PyObject_GetAttrString(argument, "dtype"));
  const int same = dtype ? PyObject_RichCompareBool(dtype.get(), more.rest, Py_EQ) : -1;
  if (same != 1) return same;
  const trees::IntArray array(argument);
  if (array) return read_ints(node, array, into);
  const Ref wide(PyObject_CallMethod(argument, "astype", "s", "int64"));
  return wide ? read_ints(node, trees::IntArray(wide.get()), into) : -1;
}

int Signature::read_ints(const Node& node, const trees::IntArray& array, Arguments& into) const {
  const Details& more = details_of(node);
  if (!has_shape(array, more.extents)) return 0;
  std::vector<int64_t> numbers(node.count);
  array.copy(numbers.data());
  for (size_t i = 0; i < node.count; ++i) {
    if (numbers[i] < INT32_MIN || numbers[i] > INT32_MAX) return 0;
    put(into.indices, node.number + i, static_cast<int32_t>(numbers[i]));
    into.passive[more.twin + i] = static_cast<double>(numbers[i]);
  }
  return 1;
}

int Signature::read_all(PyObject* const* arguments, Py_ssize_t count, Arguments& into) const {
  if (count != static_cast<Py_ssize_t>(root().count)) return 0;
  into.apart.clear();
  into.given.clear();
  const int found = read_items(root(), arguments, into);
  if (found != 1 || into.apart.size() < 2) return found;
  into.different.clear(into.apart.size());
  return std::ranges::all_of(into.apart, [&](PyObject* one) { return into.different.insert(one); }) ? 1 : 0;
}

int Signature::traverse(visitproc visit, void* arg) const {
  for (const Ref& one : held_) Py_VISIT(one.get());
  return 0;
}

}  // namespace retrograd::compiler
