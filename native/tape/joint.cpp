// The results of one call of a compiled function, as nodes that share one more: see Joint.
#include "tape/record.hpp"

namespace retrograd {
namespace {

// A USER node of this thread that depends on `children`; null with an exception set.
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

PyObject* new_joint(std::unique_ptr<Joint> joint, std::vector<Ref> operands, const std::vector<double>& results,
                    PyObject* shared_op, PyObject* op) {
  Tape* tape = this_tape();
  if (!tape) return nullptr;
  for (const Ref& operand : operands) {
    if (!is_foreign(as_value(operand.get()), tape)) continue;
    raise_from("foreign_thread", "()");
    return nullptr;
  }
  Value* shared = new_node(0.0, shared_op, std::move(operands));
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
