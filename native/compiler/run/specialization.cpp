#include "compiler/run/specialization.hpp"

#include <algorithm>
#include <chrono>

namespace retrograd::compiler {
namespace {

using Clock = std::chrono::steady_clock;

// What the values and gradients of a batch may take of the cache.
constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kMostMembers = 64;
constexpr size_t kEnough = 512;  // numbers of one member, beside which the half microsecond that a run costs is little
constexpr size_t kOften = 2;     // uses of a parameter

// Where there is no pattern, chains of fewer numbers are additions like others.
constexpr size_t kLongChain = 16;

// Whether replaying node by node is quicker than calling a kernel for every few of them.
bool better_replayed(const Entry& entry, const Lowered& lowered) {
  const double calls = static_cast<double>(
      lowered.together() ? lowered.both.calls_made() : lowered.forward.calls_made() + lowered.backward.calls_made());
  return 14.0 * calls + 1.5 * static_cast<double>(entry.program.terms) > 9.0 * static_cast<double>(entry.graph.size());
}

}  // namespace

void Entry::compile() {
  auto start = Clock::now();
  auto done = [&](const char* pass) {
    milliseconds.emplace_back(pass, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    start = Clock::now();
  };
  const Graph expanded = expand(graph);
  done("expand");
  const Terms terms = terms_of(expanded);
  done("terms");
  program = reroll(expanded, terms, leaves);
  if (lacks_pattern(program.terms, program.groups)) {
    Program other = reroll(expanded, terms_of(expanded, kLongChain), leaves, Order::TURNS);
    if (other.instructions.size() < program.instructions.size()) program = std::move(other);
  }
  done("reroll");
  const std::string problem = verify(program, false);
  if (!problem.empty()) throw Unsupported("the compiler's own check failed: " + problem);
  done("verify");
  plan_batches();
  // Literals that expansion added come after the graph's own.
  graph.literals = expanded.literals;
  if (!options.exact) {
    const Lowered& lowered = machine(1).lowered();
    done("lower");
    if (!options.machine && better_replayed(*this, lowered)) options.replay = true;
  }
}

// How members of a batch run best. Together they share every parameter that is loaded and every call of a kernel;
// alone they have machine code, and their numbers at hand. The latter wins where one of them has work for a while, and
// uses a parameter again and again by itself.
void Entry::plan_batches() {
  size_t numbers = 0, parameters = 0, uses = 0;
  for (const Region& region : program.regions) {
    if (region.memory == Memory::VALUE || region.memory == Memory::INPUT) numbers += region.length;
    if (region.memory == Memory::PARAMETER) parameters += region.length;
  }
  for (const Instruction& instruction : program.instructions) {
    size_t iterations = 1;
    for (int i = 0; i < instruction.rank; ++i) iterations *= instruction.sizes[static_cast<size_t>(i)];
    for (int i = 0; i < instruction.operands; ++i) {
      const uint32_t region = instruction.views[static_cast<size_t>(i)].region;
      if (region != kNoRegion && program.regions[region].memory == Memory::PARAMETER) uses += iterations;
    }
  }
  const size_t bytes = 2 * sizeof(double) * std::max<size_t>(numbers, 1);
  members_in_cache = static_cast<uint32_t>(std::clamp<size_t>(kBatchBytes / bytes, 1, kMostMembers));
  stands_alone = numbers >= kEnough && uses >= kOften * parameters;
}

bool Entry::broken() const {
  return std::any_of(stores.begin(), stores.end(), [](const auto& store) { return store->broken(); });
}

int Entry::fits(PyObject* const* args, Py_ssize_t count, Arguments& arguments) const {
  arguments.passive.clear();
  arguments.active.clear();
  arguments.values.clear();
  arguments.indices.clear();
  const int read = spec->read_all(args, count, arguments);
  if (read != 1) return read;
  const auto& limits = program.index_limits;
  for (size_t slot = 0; slot < limits.size() && slot < arguments.indices.size(); ++slot) {
    if (limits[slot] && static_cast<uint32_t>(arguments.indices[slot]) >= limits[slot]) return 0;
  }
  for (const IndexGuard& guard : index_guards) {
    if (!guard.holds(arguments.indices)) return 0;
  }
  return 1;
}

Machine* Entry::existing(uint32_t members) const {
  if (members == 1 && (!many || single->has_code())) return single.get();
  if (many && members <= many->capacity()) many->set_members(members);
  return many && members <= many->capacity() ? many.get() : nullptr;
}

Machine& Entry::machine(uint32_t members) {
  if (Machine* found = existing(members)) return *found;
  std::shared_ptr<Machine>& made = members == 1 ? single : many;
  made = std::make_shared<Machine>(program, graph.literals, stores, members == 1 ? 1 : members_in_cache,
                                   options.float32, workspaces);
  made->set_members(members);
  return *made;
}

Replay& Entry::replayed() {
  if (!replay) replay = std::make_unique<Replay>(graph, leaves, stores);
  return *replay;
}

void Entry::give(Machine& machine, uint32_t member, const Arguments& arguments) const {
  machine.set_inputs(member, false, arguments.passive.data());
  machine.set_inputs(member, true, arguments.active.data());
  const size_t slots = program.index_limits.size();
  std::copy_n(arguments.indices.begin(), std::min(slots, arguments.indices.size()), machine.indices(member));
}

Outcome Entry::replay_forward(const Arguments& arguments) {
  Replay& replay_ = replayed();
  replay_.set_inputs(false, arguments.passive.data());
  replay_.set_inputs(true, arguments.active.data());
  replay_.indices() = arguments.indices;
  return replay_.forward(guards, options.strict);
}

}  // namespace retrograd::compiler
