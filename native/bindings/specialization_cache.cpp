#include "bindings/specialization_cache.hpp"

#include <utility>

#include "bindings/joint_call.hpp"

namespace retrograd::compiler {

std::shared_ptr<Specialization> find_specialization(SpecializationCache* self, size_t number) {
  for (const auto& entry : *self->specializations) {
    if (entry->number == number) return entry;
  }
  return nullptr;
}

std::shared_ptr<Specialization> specialization_numbered(PyObject* object, PyObject* argument) {
  if (auto entry = find_specialization(self_of(object), PyLong_AsSize_t(argument))) {
    entry->compile_late();
    return entry;
  }
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "there is no such program");
  return nullptr;
}

int match(SpecializationCache* self, size_t place, PyObject* const* args, Py_ssize_t count) {
  const Specialization& first = *(*self->specializations)[place];
  if (!first.signature->runs_python()) return first.matches(args, count, *self->scratch);
  const std::shared_ptr<Specialization> entry = (*self->specializations)[place];
  Arguments numbers;  // the user's code may call the function, which uses the scratch memory
  numbers.reads_results = self->scratch->reads_results;
  const int fit = entry->matches(args, count, numbers);
  std::swap(*self->scratch, numbers);
  const bool there = place < self->specializations->size() && (*self->specializations)[place] == entry;
  return fit == 1 && !there ? 0 : fit;
}

Shared<StateGuards> find_state(const SpecializationCache* self, size_t number) {
  for (const auto& state : *self->states) {
    if (state->number == number) return state;
  }
  return {};
}

uint64_t check_states(SpecializationCache* self) {
  const uint64_t call = ++self->calls;
  const std::vector<Shared<StateGuards>> states = *self->states;
  for (const auto& state : states) state->hold_in(call);
  return call;
}

std::vector<PyObject*> items_of(PyObject* tuple) {
  std::vector<PyObject*> items(static_cast<size_t>(PyTuple_Size(tuple)));
  for (size_t i = 0; i < items.size(); ++i) items[i] = PyTuple_GetItem(tuple, static_cast<Py_ssize_t>(i));
  return items;
}

std::optional<Reason> must_run_eagerly(bool differentiates) {
  if (tracing()) return Reason::INSIDE_TRACE;
  const Tape* tape = this_tape();
  if (!tape) return std::nullopt;
  if (tape->observer || tape->backward_hook) return Reason::OBSERVED;
  if (differentiates && !tape->recording) return Reason::GRADIENTS_OFF;
  return std::nullopt;
}

PyObject* reason_of(const SpecializationCache* self, Reason reason) {
  return Py_XNewRef(PyTuple_GetItem(self->reasons, static_cast<Py_ssize_t>(reason)));
}

namespace {

void tell(SpecializationCache* self, const Specialization& entry, uint32_t members) {
  Ref event(Py_BuildValue("(OKI)", self->token, static_cast<unsigned long long>(entry.number), members));
  Ref told(event ? PyObject_CallFunctionObjArgs(self->hot, event.get(), nullptr) : nullptr);
  if (!told) PyErr_Clear();  // it stays on the virtual machine
}

}  // namespace

void want_code(SpecializationCache* self, const Specialization& entry) {
  if (self->hot) tell(self, entry, 1);
}

void count_interpreted(SpecializationCache* self, Specialization& entry) {
  ++entry.runs;
  self->fresh |= entry.runs == 1;
  if (self->hot && entry.runs == self->threshold && !entry.options.exact && !entry.has_graph_code()) {
    tell(self, entry, 0);
  }
}

void count_in_batch(SpecializationCache* self, Specialization& entry, size_t members) {
  self->fresh |= entry.in_batches == 0;
  entry.in_batches += members;
  if (!self->hot || entry.wants_group || entry.in_batches < self->threshold || entry.options.exact) return;
  if (!entry.has_graph_code()) return;  // that comes first
  entry.wants_group = true;
  tell(self, entry, kGroup);
}

void count_run(SpecializationCache* self, Specialization& entry, const Machine& machine) {
  const size_t before = entry.runs;
  entry.runs += machine.batch_size();
  self->fresh |= machine.runs() == 1;
  if (!self->hot) return;
  if (machine.capacity() == 1 || entry.prefer_unbatched) {
    const bool now = before < self->threshold && entry.runs >= self->threshold;
    if (now && entry.single && !entry.single->has_code() && !entry.has_graph_code()) tell(self, entry, 1);
  } else if (machine.runs() == self->threshold && uint64_t{machine.runs()} * 2 >= self->batch_runs) {
    // Code for so many members: where sizes change from batch to batch, the code of all of them would not stay in the
    // cache, and the kernels do.
    tell(self, entry, machine.batch_size());
  }
}

// --- the type -----------------------------------------------------------------------------------------------------

namespace {

// The members of Python's enumeration, by the names that this side knows; null with AttributeError where one is
// missing.
PyObject* members_of(PyObject* enumeration) {
  constexpr Py_ssize_t count = std::size(kReasonNames);
  Ref members(PyTuple_New(count));
  for (Py_ssize_t i = 0; members && i < count; ++i) {
    PyObject* member = PyObject_GetAttrString(enumeration, kReasonNames[i]);
    if (!member) return nullptr;
    PyTuple_SetItem(members.get(), i, member);
  }
  return members.release();
}

PyObject* new_cache(PyTypeObject* type, PyObject* args, PyObject*) try {
  PyObject *miss, *index, *enumeration;
  if (!PyArg_ParseTuple(args, "OOO:SpecializationCache", &miss, &index, &enumeration)) return nullptr;
  index_type = index;
  Ref reasons(members_of(enumeration));
  if (!reasons) return nullptr;
  // First what may fail: the collector sees the object from its allocation on.
  auto specializations = std::make_unique<std::vector<std::shared_ptr<Specialization>>>();
  auto workspaces = std::make_unique<Workspaces>();
  auto scratch = std::make_unique<Arguments>();
  auto members = std::make_unique<std::vector<Arguments>>();
  auto states = std::make_unique<std::vector<Shared<StateGuards>>>();
  auto rival = std::make_unique<Rival>();
  auto departures = std::make_unique<std::vector<std::pair<size_t, size_t>>>();
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (!object) return nullptr;
  SpecializationCache* self = self_of(object);
  self->specializations = specializations.release();
  self->workspaces = workspaces.release();
  self->scratch = scratch.release();
  self->members = members.release();
  self->states = states.release();
  self->departures = departures.release();
  self->rival = rival.release();
  self->miss = Py_NewRef(miss);
  self->reasons = reasons.release();
  return object;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->miss);
  Py_VISIT(self_of(object)->arrange);
  Py_VISIT(self_of(object)->reasons);
  Py_VISIT(self_of(object)->hot);
  Py_VISIT(self_of(object)->taped);
  if (const int stopped = self_of(object)->rival->traverse(visit, arg)) return stopped;
  Py_VISIT(self_of(object)->token);
  for (const auto& state : *self_of(object)->states) {
    if (const int stopped = state->traverse(visit, arg)) return stopped;
  }
  for (const auto& entry : *self_of(object)->specializations) {
    Py_VISIT(entry->keeps.get());
    if (const int stopped = entry->signature->traverse(visit, arg)) return stopped;
    if (const int stopped = traverse_operands(*entry, visit, arg)) return stopped;
  }
  return 0;
}
int clear(PyObject* object) {
  SpecializationCache* self = self_of(object);
  Py_CLEAR(self->miss);
  Py_CLEAR(self->arrange);
  Py_CLEAR(self->hot);
  Py_CLEAR(self->taped);
  self->rival->set(Ref());
  Py_CLEAR(self->token);
  // Taken out first: destroying them may run Python code that calls this cache.
  const auto specializations = std::exchange(*self->specializations, {});
  const auto states = std::exchange(*self->states, {});
  return 0;
}
void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  clear(object);
  SpecializationCache* self = self_of(object);
  Py_CLEAR(self->reasons);
  delete self->specializations;
  delete self->workspaces;
  delete self->scratch;
  delete self->members;
  delete self->states;
  delete self->departures;
  delete self->rival;
  PyTypeObject* type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

// A method whose exceptions become Python's.
template <PyObject* (*method)(PyObject*, PyObject*)>
PyObject* guarded(PyObject* object, PyObject* argument) try {
  return method(object, argument);
} catch (const Unsupported& problem) {  // the compiler lacks it, and the Python side runs the function eagerly
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

template <PyObject* (*method)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)>
PyObject* guarded(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) try {
  return method(object, args, count, keywords);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyMethodDef methods[] = {
    {"add", guarded<add>, METH_O, "Compile what a CompileRequest asks for; the number of the specialization."},
    {"call", fast(guarded<call>), METH_FASTCALL, "The value."},
    {"matrix", fast(guarded<matrix>), METH_FASTCALL, "The sparse matrix of which the function gives the entries."},
    {"arrange_by", guarded<arrange_by>, METH_O, "Whom to ask for the matrices that are not made here."},
    {"present", guarded<present>, METH_VARARGS, "Make a matrix of a program's several results from now on."},
    {"backward", fast_with_keywords(guarded<backward>), METH_FASTCALL | METH_KEYWORDS,
     "The value; gradients are added to .grad."},
    {"gradients", fast_with_keywords(guarded<gradients>), METH_FASTCALL | METH_KEYWORDS,
     "The value and the gradients of the active arguments and of what else was wanted."},
    {"gradients_of_numbers", fast(guarded<gradients_of_numbers>), METH_FASTCALL,
     "The same if there is no Value among the arguments, as a program tells that fits; else None."},
    {"check", guarded<check>, METH_VARARGS, "What a program computes for a call, leaving no trace."},
    {"node", guarded<node>, METH_VARARGS, "The result of a call on the tape."},
    {"joint", guarded<joint>, METH_VARARGS,
     "The results of a call with several, which is run back when that is wanted."},
    {"capture", guarded<capture>, METH_O, "Keep what some places hold now, as a state; its number."},
    {"changed", guarded<changed>, METH_O, "The first place of a state that holds something else now, or None."},
    {"outdated", guarded<outdated>, METH_O, "Drop the specializations of a state that does not come back."},
    {"standing", guarded<standing>, METH_VARARGS, "The specialization that would answer a call, or None."},
    {"calls", guarded<calls>, METH_NOARGS, "How many calls were looked up."},
    {"dropped_hits", guarded<dropped_hits>, METH_NOARGS, "How many calls were answered by what was dropped since."},
    {"departures", guarded<departures>, METH_NOARGS, "The programs that the last call left, and at which guards."},
    {"compete", guarded<compete>, METH_O, "Taped code that may be faster than programs; None for none."},
    {"pause", guarded<pause>, METH_VARARGS,
     "Look no specialization up for so many calls, which taped code may answer."},
    {"await_comparisons", guarded<await_comparisons>, METH_VARARGS,
     "Report some of the next calls of a program as not compared."},
    {"take_comparison", guarded<take_comparison>, METH_O,
     "Count a comparison of a program that begins, if one is left."},
    {"wait_for_code", guarded<wait_for_code>, METH_VARARGS,
     "Run calls eagerly until a program has machine code, if it has more nodes than a number."},
    {"keep_first", guarded<keep_first>, METH_O,
     "Try a program before others from now on, if it has machine code; whether it has."},
    {"batch", guarded<batch>, METH_VARARGS,
     "The sum of the members' values, whose gradients are added to .grad; and which members no program stands for."},
    {"unmatched", guarded<unmatched>, METH_O, "Which members of a batch no program stands for."},
    {"map", guarded<map>, METH_VARARGS, "One result for each of many calls, where programs stand for them."},
    {"tier", guarded<tier>, METH_NOARGS, "What runs the program that was used last."},
    {"facts", guarded<facts>, METH_NOARGS, "What each program is and has done."},
    {"inventory", guarded<inventory>, METH_NOARGS, "The number, the bytes and the hits of each specialization."},
    {"listing", guarded<listing>, METH_O, "A program as plain Python."},
    {"kernel_calls", guarded<kernel_calls>, METH_VARARGS, "The bound calls of a machine."},
    {"scalar_graph", guarded<scalar_graph>, METH_VARARGS, "The graph of a program, as arrays."},
    {"install_graph", guarded<install_graph>, METH_VARARGS, "Installs machine code for a program's graph."},
    {"special_functions", guarded<special_functions>, METH_NOARGS | METH_STATIC,
     "Functions that C's library lacks, by symbol."},
    {"vector_functions", guarded<vector_functions>, METH_NOARGS, "How wide vectors are, and functions of them."},
    {"strips", guarded<strips>, METH_VARARGS, "Which calls of a machine are repeated, strip by strip."},
    {"memory", guarded<memory>, METH_VARARGS, "Where a machine's numbers are."},
    {"compare", guarded<compare>, METH_O, "Finds out which of a program's two kinds of machine code is faster."},
    {"notify_when_hot", guarded<notify_when_hot>, METH_VARARGS, "Whom to tell when a machine has run often."},
    {"fresh", guarded<fresh>, METH_NOARGS, "Whether a program has run in a new way since this was asked last."},
    {"install", guarded<install>, METH_VARARGS, "Machine code in place of a machine's calls."},
    {"profile", guarded<profile>, METH_VARARGS, "How long each call of a machine takes."},
    {"verify", guarded<verified>, METH_O, "What is wrong with a program, or nothing."},
    {"stages", guarded<stages>, METH_O, "What each pass makes of a traced function."},
    {"locate", guarded<locate>, METH_VARARGS, "The instruction that computes a node of the trace."},
    {"drop", guarded<drop>, METH_O, "Forget a program."},
    {"rest", guarded<rest>, METH_O,
     "Pack a program's graph and free its interpreter, which the next call that needs them makes again. Returns the "
     "bytes that the program still takes."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("The programs of one compiled function.")},
    {Py_tp_new, reinterpret_cast<void*>(new_cache)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {0, nullptr},
};
PyType_Spec spec = {"retrograd._native.SpecializationCache", sizeof(SpecializationCache), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

bool add_specialization_cache_type(PyObject* module) {
  Ref type(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "SpecializationCache", type.get()) == 0;
}

}  // namespace retrograd::compiler
