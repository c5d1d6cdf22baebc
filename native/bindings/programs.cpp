#include "bindings/programs.hpp"

#include <utility>

namespace retrograd::compiler {

Entry* entry_with(Programs* self, size_t number) {
  for (const auto& entry : *self->entries) {
    if (entry->number == number) return entry.get();
  }
  return nullptr;
}

Entry* entry_numbered(PyObject* object, PyObject* argument) {
  if (Entry* entry = entry_with(self_of(object), PyLong_AsSize_t(argument))) return entry;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "there is no such program");
  return nullptr;
}

std::vector<PyObject*> items_of(PyObject* tuple) {
  std::vector<PyObject*> items(static_cast<size_t>(PyTuple_Size(tuple)));
  for (size_t i = 0; i < items.size(); ++i) items[i] = PyTuple_GetItem(tuple, static_cast<Py_ssize_t>(i));
  return items;
}

const char* must_run_eagerly(bool differentiates) {
  const Tape* tape = this_tape();
  if (!tape) return nullptr;
  if (tape->observer || tape->backward_hook) return "watched";
  return differentiates && !tape->recording ? "off" : nullptr;
}

namespace {

void tell(Programs* self, const Entry& entry, uint32_t members) {
  Ref event(Py_BuildValue("(OKI)", self->token, static_cast<unsigned long long>(entry.number), members));
  Ref told(event ? PyObject_CallFunctionObjArgs(self->hot, event.get(), nullptr) : nullptr);
  if (!told) PyErr_Clear();  // it stays on the virtual machine
}

}  // namespace

void count_run(Programs* self, Entry& entry, const Machine& machine) {
  const size_t before = entry.runs;
  entry.runs += machine.members();
  self->fresh |= machine.runs() == 1;
  if (!self->hot) return;
  if (machine.capacity() == 1 || entry.stands_alone) {
    const bool now = before < self->threshold && entry.runs >= self->threshold;
    if (now && !entry.single->has_code()) tell(self, entry, 1);
  } else if (machine.runs() == self->threshold && uint64_t{machine.runs()} * 2 >= self->batch_runs) {
    // Code for so many members: where sizes change from batch to batch, the code of all of them would not stay in the
    // cache, and the kernels do.
    tell(self, entry, machine.members());
  }
}

// --- the type -----------------------------------------------------------------------------------------------------

namespace {

PyObject* new_programs(PyTypeObject* type, PyObject* args, PyObject*) try {
  PyObject *miss, *index;
  if (!PyArg_ParseTuple(args, "OO:Programs", &miss, &index)) return nullptr;
  index_type = index;
  // First what may fail: the collector sees the object from its allocation on.
  auto entries = std::make_unique<std::vector<std::unique_ptr<Entry>>>();
  auto workspaces = std::make_unique<Workspaces>();
  auto scratch = std::make_unique<Arguments>();
  auto members = std::make_unique<std::vector<Arguments>>();
  auto looked_at = std::make_unique<std::vector<std::unique_ptr<Captured>>>();
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (!object) return nullptr;
  Programs* self = self_of(object);
  self->entries = entries.release();
  self->workspaces = workspaces.release();
  self->scratch = scratch.release();
  self->members = members.release();
  self->looked_at = looked_at.release();
  self->miss = Py_NewRef(miss);
  return object;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->miss);
  Py_VISIT(self_of(object)->hot);
  Py_VISIT(self_of(object)->token);
  if (const Captured* captured = self_of(object)->captured) {
    if (const int stopped = captured->traverse(visit, arg)) return stopped;
  }
  for (const auto& entry : *self_of(object)->entries) {
    Py_VISIT(entry->keeps.get());
    if (const int stopped = entry->spec->traverse(visit, arg)) return stopped;
  }
  return 0;
}
int clear(PyObject* object) {
  Programs* self = self_of(object);
  Py_CLEAR(self->miss);
  Py_CLEAR(self->hot);
  Py_CLEAR(self->token);
  // Taken out first: what they let go of may come back here.
  const auto entries = std::exchange(*self->entries, {});
  const std::unique_ptr<Captured> captured(std::exchange(self->captured, nullptr));
  return 0;
}
void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  clear(object);
  Programs* self = self_of(object);
  delete self->entries;
  delete self->workspaces;
  delete self->scratch;
  delete self->members;
  delete self->looked_at;
  PyTypeObject* type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// A method whose exceptions become Python's.
template <PyObject* (*method)(PyObject*, PyObject*)>
PyObject* guarded(PyObject* object, PyObject* argument) try {
  return method(object, argument);
} catch (const Unsupported& problem) {
  return PyErr_Format(PyExc_NotImplementedError, "%s", problem.what());
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}
template <PyObject* (*method)(PyObject*, PyObject* const*, Py_ssize_t)>
PyObject* guarded(PyObject* object, PyObject* const* args, Py_ssize_t count) try {
  return method(object, args, count);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyMethodDef methods[] = {
    {"add", guarded<add>, METH_VARARGS, "Compile a trace; the number of its program."},
    {"call", fast(guarded<call>), METH_FASTCALL, "The value."},
    {"backward", fast(guarded<backward>), METH_FASTCALL, "The value; gradients are added to .grad."},
    {"gradients", fast(guarded<gradients>), METH_FASTCALL,
     "The value and the gradients of the active arguments and of what else was wanted."},
    {"check", guarded<check>, METH_VARARGS, "What a program computes for a call, leaving no trace."},
    {"capture", guarded<capture>, METH_O, "What the function can reach, which shall stay as it is now."},
    {"changed", guarded<changed>, METH_NOARGS, "Which of it is otherwise."},
    {"newer", guarded<newer>, METH_O, "Whether a leaf was made since all of it was looked at."},
    {"doubt", guarded<doubt>, METH_O, "No program answers until a new trace has been compared with it."},
    {"doubted", guarded<doubted>, METH_VARARGS, "The programs that would answer a call, were they not in doubt."},
    {"settle", guarded<settle_doubt>, METH_VARARGS, "Whether a program in doubt is like a new one; then it is not."},
    {"batch", guarded<batch>, METH_VARARGS,
     "The sum of the members' values, whose gradients are added to .grad; and which members no program stands for."},
    {"unfit", guarded<unfit>, METH_O, "Which members of a batch no program stands for."},
    {"tier", guarded<tier>, METH_NOARGS, "What runs the program that was used last."},
    {"facts", guarded<facts>, METH_NOARGS, "What each program is and has done."},
    {"listing", guarded<listing>, METH_O, "A program as plain Python."},
    {"calls", guarded<calls>, METH_VARARGS, "The bound calls of a machine."},
    {"strips", guarded<strips>, METH_VARARGS, "Which calls of a machine are repeated, strip by strip."},
    {"memory", guarded<memory>, METH_VARARGS, "Where a machine's numbers are."},
    {"watch", guarded<watch>, METH_VARARGS, "Whom to tell when a machine has run often."},
    {"fresh", guarded<fresh>, METH_NOARGS, "Whether a program has run in a new way since this was asked last."},
    {"install", guarded<install>, METH_VARARGS, "Machine code in place of a machine's calls."},
    {"profile", guarded<profile>, METH_VARARGS, "How long each call of a machine takes."},
    {"verify", guarded<verified>, METH_O, "What is wrong with a program, or nothing."},
    {"locate", guarded<locate>, METH_VARARGS, "The instruction that computes a node of the trace."},
    {"drop", guarded<drop>, METH_O, "Forget a program."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("The programs of one compiled function.")},
    {Py_tp_new, reinterpret_cast<void*>(new_programs)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {0, nullptr},
};
PyType_Spec spec = {"retrograd._native.Programs", sizeof(Programs), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

bool add_programs_type(PyObject* module) {
  Ref type(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "Programs", type.get()) == 0;
}

}  // namespace retrograd::compiler
