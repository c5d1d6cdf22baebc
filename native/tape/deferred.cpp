// Nodes whose derivatives are found when they are wanted: see Deferred.
#include <algorithm>
#include <unordered_set>

#include "tape/record.hpp"

namespace retrograd {
namespace {

// Those of all threads.
std::unordered_set<Value*>& deferred_nodes() {
  static auto* nodes = new std::unordered_set<Value*>;
  return *nodes;
}

// Those of this thread, from the oldest to the youngest, each kept alive.
std::vector<Ref> own_nodes(const Tape* tape) {
  std::vector<Ref> own;
  for (Value* node : deferred_nodes()) {
    if (!is_foreign(node, tape)) own.push_back(Ref::borrow(as_object(node)));
  }
  std::sort(own.begin(), own.end(), [](const Ref& one, const Ref& other) {
    return creation_position(as_value(one.get())) < creation_position(as_value(other.get()));
  });
  return own;
}

void take_operands(Extra* extra) {
  if (!extra->children.empty()) return;
  std::vector<Value*> operands = extra->deferred->operands();
  for (Value* operand : operands) Py_INCREF(as_object(operand));
  extra->children = std::move(operands);
}

}  // namespace

Value* new_deferred(double data, PyObject* op, std::unique_ptr<Deferred> deferred) {
  Value* node = new_leaf(data);
  Ref held(node ? as_object(node) : nullptr);
  Extra* extra = node ? need_extra(node) : nullptr;
  if (!extra) return nullptr;
  deferred_nodes().insert(node);
  if (!give_slot(node)) {
    deferred_nodes().erase(node);
    return nullptr;
  }
  extra->op = Ref::borrow(op);
  extra->deferred = std::move(deferred);
  return as_value(held.release());
}

bool any_deferred() { return !deferred_nodes().empty(); }

void forget_deferred(Value* node) { deferred_nodes().erase(node); }

void show_operands() {
  for (const Value* node : deferred_nodes()) take_operands(node->extra);
}

bool find_deferred() {
  const Tape* tape = deferred_nodes().empty() ? nullptr : this_tape();
  if (!tape) return deferred_nodes().empty();
  std::vector<Ref> found;
  for (Ref& node : own_nodes(tape)) {
    Extra* extra = as_value(node.get())->extra;
    double used;
    if (!extra->deferred || extra->deferred->in_use || extra->deferred->changed(&used)) continue;
    std::vector<double> partials;
    if (!extra->deferred->find_partials(partials)) return false;
    if (!extra->deferred) continue;  // the function ran for it, and found those of all nodes
    extra->partials = std::move(partials);
    found.push_back(std::move(node));
  }
  // What the leaves hold is valid from here on. The derivatives are those of these numbers.
  if (!flush_parameters()) return false;
  for (const Ref& held : found) {
    Value* node = as_value(held.get());
    Extra* extra = node->extra;
    if (!extra->deferred) continue;
    extra->anchor = new_slot(node);
    if (!extra->anchor) return false;
    take_operands(extra);
    extra->has_partials = true;
    forget_deferred(node);
    extra->deferred.reset();
  }
  return true;
}

}  // namespace retrograd
