#include "compiler/guards/state_guards.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace retrograd::compiler {
namespace {

// Functions that the stable ABI lacks, or has only slow ones for.
traverseproc traverse_cell = nullptr;
traverseproc traverse_function = nullptr;
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

// A buffer that is given back at the end.
class View {
 public:
  explicit View(PyObject* object) : taken_(PyObject_GetBuffer(object, &view_, PyBUF_FULL_RO) == 0) {
    if (!taken_) PyErr_Clear();
  }
  ~View() {
    if (taken_) PyBuffer_Release(&view_);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  explicit operator bool() const { return taken_; }
  const Py_buffer& operator*() const { return view_; }

 private:
  Py_buffer view_{};
  bool taken_;
};

// The numbers of a buffer in the order of its axes.
std::vector<char> bytes_of(const Py_buffer& view) {
  std::vector<char> bytes(static_cast<size_t>(view.len));
  if (view.len > 0 && PyBuffer_ToContiguous(bytes.data(), &view, view.len, 'C') < 0) PyErr_Clear();
  return bytes;
}

}  // namespace

std::unique_ptr<StateGuards> StateGuards::read(PyObject* places) {
  auto guards = std::make_unique<StateGuards>();
  for (Py_ssize_t i = 0; i < PyList_Size(places); ++i) {
    if (!guards->read_place(PyList_GetItem(places, i))) return nullptr;
  }
  return guards;
}

bool StateGuards::read_place(PyObject* tuple) {
  static constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"items", ITEMS}, {"entries", ENTRIES},     {"elements", ELEMENTS}, {"bytes", BYTES},
      {"named", NAMED}, {"namespace", NAMESPACE}, {"function", FUNCTION}, {"shared", SHARED},
      {"slot", SLOT},   {"cell", CELL},           {"referent", REFERENT},
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
  Place place{known->second, Ref::borrow(object), Ref::borrow(name), 0, contents_.size(), 0};
  if (place.kind == BYTES) {
    place.first = buffers_.size();
    if (!read_buffer(object)) return false;
  } else {
    read_contents(place);
  }
  watch(place);
  places_.push_back(std::move(place));
  return !PyErr_Occurred();
}

// Adds the footprint of a place, unless it is that of the place before it, a name in the same dictionary.
void StateGuards::watch(const Place& place) {
  const size_t span = footprint_.size(), mine = places_.size();
  PyObject* object = place.object.get();
  bool known = false;
  switch (place.kind) {
    case ITEMS: known = footprint_.add_list(object); break;
    case ENTRIES:
    case NAMED: {
      const bool again = !groups_.empty() && groups_.back().end == mine && places_.back().kind == place.kind &&
                         places_.back().object.get() == object;
      known = again || footprint_.add_dict(object);
      break;
    }
    case NAMESPACE: known = footprint_.add_namespace(object, contents_[place.first + 1]); break;
    case FUNCTION:
    case CELL: known = footprint_.add_body(object); break;
    default: break;
  }
  if (!known) {
    asked_.push_back(mine);
  } else if (footprint_.size() > span) {
    groups_.push_back({mine, mine + 1, span});
  } else {
    ++groups_.back().end;
  }
}

bool StateGuards::read_buffer(PyObject* object) {
  const View view(object);
  if (!view) {
    PyErr_Format(PyExc_TypeError, "a place of bytes holds an object without a buffer");
    return false;
  }
  const auto axes = static_cast<size_t>((*view).ndim);
  buffers_.push_back({(*view).format ? (*view).format : "",
                      std::vector<Py_ssize_t>((*view).shape, (*view).shape + axes), bytes_of(*view)});
  return true;
}

void StateGuards::read_contents(Place& place) {
  PyObject* object = place.object.get();
  switch (place.kind) {
    case ITEMS:
      for (Py_ssize_t i = 0; i < PyList_Size(object); ++i) keep(PyList_GetItem(object, i));
      break;
    case ENTRIES: {
      PyObject *key, *item;
      for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &item);) {
        keep(key);
        keep(item);
      }
      break;
    }
    case ELEMENTS: {
      const Ref iterator = iterator_of(place);
      while (const Ref item = Ref(iterator ? PyIter_Next(iterator.get()) : nullptr)) keep(item.get());
      break;
    }
    case NAMESPACE:
      keep(reinterpret_cast<PyObject*>(Py_TYPE(object)));
      keep(content(place).get());
      break;
    case NAMED: {  // probably after the one before it, if that is of the same dictionary
      const Place* last = places_.empty() ? nullptr : &places_.back();
      const bool next = last && last->kind == NAMED && last->object.get() == object;
      keep(content(place).get());
      if (contents_.back()) place.position = position_of_key(object, place.name.get(), next ? last->position : 0);
      break;
    }
    case FUNCTION:
      traverse_function = reinterpret_cast<traverseproc>(PyType_GetSlot(Py_TYPE(object), Py_tp_traverse));
      each_referent(traverse_function, object, [&](PyObject* one) { keep(one); });
      break;
    case CELL:
      traverse_cell = reinterpret_cast<traverseproc>(PyType_GetSlot(Py_TYPE(object), Py_tp_traverse));
      keep(content(place).get());
      break;
    case SLOT:
      descriptor_get = reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(place.name.get()), Py_tp_descr_get));
      keep(content(place).get());
      break;
    case REFERENT:
      contents_.push_back(content(place).get());
      kept_.emplace_back();  // a weak reference does not keep it alive either
      break;
    default: keep(content(place).get());
  }
  place.count = contents_.size() - place.first;
}

void StateGuards::keep(PyObject* object) {
  const bool dies = object && Py_TYPE(object) == value_type;
  contents_.push_back(object);
  kept_.push_back(dies ? Ref() : Ref::borrow(object));
}

// The contents of a place that holds one object; null if there is none.
Ref StateGuards::content(const Place& place) {
  PyObject* object = place.object.get();
  Ref found;
  switch (place.kind) {
    case CELL: each_referent(traverse_cell, object, [&](PyObject* inside) { found = Ref::borrow(inside); }); break;
    case NAMED: found = Ref::borrow(PyDict_GetItemWithError(object, place.name.get())); break;
    case NAMESPACE: found = Ref(PyObject_GenericGetDict(object, nullptr)); break;
    case SHARED: found = Ref(PyObject_GetAttr(object, place.name.get())); break;
    case REFERENT: found = Ref(PyObject_CallNoArgs(object)); break;
    default: found = Ref(descriptor_get(place.name.get(), object, nullptr));
  }
  if (!found) PyErr_Clear();
  return found;
}

Ref StateGuards::iterator_of(const Place& place) {
  const auto iterate =
      reinterpret_cast<getiterfunc>(PyType_GetSlot(reinterpret_cast<PyTypeObject*>(place.name.get()), Py_tp_iter));
  return Ref(iterate ? iterate(place.object.get()) : nullptr);
}

bool StateGuards::same(size_t thing, PyObject* now) {
  if (contents_[thing] == now) return true;
  if (!now || !kept_[thing] || !same_scalar(kept_[thing].get(), now)) return false;
  contents_[thing] = now;
  kept_[thing] = Ref::borrow(now);
  return true;
}

bool StateGuards::same_items(const Place& place) {
  PyObject* list = place.object.get();
  if (static_cast<size_t>(PyList_Size(list)) != place.count) return false;
  for (size_t i = 0; i < place.count; ++i) {
    if (!same(place.first + i, PyList_GetItem(list, static_cast<Py_ssize_t>(i)))) return false;
  }
  return true;
}

bool StateGuards::same_entries(const Place& place) {
  PyObject* dict = place.object.get();
  if (static_cast<size_t>(PyDict_Size(dict)) * 2 != place.count) return false;
  PyObject *key, *item;
  size_t thing = place.first;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &item); thing += 2) {
    if (!same(thing, key) || !same(thing + 1, item)) return false;
  }
  return true;
}

bool StateGuards::same_elements(const Place& place) {
  const Ref iterator = iterator_of(place);
  size_t i = 0;
  while (const Ref item = Ref(iterator ? PyIter_Next(iterator.get()) : nullptr)) {
    if (i == place.count || !same(place.first + i, item.get())) return false;
    ++i;
  }
  if (PyErr_Occurred()) PyErr_Clear();
  return i == place.count;
}

bool StateGuards::same_buffer(const Place& place) const {
  const Buffer& before = buffers_[place.first];
  const View view(place.object.get());
  if (!view || before.format != ((*view).format ? (*view).format : "")) return false;
  if (!std::equal(before.shape.begin(), before.shape.end(), (*view).shape, (*view).shape + (*view).ndim)) return false;
  if (static_cast<size_t>((*view).len) != before.bytes.size()) return false;
  if (PyBuffer_IsContiguous(&*view, 'C'))
    return std::memcmp((*view).buf, before.bytes.data(), before.bytes.size()) == 0;
  return bytes_of(*view) == before.bytes;
}

bool StateGuards::same_namespace(const Place& place) const {
  PyObject* object = place.object.get();
  return contents_[place.first] == reinterpret_cast<PyObject*>(Py_TYPE(object)) &&
         contents_[place.first + 1] == content(place).get();
}

bool StateGuards::same_function(const Place& place) const {
  size_t thing = place.first;
  bool same = true;
  each_referent(traverse_function, place.object.get(), [&](PyObject* one) {
    same &= thing < place.first + place.count && contents_[thing] == one;
    ++thing;
  });
  return same && thing == place.first + place.count;
}

// A variable is usually still at the same position of its dictionary.
bool StateGuards::same_name(const Place& place) {
  PyObject *key, *item;
  Py_ssize_t at = place.position;
  const bool found = PyDict_Next(place.object.get(), &at, &key, &item) && key == place.name.get();
  return same(place.first, found ? item : content(place).get());
}

bool StateGuards::same_place(const Place& place) {
  switch (place.kind) {
    case ITEMS: return same_items(place);
    case ENTRIES: return same_entries(place);
    case ELEMENTS: return same_elements(place);
    case BYTES: return same_buffer(place);
    case NAMED: return same_name(place);
    case NAMESPACE: return same_namespace(place);
    case FUNCTION: return same_function(place);
    default: return same(place.first, content(place).get());
  }
}

std::optional<size_t> StateGuards::changed() {
  const auto found =
      std::find_if(places_.begin(), places_.end(), [&](const Place& place) { return !same_place(place); });
  if (found == places_.end()) return std::nullopt;
  return static_cast<size_t>(found - places_.begin());
}

bool StateGuards::held_scalar(size_t which) const {
  const Place& place = places_[which];
  if (place.kind != NAMED && place.kind != SHARED && place.kind != SLOT && place.kind != CELL) return false;
  PyObject* thing = kept_[place.first].get();
  return !contents_[place.first] || thing == Py_None ||
         (thing && (PyLong_Check(thing) || PyFloat_CheckExact(thing) || PyUnicode_CheckExact(thing)));
}

bool StateGuards::hold_in(uint64_t call) {
  if (call_ != call) {
    held_ = same_groups();
    call_ = call;
  }
  return held_;
}

// A group whose footprint is another one is asked.
bool StateGuards::same_groups() {
  const auto same_places = [&](size_t begin, size_t end) {
    const auto first = places_.begin();
    return std::all_of(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end),
                       [&](const Place& place) { return same_place(place); });
  };
  for (size_t span = footprint_.changed_from(0); span < footprint_.size(); span = footprint_.changed_from(span)) {
    const auto next = std::upper_bound(groups_.begin(), groups_.end(), span,
                                       [](size_t at, const Group& group) { return at < group.span; });
    const Group& group = *(next - 1);
    const size_t end = next == groups_.end() ? footprint_.size() : next->span;
    if (!same_places(group.begin, group.end)) return false;
    footprint_.renew(group.span, end);
    span = end;
  }
  return std::all_of(asked_.begin(), asked_.end(), [&](size_t place) { return same_place(places_[place]); });
}

int StateGuards::traverse(visitproc visit, void* arg) const {
  for (const Place& place : places_) {
    Py_VISIT(place.object.get());
    Py_VISIT(place.name.get());
  }
  for (const Ref& thing : kept_) Py_VISIT(thing.get());
  return 0;
}

}  // namespace retrograd::compiler
