// Looking inside: what the programs are, and what they have done.
#include <algorithm>

#include "bindings/new_list.hpp"
#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {
namespace {

const char* tier_of(const Specialization& entry) {
  if (entry.has_graph_code()) return "llvm";
  if (entry.options.exact || entry.options.interpret) return "interpreter";
  return entry.single->has_code() ? "llvm" : "vm";
}

PyObject* facts_of(const Specialization& entry) {
  Ref passes(PyDict_New());
  for (auto& [pass, time] : entry.milliseconds) {
    Ref number(PyFloat_FromDouble(time));
    if (!passes || !number || PyDict_SetItemString(passes.get(), pass, number.get()) < 0) return nullptr;
  }
  size_t forward_calls = 0, backward_calls = 0, bytes = 0, strip = 0;
  std::vector<uint32_t> sizes;
  if (entry.single) {
    forward_calls = entry.single->calls(0).size();
    const Lowered& lowered = entry.single->lowered();
    backward_calls = lowered.is_fused() ? lowered.fused.calls.size() - forward_calls : lowered.backward.calls.size();
    strip = lowered.strips.size;
    bytes = 2 * entry.single->bytes();
    sizes.push_back(1);
  }
  if (entry.many && !entry.runs_nodes_in_batches()) {
    bytes = std::max(bytes, 2 * entry.many->bytes());  // their memory is the same
    for (const uint32_t members : entry.many->batch_sizes()) {
      if (members > 1) sizes.push_back(members);
    }
  }
  NewList batches;
  for (const uint32_t members : sizes) batches.add(PyLong_FromUnsignedLong(members));
  bytes += entry.runner.bytes();
  auto size = [](size_t n) { return static_cast<unsigned long long>(n); };
  return Py_BuildValue("{s:K,s:O,s:O,s:O,s:I,s:O,s:s,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:O,s:O}",
                       "number", size(entry.number), "ties", entry.ties.are_many() ? Py_True : Py_False, "one_by_one",
                       entry.gains_little_together() ? Py_True : Py_False, "in_batches",
                       entry.in_batches > 0 ? Py_True : Py_False, "side_by_side", entry.group_width(), "graph_code",
                       entry.has_graph_code() && entry.runs_nodes() ? Py_True : Py_False, "tier", tier_of(entry),
                       "nodes", size(entry.graph.size()), "terms", size(entry.outline.terms), "groups",
                       size(entry.outline.groups), "instructions", size(entry.outline.instructions), "forward_calls",
                       size(forward_calls), "backward_calls", size(backward_calls), "bytes", size(bytes), "guards",
                       size(entry.guards.size() + entry.index_guards.size()), "hits", size(entry.hits), "broken_guards",
                       size(entry.broken_guards), "exceptional", size(entry.exceptional), "strip", size(strip),
                       "milliseconds", passes.get(), "batches", batches.get());
}

PyObject* view_of(const View& view, int rank) {
  NewList strides;
  for (int i = 0; i < rank; ++i) strides.add(PyLong_FromLong(view.strides[i]));
  const long region = view.region == kNoRegion ? -1 : static_cast<long>(view.region);
  return Py_BuildValue("(lLN)", region, static_cast<long long>(view.base), strides.release());
}

PyObject* instruction_of(const Instruction& instruction) {
  static constexpr const char* names[] = {"map", "indexed", "dot", "sum", "extreme", "gather", "select"};
  NewList sizes, views;
  for (int i = 0; i < instruction.rank; ++i) sizes.add(PyLong_FromUnsignedLong(instruction.sizes[i]));
  for (int i = 0; i < instruction.operands; ++i) views.add(view_of(instruction.views[i], instruction.rank));
  const char* row = instruction.row < ROW_COUNT        ? kRows[instruction.row].name
                    : instruction.row == ROW_FIRST_MAX ? "first_max"
                    : instruction.row == ROW_FIRST_MIN ? "first_min"
                    : instruction.row == ROW_LARGEST   ? "largest"
                                                       : "select";
  return Py_BuildValue("{s:s,s:s,s:N,s:i,s:N,s:N,s:O,s:O,s:i,s:I,s:I,s:I}", "code",
                       names[static_cast<int>(instruction.code)], "row", row, "sizes", sizes.release(), "reduced",
                       instruction.reduced, "result", view_of(instruction.result, instruction.rank), "views",
                       views.release(), "has_init", instruction.has_init ? Py_True : Py_False, "through_pool",
                       instruction.through_pool ? Py_True : Py_False, "stride", instruction.stride, "limit",
                       instruction.limit, "source", instruction.source, "terms", instruction.terms);
}

}  // namespace

// A graph as arrays: the rows of its nodes (uint16), where the operands of each begin (uint32), the operands (uint32:
// two bits of kind and an index), the roots (uint32), the literals (double), and each node's source line (uint32).
PyObject* arrays_of(const Graph& graph) {
  static_assert(sizeof(Id) == sizeof(uint32_t));
  return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "rows", bytes_of(graph.rows), "first", bytes_of(graph.first),
                       "operands", bytes_of(graph.operands), "roots", bytes_of(graph.roots), "literals",
                       bytes_of(graph.literals), "source", bytes_of(graph.source), "extra", bytes_of(graph.extra));
}

// stages(entry): what the passes make one after the other: "lift" and "expand", see arrays_of; of "reductions" for each
// term its kind (uint8), row (uint16), whether it has a start value (uint8), the node that it computes, its level and
// where its operands begin (uint32), and the operands; of "pack" the terms in order (uint32), and the number of each
// one's group (uint32).
PyObject* stages(PyObject* object, PyObject* argument) {
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, argument);
  if (!entry) return nullptr;
  const Graph expanded = entry->expanded(true);
  const Scheduled made = entry->schedule(expanded, true);
  std::vector<uint32_t> order, groups;
  for (const PackKey& key : made.packs.keys) {
    const bool begins = order.empty() || !made.packs.keys[order.size() - 1].same_pack(key);
    groups.push_back(groups.empty() ? 0 : groups.back() + begins);
    order.push_back(key.term);
  }
  const Terms& terms = made.terms;
  return Py_BuildValue("{s:N,s:N,s:{s:N,s:N,s:N,s:N,s:N,s:N,s:N},s:{s:N,s:N}}", "lift", arrays_of(*entry->graph.get()),
                       "expand", arrays_of(expanded), "reductions", "kinds", bytes_of(terms.kinds), "rows",
                       bytes_of(terms.rows), "starts", bytes_of(terms.has_init), "results", bytes_of(terms.results),
                       "levels", bytes_of(terms.levels), "first", bytes_of(terms.first), "operands",
                       bytes_of(terms.operands), "pack", "order", bytes_of(order), "groups", bytes_of(groups));
}

// tier(): of the program that was used last, which is made now if there is only a graph.
PyObject* tier(PyObject* object, PyObject*) {
  const auto& specializations = *self_of(object)->specializations;
  if (specializations.empty()) return PyUnicode_FromString("eager");
  specializations[0]->compile_late();
  return PyUnicode_FromString(tier_of(*specializations[0]));
}

PyObject* facts(PyObject* object, PyObject*) {
  NewList list;
  for (const auto& entry : std::vector(*self_of(object)->specializations)) {
    entry->compile_late();
    list.add(facts_of(*entry));
  }
  return list.release();
}

// inventory(): (number, bytes, hits) of each specialization, the one used last first.
PyObject* inventory(PyObject* object, PyObject*) {
  NewList list;
  for (const auto& entry : *self_of(object)->specializations) {
    list.add(Py_BuildValue("(nnn)", static_cast<Py_ssize_t>(entry->number), static_cast<Py_ssize_t>(entry->weight()),
                           static_cast<Py_ssize_t>(entry->hits)));
  }
  return list.release();
}

// listing(entry): everything a backend or a reader needs to know of a program, as plain Python.
PyObject* listing(PyObject* object, PyObject* argument) {
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, argument);
  if (!entry) return nullptr;
  entry->make_readable();
  const Program program = entry->program;  // a collection of garbage below may run code that makes it rest
  NewList regions, instructions, pool, literals, roots, leaves, nodes, guards;
  for (const Region& region : program.regions) {
    regions.add(Py_BuildValue("(sOLII)", kRegionKindNames[static_cast<int>(region.kind)],
                              region.active ? Py_True : Py_False, static_cast<long long>(region.base), region.length,
                              region.buffer));
  }
  for (const Instruction& instruction : program.instructions) instructions.add(instruction_of(instruction));
  for (const int32_t address : program.pool) pool.add(PyLong_FromLong(address));
  for (size_t i = 0; i < program.literals.size(); ++i) {
    const Address address = program.literals[i].address;
    if (address >= 0) literals.add(Py_BuildValue("(Ld)", static_cast<long long>(address), entry->literals[i]));
  }
  for (const Location& place : program.roots) roots.add(PyLong_FromLongLong(place.address));
  for (size_t i = 0; i < entry->graph.leaves().size(); ++i) {
    const LeafLocation& place = entry->leaves.locations[i];
    Value* value = place.kind == RegionKind::PARAMETER ? entry->buffers[place.buffer]->value(place.offset) : nullptr;
    leaves.add(Py_BuildValue("(OsOII)", value ? as_object(value) : Py_None,
                             kRegionKindNames[static_cast<int>(place.kind)], place.active ? Py_True : Py_False,
                             place.buffer, place.offset));
  }
  for (const Address address : program.nodes) nodes.add(PyLong_FromLongLong(address));
  for (const Guard& guard : entry->guards) {
    guards.add(Py_BuildValue("(sINdO)", kTestNames[guard.test], guard.left,
                             guard.right ? PyLong_FromUnsignedLong(guard.right) : Py_NewRef(Py_None), guard.number,
                             guard.outcome ? Py_True : Py_False));
  }
  return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:L}", "regions", regions.release(), "instructions",
                       instructions.release(), "pool", pool.release(), "literals", literals.release(), "roots",
                       roots.release(), "leaves", leaves.release(), "nodes", nodes.release(), "guards",
                       guards.release(), "size", static_cast<long long>(program.size));
}

PyObject* verified(PyObject* object, PyObject* argument) {
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, argument);
  if (!entry) return nullptr;
  entry->make_readable();
  std::string problem = verify(entry->program, true);
  if (problem.empty() && entry->single) problem = verify(entry->program, entry->single->lowered().strips);
  return PyUnicode_FromString(problem.c_str());
}

// locate(entry, node): the number of the instruction that computes a node of the trace, or that took it in; None for
// what is no node of it.
PyObject* locate(PyObject* object, PyObject* args) {
  PyObject *number, *node;
  if (!PyArg_ParseTuple(args, "OO:locate", &number, &node)) return nullptr;
  const std::shared_ptr<Specialization> entry = specialization_numbered(object, number);
  if (!entry) return nullptr;
  entry->make_readable();
  const std::shared_ptr<const Graph> traced = entry->graph.get();
  const auto& values = traced->values;
  const auto found = std::find(values.begin(), values.end(), as_value(node));
  if (found == values.end()) Py_RETURN_NONE;
  std::vector<Id> renamed;
  const Graph expanded = entry->expanded(true, &renamed);
  Id id = renamed[static_cast<size_t>(found - values.begin())];
  // A partial sum or a product without a place of its own belongs to the one node that uses it.
  for (size_t user = id.index(); id.is_node() && entry->program.nodes[id.index()] < 0 && user < expanded.size();
       ++user) {
    auto operands = expanded.operands_of(user);
    if (std::find(operands.begin(), operands.end(), id) != operands.end()) id = {Id::NODE, user};
  }
  if (!id.is_node() || entry->program.nodes[id.index()] < 0) Py_RETURN_NONE;
  const size_t producer = producers_of(entry->program, {&entry->program.nodes[id.index()], 1}).front();
  if (producer == entry->program.instructions.size()) Py_RETURN_NONE;
  return PyLong_FromSize_t(producer);
}

}  // namespace retrograd::compiler
