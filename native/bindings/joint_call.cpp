#include "bindings/joint_call.hpp"

#include <algorithm>

namespace retrograd::compiler {
namespace {

constexpr const char* kJoint = "retrograd._native.joint";

// A call that has just run, and what it depends on, kept alive.
struct Pending {
  Replay call;
  std::vector<Ref> operands;
};

Pending* pending_in(PyObject* capsule) { return static_cast<Pending*>(PyCapsule_GetPointer(capsule, kJoint)); }

// Values among the arguments, and parameters.
std::vector<Ref> operands_of(const Replay& call) {
  std::vector<Ref> operands;
  for (Value* value : call.arguments.values) {
    if (value) operands.push_back(Ref::borrow(as_object(value)));
  }
  const Specialization& entry = *call.entry;
  for (size_t i = 0; i < entry.leaves.locations.size(); ++i) {
    if (entry.leaves.locations[i].kind != RegionKind::PARAMETER) continue;
    operands.push_back(Ref::borrow(as_object(entry.graph.leaves()[i])));
  }
  return operands;
}

class JointCall final : public Joint {
 public:
  JointCall(Replay call, PyObject* gradients, bool by_program, size_t results)
      : call_(std::move(call)), gradients_(Ref::borrow(gradients)), by_program_(by_program), cotangents_(results) {}

  void take(Value* shared, uint32_t result, double gradient) override {
    if (shared->grad == 0.0) {  // the first one in this pass
      std::fill(cotangents_.begin(), cotangents_.end(), 0.0);
      shared->grad = 1.0;  // a node without a gradient would be passed over
    }
    cotangents_[result] += gradient;
  }

  bool run_back(Value* shared) override {
    std::vector<std::pair<Value*, double>> slopes;
    const bool found = by_program_ && !call_.entry->invalid() && compiler::run_back(call_, cotangents_, slopes);
    if (!found && (PyErr_Occurred() || !ask(shared, slopes))) return false;
    if (!flush_parameters()) return false;  // the pass goes on, and adds to the Values themselves
    for (const auto& [value, slope] : slopes) value->grad += slope;
    return true;
  }

  int traverse(visitproc visit, void* arg) const override {
    Py_VISIT(call_.cache.get());
    Py_VISIT(gradients_.get());
    return 0;
  }

 private:
  // By an uncompiled run.
  bool ask(Value* shared, std::vector<std::pair<Value*, double>>& slopes) const {
    const std::vector<Value*>& operands = shared->extra->children;
    const Ref all(PyTuple_New(static_cast<Py_ssize_t>(operands.size())));
    const Ref cotangents(PyList_New(static_cast<Py_ssize_t>(cotangents_.size())));
    if (!all || !cotangents) return false;
    for (size_t i = 0; i < operands.size(); ++i) {
      PyTuple_SetItem(all.get(), static_cast<Py_ssize_t>(i), Py_NewRef(as_object(operands[i])));
    }
    for (size_t i = 0; i < cotangents_.size(); ++i) {
      PyObject* number = PyFloat_FromDouble(cotangents_[i]);
      if (!number) return false;
      PyList_SetItem(cotangents.get(), static_cast<Py_ssize_t>(i), number);
    }
    const Ref found(PyObject_CallFunctionObjArgs(gradients_.get(), all.get(), cotangents.get(), nullptr));
    for (size_t i = 0; found && i < operands.size(); ++i) {
      PyObject* gradient = PyList_GetItem(found.get(), static_cast<Py_ssize_t>(i));
      slopes.emplace_back(operands[i], gradient ? PyFloat_AsDouble(gradient) : 0.0);
    }
    return found && !PyErr_Occurred();
  }

  Replay call_;
  Ref gradients_;
  bool by_program_;
  std::vector<double> cotangents_;  // of the results, in the pass that runs
};

}  // namespace

Ref joint_capsule(Replay call) {
  std::vector<Ref> operands = operands_of(call);
  if (operands.empty()) return Ref::borrow(Py_None);
  auto* own = new Pending{std::move(call), std::move(operands)};  // the capsule's from now on
  Ref capsule(PyCapsule_New(own, kJoint, [](PyObject* object) { delete pending_in(object); }));
  if (!capsule) delete own;
  return capsule;
}

PyObject* joint(PyObject*, PyObject* args) {
  PyObject *capsule, *results, *shared_op, *op, *gradients;
  int by_program;
  if (!PyArg_ParseTuple(args, "OO!UUOp:joint", &capsule, &PyList_Type, &results, &shared_op, &op, &gradients,
                        &by_program)) {
    return nullptr;
  }
  Pending* pending = pending_in(capsule);
  if (!pending) return nullptr;
  std::vector<double> numbers(static_cast<size_t>(PyList_Size(results)));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = PyFloat_AsDouble(PyList_GetItem(results, static_cast<Py_ssize_t>(i)));
  }
  if (PyErr_Occurred()) return nullptr;
  auto made = std::make_unique<JointCall>(std::move(pending->call), gradients, by_program != 0, numbers.size());
  return new_joint(std::move(made), std::move(pending->operands), numbers, shared_op, op);
}

}  // namespace retrograd::compiler
