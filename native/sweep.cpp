// The backward pass: a sweep over the tape from young to old.
//
// Operands are older than results, so the order of creation, read backwards, is an order in which every
// node is complete before it passes its gradient on. Nothing is sorted and nothing recurses.
#include <vector>

#include "differentiate.hpp"
#include "record.hpp"
#include "walk.hpp"

namespace retrograd {
namespace {

// Sweeps: contributions go straight to the operands' gradients. There are no users' nodes about.
struct SweepSink {
  double gradient;
  bool quiet;  // a zero gradient contributes nothing, even against an infinite local derivative

  bool operand(Value* value) { return mark_op(value); }
  void none(Value* value, bool first) {
    if (first) value->grad = 0.0;
  }
  // The first contribution is stored, not added to zero: a chain of nodes waits for one addition less.
  void add(uint32_t, Value* value, double local, bool first) {
    const double contribution = local * gradient;
    if (!first) {
      value->grad += contribution;
      return;
    }
    value->grad = contribution;
    if (contribution == 0.0) [[unlikely]]
      value->grad = 0.0;  // as 0.0 + -0.0 is
  }
};

// Gradients as they were before a pass that must not be noticed, to be put back at the end.
class Saved {
 public:
  // Sets a gradient to zero, to be restored.
  void save(Value* value) {
    gradients_.emplace_back(value, value->grad);
    value->grad = 0.0;
  }
  // The same for what a pass reaches; only the first time counts.
  void reach(Value* value) {
    double before = value->grad;
    if (value->code == LEAF) {
      if (value->mark == kSaved) return;
      gradients_.emplace_back(value, before);
      value->mark = kSaved;
      value->grad = 0.0;
    } else if (mark_any(value)) {
      gradients_.emplace_back(value, before);
      value->grad = 0.0;
    }
  }
  void unmark_leaves() {
    for (auto& [value, before] : gradients_) {
      if (value->code == LEAF) value->mark = 1;
    }
  }
  ~Saved() {
    unmark_leaves();
    for (auto entry = gradients_.rbegin(); entry != gradients_.rend(); ++entry) entry->first->grad = entry->second;
  }

 private:
  static constexpr uint8_t kSaved = 2;  // the mark of a leaf that has been reached
  std::vector<std::pair<Value*, double>> gradients_;
};

// Sweeps without a trace: see Saved.
struct PureSink {
  double gradient;
  bool quiet;
  Saved* saved;

  bool operand(Value* value) {
    saved->reach(value);
    return false;
  }
  void none(Value*, bool) {}
  void add(uint32_t, Value* value, double local, bool) { value->grad += local * gradient; }
};

// One node alone, as `_backward()` does it.
struct PushSink {
  double gradient;
  bool quiet;

  static bool operand(Value*) { return false; }
  static void none(Value*, bool) {}
  void add(uint32_t, Value* value, double local, bool) { value->grad += local * gradient; }
};

struct LocalSink {
  static constexpr bool quiet = false;
  std::vector<double> partials;
  bool operand(Value*) {
    partials.push_back(0.0);
    return false;
  }
  static void none(Value*, bool) {}
  void add(uint32_t i, Value*, double local, bool) { partials[i] = local; }
};

// --- changed values ---------------------------------------------------------------------------------------------

// Whether nothing that this thread's nodes may have used was changed since.
bool nothing_changed(const Tape* tape) { return tape->oldest_position() >= last_change_position(); }

// The node, or that operand of it, which does not have the data that it had when the node was recorded; else null.
Value* changed_at(Value* node) {
  const uint64_t position = place_of(node);
  Value* changed = unchanged_since(node, position) ? nullptr : node;
  each_operand(node, [&](Value* operand) {
    if (!changed && !unchanged_since(operand, position)) changed = operand;
  });
  return changed;
}

// False, with the exception set, when there is one.
bool check_node(Value* node) {
  Value* changed = changed_at(node);
  if (changed) raise_changed(changed, data_used_at(changed, place_of(node)));
  return !changed;
}

// The same for everything that root depends on, before a pass adds anything to any gradient.
bool check_graph(Value* root) {
  if (nothing_changed(this_tape())) return true;
  Value* stale = nullptr;
  mark_any(root);
  walk(root, [&](Value* place) {
    Value* node = node_at(place);
    each_older_operand(node, place, mark_any);
    if (changed_at(node)) stale = node;
    return !stale;
  });
  return !stale || check_node(stale);  // raising runs Python code: after the walk, when no mark is left
}

// --- derivatives written by users -----------------------------------------------------------------------------

// What a node's derivative is when it is not a row of the table.
bool has_python_rule(Value* node) {
  if (node->code == USER) {
    const Extra* extra = node->extra;
    return extra->backward || !extra->has_partials;
  }
  return node->flags & HAS_EXTRA && find_extra(node)->backward;
}

// The user's function for a node: the one assigned to `_backward`, or the method of a subclass.
Ref python_rule(Value* node) {
  const Extra* extra = find_extra(node);
  if (extra && extra->backward) return Ref::borrow(extra->backward.get());
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(as_object(node)));
  Ref own(PyObject_GetAttrString(type, "_backward"));
  Ref inherited(PyObject_GetAttrString(reinterpret_cast<PyObject*>(value_type), "_backward"));
  if (!own || !inherited) return Ref();
  if (own.get() != inherited.get()) return Ref(PyObject_GetAttrString(as_object(node), "_backward"));
  raise_from("missing_derivative", "(O)", as_object(node));
  return Ref();
}

// Add one node's contributions to its operands by the table's rule or its local derivatives.
void push_by_rule(Value* node) {
  PushSink sink{node->grad, node->grad == 0.0};
  differentiate(node, sink);
}

// The same by whatever its rule is; false with an exception set.
bool push(Value* node) {
  if (!has_python_rule(node)) {
    // Users' functions that ran earlier in this pass may have changed a number.
    if (!nothing_changed(this_tape()) && !check_node(node)) return false;
    push_by_rule(node);
    return true;
  }
  if (node->grad == 0.0) return true;
  Ref function = python_rule(node);
  return function && Ref(PyObject_CallNoArgs(function.get()));
}

// All nodes that root depends on, itself included, from the youngest to the oldest. `reach` marks what it
// is given, and root first.
template <class Reach>
bool collect(Value* root, std::vector<Ref>& order, Reach reach) {
  reach(root);
  return walk(root, [&](Value* place) {
    Value* node = node_at(place);
    order.push_back(Ref::borrow(as_object(node)));
    each_older_operand(node, place, reach);
    return true;
  });
}

bool push_all(Value* root, double seed, const std::vector<Ref>& order) {
  for (const Ref& node : order) {
    if (has_python_rule(as_value(node.get())) && !python_rule(as_value(node.get()))) return false;
  }
  for (const Ref& node : order) as_value(node.get())->grad = 0.0;
  root->grad = seed;
  for (const Ref& node : order) {
    if (!push(as_value(node.get()))) return false;
  }
  return true;
}

// --- passes --------------------------------------------------------------------------------------------------------

template <class Sink>
RETROGRAD_NOINLINE void differentiate_others(Value* node, Sink sink) {
  differentiate_among<Rows::OTHERS>(node, sink);
}

template <class MakeSink>
bool sweep(Value* root, double seed, MakeSink make_sink) {
  root->grad = seed;
  return walk(root, [&](Value* node) {
    auto sink = make_sink(node->grad);
    if (!differentiate_among<Rows::FREQUENT>(node, sink)) differentiate_others(node, make_sink(node->grad));
    return true;
  });
}

bool need_value(PyObject* object, const char* where) {
  if (is_value(object)) return true;
  raise_from("not_a_value", "(Os)", object, where);
  return false;
}

// Whether this thread may walk back from `root`.
bool may_walk(Value* root) {
  Tape* tape = this_tape();
  if (!tape || !settle()) return false;
  if (!is_foreign(root, tape)) return true;
  raise_from("foreign_thread", "()");
  return false;
}

bool run_backward(Value* root, double seed) {
  seed += 0.0;  // -0.0 is added to a gradient of 0.0, too
  if (!may_walk(root)) return false;
  if (root->code == LEAF) {
    root->grad += seed;
    return true;
  }
  if (!check_graph(root)) return false;
  if (this_tape()->user_nodes > 0) {
    // Users' functions are Python code, which may do anything, a backward pass included: the order is
    // collected first, so that no mark is left while they run.
    std::vector<Ref> order;
    return collect(root, order, mark_any) && push_all(root, seed, order);
  }
  mark_op(root);
  return sweep(root, seed, [](double gradient) { return SweepSink{gradient, gradient == 0.0}; });
}

// A whole pass, on a graph that was checked, that leaves no trace once `saved` is gone.
bool run_pure(Value* root, double seed, Saved& saved) {
  seed += 0.0;
  saved.reach(root);
  if (root->code == LEAF) {
    root->grad = seed;
    return true;
  }
  if (this_tape()->user_nodes > 0) {
    std::vector<Ref> order;
    bool collected = collect(root, order, [&](Value* value) { saved.reach(value); });
    saved.unmark_leaves();
    return collected && push_all(root, seed, order);
  }
  return sweep(root, seed, [&](double gradient) { return PureSink{gradient, gradient == 0.0, &saved}; });
}

// --- functions of the module ----------------------------------------------------------------------------------

PyObject* interior(PyObject*, PyObject* object) try {
  if (!need_value(object, "interior()")) return nullptr;
  if (!settle()) return nullptr;
  Value* root = as_value(object);
  std::vector<Ref> order;
  if (root->code != LEAF) {
    Saved saved;  // reaching starts gradients at zero, and looking must not
    if (!collect(root, order, [&](Value* value) { saved.reach(value); })) return nullptr;
  }
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(order.size()));
  if (!list) return nullptr;
  Py_ssize_t i = 0;
  for (auto node = order.rbegin(); node != order.rend(); ++node) PyList_SetItem(list, i++, node->release());
  return list;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* gradients(PyObject*, PyObject* args) try {
  PyObject *object, *sequence;
  double seed;
  if (!PyArg_ParseTuple(args, "OdO:gradients", &object, &seed, &sequence)) return nullptr;
  if (!need_value(object, "gradients()") || !may_walk(as_value(object))) return nullptr;
  if (!tell_tracer("takes a gradient")) return nullptr;
  Ref xs(PySequence_Tuple(sequence));
  if (!xs) return nullptr;
  Py_ssize_t count = PyTuple_Size(xs.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!need_value(PyTuple_GetItem(xs.get(), i), "gradients()")) return nullptr;
  }
  Ref result(PyList_New(count));
  if (!result) return nullptr;
  if (as_value(object)->code != LEAF && !check_graph(as_value(object))) return nullptr;
  Saved saved;
  // What the pass does not reach has gradient zero.
  for (Py_ssize_t i = 0; i < count; ++i) saved.save(as_value(PyTuple_GetItem(xs.get(), i)));
  if (!run_pure(as_value(object), seed, saved)) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* number = PyFloat_FromDouble(as_value(PyTuple_GetItem(xs.get(), i))->grad);
    if (!number) return nullptr;
    PyList_SetItem(result.get(), i, number);
  }
  return result.release();
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

}  // namespace

PyObject* value_backward(PyObject* self, PyObject* args, PyObject* keywords) try {
  static const char* names[] = {"gradient", nullptr};
  PyObject* gradient = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:backward", const_cast<char**>(names), &gradient)) return nullptr;
  double seed = 1.0;
  if (!tell_tracer("calls backward()")) return nullptr;
  if (gradient && !need_number(gradient, &seed, "backward(…)")) return nullptr;
  Tape* tape = this_tape();
  if (!tape) return nullptr;
  if (tape->backward_hook) {
    Ref hook = Ref::borrow(tape->backward_hook.get());
    Ref number(PyFloat_FromDouble(seed));
    if (!number) return nullptr;
    Ref result(PyObject_CallFunctionObjArgs(hook.get(), self, number.get(), nullptr));
    if (!result) return nullptr;
  } else if (!run_backward(as_value(self), seed)) {
    return nullptr;
  }
  Py_RETURN_NONE;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* value_push(PyObject* self, PyObject*) try {
  if (!settle()) return nullptr;
  Value* node = as_value(self);
  if (node->code == USER && !node->extra->has_partials) {
    raise_from("missing_derivative", "(O)", self);
    return nullptr;
  }
  if (node->code != LEAF && !check_node(node)) return nullptr;
  push_by_rule(node);
  Py_RETURN_NONE;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* value_local_grads(PyObject* self, void*) try {
  if (!settle()) return nullptr;
  Value* node = as_value(self);
  if (!tell_tracer("reads local derivatives") || !materialize(node)) return nullptr;
  LocalSink sink;
  if (node->code != LEAF) {
    if (!check_node(node)) return nullptr;
    if (has_python_rule(node)) {
      raise_from("no_local_grads", "(O)", self);
      return nullptr;
    }
    differentiate(node, sink);
  }
  PyObject* result = PyTuple_New(static_cast<Py_ssize_t>(sink.partials.size()));
  for (size_t i = 0; result && i < sink.partials.size(); ++i) {
    PyTuple_SetItem(result, static_cast<Py_ssize_t>(i), PyFloat_FromDouble(sink.partials[i]));
  }
  return result;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyMethodDef sweep_functions[] = {
    {"interior", interior, METH_O,
     "The nodes that a value depends on, itself included, oldest first; leaves are left out."},
    {"gradients", gradients, METH_VARARGS,
     "gradients(root, seed, xs): seed times the derivative of root with respect to each x, touching no .grad."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
