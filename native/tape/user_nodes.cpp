// The nodes that stand for calls of compiled functions.
#include "tape/value.hpp"

namespace retrograd {
namespace {

bool are_own(const std::vector<Ref>& operands) {
  const Tape* tape = this_tape();
  if (!tape) return false;
  for (const Ref& operand : operands) {
    if (!is_foreign(as_value(operand.get()), tape)) continue;
    raise_from("foreign_thread", "()");
    return false;
  }
  return true;
}

Value* new_node(double data, PyObject* op, std::vector<Ref> children) {
  Value* node = new_leaf(data);
  Ref held(node ? as_object(node) : nullptr);
  Extra* extra = node ? need_extra(node) : nullptr;
  if (!extra) return nullptr;
  extra->op = Ref::borrow(op);
  extra->children.reserve(children.size());
  if (!give_slot(node)) return nullptr;
  for (Ref& child : children) extra->children.push_back(as_value(child.release()));
  held.release();
  return node;
}

}  // namespace

PyObject* new_user_node(double data, PyObject* op, std::vector<Ref> operands, std::vector<double> partials) {
  Value* node = are_own(operands) ? new_node(data, op, std::move(operands)) : nullptr;
  if (!node) return nullptr;
  node->extra->partials = std::move(partials);
  node->extra->has_partials = true;
  return as_object(node);
}

PyObject* new_joint(std::unique_ptr<Joint> joint, std::vector<Ref> operands, const std::vector<double>& results,
                    PyObject* shared_op, PyObject* op) {
  Value* shared = are_own(operands) ? new_node(0.0, shared_op, std::move(operands)) : nullptr;
  const Ref held(shared ? as_object(shared) : nullptr);
  if (!shared) return nullptr;
  shared->extra->joint = std::move(joint);
  Ref list(PyList_New(static_cast<Py_ssize_t>(results.size())));
  for (size_t i = 0; list && i < results.size(); ++i) {
    std::vector<Ref> only(1);
    only[0] = Ref::borrow(held.get());
    Value* node = new_node(results[i], op, std::move(only));
    if (!node) return nullptr;
    node->extra->result = static_cast<uint32_t>(i);
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), as_object(node));
  }
  return list.release();
}

}  // namespace retrograd
