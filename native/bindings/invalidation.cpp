// What programs were traced in, and what becomes of them when that has changed: they are suspect, and do not answer
// until a new trace of a call that they stand for has been compared with theirs.
#include <algorithm>
#include <utility>

#include "bindings/specialization_cache.hpp"

namespace retrograd::compiler {
namespace {

bool same_numbers(const std::vector<double>& one, const std::vector<double>& other) {
  return one.size() == other.size() && std::equal(one.begin(), one.end(), other.begin(), same_bits);
}

bool same_guard(const Guard& one, const Guard& other) {
  return one.test == other.test && one.left == other.left && one.right == other.right &&
         same_bits(one.number, other.number) && one.outcome == other.outcome;
}

// Whether both have the same leaves in the same places. Inputs are told by place: each trace has its own.
bool same_leaves(const Specialization& one, const Specialization& other) {
  const auto &places = one.leaves.locations, &others = other.leaves.locations;
  if (places.size() != others.size()) return false;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].kind != others[i].kind || places[i].active != others[i].active) return false;
    const bool same = places[i].kind == RegionKind::INPUT ? places[i].offset == others[i].offset
                                                          : one.graph.leaves[i] == other.graph.leaves[i];
    if (!same) return false;
  }
  return true;
}

// Whether both compute the same in the same order, from the same leaves and numbers, under the same guards.
bool alike(const Specialization& one, const Specialization& other) {
  const Graph &a = one.graph, &b = other.graph;
  return a.rows == b.rows && a.first == b.first && a.operands == b.operands && a.extra == b.extra &&
         a.roots == b.roots && same_numbers(a.literals, b.literals) && same_leaves(one, other) &&
         one.gradients == other.gradients && one.options.float_errors == other.options.float_errors &&
         std::equal(one.guards.begin(), one.guards.end(), other.guards.begin(), other.guards.end(), same_guard) &&
         std::equal(one.index_guards.begin(), one.index_guards.end(), other.index_guards.begin(),
                    other.index_guards.end(), [](const IndexGuard& x, const IndexGuard& y) {
                      return same_guard(x.guard, y.guard) && x.slot == y.slot && x.other_slot == y.other_slot;
                    });
}

}  // namespace

// capture(places): see DependencyGuards::read.
PyObject* capture(PyObject* object, PyObject* places) {
  if (!PyList_Check(places)) return PyErr_Format(PyExc_TypeError, "places are a list");
  std::unique_ptr<DependencyGuards> captured = DependencyGuards::read(places);
  if (!captured) return nullptr;
  SpecializationCache* self = self_of(object);
  // The old guards are freed last: the objects that they release may call this function again.
  std::vector<std::unique_ptr<DependencyGuards>> before;
  before.reserve(self->retired->size() + 1);
  self->retired->emplace_back();
  self->retired->back().reset(std::exchange(self->dependencies, captured.release()));
  for (auto& one : *self->retired) {
    if (!one || !one->busy()) before.push_back(std::move(one));
  }
  std::erase(*self->retired, nullptr);
  Py_RETURN_NONE;
}

// changed(): see DependencyGuards::violations.
PyObject* changed(PyObject* object, PyObject*) {
  DependencyGuards* captured = self_of(object)->dependencies;
  return captured ? captured->violations() : PyList_New(0);
}

// newer(leaves): whether one of them is younger than the last look at everything.
PyObject* newer(PyObject* object, PyObject* leaves) {
  if (!PyList_Check(leaves)) return PyErr_Format(PyExc_TypeError, "leaves are a list");
  const DependencyGuards* captured = self_of(object)->dependencies;
  for (Py_ssize_t i = 0; captured && i < PyList_Size(leaves); ++i) {
    PyObject* leaf = PyList_GetItem(leaves, i);
    if (is_value(leaf) && captured->newer(as_value(leaf))) Py_RETURN_TRUE;
  }
  Py_RETURN_FALSE;
}

// invalidate(late): every program is suspect, and, if `late`, one may have answered wrongly since every place was
// looked at.
PyObject* invalidate(PyObject* object, PyObject* late) {
  const bool perhaps = PyObject_IsTrue(late) == 1;
  const DependencyGuards* captured = self_of(object)->dependencies;
  for (const auto& entry : *self_of(object)->specializations) {
    if (entry->validity != Validity::VALID) continue;  // it has answered nothing since
    entry->validity = perhaps && captured && entry->last_hit_round + 1 >= captured->rounds() ? Validity::MAYBE_STALE
                                                                                             : Validity::SUSPECT;
  }
  Py_RETURN_NONE;
}

// suspects(differentiate_first, arguments): the numbers of the programs that would answer a call.
PyObject* suspects(PyObject* object, PyObject* args) {
  int differentiate_first;
  PyObject* tuple;
  if (!PyArg_ParseTuple(args, "pO!:suspects", &differentiate_first, &PyTuple_Type, &tuple)) return nullptr;
  SpecializationCache* self = self_of(object);
  const std::vector<PyObject*> items = items_of(tuple);
  Ref list(PyList_New(0));
  for (const auto& entry : *self->specializations) {
    if (!list) return nullptr;
    if (entry->validity == Validity::VALID || entry->differentiate_first != (differentiate_first == 1) ||
        entry->invalid())
      continue;
    const int fit = entry->matches(items.data(), static_cast<Py_ssize_t>(items.size()), *self->scratch);
    if (fit < 0) return nullptr;
    bool interpreted;
    if (fit == 0 || run_forward(*entry, *self->scratch, Wanted::VALUE, &interpreted) == Outcome::GUARD) continue;
    Ref number(PyLong_FromSize_t(entry->number));
    if (!number || PyList_Append(list.get(), number.get()) < 0) return nullptr;
  }
  return list.release();
}

// settle(suspects, new): whether the first is like the second, and so in no validity_ any more; else, and where the
// second is None, whether that may have come too late: "alike", "other" or "late".
PyObject* revalidate(PyObject* object, PyObject* args) {
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO:revalidate", &first, &second)) return nullptr;
  Specialization* one = specialization_numbered(object, first);
  const Specialization* other = one && second != Py_None ? specialization_numbered(object, second) : nullptr;
  if (!one || PyErr_Occurred()) return nullptr;
  if (!other || !alike(*one, *other))
    return PyUnicode_FromString(one->validity == Validity::MAYBE_STALE ? "late" : "other");
  one->validity = Validity::VALID;
  return PyUnicode_FromString("alike");
}

}  // namespace retrograd::compiler
