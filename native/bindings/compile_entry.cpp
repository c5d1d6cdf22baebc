// Compiling: what Python recorded becomes a specialization.
#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "bindings/compile_request.hpp"
#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {
namespace {

// Where each leaf of the graph lives: in parameter buffers, or among the inputs, which come last.
void place_leaves(Specialization& entry, const std::vector<RequestedInput>& inputs) {
  LeafLayout& leaves = entry.leaves;
  const std::vector<Value*>& all = entry.graph.leaves();
  const std::vector<Value*> parameters(all.begin(), all.end() - static_cast<std::ptrdiff_t>(inputs.size()));
  for (const BufferSlot& place : assign_buffers(parameters)) {
    auto known = std::find(entry.buffers.begin(), entry.buffers.end(), place.buffer);
    const auto number = static_cast<uint32_t>(known - entry.buffers.begin());
    if (known == entry.buffers.end()) {
      entry.buffers.push_back(place.buffer);
      leaves.buffer_sizes.push_back(static_cast<uint32_t>(place.buffer->size()));
    }
    leaves.locations.push_back({RegionKind::PARAMETER, true, number, place.index});
  }
  for (const RequestedInput& input : inputs) {
    leaves.locations.push_back({RegionKind::INPUT, input.active, 0, input.offset});
    uint32_t& count = input.active ? leaves.active_inputs : leaves.inactive_inputs;
    count = std::max(count, input.offset + 1);
  }
}

// The gradients that are wanted, in terms of the graph.
std::vector<WantedGradient> gradients_of(const std::vector<Value*>& leaves,
                                         const std::vector<RequestedGradient>& requested) {
  std::unordered_map<const Value*, uint32_t> numbers;
  for (uint32_t i = 0; i < leaves.size(); ++i) numbers.try_emplace(leaves[i], i);
  std::vector<WantedGradient> gradients;
  for (const auto& [parameter, offset] : requested) {
    if (!parameter) {
      gradients.push_back({WantedGradient::INPUT, offset});
      continue;
    }
    const auto found = numbers.find(parameter);
    gradients.push_back({WantedGradient::PARAMETER, found == numbers.end() ? kNoLeaf : found->second});
  }
  return gradients;
}

// From how many candidates each index argument selects, at least; 0 where it selects nothing.
std::vector<uint32_t> limits_of(const CompileRequest& request) {
  std::vector<uint32_t> limits;
  for (const Selection& selection : request.selections) {
    if (selection.row != ROW_SELECT) continue;
    const uint32_t slot = selection.slot, count = static_cast<uint32_t>(selection.candidates.size());
    if (slot >= limits.size()) limits.resize(slot + 1);
    limits[slot] = limits[slot] ? std::min(limits[slot], count) : count;
  }
  return limits;
}

// What was recorded, as a graph.
Graph graph_of(const CompileRequest& request) {
  std::vector<Value*> inputs;
  inputs.reserve(request.inputs.size());
  for (const RequestedInput& input : request.inputs) inputs.push_back(input.leaf);
  return lift({request.roots, inputs, request.fallible, request.selections, request.first_node, request.leaves_before,
               request.references, request.inspected});
}

// The description of the arguments, or that of another program that is the same.
Shared<Signature> shared_signature(const SpecializationCache& cache, std::unique_ptr<Signature> made) {
  for (const auto& entry : *cache.specializations) {
    if (entry->signature->is_same(*made)) return entry->signature;
  }
  return Shared<Signature>(std::move(made));
}

}  // namespace

// add(request): see CompileRequest; the number of the new specialization, which comes first in the cache.
PyObject* add(PyObject* object, PyObject* asked) {
  SpecializationCache* self = self_of(object);
  if (!flush_parameters()) return nullptr;
  CompileRequest request;
  if (!request.read(asked)) return nullptr;
  const auto start = std::chrono::steady_clock::now();
  Graph graph = graph_of(request);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  auto entry = std::make_unique<Specialization>(*self->workspaces, std::move(graph));
  entry->milliseconds.emplace_back("lift", spent.count());
  entry->signature = shared_signature(*self, std::move(request.signature));
  entry->differentiate_first = request.differentiate_first;
  entry->options = request.options;
  entry->code = request.code;
  entry->guards = std::move(request.guards);
  entry->index_guards = std::move(request.index_guards);
  entry->outputs = std::move(request.outputs);
  entry->as_array = request.as_array;
  entry->connected = request.connected;
  entry->kind_unknown = request.kind_unknown;
  place_leaves(*entry, request.inputs);
  for (const auto& buffer : entry->buffers) {
    if (entry->options.exact) buffer->be_exact();
  }
  entry->want(gradients_of(entry->graph.leaves(), request.gradients));
  entry->index_limits = limits_of(request);
  if (entry->options.at_once) {
    entry->compile();
    entry->stage = Stage::SETTLED;  // it is compared with the function itself
  }
  entry->state = find_state(self, request.state);
  if (!entry->state) return PyErr_Format(PyExc_IndexError, "a compile request names a state that there is not");
  self->fresh = true;
  ++self->changes;
  entry->number = self->made++;
  self->specializations->insert(self->specializations->begin(), std::move(entry));
  return PyLong_FromSize_t(self->made - 1);
}

// drop(number): forget a specialization, unless another thread has done so.
PyObject* drop(PyObject* object, PyObject* argument) {
  const Specialization* entry = find_specialization(self_of(object), PyLong_AsSize_t(argument)).get();
  if (PyErr_Occurred()) return nullptr;
  if (!entry) Py_RETURN_NONE;
  auto& specializations = *self_of(object)->specializations;
  const auto found =
      std::find_if(specializations.begin(), specializations.end(), [&](const auto& one) { return one.get() == entry; });
  const auto dropped = std::move(*found);  // what it lets go of may come back here
  specializations.erase(found);
  self_of(object)->dropped_hits += dropped->hits;
  ++self_of(object)->changes;
  Py_RETURN_NONE;
}

// rest(number): lets go of what a specialization can make again; the bytes that are left.
PyObject* rest(PyObject* object, PyObject* argument) {
  const std::shared_ptr<Specialization> entry = find_specialization(self_of(object), PyLong_AsSize_t(argument));
  if (PyErr_Occurred()) return nullptr;
  if (!entry) return PyLong_FromLong(0);
  entry->rest();
  return PyLong_FromSize_t(entry->weight());
}

}  // namespace retrograd::compiler
