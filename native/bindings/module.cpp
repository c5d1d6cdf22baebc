// The module `retrograd._native`: the engine interface that src/retrograd/engine.py re-exports.
#include <algorithm>
#include <string_view>

#include "bindings/call_listener.hpp"
#include "bindings/specialization_cache.hpp"
#include "bindings/taped_code.hpp"
#include "parameters/optimizer.hpp"
#include "parameters/parameters.hpp"
#include "tape/adjoints.hpp"
#include "tape/comparison_tracer.hpp"
#include "tape/number_tracer.hpp"
#include "tape/record.hpp"
#include "trees/in_place.hpp"
#include "trees/structure.hpp"

namespace retrograd {
namespace {

PyObject* native_module = nullptr;  // borrowed: there is one, and it lives as long as the interpreter

bool need_value(PyObject* object, const char* where) {
  if (is_value(object)) return true;
  raise_from("not_a_value", "(Os)", object, where);
  return false;
}

// --- looking at a node ------------------------------------------------------------------------------------------

PyObject* operands(PyObject*, PyObject* object) try {
  if (!need_value(object, "operands()")) return nullptr;
  show_operands();
  const Value* node = as_value(object);
  Form form = is_op(node->code) ? form_of(node) : VALUES;
  if (form == VALUES) {
    Py_ssize_t count = 0;
    each_operand(node, [&](Value*) { ++count; });
    PyObject* tuple = PyTuple_New(count);
    Py_ssize_t i = 0;
    if (tuple) each_operand(node, [&](Value* operand) { PyTuple_SetItem(tuple, i++, Py_NewRef(as_object(operand))); });
    return tuple;
  }
  PyObject* number = PyFloat_FromDouble(node->number);
  if (!number) return nullptr;
  PyObject* value = Py_NewRef(as_object(node->a));
  Ref first(form == NUMBER_LEFT ? number : value), second(form == NUMBER_LEFT ? value : number);
  return PyTuple_Pack(2, first.get(), second.get());
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* concrete(PyObject*, PyObject* object) {
  if (!need_value(object, "concrete()") || !flush_parameters()) return nullptr;
  return PyFloat_FromDouble(as_value(object)->data);
}

PyObject* row_name(PyObject*, PyObject* object) {
  if (!need_value(object, "row_name()")) return nullptr;
  const Value* node = as_value(object);
  const Extra* extra = find_extra(node);
  bool users = node->code == USER || (is_op(node->code) && extra && extra->backward);
  return PyUnicode_FromString(users ? "user" : kRows[row_of(node)].name);
}

PyObject* output_index(PyObject*, PyObject* object) {
  if (!need_value(object, "output_index()")) return nullptr;
  const Value* node = as_value(object);
  if (is_joint(node) && !node->extra->joint) return PyLong_FromUnsignedLong(node->extra->result);
  return PyLong_FromUnsignedLongLong(row_of(node) == ROW_softmax ? node->index : 0);
}

PyObject* is_constant(PyObject*, PyObject* object) {
  if (!need_value(object, "is_constant()")) return nullptr;
  return PyBool_FromLong(as_value(object)->flags & CONSTANT);
}

PyObject* get_source(PyObject*, PyObject* object) {
  if (!need_value(object, "get_source()")) return nullptr;
  const Value* value = as_value(object);
  return PyLong_FromUnsignedLong(value->code == LEAF ? 0 : value->source);
}

PyObject* set_source(PyObject*, PyObject* args) {
  PyObject* object;
  unsigned int source;
  if (!PyArg_ParseTuple(args, "OI:set_source", &object, &source) || !need_value(object, "set_source()")) return nullptr;
  if (as_value(object)->code != LEAF) as_value(object)->source = source;
  Py_RETURN_NONE;
}

// --- rebuilding a node without computing ------------------------------------------------------------------------

// An operand as a Value: itself, or a constant.
Value* operand_of(PyObject* object) {
  if (is_value(object)) return as_value(Py_NewRef(object));
  double number;
  return need_number(object, &number, "restore") ? new_leaf(number, CONSTANT) : nullptr;
}

Row row_named(std::string_view name) {
  for (int row = 1; row < ROW_COUNT; ++row) {
    if (name == kRows[row].name) return static_cast<Row>(row);
  }
  return ROW_NONE;
}

PyObject* restore_block(Row row, double data, PyObject* items, uint64_t index) {
  Py_ssize_t count = PyTuple_Size(items);
  const bool fits = row == ROW_softmax ? index < static_cast<uint64_t>(count)
                    : row == ROW_dot   ? count % 2 == 0
                                       : kRows[row].arity == 0 || kRows[row].arity == count;
  if (!fits) {
    PyErr_Format(PyExc_ValueError, "restore(): %s cannot have %zd operands and output %llu.", kRows[row].name, count,
                 static_cast<unsigned long long>(index));
    return nullptr;
  }
  OperandList* block = OperandList::make(static_cast<uint32_t>(count), row == ROW_softmax);
  if (!block) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Value* operand = operand_of(PyTuple_GetItem(items, i));
    if (!operand) {
      release_operands(block);
      return nullptr;
    }
    block->operands[block->count++] = operand;
  }
  if (row == ROW_softmax) {  // the other outputs are computed again
    std::vector<double> probabilities;
    shares(block, probabilities);
    std::copy(probabilities.begin(), probabilities.end(), block->probabilities);
  }
  return record_carefully(data, code_of(row), nullptr, nullptr, 0.0, block, index);
}

PyObject* restore_row(Row row, double data, PyObject* items, uint64_t index) {
  int arity = kRows[row].arity;
  if (arity != 1 && arity != 2) return restore_block(row, data, items, index);
  if (PyTuple_Size(items) != arity) {
    PyErr_Format(PyExc_ValueError, "restore(): %s has %d operands, and %zd were given.", kRows[row].name, arity,
                 PyTuple_Size(items));
    return nullptr;
  }
  PyObject *x = PyTuple_GetItem(items, 0), *y = arity == 2 ? PyTuple_GetItem(items, 1) : nullptr;
  double number = 0.0;
  if (y && is_value(x) != is_value(y)) {
    bool left = is_value(y);
    if (!need_number(left ? x : y, &number, "restore")) return nullptr;
    return record_carefully(data, code_of(row, left ? NUMBER_LEFT : NUMBER_RIGHT), as_value(left ? y : x), nullptr,
                            number, nullptr);
  }
  if (!need_value(x, "restore()") || (y && !need_value(y, "restore()"))) return nullptr;
  return record_carefully(data, code_of(row), as_value(x), y ? as_value(y) : nullptr, 0.0, nullptr);
}

PyObject* restore(PyObject*, PyObject* args) try {
  const char* name;
  PyObject* sequence;
  double data, grad;
  unsigned long long index = 0;
  if (!PyArg_ParseTuple(args, "sOdd|K:restore", &name, &sequence, &data, &grad, &index)) return nullptr;
  Ref items(PySequence_Tuple(sequence));
  Tape* tape = this_tape();
  if (!items || !tape) return nullptr;
  std::string_view row = name;
  PyObject* result = nullptr;
  if (row.empty() || row == "constant") {
    result = as_object(new_leaf(data, row.empty() ? 0 : CONSTANT));
  } else if (Row number = row_named(row)) {
    bool recording = std::exchange(tape->recording, true);
    bool observing = std::exchange(tape->observing, true);
    result = restore_row(number, data, items.get(), index);
    tape->recording = recording;
    tape->observing = observing;
  } else {
    raise_from("unknown_operation", "(ss)", name, "it was saved by another version of retrograd");
  }
  if (result) as_value(result)->grad = grad;
  return result;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// --- modes of this thread ------------------------------------------------------------------------------------------

PyObject* set_recording(PyObject*, PyObject* on) {
  Tape* tape = this_tape();
  int truth = PyObject_IsTrue(on);
  if (!tape || truth < 0) return nullptr;
  bool before = std::exchange(tape->recording, truth != 0);
  tape->refresh_limit();
  return PyBool_FromLong(before);
}

PyObject* set_errstate(PyObject*, PyObject* args) {
  int divide, over, invalid;
  Tape* tape = this_tape();
  if (!tape || !PyArg_ParseTuple(args, "ppp:set_errstate", &divide, &over, &invalid)) return nullptr;
  bool before[3] = {tape->raise[0], tape->raise[1], tape->raise[2]};
  tape->raise[0] = divide;
  tape->raise[1] = over;
  tape->raise[2] = invalid;
  auto flag = [](bool on) { return on ? Py_True : Py_False; };
  return PyTuple_Pack(3, flag(before[0]), flag(before[1]), flag(before[2]));
}

PyObject* exchange_callback(Ref Tape::* which, PyObject* callback) {
  Tape* tape = this_tape();
  if (!tape) return nullptr;
  if (callback != Py_None && !PyCallable_Check(callback)) {
    raise_from("not_a_function", "(O)", callback);
    return nullptr;
  }
  Ref before = std::exchange(tape->*which, callback == Py_None ? Ref() : Ref::borrow(callback));
  tape->refresh_limit();
  return before ? before.release() : Py_NewRef(Py_None);
}

PyObject* set_observer(PyObject*, PyObject* callback) { return exchange_callback(&Tape::observer, callback); }
PyObject* set_backward_hook(PyObject*, PyObject* callback) { return exchange_callback(&Tape::backward_hook, callback); }

// The place in the order of creation that the next node will have, and how many leaves have been made.
PyObject* tape_position(PyObject*, PyObject*) {
  Tape* tape = this_tape();
  if (!tape || !make_room(tape)) return nullptr;
  return Py_BuildValue("(KI)", static_cast<unsigned long long>(position_of(tape->bump)), births);
}

PyObject* is_parameter(PyObject*, PyObject* object) {
  if (!need_value(object, "is_parameter()")) return nullptr;
  return PyBool_FromLong(compiler::is_parameter(as_value(object)));
}

PyMethodDef functions[] = {
    {"tape_position", tape_position, METH_NOARGS,
     "The place in the order of creation that the next node will have, and how many leaves have been made."},
    {"is_parameter", is_parameter, METH_O, "Whether compiled programs or an optimizer keep a leaf."},
    {"operands", operands, METH_O, "The operands in order; a number that no Value stands for is a float."},
    {"concrete", concrete, METH_O, "The number of a value, about which no tracer is asked."},
    {"row_name", row_name, METH_O,
     "The row of the op table that made a value; '' for a leaf, 'user' for a user's node."},
    {"output_index", output_index, METH_O, "Which output of its softmax, or result of its compiled call, a value is."},
    {"is_constant", is_constant, METH_O, "Whether a value is a leaf that the engine made from a number."},
    {"get_source", get_source, METH_O, "The small number kept with a node, 0 when there is none."},
    {"set_source", set_source, METH_VARARGS, "Keep a small number with a node."},
    {"restore", restore, METH_VARARGS, "restore(name, operands, data, grad, index=0): a node without computing it."},
    {"set_recording", set_recording, METH_O, "Whether operations are recorded in this thread; returns what was."},
    {"set_errstate", set_errstate, METH_VARARGS,
     "Whether divide, over and invalid raise in this thread; returns what did."},
    {"set_observer", set_observer, METH_O,
     "Call a function with every new node of this thread; returns the one before."},
    {"set_backward_hook", set_backward_hook, METH_O, "Call a function instead of sweeping; returns the one before."},
    {nullptr, nullptr, 0, nullptr},
};

// --- copies, which src/retrograd/copying.py makes for both engines -------------------------------------------------

PyObject* copying(const char* function, PyObject* self, PyObject* memo) {
  Ref module(PyImport_ImportModule("retrograd.engine.pickling"));
  Ref callable(module ? PyObject_GetAttrString(module.get(), function) : nullptr);
  if (!callable) return nullptr;
  return PyObject_CallFunctionObjArgs(callable.get(), native_module, self, memo, nullptr);
}

}  // namespace

PyObject* value_copy(PyObject* self, PyObject*) { return copying("shallow", self, nullptr); }
PyObject* value_deepcopy(PyObject* self, PyObject* memo) { return copying("deep", self, memo); }
PyObject* value_reduce(PyObject* self, PyObject*) { return copying("reduce", self, nullptr); }

namespace {

bool add_functions_dict(PyObject* module) {
  Ref dict(PyDict_New());
  if (!dict) return false;
  for (PyMethodDef* table : {operator_functions, nary_operators}) {
    for (; table->ml_name; ++table) {
      Ref function(PyCFunction_NewEx(table, nullptr, nullptr));
      if (!function || PyDict_SetItemString(dict.get(), table->ml_name, function.get()) < 0) return false;
    }
  }
  return PyModule_AddObjectRef(module, "functions", dict.get()) == 0;
}

int execute(PyObject* module) {
  if (native_module) {
    PyErr_SetString(PyExc_ImportError,
                    "retrograd keeps its tape for the whole process and is loaded already, perhaps by another "
                    "sub-interpreter: use it in the main interpreter only.");
    return -1;
  }
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError, "retrograd cannot run in a sub-interpreter: use it in the main interpreter.");
    return -1;
  }
  if (!this_tape()) return -1;  // the importing thread has one from now on
  if (!trees::look_in_place()) return -1;
  if (!add_value_type(module) || !add_number_tracer_type(module) || !add_comparison_tracer_type(module) ||
      !add_functions_dict(module) || !compiler::add_specialization_cache_type(module) ||
      !compiler::add_taped_code_type(module) || !compiler::add_parameters_type(module) ||
      !trees::add_structure_type(module)) {
    return -1;
  }
  for (PyMethodDef* table :
       {functions, record_functions, sum_functions, sparse_functions, sweep_functions, tracer_functions,
        extreme_functions, listener_functions, nary_functions, optimizer_functions, trees::tree_functions}) {
    if (PyModule_AddFunctions(module, table) < 0) return -1;
  }
  if (PyModule_AddStringConstant(module, "OPS_DIGEST", kDigest) < 0) return -1;
  native_module = module;
  return 0;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)},
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "retrograd._native",
    "The native engine; users import retrograd.engine.",
    0,
    nullptr,
    slots,
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace
}  // namespace retrograd

PyMODINIT_FUNC PyInit__native() { return PyModuleDef_Init(&retrograd::definition); }
