#include "trees/typed_data.hpp"

#include <bit>

#include "trees/arrays.hpp"
#include "trees/in_place.hpp"

namespace retrograd::trees {
namespace {

// Larger ints are left to the function itself.
constexpr long long kLargest = 1LL << 62;
// So deep may instances of one class be inside of each other, as functions that call themselves.
constexpr int kDeepest = 200;

using Put = TypedData::Put;

}  // namespace

// --- types --------------------------------------------------------------------------------------------------------

bool DataType::parse(PyObject* tuple) {
  PyObject *first = nullptr, *next = nullptr, *third = nullptr, *fourth = nullptr, *last = nullptr;
  unsigned char which;
  if (!PyTuple_Check(tuple) || !PyArg_ParseTuple(tuple, "b|OOOOO", &which, &first, &next, &third, &fourth, &last)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a type is a tuple");
    return false;
  }
  code = static_cast<Code>(which);
  const auto part = [this](PyObject* type) { return type && parts.emplace_back().parse(type); };
  const auto each = [&part](PyObject* types) {
    for (Py_ssize_t i = 0; types && i < PyTuple_Size(types); ++i) {
      if (!part(PyTuple_GetItem(types, i))) return false;
    }
    return types != nullptr;
  };
  about = Ref(Py_XNewRef(code == OPTIONAL || code == UNION ? nullptr : first));
  switch (code) {
    case OPTIONAL: return part(first);
    case UNION: return each(first);
    case TUPLE:
    case RECORD: return each(next);
    case LIST: return part(next);
    case INSTANCE:
      second = Ref(Py_XNewRef(third));
      flag = fourth == Py_True;
      return each(next);
    case AGAIN: up = PyLong_AsLong(first); return up > 0;
    case ARRAY:
      second = Ref(Py_XNewRef(next));
      axes = fourth ? PyLong_AsLong(fourth) : -1;
      flag = last == Py_True;
      return axes >= 0 && part(third);
    default: return true;
  }
}

int DataType::traverse(visitproc visit, void* arg) const {
  Py_VISIT(about.get());
  Py_VISIT(second.get());
  for (const DataType& part : parts) {
    if (const int stopped = part.traverse(visit, arg)) return stopped;
  }
  return 0;
}

// --- data ---------------------------------------------------------------------------------------------------------

Put TypedData::put(const DataType& type, PyObject* thing) {
  switch (type.code) {
    case DataType::FLOAT: return PyFloat_CheckExact(thing) ? number(number_of(thing)) : Put::OF_ANOTHER_TYPE;
    case DataType::MIXED: return mixed(thing);
    case DataType::INT: return PyLong_CheckExact(thing) ? whole(thing) : Put::OF_ANOTHER_TYPE;
    case DataType::BOOL: return PyBool_Check(thing) ? word(thing == Py_True) : Put::OF_ANOTHER_TYPE;
    case DataType::VALUE: return leaf(thing);
    case DataType::EITHER:
    case DataType::ANY_NUMBER:
      if (takes_variables_ || is_value(thing) || Py_TYPE(thing) == leaf_type_) return leaf(thing);
      if (type.code == DataType::EITHER && !PyFloat_CheckExact(thing)) return Put::OF_ANOTHER_TYPE;
      word(0);
      return mixed(thing);
    case DataType::TEXT: return PyUnicode_CheckExact(thing) ? text(type, thing) : Put::OF_ANOTHER_TYPE;
    case DataType::NUMBERED: return numbered(type, thing);
    case DataType::NONE: return thing == Py_None ? Put::DONE : Put::OF_ANOTHER_TYPE;
    case DataType::STATIC: return thing == type.about.get() ? Put::DONE : Put::OF_ANOTHER_TYPE;
    case DataType::OPTIONAL: word(thing != Py_None); return thing == Py_None ? Put::DONE : put(type.parts[0], thing);
    case DataType::TUPLE: return tuple(type, thing);
    case DataType::LIST: return list(type, thing);
    case DataType::RECORD: return record(type, thing);
    case DataType::INSTANCE: {
      if (takes_variables_) return Put::OF_ANOTHER_TYPE;
      around_.push_back(&type);
      const Put done = instance(type, thing);
      around_.pop_back();
      return done;
    }
    case DataType::AGAIN: return again(type.up, thing);
    case DataType::ARRAY: return array(type, thing);
    case DataType::UNION: return takes_variables_ ? Put::OF_ANOTHER_TYPE : one_of(type, thing);
  }
  PyErr_SetString(PyExc_ValueError, "there is no such type");
  return Put::FAILED;
}

Put TypedData::put_variables(const DataType& type, PyObject* thing) {
  takes_variables_ = true;
  const Put done = put(type, thing);
  takes_variables_ = false;
  return done;
}

Put TypedData::number(double value) { return word(std::bit_cast<uint64_t>(value)); }

Put TypedData::whole(PyObject* thing) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(thing, &overflow);
  if (overflow || value <= -kLargest || value >= kLargest) return Put::OF_ANOTHER_TYPE;
  return word(static_cast<uint64_t>(value));
}

Put TypedData::mixed(PyObject* thing) {
  if (PyFloat_CheckExact(thing)) return number(number_of(thing));
  if (!PyLong_CheckExact(thing)) return Put::OF_ANOTHER_TYPE;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(thing, &overflow);
  constexpr long long exact = 1LL << 53;
  if (overflow || value < -exact || value > exact) return Put::OF_ANOTHER_TYPE;
  return number(static_cast<double>(value));
}

Put TypedData::leaf(PyObject* thing) {
  if (takes_variables_) return variable(thing);
  if (Py_TYPE(thing) == leaf_type_) return word(static_cast<uint64_t>(PyLong_AsLongLong(thing)));
  if (!is_value(thing)) return Put::OF_ANOTHER_TYPE;
  const Value* value = as_value(thing);
  if (value->code != LEAF ? !takes_results_ : (value->flags & (UNRECORDED | FRESH)) != 0) return Put::OF_ANOTHER_TYPE;
  const auto [place, is_new] = places_.try_emplace(value, leaves_.size() + 1);
  if (is_new) {
    leaves_.push_back(value->data);
    values_.push_back(Ref::borrow(thing));
  }
  return word(place->second);
}

Put TypedData::variable(PyObject* thing) {
  double value = 0.0;
  if (PyFloat_CheckExact(thing)) {
    value = number_of(thing);
  } else if (PyLong_CheckExact(thing)) {
    value = PyLong_AsDouble(thing);
    if (value == -1.0 && PyErr_Occurred()) return PyErr_Clear(), Put::OF_ANOTHER_TYPE;
  } else {
    return Put::OF_ANOTHER_TYPE;
  }
  leaves_.push_back(value);
  return word(leaves_.size());
}

Put TypedData::text(const DataType& type, PyObject* thing) {
  PyObject* numbers = type.about.get();
  if (PyObject* known = PyDict_GetItemWithError(numbers, thing)) return whole(known);
  if (PyErr_Occurred()) return Put::FAILED;
  if (!new_texts_) {
    new_texts_ = Ref(PyDict_New());
    first_new_text_ = PyDict_Size(numbers);
  }
  if (!new_texts_) return Put::FAILED;
  if (PyObject* seen = PyDict_GetItemWithError(new_texts_.get(), thing)) return whole(seen);
  if (PyErr_Occurred()) return Put::FAILED;
  const Ref next(PyLong_FromSsize_t(first_new_text_ + PyDict_Size(new_texts_.get())));
  if (!next || PyDict_SetItem(new_texts_.get(), thing, next.get()) < 0) return Put::FAILED;
  return whole(next.get());
}

Put TypedData::numbered(const DataType& type, PyObject* thing) {
  const Ref found(PyObject_CallFunctionObjArgs(type.about.get(), thing, nullptr));
  if (!found) return Put::FAILED;
  return found.get() == Py_None ? Put::OF_ANOTHER_TYPE : whole(found.get());
}

Put TypedData::tuple(const DataType& type, PyObject* thing) {
  const auto count = static_cast<Py_ssize_t>(type.parts.size());
  const bool is_list = PyList_CheckExact(thing);
  if (reinterpret_cast<PyObject*>(Py_TYPE(thing)) != type.about.get() || size_of(thing, is_list) != count)
    return Put::OF_ANOTHER_TYPE;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref item = Ref::borrow(is_list ? PyList_GetItem(thing, i) : PyTuple_GetItem(thing, i));
    const Put done = item ? put(type.parts[static_cast<size_t>(i)], item.get()) : Put::FAILED;
    if (done != Put::DONE) return done;
  }
  return Put::DONE;
}

Put TypedData::list(const DataType& type, PyObject* thing) {
  const int is_one = PySequence_Contains(type.about.get(), reinterpret_cast<PyObject*>(Py_TYPE(thing)));
  if (is_one < 1) return is_one < 0 ? Put::FAILED : Put::OF_ANOTHER_TYPE;
  if (PyList_CheckExact(thing)) return items(type.parts[0], thing, true);
  if (PyTuple_CheckExact(thing)) return items(type.parts[0], thing, false);
  const Ref copy(PyDict_CheckExact(thing) ? PyDict_Items(thing) : PySequence_List(thing));
  return copy ? items(type.parts[0], copy.get(), true) : Put::FAILED;
}

// What Python code runs meanwhile may change a list: then an item is missing, which is an error.
Put TypedData::items(const DataType& item, PyObject* sequence, bool is_list) {
  const Py_ssize_t count = size_of(sequence, is_list);
  word(static_cast<uint64_t>(count));
  for (Py_ssize_t i = leading_floats(item, sequence, is_list, count); i < count; ++i) {
    const Ref held = Ref::borrow(is_list ? PyList_GetItem(sequence, i) : PyTuple_GetItem(sequence, i));
    const Put done = held ? put(item, held.get()) : Put::FAILED;
    if (done != Put::DONE) return done;
  }
  return Put::DONE;
}

// Writes the leading items that are floats, where they lie, and returns how many those are.
Py_ssize_t TypedData::leading_floats(const DataType& item, PyObject* sequence, bool is_list, Py_ssize_t count) {
  const bool are_variables = takes_variables_ && item.code == DataType::VALUE;
  PyObject* const* things = are_variables || item.code == DataType::FLOAT ? items_of(sequence, is_list) : nullptr;
  if (!things) return 0;
  const size_t before = words_.size();
  words_.resize(before + static_cast<size_t>(count));
  Py_ssize_t i = 0;
  for (; i < count && PyFloat_CheckExact(things[i]); ++i) {
    const double value = number_of(things[i]);
    if (are_variables) leaves_.push_back(value);
    words_[before + static_cast<size_t>(i)] = are_variables ? leaves_.size() : std::bit_cast<uint64_t>(value);
  }
  words_.resize(before + static_cast<size_t>(i));
  return i;
}

// An array is written as nested lists.
Put TypedData::array(const DataType& type, PyObject* thing) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(thing)) != type.about.get()) return Put::OF_ANOTHER_TYPE;
  if ((takes_variables_ || type.flag) && floats(type, thing)) return Put::DONE;
  if (takes_variables_) return Put::OF_ANOTHER_TYPE;
  const Ref dtype(PyObject_GetAttrString(thing, "dtype")), axes(PyObject_GetAttrString(thing, "ndim"));
  if (!dtype || !axes) return Put::FAILED;
  const int same = PyObject_RichCompareBool(dtype.get(), type.second.get(), Py_EQ);
  if (same < 1 || PyLong_AsLong(axes.get()) != type.axes) return same < 0 ? Put::FAILED : Put::OF_ANOTHER_TYPE;
  const Ref rows(PyObject_CallMethod(thing, "tolist", nullptr));
  return rows ? items(type.parts[0], rows.get(), true) : Put::FAILED;
}

// Writes an array of float64, of so many axes as the type has; false of another one.
bool TypedData::floats(const DataType& type, PyObject* array) {
  const DataType* item = &type;
  for (long axis = 0; axis < type.axes && !item->parts.empty(); ++axis) item = &item->parts[0];
  const bool are_variables = item->code == DataType::VALUE;
  const FloatArray given(array);
  if (!given || given.axes() != type.axes || are_variables != takes_variables_) return false;
  std::vector<double> copy(given.row_major() ? 0 : given.size());
  if (!given.row_major()) given.copy(copy.data());
  const double* next = given.row_major() ? given.row_major() : copy.data();
  const auto write = [&](const auto& self, int axis) -> void {
    word(static_cast<uint64_t>(given.extent(axis)));
    for (Py_ssize_t i = 0; i < given.extent(axis); ++i) {
      if (axis + 1 < given.axes()) {
        self(self, axis + 1);
      } else if (are_variables) {
        leaves_.push_back(*next++);
        word(leaves_.size());
      } else {
        number(*next++);
      }
    }
  };
  write(write, 0);
  return true;
}

Put TypedData::record(const DataType& type, PyObject* thing) {
  if (!PyDict_CheckExact(thing)) return Put::OF_ANOTHER_TYPE;
  PyObject *names = type.about.get(), *key, *item;
  Py_ssize_t at = 0, next = 0;
  bool same = PyDict_Size(thing) == PyTuple_Size(names);
  for (; same && PyDict_Next(thing, &at, &key, &item); ++next) {
    PyObject* name = PyTuple_GetItem(names, next);
    if (key == name) continue;
    same = PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0;
  }
  return same ? attributes(type, thing) : Put::OF_ANOTHER_TYPE;
}

Put TypedData::instance(const DataType& type, PyObject* thing) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(thing)) != type.second.get()) return Put::OF_ANOTHER_TYPE;
  PyObject* names = type.about.get();
  if (!type.flag) {
    for (size_t i = 0; i < type.parts.size(); ++i) {
      const Ref item(PyObject_GetAttr(thing, PyTuple_GetItem(names, static_cast<Py_ssize_t>(i))));
      if (!item) return PyErr_Clear(), Put::OF_ANOTHER_TYPE;  // a slot that has not been filled
      const Put done = put(type.parts[i], item.get());
      if (done != Put::DONE) return done;
    }
    return Put::DONE;
  }
  const Ref own(PyObject_GenericGetDict(thing, nullptr));
  if (!own) return Put::FAILED;
  return PyDict_Size(own.get()) == PyTuple_Size(names) ? attributes(type, own.get()) : Put::OF_ANOTHER_TYPE;
}

Put TypedData::again(long up, PyObject* thing) {
  if (depth_ >= kDeepest) return Put::OF_ANOTHER_TYPE;  // or it is inside of itself
  const auto from = around_.end() - up;
  const std::vector<const DataType*> inside(from, around_.end());
  around_.erase(from, around_.end());
  ++depth_;
  const Put done = put(*inside.front(), thing);
  --depth_;
  around_.insert(around_.end(), inside.begin(), inside.end());
  return done;
}

Put TypedData::one_of(const DataType& type, PyObject* thing) {
  PyObject* kind = reinterpret_cast<PyObject*>(Py_TYPE(thing));
  for (size_t i = 0; i < type.parts.size(); ++i) {
    const DataType& option = type.parts[i];
    const DataType& known = option.code == DataType::AGAIN ? **(around_.end() - option.up) : option;
    if (known.code == DataType::INSTANCE ? kind != known.second.get() : thing != known.about.get()) continue;
    word(i);
    return put(option, thing);
  }
  return Put::OF_ANOTHER_TYPE;
}

Put TypedData::attributes(const DataType& type, PyObject* own) {
  for (size_t i = 0; i < type.parts.size(); ++i) {
    PyObject* found = PyDict_GetItemWithError(own, PyTuple_GetItem(type.about.get(), static_cast<Py_ssize_t>(i)));
    if (!found) return PyErr_Occurred() ? Put::FAILED : Put::OF_ANOTHER_TYPE;
    const Ref item = Ref::borrow(found);
    const Put done = put(type.parts[i], item.get());
    if (done != Put::DONE) return done;
  }
  return Put::DONE;
}

}  // namespace retrograd::trees
