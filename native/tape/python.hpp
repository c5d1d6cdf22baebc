// Python's C API (the stable ABI of 3.11), and Ref, which owns every reference in this code.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <type_traits>
#include <utility>

#ifdef Py_GIL_DISABLED
#error "retrograd keeps one tape a thread and needs the GIL: build it for an ordinary CPython, not a free-threaded one."
#endif

#if defined(__GNUC__)
#define RETROGRAD_NOINLINE __attribute__((noinline))
#define RETROGRAD_PREFETCH(address) __builtin_prefetch(address)
#else
#define RETROGRAD_NOINLINE
#define RETROGRAD_PREFETCH(address)
#endif

namespace retrograd {

// Owns one reference to a Python object, or nothing.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    // The old object may run Python code when it is freed, so it goes last.
    PyObject* old = std::exchange(object_, std::exchange(other.object_, nullptr));
    Py_XDECREF(old);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  static Ref borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Calls visit(object) for everything that an object refers to. `traverse` is the function of its type.
template <class Visit>
void each_referent(traverseproc traverse, PyObject* owner, Visit&& visit) {
  const auto call = [](PyObject* object, void* visitor) {
    (*static_cast<std::remove_reference_t<Visit>*>(visitor))(object);
    return 0;
  };
  traverse(owner, call, &visit);
}

// Casts a METH_FASTCALL function to what method tables take.
inline PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
// The same of one that takes keyword arguments.
inline PyCFunction fast_with_keywords(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace retrograd
