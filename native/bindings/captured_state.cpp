// Captured state: what the function reads besides its arguments, as it was when a specialization was traced.
#include <algorithm>
#include <utility>

#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {

// capture(places): see StateGuards::read; the number of the state that they hold now.
PyObject* capture(PyObject* object, PyObject* places) {
  if (!PyList_Check(places)) return PyErr_Format(PyExc_TypeError, "places are a list");
  Shared<StateGuards> state(StateGuards::read(places));
  if (!state) return nullptr;
  SpecializationCache* self = self_of(object);
  const size_t number = state->number = self->states_made++;
  // States that no specialization needs go, when the list is complete again: what they release may call this function.
  std::vector<Shared<StateGuards>> gone;
  auto& states = *self->states;
  for (auto& one : states) {
    if (one.use_count() == 1) gone.push_back(std::move(one));
  }
  std::erase(states, nullptr);
  states.push_back(std::move(state));
  return PyLong_FromSize_t(number);
}

// outdated(state): drops the specializations of a state that has changed, unless what changed is a number or a text,
// which may come back: other specializations would keep what the user has replaced.
PyObject* outdated(PyObject* object, PyObject* number) {
  SpecializationCache* self = self_of(object);
  const Shared<StateGuards> state = find_state(self, PyLong_AsSize_t(number));
  if (!state) return PyErr_Occurred() ? nullptr : Py_NewRef(Py_None);
  const std::optional<size_t> place = state->changed();
  if (!place || state->held_scalar(*place)) Py_RETURN_NONE;
  std::vector<std::shared_ptr<Specialization>> gone;  // destroying them may run Python code that calls this cache
  auto& specializations = *self->specializations;
  for (auto& entry : specializations) {
    if (entry->state != state) continue;
    self->dropped_hits += entry->hits;
    gone.push_back(std::move(entry));
  }
  std::erase(specializations, nullptr);
  ++self->changes;
  Py_RETURN_NONE;
}

// changed(state): the first of its places that holds something else now, None if there is none.
PyObject* changed(PyObject* object, PyObject* number) {
  const Shared<StateGuards> state = find_state(self_of(object), PyLong_AsSize_t(number));
  if (!state) return PyErr_Occurred() ? nullptr : PyErr_Format(PyExc_IndexError, "there is no such state");
  const std::optional<size_t> place = state->changed();
  return place ? PyLong_FromSize_t(*place) : Py_NewRef(Py_None);
}

}  // namespace retrograd::compiler
