#include "trees/typed_data.hpp"

#include <bit>
#include <cstdint>
#include <new>
#include <unordered_map>
#include <vector>

namespace retrograd::trees {
namespace {

// What a type begins with, a tuple: packing.py writes them under the same names.
enum Code : long {
  FLOAT,
  MIXED,
  INT,
  BOOL,
  VALUE,
  EITHER,
  TEXT,
  NUMBERED,
  NONE,
  STATIC,
  TUPLE,
  LIST,
  OPTIONAL,
  RECORD,
  INSTANCE,
  ARRAY
};

// Larger ints are left to the function itself.
constexpr long long kLargest = 1LL << 62;

enum class Put { DONE, OF_ANOTHER_TYPE, FAILED };

// Writes data of types. What a leaf is that stands for a variable, is an int of a class of its own: which one it is.
class Writer {
 public:
  // takes_results: whether a Value may be the result of an operation.
  Writer(std::vector<double> leaves, PyObject* leaf_type, bool takes_results)
      : leaves_(std::move(leaves)),
        leaf_type_(reinterpret_cast<PyTypeObject*>(leaf_type)),
        takes_results_(takes_results),
        values_(PyList_New(0)) {}

  Put put(PyObject* type, PyObject* thing) {
    switch (PyLong_AsLong(PyTuple_GetItem(type, 0))) {
      case FLOAT: return PyFloat_CheckExact(thing) ? number(PyFloat_AsDouble(thing)) : Put::OF_ANOTHER_TYPE;
      case MIXED: return mixed(thing);
      case INT: return PyLong_CheckExact(thing) ? whole(thing) : Put::OF_ANOTHER_TYPE;
      case BOOL: return PyBool_Check(thing) ? word(thing == Py_True) : Put::OF_ANOTHER_TYPE;
      case VALUE: return leaf(thing);
      case EITHER:
        if (is_value(thing) || Py_TYPE(thing) == leaf_type_) return leaf(thing);
        word(0);
        return mixed(thing);
      case TEXT: return PyUnicode_CheckExact(thing) ? text(PyTuple_GetItem(type, 1), thing) : Put::OF_ANOTHER_TYPE;
      case NUMBERED: return numbered(PyTuple_GetItem(type, 1), thing);
      case NONE: return thing == Py_None ? Put::DONE : Put::OF_ANOTHER_TYPE;
      case STATIC: return thing == PyTuple_GetItem(type, 1) ? Put::DONE : Put::OF_ANOTHER_TYPE;
      case OPTIONAL: word(thing != Py_None); return thing == Py_None ? Put::DONE : put(PyTuple_GetItem(type, 1), thing);
      case TUPLE: return tuple(type, thing);
      case LIST: return list(type, thing);
      case RECORD: return record(type, thing);
      case INSTANCE: return instance(type, thing);
      case ARRAY: return array(type, thing);
      default: PyErr_SetString(PyExc_ValueError, "there is no such type"); return Put::FAILED;
    }
  }

  // (bytes of the words, bytes of the leaves' numbers, the Values among the leaves that are no variables).
  PyObject* result() {
    const auto bytes = [](const auto& numbers) {
      return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(numbers.data()),
                                       static_cast<Py_ssize_t>(numbers.size() * sizeof(numbers[0])));
    };
    const Ref words(bytes(words_)), leaves(bytes(leaves_));
    return words && leaves ? PyTuple_Pack(3, words.get(), leaves.get(), values_.get()) : nullptr;
  }

  bool is_ready() const { return static_cast<bool>(values_); }

 private:
  Put word(uint64_t bits) {
    words_.push_back(bits);
    return Put::DONE;
  }
  Put number(double value) { return word(std::bit_cast<uint64_t>(value)); }

  Put whole(PyObject* thing) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(thing, &overflow);
    if (overflow || value <= -kLargest || value >= kLargest) return Put::OF_ANOTHER_TYPE;
    return word(static_cast<uint64_t>(value));
  }

  Put mixed(PyObject* thing) {
    if (PyFloat_CheckExact(thing)) return number(PyFloat_AsDouble(thing));
    if (!PyLong_CheckExact(thing)) return Put::OF_ANOTHER_TYPE;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(thing, &overflow);
    constexpr long long exact = 1LL << 53;
    if (overflow || value < -exact || value > exact) return Put::OF_ANOTHER_TYPE;
    return number(static_cast<double>(value));
  }

  Put leaf(PyObject* thing) {
    if (Py_TYPE(thing) == leaf_type_) return word(static_cast<uint64_t>(PyLong_AsLongLong(thing)));
    if (!is_value(thing)) return Put::OF_ANOTHER_TYPE;
    const Value* value = as_value(thing);
    if (value->code != LEAF ? !takes_results_ : (value->flags & (UNRECORDED | FRESH)) != 0) return Put::OF_ANOTHER_TYPE;
    const auto [place, is_new] = places_.try_emplace(value, leaves_.size() + 1);
    if (is_new) {
      leaves_.push_back(value->data);
      if (PyList_Append(values_.get(), thing) < 0) return Put::FAILED;
    }
    return word(place->second);
  }

  Put text(PyObject* numbers, PyObject* thing) {
    PyObject* known = PyDict_GetItemWithError(numbers, thing);
    if (known) return whole(known);
    if (PyErr_Occurred()) return Put::FAILED;
    const Ref next(PyLong_FromSsize_t(PyDict_Size(numbers)));
    if (!next || PyDict_SetItem(numbers, thing, next.get()) < 0) return Put::FAILED;
    return whole(next.get());
  }

  // What Python numbers: None for what it does not.
  Put numbered(PyObject* function, PyObject* thing) {
    const Ref found(PyObject_CallFunctionObjArgs(function, thing, nullptr));
    if (!found) return Put::FAILED;
    return found.get() == Py_None ? Put::OF_ANOTHER_TYPE : whole(found.get());
  }

  // (TUPLE, class, types).
  Put tuple(PyObject* type, PyObject* thing) {
    PyObject* types = PyTuple_GetItem(type, 2);
    const Py_ssize_t count = PyTuple_Size(types);
    if (reinterpret_cast<PyObject*>(Py_TYPE(thing)) != PyTuple_GetItem(type, 1) || PyTuple_Size(thing) != count)
      return Put::OF_ANOTHER_TYPE;
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Put put_item = put(PyTuple_GetItem(types, i), PyTuple_GetItem(thing, i));
      if (put_item != Put::DONE) return put_item;
    }
    return Put::DONE;
  }

  // (LIST, classes, type of the items). A dictionary is a list of pairs.
  Put list(PyObject* type, PyObject* thing) {
    const int is_one = PySequence_Contains(PyTuple_GetItem(type, 1), reinterpret_cast<PyObject*>(Py_TYPE(thing)));
    if (is_one < 1) return is_one < 0 ? Put::FAILED : Put::OF_ANOTHER_TYPE;
    PyObject* item = PyTuple_GetItem(type, 2);
    if (PyList_CheckExact(thing)) return items(item, thing, PyList_Size(thing), PyList_GetItem);
    if (PyTuple_CheckExact(thing)) return items(item, thing, PyTuple_Size(thing), PyTuple_GetItem);
    const Ref copy(PyDict_CheckExact(thing) ? PyDict_Items(thing) : PySequence_List(thing));
    if (!copy) return Put::FAILED;
    return items(item, copy.get(), PyList_Size(copy.get()), PyList_GetItem);
  }

  // (ARRAY, class, dtype, axes, type of its rows or numbers). It is written as nested lists.
  Put array(PyObject* type, PyObject* thing) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(thing)) != PyTuple_GetItem(type, 1)) return Put::OF_ANOTHER_TYPE;
    const Ref dtype(PyObject_GetAttrString(thing, "dtype")), axes(PyObject_GetAttrString(thing, "ndim"));
    if (!dtype || !axes) return Put::FAILED;
    const int same_dtype = PyObject_RichCompareBool(dtype.get(), PyTuple_GetItem(type, 2), Py_EQ);
    const int same_axes = PyObject_RichCompareBool(axes.get(), PyTuple_GetItem(type, 3), Py_EQ);
    if (same_dtype < 0 || same_axes < 0) return Put::FAILED;
    if (!same_dtype || !same_axes) return Put::OF_ANOTHER_TYPE;
    const Ref rows(PyObject_CallMethod(thing, "tolist", nullptr));
    return rows ? items(PyTuple_GetItem(type, 4), rows.get(), PyList_Size(rows.get()), PyList_GetItem) : Put::FAILED;
  }

  Put items(PyObject* type, PyObject* thing, Py_ssize_t count, PyObject* (*get)(PyObject*, Py_ssize_t)) {
    word(static_cast<uint64_t>(count));
    const long code = count ? PyLong_AsLong(PyTuple_GetItem(type, 0)) : -1;
    words_.reserve(words_.size() + static_cast<size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* item = get(thing, i);
      if (!item) return Put::FAILED;
      if (code == FLOAT && PyFloat_CheckExact(item)) {
        number(PyFloat_AsDouble(item));
        continue;
      }
      const Ref held = Ref::borrow(item);
      const Put put_item = put(type, item);
      if (put_item != Put::DONE) return put_item;
    }
    return Put::DONE;
  }

  // (RECORD, names, types): a dictionary with these keys, in this order.
  Put record(PyObject* type, PyObject* thing) {
    if (!PyDict_CheckExact(thing)) return Put::OF_ANOTHER_TYPE;
    PyObject *names = PyTuple_GetItem(type, 1), *types = PyTuple_GetItem(type, 2);
    const Ref keys(PyDict_Keys(thing));
    if (!keys) return Put::FAILED;
    const Ref order(PyList_AsTuple(keys.get()));
    const int same = order ? PyObject_RichCompareBool(order.get(), names, Py_EQ) : -1;
    if (same < 1) return same < 0 ? Put::FAILED : Put::OF_ANOTHER_TYPE;
    return attributes(names, types, thing);
  }

  // (INSTANCE, names, types, class, whether it keeps them in a dictionary).
  Put instance(PyObject* type, PyObject* thing) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(thing)) != PyTuple_GetItem(type, 3)) return Put::OF_ANOTHER_TYPE;
    PyObject *names = PyTuple_GetItem(type, 1), *types = PyTuple_GetItem(type, 2);
    if (PyTuple_GetItem(type, 4) == Py_False) {
      for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
        const Ref item(PyObject_GetAttr(thing, PyTuple_GetItem(names, i)));
        if (!item) {
          PyErr_Clear();  // a slot that has not been filled
          return Put::OF_ANOTHER_TYPE;
        }
        const Put put_item = put(PyTuple_GetItem(types, i), item.get());
        if (put_item != Put::DONE) return put_item;
      }
      return Put::DONE;
    }
    const Ref own(PyObject_GetAttrString(thing, "__dict__"));
    if (!own) return Put::FAILED;
    if (PyDict_Size(own.get()) != PyTuple_Size(names)) return Put::OF_ANOTHER_TYPE;
    return attributes(names, types, own.get());
  }

  Put attributes(PyObject* names, PyObject* types, PyObject* own) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
      PyObject* found = PyDict_GetItemWithError(own, PyTuple_GetItem(names, i));
      if (!found) return PyErr_Occurred() ? Put::FAILED : Put::OF_ANOTHER_TYPE;
      const Ref item = Ref::borrow(found);
      const Put put_item = put(PyTuple_GetItem(types, i), item.get());
      if (put_item != Put::DONE) return put_item;
    }
    return Put::DONE;
  }

  std::vector<uint64_t> words_;
  std::vector<double> leaves_;
  std::unordered_map<const Value*, size_t> places_;  // of their numbers among the leaves, counted from 1
  PyTypeObject* leaf_type_;
  bool takes_results_;
  Ref values_;
};

// typed_data(types, things, numbers, leaf_type, takes_results): the bytes of things of these types, with the numbers of
// the variables, as Writer::result gives them; None where one of them is of another type.
PyObject* typed_data(PyObject*, PyObject* const* args, Py_ssize_t count) try {
  if (count != 5 || !PyTuple_Check(args[0]) || !PyList_Check(args[1]) || !PyList_Check(args[2])) {
    PyErr_SetString(
        PyExc_TypeError,
        "typed_data takes types, things, numbers, the class of leaves, and whether results of operations may be there");
    return nullptr;
  }
  std::vector<double> leaves(static_cast<size_t>(PyList_Size(args[2])));
  for (size_t i = 0; i < leaves.size(); ++i) {
    leaves[i] = PyFloat_AsDouble(PyList_GetItem(args[2], static_cast<Py_ssize_t>(i)));
    if (leaves[i] == -1.0 && PyErr_Occurred()) return nullptr;
  }
  Writer writer(std::move(leaves), args[3], args[4] == Py_True);
  if (!writer.is_ready()) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_Size(args[0]); ++i) {
    const Put put = writer.put(PyTuple_GetItem(args[0], i), PyList_GetItem(args[1], i));
    if (put == Put::FAILED) return nullptr;
    if (put == Put::OF_ANOTHER_TYPE) Py_RETURN_NONE;
  }
  return writer.result();
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

}  // namespace

PyMethodDef typed_data_functions[] = {
    {"typed_data", fast(typed_data), METH_FASTCALL, "The data of a call as bytes, for code made for its types."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd::trees
