#include "compiler/run/signature.hpp"

#include <cstring>
#include <string_view>

namespace retrograd::compiler {

PyObject* index_type = nullptr;

std::unique_ptr<Signature> Signature::parse(PyObject* description) {
  const char* kind;
  PyObject *second = nullptr, *third = nullptr, *fourth = nullptr, *fifth = nullptr;
  if (!PyArg_ParseTuple(description, "sO|OOO", &kind, &second, &third, &fourth, &fifth)) return nullptr;
  static constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"passive", PASSIVE},   {"active", ACTIVE}, {"index", INDEX},       {"value", VALUE},
      {"same", SAME},         {"is", IS},         {"equal", EQUAL},       {"dict", DICT},
      {"sequence", SEQUENCE}, {"array", ARRAY},   {"variable", VARIABLE},
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
    case VALUE:
    case VARIABLE:
    case SAME:
      signature->number_ = PyLong_AsSize_t(second);
      signature->object_ = Ref::borrow(third);
      break;
    case ARRAY:
      signature->shape_ = Ref::borrow(third);
      signature->number_ = PyLong_AsSize_t(fourth);
      signature->active_ = PyObject_IsTrue(fifth) == 1;
      break;
    case SEQUENCE:
    case DICT:
      for (Py_ssize_t i = 0; i < PyList_Size(third); ++i) {
        PyObject* item = PyList_GetItem(third, i);
        if (signature->kind_ == DICT) {
          signature->keys_.push_back(Ref::borrow(PyTuple_GetItem(item, 0)));
          item = PyTuple_GetItem(item, 1);
        }
        auto child = item ? parse(item) : nullptr;
        if (!child) return nullptr;
        signature->items_.push_back(std::move(child));
      }
      break;
    default: break;
  }
  if (PyErr_Occurred()) return nullptr;
  return signature;
}

namespace {
template <class T>
void put(std::vector<T>& numbers, size_t i, T number) {
  if (i >= numbers.size()) numbers.resize(i + 1);
  numbers[i] = number;
}
PyObject* type_of(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)); }
}  // namespace

int Signature::read(PyObject* argument, Arguments& into) const {
  switch (kind_) {
    case PASSIVE:
    case ACTIVE: {
      // An int is accepted where a gradient is wanted.
      const bool whole = kind_ == ACTIVE && type_of(argument) == reinterpret_cast<PyObject*>(&PyLong_Type);
      if (!PyFloat_CheckExact(argument) && !whole && (!PyFloat_Check(argument) || type_of(argument) != object_.get())) {
        return 0;
      }
      const double number = PyFloat_AsDouble(argument);
      if (number == -1.0 && PyErr_Occurred()) return -1;
      put(kind_ == ACTIVE ? into.active : into.passive, number_, number);
      if (kind_ == ACTIVE) put(into.values, number_, static_cast<Value*>(nullptr));
      return 1;
    }
    case INDEX: {
      if (type_of(argument) != index_type) return 0;
      int overflow;
      const long index = PyLong_AsLongAndOverflow(argument, &overflow);
      if (index == -1 && PyErr_Occurred()) return -1;
      // Too large for any sequence: let the function itself raise.
      if (overflow || index < INT32_MIN || index > INT32_MAX) return 0;
      put(into.indices, number_, static_cast<int32_t>(index));
      return 1;
    }
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
      put(into.values, number_, static_cast<Value*>(nullptr));
      return 1;
    }
    case SAME: return number_ < into.values.size() && as_object(into.values[number_]) == argument;
    case IS: return argument == object_.get();
    case EQUAL: {
      if (Py_TYPE(argument) != Py_TYPE(object_.get())) return 0;
      return PyObject_RichCompareBool(argument, object_.get(), Py_EQ);
    }
    case SEQUENCE: {
      if (type_of(argument) != object_.get()) return 0;
      const bool list = PyList_Check(argument);
      const Py_ssize_t count = list ? PyList_Size(argument) : PyTuple_Size(argument);
      if (count != static_cast<Py_ssize_t>(items_.size())) return 0;
      for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* item = list ? PyList_GetItem(argument, i) : PyTuple_GetItem(argument, i);
        const int read_one = items_[static_cast<size_t>(i)]->read(item, into);
        if (read_one != 1) return read_one;
      }
      return 1;
    }
    case DICT: {
      if (type_of(argument) != object_.get() || PyDict_Size(argument) != static_cast<Py_ssize_t>(items_.size()))
        return 0;
      PyObject *key, *item;
      Py_ssize_t at = 0;
      for (size_t i = 0; PyDict_Next(argument, &at, &key, &item); ++i) {
        // Compare strings only: comparing other keys could run user code.
        const bool text = PyUnicode_CheckExact(key) && PyUnicode_CheckExact(keys_[i].get());
        const int same = key == keys_[i].get() || (text && PyUnicode_Compare(key, keys_[i].get()) == 0);
        const int read_one = same == 1 ? items_[i]->read(item, into) : same;
        if (read_one != 1) return read_one;
      }
      return 1;
    }
    case ARRAY: return read_array(argument, into);
  }
  return 0;
}

namespace {
// Copies the elements of one axis of an array and of those within it, in order.
void copy_axis(const Py_buffer& view, int axis, const char* at, double*& to) {
  if (axis == view.ndim) {
    std::memcpy(to++, at, sizeof(double));
    return;
  }
  for (Py_ssize_t i = 0; i < view.shape[axis]; ++i) copy_axis(view, axis + 1, at + i * view.strides[axis], to);
}
}  // namespace

// Reads a float64 array of the traced shape, in any memory order.
int Signature::read_array(PyObject* argument, Arguments& into) const {
  if (type_of(argument) != object_.get()) return 0;
  Py_buffer view;
  if (PyObject_GetBuffer(argument, &view, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
    PyErr_Clear();
    return 0;
  }
  bool same = view.format && std::strcmp(view.format, "d") == 0 && view.ndim == PyTuple_Size(shape_.get());
  for (int i = 0; same && i < view.ndim; ++i) {
    same = view.shape[i] == PyLong_AsSsize_t(PyTuple_GetItem(shape_.get(), i));
  }
  if (same) {
    const size_t count = static_cast<size_t>(view.len) / sizeof(double);
    auto& target = active_ ? into.active : into.passive;
    if (target.size() < number_ + count) target.resize(number_ + count);
    if (active_) into.values.resize(target.size());
    double* to = target.data() + number_;
    copy_axis(view, 0, static_cast<const char*>(view.buf), to);
  }
  PyBuffer_Release(&view);
  return same;
}

int Signature::traverse(visitproc visit, void* arg) const {
  Py_VISIT(object_.get());
  for (const Ref& key : keys_) Py_VISIT(key.get());
  for (const auto& item : items_) {
    if (const int stopped = item->traverse(visit, arg)) return stopped;
  }
  return 0;
}

int Signature::read_all(PyObject* const* arguments, Py_ssize_t count, Arguments& into) const {
  if (count != static_cast<Py_ssize_t>(items_.size())) return 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const int read_one = items_[static_cast<size_t>(i)]->read(arguments[i], into);
    if (read_one != 1) return read_one;
  }
  return 1;
}

}  // namespace retrograd::compiler
