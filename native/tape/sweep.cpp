// The backward pass: reverse accumulation over the tape (Griewank & Walther), from young to old.
//
// Operands are older than results, so in reverse order of creation every node's gradient is complete before the node
// passes it on. No sorting and no recursion is needed.
#include "tape/sweep.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "tape/adjoints.hpp"
#include "tape/record.hpp"
#include "tape/walk.hpp"

namespace retrograd {
namespace {

// The sink of a sweep: contributions go straight to the operands' gradients. There are no USER nodes.
struct SweepSink {
  double gradient;
  bool zero_upstream;  // a zero gradient contributes nothing, even if the local derivative is infinite

  bool operand(Value* value) { return mark_op(value); }
  void skip(Value* value, bool first) {
    if (first) value->grad = 0.0;
  }
  // The first contribution is stored instead of added to zero: one addition less on the critical path.
  void add(uint32_t, Value* value, double local, bool first) {
    const double contribution = local * gradient;
    if (!first) {
      value->grad += contribution;
      return;
    }
    value->grad = contribution;
    if (contribution == 0.0) [[unlikely]]
      value->grad = 0.0;  // -0.0 becomes 0.0, as in 0.0 + -0.0
  }
};

// The backward lock. A pass changes the gradients of leaves, which all threads share, and user functions in it may let
// other threads run. Another thread's pass waits until this one ends. The owner, and how many nested passes it runs,
// are read and written under the GIL.
Tape* lock_owner = nullptr;
int lock_depth = 0;

}  // namespace

bool lock_backward() {
  Tape* tape = this_tape();
  if (!tape) return false;
  while (lock_owner && lock_owner != tape) {
    PyThreadState* state = PyEval_SaveThread();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    PyEval_RestoreThread(state);
    if (PyErr_CheckSignals() < 0) return false;
  }
  lock_owner = tape;
  ++lock_depth;
  return true;
}

void unlock_backward() {
  if (--lock_depth == 0) lock_owner = nullptr;
}

namespace {

// The sink of a sweep without side effects: see IsolatedGradients.
struct IsolatedSink {
  double gradient;
  bool zero_upstream;
  IsolatedGradients* saved;

  bool operand(Value* value) {
    saved->reach(value);
    return false;
  }
  void skip(Value*, bool) {}
  void add(uint32_t, Value* value, double local, bool) { value->grad += local * gradient; }
};

// The sink for one node alone: `_backward()`.
struct NodeSink {
  double gradient;
  bool zero_upstream;

  static bool operand(Value*) { return false; }
  static void skip(Value*, bool) {}
  void add(uint32_t, Value* value, double local, bool) { value->grad += local * gradient; }
};

struct LocalSink {
  static constexpr bool zero_upstream = false;
  std::vector<double> partials;
  bool operand(Value*) {
    partials.push_back(0.0);
    return false;
  }
  static void skip(Value*, bool) {}
  void add(uint32_t i, Value*, double local, bool) { partials[i] = local; }
};

// --- changed values ---------------------------------------------------------------------------------------------

// Whether no value that this thread's nodes may have used has changed since.
bool nothing_changed(const Tape* tape) { return tape->oldest_position() >= last_change_position(); }

// Returns the node, or the operand of it, whose data has changed since the node was recorded, and the number that was
// used; null if none has.
Value* changed_at(Value* node, double* used) {
  if (!unchanged_since(node, creation_position(node))) {
    *used = data_used_at(node, creation_position(node));
    return node;
  }
  if (is_deferred(node)) return node->extra->deferred->changed(used);
  Value* changed = nullptr;
  const uint64_t position = use_position(node);
  each_operand(node, [&](Value* operand) {
    if (!changed && !unchanged_since(operand, position)) changed = operand;
  });
  if (changed) *used = data_used_at(changed, position);
  return changed;
}

// Raises if there is one, and returns false.
bool check_node(Value* node) {
  double used;
  Value* changed = changed_at(node, &used);
  if (changed) {
    raise_changed(changed, used);
  } else if (is_deferred(node) && is_foreign(node, this_tape())) {
    raise_from("foreign_thread", "()");
  } else {
    return true;
  }
  return false;
}

}  // namespace

bool check_graph(Value* root) {
  if (root->code == LEAF || (nothing_changed(this_tape()) && !any_deferred())) return true;
  return uninterrupted([&](Interrupt& interrupt) {
    Value* stale = nullptr;
    size_t pending = mark_any(root);
    const bool whole = walk_until(
        root, interrupt,
        [&](Value* place) {
          Value* node = node_at(place);
          --pending;
          each_older_operand(node, place, [&](Value* operand) { pending += mark_any(operand); });
          double used;
          if (changed_at(node, &used)) stale = node;
          return !stale;
        },
        [&] { return pending == 0; });
    if (stale) return check_node(stale);  // raising runs Python code: after the walk, when no mark is left
    return whole;
  });
}

// --- derivatives written by users -----------------------------------------------------------------------------

bool has_python_rule(Value* node) {
  if (node->code == USER) {
    const Extra* extra = node->extra;
    return extra->backward || (!extra->has_partials && !extra->deferred);  // or a call's, with several results
  }
  return node->flags & HAS_EXTRA && find_extra(node)->backward;
}

namespace {

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

// Passes on the gradient of a result of a call with several, or of what they share; false with an exception set.
bool apply_joint(Value* node) {
  const Extra* extra = node->extra;
  if (extra->joint) return extra->joint->run_back(node);
  Value* shared = extra->children[0];
  shared->extra->joint->take(shared, extra->result, node->grad);
  return true;
}

// Adds one node's contributions to its operands, by the table's rule or its given local derivatives.
void apply_rule(Value* node) {
  NodeSink sink{node->grad, node->grad == 0.0};
  differentiate(node, sink);
}

// The same by any kind of rule; false with an exception set.
bool apply_vjp(Value* node) {
  if (!has_python_rule(node)) {
    // Users' functions that ran earlier in this pass may have changed a number.
    if (!nothing_changed(this_tape()) && !check_node(node)) return false;
    apply_rule(node);
    return true;
  }
  if (node->grad == 0.0) return true;
  if (is_joint(node)) return apply_joint(node);
  Ref function = python_rule(node);
  return function && Ref(PyObject_CallNoArgs(function.get()));
}

// Collects the nodes that root depends on, including root, from the youngest to the oldest. `reach` marks its argument.
template <class Reach>
bool collect(Value* root, Interrupt& interrupt, std::vector<Ref>& order, Reach reach) {
  order.clear();  // an interrupted walk may have left nodes
  reach(root);
  return walk(root, interrupt, [&](Value* place) {
    Value* node = node_at(place);
    order.push_back(Ref::borrow(as_object(node)));
    each_older_operand(node, place, reach);
    return true;
  });
}

// The gradients of leaves before a pass, to be restored if it fails or is interrupted: a pass adds all or nothing.
class GradientSnapshot {
 public:
  void keep(Value* leaf) {
    if (leaf->mark == kKept) return;
    before_.emplace_back(Ref::borrow(as_object(leaf)), leaf->grad);
    leaf->mark = kKept;
  }
  // After the walk, the marks are no longer needed.
  void unmark() {
    for (auto& [leaf, gradient] : before_) as_value(leaf.get())->mark = 1;
  }
  void restore() {
    for (auto& [leaf, gradient] : before_) as_value(leaf.get())->grad = gradient;
    forget();
  }
  void forget() {
    unmark();
    before_.clear();
  }
  ~GradientSnapshot() { unmark(); }

 private:
  static constexpr uint8_t kKept = 2;  // the mark of a leaf in the snapshot
  std::vector<std::pair<Ref, double>> before_;
};

// Passes on what has arrived at nodes whose derivatives are found now. They depend on leaves alone, so they come last.
bool apply_deferred(const std::vector<Ref>& order) {
  std::vector<std::pair<Value*, double>> upstream;
  for (const Ref& held : order) {
    Value* node = as_value(held.get());
    if (is_deferred(node) && node->grad != 0.0) upstream.emplace_back(node, node->grad);
  }
  return upstream.empty() || push_deferred(upstream);
}

// Applies all VJPs in order. False if a user function raised, or the user interrupted.
bool apply_all(Value* root, double seed, const std::vector<Ref>& order) {
  for (const Ref& held : order) {
    Value* node = as_value(held.get());
    if (has_python_rule(node) && !is_joint(node) && !python_rule(node)) return false;
  }
  for (const Ref& node : order) as_value(node.get())->grad = 0.0;
  root->grad = seed;
  uint32_t count = 0;
  for (const Ref& node : order) {
    if (!apply_vjp(as_value(node.get()))) return false;
    // User functions run between the nodes anyway, so a signal handler may, too.
    if ((++count & 0x3fff) == 0 && PyErr_CheckSignals() < 0) return false;
  }
  return apply_deferred(order);
}

// A pass with user-defined derivatives. User functions may do anything, even run a backward pass, so the order is
// collected first: no mark is set while they run.
bool push_through_users(Value* root, double seed) {
  std::vector<Ref> order;
  GradientSnapshot leaves;
  bool collected = uninterrupted([&](Interrupt& interrupt) {
    leaves.forget();
    bool whole = collect(root, interrupt, order, [&](Value* value) {
      value->code == LEAF ? leaves.keep(value) : static_cast<void>(mark_any(value));
    });
    leaves.unmark();
    return whole;
  });
  if (!collected) return false;
  if (apply_all(root, seed, order)) return true;
  leaves.restore();  // they are in no buffer that is newer: push_deferred() has written those back
  return false;
}

// --- passes --------------------------------------------------------------------------------------------------------

template <class Sink>
RETROGRAD_NOINLINE void differentiate_others(Value* node, Sink sink) {
  differentiate_among<RuleSet::OTHERS>(node, sink);
}

template <class MakeSink>
bool sweep(Value* root, double seed, Interrupt& interrupt, MakeSink make_sink) {
  root->grad = seed;
  return walk(root, interrupt, [&](Value* node) {
    auto sink = make_sink(node->grad);
    if (!differentiate_among<RuleSet::FREQUENT>(node, sink)) differentiate_others(node, make_sink(node->grad));
    return true;
  });
}

}  // namespace

bool need_value(PyObject* object, const char* where) {
  if (is_value(object)) return true;
  raise_from("not_a_value", "(Os)", object, where);
  return false;
}

bool is_own(Value* root) {
  const Tape* tape = this_tape();
  if (!tape) return false;
  if (!is_foreign(root, tape)) return true;
  raise_from("foreign_thread", "()");
  return false;
}

bool may_walk(Value* root) { return is_own(root) && find_deferred() && flush_parameters(); }

namespace {

// In chunks: half a million nodes, which take milliseconds.
constexpr uint64_t kLongPass = 2000;

// Like SweepSink, but saves each leaf's gradient before its first contribution.
struct UndoableSink : SweepSink {
  GradientSnapshot* leaves;

  bool operand(Value* value) {
    if (value->code == LEAF) leaves->keep(value);
    return mark_op(value);
  }
};

// A pass from a compiled call's result itself. The parameters stay in their buffers.
bool run_deferred(Value* root, double seed) {
  if (!check_node(root)) return false;
  const std::pair<Value*, double> upstream{root, seed};
  if (seed != 0.0 && !push_deferred({&upstream, 1})) return false;
  root->grad = seed;
  return true;
}

bool run_backward(Value* root, double seed) {
  BackwardLock lock;
  if (!lock) return false;
  reserve_scratch(this_tape());
  seed += 0.0;  // -0.0 becomes 0.0
  if (!is_own(root)) return false;
  if (root->code != LEAF && is_deferred(root)) return run_deferred(root, seed);
  if (!flush_parameters()) return false;
  if (root->code == LEAF) {
    root->grad += seed;
    return true;
  }
  if (!check_graph(root)) return false;
  if (this_tape()->user_nodes > 0) return push_through_users(root, seed);
  // A short pass need not be interruptible. A long one saves what is needed to undo it.
  if (chunk_of(root)->sequence - this_tape()->oldest->sequence < kLongPass) {
    Interrupt never;
    never.ignore();
    mark_op(root);
    return sweep(root, seed, never, [](double gradient) { return SweepSink{gradient, gradient == 0.0}; });
  }
  return uninterrupted([&](Interrupt& interrupt) {
    GradientSnapshot leaves;
    mark_op(root);
    bool whole = sweep(root, seed, interrupt,
                       [&](double gradient) { return UndoableSink{{gradient, gradient == 0.0}, &leaves}; });
    if (!whole) leaves.restore();
    return whole;
  });
}

}  // namespace

bool run_pure(Value* root, double seed, IsolatedGradients& saved, Interrupt& interrupt) {
  reserve_scratch(this_tape());
  seed += 0.0;
  saved.reach(root);
  if (root->code == LEAF) {
    root->grad = seed;
    return true;
  }
  if (this_tape()->user_nodes > 0) {
    std::vector<Ref> order;
    bool collected = collect(root, interrupt, order, [&](Value* value) { saved.reach(value); });
    saved.unmark_leaves();
    return collected && apply_all(root, seed, order);
  }
  return sweep(root, seed, interrupt, [&](double gradient) { return IsolatedSink{gradient, gradient == 0.0, &saved}; });
}

namespace {

// --- functions of the module ----------------------------------------------------------------------------------

PyObject* interior(PyObject*, PyObject* object) try {
  if (!need_value(object, "interior()")) return nullptr;
  if (!flush_parameters()) return nullptr;
  show_operands();
  Value* root = as_value(object);
  std::vector<Ref> order;
  const bool collected = root->code == LEAF || uninterrupted([&](Interrupt& interrupt) {
                           IsolatedGradients saved;  // reaching zeroes gradients: restore them
                           return collect(root, interrupt, order, [&](Value* value) { saved.reach(value); });
                         });
  if (!collected) return nullptr;
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
  Ref held(PySequence_Tuple(sequence));
  if (!held) return nullptr;
  const Py_ssize_t count = PyTuple_Size(held.get());
  std::vector<Value*> xs;
  xs.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* x = PyTuple_GetItem(held.get(), i);
    if (!need_value(x, "gradients()")) return nullptr;
    xs.push_back(as_value(x));
  }
  Ref result(PyList_New(count));
  if (!result) return nullptr;
  BackwardLock lock;
  if (!lock) return nullptr;
  if (!check_graph(as_value(object))) return nullptr;
  const bool done = uninterrupted([&](Interrupt& interrupt) {
    IsolatedGradients saved;
    saved.reserve(2 * xs.size());
    // Inputs that the pass does not reach have gradient zero.
    for (Value* x : xs) saved.save(x);
    if (!run_pure(as_value(object), seed, saved, interrupt)) return false;
    Py_ssize_t at = 0;
    for (const Value* x : xs) {
      PyObject* number = PyFloat_FromDouble(x->grad);
      if (!number || PyList_SetItem(result.get(), at++, number) < 0) return false;
    }
    return true;
  });
  if (!done) return nullptr;
  return result.release();
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* acquire_backward_lock(PyObject*, PyObject*) {
  if (!lock_backward()) return nullptr;
  Py_RETURN_NONE;
}

PyObject* release_backward_lock(PyObject*, PyObject*) {
  if (lock_owner != this_tape() || !lock_owner) {
    PyErr_SetString(PyExc_RuntimeError, "release_backward_lock() without an acquire_backward_lock() by this thread.");
    return nullptr;
  }
  unlock_backward();
  Py_RETURN_NONE;
}

}  // namespace

PyObject* value_backward(PyObject* self, PyObject* args, PyObject* keywords) try {
  static const char* names[] = {"gradient", "retain_graph", "create_graph", nullptr};
  PyObject *gradient = nullptr, *retain_graph = nullptr;
  int create_graph = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O$Op:backward", const_cast<char**>(names), &gradient,
                                   &retain_graph, &create_graph)) {
    answer_keywords("backward", keywords);
    return nullptr;
  }
  double seed = 1.0;
  if (!tell_tracer("calls backward()")) return nullptr;
  if (create_graph) {
    raise_from("create_graph_given", "()");
    return nullptr;
  }
  if (gradient && !need_number(gradient, &seed, "backward(…)")) return nullptr;
  if (as_value(self)->code == LEAF && as_value(self)->flags & UNRECORDED) {
    raise_from("not_recorded", "(O)", self);
    return nullptr;
  }
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

PyObject* push_joint(PyObject* self, PyObject*) try {
  return flush_parameters() && apply_joint(as_value(self)) ? Py_NewRef(Py_None) : nullptr;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* value_push(PyObject* self, PyObject*) try {
  if (!find_deferred() || !flush_parameters()) return nullptr;
  Value* node = as_value(self);
  if (is_joint(node)) return push_joint(self, nullptr);
  if (node->code == USER && !node->extra->has_partials && !node->extra->deferred) {
    raise_from("missing_derivative", "(O)", self);
    return nullptr;
  }
  if (!this_tape() || (node->code != LEAF && !check_node(node))) return nullptr;
  reserve_scratch(this_tape());
  apply_rule(node);
  Py_RETURN_NONE;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* value_local_grads(PyObject* self, void*) try {
  if (!find_deferred() || !flush_parameters()) return nullptr;
  Value* node = as_value(self);
  if (!this_tape() || !tell_tracer("reads local derivatives") || !materialize(node)) return nullptr;
  LocalSink sink;
  if (node->code != LEAF) {
    if (!check_node(node)) return nullptr;
    if (has_python_rule(node)) {
      raise_from("no_local_grads", "(O)", self);
      return nullptr;
    }
    reserve_scratch(this_tape());
    differentiate(node, sink);
  }
  PyObject* result = PyTuple_New(static_cast<Py_ssize_t>(sink.partials.size()));
  for (size_t i = 0; result && i < sink.partials.size(); ++i) {
    PyObject* number = PyFloat_FromDouble(sink.partials[i]);
    if (!number || PyTuple_SetItem(result, static_cast<Py_ssize_t>(i), number) < 0) Py_CLEAR(result);
  }
  return result;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyMethodDef sweep_functions[] = {
    {"acquire_backward_lock", acquire_backward_lock, METH_NOARGS,
     "Wait until no other thread is in a backward pass, and keep the others out."},
    {"release_backward_lock", release_backward_lock, METH_NOARGS, "Undo one acquire_backward_lock() of this thread."},
    {"interior", interior, METH_O,
     "The nodes that a value depends on, itself included, oldest first; leaves are left out."},
    {"gradients", gradients, METH_VARARGS,
     "gradients(root, seed, xs): seed times the derivative of root with respect to each x, touching no .grad."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
