// What a program computes for a call, so that it can be compared with the function, and which program that would be. No
// gradient changes, and nothing is counted. And which programs wait for machine code, or are tried first.
#include <algorithm>

#include "bindings/new_list.hpp"
#include "bindings/specialization_cache.hpp"
#include "tape/arena.hpp"

namespace retrograd::compiler {

bool set_cotangents(const Specialization& entry, Arguments& arguments, PyObject* cotangents) {
  const size_t results = entry.outputs.size(), count = entry.cotangents();
  if (PyList_Size(cotangents) != static_cast<Py_ssize_t>(results) || arguments.passive.size() < count) {
    PyErr_SetString(PyExc_ValueError, "a program needs one cotangent for each of several results");
    return false;
  }
  double* last = arguments.passive.data() + arguments.passive.size() - count;
  for (size_t i = 0; i < count; ++i) {
    last[i] = PyFloat_AsDouble(PyList_GetItem(cotangents, static_cast<Py_ssize_t>(i)));
  }
  return !PyErr_Occurred();
}

// check(entry, arguments, cotangents, by_nodes): what the entry computes for a call, (value, gradient of each leaf of
// its graph, several results), leaving no trace; None when the call is exceptional, False when the entry does not stand
// for it. `by_nodes`: node by node, as the engine would round, though there be a program.
PyObject* check(PyObject* object, PyObject* args) {
  size_t number;
  PyObject *tuple, *cotangents;
  int by_nodes;
  if (!PyArg_ParseTuple(args, "nO!O!p:check", &number, &PyTuple_Type, &tuple, &PyList_Type, &cotangents, &by_nodes)) {
    return nullptr;
  }
  SpecializationCache* self = self_of(object);
  trim_arena();
  const std::vector<PyObject*> items = items_of(tuple);
  for (size_t at = 0; at < self->specializations->size(); ++at) {
    const std::shared_ptr<Specialization> entry = (*self->specializations)[at];
    if (entry->number != number) continue;
    if (entry->invalid()) Py_RETURN_FALSE;
    self->scratch->reads_results = true;  // as the program's own call did
    const int fit = match(self, at, items.data(), static_cast<Py_ssize_t>(items.size()));
    if (fit < 0) return nullptr;
    if (fit && !set_cotangents(*entry, *self->scratch, cotangents)) return nullptr;
    bool interpreted = true;
    const Outcome outcome = !fit       ? Outcome::GUARD
                            : by_nodes ? entry->run_graph(*self->scratch)
                                       : run_forward(*entry, *self->scratch, Wanted::VALUE, &interpreted);
    if (outcome == Outcome::GUARD) Py_RETURN_FALSE;
    if (outcome == Outcome::EXCEPTIONAL) Py_RETURN_NONE;
    if (!interpreted) {  // once more, so that what it leaves behind shows
      entry->single->backward(1.0, GradientDestination::WORKSPACE);
      entry->single->forward(entry->guards, Wanted::GRADIENTS);
      entry->single->backward(1.0, GradientDestination::WORKSPACE);
    } else {
      entry->runner.backward(1.0, GradientDestination::WORKSPACE);
    }
    const Results found = entry->results(interpreted);
    NewList gradients;
    for (size_t i = 0; i < found.gradients.size(); ++i) {
      const LeafLocation& place = entry->leaves.locations[i];
      if (place.kind == RegionKind::INPUT && !place.active) continue;
      gradients.add(Py_BuildValue("(Od)", as_object(entry->graph.leaves()[i]), found.gradients[i]));
    }
    Ref results = results_of(*entry, found.outputs);
    if (by_nodes && !entry->uses_interpreter()) {  // calls do not need it
      entry->runner.rest();
      if (entry->graph.size() >= kNotKept) entry->rest();
    }
    return Py_BuildValue("(dNN)", found.value, gradients.release(), results.release());
  }
  Py_RETURN_NONE;
}

// standing(differentiate_first, plain_call, arguments): the number of the specialization that would answer a call, or
// None. The forward pass runs, and nothing else changes.
PyObject* standing(PyObject* object, PyObject* args) {
  int differentiate_first, plain_call;
  PyObject* tuple;
  if (!PyArg_ParseTuple(args, "ppO!:standing", &differentiate_first, &plain_call, &PyTuple_Type, &tuple)) {
    return nullptr;
  }
  SpecializationCache* self = self_of(object);
  const std::vector<PyObject*> items = items_of(tuple);
  const uint64_t call = ++self->calls, changes = self->changes;
  for (const auto& entry : *self->specializations) {
    if (!entry->is_for(differentiate_first == 1, plain_call == 1) || entry->invalid()) continue;
    self->scratch->reads_results = plain_call == 1;
    const int fit = entry->matches(items.data(), static_cast<Py_ssize_t>(items.size()), *self->scratch);
    if (fit < 0) return nullptr;
    if (fit == 0) continue;
    const Shared<StateGuards> state = entry->state;
    const bool holds = state->hold_in(call);
    if (self->changes != changes) break;
    bool interpreted;
    if (holds && run_forward(*entry, *self->scratch, Wanted::VALUE, &interpreted) == Outcome::DONE) {
      return PyLong_FromSize_t(entry->number);
    }
  }
  Py_RETURN_NONE;
}

// await_comparisons(number, times): so many later calls of a program are reported as UNCOMPARED.
PyObject* await_comparisons(PyObject* object, PyObject* args) {
  size_t number, times;
  if (!PyArg_ParseTuple(args, "nn:await_comparisons", &number, &times)) return nullptr;
  const std::shared_ptr<Specialization> entry = find_specialization(self_of(object), number);
  if (entry) entry->comparisons.await(times);
  Py_RETURN_NONE;
}

// take_comparison(number): counts one that begins. Whether one was left.
PyObject* take_comparison(PyObject* object, PyObject* number) {
  const std::shared_ptr<Specialization> entry = find_specialization(self_of(object), PyLong_AsSize_t(number));
  return PyErr_Occurred() ? nullptr : PyBool_FromLong(entry && entry->comparisons.take());
}

// wait_for_code(number, nodes): calls run eagerly until a program has machine code, if it has more nodes than these.
PyObject* wait_for_code(PyObject* object, PyObject* args) {
  size_t number, nodes;
  if (!PyArg_ParseTuple(args, "nn:wait_for_code", &number, &nodes)) return nullptr;
  const std::shared_ptr<Specialization> entry = find_specialization(self_of(object), number);
  if (entry) entry->slow_without_code = entry->graph.size() > nodes;
  Py_RETURN_NONE;
}

// keep_first(number): tries a program before others from now on, if it has machine code. Whether it has.
PyObject* keep_first(PyObject* object, PyObject* number) {
  const size_t wanted = PyLong_AsSize_t(number);
  if (wanted == static_cast<size_t>(-1) && PyErr_Occurred()) return nullptr;
  auto& specializations = *self_of(object)->specializations;
  const auto found = std::find_if(specializations.begin(), specializations.end(),
                                  [&](const auto& entry) { return entry->number == wanted; });
  if (found == specializations.end() || !(*found)->has_code()) Py_RETURN_FALSE;
  (*found)->comes_first = true;
  std::rotate(specializations.begin(), found, found + 1);
  Py_RETURN_TRUE;
}

}  // namespace retrograd::compiler
