// Batches: members that a program stands for run together, forward and back, in any order.
//
// Many members, or long ones, run without the GIL, on as many threads as are wanted (BatchRun); what they give is put
// where others can see it when no more of the batch will run so. Short ones run at once.
//
// A batch is all or nothing: where a member is left that no program stands for, or Python raises, the gradients are
// put back to what they were.
#include <algorithm>
#include <utility>

#include "bindings/members.hpp"
#include "bindings/new_list.hpp"
#include "bindings/without_gil.hpp"
#include "compiler/run/batch_run.hpp"

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

// Members that ran without the GIL: what they gave is not where others can see it yet.
struct LongRun {
  std::unique_ptr<BatchRun> run;
  std::vector<uint32_t> members;
};

class Batch {
 public:
  // Without a seed, members run forward only; without threads, on this one.
  Batch(SpecializationCache* programs, std::optional<double> seed, size_t threads)
      : programs_(programs), seed_(seed), threads_(threads), members_(programs) {}

  // False with an exception set.
  bool read(PyObject* list) {
    if (!members_.read(list, "backward_batch")) return false;
    for (auto* numbers : {&left_, &done_, &fitting_, &together_}) numbers->reserve(members_.size());
    for (uint32_t i = 0; i < members_.size(); ++i) left_.push_back(i);
    values_.resize(members_.size());
    return true;
  }

  // Runs what fits. False with an exception set, and nothing changed.
  bool run() try {
    bool good = true;
    call_ = check_states(programs_);
    // A copy: the user's code, which takes registered containers apart, may change the cache.
    for (const auto& entry : std::vector(*programs_->specializations)) {
      if (!good || left_.empty()) break;
      good = run_entry(entry);
    }
    if (good) finish_long_runs();
    if (!good || !left_.empty()) snapshot_.restore();
    return good;
  } catch (const std::bad_alloc&) {
    snapshot_.restore();
    throw;
  }

  PyObject* left() const {
    NewList list;
    for (const uint32_t member : left_) list.add(PyLong_FromUnsignedLong(member));
    return list.release();
  }
  double sum() const {
    double sum = 0.0;
    for (const double value : values_) sum += value;
    return sum;
  }

  // When all is done.
  void finish() { runs_.count(programs_, used_); }

 private:
  bool run_entry(const std::shared_ptr<Specialization>& shared) {
    Specialization& entry = *shared;
    if (!entry.is_for(false, false) || !entry.state->hold_in(call_) || entry.invalid()) return true;
    fitting_.clear();
    for (const uint32_t member : left_) {
      const int fit = members_.match(entry, member);
      if (fit < 0) return false;
      if (fit == 1) fitting_.push_back(member);
    }
    if (fitting_.empty()) return true;
    if (entry.may_settle()) entry.settle(members_.arguments(fitting_[0]));
    if (!begun_ && BatchRun::pays(entry, fitting_.size(), threads_)) {
      run_long(shared);
      return true;
    }
    finish_long_runs();
    begun_ = true;
    if (entry.runs_nodes_in_batches()) {
      interpret(entry, fitting_);
      count_in_batch(programs_, entry, fitting_.size());
    } else {
      const size_t most = entry.largest_batch();
      for (size_t i = 0; i < fitting_.size(); i += most) {
        const auto first = fitting_.begin() + static_cast<std::ptrdiff_t>(i);
        together_.assign(first, first + static_cast<std::ptrdiff_t>(std::min(most, fitting_.size() - i)));
        run_together(entry);
      }
    }
    note_done(entry);
    return true;
  }

  void note_done(Specialization& entry) {
    std::sort(done_.begin(), done_.end());
    std::erase_if(left_, [&](uint32_t member) { return std::binary_search(done_.begin(), done_.end(), member); });
    if (!done_.empty()) used_.push_back(&entry);
    done_.clear();
  }

  // Runs the members that fit on threads, and keeps what they give. Other threads may run Python meanwhile.
  void run_long(const std::shared_ptr<Specialization>& entry) {
    std::vector<const Arguments*> arguments;
    for (const uint32_t member : fitting_) {
      arguments.push_back(&members_.arguments(member));
      for (Value* value : members_.arguments(member).values) kept_.push_back(Ref::borrow(as_object(value)));
    }
    LongRun one{std::make_unique<BatchRun>(entry, std::move(arguments), seed_, threads_), fitting_};
    BatchRun& run = *one.run;
    without_gil([&] { run.run(); });
    std::vector<uint32_t> left;
    size_t i = 0;
    for (const uint32_t member : left_) {
      const bool fits = i < fitting_.size() && fitting_[i] == member;
      const bool broken = fits && run.outcome(i) == Outcome::GUARD;
      if (!fits || broken) left.push_back(member);
      entry->broken_guards += broken;
      i += fits;
    }
    left_ = std::move(left);
    long_runs_.push_back(std::move(one));
  }

  // Takes what long runs gave.
  void finish_long_runs() {
    const std::vector<LongRun> long_runs = std::exchange(long_runs_, {});
    for (const LongRun& one : long_runs) {
      Specialization& entry = one.run->entry();
      std::vector<uint32_t> done, exceptional;  // by their numbers in the run, and in the batch
      for (uint32_t i = 0; i < one.members.size(); ++i) {
        if (one.run->outcome(i) == Outcome::DONE) done.push_back(i);
        if (one.run->outcome(i) == Outcome::EXCEPTIONAL) exceptional.push_back(one.members[i]);
      }
      left_.insert(left_.end(), exceptional.begin(), exceptional.end());
      if (entry.invalid()) {  // another thread has freed a parameter
        for (const uint32_t i : done) left_.push_back(one.members[i]);
        continue;
      }
      if (long_runs.size() > 1 || !left_.empty()) keep_gradients(entry);
      if (seed_) one.run->add_gradients_out();
      for (const uint32_t i : done) {
        const std::span<const double> owed = one.run->input_gradients(i);
        owed_.assign(owed.begin(), owed.end());
        take(entry, one.members[i], one.run->value(i));
        if (entry.uses_interpreter()) count_interpreted(programs_, entry);
      }
      for (const uint32_t members : one.run->runs()) runs_.note(entry, members, true);
      programs_->batch_runs += one.run->runs().size();
      entry.exceptional += !exceptional.empty() && !entry.uses_interpreter();
      if (entry.runs_nodes_in_batches()) count_in_batch(programs_, entry, done.size());
      interpret(entry, exceptional);
      note_done(entry);
    }
    std::sort(left_.begin(), left_.end());
  }

  // Runs those members of together_ whose guards hold, in one run of a machine.
  void run_together(Specialization& entry) {
    Machine* machine = nullptr;
    for (Outcome outcome = Outcome::GUARD; outcome != Outcome::DONE;) {
      if (together_.empty()) return;
      machine = &entry.machine(static_cast<uint32_t>(together_.size()));
      machine->enter();
      for (uint32_t m = 0; m < together_.size(); ++m) entry.give(*machine, m, members_.arguments(together_[m]));
      std::vector<uint32_t> broken;
      outcome = machine->forward(entry.guards, seed_ ? Wanted::GRADIENTS : Wanted::VALUE, &broken);
      if (outcome == Outcome::EXCEPTIONAL) {
        ++entry.exceptional;
        return interpret(entry, together_);
      }
      entry.broken_guards += broken.size();
      for (size_t b = broken.size(); b-- > 0;) together_.erase(together_.begin() + broken[b]);
    }
    ++programs_->batch_runs;
    if (!machine->has_code()) runs_.note(entry, machine->batch_size(), false);
    if (const std::optional<double> seed = seed_) {
      note(entry, together_.size());
      machine->backward(*seed, GradientDestination::BUFFERS);
    }
    for (uint32_t m = 0; m < together_.size(); ++m) {
      owed_.resize(members_.arguments(together_[m]).active.size());
      if (seed_ && !owed_.empty()) machine->input_gradients(m, owed_.data());
      take(entry, together_[m], machine->root(m, 0));
    }
  }

  // Member by member, as the tape would: forward, and back at once, the last one first.
  void interpret(Specialization& entry, const std::vector<uint32_t>& members) {
    for (size_t m = members.size(); m-- > 0;) {
      const Arguments& arguments = members_.arguments(members[m]);
      if (entry.run_graph(arguments) != Outcome::DONE) continue;
      owed_.resize(arguments.active.size());
      if (const std::optional<double> seed = seed_) {
        note(entry, 1);
        entry.runner.backward(*seed, GradientDestination::BUFFERS);
        entry.runner.input_gradients(owed_.data());
      }
      take(entry, members[m], entry.runner.root(0));
      if (entry.uses_interpreter()) count_interpreted(programs_, entry);
    }
  }

  // Before the gradients of so many members are added, keeps what is there, if anything can fail afterwards.
  void note(const Specialization& entry, size_t members) {
    if (done_.size() + members != left_.size()) keep_gradients(entry);
  }
  void keep_gradients(const Specialization& entry) {
    for (const auto& buffer : entry.buffers) snapshot_.note(buffer);
  }

  // A member is done; what its arguments are owed is in owed_.
  void take(Specialization& entry, uint32_t member, double value) {
    ++entry.hits;
    values_[member] = value;
    done_.push_back(member);
    if (!seed_) return;
    const std::vector<Value*>& values = members_.arguments(member).values;
    for (Value* leaf : values) {
      if (leaf) snapshot_.note(leaf);
    }
    add_to_values(values, owed_);
  }

  SpecializationCache* programs_;
  std::optional<double> seed_;
  size_t threads_;
  bool begun_ = false;  // gradients have changed, so nothing may run without the GIL
  uint64_t call_ = 0;   // the number of this batch among the calls
  Members members_;
  std::vector<double> values_;                       // of each member
  std::vector<uint32_t> left_;                       // members
  std::vector<uint32_t> fitting_, together_, done_;  // those of the entry that is at work
  std::vector<const Specialization*> used_;
  BatchRuns runs_;
  std::vector<LongRun> long_runs_;
  std::vector<Ref> kept_;  // Values among the arguments of long runs, since others may change the lists that hold them
  BatchSnapshot snapshot_;
  std::vector<double> owed_;
};

}  // namespace

void BatchRuns::count(SpecializationCache* cache, const std::vector<const Specialization*>& used) try {
  auto& specializations = *cache->specializations;
  std::stable_partition(specializations.begin(), specializations.end(), [&](const auto& entry) {
    return std::find(used.begin(), used.end(), entry.get()) != used.end();
  });
  for (const auto& [number, members, by_twin] : std::exchange(runs_, {})) {
    Specialization* entry = find_specialization(cache, number).get();
    Machine* machine = entry ? entry->existing(members) : nullptr;
    if (!machine || (by_twin && machine->has_code())) continue;
    if (by_twin) machine->count_twin();
    count_run(cache, *entry, *machine);
  }
} catch (const std::bad_alloc&) {
  return;  // what was swept stays: they are found, and counted, another time
}

// batch(members, seed, threads): the sum of the members' values, seed times the gradient of each of them having been
// added to .grad; and the numbers of the members that no program stands for: if there are any, nothing was added. 0
// threads are this one alone. A Reason where the members must be run eagerly: in a trace, and where gradients are
// switched off.
PyObject* batch(PyObject* object, PyObject* args) {
  PyObject* members;
  double seed;
  unsigned int threads;
  if (!PyArg_ParseTuple(args, "O!dI:batch", &PyList_Type, &members, &seed, &threads)) return nullptr;
  if (const auto reason = must_run_eagerly(true)) return reason_of(self_of(object), *reason);
  Batch batch(self_of(object), seed, threads);
  if (!batch.read(members) || !batch.run()) return nullptr;
  const double sum = batch.sum();
  Ref left(batch.left());
  batch.finish();
  return left ? Py_BuildValue("(dO)", sum, left.get()) : nullptr;
}

// unmatched(members): the numbers of the members of a batch that no program stands for.
PyObject* unmatched(PyObject* object, PyObject* members) {
  if (!PyList_Check(members)) return PyErr_Format(PyExc_TypeError, "the members of a batch are a list");
  Batch batch(self_of(object), std::nullopt, 0);
  if (!batch.read(members) || !batch.run()) return nullptr;
  return batch.left();
}

}  // namespace retrograd::compiler
