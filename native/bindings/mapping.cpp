// One result for each of many calls: members that a program stands for run together, on as many threads as are wanted.
// No gradient changes, and members have nothing to do with each other, so that some may be left to ordinary calls.
#include <algorithm>

#include "bindings/members.hpp"
#include "bindings/new_list.hpp"
#include "bindings/without_gil.hpp"
#include "compiler/run/batch_run.hpp"

namespace retrograd::compiler {
namespace {

class Mapping {
 public:
  // With `differentiate_first`, the results are values and gradients.
  Mapping(SpecializationCache* cache, bool differentiate_first, size_t threads)
      : cache_(cache), differentiate_first_(differentiate_first), threads_(threads), members_(cache) {}

  // A list of (number of the specialization, its members, their results); null with an exception set.
  PyObject* run(PyObject* list) {
    if (!members_.read(list, "a batch")) return nullptr;
    for (uint32_t i = 0; i < members_.size(); ++i) left_.push_back(i);
    call_ = check_states(cache_);
    Ref groups(PyList_New(0));
    // A copy: the user's code, which takes registered containers apart, may change the cache.
    for (const auto& entry : std::vector(*cache_->specializations)) {
      if (!groups || left_.empty()) break;
      if (!stands(*entry)) continue;
      Ref group(run_entry(entry));
      if (!group || (group.get() != Py_None && PyList_Append(groups.get(), group.get()) < 0)) return nullptr;
    }
    if (groups) runs_.count(cache_, used_);
    return groups.release();
  }

 private:
  // Whether members may run on an entry: no Value is to be told of its result, and each number of a gradient is the
  // member's own.
  bool stands(const Specialization& entry) const {
    if (!entry.is_for(differentiate_first_, !differentiate_first_)) return false;
    if (!entry.state->hold_in(call_) || entry.invalid()) return false;
    if (!differentiate_first_) return entry.buffers.empty();
    return std::all_of(entry.gradients.begin(), entry.gradients.end(), [](const WantedGradient& wanted) {
      return wanted.source == WantedGradient::INPUT || wanted.index == kNoLeaf;
    });
  }

  // The group of an entry; None where no member fits; null with an exception set.
  PyObject* run_entry(const std::shared_ptr<Specialization>& entry) {
    std::vector<uint32_t> fitting;
    std::vector<const Arguments*> arguments;
    for (const uint32_t member : left_) {
      const int fit = members_.match(*entry, member);
      if (fit < 0) return nullptr;
      const Arguments& own = members_.arguments(member);
      if (!fit || std::any_of(own.values.begin(), own.values.end(), [](const Value* value) { return value; })) continue;
      fitting.push_back(member);
      arguments.push_back(&own);
    }
    if (fitting.empty()) return Py_NewRef(Py_None);
    if (entry->may_settle()) entry->settle(*arguments[0]);
    const bool on_threads = BatchRun::pays(*entry, fitting.size(), threads_);
    BatchRun run(entry, std::move(arguments), differentiate_first_ ? std::optional(1.0) : std::nullopt,
                 std::max<size_t>(threads_, 1));
    if (on_threads) {
      without_gil([&] { run.run(); });
    } else {
      run.run();
    }
    return entry->invalid() ? Py_NewRef(Py_None) : group_of(run, fitting);  // another thread has freed a parameter
  }

  PyObject* group_of(const BatchRun& run, const std::vector<uint32_t>& fitting) {
    Specialization& entry = run.entry();
    NewList members, results;
    std::vector<uint32_t> done;
    for (uint32_t i = 0; i < fitting.size(); ++i) {
      if (run.outcome(i) == Outcome::GUARD) ++entry.broken_guards;
      if (run.outcome(i) != Outcome::DONE) continue;
      members.add(PyLong_FromUnsignedLong(fitting[i]));
      results.add(result_of(run, i, members_.arguments(fitting[i])).release());
      if (!results.get()) return nullptr;  // building it has run the user's code
      done.push_back(fitting[i]);
    }
    if (done.empty()) return Py_NewRef(Py_None);
    std::erase_if(left_, [&](uint32_t member) { return std::binary_search(done.begin(), done.end(), member); });
    used_.push_back(&entry);
    entry.hits += done.size();
    for (const uint32_t members_of_run : run.runs()) runs_.note(entry, members_of_run, true);
    cache_->batch_runs += run.runs().size();
    for (size_t i = 0; entry.uses_interpreter() && i < done.size(); ++i) count_interpreted(cache_, entry);
    if (entry.runs_nodes_in_batches()) count_in_batch(cache_, entry, done.size());
    return Py_BuildValue("(nOO)", static_cast<Py_ssize_t>(entry.number), members.get(), results.get());
  }

  Ref result_of(const BatchRun& run, uint32_t member, const Arguments& call) const {
    const Specialization& entry = run.entry();
    if (differentiate_first_) return with_gradient(entry, run.value(member), run.input_gradients(member), call);
    if (!entry.has_several_results()) return Ref(PyFloat_FromDouble(run.value(member)));
    return results_of(entry, run.values(member));
  }

  static Ref with_gradient(const Specialization& entry, double value, std::span<const double> inputs,
                           const Arguments& call) {
    std::vector<double> ordered;
    if (!entry.wants_inputs) {
      for (const WantedGradient& wanted : entry.gradients) {
        ordered.push_back(wanted.index == kNoLeaf ? 0.0 : inputs[wanted.index]);
      }
    }
    const Shared<Signature> signature = entry.signature;  // what is built may run the user's code
    const Ref tree = signature->collect_first(entry.wants_inputs ? inputs.data() : ordered.data(), call);
    return tree ? Ref(Py_BuildValue("(dO)", value, tree.get())) : Ref();
  }

  SpecializationCache* cache_;
  bool differentiate_first_;
  size_t threads_;
  uint64_t call_ = 0;
  Members members_;
  std::vector<uint32_t> left_;  // members
  std::vector<const Specialization*> used_;
  BatchRuns runs_;
};

}  // namespace

// map(differentiate_first, members, threads): what programs give for the members of a batch, as (number of the
// specialization, its members, their results) each; a member in none of them is left to an ordinary call. A Reason
// where all are.
PyObject* map(PyObject* object, PyObject* args) {
  SpecializationCache* self = self_of(object);
  int differentiate_first;
  PyObject* members;
  unsigned int threads;
  if (!PyArg_ParseTuple(args, "pO!I:map", &differentiate_first, &PyList_Type, &members, &threads)) return nullptr;
  if (const auto reason = must_run_eagerly(false)) return reason_of(self, *reason);
  if (self->pause > 0) return reason_of(self, Reason::BACKING_OFF);
  return Mapping(self, differentiate_first == 1, threads).run(members);
}

}  // namespace retrograd::compiler
