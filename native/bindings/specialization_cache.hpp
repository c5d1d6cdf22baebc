// The compiler as Python sees it: the type retrograd._native.SpecializationCache, the programs of one compiled
// function.
//
// Its methods are functions of Python's calling convention, by what they are for: compiling a trace
// (compile_entry.cpp), calls (dispatch.cpp), invalidation (invalidation.cpp), batches (batches.cpp), the bridge to the
// JIT (jit_bridge.cpp), and looking inside (inspection.cpp). They may throw Unsupported and std::bad_alloc: the type's
// table of methods turns them into Python's.
#pragma once

#include "compiler/guards/dependency_guards.hpp"
#include "compiler/run/specialization.hpp"

namespace retrograd::compiler {

// Why no specialization answered a call. Python's enumeration retrograd.compiler.reasons.Reason has members of these
// names.
enum class Reason : uint8_t {
  NEW_ARGUMENTS,
  GUARD_FAILED,
  PARAMETER_DELETED,
  STATE_CHANGED,
  SUSPECT,
  INSIDE_TRACE,
  GRADIENTS_OFF,
  OBSERVED,
  NOT_FINITE
};
constexpr const char* kReasonNames[] = {"NEW_ARGUMENTS", "GUARD_FAILED", "PARAMETER_DELETED",
                                        "STATE_CHANGED", "SUSPECT",      "INSIDE_TRACE",
                                        "GRADIENTS_OFF", "OBSERVED",     "NOT_FINITE"};

struct SpecializationCache {
  PyObject_HEAD std::vector<std::unique_ptr<Specialization>>* specializations;  // the one used last comes first
  PyObject* miss;     // asked, as miss(method, arguments, reason), when no specialization answers a call
  PyObject* reasons;  // the members of Python's Reason, a tuple in the order of the enumeration above
  size_t made;
  Workspaces* workspaces;
  Arguments* scratch;
  std::vector<Arguments>* members;  // the same for the members of a batch
  DependencyGuards* dependencies;   // what the function can reach; null before that is known
  // Replaced guards that are still being checked; they are freed when no check is running.
  std::vector<std::unique_ptr<DependencyGuards>>* retired;
  // The cache calls hot((token, number, members)) when a machine has run `threshold` times.
  PyObject *hot, *token;
  uint32_t threshold;
  uint64_t batch_runs;  // of machines, for members of batches
  bool fresh;           // there is a new program, or one has run for a new number of members
};

inline SpecializationCache* self_of(PyObject* object) { return reinterpret_cast<SpecializationCache*>(object); }

Specialization* find_specialization(SpecializationCache* self, size_t number);
// The one whose number a Python object is; null with an exception set.
Specialization* specialization_numbered(PyObject* object, PyObject* number);

// Why the function itself must run, if it must: gradients are switched off, as rg.no_grad() does, or an observer
// sees every node, as in rg.detect_anomaly().
std::optional<Reason> must_run_eagerly(bool differentiates);

// The member of Python's enumeration.
PyObject* reason_of(const SpecializationCache* self, Reason reason);

// Adds the gradients of active arguments that were Values to them.
void add_to_values(const std::vector<Value*>& values, const std::vector<double>& gradients);

// Counts a run, and tells who watches when there have been many. The callable must not enter these programs: a queue's
// `put` is meant. Python code may run: what the machine has computed must have been taken.
void count_run(SpecializationCache* self, Specialization& entry, const Machine& machine);

// The items of a tuple, borrowed.
std::vector<PyObject*> items_of(PyObject* tuple);

// Whether what the function can reach is, as far as one call looks, what it was when it was traced.
inline bool dependencies_hold(const SpecializationCache* self) {
  return !self->dependencies || self->dependencies->check();
}

// A program has answered a call, or a member of a batch.
inline void count_hit(const SpecializationCache* self, Specialization& entry) {
  ++entry.hits;
  if (self->dependencies) entry.last_hit_round = self->dependencies->rounds();
}

// The forward pass of an entry for a call.
Outcome run_forward(Specialization& entry, const Arguments& arguments, Wanted wanted, bool* interpreted);

bool add_specialization_cache_type(PyObject* module);

// compile_entry.cpp
PyObject* add(PyObject* object, PyObject* args);
PyObject* drop(PyObject* object, PyObject* number);
// dispatch.cpp
PyObject* call(PyObject* object, PyObject* const* args, Py_ssize_t count);
PyObject* backward(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* gradients(PyObject* object, PyObject* const* args, Py_ssize_t count);
PyObject* check(PyObject* object, PyObject* args);
// invalidation.cpp
PyObject* capture(PyObject* object, PyObject* places);
PyObject* changed(PyObject* object, PyObject*);
PyObject* newer(PyObject* object, PyObject* leaves);
PyObject* invalidate(PyObject* object, PyObject* late);
PyObject* suspects(PyObject* object, PyObject* args);
PyObject* revalidate(PyObject* object, PyObject* args);
// batches.cpp
PyObject* batch(PyObject* object, PyObject* args);
PyObject* unmatched(PyObject* object, PyObject* members);
// jit_bridge.cpp
PyObject* kernel_calls(PyObject* object, PyObject* args);
PyObject* profile(PyObject* object, PyObject* args);
PyObject* memory(PyObject* object, PyObject* args);
PyObject* strips(PyObject* object, PyObject* args);
PyObject* notify_when_hot(PyObject* object, PyObject* args);
PyObject* fresh(PyObject* object, PyObject*);
PyObject* install(PyObject* object, PyObject* args);
// inspection.cpp
PyObject* tier(PyObject* object, PyObject*);
PyObject* facts(PyObject* object, PyObject*);
PyObject* listing(PyObject* object, PyObject* number);
PyObject* verified(PyObject* object, PyObject* number);
PyObject* locate(PyObject* object, PyObject* args);

}  // namespace retrograd::compiler
