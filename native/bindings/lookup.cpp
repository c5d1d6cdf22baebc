#include "bindings/lookup.hpp"

#include <algorithm>

#include "bindings/deferred_call.hpp"
#include "bindings/without_gil.hpp"

namespace retrograd::compiler {

const Arguments& arguments_of(const SpecializationCache* self, const Found& found) {
  return found.twin ? found.own->arguments : *self->scratch;
}

double value_of(const Found& found) {
  if (found.twin) return found.twin->root(0);
  return found.interpreted ? found.entry->runner.root(0) : found.entry->single->root(0, 0);
}

std::span<const double* const> results_in(const Found& found) {
  if (found.twin) return found.twin->results();
  return found.interpreted ? found.entry->runner.results() : found.entry->single->results();
}

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

Outcome run_long(Found& found, const std::shared_ptr<Specialization>& entry, Wanted wanted, double seed) {
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

// Whether the program that has run forward answers the call; else the function is asked first what it gives.
bool answers(SpecializationCache* self, Found& found, Specialization& entry, uint64_t fingerprint) {
  found.entry = &entry;
  if (must_be_compared(self, found)) {
    ++self->again;
    found.entry = nullptr;
    found.reason = Reason::UNCOMPARED;
    return false;
  }
  ++entry.hits;
  entry.fingerprint = fingerprint;
  const auto& list = *self->specializations;
  const auto is_it = [&](const auto& each) { return each.get() == &entry; };
  move_up(*self->specializations, static_cast<size_t>(std::find_if(list.begin(), list.end(), is_it) - list.begin()));
  return true;
}

// Whether a call can be of a program, after it has left those of the departures where it did.
bool may_be_of(const Specialization& entry, const std::vector<Departure>& departures) {
  return std::all_of(departures.begin(), departures.end(),
                     [&](const Departure& one) { return entry.may_continue(*one.first, one.second); });
}

// So many programs run node by node for a call, those first that answered last.
constexpr size_t kMostByNodes = 8;

// Before a call is traced that has left each program which it could be of: code rounds otherwise, and may decide
// otherwise where numbers are equal. So the programs run node by node, those last that were left out. Whether the
// search is over.
bool found_by_nodes(SpecializationCache* self, Found& found, const std::vector<Departure>& departures,
                    const std::vector<std::shared_ptr<Specialization>>& left_out, PyObject* const* args,
                    Py_ssize_t count, uint64_t fingerprint, bool sweeps) {
  const auto rounds_otherwise = [](const Specialization& entry) {
    return !entry.uses_interpreter() || entry.has_graph_code();
  };
  if (std::none_of(departures.begin(), departures.end(), [&](const auto& one) { return rounds_otherwise(*one.first); }))
    return false;
  const auto& list = *self->specializations;
  const uint64_t call = self->calls, changes = self->changes;
  std::vector<Departure> certain;
  size_t runs = 0;
  self->departures->clear();
  for (size_t i = 0; i < departures.size() + left_out.size(); ++i) {
    const bool was_tried = i < departures.size();
    const std::shared_ptr<const Specialization> candidate =
        was_tried ? departures[i].first : left_out[i - departures.size()];
    const auto at = std::find(list.begin(), list.end(), candidate);
    if (at == list.end() || !may_be_of(*candidate, certain)) continue;
    Specialization& entry = **at;  // which the candidate keeps alive
    if (entry.invalid() || entry.awaits_code()) continue;
    Outcome outcome = Outcome::GUARD;
    Divergence divergence = was_tried ? departures[i].second : Divergence();
    if ((!was_tried || rounds_otherwise(entry)) && ++runs <= kMostByNodes) {
      const int fit = match(self, static_cast<size_t>(at - list.begin()), args, count);
      found.failed = fit < 0;
      const bool holds = fit == 1 && entry.state->hold_in(call);
      if (found.failed || self->changes != changes || self->calls != call) return true;
      if (!holds) continue;
      outcome = entry.must_be_plain(*self->scratch) ? Outcome::EXCEPTIONAL : entry.run_by_nodes(*self->scratch);
      if (outcome == Outcome::GUARD) divergence = entry.divergence(true);
    }
    if (outcome == Outcome::GUARD) {
      if (runs > kMostByNodes && !was_tried) continue;
      certain.emplace_back(candidate, divergence);
      self->departures->emplace_back(entry.number, divergence.broken);
      continue;
    }
    if (outcome == Outcome::EXCEPTIONAL) {
      found.reason = Reason::NOT_FINITE;
      return true;
    }
    found.interpreted = true;
    found.deferred = false;
    found.swept = sweeps && !entry.has_several_results();
    found.tied = was_tried;
    entry.broken_guards -= was_tried;  // it did hold
    answers(self, found, entry, fingerprint);
    return true;
  }
  return false;
}

}  // namespace

Found find(SpecializationCache* self, bool differentiate_first, bool differentiates, PyObject* const* args,
           Py_ssize_t count, bool plain_call, bool numbers) {
  Found found;
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
  std::vector<Departure> departures;  // each took a forward pass
  std::vector<std::shared_ptr<Specialization>> left_out;
  const Specialization* read = nullptr;      // of which the scratch memory has the numbers
  std::shared_ptr<Specialization> awaiting;  // without which the function itself answers
  for (size_t i = 0; i < specializations.size(); ++i) {
    Specialization& entry = *specializations[i];
    if (!entry.is_for(differentiate_first, plain_call) || (awaiting && !entry.has_code())) continue;
    if (numbers && !entry.signature->has_no_values()) continue;
    if (!may_be_of(entry, departures)) {
      left_out.push_back(specializations[i]);
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
    entry.ties.none();
    answers(self, found, entry, fingerprint);
    return found;
  }
  const bool sweeps = differentiates || differentiate_first;
  if (!awaiting && found_by_nodes(self, found, departures, left_out, args, count, fingerprint, sweeps)) {
    return found;
  }
  if (awaiting) {
    ++awaiting->hits;
    count_interpreted(self, *awaiting);
    found.reason = Reason::AWAITS_CODE;
  }
  return found;
}

}  // namespace retrograd::compiler
