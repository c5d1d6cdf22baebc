#include "bindings/call_listener.hpp"

#include <new>
#include <optional>
#include <set>
#include <utility>

#include "tape/value.hpp"

namespace retrograd {
namespace {

constexpr int kCCall = 4;  // PyTrace_C_CALL, which is outside the limited API but the same in every version

// A kind of call: a C function, and its module, or the type of what it is a method of, or null.
using Kind = std::pair<PyCFunction, PyObject*>;

// Kinds that are known to be harmless; their modules and types are never freed.
std::set<Kind>& harmless() {
  static std::set<Kind> kinds;
  return kinds;
}

// Nothing for a function of an object whose type may be freed.
std::optional<Kind> kind_of(PyObject* called) {
  if (!PyCFunction_Check(called)) return std::nullopt;
  PyObject* owner = PyCFunction_GetSelf(called);
  const Kind kind{PyCFunction_GetFunction(called), owner};
  if (!owner || PyModule_CheckExact(owner)) return kind;
  PyTypeObject* type = PyType_Check(owner) ? reinterpret_cast<PyTypeObject*>(owner) : Py_TYPE(owner);
  if (type != value_type && PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) return std::nullopt;
  return Kind{kind.first, reinterpret_cast<PyObject*>(type)};
}

void remember(const Kind& kind) {
  try {
    if (harmless().insert(kind).second) Py_XINCREF(kind.second);
  } catch (const std::bad_alloc&) {
    return;  // the listener is asked again
  }
}

// Removes this thread's profile function, as Python does where one has raised an exception.
void stop() {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyObject* setprofile = PySys_GetObject("setprofile");  // borrowed
  if (setprofile) Ref(PyObject_CallFunctionObjArgs(setprofile, Py_None, nullptr));
  PyErr_Restore(type, error, traceback);
}

// A profile function: asks the listener about calls of C functions, as listener(frame, "c_call", called), until it has
// answered True for their kind.
int hear(PyObject* listener, PyFrameObject* frame, int event, PyObject* called) {
  if (event != kCCall) return 0;
  const std::optional<Kind> kind = kind_of(called);
  if (kind && harmless().count(*kind)) return 0;
  Ref answer(PyObject_CallFunction(listener, "OsO", frame, "c_call", called));
  if (!answer) {
    stop();
    return -1;
  }
  if (kind && answer.get() == Py_True) remember(*kind);
  return 0;
}

// hear_calls(setter, listener): `setter` is the address of PyEval_SetProfile, which is outside the limited API.
PyObject* hear_calls(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2) return PyErr_Format(PyExc_TypeError, "hear_calls() takes an address and a listener");
  using Hook = int (*)(PyObject*, PyFrameObject*, int, PyObject*);
  void* const setter = PyLong_AsVoidPtr(arguments[0]);
  if (!setter) return PyErr_Occurred() ? nullptr : PyErr_Format(PyExc_ValueError, "hear_calls() needs an address");
  reinterpret_cast<void (*)(Hook, PyObject*)>(setter)(hear, arguments[1]);
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef listener_functions[] = {
    {"hear_calls", fast(hear_calls), METH_FASTCALL,
     "hear_calls(setter, listener): this thread calls listener(frame, 'c_call', called) when it calls a C function, "
     "until that has returned True for calls of the same kind. The setter is the address of PyEval_SetProfile."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
