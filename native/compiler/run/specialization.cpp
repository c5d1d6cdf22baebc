#include "compiler/run/specialization.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/passes/packing.hpp"
#include "compiler/run/twin.hpp"

namespace retrograd::compiler {
namespace {

using Clock = std::chrono::steady_clock;

// The share of the cache that the values and gradients of a batch may take.
constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kLargestBatch = 64;
constexpr size_t kEnough = 512;  // numbers of one batch element, beside which the half microsecond per run is little
constexpr size_t kOften = 2;     // uses of a parameter

// In irregular programs, shorter chains stay additions.
constexpr size_t kLongChain = 16;
// The list schedule, whose instructions have longer lists, must save some packs.
constexpr double kFewer = 0.95;

// Whether the interpreter is faster than one kernel call for every few of a graph's nodes.
bool interpreter_is_faster(size_t nodes, size_t terms, size_t calls) {
  return 14.0 * static_cast<double>(calls) + 1.5 * static_cast<double>(terms) > 9.0 * static_cast<double>(nodes);
}

// Where more than one address in so many terms is in a list, another order in the packs is tried.
constexpr size_t kOftenListed = 8;
// What a program's addresses in lists and its kernel calls cost, in a list's addresses.
size_t expected_cost(const Program& program) { return program.pool.size() + 32 * program.instructions.size(); }

// How many kernel calls it becomes at least: each instruction makes one, and one more where its result has a gradient.
size_t fewest_calls(const Program& program) {
  const auto backward = std::count_if(program.instructions.begin(), program.instructions.end(),
                                      [&](const Instruction& of) { return program.regions[of.result.region].active; });
  return program.instructions.size() + static_cast<size_t>(backward);
}

// How far a program's numbers may be from the interpreter's, as in Python's half; values relative to the value (or 1),
// gradients to the largest of them.
constexpr double kTolerance = 1e-7;
constexpr double kGolden = 0.61803398875;

bool near(double ours, double theirs, double scale) {
  if (ours == theirs || (std::isnan(ours) && std::isnan(theirs))) return true;
  return std::abs(ours - theirs) <= kTolerance * scale && std::isfinite(scale);
}

bool alike(const Results& ours, const Results& theirs) {
  const auto near_value = [](double a, double b) { return near(a, b, std::max(1.0, std::abs(b))); };
  if (!near_value(ours.value, theirs.value)) return false;
  for (size_t i = 0; i < ours.outputs.size(); ++i) {
    if (!near_value(ours.outputs[i], theirs.outputs[i])) return false;
  }
  double largest = 1e-300;
  for (const double gradient : theirs.gradients) {
    if (std::isfinite(gradient)) largest = std::max(largest, std::abs(gradient));
  }
  for (size_t i = 0; i < ours.gradients.size(); ++i) {
    if (!near(ours.gradients[i], theirs.gradients[i], largest)) return false;
  }
  return true;
}

size_t calls_of(const Lowered& lowered) {
  return lowered.is_fused() ? lowered.fused.executed_calls()
                            : lowered.forward.executed_calls() + lowered.backward.executed_calls();
}

}  // namespace

Specialization::Specialization(Workspaces& shared, Graph traced) : workspaces(shared), graph(std::move(traced)) {}
Specialization::~Specialization() = default;

void Specialization::want(std::vector<WantedGradient> wanted) {
  gradients = std::move(wanted);
  wants_inputs = true;
  for (uint32_t i = 0; i < gradients.size(); ++i) {
    wants_inputs &= gradients[i] == WantedGradient{WantedGradient::INPUT, i};
  }
}

void Specialization::compile() {
  auto start = Clock::now();
  auto done = [&](const char* pass) {
    milliseconds.emplace_back(pass, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    start = Clock::now();
  };
  stage = Stage::COMPILED;
  trim_arena();
  const Graph expanded = this->expanded(true);
  done("expand");
  const bool wanted = options.exact || options.machine || options.at_once || graph.size() < kNotKept;
  program = schedule(expanded, wanted).program;
  done("reroll");
  if (program.regions.empty()) return;
  const std::string problem = verify(program, false);
  if (!problem.empty()) throw Unsupported("the compiler's own check failed: " + problem);
  done("verify");
  plan_batches();
  // The literals that expansion added come after the graph's own.
  literals = expanded.literals;
  if (options.exact) return;
  // Where the fewest calls are too many already, no machine is made.
  options.interpret = !options.machine && interpreter_is_faster(graph.size(), program.terms, fewest_calls(program));
  if (!options.interpret) {
    const size_t calls = calls_of(machine(1).lowered());
    done("lower");
    options.interpret = !options.machine && interpreter_is_faster(graph.size(), program.terms, calls);
  }
  if (options.interpret && !wanted) {
    single.reset();
    program = {};
    std::vector<double>().swap(literals);
  }
}

void Specialization::compile_late() try {
  if (stage == Stage::TRACED) compile();
} catch (const Unsupported&) {
  options.interpret = true;
  stage = Stage::COMPILED;
}

void Specialization::make_readable() try {
  if (!program.nodes.empty()) return;
  const Graph expanded = this->expanded(true);
  Program made = schedule(expanded, true).program;
  if (!program.regions.empty()) {
    program.nodes = std::move(made.nodes);
    return;
  }
  program = std::move(made);
  literals = expanded.literals;
} catch (const Unsupported&) {
  program = {};  // there is nothing to look at
}

void Specialization::settle(const Arguments& arguments) {
  compile_late();
  bool decided = true;
  if (!options.interpret && !agrees(arguments, &decided) && decided) options.interpret = true;
  if (!decided) {  // as in each call, perhaps, where an infinite number is one of the program's own
    tries_from = 2 * std::max<size_t>(runs, kRunsOfGraph);
    return;
  }
  stage = Stage::SETTLED;
  if (!options.interpret) {
    runner.rest();
    if (graph.size() >= kNotKept) rest();
  }
  if (graph.size() >= kLarge) give_memory_back();
}

void Specialization::rest() {
  runner.rest();
  idle.clear();
  std::vector<Address>().swap(program.nodes);
  graph.pack();
}

// Not decided where a number is not finite, or a comparison comes out differently in this call.
bool Specialization::agrees(const Arguments& arguments, bool* decided) {
  Arguments weighted = arguments.copy();
  const size_t first = weighted.passive.size() - cotangents();
  for (size_t i = 0; i < cotangents(); ++i) {
    weighted.passive[first + i] = 1.0 + std::fmod(kGolden * static_cast<double>(i), 1.0);
  }
  *decided = run_graph(weighted) == Outcome::DONE;
  if (!*decided) return false;
  runner.backward(1.0, GradientDestination::WORKSPACE);
  const Results theirs = results(true);
  Machine& machine = this->machine(1);
  machine.enter();
  give(machine, 0, weighted);
  const Outcome outcome = machine.forward(guards, Wanted::GRADIENTS);
  *decided = outcome != Outcome::EXCEPTIONAL;
  if (outcome != Outcome::DONE) return false;
  machine.backward(1.0, GradientDestination::WORKSPACE);
  if (machine.forward(guards, Wanted::GRADIENTS) != Outcome::DONE) return false;
  machine.backward(1.0, GradientDestination::WORKSPACE);  // once more, so that what it leaves behind shows
  return alike(results(false), theirs);
}

Results Specialization::results(bool interpreted) const {
  Results found;
  const auto root = [&](uint32_t which) { return interpreted ? runner.root(which) : single->root(0, which); };
  found.value = root(0);
  for (const uint32_t output : outputs) found.outputs.push_back(root(output));
  std::vector<double> inputs(leaves.active_inputs);
  if (!interpreted) single->input_gradients(0, inputs.data());
  for (size_t i = 0; i < graph.leaves().size(); ++i) {
    const LeafLocation& place = leaves.locations[i];
    const bool is_input = place.kind == RegionKind::INPUT;
    found.gradients.push_back(is_input && !place.active ? 0.0
                              : interpreted             ? runner.leaf_gradient(i)
                              : is_input                ? inputs[place.offset]
                                                        : single->parameter_gradient(place.buffer, place.offset));
  }
  return found;
}

Scheduled Specialization::schedule(const Graph& expanded, bool wanted) {
  Scheduled made;
  auto& [terms, packs, result] = made;
  terms = terms_of(expanded);
  // Whether the interpreter is faster than a program of so many packs, each of which makes one call at least.
  const auto ends_here = [&](size_t groups, size_t calls) {
    outline = {terms.size(), groups, groups};
    options.interpret |= !wanted && interpreter_is_faster(graph.size(), terms.size(), calls);
    return options.interpret && !wanted;
  };
  if (!wanted) {
    const size_t calls = fewest_calls(expanded, terms, leaves);
    if (ends_here(calls / 2, calls)) return made;  // a pack makes two calls at most
  }
  packs = pack_terms(expanded, terms, leaves);
  const bool irregular = is_irregular(terms.size(), packs.count);
  if (irregular) {
    Terms short_chains = terms_of(expanded, kLongChain);
    Packs listed = pack_terms(expanded, short_chains, leaves, Schedule::LIST);
    if (static_cast<double>(listed.count) < kFewer * static_cast<double>(packs.count)) {
      terms = std::move(short_chains);
      packs = std::move(listed);
    }
  }
  if (ends_here(packs.count, packs.fewest_calls())) return made;
  result = reroll(expanded, terms, leaves, packs);
  const auto worth_another = [&] {
    if (irregular || result.pool.size() * kOftenListed <= result.terms) return false;
    return options.machine || !interpreter_is_faster(graph.size(), result.terms, fewest_calls(result));
  };
  if (worth_another()) {
    Packs used_alike = pack_terms(expanded, terms, leaves, Schedule::BY_USE);
    if (!used_alike.same_order(packs)) {
      Program by_use = reroll(expanded, terms, leaves, used_alike);
      if (expected_cost(by_use) < expected_cost(result)) {
        result = std::move(by_use);
        packs = std::move(used_alike);
      }
    }
  }
  outline = {result.terms, result.groups, result.instructions.size()};
  return made;
}

Graph Specialization::expanded(bool for_vectors, std::vector<Id>* renamed) const {
  const std::shared_ptr<const Graph> traced = graph.get();
  if (!options.simplify) return expand(*traced, for_vectors, nullptr, renamed);
  std::vector<bool> active;
  active.reserve(leaves.locations.size());
  for (const LeafLocation& place : leaves.locations) {
    active.push_back(place.kind == RegionKind::PARAMETER || place.active);
  }
  return expand(*traced, for_vectors, &active, renamed);
}

// Chooses how batches run. Elements that run together share each load of a parameter and each kernel call. Running one
// element at a time uses JIT code with constant addresses; prefer it when an element is large and reuses parameters.
void Specialization::plan_batches() {
  size_t numbers = 0, parameters = 0, uses = 0;
  for (const Region& region : program.regions) {
    if (region.kind == RegionKind::VALUE || region.kind == RegionKind::INPUT) numbers += region.length;
    if (region.kind == RegionKind::PARAMETER) parameters += region.length;
  }
  for (const Instruction& instruction : program.instructions) {
    size_t iterations = 1;
    for (int i = 0; i < instruction.rank; ++i) iterations *= instruction.sizes[static_cast<size_t>(i)];
    for (int i = 0; i < instruction.operands; ++i) {
      const uint32_t region = instruction.views[static_cast<size_t>(i)].region;
      if (region != kNoRegion && program.regions[region].kind == RegionKind::PARAMETER) uses += iterations;
    }
  }
  const size_t bytes = 2 * sizeof(double) * std::max<size_t>(numbers, 1);
  batch_in_cache = static_cast<uint32_t>(std::clamp<size_t>(kBatchBytes / bytes, 1, kLargestBatch));
  prefer_unbatched = numbers >= kEnough && uses >= kOften * parameters;
}

bool Specialization::invalid() const {
  return std::any_of(buffers.begin(), buffers.end(), [](const auto& buffer) { return buffer->invalid(); });
}

size_t Specialization::cost() const { return graph.operands() * (!runs_nodes() ? 1 : has_graph_code() ? 4 : 40); }

bool Specialization::gains_little_together() const {
  // As measured: code for groups of members is faster where instructions are many and have fewer nodes.
  constexpr size_t kManyInstructions = 64, kFewNodes = 40;
  const size_t instructions = outline.instructions;
  if (instructions >= kManyInstructions && graph.size() < kFewNodes * instructions) return true;
  const double together = 45.0 * static_cast<double>(instructions) / batch_in_cache;
  return together > 200.0 + 0.05 * static_cast<double>(graph.operands());
}

size_t Specialization::weight() const {
  const auto of = [](const auto& vector) { return vector.capacity() * sizeof(*vector.data()); };
  size_t bytes = graph.bytes() + runner.bytes() + of(leaves.locations) + of(program.regions) +
                 of(program.instructions) + of(program.pool) + of(program.literals) + of(program.nodes) + of(literals) +
                 of(guards) + of(index_guards) + of(outputs) + of(gradients);
  for (const auto& made : {single, many}) {
    if (!made) continue;
    for (const auto* pass : {&made->lowered().forward, &made->lowered().backward, &made->lowered().fused}) {
      bytes += of(pass->calls) + pass->calls.size() * sizeof(KernelCall);
    }
  }
  for (const auto& twin : idle) bytes += twin->bytes();
  return bytes;
}

int Specialization::matches(PyObject* const* args, Py_ssize_t count, Arguments& arguments) const {
  arguments.passive.resize(leaves.inactive_inputs);  // all that a call has is read below, over what was there
  arguments.active.resize(leaves.active_inputs);
  arguments.values.clear();
  arguments.indices.clear();
  const int read = signature->read_all(args, count, arguments);
  std::fill_n(arguments.passive.rbegin(), cotangents(), 0.0);
  return read == 1 ? accepts(arguments) : read;
}

bool Specialization::may_continue(const Specialization& other, Divergence there) const {
  if (code != other.code) return true;
  const auto [found, is_new] = in_common_with.try_emplace(other.number);
  if (is_new) found->second = in_common(other);
  const auto [common, asks_alike] = found->second;
  if (!asks_alike) return true;  // whether an int is this one, or that one
  return there.certain <= common && common <= there.broken;
}

Common Specialization::in_common(const Specialization& other) const {
  const auto ask_alike = [](const Guard& a, const Guard& b) { return a.test == b.test && a.number == b.number; };
  const auto alike = [&](const Guard& a, const Guard& b) { return a.outcome == b.outcome && ask_alike(a, b); };
  const auto [mine, theirs] =
      std::mismatch(guards.begin(), guards.end(), other.guards.begin(), other.guards.end(), alike);
  const bool ends = mine == guards.end() || theirs == other.guards.end();
  return {static_cast<size_t>(mine - guards.begin()), ends || ask_alike(*mine, *theirs)};
}

bool Specialization::must_be_plain(const Arguments& arguments) const {
  if (!options.simplify) return false;
  const auto finite = [](const std::vector<double>& numbers) {
    return best_kernels().all_finite(numbers.data(), static_cast<int64_t>(numbers.size()));
  };
  return !finite(arguments.active) || !finite(arguments.passive);
}

Outcome Specialization::run_graph(const Arguments& arguments) {
  return checked(runner.forward(arguments, guards, options.float_errors));
}

Outcome Specialization::run_by_nodes(const Arguments& arguments) {
  return checked(runner.forward_by_nodes(arguments, guards, options.float_errors));
}

Outcome Specialization::checked(Outcome outcome) const {
  if (outcome != Outcome::DONE || !options.simplify) return outcome;
  // In what was simplified, an infinity times a derivative that is zero is NaN; in the engine it adds nothing.
  const auto results = runner.results();
  const bool finite =
      std::all_of(results.begin(), results.end(), [](const double* one) { return std::isfinite(*one); });
  return finite && std::isfinite(runner.root(0)) ? outcome : Outcome::EXCEPTIONAL;
}

bool Specialization::accepts(const Arguments& arguments) const {
  const auto& limits = index_limits;
  for (size_t slot = 0; slot < limits.size() && slot < arguments.indices.size(); ++slot) {
    if (limits[slot] && static_cast<uint32_t>(arguments.indices[slot]) >= limits[slot]) return false;
  }
  return std::all_of(index_guards.begin(), index_guards.end(),
                     [&](const IndexGuard& guard) { return guard.holds(arguments.indices); });
}

Machine* Specialization::existing(uint32_t members) const {
  if (members == 1 && (!many || (single && single->has_code()))) return single.get();
  if (many && members <= many->capacity()) many->set_batch_size(members);
  return many && members <= many->capacity() ? many.get() : nullptr;
}

Machine& Specialization::machine(uint32_t members) {
  if (Machine* found = existing(members)) return *found;
  std::shared_ptr<Machine>& made = members == 1 ? single : many;
  made = std::make_shared<Machine>(program, literals, outputs, buffers, members == 1 ? 1 : batch_in_cache, workspaces);
  made->set_batch_size(members);
  return *made;
}

void Specialization::give(Machine& machine, uint32_t member, const Arguments& arguments) const {
  machine.set_inputs(member, false, arguments.passive.data());
  machine.set_inputs(member, true, arguments.active.data());
  const size_t slots = program.index_limits.size();
  std::copy_n(arguments.indices.begin(), std::min(slots, arguments.indices.size()), machine.indices(member));
}

}  // namespace retrograd::compiler
