// How the tape tells the tracer of a pure trace about every number that would leave it; see src/retrograd/compiler.
#include <cstdarg>

#include "tape/value.hpp"

namespace retrograd {
namespace {

// While the tracer runs, what it reads itself is not reported.
class AtWork {
 public:
  explicit AtWork(Tape* tape) : tape_(tape) { tape_->tracing = false; }
  ~AtWork() { tape_->tracing = bool(tape_->tracer); }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  Tape* tape_;
};

// Whether a tracer follows each number: its attribute `follows_numbers`, True where there is none.
bool follows(PyObject* tracer, PyObject* name) {
  Ref answer(PyObject_GetAttr(tracer, name));
  PyErr_Clear();
  return answer.get() != Py_False;
}

PyObject* set_tracer(PyObject*, PyObject* tracer) {
  static PyObject *name = nullptr, *comparisons = nullptr;
  Tape* tape = this_tape();
  if (!name) name = PyUnicode_InternFromString("follows_numbers");
  if (!comparisons) comparisons = PyUnicode_InternFromString("comparison_type");
  if (!tape || !name || !comparisons) return nullptr;
  tape->following = tracer != Py_None && follows(tracer, name);
  Ref type(tape->following ? PyObject_GetAttr(tracer, comparisons) : nullptr);
  PyErr_Clear();
  tape->comparison_type = type && PyType_Check(type.get()) ? std::move(type) : Ref();
  Ref before = std::exchange(tape->tracer, tracer == Py_None ? Ref() : Ref::borrow(tracer));
  tape->tracing = bool(tape->tracer);
  tape->told_of_raising = false;
  return before ? before.release() : Py_NewRef(Py_None);
}

// keep_fallible(on): whether the nodes are kept; those that were, as a list.
PyObject* keep_fallible(PyObject*, PyObject* on) {
  Tape* tape = this_tape();
  const int truth = PyObject_IsTrue(on);
  if (!tape || truth < 0) return nullptr;
  tape->keeps_fallible = truth != 0;
  tape->refresh_limit();
  std::vector<Ref> kept = std::exchange(tape->fallible, {});
  Ref list(PyList_New(static_cast<Py_ssize_t>(kept.size())));
  if (!list) return nullptr;
  for (size_t i = 0; i < kept.size(); ++i) PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), kept[i].release());
  return list.release();
}

}  // namespace

PyObject* ask_tracer(const char* method, PyObject* subject, const char* format, ...) {
  Ref more(nullptr);
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    more = Ref(Py_VaBuildValue(format, arguments));
    va_end(arguments);
    if (!more) return nullptr;
  }
  Ref first(PyTuple_Pack(1, subject));
  Ref all(first && more ? PySequence_Concat(first.get(), more.get()) : first.release());
  if (!all) return nullptr;
  AtWork work(current_tape);
  Ref function(PyObject_GetAttrString(current_tape->tracer.get(), method));
  return function ? PyObject_CallObject(function.get(), all.get()) : nullptr;
}

bool traced_call(const char* method, const char* name, PyObject* const* arguments, Py_ssize_t count,
                 PyObject** result) {
  *result = nullptr;
  if (!following()) return false;
  Ref text(PyUnicode_FromString(name)), given(PyTuple_New(count));
  if (!text || !given) return true;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(given.get(), i, Py_NewRef(arguments[i]));
  Ref answer(ask_tracer(method, text.get(), "(O)", given.get()));
  if (answer.get() == Py_NotImplemented) return false;
  *result = answer.release();
  return true;
}

bool tell_tracer(const char* what) {
  if (!tracing()) [[likely]]
    return true;
  Ref text(PyUnicode_FromString(what));
  return text && Ref(ask_tracer("notice", text.get()));
}

PyMethodDef tracer_functions[] = {
    {"set_tracer", set_tracer, METH_O,
     "Ask a tracer about every number that would leave a trace, or only tell it of effects; returns the one before."},
    {"keep_fallible", keep_fallible, METH_O,
     "Whether the nodes that have a domain are kept until the next call, which returns them."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
