#include "tape/comparison_tracer.hpp"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "tape/number_tracer.hpp"

namespace retrograd {
namespace {

struct ComparisonTracer {
  PyObject_HEAD PyObject *recorder, *kind, *left, *right;
  PyObject *node, *joins, *parts;  // of a combination, what it joins; null until something is set
  char outcome, decided;
};

ComparisonTracer* tracer_at(PyObject* object) { return reinterpret_cast<ComparisonTracer*>(object); }

// Texts that live as long as the module.
std::array<PyObject*, std::size(kComparisons)> kinds;
enum Name { DECIDE, LASTI, KNOWN, RECORDING, GUARDS, COMPARED, NOTHING, NAMES };
constexpr std::array<const char*, NAMES> kNames = {"_decide",  "f_lasti", "known_guards", "_recording", "guards",
                                                   "compared", ""};
std::array<PyObject*, NAMES> names;
PyObject* no_parts = nullptr;

PyObject* made(PyTypeObject* type, PyObject* recorder, PyObject* kind, PyObject* left, PyObject* right, bool outcome) {
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (!object) return nullptr;
  ComparisonTracer* tracer = tracer_at(object);
  tracer->recorder = Py_NewRef(recorder);
  tracer->kind = Py_NewRef(kind);
  tracer->left = Py_NewRef(left);
  tracer->right = Py_NewRef(right);
  tracer->joins = Py_NewRef(names[NOTHING]);
  tracer->parts = Py_NewRef(no_parts);
  tracer->outcome = outcome;
  return object;
}

PyObject* new_tracer(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *recorder, *kind, *left, *right;
  int outcome;
  if (!PyArg_ParseTuple(args, "OUOOp:ComparisonTracer", &recorder, &kind, &left, &right, &outcome)) return nullptr;
  return made(type, recorder, kind, left, right, outcome);
}

void dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  ComparisonTracer* tracer = tracer_at(object);
  for (PyObject* held :
       {tracer->recorder, tracer->kind, tracer->left, tracer->right, tracer->node, tracer->joins, tracer->parts}) {
    Py_XDECREF(held);
  }
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// Adds the guard of the place in the code that asks now, if the same was decided there before: 1, 0, or -1 with an
// exception. The recorder has `known_guards` for that (src/retrograd/compiler/tracing/decision_recorder.py:
// DecisionRecorder).
int decide_as_before(PyObject* recorder, PyObject* kind, PyObject* left, PyObject* right, bool outcome) {
  auto* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());  // borrowed
  if (!frame) return 0;
  const Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame))));
  const Ref place(PyObject_GetAttr(frame, names[LASTI])), known(PyObject_GetAttr(recorder, names[KNOWN]));
  const Ref address(PyLong_FromVoidPtr(code.get()));
  if (!place || !known || !address) return -1;
  const Ref key(PyTuple_Pack(4, address.get(), place.get(), kind, outcome ? Py_True : Py_False));
  PyObject* const guard = key ? PyDict_GetItemWithError(known.get(), key.get()) : nullptr;  // borrowed
  if (!guard) return PyErr_Occurred() ? -1 : 0;
  const Ref recording(PyObject_GetAttr(recorder, names[RECORDING]));
  const Ref guards(recording ? PyObject_GetAttr(recording.get(), names[GUARDS]) : nullptr);
  const Ref compared(guards ? PyObject_GetAttr(recording.get(), names[COMPARED]) : nullptr);
  if (!compared) return -1;
  const bool added = PyList_Append(guards.get(), guard) == 0 && PyList_Append(compared.get(), left) == 0 &&
                     PyList_Append(compared.get(), right) == 0;
  return added ? 1 : -1;
}

// The outcome decides something now. Only where that is new to the trace is the recorder asked.
int is_true(PyObject* self) {
  ComparisonTracer* tracer = tracer_at(self);
  const bool here = following() && current_tape->tracer.get() == tracer->recorder;
  if (here && !tracer->decided) {
    const int known = decide_as_before(tracer->recorder, tracer->kind, tracer->left, tracer->right, tracer->outcome);
    if (known < 0) return -1;
    tracer->decided = known > 0;
  }
  if (!(here && tracer->decided) && !Ref(PyObject_CallMethodObjArgs(self, names[DECIDE], nullptr))) return -1;
  return tracer->outcome;
}

// The right side of a comparison, borrowed or as a new float: a Value, a node, or a number that a float equals exactly.
Ref right_side(PyObject* right) {
  if (is_value(right) || PyFloat_CheckExact(right)) return Ref::borrow(right);
  if (Value* node = followed_node(right)) return Ref::borrow(as_object(node));
  double number;
  return exact_number(right, &number) ? Ref(PyFloat_FromDouble(number)) : Ref();
}

PyMemberDef members[] = {
    {"_recorder", T_OBJECT_EX, offsetof(ComparisonTracer, recorder), READONLY, nullptr},
    {"_kind", T_OBJECT_EX, offsetof(ComparisonTracer, kind), READONLY, nullptr},
    {"_left", T_OBJECT_EX, offsetof(ComparisonTracer, left), READONLY, nullptr},
    {"_right", T_OBJECT_EX, offsetof(ComparisonTracer, right), READONLY, nullptr},
    {"outcome", T_BOOL, offsetof(ComparisonTracer, outcome), READONLY, nullptr},
    {"_decided", T_BOOL, offsetof(ComparisonTracer, decided), 0, nullptr},
    {"node", T_OBJECT, offsetof(ComparisonTracer, node), 0, nullptr},
    {"joins", T_OBJECT_EX, offsetof(ComparisonTracer, joins), 0, nullptr},
    {"parts", T_OBJECT_EX, offsetof(ComparisonTracer, parts), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

void* slot(auto function) { return reinterpret_cast<void*>(function); }

PyType_Slot slots[] = {
    {Py_tp_new, slot(new_tracer)},
    {Py_tp_dealloc, slot(dealloc)},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("A comparison of a trace: its sides, its outcome in this run, and the recorder.")},
    {Py_nb_bool, slot(is_true)},
    {0, nullptr},
};
PyType_Spec spec = {"retrograd._native.ComparisonTracer", sizeof(ComparisonTracer), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

bool make_texts() {
  for (size_t i = 0; i < kinds.size(); ++i) kinds[i] = PyUnicode_InternFromString(kComparisons[i]);
  for (size_t i = 0; i < names.size(); ++i) names[i] = PyUnicode_InternFromString(kNames[i]);
  no_parts = PyTuple_New(0);
  return no_parts && std::ranges::all_of(kinds, std::identity()) && std::ranges::all_of(names, std::identity());
}

}  // namespace

PyObject* traced_comparison(int operation, Value* left, PyObject* right, bool outcome) {
  Tape* tape = current_tape;
  if (!following() || !tape->comparison_type) return nullptr;
  const Ref side = right_side(right);
  if (!side) return nullptr;
  PyObject *const recorder = tape->tracer.get(), *const kind = kinds[static_cast<size_t>(operation)];
  auto* type = reinterpret_cast<PyTypeObject*>(tape->comparison_type.get());
  if (type != &PyBool_Type) return made(type, recorder, kind, as_object(left), side.get(), outcome);
  if (decide_as_before(recorder, kind, as_object(left), side.get(), outcome) <= 0) return nullptr;
  return Py_NewRef(outcome ? Py_True : Py_False);
}

bool add_comparison_tracer_type(PyObject* module) {
  const Ref type(make_texts() ? PyType_FromSpec(&spec) : nullptr);
  return type && PyModule_AddObjectRef(module, "ComparisonTracer", type.get()) == 0;
}

}  // namespace retrograd
