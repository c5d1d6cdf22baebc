// Calls: from arguments to the program that stands for them, forward, and back.
#include <algorithm>

#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {
namespace {

// What one call found: an entry whose forward pass is done.
struct Found {
  Specialization* entry = nullptr;
  bool interpreted = false;
  Reason reason = Reason::NEW_ARGUMENTS;  // why there is none
  bool failed = false;                    // an exception is set
};

}  // namespace

Outcome run_forward(Specialization& entry, const Arguments& arguments, Wanted wanted, bool* interpreted) {
  Outcome outcome = Outcome::EXCEPTIONAL;
  *interpreted = entry.uses_interpreter() || entry.has_graph_code();
  if (!*interpreted) {
    Machine& machine = *entry.single;
    machine.enter();
    entry.give(machine, 0, arguments);
    outcome = machine.forward(entry.guards, wanted);
    if (outcome != Outcome::EXCEPTIONAL) return outcome;
    ++entry.exceptional;
    *interpreted = true;
  }
  return entry.interpret_forward(arguments);
}

namespace {

// What tells most calls apart at a glance: the types of the arguments, and how long the lists among them are.
uint64_t fingerprint_of(PyObject* const* args, Py_ssize_t count) {
  uint64_t fingerprint = static_cast<uint64_t>(count);
  const auto mix = [&](uint64_t part) { fingerprint = (fingerprint ^ part) * 0x9e3779b97f4a7c15; };
  for (Py_ssize_t i = 0; i < count; ++i) {
    mix(reinterpret_cast<uintptr_t>(Py_TYPE(args[i])));
    if (PyList_CheckExact(args[i])) mix(static_cast<uint64_t>(PyList_Size(args[i])));
  }
  return fingerprint;
}

// So many specializations are tried at most whose guards fail, each of which takes a forward pass.
constexpr int kMostFailures = 8;

// The entry that stands for a call; its forward pass is done.
Found find(SpecializationCache* self, bool differentiate_first, bool differentiates, PyObject* const* args,
           Py_ssize_t count) {
  Found found;
  if (tracing()) {  // an outer function is being traced, and this one is part of it
    found.reason = Reason::INSIDE_TRACE;
    return found;
  }
  if (const auto reason = must_run_eagerly(differentiates)) {
    found.reason = *reason;
    return found;
  }
  if (self->pause > 0) {
    --self->pause;
    found.reason = Reason::BACKING_OFF;
    return found;
  }
  const uint64_t call = ++self->calls;
  auto& specializations = *self->specializations;
  const uint64_t fingerprint = fingerprint_of(args, count);
  const auto likely = std::find_if(specializations.begin(), specializations.end(), [&](const auto& entry) {
    return entry->fingerprint == fingerprint && entry->differentiate_first == differentiate_first;
  });
  if (likely != specializations.end()) std::rotate(specializations.begin(), likely, likely + 1);
  const Wanted wanted = differentiates || differentiate_first ? Wanted::GRADIENTS : Wanted::VALUE;
  int failed = 0;  // specializations that fit, and of which a guard failed
  for (size_t i = 0; i < specializations.size() && failed < kMostFailures; ++i) {
    Specialization& entry = *specializations[i];
    if (entry.differentiate_first != differentiate_first) continue;
    if (entry.invalid()) {
      found.reason = Reason::PARAMETER_DELETED;
      const auto gone = std::move(specializations[i]);  // what it lets go of may come back here
      specializations.erase(specializations.begin() + static_cast<std::ptrdiff_t>(i--));
      ++self->changes;
      continue;
    }
    const int fit = match(self, i, args, count);
    if (fit < 0) {
      found.failed = true;
      return found;
    }
    if (fit == 0) continue;
    const uint64_t changes = self->changes;
    const std::shared_ptr<StateGuards> state = entry.state;  // the check may run code that drops the specialization
    const bool holds = state->hold_in(call);
    if (!holds || self->changes != changes) found.reason = Reason::STATE_CHANGED;
    if (self->changes != changes) return found;
    if (!holds) continue;
    const Outcome outcome = run_forward(entry, *self->scratch, wanted, &found.interpreted);
    if (outcome == Outcome::GUARD) {
      ++entry.broken_guards;
      ++failed;
      found.reason = Reason::GUARD_FAILED;
      continue;
    }
    if (outcome == Outcome::EXCEPTIONAL) {
      found.reason = Reason::NOT_FINITE;
      return found;
    }
    ++entry.hits;
    entry.fingerprint = fingerprint;
    found.entry = &entry;
    if (i > 0)
      std::rotate(specializations.begin(), specializations.begin() + static_cast<std::ptrdiff_t>(i),
                  specializations.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return found;
  }
  return found;
}

PyObject* call_miss(SpecializationCache* self, const char* kind, PyObject* const* args, Py_ssize_t count,
                    const Found& found) {
  if (found.failed) return nullptr;
  Ref tuple(PyTuple_New(count));
  for (Py_ssize_t i = 0; tuple && i < count; ++i) PyTuple_SetItem(tuple.get(), i, Py_NewRef(args[i]));
  Ref miss = Ref::borrow(self->miss);
  Ref reason(reason_of(self, found.reason));
  return tuple && reason ? PyObject_CallFunction(miss.get(), "sOO", kind, tuple.get(), reason.get()) : nullptr;
}

// Counts a run whose results have been taken.
void count_answer(SpecializationCache* self, const Found& found) {
  if (!found.interpreted) return count_run(self, *found.entry, *found.entry->single);
  if (found.entry->uses_interpreter()) count_interpreted(self, *found.entry);
}

double value_of(const Found& found) {
  return found.interpreted ? found.entry->interpreter->root(0) : found.entry->single->root(0, 0);
}

// Runs what was found back, with the gradients of the active arguments in `gradients`.
void sweep(const Found& found, GradientDestination target, std::vector<double>& gradients) {
  if (found.interpreted) {
    Interpreter& interpreter = *found.entry->interpreter;
    interpreter.backward(1.0, target);
    interpreter.input_gradients(gradients.data());
    return;
  }
  Machine& machine = *found.entry->single;
  machine.backward(1.0, target);
  if (!gradients.empty()) machine.input_gradients(0, gradients.data());
}

}  // namespace

void add_to_values(const std::vector<Value*>& values, const std::vector<double>& gradients) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    const BufferSlot place = find_buffer(values[i]);
    if (place.buffer && place.buffer->dirty()) {
      place.buffer->gradients()[place.index] += gradients[i];
    } else {
      values[i]->grad += gradients[i];
    }
  }
}

namespace {

// What the result of a call depends on, and its derivative with respect to each: two tuples.
Ref dependencies_of(const SpecializationCache* self, const Found& found) {
  const Specialization& entry = *found.entry;
  const Arguments& arguments = *self->scratch;
  std::vector<double> numbers(arguments.active.size());
  sweep(found, GradientDestination::WORKSPACE, numbers);
  std::vector<std::pair<Value*, double>> pairs;
  for (size_t i = 0; i < numbers.size() && i < arguments.values.size(); ++i) {
    if (arguments.values[i]) pairs.emplace_back(arguments.values[i], numbers[i]);
  }
  for (size_t i = 0; i < entry.leaves.locations.size(); ++i) {
    const LeafLocation& place = entry.leaves.locations[i];
    if (place.kind != RegionKind::PARAMETER) continue;
    const double slope = found.interpreted ? entry.interpreter->leaf_gradient(i)
                                           : entry.single->parameter_gradient(place.buffer, place.offset);
    pairs.emplace_back(entry.graph.leaves[i], slope);
  }
  const auto size = static_cast<Py_ssize_t>(pairs.size());
  Ref values(PyTuple_New(size)), slopes(PyTuple_New(size));
  for (Py_ssize_t i = 0; values && slopes && i < size; ++i) {
    const auto& [value, number] = pairs[static_cast<size_t>(i)];
    PyObject* slope = PyFloat_FromDouble(number);
    if (!slope) return Ref();
    PyTuple_SetItem(values.get(), i, Py_NewRef(as_object(value)));
    PyTuple_SetItem(slopes.get(), i, slope);
  }
  return values && slopes ? Ref(PyTuple_Pack(2, values.get(), slopes.get())) : Ref();
}

// A call with keyword arguments: Python's half gives them their places.
PyObject* call_with_keywords(SpecializationCache* self, const char* kind, PyObject* const* args, Py_ssize_t count,
                             PyObject* keywords) {
  Ref positional(PyTuple_New(count)), named(PyDict_New());
  if (!positional || !named) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; i < PyTuple_Size(keywords); ++i) {
    if (PyDict_SetItem(named.get(), PyTuple_GetItem(keywords, i), args[count + i]) < 0) return nullptr;
  }
  Ref miss = Ref::borrow(self->miss);
  return PyObject_CallFunction(miss.get(), "s(OO)O", kind, positional.get(), named.get(), Py_None);
}

}  // namespace

// call(*arguments): (number of the specialization, value, (Values, slopes)), with None for the last where nothing is
// recorded; else what the miss callback returns.
PyObject* call(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  SpecializationCache* self = self_of(object);
  const Tape* tape = this_tape();
  if (!tape) return nullptr;
  const bool records = tape->recording;
  const Found found = find(self, false, records, args, count);
  if (!found.entry) return call_miss(self, "call", args, count, found);
  const double result = value_of(found);
  const auto number = static_cast<Py_ssize_t>(found.entry->number);
  Ref dependencies(records ? dependencies_of(self, found).release() : Py_NewRef(Py_None));
  if (!dependencies) return nullptr;
  count_answer(self, found);
  return Py_BuildValue("(ndO)", number, result, dependencies.get());
}

PyObject* backward(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  SpecializationCache* self = self_of(object);
  if (keywords && PyTuple_Size(keywords) > 0) return call_with_keywords(self, "backward", args, count, keywords);
  const Found found = find(self, false, true, args, count);
  if (!found.entry) return call_miss(self, "backward", args, count, found);
  std::vector<double> gradients(self->scratch->active.size());
  Ref result(PyFloat_FromDouble(value_of(found)));
  if (!result) return nullptr;  // before any gradient is touched
  sweep(found, GradientDestination::BUFFERS, gradients);
  add_to_values(self->scratch->values, gradients);
  count_answer(self, found);
  return result.release();
}

PyObject* gradients(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  SpecializationCache* self = self_of(object);
  const Found found = find(self, true, false, args, count);
  if (!found.entry) return call_miss(self, "gradients", args, count, found);
  const Specialization& entry = *found.entry;
  std::vector<double> numbers(self->scratch->active.size());
  const double result = value_of(found);
  sweep(found, GradientDestination::WORKSPACE, numbers);
  const auto of_leaf = [&](uint32_t leaf) {
    if (leaf == kNoLeaf) return 0.0;
    if (found.interpreted) return entry.interpreter->leaf_gradient(leaf);
    const LeafLocation& place = entry.leaves.locations[leaf];
    return entry.single->parameter_gradient(place.buffer, place.offset);
  };
  std::vector<double> ordered;
  if (!entry.wants_inputs) {
    ordered.reserve(entry.gradients.size());
    for (const auto& [source, index] : entry.gradients) {
      ordered.push_back(source == WantedGradient::INPUT ? numbers[index] : of_leaf(index));
    }
  }
  const std::shared_ptr<Signature> signature = entry.signature;  // what is built may run the user's code
  count_answer(self, found);
  const Ref tree = signature->collect_first((entry.wants_inputs ? numbers : ordered).data());
  return tree ? Py_BuildValue("(dO)", result, tree.get()) : nullptr;
}

// check(entry, arguments): what the entry computes for a call, (value, gradient of each leaf of its graph), leaving no
// trace; None when the call is exceptional, False when the entry does not stand for it.
PyObject* check(PyObject* object, PyObject* args) {
  size_t number;
  PyObject* tuple;
  if (!PyArg_ParseTuple(args, "nO!:check", &number, &PyTuple_Type, &tuple)) return nullptr;
  SpecializationCache* self = self_of(object);
  const std::vector<PyObject*> items = items_of(tuple);
  for (size_t at = 0; at < self->specializations->size(); ++at) {
    const std::shared_ptr<Specialization> entry = (*self->specializations)[at];
    if (entry->number != number) continue;
    const int fit = match(self, at, items.data(), static_cast<Py_ssize_t>(items.size()));
    if (fit < 0) return nullptr;
    bool interpreted;
    const Outcome outcome = fit ? run_forward(*entry, *self->scratch, Wanted::VALUE, &interpreted) : Outcome::GUARD;
    if (outcome == Outcome::GUARD) Py_RETURN_FALSE;
    if (outcome == Outcome::EXCEPTIONAL) Py_RETURN_NONE;
    std::vector<double> leaves(entry->graph.leaves.size()), inputs(entry->leaves.active_inputs);
    double result;
    if (!interpreted) {  // once more, so that what it leaves behind shows
      entry->single->backward(1.0, GradientDestination::WORKSPACE);
      entry->single->forward(entry->guards, Wanted::GRADIENTS);
    }
    if (interpreted) {
      entry->interpreter->backward(1.0, GradientDestination::WORKSPACE);
      result = entry->interpreter->root(0);
      for (size_t i = 0; i < leaves.size(); ++i) leaves[i] = entry->interpreter->leaf_gradient(i);
    } else {
      Machine& machine = *entry->single;
      machine.backward(1.0, GradientDestination::WORKSPACE);
      result = machine.root(0, 0);
      machine.input_gradients(0, inputs.data());
      for (size_t i = 0; i < leaves.size(); ++i) {
        const LeafLocation& place = entry->leaves.locations[i];
        leaves[i] = place.kind == RegionKind::PARAMETER ? machine.parameter_gradient(place.buffer, place.offset)
                    : place.active                      ? inputs[place.offset]
                                                        : 0.0;
      }
    }
    Ref list(PyList_New(0));
    for (size_t i = 0; list && i < leaves.size(); ++i) {
      const LeafLocation& place = entry->leaves.locations[i];
      if (place.kind == RegionKind::INPUT && !place.active) continue;
      Ref pair(Py_BuildValue("(Od)", as_object(entry->graph.leaves[i]), leaves[i]));
      if (!pair || PyList_Append(list.get(), pair.get()) < 0) return nullptr;
    }
    return list ? Py_BuildValue("(dO)", result, list.get()) : nullptr;
  }
  Py_RETURN_NONE;
}

// standing(differentiate_first, arguments): the number of the specialization that would answer a call, or None. The
// forward pass runs, and nothing else changes.
PyObject* standing(PyObject* object, PyObject* args) {
  int differentiate_first;
  PyObject* tuple;
  if (!PyArg_ParseTuple(args, "pO!:standing", &differentiate_first, &PyTuple_Type, &tuple)) return nullptr;
  SpecializationCache* self = self_of(object);
  const std::vector<PyObject*> items = items_of(tuple);
  const uint64_t call = ++self->calls, changes = self->changes;
  for (const auto& entry : *self->specializations) {
    if (entry->differentiate_first != (differentiate_first == 1) || entry->invalid()) continue;
    const int fit = entry->matches(items.data(), static_cast<Py_ssize_t>(items.size()), *self->scratch);
    if (fit < 0) return nullptr;
    if (fit == 0) continue;
    const std::shared_ptr<StateGuards> state = entry->state;
    const bool holds = state->hold_in(call);
    if (self->changes != changes) break;
    bool interpreted;
    if (holds && run_forward(*entry, *self->scratch, Wanted::VALUE, &interpreted) == Outcome::DONE) {
      return PyLong_FromSize_t(entry->number);
    }
  }
  Py_RETURN_NONE;
}

PyObject* calls(PyObject* object, PyObject*) { return PyLong_FromUnsignedLongLong(self_of(object)->calls); }

// pause(calls): so many calls run eagerly before specializations are looked up again.
PyObject* pause(PyObject* object, PyObject* calls) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(calls);
  if (PyErr_Occurred()) return nullptr;
  self_of(object)->pause = number;
  Py_RETURN_NONE;
}

}  // namespace retrograd::compiler
