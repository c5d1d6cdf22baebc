#include "compiler/run/signature.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "trees/arrays.hpp"
#include "trees/build.hpp"
#include "trees/in_place.hpp"

namespace retrograd::compiler {

PyObject* index_type = nullptr;

namespace {
PyObject* type_of(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)); }

// Whether an object that is the same in each call has nothing in it.
bool is_plain(PyObject* object) { return object == Py_None || PyBool_Check(object) || PyType_Check(object); }
}  // namespace

std::unique_ptr<Signature> Signature::parse(PyObject* description) {
  const char* kind;
  PyObject *second = nullptr, *third = nullptr, *fourth = nullptr, *fifth = nullptr, *sixth = nullptr;
  if (!PyArg_ParseTuple(description, "sO|OOOO", &kind, &second, &third, &fourth, &fifth, &sixth)) return nullptr;
  static constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"passive", PASSIVE},   {"active", ACTIVE}, {"index", INDEX},       {"value", VALUE},
      {"same", SAME},         {"is", IS},         {"equal", EQUAL},       {"dict", DICT},
      {"fields", FIELDS},     {"node", NODE},     {"sequence", SEQUENCE}, {"array", ARRAY},
      {"variable", VARIABLE}, {"floats", FLOATS}, {"apart", APART},       {"again", AGAIN},
      {"int", INT},
  };
  auto signature = std::make_unique<Signature>();
  for (auto& [name, number] : kinds) {
    if (name == kind) signature->kind_ = number;
  }
  signature->object_ = Ref::borrow(second);
  switch (signature->kind_) {
    case PASSIVE:
    case ACTIVE:
    case INDEX:
    case INT:
    case VALUE:
    case VARIABLE:
    case SAME:
    case AGAIN:
      signature->number_ = PyLong_AsSize_t(second);
      signature->object_ = Ref::borrow(third);
      if (third && PyLong_Check(third)) signature->twin_ = PyLong_AsSize_t(third);
      signature->has_no_values_ = signature->kind_ != VALUE && signature->kind_ != VARIABLE && signature->kind_ != SAME;
      break;
    case IS:
      signature->number_ = third ? PyLong_AsSize_t(third) : kNotDifferentiated;
      signature->has_no_values_ = is_plain(second);
      break;
    case ARRAY:
      signature->shape_ = Ref::borrow(third);
      signature->number_ = PyLong_AsSize_t(fourth);
      signature->active_ = PyObject_IsTrue(fifth) == 1;
      for (Py_ssize_t i = 0; i < PyTuple_Size(third); ++i) {
        signature->extents_.push_back(PyLong_AsSsize_t(PyTuple_GetItem(third, i)));
        signature->count_ *= static_cast<size_t>(signature->extents_.back());
      }
      break;
    case FLOATS:
      signature->number_ = PyLong_AsSize_t(third);
      signature->count_ = PyLong_AsSize_t(fourth);
      signature->active_ = PyObject_IsTrue(fifth) == 1;
      signature->rest_ = Ref::borrow(sixth);
      break;
    case SEQUENCE:
    case DICT:
    case FIELDS:
    case NODE:
      signature->build_ = Ref::borrow(fourth);
      (signature->kind_ == NODE ? signature->flatten_ : signature->factory_) = Ref::borrow(fifth);
      signature->rest_ = Ref::borrow(sixth);
      if (!signature->parse_items(third)) return nullptr;
      break;
    case APART: {
      auto child = parse(third);
      if (!child) return nullptr;
      signature->runs_python_ = child->runs_python_;
      signature->has_no_values_ = child->has_no_values_;
      signature->items_.push_back(std::move(child));
      break;
    }
    default: break;
  }
  if (PyErr_Occurred()) return nullptr;
  return signature;
}

bool Signature::parse_items(PyObject* descriptions) {
  runs_python_ = kind_ == NODE;
  const bool named = kind_ == DICT || kind_ == FIELDS;
  for (Py_ssize_t i = 0; i < PyList_Size(descriptions); ++i) {
    PyObject* item = PyList_GetItem(descriptions, i);
    if (named) {
      keys_.push_back(Ref::borrow(PyTuple_GetItem(item, 0)));
      item = PyTuple_GetItem(item, 1);
    }
    auto child = item ? parse(item) : nullptr;
    if (!child) return false;
    runs_python_ |= child->runs_python_;
    has_no_values_ &= child->has_no_values_;
    items_.push_back(std::move(child));
  }
  return true;
}

namespace {
template <class T>
void put(std::vector<T>& numbers, size_t i, T number) {
  if (i >= numbers.size()) numbers.resize(i + 1);
  numbers[i] = number;
}
}  // namespace

int Signature::read(PyObject* argument, Arguments& into) const {
  switch (kind_) {
    case PASSIVE:
    case ACTIVE: return read_number(argument, into);
    case INDEX: return type_of(argument) == index_type ? read_index(argument, into) : 0;
    case INT: return PyLong_CheckExact(argument) ? read_index(argument, into) : 0;
    case VALUE: {
      if (Py_TYPE(argument) != value_type || as_value(argument)->code != LEAF) return 0;
      Value* value = as_value(argument);
      // The function may also use this parameter directly: then it must be traced as a parameter.
      if (value->flags & IN_BUFFER) return 0;
      if (!flush_parameters()) return -1;
      put(into.active, number_, value->data);
      put(into.values, number_, value);
      return 1;
    }
    case VARIABLE: {
      if (!is_value(argument)) return 0;
      if (!flush_all()) return -1;
      put(into.active, number_, as_value(argument)->data);
      return 1;
    }
    case SAME: return number_ < into.values.size() && as_object(into.values[number_]) == argument;
    case AGAIN: return number_ < into.apart.size() && into.apart[number_] == argument;
    case APART: return read_apart(argument, into);
    case IS: return argument == object_.get();
    case EQUAL: return equals(argument);
    case SEQUENCE: return type_of(argument) == object_.get() ? read_sequence(argument, into) : 0;
    case FLOATS: return type_of(argument) == object_.get() ? read_floats(argument, into) : 0;
    case DICT: return type_of(argument) == object_.get() ? read_dict(argument, into) : 0;
    case FIELDS: return type_of(argument) == object_.get() ? read_fields(argument, into) : 0;
    case NODE: return type_of(argument) == object_.get() ? read_node(argument, into) : 0;
    case ARRAY: return type_of(argument) == object_.get() ? read_array(argument, into) : 0;
  }
  return 0;
}

int Signature::read_number(PyObject* argument, Arguments& into) const {
  // Any float or int is accepted where a gradient is wanted; code may tell NumPy's floats from others elsewhere.
  const bool any = kind_ == ACTIVE && (PyFloat_CheckExact(argument) || PyLong_CheckExact(argument));
  if (!any && type_of(argument) != object_.get()) return 0;
  const double number = PyFloat_CheckExact(argument) ? trees::number_of(argument) : PyFloat_AsDouble(argument);
  if (number == -1.0 && PyErr_Occurred()) return -1;
  put(kind_ == ACTIVE ? into.active : into.passive, number_, number);
  return 1;
}

int Signature::read_index(PyObject* argument, Arguments& into) const {
  int overflow;
  const long index = PyLong_AsLongAndOverflow(argument, &overflow);
  if (index == -1 && PyErr_Occurred()) return -1;
  // Too large for any sequence: let the function itself raise.
  if (overflow || index < INT32_MIN || index > INT32_MAX) return 0;
  put(into.indices, number_, static_cast<int32_t>(index));
  if (twin_) put(into.passive, *twin_, static_cast<double>(index));
  return 1;
}

// Whether an argument is the number or text of the traced call. Zeros of other signs are other numbers.
bool Signature::equals(PyObject* argument) const {
  PyObject* traced = object_.get();
  if (argument == traced) return true;
  if (Py_TYPE(argument) != Py_TYPE(traced)) return false;
  if (PyFloat_Check(traced)) return same_bits(PyFloat_AsDouble(argument), PyFloat_AsDouble(traced));
  if (PyComplex_Check(traced)) {
    return same_bits(PyComplex_RealAsDouble(argument), PyComplex_RealAsDouble(traced)) &&
           same_bits(PyComplex_ImagAsDouble(argument), PyComplex_ImagAsDouble(traced));
  }
  return PyObject_RichCompareBool(argument, traced, Py_EQ) == 1;
}

int Signature::read_sequence(PyObject* argument, Arguments& into) const {
  const bool list = PyList_Check(argument);
  const Py_ssize_t count = list ? PyList_Size(argument) : PyTuple_Size(argument);
  if (count != static_cast<Py_ssize_t>(items_.size()) || !has_as_many(argument)) return 0;
  if (PyObject** items = list && !runs_python_ ? trees::items_of(argument) : nullptr) return read_items(items, into);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (list && i >= PyList_Size(argument)) return 0;  // the user's code made it shorter
    PyObject* item = list ? PyList_GetItem(argument, i) : PyTuple_GetItem(argument, i);
    const int read_one = items_[static_cast<size_t>(i)]->read(item, into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

// Nothing changes the list meanwhile: what is read runs no code of the user's.
int Signature::read_items(PyObject* const* items, Arguments& into) const {
  for (size_t i = 0; i < items_.size(); ++i) {
    const int read_one = items_[i]->read(items[i], into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

int Signature::read_floats(PyObject* argument, Arguments& into) const {
  const bool list = PyList_Check(argument);
  if ((list ? PyList_Size(argument) : PyTuple_Size(argument)) != static_cast<Py_ssize_t>(count_)) return 0;
  std::vector<double>& target = active_ ? into.active : into.passive;
  if (target.size() < number_ + count_) target.resize(number_ + count_);
  double* to = target.data() + number_;
  PyObject* const* items = list ? trees::items_of(argument) : nullptr;
  for (size_t i = 0; i < count_; ++i) {
    const auto at = static_cast<Py_ssize_t>(i);
    PyObject* item = items ? items[i] : list ? PyList_GetItem(argument, at) : PyTuple_GetItem(argument, at);
    if (PyFloat_CheckExact(item)) {
      to[i] = trees::number_of(item);
      continue;
    }
    // Any float or int is accepted where a gradient is wanted, as above.
    if (!active_ || !(PyLong_CheckExact(item) || type_of(item) == rest_.get())) return 0;
    to[i] = PyFloat_AsDouble(item);
    if (to[i] == -1.0 && PyErr_Occurred()) return -1;
  }
  return 1;
}

// Compares strings only: comparing other keys could run user code.
bool Signature::is_key(PyObject* key, size_t i) const {
  if (key == keys_[i].get()) return true;
  return PyUnicode_CheckExact(key) && PyUnicode_CheckExact(keys_[i].get()) &&
         PyUnicode_Compare(key, keys_[i].get()) == 0;
}

int Signature::read_dict(PyObject* argument, Arguments& into) const {
  if (PyDict_Size(argument) != static_cast<Py_ssize_t>(items_.size())) return 0;
  // The user's code may change a dictionary, and an OrderedDict has an order of its own.
  if (runs_python_ || build_) return read_other_dict(argument, into);
  PyObject *key, *item;
  Py_ssize_t at = 0;
  for (size_t i = 0; PyDict_Next(argument, &at, &key, &item); ++i) {
    const int read_one = is_key(key, i) ? items_[i]->read(item, into) : 0;
    if (read_one != 1) return read_one;
  }
  return 1;
}

int Signature::read_other_dict(PyObject* argument, Arguments& into) const {
  if (factory_ && factory_.get() != Py_None) {
    const Ref factory(PyObject_GetAttrString(argument, "default_factory"));
    if (!factory) return -1;
    if (factory.get() != factory_.get()) return 0;
  }
  const Ref pairs(PyMapping_Items(argument));
  if (!pairs) return -1;
  for (size_t i = 0; i < items_.size(); ++i) {
    PyObject* pair = PyList_GetItem(pairs.get(), static_cast<Py_ssize_t>(i));
    const int read_one = is_key(PyTuple_GetItem(pair, 0), i) ? items_[i]->read(PyTuple_GetItem(pair, 1), into) : 0;
    if (read_one != 1) return read_one;
  }
  return 1;
}

// Reads a dataclass whose attributes are its fields and no descriptors of the user's.
// Whether a record has as many attributes in its dictionary as the traced call's, if that matters.
bool Signature::has_as_many(PyObject* record) const {
  if (!factory_ || !PyLong_Check(factory_.get())) return true;
  const Ref attributes(PyObject_GenericGetDict(record, nullptr));
  if (!attributes) return PyErr_Clear(), false;
  return PyDict_Size(attributes.get()) == PyLong_AsSsize_t(factory_.get());
}

int Signature::read_fields(PyObject* argument, Arguments& into) const {
  if (!has_as_many(argument)) return 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    const Ref item(PyObject_GenericGetAttr(argument, keys_[i].get()));
    if (!item) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
      PyErr_Clear();  // the field was deleted
      return 0;
    }
    const int read_one = items_[i]->read(item.get(), into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

// Reads an instance of a registered class: the user's function takes it apart.
int Signature::read_node(PyObject* argument, Arguments& into) const {
  const Ref pair(PyObject_CallFunctionObjArgs(flatten_.get(), argument, nullptr));
  PyObject *children, *rest;
  if (!pair || !PyArg_ParseTuple(pair.get(), "OO:flatten_func", &children, &rest)) return -1;
  const Ref items(PySequence_List(children));
  if (!items) return -1;
  const int same = PyObject_RichCompareBool(rest, rest_.get(), Py_EQ);
  if (same < 0 && !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
  PyErr_Clear();  // what cannot be compared is something else
  if (same != 1 || PyList_Size(items.get()) != static_cast<Py_ssize_t>(items_.size())) return 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    const int read_one = items_[i]->read(PyList_GetItem(items.get(), static_cast<Py_ssize_t>(i)), into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

// The function may ask which object a container is: it is a new one, and none that is captured.
int Signature::read_apart(PyObject* argument, Arguments& into) const {
  if (std::find(into.apart.begin(), into.apart.end(), argument) != into.apart.end()) return 0;
  const Ref id(PyLong_FromVoidPtr(argument));
  const int captured = id ? PySet_Contains(object_.get(), id.get()) : -1;
  if (captured != 0) return captured < 0 ? -1 : 0;
  into.apart.push_back(argument);
  return items_.front()->read(argument, into);
}

// Reads a float64 array of the traced shape, in any memory order.
int Signature::read_array(PyObject* argument, Arguments& into) const {
  const trees::FloatArray array(argument);
  if (!array || array.axes() != static_cast<int>(extents_.size())) return 0;
  for (int i = 0; i < array.axes(); ++i) {
    if (array.extent(i) != extents_[static_cast<size_t>(i)]) return 0;
  }
  auto& target = active_ ? into.active : into.passive;
  if (target.size() < number_ + count_) target.resize(number_ + count_);
  array.copy(target.data() + number_);
  return 1;
}

// --- gradients ----------------------------------------------------------------------------------------------------

Ref Signature::collect(const double*& next) const {
  switch (kind_) {
    case ACTIVE:
    case VARIABLE: return Ref(PyFloat_FromDouble(*next++));
    case ARRAY: {
      const double* numbers = std::exchange(next, next + count_);
      return Ref(trees::new_array(shape_.get(), numbers, count_));
    }
    case FLOATS: {
      Ref list(trees::list_of_floats(std::exchange(next, next + count_), count_));
      if (!list || object_.get() == reinterpret_cast<PyObject*>(&PyList_Type)) return list;
      return Ref(PyList_AsTuple(list.get()));
    }
    case SEQUENCE: {
      const Ref items = collect_items(next);
      if (!items || object_.get() == reinterpret_cast<PyObject*>(&PyList_Type)) return Ref::borrow(items.get());
      Ref tuple(PyList_AsTuple(items.get()));
      if (!tuple || object_.get() == reinterpret_cast<PyObject*>(&PyTuple_Type)) return tuple;
      return Ref(trees::make_named_tuple(object_.get(), tuple.get()));
    }
    case DICT: return collect_dict(next);
    case FIELDS:
    case NODE: {
      const Ref items = collect_items(next);
      return Ref(items ? PyObject_CallFunctionObjArgs(build_.get(), items.get(), nullptr) : nullptr);
    }
    case IS:
      if (number_ != kNotDifferentiated)
        return Ref(trees::list_of_floats(std::exchange(next, next + number_), number_));
      return Ref::borrow(object_.get());
    case APART: return items_.front()->collect(next);
    default: return Ref::borrow(object_ ? object_.get() : Py_None);
  }
}

Ref Signature::collect_items(const double*& next) const {
  Ref list(PyList_New(static_cast<Py_ssize_t>(items_.size())));
  for (size_t i = 0; list && i < items_.size(); ++i) {
    Ref one = items_[i]->collect(next);
    if (!one) return Ref();
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), one.release());
  }
  return list;
}

Ref Signature::collect_dict(const double*& next) const {
  const Ref items = collect_items(next);
  if (!items) return Ref();
  if (build_) return Ref(PyObject_CallFunctionObjArgs(build_.get(), items.get(), nullptr));
  Ref dict(PyDict_New());
  for (size_t i = 0; dict && i < items_.size(); ++i) {
    PyObject* item = PyList_GetItem(items.get(), static_cast<Py_ssize_t>(i));
    if (PyDict_SetItem(dict.get(), keys_[i].get(), item) < 0) return Ref();
  }
  return dict;
}

int Signature::traverse(visitproc visit, void* arg) const {
  for (const Ref* one : {&object_, &build_, &factory_, &flatten_, &rest_}) Py_VISIT(one->get());
  for (const Ref& key : keys_) Py_VISIT(key.get());
  for (const auto& item : items_) {
    if (const int stopped = item->traverse(visit, arg)) return stopped;
  }
  return 0;
}

int Signature::read_all(PyObject* const* arguments, Py_ssize_t count, Arguments& into) const {
  if (count != static_cast<Py_ssize_t>(items_.size())) return 0;
  into.apart.clear();
  for (Py_ssize_t i = 0; i < count; ++i) {
    const int read_one = items_[static_cast<size_t>(i)]->read(arguments[i], into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

}  // namespace retrograd::compiler
