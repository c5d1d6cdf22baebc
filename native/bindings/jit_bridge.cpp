// What the tier that makes machine code asks for, and where it puts what it made.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <utility>

#include "bindings/new_list.hpp"
#include "bindings/specialization_cache.hpp"
#include "bindings/without_gil.hpp"
#include "compiler/run/twin.hpp"
#include "ops/special.hpp"

namespace retrograd::compiler {
namespace {

// The machine of a program for so many members, set to them; null with an exception set.
std::shared_ptr<Machine> machine_for(const std::shared_ptr<Specialization>& entry, unsigned int members,
                                     int pass = FORWARD) {
  if (!entry) return nullptr;
  if (pass >= 0 && pass < kPasses) {
    if (members == 1 && entry->single) return entry->single;
    if (members != 1 && entry->existing(members)) return entry->many;
  }
  PyErr_SetString(PyExc_IndexError, "there is no such machine");
  return nullptr;
}

struct MachinePass {
  std::shared_ptr<Machine> machine;
  int number;
};

// The pass that the arguments (entry, batch, pass) name; no machine with an exception set.
MachinePass pass_of(PyObject* object, PyObject* args, const char* format) {
  PyObject* number;
  unsigned int batch;
  int pass;
  if (!PyArg_ParseTuple(args, format, &number, &batch, &pass)) return {};
  return {machine_for(specialization_numbered(object, number), batch, pass), pass};
}

// The numbers (uint64) in a bytes object.
std::vector<uint64_t> numbers_in(PyObject* bytes) {
  std::vector<uint64_t> numbers(static_cast<size_t>(PyBytes_Size(bytes)) / sizeof(uint64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), PyBytes_AsString(bytes), numbers.size() * sizeof(uint64_t));
  return numbers;
}

// Keeps a machine alive.
PyObject* capsule_of(const std::shared_ptr<Machine>& machine) {
  auto* shared = std::make_unique<std::shared_ptr<Machine>>(machine).release();
  PyObject* capsule = PyCapsule_New(shared, nullptr, [](PyObject* gone) {
    delete static_cast<std::shared_ptr<Machine>*>(PyCapsule_GetPointer(gone, nullptr));
  });
  if (!capsule) delete shared;
  return capsule;
}

}  // namespace

// kernel_calls(entry, batch, pass): the bound calls of a machine, as bytes of the struct KernelCall.
PyObject* kernel_calls(PyObject* object, PyObject* args) {
  const auto [machine, pass] = pass_of(object, args, "OIi:kernel_calls");
  return machine ? bytes_of(machine->calls(pass)) : nullptr;
}

// strips(entry, batch, pass): which calls of a machine do one strip, as (first, end, times, iterations of the loop, how
// far each pointer of each call moves from one strip to the next, in bytes).
PyObject* strips(PyObject* object, PyObject* args) {
  const auto [machine, pass] = pass_of(object, args, "OIi:strips");
  if (!machine) return nullptr;
  const Pass& of = machine->lowered().pass(pass);
  constexpr long long width = sizeof(double);
  NewList result;
  for (const Repeat& repeat : of.repeats) {
    NewList moves;
    for (size_t i = repeat.begin; i < repeat.end; ++i) {
      NewList steps;
      for (const Address step : of.calls[i].strip_steps) steps.add(PyLong_FromLongLong(step * width));
      moves.add(steps.get() ? PyList_AsTuple(steps.get()) : nullptr);
    }
    result.add(Py_BuildValue("(nnIIN)", static_cast<Py_ssize_t>(repeat.begin), static_cast<Py_ssize_t>(repeat.end),
                             repeat.times, repeat.iterations, moves.release()));
  }
  return result.release();
}

// profile(entry, batch, pass, times): for each call of a machine (kernel, instruction, loops, least nanoseconds).
PyObject* profile(PyObject* object, PyObject* args) {
  PyObject* number;
  unsigned int batch, times;
  int pass;
  if (!PyArg_ParseTuple(args, "OIiI:profile", &number, &batch, &pass, &times)) return nullptr;
  const std::shared_ptr<Machine> machine = machine_for(specialization_numbered(object, number), batch, pass);
  if (!machine) return nullptr;
  machine->enter();
  const std::vector<LoweredCall>& lowered = machine->lowered().pass(pass).calls;
  const std::vector<KernelCall>& list = machine->calls(pass);
  std::vector<double> least(list.size(), 1e300);
  for (unsigned int t = 0; t < times; ++t) {
    for (size_t i = 0; i < list.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      for (int r = 0; r < 8; ++r) list[i].run(list[i]);
      const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
      least[i] = std::min(least[i], spent.count() / 8);
    }
  }
  NewList result;
  for (size_t i = 0; i < list.size(); ++i) {
    const KernelCall& call = list[i];
    result.add(Py_BuildValue("(iI(iiiii)ihd)", static_cast<int>(call.kernel), lowered[i].instruction, call.n[0],
                             call.n[1], call.n[2], call.n[3], call.n[4], call.accumulate, static_cast<short>(call.row),
                             least[i]));
  }
  return result.release();
}

// memory(entry, batch): where the machine of those calls has its numbers, as plain Python: regions as (memory, first
// address, stride from one member to the next, length), in elements of the arrays at "numbers" and "gradients"; the
// blocks (address, bytes) that machine code may refer to; those that never change (address, content); the numbers of
// the passes it runs; from which element on they are local to strips; and something that keeps the memory alive.
PyObject* memory(PyObject* object, PyObject* args) {
  PyObject* number;
  unsigned int batch;
  if (!PyArg_ParseTuple(args, "OI:memory", &number, &batch)) return nullptr;
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, number);
  const std::shared_ptr<Machine> machine = machine_for(entry, batch);
  if (!machine) return nullptr;
  const auto whole = [](auto address) { return static_cast<long long>(address); };
  const auto place = [](uint64_t address) { return static_cast<unsigned long long>(address); };
  const Lowered& lowered = machine->lowered();
  NewList regions, literals, blocks, constants, passes;
  for (size_t i = 0; i < lowered.base.size(); ++i) {
    const Region& region = entry->program.regions[i];
    regions.add(Py_BuildValue("(sLLI)", kRegionKindNames[static_cast<int>(region.kind)], whole(lowered.base[i]),
                              whole(lowered.stride[i]), region.length));
  }
  for (const auto& [at, literal] : machine->literals()) literals.add(Py_BuildValue("(Ld)", whole(at), literal));
  for (const auto& list : {machine->blocks(), machine->constant_blocks()}) {
    for (const Block& block : list) blocks.add(Py_BuildValue("(KK)", place(block.begin), place(block.bytes)));
  }
  for (const Block& block : machine->constant_blocks()) {
    const auto* content = reinterpret_cast<const char*>(static_cast<uintptr_t>(block.begin));
    constants.add(Py_BuildValue("(Ky#)", place(block.begin), content, static_cast<Py_ssize_t>(block.bytes)));
  }
  for (const int pass : machine->passes(entry->destination(*machine))) passes.add(PyLong_FromLong(pass));
  return Py_BuildValue("{s:N,s:N,s:N,s:L,s:L,s:K,s:K,s:N,s:N,s:N}", "blocks", blocks.release(), "constants",
                       constants.release(), "passes", passes.release(), "size", whole(lowered.size), "local",
                       whole(lowered.contracted_begin), "numbers", place(machine->numbers()), "gradients",
                       place(machine->gradients()), "regions", regions.release(), "literals", literals.release(),
                       "keep", capsule_of(machine));
}

// scalar_graph(entry, once): the expanded graph of a program, see arrays_of; which leaves want a gradient (uint8); and
// which roots are several results (uint32). `once`: what is computed twice is computed once.
PyObject* scalar_graph(PyObject* object, PyObject* args) {
  PyObject* number;
  int once;
  if (!PyArg_ParseTuple(args, "Op:scalar_graph", &number, &once)) return nullptr;
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, number);
  if (!entry) return nullptr;
  Graph graph;
  without_gil([&] {
    graph = entry->expanded(false);
    if (once) graph = without_repeats(graph, Repeated::NEAR);
  });
  std::vector<uint8_t> wanted;
  wanted.reserve(entry->leaves.locations.size());
  for (const LeafLocation& place : entry->leaves.locations) {
    wanted.push_back(place.kind == RegionKind::PARAMETER || (place.kind == RegionKind::INPUT && place.active));
  }
  Ref exported(arrays_of(graph)), want(bytes_of(wanted)), results(bytes_of(entry->outputs));
  const auto add = [&](const char* name, const Ref& item) {
    return item && PyDict_SetItemString(exported.get(), name, item.get()) == 0;
  };
  if (!exported || !add("wanted", want) || !add("results", results)) return nullptr;
  return exported.release();
}

// install_graph(entry, width, forward, backward, tables, table_bytes, kept, roots, zeroed, literals, lookups, keep,
// milliseconds): machine code of the whole graph for `width` calls side by side, with `kept` numbers of nodes; `tables`
// has addresses, `roots` the kind and index of each root, `zeroed` where adjoints are zero before the backward pass:
// begin and count, `lookups` the leaf, the slot, the kind and the list of each leaf that an index fills (uint64 each).
PyObject* install_graph(PyObject* object, PyObject* args) {
  PyObject *number, *tables, *roots, *zeroed, *literals, *lookups, *keep;
  unsigned int width;
  unsigned long long forward, backward, table_bytes, kept;
  double milliseconds;
  if (!PyArg_ParseTuple(args, "OIKKSKKSSSSOd:install_graph", &number, &width, &forward, &backward, &tables,
                        &table_bytes, &kept, &roots, &zeroed, &literals, &lookups, &keep, &milliseconds)) {
    return nullptr;
  }
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, number);
  if (!entry) return nullptr;
  auto code = std::make_shared<GraphCode>();
  code->forward = reinterpret_cast<GraphCode::Function>(static_cast<uintptr_t>(forward));
  code->backward = reinterpret_cast<GraphCode::Function>(static_cast<uintptr_t>(backward));
  code->width = width;
  code->tables = numbers_in(tables);
  code->table_bytes = table_bytes;
  code->kept = kept;
  const std::vector<uint64_t> places = numbers_in(roots), ranges = numbers_in(zeroed);
  for (size_t i = 0; i + 1 < places.size(); i += 2) {
    code->roots.emplace_back(static_cast<Id::Kind>(places[i]), static_cast<size_t>(places[i + 1]));
  }
  if (code->roots.size() != entry->graph.roots()) {
    PyErr_SetString(PyExc_ValueError, "install_graph wants a place for each root");
    return nullptr;
  }
  for (size_t i = 0; i + 1 < ranges.size(); i += 2) code->zeroed.emplace_back(ranges[i], ranges[i + 1]);
  for (const uint64_t bits : numbers_in(literals)) code->literals.push_back(std::bit_cast<double>(bits));
  const std::vector<uint64_t> filled = numbers_in(lookups);
  for (size_t i = 0; i + 4 <= filled.size(); i += 4 + filled[i + 3]) {
    const auto list = filled.begin() + static_cast<std::ptrdiff_t>(i) + 4;
    code->lookups.push_back({static_cast<uint32_t>(filled[i]),
                             static_cast<uint32_t>(filled[i + 1]),
                             static_cast<Id::Kind>(filled[i + 2]),
                             {list, list + static_cast<std::ptrdiff_t>(filled[i + 3])}});
  }
  if (!entry->keeps) entry->keeps = Ref(PyList_New(0));
  if (!entry->keeps || PyList_Append(entry->keeps.get(), keep) < 0) return nullptr;
  if (width > 1) {
    entry->group_code = std::move(code);
  } else {
    entry->runner.install(std::move(code));
    entry->idle.clear();
    if (entry->ties.are_many()) entry->contest = Contest();  // vector instructions round otherwise
  }
  self_of(object)->rival->again();
  entry->milliseconds.emplace_back("llvm", milliseconds);
  without_gil([&] {
    if (entry->graph.size() >= kNotKept) entry->graph.pack();
    if (entry->graph.size() >= kLarge) give_memory_back();
  });
  Py_RETURN_NONE;
}

// vector_functions(): how many numbers a vector has, and the addresses of functions of them, by their rows' names.
PyObject* vector_functions(PyObject*, PyObject*) {
  const KernelSet& set = best_kernels();
  Ref functions(PyDict_New());
  for (uint16_t row = 0; functions && row < ROW_COUNT; ++row) {
    const VectorFunction function = set.function(row);
    if (!function) continue;
    Ref address(PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(function)));
    if (!address || PyDict_SetItemString(functions.get(), kRows[row].name, address.get()) < 0) return nullptr;
  }
  return functions ? Py_BuildValue("(IO)", set.width, functions.get()) : nullptr;
}

// special_functions(): the addresses of functions of one or two numbers that C's library lacks, by symbol.
PyObject* special_functions(PyObject*, PyObject*) {
  const auto address = [](auto* function) {
    return static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(function));
  };
  return Py_BuildValue("{sK,sK}", "retrograd_digamma", address(primitive::digamma), "retrograd_polygamma",
                       address(primitive::polygamma));
}

// compare(entry): a program has machine code of both kinds; its next calls decide which is kept in use.
PyObject* compare(PyObject* object, PyObject* number) {
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, number);
  if (!entry) return nullptr;
  if (entry->has_graph_code() && entry->single && entry->single->has_code()) entry->contest.open();
  Py_RETURN_NONE;
}

// notify_when_hot(threshold, hot, token): hot((token, number, batch)) is called when a machine has run that often.
PyObject* notify_when_hot(PyObject* object, PyObject* args) {
  PyObject *hot, *token;
  unsigned int threshold;
  if (!PyArg_ParseTuple(args, "IOO:notify_when_hot", &threshold, &hot, &token)) return nullptr;
  SpecializationCache* self = self_of(object);
  Ref old_hot(self->hot), old_token(self->token);
  self->hot = Py_NewRef(hot);
  self->token = Py_NewRef(token);
  self->threshold = threshold;
  Py_RETURN_NONE;
}

PyObject* fresh(PyObject* object, PyObject*) { return PyBool_FromLong(std::exchange(self_of(object)->fresh, false)); }

// install(entry, batch, pass, address, bases, calls, bytes, keep, milliseconds): machine code that does what those
// calls do; `bases` is the table (uint64) that it takes, `calls` where its copy of the calls is, in so many bytes.
PyObject* install(PyObject* object, PyObject* args) {
  PyObject *number, *bases, *keep;
  unsigned int batch;
  int pass;
  unsigned long long address, calls, bytes;
  double milliseconds;
  if (!PyArg_ParseTuple(args, "OIiKSKKOd:install", &number, &batch, &pass, &address, &bases, &calls, &bytes, &keep,
                        &milliseconds)) {
    return nullptr;
  }
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, number);
  const std::shared_ptr<Machine> machine = machine_for(entry, batch, pass);
  if (!machine) return nullptr;
  if (!entry->keeps) entry->keeps = Ref(PyList_New(0));
  if (!entry->keeps || PyList_Append(entry->keeps.get(), keep) < 0) return nullptr;
  machine->install(pass, {reinterpret_cast<MachineCode::Function>(static_cast<uintptr_t>(address)), numbers_in(bases),
                          calls, static_cast<size_t>(bytes)});
  self_of(object)->rival->again();
  auto& passes = entry->milliseconds;
  if (passes.empty() || std::string_view(passes.back().first) != "llvm") passes.emplace_back("llvm", 0.0);
  passes.back().second += milliseconds;
  Py_RETURN_NONE;
}

}  // namespace retrograd::compiler
