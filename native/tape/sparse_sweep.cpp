// The gradients of many roots, each with its own sweep: the rows of a sparse Jacobian.
//
// A sweep visits what its root depends on and stops at the oldest such node, so that all rows together cost the sum of
// the roots' subgraphs. The entries of a row are the leaves that the sweep reached.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tape/adjoints.hpp"
#include "tape/record.hpp"
#include "tape/sweep.hpp"

namespace retrograd {
namespace {

// Reaches an operand only where its local derivative is not structurally zero. A zero gradient from upstream reaches
// its operands, too, though it adds nothing: the pattern must not depend on which numbers happen to be zero.
struct SparseSink {
  static constexpr bool zero_upstream = false;
  double gradient;
  IsolatedGradients* saved;
  size_t* pending;

  static bool operand(Value*) { return false; }
  static void skip(Value*, bool) {}
  void add(uint32_t, Value* value, double local, bool) {
    *pending += saved->reach(value);
    if (gradient != 0.0) value->grad += local * gradient;
  }
};

// One sweep from root over table operations alone.
bool sweep_subgraph(Value* root, IsolatedGradients& saved, Interrupt& interrupt) {
  size_t pending = saved.reach(root);
  root->grad = 1.0;
  if (pending == 0) return true;
  return walk_until(
      root, interrupt,
      [&](Value* node) {
        --pending;
        SparseSink sink{node->grad, &saved, &pending};
        differentiate(node, sink);
        return true;
      },
      [&] { return pending == 0; });
}

// The same without numbers, where some nodes have users' functions: these may reach any operand of their node.
bool reach_subgraph(Value* root, IsolatedGradients& saved, Interrupt& interrupt) {
  size_t pending = saved.reach(root);
  if (pending == 0) return true;
  return walk_until(
      root, interrupt,
      [&](Value* place) {
        Value* node = node_at(place);
        --pending;
        SparseSink sink{0.0, &saved, &pending};
        if (node->code == USER || has_python_rule(node)) {
          each_older_operand(node, place, [&](Value* operand) { pending += saved.reach(operand); });
        } else {
          differentiate(node, sink);
        }
        return true;
      },
      [&] { return pending == 0; });
}

// Compressed sparse rows: the entries of row i are starts[i] to starts[i + 1].
struct Rows {
  std::vector<int64_t> starts{0}, columns;
  std::vector<double> numbers;
};

using Columns = std::unordered_map<const Value*, int64_t>;

class RowBuilder {
 public:
  RowBuilder(const Columns& columns, Rows& rows) : columns_(columns), rows_(rows) {}

  bool add(PyObject* root, Interrupt& interrupt) {
    entries_.clear();
    if (is_value(root) && !add_entries(as_value(root), interrupt)) return false;
    std::sort(entries_.begin(), entries_.end(), [](auto& x, auto& y) { return x.column < y.column; });
    for (const Entry& entry : entries_) {
      rows_.columns.push_back(entry.column);
      rows_.numbers.push_back(entry.number);
    }
    rows_.starts.push_back(static_cast<int64_t>(rows_.columns.size()));
    return true;
  }

 private:
  bool add_entries(Value* root, Interrupt& interrupt) {
    const bool users = this_tape()->user_nodes > 0;
    if (!(users ? reach_subgraph(root, saved_, interrupt) : sweep_subgraph(root, saved_, interrupt))) return false;
    saved_.each_leaf([&](Value* leaf) {
      auto found = columns_.find(leaf);
      if (found != columns_.end()) entries_.push_back({found->second, leaf->grad, leaf});
    });
    saved_.restore();
    if (!users) return true;
    if (!run_pure(root, 1.0, saved_, interrupt)) return false;
    for (Entry& entry : entries_) entry.number = entry.leaf->grad;
    saved_.restore();
    return true;
  }

  struct Entry {
    int64_t column;
    double number;
    const Value* leaf;
  };

  const Columns& columns_;
  Rows& rows_;
  IsolatedGradients saved_;
  std::vector<Entry> entries_;
};

template <class Number>
PyObject* bytes_of(const std::vector<Number>& numbers) {
  return PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(numbers.data()),
                                       static_cast<Py_ssize_t>(numbers.size() * sizeof(Number)));
}

bool read_leaves(PyObject* leaves, Columns& columns) {
  const Py_ssize_t count = PyTuple_Size(leaves);
  columns.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* leaf = PyTuple_GetItem(leaves, i);
    if (!need_value(leaf, "sparse_gradients()")) return false;
    if (as_value(leaf)->code != LEAF || !columns.emplace(as_value(leaf), i).second) {
      PyErr_SetString(PyExc_ValueError, "sparse_gradients() needs leaves, each of them once.");
      return false;
    }
  }
  return true;
}

// Whether passes from each of the roots may run.
bool check_roots(PyObject* roots) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(roots); ++i) {
    PyObject* root = PyTuple_GetItem(roots, i);
    if (is_value(root) && (!may_walk(as_value(root)) || !check_graph(as_value(root)))) return false;
  }
  return true;
}

PyObject* sparse_gradients(PyObject*, PyObject* args) try {
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO:sparse_gradients", &first, &second)) return nullptr;
  Ref roots(PySequence_Tuple(first));
  Ref leaves(roots ? PySequence_Tuple(second) : nullptr);
  Columns columns;
  if (!leaves || !this_tape() || !tell_tracer("takes a gradient") || !read_leaves(leaves.get(), columns))
    return nullptr;
  BackwardLock lock;
  if (!lock || !check_roots(roots.get())) return nullptr;
  reserve_scratch(this_tape());
  Rows rows;
  const bool done = uninterrupted([&](Interrupt& interrupt) {
    rows = Rows();
    RowBuilder builder(columns, rows);
    for (Py_ssize_t i = 0; i < PyTuple_Size(roots.get()); ++i) {
      if (!builder.add(PyTuple_GetItem(roots.get(), i), interrupt)) return false;
    }
    return true;
  });
  if (!done) return nullptr;
  Ref starts(bytes_of(rows.starts)), places(bytes_of(rows.columns)), numbers(bytes_of(rows.numbers));
  if (!starts || !places || !numbers) return nullptr;
  return PyTuple_Pack(3, starts.get(), places.get(), numbers.get());
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

}  // namespace

PyMethodDef sparse_functions[] = {
    {"sparse_gradients", sparse_gradients, METH_VARARGS,
     "sparse_gradients(roots, leaves): the derivatives of each root with respect to the leaves it depends on, as "
     "compressed sparse rows: starts and columns (int64) and numbers (float64), in bytes; touches no .grad."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace retrograd
