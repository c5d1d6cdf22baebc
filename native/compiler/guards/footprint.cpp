#include "compiler/guards/footprint.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace retrograd::compiler {
namespace {

constexpr size_t kWord = sizeof(uintptr_t);
// Where an object has its class, in words.
constexpr size_t kClass = offsetof(PyObject, ob_type) / kWord;

const uintptr_t* words_of(PyObject* object) { return reinterpret_cast<const uintptr_t*>(object); }

// How many words the instances of a class have, or 0.
size_t words_in(PyTypeObject* type) {
  const Ref size(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__basicsize__"));
  const size_t bytes = size ? PyLong_AsSize_t(size.get()) : 0;
  if (PyErr_Occurred()) PyErr_Clear();
  return bytes == static_cast<size_t>(-1) ? 0 : bytes / kWord;
}

// A list has its length and the address of its items after the header of every object.
constexpr size_t kListLength = offsetof(PyVarObject, ob_size) / kWord, kListItems = sizeof(PyVarObject) / kWord;

bool lists_are_so() {
  const Ref sample(words_in(&PyList_Type) > kListItems ? Py_BuildValue("[OO]", Py_None, Py_True) : nullptr);
  if (!sample) {
    PyErr_Clear();
    return false;
  }
  const uintptr_t* words = words_of(sample.get());
  if (words[kListLength] != 2 || words[kListItems] == 0) return false;
  const auto* items = reinterpret_cast<const uintptr_t*>(words[kListItems]);
  return items[0] == reinterpret_cast<uintptr_t>(Py_None) && items[1] == reinterpret_cast<uintptr_t>(Py_True);
}

bool knows_lists() {
  static const bool known = lists_are_so();
  return known;
}

// Up to Python 3.12, a dictionary has a number, after its length, that no other has, and another one after each change
// (PEP 509). Later versions change it only for those who watch.
constexpr size_t kDictVersion = sizeof(PyObject) / kWord + 1;

bool changes_version(PyObject* dict, int (*change)(PyObject*)) {
  const uintptr_t before = words_of(dict)[kDictVersion];
  return change(dict) == 0 && words_of(dict)[kDictVersion] != before;
}

bool dicts_are_so() {
  PyObject* version = PySys_GetObject("hexversion");
  const long hex = version ? PyLong_AsLong(version) : 0;
  if (sizeof(uintptr_t) != sizeof(uint64_t) || hex < 0x030b0000 || hex >= 0x030d0000) return false;
  const Ref sample(words_in(&PyDict_Type) > kDictVersion ? PyDict_New() : nullptr);
  if (!sample) {
    PyErr_Clear();
    return false;
  }
  PyObject* dict = sample.get();
  const bool known = changes_version(dict, [](PyObject* d) { return PyDict_SetItemString(d, "a", Py_None); }) &&
                     changes_version(dict, [](PyObject* d) { return PyDict_SetItemString(d, "a", Py_True); }) &&
                     !changes_version(dict, [](PyObject* d) { return PyDict_GetItemString(d, "a") ? 0 : -1; }) &&
                     changes_version(dict, [](PyObject* d) { return PyDict_DelItemString(d, "a"); });
  if (PyErr_Occurred()) PyErr_Clear();
  return known;
}

bool knows_dicts() {
  static const bool known = dicts_are_so();
  return known;
}

// The address of an object's dictionary is the third word before the object, if its class says so.
constexpr unsigned long kManagedDict = 1UL << 4;  // Py_TPFLAGS_MANAGED_DICT
constexpr std::ptrdiff_t kManagedDictAt = -3;

// Whether instances of a class never have a dictionary: those of named tuples, and of classes with slots.
bool has_no_dict(PyTypeObject* type) {
  const Ref offset(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dictoffset__"));
  const bool none = offset && PyLong_AsLong(offset.get()) == 0 && !PyErr_Occurred();
  PyErr_Clear();
  return none && !(PyType_GetFlags(type) & kManagedDict);
}

// Most spans are a word or two: the header and the items of a short list, a version, a class.
bool same_words(const uintptr_t* now, const uintptr_t* held, size_t words) {
  if (words == 2) return ((now[0] ^ held[0]) | (now[1] ^ held[1])) == 0;
  if (words == 1) return now[0] == held[0];
  constexpr size_t many = 32;  // which the C library compares faster
  if (words >= many) return std::memcmp(now, held, words * kWord) == 0;
  uintptr_t difference = 0;
  for (size_t i = 0; i < words; ++i) difference |= now[i] ^ held[i];
  return difference == 0;
}

}  // namespace

void Footprint::add(const void* at, size_t words, bool items) {
  const auto* begin = static_cast<const uintptr_t*>(at);
  spans_.push_back({begin, static_cast<uint32_t>(words), static_cast<uint32_t>(held_.size()), items});
  held_.insert(held_.end(), begin, begin + words);
}

bool Footprint::add_list(PyObject* list) {
  if (!knows_lists()) return false;
  const uintptr_t* words = words_of(list);
  add(words + kListLength, kListItems - kListLength + 1);
  add(reinterpret_cast<const void*>(words[kListItems]), words[kListLength], true);
  return true;
}

bool Footprint::add_dict(PyObject* dict) {
  if (!knows_dicts()) return false;
  add(words_of(dict) + kDictVersion, 1);
  return true;
}

bool Footprint::add_namespace(PyObject* object, PyObject* attributes) {
  const uintptr_t* words = words_of(object);
  if (!attributes && has_no_dict(Py_TYPE(object))) {
    add(words + kClass, 1);
    return true;
  }
  if (!(PyType_GetFlags(Py_TYPE(object)) & kManagedDict)) return false;
  if (words[kManagedDictAt] != reinterpret_cast<uintptr_t>(attributes)) return false;
  add(words + kClass, 1);
  add(words + kManagedDictAt, 1);
  return true;
}

bool Footprint::add_body(PyObject* object) {
  const size_t words = words_in(Py_TYPE(object)), header = kClass;
  if (words <= header) return false;
  add(words_of(object) + header, words - header);
  return true;
}

size_t Footprint::changed_from(size_t begin) const {
  if (begin == spans_.size()) return begin;
  constexpr size_t ahead = 12;  // spans lie anywhere in memory: those that come are fetched meanwhile
  const uintptr_t* held = held_.data() + spans_[begin].held;
  for (size_t i = begin; i < spans_.size(); ++i) {
    if (i + ahead < spans_.size()) RETROGRAD_PREFETCH(spans_[i + ahead].at);
    if (!same_words(spans_[i].at, held, spans_[i].words)) return i;
    held += spans_[i].words;
  }
  return spans_.size();
}

void Footprint::renew(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    Span& span = spans_[i];
    if (span.items) span.at = reinterpret_cast<const uintptr_t*>(held_[span.held - 1]);
    std::copy_n(span.at, span.words, held_.begin() + span.held);
  }
}

}  // namespace retrograd::compiler
