// What programs were traced in, and what becomes of them when that has changed: they are in doubt, and do not answer
// until a new trace of a call that they stand for has been compared with theirs.
#include <algorithm>
#include <utility>

#include "bindings/programs.hpp"

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
bool same_leaves(const Entry& one, const Entry& other) {
  const auto &places = one.leaves.places, &others = other.leaves.places;
  if (places.size() != others.size()) return false;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].memory != others[i].memory || places[i].active != others[i].active) return false;
    const bool same = places[i].memory == Memory::INPUT ? places[i].offset == others[i].offset
                                                        : one.graph.leaves[i] == other.graph.leaves[i];
    if (!same) return false;
  }
  return true;
}

// Whether both compute the same in the same order, from the same leaves and numbers, under the same guards.
bool alike(const Entry& one, const Entry& other) {
  const Graph &a = one.graph, &b = other.graph;
  return a.rows == b.rows && a.first == b.first && a.operands == b.operands && a.extra == b.extra &&
         a.roots == b.roots && same_numbers(a.literals, b.literals) && same_leaves(one, other) &&
         one.wanted == other.wanted && one.order == other.order && one.options.strict == other.options.strict &&
         std::equal(one.guards.begin(), one.guards.end(), other.guards.begin(), other.guards.end(), same_guard) &&
         std::equal(one.index_guards.begin(), one.index_guards.end(), other.index_guards.begin(),
                    other.index_guards.end(),
                    [](const IndexGuard& x, const IndexGuard& y) { return same_guard(x.guard, y.guard); });
}

}  // namespace

// capture(places): see Captured::read.
PyObject* capture(PyObject* object, PyObject* places) {
  if (!PyList_Check(places)) return PyErr_Format(PyExc_TypeError, "places are a list");
  std::unique_ptr<Captured> captured = Captured::read(places);
  if (!captured) return nullptr;
  Programs* self = self_of(object);
  // The old ones go last: what they let go of may come back here.
  std::vector<std::unique_ptr<Captured>> before;
  before.reserve(self->looked_at->size() + 1);
  self->looked_at->emplace_back();
  self->looked_at->back().reset(std::exchange(self->captured, captured.release()));
  for (auto& one : *self->looked_at) {
    if (!one || !one->busy()) before.push_back(std::move(one));
  }
  std::erase(*self->looked_at, nullptr);
  Py_RETURN_NONE;
}

// changed(): see Captured::changed.
PyObject* changed(PyObject* object, PyObject*) {
  Captured* captured = self_of(object)->captured;
  return captured ? captured->changed() : PyList_New(0);
}

// newer(leaves): whether one of them is younger than the last look at everything.
PyObject* newer(PyObject* object, PyObject* leaves) {
  if (!PyList_Check(leaves)) return PyErr_Format(PyExc_TypeError, "leaves are a list");
  const Captured* captured = self_of(object)->captured;
  for (Py_ssize_t i = 0; captured && i < PyList_Size(leaves); ++i) {
    PyObject* leaf = PyList_GetItem(leaves, i);
    if (is_value(leaf) && captured->newer(as_value(leaf))) Py_RETURN_TRUE;
  }
  Py_RETURN_FALSE;
}

// doubt(late): every program is in doubt, and, if `late`, one may have answered wrongly since every place was looked
// at.
PyObject* doubt(PyObject* object, PyObject* late) {
  const bool perhaps = PyObject_IsTrue(late) == 1;
  const Captured* captured = self_of(object)->captured;
  for (const auto& entry : *self_of(object)->entries) {
    if (entry->doubt != Doubt::NONE) continue;  // it has answered nothing since
    entry->doubt = perhaps && captured && entry->answered_in + 1 >= captured->rounds() ? Doubt::LATE : Doubt::IN_TIME;
  }
  Py_RETURN_NONE;
}

// doubted(mode, arguments): the numbers of the programs that would answer a call.
PyObject* doubted(PyObject* object, PyObject* args) {
  long mode;
  PyObject* tuple;
  if (!PyArg_ParseTuple(args, "lO!:doubted", &mode, &PyTuple_Type, &tuple)) return nullptr;
  Programs* self = self_of(object);
  const std::vector<PyObject*> items = items_of(tuple);
  Ref list(PyList_New(0));
  for (const auto& entry : *self->entries) {
    if (!list) return nullptr;
    if (entry->doubt == Doubt::NONE || entry->mode != mode || entry->broken()) continue;
    const int fit = entry->fits(items.data(), static_cast<Py_ssize_t>(items.size()), *self->scratch);
    if (fit < 0) return nullptr;
    bool replayed;
    if (fit == 0 || run_forward(*entry, *self->scratch, Aim::VALUE, &replayed) == Outcome::GUARD) continue;
    Ref number(PyLong_FromSize_t(entry->number));
    if (!number || PyList_Append(list.get(), number.get()) < 0) return nullptr;
  }
  return list.release();
}

// settle(doubted, new): whether the first is like the second, and so in no doubt any more; else, and where the second
// is None, whether that may have come too late: "alike", "other" or "late".
PyObject* settle_doubt(PyObject* object, PyObject* args) {
  PyObject *first, *second;
  if (!PyArg_ParseTuple(args, "OO:settle", &first, &second)) return nullptr;
  Entry* one = entry_numbered(object, first);
  const Entry* other = one && second != Py_None ? entry_numbered(object, second) : nullptr;
  if (!one || PyErr_Occurred()) return nullptr;
  if (!other || !alike(*one, *other)) return PyUnicode_FromString(one->doubt == Doubt::LATE ? "late" : "other");
  one->doubt = Doubt::NONE;
  return PyUnicode_FromString("alike");
}

}  // namespace retrograd::compiler
