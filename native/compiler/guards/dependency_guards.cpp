#include "compiler/guards/dependency_guards.hpp"

#include <algorithm>
#include <string_view>

namespace retrograd::compiler {
namespace {

// The cost that a call may spend on checks, in units of about two nanoseconds: for all locations if they are few, else
// for the hot ones and for a sample.
constexpr size_t kFew = 256, kHot = 96, kSample = 16;

size_t size_of(PyObject* object) {
  if (PyList_Check(object)) return static_cast<size_t>(PyList_Size(object));
  if (PyDict_Check(object)) return static_cast<size_t>(PyDict_Size(object));
  if (PyAnySet_Check(object)) return static_cast<size_t>(PySet_Size(object));
  const Py_ssize_t size = PyObject_Size(object);
  if (size < 0) PyErr_Clear();
  return static_cast<size_t>(size);
}

// Functions that the stable ABI lacks, or has only slow ones for.
traverseproc traverse_cell = nullptr;
descrgetfunc descriptor_get = nullptr;

// The position from which PyDict_Next finds a key at once; probably at `likely` or after it.
Py_ssize_t position_of_key(PyObject* dict, PyObject* name, Py_ssize_t likely) {
  PyObject *key, *item;
  Py_ssize_t at = likely;
  for (Py_ssize_t before = at; PyDict_Next(dict, &at, &key, &item); before = at) {
    if (key == name) return before;
  }
  return likely == 0 ? 0 : position_of_key(dict, name, 0);
}

// Whether both are equal numbers or strings in different objects.
bool same_scalar(PyObject* one, PyObject* other) {
  if (Py_TYPE(one) != Py_TYPE(other)) return false;
  if (PyFloat_CheckExact(one)) return same_bits(PyFloat_AsDouble(one), PyFloat_AsDouble(other));
  if (!PyLong_CheckExact(one) && !PyUnicode_CheckExact(one) && !PyBytes_CheckExact(one)) return false;
  const int equal = PyObject_RichCompareBool(one, other, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

}  // namespace

std::unique_ptr<DependencyGuards> DependencyGuards::read(PyObject* places) {
  auto captured = std::make_unique<DependencyGuards>();
  captured->since_ = births;
  for (Py_ssize_t i = 0; i < PyList_Size(places); ++i) {
    if (!captured->read_location(PyList_GetItem(places, i))) return nullptr;
  }
  captured->choose();
  return captured;
}

// Chooses the hot locations: all of them, or the outermost ones if there are many.
void DependencyGuards::choose() {
  size_t all = 0, spent = 0;
  for (const Location& place : locations_) all += cost_of(place);
  const size_t most = all <= kFew ? kFew : kHot;
  for (size_t i = 0; i < locations_.size(); ++i) {
    const size_t cost = cost_of(locations_[i]);
    const bool now = spent + cost <= most;
    (now ? hot_ : sampled_).push_back(static_cast<uint32_t>(i));
    if (now) spent += cost;
  }
}

size_t DependencyGuards::cost_of(const Location& place) const {
  switch (place.kind) {
    case NAMED: return held_[place.first].object ? 4 : 8;  // a missing name costs a lookup
    case SHARED: return 12;
    case SLOT: return 6;
    case ITEMS: return 4 + place.count;
    default: return 4;
  }
}

bool DependencyGuards::read_location(PyObject* tuple) {
  static constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"items", ITEMS},   {"size", SIZE}, {"entry", ENTRY}, {"named", NAMED},
      {"shared", SHARED}, {"slot", SLOT}, {"cell", CELL},
  };
  const char* kind;
  PyObject *object, *name;
  if (!PyArg_ParseTuple(tuple, "sOO", &kind, &object, &name)) return false;
  const auto known =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& one) { return one.first == kind; });
  if (known == std::end(kinds)) {
    PyErr_Format(PyExc_ValueError, "there is no kind of place %s", kind);
    return false;
  }
  Location place{known->second, Ref::borrow(object), Ref::borrow(name), 0, held_.size(), 1};
  switch (place.kind) {
    case ITEMS:
      place.count = static_cast<size_t>(PyList_Size(object));
      for (size_t i = 0; i < place.count; ++i) keep(PyList_GetItem(object, static_cast<Py_ssize_t>(i)));
      break;
    case SIZE: place.count = size_of(object); break;
    case ENTRY:
    case NAMED: {  // after the one before it, if that is of the same dictionary
      const Location* last = locations_.empty() ? nullptr : &locations_.back();
      const bool next = last && last->kind == place.kind && last->object.get() == object;
      place.position = position_of_key(object, name, next ? last->position : 0);
      break;
    }
    case SHARED: break;
    case CELL: traverse_cell = reinterpret_cast<traverseproc>(PyType_GetSlot(Py_TYPE(object), Py_tp_traverse)); break;
    case SLOT: descriptor_get = reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(name), Py_tp_descr_get)); break;
  }
  if (place.kind != ITEMS && place.kind != SIZE) keep(content(place).get());
  locations_.push_back(std::move(place));
  return !PyErr_Occurred();
}

void DependencyGuards::keep(PyObject* object) {
  const bool dies = object && Py_TYPE(object) == value_type;
  held_.push_back({object, dies ? Ref() : Ref::borrow(object)});
}

// The contents of a location that holds one object; null if there is none.
Ref DependencyGuards::content(const Location& place) {
  PyObject* object = place.object.get();
  Ref found;
  switch (place.kind) {
    case CELL: each_referent(traverse_cell, object, [&](PyObject* inside) { found = Ref::borrow(inside); }); break;
    case ENTRY:
    case NAMED: found = Ref::borrow(PyDict_GetItemWithError(object, place.name.get())); break;
    case SHARED: found = Ref(PyObject_GetAttr(object, place.name.get())); break;
    default: found = Ref(descriptor_get(place.name.get(), object, nullptr));
  }
  if (!found) PyErr_Clear();
  return found;
}

bool DependencyGuards::same_held(size_t number, PyObject* now) {
  Held& thing = held_[number];
  if (thing.object == now) return true;
  if (!now || !thing.held || !same_scalar(thing.held.get(), now)) return false;
  thing = {now, Ref::borrow(now)};
  return true;
}

bool DependencyGuards::same_items(const Location& place, size_t begin, size_t end) {
  PyObject* list = place.object.get();
  if (static_cast<size_t>(PyList_Size(list)) != place.count) return false;
  for (size_t i = begin; i < end; ++i) {
    if (!same_held(place.first + i, PyList_GetItem(list, static_cast<Py_ssize_t>(i)))) return false;
  }
  return true;
}

bool DependencyGuards::same_location(const Location& place) {
  switch (place.kind) {
    case ENTRY:
    case NAMED: {
      // It is usually still at the same position.
      PyObject *key, *item;
      Py_ssize_t at = place.position;
      const bool found = PyDict_Next(place.object.get(), &at, &key, &item) && key == place.name.get();
      if (!found && place.kind == ENTRY) return false;
      return same_held(place.first, found ? item : content(place).get());
    }
    case ITEMS: return same_items(place, 0, place.count);
    case SIZE: return size_of(place.object.get()) == place.count;
    default: return same_held(place.first, content(place).get());
  }
}

bool DependencyGuards::check_all() {
  return std::all_of(locations_.begin(), locations_.end(), [&](const Location& place) { return same_location(place); });
}

bool DependencyGuards::check_sample() {
  for (size_t spent = 0; spent < kSample;) {
    const Location& place = locations_[sampled_[next_sample_]];
    bool same;
    if (place.kind == ITEMS) {
      const size_t end = std::min(place.count, within_ + kSample - spent);
      same = same_items(place, within_, end);
      spent += end - within_;
      within_ = end < place.count ? end : 0;
    } else {
      same = same_location(place);
    }
    if (!same) return false;
    spent += 4;
    if (within_ == 0 && ++next_sample_ == sampled_.size()) {
      next_sample_ = 0;
      ++rounds_;
      return true;
    }
  }
  return true;
}

bool DependencyGuards::check() {
  const CheckScope look(this);
  if (since_ != births) {
    if (!check_all()) return false;
    since_ = births;
    ++rounds_;
    return true;
  }
  for (const uint32_t i : hot_) {
    if (!same_location(locations_[i])) return false;
  }
  return sampled_.empty() || check_sample();
}

// The new contents of a location.
PyObject* DependencyGuards::others(const Location& place) {
  Ref list(PyList_New(0));
  if (!list || place.kind == SIZE) return list.release();
  if (place.kind != ITEMS) {
    const Ref now = content(place);
    return now && PyList_Append(list.get(), now.get()) < 0 ? nullptr : list.release();
  }
  for (size_t i = 0; i < static_cast<size_t>(PyList_Size(place.object.get())); ++i) {
    PyObject* now = PyList_GetItem(place.object.get(), static_cast<Py_ssize_t>(i));
    if (i < place.count && same_held(place.first + i, now)) continue;
    if (PyList_Append(list.get(), now) < 0) return nullptr;
  }
  return list.release();
}

PyObject* DependencyGuards::violations() {
  const CheckScope look(this);
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < locations_.size(); ++i) {
    if (same_location(locations_[i])) continue;
    Ref instead(others(locations_[i]));
    const bool at_once = std::binary_search(hot_.begin(), hot_.end(), static_cast<uint32_t>(i));
    PyObject* flag = at_once ? Py_True : Py_False;
    Ref one(instead ? Py_BuildValue("(nOO)", static_cast<Py_ssize_t>(i), flag, instead.get()) : nullptr);
    if (!one || PyList_Append(list.get(), one.get()) < 0) return nullptr;
  }
  return list.release();
}

int DependencyGuards::traverse(visitproc visit, void* arg) const {
  for (const Location& place : locations_) {
    Py_VISIT(place.object.get());
    Py_VISIT(place.name.get());
  }
  for (const Held& thing : held_) Py_VISIT(thing.held.get());
  return 0;
}

}  // namespace retrograd::compiler
