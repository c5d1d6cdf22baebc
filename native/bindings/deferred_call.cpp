#include "bindings/deferred_call.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

namespace retrograd {
namespace compiler {
namespace {

// With fewer parameters, running a program twice takes longer than keeping the derivatives.
constexpr size_t kManyParameters = 32;

}  // namespace

// The parameters of a specialization, kept alive for the calls that wait, and for the next ones; and where their
// numbers are.
struct DeferredOperands {
  // Numbers [begin, begin + length) of a buffer.
  struct Range {
    uint32_t buffer, begin, length;
  };
  std::vector<Ref> values;
  std::vector<Range> ranges;

  explicit DeferredOperands(const Specialization& entry) {
    std::vector<std::pair<uint32_t, uint32_t>> places;
    for (size_t i = 0; i < entry.leaves.locations.size(); ++i) {
      const LeafLocation& place = entry.leaves.locations[i];
      if (place.kind != RegionKind::PARAMETER) continue;
      values.push_back(Ref::borrow(as_object(entry.graph.leaves()[i])));
      places.emplace_back(place.buffer, place.offset);
    }
    std::sort(places.begin(), places.end());
    for (const auto& [buffer, at] : places) {
      const bool next =
          !ranges.empty() && ranges.back().buffer == buffer && ranges.back().begin + ranges.back().length == at;
      if (!next) ranges.push_back({buffer, at, 0});
      ++ranges.back().length;
    }
  }
};

namespace {

// Made once: a training loop has one such call at a time.
std::shared_ptr<const DeferredOperands> operands_of(Specialization& entry) {
  if (!entry.deferred_operands) entry.deferred_operands = std::make_shared<const DeferredOperands>(entry);
  return entry.deferred_operands;
}

class DeferredCall final : public Deferred {
 public:
  explicit DeferredCall(Replay call) : call_(std::move(call)), operands_(operands_of(*call_.entry)) {
    for (const auto& range : operands_->ranges) {
      const double* data = buffer(range)->data() + range.begin;  // the program has just read them
      numbers_.insert(numbers_.end(), data, data + range.length);
    }
  }

  Value* changed(double* used) const override {
    const double* before = numbers_.data();
    for (const auto& range : operands_->ranges) {
      const ParameterBuffer& now = *buffer(range);
      for (uint32_t i = 0; i < range.length; ++i, ++before) {
        Value* leaf = now.value(range.begin + i);
        if (same_number(now.dirty() ? now.data()[range.begin + i] : leaf->data, *before)) continue;
        *used = *before;
        return leaf;
      }
    }
    return nullptr;
  }

  std::vector<Value*> operands() const override {
    std::vector<Value*> values;
    values.reserve(operands_->values.size());
    for (const Ref& value : operands_->values) values.push_back(as_value(value.get()));
    return values;
  }

  bool find_partials(std::vector<double>& partials) override {
    if (!call_.entry->invalid() && find_slopes(call_, partials)) return true;
    return find_gradients(1.0, partials);
  }

  // `upstream` times the derivatives, by an uncompiled run.
  bool find_gradients(double upstream, std::vector<double>& gradients) {
    gradients.clear();
    const auto count = static_cast<Py_ssize_t>(operands_->values.size());
    Ref tuple(PyTuple_New(count));
    for (Py_ssize_t i = 0; tuple && i < count; ++i) {
      PyTuple_SetItem(tuple.get(), i, Py_NewRef(operands_->values[static_cast<size_t>(i)].get()));
    }
    const Ref list(tuple ? PyObject_CallMethod(operation, "gradients", "Od", tuple.get(), upstream) : nullptr);
    for (Py_ssize_t i = 0; list && i < count; ++i) {
      PyObject* gradient = PyList_GetItem(list.get(), i);
      gradients.push_back(gradient ? PyFloat_AsDouble(gradient) : 0.0);
    }
    return list && !PyErr_Occurred();
  }

  // Adds `upstream` times the derivatives to the gradients.
  bool push(double upstream) {
    const bool ordinary = std::isfinite(upstream) && !call_.entry->invalid();
    if (ordinary && add_gradients(call_, upstream)) return true;
    std::vector<double> gradients;
    if (!find_gradients(upstream, gradients)) return false;
    add_to_values(operands(), gradients);
    return true;
  }

  // The buffers that push() adds to.
  const std::vector<std::shared_ptr<ParameterBuffer>>& buffers() const { return call_.entry->buffers; }

  int traverse(visitproc visit, void* arg) const override {
    Py_VISIT(call_.cache.get());
    return 0;
  }

  PyObject* operation = nullptr;  // the node's, which it keeps

 private:
  ParameterBuffer* buffer(const DeferredOperands::Range& range) const {
    return call_.entry->buffers[range.buffer].get();
  }

  Replay call_;
  std::shared_ptr<const DeferredOperands> operands_;
  std::vector<double> numbers_;  // of the parameters when the call was made, range by range
};

DeferredCall& deferred_of(const Value* node) { return static_cast<DeferredCall&>(*node->extra->deferred); }

// The gradients of parameter buffers before a pass.
class SavedGradients {
 public:
  void save(const DeferredCall& call) {
    for (const auto& buffer : call.buffers()) {
      const auto [place, added] = saved_.try_emplace(buffer.get());
      if (!added) continue;
      buffer->take_ownership();
      const double* gradients = buffer->gradients();
      place->second.assign(gradients, gradients + buffer->size());
    }
  }
  void put_back() {
    for (const auto& [buffer, gradients] : saved_) {
      buffer->take_ownership();
      std::copy(gradients.begin(), gradients.end(), buffer->new_gradients());
    }
  }

 private:
  std::map<ParameterBuffer*, std::vector<double>> saved_;
};

constexpr const char* kDeferral = "retrograd._native.deferral";
constexpr const char* kSlopes = "retrograd._native.slopes";

// What the result of a call depends on, and its derivatives.
struct Slopes {
  std::vector<Ref> operands;
  std::vector<double> numbers;
};

Slopes* slopes_in(PyObject* capsule) { return static_cast<Slopes*>(PyCapsule_GetPointer(capsule, kSlopes)); }

PyObject* deferred_node(double data, PyObject* operation, PyObject* capsule) {
  auto* call = static_cast<DeferredCall*>(PyCapsule_GetPointer(capsule, kDeferral));
  if (!call || PyCapsule_SetDestructor(capsule, nullptr) < 0 || PyCapsule_SetName(capsule, nullptr) < 0) return nullptr;
  call->operation = operation;
  return as_object(new_deferred(data, operation, std::unique_ptr<Deferred>(call)));
}

// While an InUse lives, find_deferred() leaves its nodes alone: the function may run for one of them, and that run asks
// for the derivatives of all calls that wait.
class InUse {
 public:
  explicit InUse(std::span<const std::pair<Value*, double>> nodes) : nodes_(nodes) { mark(true); }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() { mark(false); }

 private:
  void mark(bool is_in_use) {
    for (const auto& [node, gradient] : nodes_) {
      if (is_deferred(node)) deferred_of(node).in_use = is_in_use;
    }
  }

  std::span<const std::pair<Value*, double>> nodes_;
};

}  // namespace

int traverse_operands(const Specialization& entry, visitproc visit, void* arg) {
  if (entry.deferred_operands.use_count() != 1) return 0;  // calls that wait refer to them as well
  for (const Ref& value : entry.deferred_operands->values) Py_VISIT(value.get());
  return 0;
}

bool may_defer(const Specialization& entry, const Arguments& arguments) {
  if (entry.options.exact || entry.has_several_results()) return false;
  size_t parameters = 0;
  for (const auto& location : entry.leaves.locations) {
    if (location.kind == RegionKind::PARAMETER && ++parameters == kManyParameters) break;
  }
  const auto none = [](const Value* value) { return value == nullptr; };
  return parameters == kManyParameters && std::all_of(arguments.values.begin(), arguments.values.end(), none);
}

Ref deferral(Replay call) {
  auto* own = new DeferredCall(std::move(call));  // the capsule's from now on
  Ref capsule(PyCapsule_New(own, kDeferral, [](PyObject* object) {
    delete static_cast<DeferredCall*>(PyCapsule_GetPointer(object, kDeferral));
  }));
  if (!capsule) delete own;
  return capsule;
}

Ref slopes_capsule(const std::vector<std::pair<Value*, double>>& slopes) {
  if (slopes.empty()) return Ref::borrow(Py_None);
  auto own = std::make_unique<Slopes>();
  for (const auto& [value, slope] : slopes) {
    own->operands.push_back(Ref::borrow(as_object(value)));
    own->numbers.push_back(slope);
  }
  Slopes* owned = own.release();  // the capsule's from now on
  Ref capsule(PyCapsule_New(owned, kSlopes, [](PyObject* object) { delete slopes_in(object); }));
  if (!capsule) delete owned;
  return capsule;
}

PyObject* node(PyObject*, PyObject* args) {
  double data;
  PyObject *operation, *capsule;
  if (!PyArg_ParseTuple(args, "dUO:node", &data, &operation, &capsule)) return nullptr;
  if (!PyCapsule_IsValid(capsule, kSlopes)) return deferred_node(data, operation, capsule);
  Slopes* slopes = slopes_in(capsule);
  return new_user_node(data, operation, std::move(slopes->operands), std::move(slopes->numbers));
}

}  // namespace compiler

// With one node, its pass is all or nothing by itself.
bool push_deferred(std::span<const std::pair<Value*, double>> upstream) {
  const compiler::InUse in_use(upstream);
  compiler::SavedGradients saved;
  if (upstream.size() > 1) {
    for (const auto& [node, gradient] : upstream) saved.save(compiler::deferred_of(node));
  }
  for (const auto& [node, gradient] : upstream) {
    if (compiler::deferred_of(node).push(gradient)) continue;
    // What is raised stays raised; there is nothing to do about a lack of memory besides.
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    saved.put_back();
    if (!flush_parameters()) PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    return false;
  }
  return true;
}

}  // namespace retrograd
