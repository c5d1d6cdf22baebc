// Looking inside: what the programs are, and what they have done.
#include <algorithm>

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
  Ref batches(PyList_New(0));
  for (const uint32_t members : sizes) {
    Ref number(PyLong_FromUnsignedLong(members));
    if (!batches || !number || PyList_Append(batches.get(), number.get()) < 0) return nullptr;
  }
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

}  // namespace

// A graph as arrays: the rows of its nodes (uint16), where the operands of each begin (uint32), the operands (uint32:
// two bits of kind and an index), the roots (uint32), the literals (double), and each node's source line (uint32).
PyObject* arrays_of(const Graph& graph) {
  static_assert(sizeof(Id) == sizeof(uint32_t));
  Ref rows(bytes_of(graph.rows)), first(bytes_of(graph.first)), operands(bytes_of(graph.operands)),
      roots(bytes_of(graph.roots)), literals(bytes_of(graph.literals)), source(bytes_of(graph.source)),
      extra(bytes_of(graph.extra));
  if (!rows || !first || !operands || !roots || !literals || !source || !extra) return nullptr;
  return Py_BuildValue("{s:O,s:O,s:O,s:O,s:O,s:O,s:O}", "rows", rows.get(), "first", first.get(), "operands",
                       operands.get(), "roots", roots.get(), "literals", literals.get(), "source", source.get(),
                       "extra", extra.get());
}

// stages(entry): what the passes make one after the other: "lift" and "expand", see arrays_of; of "reductions" for each
// term its kind (uint8), row (uint16), whether it has a start value (uint8), the node that it computes, its level and
// where its operands begin (uint32), and the operands; of "pack" the terms in order (uint32), and the number of each
// one's group (uint32).
PyObject* stages(PyObject* object, PyObject* argument) {
  Specialization* entry = specialization_numbered(object, argument);
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
  Ref lift(arrays_of(*entry->graph.get())), expand(arrays_of(expanded)), kinds(bytes_of(terms.kinds)),
      rows(bytes_of(terms.rows)), starts(bytes_of(terms.has_init)), results(bytes_of(terms.results)),
      levels(bytes_of(terms.levels)), first(bytes_of(terms.first)), operands(bytes_of(terms.operands)),
      ordered(bytes_of(order)), grouped(bytes_of(groups));
  for (const Ref* each :
       {&lift, &expand, &kinds, &rows, &starts, &results, &levels, &first, &operands, &ordered, &grouped}) {
    if (!*each) return nullptr;
  }
  return Py_BuildValue("{s:O,s:O,s:{s:O,s:O,s:O,s:O,s:O,s:O,s:O},s:{s:O,s:O}}", "lift", lift.get(), "expand",
                       expand.get(), "reductions", "kinds", kinds.get(), "rows", rows.get(), "starts", starts.get(),
                       "results", results.get(), "levels", levels.get(), "first", first.get(), "operands",
                       operands.get(), "pack", "order", ordered.get(), "groups", grouped.get());
}

// tier(): of the program that was used last, which is made now if there is only a graph.
PyObject* tier(PyObject* object, PyObject*) {
  const auto& specializations = *self_of(object)->specializations;
  if (specializations.empty()) return PyUnicode_FromString("eager");
  specializations[0]->compile_late();
  return PyUnicode_FromString(tier_of(*specializations[0]));
}

PyObject* facts(PyObject* object, PyObject*) {
  Ref list(PyList_New(0));
  for (const auto& entry : *self_of(object)->specializations) {
    entry->compile_late();
    Ref one(facts_of(*entry));
    if (!list || !one || PyList_Append(list.get(), one.get()) < 0) return nullptr;
  }
  return list.release();
}

// inventory(): (number, bytes, hits) of each specialization, the one used last first.
PyObject* inventory(PyObject* object, PyObject*) {
  Ref list(PyList_New(0));
  for (const auto& entry : *self_of(object)->specializations) {
    Ref one(Py_BuildValue("(nnn)", static_cast<Py_ssize_t>(entry->number), static_cast<Py_ssize_t>(entry->weight()),
                          static_cast<Py_ssize_t>(entry->hits)));
    if (!list || !one || PyList_Append(list.get(), one.get()) < 0) return nullptr;
  }
  return list.release();
}

// listing(entry): everything a backend or a reader needs to know of a program, as plain Python.
PyObject* listing(PyObject* object, PyObject* argument) {
  Specialization* entry = specialization_numbered(object, argument);
  if (!entry) return nullptr;
  entry->make_readable();
  const Program program = entry->program;  // a collection of garbage below may run code that makes it rest
  Ref regions(PyList_New(0)), instructions(PyList_New(0)), pool(PyList_New(0)), literals(PyList_New(0)),
      roots(PyList_New(0)), leaves(PyList_New(0)), nodes(PyList_New(0)), guards(PyList_New(0));
  if (!regions || !instructions || !pool || !literals || !roots || !leaves || !nodes || !guards) return nullptr;
  auto append = [](const Ref& list, PyObject* item) {
    Ref owned(item);
    return owned && PyList_Append(list.get(), owned.get()) == 0;
  };
  bool done = true;
  for (const Region& region : program.regions) {
    done &= append(regions, Py_BuildValue("(sOLII)", kRegionKindNames[static_cast<int>(region.kind)],
                                          region.active ? Py_True : Py_False, static_cast<long long>(region.base),
                                          region.length, region.buffer));
  }
  for (const Instruction& instruction : program.instructions) done &= append(instructions, instruction_of(instruction));
  for (const int32_t address : program.pool) done &= append(pool, PyLong_FromLong(address));
  for (size_t i = 0; i < program.literals.size(); ++i) {
    if (program.literals[i].address < 0) continue;
    done &= append(literals,
                   Py_BuildValue("(Ld)", static_cast<long long>(program.literals[i].address), entry->literals[i]));
  }
  for (const Location& place : program.roots) done &= append(roots, PyLong_FromLongLong(place.address));
  for (size_t i = 0; i < entry->graph.leaves().size(); ++i) {
    const LeafLocation& place = entry->leaves.locations[i];
    Value* value = place.kind == RegionKind::PARAMETER ? entry->buffers[place.buffer]->value(place.offset) : nullptr;
    PyObject* leaf = value ? as_object(value) : Py_None;
    done &= append(leaves, Py_BuildValue("(OsOII)", leaf, kRegionKindNames[static_cast<int>(place.kind)],
                                         place.active ? Py_True : Py_False, place.buffer, place.offset));
  }
  for (const Address address : program.nodes) done &= append(nodes, PyLong_FromLongLong(address));
  for (const Guard& guard : entry->guards) {
    Ref right(guard.right ? PyLong_FromUnsignedLong(guard.right) : Py_NewRef(Py_None));
    done &= right && append(guards, Py_BuildValue("(sIOdO)", kTestNames[guard.test], guard.left, right.get(),
                                                  guard.number, guard.outcome ? Py_True : Py_False));
  }
  if (!done) return nullptr;
  return Py_BuildValue("{s:O,s:O,s:O,s:O,s:O,s:O,s:O,s:O,s:L}", "regions", regions.get(), "instructions",
                       instructions.get(), "pool", pool.get(), "literals", literals.get(), "roots", roots.get(),
                       "leaves", leaves.get(), "nodes", nodes.get(), "guards", guards.get(), "size",
                       static_cast<long long>(program.size));
}

PyObject* verified(PyObject* object, PyObject* argument) {
  Specialization* entry = specialization_numbered(object, argument);
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
  Specialization* entry = specialization_numbered(object, number);
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
