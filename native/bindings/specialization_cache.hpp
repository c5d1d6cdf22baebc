// The compiler as Python sees it: the type retrograd._native.SpecializationCache, the programs of one compiled
// function.
//
// Its methods are functions of Python's calling convention, by what they are for: compiling a trace
// (compile_entry.cpp), captured state (captured_state.cpp), calls (lookup.cpp and dispatch.cpp), comparing a program
// with its function (checking.cpp), matrices (matrix.cpp), batches (batches.cpp, mapping.cpp),
// the bridge to the JIT (jit_bridge.cpp), and looking inside (inspection.cpp). They may throw Unsupported and
// std::bad_alloc: the type's table of methods turns them into Python's.
#pragma once

#include "bindings/rival.hpp"
#include "compiler/run/specialization.hpp"

namespace retrograd::compiler {

// Why no specialization answered a call. Python's enumeration retrograd.compiler.reports.reasons.Reason has members of
// these names.
enum class Reason : uint8_t {
  NEW_ARGUMENTS,
  GUARD_FAILED,
  PARAMETER_DELETED,
  STATE_CHANGED,
  INSIDE_TRACE,
  BACKING_OFF,
  GRADIENTS_OFF,
  OBSERVED,
  NOT_FINITE,
  AWAITS_CODE,
  UNCOMPARED
};
constexpr const char* kReasonNames[] = {"NEW_ARGUMENTS", "GUARD_FAILED", "PARAMETER_DELETED", "STATE_CHANGED",
                                        "INSIDE_TRACE",  "BACKING_OFF",  "GRADIENTS_OFF",     "OBSERVED",
                                        "NOT_FINITE",    "AWAITS_CODE",  "UNCOMPARED"};

struct SpecializationCache {
  PyObject_HEAD std::vector<std::shared_ptr<Specialization>>* specializations;  // the one used last comes first
  PyObject* miss;     // asked, as miss(method, arguments, reason), when no specialization answers a call
  PyObject* arrange;  // asked, as arrange(what call() gives, arguments), for a matrix that this side cannot make
  PyObject* reasons;  // the members of Python's Reason, a tuple in the order of the enumeration above
  size_t made;
  Workspaces* workspaces;
  Arguments* scratch;
  std::vector<Arguments>* members;  // the same for the members of a batch
  // What the function reads besides its arguments, as specializations were traced with it; the newest comes last.
  std::vector<Shared<StateGuards>>* states;
  size_t states_made;
  uint64_t calls;         // that were looked up
  uint64_t dropped_hits;  // calls that specializations answered which have been dropped since
  uint64_t again;         // of those, that were looked up once more: there may be Values among the arguments, or the
                          // program was compared first
  uint64_t changes;       // of the list of specializations
  std::vector<std::pair<size_t, size_t>>* departures;  // of the last call: programs, and the guard that failed of each
  uint64_t pause;   // so many calls run eagerly before specializations are looked up again
  PyObject* taped;  // meanwhile this code answers (taped_code.hpp), or null
  Rival* rival;     // taped code that may be faster than the programs
  // The cache calls hot((token, number, members)) when a machine has run `threshold` times.
  PyObject *hot, *token;
  uint32_t threshold;
  uint64_t batch_runs;  // of machines, for members of batches
  bool fresh;           // there is a new program, or one has run for a new number of members
};

// What hot() gets as the number of members where code for groups of them is wanted.
constexpr uint32_t kGroup = UINT32_MAX;

inline SpecializationCache* self_of(PyObject* object) { return reinterpret_cast<SpecializationCache*>(object); }

std::shared_ptr<Specialization> find_specialization(SpecializationCache* self, size_t number);
// The one whose number a Python object is, with its program; null with an exception set.
std::shared_ptr<Specialization> specialization_numbered(PyObject* object, PyObject* number);

// As Specialization::matches, into the cache's scratch memory. Where the signature runs the user's code, that may have
// changed the cache: 0, too, if the entry is no longer in its place.
int match(SpecializationCache* self, size_t place, PyObject* const* args, Py_ssize_t count);

// Why the function itself must run, if it must: it is part of a function that is being traced, gradients are switched
// off, as rg.no_grad() does, or an observer sees every node, as in rg.detect_anomaly().
std::optional<Reason> must_run_eagerly(bool differentiates);

// The member of Python's enumeration.
PyObject* reason_of(const SpecializationCache* self, Reason reason);

// Adds the gradients of active arguments that were Values to them.
void add_to_values(const std::vector<Value*>& values, std::span<const double> gradients);

// Several results: a list of floats, or an array; null with an exception set.
Ref results_of(const Specialization& entry, std::span<const double> numbers);

// Sets the cotangents of a call, one for each result, where a gradient can be wanted: they are its last passive
// numbers. False with an exception set.
bool set_cotangents(const Specialization& entry, Arguments& arguments, PyObject* cotangents);

// They count, and tell who watches when there have been many. The callable must not enter these programs: a queue's
// `put` is meant. Python code may run: what the machine has computed must have been taken.
// Counts a run of a machine.
void count_run(SpecializationCache* self, Specialization& entry, const Machine& machine);
// Counts a call that the interpreter answered.
void count_interpreted(SpecializationCache* self, Specialization& entry);
// Asks for machine code once more.
void want_code(SpecializationCache* self, const Specialization& entry);
// Counts members of a batch that ran by nodes.
void count_in_batch(SpecializationCache* self, Specialization& entry, size_t members);

// The items of a tuple, borrowed.
std::vector<PyObject*> items_of(PyObject* tuple);

// Finds out which states hold in a batch, whose number among the calls this gives. That may run code of the user, which
// may change the list of specializations.
uint64_t check_states(SpecializationCache* self);

// Null if there is none of this number.
Shared<StateGuards> find_state(const SpecializationCache* self, size_t number);

// The forward pass of an entry for a call.
Outcome run_forward(Specialization& entry, const Arguments& arguments, Wanted wanted, bool* interpreted);

bool add_specialization_cache_type(PyObject* module);

// compile_entry.cpp
PyObject* add(PyObject* object, PyObject* args);
PyObject* drop(PyObject* object, PyObject* number);
PyObject* rest(PyObject* object, PyObject* number);
// matrix.cpp
PyObject* present(PyObject* object, PyObject* args);
PyObject* arrange_by(PyObject* object, PyObject* arrange);
// dispatch.cpp
PyObject* call(PyObject* object, PyObject* const* args, Py_ssize_t count);
PyObject* matrix(PyObject* object, PyObject* const* args, Py_ssize_t count);
PyObject* backward(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* gradients(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* gradients_of_numbers(PyObject* object, PyObject* const* args, Py_ssize_t count);
PyObject* calls(PyObject* object, PyObject*);
PyObject* dropped_hits(PyObject* object, PyObject*);
PyObject* departures(PyObject* object, PyObject*);
PyObject* pause(PyObject* object, PyObject* args);
PyObject* compete(PyObject* object, PyObject* taped);
// checking.cpp
PyObject* check(PyObject* object, PyObject* args);
PyObject* standing(PyObject* object, PyObject* args);
PyObject* await_comparisons(PyObject* object, PyObject* args);
PyObject* take_comparison(PyObject* object, PyObject* number);
PyObject* wait_for_code(PyObject* object, PyObject* args);
PyObject* keep_first(PyObject* object, PyObject* number);
// captured_state.cpp
PyObject* capture(PyObject* object, PyObject* places);
PyObject* changed(PyObject* object, PyObject* number);
PyObject* outdated(PyObject* object, PyObject* number);
// batches.cpp
PyObject* batch(PyObject* object, PyObject* args);
PyObject* unmatched(PyObject* object, PyObject* members);
// mapping.cpp
PyObject* map(PyObject* object, PyObject* args);
// jit_bridge.cpp
PyObject* kernel_calls(PyObject* object, PyObject* args);
PyObject* profile(PyObject* object, PyObject* args);
PyObject* memory(PyObject* object, PyObject* args);
PyObject* strips(PyObject* object, PyObject* args);
PyObject* scalar_graph(PyObject* object, PyObject* args);
PyObject* install_graph(PyObject* object, PyObject* args);
PyObject* vector_functions(PyObject* object, PyObject*);
PyObject* special_functions(PyObject* object, PyObject*);
PyObject* compare(PyObject* object, PyObject* number);
PyObject* notify_when_hot(PyObject* object, PyObject* args);
PyObject* fresh(PyObject* object, PyObject*);
PyObject* install(PyObject* object, PyObject* args);
// inspection.cpp
PyObject* tier(PyObject* object, PyObject*);
PyObject* facts(PyObject* object, PyObject*);
PyObject* inventory(PyObject* object, PyObject*);
PyObject* listing(PyObject* object, PyObject* number);
PyObject* verified(PyObject* object, PyObject* number);
PyObject* locate(PyObject* object, PyObject* args);
PyObject* stages(PyObject* object, PyObject* argument);

// A new bytes object of the elements of a list; null with MemoryError set.
template <class Element>
PyObject* bytes_of(const std::vector<Element>& list) {
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(list.data()),
                                   static_cast<Py_ssize_t>(list.size() * sizeof(Element)));
}
PyObject* arrays_of(const Graph& graph);

}  // namespace retrograd::compiler
