// Calls: from arguments to the program that stands for them, forward, and back.
#include <algorithm>

#include "bindings/joint_call.hpp"
#include "bindings/matrix.hpp"
#include "bindings/specialization_cache.hpp"
#include "bindings/without_gil.hpp"
#include "compiler/run/twin.hpp"
#include "trees/arrays.hpp"

namespace retrograd::compiler {
namespace {

// What one call found: an entry whose forward pass is done.
struct Found {
  Specialization* entry = nullptr;
  bool interpreted = false;
  bool swept = false;                     // gradients are wanted, which the pass found together with the value
  bool deferred = false;                  // gradients are wanted later: see deferred_call.hpp
  Reason reason = Reason::NEW_ARGUMENTS;  // why there is none
  bool failed = false;                    // an exception is set
  bool fits = false;                      // the arguments are like those of some entry
  Divergence divergence;                  // of the last program that was tried, where a guard failed
  LeasedTwin twin;                        // what ran a long pass, back too if gradients were wanted
  struct Own {
    Arguments arguments;
    std::vector<Ref> held;  // the Values among them
  };
  std::unique_ptr<Own> own;  // of a long pass; the arguments of a short one are in the scratch memory
};

// The gradients of one call's arguments, which a sweep writes. They are on the stack if they are few.
class Gradients {
 public:
  explicit Gradients(size_t count)
      : many_(count > kFew ? std::make_unique_for_overwrite<double[]>(count) : nullptr),
        all_(many_ ? many_.get() : few_, count) {}
  Gradients(const Gradients&) = delete;
  Gradients& operator=(const Gradients&) = delete;
  std::span<double> all() { return all_; }

 private:
  static constexpr size_t kFew = 64;
  double few_[kFew];
  std::unique_ptr<double[]> many_;
  std::span<double> all_;
};

// The arguments of the call that was found.
const Arguments& arguments_of(const SpecializationCache* self, const Found& found) {
  return found.twin ? found.own->arguments : *self->scratch;
}

// Runs found.own's arguments on the twin, forward and, if gradients are wanted, back, while other threads run.
Outcome run_long(Found& found, const std::shared_ptr<Specialization>& entry, Wanted wanted, double seed = 1.0) {
  Arguments& arguments = found.own->arguments;
  found.own->held.clear();
  for (Value* value : arguments.values) found.own->held.push_back(Ref::borrow(as_object(value)));
  found.twin = twin_for_call(entry);
  Outcome outcome = Outcome::EXCEPTIONAL;
  without_gil([&] {
    outcome = found.twin->forward(arguments, wanted);
    if (outcome == Outcome::DONE && wanted == Wanted::GRADIENTS) found.twin->backward(seed);
  });
  return outcome;
}

}  // namespace

Outcome run_forward(Specialization& entry, const Arguments& arguments, Wanted wanted, bool* interpreted) {
  Outcome outcome = Outcome::EXCEPTIONAL;
  *interpreted = entry.runs_nodes();
  if (!*interpreted) {
    Machine& machine = *entry.single;
    machine.enter();
    entry.give(machine, 0, arguments);
    outcome = machine.forward(entry.guards, wanted);
    if (outcome != Outcome::EXCEPTIONAL) return outcome;
    ++entry.exceptional;
    *interpreted = true;
  }
  return entry.run_graph(arguments);
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

// A specialization of which a guard failed, and where.
using Departure = std::pair<std::shared_ptr<const Specialization>, Divergence>;

// Runs a long pass of the i-th entry for what is in the scratch memory. Other threads may have changed everything when
// it is done: `i` follows the entry, and there is no outcome if that is gone.
std::optional<Outcome> run_long(SpecializationCache* self, Found& found, size_t& i, Wanted wanted) {
  const std::shared_ptr<Specialization> entry = (*self->specializations)[i];
  found.own = std::make_unique<Found::Own>();
  std::swap(found.own->arguments, *self->scratch);
  const bool compiled = !entry->runs_nodes();
  Outcome outcome = run_long(found, entry, wanted);
  const auto& list = *self->specializations;
  i = static_cast<size_t>(std::find(list.begin(), list.end(), entry) - list.begin());
  if (i == list.size() || entry->invalid()) {
    found.twin.reset();
    return std::nullopt;
  }
  found.interpreted = !compiled;
  if (outcome == Outcome::GUARD) found.divergence = found.twin->divergence();
  if (outcome == Outcome::EXCEPTIONAL && compiled) {
    ++entry->exceptional;
    found.interpreted = true;
    std::swap(found.own->arguments, *self->scratch);
    outcome = entry->run_graph(*self->scratch);
    if (outcome == Outcome::GUARD) found.divergence = entry->divergence(true);
    found.twin.reset();
  } else if (outcome != Outcome::DONE) {
    found.twin.reset();
  }
  return outcome;
}

double value_of(const Found& found) {
  if (found.twin) return found.twin->root(0);
  return found.interpreted ? found.entry->runner.root(0) : found.entry->single->root(0, 0);
}

// Where the several results of a call are.
std::span<const double* const> results_in(const Found& found) {
  if (found.twin) return found.twin->results();
  return found.interpreted ? found.entry->runner.results() : found.entry->single->results();
}

// Whether the function is to be asked what it gives for this call, before the program answers it.
bool must_be_compared(const SpecializationCache* self, const Found& found) {
  Specialization& entry = *found.entry;
  if (!entry.comparisons.look(entry.hits) || entry.has_graph_code()) return false;  // which rounds otherwise
  const Arguments& arguments = arguments_of(self, found);
  Digest digest;
  for (const double number : arguments.passive) digest.add(number);
  for (const double number : arguments.active) digest.add(number);
  for (const int32_t index : arguments.indices) digest.add(index);
  digest.add(value_of(found));
  if (entry.has_several_results()) {
    for (const double* result : results_in(found)) digest.add(*result);
  }
  return entry.comparisons.are_due(entry.hits, digest.get());
}

// A program that is tried first so often in vain is so no longer.
constexpr size_t kMostInVain = 16;

// A comparison came out otherwise than in a program.
void count_broken_guard(Specialization& entry) {
  ++entry.broken_guards;
  if (entry.comes_first && ++entry.in_vain >= kMostInVain) entry.comes_first = false;
}

// Begins with the entry that has answered, or with those that are tried before it.
void move_up(std::vector<std::shared_ptr<Specialization>>& specializations, size_t i) {
  specializations[i]->in_vain = 0;
  size_t first = 0;
  while (!specializations[i]->comes_first && first < i && specializations[first]->comes_first) ++first;
  const auto begin = specializations.begin();
  std::rotate(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(i),
              begin + static_cast<std::ptrdiff_t>(i) + 1);
}

// The entry that stands for a call; its forward pass is done. `plain_call`: it asks for no gradients.
// `numbers`: only one of arguments that have no Values.
Found find(SpecializationCache* self, bool differentiate_first, bool differentiates, PyObject* const* args,
           Py_ssize_t count, bool plain_call = false, bool numbers = false) {
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
  self->departures->clear();
  auto& specializations = *self->specializations;
  const uint64_t fingerprint = fingerprint_of(args, count);
  const auto likely = std::find_if(specializations.begin(), specializations.end(), [&](const auto& entry) {
    return entry->fingerprint == fingerprint && entry->differentiate_first == differentiate_first;
  });
  if (likely != specializations.end()) std::rotate(specializations.begin(), likely, likely + 1);
  std::vector<Departure> departures;         // each took a forward pass
  const Specialization* read = nullptr;      // of which the scratch memory has the numbers
  std::shared_ptr<Specialization> awaiting;  // without which the function itself answers
  for (size_t i = 0; i < specializations.size(); ++i) {
    Specialization& entry = *specializations[i];
    if (!entry.is_for(differentiate_first, plain_call) || (awaiting && !entry.has_code())) continue;
    if (numbers && !entry.signature->has_no_values()) continue;
    if (!std::all_of(departures.begin(), departures.end(),
                     [&](const Departure& one) { return entry.may_continue(*one.first, one.second); })) {
      continue;
    }
    if (entry.invalid()) {
      found.reason = Reason::PARAMETER_DELETED;
      const auto gone = std::move(specializations[i]);  // what it lets go of may come back here
      specializations.erase(specializations.begin() + static_cast<std::ptrdiff_t>(i--));
      self->dropped_hits += gone->hits;
      ++self->changes;
      read = nullptr;
      continue;
    }
    const bool is_read = read && self->calls == call && entry.reads_as(*read);
    self->scratch->reads_results = plain_call;
    const int fit = is_read ? entry.accepts(*self->scratch) : match(self, i, args, count);
    if (!is_read) read = entry.signature->runs_python() || fit < 1 ? nullptr : &entry;
    if (fit < 0) {
      found.failed = true;
      return found;
    }
    if (fit == 0) continue;
    found.fits = true;
    const uint64_t changes = self->changes;
    const Shared<StateGuards> state = entry.state;  // the check may run code that drops the specialization
    const bool holds = state->hold_in(call);
    if (!holds || self->changes != changes) found.reason = Reason::STATE_CHANGED;
    if (self->changes != changes) return found;
    if (!holds) continue;
    if (entry.awaits_code()) {
      if (!awaiting) awaiting = specializations[i];
      continue;
    }
    found.deferred = plain_call && differentiates && may_defer(entry, *self->scratch);
    const bool sweeps = (differentiates || differentiate_first) && !entry.has_several_results() && !found.deferred;
    const Wanted wanted = sweeps ? Wanted::GRADIENTS : Wanted::VALUE;
    Outcome outcome;
    if (entry.is_due()) entry.settle(*self->scratch);
    found.swept = sweeps;
    entry.contest.begin();
    if (entry.must_be_plain(*self->scratch)) {
      outcome = Outcome::EXCEPTIONAL;
    } else if (is_long(entry)) {
      const std::optional<Outcome> done = run_long(self, found, i, wanted);
      if (!done) {
        found.reason = Reason::STATE_CHANGED;
        return found;
      }
      outcome = *done;
      read = nullptr;
    } else {
      outcome = run_forward(entry, *self->scratch, wanted, &found.interpreted);
      if (outcome == Outcome::GUARD) found.divergence = entry.divergence(found.interpreted);
    }
    if (outcome == Outcome::GUARD) {
      count_broken_guard(entry);
      departures.emplace_back(specializations[i], found.divergence);
      self->departures->emplace_back(entry.number, found.divergence.broken);
      found.reason = Reason::GUARD_FAILED;
      continue;
    }
    if (outcome == Outcome::EXCEPTIONAL) {
      found.reason = Reason::NOT_FINITE;
      return found;
    }
    found.entry = &entry;
    if (must_be_compared(self, found)) {
      ++self->again;
      found.entry = nullptr;
      found.reason = Reason::UNCOMPARED;
      return found;
    }
    ++entry.hits;
    entry.fingerprint = fingerprint;
    move_up(specializations, i);
    return found;
  }
  if (awaiting) {
    ++awaiting->hits;
    count_interpreted(self, *awaiting);
    found.reason = Reason::AWAITS_CODE;
  }
  return found;
}

Ref tuple_of(PyObject* const* args, Py_ssize_t count) {
  Ref tuple(PyTuple_New(count));
  for (Py_ssize_t i = 0; tuple && i < count; ++i) PyTuple_SetItem(tuple.get(), i, Py_NewRef(args[i]));
  return tuple;
}

PyObject* call_miss(SpecializationCache* self, const char* kind, PyObject* const* args, Py_ssize_t count,
                    const Found& found) {
  if (found.failed) return nullptr;
  const Ref tuple = tuple_of(args, count);
  Ref miss = Ref::borrow(self->miss);
  Ref reason(reason_of(self, found.reason));
  return tuple && reason ? PyObject_CallFunction(miss.get(), "sOO", kind, tuple.get(), reason.get()) : nullptr;
}

// Counts a run whose results have been taken.
void count_answer(SpecializationCache* self, const Found& found) {
  const bool whole = found.swept || found.entry->gives_numbers();
  if (whole && found.interpreted == found.entry->runs_nodes()) found.entry->contest.end();
  if (found.twin && !found.interpreted) found.entry->single->count_twin();
  if (!found.interpreted) return count_run(self, *found.entry, *found.entry->single);
  if (found.entry->uses_interpreter()) count_interpreted(self, *found.entry);
}

// Runs what was found back, with the gradients of the active arguments in `gradients`.
void sweep(const Found& found, GradientDestination target, std::span<double> gradients, double seed = 1.0) {
  if (found.twin) {  // has been back
    if (target == GradientDestination::BUFFERS) found.twin->add_gradients_out();
    if (!gradients.empty()) found.twin->input_gradients(gradients.data());
    return;
  }
  if (found.interpreted) {
    GraphRunner& runner = found.entry->runner;
    runner.backward(seed, target);
    if (!gradients.empty()) runner.input_gradients(gradients.data());
    return;
  }
  Machine& machine = *found.entry->single;
  machine.backward(seed, target);
  if (!gradients.empty()) machine.input_gradients(0, gradients.data());
}

// After a sweep into the workspace.
double gradient_of(const Found& found, uint32_t leaf) {
  if (found.twin) return found.twin->leaf_gradient(leaf);
  if (found.interpreted) return found.entry->runner.leaf_gradient(leaf);
  const LeafLocation& place = found.entry->leaves.locations[leaf];
  return found.entry->single->parameter_gradient(place.buffer, place.offset);
}

}  // namespace

void add_to_values(const std::vector<Value*>& values, std::span<const double> gradients) {
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

Ref results_of(const Specialization& entry, std::span<const double> numbers) {
  if (entry.as_array) {
    double* to;
    Ref array(trees::blank_array(numbers.size(), to));
    if (array) std::copy(numbers.begin(), numbers.end(), to);
    return array;
  }
  Ref list(PyList_New(static_cast<Py_ssize_t>(numbers.size())));
  for (size_t i = 0; list && i < numbers.size(); ++i) {
    PyObject* number = PyFloat_FromDouble(numbers[i]);
    if (!number) return Ref();
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), number);
  }
  return list;
}

namespace {

// What the result of a call depends on, and its derivative with respect to each.
std::vector<std::pair<Value*, double>> slopes_of(const Arguments& arguments, const Found& found) {
  const Specialization& entry = *found.entry;
  std::vector<double> numbers(arguments.active.size());
  sweep(found, GradientDestination::WORKSPACE, numbers);
  std::vector<std::pair<Value*, double>> pairs;
  for (size_t i = 0; i < numbers.size() && i < arguments.values.size(); ++i) {
    if (arguments.values[i]) pairs.emplace_back(arguments.values[i], numbers[i]);
  }
  for (uint32_t i = 0; i < entry.leaves.locations.size(); ++i) {
    if (entry.leaves.locations[i].kind != RegionKind::PARAMETER) continue;
    pairs.emplace_back(entry.graph.leaves()[i], gradient_of(found, i));
  }
  return pairs;
}

// The same call, to be run again.
Replay replay_of(SpecializationCache* self, const Found& found) {
  // Copied first: a collection of garbage may run code that calls the function, which uses the scratch memory.
  Arguments arguments = arguments_of(self, found);
  const auto place = std::find_if(self->specializations->begin(), self->specializations->end(),
                                  [&](const auto& one) { return one.get() == found.entry; });
  return {*place, Ref::borrow(reinterpret_cast<PyObject*>(self)), std::move(arguments)};
}

// The results of a call.
Ref outputs_of(const Found& found) {
  const std::span<const double* const> places = results_in(found);
  std::vector<double> numbers(places.size());
  std::transform(places.begin(), places.end(), numbers.begin(), [](const double* place) { return *place; });
  return results_of(*found.entry, numbers);
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

namespace {

// What call() gives for what was found.
PyObject* answer(SpecializationCache* self, const Found& found, bool records) {
  const auto number = static_cast<Py_ssize_t>(found.entry->number);
  if (found.entry->has_several_results()) {
    const Ref results = outputs_of(found);
    const bool depends = records && found.entry->connected;
    const Ref dependencies = depends ? joint_capsule(replay_of(self, found)) : Ref::borrow(Py_None);
    if (!results || !dependencies) return nullptr;
    count_answer(self, found);
    return Py_BuildValue("(nOO)", number, results.get(), dependencies.get());
  }
  const double result = value_of(found);
  const Ref dependencies(!records         ? Py_NewRef(Py_None)
                         : found.deferred ? deferral(replay_of(self, found)).release()
                                          : slopes_capsule(slopes_of(arguments_of(self, found), found)).release());
  if (!dependencies) return nullptr;
  count_answer(self, found);
  return Py_BuildValue("(ndO)", number, result, dependencies.get());
}

// What arrange() makes of that, if there is anything.
PyObject* arranged(SpecializationCache* self, const Ref& answered, PyObject* const* args, Py_ssize_t count) {
  if (!answered) return nullptr;
  const Ref arguments = tuple_of(args, count), arrange = Ref::borrow(self->arrange);
  return arguments ? PyObject_CallFunctionObjArgs(arrange.get(), answered.get(), arguments.get(), nullptr) : nullptr;
}

}  // namespace

// call(*arguments): (number of the specialization, value, capsule for node()), with None for the last where nothing is
// recorded; else what the miss callback returns. Several results are a list or an array, with a capsule for
// joint().
PyObject* call(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  SpecializationCache* self = self_of(object);
  const Tape* tape = this_tape();
  if (!tape) return nullptr;
  const bool records = tape->recording;
  const Found found = find(self, false, records, args, count, true);
  return found.entry ? answer(self, found, records) : call_miss(self, "call", args, count, found);
}

// matrix(*arguments): the matrix that present() has said how to make of the results, or that arrange() makes.
PyObject* matrix(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  SpecializationCache* self = self_of(object);
  const Tape* tape = this_tape();
  if (!tape) return nullptr;
  if (tracing()) return arranged(self, Ref::borrow(Py_None), args, count);
  const bool records = tape->recording;
  const Found found = find(self, false, records, args, count, true);
  if (!found.entry) return arranged(self, Ref(call_miss(self, "call", args, count, found)), args, count);
  const std::shared_ptr<const Matrix> made = found.entry->matrix;  // held: a collection of garbage may drop the entry
  if (!made) return arranged(self, Ref(answer(self, found, records)), args, count);
  const Ref numbers = made->numbers(results_in(found));
  if (!numbers) return nullptr;
  count_answer(self, found);
  return made->filled(numbers).release();
}

// Runs the program of a call once more, with gradients. Whether the pass is done.
bool run_again(const Replay& call, Found& found, double seed = 1.0) {
  Specialization& entry = *call.entry;
  found.entry = &entry;
  if (!is_long(entry)) {
    return run_forward(entry, call.arguments, Wanted::GRADIENTS, &found.interpreted) == Outcome::DONE;
  }
  found.own = std::make_unique<Found::Own>(call.arguments);
  return run_long(found, call.entry, Wanted::GRADIENTS, seed) == Outcome::DONE && !entry.invalid();
}

bool add_gradients(const Replay& call, double seed) {
  Found found;
  call.entry->contest.begin();
  if (!run_again(call, found, seed)) return false;
  sweep(found, GradientDestination::BUFFERS, {}, seed);
  if (found.interpreted == call.entry->runs_nodes()) call.entry->contest.end();
  return true;
}

bool find_slopes(const Replay& call, std::vector<double>& slopes) {
  Found found;
  if (!run_again(call, found)) return false;
  for (const auto& [value, slope] : slopes_of(call.arguments, found)) slopes.push_back(slope);
  return true;
}

bool run_back(Replay& call, std::span<const double> cotangents, std::vector<std::pair<Value*, double>>& slopes) {
  const size_t count = call.entry->cotangents();
  std::copy_n(cotangents.begin(), count, call.arguments.passive.end() - static_cast<std::ptrdiff_t>(count));
  Found found;
  if (!run_again(call, found)) return false;
  slopes = slopes_of(call.arguments, found);
  return true;
}

PyObject* backward(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  SpecializationCache* self = self_of(object);
  if (keywords && PyTuple_Size(keywords) > 0) return call_with_keywords(self, "backward", args, count, keywords);
  const Found found = find(self, false, true, args, count);
  if (!found.entry) return call_miss(self, "backward", args, count, found);
  const Arguments& arguments = arguments_of(self, found);
  Gradients gradients(arguments.active.size());
  Ref result(PyFloat_FromDouble(value_of(found)));
  if (!result) return nullptr;  // before any gradient is touched
  sweep(found, GradientDestination::BUFFERS, gradients.all());
  add_to_values(arguments.values, gradients.all());
  count_answer(self, found);
  return result.release();
}

namespace {

// The value and the gradients of what was found.
PyObject* gradients_of(SpecializationCache* self, const Found& found) {
  const Specialization& entry = *found.entry;
  Gradients of_inputs(arguments_of(self, found).active.size());
  const std::span<double> numbers = of_inputs.all();
  const double value = value_of(found);
  sweep(found, GradientDestination::WORKSPACE, numbers);
  const auto of_leaf = [&](uint32_t leaf) { return leaf == kNoLeaf ? 0.0 : gradient_of(found, leaf); };
  std::vector<double> ordered;
  if (!entry.wants_inputs) {
    ordered.reserve(entry.gradients.size());
    for (const auto& [source, index] : entry.gradients) {
      ordered.push_back(source == WantedGradient::INPUT ? numbers[index] : of_leaf(index));
    }
  }
  const Shared<Signature> signature = entry.signature;  // what is built may run the user's code
  count_answer(self, found);
  Ref tree = signature->collect_first(entry.wants_inputs ? numbers.data() : ordered.data());
  Ref number(tree ? PyFloat_FromDouble(value) : nullptr);
  Ref result(number ? PyTuple_New(2) : nullptr);
  if (!result) return nullptr;
  PyTuple_SetItem(result.get(), 0, number.release());
  PyTuple_SetItem(result.get(), 1, tree.release());
  return result.release();
}

}  // namespace

PyObject* gradients(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  SpecializationCache* self = self_of(object);
  if (keywords && PyTuple_Size(keywords) > 0) return call_with_keywords(self, "value_and_grad", args, count, keywords);
  const Found found = find(self, true, false, args, count);
  return found.entry ? gradients_of(self, found) : call_miss(self, "gradients", args, count, found);
}

// gradients_of_numbers(*arguments): the same where a program tells that there is no Value among the arguments, which
// are like those that it was traced with; else None.
PyObject* gradients_of_numbers(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  SpecializationCache* self = self_of(object);
  if (self->pause > 0) Py_RETURN_NONE;
  const Found found = find(self, true, false, args, count, false, true);
  if (found.entry) return gradients_of(self, found);
  if (found.failed || found.fits) return call_miss(self, "gradients", args, count, found);
  if (found.reason == Reason::NEW_ARGUMENTS) ++self->again;
  Py_RETURN_NONE;
}

// calls(): each counts once.
PyObject* calls(PyObject* object, PyObject*) {
  return PyLong_FromUnsignedLongLong(self_of(object)->calls - self_of(object)->again);
}

// dropped_hits(): how many calls specializations have answered that were dropped since.
PyObject* dropped_hits(PyObject* object, PyObject*) {
  return PyLong_FromUnsignedLongLong(self_of(object)->dropped_hits);
}

// departures(): of the last call that was looked up, the programs that it left, and by the number of which guard.
PyObject* departures(PyObject* object, PyObject*) {
  const auto& found = *self_of(object)->departures;
  Ref list(PyList_New(static_cast<Py_ssize_t>(found.size())));
  for (size_t i = 0; list && i < found.size(); ++i) {
    PyObject* pair =
        Py_BuildValue("(nn)", static_cast<Py_ssize_t>(found[i].first), static_cast<Py_ssize_t>(found[i].second));
    if (!pair) return nullptr;
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), pair);
  }
  return list.release();
}

// pause(calls): so many calls run eagerly before specializations are looked up again.
PyObject* pause(PyObject* object, PyObject* calls) {
  const unsigned long long number = PyLong_AsUnsignedLongLong(calls);
  if (PyErr_Occurred()) return nullptr;
  self_of(object)->pause = number;
  Py_RETURN_NONE;
}

}  // namespace retrograd::compiler
