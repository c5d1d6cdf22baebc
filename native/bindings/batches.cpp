// Batches: members that a program stands for run together, forward and back, in any order.
//
// A batch is all or nothing: where a member is left that no program stands for, or Python raises, the gradients are
// put back to what they were.
#include <algorithm>
#include <utility>

#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {
namespace {

// The gradients that are about to change, as they were.
class BatchSnapshot {
 public:
  void note(const std::shared_ptr<ParameterBuffer>& buffer) {
    const auto known =
        std::find_if(buffers_.begin(), buffers_.end(), [&](const auto& one) { return one.first == buffer; });
    if (known != buffers_.end()) return;
    buffer->take_ownership();
    std::vector<double> gradients;
    if (!buffer->zero_pending()) gradients.assign(buffer->gradients(), buffer->gradients() + buffer->size());
    buffers_.emplace_back(buffer, std::move(gradients));
  }
  void note(Value* value) {
    const BufferSlot place = find_buffer(value);
    if (place.buffer && place.buffer->dirty()) return note(place.buffer);
    values_.emplace_back(value, value->grad);
  }

  void restore() {
    for (const auto& [buffer, gradients] : buffers_) {
      buffer->take_ownership();
      if (gradients.empty()) {
        buffer->set_zero_pending();
      } else {
        std::copy(gradients.begin(), gradients.end(), buffer->new_gradients());
      }
    }
    for (size_t i = values_.size(); i-- > 0;) values_[i].first->grad = values_[i].second;
  }

 private:
  std::vector<std::pair<std::shared_ptr<ParameterBuffer>, std::vector<double>>>
      buffers_;                                    // no numbers where all were zero
  std::vector<std::pair<Value*, double>> values_;  // borrowed: the members' arguments hold them
};

class Batch {
 public:
  Batch(SpecializationCache* programs, bool sweeps, double seed)
      : programs_(programs), sweeps_(sweeps), seed_(seed), arguments_(std::exchange(*programs->members, {})) {}
  ~Batch() { *programs_->members = std::move(arguments_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // False with an exception set.
  bool read(PyObject* list) {
    const Py_ssize_t count = PyList_Size(list);
    for (auto* numbers : {&left_, &done_, &fitting_, &together_}) numbers->reserve(static_cast<size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* tuple = PyList_GetItem(list, i);
      if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError,
                        "backward_batch takes a list with a tuple of arguments for each member; write (x,) for one.");
        return false;
      }
      held_.push_back(Ref::borrow(tuple));
      left_.push_back(static_cast<uint32_t>(i));
      for (Py_ssize_t k = 0; k < PyTuple_Size(tuple); ++k) items_.push_back(PyTuple_GetItem(tuple, k));
      ends_.push_back(items_.size());
    }
    values_.resize(held_.size());
    if (arguments_.size() < held_.size()) arguments_.resize(held_.size());
    return true;
  }

  // Runs what fits. False with an exception set, and nothing changed.
  bool run() try {
    bool good = true;
    check_states();
    // A copy: the user's code, which takes registered containers apart, may change the cache.
    for (const auto& entry : std::vector(*programs_->specializations)) {
      if (!good || left_.empty()) break;
      good = run_entry(*entry);
    }
    if (!good || !left_.empty()) snapshot_.restore();
    return good;
  } catch (const std::bad_alloc&) {
    snapshot_.restore();
    throw;
  }

  PyObject* left() const {
    Ref list(PyList_New(0));
    for (const uint32_t member : left_) {
      Ref number(PyLong_FromUnsignedLong(member));
      if (!list || !number || PyList_Append(list.get(), number.get()) < 0) return nullptr;
    }
    return list.release();
  }
  double sum() const {
    double sum = 0.0;
    for (const double value : values_) sum += value;
    return sum;
  }

  // When all is done: programs that were used come first in the next search, and runs are counted.
  void finish() try {
    auto& specializations = *programs_->specializations;
    std::stable_partition(specializations.begin(), specializations.end(), [&](const auto& entry) {
      return std::find(used_.begin(), used_.end(), entry.get()) != used_.end();
    });
    const std::vector<std::pair<size_t, uint32_t>> runs = std::move(runs_);
    for (const auto& [number, members] : runs) {
      Specialization* entry = find_specialization(programs_, number);
      const Machine* machine = entry ? entry->existing(members) : nullptr;
      if (machine) count_run(programs_, *entry, *machine);
    }
  } catch (const std::bad_alloc&) {
    return;  // what was swept stays: they are found, and counted, another time
  }

 private:
  // Which states hold is found out first: that may run code of the user, which may change the list of specializations.
  void check_states() {
    call_ = ++programs_->calls;
    const std::vector<std::shared_ptr<StateGuards>> states = *programs_->states;
    for (const auto& state : states) state->hold_in(call_);
  }

  bool run_entry(Specialization& entry) {
    if (entry.differentiate_first || entry.has_several_results() || !entry.state->hold_in(call_) || entry.invalid())
      return true;
    fitting_.clear();
    for (const uint32_t member : left_) {
      const int fit = matches(entry, member);
      if (fit < 0) return false;
      if (fit == 1) fitting_.push_back(member);
    }
    if (fitting_.empty()) return true;
    if (entry.uses_interpreter()) {
      interpret(entry, fitting_);
    } else {
      const size_t most = entry.largest_batch();
      for (size_t i = 0; i < fitting_.size(); i += most) {
        const auto first = fitting_.begin() + static_cast<std::ptrdiff_t>(i);
        together_.assign(first, first + static_cast<std::ptrdiff_t>(std::min(most, fitting_.size() - i)));
        run_together(entry);
      }
    }
    std::erase_if(left_, [&](uint32_t member) { return std::find(done_.begin(), done_.end(), member) != done_.end(); });
    if (!done_.empty()) used_.push_back(&entry);
    done_.clear();
    return true;
  }

  int matches(const Specialization& entry, uint32_t member) {
    const size_t begin = member ? ends_[member - 1] : 0;
    return entry.matches(items_.data() + begin, static_cast<Py_ssize_t>(ends_[member] - begin), arguments_[member]);
  }

  // Runs those members of together_ whose guards hold, in one run of a machine.
  void run_together(Specialization& entry) {
    Machine* machine = nullptr;
    for (Outcome outcome = Outcome::GUARD; outcome != Outcome::DONE;) {
      if (together_.empty()) return;
      machine = &entry.machine(static_cast<uint32_t>(together_.size()));
      machine->enter();
      for (uint32_t m = 0; m < together_.size(); ++m) entry.give(*machine, m, arguments_[together_[m]]);
      std::vector<uint32_t> broken;
      outcome = machine->forward(entry.guards, sweeps_ ? Wanted::GRADIENTS : Wanted::VALUE, &broken);
      if (outcome == Outcome::EXCEPTIONAL) {
        ++entry.exceptional;
        return interpret(entry, together_);
      }
      entry.broken_guards += broken.size();
      for (size_t b = broken.size(); b-- > 0;) together_.erase(together_.begin() + broken[b]);
    }
    ++programs_->batch_runs;
    if (!machine->has_code()) runs_.emplace_back(entry.number, machine->batch_size());
    if (sweeps_) {
      note(entry, together_.size());
      machine->backward(seed_, GradientDestination::BUFFERS);
    }
    for (uint32_t m = 0; m < together_.size(); ++m) {
      const std::vector<Value*>& values = arguments_[together_[m]].values;
      owed_.resize(values.size());
      if (sweeps_ && !values.empty()) machine->input_gradients(m, owed_.data());
      take(entry, together_[m], machine->root(m, 0));
    }
  }

  // Member by member, as the tape would: forward, and back at once, the last one first.
  void interpret(Specialization& entry, const std::vector<uint32_t>& members) {
    for (size_t m = members.size(); m-- > 0;) {
      const Arguments& arguments = arguments_[members[m]];
      if (entry.interpret_forward(arguments) != Outcome::DONE) continue;
      owed_.resize(arguments.values.size());
      if (sweeps_) {
        note(entry, 1);
        entry.interpreter->backward(seed_, GradientDestination::BUFFERS);
        entry.interpreter->input_gradients(owed_.data());
      }
      take(entry, members[m], entry.interpreter->root(0));
      if (entry.uses_interpreter()) count_interpreted(programs_, entry);
    }
  }

  // Before the gradients of so many members are added, keeps what is there, if anything can fail afterwards.
  void note(const Specialization& entry, size_t members) {
    if (done_.size() + members == left_.size()) return;
    for (const auto& buffer : entry.buffers) snapshot_.note(buffer);
  }

  // A member is done; what its arguments are owed is in owed_.
  void take(Specialization& entry, uint32_t member, double value) {
    ++entry.hits;
    values_[member] = value;
    done_.push_back(member);
    if (!sweeps_) return;
    const std::vector<Value*>& values = arguments_[member].values;
    for (Value* leaf : values) {
      if (leaf) snapshot_.note(leaf);
    }
    add_to_values(values, owed_);
  }

  SpecializationCache* programs_;
  bool sweeps_;
  double seed_;
  uint64_t call_ = 0;                                // the number of this batch among the calls
  std::vector<Ref> held_;                            // the members
  std::vector<PyObject*> items_;                     // their arguments, one member's after the other's
  std::vector<size_t> ends_;                         // where those of each member end
  std::vector<Arguments> arguments_;                 // the numbers of each member
  std::vector<double> values_;                       // likewise
  std::vector<uint32_t> left_;                       // members
  std::vector<uint32_t> fitting_, together_, done_;  // those of the entry that is at work
  std::vector<Specialization*> used_;
  std::vector<std::pair<size_t, uint32_t>> runs_;  // of machines: numbers of specializations, and how many members
  BatchSnapshot snapshot_;
  std::vector<double> owed_;
};

}  // namespace

// batch(members, seed): the sum of the members' values, seed times the gradient of each of them having been added to
// .grad; and the numbers of the members that no program stands for: if there are any, nothing was added. None where
// the members must be run eagerly: in a trace, and where gradients are switched off.
PyObject* batch(PyObject* object, PyObject* args) {
  PyObject* members;
  double seed;
  if (!PyArg_ParseTuple(args, "O!d:batch", &PyList_Type, &members, &seed)) return nullptr;
  if (tracing()) return reason_of(self_of(object), Reason::INSIDE_TRACE);
  if (const auto reason = must_run_eagerly(true)) return reason_of(self_of(object), *reason);
  Batch batch(self_of(object), true, seed);
  if (!batch.read(members) || !batch.run()) return nullptr;
  const double sum = batch.sum();
  Ref left(batch.left());
  batch.finish();
  return left ? Py_BuildValue("(dO)", sum, left.get()) : nullptr;
}

// unmatched(members): the numbers of the members of a batch that no program stands for.
PyObject* unmatched(PyObject* object, PyObject* members) {
  if (!PyList_Check(members)) return PyErr_Format(PyExc_TypeError, "the members of a batch are a list");
  Batch batch(self_of(object), false, 0.0);
  if (!batch.read(members) || !batch.run()) return nullptr;
  return batch.left();
}

}  // namespace retrograd::compiler
