#include "trees/replaced_numbers.hpp"

#include "trees/arrays.hpp"
#include "trees/build.hpp"
#include "trees/in_place.hpp"

namespace retrograd::trees {
namespace {

class Replacer {
 public:
  explicit Replacer(std::span<const double> numbers) : left_(numbers) {}

  // Null if it cannot be done; an exception may be set.
  Ref of(PyObject* thing) {
    if (PyFloat_CheckExact(thing) || PyLong_CheckExact(thing)) return number();
    if (PyList_CheckExact(thing)) return list(thing);
    if (PyTuple_Check(thing)) return tuple(thing);
    if (PyDict_CheckExact(thing)) return dict(thing);
    if (thing == Py_None) return Ref::borrow(Py_None);
    if (reinterpret_cast<PyObject*>(Py_TYPE(thing)) == python_half.array_type) return array(thing);
    return Ref();
  }
  bool is_done() const { return left_.empty(); }

 private:
  std::span<const double> take(size_t count) {
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }

  Ref number() { return left_.empty() ? Ref() : Ref(PyFloat_FromDouble(take(1)[0])); }

  Ref list(PyObject* thing) {
    const auto count = static_cast<size_t>(PyList_Size(thing));
    if (are_floats(thing, count)) return count <= left_.size() ? Ref(list_of_floats(take(count).data(), count)) : Ref();
    Ref made(PyList_New(0));
    for (size_t i = 0; made && i < count; ++i) {
      const Ref item = of(PyList_GetItem(thing, static_cast<Py_ssize_t>(i)));
      if (!item || PyList_Append(made.get(), item.get()) < 0) return Ref();
    }
    return made;
  }

  static bool are_floats(PyObject* list, size_t count) {
    PyObject* const* items = items_of(list);
    for (size_t i = 0; items && i < count; ++i) {
      if (!PyFloat_CheckExact(items[i])) return false;
    }
    return items != nullptr;
  }

  Ref tuple(PyObject* thing) {
    const Py_ssize_t count = PyTuple_Size(thing);
    Ref made(PyTuple_New(count));
    for (Py_ssize_t i = 0; made && i < count; ++i) {
      Ref item = of(PyTuple_GetItem(thing, i));
      if (!item) return Ref();
      PyTuple_SetItem(made.get(), i, item.release());
    }
    if (!made || PyTuple_CheckExact(thing)) return made;
    return Ref(make_named_tuple(reinterpret_cast<PyObject*>(Py_TYPE(thing)), made.get()));
  }

  Ref dict(PyObject* thing) {
    Ref made(PyDict_New());
    PyObject *key, *item;
    for (Py_ssize_t at = 0; made && PyDict_Next(thing, &at, &key, &item);) {
      const Ref held = Ref::borrow(key), other = of(item);
      if (!other || PyDict_SetItem(made.get(), key, other.get()) < 0) return Ref();
    }
    return made;
  }

  Ref array(PyObject* thing) {
    const FloatArray floats(thing);
    if (!floats || floats.size() > left_.size()) return Ref();
    const Ref shape(PyObject_GetAttrString(thing, "shape"));
    return shape ? Ref(new_array(shape.get(), take(floats.size()).data(), floats.size())) : Ref();
  }

  std::span<const double> left_;
};

}  // namespace

Ref replaced_numbers(PyObject* tree, std::span<const double> numbers) {
  Replacer replacer(numbers);
  Ref made = replacer.of(tree);
  return replacer.is_done() || PyErr_Occurred() ? std::move(made) : Ref();
}

}  // namespace retrograd::trees
