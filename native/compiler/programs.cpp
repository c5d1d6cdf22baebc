// The type retrograd._native.Programs: the programs that a compiled function has, and a call's way to the right one.
#include "programs.hpp"

#include <chrono>

#include "arguments.hpp"
#include "graph.hpp"
#include "machine.hpp"
#include "replay.hpp"

namespace retrograd::compiler {
namespace {

struct IndexGuard {
  Guard guard;  // between indices; left and right are slots plus one
  bool holds(const std::vector<int32_t>& indices) const {
    const auto at = [&](size_t slot) { return static_cast<double>(indices[slot - 1]); };
    return guard.decides(at(guard.left), guard.right ? at(guard.right) : guard.number);
  }
};

enum Mode { BACKWARD, GRADIENTS };  // which arguments a gradient is wanted of

constexpr uint32_t kNobody = UINT32_MAX;

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Options {
  bool exact = false, float32 = false, replay = false, machine = false;
  bool strict = false;  // the function computes with floats, which raise whatever rg.errstate says
};

// One trace of the function: its program, the machines it runs on, and what it counts.
struct Entry {
  size_t number = 0;
  long mode = BACKWARD;
  uint64_t outline = 0;  // of the last call that it answered; see outline_of
  std::unique_ptr<Spec> spec;
  Graph graph;
  Leaves leaves;
  std::vector<std::shared_ptr<Store>> stores;
  Program program;
  std::vector<Guard> guards;
  std::vector<IndexGuard> index_guards;
  std::vector<uint32_t> wanted;
  std::vector<long>
      order;  // of the gradients that are asked for: an active input, or -1 minus the number of a wanted one
  std::map<uint32_t, std::shared_ptr<Machine>> machines;
  std::unique_ptr<Replay> replay;
  Options options;
  size_t hits = 0, broken_guards = 0, exceptional = 0;
  std::vector<std::pair<const char*, double>> milliseconds;
  Ref keeps;  // machine code that the machines run

  bool replays() const { return options.exact || options.replay; }
  bool broken() const {
    for (const auto& store : stores) {
      if (store->broken()) return true;
    }
    return false;
  }

  Machine& machine(uint32_t batch) {
    std::shared_ptr<Machine>& machine = machines[batch];
    if (!machine) machine = std::make_shared<Machine>(program, stores, batch, options.float32, false);
    return *machine;
  }
  void prepare(uint32_t batch) {
    if (machines.count(batch)) return;
    Machine& fresh = machine(batch);
    for (uint32_t member = 0; member < batch; ++member) fresh.set_literals(member, graph.literals);
  }
  Replay& replayed() {
    if (!replay) replay = std::make_unique<Replay>(graph, leaves, stores);
    return *replay;
  }

  void give(Machine& machine, uint32_t member, const Arguments& arguments) const {
    machine.set_inputs(member, false, arguments.passive.data());
    machine.set_inputs(member, true, arguments.active.data());
    const size_t slots = program.index_limits.size();
    std::copy_n(arguments.indices.begin(), std::min(slots, arguments.indices.size()), machine.indices(member));
  }
  void give(Replay& replay_, const Arguments& arguments) const {
    replay_.set_inputs(false, arguments.passive.data());
    replay_.set_inputs(true, arguments.active.data());
    replay_.indices() = arguments.indices;
  }
};

struct Programs {
  PyObject_HEAD std::vector<std::unique_ptr<Entry>>* entries;  // the one used last comes first
  PyObject* miss;
  size_t made;
  Arguments* scratch;
  // What a batch has computed and not yet swept: members that ran together, or one that is replayed by itself.
  struct Pending {
    size_t entry;  // its number
    std::vector<Arguments> members;
    bool replayed;
  };
  std::vector<Pending>* pending;
  // Who is told, as hot((token, number, batch)), when a machine has run `threshold` times.
  PyObject *hot, *token;
  uint32_t threshold;
};

Programs* self_of(PyObject* object) { return reinterpret_cast<Programs*>(object); }

// --- making an entry ----------------------------------------------------------------------------------------------

bool read_values(PyObject* list, std::vector<Value*>& values) {
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    PyObject* item = PyList_GetItem(list, i);
    if (!is_value(item)) {
      PyErr_SetString(PyExc_TypeError, "a trace consists of Values");
      return false;
    }
    values.push_back(as_value(item));
  }
  return true;
}

Guard::Test test_of(const char* kind) {
  const std::string_view text = kind;
  if (text == "<") return Guard::LESS;
  if (text == "<=") return Guard::LESS_EQUAL;
  if (text == ">") return Guard::GREATER;
  if (text == ">=") return Guard::GREATER_EQUAL;
  if (text == "==") return Guard::EQUAL;
  return Guard::NOT_EQUAL;
}

// Guards as tuples (kind, left, right or 0, number, outcome).
bool read_guards(PyObject* list, std::vector<Guard>& guards) {
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    const char* kind;
    Guard guard;
    int outcome;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sIIdp", &kind, &guard.left, &guard.right, &guard.number,
                          &outcome)) {
      return false;
    }
    guard.test = test_of(kind);
    guard.outcome = outcome;
    guards.push_back(guard);
  }
  return true;
}

// Selections as tuples (node, slot, candidates); for Python's max and min the slot is -1 and -2.
bool read_selections(PyObject* list, std::vector<Selection>& selections) {
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    PyObject *node, *candidates;
    int slot;
    if (!PyArg_ParseTuple(PyList_GetItem(list, i), "OiO", &node, &slot, &candidates)) return false;
    const uint16_t row = slot == -1 ? ROW_FIRST_MAX : slot == -2 ? ROW_FIRST_MIN : ROW_SELECT;
    Selection selection{as_value(node), row, row == ROW_SELECT ? static_cast<uint32_t>(slot) : 0, {}, candidates};
    for (Py_ssize_t c = 0; c < PyTuple_Size(candidates); ++c) {
      selection.candidates.push_back(as_value(PyTuple_GetItem(candidates, c)));
    }
    selections.push_back(std::move(selection));
  }
  return true;
}

// Where each leaf of the graph lives: inputs first, as `actives` says, the others in stores.
void place_leaves(Entry& entry, const std::vector<bool>& actives, const std::vector<uint32_t>& offsets) {
  Leaves& leaves = entry.leaves;
  const size_t inputs = actives.size();
  for (size_t i = 0; i < inputs; ++i) {
    leaves.places.push_back({Memory::INPUT, actives[i], 0, offsets[i]});
    uint32_t& count = actives[i] ? leaves.active_inputs : leaves.inactive_inputs;
    count = std::max(count, offsets[i] + 1);
  }
  const std::vector<Value*> parameters(entry.graph.leaves.begin() + static_cast<std::ptrdiff_t>(inputs),
                                       entry.graph.leaves.end());
  for (const StorePlace& place : store_all(parameters)) {
    auto known = std::find(entry.stores.begin(), entry.stores.end(), place.store);
    const auto number = static_cast<uint32_t>(known - entry.stores.begin());
    if (known == entry.stores.end()) {
      entry.stores.push_back(place.store);
      leaves.store_sizes.push_back(static_cast<uint32_t>(place.store->size()));
    }
    leaves.places.push_back({Memory::PARAMETER, true, number, place.index});
  }
}

// The leaves whose gradients are wanted beside those of the inputs; kNobody for one that nothing depends on.
void find_wanted(Entry& entry, const std::vector<Value*>& values) {
  for (const Value* value : values) {
    const auto& leaves = entry.graph.leaves;
    const auto found = std::find(leaves.begin(), leaves.end(), value);
    entry.wanted.push_back(found == leaves.end() ? kNobody : static_cast<uint32_t>(found - leaves.begin()));
  }
}

// Whether replaying node by node is quicker than calling a kernel for every few of them.
bool better_replayed(const Entry& entry, const Lowered& lowered) {
  const double calls = static_cast<double>(
      lowered.together() ? lowered.both.calls_made() : lowered.forward.calls_made() + lowered.backward.calls_made());
  return 14.0 * calls + 1.5 * static_cast<double>(entry.program.terms) > 9.0 * static_cast<double>(entry.graph.size());
}

void compile(Entry& entry) {
  auto start = Clock::now();
  auto done = [&](const char* pass) {
    entry.milliseconds.emplace_back(pass, milliseconds_since(start));
    start = Clock::now();
  };
  const Graph expanded = expand(entry.graph);
  done("expand");
  const Terms terms = terms_of(expanded);
  done("terms");
  entry.program = reroll(expanded, terms, entry.leaves);
  done("reroll");
  const std::string problem = verify(entry.program, false);
  if (!problem.empty()) throw Unsupported("the compiler's own check failed: " + problem);
  done("verify");
  // Literals that expansion added come after the graph's own.
  entry.graph.literals = expanded.literals;
  if (!entry.options.exact) {
    entry.prepare(1);
    done("lower");
    if (!entry.options.machine && better_replayed(entry, entry.machine(1).lowered())) entry.options.replay = true;
  }
}

PyObject* add(PyObject* object, PyObject* args) try {
  PyObject *spec, *roots, *inputs, *actives, *offsets, *selections, *guards, *index_guards, *wanted, *order;
  auto entry = std::make_unique<Entry>();
  unsigned long long since;
  int exact, float32, strict;
  const char* tier;
  if (!PyArg_ParseTuple(args, "lOO!O!O!O!O!O!O!O!O!Kppps:add", &entry->mode, &spec, &PyList_Type, &roots, &PyList_Type,
                        &inputs, &PyList_Type, &actives, &PyList_Type, &offsets, &PyList_Type, &selections,
                        &PyList_Type, &guards, &PyList_Type, &index_guards, &PyList_Type, &wanted, &PyList_Type, &order,
                        &since, &exact, &float32, &strict, &tier)) {
    return nullptr;
  }
  if (!settle()) return nullptr;
  entry->options.exact = exact || std::string_view(tier) == "tape";
  entry->options.float32 = float32;
  entry->options.strict = strict;
  entry->options.machine = std::string_view(tier) == "vm" || std::string_view(tier) == "llvm";
  entry->spec = Spec::parse(spec);
  std::vector<Value*> root_values, input_values, wanted_values;
  std::vector<Selection> chosen;
  std::vector<Guard> slots;
  if (!entry->spec || !read_values(roots, root_values) || !read_values(inputs, input_values) ||
      !read_values(wanted, wanted_values) || !read_selections(selections, chosen) ||
      !read_guards(guards, entry->guards) || !read_guards(index_guards, slots)) {
    return nullptr;
  }
  for (const Guard& guard : slots) entry->index_guards.push_back({guard});
  std::vector<bool> is_active;
  std::vector<uint32_t> places;
  for (Py_ssize_t i = 0; i < PyList_Size(actives); ++i) {
    is_active.push_back(PyObject_IsTrue(PyList_GetItem(actives, i)) == 1);
    places.push_back(static_cast<uint32_t>(PyLong_AsUnsignedLong(PyList_GetItem(offsets, i))));
  }
  const auto start = Clock::now();
  entry->graph = lift(root_values, input_values, chosen, since);
  entry->milliseconds.emplace_back("lift", milliseconds_since(start));
  place_leaves(*entry, is_active, places);
  for (const auto& store : entry->stores) {
    if (entry->options.exact) store->be_exact();
  }
  find_wanted(*entry, wanted_values);
  for (Py_ssize_t i = 0; i < PyList_Size(order); ++i) entry->order.push_back(PyLong_AsLong(PyList_GetItem(order, i)));
  compile(*entry);
  Programs* self = self_of(object);
  entry->number = self->made++;
  self->entries->insert(self->entries->begin(), std::move(entry));
  return PyLong_FromSize_t(self->made - 1);
} catch (const Unsupported& problem) {
  return PyErr_Format(PyExc_NotImplementedError, "%s", problem.what());
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// --- calls --------------------------------------------------------------------------------------------------------

// Tells who watches that a machine has run often. The callable must not enter these programs: a queue's `put` is meant.
void count_run(Programs* self, const Entry& entry, const Machine& machine, uint32_t batch) {
  if (!self->hot || machine.runs() != self->threshold || machine.has_code()) return;
  Ref event(Py_BuildValue("(OKI)", self->token, static_cast<unsigned long long>(entry.number), batch));
  Ref told(event ? PyObject_CallFunctionObjArgs(self->hot, event.get(), nullptr) : nullptr);
  if (!told) PyErr_Clear();  // it stays on the virtual machine
}

// What one call found: an entry whose forward pass is done.
struct Found {
  Entry* entry = nullptr;
  bool replayed = false;
  const char* reason = "new";  // why there is none
  bool failed = false;         // an exception is set
};

// 1 when the entry's description fits the call, with the call's numbers in `arguments`.
int fits(const Entry& entry, PyObject* const* args, Py_ssize_t count, Arguments& arguments) {
  arguments.passive.clear();
  arguments.active.clear();
  arguments.values.clear();
  arguments.indices.clear();
  const int read = entry.spec->read_all(args, count, arguments);
  if (read != 1) return read;
  const auto& limits = entry.program.index_limits;
  for (size_t slot = 0; slot < limits.size() && slot < arguments.indices.size(); ++slot) {
    if (limits[slot] && static_cast<uint32_t>(arguments.indices[slot]) >= limits[slot]) return 0;
  }
  for (const IndexGuard& guard : entry.index_guards) {
    if (!guard.holds(arguments.indices)) return 0;
  }
  return 1;
}

Outcome replay_forward(Entry& entry, const Arguments& arguments) {
  Replay& replay = entry.replayed();
  entry.give(replay, arguments);
  return replay.forward(entry.guards, entry.options.strict);
}

Outcome run_forward(Entry& entry, const Arguments& arguments, Aim aim, bool* replayed) {
  Outcome outcome = Outcome::EXCEPTIONAL;
  *replayed = entry.replays();
  if (!*replayed) {
    Machine& machine = *entry.machines.find(1)->second;
    entry.give(machine, 0, arguments);
    outcome = machine.forward(entry.guards, aim);
    if (outcome != Outcome::EXCEPTIONAL) return outcome;
    ++entry.exceptional;
    *replayed = true;
  }
  return replay_forward(entry, arguments);
}

// Why the function itself must run, if it must: gradients are switched off, as rg.no_grad() does, or somebody watches
// every node, as rg.detect_anomaly() does.
const char* must_run_eagerly(bool differentiates) {
  const Tape* tape = this_tape();
  if (!tape) return nullptr;
  if (tape->observer || tape->backward_hook) return "watched";
  return differentiates && !tape->recording ? "off" : nullptr;
}

// What tells most calls apart at a glance: the types of the arguments, and how long the lists among them are.
uint64_t outline_of(PyObject* const* args, Py_ssize_t count) {
  uint64_t outline = static_cast<uint64_t>(count);
  const auto mix = [&](uint64_t part) { outline = (outline ^ part) * 0x9e3779b97f4a7c15; };
  for (Py_ssize_t i = 0; i < count; ++i) {
    mix(reinterpret_cast<uintptr_t>(Py_TYPE(args[i])));
    if (PyList_CheckExact(args[i])) mix(static_cast<uint64_t>(PyList_Size(args[i])));
  }
  return outline;
}

// The entry that stands for a call; its forward pass is done.
Found find(Programs* self, long mode, bool differentiates, PyObject* const* args, Py_ssize_t count) {
  Found found;
  if (tracing()) {  // an outer function is being traced, and this one is part of it
    found.reason = "trace";
    return found;
  }
  if (const char* reason = must_run_eagerly(differentiates)) {
    found.reason = reason;
    return found;
  }
  auto& entries = *self->entries;
  const uint64_t outline = outline_of(args, count);
  const auto likely = std::find_if(entries.begin(), entries.end(),
                                   [&](const auto& entry) { return entry->outline == outline && entry->mode == mode; });
  if (likely != entries.end()) std::rotate(entries.begin(), likely, likely + 1);
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = *entries[i];
    if (entry.mode != mode) continue;
    if (entry.broken()) {
      found.reason = "parameter";
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i--));
      continue;
    }
    const int fit = fits(entry, args, count, *self->scratch);
    if (fit < 0) {
      found.failed = true;
      return found;
    }
    if (fit == 0) continue;
    const Aim aim = differentiates || mode == GRADIENTS ? Aim::GRADIENTS : Aim::VALUE;
    const Outcome outcome = run_forward(entry, *self->scratch, aim, &found.replayed);
    if (outcome == Outcome::GUARD) {
      ++entry.broken_guards;
      found.reason = "guard";
      continue;
    }
    if (outcome == Outcome::EXCEPTIONAL) {
      found.reason = "domain";
      return found;
    }
    ++entry.hits;
    entry.outline = outline;
    found.entry = &entry;
    if (!found.replayed) count_run(self, entry, *entry.machines.find(1)->second, 1);
    if (i > 0)
      std::rotate(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i),
                  entries.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return found;
  }
  return found;
}

PyObject* call_miss(Programs* self, const char* kind, PyObject* const* args, Py_ssize_t count, const Found& found) {
  if (found.failed) return nullptr;
  Ref tuple(PyTuple_New(count));
  for (Py_ssize_t i = 0; tuple && i < count; ++i) PyTuple_SetItem(tuple.get(), i, Py_NewRef(args[i]));
  Ref miss = Ref::borrow(self->miss);
  return tuple ? PyObject_CallFunction(miss.get(), "sOs", kind, tuple.get(), found.reason) : nullptr;
}

// Adds the gradients of active arguments that were Values to them.
void add_to_values(const std::vector<Value*>& values, const std::vector<double>& gradients) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    const StorePlace place = find_store(values[i]);
    if (place.store && place.store->ahead()) {
      place.store->gradients()[place.index] += gradients[i];
    } else {
      values[i]->grad += gradients[i];
    }
  }
}

PyObject* call(PyObject* object, PyObject* const* args, Py_ssize_t count) try {
  Programs* self = self_of(object);
  const Found found = find(self, BACKWARD, false, args, count);
  if (!found.entry) return call_miss(self, "call", args, count, found);
  return PyFloat_FromDouble(found.replayed ? found.entry->replay->root(0)
                                           : found.entry->machines.find(1)->second->root(0, 0));
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// Runs what was found back; its value, and the gradients of the active arguments in `gradients`.
double sweep(const Found& found, Target target, std::vector<double>& gradients) {
  if (found.replayed) {
    Replay& replay = *found.entry->replay;
    replay.backward(1.0, target);
    replay.input_gradients(gradients.data());
    return replay.root(0);
  }
  Machine& machine = *found.entry->machines.find(1)->second;
  machine.backward(1.0, target);
  if (!gradients.empty()) machine.input_gradients(0, gradients.data());
  return machine.root(0, 0);
}

PyObject* backward(PyObject* object, PyObject* const* args, Py_ssize_t count) try {
  Programs* self = self_of(object);
  const Found found = find(self, BACKWARD, true, args, count);
  if (!found.entry) return call_miss(self, "backward", args, count, found);
  std::vector<double> gradients(self->scratch->active.size());
  const double result = sweep(found, Target::STORES, gradients);
  add_to_values(self->scratch->values, gradients);
  return PyFloat_FromDouble(result);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* list_of(const std::vector<double>& numbers) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(numbers.size()));
  for (size_t i = 0; list && i < numbers.size(); ++i) {
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), PyFloat_FromDouble(numbers[i]));
  }
  return list;
}

PyObject* gradients(PyObject* object, PyObject* const* args, Py_ssize_t count) try {
  Programs* self = self_of(object);
  const Found found = find(self, GRADIENTS, false, args, count);
  if (!found.entry) return call_miss(self, "gradients", args, count, found);
  const Entry& entry = *found.entry;
  std::vector<double> numbers(self->scratch->active.size());
  const double result = sweep(found, Target::WORKSPACE, numbers);
  const auto wanted = [&](uint32_t leaf) {
    if (leaf == kNobody) return 0.0;
    if (found.replayed) return entry.replay->leaf_gradient(leaf);
    const LeafPlace& place = entry.leaves.places[leaf];
    return entry.machines.find(1)->second->parameter_gradient(place.store, place.offset);
  };
  std::vector<double> ordered;
  ordered.reserve(entry.order.size());
  for (const long which : entry.order) {
    ordered.push_back(which >= 0 ? numbers[static_cast<size_t>(which)]
                                 : wanted(entry.wanted[static_cast<size_t>(-1 - which)]));
  }
  Ref list(list_of(ordered));
  return list ? Py_BuildValue("(dO)", result, list.get()) : nullptr;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// check(entry, arguments): what the entry computes for a call, (value, gradient of each leaf of its graph), leaving no
// trace; None when the call is exceptional, False when the entry does not stand for it.
PyObject* check(PyObject* object, PyObject* args) try {
  size_t number;
  PyObject* tuple;
  if (!PyArg_ParseTuple(args, "nO!:check", &number, &PyTuple_Type, &tuple)) return nullptr;
  Programs* self = self_of(object);
  std::vector<PyObject*> items;
  items.reserve(static_cast<size_t>(PyTuple_Size(tuple)));
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) items.push_back(PyTuple_GetItem(tuple, i));
  for (const auto& entry : *self->entries) {
    if (entry->number != number) continue;
    const int fit = fits(*entry, items.data(), static_cast<Py_ssize_t>(items.size()), *self->scratch);
    if (fit < 0) return nullptr;
    bool replayed;
    const Outcome outcome = fit ? run_forward(*entry, *self->scratch, Aim::VALUE, &replayed) : Outcome::GUARD;
    if (outcome == Outcome::GUARD) Py_RETURN_FALSE;
    if (outcome == Outcome::EXCEPTIONAL) Py_RETURN_NONE;
    std::vector<double> leaves(entry->graph.leaves.size()), inputs(entry->leaves.active_inputs);
    double result;
    if (!replayed) {  // once more, so that what it leaves behind shows
      entry->machine(1).backward(1.0, Target::WORKSPACE);
      entry->machine(1).forward(entry->guards, Aim::GRADIENTS);
    }
    if (replayed) {
      entry->replay->backward(1.0, Target::WORKSPACE);
      result = entry->replay->root(0);
      for (size_t i = 0; i < leaves.size(); ++i) leaves[i] = entry->replay->leaf_gradient(i);
    } else {
      Machine& machine = entry->machine(1);
      machine.backward(1.0, Target::WORKSPACE);
      result = machine.root(0, 0);
      machine.input_gradients(0, inputs.data());
      for (size_t i = 0; i < leaves.size(); ++i) {
        const LeafPlace& place = entry->leaves.places[i];
        leaves[i] = place.memory == Memory::PARAMETER ? machine.parameter_gradient(place.store, place.offset)
                    : place.active                    ? inputs[place.offset]
                                                      : 0.0;
      }
    }
    Ref list(PyList_New(0));
    for (size_t i = 0; list && i < leaves.size(); ++i) {
      const LeafPlace& place = entry->leaves.places[i];
      if (place.memory == Memory::INPUT && !place.active) continue;
      Ref pair(Py_BuildValue("(Od)", as_object(entry->graph.leaves[i]), leaves[i]));
      if (!pair || PyList_Append(list.get(), pair.get()) < 0) return nullptr;
    }
    return list ? Py_BuildValue("(dO)", result, list.get()) : nullptr;
  }
  Py_RETURN_NONE;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

Entry* entry_with(Programs* self, size_t number) {
  for (const auto& entry : *self->entries) {
    if (entry->number == number) return entry.get();
  }
  return nullptr;
}

// --- batches ------------------------------------------------------------------------------------------------------

struct Member {
  uint32_t number;
  std::vector<PyObject*> items;  // borrowed from the member's tuple
};

bool read_members(PyObject* list, std::vector<Member>& members) {
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    PyObject* tuple = PyList_GetItem(list, i);
    if (!PyTuple_Check(tuple)) {
      PyErr_SetString(PyExc_TypeError,
                      "backward_batch takes a list with a tuple of arguments for each member; write (x,) for one.");
      return false;
    }
    Member member{static_cast<uint32_t>(i), {}};
    for (Py_ssize_t k = 0; k < PyTuple_Size(tuple); ++k) member.items.push_back(PyTuple_GetItem(tuple, k));
    members.push_back(std::move(member));
  }
  return true;
}

// The same member by member, as the tape would.
bool replay_group(Programs* self, Entry& entry, std::vector<Member>& members) {
  for (size_t i = 0; i < members.size();) {
    Arguments arguments;
    const int fit = fits(entry, members[i].items.data(), static_cast<Py_ssize_t>(members[i].items.size()), arguments);
    if (fit < 0) return false;
    if (fit == 0 || replay_forward(entry, arguments) != Outcome::DONE) {
      ++i;
      continue;
    }
    ++entry.hits;
    self->pending->push_back({entry.number, {}, true});
    self->pending->back().members.push_back(std::move(arguments));
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

// Runs forward those members that the entry fits and whose guards hold, together, and takes them out of `members`.
// False with an exception set.
bool run_group(Programs* self, Entry& entry, std::vector<Member>& members) {
  if (entry.mode != BACKWARD || entry.broken()) return true;
  if (entry.replays()) return replay_group(self, entry, members);
  std::vector<std::pair<size_t, Arguments>> fitting;
  for (size_t i = 0; i < members.size(); ++i) {
    Arguments arguments;
    const int fit = fits(entry, members[i].items.data(), static_cast<Py_ssize_t>(members[i].items.size()), arguments);
    if (fit < 0) return false;
    if (fit == 1) fitting.emplace_back(i, std::move(arguments));
  }
  while (!fitting.empty()) {
    const auto count = static_cast<uint32_t>(fitting.size());
    entry.prepare(count);
    Machine& machine = entry.machine(count);
    for (uint32_t m = 0; m < count; ++m) entry.give(machine, m, fitting[m].second);
    std::vector<uint32_t> broken;
    const Outcome outcome = machine.forward(entry.guards, Aim::GRADIENTS, &broken);
    if (outcome == Outcome::EXCEPTIONAL) {
      ++entry.exceptional;
      return replay_group(self, entry, members);
    }
    if (outcome == Outcome::DONE) break;
    entry.broken_guards += broken.size();
    for (size_t b = broken.size(); b-- > 0;) fitting.erase(fitting.begin() + broken[b]);
  }
  if (fitting.empty()) return true;
  entry.hits += fitting.size();
  const auto together = static_cast<uint32_t>(fitting.size());
  count_run(self, entry, *entry.machines.find(together)->second, together);
  Programs::Pending pending{entry.number, {}, false};
  for (size_t m = fitting.size(); m-- > 0;)
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(fitting[m].first));
  for (auto& [member, arguments] : fitting) pending.members.push_back(std::move(arguments));
  self->pending->push_back(std::move(pending));
  return true;
}

// batch_forward(members): runs what fits the programs there are; the numbers of the members that are left. None where
// the members must be run eagerly: in a trace, and where gradients are switched off.
PyObject* batch_forward(PyObject* object, PyObject* list) try {
  if (!PyList_Check(list)) {
    PyErr_SetString(PyExc_TypeError, "backward_batch takes a list of tuples of arguments.");
    return nullptr;
  }
  Programs* self = self_of(object);
  self->pending->clear();
  if (tracing() || must_run_eagerly(true)) Py_RETURN_NONE;
  std::vector<Member> members;
  if (!read_members(list, members)) return nullptr;
  for (const auto& entry : *self->entries) {
    if (members.empty()) break;
    if (!run_group(self, *entry, members)) return nullptr;
  }
  Ref left(PyList_New(0));
  for (const Member& member : members) {
    Ref number(PyLong_FromUnsignedLong(member.number));
    if (!left || !number || PyList_Append(left.get(), number.get()) < 0) return nullptr;
  }
  return left.release();
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// Sweeps what batch_forward ran together; the sum of its values.
double sweep_group(Entry& entry, const std::vector<Arguments>& members, double seed) {
  Machine& machine = entry.machine(static_cast<uint32_t>(members.size()));
  // Python code may have run since: then the Values hold the truth.
  for (const auto& store : entry.stores) store->acquire();
  machine.backward(seed, Target::STORES);
  double sum = 0.0;
  for (uint32_t m = 0; m < members.size(); ++m) {
    std::vector<double> gradients(members[m].values.size());
    if (!gradients.empty()) machine.input_gradients(m, gradients.data());
    add_to_values(members[m].values, gradients);
    sum += machine.root(m, 0);
  }
  return sum;
}

// A replay has one memory for all members: each is run forward once more.
double sweep_replayed(Entry& entry, const Arguments& member, double seed) {
  replay_forward(entry, member);
  entry.replay->backward(seed, Target::STORES);
  std::vector<double> gradients(member.values.size());
  entry.replay->input_gradients(gradients.data());
  add_to_values(member.values, gradients);
  return entry.replay->root(0);
}

// batch_backward(seed): sweeps what batch_forward ran, the last member first; the sum of its values.
PyObject* batch_backward(PyObject* object, PyObject* seed) try {
  Programs* self = self_of(object);
  const double number = PyFloat_AsDouble(seed);
  if (number == -1.0 && PyErr_Occurred()) return nullptr;
  const std::vector<Programs::Pending> pending = std::exchange(*self->pending, {});
  std::vector<double> sums(pending.size());
  for (size_t i = pending.size(); i-- > 0;) {
    Entry* entry = entry_with(self, pending[i].entry);
    if (!entry || entry->broken()) {
      PyErr_SetString(PyExc_RuntimeError, "backward_batch: a parameter or a program was lost while the batch was run.");
      return nullptr;
    }
    sums[i] = pending[i].replayed ? sweep_replayed(*entry, pending[i].members[0], number)
                                  : sweep_group(*entry, pending[i].members, number);
  }
  double sum = 0.0;
  for (const double one : sums) sum += one;
  return PyFloat_FromDouble(sum);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// --- looking inside -----------------------------------------------------------------------------------------------

constexpr const char* kMemories[] = {"parameter", "input", "literal", "value"};

const char* tier_of(const Entry& entry) {
  if (entry.replays()) return "tape";
  const auto machine = entry.machines.find(1);
  return machine != entry.machines.end() && machine->second->has_code() ? "llvm" : "vm";
}

PyObject* facts_of(const Entry& entry) {
  Ref passes(PyDict_New());
  for (auto& [pass, time] : entry.milliseconds) {
    Ref number(PyFloat_FromDouble(time));
    if (!passes || !number || PyDict_SetItemString(passes.get(), pass, number.get()) < 0) return nullptr;
  }
  size_t forward_calls = 0, backward_calls = 0, bytes = 0, strip = 0;
  Ref batches(PyList_New(0));
  for (const auto& [batch, machine] : entry.machines) {
    if (batch == 1) {
      forward_calls = machine->calls(0).size();
      const Lowered& lowered = machine->lowered();
      backward_calls = lowered.together() ? lowered.both.calls.size() - forward_calls : lowered.backward.calls.size();
      strip = machine->lowered().strips.size;
    }
    bytes += 2 * machine->bytes();
    Ref number(PyLong_FromUnsignedLong(batch));
    if (!batches || !number || PyList_Append(batches.get(), number.get()) < 0) return nullptr;
  }
  if (entry.replay) bytes += entry.replay->bytes();
  auto size = [](size_t n) { return static_cast<unsigned long long>(n); };
  return Py_BuildValue(
      "{s:K,s:l,s:s,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:O,s:O}", "number", size(entry.number), "mode",
      entry.mode, "tier", tier_of(entry), "nodes", size(entry.graph.size()), "terms", size(entry.program.terms),
      "groups", size(entry.program.groups), "instructions", size(entry.program.instructions.size()), "forward_calls",
      size(forward_calls), "backward_calls", size(backward_calls), "bytes", size(bytes), "guards",
      size(entry.guards.size() + entry.index_guards.size()), "hits", size(entry.hits), "broken_guards",
      size(entry.broken_guards), "exceptional", size(entry.exceptional), "strip", size(strip), "milliseconds",
      passes.get(), "batches", batches.get());
}

// tier(): of the program that was used last.
PyObject* tier(PyObject* object, PyObject*) {
  const auto& entries = *self_of(object)->entries;
  return PyUnicode_FromString(entries.empty() ? "eager" : tier_of(*entries[0]));
}

PyObject* facts(PyObject* object, PyObject*) {
  Ref list(PyList_New(0));
  for (const auto& entry : *self_of(object)->entries) {
    Ref one(facts_of(*entry));
    if (!list || !one || PyList_Append(list.get(), one.get()) < 0) return nullptr;
  }
  return list.release();
}

PyObject* view_of(const View& view, int rank) {
  Ref strides(PyList_New(rank));
  for (int i = 0; strides && i < rank; ++i) PyList_SetItem(strides.get(), i, PyLong_FromLong(view.strides[i]));
  if (!strides) return nullptr;
  const long region = view.region == kNoRegion ? -1 : static_cast<long>(view.region);
  return Py_BuildValue("(lLO)", region, static_cast<long long>(view.base), strides.get());
}

PyObject* instruction_of(const Instruction& instruction) {
  static constexpr const char* names[] = {"map", "indexed", "dot", "sum", "extreme", "gather", "select"};
  Ref sizes(PyList_New(instruction.rank)), views(PyList_New(0)), result(view_of(instruction.result, instruction.rank));
  for (int i = 0; sizes && i < instruction.rank; ++i) {
    PyList_SetItem(sizes.get(), i, PyLong_FromUnsignedLong(instruction.sizes[i]));
  }
  for (int i = 0; views && i < instruction.operands; ++i) {
    Ref view(view_of(instruction.views[i], instruction.rank));
    if (!view || PyList_Append(views.get(), view.get()) < 0) return nullptr;
  }
  if (!sizes || !views || !result) return nullptr;
  const char* row = instruction.row < ROW_COUNT        ? kRows[instruction.row].name
                    : instruction.row == ROW_FIRST_MAX ? "first_max"
                    : instruction.row == ROW_FIRST_MIN ? "first_min"
                    : instruction.row == ROW_LARGEST   ? "largest"
                                                       : "select";
  return Py_BuildValue("{s:s,s:s,s:O,s:i,s:O,s:O,s:O,s:O,s:i,s:I,s:I,s:I}", "code",
                       names[static_cast<int>(instruction.code)], "row", row, "sizes", sizes.get(), "reduced",
                       instruction.reduced, "result", result.get(), "views", views.get(), "has_init",
                       instruction.has_init ? Py_True : Py_False, "through_pool",
                       instruction.through_pool ? Py_True : Py_False, "stride", instruction.stride, "limit",
                       instruction.limit, "source", instruction.source, "terms", instruction.terms);
}

Entry* entry_numbered(PyObject* object, PyObject* argument) {
  if (Entry* entry = entry_with(self_of(object), PyLong_AsSize_t(argument))) return entry;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "there is no such program");
  return nullptr;
}

// listing(entry): everything a backend or a reader needs to know of a program, as plain Python.
PyObject* listing(PyObject* object, PyObject* argument) {
  const Entry* entry = entry_numbered(object, argument);
  if (!entry) return nullptr;
  const Program& program = entry->program;
  Ref regions(PyList_New(0)), instructions(PyList_New(0)), pool(PyList_New(0)), literals(PyList_New(0)),
      roots(PyList_New(0)), leaves(PyList_New(0)), nodes(PyList_New(0));
  if (!regions || !instructions || !pool || !literals || !roots || !leaves || !nodes) return nullptr;
  auto append = [](const Ref& list, PyObject* item) {
    Ref owned(item);
    return owned && PyList_Append(list.get(), owned.get()) == 0;
  };
  bool done = true;
  for (const Region& region : program.regions) {
    done &= append(regions, Py_BuildValue("(sOLII)", kMemories[static_cast<int>(region.memory)],
                                          region.active ? Py_True : Py_False, static_cast<long long>(region.base),
                                          region.length, region.store));
  }
  for (const Instruction& instruction : program.instructions) done &= append(instructions, instruction_of(instruction));
  for (const int32_t address : program.pool) done &= append(pool, PyLong_FromLong(address));
  for (size_t i = 0; i < program.literals.size(); ++i) {
    if (program.literals[i].address < 0) continue;
    done &= append(
        literals, Py_BuildValue("(Ld)", static_cast<long long>(program.literals[i].address), entry->graph.literals[i]));
  }
  for (const Place& place : program.roots) done &= append(roots, PyLong_FromLongLong(place.address));
  for (size_t i = 0; i < entry->graph.leaves.size(); ++i) {
    const LeafPlace& place = entry->leaves.places[i];
    Value* value = place.memory == Memory::PARAMETER ? entry->stores[place.store]->value(place.offset) : nullptr;
    PyObject* leaf = value ? as_object(value) : Py_None;
    done &= append(leaves, Py_BuildValue("(OsOII)", leaf, kMemories[static_cast<int>(place.memory)],
                                         place.active ? Py_True : Py_False, place.store, place.offset));
  }
  for (const Address address : program.nodes) done &= append(nodes, PyLong_FromLongLong(address));
  if (!done) return nullptr;
  return Py_BuildValue("{s:O,s:O,s:O,s:O,s:O,s:O,s:O,s:L}", "regions", regions.get(), "instructions",
                       instructions.get(), "pool", pool.get(), "literals", literals.get(), "roots", roots.get(),
                       "leaves", leaves.get(), "nodes", nodes.get(), "size", static_cast<long long>(program.size));
}

// calls(entry, batch, pass): the bound calls of a machine, as bytes of the struct Call.
PyObject* calls(PyObject* object, PyObject* args) {
  PyObject* number;
  unsigned int batch;
  int pass;
  if (!PyArg_ParseTuple(args, "OIi:calls", &number, &batch, &pass)) return nullptr;
  Entry* entry = entry_numbered(object, number);
  if (!entry) return nullptr;
  auto machine = entry->machines.find(batch);
  if (machine == entry->machines.end() || pass < 0 || pass >= kPasses) {
    PyErr_SetString(PyExc_IndexError, "there is no such machine");
    return nullptr;
  }
  const std::vector<Call>& list = machine->second->calls(pass);
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(list.data()),
                                   static_cast<Py_ssize_t>(list.size() * sizeof(Call)));
}

// strips(entry, batch, pass): which calls of a machine do one strip, as (first, end, times, iterations of the loop, how
// far each pointer of each call moves from one strip to the next, in bytes).
PyObject* strips(PyObject* object, PyObject* args) {
  PyObject* number;
  unsigned int batch;
  int pass;
  if (!PyArg_ParseTuple(args, "OIi:strips", &number, &batch, &pass)) return nullptr;
  Entry* entry = entry_numbered(object, number);
  if (!entry) return nullptr;
  const auto found = entry->machines.find(batch);
  if (found == entry->machines.end() || pass < 0 || pass >= kPasses) {
    PyErr_SetString(PyExc_IndexError, "there is no such machine");
    return nullptr;
  }
  const Lowered& lowered = found->second->lowered();
  const std::vector<LoweredCall>& calls = lowered.pass(pass).calls;
  const Py_ssize_t width = entry->options.float32 ? sizeof(float) : sizeof(double);
  Ref result(PyList_New(0));
  for (const Repeat& repeat : lowered.pass(pass).repeats) {
    Ref moves(PyList_New(0));
    for (size_t i = repeat.begin; moves && i < repeat.end; ++i) {
      Ref one(PyTuple_New(kPointers));
      for (Py_ssize_t p = 0; one && p < kPointers; ++p) {
        PyTuple_SetItem(one.get(), p, PyLong_FromLongLong(static_cast<long long>(calls[i].moves[p]) * width));
      }
      if (!one || PyList_Append(moves.get(), one.get()) < 0) return nullptr;
    }
    Ref one(Py_BuildValue("(nnIIO)", static_cast<Py_ssize_t>(repeat.begin), static_cast<Py_ssize_t>(repeat.end),
                          repeat.times, repeat.iterations, moves.get()));
    if (!result || !one || PyList_Append(result.get(), one.get()) < 0) return nullptr;
  }
  return result.release();
}

// profile(entry, batch, pass, times): for each call of a machine (kernel, instruction, loops, least nanoseconds).
PyObject* profile(PyObject* object, PyObject* args) {
  PyObject* number;
  unsigned int batch, times;
  int pass;
  if (!PyArg_ParseTuple(args, "OIiI:profile", &number, &batch, &pass, &times)) return nullptr;
  Entry* entry = entry_numbered(object, number);
  if (!entry) return nullptr;
  auto found = entry->machines.find(batch);
  if (found == entry->machines.end() || pass < 0 || pass >= kPasses) {
    PyErr_SetString(PyExc_IndexError, "there is no such machine");
    return nullptr;
  }
  const Machine& machine = *found->second;
  const std::vector<LoweredCall>& lowered = machine.lowered().pass(pass).calls;
  const std::vector<Call>& list = machine.calls(pass);
  std::vector<double> least(list.size(), 1e300);
  for (unsigned int t = 0; t < times; ++t) {
    for (size_t i = 0; i < list.size(); ++i) {
      const auto start = Clock::now();
      for (int r = 0; r < 8; ++r) list[i].run(list[i]);
      least[i] = std::min(least[i], milliseconds_since(start) * 1e6 / 8);
    }
  }
  Ref result(PyList_New(0));
  for (size_t i = 0; i < list.size(); ++i) {
    const Call& call = list[i];
    Ref one(Py_BuildValue("(iI(iiiii)ihd)", static_cast<int>(call.kernel), lowered[i].instruction, call.n[0], call.n[1],
                          call.n[2], call.n[3], call.n[4], call.accumulate, static_cast<short>(call.row), least[i]));
    if (!result || !one || PyList_Append(result.get(), one.get()) < 0) return nullptr;
  }
  return result.release();
}

// memory(entry, batch): where the machine of those calls has its numbers, as plain Python: regions as (memory, first
// address, stride from one member to the next, length), in elements of the arrays at "numbers" and "gradients"; the
// ranges that are zero before a backward pass; from which element on they are local to strips; and something that keeps
// the memory alive.
PyObject* memory(PyObject* object, PyObject* args) {
  PyObject* number;
  unsigned int batch;
  if (!PyArg_ParseTuple(args, "OI:memory", &number, &batch)) return nullptr;
  Entry* entry = entry_numbered(object, number);
  if (!entry) return nullptr;
  const auto machine = entry->machines.find(batch);
  if (machine == entry->machines.end()) {
    PyErr_SetString(PyExc_IndexError, "there is no such machine");
    return nullptr;
  }
  const Lowered& lowered = machine->second->lowered();
  Ref regions(PyList_New(0)), zeroed(PyList_New(0));
  for (size_t i = 0; i < lowered.base.size(); ++i) {
    const Region& region = entry->program.regions[i];
    Ref one(Py_BuildValue("(sLLI)", kMemories[static_cast<int>(region.memory)], static_cast<long long>(lowered.base[i]),
                          static_cast<long long>(lowered.stride[i]), region.length));
    if (!regions || !one || PyList_Append(regions.get(), one.get()) < 0) return nullptr;
  }
  for (const Range& range : lowered.zeroed) {
    Ref one(Py_BuildValue("(LL)", static_cast<long long>(range.begin), static_cast<long long>(range.end)));
    if (!zeroed || !one || PyList_Append(zeroed.get(), one.get()) < 0) return nullptr;
  }
  auto* shared = new std::shared_ptr<Machine>(machine->second);
  Ref keep(PyCapsule_New(shared, nullptr, [](PyObject* capsule) {
    delete static_cast<std::shared_ptr<Machine>*>(PyCapsule_GetPointer(capsule, nullptr));
  }));
  if (!keep) {
    delete shared;
    return nullptr;
  }
  const Place& root = entry->program.roots[0];
  return Py_BuildValue("{s:O,s:L,s:L,s:K,s:K,s:O,s:O,s:L,s:I,s:O}", "together", lowered.together() ? Py_True : Py_False,
                       "size", static_cast<long long>(lowered.size), "local", static_cast<long long>(lowered.local),
                       "numbers", static_cast<unsigned long long>(machine->second->numbers()), "gradients",
                       static_cast<unsigned long long>(machine->second->gradients()), "regions", regions.get(),
                       "zeroed", zeroed.get(), "root",
                       static_cast<long long>(lowered.moved(entry->program, root.region, root.address)), "root_region",
                       root.region, "keep", keep.get());
}

// watch(threshold, hot, token): hot((token, number, batch)) is called when a machine has run that often.
PyObject* watch(PyObject* object, PyObject* args) {
  PyObject *hot, *token;
  unsigned int threshold;
  if (!PyArg_ParseTuple(args, "IOO:watch", &threshold, &hot, &token)) return nullptr;
  Programs* self = self_of(object);
  Ref old_hot(self->hot), old_token(self->token);
  self->hot = Py_NewRef(hot);
  self->token = Py_NewRef(token);
  self->threshold = threshold;
  Py_RETURN_NONE;
}

// install(entry, batch, pass, address, keep, milliseconds): machine code that does what those calls do.
PyObject* install(PyObject* object, PyObject* args) {
  PyObject *number, *keep;
  unsigned int batch;
  int pass;
  unsigned long long address;
  double milliseconds;
  if (!PyArg_ParseTuple(args, "OIiKOd:install", &number, &batch, &pass, &address, &keep, &milliseconds)) return nullptr;
  Entry* entry = entry_numbered(object, number);
  if (!entry) return nullptr;
  auto machine = entry->machines.find(batch);
  if (machine == entry->machines.end() || pass < 0 || pass >= kPasses) {
    PyErr_SetString(PyExc_IndexError, "there is no such machine");
    return nullptr;
  }
  if (!entry->keeps) entry->keeps = Ref(PyList_New(0));
  if (!entry->keeps || PyList_Append(entry->keeps.get(), keep) < 0) return nullptr;
  machine->second->install(pass, reinterpret_cast<Machine::MachineCode>(static_cast<uintptr_t>(address)));
  auto& passes = entry->milliseconds;
  if (passes.empty() || std::string_view(passes.back().first) != "llvm") passes.emplace_back("llvm", 0.0);
  passes.back().second += milliseconds;
  Py_RETURN_NONE;
}

PyObject* verified(PyObject* object, PyObject* argument) {
  const Entry* entry = entry_numbered(object, argument);
  if (!entry) return nullptr;
  std::string problem = verify(entry->program, true);
  for (const auto& [batch, machine] : entry->machines) {
    if (problem.empty()) problem = verify(entry->program, machine->lowered().strips);
  }
  return PyUnicode_FromString(problem.c_str());
}

// locate(entry, node): the number of the instruction that computes a node of the trace, or that took it in; None for
// what is no node of it.
PyObject* locate(PyObject* object, PyObject* args) try {
  PyObject *number, *node;
  if (!PyArg_ParseTuple(args, "OO:locate", &number, &node)) return nullptr;
  const Entry* entry = entry_numbered(object, number);
  if (!entry) return nullptr;
  const auto& values = entry->graph.values;
  const auto found = std::find(values.begin(), values.end(), as_value(node));
  if (found == values.end()) Py_RETURN_NONE;
  std::vector<Id> renamed;
  const Graph expanded = expand(entry->graph, &renamed);
  Id id = renamed[static_cast<size_t>(found - values.begin())];
  // A partial sum or a product without a place of its own belongs to the one node that uses it.
  for (size_t user = id.index(); id.is_node() && entry->program.nodes[id.index()] < 0 && user < expanded.size();
       ++user) {
    auto operands = expanded.operands_of(user);
    if (std::find(operands.begin(), operands.end(), id) != operands.end()) id = {Id::NODE, user};
  }
  if (!id.is_node() || entry->program.nodes[id.index()] < 0) Py_RETURN_NONE;
  const size_t producer = producer_of(entry->program, entry->program.nodes[id.index()]);
  if (producer == entry->program.instructions.size()) Py_RETURN_NONE;
  return PyLong_FromSize_t(producer);
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* drop(PyObject* object, PyObject* argument) {
  const Entry* entry = entry_numbered(object, argument);
  if (!entry) return nullptr;
  std::erase_if(*self_of(object)->entries, [&](const auto& one) { return one.get() == entry; });
  Py_RETURN_NONE;
}

// --- the type -----------------------------------------------------------------------------------------------------

PyObject* new_programs(PyTypeObject* type, PyObject* args, PyObject*) try {
  PyObject *miss, *index;
  if (!PyArg_ParseTuple(args, "OO:Programs", &miss, &index)) return nullptr;
  index_type = index;
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* object = allocate(type, 0);
  if (!object) return nullptr;
  Programs* self = self_of(object);
  self->entries = new std::vector<std::unique_ptr<Entry>>;
  self->pending = new std::vector<Programs::Pending>;
  self->scratch = new Arguments;
  self->miss = Py_NewRef(miss);
  return object;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->miss);
  Py_VISIT(self_of(object)->hot);
  Py_VISIT(self_of(object)->token);
  for (const auto& entry : *self_of(object)->entries) {
    Py_VISIT(entry->keeps.get());
    if (const int stopped = entry->spec->traverse(visit, arg)) return stopped;
  }
  return 0;
}
int clear(PyObject* object) {
  Programs* self = self_of(object);
  Py_CLEAR(self->miss);
  Py_CLEAR(self->hot);
  Py_CLEAR(self->token);
  self->pending->clear();
  // Taken out first: what they let go of may come back here.
  const auto entries = std::exchange(*self->entries, {});
  return 0;
}
void dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  clear(object);
  Programs* self = self_of(object);
  delete self->pending;
  delete self->entries;
  delete self->scratch;
  PyTypeObject* type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyMethodDef methods[] = {
    {"add", add, METH_VARARGS, "Compile a trace; the number of its program."},
    {"call", fast(call), METH_FASTCALL, "The value."},
    {"backward", fast(backward), METH_FASTCALL, "The value; gradients are added to .grad."},
    {"gradients", fast(gradients), METH_FASTCALL,
     "The value and the gradients of the active arguments and of what else was wanted."},
    {"check", check, METH_VARARGS, "What a program computes for a call, leaving no trace."},
    {"batch_forward", batch_forward, METH_O, "Run what fits; the numbers of the members that are left."},
    {"batch_backward", batch_backward, METH_O, "Sweep what batch_forward ran; the sum of the values."},
    {"tier", tier, METH_NOARGS, "What runs the program that was used last."},
    {"facts", facts, METH_NOARGS, "What each program is and has done."},
    {"listing", listing, METH_O, "A program as plain Python."},
    {"calls", calls, METH_VARARGS, "The bound calls of a machine."},
    {"strips", strips, METH_VARARGS, "Which calls of a machine are repeated, strip by strip."},
    {"memory", memory, METH_VARARGS, "Where a machine's numbers are."},
    {"watch", watch, METH_VARARGS, "Whom to tell when a machine has run often."},
    {"install", install, METH_VARARGS, "Machine code in place of a machine's calls."},
    {"profile", profile, METH_VARARGS, "How long each call of a machine takes."},
    {"verify", verified, METH_O, "What is wrong with a program, or nothing."},
    {"locate", locate, METH_VARARGS, "The instruction that computes a node of the trace."},
    {"drop", drop, METH_O, "Forget a program."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("The programs of one compiled function.")},
    {Py_tp_new, reinterpret_cast<void*>(new_programs)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {0, nullptr},
};
PyType_Spec spec = {"retrograd._native.Programs", sizeof(Programs), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

bool add_programs_type(PyObject* module) {
  Ref type(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "Programs", type.get()) == 0;
}

}  // namespace retrograd::compiler
