#include "trees/contents.hpp"

#include <new>
#include <vector>

#include "tape/value.hpp"

namespace retrograd::trees {
namespace {

// A tree as words, in preorder: the address of each object, and of containers their kind, which is no address, and how
// many items follow.
class Contents {
 public:
  Contents(PyObject* is_container, PyObject* of_other)
      : is_container_(is_container), of_other_(of_other), kept_(PyList_New(0)), others_(PyList_New(0)) {}

  // False with an exception set.
  bool look(PyObject* thing, long deep) {
    if (!kept_ || !others_) return false;
    if (is_plain(Py_TYPE(thing))) return add(thing);
    if (deep > 0 && PyList_CheckExact(thing)) return list(thing, deep);
    if (deep > 0 && PyTuple_CheckExact(thing)) return tuple(thing, deep);
    if (deep > 0 && PyDict_CheckExact(thing)) return dict(thing, deep);
    const int container = is_container(Py_TYPE(thing));
    if (container < 0) return false;
    return container ? other(thing, deep) : add(thing);
  }

  PyObject* result() {
    const Ref words(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(words_.data()),
                                              static_cast<Py_ssize_t>(words_.size() * sizeof(uintptr_t))));
    return words ? PyTuple_Pack(3, words.get(), kept_.get(), others_.get()) : nullptr;
  }

 private:
  enum Kind : uintptr_t { LIST = 1, TUPLE, DICT, OTHER };

  static bool is_plain(PyTypeObject* type) {
    return type == &PyFloat_Type || type == value_type || type == &PyLong_Type || type == &PyUnicode_Type ||
           type == &PyBool_Type || type == Py_TYPE(Py_None);
  }

  bool add(PyObject* thing) {
    words_.push_back(reinterpret_cast<uintptr_t>(thing));
    return true;
  }

  // What is kept keeps its items, so that no other object gets the address of one that the container has let go.
  bool keep(Kind kind, PyObject* container, Py_ssize_t count) {
    words_.push_back(kind);
    words_.push_back(static_cast<uintptr_t>(count));
    return PyList_Append(kept_.get(), container) == 0;
  }

  bool list(PyObject* thing, long deep) {
    const Ref items(PyList_GetSlice(thing, 0, PyList_Size(thing)));  // what is asked below may change it
    if (!items || !keep(LIST, items.get(), PyList_Size(items.get()))) return false;
    for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
      if (!look(PyList_GetItem(items.get(), i), deep - 1)) return false;
    }
    return true;
  }

  bool tuple(PyObject* thing, long deep) {
    if (!keep(TUPLE, thing, PyTuple_Size(thing))) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(thing); ++i) {
      if (!look(PyTuple_GetItem(thing, i), deep - 1)) return false;
    }
    return true;
  }

  bool dict(PyObject* thing, long deep) {
    const Ref keys(PyDict_Keys(thing)), items(PyDict_Values(thing));
    if (!keys || !items || !keep(DICT, keys.get(), PyList_Size(keys.get()))) return false;
    if (PyList_Append(kept_.get(), items.get()) < 0) return false;
    for (Py_ssize_t i = 0; i < PyList_Size(keys.get()); ++i) {
      add(PyList_GetItem(keys.get(), i));
      if (!look(PyList_GetItem(items.get(), i), deep - 1)) return false;
    }
    return true;
  }

  bool other(PyObject* thing, long deep) {
    words_.push_back(OTHER);
    const Ref found(PyObject_CallFunction(of_other_, "Ol", thing, deep));
    return found && PyList_Append(others_.get(), found.get()) == 0;
  }

  int is_container(PyTypeObject* type) {
    for (const auto& [known, container] : types_) {
      if (known == type) return container;
    }
    const Ref answer(PyObject_CallFunctionObjArgs(is_container_, reinterpret_cast<PyObject*>(type), nullptr));
    if (!answer) return -1;
    types_.emplace_back(type, answer.get() == Py_True);
    return types_.back().second;
  }

  PyObject *is_container_, *of_other_;
  Ref kept_, others_;
  std::vector<uintptr_t> words_;
  std::vector<std::pair<PyTypeObject*, bool>> types_;
};

}  // namespace

PyObject* contents(PyObject*, PyObject* const* arguments, Py_ssize_t count) try {
  if (count != 4) return PyErr_Format(PyExc_TypeError, "contents() takes four arguments");
  const long deep = PyLong_AsLong(arguments[1]);
  if (deep == -1 && PyErr_Occurred()) return nullptr;
  Contents found(arguments[2], arguments[3]);
  return found.look(arguments[0], deep) ? found.result() : nullptr;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

}  // namespace retrograd::trees
