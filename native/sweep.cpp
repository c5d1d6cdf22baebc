// The backward pass: a sweep over the tape from young to old.
//
// Operands are older than results, so the order of creation, read backwards, is an order in which every
// node is complete before it passes its gradient on. Nothing is sorted and nothing recurses.
#include <vector>

#include "differentiate.hpp"
#include "record.hpp"

namespace retrograd {
namespace {

// Marks `value` as reached. An interior gradient starts at zero the first time.
inline bool reach_interior(Value* value) {
  Value* place = value->code == USER ? value->slot : value;
  if (place->mark) return false;
  place->mark = 1;
  ++chunk_of(place)->marks;
  value->grad = 0.0;
  return true;
}

// Calls visit(node, position) for each marked node from the youngest to the oldest, unmarking it first;
// `visit` marks further, older ones. Stops, with every mark cleared, when `visit` returns false.
template <class Visit>
bool walk(Value* root, Visit&& visit) {
  Value* start = root->code == USER ? root->slot : root;
  bool going = true;
  for (Chunk* chunk = chunk_of(start); chunk; chunk = chunk->older) {
    if (!chunk->marks) continue;
    uint32_t last = chunk->used == kOpen ? static_cast<uint32_t>(chunk->tape->bump - chunk->first()) : chunk->used;
    Value* place = chunk == chunk_of(start) ? start : chunk->first() + last - 1;
    const uint64_t base = chunk->sequence * kChunkBytes - reinterpret_cast<uintptr_t>(chunk);
    for (; chunk->marks; --place) {
      if (!place->mark) continue;
      place->mark = 0;
      --chunk->marks;
      if (!going) continue;
      try {
        going = visit(place, base + reinterpret_cast<uintptr_t>(place));
      } catch (const std::bad_alloc&) {
        going = false;
        PyErr_NoMemory();
      }
    }
  }
  return going;
}

// Sweeps: contributions go straight to the operands' gradients.
struct SweepSink {
  double gradient;
  uint64_t position;
  bool quiet;  // a zero gradient contributes nothing, even against an infinite local derivative
  Value* changed = nullptr;

  void operand(Value* value) {
    if (!unchanged_since(value, position)) [[unlikely]]
      changed = value;
    if (value->code != LEAF) reach_interior(value);
  }
  void add(uint32_t, Value* value, double local) { value->grad += local * gradient; }
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
      if (value->mark) return;
      gradients_.emplace_back(value, before);
      value->mark = 1;
      value->grad = 0.0;
    } else if (reach_interior(value)) {
      gradients_.emplace_back(value, before);
    }
  }
  void unmark_leaves() {
    for (auto& [value, before] : gradients_) {
      if (value->code == LEAF) value->mark = 0;
    }
  }
  ~Saved() {
    unmark_leaves();
    for (auto entry = gradients_.rbegin(); entry != gradients_.rend(); ++entry) entry->first->grad = entry->second;
  }

 private:
  std::vector<std::pair<Value*, double>> gradients_;
};

// Sweeps without a trace: see Saved.
struct PureSink {
  double gradient;
  uint64_t position;
  bool quiet;
  Saved* saved;
  Value* changed = nullptr;

  void operand(Value* value) {
    if (!unchanged_since(value, position)) changed = value;
    saved->reach(value);
  }
  void add(uint32_t, Value* value, double local) { value->grad += local * gradient; }
};

// One node alone, as `_backward()` does it.
struct PushSink {
  double gradient;
  uint64_t position;
  bool quiet;
  Value* changed = nullptr;

  void operand(Value* value) {
    if (!unchanged_since(value, position)) changed = value;
  }
  void add(uint32_t, Value* value, double local) { value->grad += local * gradient; }
};

struct LocalSink {
  static constexpr bool quiet = false;
  std::vector<double> partials;
  void operand(Value*) { partials.push_back(0.0); }
  void add(uint32_t i, Value*, double local) { partials[i] = local; }
};

bool own_data_changed(const Value* node, uint64_t position) {
  return (node->flags & CHANGED) && !unchanged_since(node, position);
}

// What a node's derivative is when it is not a row of the table.
bool has_python_rule(Value* node) {
  if (node->code == USER) {
    const Extra* extra = node->extra;
    return extra->backward || !extra->has_partials;
  }
  return node->flags & HAS_EXTRA && find_extra(node)->backward;
}

bool call(PyObject* function) {
  Ref result(PyObject_CallNoArgs(function));
  return bool(result);
}

// Lets a user's function push: the one assigned to `_backward`, or the method of a subclass.
bool push_by_python(Value* node) {
  const Extra* extra = find_extra(node);
  if (extra && extra->backward) {
    Ref function = Ref::borrow(extra->backward.get());
    return call(function.get());
  }
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(as_object(node)));
  Ref own(PyObject_GetAttrString(type, "_backward"));
  Ref inherited(PyObject_GetAttrString(reinterpret_cast<PyObject*>(value_type), "_backward"));
  if (!own || !inherited) return false;
  if (own.get() == inherited.get()) {
    raise_from("missing_derivative", "(O)", as_object(node));
    return false;
  }
  Ref method(PyObject_GetAttrString(as_object(node), "_backward"));
  return method && call(method.get());
}

// Add one node's contributions to its operands; false with an exception set.
bool push(Value* node) {
  if (node->code == LEAF) return true;
  uint64_t position = place_of(node);
  PushSink sink{node->grad, position, node->grad == 0.0};
  bool python = has_python_rule(node);
  if (own_data_changed(node, position)) sink.changed = node;
  // Check before adding anything, so that an error leaves the gradients as they were.
  each_operand(node, [&](Value* operand) { sink.operand(operand); });
  if (!python && !sink.changed) differentiate(node, sink);
  if (sink.changed) {
    raise_changed(sink.changed, data_used_at(sink.changed, position));
    return false;
  }
  return !python || sink.quiet || push_by_python(node);
}

// All nodes that root depends on, itself included, from the youngest to the oldest. `reach` marks what it
// is given, and root first.
template <class Reach>
bool collect(Value* root, std::vector<Ref>& order, Reach reach) {
  reach(root);
  return walk(root, [&](Value* place, uint64_t) {
    Value* node = place->code == SLOT ? place->a : place;
    order.push_back(Ref::borrow(as_object(node)));
    each_operand(node, reach);
    return true;
  });
}

bool push_all(Value* root, double seed, const std::vector<Ref>& order) {
  root->grad = seed;
  for (const Ref& node : order) {
    if (!push(as_value(node.get()))) return false;
  }
  return true;
}

template <class MakeSink>
bool sweep(Value* root, double seed, MakeSink make_sink) {
  root->grad = seed;
  Value* changed = nullptr;
  uint64_t at = 0;
  bool done = walk(root, [&](Value* node, uint64_t position) {
    auto sink = make_sink(node->grad, position);
    differentiate(node, sink);
    if (own_data_changed(node, position)) [[unlikely]]
      sink.changed = node;
    if (!sink.changed) [[likely]]
      return true;
    changed = sink.changed;
    at = position;
    return false;
  });
  if (changed) raise_changed(changed, data_used_at(changed, at));
  return done;
}

bool need_value(PyObject* object, const char* where) {
  if (is_value(object)) return true;
  raise_from("not_a_value", "(Os)", object, where);
  return false;
}

// Whether this thread may walk back from `root`.
bool may_walk(Value* root) {
  Tape* tape = this_tape();
  if (!tape) return false;
  if (root->code == LEAF || chunk_of(root->code == USER ? root->slot : root)->tape == tape) return true;
  raise_from("foreign_thread", "()");
  return false;
}

bool run_backward(Value* root, double seed) {
  if (!may_walk(root)) return false;
  if (root->code == LEAF) {
    root->grad += seed;
    return true;
  }
  if (this_tape()->user_nodes > 0) {
    // Users' functions are Python code, which may do anything, a backward pass included: the order is
    // collected first, so that no mark is left while they run.
    std::vector<Ref> order;
    auto reach = [](Value* value) {
      if (value->code != LEAF) reach_interior(value);
    };
    return collect(root, order, reach) && push_all(root, seed, order);
  }
  reach_interior(root);
  return sweep(root, seed, [](double gradient, uint64_t position) {
    return SweepSink{gradient, position, gradient == 0.0};
  });
}

// A whole pass that leaves no trace once `saved` is gone.
bool run_pure(Value* root, double seed, Saved& saved) {
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
  return sweep(root, seed, [&](double gradient, uint64_t position) {
    return PureSink{gradient, position, gradient == 0.0, &saved};
  });
}

// --- functions of the module ----------------------------------------------------------------------------------

PyObject* interior(PyObject*, PyObject* object) try {
  if (!need_value(object, "interior()") || !may_walk(as_value(object))) return nullptr;
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
  Ref xs(PySequence_Tuple(sequence));
  if (!xs) return nullptr;
  Py_ssize_t count = PyTuple_Size(xs.get());
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!need_value(PyTuple_GetItem(xs.get(), i), "gradients()")) return nullptr;
  }
  Ref result(PyList_New(count));
  if (!result) return nullptr;
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
  if (!push(as_value(self))) return nullptr;
  Py_RETURN_NONE;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* value_local_grads(PyObject* self, void*) try {
  Value* node = as_value(self);
  if (!materialize(node)) return nullptr;
  LocalSink sink;
  if (node->code != LEAF) {
    uint64_t position = place_of(node);
    Value* changed = own_data_changed(node, position) ? node : nullptr;
    each_operand(node, [&](Value* operand) {
      if (!unchanged_since(operand, position)) changed = operand;
    });
    if (changed) {
      raise_changed(changed, data_used_at(changed, position));
      return nullptr;
    }
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
    {"interior", interior, METH_O, "The nodes that a value depends on, itself included, oldest first; leaves are left out."},
    {"gradients", gradients, METH_VARARGS,
     "gradients(root, seed, xs): seed times the derivative of root with respect to each x, touching no .grad."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
