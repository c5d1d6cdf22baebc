// A program is added: a trace, as Python describes it, becomes an entry.
#include <algorithm>
#include <chrono>

#include "bindings/programs.hpp"

namespace retrograd::compiler {
namespace {

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

// Where each leaf of the graph lives: inputs first, as `actives` says, the others in buffers.
void place_leaves(Specialization& entry, const std::vector<bool>& actives, const std::vector<uint32_t>& offsets) {
  LeafLayout& leaves = entry.leaves;
  const size_t inputs = actives.size();
  for (size_t i = 0; i < inputs; ++i) {
    leaves.locations.push_back({RegionKind::INPUT, actives[i], 0, offsets[i]});
    uint32_t& count = actives[i] ? leaves.active_inputs : leaves.inactive_inputs;
    count = std::max(count, offsets[i] + 1);
  }
  const std::vector<Value*> parameters(entry.graph.leaves.begin() + static_cast<std::ptrdiff_t>(inputs),
                                       entry.graph.leaves.end());
  for (const BufferSlot& place : assign_buffers(parameters)) {
    auto known = std::find(entry.buffers.begin(), entry.buffers.end(), place.buffer);
    const auto number = static_cast<uint32_t>(known - entry.buffers.begin());
    if (known == entry.buffers.end()) {
      entry.buffers.push_back(place.buffer);
      leaves.buffer_sizes.push_back(static_cast<uint32_t>(place.buffer->size()));
    }
    leaves.locations.push_back({RegionKind::PARAMETER, true, number, place.index});
  }
}

// The leaves whose gradients are wanted beside those of the inputs; kNoLeaf for one that nothing depends on.
void find_wanted(Specialization& entry, const std::vector<Value*>& values) {
  for (const Value* value : values) {
    const auto& leaves = entry.graph.leaves;
    const auto found = std::find(leaves.begin(), leaves.end(), value);
    entry.wanted.push_back(found == leaves.end() ? kNoLeaf : static_cast<uint32_t>(found - leaves.begin()));
  }
}

}  // namespace

PyObject* add(PyObject* object, PyObject* args) {
  PyObject *spec, *roots, *inputs, *actives, *offsets, *selections, *guards, *index_guards, *wanted, *order;
  auto entry = std::make_unique<Specialization>(*self_of(object)->workspaces);
  unsigned long long since;
  int exact, float32, strict;
  const char* tier;
  if (!PyArg_ParseTuple(args, "lOO!O!O!O!O!O!O!O!O!Kppps:add", &entry->mode, &spec, &PyList_Type, &roots, &PyList_Type,
                        &inputs, &PyList_Type, &actives, &PyList_Type, &offsets, &PyList_Type, &selections,
                        &PyList_Type, &guards, &PyList_Type, &index_guards, &PyList_Type, &wanted, &PyList_Type, &order,
                        &since, &exact, &float32, &strict, &tier)) {
    return nullptr;
  }
  if (!flush_parameters()) return nullptr;
  entry->options.exact = exact || std::string_view(tier) == "interpreter";
  entry->options.float32 = float32;
  entry->options.strict = strict;
  entry->options.machine = std::string_view(tier) == "vm" || std::string_view(tier) == "llvm";
  entry->signature = Signature::parse(spec);
  std::vector<Value*> root_values, input_values, wanted_values;
  std::vector<Selection> chosen;
  std::vector<Guard> slots;
  if (!entry->signature || !read_values(roots, root_values) || !read_values(inputs, input_values) ||
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
  const auto start = std::chrono::steady_clock::now();
  entry->graph = lift(root_values, input_values, chosen, since);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  entry->milliseconds.emplace_back("lift", spent.count());
  place_leaves(*entry, is_active, places);
  for (const auto& buffer : entry->buffers) {
    if (entry->options.exact) buffer->be_exact();
  }
  find_wanted(*entry, wanted_values);
  for (Py_ssize_t i = 0; i < PyList_Size(order); ++i) entry->order.push_back(PyLong_AsLong(PyList_GetItem(order, i)));
  entry->compile();
  Programs* self = self_of(object);
  self->fresh = true;
  entry->number = self->made++;
  self->specializations->insert(self->specializations->begin(), std::move(entry));
  return PyLong_FromSize_t(self->made - 1);
}

PyObject* drop(PyObject* object, PyObject* argument) {
  const Specialization* entry = specialization_numbered(object, argument);
  if (!entry) return nullptr;
  auto& specializations = *self_of(object)->specializations;
  const auto found =
      std::find_if(specializations.begin(), specializations.end(), [&](const auto& one) { return one.get() == entry; });
  const auto dropped = std::move(*found);  // what it lets go of may come back here
  specializations.erase(found);
  Py_RETURN_NONE;
}

}  // namespace retrograd::compiler
