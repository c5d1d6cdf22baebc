// Calls: from arguments to the program that stands for them, forward, and back.
#include <algorithm>

#include "bindings/joint_call.hpp"
#include "bindings/lookup.hpp"
#include "bindings/matrix.hpp"
#include "bindings/new_list.hpp"
#include "bindings/taped_code.hpp"
#include "bindings/without_gil.hpp"
#include "trees/arrays.hpp"
#include "trees/in_place.hpp"

namespace retrograd::compiler {
namespace {

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
  if (found.tied) {
    if (found.entry->ties.found()) want_code(self, *found.entry);
    return;
  }
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
  return Ref(trees::list_of_floats(numbers.data(), numbers.size()));
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
  Arguments arguments = arguments_of(self, found).copy();
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
  found.own = std::make_unique<Found::Own>(call.arguments.copy());
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

namespace {

// What taped code gives that is faster than the programs; nothing where one of these must answer.
Ref by_rival(SpecializationCache* self, Called called, PyObject* const* args, Py_ssize_t count) {
  if (!self->rival->leads() || must_run_eagerly(called == Called::BACKWARD)) return Ref();
  const Ref code = Ref::borrow(self->rival->code());
  self->rival->count();
  if (!is_due(code.get())) return answer_by(code.get(), called, args, count);
  Found found;  // Python compares it with the function
  found.reason = Reason::BACKING_OFF;
  return Ref(call_miss(self, called == Called::GRADIENTS ? "gradients" : "backward", args, count, found));
}

// What taped code gives while no program is looked up.
Ref meanwhile(SpecializationCache* self, const Found& found, Called called, PyObject* const* args, Py_ssize_t count) {
  if (found.reason != Reason::BACKING_OFF || !self->taped) return Ref();
  const Ref taped = Ref::borrow(self->taped);
  return answer_by(taped.get(), called, args, count);
}

// Adds the gradients of what was found. The value.
Ref run_back(SpecializationCache* self, const Found& found) {
  const Arguments& arguments = arguments_of(self, found);
  Gradients gradients(arguments.active.size());
  Ref result(PyFloat_FromDouble(value_of(found)));
  if (!result) return result;  // before any gradient is touched
  sweep(found, GradientDestination::BUFFERS, gradients.all());
  add_to_values(arguments.values, gradients.all());
  count_answer(self, found);
  return result;
}

}  // namespace

PyObject* backward(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  SpecializationCache* self = self_of(object);
  if (keywords && PyTuple_Size(keywords) > 0) return call_with_keywords(self, "backward", args, count, keywords);
  if (Ref answer = by_rival(self, Called::BACKWARD, args, count); answer || PyErr_Occurred()) return answer.release();
  const bool is_timed = self->pause == 0 && self->rival->begin();
  const Found found = find(self, false, true, args, count);
  if (found.entry) {
    Ref answer = run_back(self, found);
    if (answer && is_timed) self->rival->end(Called::BACKWARD, args, count);
    return answer.release();
  }
  Ref answer = meanwhile(self, found, Called::BACKWARD, args, count);
  if (answer || PyErr_Occurred()) return answer.release();
  return call_miss(self, "backward", args, count, found);
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
  const double* first = entry.wants_inputs ? numbers.data() : ordered.data();
  Ref tree = signature->collect_first(first, arguments_of(self, found));
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
  if (Ref answer = by_rival(self, Called::GRADIENTS, args, count); answer || PyErr_Occurred()) return answer.release();
  const bool is_timed = self->pause == 0 && self->rival->begin();
  const Found found = find(self, true, false, args, count);
  if (found.entry) {
    Ref answer(gradients_of(self, found));
    if (answer && is_timed) self->rival->end(Called::GRADIENTS, args, count);
    return answer.release();
  }
  Ref answer = meanwhile(self, found, Called::GRADIENTS, args, count);
  if (answer || PyErr_Occurred()) return answer.release();
  return call_miss(self, "gradients", args, count, found);
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
  NewList list;
  for (const auto& [number, guard] : *self_of(object)->departures) {
    list.add(Py_BuildValue("(nn)", static_cast<Py_ssize_t>(number), static_cast<Py_ssize_t>(guard)));
  }
  return list.release();
}

// compete(taped): code that may be faster than the programs; None for none.
PyObject* compete(PyObject* object, PyObject* taped) {
  if (taped != Py_None && !is_taped_code(taped)) return PyErr_Format(PyExc_TypeError, "compete() takes a TapedCode");
  self_of(object)->rival->set(taped == Py_None ? Ref() : Ref::borrow(taped));
  Py_RETURN_NONE;
}

// pause(calls, taped=None): so many calls run eagerly, or in taped code, before specializations are looked up again.
PyObject* pause(PyObject* object, PyObject* args) {
  unsigned long long number;
  PyObject* taped = Py_None;
  if (!PyArg_ParseTuple(args, "K|O:pause", &number, &taped)) return nullptr;
  if (taped != Py_None && !is_taped_code(taped)) return PyErr_Format(PyExc_TypeError, "pause() takes a TapedCode");
  SpecializationCache* self = self_of(object);
  self->pause = number;
  const Ref before(std::exchange(self->taped, taped == Py_None ? nullptr : Py_NewRef(taped)));
  Py_RETURN_NONE;
}

}  // namespace retrograd::compiler
