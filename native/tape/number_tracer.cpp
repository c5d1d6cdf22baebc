#include "tape/number_tracer.hpp"

#include <structmember.h>

#include <cstddef>
#include <utility>

#include "tape/comparison_tracer.hpp"
#include "tape/record.hpp"

namespace retrograd {

PyTypeObject* number_tracer_type = nullptr;

namespace {

NumberTracer* tracer_at(PyObject* object) { return reinterpret_cast<NumberTracer*>(object); }
bool is_tracer(PyObject* object) { return PyType_IsSubtype(Py_TYPE(object), number_tracer_type) != 0; }

PyObject* made(PyTypeObject* type, PyObject* recorder, Value* node, double number) {
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (!object) return nullptr;
  NumberTracer* tracer = tracer_at(object);
  Py_INCREF(as_object(node));
  tracer->node = node;
  tracer->recorder = Py_NewRef(recorder);
  tracer->number = number;
  return object;
}

PyObject* new_tracer(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *recorder, *node;
  double number;
  if (!PyArg_ParseTuple(args, "OO!d:NumberTracer", &recorder, value_type, &node, &number)) return nullptr;
  return made(type, recorder, as_value(node), number);
}

void dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF(as_object(tracer_at(object)->node));
  Py_XDECREF(tracer_at(object)->recorder);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// --- arithmetic, as floats have it ---------------------------------------------------------------------------------

// What is not simple is the recorder's affair: other kinds of numbers, what floats refuse, traces that have ended.
PyObject* ask_recorder(const char* row, PyObject* x, PyObject* y) {
  Ref recorder = Ref::borrow(tracer_at(is_tracer(x) ? x : y)->recorder);
  if (!y) return PyObject_CallMethod(recorder.get(), "arithmetic", "s(O)", row, x);
  return PyObject_CallMethod(recorder.get(), "arithmetic", "s(OO)", row, x, y);
}

// Floats raise in these, whatever rg.errstate says.
constexpr bool raises(Row row) { return row == ROW_div || row == ROW_mod || row == ROW_floordiv || row == ROW_pow; }

// The same row with every exception that floats raise; the recorder is told of it.
PyObject* raising(Row row, PyObject* like, PyObject* x, PyObject* y) {
  Tape* tape = current_tape;
  if (!tape->told_of_raising && !Ref(PyObject_CallMethod(tracer_at(like)->recorder, "may_raise", nullptr))) {
    return nullptr;
  }
  tape->told_of_raising = true;
  bool before[] = {true, true, true};
  std::swap(before, tape->raise);
  PyObject* result = on_operands(row, x, y);
  std::swap(before, tape->raise);
  return result;
}

template <Row row>
PyObject* binary(PyObject* x, PyObject* y) {
  const char* name = kRows[row].name;
  const bool any_value = is_value(x) || is_value(y);
  PyObject* operands[] = {x, y};
  for (PyObject*& operand : operands) {
    if (is_value(operand) || PyFloat_CheckExact(operand) || PyLong_CheckExact(operand)) continue;
    Value* node = followed_node(operand);
    if (!node) return ask_recorder(name, x, y);
    operand = as_object(node);
  }
  if (any_value) return on_operands(row, operands[0], operands[1]);
  PyObject* like = is_tracer(x) ? x : y;
  return traced_number(
      like, raises(row) ? raising(row, like, operands[0], operands[1]) : on_operands(row, operands[0], operands[1]));
}

template <Row row>
PyObject* unary(PyObject* x) {
  Value* node = followed_node(x);
  return node ? traced_number(x, on_operand(row, node)) : ask_recorder(kRows[row].name, x, nullptr);
}

PyObject* power(PyObject* x, PyObject* y, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<ROW_pow>(x, y);
}

PyObject* quotient_and_remainder(PyObject* x, PyObject* y) {
  Ref quotient(binary<ROW_floordiv>(x, y));
  if (!quotient || quotient.get() == Py_NotImplemented) return quotient.release();
  Ref remainder(binary<ROW_mod>(x, y));
  return remainder ? PyTuple_Pack(2, quotient.get(), remainder.get()) : nullptr;
}

// The number of this run of what a tracer is compared with, if that is simple.
bool simple_number(PyObject* object, double* number) {
  if (is_value(object)) {
    *number = as_value(object)->data;
    return true;
  }
  if (!followed_node(object)) return exact_number(object, number);
  *number = tracer_at(object)->number;
  return true;
}

bool relation(int operation, double x, double y) {
  switch (operation) {
    case Py_LT: return x < y;
    case Py_LE: return x <= y;
    case Py_EQ: return x == y;
    case Py_NE: return x != y;
    case Py_GT: return x > y;
    default: return x >= y;
  }
}

PyObject* compare(PyObject* x, PyObject* y, int operation) {
  double number = 0.0;
  if (Value* node = followed_node(x); node && flush_parameters() && simple_number(y, &number)) {
    const bool outcome = relation(operation, tracer_at(x)->number, number);
    PyObject* made = traced_comparison(operation, node, y, outcome);
    if (made || PyErr_Occurred()) return made;
  }
  if (PyErr_Occurred()) return nullptr;
  return PyObject_CallMethod(x, "_compare", "sO", kComparisons[operation], y);
}

PyObject* itself(PyObject* self) { return Py_NewRef(self); }

PyMemberDef members[] = {
    {"_node", T_OBJECT_EX, offsetof(NumberTracer, node), READONLY, nullptr},
    {"_recorder", T_OBJECT_EX, offsetof(NumberTracer, recorder), READONLY, nullptr},
    {"_number", T_DOUBLE, offsetof(NumberTracer, number), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

void* slot(auto function) { return reinterpret_cast<void*>(function); }

PyType_Slot slots[] = {
    {Py_tp_new, slot(new_tracer)},
    {Py_tp_dealloc, slot(dealloc)},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("A float of a trace: its node, its number in this run, and the recorder.")},
    {Py_tp_richcompare, slot(compare)},
    {Py_nb_add, slot(binary<ROW_add>)},
    {Py_nb_subtract, slot(binary<ROW_sub>)},
    {Py_nb_multiply, slot(binary<ROW_mul>)},
    {Py_nb_true_divide, slot(binary<ROW_div>)},
    {Py_nb_remainder, slot(binary<ROW_mod>)},
    {Py_nb_floor_divide, slot(binary<ROW_floordiv>)},
    {Py_nb_divmod, slot(quotient_and_remainder)},
    {Py_nb_power, slot(power)},
    {Py_nb_negative, slot(unary<ROW_neg>)},
    {Py_nb_absolute, slot(unary<ROW_abs>)},
    {Py_nb_positive, slot(itself)},
    {0, nullptr},
};
PyType_Spec spec = {"retrograd._native.NumberTracer", sizeof(NumberTracer), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                    slots};

}  // namespace

bool exact_number(PyObject* object, double* number) {
  if (PyFloat_CheckExact(object)) {
    *number = PyFloat_AsDouble(object);
    return true;
  }
  if (!PyLong_CheckExact(object)) return false;
  constexpr long long kExact = 1LL << 53;
  int overflow;
  const long long whole = PyLong_AsLongLongAndOverflow(object, &overflow);
  *number = static_cast<double>(whole);
  return !overflow && -kExact <= whole && whole <= kExact;
}

PyObject* traced_number(PyObject* like, PyObject* node) {
  if (!node || node == Py_NotImplemented) return node;
  const Ref owned(node);
  return made(Py_TYPE(like), tracer_at(like)->recorder, as_value(node), as_value(node)->data);
}

bool add_number_tracer_type(PyObject* module) {
  number_tracer_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return number_tracer_type &&
         PyModule_AddObjectRef(module, "NumberTracer", reinterpret_cast<PyObject*>(number_tracer_type)) == 0;
}

}  // namespace retrograd
